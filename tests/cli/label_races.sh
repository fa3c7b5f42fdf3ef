#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `sluice label` has threads for, once, in seconds: a thread sanitizer that is compiled in (tools/races.sh) tells races on
# standard error and ends with another status. Without one, it is a short test that threads change nothing.
. "$(dirname "$0")/common.sh" "$@"
export TSAN_OPTIONS="halt_on_error=0 exitcode=66"

python3 - <<'P' || fail "cannot make inputs"
import random, struct
def npy(name, shape, data):
    head = ("{'descr': '|u1', 'fortran_order': False, 'shape': %r, }" % (shape,)).ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + bytes(data))
chance = random.Random(3)
npy("v.npy", (23, 41, 150), [chance.choice((0, 0, 9, 90, 200)) for i in range(23 * 41 * 150)])
npy("i.npy", (400, 300), [chance.choice((0, 0, 9, 90, 200)) for i in range(400 * 300)])
npy("b.npy", (24, 60, 80), [200 * ((x % 20 - 10) ** 2 + (y % 20 - 10) ** 2 + (z % 12 - 6) ** 2 < 140) for z in range(24) for y in range(60) for x in range(80)])
P

# same ARGUMENT...: labels and features of one thread and of more.
same_by_threads() {
    local threads
    for threads in 1 2 5; do
        run label "$@" --threads $threads -o l$threads.npy --stats s$threads.csv --features all -q
        want 0
        grep -q ThreadSanitizer err && fail "'$last' has a race: $(head -n 40 err)"
        cmp -s l$threads.npy l1.npy || fail "'$last': other labels than one thread makes"
        cmp -s s$threads.csv s1.csv || fail "'$last': other features than those of one thread"
    done
}
for connectivity in 6 18 26; do
    same_by_threads --volume v.npy --threshold 9 --connectivity $connectivity
    same_by_threads --volume v.npy --threshold 50 --connectivity $connectivity --periodic x,y,z
    same_by_threads --volume v.npy --equal --connectivity $connectivity
done
same_by_threads --volume v.npy --hysteresis 50:150 --fill-holes --filter 'volume>2'
same_by_threads --volume b.npy --split 1
same_by_threads i.npy --threshold 50
same_by_threads i.npy --threshold otsu --fill-holes --split 0.5
same_by_threads i.npy --local mean:15:-5
passed
