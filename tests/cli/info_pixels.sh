#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice info on images and lists of pixels: each format is known, and what is told of it is what it was made with; damage is
# told; sluice version lists every format that sluice info names.
. "$(dirname "$0")/common.sh" "$@"
for name in a.pgm a.pbm a.png a.tif a.npy; do
    "$sluice" simulate image --quiet --size 70x33 -o $name || fail "cannot make $name"
done
"$sluice" simulate pixels -q -o frames.csv --frames 7 --size 100x50 --density 5 --seed 2 || fail "no frames"
"$sluice" simulate pixels -q -o stream.csv --stream 5000 --seed 3 || fail "no stream"
python3 - <<'PYTHON' || fail "cannot make pixels"
import struct
# Two chunks of 3 and 2 packets: pixels (0xb), a heartbeat (0x44), a TDC (0x6f).
def chunk(packets): return b"TPX3" + struct.pack("<BBH", 0, 0, 8 * len(packets)) + b"".join(struct.pack("<Q", p) for p in packets)
pixel = lambda k: 0xb << 60 | (k << 4) << 44 | 5 << 30 | 20 << 20 | 7
open("a.tpx3", "wb").write(chunk([pixel(1), pixel(2), 0x44 << 56]) + chunk([pixel(3), 0x6f << 56]))
open("a.t3pa", "w").write("Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n" + "".join("%d\t%d\t%d\t5\t1\t0\n" % (i, 257 * i, 10 * i) for i in range(9)))
open("list.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) +
    ("%-117s\n" % "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 2), }").encode() + struct.pack("<6H", 1, 2, 3, 4, 5, 6))
PYTHON
cut -d, -f1 frames.csv | tail -n +2 | sort -u | wc -l >n_frames
about() { # FILE EXPRESSION WANTED: of the file's object, f
    run info --json "$1"
    want 0
    want_silent
    equal "$1" "$(key out "(lambda f: ($2))(o['files'][0])")" "$3"
}
image="f['format'], f['type'], f['width'], f['height'], f['pages'], f['pixels']"
about a.pgm "$image" "('pnm', 'u8', 70, 33, 1, 2310)"
about a.pbm "$image" "('pnm', 'bits', 70, 33, 1, 2310)"
about a.png "$image" "('png', 'u8', 70, 33, 1, 2310)"
about a.tif "$image" "('tiff', 'u8', 70, 33, 1, 2310)"
about a.npy "$image" "('npy', 'u8', 70, 33, 1, 2310)"
cat a.pgm a.pgm >two.pgm
about two.pgm "f['pages'], f['pixels']" "(2, 4620)"
about a.tpx3 "f['format'], f['pixels'], f['chunks'], f['heartbeats'], f['tdc'], f['damaged'], f['tick_seconds']" \
    "('tpx3', 3, 2, 1, 1, 0, 1.5625e-09)"
about a.t3pa "f['format'], f['pixels'], f['damaged']" "('t3pa', 9, 0)"
about list.npy "f['format'], f['pixels']" "('npy', 3)"
about stream.csv "f['format'], f['pixels'], 'frames' in f" "('csv', 5000, False)"
about frames.csv "f['format'], f['pixels'], f['frames'] == $(cat n_frames)" "('csv', $(($(wc -l <frames.csv) - 1)), True)"
run info a.pgm
want_out <<'TEXT'
a.pgm
  bytes             2323
  format            pnm
  type              u8
  width             70
  height            33
  pages             1
  pixels            2310
TEXT

# Damage: a page that is cut short, a line that is none, a chunk in which there is none.
head -c $(($(stat -c %s a.png) / 2)) a.png >cut.png
run info --json cut.png
want 1
equal "lines about cut.png" "$(grep -c '^sluice info: cut.png: ' err)" 1
sed '9s/.*/9,9,what,3,4/' stream.csv >bad.csv
run info --json bad.csv
want 1
equal "bad.csv" "$(key out "o['files'][0]['damaged'], o['files'][0]['pixels']")" "(1, 4999)"
equal "lines about bad.csv" "$(grep -c '^sluice info: bad.csv: byte .*; 1 damaged$' err)" 1

# Every format that info names, and all of the library, are in the list of version.
run version --json
want 0
cp out version.json
key version.json "' '.join(i['name'] for i in o['inputs'])" >formats
for name in mep mdf velo-json cms-raw pnm png jpeg bmp tiff npy nifti tpx3 tpx4 t3pa csv pet-raw pet-frames pet-tables pet-csv pet-singles pet-sinogram \
    pet-crystal-map pet-castor pet-safir pet-siemens pet-yrt pet-gate pet-hdf5 pet-petsird; do
    equal "version names $name" "$(tr ' ' '\n' <formats | grep -cx -- "$name")" 1
done
run version
want 0
equal "lines of version" "$(sed -n '/^reads /,/^writes /p' out | grep -vc '^writes')" "$(wc -w <formats)"
passed
