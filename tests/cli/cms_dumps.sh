#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dumps of CMS's stand-alone programs, written here by their description: cabling and gains give what our own files
# give; positions, errors and places are those of the formulas; what cannot be is refused; modules are left out.
. "$(dirname "$0")/common.sh" "$@"

"$sluice" simulate cms -q --events 6 --tracks 300 --seed 5 -o a.bin --cabling a.cabling --gains a.gains || fail "cannot generate events"
cat >dump.py <<'P'
import random
import struct
import sys

random.seed(7)
cabling, gains = open("a.cabling", "rb").read(), open("a.gains", "rb").read()
# Element 0 of the arrays has no meaning; the chip of FED 1200, link 1, chip 1 is element 1.
n = 57600
fed, link, roc, raw, place, module = ([0] * n for _ in range(6))
bad, skip = bytearray(n), bytearray(n)
assert cabling[24 + 8 * (n - 1) : 24 + 8 * n][:4] == b"\0\0\0\0", "the last chip has no element"
for i in range(n - 1):
    identity, number, chip, is_bad = struct.unpack_from("<IHBB", cabling, 24 + 8 * i)
    e = i + 1
    fed[e], link[e], roc[e] = 1200 + i // 384, i % 384 // 8 + 1, i % 8 + 1
    if identity == 0 or number == 65534:
        raw[e], place[e], module[e] = 9999, 9999, 9999
    else:
        raw[e], place[e], module[e] = identity, chip, number
        bad[e], skip[e] = (is_bad, 0) if e % 2 else (0, is_bad)
with open("cablingMap.bin", "wb") as f:
    for a in (fed, link, roc, raw, place, module):
        f.write(struct.pack("<%dI" % n, *a))
    f.write(bytes(bad) + struct.pack("<I", n - 1) + bytes(random.randrange(256) for _ in range(124)))
    f.write(struct.pack("<I", n) + bytes(skip))
modules, per_module, low, step, plow, pstep, dead, noisy = struct.unpack_from("<IIffffBB", gains, 16)
assert (modules, per_module) == (1856, 832)
with open("gain.bin", "wb") as f:
    f.write(struct.pack("<Q", 0x7F0012345678))
    for m in range(2000):
        f.write(struct.pack("<IIi", m * 1664, (m + 1) * 1664, 416) if m < 1856 else b"\xaa" * 12)
    f.write(struct.pack("<6f", plow, plow + 255 * pstep, low, low + 255 * step, pstep, step))
    f.write(struct.pack("<5I", 80, 254, dead, noisy, 1856 * 1664) + gains[48:])
ids = {module[e]: raw[e] for e in range(1, n) if module[e] < 1856}
with open("cpefast.bin", "wb") as f:
    f.write(struct.pack("<4fI", 0.0285, 0.029, 0.01, 0.015, 1856))
    for m in range(1856):
        u = [random.uniform(-1, 1) for _ in range(3)]
        v = [random.uniform(-1, 1) for _ in range(3)]
        length = sum(x * x for x in u) ** 0.5
        u = [x / length for x in u]
        dot = sum(x * y for x, y in zip(u, v))
        v = [y - dot * x for x, y in zip(u, v)]
        length = sum(x * x for x in v) ** 0.5
        v = [x / length for x in v]
        hand = -1 if m % 3 == 0 else 1  # mirrored frames, too
        w = [hand * x for x in (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])]
        identity = ids.get(m, (1 if m < 1184 else 2) << 25 | 1 << 28 | 1 << 20)
        some = lambda low, high, k: [random.uniform(low, high) for _ in range(k)]
        f.write(struct.pack("<BBHHHI", (identity >> 25 & 7) == 1, m % 2, 1, m, 0xBBBB, identity))
        f.write(struct.pack("<4f", *some(-0.01, 0.01, 2), *some(-0.01, 0.01, 2)))  # shifts, widths
        f.write(struct.pack("<3f", *some(-1, 1, 2), random.choice((-4.0, 5.0))))
        f.write(struct.pack("<6f", *some(0.001, 0.004, 6)))
        f.write(struct.pack("<3f", *some(-30, 30, 3)) + struct.pack("<9f", *u, *v, *w))
    f.write(b"\xcc" * 3720)
P
/usr/bin/python3 dump.py || fail "no dumps"
equal "bytes of cablingMap.bin" "$(stat -c %s cablingMap.bin)" 1497732
equal "bytes of gain.bin" "$(stat -c %s gain.bin)" 3112436
equal "bytes of cpefast.bin" "$(stat -c %s cpefast.bin)" 211612

