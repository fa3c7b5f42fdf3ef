#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where a window of energies keeps nothing, as where a scanner was given and tables were needed, it is told with the
# energies that there are, also with -q, nothing is written, and the exit status is 1.
. "$(dirname "$0")/common.sh" "$@"

"$sluice" simulate pet --seconds 0.02 --rate 2e6 --seed 5 --bare -o a.bin --write-tables a.h5 -q || fail "cannot make frames"
n=$(($(stat -c %s a.bin) / 16))
there="the energies that there are: from [0-9.]* to [0-9.]* keV, median [0-9.]* keV"
unit="; without a table of gains (--tables) a unit of a frame's energy is 1 keV"
# lines COMMAND LINES...: what is told, but for its numbers
told() {
    local command=$1 line
    shift
    : >wanted
    for line in "$@"; do
        echo "sluice $command: $line" >>wanted
    done
    sed "s/$there/THERE/" err | cmp - wanted || fail "'$ran' tells: $(cat err)"
    compared=$((compared + 1))
}

for command in run convert; do
    ran="pet $command"
    run pet $command a.bin --scanner mouse20 --energies 430:650 -o out.$command --json -q $([ $command = run ] && echo --format csv)
    want 1
    told "pet $command" "0 of $n singles are from 430 to below 650 keV; THERE$unit" "no single is left of $n frames: no file was written"
    [ ! -e out.$command ] || fail "pet $command: an empty file was written"
    equal "counts" "$(key out "o['convert']['singles'], o['convert']['below'] + o['convert']['above']")" "(0, $n)"
done
ran="pet run, tables"
run pet run a.bin --tables a.h5 --energies 5000:6000 --json -q
want 1
told "pet run" "0 of $n singles are from 5000 to below 6000 keV; THERE" "no single is left of $n frames: no file was written"
run pet run a.bin --tables a.h5 --energies 5000:6000 --sinogram sg -o z.h5
want 1
! grep -Eq '^(written|sinogram) ' out || fail "files that were not written are in the table: $(cat out)"
[ ! -e z.h5 ] && [ ! -e sg.s ] || fail "pet run: an empty file was written"
run pet run a.bin --tables a.h5 --energies 5000:6000 --sinogram sg -o z.h5 --json -q
want 1
equal "not written" "$(key out "o['failed_outputs']")" "['z.h5', 'sg']"
run pet run a.bin --tables a.h5 --energies 430:650 --json -q
want 0
want_silent

run pet convert a.bin --tables a.h5 -o a.singles -q
want 0
want_silent
ran="pet coincidences"
run pet coincidences a.singles --energies 5000:6000 --format csv -o pairs.csv -q
want 1
told "pet coincidences" "a.singles: 0 of $n singles are from 5000 to below 6000 keV; THERE"
[ ! -e pairs.csv ] || fail "pet coincidences: an empty file was written"
run pet coincidences a.singles --energies 430:650 --json -q
want 0
want_silent
equal "counts" "$(key out "o['singles'], 0 < o['inside'] < o['singles']")" "($n, True)"

# Times of a calibration need pairs of singles inside.
ran="pet calibrate"
run pet calibrate a.bin --tables a.h5 --keep gain --time --energies 5000:6000 -o new.h5 -q
want 1
told "pet calibrate" "0 of $n singles are from 5000 to below 6000 keV; THERE" "no single is left to find pairs with"
