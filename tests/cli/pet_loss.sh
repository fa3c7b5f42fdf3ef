#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is lost of datagrams is told on standard error by sluice pet acquire, under -q, too, and makes the exit status 1
# above 0.1 % of the frames. The sender leaves numbers out, and waits for what it sent to be in the file, so that nothing
# here depends on how fast the machine is.
. "$(dirname "$0")/common.sh" "$@"
. "$source/tests/cli/pet_receiver.sh"

# Two modules of twenty send here, and one crystal of each: that is doubted, and not the matter.
want_err() {
    grep -v ': is it this scanner?$' err >told
    same told
}

# receive NAME OPTIONS...: starts it, quietly, at a port that is free now; -q tells no address.
receive() {
    local name=$1
    shift
    last="sluice pet acquire $*"
    address=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$sluice" pet acquire --listen "$address" -q --json -o "$name" "$@" >out 2>err </dev/null &
    receiver=$!
}
# play NAME: runs the Python program on standard input, which sends by send(number, frames, module, other) and
# send_bytes(bytes).
play() {
    cat >play.py
    python3 - "$address" "$1" <<'P' || fail "cannot send"
import os, socket, struct, sys, time
host, port = sys.argv[1].rsplit(":", 1)
raw = sys.argv[2]
for _ in range(400):
    if os.path.exists(raw) and os.path.getsize(raw) >= 64:
        break
    time.sleep(0.05)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sent = waiting = 0
def settle():
    for _ in range(4000):
        if os.path.getsize(raw) >= 64 + sent:
            return
        time.sleep(0.005)
    sys.exit("what was sent is not in the file")
def send_bytes(data):
    global sent, waiting
    s.sendto(data, (host, int(port)))
    sent += len(data)
    waiting += 1
    if waiting == 50:
        waiting = 0
        settle()
def frame(module, ticks):
    return bytes([0x50, module]) + struct.pack(">Q", ticks & 0xffffffffffff) + b"\x01\x02\x01\xff\x14\x00"
def datagram(number, frames=4, module=2, other=0):
    times = ((number * 4 + i) * 1000000 + module + other * 500 for i in range(frames))
    return struct.pack("<Q", number) + b"".join(frame(module, t) for t in times)
def send(number, frames=4, module=2, other=0):
    send_bytes(datagram(number, frames, module, other))
exec(open("play.py").read())
settle()
time.sleep(0.1) # heads of blocks are in the size, too: the last datagrams may just be on their way
P
}

# ---- loss, told and judged -------------------------------------------------------------------------------------------
receive a.raw --sequence 0:8
play a.raw <<'P'
for n in range(1000): send(n)
P
finish TERM
want 0
want_silent
equal "nothing lost" "$(key out "o['lost'], o['lost_frames'], o['frames'], o['unwritten']")" "(0, 0, 4000, 0)"

# One of a thousand is not more than 0.1 %; two are.
receive b.raw --sequence 0:8
play b.raw <<'P'
for n in range(1000):
    if n != 500: send(n)
P
finish TERM
want 0
equal "one lost" "$(key out "o['lost'], o['lost_frames'], o['frames']")" "(1, 4, 3996)"
want_err <<'E'
sluice pet acquire: lost 1 datagrams, about 4 frames (0.1 %): 1 by the sequence counters; the system dropped 0, and 0 more while the ring was full
E
receive c.raw --sequence 0:8
play c.raw <<'P'
for n in range(1000):
    if n != 500 and n != 700: send(n)
P
finish TERM
want 1
equal "two lost" "$(key out "o['lost'], o['lost_frames'], o['frames']")" "(2, 8, 3992)"
want_err <<'E'
sluice pet acquire: lost 2 datagrams, about 8 frames (0.2 %): 2 by the sequence counters; the system dropped 0, and 0 more while the ring was full
sluice pet acquire: more than 0.1 % of the frames: exit status 1 (--tolerate-loss: 0)
E
# Nine of ten, of two modules whose datagrams have different sizes.
receive d.raw --sequence 0:8 --tolerate-loss
play d.raw <<'P'
for n in range(0, 1001, 10): send(n, 4, 2)
for n in range(0, 1001, 10): send(n, 1, 3)
P
finish TERM
want 0
equal "most lost" "$(key out "o['lost'], o['lost_frames'], o['frames']")" "(1800, 4500, 505)"
want_err <<'E'
sluice pet acquire: lost 1800 datagrams, about 4500 frames (89.9 %): 1800 by the sequence counters; the system dropped 0, and 0 more while the ring was full
E

