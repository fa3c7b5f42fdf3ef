#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measurements of CMS's chain: which lines there are, and that they agree with each other. No time is tested.
. "$(dirname "$0")/common.sh" "$@"

run bench cms --events 1 --repetitions 2 --csv b.csv
want 0
want_silent
sed 's/,.*//; s/"//g' b.csv >names
want_names() { same names; }
want_names <<'TEXT'
name
decode
calibrate
cluster
position
decode to clusters
decode to positions
cluster
TEXT
equal "lines of the table" "$(grep -c 'Mdigi/s\|%\|-$' out)" 8
python3 - <<'P' || fail "the measurements do not agree"
import csv
rows = list(csv.DictReader(open("b.csv")))
assert all(float(r["seconds"]) >= float(r["least_seconds"]) > 0 and int(r["digis"]) > 100000 for r in rows), rows
P
compared=$((compared + 1))
run bench cms --repetitions 0
want 2
run bench cms --device gpu
want 2
run bench cms --device cuda:77
want 1
want_no_out
passed
