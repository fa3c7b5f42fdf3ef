#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names of files and what is in them: no output of the PET commands replaces an input, the tables or another output, also
# where names are made of others; files that are no frames or no singles are refused; and words that mean nothing.
. "$(dirname "$0")/common.sh" "$@"

folder() { # names, sizes and times of its files
    find . -type f ! -name out ! -name err ! -name before -printf '%p %s %T@\n' | sort
}
refuse() { # STATUS TEXT COMMAND ARGS...: and nothing changes in the folder
    local status_wanted=$1 text=$2 command=$3
    shift 3
    folder >before
    # shellcheck disable=SC2086
    run $command "$@"
    want "$status_wanted"
    want_no_out
    [ "$status_wanted" -eq 1 ] || text="$text; see sluice $command --help"
    echo "sluice $command: $text" | want_err
    folder | same before
}

run simulate pet --fast --rate 1e6 --seconds 0.02 -o run.raw --write-tables run.h5 -q
want 0
cp run.raw in.s
cp run.raw in.cdf
cp run.h5 tables.png
scan="--scanner mouse20"

# ---- outputs that would replace something --------------------------------------------------------------------------
refuse 2 "--output run.h5 would overwrite the tables" "pet convert" run.raw --tables run.h5 -o run.h5
refuse 2 "--output run.raw would overwrite the input run.raw" "pet convert" run.raw $scan -o run.raw
refuse 2 "--flood-png tables.png would overwrite the tables" "pet calibrate" run.raw --tables tables.png -o x.h5 \
    --flood-png tables.png
refuse 2 "--spectra-svg run.h5 would overwrite the tables" "pet calibrate" run.raw --tables run.h5 -o x.h5 --spectra-svg run.h5
refuse 2 "--spectra-svg run.raw would overwrite the input run.raw" "pet calibrate" run.raw --tables run.h5 -o x.h5 \
    --spectra-svg run.raw
refuse 2 "--sinogram in.s would overwrite the input in.s" "pet run" in.s $scan --sinogram in
refuse 2 "--output in.cdf would overwrite the input in.cdf" "pet run" in.cdf $scan -o in.cdh
refuse 2 "--output and --sinogram name the same file" "pet run" run.raw $scan -o q.clm.safir --sinogram q.template
refuse 2 "--output and --singles name the same file" "pet run" run.raw $scan -o a.cdh --singles a.cdf
refuse 2 "--output and --late name the same file" "pet run" run.raw $scan -o a --format siemens --late a.l.hdr
refuse 2 "--output and --singles name the same file" "pet acquire" --listen 127.0.0.1:0 $scan -o a.raw --singles ./a.raw
refuse 2 "--coincidences and --singles name the same file" "pet acquire" --listen 127.0.0.1:0 $scan --singles a.lut \
    --coincidences a.cdh
refuse 2 "--coincidences run.h5 would overwrite the tables" "pet acquire" --listen 127.0.0.1:0 --tables run.h5 \
    --coincidences run.h5
for name in a.0001.raw ./a.12345.raw; do
    refuse 2 "--singles $name is a name of further files of --output a.raw" "pet acquire" --listen 127.0.0.1:0 $scan \
        -o a.raw --singles $name
done
refuse 2 "--output and --write-tables name the same file" "simulate pet" -o z.raw --write-tables ./z.raw
run pet run run.raw $scan -o scan.clm.safir -q
want 0
refuse 2 "--output scan.template.s would overwrite the input scan.template.s" "pet list" scan.clm.safir --format safir \
    --map scan.map.txt --to sinogram -o scan.template
cp scan.map.txt own.hs
refuse 2 "--output own.hs would overwrite the input own.hs" "pet list" scan.clm.safir --format safir --map own.hs \
    --to sinogram -o own
run pet list scan.clm.safir --format safir --map scan.map.txt --to sinogram -o other -q
want 0

# ---- standard output that nobody reads any more: no temporary file stays behind ------------------------------------
last="sluice pet run -o - into a pipe that closes"
"$sluice" simulate pet --fast --rate 1e6 --seconds 0.3 -o long.raw -q || fail "cannot generate frames" # more than a pipe holds
"$sluice" pet run long.raw $scan --window 100ns -q -o - --format csv --singles closed.singles --sinogram closed 2>err | head -n 1 >/dev/null
status=${PIPESTATUS[0]}
want 141
want_silent
want_no_file closed*.tmp*

# ---- files that are something else ---------------------------------------------------------------------------------
yes 'This is a text, and no frame of any scanner.' | head -c 16000 >text
make_events events.mdf 2 1
# shellcheck disable=SC2086
forms "arrow npy" pairs pet run run.raw $scan -q -o
for command in "pet run" "pet convert"; do
    # shellcheck disable=SC2086
    run $command text $scan -o x.csv $([ "$command" = "pet convert" ] || echo --format csv)
    want 1
    grep 'frames were lost' err >said
    echo "sluice $command: all 1000 frames were lost: is this a file of frames of this scanner? No file was written" | same said
    want_no_file x.csv
    while read -r file what; do
        # shellcheck disable=SC2086
        run $command $file $scan -o x.csv -q $([ "$command" = "pet convert" ] || echo --format csv)
        want 1
        head -n 1 err >said
        echo "sluice $command: $file: byte 0: this is $what, not frames" | same said
        want_no_file x.csv
    done <<'E'
