#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice velo --wanted: those collections alone, with the rows and the counts of a run that makes all; what does not go with it.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 6 52

run velo a.mdf --json -o all.h5
want 0
cp out all.json
run velo a.mdf --json --wanted hits,tracks,states_beam,states_end,primaries
want 0
equal "checksum of all" "$(key out "o['checksum']")" "$(key all.json "o['checksum']")"
for wanted in primaries tracks,states_end; do
    run velo a.mdf --json --wanted $wanted -o some.h5
    want 0
    cp out some.json
    equal "counts, $wanted" "$(key some.json "o['clusters'], o['tracks'], o['wanted'], 'vertices' in o, 'clusters_per_event' in o")" \
        "$(key all.json "o['clusters'], o['tracks'], '$wanted', '$wanted' == 'primaries', False")"
    groups=events,$wanted
    [ $wanted = primaries ] || groups=$groups,track_hits
    equal "groups, $wanted" "$(h5dump -n some.h5 | awk '$1 == "group" && $2 != "/" { print substr($2, 2) }' | sort | paste -sd,)" \
        "$(echo $groups | tr , '\n' | sort | paste -sd,)"
    for group in ${wanted//,/ }; do
        h5dump -y -g /$group all.h5 | sed 1d >of_all
        h5dump -y -g /$group some.h5 | sed 1d | same of_all
    done
    run velo a.mdf --json --wanted $wanted --threads 2 --batch 3
    want 0
    equal "checksum, $wanted" "$(key out "o['checksum']")" "$(key some.json "o['checksum']")"
done
run velo a.mdf --wanted tracks
want 0
grep -q '^vertices  *-$' out || fail "vertices that were not made: $(cat out)"
grep -q '^wanted  *tracks alone' out || fail "what was wanted: $(cat out)"
for options in "--truth" "--beam auto"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo a.mdf --wanted tracks $options
    want 2
    want_no_out
    grep -q 'needs what --wanted may leave out' err || fail "$options: $(cat err)"
done
run velo a.mdf --wanted tracks -o b.h5 --columns impacts
want 2
want_no_out
grep -q -e '--columns with impacts needs states_beam and primaries in --wanted' err || fail "$(cat err)"
[ ! -e b.h5 ] || fail "a result of what was refused"
run velo a.mdf -o all.h5 --columns impacts
want 0
run velo a.mdf --wanted primaries,states_beam -o b.h5 --columns impacts
want 0
h5diff all.h5 b.h5 /impacts || fail "impacts of what is wanted differ"
run velo a.mdf --wanted tracks,vertices
want 2
grep -q "^sluice velo: --wanted: 'vertices' is none of hits, tracks, states_beam, states_end, primaries" err || fail "$(cat err)"
passed
