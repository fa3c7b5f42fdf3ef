#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --trigger`: raw Timepix3 made here from the published layout of its packets, with edges whose times are
# known, against clusters of all pairs and the last edge before each; in every form of output, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >make.py <<'P'
"""Writes NAME.tpx3 and the truth beside it. Times are whole sixths of a tick, 25 ns / 96."""
import json, random, struct, sys

def pixel(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF

CODE = {"tdc1-rise": 0x6F, "tdc1-fall": 0x6A, "tdc2-rise": 0x6E, "tdc2-fall": 0x6B}

def edge(kind, sixths, counter, fine=None, old=False):
    clock = sixths // 12                        # of 3.125 ns
    clock &= (1 << 33) - 1 if old else (1 << 35) - 1
    fine = sixths % 12 + 1 if fine is None else fine
    return CODE[kind] << 56 | (counter & 0xFFF) << 44 | clock << 9 | fine << 5

def heartbeat(clock):
    return [0x44 << 56 | (clock & 0xFFFFFFFF) << 16, 0x45 << 56 | (clock >> 32 & 0xFFFF) << 16]

def make(name, seed, begin, shots, period, lost=(), repeat=False, old=False, jitter=300000, dark=()):
    rng = random.Random(seed)
    words, hits, edges, invalid = [], [], [], 0            # words: (sent, chip, word)
    t = begin * 6 + 77777
    for k in range(shots):
        t += period + rng.randrange(period // 10)
        if k in lost:
            continue
        edges.append((t, k & 0xFFF))
        late = rng.randrange(1000)
        words.append((t + late, 0, edge("tdc1-rise", t, k, old=old)))
        if repeat and k % 3 == 0:
            words.append((t + late + 40000, 1, edge("tdc1-rise", t + k % 2, k, old=old)))
        words.append((t + 6000, 0, edge("tdc1-fall", t + 6000, k, old=old)))
        if k % 50 == 7:
            words.append((t + 1, 0, edge("tdc1-rise", t, k, fine=rng.choice([0, 13, 14, 15]))))
            invalid += 1
    stop = t // 6 + period // 6
    tick = begin
    while tick < stop:
        tick += rng.randrange(1, 2 * period // 6 // 5)
        if dark and edges[dark[0]][0] < 6 * tick < edges[dark[1]][0]:
            continue                                       # no pixels while it is dark
        x, y = rng.randrange(1, 255), rng.randrange(1, 255)
        for _ in range(rng.randrange(1, 6)):
            h = (x + rng.randrange(-1, 2), y + rng.randrange(-1, 2), tick + rng.randrange(30), rng.randrange(1, 500))
            hits.append(h)
            words.append((6 * (h[2] + rng.randrange(jitter)), 0, pixel(*h)))
    words.sort(key=lambda w: w[0])
    with open(name + ".tpx3", "wb") as out:
        if begin > 1 << 34:                                # the time of day, twice, so that it is believed
            for clock in (begin // 16 - 4000, begin // 16 - 2000):
                out.write(struct.pack("<4sBBH2Q", b"TPX3", 0, 0, 16, *heartbeat(clock)))
        for i in range(0, len(words), 97):
            for chip in (0, 1):
                part = [w for _, c, w in words[i:i + 97] if c == chip]
                out.write(struct.pack("<4sBBH%dQ" % len(part), b"TPX3", chip, 0, 8 * len(part), *part) if part else b"")
    json.dump({"hits": hits, "edges": edges, "invalid": invalid}, open(name + ".json", "w"))

P_HIT = 1 << 34                                            # ticks after which the pixels' time begins anew
make("plain", 1, 5000, 300, 6 * 640 * 100)                 # 100 us apart
make("rollover", 2, P_HIT - 8000000, 300, 6 * 640 * 100, lost={17, 18, 99})
make("late", 3, 37 * P_HIT + 12345, 200, 6 * 640 * 300, repeat=True)
make("old", 4, 3 * P_HIT - 9000000, 200, 6 * 640 * 200, old=True)
make("dark", 6, 5000, 100, 6 * 640 * 700000, dark=(20, 80)) # 43 s without pixels, and no heartbeats
make("wrap", 5, 5000, 4300, 6 * 640 * 20, lost=set(range(4090, 4100)))
P

cat >truth.py <<'P'
import bisect, csv, json, math

def truth(name, begin=None, end=None, window=64):
    """Rows (shot, since in ns, first, last, size) and counts, from all pairs of hits that are near in time."""
    t = json.load(open(name + ".json"))
    hits = sorted(map(tuple, t["hits"]), key=lambda h: (h[2], h[1], h[0]))
    root = list(range(len(hits)))
    def find(i):
        while root[i] != i:
            i = root[i]
        return i
    for i, a in enumerate(hits):
        for j in range(i - 1, -1, -1):
            b = hits[j]
            if a[2] - b[2] > window:
                break
            if abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1:
                p, q = sorted((find(i), find(j)))
                root[q] = p
    groups, times = {}, [time for time, _ in t["edges"]]
    for i in range(len(hits)):
        groups.setdefault(find(i), []).append(hits[i])
    rows, before, out = [], [0, 0], 0
    for g in (groups[k] for k in sorted(groups)):
        first = g[0][2]
        shot = bisect.bisect_right(times, 6 * first) - 1
        since = (6 * first - t["edges"][shot][0]) * 25 / 96 if shot >= 0 else math.nan
        before = [before[0] + 1, before[1] + len(g)] if shot < 0 else before
        if begin is not None and not begin <= since < end:
            out += 1
            continue
        rows.append((shot, since, first, max(h[2] for h in g), len(g)))
    lost = t["edges"][-1][1] - t["edges"][0][1] + 1 - len(t["edges"])
    return rows, before, out, lost % 4096, t

def same(csv_file, name, *window):
    rows = truth(name, *window)[0]
    got = list(csv.DictReader(open(csv_file)))
    if len(got) != len(rows):
        return "%d clusters, not %d" % (len(got), len(rows))
    for i, (g, w) in enumerate(zip(got, rows)):
        since = float(g["since_trigger_ns"])
        if (int(g["shot"]), int(g["first_time"]), int(g["last_time"]), int(g["size"])) != (w[0], *w[2:]) or not (
                since == w[1] or math.isnan(since) and math.isnan(w[1])):
            return "cluster %d: %s, not %s" % (i, g, w)
    return True

def told(json_file, name, *window):
    rows, before, out, lost, t = truth(name, *window)
    got = json.load(open(json_file))["inputs"][0]
    wanted = dict(triggers=len(t["edges"]), triggers_lost=lost, clusters_before=before[0], pixels_before=before[1],
                  clusters_not_accepted=out, clustered=sum(r[4] for r in rows), tdc_invalid=t["invalid"], clusters=len(rows), late=0, resets=0)
    wrong = {k: (got[k], v) for k, v in wanted.items() if got[k] != v}
    return wrong or True

def shots(h5, name, *window):
    import h5py
    rows, _, _, _, t = truth(name, *window)
    f = h5py.File(h5)
    s, c = f["shots"], f["clusters"]
    if [list(s["trigger_time"]), list(s["counter"]), list(s["shot"])] != [
            [e[0] for e in t["edges"]], [e[1] for e in t["edges"]], list(range(len(t["edges"])))]:
        return "shots are others"
    for k, first, n in zip(s["shot"], s["first"], s["clusters"]):
        if list(c["shot"][first:first + n]) != [k] * n:
            return "shot %d" % k
    return sum(s["clusters"]) == sum(r[0] >= 0 for r in rows) and list(c["shot"]) == [r[0] for r in rows]
P
python3 make.py
check() { # EXPRESSION: Python; prints True
    compared=$((compared + 1))
    local got
    got=$(python3 -c "import sys; sys.path.insert(0, '.'); from truth import *; print($1)" 2>&1)
    [ "$got" = True ] || fail "'$last': not so: $1: $got"
}

# Every cluster's shot, across rollovers of pixels and edges, with old firmware, lost and repeated edges.
for name in plain rollover late old wrap dark; do
    run cluster $name.tpx3 -q --json --trigger tdc1-rise -o $name.csv
    want 0
    mv out $name.out
    check "same('$name.csv', '$name')"
    check "told('$name.out', '$name')"
done
for name in plain rollover late old; do
    run cluster $name.tpx3 -q --json --trigger tdc1-rise --accept 5us:80us -o $name.h5
    want 0
    mv out $name.out
    check "shots('$name.h5', '$name', 5e3, 80e3)"
    check "told('$name.out', '$name', 5e3, 80e3)"
done
# Cuts on shots: rows of the whole table; their shots have them and no others.
run cluster late.tpx3 -q --trigger tdc1-rise --filter 'shot>=20,since_trigger_ns<40000,size>=2' -o some.h5 --json
want 0
cat >cuts.py <<'P'
import csv, h5py, json
rows = [r for r in csv.DictReader(open("late.csv")) if int(r["shot"]) >= 20 and float(r["since_trigger_ns"]) < 40000 and int(r["size"]) >= 2]
f, told = h5py.File("some.h5"), json.load(open("out"))["inputs"][0]
c, s = f["clusters"], f["shots"]
assert [int(r["first_time"]) for r in rows] == list(c["first_time"]) and 0 < len(rows) < 2000, "rows"
assert told["clustered"] == sum(int(r["size"]) for r in rows) and told["clusters"] == len(rows), "pixels"
assert told["filtered"] == sum(1 for _ in open("late.csv")) - 1 - len(rows), "left out"
for k, first, n in zip(s["shot"], s["first"], s["clusters"]):
    assert list(c["shot"][first:first + n]) == [k] * n, k
assert sum(s["clusters"]) == len(rows) and len(s["shot"]) == 200
print(True)
P
[ "$(python3 cuts.py)" = True ] || fail "'$last': cuts on shots"
run cluster plain.tpx3 -q --trigger tdc1-rise --accept 0:30us --disorder all -o all.csv
want 0
check "same('all.csv', 'plain', 0, 30e3)"
"$sluice" cluster - -q --trigger tdc1-rise --accept 0:30us -o pipe.csv <plain.tpx3 2>err || fail "a pipe"
cmp all.csv pipe.csv || fail "a pipe differs"
run cluster plain.tpx3 late.tpx3 -q --trigger tdc1-rise -o both.h5
want 0
check "list(__import__('h5py').File('both.h5')['shots/input']).count(2) == 200"
# Each file's shots fit its clusters, by the recipe of the howto: of several inputs, and of a series, in whose files no shot is
# lost and none is wrong.
cat >recipe.py <<'E'
import glob, h5py, numpy
def of_shots(name):
    """(input, shot) to times since it, and how many clusters there are in all files."""
    f = h5py.File(name)
    shots, tof, base = f["shots"], f["clusters/since_trigger_ns"], f.attrs.get("clusters_before", 0)
    first, n = shots["first"][:].astype(int) - base, shots["clusters"][:]
    for k in range(len(n)):
        rows = slice(max(first[k], 0), max(first[k] + n[k], 0))
        key = shots["input"][k], shots["shot"][k]
        assert all(f["clusters/shot"][rows] == key[1]) and all(f["clusters/input"][rows] == key[0]), (name, key)
        yield key, list(tof[rows]), min(first[k] + n[k], 0) - min(first[k], 0)
def whole(name):
    f = h5py.File(name)
    return [(i, s) for i, s in zip(f["clusters/input"][:], f["clusters/shot"][:]) if s >= 0]
one = [key for key, tof, before in of_shots("two.h5") for _ in tof]
assert one == whole("two.h5") and any(i == 2 for i, _ in one), "two inputs"
names = ["rot.h5", *sorted(glob.glob("rot.0*.h5"))]
assert len(names) > 2, names
ahead = 0
for name in names:
    assert ("clusters_before" in h5py.File(name).attrs) == (name != "rot.h5")
    ahead += sum(before for _, _, before in of_shots(name))   # of its shots, in files before
here = [key for name in names for key, tof, _ in of_shots(name) for _ in tof]
every = [key for name in names for key in whole(name)]
assert every == one and len(here) + ahead == len(every), (len(here), ahead, len(every))
print(True)
E
run cluster wrap.tpx3 late.tpx3 -q --trigger tdc1-rise -o two.h5
want 0
for k in 0 1 2 3 4 5; do # pieces, and a file for each: a pipe is read as it comes
    tail -c +$((k * 200000 + 1)) wrap.tpx3 | head -c $((k < 5 ? 200000 : 100000000))
    sleep 0.05
done | "$sluice" cluster - late.tpx3 -q --trigger tdc1-rise -o rot.h5 --rotate-size 128k 2>err || fail "a series: $(cat err)"
[ "$(python3 recipe.py 2>&1)" = True ] || fail "'$last': $(python3 recipe.py 2>&1 | tail -1)"
run cluster plain.tpx3 -q --trigger tdc1-rise -o one.arrow
want 0

# What was lost is told, also with --quiet.
run cluster rollover.tpx3 -q --trigger tdc1-rise
want 0
grep -q 'rollover.tpx3: 3 triggers were lost, as their counter tells' err || fail "lost triggers: $(cat err)"
grep -q 'clusters with .* pixels came before the first trigger: their shot is -1' err || fail "before: $(cat err)"
grep -q 'TDC packets are of no known edge or have an invalid time' err || fail "invalid: $(cat err)"
run cluster late.tpx3 -q --trigger tdc1-rise --accept 0:1us
grep -q 'triggers came again in the stream of another chip' err || fail "repeated: $(cat err)"
grep -q 'clusters were left out by --accept' err || fail "accept: $(cat err)"
run cluster plain.tpx3 -q --trigger tdc2-rise
grep -q 'no trigger tdc2-rise came; there are 300 tdc1-rise, 300 tdc1-fall, 0 tdc2-rise, 0 tdc2-fall' err || fail "none: $(cat err)"
run cluster plain.tpx3 -q --trigger tdc2-rise --accept 0:30us -o nothing.csv
want 1
run info plain.tpx3
grep -q 'tdc1 rise *300' out || fail "info: $(cat out)"

# What does not go.
printf 'x,y,time [ns]\n1,2,3\n' >list.csv
want_refused 'of the formats, .tpx3 alone has triggers' cluster list.csv --trigger tdc1-rise
want_refused '--accept is a time since --trigger, which is not given' cluster plain.tpx3 --accept 0:1us
want_refused '--accept takes two times, as in 0:30us' cluster plain.tpx3 --trigger tdc1-rise --accept 30us
want_refused '--accept takes a time and a later one' cluster plain.tpx3 --trigger tdc1-rise --accept 3us:2us
want_refused "--accept takes a time such as 100ns" cluster plain.tpx3 --trigger tdc1-rise --accept 0:x
want_refused '--trigger needs the feature times' cluster plain.tpx3 --trigger tdc1-rise --features size
want_refused '--trigger does not go with --part' cluster plain.tpx3 --trigger tdc1-rise --part 1/2 -o part.h5
want_refused "--trigger takes" cluster plain.tpx3 --trigger tdc3
echo "$compared comparisons"
