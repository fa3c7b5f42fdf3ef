#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LHCb's ten events through `sluice hlt1`: counts of LHCb's own decoders, efficiencies no worse than those of its Allen, one checksum for
# threads and batches, results in a file; damage, wrong folders, wrong inputs.
. "$(dirname "$0")/common.sh" "$@"
need_data lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf
folder=$data/lhcb_hlt1
ten=$folder/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf

run hlt1 "$ten" --geometry "$folder" --truth --json -q -o one.h5
want 0
want_silent
cp out one.json
equal "UT hits" "$(key out "o['ut_hits']")" "[2108, 780, 835, 969, 1170, 433, 1707, 1132, 1803, 1931]"
equal "SciFi clusters" "$(key out "o['scifi_clusters']")" "[7187, 2442, 2726, 3344, 4078, 2423, 4706, 4465, 5270, 5787]"
equal "muon hits" "$(key out "o['muon_hits']")" "[548, 48, 210, 303, 236, 85, 261, 153, 299, 378]"
equal "UT ids of the truth" "$(key out "o['truth']['ut_ids_found'], o['truth']['ut_ids']")" "(12440, 12440)"
equal "SciFi ids of the truth" "$(key out "o['truth']['scifi_ids_found'], o['truth']['scifi_ids']")" "(40253, 40253)"
# Allen on the same events: 51.7, 71.1, 51.6, 63.9, 88.6 %, ghosts 4.1 and 3.6 % (trigger).
cat >numbers.py <<'PYTHON'
import json
for name, low, ghosts in (("one.json", dict(velo_ut=52, velo_ut_p5=71.5, long=53, long_p5=66, long_p5_pt1=90), (.05, .035)),
                          ("loose.json", dict(velo_ut=65, velo_ut_p5=85, long=68, long_p5=80, long_p5_pt1=92), (.06, .035)),
                          ("full.json", dict(long=73, long_p5=87, long_p5_pt1=94.5), (.07, .05))):
    truth = json.load(open(name))["truth"]
    n = dict(velo_ut=957, velo_ut_p5=501, long=634, long_p5=416, long_p5_pt1=88)
    for k, least in low.items():
        c = truth["categories"][k + "_eta25"]
        assert c["reconstructible"] == n[k], (name, k, c)
        assert 100 * c["efficiency"] >= least, (name, k, c)
    assert truth["ghost_rate"] <= ghosts[0] and truth["trigger_ghost_rate"] <= ghosts[1], (name, truth["ghost_rate"], truth["trigger_ghost_rate"])
    assert 0 < truth["momentum"]["sigma68"] < .006 and abs(truth["momentum"]["median"]) < .001, (name, truth["momentum"])
PYTHON
for how in "--threads 2 --batch 3" "--threads 2 --batch 1" "--threads 1 --batch 10"; do
    run hlt1 "$ten" --geometry "$folder" --truth --json -q $how
    want 0
    equal "checksum, $how" "$(key out "o['checksum']")" "$(key one.json "o['checksum']")"
    equal "truth, $how" "$(key out "o['truth']['categories']")" "$(key one.json "o['truth']['categories']")"
done
run hlt1 "$ten" --geometry "$folder" --truth --json -q --settings loose
want 0
cp out loose.json
run hlt1 "$ten" --geometry "$folder" --truth --json -q --settings full
want 0
cp out full.json
run hlt1 "$ten" --geometry "$folder" --json -q --settings full --threads 2 --batch 3
equal "checksum, full" "$(key out "o['checksum']")" "$(key full.json "o['checksum']")"
python3 numbers.py || fail "efficiencies"
equal "rows in the file" "$(h5dump -H -d /long_tracks/q_over_p one.h5 | grep -o 'SIMPLE { ( [0-9]*' | grep -o '[0-9]*')" "$(key one.json "sum(o['long_tracks'])")"

