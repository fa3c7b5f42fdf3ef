#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sluice-mpi label --volume on 1 to 3 ranks: labels, features, JSON and checksum are those of sluice label; what cannot be had is told.
. "$(dirname "$0")/mpi_common.sh"

python3 - <<'P' || fail "numpy"
import numpy as np
rng = np.random.default_rng(4)
np.save('noise.npy', (rng.random((13, 17, 29)) < 0.12).astype(np.uint8))
comb = np.zeros((11, 9, 9), np.uint8); comb[:, ::2, ::2] = 3; comb[-1] = 3
np.save('comb.npy', comb)
np.save('one.npy', np.ones((1, 5, 6), np.uint8))
P
"$sluice" label --volume noise.npy -q -o noise.tif || fail "noise.tif"

# ranks "N..." ARGS...: sluice label, and the same over each number of ranks.
ranks() {
    local many=$1 n
    shift
    run label --volume "$@" -o w.npy --stats w.csv --json
    want 0
    sed '/"seconds"/d' out >w.json
    for n in $many; do
        mpi "$n" label --volume "$@" -o n.npy --stats n.csv --json
        want 0
        sed '/"seconds"/d' out | same w.json
        cmp w.npy n.npy && cmp w.csv n.csv || fail "'$last': other labels or features"
        rm n.npy n.csv
    done
}
ranks "1 2 3" noise.npy --connectivity 26 --features area,box,first,sums,second,centroid
ranks "3" noise.tif --connectivity 6 --min-area 2 --filter 'z_min>2'
ranks "2" comb.npy --connectivity 18 --inverse --border touching
ranks "2" one.npy
mpi 2 label --volume noise.npy --equal --json
want 2
grep -q -e '--volume --equal cannot be had over ranks' err || fail "$(cat err)"
