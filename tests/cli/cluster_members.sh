#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --labels` of streams: which pixels a cluster is of, with their time since a trigger, against clusters of
# all pairs of hits that were written here; in every form; with filters, windows and several chips; and of frames with a
# filter.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import bisect, csv, json, random, struct

def pixel(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF

def edge(sixths, counter):
    return 0x6F << 56 | (counter & 0xFFF) << 44 | sixths // 12 << 9 | (sixths % 12 + 1) << 5

def make():
    """Hits as (x in the file, y, tick, ToT) in the order of the file, and edges in sixths of a tick."""
    rng = random.Random(11)
    words, edges, sent = [], [], 40000
    for k in range(60):
        sent += 300000 + rng.randrange(9000)
        edges.append(sent)
        words.append((sent, 0, 0, edge(sent, k), None))
    tick = 20000
    while tick < sent // 6:
        tick += rng.randrange(1, 400)
        x, y = rng.choice((256, rng.randrange(1, 511))), rng.randrange(1, 30)
        for _ in range(rng.randrange(1, 7)):
            hit = (x + rng.randrange(-1, 2), y + rng.randrange(-1, 2), tick + rng.randrange(60), rng.randrange(500))
            word = pixel(hit[0] % 256, *hit[1:])
            words.append((6 * (hit[2] + rng.randrange(30000)), 1, hit[0] // 256, word, hit))
    words.sort(key=lambda w: w[:4])
    hits = []
    with open("a.tpx3", "wb") as out:
        for i in range(0, len(words), 90):
            for chip in (0, 1):
                part = [w for w in words[i:i + 90] if w[2] == chip]
                hits += [w[4] for w in part if w[4]]
                if part:
                    out.write(struct.pack("<4sBBH%dQ" % len(part), b"TPX3", chip, 0, 8 * len(part), *(w[3] for w in part)))
    json.dump((hits, edges), open("truth.json", "w"))

def clusters(hits, within, window=64):
    """Lists of places in the file, in the order of time, y, x; clusters by the first of theirs, and within chips those
    that begin together by their chip."""
    order = sorted(range(len(hits)), key=lambda i: (hits[i][2], hits[i][1], hits[i][0], i))
    root = {i: i for i in order}
    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i
    for k, i in enumerate(order):
        for back in range(k - 1, -1, -1):
            j = order[back]
            if hits[i][2] - hits[j][2] > window:
                break
            if abs(hits[i][0] - hits[j][0]) <= 1 and abs(hits[i][1] - hits[j][1]) <= 1:
                if not (within and hits[i][0] // 256 != hits[j][0] // 256):
                    root[find(i)] = find(j)
    groups = {}
    for i in order:
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())

def wanted(within=False, least=0, window=None):
    """Rows of the file of pixels."""
    hits, edges = json.load(open("truth.json"))
    rows, n = [], 0
    for group in clusters(hits, within):
        shot = bisect.bisect_right(edges, 6 * hits[group[0]][2]) - 1
        since = [(6 * hits[i][2] - edges[shot]) * 25 / 96 if shot >= 0 else None for i in group]
        if len(group) < least or (window and (shot < 0 or not window[0] <= since[0] < window[1])):
            continue
        rows += [(1, 0, *hits[i][:2], hits[i][3], hits[i][2], n, i, shot, s) for i, s in zip(group, since)]
        n += 1
    return rows

NAMES = "input,frame,x,y,charge,time,cluster,pixel,shot,since_trigger_ns".split(",")

def read(name, triggered):
    names = NAMES if triggered else NAMES[:8]
    if name.endswith(".csv"):
        table = list(csv.DictReader(open(name)))
        assert list(table[0]) == names, table[0]
        return [tuple(float(r[k]) if k == "since_trigger_ns" else int(r[k]) for k in names) for r in table]
    import numpy
    if name.endswith(".h5"):
        import h5py
        with h5py.File(name) as f:
            assert abs(f.attrs["tick_seconds"] - 25e-9 / 16) < 1e-20
            columns = [f["labels"][k][:].tolist() for k in names]
    elif name.endswith(".npy"):
        columns = [numpy.load(name)[k].tolist() for k in names]
    else:
        with numpy.load(name) as f:
            columns = [f["labels." + k if "labels." + k in f else "labels/" + k].tolist() for k in names]
    return list(zip(*columns))

def same(name, triggered=True, **how):
    got, want = read(name, triggered), wanted(**how)
    want = want if triggered else [w[:8] for w in want]
    assert len(want) > 900, len(want)
    key = lambda r: r[:9]
    got = [key(r) + tuple(None if s != s else s for s in r[9:]) for r in got]
    assert len(got) == len(want), (len(got), len(want))
    for g, w in zip(got, want):
        assert g == w, (g, w)

def agree(clusters_csv, labels_csv, within=False):
    """Sizes, boxes and charges of the rows of clusters are those of their pixels, and no cluster is on two chips."""
    rows, by = list(csv.DictReader(open(clusters_csv))), {}
    for r in csv.DictReader(open(labels_csv)):
        by.setdefault(int(r["cluster"]), []).append((int(r["x"]), int(r["y"]), int(r["charge"])))
    assert sorted(by) == list(range(len(rows)))
    for k, r in enumerate(rows):
        xs, ys, qs = zip(*by[k])
        assert (int(r["size"]), int(r["x_min"]), int(r["x_max"]), int(r["y_min"]), int(r["y_max"]), int(r["mass"])) == \
            (len(xs), min(xs), max(xs), min(ys), max(ys), sum(qs)), (k, r)
        assert abs(float(r["centroid_x"]) - sum(xs) / len(xs)) < 1e-9
        assert not within or min(xs) // 256 == max(xs) // 256
    return sum(min(x for x, _, _ in p) // 256 != max(x for x, _, _ in p) // 256 for p in by.values())
P
python3 -c 'from tool import *; make()'
check() { # PYTHON
    compared=$((compared + 1))
    python3 -c "from tool import *; $1" 2>said || fail "'$last': not so ($1): $(tail -n 1 said)"
}
has() { python3 -c "import $1" 2>/dev/null; }

run cluster a.tpx3 -q --trigger tdc1-rise -o c.csv --labels l.csv
want 0
check 'same("l.csv"); assert agree("c.csv", "l.csv") > 20'
for threads in 2 3; do
    run cluster a.tpx3 -q --trigger tdc1-rise -o d.csv --labels m.csv --threads $threads
    want 0
    cmp l.csv m.csv && cmp c.csv d.csv || fail "other threads, other pixels"
done
run cluster a.tpx3 -q -o c.csv --labels l.csv
want 0
check 'same("l.csv", triggered=False)'
run cluster a.tpx3 -q -o c.csv --labels l.csv --disorder all
want 0
check 'same("l.csv", triggered=False)'
run cluster a.tpx3 -q --trigger tdc1-rise --accept 2us:40us --filter 'size>=3' -o c.csv --labels l.csv
want 0
check 'same("l.csv", least=3, window=(2e3, 40e3)); agree("c.csv", "l.csv")'
run cluster a.tpx3 -q --max-open 50 --features size,box,mass,centroid -o c.csv --labels l.csv
want 0
grep -q "clusters were closed early" err || fail "no cluster was closed early"
check 'agree("c.csv", "l.csv")'
run cluster - -q -o c.csv --labels l.csv <a.tpx3
for end in h5 npy npz; do
    if has numpy && { [ $end != h5 ] || has h5py; }; then
        run cluster a.tpx3 -q --trigger tdc1-rise -o c.csv --labels l.$end
        want 0
        check "same('l.$end')"
    fi
done

# Clusters within chips: chips of a row side by side, and of a layout; also those that lie far from others.
run cluster a.tpx3 -q --trigger tdc1-rise --within-chip -o c.csv --labels l.csv
want 0
check 'same("l.csv", within=True); assert agree("c.csv", "l.csv", within=True) == 0'
printf '0 0 0\n1 256 0\n' >pair.txt
run cluster a.tpx3 -q --trigger tdc1-rise --within-chip --layout pair.txt -o d.csv --labels m.csv
want 0
cmp l.csv m.csv && cmp c.csv d.csv || fail "a layout that is a row is not the row"
printf '0 40000 300 90\n1 40000 556 90\n' >turned.txt
run cluster a.tpx3 -q --layout turned.txt -o whole.csv
want 0
run cluster a.tpx3 -q --layout turned.txt --within-chip --chip-column --features all -o parts.csv --labels l.csv
want 0
check '
whole, parts = [list(csv.DictReader(open(f))) for f in ("whole.csv", "parts.csv")]
assert len(parts) > len(whole) + 20 and all(r["chip"] in "01" for r in parts)
assert sum(int(r["size"]) for r in parts) == sum(int(r["size"]) for r in whole)
agree("parts.csv", "l.csv")
for r in parts:
    assert int(r["y_min"]) // 256 == (int(r["y_max"])) // 256 or 300 <= int(r["y_min"]) and (int(r["y_max"]) < 556) == (r["chip"] == "0")
    assert r["squared_x"] == "nan" or int(r["x_min"]) - 1e-9 <= float(r["squared_x"]) <= int(r["x_max"]) + 1e-9'
run cluster a.tpx3 -q --within-chip --chip 1 -o c.csv
want 0
check 'assert all(int(r["x_min"]) >= 256 for r in csv.DictReader(open("c.csv")))'
want_refused "--within-chip does not go with --size" cluster a.tpx3 --within-chip --size 512x256
printf 'x,y,time\n1,1,5\n' >list.csv
want_refused ".tpx3 alone tells of chips" cluster list.csv --within-chip --tick 1ns
want_refused "--labels does not go with --rotate-size" cluster a.tpx3 --rotate-time 10s -o c.h5 --labels l.csv

# Frames: pixels of clusters that the filter keeps.
printf 'frame,x,y,charge\n' >frames.csv
for f in 0 1; do printf "$f,1,1,5\n$f,9,9,1\n$f,2,1,6\n$f,7,7,2\n$f,7,8,3\n"; done >>frames.csv
run cluster frames.csv -q --filter 'size>1' -o c.csv --labels l.csv
want 0
same l.csv <<'L'
input,frame,x,y,charge,time,cluster
1,0,1,1,5,,0
1,0,2,1,6,,0
1,0,7,7,2,,1
1,0,7,8,3,,1
1,1,1,1,5,,2
1,1,2,1,6,,2
1,1,7,7,2,,3
1,1,7,8,3,,3
L
want_refused "must be a stream if those of the first" cluster a.tpx3 frames.csv --features size --labels l.csv
echo "$compared comparisons"
