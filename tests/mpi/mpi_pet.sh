#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sluice-mpi pet: what it finds, writes and tells is what sluice pet run does, on any number of ranks, for every kind of window, at rates without
# gaps between windows too; files with and without heads, with counters, damaged, cut at any place; late singles; what it refuses.
. "$(dirname "$0")/mpi_common.sh"

# What both print but for names, times and the randoms, which are of one process alone; what they say but for the program's name.
compare() {
    python3 -IS - one.out out one.err err <<'P' || fail "'$last' differs from sluice pet run"
import json, sys
def load(name):
    o = json.load(open(name))
    for k in ('command', 'seconds', 'randoms', 'randoms_sigma', 'randoms_by_pair'): o.pop(k, None)
    return o
a, b = load(sys.argv[1]), load(sys.argv[2])
wrong = sorted(k for k in set(a) | set(b) if a.get(k) != b.get(k))
say = [open(n).read().replace('sluice-mpi pet:', 'sluice pet run:') for n in sys.argv[3:]]
if wrong: print({k: (a.get(k), b.get(k)) for k in wrong})
if say[0] != say[1]: print(say)
sys.exit(bool(wrong) or say[0] != say[1])
P
    compared=$((compared + 2))
}

# as_one RANKS ARGS...: the same on each of these numbers of ranks.
as_one() {
    local ranks=$1 n first
    shift
    run pet run "$@" --json
    first=$status
    mv out one.out
    mv err one.err
    for n in $ranks; do
        mpi "$n" pet "$@" --json
        want "$first"
        compare
    done
}

make() { "$sluice" simulate pet --fast --rate 4e6 --pair-share 0.3 -q "$@" || fail "cannot generate frames"; }
make --seconds 0.02 --seed 5 -o p.raw --write-tables p.h5
make --seconds 0.02 --seed 5 --bare -o p.bare
make --seconds 0.01 --seed 6 --sequence -o p.seq
tables=(--tables p.h5)

# All ranks, the issue's line; then windows of 0.016, 1 and 20 singles.
as_one "1 2 3 4" p.raw "${tables[@]}" --window 4ns --policy takeAllGoods --windows all-open --delayed 100ns
for windows in single all-open; do
    as_one "3" p.bare "${tables[@]}" --window 5us --policy takeWinnerOfGoods --windows $windows --delayed 20us
done
as_one "4" p.bare "${tables[@]}" --window 250ns --delayed 5us
as_one "4" p.raw "${tables[@]}" --window 5us --policy keepIfAnyIsGood --threads 2 --energies 400:600

# Equal times: all of them in ticks of 100 ns.
as_one "3" p.bare "${tables[@]}" --ticks 1/1000 --window 1ps --policy multiplesAsSequentialCoincidences --delayed 2ps

# Nodes beside each other: late singles without a horizon that reaches over them; the order of one time is that of the inputs.
head -c 200000 p.bare >a.bare
tail -c +200001 p.bare | head -c 300001 >b.bare
as_one "4" a.bare p.seq b.bare p.raw p.bare "${tables[@]}" --delayed 100ns
as_one "3" b.bare p.seq a.bare "${tables[@]}" --delayed 100ns --horizon 1s

# Damage, where shares meet, too; frames of other modules and places; counters of 32 bits; what is not there, or empty.
python3 -IS - <<'P'
import random
random.seed(3)
b = bytearray(open('p.raw', 'rb').read())
for n in (2, 3):
    for k in range(1, n):
        m = len(b) * k // n
        b[m - 40:m + 1460] = bytes(random.randrange(256) for _ in range(1500))
open('damaged.raw', 'wb').write(b[:-700])
b = bytearray(open('p.bare', 'rb').read())
for i in range(500): b[random.randrange(len(b))] = random.randrange(256)
open('damaged.bare', 'wb').write(b)
P
as_one "3" damaged.raw damaged.bare "${tables[@]}"
as_one "2" p.raw "${tables[@]}" --tick-bits 32
: >empty.raw
head -c 32 p.bare >two.bare
as_one "3" empty.raw two.bare "${tables[@]}"
as_one "2" none.raw p.bare "${tables[@]}"

# What is written: the same bytes.
for format in gate hdf5; do
    run pet run p.raw a.bare "${tables[@]}" --policy takeAllGoods --delayed 100ns --format $format -o one.list --sinogram one -q
    want 0
    mkdir -p ranks && cd ranks || exit 1
    mpi 3 pet ../p.raw ../a.bare --tables ../p.h5 --policy takeAllGoods --delayed 100ns --format $format -o one.list --sinogram one -q
    want 0
    for name in *; do
        [ "$name" = out ] || [ "$name" = err ] || cmp "$name" ../"$name" || fail "$name of 3 ranks differs"
        compared=$((compared + 1))
    done
    [ -e one.s ] || fail "no sinogram"
    cd .. && rm -r ranks one.[ls]* one.hs
done
mpi 2 pet p.raw "${tables[@]}" --format castor --prompts -o no/such/place
want 1
equal "says once" "$(grep -c '^sluice-mpi pet: ' err)" 1
want_no_file no

# What only one process has, in words.
for option in "--singles s.h5" --subtract; do
    # shellcheck disable=SC2086
    mpi 2 pet p.raw "${tables[@]}" $option
    want 2
    want_err <<<"sluice-mpi pet: ${option%% *} needs all singles in one process: 'sluice pet run' has it; see sluice-mpi pet --help"
done
mpi 2 pet p.raw "${tables[@]}"
want 0
equal "tables printed" "$(grep -c '^checksum' out)" 1
if has_mpich; then
    run pet run p.raw "${tables[@]}" --delayed 1us --json
    mv out one.out
    mv err one.err
    mpich 3 pet p.raw "${tables[@]}" --delayed 1us --json
    want 0
    compare
fi
passed
