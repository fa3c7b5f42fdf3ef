#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# List-mode files: what is told, conversions that come back to the same bytes, and what cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"

# Pairs of a scanner of 312 crystals in each of 40 rings, in order of time: columns of GATE.
python3 - <<'P' || fail "cannot make pairs"
import random
random.seed(4)
vol = lambda k: [f"{n}{k}" for n in ("rsectorID", "moduleID", "submoduleID", "crystalID")]
ps = 0
with open("a.csv", "w") as f:
    f.write(",".join(["time1", "time2", "energy1", "energy2"] + vol(1) + vol(2) + ["delayed"]) + "\n")
    for i in range(1000):
        ps += random.randrange(3 * 10**8)
        a, b = random.sample(range(24), 2)
        one = lambda s: f"{s},0,{random.randrange(2)},{random.randrange(260)}"
        dt = random.randrange(-2000, 2000)
        f.write(f"{ps / 1e12:.12f},{(ps + dt) / 1e12:.12f},0.511,0.4875,{one(a)},{one(b)},{int(i % 5 == 0)}\n")
P
head -n 1 a.csv >empty.csv

convert() { # FROM FILE TO NAME OPTIONS...
    local from=$1 file=$2 to=$3 name=$4
    shift 4
    run pet list --format "$from" --scanner vectors --to "$to" -o "$name" -q "$@" "$file"
    want 0
    want_silent
    want_no_out
}
convert gate a.csv hdf5 a.h5
run pet list --format hdf5 a.h5
want 0
want_silent
seconds=$(awk '$1 == "seconds" { print $2 }' out)
sed -i '/seconds/d' out
want_out <<'T'
a.h5
  format       hdf5
  prompts      800
  delayeds     200
  time tags    0
  other        0
T
equal "a length of about 0.15 s" "$(awk -v s="$seconds" 'BEGIN { print (s > 0.12 && s < 0.18) }')" 1

# Whatever is between, the columns are the same as those that came directly.
convert hdf5 a.h5 gate direct.csv
for format in safir siemens; do
    convert hdf5 a.h5 $format x
    name=$([ $format = safir ] && echo x.clm.safir || echo x.l)
    run pet list --format $format --scanner vectors --json $name
    want 0
    equal "prompts of $format" "$(key out "o['prompts'], o['delayeds'], o['other']")" "(800, 200, 0)"
    convert $format $name gate back.csv
    python3 - $format <<'P' || fail "$format changes pairs"
import csv, sys
a, b = (list(csv.DictReader(open(n))) for n in ("direct.csv", "back.csv"))
assert len(a) == len(b) == 1000
ids = ("rsectorID", "moduleID", "submoduleID", "crystalID")
crystals = lambda r: sorted(tuple(r[i + k] for i in ids) for k in "12")
for x, y in zip(a, b):
    assert crystals(x) == crystals(y) and x["delayed"] == y["delayed"], (x, y)
    assert int(float(x["time1"]) * 1000) == round(float(y["time1"]) * 1000), (x, y)
P
    compared=$((compared + 1))
done
for format in castor yrt; do
    name=$([ $format = castor ] && echo y.cdh || echo y.lmDat)
    convert hdf5 a.h5 $format $name --prompts --tof 250ps --window 4ns
    run pet list --format $format --scanner vectors --json $name
    want 0
    equal "prompts of $format" "$(key out "o['prompts'], o['delayeds']")" "(800, 0)"
    convert $format $name hdf5 y.h5
    convert hdf5 y.h5 $format z"${name#y}" --tof 250ps --window 4ns
    ending=$([ $format = castor ] && echo cdf || echo lmDat)
    cmp y.$ending z.$ending || fail "$format comes back with other bytes"
    compared=$((compared + 1))
done
head -n 10 y.cdh >cdh
same cdh <<'T'
Scanner name: vectors
Data filename: y.cdf
Number of events: 800
Data mode: list-mode
Data type: PET
Start time (s): 0
Duration (s): 0.147
TOF information flag: 1
TOF resolution (ps): 250
List TOF measurement range (ps): 8000
T

