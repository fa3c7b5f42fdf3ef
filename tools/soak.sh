#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Full load for a long time: generated events, plain and compressed, of which one in a hundred is corrupt, go through
# `sluice velo` on all processors. Memory must stay flat, every corrupt event must be counted, every good one must be in
# the output, and kill -9 must leave no file under the final name.
#
#     tools/soak.sh [SLUICE [SECONDS [THREADS]]]        default: build/sluice, 600 s, 0 threads (one for each processor)
set -euo pipefail
sluice=$(realpath "${1:-build/sluice}")
seconds=${2:-600}
threads=${3:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export LC_ALL=C.UTF-8

fail() {
    echo "soak: $*" >&2
    exit 1
}
count() { # FILE LABEL: the number in a line of the table
    awk -v label="$2" 'index($0, label) == 1 { sub(label, ""); print $1; found = 1 } END { if (!found) print 0 }' "$1"
}

"$sluice" simulate velo --quiet --events 300 --seed 61 -o plain.mdf
"$sluice" simulate velo --quiet --compress --events 300 --seed 62 -o packed.mdf
# One record in a hundred gets a wrong byte somewhere in its payload. good.mdf is the file without those.
corrupt=$(python3 - <<'PYTHON'
import random, struct
chance = random.Random(63)
good, damaged, n, corrupt = bytearray(), bytearray(), 0, 0
for name in "plain.mdf", "packed.mdf":
    data = open(name, "rb").read()
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        record = bytearray(data[at:at + size])
        if n % 100 == 50:
            record[chance.randrange(48, size)] ^= 1 << chance.randrange(8)
            corrupt += 1
        else:
            good += record
        damaged += record
        at, n = at + size, n + 1
open("good.mdf", "wb").write(good)
open("damaged.mdf", "wb").write(damaged)
print(corrupt)
PYTHON
)
"$sluice" velo -q --threads "$threads" -o good.h5 good.mdf >good.txt
events=$(count good.txt events)
tracks=$(count good.txt tracks)
[ "$events" -gt 0 ] && [ "$tracks" -gt 0 ] && [ "$corrupt" -gt 0 ] || fail "nothing to soak in"
echo "$events good events with $tracks tracks, $corrupt corrupt ones, again and again for $seconds s"

# ---- the long run: memory and counts
rss_of() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status" 2>/dev/null || true; }
mkfifo pipe
"$sluice" velo -q --threads "$threads" - <pipe >long.txt 2>long.err &
pid=$!
exec 9>pipe
passes=0
began=$SECONDS
settled=0
most=0
while [ $((SECONDS - began)) -lt "$seconds" ]; do
    cat damaged.mdf >&9
    passes=$((passes + 1))
    rss=$(rss_of $pid)
    echo "$((SECONDS - began)) $rss" >>memory
    [ -n "$rss" ] || fail "it ended by itself: $(cat long.err)"
    if [ $((2 * (SECONDS - began))) -lt "$seconds" ]; then # until each slot has met its largest batch
        [ "$rss" -le "$settled" ] || settled=$rss
    else
        [ "$rss" -le "$most" ] || most=$rss
    fi
done
exec 9>&-
status=0
wait $pid || status=$?
[ $status -eq 1 ] || fail "exit status $status, not 1 (events were lost)"
[ "$settled" -gt 0 ] && [ "$most" -gt 0 ] || fail "too short to look at memory"
[ "$most" -le $((settled + settled / 20 + 4096)) ] || fail "memory grew from $settled kB to $most kB: $(awk 'NR % 10 == 1' memory | tr '\n' ',')"
[ "$(count long.txt events)" -eq $((passes * events)) ] ||
    fail "$(count long.txt events) events came through, not $((passes * events))"
[ "$(count long.txt "lost events")" -eq $((passes * corrupt)) ] ||
    fail "$(count long.txt "lost events") corrupt events were counted, not $((passes * corrupt))"
[ "$(count long.txt tracks)" -eq $((passes * tracks)) ] ||
    fail "$(count long.txt tracks) tracks were found, not $((passes * tracks))"
echo "$passes passes: $((passes * events)) events, $((passes * corrupt)) corrupt ones counted, $((passes * tracks)) tracks;" \
    "memory at most $settled kB in the first half of the time, $most kB in the second"

# ---- the output of a damaged input is that of its good events
"$sluice" velo -q --threads "$threads" -o damaged.h5 damaged.mdf >/dev/null 2>&1 && fail "lost events do not show in the status"
groups=$(h5ls good.h5 | awk '$2 == "Group" { print $1 }')
[ "$(echo "$groups" | wc -l)" -ge 5 ] || fail "hardly any group in the output"
for group in $groups; do
    h5diff good.h5 damaged.h5 "/$group" "/$group" >differences || fail "/$group differs: $(head -n 3 differences)"
done
echo "the output holds the good events, all of them and no other: $(echo "$groups" | tr '\n' ' ')"

# ---- kill -9
for delay in 0.05 0.2 0.4 0.8 1.5; do
    rm -f killed.h5*
    (while cat damaged.mdf; do :; done) 2>/dev/null | "$sluice" velo -q --threads "$threads" -o killed.h5 - >/dev/null 2>&1 &
    sleep "$delay"
    # The last command of the pipe; its input ends with it.
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    [ ! -e killed.h5 ] || fail "kill -9 after $delay s left killed.h5"
done
echo "kill -9 left no file under the final name"
