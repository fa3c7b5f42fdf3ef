# SPDX-License-Identifier: Apache-2.0
"""Every notebook runs, and finds what it says; none is kept with outputs. That the runner notices what is wrong is tested, too."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import notebook_runner  # noqa: E402

BOOKS = pathlib.Path(__file__).parents[2] / "examples/notebooks"


def cells_of_a_photograph(names, cells):
    found = names["cells"]
    # 140 were drawn: some are cut off by the frame, some lie on others.
    assert 90 < found.n_rows < 140 and names["labels"].max() == found.n_rows
    assert 100 < names["median"] < 150 and 5 <= len(names["taken_apart"]) <= 15
    assert names["n_parts"] > found.n_rows, "a stricter threshold takes cells apart"


def scanner_to_sinogram(names, cells):
    assert names["without"] == 0 and 0.10 < np.median(names["resolution"]) < 0.14
    assert names["fit"]["after_ps"] < 0.7 * names["fit"]["before_ps"]
    chance, prompts = (~names["prompt"]).sum(), names["prompt"].sum()
    assert prompts > 30000 and 0.03 < chance / prompts < 0.06
    assert 0.97 < names["plane"].sum() / (prompts - chance) < 1.03
    # The rods are where they were put: of the image's light most is in the two circles, and little elsewhere.
    x, y, picture = names["x"], names["y"], names["picture"]
    inside = np.zeros(picture.shape, bool)
    for rod_x, rod_y, _, radius, _, _ in names["rods"]:
        inside |= np.hypot(x - rod_x, y - rod_y) < radius
    assert picture[inside].mean() > 20 * picture[~inside].mean()


def velo_to_efficiencies(names, cells):
    performance, fast = names["performance"], names["fast"]
    assert performance.events == 120 and sum(batch.n_events for batch in names["batches"]) == 120
    assert performance.tracks == names["tracks"] == len(names["impact"])
    assert performance.categories["long_eta25"].efficiency > 0.99 > 0.98 > performance.ghost_rate
    assert fast.categories["velo_eta25"].efficiency < performance.categories["velo_eta25"].efficiency
    assert 0.9 < performance.histograms["pull_x"].half_width_68 < 1.1 and 0.05 < names["far"].mean() < 0.2


def timepix_stream(names, cells):
    truth, counts = names["truth"], names["chip"].counts
    assert sum(truth.values()) == 4000 and counts["pixels"] == len(names["pixels"]) and counts["late"] == counts["early"] == 0
    # Two particles are one cluster only if they meet in space and time.
    assert 3990 <= len(names["clusters"]["size"]) == counts["clusters"] <= 4000
    assert all(abs(names["found"][kind] - n) <= 0.02 * n for kind, n in truth.items())
    assert names["number"].max() + 1 == names["columns"].n_rows


def your_own_hits(names, cells):
    batch, found = names["batch"], names["found"]
    assert batch.n_events == 100 and batch.hits.n_rows == names["offsets"][-1]
    assert found.mean() > 0.99 and names["ghosts"] < 0.01 * batch.tracks.n_rows
    assert abs(np.mean(names["errors"])) < 10 and len(names["errors"]) >= 99
    widths = [np.std(names[name]) for name in ("pulls", "pulls_again")]
    assert widths[0] < 0.6 and 0.9 < widths[1] < 1.1
    assert names["clusters"].size.tolist() == [1, 4, 3] and names["clusters"].mass.tolist() == [7, 19, 43]


CHECKS = {one.__name__: one for one in (cells_of_a_photograph, scanner_to_sinogram, timepix_stream, velo_to_efficiencies, your_own_hits)}


def test_each_notebook_has_a_check():
    assert sorted(CHECKS) == sorted(path.stem for path in BOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("name", sorted(CHECKS))
@pytest.mark.filterwarnings("error::sluice.DamageWarning")
def test_notebook(name, tmp_path):
    names, cells = notebook_runner.run(BOOKS / f"{name}.ipynb", tmp_path, draw=False)
    assert cells[0].kind == "markdown" and cells[0].source.startswith("# ")
    assert sum(bool(cell.printed) for cell in cells) >= 3, "a notebook shows numbers"
    CHECKS[name](names, cells)


def book(*cells, **changes):
    made = [{"cell_type": kind, "id": f"c{i}", "metadata": {}, "source": [text], **more} for i, (kind, text, more) in enumerate(cells)]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes})


CODE = {"execution_count": None, "outputs": []}


def test_the_runner(tmp_path):
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('told')\n6 * 7"
    (tmp_path / "good.ipynb").write_text(book(("markdown", "# A", {}), ("code", draw, CODE), ("code", "x = 1\nx + 1;", CODE)))
    script = notebook_runner.__file__
    shown = subprocess.run([sys.executable, script, tmp_path / "good.ipynb", "--pictures", tmp_path], capture_output=True, text=True, check=True)
    picture = tmp_path / "good-01-0.png"
    assert shown.stdout.splitlines() == ["told", "42", str(picture)] and picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "text,wrong",
    [
        (book(("code", "1", {**CODE, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1"]}]})), "cell c0 has outputs"),
        (book(("code", "1", {**CODE, "execution_count": 1})), "cell c0 has outputs"),
        (book(("code", "1", CODE), nbformat_minor=4), "format 4.5|id"),
    ],
)
def test_what_is_not_kept(tmp_path, text, wrong):
    (tmp_path / "bad.ipynb").write_text(text)
    with pytest.raises(Exception, match=wrong):
        notebook_runner.read(tmp_path / "bad.ipynb")


def test_a_cell_that_fails_ends_the_run(tmp_path):
    (tmp_path / "bad.ipynb").write_text(book(("code", "x = 1", CODE), ("code", "assert x == 2", CODE)))
    before = pathlib.Path.cwd()
    with pytest.raises(AssertionError):
        notebook_runner.run(tmp_path / "bad.ipynb", tmp_path)
    assert pathlib.Path.cwd() == before
