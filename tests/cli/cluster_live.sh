#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster` of words over the network: what it finds is what it finds in the file with the same words, however reads,
# connections and datagrams cut them; what was lost is told; a signal is the ordinary end, whoever is silent.
. "$(dirname "$0")/common.sh" "$@"

. "$source/tests/cli/pet_receiver.sh"

receive() { # INPUT OPTIONS...: starts it in the background; leaves $address where it listens
    last="sluice cluster $*"
    : >err
    "$sluice" cluster "$@" >out 2>err </dev/null &
    receiver=$!
    case $1 in tcp://*) return ;; esac
    waits "listening at"
    address=$(sed -n 's/.*listening at //p' err)
}
waits() { # TEXT [TIMES]: until it is said
    for _ in $(seq 400); do
        [ "$(grep -c "$1" err)" -lt "${2:-1}" ] || return 0
        kill -0 "$receiver" 2>/dev/null || fail "'$last' ended: $(cat err)"
        sleep 0.05
    done
    fail "'$last' did not say '$1': $(cat err)"
}

cat >make.py <<'P'
# a.tpx3: hits of four chips in chunks of any size, with heartbeats; one.tpx3: the hits of chip 0 in one chunk after the other.
import random, struct
rng = random.Random(11)
def pixel(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF
def chunk(chip, words):
    return struct.pack("<4sBBH", b"TPX3", chip, 0, 8 * len(words)) + struct.pack("<%dQ" % len(words), *words)
for name, chips, most in (("a", 4, 5000), ("one", 1, 900)):
    tick, out, chunks, words = 1 << 20, b"", [], []
    for _ in range(12000):
        tick += rng.randrange(400)
        x, y = rng.randrange(1, 255), rng.randrange(1, 255)
        for _ in range(rng.randrange(1, 6)):
            words.append(pixel(x + rng.randrange(-1, 2), y + rng.randrange(-1, 2), tick + rng.randrange(30) + 0, rng.randrange(1, 800)))
        if rng.randrange(600) == 0:
            words += [0x44 << 56 | (tick // 16 & 0xFFFFFFFF) << 16, 0x45 << 56 | (tick >> 36) << 16]
        if len(words) > rng.randrange(1, most):
            chunks.append(chunk(rng.randrange(chips), words))
            words = []
    open(name + ".tpx3", "wb").write(b"".join(chunks))
P
cat >send.py <<'P'
# ADDRESS|listen HOW FILE [BYTES]: stream: in random pieces; two: in two connections, cut between chunks; udp: a chunk a datagram;
# bare: words without heads. The first BYTES bytes alone.
import random, socket, struct, sys
address, how, data = sys.argv[1], sys.argv[2], open(sys.argv[3], "rb").read()
data = data[:int(sys.argv[4])] if len(sys.argv) > 4 else data
rng = random.Random(3)
def chunks():
    at = 0
    while at < len(data):
        size = 8 + struct.unpack_from("<H", data, at + 6)[0]
        yield data[at:at + size]
        at += size
def stream(s, data):
    at = 0
    while at < len(data):
        n = rng.choice((1, 3, 7, 8, 9, 1000, 70000))
        s.sendall(data[at:at + n])
        at += n
    s.close()
if address == "listen":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    print(s.getsockname()[1], flush=True)
    stream(s.accept()[0], data)
    sys.exit()
host, port = address.rsplit(":", 1)
if how == "stream":
    stream(socket.create_connection((host, int(port))), data)
elif how == "two":
    whole = list(chunks())
    for part in (b"", b"".join(whole[:len(whole) // 2]), b"", b"".join(whole[len(whole) // 2:])):
        stream(socket.create_connection((host, int(port))), part)
elif how == "barestream":
    stream(socket.create_connection((host, int(port))), b"".join(c[8:] for c in chunks()))
else:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((host, int(port)))
    for c in chunks():
        s.send(c[8:] if how == "bare" else c)
    s.send(b"\xb0" * 11)  # a word and a part of one: the word is a pixel
    s.send(b"")
P
python3 make.py || fail "cannot make the files"
for name in a one; do
    run cluster $name.tpx3 -o $name.csv --json
    want 0
    cp out $name.json
done
sum() { # FILE.json
    python3 -c 'import json,sys; o=json.load(open(sys.argv[1])); print(o["checksum"], o["inputs"][0]["pixels"], o["partial"])' "$1"
}

# ---- a listener: any pieces, one connection and several ----------------------------------------------------------------------
for how in stream two; do
    receive tcp-listen://127.0.0.1:0 -o l.csv --json
    python3 send.py "$address" $how a.tpx3
    waits "a connection has ended" $([ $how = two ] && echo 4 || echo 1)
    finish TERM
    want 0
    equal "$how" "$(sum out)" "$(sum a.json)"
    cmp -s l.csv a.csv || fail "'$last': other clusters than of the file"
    equal "its counts" "$(key out "[o['inputs'][0][k] for k in ('connections', 'broken_bytes', 'damaged', 'dropped', 'datagrams')]")" \
        "[$([ $how = two ] && echo 4 || echo 1), 0, 0, 0, 0]"
done

# ---- words without heads, by TCP -----------------------------------------------------------------------------------------------
receive tcp-listen://127.0.0.1:0 -o l.csv --json
python3 send.py "$address" barestream one.tpx3
waits "a connection has ended"
finish TERM
want 0
equal "bare words" "$(sum out)" "$(sum one.json)"
cmp -s l.csv one.csv || fail "'$last': other clusters than of the file"

# ---- a connection that ends inside a word, and inside a chunk --------------------------------------------------------------------
whole=$(python3 -c "import struct; d=open('a.tpx3','rb').read(); print(8 + struct.unpack_from('<H', d, 6)[0])")
receive tcp-listen://127.0.0.1:0 -o l.csv --json
python3 send.py "$address" stream a.tpx3 $((whole + 67))
waits "a connection has ended inside a word"
python3 send.py "$address" stream a.tpx3
waits "a connection has ended$"
finish TERM
want 0
equal "cut" "$(key out "[o['inputs'][0][k] for k in ('connections', 'broken_bytes', 'damaged')]")" "[2, 3, 1]"
grep -q "1 damaged, left out; the first at byte $((whole + 64)): a connection ends inside a chunk" err || fail "'$last' said $(cat err)"
grep -q ": 3 bytes of words that were not whole were left out" err || fail "'$last' said $(cat err)"

# ---- a client: the connection's end is the input's ---------------------------------------------------------------------------
coproc server { python3 send.py listen stream a.tpx3; }
read -r port <&"${server[0]}"
run cluster "tcp://127.0.0.1:$port" -o l.csv --json
want 0
equal "client" "$(sum out)" "$(sum a.json)"
cmp -s l.csv a.csv || fail "'$last': other clusters than of the file"
run cluster "tcp://127.0.0.1:$port" -o n.csv
want 1
grep -q "cannot connect: Connection refused; nobody listens there (yet)" err || fail "'$last' said $(cat err)"
want_no_file n.csv

# ---- datagrams ---------------------------------------------------------------------------------------------------------------
for how in udp bare; do
    receive udp://127.0.0.1:0 -o l.csv --json --flush 100ms
    python3 send.py "$address" $how one.tpx3
    for _ in $(seq 400); do # until nothing new is flushed
        n=$(cat l.csv.tmp-* 2>/dev/null | wc -l)
        [ "$n" -lt 2 ] || [ "$n" != "${before:-0}" ] || break
        before=$n
        sleep 0.3
    done
    finish TERM
    want 0
    lost=$(key out "o['inputs'][0]['dropped']")
    equal "$how: broken" "$(key out "o['inputs'][0]['broken_bytes']")" 3
    if [ "$lost" = 0 ]; then
        pixels=$(($(key one.json "o['inputs'][0]['pixels']") + $([ $how = bare ] && echo 1 || echo 0)))
        equal "$how: pixels" "$(key out "o['inputs'][0]['pixels']")" "$pixels"
        equal "$how: datagrams" "$(key out "o['inputs'][0]['datagrams']")" \
            "$(($(key one.json "o['inputs'][0]['chunks']") + 2))"
        head -n 10000 one.csv >wanted
        head -n 10000 l.csv | cmp -s - wanted || fail "'$last': other clusters than of the file"
    else
        grep -q "the system had no room for $lost datagrams" err || fail "'$last' said $(cat err)"
    fi
done

# ---- series of files, and flushes while nothing comes ------------------------------------------------------------------------
receive tcp-listen://127.0.0.1:0 -o l.h5 --rotate-size 128k
python3 send.py "$address" stream a.tpx3
waits "a connection has ended"
finish TERM
want 0
run cluster a.tpx3 -o w.h5
want 0
/usr/bin/python3 - w.h5 l.h5 l.0*.h5 <<'P' || fail "'$last': together they are not w.h5"
import sys, h5py, numpy
whole, parts = h5py.File(sys.argv[1]), [h5py.File(name) for name in sys.argv[2:]]
assert len(parts) > 1 and parts[-1].attrs["checksum"] == whole.attrs["checksum"] and "partial" not in parts[-1].attrs
for name in set(whole["clusters"]) - {"event_offset"}:
    assert numpy.concatenate([p["clusters"][name][:] for p in parts]).tobytes() == whole["clusters"][name][:].tobytes(), name
P
receive tcp-listen://127.0.0.1:0 -o l.csv --flush 100ms
python3 - "$address" <<'P' &
import os, socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
s = socket.create_connection((host, int(port)))
s.sendall(open("a.tpx3", "rb").read())
while not os.path.exists("enough"):
    time.sleep(0.05)
P
talker=$!
for _ in $(seq 400); do # the connection is silent now, and what was found comes to the disk
    [ "$(cat l.csv.tmp-* 2>/dev/null | wc -l)" -lt 10000 ] || break
    sleep 0.05
done
[ "$(cat l.csv.tmp-* | wc -l)" -ge 10000 ] || fail "'$last': nothing was flushed"
finish TERM # with the connection open, and silent
want 0
touch enough
wait $talker
cmp -s l.csv a.csv || fail "'$last': other clusters than of the file"

# ---- nobody comes, or nobody ever ends ---------------------------------------------------------------------------------------
for input in tcp-listen://127.0.0.1:0 udp://127.0.0.1:0; do
    for output in n.csv n.h5; do
        rm -f $output
        receive $input -o $output
        finish TERM
        want 0
        grep -q "there are no pixels in it" err || fail "'$last' said $(cat err)"
        [ -s $output ] || fail "'$last': no $output"
        compared=$((compared + 1))
    done
done
equal "no clusters" "$(/usr/bin/python3 -c 'import h5py; f = h5py.File("n.h5"); print(len(f["clusters/size"]), "partial" in f.attrs)')" "0 False"
receive tcp-listen://127.0.0.1:0 -o l.csv --json
python3 - "$address" <<'P' &
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s, data = socket.create_connection((host, int(port))), open("a.tpx3", "rb").read()
try:
    while True:
        s.sendall(data)
except OSError:
    pass
P
talker=$!
waits "a connection has come"
finish TERM
want 0
wait $talker
equal "endless" "$(key out "o['partial']")" False

# ---- what does not go --------------------------------------------------------------------------------------------------------
stranger() { # HOW ADDRESS: what no readout sends
    python3 - "$@" <<'P'
import socket, sys
how, (host, port) = sys.argv[1], sys.argv[2].rsplit(":", 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if how == "udp" else socket.SOCK_STREAM)
s.connect((host, int(port)))
s.send(b"GET / HTTP/1.1\r\n\r\n")
if how == "tcp":
    s.settimeout(30)
    try:
        assert s.recv(1) == b"", "it is not closed"
    except ConnectionResetError:
        pass
P
}
for how in tcp udp; do
    receive $([ $how = tcp ] && echo tcp-listen || echo udp)://127.0.0.1:0 -o l.csv --json
    stranger $how "$address" || fail "'$last': a stranger"
    waits "no words of a Timepix readout, and was"
    stranger $how "$address" || fail "'$last': a stranger"
    waits "no words of a Timepix readout, and was" 2
    python3 send.py "$address" $([ $how = tcp ] && echo stream || echo udp) one.tpx3
    if [ $how = tcp ]; then waits "a connection has ended"; fi
    finish TERM
    want 0
    cmp -s l.csv one.csv || [ $how = udp ] || fail "'$last': other clusters than of the file"
    [ "$(key out "o['inputs'][0]['damaged']")" -ge 2 ] || fail "'$last': $(cat out)"
    grep -q "it began with 47 45 54 20 2f" err || fail "'$last' said $(cat err)"
done
receive tcp-listen://127.0.0.1:0
stranger tcp "$address" || fail "'$last': a stranger"
finish TERM
[ $status -ne 0 ] || fail "'$last': nothing but a stranger, and it is well"
grep -q "no pixel could be read, and 1 were damaged; the first at byte 0: no words of a Timepix readout" err || fail "'$last' said $(cat err)"
coproc foreign { python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
s.accept()[0].sendall(b"x,y,tot,toa\n1,2,3,4\n")'; }
read -r port <&"${foreign[0]}"
run cluster "tcp://127.0.0.1:$port" -o n.csv
want 1
grep -q "byte 0: no words of a Timepix readout: they begin with 78 2c 79 2c" err || fail "'$last' said $(cat err)"
refused() { # REASON ARGS...
    local reason=$1
    shift
    run cluster "$@"
    [ $status -ne 0 ] || fail "'$last' is not refused"
    grep -qF -- "$reason" err || fail "'$last' said $(cat err)"
    compared=$((compared + 1))
}
refused "an input over the network is the only one" a.tpx3 udp://127.0.0.1:0
refused "--disorder all would wait" --disorder all udp://127.0.0.1:0
refused "--part is of files" --part 0/2 udp://127.0.0.1:0
refused "'127.0.0.1' is no address" tcp://127.0.0.1
refused "is no address" tcp-listen://
passed
