#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sluice-mpi label on 1 to 4 ranks: files, tables and JSON are those of sluice label; what cannot be had, and what fails, is told once.
. "$(dirname "$0")/mpi_common.sh"

"$sluice" simulate image --size 211x97 --density 41 --granularity 3 --seed 5 -q -o a.pgm || fail "simulate"
"$sluice" simulate image --size 130x60 --density 55 --granularity 1 --seed 6 -q -o b.npy || fail "simulate"
# Combs and spirals across all strips, pages, one row, more ranks than rows, bits, floats, colours, strips of TIFF by the writer.
python3 - <<'P' || fail "numpy"
import numpy as np
w, h = 90, 70
comb = np.zeros((h, w), np.uint8); comb[:, ::2] = 9; comb[-1] = 9
spiral = np.zeros((h, w), np.uint8)
y, x, dy, dx, a, b, c, d = 0, 0, 0, 1, 0, 0, h - 1, w - 1
while a <= c and b <= d:
    spiral[a, b:d + 1] = 200; spiral[a:c + 1, d] = 200; spiral[c, b:d + 1] = 200; spiral[a + 2:c + 1, b] = 200
    if a + 2 <= c: spiral[a + 2, b:b + 3] = 200
    a += 2; b += 2; c -= 2; d -= 2
np.save('stack.npy', np.stack([comb, comb[::-1], spiral, np.full((h, w), 7, np.uint8), np.zeros((h, w), np.uint8)]))
np.save('row.npy', comb[:1])
np.save('rows.npy', spiral[:3].astype('>u2'))
g = np.random.default_rng(3).normal(0, 1, (61, 47)); g[::7, ::5] = np.nan
np.save('float.npy', g.astype('f4'))
np.save('nan.npy', np.full((9, 9), np.nan, 'f4'))
low = np.zeros((2, 9, 9), 'f4'); low[0, 8, 3] = 0.5; low[1, 1] = -2
np.save('low.npy', low)
open('bits.pbm', 'wb').write(b'P4\n90 70\n' + np.packbits(comb > 0, axis=1).tobytes())
open('cut.pgm', 'wb').write(b'P5\n90 70\n255\n' + spiral.tobytes()[:-95])
P
"$sluice" convert stack.npy stack.tif >/dev/null 2>&1 || "$sluice" label stack.npy -q -o stack.tif || fail "convert"

# What depends on time and on the program is not compared.
without_times() { sed -E 's/"seconds": [0-9.e+-]+/"seconds": 0/; s/ +[0-9]+\.[0-9]{3}( *)$/ 0/' "$1"; }

