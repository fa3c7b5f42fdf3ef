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
np.save('two.npy', (rng.random((2, 17, 29)) < 0.3).astype(np.uint8))
grey = rng.integers(0, 60000, (13, 17, 29)).astype(np.uint16)
np.save('grey.npy', grey)
real = (grey * 0.731 + rng.random(grey.shape)).astype(np.float32); real[5, 3, 2] = np.nan
np.save('real.npy', real)
np.save('wild.npy', np.ldexp(real, rng.integers(-40, 40, real.shape)))
np.save('real9.npy', real[:11, :9, :9])
np.save('one9.npy', real[:1, :5, :6])
np.save('short.npy', grey[:12])
np.save('values.npy', (rng.integers(0, 3, (13, 17, 29)) * (rng.random((13, 17, 29)) < 0.7)).astype(np.uint64) << 40)
np.save('within.npy', (rng.random((13, 17, 29)) < 0.8).astype(np.uint8))
import os
os.mkdir('turned')
for z in range(13):
    np.save('turned/%02d.npy' % z, grey[z].astype(np.uint8 if z < 7 else np.float32))
os.mkdir('slices')
for z in range(13):
    open('slices/%d.pgm' % z, 'wb').write(b'P5 29 17 255\n' + (grey[z] >> 8).astype(np.uint8).tobytes())
P
"$sluice" label --volume noise.npy -q -o noise.tif || fail "noise.tif"

# What is said, by whichever of the two.
said() { sed 's/^sluice-mpi label: /sluice label: /' err; }
# ranks "N..." ARGS...: sluice label, and the same over each number of ranks; what is said, too.
ranks() {
    local many=$1 n
    shift
    run label --volume "$@" -o w.npy --stats w.csv --json
    want 0
    sed '/"seconds"/d' out >w.json
    said >w.err
    for n in $many; do
        mpi "$n" label --volume "$@" -o n.npy --stats n.csv --json
        want 0
        sed '/"seconds"/d' out | same w.json
        said | same w.err
        cmp w.npy n.npy && cmp w.csv n.csv || fail "'$last': other labels or features"
        rm n.npy n.csv
    done
}
ranks "1 3" noise.npy --connectivity 26 --features area,box,first,sums,second,centroid
ranks "3" noise.tif --connectivity 6 --min-area 2 --filter 'z_min>2'
ranks "2" comb.npy --connectivity 18 --inverse --border touching
ranks "2" one.npy
# What all have to agree on: values, borders that are joined, a histogram, the largest, grey values.
ranks "3" values.npy --equal --periodic x,y --connectivity 26 --intensity grey.npy --features area,box,first,second,grey,spread --largest 7
ranks "3" grey.npy --threshold otsu --filter 'grey_std>=1000' --features area,grey,spread
ranks "3" slices --threshold 180:230 --mask within.npy --connectivity 6 --features area,grey
# Floats are summed in the order of the whole's voxels: components that are in all slabs, in one, joined by a later one, round a border.
ranks "1 2 3" grey.npy --threshold 40000 --intensity wild.npy --features area,grey,spread
ranks "3" comb.npy --inverse --connectivity 18 --intensity real9.npy --filter 'grey_std>0' --features grey
ranks "2 3" real.npy --threshold 30000.5 --connectivity 6 --periodic x,z --features spread --filter 'grey_mean>=40000.25'
ranks "3" values.npy --equal --intensity wild.npy --largest 20
ranks "2" one.npy --intensity one9.npy
ranks "2" grey.npy --local mean:5 --periodic y --pixel-size 2,3,5um
# The last slice and the first one are neighbours, also of one process and where there is one slice or more processes than slices.
ranks "1 2 3" noise.npy --periodic z --connectivity 18 --features area,box,first,second --border inside
ranks "2" values.npy --equal --periodic x,y,z --connectivity 6
ranks "3" two.npy --periodic x,y,z --min-area 2
ranks "2" one.npy --periodic z

# Hysteresis and holes are of the whole: a seed and a component in different slabs, holes over borders, of each connectivity.
python3 - <<'P' || fail "numpy"
import numpy as np
rng = np.random.default_rng(9)
walls = np.full((9, 12, 13), 5, np.uint8)
walls[1:8:2, 2:10:3, 2:11:3] = 0; walls[2:7, 5, 5] = 0; walls[3:, 8, 8] = 0; walls[4, 2, 2:6] = 0
np.save('walls.npy', walls)
np.save('noisy.npy', rng.random((12, 14, 15)).astype(np.float32))
np.save('bits.npy', rng.random((7, 9, 11)) < 0.3)
np.save('noise12.npy', rng.integers(0, 99, (12, 14, 15)).astype(np.uint8))
P
for n in 6 18 26; do
    ranks "3" noisy.npy --connectivity $n --hysteresis 0.$((n == 6 ? 72 : 85)):0.97 --features area,box
    ranks "2" noisy.npy --connectivity $n --threshold 0.$((n == 6 ? 1 : 4)) --fill-holes --features area
    ranks "3" walls.npy --connectivity $n --fill-holes --max-hole 4 --features area
done
ranks "1 3" walls.npy --fill-holes
ranks "2" noisy.npy --hysteresis 0.6:0.9 --fill-holes --max-hole 3 --periodic x,z --connectivity 6 --features area,grey --intensity noise12.npy
ranks "3" grey.npy --hysteresis 50000:59900 --mask within.npy --connectivity 18
ranks "3" one.npy --hysteresis 1:2 --fill-holes
ranks "2" bits.npy --hysteresis 1:9 --fill-holes
ranks "3" slices --hysteresis 210:400 --inverse

