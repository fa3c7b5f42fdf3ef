#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How large pixels are: what TIFF files of this script's own say, by OME-XML, ImageJ and tags, in the JSON; --pixel-size gives features in
# micrometres, in columns that say so, which are those in pixels times the size; and what is no size is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, random, struct, sys
W, H = 21, 17
chance = random.Random(3)
rows = [[int(chance.random() < 0.4) for x in range(W)] for y in range(H)]

def tiff(name, x=None, y=None, unit=None, text=None, pages=1):
    out, links = bytearray(b"II*\0\0\0\0\0"), 4
    for page in range(pages):
        data = b"".join(bytes(row) for row in rows)
        at = len(out)
        out += data
        tags = [(256, 3, 1, W), (257, 3, 1, H), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, at), (277, 3, 1, 1),
                (278, 3, 1, H), (279, 4, 1, len(data))]
        if text and page == 0:
            tags.append((270, 2, len(text.encode()) + 1, len(out)))
            out += text.encode() + b"\0"
        for tag, value in ((282, x), (283, y)):
            if value:
                tags.append((tag, 5, 1, len(out)))
                out += struct.pack("<II", *value)
        if unit:
            tags.append((296, 3, 1, unit))
        tags.sort()
        out += b"\0" * (len(out) % 2)
        struct.pack_into("<I", out, links, len(out))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        links = len(out)
        out += b"\0\0\0\0"
    open(name, "wb").write(bytes(out))

def ome(x, more=""):
    return '<?xml version="1.0" encoding="UTF-8"?><OME><Image ID="a"><Pixels DimensionOrder="XYZCT" %s SizeX="21"></Pixels>%s</Image></OME>' % (x, more)

def make():
    micro = '\u00b5m'
    tiff("cm.tif", (25000, 1), (25000, 1), 3)
    tiff("inch.tif", (254, 1), (508, 1), 2)
    tiff("default.tif", (72, 1), (72, 1))
    tiff("nounit.tif", (72, 1), (72, 1), 1)
    tiff("zero.tif", (0, 1), (72, 1), 2)
    tiff("none.tif")
    tiff("imagej.tif", (4, 1), (4, 1), 1, "ImageJ=1.53t\nimages=1\nunit=%s\nloop=false\n" % micro)
    tiff("imagej2.tif", (4, 1), (4, 1), 1, "ImageJ=1.53t\nimages=2\nunit=micron\n", 2)
    tiff("hyper.tif", text="ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\n", pages=6)
    tiff("only.tif", text="ImageJ=1.53t\nimages=6\nframes=6\n", pages=6)
    tiff("over.tif", text='<OME><Image><Pixels SizeC="1" SizeZ="3" SizeT="2"><TiffData/></Pixels></Image></OME>', pages=6)
    tiff("colours.tif", text='<OME><Image><Pixels SizeC="1" SizeZ="6" SizeT="1"><TiffData/></Pixels></Image></OME>', pages=6)
    tiff("escaped.tif", (10, 1), (10, 1), 1, "ImageJ=1.53t\nimages=1\nunit=\\u00B5m\n")
    tiff("pixels.tif", (4, 1), (4, 1), 1, "ImageJ=1.53t\nimages=1\nunit=pixel\n")
    tiff("ome.tif", (72, 1), (72, 1), 2, ome('PhysicalSizeX="0.65" PhysicalSizeXUnit="%s" PhysicalSizeY="650" PhysicalSizeYUnit="nm"' % micro), 3)
    tiff("plain.tif", None, None, None, ome('PhysicalSizeX="1.5" PhysicalSizeY="1.5"'))
    tiff("reference.tif", None, None, None, ome('PhysicalSizeX="1.5" PhysicalSizeXUnit="&#181;m" PhysicalSizeY="15000" PhysicalSizeYUnit="&#xC5;"'))
    tiff("half.tif", (72, 1), (72, 1), 2, ome('PhysicalSizeX="1.5"'))
    tiff("wild.tif", (72, 1), (72, 1), 2, ome('PhysicalSizeX="1.5x" PhysicalSizeY="nan"'))
    tiff("several.tif", None, None, None, ome('PhysicalSizeX="1" PhysicalSizeY="1"', '<Pixels PhysicalSizeX="2" PhysicalSizeY="2"/>'))
    tiff("cut.tif", None, None, None, '<OME><Pixels PhysicalSizeX="1')

