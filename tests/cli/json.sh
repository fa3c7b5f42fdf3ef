#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is printed: all keys of the JSON objects, the table beside them, and one checksum for every batch size.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 7 11
make_events b.mdf 5 12

run velo a.mdf b.mdf --truth --json
want 0
want_silent
mv out all.json
equal keys "$(key all.json "' '.join(o)")" \
    "events lost_events incomplete_events partial super_pixels isolated pixels clusters clusters_per_event tracks vertices checksum faults beam tracking settings banks identity truth seconds events_per_second seconds_total"
equal "keys of truth" "$(key all.json "' '.join(o['truth'])")" \
    "events mc_hits mc_hits_found tracks ghosts ghost_rate ghost_rate_sigma categories residuals pulls against momentum impact_um vertices"
equal categories "$(key all.json "' '.join(o['truth']['categories'])")" \
    "velo velo_eta25 long long_eta25 long_p5 long_p5_eta25 from_b from_b_eta25 from_d from_d_eta25 strange strange_eta25 electrons electrons_eta25 modules3 modules3_eta25"
equal "keys of a category" "$(key all.json "{' '.join(c) for c in o['truth']['categories'].values()}")" \
    "{'reconstructible found efficiency efficiency_sigma clones clone_rate purity hit_efficiency first_hits last_hits'}"
equal "keys of residuals" "$(key all.json "' '.join(o['truth']['residuals'])")" \
    "x_mean_um x_rms_um x_half_width_68_um y_mean_um y_rms_um y_half_width_68_um n x_outside y_outside"
equal "keys of pulls" "$(key all.json "{k: ' '.join(v) for k, v in o['truth']['pulls'].items()}")" \
    "{'x': 'mean width half_width_68 n', 'y': 'mean width half_width_68 n', 'tx': 'mean width half_width_68 n', 'ty': 'mean width half_width_68 n'}"
equal sums "$(key all.json "o['events'], len(o['clusters_per_event']), sum(o['clusters_per_event']) == o['clusters'], o['truth']['events']")" \
    "(12, 12, True, 12)"
python3 - <<'PYTHON' || fail "numbers contradict each other"
import json
o = json.load(open("all.json"))
t = o["truth"]
assert abs(t["ghost_rate"] - t["ghosts"] / t["tracks"]) < 1e-12 and t["tracks"] == o["tracks"] > 500
for name, c in t["categories"].items():
    n = c["reconstructible"]
    if n:
        f = c["found"] / n
        assert abs(c["efficiency"] - f) < 1e-12
        assert abs(c["efficiency_sigma"] - (f * (1 - f) / n) ** 0.5) < 1e-9
    else:
        assert c["efficiency"] is c["efficiency_sigma"] is None, name
    both = c["found"] + c["clones"]
    if both:
        assert abs(c["clone_rate"] - c["clones"] / both) < 1e-12
        assert c["found"] <= n and 0 <= c["purity"] <= 1 and 0 <= c["hit_efficiency"] <= 1, name
    else:
        assert all(c[k] is None for k in ("clone_rate", "purity", "hit_efficiency", "first_hits", "last_hits")), name
assert any(c["reconstructible"] == 0 for c in t["categories"].values()), "no number of none was looked at"
v = t["categories"]["velo_eta25"]
assert v["reconstructible"] > 500 and v["efficiency"] > 0.9
assert 0 < t["residuals"]["x_rms_um"] < 25 and t["residuals"]["n"] > 500
assert all(p["n"] > 100 and p["width"] > 0 for p in t["pulls"].values())
assert o["seconds"] > 0 and o["seconds_total"] >= o["seconds"]
assert len(o["checksum"]) == 16 and int(o["checksum"], 16) > 0
PYTHON

# Results do not depend on how events are cut into batches.
for n in 1 2 3 1000; do
    run velo a.mdf b.mdf --truth --json --batch $n
    want 0
    want_silent
    equal "checksum with --batch $n" "$(key out "o['checksum']")" "$(key all.json "o['checksum']")"
    equal "truth with --batch $n" "$(key out "o['truth']")" "$(key all.json "o['truth']")"
done
run velo b.mdf a.mdf --json
want 0
[ "$(key out "o['checksum']")" != "$(key all.json "o['checksum']")" ] || fail "the checksum ignores the order of events"
run velo a.mdf b.mdf --json --max-scatter-seeding 0.001 --second-scatter-seeding 0.001 # or the second pass finds them
want 0
[ "$(key out "o['tracks']")" -lt "$(key all.json "o['tracks']")" ] || fail "--max-scatter-seeding has no effect"

# The table says the same; times are cut away.
run velo a.mdf b.mdf --truth
want 0
want_silent
mv out table
equal tracks "$(awk '$1 == "tracks" { print $2 }' table)" "$(key all.json "o['tracks']")"
equal clusters "$(awk '$1 == "clusters" { print $2 }' table)" "$(key all.json "o['clusters']")"
equal "velo in the table" "$(awk '$1 == "velo_eta25" { print $2, $3, $5 }' table)" \
    "$(key all.json "'%d %.2f %.2f' % (lambda c: (c['reconstructible'], 100 * c['efficiency'], 100 * c['efficiency_sigma']))(o['truth']['categories']['velo_eta25'])")"
equal ghosts "$(awk '$1 == "ghosts" { print $2, $4 }' table)" "$(key all.json "'%d %d' % (o['truth']['ghosts'], o['truth']['tracks'])")"

# Without truth there is no such key; with it and none in the input, a note and zeros.
run velo a.mdf --json
want 0
equal "no truth" "$(key out "'truth' in o")" False

run version --json
want 0
want_silent
equal version "$(key out "sorted(o)")" "['compiler', 'cuda', 'inputs', 'kernels', 'outputs', 'targets', 'version']"
equal formats "$(key out "[f['name'] for f in o['inputs']]")" "['mep', 'mdf', 'velo-json', 'cms-raw', 'pnm', 'png', 'jpeg', 'bmp', 'tiff', 'npy', 'nifti', 'tpx3', 'tpx4', 't3pa', 'matrix', 'csv', 'pet-raw', 'pet-frames', 'pet-singles', 'pet-tables', 'pet-csv', 'pet-sinogram', 'pet-crystal-map', 'pet-castor', 'pet-safir', 'pet-siemens', 'pet-yrt', 'pet-gate', 'pet-hdf5', 'pet-petsird']"
equal "plain C" "$(key out "o['targets'][0]")" "{'name': 'c', 'runs': True}"
equal "cuda devices" "$(key out "(len(o['cuda']['devices']) == 0) == (o['cuda']['reason'] is not None)")" True
number=$(cat "$source/VERSION")
equal number "$(key out "o['version']")" "$number"
run --version
want 0
echo "sluice $number" | want_out
run version
want 0
equal "first line" "$(head -n 1 out)" "sluice $number"

run info a.mdf b.mdf --json
want 0
want_silent
equal info "$(key out "[(f['file'], f['format'], f['events'], f['lost_events'], f['checksums_verified'], f['faults']) for f in o['files']]")" \
    "[('a.mdf', 'mdf', 7, 0, 7, {}), ('b.mdf', 'mdf', 5, 0, 5, {})]"
equal banks "$(key out "{b['name']: b['count'] for b in o['files'][0]['banks'] if b['name'] in ('VP', 'ODIN', 'MCVertices')}")" \
    "{'ODIN': 7, 'MCVertices': 7, 'VP': 1456}"
passed
