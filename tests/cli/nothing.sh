#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Inputs without what a command is asked for: empty files, files of another kind, sound files of the kind with nothing in them.
# Each is an error (1) with one line that names the file and says so, and never replaces an earlier output; but a measurement of
# nothing (an image without foreground, a quiet detector) is a result.
. "$(dirname "$0")/common.sh" "$@"

make_events v.mdf 3 5
"$sluice" simulate cms -q --events 2 --tracks 5 --seed 3 -o c.raw --cabling c.cab --gains c.gains || fail "no CMS events"
"$sluice" simulate pixels -q --size 64x64 --frames 2 -o px.csv || fail "no pixels"
"$sluice" simulate pet -q --seconds 0.01 -o p.raw --write-tables t.h5 || fail "no frames"
: >empty
echo "time1,time2,energy1,energy2$(for i in 1 2; do printf ',%s%s' rsectorID $i moduleID $i submoduleID $i crystalID $i; done)" >header.gate
printf 'hello world' >text
head -n 1 px.csv >header.csv
printf 'Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n' >header.t3pa
printf 'P2\n4 4\n255\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n' >dark.pgm
printf 'P2\n0 0\n255\n' >none.pgm
printf '[]' >list.json
python3 - <<'PYTHON' || fail "cannot make the inputs"
import struct, zlib
def npy(name, shape, descr):
    h = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    h += " " * ((64 - (10 + len(h) + 1) % 64) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + len(h).to_bytes(2, "little") + h.encode())
npy("stack.npy", "(0, 5, 5)", "|u1")
npy("rows.npy", "(0, 3)", "<u2")
def chunk(words):
    return b"TPX3" + struct.pack("<BBH", 0, 0, 8 * len(words)) + struct.pack("<%dQ" % len(words), *words)
open("beats.tpx3", "wb").write(chunk([half << 56 | time << 16 for time in range(5) for half in (0x44, 0x45)]))
open("chunk.tpx3", "wb").write(chunk([]))
# The same events without a bank of the VELO, or without any bank.
v = open("v.mdf", "rb").read()
def cut(name, keep):
    out, at = b"", 0
    while at < len(v):
        size, = struct.unpack_from("<I", v, at)
        body, p = b"", at + 48
        while p < at + size:
            _, n, kind = struct.unpack_from("<HHB", v, p)
            end = p + (n + 3) // 4 * 4
            body += v[p:end] if keep(kind) else b""
            p = end
        out += struct.pack("<4I", *[48 + len(body)] * 3, 0) + v[at + 16:at + 48] + body
        at += size
    open(name, "wb").write(out)
cut("other.mdf", lambda kind: kind != 63)
cut("banks.mdf", lambda kind: False)
# A cabling of nothing, gains of one module, fragments whose headers are not the last ones, and fragments without a word.
cab = bytearray(open("c.cab", "rb").read())
cab[24:] = bytes(len(cab) - 24)
struct.pack_into("<I", cab, 12, zlib.crc32(bytes(cab[16:])))
open("none.cab", "wb").write(cab)
gains = bytearray(open("c.gains", "rb").read())[:48 + 832 * 2]
struct.pack_into("<I", gains, 16, 1)
struct.pack_into("<I", gains, 12, zlib.crc32(bytes(gains[16:])))
open("one.gains", "wb").write(gains)
c = open("c.raw", "rb").read()
headers, quiet, at = bytearray(c), b"", 0
while at < len(c):
    n, = struct.unpack_from("<I", c, at)
    quiet += struct.pack("<I", n)
    at += 4
    for _ in range(n):
        fed, size = struct.unpack_from("<2I", c, at)
        for word in range(at + 8, at + 8 + size, 8):
            if c[word + 7] >> 4 != 5:
                break
            headers[word] |= 8
        header, trailer = bytearray(c[at + 8:at + 16]), bytearray(c[at + size:at + 8 + size])
        header[0] &= ~8 # the only one
        trailer[0] &= ~8
        trailer[4:8] = struct.pack("<I", struct.unpack_from("<I", trailer, 4)[0] & 0xff000000 | 2)
        quiet += struct.pack("<2I", fed, 16) + bytes(header + trailer)
        at += 8 + size
open("headers.raw", "wb").write(headers)
open("quiet.raw", "wb").write(quiet)
PYTHON