# Lines: as Allen decides on these events; the fit's momentum; what is wrong with a file of lines.
run hlt1 "$ten" --geometry "$folder" --truth --json -q --lines "$source/docs/examples/hlt1-lines.json" -o lines.h5 --report r.html --display 3
want 0
equal "decisions" "$(key out "[(l['name'], l['accepted']) for l in o['selection']['lines'][:5]]")" "[('TrackMVA', 0), ('TwoTrackMVA', 1), ('TrackMuonMVA', 0), ('SingleHighPtMuon', 0), ('LowPtMuon', 1)]"
equal "momentum" "$(key out "o['truth']['momentum']['sigma68'] < .006, abs(o['truth']['momentum']['median']) < .001")" "(True, True)"
equal "bias in ranges" "$(key out "max(abs(r['median']) for r in o['truth']['momentum']['ranges'][:4]) < .001")" "True"
equal "rows of decisions" "$(h5dump -H -d /decisions/lines lines.h5 | grep -o 'SIMPLE { ( [0-9]*' | grep -o '[0-9]*')" "10"
equal "pairs" "$(key out "sum(o['secondaries']) > 50")" "True"
cp out lines.json
run hlt1 "$ten" --geometry "$folder" --json -q --threads 2 --batch 3 --lines "$source/docs/examples/hlt1-lines.json"
equal "checksum of decisions" "$(key out "o['checksum']")" "$(key lines.json "o['checksum']")"

# Which event is which, in the JSON and in the file; and the records of those that a line accepts, as they are in the input, from a file,
# from a pipe and with other events lost, when `record` tells them apart.
equal "run and events" "$(key lines.json "set(o['identity']['run']), o['identity']['event'], o['identity']['events_from']['odin']")" "({6718861}, $(seq -s ', ' 6001 6010 | sed 's/.*/[&]/'), 10)"
equal "events in the file" "$(h5dump -d /events/event lines.h5 | grep -o '60[01][0-9]' | sort -u | wc -l)" 10
h5dump -A lines.h5 | grep -A30 'ATTRIBUTE "lines"' | grep -q '"TrackMVA", "TwoTrackMVA"' || fail "the file does not name the lines"
records() { # JSON, decisions' file, input: the bytes of the accepted records
    python3 - "$@" <<'PYTHON'
import json, re, subprocess, sys
identity = json.load(open(sys.argv[1]))["identity"]
text = subprocess.run(["h5dump", "-d", "/decisions/lines", "-y", "-w", "0", sys.argv[2]], capture_output=True, text=True, check=True).stdout
lines = [int(n) for n in re.search(r"DATA \{\s*([0-9, ]+)", text).group(1).split(",")]
data = open(sys.argv[3], "rb").read()
for line, at, size in zip(lines, identity["offset_bytes"], identity["bytes"], strict=True):
    if line:
        sys.stdout.buffer.write(data[at:at + int.from_bytes(data[at:at + 4], "little")])
PYTHON
}
records lines.json lines.h5 "$ten" >wanted.mdf
for how in "--threads 1" "--threads 2 --batch 3"; do
    run hlt1 "$ten" --geometry "$folder" --json -q $how --lines "$source/docs/examples/hlt1-lines.json" --write-accepted accepted.mdf
    want 0
    cmp wanted.mdf accepted.mdf || fail "accepted events, $how"
    equal "accepted, $how" "$(key out "o['selection']['written'], o['selection']['accepted']")" "(3, 3)"
done
"$sluice" hlt1 - --geometry "$folder" -q --lines "$source/docs/examples/hlt1-lines.json" --write-accepted piped.mdf <"$ten" >/dev/null || fail "a pipe"
cmp wanted.mdf piped.mdf || fail "accepted events of a pipe"
# With a bank of its decision each: the other bytes are the same, and an independent reader finds what runs find, event by event.
reader=$source/tests/support/decision_bank.py
for how in "--threads 1" "--threads 2 --batch 3"; do
    run hlt1 "$ten" --geometry "$folder" --json -q $how --lines "$source/docs/examples/hlt1-lines.json" --write-accepted banks.mdf --decision-bank
    want 0
    want_silent
    equal "it says so" "$(key out "o['selection']['decision_bank']")" True
    python3 "$reader" without banks.mdf undone || fail "banks.mdf cannot be read"
    cmp undone wanted.mdf || fail "accepted events without their banks, $how"
