# SPDX-License-Identifier: Apache-2.0
"""Labels of volumes beside SciPy's: ten thousand random ones, every type, connectivity and layout; and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import ndimage

import sluice

STRUCTURES = {6: 1, 18: 2, 26: 3}
TYPES = [bool, np.uint8, np.uint16, np.uint32, np.float32]


def in_raster_order(labels: np.ndarray, n: int) -> np.ndarray:
    flat = labels.ravel()
    values, first = np.unique(flat[flat > 0], return_index=True)
    order = np.zeros(n + 1, np.int64)
    order[values[np.argsort(first)]] = np.arange(1, len(values) + 1)
    return order[labels]


def expect(volume: np.ndarray, connectivity: int, labels: np.ndarray, n: int) -> None:
    wanted, m = ndimage.label(volume, ndimage.generate_binary_structure(3, STRUCTURES[connectivity]))
    assert (n, labels.shape) == (m, volume.shape)
    assert (labels == in_raster_order(wanted, m)).all()


def test_ten_thousand_volumes_are_scipys():
    rng = np.random.default_rng(25)
    for i in range(600 if os.environ.get("SLUICE_TEST_SMALL") else 10000):
        shape = rng.integers(1, 13, 3)
        grain = int(rng.choice([1, 1, 2, 4]))
        cubes = rng.random(-(-shape // grain)) < rng.uniform(0, 1)
        for axis in range(3):
            cubes = cubes.repeat(grain, axis)
        volume = cubes[: shape[0], : shape[1], : shape[2]].astype(TYPES[i % 5])
        connectivity = (6, 18, 26)[i % 3]
        labels, n = sluice.image.label(volume, connectivity=connectivity, threads=1 + i % 7 // 6)
        assert labels.dtype == np.int32
        expect(volume, connectivity, labels, n)


def test_large_ones_on_several_threads():
    rng = np.random.default_rng(1)
    for width in (63, 64, 65, 511, 513):
        volume = rng.random((31, 45, width)) < 0.2
        for threads in (1, 2, 5):
            labels, n = sluice.image.label(volume, threads=threads)
            expect(volume, 26, labels, n)


def test_layouts():
    big = np.random.default_rng(2).random((20, 30, 40)) < 0.3
    for view in (big[::2], big[:, ::3], big[::-1, ::-1], big[:, :, 5:6], big[3:4, 2:, 7:], big.transpose(1, 0, 2)):
        for connectivity in (6, 18, 26):
            expect(view, connectivity, *sluice.image.label(view, connectivity=connectivity))
    assert sluice.image.label(np.zeros((0, 3, 4), np.uint8))[1] == 0


def test_thresholds_and_outputs():
    volume = np.random.default_rng(3).random((5, 6, 7)).astype(np.float32)
    expect(volume >= np.float32(0.7), 26, *sluice.image.label(volume, threshold=0.7))
    expect(volume - 0.5 > 0, 26, *sluice.image.label(volume - np.float32(0.5)))
    out = np.full((5, 6, 9), 99, np.uint32)
    labels, n = sluice.image.label(volume, threshold=0.7, out=out[:, :, 1:8])
    expect(volume >= np.float32(0.7), 26, out[:, :, 1:8].astype(np.int64), n)
    assert labels.base is out and (out[:, :, [0, 8]] == 99).all()


def test_equal_values():
    rng = np.random.default_rng(4)
    for i in range(60):
        kind = np.dtype(("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "?")[i % 9])
        values = np.array([0, 1, 2, 3]) if kind.itemsize == 1 else np.array([0, 1, 1 + (1 << 8 * kind.itemsize - 2), 1 << 8 * kind.itemsize - 2])
        volume = values[rng.integers(0, 4, rng.integers(1, 13, 3))].astype(kind)
        connectivity = (6, 18, 26)[i // 3 % 3]
        wanted, m = np.zeros(volume.shape, np.int64), 0
        for value in np.unique(volume[volume != 0]):
            labels, n = ndimage.label(volume == value, ndimage.generate_binary_structure(3, STRUCTURES[connectivity]))
            wanted[labels > 0] = labels[labels > 0] + m
            m += n
        labels, n = sluice.image.label(volume, connectivity=connectivity, equal=True, threads=1 + i % 2)
        assert n == m and (labels == in_raster_order(wanted, m)).all()


def test_equal_values_of_images():
    rng = np.random.default_rng(5)
    for i in range(20):
        image = rng.integers(-1, 3, rng.integers(1, 40, 2))
        connectivity = (4, 8)[i % 2]
        labels, n = sluice.image.label(image, connectivity=connectivity, equal=True)
        as_volume, m = sluice.image.label(image[None], connectivity={4: 6, 8: 26}[connectivity], equal=True)
        assert labels.shape == image.shape and n == m and (labels == as_volume[0]).all()
        out = np.zeros(image.shape, np.uint32)
        assert sluice.image.label(image, equal=True, out=out)[0] is out


def over_borders(volume: np.ndarray, connectivity: int, periodic: str, equal: bool) -> list[list[tuple[int, ...]]]:
    """Components as lists of voxels (z, y, x), by flood fill from first voxels in raster order."""
    shape, seen, found = volume.shape, np.zeros(volume.shape, bool), []
    steps = [s for s in np.ndindex(3, 3, 3) if 0 < sum(k != 1 for k in s) <= {6: 1, 18: 2, 26: 3}[connectivity]]
    for first in zip(*np.nonzero(volume)):
        if seen[first]:
            continue
        seen[first], voxels, at = True, [first], 0
        while at < len(voxels):
            for step in steps:
                there = [p + s - 1 for p, s in zip(voxels[at], step)]
                there = [p % n if axis in periodic else p for p, n, axis in zip(there, shape, "zyx")]
                place = tuple(there)
                if all(0 <= p < n for p, n in zip(there, shape)) and volume[place] and not seen[place]:
                    if not equal or volume[place] == volume[first]:
                        seen[place] = True
                        voxels.append(place)
            at += 1
        found.append(voxels)
    return found


def test_borders_and_slices():
    rng = np.random.default_rng(6)
    for i in range(120):
        shape = tuple(int(n) for n in rng.integers(1, 8, 3))
        equal, connectivity = i % 2 == 1, (6, 18, 26)[i // 2 % 3]
        periodic = [a for k, a in enumerate("xyz") if i // 6 >> k & 1]
        volume = (rng.integers(0, 3, shape) * (rng.random(shape) < 0.6)).astype(("u1", "u2", "u4")[i % 3])
        wanted = over_borders(volume, connectivity, "".join(periodic), equal)
        labels, n = sluice.image.label(volume, connectivity=connectivity, equal=equal, periodic=periodic)
        assert n == len(wanted)
        assert all((labels[tuple(np.transpose(voxels))] == k + 1).all() for k, voxels in enumerate(wanted))
        stream = sluice.image.SliceStream(
            connectivity=connectivity, equal=equal, periodic="".join(periodic), features=["area", "box", "first", "second", "centroid"]
        )
        rows, z = [], 0
        while z <= shape[0]:
            more = int(rng.integers(1, 4))
            some = stream.finish() if z == shape[0] else stream.push(volume[z] if more == 1 else volume[z : z + more])
            for k in range(some.n_rows):
                centre = (some.z[k], some.y[k], some.x[k])
                rows.append((int(some.first_z[k]), int(some.first_y[k]), int(some.first_x[k]), int(some.volume[k]), centre, int(some.sum_xz[k])))
            z = shape[0] + 1 if z == shape[0] else min(z + more, shape[0])
            assert stream.n_slices == z % (shape[0] + 1)
        rows.sort()
        assert len(rows) == n
        for row, voxels in zip(rows, wanted):
            at = np.array(voxels)
            assert row[:4] == (*voxels[0], len(voxels)) and np.allclose(row[4], at.mean(0)) and row[5] == (at[:, 0] * at[:, 2]).sum()


def test_streams_of_slices():
    stream = sluice.image.SliceStream(features=["area"])
    assert stream.finish().n_rows == 0
    half = np.zeros((4, 5), np.float32)
    half[1, 1] = 0.25
    assert stream.push(half).n_rows == 0 and list(stream.finish().volume) == [1]
    assert stream.push(np.ones((2, 3, 3), bool)).n_rows == 0 and list(stream.finish().volume) == [18]
    assert stream.checksum != 0
    stream.push(np.ones((3, 3), np.uint8))
    with pytest.raises(sluice.UsageError, match="they are 4 x 3 of u8, the stream is 3 x 3 of u8"):
        stream.push(np.ones((3, 4), np.uint8))
    with pytest.raises(TypeError, match="slices has 1 dimensions"):
        stream.push(np.ones(3, np.uint8))
    for words, text in (({"connectivity": 8}, "6, 18 or 26"), ({"equal": True, "threshold": 2}, "exclude"), ({"features": ["euler"]}, "'euler'")):
        with pytest.raises(sluice.UsageError, match=text):
            sluice.image.SliceStream(**words)
    for wrong, text in (("xw", "'w'"), (["x", "x"], "twice"), (["xy"], "'xy'")):
        with pytest.raises(sluice.UsageError, match=f"periodic has .*{text}"):
            sluice.image.label(np.ones((3, 3, 3), np.uint8), periodic=wrong)
    with pytest.raises(sluice.UsageError, match="of volumes here"):
        sluice.image.label(np.ones((3, 3), np.uint8), periodic="x")


def test_background():
    for i in range(60):
        rng = np.random.default_rng(i)
        volume = (rng.random(tuple(int(n) for n in rng.integers(1, 13, 3))) < rng.random()).astype(np.uint8)
        connectivity = (6, 18, 26)[i % 3]
        labels, n = sluice.image.label(volume, connectivity=connectivity, inverse=True, threads=1 + i % 2)
        wanted, m = sluice.image.label(1 - volume, connectivity=26 if connectivity == 6 else 6)
        assert n == m and np.array_equal(labels, wanted)
        stream = sluice.image.SliceStream(connectivity=connectivity, inverse=True)
        volumes = np.concatenate([stream.push(volume).volume, stream.finish().volume])
        assert sorted(volumes.tolist()) == sorted(np.bincount(wanted.ravel(), minlength=1)[1:].tolist())


def test_what_is_refused():
    volume = np.ones((3, 4, 5), np.uint8)
    with pytest.raises(sluice.UsageError, match="6, 18 or 26, not 8"):
        sluice.image.label(volume, connectivity=8)
    for name, value in (("algorithm", "auto"), ("device", "cpu"), ("dtype", np.uint16)):
        with pytest.raises(sluice.UsageError, match=f"^{name} is of images of two dimensions"):
            sluice.image.label(volume, **{name: value})
    with pytest.raises(sluice.UsageError, match="inverse: of equal values"):
        sluice.image.label(volume, equal=True, inverse=True)
    with pytest.raises(sluice.UsageError, match="equal and threshold"):
        sluice.image.label(volume, equal=True, threshold=1)
    with pytest.raises(TypeError, match="bool or integers"):
        sluice.image.label(volume.astype(np.float32), equal=True)
    with pytest.raises(sluice.UsageError, match="4 or 8 of an image, not 6"):
        sluice.image.label(volume[0], equal=True, connectivity=6)
    with pytest.raises(TypeError, match="out has the shape"):
        sluice.image.label(volume, out=np.zeros((3, 4, 6), np.int32))
    with pytest.raises(TypeError, match="out has 2 dimensions"):
        sluice.image.label(volume, out=np.zeros((3, 4), np.int32))
    with pytest.raises(TypeError, match="elements of the format '[lq]'"):
        sluice.image.label(volume.astype(np.int64))
    with pytest.raises(TypeError, match="strides"):
        sluice.image.label(volume[:, :, ::2])
    with pytest.raises(sluice.UsageError, match="overlap"):
        both = np.ones((3, 4, 5), np.uint32)
        sluice.image.label(both, out=both)
    with pytest.raises(sluice.UsageError, match="4 or 8"):
        sluice.image.label(volume[0], connectivity=26)
    with pytest.raises(TypeError, match="4 dimensions"):
        sluice.image.label(volume[None])


def test_kept_components_are_those_of_sizes_and_borders():
    rng = np.random.default_rng(11)
    for i in range(40):
        volume = rng.random(rng.integers(1, 12, 3)) < 0.25
        connectivity = (6, 18, 26)[i % 3]
        labels, n = sluice.image.label(volume, connectivity=connectivity)
        sizes = np.bincount(labels.ravel(), minlength=n + 1)
        inner = np.zeros(volume.shape, bool)
        inner[(slice(1, -1) if volume.shape[0] > 1 else slice(None), slice(1, -1), slice(1, -1))] = True
        touching = np.isin(np.arange(n + 1), labels[~inner])
        first = np.array([np.argmax(labels.ravel() == k) // volume[0].size for k in range(n + 1)])
        for kept, words in (
            (sizes >= 3, {"min_area": 3}),
            (sizes <= 2, {"max_area": 2}),
            (touching, {"border": "touching"}),
            (~touching, {"border": "inside"}),
            ((sizes > 1) & (first >= 1), {"filter": "volume>1 && z_min>=1"}),
            (np.isin(np.arange(n + 1), 1 + np.argsort(-sizes[1:], kind="stable")[:2]), {"largest": 2}),
        ):
            kept[0] = False
            wanted = in_raster_order(np.where(kept[labels], labels, 0), n)
            found, m = sluice.image.label(volume, connectivity=connectivity, threads=1 + i % 3, **words)
            assert m == kept.sum() and (found == wanted).all(), words
            if "largest" in words:
                continue
            stream = sluice.image.SliceStream(connectivity=connectivity, features=("area",), **words)
            ended = [stream.push(plane).volume for plane in volume] + [stream.finish().volume]
            assert sorted(np.concatenate(ended)) == sorted(sizes[kept]), words


def test_foreground_of_volumes():
    rng = np.random.default_rng(12)
    for i in range(30):
        volume = rng.integers(0, 10, rng.integers(1, 12, 3)).astype((np.uint8, np.uint16, np.float32)[i % 3])
        view = volume[::-1, :, :] if i % 2 else volume
        connectivity, rank = ((6, 1), (18, 2), (26, 3))[i // 3 % 3]
        structure, other = (ndimage.generate_binary_structure(3, r) for r in (rank, 3 if rank == 1 else 1))
        labels, n = ndimage.label(view >= 6, structure)
        kept = np.isin(labels, np.unique(labels[view >= 9])[0 if (labels[view >= 9] > 0).all() else 1 :]) & (labels > 0)
        words = {"connectivity": connectivity, "threads": 1 + i % 2}
        assert (sluice.image.foreground(view, hysteresis=(6, 9), **words) == kept).all()
        assert (sluice.image.foreground(view, threshold=(3, 7), **words) == ((view >= 3) & (view <= 7))).all()
        mask = (rng.random(view.shape) < 0.5).astype(np.uint8)
        assert (sluice.image.foreground(view, threshold=4, mask=mask, **words) == ((view >= 4) & (mask > 0))).all()
        if view.shape[0] > 1:
            filled = ndimage.binary_fill_holes(view >= 3, other)
            assert (sluice.image.foreground(view, threshold=3, fill_holes=True, **words) == filled).all()
    slices = rng.integers(0, 200, (4, 20, 20)).astype(np.uint8)
    each = np.array([sluice.image.foreground(plane, local=("mean", 5, 2)) for plane in slices])
    assert (sluice.image.foreground(slices, local=("mean", 5, 2)) == each).all()
    limit = sluice.image.otsu(slices.reshape(-1, 20))
    assert (sluice.image.foreground(slices, threshold="otsu") == (slices >= limit)).all()
    with pytest.raises(sluice.UsageError, match="mask: 20 x 20 x 3"):
        sluice.image.foreground(slices, mask=slices[:3])
    with pytest.raises(sluice.UsageError, match="components have no column"):
        sluice.image.SliceStream(filter="roundness>1")


def grey_values(rng: np.random.Generator, kind: int, shape: tuple[int, ...]) -> np.ndarray:
    return (
        rng.integers(0, 256, shape).astype(np.uint8),
        rng.integers(0, 65536, shape).astype(np.uint16),
        rng.integers(0, 1 << 32, shape).astype(np.uint32),
        rng.normal(0, 3, shape).astype(np.float32),
        rng.random(shape) < 0.5,
    )[kind]


def test_components_are_scipys():
    rng = np.random.default_rng(13)
    for i in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 14, 3))
        volume = (rng.random(shape) < rng.uniform(0.05, 0.6)).astype(np.uint8)
        grey = grey_values(rng, i % 5, shape)
        grey = grey[::-1] if i % 3 == 0 else grey
        connectivity = (6, 18, 26)[i % 3]
        features = ("area", "box", "first", "centroid", "grey", "spread")
        labels, c = sluice.image.components(volume, grey=grey, labels=True, features=features, connectivity=connectivity, threads=1 + i % 2)
        wanted, n = ndimage.label(volume, ndimage.generate_binary_structure(3, STRUCTURES[connectivity]))
        assert (labels == in_raster_order(wanted, n)).all() and c.n_rows == n
        values, index = grey.astype(np.float64), np.arange(1, n + 1)
        if n == 0:
            continue
        assert (c.volume == ndimage.sum(volume, labels, index)).all()
        assert c.slices() == ndimage.find_objects(labels)
        centres = np.array(ndimage.center_of_mass(volume, labels, index))
        assert np.allclose(np.stack([c.z, c.y, c.x], 1), centres)
        for found, function in ((c.mass, ndimage.sum), (c.grey_mean, ndimage.mean), (c.grey_std, ndimage.standard_deviation)):
            assert np.allclose(found, function(values, labels, index), rtol=1e-9, atol=1e-9)
        assert (c.grey_min == ndimage.minimum(values, labels, index)).all()
        assert (c.grey_max == ndimage.maximum(values, labels, index)).all()
        if i % 5 != 3:
            some = c.mass > 0
            weighted = np.array(ndimage.center_of_mass(values, labels, index[some])).reshape(-1, 3)
            assert np.allclose(np.stack([c.weighted_z, c.weighted_y, c.weighted_x], 1)[some], weighted)


def test_slices_have_grey_values():
    rng = np.random.default_rng(16)
    names = ("volume", "first_z", "first_y", "first_x", "mass", "weighted_x", "weighted_y", "weighted_z", "grey_min", "grey_max", "grey_mean", "grey_std")
    features = ("area", "first", "grey", "spread")
    for i in range(40):
        shape = tuple(int(n) for n in rng.integers(1, 9, 3))
        volume = (rng.random(shape) < rng.random()).astype(np.uint8)
        grey = rng.integers(0, 60000, shape).astype((np.uint16, np.uint32)[i % 2])
        words = {"periodic": "xz" if i % 4 == 0 else "", "connectivity": (6, 18, 26)[i % 3], "filter": "grey_max>=30000" if i % 5 == 0 else None}
        whole = sluice.image.components(volume, grey=grey, features=features, **words)
        stream = sluice.image.SliceStream(features=features, **words)
        parts = [stream.push(volume[z], grey=grey[z]) for z in range(shape[0])] + [stream.finish()]
        found = np.concatenate([np.stack([getattr(c, name).astype(float) for name in names], 1) for c in parts])
        found = found[np.lexsort((found[:, 3], found[:, 2], found[:, 1]))]
        assert np.array_equal(found, np.stack([getattr(whole, name).astype(float) for name in names], 1))
    own = sluice.image.SliceStream(features=("grey",))
    assert own.push(np.full((2, 3), 7, np.uint8)).n_rows == 0 and list(own.finish().mass) == [42]
    own.push(np.ones((2, 3), np.uint8))
    with pytest.raises(sluice.UsageError, match="grey values: 2 x 2 x 1 voxels, and the volume has 3 x 2 x 1"):
        own.push(np.ones((2, 3), np.uint8), np.ones((2, 2), np.uint8))
    with pytest.raises(TypeError, match="grey is of the features"):
        sluice.image.SliceStream().push(np.ones((2, 3), np.uint8), grey=np.ones((2, 3), np.uint8))


def test_components_of_volumes_have_what_labels_have():
    rng = np.random.default_rng(14)
    volume = rng.integers(0, 200, (7, 20, 30)).astype(np.uint8)
    words = {"threshold": 150, "connectivity": 6, "filter": "volume>1 && grey_mean>=170", "largest": 5}
    labels, c = sluice.image.components(volume, features=("area", "spread"), labels=True, **words)
    assert 0 < c.n_rows <= 5 and labels.max() == c.n_rows
    assert (c.grey_mean >= 170).all() and (c.volume == np.bincount(labels.ravel())[1:]).all()
    assert sluice.image.components(volume, periodic="xyz", threshold=150).n_rows > 0
    equal = sluice.image.components(volume // 50, equal=True, features=("grey",))
    assert (equal.grey_min == equal.grey_max).all() and set(equal.grey_min) == {1, 2, 3}
    assert sluice.image.components(np.zeros((0, 3, 4), np.uint8), features=("spread",)).n_rows == 0
    out = np.zeros(volume.shape, np.uint32)
    assert sluice.image.components(volume, labels=True, out=out)[0] is out
    for words, error, text in (
        ({"grey": volume}, TypeError, "grey is of the features"),
        ({"features": ("grey",), "grey": volume[:3]}, sluice.UsageError, "grey values: 30 x 20 x 3 voxels"),
        ({"features": ("euler",)}, sluice.UsageError, "'euler'; a volume has 'area'"),
        ({"out": out}, TypeError, "labels=True"),
        ({"algorithm": "auto"}, sluice.UsageError, "algorithm is of images"),
    ):
        with pytest.raises(error, match=text):
            sluice.image.components(volume, **words)
    with pytest.raises(sluice.UsageError, match="'label'; a volume has 'area'"):
        sluice.image.SliceStream(features=("label",))
    with pytest.raises(sluice.UsageError, match="are of volumes here"):
        sluice.image.components(volume[0], largest=1)
    for words in ({"largest": 1}, {"filter": "area>5"}, {"periodic": "x"}):
        with pytest.raises(sluice.UsageError, match="are of volumes here"):
            sluice.image.label(volume[0], **words)
    with pytest.raises(sluice.UsageError, match="of images"):
        sluice.image.components(volume).to_regionprops()


def test_label_volumes_are_scipys():
    rng = np.random.default_rng(15)
    for i in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 14, 3))
        kind = np.dtype((np.uint8, np.int16, np.uint32, np.int64, ">i4", bool)[i % 6])
        names = np.array([0, 0, 1, 1]) if kind == bool else np.array([0, 0, 3, 5, 100, 120])
        labels = names[rng.integers(0, len(names), shape)].astype(kind)
        labels = labels[::-1] if i % 4 == 0 else labels
        grey = grey_values(rng, i % 5, shape)
        features = ("label", "area", "box", "first", "centroid", "second", "grey", "spread")
        c = sluice.image.measure(labels, grey=grey, features=features)
        index = np.unique(labels[labels > 0])
        assert (c.label == index).all()
        if len(index) == 0:
            continue
        values, plain = grey.astype(np.float64), labels.astype(np.int64)
        assert (c.volume == ndimage.sum(plain > 0, plain, index)).all()
        assert c.slices() == [box for box in ndimage.find_objects(plain) if box is not None]
        centres = np.array(ndimage.center_of_mass(plain > 0, plain, index))
        assert np.allclose(np.stack([c.z, c.y, c.x], 1), centres)
        z, y, x = np.indices(shape)
        assert (c.sum_xz == ndimage.sum(x * z, plain, index)).all() and (c.sum_yy == ndimage.sum(y * y, plain, index)).all()
        for found, function in ((c.mass, ndimage.sum), (c.grey_mean, ndimage.mean), (c.grey_std, ndimage.standard_deviation)):
            assert np.allclose(found, function(values, plain, index), rtol=1e-9, atol=1e-9)
        assert (c.grey_max == ndimage.maximum(values, plain, index)).all()
    assert sluice.image.measure(np.zeros((0, 3, 4), np.int32)).n_rows == 0
    for words, error, text in (
        ({"features": ("hull",)}, sluice.UsageError, "'hull'; a volume has"),
        ({"features": ("grey",)}, sluice.UsageError, "grey values: none given"),
        ({"grey": labels, "features": ("area",)}, TypeError, "grey is of the features"),
        ({"connectivity": 4}, sluice.UsageError, "connectivity is of the feature 'euler'"),
    ):
        with pytest.raises(error, match=text):
            sluice.image.measure(np.ones((2, 3, 4), np.uint8), **words)
    with pytest.raises(sluice.UnsupportedError, match="the label 4294967296 at x 0, y 0, z 0"):
        sluice.image.measure(np.full((2, 2, 2), 1 << 32))
    with pytest.raises(sluice.UsageError, match="labels have -1"):
        sluice.image.measure(np.full((2, 2, 2), -1))