# ranks "N..." ARGS...: sluice label, and the same over each number of ranks: output, JSON, features.
ranks() {
    local many=$1 n
    shift
    rm -f one.npy one.csv one.h5
    run label "$@" -o one.npy --stats one.csv --json
    want 0
    without_times out >one.json
    cp err one.err
    for n in $many; do
        mpi "$n" label "$@" -o n.npy --stats n.csv --json
        want 0
        without_times out | same one.json
        sed 's/^sluice-mpi/sluice/' err | same one.err
        cmp one.npy n.npy || fail "'$last': another label image"
        same n.csv <one.csv
        rm n.npy n.csv
        want_no_file ./*.tmp-*
    done
}
ranks "1 2 3 4" a.pgm
ranks "2 4" a.pgm --connectivity 4 --inverse --min-area 3 --features area,box,first,sums,centroid --threads 2
ranks "3" b.npy --algorithm rosenfeld-dt --max-area 40 --border inside
ranks "4" b.npy --connectivity 4 --border touching --threshold otsu
ranks "3" stack.npy --connectivity 4
ranks "4" stack.tif
ranks "2" row.npy
ranks "4" rows.npy --threshold 150
ranks "1 3" low.npy
grep -q 'low.npy: page 1: nothing is at or above 1' one.err || fail "$(cat one.err)"
ranks "3" float.npy --threshold otsu
ranks "2" float.npy --threshold 0.7
ranks "3" bits.pbm

# Several files, a table, the note beside a file, other files of features.
run label a.pgm b.npy
want 0
sed -E 's/ *[0-9.]+ *$//' out >table
mpi 3 label a.pgm b.npy
want 0
sed -E 's/ *[0-9.]+ *$//' out | same table
run label a.pgm --stats one.h5 -q
want 0
mpi 2 label a.pgm --stats n.h5 -q
want 0
want_no_out
want_silent
equal "checksum" "$(h5dump -a /checksum n.h5 | grep '(0)')" "$(h5dump -a /checksum one.h5 | grep '(0)')"
mpi 2 label a.pgm -o n.npy
want 0
want_no_out
equal "lines" "$(wc -l <err)" 1
rm -f n.npy

# A page without a threshold is told, and is one without components.
run label nan.npy --threshold otsu -o one.npy --json
want 1
without_times out >one.json
sed -i 's/^sluice/sluice-mpi/' err
cp err one.err
mpi 3 label nan.npy --threshold otsu -o n.npy --json
want 1
without_times out | same one.json
same err <one.err
cmp one.npy n.npy || fail "'$last': another label image"
rm -f n.npy

# Damage is told as by one process, and leaves nothing.
run label cut.pgm -o one.npy -q
want 1
sed 's/^sluice/sluice-mpi/' err >cut.err
mpi 3 label cut.pgm -o n.npy -q
want 1
want_no_out
same err <cut.err
want_no_file n.npy n.npy.tmp-*
mpi 2 label none.pgm -o n.npy
want 1
want_err <<<"sluice-mpi label: none.pgm: No such file or directory"
want_no_file n.npy n.npy.tmp-*
# So does a disk that is full for one rank alone (a limit that its own segments of MPI stay below); what had the name before stays.
"$sluice" simulate image --size 4000x3000 --density 30 --granularity 9 --seed 7 -q -o large.pgm || fail "simulate"
cat >limited.sh <<'L'
[ "$OMPI_COMM_WORLD_RANK" != 2 ] || ulimit -f 40000
exec "$@"
L
echo old >n.npy
last="sluice-mpi label with a limit for rank 2"
launch "$mpiexec" 3 bash limited.sh "$sluice_mpi" label large.pgm -q -o n.npy >out 2>err </dev/null
status=$?
without_launcher err
want 1
want_err <<<"sluice-mpi label: n.npy: cannot write: File too large"
same n.npy <<<old
want_no_file n.npy.tmp-*

# A rank that is killed ends the run, and the half of a file goes with process 0, a moment after it. The run takes longer than that.
cat >killed.sh <<'L'
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || exec timeout -s KILL 1.5 "$@"
exec "$@"
L
last="sluice-mpi label of many files, of which rank 1 is killed"
# shellcheck disable=SC2046 # they are words
launch "$mpiexec" 3 bash killed.sh "$sluice_mpi" label $(yes large.pgm | head -n 99) -q -o n.npy >out 2>err </dev/null
[ $? -ne 0 ] || fail "'$last': exit status 0"
for _ in $(seq 100); do
    [ -n "$(ls n.npy.tmp-* 2>/dev/null)" ] || break
    sleep 0.1
done
same n.npy <<<old
want_no_file n.npy.tmp-*
rm large.pgm

# What cannot be had.
refused() { # WORDS ARGS...; by a process alone, which starts sooner
    last="sluice-mpi label ${*:2}"
    "$sluice_mpi" label "${@:2}" >out 2>err </dev/null
    status=$?
    want 2
    want_no_out
    want_err <<<"sluice-mpi label: $1; see sluice-mpi label --help"
}
refused "--preview cannot be had over ranks; sluice label has it" a.pgm --preview x.png
refused "--stream cannot be had over ranks; sluice label has it" a.pgm --stream
refused "--split cannot be had over ranks; sluice label has it" a.pgm --split 1
refused "--part cannot be had over ranks; sluice label has it" a.pgm --part 0/2
refused "--device cannot be had over ranks; sluice label has it" a.pgm --device cuda
refused "--output is .npy over ranks, not 'x.tif': each writes its rows" a.pgm -o x.tif
refused "--features over ranks are area, box, first, sums and centroid: euler needs pixels on both sides of a border" \
    a.pgm --stats x.csv --features area,euler
refused "standard input is no regular file, of which every rank reads its rows" -
mpi 2 label a.pgm --connectivity 6 -o x.npy
want 2
want_err <<<"sluice-mpi label: --connectivity takes 4 or 8, not '6'; see sluice-mpi label --help"
want_no_file x.*

if has_mpich; then
    rm -f one.npy
    run label a.pgm -o one.npy -q
    want 0
    mpich 3 label a.pgm -o n.npy -q
    want 0
    want_silent
    cmp one.npy n.npy || fail "'$last': another label image"
fi
passed
