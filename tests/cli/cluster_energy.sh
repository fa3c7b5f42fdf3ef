#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --calibration`, `--mask` and `--write-mask`: frames whose energies, energy-weighted centroids and hot
# pixels are computed here from the same files, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math, random

W, H = 64, 48
rng = random.Random(11)
A, B, C, T = ([[f() for x in range(W)] for y in range(H)] for f in (
    lambda: rng.uniform(1, 3), lambda: rng.uniform(20, 60), lambda: rng.uniform(50, 300), lambda: rng.uniform(0, 4)))
for x, y in ((5, 5), (40, 20), (41, 20)):
    A[y][x] = 0.0                                     # not calibrated
HOT = [(10, 10), (11, 10), (50, 40)]

def make():
    frames = []
    for f in range(300):
        one = {}
        for k in range(12):
            x, y = rng.randrange(W), rng.randrange(H)
            for dx, dy in ((0, 0), (1, 0), (1, 1))[: 1 + rng.randrange(3)]:
                if x + dx < W and y + dy < H:
                    one[x + dx, y + dy] = rng.randrange(1, 500)
        one.update({at: 30 for at in HOT})
        frames.append(one)
    return frames

FRAMES = make()

def ev(x, y, tot):
    """By Newton's method on the formula itself, from above, where it is convex towards the root."""
    a, b, c, t = A[y][x], B[y][x], C[y][x], T[y][x]
    if a <= 0:
        return None
    e = t + 1 + (tot + abs(b) + c) / a
    for _ in range(100):
        e -= (a * e + b - c / (e - t) - tot) / (a + c / (e - t) ** 2)
        if e <= t:
            e = t + 1e-9
    e = max(e, t)
    return math.floor(1000 * e + 0.5) if e >= 0 else None