# Without a counter what the system drops is told: the receiver stands still, and its socket has little room.
receive e.raw --socket-buffer 64k
play e.raw <<'P'
for n in range(50): send_bytes(frame(2, n))
P
kill -STOP "$receiver"
python3 - "$address" <<'P'
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(2000):
    s.sendto(bytes([0x50, 2]) + bytes(14), (host, int(port)))
P
kill -CONT "$receiver"
sleep 0.3
finish TERM
want 1
equal "not known by counters" "$(key out "o['lost'], o['frames'] + o['lost_frames'], o['lost_frames'] > 100")" "(None, 2050, True)"
grep -Eq '^sluice pet acquire: lost [0-9]+ datagrams, about [0-9]+ frames .*: no sequence counter tells of others; the system dropped [0-9]+' err ||
    fail "it said: $(cat err)"

# ---- pet run tells of the file what was told of the acquisition --------------------------------------------------------
run pet run -q --scanner mouse20 --singles c.singles c.raw
want 1
want_err <<'E'
sluice pet run: c.raw: lost 2 datagrams, about 8 frames (0.2 %), by the modules' sequence counters; more than 0.1 %: exit status 1 (--tolerate-loss: 0)
E
equal "singles" "$(stat -c %s c.singles)" $((3992 * 16 + 8))
run pet run -q --scanner mouse20 --singles c.singles --tolerate-loss --json c.raw
want 0
equal "in JSON" "$(key out "o['lost'], o['lost_frames'], o['repeated'], o['foreign']")" "(2, 8, 0, 0)"
run pet run -q --scanner mouse20 --singles b.singles b.raw
want 0
echo "sluice pet run: b.raw: lost 1 datagrams, about 4 frames (0.1 %), by the modules' sequence counters" | want_err
run pet convert -q --scanner mouse20 -o c.converted c.raw
want 1
cmp c.converted c.singles || fail "pet convert has other singles"
run pet convert -q --scanner mouse20 --tolerate-loss --json -o c.converted c.raw
want 0
equal "in JSON" "$(key out "o['lost'], o['lost_frames']")" "(2, 8)"
run pet run --scanner mouse20 --json a.raw e.raw
want 0
equal "nothing lost, as far as is known" "$(key out "o['lost'], o['repeated']")" "(0, 0)"
run pet run -q --scanner mouse20 --json e.raw
equal "without counters" "$(key out "o['lost'], o['lost_frames']")" "(None, None)"

# ---- copies, strangers, late and malformed datagrams -------------------------------------------------------------------
# Each datagram is used once: live, and of the file, as if it had come once and in order.
live=(--scanner mouse20 --horizon 1s --singles)
receive f.raw --sequence 0:8 "${live[@]}" f.singles
play f.raw <<'P'
for n in range(400):
    if n not in (160, 161): send(n)
    send(n, 4, 3)
P
finish TERM
want 1
equal "as they are" "$(key out "o['lost'], o['frames'], o['left_out']")" "(2, 3192, 0)"
receive g.raw --sequence 0:8 "${live[@]}" g.singles
play g.raw <<'P'
import random
random.seed(4)
for n in range(400):
    if n == 150: send(151)
    elif n == 151: send(150)
    elif n == 160: send_bytes(datagram(160)[:20]) # no whole frame, and no module
    elif n != 161: send(n)
    send(n, 4, 3)
    if n % 4 == 0: send(n, 4, 3) # twice
    if n % 5 == 0: send(random.getrandbits(64), 4, 2, 1) # somebody else's
    if n == 200:
        for k in range(101): send(k) # all once more
