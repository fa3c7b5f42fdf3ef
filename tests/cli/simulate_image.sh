#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random test images: what decides over their pixels, every format holds the same ones, and what cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"

make_image() { # FILE OPTIONS...
    local file=$1
    shift
    "$sluice" simulate image --quiet -o "$file" "$@" || fail "cannot make $file with $*"
}

# pixels FILE: 0 and 1 as text, one row a line; PGM, NPY and PBM are read here without the library.
pixels() {
    python3 - "$1" <<'P'
import ast, struct, sys
data = open(sys.argv[1], "rb").read()
if data[:6] == b"\x93NUMPY":
    size = struct.unpack("<H", data[8:10])[0]
    h, w = ast.literal_eval(data[10:10 + size].decode())["shape"]
    raw = data[10 + size:]
    rows = [[1 if p else 0 for p in raw[y * w:(y + 1) * w]] for y in range(h)]
else:
    words, at = [], 0
    while len(words) < (3 if data[:2] == b"P4" else 4):
        end = at
        while data[end:end + 1].strip():
            end += 1
        words.append(data[at:end])
        at = end + 1
    w, h = int(words[1]), int(words[2])
    raw = data[at:]
    if words[0] == b"P4":
        step = (w + 7) // 8
        rows = [[raw[y * step + x // 8] >> 7 - x % 8 & 1 for x in range(w)] for y in range(h)]
    else:
        assert words[0] == b"P5" and int(words[3]) == 255 and set(raw) <= {0, 255}
        rows = [[p // 255 for p in raw[y * w:(y + 1) * w]] for y in range(h)]
assert len(rows) == h and all(len(r) == w for r in rows)
print("\n".join("".join(map(str, r)) for r in rows))
P
}

# Python's random module is the same twister: getrandbits(32) are its numbers, and init_genrand the same seeding.
expected() { # WIDTH HEIGHT GRANULARITY PERCENT SEED
    python3 - "$@" <<'P'
import sys
w, h, g, percent, seed = (int(v) for v in sys.argv[1:])
x = [seed]
for i in range(1, 624):
    x.append((1812433253 * (x[-1] ^ x[-1] >> 30) + i) & 0xffffffff)
import random
r = random.Random()
r.setstate((3, tuple(x) + (624,), None))
for y in range(0, h, g):
    row = "".join(str(int(r.getrandbits(32) < percent / 100 * 2**32)) * g for _ in range(0, w, g))[:w]
    for _ in range(min(g, h - y)):
        print(row)
P
}

for case in "37 11 1 45 1" "40 20 4 50 7" "1 1 1 100 0" "9 33 16 30 4294967295"; do
    set -- $case
    make_image a.pgm --size "$1x$2" --granularity "$3" --density "$4" --seed "$5"
    pixels a.pgm >out
    expected "$@" | want_out
    make_image a.npy --size "$1x$2" --granularity "$3" --density "$4" --seed "$5"
    pixels a.npy >out
    expected "$@" | want_out
    make_image a.pbm --size "$1x$2" --granularity "$3" --density "$4" --seed "$5"
    pixels a.pbm >out
    expected "$@" | want_out
done
for kind in png tif; do
    make_image "a.$kind" --size 37x11
    [ -s "a.$kind" ] || fail "no a.$kind"
done
equal "PNG" "$(head -c 8 a.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
make_image b.pgm --size 50 --seed 3 --density 0
equal "density 0" "$(pixels b.pgm | tr -d '0\n')" ""
make_image b.pgm --size 50 --seed 3 --density 100
equal "density 100" "$(pixels b.pgm | tr -d '1\n')" ""

# What it says, and nothing on standard output.
run simulate image --size 30x20 --seed 5 -o c.pgm
want 0
want_no_out
sed -i 's/in [0-9.]* s$/in T s/' err
echo "sluice simulate image: c.pgm: 30x20 pixels, density 45 %, granularity 1, seed 5, in T s" | want_err

wrong() { # LINE ARGS...
    local line=$1
    shift
    run simulate image "$@"
    want 2
    want_no_out
    echo "sluice simulate image: $line; see sluice simulate image --help" | want_err
}
wrong "--output is required" --size 3x3
for size in 0 0x5 5x0 x5 5x 5x5x5 -5 5,5 4294967295 '5 x5' 99999999999999999999; do
    wrong "--size takes a width and a height from 1 to 4294967294, as in 640x480, not '$size'" --size "$size" -o x.pgm
done
wrong "--density takes 0 to 100, not '101'" --density 101 -o x.pgm
wrong "--granularity takes 1 to 4294967295, not '0'" --granularity 0 -o x.pgm
wrong "--seed takes 0 to 4294967295, not '4294967296'" --seed 4294967296 -o x.pgm
wrong "takes no operands" -o x.pgm y
run simulate image --size 4 -o nowhere/x.pgm
want 1
want_no_out
grep -q "^sluice simulate image: nowhere/x.pgm: .*No such file" err || fail "it said: $(cat err)"
run simulate image --size 4 -o x.gif
want 2
grep -q "x.gif" err || fail "it said: $(cat err)"
want_no_file x.pgm x.gif nowhere
passed
