#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --calibration`, `--mask` and `--write-mask` of raw files: Timepix3 of three chips and Timepix4 made here from the
# published layout of their packets, in clusters that are known as they are made; tables that are damaged or of another chip.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math, random, struct

UFTOA = [0xF, 0xE, 0xC, 0x8, 0x0, 0x1, 0x3, 0x7]

def tpx3_word(x, y, clock, tot):
    address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | clock >> 14 & 0xFFFF

def tpx4_word(x, y, clock, tot):
    """x 0 to 447, y 0 to 511; the upper half is the chip's other one, turned."""
    top = y >= 256
    x, y = (447 - x, 511 - y) if top else (x, y)
    toa = clock & 0xFFFF
    return (top << 63 | x // 2 << 55 | y // 16 << 51 | y // 4 % 4 << 49 | (x % 2 * 4 + y % 4) << 46 | (toa ^ toa >> 1) << 30
            | UFTOA[0] << 26 | UFTOA[0] << 22 | tot << 1)

def clusters(seed, tpx4):
    """(clock, chip, [(x, y, tot)]): 2 us apart, each on one chip of 256 (chips 0 to 2 of Timepix3), away from its borders."""
    rng = random.Random(seed)
    width, height = (448, 512) if tpx4 else (256, 256)
    out = []
    for k in range(3000):
        x, y, chip = rng.randrange(8, width - 8), rng.randrange(8, height - 8), 0 if tpx4 else rng.randrange(3)
        y += 16 if tpx4 and 240 <= y < 256 else 0      # the halves have clocks of their own, but the cluster is one
        cells, at = [(x, y)], (x, y)
        for _ in range(rng.randrange(5)):
            at = (at[0] + rng.choice((-1, 1)), at[1] + rng.choice((0, 1)))
            cells += [at] if at not in cells else []
        out.append((1000 + 80 * k, chip, [(a, b, rng.randrange(5, 900)) for a, b in cells]))
    return out

def factors(seed, x, y):
    rng = random.Random(1000003 * seed + 65536 * y + x)
    return rng.uniform(1, 3), rng.uniform(20, 60), rng.uniform(50, 300), rng.uniform(0, 4)

def ev(k, tot):
    """By halving, of the formula itself."""
    a, b, c, t = k
    low, high = t, 1e7
    for _ in range(100):
        mid = (low + high) / 2
        low, high = (mid, high) if mid > t and a * mid + b - c / (mid - t) < tot else (low, mid)
    return math.floor(1000 * high + 0.5)

def tot_unit(tpx4):
    return 128 if tpx4 else 1

def write(tpx4):
    made = clusters(4 if tpx4 else 3, tpx4)
    words, last = [], -10**9
    for clock, chip, cells in made:
        if tpx4 and clock - last > 30000:
            last = clock
            words += [(0, half << 63 | 0xE0 << 55 | clock) for half in (0, 1)]
        words += [(chip, (tpx4_word if tpx4 else tpx3_word)(x, y, clock, tot)) for x, y, tot in cells]
    with open("run.tpx4" if tpx4 else "run.tpx3", "wb") as out:
        for chip, word in words:
            out.write(struct.pack("<4sBBHQ", b"TPX4" if tpx4 else b"TPX3", chip, 0, 8, word))
    pixels = sorted({(x + 256 * chip, y) for clock, chip, cells in made for x, y, tot in cells})
    with open("list4.txt" if tpx4 else "list3.txt", "w") as out:
        out.writelines("%d %d %r %r %r %r\n" % (x, y, *factors(5, x, y)) for x, y in pixels if tpx4 or x < 512)

def check(path, tpx4):
    """Clusters of their own, in the order of time: sizes to the number, energies to the eV of each pixel's rounding."""
    got, wanted, none = list(csv.DictReader(open(path))), [], 0
    for clock, chip, cells in clusters(4 if tpx4 else 3, tpx4):
        cells = [(x + 256 * chip, y, tot) for x, y, tot in cells]
        known = [c for c in cells if tpx4 or c[0] < 512]
        none += len(cells) - len(known)
        wanted.append((clock, len(cells), sum(ev(factors(5, x, y), tot * tot_unit(tpx4)) for x, y, tot in known)))
    assert len(got) == len(wanted), (len(got), len(wanted))
    for g, (clock, size, sum_ev) in zip(got, wanted):
        assert int(g["size"]) == size and abs(1000 * float(g["energy_kev"]) - sum_ev) <= 0.01 * size + 1e-6 * sum_ev, (g, clock, size, sum_ev)
    print("sums", len(wanted), none)
P
python3 -c 'from tool import *; write(False); write(True)'

