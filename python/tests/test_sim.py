# SPDX-License-Identifier: Apache-2.0
"""Generators: the command's bytes with the same seed, truth that agrees with what the library reads back, errors."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sluice
from sluice import sim

COMMAND = os.environ.get("SLUICE_COMMAND", "sluice")
DATA = Path(os.environ.get("SLUICE_TEST_DATA", Path(__file__).parent / "../../../shared/data"))


def simulate(*words: Any) -> None:
    subprocess.run([COMMAND, "simulate", *map(str, words), "--quiet"], check=True)


def test_image_is_the_commands(tmp_path: Path) -> None:
    simulate("image", "--size", "300x200", "--density", 30, "--granularity", 3, "--seed", 9, "-o", tmp_path / "a.npy")
    made = sim.image((200, 300), density=0.3, granularity=3, seed=9, value=255)
    assert made.dtype == np.uint8 and np.array_equal(made, np.load(tmp_path / "a.npy"))
    assert np.array_equal(sim.image((200, 300), density=0.3, granularity=3, seed=9), made // 255)
    assert not np.array_equal(sim.image((200, 300), density=0.3, granularity=3, seed=10), made // 255)
    assert sim.image().shape == (2048, 2048)


def test_pixels_are_the_commands(tmp_path: Path) -> None:
    simulate("pixels", "--frames", 4, "--size", "64x32", "--density", 5, "--seed", 3, "-o", tmp_path / "a.csv")
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1, dtype=np.int64)
    made = sim.pixels(4, (32, 64), density=0.05, seed=3)
    frame = np.repeat(np.arange(4), np.diff(made.offsets.astype(np.int64)))
    assert made.n_events == 4 and made.n_rows == len(rows) > 100
    assert np.array_equal(np.column_stack([frame, made["x"], made["y"], made["charge"]]), rows)
    again = sim.pixels(2, (32, 64), density=0.05, seed=3, first=2, time=True)
    assert np.array_equal(again.event(0)["x"], made.event(2)["x"]) and again["time"].max() <= 4095
    mixed = sim.pixels(1, (32, 64), density=0.05, seed=3, shuffled=True)
    assert not np.array_equal(mixed["x"], made.event(0)["x"])
    assert sorted(zip(mixed["x"], mixed["y"])) == sorted(zip(made.event(0)["x"], made.event(0)["y"]))
    assert sim.pixels(0).n_rows == 0 and sim.pixels(0).names == ("x", "y", "charge")


def test_stream_is_the_commands(tmp_path: Path) -> None:
    simulate("pixels", "--stream", 70000, "--rate", 20, "--seed", 5, "-o", tmp_path / "a.csv")
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1, dtype=np.int64)
    made = sim.stream(70000, rate=20, seed=5)
    assert np.array_equal(np.column_stack([made[name] for name in ("x", "y", "charge", "time")]), rows)
    assert made.n_events == 1 and made.event(0)["x"].size == 70000 and sim.stream(0).n_rows == 0


def test_velo_is_the_commands(tmp_path: Path) -> None:
    words = ["--events", 5, "--seed", 12, "--vertices", 2.5, "--beam", "0.1,-0.2", "--noise", 40, "--gas", 0.5]
    simulate("velo", *words, "-o", tmp_path / "a.mdf")
    truth = sim.velo(5, tmp_path / "b.mdf", seed=12, vertices=2.5, beam=(0.1, -0.2), noise=40, gas=0.5)
    assert (tmp_path / "a.mdf").read_bytes() == (tmp_path / "b.mdf").read_bytes()
    simulate("velo", *words, "--compress", "--no-scattering", "-o", tmp_path / "a.mdf")
    nothing = sim.velo(
        5, tmp_path / "b.mdf", seed=12, vertices=2.5, beam=(0.1, -0.2), noise=40, gas=0.5, compress=True, scattering=False, truth=False
    )
    assert nothing is None and (tmp_path / "a.mdf").read_bytes() == (tmp_path / "b.mdf").read_bytes()
    assert truth is not None and truth.particles.n_events == truth.ids.n_events == truth.vertices.n_events == 5
    assert truth.particles["n_ids"].sum() == truth.ids.n_rows > 100 and abs(truth.vertices["x_mm"].mean() - 0.1) < 0.1
    with pytest.raises(ValueError, match="read-only"):
        truth.ids["id"][0] = 1


def test_hlt1_is_the_commands(tmp_path: Path) -> None:
    folder = DATA / "lhcb_hlt1"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    words = ["--events", 3, "--first", 2, "--seed", 5, "--vertices", 2.5, "--jpsi", 0.5, "--geometry", folder]
    simulate("hlt1", *words, "-o", tmp_path / "a.mdf")
    truth = sim.hlt1(3, tmp_path / "b.mdf", first=2, seed=5, vertices=2.5, jpsi=0.5, geometry=folder)
    assert (tmp_path / "a.mdf").read_bytes() == (tmp_path / "b.mdf").read_bytes()
    assert truth is not None and truth.lists.n_events == 3 and truth.lists.n_rows == truth.particles.n_rows
    assert truth.lists["n_ut"].sum() == truth.ut.n_rows > 100 and truth.lists["n_scifi"].sum() == truth.scifi.n_rows > 500
    assert sim.hlt1(1, tmp_path / "b.mdf", geometry=folder, truth=False, vertices=1) is None
    with pytest.raises(sluice.UsageError, match="jpsi"):
        sim.hlt1(1, geometry=folder, jpsi=2)
    with pytest.raises(sluice.FileError, match="/nowhere"):
        sim.hlt1(1, geometry="/nowhere")


def test_cms_is_the_commands(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    words = ["--events", 2, "--seed", 4, "--tracks", 60, "--noise", 9, "--corrupt", 0.001, "--shuffle", "--dead", 0.01]
    simulate("cms", *words, "-o", f"{a}.raw", "--cabling", f"{a}.cabling", "--gains", f"{a}.gains")
    truth = sim.cms(
        2,
        f"{b}.raw",
        cabling=f"{b}.cabling",
        gains=f"{b}.gains",
        seed=4,
        tracks=60,
        noise=9,
        corrupt=0.001,
        shuffle=True,
        dead=0.01,
    )
    for ending in ("raw", "cabling", "gains"):
        assert Path(f"{a}.{ending}").read_bytes() == Path(f"{b}.{ending}").read_bytes()
    assert truth is not None and truth.digis.n_events == 2 and truth.crossings.n_rows > 50
    assert sum(truth.faults.values()) > 0 and all(name.startswith("cms_") for name in truth.faults)


def test_crowded_tracks_are_the_commands(tmp_path: Path) -> None:
    simulate("cms", "--events", 1, "--crowded", "-o", tmp_path / "a")
    sim.cms(1, tmp_path / "b", tracks=sim.CROWDED_TRACKS, truth=False)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_pet_is_the_commands(tmp_path: Path) -> None:
    simulate("pet", "--seconds", 0.03, "--seed", 8, "--lso", 2, "--ticks", "25/2", "--bare", "-o", tmp_path / "a", "--truth", tmp_path / "t.csv")
    made = sim.pet(0.03, seed=8, lso_hz=2, ticks=(25, 2), tables=tmp_path / "tables.h5")
    assert made.frames.shape[1] == 16 and made.frames.tobytes() == (tmp_path / "a").read_bytes()
    assert made.truth is not None and made.truth.n_rows == len(made.frames) > 1000 and made.truth.n_events == 1
    first = (tmp_path / "t.csv").read_text().splitlines()[1].split(",")
    assert [int(made.truth[name][0]) for name in ("time_ps", "event", "crystal", "scattered")] == [int(one) for one in first]
    assert (tmp_path / "tables.h5").stat().st_size > 1000
    simulate("pet", "--seconds", 0.03, "--seed", 8, "--source", "1,2,3,4,5,2e5", "--source", "0,0,0,0,0,1e5", "--bare", "-o", tmp_path / "c")
    some = sim.pet(0.03, seed=8, sources=[(1, 2, 3, 4, 5, 2e5), (0, 0, 0, 0, 0, 1e5)], truth=False)
    assert some.truth is None and some.frames.tobytes() == (tmp_path / "c").read_bytes()
    with pytest.raises(ValueError, match="read-only"):
        made.frames[0, 0] = 1


def test_pet_physics_is_the_commands(tmp_path: Path) -> None:
    options = ["--isotope", "Ga-68", "--phantom", "0,0,0,20,50,0.0096", "--phantom", "3,0,0,4,50,0", "--crystal", "BGO", "--noncollinearity", 0.4]
    simulate("pet", "--seconds", 0.05, "--seed", 8, *options, "--each-crystal", "--bare", "-o", tmp_path / "a", "--truth", tmp_path / "t.csv")
    phantoms = [(0, 0, 0, 20, 50, 0.0096), (3, 0, 0, 4, 50, 0)]
    made = sim.pet(0.05, seed=8, isotope="Ga-68", phantoms=phantoms, crystal="BGO", noncollinearity_deg=0.4, each_crystal=True)
    assert made.frames.tobytes() == (tmp_path / "a").read_bytes() and made.truth is not None
    table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
    for name in ("scattered", "shared", "photon", "x_mm", "left_kev"):
        assert np.array_equal(made.truth[name], table[name].astype(made.truth[name].dtype)), name
    assert set(made.truth["photon"].tolist()) >= {1, 2} and made.truth["shared"].any() and made.truth["scattered"].any()


def test_what_is_held_stays() -> None:
    first = sim.pixels(3, (64, 64), density=0.1)
    x, copy = first["x"], first["x"].copy()
    del first
    for seed in range(20):
        sim.pixels(3, (64, 64), density=0.1, seed=seed)
    assert np.array_equal(x, copy)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sim.image((10, 10), density=2.0), sluice.UsageError, "density"),
        (lambda: sim.image((10, 0)), sluice.UsageError, "shape"),
        (lambda: sim.image((10, 10), seed=1 << 32), sluice.UsageError, "seed"),
        (lambda: sim.image((10, 10), value=256), sluice.UsageError, "value"),
        (lambda: sim.image((10, 10), granularity=1.5), TypeError, "granularity"),  # type: ignore[arg-type]
        (lambda: sim.pixels(1, (70000, 4)), sluice.UsageError, "height"),
        (lambda: sim.pixels(1, density="much"), TypeError, "density"),  # type: ignore[arg-type]
        (lambda: sim.stream(10, rate=0), sluice.UsageError, "rate"),
        (lambda: sim.stream(10, cluster_size=99), sluice.UsageError, "cluster_size"),
        (lambda: sim.stream(1.5), TypeError, "n is"),  # type: ignore[arg-type]
        (lambda: sim.velo(1, dead=2), sluice.UsageError, "dead"),
        (lambda: sim.velo(-1), sluice.UsageError, "events"),
        (lambda: sim.velo(1, truth=False), sluice.UsageError, "nothing to make"),
        (lambda: sim.velo(1, "/nowhere/a.mdf"), sluice.FileError, "/nowhere/a.mdf"),
        (lambda: sim.velo(1, geometry="/nowhere/g.bin"), sluice.FileError, "/nowhere/g.bin"),
        (lambda: sim.cms(1, noise=-1), sluice.UsageError, "noise"),
        (lambda: sim.cms(1, "/nowhere/a.raw"), sluice.FileError, "/nowhere/a.raw"),
        (lambda: sim.pet(0.001, scanner="lion"), sluice.UsageError, "lion"),
        (lambda: sim.pet(0.001, efficiency=7), sluice.UsageError, "efficiency"),
        (lambda: sim.pet(0.001, activity=1, sources=[(0, 0, 0, 0, 0, 1)]), sluice.UsageError, "activity"),
        (lambda: sim.pet(0.001, sources=[]), ValueError, "sources"),
        (lambda: sim.pet(0.001, sources=[(0, 0)]), TypeError, "a source is"),  # type: ignore[list-item]
        (lambda: sim.pet(float("nan")), sluice.UsageError, "seconds"),
        (lambda: sim.pet(0.001, isotope="U-235"), sluice.UsageError, "U-235"),
        (lambda: sim.pet(0.001, isotope=18), TypeError, "isotope is to be a str"),  # type: ignore[arg-type]
        (lambda: sim.pet(0.001, crystal="wood"), sluice.UsageError, "wood"),
        (lambda: sim.pet(0.001, each_crystal=True), sluice.UsageError, "each_crystal"),
        (lambda: sim.pet(0.001, phantoms=[(0, 0)]), TypeError, "a phantom is"),  # type: ignore[list-item]
        (lambda: sim.pet(0.001, phantoms=[(0, 0, 0, 10, 10, 1)] * 17), ValueError, "phantoms"),
        (lambda: sim.pet(0.001, phantoms=[(0, 0, 0, 10, 10, 1)], scatter=0.2), sluice.UsageError, "scatter"),
    ],
)
def test_what_is_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_no_file_is_left_behind(tmp_path: Path) -> None:
    with pytest.raises(sluice.UsageError):
        sim.velo(1, tmp_path / "a.mdf", noise=-1)
    assert list(tmp_path.iterdir()) == []
