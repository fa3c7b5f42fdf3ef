#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Accepted events with their decisions: a bank is appended and nothing else changes, of records of every kind, of pipes
# and of packets; an independent reader (tests/support/decision_bank.py) finds in it what the run has found.
. "$(dirname "$0")/common.sh" "$@"
s=$source/examples/selection.json
reader=$source/tests/support/decision_bank.py
"$sluice" simulate velo --quiet --events 30 --vertices 1 --seed 41 -o a.mdf || fail "cannot generate events"
"$sluice" simulate velo --quiet --events 20 --vertices 1 --seed 42 --compress -o z.mdf || fail "cannot generate events"
accept() { # NAME OPTIONS...: standard input is that of the call
    "$sluice" velo --quiet --select "$s" --write-accepted "$@" >out 2>err || fail "cannot accept: $(cat err)"
    [ ! -s err ] || fail "$1: $(cat err)"
}
undo() { # FILE WANTED: without its last bank the file is the other one
    python3 "$reader" without "$1" undone || fail "$1 cannot be read"
    cmp undone "$2" || fail "$1 without its banks is not $2"
    compared=$((compared + 1))
}

echo '{"lines": [{"name": "every"}]}' >every.json
for kind in a z; do
    accept $kind-plain.mdf $kind.mdf
    accept $kind-bank.mdf --decision-bank $kind.mdf -o $kind.h5 --json
    cp out $kind.json
    [ "$(stat -c %s $kind-plain.mdf)" -gt 50000 ] || fail "too little is accepted"
    undo $kind-bank.mdf $kind-plain.mdf
    # What the banks say is what the run found, and what a run over the event alone finds.
    python3 "$reader" show $kind-bank.mdf >said.json || fail "$kind-bank.mdf cannot be read"
    python3 "$reader" names "$s" >names
    run info --json $kind-bank.mdf
    want 0
    equal "selection" "$(key out "o['files'][0]['decisions']['selections'][0]['names']")" "$(cat names)"
    equal "lines by info" "$(key out "o['files'][0]['decisions']['selections'][0]['accepted']")" \
        "$(key $kind.json "[l['accepted'] for l in o['selection']['lines']]")"
    equal "a bank each" "$(key out "o['files'][0]['decisions']['banks']")" "$(key $kind.json "o['selection']['written']")"
    equal "damaged" "$(key out "o['files'][0]['decisions']['damaged'], o['files'][0]['lost_events']")" "(0, 0)"
    run velo $kind-bank.mdf --quiet --json -o bank.h5
    want 0
    want_silent
    cp out again.json
    run velo $kind-plain.mdf --quiet --json
    want 0
    for of in checksum clusters tracks vertices clusters_per_event faults; do
        equal "$of with and without the bank" "$(key again.json "o.get('$of')")" "$(key out "o.get('$of')")"
    done
    python3 - said.json again.json "$sluice" $kind-bank.mdf "$(cat names)" <<'PY' || fail "the banks of $kind-bank.mdf do not say what runs find"
import json, struct, subprocess, sys
said, again = (json.load(open(n)) for n in sys.argv[1:3])
data, at = open(sys.argv[4], "rb").read(), 0
assert all(len(b) == 1 for b in said) and [b[0]["hits"] for b in said] == again["clusters_per_event"]
assert sum(b[0]["tracks"] for b in said) == again["tracks"] and sum(b[0]["primaries"] for b in said) == again["vertices"]
assert all(b[0]["names"] == int(sys.argv[5], 16) and b[0]["n_lines"] == 5 and 0 < b[0]["lines"] < 32 and b[0]["source"] == 0 for b in said)
for k, b in enumerate(said):
    size, = struct.unpack_from("<I", data, at)
    if k < 3:
        open("one.mdf", "wb").write(data[at:at + size])
        one = json.loads(subprocess.run([sys.argv[3], "velo", "-q", "--json", "one.mdf"], capture_output=True, check=True).stdout)
        assert int(one["checksum"], 16) == b[0]["checksum"] and one["tracks"] == b[0]["tracks"], (k, one["checksum"])
    at += size
