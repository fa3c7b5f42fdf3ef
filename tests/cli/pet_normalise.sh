#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Efficiencies of crystals from generated data to the files that reconstructions read, by readers of their own.
. "$(dirname "$0")/common.sh" "$@"

scanner="channels=8,blocks=1x1,crystals=6x4,radius=40mm,pitch=4mm,depth=10mm"
run simulate pet --scanner $scanner --source 0,0,0,25,20,2e7 --seconds 0.3 --scatter 0 --dead-time 0 --threshold 0 \
    --efficiency-spread 0.15 --seed 3 -o a.raw --write-tables a.h5 -q
want 0
run pet run a.raw --tables a.h5 --window 2ns --delayed 200ns --output pairs.h5 -q
want 0

run pet normalise pairs.h5 --tables a.h5 --source radius=25mm,length=20mm -o n.h5 --factors n.cdh --fov 24mm --json
want 0
want_silent
mv out n.json
equal "dead and unseen" "$(key n.json "o['dead'], o['unseen'], o['converged'], o['other']")" "(0, 0, True, 0)"
run pet normalise --tables n.h5 --factors n.hs --attenuation radius=20mm,mu=0.096 --ring-difference 2 --tangential 21
want 0
want_err <<'T'
sluice pet normalise: n.hs: 7056 pairs
T

# The tables keep what they had, and the efficiencies are the generator's within the chance of the counts.
python3 - <<'P' || fail "efficiencies are off"
import h5py, json, numpy as np
a, n, told = h5py.File("a.h5"), h5py.File("n.h5"), json.load(open("n.json"))
assert (a["gain"][:] == n["gain"][:]).all() and a.attrs["channels"] == n.attrs["channels"]
true, found = a["efficiency"][:].astype(float), n["efficiency"][:].astype(float)
assert found.shape == (192,) and abs(found.mean() - 1) < 1e-5
rms = (found / true - 1).std()
print("rms", rms, "chance", told["chance"])
assert told["chance"] < 0.06 and rms < 1.25 * told["chance"] + 0.003, (rms, told["chance"])
assert abs(np.mean(told["mean"]["block"]) - 1) < 0.05 and len(told["mean"]["place"]) == 24
assert told["prompts"] > 30000 and told["delayeds"] > 0
P

