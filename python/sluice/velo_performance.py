# SPDX-License-Identifier: Apache-2.0
"""What comparing tracks and vertices with simulation truth has come to. docs/howto/velo-physics.md has the definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Category", "Efficiency", "Histogram", "Impact", "Momentum", "Performance", "Vertices"]


@dataclass(frozen=True, eq=False)
class Histogram:
    """Equal bins of [low, high); ``mean`` and ``rms`` are of what is inside, ``half_width_68`` (half the interval of the
    central 68.27 %) of all entries. NumPy's form: ``counts`` (n,) and ``edges`` (n + 1,)."""

    low: float
    high: float
    counts: NDArray[np.int64]
    under: int
    over: int
    mean: float
    rms: float
    half_width_68: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        mine, yours = {**vars(self), "counts": self.counts.tolist()}, {**vars(other), "counts": other.counts.tolist()}
        return mine == yours

    __hash__ = None  # type: ignore[assignment]

    @property
    def edges(self) -> NDArray[np.float64]:
        """Of the bins, (n + 1,), from low to high."""
        import numpy as np

        return np.linspace(self.low, self.high, len(self.counts) + 1)

    @property
    def n(self) -> int:
        """All entries."""
        return int(self.counts.sum()) + self.under + self.over


@dataclass(frozen=True)
class Efficiency:
    """Against a variable: two histograms with the same bins."""

    reconstructible: Histogram
    found: Histogram


@dataclass(frozen=True)
class Found:
    """What is found of particles. Rates and purities are fractions, 0 to 1."""

    reconstructible: int
    found: int
    matched: int
    clones: int
    efficiency: float
    efficiency_sigma: float
    clone_rate: float
    purity: float
    hit_efficiency: float


@dataclass(frozen=True)
class Category(Found):
    """Particles of one kind, and the shares of their first and last three hits that tracks have."""

    first_hits: float
    last_hits: float


@dataclass(frozen=True)
class Momentum:
    """Tracks of particles of p_low_gev <= p < p_high_gev (GeV): pulls of the state at the beam, how probable chi2 is."""

    p_low_gev: float
    p_high_gev: float
    pull_x: Histogram
    pull_y: Histogram
    pull_tx: Histogram
    pull_ty: Histogram
    chi2_probability: Histogram


@dataclass(frozen=True)
class Impact:
    """Impact parameters (x and y, um) of long particles in a bin of 1 / pT (1 / GeV)."""

    inverse_pt_low: float
    inverse_pt_high: float
    impact_um: Histogram


@dataclass(frozen=True)
class Vertices:
    """Primary vertices: collisions of one kind, "all", "isolated" or "close" (another one is near)."""

    reconstructible: int
    found: int
    efficiency: float
    efficiency_sigma: float


@dataclass(frozen=True)
class Performance:
    """What ``sluice velo --truth`` prints, as objects.

    ``categories``: by name ("velo", "long", "long_p5", "from_b", "from_d", "strange", "electrons", "modules3"; with "_eta25" for
    2 < eta < 5). ``against``: efficiencies by "eta", "log10_p_mev", "phi_rad", "docaz_mm", "hits". ``histograms``: residuals
    ("residual_x_um" ...), pulls ("pull_x" ... , "vertex_pull_z"), and what events are like ("tracks_per_event" ...).
    """

    events: int
    tracks: int
    ghosts: int
    ghost_rate: float
    ghost_rate_sigma: float
    mc_hits: int
    mc_hits_found: int
    categories: dict[str, Category]
    against: dict[str, Efficiency]
    histograms: dict[str, Histogram]
    momentum: list[Momentum]
    impact: list[Impact]
    vertices: dict[str, Vertices]
    vertices_reconstructed: int
    vertices_false: int
    vertex_clones: int

    @classmethod
    def of(cls, told: dict[str, Any]) -> Performance:
        """Of ``Reader.totals["performance"]``."""
        plain = {name: told[name] for name in ("events", "tracks", "ghosts", "ghost_rate", "ghost_rate_sigma", "mc_hits", "mc_hits_found")}
        pulls = ("pull_x", "pull_y", "pull_tx", "pull_ty", "chi2_probability")
        against = {name: Efficiency(_filled(one["reconstructible"]), _filled(one["found"])) for name, one in told["against"].items()}
        return cls(
            **plain,
            categories={name: Category(**one) for name, one in told["categories"].items()},
            against=against,
            histograms={name: _filled(one) for name, one in told["histograms"].items()},
            momentum=[
                Momentum(one["p_low_gev"], one["p_high_gev"], *(_filled(one[name]) for name in pulls)) for one in told["momentum"]
            ],
            impact=[Impact(one["inverse_pt_low"], one["inverse_pt_high"], _filled(one["impact_um"])) for one in told["impact"]],
            vertices={name: Vertices(**told["vertices"][name]) for name in ("all", "isolated", "close")},
            vertices_reconstructed=told["vertices"]["reconstructed"],
            vertices_false=told["vertices"]["false"],
            vertex_clones=told["vertices"]["clones"],
        )

    def __str__(self) -> str:
        lines = [f"{'category':<16}{'reconstructible':>16}{'efficiency %':>16}{'clones %':>10}{'purity %':>10}{'hit eff. %':>11}"]
        for name, one in self.categories.items():
            if one.reconstructible > 0:
                lines.append(
                    f"{name:<16}{one.reconstructible:>16}{100 * one.efficiency:>9.2f} ±{100 * one.efficiency_sigma:>5.2f}"
                    f"{100 * one.clone_rate:>10.2f}{100 * one.purity:>10.2f}{100 * one.hit_efficiency:>11.2f}"
                )
        lines.append(f"ghosts {self.ghosts} of {self.tracks} tracks, {100 * self.ghost_rate:.2f} ± {100 * self.ghost_rate_sigma:.2f} %")
        collisions = self.vertices["all"]
        lines.append(f"vertices {collisions.found} of {collisions.reconstructible} collisions, {self.vertices_false} false")
        return "\n".join(lines)


def _filled(told: dict[str, Any]) -> Histogram:
    import numpy as np

    whole: dict[str, Any] = {**told, "counts": np.array(told["counts"], np.int64)}
    return Histogram(**whole)
