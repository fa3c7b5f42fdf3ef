# SPDX-License-Identifier: Apache-2.0
"""Regions of equal values, from components of two values: what scikit-image's label does with images of several values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image

Array = Any  # of NumPy


def _merge(n: int, a: Array, b: Array) -> Array:
    """Of each label from 0 to n the smallest one that the pairs (a[i], b[i]) join it with."""
    root = np.arange(n + 1)
    while True:
        one, other = root[a], root[b]
        apart = one != other
        if not apart.any():
            return root
        a, b, one, other = a[apart], b[apart], one[apart], other[apart]
        # Each root that has a smaller neighbour is hung below one of these, so that half of them are gone each time.
        root[np.maximum(one, other)] = np.minimum(one, other)
        while True:
            further = root[root]
            if (further == root).all():
                break
            root = further


def regions(values: Array, there: Array, connectivity: int) -> tuple[Array, int]:
    """Labels (int32) of the regions of equal values among the pixels that are ``there``, in raster order of their first pixels."""
    inside = values[there]
    if (inside == inside[:1]).all():
        return image.label(there, connectivity=connectivity)
    height, width = values.shape
    # Pixels with a place for the link between each two that are neighbours by an edge: links are there where values are equal.
    grid = np.zeros((2 * height - 1, 2 * width - 1), bool)
    grid[::2, ::2] = there
    grid[::2, 1::2] = there[:, 1:] & (values[:, 1:] == values[:, :-1])
    grid[1::2, ::2] = there[1:] & (values[1:] == values[:-1])
    labels, n = image.label(grid, connectivity=4)
    labels = labels[::2, ::2]
    if connectivity == 4:
        return np.ascontiguousarray(labels), n
    fall = there[1:, 1:] & (values[1:, 1:] == values[:-1, :-1]) & (labels[1:, 1:] != labels[:-1, :-1])
    rise = there[1:, :-1] & (values[1:, :-1] == values[:-1, 1:]) & (labels[1:, :-1] != labels[:-1, 1:])
    a = np.concatenate([labels[1:, 1:][fall], labels[1:, :-1][rise]])
    b = np.concatenate([labels[:-1, :-1][fall], labels[:-1, 1:][rise]])
    root = _merge(n, a, b)
    first = root == np.arange(n + 1)
    first[0] = False
    number = np.cumsum(first, dtype=np.int32)
    return number[root][labels] * there, int(number[-1])
