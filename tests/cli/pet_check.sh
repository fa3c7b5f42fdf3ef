#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The check of a scanner's cabling from the command line: frames that wrong cables have changed, lists of pairs, what is written.
. "$(dirname "$0")/common.sh" "$@"

run simulate pet --scanner mouse20 --source 20,10,5,0,0,2e6 --seconds 0.3 --seed 8 --bare -q -o good.raw
want 0
cat >change.py <<'P'
# Modules 3 and 7 are swapped, 11 is late by 1200 ps, 16 is silent.
import struct
data, out = open("good.raw", "rb").read(), bytearray()
for at in range(0, len(data), 16):
    f = bytearray(data[at:at + 16])
    m = f[1]
    if m == 16:
        continue
    f[1] = {3: 7, 7: 3}.get(m, m)
    if m == 11:
        f[2:10] = struct.pack(">Q", struct.unpack(">Q", f[2:10])[0] + 1200)
    out += f
open("bad.raw", "wb").write(out)
P
python3 change.py || fail "cannot change frames"

# ---- nothing is wrong ------------------------------------------------------------------------------------------------------
run pet check good.raw --scanner mouse20 --source 20,10,5
want 0
sed -E 's/^[0-9]+ pairs/N pairs/; s/\((20|19)\.[0-9]+, (10|9)\.[0-9]+, (5|4)\.[0-9]+\)/(P)/' -i out
want_out <<'T'
N pairs of 20 modules, 0 delayed; lines meet at (P) mm
no error was found; blocks and crystals that are swapped within a module are not looked for
T
want_silent
run pet check good.raw --scanner mouse20 -q
want 0
want_silent

# ---- errors ------------------------------------------------------------------------------------------------------------------
run pet check bad.raw --scanner mouse20 --source 20,10,5 --png bad.png -o bad.h5
want 1
sed -E 's/^[0-9]+ pairs.*$/PAIRS/; s/by 1[12][0-9]+ ps \(\+- [0-9]+\)/by T/' -i out
want_out <<'T'
PAIRS
  silent     module 16 is silent: it sends nothing
  swapped    modules 3 and 7 are swapped
  late       module 11 is late by T
T
head -c 8 bad.png | od -An -c | grep -q '211   P   N   G' || fail "bad.png is no PNG"
python3 - <<'P' || fail "bad.h5 is not as it should be"
import h5py, numpy
with h5py.File("bad.h5") as f:
    prompt, times = f["prompt"][:], f["times"][:]
    assert f.attrs["errors"] == 3 and list(f.attrs["kinds"]) == ["silent", "swapped", "late"]
    assert prompt.shape == (20, 20) and (prompt == prompt.T).all() and prompt[16].sum() == 0
    assert times.shape == (20, 20, 100) and (times == times.transpose(1, 0, 2)[:, :, ::-1]).mean() > 0.9
    assert f["place"][3] == 7 and f["place"][7] == 3 and abs(f["offset"][11] - 1200) < 60 and numpy.isnan(f["offset"][16])
    assert abs(f["source"][:] - [20, 10, 5]).max() < 0.3 and f["singles"].shape == (20, 4)
P
run pet check bad.raw --scanner mouse20 -q
want 1
want_no_out
grep -qx "sluice pet check: modules 3 and 7 are swapped" err || fail "it said: $(cat err)"
run pet check bad.raw --scanner mouse20 --json
want 1
equal "JSON" "$(key out "o['errors'], [f['kind'] for f in o['findings']], len(o['prompt']), o['findings'][1]['module'], o['findings'][1]['other']")" \
    "(3, ['silent', 'swapped', 'late', 'undecided'], 20, 3, 7)"

# ---- lists of pairs ------------------------------------------------------------------------------------------------------------
run pet run bad.raw --scanner mouse20 --window 4ns -o bad.cdh -q
want 0
run pet run bad.raw --scanner mouse20 --window 4ns -o list.h5 -q
want 0
run pet check bad.cdh --source 20,10,5
want 1
echo "sluice pet check: bad.cdh names the scanner mouse20: its geometry is taken" | want_err
grep -qx "  swapped    modules 3 and 7 are swapped" out || fail "it found: $(cat out)"
grep -qx "  silent     module 16 is silent: no pair is of it" out || fail "it found: $(cat out)"
run pet check list.h5 -q
want 1
grep -q "module 11 is late by 1" err || fail "it said: $(cat err)"

# ---- what is refused -------------------------------------------------------------------------------------------------------------
refuse()
{
    local wanted=$1
    shift
    run pet check "$@"
    want 2
    echo "sluice pet check: $wanted; see sluice pet check --help" | want_err
}
refuse "the scanner must be known: give --tables or --scanner" good.raw
refuse "--source takes X,Y,Z in mm, as 20,10,5, not '20,10'" good.raw --scanner mouse20 --source 20,10
refuse "--energies is of raw frames, and this is a list of pairs" list.h5 --energies 400:600
refuse "--series is of raw frames, and this is a list of pairs" list.h5 --series
refuse "of lists of pairs one is read, and several are named: pet run takes several files of frames, of which one list comes" list.h5 list.h5
refuse "--output list.h5 would overwrite the input list.h5" list.h5 -o list.h5
refuse "--output bad.cdf would overwrite the input bad.cdf" bad.cdh -o bad.cdf

run pet check none.raw --scanner mouse20
want 1
passed
