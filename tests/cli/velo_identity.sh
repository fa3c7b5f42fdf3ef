#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which event is which: run, event, bunch crossing, input, record and offset of every event in the file and in the JSON, from
# several inputs of every kind, some damaged; who told them; names of inputs and of selection lines.
. "$(dirname "$0")/common.sh" "$@"
make_events plain.mdf 12 41
"$sluice" simulate velo --quiet --compress --events 9 --seed 42 -o packed.mdf || fail "cannot generate events"
# Events of their own run, event (beyond 32 bits) and bunch crossing; ODIN of both versions, none with a long header, none with
# a short one; damaged records; a list of hits. wanted.json: the rows, read here.
python3 - <<'PYTHON' || fail "cannot make inputs"
import json, struct
def records(data):
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        yield data[at:at + size]
        at += size
def odin(record):
    at = 48
    while record[at + 4] != 16: at += (struct.unpack_from("<H", record, at + 2)[0] + 3) // 4 * 4
    return at
rows, out = [], b""
for i, r in enumerate(records(open("plain.mdf", "rb").read())):
    r = bytearray(r); o = odin(r); row = [7000 + i, (i << 40) + 3 * i, 5 * i + 1, i, len(out), 1]
    r[12:16] = b"\0\0\0\0"                              # no checksum
    struct.pack_into("<3I", r, 36, 8000 + i, 900 + i, 0xf000 + i)
    if i % 4 == 0:
        struct.pack_into("<I", r, o + 8, row[0]); struct.pack_into("<2I", r, o + 20, row[1] >> 32, row[1] & 0xffffffff)
        struct.pack_into("<I", r, o + 40, 0xabcd000 | row[2])
    elif i % 4 == 1:
        r[o + 5] = 7
        struct.pack_into("<I", r, o + 8, row[0]); struct.pack_into("<Q", r, o + 40, row[1])
        struct.pack_into("<I", r, o + 32, 0x1234000 | row[2])
    else:
        r[o + 4] = 17
        row[:3], row[5] = [8000 + i, 900 + i, i], 2
        if i % 4 == 3:
            r = r[:20] + r[48:]; r[17] = 0x20; r[18] = 0
            r[:12] = struct.pack("<I", len(r)) * 3
            row[:3], row[5] = [0, 0, 0], 0
    if i in (5, 8):
        r[16] = 15                                      # a compression that there is not
    else:
        rows.append(row)
    out += r
open("own.mdf", "wb").write(out)
hits = lambda n: json.dumps({"module_prefix_sum": [min(m, n) for m in range(53)], "x": [1] * n, "y": [1] * n, "z": list(range(n))})
text = [hits(3), hits(2), "{}", hits(1)]
open("hits.json", "w").write("\n".join(text))
offsets = [0, len(text[0]) + 1, 0, len("\n".join(text[:3])) + 1]
rows += [[0, 0, 0, i, offsets[i], 0] for i in (0, 1, 3)]
wanted = [[a, b, c, 0 if k < 10 else 2, r, o, f] for k, (a, b, c, r, o, f) in enumerate(rows)]
at, packed = 0, []
for i, r in enumerate(records(open("packed.mdf", "rb").read())):
    packed.append([1, i, 0, 1, i, at, 1])
    at += len(r)
wanted[10:10] = packed
names = "run event bcid input record offset_bytes identity_from".split()
json.dump({n: list(c) for n, c in zip(names, zip(*wanted))}, open("wanted.json", "w"))
PYTHON

columns() { # FILE: the group `events` of a result file as the JSON object has it
    python3 - "$1" <<'PYTHON'
import json, subprocess, sys
names = "run event bcid input record offset_bytes identity_from event_offset".split()
def column(name):
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-d", "/events/" + name, sys.argv[1]], capture_output=True, text=True).stdout
    return [int(x) for x in text.split("DATA {")[1].split("}")[0].replace(",", " ").split()]
print(json.dumps({n: column(n) for n in names}))
PYTHON
}

cat >said <<'TEXT'
sluice velo: own.mdf: byte BYTE: unknown compression id 15 (0 and 1 to 9 are known); 2 events lost, 10 read
sluice velo: own.mdf: 3 events without an ODIN bank that can be read: run, orbit (as event) and bunch crossing are those of the record's header
sluice velo: own.mdf: 3 events without run and event number
sluice velo: hits.json: byte BYTE: line 3: no array x; 1 event lost, 3 read
TEXT
for how in "--threads 1" "--threads 3 --batch 2" "--threads 2 --batch 1"; do
    run velo own.mdf packed.mdf hits.json -q --json -o r.h5 $how
    want 1
    sed -i 's/byte [0-9]*:/byte BYTE:/' err
    want_err <said
    key out "{k: o['identity'][k] for k in json.load(open('wanted.json'))} == json.load(open('wanted.json'))" >same
    equal "identity in the JSON, $how" "$(cat same)" True
    columns r.h5 >file.json || fail "no group events"
    equal "identity in the file, $how" \
        "$(key file.json "all(o[k] == v for k, v in json.load(open('wanted.json')).items()) and o['event_offset'] == list(range(23))")" True
    equal "inputs" "$(key out "' '.join(o['identity']['inputs'])")" "own.mdf packed.mdf hits.json"
    equal "who told" "$(key out "o['identity']['events_from']")" "{'none': 6, 'odin': 13, 'header': 3}"
    equal "events" "$(key out "o['events']")" 22
done
h5dump -a /events/inputs r.h5 | grep -c '"own.mdf", "packed.mdf", "hits.json"' >names
equal "names of inputs in the file" "$(cat names)" 1

# A pipe; an input that cannot be opened keeps its number.
"$sluice" velo nowhere.mdf - -q --json <own.mdf >out 2>/dev/null
equal "of a pipe" "$(key out "o['identity']['input'], o['identity']['record'], o['identity']['offset_bytes'] == json.load(open('wanted.json'))['offset_bytes'][:10]")" \
    "([1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 6, 7, 9, 10, 11], True)"

# Names of lines, and of more inputs than an attribute in an object's header can hold.
run velo packed.mdf -q --select "$source/examples/selection.json" -o s.h5
want 0
python3 - "$source/examples/selection.json" >wanted_lines <<'PYTHON'
import json, sys
print(", ".join('"%s"' % l["name"] for l in json.load(open(sys.argv[1]))["lines"]))
PYTHON
equal "lines" "$(h5dump -w 0 -a /decisions/lines s.h5 | sed -n 's/^ *(0): //p')" "$(cat wanted_lines)"
run velo packed.mdf $(seq 1 6000) -q -o many.h5
want 1
equal "many inputs" "$(h5dump -H -a /events/inputs many.h5 | grep -c '( 6001 )')" 1
# Nothing is said where nobody asked for it.
run velo own.mdf -q
equal "said" "$(grep -c 'ODIN\|without run' err)" 0
passed
