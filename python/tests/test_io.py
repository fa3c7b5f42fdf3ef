# SPDX-License-Identifier: Apache-2.0
"""Files: formats, conversions that are the command's byte for byte, damage that is told, parts, results."""

from __future__ import annotations

import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sluice
from sluice import io

COMMAND = os.environ.get("SLUICE_COMMAND", "sluice")


def command(*words: Any) -> str:
    return subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("io") / "run.mdf"
    sluice.sim.velo(9, path, seed=3, truth=False)
    return path


def test_formats(run: Path) -> None:
    rows = {row.name: row for row in io.formats()}
    assert {"mdf", "mep", "cms-raw", "tpx3"} <= set(rows) and rows["mdf"].detector == "lhcb"
    told = io.info(run)
    assert told is not None and told["format"] == "mdf" and told["reads"] == rows["mdf"].reads


@pytest.mark.parametrize(("words", "ending"), [({}, "mdf"), ({"packing": 4}, "mep"), ({"packing": 3, "layout": "mfp"}, "mep")])
def test_convert_is_the_commands(run: Path, tmp_path: Path, words: dict[str, Any], ending: str) -> None:
    ours, theirs = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    options = [word for name, value in words.items() for word in (f"--{name}", value)]
    command("convert", run, run, *options, "-q", "-o", theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = io.convert([run, str(run)], ours, **words)
    assert ours.read_bytes() == theirs.read_bytes()
    assert [one["events"] for one in made] == [9, 9] and made[0]["damage"] is None and made[0]["faults"] == {}
    back = tmp_path / "c.mdf"
    io.convert(ours, back)
    with sluice.velo.open(back) as reader, sluice.velo.open([run, run]) as other:
        assert sum(batch.n_events for batch in reader) == sum(batch.n_events for batch in other) == 18
    assert reader.checksum == other.checksum


def test_damage_is_told(run: Path, tmp_path: Path) -> None:
    data = bytearray(run.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = b"\xff" * 64
    bad, out = tmp_path / "bad.mdf", tmp_path / "out.mdf"
    bad.write_bytes(data)
    with pytest.warns(sluice.DamageWarning, match=r"bad\.mdf.*lost"):
        (one,) = io.convert(bad, out)
    assert one["events"] < 9 and sum(one["faults"].values()) > 0 and one["damage"] is not None and "bad.mdf" in one["damage"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert io.convert(bad, out, on_fault="ignore") == [one]
    out.unlink()
    with pytest.raises(sluice.StrictError, match="bad.mdf"):
        io.convert(bad, out, on_fault="raise")
    assert not out.exists() and list(tmp_path.iterdir()) == [bad]


def test_join_and_results(run: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"part{i}.h5" for i in (0, 1)]
    for i, part in enumerate(parts):
        command("velo", run, "--part", f"{i}/2", "-q", "-o", part)
    command("velo", run, "-q", "-o", tmp_path / "all.h5")
    command("velo", run, "-q", "-o", tmp_path / "all.npz")
    made = io.join(reversed(parts), tmp_path / "joined.h5", copy=True)
    assert made["parts"] == 2 and made["events"] == 9
    whole, joined, arrays = (io.results(tmp_path / name) for name in ("all.h5", "joined.h5", "all.npz"))
    assert made["rows"]["tracks"] == len(whole["tracks"]["n_hits"]) > 20
    for group, columns in whole.items():
        assert set(arrays[group]) == set(columns)
        for name, column in columns.items():
            assert np.array_equal(joined[group][name], column) and np.array_equal(arrays[group][name], column)
    with pytest.raises(sluice.UsageError, match="part"):
        io.join(parts[:1], tmp_path / "one.h5")
    with pytest.raises(sluice.FormatError):
        io.join([tmp_path / "all.h5"], tmp_path / "one.h5")
    assert not (tmp_path / "one.h5").exists()


@pytest.mark.parametrize(
    ("words", "kind", "text"),
    [
        ({"packing": 70000}, sluice.UsageError, "packing"),
        ({"packing": 4}, sluice.UsageError, "not .mdf"),
        ({"layout": "mfp"}, sluice.UsageError, "give packing"),
        ({"layout": "2020"}, sluice.UsageError, "layout"),
        ({"on_fault": "cry"}, sluice.UsageError, "on_fault"),
    ],
)
def test_what_is_refused(run: Path, tmp_path: Path, words: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        io.convert(run, tmp_path / "a.mdf", **words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "packing"), [("a.txt", 0), ("a.h5", 3), ("a.MEP", 0), ("a.mdf.gz", 0)])
def test_endings_of_no_format_are_refused(run: Path, tmp_path: Path, name: str, packing: int) -> None:
    with pytest.raises(sluice.UsageError, match="packets need|neither .mdf nor .mep"):
        io.convert(run, tmp_path / name, packing=packing)
    assert list(tmp_path.iterdir()) == []
    io.convert(run, tmp_path / "a.1")
    assert (tmp_path / "a.1").read_bytes() == run.read_bytes()


def test_files_that_are_not_there(run: Path, tmp_path: Path) -> None:
    with pytest.raises(sluice.FileError, match="nothing.mdf"):
        io.convert([run, tmp_path / "nothing.mdf"], tmp_path / "a.mdf")
    with pytest.raises(sluice.UsageError, match="one at least"):
        io.convert([], tmp_path / "a.mdf")
    (tmp_path / "text").write_text("no results")
    with pytest.raises(sluice.FormatError, match="neither HDF5 nor NPZ"):
        io.results(tmp_path / "text")
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_inputs_are_not_overwritten(run: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"part{i}.h5" for i in (0, 1)]
    for i, part in enumerate(parts):
        command("velo", run, "--part", f"{i}/2", "-q", "-o", part)
    before = parts[1].read_bytes()
    link = tmp_path / "link.h5"
    link.symlink_to(parts[1])
    for output in (parts[1], link):
        with pytest.raises(sluice.UsageError, match="would overwrite the input"):
            io.join(parts, output)
    with pytest.raises(sluice.UsageError, match="would overwrite the input"):
        io.convert(run, run)
    assert parts[1].read_bytes() == before and io.join(parts, tmp_path / "whole.h5")["parts"] == 2


def test_paths_are_names(run: Path, tmp_path: Path) -> None:
    with run.open("rb") as file:
        for wrong in (file, 3, None, [file]):
            with pytest.raises(TypeError, match="paths are to be"):
                sluice.velo.open(wrong)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="paths are to be"):
                sluice.pet.open_frames(wrong)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="paths are to be"):
                io.convert(wrong, tmp_path / "out.mdf")  # type: ignore[arg-type]
