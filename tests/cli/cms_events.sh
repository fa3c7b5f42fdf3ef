#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which events those of `sluice cms` are: numbers of the trigger and bunch crossings of headers that are written here, with
# fragments that have another; run and luminosity section; modules' ids and, with a geometry, places in the table.
. "$(dirname "$0")/common.sh" "$@"

"$sluice" simulate cms -q --events 7 --tracks 200 --seed 5 -o made.bin --cabling a.cabling --gains a.gains || fail "cannot generate events"
python3 - <<'P'
import json, struct
raw, out, truth, at, event = open("made.bin", "rb").read(), bytearray(), [], 0, 0
while at < len(raw):
    n, = struct.unpack_from("<I", raw, at)
    out += raw[at:at + 4]
    at += 4
    level1, crossing, sound, others = 0xABC000 + 77 * event, (3000 + 200 * event) % 4096, 0, 0
    for k in range(n):
        fed, size = struct.unpack_from("<2I", raw, at)
        fragment = bytearray(raw[at:at + 8 + size])
        at += 8 + size
        if size > 0:
            low, high = struct.unpack_from("<2I", fragment, 8)
            wrong = event == 3 and k % 3 == 0 or event == 5 and sound == 0
            sound += 1
            others += wrong
            high = high & 0xFF000000 | (level1 + wrong)
            low = low & 0xFFFFF | crossing << 20
            struct.pack_into("<2I", fragment, 8, low, high)
        out += fragment
    truth.append((level1, crossing, sound, others))
    event += 1
open("a.bin", "wb").write(out)
json.dump(truth, open("truth.json", "w"))
P
run cms -q --cabling a.cabling --gains a.gains a.bin --run 398765 --luminosity-section 12 -o r.h5 --table r.csv
want 0
mixed=$(python3 -c 'import json; t = json.load(open("truth.json")); print("%d events have %d fragments" % (sum(o > 0 for *_, o in t), sum(o for *_, o in t)))')
echo "sluice cms: a.bin: $mixed of another event, by their headers" | want_err
if python3 -c 'import h5py' 2>/dev/null; then
    compared=$((compared + 1))
    python3 - <<'P' || fail "events are not as written"
import csv, h5py, json
truth = json.load(open("truth.json"))
with h5py.File("r.h5") as f:
    e = f["events"]
    assert [tuple(row) for row in zip(*(e[k][:].tolist() for k in ("level1_id", "bunch_crossing", "fragments", "others")))] == [tuple(t) for t in truth]
    assert e["event_offset"][:].tolist() == list(range(8)) and set(e["run"][:]) == {398765} and set(e["luminosity_section"][:]) == {12}
    ids = {}
    for module, raw_id in zip(f["digis/module"][:].tolist(), f["digis/raw_id"][:].tolist()):
        ids[module] = raw_id
rows = list(csv.DictReader(open("r.csv")))
assert len(rows) > 500
for r in rows:
    assert int(r["level1_id"]) == truth[int(r["event"])][0] and r["run"] == "398765" and r["luminosity_section"] == "12"
    assert int(r["raw_id"]) == ids[int(r["module"])] > 0
P
fi
for options in "--batch 1" "--batch 3 --threads 3"; do
    # shellcheck disable=SC2086 # words
    run cms -q --cabling a.cabling --gains a.gains a.bin --run 398765 --luminosity-section 12 --table s.csv $options
    want 0
    cmp r.csv s.csv || fail "'$last': another table"
done
run cms -q --cabling a.cabling --gains a.gains a.bin --table s.csv
want 0
equal "columns without a run" "$(head -n 1 s.csv | tr , '\n' | tail -n 2 | paste -sd,)" raw_id,level1_id
run cms -q --cabling a.cabling --gains a.gains a.bin --run 1
want 2
echo "sluice cms: --run and --luminosity-section are columns of --output and --table; see sluice cms --help" | want_err
want_refused "take whole numbers" cms --cabling a.cabling --gains a.gains a.bin --run 1.5 --table s.csv
echo "$compared comparisons"
