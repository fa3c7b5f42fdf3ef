#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every option of results x every form x every command: it has an effect that can be seen, or one line names both and
# the exit status is 2. None is ignored.
. "$(dirname "$0")/common.sh" "$@"
make_events v.mdf 12 5
"$sluice" simulate cms -q --events 6 --tracks 100 --seed 3 -o c.raw --cabling c.cab --gains c.gains &&
    "$sluice" simulate pixels -q --size 128x128 --frames 900 --seed 3 -o frames.csv &&
    "$sluice" simulate image -q --size 200x100 --density 30 --seed 6 -o i.pgm &&
    "$sluice" simulate pet --fast -q --rate 20e6 --pair-share 0.2 --seconds 0.01 --bare -o f.raw || fail "no inputs"
last="forms.py"
compared=$(/usr/bin/python3 "$source/tests/cli/forms.py" "$sluice") || fail "options that are ignored, or refused in other words"
[ "$compared" -gt 350 ] || fail "only $compared combinations"
passed
