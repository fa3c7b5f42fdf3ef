#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Raw frames to coincidences: `pet run` gives what convert, sort and coincidences give one after the other, whatever
# the batch and the threads; every output; what is told of bad frames; and what is refused.
. "$(dirname "$0")/common.sh" "$@"

# Made-up frames are of few modules and crystals. That this is doubted is the matter of other tests.
same() { # NAME: as in common.sh, without these lines
    compared=$((compared + 1))
    sed '/: is it this scanner?$/d' "$1" >undoubted
    diff -u --label wanted --label "$1" - undoubted || fail "'$last': $1 is not as wanted"
}

# Frames of mouse20 (20 modules of 4 units of 13 x 13 crystals) at some 47 Mcps, packets of 20 frames of a module.
cat >frames.py <<'P'
import random, struct
def frame(module, unit, y, z, ticks, energy):
    return struct.pack(">BBQBBHbB", 0xa0 | unit, module, ticks & (2**64 - 1), z, y, energy, 25, 0)
def generate(seed, n, packet=20):
    r = random.Random(seed)
    t, q, out, made = 5_000_000, {}, [], 0
    while made < n:
        t += int(r.expovariate(1 / 30000)) + 1
        m = r.randrange(20)
        hits = [(m, t)]
        if r.random() < 0.4:
            hits.append(((m + 10) % 20, t + r.randrange(2000)))
        for mod, at in hits:
            q.setdefault(mod, []).append(
                frame(mod, r.randrange(4), r.randrange(13), r.randrange(13), at, r.choice((511, 511, 480, 300))))
            made += 1
            if len(q[mod]) == packet:
                out += q.pop(mod)
    for mod in sorted(q):
        out += q[mod]
    return out
P
python3 - <<'P' || fail "cannot make frames"
from frames import generate
frames = generate(3, 40000)
open("run.raw", "wb").write(b"".join(frames))
open("part1.raw", "wb").write(b"".join(frames[:17001]))
open("part2.raw", "wb").write(b"".join(frames[17001:]))
P
n_frames=$(($(stat -c %s run.raw) / 16))
scan="--scanner mouse20 --energies 350:650"
find="--window 4ns --policy takeAllGoods"

# ---- one after the other -------------------------------------------------------------------------------------------
run pet convert run.raw $scan -o converted.bin -q
want 0
want_silent
want_no_out
run pet sort converted.bin -o sorted.bin --late late.bin -q
want 0
want_silent
want_no_out
equal "late singles" "$(stat -c %s late.bin)" 8 # a mark
run pet coincidences sorted.bin $find --format csv -o prompts.csv -q
want 0
run pet coincidences sorted.bin $find --offset 100ns --format csv -o delayeds.csv -q
want 0
{
    head -n 1 prompts.csv
    tail -q -n +2 prompts.csv delayeds.csv | sort -s -t, -k1,1n -k7,7n
} >wanted.csv
[ "$(wc -l <prompts.csv)" -gt 5000 ] || fail "too few pairs to compare"
[ "$(wc -l <delayeds.csv)" -gt 2000 ] || fail "too few delayed pairs to compare"
# The same through pipes.
last="convert | sort"
"$sluice" pet convert - $scan -o - -q <run.raw | "$sluice" pet sort - -o - -q --batch 1000 | cmp - sorted.bin ||
    fail "a pipe of convert and sort differs"
compared=$((compared + 1))

# ---- all at once: batches, threads, pipes, several inputs ----------------------------------------------------------
for words in "" "--batch 1000" "--threads 2" "--batch 77 --threads 2" "--batch 1 --threads 1" "--batch 9999 --threads 8"; do
    run pet run run.raw $scan $find --delayed 100ns -o - --format csv -q $words --singles singles.bin --late none.bin
    want 0
    want_silent
    cmp -s out wanted.csv || fail "'$last' differs from convert, sort and coincidences"
    cmp -s singles.bin sorted.bin || fail "'$last': other singles"
    equal "late singles" "$(stat -c %s none.bin)" 8
    [ "$words" != "" ] || mv out first