PY
    compared=$((compared + 1))
    # Again: the same physics, the next source, and the older bank stays.
    "$sluice" velo -q --select every.json --write-accepted $kind-twice.mdf --decision-bank $kind-bank.mdf --threads 2 --batch 3 >out ||
        fail "cannot accept again"
    undo $kind-twice.mdf $kind-bank.mdf
    python3 "$reader" show $kind-twice.mdf >twice.json || fail "$kind-twice.mdf cannot be read"
    equal "sources" "$(key twice.json "{tuple(b['source'] for b in e) for e in o}")" "{(0, 1)}"
    equal "the same again" "$(key twice.json "all(e[0]['checksum'] == e[1]['checksum'] for e in o)")" True
done

# Through the same selection again: each event has two banks, and is one; a line accepted it if either says so.
"$sluice" velo -q --select "$s" --write-accepted same-bank.mdf --decision-bank a-bank.mdf >out || fail "cannot accept again"
python3 "$reader" show same-bank.mdf >same.json || fail "same-bank.mdf cannot be read"
wanted=$(key same.json "sum(len(e) for e in o), len(o), [sum(any(b['lines'] >> k & 1 for b in e) for e in o) for k in range(5)]")
equal "two banks each" "$(key same.json "len(o) > 3 and {len(e) for e in o}")" "{2}"
run info --json same-bank.mdf
want 0
equal "events, not banks" "$(key out "[(s['banks'], s['events'], s['accepted']) for s in o['files'][0]['decisions']['selections']]")" "[$wanted]"
run info same-bank.mdf
equal "the table" "$(sed -n '/^  decisions/{n;p}' out | awk '{print $4, $3}')" "$(key same.json "sum(len(e) for e in o)") $(key same.json "len(o)")"

