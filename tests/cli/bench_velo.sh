#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring the VELO, on few generated events: that everything asked for is measured once, that table, CSV and SVG hold the
# same numbers, that what is found is what `sluice velo` finds, and what is refused. How fast it is, no test can tell.
. "$(dirname "$0")/common.sh" "$@"
unset SLUICE_SIMD
make_events a.mdf 6 3
runnable=$("$sluice" version | sed -n 's/^run here *//p')

run bench velo a.mdf --what threads,targets,candidates,algorithms,stages,scaling --threads 1,2 --candidates 1,3 --batch 4 \
    --repetitions 2 --time 1 --distinct 20 --csv m.csv --svg m.svg -q
want 0
want_silent
cat >look.py <<'P'
import csv, math, sys
import xml.etree.ElementTree as tree
runnable = sys.argv[1].split()
rows = list(csv.DictReader(open("m.csv")))
standard = ["default", "fast", "pair-fast", "pair-best", "triplet"]
wanted = [("threads", a, "auto", t, "", "0") for t in "12" for a in standard]
wanted += [("targets", "default", x, t, "", "0") for t in "12" for x in runnable]
wanted += [("candidates", a, "auto", "1", n, "0") for a in standard[:2] for n in "13"]
wanted += [("algorithms", a, "auto", "1", "", "0") for a in standard + ["split", "full"]]
wanted += [("stages", a, "auto", "1", "", "0") for a in standard[:2]]
wanted += [("scaling", a, "auto", "1", "", str(e)) for e in range(6) for a in standard]
keys = [(r["what"], r["algorithm"], r["target"], r["threads"], r["candidates"] if r["what"] == "candidates" else "", r["event"])
        for r in rows]
assert sorted(keys) == sorted(wanted), "not everything once"
stages = ("cluster", "track", "fit", "vertex")
for r in rows:
    assert r["events"] == ("1" if r["what"] == "scaling" else "6") and r["faults"] == "0" and int(r["hits"]) > 0
    until = [float(r["to_%s_median_s" % u]) for u in ("tracks", "fitted", "vertices")]
    assert 0 < until[0] <= until[1] <= until[2], r
    for u in [f"to_{x}" for x in ("tracks", "fitted", "vertices")] + list(stages):
        assert 0 <= float(r[u + "_minimum_s"]) <= float(r[u + "_median_s"]), r
    assert 1e8 < float(r["core_hz"]) < 2e10
    assert (r["ghosts"] != "") == (r["what"] in ("candidates", "algorithms")), "truth where it belongs"
    # What is made of them, for threads and stages: other events, so that it takes about as long, but is not the same.
    if r["what"] in ("threads", "stages"):
        assert r["distinct_events"] == "20"
        assert 0 < float(r["distinct_to_vertices_minimum_s"]) <= float(r["distinct_to_vertices_median_s"]), r
    else:
        assert r["distinct_events"] == r["distinct_to_vertices_median_s"] == "", r
    if r["ghosts"]:
        assert 0 < int(r["velo_eta25_found"]) <= int(r["velo_eta25_reconstructible"]) and 0.9 < float(r["velo_eta25_purity"]) <= 1
# Neither threads nor instruction sets nor repetitions change what is found.
found = {}
for r in rows:
    if r["what"] not in ("scaling", "candidates"):
        found.setdefault(r["algorithm"], set()).add((r["hits"], r["tracks"], r["vertices"]))
assert len(found) == 7 and all(len(f) == 1 for f in found.values()), found
for a in standard: # nor batches
    assert sum(int(r["tracks"]) for r in rows if r["what"] == "scaling" and r["algorithm"] == a) == int(list(found[a])[0][1])

table = [line.split() for line in open("out").read().replace("(", " ").replace(")", " ").splitlines()]
for r in rows: # throughput: median and fastest
    if r["what"] in ("threads", "targets"):
        line = [t for t in table if t[:3] == [r["algorithm"], r["target"], r["threads"]]]
        cells = [1 / float(r["to_%s_%s_s" % (u, m)]) for u in ("tracks", "fitted", "vertices") for m in ("median", "minimum")]
        assert any(all(abs(float(x) - y) <= 1 + 1e-4 * y for x, y in zip(t[4:10], cells)) for t in line), (cells, line)
    if r["what"] == "threads":
        assert any(t[:3] == [r["algorithm"], r["target"], r["threads"]] and len(t) == 12 and
                   abs(float(t[11]) - 1 / float(r["distinct_to_vertices_median_s"])) <= 1 + 1e-4 * float(t[11]) for t in table), r
    if r["what"] == "stages":
        assert any(t[:2] == ["us,", "distinct"] and len(t) == 7 for t in table)
    if r["what"] == "algorithms":
        n, of = int(r["velo_eta25_found"]), int(r["velo_eta25_reconstructible"])
        assert any(t[0] == r["algorithm"] and len(t) > 3 and t[3] == "±" and t[2] == "%.2f" % (100 * n / of) for t in table if t), r
# The law of the cost, by the same formula.
cost = [(math.log(int(r["hits"])), math.log(float(r["track_minimum_s"]))) for r in rows
        if r["what"] == "scaling" and r["algorithm"] == "pair-best"]
x, y = [sum(c) / len(cost) for c in zip(*cost)]
k = sum((a - x) * (b - y) for a, b in cost) / sum((a - x) ** 2 for a, b in cost)
said = [t for t in table if t and t[0] == "pair-best" and len(t) == 9 and t[2] == "±"]
assert len(said) == 1 and abs(float(said[0][1]) - k) < 2e-3, (said, k)

