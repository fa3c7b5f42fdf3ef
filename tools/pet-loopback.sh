#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How many PET frames a second go over loopback UDP into a raw file without loss:
#
#     tools/pet-loopback.sh SLUICE FOLDER [SECONDS] [RATE]
#
# `sluice simulate pet` sends RATE frames a second (10e6) for SECONDS (60), 92 a datagram, with sequence counters;
# `sluice pet acquire` writes FOLDER/loopback.raw, which is removed. Prints what was sent, received, written and lost, and
# the processor time of both; ends with 1 where a frame is missing. FOLDER needs 16.2 bytes a frame: 9.8 GB for the defaults.
set -eu
sluice=$1 folder=$2 seconds=${3:-60} rate=${4:-10e6}
work=$(mktemp -d)
raw=$folder/loopback.raw
receiver=
trap '[ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true; rm -rf "$work" "$raw"' EXIT

"$sluice" pet acquire --listen 127.0.0.1:0 --sequence 0:8 --replace --json --tolerate-loss -o "$raw" >"$work/json" 2>"$work/said" &
receiver=$!
for _ in $(seq 100); do
    address=$(sed -n 's/.*listening at //p' "$work/said")
    if [ -n "$address" ] || ! kill -0 "$receiver" 2>/dev/null; then break; fi
    sleep 0.1
done
[ -n "$address" ] || { cat "$work/said" >&2; exit 1; }

# A tenth of a second, again and again.
TIMEFORMAT='%U %S'
repeat=$(awk -v s="$seconds" 'BEGIN { print int(10 * s + 0.5) }')
{ time "$sluice" simulate pet --fast --rate "$rate" --seconds 0.1 --repeat "$repeat" --sequence --send "$address" \
    2>"$work/sent" || cat "$work/sent"; } 2>"$work/sender"
sleep 0.5
cpu=$(awk -v hz="$(getconf CLK_TCK)" '{ print $14 / hz, $15 / hz }' "/proc/$receiver/stat")
kill -TERM "$receiver"
wait "$receiver"
receiver=

python3 - "$work" "$raw" "$cpu" <<'P'
import json, os, re, sys
work, raw, cpu = sys.argv[1:]
o = json.load(open(f"{work}/json"))
sent, datagrams, seconds = re.search(r"sent (\d+) frames in (\d+) datagrams, ([\d.]+) s", open(f"{work}/sent").read()).groups()
sent, datagrams, seconds = int(sent), int(datagrams), float(seconds)
user, system = map(float, open(f"{work}/sender").read().split())
print(f"sent      {sent} frames in {datagrams} datagrams, {seconds:.3f} s, {sent / seconds / 1e6:.3f} M frames/s")
print(f"received  {o['frames']} frames in {o['datagrams']} datagrams")
print(f"written   {os.stat(raw).st_size} bytes, {o['bytes']} of them datagrams")
print(f"lost      {o['lost']} datagrams by the sequence counters, {o['kernel_drops'] + o['ring_drops']} dropped by the system")
print(f"ring      {100 * o['ring_fill']:.1f} % at the fullest")
print(f"processor sender {user:.2f} s user, {system:.2f} s system; receiver {cpu.split()[0]} s user, {cpu.split()[1]} s system")
sys.exit(0 if (o["frames"], o["datagrams"], o["lost"]) == (sent, datagrams, 0) else 1)
P
