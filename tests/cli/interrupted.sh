#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first Ctrl-C or termination ends the reading: what was read is in the outputs, which are those of the first events of
# a run that is not interrupted, and say that they are partial; exit status 1. The second one ends at once.
. "$(dirname "$0")/common.sh" "$@"
script=$source/tests/cli/interrupted.py

# cut SIGNALS BYTES FILE ARGS...: sluice with a pipe that has the first bytes of the file, and then is silent.
cut() {
    last="sluice ${*:4} ended by $1 after $2 bytes"
    python3 "$script" run "$1" "$2" "$3" "$sluice" "${@:4}"
    status=$?
}
# prefix PART WHOLE: how many events the first has.
prefix() {
    /usr/bin/python3 "$script" prefix "$1" "$2" || fail "'$last': $1 does not begin as $2 does"
}

# ---- velo ---------------------------------------------------------------------------------------------------------
make_events v.mdf 40 5
"$sluice" simulate velo -q --events 30 --seed 6 --compress -o z.mdf || fail "no events"
size=$(stat -c %s v.mdf)
cat >lines.json <<'J'
{"lines": [{"name": "any", "prescale": 2}]}
J
for name in v z; do
    run velo -q --truth -o $name.h5 $name.mdf
    want 0
done
total=0
for part in 0.13 0.77 1; do
    for signal in INT TERM; do
        [ $part != 0.13 ] || [ $signal = INT ] || continue
        for how in "--threads 1 --batch 1" "--threads 3 --batch 4" "--threads 2 --batch 1000"; do
            echo older >p.h5
            bytes=$(python3 -c "print(int($size * $part))")
            cut $signal "$bytes" v.mdf velo --truth $how -o p.h5 --table p.csv --report p.html --json -
            want 1
            n=$(prefix p.h5 v.h5) || exit 1
            equal "'$last': its line" "$(cat err)" \
                "sluice velo: interrupted: the result is partial: $n events in p.h5, p.csv, p.html"
            equal "'$last': its JSON" "$(key out "[o['partial'], o['events'], o['lost_events'], o['faults']]")" "[True, $n, 0, {}]"
            equal "'$last': its table" "$(grep -E '^(events|partial),' p.csv | paste -sd ' ')" "events,$n,,1 partial,1,,1"
            grep -q "partial: interrupted" p.html || fail "'$last': p.html does not say that it is partial"
            want_no_file p.*.tmp-*
            total=$((total + n))
        done
    done
done
# All that the pipe had: a batch is not waited for.
equal "events of all these" "$((total > 6 * 60))" 1
equal "the last one's" "$n" 40

# Compressed records, and a pipe with a name, which is open and silent.
mkfifo fifo
cut INT $((size / 3)) v.mdf velo -q --truth --batch 2 -o p.h5 fifo
want 1
n=$(prefix p.h5 v.h5) || exit 1
echo "sluice velo: interrupted: the result is partial: $n events in p.h5" | want_err
[ "$n" -gt 3 ] || fail "'$last': only $n events"
cut TERM $(($(stat -c %s z.mdf) / 2)) z.mdf velo -q --truth --batch 2 -o p.h5 -
want 1
[ "$(prefix p.h5 z.h5)" -gt 1 ] || fail "'$last': too few events"

# Its checksum is that of these events.
n=$(prefix p.h5 z.h5) || exit 1
"$sluice" simulate velo -q --events "$n" --seed 6 --compress -o n.mdf || fail "no events"
run velo -q --truth -o n.h5 n.mdf
want 0
sum() { h5dump -a /checksum "$1" | grep '(0)'; }
equal "'$last': checksums" "$(sum p.h5)" "$(sum n.h5)"

# What is found of damage before the signal is told and counted as ever.
python3 - v.mdf d.mdf <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[2000] ^= 255
open(sys.argv[2], "wb").write(data)
P
cut TERM $((size / 2)) d.mdf velo -q --batch 2 -o p.h5 --json -
want 1
equal "lost events" "$(key out "o['lost_events']")" 1
grep -q "checksum.*; 1 event lost, $(key out "o['events']") read" err || fail "'$last' does not tell of the damage: $(cat err)"

