#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a shifter looks at: pixels that are made hot are found, minutes and bunch crossings are those of ODIN, nothing
# depends on threads, batches or packets; and with the mask that follows from it the results are those of events
# from whose banks another program has taken the pixels.
. "$(dirname "$0")/common.sh" "$@"
tool=$source/tests/support/velo_mask.py
"$sluice" simulate velo --quiet --events 30 --vertices 1 --seed 51 -o plain.mdf || fail "cannot generate events"
python3 "$tool" odd plain.mdf odd.mdf || fail "cannot make pixels hot"
run velo odd.mdf -q --monitor m.json --monitor-pixels --json
want 0
want_silent
cp out run.json
equal "told" "$(key run.json "o['monitor']")" "{'file': 'm.json', 'minutes': 3, 'hot': 5, 'dead': 0, 'judged': 0}"
equal "hot pixels" "$(key m.json "[(p['sensor'], p['column'], p['row']) for p in o['hot']]")" \
    "[(10, 0, 0), (10, 255, 7), (63, 300, 128), (63, 301, 129), (207, 767, 255)]"
equal "their counts" "$(key m.json "{p['count'] for p in o['hot'] if p['count'] != 30}")" "set()"
equal "sums" "$(key m.json "sum(s['hits'] for s in o['sensors']), o['tracks'], o['vertices'], o['events'], o['pixel_events']")" \
    "$(key run.json "o['clusters'], o['tracks'], o['vertices'], o['events'], 30")"
equal "of each sensor" "$(key m.json "{(sum(s['chips']) == s['hits'], sum(s['sizes']) == s['hits'], sum(s['columns']) == s['hits']) for s in o['sensors']}")" "{(True, True, True)}"
equal "sizes" "$(key m.json "o['sizes'] == [sum(s['sizes'][k] for s in o['sensors']) for k in range(33)], o['sizes'][0]")" "(True, 0)"
equal "minutes" "$(key m.json "[(m['gps_minute'], m['events']) for m in o['minutes']]")" "[(1000000, 10), (1000001, 10), (1000002, 10)]"
equal "bunches" "$(key m.json "[(b['bcid'], b['events']) for b in o['bunches']]")" \
    "[(0, 5), (100, 5), (200, 4), (300, 4), (400, 4), (500, 4), (600, 4)]"
equal "sums over minutes and bunches" "$(key m.json "{(sum(r['tracks'] for r in o[k]), sum(r['vertices'] for r in o[k])) for k in ('minutes', 'bunches')} == {(o['tracks'], o['vertices'])}")" True
equal "where collisions are" "$(key m.json "all(abs(m['x_mm']) < 0.1 and abs(m['y_mm']) < 0.1 and 20 < m['z_rms_mm'] < 120 for m in o['minutes'] if m['vertices_used'] > 5)")" True
# Without pixels the same, but for those; the same from other batches, threads and packets.
run velo odd.mdf -q --monitor few.json
want 0
sed '/pixel_events/,$d' m.json | sed '$s/,$/}/' | same few.json
equal "what the run was of" "$(key m.json "o['run']")" \
    "{'sluice_version': '$("$sluice" version | sed -n '1s/^sluice //p')', 'inputs': ['odd.mdf'], 'geometry': 'ideal', 'beam': {'x_mm': 0.0, 'y_mm': 0.0, 'from': 'default'}}"
equal "nothing lost" "$(key m.json "o['lost_events'], o['incomplete_events'], o.get('partial')")" "(0, 0, None)"
grep -v '^  "run": ' m.json >m.rest
run convert odd.mdf -q -o odd.mep --packing 8
want 0
run velo odd.mdf -q --monitor b.json --monitor-pixels --threads 2 --batch 7
want 0
run velo odd.mep -q --monitor c.json --monitor-pixels --batch 3
want 0
cat odd.mdf | "$sluice" velo - -q --monitor d.json --monitor-pixels --beam auto >out || fail "no monitoring of a pipe"
for name in b c; do grep -v '^  "run": ' $name.json | diff - m.rest || fail "$name.json differs"; compared=$((compared + 1)); done
equal "with the beam found first" "$(key d.json "o['events'], o['pixel_events'], sum(s['hits'] for s in o['sensors'])")" \
    "$(key m.json "o['events'], o['pixel_events'], sum(s['hits'] for s in o['sensors'])")"

