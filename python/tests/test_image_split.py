# SPDX-License-Identifier: Apache-2.0
"""Objects that touch: against the words of image_split.h over scipy's distances, by files as by arrays, and discs that are counted."""

from __future__ import annotations

import heapq
import itertools
import json
import math
import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import image as module

ndimage = pytest.importorskip("scipy.ndimage")


def discs(rng, shape, n, largest):
    y, x = np.mgrid[: shape[0], : shape[1]]
    on = np.zeros(shape, bool)
    for _ in range(n):
        on |= (y - rng.integers(shape[0])) ** 2 + (x - rng.integers(shape[1])) ** 2 <= rng.integers(1, largest) ** 2
    return on


def oracle(on, depth, connectivity):
    distance = np.rint(ndimage.distance_transform_edt(on) ** 2).astype(int) if not on.all() else np.full(on.shape, 2**32 - 1)
    axes = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}[connectivity]  # along which a step goes at most
    steps = [step for step in itertools.product((-1, 0, 1), repeat=on.ndim) if 0 < np.count_nonzero(step) <= axes]
    pixels = sorted(zip(*np.nonzero(on)), key=lambda at: (-distance[at], at))
    order = {at: i for i, at in enumerate(pixels)}

    def around(at):
        near = [tuple(int(a + b) for a, b in zip(at, step)) for step in steps]
        return [one for one in near if all(0 <= a < n for a, n in zip(one, on.shape)) and on[one]]

    hills, beginnings = {}, set()  # of each pixel that was taken: a list, which all pixels of its hill have
    for at in pixels:
        met = {id(hills[one]): hills[one] for one in around(at) if one in hills}
        goes_on, *others = sorted(met.values(), key=lambda hill: order[hill[0]]) or [[]]
        for hill in others:
            high, low = distance[hill[0]], distance[at]
            if high != low and math.sqrt(high) - math.sqrt(low) >= depth:
                beginnings.add(hill[0])
            for one in hill:
                hills[one] = goes_on
            goes_on += hill
        goes_on.append(at)
        hills[at] = goes_on
    beginnings |= {hill[0] for hill in hills.values()}
    parts, waits, count = {}, [], 0
    for at in sorted(beginnings):
        parts[at] = at
        heapq.heappush(waits, (-distance[at], count := count + 1, at))
    while waits:
        _, _, at = heapq.heappop(waits)
        for one in around(at):
            if one not in parts:
                parts[one] = parts[at]
                heapq.heappush(waits, (-distance[one], count := count + 1, one))
    labels, numbers = np.zeros(on.shape, np.int32), {}
    for at in sorted(parts):
        labels[at] = numbers.setdefault(parts[at], len(numbers) + 1)
    return labels, len(numbers)


def test_against_the_words():
    rng = np.random.default_rng(3)
    for i in range(60):
        shape = (int(rng.integers(1, 60)), int(rng.integers(1, 70)))
        on = discs(rng, shape, 9, 12) if i % 3 else ndimage.gaussian_filter(rng.normal(size=shape), 2) > 0
        depth, connectivity = (0, 0.4, 1, 2.5)[i % 4], (4, 8)[i % 2]
        labels, n = module.split(on, depth, connectivity=connectivity, threads=1 + i % 3)
        want, n_want = oracle(on, depth, connectivity)
        assert n == n_want and (labels == want).all() and labels.dtype == np.int32


