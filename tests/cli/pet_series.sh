#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files of one acquisition that began further files: those that are not named are told of, --series reads them, in their
# order, whichever was named; what is missing between two is told. And no output of any command replaces raw data.
. "$(dirname "$0")/common.sh" "$@"
. "$source/tests/cli/pet_receiver.sh"

# An acquisition of seven files or more.
"$sluice" simulate pet --seconds 0.001 -o one.raw --write-tables keV.h5 -q || fail "no tables"
scan="--tables keV.h5 --horizon 1s"
listen -o run.raw --rotate-size 200000 --sequence 0:8
transmit --rate 4e5 --seconds 0.25 --sequence
sleep 0.3
finish TERM
want 0
n=$(find . -name 'run*.raw' | wc -l)
[ "$n" -ge 7 ] || fail "$n files of an acquisition"
last_file=$(printf 'run.%04d.raw' $((n - 1)))
frames() { key out "o['convert']['frames']"; }

# ---- what is not read is told ---------------------------------------------------------------------------------------
run pet run $scan run.raw --json
want 0
echo "sluice pet run: run.raw goes on in $((n - 1)) files, run.0001.raw to $last_file, which are not read; --series reads them, too" | want_err
[ "$(frames)" -lt "$sent" ] || fail "run.raw alone has all frames"
run pet run $scan run.raw --json -q
want 0
want_silent
run pet run $scan run.raw run.0001.raw run.0003.raw --json
want 1
grep -q "^sluice pet run: run.raw goes on" err && fail "run.0001.raw is named: $(cat err)"
grep -qx "sluice pet run: run.0001.raw goes on in run.0002.raw, which is not read; --series reads it, too" err || fail "it said: $(cat err)"
grep -qx "sluice pet run: run.0003.raw goes on in $((n - 4)) files, run.0004.raw to $last_file, which are not read; --series reads them, too" err ||
    fail "it said: $(cat err)"
grep -qxE "sluice pet run: [1-9][0-9]* datagrams of the acquisition between run.0001.raw and run.0003.raw are in neither" err ||
    fail "it said: $(cat err)"
run pet run $scan $last_file --json
want 0
want_silent
mkdir elsewhere
cp run.raw elsewhere/
run pet run $scan elsewhere/run.raw --json
want 0
want_silent

# ---- all of them, whichever are named -------------------------------------------------------------------------------
for names in "run.raw" "./run.raw" "$(echo run*.raw)" "run.0002.raw run.raw" "run.raw run.raw run.0001.raw"; do
    run pet run $scan $names --series --json --singles all.singles
    want 0
    want_silent
    equal "frames of $names" "$(frames)" "$sent"
    equal "inputs of $names" "$(key out "o['inputs']")" "$n"
    md5sum <all.singles >>sums
done
equal "the same singles" "$(sort -u sums | wc -l)" 1
run pet run $scan run.0003.raw --series --json
want 0
equal "from the fourth on" "$(key out "o['inputs']")" $((n - 3))
run pet convert --scanner mouse20 run.raw --series -o converted.bin
want 0
equal "converted" "$(stat -c %s converted.bin)" $((16 * sent + 8))
run simulate pet --rate 4e5 --seconds 0.01 -o other.raw --write-tables tables.h5 -q
want 0
keep="--tables tables.h5 --keep position,gain" # there are too few frames to find them
run pet calibrate $keep run.raw --series -o t.h5 --json
want 0
equal "calibrated" "$(key out "o['frames']")" "$sent"
run pet calibrate $keep run.raw -o t.h5
want 0
grep -q "^sluice pet calibrate: run.raw goes on in" err || fail "it said: $(cat err)"

# Two acquisitions keep their own order; files of something else are as they are.
run pet run $scan other.raw run.0001.raw --series --json
want 0
equal "both" "$(key out "o['inputs']")" "$n"
"$sluice" simulate pet --rate 4e5 --seconds 0.01 --bare -o bare.bin -q
run pet run $scan bare.bin run.raw --series --json
want 0
equal "behind a file without heads" "$(key out "o['inputs']")" $((n + 1))
# In a pattern's order, without --series, the first file comes last: told, and how to do it.
run pet run $scan run.0001.raw run.raw -q
want 1
echo "sluice pet run: run.raw comes before run.0001.raw: give the files of an acquisition in their order, or --series" | want_err
run pet run $scan - --series
want 2
echo "sluice pet run: --series looks for files, and '-' is none; see sluice pet run --help" | want_err
rm run.0002.raw
for quiet in "" -q; do
    run pet run $scan run.raw --series --json $quiet
    want 1
    grep -qxE "sluice pet run: [1-9][0-9]* datagrams of the acquisition between run.0001.raw and run.0003.raw are in neither" err ||
        fail "it said: $(cat err)"
