# SPDX-License-Identifier: Apache-2.0
"""What a shifter looks at, and residuals for alignment: sums over events as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Monitor", "Residuals"]

_REGION = ("x_mm", "y_mm", "z_mm", "x_rms_mm", "y_rms_mm", "z_rms_mm", "slope_x", "slope_y", "slope_x_sigma", "slope_y_sigma")
_MINUTE = ("minute", "events", "tracks", "primaries", "cut", "crowded")


@dataclass(frozen=True, eq=False)
class Monitor:
    """What ``sluice velo --monitor`` writes (docs/formats/velo-monitor.md).

    ``cut`` and ``crowded``: events without a search for tracks (a limit; too many hits in a layer). ``hits``: (208, 3) clusters of
    each chip of each sensor; ``columns``: (208, 768) of each column; ``sizes``: (208, 33) by pixels (0: unknown; the last: 32 and
    more), of ``placed_events``. ``bunches``: structured (3564,), ``minutes``: structured, a row for each GPS minute with events and
    the luminous region (mm; not a number where there are too few vertices). With ``pixels=True``: ``hot`` and ``dead`` pixels,
    structured (sensor, column, row, count, expected), of ``judged`` ones.
    """

    events: int
    tracks: int
    primaries: int
    cut: int
    crowded: int
    placed_events: int
    later_events: int
    no_bunch_events: int
    pixel_events: int
    judged: int
    hits: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    bunches: NDArray[Any]
    minutes: NDArray[Any]
    hot: NDArray[Any]
    dead: NDArray[Any]

    @classmethod
    def of(cls, told: dict[str, Any]) -> Monitor:
        """Of ``Reader.totals["monitor"]``."""
        import numpy as np

        counts = [(name, "u8") for name in ("events", "tracks", "primaries", "cut", "crowded")]
        pixel = [("sensor", "u2"), ("column", "u2"), ("row", "u2"), ("count", "u4"), ("expected", "f8")]
        minute = [(name, "u8") for name in _MINUTE] + [(name, "f8") for name in _REGION]
        whole: dict[str, Any] = dict(told)
        for name, columns in (("hits", 3), ("columns", 768), ("sizes", 33)):
            whole[name] = np.frombuffer(told[name], np.uint64).reshape(208, columns)
        whole["bunches"] = np.frombuffer(told["bunches"], counts)
        whole.update({name: np.array(told[name], pixel) for name in ("hot", "dead")}, minutes=np.array(told["minutes"], minute))
        return cls(**whole)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What ``sluice velo --residuals`` writes (docs/howto/velo-alignment.md).

    ``module`` (52,), ``sensor`` (208,) and ``chip`` (624,): structured, of hits ``n`` and, in x and in y, sums of unbiased and biased
    residuals (mm), of their squares (mm2), of pulls and theirs. ``matrix`` (312, 312) and ``vector`` (312,): normal equations;
    matrix a = vector gives moves a, in mm and mrad: 6 m + k is move k (shifts along, turns about x, y, z) of module m.
    ``short_tracks`` and ``outside`` (of too large a chi2) are not among ``tracks``.
    """

    events: int
    tracks: int
    short_tracks: int
    outside: int
    hits: int
    without_sensor: int
    n_dof: int
    chi2: float
    module: NDArray[Any]
    sensor: NDArray[Any]
    chip: NDArray[Any]
    matrix: NDArray[np.float64]
    vector: NDArray[np.float64]

    @classmethod
    def of(cls, told: dict[str, Any]) -> Residuals:
        """Of ``Reader.totals["residuals"]``."""
        import numpy as np

        sums = ("unbiased_mm", "unbiased2_mm2", "biased_mm", "biased2_mm2", "pull", "pull2")
        pair = [("n", "u8"), *((f"{axis}_{name}", "f8") for axis in "xy" for name in sums)]
        whole: dict[str, Any] = {**told, **{name: np.frombuffer(told[name], pair) for name in ("module", "sensor", "chip")}}
        matrix = np.zeros((312, 312))
        matrix[np.triu_indices(312)] = np.frombuffer(told["matrix"])
        whole.update(matrix=matrix + np.triu(matrix, 1).T, vector=np.frombuffer(told["vector"]))
        return cls(**whole)
