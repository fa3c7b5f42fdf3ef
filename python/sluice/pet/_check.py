# SPDX-License-Identifier: Apache-2.0
"""Is a scanner cabled as it is said to be?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._scanner import Path, Rows, Scanner, Tables, count, number, pair_buffers, scanner_of, singles_ps


class Finding(NamedTuple):
    """What is wrong, or with the kind "undecided" what cannot be told: ``text`` is a sentence; ``module`` and ``other`` are -1 of none;
    ``value``: how late, in ps, or how far on, in degrees; ``odds``: by how much better it explains the pairs (natural logarithm)."""

    kind: str
    text: str
    module: int
    other: int
    value: float
    odds: float


@dataclass(frozen=True)
class Checked:
    """Counts by module and what was found in them. ``prompt`` and ``delayed``: pairs of modules (n, n); ``singles`` (n, units), None if none
    were given; ``times`` (n, n, bins): prompts by time of the second less that of the first, over ``-range_ps`` to ``range_ps``;
    ``offset_ps``: how late each module is, NaN if it has too few pairs; ``place``: whose place each module is in; ``source_mm``: where
    lines meet. ``findings``: errors first, of which there are ``errors``."""

    prompt: NDArray[np.uint64]
    delayed: NDArray[np.uint64]
    singles: NDArray[np.uint64] | None
    times: NDArray[np.uint32]
    offset_ps: NDArray[np.float64]
    place: NDArray[np.uint32]
    source_mm: tuple[float, float, float]
    range_ps: float
    pairs: int
    delayeds: int
    same_module: int
    outside: int
    findings: list[Finding]
    errors: int


def check(
    pairs: Rows,
    scanner: Scanner | Tables | str | Path,
    *,
    singles: Rows | None = None,
    source: tuple[float, float, float] | None = None,
    window_ns: float = 0.0,
    range_ns: float = 5.0,
    bins: int = 100,
    late_ns: float = 0.1,
    of_pairs: int = 4096,
    output: Path | None = None,
    png: Path | None = None,
) -> Checked:
    """Finds errors of a scanner's cabling by pairs of a source, as ``sluice pet check`` does: modules that are swapped, mirrored, turned,
    late or silent, or numbered from another first one or the other way round, for which ``source`` has to say where the source is (mm).
    With ``singles`` a module that is silent is told from one that has no pairs. ``of_pairs`` of each module are looked at, ``window_ns`` is
    the one with which they were found. ``output``: an HDF5 file; ``png``: a picture."""
    config = (
        1000 * number(range_ns, "range_ns", 1e-3, 1e6),
        count(bins, "bins", 1, 4096),
        1000 * number(late_ns, "late_ns", 0, 1e6),
        count(of_pairs, "of_pairs", 100, 1 << 20),
        1000 * number(window_ns, "window_ns", 0, 1e12),
    )
    at = None if source is None else tuple(float(one) for one in source)
    of = scanner_of(scanner)
    own = None if singles is None else singles_ps(singles)
    made: dict[str, Any] = _core.pet_check(of.geometry, config, at, own, pair_buffers(pairs), output, png)
    n = of.n_modules

    def array(name: str, dtype: type, *shape: int) -> NDArray[Any]:
        return np.frombuffer(made[name], dtype).reshape(shape)

    return Checked(
        prompt=array("prompt", np.uint64, n, n),
        delayed=array("delayed", np.uint64, n, n),
        singles=None if own is None else array("singles", np.uint64, n, made["units"]),
        times=array("times", np.uint32, n, n, bins),
        offset_ps=array("offset_ps", np.float64, n),
        place=array("place", np.uint32, n),
        source_mm=made["source_mm"],
        range_ps=config[0],
        pairs=made["pairs"],
        delayeds=made["delayeds"],
        same_module=made["same_module"],
        outside=made["outside"],
        findings=[Finding(*one) for one in made["findings"]],
        errors=made["errors"],
    )
