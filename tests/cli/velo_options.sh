#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The configuration of the track search: --fast changes defaults and nothing that is given, whatever the order; each number
# reaches the search; the table and the JSON object tell which one ran.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 4 51

off="--candidates 3 --second-candidates 0 --missing 0 --trim 0 --pickup 0 --merge 0"
tracking() { # ARGS...: the configuration's name and the checksum
    run velo a.mdf --json "$@"
    want 0
    want_silent
    key out "o['tracking']['configuration'], o['checksum']"
}
sum() { tracking "$@" | sed "s/.*'\([0-9a-f]*\)')/\1/"; }

default=$(tracking)
fast=$(tracking --fast)
equal "the default" "${default%,*}" "('default'"
equal "fast" "${fast%,*}" "('fast'"
[ "$(sum)" != "$(sum --fast)" ] || fail "--fast changes nothing"
# shellcheck disable=SC2086 # words on purpose
equal "all switched off" "$(tracking $off)" "$fast"
run velo a.mdf --json
want 0
mv out default.json
on=$(key default.json "' '.join('--%s %r' % (n, t.get(k, t.get(k + '_mm2'))) for t in [o['tracking']] for n, k in
    (('candidates', 'candidates'), ('second-candidates', 'second_candidates'), ('missing', 'missing'), ('trim', 'trim'), ('pickup', 'pickup'), ('merge', 'merge')))")
# shellcheck disable=SC2086 # words on purpose
equal "all switched on" "$(tracking $on --fast)" "$default"
equal "given before --fast" "$(tracking --trim 0.02 --candidates 5 --fast)" "$(tracking --fast --candidates 5 --trim 0.02)"

# Every number by itself makes another result, and is what the JSON object says.
for pair in candidates:1:candidates second-candidates:1:second_candidates max-scatter-seeding:0.002:max_scatter_seeding_mm2 \
    max-scatter-extending:0.005:max_scatter_extending_mm2 max-scatter-3hits:0.0002:max_scatter_3hits_mm2 \
    second-scatter-seeding:0.002:second_scatter_seeding_mm2 second-scatter-extending:0.0002:second_scatter_extending_mm2 \
    second-scatter-3hits:0.0002:second_scatter_3hits_mm2 missing:0.01:missing_mm2 missing-r-low:30:missing_r_low_mm \
    missing-r-high:10:missing_r_high_mm trim:0.002:trim_mm2 pickup:0.001:pickup_mm2 min-hits:5:min_hits merge:0:merge_mm2 \
    merge-slope:0:merge_slope max-layer-hits:50:max_layer_hits max-event-hits:1000:max_event_hits; do
    IFS=: read -r option value name <<<"$pair"
    run velo a.mdf --json --quiet "--$option" "$value"
    want 0
    wanted=own
    case $option in max-*-hits) wanted=default ;; esac # a limit on events is no other search
    equal "$option" "$(key out "o['tracking']['configuration'], float(o['tracking']['$name']) == $value")" "('$wanted', True)"
    case $option in
    missing-r-* | merge*) ;; # few tracks are concerned: perhaps none of these events'
    *) [ "$(key out "o['checksum']")" != "$(sum)" ] || fail "--$option $value changes no result" ;;
    esac
done
# So does every number of the fit and of vertices; without a second pass its slope is of no consequence.
for pair in noise-constant:1e-6 noise-slope:1e-5 second-noise-slope:1e-5 scatter-prior:2 scatter-prior:0 vertex-error-scale:2; do
    run velo a.mdf --json --quiet "--${pair%:*}" "${pair#*:}"
    want 0
    [ "$(key out "o['checksum']")" != "$(sum)" ] || fail "--${pair%:*} ${pair#*:} changes no result"
done
equal "no second pass" "$(sum --scatter-prior 0)" "$(sum --scatter-prior 0 --second-noise-slope 1e-3)"
equal "hits of super-pixels" "$(sum --hit-sigma 0.1)" "$(sum)"
run velo a.mdf --noise-slope -1
want 2
for strategy in standard split full; do
    run velo a.mdf --json --strategy $strategy
    want 0
    equal "strategy" "$(key out "o['tracking']['strategy']")" $strategy
    key out "o['checksum']" >>sums
done
equal "strategies" "$(sort -u sums | wc -l)" 3

rm sums
for algorithm in local pair-fast pair-best triplet; do
    run velo a.mdf --json --algorithm $algorithm
    want 0
    equal "algorithm" "$(key out "o['tracking']['algorithm']")" $algorithm
    key out "o['checksum']" >>sums
done
equal "algorithms" "$(sort -u sums | wc -l)" 4

run velo a.mdf
want 0
head -n 1 out >line
key default.json "'tracking       default: local, standard, candidates %d, second pass %d, missing, trim, pickup, merge' % \
    (o['tracking']['candidates'], o['tracking']['second_candidates'])" | same line
run velo a.mdf --fast --candidates 7
want 0
head -n 1 out >line
echo "tracking       own: local, standard, candidates 7, no second pass" | same line
run velo a.mdf --algorithm triplet
want 0
head -n 1 out >line
echo "tracking       triplet" | same line
passed
