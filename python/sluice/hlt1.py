# SPDX-License-Identifier: Apache-2.0
"""LHCb's first trigger level: raw events to tracks through all trackers, momentum, muons, pairs, decisions.

    with sluice.hlt1.open("run.mdf", geometry="lhcb_hlt1") as reader:
        for batch in reader:
            print(batch.long_tracks.n_rows, (1 / abs(batch.fitted_tracks.q_over_p)).mean())

A batch has what one of the VELO has (``hits``, ``tracks``, ``track_hits``, ``beam``, ``end``, ``primaries``) and ``ut_hits``,
``scifi_hits``, ``muon_hits``, ``upstream_tracks`` with ``upstream_hits`` (rows of ``ut_hits``), ``long_tracks`` with ``long_hits``
(rows of ``scifi_hits``), and for each long track a row of ``muons``, ``fitted_tracks`` and ``particles`` (none where the folder has
no tables for them); ``secondaries`` are pairs of long tracks that meet. On request ``decisions`` and ``lines``, ``true_particles``
and ``true_vertices``. Lengths are in mm, momenta in MeV, ``q_over_p`` in 1/MeV; each column has its unit in ``units``.
docs/howto/hlt1.md.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._core import HLT1_BATCH, Reader, hlt1_open
from ._flow import OnFault, Path, Paths, Progress, common
from .velo_performance import Found

if TYPE_CHECKING:
    from ._core import Hlt1Batch

__all__ = ["Category", "Momentum", "Muons", "Performance", "check", "open"]


def open(
    paths: Paths,
    *,
    geometry: Path,
    settings: Literal["standard", "loose", "full"] = "standard",
    fast: bool = False,
    lines: Path | Mapping[str, Any] | None = None,
    network: Path | None = None,
    gec_ut_scifi: int = 0,
    truth: bool = False,
    identity: bool = False,
    batch: int = HLT1_BATCH,
    threads: int = 1,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[Hlt1Batch]:
    """A reader of batches of up to ``batch`` raw events (MDF, MEP), in the order of the inputs ("-": standard input).

    ``geometry``: the folder with LHCb's geometry and tables. ``settings`` of the searches: "standard", "loose" (softer tracks) or
    "full" (and tracks without hits in the UT). ``fast``: the VELO's tracks by a single pass. ``lines``: cuts that decide about
    events (docs/formats/hlt1-lines.md), a file or a mapping: ``decisions``, whose bits are ``lines``, and
    ``Reader.totals["selection"]``; ``network``: that of TwoTrackMVA, without it the folder's. ``gec_ut_scifi``: events with more
    clusters in UT and SciFi are left out (0: none). ``truth`` compares with simulation truth: ``true_particles``, ``true_vertices``
    and ``Reader.totals["performance"]``, what :class:`Performance` is made of. ``identity``: ``events``, which event is which (run,
    event, bunch crossing, record). ``threads``: the number of workers (0: one for each
    processor). Results, and ``checksum``, are those of ``sluice hlt1`` and depend on neither threads nor batches.

    At the end of each input a ``DamageWarning`` tells what was damaged or lost, if a detector has no hit in it, if few
    tracks go on to the SciFi or the beam is elsewhere than the folder says, unless
    ``on_fault`` is "ignore"; with "raise" the first fault is a ``StrictError``. An input that cannot be read is a ``FileError`` or
    ``FormatError``, after which the reader goes on with the next one. ``progress``: a function of the events so far, or True for a
    bar of tqdm.
    """
    chain = common(paths, batch, threads, on_fault, progress)
    if not isinstance(lines, Mapping):
        return hlt1_open(chain, geometry, settings, fast, lines, network, gec_ut_scifi, truth, identity)
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="sluice-", delete=False) as file:
        file.write(json.dumps(dict(lines)))
    try:
        return hlt1_open(chain, geometry, settings, fast, file.name, network, gec_ut_scifi, truth, identity)
    finally:
        os.unlink(file.name)


@dataclass(frozen=True)
class Category(Found):
    """Particles of one kind."""


@dataclass(frozen=True)
class Momentum:
    """(p found - p) / p of long tracks: how many, its median and mean, half the interval of the central 68.27 %."""

    n: int
    median: float
    mean: float
    sigma68: float


@dataclass(frozen=True)
class Muons:
    """Long tracks above 3 GeV, and how many of them are isMuon."""

    tracks: int
    is_muon: int
    fraction: float
    fraction_sigma: float


@dataclass(frozen=True)
class Performance:
    """What comparing with truth has come to. ``categories`` by name ("long_p5_eta25"), ``momentum_of`` for 3, 5, 10, 20, 40 and 80
    GeV on; trigger tracks are long ones of p > 3 GeV and pT > 0.5 GeV. Fractions and widths of nothing are NaN. ``muons``, ``others`` and ``ghost_muons``: of tracks that are a
    muon's, another particle's, nobody's."""

    events: int
    upstream_tracks: int
    upstream_ghosts: int
    long_tracks: int
    ghosts: int
    trigger_tracks: int
    trigger_ghosts: int
    wrong_charges: int
    categories: dict[str, Category]
    momentum: Momentum
    momentum_of: list[Momentum]
    muons: Muons
    others: Muons
    ghost_muons: Muons

    @classmethod
    def of(cls, totals: Mapping[str, Any]) -> Performance:
        """Of ``Reader.totals["performance"]``."""
        made = dict(totals)
        made["categories"] = {name: Category(**one) for name, one in totals["categories"].items()}
        made["momentum"] = Momentum(**totals["momentum"])
        made["momentum_of"] = [Momentum(**one) for one in totals["momentum_of"]]
        for name in ("muons", "others", "ghost_muons"):
            made[name] = Muons(**totals[name])
        return cls(**made)

    @property
    def ghost_rate(self) -> float:
        """The fraction of long tracks that are no particle's."""
        return self.ghosts / self.long_tracks if self.long_tracks > 0 else math.nan

    @property
    def trigger_ghost_rate(self) -> float:
        """The same of trigger tracks."""
        return self.trigger_ghosts / self.trigger_tracks if self.trigger_tracks > 0 else math.nan


def check(paths: Paths, **options: Any) -> Performance:
    """Efficiencies, ghosts, momentum and muons of all events of ``paths``, against their simulation truth: what
    ``sluice hlt1 --truth`` prints. ``options`` are those of :func:`open`."""
    with open(paths, truth=True, **options) as reader:
        for _ in reader:
            pass
        totals: Any = reader.totals
    return Performance.of(totals["performance"])
