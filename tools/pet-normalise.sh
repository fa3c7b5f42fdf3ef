#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pet-normalise.sh SLUICE [PAIRS]: efficiencies of the crystals of mouse20 from about so many generated pairs (10^8), against the known
# ones: by how much they are off, and what of that chance explains. 10^8 take some ten minutes, and 4 GB in a folder that is removed.
set -e
sluice=$(realpath "$1")
pairs=${2:-100000000}
work=$(mktemp -d -p "${TMPDIR:-/tmp}")
trap 'rm -rf "$work"' EXIT
cd "$work"
source=radius=45mm,length=60mm
seconds=$(awk "BEGIN { print $pairs / 430000 }") # so many pairs a second are found
words="--source 0,0,0,45,60,1e7 --efficiency 0.7 --efficiency-spread 0.1 --scatter 0 --dead-time 0 --threshold 0 --seed 1 -q"
# shellcheck disable=SC2086 # words
"$sluice" simulate pet $words --seconds 0.001 --bare -o first.bin --write-tables true.h5
# shellcheck disable=SC2086
"$sluice" simulate pet $words --seconds "$seconds" --bare -o - |
    "$sluice" pet run - --tables true.h5 --window 2ns --delayed 200ns -q --output pairs.h5
"$sluice" pet normalise pairs.h5 --tables true.h5 --source $source -o found.h5 --threads 0 --json >found.json
/usr/bin/python3 - <<'P'
import h5py, json, numpy as np
told = json.load(open("found.json"))
true, found = (h5py.File(n)["efficiency"][:].astype(float) for n in ("true.h5", "found.h5"))
rms = np.sqrt(np.mean((found / true - 1) ** 2))
rings = np.sqrt(np.mean((found / true - 1).reshape(26, 520).mean(1) ** 2))
print(f"{told['prompts'] - told['delayeds']} pairs: rms {100 * rms:.3f} %, of which chance {100 * told['chance']:.3f} %; "
      f"of rings {100 * rings:.3f} %, of which chance {100 * told['chance'] / 520 ** 0.5:.3f} %")
P
