#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The HTML report: well-formed, self-contained, and its picture of an event shows every hit, track and vertex of that event,
# each by its truth; small also for a very large event.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 6 41
make_events one.mdf 1 42

drawn() { # REPORT: what is drawn in it, into the file `drawn`
    python3 "$source/tests/cli/velo_report.py" "$1" >drawn || fail "$1: not as a report should be"
}

# One event with truth: the picture against the counts of the run.
run velo one.mdf --truth --json --report one.html
want 0
want_silent
drawn one.html
equal title "$(key drawn "o['title']")" "Event 0"
equal "hits, tracks, vertices" "$(key drawn "o['hits'], o['tracks'], o['vertices']")" \
    "$(key out "o['clusters'], o['tracks'], o['vertices']")"
equal ghosts "$(key drawn "o['legend']['trk ghost']")" "$(key out "o['truth']['ghosts']")"
equal "missed particles" "$(key drawn "o['legend']['trk lost']")" \
    "$(key out "(lambda c: c['reconstructible'] - c['found'])(o['truth']['categories']['velo_eta25'])")"
[ "$(key drawn "o['legend']['trk matched'] > 50 and o['legend']['hit found'] > 500")" = True ] || fail "little is drawn"
for title in "Efficiency" "Impact parameter" "Residuals of hits" "Vertices against simulation truth" "Time" "Spectra"; do
    [ "$(key drawn "'$title' in o['headings']")" = True ] || fail "no section '$title'"
done

# Of several inputs any event, counted over all of them, whatever the batch and the threads.
run velo a.mdf one.mdf --truth --json --report all.html
want 0
mv out all.json
drawn all.html
equal "the first event" "$(key drawn "o['title'], o['hits']")" "$(key all.json "'Event 0', o['clusters_per_event'][0]")"
for n in 0 3 5 6; do
    run velo a.mdf one.mdf --truth --report $n.html --display $n
    want 0
    want_silent
    drawn $n.html
    equal "event $n" "$(key drawn "o['title'], o['hits']")" "$(key all.json "'Event $n', o['clusters_per_event'][$n]")"
    run velo a.mdf one.mdf --truth --report again.html --display $n --batch 1 --threads 3
    want 0
    cp drawn wanted
    drawn again.html
    equal "event $n by threads" "$(key drawn "o['legend']")" "$(key wanted "o['legend']")"
done
equal "the last event by itself" "$(key drawn "o['projections']")" \
    "$(python3 "$source/tests/cli/velo_report.py" one.html >drawn && key drawn "o['projections']")"

# Without truth there are hits on tracks and others.
run velo a.mdf --report plain.html --display 2
want 0
drawn plain.html
equal "event without truth" "$(key drawn "o['hits'], sorted(o['legend'])")" \
    "$(key all.json "o['clusters_per_event'][2], ['hit found', 'hit other', 'trk matched']")"

# An event that is not there costs the picture, and is told.
run velo a.mdf --report short.html --display 6
want 1
echo "sluice velo: --display 6: there are 6 events; short.html has no picture of one" | want_err
drawn short.html
equal "a report without picture" "$(key drawn "o['title']")" None

# Events without vertices, then one with: that one is drawn; where none has any, the first. Lists of hits.
python3 - <<'PYTHON' || fail "cannot write events"
import json, random

def event(name, n_tracks, noise, seed):
    random.seed(seed)
    planes = [-287.5 + 25 * i for i in range(0, 4)] + [-12.5 + 25 * i for i in range(0, 12)]
    hits = []
    for _ in range(n_tracks):
        tx, ty = random.uniform(0.05, 0.2), random.uniform(-0.1, 0.1)
        hits += [(m, tx * z, ty * z, z) for m, z in enumerate(planes) if z > 60]
    for _ in range(noise):
        m = random.randrange(len(planes))
        hits.append((m, random.uniform(5, 45), random.uniform(-45, 45), planes[m]))
    hits.sort(key=lambda h: h[0])
    prefix = [sum(h[0] < m for h in hits) for m in range(53)] if len(hits) < 5000 else None
    if prefix is None:
        counts = [0] * 53
        for h in hits:
            counts[h[0] + 1] += 1
        prefix = [sum(counts[:m + 1]) for m in range(53)]
    json.dump({"module_prefix_sum": prefix, "x": [h[1] for h in hits], "y": [h[2] for h in hits],
               "z": [h[3] for h in hits]}, open(name, "w"))

event("velo_event_0.json", 0, 40, 1)
event("velo_event_1.json", 12, 10, 2)
event("velo_event_2.json", 1200, 12000, 3)
PYTHON
run velo velo_event_0.json velo_event_1.json --json --report lists.html
want 0
drawn lists.html
[ "$(key out "o['vertices'] > 0")" = True ] || fail "no vertex to be found"
equal "the first with a vertex" "$(key drawn "o['title'], o['hits']")" "$(key out "'Event 1', o['clusters_per_event'][1]")"
run velo velo_event_0.json --report none.html
want 0
drawn none.html
equal "no vertex" "$(key drawn "o['title'], o['hits'], o['vertices']")" "('Event 0', 40, 0)"

# 20 000 hits and thousands of tracks stay below two and a half megabytes.
run velo velo_event_2.json --json --max-layer-hits 4096 --report large.html
want 0
drawn large.html
equal "a large event" "$(key drawn "o['hits'], o['tracks']")" "$(key out "o['clusters'], o['tracks']")"
[ "$(key drawn "o['hits'] > 20000 and o['tracks'] > 500 and o['bytes'] < 2500000")" = True ] ||
    fail "the report of a large event: $(key drawn "o['hits'], o['tracks'], o['bytes']")"
passed
