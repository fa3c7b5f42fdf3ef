#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The global event cut on LHCb's ten events: counts of the oracle (tests/cli counts the banks' bytes itself), what is cut and what
# is not, threads and batches, selection and truth; and generated events, which have banks of the VELO alone.
. "$(dirname "$0")/common.sh" "$@"
need_data lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf
ten=$data/lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf
python3 - "$ten" <<'PYTHON' >counts.json || fail "no second count"
import json, struct, sys
data, at, rows = open(sys.argv[1], "rb").read(), 0, []
while at < len(data):
    size, = struct.unpack_from("<I", data, at)
    p, end, n = at + 48, at + size, [0, 0, 0]
    while p < end:
        magic, length, kind, version = struct.unpack_from("<HHBB", data, p)
        if kind == 63: n[0] += (length - 8) // 4 - 1
        if kind == 66: n[1] += struct.unpack_from("<H", data, p + 8)[0]
        if kind == 64: n[2] += (length - 8 - 4) // 2
        p += (length + 3) // 4 * 4
    rows.append(n)
    at = end
print(json.dumps(rows))
PYTHON
# Section 10 of the facts: what decoders find of the UT; of the SciFi there may be padding beside it.
equal "UT" "$(key counts.json "[r[1] for r in o]")" "[2108, 780, 835, 969, 1170, 433, 1707, 1132, 1803, 1931]"
equal "SciFi" "$(key counts.json "all(0 <= r[2] - n <= 240 for r, n in zip(o, [7187, 2442, 2726, 3344, 4078, 2423, 4706, 4465, 5270, 5787]))")" True
equal "VELO" "$(key counts.json "sum(r[0] for r in o)")" 27389

column() { # FILE NAME
    h5dump -y -w 0 -d "$2" "$1" | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' \n'
}
run velo "$ten" -q --truth --json -o all.h5
want 0
cp out all.json
equal "no gec without" "$(key out "'gec' in o")" False
h5dump -H all.h5 | grep -c event_cuts >none
equal "no group without" "$(cat none)" 0
for how in "--threads 1" "--threads 2 --batch 3" "--threads 2 --batch 1"; do
    run velo "$ten" -q --truth --json -o cut.h5 --gec-velo 4000 --gec-ut-scifi 7000 --gec-ut 1900 $how
    want 0
    want_silent
    cp out cut.json
    for n in 0:velo 1:ut 2:scifi; do
        equal "${n#*:} in the file" "$(column cut.h5 /event_cuts/${n#*:}_clusters)" "$(key counts.json "','.join(str(r[${n%:*}]) for r in o)")"
    done
    equal "cut" "$(column cut.h5 /event_cuts/cut)" \
        "$(key counts.json "','.join(str((r[0] > 4000) + 2 * (r[1] > 1900) + 8 * (r[1] + r[2] > 7000)) for r in o)")"
    equal "some" "$(key cut.json "0 < o['gec']['cut_events'] < o['gec']['events'] == o['events'] == 10")" True
    equal "cut events" "$(key cut.json "o['gec']['cut_events']")" "$(key counts.json "sum(r[0] > 4000 or r[1] > 1900 or r[1] + r[2] > 7000 for r in o)")"
    equal "by the UT" "$(key cut.json "o['gec']['ut']")" \
        "$(key counts.json "{'limit': 1900, 'cut_events': sum(r[1] > 1900 for r in o), 'clusters': sum(r[1] for r in o)}")"
    python3 - <<'PYTHON' || fail "clusters are not those of the events that pass"
import json, sys
n, all, cut = (json.load(open(f + ".json")) for f in ("counts", "all", "cut"))
passes = [not (r[0] > 4000 or r[1] > 1900 or r[1] + r[2] > 7000) for r in n]
sys.exit([c if p else 0 for c, p in zip(all["clusters_per_event"], passes)] != cut["clusters_per_event"]
         or cut["truth"]["events"] != sum(passes) or cut["identity"]["event"] != all["identity"]["event"] or cut["faults"] != {})
PYTHON
    compared=$((compared + 1))
    equal "checksum" "$(key cut.json "o['checksum']")" "${checksum:=$(key cut.json "o['checksum']")}"
done
key counts.json "'\n'.join(str(i) for i, r in enumerate(o) if not (r[0] > 4000 or r[1] > 1900 or r[1] + r[2] > 7000))" >left

# Those that pass, alone, are the same tracks.
python3 - "$ten" <<'PYTHON' || fail "cannot pick records"
import struct, sys
data, at, k, left = open(sys.argv[1], "rb").read(), 0, 0, {int(l) for l in open("left")}
with open("left.mdf", "wb") as out:
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        out.write(data[at:at + size] if k in left else b"")
        at, k = at + size, k + 1
PYTHON
run velo left.mdf -q --truth --json
want 0
equal "what passes" "$(key out "[o[k] for k in ('tracks', 'vertices', 'super_pixels', 'clusters')], o['truth']['categories']")" \
    "$(key cut.json "[o[k] for k in ('tracks', 'vertices', 'super_pixels', 'clusters')], o['truth']['categories']")"

# HLT1's limit cuts none of the ten; a limit of 1 cuts all, which is a result.
run velo "$ten" -q --json --gec-ut-scifi 9750
want 0
equal "HLT1" "$(key out "o['gec']['cut_events'], o['checksum']")" "(0, '$(key all.json "o['checksum']")')"
run velo "$ten" -q --gec-scifi 1
want 0
equal "all" "$(grep -c '10 of 10 events have too many clusters' out)" 1
equal "tracks" "$(awk '$1 == "tracks" { print $2 }' out)" 0

# No line accepts what is cut, not even one that asks for nothing.
echo '{"lines": [{"name": "any"}]}' >any.json
run velo "$ten" -q --json --select any.json --write-accepted acc.mdf --gec-ut 1900
want 0
equal "accepted" "$(key out "o['selection']['accepted']")" "$(key counts.json "sum(r[1] <= 1900 for r in o)")"
run info --json acc.mdf
equal "written" "$(key out "o['files'][0]['events']")" "$(key counts.json "sum(r[1] <= 1900 for r in o)")"

# Generated events have no UT; lists of hits have no banks. Both is told, and nothing is cut.
make_events gen.mdf 20 3
run velo gen.mdf -q --gec-ut 5 --gec-velo 100000
want 0
echo "sluice velo: gen.mdf: --gec-ut cuts nothing: none of its 20 events has clusters of the UT" | want_err
run velo gen.mdf -q --json --gec-velo 100000
want 0
mean=$(key out "o['gec']['velo']['clusters'] // 20")
equal "super-pixels" "$(key out "o['gec']['velo']['clusters'] == o['super_pixels'] > 0")" True
run velo gen.mdf -q --json --gec-velo "$mean"
want 0
cp out gen.json
want_silent
equal "generated" "$(key gen.json "0 < o['gec']['cut_events'] < 20")" True
equal "cut by the VELO" "$(key gen.json "sum(n == 0 for n in o['clusters_per_event']) == o['gec']['velo']['cut_events'] == o['gec']['cut_events']")" True
echo '{"module_prefix_sum": '"$(python3 -c 'print(53 * [0])')"', "x": [], "y": [], "z": []}' >hits.json
run velo hits.json -q --gec-velo 5 --json
want 0
echo "sluice velo: hits.json: its events came as hits: they have no banks for a global event cut" | want_err
equal "hits" "$(key out "o['gec']['events'], o['gec']['cut_events']")" "(0, 0)"
passed
