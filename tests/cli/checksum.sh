#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checksum of every chain: that of the result file's attribute, of JSON and of the table is what a script finds that
# reads the file's data sets with h5py and hashes them with xxhash, and it depends on neither threads nor batches.
. "$(dirname "$0")/common.sh" "$@"
python=/usr/bin/python3 # Debian's, which has Debian's packages
"$python" -c 'import h5py, numpy, xxhash' 2>/dev/null || {
    echo "skipped: Debian's python3-h5py and python3-xxhash are not installed"
    exit 77
}
"$sluice" simulate velo -q --events 23 --seed 4 -o a.mdf && "$sluice" simulate velo -q --events 5 --seed 5 -o b.mdf &&
    "$sluice" simulate cms -q --events 9 --tracks 300 --seed 3 -o c.bin --cabling c.cabling --gains c.gains &&
    "$sluice" simulate pixels -q --frames 9 --size 100x50 --density 5 --seed 2 -o frames.csv &&
    "$sluice" simulate pixels -q --stream 200000 --rate 50 --size 64x64 --seed 5 -o stream.csv &&
    "$sluice" simulate image -q --size 300x200 --density 30 --seed 6 -o i.pgm &&
    "$sluice" simulate pet -q --fast --rate 4e6 --seconds 0.02 --pair-share 0.3 --seed 7 -o p.raw --write-tables p.tables.h5 ||
    fail "cannot generate inputs"
echo "frame,x,y" >empty.csv

# check NAME COMMAND...: its file, JSON and table; then with the options of `also`, one run a line, all the same.
also=
check() {
    local name=$1 words file=$2
    shift 2
    rm -f "$file"
    run "$@" "$file" --json
    want 0
    local told
    told=$(key out "o['checksum']")
    equal "digits of $name" "${#told}" 16
    [ "$told" != 0000000000000000 ] || fail "$name: no checksum"
    equal "$name by other people's hash" "$("$python" "$source/tests/support/checksum.py" "$file" 2>&1)" "$told"
    while read -r words; do
        # shellcheck disable=SC2086 # they are words
        run "$@" again.h5 --json $words
        want 0
        equal "$name with $words" "$(key out "o['checksum']")" "$told"
        equal "the file of $name with $words" "$("$python" "$source/tests/support/checksum.py" again.h5 2>&1)" "$told"
    done <<<"$also"
    found=$told
}
in_table() { # NAME COMMAND...: without a file and --json
    local name=$1
    shift
    run "$@"
    want 0
    equal "$name in the table" "$(awk '$1 == "checksum" { print $2 }' out)" "$found"
}

also="--threads 2 --batch 3
--threads 3 --batch 1
--batch 1000"
check velo v.h5 velo a.mdf b.mdf -q -o
in_table velo velo a.mdf b.mdf
run velo a.mdf b.mdf --json --report r.html
want 0
equal "velo with a report" "$(key out "o['checksum']")" "$found"
whole=$found
run velo a.mdf --json -q
one=$(key out "o['checksum']")
run velo b.mdf --json -q
equal "velo in parts: one after 23 events" "$(python3 -c 'import sys
one, two, whole = (int(w, 16) for w in sys.argv[1:])
print(f"{(one + pow(0x9e3779b97f4a7c15, 23, 2**64) * two) % 2**64:016x}")' "$one" "$(key out "o['checksum']")" "$whole")" "$whole"
check cms c.h5 cms c.bin --cabling c.cabling --gains c.gains -q -o
in_table cms cms c.bin --cabling c.cabling --gains c.gains
also="--threads 2"
check frames f.h5 cluster frames.csv -q -o
in_table frames cluster frames.csv
check "frames and features" f.h5 cluster frames.csv -q --features size,mass -o
check stream s.h5 cluster stream.csv --time-window 64ticks -q -o
in_table stream cluster stream.csv --time-window 64ticks
check "frames of two files" f.h5 cluster frames.csv frames.csv -q -o
check label l.h5 label i.pgm -q --features all --stats
also="--threads 2 --algorithm flsl"
check "pages of two files" l.h5 label i.pgm i.pgm -q --stats
also=
check "label by rows" l.h5 label i.pgm --stream -q --features all --stats
check "label by rows of two files" l.h5 label i.pgm i.pgm i.pgm --stream -q --stats
run label i.pgm --stream --json
want 0
found=$(key out "o['checksum']")
in_table "label by rows" label i.pgm --stream
scan="--tables p.tables.h5 --window 4ns --policy takeAllGoods"
also="--threads 2 --batch 1000
--batch 77
--threads 3"
# shellcheck disable=SC2086 # they are words
check pet p.h5 pet run p.raw $scan --delayed 100ns -q -o
# shellcheck disable=SC2086
in_table pet pet run p.raw $scan --delayed 100ns
# shellcheck disable=SC2086
check "pet without delayeds" p.h5 pet run p.raw $scan -q -o

# The script finds what is wrong: one value, and a row that is another event's.
for change in "h['hits/x_mm'][7] += 1" "h['tracks/event_offset'][3] -= 1"; do
    cp v.h5 wrong.h5
    "$python" -c "import h5py
with h5py.File('wrong.h5', 'r+') as h: $change"
    "$python" "$source/tests/support/checksum.py" wrong.h5 >/dev/null 2>&1 && fail "nobody notices: $change"
    compared=$((compared + 1))
done
passed
