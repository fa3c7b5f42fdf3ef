#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice info on files of PET: each kind that is written is known, by its bytes or its name, and what is told of it are
# the numbers with which it was made; damage is told; what only looks like one is not taken for one.
. "$(dirname "$0")/common.sh" "$@"
info() { # FILE EXPRESSION: of the file's object, f
    last="sluice info --json $1"
    "$sluice" info --json "$1" >out 2>err
    echo $? >code # for a caller who is another shell
    python3 -c 'import json,sys; f=json.load(open("out"))["files"][0]; print(eval(sys.argv[1]))' "$2" ||
        fail "'$last': no $2"
}
want_info() { # STATUS: the exit status of the last `info`
    last="sluice info --json"
    status=$(cat code)
    want "$1"
}

run simulate pet --rate 1e6 --seconds 0.05 --flood-side 64 --gain-spread 0.1 -o run.raw --write-tables run.h5 --sequence -q
want 0
run simulate pet --rate 1e6 --seconds 0.05 --flood-side 64 --gain-spread 0.1 --bare -o bare.bin -q
want 0
frames=$(($(stat -c %s bare.bin) / 16))
run pet run run.raw --tables run.h5 --delayed 100ns -o pairs.h5 --singles sorted.bin --sinogram sino --rebin --json
want 0
prompts=$(key out "o['prompts']['pairs']")
delayeds=$(key out "o['delayeds']['pairs']")
highest=$(key out "o['convert']['singles']")
run pet convert run.raw --tables run.h5 -o unsorted.bin -q
want 0
for format in castor yrt; do
    name=$([ $format = yrt ] && echo l.lmDat || echo l)
    run pet list pairs.h5 --format hdf5 --tables run.h5 --to $format --prompts -o $name -q
    want 0
done
for format in safir siemens gate; do
    run pet list pairs.h5 --format hdf5 --tables run.h5 --to $format -o l -q
    want 0
done
mv l l.csv # GATE's
# The scanner of `pet list` may come with its tables.
run pet list pairs.h5 --format hdf5 --tables run.h5 --scanner mouse20
want 2
echo "sluice pet list: --tables, --scanner, --map and --crystals-per-ring exclude each other; see sluice pet list --help" | want_err
run pet list pairs.h5 --format hdf5 --tables run.h5 --to hdf5 -o run.h5
want 2
echo "sluice pet list: --output run.h5 would overwrite the tables; see sluice pet list --help" | want_err
run pet list pairs.h5 --format hdf5 --tables none.h5
want 1
echo "sluice pet list: none.h5: No such file or directory" | want_err
run pet list pairs.h5 --format hdf5 --scanner mouse20 --to safir -o named -q
want 0
cmp named.map.txt l.map.txt || fail "tables and name are of different scanners"
run pet run run.raw --tables run.h5 --delayed 100ns -o own.csv --format csv -q
want 0

# ---- what lists of pairs say of their measurement ---------------------------------------------------------------------
run pet run run.raw --tables run.h5 --window 3ns --tof 300ps --energies 430:650 -o about.petsird -q
want 0
run pet run run.raw --tables run.h5 --window 3ns --tof 300ps -o about.cdh -q
want 0
run pet run run.raw --tables run.h5 --window 3ns --tof 300ps --randoms singles -o about.h5 -q
want 0
equal "of HDF5" "$(info about.h5 "f['scanner'], f['crystals'], f['rings'], f['window_ps'], f['tof_resolution_ps'], f['corrections']")" \
    "('$(info run.h5 "f['scanner']")', 13520, 26, 3000.0, 300.0, ['randoms_hz'])"
want_info 0
want_silent
equal "of CASToR, with .hscan beside it" "$(info about.cdh "f['scanner_name'], f['window_ps'], f['tof_resolution_ps'], f['duration_s'] > 0.04, 'scanner' in f, 'corrections' in f")" \
    "('about', 3000.0, 300.0, True, True, False)"
