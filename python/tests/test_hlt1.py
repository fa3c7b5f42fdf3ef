# SPDX-License-Identifier: Apache-2.0
"""LHCb's first trigger level: batches beside what the command says of the same files."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", Path(__file__).parent / "../../../shared/data"))
FOLDER = DATA / "lhcb_hlt1"
EVENTS = FOLDER / "MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"
LINES = Path(__file__).parents[2] / "docs/examples/hlt1-lines.json"
pytestmark = pytest.mark.skipif(not EVENTS.exists(), reason="the reference data are not there")


def told(*options):
    made = subprocess.run([COMMAND, "hlt1", EVENTS, "--geometry", FOLDER, *options, "-q", "--json"], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def standard():
    return told("--truth", "--lines", LINES)


@pytest.mark.parametrize("batch,threads", [(64, 1), (3, 2)])
def test_the_commands_checksum_and_counts(standard, batch, threads):
    with sluice.hlt1.open(EVENTS, geometry=FOLDER, lines=LINES, truth=True, batch=batch, threads=threads) as reader:
        batches = list(reader)
    assert f"{reader.checksum:016x}" == standard["checksum"]
    for column, name in (("ut_hits", "ut_hits"), ("scifi_hits", "scifi_clusters"), ("muon_hits", "muon_hits")):
        offsets = [np.diff(getattr(one, column).offsets.astype(int)).tolist() for one in batches]
        assert sum(offsets, []) == standard[name]
    assert sum(one.long_tracks.n_rows for one in batches) == standard["totals"]["long_tracks"] > 300
    selection = reader.totals["selection"]
    assert selection["accepted"] == standard["selection"]["accepted"]
    assert selection["lines"] == {line["name"]: line["accepted"] for line in standard["selection"]["lines"]}
    assert batches[0].lines == tuple(selection["lines"]) and batches[0].decisions.n_rows == batches[0].n_events


def test_which_event_is_which(standard):
    with sluice.hlt1.open(EVENTS, geometry=FOLDER, batch=3, threads=2, identity=True) as reader:
        events = [one.events for one in reader]
    for name in ("run", "event", "offset_bytes", "faults"):
        assert sum([one[name].tolist() for one in events], []) == standard["identity"][name]
    with sluice.hlt1.open(EVENTS, geometry=FOLDER) as reader, pytest.raises(AttributeError, match="identity=True"):
        next(reader).events


def test_performance(standard):
    performance = sluice.hlt1.check(EVENTS, geometry=FOLDER)
    truth = standard["truth"]
    for name, category in performance.categories.items():
        assert (category.found, category.reconstructible) == (truth["categories"][name]["found"], truth["categories"][name]["reconstructible"])
        assert category.purity == pytest.approx(truth["categories"][name]["purity"]) and category.purity <= 1
        assert category.hit_efficiency <= 1
    assert performance.ghost_rate == pytest.approx(truth["ghost_rate"])
    assert performance.trigger_ghost_rate == pytest.approx(truth["trigger_ghost_rate"])
    assert performance.momentum.sigma68 == pytest.approx(truth["momentum"]["sigma68"])
    assert [one.n for one in performance.momentum_of] == [one["n"] for one in truth["momentum"]["ranges"]]
    assert performance.others.is_muon == truth["is_muon"]["others"]["is_muon"] and performance.events == 10


def test_columns():
    with sluice.hlt1.open(EVENTS, geometry=FOLDER, settings="full", fast=True, batch=10) as reader:
        (batch,) = list(reader)
    assert f"{reader.checksum:016x}" == told("--settings", "full", "--fast")["checksum"]
    tracks, fitted, particles = batch.long_tracks, batch.fitted_tracks, batch.particles
    assert tracks.n_rows == fitted.n_rows == particles.n_rows == batch.muons.n_rows > 450
    assert fitted.units["q_over_p"] == "1/MeV" and "decisions" not in batch.names and "true_particles" not in batch.names
    good = fitted["n_dof"] > 0
    assert good.sum() > 450
    assert np.allclose(1 / np.abs(fitted["q_over_p"][good]), particles["p_mev"][good], rtol=1e-6)
    event = 3
    one, hits, rows = tracks.event(event), batch.long_hits.event(event)["hit"], batch.scifi_hits.event(event)
    for begin, n in zip(one["hit_begin"], one["n_hits"]):
        zones = rows["zone"][hits[begin : begin + n]] // 2
        assert 9 <= n <= 12 and (np.diff(zones.astype(int)) > 0).all()
    with pytest.raises(ValueError, match="read-only"):
        tracks["x_mm"][0] = 0


def test_lines_of_ones_own_and_a_cut():
    lines = {"lines": [{"name": "all", "event": {"event_tracks": {"min": 1}}}, {"name": "hard", "tracks": {"pt_mev": {"min": 1500}}}]}
    with pytest.warns(sluice.DamageWarning, match="global event cut left out 4 of 10 events"):
        with sluice.hlt1.open(EVENTS, geometry=FOLDER, lines=lines, gec_ut_scifi=6500, batch=10) as reader:
            (batch,) = list(reader)
    totals = reader.totals
    assert totals["cut_events"] == 4 and totals["selection"]["lines"]["all"] == 6
    hard = [(batch.particles.event(e)["pt_mev"] >= 1500).any() for e in range(10)]
    assert totals["selection"]["lines"]["hard"] == sum(hard) and ((batch.decisions["lines"] >> 1 & 1) == hard).all()


def test_clusters_of_the_read_out_are_told(tmp_path):
    data, at = bytearray(EVENTS.read_bytes()), 48
    data[12:16] = bytes(4)  # no checksum
    while at < int.from_bytes(data[:4], "little"):
        if data[at + 4] == 63:
            data[at + 4 : at + 6] = bytes([73, 2])
        at += (int.from_bytes(data[at + 2 : at + 4], "little") + 3) // 4 * 4
    (tmp_path / "e.mdf").write_bytes(data)
    with pytest.warns(sluice.DamageWarning, match="e.mdf: 1 of 10 events have no super-pixels"):
        with sluice.hlt1.open(tmp_path / "e.mdf", geometry=FOLDER) as reader:
            assert sum(one.n_events for one in reader) == 10
    assert reader.totals["retina_events"] == 1


def test_what_is_wrong(tmp_path):
    with pytest.raises(sluice.FileError, match="velo_geometry.bin"):
        sluice.hlt1.open(EVENTS, geometry=tmp_path)
    with pytest.raises(sluice.UsageError, match="settings"):
        sluice.hlt1.open(EVENTS, geometry=FOLDER, settings="tight")
    with pytest.raises(sluice.FormatError, match="unknown"):
        sluice.hlt1.open(EVENTS, geometry=FOLDER, lines={"lines": [{"name": "a", "tracks": {"weight": {"min": 1}}}]})
    subprocess.run([COMMAND, "simulate", "velo", "--events", "2", "-q", "-o", tmp_path / "velo.mdf"], check=True)
    with pytest.warns(sluice.DamageWarning, match="has a hit of the (UT|SciFi|muon stations)"):
        with sluice.hlt1.open(tmp_path / "velo.mdf", geometry=FOLDER) as reader:
            assert [one.long_tracks.n_rows for one in reader] == [0]
        performance = sluice.hlt1.check(tmp_path / "velo.mdf", geometry=FOLDER)
    assert performance.long_tracks == 0 and math.isnan(performance.ghost_rate) and performance.events == 2
    assert performance.muons.tracks == 0 and math.isnan(performance.muons.fraction) and math.isnan(performance.momentum.median)


def test_small_batches_as_of_the_command():
    with sluice.hlt1.open(EVENTS, geometry=FOLDER) as reader:
        assert [one.hits.n_events for one in reader] == [8, 2]


@pytest.mark.parametrize("settings", ["standard", "full"])
def test_field_the_other_way_round(tmp_path, settings):
    """The same tracks with the opposite charges, and a beam that is elsewhere is told."""
    for name in FOLDER.iterdir():
        if name.suffix != ".mdf" and name.name not in ("polarity.bin", "beamline.bin"):
            (tmp_path / name.name).symlink_to(name)
    (tmp_path / "polarity.bin").write_bytes((-np.fromfile(FOLDER / "polarity.bin", "f4")).tobytes())
    (tmp_path / "beamline.bin").write_bytes((FOLDER / "beamline.bin").read_bytes())
    down, up = (list(sluice.hlt1.open(EVENTS, geometry=where, settings=settings, batch=10))[0] for where in (FOLDER, tmp_path))
    turned = 0
    for group in ("upstream_tracks", "upstream_hits", "long_tracks", "long_hits", "muons", "fitted_tracks", "particles", "secondaries"):
        one, other = getattr(down, group), getattr(up, group)
        assert one.n_rows == other.n_rows > 100
        for name in one.names:
            odd = name in ("q_over_p", "charge", "cov_xq", "cov_yq", "cov_txq", "cov_tyq")
            turned += odd
            wanted = -one[name] if odd else one[name]
            assert np.array_equal(other[name], wanted, equal_nan=wanted.dtype.kind == "f"), (group, name)
    assert turned == 9
    (tmp_path / "beamline.bin").write_bytes(np.float32([0.5, 0]).tobytes())
    with pytest.warns(sluice.DamageWarning, match="the beam is at .* by beamline.bin at 0.5, 0 mm"):
        with sluice.hlt1.open(EVENTS, geometry=tmp_path) as reader:
            assert len(list(reader)) == 2


def test_folder_without_what_may_be_absent(tmp_path):
    for name in FOLDER.iterdir():
        if name.suffix != ".mdf" and name.name not in ("muon_field_of_interest.bin", "kalman_FT6x2"):
            (tmp_path / name.name).symlink_to(name)
    with pytest.warns(sluice.DamageWarning) as seen:
        with sluice.hlt1.open([EVENTS, EVENTS], geometry=tmp_path) as reader:
            assert sum(one.particles.n_rows for one in reader) == 0
    told = [str(one.message) for one in seen]
    assert [sum(word in one for one in told) for word in ("muon_field_of_interest.bin: no track", "kalman_FT6x2: no track")] == [1, 1]
    lines = {"lines": [{"name": "a", "tracks": {"is_muon": {"min": 1}}}]}
    with pytest.raises(sluice.UsageError, match="cuts on muons"):
        sluice.hlt1.open(EVENTS, geometry=tmp_path, lines=lines)
