#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --layout` and `--chip`: raw Timepix3 of four chips, made here, against clusters of all pairs of pixels
# that were put to their places by the published table, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, random, struct

def pixel(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF

def make(path):
    """Tracks along the inner edges of all chips, so that clusters reach from chip to chip."""
    rng, hits = random.Random(7), []
    for k in range(3000):
        chip, along, depth = rng.randrange(4), rng.randrange(256), rng.randrange(3)
        inner = {0: (0, 255), 1: (255, 255), 2: (0, 255), 3: (255, 255)}[chip]  # the corner in the middle, by any table
        x, y = (abs(inner[0] - depth), along) if k % 2 else (along, abs(inner[1] - depth))
        hits.append((chip, x, y, 1000 + k // 60 * 2000 + rng.randrange(60), 1 + rng.randrange(400)))
    with open(path, "wb") as out:
        for i in range(0, len(hits), 50):
            for chip in range(4):
                part = [pixel(*h[1:]) for h in hits[i:i + 50] if h[0] == chip]
                out.write(struct.pack("<4sBBH%dQ" % len(part), b"TPX3", chip, 0, 8 * len(part), *part))
    return hits

def quad(chip, x, y, g):
    return [(x + 256 + g, y), (511 - x + g, 511 - y + g), (255 - x, 511 - y + g), (x, y)][chip]

def clusters(hits, place, window=64):
    at = sorted((t, *reversed(place(c, x, y)), tot) for c, x, y, t, tot in hits if place(c, x, y))
    root = list(range(len(at)))
    def find(i):
        while root[i] != i:
            i = root[i]
        return i
    for i, a in enumerate(at):
        for j, b in enumerate(at[:i]):
            if a[0] - b[0] <= window and abs(a[1] - b[1]) <= 1 and abs(a[2] - b[2]) <= 1:
                p, q = sorted((find(i), find(j)))
                root[q] = p
    groups = {}
    for i, p in enumerate(at):
        groups.setdefault(find(i), []).append(p)
    return [(len(g), min(p[2] for p in g), min(p[1] for p in g), max(p[2] for p in g), max(p[1] for p in g),
             sum(p[3] for p in g), g[0][0]) for _, g in sorted(groups.items())]

NAMES = ("size", "x_min", "y_min", "x_max", "y_max", "mass", "first_time")

def same(csv_file, hits, place):
    got = [tuple(int(row[k]) for k in NAMES) for row in csv.DictReader(open(csv_file))]
    wanted = clusters(hits, place)
    return got == wanted and len(got) > 500 or (len(got), len(wanted), [p for p in zip(got, wanted) if p[0] != p[1]][:3])
P
python3 -c 'from tool import *; make("four.tpx3")'
check() { # CSV PLACE
    compared=$((compared + 1))
    local got
    got=$(python3 -c "from tool import *; print(same('$1', make('again.tpx3'), $2))" 2>&1)
    [ "$got" = True ] || fail "'$last': not so: $got"
}

for g in 0 2; do
    run cluster four.tpx3 -q --layout quad+$g -o quad.csv
    want 0
    check quad.csv "lambda c, x, y: quad(c, x, y, $g)"
done
printf '0 0 0\n' >chips.csv
want_refused 'would overwrite the input chips.csv' cluster four.tpx3 --layout chips.csv -o chips.csv
equal "the layout" "$(cat chips.csv)" "0 0 0"
run cluster four.tpx3 --chip 7 -o never.csv
want 1
want_err <<'E'
sluice cluster: four.tpx3: no pixel is left to cluster
sluice cluster: no input could be used: no file was written
sluice cluster: four.tpx3: 3000 pixels are of other chips than --chip, and were left out
E
want_no_file never.csv
printf '# chip x y turn\n0 258 0\n1,258,258,180\n2 0 258 180\n3 0 0\n' >list.txt
run cluster four.tpx3 -q --layout list.txt -o list.csv
want 0
cmp quad.csv list.csv || fail "a list is not the word"
run cluster four.tpx3 -q -o row.csv
check row.csv "lambda c, x, y: (256 * c + x, y)"
run cluster four.tpx3 -q --layout row+1 -o row.csv
check row.csv "lambda c, x, y: (257 * c + x, y)"
run cluster four.tpx3 -q --layout quad --chip 1,3 -o some.csv
want 0
grep -q 'pixels are of chips that --layout or --chip does not have, and were left out' err || fail "left out: $(cat err)"
check some.csv "lambda c, x, y: quad(c, x, y, 0) if c in (1, 3) else None"
run cluster four.tpx3 --chip 0-2 --json -q
python3 -c "
import json, sys; from tool import *
i = json.load(open('out'))['inputs'][0]
sys.exit((i['other_chips'], i['pixels']) != (sum(h[0] == 3 for h in make('again.tpx3')), sum(h[0] < 3 for h in make('again.tpx3'))))" || fail "counts: $(cat out)"

# Which chip: of all pixels of a cluster by the same table, or several.
cat >chips.py <<'P'
import csv, sys
from tool import *
which, g = sys.argv[1], int(sys.argv[2])
place = (lambda c, x, y: quad(c, x, y, g)) if which == "quad" else (lambda c, x, y: ((256 + g) * c + x, y))
chip_at = {place(c, x, y): c for c in range(4) for x in range(256) for y in range(256)}
rows, alone, several = list(csv.DictReader(open("chips.csv"))), 0, 0
for r in rows:
    on = {chip_at.get((x, y)) for x in range(int(r["x_min"]), int(r["x_max"]) + 1) for y in range(int(r["y_min"]), int(r["y_max"]) + 1)}
    wanted = on.pop() if len(on) == 1 else -1
    assert int(r["chip"]) == wanted, (r, wanted)
    alone, several = alone + (wanted >= 0), several + (wanted < 0)
assert alone > 500 and (several > 0) == (g == 0), (alone, several)
P
for how in "quad 0" "quad 1" "row 0" "row 1"; do
    run cluster four.tpx3 -q --layout "${how/ /+}" --chip-column -o chips.csv
    want 0
    python3 chips.py $how || fail "'$last': chips"
    compared=$((compared + 1))
done
run cluster four.tpx3 -q --chip-column -o chips.csv
python3 chips.py row 0 || fail "'$last': chips"
for chip in -1 2; do
    run cluster four.tpx3 -q --chip-column --filter "chip=$chip" -o some.csv
    want 0
    awk -F, -v k=$chip 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "chip") c = i} NR == 1 || $c == k' chips.csv >wanted.csv
    [ "$(wc -l <some.csv)" -gt 1 ] || fail "no clusters of chip $chip"
    cmp wanted.csv some.csv || fail "'$last': other clusters"
done
run cluster four.tpx3 -q --layout quad --chip-column -o chips.h5
want 0
want_refused 'needs the feature box' cluster four.tpx3 --chip-column --features size
printf 'x,y,time [ns]\n1,2,3\n' >list.csv
want_refused 'of the formats, .tpx3 alone tells of chips, which --chip-column is of' cluster list.csv --chip-column
printf '0 0 0\n0 9 9\n' >twice.txt
want_refused 'twice.txt: line 2: chip 0 is there twice' cluster four.tpx3 --layout twice.txt
want_refused '--layout is quad or row, with a gap of up to 255 pixels' cluster four.tpx3 --layout quad+256
want_refused '--chip takes numbers of chips from 0 to 255' cluster four.tpx3 --chip 256
want_refused '--chip takes numbers' cluster four.tpx3 --chip 3-1
want_refused '--chip takes numbers' cluster four.tpx3 --chip 1,
printf 'x,y\n1,2\n' >list.csv
want_refused 'of the formats, .tpx3 alone tells of chips' cluster list.csv --layout quad
echo "$compared comparisons"
