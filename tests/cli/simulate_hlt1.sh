#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated events of all detectors: what decides over their bytes, what options do, and that sluice hlt1 reads them.
. "$(dirname "$0")/common.sh" "$@"
need_data lhcb_hlt1/muon_tables.bin
folder=$data/lhcb_hlt1
make() { # FILE OPTIONS...
    local file=$1
    shift
    "$sluice" simulate hlt1 -q --geometry "$folder" "$@" -o "$file" || fail "cannot simulate with $*"
}
make a.mdf --events 4 --seed 3 --vertices 2
make b.mdf --events 4 --seed 3 --vertices 2
cmp a.mdf b.mdf || fail "the same seed gives other events"
make b.mdf --events 4 --seed 4 --vertices 2
cmp -s a.mdf b.mdf && fail "another seed gives the same events"
make b.mdf --events 2 --seed 3 --vertices 2
make c.mdf --events 2 --seed 3 --vertices 2 --first 2
cat b.mdf c.mdf | cmp - a.mdf || fail "--first does not go on"
make c.mdf --events 4 --seed 3 --vertices 2 --compress
[ "$(stat -c %s c.mdf)" -lt "$(stat -c %s a.mdf)" ] || fail "--compress does not"
make c.mdf --events 4 --seed 3 --vertices 2 --no-scattering
cmp -s a.mdf c.mdf && fail "--no-scattering has no effect"

hits() { # FILE: sums of hits
    run hlt1 "$1" --geometry "$folder" --json
    want 0
    equal "faults of $1" "$(key out "o['faults']")" "{}"
    key out "sum(o['ut_hits']) + sum(o['scifi_clusters'])"
}
normal=$(hits a.mdf)
make c.mdf --events 4 --seed 3 --vertices 2 --secondaries 0
[ "$(hits c.mdf)" -lt $((normal * 3 / 4)) ] || fail "--secondaries 0 has no effect"
make c.mdf --events 4 --seed 3 --vertices 6
[ "$(hits c.mdf)" -gt $((normal * 3 / 2)) ] || fail "--vertices has no effect"
make c.mdf --events 4 --seed 3 --vertices 2 --jpsi 1 --beauty 1 --charm 1
run hlt1 c.mdf --geometry "$folder" --truth --json
want 0
[ "$(key out "o['truth']['is_muon']['muons']['tracks']")" -gt 0 ] || fail "no muons of J/psi"
compared=$((compared + 12))

want_refused "nowhere" simulate hlt1 --events 1 --geometry nowhere -o x.mdf
want_refused "jpsi" simulate hlt1 --events 1 --geometry "$folder" --jpsi 2 -o x.mdf
want_no_file x.mdf
passed
