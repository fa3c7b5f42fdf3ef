# SPDX-License-Identifier: Apache-2.0
"""A scanner's cabling beside the command."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]
SCANNER = "mouse20"


def command(*arguments, good=True):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert not good or made.returncode == 0, made.stderr
    return made.stdout


def test_check(tmp_path):
    folder = tmp_path
    path, picture, file = folder / "check.raw", folder / "check.png", folder / "check.h5"
    words = ["--source", "20,10,5,0,0,2e6", "--seconds", 0.2, "--seed", 6, "--bare", "-q"]
    command("simulate", "pet", *words, "-o", path)
    frames = np.fromfile(path, np.uint8).reshape(-1, 16)
    three, seven = frames[:, 1] == 3, frames[:, 1] == 7
    frames[three, 1], frames[seven, 1] = 7, 3
    frames.tofile(path)
    chain = pet.Chain(SCANNER)
    found = [chain.push(frames), chain.finish()]
    pairs = {name: np.concatenate([one.pairs[name] for one in found]) for name in found[0].pairs}
    singles = {name: np.concatenate([one.singles[name] for one in found]) for name in found[0].singles}
    made = pet.check(pairs, SCANNER, singles=singles, source=(20, 10, 5), window_ns=10, output=file, png=picture)
    assert [one.text for one in made.findings] == ["modules 3 and 7 are swapped"] and made.errors == 1
    assert (made.findings[0].kind, made.findings[0].module, made.findings[0].other) == ("swapped", 3, 7)
    counted = np.zeros((20, 20), np.uint64)
    one, other = (pairs[name] % 520 // 26 for name in ("crystal1", "crystal2"))
    np.add.at(counted, (one, other), 1)
    np.add.at(counted, (other, one), one != other)
    assert (made.prompt == counted).all() and made.pairs == len(one) and made.singles.sum() == len(frames)
    assert picture.read_bytes()[:4] == b"\x89PNG" and file.exists()
    in_command = json.loads(command("pet", "check", path, "--scanner", SCANNER, "--source", "20,10,5", "--json", "-q", good=False))
    assert in_command["prompt"] == made.prompt.tolist() and in_command["errors"] == 1
    np.testing.assert_allclose(in_command["source_mm"]["x"], made.source_mm[0])
    assert pet.check(pairs, SCANNER).findings[-1].kind == "undecided"
    with pytest.raises(sluice.UsageError):
        pet.check(pairs, SCANNER, bins=0)