done
run pet run part1.raw part2.raw $scan $find --delayed 100ns -o - --format csv -q
want 0
cmp out first || fail "two files are not one behind the other"
last="sluice pet run -"
"$sluice" pet run - $scan $find --delayed 100ns -o - --format csv -q <run.raw >out 2>err
want_silent
cmp out first || fail "standard input is not read as a file is"
run pet run run.raw $scan $find -o - --format csv -q
want 0
want_out <prompts.csv
run pet coincidences sorted.bin $find --offset 100ns --json
want 0
key out "o['randoms']" >alone
equal "randoms, as many as delayeds where all pairs are taken" "$(key out "abs(o['randoms'] / o['pairs'] - 1) < 0.1")" True
for words in "" "--batch 1000 --threads 2"; do
    run pet run run.raw $scan $find --delayed 100ns --json $words
    want 0
    want_silent
    key out "o['checksum']" >>checksums
    key out "o['randoms'], o['randoms_sigma']" >>randoms
done
equal "checksums" "$(sort -u checksums | wc -l)" 1
equal "randoms" "$(sort -u randoms | wc -l)" 1
equal "randoms of the command that knows no blocks" "$(key out "abs($(cat alone) / o['randoms'] - 1) < 0.03")" True
run pet run run.raw $scan $find --json
equal "randoms without delayeds" "$(key out "'randoms' in o")" False
run pet run run.raw $scan $find --delayed 100s --json # more than half of the measurement
want 0
equal "randoms of too little" "$(key out "o['randoms'], o['randoms_sigma']")" "(None, None)"
# Frames kept whole, and the same groups of three as `pet coincidences` makes pairs of.
run pet run run.raw $scan --window 20ns --policy keepIfAnyIsGood --windows all-open --good sectors=20,min=2,crystals-per-ring=520 \
    -o groups.csv --format csv -q --batch 500
want 0
run pet coincidences sorted.bin --window 20ns --policy keepIfAnyIsGood --windows all-open \
    --good sectors=20,min=2,crystals-per-ring=520 --format csv -q
want 0
{ head -n 1 out; tail -n +2 out | sort -s -t, -k1,1n; } | same groups.csv

# ---- list-mode files, by format or by the name's end, read back ----------------------------------------------------
prompts=$(($(wc -l <prompts.csv) - 1))
delayeds=$(($(wc -l <delayeds.csv) - 1))
for name in a.cdh a.lmDat a.clm.safir a.l a.csv a.h5; do
    format=$(case $name in *.cdh) echo castor ;; *.lmDat) echo yrt ;; *.safir) echo safir ;; *.l) echo siemens ;; *.csv) echo gate ;; *) echo hdf5 ;; esac)
    only=$(case $format in castor | yrt) echo --prompts --tof 250ps ;; esac)
    run pet run run.raw $scan $find --delayed 100ns -o $name $only --json
    want 0
    want_silent
    equal "the format of $name" "$(key out "o['output']['format'], o['output']['start_ps']")" "('$format', 0)"
    written=$(key out "o['output']['written']")
    left_out=$(key out "o['output']['left_out']")
    [ $format = siemens ] && equal "some pairs have no bin" "$([ "$left_out" -gt 0 ] && echo yes)" yes
    run pet list --format $format --scanner mouse20 --json $name
    want 0
    if [ "$only" != "" ]; then
        equal "$name" "$(key out "o['prompts'], o['delayeds'], o['other']")" "($prompts, 0, 0)"
    elif [ $format = siemens ]; then
        equal "$name" "$(key out "o['prompts'] + o['delayeds']")" "$written"
        equal "$name, all" $((written + left_out)) $((prompts + delayeds))
    else
        equal "$name" "$(key out "o['prompts'], o['delayeds'], o['other']")" "($prompts, $delayeds, 0)"
    fi
    # The same by its format, from small batches.
    run pet run run.raw $scan $find --delayed 100ns -o "b${name#a}" --format $format $only -q --batch 333
    want 0
    if [ $format != hdf5 ]; then
        data=$([ $format = castor ] && echo cdf || echo "${name#a.}")
        cmp "a.$data" "b.$data" || fail "$format depends on the batch"
        compared=$((compared + 1))
    fi
done
run pet list --format hdf5 --scanner mouse20 --to gate -o h5.csv -q a.h5
want 0
cmp h5.csv a.csv || fail "pairs of HDF5 and of GATE differ"

