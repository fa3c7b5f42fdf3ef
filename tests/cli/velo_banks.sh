#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which banks hits are made of: LHCb's ten events with super-pixels and the read-out's clusters (type 73), cut to the one, to the
# other, to either in turn, and to none.
. "$(dirname "$0")/common.sh" "$@"
sample=lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf
need_data $sample
need_data lhcb/velo_geometry.bin
cp "$data/$sample" both.mdf
cp "$data/lhcb/velo_geometry.bin" .
python3 - <<'PYTHON' || fail "cannot cut the sample"
import random, struct
sample = open("both.mdf", "rb").read()
def cut(name, drop, change=lambda event, banks: banks):
    out, at, event = b"", 0, 0
    while at < len(sample):
        size = struct.unpack_from("<I", sample, at)[0]
        banks, p = [], at + 48
        while p < at + size:
            _, n, kind = struct.unpack_from("<HHB", sample, p)
            end = p + (n + 3) // 4 * 4
            if kind not in drop(event):
                banks.append(sample[p:end])
            p = end
        body = b"".join(change(event, banks))
        out += struct.pack("<4I", *[48 + len(body)] * 3, 0) + sample[at + 16:at + 48] + body
        at += size
        event += 1
    open(name, "wb").write(out)
def shuffle(event, banks):
    r = random.Random(event)
    r.shuffle(banks)
    for i, bank in enumerate(banks):
        if bank[4] == 73:
            words = [bank[k:k + 4] for k in range(12, len(bank), 4)]
            r.shuffle(words)
            banks[i] = bank[:12] + b"".join(words)
    return banks
def version(event, banks): # one bank of an unknown version, one whose count is wrong, one word beyond the last column
    done, out = 0, []
    for bank in banks:
        if bank[4] == 73 and event == 3 and done < 3 and len(bank) > 16:
            b = bytearray(bank)
            if done == 0:
                b[5] = 9
            elif done == 1:
                b[8] += 1
            else:
                b[12:16] = struct.pack("<I", 768 << 12)
            bank, done = bytes(b), done + 1
        out.append(bank)
    return out
cut("retina.mdf", lambda e: {63})
cut("pixels.mdf", lambda e: {73})
cut("turns.mdf", lambda e: {63} if e % 2 else {73})
cut("none.mdf", lambda e: {63, 73})
cut("some.mdf", lambda e: {63, 73} if e > 1 else {63})
cut("shuffled.mdf", lambda e: {63}, shuffle)
cut("damaged.mdf", lambda e: {63}, version)
PYTHON

reconstruct() { # INPUT ARGS...
    run velo "$1" --geometry velo_geometry.bin --json "${@:2}"
    want 0
}
banks() { key "$1" "o['banks']['choice'], o['banks']['superpixel_events'], o['banks']['retina_events'], o['clusters'], o['faults']"; }
line() { echo "sluice velo: $1: $2 of 10 events have no super-pixels: their hits are the clusters of the read-out (bank 73)"; }

# Both: super-pixels, and nothing to tell; the clusters where they are asked for.
reconstruct both.mdf
want_silent
equal both "$(banks out)" "('auto', 10, 0, 20085, {})"
cp out pixels.json
for input in both pixels; do
    reconstruct $input.mdf --banks superpixels
    want_silent
    equal "$input, super-pixels" "$(banks out)" "('superpixels', 10, 0, 20085, {})"
    equal "$input, super-pixels" "$(key out "o['checksum']")" "$(key pixels.json "o['checksum']")"
done
reconstruct both.mdf --banks retina --truth
want_silent
equal "both, retina" "$(banks out)" "('retina', 0, 10, 20652, {})"
equal "pixels and super-pixels of clusters" "$(key out "o['pixels'], o['super_pixels'], o['isolated']")" "(0, 0, 0)"
python3 - out <<'PYTHON' || fail "physics of the read-out's clusters is out of bounds"
import json, sys
t = json.load(open(sys.argv[1]))["truth"]
c = t["categories"]
assert t["mc_hits_found"] == t["mc_hits"] > 20000, t["mc_hits"]
assert c["velo_eta25"]["efficiency"] >= 0.9825 and c["long_eta25"]["efficiency"] >= 0.998, c
assert c["velo_eta25"]["clone_rate"] < 0.0085 and t["ghost_rate"] < 0.006, t["ghost_rate"]
PYTHON
compared=$((compared + 1))
checksum=$(key out "o['checksum']")