# STATUS | LINE of standard error, with sluice and the command before it; none: silence | COMMAND
cms="--cabling c.cab --gains c.gains"
no_banks="has super-pixels (banks of type 63 or 8) or clusters of the read-out (73)"
no_image="no image that can be read (PNM, PNG, JPEG, BMP, TIFF, NPY)"
no_list="no list of pixels that can be read (TPX3, TPX4, T3PA, CSV, NPY)"
rows=0
while IFS='|' read -r wanted line command; do
    rows=$((rows + 1))
    echo before >kept
    # shellcheck disable=SC2086
    run $command
    want "$wanted"
    if [ -z "$line" ]; then
        want_silent
        continue
    fi
    compared=$((compared + 1))
    grep -qF -- "$line" err || fail "'$last' said: $(cat err)"
    # `pet run` prints its counts, which are zeros, all the same: they say what was dropped.
    [ ! -s out ] || [[ $command == "pet run"* ]] || fail "'$last' printed: $(head -n 3 out)"
    equal "an earlier output of '$last'" "$(cat kept)" before
done <<T
1|velo: empty: byte 0: the input is empty|velo empty
1|velo: text: byte 0: no known format|velo text
1|velo: c.raw: cms-raw holds events of CMS's fragments|velo c.raw -o kept
1|velo: px.csv: byte 0: no known format|velo px.csv
1|velo: dark.pgm: byte 0: no known format|velo dark.pgm
1|velo: p.raw: byte 0: this is a raw file of PET|velo p.raw
1|velo: other.mdf: none of its 3 events $no_banks|velo other.mdf -o kept
1|velo: other.mdf: none of its 3 events $no_banks|velo other.mdf --quiet --json
1|velo: banks.mdf: none of its 3 events $no_banks|velo banks.mdf --table kept
1|velo: v.mdf: none of its 3 events has clusters of the read-out (banks of type 73)|velo v.mdf --banks retina --report kept
0||velo v.mdf
1|label: empty: byte 0: the input is empty|label empty
1|label: text: byte 0: $no_image|label text
1|label: v.mdf: byte 0: $no_image|label v.mdf
1|label: px.csv: byte 0: $no_image|label px.csv
1|label: stack.npy: byte 60: an array without pixels|label stack.npy
1|label: none.pgm: byte 3: the width is 0|label none.pgm
0||label dark.pgm
1|cluster: empty: byte 0: the input is empty|cluster empty
1|cluster: text: byte 0: line 1: names no columns|cluster text
1|cluster: v.mdf: byte 0: $no_list|cluster v.mdf
1|cluster: dark.pgm: byte 0: line 1: names no columns|cluster dark.pgm
1|cluster: header.csv: there are no pixels in it|cluster header.csv
1|cluster: header.csv: there are no pixels in it|cluster header.csv --quiet --json
1|cluster: header.t3pa: there are no pixels in it|cluster header.t3pa
1|cluster: rows.npy: there are no pixels in it|cluster rows.npy
1|cluster: beats.tpx3: there are no pixels in it|cluster beats.tpx3
1|cluster: chunk.tpx3: there are no pixels in it|cluster chunk.tpx3
1|cluster: px.csv: all of its|cluster px.csv --size 1x1
0||cluster px.csv
1|cms: empty: byte 0: the input is empty|cms $cms empty
1|cms: text: byte 0: no known format|cms $cms text
1|cms: v.mdf: format mdf, but events of CMS's pixel detector (cms-raw) are needed|cms $cms v.mdf -o kept
1|cms: headers.raw: none of its 2 events has a sound fragment of the pixel detector (FED 1200 to 1349)|cms $cms headers.raw -o kept
1|cms: c.raw: none of its 2 events has a digi of a chip that the cabling has|cms --cabling none.cab --gains c.gains c.raw -q --json
1|cms: c.raw: none of its 2 events has a digi of a chip that the cabling has|cms --cabling none.cab --gains c.gains c.raw --table kept
0||cms $cms quiet.raw
0||cms $cms c.raw
1|pet convert: empty: no frames were read: no file was written|pet convert empty --tables t.h5 -o kept
1|pet convert: t.h5: byte 0: this is an HDF5 file, not frames|pet convert t.h5 --tables t.h5 -o kept
1|pet run: empty: no frames were read: no file was written|pet run empty --tables t.h5 --format yrt -o kept --json -q
1|pet sort: empty: there are no singles in it|pet sort empty -o kept
1|pet sort: t.h5: byte 0: this is an HDF5 file, not singles|pet sort t.h5 -o kept
1|pet coincidences: empty: there are no singles in it|pet coincidences empty --format csv -o kept
1|pet list: empty: there are no coincidences in it|pet list --format yrt --tables t.h5 empty
1|pet list: header.gate: there are no coincidences in it|pet list --format gate --tables t.h5 header.gate --to yrt -o kept
0||pet list --format gate --tables t.h5 header.gate
1|pet list: empty: byte 0: no signature|pet list --format safir --tables t.h5 empty
1|pet list: text: |pet list --format castor text
1|pet calibrate: there are no frames in the inputs|pet calibrate empty --scanner mouse20 -o kept
1|info: empty: byte 0: the input is empty|info empty
1|info: text: byte 0: no known format|info text
0||info other.mdf
T
[ $rows -gt 50 ] || fail "only $rows rows"