equal "of PETSIRD" "$(info about.petsird "f['crystals'], f['window_ps'], f['low_kev'], f['high_kev']")" "(13520, 3000.0, 430.0, 650.0)"
run info about.h5
grep -q '^  window ps *3000$' out || fail "it said: $(cat out)"

# ---- raw frames -----------------------------------------------------------------------------------------------------
equal "raw" "$(info run.raw "f['format'], f['frames'], f['bytes'], len(f['modules']), sum(m['frames'] for m in f['modules'])")" \
    "('pet-raw', $frames, $(stat -c %s run.raw), 20, $frames)"
want_info 0
want_silent
equal "its head" "$(info run.raw "f['header_bytes'], f['sequence'], f['file_number'], f['followed_by'], 'index' in f, f['first_datagram'], f['faults']")" \
    "(8, '0:8', 0, [], False, 0, {})"
equal "its times" "$(info run.raw "f['begun'][:10] == f['last_received'][:10] and f['begun'].endswith('Z')")" True
equal "in their order" "$(info run.raw "f['begun'] <= f['first_received'] <= f['last_received']")" True
cp run.raw damaged.raw
printf x | dd of=damaged.raw bs=1 seek=26 conv=notrunc 2>dd || fail "$(cat dd)"
equal "a damaged head" "$(info damaged.raw "f['begun'], f['acquisition'], f['file_number'], f['header_bytes'], f['first_received'] is None")" \
    "(None, None, None, None, False)"
want_info 1
head -c 100000 run.raw >cut.raw
equal "cut" "$(info cut.raw "f['faults'], 0 < f['frames'] < $frames")" "({'pet_block': 1}, True)"
want_info 1
grep -q '^sluice info: cut.raw: 1 × pet_block' err || fail "it said: $(cat err)"

# ---- tables, singles ------------------------------------------------------------------------------------------------
equal "tables" "$(info run.h5 "f['format'], f['modules'], f['crystals'], f['rings'], f['crystals_per_ring'], f['tables'], f['position_side']")" \
    "('pet-tables', 20, 13520, 26, 520, ['position', 'gain'], 64)"
scanner=$(info run.h5 "f['scanner']")
run simulate pet --rate 1e6 --seconds 0.01 -o plain.raw -q
run pet run plain.raw --scanner "$scanner" --json # as it is told it is taken
want 0
run pet list pairs.h5 --format hdf5 --scanner "$scanner" --to safir -o same -q
want 0
cmp same.map.txt l.map.txt || fail "another scanner"
cp run.h5 damaged.h5
python3 -c 'f = open("damaged.h5", "r+b"); f.seek(20000); b = bytearray(f.read(5000)); b[:] = bytes(5000); f.seek(20000); f.write(b)'
run info damaged.h5
want 1
grep -q "^sluice info: damaged.h5: " err || fail "it said: $(cat err)"
equal "in order" "$(info sorted.bin "f['format'], f['singles'], f['ordered'], f['from_seconds'] >= 0, f['to_seconds'] <= 0.051, f['highest_crystal'] < 13520")" \
    "('pet-singles', $highest, True, True, True, True)"