# The report draws the same.
run velo odd.mdf -q --report r.html --monitor-pixels
want 0
want_silent
python3 "$source/tests/cli/velo_report.py" r.html >drawn || fail "the report is not as one should be"
equal "sections" "$(key drawn "[h for h in o['headings'] if h in ('Detector', 'Where collisions are', 'Hot and dead pixels')]")" \
    "['Detector', 'Where collisions are', 'Hot and dead pixels']"
for figure in "Clusters by sensor" "Mean size of clusters by sensor" "Clusters by sensor and column" "Beam, x" "Beam, y" \
    "Luminous region, z" "Luminous region, length" "Vertices in a crossing" "Tracks by bunch crossing" "Vertices by bunch crossing"; do
    equal "figures '$figure'" "$(grep -c "<figcaption>$figure<small>" r.html)" 1
done
equal "hot pixels in the report" "$(grep -c '^<tr><td>\(10\|63\|207\)</td><td>[0-9]*</td><td>[0-9]*</td><td>30</td><td>1</td>' r.html)" 5
equal "minutes in the report" "$(grep -c '^<tr><td>100000[012]</td><td>10</td>' r.html)" 3
run velo plain.mdf -q --report r.html
want 0
equal "nothing of pixels that nobody counted" "$(grep -c 'Hot and dead\|Beam, x' r.html)" 0

# The mask, as it was written and as text.
printf '# hot\n10 0 0\n10 255 7\n63,300,128\n63 301 129\n207 767 255\n' >mask.txt
sed 's/,/ /g' mask.txt >plain.txt
python3 "$tool" without odd.mdf plain.txt without.mdf || fail "cannot take pixels away"
run velo without.mdf -q --json -o without.h5
want 0
cp out wanted.json
for mask in m.json mask.txt; do
    run velo odd.mdf -q --mask $mask --json --threads 2 --batch 4
    want 0
    want_silent
    equal "left out by $mask" "$(key out "o['mask']")" "{'file': '$mask', 'pixels': 5, 'left_out': 150}"
    for of in checksum pixels super_pixels clusters tracks vertices clusters_per_event faults; do
        equal "$of with $mask" "$(key out "o['$of']")" "$(key wanted.json "o['$of']")"
    done
done
equal "the mask matters" "$(key wanted.json "o['checksum'] != '$(key run.json "o['checksum']")'")" True
run velo odd.mep -q --mask m.json --json
want 0
equal "from packets" "$(key out "o['checksum']")" "$(key wanted.json "o['checksum']")"
run velo odd.mdf -q --mask m.json --monitor masked.json --monitor-pixels
want 0
equal "no pixel is hot any longer" "$(key masked.json "o['hot']")" "[]"
grep -q '^masked  *150 pixels left out, of 5 in m.json$' out || fail "the mask is not told"
# Of many pixels, those of every third word.
python3 "$tool" some odd.mdf 3 many.txt || fail "no mask"
python3 "$tool" without odd.mdf many.txt few.mdf || fail "cannot take pixels away"
run velo few.mdf -q --json
want 0
cp out few.json
run velo odd.mdf -q --mask many.txt --json
want 0
equal "a third left out" "$(key out "o['checksum'], o['pixels'], o['super_pixels'], o['tracks']")" \
    "$(key few.json "o['checksum'], o['pixels'], o['super_pixels'], o['tracks']")"
equal "pixels left out" "$(key out "o['mask']['left_out']")" "$(($(key run.json "o['pixels']") - $(key few.json "o['pixels']")))"