# Nothing was read: nothing is replaced.
echo older >p.h5
for bytes in 0 100; do
    cut INT $bytes v.mdf velo -o p.h5 -
    want 1
    equal "'$last': the older file" "$(cat p.h5)" older
    grep -qx "sluice velo: no events were read: no file was written" err || fail "'$last' said: $(cat err)"
done
want_no_file p.h5.tmp-*

# Without an output the table is of what was read; the events that were accepted are those of the prefix.
cut INT $((size / 2)) v.mdf velo -
want 1
grep -qE "^sluice velo: interrupted: the result is partial: [0-9]+ events$" err || fail "'$last' said: $(cat err)"
grep -q "^events " out || fail "'$last' printed: $(cat out)"
cat v.mdf | "$sluice" velo -q --select lines.json --write-accepted a.mdf - >out || fail "cannot select"
cut INT $((size / 2)) v.mdf velo -q --select lines.json --write-accepted b.mdf -
want 1
/usr/bin/cmp -n "$(stat -c %s b.mdf)" a.mdf b.mdf || fail "'$last': b.mdf does not begin a.mdf"
[ -s b.mdf ] || fail "'$last': no event"

# The second signal, of either kind, ends at once. Where the first has been obeyed already, it comes too late.
for signals in INT,INT TERM,INT INT,TERM; do
    rm -f p.h5*
    STALL=0 cut $signals 1000 v.mdf velo -q -o p.h5 -
    compared=$((compared + 1))
    case $status in 1 | 130 | 143) ;; *) fail "'$last': exit status $status" ;; esac
    want_no_file p.h5
    rm -f p.h5*
done

# A full disk after the signal.
if [ -w /dev/full ]; then
    cut INT $((size / 2)) v.mdf velo -q -o p.h5 --table /dev/full -
    want 1
    grep -qx "sluice velo: /dev/full: cannot write: No space left on device" err || fail "'$last' said: $(cat err)"
    grep -q "the result is partial: [0-9]* events in p.h5$" err || fail "'$last' said: $(cat err)"
fi

# ---- cms ----------------------------------------------------------------------------------------------------------
"$sluice" simulate cms -q --events 12 --tracks 100 --seed 3 -o c.raw --cabling c.cab --gains c.gains || fail "no events"
run cms -q --cabling c.cab --gains c.gains -o c.h5 --table c.csv c.raw
want 0
size=$(stat -c %s c.raw)
for part in 3 2; do
    for how in "--threads 1 --batch 1" "--threads 3 --batch 2"; do
        cut INT $((size / part)) c.raw cms --cabling c.cab --gains c.gains $how -o p.h5 --table p.csv --json -
        want 1
        n=$(prefix p.h5 c.h5) || exit 1
        [ "$n" -gt 1 ] || fail "'$last': only $n events"
        equal "'$last': its line" "$(cat err)" "sluice cms: interrupted: the result is partial: $n events in p.h5, p.csv"
        equal "'$last': its JSON" "$(key out "[o['partial'], o['events'], o['lost_events'], o['faults']]")" "[True, $n, 0, {}]"
        cmp -n "$(stat -c %s p.csv)" c.csv p.csv || fail "'$last': p.csv does not begin c.csv"
    done
done

# ---- label: pages ---------------------------------------------------------------------------------------------------
for seed in 1 2 3 4; do
    "$sluice" simulate image -q --size 300x200 --seed $seed -o $seed.pgm || fail "no image"
done
cat ?.pgm >all.pgm
run label -q --threshold otsu -o all.npy --stats all.h5 all.pgm
want 0
page=$(stat -c %s 1.pgm)
for part in 100 $((2 * page)) $((3 * page - 1000)); do
    for how in "" "--features area,centroid"; do
        n=$((part / page))
        rm -f p.npy p.h5
        cut INT $part all.pgm label --threshold otsu $how -o p.npy --stats p.h5 --json -
        want 1
        if [ $n -eq 0 ]; then
            equal "'$last': its line" "$(cat err)" "sluice label: no page was read: no file was written"
            want_no_file p.npy p.h5 p.*.tmp-*
            continue
        fi
        equal "'$last': its line" "$(cat err)" "sluice label: interrupted: the result is partial: $n pages in p.npy, p.h5"
        equal "'$last': its JSON" "$(key out "[o['partial'], len(o['pages']), o['warnings'], o['faults']]")" "[True, $n, 0, 0]"
        /usr/bin/python3 - $n <<'P' || fail "'$last': not the first pages"
