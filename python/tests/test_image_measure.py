# SPDX-License-Identifier: Apache-2.0
"""Features of label images beside sums, hulls and lines by NumPy and SciPy; every type and layout; and what is refused."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist

import sluice

TYPES = [np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4"]


def label_images():
    rng = np.random.default_rng(25)
    for i in range(60):
        height, width = (int(v) for v in rng.integers(3, 50, 2))
        if i % 3 == 0:
            labels = rng.integers(0, 4, (height, width)).repeat(2, 0).repeat(2, 1)  # not connected
        else:
            smooth = ndimage.gaussian_filter(rng.random((height, width)), rng.uniform(0.5, 2.5))
            labels, _ = ndimage.label(smooth > np.quantile(smooth, rng.uniform(0.3, 0.8)), np.ones((3, 3)) if i % 2 else None)
        apart = int(rng.choice([1, 1, 3]))
        dtype = np.dtype(TYPES[i % len(TYPES)])
        if labels.max() * apart <= min(np.iinfo(dtype).max, 1 << 31):
            labels = labels * apart
        yield labels.astype(dtype) if labels.max() <= np.iinfo(dtype).max else labels


def crofton(mask):
    """As scikit-image 0.19 has it: numbers of windows of 2 x 2 pixels, weighted."""
    window = ndimage.convolve(np.pad(mask.astype(np.uint8), 1), np.array([[0, 0, 0], [0, 1, 4], [0, 2, 8]]), mode="constant", cval=0)
    counts = np.bincount(window.ravel(), minlength=16)
    pi, root = math.pi, math.sqrt(2)
    two = [0, pi / 2, 0, 0, 0, pi / 2, 0, 0, pi / 2, pi, 0, 0, pi / 2, pi, 0, 0]
    four = [0, pi / 4 * (1 + 1 / root), pi / (4 * root), pi / (2 * root), 0, pi / 4 * (1 + 1 / root), 0, pi / (4 * root)]
    four += [pi / 4, pi / 2, pi / (4 * root), pi / (4 * root), pi / 4, pi / 2, 0, 0]
    return counts @ two, counts @ four


def inside(points, y, x):
    """Which pixels (y, x) are in the hull of the points, or on it."""
    e = ConvexHull(points).equations
    return (np.stack([y, x], axis=-1) @ e[:, :2].T + e[:, 2] <= 1e-9).all(axis=-1)


def middles(y, x):
    return np.concatenate([np.stack([y + dy, x + dx], axis=1) for dy, dx in ((0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5))])


def hull_of(points):
    return points[ConvexHull(points).vertices]


def one_by_one(labels, grey):
    for label in np.unique(labels[labels > 0]):
        mask = labels == label
        y, x = np.nonzero(mask)
        v = grey[mask].astype(np.float64)
        corners = np.concatenate([np.stack([y + dy, x + dx], axis=1) for dy in (0, 1) for dx in (0, 1)])
        hull = hull_of(corners)
        sides = np.roll(hull, -1, axis=0) - hull
        widths = [np.ptp(hull @ np.array([-dx, dy]) / math.hypot(dy, dx)) for dy, dx in sides]
        box_y, box_x = np.mgrid[y.min() - 1 : y.max() + 2, x.min() - 1 : x.max() + 2]
        convex = inside(middles(y, x), box_y, box_x)
        two, four = crofton(mask)
        yield {
            "label": label,
            "area": len(y),
            "x": x.mean(),
            "y": y.mean(),
            "extent": len(y) / (np.ptp(y) + 1) / (np.ptp(x) + 1),
            "diameter": math.sqrt(4 * len(y) / math.pi),
            "convex_area": convex.sum(),
            "solidity": len(y) / convex.sum(),
            "feret_max": pdist(hull).max(),
            "feret_min": min(widths),
            "feret_outline": pdist(hull_of(middles(box_y[convex], box_x[convex]))).max(),
            "crofton_2": two,
            "crofton_4": four,
            "circularity": 4 * math.pi * len(y) / four**2,
            "mass": v.sum(),
            "grey_min": v.min(),
            "grey_max": v.max(),
            "grey_mean": v.mean(),
            "grey_std": v.std(),
        }


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_by_definition(dtype):
    some = 0
    for labels in label_images():
        grey = np.random.default_rng(4).integers(0, 200, labels.shape).astype(dtype)
        columns = sluice.image.measure(labels, grey=grey, features=sluice.image.MEASURES)
        rows = list(one_by_one(labels.astype(np.int64), grey))
        assert columns.n_rows == len(rows) and columns.n_events == 1
        for name in rows[0] if rows else ():
            assert np.allclose(columns[name], [row[name] for row in rows], rtol=1e-9, atol=1e-9), name
        some += len(rows)
    assert some > 300


def test_as_components():
    """Of labels of an image, what is summed while they are made, to the bit."""
    rng = np.random.default_rng(6)
    for connectivity in (4, 8):
        image = rng.random((80, 130)).astype(np.float32) * (rng.random((80, 130)) < 0.5)
        labels, n = sluice.image.label(image, connectivity=connectivity)
        columns = sluice.image.measure(labels, grey=image, features=sluice.image.FEATURES, connectivity=connectivity)
        wanted = sluice.image.components(image, features=sluice.image.FEATURES, connectivity=connectivity)
        assert columns.n_rows == n and columns.checksum == wanted.checksum


def test_layouts_and_nothing():
    labels = np.random.default_rng(7).integers(0, 3, (40, 60))
    wanted = sluice.image.measure(labels, features=("label", "area", "feret"))
    for view in (np.asfortranarray(labels), np.stack([labels, labels], 2)[:, :, 1], labels[::-1][::-1]):
        assert sluice.image.measure(view, features=("label", "area", "feret")).checksum == wanted.checksum
    assert sluice.image.measure(labels > 0).label.tolist() == [1]
    for shape in ((0, 0), (0, 5), (5, 0), (4, 4)):
        nothing = sluice.image.measure(np.zeros(shape, np.int64), features=sluice.image.MEASURES, grey=np.zeros(shape, np.uint8))
        assert nothing.n_rows == 0 and nothing.n_events == 1
    far = sluice.image.measure(np.array([[0, 2**32 - 1, 5]], np.uint64))
    assert far.label.tolist() == [5, 2**32 - 1] and far.x.tolist() == [2, 1]


def test_refused():
    labels = np.ones((3, 3), np.int32)
    with pytest.raises(TypeError, match="2-D or 3-D array of bool or integers"):
        sluice.image.measure(labels.astype(np.float32))
    with pytest.raises(TypeError, match="2-D or 3-D array of bool or integers"):
        sluice.image.measure(np.ones((1, 3, 3, 3), int))
    with pytest.raises(sluice.UsageError, match="labels have -1"):
        sluice.image.measure(-labels)
    with pytest.raises(sluice.UnsupportedError, match="the label 4294967296 at x 1, y 0"):
        sluice.image.measure(np.array([[0, 2**32]]))
    with pytest.raises(sluice.UsageError, match="grey image: none given"):
        sluice.image.measure(labels, features=("spread",))
    with pytest.raises(sluice.UsageError, match="2 x 2 pixels, and the image has 3 x 3"):
        sluice.image.measure(labels, features=("grey",), grey=np.ones((2, 2), np.uint8))
    with pytest.raises(TypeError, match="grey is of the features"):
        sluice.image.measure(labels, grey=labels.astype(np.uint8))
    with pytest.raises(sluice.UsageError, match="'nothing', which is not among image.MEASURES"):
        sluice.image.measure(labels, features=("nothing",))
    with pytest.raises(sluice.UsageError, match="connectivity: 5"):
        sluice.image.measure(labels, connectivity=5)
    with pytest.raises(sluice.UsageError, match="'hull'.*it is measured on the label image, by image.measure"):
        sluice.image.components(labels.astype(np.uint8), features=("hull",))


def test_run_keeps(tmp_path):
    image = (np.random.default_rng(9).random((60, 80)) < 0.4).astype(np.uint8)
    path = tmp_path / "image.npy"
    np.save(path, image)
    labels, n = sluice.image.label(image)
    every = sluice.image.measure(labels, features=("area", "hull"))
    keeps = (every.area >= 4) & (every.area / every.convex_area > 0.7)
    (page,) = sluice.image.run(path, filter="area>=4 && solidity>0.7", features=("area", "label"), labels=True)
    numbers = np.concatenate([[0], np.where(keeps, np.cumsum(keeps), 0)])
    assert (page.labels == numbers[labels]).all() and page.components.area.tolist() == every.area[keeps].tolist()
    assert page.components.label.tolist() == list(range(1, keeps.sum() + 1))
    assert (page.n_components, page.n_filtered) == (keeps.sum(), n - keeps.sum())
    for k in (1, 2, 1000):
        (page,) = sluice.image.run(path, largest=k, labels=True)
        order = np.argsort(-every.area.astype(np.int64), kind="stable")[:k] + 1
        assert ((page.labels > 0) == np.isin(labels, order)).all()
        assert (sluice.image.largest(image, k) == (page.labels > 0)).all()
    with pytest.raises(sluice.UsageError, match="have no column 'colour'"):
        list(sluice.image.run(path, filter="colour>3"))
    with pytest.raises(sluice.UsageError, match="filter is to be terms"):
        sluice.image.run(path, filter=3)
    with pytest.raises(sluice.UsageError, match="k is to be 1 or more"):
        sluice.image.largest(image, 0)


def test_size_of_pixels(tmp_path):
    def page(text: bytes) -> bytes:
        tags = [(256, 3, 1, 2), (257, 3, 1, 1), (258, 3, 1, 8), (262, 3, 1, 1), (270, 2, len(text), 8), (273, 4, 1, 8), (279, 4, 1, 2)]
        text += b"\0" * (len(text) % 2)
        entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
        return b"II*\0" + struct.pack("<I", 8 + len(text)) + text + struct.pack("<H", len(tags)) + entries + b"\0\0\0\0"

    path = tmp_path / "ome.tif"
    path.write_bytes(page(b'<OME><Pixels PhysicalSizeX="0.5" PhysicalSizeY="250" PhysicalSizeYUnit="nm"/></OME>\0'))
    (batch,) = sluice.image.run(path)
    assert batch.pixel_um == (0.5, 0.25)
    path.write_bytes(page(b"of no size\0"))
    (batch,) = sluice.image.run(path)
    assert batch.pixel_um is None


def test_run(tmp_path):
    image = np.random.default_rng(8).integers(0, 4, (50, 70)).astype(np.uint8)
    path = tmp_path / "image.npy"
    np.save(path, image)
    (page,) = sluice.image.run(path, features=sluice.image.MEASURES, threshold=2, labels=True)
    wanted = sluice.image.measure(page.labels, grey=image, features=sluice.image.MEASURES)
    assert page.components.checksum == wanted.checksum and page.n_components == wanted.n_rows
