#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Results of what cannot be read again (a socket, a pipe) are flushed every 5 s, or as often as --flush says: after kill -9 HDF5 opens the temporary
# file, and what was flushed is in it.
. "$(dirname "$0")/common.sh" "$@"
. "$source/tests/cli/pet_receiver.sh"

rows() { # FILE GROUP/COLUMN: how many there are, 0 where HDF5 does not open it
    h5dump -H -d "$2" "$1" 2>/dev/null | sed -n 's/.*SIMPLE { ( \([0-9]*\) ).*/\1/p' | grep . || echo 0
}
killed() { # OUTPUT GROUP: waits until something is flushed, kills $receiver, and reads what is left, as left.h5
    local name=$1.tmp-$receiver dataset
    for _ in $(seq 1200); do
        [ "$(rows "$name" "$2/event_offset")" -eq 0 ] || break
        kill -0 "$receiver" 2>/dev/null || fail "'$last' ended: $(cat err)"
        sleep 0.2
    done
    sleep 0.5 # it writes further on
    kill -9 "$receiver"
    wait "$receiver" 2>/dev/null
    receiver=
    want_no_file "$1"
    datasets=$(h5dump -n "$name" | sed -n "s,.*dataset */\\($2/.*\\),\\1,p" | grep -v event_offset)
    [ -n "$datasets" ] || fail "'$last' was killed: nothing can be read"
    n=$(rows "$name" "${datasets%%$'\n'*}")
    for dataset in $datasets; do
        equal "rows of $dataset" "$(rows "$name" "$dataset")" "$n"
        h5dump -d "$dataset" -b LE -o "left.${dataset#*/}" "$name" >dump ||
            fail "'$last' was killed: $dataset cannot be read"
    done
    [ "$n" -gt 0 ] || fail "'$last' was killed: nothing was flushed"
    mv "$name" left.h5
}
chain=(--scanner mouse20 --window 4ns --delayed 100ns)
as_in() { # FILE: the rows that are left are the first ones of those
    local size
    for dataset in $datasets; do
        h5dump -d "$dataset" -b LE -o whole.bytes "$1" >dump || fail "no $dataset"
        size=$(stat -c %s "left.${dataset#*/}")
        [ "$size" -ge "$n" ] || fail "$size bytes of $dataset"
        cmp -n "$size" "left.${dataset#*/}" whole.bytes || fail "'$last' was killed: other $dataset are left than it found"
        compared=$((compared + 1))
    done
}
slowly() { # FILE BYTES: in parts of so many, for as long as anybody reads
    for part in $(seq 0 299); do
        tail -c +$((part * $2 + 1)) "$1" | head -c "$2" || return
        sleep 0.1
    done
}

# ---- an acquisition --------------------------------------------------------------------------------------------------
listen "${chain[@]}" --coincidences a.h5 --flush 1s
transmit --rate 1e5 --seconds 2
killed a.h5 coincidences
run pet list left.h5 --format hdf5 --json
want 0
equal "pairs that are left" "$(key out "o['prompts'] + o['delayeds']")" "$(rows left.h5 coincidences/time_ps)"

# ---- pet run, from a pipe that would take half a minute to fill a batch ------------------------------------------------
run simulate pet --rate 1e6 --seconds 1 --bare -o run.raw -q
want 0
mkfifo pipe another
last="sluice pet run - -o b.h5"
"$sluice" pet run - "${chain[@]}" -o b.h5 --flush 1s -q <pipe 2>err &
receiver=$!
slowly run.raw 3000 >pipe 2>/dev/null &
killed b.h5 coincidences
run pet run run.raw "${chain[@]}" -o whole.h5 -q
want 0
as_in whole.h5

# ---- clusters of a stream --------------------------------------------------------------------------------------------
python3 -c '
print("x,y,charge,time")
for i in range(900000): print(i * 7 % 250, i * 11 % 251, i % 50 + 1, i * 40, sep=",")' >stream.csv
last="sluice cluster - -o c.h5"
"$sluice" cluster - --time-window 64ticks --disorder 100ticks -o c.h5 --flush 1s -q <another 2>err &
receiver=$!
slowly stream.csv 200000 >another 2>/dev/null &
killed c.h5 clusters
run cluster stream.csv --time-window 64ticks --disorder 100ticks -o whole.h5 -q
want 0
as_in whole.h5

# ---- clusters of a chip that sends 1000 pixels a second, with nothing but defaults ---------------------------------------
# From a running readout, which is read as it comes: it would take minutes to fill the rows that are written at once.
python3 -c '
import struct, sys
for i in range(30000): # a pixel alone each, 819.2 us apart
    x, y = i * 7 % 250, i * 11 % 251
    place = x // 2 << 9 | y // 4 << 3 | (x % 2) << 2 | y % 4
    sys.stdout.buffer.write(struct.pack("<4sBBHQ", b"TPX3", 0, 0, 8, 0xb << 60 | place << 44 | 10 << 20 | 2 * i))' >chip.tpx3
mkfifo chip{1,2}
"$sluice" cluster - -o e.csv -q <chip1 2>err.csv &
text=$!
last="sluice cluster - -o e.h5"
"$sluice" cluster - -o e.h5 -q <chip2 2>err &
receiver=$!
slowly chip.tpx3 1600 | tee -p chip1 2>/dev/null >chip2 &
killed e.h5 clusters
for _ in $(seq 200); do
    [ "$(wc -l <"e.csv.tmp-$text")" -lt 2 ] || break
    sleep 0.05
done
kill -9 "$text"
wait "$text" 2>/dev/null
run cluster chip.tpx3 -o whole.h5 -q
want 0
as_in whole.h5
run cluster chip.tpx3 -o whole.csv -q
want 0
size=$(stat -c %s "e.csv.tmp-$text")
[ "$(wc -l <"e.csv.tmp-$text")" -gt 1 ] || fail "sluice cluster - -o e.csv was killed: nothing was flushed"
cmp -n "$size" "e.csv.tmp-$text" whole.csv || fail "sluice cluster - -o e.csv was killed: other rows are left than it found"

passed
