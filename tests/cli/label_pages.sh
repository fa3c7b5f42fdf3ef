#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages that have something to tell: samples that are not read, stacks of ImageJ, a page without a number, arrays of one sample a
# pixel, and names that are no UTF-8.
. "$(dirname "$0")/common.sh" "$@"

python3 - <<'P'
import random, struct
R = random.Random(4)

def tiff(name, pages, samples=1, extra=None, text=None, short=0):
    """One directory, of the first page; pages are rows of bytes."""
    h, w = len(pages[0]), len(pages[0][0]) // samples
    data = b"".join(bytes(row) for page in pages for row in page)
    text = (text + "\0").encode() if text else b""
    tags = [(256, 4, 1, w), (257, 4, 1, h), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1 if samples < 3 else 2), (273, 4, 1, 512),
            (277, 3, 1, samples), (278, 4, 1, h), (279, 4, 1, w * h * samples)]
    tags += [(270, 2, len(text), 300)] if text else []
    tags += [(338, 3, 1, extra)] if extra is not None else []
    out = struct.pack("<2sHIH", b"II", 42, 8, len(tags))
    for tag, kind, n, value in sorted(tags):
        out += struct.pack("<HHI", tag, kind, n) + (struct.pack("<HH", value, 0) if kind == 3 else struct.pack("<I", value))
    out = (out + bytes(4)).ljust(300, b"\0") + text
    open(name, "wb").write(out.ljust(512, b"\0") + data[:len(data) - short])

def npy(name, code, shape, raw):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + raw)

dots = [[[9 * (x % (p + 2) == 0 and y % 2 == 0) for x in range(12)] for y in range(6)] for p in range(3)] # 18, 12 and 9 of them
text = "ImageJ=1.53t\nimages=3\nslices=3\n"
tiff("stack.tif", dots, text=text)
tiff("short.tif", dots, text=text, short=1)
tiff("rgba.tif", [[[v for p in row for v in (p, p, p, 200)] for row in dots[0]]], 4, 2)
nan = struct.pack("<f", float("nan")) * 6
npy("nan.npy", "<f4", "(3, 2, 3)", struct.pack("<6f", 1, 0, 1, 1, 0, 1) + nan + struct.pack("<6f", 1, 0, 1, 0, 0, 0))
npy("one.npy", "<u4", "(2, 3, 1)", struct.pack("<6I", 1, 0, 1, 0, 0, 1))
open(b"caf\xe9\\.pgm", "wb").write(b"P5 2 1 255\n\1\0")
open(b"list\xff.csv", "wb").write(b"x,y\n1,1\n")
P
components() {
    key out "[p['components'] for p in o['pages']]"
}

# ---- stacks of ImageJ -------------------------------------------------------------------------------------------------
run label stack.tif --json
want 0
want_silent
equal "components" "$(components)" "[18, 12, 9]"
"$sluice" label -q - --json <stack.tif >out || fail "cannot read a stack from standard input"
equal "components from standard input" "$(components)" "[18, 12, 9]"
run label -q short.tif -o l.npy
want 1
want_no_file l.npy
echo "sluice label: short.tif: page 3: byte 656: the file's description tells of 3 images (ImageJ) that follow one another, and of the 72 bytes of this one, which begins here, 71 are there" | want_err

# ---- samples that are not read, once for an input, and all of it in JSON --------------------------------------------------
warning="rgba.tif: page 1: of the 4 samples of each pixel the last, alpha, is not read"
run label -q rgba.tif stack.tif rgba.tif --json
want 0
printf 'sluice label: %s\n' "$warning" "$warning" | want_err
equal "warnings" "$(key out "[o['warnings'], o['faults'], [p['warning'] for p in o['pages']]]")" "[2, 0, ['$warning', None, None, None, '$warning']]"
run label -q rgba.tif -o l.npy
want 0
echo "sluice label: $warning" | want_err

# ---- a page without a number ------------------------------------------------------------------------------------------
fault="threshold: the image has no finite pixel"
for stream in "" --stream; do
    run label -q nan.npy --threshold otsu --json $stream --stats s.csv
    want 1
    echo "sluice label: nan.npy: page 2: $fault" | want_err
    equal "components" "$(components)" "[2, 0, 2]"
    equal "faults" "$(key out "[o['faults'], [p['fault'] for p in o['pages']]]")" "[1, [None, '$fault', None]]"
    equal "pages of rows" "$(cut -d, -f2 s.csv | tr '\n' ' ')" "page 1 1 3 3 "
done
run label nan.npy --threshold otsu -o l.npy --stats s.h5
want 1
equal "labels of the pages" "$(python3 -c 'import struct; print(struct.unpack("<18I", open("l.npy", "rb").read()[-72:]))')" \
    "(1, 0, 2, 1, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0)"
equal "offsets" "$(h5dump -d /components/event_offset -y -w 0 s.h5 | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' ')" "0,2,2,4"
run label nan.npy --threshold otsu
want 1
grep -Eq '^nan.npy +2 +3x2( +-){5}$' out || fail "the table says: $(cat out)"

# ---- arrays of one sample a pixel ---------------------------------------------------------------------------------------
run label one.npy --json --connectivity 4
want 0
equal "one image" "$(key out "[(p['width'], p['height'], p['components']) for p in o['pages']]")" "[(3, 2, 2)]"

# ---- names that are no UTF-8 ------------------------------------------------------------------------------------------
run label $'caf\xe9\\.pgm' one.npy --json
want 0
equal "names" "$(key out "[p['input'] for p in o['pages']]")" "['caf\\\\xe9\\\\\\\\.pgm', 'one.npy']"
run cluster $'list\xff.csv' --json
want 0
equal "a name" "$(key out "o['inputs'][0]['input']")" "list\\xff.csv"
passed
