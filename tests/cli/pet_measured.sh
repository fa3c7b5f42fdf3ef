#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Resolutions that are measured, kept in the tables, and taken where --energies and --tof are not given: they are those of
# the generator, what is taken is told, and the same results come of the options that are told.
. "$(dirname "$0")/common.sh" "$@"

scanner=channels=10,blocks=1x2,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm
make() { # NAME SIGMA RESOLUTION SOURCE...
    run simulate pet --scanner $scanner --flood-side 64 --gain-spread 0.1 --offset-sigma 300 --seed 3 --write-tables true.h5 \
        --time-sigma "$2" --resolution "$3" --seconds 0.5 -o "$1" "${@:4}"
    want 0
}
make flood.raw 150 0.15 --rate 2e6 --source 0,0,0,40,25,1e6
make point.raw 150 0.15 --rate 5e5 --source 20,10,5,0,0,1e6

# ---- measured ----------------------------------------------------------------------------------------------------------
# By the phantom that finds the offsets, and by a point with these offsets kept. 150 ps of a single are 499.5 ps of pairs.
run pet calibrate flood.raw --scanner $scanner --time --source radius=40mm,length=25mm -o own.h5 --json
want 0
cp out flood.json
run pet calibrate point.raw --tables own.h5 --keep position,gain,time --source 20,10,5 -o point.h5 --json
want 0
cp out point.json
run pet calibrate point.raw --tables true.h5 --keep position,gain,time --source 20,10,5 -o true-point.h5 --json
want 0
cp out true.json
python3 - <<'P' || fail "the resolutions are not the generator's"
import json
flood, point, true = (json.load(open(f"{name}.json")) for name in ("flood", "point", "true"))
truth = 150 * 2 ** 0.5 * 2.35482
assert abs(flood["energy_fwhm"] / 0.15 - 1) < 0.05, flood["energy_fwhm"]
for one, part in ((flood, 0.015), (true, 0.02), (point, 0.05)):
    found = one["time_resolution"]
    assert abs(found["fwhm_ps"] / truth - 1) < part and found["error_ps"] < 0.01 * truth, found
assert flood["time"]["fwhm_after_ps"] > 1.3 * truth  # the phantom's size is in that
assert "energy_fwhm" not in point
P
compared=$((compared + 1))
run pet calibrate point.raw --tables own.h5 --keep position,gain,time --source 20,10,5 -o point.h5
want 0
sed -E 's/[0-9]+ (pairs|beside|frames)/N \1/g; s/\(N beside/(N beside/; s/FWHM [0-9.]+ ps, error [0-9.]+ ps; [0-9.]+ %/FWHM R ps, error E ps; P %/' -i err
want_err <<'T'
sluice pet calibrate: N frames, 0 of no place; positions are those of own.h5
sluice pet calibrate: resolution of times by N pairs through the source (N beside it): FWHM R ps, error E ps; P % random
T

# A source that is not where it is said to be is refused where most lines miss it, and told where many do.
for place in 0,0,0 -20,10,5 20,10,0; do
    run pet calibrate point.raw --tables own.h5 --keep position,gain,time --source $place -o wrong.h5 -q
    want 1
    grep -qE "pairs miss the source where it is said to be; they seem to meet at \((19.[5-9]|20.[0-5]), (9.[5-9]|10.[0-5]), (4.[5-9]|5.[0-5])\) mm" err ||
        fail "'$last' said: $(cat err)"
    want_no_file wrong.h5
done
run pet calibrate flood.raw --tables true.h5 --keep position,gain,time --source x=20mm,radius=30mm,length=25mm -o wrong.h5 -q
want 0
grep -q 'pairs miss the source; they seem to meet at (.*is it where --source says, and as large?' err || fail "'$last' said: $(cat err)"

# ---- kept and dropped --------------------------------------------------------------------------------------------------
run pet calibrate flood.raw --tables own.h5 --keep position,gain --time -o without.h5
want 0
grep -q 'the resolution of times of own.h5 is not in without.h5: --source finds it anew' err || fail "no word of what is dropped"
run pet calibrate flood.raw --tables own.h5 --keep position,gain,time -o kept.h5 -q
want 0
cmp own.h5 kept.h5 || fail "what is kept is not the same"
run pet calibrate flood.raw --tables own.h5 --keep position,time --time --source 0,0,0 -o x.h5
want 2
run pet calibrate flood.raw --scanner $scanner --time --source 0,0,0 -o x.h5
want 2
grep -qe 'a phantom, not a point' err || fail "'$last' said: $(cat err)"
run pet calibrate flood.raw --scanner $scanner --source 0,0 -o x.h5
want 2
grep -qe '--source takes X,Y,Z' err || fail "'$last' said: $(cat err)"
run pet calibrate flood.raw --scanner $scanner --source radius=70mm -o x.h5
want 1
grep -qe 'reaches 70 mm from the axis' err || fail "'$last' said: $(cat err)"
run pet calibrate --scanner $scanner --source 0,0,0 -o x.h5
want 2
grep -qe 'without frames' err || fail "'$last' said: $(cat err)"