# Only clusters: they are used and told, also with --quiet; the same for every thread, batch, instruction set and order.
for args in "" "--quiet" "--threads 3 --batch 1" "--threads 2 --batch 3" "--report r.html"; do
    # shellcheck disable=SC2086
    reconstruct retina.mdf $args
    line retina.mdf 10 | want_err
    equal "retina $args" "$(banks out)" "('auto', 0, 10, 20652, {})"
    equal "retina $args" "$(key out "o['checksum']")" "$checksum"
done
for target in scalar sse4 avx2 avx512; do
    SLUICE_SIMD=$target "$sluice" version >known 2>&1 || continue
    export SLUICE_SIMD=$target
    reconstruct retina.mdf
    unset SLUICE_SIMD
    equal "retina, $target" "$(key out "o['checksum']")" "$checksum"
done
reconstruct shuffled.mdf --banks retina
want_silent
equal shuffled "$(key out "o['checksum']")" "$checksum"
run velo retina.mdf --geometry velo_geometry.bin --table t.csv
want 0
line retina.mdf 10 | want_err
grep -qx 'banks          10 events with clusters of the read-out, 0 with super-pixels' out || fail "'$last' printed: $(cat out)"
grep -qx 'retina_events,10,,1' t.csv || fail "'$last' wrote: $(cat t.csv)"

# Either in turn: each event has the hits of what it has.
reconstruct retina.mdf
cp out retina.json
reconstruct turns.mdf
line turns.mdf 5 | want_err
equal turns "$(key out "o['banks']['superpixel_events'], o['banks']['retina_events'], o['faults']")" "(5, 5, {})"
cp out turns.json
equal "clusters in turn" "$(key turns.json "o['clusters_per_event']")" "$(python3 -c '
import json
p, r = (json.load(open(n + ".json"))["clusters_per_event"] for n in ("pixels", "retina"))
print([r[e] if e % 2 else p[e] for e in range(10)])')"
reconstruct turns.mdf --threads 3 --batch 1
equal "turns in batches of one" "$(key out "o['checksum']")" "$(key turns.json "o['checksum']")"

# Damage: a bank, a bank, a word; the others count.
reconstruct damaged.mdf
equal damaged "$(key out "o['banks']['retina_events'], o['faults']")" \
    "(10, {'bank_version': 1, 'bank_length': 1, 'superpixel_address': 1})"
equal "clusters of the other events" "$(key out "o['clusters_per_event'][:3] + o['clusters_per_event'][4:]")" \
    "$(key retina.json "o['clusters_per_event'][:3] + o['clusters_per_event'][4:]")"

# Nothing of what was asked for: an error, no table, and no file replaced.
nothing() { # WHAT INPUT ARGS...
    echo before >out.h5
    run velo "${@:2}" --quiet -o out.h5
    want 1
    want_no_out
    local fault="no VELO bank of a wanted type (63, 8 or 73) in the event"
    printf 'sluice velo: %s\n' "$2: none of its 10 events has $1" "$2: 10 × event_no_vp ($fault), first at event 0" \
        "no event has VELO banks: no file was written" | want_err
    equal "the earlier file" "$(cat out.h5)" before
}
nothing "super-pixels (banks of type 63 or 8) or clusters of the read-out (73)" none.mdf
nothing "super-pixels (banks of type 63 or 8)" retina.mdf --banks superpixels
nothing "clusters of the read-out (banks of type 73)" pixels.mdf --banks retina
run velo none.mdf pixels.mdf --json # the other input counts
want 1
equal "beside an input with nothing" "$(key out "o['clusters'], o['faults']")" "(20085, {'event_no_vp': 10})"

# Some events without: faults, as before.
reconstruct some.mdf --quiet
{
    line some.mdf 2
    echo "sluice velo: some.mdf: 8 × event_no_vp (no VELO bank of a wanted type (63, 8 or 73) in the event), first at event 2"
} | want_err
equal some "$(key out "o['banks']['retina_events'], o['faults']")" "(2, {'event_no_vp': 8})"
passed
