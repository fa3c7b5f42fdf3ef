#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads: whatever their number, where they are bound and how batches are cut, all that comes out is the same, from good,
# compressed and damaged inputs; errors are the first in the input; a signal ends the reading, and what was read is kept.
. "$(dirname "$0")/common.sh" "$@"
make_events plain.mdf 60 71
"$sluice" simulate velo --quiet --compress --events 40 --seed 72 -o packed.mdf || fail "cannot generate events"
# Every ninth record gets a wrong byte in its payload: found by its checksum, in a worker.
python3 - plain.mdf packed.mdf damaged.mdf <<'PYTHON' || fail "cannot damage events"
import struct, sys
out = bytearray()
for name in sys.argv[1:3]:
    data = bytearray(open(name, "rb").read())
    at = n = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        if n % 9 == 4:
            data[at + 48 + 7 * n] ^= 0x20
        at, n = at + size, n + 1
    out += data
open(sys.argv[3], "wb").write(out)
PYTHON

# results FILE: the JSON object without times, and one line for each difference of interest.
results() {
    python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
for k in ("seconds", "events_per_second", "seconds_total", "timing"): o.pop(k, None)
print(json.dumps(o, indent=1))' "$1"
}

run velo plain.mdf packed.mdf --truth --json --threads 1
want 0
want_silent
results out >wanted.json
equal events "$(key out "o['events']")" 100
run velo damaged.mdf --truth --json --threads 1 --batch 1
want 1
results out >wanted_damaged.json
cp err wanted_damaged.err
equal "events left" "$(key out "o['events'], o['lost_events'], o['faults']")" "(89, 11, {'record_checksum': 11})"
run velo plain.mdf packed.mdf --truth -q --threads 1 -o one.h5 --table one.csv
want 0
grep -v '^time\.' one.csv >wanted.csv
run velo damaged.mdf --truth -q --threads 1 -o one_damaged.h5
want 1

# Group by group: the command line, which differs, is an attribute of the root.
differ_h5() { # FILE FILE
    local group
    h5ls "$1" | awk '$2 == "Group" { print $1 }' >groups
    h5ls "$2" | awk '$2 == "Group" { print $1 }' | cmp -s - groups || { echo "their groups differ" && return; }
    [ "$(wc -l <groups)" -ge 8 ] || fail "$1 has few groups"
    while read -r group; do
        h5diff "$1" "$2" "/$group" "/$group" || true
    done <groups
}
same_h5() { # FILE FILE
    compared=$((compared + 1))
    differ_h5 "$1" "$2" >differences
    [ ! -s differences ] || fail "'$last': $2 differs from $1: $(head -n 5 differences)"
}

for threads in 1 2 3 5 8; do
    for batch in 1 7 32; do
        run velo plain.mdf packed.mdf --truth --json --threads $threads --batch $batch
        want 0
        want_silent
        results out | same wanted.json
        run velo damaged.mdf --truth --json --threads $threads --batch $batch
        want 1
        results out | same wanted_damaged.json
        same err <wanted_damaged.err
    done
    run velo plain.mdf packed.mdf --truth -q --threads $threads --batch 9 -o n.h5 --table n.csv
    want 0
    grep -v '^time\.' n.csv | same wanted.csv
    same_h5 one.h5 n.h5
    run velo damaged.mdf --truth -q --threads $threads -o n.h5
    want 1
    same_h5 one_damaged.h5 n.h5
    rm -f n.h5 n.csv
    # The first fault in the input, not the first that a thread meets.
    run velo damaged.mdf --strict --threads $threads
    want 1
    want_no_out
    cut -d' ' -f1-4 err | cut -d';' -f1 >first
    head -n 1 wanted_damaged.err | cut -d' ' -f1-4 | same first
done
# The comparisons above can fail: other events, another object.
run velo packed.mdf plain.mdf --truth --json --threads 2
want 0
results out | cmp -s - wanted.json && fail "the comparison of results sees no difference"
run velo packed.mdf plain.mdf --truth -q -o n.h5
[ -n "$(differ_h5 one.h5 n.h5)" ] || fail "the comparison of files sees no difference"

# A pipe; all processors; binding. Binding to nodes needs hwloc. From a pipe there is one input, with all records.
cat plain.mdf packed.mdf >both.mdf
run velo both.mdf --truth --json --threads 1
want 0
results out | sed 's/"both.mdf"/"-"/' >wanted_both.json
"$sluice" velo --truth --json --threads 3 - >out 2>err < <(cat both.mdf)
status=$?
last="sluice velo --threads 3 -"
want 0
results out | same wanted_both.json
for bind in none core numa; do
    run velo plain.mdf packed.mdf --truth --json --threads 0 --bind $bind
    if [ $bind = numa ] && grep -q "made without" err; then
        want 1
        continue
    fi
    want 0
    results out | same wanted.json
done

# Without checksums, good events are the same, and of the damaged ones those that can be unpacked are taken.
run velo plain.mdf packed.mdf --truth --json --threads 2 --no-checksum
want 0
results out | same wanted.json
run velo damaged.mdf -q --json --threads 2 --no-checksum
want 1
equal "damage without checksums" "$(key out "o['faults'].get('record_checksum', 0), 0 < o['lost_events'] < 11, o['events'] > 89")" \
    "(0, True, True)"

# Going through the events again: the counts are of the first time, the times of all but the warm-up.
run velo plain.mdf packed.mdf --truth --json --threads 2 --batch 10 --repeat 3 --warmup 2
want 0
results out | same wanted.json
equal timing "$(key out "o['timing']['events'], o['timing']['batches'], o['timing']['threads'], o['timing']['bytes'] > 1000000")" \
    "(300, 30, 2, True)"
equal rates "$(key out "o['timing']['events_per_second'] > 0 and o['timing']['bytes_per_second'] > 0 and sorted(o['timing']['stages'])")" \
    "['check', 'checksum', 'cluster', 'fit', 'read', 'track', 'truth', 'verify', 'vertices', 'write']"
run velo plain.mdf --timing
want 0
equal "checksums in --timing" "$(grep -cE '^verify +[0-9.]+ ' out)" 1
run velo plain.mdf --timing --threads 2 --repeat 2 --batch 4
want 0
equal "lines of --timing" "$(grep -cE '^(threads|timed|throughput|cluster|track|fit) ' out)" 6

# A signal: what was read is finished, told and kept.
for signal in TERM INT; do
    rm -f pipe
    mkfifo pipe
    last="sluice velo --threads 3 ended by $signal"
    # A shell without job control starts background commands with INT ignored; python3 gives it back.
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$sluice" velo --threads 3 --batch 1 -o k.h5 - <pipe >out 2>err &
    pid=$!
    exec 9>pipe
    cat plain.mdf >&9
    for _ in $(seq 100); do
        [ -n "$(ls k.h5.tmp-* 2>/dev/null)" ] && break
        sleep 0.05
    done
    sleep 0.3
    kill -s $signal $pid
    { wait $pid; } 2>/dev/null
    status=$?
    exec 9>&-
    want 1
    grep -q '^events  ' out || fail "$last printed: $(cat out)"
    want_no_file k.h5.tmp-*
    compared=$((compared + 1))
    grep -Eqx 'sluice velo: interrupted: the result is partial: [1-9][0-9]* events in k.h5' err || fail "$last said: $(cat err)"
    [ "$(h5dump -a /partial k.h5 | grep -c '(0): 1')" = 1 ] || fail "$last: k.h5 does not say that it is partial"
done
passed
