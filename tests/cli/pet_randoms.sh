#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Randoms of each pair: in CASToR's and YRT's records, in columns and a sinogram, read by their documents alone; the same for
# any batch and thread; the estimate beside the truth; rates of crystals; and what cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"
python=python3
scan="--scanner channels=7,modules=2,module-rings=2,blocks=2x3,crystals=5x4,radius=81.5mm,pitch=2.3mm,depth=18mm"
"$sluice" simulate pet $scan --rate 2e7 --seconds 0.05 --source 20,5,4,15,20,1e6 --source -25,-10,-8,8,10,5e5 --seed 6 \
    -o run.raw --truth truth.csv --write-tables own.h5 -q || fail "cannot simulate"
find="--tables own.h5 --window 4ns --energies 430:650 --dead-time 200ns --bin 20ms"

# The same records with randoms as without, in three formats; and the same for any batch and number of threads.
for words in "" "--batch 3000 --threads 3"; do
    run pet run run.raw $find $words --randoms singles -o a.cdh --tof 250ps --randoms-sinogram r --tangential 139 \
        --crystal-rates c.h5 --json
    want 0
    want_silent
    mv out a.json
    md5sum a.cdf r.s | cut -c 1-32 >>sums
    key a.json "o['randoms'], o['randoms_sigma'], o['randoms_by_pair']" >>sums
done
equal "randoms of other batches" "$(sort sums | uniq -c | awk '$1 != 2' | wc -l)" 0
run pet run run.raw $find -o plain.cdh --tof 250ps -q
want 0
run pet run run.raw $find --randoms singles -o a.lmDat --tof 250ps -q
want 0
$python - <<'P' || fail "files with randoms are not what their documents say"
import json, struct
o = json.load(open("a.json"))
head = dict(line.split(": ") for line in open("a.cdh").read().splitlines())
assert head["Random correction flag"] == "1" and head["TOF information flag"] == "1", head
n = int(head["Number of events"])
assert n == o["prompts"]["pairs"] > 5000
# CASToR: u32 ms, f32 random rate, f32 t1 - t2, u32, u32; without randoms the same but for that field.
cdf = list(struct.iter_unpack("<IffII", open("a.cdf", "rb").read()))
plain = list(struct.iter_unpack("<IfII", open("plain.cdf", "rb").read()))
assert [(r[0], *r[2:]) for r in cdf] == plain and len(cdf) == n
# YRT: u32 ms, u32, u32, f32 t2 - t1, f32 randoms in counts a second.
yrt = list(struct.iter_unpack("<IIIff", open("a.lmDat", "rb").read()))
assert [(r[0], r[4], -r[3], r[1], r[2]) for r in yrt] == [(r[0], r[1], r[2], r[3], r[4]) for r in cdf]
assert all(r[1] > 0 for r in cdf)

