# SPDX-License-Identifier: Apache-2.0
"""Columns by value and by other packages' protocols: pickle, pandas, awkward, DLPack."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    path = tmp_path_factory.mktemp("columns") / "run.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "12", "--seed", "4", "-q", "-o", path], check=True)
    (made,) = sluice.velo.open(path, identity=True)
    return made


def components():
    return sluice.image.components(np.eye(4, dtype=np.uint8), connectivity=4, features=sluice.image.FEATURES)


def same(a, b):
    assert a.names == b.names and a.units == b.units and a.schema == b.schema and a.jagged == b.jagged
    assert (a.n_rows, a.n_events, a.checksum) == (b.n_rows, b.n_events, b.checksum)
    assert list(a.offsets) == list(b.offsets)
    for name in a:
        assert a[name].dtype == b[name].dtype and (a[name] == b[name]).all()


def test_pickle_and_copy(batch):
    for columns in (batch.hits, batch.tracks, batch.events, components(), sluice.image.components(np.zeros((2, 2), np.uint8))):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            same(pickle.loads(pickle.dumps(columns, protocol)), columns)
        other = copy.deepcopy(columns)
        same(other, columns)
        assert not any(np.shares_memory(other[name], columns[name]) for name in columns)
    assert sluice.image.components(np.ones((1, 1), np.uint8)).event(0)["area"].base is not None


def test_records(batch):
    hits = np.asarray(batch.hits)
    assert hits.dtype.names == batch.hits.names and hits.shape == (batch.hits.n_rows,)
    assert all((hits[name] == batch.hits[name]).all() for name in batch.hits.names)
    hits["x_mm"] = 0  # a copy of the caller's own
    assert batch.hits.x_mm.any()
    with pytest.raises(ValueError, match="copy"):
        batch.hits.__array__(copy=False)


def test_devices_and_names():
    found = sluice.devices()
    assert found[0] == "cpu" and found[1:] == [f"cuda:{i}" for i in range(len(found) - 1)]
    assert {"velo", "plot", "devices"} <= set(dir(sluice))
    with pytest.raises(sluice.UnsupportedError if len(found) == 1 else sluice.UsageError):
        sluice.image.label(np.ones((2, 2), np.uint8), device="cuda" if len(found) == 1 else "gpu")


def test_columns_from_wrong_bytes():
    of = sluice._core.columns_of
    same(of("hits", [], None), of("hits", [], None))
    good = [("a", "mm", "float32", bytes(12)), ("b", "1", "uint8", bytes(3))]
    made = of("hits", good, np.array([0, 1, 3], np.uint32).tobytes())
    good.clear()
    assert made.names == ("a", "b") and list(made.offsets) == [0, 1, 3] and made.event(1)["b"].tolist() == [0, 0]
    for bad, why in (
        (("hits", [("a", "mm", "float32", bytes(12)), ("b", "1", "uint8", bytes(2))], None), "numbers of rows"),
        (("hits", [("a", "mm", "float32", bytes(13))], None), "numbers of rows"),
        (("hits", [("a", "mm", "text", b"")], None), "no type"),
        (("hits", [("a", "mm", "uint8", bytes(3))], np.array([0, 4], np.uint32).tobytes()), "offsets"),
        (("hits", [("a", "mm", "uint8", bytes(3))], np.array([1, 3], np.uint32).tobytes()), "offsets"),
        (("hits", [("a", "mm", "uint8", bytes(3))], np.array([0, 3, 2], np.uint32).tobytes()), "offsets fall"),
    ):
        with pytest.raises(sluice.UsageError, match=why):
            of(*bad)
    for bad in (("hits", [1], None), ("hits", [("a", "b", "uint8", 5)], None), ("hits", [], 5), ("hits", (), None)):
        with pytest.raises(TypeError):
            of(*bad)


def test_a_column_without_numpy(batch):
    view = memoryview(batch.hits.column("x_mm"))
    assert view.readonly and view.format == "f" and view.tolist() == batch.hits.x_mm.tolist()
    with pytest.raises(KeyError):
        batch.hits.column("colour")
    code = (
        "import sluice, sys; c = sluice.image.components(memoryview(bytes([1, 0, 1, 1])).cast('B', (2, 2)));"
        "assert memoryview(c.column('area')).tolist() == [3] and 'numpy' not in sys.modules; c.__arrow_c_array__();"
        "import pickle; pickle.loads(pickle.dumps(c)); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- pandas and awkward, which need not be there -------------------------------------------------------


def test_to_pandas(batch, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = batch.hits.to_pandas()
    assert list(frame.columns) == list(batch.hits.names) and frame.index.name == "event"
    assert (frame.loc[3]["x_mm"].to_numpy() == batch.hits.event(3)["x_mm"]).all()
    assert np.shares_memory(frame["x_mm"].to_numpy(), batch.hits.x_mm)
    assert frame.attrs["units"]["x_mm"] == "mm"
    assert isinstance(batch.events.to_pandas().index, pandas.RangeIndex)


def test_to_pandas_says_what_to_pandas_is_told(batch, monkeypatch):
    told = {}
    fake = types.ModuleType("pandas")
    fake.Index = lambda values, name: (values, name)

    class DataFrame:
        def __init__(self, data, index, copy):
            told.update(data=data, index=index, copy=copy)
            self.attrs = {}

    fake.DataFrame = DataFrame
    monkeypatch.setitem(sys.modules, "pandas", fake)
    frame = batch.hits.to_pandas()
    index, name = told["index"]
    assert name == "event" and len(index) == batch.hits.n_rows and told["copy"] is False
    assert (index[batch.hits.offsets[5] : batch.hits.offsets[6]] == 5).all()
    assert np.shares_memory(told["data"]["x_mm"], batch.hits.x_mm) and frame.attrs["units"] == batch.hits.units
    batch.events.to_pandas()
    assert told["index"] is None


def test_to_awkward(batch, monkeypatch):
    told = []
    fake = types.ModuleType("awkward")
    fake.from_buffers = lambda form, length, buffers: told.append((form, length, buffers))
    monkeypatch.setitem(sys.modules, "awkward", fake)
    batch.hits.to_awkward()
    batch.events.to_awkward()
    (form, length, buffers), (flat, rows, _) = told
    assert length == 12 and form["class"] == "ListOffsetArray" and form["offsets"] == "u32"
    assert (buffers[form["form_key"] + "-offsets"] == batch.hits.offsets).all()
    record = form["content"]
    assert record["fields"] == list(batch.hits.names)
    for name, content in zip(record["fields"], record["contents"]):
        data = buffers[content["form_key"] + "-data"]
        assert content["primitive"] == str(data.dtype) and np.shares_memory(data, batch.hits[name])
    assert flat["class"] == "RecordArray" and rows == batch.events.n_rows


def test_real_awkward(batch):
    awkward = pytest.importorskip("awkward")
    array = batch.hits.to_awkward()
    assert len(array) == 12 and awkward.to_list(array[3]["x_mm"]) == batch.hits.event(3)["x_mm"].tolist()


@pytest.mark.parametrize("name", ["pandas", "awkward"])
def test_what_is_not_installed_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs the package {name}"):
        getattr(components(), f"to_{name}")()


# ---- DLPack, from both ends ------------------------------------------------------------------------------


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("n_axes", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Producer:
    """An array by DLPack alone, that counts its deletions."""

    def __init__(self, array, *, versioned=False, read_only=False, device=(1, 0), kind=None, major=1, plain=False, old=False, lanes=1):
        self.array, self.device, self.versioned, self.old = array, device, versioned, old
        self.deleted = 0
        tensor = Tensor(
            array.ctypes.data - 16,
            *device,
            array.ndim,
            {"b": 6, "u": 1, "i": 0, "f": 2, "c": 5}[array.dtype.kind] if kind is None else kind,
            array.itemsize * 8,
            lanes,
            (ctypes.c_int64 * max(array.ndim, 1))(*array.shape),
            None if plain else (ctypes.c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides)),
            16,
        )
        self.deleter = DELETER(self.delete)
        self.managed = Versioned(major, 0, None, self.deleter, int(read_only), tensor) if versioned else Managed(tensor, None, self.deleter)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def delete(self, address):
        assert address == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **asked):
        if self.old and asked:
            raise TypeError("unexpected keyword argument 'max_version'")
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.uint32, np.float32])
def test_images_by_dlpack(versioned, dtype):
    image = (np.random.default_rng(2).random((40, 61)) < 0.4).astype(dtype)
    for array in (image, image[::2], image[3:, 7:30], image[::-1]):
        expected = sluice.image.label(array)
        given = Producer(array, versioned=versioned, read_only=versioned)
        labels, n = sluice.image.label(given)
        assert n == expected[1] and (labels == expected[0]).all() and given.deleted == 1
        assert sluice.image.components(given, features=["grey"], grey=given).n_rows == n and given.deleted == 3
        if dtype is not bool:
            assert sluice.image.otsu(given) == sluice.image.otsu(array) and given.deleted == 4
    given = Producer(image, plain=True, old=not versioned, versioned=versioned)
    assert sluice.image.label(given)[1] == sluice.image.label(image)[1] and given.deleted == 1


def test_labels_into_dlpack():
    image = np.eye(4, dtype=np.uint8)
    out = np.full((4, 4), 9, np.int32)
    given = Producer(out, versioned=True)
    assert sluice.image.label(image, out=given)[0] is given
    assert (out == sluice.image.label(image)[0]).all() and given.deleted == 1
    read_only = Producer(out, versioned=True, read_only=True)
    with pytest.raises(TypeError, match="out cannot be written to.*int32, uint32 or uint16"):
        sluice.image.label(image, out=read_only)
    assert read_only.deleted == 1


def test_tensors_that_are_not_taken():
    image = np.ones((4, 4), np.uint8)
    for array, more in (
        (np.ones((4, 4), np.int64), {}),
        (np.ones((4, 4), np.float64), {}),
        (np.ones((2, 2, 2), np.uint8), {}),
        (np.array(1, np.uint8), {}),
        (np.ones((4, 8), np.uint8)[:, ::2], {}),
        (np.ones((4, 4), np.complex64), {}),
        (image, {"lanes": 4}),
        (image, {"kind": 4}),
    ):
        for versioned in (False, True):
            given = Producer(array, versioned=versioned, **more)
            with pytest.raises(TypeError, match="2-D array of bool, uint8, uint16, uint32 or float32"):
                sluice.image.label(given)
            assert given.deleted == 1
    later = Producer(image, versioned=True, major=2)
    with pytest.raises(TypeError, match="version 2"):
        sluice.image.label(later)
    assert later.deleted == 0  # it is the capsule's
    for device in ((2, 0), (10, 1), (8, 0)):
        given = Producer(image, device=device)
        with pytest.raises(sluice.UnsupportedError, match="image is in the memory of a .*copy it to the host"):
            sluice.image.label(given)
        assert given.deleted == 0
    for device, capsule in (("x", None), ((1,), None), ((1, 0), "x"), ((1, 0), new_capsule(1, b"other", None))):
        odd = types.SimpleNamespace(__dlpack_device__=lambda d=device: d, __dlpack__=lambda c=capsule, **_: c)
        with pytest.raises(TypeError):
            sluice.image.label(odd)


def test_columns_by_dlpack(batch):
    column = batch.hits.column("x_mm")
    assert column.__dlpack_device__() == (1, 0)
    capsule = column.__dlpack__(max_version=(1, 1))
    made = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    assert (made.major, made.flags, made.tensor.kind, made.tensor.bits, made.tensor.lanes) == (1, 1, 2, 32, 1)
    assert made.tensor.data == batch.hits.x_mm.ctypes.data and made.tensor.shape[0] == batch.hits.n_rows
    before = sys.getrefcount(column)
    set_name(capsule, b"used_dltensor_versioned")
    del capsule
    assert sys.getrefcount(column) == before  # a consumer has it now
    made.deleter(ctypes.addressof(made))
    assert sys.getrefcount(column) == before - 1
    capsule = column.__dlpack__(max_version=(1, 0), copy=True)  # and one that nobody takes
    copied = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    assert copied.flags == 2 and copied.tensor.data != batch.hits.x_mm.ctypes.data
    for bad in ({}, {"max_version": (0, 8)}, {"copy": False}):
        with pytest.raises(BufferError, match="read-only"):
            column.__dlpack__(**bad)
    for bad in ({"stream": 1}, {"max_version": (1, 0), "dl_device": (2, 0)}):
        with pytest.raises(sluice.UnsupportedError, match="host"):
            column.__dlpack__(**bad)
    with pytest.raises(TypeError):
        column.__dlpack__(max_version=1)

    class Copied:  # NumPy of before version 1 takes a copy
        def __dlpack__(self, **_):
            return column.__dlpack__(copy=True)

        def __dlpack_device__(self):
            return column.__dlpack_device__()

    array = np.from_dlpack(Copied())
    assert (array == batch.hits.x_mm).all() and not np.shares_memory(array, batch.hits.x_mm)


def test_views_keep_the_memory():
    column = components().column("area")
    array = np.asarray(column)
    gone = weakref.ref(array)
    expected = array.tolist()
    capsule = column.__dlpack__(max_version=(1, 0))
    del column, array
    gc.collect()
    assert gone() is None
    made = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    assert list((ctypes.c_uint64 * 4).from_address(made.tensor.data)) == expected == [1, 1, 1, 1]
