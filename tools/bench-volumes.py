#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Labels of volumes beside scipy's: tools/bench-volumes.py [SIDE [EVERY [RUNS]]]     (256 20 2)

Random cubes of g voxels, at densities from 10 to 90 % in steps of EVERY; processor time of one thread, the least of the runs,
total voxels over total time. sluice writes into an array that was written before, and into new ones, as scipy always does; both
must find the same components. PYTHONPATH=build/release/python says which sluice."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

import sluice


def least(runs: int, call: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call and the least of its times."""
    best = np.inf
    for _ in range(runs):
        began = time.process_time()
        result = call()
        best = min(best, time.process_time() - began)
    return result, best


def main(side: int = 256, every: int = 20, runs: int = 2) -> None:
    chance = np.random.default_rng(1)
    out = np.ones((side, side, side), np.int32)
    print(f"{side}^3, Mvoxel/s          scipy   sluice       new array")
    for connectivity, rank in ((6, 1), (18, 2), (26, 3)):
        structure = ndimage.generate_binary_structure(3, rank)
        for g in (1, 4, 16):
            n = -(-side // g)
            total = np.zeros(3)
            for percent in range(10, 91, every):
                cubes = (chance.random((n, n, n)) * 100 < percent).astype(np.uint8)
                volume = np.ascontiguousarray(cubes.repeat(g, 0).repeat(g, 1).repeat(g, 2)[:side, :side, :side])
                (_, wanted), t_scipy = least(1, lambda v=volume: ndimage.label(v, structure))
                (_, found), t_warm = least(runs, lambda v=volume: sluice.image.label(v, connectivity=connectivity, out=out))
                _, t_new = least(runs, lambda v=volume: sluice.image.label(v, connectivity=connectivity))
                assert wanted == found, (g, percent, wanted, found)
                total += t_scipy, t_warm, t_new
            speed = side**3 * len(range(10, 91, every)) / total / 1e6
            times = speed / speed[0]
            print(f"{connectivity:2} neighbours, g = {g:2}: {speed[0]:6.0f} {speed[1]:6.0f} ({times[1]:4.1f} x) {speed[2]:6.0f} ({times[2]:4.1f} x)", flush=True)


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))