# ---- cabling and gains are those of our own files -----------------------------------------------------------------------
checksum_of() { key out "o['checksum']"; }
run cms -q --json --cabling a.cabling --gains a.gains a.bin
want 0
want_silent
own=$(checksum_of)
run cms -q --json --cabling cablingMap.bin --gains gain.bin a.bin
want 0
equal "checksum by dumps" "$(checksum_of)" "$own"
grep -q "^sluice cms: cablingMap.bin: a dump of CMS's cabling map, without a checksum: [0-9]* chips are connected, [0-9]* bad, [0-9]* not to be unpacked; ids 0 and 9999 are taken for no chip$" err ||
    fail "nothing is told of the cabling: $(cat err)"
grep -q "^sluice cms: gain.bin: a dump of CMS's gains, without a checksum: 1856 modules; gains from " err || fail "nothing is told of gains: $(cat err)"

# ---- positions, errors and places ---------------------------------------------------------------------------------------
run cms -q --json --cabling a.cabling --gains a.gains --geometry cpefast.bin -o p.h5 a.bin
want 0
grep -q "^sluice cms: cpefast.bin: a dump of CMS's positions, .*: 1856 modules, pitches 100 and 150 um, 285 um thick in the barrel, 290 um in the endcaps" err ||
    fail "nothing is told of the geometry: $(cat err)"
placed=$(checksum_of)
[ "$placed" != "$own" ] || fail "places are not in the checksum"
for threads in 1 3; do
    run cms -q --json --cabling cablingMap.bin --gains gain.bin --geometry cpefast.bin --threads $threads --batch 2 a.bin
    want 0
    equal "checksum with $threads threads" "$(checksum_of)" "$placed"
done
cat >look.py <<'P'
import struct
import sys

import h5py
import numpy as np

at = open("cpefast.bin", "rb").read()
h = h5py.File("p.h5")
c = {k: h["clusters"][k][:].astype("f8") for k in ("module", "x_min", "x_max", "y_min", "y_max", "charge_x_min", "charge_x_max",
     "charge_y_min", "charge_y_max", "x_um", "y_um", "x_error_um", "y_error_um")}