# CASToR's file, read by its document: every pair once that passes within 24 mm of the axis.
python3 - <<'P' || fail "the normalisation file is wrong"
import h5py, json, math, struct
head = dict(line.rstrip("\n").split(": ", 1) for line in open("n.cdh"))
assert head["Data mode"] == "normalization" and head["Data type"] == "PET" and head["Data filename"] == "n.cdf"
assert head["Attenuation correction flag"] == "0" and head["Normalization correction flag"] == "1"
e = h5py.File("n.h5")["efficiency"][:].astype(float)
data = open("n.cdf", "rb").read()
assert len(data) == 12 * int(head["Number of events"])
def place(c):
    a = 2 * math.pi * (c % 48) / 48
    return 45 * math.cos(a), 45 * math.sin(a), (c // 48 - 1.5) * 4
def distance(a, b):
    x, y = b[0] - a[0], b[1] - a[1]
    return abs(a[0] * y - a[1] * x) / math.hypot(x, y) if math.hypot(x, y) > 1e-9 else math.hypot(*a[:2])
seen = set()
for factor, a, b in struct.iter_unpack("<fII", data):
    assert abs(factor * e[a] * e[b] - 1) < 1e-5
    seen.add((a, b))
where = [place(c) for c in range(192)]
wanted = {(a, b) for a in range(192) for b in range(a + 1, 192) if distance(where[a], where[b]) <= 24}
assert seen == wanted and len(seen) == int(head["Number of events"]), (len(seen), len(wanted))
assert json.load(open("n.json"))["factors"] == {"file": "n.cdh", "pairs": len(seen), "dead": 0, "outside": 192 * 191 // 2 - len(seen)}
P

# The sinogram: bin to crystals by STIR's formulas, one over the efficiencies times what 4 cm of water attenuate.
python3 - <<'P' || fail "the sinogram is wrong"
import h5py, math, numpy as np
head = dict(tuple(w.strip() for w in line.split(":=", 1)) for line in open("n.hs") if ":=" in line)
assert head["name of data file"] == "n.s" and head["!number format"] == "float"
bins, views = int(head["!matrix size [1]"]), int(head["!matrix size [2]"])
places = [int(n) for n in head["!matrix size [3]"].strip("{}").split(",")]
low = [int(n) for n in head["minimum ring difference per segment"].strip("{}").split(",")]
assert (bins, views, places, low) == (21, 24, [2, 3, 4, 3, 2], [-2, -1, 0, 1, 2])
values = np.fromfile("n.s", "<f4").reshape(sum(places), views, bins)
e = h5py.File("n.h5")["efficiency"][:].astype(float)
plane = 0
for n, d in zip(places, low):
    for axial in range(n):
        ring1, ring2 = axial + max(-d, 0), axial + max(d, 0)
        for v in range(views):
            for k in range(bins):
                t = k - bins // 2
                a, b = (v + t // 2) % 48, (v - (t + 1) // 2 + 24) % 48
                s = 45 * abs(math.cos((a - b) * math.pi / 48))
                length = math.hypot(2 * 45 * math.sin((a - b) * math.pi / 48), 4 * d)
                across = abs(2 * 45 * math.sin((a - b) * math.pi / 48))
                chord = 2 * math.sqrt(max(400 - s * s, 0)) * length / across / 10
                factor = math.exp(0.096 * chord) / e[a + 48 * ring1] / e[b + 48 * ring2]
                assert abs(values[plane, v, k] / factor - 1) < 1e-4, (plane, v, k, values[plane, v, k], factor)
        plane += 1
P

# A crystal without counts is told, and its pairs are absent from CASToR's file and 1e20 for STIR.
python3 - <<'P' || fail "cannot kill a crystal"
import h5py
with h5py.File("pairs.h5") as f, h5py.File("dead.h5", "w") as g:
    c = f["coincidences"]
    keep = (c["crystal1"][:] != 70) & (c["crystal2"][:] != 70)
    for name in f.attrs:
        g.attrs[name] = f.attrs[name]
    group = g.create_group("coincidences")
    for name in c.attrs:
        group.attrs[name] = c.attrs[name]
    for name in c:
        if c[name].shape == keep.shape:
            group[name] = c[name][:][keep]
        else:
            f.copy(c[name], group)
        for one in c[name].attrs:
            group[name].attrs[one] = c[name].attrs[one]
P
run pet normalise dead.h5 --format hdf5 --tables a.h5 --source radius=25mm,length=20mm -o d.h5 --factors d.cdh -q
want 0
want_err <<'T'
sluice pet normalise: 1 crystals have no counts, and the source does not reach 0: their efficiency is 0 (70)
sluice pet normalise: d.cdh: 191 pairs have no factor: a crystal of theirs has efficiency 0
T
run pet normalise --tables d.h5 --factors d.hs -q
want 0
python3 - <<'P' || fail "the dead crystal has a factor"
import h5py, numpy as np, struct
assert h5py.File("d.h5")["efficiency"][70] == 0
assert all(70 not in (a, b) for _, a, b in struct.iter_unpack("<fII", open("d.cdf", "rb").read()))
values = np.fromfile("d.s", "<f4")
dead = values > 1e19
assert dead.sum() > 20 and (values[dead] == np.float32(1e20)).all() and values[~dead].max() < 10
P

# List-mode files of other formats give the same efficiencies.
run pet list pairs.h5 --format hdf5 --to castor --prompts -o c -q
want 0
run pet normalise c.cdh --tables a.h5 --source radius=25mm,length=20mm -o c.h5 -q
want 0
run pet list pairs.h5 --format hdf5 --to hdf5 --prompts -o p.h5 -q
run pet normalise p.h5 --tables a.h5 --source radius=25mm,length=20mm -o p2.h5 -q --threads 2
want 0
cmp c.h5 p2.h5 || fail "other formats give other efficiencies"

# Radial and axial factors. A copy of the pairs lacks a share of those near the axis, and of those of rings that are apart.
python3 - <<'P' || fail "cannot thin the pairs"
import h5py, numpy as np, shutil
shutil.copy("pairs.h5", "thin.h5")
f = h5py.File("thin.h5", "r+")
c = f["coincidences"]
a, b = (c[k][:].astype(int) for k in ("crystal1", "crystal2"))
def place(c):
    return np.stack([45 * np.cos(2 * np.pi * (c % 48) / 48), 45 * np.sin(2 * np.pi * (c % 48) / 48), (c // 48 - 1.5) * 4])
p, q = place(a), place(b)
s = abs(p[0] * (q[1] - p[1]) - p[1] * (q[0] - p[0])) / np.maximum(np.hypot(q[0] - p[0], q[1] - p[1]), 1e-9)
keep = np.random.default_rng(4).random(len(a)) < np.where(abs(p[2] - q[2]) > 6, 0.7, 1) * np.where(s < 8, 0.8, 1)
for k in list(c):
    values = np.array([0, keep.sum()], c[k].dtype) if k == "event_offset" else c[k][:][keep]
    del c[k]
    c.create_dataset(k, data=values)
P
words="--tables a.h5 --source radius=25mm,length=20mm --geometric --json"
run pet normalise pairs.h5 $words -o whole_g.h5
want 0
mv out whole.json
run pet normalise thin.h5 $words -o g.h5 --factors g.cdh --fov 20mm
want 0
mv out thin.json
equal "what the tables have" "$("$sluice" info --json g.h5 | python3 -c 'import json, sys; print(json.load(sys.stdin)["files"][0]["tables"][-3:])')" "['efficiency', 'radial', 'axial']"
run pet normalise --tables g.h5 --factors again.cdh --fov 20mm -q
want 0
cmp g.cdf again.cdf || fail "from the tables come other factors"
run pet run a.raw --tables g.h5 --window 2ns --normalise -o each.cdh -q
want 0
python3 - <<'P' || fail "the radial and axial factors are wrong"
import h5py, json, math, numpy as np, struct
whole, thin = (json.load(open(n))["geometric"] for n in ("whole.json", "thin.json"))
ratio = {k: np.array(thin[k]) / np.array(whole[k]) for k in ("radial", "axial")}
axial = ratio["axial"] / ratio["axial"][0]
print(thin["axial_mm"], axial, thin["radial_mm"], ratio["radial"])
assert thin["axial_mm"] == 4 and len(axial) == 4 and (abs(axial / [1, 1, 0.7, 0.7] - 1) < [1e-9, 0.03, 0.04, 0.06]).all(), axial
inside = int(8 / thin["radial_mm"])
assert abs(ratio["radial"][:inside].mean() / ratio["radial"][inside + 1 : -2].mean() / 0.8 - 1) < 0.03
f = h5py.File("g.h5")
e, radial, along = (f[k][:].astype(float) for k in ("efficiency", "radial", "axial"))
assert f["radial"].attrs["bin_mm"] == thin["radial_mm"] and f["axial"].attrs["bin_mm"] == 4
assert np.allclose(radial, thin["radial"]) and np.allclose(along, thin["axial"])
def place(c):
    a = 2 * math.pi * (c % 48) / 48
    return 45 * math.cos(a), 45 * math.sin(a), (c // 48 - 1.5) * 4
def detects(a, b):
    p, q = place(a), place(b)
    x, y = q[0] - p[0], q[1] - p[1]
    s = abs(p[0] * y - p[1] * x) / math.hypot(x, y) if math.hypot(x, y) > 1e-9 else 0
    at = s / thin["radial_mm"]
    near = abs(at - round(at)) < 1e-6 and at > 0.5 # between two bins
    return near, e[a] * e[b] * radial[min(int(at), len(radial) - 1)] * along[round(abs(q[2] - p[2]) / 4)]
n = 0
for name, form, columns in ("g.cdf", "<fII", (0, 1, 2)), ("each.cdf", "<IfII", (1, 2, 3)):
    for row in struct.iter_unpack(form, open(name, "rb").read()):
        factor, a, b = (row[k] for k in columns)
        near, of = detects(a, b)
        assert near or abs(factor * of - 1) < 1e-5, (name, a, b, factor * of)
        n += not near
assert n > 10000, n
P
run pet run a.raw --tables g.h5 --window 2ns -o each.petsird -q
want 0
echo "sluice pet run: each.petsird: PETSIRD gets the crystals' efficiencies: the tables' radial and axial factors are not written" | want_err

# What cannot be asked for.
refuse() { # MESSAGE ARGS...
    local message=$1
    shift
    run pet normalise "$@"
    want 2
    grep -qF "sluice pet normalise: $message" err || fail "'$last' said: $(cat err)"
}
refuse "there is nothing to write: give --output, --factors or both" pairs.h5 --tables a.h5 --source radius=25mm
refuse "what was measured must be known: give --source" pairs.h5 --tables a.h5 -o x.h5
refuse "--factors takes NAME.cdh or NAME.hs, not 'x.dat'" pairs.h5 --tables a.h5 --source radius=25mm --factors x.dat
refuse "--attenuation and --attenuation-image are of --factors" pairs.h5 --tables a.h5 --source radius=25mm -o x.h5 --attenuation radius=20mm,mu=1
refuse "--attenuation 'radius=20mm' has no mu: it attenuates nothing" --tables a.h5 --factors x.hs --attenuation radius=20mm
refuse "--source, --output, --edge, --geometric and --format are of a measurement: give its files" --tables a.h5 -o x.h5
refuse "there are no factors: give files of a measurement, --tables with efficiencies, or --attenuation" --scanner mouse20 --factors x.hs
refuse "--fov is of --factors NAME.cdh" --tables n.h5 --factors x.hs --fov 10mm
refuse "--tangential is of --factors NAME.hs" --tables n.h5 --factors x.cdh --tangential 10
refuse "--source: reaches 50 mm from the axis, and the scanner's radius is 40 mm" pairs.h5 --tables a.h5 --source radius=50mm -o x.h5
run pet normalise pairs.h5 --tables a.h5 --source radius=50mm,r=3 -o x.h5
want 2
run pet normalise pairs.h5 --tables a.h5 --source radius=25mm -o pairs.h5
want 2
run pet normalise a.h5 --tables a.h5 --source radius=25mm -o x.h5
want 1
want_err <<'T'
sluice pet normalise: a.h5: does not look like a list of pairs: --format says what it is
T
run pet normalise --tables n.h5 --factors /nowhere/x.hs
want 1
want_no_file x.h5 x.hs x.s x.cdh x.cdf
echo "$compared comparisons"
