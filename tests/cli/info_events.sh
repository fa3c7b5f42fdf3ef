#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice info --events: every event's line and object against the bytes of the file, read here; damage, pipes, inputs of another kind.
. "$(dirname "$0")/common.sh" "$@"
make_events plain.mdf 70 43 # more than a batch
# Words of ODIN at random, of both versions; two records without ODIN, one of them without a long header; a damaged one.
python3 - <<'PYTHON' || fail "cannot make inputs"
import json, random, struct
random.seed(5)
data, at, out, rows, lines = open("plain.mdf", "rb").read(), 0, b"", [], []
bits = lambda w, i, low, n: w[i] >> low & ((1 << n) - 1)
for i in range(70):
    r = bytearray(data[at:at + struct.unpack_from("<I", data, at)[0]])
    at += len(r)
    r[12:16] = b"\0\0\0\0"                              # no checksum
    struct.pack_into("<3I", r, 36, 80 + i, 900 + i, 0xf000 + i)
    o = 48
    while r[o + 4] != 16: o += (struct.unpack_from("<H", r, o + 2)[0] + 3) // 4 * 4
    w = [random.getrandbits(32) for _ in range(10)]
    struct.pack_into("<10I", r, o + 8, *w)
    r[o + 5] = 6 + i % 2
    names = "run event bcid orbit gps_time_us tck partition event_type calibration_step crossing_type trigger_type calibration_type identity_from".split()
    if i % 2 == 0:
        row = [w[0], w[3] << 32 | w[4], bits(w, 8, 0, 12), w[2], w[5] << 32 | w[6], w[9], 0, bits(w, 1, 0, 16), w[1] >> 16, bits(w, 8, 22, 2), bits(w, 8, 16, 3), bits(w, 8, 19, 2), 1]
    else:
        row = [w[0], w[9] << 32 | w[8], bits(w, 6, 0, 12), w[7], w[3] << 32 | w[2], w[4], w[5], bits(w, 1, 0, 16), w[1] >> 16, bits(w, 6, 12, 2), bits(w, 6, 23, 4), bits(w, 6, 28, 4), 1]
    if i in (20, 21):
        r[o + 4] = 17
        row = [80 + i, 900 + i, i, 900 + i] + 8 * [0] + [2]
    if i == 21:
        r = r[:20] + r[48:]; r[17] = 0x20; r[18] = 0; r[:12] = struct.pack("<I", len(r)) * 3
        row = 13 * [0]
    head = 20 if i == 21 else 48
    if i == 33:
        r[16] = 15                                      # a compression that there is not
    else:
        row = dict(zip(names, row), input=0, record=i, offset_bytes=len(out), faults=0, bytes=len(r) - head, missing=0)
        rows.append(row)
        who = ("none", "odin", "header")[row["identity_from"]]
        said = (("none", "beam1", "beam2", "both")[row["crossing_type"]], row["trigger_type"], "0x%04x" % row["event_type"]) if who == "odin" else 3 * ("-",)
        lines.append(" ".join(map(str, (i, row["run"], row["event"], row["bcid"]) + said + (row["bytes"], who))))
    out += r
open("own.mdf", "wb").write(out)
for r in rows: # what JSON has no integer for is the nearest number
    for k in ("event", "gps_time_us"): r[k] = float(r[k]) if r[k] >= 1 << 63 else r[k]
json.dump(rows, open("rows.json", "w"))
open("lines", "w").write("\n".join(lines) + "\n")
PYTHON

cat >said <<'TEXT'
sluice info: own.mdf: byte BYTE: unknown compression id 15 (0 and 1 to 9 are known); 1 event lost, 69 read
TEXT
run info --events own.mdf
want 1
sed -i 's/byte [0-9]*:/byte BYTE:/' err
want_err <said
equal "heading" "$(head -n 1 out)" own.mdf
tail -n +3 out | sed 's/beam \([12]\)/beam\1/; s/^ *//; s/  */ /g' | same lines

run info --events --json own.mdf
want 1
equal "events" "$(key out "o['events'] == json.load(open('rows.json'))")" True
equal "files" "$(key out "o['files']")" "[{'file': 'own.mdf', 'events': 69, 'lost_events': 1}]"

# Several inputs, one of them from a pipe; one that is not there, one that is something else.
"$sluice" info --events --json plain.mdf - <own.mdf >out 2>err
equal "numbers of inputs" "$(key out "[e['input'] for e in o['events']] == 70 * [0] + 69 * [1]")" True
equal "places" "$(key out "[e['offset_bytes'] for e in o['events'][70:]] == [r['offset_bytes'] for r in json.load(open('rows.json'))]")" True
run info --events plain.mdf
want 0
want_silent
equal "lines" "$(wc -l <out)" 72
run info --events nowhere.mdf plain.mdf
want 1
echo "sluice info: nowhere.mdf: No such file or directory" | want_err
equal "lines" "$(wc -l <out)" 72
run info --events --json nowhere.mdf
want 1
echo '{"events":[],
"files":[]}' | want_out
echo '{"module_prefix_sum": [], "x": [' >broken.json
run info --events broken.json
want 1

# The same identities are in a result file and its JSON.
run velo own.mdf -q --json -o r.h5
want 1
equal "of velo" "$(key out "[dict(zip(w, (o['identity'][k][i] for k in w))) for w in [json.load(open('rows.json'))[0].keys()] for i in range(69)] == json.load(open('rows.json'))")" True
h5dump -y -w 0 -d /events/tck r.h5 | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' \n' >tck
equal "tck in the file" "$(cat tck)" "$(key rows.json "','.join(str(r['tck']) for r in o)")"
passed