def clusters(masked=()):
    out = []
    for f, one in enumerate(FRAMES):
        one = {at: q for at, q in one.items() if at not in masked}
        seen = set()
        for at in sorted(one, key=lambda p: (p[1], p[0])):
            if at in seen:
                continue
            todo, members = [at], []
            seen.add(at)
            while todo:
                x, y = todo.pop()
                members.append((x, y))
                for n in ((x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
                    if n in one and n not in seen:
                        seen.add(n)
                        todo.append(n)
            e = {m: ev(*m, one[m]) or 0 for m in members}
            out.append((f, len(members), sum(e.values()), sum(m[0] * v for m, v in e.items()), sum(m[1] * v for m, v in e.items())))
    return out

def write():
    with open("frames.csv", "w") as out:
        out.write("frame,x,y,charge\n")
        for f, one in enumerate(FRAMES):
            out.writelines("%d,%d,%d,%d\n" % (f, x, y, q) for (x, y), q in one.items())
    import os
    os.makedirs("calib", exist_ok=True)
    for name, m in zip("abct", (A, B, C, T)):
        with open("calib/calib%s.txt" % name, "w") as out:
            out.writelines("\t".join(map(repr, row)) + "\n" for row in m)
    with open("list.txt", "w") as out:
        out.writelines("%d %d %r %r %r %r\n" % (x, y, A[y][x], B[y][x], C[y][x], T[y][x]) for y in range(H) for x in range(W))

def same(path, masked=(), least=0):
    got = list(csv.DictReader(open(path)))
    wanted = [w for w in clusters(masked) if w[2] >= 1000 * least]
    assert len(got) == len(wanted) > 1000, (len(got), len(wanted))
    for g, w in zip(got, wanted):
        assert (int(g["frame"]), int(g["size"])) == w[:2] and abs(float(g["energy_kev"]) - w[2] / 1000) <= 0.0011 * w[1], (g, w)
        if w[2] > 0:
            assert abs(float(g["weighted_x"]) - w[3] / w[2]) < 0.01 and abs(float(g["weighted_y"]) - w[4] / w[2]) < 0.01, (g, w)
    return True
P
python3 -c 'from tool import *; write()'
check() { # ARGUMENTS
    compared=$((compared + 1))
    local got
    got=$(python3 -c "from tool import *; print(same($1))" 2>&1)
    [ "$got" = True ] || fail "'$last': not so: $got"
}

run cluster frames.csv -q --calibration calib -o folder.csv
want 0
grep -qE 'frames.csv: [0-9]+ pixels have no calibration, or no energy by it; their energy is taken as 0' err || fail "told: $(cat err)"
head -1 folder.csv | grep -q ',energy_kev,' || fail "$(head -1 folder.csv)"
head -1 folder.csv | grep -q ',mass' && fail 'the mass is there, too'
check '"folder.csv"'
n=$(python3 -c 'from tool import *; print(sum(ev(*at, q) is None for one in FRAMES for at, q in one.items()))')
grep -q " $n pixels have no calibration" err || fail "$n: $(cat err)"
run cluster frames.csv -q --calibration list.txt -o list.csv
cmp folder.csv list.csv || fail 'a list is not the folder'
run cluster frames.csv -q --calibration calib/caliba.txt,calib/calibb.txt,calib/calibc.txt,calib/calibt.txt -o four.csv
cmp folder.csv four.csv || fail 'four files are not the folder'
run cluster frames.csv -q --calibration calib --filter 'energy_kev>=60' -o least.csv
want 0
check '"least.csv", least=60'
run cluster frames.csv -q --calibration calib --labels labels.csv -o again.csv
head -1 labels.csv | grep -q ',energy_ev,' || fail "$(head -1 labels.csv)"
run cluster frames.csv -q --calibration calib --features size,mass -o k.h5
want 0

# Hot pixels: found, told, written, and gone with the mask.
run cluster frames.csv --json --write-mask hot.txt
want 0
grep -q '3 hot pixels with 90[0-9] of [0-9]* hits, the hottest at x' err || fail "hot: $(cat err)"
[ "$(grep -v '^#' hot.txt | cut -d' ' -f1,2 | sort -n | tr '\n' ';')" = '10 10;11 10;50 40;' ] || fail "$(cat hot.txt)"
python3 -c "
import json; r = json.load(open('out'))
assert r['hot']['pixels'] == 3 and r['hot']['masked'] == 3 and r['hot']['file'] == 'hot.txt', r['hot']
assert r['hot']['judged'] == r['inputs'][0]['pixels']" || fail "json: $(cat out)"
run cluster frames.csv -q --calibration calib --mask hot.txt -o cold.csv --write-mask again.txt --json
want 0
check '"cold.csv", HOT'
grep -q 'frames.csv: 900 pixels were left out by --mask' err || fail "masked: $(cat err)"
grep -q 'no hot pixels; again.txt has 3 masked ones' err || fail "again: $(cat err)"
[ "$(grep -v '^#' again.txt)" = "$(grep -v '^#' hot.txt | sed 's/ #.*//' | sort -k2n -k1n)" ] || fail "again: $(cat again.txt)"
python3 -c "import json; i = json.load(open('out'))['inputs'][0]; assert i['masked'] == 900" || fail "json: $(cat out)"

printf 'x,y\n1,2\n' >plain.csv
printf '1 2\n3' >cut.txt
want_refused 'cut.txt: line 2: the last line has no end: the file is cut' cluster frames.csv --mask cut.txt
want_refused 'its pixels have no charges, which a calibration is of' cluster plain.csv --calibration calib
want_refused '--calibration is for the features mass, weighted, largest, peak and squared' cluster frames.csv --calibration calib --features size
want_refused 'four files are needed, of a, b, c and t, not 2' cluster frames.csv --calibration calib/caliba.txt,calib/calibb.txt
want_refused 'a folder without caliba.txt' cluster frames.csv --calibration .
want_refused '--write-mask does not go with --part' cluster frames.csv --write-mask m%p.txt --part 1/2 -o part%p.h5
for word in mass tot; do
    want_refused "the clusters have no column '$word'; they have size," cluster frames.csv --calibration calib --filter "$word>1"
    want 2
done
want_refused "the clusters have no column 'energy_kev'" cluster frames.csv --filter 'energy_kev>1'
want_refused 'nowhere/m.txt' cluster frames.csv --write-mask nowhere/m.txt
grep -q 'hot pixels' err && fail "a mask that was not written is told: $(cat err)"
# Tables are inputs, too: no output takes their place.
mkdir -p chips/chip0
cp calib/* chips/chip0
printf '10 5\n' >walk.csv
before=$(cat calib/* chips/chip0/* walk.csv | cksum)
want_refused 'would overwrite the input calib/calibb.txt' cluster frames.csv --calibration calib --write-mask calib/calibb.txt
want_refused 'would overwrite the input calib/calibc.txt' cluster frames.csv --write-mask calib/calibc.txt \
    --calibration calib/caliba.txt,calib/calibb.txt,calib/calibc.txt,calib/calibt.txt
want_refused 'would overwrite the input ./chips/chip0/calibt.txt' cluster frames.csv --calibration chips --write-mask ./chips/chip0/calibt.txt
want_refused 'would overwrite the input walk.csv' cluster frames.csv --timewalk walk.csv -o walk.csv
equal "the tables" "$(cat calib/* chips/chip0/* walk.csv | cksum)" "$before"
run cluster frames.csv -q --calibration calib -o calib/result.csv
want 0
run cluster frames.csv -q --calibration calib -o calib/result.csv
want 0
rm calib/result.csv
printf 'x,y\n' >nothing.csv
run cluster nothing.csv --write-mask never.txt
[ $status -ne 0 ] && [ ! -e never.txt ] || fail "a mask of nothing: $(cat err)"
head -3 calib/calibt.txt >short.txt
want_refused 'short.txt: 64 x 3 numbers, where calib/caliba.txt has 64 x 48' cluster frames.csv --calibration calib/caliba.txt,calib/calibb.txt,calib/calibc.txt,short.txt
echo "$compared comparisons"