done
python3 "$reader" show banks.mdf >said.json || fail "banks.mdf cannot be read"
python3 - banks.mdf "$sluice" "$folder" "$source/docs/examples/hlt1-lines.json" "$(python3 "$reader" names "$source/docs/examples/hlt1-lines.json")" <<'PYTHON' || fail "the banks do not say what runs find"
import json, struct, subprocess, sys
data, at, said = open(sys.argv[1], "rb").read(), 0, json.load(open("said.json"))
assert len(said) == 3
for (bank,) in said:
    size, = struct.unpack_from("<I", data, at)
    open("one.mdf", "wb").write(data[at:at + size])
    at += size
    one = json.loads(subprocess.run([sys.argv[2], "hlt1", "one.mdf", "--geometry", sys.argv[3], "--lines", sys.argv[4], "-q", "--json"],
                                    capture_output=True, check=True).stdout)
    lines = one["selection"]["lines"]
    assert bank["names"] == int(sys.argv[5], 16) and bank["n_lines"] == len(lines) and bank["source"] == 0, bank
    assert bank["lines"] == sum(l["accepted"] << k for k, l in enumerate(lines)) > 0, bank
    assert int(one["checksum"], 16) == bank["checksum"], (bank, one["checksum"])
    assert [bank[k] for k in ("hits", "tracks", "primaries")] == [one["totals"][k] for k in ("clusters", "tracks", "vertices")], bank
assert at == len(data)
PYTHON
run info --json banks.mdf
equal "by info" "$(key out "o['files'][0]['decisions']['selections'][0]['accepted'][:5], o['files'][0]['decisions']['banks']")" "([0, 1, 0, 0, 1], 3)"
run hlt1 "$ten" --geometry "$folder" -q --lines "$source/docs/examples/hlt1-lines.json" --decision-bank
want 2
run hlt1 accepted.mdf --geometry "$folder" --json -q --lines "$source/docs/examples/hlt1-lines.json"
want 0
equal "accepted again" "$(key out "o['events'], o['selection']['accepted'], o['identity']['record']")" "(3, 3, [0, 1, 2])"
{ head -c 400000 "$ten"; printf '\1'; tail -c +400002 "$ten"; } >lost.mdf # within the second record, which its checksum then gives away
run hlt1 lost.mdf --geometry "$folder" --json -q --lines "$source/docs/examples/hlt1-lines.json" -o lost.h5 --write-accepted accepted.mdf
want 1
equal "who is left" "$(key out "o['lost_events'], o['identity']['event'], o['identity']['record'][:3]")" "(1, [6001, $(seq -s ', ' 6003 6010)], [0, 2, 3])"
cp out lost.json
records lost.json lost.h5 lost.mdf | cmp - accepted.mdf || fail "accepted events after a lost one"
run hlt1 "$ten" --geometry "$folder" -q --write-accepted a.mdf
want 2
run hlt1 "$ten" --geometry "$folder" -q --lines "$source/docs/examples/hlt1-lines.json" --write-accepted a.mep
want 2

# Parts of one input, joined, are the whole run.
for k in 0 1 2; do
    run hlt1 "$ten" --geometry "$folder" --json -q --lines "$source/docs/examples/hlt1-lines.json" --part $k/3 -o "part-%p.h5" --write-accepted "part-%p.mdf"
    want 0
    [ "$(key out "o['events']")" -gt 0 ] || fail "part $k has no event"
done
run join part-0.h5 part-1.h5 part-2.h5 -o joined.h5
want 0
for set in events/event events/offset_bytes decisions/lines long_tracks/q_over_p secondaries/mass_mev; do
    h5diff joined.h5 lines.h5 "/$set" || fail "$set of joined parts"
done
cat part-0.mdf part-1.mdf part-2.mdf | cmp - wanted.mdf || fail "accepted events of parts"

# The report has the run's numbers, and its picture every long track of the event and a dot for each hit of upright layers.
python3 "$source/tests/cli/hlt1_report.py" r.html >drawn || fail "r.html: not as a report should be"
for title in "Event 3" "Lines" "Tracks against simulation truth" "Momentum of long tracks" "Muons" "Time" "Faults in the data"; do
    [ "$(key drawn "'$title' in o['headings']")" = True ] || fail "no section '$title'"
