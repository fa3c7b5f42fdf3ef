#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice pet acquire: an acquisition that goes on with the files of one that has ended; several sockets at one address;
# times of the system. What is in the files is read by a reader of this test's own, after docs/formats/pet-raw.md.
. "$(dirname "$0")/common.sh" "$@"

. "$source/tests/cli/pet_receiver.sh"

# Datagrams of one frame behind a counter of 8 bytes: MODULE NUMBER... from a port of its own; `first-last` is a range.
cat >send.py <<'P'
import socket, struct, sys, time
host, port = sys.argv[1].rsplit(":", 1)
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect((host, int(port)))
module = int(sys.argv[2])
for word in sys.argv[3:]:
    first, last = (word + "-" + word).split("-")[:2]
    for number in range(int(first), int(last) + 1):
        out.send(struct.pack("<Q", number) + struct.pack(">BBQBBHbB", 0, module, number, 1, 1, 7, 20, 0))
        if number % 50 == 0:
            time.sleep(0.002)
P
# Of files: "series, numbers of files, first and last datagram, sockets, modules' numbers", and times.
cat >look.py <<'P'
import struct, sys
names, modules, sockets, stamps, expected = sys.argv[1:], {}, set(), [], None
files, series = [], set()
for name in names:
    data = open(name, "rb").read()
    assert data[:8] == b"\x89SLCPET\n"
    version, number, one, begun, header, at, size, flags = struct.unpack_from("<IIQQHHBB", data, 8)
    assert version == 1 and all(b == 0 for b in data[38:56])
    files.append(number)
    series.add(one)
    place = 64
    while place < len(data):
        magic, header2, socket, time_ns, first, payload, each, zero = struct.unpack_from("<4sHHQQIHH", data, place)
        assert magic == b"\x9eSPB" and header2 == header and zero == 0
        assert expected is None or first == expected, (first, expected)
        sockets.add(socket)
        for i in range(0, payload, each):
            d = data[place + 48 + i:place + 48 + min(i + each, payload)]
            number = struct.unpack_from("<Q", d, at)[0]
            modules.setdefault(d[header + 1], []).append(number)
            if flags & 2:
                stamps.append((struct.unpack_from("<Q", d)[0], time_ns))
        expected = first + -(-payload // each)
        place += 48 + payload
print(len(series), files, expected, {m: len(n) for m, n in sorted(modules.items())}, flags, header, at)
if stamps:
    # Received before they were taken, and in order of each socket: one sender here.
    assert all(a <= b for (a, _), (b, _) in zip(stamps, stamps[1:])), "times go back"
    assert all(0 <= t - s < 60e9 for s, t in stamps), "times are not before the block's"
    print(stamps[0][0], stamps[-1][0])
P
modules_of() { key out "{m['module']: (m['datagrams'], m['lost'], m['restarts'], m['repeated'] + m['foreign']) for m in o['modules']}"; }

# ---- an acquisition in three parts -----------------------------------------------------------------------------------
listen --sequence 0:8 -o a.raw --json
python3 send.py "$address" 1 0-99
python3 send.py "$address" 2 1000-1299
sleep 0.2
# It is still written: nobody goes on with it.
run pet acquire --listen 127.0.0.1:0 --continue a.raw --duration 1s
want 1
echo "sluice pet acquire: a.raw: another acquisition is still writing it" | want_err
finish TERM
want 0
equal "the first part" "$(modules_of)" "{1: (100, 0, 0, 0), 2: (300, 0, 0, 0)}"

# 50 of module 1 are lost between, 100000 of module 2; module 3 is new.
listen --continue a.raw --json
grep -qx "sluice pet acquire: goes on behind a.raw, with datagram 400" err || fail "it said: $(cat err)"
python3 send.py "$address" 1 150-199
python3 send.py "$address" 2 101300-101399
python3 send.py "$address" 3 7-9
sleep 0.2
finish KILL
equal "killed" "$status" 137

# Behind the second, by whichever file's name; module 1 goes on at once, module 2 began again, module 3 misses 2.
listen --continue a.raw --sequence 0:8 --json
grep -qx "sluice pet acquire: goes on behind a.0001.raw, with datagram 553" err || fail "it said: $(cat err)"
python3 send.py "$address" 1 200-209
python3 send.py "$address" 2 0-9
python3 send.py "$address" 3 12 13
sleep 0.2
finish TERM
want 1 # 2 of 24 are lost
equal "the third part" "$(modules_of)" "{1: (10, 0, 0, 0), 2: (10, 0, 1, 0), 3: (2, 2, 0, 0)}"
equal "lost" "$(key out "o['lost'], o['files']")" "(2, 1)"
equal "the files" "$(python3 look.py a.raw a.0001.raw a.0002.raw)" "1 [0, 1, 2] 575 {1: 160, 2: 410, 3: 5} 0 8 0"
run pet run --scanner mouse20 --horizon 1s --series a.raw --json --tolerate-loss
equal "lost, by all files" "$(key out "o['lost'], o['missing_datagrams'], o['convert']['frames']")" "(100052, 0, 575)"
grep -q "all inputs: lost 100052 datagrams" err || fail "it said: $(cat err)"

# A file whose last block was cut by a loss of power: its whole datagrams are there, and the next number is theirs.
listen --sequence 0:8 -o b.raw --json
python3 send.py "$address" 5 0-9
sleep 0.2
finish TERM
truncate -s -20 b.raw # what is wrong is told with -q, too
"$sluice" pet acquire --listen 127.0.0.1:0 --continue b.raw --duration 200ms -q >out 2>err
status=$?
want 1 # nothing was received
grep -q "^sluice pet acquire: b.raw: 1 damaged places in what was acquired before" err || fail "it said: $(cat err)"
listen --continue b.raw --json
grep -qx "sluice pet acquire: goes on behind b.0001.raw, with datagram 9" err || fail "it said: $(cat err)"
python3 send.py "$address" 5 10-11 # 9 was cut
sleep 0.2
finish TERM
want 1
equal "what was cut is lost" "$(key out "o['lost']")" 1

# ---- what cannot be gone on with -------------------------------------------------------------------------------------
printf 'no frames at all, but a text that is long enough to be a head of a file, and more' >text
run pet acquire --listen 127.0.0.1:0 --continue text
want 1
echo "sluice pet acquire: text: byte 0: no undamaged head of a raw file, so no acquisition to go on with" | want_err
run pet acquire --listen 127.0.0.1:0 --continue nothing.raw
want 1
grep -q "^sluice pet acquire: nothing.raw: " err || fail "it said: $(cat err)"
run pet acquire --listen 127.0.0.1:0 --continue a.raw -o c.raw
want 2
grep -q -- "--continue and --output exclude each other" err || fail "it said: $(cat err)"
run pet acquire --listen 127.0.0.1:0 --continue a.raw --replace
want 2
run pet acquire --listen 127.0.0.1:0 --continue a.raw --sequence 0:4
want 2
grep -q "a.raw: its datagrams have another header than" err || fail "it said: $(cat err)"
cp a.raw damaged.raw
printf '\377' | dd of=damaged.raw bs=1 seek=20 conv=notrunc 2>/dev/null
run pet acquire --listen 127.0.0.1:0 --continue damaged.raw
want 1

# ---- several sockets at one address ----------------------------------------------------------------------------------
listen --sequence 0:8 --shards 4 -o s.raw --json
run pet acquire --listen "$address" --shards 4 --duration 1s # would take datagrams away
want 1
grep -q "cannot listen there: Address already in use" err || fail "it said: $(cat err)"
senders=
for module in $(seq 0 31); do
    python3 send.py "$address" "$module" 0-199 &
    senders="$senders $!"
done
for sender in $senders; do wait "$sender"; done
sleep 0.2
finish TERM
want 0
equal "all senders" "$(key out "len(o['modules']), o['datagrams'], o['lost'], sum(m['reordered'] for m in o['modules']), len(o['addresses'])")" "(32, 6400, 0, 0, 1)"
run info s.raw --json
equal "several sockets had some" "$(key out "o['files'][0]['sockets'] > 1")" True
run pet acquire --listen 127.0.0.1:0,127.0.0.1:0 --shards 33
want 2
grep -q "2 addresses with 33 sockets each: 64 sockets at most" err || fail "it said: $(cat err)"
run pet acquire --listen 239.255.77.9%lo:9000 --shards 2 --duration 1s
case $status in
    2) grep -q "each of several sockets would get all that is sent to a group" err || fail "it said: $(cat err)" ;;
    1) grep -q "cannot listen there" err || fail "it said: $(cat err)" ;; # no multicast here
    *) fail "status $status: $(cat err)" ;;
esac

# ---- times of the system ---------------------------------------------------------------------------------------------
listen --header-bytes 8 --sequence 0:8 --timestamps -o t.raw --json
before=$(python3 -c 'import time; print(time.time_ns())')
python3 send.py "$address" 4 0-299
after=$(python3 -c 'import time; print(time.time_ns())')
sleep 0.2
finish TERM
want 0
equal "with times" "$(python3 look.py t.raw | head -1)" "1 [0] 300 {4: 300} 2 16 8"
python3 look.py t.raw | tail -1 | { read -r first last; [ "$before" -le "$first" ] && [ "$last" -le "$after" ] || fail "times $first $last of $before $after"; }
equal "frames" "$(frames_in t.raw)" 300
run info t.raw
grep -q "timestamps  *the system's clock at reception (SO_TIMESTAMPNS, CLOCK_REALTIME)" out || fail "it printed: $(cat out)"
listen --continue t.raw --json
python3 send.py "$address" 4 310-319
sleep 0.2
finish TERM
equal "goes on with times" "$(python3 look.py t.raw t.0001.raw | head -1)" "1 [0, 1] 310 {4: 310} 2 16 8"
equal "lost" "$(key out "o['lost']")" 10
passed