# A sinogram holds all prompts, less the delayeds.
run pet list --format hdf5 --scanner vectors --to sinogram -o s --rebin --subtract --tangential 311 --json a.h5
want 0
equal "pairs of the sinogram" "$(key out "o['written'], o['left_out']")" "(1000, 0)"
equal "its counts" "$(python3 -c 'import array; a = array.array("f", open("s.s", "rb").read()); print(len(a), sum(a))')" \
    "$((79 * 156 * 311)) 600.0"

# ---- what is wrong is told -----------------------------------------------------------------------------------------
run pet list --format hdf5 --scanner vectors --to castor -o no a.h5
want 1
want_no_out
echo "sluice pet list: no: castor files have no delayed pairs, and there are some: write prompts alone" | want_err
want_no_file no*
run pet list a.h5
want 2
run pet list --format what a.h5
want 2
grep -q "unknown format 'what'" err || fail "it said: $(cat err)"
run pet list --format gate a.csv
want 2
echo "sluice pet list: --format gate needs the scanner: --tables, --scanner, --map or --crystals-per-ring; see sluice pet list --help" | want_err
run pet list --format hdf5 --to safir -o x a.h5
want 2
echo "sluice pet list: --to needs the scanner: --tables, --scanner, --map or --crystals-per-ring; see sluice pet list --help" | want_err
run pet list --format hdf5 --scanner vectors --rings 4 a.h5
want 2
run pet list --format hdf5 --scanner vectors --to safir a.h5
want 2
echo "sluice pet list: --to and --output belong together; see sluice pet list --help" | want_err
refuse() { # TEXT ARGS...: words that would do nothing, or print two things at once
    local text=$1
    shift
    run pet list --format hdf5 a.h5 "$@"
    want 2
    want_no_out
    echo "sluice pet list: $text; see sluice pet list --help" | want_err
}
refuse "--tof, --window and --prompts are of what is written: give --to" --prompts
refuse "--ring-difference, --tangential, --rebin and --subtract need --to sinogram" --scanner vectors --to gate -o x --rebin
refuse "--radius and --pitch are of --crystals-per-ring and --rings" --scanner vectors --pitch 2mm
refuse "--output - and what is told both print: add --quiet" --scanner vectors --to gate -o -
refuse "--output - and what is told both print: leave out --json" --scanner vectors --to gate -o - --json -q
run pet list --format safir a.h5
want 1
echo "sluice pet list: a.h5: byte 0: no signature \"… CListModeData\" of 32 bytes" | want_err
# A file that names its scanner is read with that one alone.
for words in "hdf5 a.h5" "castor y.cdh" "siemens x.l"; do
    set -- $words
    run pet list --format "$1" --scanner mouse20 "$2" --json
    want 1
    want_no_out
    echo "sluice pet list: $([ "$1" = hdf5 ] && echo a.h5 || basename "$2" .cdh | sed 's/^y$/y.cdf/'): it is of a scanner of 40 rings; the one that is given has 26" | want_err
    run pet list --format "$1" --crystals-per-ring 312 --rings 40 "$2" --json
    want 0
    equal "pairs of $2" "$(key out "o['prompts']")" 800
done
run pet list --format hdf5 --crystals-per-ring 310 --rings 40 a.h5 --to yrt --prompts -o wrong
want 1
echo "sluice pet list: a.h5: it is of a scanner of 312 crystals in a ring; the one that is given has 310" | want_err
want_no_file wrong*
head -c 2000000 /dev/zero >zeros.cdh
run pet list --format castor zeros.cdh
want 1
echo "sluice pet list: zeros.cdh: byte 1048576: larger than any header: is it the data?" | want_err
# By the map that was written, the scanner is known again.
run pet list --format safir --map x.map.txt --json x.clm.safir
want 0
equal "with the map" "$(key out "o['prompts'], o['other']")" "(800, 0)"
run velo x.clm.safir
want 1
echo "sluice velo: x.clm.safir: byte 0: this is a list-mode file of PET: sluice pet list reads it" | want_err
run pet list --format gate --scanner vectors --json empty.csv
want 0
equal "an empty file" "$(key out "o['prompts'], o['seconds']")" "(0, 0.0)"
passed
