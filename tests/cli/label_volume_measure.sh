#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Grey values of a volume's components, of another file or its own, and features of label volumes, beside sums over voxels by this script; and what is
# refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math, random, struct, sys

D, H, W = 4, 5, 7
chance = random.Random(1)
on = [chance.choice([0] * 18 + [9, 12]) for i in range(D * H * W)]
grey = [chance.randrange(60000) for i in range(D * H * W)]

def npy(name, shape, code, letter, values):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)).ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("%s%d%s" % (">" if code[0] == ">" else "<", len(values), letter), *values))

def make():
    npy("on.npy", (D, H, W), "|u1", "B", on)
    npy("grey.npy", (D, H, W), "<u2", "H", grey)
    npy("real.npy", (D, H, W), "<f4", "f", [v / 8 - 3000 for v in grey])
    npy("short.npy", (D - 1, H, W), "<u2", "H", grey[H * W:])
    npy("long.npy", (D + 1, H, W), "<u2", "H", grey + grey[:H * W])
    npy("flat.npy", (D, W, H), "<u2", "H", grey)
    npy("wide.npy", (D, H, W), "<u8", "Q", on)
    named = [v and 70000 * (v - 8) + i // 50 for i, v in enumerate(on)]
    npy("named.npy", (D, H, W), "<i4", "i", named)
    npy("named8.npy", (D, H, W), ">i8", "q", named)
    npy("negative.npy", (D, H, W), "<i2", "h", [-v for v in on])
    npy("beyond.npy", (D, H, W), "<u8", "Q", [v << 32 for v in on])
    for z in range(D):
        page = grey[z * H * W:(z + 1) * H * W]
        open("slices/%d.pgm" % z, "w").write("P2 %d %d 65535\n%s\n" % (W, H, " ".join(map(str, page))))

# The rows of a CSV file beside the voxels that have their label in a label file.
def check(name, labels, kind):
    labels = struct.unpack("<%dI" % (D * H * W), open(labels, "rb").read()[128:])
    values = {"grey": grey, "real": [v / 8 - 3000 for v in grey], "own": on}[kind]
    rows = list(csv.DictReader(open(name)))
    assert [int(row["label"]) for row in rows] == sorted(set(labels) - {0}) and len(rows) > 2, len(rows)
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

# Label volumes: the numbers are kept, also of what is not joined.
for labels in named named8; do
    run label --volume --labels $labels.npy --intensity grey.npy --features all -o l.npy --stats s.csv --json
    want 0
    tool check s.csv l.npy grey
    cmp <(tail -c +129 l.npy) <(tail -c +129 named.npy) || fail "labels are not as they were"
done
equal "told" "$(key out "(o['labels'], o['connectivity'], o['volumes'][0]['components'])")" "(True, 0, $(($(wc -l <s.csv) - 1)))"
run label --volume --labels l.npy --stats plain.csv -q
want 0
equal "columns" "$(head -1 plain.csv)" "input,page,label,volume,x_min,y_min,z_min,x_max,y_max,z_max,first_x,first_y,first_z,x,y,z"
run label --volume --labels named.npy --filter 'label>=140000' --largest 2 -o some.npy --write-mask mask.npy --stats kept.csv -q
want 0
equal "kept" "$(tail -n +2 kept.csv | wc -l)" 2
run label --volume --labels some.npy --stats again.csv -q
want 0
cmp kept.csv again.csv || fail "labels that are not kept are written"
run label --volume mask.npy --threshold 255 --equal
want 2
run label --volume --labels mask.npy --stats m.csv -q
want 0
equal "mask" "$(cut -d, -f3,4 m.csv | paste -sd' ')" "label,volume 255,$(tail -n +2 kept.csv | awk -F, '{ n += $4 } END { print n }')"
run label --volume --labels negative.npy --stats x.csv
want 1
grep -q 'negative.npy: .*is negative: labels are whole numbers from 0 up' err || fail "$(cat err)"
run label --volume --labels beyond.npy --stats x.csv
want 1
grep -q 'beyond.npy: the label [0-9]* at x [0-9], y [0-9], z [0-9]: labels have up to 32 bits' err || fail "$(cat err)"
run label --volume --labels real.npy --stats x.csv
want 1
grep -qF 'real.npy: label volume: of floats; labels are whole numbers' err || fail "$(cat err)"
want_refused "--labels does not go with --threshold" label --volume --labels named.npy --threshold 3
want_refused "--labels does not go with --equal" label --volume --labels named.npy --equal
want_refused "--labels does not go with --stream" label --volume --labels named.npy --stream
want_refused "--features grey with --labels needs --intensity" label --volume --labels named.npy --features grey --stats x.csv

run label --volume on.npy --intensity short.npy --stats x.csv
want 1
grep -qF 'short.npy: 7x5x3 voxels, and on.npy has 7x5x4' err || fail "$(cat err)"
run label --volume --equal wide.npy --features grey --stats x.csv
want 1
grep -qF 'wide.npy: grey values: they have up to 32 bits, not 64' err || fail "$(cat err)"
want_refused "--intensity needs --stats" label --volume on.npy --intensity grey.npy
want_refused "--intensity goes with one volume, not with 2" label --volume on.npy on.npy --intensity grey.npy --stats x.csv
want_refused "--intensity is for the features grey and spread" label --volume on.npy --intensity grey.npy --features area --stats x.csv

# Slice by slice, of a file, of a folder, of the volume's own: the same rows, in the order in which components end.
by_first() { tail -n +2 "$1" | cut -d, -f4- | sort -t, -k9n -k8n -k7n; }
streams() {
    words=(--intensity "$1" ${2:+$2})
    [ "$1" != own ] || words=(--features all)
    run label --volume on.npy "${words[@]}" --stats s.csv -q
    want 0
    run label --volume --stream on.npy "${words[@]}" --stats streamed.csv -q
    want 0
    want_silent
    equal "columns of $1" "$(head -1 streamed.csv)" "$(head -1 s.csv)"
    [ "$(wc -l <s.csv)" -gt 2 ] || fail "$(cat s.csv)"
    columns=1-
    [ "$1" != real.npy ] || columns=1-13 # the last bits of floats are another order's
    cmp <(by_first s.csv | cut -d, -f$columns) <(by_first streamed.csv | cut -d, -f$columns) || fail "--stream of $1"
    compared=$((compared + 1))
}
streams grey.npy --equal
streams slices --periodic=z
streams real.npy
streams own
run label --volume on.npy --intensity grey.npy --filter 'grey_std>=9000' --features area,spread --stats s.csv -q
want 0
run label --volume --stream on.npy --intensity grey.npy --filter 'grey_std>=9000' --features area,spread --stats streamed.csv -q
want 0
cmp <(tail -n +2 s.csv | cut -d, -f4- | sort) <(tail -n +2 streamed.csv | cut -d, -f4- | sort) || fail "filter of a stream"
for short in on:short on:long on:flat; do
    case ${short#*:} in
    short) told='short.npy: 3 slices, and on.npy has more' ;;
    long) told='long.npy: more than the 4 slices of on.npy' ;;
    flat) told='flat.npy: slices of 5x7 voxels, and on.npy has such of 7x5' ;;
    esac
    run label --volume --stream on.npy --intensity ${short#*:}.npy --stats x.csv
    want 1
    grep -qF "$told" err || fail "$(cat err)"
done
run label --volume --stream --equal wide.npy --features grey --stats x.csv
want 1
grep -qF 'wide.npy: slice 1: grey values: they have up to 32 bits, not 64' err || fail "$(cat err)"
want_no_file x.csv
passed