# Events that were cut, or not searched, are in no mean: what is left is what a run of the others alone has.
cuts() { # NAME OPTIONS...
    run velo odd.mdf --json --monitor "$@"
    want 0
    python3 - "$1" out <<'PY' || fail "$*: events of the monitor are not those of the run"
import json, sys
m, o = (json.load(open(n)) for n in sys.argv[1:])
cut, crowded = o.get("gec", {}).get("cut_events", 0) + o.get("cut_events", 0), o["faults"].get("event_crowded", 0)
assert (m["events"], m["cut_events"], m["crowded_events"]) == (30, cut, crowded), (m["cut_events"], cut, m["crowded_events"], crowded)
assert 3 < cut + crowded < 27 and m["searched_events"] == 30 - cut - crowded
for rows, n in (m["minutes"], 3), (m["bunches"], 7):
    assert len(rows) == n
    for k in "events", "searched_events", "cut_events", "crowded_events", "tracks", "vertices":
        assert sum(r[k] for r in rows) == m[k], k
    for r in rows:
        assert r["events"] == r["searched_events"] + r["cut_events"] + r["crowded_events"]
        assert r["searched_events"] > 0 or r["tracks"] == r["vertices"] == 0, r
print(m["events_with_pixels"] == 30 - o.get("gec", {}).get("cut_events", 0))
PY
}
equal "pixels of those that the global event cut left" "$(cuts gec.json --gec-velo 700)" True
equal "pixels of large events" "$(cuts large.json --max-event-hits 200)" True
equal "pixels of crowded events" "$(cuts crowded.json --max-layer-hits 30)" True
run velo odd.mdf -q --gec-velo 700 --report r.html
want 0
grep -q 'mean of the events of a minute that were searched' r.html || fail "the report does not say what it divides by"

# What was lost, and what was left out, is in every result.
head -c $(($(stat -c %s odd.mdf) - 100)) odd.mdf >short.mdf
run velo short.mdf -q --mask mask.txt --monitor lost.json --residuals residuals.json -o lost.h5
want 1
for name in lost.json residuals.json; do
    equal "of $name" "$(key $name "o['events'], o['lost_events'], o['incomplete_events'], o['run']['mask'], o['run']['inputs']")" \
        "(29, 1, 0, {'file': 'mask.txt', 'pixels': 5, 'left_out': 145}, ['short.mdf'])"
done
equal "mask" "$(h5dump -w 0 -a /mask -a /mask_pixels -a /mask_left_out lost.h5 | sed -n 's/^ *(0): //p' | tr '\n' ' ')" '"mask.txt" 5 145 '
for part in 0 1; do
    run velo odd.mdf -q --mask mask.txt -o part$part.h5 --part $part/2
    want 0
done
run join part0.h5 part1.h5 -o joined.h5
want 0
equal "pixels of both parts" "$(h5dump -w 0 -a /mask_left_out joined.h5 | sed -n 's/^ *(0): //p')" 150
mkfifo pipe
"$sluice" velo pipe -q --monitor partial.json --residuals partial-r.json >out 2>err &
pid=$!
exec 9>pipe
cat odd.mdf >&9
sleep 0.5
kill -TERM $pid
wait $pid
status=$?
exec 9>&-
last="an interrupted run"
want 1
equal "an interrupted run" "$(key partial.json "o['partial'], o['events'] > 20, o['lost_events']") $(key partial-r.json "o['partial']")" "(True, True, 0) True"

# What is wrong is told before an event is read.
printf '1 2 3\n4 5\n' >bad.txt
run velo odd.mdf --mask bad.txt --monitor x.json
want 1
want_no_out
echo "sluice velo: bad.txt: line 2: sensor, column and row are needed, each must be a whole number" | want_err
run velo odd.mdf --mask few.json
want 1
grep -q '^sluice velo: few.json: line 1, column 1: there is no list of pixels' err || fail "it said: $(cat err)"
run velo odd.mdf --monitor-pixels
want 2
run velo odd.mdf --monitor nowhere/x.json
want 1
echo "sluice velo: nowhere/x.json: cannot create: No such file or directory" | want_err
ln -s odd.mdf odd.json
run velo odd.mdf --monitor odd.json
want 2
grep -q "would overwrite the input odd.mdf" err || fail "the input as an output: $(cat err)"
run velo odd.mdf --monitor m.csv
want 2
echo "sluice velo: --monitor takes a name that ends with .json or has no ending, not 'm.csv'; see sluice velo --help" | want_err
head -c 100 odd.mdf >cut.mdf
run velo cut.mdf -q --monitor x.json
want 1
want_no_file x.json x.json*

passed