run.h5 an HDF5 file
pairs.arrow an Arrow file
pairs.npy an NPY file
events.mdf a file of LHCb's events (MDF)
E
done
# An index of an older version is refused; of several inputs it is passed over, as a shell's pattern names it, too.
printf '\x89SLCPIX\n and what it had' >run.raw.index
for command in "pet run" "pet convert"; do
    # shellcheck disable=SC2086
    run $command run.raw.index $scan -o x.csv -q $([ "$command" = "pet convert" ] || echo --format csv)
    want 1
    head -n 1 err >said
    echo "sluice $command: run.raw.index: byte 0: this is the index of a raw file, not frames" | same said
    want_no_file x.csv
done
run pet run run.raw $scan --json
frames=$(key out "o['convert']['frames']")
run pet run run.raw run.raw.index $scan --json
want 0
want_units
echo "sluice pet run: run.raw.index is the index of a raw file: it is passed over" | want_err
equal "frames beside an index" "$(key out "o['convert']['frames'], o['inputs']")" "($frames, 1)"
# Frames of a larger scanner, of which few have a place in this one: files are written, the status is 1.
run simulate pet --scanner explorer --fast --rate 1e6 --seconds 0.02 -o large.raw -q
want 0
run pet run large.raw $scan --rates few.csv -q
want 1
grep -qxE 'sluice pet run: [0-9]+ of [0-9]+ frames were lost: are these frames of this scanner\?' err || fail "it said: $(cat err)"
[ -s few.csv ] || fail "few.csv is not there"
# And so if an input among good ones is none of this scanner: more than a tenth of all frames is lost then.
run pet run run.raw large.raw $scan -q
want 1
grep -qxE 'sluice pet run: [0-9]+ of [0-9]+ frames were lost: are these frames of this scanner\?' err || fail "it said: $(cat err)"
run pet convert large.raw $scan -o few.bin -q
want 1
grep -qxE 'sluice pet convert: [0-9]+ of [0-9]+ frames were lost: are these frames of this scanner\?' err || fail "it said: $(cat err)"
# Crystals of a ring are those of the scanner.
refuse 2 "good.crystals_per_ring: 312, but the scanner has 520 crystals in a ring" "pet run" run.raw $scan \
    --good sectors=24,min=2,crystals-per-ring=312
# Where no energy is inside, frames are frames.
run pet run run.raw $scan --energies 5000:6000 -o x.csv -q
want 0
for input in "--input singles" "--input singles-f64"; do
    # shellcheck disable=SC2086
    refuse 1 "run.raw: byte 0: this is a raw file of frames, not singles" "pet coincidences" run.raw $input
done
refuse 1 "run.h5: byte 0: this is an HDF5 file, not singles" "pet sort" run.h5 -o y.bin
# Frames of another scanner have no grids of this one.
cp run.h5 own.h5
run simulate pet --fast --rate 1e6 --seconds 0.02 --flood-side 64 --flood-sigma 0.5 -o flood.raw -q
want 0
refuse 2 "--output own.h5 would overwrite the tables" "pet calibrate" flood.raw --tables own.h5 -o own.h5
run pet calibrate flood.raw --tables run.h5 -o own.h5 -q
want 1
grep -q '^sluice pet calibrate: no grid of crystals is found in any of 80 blocks: are these frames of this scanner?$' err ||
    fail "it said: $(cat err)"
cmp run.h5 own.h5 || fail "'$last' has written its output"

# ---- words that mean nothing ---------------------------------------------------------------------------------------
for words in "$scan" "--tables nofile" "--ticks 3" "--tick-bits 32" "--windows single" "--edge open" "--compat gate9" \
    "--energies 400:600" "--good different-crystal" "--threads 2" "--window 4ns" "--policy killAll"; do
    # shellcheck disable=SC2086
    refuse 2 "nothing is found without --coincidences, --singles, --late, --marks, --sinogram, --rates, --rate-plot or --dead-time" "pet acquire" --listen 127.0.0.1:0 -o a.raw --duration 1ms $words
done
refuse 2 "--window has 1ps at least: 1e-300s is shorter" "pet run" run.raw $scan --window 1e-300s
refuse 2 "--window has 1ps at least: 0.9ps is shorter" "pet coincidences" x.bin --window 0.9ps
refuse 2 "--window has 1ps at least: 0.9ps is shorter" "pet calibrate" run.raw $scan -o x.h5 --window 0.9ps
for word in 1ps 0.001ns 1e-12s; do
    run pet run run.raw $scan --window $word -q
    want 0
done
refuse 2 "--good: 'sectors=0': the value is not a whole number from 1 to 65536" "pet run" run.raw $scan \
    --good sectors=0,min=2,crystals-per-ring=520
refuse 2 "--good: 'radius=60': the value is not a length, as 60mm" "pet run" run.raw $scan --good radius=60
refuse 2 "--good: 'sector=3' is none of its parts" "pet run" run.raw $scan --good sector=3

# ---- what the help says --------------------------------------------------------------------------------------------
for command in "pet acquire" "pet run" "simulate pet"; do
    # shellcheck disable=SC2086
    run $command --help
    want 0
    [ "$(awk '{ if (length($0) > 110) n++ } END { print n + 0 }' out)" -eq 0 ] || fail "wide lines in $command --help"
done
run pet run --help
equal "the batch in the help" "$(grep -c 'frames at a time; 0: 2^16, on each GPU 2^22' out)" 1
passed
