#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Factors of each pair in CASToR's list-mode files: normalisation, attenuation of cylinders and images, by a reader of its own.
. "$(dirname "$0")/common.sh" "$@"

scanner="channels=8,blocks=1x1,crystals=6x4,radius=40mm,pitch=4mm,depth=10mm"
run simulate pet --scanner $scanner --source 0,0,0,25,20,1e7 --seconds 0.05 --efficiency-spread 0.15 --seed 3 -o a.raw \
    --write-tables a.h5 -q
want 0
python3 - <<'P' || fail "cannot make images"
import numpy as np
n, v = 100, 0.5                                      # a cylinder of 4 cm, off the middle, in voxels of 0.5 mm
x = (np.arange(n) - (n - 1) / 2) * v
sub = (np.arange(8) - 3.5) / 8 * v
inside = np.zeros((n, n))
for dy in sub:
    for dx in sub:
        inside += (x[None, :] + dx - 3) ** 2 + (x[:, None] + dy + 2) ** 2 < 20.0 ** 2
mu = np.repeat((0.096 * inside / 64)[None].astype("<f4"), 10, 0)
np.save("mu.npy", mu)
mu.tofile("mu.v")
with open("mu.hv", "w") as f:
    f.write("!INTERFILE :=\nname of data file := mu.v\nimagedata byte order := LITTLEENDIAN\n!number format := float\n"
            "!number of bytes per pixel := 4\n")
    for k, (size, mm) in enumerate(((n, v), (n, v), (10, 2))):
        f.write(f"!matrix size [{k + 1}] := {size}\nscaling factor (mm/pixel) [{k + 1}] := {mm}\n")
    f.write("!END OF INTERFILE :=\n")
P
cylinder=radius=20mm,length=20mm,x=3mm,y=-2mm,mu=0.096
words="a.raw --tables a.h5 --window 4ns -q --tof 250ps"
run pet run $words --normalise --attenuation $cylinder --output c.cdh
want 0
want_silent
run pet run $words --attenuation-image mu.npy --voxel 0.5x0.5x2mm --output n.cdh
want 0
run pet run $words --attenuation-image mu.hv --output h.cdh
want 0
cmp n.cdf h.cdf || fail "Interfile is not the array"
run pet run $words --output plain.h5
want 0
run pet list plain.h5 --format hdf5 --tables a.h5 --to castor --normalise --attenuation $cylinder -o l -q
want 0
cmp c.cdf l.cdf || fail "pet list writes other factors"

python3 - <<'P' || fail "the factors are wrong"
import h5py, math, struct
def read(name):
    head = dict(line.rstrip("\n").split(": ", 1) for line in open(name + ".cdh"))
    flags = [head.get(k + " correction flag", "0") == "1" for k in ("Attenuation", "Random", "Normalization")]
    form = "<I" + "".join("f" for f in flags if f) + ("f" if head.get("TOF information flag") == "1" else "") + "II"
    data = open(name + ".cdf", "rb").read()
    assert len(data) == struct.calcsize(form) * int(head["Number of events"]) > 0
    return flags, list(struct.iter_unpack(form, data))