# Headers of every kind: without a checksum, of version 2, a last bank without its padding, one of the sizes wrong.
python3 - <<'PY' || fail "cannot write headers"
import struct
def records(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        yield bytearray(data[at:at + size])
        at += size
out = bytearray()
for n, r in enumerate(list(records(open("a.mdf", "rb").read())) + list(records(open("z.mdf", "rb").read()))):
    r[20:48] = struct.pack("<7I", *((n + 1) * (i + 3) * 0x01010101 & 0xffffffff for i in range(7)))
    r[12:16] = bytes(4)
    if n % 3 == 1 and not r[16] & 15:
        r[17] = 0x27
        del r[20:48]
        r[:12] = struct.pack("<3I", *[len(r)] * 3)
    if n % 3 == 2 and not r[16] & 15: # a bank of five bytes at the end, without its padding
        r += struct.pack("<HHBBh", 0xcbcb, 13, 9, 3, 1000) + b"abcde"
        r[:12] = struct.pack("<3I", *[len(r)] * 3)
    out += r
open("headers.mdf", "wb").write(out)
PY
accept h-plain.mdf headers.mdf
accept h-bank.mdf --decision-bank headers.mdf
mkfifo fifo
cat headers.mdf | accept pipe-bank.mdf --decision-bank - --threads 2 --batch 5
cat headers.mdf >fifo &
accept named-bank.mdf --decision-bank fifo
wait
for name in pipe named; do
    cmp h-bank.mdf $name-bank.mdf || fail "$name-bank.mdf is not that of a file"
    compared=$((compared + 1))
done
python3 - <<'PY' || fail "banks of unusual records"
import struct
def records(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        yield data[at:at + size]
        at += size
plain, bank = (list(records(open(n, "rb").read())) for n in ("h-plain.mdf", "h-bank.mdf"))
assert len(plain) == len(bank)
kinds = set()
for p, b in zip(plain, bank):
    pad = -len(p) % 4 if not p[16] & 15 else 0
    assert b[12:len(p)] == p[12:] and struct.unpack_from("<3I", b) == (len(b),) * 3, "all else is as it was"
    if not p[16] & 15:
        assert len(b) == len(p) + pad + 60 and b[len(p):len(p) + pad] == bytes(pad)
    kinds.add((p[17] >> 4, p[16] & 15 > 0, pad))
assert kinds == {(3, False, 0), (2, False, 0), (3, False, 3), (3, True, 0)}, kinds
PY
compared=$((compared + 1))
run info h-bank.mdf
want 0

# A checksum that nobody has verified and that is wrong stays wrong.
python3 - <<'PY'
data = bytearray(open("a.mdf", "rb").read())
data[12] ^= 1
open("wrong.mdf", "wb").write(data[:int.from_bytes(data[:4], "little")])
PY
run velo wrong.mdf -q --select every.json --write-accepted wrong-bank.mdf --decision-bank --no-checksum
want 0
equal "the wrong checksum" "$(cmp -s -n 16 -i 12:12 wrong.mdf wrong-bank.mdf && od -An -tx4 -j12 -N4 wrong-bank.mdf)" "$(od -An -tx4 -j12 -N4 wrong.mdf)"
run info wrong-bank.mdf
want 1

# From packets: a record is made of each accepted event, with run, orbit and bunch crossing of ODIN; with the bank and
# without. The banks of the events are those of the same events in MDF, and so is what is found in them.
for layout in 2019 mfp; do
    run convert a.mdf -o $layout.mep --packing 7 --layout $layout -q
    want 0
    accept $layout-plain.mdf $layout.mep
    accept $layout-bank.mdf --decision-bank $layout.mep -o $layout.h5
    undo $layout-bank.mdf $layout-plain.mdf
    python3 "$reader" show $layout-bank.mdf >mep.json || fail "$layout-bank.mdf cannot be read"
    python3 "$reader" show a-bank.mdf | same mep.json
    cat $layout.mep | accept $layout-pipe.mdf --decision-bank -
    cmp $layout-bank.mdf $layout-pipe.mdf || fail "accepted events of packets from a pipe differ"
    compared=$((compared + 1))
    run velo $layout-plain.mdf -q --json
    want 0
    equal "events of packets" "$(key out "o['events'], o['tracks'], o['checksum']")" \
        "$("$sluice" velo a-plain.mdf -q --json >o.json && key o.json "o['events'], o['tracks'], o['checksum']")"
done
# The same records as by way of packets without a selection.
for what in plain bank; do
    file=$([ $what = plain ] && echo a-plain.mdf || echo 2019-bank.mdf)
    run convert $file -o back.mep --packing 5 -q
    want 0
    run convert back.mep -o back.mdf -q
    want 0
    cmp back.mdf 2019-$what.mdf || fail "events change on the way through packets"
    compared=$((compared + 1))
done
run info --json back.mep
equal "decisions in packets" "$(key out "o['files'][0]['decisions']['banks']")" "$(key a.json "o['selection']['written']")"

# Damaged banks are counted and told, and cost nothing else.
python3 - <<'PY'
data = bytearray(open("a-bank.mdf", "rb").read())
size = int.from_bytes(data[:4], "little")
data[12:16] = bytes(4)
data[size - 48:size - 44] = b"\xff" * 4 # more lines than there can be
second = size + int.from_bytes(data[size:size + 4], "little")
data[size + 12:size + 16] = bytes(4)
data[second - 60 + 5] = 9 # version 9
open("damaged-bank.mdf", "wb").write(data)
PY
run info damaged-bank.mdf
want 1
n=$(key a.json "o['selection']['written']")
same err <<END
sluice info: damaged-bank.mdf: 1 of $n banks with decisions are damaged
sluice info: damaged-bank.mdf: 1 of $n banks with decisions are of a version that is not known
END
run velo damaged-bank.mdf -q --json
want 0
equal "results beside damaged decisions" "$(key out "o['checksum']")" "$("$sluice" velo a-plain.mdf -q --json >o.json && key o.json "o['checksum']")"

run velo a.mdf --select "$s" --decision-bank
want 2
echo "sluice velo: --decision-bank needs --write-accepted; see sluice velo --help" | want_err
want_no_out

passed
