#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calibration from the command line: frames of a small scanner to tables that convert them right, steps that are kept,
# pictures, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

# Four modules of one block, 4 x 4 crystals each, in maps of 64 places. Crystals of a pair are opposite or nearly so.
# Places are scaled and shifted, gains and times differ, and one crystal is dead.
cat >make.py <<'P'
import random, struct
random.seed(5)
gain = [0.1 * random.uniform(0.8, 1.2) for _ in range(64)]
late = [random.randrange(-800, 800) for _ in range(64)]
mean = sum(late[1:]) // 63
DEAD = 21
def frame(crystal, ps):
    ring, in_ring = divmod(crystal, 16)
    module, y = divmod(in_ring, 4)
    x = 6 + 0.8 * 64 * (ring + 0.5 + random.gauss(0, 0.12)) / 4
    y = 8 + 0.75 * 64 * (y + 0.5 + random.gauss(0, 0.12)) / 4
    kev = random.gauss(511, 22) if random.random() < 0.8 else random.uniform(200, 400)
    ps += late[crystal] - mean + round(random.gauss(0, 150))
    return ps, struct.pack(">BBQBBHbB", 0xA0, module, ps, int(x), int(y), round(kev / gain[crystal]), 25, 0)
frames = []
for event in range(60000):
    t = 10**9 + event * 10**6
    a = random.randrange(64)
    b = (a % 16 + 8 + random.choice((-3, -2, -1, 0, 1, 2, 3))) % 16 + 16 * random.randrange(4)
    frames += [frame(c, t) for c in (a, b) if c != DEAD]