# ---- sinogram, rates, picture, dead time ---------------------------------------------------------------------------
run pet run run.raw $scan $find --delayed 100ns --sinogram s --subtract --rebin --tangential 519 --json
want 0
equal "pairs of the sinogram" "$(key out "o['sinogram']['in'] + o['sinogram']['outside']")" $((prompts + delayeds))
equal "its sum" "$(python3 - <<'P'
import array
print(int(sum(array.array("f", open("s.s", "rb").read()))))
P
)" "$("$sluice" pet list --format hdf5 --scanner mouse20 --to sinogram -o t --subtract --rebin --tangential 519 -q a.h5 &&
    cmp s.s t.s && python3 -c 'import array; print(int(sum(array.array("f", open("t.s", "rb").read()))))')"
# All pairs are one event.
equal "event_offset" "$(h5dump -y -d coincidences/event_offset a.h5 | grep -o '^ *[0-9]*, [0-9]*$' | tr -d ' ')" \
    "0,$((prompts + delayeds))"
# Pairs outside are told of, quietly, too.
run pet run run.raw $scan $find --sinogram u --tangential 3 --ring-difference 1 -q
want 0
grep -Eq '^sluice pet run: u: [1-9][0-9]* pairs are outside of the sinogram$' err || fail "it said: $(cat err)"
run pet list --format hdf5 --scanner mouse20 --to sinogram -o t --tangential 3 --ring-difference 1 -q a.h5
want 0
grep -Eq '^sluice pet list: t: [1-9][0-9]* pairs are outside of the sinogram$' err || fail "it said: $(cat err)"
# Delayeds that are not as many as randoms are told of, also where there are too few to see it.
told="sluice pet run: --subtract takes [0-9]* delayeds away, and [0-9]* +- [0-9]* prompts are expected to be random: delayeds of"
run pet run run.raw $scan --window 4ns --delayed 100ns --sinogram s --subtract -q
want 0
compared=$((compared + 1))
grep -q "^$told killAll with single windows do not fit$" err || fail "it said: $(cat err)"
head -c 1600 run.raw >few.raw
run pet run few.raw $scan --window 4ns --policy takeWinnerOfGoods --delayed 20ns --sinogram s --subtract -q
want 0
compared=$((compared + 1))
grep -q "^$told takeWinnerOfGoods with single windows need not fit$" err || fail "it said: $(cat err)"
run pet run few.raw $scan --window 4ns --delayed 200ms --sinogram s --subtract -q
want 0
grep -q '^sluice pet run: --subtract takes [0-9]* delayeds away: the measurement is too short for an estimate' err ||
    fail "it said: $(cat err)"
! grep -qi nan err || fail "it said: $(cat err)"
run pet run run.raw $scan $find --windows all-open --delayed 100ns --sinogram s --subtract -q
want 0
! grep -v ' pairs are outside of the sinogram$' err || fail "it said: $(cat err)"
for words in "--batch 1000" ""; do
    run pet run run.raw $scan $find --delayed 100ns --rates rates.csv --rate-plot rates.svg --bin 50us --dead-time 300ns --json $words
    want 0
    want_silent
    python3 - out rates.csv "$prompts" "$delayeds" "$n_frames" <<'P' || fail "'$last': rates are not right"
import csv, json, sys
o, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2])))
prompts, delayeds, frames = map(int, sys.argv[3:])
total = lambda name: sum(float(r[name]) for r in rows)
assert len(rows) > 15 and [float(r["begin_s"]) for r in rows] == sorted({float(r["begin_s"]) for r in rows})
assert (total("frames"), total("singles"), total("prompts"), total("delayeds")) == (
    frames, o["convert"]["singles"], prompts, delayeds)
assert total("multiples") == sum(o["prompts"]["multiplicity"][3:]) and total("lost") == 0
assert 0 < total("length_s") - o["seconds_measured"] < 2e-7 # a mean gap at either end
assert abs(total("randoms") - o["randoms_from_singles"]) < 1e-3
# Of singles at random but for pairs, twice the window times the square of the rate.
n, s = o["convert"]["singles"], o["seconds_measured"]
assert abs(o["randoms_from_singles"] / (4e-9 * n * n / s) - 1) < 0.01, o["randoms_from_singles"]
# 80 blocks at n / 80 a second, 300 ns dead after each frame.
d, rate = o["dead_time"], frames / s / 80
lost = frames * (1 / (1 - rate * 300e-9) - 1)
assert d["saturated"] == 0 and abs(d["frames_expected_in_it"] / lost - 1) < 0.03, (d, lost)
assert d["frames"] == frames and 0 < d["worst_fraction"] < 0.5
P
    compared=$((compared + 1))
