#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Volumes from the command line: NPY, pages of TIFF and NIfTI give the labels of this script's own flood fill, features are sums over
# voxels, and what does not go with a volume is refused.
. "$(dirname "$0")/common.sh" "$@"

# Reads and writes volumes without the library; `check` labels by flood fill.
cat >tool.py <<'P'
import ast, csv, gzip, json, random, struct, sys, zlib

def shape_of(kind): return {"a": (3, 4, 5), "b": (1, 3, 4), "c": (5, 2, 3)}[kind]

def values(kind):
    d, h, w = shape_of(kind)
    chance = random.Random(kind)
    return [[[chance.choice([0] * 9 + [7, 9]) for x in range(w)] for y in range(h)] for z in range(d)]

def npy(name, shape, code, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    head = head.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data)

def nifti(name, shape, data, code=2):
    d, h, w = shape
    head = bytearray(352)
    head[0:4] = struct.pack("<i", 348)
    head[40:56] = struct.pack("<8h", 3, w, h, d, 1, 1, 1, 1)
    head[70:74] = struct.pack("<2h", code, 8 * len(data) // (d * h * w))
    head[108:120] = struct.pack("<3f", 352, 1, 0)
    head[344:348] = b"n+1\0"
    (gzip.open if name.endswith(".gz") else open)(name, "wb").write(bytes(head) + data)

def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

# An image of palette numbers, whose colours are all the same grey.
def png(name, shape, data):
    d, h, w = shape
    rows = b"".join(b"\0" + data[y * w:(y + 1) * w] for y in range(h))
    open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", w, h, 8, 3, 0, 0, 0)) +
                           chunk(b"PLTE", b"\x40\x40\x40" * 16) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

# Labels of other programs: of 64 bits, with a sign, in the other byte order; far apart, and equal in their low halves.
def labels(kind):
    flat = bytes(v for plane in values(kind) for row in plane for v in row)
    wide = [v and (v - 8) * 2**40 + 5 for v in flat]
    npy(kind + "_i8.npy", shape_of(kind), ">i8", b"".join(struct.pack(">q", v) for v in wide))
    npy(kind + "_u8.npy", shape_of(kind), "<u8", b"".join(struct.pack("<Q", v % 2**64) for v in wide))
    npy(kind + "_i2.npy", shape_of(kind), "<i2", b"".join(struct.pack("<h", v and v - 8) for v in flat))
    nifti(kind + "_i4.nii", shape_of(kind), b"".join(struct.pack("<i", v and (v - 8) * 2**24 + 1) for v in flat), 8)
    nifti(kind + "_f4.nii", shape_of(kind), b"".join(struct.pack("<f", v) for v in flat), 16)
    if shape_of(kind)[0] == 1:
        png(kind + "_palette.png", shape_of(kind), flat)

def make(kind):
    flat = bytes(v for plane in values(kind) for row in plane for v in row)
    npy(kind + ".npy", shape_of(kind), "|u1", flat)
    npy(kind + "2.npy", shape_of(kind), "<u2", b"".join(struct.pack("<H", v) for v in flat))
    nifti(kind + ".nii", shape_of(kind), flat)
    nifti(kind + ".nii.gz", shape_of(kind), flat)

def flood(kind, most, threshold, equal=False, periodic=""):
    v, (d, h, w) = values(kind), shape_of(kind)
    labels, n = {}, 0
    steps = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if 0 < abs(a) + abs(b) + abs(c) <= most]
    on = [(z, y, x) for z in range(d) for y in range(h) for x in range(w) if v[z][y][x] >= threshold]
    for first in on:
        if first in labels:
            continue
        n, open_ = n + 1, [first]
        labels[first] = n
        while open_:
            z, y, x = open_.pop()
            for a, b, c in steps:
                p = [z + a, y + b, x + c]
                for i, axis in enumerate("zyx"):
                    p[i] = p[i] % (d, h, w)[i] if axis in periodic else p[i]
                p = tuple(p)
                if p not in labels and p in set(on) and (not equal or v[p[0]][p[1]][p[2]] == v[z][y][x]):
                    labels[p] = n
                    open_.append(p)
    return labels, n

