#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice pet acquire over loopback: what was sent is in the files; loss is counted exactly when the receiver is stopped
# for a while, by the counters and by the system; kill -9, rotation, signals; and what cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"

. "$source/tests/cli/pet_receiver.sh"

# ---- everything arrives, and a signal ends it ----------------------------------------------------------------------
listen --sequence 0:8 -o a.raw --json
transmit --fast --rate 1e6 --seconds 0.3 --sequence
sleep 0.3
finish TERM
want 0
equal "all that was sent" "$(key out "o['frames'], o['datagrams'], o['lost'], o['kernel_drops'], o['ring_drops'], o['malformed'], o['files']")" \
    "($sent, $datagrams, 0, 0, 0, 0, 1)"
equal "modules" "$(key out "len(o['modules']), sum(m['frames'] for m in o['modules'])")" "(20, $sent)"
equal "the file" "$(frames_in a.raw)" "$sent"
equal "its size" "$(key out "o['written_bytes']")" "$(stat -c %s a.raw)"
want_no_file a.raw.index

# ---- the receiver stands still: loss by the counters is what the system dropped ------------------------------------
listen --sequence 0:8 -o b.raw --json --socket-buffer 1M
transmit --fast --rate 1e6 --seconds 0.1 --sequence --repeat 2
# One sender that goes on through the stop, so that its counters do.
"$sluice" simulate pet --send "$address" --fast --rate 1e6 --seconds 0.1 --seed 2 --sequence --repeat 20 2>said &
sender=$!
sleep 0.7
kill -STOP "$receiver"
sleep 0.7
kill -CONT "$receiver"
wait "$sender" || fail "cannot send: $(cat said)"
sleep 0.3
finish TERM
want 1
grep -Eq "^sluice pet acquire: lost [0-9]+ datagrams, about [0-9]+ frames" err || fail "it said: $(cat err)"
all=$((datagrams + $(sed -n 's/.* in \([0-9]*\) datagrams.*/\1/p' said)))
equal "received and dropped" "$(key out "o['datagrams'] + o['kernel_drops'] + o['ring_drops']")" "$all"
equal "lost is dropped" "$(key out "o['lost'] == o['kernel_drops'] + o['ring_drops'] > 1000")" True
equal "each module began again once" "$(key out "sum(m['restarts'] for m in o['modules'])")" 20
equal "what arrived is in the file" "$(frames_in b.raw)" "$(key out "o['frames']")"

# ---- nobody takes what is written: the ring fills, and that is told apart ------------------------------------------
mkfifo pipe
(until [ -e go ]; do sleep 0.05; done; exec cat >got) <pipe & # open at once, read when the ring is full
taker=$!
listen --sequence 0:8 -o pipe --json --ring 8M --socket-buffer 1M --tolerate-loss
# It is full in a quarter of a second; what is sent after it was emptied shows the counters' gaps.
"$sluice" simulate pet --send "$address" --fast --rate 2e6 --seconds 0.1 --sequence --repeat 40 2>said &
sender=$!
sleep 2
: >go
wait "$sender" || fail "cannot send: $(cat said)"
datagrams=$(sed -n 's/.* in \([0-9]*\) datagrams.*/\1/p' said)
sleep 0.3
finish TERM
want 0
wait "$taker"
equal "received and dropped" "$(key out "o['datagrams'] + o['kernel_drops'] + o['ring_drops']")" "$datagrams"
equal "dropped while the ring was full" "$(key out "o['ring_drops'] > 1000, o['ring_fill'] > 0.8")" "(True, True)"
equal "lost is dropped" "$(key out "o['lost'] == o['kernel_drops'] + o['ring_drops']")" True
equal "what arrived came through" "$(frames_in got)" "$(key out "o['frames']")"

