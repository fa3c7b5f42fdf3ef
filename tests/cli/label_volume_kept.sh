#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Volumes: bands, hysteresis, masks and holes give this script's own foreground, kept components are those that its own flood fill keeps,
# also slice by slice, and sizes of voxels come from NIfTI, OME-XML and ImageJ or from the command line.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import ast, csv, itertools, json, random, struct, sys
D, H, W = 6, 5, 9
chance = random.Random(8)
V = [chance.randrange(10) for i in range(D * H * W)]
M = [chance.randrange(3) for i in V]
PLACES = list(itertools.product(range(D), range(H), range(W)))
at = lambda p: (p[0] * H + p[1]) * W + p[2]
edge = lambda p: any(c in (0, n - 1) for c, n in zip(p, (D, H, W)))

def npy(name, data):
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d), }" % (D, H, W)
    head = head.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + bytes(data))

def nifti(name, units, sides):
    head = bytearray(352)
    head[0:4] = struct.pack("<i", 348)
    head[40:56] = struct.pack("<8h", 3, W, H, D, 1, 1, 1, 1)
    head[70:74] = struct.pack("<2h", 2, 8)
    head[76:92] = struct.pack("<4f", 1, *sides)
    head[108:120] = struct.pack("<3f", 352, 1, 0)
    head[123] = units
    head[344:348] = b"n+1\0"
    open(name, "wb").write(bytes(head) + bytes(V))

def tiff(name, text, resolution):
    out, links = bytearray(b"II*\0\0\0\0\0"), 4
    for z in range(D):
        data = len(out)
        out += bytes(V[z * H * W:(z + 1) * H * W])
        tags = [(256, 3, 1, W), (257, 3, 1, H), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, data), (277, 3, 1, 1),
                (278, 3, 1, H), (279, 4, 1, H * W), (296, 3, 1, 1)]
        for tag in (282, 283):
            tags.append((tag, 5, 1, len(out)))
            out += struct.pack("<II", *resolution)
        if z == 0:
            tags.append((270, 2, len(text) + 1, len(out)))
            out += text.encode() + b"\0"
        tags.sort()
        out += b"\0" * (len(out) % 2)
        struct.pack_into("<I", out, links, len(out))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        links = len(out)
        out += b"\0\0\0\0"
    open(name, "wb").write(bytes(out))

def make():
    npy("v.npy", V)
    npy("m.npy", M)
    nifti("mm.nii", 2, (0.5, -0.25, 2))
    nifti("um.nii", 3, (500, 250, 2000))
    nifti("none.nii", 0, (0.5, 0.25, 2))
    ome = '<OME><Image><Pixels SizeZ="6" PhysicalSizeX="0.5" PhysicalSizeXUnit="mm" PhysicalSizeY="250" PhysicalSizeZ="2" PhysicalSizeZUnit="mm"/></Image></OME>'
    tiff("ome.tif", ome, (72, 1))
    tiff("series.tif", ome.replace("</OME>", ome[5:]), (72, 1))
    tiff("open.tif", "ImageJ=1.5\n<OME <Pixels SizeC=\"1\"", (72, 1))
    tiff("short.tif", ome.replace('SizeZ="6"', 'SizeZ="10"'), (72, 1))
    tiff("flat.tif", ome.replace("PhysicalSizeZ=", "Depth="), (72, 1))
    tiff("imagej.tif", "ImageJ=1.53t\nimages=6\nslices=6\nunit=mm\nspacing=2.0\n", (2, 1))

def components(on, connectivity):
    """Lists of voxels, in the order of their first."""
    most = {6: 1, 18: 2, 26: 3}[connectivity]
    steps = [s for s in itertools.product((-1, 0, 1), repeat=3) if 0 < sum(map(abs, s)) <= most]
    left, found = {p for p in PLACES if on(p)}, []
    for first in PLACES:
        if first not in left:
            continue
        left.discard(first)
        voxels = [first]
        for p in voxels:
            for s in steps:
                q = tuple(a + b for a, b in zip(p, s))
                if q in left:
                    left.discard(q)
                    voxels.append(q)
        found.append(voxels)
    return found

RULES = {
    "plain": lambda c: components(lambda p: V[at(p)] >= 9, c),
    "band": lambda c: components(lambda p: 4 <= V[at(p)] <= 6, c),
    "sown": lambda c: [v for v in components(lambda p: V[at(p)] >= 7, c) if any(V[at(p)] >= 9 for p in v)],
    "masked": lambda c: components(lambda p: V[at(p)] >= 5 and M[at(p)] > 0, c),
    "filled": lambda c: filled(c, D * H * W),
    "small": lambda c: filled(c, 1),
}