def load(name):
    data = open(name, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    assert head["descr"] == "<u4" and not head["fortran_order"]
    return head["shape"], struct.unpack("<%dI" % ((len(data) - 10 - size) // 4), data[10 + size:])

def check(kind, name, most, threshold, equal=""):
    labels, n = flood(kind, int(most), int(threshold), equal != "")
    d, h, w = shape_of(kind)
    shape, found = load(name)
    assert shape == (d, h, w), shape
    assert list(found) == [labels.get((z, y, x), 0) for z in range(d) for y in range(h) for x in range(w)]

# Rows with --stream are the same in another order, and have been counted.
def order(kind, name, most, periodic):
    labels, n = flood(kind, int(most), 1, False, periodic)
    depth = shape_of(kind)[0]
    rows = []
    for i in range(1, n + 1):
        at = sorted(p for p in labels if labels[p] == i)
        last = at[-1][0] + 1
        open_ = last == depth or ("z" in periodic and at[0][0] == 0)
        rows.append((depth + 1 if open_ else last, at[0], len(at)))
    rows.sort()
    found = [tuple(int(row[k]) for k in ("label", "volume", "first_z", "first_y", "first_x")) for row in csv.DictReader(open(name))]
    assert found == [(i + 1, row[2]) + row[1] for i, row in enumerate(rows)], (found, rows)

def features(kind, name, periodic=""):
    labels, n = flood(kind, 3, 1, False, periodic)
    rows = list(csv.DictReader(open(name)))
    assert len(rows) == n > 0
    for row in rows:
        at = [p for p in labels if labels[p] == int(row["label"])]
        assert int(row["volume"]) == len(at) and row["input"] == row["page"] == "1"
        for i, a in enumerate("zyx"):
            side = [p[i] for p in at]
            assert (int(row[a + "_min"]), int(row[a + "_max"])) == (min(side), max(side))
            assert abs(float(row[a]) - sum(side) / len(side)) < 1e-9
            assert int(row["sum_%s%s" % (a, a)]) == sum(s * s for s in side)

def volumes(kind, name):
    found = json.load(open(name))
    d, h, w = shape_of(kind)
    row = found["volumes"][0]
    assert (row["width"], row["height"], row["depth"], row["components"]) == (w, h, d, flood(kind, 3, 1)[1])
    assert found["connectivity"] == 26 and row["seconds"] > 0

# Slices in files of their own, in an order that their names have as numbers alone: 8, 9, 10 …
def slices(kind, folder):
    d, h, w = shape_of(kind)
    for z, plane in enumerate(values(kind)):
        open("%s/s%d.pgm" % (folder, z + 8), "wb").write(b"P5 %d %d 255\n" % (w, h) + bytes(v for row in plane for v in row))

globals()[sys.argv[1]](*sys.argv[2:])
P
tool() { /usr/bin/python3 tool.py "$@" || fail "tool.py $*"; }

for kind in a b c; do
    tool make $kind
    for input in $kind.npy ${kind}2.npy $kind.nii $kind.nii.gz; do
        run label --volume "$input" -q -o labels.npy
        want 0
        want_silent
        tool check $kind labels.npy 3 1
    done
    for connectivity in 6:1 18:2 26:3; do
        run label --volume $kind.npy --connectivity ${connectivity%:*} --threads 2 --threshold 8 -q -o labels.npy
        want 0
        tool check $kind labels.npy ${connectivity#*:} 8
    done
done

for kind in a b c; do
    run label --volume --equal ${kind}2.npy --connectivity 18 -q -o labels.npy
    want 0
    tool check $kind labels.npy 2 1 equal
    tool labels $kind
    for input in ${kind}_*.npy ${kind}_i4.nii ${kind}_*.png; do
        [ -e "$input" ] || continue
        run label --volume --equal "$input" -q -o labels.npy
        want 0
        want_silent
        tool check $kind labels.npy 3 1 equal
    done
done
run label --volume --equal a_f4.nii -q -o x.npy
want 1
grep -qF 'a_f4.nii: volume: equal values are those of integers, not of f32' err || fail "$(cat err)"
printf 'P6 1 1 255\nabc' >colour.ppm
run label --volume --equal colour.ppm -q -o x.npy
want 1
grep -qF 'colour.ppm: pixels have colours, labels are numbers or those of a palette' err || fail "$(cat err)"
printf 'P4 8 1\n\220' >one.pbm
run label --volume --equal one.pbm --json
want 0
grep -q '"components": 2' out || fail "$(cat out)"

# Pages of a TIFF are slices, those of labels too.
run label --volume a.npy -q -o labels.tif
want 0
run label --volume labels.tif -q -o again.npy
want 0
tool check a again.npy 3 1
"$sluice" label --volume - -q -o again.npy <a.nii.gz || fail "standard input"
tool check a again.npy 3 1

mkdir folder
tool slices c folder
run label --volume folder -q -o labels.npy
want 0
want_silent
tool check c labels.npy 3 1
run label --volume --stream folder -q --stats s.csv
want 0
tool order c s.csv 3 ""
run label --volume folder -q -o folder/s9.npy
want 0
run label --volume folder -q -o folder/s9.npy
want 1
grep -qF 'folder/s9.npy: a slice of the volume, and its output' err || fail "$(cat err)"
run label --volume folder -q -o labels.npy
want 1
grep -qF 'folder/s9.npy: slice 2 is 3x2 of u32' err || fail "$(cat err)"

run label --volume a.npy -q --stats a.csv --features area,box,centroid,second
want 0
tool features a a.csv
run label --volume a.npy --json
want 0
cp out a.json
tool volumes a a.json

# The background, of 6 neighbours where the foreground has 18 or 26 and of 26 where it has 6: as the foreground of what is turned over.
cat >turn.py <<'P'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data[:128] + bytes(int(v == 0) for v in data[128:]))
P
python3 turn.py a.npy turned.npy
for pair in 26:6 18:6 6:26; do
    run label --volume turned.npy --connectivity ${pair#*:} -q -o wanted.npy --stats wanted.csv
    want 0
    run label --volume a.npy --inverse --connectivity ${pair%:*} -q -o labels.npy --stats s.csv
    want 0
    cmp labels.npy wanted.npy && cmp s.csv wanted.csv || fail "--inverse of $pair"
done
run label --volume a.npy --inverse --connectivity 6 --hysteresis 1:1 -q -o labels.npy
want 0
cmp labels.npy wanted.npy || fail "--inverse with --hysteresis"
run label --volume --stream turned.npy --connectivity 26 -q --stats wanted.csv
want 0
run label --volume --stream a.npy --inverse --connectivity 6 -q --stats s.csv
want 0
cmp s.csv wanted.csv || fail "--inverse --stream"
run label --volume a.npy --inverse --json
want 0
equal "told" "$(key out "(o['inverse'], o['connectivity'])")" "(True, 26)"

# Slice by slice, and over borders; each connectivity with every volume, in turn over the borders.
turn=0
for kind in a b c; do
    for periodic in "" x z y,z x,y,z; do
        connectivity=$(echo 6:1 18:2 26:3 | cut -d' ' -f$((turn++ % 3 + 1)))
        run label --volume --stream $kind.npy ${periodic:+--periodic $periodic} --connectivity ${connectivity%:*} -q --stats s.csv
        want 0
        tool order $kind s.csv ${connectivity#*:} "$periodic"
        run label --volume $kind.nii.gz ${periodic:+--periodic $periodic} -q --stats w.csv --features area,box,centroid,second
        want 0
        tool features $kind w.csv "$periodic"
    done
done
run label --volume --stream a.npy --json
want 0
sed 's/"stream": true/"stream": false/; /"seconds"/d' out >streamed.json
run label --volume a.npy --json
want 0
sed '/"seconds"/d' out | cmp - streamed.json || fail "counts differ with --stream"
run label --volume --stream a.npy b.npy -q --stats s.csv
want 0
[ "$(cut -d, -f1 s.csv | sort -u | wc -l)" = 3 ] || fail "two inputs: $(cat s.csv)"

# Foreground that a slice has by itself, and Otsu's of all of them: the same components as in memory.
cp a.npy within.npy
for words in "--threshold otsu" "--threshold 3:9" "--threshold 3 --mask within.npy" "--local mean:3"; do
    # shellcheck disable=SC2086 # words
    run label --volume a.npy $words -q --stats s.csv
    want 0
    # shellcheck disable=SC2086 # words
    run label --volume --stream a.npy $words -q --stats streamed.csv
    want 0
    [ "$(wc -l <s.csv)" -gt 1 ] || fail "$words: nothing is found"
    cmp <(cut -d, -f4- s.csv | sort) <(cut -d, -f4- streamed.csv | sort) || fail "--stream $words"
done
run label --volume --stream a.npy --threshold otsu --json
want 0
streamed=$(key out "o['volumes'][0]['threshold']")
run label --volume a.npy --threshold otsu --json
want 0
equal "Otsu's" "$streamed" "$(key out "o['volumes'][0]['threshold']")"
"$sluice" label --volume --stream - --threshold otsu --json <a.npy >out 2>err && fail "otsu of a pipe"
grep -qF -e '-: --threshold otsu with --stream is of what can be read more than once' err || fail "$(cat err)"
run label --volume --stream a.npy --mask b.npy -q --stats x.csv
want 1
grep -qF 'b.npy: slices of 4x3 voxels, and a.npy has such of 5x4' err || fail "$(cat err)"

# What is wrong.
refuse() {
    wanted=$1
    shift
    run label --volume "$@"
    want 2
    grep -qF -e "$wanted" err || fail "'$last' said: $(cat err)"
}
refuse "--connectivity takes 6, 18 or 26 with --volume, not '8'" a.npy --connectivity 8
refuse "--equal does not go with --inverse" a.npy --equal --inverse
refuse "--mask does not go with --inverse" a.npy --mask a.npy --inverse
refuse "--volume --stream does not go with --output" a.npy --stream -o x.npy
refuse "--volume --stream does not go with --threads" a.npy --stream --threads 2
for wrong in w x, ,x xy x,,y x,y,x; do
    refuse "--periodic takes x, y, z or several with commas, not '$wrong'" a.npy --periodic $wrong
done
refuse "--volume does not go with --device" a.npy --device cpu
refuse "--hysteresis does not go with --stream" a.npy --stream --hysteresis 3:5
refuse "--fill-holes does not go with --stream" a.npy --stream --fill-holes
refuse "--equal does not go with --threshold" a.npy --equal --threshold 3
refuse "--volume has no feature 'euler'" a.npy --stats a.csv --features area,euler
refuse "--volume writes the labels of one input, not of 2" a.npy b.npy -o x.npy
refuse "--volume writes labels of 32 bits" a.npy -o x.png
run label a.npy --periodic x
want 2
grep -q -e '--periodic needs --volume' err || fail "$(cat err)"
run label a.npy --equal
want 2
grep -q -e '--equal needs --volume' err || fail "$(cat err)"
run label a.npy --connectivity 26
want 2

# Slices that differ, and a file that is cut off: nothing is written.
printf 'P5 2 1 255\nab' >two.pgm
printf 'P5 3 1 255\nabc' >>two.pgm
run label --volume two.pgm -o x.npy
want 1
grep -q 'two.pgm: slice 2 is 3x1 of u8, those before it are 2x1 of u8: no volume' err || fail "$(cat err)"
head -c 380 a.nii >cut.nii
run label --volume cut.nii -o x.npy
want 1
grep -q 'cut.nii: .*byte 380: the file ends in slice 2 of 3' err || fail "$(cat err)"
want_no_file x.npy
run label --volume --stream cut.nii --stats x.csv
want 1
grep -q 'cut.nii: .*byte 380: the file ends in slice 2 of 3' err || fail "$(cat err)"
want_no_file x.csv
run label --volume --stream two.pgm --stats x.csv
want 1
grep -q 'two.pgm: slice 2 is 3x1 of u8, those before it are 2x1 of u8: no volume' err || fail "$(cat err)"
want_no_file x.csv
