#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --nexus`: a reader that knows nothing but the definition of NXevent_data finds the pulses and events that
# were made, whatever else is in the file.
. "$(dirname "$0")/common.sh" "$@"

cat >make.py <<'P'
# NAME.tpx3 and what a reader is to find, as NAME.json: pulses [time in ns, [[id, offset in ns] …]], in order.
import json, random, struct
rng = random.Random(5)
def pixel(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF
def edge(sixths, counter):
    return 0x6F << 56 | (counter & 0xFFF) << 44 | sixths // 12 << 9 | (sixths % 12 + 1) << 5
def chunk(chip, words):
    return struct.pack("<4sBBH%dQ" % len(words), b"TPX3", chip, 0, 8 * len(words), *words)
out, pulses, alone, tick = b"", [], [], 100000
for k in range(-1, 200):                       # before the first pulse there are clusters, too
    if k >= 0:
        sixths = 6 * tick + rng.randrange(6)
        tick += 2
        pulses.append([sixths * 25 / 96, []])
        out += chunk(0, [edge(sixths, k)])
    for _ in range(0 if k % 7 == 3 else rng.randrange(6)):
        tick += 200 + rng.randrange(3000)      # clusters are far from each other in time: a block of 3 x 2, or a pixel
        chip, x, y = rng.randrange(2), rng.randrange(1, 250), rng.randrange(1, 250)
        block = [(0, 0)] if rng.random() < 0.5 else [(a, b) for a in range(3) for b in range(2)]
        out += chunk(chip, [pixel(x + a, y + b, tick + i, 20) for i, (a, b) in enumerate(block)])
        cx, cy = (x, y) if len(block) == 1 else (x + 1, y + 1)  # the middle is at y + 0.5, which goes up
        number = 65536 * chip + 256 * cy + cx
        alone.append([number, tick * 25 / 16])
        if k >= 0:
            pulses[-1][1].append([number, (6 * tick - sixths) * 25 / 96])
    tick += 5000
open("a.tpx3", "wb").write(out)
json.dump({"pulses": pulses, "alone": [[0, alone]]}, open("a.json", "w"))
P
cat >reader.py <<'P'
# FILE WHICH: by NXroot, NXentry, NXevent_data alone.
import json, sys, h5py
f, wanted = h5py.File(sys.argv[1]), json.load(open("a.json"))[sys.argv[2]]
def text(v):
    return v.decode() if isinstance(v, bytes) else v
assert text(f.attrs["NX_class"]) == "NXroot"
entries = [g for g in f.values() if text(g.attrs.get("NX_class", "")) == "NXentry"]
assert len(entries) == 1 and f[text(f.attrs["default"])] == entries[0]
groups = [g for g in entries[0].values() if text(g.attrs.get("NX_class", "")) == "NXevent_data"]
assert len(groups) == 1
e = groups[0]
assert set(e) == {"event_id", "event_time_offset", "event_time_zero", "event_index"}
assert all(d.ndim == 1 for d in e.values())
assert e["event_id"].dtype.kind in "iu" and e["event_index"].dtype.kind in "iu"
assert text(e["event_time_offset"].attrs["units"]) == "ns" and text(e["event_time_zero"].attrs["units"]) == "ns"
ids, offsets, zero, index = (e[n][:].tolist() for n in ("event_id", "event_time_offset", "event_time_zero", "event_index"))
assert len(ids) == len(offsets) and len(zero) == len(index) and index[0] == 0
got = [[z, [list(p) for p in zip(ids[a:b], offsets[a:b])]] for z, a, b in zip(zero, index, index[1:] + [len(ids)])]
assert len(got) == len(wanted), (len(got), len(wanted))
for g, w in zip(got, wanted):
    assert abs(g[0] - w[0]) <= 1e-9 * w[0] and [p[0] for p in g[1]] == [p[0] for p in w[1]], (g, w)
    assert all(abs(p[1] - q[1]) < 1e-6 for p, q in zip(g[1], w[1])), (g, w)
P
python3 make.py || fail "cannot make a file"
find_all() { # FILE WHICH
    compared=$((compared + 1))
    /usr/bin/python3 reader.py "$1" "$2" || fail "'$last': $1 is not as wanted"
}
for threads in 1 2; do
    run cluster a.tpx3 --trigger tdc1-rise --nexus -o a.h5 --threads $threads
    want 0
    find_all a.h5 pulses
    grep -q "clusters with [0-9]* pixels came before the first trigger and were left out" err || fail "'$last' said $(cat err)"
    run cluster a.tpx3 --nexus --form hdf5 --compression deflate -o b.h5 --threads $threads
    want 0
    find_all b.h5 alone
done
"$sluice" cluster - --trigger tdc1-rise --nexus -o p.h5 -q <a.tpx3 2>err || fail "a pipe: $(cat err)"
find_all p.h5 pulses
# The file is also what it is without --nexus.
run cluster a.tpx3 --trigger tdc1-rise --accept 0:1s -o w.h5
/usr/bin/python3 - <<'P' || fail "a.h5 has other clusters than w.h5"
import h5py
a, w = h5py.File("a.h5"), h5py.File("w.h5")
assert a.attrs["checksum"] == w.attrs["checksum"]
for group in ("clusters", "shots"):
    for name in w[group]:
        assert a[group][name][:].tobytes() == w[group][name][:].tobytes(), name
P
# A trigger that did not come has no pulse and no event: the file says so, and so does the status.
run cluster a.tpx3 --trigger tdc2-rise --nexus -o n.h5
want 1
equal "nothing" "$(/usr/bin/python3 -c 'import h5py; e = h5py.File("n.h5")["entry/events"]; print([len(d) for d in e.values()])')" "[0, 0, 0, 0]"
printf 'frame,x,y\n1,2,3\n' >frames.csv
printf 'x,y,time\n1,2,3\n' >ticks.csv
refused() { # REASON ARGS...
    local reason=$1
    shift
    run cluster "$@"
    [ $status -ne 0 ] || fail "'$last' is not refused"
    grep -qF -- "$reason" err || fail "'$last' said $(cat err)"
    compared=$((compared + 1))
}
refused "--nexus is of --output FILE.h5" a.tpx3 --nexus
refused "--nexus is of --output FILE.h5" a.tpx3 --nexus -o x.csv
refused "--nexus is of --output FILE.h5" a.tpx3 --nexus -o x.h5 --form arrow
refused "--nexus takes one input" a.tpx3 a.tpx3 --nexus -o x.h5
refused "--nexus does not go with --part" a.tpx3 --nexus -o x.h5 --rotate-time 60s
refused "--nexus needs columns" a.tpx3 --nexus -o x.h5 --columns clusters
refused "--nexus needs the features centroid and times" a.tpx3 --nexus -o x.h5 --features size,times
refused "--nexus is for a stream of pixels with times" frames.csv --nexus -o x.h5
refused "the file does not tell how long a tick is" ticks.csv --nexus -o x.h5 --time-window 64ticks
want_no_file x.h5
passed
