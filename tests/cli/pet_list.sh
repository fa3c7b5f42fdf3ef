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

# Formats by the ends of names, or of the file by its bytes: the same as by words.
mkdir ends
for file in a.h5 a.csv x.clm.safir x.l y.cdh y.lmDat; do
    format=$(case $file in *.h5) echo hdf5 ;; *.csv) echo gate ;; *.safir) echo safir ;; *.l) echo siemens ;; *.cdh) echo castor ;; *) echo yrt ;; esac)
    run pet list $file --scanner vectors --json
    want 0
    mv out by-end
    run pet list $file --scanner vectors --json --format $format
    cmp out by-end || fail "the end of $file tells another format"
done
run pet list a.h5 -o ends/direct.csv -q
want 0
want_silent
cmp ends/direct.csv direct.csv || fail "the end of --output tells another format"
cp a.h5 ends/a.what
run pet list ends/a.what --json
want 0
equal "by its bytes" "$(key out "o['format'], o['prompts']")" "('hdf5', 800)"
for name in x.clm.safir x.l x.petsird x.arrow x.npy x.npz x.h5 x.hs; do
    run pet list a.h5 -o ends/$name --json
    want 0
    equal "of $name" "$(key out "o['to']")" \
        "$(case $name in *.safir) echo safir ;; *.l) echo siemens ;; *.h5) echo hdf5 ;; *.hs) echo sinogram ;; *) echo ${name#x.} ;; esac)"
done
cmp ends/x.l x.l || fail "Siemens' words are others"

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
cp a.h5 a.what
run pet list - -q </dev/null
want 2
echo "sluice pet list: standard input does not tell its format: give --format; see sluice pet list --help" | want_err
run pet list "$0"
want 2
grep -q "does not tell its format: give --format" err || fail "it said: $(cat err)"
run pet list a.h5 -o a.what
want 2
echo "sluice pet list: the end of --output a.what tells no format: give --to; see sluice pet list --help" | want_err
run pet list --format what a.h5
want 2
grep -q "unknown format 'what'" err || fail "it said: $(cat err)"
run pet list --format gate a.csv
want 2
echo "sluice pet list: --format gate needs the scanner: --tables, --scanner, --map or --crystals-per-ring; see sluice pet list --help" | want_err
run pet list --format safir --to gate -o back.csv x.clm.safir
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
# What HDF5 says of its scanner needs not be given, and where it is given otherwise, that is told.
run pet list --format hdf5 --to gate -o own.csv a.h5 -q
want 0
want_silent
cmp own.csv direct.csv || fail "the scanner of the file is another"
run pet list --format hdf5 --crystals-per-ring 312 --rings 40 --radius 61mm a.h5 --to yrt --prompts -o own -q
want 0
echo "sluice pet list: a.h5: 12480 of 12480 crystals are elsewhere in the scanner that is given, which is taken: crystal 0 is at (61.000, 0.000, -39.000) mm there, and by the file at (60.000, 0.000, -39.000) mm" | want_err
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

# ---- what HDF5 says of the measurement: the same files as pet run writes them -----------------------------------------
# Pairs of opposite modules of mouse20, a millisecond apart, on a clock that has run for 57 days: later than CASToR's
# milliseconds go.
python3 - <<'P' || fail "cannot make frames"
import random, struct
random.seed(5)
start = 5 * 10**18 + 123456789
with open("late.raw", "wb") as f:
    for i in range(400):
        m, t = random.randrange(20), start + i * 10**9
        for module, at in ((m, t), ((m + 10) % 20, t + random.randrange(2000))):
            f.write(struct.pack(">BBQBBHbB", 0xa0 | random.randrange(4), module, at, random.randrange(13),
                                random.randrange(13), 511, 25, 0))
P
mkdir run list
for tof in "" "--tof 400ps"; do
    run pet run late.raw --scanner mouse20 --window 4ns $tof -o run/x.cdh -q
    want 0
    run pet run late.raw --scanner mouse20 --window 4ns $tof -o late.h5 -q
    want 0
    run pet list late.h5 --format hdf5 --to castor -o list/x -q
    want 0
    want_silent
    for file in x.cdh x.cdf x.lut x.hscan; do
        compared=$((compared + 1))
        cmp list/$file run/$file || fail "'$last': $file is not that of pet run: $(cat list/x.cdh run/x.cdh)"
    done
