#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages of a TIFF stack over threads: the same features, checksum, messages and exit status as with one thread, of whole stacks, ImageJ's, and
# such as are damaged in a page, in a directory, or cut off, alone and beside others.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import random, struct, zlib
W, H, N = 40, 30, 24

def stack(name, seed, text=None, broken=None, silent=None, directory=None, cut=None, warn=None):
    chance = random.Random(seed)
    out, links = bytearray(b"II*\0\0\0\0\0"), 4
    for page in range(N):
        packed = bytearray(zlib.compress(bytes(chance.choice((0, 0, 200)) for i in range(W * H))))
        if page in (broken, silent): # of the second kind zlib may see nothing
            kept = 2 if page == broken else len(packed) // 2
            packed[kept:] = b"\xff" * (len(packed) - kept)
        at = len(out)
        out += packed + b"\0" * (len(packed) % 2)
        samples = 2 if page == warn else 1
        tags = [(256, 3, 1, W // samples), (257, 3, 1, H), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, at), (277, 3, 1, samples),
                (278, 3, 1, H), (279, 4, 1, len(packed))]
        if samples == 2:
            tags[2] = (258, 3, 2, 8 | 8 << 16)
        if page == directory:
            tags[4] = (262, 3, 1, 99)
        struct.pack_into("<I", out, links, len(out))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        links = len(out)
        out += b"\0\0\0\0"
    open(name, "wb").write(bytes(out[:len(out) - (cut or 0)]))

def imagej(name, short=0):
    chance = random.Random(9)
    pixels = bytes(chance.choice((0, 0, 200)) for i in range(W * H * N))
    text = b"ImageJ=1.53t\nimages=%d\nslices=%d\n\0" % (N, N)
    tags = [(256, 3, 1, W), (257, 3, 1, H), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (270, 2, len(text), 200), (273, 4, 1, 400), (277, 3, 1, 1),
            (278, 3, 1, H), (279, 4, 1, W * H)]
    head = b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0\0\0\0"
    head = head.ljust(200, b"\0") + text
    open(name, "wb").write(head.ljust(400, b"\0") + pixels[:len(pixels) - short])

stack("good.tif", 1)
stack("other.tif", 2)
stack("broken.tif", 3, broken=13)
stack("silent.tif", 3, silent=13)
stack("first.tif", 3, broken=0)
stack("directory.tif", 4, directory=17)
stack("both.tif", 5, broken=7, directory=9)
stack("cut.tif", 6, cut=3000)
stack("told.tif", 7, warn=5)
imagej("imagej.tif")
imagej("short.tif", 2000)
P
/usr/bin/python3 tool.py || fail "tool.py"

same() { # exit status, inputs
    local status=$1
    shift
    for threads in 1 3; do
        run label "$@" --threads $threads --json --stats s.csv --features area,centroid,perimeter
        want "$status"
        sed '/"seconds"/d' out >"out.$threads"
        cp err "err.$threads"
        [ ! -e s.csv ] || mv s.csv "s.$threads"
        if [ $threads != 1 ]; then
            cmp -s out.1 "out.$threads" || fail "$*: results differ with $threads threads"
            cmp -s err.1 "err.$threads" || fail "$*: messages differ with $threads threads: $(cat err)"
            [ ! -e s.1 ] || cmp -s s.1 "s.$threads" || fail "$*: features differ with $threads threads"
        fi
    done
    rm -f s.[125]
}
same 0 good.tif
[ "$(grep -c '"page"' out)" = 24 ] || fail "$(cat out)"
same 0 imagej.tif
[ "$(grep -c '"page"' out)" = 24 ] || fail "$(cat out)"
same 0 good.tif other.tif imagej.tif
same 0 told.tif
grep -q 'page 6: of the 2 samples' err || fail "$(cat err)"
same 0 silent.tif
same 1 broken.tif
grep -q 'broken.tif: page 14: strip 0 cannot be decoded' err || fail "$(cat err)"
same 1 first.tif
grep -q 'first.tif: page 1: strip 0 cannot be decoded' err || fail "$(cat err)"
same 1 directory.tif
grep -q 'directory.tif: page 18: photometric' err || fail "$(cat err)"
same 1 both.tif
grep -q 'both.tif: page 8: strip 0' err || fail "$(cat err)"
same 1 cut.tif
same 1 short.tif
grep -q 'short.tif: page 23' err || fail "$(cat err)"

# One that breaks off costs the others nothing.
mkdir out.d
run label good.tif both.tif other.tif -o 'out.d/{name}.npy' -q --threads 3
want 1
grep -q 'both.tif: page 8: strip 0' err || fail "$(cat err)"
[ "$(ls out.d)" = "good.npy
other.npy" ] || fail "$(ls out.d)"
