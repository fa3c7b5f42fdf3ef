#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LHCb's own simulated events: exact counts from three forms of the same ten events, the truth hits of the plain one, and
# what `sluice info` counts in them.
. "$(dirname "$0")/common.sh" "$@"
plain=lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf
retina=lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf
compressed=lhcb/upgrade_mc_minbias_scifi_v5.mdf
geometry=lhcb/velo_geometry.bin
for file in $plain $retina $compressed $geometry; do
    need_data $file
done
for file in $plain $retina $compressed; do
    cp "$data/$file" .
done
cp "$data/$geometry" .

for file in $plain $retina $compressed; do
    name=$(basename $file)
    run velo "$name" --geometry velo_geometry.bin --truth --json
    want 0
    equal "$name" "$(key out "o['events'], o['lost_events'], o['super_pixels'], o['isolated'], o['pixels'], o['clusters'], o['faults']")" \
        "(10, 0, 27389, 14389, 40276, 20085, {})"
    equal "$name" "$(key out "o['clusters_per_event']")" "[3681, 933, 1547, 1550, 2268, 718, 876, 2293, 2781, 3438]"
    if [ $file = $compressed ]; then
        echo "sluice velo: $name: no simulation truth in it: counts of the comparison do not include it" | want_err
        equal "truth of $name" "$(key out "o['truth']['events'], o['truth']['mc_hits'], o['truth']['ghosts'], o['truth']['ghost_rate']")" \
            "(0, 0, 0, None)"
    else
        want_silent
        equal "events with truth" "$(key out "o['truth']['events']")" 10
    fi
    key out "o['checksum']" >>checksums
    mv out "$name.json"
done
equal "checksums of the three" "$(sort -u checksums | wc -l)" 1
name=$(basename $plain).json
equal "truth hits" "$(key $name "o['truth']['mc_hits'], o['truth']['mc_hits_found']")" "(20474, 20474)"
python3 - "$name" <<'PYTHON' || fail "physics of the real events is out of bounds"
import json, sys
t = json.load(open(sys.argv[1]))["truth"]
c = t["categories"]
assert c["velo_eta25"]["reconstructible"] == 1125 and c["velo_eta25"]["efficiency"] > 0.96, c["velo_eta25"]
assert c["long_eta25"]["efficiency"] > 0.985 and t["ghost_rate"] < 0.015
assert t["residuals"]["x_rms_um"] < 15 and t["residuals"]["y_rms_um"] < 15, t["residuals"]
PYTHON
compared=$((compared + 1))

# The ideal geometry is that of the simulation: positions agree so well that the tracks do.
run velo "$(basename $plain)" --truth --json
want 0
equal "tracks in the ideal geometry" "$(key out "o['tracks']")" "$(key $name "o['tracks']")"

run info "$(basename $plain)" "$(basename $compressed)" --json
want 0
want_silent
equal info "$(key out "[(f['format'], f['events'], f['compressed'], f['run_number_min'], f['run_number_max']) for f in o['files']]")" \
    "[('mdf', 10, 0, 6718861, 6718861), ('mdf', 10, 10, 6718861, 6718861)]"
equal "VP banks" "$(key out "[(b['count'], b['bytes'], b['version_min']) for f in o['files'] for b in f['banks'] if b['type'] == 63]")" \
    "[(2080, 117876, 2), (2080, 117876, 2)]"
passed