# Floats are compared with a float, by all rules.
python3 -c "
import numpy as np
np.save('tenths.npy', np.random.default_rng(3).choice((0, 0.1, 0.3, 0.7), (7, 9, 11), p=(0.7, 0.1, 0.1, 0.1)).astype(np.float32))
" || fail "numpy"
for rule in "--threshold 0.7" "--threshold 0.1:0.1" "--hysteresis 0.3:0.7" "--threshold 0.7 --fill-holes"; do
    # shellcheck disable=SC2086 # words on purpose
    ranks "3" tenths.npy $rule --connectivity 6
    [ "$(wc -l <w.csv)" -gt 20 ] || fail "'$last': few components"
done

# The mask: with labels, alone, of a volume with fewer slices than processes; nothing is left of it where the run fails.
masks() {
    local n=$1
    shift
    run label --volume "$@" -q --write-mask w.npy
    want 0
    mpi "$n" label --volume "$@" -q --write-mask n.npy
    want 0
    cmp w.npy n.npy || fail "'$last': another mask"
    rm n.npy
    mpi "$n" label --volume "$@" -q --write-mask n.npy -o l.npy --stats n.csv
    want 0
    cmp w.npy n.npy || fail "'$last': another mask beside labels"
    run label --volume "$@" -q -o w.npy
    cmp w.npy l.npy || fail "'$last': other labels beside a mask"
    rm n.npy l.npy n.csv
}
masks 3 noisy.npy --hysteresis 0.85:0.97 --fill-holes --min-area 3
masks 2 grey.npy --threshold 40000 --largest 9 --connectivity 6
masks 3 two.npy
mpi 3 label --volume noise.npy --intensity short.npy -o l.npy --write-mask n.npy --stats n.csv
want 1
want_no_file n.npy l.npy n.csv ./*.tmp-*

# Fractions below the threshold if none is asked for are told: of the whole, not of a slab.
python3 -c "
import numpy as np
part = np.zeros((4, 5, 6), np.float32); part[3, 1, 2] = 0.5
np.save('below.npy', part); part[0, 1, 2] = 1.5
np.save('above.npy', part); np.save('zero.npy', part * 0)
" || fail "numpy"
ranks "1 3" below.npy
grep -q '^sluice label: below.npy: nothing is at or above 1' w.err || fail "$(cat w.err)"
ranks "3" above.npy --min-area 2
equal "said of a component that is left out" "$(cat w.err)" ""
ranks "2" zero.npy
ranks "3" below.npy --threshold 0.5

# What there is to tell of slices is told of all of them, whoever read them, and counted.
python3 - <<'P' || fail "PNG"
import os, struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
os.mkdir('alpha')
for z in range(7):
    rows = b''.join(b'\0' + bytes(((x * 37 + y * 11 + z * 5) % 251, 255 - z)[k] for x in range(9) for k in range(2)) for y in range(6))
    open('alpha/%d.png' % z, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 9, 6, 8, 4, 0, 0, 0))
                                         + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
P
ranks "1 3" alpha --threshold 150
equal "slices that are told" "$(grep -c 'alpha is not read' w.err) $(grep -c '"warnings": 7' w.json)" "7 1"
ranks "3" alpha --threshold 150 --intensity alpha
equal "slices that are told, beside a volume" "$(grep -c 'alpha is not read' w.err) $(grep -c '"warnings": 14' w.json)" "14 1"
# Bytes behind a volume, by the last process, which may have no slice.
python3 - <<'P' || fail "NIfTI"
import struct
head = bytearray(352)
struct.pack_into('<i', head, 0, 348)
struct.pack_into('<8h', head, 40, 3, 7, 5, 4, 1, 1, 1, 1)
struct.pack_into('<hh', head, 70, 2, 8)
struct.pack_into('<f', head, 108, 352)
head[344:348] = b'n+1\0'
open('behind.nii', 'wb').write(bytes(head) + bytes(i * 7 % 5 // 3 for i in range(7 * 5 * 4)) + b'more')
P
ranks "1 3 5" behind.nii
grep -q 'bytes behind the last slice are not read' w.err || fail "$(cat w.err)"

# Without columns, which the largest need.
run label --volume noise.npy --largest 3 -o w.npy -q
want 0
mpi 3 label --volume noise.npy --largest 3 -o n.npy -q
want 0
cmp w.npy n.npy || fail "--largest without --stats"

mpi 1 label --volume noise.npy --write-mask x.tif --json
want 2
grep -q -e "--write-mask is .npy over ranks, not 'x.tif'" err || fail "$(cat err)"
mpi 1 label noise.npy --write-mask x.npy --json
want 2
grep -q -e '--write-mask cannot be had over ranks' err || fail "$(cat err)"
mpi 1 label --volume noise.npy --split 1 --json
want 2
grep -q -e '--split cannot be had over ranks' err || fail "$(cat err)"
mpi 2 label --volume noise.npy --intensity turned --stats x.csv
want 1
grep -q '^sluice-mpi label: noise.npy: turned: slices of 29x17 of f32, and the first is 29x17 of u8: no volume' err || fail "$(cat err)"
mpi 3 label --volume noise.npy --intensity short.npy --stats x.csv
want 1
grep -q 'short.npy: 29x17x[0-9]* voxels, and noise.npy has 29x17x[0-9]*' err || fail "$(cat err)"
want_no_file x.csv
