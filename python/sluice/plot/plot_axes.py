# SPDX-License-Identifier: Apache-2.0
"""What all pictures share: axes, notes, and numbers that become arrays. matplotlib has types from 3.8 on only: its objects are Any."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._core import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Axes = Any
Numbers = Any

BLUE, RED, GREEN, ORANGE, VIOLET, GREY = "#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#9a9a9a"
PALE = "#e4e4e4"
FILL = "#c6dbef"


def matplotlib(part: str) -> Any:
    """The module ``matplotlib.part``."""
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("sluice.plot needs matplotlib: install python3-matplotlib (Debian) or matplotlib (pip)") from None


def axes_of(ax: Axes | None, width: float = 6.4, height: float = 4.2) -> Axes:
    """The caller's axes, or those of a new figure, in inches."""
    if ax is not None:
        return ax
    return matplotlib("pyplot").subplots(figsize=(width, height), layout="constrained")[1]


def array_of(values: ArrayLike, what: str, dimensions: int) -> NDArray[Any]:
    """``values`` as an array of so many dimensions, or a UsageError that names it."""
    import numpy as np

    array = np.asarray(values)
    if array.ndim != dimensions:
        raise UsageError(f"{what} is to have {dimensions} dimension{'s' * (dimensions > 1)}, not {array.ndim}")
    return array


def same_length(first: NDArray[Any], second: NDArray[Any], names: str) -> None:
    """UsageError where two arrays differ in shape; ``names`` are theirs: "x and y"."""
    if first.shape != second.shape:
        raise UsageError(f"{names} are to have one shape, not {first.shape} and {second.shape}")


def one_of(value: str, known: tuple[str, ...], what: str) -> str:
    """``value``, or a UsageError that lists what there is."""
    if value not in known:
        raise UsageError(f"{what} is to be one of {', '.join(known)}, not {value!r}")
    return value


def notes(ax: Axes, lines: list[str], *, left: bool = False) -> None:
    """Lines of text in an upper corner, above what is drawn."""
    ax.text(
        0.03 if left else 0.97,
        0.96,
        "\n".join(lines),
        transform=ax.transAxes,
        ha="left" if left else "right",
        va="top",
        fontsize="small",
        linespacing=1.4,
        zorder=10,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 2},
    )


def short_number(value: float) -> str:
    """19.8 M for 19 800 000."""
    for prefix in ("", " k", " M"):
        if abs(value) < 999.5:
            return f"{value:.3g}{prefix}"
        value /= 1000
    return f"{value:.3g} G"
