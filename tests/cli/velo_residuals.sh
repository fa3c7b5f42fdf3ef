#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Residuals and normal equations: a detector whose modules are moved, looked at as if they were not, gives the moves back within
# their errors (examples/align_velo.py); the file is the same bytes for any threads and batches, and changes no result.
. "$(dirname "$0")/common.sh" "$@"
python=/usr/bin/python3 # Debian's, which has Debian's packages
"$python" -c 'import numpy' 2>/dev/null || {
    echo "skipped: Debian's python3-numpy is not installed"
    exit 77
}
cat >true.json <<'END'
{"modules": {"20": {"shift_mm": [0.030, -0.020, 0], "rotation_mrad": [0, 0, 1]}, "25": {"shift_mm": [0, 0.025, 0.2]}}}
END
"$sluice" simulate velo -q --events 120 --seed 9 --geometry true.json -o a.mdf || fail "cannot generate events"
run velo a.mdf -q --json
want 0
sum=$(key out "o['checksum']")
run velo a.mdf -q --json --residuals r.json
want 0
want_silent
equal "results" "$(key out "o['checksum']")" "$sum"
for how in "--threads 2" "--batch 1" "--threads 3 --batch 7"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo a.mdf -q --residuals again.json $how
    want 0
    cmp r.json again.json || fail "$how: other residuals"
    compared=$((compared + 1))
done
grep -q nan r.json && fail "not a number"

# Twice, as tracks with larger chi2 count less: with moves that are still there they are too small.
"$python" "$source/examples/align_velo.py" r.json 20,25,30 >one.json 2>told || fail "align_velo.py"
equal "moves" "$(grep -c 'dx_mm .* ± .* rz_mrad' told)" 3
run velo a.mdf -q --geometry one.json --residuals s.json
want 0
"$python" "$source/examples/align_velo.py" s.json 20,25,30 one.json >two.json 2>told || fail "align_velo.py"
"$python" - <<'P' || fail "the moves do not come back: $(cat told)"
import json, numpy
def equations(name):
    o = json.load(open(name))
    rows = o["normal"]["matrix"]
    m = numpy.zeros((312, 312))
    for i, row in enumerate(rows):
        assert len(row) == 312 - i
        m[i, i:] = m[i:, i] = row
    return o, m
o, m = equations("s.json")
free = [6 * k + i for k in (20, 25, 30) for i in range(6)]
errors = numpy.sqrt(numpy.diag(numpy.linalg.inv(m[numpy.ix_(free, free)])))
moves = json.load(open("two.json"))["modules"]
found = numpy.array([moves[k]["shift_mm"] + moves[k]["rotation_mrad"] for k in ("20", "25", "30")]).ravel()
true = numpy.array([0.03, -0.02, 0, 0, 0, 1, 0, 0.025, 0.2, 0, 0, 0] + 6 * [0])
pulls = (found - true) / errors
print(numpy.round(pulls, 2))
assert numpy.all(numpy.abs(pulls) < 4), pulls
assert errors[0] < 0.001 and errors[2] < 0.01 and errors[5] < 0.06, errors
# Before: the residuals of module 20 show it, and of 25; moves are far outside of errors.
first, n = equations("r.json")
vector = numpy.array(first["normal"]["vector"])
before = numpy.linalg.solve(n[numpy.ix_(free, free)], vector[free])
assert before[0] > 0.025 and before[1] < -0.016 and before[8] > 0.16
mean = {(f, e["module"]): e["x"]["mean_um"] for f, d in (("r", first), ("s", o)) for e in d["modules"]}
assert mean["r", 20] < -25 and abs(mean["s", 20]) < 6, mean
# Moves of all modules alike are nothing; the matrix is of a sum of squares.
for k in range(3):
    all_alike = numpy.zeros(312)
    all_alike[k::6] = 1
    assert all_alike @ m @ all_alike < 1e-9 * m.trace()
assert numpy.linalg.eigvalsh(m).min() > -1e-9 * numpy.linalg.eigvalsh(m).max()
for d in first, o:
    assert d["hits"] == sum(e["n"] for e in d["modules"]) == sum(e["n"] for e in d["sensors"]) == sum(e["n"] for e in d["chips"])
    assert d["hits_without_sensor"] == 0 and d["events"] == 120 and "partial" not in d
    assert d["n_dof"] == 2 * d["hits"] - 4 * d["tracks"]
    assert d["settings"]["fit"]["end_z_mm"] == 770
assert {e["chip"] for e in o["chips"]} == {0, 1, 2}
pull = numpy.average([e["x"]["pull_rms"] for e in o["modules"]], weights=[e["n"] for e in o["modules"]])
assert 0.7 < pull < 1.2, pull
P
compared=$((compared + 1))

run velo a.mdf -q --residuals nowhere/r.json
want 1
ln -s a.mdf a.json
run velo a.mdf -q --residuals a.json
want 2
grep -q "would overwrite the input a.mdf" err || fail "the input as an output: $(cat err)"
run velo a.mdf -q --residuals r.csv
want 2
grep -q "^sluice velo: --residuals takes a name that ends with .json or has no ending, not 'r.csv'; see" err || fail "residuals as CSV: $(cat err)"
echo none >kept.json
: >empty.mdf
run velo empty.mdf -q --residuals kept.json
equal "nothing read" "$(cat kept.json)" none
passed
