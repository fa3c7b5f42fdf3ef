#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory: it does not grow with the input, and labels alone need little. Progress is shown on a terminal alone.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 40 41
size=$(stat -c %s a.mdf)
times=$((400000000 / size + 1))

# More than 400 MB through a pipe, in less address space than that.
last="sluice velo - over $((times * size / 1000000)) MB"
(for ((i = 0; i < times; i++)); do cat a.mdf; done) |
    (ulimit -v "${SLUICE_TEST_ADDRESS_SPACE:-380000}" && exec "$sluice" velo --batch 16 -) >out 2>err
status=$?
want 0
want_silent
equal events "$(awk '$1 == "events" { print $2 }' out)" $((40 * times))
"$sluice" velo a.mdf >one || fail "cannot read one"
equal tracks "$(awk '$1 == "tracks" { print $2 }' out)" "$(($(awk '$1 == "tracks" { print $2 }' one) * times))"

# Labels alone need no room for areas, nor for rows of components: some 14 bytes a pixel are enough.
"$sluice" simulate image -q --size 4096 --density 40 -o a.pgm || fail "cannot generate an image"
last="sluice label in 300 MB"
(ulimit -v 300000 && exec "$sluice" label -q a.pgm -o a.npy) >out 2>err
status=$?
want 0
want_silent
(ulimit -v 300000 && exec "$sluice" label --json a.pgm) >out 2>err
status=$?
want 1
want_no_out
echo "sluice label: a.pgm: page 1: no memory for images of 4096 x 4096 pixels" | want_err

# A terminal on standard error, and a run that takes longer than a second.
slowly() { cat a.mdf; sleep 1.3; cat a.mdf; }
on_terminal() { # ARGS...: standard error is a terminal whose output lands in err
    python3 - "$sluice" "$@" <<'PYTHON'
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
stream = subprocess.Popen("cat a.mdf; sleep 1.3; cat a.mdf", shell=True, stdout=subprocess.PIPE)
work = subprocess.Popen(sys.argv[1:], stdin=stream.stdout, stdout=open("out", "wb"), stderr=theirs)
os.close(theirs)
said = b""
while True:
    try:
        piece = os.read(ours, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
open("err", "wb").write(said)
sys.exit(work.wait())
PYTHON
    status=$?
    last="sluice $* on a terminal"
}
on_terminal velo -
want 0
grep -Eq 'sluice velo: [0-9]+ events, [0-9]+ events/s' err || fail "no progress on a terminal: $(cat -v err)"
tail -c 4 err | od -An -c | grep -q '\\r 033   \[   K' || fail "the progress line is not wiped: $(cat -v err)"
equal events "$(awk '$1 == "events" { print $2 }' out)" 80
on_terminal velo --quiet -
want 0
want_silent
slowly | "$sluice" velo - >out 2>err
status=$?
last="sluice velo - without a terminal"
want 0
want_silent
passed
