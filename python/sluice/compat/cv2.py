# SPDX-License-Identifier: Apache-2.0
"""cv2.connectedComponents, …WithStats and their …WithAlgorithm forms: the same components and statistics. OpenCV promises no order of
its labels; here they are in raster order of the components' first pixels, whatever the algorithm. So OpenCV has them, too, with 4
neighbours, and with 8 by CCL_WU and CCL_SAUF; its default goes by blocks of 2 x 2 pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image as _image
from .._core import UnsupportedError, UsageError, compat_cv2_statistics

CC_STAT_LEFT, CC_STAT_TOP, CC_STAT_WIDTH, CC_STAT_HEIGHT, CC_STAT_AREA, CC_STAT_MAX = range(6)
CCL_DEFAULT = -1
CCL_WU, CCL_GRANA, CCL_BOLELLI, CCL_SAUF, CCL_BBDT, CCL_SPAGHETTI = range(6)
CV_16U, CV_32S = 2, 4
_TYPES = {CV_32S: np.int32, CV_16U: np.uint16}

__all__ = [
    "CCL_BBDT",
    "CCL_BOLELLI",
    "CCL_DEFAULT",
    "CCL_GRANA",
    "CCL_SAUF",
    "CCL_SPAGHETTI",
    "CCL_WU",
    "CC_STAT_AREA",
    "CC_STAT_HEIGHT",
    "CC_STAT_LEFT",
    "CC_STAT_MAX",
    "CC_STAT_TOP",
    "CC_STAT_WIDTH",
    "CV_16U",
    "CV_32S",
    "connectedComponents",
    "connectedComponentsWithAlgorithm",
    "connectedComponentsWithStats",
    "connectedComponentsWithStatsWithAlgorithm",
]


def _check(given: Any, connectivity: int, ltype: int, ccltype: int) -> np.ndarray[Any, Any]:
    array = np.asarray(given)
    if array.dtype not in (np.uint8, np.bool_, np.int8) or not (array.ndim in (1, 2) or (array.ndim == 3 and array.shape[2] == 1)):
        raise UsageError(f"image is {array.ndim}-D of {array.dtype}; it is to be a 2-D array of 8 bits, one channel")
    if connectivity not in (4, 8):
        raise UsageError(f"connectivity is to be 4 or 8, not {connectivity}")
    if ltype not in _TYPES:
        raise UnsupportedError(f"ltype is to be CV_32S (4) or CV_16U (2), not {ltype}")
    if ccltype not in range(CCL_DEFAULT, CCL_SPAGHETTI + 1):
        raise UsageError(f"ccltype is to be from -1 (CCL_DEFAULT) to 5 (CCL_SPAGHETTI), not {ccltype}")
    plane = array.reshape(array.shape[0], array.shape[1] if array.ndim > 1 else 1)
    return np.ascontiguousarray(plane.view(np.uint8))


def _usable(out: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """An array of the caller's that has the type and shape, as OpenCV fills it; others are left alone, and a new one is returned."""
    good = isinstance(out, np.ndarray) and out.dtype == dtype and out.shape == shape and out.flags.carray
    return out if good else None


def connectedComponents(image: Any, labels: Any = None, connectivity: int = 8, ltype: int = CV_32S) -> tuple[int, Any]:
    """Number of labels with the background's, and the label image."""
    return connectedComponentsWithAlgorithm(image, connectivity, ltype, CCL_DEFAULT, labels)


def connectedComponentsWithAlgorithm(image: Any, connectivity: int, ltype: int, ccltype: int, labels: Any = None) -> tuple[int, Any]:
    """As connectedComponents; results do not depend on ``ccltype``. More labels than ``ltype`` can hold are a CapacityError."""
    array = _check(image, connectivity, ltype, ccltype)
    out = _usable(labels, _TYPES[ltype], array.shape)
    if out is None or np.may_share_memory(out, array):
        found, n = _image.label(array, connectivity=connectivity, dtype=_TYPES[ltype])
        return n + 1, _given(found, out)
    return _image.label(array, connectivity=connectivity, out=out)[1] + 1, out


def connectedComponentsWithStats(
    image: Any, labels: Any = None, stats: Any = None, centroids: Any = None, connectivity: int = 8, ltype: int = CV_32S
) -> tuple[int, Any, Any, Any]:
    """Number of labels, label image, (n, 5) int32 of left, top, width, height, area, and (n, 2) float64 of centroids x, y; row 0 is the
    background."""
    return connectedComponentsWithStatsWithAlgorithm(image, connectivity, ltype, CCL_DEFAULT, labels, stats, centroids)


def connectedComponentsWithStatsWithAlgorithm(
    image: Any, connectivity: int, ltype: int, ccltype: int, labels: Any = None, stats: Any = None, centroids: Any = None
) -> tuple[int, Any, Any, Any]:
    """As connectedComponentsWithStats; results do not depend on ``ccltype``."""
    array = _check(image, connectivity, ltype, ccltype)
    found, columns = _image.components(
        array, connectivity=connectivity, dtype=_TYPES[ltype], labels=True, features=("area", "box", "sums", "centroid")
    )
    n = columns.n_rows
    table, centres = np.empty((n + 1, CC_STAT_MAX), np.int32), np.empty((n + 1, 2))
    compat_cv2_statistics(found, columns, table, centres, *found.shape)
    return (
        n + 1,
        _given(found, _usable(labels, found.dtype, found.shape)),
        _given(table, _usable(stats, table.dtype, table.shape)),
        _given(centres, _usable(centroids, centres.dtype, centres.shape)),
    )


def _given(made: Any, out: Any) -> Any:
    if out is None:
        return made
    out[...] = made
    return out
