#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live pages of cms, label --stream and hlt1: their numbers are those that the runs end with.
. "$(dirname "$0")/common.sh" "$@"
"$sluice" simulate velo -q --events 1 -o x.mdf || fail "no event"
"$sluice" velo x.mdf -q --serve 127.0.0.1:0 2>&1 >x.out | grep "serves no pages" && exit 77
python3 "$source/tests/cli/live_commands.py" "$sluice" "$source" "$data" || fail "a live page is not as it should be"
compared=$((compared + 1))
echo "$compared comparisons"