# Columns that are others than in pixels have names that say so, and are those times the size.
def check(x, y):
    x, y = float(x), float(y)
    plain, sized = list(csv.DictReader(open("plain.csv"))), list(csv.DictReader(open("sized.csv")))
    assert len(plain) == len(sized) > 3 and [len(r) for r in plain] == [len(r) for r in sized]
    seen = 0
    for a, b in zip(plain, sized):
        for (name, value), (other, becomes) in zip(a.items(), b.items()):
            factor = 1
            if other != name:
                seen += 1
                factor = {"area_um2": x * y, "convex_area_um2": x * y, "diameter_um": (x * y) ** 0.5, "y_um": y, "weighted_y_um": y}.get(other, x)
                assert other in (name + "_um", name + "_um2"), other
                assert (other == name + "_um2") == ("area" in name), other
            assert abs(float(becomes) - float(value) * factor) <= 1e-12 * abs(float(becomes)), (name, value, becomes)
    assert seen == int(sys.argv[4]) * len(plain), seen / len(plain)

globals()[sys.argv[1]](*sys.argv[2:4])
P
python3 tool.py make

told() { # FILE X Y FROM
    run label "$1" --json
    want 0
    equal "$1" "$(key out '[(p.get("pixel_x_um"), p.get("pixel_y_um"), p.get("pixel_from")) for p in o["pages"]][-1]')" "($2, $3, $4)"
}
told cm.tif 0.4 0.4 "'resolution'"
told inch.tif 100.0 50.0 "'resolution'"
told default.tif 352.77777777777777 352.77777777777777 "'resolution'"
told imagej.tif 0.25 0.25 "'ImageJ'"
told imagej2.tif 0.25 0.25 "'ImageJ'"
told escaped.tif 0.1 0.1 "'ImageJ'"
told ome.tif 0.65 0.65 "'OME'"
told plain.tif 1.5 1.5 "'OME'"
told reference.tif 1.5 1.5 "'OME'"
for file in nounit zero none pixels half wild several cut; do
    told $file.tif None None None
    want_refused "$file.tif: page 1: the file does not say how large a pixel is" label $file.tif --pixel-size auto --stats x.csv
    want_no_file x.csv
done

sized() { # FILE SIZE X Y COLUMNS FEATURES
    run label "$1" --stats plain.csv --features "$6" -q
    want 0
    run label "$1" --stats sized.csv --features "$6" -q --pixel-size "$2"
    want 0
    compared=$((compared + 1))
    python3 tool.py check "$3" "$4" "$5" || fail "'$last'"
}
sized ome.tif auto 0.65 0.65 15 all
sized none.tif 0.25um 0.25 0.25 15 all
sized none.tif 3,2mm 3000 2000 4 area,centroid,hull,box,euler,sums
sized none.tif 1e-3in 25.4 25.4 15 all
sized inch.tif auto 100 50 4 area,centroid,hull
run label none.tif --stream --stats stream.csv --pixel-size 2um --features area -q
want 0
equal "columns of a stream" "$(head -1 stream.csv)" "input,page,label,area_um2"
run label none.tif none.tif --stats two.h5 --pixel-size 2um -q --threads 2
want 0
equal "columns of HDF5" "$(h5dump -n two.h5 | grep -c 'components/\(area_um2\|x_um\|y_um\)$')" 3
run label --labels none.tif --stats labels.csv --pixel-size 2um --features feret --filter 'area>0' -q
want 0
equal "columns of labels" "$(head -1 labels.csv)" "input,page,label,feret_max_um,feret_min_um,feret_outline_um"

for feature in perimeter shape feret crofton form; do
    want_refused "pixels of 100 um by 50 um are not square, as '" label inch.tif --pixel-size auto --stats x.csv --features $feature
done
for size in 2 0um -1um 1,um um 1,2 1,2,3um nanum 1furlong auto2; do
    want_refused "--pixel-size takes auto, or X or X,Y with a unit" label none.tif --pixel-size "$size" --stats x.csv
done
want_refused "--pixel-size needs --stats" label none.tif --pixel-size 1um
want_refused "or X,Y,Z with a unit" label --volume none.tif --pixel-size 1,2um --stats x.csv
want_no_file x.csv
# Pages that are several channels or times of slices are no volume; channels or times alone are told to be taken for slices.
several() { # FILE CHANNELS SLICES TIMES WHO
    want_refused "$1.tif: page 1: byte 0: $2 channels of $3 slices at $4 times ($5): the pages are no single volume" \
        label $1.tif --volume --stats x.csv
}
several hyper 2 3 1 ImageJ
several over 1 3 2 OME
run label only.tif --volume -q
want 0
grep -q "only.tif: page 1: the pages are 6 times (ImageJ), which are taken for slices" err || fail "only.tif: $(cat err)"
run label colours.tif --volume -q
want 0
want_silent
passed
