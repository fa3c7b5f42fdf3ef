# SPDX-License-Identifier: Apache-2.0
"""PET: flood maps, spectra, rates, sinograms, differences of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import UsageError
from .plot_axes import BLUE, FILL, GREEN, ORANGE, RED, VIOLET, Axes, array_of, axes_of, matplotlib, notes, same_length, short_number
from .plot_histogram import filled, steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

#: From black over violet and orange to pale yellow, ever brighter: prints in grey as well.
FLAME = ("#04030c", "#320a5e", "#821e6e", "#cc3c48", "#f58218", "#facd4b", "#fcfabe")
#: Full width at half maximum of a Gaussian, in standard deviations.
FWHM = 2.35482


def _flame() -> Any:
    return matplotlib("colors").LinearSegmentedColormap.from_list("flame", FLAME)


def _borders(crystals: NDArray[Any]) -> NDArray[Any]:
    """Lines between places of different crystals: (n, 2, 2), in places, whose middles are whole numbers."""
    import numpy as np

    y, x = np.nonzero(crystals[:, 1:] != crystals[:, :-1])
    upright = np.stack([np.stack([x + 0.5, y - 0.5], -1), np.stack([x + 0.5, y + 0.5], -1)], 1)
    y, x = np.nonzero(crystals[1:] != crystals[:-1])
    level = np.stack([np.stack([x - 0.5, y + 0.5], -1), np.stack([x + 0.5, y + 0.5], -1)], 1)
    return np.concatenate([upright, level])


def flood(
    counts: ArrayLike, *, crystals: ArrayLike | None = None, ax: Axes | None = None, peaks: tuple[ArrayLike, ArrayLike] | None = None
) -> Axes:
    """The flood map of a block: where in it light was seen, with the borders of its crystals.

    ``counts``: (side, side), frames by place, y downwards, z (along the axis) to the right; colours go with the root of counts and end
    where all but a thousandth of the places are below. ``crystals``: of the same shape, the crystal that each place belongs to (a
    position table's part): lines are its borders, red crosses mark crystals with less than a twentieth of the mean. ``peaks``: (z, y)
    of the crystals' peaks in places, drawn as dots. UsageError: shapes that differ.
    """
    import numpy as np

    seen = array_of(counts, "counts", 2)
    ax = axes_of(ax, 5.4, 5.0)
    white = max(float(np.sort(seen, axis=None)[-1 - seen.size // 1000]) if seen.size else 1.0, 1.0)
    picture = ax.imshow(seen, cmap=_flame(), norm=matplotlib("colors").PowerNorm(0.5, 0, white), interpolation="nearest")
    ax.figure.colorbar(picture, ax=ax, label="counts", shrink=0.85)
    if crystals is not None:
        of = array_of(crystals, "crystals", 2)
        same_length(seen, of, "counts and crystals")
        lines = matplotlib("collections").LineCollection(_borders(of), colors="#60d6ff", linewidths=0.8, label="borders of crystals")
        ax.add_collection(lines)
        number, inverse = np.unique(of, return_inverse=True)
        inverse = inverse.ravel()
        sums, places = np.bincount(inverse, seen.ravel()), np.bincount(inverse)
        row, column = np.divmod(np.arange(seen.size), max(seen.shape[1], 1))
        dead = 20 * len(number) * sums < sums.sum()
        if dead.any():
            middle = [(np.bincount(inverse, at) / places)[dead] for at in (column, row)]
            ax.plot(*middle, "x", color="#ff4646", markersize=6, markeredgewidth=1.8, label="next to no counts")
    if peaks is not None:
        ax.plot(np.asarray(peaks[0]), np.asarray(peaks[1]), ".", color="white", markersize=3, label="peaks")
    ax.set(xlabel="z in the block [places]", ylabel="y in the block [places]")
    return ax


def spectrum(
    energy_kev: Any,
    *,
    window: tuple[float, float] | None = None,
    ax: Axes | None = None,
    bins: int | ArrayLike = 200,
    limits: tuple[float, float] | None = (0.0, 800.0),
    peak_kev: float | None = 511.0,
    label: str | None = None,
) -> Axes:
    """Spectrum of energies in keV, with a window (low, high) in keV shaded and the share inside noted, and a line at ``peak_kev``.

    ``energy_kev``: 1-D, or a histogram as (counts, edges). Drawn into the same ``ax`` again, with a ``label``, as a line to compare.
    """
    again = ax is not None and len(ax.patches) > 0
    ax, data = axes_of(ax), filled(energy_kev, bins, limits)
    if again:
        ax.stairs(data.counts, data.edges, linewidth=1.4, color=RED, label=label)
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.12 * data.counts.max(initial=0)))
    else:
        steps(ax, data, label=label)
        width = data.edges[1] - data.edges[0]
        ax.set(xlabel="energy [keV]", ylabel=f"counts per {width:.3g} keV", ylim=(0, 1.12 * max(data.counts.max(initial=0), 1)))
        if peak_kev is not None:
            ax.axvline(peak_kev, color="#555555", linestyle=":", linewidth=1.0)
    if window is not None:
        low, high = window
        if not low < high:
            raise UsageError(f"window is to be (low, high) in keV, not {window}")
        ax.axvspan(low, high, color=GREEN, alpha=0.12, zorder=0)
        middle = (data.edges[1:] + data.edges[:-1]) / 2
        inside = data.counts[(middle >= low) & (middle < high)].sum()
        share = 100 * inside / data.entries if data.entries else 0.0
        notes(ax, [f"{data.entries} entries", f"{low:g} to {high:g} keV: {share:.1f} %"], left=True)
    if label is not None:
        ax.legend(loc="upper right")
    return ax


#: What rates are drawn, their words, colours and lines. Delayeds and randoms estimate the same, and often lie on each other.
CURVES = {
    "frames": ("frames", "#4c4c4c", "-"),
    "singles": ("singles", BLUE, "-"),
    "lost": ("lost", RED, "-"),
    "prompts": ("prompts", BLUE, "-"),
    "delayeds": ("delayeds", ORANGE, "-"),
    "randoms": ("randoms from singles", GREEN, "--"),
    "multiples": ("multiples", VIOLET, "-"),
}
MOST_STEPS = 400


def _rate_bins(begin: NDArray[Any], length: NDArray[Any], bin_s: float | None) -> tuple[NDArray[Any], NDArray[Any], float]:
    """The step that each row is in, seconds by step, and a step's length: bins without a row had nothing, and at most 400 are drawn."""
    import numpy as np

    gaps = np.diff(begin)
    width = bin_s if bin_s is not None else float(gaps.min()) if len(gaps) else float(length.max())
    place = np.floor((begin - begin[0]) / width + 0.5).astype(np.int64)
    together = -(-(int(place[-1]) + 1) // MOST_STEPS)
    step = place // together
    seconds = np.full(step[-1] + 1, together * width)
    seconds[-1] = (place[-1] + 1 - step[-1] * together) * width
    seconds -= np.bincount(step, width - length, minlength=len(seconds))
    seconds[seconds <= 0] = together * width
    return step, seconds, together * width


def rates(
    rows: Mapping[str, Any],
    *,
    curves: Sequence[str] = ("prompts", "delayeds", "randoms", "multiples"),
    ax: Axes | None = None,
    bin_s: float | None = None,
) -> Axes:
    """Rates against time, each a mean over its bin of time; the legend has the means of all.

    ``rows``: a mapping of 1-D columns: ``begin_s`` and ``length_s`` of each bin in which there was anything, in seconds, and counts:
    ``frames``, ``singles``, ``lost``, ``prompts``, ``delayeds``, ``randoms``, ``multiples``, of which ``curves`` are drawn. ``bin_s``: a
    bin's length, without it the smallest step of ``begin_s``. More than 400 bins are drawn together. Rates that differ by more than
    twenty are on a logarithmic axis, others from 0. UsageError: no rows, a curve or column that is not there.
    """
    import numpy as np

    for name in ("begin_s", "length_s", *curves):
        if name not in rows or (name in curves and name not in CURVES):
            raise UsageError(f"rows have no {name!r}; curves: {', '.join(name for name in CURVES if name in rows)}")
    begin, length = array_of(rows["begin_s"], "begin_s", 1), array_of(rows["length_s"], "length_s", 1)
    same_length(begin, length, "begin_s and length_s")
    if len(begin) == 0:
        raise UsageError("rows are empty")
    ax = axes_of(ax, 7.0, 4.2)
    step, seconds, width = _rate_bins(begin.astype(float), length.astype(float), bin_s)
    ends = np.minimum(np.arange(len(seconds) + 1) * width, (len(seconds) - 1) * width + max(seconds[-1], width * 1e-3))
    all_rates = {name: np.bincount(step, np.asarray(rows[name], float), minlength=len(seconds)) / seconds for name in curves}
    some = np.concatenate([rate[rate > 0] for rate in all_rates.values()])
    scale, unit = (1e6, "µs") if ends[-1] < 2e-3 else (1e3, "ms") if ends[-1] < 2 else (1.0, "s")
    for name, rate in all_rates.items():
        words, colour, line = CURVES[name]
        mean = short_number(float((rate * seconds).sum() / seconds.sum()))
        ax.stairs(rate, ends * scale, baseline=None, color=colour, linestyle=line, linewidth=1.5, label=f"{words}: {mean}/s")
    if len(some) and some.max() > 20 * some.min():
        ax.set_yscale("log")
        ax.set_ylim(max(some.min() / 1.5, some.max() * 1e-9), 3 * some.max())
    else:
        ax.set_ylim(0, 1.25 * some.max() if len(some) else 1)
    ax.set(xlabel=f"time from the first bin [{unit}]", ylabel="rate [1/s]", xlim=(0, ends[-1] * scale))
    ax.legend(loc="upper right", fontsize="small", ncols=2)
    return ax


def sinogram(
    counts: ArrayLike, *, ax: Axes | None = None, extent_mm: float | None = None, label: str = "counts", cmap: Any = None
) -> Axes:
    """A sinogram: how many lines by their angle (views, downwards) and their distance to the axis (tangential places, across).

    ``counts``: (views, tangential), or a stack (slices, views, tangential), as :func:`sluice.pet.sinogram` makes it, which is added up.
    Axes are in numbers of views and places; with ``extent_mm``, the distance of the outermost places from the axis, in degrees over half
    a turn and in mm, as if places were even steps. Counts below 0 (delayeds subtracted) are drawn as they are.
    """
    import numpy as np

    values = np.asarray(counts)
    plane = array_of(values.sum(0) if values.ndim == 3 else values, "counts", 2)
    views, places = plane.shape
    ax = axes_of(ax, 5.6, 5.0)
    extent = (-0.5, places - 0.5, views - 0.5, -0.5) if extent_mm is None else (-extent_mm, extent_mm, 180.0, 0.0)
    low, high = min(float(plane.min(initial=0)), 0.0), max(float(plane.max(initial=0)), 1.0)
    picture = ax.imshow(
        plane, cmap=_flame() if cmap is None else cmap, vmin=low, vmax=high, extent=extent, aspect="auto", interpolation="nearest"
    )
    ax.figure.colorbar(picture, ax=ax, label=label)
    if extent_mm is None:
        ax.set(xlabel="tangential place", ylabel="view")
    else:
        ax.set(xlabel="distance from the axis [mm]", ylabel="angle [°]")
    return ax


def time_differences(
    dt_ps: ArrayLike,
    *,
    ax: Axes | None = None,
    before: ArrayLike | None = None,
    bins: int = 120,
    reach_ps: float | None = None,
) -> Axes:
    """Differences of the two times of pairs, with their full width at half maximum: 2.355 half widths of the central 68.27 %.

    ``dt_ps``: 1-D, in ps, of either sign (from the side of one of the two crystals, not always from the earlier one); ``before``: the
    same without time offsets, drawn in grey. ``reach_ps``: of the axis on either side; without it five half widths of the wider one.
    """
    from .plot_histogram import half_width

    wide = half_width(array_of(dt_ps, "dt_ps", 1))
    before_wide = 0.0 if before is None else half_width(array_of(before, "before", 1))
    reach = reach_ps if reach_ps is not None else max(5 * max(wide, before_wide), 10.0)
    ax, data = axes_of(ax), filled(dt_ps, bins, (-reach, reach))
    steps(ax, data)
    lines = [f"FWHM {FWHM * wide:.0f} ps"]
    if before is not None:
        raw = filled(before, bins, (-reach, reach))
        ax.stairs(raw.counts, raw.edges, color="#8c8c8c", linewidth=1.2)
        lines.append(f"before {FWHM * before_wide:.0f} ps")
    lines.append(f"{data.entries} pairs")
    if data.outside:
        lines.append(f"{data.outside} outside")
    notes(ax, lines)
    ax.set(xlabel="difference of times [ps]", ylabel=f"pairs per {2 * reach / bins:.3g} ps")
    ax.set_ylim(0, 1.15 * max(data.counts.max(initial=0), 1))
    return ax
