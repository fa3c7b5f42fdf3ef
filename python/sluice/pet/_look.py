# SPDX-License-Identifier: Apache-2.0
"""What is in the scanner, for looking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._scanner import Path, Rows, Scanner, Tables, count, number, pair_buffers, scanner_of


@dataclass(frozen=True)
class Image:
    """``value[z, y, x]``; the middle of the first voxel is at ``first_mm`` (x, y, z). ``centroid_mm``: the middle of what is within
    ``reach_mm`` of the ``hottest_mm`` voxel. Pairs: ``used``, of which ``missed`` are beside the field of view; ``delayeds`` and those of
    crystals that the scanner does not have (``outside``) are left out."""

    value: NDArray[np.float32]
    voxel_mm: float
    first_mm: tuple[float, float, float]
    hottest_mm: tuple[float, float, float]
    centroid_mm: tuple[float, float, float]
    reach_mm: float
    used: int
    missed: int
    delayeds: int
    outside: int
    checksum: int


def look(
    pairs: Rows,
    scanner: Scanner | Tables | str | Path,
    *,
    iterations: int = 10,
    tof_ps: float | None = None,
    voxel_mm: float = 0.0,
    diameter_mm: float = 0.0,
    length_mm: float = 0.0,
    device: str | None = None,
    threads: int = 1,
) -> Image:
    """An image of pairs as ``sluice pet look`` makes it, for looking: so many iterations of list-mode MLEM, or with 0 the back-projection,
    with the sensitivity of the geometry and no other correction. ``tof_ps``: the resolution (FWHM) of the pairs' times, which are not used
    if it is 0; None: the ``time_fwhm_ps`` of the tables, if ``scanner`` is one of these and has it. Lengths that are 0 follow from the geometry."""
    if tof_ps is None:
        tof_ps = scanner.time_fwhm_ps if isinstance(scanner, Tables) else 0.0
    config = (
        number(voxel_mm, "voxel_mm", 0, 1e6),
        number(diameter_mm, "diameter_mm", 0, 1e6),
        number(length_mm, "length_mm", 0, 1e6),
        count(iterations, "iterations", 0, 1000),
        number(tof_ps, "tof_ps", 0, 1e6),
        count(threads, "threads", 0, 1024),
    )
    made: dict[str, Any] = _core.pet_look(scanner_of(scanner).geometry, config, device, pair_buffers(pairs))
    x, y, z = made["n"]
    return Image(
        value=np.frombuffer(made["value"], np.float32).reshape(z, y, x),
        **{name: made[name] for name in Image.__dataclass_fields__ if name != "value"},
    )