done
missing=$(sed -nE 's/^sluice pet run: ([0-9]+) datagrams .*/\1/p' err)
equal "missing datagrams" "$(key out "o['missing_datagrams']")" "$missing"
run pet convert --scanner mouse20 run.raw --series -o holed.bin --json -q
want 1
equal "missing datagrams of singles" "$(key out "o['missing_datagrams']")" "$missing"
# What is before the first that is named, or that is there; nothing behind it; a link to it.
run pet run $scan run.0003.raw --series --json
want 0
echo "sluice pet run: run.0003.raw is number 3 of its acquisition: what was received before it is not read" | want_err
run pet run $scan elsewhere/run.raw --series --json
want 0
echo "sluice pet run: no file is found that follows elsewhere/run.raw in its acquisition" | want_err
ln -s ../run.0003.raw elsewhere/link.raw
run pet run $scan elsewhere/link.raw --series --json -q
want 0
equal "from the link's target on" "$(key out "o['inputs']")" $((n - 3))
# Datagrams that were received without their counter being told.
listen -o plain.raw
transmit --rate 4e5 --seconds 0.05 --sequence
sleep 0.3
finish TERM
run pet run $scan plain.raw -q --rates few.csv
want 1
grep -qxE "sluice pet run: ([0-9]+) of \1 datagrams hold no whole number of frames: they were received with another --header-bytes, or --sequence, than they have" err ||
    fail "it said: $(cat err)"

# ---- raw data are not replaced, results are -------------------------------------------------------------------------
md5sum run.*raw >before
refuse() { # OPTION FILE ARGS...
    local option=$1 file=$2
    shift 2
    run "$@"
    want 2
    grep -q ": $option $file would replace raw data, which cannot be made again; see sluice" err || fail "'$last' said: $(cat err)"
}
cp converted.bin some.bin
refuse --output run.raw pet run other.raw --scanner mouse20 --format csv -o run.raw
refuse --singles run.raw pet run other.raw --scanner mouse20 --singles run.raw
refuse --late run.0001.raw pet run other.raw --scanner mouse20 --late run.0001.raw
refuse --rates run.raw pet run other.raw --scanner mouse20 --rates run.raw
refuse --rate-plot run.raw pet run other.raw --scanner mouse20 --rate-plot run.raw
refuse --output run.raw pet convert other.raw --scanner mouse20 -o run.raw
refuse --output run.raw pet sort some.bin -o run.raw
refuse --late run.raw pet sort some.bin -o sorted.bin --late run.raw
refuse --output run.raw pet coincidences some.bin --format csv -o run.raw
refuse --output run.raw pet calibrate other.raw --scanner mouse20 -o run.raw
refuse --truth run.raw simulate pet -o x.raw --truth run.raw
run pet run other.raw --scanner mouse20 -o pairs.h5 -q
want 0
refuse --output run.raw pet list pairs.h5 --format hdf5 --scanner mouse20 --to gate -o run.raw
run simulate pet -o run.raw --seconds 0.001
want 1
echo "sluice simulate pet: run.raw: cannot create: File exists; raw data are not overwritten" | want_err
run simulate pet -o bare.bin --bare --seconds 0.001
want 1
echo "sluice simulate pet: bare.bin: cannot create: File exists; raw data are not overwritten" | want_err
md5sum run.*raw | diff before - || fail "raw data were changed"
for words in "pet run other.raw --scanner mouse20 --format csv -o some.out" "pet convert other.raw --scanner mouse20 -o some.out" \
    "pet sort some.bin -o some.out" "pet coincidences some.bin --format csv -o some.out" \
    "pet calibrate other.raw $keep -o some.out" "pet list pairs.h5 --format hdf5 --scanner mouse20 --to gate -o some.out" \
    "simulate pet --bare --replace --seconds 0.001 -o some.out"; do
    echo "what was there" >some.out
    run $words -q
    want 0
    grep -q "what was there" some.out && fail "'$last' replaced nothing"
done

# ---- sizes -----------------------------------------------------------------------------------------------------------
for size in 131072 5000000000 9223372036854775807 8388607T 3G 128k; do
    run pet acquire --listen 127.0.0.1:0 -o size.raw --replace --rotate-size $size --duration 1ms -q
    want 1 # the size is taken, and nobody sends
    echo "sluice pet acquire: nothing was received" | want_err
done
for size in 0 131071 127k 9223372036854775808 8388608T 9007199254740992k 4X 4GG -1 4.5G ""; do
    run pet acquire --listen 127.0.0.1:0 -o size.raw --replace --rotate-size "$size" --duration 1ms -q
    want 2
done
passed
