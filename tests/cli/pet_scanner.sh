#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The guide for a new scanner: its commands run as they stand there, its scanner is found again, and a point source is
# where it was put.
. "$(dirname "$0")/common.sh" "$@"

guide=$source/docs/howto/pet-scanner.md
mkdir bin
ln -s "$(realpath "$sluice")" bin/sluice
awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$guide" >guide.sh
grep -c '^sluice pet' guide.sh | { read -r n && [ "$n" -ge 5 ]; } || fail "the guide has too few commands"
# The two commands at its head.
sed -n 's/^    \(sluice simulate pet --rate .*\|sluice pet run run.raw .*\)$/\1/p' "$guide" >two.sh
[ "$(wc -l <two.sh)" -eq 2 ] || fail "the guide does not begin with two commands"
for script in two.sh guide.sh; do
    last="the guide's $script"
    PATH=$PWD/bin:$PATH bash -eu "$script" >out 2>err || fail "$last: $(cat out err)"
    compared=$((compared + 1))
done
for name in mouse.cdh mouse.cdf mouse.hscan mouse.lut flood.png own.h5 scan.cdh scan.cdf scan.hscan scan.lut rates.svg rates.csv \
    scan-sinogram.hs scan-sinogram.s scan.clm.safir scan.map.txt scan.safir.par scan.template.hs; do
    compared=$((compared + 1))
    [ -s $name ] || fail "the guide leaves no $name"
done
equal "the name in the header" "$(head -n 1 scan.cdh)" "Scanner name: scan"

# The source is at y = 10 mm: straight lines of pairs pass by it, and those at right angles to y are 10 mm from the axis.
python3 - <<'P' || fail "the source is not where it was put"
import math, struct
position = [p[:3] for p in struct.iter_unpack("<6f", open("scan.lut", "rb").read())]
n, near = 0, 0
for ms, tof, a, b in struct.iter_unpack("<IfII", open("scan.cdf", "rb").read()):
    (x1, y1, z1), (x2, y2, z2) = position[a], position[b]
    dx, dy = x2 - x1, y2 - y1
    distance = abs(dx * (10 - y1) + dy * x1) / math.hypot(dx, dy)
    n += 1
    near += distance < 3
assert n > 100000 and near > 0.6 * n, (n, near)
P
compared=$((compared + 1))
# Tables and words are one scanner; a name is not in the header where there is none.
run pet run scan.raw --tables own.h5 --energies 430:600 --window 4ns --json
want 0
equal "what was lost" "$(key out "[o['convert'][k] for k in ('module', 'unit', 'position')], o['sort']['late']")" "([0, 0, 0], 0)"
for words in channels=10 channels=10,blocks=1x4,crystals=8x8,radius=60mm,pitch=x; do
    run pet run scan.raw --scanner $words
    want 2
    want_no_out
    grep -q "^sluice pet run: --scanner: a scanner " err || fail "it said: $(cat err)"
done
passed
