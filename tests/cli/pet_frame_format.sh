#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frames of other layouts by --frame-format: three layouts of the same singles, written here after their own description,
# give what the frames of 16 bytes give; marks have their times; what does not fit is counted; wrong formats are told.
. "$(dirname "$0")/common.sh" "$@"

. "$source/tests/cli/pet_receiver.sh"

"$sluice" simulate pet --seconds 0.02 --rate 1e6 --seed 7 --bare -q -o a.raw || fail "cannot simulate"
cat >words.py <<'P'
import json, struct
frames = [struct.unpack(">BBQBBHbB", open("a.raw", "rb").read()[i:i + 16]) for i in range(0, len(open("a.raw", "rb").read()), 16)]
def write(name, record, order, ticks, records, bits=None, **more):
    json.dump({"name": name, "record_bytes": record, "byte_order": order, "ticks": ticks, "records": records, **more,
               **({} if bits is None else {"tick_bits": bits})}, open(name + ".json", "w"), indent=1)
def number(byte, **more): return {"byte": byte, **more}

# One: two big-endian words of 64 bits: 4 bits of kind, 8 module, 4 unit, 48 time; 16 empty, 16 energy, 16 y, 16 x.
word = lambda bit, bits, byte=0: number(byte, bytes=8, bit=bit, bits=bits)
out, marks = bytearray(), []
for i, (unit, module, time, x, y, energy, t, _) in enumerate(frames):
    if i % 100 == 0: # a bed's position, in hundredths of a millimetre, signed; and every other time a pulse
        out += struct.pack(">QiI", 11 << 60 | time, i - 1000, 0)
        marks.append((time, 4, (i - 1000) / 100, 0))
    if i % 200 == 50:
        out += struct.pack(">QQ", 12 << 60 | 9 << 52 | time, 0)
        marks.append((time, 1, 0.0, 9))
    if i % 150 == 0:
        out += struct.pack(">QQ", 15 << 60, i)
    out += struct.pack(">QHHHH", 10 << 60 | module << 52 | (unit & 15) << 48 | time, 0, energy, y, x)
open("one.bin", "wb").write(out)
kind = lambda n: [{**word(60, 4), "value": n}]
write("one", 16, "big", 1, [
    {"kind": "bed", "match": kind(11), "fields": {"time": word(0, 48), "value": number(8, bytes=4, type="signed", multiply=0.01)}},
    {"kind": "single", "match": kind(10), "fields": {"module": word(52, 8), "unit": word(48, 4), "time": word(0, 48),
        "x": number(14, bytes=2), "y": number(12, bytes=2), "energy": number(10, bytes=2)}},
    {"kind": "sync", "match": kind(12), "fields": {"module": word(52, 8), "time": word(0, 48)}},
    {"kind": "skip", "match": kind(15)}])
with open("marks.csv", "w") as f:
    for m in marks: f.write("%d,%r,%d,%d\n" % (m[0], float(m[2]), m[1], m[3]))

# Two: packed 16 bytes, little-endian: time i64, energy f32 in tenths, channels numbered through; units of 16 x 16 places.
side = 16
out = bytearray()
for unit, module, time, x, y, energy, t, _ in frames:
    assert x < side and y < side
    out += struct.pack("<qfI", time, energy / 10, ((module * 16 + (unit & 15)) * side + y) * side + x)
open("two.bin", "wb").write(out)
channel = lambda **more: number(12, bytes=4, **more)
write("two", 16, "little", 1, [{"kind": "single", "fields": {"time": number(0, bytes=8),
    "energy": number(8, bytes=4, type="float", multiply=10), "module": channel(divide=4096), "unit": channel(divide=256, modulo=16),
    "y": channel(divide=16, modulo=16), "x": channel(modulo=16)}}])

