# SPDX-License-Identifier: Apache-2.0
"""cv2.connectedComponents and cv2.connectedComponentsWithStats. OpenCV promises no order of its labels; here they are in the raster
order of the components' first pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image
from .._core import UnsupportedError, UsageError

__all__ = [
    "CC_STAT_AREA",
    "CC_STAT_HEIGHT",
    "CC_STAT_LEFT",
    "CC_STAT_MAX",
    "CC_STAT_TOP",
    "CC_STAT_WIDTH",
    "connectedComponents",
    "connectedComponentsWithStats",
]

CC_STAT_LEFT, CC_STAT_TOP, CC_STAT_WIDTH, CC_STAT_HEIGHT, CC_STAT_AREA, CC_STAT_MAX = range(6)
_TYPES = {4: np.int32, 2: np.uint16}  # OpenCV's CV_32S and CV_16U


def _check(given: Any, connectivity: int, ltype: int) -> tuple[np.ndarray[Any, Any], Any]:
    array = np.asarray(given)
    if array.dtype not in (np.uint8, np.bool_, np.int8) or array.ndim != 2:
        raise UsageError(f"image is {array.ndim}-D of {array.dtype}; it is to be a 2-D array of 8 bits, one channel")
    if connectivity not in (4, 8):
        raise UsageError(f"connectivity is to be 4 or 8, not {connectivity}")
    if ltype not in _TYPES:
        raise UnsupportedError(f"ltype is to be CV_32S (4) or CV_16U (2), not {ltype}")
    return np.ascontiguousarray(array.view(np.uint8)), _TYPES[ltype]


def connectedComponents(image_: Any, labels: Any = None, connectivity: int = 8, ltype: int = 4) -> tuple[int, Any]:
    """Number of labels with the background's, and the label image."""
    array, dtype = _check(image_, connectivity, ltype)
    found, n = image.label(array, connectivity=connectivity, dtype=dtype)
    return n + 1, _given(found, labels)


def connectedComponentsWithStats(
    image_: Any, labels: Any = None, stats: Any = None, centroids: Any = None, connectivity: int = 8, ltype: int = 4
) -> tuple[int, Any, Any, Any]:
    """Number of labels, label image, (n, 5) of left, top, width, height, area, and (n, 2) of centroids x, y; row 0 is the
    background."""
    array, dtype = _check(image_, connectivity, ltype)
    found, columns = image.components(
        array, connectivity=connectivity, dtype=dtype, labels=True, features=("area", "box", "sums", "centroid")
    )
    n = columns.n_rows
    table = np.zeros((n + 1, CC_STAT_MAX), np.int32)
    table[1:, CC_STAT_LEFT] = columns.x_min
    table[1:, CC_STAT_TOP] = columns.y_min
    table[1:, CC_STAT_WIDTH] = columns.x_max.astype(np.int64) - columns.x_min + 1
    table[1:, CC_STAT_HEIGHT] = columns.y_max.astype(np.int64) - columns.y_min + 1
    table[1:, CC_STAT_AREA] = columns.area
    centres = np.full((n + 1, 2), np.nan)
    centres[1:, 0] = columns.x
    centres[1:, 1] = columns.y
    _background(found, columns, table, centres)
    return n + 1, _given(found, labels), _given(table, stats), _given(centres, centroids)


def _background(found: Any, columns: Any, table: Any, centres: Any) -> None:
    height, width = found.shape
    area = found.size - int(columns.area.sum())
    if area == 0:  # as OpenCV has it of nothing
        table[0] = (2147483647, 2147483647, 2, 2, 0)
        return
    # All pixels of the image, less those of the components.
    sums = [height * width * (width - 1) // 2 - int(columns.sum_x.sum()), width * height * (height - 1) // 2 - int(columns.sum_y.sum())]
    centres[0] = [one / area for one in sums]
    background = found == 0
    x = np.flatnonzero(background.any(axis=0))
    y = np.flatnonzero(background.any(axis=1))
    table[0] = (x[0], y[0], x[-1] - x[0] + 1, y[-1] - y[0] + 1, area)


def _given(made: Any, out: Any) -> Any:
    if out is None:
        return made
    out[...] = made
    return out