want_info 0
equal "not in order" "$(info unsorted.bin "f['singles'], f['ordered']")" "($highest, False)"
# Records from the first byte, a mark behind them; the head of older versions; neither; and again where files were put one after the other.
equal "its mark" "$(tail -c 8 sorted.bin | od -An -tx1 -v | tr -d '\n ')" "89534c435053310a"
head -c -8 sorted.bin >alone.bin
{ printf '\x89SLCPSG\n\1\0\0\0\0\0\0\0'; cat alone.bin; } >headed.bin
cat headed.bin sorted.bin sorted.bin >thrice.bin
cat alone.bin alone.bin alone.bin >all.bin
equal "thrice" "$(info thrice.bin "f['format'], f['singles'], f['ordered'], f['bytes']")" "('pet-singles', $((3 * highest)), False, $((48 * highest + 32)))"
told() { # COMMAND FILE SINGLES: nothing else is told
    case $2 in
        alone.bin | all.bin) echo "sluice $1: $2: no mark of Sluice at its end, so another program wrote it, or it is cut: $3 records are taken for i64 ps, u32 crystal, f32 keV" | want_err ;;
        *) want_silent ;;
    esac
}
for input in sorted headed alone thrice all; do
    n=$highest
    case $input in thrice | all) n=$((3 * highest)) ;; esac
    run pet coincidences $input.bin --window 4ns --format csv -o $input.csv -q
    want 0
    told "pet coincidences" $input.bin $n
    run pet sort $input.bin --horizon 1s -o $input.sorted -q
    want 0
    told "pet sort" $input.bin $n
    "$sluice" pet coincidences - --window 4ns --format csv -o from-pipe.csv -q <$input.bin 2>err || fail "a pipe of $input.bin: $(cat err)"
    cmp from-pipe.csv $input.csv || fail "a pipe of $input.bin has other pairs"
done
cmp sorted.csv alone.csv || fail "a mark makes a difference"
cmp sorted.csv headed.csv || fail "a head makes a difference"
cmp thrice.csv all.csv || fail "a second mark makes a difference"
cmp sorted.sorted sorted.bin || fail "what is in order is changed"
cmp alone.sorted sorted.bin || fail "what had no mark has none"
cmp headed.sorted sorted.bin || fail "what had a head has another mark"
cmp thrice.sorted all.sorted || fail "a second mark makes a difference"
"$sluice" pet sort - --horizon 1s -o - -q <thrice.bin | cmp - all.sorted || fail "pipes have other singles"
{ cat sorted.bin; head -c 8 headed.bin; } >cut.bin
run pet sort cut.bin -o none.bin
want 1
echo "sluice pet sort: cut.bin: byte $(stat -c %s sorted.bin): 8 bytes are left, a single has 16" | want_err
{ head -c 8 headed.bin; printf '\2\0\0\0\0\0\0\0'; } >newer.bin
run info newer.bin
want 1
echo "sluice info: newer.bin: byte 8: version 2 of singles is not known" | want_err
seq 100000 109999 | head -c 16000 >numbers
run pet sort numbers -o none.bin
want 1
grep -qE "^sluice pet sort: numbers: byte 0: these are no singles: of the first 1000 records .* [0-9]+ have times beyond 26 days or energies that are none$" err || fail "it said: $(cat err)"
[ ! -e none.bin ] || fail "an output of what was refused"
run pet coincidences sorted.bin --input singles-f64
want 1
echo "sluice pet coincidences: sorted.bin: byte $((16 * highest)): its mark says that times are picoseconds" | want_err
run pet coincidences headed.bin --input singles-f64
want 1
echo "sluice pet coincidences: headed.bin: byte 0: its head says that times are picoseconds" | want_err
run pet run sorted.bin --scanner mouse20
want 1
grep -qx "sluice pet run: sorted.bin: byte 0: this is a file of singles, not frames" err || fail "it said: $(cat err)"

# ---- pairs ----------------------------------------------------------------------------------------------------------
for file in pairs.h5 l.clm.safir l.csv own.csv; do
    equal "$file" "$(info $file "f['format'], f['prompts'], f['delayeds']")" \
        "('pet-$(case $file in *.h5) echo hdf5 ;; *.safir) echo safir ;; l.csv) echo gate ;; *) echo csv ;; esac)', $prompts, $delayeds)"
    want_info 0
    want_silent
done
for file in l.cdh l.cdf l.lmDat; do
    equal "$file" "$(info $file "f['format'], f['prompts'], f['delayeds']")" "('pet-$([ $file = l.lmDat ] && echo yrt || echo castor)', $prompts, 0)"
    want_info 0