def filled(c, most):
    holes = components(lambda p: V[at(p)] < 3, 26 if c == 6 else 6)
    holes = {p for v in holes if len(v) <= most and not any(map(edge, v)) for p in v}
    return components(lambda p: V[at(p)] >= 3 or p in holes, c)

KEEPS = {
    "all": lambda v: v,
    "sized": lambda v: [x for x in v if 2 <= len(x) <= 4],
    "inside": lambda v: [x for x in v if not any(map(edge, x))],
    "touching": lambda v: [x for x in v if any(map(edge, x))],
    "filtered": lambda v: [x for x in v if len(x) > 1 and min(p[0] for p in x) >= 1],
    "largest": lambda v: [x for x in v if x in sorted(v, key=lambda x: -len(x))[:3]],
}

def load(name):
    data = open(name, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    assert head["shape"] == (D, H, W), head
    return list(data[10 + size:]) if head["descr"] == "|u1" else list(struct.unpack("<%dI" % len(V), data[10 + size:]))

def check(rule, keep, connectivity):
    found = KEEPS[keep](RULES[rule](int(connectivity)))
    wanted = [0] * len(V)
    for i, voxels in enumerate(found):
        for p in voxels:
            wanted[at(p)] = i + 1
    assert found and load("l.npy") == wanted, (rule, keep)
    assert load("w.npy") == [255 * (x > 0) for x in wanted]
    assert [int(r["volume"]) for r in csv.DictReader(open("s.csv"))] == [len(v) for v in found]
    row = json.load(open("out"))["volumes"][0]
    left = len(RULES[rule](int(connectivity))) - len(found)
    assert (row["components"], row["filtered"]) == (len(found), left), row

def same():
    a, b = ([tuple(r[k] for k in ("volume", "first_x", "first_y", "first_z")) for r in csv.DictReader(open(n))] for n in ("s.csv", "t.csv"))
    assert a and sorted(a) == sorted(b)

def sizes(x="500", y="250", z="2000", source="--pixel-size"):
    side = [float(x), float(y), float(z)]
    pixels, um = (list(csv.DictReader(open(n))) for n in ("p.csv", "u.csv"))
    assert len(pixels) == len(um) > 5 and "volume" not in um[0] and "x" not in um[0] and "sum_x" in um[0]
    for p, u in zip(pixels, um):
        assert abs(float(u["volume_um3"]) / (int(p["volume"]) * side[0] * side[1] * side[2]) - 1) < 1e-6
        for k, s in zip("xyz", side):
            assert abs(float(u[k + "_um"]) - float(p[k]) * s) < 1e-3
    row = json.load(open("out"))["volumes"][0]
    assert row["pixel_from"] == source and [row["pixel_%s_um" % k] for k in "xyz"] == [float("%.9g" % s) for s in side], row

globals()[sys.argv[1]](*sys.argv[2:])
P
tool() { /usr/bin/python3 tool.py "$@" || fail "tool.py $*"; }
tool make
printf "P5 9 5 255\n%045d" 0 >one.pgm

one() { # rule keep connectivity, and the words of both
    run label --volume v.npy --connectivity "$3" "${@:4}" --threads $(($3 % 4 + 1)) -o l.npy --write-mask w.npy --stats s.csv --features area,first --json
    want 0
    tool check "$1" "$2" "$3"
}
one band all 18 --threshold 4:6
one masked all 26 --threshold 5 --mask m.npy
for c in 6 18 26; do
    one sown all $c --hysteresis 7:9
    one filled all $c --threshold 3 --fill-holes
done
one small all 6 --threshold 3 --fill-holes --max-hole 1
one plain sized 26 --threshold 9 --min-area 2 --max-area 4
one plain touching 18 --threshold 9 --border touching
one plain inside 6 --threshold 9 --border inside
one plain filtered 26 --threshold 9 --filter 'volume>1 && z_min>=1'
one plain filtered 6 --threshold 9 --filter 'area>1,z_min>=1'
one plain largest 18 --threshold 9 --largest 3

for words in "--min-area 2 --max-area 4 --filter z_max<5" "--border touching"; do
    run label --volume v.npy --threshold 7 --connectivity 6 $words -q --stats s.csv --features area,first
    want 0
    run label --volume v.npy --threshold 7 --connectivity 6 $words -q --stats t.csv --features area,first --stream
    want 0
    tool same
done

# Otsu's threshold is that of all voxels.
run label --volume v.npy --threshold otsu --json
want 0
grep -qE '"threshold": [1-9]' out || fail "$(cat out)"

run label --volume v.npy --threshold 9 --connectivity 6 -q --stats p.csv --features area,centroid,sums
want 0
for input in v.npy:--pixel-size:0.5,0.25,2mm mm.nii:NIfTI:auto um.nii:NIfTI:auto ome.tif:OME:auto; do
    IFS=: read -r name source size <<<"$input"
    run label --volume "$name" --threshold 9 --connectivity 6 --stats u.csv --features area,centroid,sums --pixel-size "$size" --json
    want 0
    tool sizes 500 250 2000 "$source"
done
run label --volume imagej.tif --threshold 9 --connectivity 6 --stats u.csv --features area,centroid,sums --pixel-size auto --json
want 0
tool sizes 500 500 2000 ImageJ
run label --volume v.npy --threshold 9 --connectivity 6 --stats u.csv --features area,centroid,sums --pixel-size 3um --json
want 0
tool sizes 3 3 3
run label --volume mm.nii --threshold 9 --connectivity 6 --stats u.csv --stream --features area,centroid,sums --pixel-size auto --json
want 0

# An OME file that has not all slices of its set.
run label --volume short.tif -q
want 0
echo "sluice label: short.tif: page 7: there is none, and the file's description tells of 10 slices (OME), maybe in other files" | want_err
run label --volume series.tif -q
want 0
echo "sluice label: series.tif: page 1: the description tells of several images (OME): all pages of this file are taken for slices of one volume" | want_err
run label --volume open.tif -q # an element that does not end
want 0
want_silent
run label --volume ome.tif -q
want_silent

# What is wrong.
fails() {
    wanted=$1
    shift
    run label --volume "$@" --stats x.csv
    want 1
    grep -qF -e "$wanted" err || fail "'$*' said: $(cat err)"
    want_no_file x.csv
}
fails "none.nii: the file does not say how large a voxel is: --pixel-size X,Y,Z does" none.nii --pixel-size auto
fails "flat.tif: the file does not say how far apart its slices are" flat.tif --pixel-size auto
fails "mask: 9 x 5 x 1 voxels for a volume of 9 x 5 x 6" v.npy --mask one.pgm
refuse() {
    wanted=$1
    shift
    run label --volume v.npy "$@" --stats x.csv
    want 2
    grep -qF -e "$wanted" err || fail "'$*' said: $(cat err)"
}
refuse "--pixel-size takes auto, or X or X,Y,Z with a unit" --pixel-size 1,2um
refuse "--volume --stream does not go with --largest" --stream --largest 2
refuse "--hysteresis does not go with --stream" --stream --hysteresis 1:2
refuse "--min-area 5 is more than --max-area 4" --min-area 5 --max-area 4
refuse "the components have no column 'roundness'" --filter 'roundness>1'
refuse "--equal does not go with --hysteresis" --equal --hysteresis 1:2
refuse "--split takes a number of pixels from 0, not '-1'" --split -1
refuse "--split does not go with --stream" --split 1 --stream
refuse "--split does not go with --periodic" --split 1 --periodic z
refuse "--split does not go with --inverse" --split 1 --inverse
refuse "--equal does not go with --split" --split 1 --equal

# Floats are compared with a float, as those of images are: 0.7 in a file is at the threshold 0.7, though neither is that number.
python3 - <<'P'
import struct
values = [0.7, 0, 0.1, 0, 0.3, 0.7, 0, 0, 0.1, 0, 0.3, 0.3, 0, 0.1, 0.7]
for name, shape in (("tenths.npy", "(3, 5)"), ("tenths3.npy", "(1, 3, 5)")):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % shape).ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<15f", *values))
P
sizes() { # FILE N: the areas, which are so many
    equal "components of '$last'" "$(($(wc -l <"$1") - 1))" "$2"
    sed 1d "$1" | cut -d, -f4 | sort
}
while IFS='|' read -r n how; do
    # shellcheck disable=SC2086 # words on purpose
    run label tenths.npy -q $how --features area --stats flat.csv
    want 0
    sizes flat.csv "$n" >flat
    for stream in "" --stream; do
        [[ "$how $stream" != *hysteresis*--stream ]] || continue
        # shellcheck disable=SC2086
        run label --volume tenths3.npy -q $how $stream --features area --stats deep.csv
        want 0
        sizes deep.csv "$n" >deep
        cmp flat deep || fail "'$last': other components than of the image"
    done
done <<'T'
2|--threshold 0.7
1|--threshold 0.1:0.1
2|--threshold 0.7:0.7
1|--threshold 0.05:0.1
2|--threshold 0.05:0.3
2|--hysteresis 0.3:0.7
T