import sys, h5py, numpy
n = int(sys.argv[1])
assert numpy.array_equal(numpy.load("p.npy"), numpy.load("all.npy")[:n])
p, a = h5py.File("p.h5", "r"), h5py.File("all.h5", "r")
assert p.attrs["partial"] == 1 and "partial" not in a.attrs and len(p["pages/page"]) == n
for name in p["components"]:
    rows = p["components"][name][:]
    assert name not in a["components"] or numpy.array_equal(rows, a["components"][name][: len(rows)]), name
P
        head -c $((n * page)) all.pgm >head.pgm
        run label -q --threshold otsu $how --stats head.h5 head.pgm
        want 0
        equal "'$last': checksums" "$(sum p.h5)" "$(sum head.h5)"
    done
done
cut TERM $((3 * page - 1000)) all.pgm label -q --threshold otsu --stream --stats p.csv -
want 1
echo "sluice label: interrupted: the result is partial: 2 pages in p.csv" | want_err
run label -q --threshold otsu --stream --stats a.csv all.pgm
want 0
want_silent
cmp -n "$(stat -c %s p.csv)" p.csv a.csv || fail "'$last': p.csv does not begin a.csv"

# ---- cluster: frames, and a stream ------------------------------------------------------------------------------------
"$sluice" simulate pixels -q --size 128x128 --frames 400 --seed 3 -o frames.csv || fail "no frames"
run cluster -q frames.csv -o all.h5
want 0
size=$(stat -c %s frames.csv)
for part in 3 2; do
    cut INT $((size / part)) frames.csv cluster --json -o p.h5 --labels p.csv -
    want 1
    n=$(prefix p.h5 all.h5) || exit 1
    rows=$(key out "sum(i['clusters'] for i in o['inputs'])")
    [ "$n" -gt $((400 / part - 20)) ] || fail "'$last': only $n frames"
    equal "'$last': its line" "$(cat err)" "sluice cluster: interrupted: the result is partial: $rows clusters in p.h5, p.csv"
    equal "'$last': its JSON" "$(key out "[o['partial'], o['inputs'][0]['cut'], o['inputs'][0]['frames'], o['inputs'][0]['damaged']]")" "[True, True, $n, 0]"
    equal "'$last': pixels" "$(key out "o['inputs'][0]['pixels']")" "$(($(wc -l <p.csv) - 1))"
done
# What the signal cuts is no damage, and no row: not even one that could be read, as its last number lacks digits.
"$sluice" simulate pixels -q --stream 4000 --rate 50 --size 64x64 --seed 5 -o stream.csv || fail "no stream"
read -r bytes n <<<"$(python3 - <<'P'
import struct
with open("stream.tpx3", "wb") as f:
    for c in range(4):
        f.write(struct.pack("<4sBBH", b"TPX3", 0, 0, 8 * 500))
        f.write(struct.pack("<500Q", *(0xb << 60 | (c * 500 + i) % 997 << 44 | 10 << 20 | 2 * (c * 500 + i) for i in range(500))))
