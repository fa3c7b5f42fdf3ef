#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LHCb's own packets: events and results as of the MDF of the same events; LHCb's ten events to packets and back.
. "$(dirname "$0")/common.sh" "$@"
stem=$data/lhcb/upgrade_mc_minbias_scifi_v5
both=$data/lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf
for file in "$stem.mdf" "${stem}_pf10.mep" "${stem}_pf10_retinacluster.mep" "$both" "$data/lhcb/velo_geometry.bin"; do
    need_data "${file#"$data/"}"
done
list() { python3 "$source/tests/support/mep_read.py" "$@" || fail "mep_read.py cannot read $*"; }
events() { # FILE OPTIONS...
    run velo "$@" --geometry "$data/lhcb/velo_geometry.bin" --json -o r.npz
    want 0
    want_silent
    key out "(o['checksum'], o['events'], o['clusters_per_event'], o['tracks'], o['vertices'])"
    python3 -c '
import sys, zipfile
with zipfile.ZipFile("r.npz") as z:
    print([z.read(f"events.{c}.npy")[-80:] for c in ("run", "event", "bcid", "record", "identity_from")])' || fail "no columns"
}
all=$(events "$stem.mdf")
cut=$(events "$stem.mdf" --gec-scifi 4000 --gec-velo 3000)
[ "$cut" != "$all" ] || fail "no event is cut"
for name in pf10 pf10_retinacluster; do
    equal "$name, cut" "$(events "${stem}_$name.mep" --gec-scifi 4000 --gec-velo 3000)" "$cut"
    for options in "" "--threads 3 --batch 4" "--batch 1"; do
        equal "$name $options" "$(events "${stem}_$name.mep" $options)" "$all"
    done
    run convert "${stem}_$name.mep" -o "$name.mdf" -q
    want 0
    equal "banks of $name" "$(list "$name.mdf" | cksum)" "$(list "${stem}_$name.mep" | cksum)"
    equal "$name as MDF" "$(events "$name.mdf")" "$all"
    run convert "$name.mdf" -o "$name.mep" --packing 10 -q
    want 0
    equal "$name again" "$(list "$name.mep" | cksum)" "$(list "${stem}_$name.mep" | cksum)"
done
for packing in 1 3 10; do
    run convert "$both" -o b.mep --packing $packing -q
    want 0
    run convert b.mep -o b.mdf -q
    want 0
    cmp b.mdf "$both" || fail "packets of $packing: not the same file"
    compared=$((compared + 1))
    run convert "$both" -o b.mep --packing $packing --layout mfp -q
    want 0
    equal "Run 3, $packing" "$(list b.mep | sort | cksum)" "$(list "$both" | sort | cksum)"
done
passed
