#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live page against its clients: tests/cli/live_clients.py.
. "$(dirname "$0")/common.sh" "$@"
"$sluice" velo --help | grep -q -- --serve || fail "there is no --serve"
[ -n "$("$sluice" simulate velo -q --events 1 -o x.mdf 2>&1; "$sluice" velo x.mdf -q --json --serve 127.0.0.1:0 2>&1 >x.json | grep "serves no pages")" ] && echo "built without libmicrohttpd: skipped" && exit 77
# Memory that is given back is used again at once, also under the address sanitizer.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
python3 "$source/tests/cli/live_clients.py" "$sluice" "$source" || fail "the live page is not as it should be"
compared=$((compared + 1))
echo "$compared comparisons"