data = open("stream.csv", "rb").read()
lines = data.split(b"\n")
n = next(n for n in range(1000, 2000) if len(lines[n].split(b",")[-1]) > 2 and lines[n][-2:-1].isdigit())
open("head.csv", "wb").write(b"\n".join(lines[:n]) + b"\n")
print(len(b"\n".join(lines[: n + 1])) - 1, n - 1)
P
)"
run cluster -q --time-window 5ticks -o head.h5 head.csv
want 0
cut INT "$bytes" stream.csv cluster --time-window 5ticks --disorder 1000000ticks -o p.h5 --json -
want 1
equal "'$last': pixels" "$(key out "[o['inputs'][0]['pixels'], o['inputs'][0]['damaged']]")" "[$n, 0]"
equal "'$last': its line" "$(cat err)" "sluice cluster: interrupted: the result is partial: $(key out "o['inputs'][0]['clusters']") clusters in p.h5"
equal "'$last': checksums" "$(sum p.h5)" "$(sum head.h5)"
cut TERM $(($(stat -c %s stream.tpx3) / 2 + 3)) stream.tpx3 cluster -o p.h5 --json -
want 1
equal "'$last': damage" "$(key out "o['inputs'][0]['damaged']")" 0
equal "'$last': lines" "$(wc -l <err)" 1
# A file that ends in the same place is damaged.
head -c "$bytes" stream.csv | sed '$s/,[^,]*$/,/' >broken.csv
run cluster --time-window 5ticks --json broken.csv
want 0
equal "'$last': damage" "$(key out "o['inputs'][0]['damaged']")" 1
# An input that is whole counts, and the list after it, which is not, does not.
printf 'x,y\n1,1\n5,5\n' >list.csv
cut INT 10 list.csv cluster -q -o p.h5 frames.csv fifo
want 1
equal "'$last': frames" "$(prefix p.h5 all.h5)" 400
grep -qx "sluice cluster: interrupted: the result is partial: [0-9]* clusters in p.h5" err || fail "'$last' said: $(cat err)"

# ---- pet: pairs, singles ----------------------------------------------------------------------------------------------
"$sluice" simulate pet --fast -q --rate 20e6 --pair-share 0.2 --seconds 0.05 --bare -o f.raw || fail "no frames"
size=$(stat -c %s f.raw)
begins() { # PART WHOLE: neither empty nor all of it
    compared=$((compared + 1))
    local n
    n=$(stat -c %s "$1")
    case $1 in *.bin) n=$((n - 8)) ;; esac # singles end with a mark
    [ "$n" -gt 100 ] && [ "$n" -lt "$(stat -c %s "$2")" ] && cmp -n "$n" "$1" "$2" || fail "'$last': $1 does not begin $2"
}
find="--scanner mouse20 --window 4ns --delayed 100ns --batch 10000"
run pet run -q $find -o w.csv --format csv --singles w.bin --rates w.rates --bin 10ms f.raw
want 0
run pet run -q $find -o w.h5 f.raw
want 0
for threads in 1 2; do
    cut INT $((size / 2)) f.raw pet run $find --threads $threads --json -o p.csv --format csv --singles p.bin --rates p.rates --bin 10ms -
    want 1
    begins p.csv w.csv
    begins p.bin w.bin
    n=$(($(wc -l <p.csv) - 1))
    equal "'$last': its line" "$(tail -n 1 err)" "sluice pet run: interrupted: the result is partial: $n pairs in p.csv, p.bin, p.rates"
    equal "'$last': its JSON" "$(key out "[o['partial'], o['output']['written']]")" "[True, $n]"
done
cut TERM $((size / 3)) f.raw pet run -q $find -o p.h5 --singles s.h5 -
want 1
n=$(/usr/bin/python3 -c 'import h5py; print(len(h5py.File("p.h5", "r")["coincidences/time_ps"]))')
want_units
echo "sluice pet run: interrupted: the result is partial: $n pairs in p.h5, s.h5" | want_err
/usr/bin/python3 - <<'P' || fail "'$last': p.h5 does not begin w.h5"
import h5py
p, w = h5py.File("p.h5", "r"), h5py.File("w.h5", "r")
assert p.attrs["partial"] == 1 and "partial" not in w.attrs and "checksum" not in p.attrs
assert h5py.File("s.h5", "r").attrs["partial"] == 1
for name in p["coincidences"]:
    rows = p["coincidences"][name][:]
    if name != "event_offset":
        assert 1000 < len(rows) < len(w["coincidences"][name]), name
        assert rows.tobytes() == w["coincidences"][name][: len(rows)].tobytes(), name
