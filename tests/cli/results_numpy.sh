#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Results for NumPy: what numpy.load finds in NPY and NPZ is what h5py finds in the HDF5 file of the same run.
. "$(dirname "$0")/common.sh" "$@"
python=/usr/bin/python3 # Debian's, which has Debian's packages
"$python" -c 'import h5py, numpy' 2>/dev/null || {
    echo "skipped: Debian's python3-h5py is not installed"
    exit 77
}
cat >like.py <<'P'
"""like.py RESULT.h5 RESULT.npz|RESULT.npy...: the same columns, names, types and bits?"""
import sys, zipfile
import h5py, numpy
hdf5 = h5py.File(sys.argv[1], "r")
wanted = {f"{g}.{c}": numpy.asarray(hdf5[g][c]) for g in hdf5 for c in hdf5[g]}
for path in sys.argv[2:]:
    mine = numpy.load(path)
    if path.endswith(".npz"):
        assert zipfile.ZipFile(path).testzip() is None
        columns = {name: mine[name] for name in mine.files}
        for group in "coincidences", "singles":  # rows are no events
            wanted.pop(group + ".event_offset", None)
    else:
        columns = {f"{list(hdf5)[0]}.{name}": mine[name] for name in mine.dtype.names}
        wanted = {name: wanted[name] for name in wanted if not name.endswith(".event_offset")}
        assert mine.dtype.itemsize == sum(mine.dtype[name].itemsize for name in mine.dtype.names)
    assert set(columns) == set(wanted), (path, set(columns) ^ set(wanted))
    for name, theirs in wanted.items():
        assert columns[name].dtype == theirs.dtype and columns[name].tobytes() == theirs.tobytes(), (path, name)
P
like() {
    compared=$((compared + $# - 1))
    last="like.py $*"
    "$python" like.py "$@" || fail "$last"
}

make_events a.mdf 40 7
for threads in 1 3; do
    forms "h5 npz" a velo a.mdf --truth -q --threads $threads -o
    like a.h5 a.npz
    [ $threads = 3 ] || cp a.npz one.npz
done
cmp a.npz one.npz || fail "threads change the archive"
forms "h5 npz npy" events velo a.mdf -q --columns events --batch 7 -o
like events.h5 events.npz events.npy
"$sluice" simulate pixels -q --frames 300 --size 256x256 --seed 3 -o frames.csv || fail "no frames"
forms "h5 npz npy" frames cluster frames.csv --size 256x256 -q --features all -o
like frames.h5 frames.npz frames.npy
"$sluice" simulate image -q --size 300x200 -o page.png || fail "no image"
forms "h5 npz" labels label page.png -q --stats
like labels.h5 labels.npz
run label page.png -q --stats labels.h5 --columns components
want 0
run label page.png -q --stats labels.npy
want 0
like labels.h5 labels.npy
"$sluice" simulate pet -q --fast --rate 4e6 --seconds 0.02 --pair-share 0.3 --seed 7 -o p.raw --write-tables p.tables.h5 || fail "no pairs"
forms "h5 npz npy" pairs pet run p.raw --tables p.tables.h5 --delayed 100ns -q -o
like pairs.h5 pairs.npz pairs.npy
for to in npz npy; do
    run pet list --format hdf5 pairs.h5 -q --to $to -o again.$to
    want 0
done
like pairs.h5 again.npz again.npy
forms "h5 npz npy" singles pet convert p.raw --tables p.tables.h5 -q -o
like singles.h5 singles.npz singles.npy
for file in singles.npz singles.npy; do
    run pet sort $file -o x.bin
    want 1
done
echo "sluice pet sort: singles.npy: byte 0: this is a NumPy file, not singles" | want_err

# What there is not.
run info pairs.npy pairs.npz
want 1
same err <<'E'
sluice info: pairs.npy: byte 0: this is an NPY file: an array, and no raw events
sluice info: pairs.npz: byte 0: this is a zip archive (NPZ is one): unpack it first
E
run velo a.mdf -o x.npy
want 2
echo "sluice velo: --output x.npy: npy has rows of one table, and no events: npz has all columns of all groups; see sluice velo --help" | want_err
for form in npy npz; do
    run velo a.mdf -o - --form $form --columns events
    want 2
    echo 'sluice velo: --output - needs --form arrow-stream; see sluice velo --help' | want_err
done
mkfifo pipe
for form in npy npz; do
    (timeout 20 cat pipe >/dev/null &)
    run velo a.mdf -q -o pipe --form $form --columns events
    want 1
    same err <<<"sluice velo: pipe: $form needs a file$([ $form = npz ] || echo ": its beginning is written last")"
done
want_no_file x.*

# A disk that is full, here a limit on the size of files; an old file stays as it was.
want_full full.npz 3 "1 64 512 1024 4096" velo a.mdf --truth --quiet -o full.npz
passed