done
run pet list l.l --format siemens --tables run.h5 --json
want 0
siemens=$(key out "('pet-siemens', o['prompts'], o['delayeds'], o['time_tags'])")
for file in l.l l.l.hdr; do
    equal "$file" "$(info $file "f['format'], f['prompts'], f['delayeds'], f['time_tags']")" "$siemens"
    want_info 0
done
equal "most have bins" "$(info l.l "f['prompts'] > 0.9 * $prompts")" True
cp l.clm.safir other-name # known by its bytes
equal "by its bytes" "$(info other-name "f['format']")" pet-safir

# ---- sinograms, maps, headers ---------------------------------------------------------------------------------------
run pet list pairs.h5 --format hdf5 --tables run.h5 --to sinogram --rebin -o again --json
want 0
in=$(key out "o['written']")
for file in sino.hs sino.s; do
    equal "$file" "$(info $file "f['format'], f['tangential'], f['views'], f['sinograms'], f['segments'], f['sum'], f['smallest']")" \
        "('pet-sinogram', 260, 260, 51, 1, $in.0, 0.0)"
    want_info 0
done
equal "a template" "$(info l.template.hs "f['format'], f['data']")" "('pet-interfile-header', False)"
want_info 0
equal "a map" "$(info l.map.txt "f['format'], f['crystals'], f['rings'], f['crystals_per_ring']")" "('pet-crystal-map', 13520, 26, 520)"
for file in l.hscan l.lut; do
    equal "$file" "$(info $file "f['format'], f['crystals']")" "('pet-crystal-map', 13520)"
done
printf '\x89SLCPIX\n and what it had' >i.raw.index # as older versions wrote it
equal "an index" "$(info i.raw.index "f['format']")" pet-raw-index

# ---- text, several files --------------------------------------------------------------------------------------------
run info run.h5 nothing sorted.bin
want 1
echo "sluice info: nothing: No such file or directory" | want_err
{
    echo run.h5
    echo "  bytes             $(stat -c %s run.h5)"
    echo "  format            pet-tables"
    echo "  scanner           $scanner"
    printf '  %-18s%s\n' modules 20 crystals 13520 rings 26 "crystals per ring" 520 tables "position, gain" "position side" 64
} | same <(head -n 10 out)
grep -qx sorted.bin out || fail "the second file is missing"
grep -qx "  ordered           yes" out || fail "the second file: $(cat out)"
run info run.raw
want 0
grep -qE '^  modules           0: [0-9]+, 1: [0-9]+, .*, 19: [0-9]+$' out || fail "modules: $(cat out)"
grep -qx '  followed by       none' out || fail "what follows: $(cat out)"

# ---- what may be several --------------------------------------------------------------------------------------------
# Pairs of YRT have no head: only the name tells.
run pet run run.raw --tables run.h5 --window 20ns -o tof.lmDat --tof 400ps -q
want 0
cp tof.lmDat tof.yrt
equal "by its name" "$(info tof.lmDat "f['format'], f['prompts'] > 0")" "('pet-yrt', True)"
last="sluice info - <run.raw"
"$sluice" info - <run.raw >out 2>err
status=$?
want 1
grep -q "this is a raw file of PET: sluice pet run reads it, sluice info its file and no pipe" err || fail "it said: $(cat err)"

# ---- what is none of these ------------------------------------------------------------------------------------------
head -c 65536 /dev/zero >zeros
python3 -c 'import random; random.seed(3); open("noise", "wb").write(random.randbytes(65536))'
printf 'time,event\n1,2\n' >other.csv
# Nothing tells what records without a head or a mark are: frames, singles, pairs.
for file in zeros noise numbers other.csv bare.bin alone.bin tof.yrt; do
    run info $file
    want 1
    want_no_out
    grep -q "^sluice info: $file: byte 0: no known format.*images, lists of pixels; and PET's frames, singles, pairs, tables, sinograms, crystal maps$" err || fail "'$last' said: $(cat err)"
done
passed
