#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Results in a series of files: together they are what one file has, each is complete, and names are nobody else's. And
# files that are brought to the disk from time to time.
. "$(dirname "$0")/common.sh" "$@"
interrupted=$source/tests/cli/interrupted.py
make_events v.mdf 40 5
"$sluice" simulate cms -q --events 12 --tracks 100 --seed 3 -o c.raw --cabling c.cab --gains c.gains || fail "no events"
"$sluice" simulate pixels -q --size 128x128 --frames 900 --seed 3 -o frames.csv || fail "no frames"

cat >series.py <<'P'
import sys, h5py, numpy
whole, least, parts = h5py.File(sys.argv[1], "r"), int(sys.argv[2]), [h5py.File(name, "r") for name in sys.argv[3:]]
assert len(parts) >= least, len(parts)
own = {"file", "files", "first_event", "command"}
last = {"checksum", "partial"}
for i, part in enumerate(parts):
    assert part.attrs["file"] == i and ("files" in part.attrs) == (part is parts[-1])
    for name in whole.attrs:
        if name not in own and (name not in last or part is parts[-1]):
            assert part.attrs[name] == whole.attrs[name], name
    assert set(part.attrs) - own - {g + "_before" for g in whole if i > 0} <= set(whole.attrs), list(part.attrs)
    assert set(part) == set(whole)
assert parts[-1].attrs["files"] == len(parts)
for group in whole:
    first = rows = 0
    for part in parts:
        assert part.attrs.get(group + "_before", 0) == rows, (group, rows)
        rows += max([0, *(len(part[group][name]) for name in part[group] if name != "event_offset")])
        assert part.attrs["first_event"] == first, (group, first)
        first += len(part[group]["event_offset"]) - 1
        for name in whole[group].attrs:
            assert numpy.array_equal(part[group].attrs[name], whole[group].attrs[name]), name
    assert first == len(whole[group]["event_offset"]) - 1, group
    for name in whole[group]:
        columns = [part[group][name][:] for part in parts]
        if name == "event_offset":
            assert all(c[0] == 0 for c in columns)
            columns = [numpy.diff(c) for c in columns]
            wanted = numpy.diff(whole[group][name][:])
        else:
            wanted = whole[group][name][:]
        assert numpy.concatenate(columns).tobytes() == wanted.tobytes(), (group, name)