# Nothing in one of several inputs: the others count, and the status tells.
run cluster header.csv px.csv -o both.csv --json
want 1
echo "sluice cluster: header.csv: there are no pixels in it" | want_err
equal "clusters of the other input" "$(key out "[i['clusters'] > 0 for i in o['inputs']]")" "[False, True]"
[ "$(wc -l <both.csv)" -gt 1 ] || fail "'$last' wrote nothing"
compared=$((compared + 1))
run velo other.mdf v.mdf --json -o both.h5
want 1
equal "events of both inputs" "$(key out "o['events'], o['clusters'] > 0")" "(6, True)"
[ -s both.h5 ] || fail "'$last' wrote nothing"
run cms --cabling none.cab --gains c.gains quiet.raw c.raw -q --json
want 1
equal "events of both inputs" "$(key out "o['events']")" 4

# A stream from standard input may be live: nothing came, which is told, and is no error.
"$sluice" cluster --json - <beats.tpx3 >out 2>err || fail "a live stream of nothing is an error: $(cat err)"
echo "sluice cluster: -: there are no pixels in it" | want_err
equal heartbeats "$(key out "o['inputs'][0]['heartbeats'], o['inputs'][0]['clusters']")" "(10, 0)"
"$sluice" cluster --json - <header.csv >out 2>err && fail "a list of nothing is no error"
echo "sluice cluster: -: there are no pixels in it" | want_err

# A geometry that is none.
python3 - <<'PYTHON' || fail "cannot make geometries"
import struct
def table(*counts):
    return b"".join(struct.pack("<Q", n) for n in counts)
def geometry(name, z, x, pitch, axes):
    with open(name, "wb") as out:
        out.write(table(52) + struct.pack("<52f", *(z(i) for i in range(52))))
        out.write(table(768) + struct.pack("<768f", *(x(i) for i in range(768))))
        out.write(table(768) + struct.pack("<768f", *(pitch(i) for i in range(768))))
        out.write(table(208, 12) + struct.pack("<2496f", *(list(axes) + [0, 0, 0]) * 208))
zero = lambda i: 0
up = lambda i: float(i)
width = lambda i: 0.055
one = (1, 0, 0, 0, 1, 0, 0, 0, 1)
geometry("zeros", zero, zero, zero, [0] * 9)
geometry("columns", up, zero, width, one)
geometry("pitch", up, up, lambda i: 0.055 * (i != 9), one)
geometry("axes", up, up, width, [0] * 9)
geometry("flat", up, up, width, (1, 0, 0, 1, 0, 0, 0, 0, 1))
geometry("far", up, up, width, one[:8] + (3e38,))
geometry("sound", up, up, width, one)
PYTHON
degenerate() { # FILE LINE
    run velo v.mdf --geometry "$1"
    want 1
    want_no_out
    echo "sluice velo: $1: VELO geometry: $2" | want_err
}
degenerate zeros "byte 12: module_z[1] = 0 is not above the one before it"
degenerate columns "byte 228: local_x[1] = 0 is not above the one before it"
degenerate pitch "byte 3340: x_pitch[9] = 0 is not above 0"
degenerate axes "byte 6392: ltg[0] = 0 is of axes that are not of length 1 and at right angles"
degenerate flat "byte 6392: ltg[0] = 1 is of axes that are not of length 1 and at right angles"
degenerate far "byte 6424: ltg[8] = 3e+38 is beyond 10 m"
run velo v.mdf --geometry sound
want 0
passed
