#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring the clustering of sparse pixels, on few images: that everything asked for is measured once, that the files hold
# the same numbers as each other, and what is refused. How fast it is, no test can tell.
. "$(dirname "$0")/common.sh" "$@"
unset SLUICE_SIMD

run bench cluster --algorithms '?'
want 2
algorithms=$(sed 's/.*there are: //; s/;.*//' err)
columns=$(echo "$algorithms" | wc -w)

run bench cluster --size 96x64 --images 3 --granularities 1,2 --densities 0:2:1 --repetitions 2 --csv m.csv --svg m.svg -q
want 0
want_silent
cat >look.py <<'P'
import csv
import xml.etree.ElementTree as tree
algorithms = "$ALL".split()
rows = list(csv.DictReader(open("m.csv")))
keys = [(r["order"], r["granularity"], r["density_percent"], r["algorithm"]) for r in rows]
wanted = [(o, g, d, a) for o in ("sorted", "shuffled") for g in "12" for d in "012" for a in algorithms]
assert sorted(keys) == sorted(wanted), "not everything once"
for r in rows:
    pixels, time, hertz = int(r["pixels"]), float(r["minimum_s"]), float(r["core_hz"])
    assert (pixels == 0) == (r["density_percent"] == "0") and 0 < time <= float(r["median_s"])
    assert 1e8 < hertz < 2e10 and r["images"] == "3"
    if pixels:
        assert abs(float(r["cycles_per_pixel"]) / (time * hertz / pixels) - 1) < 1e-4, r
        assert 0 < int(r["clusters"]) <= pixels, r
same = {}
for r in rows:
    same.setdefault((r["granularity"], r["density_percent"]), set()).add((r["pixels"], r["clusters"]))
assert all(len(s) == 1 for s in same.values()), "algorithms or orders differ"
table = [line.split() for line in open("out").read().splitlines()[2:]]
assert len(table) == 12 and all(len(line) == 5 + len(algorithms) for line in table)
for line in table:
    for a, cell in zip(algorithms, line[5:]):
        r = [r for r in rows if r["order"] == line[0] and r["granularity"] == line[1] and
             r["density_percent"] == line[2] and r["algorithm"] == a]
        assert len(r) == 1 and abs(float(r[0]["cycles_per_pixel"]) - float(cell)) < 0.01, (line, a)
root = tree.parse("m.svg").getroot()
s = "{http://www.w3.org/2000/svg}"
curves = [p for p in root.iter(s + "path") if p.get("class", "").startswith("curve") and p.get("d").count("L") == 1]
assert len(curves) == 4 * len(algorithms), len(curves)
print("good")
P
sed -i "s/\$ALL/$algorithms/" look.py
equal "table, CSV and SVG" "$(python3 look.py 2>&1)" good

run bench cluster -q --size 64x64 --images 2 --granularities 1 --densities 1 --repetitions 1 --order shuffled \
    --algorithms auto,union-find --connectivity 4 --simd c --seed 7
want 0
want_silent
equal "lists" "$(sed 1,2d out | awk '{ print $1, NF }')" "shuffled 7"
[ "$columns" -ge 6 ] || fail "only $columns algorithms"

# Labels are compared before they are measured.
run bench cluster -q --size 64x64 --images 2 --granularities 1 --densities 1,5 --repetitions 1 --labels
want 0
want_silent
equal "what is measured" "$(sed -n 1p out | grep -o 'for [a-z ]*')" "for labels and features"
equal "lists with labels" "$(sed 1,2d out | wc -l)" 4

wrong() { # LINE ARGS...
    local line=$1
    shift
    run bench cluster "$@"
    want 2
    want_no_out
    echo "sluice bench cluster: $line; see sluice bench cluster --help" | want_err
}
wrong "--connectivity takes 4 or 8, not '6'" --connectivity 6
wrong "--order takes sorted, shuffled or both, not 'raster'" --order raster
wrong "--csv and --svg name the same file" --csv x --svg x
wrong "unknown algorithm 'fast'; there are: $algorithms" --algorithms auto,fast
wrong "--size takes a width and a height from 1 to 65535, as in 768x256, not '9x'" --size 9x
for list in 0 1.5 a 1,,2; do
    wrong "--granularities takes whole numbers from 1 to 65535, as in 1,2, not '$list'" --granularities $list
done
for list in 101 -1 5: a; do
    wrong "--densities takes percents from 0 to 100, as in 0.5,1, not '$list'" --densities=$list
done
run bench cluster -q --size 16x16 --images 1 --densities 1 --granularities 1 --repetitions 1 --svg nowhere/x.svg
want 1
want_no_out
grep -q "^sluice bench cluster: nowhere/x.svg: " err || fail "it said: $(cat err)"

# A stream, from a file to clusters.
python3 "$source/tools/timepix-stream.py" s.tpx3 20000 || fail "no stream"
run bench cluster --stream s.tpx3 --threads 1,2 --repetitions 2 --csv s.csv -q
want 0
want_silent
equal "stream" "$(python3 -c 'import csv; r = list(csv.DictReader(open("s.csv"))); print([(x["what"], x["threads"]) for x in r], len({x["pixels"] for x in r}), r[1]["clusters"] == r[2]["clusters"] > "0", all(0 < float(x["minimum_s"]) <= float(x["median_s"]) for x in r))')" \
    "[('reading', '1'), ('clusters', '1'), ('clusters', '2')] 1 True True"
printf 'x,y\n1,2\n' >list.csv
run bench cluster --stream list.csv
want 1
grep -q -- "--stream takes a file of pixels with times" err || fail "'$last' said $(cat err)"
run bench cluster --stream s.tpx3 --images 3
want 2
grep -q -- "--images is of images, not of --stream" err || fail "'$last' said $(cat err)"
run bench cluster --threads 2
want 2
grep -q -- "--threads is of --stream" err || fail "'$last' said $(cat err)"
passed
