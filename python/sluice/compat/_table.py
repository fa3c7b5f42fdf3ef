# SPDX-License-Identifier: Apache-2.0
"""Properties of the regions of a label image, as scikit-image defines them, from exact sums. If the labels are those that
``sluice.image`` gives to the image's components, the sums are the library's; else NumPy's."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from .. import image
from .._components import central_moments
from ._regions import GREY, Array, Regions, objects

_SECOND = ("axis_major_length", "axis_minor_length", "eccentricity", "inertia_tensor", "inertia_tensor_eigvals", "orientation")


class Table(Regions):
    """Rows are the labels above zero that are there, rising. Each property is an array (n,), (n, 2) or (n, 2, 2)."""

    # ---- sums ------------------------------------------------------------------------------------

    @cached_property
    def _own(self) -> tuple[Any, int] | None:
        """The library's components of the image and their connectivity, if their labels are these."""
        labels = self.labels
        if labels.size == 0 or labels.size * max(labels.shape) ** 2 >= 1 << 63:
            return None
        foreground = np.ascontiguousarray(labels > 0)
        whole = self.grey is not None and self.grey.dtype in (np.uint8, np.uint16, np.uint32)
        grey = np.ascontiguousarray(self.grey) if whole and self._wanted & {*GREY} else None
        features = ["area", "box", "sums"] + (["grey"] if grey is not None else [])
        features += ["second"] * bool(self._wanted & {*_SECOND}) + ["euler"] * ("euler_number" in self._wanted)
        most = int(labels.max())
        for connectivity in (8, 4):
            made, n = image.label(foreground, connectivity=connectivity)
            if n == most and np.array_equal(made, np.where(foreground, labels, 0)):
                return image.components(foreground, connectivity=connectivity, features=features, grey=grey), connectivity
            if n > most:
                break  # 4 neighbours join no more than 8 do
        return None

    @cached_property
    def _pixels(self) -> tuple[Array, Array, Array]:
        """Of each pixel of a region: its row in the table, y and x."""
        places = np.flatnonzero(self.labels > 0)
        found = self.labels.reshape(-1)[places]
        if self._own is not None:
            row = found.astype(np.int64) - 1
        else:
            row = np.searchsorted(self.label, found.astype(np.int64))
        y, x = np.divmod(places, max(self.labels.shape[1], 1))
        return row, y, x

    @cached_property
    def label(self) -> Array:
        if self._own is not None:
            return np.arange(1, self._own[0].n_rows + 1)
        inside = self.labels[self.labels > 0]
        if inside.size > 0 and int(inside.max()) <= 4 * self.labels.size:
            return np.flatnonzero(np.bincount(inside.astype(np.int64)))
        return np.unique(inside).astype(np.int64)

    def _sum(self, weights: Array | None = None) -> Array:
        return np.bincount(self._pixels[0], weights, minlength=len(self.label))

    @cached_property
    def num_pixels(self) -> Array:
        return self._own[0].area.astype(np.int64) if self._own is not None else self._sum()

    @cached_property
    def _box(self) -> Array:
        """(n, 4): first row and column, last row and column."""
        if self._own is not None:
            c = self._own[0]
            return np.stack([c.y_min, c.x_min, c.y_max, c.x_max], axis=1).astype(np.int64)
        row, y, x = self._pixels
        box = np.empty((len(self.label), 4), np.int64)
        for k, at in enumerate((y, x)):
            order = np.argsort(at, kind="stable")
            box[row[order[::-1]], k] = at[order[::-1]]  # of several the last one stays
            box[row[order], k + 2] = at[order]
        return box

    @cached_property
    def _first(self) -> Array:
        """(n, 2): sums of y and x from the box's corner."""
        if self._own is not None:
            sums = np.stack([self._own[0].sum_y, self._own[0].sum_x], axis=1).astype(np.int64)
        else:
            sums = np.stack([self._sum(self._pixels[1]), self._sum(self._pixels[2])], axis=1).astype(np.int64)
        return sums - self.num_pixels[:, None] * self._box[:, :2]

    @cached_property
    def _second(self) -> tuple[Array, Array, Array]:
        """Second moments yy, yx, xx about the centroid, over the area."""
        if self._own is not None:
            return central_moments(self._own[0])
        row, y, x = self._pixels
        (top, left), (mean_y, mean_x), area = self._box[:, :2].T, self.centroid_local.T, self.num_pixels
        y, x = y - top[row], x - left[row]
        yy, yx, xx = self._sum(y * y), self._sum(y * x), self._sum(x * x)
        return yy / area - mean_y * mean_y, yx / area - mean_y * mean_x, xx / area - mean_x * mean_x

    # ---- form ------------------------------------------------------------------------------------

    @property
    def equivalent_diameter_area(self) -> Array:
        return np.sqrt(4 * self.area / math.pi)

    @property
    def inertia_tensor(self) -> Array:
        yy, yx, xx = self._second
        return np.stack([np.stack([xx, -yx], axis=1), np.stack([-yx, yy], axis=1)], axis=1)

    @property
    def axis_major_length(self) -> Array:
        return 4 * np.sqrt(self.inertia_tensor_eigvals[:, 0])

    @property
    def axis_minor_length(self) -> Array:
        return 4 * np.sqrt(self.inertia_tensor_eigvals[:, 1])

    @property
    def eccentricity(self) -> Array:
        large, small = self.inertia_tensor_eigvals.T
        return np.sqrt(1 - np.divide(small, large, out=np.ones_like(small), where=large > 0))

    @property
    def orientation(self) -> Array:
        yy, yx, xx = self._second
        return np.where(xx == yy, np.where(yx > 0, -math.pi / 4, math.pi / 4), 0.5 * np.arctan2(2 * yx, yy - xx))

    @cached_property
    def euler_number(self) -> Array:
        if self._own is not None and self._own[1] == 8:
            return self._own[0].euler.astype(np.int64)
        # Corners less edges and pixels, each counted once for a region, whose pixels are squares with their border.
        n = len(self.label)
        row = np.zeros((self.labels.shape[0] + 2, self.labels.shape[1] + 2), np.int64)
        row[1:-1, 1:-1][self.labels > 0] = self._pixels[0] + 1
        a, b, c, d = row[:-1, :-1], row[:-1, 1:], row[1:, :-1], row[1:, 1:]
        corners = [a, b[b != a], c[(c != a) & (c != b)], d[(d != a) & (d != b) & (d != c)]]
        count = sum(np.bincount(one.ravel(), minlength=n + 1) for one in corners)
        edges = 4 * np.bincount(row.ravel(), minlength=n + 1)
        for one, other in ((row[:, :-1], row[:, 1:]), (row[:-1], row[1:])):
            edges = edges - np.bincount(one[one == other], minlength=n + 1)
        return (count - edges)[1:] + self.num_pixels

    @cached_property
    def perimeter(self) -> Array:
        """The estimator of Benkrid and Crookes: border pixels, weighted by which of their neighbours are such, too."""
        n = len(self.label)
        row = np.zeros((self.labels.shape[0] + 2, self.labels.shape[1] + 2), np.int64)
        row[1:-1, 1:-1][self.labels > 0] = self._pixels[0] + 1
        middle = row[1:-1, 1:-1]
        inner = (row[:-2, 1:-1] == middle) & (row[2:, 1:-1] == middle) & (row[1:-1, :-2] == middle) & (row[1:-1, 2:] == middle)
        row[1:-1, 1:-1] = middle * ~inner
        middle = row[1:-1, 1:-1]
        near = sum((row[y : y + middle.shape[0], x : x + middle.shape[1]] == middle).astype(np.int8) for y, x in ((0, 1), (2, 1), (1, 0), (1, 2)))
        far = sum((row[y : y + middle.shape[0], x : x + middle.shape[1]] == middle).astype(np.int8) for y, x in ((0, 0), (0, 2), (2, 0), (2, 2)))
        code = 1 + 2 * near + 10 * far
        weights = np.zeros(50)
        weights[[5, 7, 15, 17, 25, 27]] = 1
        weights[[21, 33]] = math.sqrt(2)
        weights[[13, 23]] = (1 + math.sqrt(2)) / 2
        histogram = np.bincount((middle * 50 + code * (middle > 0)).ravel(), minlength=50 * (n + 1)).reshape(-1, 50)
        return histogram[1:] @ weights

    @cached_property
    def _measured(self) -> Any:
        """Of the label image: hulls and Crofton's perimeters, as far as they will be asked for."""
        wanted = {"hull": {"area_convex", "solidity"}, "feret": {"feret_diameter_max"}, "crofton": {"perimeter_crofton"}}
        features = [name for name, properties in wanted.items() if self._wanted & properties]
        labels = np.where(self.labels > 0, self.labels, 0)
        if labels.size > 0 and int(labels.max()) >= 1 << 32:
            labels = np.where(labels > 0, 1 + np.searchsorted(self.label, labels), 0)
        return image.measure(labels, features=features)

    @property
    def area_convex(self) -> Array:
        return self._measured.convex_area.astype(np.float64)

    @property
    def solidity(self) -> Array:
        return self.area / self.area_convex

    @property
    def feret_diameter_max(self) -> Array:
        return self._measured.feret_outline

    @property
    def perimeter_crofton(self) -> Array:
        return self._measured.crofton_4

    @property
    def coords(self) -> Array:
        row, y, x = self._pixels
        order = np.argsort(row, kind="stable")
        return objects(len(self.label), np.split(np.stack([y, x], axis=1)[order], np.cumsum(self.num_pixels)[:-1])[: len(self.label)])

    # ---- values ----------------------------------------------------------------------------------

    @property
    def _grey(self) -> Array:
        assert self.grey is not None
        return self.grey

    @property
    def _has_sums(self) -> bool:
        return self._own is not None and "mass" in self._own[0]

    @cached_property
    def _values(self) -> Array:
        return self._grey.reshape(-1)[np.flatnonzero(self.labels > 0)]

    def _extremes(self, of: Any, column: str) -> Array:
        if self._own is not None and self._has_sums:
            made: Array = self._own[0][column]
            return made
        if len(self.label) == 0:
            return np.empty(0)
        order = np.argsort(self._pixels[0], kind="stable")
        begins = np.concatenate([[0], np.cumsum(self.num_pixels)[:-1]])
        made = of.reduceat(self._values[order], begins).astype(np.float64)
        return made

    @property
    def _mass(self) -> Array:
        if self._own is not None and self._has_sums:
            made: Array = self._own[0].mass
            return made
        return self._sum(self._values.astype(np.float64))

    @property
    def intensity_mean(self) -> Array:
        return self._mass / self.num_pixels

    @property
    def intensity_std(self) -> Array:
        apart = self._values.astype(np.float64) - self.intensity_mean[self._pixels[0]]
        return np.sqrt(self._sum(apart * apart) / self.num_pixels)

    @property
    def centroid_weighted(self) -> Array:
        if self._own is not None and self._has_sums:
            return np.stack([self._own[0].weighted_y, self._own[0].weighted_x], axis=1)
        return self.centroid_weighted_local + self._box[:, :2]

    @property
    def centroid_weighted_local(self) -> Array:
        if self._own is not None and self._has_sums:
            return self.centroid_weighted - self._box[:, :2]
        row, y, x = self._pixels
        values = self._values.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([self._sum(values * (at - self._box[row, k])) / self._mass for k, at in enumerate((y, x))], axis=1)


#: What a table can be asked for.
PROPERTIES = Table.supported()
