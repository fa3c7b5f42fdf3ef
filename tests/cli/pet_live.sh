#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live chain of sluice pet acquire: it writes what sluice pet run makes of the raw file; where it is too slow, or
# what it writes to fails, the raw file is complete all the same, and what is not is told.
. "$(dirname "$0")/common.sh" "$@"
. "$source/tests/cli/pet_receiver.sh"

said() { # PATTERN: a line on standard error
    compared=$((compared + 1))
    grep -Eq "$1" err || fail "'$last': it did not say '$1', but: $(cat err)"
}
wait_for() { # PATTERN: until standard error has it
    for _ in $(seq 400); do
        ! grep -Eq "$1" err || return 0
        sleep 0.05
    done
    fail "'$last' does not say '$1', but: $(cat err)"
}

# ---- everything that pet run writes ---------------------------------------------------------------------------------
chain=(--scanner mouse20 --window 4ns --delayed 100ns --horizon 300us --subtract --bin 100ms --dead-time 300ns)
echo "of an acquisition before" >a.singles.incomplete
listen --sequence 0:8 -o a.raw --json "${chain[@]}" --coincidences a.csv --singles a.singles --late a.late --sinogram a \
    --rates a.rates --rate-plot a.svg
transmit --rate 4e5 --seconds 0.5 --sequence
sleep 0.3
finish TERM
want 0
mv out a.json
run pet run --json "${chain[@]}" -o b.csv --singles b.singles --late b.late --sinogram b --rates b.rates \
    --rate-plot b.svg a.raw
want 0
mv out b.json
for end in csv singles late s; do
    cmp a.$end b.$end || fail "the live a.$end is another than that of the file"
    compared=$((compared + 1))
done
equal "late ones" "$(key a.json "o['live']['sort']['late'] > 10")" True
equal "their file" "$(stat -c %s a.late)" "$(key b.json "16 * o['sort']['late'] + 8")"
columns() { cut -d, -f1,2,4,5,6,9 "$1"; } # without frames, losses and multiples, which count in the bin that has come
columns b.rates >wanted
columns a.rates >got
cmp got wanted || fail "the live rates are others than those of the file: $(cat a.rates)"
equal "bins of rates" "$(wc -l <a.rates)" 6
equal "a picture" "$(tail -c 7 a.svg)" "$(tail -c 7 b.svg)"
live="[o['live'][k] for k in ('complete', 'skipped', 'gaps')], [o['live'][k]"
equal "counts" "$(key a.json "$live for k in ('sinogram', 'randoms_from_singles', 'output')][0:2], o['live']['output']['written']")" \
    "$(key b.json "[True, 0, 0], [o[k] for k in ('sinogram', 'randoms_from_singles')], o['output']['written']")"
want_no_file a.*.incomplete

# ---- nobody takes what the chain writes: the file has all, the rest is marked ----------------------------------------
mkfifo pipe
exec 7<>pipe # open, and not read
listen -o c.raw --json --progress --scanner mouse20 --singles pipe --rates c.rates
transmit --fast --rate 4e6 --seconds 0.1 --repeat 16
wait_for ' live [0-9]+ prompts, [1-9][0-9]* frames skipped'
sleep 0.3
kill -TERM "$receiver"
wait_for 'ending: the raw data are complete; the live chain is still at work; the same signal again ends it at once'
equal "while the chain still waits" "$(frames_in c.raw)" "$sent"
want_no_file c.raw.index
cat <&7 >/dev/null &
taker=$!
finish none
kill "$taker"
exec 7<&-
want 0
equal "all is received" "$(key out "o['frames'], o['kernel_drops'], o['ring_drops'], o['live']['complete']")" "($sent, 0, 0, False)"
equal "each frame once" "$(key out "o['live']['convert']['frames'] + o['live']['skipped']")" "$sent"
equal "a gap" "$(key out "o['live']['gaps'] >= 1, o['live']['skipped'] > 1000000")" "(True, True)"
equal "what rates know of it" "$(awk -F, 'NR > 1 { n += $8 } END { print n }' c.rates)" "$(key out "o['live']['skipped'] + o['live']['sort']['late']")"
skipped=$(key out "o['live']['skipped']") gaps=$(key out "o['live']['gaps']")
said "the live chain went without $skipped of $sent frames: what it wrote is incomplete, and marked by files NAME.incomplete"
grep -q "^$skipped of $sent frames did not go through the live chain, in $gaps gaps*.$" c.rates.incomplete ||
    fail "c.rates.incomplete: $(cat c.rates.incomplete)"
want_no_file pipe.incomplete