done
equal "tracks drawn" "$(key drawn "sum(o['tracks'].values()), o['numbers'][0]")" "$(key lines.json "o['long_tracks'][3], o['long_tracks'][3]")"
equal "dots drawn" "$(key drawn "o['dots'] == o['numbers'][1]")" True
[ "$(key drawn "o['dots']")" -gt "$(key lines.json "o['clusters'][3] + o['muon_hits'][3] + o['scifi_clusters'][3] // 3")" ] || fail "few dots"
equal "ghosts drawn" "$(key drawn "o['tracks'].get('trk ghost', 0) == sum('ghost' in t for t in o['titles'])")" True
equal "momenta told" "$(key drawn "all(' GeV, charge ' in t for t in o['titles'])")" True
equal "of the lines" "$(key drawn "[r[1] for r in o['rows'] if r[0] in ('TwoTrackMVA', 'any')]")" \
    "$(key lines.json "[str(l['accepted']) for l in o['selection']['lines'] if l['name'] == 'TwoTrackMVA'] + [str(o['selection']['accepted'])]")"
run hlt1 "$ten" --geometry "$folder" -q --report plain.html --display 10
want 1
echo "sluice hlt1: --display 10: there are 10 events; plain.html has no picture of one" | want_err
run hlt1 "$ten" --geometry "$folder" -q --display 1
want 2
run hlt1 "$ten" --geometry "$folder" -q --report nowhere/r.html
want 1
grep -q "nowhere/r.html" err || fail "where nothing can be written was not told: $(cat err)"
echo '{"lines": [{"name": "a", "tracks": {"pt": [1, 2]}}]}' >wrong.json
run hlt1 "$ten" --geometry "$folder" -q --lines wrong.json
want 1
grep -q "wrong.json: line 1, column 37: unknown quantity 'pt'" err || fail "what is wrong was not told: $(cat err)"

# A bank of the UT with a count beyond its end, and one of the SciFi of an unknown version: they alone are lost.
python3 - "$ten" <<'PYTHON' || fail "no damage made"
import struct, sys
data, done = bytearray(open(sys.argv[1], "rb").read()), set()
size, = struct.unpack_from("<I", data, 0)
p = 48
while p < size and len(done) < 2:
    magic, length, kind, version = struct.unpack_from("<HHBB", data, p)
    if kind == 66 and kind not in done and length > 40:
        struct.pack_into("<H", data, p + 8, 60000); done.add(kind)
    if kind == 64 and kind not in done and length > 40:
        data[p + 5] = 99; done.add(kind)
    p += (length + 3) // 4 * 4
open("damaged.mdf", "wb").write(data)
PYTHON
run hlt1 damaged.mdf --geometry "$folder" --json -q --no-checksum
want 0
equal "damage" "$(key out "o['faults']")" "{'bank_version': 1, 'bank_length': 1}"
equal "whose faults" "$(key out "o['identity']['faults']")" "[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]"
equal "other events" "$(key out "o['ut_hits'][1:] + o['scifi_clusters'][1:]")" "$(key one.json "o['ut_hits'][1:] + o['scifi_clusters'][1:]")"
equal "what is left" "$(key out "2000 < o['ut_hits'][0] < 2108 and 7000 < o['scifi_clusters'][0] < 7187")" True
grep -q "bank" err || fail "the damage was not told: $(cat err)"
run hlt1 damaged.mdf --geometry "$folder" --json -q --no-checksum --strict
want 1

# The first place that is told is the first, whichever detector's and whatever the batch: a bank of the UT in event 1, one of the VELO in event 4.
python3 - "$ten" <<'PYTHON' || fail "no damage made"
import struct, sys
data, at, e = bytearray(open(sys.argv[1], "rb").read()), 0, 0
while at < len(data):
    size, = struct.unpack_from("<I", data, at)
    p, kind = at + 48, {1: 66, 4: 63}.get(e)
    while p < at + size:
        _, length, there = struct.unpack_from("<HHB", data, p)
        if there == kind and length > 40:
            struct.pack_into("<I", data, p + 8, 60000); kind = None
        p += (length + 3) // 4 * 4
    at += size; e += 1
open("two.mdf", "wb").write(data)
PYTHON
for how in "--batch 1" "--batch 10" "--batch 3 --threads 2"; do
    run hlt1 two.mdf --geometry "$folder" --json -q --no-checksum $how
    want 0
    grep -q "two.mdf: 2 × bank_length (.*), first at event 1, source" err || fail "first place with $how: $(cat err)"
done

# So under --strict.
for how in "--batch 1" "--batch 10" "--batch 3 --threads 2"; do
    run hlt1 two.mdf --geometry "$folder" -q --no-checksum --strict $how
    want 1
    grep -q "^sluice hlt1: two.mdf: event 1, source .*: bank_length" err || fail "--strict with $how: $(cat err)"
done

# An event without super-pixels has the read-out's clusters for hits, if there are some: counted, and told.
python3 - "$ten" <<'PYTHON' || fail "no event changed"
import struct, sys
data, at = bytearray(open(sys.argv[1], "rb").read()), 0
out = bytearray()
for e in range(10):
    size, = struct.unpack_from("<I", data, at)
    p = at + 48
    while p < at + size:
        _, length, kind = struct.unpack_from("<HHB", data, p)
        if e == 2 and kind == 63:
            data[p + 4] = 73; data[p + 5] = 2
        p += (length + 3) // 4 * 4
    at += size
open("retina.mdf", "wb").write(data)
PYTHON
run hlt1 retina.mdf --geometry "$folder" --json -q --no-checksum --threads 2 --batch 3
want 0
equal "events of the read-out's clusters" "$(key out "o['retina_events'], o['clusters'][2] > 0")" "(1, True)"
grep -q "retina.mdf: 1 of 10 events have no super-pixels: their hits of the VELO are the clusters of the read-out (bank 73)" err ||
    fail "the read-out's clusters were not told: $(cat err)"
equal "and without them" "$(key one.json "o['retina_events']")" 0

# An event of several bunch crossings is lost.
python3 - "$ten" <<'PYTHON' || fail "no event of several crossings made"
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<I", data)
data[at + 48 + 4] = 48 # the type of the second event's first bank
open("crossings.mdf", "wb").write(data)
PYTHON
run hlt1 crossings.mdf --geometry "$folder" --json -q --no-checksum
equal "crossings" "$(key out "o['events'], o['lost_events'], o['faults'], o['clusters'][1], o['ut_hits'][1], o['long_tracks'][1]")" \
    "(10, 1, {'event_crossings': 1}, 0, 0, 0)"
grep -q "crossings.mdf: 1 × event_crossings" err || fail "crossings: $(cat err)"

# All events left out by the cut: a result, and not an end without a word.
run hlt1 "$ten" --geometry "$folder" --json -q --gec-ut-scifi 1 -o none.h5
want 0
want_silent
equal "all cut" "$(key out "o['events'], o['cut_events'], sum(o['long_tracks'])")" "(10, 10, 0)"
[ -s none.h5 ] || fail "no file of a run whose events were cut"
run hlt1 "$ten" --geometry "$folder" -q -o tracks.csv
want 2
grep -q "^sluice hlt1: -o writes HDF5 or Arrow, not CSV; see" err || fail "CSV: $(cat err)"

# An event without the banks of a detector: a fault, and nothing else of the others.
python3 - "$ten" <<'PYTHON' || fail "no events without banks made"
import struct, sys
data = open(sys.argv[1], "rb").read()
def without(name, kinds, events):
    out, at, e = bytearray(), 0, 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        record, p = bytearray(data[at:at + 48]), at + 48
        while p < at + size:
            _, length, kind = struct.unpack_from("<HHB", data, p)
            whole = (length + 3) // 4 * 4
            record += b"" if kind in kinds and e in events else data[p:p + whole]
            p += whole
        struct.pack_into("<4I", record, 0, len(record), len(record), len(record), 0)
        out += record; at += size; e += 1
    open(name, "wb").write(out)
without("absent.mdf", {64: 0}, {3, 7})
without("more.mdf", {13: 0, 66: 0}, {5})
without("no-ut.mdf", {66: 0}, set(range(10)))
PYTHON
for how in "--threads 1" "--threads 2 --batch 3"; do
    run hlt1 absent.mdf more.mdf --geometry "$folder" --json -q --no-checksum $how
    want 0
    equal "absent, $how" "$(key out "sorted(o['faults'].items())")" "[('event_no_muon', 1), ('event_no_scifi', 2), ('event_no_ut', 1)]"
    equal "hits, $how" "$(key out "[n for n, k in enumerate(o['scifi_clusters']) if k == 0], [n for n, k in enumerate(o['ut_hits']) if k == 0]")" "([3, 7], [15])"
    printf 'sluice hlt1: %s\n' "absent.mdf: 2 × event_no_scifi (no bank of the SciFi in the event), first at event 3" \
        "more.mdf: 1 × event_no_ut (no bank of the UT in the event), first at event 5" \
        "more.mdf: 1 × event_no_muon (no bank of the muon stations in the event), first at event 5" | want_err
done
run hlt1 "$ten" no-ut.mdf --geometry "$folder" --json -q --no-checksum --gec-ut-scifi 4200 # leaves out seven of the first, five of the other
want 1
grep -q "no-ut.mdf: none of its 10 events has a hit of the UT" err || fail "a missing detector behind cut events was not told: $(cat err)"

# Nobody looks for the particles of events that are left out.
run hlt1 "$ten" --geometry "$folder" --truth --json -q --gec-ut-scifi 4200
want 0
equal "compared" "$(key out "o['cut_events'], o['truth']['events'], 0 < o['truth']['ut_ids'] == o['truth']['ut_ids_found'], o['truth']['categories']['long']['efficiency'] > 0.4")" "(7, 3, True, True)"

# Truth of another numbering of the UT's strips is told with its figures, and figures of no truth at all are none.
old=$data/lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf
if [ -e "$old" ]; then
    run hlt1 "$old" --geometry "$folder" --truth -q
    want 0
    grep -q "^other ids .* 0 of 12440 hits of particles in the UT and 40253 of 40253 in the SciFi" out || fail "other ids: $(cat out)"
    bare=$data/lhcb/upgrade_mc_minbias_scifi_v5.mdf
    run hlt1 "$bare" --geometry "$folder" --truth -q
    want 1
    echo "sluice hlt1: $bare: no event has truth to compare with" | want_err
    ! grep -qE "^(truth|momentum|long_)" out || fail "figures of no truth: $(cat out)"
    run hlt1 "$bare" --geometry "$folder" --truth --json -q
    # A number of nothing is none: of every one that is made of counts, all are 0 and it is null.
    equal "numbers of none" "$(key out "sorted({type(v).__name__ + str(v) for part in [o['truth'], o['truth']['momentum'], *o['truth']['momentum']['ranges'], *o['truth']['categories'].values(), *o['truth']['is_muon'].values()] for k, v in part.items() if k not in ('p_low_gev', 'upstream_tracks', 'categories', 'momentum', 'ranges', 'is_muon') or v is None})")" "['NoneTypeNone', 'int0']"
    equal "and those" "$(key out "[o['truth']['is_muon']['muons'][k] for k in ('tracks', 'is_muon', 'fraction', 'fraction_chi2_below_6')]")" "[0, 0, None, None]"
fi
run hlt1 "$ten" --geometry "$folder" --truth -q
grep -q "^long_p5_pt1_eta25 " out || fail "no efficiencies: $(cat out)"
! grep -q "^other ids" out || fail "other ids: $(cat out)"

# A folder without what may be absent: told, as there are no muons, or no fits; lines that need them are refused.
mkdir less
cp -r "$folder"/*.bin "$folder"/forward_params.txt "$folder"/two_track_mva_model.json "$folder"/kalman_FT6x2 less
chmod -R u+w less
mv less/muon_field_of_interest.bin foi
equal "all done" "$(key one.json "o['not_done']")" "{}"
run hlt1 "$ten" --geometry less --json -q --truth
want 0
echo "sluice hlt1: less has no muon_field_of_interest.bin: no track is found to be a muon" | want_err
equal "muons not looked for" "$(key out "o['not_done'], o['truth']['is_muon']")" \
    "({'muons': 'no muon_field_of_interest.bin: no track is found to be a muon'}, None)"
run hlt1 "$ten" --geometry less -q --truth
! grep "^isMuon" out || fail "numbers of muons that nobody looked for"
mv less/two_track_mva_model.json network
run hlt1 "$ten" --geometry less --json -q
want 0
equal "not done" "$(key out "sorted(o['not_done'])")" "['muons', 'network']"
grep -q "^sluice hlt1: less has no two_track_mva_model.json: no pair has an answer of its network$" err || fail "no network: $(cat err)"
run hlt1 "$ten" --geometry less --json -q --network network
equal "with a network" "$(key out "sorted(o['not_done'])")" "['muons']"
mv network less/two_track_mva_model.json
for word in '"tracks": {"is_muon": [0, 0]}' '"pairs": {"muons": {"min": 1}}' '"pairs": {"dimuon": [1, 1]}'; do
    echo "{\"lines\": [{\"name\": \"a\", $word}]}" >muons.json
    run hlt1 "$ten" --geometry less -q --lines muons.json
    want 2
    grep -q "muons.json: a line cuts on muons, and less has no muon_field_of_interest.bin" err || fail "muons without windows: $(cat err)"
done
mv foi less/muon_field_of_interest.bin
rm -r less/kalman_FT6x2
run hlt1 "$ten" --geometry less --json -q
want 0
echo "sluice hlt1: less has no kalman_FT6x2: no track is fitted, and there are no particles and no pairs" | want_err
equal "fit not done" "$(key out "o['not_done'], o['totals']['secondaries']")" \
    "({'fit': 'no kalman_FT6x2: no track is fitted, and there are no particles and no pairs'}, 0)"

# A field the other way round: the same tracks with the opposite charges (python/tests/test_hlt1.py compares them to the bit), and of
# particles that were generated in such a field the right ones.
mkdir other
cp -r "$folder"/*.bin "$folder"/forward_params.txt "$folder"/two_track_mva_model.json "$folder"/kalman_FT6x2 other
chmod -R u+w other
printf '\0\0\200\77' >other/polarity.bin # 1, and not -1
for how in one full; do
    run hlt1 "$ten" --geometry other --json -q --truth --settings $([ $how = one ] && echo standard || echo $how)
    want 0
    want_silent
    equal "magnet up, $how" "$(key out "o['totals'], o['truth']['categories'], o['truth']['momentum']['sigma68']")" "$(key $how.json "o['totals'], o['truth']['categories'], o['truth']['momentum']['sigma68']")"
    equal "charges, $how" "$(key out "o['truth']['momentum']['n'] - o['truth']['momentum']['wrong_charges']")" "$(key $how.json "o['truth']['momentum']['wrong_charges']")"
done
run simulate hlt1 --geometry other --events 10 --seed 3 -q -o up.mdf
want 0
run hlt1 up.mdf --geometry other --json -q --truth
want 0
equal "generated with the magnet up" "$(key out "o['truth']['momentum']['n'] > 200, o['truth']['momentum']['wrong_charges'], o['truth']['categories']['long_p5_eta25']['efficiency'] > 0.65")" "(True, 0, True)"

# Hits of a SciFi's station that are missing, and a beam line of other data: told at the end of each input, once, and only then.
equal "no doubts" "$(key one.json "o['doubts']") $(key full.json "o['doubts']") $(key loose.json "o['doubts']")" "[] [] []"
python3 - "$ten" <<'PYTHON' || fail "no station left out"
import struct, sys
data, out, at = open(sys.argv[1], "rb").read(), bytearray(), 0
while at < len(data):
    size, = struct.unpack_from("<I", data, at)
    record, p = bytearray(data[at:at + 48]), at + 48
    while p < at + size:
        _, length, kind, _, source = struct.unpack_from("<HHBBh", data, p)
        whole = (length + 3) // 4 * 4
        record += b"" if kind == 64 and source < 80 else data[p:p + whole]
        p += whole
    struct.pack_into("<4I", record, 0, len(record), len(record), len(record), 0)
    out += record; at += size
open("station.mdf", "wb").write(out)
PYTHON
for how in standard full; do
    run hlt1 station.mdf "$ten" --geometry "$folder" --json -q --settings $how --threads 2
    want 0
    equal "doubts of the SciFi, $how" "$(grep -cE "^sluice hlt1: station.mdf: 0 % of [57][0-9]* upstream tracks go on to the SciFi, where two thirds should: hits of it are missing, or the geometry and its tables are of other data$" err) $(wc -l <err) $(key out "[(d['input'], d['of']) for d in o['doubts']]")" "1 1 [('station.mdf', 'scifi')]"
done
cp "$folder"/polarity.bin other
for x in 77 277; do # +0.5 and -0.5 mm
    printf "\\0\\0\\0\\$x\\0\\0\\0\\0" >other/beamline.bin
    run hlt1 "$ten" --geometry other --json -q
    want 0
    equal "doubts of the beam" "$(grep -cE "^sluice hlt1: $ten: by [0-9]* tracks of 10 events the beam is at -?0.0[0-9]*, -?0.0[0-9]* mm, by beamline.bin at -?0.5, 0 mm: vertices, and what hangs on them, are wrong$" err) $(key out "[d['of'] for d in o['doubts']]")" "1 ['beam']"
done

# What is not made has no group in a file: an empty one would look as if there were none.
run hlt1 "$ten" --geometry "$folder" -q -o plain.h5
want 0
[ "$(h5dump -n plain.h5 | grep -cE 'group +/(decisions|fitted_tracks|particles|secondaries|muons)$')" = 4 ] || fail "groups: $(h5dump -n plain.h5)"
run hlt1 "$ten" --geometry "$folder" -q -o refused.h5 --columns decisions
want 1
grep -q '^sluice hlt1: refused.h5: there is no group or column "decisions"; groups are hits, ' err || fail "decisions without lines: $(cat err)"
want_no_file refused.h5
rm less/muon_field_of_interest.bin
cp "$folder"/beamline.bin good-beam
chmod u+w good-beam
printf '\0\0\0\77\0\0\0\0' >less/beamline.bin
run hlt1 "$ten" --geometry less -q --report notes.html --truth
want 0
for note in "less has no muon_field_of_interest.bin: " "less has no kalman_FT6x2: " ": by [0-9]* tracks of 10 events the beam is at "; do
    grep -q "<p class=\"foot note\">.*$note" notes.html || fail "the report does not say: $note"
done
grep -q "<tr><td>of muons</td><td>0</td><td>–</td><td>–</td></tr>" notes.html || fail "numbers of no muons: $(grep 'of muons' notes.html)"
grep -q 'class="foot note"' r.html && fail "a report with notes of nothing"
mv good-beam less/beamline.bin
run hlt1 "$ten" --geometry less -q -o less.h5
want 0
! h5dump -n less.h5 | grep -E 'group +/(decisions|fitted_tracks|particles|secondaries|muons)$' || fail "groups of what was not made"
h5diff less.h5 plain.h5 /long_tracks || fail "long tracks without tables"

mkdir broken
cp "$folder"/*.bin "$folder"/forward_params.txt broken
chmod u+w broken/*
truncate -s 100 broken/scifi_geometry.bin
run hlt1 "$ten" --geometry broken
want 1
grep -q "broken/scifi_geometry.bin: " err || fail "which file was not told: $(cat err)"
cp "$folder"/scifi_geometry.bin broken
head -c -3 "$folder"/forward_params.txt >broken/forward_params.txt # a number less some digits is one, too
run hlt1 "$ten" --geometry broken
want 1
grep -qE "^sluice hlt1: broken/forward_params.txt: line [0-9]+ has no end: the file may be cut$" err || fail "a cut table: $(cat err)"
"$sluice" convert "$ten" --packing 4 -o ten.mep -q || fail "no packets made"
head -c 1500000 ten.mep >cut.mep
run hlt1 cut.mep --geometry "$folder" --json -q
want 1
equal "incomplete" "$(key out "o['lost_events'], o['incomplete_events'], o['events']")" "(0, 2, 10)"
grep -q "^sluice hlt1: cut.mep: byte [0-9]*: a packet needs .*; its 2 events lack what is not there; 2 of 10 events lack a source$" err || fail "packets that are cut: $(cat err)"
rm broken/ut_boards.bin
run hlt1 "$ten" --geometry broken
want 1
grep -q "broken/ut_boards.bin" err || fail "which file was not told: $(cat err)"
run hlt1 "$ten"
want 2
run simulate velo --events 2 --seed 1 -q -o velo.mdf
want 0
run hlt1 velo.mdf --geometry "$folder" -q
want 1
grep -q "has a hit of the UT" err || fail "a missing detector was not told: $(cat err)"
passed
