# SPDX-License-Identifier: Apache-2.0
"""Batches of CMS's pixels beside what the command says of the same files."""

from __future__ import annotations

import json
import os
import struct
import subprocess

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cms")
    made = {name: folder / f"{name}.bin" for name in ("raw", "cabling", "gains")}
    simulate = [COMMAND, "simulate", "cms", "--events", "12", "--tracks", "300", "--duplicates", "0.05", "-q"]
    subprocess.run([*simulate, "-o", made["raw"], "--cabling", made["cabling"], "--gains", made["gains"]], check=True)
    damaged = [*simulate, "-o", folder / "damaged.bin", "--corrupt", "0.01"]
    subprocess.run([*damaged, "--cabling", folder / "other.bin", "--gains", folder / "others.bin"], check=True)
    return made["raw"], folder / "damaged.bin", {"cabling": made["cabling"], "gains": made["gains"]}


def told(path, payloads, *options):
    words = [word for name, value in payloads.items() for word in (f"--{name}", value)]
    made = subprocess.run([COMMAND, "cms", path, *words, *options, "-q", "--json"], capture_output=True, text=True, check=False)
    return json.loads(made.stdout)


def read(path, payloads, **options):
    with sluice.cms.open(path, **payloads, **options) as reader:
        batches = list(reader)
    return batches, reader.totals


@pytest.mark.parametrize("batch,threads", [(1, 1), (5, 1), (64, 1), (5, 2)])
def test_the_commands_checksum(run, batch, threads):
    path, _, payloads = run
    expected = told(path, payloads)
    batches, totals = read(path, payloads, batch=batch, threads=threads)
    assert f"{totals['checksum']:016x}" == expected["checksum"] and totals["events"] == 12
    assert totals["digis"] == expected["words"]["digis"] == sum(one.digis.n_rows for one in batches) > 0
    assert totals["clusters"] == expected["clusters"] == sum(one.clusters.n_rows for one in batches)
    assert totals["modules"] == expected["modules"] and totals["dead_column_digis"] == expected["dead_column_digis"]


@pytest.mark.parametrize(
    "options,words",
    [
        ({"min_charge_e": 9000, "min_charge_layer1_e": 100}, ("--min-charge", "9000", "--min-charge-layer1", "100")),
        ({"above": True, "duplicates": "sum"}, ("--cut", "gt", "--duplicates", "sum")),
        ({"duplicates": "largest"}, ("--duplicates", "largest")),
        ({"duplicates": "first"}, ("--duplicates", "first")),
    ],
)
def test_options(run, options, words):
    path, _, payloads = run
    _, totals = read(path, payloads, **options)
    assert f"{totals['checksum']:016x}" == told(path, payloads, *words)["checksum"] != told(path, payloads)["checksum"]


def test_columns(run):
    path, _, payloads = run
    (batch,), totals = read(path, payloads)
    digis, clusters = batch.digis, batch.clusters
    assert batch.names == ("digis", "modules", "clusters", "events") and batch.checksum == totals["checksum"]
    assert clusters.units["charge_e"] == "e" and clusters.units["x_um"] == "um"
    event = 3
    some, found = digis.event(event), clusters.event(event)
    kept = some["cluster"] >= 0
    assert kept.sum() == found["n_pixels"].sum() and some["adc"][kept].astype(np.int64).sum() == found["charge_e"].sum()
    assert (clusters.charge_e >= 2000).all() and (np.abs(clusters.x_um) < 9000).all() and (clusters.x_error_um > 0).all()
    with pytest.raises(ValueError, match="read-only"):
        clusters.x_um[0] = 0


