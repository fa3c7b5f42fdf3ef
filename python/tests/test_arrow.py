# SPDX-License-Identifier: Apache-2.0
"""Arrow's C data interface of columns, read by a consumer that knows its specification alone."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p),
]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
NUMBERS = {b"C": "u1", b"c": "i1", b"S": "u2", b"s": "i2", b"I": "u4", b"i": "i4", b"L": "u8", b"l": "i8", b"f": "f4", b"g": "f8"}


def moved(capsule, name, kind):
    """What is in the capsule, moved out as a consumer does: the producer's copy is marked as released."""
    there = kind.from_address(pointer_of(capsule, name))
    mine = kind.from_buffer_copy(there)
    there.release = None
    return mine


def release(mine):
    RELEASE(mine.release)(ctypes.addressof(mine))
    assert mine.release is None


def metadata(address):
    raw = ctypes.string_at(address, 4)
    found = {}
    at = address + 4
    for _ in range(struct.unpack("i", raw)[0]):
        pair = []
        for _ in range(2):
            (length,) = struct.unpack("i", ctypes.string_at(at, 4))
            pair.append(ctypes.string_at(at + 4, length).decode())
            at += 4 + length
        found[pair[0]] = pair[1]
    return found


def values(array, kind):
    assert (array.n_buffers, array.n_children, array.null_count, array.offset) == (2, 0, 0, 0) and array.buffers[0] is None
    if array.length == 0:
        return np.empty(0, kind), 0
    size = array.length * np.dtype(kind).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(array.buffers[1]), kind), array.buffers[1]


def check_records(schema, array, columns):
    assert schema.format == b"+s" and array.n_buffers == 1 and array.length == columns.n_rows
    assert schema.n_children == array.n_children == len(columns.names)
    for i, name in enumerate(columns):
        field, child = schema.children[i].contents, array.children[i].contents
        assert field.name.decode() == name and field.flags == 0 and metadata(field.metadata) == {"unit": columns.units[name]}
        made, address = values(child, NUMBERS[field.format])
        assert made.dtype == columns[name].dtype and (made == columns[name]).all()
        assert address == (columns[name].ctypes.data if columns.n_rows else 0)  # no copy


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrow") / "run.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "12", "--seed", "4", "-q", "-o", path], check=True)
    (made,) = sluice.velo.open(path, identity=True, impacts=True)
    return made


def parts(columns):
    schema_capsule, array_capsule = columns.__arrow_c_array__(requested_schema=None)
    return moved(schema_capsule, b"arrow_schema", Schema), moved(array_capsule, b"arrow_array", Array)


def test_jagged_collections_are_lists_of_records(batch):
    nothing = sluice.image.components(np.zeros((3, 3), np.uint8), features=sluice.image.FEATURES)
    everything = [getattr(batch, name) for name in ("hits", "tracks", "track_hits", "beam", "end", "primaries", "impacts")]
    for columns in (*everything, nothing):
        schema, array = parts(columns)
        assert columns.jagged and schema.format == b"+l" and metadata(schema.metadata) == {"schema": columns.schema}
        assert array.length == columns.n_events and array.n_buffers == 2 and array.buffers[0] is None
        offsets = np.frombuffer((ctypes.c_int32 * (array.length + 1)).from_address(array.buffers[1]), np.int32)
        assert (offsets == columns.offsets).all() and array.buffers[1] == columns.offsets.ctypes.data
        assert schema.children[0].contents.name == b"item"
        check_records(schema.children[0].contents, array.children[0].contents, columns)
        release(array)
        release(schema)


def test_a_row_an_event_is_a_record(batch):
    assert not batch.events.jagged
    schema, array = parts(batch.events)
    check_records(schema, array, batch.events)
    release(schema)  # in any order
    release(array)
    alone = moved(batch.events.__arrow_c_schema__(), b"arrow_schema", Schema)
    assert alone.format == b"+s" and alone.n_children == len(batch.events.names)
    release(alone)


def owner_of(columns):
    """The object that holds the memory, as the garbage collector does not know it: by the column's reference."""
    address = ctypes.c_void_p.from_address(id(columns) + 16).value
    return ctypes.c_ssize_t.from_address(address)


def test_each_reference_is_given_back_once():
    columns = sluice.image.components(np.eye(4, dtype=np.uint8))
    references = owner_of(columns)
    before = references.value
    parts_of_array = len(columns.names) + 2  # columns, records, list
    pair = columns.__arrow_c_array__()
    assert references.value == before + parts_of_array
    del pair  # nobody took it
    assert references.value == before
    schema, array = parts(columns)
    assert references.value == before + parts_of_array
    release(array)
    release(schema)
    assert references.value == before
    # A child that was moved away lives longer than the rest, and is released by itself.
    schema, array = parts(columns)
    records = array.children[0].contents
    child = Array.from_buffer_copy(records.children[0].contents)
    records.children[0].contents.release = None
    release(array)
    release(schema)
    assert references.value == before + 1
    expected = columns.area.tolist()
    del columns
    gc.collect()
    assert values(child, "u8")[0].tolist() == expected
    thread = threading.Thread(target=release, args=(child,))  # in a thread of the consumer's
    thread.start()
    thread.join()
    assert child.release is None


@pytest.mark.plain
def test_memory_stays_until_it_is_released():
    code = """
import gc, resource, numpy as np, sluice
from test_arrow import parts, release
image = np.kron(np.eye(1, dtype=np.uint8), np.ones((600, 600), np.uint8)); image[::2] = 0; image[:, ::2] = 0
def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(60):
    schema, array = parts(sluice.image.components(image)); gc.collect()
    assert array.children[0].contents.length == 90000
    if i % 2: release(array); release(schema)
    else: sluice.image.components(image).__arrow_c_array__(); release(array); release(schema)
    if i == 9: first = most()
assert most() < first + 20000, (first, most())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_pyarrow(batch):
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array(batch.hits)
    assert array.type.value_type.num_fields == len(batch.hits.names) and len(array) == 12
    array.validate(full=True)