# The sinogram: every pair of crystals of two angles is in one bin; their sum lacks pairs at one angle alone.
hs = open("r.hs").read()
values = struct.unpack("<%df" % (len(open("r.s", "rb").read()) // 4), open("r.s", "rb").read())
per_ring, rings = 7 * 2 * 2 * 5, 2 * 3 * 4
assert len(values) == rings * rings * per_ring // 2 * 139
total = sum(values)
assert abs(total / o["randoms_by_pair"]["sinogram"] - 1) < 1e-5
assert 0.98 < total / o["randoms"] < 1, (total, o["randoms"])
# A pair's rate in the bins of time, over their lengths, is its bin of the sinogram: STIR's places.
def bin_of(c1, c2):
    a, b, half = c1 % per_ring, c2 % per_ring, per_ring // 2
    r1, r2 = c1 // per_ring, c2 // per_ring
    t = (a - b + half) % per_ring
    t = t - per_ring if t > half else t
    v = (a - t // 2) % per_ring if t >= 0 else (a + (1 - t) // 2) % per_ring
    if v >= half:
        v, t, r1, r2 = v - half, -t, r2, r1
    d, most = r2 - r1, rings - 1
    plane = sum(rings - abs(k) for k in range(-most, d)) + min(r1, r2)
    return (plane * half + v) * 139 + t + 69
length = 0.01 # the third bin, of 20 ms, is half full; its rate is that of the first two within statistics
checked = 0
for ms, hz, dt, a, b in cdf[:: len(cdf) // 500]:
    if a % per_ring != b % per_ring:
        got = values[bin_of(a, b)]
        assert 0.3 < hz * 0.05 / got < 3, (a, b, hz, got) # a crystal's singles of one bin for those of all
        checked += 1
mean = sum(r[1] * 0.05 / values[bin_of(r[3], r[4])] for r in cdf if r[3] % per_ring != r[4] % per_ring) / n
assert checked > 400 and 0.95 < mean < 1.1, mean
P
compared=$((compared + 1))

# The list reads back, and tells nothing of randoms.
for form in "castor a.cdh" "yrt a.lmDat"; do
    run pet list --format $form $scan --json
    want 0
    equal "pairs of $form" "$(key out "o['prompts'], o['other']")" "$(key a.json "o['prompts']['pairs'], 0")"
done

# How many prompts are random beside the truth, for several policies; within blocks there are none.
"$sluice" pet convert run.raw --tables own.h5 -o all.s -q || fail "cannot convert"
for policy in killAll takeAllGoods takeWinnerOfGoods; do
    for windows in single all-open; do
        run pet run run.raw $find --policy $policy --windows $windows --randoms singles --json
        want 0
        mv out estimate.json
        run pet run run.raw $find --policy $policy --windows $windows -o p.csv --format csv -q
        want 0
        $python - <<'P' || fail "$last: the estimate is not the truth"
import json, struct
o = json.load(open("estimate.json"))
data = open("all.s", "rb").read()
events = [line.split(",")[1] for line in open("truth.csv").read().splitlines()[1:]]
data = data[: 16 * len(events)] # the mark is behind them
event = {(r[0], r[1]): e for r, e in zip(struct.iter_unpack("<qIf", data), events)}
true = 0
for line in open("p.csv").read().splitlines()[1:]:
    f = line.split(",")
    t, dt, a, b = (int(x) for x in f[:4])
    true += event[t, a] != event[t + dt, b]
sigma = (1.5 * true + o["randoms_sigma"] ** 2) ** 0.5
assert true > 3000 and abs(o["randoms"] - true) < 4 * sigma + 0.005 * true, (o["randoms"], true)
assert o["randoms_by_pair"]["within_blocks"] == 0
P
        compared=$((compared + 1))
    done
done

# Columns, and rates of crystals.
run pet run run.raw $find --randoms delayeds --delayed 1us -o a.h5 --json
want 0
mv out d.json
if $python -c 'import h5py, numpy' 2>/dev/null; then
    $python - <<'P' || fail "columns are not as told"
import h5py, json, numpy as np
o = json.load(open("a.json"))
crystals, f = 7 * 2 * 2 * 2 * 2 * 3 * 20, h5py.File("c.h5")
factor, length = f["bins/factor"][:], f["bins/length_s"][:]
n = len(factor)
assert n == 3 and abs(f["bins/randoms"][:].sum() / o["randoms"] - 1) < 1e-9
table = {k: f["crystals"][k][:].reshape(n, -1) for k in ("crystal", "singles", "singles_hz", "weight", "alive")}
crystals = table["crystal"].shape[1]
assert (table["crystal"] == np.arange(crystals)).all()
assert (table["singles"].sum(1) == f["bins/singles"][:]).all() and table["singles"].sum() == o["convert"]["singles"]
assert np.allclose(table["singles_hz"], table["singles"] / length[:, None], rtol=1e-6)
assert (table["weight"] == table["weight"][0]).all() and 0 < table["weight"].min() and table["weight"].max() <= 1
assert 0.8 < table["alive"].min() and table["alive"].max() < 1 # 168 blocks of 0.12 MHz, dead for 200 ns
loss = 1 - (table["alive"] * table["singles"]).sum() / table["singles"].sum()
share = o["dead_time"]["frames_expected_in_it"] / (o["dead_time"]["frames"] + o["dead_time"]["frames_expected_in_it"])
assert abs(loss / share - 1) < 0.15, (loss, share)
# All pairs of different blocks sum up to the estimate.
c = np.arange(crystals)
per_ring = 140
block = c % per_ring // 5 + 1000 * (c // per_ring // 4)
total = 0
for k in range(n):
    e = factor[k] ** 0.5 * table["weight"][k].astype(float) * table["singles_hz"][k]
    own = np.bincount(block, weights=e)
    total += 4e-9 * length[k] * (e.sum() ** 2 - (own ** 2).sum())
assert abs(total / o["randoms"] - 1) < 1e-5, (total, o["randoms"])
g = h5py.File("a.h5")["coincidences"]
hz = g["randoms_hz"][:]
assert len(hz) == len(g["time_ps"]) and hz.dtype == np.float32 and (hz >= 0).all() and hz.mean() > 0
assert g["randoms_hz"].attrs["unit"] in (b"Hz", "Hz")
P
    compared=$((compared + 1))
fi

# What cannot be asked for.
wrong() { # TEXT ARGS...
    local text=$1
    shift
    run pet run run.raw "$@"
    want 2
    grep -q "^sluice pet run: $text" err || fail "'$last' said: $(cat err)"
    want_no_file x.*
}
wrong "safir has no place for randoms" $find --randoms singles -o x.clm.safir
wrong "gate has no place for randoms" $find --randoms singles -o x.csv
wrong "csv has no place for randoms" $find --randoms singles -o x.csv --format csv
wrong "randoms of yrt need --tof" $find --randoms singles -o x.lmDat
wrong "with --randoms pairs are written at the end: leave out --flush" $find --randoms singles -o x.h5 --flush 1s
wrong "with --randoms pairs are written at the end: leave out --rotate-time" $find --randoms singles -o x.h5 --rotate-time 1s
wrong "--randoms-sinogram needs --randoms" $find --randoms-sinogram x
wrong "--randoms is off, singles or delayeds" $find --randoms some
wrong "castor has no delayeds" $find --randoms delayeds --delayed 1us -o x.cdh
# Too short for an estimate: no file, and that is told.
run pet run run.raw $find --delayed 1s --prompts --randoms singles -o x.cdh -q
want 1
grep -q "randoms of its pairs are not known" err || fail "'$last' said: $(cat err)"
want_no_file x.*
passed
