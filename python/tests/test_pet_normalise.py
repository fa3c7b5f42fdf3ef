# SPDX-License-Identifier: Apache-2.0
"""PET's normalisation beside the command."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]


def command(*arguments):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made


def told(*arguments):
    return json.loads(command("pet", *arguments, "--json", "-q").stdout)


def test_normalise_is_the_commands(tmp_path):
    scanner = "channels=8,blocks=1x1,crystals=6x4,radius=40mm,pitch=4mm,depth=10mm"
    words = ["--scanner", scanner, "--seconds", 0.1, "--seed", 4, "--efficiency-spread", 0.15, "--threshold", 0, "-q"]
    raw, true, list_ = tmp_path / "a.raw", tmp_path / "true.h5", tmp_path / "pairs.h5"
    command("simulate", "pet", *words, "--source", "0,0,0,25,20,2e7", "-o", raw, "--write-tables", true)
    command("pet", "run", raw, "--tables", true, "--window", "2ns", "--delayed", "200ns", "--output", list_, "-q")
    source = "radius=25mm,length=20mm"
    its = told("normalise", "--tables", true, "--source", source, "-o", tmp_path / "its.h5", list_)
    efficiency, found = pet.normalise(pet.open_list(list_, batch=1000), pet.Tables.read(true), source)
    expected = pet.Tables.read(tmp_path / "its.h5")
    assert (efficiency == expected.efficiency).all() and abs(efficiency.mean() - 1) < 1e-5
    for name in ("prompts", "delayeds", "outside", "dead", "unseen", "converged", "spread", "chance"):
        assert found[name] == its[name], name
    assert found["block"].shape == (8,) and found["place"].shape == (24,) and found["radial"] is None
    assert np.allclose(found["block"], its["mean"]["block"])
    fitted, geometric = pet.normalise(pet.open_list(list_), scanner, source, geometric=True, threads=2)
    assert abs(geometric["axial"][0] - 1) < 0.1 and geometric["axial_mm"] == 4
    wrote = pet.write_factors(tmp_path / "py.cdh", expected, fov_mm=20)
    command("pet", "normalise", "--tables", tmp_path / "its.h5", "--factors", tmp_path / "its.cdh", "--fov", "20mm", "-q")
    assert (tmp_path / "py.cdf").read_bytes() == (tmp_path / "its.cdf").read_bytes() and wrote["dead"] == 0
    # With radial and axial factors, which files of tables keep.
    command("pet", "normalise", "--tables", true, "--source", source, "--geometric", "-o", tmp_path / "g.h5", "--factors", tmp_path / "g.cdh", list_, "-q")
    parts = {name: geometric[name] for name in ("radial", "radial_mm", "axial", "axial_mm")}
    pet.Tables(scanner, efficiency=fitted, **parts).write(tmp_path / "own.h5")
    own, its_own = pet.Tables.read(tmp_path / "own.h5"), pet.Tables.read(tmp_path / "g.h5")
    assert (own.radial == its_own.radial).all() and (own.axial == its_own.axial).all() and own.radial_mm == its_own.radial_mm
    assert own.axial_mm == its_own.axial_mm == 4 and "radial, axial" in repr(own)
    pet.write_factors(tmp_path / "own.cdh", own)
    assert (tmp_path / "own.cdf").read_bytes() == (tmp_path / "g.cdf").read_bytes()
    with pytest.raises(sluice.Error, match="not both factors"):
        pet.Tables(scanner, efficiency=fitted, radial=geometric["radial"], radial_mm=1).write(tmp_path / "x.h5")
    wrote = pet.write_factors(tmp_path / "py.hs", expected, attenuation="radius=20mm,mu=0.096", ring_difference=1)
    made = pet.read_sinogram(tmp_path / "py.hs")
    assert made.size == wrote["pairs"] == 10 * 24 * 24 and made.min() > 0
    dead = efficiency.copy()
    dead[70] = 0
    with pytest.warns(sluice.DamageWarning, match="191 pairs have no factor"):
        pet.write_factors(tmp_path / "dead.cdh", pet.Tables(scanner, efficiency=dead))
    pairs = pet.pairs({name: np.array([0, 1], kind) for name, kind in (
        {"time_ps": "i8", "dt_ps": "i8", "crystal1": "u4", "crystal2": "u4", "energy1_kev": "f4", "energy2_kev": "f4", "delayed": "u1"}
    ).items()})
    for wrong, match in ((lambda: pet.Normaliser(scanner, "radius=50mm"), "source: reaches"), (lambda: pet.Normaliser(scanner, "r=3"), "radius=Rmm")):
        with pytest.raises(sluice.UsageError, match=match):
            wrong()
    with pytest.raises(sluice.UsageError, match="there are no factors"):
        pet.write_factors(tmp_path / "x.hs", scanner)
    with pytest.raises(sluice.UsageError, match="NAME.cdh"):
        pet.write_factors(tmp_path / "x.dat", expected)
    with pytest.raises(sluice.FormatError, match="no pair passes through the source"):
        pet.normalise(pairs, scanner, source)
