#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a list has of each pair beside its columns, attenuation, scatter, randoms and normalisation, from list to list, by
# readers of the formats' documents alone; and what has no place is told.
. "$(dirname "$0")/common.sh" "$@"

scanner=channels=8,blocks=1x1,crystals=6x4,radius=40mm,pitch=4mm,depth=10mm
# CASToR with all fields, as another program writes it: u32 ms, f32 attenuation, u8 kind, f32 scatter, f32 random,
# f32 normalisation, f32 time of flight, u32 crystals. Of each 700 pairs one is of a crystal that the scanner has not.
python3 - <<'P' || fail "cannot make a list"
import random, struct
random.seed(7)
def make(name, kind):
    n = 70000
    with open(name + ".cdf", "wb") as f:
        for i in range(n):
            a, b = random.randrange(96), 96 + random.randrange(96)
            b = 192 if i % 700 == 0 else b
            f.write(struct.pack("<If", i // 100, 1 + i / n))
            f.write(b"\x01" * kind)
            f.write(struct.pack("<ffffII", 0.25 + i, 0.5 + i, 2.0 + i / 7, float(i % 900), a, b))
    with open(name + ".cdh", "w") as f:
        f.write(f"Scanner name: other\nData filename: {name}.cdf\nNumber of events: {n}\nData mode: list-mode\nData type: PET\n"
                "Start time (s): 0\nDuration (s): 1\nTOF information flag: 1\nTOF resolution (ps): 250\n"
                "List TOF measurement range (ps): 8000\nAttenuation correction flag: 1\nScatter correction flag: 1\n"
                "Random correction flag: 1\nNormalization correction flag: 1\n")
        f.write("Coincidence kind flag: 1\n" * kind)
make("a", 0)
make("k", 1)
P

# The same format, HDF5 and back, whatever is between: the records of crystals that are there, byte for byte.
run pet list a.cdh --format castor --scanner $scanner --to castor -o b -q
want 0
run pet list a.cdh --format castor --scanner $scanner --to hdf5 -o c.h5 -q
want 0
run pet list c.h5 --format hdf5 --to castor -o d -q
want 0
want_silent
run pet list c.h5 --format hdf5 --to hdf5 -o e.h5 -q
want 0
run pet list e.h5 --format hdf5 --to castor -o e -q
want 0
for name in b d e; do
    python3 - $name <<'P' || fail "$name.cdh is not what a.cdh has"
import struct, sys
size = 32
wanted = [r for r in struct.iter_unpack("<IfffffII", open("a.cdf", "rb").read()) if r[-1] < 192]
got = list(struct.iter_unpack("<IfffffII", open(sys.argv[1] + ".cdf", "rb").read()))
assert wanted == got and len(got) == 69900
head = dict(l.split(": ", 1) for l in open(sys.argv[1] + ".cdh").read().splitlines())
assert all(head[k + " correction flag"] == "1" for k in ("Attenuation", "Scatter", "Random", "Normalization"))
P
    compared=$((compared + 1))
done
run pet list c.h5 --format hdf5 --json
want 0
equal "what it has" "$(key out "o['corrections'], o.get('lost')")" \
    "(['attenuation', 'scatter_hz', 'randoms_hz', 'normalisation'], None)"
run pet list c.h5 --format hdf5
want 0
equal "and in the table" "$(sed -n 's/^  of each pair *//p' out)" "attenuation, scatter, randoms and normalisation"

# What has no place is told, also with --quiet.
lost() { # WORDS TO NAME OPTIONS...
    local words=$1 to=$2 name=$3
    shift 3
    run pet list c.h5 --format hdf5 --to $to -o $name -q "$@"
    want 0
    want_no_out
    echo "sluice pet list: c.h5: the $words" | want_err
}
lost "attenuation, scatter and normalisation of its pairs are lost: yrt has no place for them" yrt f.lmDat
python3 - <<'P' || fail "randoms of f.lmDat are not those of a.cdh"
import struct
wanted = [(r[0], r[6], r[7], -r[5], r[3]) for r in struct.iter_unpack("<IfffffII", open("a.cdf", "rb").read()) if r[-1] < 192]
assert list(struct.iter_unpack("<IIIff", open("f.lmDat", "rb").read())) == wanted
P
run pet list f.lmDat --format yrt --scanner $scanner --to yrt --tof 250ps --window 4ns -o g.lmDat -q
want 0
want_silent
cmp f.lmDat g.lmDat || fail "yrt loses its randoms"
all="attenuation, scatter, randoms and normalisation of its pairs are lost"
lost "$all: yrt has no place for them (for randoms with --tof)" yrt h.lmDat --tof none
lost "$all: gate has no place for them" gate x.csv
lost "$all: safir has no place for them" safir x
lost "$all: petsird has no place for them" petsird x.petsird
run pet list c.h5 --format hdf5 --to sinogram -o x -q
want 0
equal "of a sinogram" "$(head -n 1 err)" "sluice pet list: c.h5: the $all: sinogram has no place for them"
run pet list c.h5 --format hdf5 --to yrt -o h.lmDat --json
want 0
equal "and in JSON" "$(key out "o['lost']")" "['attenuation', 'scatter_hz', 'normalisation']"
run pet list k.cdh --format castor --scanner $scanner --to castor -o l -q
want 0
equal "the kinds" "$(grep -c 'k.cdh: not read: the kinds of its coincidences' err)" 1
cmp -s l.cdf b.cdf && fail "two lists of chance are the same"

# What is given takes the place of the file's own, and that is told.
run pet list c.h5 --format hdf5 --to castor -o m -q --attenuation radius=20mm,mu=0.096
want 0
echo "sluice pet list: c.h5 has the attenuation of its pairs: what is given is taken in their place" | want_err
python3 - <<'P' || fail "m.cdf has not what was given"
import struct
a, m = (list(struct.iter_unpack("<IfffffII", open(n, "rb").read())) for n in ("d.cdf", "m.cdf"))
assert [(r[0], *r[2:]) for r in a] == [(r[0], *r[2:]) for r in m]
assert sum(x[1] != y[1] for x, y in zip(a, m)) > 60000
P

# Delayeds between, and prompts alone: rows keep theirs.
run simulate pet --scanner $scanner --source 0,0,0,15,15,1e7 --seconds 0.03 --seed 3 -o r.raw --efficiency-spread 0.2 --write-tables t.h5 -q
want 0
run pet run r.raw --tables t.h5 --window 4ns --delayed 100ns --randoms singles -o p.h5 -q
want 0
run pet list p.h5 --format hdf5 --to hdf5 -o q.h5 -q --prompts
want 0
run pet list p.h5 --format hdf5 --to castor -o q -q --prompts --tof none
want 0
want_silent
python3 - <<'P' || fail "rows have others' randoms"
import h5py, struct
p, q = (h5py.File(n)["coincidences"] for n in ("p.h5", "q.h5"))
keep = p["delayed"][:] == 0
assert 0 < keep.sum() < len(keep)
for name in ("time_ps", "crystal1", "randoms_hz"):
    assert (p[name][:][keep] == q[name][:]).all(), name
hz = [r[1] for r in struct.iter_unpack("<IfII", open("q.cdf", "rb").read())]
assert (q["randoms_hz"][:] == hz).all() and max(hz) > 0
P

# Efficiencies of PETSIRD's crystals become factors where these have a place.
run pet run r.raw --tables t.h5 --window 4ns -o s.petsird -q
want 0
run pet run r.raw --tables t.h5 --window 4ns --normalise -o n.cdh -q
want 0
run pet list s.petsird --format petsird --to castor -o o -q --tof none
want 0
want_silent
python3 - <<'P' || fail "the efficiencies of s.petsird are lost"
import struct
o, n = (sorted((a, b, f) for _, f, a, b in struct.iter_unpack("<IfII", open(x + ".cdf", "rb").read())) for x in "on")
both = [{tuple(sorted(r[:2])): r[2] for r in rows} for rows in (o, n)]
assert len(o) == len(n) > 1000 and both[0].keys() == both[1].keys()
assert all(abs(both[0][k] / both[1][k] - 1) < 1e-5 for k in both[0]) and max(both[0].values()) > 1.2
P
run pet list s.petsird --format petsird --to hdf5 -o s.h5 -q
want 0
echo "sluice pet list: s.petsird: the efficiencies of its crystals are lost: hdf5 has no place for them" | want_err
passed
