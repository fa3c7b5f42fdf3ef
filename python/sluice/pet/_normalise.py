# SPDX-License-Identifier: Apache-2.0
"""Efficiencies of crystals from pairs of a known source, and the factors of all pairs for reconstructions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import UsageError
from ._scanner import Path, Rows, Scanner, Tables, count, number, pair_buffers, scanner_of, tables_of, thread_count, warn_lost

_NOTHING = 0xFFFFFFFF


class Normaliser:
    """Pairs of a known source to efficiencies of crystals.

    ``source``: a uniform cylinder along z in words, "radius=30mm,length=200mm", with ``inner=`` for the shell that a rod is on its way
    around, ``x=``, ``y=``, ``z=`` for its middle and ``mu=`` for its attenuation in 1/cm. ``edge_mm``: pairs whose line passes so near to
    its edge are left out, None: a crystal's width. ``ring_difference``: pairs farther apart along the axis are left out. ``geometric``:
    radial and axial factors are found, too."""

    def __init__(
        self,
        scanner: Scanner | Tables | str | Path,
        source: str,
        *,
        edge_mm: float | None = None,
        ring_difference: int | None = None,
        geometric: bool = False,
        threads: int = 1,
    ) -> None:
        edge = 0.0 if edge_mm is None else number(edge_mm, "edge_mm", 0, 1e6)
        difference = _NOTHING if ring_difference is None else count(ring_difference, "ring_difference", 0, 65535)
        of = scanner_of(scanner)
        words = (of.geometry, str(source), edge, difference, bool(geometric), thread_count(threads))
        self._normaliser: Any = _core.pet_normalise_open(*words)

    def add(self, pairs: Rows) -> None:
        """Counts pairs: columns ``crystal1``, ``crystal2``, ``delayed``; delayeds count -1. Those not through the source are left out."""
        _core.pet_normalise_add(self._normaliser, pair_buffers(pairs))

    def solve(self) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Efficiencies by crystal, of mean 1, and what was found: ``prompts``, ``delayeds``, ``outside``, ``dead`` crystals without counts and
        ``unseen`` ones that the source does not reach (of efficiency 0, with a warning), ``converged``, ``spread`` of the efficiencies and
        what the counts' ``chance`` explains of it; means by ``block`` and ``place``; with ``geometric`` the factors ``radial``, by distance
        from the axis in bins of ``radial_mm``, and ``axial``, by distance along it in bins of ``axial_mm``. More may be added afterwards."""
        data, found = _core.pet_normalise_solve(self._normaliser)
        for name in ("block", "place", "radial", "axial"):
            found[name] = None if found[name] is None else np.frombuffer(found[name], np.float32)
        if found["dead"] or found["unseen"]:
            warn_lost(f"{found['dead']} crystals have no counts, and the source does not reach {found['unseen']}: efficiency 0", "warn")
        return np.frombuffer(data, np.float32), found


def normalise(
    pairs: Rows | Iterable[Rows],
    scanner: Scanner | Tables | str | Path,
    source: str,
    *,
    edge_mm: float | None = None,
    ring_difference: int | None = None,
    geometric: bool = False,
    threads: int = 1,
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Efficiencies of crystals from pairs, or batches of them (a list that is read): ``Normaliser`` tells the words and what comes out."""
    made = Normaliser(
        scanner, source, edge_mm=edge_mm, ring_difference=ring_difference, geometric=geometric, threads=threads
    )
    batches: Iterable[Any] = [pairs] if hasattr(pairs, "keys") or isinstance(pairs, (np.ndarray, _core.Columns)) else pairs
    for batch in batches:
        made.add(batch)
    return made.solve()


def write_factors(
    path: Path,
    tables: Tables | Scanner | str | Path,
    *,
    attenuation: Iterable[str] = (),
    fov_mm: float | None = None,
    ring_difference: int | None = None,
    tangential: int | None = None,
) -> dict[str, int]:
    """Writes the factors of all pairs, by which counts are multiplied: NAME.cdh, CASToR's normalisation file, or NAME.hs, a sinogram for STIR.

    ``tables``: their ``efficiency``, if there is one. ``attenuation``: cylinders in words, "radius=20mm,length=100mm,mu=0.096". ``fov_mm``,
    of CASToR: pairs whose line is farther from the axis are left out. ``tangential``, of a sinogram: bins. What is written: ``pairs``;
    ``dead`` ones, of a crystal of efficiency 0, absent or 1e20; and those ``outside``."""
    of = tables_of(tables)
    words = [attenuation] if isinstance(attenuation, str) else [str(one) for one in attenuation]
    if of.efficiency is None and not words:
        raise UsageError("there are no factors: the tables have no efficiency, and nothing attenuates")
    difference = _NOTHING if ring_difference is None else count(ring_difference, "ring_difference", 0, 65535)
    fov = 0.0 if fov_mm is None else number(fov_mm, "fov_mm", 0, 1e6)
    bins = 0 if tangential is None else count(tangential, "tangential", 1, 65536)
    pairs, dead, outside = _core.pet_factors_write(path, of.packed, words, of.scanner.name, fov, difference, bins)
    if dead:
        warn_lost(f"{dead} pairs have no factor: a crystal of theirs has efficiency 0", "warn")
    return {"pairs": pairs, "dead": dead, "outside": outside}
