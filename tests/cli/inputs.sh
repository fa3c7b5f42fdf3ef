#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Inputs that are missing, empty, of no known format, truncated or damaged: one exact line, the right exit status, and
# the results of all good events.
. "$(dirname "$0")/common.sh" "$@"
make_events good.mdf 4 5
size_at() { od -An -tu4 -j "$1" -N 4 good.mdf | tr -d ' '; }
first=$(size_at 0)
second=$(size_at "$first")

# Nothing to read: the line, exit status 1, and the other inputs are still processed.
mkdir folder
: >empty
printf 'hello world' >text
refused() { # LINE INPUT [WHAT-INFO-ADDS]
    run velo "$2" --json
    want 1
    want_no_out
    echo "sluice velo: $1" | want_err
    run velo "$2"
    want 1
    want_no_out # the line alone, no table of zeros
    echo "sluice velo: $1" | want_err
    run velo good.mdf "$2" --json
    want 1
    echo "sluice velo: $1" | want_err
    equal "events beside $2" "$(key out "o['events']")" 4
    run velo --strict "$2" good.mdf --json
    want 1
    want_no_out
    echo "sluice velo: $1" | want_err
    run info "$2"
    want 1
    want_no_out
    echo "sluice info: $1${3:-}" | want_err
}
refused "'': No such file or directory" ''
refused "missing: No such file or directory" missing
refused "folder: is a directory, not a file" folder
refused "empty: byte 0: the input is empty" empty
refused 'text: byte 0: no known format: begins with 68 65 6c 6c 6f 20 77 6f 72 6c 64 "hello world"; known are mep, mdf, velo-json, cms-raw' text \
    "; images, lists of pixels; and PET's frames, singles, pairs, tables, sinograms, crystal maps"

# Truncated in the second event: the first one counts.
head -c $((first + 1000)) good.mdf >cut.mdf
line="cut.mdf: byte $first: a record needs $second bytes, 1000 are left"
run velo cut.mdf --json
want 1
echo "sluice velo: $line; 1 event lost, 1 read" | want_err
equal events "$(key out "o['events'], o['lost_events'], o['faults']")" "(1, 1, {'record_truncated': 1})"
run velo --strict cut.mdf
want 1
want_no_out
echo "sluice velo: $line" | want_err
run velo --quiet cut.mdf -o cut.h5
want 1
echo "sluice velo: $line; 1 event lost, 1 read" | want_err
[ -s cut.h5 ] || fail "no results of the good event"

# Nothing but what was lost: told and counted in the JSON, and no table of zeros.
head -c 1000 good.mdf >stub.mdf
echo '{}' >shape.json
for input in stub.mdf shape.json; do
    run velo $input --json
    want 1
    equal "lost of $input" "$(key out "o['events'], o['lost_events']")" "(0, 1)"
    equal "lines about $input" "$(grep -c "^sluice velo: $input: .*; 1 event lost, 0 read$" err), $(wc -l <err)" "1, 1"
    run velo $input
    want 1
    want_no_out
    equal "lines about $input" "$(grep -c "^sluice velo: $input: .*; 1 event lost, 0 read$" err), $(wc -l <err)" "1, 1"
done

