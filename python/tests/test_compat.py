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


def test_ndimage_of_other_shapes_is_scipys():
    for array in (np.array([1, 1, 0, 1]), np.zeros((0, 3)), np.zeros(0), np.zeros((4, 0), bool), np.array(1), np.array(0), [[1, 0], [0, 1]]):
        expected, n = ndimage.label(array)
        labels, m = own_ndimage.label(array)
        assert (m, type(m), labels.dtype, labels.shape) == (n, int, expected.dtype, expected.shape) and (labels == expected).all()
    image = np.random.default_rng(6).random((9, 12)) < 0.5
    for structure in (np.ones((3, 3)), [[0, 1, 0], [1, 0, 1], [0, 1, 0]]):  # the middle does not matter
        assert (own_ndimage.label(image, structure)[0] == ndimage.label(image, structure)[0]).all()
    for out in (np.zeros((9, 12), np.int64), np.zeros((9, 24), np.int32)[:, ::2], np.zeros((9, 12), np.uint8), np.zeros((12, 9), np.int32).T):
        expected = out.copy()
        assert own_ndimage.label(image, output=out) == ndimage.label(image, output=expected)
        assert (out == expected).all()
    out = np.zeros(4, np.int32)
    assert own_ndimage.label([1, 0, 0, 1], output=out) == 2 and list(out) == [1, 0, 0, 2]


def test_ndimage_of_volumes_is_scipys():
    rng = np.random.default_rng(7)
    for i in range(60):
        shape = rng.integers(0 if i % 10 == 0 else 1, (9, 40)[i % 20 == 19], 3)
        volume = rng.random(shape) < rng.choice((0.05, 0.2, 0.5))
        given = (volume, volume.astype(">i2") * -3, np.asfortranarray(volume), volume[::-1, :, ::-1], np.broadcast_to(volume[:1], shape))[i % 5] if 0 not in shape else volume
        for structure in (None, *(ndimage.generate_binary_structure(3, rank) for rank in (1, 2, 3))):
            expected, n = ndimage.label(np.ascontiguousarray(given) != 0, structure)
            labels, m = own_ndimage.label(given, structure)
            assert m == n and labels.dtype == expected.dtype and labels.tobytes() == expected.tobytes()
            for dtype in (np.int32, np.uint32, np.int64):
                out = np.full(shape, 7, dtype)
                assert own_ndimage.label(given, structure, out) == n and (out == expected).all()
    odd = np.ones((3, 3, 3))
    odd[0, 0, 0] = odd[2, 2, 2] = 0
    with pytest.raises(sluice.UnsupportedError, match="structure"):
        own_ndimage.label(volume, odd)