def test_events(run):
    """Numbers and bunch crossings of the headers, parsed here."""
    path, _, payloads = run
    raw, at, expected = path.read_bytes(), 0, []
    while at < len(raw):
        (n,) = struct.unpack_from("<I", raw, at)
        at, headers = at + 4, []
        for _ in range(n):
            _, size = struct.unpack_from("<2I", raw, at)
            headers += [struct.unpack_from("<2I", raw, at + 8)] if size else []
            at += 8 + size
        expected.append((headers[0][1] & 0xFFFFFF, headers[0][0] >> 20, len(headers), 0))
        assert len(set((low >> 20, high & 0xFFFFFF) for low, high in headers)) == 1
    batches, _ = read(path, payloads, batch=5)
    names = ("level1_id", "bunch_crossing", "fragments", "others")
    assert [row for one in batches for row in zip(*(one.events[name].tolist() for name in names))] == expected
    assert all((one.events.offsets == np.arange(one.events.n_rows + 1)).all() for one in batches) and len(expected) == 12


def test_without_digis(run):
    path, _, payloads = run
    (whole,), of_all = read(path, payloads)
    (batch,), totals = read(path, payloads, digis=False)
    assert batch.names == ("modules", "clusters", "events") and batch.clusters.checksum == whole.clusters.checksum
    assert totals["digis"] == whole.digis.n_rows and totals["checksum"] == of_all["checksum"]
    with pytest.raises(AttributeError, match="digis=True"):
        _ = batch.digis


def test_crowded_modules(run):
    path, _, payloads = run
    expected = told(path, payloads, "--max-module-digis", "10", "--truncate")
    with pytest.warns(sluice.DamageWarning, match="module_crowded"):
        _, totals = read(path, payloads, max_module_digis=10, truncate=True)
    assert f"{totals['checksum']:016x}" == expected["checksum"]


def test_damage(run):
    _, damaged, payloads = run
    expected = told(damaged, payloads)
    with pytest.warns(sluice.DamageWarning, match=r"damaged.bin: .* faults \(.*; first event") as seen:
        batches, totals = read(damaged, payloads, batch=5)
    assert len(seen) == 1 and f"{totals['checksum']:016x}" == expected["checksum"]
    faults = {}
    for batch in batches:
        for name, n in batch.faults.items():
            faults[name] = faults.get(name, 0) + n
    assert {name: n for name, n in faults.items() if n} == {name: n for name, n in expected["faults"].items() if n} != {}
    with pytest.raises(sluice.StrictError, match="damaged.bin"):
        read(damaged, payloads, on_fault="raise")


def positions(path, raw_ids):
    """cpefast.bin by docs/formats/cms-dumps.md: module m has its plane at z = m mm, turned by 90 degrees about the beams."""
    made = struct.pack("<4fI", 0.0285, 0.0285, 0.01, 0.015, 1856)
    for module in range(1856):
        identity = raw_ids.get(module, (1 if module < 1184 else 2) << 25 | 1 << 28 | 1 << 20)
        made += struct.pack("<BBHHHI", identity >> 25 & 7 == 1, 0, 1, module, 0, identity)
        made += struct.pack("<7f", 0, 0, 0, 0, 0, 0, 3) + struct.pack("<6f", *[0.002] * 3, *[0.003] * 3)
        made += struct.pack("<3f", 0, 0, module / 10) + struct.pack("<9f", 0, 1, 0, -1, 0, 0, 0, 0, 1)
    path.write_bytes(made + bytes(3720))


