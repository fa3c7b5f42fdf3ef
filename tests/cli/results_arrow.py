# SPDX-License-Identifier: Apache-2.0
"""results_arrow.py SOURCE_FOLDER RESULT.h5 RESULT.arrow...: is every column of the HDF5 file in each of the others, with
the same bits, the same unit, the same rows in each event? Prints what an Arrow file is made of."""
import sys

import h5py
import numpy

sys.path.insert(0, sys.argv[1] + "/tests/support")
import arrow_read  # noqa: E402

hdf5 = h5py.File(sys.argv[2], "r")


def stored(name, kind):
    return numpy.asarray(hdf5[name]).astype(kind, copy=False)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def units():
    """ "/group/column": unit."""
    return {f"/{g}/{c}": text(hdf5[g][c].attrs["unit"]) for g in hdf5 for c in hdf5[g]}


def same(where, mine, theirs):
    assert mine.dtype == hdf5[where].dtype and mine.tobytes() == theirs.tobytes(), f"{where} differs: {mine} {theirs}"


def compare(arrow, wanted, group, fields, at):
    for field in fields:
        where = f"/{group}/{field.name}"
        same(where, arrow.column(*at, field.name), stored(where, field.type))
        assert field.metadata == {"unit": wanted.pop(where)}, where


for path in sys.argv[3:]:
    arrow, wanted = arrow_read.Arrow(path), units()
    groups = {name.split("/")[1] for name in wanted}
    if len(groups) == 1 and arrow.fields[0].kind not in ("list", "struct"):
        compare(arrow, wanted, *groups, arrow.fields, [])
        wanted.pop(f"/{list(groups)[0]}/event_offset")
    else:
        for field in arrow.fields:
            item = field.children[0] if field.kind == "list" else field
            compare(arrow, wanted, field.name, item.children, [field.name])
            offsets = stored(f"/{field.name}/event_offset", "<u8")
            if field.kind == "list":
                same(f"/{field.name}/event_offset", arrow.event_offset(field.name), offsets)
            else:
                assert (numpy.diff(offsets) == 1).all(), f"{field.name}: not one row an event"
            wanted.pop(f"/{field.name}/event_offset")
    assert not wanted, f"not in {path}: {sorted(wanted)}"
    print(f"{'file' if arrow.file else 'stream'}, {len(arrow.batches)} batches, {sum(b.rows for b in arrow.batches)} rows, "
          f"codec {arrow.batches[0].codec if arrow.batches else None}")
