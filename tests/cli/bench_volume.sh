#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring volumes, on small ones: that everything asked for is measured once, and that averages are what they are said to be.
# How fast it is, no test can tell.
. "$(dirname "$0")/common.sh" "$@"
unset SLUICE_SIMD
runnable=$("$sluice" version | sed -n 's/^run here *//p')

run bench volume --sizes 24,40 --granularities 1,4 --densities 0:100:50 --repetitions 2 --connectivity 6 --quiet --json --csv m.csv
want 0
want_silent
equal "every target" "$(key out "set(m['target'] for m in o['measurements']) == set('$runnable'.split())")" True
equal "everything once" \
    "$(key out "len(o['measurements']) == len(set((m['size'], m['granularity'], m['density_percent'], m['target']) for m in o['measurements'])) == 2 * 2 * 3 * len('$runnable'.split())")" True
equal "components" \
    "$(key out "all(m['components'] == m['density_percent'] / 100 for m in o['measurements'] if m['density_percent'] != 50)")" True
cat >average.py <<'P'
import csv, json
o, rows = json.load(open("out")), list(csv.DictReader(open("m.csv")))
assert len(o["averages"]) * 3 == len(o["measurements"]) == len(rows)
for a in o["averages"]:
    mine = [m for m in o["measurements"] if all(m[k] == a[k] for k in ("size", "granularity", "target"))]
    worst = max(mine, key=lambda m: m["minimum_s"])
    assert len(mine) == 3 and all(0 < m["minimum_s"] <= m["median_s"] for m in mine)
    assert abs(a["megavoxels_per_s"] * sum(m["minimum_s"] for m in mine) / 3e-6 / a["size"] ** 3 - 1) < 1e-9, a
    assert abs(a["megavoxels_per_s_median"] * sum(m["median_s"] for m in mine) / 3e-6 / a["size"] ** 3 - 1) < 1e-9, a
    assert a["worst_megavoxels_per_s"] == worst["megavoxels_per_s"], a
print([o["connectivity"], o["equal"], o["features"]])
P
equal "averages" "$(python3 average.py)" "[6, False, False]"

# Equal values with features on two threads, and the instruction set that a run takes: the table.
run bench volume --sizes 32 --granularities 2 --densities 30,60 --simd auto --equal --features --threads 2 --repetitions 1 --seed 9
want 0
equal "rows" "$(awk '$1 == 32 { print $2, $3 }' out)" "2 auto"

# Cells of 32 bits by one and two threads, beside the baseline: all make the same labels, or the command fails.
for cells in cubes voronoi; do
    for equal in --equal ""; do
        run bench volume --sizes 37 --granularities 1,6 --densities 40,100 --simd auto --cells "$cells" --type u32 $equal --baseline --threads 1,2 --repetitions 1 --json --quiet
        want 0
        equal "$cells $equal rows" "$(key out "[(m['target'], m['threads']) for m in o['averages']]")" \
            "[('auto', 1), ('auto', 2), ('baseline', 1), ('auto', 1), ('auto', 2), ('baseline', 1)]"
        equal "$cells $equal ratios" \
            "$(key out "all(abs(a['times_fewest_threads'] * o['averages'][i // 3 * 3]['megavoxels_per_s'] / a['megavoxels_per_s'] - 1) < 1e-9 and abs(a['times_baseline'] * o['averages'][i // 3 * 3 + 2]['megavoxels_per_s'] / a['megavoxels_per_s'] - 1) < 1e-9 for i, a in enumerate(o['averages']) if a['target'] != 'baseline')")" True
    done
done
equal "what was measured" "$(key out "(o['type'], o['cells'], o['equal'])")" "('u32', 'voronoi', False)"
run bench volume --baseline --connectivity 6
want 2
run bench volume --baseline --features
want 2
echo "sluice bench volume: --baseline has 26 neighbours and no features; see sluice bench volume --help" | want_err

run bench volume --connectivity 8
want 2
want_no_out
echo "sluice bench volume: --connectivity takes 6, 18 or 26, not '8'; see sluice bench volume --help" | want_err
run bench volume --sizes 4096
want 2
run bench volume --simd none
want 2
run bench volume --sizes 8 --csv nowhere/x.csv --quiet
want 1
want_no_out
passed
