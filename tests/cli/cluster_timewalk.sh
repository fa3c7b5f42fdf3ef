#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster --timewalk` and `--column-phase`: raw Timepix3 made here, whose clusters have one time each, measured late by their ToT and
# early by the phase of their columns; the same as a list; what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math, random, struct, sys

C, D, TICK = 220.0, 3.5, 25 / 16
rng = random.Random(21)

def late(tot):
    return math.floor(C / (tot - D) / TICK + 0.5) if tot > D else 0

def clusters():
    """(time in ticks, [(x, y, tot)]), on two chips, 3 us apart."""
    out = []
    for k in range(2000):
        x, y, chip = rng.randrange(8, 240), rng.randrange(8, 240), rng.randrange(2)
        cells = [(x + i + 256 * chip, y + i % 2, rng.randrange(4, 1023)) for i in range(rng.randrange(1, 9))]
        if k % 100 == 0:
            cells = [(x + 256 * chip, y, rng.randrange(0, 4))]    # no delay is known of it
        out.append((5000 + 1920 * k + rng.randrange(800), cells))
    return out

def phase(x):
    return x % 256 // 2 % 16 or 16

def word(x, y, tick, tot):
    clock = -(-tick // 16)
    address = (x % 256 >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
    return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | tot << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF

made = clusters()
if sys.argv[1] == "make":
    for name, phased in (("walk", False), ("both", True)):
        with open(name + ".tpx3", "wb") as out:
            for time, cells in made:
                for x, y, tot in cells:
                    measured = time + late(tot) - (phase(x) if phased else 0)
                    out.write(struct.pack("<4sBBHQ", b"TPX3", x // 256, 0, 8, word(x, y, measured, tot)))
    with open("list.csv", "w") as out:
        out.write("toa,x,y,tot\n")
        out.writelines("%d,%d,%d,%d\n" % (time + late(tot), x, y, tot) for time, cells in made for x, y, tot in cells)
    with open("table.txt", "w") as out:
        out.write("# ToT, ns\n")
        out.writelines("%d %r\n" % (tot, C / (tot - D) if tot > D else 0.0) for tot in range(1024))
else:
    got = list(csv.DictReader(open(sys.argv[2])))
    assert len(got) == len(made), (len(got), len(made))
    for g, (time, cells) in zip(got, made):
        assert int(g["first_time"]) == int(g["last_time"]) == time and int(g["size"]) == len(cells), (g, time, cells)
    print("as made")
P
python3 tool.py make || fail 'the files'
is_made() { # FILE
    compared=$((compared + 2000))
    told=$(python3 tool.py check "$1" 2>&1)
    [ "$told" = 'as made' ] || fail "'$last': $told"
}

# Two ticks of window: without the correction most clusters fall apart.
few='-q --time-window 2ticks --features size,times'
# shellcheck disable=SC2086 # words
{
    run cluster walk.tpx3 $few -o torn.csv
    want 0
    [ "$(wc -l <torn.csv)" -gt 2500 ] || fail "they are whole without the correction: $(wc -l <torn.csv)"
    run cluster walk.tpx3 $few --timewalk c=220,d=3.5 -o fit.csv
    want 0
    is_made fit.csv
    [ "$(cat err)" = 'sluice cluster: walk.tpx3: 20 pixels have a ToT for which --timewalk has no delay; their times are as they were' ] || fail "told: $(cat err)"
    run cluster walk.tpx3 $few --timewalk table.txt -o table.csv
    want_silent
    cmp fit.csv table.csv || fail 'a table is not the fit'
    run cluster both.tpx3 $few --timewalk table.txt --column-phase -o both.csv
    want_silent
    is_made both.csv
    run cluster list.csv $few --tick 1.5625ns --timewalk table.txt -o list-out.csv
    want_silent
    is_made list-out.csv
    run cluster walk.tpx3 $few --timewalk c=220,d=3.5 --json
    grep -q '"uncorrected": 20' out || fail "json: $(cat out)"
}

printf '1 2\n5 1\n3 4\n' >falls.txt
printf '1 2\n5 1' >cut.txt
printf 'x,y\n1,2\n' >plain.csv
want_refused 'falls.txt: line 3: ToT is to rise from line to line' cluster walk.tpx3 --timewalk falls.txt -o never.csv
want_refused 'cut.txt: line 2: the last line has no end: the file is cut' cluster walk.tpx3 --timewalk cut.txt -o never.csv
want_refused "'c=1;d=2' is no timewalk of the form c=48.5,d=3, and no file" cluster walk.tpx3 --timewalk 'c=1;d=2' -o never.csv
want_refused "a timewalk of 'c=1e9,d=2': c and d are numbers up to 1e6" cluster walk.tpx3 --timewalk c=1e9,d=2 -o never.csv
want_refused 'a timewalk needs pixels with times and charges' cluster plain.csv --timewalk c=1,d=2 -o never.csv
want_refused 'phases of columns are those of .tpx3' cluster list.csv --column-phase -o never.csv
want_refused 'the file does not tell how long a tick is, which a timewalk in ns needs' cluster list.csv --time-window 2ticks --timewalk c=1,d=2 -o never.csv
want_no_file never.csv
echo "$compared comparisons"