# ---- taken -------------------------------------------------------------------------------------------------------------
python3 - <<'P' >words || fail "the tables do not have the resolutions"
import json, h5py
with h5py.File("own.h5") as f:
    fwhm, ps = float(f.attrs["energy_fwhm"]), float(f.attrs["time_fwhm_ps"])
low, high = (round(511 * (1 + side * 1.5 * fwhm)) for side in (-1, 1))
print(f"energies={low}:{high} tof={round(ps, 1):g}ps percent={100 * fwhm:.1f}")
with h5py.File("true.h5") as f:
    assert "energy_fwhm" not in f.attrs and "time_fwhm_ps" not in f.attrs
P
compared=$((compared + 1))
. <(tr ' ' '\n' <words)
alike() { # what is told, with COMMAND... and its files against those with the options of `given`
    for name in $names; do
        mv "$name" "by-default.$name" || fail "no $name"
    done
    run "$@" "${given[@]}" -q
    want 0
    want_silent
    for name in $names; do
        cmp "$name" "by-default.$name" || fail "$name is not the same with the options"
        compared=$((compared + 1))
    done
}
told="sluice pet run: as measured for own.h5: --energies $energies (FWHM $percent %), --tof $tof (instead: --energies all, --tof none)"
given=(--energies "$energies" --tof "$tof")
for format in cdh lmDat petsird; do
    names=pairs.$format
    [ $format != cdh ] || names="pairs.cdh pairs.cdf"
    run pet run point.raw --tables own.h5 --window 4ns -o pairs.$format --prompts -q
    want 0
    equal "what is told" "$(cat err)" "$told"
    alike pet run point.raw --tables own.h5 --window 4ns -o pairs.$format --prompts
done
grep -q '^TOF information flag: 1' pairs.cdh || fail "no times of flight in pairs.cdh"
run pet run point.raw --tables own.h5 --window 4ns -o pairs.h5 --json
want 0
equal "what is told" "$(cat err)" "$told"
cp out default.json
run pet run point.raw --tables own.h5 --window 4ns -o pairs.h5 --json "${given[@]}"
want 0
want_silent
python3 - "$energies" "$tof" <<'P' || fail "JSON does not tell what was taken"
import json, sys
a, b = json.load(open("default.json")), json.load(open("out"))
low, high = map(float, sys.argv[1].split(":"))
assert a["measured"]["energies"]["low_kev"] == low and a["measured"]["energies"]["high_kev"] == high
assert f'{a["measured"]["tof_ps"]:g}ps' == sys.argv[2]
assert a["checksum"] == b["checksum"] and "measured" not in b
P
compared=$((compared + 1))
# Singles in steps are those of the run.
run pet convert point.raw --tables own.h5 -o s.unsorted -q
want 0
equal "what is told" "$(cat err)" "sluice pet convert: as measured for own.h5: --energies $energies (FWHM $percent %) (instead: --energies all)"
names=s.unsorted
given=(--energies "$energies")
alike pet convert point.raw --tables own.h5 -o s.unsorted
# A list without times of flight gets those of the tables; formats without a place for them, and CSV, do not.
run pet run point.raw --tables own.h5 --window 4ns --tof none --energies "$energies" -o plain.h5 -q
want 0
want_silent
run pet list plain.h5 --format hdf5 --tables own.h5 --to castor -o listed.cdh -q
want 0
equal "what is told" "$(cat err)" "sluice pet list: as measured for own.h5: --tof $tof (instead: --tof none)"
names="listed.cdh listed.cdf"
given=(--tof "$tof")
alike pet list plain.h5 --format hdf5 --tables own.h5 --to castor -o listed.cdh
run pet run point.raw --tables own.h5 --window 4ns --energies all -o p.csv -q
want 0
want_silent
run pet run point.raw --tables own.h5 --window 4ns --energies all --tof none -o p.cdh -q
want 0
want_silent
grep -q '^TOF information flag: 1' p.cdh && fail "times of flight in p.cdh, though none were wanted"
run pet look plain.h5 --tables own.h5 --iterations 0 --image look.npy --voxel 2mm -q
want 0
equal "what is told" "$(cat err)" "sluice pet look: as measured for own.h5: --tof $tof (instead: --tof none)"
names="look.npy"
given=(--tof "$tof")
alike pet look plain.h5 --tables own.h5 --iterations 0 --image look.npy --voxel 2mm
# Randoms of yrt need times of flight: those of the tables will do.
run pet run point.raw --tables own.h5 --window 4ns --randoms singles -o r.lmDat -q
want 0
run pet run point.raw --tables true.h5 --window 4ns --randoms singles -o r.lmDat -q
want 2
grep -qe 'need --tof' err || fail "'$last' said: $(cat err)"
run pet run point.raw --tables own.h5 --tof none -q
want 2
grep -qe '--tof' err || fail "'$last' said: $(cat err)"

# ---- older tables ------------------------------------------------------------------------------------------------------
run pet run point.raw --tables true.h5 --window 4ns -o old.cdh -q
want 0
want_silent
grep -q '^TOF information flag: 1' old.cdh && fail "times of flight of tables that know none"
passed