def balls(rng, shape, n, largest):
    z, y, x = np.mgrid[: shape[0], : shape[1], : shape[2]]
    on = np.zeros(shape, bool)
    for _ in range(n):
        centre = [rng.integers(side) for side in shape]
        on |= (z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 <= rng.integers(1, largest) ** 2
    return on


def test_volumes():
    rng = np.random.default_rng(4)
    for i in range(24):
        shape = tuple(int(rng.integers(1, 24)) for _ in range(3))
        on = balls(rng, shape, 8, 7) if i % 3 else ndimage.gaussian_filter(rng.normal(size=shape), 1.5) > 0
        depth, connectivity = (0, 0.4, 1)[i % 3], (6, 18, 26)[i // 3 % 3]
        labels, n = module.split(on, depth, connectivity=connectivity, threads=1 + i % 3)
        want, n_want = oracle(on, depth, connectivity)
        assert n == n_want and (labels == want).all() and labels.dtype == np.int32
    assert (module.split(on.astype(np.float32))[0] == module.split(on, connectivity=26)[0]).all()
    assert module.split(np.zeros((0, 4, 5), bool))[1] == 0 and module.split(np.zeros((3, 0, 5), bool))[0].shape == (3, 0, 5)
    for bad in (4, 8):
        with pytest.raises(sluice.UsageError, match="6, 18 or 26"):
            module.split(on, connectivity=bad)


def test_volumes_of_files_are_as_arrays(tmp_path):
    """Parts have numbers, features and filters as components have."""
    rng = np.random.default_rng(5)
    volume = (ndimage.gaussian_filter(balls(rng, (30, 50, 70), 40, 9) * 250.0, 1)).astype(np.uint8)
    np.save(tmp_path / "v.npy", volume)
    names = {out: tmp_path / f"{out}.npy" for out in ("labels", "mask")}
    for connectivity, options, settings in (
        (26, (), {}),
        (6, ("--min-area", "300", "--fill-holes", "--threads", "2"), {"min_area": 300}),
        (18, ("--border", "inside"), {"border": "inside"}),
    ):
        command = [os.environ["SLUICE_COMMAND"], "label", "--volume", tmp_path / "v.npy", "--threshold", "120", "--split", "0.5", *options]
        command += ["--connectivity", connectivity, "-o", names["labels"], "--write-mask", names["mask"], "--json"]
        command += ["--stats", tmp_path / "x.csv", "--features", "area,grey"]
        told = json.loads(subprocess.run([str(one) for one in command], check=True, capture_output=True).stdout)
        on = module.foreground(volume, threshold=120, fill_holes="--fill-holes" in options, connectivity=connectivity)
        want, n = module.split(on, 0.5, connectivity=connectivity, **settings)
        assert n > module.label(on, connectivity=connectivity)[1] or settings
        assert told["split"] == 0.5 and told["equal"] is False and told["volumes"][0]["components"] == n > 3
        assert (np.load(names["labels"]) == want).all() and ((np.load(names["mask"]) > 0) == (want > 0)).all()
        rows = np.genfromtxt(tmp_path / "x.csv", delimiter=",", names=True)
        assert (rows["volume"] == np.bincount(want.ravel())[1:]).all()
        assert (rows["mass"] == np.bincount(want.ravel(), volume.ravel())[1:]).all()


def test_real_objects():
    """Discs of which half touch are counted, which components cannot."""
    rng = np.random.default_rng(7)
    on, y, x = np.zeros((400, 400), bool), *np.mgrid[:400, :400]
    for row in range(8):
        for column in range(8):
            on |= (y - 25 - 50 * row) ** 2 + (x - 25 - 50 * column - rng.integers(-1, 2)) ** 2 <= (26 - row % 2) ** 2
    assert module.label(on)[1] < 40
    labels, n = module.split(on)
    assert n == 64 and ((labels > 0) == on).all()
    assert all(ndimage.label(labels == k, np.ones((3, 3)))[1] == 1 for k in range(1, 65))
    table = module.measure(labels, features=("area", "box"))
    assert table.n_rows == 64 and (table.area == np.bincount(labels.ravel())[1:]).all()
    kept, n = module.split(on, border="inside")
    border = set(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])) - {0}
    assert n == 64 - len(border) and ((kept > 0) == (on & ~np.isin(labels, list(border)))).all()
    assert module.split(on, min_area=10**6)[1] == 0
    assert module.split(np.zeros((0, 4), bool))[1] == 0 and module.split(np.ones((5, 4), bool))[1] == 1
    assert (module.split(on.astype(np.float32))[0] == labels).all()


def test_files_are_as_the_command_has_them(tmp_path):
    rng = np.random.default_rng(2)
    pages = np.stack([ndimage.gaussian_filter(discs(rng, (90, 110), 25, 9) * 250.0, 1).astype(np.uint8) for _ in range(3)])
    np.save(tmp_path / "pages.npy", pages)
    names = {out: tmp_path / f"{out}.npy" for out in ("labels", "mask")}
    for options, settings in (((), {}), (("--fill-holes", "--min-area", "20"), {"fill_holes": True, "min_area": 20})):
        command = [os.environ["SLUICE_COMMAND"], "label", tmp_path / "pages.npy", "--threshold", "120", "--split", "0.5", *options]
        command += ["--json", "-o", names["labels"], "--write-mask", names["mask"], "--stats", tmp_path / "x.csv", "--features", "area"]
        told = json.loads(subprocess.run([str(one) for one in command], check=True, capture_output=True).stdout)
        reader = module.run(tmp_path / "pages.npy", threshold=120, split=0.5, features=["area"], labels=True, **settings)
        found = [(page.labels.copy(), page.components.area.copy()) for page in reader]
        assert f"{reader.checksum:016x}" == told["checksum"] and told["split"] == 0.5
        assert (np.load(names["labels"]) == np.stack([labels for labels, _ in found])).all()
        assert ((np.load(names["mask"]) > 0) == (np.load(names["labels"]) > 0)).all()
        for page, (labels, area), row in zip(pages, found, told["pages"]):
            on = module.foreground(page, threshold=120, fill_holes=settings.get("fill_holes", False))
            want, n = module.split(on, 0.5, min_area=settings.get("min_area", 0))
            assert (labels == want).all() and len(area) == n == row["components"] and (area == np.bincount(want.ravel())[1:]).all()
            assert row["foreground"] == (want > 0).sum()
    alone = [str(one) for one in command[:7]] + ["-q", "-o", str(tmp_path / "alone.npy")]
    subprocess.run(alone, check=True)
    for page, labels in zip(pages, np.load(tmp_path / "alone.npy")):
        assert (labels == module.split(module.foreground(page, threshold=120), 0.5)[0]).all()


def test_refused(tmp_path):
    on = discs(np.random.default_rng(3), (20, 20), 3, 5)
    for bad, match in (({"depth": -1}, "depth"), ({"depth": float("nan")}, "depth"), ({"connectivity": 6}, "connectivity"), ({"border": "x"}, "border"), ({"min_area": 3, "max_area": 2}, "min_area")):
        with pytest.raises(sluice.UsageError, match=match):
            module.split(on, **bad)
    with pytest.raises(TypeError):
        module.split("x")
    with pytest.raises(sluice.UnsupportedError, match="65536 x 1"):
        module.split(np.ones((1, 65536), bool))
    np.save(tmp_path / "a.npy", on)
    for bad in ({"inverse": True}, {"algorithm": "flood"}):
        with pytest.raises(sluice.UsageError, match="split"):
            module.run(tmp_path / "a.npy", split=1, **bad)
