# SPDX-License-Identifier: Apache-2.0
"""Properties of the regions of a label volume, as scikit-image defines them for three dimensions, from the library's exact sums. Axes
are z, y, x."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from .. import image
from ._regions import GREY, Array, Regions, objects


class VolumeTable(Regions):
    """Rows are the labels above zero that are there, rising. Each property is an array (n,), (n, 3), (n, 6) or (n, 3, 3)."""

    _kind = " of volumes"

    # ---- sums ------------------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> tuple[Array, Array | None]:
        """Labels of up to 32 bits for the library, and what they stand for if they are not the volume's own."""
        labels = self.labels
        if labels.dtype.kind == "u" and labels.dtype.itemsize <= 4:
            return labels, None
        above = np.where(labels > 0, labels, 0)
        if above.size > 0 and int(above.max()) >= 1 << 32:
            values = np.unique(above[above > 0])
            return np.where(above > 0, 1 + np.searchsorted(values, above), 0).astype(np.uint32), values
        return above.astype(np.uint32), None

    @cached_property
    def _grey_is_whole(self) -> bool:
        return self.grey is not None and self.grey.dtype in (np.bool_, np.uint8, np.uint16, np.uint32)

    @cached_property
    def _sums(self) -> Any:
        """What the library finds of the volume, of what will be asked for."""
        features = ["label", "area", "box", "sums"]
        if self._wanted & {"axis_major_length", "axis_minor_length", "inertia_tensor", "inertia_tensor_eigvals"}:
            features.append("second")
        grey = self.grey if self._grey_is_whole and self._wanted & {*GREY} else None
        if grey is not None:
            grey = grey.view(np.uint8) if grey.dtype == np.bool_ else grey
            features += ["grey", "spread"]
        return image.measure(self._numbers[0], grey=grey, features=features)

    @cached_property
    def label(self) -> Array:
        own, values = self._sums.label.astype(np.int64), self._numbers[1]
        return own if values is None else values[own - 1].astype(np.int64)

    @cached_property
    def num_pixels(self) -> Array:
        return self._sums.volume.astype(np.int64)

    @cached_property
    def _box(self) -> Array:
        """(n, 6): first slice, row and column, last slice, row and column."""
        c = self._sums
        return np.stack([c.z_min, c.y_min, c.x_min, c.z_max, c.y_max, c.x_max], axis=1).astype(np.int64)

    @cached_property
    def _first(self) -> Array:
        """(n, 3): sums of places from the box's corner."""
        c = self._sums
        return np.stack([c.sum_z, c.sum_y, c.sum_x], axis=1).astype(np.int64) - self.num_pixels[:, None] * self._box[:, :3]

    @cached_property
    def _second(self) -> Array:
        """(n, 3, 3): second moments about the centroid, over the volume; of sums from the box's corner, modulo 2**64 until they are."""
        c, n = self._sums, self.num_pixels
        made = np.empty((len(n), 3, 3))
        for i, a in enumerate("zyx"):
            for j, b in enumerate("zyx"):
                own = c["sum_" + "".join(sorted(a + b))].astype(np.int64)
                corner, other = self._box[:, i], self._box[:, j]
                local = own - corner * self._first[:, j] - other * self._first[:, i] - n * corner * other
                made[:, i, j] = local / n - self.centroid_local[:, i] * self.centroid_local[:, j]
        return made

    # ---- form ------------------------------------------------------------------------------------

    @property
    def equivalent_diameter_area(self) -> Array:
        return np.cbrt(6 * self.area / math.pi)

    @property
    def inertia_tensor(self) -> Array:
        return np.trace(self._second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - self._second

    @property
    def axis_major_length(self) -> Array:
        large, middle, small = self.inertia_tensor_eigvals.T
        return np.sqrt(np.clip(10 * (large + middle - small), 0, None))

    @property
    def axis_minor_length(self) -> Array:
        large, middle, small = self.inertia_tensor_eigvals.T
        return np.sqrt(np.clip(10 * (-large + middle + small), 0, None))

    @property
    def coords(self) -> Array:
        return objects(len(self.label), (np.argwhere(one) + row[:3] for one, row in zip(self.image, self._box)))

    # ---- values ----------------------------------------------------------------------------------

    @cached_property
    def _voxels(self) -> tuple[Array, Array, Array]:
        """Of each voxel of a region: its row in the table, its value, its place (3, n)."""
        assert self.grey is not None
        places = np.nonzero(self.labels > 0)
        row = np.searchsorted(self.label, self.labels[places].astype(np.int64))
        return row, self.grey[places].astype(np.float64), np.stack(places)

    def _sum(self, weights: Array) -> Array:
        return np.bincount(self._voxels[0], weights, minlength=len(self.label))

    def _extremes(self, of: Any, column: str) -> Array:
        if self._grey_is_whole:
            made: Array = self._sums[column]
            return made
        if len(self.label) == 0:
            return np.empty(0)
        row, values, _ = self._voxels
        begins = np.concatenate([[0], np.cumsum(self.num_pixels)[:-1]])
        made = of.reduceat(values[np.argsort(row, kind="stable")], begins)
        return made

    @property
    def intensity_mean(self) -> Array:
        return self._sums.grey_mean if self._grey_is_whole else self._sum(self._voxels[1]) / self.num_pixels

    @property
    def intensity_std(self) -> Array:
        if self._grey_is_whole:
            return self._sums.grey_std
        apart = self._voxels[1] - self.intensity_mean[self._voxels[0]]
        return np.sqrt(self._sum(apart * apart) / self.num_pixels)

    @property
    def centroid_weighted(self) -> Array:
        if self._grey_is_whole:
            return np.stack([self._sums.weighted_z, self._sums.weighted_y, self._sums.weighted_x], axis=1)
        return self.centroid_weighted_local + self._box[:, :3]

    @property
    def centroid_weighted_local(self) -> Array:
        if self._grey_is_whole:
            return self.centroid_weighted - self._box[:, :3]
        row, values, places = self._voxels
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([self._sum(values * (at - self._box[row, k])) / self._sum(values) for k, at in enumerate(places)], axis=1)


#: What a table of a volume can be asked for.
VOLUME_PROPERTIES = VolumeTable.supported()
