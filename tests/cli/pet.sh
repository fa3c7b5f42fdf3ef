#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coincidences from the command line: what the guide prints, all formats, both inputs, batches and threads, and what is
# refused.
. "$(dirname "$0")/common.sh" "$@"

# ---- the guide: its script prints what it says ---------------------------------------------------------------------
guide=$source/docs/howto/pet-coincidences.md
mkdir bin
ln -s "$(realpath "$sluice")" bin/sluice
awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$guide" >guide.sh
awk '/^```text/ { on = 1; next } /^```/ { on = 0 } on' "$guide" >guide.txt
[ "$(wc -l <guide.txt)" -eq 19 ] || fail "the guide has no 19 policies"
last="the guide's script"
PATH=$PWD/bin:$PATH bash guide.sh 2>err | sed 's/ *$//' >out
want_silent
want_out <guide.txt
[ -s five.bin ] || fail "the guide's script makes no singles"

# ---- formats -------------------------------------------------------------------------------------------------------
good=sectors=24,min=2,crystals-per-ring=312
run pet coincidences five.bin --window 4ns --good $good --policy keepIfAnyIsGood --format indices -q
want 0
want_silent
want_out <<'T'
0,1,2
3,4
T
run pet coincidences five.bin --window 4ns --good $good --policy takeAllGoods --format csv -q -o pairs.csv
want 0
want_silent
want_no_out
same pairs.csv <<'T'
time_ps,dt_ps,crystal1,crystal2,energy1_kev,energy2_kev,delayed
0,1000,0,156,511,480,0
1000,1000,156,4,480,511,0
10000,1000,8,170,511,500,0
T
run pet coincidences five.bin --window 4ns --offset 8ns --policy takeAllGoods --windows all-open --format csv -q
want 0
want_out <<'T'
time_ps,dt_ps,crystal1,crystal2,energy1_kev,energy2_kev,delayed
0,2000,0,8,511,511,1
0,3000,0,170,511,500,1
1000,1000,156,8,480,511,1
1000,2000,156,170,480,500,1
2000,0,4,8,511,511,1
2000,1000,4,170,511,500,1
T
run pet coincidences five.bin --window 4ns --json
want 0
want_silent
equal "the counts" "$(key out "o['singles'], o['windows'], o['pairs'], o['groups'], o['multiplicity'][:5], o['policy']")" \
    "(5, 2, 1, 0, [0, 0, 1, 1, 0], 'killAll')"
run pet coincidences five.bin --window 4ns
want 0
want_no_out
sed -i 's/[0-9.]* s\b/T s/g' err
echo "sluice pet coincidences: 5 singles, 2 windows with two or more, 1 pairs, 0 larger groups; sorted in T s, found in T s" |
    want_err

# Edges: 1 and 2 are 1 ns apart, and 0 and 2 are 2 ns.
run pet coincidences five.bin --window 1ns --windows all-open --format indices -q
want_out < <(printf '0,1\n1,2\n3,4\n')
run pet coincidences five.bin --window 1ns --windows all-open --edge open --format indices -q
want 0
want_no_out
run pet coincidences five.bin --window 1ns --windows all-open --compat gate9 --format indices -q
want 0
want_no_out
run pet coincidences five.bin --window 1ns --windows all-open --compat gate9 --edge open --format indices -q
want 0
want_no_out
# Numbers count the singles inside the window of energies: 0, 2, 3, 4.
run pet coincidences five.bin --window 4ns --energies 490:600 --format indices -q
want_out < <(printf '0,1\n2,3\n')

# ---- many singles in any order: inputs, batches, threads, and a count of its own ------------------------------------
python3 - <<'P' >wanted.txt || fail "cannot make singles"
import random, struct
random.seed(9)
singles = [(random.randrange(10**9), random.randrange(12480), 511) for _ in range(40000)]
singles[7] = singles[5]
open("many.bin", "wb").write(b"".join(struct.pack("<qIf", *s) for s in singles) + b"\x89SLCPS1\n")
open("many-f64.bin", "wb").write(b"".join(struct.pack("<Ifd", c, e, t / 1024) for t, c, e in singles))
singles.sort(key=lambda s: s[0])
i = 0  # the seed's rule, as its page has it
while i < len(singles):
    j = i
    while j + 1 < len(singles) and singles[j + 1][0] - singles[i][0] <= 4096:
        j += 1
    if j == i + 1 and singles[i][1] != singles[j][1]:
        print(f"{i},{j}")
    i = j + 1
P
[ "$(wc -l <wanted.txt)" -gt 1000 ] || fail "too few pairs to compare"
for words in "" "--batch 1" "--batch 1000" "--threads 2" "--threads 8 --batch 20000" "--threads 0"; do
    run pet coincidences many.bin --window 4096ps --format indices -q $words
    want 0
    want_out <wanted.txt
    run pet coincidences many-f64.bin --input singles-f64 --window 4ns --format indices -q $words
    want 0
    want_out <wanted.txt
