#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random lists of pixels: that they are what was asked for, the same for the same seed, and what cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"

make() { # FILE OPTIONS...
    local file=$1
    shift
    run simulate pixels --quiet -o "$file" "$@"
    want 0
    want_silent
    want_no_out
}
cat >tool.py <<'P'
import csv
def rows(path):
    return [{k: int(v) for k, v in r.items()} for r in csv.DictReader(open(path))]
def frames(path):
    found = {}
    for r in rows(path):
        found.setdefault(r["frame"], []).append((r["y"], r["x"]))
    return found
P
check() { # EXPRESSION: Python; prints True
    compared=$((compared + 1))
    local got
    got=$(python3 -c "from tool import *; print($1)" 2>&1)
    [ "$got" = True ] || fail "'$last': not so: $1: $got"
}

# ---- frames: raster order, whole macro-pixels, about the density ----------------------------------------------------
make a.csv --size 90x60 --frames 40 --density 2 --granularity 3 --seed 5
check "open('a.csv').readline() == 'frame,x,y,charge\n'"
check "all(f == sorted(set(f)) for f in frames('a.csv').values())"
check "all(0 <= r['x'] < 90 and 0 <= r['y'] < 60 and r['charge'] > 0 for r in rows('a.csv'))"
check "all(set(f) == {(y // 3 * 3 + i, x // 3 * 3 + j) for y, x in f for i in range(3) for j in range(3)} for f in frames('a.csv').values())"
check "list(frames('a.csv')) == sorted(frames('a.csv'))"
# 600 macro-pixels in each of 40 images: 480 are wanted, with a standard deviation of 22.
check "abs(len(rows('a.csv')) / 9 - 480) < 5 * 22"
make b.csv --size 90x60 --frames 40 --density 2 --granularity 3 --seed 5
cmp a.csv b.csv || fail "the same seed gives other pixels"
make b.csv --size 90x60 --frames 40 --density 2 --granularity 3 --seed 5 --shuffle
check "{k: sorted(f) for k, f in frames('b.csv').items()} == frames('a.csv')"
check "any(f != sorted(f) for f in frames('b.csv').values())"
make b.csv --size 90x60 --frames 40 --density 2 --granularity 3 --seed 6
check "frames('b.csv') != frames('a.csv')"
# Neighbouring seeds share no image, and neither do pieces of streams.
check "not {tuple(f) for f in frames('a.csv').values()} & {tuple(f) for f in frames('b.csv').values()}"
make b.csv --density 0 --frames 3
check "rows('b.csv') == []"
make b.csv --size 5x4 --density 100 --frames 1 --granularity 1
check "frames('b.csv')[0] == [(y, x) for y in range(4) for x in range(5)]"

# ---- streams: as many as asked for, at the rate asked for -----------------------------------------------------------
make s.csv --stream 70000 --rate 20 --size 200x100 --seed 8
check "open('s.csv').readline() == 'x,y,charge,time\n'"
check "len(rows('s.csv')) == 70000"
check "all(0 <= r['x'] < 200 and 0 <= r['y'] < 100 for r in rows('s.csv'))"
# 20 in a microsecond, which is 640 ticks; 17500 clusters of 4: 1 % is more than a standard deviation.
check "abs((lambda t: (max(t) - min(t)) / 640 * 20 / 70000 - 1)([r['time'] for r in rows('s.csv')])) < 0.05"
make t.csv --stream 70000 --rate 20 --size 200x100 --seed 8
cmp s.csv t.csv || fail "the same seed gives another stream"
make t.csv --stream 70000 --rate 20 --size 200x100 --seed $((8 + 65536))
check "(lambda s, t: s[65536:65636] != t[:100])(*[[(r['x'], r['y'], r['charge']) for r in rows(f)] for f in ('s.csv', 't.csv')])"

run simulate pixels -o n.csv --frames 2 --seed 1
want 0
equal "note" "$(cat err)" "sluice simulate pixels: n.csv: $(($(wc -l <n.csv) - 1)) pixels"

wrong() { # LINE ARGS...
    local line=$1
    shift
    run simulate pixels "$@"
    want 2
    want_no_out
    echo "sluice simulate pixels: $line; see sluice simulate pixels --help" | want_err
    want_no_file x.csv
}
wrong "--output takes a name that ends with .csv, not 'x.txt'" -o x.txt
wrong "--size takes a width and a height from 1 to 65535, as in 768x256, not '7x'" -o x.csv --size 7x
run simulate pixels -o nowhere/x.csv
want 1
grep -q "^sluice simulate pixels: nowhere/x.csv: " err || fail "it said: $(cat err)"
passed