frames.sort()
data = b"".join(f for _, f in frames)
open("all.raw", "wb").write(data)
half = len(data) // 32 * 16
open("a.raw", "wb").write(data[:half])
open("b.raw", "wb").write(data[half:])
plain = bytearray()
for _, f in frames[:12000]:
    plain += f[:10] + bytes([f[10] // 16, f[11] // 16]) + f[12:]
open("plain.raw", "wb").write(bytes(plain))
open("beyond.raw", "wb").write(data[:1600] + struct.pack(">BBQBBHbB", 0xA0, 9, 0, 1, 1, 5, 25, 0))
P
python3 make.py || fail "cannot make frames"
scanner=channels=4,blocks=1x1,crystals=4x4,radius=30mm,pitch=2mm,depth=10mm

# ---- all steps ---------------------------------------------------------------------------------------------------------
run pet calibrate all.raw -o t.h5 --scanner $scanner --time --flood-png flood.png --spectra-svg spectra.svg
want 0
want_no_out
sed -E 's/FWHM [0-9.]+ %/FWHM R %/; s/of [0-9]+ pairs: FWHM [0-9]+ ps, [0-9]+ before/of N pairs: FWHM A ps, B before/; s/^(.*: )[0-9]+ frames/\1N frames/' -i err
want_err <<'T'
sluice pet calibrate: N frames, 0 of no place; crystals in 4 of 4 blocks, maps of 64 x 64
sluice pet calibrate: a photopeak in 63 of 64 crystals, FWHM R %
sluice pet calibrate: times of N pairs: FWHM A ps, B before; 1 crystals without a pair
T
head -c 8 flood.png | od -An -c | grep -q '211   P   N   G' || fail "flood.png is no PNG"
python3 - <<'P' || fail "spectra.svg is not as it should be"
import xml.etree.ElementTree as e
text = "".join(e.parse("spectra.svg").getroot().itertext())
for words in ("All crystals", "Photopeaks", "Energy resolution", "without a peak", "Time offsets", "Pairs", "peak 5"):
    assert words in text, words
P
run pet calibrate a.raw b.raw -o two.h5 --scanner $scanner --time --json
want 0
want_silent
equal "what was found" "$(key out "o['crystals'], o['blocks'], o['blocks_without_grid'], o['crystals_without_peak'], o['position_side'], o['outside'], o['time']['crystals_without_pairs'], 0.08 < o['resolution'] < 0.12, o['time']['fwhm_after_ps'] < 550 < 1000 < o['time']['fwhm_before_ps']")" \
    "(64, 4, 0, 1, 64, 0, 1, True, True)"
cmp -s t.h5 two.h5 || fail "two files give other tables than one"
compared=$((compared + 1))

# What the tables do: singles are of about 511 keV, and pairs are close in time.
run pet run all.raw --tables t.h5 --energies 400:620 --window 2ns --format csv -o pairs.csv -q
want 0
last="the pairs that the tables give"
python3 - <<'P' >out || fail "pairs.csv cannot be read"
import csv, statistics
rows = list(csv.DictReader(open("pairs.csv")))
energy = statistics.median(float(r["energy1_kev"]) for r in rows)
spread = statistics.median(int(r["dt_ps"]) for r in rows)
print(len(rows) > 25000, abs(energy - 511) < 3, spread < 170)
P
echo "True True True" | want_out

# ---- steps that are kept -------------------------------------------------------------------------------------------------
run pet calibrate all.raw -o kept.h5 --tables t.h5 --keep position,gain,time -q
want 0
want_silent
cmp -s t.h5 kept.h5 || fail "what is kept is not the same"
compared=$((compared + 1))
run pet calibrate all.raw -o gains.h5 --tables t.h5 --keep position,time
want 0
sed -E 's/FWHM [0-9.]+ %/FWHM R %/; s/^(.*: )[0-9]+ frames/\1N frames/' -i err
want_err <<'T'
sluice pet calibrate: N frames, 0 of no place; positions are those of t.h5
sluice pet calibrate: a photopeak in 63 of 64 crystals, FWHM R %
T
cmp -s t.h5 gains.h5 || fail "gains found again are others"

# ---- the scanner alone; places that are crystals --------------------------------------------------------------------------
run pet calibrate -o scanner.h5 --scanner $scanner
want 0
echo "sluice pet calibrate: 64 crystals, no tables, to scanner.h5" | want_err
run pet calibrate plain.raw -o plain.h5 --tables scanner.h5 --flood-png plain.png
want 0
sed -E 's/in [0-9]+ of 64 crystals, FWHM [0-9.]+ %/in N of 64 crystals, FWHM R %/' -i err
want_err <<'T'
sluice pet calibrate: 12000 frames, 0 of no place; places are crystals, no position table is needed
sluice pet calibrate: a photopeak in N of 64 crystals, FWHM R %
T
# Too few for anything: nothing is written.
head -c 3200 all.raw >few.raw
run pet calibrate few.raw -o few.h5 --scanner $scanner
want 1
grep -q '^sluice pet calibrate: no grid of crystals is found in any of 4 blocks: are these frames of this scanner?$' err ||
    fail "it said: $(cat err)"
want_no_file few.h5
run pet calibrate few.raw -o few.h5 --tables t.h5 --keep position
want 1
grep -q '^sluice pet calibrate: no photopeak is found in any of 64 spectra$' err || fail "it said: $(cat err)"
want_no_file few.h5

# ---- what is refused -----------------------------------------------------------------------------------------------------
refuse() { # STATUS TEXT ARGS...
    local status_wanted=$1 text=$2
    shift 2
    run pet calibrate "$@"
    want "$status_wanted"
    want_no_out
    [ "$status_wanted" -eq 1 ] || text="$text; see sluice pet calibrate --help"
    echo "sluice pet calibrate: $text" | want_err
    want_no_file x.h5
}
refuse 2 "the scanner must be known: give --tables or --scanner" all.raw -o x.h5
refuse 2 "--tables and --scanner exclude each other: tables have a scanner, by whose crystals they are; 'sluice pet calibrate FRAMES --scanner mouse20 -o NEW.h5' makes tables of the other" all.raw -o x.h5 --tables t.h5 --scanner mouse20
refuse 2 "inputs are read several times: '-' cannot be one" - -o x.h5 --scanner $scanner
refuse 2 "without frames there is only the scanner to write" -o x.h5 --scanner $scanner --time
refuse 2 "--keep needs --tables: what is kept is theirs" all.raw -o x.h5 --scanner $scanner --keep gain
refuse 2 "--keep takes position, gain, time and efficiency, not 'gains' (did you mean 'gain'?)" all.raw -o x.h5 --tables t.h5 --keep gains
refuse 2 "--keep time and --time exclude each other" all.raw -o x.h5 --tables t.h5 --keep time --time
refuse 2 "--position-side: 3 places for 4 x 4 crystals" all.raw -o x.h5 --scanner $scanner --position-side 3
refuse 2 "--flood-png takes a name that ends in .png, not 'f.tif'" all.raw -o x.h5 --scanner $scanner --flood-png f.tif
refuse 2 "--energies takes LOW:HIGH in keV, or all, not '600:400'" all.raw -o x.h5 --scanner $scanner --energies 600:400
refuse 1 "all.raw: no HDF5 file, or cut off or damaged" all.raw -o x.h5 --tables all.raw
head -c 3000 t.h5 >cut.h5
refuse 1 "cut.h5: no HDF5 file, or cut off or damaged" all.raw -o x.h5 --tables cut.h5
run pet calibrate none.raw -o x.h5 --scanner $scanner
want 1
grep -q '^sluice pet calibrate: none.raw: ' err || fail "it said: $(cat err)"
want_no_file x.h5
run pet calibrate beyond.raw -o x.h5 --scanner $scanner --json
equal "frames of no place" "$(grep -c 'no grid of crystals' err)" 1
# What the old tables have and the new ones do not is told, and how it is kept.
run simulate pet --flood-side 64 --gain-spread 0.1 --offset-sigma 300 --rate 1e6 --seconds 0.01 -o drop.raw --write-tables drop.h5 -q
want 0
run pet calibrate drop.raw --tables drop.h5 --keep position,gain -o less.h5
want 0
grep -qx "sluice pet calibrate: the table time_offset of drop.h5 is not in less.h5; --keep time keeps it" err || fail "it said: $(cat err)"
run pet calibrate drop.raw --tables drop.h5 --keep position,gain,time -o less.h5
want 0
grep -q "is not in" err && fail "it said: $(cat err)"
run pet calibrate drop.raw --tables drop.h5 --keep position,time -o drop.h5
want 2
echo "sluice pet calibrate: --output drop.h5 would overwrite the tables; see sluice pet calibrate --help" | want_err
# ---- words that are not of this scanner: places, modules and units say so, and rows of crystals of flood maps ---------
words=channels=8,modules=1,module-rings=1,blocks=1x2,radius=60mm,pitch=2mm,depth=10mm
run simulate pet --scanner $words,crystals=5x4 --rate 1e6 --seconds 0.1 -o places.raw -q
want 0
run simulate pet --scanner $words,crystals=5x4 --flood-side 64 --rate 1e6 --seconds 0.3 -o maps.raw -q
want 0
doubted() { # FILE SCANNER PATTERNS...: all of them are told, also to the quiet, and stand in the JSON; none is a failure
    local file=$1 scanner=$2
    shift 2
    run pet calibrate "$file" -o doubt.h5 --scanner "$scanner" -q --json
    equal "doubts of $scanner" "$(grep -c 'is it this scanner?$' err)" $#
    for pattern in "$@"; do
        compared=$((compared + 1))
        grep -q "^sluice pet calibrate: $pattern.*: is it this scanner?$" err || fail "'$last': no '$pattern', but: $(cat err)"
    done
}
for file in places maps; do
    doubted $file.raw $words,crystals=5x4
    want_silent
done
doubted places.raw $words,crystals=6x4 "there are no frames of crystals y above 4; blocks have 6, from 0"
want 0
equal "in the JSON" "$(key out "o['doubts']")" "['there are no frames of crystals y above 4; blocks have 6, from 0']"
doubted places.raw $words,crystals=4x5 "there are frames of crystals y up to 4; blocks have 4" "there are no frames of crystals z above 3; blocks have 5"
doubted places.raw $words,crystals=4x4 "places up to x = 3, y = 4 are no flood map of blocks of 4 x 4 crystals; if they are crystals, blocks have 5 x 4"
doubted places.raw ${words/channels=8/channels=9},crystals=5x4 "there are no frames of modules above 7; the scanner has 9"
doubted places.raw ${words/channels=8/channels=7},crystals=5x4 "there are frames of modules up to 7; the scanner has 7"
doubted places.raw ${words/blocks=1x2/blocks=1x3},crystals=5x4 "there are no frames of units above 1; modules have 3"
doubted maps.raw $words,crystals=6x4 "crystals y = [05] of all blocks together have 0.[0-4].* as if blocks had fewer than 6 x 4"
doubted maps.raw $words,crystals=5x3 "crystals z = 0 .* as if blocks had more than 5 x 3" "crystals z = 2 .* as if blocks had more than 5 x 3"
for command in run convert; do
    run pet $command places.raw --scanner $words,crystals=6x4 -o doubt.singles -q $([ $command = convert ] || echo --format hdf5)
    want 0
    want_units
    echo "sluice pet $command: there are no frames of crystals y above 4; blocks have 6, from 0: is it this scanner?" | want_err
done

passed
