#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated PET frames: files, tables and truth that belong together, the same frames for the same seed; and what
# cannot be asked for.
. "$(dirname "$0")/common.sh" "$@"

run simulate pet --seconds 0.02 --rate 2e6 --seed 5 -o a.raw --write-tables a.h5 --truth a.csv --flood-side 64 --offset-sigma 300
want 0
want_no_out
equal "a note" "$(sed 's/[0-9]\{5\} frames/N frames/' err)" "sluice simulate pet: a.raw: N frames of 0.02 s with seed 5"
frames=$(sed 's/.*raw: \([0-9]*\) frames.*/\1/' err)
equal "some 40000 frames" "$((frames > 38000 && frames < 41000))" 1
equal "a row of truth for each frame" "$(($(wc -l <a.csv) - 1))" "$frames"
equal "columns of the truth" "$(head -n 1 a.csv)" "time_ps,event,crystal,scattered"
run pet run --tables a.h5 --horizon 10ms --json a.raw
want 0
equal "frames and singles" "$(key out "o['convert']['frames'], o['convert']['singles'] > 0.95 * o['convert']['frames']")" "($frames, True)"

# Bare frames depend on the options alone; a raw file has the same ones.
for name in b c; do
    run simulate pet --seconds 0.02 --rate 2e6 --seed 5 --bare -o $name.bin -q --flood-side 64 --offset-sigma 300
    want 0
    want_silent
done
cmp b.bin c.bin || fail "the same seed has other frames"
equal "bytes of bare frames" "$(stat -c %s b.bin)" "$((16 * frames))"
run pet convert --tables a.h5 a.raw -o a.singles -q
want 0
run pet convert --tables a.h5 b.bin -o b.singles -q
want 0
cmp a.singles b.singles || fail "raw and bare files have other singles"
"$sluice" simulate pet --seconds 0.02 --rate 2e6 --seed 5 --bare -o - -q --flood-side 64 --offset-sigma 300 | cmp - b.bin ||
    fail "standard output has other frames"
compared=$((compared + 3))
run simulate pet --seconds 0.02 --rate 2e6 --seed 6 --bare -o c.bin --replace -q --flood-side 64 --offset-sigma 300
want 0
cmp -s b.bin c.bin && fail "another seed has the same frames"

# Sources of one's own, and a clock that begins again.
run simulate pet --seconds 0.01 --source 0,0,0,0,0,2e6 --source 5,5,0,2,10,3e6 --ticks 100 --tick-bits 24 --bare -o d.bin -q
want 0
run pet run --scanner mouse20 --ticks 100 --tick-bits 24 --horizon 5ms --json d.bin
want 0
equal "turns of the clock" "$(key out "o['convert']['turns'] > 0, o['convert']['frames'] > 1000, o['convert']['module']")" "(True, True, 0)"

# Physics by options: the truth tells of it. Without them files are as ever.
run simulate pet --seconds 0.02 --rate 2e6 --seed 5 --bare -o e.bin -q --flood-side 64 --offset-sigma 300 --isotope ideal
want 0
cmp b.bin e.bin || fail "an ideal isotope has other frames"
run simulate pet --seconds 0.1 --source 0,0,0,5,20,2e6 --isotope I-124 --phantom 0,0,0,25,60,0.0096 --phantom 5,0,0,5,60,0 --crystal LSO --seed 5 \
    -o f.raw --write-tables f.h5 --truth f.csv -q
want 0
equal "columns of the truth" "$(head -n 1 f.csv)" "time_ps,event,crystal,scattered,shared,photon,x_mm,y_mm,z_mm,left_kev"
equal "photons, scatter, sharing" "$(awk -F, 'NR > 1 { p[$6]++; s[$4 > 0]++; h[$5]++; if ($10 <= 0 || $10 > 1691.1) bad++ }
    END { print (p[1] > 100), (p[2] > 100), (p[3] > 100), (s[1] > 100), (h[1] > 100), (s[0] > s[1]), bad + 0 }' f.csv)" "1 1 1 1 1 1 0"
run pet run --tables f.h5 --json f.raw
want 0
equal "frames" "$(key out "o['convert']['frames']")" "$(($(wc -l <f.csv) - 1))"
run simulate pet --seconds 0.1 --activity 2e6 --crystal 0.087,0.32 --each-crystal --seed 5 --bare -o g.bin --truth g.csv -q
want 0
equal "frames" "$(stat -c %s g.bin)" "$((16 * ($(wc -l <g.csv) - 1)))"

# ---- what is wrong is told -----------------------------------------------------------------------------------------
run simulate pet --seconds 0.01 -o a.raw
want 1
echo "sluice simulate pet: a.raw: cannot create: File exists; raw data are not overwritten" | want_err
run simulate pet --seconds 0.01 -o a.raw --replace -q
want 0
run simulate pet --seconds 0.01
want 2
echo "sluice simulate pet: it is written or sent: give --output or --send; see sluice simulate pet --help" | want_err
run simulate pet -o x --source 1,2,3
want 2
echo "sluice simulate pet: --source takes X,Y,Z,R,L,BQ, six numbers, not '1,2,3'; see sluice simulate pet --help" | want_err
run simulate pet -o x --phantom 1,2,3,4,5
want 2
echo "sluice simulate pet: --phantom takes X,Y,Z,R,L,MU, six numbers, not '1,2,3,4,5'; see sluice simulate pet --help" | want_err
run simulate pet -o x --isotope U-235
want 2
echo "sluice simulate pet: isotope: none is named \"U-235\"; there are ideal, F-18, Ga-68 and I-124; see sluice simulate pet --help" | want_err
run simulate pet -o x --phantom 0,0,0,10,10,0.01 --scatter 0.3
want 2
run simulate pet -o x --each-crystal
want 2
run simulate pet -o x --crystal wood
want 2
run simulate pet -o x --fast --rate 1e6 --isotope F-18
want 2
run simulate pet -o x --scanner what
want 2
run simulate pet -o x --bare --sequence
want 2
run simulate pet -o x --repeat 2
want 2
run simulate pet -o -
want 2
run simulate pet --fast --seconds 0.01 -o x
want 2
run simulate pet --seconds 0.001 --send nonsense
want 1
grep -q "'nonsense' is no address: HOST:PORT or \[HOST\]:PORT" err || fail "it said: $(cat err)"
run simulate pet --seconds 0.01 --rate 1e5 --send 127.0.0.1:9 --repeat 100
want 1
grep -q "sluice simulate pet: 127.0.0.1:9: cannot send: nobody listens there" err || fail "it said: $(cat err)"
want_no_file x x.index
if [ -w /dev/full ]; then
    run simulate pet --bare --seconds 0.05 -o /dev/full -q
    want 1
    echo "sluice simulate pet: /dev/full: cannot write: No space left on device" | want_err
fi
passed
