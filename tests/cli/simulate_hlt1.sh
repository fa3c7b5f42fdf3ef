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

# Lines by what they are for: J/psi in high masses of two muons, at its mass; beauty in displaced tracks and pairs.
accepted() { # FILE LINE
    key "$1" "[l['accepted'] for l in o['selection']['lines'] if l['name'] == '$2'][0]"
}
for sample in "plain" "jpsi --jpsi 1" "beauty --beauty 1"; do
    set -- $sample
    make s.mdf --events 200 --seed 11 --vertices 2 "${@:2}"
    run hlt1 s.mdf --geometry "$folder" --json -q --lines "$source/docs/examples/hlt1-lines.json" -o "$1.npz" --columns secondaries
    want 0
    cp out "$1.json"
done
for what in "jpsi DiMuonHighMass 25" "beauty TrackMVA 25" "beauty TwoTrackMVA 40"; do
    read -r sample line least <<<"$what"
    signal=$(accepted "$sample.json" "$line")
    others=$(accepted plain.json "$line")
    [ "$signal" -ge "$least" ] && [ "$((8 * others))" -le "$signal" ] || fail "$line accepts $signal of 200 events of $sample, $others of those without"
done
/usr/bin/python3 - <<'PYTHON' || fail "pairs of muons are not at the mass of the J/psi"
import numpy
found = numpy.load("jpsi.npz")
mass = found["secondaries.mass_mumu_mev"][(found["secondaries.dimuon"] != 0) & (found["secondaries.muons"] == 2) & (found["secondaries.charge"] == 0)]
mass = mass[mass > 2700]
near = mass[abs(mass - 3096.9) < 60]
assert len(near) > 25 and len(near) > .8 * len(mass) and abs(numpy.median(near) - 3096.9) < 8, (len(near), len(mass), numpy.median(near))
PYTHON
compared=$((compared + 6))

want_refused "nowhere" simulate hlt1 --events 1 --geometry nowhere -o x.mdf
want_refused "jpsi" simulate hlt1 --events 1 --geometry "$folder" --jpsi 2 -o x.mdf
want_no_file x.mdf
passed
