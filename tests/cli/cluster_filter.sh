#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --filter`: what is kept of frames and of a stream, beside the rows of the unfiltered table, and what is
# refused.
. "$(dirname "$0")/common.sh" "$@"

"$sluice" simulate pixels -q --size 64x48 --frames 40 --density 12 --granularity 1 --seed 3 -o frames.csv
"$sluice" simulate pixels -q --stream 20000 --seed 4 -o stream.csv
cat >tool.py <<'E'
import csv, json, operator, re, sys
OPS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq, "!=": operator.ne}
name, terms = sys.argv[1:]
rows = list(csv.DictReader(open("all.csv")))
for term in terms.split(","):
    column, op, value = re.fullmatch("([a-z_]+)([<>=!]+)(.*)", term).groups()
    column = "mass" if column == "tot" else column
    rows = [row for row in rows if OPS[op](float(row[column]), float(value))]
got = list(csv.DictReader(open("some.csv")))
told = json.load(open("out"))["inputs"][0]
every = sum(1 for _ in open("all.csv")) - 1
pixels = sum(int(row["size"]) for row in rows)  # that are left
sys.exit(0 if got == rows and len(rows) < every and (told["clusters"], told["filtered"], told["clustered"]) == (len(rows), every - len(rows), pixels) else
         "%d rows, %d wanted, %s" % (len(got), len(rows), told))
E
for name in frames stream; do
    window=
    [ $name = frames ] || window="--time-window 64ticks"
    # shellcheck disable=SC2086 # two words
    run cluster $name.csv -q $window --features all -o all.csv
    want 0
    for terms in 'size>=3' 'size>2,mass<=150' 'weighted_x<20.5,y_max!=7,size=2' 'size>=3,tot>50' 'mass>100,x_min>=10,x_max<40'; do
        # shellcheck disable=SC2086 # two words
        run cluster $name.csv -q $window --features all --filter "$terms" -o some.csv --json
        want 0
        python3 tool.py $name "$terms" || fail "'$last'"
        grep -q "$name.csv: [0-9]* clusters were left out by --filter" err || fail "'$last' says $(cat err)"
        compared=$((compared + 1))
    done
done
run cluster frames.csv -q --filter 'size>=3' -o some.h5
want 0
run cluster frames.csv -q --filter 'size>=1000000' --json
want 0
grep -q '"clusters": 0' out || fail "nothing is kept: $(cat out)"
# Without the sizes in the output pixels are counted all the same, and nothing else changes.
run cluster frames.csv -q --features size,mass --filter 'mass>100' --json
cp out sizes
run cluster frames.csv -q --features mass --filter 'mass>100' -o some.csv --json
want 0
[ "$(key out "o['inputs'][0]['clustered']")" = "$(key sizes "o['inputs'][0]['clustered']")" ] || fail "pixels without sizes: $(cat out)"
[ "$(head -n 1 some.csv)" = input,frame,mass ] || fail "columns: $(head -n 1 some.csv)"
refused() { # MESSAGE ARGS...
    local message=$1
    shift
    run cluster "$@"
    [ $status -eq 2 ] || fail "'$last' ends with $status"
    grep -qF -- "$message" err || fail "'$last' says $(cat err)"
    compared=$((compared + 1))
}
refused "the clusters have no column 'area'; they have size, x_min, y_min, x_max, y_max, centroid_x, centroid_y, mass, weighted_x, weighted_y, first_time, last_time, tot" frames.csv --filter 'area>3'
refused "the clusters have no column 'mass'" frames.csv --features size --filter 'mass>3'
refused "the clusters have no column 'shot'" stream.csv --filter 'shot>3'
refused "the clusters have no column 'chip'" stream.csv --filter 'chip=0'
refused "the filter 'size>=' is not up to 16 terms" frames.csv --filter 'size>='
refused "the filter 'size>=3,' is not up to" frames.csv --filter 'size>=3,'
echo "$compared comparisons"
