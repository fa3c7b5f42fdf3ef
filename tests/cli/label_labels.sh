#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Label images of other programs: a row for each label, with sums over pixels by this script, from NPY of every type, pages of TIFF and
# PGM, with grey values of another file; a picture of the labels; and what does not go with it is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, json, math, random, struct, sys

W, H, PAGES = 13, 9, 3

def values(page, names):
    chance = random.Random(page)
    return [[chance.choice([0, 0] + names) for x in range(W)] for y in range(H)]

def npy(name, code, letter, pages):
    shape = (H, W) if len(pages) == 1 else (len(pages), H, W)
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)).ljust(117) + "\n"
    data = b"".join(struct.pack(code[0] + letter, v) for page in pages for row in page for v in row)
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data)

def tiff(name, pages, bits=16):
    out, links = bytearray(b"II*\0\0\0\0\0"), 4
    for page in pages:
        data = b"".join(struct.pack("<H" if bits == 16 else "<I", v) for row in page for v in row)
        at = len(out)
        out += data
        tags = [(256, 3, W), (257, 3, H), (258, 3, bits), (259, 3, 1), (262, 3, 1), (273, 4, at), (277, 3, 1), (278, 3, H), (279, 4, len(data))]
        out += b"\0" * (len(out) % 2)
        struct.pack_into("<I", out, links, len(out))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, kind, 1, v) for tag, kind, v in tags)
        links = len(out)
        out += b"\0\0\0\0"
    open(name, "wb").write(bytes(out))

def pgm(name, page):
    open(name, "w").write("P2\n%d %d\n65535\n%s\n" % (W, H, "\n".join(" ".join(map(str, row)) for row in page)))

small, far = [3, 1, 200], [70000, 5, 2**32 - 1]
grey = [[[(x * 7 + y * 3 + p) % 50 for x in range(W)] for y in range(H)] for p in range(PAGES)]

def make():
    stack = [values(p, small) for p in range(PAGES)]
    for code, letter in (("|u1", "B"), ("<u2", "H"), ("<u4", "I"), (">u8", "Q"), ("<i2", "h"), ("<i4", "i"), (">i8", "q")):
        npy("s" + code[1:] + ".npy", (code if code[0] != "|" else "<" + code[1:]), letter, stack)
    npy("bool.npy", "|b1".replace("|", "<"), "B", [[[v > 0 for v in row] for row in stack[0]]])
    tiff("s.tif", stack)
    tiff("grey.tif", grey)
    tiff("short.tif", grey[:2])
    tiff("long.tif", grey + grey[:1])
    pgm("one.pgm", stack[0])
    pgm("grey.pgm", grey[0])
    npy("far.npy", "<i8", "q", [values(7, far)])
    npy("beyond.npy", "<i8", "q", [values(7, [2**32])])
    npy("negative.npy", "<i4", "i", [values(7, [3, -2])])
    npy("real.npy", "<f4", "f", [values(7, [3])])
    open("wide.pgm", "w").write("P2\n2 2\n255\n1 2 3 4\n")
    open("colour.ppm", "w").write("P3\n1 1\n255\n1 2 3\n")

# The rows of a CSV file beside sums over the pixels of pages.
def check(name, names, first, pages, with_grey):
    rows = list(csv.DictReader(open(name)))
    wanted = []
    for p in range(int(pages)):
        v = values(int(first) + p, small if names == "small" else far)
        for label in sorted({l for row in v for l in row} - {0}):
            at = [(x, y) for y in range(H) for x in range(W) if v[y][x] == label]
            wanted.append((p + 1, label, at, [grey[p][y][x] for x, y in at]))
    assert len(rows) == len(wanted), (len(rows), len(wanted))
    for row, (page, label, at, g) in zip(rows, wanted):
        xs, ys = [x for x, y in at], [y for x, y in at]
        assert (int(row["page"]), int(row["label"]), int(row["area"])) == (page, label, len(at)), row
        assert [int(row[k]) for k in ("x_min", "y_min", "x_max", "y_max")] == [min(xs), min(ys), max(xs), max(ys)], row
        assert math.isclose(float(row["x"]), sum(xs) / len(at)) and math.isclose(float(row["y"]), sum(ys) / len(at)), row
        if with_grey == "grey":
            mean = sum(g) / len(g)
            assert (float(row["grey_min"]), float(row["grey_max"]), float(row["mass"])) == (min(g), max(g), sum(g)), row
            assert math.isclose(float(row["grey_mean"]), mean, rel_tol=1e-12), row
            assert math.isclose(float(row["grey_std"]), (sum((v - mean) ** 2 for v in g) / len(g)) ** 0.5, rel_tol=1e-12), row
        else:
            assert "mass" not in row, row

globals()[sys.argv[1]](*sys.argv[2:])
P
python3 tool.py make

tool() {
    compared=$((compared + 1))
    python3 tool.py "$@" || fail "'$last': python3 tool.py $*"
}

