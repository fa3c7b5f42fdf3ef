#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measurements of the PET chain: which lines there are, and that they agree with each other. No time is tested.
. "$(dirname "$0")/common.sh" "$@"

run bench pet --frames 30000 --repetitions 2 --scanner mouse20,vectors --rate 20,200 --threads 1,2 --baselines --csv b.csv
want 0
want_silent
equal "tables" "$(grep -c 'Mcps' out)" 8
cut -d, -f4 b.csv | head -8 | sed 's/"//g' >names
want_names() { same names; }
want_names <<'TEXT'
name
convert
sort
coincidence
chain
plain loop
radix sort
qsort
TEXT
python3 - <<'P' || fail "the measurements do not agree"
import csv
rows = list(csv.DictReader(open("b.csv")))
assert len(rows) == 4 * (2 * 4 + 3), len(rows)
assert all(float(r["seconds"]) >= float(r["least_seconds"]) > 0 and float(r["bound_seconds"]) > 0 for r in rows)
for scanner in "mouse20", "vectors":
    for rate in "20000000", "200000000":
        made = [r for r in rows if r["scanner"] == scanner and float(r["singles_hz"]) == float(rate)]
        assert len(made) == 11 and len({r["singles"] for r in made}) == 1
        pairs = {r["pairs"] for r in made if r["name"] in ("coincidence", "chain", "plain loop, killAll")}
        assert len(pairs) == 1 and int(pairs.pop()) > 500, (scanner, rate, pairs)
P
compared=$((compared + 1))

# Every policy, in both kinds of windows; opengate's know one.
run bench pet --frames 5000 --repetitions 1 --scanner mouse20 --rate 200 --policies --json
want 0
want_silent
python3 - <<'P' || fail "the policies are not all there"
import json
rows = json.load(open("out"))["rows"]
names = [r["name"] for r in rows]
assert len(set(names)) == len(names) == 4 + 19 + 13, names
assert "takeAllGoods, all-open" in names and "opengate:TakeAllGoods" in names
of = {r["name"]: r for r in rows}
assert of["killAll"]["pairs"] == of["chain"]["pairs"] < of["takeAllGoods"]["pairs"]
assert of["multiplesAsAllCoincidences"]["pairs"] == of["takeAllGoods"]["pairs"]
P
compared=$((compared + 1))

# Writers of list-mode files, once for all numbers of threads.
run bench pet --frames 20000 --repetitions 1 --scanner explorer --rate 20 --threads 1,2 --lists --json
want 0
want_silent
equal "lists" "$(key out "[(r['name'], r['pairs']) for r in o['rows'] if 'P' in r['name']]")" \
    "[('PETSIRD', 20000), ('PETSIRD, time of flight', 20000), ('YRT-PET', 20000), ('YRT-PET, time of flight', 20000)]"

run bench pet --scanner nobody
want 2
run bench pet --rate 0
want 2
run bench pet --threads 65
want 2
run bench pet --frames 1000 --repetitions 1 --device gpu
want 1
want_no_out
grep -q "gpu" err || fail "no word on the device"
run bench pet --frames 1000 --repetitions 1 --csv nowhere/b.csv
want 1
want_no_out
passed