done
equal "the range is that of the window" "$(sed -n 's/List TOF measurement range (ps): //p' list/x.cdh)" 8000
run pet list late.h5 --format hdf5 --json
want 0
equal "what it says" "$(key out "[o[k] for k in ('window_ps', 'tof_resolution_ps', 'start_ps', 'start_is_told', 'duration_s', 'prompts')]")" \
    "[4000.0, 400.0, 5000000000000000000, True, 0.4, 400]"
run pet list late.h5 --format hdf5 --to castor -o list/x -q --tof none
want 0
cp list/x.cdf plain.cdf
equal "without time of flight" "$(grep -c TOF list/x.cdh) $(stat -c %s plain.cdf)" "0 4800"
run pet list late.h5 --format hdf5 --to castor -o list/x -q --window 5ns --tof 300ps
want 0
want_err <<'T'
sluice pet list: late.h5 says that its window is 4 ns; 5 ns is taken, as given
sluice pet list: late.h5 says that its resolution is 400 ps; 300 ps is taken, as given
T
# From CASToR as well; and a file of columns alone, as others write it, has its time 0 at its earliest pair.
run pet list run/x.cdh --format castor --scanner mouse20 --to castor -o list/x -q
want 0
want_silent
cmp list/x.cdh run/x.cdh || fail "CASToR's header comes back as another"
h5repack --version >/dev/null || fail "no hdf5-tools"
for name in time_ps dt_ps crystal1 crystal2 energy1_kev energy2_kev delayed; do
    h5copy -p -i late.h5 -o columns.h5 -s coincidences/$name -d coincidences/$name || fail "cannot copy $name"
done
run pet list columns.h5 --format hdf5 --scanner mouse20 --to castor -o list/x -q --tof 400ps
want 0
want_err <<'T'
sluice pet list: columns.h5 does not tell its window: 10 ns are taken; --window gives it
sluice pet list: columns.h5 does not tell when its time began: it is taken to have at 5000000 s, the millisecond of its earliest pair
T
cmp list/x.cdf run/x.cdf || fail "its times are others"


# ---- options that would do nothing ---------------------------------------------------------------------------------------------
run simulate pet --scanner mouse20 --rate 1e6 --seconds 0.005 --bare -q -o o.raw
want 0
for name in o.clm.safir o.l o.csv o.npy; do
    run pet run o.raw --scanner mouse20 --window 4ns --tof 250ps -o $name
    want 2
    grep -q '^sluice pet run: --tof: [a-z]* has no place for a resolution of times of flight; see sluice pet run --help$' err || fail "$name: $(cat err)"
    run pet run o.raw --scanner mouse20 --window 4ns --tof none -o $name -q
    want 0
done
run pet run o.raw --scanner mouse20 --window 4ns --tof 250ps -o o.h5 -q
want 0
refuse_list() {
    local wanted=$1
    shift
    run pet list o.h5 --format hdf5 "$@"
    want 2
    echo "sluice pet list: $wanted; see sluice pet list --help" | want_err
}
for to in safir siemens gate npy npz sinogram; do
    refuse_list "--tof: $to has no place for a resolution of times of flight" --to $to --tof 250ps -o x
done
refuse_list "--prompts: a sinogram has prompts alone, unless --subtract is given" --to sinogram --prompts -o x
run pet check o.h5 --range 4ns
want 2
echo "sluice pet check: --range and --bins are of the histograms of --output and --png; see sluice pet check --help" | want_err
for command in "list --format hdf5" "look -o x.png" check; do
    run pet $command o.h5 o.h5
    want 2
    echo "sluice pet ${command%% *}: of lists of pairs one is read, and several are named: pet run takes several files of frames, of which one list comes; see sluice pet ${command%% *} --help" |
        want_err
done
passed
