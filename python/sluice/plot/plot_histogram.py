# SPDX-License-Identifier: Apache-2.0
"""Histograms with their widths, and efficiencies with their uncertainties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._core import UsageError
from .plot_axes import BLUE, FILL, PALE, RED, Axes, array_of, axes_of, notes, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Values, or a histogram of them: (counts, edges), or an object with these.
Data = Any

#: The central part of a Gaussian that is within one standard deviation.
ONE_SIGMA = 0.682689492137086


class Filled(NamedTuple):
    """A histogram and what is known of its entries: moments are of those inside, the half width is of all."""

    counts: NDArray[Any]
    edges: NDArray[Any]
    entries: int
    outside: int
    mean: float
    rms: float
    half_width: float


def _quantile(counts: NDArray[Any], edges: NDArray[Any], under: float, over: float, q: float) -> float:
    """The value below which the fraction q of all entries lies, linear inside a bin."""
    import numpy as np

    wanted = q * (under + counts.sum() + over)
    below = under + np.concatenate([[0], np.cumsum(counts)])
    bins = np.flatnonzero((counts > 0) & (below[1:] >= wanted))
    if wanted <= under:
        return float(edges[0])
    if len(bins) == 0:
        return float(edges[-1])
    i = bins[0]
    return float(edges[i] + (edges[i + 1] - edges[i]) * (wanted - below[i]) / counts[i])


def _of_counts(counts: NDArray[Any], edges: NDArray[Any], under: int, over: int) -> Filled:
    import numpy as np

    if counts.ndim != 1 or edges.shape != (len(counts) + 1,):
        raise UsageError(f"edges are to be one more than the counts, not {edges.shape} of {counts.shape}")
    middle, inside = (edges[1:] + edges[:-1]) / 2, counts.sum()
    mean = float((counts * middle).sum() / inside) if inside else 0.0
    rms = float(np.sqrt((counts * (middle - mean) ** 2).sum() / inside)) if inside else 0.0
    half = (1 - ONE_SIGMA) / 2
    width = (_quantile(counts, edges, under, over, 1 - half) - _quantile(counts, edges, under, over, half)) / 2
    entries = int(under + inside + over)
    return Filled(counts, edges, entries, int(under + over), mean, rms, width if entries else 0.0)


def filled(data: Data, bins: int | ArrayLike, limits: tuple[float, float] | None) -> Filled:
    """A histogram of values; or what is one already: a pair (counts, edges), as numpy.histogram gives it, or an object with these, whose
    own moments are taken if it has them, as they are of the values and not of the bins."""
    import numpy as np

    if hasattr(data, "counts") and hasattr(data, "edges"):
        under, over = getattr(data, "under", 0), getattr(data, "over", 0)
        made = _of_counts(np.asarray(data.counts), np.asarray(data.edges, float), int(under), int(over))
        half_width_68 = float(getattr(data, "half_width_68", made.half_width))
        mean, rms = (float(getattr(data, name, getattr(made, name))) for name in ("mean", "rms"))
        return made._replace(mean=mean, rms=rms, half_width=half_width_68)
    if isinstance(data, tuple) and len(data) == 2 and np.size(data[1]) == np.size(data[0]) + 1:
        return _of_counts(np.asarray(data[0]), np.asarray(data[1], float), 0, 0)
    values = array_of(data, "values", 1).astype(float, copy=False)
    values = values[~np.isnan(values)]
    counts, edges = np.histogram(values, bins, limits)
    inside = values[(values >= edges[0]) & (values <= edges[-1])]
    some = len(inside) > 0
    return Filled(
        counts,
        edges,
        len(values),
        len(values) - len(inside),
        float(inside.mean()) if some else 0.0,
        float(inside.std()) if some else 0.0,
        half_width(values),
    )


def half_width(values: Data) -> float:
    """Half the interval that holds the central 68.27 % of ``values``: a Gaussian's sigma, little moved by tails.

    ``values``: an array of any shape (NaN is left out), or a histogram as (counts, edges), inside whose bins entries are spread evenly.
    In the values' unit; 0 where there are none.
    """
    import numpy as np

    if isinstance(values, tuple) or hasattr(values, "edges"):
        return filled(values, 1, None).half_width
    array = np.asarray(values, float).ravel()
    array = array[~np.isnan(array)]
    if len(array) == 0:
        return 0.0
    low, high = np.quantile(array, [(1 - ONE_SIGMA) / 2, (1 + ONE_SIGMA) / 2])
    return float(high - low) / 2


def _spread_notes(ax: Axes, data: Filled, unit: str) -> None:
    unit = f" {unit}" if unit else ""
    outside = 100 * data.outside / data.entries if data.entries else 0.0
    notes(
        ax,
        [
            f"mean {data.mean:+.2f}{unit}",
            f"rms {data.rms:.2f}{unit}",
            f"68 % half width {data.half_width:.2f}{unit}",
            f"outside {outside:.1f} %",
        ],
    )


def steps(ax: Axes, data: Filled, **style: Any) -> Any:
    """The histogram as filled steps."""
    made = ax.stairs(data.counts, data.edges, **{"fill": True, "facecolor": FILL, "edgecolor": BLUE, "linewidth": 1.0, **style})
    ax.set_xlim(data.edges[0], data.edges[-1])
    return made


def pull(
    values: Data,
    *,
    ax: Axes | None = None,
    bins: int | ArrayLike = 120,
    limits: tuple[float, float] = (-6, 6),
    xlabel: str = "(value − true value) / σ",
    ylabel: str = "tracks",
) -> Axes:
    """Histogram of pulls, (measured − true) / σ, with the Gaussian of mean 0 and width 1 that they should be, in red.

    ``values``: 1-D, without a unit; or a histogram as (counts, edges), or an object with ``counts``, ``edges``, ``under`` and ``over``.
    Noted are mean and rms of the entries inside ``limits``, the half width of the central 68.27 % of all
    (:func:`half_width`: 1 where errors are right), and the share outside.
    """
    import numpy as np

    ax, data = axes_of(ax), filled(values, bins, limits)
    width = float(data.edges[1] - data.edges[0])
    steps(ax, data)
    x = np.linspace(data.edges[0], data.edges[-1], 481)
    height = data.entries * width / np.sqrt(2 * np.pi)
    ax.plot(x, height * np.exp(-(x**2) / 2), color=RED, linewidth=1.6)
    ax.set(xlabel=xlabel, ylabel=f"{ylabel} per {width:.3g}", ylim=(0, 1.2 * max(height, data.counts.max(initial=0), 1)))
    _spread_notes(ax, data, "")
    return ax


def residual(
    values: Data,
    *,
    ax: Axes | None = None,
    bins: int | ArrayLike = 120,
    limits: tuple[float, float] | None = (-60, 60),
    unit: str = "µm",
    xlabel: str = "hit − line in x",
    ylabel: str = "hits",
) -> Axes:
    """Histogram of residuals, measured − expected, in ``unit``.

    ``values``: 1-D; or a histogram as (counts, edges), or an object with these. ``limits``: of the axis (None: all values). Noted are
    mean, rms, half width of the central 68.27 % and the share outside, as in :func:`pull`.
    """
    ax, data = axes_of(ax), filled(values, bins, limits)
    steps(ax, data)
    width = float(data.edges[1] - data.edges[0])
    per = unit if abs(width - 1) < 1e-9 else f"{width:.3g} {unit}"
    ax.set(xlabel=f"{xlabel} [{unit}]", ylabel=f"{ylabel} per {per}", ylim=(0, 1.2 * max(data.counts.max(initial=0), 1)))
    _spread_notes(ax, data, unit)
    return ax


def wilson(found: ArrayLike, of: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Wilson's binomial interval of ``found / of`` for one standard deviation: its lower and upper ends, from 0 to 1, in the arrays' shape.

    Unlike sqrt(p (1 − p) / n) it stays inside 0 … 1, and does not vanish where all or none were found. NaN where ``of`` is 0.
    """
    import numpy as np

    part, whole = np.asarray(found, float), np.asarray(of, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.sqrt(part * (whole - part) / whole + 0.25) / (whole + 1)
    centre = (part + 0.5) / (whole + 1)
    return centre - half, centre + half


def _trim(whole: NDArray[Any]) -> slice:
    """From the first bin that is not empty to the last."""
    import numpy as np

    some = np.flatnonzero(whole > 0)
    return slice(0, 0) if len(some) == 0 else slice(int(some[0]), int(some[-1]) + 1)


def efficiency(
    found: ArrayLike,
    of: ArrayLike,
    edges: ArrayLike,
    *,
    ax: Axes | None = None,
    xlabel: str = "",
    label: str | None = None,
    colour: str = BLUE,
    behind: bool = True,
    logarithmic: bool = False,
) -> Axes:
    """Efficiency in per cent against a variable: a point a bin, bars of one standard deviation (:func:`wilson`).

    ``found``, ``of``: 1-D, counts by bin, of which the first is part of the second; ``edges``: of the bins, one more. Empty bins at
    either end are left out. The grey area (``behind``) shows where the entries are, its scale is arbitrary. Drawn into the same ``ax``
    again, with a ``label`` and without ``behind``, efficiencies are compared. UsageError: lengths that do not fit, found above all.
    """
    import numpy as np

    part, whole, bounds = array_of(found, "found", 1), array_of(of, "of", 1), array_of(edges, "edges", 1)
    same_length(part, whole, "found and of")
    if len(bounds) != len(whole) + 1:
        raise UsageError(f"edges are to be {len(whole) + 1}, one more than the bins, not {len(bounds)}")
    if np.any(part > whole):
        raise UsageError(f"found is above of in bin {int(np.argmax(part > whole))}")
    ax = axes_of(ax)
    kept = _trim(whole)
    part, whole, bounds = part[kept].astype(float), whole[kept].astype(float), bounds[kept.start : kept.stop + 1]
    some = whole > 0
    share, (low, high) = 100 * part[some] / whole[some], wilson(part[some], whole[some])
    left, right = bounds[:-1][some], bounds[1:][some]
    x = np.sqrt(left * right) if logarithmic else (left + right) / 2
    ends = np.clip(np.stack([share - 100 * low, 100 * high - share]), 0, None)
    sure = share[whole[some] >= 10]
    floor = max(0.0, 10 * np.floor(min(80.0, *(sure - 5)) / 10)) if len(sure) else 0.0
    floor = min(floor, ax.get_ylim()[0]) if ax.containers else floor
    top = 100 + 0.04 * (100 - floor)
    if behind and len(whole):
        ax.stairs(floor + 0.45 * (top - floor) * whole / whole.max(), bounds, baseline=0, fill=True, color=PALE, zorder=0)
    ax.errorbar(x, share, yerr=ends, xerr=[x - left, right - x], fmt="o", color=colour, markersize=3.5, linewidth=1.1, label=label)
    ax.set(xlabel=xlabel, ylabel="efficiency [%]", ylim=(floor, top))
    if logarithmic:
        ax.set_xscale("log")
    if len(whole) and behind:
        ax.set_xlim(bounds[0], bounds[-1])
    if label is not None:
        ax.legend(loc="lower right")
    return ax


def efficiency_against(
    x: ArrayLike, found: ArrayLike, *, bins: int | ArrayLike = 24, limits: tuple[float, float] | None = None, **options: Any
) -> Axes:
    """:func:`efficiency` of single objects: ``x``, the variable of each, 1-D, and ``found``, as many bools. ``bins`` and ``limits`` are
    numpy.histogram's; all else goes to :func:`efficiency`. Objects outside are left out."""
    import numpy as np

    values, was = array_of(x, "x", 1), array_of(found, "found", 1).astype(bool)
    same_length(values, was, "x and found")
    of, edges = np.histogram(values, bins, limits)
    return efficiency(np.histogram(values[was], edges)[0], of, edges, **options)