# ---- kill -9: every complete datagram that was written is read -----------------------------------------------------
listen --sequence 0:8 -o c.raw
"$sluice" simulate pet --send "$address" --fast --rate 3e6 --seconds 0.1 --sequence --repeat 10 2>said &
sender=$!
sleep 0.6
finish KILL
wait "$sender" # nobody listens any more
equal "killed" "$status" 137
want_no_file c.raw.index
complete=$(python3 - <<'P'
import struct
data = open("c.raw", "rb").read()
at, frames = 64, 0
while at + 48 <= len(data):
    assert data[at:at + 4] == b"\x9eSPB"
    payload, size = struct.unpack_from("<IH", data, at + 24)
    there = min(payload, len(data) - at - 48)
    whole, rest = divmod(there, size)
    frames += whole * ((size - 8) // 16) + (max(rest - 8, 0) // 16 if there == payload else 0)
    at += 48 + payload
print(frames)
P
)
equal "complete datagrams" "$(frames_in c.raw)" "$complete"
equal "hundreds of thousands" "$((complete > 300000))" 1

# ---- rotation; live results are those of the files -----------------------------------------------------------------
listen -o d.raw --rotate-size 1M --json --scanner mouse20 --horizon 200ms --delayed 100ns --singles d.singles \
    --coincidences d.csv
transmit --rate 4e5 --seconds 0.5
sleep 0.3
kill -HUP "$receiver" # as a terminal that closes may do it: that does not end it any earlier
finish HUP
want 0
files=$(key out "o['files']")
equal "files" "$(find . -name 'd*.raw' | wc -l)" "$files"
equal "eight megabytes" "$((files >= 3))" 1
equal "no file is larger" "$(find . -name 'd*.raw' -size +1024k | wc -l)" 0
equal "frames of all files" "$(frames_in d.raw d.0*.raw)" "$sent"
run pet run --scanner mouse20 --horizon 200ms --delayed 100ns --singles e.singles -o e.csv --json d.raw d.0*.raw
want 0
cmp d.singles e.singles || fail "live singles are others than those of the files"
cmp d.csv e.csv || fail "live coincidences are others than those of the files"
compared=$((compared + 2))

# Files of an acquisition twice or out of order are not read; those of several are, with a word.
run pet run --scanner mouse20 --horizon 1s d.raw d.0001.raw d.raw
want 1
grep -qx "sluice pet run: d.raw: the same file of an acquisition as d.raw" err || fail "it said: $(cat err)"
run pet run --scanner mouse20 --horizon 1s d.0001.raw d.raw -q
want 1
want_units
echo "sluice pet run: d.raw comes before d.0001.raw: give the files of an acquisition in their order, or --series" | want_err
run pet run --scanner mouse20 --horizon 1s a.raw d.raw --json
want 0
grep -qx "sluice pet run: d.raw is of another acquisition than a.raw" err || fail "it said: $(cat err)"
run pet run --scanner mouse20 --horizon 1s d.raw d.0*.raw --json
want 0
! grep -q "another acquisition" err || fail "it said: $(cat err)"
listen -o d.raw --replace --json
transmit --fast --rate 1e5 --seconds 0.1
sleep 0.3
finish TERM
want 0
equal "files of the acquisition before" "$(find . -name 'd.0*.raw*' | wc -l)" 0

# A live chain that fails does not end the file; its error is told at the end.
listen -o i.raw --json --scanner mouse20 --window 4.0005ns --singles i.singles
transmit --rate 4e5 --seconds 0.5
sleep 0.3
finish TERM
want 1
grep -q "sluice pet acquire: the chain ended before the acquisition: window 4.0005 ns.*not whole picoseconds" err || fail "it said: $(cat err)"
equal "the file is whole" "$(frames_in i.raw)" "$sent"
want_no_file i.raw.index
run pet acquire --listen 127.0.0.1:0 --scanner mouse20 --coincidences nodir/x.h5 --duration 1s
want 1
! grep -q listening err || fail "it said: $(cat err)"
grep -q "^sluice pet acquire: nodir/x.h5: cannot create" err || fail "it said: $(cat err)"

# ---- other ends, other troubles ------------------------------------------------------------------------------------
listen -o f.raw --duration 1500ms --rotate-time 200ms --json --progress
transmit --fast --rate 1e5 --seconds 0.6
finish none
want 0
equal "by time" "$(key out "1 <= o['seconds'] < 5, o['frames'], o['lost']")" "(True, $sent, None)"
equal "several files" "$(key out "o['files'] >= 3")" True
grep -Eq 'sluice pet acquire: 1 s, [0-9]+ frames, [0-9.]+ M/s, [0-9.]+ MB/s, 0 lost, 0 dropped, 0 malformed, ring [0-9]+ %' err ||
    fail "it said: $(cat err)"
listen --frames 20000 --duration 36h
transmit --fast --rate 2e5 --seconds 0.1 --repeat 1
finish TERM
want 0
grep -q "  lost           not known: there is no sequence counter" out || fail "it printed: $(cat out)"

# Datagrams of no module, or no frame; a module that the scanner does not have.
listen -o g.raw --json --scanner mouse20 --singles g.singles
python3 - "$address" <<'P'
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
frame = lambda module: bytes([0xa0, module]) + bytes(14)
for data in b"", b"abc", frame(3), frame(3) + b"tail", frame(77), frame(77)[:15], frame(19) * 5:
    s.sendto(data, (host, int(port)))
P
sleep 0.4
finish TERM
want 1 # more than a tenth of the frames is of no module
equal "malformed" "$(key out "o['datagrams'], o['malformed'], o['frames']")" "(7, 4, 8)"
equal "modules" "$(key out "[(m['module'], m['frames'], m['malformed']) for m in o['modules']]")" "[(3, 2, 1), (19, 5, 0), (77, 1, 0)]"
equal "faults" "$(key out "o['live']['faults'] == {'pet_module': 1, 'pet_datagram': 3}")" True
equal "unknown" "$(key out "o['live']['convert']['module'], o['live']['convert']['singles']")" "(1, 7)"
run pet run g.raw --scanner mouse20 --json
equal "faults of the file" "$(key out "o['faults'] == {'pet_module': 1, 'pet_datagram': 3}")" True

# A file that may not grow, as a full disk.
last="sluice pet acquire with a full disk"
: >err
(ulimit -f 1000; exec "$sluice" pet acquire --listen 127.0.0.1:0 -o h.raw --json >out 2>err </dev/null) &
receiver=$!
for _ in $(seq 200); do
    address=$(sed -n 's/.*listening at //p' err)
    [ -z "$address" ] || break
    sleep 0.05
done
"$sluice" simulate pet --send "$address" --fast --rate 1e6 --seconds 0.1 --repeat 3 2>said
finish none
want 1
grep -q 'sluice pet acquire: h.raw: byte 1024000: cannot write: File too large; what was written before is readable' err ||
    fail "it said: $(cat err)"
equal "what is in it (frames of 64000)" "$(frames_in h.raw | awk "{ print (\$1 > 50000 && \$1 < 64000) ? \"nearly all\" : \$1 }")" "nearly all"
equal "what it says is in it" "$(key out "o['frames'], o['written_bytes']")" "($(frames_in h.raw), $(stat -c %s h.raw))"
grep -Eq '^sluice pet acquire: [0-9]+ datagrams with [0-9]+ frames were received, and are lost: they are not in h.raw$' err ||
    fail "it said: $(cat err)"
run pet run --scanner mouse20 --horizon 1s h.raw --json
want 0 # a file that ends soundly

run pet acquire --listen 127.0.0.1:0 -o a.raw --duration 1s
want 1
echo "sluice pet acquire: a.raw: cannot create: File exists; raw data are not overwritten" | want_err
run pet acquire -o x
want 2
echo "sluice pet acquire: --listen is required; see sluice pet acquire --help" | want_err
run pet acquire --listen 127.0.0.1:0 --sequence 0:3
want 2
echo "sluice pet acquire: --sequence takes a place and 4 or 8 bytes, as 0:8 or 4:4:big, not '0:3'; see sluice pet acquire --help" | want_err
run pet acquire --listen 127.0.0.1:0 --sequence 4:8 --header-bytes 8
want 2
run pet acquire --listen 127.0.0.1:0 --duration 5
want 2
run pet acquire --listen 127.0.0.1:0 --ring 5X
want 2
for words in "--ring 7M 8M" "--socket-buffer 1 64k" "--rotate-size 131071 128k" "--rotate-time 1ps 100ms"; do
    read -r option value least <<<"$words"
    run pet acquire --listen 127.0.0.1:0 -o x $option $value
    want 2
    echo "sluice pet acquire: $option has $least at least: $value is less; see sluice pet acquire --help" | want_err
done
run pet acquire --listen 127.0.0.1:0 --delayed 100ns
want 2
run pet acquire --listen 127.0.0.1:0 --singles x
want 2
echo "sluice pet acquire: the scanner must be known: give --tables or --scanner; see sluice pet acquire --help" | want_err
run pet acquire --listen 127.0.0.1:0 --scanner mouse20 --coincidences x.cdh --delayed 100ns
want 2
run pet acquire --listen nonsense
want 2
run pet acquire --listen 127.0.0.1:0,127.0.0.1:0 --listen 127.0.0.1:0 --duration 100ms --json
want 1 # nothing was received
equal "three sockets" "$(key out "len(set(o['addresses']))")" 3
want_no_file x x.index
passed
