#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live page in a headless Chromium: tests/cli/live_page.py.
. "$(dirname "$0")/common.sh" "$@"
"$sluice" simulate velo -q --events 1 -o x.mdf || fail "no event"
"$sluice" velo x.mdf -q --serve 127.0.0.1:0 2>&1 >x.out | grep "serves no pages" && exit 77
python3 "$source/tests/cli/live_page.py" "$sluice" "$source"
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || fail "the live page does not show what it should"
compared=$((compared + 1))
echo "$compared comparisons"
