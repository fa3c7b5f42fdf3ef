#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Masks on LHCb's ten events, of super-pixels and of the read-out's clusters: what is left is what another program has
# left in the banks. And what a shifter sees of them.
. "$(dirname "$0")/common.sh" "$@"
tool=$source/tests/support/velo_mask.py
ten=$data/lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf
[ -r "$ten" ] || exit 77
python3 "$tool" some "$ten" 25 mask.txt || fail "no mask"
python3 "$tool" without "$ten" mask.txt without.mdf || fail "cannot take pixels away"
for banks in superpixels retina; do
    run velo without.mdf -q --json --banks $banks --monitor wanted.json --monitor-pixels
    want 0
    cp out wanted
    run velo "$ten" -q --json --banks $banks --mask mask.txt --monitor got.json --monitor-pixels
    want 0
    for of in checksum pixels clusters tracks vertices faults; do
        equal "$of, $banks" "$(key out "o['$of']")" "$(key wanted "o['$of']")"
    done
    equal "a part is left out, $banks" "$(key out "o['mask']['pixels'] > 1000 and o['mask']['left_out'] > 1000")" True
    grep -v '^  "run": ' wanted.json >wanted.rest
    grep -v '^  "run": ' got.json >got.rest
    same got.rest <wanted.rest
    run velo "$ten" -q --json --banks $banks --monitor all.json --monitor-pixels
    want 0
    equal "nothing is hot or dead in ten events, $banks" "$(key all.json "o['hot'], o['dead']")" "([], [])"
    equal "sums, $banks" "$(key all.json "sum(s['hits'] for s in o['sensors']), sum(k * n for k, n in enumerate(o['sizes'])) <= $(key out "o['pixels']")")" \
        "($(key out "o['clusters']"), True)"
    equal "sizes are known, $banks" "$(key all.json "o['sizes'][0] == sum(o['sizes'])")" $([ $banks = retina ] && echo True || echo False)
done
passed
