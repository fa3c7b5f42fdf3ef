#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A look at what is in the scanner: a point is where it is, for every format that has what is needed, threads change nothing.
. "$(dirname "$0")/common.sh" "$@"

run simulate pet --scanner mouse20 --source 17.3,-8.6,-3.4,0,0,2e6 --seconds 0.1 --seed 4 --bare -q -o p.raw
want 0
for name in p.cdh p.h5 p.lmDat p.clm.safir; do
    tof="--tof 471ps"
    [ $name != p.clm.safir ] || tof=
    run pet run p.raw --scanner mouse20 --window 3ns $tof -o $name -q
    want 0
done

look="--voxel 1.25mm --diameter 80mm --threads 2"
near() { # NAME WANTED: the centroid is within so many mm of the source
    equal "the source in $1" "$(key out "max(abs(o['centroid_mm'][k] - v) for k, v in (('x', 17.3), ('y', -8.6), ('z', -3.4))) < $2")" True
}
run pet look p.cdh -o p.png --image p.npy $look --json -q
want 0
echo "sluice pet look: p.cdh names the scanner mouse20: its geometry is taken" | want_err
near p.cdh 0.6
equal "times of flight" "$(key out "o['tof_ps']")" 471.0
checksum=$(key out "o['checksum']")
head -c 8 p.png | od -An -c | grep -q '211   P   N   G' || fail "p.png is no PNG"
python3 - <<'P' || fail "p.npy is not as it should be"
import json, numpy
image, told = numpy.load("p.npy"), json.load(open("out"))
assert image.dtype == numpy.float32 and image.shape == tuple(told["voxels"][k] for k in "zyx")
z, y, x = numpy.unravel_index(image.argmax(), image.shape)
for axis, at in (("x", x), ("y", y), ("z", z)):
    assert abs(told["first_mm"][axis] + at * told["voxel_mm"] - told["hottest_mm"][axis]) < 1e-6
P
run pet look p.cdh --scanner mouse20 --image q.npy --voxel 1.25mm --diameter 80mm --threads 1 --json
want 0
want_silent
equal "checksum of one thread" "$(key out "o['checksum']")" "$checksum"
cmp -s p.npy q.npy || fail "one thread gives another image"
run pet look p.h5 --image h.npy $look --json
near p.h5 0.6
run pet look p.lmDat --scanner mouse20 --tof 471ps --image y.npy $look --json
near p.lmDat 0.6
run pet look p.clm.safir --scanner mouse20 --image s.npy $look --iterations 4 --json
near p.clm.safir 0.8
equal "no times of flight" "$(key out "o['tof_ps']")" 0.0
run pet look p.cdh --scanner mouse20 -o bp.png --at 17,-9,-3 --iterations 0 $look
want 0
grep -q "^made by *back-projection, times of flight of 471 ps; for looking$" out || fail "it said: $(cat out)"

# Times that are there and not used, and those that are used and not there.
fast="--voxel 5mm --iterations 1 --image q.npy -q"
run pet look p.lmDat --scanner mouse20 $fast
want 0
echo "sluice pet look: p.lmDat has times of flight, which are not used, as it does not tell their resolution: --tof gives it" | want_err
run pet look p.lmDat --scanner mouse20 --tof none $fast
want 0
want_silent
run pet list p.clm.safir --format safir --scanner mouse20 --to yrt -o none.lmDat -q
run pet look none.lmDat --scanner mouse20 --tof 471ps $fast
want 0
echo "sluice pet look: none.lmDat: no pair has a time of flight: all are taken to be in the middle of lines" | want_err

# ---- what is refused ---------------------------------------------------------------------------------------------------------
refuse() {
    local wanted=$1
    shift
    run pet look "$@"
    want 2
    echo "sluice pet look: $wanted; see sluice pet look --help" | want_err
}
refuse "give --output or --image" p.cdh
refuse "--at is of the slices of --output" p.cdh --image x.npy --at 1,2,3
refuse "--at takes X,Y,Z in mm, as 20,10,5, not '1,2'" p.cdh -o x.png --at 1,2
refuse "--tof takes a time, as 250ps, or none, not '250'" p.cdh -o x.png --tof 250
refuse "--tof: p.clm.safir has no times of flight" p.clm.safir --scanner mouse20 -o x.png --tof 250ps
refuse "--at 41,0,0 is outside of the field of view, 80 mm across and 40 mm long about the middle: --diameter, --length" p.cdh -o x.png --at 41,0,0 \
    --diameter 80mm --length 40mm --scanner mouse20
refuse "--at 1,2,30 is outside of the field of view, 80 mm across and 40 mm long about the middle: --diameter, --length" p.cdh -o x.png --at 1,2,30 \
    --diameter 80mm --length 40mm --scanner mouse20
refuse "p.lmDat does not tell its scanner: give --tables or --scanner" p.lmDat -o x.png
refuse "the end of p.raw tells no format of pairs that is read: give --format" p.raw --scanner mouse20 -o x.png
want_no_file x.png
passed
