#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring labelling, on small images: that everything asked for is measured once, that averages are what they are said to
# be, and that the files hold the same numbers. How fast it is, no test can tell.
. "$(dirname "$0")/common.sh" "$@"
unset SLUICE_SIMD

run bench label --algorithms '?'
algorithms=$(sed 's/.*there are: all //; s/;.*//' err)
runnable=$("$sluice" version | sed -n 's/^run here *//p')

run bench label --sizes 64,96 --granularities 1,4 --densities 0:100:50 --repetitions 2 --json --csv m.csv --svg m.svg
want 0
want_silent
equal "every algorithm" "$(key out "sorted(set(m['algorithm'] for m in o['measurements'])) == sorted('$algorithms'.split())")" True
equal "every target of those in vectors" \
    "$(key out "set(m['target'] for m in o['measurements']) - {'-'} == set('$runnable'.split())")" True
equal "everything once" \
    "$(key out "len(o['measurements']) == len(set((m['size'], m['granularity'], m['density_percent'], m['algorithm'], m['target']) for m in o['measurements'])) == 2 * 2 * 3 * len(set((m['algorithm'], m['target']) for m in o['measurements']))")" True
equal "sane figures" \
    "$(key out "all(0 < m['minimum_s'] <= m['median_s'] and 1 <= m['repetitions'] <= 2 and 1e8 < m['core_hz'] < 2e10 for m in o['measurements'])")" True
equal "components" \
    "$(key out "all(m['components'] == (0 if m['density_percent'] == 0 else 1) for m in o['measurements'] if m['density_percent'] != 50)")" True
cat >average.py <<'P'
import json
o = json.load(open("out"))
assert len(o["averages"]) * 3 == len(o["measurements"])
for a in o["averages"]:
    mine = [m for m in o["measurements"] if all(m[k] == a[k] for k in ("size", "granularity", "algorithm", "target"))]
    cycles = sum(m["minimum_s"] * m["core_hz"] for m in mine) / 3 / a["size"] ** 2
    worst = max(mine, key=lambda m: m["cycles_per_pixel"])
    assert abs(a["cycles_per_pixel"] / cycles - 1) < 1e-9, (a, cycles)
    assert abs(a["gigapixels_per_s"] * sum(m["minimum_s"] for m in mine) / 3e-9 / a["size"] ** 2 - 1) < 1e-9, a
    assert abs(a["worst_cycles_per_pixel"] / worst["cycles_per_pixel"] - 1) < 1e-9, a
    assert a["worst_density_percent"] == worst["density_percent"], a
print(len(mine))
P
equal "averages" "$(python3 average.py)" 3
equal "CSV" "$(python3 -c '
import csv, json
rows, o = list(csv.DictReader(open("m.csv"))), json.load(open("out"))["measurements"]
print(len(rows) == len(o) and all(r["algorithm"] == m["algorithm"] and r["target"] == m["target"] and
      abs(float(r["cycles_per_pixel"]) / m["cycles_per_pixel"] - 1) < 1e-4 for r, m in zip(rows, o)))')" True
python3 - <<'P' || fail "the plot is not as wanted"
import xml.etree.ElementTree as tree
root = tree.parse("m.svg").getroot()
s = "{http://www.w3.org/2000/svg}"
curves = [p for p in root.iter(s + "path") if p.get("class", "").startswith("curve") and p.get("d").count("L") == 2]
titles = [t.text for t in root.iter(s + "text") if t.get("class") == "title"]
assert len(titles) == 4 and "96 x 96 pixels, granularity 4" in titles, titles
assert len(curves) % 4 == 0 and len(curves) >= 4 * 4, len(curves)
P
compared=$((compared + 1))

# One algorithm, one instruction set, features alone: the table.
run bench label --sizes 64 --granularities 2 --densities 10,30 --algorithms flood,bitrun --simd c --repetitions 1 \
    --features area,box --labels-off --connectivity 4 --threads 2 --seed 9
want 0
want_silent
equal "rows" "$(awk '$1 == 64 { print $2, $3 }' out | sort | tr '\n' ';')" "2 bitrun;2 flood;"

