#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A list of CASToR is read with the scanner beside it: rings, rings that are not ideal, tables; and what is told where it is not there.
. "$(dirname "$0")/common.sh" "$@"

# ---- rings -----------------------------------------------------------------------------------------------------------------------
# The way of docs/howto/pet-scanner.md: tables do not have the scanner's name, so that the header has the file's.
words=channels=8,blocks=1x2,crystals=4x5,radius=40mm,pitch=2mm,depth=10mm
run simulate pet --scanner $words --rate 2e6 --seconds 0.02 --source 5,-3,1,0,0,1e6 -o a.raw --write-tables a.h5 -q
want 0
run pet run a.raw --tables a.h5 --window 4ns --tof 250ps -o a.cdh -q
want 0
run pet run a.raw --scanner $words --window 4ns --tof 250ps -o given.h5 -q
want 0
run pet list a.cdh --format castor --to hdf5 -o back.h5 -q
want 0
echo "sluice pet list: a.cdh names the scanner a: that of a.hscan is taken" | want_err
python3 - <<'P' || fail "the scanner of a.hscan is another"
import h5py
a, b = h5py.File("given.h5"), h5py.File("back.h5")
names = [n for n in a.attrs if n in ("channels", "modules", "module_rings", "crystal_table") or n.startswith(("blocks", "crystals", "radius", "pitch", "depth"))]
assert len(names) > 8
for name in names:
    assert (a.attrs[name] == b.attrs[name]).all(), name
P
run pet look a.cdh -o a.png --voxel 4mm --iterations 1 -q
want 0
echo "sluice pet look: a.cdh names the scanner a: that of a.hscan is taken" | want_err
run pet check a.cdh --json
equal "modules of the description" "$(key out "o['modules']")" 8

# One whose name is known here needs no file: what is written is what the words give.
run simulate pet --fast --scanner mouse20 --rate 2e6 --seconds 0.01 -o k.raw -q
want 0
run pet run k.raw --scanner mouse20 --window 4ns --tof 250ps -o k.cdh -q
want 0
run pet list k.cdh -o named.h5 -q
want 0
echo "sluice pet list: k.cdh names the scanner mouse20: its geometry is taken" | want_err
run pet list k.cdh --scanner mouse20 -o words.h5 -q
want 0
h5diff named.h5 words.h5 /coincidences || fail "pairs of a named scanner are others"
[ "$(h5dump -A named.h5 | grep -v 'HDF5 \|named.h5' | grep -v command | cksum)" = "$(h5dump -A words.h5 | grep -v 'HDF5 \|words.h5' | grep -v command | cksum)" ] ||
    diff <(h5dump -A named.h5) <(h5dump -A words.h5) || fail "a named scanner is another"

# Flat modules are no ideal ring: numbers are the ring's, places those of the table.
run pet list a.cdh --format castor --scanner $words,flat=module,pitch-y=2.1mm --to castor -o flat -q
want 0
run pet list flat.cdh --format castor --to castor -o again -q
want 0
cmp -s flat.lut again.lut || fail "flat modules: the table read back is another"
diff <(grep -v 'name\|size transaxial' flat.hscan) <(grep -v 'name\|size transaxial' again.hscan) || fail "flat modules: the scanner read back is another"

# ---- tables ----------------------------------------------------------------------------------------------------------------------
python3 - <<'P'
from math import cos, pi, sin
head = "module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_z,depth_mm"
rows = []
for m in range(8):
    c, s = cos(m * pi / 4), sin(m * pi / 4)
    for k in range(40):
        y, z = 3 * (k // 10) - 4.5, 2 * (k % 10) - 9.0
        rows.append(f"{m},0,{k},{45 * c - y * s},{45 * s + y * c},{z},{-c},{-s},0,0,0,1,10")
open("panels.csv", "w").write("\n".join([head, *rows]) + "\n")
open("mixed.csv", "w").write("\n".join([head, *reversed(rows)]) + "\n")
open("out.csv", "w").write("\n".join([head, *(",".join(f[:6] + [str(-float(x)) for x in f[6:9]] + f[9:]) for f in (r.split(",") for r in rows))]) + "\n")
P
for name in panels mixed; do
    run simulate pet --scanner $name.csv --rate 2e6 --seconds 0.02 -o $name.raw -q
    want 0
    run pet run $name.raw --scanner $name.csv --window 4ns -o $name.cdh -q
    want 0
    run pet list $name.cdh --format castor --to castor -o again -q
    want 0
    cmp -s $name.lut again.lut || fail "$name: the table read back is another"
    run pet check $name.cdh --json
    [ $name = mixed ] || equal "modules of $name" "$(key out "o['modules']")" 8
done
want 2
printf '%s\n' "sluice pet check: mixed.cdh names the scanner mixed: that of mixed.hscan is taken" \
    "sluice pet check: mixed.hscan does not tell which modules crystals are of: give --tables or --scanner; see sluice pet check --help" | want_err

# Normals that point outwards are no table.
run simulate pet --scanner out.csv --rate 1e6 --seconds 0.01 -o x.raw -q
want 1
grep -q "out.csv: row 1: the normal (1, 0, 0) points away from the other crystals, and must point towards the field of view; so in 320 of 320 rows" err ||
    fail "of normals outwards it said: $(cat err)"

# ---- none ------------------------------------------------------------------------------------------------------------------------
mkdir other
cp a.cdh a.cdf other
run pet look other/a.cdh -o x.png
want 2
echo "sluice pet look: other/a.cdh does not tell its scanner (there is no other/a.hscan): give --tables or --scanner; see sluice pet look --help" |
    want_err
run pet list other/a.cdh --format castor --to yrt -o x.lmDat
want 2
echo "sluice pet list: --to needs the scanner: --tables, --scanner, --map or --crystals-per-ring; other/a.cdh does not tell it: there is no other/a.hscan; see sluice pet list --help" |
    want_err
run pet list other/a.cdh --format castor # which needs none
want 0
want_silent
cp a.hscan other
head -c 1000 a.lut >other/a.lut
run pet look other/a.cdh -o x.png
want 2
echo "sluice pet look: other/a.cdh does not tell its scanner (other/a.lut: 1000 bytes; 320 crystals of 6 floats have 7680): give --tables or --scanner; see sluice pet look --help" |
    want_err
want_no_file x.png x.lmDat
cp a.lut other
for n in 0 20 60 100 200 300 340 380 400; do # a scanner that is cut says nothing of the pairs
    head -c $n a.hscan >other/a.hscan
    run pet list other/a.cdh --format castor --json
    want 0
    equal "pairs beside a cut scanner" "$(key out "o['prompts'] > 100 and o['other'] == 0")" True
done
passed