# ---- the same signal again: the end, at once -------------------------------------------------------------------------
exec 7<>pipe
listen -o d.raw --scanner mouse20 --singles pipe
transmit --fast --rate 2e6 --seconds 0.1
sleep 0.3
kill -TERM "$receiver"
wait_for 'ending: the raw data are complete'
finish TERM
exec 7<&-
equal "ended by the signal" "$status" 143
equal "the file" "$(frames_in d.raw)" "$sent"

# ---- an output that fails: a pipe that is closed, a full disk --------------------------------------------------------
cat pipe >/dev/null &
taker=$!
listen -o e.raw --json --scanner mouse20 --singles pipe --coincidences e.csv
transmit --fast --rate 1e6 --seconds 0.2
kill "$taker"
wait "$taker" 2>/dev/null
transmit --fast --rate 1e6 --seconds 0.2
sleep 0.3
finish TERM
want 1
said 'pipe: cannot write.*; raw data and the other outputs are written further on'
equal "told by name" "$(key out "o['live']['failed_outputs'], o['live']['output']['file']")" "(['pipe'], 'e.csv')"
equal "all is received" "$(key out "o['frames'], o['live']['complete']")" "($((2 * sent)), False)"
equal "the file" "$(frames_in e.raw)" "$((2 * sent))"
# What did not fail is whole.
run pet run --scanner mouse20 -q --horizon 1ms -o e.wanted.csv e.raw
want 0
cmp e.csv e.wanted.csv || fail "e.csv is not whole beside an output that failed"
want_no_file ./*.tmp* e*.incomplete
# A list that fails is not told to be written.
if [ -c /dev/full ]; then
    listen -o i.raw --scanner mouse20 --singles i.singles --coincidences /dev/full --format csv
    transmit --fast --rate 1e6 --seconds 0.2
    sleep 0.3
    finish TERM
    want 1
    said '/dev/full: cannot write'
    equal "what the table says" "$(grep '^  written .*pairs' out)" "  written        no pairs to /dev/full, which failed"
    run pet run --scanner mouse20 -q --singles i.wanted i.raw
    cmp i.singles i.wanted || fail "i.singles is not whole beside an output that failed"
fi

# ---- a pipe that nobody reads yet: it holds up neither the sockets nor the end ---------------------------------------
mkfifo unread
listen -o j.raw --json --scanner mouse20 --singles unread --late j.late --duration 4s
transmit --fast --rate 1e6 --seconds 0.2
wait_for 'the live chain waits for a reader of unread'
wait_for 'ending: the raw data are complete; the live chain is still at work; Ctrl-C twice ends it at once'
finish none
want 1
said 'unread: nobody has opened this pipe to read it; raw data and the other outputs are written further on'
equal "the file" "$(frames_in j.raw)" "$sent"
equal "the other output" "$(stat -c %s j.late)" "$(key out "16 * o['live']['sort']['late'] + 8")"
# A reader that comes later gets everything.
listen -o k.raw --scanner mouse20 --singles unread
transmit --fast --rate 1e6 --seconds 0.2
wait_for 'the live chain waits for a reader of unread'
cat unread >k.got &
taker=$!
sleep 0.3
finish TERM
want 0
wait "$taker"
run pet run --scanner mouse20 -q --singles k.wanted k.raw
cmp k.got k.wanted || fail "the pipe's reader has not got all singles"
# --output itself.
run pet acquire --listen 127.0.0.1:0 -o unread --duration 1500ms
want 1
printf '%s\n' "sluice pet acquire: waiting for a reader of unread, before it listens" \
    "sluice pet acquire: unread: nobody has opened this pipe to read it" | want_err
timeout -s TERM 0.5 "$sluice" pet acquire --listen 127.0.0.1:0 -o unread >out 2>err </dev/null
equal "ended by the signal" "$?" 124

# ---- raw data that appear under an output's name while it is written -------------------------------------------------
listen -o l.raw --scanner mouse20 --singles l.singles --late l.late
transmit --fast --rate 1e6 --seconds 0.1
cp e.raw l.singles
finish TERM
want 1
said 'l.singles: is raw data now, which cannot be made again: not replaced; what was written is in .*l.singles.tmp-[0-9]+$'
cmp l.singles e.raw || fail "the raw data were replaced"
run pet run --scanner mouse20 -q --singles l.wanted l.raw
cmp l.singles.tmp-* l.wanted || fail "what was written is not whole"
rm l.singles.tmp-*
if [ -c /dev/full ]; then
    listen -o f.raw --scanner mouse20 --singles /dev/full
    transmit --fast --rate 1e6 --seconds 0.2
    sleep 0.3
    finish TERM
    want 1
    said '/dev/full: cannot write.*; raw data are written further on'
    equal "the file" "$(frames_in f.raw)" "$sent"
fi

# The raw file's disk is full: what was found until then is written, and marked.
last="sluice pet acquire with a full disk"
: >err
(ulimit -f 3000; exec "$sluice" pet acquire --listen 127.0.0.1:0 -o h.raw --scanner mouse20 --singles h.singles --json >out 2>err </dev/null) &
receiver=$!
wait_for 'listening at'
address=$(sed -n 's/.*listening at //p' err)
"$sluice" simulate pet --send "$address" --fast --rate 1e6 --seconds 0.1 --repeat 3 2>/dev/null # it meets the end
finish none
want 1
said 'h.raw: byte 3072000: cannot write: File too large; what was written before is readable'
equal "told" "$(key out "o['live']['complete'], o['live']['skipped']")" "(False, 0)"
equal "the mark" "$(cut -d: -f1-4 h.singles.incomplete)" "The acquisition failed: h.raw: byte 3072000: cannot write"

# Without a raw file and another output there is nothing else to do.
if [ -c /dev/full ]; then
    listen --scanner mouse20 --singles /dev/full
    "$sluice" simulate pet --send "$address" --fast --rate 1e6 --seconds 0.2 2>/dev/null # it meets the end
    finish none
    want 1
    said '/dev/full: cannot write.*; the acquisition ends'
    listen --scanner mouse20 --singles /dev/full --coincidences left.csv --json
    transmit --fast --rate 1e6 --seconds 0.2
    sleep 0.3
    finish TERM
    want 1
    said '/dev/full: cannot write.*; the other outputs are written further on'
    equal "pairs of the other" "$(($(wc -l <left.csv) - 1))" "$(key out "o['live']['prompts']")"
fi

# ---- a time far ahead of all others: what comes behind it is late, and told with status 1 ------------------------------
"$sluice" simulate pet --fast --rate 1e6 --seconds 0.005 --bare -o far.bin -q || fail "cannot make frames"
listen --scanner mouse20 -o far.raw --singles far.singles --late far.late --json
python3 - far.bin "$address" <<'P' || fail "cannot send"
import socket, sys, time
data = bytearray(open(sys.argv[1], "rb").read())
data[16 * 100 + 2] ^= 0x20
host, port = sys.argv[2].rsplit(":", 1)
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(0, len(data), 16):
    to.sendto(data[i : i + 16], (host, int(port)))
    if i % 1600 == 0:
        time.sleep(0.001)
P
sleep 0.3
finish TERM
want 1
said 'singles came later than the horizon .* far ahead of all others'
equal "late ones" "$(key out "o['live']['complete'], o['live']['sort']['late'] > 0.9 * o['live']['sort']['taken'] > 1000")" "(True, True)"
equal "their file" "$(stat -c %s far.late)" "$(key out "16 * o['live']['sort']['late'] + 8")"
[ -s far.singles ] || fail "no far.singles"

# ---- what cannot begin leaves nothing behind -------------------------------------------------------------------------
run pet acquire --listen 127.0.0.1:0 --listen 192.0.2.1:9000 -o x.raw --scanner mouse20 --singles x.singles \
    --coincidences x.cdh --rates x.rates --sinogram x --json
want 1
want_no_out
grep -q "^sluice pet acquire: 192.0.2.1:9000: cannot listen there: .*; no interface of this machine has it$" err ||
    fail "it said: $(cat err)"
want_no_file x x.*
if setpriv --bounding-set=-net_admin true 2>/dev/null || [ "$(id -u)" -ne 0 ]; then
    without=$(setpriv --bounding-set=-net_admin true 2>/dev/null && echo setpriv --bounding-set=-net_admin)
    $without "$sluice" pet acquire --listen 127.0.0.1:0 --socket-buffer 1G --duration 50ms >out 2>err
    said "^sluice pet acquire: sockets have room for [0-9]+ KiB, not for 1048576: .* 'sudo sysctl net.core.rmem_max=1073741824'"
fi
for words in "--tof 250ps" "--late -" "--bin 1s" "--ring-difference 3 --late x" "--rates x --late x" "--rebin"; do
    # shellcheck disable=SC2086 # options with their values
    run pet acquire --listen 127.0.0.1:0 --scanner mouse20 $words
    want 2
done
run pet acquire --listen 127.0.0.1:0 --prompts
want 2
echo "sluice pet acquire: nothing is found without --coincidences, --singles, --late, --marks, --sinogram, --rates, --rate-plot or --dead-time; see sluice pet acquire --help" | want_err
want_no_file x
passed