P
finish TERM
want 1
equal "counts" "$(key out "o['lost'], o['malformed'], o['repeated'], o['foreign'], o['frames'], o['left_out']")" \
    "(1, 1, 201, 80, 4316, 1124)"
equal "of modules" "$(key out "[(m['module'], m['lost'], m['reordered'], m['repeated'], m['foreign'], m['restarts']) for m in o['modules']]")" \
    "[(2, 1, 1, 101, 80, 0), (3, 0, 0, 100, 0, 0)]"
want_err <<'E'
sluice pet acquire: lost 1 datagrams, about 4 frames (0.125 %): 1 by the sequence counters; the system dropped 0, and 0 more while the ring was full
sluice pet acquire: 1 malformed datagrams: not a whole number of frames behind their header; whole frames are used
sluice pet acquire: 201 repeated datagrams, copies of others, are not used
sluice pet acquire: 80 foreign datagrams, whose numbers are not of their module's sequence, are not used
sluice pet acquire: more than 0.1 % of the frames: exit status 1 (--tolerate-loss: 0)
E
cmp f.singles g.singles || fail "copies and strangers were used, or others not"
run pet run -q --scanner mouse20 --horizon 1s --singles g.again --json --tolerate-loss g.raw
want 0
equal "the same of the file" "$(key out "o['lost'], o['repeated'], o['foreign'], o['convert']['frames']")" "(1, 201, 80, 3192)"
cmp f.singles g.again || fail "copies and strangers of the file were used, or others not"

# More than a window of the counter is lost: what comes behind it is used, all of it, once it goes on there.
receive h.raw --sequence 0:8 "${live[@]}" h.singles
play h.raw <<'P'
for n in [*range(100), *range(9000, 9100)]: send(n)
P
finish TERM
want 1
equal "a large gap" "$(key out "o['lost'], o['frames'], o['left_out'], o['foreign']")" "(8900, 800, 0, 0)"
equal "all singles" "$(stat -c %s h.singles)" $((800 * 16 + 8))

# ---- a --sequence that names no counter ------------------------------------------------------------------------------
# A constant of the payload: frames whose times differ have come with the number before, so that they are foreign.
receive i.raw --sequence 0:4 --header-bytes 8 "${live[@]}" i.singles
play i.raw <<'P'
for n in range(200): send_bytes(struct.pack("<II", 77, 0) + datagram(n)[8:])
P
finish TERM
want 1
equal "foreign" "$(key out "o['lost'], o['foreign'], o['left_out']")" "(0, 199, 796)"
unused="199 foreign datagrams, whose numbers are not of their module's sequence, are not used; as they are so many, --sequence may have named a place at which no counter stands"
want_err <<E
sluice pet acquire: $unused
sluice pet acquire: more than 0.1 % of the frames: exit status 1 (--tolerate-loss: 0)
E
for command in run convert; do
    words=--singles
    [ "$command" = run ] || words=-o
    run pet $command -q --scanner mouse20 $words i.out i.raw
    want 1
    want_err <<E
sluice pet $command: i.raw: $unused
sluice pet $command: i.raw: about 796 frames are lost or not used; more than 0.1 %: exit status 1 (--tolerate-loss: 0)
E
    run pet $command -q --scanner mouse20 --tolerate-loss $words i.out i.raw
    want 0
done

# ---- another scanner, other headers, nothing at all --------------------------------------------------------------------
receive j.raw "${live[@]}" j.singles
play j.raw <<'P'
for n in range(200): send_bytes(frame(2 if n < 10 else 77, n * 1000000))
P
finish TERM
want 1
want_err <<'E'
sluice pet acquire: 190 of 200 frames were lost: are these frames of this scanner?
E
receive k.raw --header-bytes 4
play k.raw <<'P'
for n in range(20): send(n)
P
finish TERM
want 1
grep -q '^sluice pet acquire: 20 of 20 datagrams hold no whole number of frames' err || fail "it said: $(cat err)"
run pet acquire --listen 127.0.0.1:0 -q -o l.raw --duration 100ms
want 1
echo "sluice pet acquire: nothing was received" | want_err
passed