P
series() { # WHOLE LEAST FILE.h5: compares FILE.h5, FILE.0001.h5 … with the whole
    local name=${3%.h5}
    compared=$((compared + 1))
    /usr/bin/python3 series.py "$1" "$2" "$3" "$name".[0-9][0-9][0-9][0-9].h5 || fail "'$last': together they are not $1"
    want_no_file ./*.tmp-*
}

# ---- one file or several ----------------------------------------------------------------------------------------------
for words in "" "--compression deflate" "--columns tracks,hits.x_mm,hits.module"; do
    run velo -q --batch 4 -o w.h5 $words v.mdf
    want 0
    for threads in 1 3; do
        rm -f r.*h5
        run velo -q --batch 4 --threads $threads -o r.h5 --rotate-size 128k $words v.mdf
        want 0
        series w.h5 3 r.h5
    done
done
cms="cms -q --cabling c.cab --gains c.gains"
run $cms -o w.h5 c.raw
want 0
rm -f r.*h5
run $cms --batch 1 -o r.h5 --rotate-size 128k c.raw
want 0
series w.h5 2 r.h5
run cluster -q -o w.h5 frames.csv
want 0
rm -f r.*h5
run cluster -q -o r.h5 --rotate-size 1M frames.csv
want 0
series w.h5 2 r.h5
# Pairs of PET, which are no events.
"$sluice" simulate pet --fast -q --rate 20e6 --pair-share 0.2 --seconds 0.05 --bare -o f.raw || fail "no frames"
pet="pet run -q --scanner mouse20 --window 4ns --batch 10000 f.raw"
run $pet -o w.h5
want 0
rm -f r.*h5
run $pet -o r.h5 --rotate-size 1M
want 0
/usr/bin/python3 - r.h5 r.[0-9]*.h5 <<'P' || fail "'$last': together they are not w.h5"
import sys, h5py, numpy
whole, parts = h5py.File("w.h5", "r"), [h5py.File(name, "r") for name in sys.argv[1:]]
assert len(parts) > 2 and parts[-1].attrs["files"] == len(parts)
for name in set(whole["coincidences"]) - {"event_offset"}:
    rows = numpy.concatenate([part["coincidences"][name][:] for part in parts])
    assert rows.tobytes() == whole["coincidences"][name][:].tobytes(), name
P
for name in r.h5 r.0001.h5; do # each is read by itself
    run pet list $name --format hdf5 --json
    want 0
    [ "$(key out "o['prompts'] > 1000")" = True ] || fail "'$last' printed: $(cat out)"
done
run pet run -q --scanner mouse20 --window 4ns f.raw -o p.csv --format csv --rotate-size 1M
want 2
echo "sluice pet run: --rotate-size and --rotate-time are for hdf5 and arrow, not csv; see sluice pet run --help" | want_err
want_no_file p.csv
# Each stream of Arrow ends.
rm -f r.*
run velo -q --batch 4 -o r.arrows --rotate-size 1M v.mdf
want 0
for name in r.arrows r.0001.arrows; do
    equal "the end of $name" "$(tail -c 8 $name | od -An -tx1 | tr -d ' ')" ffffffff00000000
done
# Files that would hold all are one, which says so.
rm -f r.*
run velo -q --batch 4 -o r.h5 --rotate-size 1G v.mdf
want 0
want_no_file r.0001.h5
equal "files" "$(h5dump -a /files r.h5 | grep -c '(0): 1')" 1

# By time; and a signal: the last file says that it is partial.
size=$(stat -c %s v.mdf)
"$sluice" velo -q -o w.h5 - <v.mdf >out || fail "no whole run"
want 0
rm -f r.*
{ head -c $((size / 2)) v.mdf && sleep 1.2 && tail -c +$((size / 2 + 1)) v.mdf; } |
    "$sluice" velo -q --batch 4 -o r.h5 --rotate-time 1s - >out || fail "a run by time failed"
last="sluice velo --rotate-time 1s"
series w.h5 2 r.h5
rm -f r.*
last="sluice velo --rotate-size 1M ended by INT"
python3 "$interrupted" run INT $((size / 2)) v.mdf "$sluice" velo -q --batch 2 -o r.h5 --rotate-size 1M -
status=$?
want 1
files=(r.h5 r.[0-9]*.h5)
for name in "${files[@]}"; do
    wanted=0
    [ "$name" != "${files[-1]}" ] || wanted=1
    equal "partial in $name" "$(h5dump -A "$name" | grep -c 'ATTRIBUTE "partial"')" $wanted
done

# ---- what is in the way -------------------------------------------------------------------------------------------------
rm -rf r.*
mkdir r.0001.h5
run velo -q --batch 4 -o r.h5 --rotate-size 1M v.mdf
want 1
echo "sluice velo: r.0001.h5: cannot create: it is a directory" | want_err
want_no_file r.h5.tmp-* r.0001.h5.tmp-*
equal "the file before" "$(h5dump -a /file r.h5 | grep -c '(0): 0')" 1
rmdir r.0001.h5
rm -f r.h5
refused() { # WORDS...: with what the error ends
    want 2
    compared=$((compared + 1))
    grep -q -- "$1; see sluice" err || fail "'$last' said: $(cat err)"
    want_no_file r.h5
}
run velo -o r --rotate-size 1M --table r.0012 v.mdf
refused "r.0012 is a name of further files of --output r"
cp v.mdf r.0001.h5
run velo -o r.h5 --rotate-size 1M r.0001.h5
refused "r.0001.h5 is a name of further files of --output r.h5"
rm r.0001.h5
run velo --rotate-time 10s v.mdf
refused "--flush, --rotate-size and --rotate-time are of --output"
run velo -o r.h5 --rotate-size 1k v.mdf
refused "--rotate-size .*128k.*"
run cluster -o r.csv --rotate-size 1M frames.csv
refused "--rotate-size and --rotate-time are for files of HDF5 and Arrow, not r.csv"
run velo -q -o /dev/null --rotate-size 1M v.mdf
want 1
echo "sluice velo: /dev/null: cannot create: not a regular file" | want_err

# ---- flushed: what came is in the file under its temporary name, also after kill -9 -------------------------------------
last="sluice velo --flush 100ms, killed"
mkfifo pipe
"$sluice" velo -q --batch 2 --flush 100ms -o f.h5 - <pipe >out 2>err &
pid=$!
exec 9>pipe
head -c $((size / 3)) v.mdf >&9
sleep 0.5
head -c $((2 * size / 3)) v.mdf | tail -c +$((size / 3 + 1)) >&9
rows=0
for _ in $(seq 100); do
    rows=$(/usr/bin/python3 -c 'import h5py, sys; print(len(h5py.File(sys.argv[1], "r")["events/event_offset"]) - 1)' f.h5.tmp-$pid 2>/dev/null || echo 0)
    [ "$rows" -lt 12 ] || break
    sleep 0.1
done
[ "$rows" -ge 12 ] || fail "'$last': $rows events were flushed"
kill -KILL $pid
{ wait $pid; } 2>/dev/null
exec 9>&-
mv f.h5.tmp-$pid f.h5
/usr/bin/python3 - <<'P' || fail "'$last': f.h5 does not begin w.h5"
import h5py
f, w = h5py.File("f.h5", "r"), h5py.File("w.h5", "r")
for group in f:
    for name in f[group]:
        rows = f[group][name][:]
        assert rows.tobytes() == w[group][name][: len(rows)].tobytes(), (group, name)
P
passed
