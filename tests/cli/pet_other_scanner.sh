#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lists of pairs with a scanner that is not theirs: another number of crystals is refused, crystals in other places are told.
. "$(dirname "$0")/common.sh" "$@"

scanner=channels=8,blocks=1x1,crystals=6x4,radius=40mm,pitch=4mm,depth=10mm
run simulate pet --scanner $scanner --source 0,0,0,20,12,4e6 --seconds 0.05 --seed 3 -o a.raw -q
want 0
for name in a.h5 a.cdh a.clm.safir; do
    run pet run a.raw --scanner $scanner --window 4ns -o $name -q
    want 0
done
# A table of the same crystals, of which one was measured to be elsewhere.
python3 - <<'P' || fail "cannot make tables"
import math
def table(name, moved, by):
    with open(name, "w") as f:
        f.write("module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_z,layer\n")
        for m in range(8):
            for y in range(6):
                for z in range(4):
                    a = 2 * math.pi * (m * 6 + y) / 48
                    r = 45 + (by if (m * 6 + y) + 48 * z == moved else 0)
                    f.write(f"{m},0,{y * 4 + z},{r * math.cos(a):.9f},{r * math.sin(a):.9f},{(z - 1.5) * 4},"
                            f"{-math.cos(a):.9f},{-math.sin(a):.9f},0,0,0,1,0\n")
table("same.csv", -1, 0)
table("moved.csv", 48, 0.02)
table("near.csv", 48, 0.005)
P
formats() { # FILE
    case $1 in *.h5) echo hdf5 ;; *.cdh) echo castor ;; *) echo safir ;; esac
}

# ---- crystals in other places ----------------------------------------------------------------------------------------
# By the words that the list was made with, or by words that come to the same places, nothing is said. The list that is a
# table has its rows in another order than a ring has its crystals, so tables are compared with lists of tables.
run pet run a.raw --scanner same.csv --window 4ns -o t.h5 -q
want 0
for name in a.h5 a.cdh a.clm.safir; do
    for words in $scanner channels=48,crystals=1x4,radius=40mm,pitch=4mm,depth=10mm; do
        run pet list $name --format "$(formats $name)" --scanner $words --json
        want 0
        want_silent
        equal "nothing has moved in $name" "$(key out "'moved' in o")" False
    done
done
moved() { # WORDS TABLE COMMAND...: told, with -q, and done all the same
    local words=$1
    shift
    run pet "$@" -q
    want 0
    echo "sluice pet $1: $words" | want_err
}
all="192 of 192 crystals are elsewhere in the scanner that is given, which is taken: crystal 0 is at (46.000, 0.000, -6.000) mm there, and by the file at (45.000, 0.000, -6.000) mm"
other=${scanner/40mm/41mm}
for name in a.h5 a.cdh a.clm.safir; do
    moved "$name: $all" list $name --format "$(formats $name)" --scanner $other
    moved "$name: $all" look $name --scanner $other --image i.npy --iterations 1 --tof none
    moved "$name: $all" normalise $name --scanner $other --source radius=20mm,length=12mm -o n.h5
done
run pet check a.h5 --scanner $other --json
equal "in JSON" "$(key out "o['moved'].split(',')[0]")" "192 of 192 crystals are elsewhere in the scanner that is given"
grep -q "^sluice pet check: a.h5: $(echo "$all" | sed 's/[()]/./g')" err || fail "pet check said: $(cat err)"
for table in same near; do
    run pet look t.h5 --scanner $table.csv --image i.npy --iterations 1 --tof none -q
    want 0
    want_silent
done
run pet list t.h5 --format hdf5 --scanner moved.csv --json
want 0
equal "one crystal of the table" "$(key out "o['moved'].split(' mm')[0]")" \
    "1 of 192 crystals are elsewhere in the scanner that is given, which is taken: crystal 1 is at (45.020, 0.000, -2.000)"

# ---- other numbers of crystals ---------------------------------------------------------------------------------------
# Of tables there are no rings to be compared; of CASToR and SAFIR the map beside the list tells.
refused() { # TEXT COMMAND...
    local text=$1
    shift
    run pet "$@"
    want 1
    grep -q "^sluice pet $1: $text" err || fail "'$last' said: $(cat err)"
}
more=${scanner/6x4/6x6}
for command in "list --format castor" "look --image i.npy" "check" "normalise --source radius=20mm -o n.h5"; do
    set -- $command
    refused "a.cdf: it is of a scanner of 192 crystals by a.hscan; the one that is given has 288" "$@" a.cdh --scanner $more
    refused "a.h5: it is of a scanner of 4 rings; the one that is given has 6" "${@/castor/hdf5}" a.h5 --scanner $more
    refused "a.clm.safir: it is of a scanner of 192 crystals by a.map.txt; the one that is given has 288" "${@/castor/safir}" a.clm.safir --scanner $more
