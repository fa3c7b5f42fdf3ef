# SPDX-License-Identifier: Apache-2.0
"""The functions of other libraries beside these themselves, if they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from test_image import images

import sluice
from sluice.compat import cv2 as own_cv2
from sluice.compat import ndimage as own_ndimage
from sluice.compat import skimage as own_skimage


def test_ndimage():
    for image in images():
        for structure in (None, np.ones((3, 3), int), ndimage.generate_binary_structure(2, 1)):
            expected, n = ndimage.label(image, structure)
            labels, m = own_ndimage.label(image, structure)
            assert m == n and labels.dtype == expected.dtype and labels.tobytes() == expected.tobytes()
        for dtype in (np.int64, np.uint8, np.float32):
            if n > 250:
                continue
            expected = ndimage.label(image, output=dtype)[0]
            labels = own_ndimage.label(image, output=dtype)[0]
            assert labels.dtype == expected.dtype and (labels == expected).all()
        out = np.zeros(image.shape, np.int32)
        assert own_ndimage.label(image, output=out) == ndimage.label(image)[1] and (out == ndimage.label(image)[0]).all()


def test_ndimage_takes_any_array():
    rng = np.random.default_rng(5)
    for array in (
        rng.integers(-2, 3, (20, 30)),
        rng.normal(size=(20, 30)),
        (rng.random((20, 30)) < 0.5)[:, ::2],
        np.asfortranarray(rng.random((20, 30)) < 0.5),
        (rng.random((20, 30)) < 0.5).astype(">u4"),
        (rng.random((20, 30)) < 0.5).tolist(),
    ):
        expected, n = ndimage.label(np.asarray(array) != 0)
        labels, m = own_ndimage.label(array)
        assert m == n and (labels == expected).all()


def test_ndimage_refuses():
    with pytest.raises(sluice.UnsupportedError, match="volumes are not yet"):
        own_ndimage.label(np.zeros((3, 3, 3)))
    with pytest.raises(sluice.UnsupportedError, match="structure"):
        own_ndimage.label(np.zeros((3, 3)), np.eye(3))
    with pytest.raises(ValueError, match="3 x 3"):
        own_ndimage.label(np.zeros((3, 3)), np.ones((5, 5)))
    with pytest.raises(TypeError, match="Complex"):
        own_ndimage.label(np.zeros((3, 3), complex))
    many = np.zeros((60, 60), np.uint8)
    many[::2, ::2] = 1
    with pytest.raises(RuntimeError, match="bit-depth"):
        own_ndimage.label(many, output=np.uint8)


def same_partition(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    pairs = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1)
    assert len(set(pairs[0])) == pairs.shape[1] == len(set(pairs[1]))
    return pairs


def test_cv2_by_scipy():
    for image in images():
        pixels = (image != 0).astype(np.uint8)
        n, labels, stats, centroids = own_cv2.connectedComponentsWithStats(pixels, connectivity=4)
        expected, m = ndimage.label(pixels)
        assert n == m + 1 and labels.dtype == np.int32 and stats.shape == (n, 5) and centroids.shape == (n, 2)
        same_partition(labels, expected)
        assert own_cv2.connectedComponents(pixels, connectivity=4)[0] == n
        for k in range(n):
            y, x = np.nonzero(labels == k)
            if len(x) > 0:
                assert list(stats[k]) == [x.min(), y.min(), x.max() - x.min() + 1, y.max() - y.min() + 1, len(x)]
                assert np.allclose(centroids[k], [x.mean(), y.mean()], rtol=0, atol=1e-9)
    for bad in (np.zeros((3, 3), np.uint16), np.zeros((3, 3, 3), np.uint8)):
        with pytest.raises(sluice.UsageError, match="8 bits"):
            own_cv2.connectedComponents(bad)


def test_cv2_itself():
    cv2 = pytest.importorskip("cv2")
    for image in images():
        pixels = (image != 0).astype(np.uint8)
        for connectivity in (4, 8):
            theirs = cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
            ours = own_cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
            pairs = same_partition(theirs[1], ours[1])
            assert (theirs[2][pairs[0]] == ours[2][pairs[1]]).all()


def test_skimage_by_scipy():
    for image in images():
        pixels = image != 0
        labels, n = own_skimage.label(pixels, return_num=True)
        assert n == ndimage.label(pixels, np.ones((3, 3)))[1]
        table = own_skimage.regionprops_table(labels, properties=("label", "area", "bbox", "centroid"))
        assert list(table) == ["label", "area", "bbox-0", "bbox-1", "bbox-2", "bbox-3", "centroid-0", "centroid-1"]
        assert list(table["label"]) == list(range(1, n + 1))
        for i, box in enumerate(ndimage.find_objects(labels)):
            assert (table["bbox-0"][i], table["bbox-2"][i]) == (box[0].start, box[0].stop)
            assert (table["bbox-1"][i], table["bbox-3"][i]) == (box[1].start, box[1].stop)
        assert np.allclose(table["area"], ndimage.sum(pixels, labels, range(1, n + 1)))
    gaps = own_skimage.regionprops_table(np.array([[0, 3, 3], [-1, 0, 7]]), properties=("label", "area"))
    assert list(gaps["label"]) == [3, 7] and list(gaps["area"]) == [2, 1]
    with pytest.raises(sluice.UnsupportedError, match="several values"):
        own_skimage.label(np.array([[1, 2]]))
    with pytest.raises(sluice.UnsupportedError, match="several values"):
        own_skimage.label(np.array([[0, 1, 1], [0, 2, 1]]), background=5)
    assert (own_skimage.label(np.array([[5, 1, 5], [5, 5, 1]]), background=5) == [[0, 1, 0], [0, 0, 1]]).all()
    assert (own_skimage.label(np.array([[7, 0, 7]])) == [[1, 0, 2]]).all()
    with pytest.raises(sluice.UnsupportedError, match="'solidity'"):
        own_skimage.regionprops_table(labels, properties=("solidity",))


def test_skimage_itself():
    measure = pytest.importorskip("skimage.measure")
    for image in images():
        for connectivity in (None, 1, 2):
            theirs = measure.label(image != 0, return_num=True, connectivity=connectivity)
            ours = own_skimage.label(image != 0, return_num=True, connectivity=connectivity)
            assert theirs[1] == ours[1] and (theirs[0] == ours[0]).all()