for kind in 3 4; do
    run cluster run.tpx$kind -q --calibration list$kind.txt -o out$kind.csv
    want 0
    sums=$(python3 -c "from tool import *; check('out$kind.csv', $kind == 4)" 2>&1)
    case $sums in
        'sums 3000 '*) compared=$((compared + 3000)) ;;
        *) fail "'$last': $sums" ;;
    esac
    none=${sums##* }
    if [ "$kind" = 3 ]; then
        [ "$none" -gt 1000 ] || fail "no pixel without a calibration: $sums"
        grep -qF "run.tpx3: $none pixels have no calibration, or no energy by it; their energy is taken as 0" err || fail "$none: $(cat err)"
    else
        [ ! -s err ] || fail "'$last' said: $(cat err)"
    fi
    # Masked by a file of all single pixels of a column: nothing of it is left, and the others stay.
    awk -v k="$kind" 'BEGIN { x = k == 3 ? 300 : 400; for (y = 0; y < (k == 3 ? 256 : 512); y++) print x, y }' >column.txt
    run cluster run.tpx$kind -q --mask column.txt -o masked.csv
    want 0
    left=$(python3 -c "
from tool import *
hit = [x + 256 * chip for clock, chip, cells in clusters($kind, $kind == 4) for x, y, tot in cells]
gone = hit.count(300 if $kind == 3 else 400)
assert gone > 5 and sum(int(r['size']) for r in csv.DictReader(open('masked.csv'))) == len(hit) - gone
print(gone)" 2>&1)
    grep -qF "run.tpx$kind: $left pixels were left out by --mask" err || fail "mask: $left: $(cat err)"
    run cluster run.tpx$kind -q --write-mask hot.txt
    want 0
    grep -q "no hot pixels; hot.txt has 0 masked ones" err || fail "hot: $(cat err)"
done
run cluster run.tpx3 -q --layout quad --calibration list3.txt -o turned.csv
want 0
[ "$(python3 -c "
import csv
print(sorted(r['energy_kev'] for r in csv.DictReader(open('out3.csv'))) == sorted(r['energy_kev'] for r in csv.DictReader(open('turned.csv'))))")" = True ] ||
    fail 'a calibration is not of the chips as they are in the file'

# The same of each chip by itself, in a folder: a list, and four matrices; the third has none.
mkdir -p chips/chip1
awk '$1 < 256' list3.txt >chips/chip0.txt
python3 - <<'P'
rows = [line.split() for line in open("list3.txt") if int(line.split()[0]) >= 256]
of = {(int(r[0]) - 256, int(r[1])): r[2:] for r in rows}
for i, letter in enumerate("abct"):
    with open(f"chips/chip1/calib{letter}.txt", "w") as out:
        for y in range(256):
            print(*(of.get((x, y), "0000")[i] for x in range(256)), file=out)
P
run cluster run.tpx3 -q --calibration chips -o chips.csv
want 0
cmp -s out3.csv chips.csv || fail 'calibrations of chips give other energies than one list of all'
compared=$((compared + 3000))
cp chips/chip1/calib?.txt chips/
run cluster run.tpx3 -q --calibration chips -o never.csv
want 1
[ "$(cat err)" = "sluice cluster: chips: has calibrations of chips, and chips/caliba.txt: which is meant?" ] || fail "'$last' said: $(cat err)"
rm chips/calib?.txt
not_chips() { # MESSAGE
    run cluster run.tpx3 -q --calibration chips -o never.csv
    want 1
    [ "$(cat err)" = "sluice cluster: $1" ] || fail "'$last' said: $(cat err)"
    want_no_file never.csv
}
echo '256 3 2 3 4 1' >chips/chip2.txt
not_chips 'chips/chip2.txt: calibrates a pixel at x 256, y 3, where a chip has 256 x 256'
echo '255 3 0 3 4 1' >chips/chip2.txt
not_chips 'chips/chip2.txt: no pixel has a calibration with a > 0 and c >= 0'
mv chips/chip2.txt chips/chip1.txt
not_chips 'chips/chip1.txt: chip 1 has more than one calibration'

# Tables that are wrong, one line each, and no output.
refused() { # WHAT MESSAGE
    printf '%s' "$3" >bad.txt
    for kind in 3 4; do
        rm -f never.csv
        run cluster run.tpx$kind -q "--$1" bad.txt -o never.csv
        want 1
        [ "$(cat err)" = "sluice cluster: bad.txt: $2" ] || fail "'$last' said: $(cat err)"
        want_no_file never.csv
    done
}
refused calibration 'line 2: the last line has no end: the file is cut' $'1 2 3 4 5 6\n3 4 5 6 7 8'
refused calibration 'line 2: a calibrated pixel is x and y (0 to 65535), a, b, c and t' $'1 2 3 4 5 6\n3 4 5 6 7\n'
refused calibration 'line 2: a calibrated pixel is x and y (0 to 65535), a, b, c and t' $'1 2 3 4 5 6\n3 4 5 6 7 8 9\n'
refused calibration 'line 3: a calibrated pixel is x and y (0 to 65535), a, b, c and t' $'# x y a b c t\n1 2 3 4 5 6\n70000 4 5 6 7 8\n'
refused calibration 'line 2: a, b, c and t are to be numbers: a pixel without them is left out' $'1 2 3 4 5 6\n3 4 nan 6 7 8\n'
refused calibration 'line 3: the pixel at x 1, y 2 has a line before it' $'1 2 3 4 5 6\n3 4 5 6 7 8\n1 2 5 6 7 8\n'
refused mask 'line 2: the last line has no end: the file is cut' $'1 2\n3 4'
refused mask 'line 1: a masked pixel is two whole numbers from 0 to 65535, x and y' $'1 2 3\n'
refused mask 'line 2: a masked pixel is two whole numbers from 0 to 65535, x and y' $'1 2\nnan 4\n'

# Of another chip: nothing has an energy, which is no result; a mask that meets nothing is told.
printf '60000 60000 1 2 3 4\n' >elsewhere.txt
printf '60000 60000\n' >nowhere.txt
for kind in 3 4; do
    run cluster run.tpx$kind -q --calibration elsewhere.txt -o never.csv
    want 1
    grep -qF "run.tpx$kind: no pixel has a calibration or an energy by it: is --calibration of other chips?" err || fail "elsewhere: $(cat err)"
    grep -qxF "sluice cluster: no input could be used: no file was written" err || fail "elsewhere: $(cat err)"
    want_no_file never.csv
    run cluster run.tpx$kind -q --mask nowhere.txt -o all.csv
    want 0
    [ "$(cat err)" = "sluice cluster: run.tpx$kind: no pixel of --mask was hit" ] || fail "nowhere: $(cat err)"
done
echo "$compared comparisons"
