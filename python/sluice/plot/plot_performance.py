# SPDX-License-Identifier: Apache-2.0
"""Efficiencies and resolutions of the VELO's tracks, from a comparison with truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import UsageError
from .plot_axes import BLUE, RED, Axes, axes_of, notes
from .plot_histogram import efficiency, filled

if TYPE_CHECKING:
    from ..velo import Performance

#: The axis of each variable, what a bin's edge is multiplied by, and whether edges are exponents of 10 (in MeV).
AGAINST = {
    "eta": ("η", 1.0, False),
    "log10_p_mev": ("p [GeV]", 1e-3, True),
    "phi_rad": ("φ [°]", 180 / 3.14159265358979, False),
    "docaz_mm": ("distance of closest approach to the beam line [mm]", 1.0, False),
    "hits": ("hits of the particle", 1.0, False),
}
#: Bins with fewer entries tell no resolution.
FEWEST = 20


def velo_efficiency(
    performance: Performance,
    against: str = "eta",
    *,
    ax: Axes | None = None,
    label: str | None = None,
    colour: str = BLUE,
    behind: bool = True,
) -> Axes:
    """Efficiency of tracks in per cent against a variable of the particles, as ``sluice velo --report`` draws it.

    ``performance``: what :func:`sluice.velo.check` gives; ``against``: "eta", "log10_p_mev" (drawn in GeV on a logarithmic axis),
    "phi_rad" (drawn in degrees), "docaz_mm" or "hits". Particles are those of category "velo", without electrons, but against eta in
    2 < eta < 5. All else is :func:`efficiency`'s, which tells the bars. UsageError: another variable.
    """
    import numpy as np

    if against not in performance.against or against not in AGAINST:
        raise UsageError(f"against is to be one of {', '.join(AGAINST)}, not {against!r}")
    plot, (xlabel, scale, exponents) = performance.against[against], AGAINST[against]
    edges = np.asarray(plot.reconstructible.edges)
    edges = 10**edges * scale if exponents else edges * scale
    return efficiency(
        plot.found.counts, plot.reconstructible.counts, edges, ax=ax, xlabel=xlabel, label=label, colour=colour, behind=behind,
        logarithmic=exponents,
    )  # fmt: skip


def impact_resolution(performance: Performance, *, ax: Axes | None = None, label: str | None = None, colour: str = BLUE) -> Axes:
    """Resolution of the impact parameter of long particles, in µm, against 1 / pT, in 1 / GeV, with a straight line through the points.

    ``performance``: what :func:`sluice.velo.check` gives. A point is the half width of the central 68.27 % of x and y of the vector from
    the true origin to the track, its bar w / sqrt(2 n); bins of less than 20 entries are left out. The line, fitted with these errors, is
    noted as (constant + slope / pT). UsageError: less than two points.
    """
    import numpy as np

    points = []
    for one in performance.impact:
        data = filled(one.impact_um, 1, None)
        if data.entries >= FEWEST and data.half_width > 0:
            middle = (one.inverse_pt_low + one.inverse_pt_high) / 2
            points.append((middle, middle - one.inverse_pt_low, data.half_width, data.half_width / np.sqrt(2 * data.entries)))
    if len(points) < 2:
        raise UsageError(f"less than two bins of 1 / pT have {FEWEST} impact parameters")
    x, half, width, sigma = np.array(points).T
    slope, constant = np.polyfit(x, width, 1, w=1 / sigma)
    ax = axes_of(ax)
    again = bool(ax.containers)
    ax.errorbar(x, width, xerr=half, yerr=sigma, fmt="o", color=colour, markersize=3.5, linewidth=1.1, label=label)
    end = float((x + half).max())
    ax.plot([0, end], [constant, constant + slope * end], color=RED if not again else colour, linewidth=1.2)
    most = max(float((width + sigma).max()) * 1.25, ax.get_ylim()[1] if again else 0.0)
    ax.set(xlabel="1 / pT [1/GeV]", ylabel="resolution of the impact parameter [µm]", xlim=(0, end), ylim=(0, most))
    if not again:
        notes(ax, [f"({constant:.1f} {'−' if slope < 0 else '+'} {abs(slope):.1f} GeV / pT) µm"], left=True)
    if label is not None:
        ax.legend(loc="lower right")
    return ax
