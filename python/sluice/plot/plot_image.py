# SPDX-License-Identifier: Apache-2.0
"""Labels over images; clusters of pixels: their sizes, their charge, where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import UsageError
from .plot_axes import BLUE, FILL, Axes, array_of, axes_of, matplotlib, notes, one_of, same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

#: Colours before they come again. A number of Fibonacci: after so many steps by the golden section the circle is nearly closed.
COLOURS = 233


def label_colours(numbers: ArrayLike) -> NDArray[np.float64]:
    """The colours that label numbers have in :func:`labels` and in ``sluice label --preview``: (..., 3), red, green, blue, 0 to 1.

    0, the background, is black. Hues go round by the golden section, bright and dark, strong and pale in turn: labels that are near in
    number, as neighbours in an image are, have colours that are far apart. After 233 labels they begin again.
    """
    import numpy as np

    number = np.asarray(numbers)
    i = (number.astype(np.int64) - 1) % COLOURS
    hue = 6 * ((i * 0.61803398874989485) % 1)
    value, pale = np.where(i % 2 == 0, 255, 205), np.where(i % 3 == 0, 0.45, 0.15)
    channels = []
    for primary in (0, 2, 4):
        away = np.abs(hue - primary)
        share = np.clip(2 - np.minimum(away, 6 - away), 0, 1)
        channels.append(np.floor(value * (pale + (1 - pale) * share) + 0.5))
    colours: NDArray[np.float64] = np.stack(channels, -1) / 255 * (number > 0)[..., None]
    return colours


def _edges(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Pixels of components beside one of something else, above, below, left or right."""
    import numpy as np

    edge = np.zeros(labels.shape, bool)
    down, right = labels[1:] != labels[:-1], labels[:, 1:] != labels[:, :-1]
    edge[1:] |= down
    edge[:-1] |= down
    edge[:, 1:] |= right
    edge[:, :-1] |= right
    return edge & (labels > 0)