def test_geometry(run, tmp_path):
    path, _, payloads = run
    (plain,), _ = read(path, payloads)
    with pytest.raises(AttributeError, match="geometry="):
        _ = plain.places
    digis = plain.digis
    cables = np.fromfile(payloads["cabling"], [("id", "<u4"), ("module", "<u2"), ("more", "<u2")], count=57600, offset=24)
    cables = cables[cables["id"] != 0]
    positions(tmp_path / "cpefast.bin", dict(zip(cables["module"].tolist(), cables["id"].tolist())))
    with pytest.raises(sluice.UsageError, match="one of them is of another detector"), pytest.warns(UserWarning):
        positions(tmp_path / "other.bin", {})
        _ = sluice.cms.open(path, **payloads, geometry=tmp_path / "other.bin")
    with pytest.warns(UserWarning, match=r"cpefast.bin: a dump of CMS's positions, .* 1856 modules"):
        (batch,), totals = read(path, payloads, geometry=tmp_path / "cpefast.bin")
    expected = told(path, {**payloads, "geometry": tmp_path / "cpefast.bin"})["checksum"]
    assert f"{totals['checksum']:016x}" == expected != told(path, payloads)["checksum"]
    clusters, places = batch.clusters, batch.places
    assert batch.names == ("digis", "modules", "clusters", "events", "places") and places.units["x_mm"] == "mm"
    assert (clusters.x_um == plain.clusters.x_um).all()
    np.testing.assert_allclose(places.x_mm, -clusters.y_um / 1000, rtol=1e-6)
    np.testing.assert_allclose(places.y_mm, clusters.x_um / 1000, rtol=1e-6)
    np.testing.assert_allclose(places.z_mm, clusters.module, rtol=1e-6)
    assert (places.raw_id == digis.raw_id[clusters.first_digi + digis.offsets[:-1].repeat(np.diff(clusters.offsets))]).all()
    inner = (clusters.x_min > 0) & (clusters.x_max < 159)
    assert set(clusters.x_error_um[inner].tolist()) == {20.0} and set(clusters.x_error_um[~inner].tolist()) <= {50.0}


def test_skipped_modules(run):
    path, _, payloads = run
    expected = told(path, payloads, "--skip-modules", "0-95,300")
    batches, totals = read(path, payloads, skip_modules=[*range(96), 300])
    assert f"{totals['checksum']:016x}" == expected["checksum"] and totals["bad_roc_words"] == expected["words"]["bad_roc"] > 0
    assert not np.isin(batches[0].clusters.module, [5, 300]).any() and batches[0].clusters.n_rows > 0
    for wrong in (-1, 1856):
        with pytest.raises(sluice.UsageError, match=f"no module {wrong}"):
            sluice.cms.open(path, **payloads, skip_modules=[wrong])


def test_what_is_refused(run, tmp_path):
    path, _, payloads = run
    with pytest.raises(sluice.UsageError, match="phase 1 needs gains"):
        sluice.cms.open(path, cabling=payloads["cabling"])
    with pytest.raises(TypeError):
        sluice.cms.open(path)
    for bad in ({"phase": 3}, {"phase": 0}, {"duplicates": "none"}, {"min_charge_e": -1}, {"batch": 0}, {"on_fault": "x"}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            sluice.cms.open(path, **payloads, **bad)
    with pytest.raises(sluice.FileError, match="missing"):
        sluice.cms.open(path, **{**payloads, "gains": tmp_path / "missing.bin"})
    with pytest.raises(sluice.FormatError, match="raw.bin"):
        sluice.cms.open(path, **{**payloads, "cabling": path})
    with pytest.raises((sluice.UnsupportedError, sluice.UsageError), match="cuda"):
        read(path, payloads, device="cuda:99")
    for several in ("cuda:98,99", "cuda:0,99"):
        with pytest.raises(sluice.UnsupportedError, match=f'device "{several}": '):
            read(path, payloads, device=several)
    with pytest.raises(sluice.UsageError, match='device "cuda:1,0,1": cuda:1 is named twice'):
        read(path, payloads, device="cuda:1,0,1")
    try:  # every one that there is, if there is one
        batches, totals = read(path, payloads, device="all", batch=3)
        assert f"{totals['checksum']:016x}" == told(path, payloads)["checksum"]
    except sluice.UnsupportedError as error:
        assert 'device "all": ' in str(error)
    noise = tmp_path / "noise.bin"
    noise.write_bytes(np.random.default_rng(1).bytes(5000))
    reader = sluice.cms.open([noise, path], **payloads)
    with pytest.raises(sluice.Error, match="noise.bin"):
        next(reader)
    assert sum(batch.n_events for batch in reader) == 12
