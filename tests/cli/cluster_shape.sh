#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --features peak,squared,shape,kind`: against eigenvalues by NumPy and exact sums, of clusters of every kind drawn here, as
# frames and as a stream; in CSV, HDF5 and NPZ; what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, sys
from fractions import Fraction
import numpy as np

rng = np.random.default_rng(8)

def disc(r):
    return [(x, y) for x in range(-9, 10) for y in range(-9, 10) if x * x + y * y <= r * r]

def line(n, slope, wide):
    return [(x, round(slope * x) + k) for x in range(n) for k in range(wide)]

def arc(r):
    return sorted({(round(r * np.cos(t)), round(r * np.sin(t))) for t in np.linspace(0, 3.5, 200)})

DRAWN = [(0, [(0, 0)]), (0, [(0, 0), (1, 1)]), (0, [(0, 0), (1, 0), (0, 1), (1, 1)]), (1, [(0, 0), (1, 0), (2, 0)]), (1, disc(1)), (1, disc(1.5)),
         (2, arc(8)), (2, arc(5)), (3, disc(3)), (3, disc(6.2)), (4, line(30, 0.3, 5)), (4, line(20, 0, 4)), (5, line(4, 0, 1)),
         (5, line(40, 0.7, 1)), (5, line(25, 1, 1)), (5, line(30, 0.2, 2))]

def frames():
    out = []
    for k in range(400):
        if k < 4 * len(DRAWN):
            cells = DRAWN[k % len(DRAWN)][1]
        else:                                            # a random walk, of any kind
            at, cells = (0, 0), {(0, 0)}
            for _ in range(rng.integers(1, 60)):
                at = (at[0] + int(rng.integers(-1, 2)), at[1] + int(rng.integers(-1, 2)))
                cells.add(at)
        cells = np.array(sorted(cells)) + rng.integers(70, 180, 2)
        charge = rng.integers(0 if k % 9 == 8 else 1, 1000, len(cells)) * (0 if k % 50 == 49 else 1)
        out.append(list(zip(cells[:, 0].tolist(), cells[:, 1].tolist(), charge.tolist())))
    return out

FRAMES = frames()

def write():
    with open("frames.csv", "w") as f, open("stream.csv", "w") as s:
        f.write("frame,x,y,charge\n")
        s.write("toa [ns],x,y,charge\n")
        for k, cells in enumerate(FRAMES):
            f.writelines("%d,%d,%d,%d\n" % (k, *cell) for cell in cells)
            s.writelines("%d,%d,%d,%d\n" % (5000 * k, *cell) for cell in cells)

def want(cells):
    x, y, q = (np.array(v) for v in zip(*cells))
    values = np.linalg.eigvalsh(np.cov(np.array([x, y]), bias=True).reshape(2, 2) + np.eye(2) / 12)
    n, (small, large) = len(x), values
    sum_squares = sum(v * v for v in q.tolist())
    squared = [float(Fraction(sum(a * v * v for a, v in zip(axis.tolist(), q.tolist())), sum_squares)) if sum_squares else np.nan for axis in (x, y)]
    length, width, linearity, roundness = np.sqrt(12 * large), np.sqrt(12 * small), 1 - small / large, n / (4 * np.pi * large)
    edges = [roundness - 0.5, length - 3.5, width - 3.5, linearity - 0.9, n - 0.6 * length * width, n - 3 * length]
    if np.ptp(x) < 2 and np.ptp(y) < 2:
        kind = 0
    elif roundness >= 0.5 or length < 3.5:
        kind = 3 if width >= 3.5 else 1
    elif linearity < 0.9 or n < 0.6 * length * width:
        kind = 2
    else:
        kind = 4 if n >= 3 * length else 5
    close = min(map(abs, edges)) < 1e-9
    return {"size": n, "peak": int(q.max()), "squared_x": squared[0], "squared_y": squared[1], "length": length, "width": width,
            "linearity": linearity, "roundness": roundness, "kind": None if close else kind}

def table(path):
    if path.endswith(".csv"):
        rows = list(csv.DictReader(open(path)))
        return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}
    if path.endswith(".npz"):
        return {k.split(".")[-1]: v for k, v in np.load(path).items()}
    import h5py
    group = h5py.File(path)["clusters"]
    return {k: group[k][:] for k in group}

def check(path):
    got, seen = table(path), set()
    assert len(got["size"]) == len(FRAMES), (len(got["size"]), len(FRAMES))
    for k, cells in enumerate(FRAMES):
        for name, value in want(cells).items():
            here = float(got[name][k])
            if value is None:
                continue
            good = (np.isnan(here) and np.isnan(value)) or abs(here - value) <= 1e-9 * max(1, abs(value))
            assert good, (path, k, name, here, value, cells)
        if k < 4 * len(DRAWN):
            assert int(got["kind"][k]) == DRAWN[k % len(DRAWN)][0], (k, int(got["kind"][k]), DRAWN[k % len(DRAWN)][0])
        seen.add(int(got["kind"][k]))
    assert seen == set(range(6)), seen
    print("as wanted")

if len(sys.argv) > 1:
    check(sys.argv[1])
else:
    write()
P
python3 tool.py || fail 'the lists'
for what in frames stream; do
    for form in csv h5 npz; do
        run cluster $what.csv -q --features size,peak,squared,shape,kind -o out-$what.$form
        want 0
        told=$(python3 tool.py out-$what.$form 2>&1)
        [ "$told" = 'as wanted' ] || fail "'$last': $told"
        compared=$((compared + 400))
    done
done
[ "$(head -1 out-frames.csv)" = "input,frame,size,peak,squared_x,squared_y,length,width,linearity,roundness,kind" ] || fail "columns: $(head -1 out-frames.csv)"

# Results do not depend on threads; a filter takes the new columns; the usual ones stay as they are.
run cluster frames.csv -q --features peak,squared,shape,kind --threads 3 -o three.csv
run cluster frames.csv -q --features peak,squared,shape,kind -o one.csv
cmp one.csv three.csv || fail 'threads change the columns'
run cluster frames.csv -q --features size,kind,shape --filter 'kind=5,length>=20' -o tracks.csv
want 0
[ "$(sed 1d tracks.csv | wc -l)" -ge 12 ] || fail "$(cat tracks.csv)"
run cluster frames.csv -q -o usual.csv
[ "$(head -1 usual.csv)" = 'input,frame,size,x_min,y_min,x_max,y_max,centroid_x,centroid_y,mass,weighted_x,weighted_y' ] || fail "$(head -1 usual.csv)"
printf 'frame,x,y,z,charge\n0,1,1,1,5\n0,1,2,1,5\n' >deep.csv
run cluster deep.csv -q --features size,kind -o never.csv
want 1
grep -qF 'deep.csv: its pixels have a z, and the features squared, shape and kind are of flat lists' err || fail "$(cat err)"
want_no_file never.csv
run cluster deep.csv -q --features all -o deep-all.csv
want 0
[ "$(head -1 deep-all.csv | grep -c kind)" = 0 ] && head -1 deep-all.csv | grep -q ',largest,peak$' || fail "$(head -1 deep-all.csv)"
echo "$compared comparisons"
