#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every part of `sluice velo` that has threads, once, in a minute: a thread sanitizer that is compiled in (tools/races.sh) tells
# races on standard error and ends with another status. Without one, it is a short test that threads change nothing.
. "$(dirname "$0")/common.sh" "$@"
export TSAN_OPTIONS="halt_on_error=0 exitcode=66"
s=$source/examples/selection.json
make_events plain.mdf 40 81
"$sluice" simulate velo --quiet --compress --events 30 --seed 82 -o packed.mdf || fail "cannot generate events"
# Every ninth record gets a wrong byte, and the last one is cut off.
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
open(sys.argv[3], "wb").write(out[:-100])
PYTHON

# try STATUS ARGUMENT...: the command, and the numbers that it prints.
try() {
    local wanted=$1
    shift
    run velo -q "$@"
    want "$wanted"
    grep -q ThreadSanitizer err && fail "'$last' has a race: $(head -n 40 err)"
    grep -E '^(events|lost events|clusters|tracks|primary vertices|checksums) ' out >numbers
    [ -s numbers ] || fail "'$last' printed no numbers: $(cat out)"
}

for input in plain packed damaged; do
    lost=$([ $input = damaged ] && echo 1 || echo 0)
    try "$lost" --threads 1 $input.mdf
    cp numbers wanted
    for threads in 2 8; do
        try "$lost" --threads $threads --batch 3 --timing $input.mdf
        same numbers <wanted
    done
done
try 0 --threads 1 plain.mdf packed.mdf
cp numbers wanted
for bind in core numa; do
    run velo -q --threads 3 --batch 4 --bind $bind --select "$s" --write-accepted "$bind.mdf" --truth --report r.html \
        -o o.h5 --table t.csv plain.mdf packed.mdf
    if [ $bind = numa ] && grep -q "made without" err; then
        want 1
        cp core.mdf numa.mdf
        continue
    fi
    want 0
    grep -q ThreadSanitizer err && fail "'$last' has a race: $(head -n 40 err)"
done
cmp -s core.mdf numa.mdf || fail "accepted events depend on threads"
try 0 --threads 4 --batch 4 --repeat 2 --warmup 1 --timing plain.mdf packed.mdf
same numbers <wanted

# A signal, in the middle: the input does not end by itself.
mkfifo pipe
# A shell without job control starts background commands with INT ignored; python3 gives it back.
python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$sluice" velo --threads 4 --batch 1 -o k.h5 - <pipe >out 2>err &
pid=$!
exec 9>pipe
cat plain.mdf >&9
sleep 0.5
kill -s INT $pid
{ wait $pid; } 2>/dev/null
status=$?
exec 9>&-
last="sluice velo --threads 4 ended by INT"
want 1
grep -q ThreadSanitizer err && fail "$last has a race: $(head -n 40 err)"
want_no_file k.h5.tmp-*
passed