# A bit flipped inside the first record: its checksum tells, the other events count.
python3 - "$first" <<'PYTHON'
import sys
b = bytearray(open("good.mdf", "rb").read())
b[int(sys.argv[1]) // 2] ^= 4
open("flip.mdf", "wb").write(b)
PYTHON
run velo flip.mdf --json
want 1
grep -Eq "^sluice velo: flip.mdf: byte 0: the record's checksum is [0-9a-f]{8}, its bytes give [0-9a-f]{8}; 1 event lost, 3 read$" err ||
    fail "'$last' said: $(cat err)"
equal events "$(key out "o['events'], o['lost_events'], o['faults']")" "(3, 1, {'record_checksum': 1})"
run info --json flip.mdf
want 1
equal info "$(key out "o['files'][0]['events'], o['files'][0]['lost_events']")" "(3, 1)"

# One of a record's three sizes is wrong: two agree, and the place is that in the file.
python3 - "$first" <<'PYTHON'
import sys
b = bytearray(open("good.mdf", "rb").read())
b[int(sys.argv[1]) + 8] ^= 1
open("size.mdf", "wb").write(b)
PYTHON
run velo size.mdf --quiet
want 0
grep -q "^sluice velo: size.mdf: 1 × record_size (.*), first at event 1, byte $first of the input$" err || fail "'$last' said: $(cat err)"

# A bank of an unknown version in event 1, in a record without checksum: told, counted, and no failure …
python3 - "$first" <<'PYTHON'
import struct, sys
b = bytearray(open("good.mdf", "rb").read())
start = int(sys.argv[1])
size = struct.unpack_from("<I", b, start)[0]
struct.pack_into("<I", b, start + 12, 0)
at = start + 48
while at < start + size:
    magic, length, kind, version, source = struct.unpack_from("<HHBBh", b, at)
    if kind == 63 and source == 20:
        b[at + 5] = 9
    at += (length + 3) & ~3
open("version.mdf", "wb").write(b)
PYTHON
run velo version.mdf --json
want 0
place=$(sed -n 's/.*event 1, source 20, byte \([0-9]*\) of the event$/\1/p' err)
echo "sluice velo: version.mdf: 1 × bank_version (unknown bank version; bank dropped), first at event 1, source 20, byte $place of the event" |
    want_err
equal faults "$(key out "o['faults'], o['events'], o['lost_events']")" "({'bank_version': 1}, 4, 0)"
said=$(cat err)
run velo --quiet version.mdf
want 0
equal "what was lost, with --quiet" "$(cat err)" "$said"
# … except under --strict, which also leaves no result.
run velo --strict version.mdf -o strict.h5 --table strict.csv --report strict.html
want 1
want_no_out
echo "sluice velo: version.mdf: event 1, source 20, byte $place of the event: bank_version (unknown bank version; bank dropped)" | want_err
want_no_file strict.h5* strict.csv* strict.html*

# Standard input.
run velo good.mdf --json
want 0
want_silent
checksum=$(key out "o['checksum']")
"$sluice" velo --json - <good.mdf >out || fail "standard input is not read"
equal "checksum from standard input" "$(key out "o['checksum']")" "$checksum"
cat good.mdf | "$sluice" velo --json - >out || fail "a pipe is not read"
equal "checksum from a pipe" "$(key out "o['checksum']")" "$checksum"
run velo good.mdf --geometry missing.bin
want 1
want_no_out
echo "sluice velo: missing.bin: No such file or directory" | want_err
run velo good.mdf --geometry text
want 1
[ "$(wc -l <err)" -eq 1 ] && grep -q "^sluice velo: text: " err || fail "'$last' said: $(cat err)"

# No output replaces what is read: the beam's file, the geometry, and the one that a geometry of JSON names.
"$sluice" simulate velo -q --events 1 -o one.mdf || fail "no event"
mkdir -p sub
python3 - <<'PYTHON'
import struct
open("sub/bl", "wb").write(struct.pack("<2f", 0.5, -0.25))
PYTHON
cp sub/bl bl
head -c 1000 good.mdf >sub/vg
cp sub/vg vg
echo '{"geometry": "vg"}' >sub/gy.json
echo "{\"geometry\": \"$PWD/vg\"}" >sub/full.json
kept() { # INPUT ARGS...
    local input=$1 before
    before=$(cksum <"$input")
    shift
    run "$@"
    want 2
    want_no_out
    grep -q "would overwrite the input [^ ]*$(basename "$input"); see sluice" err || fail "'$last' said: $(cat err)"
    equal "$input after '$last'" "$(cksum <"$input")" "$before"
}
for option in --residuals --monitor --table --report --output; do
    kept bl velo -q good.mdf --beam bl --form hdf5 $option bl
    kept bl velo -q good.mdf --beam ./bl --form hdf5 $option "$PWD/bl"
    kept sub/vg velo -q good.mdf --geometry sub/gy.json --form hdf5 $option sub/vg
done
kept vg velo -q good.mdf --geometry sub/full.json --residuals vg
kept sub/vg simulate velo -q --events 1 --geometry sub/gy.json -o sub/vg
cp sub/gy.json sub/gy
kept sub/gy simulate velo -q --events 1 --geometry sub/gy -o sub/gy
kept sub/vg bench velo good.mdf --geometry sub/gy.json --csv sub/vg
for beam in auto 0,0; do # which are no files
    run velo -q one.mdf one.mdf one.mdf one.mdf one.mdf one.mdf --beam $beam --residuals $beam
    want 0
done
run velo -q one.mdf --beam sub/bl --residuals bl.json # beside it
want 0

# Of two files, or presets, one would be left out without a word.
echo '{}' >a.json
echo '{}' >b.json
twice() { # OPTION A B
    run velo -q one.mdf "$1" "$2" "$1" "$3"
    want 2
    echo "sluice velo: $1 can be given once only, not as $2 and $3; see sluice velo --help" | want_err
    run velo -q one.mdf "$1" "$2" "$1" "$2"
    want 0
}
twice --config a.json b.json
twice --preset fast open
twice --residuals r.json s.json
want_no_file s.json
run velo -q one.mdf --threads 1 --threads 2 --trim 1 --trim 0
want 0
run velo -q one.mdf --max-layer-hits 4097
want 2
passed
