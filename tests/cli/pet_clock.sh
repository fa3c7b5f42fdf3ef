#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clocks that begin again (--tick-bits) give the pairs of the same frames with clocks of 64 bits, in every batch: also
# where a module pauses or comes late, where the run begins right before a turn, and where a bit is wrong.
. "$(dirname "$0")/common.sh" "$@"

scan="--tables tables.h5 --energies 350:650 --ticks 16/1"
"$sluice" simulate pet --seconds 0.06 --rate 2e6 --seed 5 --ticks 16 --bare -o all.bin --write-tables tables.h5 -q || fail "cannot make frames"
cat >make.py <<'P'
import struct, sys
TURN, MS = 2**30, 62500000
frames = [(b[i:i + 16], int.from_bytes(b[i + 2:i + 10], "big")) for b in [open("all.bin", "rb").read()] for i in range(0, len(b), 16)]
def write(name, frames, bits):
    with open(name, "wb") as f:
        for b, t in frames:
            f.write(b[:2] + (t % 2**bits).to_bytes(8, "big") + b[10:])
def both(name, frames):
    write(name + ".64", frames, 64)
    write(name + ".30", frames, 30)
def away(module, begin, end):
    return [f for f in frames if not (f[0][1] == module and begin * MS <= f[1] < end * MS)]
both("plain", frames)
both("pause", away(3, 20, 30))
both("long", away(3, 5, 50))
both("late", away(3, 0, 18))
both("before", [f for f in frames if f[1] >= TURN - 20 * MS // 1000])
low = bytearray(open("plain.30", "rb").read())
low[16 * 50000 + 2 + 4] ^= 0x20         # the top bit
open("bit.30", "wb").write(low)
P
python3 make.py || fail "cannot cut times"

pairs() # FILE OPTIONS...: the pairs without their time
{
    "$sluice" pet run "$@" $scan --window 4ns -o - --format csv -q | cut -d, -f2- | sort
}
for case in plain pause long late before; do
    pairs $case.64 >wanted
    [ "$(wc -l <wanted)" -gt 1000 ] || fail "$case: too few pairs to compare"
    for options in "" "--batch 1000" "--threads 3" "--batch 333 --threads 2"; do
        pairs $case.30 --tick-bits 30 $options >got
        cmp got wanted || fail "$case $options: other pairs than with 64 bits"
        compared=$((compared + 1))
    done
done

# A wrong bit costs its frame, and is told, also with -q.
pairs plain.64 >wanted
pairs bit.30 --tick-bits 30 2>err >got
[ "$(comm -3 got wanted | wc -l)" -le 2 ] || fail "a wrong bit costs more than its frame"
all=$(($(stat -c %s bit.30) / 16))
told="1 of $all frames have a time that no other agrees with, and are left out: bits are wrong, or --tick-bits, or --horizon is less than frames are out of order"
run pet run bit.30 $scan --tick-bits 30 --json -q
want 0
equal "what is told" "$(grep -c pet_clock err) $(head -n 1 err)" "1 sluice pet run: $told"
equal "counts" "$(key out "o['convert']['clock'], o['faults']['pet_clock'], o['convert']['bridged']")" "(1, 1, 0)"
run pet convert bit.30 $scan --tick-bits 30 -o bit.singles -q
want 0
equal "what is told" "$(grep -c pet_clock err) $(head -n 1 err)" "1 sluice pet convert: $told"
run pet convert bit.30 $scan --tick-bits 30 -o bit1.singles --batch 1 -q
want 0
cmp bit.singles bit1.singles || fail "batches matter"
compared=$((compared + 1))

# Files that tell when frames were received: one that was measured later goes on later.
for i in 1 2; do
    "$sluice" simulate pet --seconds 0.01 --rate 1e6 --seed $i --ticks 16 --tick-bits 30 -o part$i.raw -q || fail "no raw file"
    sleep 0.05
done
run pet run part1.raw part2.raw $scan --tick-bits 30 --json -q
want 0
equal "turns between the files" "$(key out "o['convert']['bridged'] > 1, o['convert']['clock']")" "(True, 0)"
