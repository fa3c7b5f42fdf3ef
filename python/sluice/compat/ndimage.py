# SPDX-License-Identifier: Apache-2.0
"""scipy.ndimage.label of images: the same labels, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image
from .._core import UnsupportedError, UsageError

__all__ = ["label"]


def _connectivity(structure: Any) -> int:
    if structure is None:
        return 4
    given = np.asarray(structure, dtype=bool)
    if given.shape != (3, 3):
        raise UsageError(f"structure has the shape {given.shape}; it is to be 3 x 3")
    if (given == np.ones((3, 3), bool)).all():
        return 8
    if (given == np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)).all():
        return 4
    raise UnsupportedError("structure is to be the cross (4 neighbours) or all ones (8 neighbours)")


def plain(array: Any, name: str = "input") -> np.ndarray[Any, Any]:
    """Whether each pixel is not zero, as an array that can be labelled; not copied if it is one already."""
    given = np.asarray(array)
    if given.ndim != 2:
        raise UnsupportedError(f"{name} has {given.ndim} dimensions: images of 2 are labelled, volumes are not yet")
    if given.dtype in (np.bool_, np.uint8, np.uint16, np.uint32) and given.dtype.isnative:
        if given.shape[1] <= 1 or given.strides[1] == given.itemsize:
            return given if given.flags.aligned else given.copy()
        return np.ascontiguousarray(given)
    if given.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return np.ascontiguousarray(given != 0)


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """As scipy.ndimage.label of a 2-D array. Labels are int32. ``output`` may be a data type, or an array of the image's shape,
    which is filled; then the number of labels alone is returned."""
    array = plain(input)
    connectivity = _connectivity(structure)
    if isinstance(output, np.ndarray):
        if output.shape != array.shape:
            raise UsageError(f"output has the shape {output.shape}, the input {array.shape}")
        if output.dtype in (np.int32, np.uint32) and output.flags.c_contiguous and not np.shares_memory(output, array):
            return image.label(array, connectivity=connectivity, out=output)[1]
        labels, n = image.label(array, connectivity=connectivity)
        _fits(n, output.dtype)
        output[...] = labels
        return n
    labels, n = image.label(array, connectivity=connectivity)
    if output is not None:
        dtype = np.dtype(output)
        _fits(n, dtype)
        labels = labels.astype(dtype, copy=False)
    return labels, n


def _fits(n: int, dtype: np.dtype[Any]) -> None:
    if dtype.kind in "iu" and n > np.iinfo(dtype).max:
        raise RuntimeError("insufficient bit-depth in requested output type")