assert len(c["module"]) > 1000 and len(h["places/x_mm"]) == len(c["module"])
assert (h["places/event_offset"][:] == h["clusters/event_offset"][:]).all()
assert h["places/x_mm"].attrs["unit"] in ("mm", b"mm")
thick = struct.unpack_from("<ff", at, 0)
edges = [lambda p: p + (p > 79) + (p > 80), lambda p: p + 2 * (p // 52) + (p % 52 > 0)]
big = [lambda p: p in (79, 80), lambda p: p % 52 in (0, 51)]
seen, hands = set(), [0, 0]
for i in range(0, len(c["module"]), 3):
    m = int(c["module"][i])
    d = 20 + 112 * m
    barrel, _, _, index, _, raw = struct.unpack_from("<BBHHHI", at, d)
    f = struct.unpack_from("<25f", at, d + 12)
    shift, width, origin, errors = f[0:2], f[2:4], f[4:7], (f[7:10], f[10:13])
    position, rotation = np.array(f[13:16]), np.array(f[16:25]).reshape(3, 3)
    local = []
    for a, (name, pitch, middle, last) in enumerate((("x", 0.01, 81, 159), ("y", 0.015, 216, 415))):
        low, high = int(c[name + "_min"][i]), int(c[name + "_max"][i])
        first_q, last_q = c["charge_%s_min" % name][i], c["charge_%s_max" % name][i]
        inner, outer = edges[a](low + 1), edges[a](high)
        x = shift[a] + pitch * ((inner + outer) / 2 - middle)
        if high > low:
            cot = -(x - origin[a]) / origin[2]
            w = abs(thick[1 - barrel] * cot - width[a]) - pitch * (outer - inner)
            if high - low > 1 or not 0 <= w <= pitch:
                w = pitch * 0.5 * (2 + big[a](low) + big[a](high))
            x += 0.5 * (last_q - first_q) / (last_q + first_q or 1) * w
        local.append(x)
        kind = "edge" if low == 0 or high == last else 0 if high > low else 2 if big[a](low) else 1
        seen.add((a, kind))
        error = (0.005, 0.0085)[a] if kind == "edge" else errors[a][kind]
        assert abs(c[name + "_um"][i] - x * 1e4) < 0.02, (i, name, c[name + "_um"][i], x * 1e4)
        assert abs(c[name + "_error_um"][i] - error * 1e4) < 1e-3, (i, name, kind)
    hands[np.linalg.det(rotation) < 0] += 1
    place = rotation.T @ np.array([local[0], local[1], 0]) + position
    is_at = np.array([h["places"][k + "_mm"][i] for k in "xyz"])
    assert np.abs(is_at - 10 * place).max() < 1e-3, (i, is_at, 10 * place)
    assert h["places/raw_id"][i] == raw
assert len(seen) >= 7 and min(hands) > 50, (seen, hands)
P
/usr/bin/python3 look.py || fail "positions differ from the formulas"

# ---- what cannot be -----------------------------------------------------------------------------------------------------
damage() { # FILE BYTE HEX: into bad.bin
    cp "$1" bad.bin && printf "$3" | dd of=bad.bin bs=1 seek="$2" conv=notrunc status=none
}
refused() { # REASON OPTIONS...
    local reason=$1
    shift
    run cms -q -o never.h5 "$@" a.bin
    want 1
    grep -q "$reason" err || fail "says: $(cat err)"
    [ ! -e never.h5 ] || fail "writes a file"
}
connected=$(/usr/bin/python3 -c "
import struct; b = open('cablingMap.bin', 'rb').read()
print(next(e for e in range(1, 57600) if struct.unpack_from('<I', b, 691200 + 4 * e)[0] not in (0, 9999)))")
damage cablingMap.bin $((230400 + 4 * connected)) '\x2f'
refused "bad.bin: byte $((230400 + 4 * connected)): element $connected is of link 47, chip " --cabling bad.bin --gains gain.bin
damage cablingMap.bin $((1152000 + 4 * connected + 2)) '\x01'
refused "bad.bin: byte $((1152000 + 4 * connected)): element $connected: module " --cabling bad.bin --gains gain.bin
damage cablingMap.bin 1440128 '\x01'
refused "bad.bin: 1497732 bytes are not those of a cabling dump" --cabling bad.bin --gains gain.bin
head -c 1440100 cablingMap.bin >bad.bin
refused "bad.bin: byte 0: does not begin with \"SLCCMSCA\", nor is it as long as a dump" --cabling bad.bin --gains gain.bin
damage gain.bin $((8 + 12 * 5 + 8)) '\x02'
refused "bad.bin: byte 68: module 5 has bytes 8320 to 9984 of 3088384 for 258 columns" --cabling cablingMap.bin --gains bad.bin
damage gain.bin 24014 '\x80\x7f'
refused "bad.bin: byte 24012: a limit or step" --cabling cablingMap.bin --gains bad.bin
damage gain.bin 24024 '\x00\x00\x80\xbf'
refused "bad.bin: byte 24008: pedestals from .* in steps of -1 cannot be" --cabling cablingMap.bin --gains bad.bin
damage gain.bin 24020 '\x00\x00\xc8\xc2'
refused "bad.bin: byte 24016: gains from .* to -100 in steps of .* cannot be" --cabling cablingMap.bin --gains bad.bin
damage cpefast.bin $((20 + 112 * 9 + 4)) '\x0a'
refused "bad.bin: byte 1028: module 9: its marks " --cabling a.cabling --gains a.gains --geometry bad.bin
damage cpefast.bin $((20 + 112 * 9 + 76 + 3)) '\x41'
refused "bad.bin: a dump of CMS's positions: module 9: its rotation is none" --cabling a.cabling --gains a.gains --geometry bad.bin
head -c 211611 cpefast.bin >bad.bin
refused "bad.bin: byte 16: 211611 bytes for 1856 modules are no dump" --cabling a.cabling --gains a.gains --geometry bad.bin
damage cpefast.bin $((20 + 112 * 9 + 8)) '\xfc'
run cms -q --cabling a.cabling --gains a.gains --geometry bad.bin a.bin
want 2
grep -q "position: module 9 has the detector id 0x[0-9a-f]*fc in the geometry and 0x[0-9a-f]* in the cabling" err || fail "says: $(cat err)"
run cms -q --cabling a.cabling --phase 2 --geometry cpefast.bin a.bin
want 2
grep -q "the geometry has 1856 modules, the detector 4000" err || fail "says: $(cat err)"

# ---- modules that are left out ------------------------------------------------------------------------------------------
run cms -q --json --cabling a.cabling --gains a.gains --skip-modules 0-95,200 -o s.h5 a.bin
want 0
want_silent
/usr/bin/python3 - <<'P' || fail "--skip-modules"
import h5py
import numpy as np

p, s = h5py.File("p.h5"), h5py.File("s.h5")
m, n = p["digis/module"][:], s["digis/module"][:]
keep = (m >= 96) & (m != 200) & (m < 1856)  # dead and noisy columns have no module any more
assert 0 < keep.sum() < len(m) and (m[keep] == n[n < 1856]).all() and "places" not in s
assert (p["digis/adc"][:][keep] == s["digis/adc"][:][n < 1856]).all()
P
for wrong in 96- a 5-3 1856 1,,2 "" -4; do
    run cms -q --cabling a.cabling --gains a.gains --skip-modules="$wrong" a.bin
    want 2
    grep -q -e "--skip-modules" err || fail "$wrong: $(cat err)"
done
