# SPDX-License-Identifier: Apache-2.0
"""scikit-image's label and regionprops_table, beside sums by NumPy and SciPy, and beside scikit-image itself if it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage
from test_image import images, in_raster_order

import sluice
from sluice.compat import skimage as own


def of_values():
    """Images of several values, some of them smooth; negative ones, too."""
    rng = np.random.default_rng(8)
    for i in range(40):
        height, width = (int(v) for v in rng.integers(1, 60, 2))
        image = rng.integers(-1, int(rng.choice([2, 3, 9])), (height, width))
        yield image.repeat(2, 0).repeat(2, 1) if i % 3 == 0 else image


def by_value(image, structure, background):
    """Each value by itself, renumbered."""
    labels, n = np.zeros(image.shape, np.int64), 0
    for value in np.unique(image):
        if value != background:
            one, m = ndimage.label(image == value, structure)
            labels[one > 0] = one[one > 0] + n
            n += m
    return in_raster_order(labels, n), n


def test_label_of_several_values():
    for image in of_values():
        for connectivity, structure in ((1, None), (2, np.ones((3, 3)))):
            for background in (None, 0, 1, 77):
                expected, n = by_value(image, structure, background or 0)
                labels, m = own.label(image, background, True, connectivity)
                assert m == n and labels.dtype == np.int64 and (labels == expected).all()
    assert (own.label(np.array([[1, 2, 1], [2, 1, 2]])) == [[1, 2, 1], [2, 1, 2]]).all()  # diagonals cross
    assert (own.label(np.array([[0.3, 1.0, 1.9], [-0.5, 2.0, 0]])) == [[0, 1, 1], [0, 2, 0]]).all()
    assert own.label(np.array([0, 1, 1, 0, 2, 2]), return_num=True)[1] == 2
    for shape in ((0, 3), (3, 0), (0,)):
        for dtype in (bool, np.uint8):
            labels, n = own.label(np.zeros(shape, dtype), return_num=True)
            assert n == 0 and labels.shape == shape and labels.dtype == (np.int32 if dtype is bool else np.int64)


def test_label_of_bool():
    for image in images():
        pixels = image != 0
        for connectivity, structure in ((1, None), (2, np.ones((3, 3)))):
            for background in (None, 1):
                expected, n = ndimage.label(~pixels if background else pixels, structure)
                labels, m = own.label(pixels, background, return_num=True, connectivity=connectivity)
                assert m == n and labels.tobytes() == expected.tobytes()


def test_label_refuses():
    with pytest.raises(sluice.UnsupportedError, match="4 dimensions"):
        own.label(np.zeros((3, 3, 3, 3), bool))
    with pytest.raises(ValueError, match="from 1 to 3"):
        own.label(np.zeros((3, 3, 3), bool), connectivity=4)
    with pytest.raises(ValueError, match="connectivity"):
        own.label(np.zeros((3, 3), bool), connectivity=3)
    with pytest.raises(ValueError, match="connectivity"):
        own.label(np.zeros(3, bool), connectivity=2)
    with pytest.raises(TypeError, match="complex"):
        own.label(np.zeros((3, 3), complex))


def label_images():
    """Those of components, and others, whose regions are in pieces or touch."""
    for i, image in enumerate(images()):
        if i % 3 == 0:
            yield own.label(image[:50, :50] != 0, connectivity=1 + i % 2)
    rng = np.random.default_rng(9)
    for _ in range(15):
        yield rng.integers(-1, 6, rng.integers(1, 40, 2)) * 3
    yield np.zeros((4, 5), int)
    yield np.full((3, 3), 10**9)


def one_by_one(labels, grey):
    """The columns whose definition fits on a line, region by region."""
    for k in np.unique(labels[labels > 0]):
        y, x = np.nonzero(labels == k)
        v = grey[y, x].astype(float)
        yy, xx, yx = y.var(), x.var(), ((y - y.mean()) * (x - x.mean())).mean()
        large, small = np.linalg.eigvalsh([[xx, yx], [yx, yy]])[::-1]
        mask = np.pad(labels == k, 1)
        edges = [mask[1:, 1:], mask[1:, :-1], mask[:-1, 1:], mask[:-1, :-1]]
        holes = ndimage.label(~mask)[1] - 1
        assert sum(edge.sum() for edge in edges) == 4 * len(y)
        yield {
            "label": k,
            "area": len(y),
            "num_pixels": len(y),
            "bbox-0": y.min(),
            "bbox-1": x.min(),
            "bbox-2": y.max() + 1,
            "bbox-3": x.max() + 1,
            "area_bbox": (np.ptp(y) + 1) * (np.ptp(x) + 1),
            "extent": len(y) / ((np.ptp(y) + 1) * (np.ptp(x) + 1)),
            "equivalent_diameter_area": math.sqrt(4 * len(y) / math.pi),
            "centroid-0": y.mean(),
            "centroid-1": x.mean(),
            "centroid_local-0": y.mean() - y.min(),
            "centroid_local-1": x.mean() - x.min(),
            "inertia_tensor-0-0": xx,
            "inertia_tensor-0-1": -yx,
            "inertia_tensor-1-0": -yx,
            "inertia_tensor-1-1": yy,
            "inertia_tensor_eigvals-0": large,
            "inertia_tensor_eigvals-1": small,
            "axis_major_length": 4 * math.sqrt(max(large, 0)),
            "euler_number": ndimage.label(mask, np.ones((3, 3)))[1] - holes,
            "intensity_mean": v.mean(),
            "intensity_max": v.max(),
            "intensity_min": v.min(),
            "intensity_std": v.astype(float).std(),
            "centroid_weighted-0": (v * y).sum() / v.sum(),
            "centroid_weighted_local-1": (v * (x - x.min())).sum() / v.sum(),
        }


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_table_by_definition(dtype):
    names = [name for name in own.PROPERTIES if name not in ("image", "coords", "slice", "image_intensity")]
    for labels in label_images():
        grey = np.random.default_rng(3).integers(1, 255, labels.shape).astype(dtype)
        table = own.regionprops_table(labels, grey, names)
        rows = list(one_by_one(labels, grey))
        assert all(len(column) == len(rows) for column in table.values())
        for name in rows[0] if rows else ():
            assert np.allclose(table[name], [row[name] for row in rows], rtol=1e-9, atol=1e-7), name


def test_table_objects_names_and_types():
    labels = np.array([[0, 3, 3], [-1, 0, 7]])
    grey = np.arange(6).reshape(2, 3)
    names = ("label", "slice", "image", "coords", "image_intensity", "bbox", "major_axis_length")
    table = own.regionprops_table(labels, grey, names, separator="_")
    assert list(table) == [*names[:5], "bbox_0", "bbox_1", "bbox_2", "bbox_3", "major_axis_length"]
    assert list(table["label"]) == [3, 7] and table["slice"][0] == (slice(0, 1), slice(1, 3))
    assert table["image"][0].tolist() == [[True, True]] and table["image_intensity"][0].tolist() == [[1, 2]]
    assert table["coords"][0].tolist() == [[0, 1], [0, 2]] and table["coords"][1].tolist() == [[1, 2]]
    types = own.regionprops_table(labels, properties=("label", "area", "num_pixels", "bbox", "euler_number", "slice"))
    assert [column.dtype.kind for column in types.values()] == ["i", "f", "i", "i", "i", "i", "i", "i", "O"]
    square = own.regionprops_table(np.ones((4, 4), int), properties=("orientation", "eccentricity", "perimeter"))
    assert (square["orientation"][0], square["eccentricity"][0], square["perimeter"][0]) == (math.pi / 4, 0, 12)
    assert list(own.regionprops_table(labels)) == ["label", "bbox-0", "bbox-1", "bbox-2", "bbox-3"]
    assert list(own.regionprops_table(np.asfortranarray(np.eye(3, dtype=int)), properties=["area"])["area"]) == [3]


def test_table_refuses():
    labels = np.ones((3, 3), int)
    with pytest.raises(sluice.UnsupportedError, match="'moments_hu' is not supported; supported are area, "):
        own.regionprops_table(labels, properties=("label", "moments_hu"))
    with pytest.raises(ValueError, match="'intensity_max' needs an intensity_image"):
        own.regionprops_table(labels, properties=("intensity_max",))
    with pytest.raises(TypeError, match="list of names"):
        own.regionprops_table(labels, properties="area")
    with pytest.raises(ValueError, match="shape"):
        own.regionprops_table(labels, np.ones((2, 2)))
    for more in ({"extra_properties": [len]}, {"spacing": (1, 2)}, {"intensity_image": np.ones((3, 3, 2))}):
        with pytest.raises(sluice.UnsupportedError, match=next(iter(more))):
            own.regionprops_table(labels, **more)
    for bad in (np.ones((3, 3), bool), np.ones((3, 3)), np.ones((3, 3, 3, 3), int)):
        with pytest.raises(TypeError, match="2-D or 3-D array of integers"):
            own.regionprops_table(bad)
    with pytest.raises(sluice.UnsupportedError, match="'perimeter' of volumes is not supported; supported are area, "):
        own.regionprops_table(np.ones((3, 3, 3), int), properties=("perimeter",))
    with pytest.raises(sluice.UnsupportedError, match="to be 3-D"):
        own.regionprops_table(np.ones((3, 3, 3), int), np.ones((3, 3)))


def volumes():
    rng = np.random.default_rng(12)
    for i in range(30):
        shape = tuple(int(n) for n in rng.integers(1, 9, 3))
        volume = rng.integers(-1, 4, shape) * (rng.random(shape) < 0.6)
        yield np.asfortranarray(volume) if i % 4 == 0 else volume[:, ::-1] if i % 4 == 1 else volume


def test_label_of_volumes():
    for volume in volumes():
        for connectivity in (1, 2, 3, None):
            structure = ndimage.generate_binary_structure(3, connectivity or 3)
            for background in (None, 2):
                expected, n = by_value(volume, structure, background or 0)
                labels, m = own.label(volume, background, True, connectivity)
                assert m == n and labels.dtype == np.int64 and labels.shape == volume.shape and (labels == expected).all()
            expected, n = ndimage.label(volume != 0, structure)
            labels, m = own.label(volume != 0, return_num=True, connectivity=connectivity)
            assert m == n and labels.dtype == np.int32 and (labels == in_raster_order(expected, n)).all()


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.float64, bool])
def test_table_of_volumes_by_definition(dtype):
    names = [name for name in own.VOLUME_PROPERTIES if name not in ("image", "coords", "slice", "image_intensity")]
    for factor, volume in zip((1, 1, 7, 1 << 34, 1) * 6, volumes()):
        labels = volume * factor
        grey = np.random.default_rng(3).integers(1, 255, labels.shape).astype(dtype)
        table = own.regionprops_table(labels, grey, names)
        regions = np.unique(labels[labels > 0])
        assert table["label"].tolist() == regions.tolist()
        for row, k in enumerate(regions):
            at = np.nonzero(labels == k)
            v, first = grey[at].astype(float), [a.min() for a in at]
            tensor = np.eye(3) * sum(a.var() for a in at) - np.cov(np.stack(at), bias=True)
            large, middle, small = np.linalg.eigvalsh(tensor)[::-1]
            box = [np.ptp(a) + 1 for a in at]
            wanted = {
                "area": len(v),
                "num_pixels": len(v),
                "area_bbox": math.prod(box),
                "extent": len(v) / math.prod(box),
                "equivalent_diameter_area": (6 * len(v) / math.pi) ** (1 / 3),
                "axis_major_length": math.sqrt(10 * max(large + middle - small, 0)),
                "axis_minor_length": math.sqrt(10 * max(-large + middle + small, 0)),
                "intensity_mean": v.mean(),
                "intensity_max": v.max(),
                "intensity_min": v.min(),
                "intensity_std": v.std(),
            }
            for i, a in enumerate(at):
                wanted |= {f"bbox-{i}": a.min(), f"bbox-{i + 3}": a.max() + 1, f"centroid-{i}": a.mean(), f"centroid_local-{i}": a.mean() - first[i]}
                wanted |= {f"centroid_weighted-{i}": (v * a).sum() / v.sum(), f"centroid_weighted_local-{i}": (v * (a - first[i])).sum() / v.sum()}
                wanted |= {f"inertia_tensor-{i}-{j}": tensor[i, j] for j in range(3)}
                wanted |= {f"inertia_tensor_eigvals-{i}": (large, middle, small)[i]}
            assert set(table) == {"label", *wanted}
            for name, value in wanted.items():
                assert math.isclose(table[name][row], value, rel_tol=1e-9, abs_tol=1e-6), name


def test_table_of_volumes_objects():
    labels = np.zeros((3, 4, 5), np.int32)
    labels[1, 2:, 3], labels[2, 0, 0] = 4, 9
    grey = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    names = ("label", "bbox", "slice", "image", "coords", "image_intensity", "mean_intensity", "equivalent_diameter")
    table = own.regionprops_table(labels, grey, names)
    assert list(table) == ["label", *(f"bbox-{i}" for i in range(6)), *names[2:]]
    assert table["slice"][0] == (slice(1, 2), slice(2, 4), slice(3, 4)) and table["coords"][0].tolist() == [[1, 2, 3], [1, 3, 3]]
    assert table["image"][0].tolist() == [[[True], [True]]] and table["image_intensity"][0].tolist() == [[[33], [38]]]
    assert table["mean_intensity"].tolist() == [35.5, 40]
    nothing = own.regionprops_table(np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2, 2)), own.VOLUME_PROPERTIES)
    assert all(len(column) == 0 for column in nothing.values())


def test_skimage_itself():
    measure = pytest.importorskip("skimage.measure")
    for image in [*(image != 0 for image in images()), *of_values()]:
        for connectivity in (None, 1, 2):
            for background in (None, 1):
                theirs = measure.label(image, background, True, connectivity)
                ours = own.label(image, background, True, connectivity)
                assert theirs[1] == ours[1] and theirs[0].dtype == ours[0].dtype and theirs[0].tobytes() == ours[0].tobytes()
    names = [name for name in own.PROPERTIES if name not in ("num_pixels", "intensity_std")]  # these are of later versions
    for labels in label_images():
        grey = np.random.default_rng(3).integers(1, 255, labels.shape).astype(np.uint8)
        if labels.max() > 10**6:
            continue
        theirs, ours = (f(labels, grey, properties=names) for f in (measure.regionprops_table, own.regionprops_table))
        assert list(theirs) == list(ours)
        skew = np.abs(theirs["inertia_tensor-0-0"] - theirs["inertia_tensor-1-1"]) > 1e-9
        for name in theirs:
            if theirs[name].dtype == object:
                assert all(np.array_equal(a, b) for a, b in zip(theirs[name], ours[name]))
            else:
                a, b = theirs[name], ours[name]
                if name == "orientation":  # an axis, whose two ends are one; of a round region it may be any
                    a, b = (np.stack([np.sin(2 * one[skew]), np.cos(2 * one[skew])]) for one in (a, b))
                assert np.allclose(a, b, rtol=1e-9, atol=1e-6), name


def test_labels_that_floats_cannot_hold():
    large = np.array([[2**53, 2**53 + 1, 2**53 + 1]], np.uint64)
    table = own.regionprops_table(large, properties=("label", "area"))
    assert table["label"].tolist() == [2**53, 2**53 + 1] and table["area"].tolist() == [1, 2]