done
last="sluice pet coincidences -"
"$sluice" pet coincidences - --window 4096ps --format indices -q <many.bin >out 2>err
want_silent
want_out <wanted.txt

# ---- what is refused -----------------------------------------------------------------------------------------------
head -c 20 five.bin >short.bin
: >empty.bin
python3 -c 'import struct, math; open("nan.bin", "wb").write(struct.pack("<IfdIfd", 1, 511, 1, 2, 511, math.nan))'
refuse() { # STATUS TEXT ARGS...
    local status_wanted=$1 text=$2
    shift 2
    run pet coincidences "$@"
    want "$status_wanted"
    want_no_out
    [ "$status_wanted" -eq 1 ] || text="$text; see sluice pet coincidences --help"
    echo "sluice pet coincidences: $text" | want_err
}
refuse 1 "short.bin: byte 16: 4 bytes are left, a single has 16" short.bin
refuse 1 "empty.bin: there are no singles in it" empty.bin
refuse 1 "none.bin: No such file or directory" none.bin
run pet coincidences nan.bin --input singles-f64
want 1
grep -q '^sluice pet coincidences: nan.bin: byte 24: the time of single 1 is no number$' err || fail "it said: $(cat err)"
refuse 2 "--window takes a time, as 4ns or 250ps, not '4'" five.bin --window 4
refuse 2 "--window takes a time, as 4ns or 250ps, not '0ns'" five.bin --window 0ns
refuse 2 "--offset takes a time, as 100ns, not '-1ns'" five.bin --offset=-1ns
refuse 2 "--window has 1ps at least: 0.5ps is shorter" five.bin --window 0.5ps
refuse 2 "window 0.0015 ns, offset 0 ns: not whole picoseconds, which the times are" five.bin --window 1.5ps
refuse 2 "--windows is single or all-open, not 'both'" five.bin --windows both
refuse 2 "--edge is closed or open, not 'x'" five.bin --edge x
refuse 2 "--compat is gate9, not 'gate8' (did you mean 'gate9'?)" five.bin --compat gate8
refuse 2 "--compat gate9 has open edges: leave out --edge closed, or --compat" five.bin --compat gate9 --edge closed
for policy in opengate:TakeAllGoods rejectHigherMultiples multiplesAsSequentialCoincidences; do
    refuse 2 "GATE 9 has no policy $policy: leave out --compat gate9" five.bin --compat gate9 --policy $policy
done
refuse 2 "opengate:TakeAllGoods has closed edges: leave out --edge open" five.bin --policy opengate:TakeAllGoods --edge open
refuse 2 "--energies takes LOW:HIGH in keV, or all, not '500:400'" five.bin --energies 500:400
refuse 2 "--input is singles or singles-f64, not 'x'" five.bin --input x
refuse 2 "--format is indices or csv, not 'x'" five.bin --format x
refuse 2 "--format csv needs times in picoseconds: --input singles" five.bin --input singles-f64 --format csv
refuse 2 "--output needs --format: what is to be written" five.bin -o x
refuse 2 "--json and --format both print: give one of them a file by --output" five.bin --json --format csv
refuse 2 "--json and --format both print: give one of them a file by --output" five.bin --json --format csv -o -
refuse 2 "policy: opengate:TakeAllGoods has no delayed windows" five.bin --offset 10ns --policy opengate:TakeAllGoods
refuse 2 "good.sectors: 25 do not divide 312 crystals of a ring" five.bin --good sectors=25,min=2,crystals-per-ring=312
refuse 2 "--good: 'sector=24' is none of its parts" five.bin --good sector=24
run pet coincidences five.bin --policy killall
want 2
grep -q "unknown policy 'killall'; .*there are: killAll takeAllGoods\|unknown policy 'killall'" err || fail "it said: $(cat err)"
# ---- a GPU -----------------------------------------------------------------------------------------------------------
refuse 2 'device "gpu": must be cpu, cuda or cuda:N' five.bin --device gpu
run pet coincidences five.bin --device cuda:77
want 1
grep -q '^sluice pet coincidences: device "cuda:77": ' err || fail "a GPU that is not there: $(cat err)"
run pet coincidences five.bin --window 4ns --good $good --policy keepIfAnyIsGood --format indices --device cpu -q
want_out < <(printf '0,1,2\n3,4\n')
if "$sluice" version | grep -q '^devices *cuda:0'; then
    for batch in 1 2 100; do
        run pet coincidences five.bin --window 4ns --good $good --policy keepIfAnyIsGood --format indices -q \
            --device cuda --batch $batch
        want_out < <(printf '0,1,2\n3,4\n')
        run pet coincidences five.bin --window 4ns --good $good --policy takeAllGoods --format csv -q \
            --device cuda:0 --batch $batch
        want_out <pairs.csv
    done
fi
# What cannot be written is not there afterwards.
refuse 1 "short.bin: byte 16: 4 bytes are left, a single has 16" short.bin --format csv -o left.csv
want_no_file left.csv
passed