s = "{http://www.w3.org/2000/svg}"
root = tree.parse("m.svg").getroot()
titles = [t.text for t in root.iter(s + "text") if t.get("class") == "title"]
assert len(titles) == 7 and titles[0] == "algorithms", titles
curves = [p for p in root.iter(s + "path") if p.get("class", "").startswith("curve") and p.get("d").count("L") > 0]
one = [r for r in rows if r["what"] == "candidates"][0]
filled = sum(one[c + "_eta25_reconstructible"] != "0" for c in ("velo", "long", "from_b", "from_d", "strange"))
assert len(curves) == 5 + len(runnable) + 2 + 2 + 2 * filled + 5 and filled >= 3, len(curves)
print("good")
P
equal "table, CSV and SVG" "$(python3 look.py "$runnable" 2>&1)" good

# What is found is what the command that is measured finds.
for algorithm in pair-fast pair-best triplet; do
    run velo a.mdf --algorithm $algorithm --json
    want 0
    equal "tracks of $algorithm" "$(key out "o['tracks']")" \
        "$(python3 -c "import csv; print([r['tracks'] for r in csv.DictReader(open('m.csv')) if r['algorithm'] == '$algorithm'][0])")"
done

# None are made if that is asked for, or enough are there.
for option in "--distinct 0" "--distinct 6"; do
    run bench velo a.mdf --what stages $option --repetitions 1 --time 1 -q
    want 0
    grep -q distinct out && fail "$option printed: $(cat out)"
done

# Lists of hits have no clusters to find.
cat >e.json <<'J'
{"module_prefix_sum": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,2,2,3,3,4,4,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5],
 "x": [2.5,5.0,7.5,10.0,12.5], "y": [1,2,3,4,5], "z": [25,50,75,100,125]}
J
run bench velo e.json --what stages --repetitions 1 --time 1 -q
want 0
want_silent
equal "one event, no clusters" "$(awk '/^1 events, 5 hits, 1 tracks/ { n++ } $1 == "default" && /us an event/ { print n, $5 }' out)" "1 0.00"
run bench velo e.json --what scaling --repetitions 1 --time 1 -q
want 0
grep -q "this needs three events" out || fail "it printed: $(cat out)"

# What each event takes of memory: at least its bytes, and what `sluice velo` finds in it.
run bench velo a.mdf --what memory -q
want 0
want_silent
cp out memory.txt
run velo a.mdf -q --json
equal "hits of each event" "$(awk '$1 ~ /^[0-9]+$/ { printf "%s, ", $3 }' memory.txt)" \
    "$(key out "''.join('%d, ' % n for n in o['clusters_per_event'])")"
equal "pages hold the event" "$(awk '$1 ~ /^[0-9]+$/ && $6 > $2 && $6 < 100000 && $2 > 0 { n++ } END { print n }' memory.txt)" 6
equal "the largest" "$(awk '$1 ~ /^[0-9]+$/ && $6 > m { m = $6 } $1 == "largest" { print (m == $3) }' memory.txt)" 1
run bench velo e.json --what memory -q
want 0
equal "an event of hits" "$(awk '$1 == 0 { print $2, $3, $4 }' out)" "0.0 5 1"

# Reading: files beside memory, for each number of workers.
run bench velo a.mdf --what reading --repetitions 1 --time 1 --threads 1,2 -q
want 0
want_silent
equal "a line for each" "$(awk '$1 ~ /^[12],?$/ && $NF > 0 && $(NF - 1) > 0 && $(NF - 2) > 0 { printf "%s;", $1 } /^one thread that only reads/ { print ($(NF - 3) > 0) }' out)" "1;1,;2;1"
run bench velo e.json --what reading --repetitions 1 -q
want 1
echo "sluice bench velo: e.json: reading is measured of raw events, not of hits" | want_err

wrong() { # LINE ARGS...
    local line=$1
    shift
    run bench velo a.mdf "$@"
    want 2
    want_no_out
    echo "sluice bench velo: $line; see sluice bench velo --help" | want_err
}
wrong "--what takes threads, targets, candidates, algorithms, stages, scaling, memory and reading with commas, not 'speed'" --what stages,speed
wrong "--candidates takes whole numbers from 1 to 10, as in 1,3, not '11'" --candidates 11
wrong "--threads takes whole numbers from 1 to 1024, as in 1,2, not '0'" --threads 0
wrong "--bind is none, core or numa, not 'here'" --bind here
wrong "--csv and --svg name the same file" --csv x --svg x
run bench velo - --what stages,scaling
want 2
want_no_out
echo "sluice bench velo: scaling beside others, and reading, read the inputs twice, which '-' cannot; see sluice bench velo --help" | want_err
failed() { # LINE ARGS...
    local line=$1
    shift
    run bench velo "$@" --repetitions 1 --time 1
    want 1
    want_no_out
    echo "sluice bench velo: $line" | want_err
}
failed "e.json: holds lists of hits, the inputs before it raw events: measure them apart" a.mdf e.json --what stages
failed "x.svg: what was measured makes no figure" a.mdf --what stages --svg x.svg
run bench velo nowhere.mdf
want 1
want_no_out
grep -q "^sluice bench velo: nowhere.mdf: " err || fail "it said: $(cat err)"
head -c 20000 a.mdf >cut.mdf
run bench velo cut.mdf --what stages
want 1
want_no_out
grep -q "^sluice bench velo: cut.mdf: byte " err || fail "it said: $(cat err)"
# Packets of events are measured as their records are: the same events, hits and tracks.
run convert -q a.mdf -o a.mep --packing 4
want 0
for file in a.mdf a.mep; do
    run bench velo -q $file --what stages,reading --threads 1 --repetitions 1 --time 1 --distinct 10
    want 0
    want_silent
    head -n 1 out >first.${file#a.}
done
same first.mep <first.mdf
want_no_file x.svg
passed
