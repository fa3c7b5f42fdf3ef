# SPDX-License-Identifier: Apache-2.0
"""Whole files of images, labelled as the command does: its checksum for any threads and features, and what is told of damage."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import warnings
import zlib

import numpy as np
import pytest
from test_image_pages import chunk

import sluice
from sluice import image as module


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Of several formats and pages."""
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(6)
    for i, name in enumerate(("a.tif", "b.pgm", "c.npy", "d.png", "e.pbm")):
        pages = rng.integers(0, 256, (1 if name == "d.png" else 4, 60 + i, 70)).astype(np.uint8)
        module.save(folder / name, [page > 128 for page in pages] if name == "e.pbm" else pages)
    return sorted(folder.iterdir())


def command(*arguments):
    made = subprocess.run(
        [os.environ["SLUICE_COMMAND"], "label", *map(str, arguments), "--json", "-q"], check=True, capture_output=True, text=True
    )
    return json.loads(made.stdout)


@pytest.mark.parametrize("threads", [1, 3])
def test_checksums_are_the_commands(files, threads, tmp_path):
    for settings, options in (
        ({}, ()),
        ({"threshold": "otsu"}, ("--threshold", "otsu")),
        ({"threshold": 130, "connectivity": 4, "min_area": 3}, ("--threshold", "130", "--connectivity", "4", "--min-area", "3")),
        ({"inverse": True, "border": "inside"}, ("--inverse", "--border", "inside")),
    ):
        told = command(*files, *options)
        with module.run(files, features=["area"], threads=threads, **settings) as reader:
            pages = list(reader)
        assert f"{reader.checksum:016x}" == told["checksum"]
        assert [page.n_components for page in pages] == [page["components"] for page in told["pages"]]
        assert reader.totals["events"] == len(pages) == 17
    told = command(*files, "--stats", tmp_path / "x.csv")
    reader = module.run(files)
    assert sum(page.components.n_rows for page in reader) == sum(page["components"] for page in told["pages"])
    assert f"{reader.checksum:016x}" == told["checksum"]


def test_pages_are_those_of_open_and_label(files):
    pages = [(path, page) for path in files for page in module.open(path)]
    held = list(module.run(files, labels=True, features=module.FEATURES, threads=2))
    gc.collect()
    for (path, page), batch in zip(pages, held):
        labels, columns = module.components(page, threshold=1, labels=True, features=module.FEATURES)
        assert (batch.path, batch.n_events) == (str(path), 1) and (batch.image == page).all()
        assert (batch.labels == labels).all() and batch.labels.dtype == np.int32 and not batch.labels.flags.writeable
        assert isinstance(batch.components, module.Components) and batch.components.slices() == columns.slices()
        assert all(np.array_equal(batch.components[name], columns[name], equal_nan=True) for name in columns)
        assert np.isnan(batch.threshold) == (page.dtype == bool) and set(batch.names) == {
            "components",
            "image",
            "labels",
            "n_components",
            "n_filtered",
            "pixel_um",
            "threshold",
        }
    (batch,) = module.run(str(files[3]))
    with pytest.raises(AttributeError, match="labels=True"):
        batch.labels


def test_arguments(files):
    for bad in ({"threshold": "x"}, {"connectivity": 5}, {"features": ["x"]}, {"on_fault": "x"}, {"algorithm": "x"}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            module.run(files, **bad)
    seen = []
    list(module.run(files, progress=seen.append))
    assert seen == list(range(1, 18))


def test_damage_is_told_at_the_end_of_an_input(files, tmp_path):
    rows = b"".join(b"\0" + bytes([9, 9, 9, 255] * 4) for _ in range(3))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0\0\0\4\0\0\0\3\x08\x06\0\0\0") + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    alpha = tmp_path / "alpha.png"
    alpha.write_bytes(png)
    with pytest.warns(sluice.DamageWarning, match="alpha.png: 1 pages.*0 of them without.*alpha"):
        (page,) = module.run(alpha)
    assert page.n_components == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(module.run(alpha, on_fault="ignore"))) == 1
    with pytest.raises(sluice.StrictError, match="alpha"):
        list(module.run(alpha, on_fault="raise"))
    nothing = tmp_path / "nothing.npy"
    np.save(nothing, np.full((2, 4, 5), np.nan, np.float32))
    with pytest.warns(sluice.DamageWarning, match="2 pages.*2 of them without"):
        pages = list(module.run(nothing, threshold="otsu", labels=True))
    assert [page.n_components for page in pages] == [0, 0] and not pages[0].labels.any() and np.isnan(pages[0].threshold)
    # A file that ends early costs what is after it; the next one is read.
    whole = files[1].read_bytes()
    (tmp_path / "cut.pgm").write_bytes(whole[:-5])
    reader = module.run([tmp_path / "cut.pgm", files[3]])
    assert len([next(reader) for _ in range(3)]) == 3
    with pytest.raises(sluice.FormatError, match="cut.pgm"):
        next(reader)
    assert next(reader).path == str(files[3])
    with pytest.raises(sluice.FileError):
        list(module.run(tmp_path / "none.tif"))