done
# Few decays: a lone pair in a bin, or in all, has the bin's length, and makes no randoms.
"$sluice" simulate pet --activity 100 --seconds 20 --seed 3 -o low.raw -q || fail "cannot make frames"
for bin in 1s 10ms 1ms; do
    run pet run low.raw --scanner mouse20 --window 4ns --rates low.csv --bin $bin --json
    want 0
    equal "randoms of few singles, bins of $bin" "$(key out "o['convert']['singles'] > 100, o['prompts']['pairs'] > 20, \
0 < o['randoms_from_singles'] < 0.01")" "(True, True, True)"
done
# A last batch of few frames, of which no time is left that is known, is no rate of its own.
own=channels=10,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm
"$sluice" simulate pet --scanner $own --rate 3e6 --seconds 0.1 --bare -o end.raw -q || fail "cannot make frames"
all=$(($(stat -c %s end.raw) / 16))
for rest in 100 300 1000 3000; do
    run pet run end.raw --scanner $own --dead-time 200ns --bin 5ms --batch $((all - rest)) --json
    want 0
    equal "dead time, a rest of $rest frames" "$(key out "(lambda d, lost: (d['saturated'], d['frames'], \
abs(d['frames_expected_in_it'] / lost - 1) < 0.02, d['worst_fraction'] < 0.02))(o['dead_time'], \
$all / (1 - $all / 0.1 / 40 * 200e-9) - $all)")" "(0, $all, True, True)"
done
python3 - <<'P' || fail "the picture is not well-formed"
import xml.etree.ElementTree as tree
text = "".join(tree.parse("rates.svg").getroot().itertext())
for word in "frames", "singles", "lost", "prompts", "delayeds", "randoms from singles", "multiples", "time from the first bin, µs":
    assert word in text, word
P
compared=$((compared + 1))

# ---- clocks: ticks, and a counter that begins again ----------------------------------------------------------------
python3 - <<'P' || fail "cannot make frames"
import struct
from frames import generate
out = []
for f in generate(3, 40000):
    t = struct.unpack(">Q", f[2:10])[0] // 16 * 16
    out.append((f, t))