def labels(
    labels: ArrayLike,
    image: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    style: str = "areas",
    alpha: float = 0.55,
    numbers: bool = False,
) -> Axes:
    """Components in colours over the image that they are of.

    ``labels``: (rows, columns) of whole numbers, 0 for the background, as from :func:`sluice.image.label`; ``image``: (rows, columns) in
    grey, or (rows, columns, 3); without it the background is black. ``style``: "areas" covers components, so opaque as ``alpha`` says;
    "edges" colours their outermost pixels alone. ``numbers`` writes each label at its middle. Axes are x and y in pixels, y downwards,
    pixel centres at whole numbers. Colours: :func:`label_colours`.
    """
    import numpy as np

    of = array_of(labels, "labels", 2)
    if of.dtype.kind not in "iub":
        raise UsageError(f"labels are to be whole numbers, not {of.dtype}")
    one_of(style, ("areas", "edges"), "style")
    height, width = of.shape
    ax = axes_of(ax, 6.4, min(max(6.4 * height / max(width, 1), 2.0), 9.0))
    if image is not None:
        below = np.asarray(image)
        if below.shape[:2] != of.shape:
            raise UsageError(f"labels and image are to have the same rows and columns, not {of.shape} and {below.shape[:2]}")
        ax.imshow(below, cmap="gray", interpolation="nearest")
    over = np.zeros((height, width, 4))
    over[..., :3] = label_colours(of)
    over[..., 3] = _edges(of) if style == "edges" else (of > 0) * (alpha if image is not None else 1.0)
    if image is None:
        over[of == 0] = (0, 0, 0, 1)
    ax.imshow(over, interpolation="nearest")
    if numbers:
        index = np.flatnonzero(of)
        which = of.ravel()[index].astype(np.int64)
        count = np.maximum(np.bincount(which), 1)
        y, x = np.bincount(which, index // width) / count, np.bincount(which, index % width) / count
        for number in np.unique(which):
            ax.text(x[number], y[number], str(number), color="white", fontsize="x-small", ha="center", va="center")
    ax.set(xlabel="x [pixels]", ylabel="y [pixels]")
    return ax


def cluster_sizes(sizes: ArrayLike, *, ax: Axes | None = None, largest: int | None = None, logarithmic: bool = True) -> Axes:
    """How many clusters have how many pixels. ``sizes``: 1-D, whole numbers from 1 (``n_pixels``, ``area`` …). A bin is one size, its middle
    the number; the last, ``largest`` (by default what all but a thousandth are below), is the last that is shown, and how many are
    beyond is noted, beside their number and mean."""
    import numpy as np

    size = array_of(sizes, "sizes", 1)
    if size.dtype.kind not in "iu":
        raise UsageError(f"sizes are to be whole numbers, not {size.dtype}")
    ax = axes_of(ax)
    last = int(np.quantile(size, 0.999)) + 1 if largest is None and len(size) else int(largest or 1)
    last = max(last, 2)
    counts = np.bincount(np.minimum(size, last + 1).astype(np.int64), minlength=last + 2)[1:]
    edges = np.arange(0.5, last + 1)
    ax.stairs(counts[:last], edges, fill=True, facecolor=FILL, edgecolor=BLUE, linewidth=1.0)
    most = max(counts[:last].max(initial=0), 1)
    ax.set(xlim=(0.5, last + 0.5), ylim=(0.5, 3 * most) if logarithmic else (0, 1.15 * most))
    if logarithmic:
        ax.set_yscale("log")
    ax.set(xlabel="pixels in a cluster", ylabel="clusters")
    ax.xaxis.get_major_locator().set_params(integer=True)
    lines = [f"{len(size)} clusters, mean {size.mean() if len(size) else 0:.4g}"]
    notes(ax, lines + ([f"{counts[last]} beyond the axis"] if counts[last] else []))
    return ax


def tot(
    values: ArrayLike,
    *,
    ax: Axes | None = None,
    bins: int | ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    unit: str = "25 ns",
    xlabel: str = "time over threshold",
    ylabel: str = "clusters",
    label: str | None = None,
) -> Axes:
    """Spectrum of times over threshold, or of charge: of pixels, or summed over clusters (``mass``).

    ``values``: 1-D, in ``unit`` (Timepix: steps of 25 ns). Without ``bins`` they are as wide as whole numbers (if there are at most some
    hundreds) over what all but five thousandths at either end are in. Drawn into the same ``ax`` again, with a ``label``, as a line.
    """
    import numpy as np

    value = array_of(values, "values", 1)
    again = ax is not None and len(ax.patches) > 0
    ax = axes_of(ax)
    if bins is None:
        low, high = limits if limits is not None else np.quantile(value, [0.005, 0.995]) if len(value) else (0, 1)
        step = max(1.0, np.ceil((high - low) / 200))
        bins = np.arange(np.floor(low) - 0.5, np.ceil(high) + 0.5 + step, step)
    counts, edges = np.histogram(value, bins, limits)
    style: dict[str, Any] = {"fill": False, "linewidth": 1.4} if again else {"fill": True, "facecolor": FILL, "edgecolor": BLUE, "linewidth": 1.0}
    ax.stairs(counts, edges, label=label, **style)
    if not again:
        ax.set(xlabel=f"{xlabel} [{unit}]", ylabel=f"{ylabel} per {edges[1] - edges[0]:.3g}")
        notes(ax, [f"{len(value)} entries, mean {value.mean() if len(value) else 0:.4g}"])
    ends = ax.get_xlim() if again else (edges[0], edges[-1])
    ax.set_xlim(min(edges[0], ends[0]), max(edges[-1], ends[1]))
    ax.set_ylim(0, 1.15 * max(counts.max(initial=0), 1, ax.get_ylim()[1] / 1.15 if again else 0))
    if label is not None:
        ax.legend(loc="center right")
    return ax


def hit_map(
    x: ArrayLike,
    y: ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    weights: ArrayLike | None = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """How often each pixel was hit, or with ``weights`` their sum: white none, the colour's scale logarithmic where counts differ much.

    ``x``, ``y``: 1-D of one length, columns and rows from 0; ``shape``: (rows, columns) of the sensor, without it up to the largest;
    ``label``: of the scale. Pixels outside of ``shape`` are an error.
    """
    import numpy as np

    column, row = array_of(x, "x", 1), array_of(y, "y", 1)
    same_length(column, row, "x and y")
    if column.dtype.kind not in "iu" or row.dtype.kind not in "iu":
        raise UsageError(f"x and y are to be whole numbers, not {column.dtype} and {row.dtype}")
    rows, columns = shape if shape is not None else (int(row.max(initial=0)) + 1, int(column.max(initial=0)) + 1)
    if len(column) and (min(column.min(), row.min()) < 0 or column.max() >= columns or row.max() >= rows):
        raise UsageError(f"pixels are outside of a sensor of {rows} rows and {columns} columns")
    place = row.astype(np.int64) * columns + column.astype(np.int64)
    heavy = None if weights is None else array_of(weights, "weights", 1)
    if heavy is not None and np.any(heavy < 0):
        raise UsageError("weights are not to be below 0: there is no colour for them")
    counts = np.bincount(place, heavy, minlength=rows * columns).reshape(rows, columns).astype(float)
    ax = axes_of(ax, 6.0, 5.0)
    colours, some = matplotlib("colors"), counts[counts > 0]
    wide = len(some) > 0 and some.max() > 20 * some.min()
    norm = colours.LogNorm(some.min(), some.max()) if wide else colours.Normalize(0, some.max() if len(some) else 1)
    picture = ax.imshow(np.where(counts > 0, counts, np.nan), norm=norm, cmap="viridis", interpolation="nearest", origin="upper")
    default = "hits of a pixel" if weights is None else "sum of a pixel"
    ax.figure.colorbar(picture, ax=ax, label=default if label is None else label, shrink=0.85)
    ax.set(xlabel="x [pixels]", ylabel="y [pixels]")
    return ax
