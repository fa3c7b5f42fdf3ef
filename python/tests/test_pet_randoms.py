# SPDX-License-Identifier: Apache-2.0
"""Randoms of each pair: by their formula, in files and a sinogram, and what cannot be asked for."""

import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ.get("SLUICE_COMMAND")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="SLUICE_COMMAND does not name the command")


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("randoms")
    path, tables = folder / "a.raw", folder / "tables.h5"
    words = ["--seconds", "0.06", "--rate", "1e6", "--seed", "3", "-q"]
    subprocess.run([COMMAND, "simulate", "pet", *words, "--write-tables", tables, "-o", path], check=True)
    return path, tables


def test_randoms_of_pairs(raw, tmp_path):
    with pet.run(raw[0], raw[1], randoms="singles", rates={"bin_s": 0.001}, window_ns=4, delayed_ns=100) as reader:
        pairs = [f.pairs for f in reader]
    total, sigma = reader.totals["randoms"]
    bins = reader.randoms_bins
    assert bins.n_rows > 1 and bins.randoms.sum() == pytest.approx(total) and 0 < sigma < total
    rates = [reader.crystal_rates(i) for i in range(bins.n_rows)]
    assert [int(r.singles.sum()) for r in rates] == list(bins.singles)
    some = next(p for p in pairs if p.n_rows > 10)
    hz = reader.randoms_hz(some)
    at = np.searchsorted(bins.begin_s, some.time_ps * 1e-12, "right") - 1
    for i in range(0, some.n_rows, 7):
        r, a, b = rates[at[i]], some.crystal1[i], some.crystal2[i]
        wanted = bins.factor[at[i]] * 2 * 4e-9 * r.singles_hz[a] * r.weight[a] * r.singles_hz[b] * r.weight[b]
        assert hz[i] == pytest.approx(wanted, rel=1e-5) or hz[i] < wanted  # less within a block
    path = tmp_path / "a.cdh"
    with pet.ListWriter(path, reader.tables, prompts=True, randoms=reader, window_ns=4, start_ps=reader.totals["start_ps"]) as writer:
        writer.write(some)
    assert "Random correction flag: 1" in path.read_text()
    record = np.dtype([("ms", "<u4"), ("hz", "<f4"), ("a", "<u4"), ("b", "<u4")])
    assert (np.fromfile(tmp_path / "a.cdf", record)["hz"] == hz[some.delayed == 0]).all()
    image = pet.Sinogram(reader.tables, tangential=reader.tables.scanner.crystals_per_ring - 1)
    found = image.write_randoms(tmp_path / "r.hs", reader)
    assert found == pytest.approx(pet.read_sinogram(tmp_path / "r.hs").sum(dtype=float), rel=1e-4) and 0.9 * total < found <= total
    with pytest.raises(sluice.UnsupportedError, match="safir"):
        pet.ListWriter(tmp_path / "a.clm.safir", reader.tables, randoms=reader)
    with pytest.raises(sluice.UsageError, match="opened with them"):
        pet.Chain(raw[1]).randoms_hz(some)
    with pytest.raises(sluice.UsageError, match="randoms"):
        pet.Chain(raw[1], randoms="some")