open("fine.raw", "wb").write(b"".join(f[:2] + struct.pack(">Q", t) + f[10:] for f, t in out))
open("ticks.raw", "wb").write(b"".join(f[:2] + struct.pack(">Q", t // 16 % 2**24) + f[10:] for f, t in out))
P
run pet run fine.raw $scan $find -o - --format csv -q
want 0
mv out fine.csv
run pet run ticks.raw $scan $find --ticks 16 --tick-bits 24 -o - --format csv -q
want 0
want_out <fine.csv
run pet run ticks.raw $scan $find --ticks 48/3 --tick-bits 24 --json
want 0
# 2.7 turns of 2^24 ticks of 16 ps, in 20 modules.
equal "turns" "$(key out "20 <= o['convert']['turns'] <= 80")" True

# ---- bad frames: told, counted, and no more than that --------------------------------------------------------------
python3 - <<'P' || fail "cannot make frames"
b = bytearray(open("run.raw", "rb").read())
b[16 * 1005 + 1] = 99
b[16 * 7000] = 0xa9
b[16 * 9000 + 10] = 200
open("bad.raw", "wb").write(b + b"12345")
P
run pet run bad.raw $scan --json
want 1 # as the file is cut
equal "faults" "$(key out "o['faults']")" "{'pet_module': 1, 'pet_unit': 1, 'pet_position': 1, 'pet_cut': 1}"
same err <<T
sluice pet run: bad.raw: 1 × pet_cut (bytes at the end that are no whole frame; left out), first at byte $((16 * n_frames)), frame $n_frames
sluice pet run: bad.raw: 1 × pet_module (a frame of no module of the scanner; dropped), first at frame 1005, of module 99
sluice pet run: bad.raw: 1 × pet_unit (a frame of a unit that its module does not have; dropped), first at frame 7000, of module $(python3 -c 'print(open("bad.raw", "rb").read()[16 * 7000 + 1])')
sluice pet run: bad.raw: 1 × pet_position (a frame from outside of its block; dropped), first at frame 9000, of module $(python3 -c 'print(open("bad.raw", "rb").read()[16 * 9000 + 1])')
T
run pet convert bad.raw $scan -o x.bin
want 1
equal "lines about it" "$(grep -c '^sluice pet convert: bad.raw: 1 × ' err)" 4
head -c $((16 * n_frames - 1)) run.raw >cut.raw
for how in "run cut.raw $scan -q" "convert cut.raw $scan -o x.bin -q" "check cut.raw $scan --window 4ns -q"; do
    run pet $how
    want 1
    grep -q "cut.raw: 1 × pet_cut (bytes at the end that are no whole frame; left out), first at byte $((16 * n_frames - 16)), frame $((n_frames - 1))" err ||
        fail "$how of a file that is cut: $(cat err)"
done
# Late singles are written, warned of, and missing in the others.
run pet run run.raw $scan --horizon 1us --singles in.bin --late out.bin
want 1 # as they are most
! grep -q "far ahead of all others" err || fail "it said: $(cat err)"
grep -q '^late  *[1-9]' out || fail "no late singles: $(cat out)"
grep -q '^sluice pet run: [0-9]* of [0-9]* singles came later than the horizon of 1 us allows and are in no coincidence; [0-9.]* us would have been enough' err ||
    fail "it said: $(cat err)"
equal "singles in all" $(($(stat -c %s in.bin) + $(stat -c %s out.bin) - 8)) "$(stat -c %s sorted.bin)"
lag=$(grep -o '[0-9.]* us would' err | cut -d' ' -f1)
run pet run run.raw $scan --horizon "${lag}us" --singles in.bin -q
want 0
cmp in.bin sorted.bin || fail "the horizon that was told is not enough"
# One time far ahead: what comes behind it is late. That is most, and told with status 1; what is there is written, and
# a sort of everything at once finds the rest.
python3 - <<'P' || fail "cannot make frames"
b = bytearray(open("run.raw", "rb").read())
first = next(i for i in range(1000, 2000) if b[16 * i + 12 : 16 * i + 14] == (511).to_bytes(2, "big"))
b[16 * first + 2] ^= 0x20
open("far.raw", "wb").write(b)
P
run pet run far.raw $scan $find -o far.csv --format csv --late far.late --json
want 1
equal "late ones" "$(key out "o['sort']['late'] > 0.9 * o['sort']['taken'], 0 < o['prompts']['pairs'] < 1000")" "(True, True)"
equal "what is written" "$(wc -l <far.csv)" "$(key out "o['prompts']['pairs'] + 1")"
equal "late ones in their file" "$(stat -c %s far.late)" "$(key out "16 * o['sort']['late'] + 8")"
told="far ahead of all others, 'sluice pet convert' and then 'sluice pet coincidences'"
grep -q "$told" err || fail "it said: $(cat err)"
run pet run far.raw $scan $find -q
want 1
grep -q "$told" err || fail "it said: $(cat err)"
run pet convert far.raw $scan -o far.bin -q
want 0
run pet sort far.bin -o far.sorted --late far.late2 -q
want 1
grep -q "$told" err || fail "it said: $(cat err)"
cmp far.late far.late2 || fail "other late singles"
run pet sort far.bin -o far.sorted --json
want 1
equal "all of them" "$(key out "o['sort']['given'] * 16 + 8")" "$(stat -c %s far.sorted)"
run pet coincidences far.bin $find --format csv -o all.csv -q
want 0
equal "pairs that a sort of all finds" "$(comm -12 <(cut -d, -f1-6 prompts.csv | sort) <(cut -d, -f1-6 all.csv | sort) | \
    wc -l | awk -v all="$(wc -l <prompts.csv)" '{ print all - $1 < 10 }')" 1
# One input of several that is not there: the others are done, and the exit status tells.
run pet run none.raw run.raw $scan $find --delayed 100ns -o - --format csv -q
want 1
cmp out first || fail "'$last': other pairs"
echo "sluice pet run: none.raw: No such file or directory" | want_err

# ---- what people see -----------------------------------------------------------------------------------------------
run pet run run.raw $scan $find --delayed 100ns --dead-time 300ns -o a.csv
want 0
want_silent
equal "the table's rows" "$(awk '{ print $1 }' out | tr '\n' ' ')" \
    "frames lost energies clocks singles late prompts delayeds randoms rates dead written checksum faults time "

# ---- what is refused -----------------------------------------------------------------------------------------------
refuse() { # STATUS TEXT ARGS...
    local status_wanted=$1 text=$2
    shift 2
    run pet "$@"
    want "$status_wanted"
    want_no_out
    [ "$status_wanted" -eq 1 ] || text="$text; see sluice pet $1 --help"
    echo "sluice pet $1: $text" | want_err
}
: >empty.raw
refuse 2 "the scanner must be known: give --tables or --scanner" run run.raw
refuse 2 "--tables and --scanner exclude each other: tables have a scanner, by whose crystals they are; 'sluice pet calibrate FRAMES --scanner mouse20 -o NEW.h5' makes tables of the other" run run.raw --tables t.h5 --scanner mouse20
run pet run run.raw --scanner mouse21
want 2
grep -q "mouse20.*explorer" err || fail "it said: $(cat err)"
run pet run run.raw --tables none.h5
want 1
want_no_out
grep -q "none.h5" err || fail "it said: $(cat err)"
run pet run run.raw --tables run.raw
want 1
grep -q "^sluice pet run: run.raw: " err || fail "it said: $(cat err)"
refuse 2 "--ticks takes picoseconds as N or N/D, not '0'" run run.raw $scan --ticks 0
refuse 2 "--ticks takes picoseconds as N or N/D, not '5/'" convert run.raw $scan --ticks 5/ -o x
refuse 2 "--tick-bits takes 8 to 64, not '7'" run run.raw $scan --tick-bits 7
refuse 2 "--energies takes LOW:HIGH in keV, or all, not '600:400'" run run.raw --scanner mouse20 --energies 600:400
refuse 2 "--window takes a time, as 4ns or 250ps, not '4'" run run.raw $scan --window 4
refuse 2 "--delayed takes a time, as 100ns, not '0ns'" run run.raw $scan --delayed 0ns
refuse 2 "--delayed 3999ps is shorter than the window of 4 ns: choose a longer one" run run.raw $scan $find --delayed 3999ps
run pet run run.raw $scan $find --delayed 4ns -q
want 0
refuse 2 "--horizon takes a time up to 7200s, as 1ms, not '-1ms'" run run.raw $scan --horizon=-1ms
refuse 2 "--horizon takes a time up to 7200s, as 1ms, not '3h'" sort sorted.bin -o x --horizon 3h
refuse 2 "policy: opengate:TakeAllGoods has no delayed windows" run run.raw $scan --policy opengate:TakeAllGoods --delayed 100ns
refuse 2 "the end of --output x.dat tells no format: give --format" run run.raw $scan -o x.dat
refuse 2 "unknown format 'root'; there are: castor safir siemens yrt gate hdf5 petsird csv arrow npy npz" run run.raw $scan -o x --format root
refuse 2 "castor has no delayeds: add --prompts, or leave out --delayed" run run.raw $scan --delayed 100ns -o x.cdh
refuse 2 "--format, --tof and --prompts are of coincidences: give --output" run run.raw $scan --format castor
refuse 2 "--subtract needs delayeds: --delayed" run run.raw $scan --sinogram x --subtract
refuse 2 "--ring-difference, --tangential, --rebin and --subtract need --sinogram" run run.raw $scan --rebin
refuse 2 "--bin is of --rates, --rate-plot, --dead-time, --randoms and --crystal-rates" run run.raw $scan --bin 1ms
refuse 2 "--paralysable needs --dead-time" run run.raw $scan --paralysable
refuse 2 "bins of 1e-12 s; they have 1 us to 3600 s" run run.raw $scan --rates x --bin 1ps
refuse 2 "standard output takes one of the outputs alone" run run.raw $scan -o - --format csv --singles - -q
refuse 2 "an output to '-' and what is told both print: add --quiet" run run.raw $scan --singles -
refuse 2 "an output to '-' and what is told both print: leave out --json" run run.raw $scan --singles - -q --json
refuse 2 "--output run.raw would overwrite the input run.raw" run run.raw $scan -o run.raw --format csv
refuse 2 "--singles and --late name the same file" run run.raw $scan --singles x --late x
refuse 2 "--rates t.h5 would overwrite the tables" run run.raw --tables t.h5 --rates t.h5
refuse 2 "--json and --output - both print: give --output a file" convert run.raw $scan -o - --json
refuse 2 "--output sorted.bin would overwrite the input sorted.bin" sort sorted.bin -o sorted.bin
refuse 2 "--output is required" sort sorted.bin
refuse 1 "late.bin: there are no singles in it" sort late.bin -o x
head -c 20 sorted.bin >short.bin
refuse 1 "short.bin: byte 16: 4 bytes are left, a single has 16" sort short.bin -o x --late y
want_no_file x y 'x.tmp-*' 'y.tmp-*'
for input in empty.raw none.raw; do
    run pet run $input $scan -o x.csv --singles y --rates z --rate-plot w --json
    want 1
    tail -n 1 err | grep -q "^sluice pet run: $input: no frames were read: no file was written$" || fail "it said: $(cat err)"
    want_no_file x.csv y z w
    run pet convert $input $scan -o y
    want 1
    want_no_file y
done
# An output that cannot be is told before anything is read; rates that cannot go on end themselves alone.
run pet run none.raw $scan -o nodir/x.csv
want 1
grep -q "^sluice pet run: nodir/x.csv: cannot create" err || fail "it said: $(cat err)"
! grep -q none.raw err || fail "it said: $(cat err)"
python3 -c 'from frames import frame
open("many.raw", "wb").write(b"".join(frame(0, 0, 5, 5, i * 1000000, 511) for i in range(1060000)))'
run pet run many.raw $scan $find --rates many.csv --bin 1us --singles many.bin -q
want 1
echo "sluice pet run: no rates: there are more than 1048576 bins of 1e-06 s: choose longer ones" | want_err
equal "singles" "$(stat -c %s many.bin)" $((16 * 1060000 + 8))
want_no_file many.csv
rm many.raw many.bin
run pet run run.raw $scan --device tpu
want 2
want_no_out

# ---- memory does not grow with the input; a signal keeps what was read-------------------------------------------------
cat >rss.py <<'P'
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if status == 0 else status)
P
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1
for seconds in 0.02 0.2; do
    run simulate pet --fast --rate 20e6 --pair-share 0.2 --seconds $seconds --bare --replace -o long.raw -q
    want 0
    last="pet run of $seconds s"
    python3 rss.py "$sluice" pet run long.raw --scanner mouse20 --batch 20000 --window 4ns --delayed 100ns -o long.clm.safir \
        --singles long.bin --late late.bin --rates long.csv --bin 10ms -q >>rss
done
# 58 MB of input more, and at most 8 MB of memory.
equal "memory" "$(awk 'NR == 1 { first = $1 } END { print (first > 1000 && $1 < first + 8000) ? "bounded" : first " " $1 }' rss)" bounded
mkfifo fifo
last="a run that is interrupted"
"$sluice" pet run fifo $scan -o cut.csv --format csv --singles cut.bin --batch 1000 >out 2>err &
pid=$!
exec 9<>fifo # for reading, too: opening never waits
head -c 32000 run.raw >&9
for _ in $(seq 100); do
    [ ! -e cut.bin.tmp-$pid ] || break
    sleep 0.1
done
equal "a file is being written" "$(ls cut.bin.tmp-* 2>/dev/null | wc -l)" 1
kill -TERM $pid
exec 9>&-
wait $pid
equal "its status" $? 1
grep -q "^sluice pet run: interrupted" err || fail "'$last' said: $(cat err)"
want_no_file "cut.csv.tmp-$pid" "cut.bin.tmp-$pid"
rm -f cut.csv cut.bin

# ---- full disks ----------------------------------------------------------------------------------------------------
if [ -w /dev/full ]; then
    for words in "-o /dev/full --format csv" "-o /dev/full --format gate" "-o /dev/full --format yrt" "--singles /dev/full" \
        "--rates /dev/full" "--rate-plot /dev/full" "--horizon 1us --late /dev/full"; do
        run pet run run.raw $scan $find $words --json
        want 1
        grep -q "^sluice pet run: /dev/full: cannot write" err || fail "'$last' said: $(cat err)"
    done
    run pet convert run.raw $scan -o /dev/full
    want 1
    grep -q "^sluice pet convert: /dev/full: cannot write" err || fail "it said: $(cat err)"
    run pet sort sorted.bin -o /dev/full
    want 1
    grep -q "^sluice pet sort: /dev/full: cannot write" err || fail "it said: $(cat err)"
    run pet run run.raw $scan -o nowhere/x.cdh -q
    want 1
    grep -q "^sluice pet run: nowhere/x.cd.: cannot create: No such file or directory$" err || fail "it said: $(cat err)"
fi
passed