# Three: 13 bytes, bits counted from the most significant one, a fine time that runs backwards.
out = bytearray()
for unit, module, time, x, y, energy, t, _ in frames:
    coarse, fine = -(-time // 1000), -(-time // 1000) * 1000 - time
    out += struct.pack(">BQHH", 0xA5, coarse << 16 | x << 8 | y, fine << 6 | 0b101010, (unit & 15) << 12 | module << 4 | 3)
    out += struct.pack(">H", energy)
open("three.bin", "wb").write(out)
write("three", 15, "big", 1, [{"kind": "single", "match": [number(0, value=0xA5), {**number(9, bytes=2, bit=10, bits=6), "value": 42}], "fields": {
    "time": [number(1, bytes=8, bit=0, bits=48, multiply=1000), number(9, bytes=2, bit=0, bits=10, multiply=-1)],
    "x": number(7), "y": number(8), "unit": number(11, bit=0, bits=4), "module": number(11, bytes=2, bit=4, bits=8),
    "energy": [number(13, bytes=2), 0]}}], bit_order="high")
print(len(frames), len(marks))
P
read -r n n_marks < <(python3 words.py)
words="--scanner mouse20 --window 4ns --horizon 10ms"

# ---- files -----------------------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
run pet run $words a.raw -o a.csv --singles a.singles --json
want 0
checksum=$(key out "o['checksum']")
for layout in one two three; do
    # shellcheck disable=SC2086
    run pet run $words --frame-format $layout.json $layout.bin -o $layout.csv --singles $layout.singles --json
    want 0
    equal "$layout" "$(key out "o['checksum'], o['records']['singles'], o['records']['unknown'], sum(o['records']['refused'].values())")" "('$checksum', $n, 0, 0)"
    cmp a.csv $layout.csv || fail "$layout: other pairs"
    cmp a.singles $layout.singles || fail "$layout: other singles"
    compared=$((compared + 2))
    run pet convert --scanner mouse20 --frame-format $layout.json $layout.bin -o $layout.converted
    want 0
    run info --frame-format $layout.json $layout.bin --json
    want 0
    equal "$layout in info" "$(key out "[(f['frame_format'], f['singles'], f['frames']) for f in o['files']]")" "[('$layout', $n, $n)]"
    # shellcheck disable=SC2086
    "$sluice" pet run $words --frame-format $layout.json - -q -o $layout.pipe.csv <$layout.bin || fail "$layout by a pipe"
    cmp a.csv $layout.pipe.csv || fail "$layout by a pipe: other pairs"
done
cmp one.converted two.converted || fail "conversions differ"
small=channels=12,modules=1,module-rings=1,blocks=1x1,crystals=2x2,radius=60mm,pitch=1.6mm,depth=12mm
"$sluice" simulate pet --scanner $small --seconds 0.1 --rate 1e6 --seed 7 --bare -q -o c.raw || fail "cannot simulate"
python3 - <<'P'
import struct
data = open("c.raw", "rb").read()
with open("c.bin", "wb") as out:
    for i in range(0, len(data), 16):
        unit, module, time, x, y, energy, t, _ = struct.unpack_from(">BBQBBHbB", data, i)
        out.write(struct.pack("<qfI", time, energy / 10, ((module * 16 + (unit & 15)) * 16 + y) * 16 + x))
P
run pet calibrate --scanner $small c.raw -o c.h5 --json
want 0
mv out c.found
run pet calibrate --scanner $small --frame-format two.json c.bin -o c.h5 --json
want 0
same c.found <out
run pet calibrate --scanner $small c.bin -o c.h5 -q # not without
want 1
run pet calibrate --scanner mouse20 --frame-format two.json -o two.h5
want 2

# ---- marks -----------------------------------------------------------------------------------------------------------
for end in csv h5 npy; do
    run pet run --scanner mouse20 --frame-format one.json one.bin -q --marks m.$end
    want 0
done
tail -n +2 m.csv >rows
python3 - <<'P' || fail "marks are others"
import csv
have = [(int(t), float(v), int(k), int(m)) for t, v, k, m in csv.reader(open("rows"))]
want = [(int(t), float(v), int(k), int(m)) for t, v, k, m in csv.reader(open("marks.csv"))]
assert have == want, (have[:3], want[:3], len(have), len(want))
P
equal "marks" "$(head -n 1 m.csv) $(wc -l <rows)" "time_ps,value,kind,module $n_marks"
run pet run --scanner mouse20 a.raw -q --marks x.csv
want 2
grep -q -- "--marks are of frames that have a format" err || fail "it said: $(cat err)"

# ---- from the network, with counters, live ---------------------------------------------------------------------------
cat >send.py <<'P'
import socket, struct, sys, time
host, port = sys.argv[1].rsplit(":", 1)
name, record = sys.argv[2], int(sys.argv[3])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect((host, int(port)))
data = open(name, "rb").read()
each = 50 * record
for number, at in enumerate(range(0, len(data), each)):
    if len(sys.argv) > 4 and number % int(sys.argv[4]) == 3:
        continue # lost on the way
    out.send(struct.pack(">I", number) + data[at:at + each])
    time.sleep(0.0005)
P
listen --frame-format one.json --header-bytes 4 -o live.raw --json --scanner mouse20 --window 4ns --horizon 10ms --coincidences live.csv \
    --marks live-marks.csv
python3 send.py "$address" one.bin 16
sleep 0.3
finish TERM
want 0
cmp a.csv live.csv || fail "live: other pairs"
cmp m.csv live-marks.csv || fail "live: other marks"
compared=$((compared + 2))
equal "records" "$(key out "o['records']['singles'], o['records']['marks'], o['frames'] == o['records']['records']")" "($n, $n_marks, True)"
# The file has the format in it.
# shellcheck disable=SC2086
run pet run $words live.raw -o live2.csv --json
want 0
cmp a.csv live2.csv || fail "of the raw file: other pairs"
run info live.raw --json
want 0
equal "the file's head" "$(key out "[(f['frame_format'], f['record_bytes'], f['ticks'], f['singles']) for f in o['files']]")" "[('one', 16, '1/1 ps', $n)]"
run pet run --scanner mouse20 live.raw a.raw -q --horizon 1s
want 1
grep -q "a.raw: its frames have another format than those of the inputs before it" err || fail "it said: $(cat err)"
run pet run --scanner mouse20 --ticks 5 live.raw -q
want 2
grep -q -- "--ticks 5: the format of the frames ('one') says 1/1 ps" err || fail "it said: $(cat err)"
"$sluice" pet run --scanner mouse20 - -q <live.raw >out 2>err
status=$?
want 1
grep -q "its frames have a format of their own ('one')" err || fail "it said: $(cat err)"
# It goes on with that format, and with no other.
listen --continue live.raw --json
python3 send.py "$address" one.bin 16
sleep 0.3
finish TERM
want 0
equal "goes on" "$(key out "o['records']['singles']")" "$n"
run pet acquire --listen 127.0.0.1:0 --continue live.raw --frame-format two.json --duration 1s
want 2
grep -q "live.0001.raw: its frames have another format" err || fail "it said: $(cat err)"

# Loss by the counter of a sender whose records have a module: all of module 0 here.
python3 - <<'P'
import json
f = json.load(open("two.json"))
f["records"][0]["fields"]["module"] = 0
json.dump(f, open("zero.json", "w"))
P
listen --frame-format zero.json --sequence 0:4:big -o lost.raw --json --tolerate-loss
python3 send.py "$address" two.bin 16 10
sleep 0.3
finish TERM
want 0
lost=$(python3 -c "import os; n = -(-os.path.getsize('two.bin') // 800); print(len([k for k in range(n) if k % 10 == 3]))")
equal "lost" "$(key out "o['lost']")" "$lost"
run pet run --scanner mouse20 --horizon 1s lost.raw --json --tolerate-loss
equal "lost in the file" "$(key out "o['lost']")" "$lost"

# ---- what does not fit -----------------------------------------------------------------------------------------------
python3 - <<'P'
import struct
data = bytearray(open("two.bin", "rb").read()[:16 * 2000])
struct.pack_into("<I", data, 16 * 10 + 12, 256 * 4096) # module 256
struct.pack_into("<f", data, 16 * 20 + 8, 7000.0)      # 70000
struct.pack_into("<f", data, 16 * 21 + 8, float("nan"))
struct.pack_into("<q", data, 16 * 30, -1)
open("wrong.bin", "wb").write(data)
P
run pet run --scanner mouse20 --frame-format two.json wrong.bin --horizon 1s --json
want 1
equal "refused" "$(key out "{k: v for k, v in o['records']['refused'].items() if v}, o['records']['singles'], o['faults']")" \
    "({'module': 1, 'time': 1, 'energy': 2}, 1996, {'pet_range': 4})"
grep -q "^sluice pet run: wrong.bin: 2 of 2000 records have a energy that does not fit, and are left out: frames have room for 0 to 65535" err ||
    fail "it said: $(cat err)"
run pet run --scanner mouse20 --frame-format two.json wrong.bin --horizon 1s --tolerate-loss -q
want 0
head -c 16005 one.bin >cut.bin
run pet run --scanner mouse20 --frame-format one.json cut.bin --horizon 1s --json
want 1
equal "a tail" "$(key out "o['faults'].get('pet_cut')")" 1
run pet run --scanner mouse20 --frame-format three.json one.bin -q --horizon 1s
want 1
grep -q "records match none of the frames' format" err || fail "it said: $(cat err)"

# ---- wrong formats ---------------------------------------------------------------------------------------------------
wrong() { # SED MESSAGE
    sed "$1" two.json >bad.json
    run pet run --scanner mouse20 --frame-format bad.json two.bin
    want 1
    grep -q "^sluice pet run: bad.json: line [0-9]*, column [0-9]*: $2" err || fail "'$1': it said: $(cat err)"
}
wrong 's/"record_bytes": 16/"record_bytes": 0/' "record_bytes must be from 1 to 1024, not 0"
wrong 's/"record_bytes": 16/"record_bytes": 15/' "bytes 12 to 15 are not in a record of 15 bytes"
wrong 's/"little"/"middle"/' "byte_order is one of little, big, not 'middle'"
wrong 's/"ticks": 1/"ticks": "1\/0"/' "ticks are picoseconds"
wrong 's/"single"/"double"/' "kind is one of single, skip, other, sync, trigger, gate, bed, not 'double'"
wrong 's/"x": {/"z": {/' "unknown key 'z' of a single's fields"
wrong 's/"name": "two",//' "'name' is missing"
run pet run --scanner mouse20 --frame-format nothing.json two.bin
want 1
grep -q "^sluice pet run: nothing.json: " err || fail "it said: $(cat err)"
printf '{"name": "x"' >bad.json
run info --frame-format bad.json two.bin
want 1
grep -q "^sluice info: bad.json: line 1, column" err || fail "it said: $(cat err)"
passed
