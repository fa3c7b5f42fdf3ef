#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated events: what decides over their bytes, and what every option does to them.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 4 31
make_events b.mdf 4 31
cmp a.mdf b.mdf || fail "the same seed gives other events"
make_events b.mdf 4 32
cmp -s a.mdf b.mdf && fail "another seed gives the same events"
make_events b.mdf 2 31
cmp -n "$(stat -c %s b.mdf)" a.mdf b.mdf || fail "an event depends on how many follow"
"$sluice" simulate velo -q --events 4 --seed 31 -o - >b.mdf || fail "cannot write to standard output"
cmp a.mdf b.mdf || fail "standard output differs from a file"

counts() { # FILE: super-pixels, clusters and checksum
    run velo "$1" --json
    want 0
    key out "o['super_pixels'], o['clusters'], o['checksum']"
}
"$sluice" simulate velo -q --events 4 --seed 31 --compress -o c.mdf || fail "cannot compress"
[ "$(stat -c %s c.mdf)" -lt "$(stat -c %s a.mdf)" ] || fail "--compress does not"
run info --json c.mdf
equal compressed "$(key out "o['files'][0]['compressed'], o['files'][0]['events']")" "(4, 4)"
equal "compressed events" "$(counts c.mdf)" "$(counts a.mdf)"

clusters_with() { # OPTIONS...
    "$sluice" simulate velo -q --events 4 --seed 31 "$@" -o x.mdf || fail "cannot simulate with $*"
    run velo x.mdf --json
    want 0
    key out "o['clusters']"
}
normal=$(clusters_with)
[ "$(clusters_with --vertices 2)" -lt "$normal" ] || fail "--vertices has no effect"
[ "$(clusters_with --noise 3000)" -gt "$((normal + 5000))" ] || fail "--noise has no effect"
[ "$(clusters_with --dead 0.5)" -lt "$normal" ] || fail "--dead has no effect"
[ "$(clusters_with --inefficiency 0.5)" -lt "$normal" ] || fail "--inefficiency has no effect"
[ "$(clusters_with --inefficiency 1 --noise 0)" -eq 0 ] || fail "--inefficiency 1 leaves hits"
cmp -s <("$sluice" simulate velo -q --events 1 --seed 31 -o -) \
    <("$sluice" simulate velo -q --events 1 --seed 31 --no-scattering -o -) && fail "--no-scattering has no effect"
compared=$((compared + 10))

run simulate velo --events 2 --seed 9 -o n.mdf
want 0
want_no_out
sed -i 's/ in [0-9.]* s$//' err
echo "sluice simulate velo: n.mdf: 2 events with seed 9" | want_err
run simulate velo --events 0 -q -o none.mdf
want 0
want_silent
equal "size of no events" "$(stat -c %s none.mdf)" 0
passed
