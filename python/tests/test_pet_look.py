# SPDX-License-Identifier: Apache-2.0
"""An image of pairs beside the command."""

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
    return made.stdout


def test_look(tmp_path):
    raw, pairs, image = tmp_path / "a.raw", tmp_path / "a.h5", tmp_path / "a.npy"
    command("simulate", "pet", "--source", "20,10,5,0,0,2e6", "--seconds", 0.05, "--seed", 6, "-q", "-o", raw)
    command("pet", "run", raw, "--scanner", "mouse20", "--window", "3ns", "--tof", "471ps", "-q", "-o", pairs)
    words = ["--voxel", "2mm", "--iterations", 4, "--image", image, "--json", "-q"]
    told = json.loads(command("pet", "look", pairs, *words))
    with pet.open_list(pairs) as reader:
        rows = [batch.to_numpy() for batch in reader]
    rows = {name: np.concatenate([one[name] for one in rows]) for name in rows[0]}
    made = pet.look(rows, "mouse20", iterations=4, tof_ps=471, voxel_mm=2, threads=2)
    assert (made.value == np.load(image)).all() and f"{made.checksum:016x}" == told["checksum"]
    assert made.centroid_mm == pytest.approx((20, 10, 5), abs=0.5) and made.used == told["pairs"]
    with pytest.raises(sluice.UsageError):
        pet.look(rows, "mouse20", voxel_mm=0.001)