wrong() { # LINE ARGS...
    local line=$1
    shift
    run bench label "$@"
    want 2
    want_no_out
    echo "sluice bench label: $line; see sluice bench label --help" | want_err
}
wrong "--connectivity takes 4 or 8, not '6'" --connectivity 6
wrong "--labels-off needs --features: nothing would be made" --labels-off
wrong "--csv and --svg name the same file" --csv x --svg x
wrong "unknown algorithm 'fast'; there are: all $algorithms" --algorithms bitrun,fast
for list in 0 1.5 a 1,,2 "" 70000; do
    [ -z "$list" ] || wrong "--sizes takes whole numbers from 1 to 65536 with commas, not '$list'" --sizes "$list"
done
for list in 101 -1 5: 0:100 0:100:0 0:200:5 50:0:5 0:100:0.1; do
    wrong "--densities takes up to 256 numbers from 0 to 100 with commas or as first:last:step, not '$list'" \
        --densities="$list"
done
wrong "unknown feature 'x'; there are: area box first sums second perimeter euler centroid shape grey all" --features x
run bench label --sizes 16 --densities 50 --granularities 1 --repetitions 1 --algorithms flood --svg nowhere/x.svg
want 1
want_no_out
grep -q "^sluice bench label: nowhere/x.svg: " err || fail "it said: $(cat err)"

# ---- on a GPU -------------------------------------------------------------------------------------------------------
for option in --bound --warm --raw "--streams 2"; do
    wrong "${option% *} needs a GPU, as --device cuda" $option
done
gpu=$("$sluice" bench label --device cuda --algorithms '?' 2>&1 | sed 's/.*there are: all //; s/;.*//')
grep -qw flsl-cd <<<"$gpu" || fail "algorithms of GPUs: $gpu"
wrong "unknown algorithm of GPUs 'bitrun'; there are: all $gpu" --device cuda --algorithms bitrun
wrong "--simd does not go with --device cuda" --device cuda --simd c
wrong "--threads does not go with --device cuda" --device cuda --threads 2
wrong "--svg with --streams does not go with --device cuda:0" --device cuda:0 --streams 2 --svg x.svg
wrong "--labels-off needs --features: nothing would be made" --device cuda --labels-off
for word in gpu cuda: cuda:x cuda:0,1 -1; do # one GPU is measured
    run bench label --device="$word"
    want 2
    want_no_out
done
run bench label --device cuda:77 --csv c.csv
want 1
want_no_out
want_no_file c.csv
grep -q '^sluice bench label: device "cuda:77": ' err || fail "a GPU that is not there: $(cat err)"
if ! "$sluice" version | grep -q '^devices *cuda:0'; then
    passed
    exit 0
fi
small="--device cuda --sizes 64,96 --granularities 1,4 --densities 0:100:50 --repetitions 3"
run bench label $small --bound --json --csv m.csv --svg m.svg
want 0
want_silent
equal "everything once" "$(key out "len(set((m['size'], m['granularity'], m['density_percent'], m['algorithm']) for m in o['measurements'])) == len(o['measurements']) == 2 * 2 * 3 * len(set(m['algorithm'] for m in o['measurements']))")" True
equal "averages" "$(key out "all(abs(a['gigapixels_per_s'] * sum(m['median_s'] for m in o['measurements'] if all(m[k] == a[k] for k in ('size', 'granularity', 'algorithm'))) / 3e-9 / a['size'] ** 2 - 1) < 1e-9 for a in o['averages'])")" True
equal "lines of the CSV" "$(($(wc -l <m.csv) - 1))" "$(key out "len(o['measurements'])")"
equal "panels" "$(grep -o 'class="title"' m.svg | wc -l)" 6
run bench label $small --streams 2 --features area --algorithms "${gpu%% *}" --csv s.csv
want 0
want_silent
equal "streams" "$(cut -d, -f1,2,8 s.csv | tail -n +2 | tr '\n' ' ')" "64,1,1 64,1,2 64,4,1 64,4,2 96,1,1 96,1,2 96,4,1 96,4,2 "
passed