e = h5py.File("a.h5")["efficiency"][:].astype(float)
pairs = h5py.File("plain.h5")["coincidences"]
one, two, dt = (pairs[n][:] for n in ("crystal1", "crystal2", "dt_ps"))
def place(c):
    a = 2 * math.pi * (c % 48) / 48
    return 45 * math.cos(a), 45 * math.sin(a), (c // 48 - 1.5) * 4
def attenuation(a, b):                                   # by steps of a thousandth of the line
    p, q, n = place(a), place(b), 0
    for i in range(1000):
        t = (i + 0.5) / 1000
        x, y, z = (u + t * (w - u) for u, w in zip(p, q))
        n += (x - 3) ** 2 + (y + 2) ** 2 < 400 and abs(z) < 10
    return math.exp(0.096 * math.dist(p, q) * n / 1000 / 10)
flags, rows = read("c")
assert flags == [True, False, True] and len(rows) == len(one)
most = 0
for i, (ms, acf, norm, tof, a, b) in enumerate(rows):
    assert (a, b) == (one[i], two[i]) and tof == -dt[i]
    assert abs(norm * e[a] * e[b] - 1) < 1e-5, norm
    if i < 300:
        assert abs(acf - attenuation(a, b)) < 0.003, (acf, attenuation(a, b))
    most = max(most, acf)
assert 1.4 < most < 1.5, most
flags, voxels = read("n")
assert flags == [True, False, False]
apart = [abs(v[1] - c[1]) for v, c in zip(voxels, rows)]   # most where a line grazes the edge
assert max(apart) < 0.08 and sum(apart) / len(apart) < 0.005, (max(apart), sum(apart) / len(apart))
assert all(v[2:] == c[3:] for v, c in zip(voxels, rows))
P

# What comes back: times and crystals, whatever the fields are.
run pet list c.cdh --format castor --scanner $scanner --to gate -o c.csv -q
want 0
run pet list plain.h5 --format hdf5 --to castor --tof 250ps --window 4ns -o p -q
run pet list p.cdh --format castor --scanner $scanner --to gate -o p.csv -q
cmp c.csv p.csv || fail "the fields change what is read"

# Of a dead crystal: factor 0, which CASToR passes over, and told.
python3 - <<'P' || fail "cannot kill a crystal"
import h5py, shutil
shutil.copy("a.h5", "d.h5")
one = h5py.File("plain.h5")["coincidences"]["crystal1"][0]
with h5py.File("d.h5", "r+") as f:
    f["efficiency"][one] = 0
P
run pet run a.raw --tables d.h5 --window 4ns -q --normalise --output d.cdh
want 0
grep -Eqx "sluice pet run: d.cdh: [1-9][0-9]* pairs have no factor: a crystal of theirs has efficiency 0" err || fail "it said: $(cat err)"
python3 - <<'P' || fail "a dead crystal has a factor"
import struct
rows = list(struct.iter_unpack("<IfII", open("d.cdf", "rb").read()))
dead = rows[0][2]
assert all((factor == 0) == (dead in (a, b)) for _, factor, a, b in rows)
P

# All pairs, with an image: the sinogram's middle bin across the middle.
run pet normalise --scanner $scanner --factors f.hs --attenuation-image mu.npy --voxel 0.5x0.5x2mm --ring-difference 0 -q
want 0
python3 - <<'P' || fail "the sinogram is wrong"
import math, numpy as np
values = np.fromfile("f.s", "<f4").reshape(4, 24, 24)
assert values.min() >= 1 and abs(values.max() - math.exp(0.384)) < 0.02
P

refuse() { # STATUS MESSAGE ARGS...
    local wanted=$1 message=$2
    shift 2
    run pet run "$@"
    want "$wanted"
    grep -qF "sluice pet run: $message" err || fail "'$last' said: $(cat err)"
    want_no_file x.cdh x.cdf x.h5
}
wrong="--normalise and --attenuation are of --output as castor"
refuse 2 "$wrong" a.raw --tables a.h5 --normalise --output x.h5
refuse 2 "$wrong" a.raw --tables a.h5 --normalise --attenuation radius=20mm,mu=1 --format gate --output x.h5
refuse 2 "--normalise needs --tables with efficiencies: sluice pet normalise makes them" a.raw --scanner $scanner --normalise --output x.cdh
refuse 2 "--attenuation 'radius=20mm' has no mu: it attenuates nothing" a.raw --tables a.h5 --attenuation radius=20mm --output x.cdh
refuse 2 "--voxel is of --attenuation-image" a.raw --tables a.h5 --voxel 1x1x1mm --output x.cdh
refuse 2 "--voxel takes three lengths, as 1x1x2mm, not '1x1'" a.raw --tables a.h5 --attenuation-image mu.npy --voxel 1x1 --output x.cdh
refuse 2 "--voxel: mu.npy: an array does not tell how large its voxels are: say it" a.raw --tables a.h5 --attenuation-image mu.npy --output x.cdh
refuse 2 "--voxel: mu.v: the header tells how large voxels are" a.raw --tables a.h5 --attenuation-image mu.hv --voxel 1x1x1mm --output x.cdh
head -c 1000 mu.npy >cut.npy
refuse 1 "cut.npy: 872 bytes of values; 100000 voxels have 400000" a.raw --tables a.h5 --attenuation-image cut.npy --voxel 1x1x1mm --output x.cdh
run pet list plain.h5 --format hdf5 --tables a.h5 --to gate --normalise -o x.csv
want 2
run pet list plain.h5 --format hdf5 --to castor --normalise -o x
want 2
want_no_file x.csv x.cdh
echo "$compared comparisons"