P
run pet convert -q --scanner mouse20 -o w.bin f.raw
want 0
cut INT $((size / 2)) f.raw pet convert -q --scanner mouse20 --batch 10000 -o p.bin -
want 1
begins p.bin w.bin
grep -qx "sluice pet convert: interrupted: the result is partial: [1-9][0-9]* singles in p.bin" err || fail "'$last' said: $(cat err)"
run pet sort -q -o s.bin w.bin
want 0
half=$(($(stat -c %s w.bin) / 2))
for bytes in $half $((half + 7)); do
    cut INT $bytes w.bin pet sort --batch 10000 -o p.bin --json -
    want 1
    begins p.bin s.bin
    equal "'$last': its JSON" "$(key out "o['partial']")" True
    grep -qx "sluice pet sort: interrupted: the result is partial: $(key out "o['sort']['given']") singles in p.bin" err || fail "'$last' said: $(cat err)"
done
# Singles in time order to pairs: those in whose windows nothing can come any more. Of a record that was cut, too.
run pet coincidences -q --window 4ns --format csv -o w.csv s.bin
want 0
run pet coincidences -q --window 4ns --format indices -o w.txt s.bin
want 0
half=$(($(stat -c %s s.bin) / 2))
for bytes in $half $((half + 7)); do
    cut INT $bytes s.bin pet coincidences --window 4ns --format csv --batch 10000 -o p.csv --json -
    want 1
    begins p.csv w.csv
    n=$(($(wc -l <p.csv) - 1))
    equal "'$last': its line" "$(cat err)" "sluice pet coincidences: interrupted: the result is partial: $n rows in p.csv"
    equal "'$last': its JSON" "$(key out "[o['partial'], o['pairs']]")" "[True, $n]"
done
cut TERM $half s.bin pet coincidences -q --window 4ns --format indices -
want 1
begins out w.txt
echo older >p.csv
cut INT 0 s.bin pet coincidences -q --window 4ns --format csv -o p.csv -
want 1
equal "'$last': the older file" "$(cat p.csv)" older
# A list of pairs in another format.
run pet run -q $find -o w.csv f.raw --format gate
want 0
run pet list -q --format gate --scanner mouse20 --to hdf5 -o w.h5 w.csv
want 0
half=$(($(stat -c %s w.csv) / 2))
for format in hdf5 safir sinogram; do
    cut INT $half w.csv pet list --format gate --scanner mouse20 --to $format -o p.$format --json -
    want 1
    n=$(key out "o['written'] + o['left_out']")
    equal "'$last': its line" "$(tail -n 1 err)" "sluice pet list: interrupted: the result is partial: $(key out "o['written']") pairs in p.$format"
    equal "'$last': its JSON" "$(key out "[o['partial'], o['prompts'] + ('$format' != 'sinogram') * o['delayeds']]")" "[True, $n]"
    [ "$n" -gt 1000 ] || fail "'$last': only $n pairs"
done
/usr/bin/python3 - <<'P' || fail "'$last': p.hdf5 does not begin w.h5"
import h5py
p, w = h5py.File("p.hdf5", "r"), h5py.File("w.h5", "r")
assert p.attrs["partial"] == 1 and "partial" not in w.attrs and 0 < p.attrs["duration_s"] < w.attrs["duration_s"]
for name in p["coincidences"]:
    rows = p["coincidences"][name][:]
    if name != "event_offset":
        assert 1000 < len(rows) < len(w["coincidences"][name]), name
        assert rows.tobytes() == w["coincidences"][name][: len(rows)].tobytes(), name
P
cut INT $half w.csv pet list --format gate --scanner mouse20 -
want 1
grep -qE "^  prompts +[1-9]" out || fail "'$last' printed: $(cat out)"
rm -f p.hdf5
cut INT 0 w.csv pet list -q --format gate --scanner mouse20 --to hdf5 -o p.hdf5 -
want 1
want_no_file p.hdf5 p.hdf5.tmp-*
# Before anything is in order.
rm p.csv
cut INT 3200 f.raw pet run -q $find -o p.csv --format csv -
want 1
echo "sluice pet run: interrupted before a single was in order: no file was written" | want_err
want_no_file p.csv p.csv.tmp-*
passed
