#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page's functions in node: live_units.sh SOURCE. Both files are one script, as the server serves them.
command -v node >/dev/null || { echo "no node: skipped"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat "$1/src/live/page/picture.js" "$1/src/live/page/page.js" >"$folder/page.js"
node "$1/tests/support/live_units.js" "$folder/page.js"