for name in su1.npy su2.npy su4.npy su8.npy si2.npy si4.npy si8.npy s.tif; do
    run label --labels $name --stats s.csv -q
    want 0
    want_silent
    tool check s.csv small 0 3 plain
    run label --labels $name --intensity grey.tif --stats g.csv -q --threads 2
    want 0
    tool check g.csv small 0 3 grey
done
run label --labels one.pgm --intensity grey.pgm --features all --stats one.csv -q
want 0
tool check one.csv small 0 1 grey
run label --labels far.npy --stats far.csv -q
want 0
tool check far.csv far 7 1 plain
run label --labels bool.npy --stats b.csv -q
want 0
equal "labels of a bool array" "$(cut -d, -f3 b.csv | paste -sd,)" "label,1"

# Features are those that labelling the same image gives, whatever its threads; and come in each form of results.
run label one.pgm --threshold 1 -o l.npy --stats a.json --features area,box,first,sums,second,perimeter,euler,centroid,shape,form,hull,feret,crofton
want 0
run label --labels l.npy --stats b.json --features area,box,first,sums,second,perimeter,euler,centroid,shape,form,hull,feret,crofton -o m.npy
want 0
equal "features of labels" "$(cat b.json)" "$(cat a.json)"
equal "labels of labels" "$(cksum <m.npy)" "$(cksum <l.npy)"
forms "h5 arrow npz" labels label --labels s.tif --features label,area,feret -q --stats
run label --labels s.tif --json --stats x.csv
want 0
equal "components in JSON" "$(key out '[p["components"] for p in o["pages"]], o["labels"], o["algorithm"], o["intensity"]')" "([3, 3, 3], True, 'none', '')"
run label --labels far.npy --preview p.png -o far.tif --quiet
want 0
run label --labels far.tif --stats again.csv -q
want 0
equal "labels written" "$(cat again.csv)" "$(cat far.csv)"

# Everything of an image and nothing of a stream.
run label one.pgm --features all --stats all.csv -q
want 0
equal "columns" "$(head -1 all.csv | tr , '\n' | tail -15 | paste -sd,)" \
    "grey_min,grey_max,extent,diameter,roundness,convex_area,solidity,feret_max,feret_min,feret_outline,crofton_2,crofton_4,circularity,grey_mean,grey_std"
run label one.pgm --stream --features all --stats all.csv -q
want 0
equal "columns of a stream" "$(head -1 all.csv | tr , '\n' | tail -1)" "grey_max"

run label --labels negative.npy
want 1
grep -q "is negative: labels are whole numbers from 0 up" err || fail "'$last' says $(cat err)"
run label --labels beyond.npy
want 1
grep -q "the label 4294967296 at x" err || fail "'$last' says $(cat err)"
want_refused "label image: of floats; labels are whole numbers" label --labels real.npy
want_refused "pixels have colours, labels are numbers" label --labels colour.ppm
want_refused "grey.pgm: a page of 13x9 pixels, and the label image has 2x2" label --labels wide.pgm --intensity grey.pgm --stats x.csv
want_refused "short.tif: it has fewer pages than" label --labels s.tif --intensity short.tif --stats x.csv
want_refused "long.tif: it has more pages than" label --labels s.tif --intensity long.tif --stats x.csv
want_refused "does not fit into the 16 bits of x.png" label --labels far.npy -o x.png
want_refused "--labels does not go with --threshold" label --labels s.tif --threshold 3
want_refused "--labels does not go with --min-area" label --labels s.tif --min-area 3
want_refused "--labels does not go with --fill-holes" label --labels s.tif --fill-holes
want_refused "--labels does not go with --split" label --labels s.tif --split 1
want_refused "--labels does not go with --mask" label --labels s.tif --mask grey.pgm
want_refused "--labels does not go with --stream" label --labels s.tif --stream
want_refused "--labels does not go with --device" label --labels s.tif --device cuda
want_refused "--volume has no feature 'hull'" label --volume s.tif --features hull --stats x.csv
want_refused "--labels does not go with --connectivity: the labels are there already (it is used with --stats and the feature euler alone)" label --labels s.tif --connectivity 4
want_refused "--intensity needs --labels" label s.tif --intensity grey.tif --stats x.csv
want_refused "--intensity needs --stats" label --labels s.tif --intensity grey.tif
want_refused "--intensity goes with one label image, not with 2" label --labels s.tif su2.npy --intensity grey.tif --stats x.csv
want_refused "--intensity is for the features grey and spread" label --labels s.tif --intensity grey.tif --features area --stats x.csv
want_refused "--features grey with --labels needs --intensity" label --labels s.tif --features grey --stats x.csv
want_refused "--stream has no feature 'feret', which needs the label image" label s.tif --stream --features feret --stats x.csv
want_no_file x.csv.tmp-*
passed