done
head -n 1 same.csv >less.csv
grep -v '^7,' same.csv | tail -n +2 >>less.csv
refused "t.h5: it is of a scanner of" look t.h5 --scanner less.csv --image i.npy

# ---- pairs of crystals that the scanner does not have ----------------------------------------------------------------
# YRT's lists and HDF5 of columns alone say no scanner. Some pairs, 30 of 1000, or 300, are of a crystal that is not there,
# behind the first 60 KiB that a reader of YRT looks at.
python3 - <<'P' || fail "cannot make pairs"
import h5py, numpy as np, struct
for name, strange in (("few", 30), ("many", 1000)):
    n = 7000
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 96, n), rng.integers(96, 192, n)
    two[n - strange:] = 192
    with open(name + ".lmDat", "wb") as f:
        for i in range(n):
            f.write(struct.pack("<IIIf", i // 10, one[i], two[i], 100.0))
    with h5py.File(name + ".h5", "w") as f:
        for column, values, kind in (("time_ps", np.arange(n) * 10**8, "i8"), ("dt_ps", np.zeros(n), "i8"), ("crystal1", one, "u4"),
                                     ("crystal2", two, "u4"), ("energy1_kev", np.full(n, 511), "f4"),
                                     ("energy2_kev", np.full(n, 511), "f4"), ("delayed", np.zeros(n), "u1")):
            f["coincidences/" + column] = values.astype(kind)
P
strangers() { # STATUS FILE TEXT COMMAND...
    local status=$1 file=$2 text=$3
    shift 3
    run pet "$@" $file --scanner $scanner -q
    want $status
    grep -qx "sluice pet $1: $file: $text" err || fail "'$last' said: $(cat err)"
}
for file in few.lmDat few.h5 many.lmDat many.h5; do
    format=$([ ${file#*.} = h5 ] && echo hdf5 || echo yrt)
    text="30 of 7000 pairs are of crystals that the scanner does not have, and are left out"
    status=0
    if [ ${file%.*} = many ]; then
        text="1000 of 7000 pairs are of crystals that the scanner does not have, and are left out: is it this scanner?"
        status=1
    fi
    strangers $status $file "$text" list --format $format
    strangers $status $file "$text" list --format $format --to hdf5 -o new.h5
    strangers $status $file "$text" look --image i.npy --iterations 1 --tof none
    strangers $status $file "$text" normalise --source radius=20mm,length=12mm -o n.h5
    strangers 1 $file "$text" check # which finds errors, as these pairs are of no source
    run pet list --format $format $file --scanner $scanner --json
    equal "counted" "$(key out "o['no_crystal'], o['no_tof'], o['prompts'] + o['other']")" "(${text%% *}, 0, 7000)"
    run pet look $file --scanner $scanner --image i.npy --iterations 1 --tof none --json
    equal "counted by pet look" "$(key out "o['outside']")" ${text%% *}
done
# By the scanner that the file itself says, too.
python3 - <<'P' || fail "cannot damage a list"
import h5py
with h5py.File("a.h5", "r+") as f:
    c = f["coincidences/crystal1"]
    c[: len(c) // 5] = 192
P
run pet look a.h5 --image i.npy --iterations 1 --tof none -q
want 1
grep -q "are left out: is it this scanner?" err || fail "it said: $(cat err)"
# Times of flight that are no numbers.
python3 -c '
import struct
b = bytearray(open("few.lmDat", "rb").read())
b[16 * 6000 + 12 : 16 * 6000 + 16] = struct.pack("<f", float("nan"))
open("nan.lmDat", "wb").write(b)'
run pet list --format yrt nan.lmDat --scanner $scanner --json
want 0
equal "no number" "$(key out "o['no_crystal'], o['no_tof']")" "(30, 1)"
echo "sluice pet list: nan.lmDat: 1 of 7000 pairs have a time of flight that is no number of picoseconds, and are left out" >wanted
grep -qxFf wanted err || fail "it said: $(cat err)"
passed