def test_ndimage_refuses():
    with pytest.raises(sluice.UnsupportedError, match="4 dimensions: up to 3"):
        own_ndimage.label(np.zeros((3, 3, 3, 3)))
    assert own_ndimage.label(np.broadcast_to(np.array([1, 0, 1], np.uint8), (4, 3)))[1] == 2
    with pytest.raises(sluice.UnsupportedError, match="structure"):
        own_ndimage.label(np.zeros((3, 3)), np.eye(3))
    with pytest.raises(ValueError, match="3 along each axis"):
        own_ndimage.label(np.zeros((3, 3)), np.ones((5, 5)))
    with pytest.raises(ValueError, match="symmetric"):
        own_ndimage.label(np.zeros((3, 3)), [[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    with pytest.raises(RuntimeError, match="equal rank"):
        own_ndimage.label(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(TypeError, match="Complex"):
        own_ndimage.label(np.zeros((3, 3), complex))
    with pytest.raises(TypeError, match="numbers|bool, integers or floats"):
        own_ndimage.label(np.array([["a", ""]]))
    for output in (complex, object, np.float16, np.zeros((3, 3), complex)):
        with pytest.raises(TypeError, match="output"):
            own_ndimage.label(np.zeros((3, 3)), output=output)
    with pytest.raises(ValueError, match="shape"):
        own_ndimage.label(np.zeros((3, 3)), output=np.zeros((2, 2), np.int32))
    many = np.zeros((60, 60), np.uint8)
    many[::2, ::2] = 1
    for output in (np.uint8, np.int8, bool, np.zeros((60, 60), np.uint8)):
        with pytest.raises(RuntimeError, match="bit-depth"):
            own_ndimage.label(many, output=output)


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
        for k in range(0, n, 1 + n // 20):
            y, x = np.nonzero(labels == k)
            if len(x) > 0:
                assert list(stats[k]) == [x.min(), y.min(), x.max() - x.min() + 1, y.max() - y.min() + 1, len(x)]
                assert np.allclose(centroids[k], [x.mean(), y.mean()], rtol=0, atol=1e-9)
    for bad in (np.zeros((3, 3), np.uint16), np.zeros((3, 3, 3), np.uint8)):
        with pytest.raises(sluice.UsageError, match="8 bits"):
            own_cv2.connectedComponents(bad)


def test_cv2_results_and_errors():
    pixels = np.array([[1, 0], [0, 0]], np.uint8)
    for dtype, ltype in ((np.int32, own_cv2.CV_32S), (np.uint16, own_cv2.CV_16U)):
        labels, stats, centroids = np.zeros((2, 2), dtype), np.zeros((2, 5), np.int32), np.zeros((2, 2))
        made = own_cv2.connectedComponentsWithStats(pixels, labels, stats, centroids, ltype=ltype)
        assert made[0] == 2 and made[1] is labels and made[2] is stats and made[3] is centroids
        assert labels.tolist() == [[1, 0], [0, 0]] and stats.tolist() == [[0, 0, 2, 2, 3], [0, 0, 1, 1, 1]]
        assert own_cv2.connectedComponents(pixels, labels, ltype=ltype)[1] is labels
    other = np.full((3, 2), 7, np.int32)  # not of this shape: left as it is, as OpenCV has it
    assert own_cv2.connectedComponents(pixels, other)[1].tolist() == [[1, 0], [0, 0]] and (other == 7).all()
    assert own_cv2.connectedComponents(image=pixels[:, :, None])[1].shape == (2, 2)
    assert own_cv2.connectedComponents(np.ones(5, np.uint8))[1].shape == (5, 1)
    for shape in ((0, 3), (3, 0)):
        n, labels, stats, centroids = own_cv2.connectedComponentsWithStats(np.zeros(shape, np.uint8))
        assert n == 1 and labels.shape == shape and stats.shape == (1, 5) and np.isnan(centroids).all()
    for algorithm in range(-1, 6):
        assert own_cv2.connectedComponentsWithAlgorithm(pixels, 8, own_cv2.CV_32S, algorithm)[0] == 2
        assert own_cv2.connectedComponentsWithStatsWithAlgorithm(pixels, 4, own_cv2.CV_32S, algorithm)[2][1, 4] == 1
    with pytest.raises(sluice.UsageError, match="ccltype"):
        own_cv2.connectedComponentsWithAlgorithm(pixels, 8, own_cv2.CV_32S, 6)
    with pytest.raises(sluice.UsageError, match="connectivity"):
        own_cv2.connectedComponents(pixels, connectivity=3)
    with pytest.raises(sluice.UnsupportedError, match="ltype"):
        own_cv2.connectedComponents(pixels, ltype=0)
    many = np.zeros((600, 600), np.uint8)
    many[::2, ::2] = 1
    with pytest.raises(sluice.CapacityError):  # where OpenCV 4.6 counts 24465 without a word
        own_cv2.connectedComponents(many, ltype=own_cv2.CV_16U)


def test_cv2_itself():
    cv2 = pytest.importorskip("cv2")
    for image in images():
        pixels = (image != 0).astype(np.uint8)
        for connectivity in (4, 8):
            theirs = cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
            ours = own_cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
            pairs = same_partition(theirs[1], ours[1])
            assert (theirs[2][pairs[0]] == ours[2][pairs[1]]).all()
            assert np.allclose(theirs[3][pairs[0]], ours[3][pairs[1]], rtol=0, atol=1e-9, equal_nan=True)
            assert theirs[1].dtype == ours[1].dtype and theirs[2].dtype == ours[2].dtype and theirs[3].dtype == ours[3].dtype
            for algorithm in (cv2.CCL_WU, cv2.CCL_SAUF) if connectivity == 8 else range(-1, 6):
                n, labels = cv2.connectedComponentsWithAlgorithm(pixels, connectivity, cv2.CV_32S, algorithm)
                assert n == ours[0] and labels.tobytes() == ours[1].tobytes()
    for name in own_cv2.__all__:
        assert not name.startswith("C") or getattr(cv2, name) == getattr(own_cv2, name)
