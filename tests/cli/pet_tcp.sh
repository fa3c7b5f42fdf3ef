#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice pet acquire from TCP: frames one behind the other, and messages with their length; in any pieces, from several
# senders, with connections that break inside a message and come again; what is left out is counted.
. "$(dirname "$0")/common.sh" "$@"

. "$source/tests/cli/pet_receiver.sh"

listen_tcp() { # OPTIONS...: as listen, at a stream
    last="sluice pet acquire $*"
    : >err
    "$sluice" pet acquire --listen tcp:127.0.0.1:0 "$@" >out 2>err </dev/null &
    receiver=$!
    for _ in $(seq 200); do
        address=$(sed -n 's/.*listening at tcp://p' err)
        [ -z "$address" ] || return
        kill -0 "$receiver" 2>/dev/null || fail "'$last' ended: $(cat err)"
        sleep 0.05
    done
    fail "'$last' does not listen: $(cat err)"
}
waits() { # TEXT: until it is said
    for _ in $(seq 200); do
        ! grep -q "$1" err || return 0
        sleep 0.05
    done
    fail "it did not say '$1': $(cat err)"
}

"$sluice" simulate pet --seconds 0.02 --rate 1e6 --seed 7 --bare -q -o a.raw || fail "cannot simulate"
cat >send.py <<'P'
# ADDRESS stream|messages SEED [KEEP]: a.raw in random pieces; messages of a counter of 4 bytes and up to 90 frames of a
# module, behind a length of 2 bytes; only the first KEEP bytes of it all, and then it ends.
import random, socket, struct, sys
host, port = sys.argv[1].rsplit(":", 1)
data, rng = open("a.raw", "rb").read(), random.Random(int(sys.argv[3]))
if sys.argv[2] == "messages":
    out, numbers, i, frames = bytearray(), {}, 0, [data[k:k + 16] for k in range(0, len(data), 16)]
    by = {}
    for f in frames:
        by.setdefault(f[1], []).append(f)
    for module, some in by.items():
        for k in range(0, len(some), 90):
            body = struct.pack("<I", numbers.get(module, 0)) + b"".join(some[k:k + 90])
            numbers[module] = numbers.get(module, 0) + 1
            out += struct.pack(">H", len(body)) + body
    data = bytes(out)
if len(sys.argv) > 4:
    data = data[:int(sys.argv[4])]
s = socket.create_connection((host, int(port)))
at = 0
while at < len(data):
    n = rng.choice((1, 3, 15, 16, 17, 1000, 70000))
    s.sendall(data[at:at + n])
    at += n
s.close()
P
n=$(($(stat -c %s a.raw) / 16))
words="--scanner mouse20 --window 4ns --horizon 100ms"

# ---- frames one behind the other: what comes is the file ------------------------------------------------------------
listen_tcp -o a1.raw --json
python3 send.py "$address" stream 1
waits "connection ended after"
finish TERM
want 0
equal "all frames" "$(key out "o['frames'], o['connections'], o['broken_connections'], o['malformed'], o['kernel_drops'], o['addresses'][0][:14]")" \
    "($n, 1, 0, 0, 0, 'tcp:127.0.0.1:')"
# shellcheck disable=SC2086
run pet run $words a.raw -o a.csv -q
# shellcheck disable=SC2086
run pet run $words a1.raw -o a1.csv -q
cmp a.csv a1.csv || fail "other pairs"
compared=$((compared + 1))

# ---- messages, by several senders at once ----------------------------------------------------------------------------
listen_tcp --sequence 0:4 --tcp-length 2:big -o b.raw --json
python3 send.py "$address" messages 2
waits "connection ended after"
finish TERM
want 0
equal "all messages" "$(key out "o['frames'], o['lost'], o['repeated'], o['broken_bytes']")" "($n, 0, 0, 0)"
messages=$(key out "o['datagrams']")

# A connection that breaks inside a message: its bytes are counted; the sender connects again and sends it all.
listen_tcp --sequence 0:4 --tcp-length 2:big -o c.raw --json
python3 send.py "$address" messages 3 5000 # three messages of 1446 bytes, and 662 bytes
waits "left out"
grep -Eq "^sluice pet acquire: 127.0.0.1:[0-9]+: connection ended after 3 messages; 662 bytes of a message that is not whole are left out" err ||
    fail "it said: $(cat err)"
python3 send.py "$address" messages 4
waits "connection ended after $messages messages"
finish TERM
want 0
equal "again" "$(key out "o['datagrams'], o['repeated'], o['lost'], o['connections'], o['broken_connections'], o['broken_bytes']")" \
    "($((messages + 3)), 3, 0, 2, 1, 662)"
equal "its frames" "$(frames_in c.raw)" "$n"

# A length that cannot be, four bytes here: the connection is closed, and told.
listen_tcp --tcp-length 4 -o d.raw --json
python3 - "$address" <<'P'
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.create_connection((host, int(port)))
s.sendall((16).to_bytes(4, "little") + bytes(16) + (0).to_bytes(4, "little") + (70000).to_bytes(4, "little") + bytes(100))
assert s.recv(1) == b"" or True
P
waits "connection broken"
finish TERM
want 0
grep -Eq "connection broken: byte 24: a message of 70000 bytes, 65535 at most, after 2 messages; 104 bytes of a message" err || fail "it said: $(cat err)"
equal "a length" "$(key out "o['datagrams'], o['frames'], o['malformed'], o['broken_connections']")" "(2, 1, 1, 1)"

# What is on the way when it ends is taken; what is not whole is counted.
listen_tcp -o e.raw --json
exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
head -c 100 a.raw >&3
sleep 0.3
finish TERM
exec 3>&-
want 0
equal "the rest" "$(key out "o['frames'], o['broken_bytes']")" "(6, 4)"
grep -q "connection broken: the acquisition ends after 1 messages; 4 bytes" err || fail "it said: $(cat err)"

# ---- what cannot be asked for ----------------------------------------------------------------------------------------
run pet acquire --listen tcp:127.0.0.1:0 --sequence 0:8 --duration 1s
want 2
grep -q "messages with a header need their length before them in a stream" err || fail "it said: $(cat err)"
run pet acquire --listen tcp:127.0.0.1:0 --shards 2 --duration 1s
want 2
run pet acquire --listen 127.0.0.1:0 --tcp-length 4 --duration 1s
want 2
run pet acquire --listen tcp:127.0.0.1:0 --tcp-length 3 --duration 1s
want 2
run pet acquire --listen tcp:nothing --duration 1s
want 2
passed
