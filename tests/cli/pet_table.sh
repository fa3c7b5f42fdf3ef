#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scanners as tables of crystals: a point source is where it was put in CASToR's and STIR's files, good pairs are those of
# a slow count, and what cannot be is refused.
. "$(dirname "$0")/common.sh" "$@"

last="pet_table.py"
compared=$(/usr/bin/python3 "$source/tests/cli/pet_table.py" "$sluice") || fail "a scanner as a table: see above"
passed
