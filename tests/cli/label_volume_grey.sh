#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Grey values of a volume's components: of another file or its own, beside sums over voxels by this script; and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math, random, struct, sys

D, H, W = 4, 5, 7
chance = random.Random(1)
on = [chance.choice([0] * 18 + [9, 12]) for i in range(D * H * W)]
grey = [chance.randrange(60000) for i in range(D * H * W)]

def npy(name, shape, code, letter, values):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)).ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), letter), *values))

def make():
    npy("on.npy", (D, H, W), "|u1", "B", on)
    npy("grey.npy", (D, H, W), "<u2", "H", grey)
    npy("real.npy", (D, H, W), "<f4", "f", [v / 8 - 3000 for v in grey])
    npy("short.npy", (D - 1, H, W), "<u2", "H", grey[H * W:])
    npy("wide.npy", (D, H, W), "<u8", "Q", on)
    for z in range(D):
        page = grey[z * H * W:(z + 1) * H * W]
        open("slices/%d.pgm" % z, "w").write("P2 %d %d 65535\n%s\n" % (W, H, " ".join(map(str, page))))

# The rows of a CSV file beside the voxels that have their label in a label file.
def check(name, labels, kind):
    labels = struct.unpack("<%dI" % (D * H * W), open(labels, "rb").read()[128:])
    values = {"grey": grey, "real": [v / 8 - 3000 for v in grey], "own": on}[kind]
    rows = list(csv.DictReader(open(name)))
    assert len(rows) == max(labels) > 2, len(rows)
    for row in rows:
        at = [i for i in range(D * H * W) if labels[i] == int(row["label"])]
        v = [values[i] for i in at]
        mass, mean = sum(v), sum(v) / len(v)
        near = lambda a, b: math.isclose(float(row[a]), b, rel_tol=1e-9, abs_tol=1e-9)
        assert int(row["volume"]) == len(at) and near("mass", mass) and near("grey_mean", mean), row
        assert float(row["grey_min"]) == min(v) and float(row["grey_max"]) == max(v), row
        assert near("grey_std", (sum((x - mean) ** 2 for x in v) / len(v)) ** 0.5), row
        for axis, place in (("x", lambda i: i % W), ("y", lambda i: i // W % H), ("z", lambda i: i // W // H)):
            assert near("weighted_" + axis, sum(values[i] * place(i) for i in at) / mass), (axis, row)

globals()[sys.argv[1]](*sys.argv[2:])
P
mkdir slices
python3 tool.py make
tool() {
    compared=$((compared + 1))
    python3 tool.py "$@" || fail "'$last': python3 tool.py $*"
}

for kind in grey:6 real:26; do
    run label --volume on.npy --intensity ${kind%:*}.npy --connectivity ${kind#*:} --threads 2 -o l.npy --stats s.csv -q
    want 0
    want_silent
    tool check s.csv l.npy ${kind%:*}
done
run label --volume on.npy --intensity slices --threshold otsu --features all -o l.npy --stats s.csv -q
want 0
tool check s.csv l.npy grey
run label --volume --equal wide.npy --intensity grey.npy -o l.npy --stats s.csv -q
want 0
tool check s.csv l.npy grey
run label --volume --equal wide.npy --features all --stats s.csv -q
want 0
equal "columns of equal values" "$(head -1 s.csv | tr , '\n' | tail -1)" z
# Foreground by more than a threshold is bits, whose values are still the volume's.
run label --volume on.npy --hysteresis 9:12 --features area,grey,spread -o l.npy --stats s.csv -q
want 0
tool check s.csv l.npy own
run label --volume on.npy --intensity grey.npy --filter 'grey_mean>=25000' --features area,spread --stats s.csv --json
want 0
equal "told" "$(key out "(o['intensity'], o['volumes'][0]['filtered'] > 0)")" "('grey.npy', True)"
[ "$(tail -n +2 s.csv | awk -F, '$5 < 25000' | wc -l)" = 0 ] || fail "kept: $(cat s.csv)"
run label --volume on.npy --intensity grey.npy --pixel-size 2,3,5um --features grey --stats um.csv -q
want 0
run label --volume on.npy --intensity grey.npy --features grey --stats s.csv -q
want 0
equal "lengths" "$(head -1 um.csv)" "input,page,label,mass,weighted_x_um,weighted_y_um,weighted_z_um,grey_min,grey_max"
equal "along z" "$(tail -n +2 um.csv | cut -d, -f7 | awk '{ s += $1 } END { printf "%.6f", s / 5 }')" \
    "$(tail -n +2 s.csv | cut -d, -f7 | awk '{ s += $1 } END { printf "%.6f", s }')"
forms npz components label --volume on.npy --intensity grey.npy -q --stats

run label --volume on.npy --intensity short.npy --stats x.csv
want 1
grep -qF 'short.npy: 7x5x3 voxels, and on.npy has 7x5x4' err || fail "$(cat err)"
run label --volume --equal wide.npy --features grey --stats x.csv
want 1
grep -qF 'wide.npy: grey values: they have up to 32 bits, not 64' err || fail "$(cat err)"
want_refused "--intensity needs --stats" label --volume on.npy --intensity grey.npy
want_refused "--intensity goes with one volume, not with 2" label --volume on.npy on.npy --intensity grey.npy --stats x.csv
want_refused "--intensity is for the features grey and spread" label --volume on.npy --intensity grey.npy --features area --stats x.csv
want_refused "--volume --stream does not go with --intensity" label --volume --stream on.npy --intensity grey.npy --stats x.csv
want_refused "--volume --stream has no feature 'spread'" label --volume --stream on.npy --features area,spread --stats x.csv
want_no_file x.csv
passed
