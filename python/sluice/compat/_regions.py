# SPDX-License-Identifier: Apache-2.0
"""What regions of images and of volumes have in common, as scikit-image defines it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import UnsupportedError, UsageError

Array = Any  # of NumPy

OLDER = {
    "bbox_area": "area_bbox",
    "convex_area": "area_convex",
    "equivalent_diameter": "equivalent_diameter_area",
    "intensity_image": "image_intensity",
    "local_centroid": "centroid_local",
    "major_axis_length": "axis_major_length",
    "max_intensity": "intensity_max",
    "mean_intensity": "intensity_mean",
    "min_intensity": "intensity_min",
    "minor_axis_length": "axis_minor_length",
    "weighted_centroid": "centroid_weighted",
    "weighted_local_centroid": "centroid_weighted_local",
}
GREY = ("centroid_weighted", "centroid_weighted_local", "image_intensity", "intensity_max", "intensity_mean", "intensity_min", "intensity_std")


def objects(n: int, values: Any) -> Array:
    made = np.empty(n, object)
    for i, value in enumerate(values):
        made[i] = value
    return made


class Regions:
    """What tables of images and of volumes have in common; axes are those of the array. Rows are the labels above zero that are there,
    rising. A kind of table has ``label``, ``num_pixels``, ``_box`` (n, 2 d): first and last place along each axis, ``_first`` (n, d): sums
    of places from the box's corner, ``inertia_tensor`` and ``_extremes``."""

    _kind = ""  # in messages

    def __init__(self, labels: Array, grey: Array | None, properties: tuple[str, ...]) -> None:
        """``properties`` are those that ``get`` will be asked for."""
        self.labels, self.grey = labels, grey
        self._wanted = {OLDER.get(name, name) for name in properties}

    label: Array
    num_pixels: Array
    inertia_tensor: Array
    _box: Array
    _first: Array

    def _extremes(self, of: Any, column: str) -> Array:
        raise NotImplementedError

    @classmethod
    def supported(cls) -> tuple[str, ...]:
        return tuple(name for name in dir(cls) if not name.startswith("_") and name not in ("get", "supported"))

    def get(self, name: str) -> Array:
        own = OLDER.get(name, name)
        if own not in self.supported():
            raise UnsupportedError(f"the property {name!r}{self._kind} is not supported; supported are {', '.join(self.supported())}")
        if own in GREY and self.grey is None:
            raise UsageError(f"the property {name!r} needs an intensity_image")
        return getattr(self, own)

    @property
    def _ndim(self) -> int:
        return int(self.labels.ndim)

    @property
    def area(self) -> Array:
        return self.num_pixels.astype(np.float64)

    @property
    def bbox(self) -> Array:
        return self._box + np.repeat([0, 1], self._ndim)

    @property
    def area_bbox(self) -> Array:
        return (self._box[:, self._ndim :] - self._box[:, : self._ndim] + 1).prod(axis=1).astype(np.float64)

    @property
    def extent(self) -> Array:
        return self.area / self.area_bbox

    @property
    def centroid(self) -> Array:
        return (self._first + self.num_pixels[:, None] * self._box[:, : self._ndim]) / self.num_pixels[:, None]

    @property
    def centroid_local(self) -> Array:
        return self._first / self.num_pixels[:, None]

    @property
    def inertia_tensor_eigvals(self) -> Array:
        if len(self.label) == 0:
            return np.empty((0, self._ndim))
        return np.clip(np.linalg.eigvalsh(self.inertia_tensor), 0, None)[:, ::-1]

    @property
    def slice(self) -> Array:
        return objects(len(self.label), (tuple(map(slice, row[: self._ndim], row[self._ndim :])) for row in self.bbox.tolist()))

    @property
    def image(self) -> Array:
        return objects(len(self.label), (self.labels[at] == k for k, at in zip(self.label, self.slice)))

    @property
    def image_intensity(self) -> Array:
        assert self.grey is not None
        grey = self.grey
        return objects(len(self.label), (grey[at] * (self.labels[at] == k) for k, at in zip(self.label, self.slice)))

    @property
    def intensity_max(self) -> Array:
        return self._extremes(np.maximum, "grey_max")

    @property
    def intensity_min(self) -> Array:
        return self._extremes(np.minimum, "grey_min")
