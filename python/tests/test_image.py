# SPDX-License-Identifier: Apache-2.0
"""Labels and components of images, beside SciPy's; every kind of array that is taken, and what is said of those that are not."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import ndimage

import sluice


def in_raster_order(labels: np.ndarray, n: int) -> np.ndarray:
    flat = labels.ravel()
    values, first = np.unique(flat[flat > 0], return_index=True)
    order = np.zeros(n + 1, np.int64)
    order[values[np.argsort(first)]] = np.arange(1, len(values) + 1)
    return order[labels]


def images():
    rng = np.random.default_rng(7)
    for i in range(60):
        height, width = (int(v) for v in rng.integers(1, 200, 2))
        grain = int(rng.choice([1, 2, 4]))
        image = (rng.random((-(-height // grain), -(-width // grain))) < rng.uniform(0, 1)).repeat(grain, 0).repeat(grain, 1)
        yield image[:height, :width].astype([bool, np.uint8, np.uint16, np.uint32, np.float32][i % 5])


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("threads", [1, 3])
def test_labels_are_scipys(connectivity, threads):
    for image in images():
        labels, n = sluice.image.label(image, connectivity=connectivity, threads=threads)
        expected, m = ndimage.label(image, np.ones((3, 3)) if connectivity == 8 else None)
        assert (n, labels.dtype, labels.shape) == (m, np.int32, image.shape)
        assert (labels == in_raster_order(expected, m)).all()


def test_rows_may_be_any_distance_apart_and_nothing_beside_them_is_read():
    big = np.random.default_rng(1).random((40, 60)) < 0.5
    for view in (big[::2], big[:, 7:30], big[3::3, 5:6], big[::-1], big[5:6, 2:]):
        expected = sluice.image.label(view.copy())
        assert sluice.image.label(view)[1] == expected[1]
        assert (sluice.image.label(view)[0] == expected[0]).all()


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 4), complex),
        np.zeros((4, 4), object),
        np.zeros((4, 4), "M8[s]"),
        np.zeros((4, 4), np.int64),
        np.zeros((4, 4), ">u2"),
        np.zeros((4, 4, 2, 2), np.uint8),
        np.array(1, np.uint8),
        np.zeros((4, 8), np.uint8)[:, ::2],
        np.asfortranarray(np.zeros((4, 4), np.uint8)),
        np.frombuffer(bytes(33), np.uint8)[1:].view(np.uint16).reshape(4, 4),
        "abc",
        3,
    ],
    ids=str,
)
def test_what_is_not_taken_is_told_what_is(array):
    for function in (sluice.image.label, sluice.image.components, sluice.image.otsu):
        with pytest.raises(TypeError, match="2-D array of bool, uint8, uint16, uint32 or float32"):
            function(array)


def test_arguments():
    image = np.ones((3, 3), np.uint8)
    with pytest.raises(TypeError, match="has no argument 'foo'"):
        sluice.image.label(image, foo=1)
    with pytest.raises(TypeError, match="without a name"):
        sluice.image.label(image, 8)
    with pytest.raises(TypeError, match="needs an image"):
        sluice.image.label()
    with pytest.raises(TypeError, match="connectivity is to be an integer"):
        sluice.image.label(image, connectivity="8")
    for bad in ({"connectivity": 5}, {"min_area": -1}, {"min_area": 9, "max_area": 3}, {"border": "x"}, {"algorithm": "x"}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            sluice.image.label(image, **bad)
    assert issubclass(sluice.UsageError, ValueError) and issubclass(sluice.UsageError, sluice.Error)


def test_out_and_dtype():
    image = next(images())
    expected, n = sluice.image.label(image)
    for dtype in (np.int32, np.uint32, np.uint16):
        out = np.full((image.shape[0], image.shape[1] + 5), 77, dtype)
        labels, m = sluice.image.label(image, out=out[:, 2:-3])
        assert m == n and (out[:, 2:-3] == expected).all() and np.shares_memory(labels, out)
        assert (out[:, :2] == 77).all() and (out[:, -3:] == 77).all()
        assert (sluice.image.label(image, dtype=dtype)[0] == expected).all()
    read_only = np.zeros(image.shape, np.int32)
    read_only.flags.writeable = False
    for bad in (np.zeros((1, 1), np.int32), np.zeros(image.shape, np.float64), read_only, 3):
        with pytest.raises(TypeError, match="out"):
            sluice.image.label(image, out=bad)
    with pytest.raises(TypeError, match="exclude each other"):
        sluice.image.label(image, out=np.zeros(image.shape, np.int32), dtype=np.int32)
    with pytest.raises(TypeError, match="labels=True"):
        sluice.image.components(image, dtype=np.int32)
    many = np.zeros((600, 600), np.uint8)
    many[::2, ::2] = 1
    with pytest.raises(sluice.CapacityError):
        sluice.image.label(many, dtype=np.uint16)


def test_filters_threshold_and_inverse():
    image = np.array([[9, 9, 0, 0, 5], [0, 0, 0, 0, 0], [0, 0, 7, 0, 0], [0, 0, 0, 0, 0]], np.uint8)
    assert sluice.image.label(image)[1] == 3
    assert sluice.image.label(image, threshold=6)[1] == 2
    assert sluice.image.label(image, min_area=2)[1] == 1
    assert sluice.image.label(image, max_area=1)[1] == 2
    assert sluice.image.label(image, border="inside")[1] == 1
    assert sluice.image.label(image, border="touching")[1] == 2
    assert sluice.image.label(image, inverse=True)[1] == 1
    tiny = np.array([[1e-30, 0, -1]], np.float32)
    assert (sluice.image.label(tiny)[0] == [[1, 0, 0]]).all()


def test_components():
    for image in images():
        columns = sluice.image.components(image, features=sluice.image.FEATURES)
        labels, n = ndimage.label(image, np.ones((3, 3)))
        labels = in_raster_order(labels, n)
        assert columns.n_rows == n and columns.n_events == 1 and list(columns.offsets) == [0, n]
        assert (columns.area == np.bincount(labels.ravel(), minlength=n + 1)[1:]).all()
        centres = np.array(ndimage.center_of_mass(labels > 0, labels, range(1, n + 1))).reshape(-1, 2)
        assert np.allclose(columns.y, centres[:, 0]) and np.allclose(columns.x, centres[:, 1])
        for i, box in enumerate(ndimage.find_objects(labels)):
            assert (columns.y_min[i], columns.y_max[i] + 1) == (box[0].start, box[0].stop)
            assert (columns.x_min[i], columns.x_max[i] + 1) == (box[1].start, box[1].stop)
    made, columns = sluice.image.components(image, labels=True)
    assert (made == labels).all() and list(columns) == ["area", "x_min", "y_min", "x_max", "y_max", "x", "y"]
    grey = np.arange(image.size, dtype=np.float32).reshape(image.shape)
    columns = sluice.image.components(image, features=["grey"], grey=grey)
    assert np.allclose(columns.mass, ndimage.sum(grey.astype(float), labels, range(1, n + 1)))
    with pytest.raises(sluice.UsageError, match="'colour'"):
        sluice.image.components(image, features=["colour"])
    # More than there is room for at first.
    many = np.zeros((400, 400), np.uint8)
    many[::2, ::2] = 1
    assert sluice.image.components(many).n_rows == 40000


def test_columns():
    columns = sluice.image.components(np.eye(4, dtype=np.uint8), connectivity=4)
    assert columns["area"] is columns.area and dict(columns).keys() == set(columns.names)
    assert len(columns) == columns.n_rows == 4 and len(columns.names) == 7 and "area" in columns and "colour" not in columns
    assert columns.units["x"] == "pixels" and columns.schema == "components"
    assert [len(v) for v in columns.values()] == [4] * 7 and dict(columns.items()).keys() == set(columns)
    assert columns.event(0)["x"][3] == 3.0 and columns.event(-1)["x"][3] == 3.0
    for bad in (1, -2):
        with pytest.raises(IndexError):
            columns.event(bad)
    with pytest.raises(KeyError):
        columns["colour"]
    with pytest.raises(AttributeError):
        columns.colour
    with pytest.raises(ValueError, match="read-only"):
        columns.area[0] = 5
    with pytest.raises(ValueError):
        columns.area.flags.writeable = True
    assert columns.keys() == list(columns) and columns.get("colour") is None and columns.get("x") is columns.x
    own = columns.copy()
    own["area"][0] = 5
    area = columns.area
    del columns
    gc.collect()
    assert (area == 1).all() and isinstance(sluice.image.components(np.zeros((1, 1), np.uint8)), sluice.Columns)


def test_nothing_in_an_image():
    for shape in ((0, 5), (5, 0), (0, 0), (3, 3)):
        image = np.zeros(shape, np.uint8)
        labels, n = sluice.image.label(image)
        assert n == 0 and labels.shape == shape and not labels.any()
        columns = sluice.image.components(image)
        assert columns.n_rows == 0 and columns.area.shape == (0,) and columns.area.dtype == np.uint64


def test_otsu_and_names():
    image = np.array([[10, 11, 200, 201]], np.uint8)
    assert 11 < sluice.image.otsu(image) <= 200
    assert sluice.image.label(image, threshold=sluice.image.otsu(image))[1] == 1
    assert "bitrun" in sluice.image.algorithms()
    expected = sluice.image.label(image)[0]
    for name in sluice.image.algorithms():
        assert (sluice.image.label(image, algorithm=name)[0] == expected).all()


def test_many_threads_at_once():
    image = np.random.default_rng(3).random((300, 300)) < 0.4
    expected = sluice.image.label(image)[0]
    wrong = []

    def work():
        for _ in range(30):
            if not (sluice.image.label(image)[0] == expected).all():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_import_brings_no_numpy():
    code = "import sys, sluice; assert 'numpy' not in sys.modules; sluice.image; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_signatures_and_docs():
    for function in (sluice.image.label, sluice.image.components, sluice.image.otsu, sluice.image.algorithms):
        assert "--" not in function.__doc__ and len(function.__doc__) > 40
    assert list(inspect.signature(sluice.image.label).parameters)[:4] == ["image", "connectivity", "threshold", "inverse"]
    assert inspect.signature(sluice.image.components).parameters["features"].default == ("area", "box", "centroid")
    for kind in (sluice.image.Labeller, sluice.image.RowStream):
        assert "connectivity" in inspect.signature(kind).parameters and "--" not in kind.__doc__


def test_thresholds_of_floats_are_floats():
    """As NumPy compares them, and as the command and run() do: a pixel that is 0.7 is at the threshold 0.7."""
    rng = np.random.default_rng(11)
    volume = rng.choice((0, 0.1, 0.3, 0.7), (5, 20, 30), p=(0.7, 0.1, 0.1, 0.1)).astype(np.float32)
    image, square, cube = volume[0], np.ones((3, 3)), np.ones((3, 3, 3))
    for threshold in (0.1, 0.3, 0.7):
        n, deep = ndimage.label(image >= np.float32(threshold), square)[1], ndimage.label(volume >= np.float32(threshold), cube)[1]
        assert sluice.image.label(image, threshold=threshold)[1] == sluice.image.components(image, threshold=threshold).n_rows == n > 3
        assert sluice.image.Labeller(threshold=threshold).label(image)[1] == n and sluice.image.label(volume, threshold=threshold)[1] == deep
        rows = sluice.image.RowStream(30, dtype=np.float32, threshold=threshold, features=("area",))
        slices = sluice.image.SliceStream(threshold=threshold, features=("area",))
        assert rows.push(image).n_rows + rows.finish().n_rows == n and slices.push(volume).n_rows + slices.finish().n_rows == deep
        for array in (image, volume):
            assert (sluice.image.foreground(array, threshold=threshold) == (array >= np.float32(threshold))).all()
            band = sluice.image.foreground(array, threshold=(threshold, threshold))
            assert (band == (array == np.float32(threshold))).all()
            assert (sluice.image.foreground(array, hysteresis=(threshold, threshold)) == (array >= np.float32(threshold))).all()
    labels, counts = sluice.image.Labeller(threshold=0.7).batch([image, (image > 0).astype(np.uint8), image])
    assert list(counts) == [ndimage.label(a, square)[1] for a in (image >= np.float32(0.7), image > 0, image >= np.float32(0.7))]
    with pytest.raises(sluice.UsageError, match="a threshold to go together"):
        sluice.image.Labeller(threshold=1000000.02).batch([image, image.astype(np.uint32)])
    noise = rng.random((40, 50)).astype(np.float32)
    otsu = sluice.image.otsu(noise)
    assert float(np.float32(otsu)) == otsu and (sluice.image.foreground(noise, threshold=otsu) == (noise >= otsu)).all()
