# SPDX-License-Identifier: Apache-2.0
"""What becomes foreground: against numpy and scipy.ndimage, on random images; through files as the command has it."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import image as module

ndimage = pytest.importorskip("scipy.ndimage")
STRUCTURES = {4: ndimage.generate_binary_structure(2, 1), 8: ndimage.generate_binary_structure(2, 2)}


def scene(rng, shape=(83, 131), dtype=np.uint8):
    """Smooth hills with noise."""
    hills = ndimage.gaussian_filter(rng.normal(size=shape), rng.uniform(0.5, 4))
    hills = (hills - hills.min()) / np.ptp(hills) * 250 + rng.uniform(0, 5, shape)
    return hills.astype(dtype)


def hysteresis(image, low, high, structure):
    labels, _ = ndimage.label(image >= low, structure)
    kept = np.unique(labels[image >= high])
    return np.isin(labels, kept[kept > 0])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.float32])
def test_rules(dtype):
    rng = np.random.default_rng(4)
    for i in range(40):
        image = scene(rng, dtype=dtype)[:: 1 + i % 2]
        low, high = np.float32(sorted(rng.uniform(60, 250, 2))).astype(float)
        connectivity = (4, 8)[i % 2]
        band = module.foreground(image, threshold=(low, high))
        assert band.dtype == bool and (band == ((image >= low) & (image <= high))).all()
        found = module.foreground(image, hysteresis=(low, high), connectivity=connectivity, threads=1 + i % 3)
        assert (found == hysteresis(image, low, high, STRUCTURES[connectivity])).all()
        mask = scene(rng, image.shape) > 120
        within = module.foreground(image, hysteresis=(low, high), connectivity=connectivity, mask=mask)
        assert (within == hysteresis(np.where(mask, image, -1.0), low, high, STRUCTURES[connectivity])).all()
        filled = module.foreground(image, threshold=low, fill_holes=True, connectivity=connectivity)
        assert (filled == ndimage.binary_fill_holes(image >= low, STRUCTURES[12 - connectivity])).all()
        largest = int(rng.integers(1, 30))
        holes, n = ndimage.label(image < low, STRUCTURES[12 - connectivity])
        border = np.unique(np.concatenate([holes[0], holes[-1], holes[:, 0], holes[:, -1]]))
        sizes = np.bincount(holes.ravel(), minlength=n + 1)
        small = np.isin(np.arange(n + 1), border, invert=True) & (sizes <= largest)
        small[0] = False
        filled = module.foreground(image, threshold=low, fill_holes=largest, connectivity=connectivity)
        assert (filled == ((image >= low) | small[holes])).all()


def window_sums(image, window):
    """Sums over clipped windows, as differences of a table of sums, and how many pixels they have."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1), np.int64)
    table[1:, 1:] = image.astype(np.int64).cumsum(0).cumsum(1)
    half = window // 2
    (y0, y1), (x0, x1) = ((np.maximum(np.arange(n) - half, 0), np.minimum(np.arange(n) + half + 1, n)) for n in image.shape)
    sums = table[np.ix_(y1, x1)] - table[np.ix_(y0, x1)] - table[np.ix_(y1, x0)] + table[np.ix_(y0, x0)]
    return sums, np.outer(y1 - y0, x1 - x0)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_local_thresholds(dtype):
    rng = np.random.default_rng(7)
    for i in range(30):
        image = scene(rng, dtype=dtype) * dtype(1 if dtype is np.uint8 else 200)
        window, offset, k, span = int(rng.integers(0, 40)) * 2 + 1, float(rng.normal() * 20), float(rng.uniform(-0.2, 0.8)), float(rng.uniform(20, 200))
        sums, n = window_sums(image, window)
        squares, _ = window_sums(image.astype(np.int64) ** 2, window)
        value = image.astype(np.int64)
        found = module.foreground(image, local=("mean", window, offset), threads=1 + i % 3)
        assert (found == (sums - n * value < offset * n)).all()
        found = module.foreground(image, local=("sauvola", window, k, span))
        assert (found == (n * value > sums * ((1 - k) + k / (span * n) * np.sqrt(n * squares - sums * sums)))).all()
        inside = (slice(window // 2, image.shape[0] - window // 2), slice(window // 2, image.shape[1] - window // 2))
        mean = ndimage.uniform_filter(image.astype(float), window)
        deviation = np.sqrt(np.maximum(ndimage.uniform_filter(image.astype(float) ** 2, window) - mean**2, 0))
        level = mean * (1 + 0.2 * (deviation / (np.iinfo(dtype).max / 2) - 1))
        near = np.abs(image - level) < 1e-6 * level
        assert ((module.foreground(image, local=("sauvola", window)) == (image > level)) | near)[inside].all()
    assert (module.foreground(image, local="mean") == module.foreground(image, local=("mean", 15, 0))).all()


def test_local_as_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    image = scene(np.random.default_rng(9))
    inside = slice(7, -7), slice(7, -7)
    assert (module.foreground(image, local=("mean", 15, 3)) == (image > filters.threshold_local(image, 15, "mean", 3)))[inside].all()
    assert (module.foreground(image, local="sauvola") == (image > filters.threshold_sauvola(image)))[inside].mean() > 0.9999


def test_as_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    rng = np.random.default_rng(8)
    for _ in range(20):
        image = scene(rng)
        ours = module.foreground(image, hysteresis=(121, 181), connectivity=4)
        assert (ours == filters.apply_hysteresis_threshold(image, 120, 180)).all()


def test_labels_and_features_of_a_foreground():
    image = scene(np.random.default_rng(1))
    on = module.foreground(image, threshold="otsu", fill_holes=True)
    assert on.sum() > (image >= module.otsu(image)).sum()
    labels, columns = module.components(on, grey=image, features=("area", "grey"), labels=True)
    assert (columns.mass == ndimage.sum(image, labels, np.arange(1, columns.n_rows + 1))).all()
    assert (module.foreground(image) == (image > 0)).all() and (module.foreground(np.float32([[1e-45, 0, np.nan]])) == [[1, 0, 0]]).all()
    assert module.foreground(np.zeros((0, 5), np.uint8)).shape == (0, 5)
    assert (module.foreground(image[:, ::-1].copy()[::-2], threshold=100) == (image[::-2, ::-1] >= 100)).all()


def test_files_are_as_the_command_has_them(tmp_path):
    rng = np.random.default_rng(2)
    pages = np.stack([scene(rng, (50, 64)) for _ in range(3)])
    mask = scene(rng, (50, 64)) > 90
    np.save(tmp_path / "pages.npy", pages)
    module.save(tmp_path / "mask.png", mask)
    for settings, options in (
        ({"threshold": (90, 160)}, ("--threshold", "90:160")),
        ({"hysteresis": (120, 200), "connectivity": 4}, ("--hysteresis", "120:200", "--connectivity", "4")),
        ({"threshold": "otsu", "fill_holes": 9}, ("--threshold", "otsu", "--fill-holes", "--max-hole", "9")),
        ({"local": ("sauvola", 21, 0.1)}, ("--local", "sauvola:21:0.1")),
        ({"threshold": 120, "fill_holes": True, "mask": mask}, ("--threshold", "120", "--fill-holes", "--mask", tmp_path / "mask.png")),
    ):
        command = [os.environ["SLUICE_COMMAND"], "label", tmp_path / "pages.npy", *options, "--json", "-q"]
        written = tmp_path / "out.npy"
        told = json.loads(subprocess.run([*map(str, command), "--write-mask", str(written)], check=True, capture_output=True).stdout)
        reader = module.run(tmp_path / "pages.npy", features=["area"], labels=True, **settings)
        labels = np.stack([page.labels for page in reader])
        assert f"{reader.checksum:016x}" == told["checksum"] and ((np.load(written) == 255) == (labels > 0)).all()
        for page, one in zip(pages, labels):
            assert ((one > 0) == module.foreground(page, **settings)).all()


def test_refused(tmp_path):
    image = scene(np.random.default_rng(3))
    for bad, match in (
        ({"threshold": (5, 3)}, "low, 5, is above high, 3"),
        ({"threshold": (1, 2, 3)}, "2 numbers"),
        ({"threshold": "x"}, "otsu"),
        ({"threshold": float("nan")}, "not a number"),
        ({"hysteresis": 3}, "hysteresis"),
        ({"hysteresis": (1, 2), "threshold": 3}, "in the place of"),
        ({"local": "median"}, "local"),
        ({"local": ("mean", 4)}, "window: 4"),
        ({"local": "mean", "threshold": 3}, "in the place of"),
        ({"local": "mean", "threshold": "otsu"}, "alone"),
        ({"mask": image[1:]}, "mask: 131 x 82 pixels for an image of 131 x 83"),
        ({"fill_holes": -1}, "fill_holes"),
        ({"connectivity": 5}, "connectivity"),
    ):
        with pytest.raises((sluice.UsageError, OverflowError), match=match):
            module.foreground(image, **bad)
    with pytest.raises(TypeError):
        module.foreground(image, mask="x")
    with pytest.raises(sluice.UnsupportedError, match="not f32"):
        module.foreground(image.astype(np.float32), local="mean")
    np.save(tmp_path / "a.npy", image)
    with pytest.raises(sluice.UsageError, match="low, 5"):
        module.run(tmp_path / "a.npy", threshold=(5, 3))
    with pytest.raises(sluice.UsageError, match="inverse"):
        module.run(tmp_path / "a.npy", mask=image, inverse=True)
    with pytest.raises(sluice.UsageError, match="131 x 82"):
        list(module.run(tmp_path / "a.npy", mask=image[1:]))
