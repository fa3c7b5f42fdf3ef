# SPDX-License-Identifier: Apache-2.0
"""scipy.ndimage.label of images and volumes: the same labels, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image
from .._core import UnsupportedError, UsageError

__all__ = ["label"]

_NEIGHBOURS = {1: {1: 4}, 2: {1: 4, 2: 8}, 3: {1: 6, 2: 18, 3: 26}}  # by dimensions, then by how many coordinates may differ


def _connectivity(structure: Any, ndim: int) -> int:
    most = max(ndim, 1)
    if structure is None:
        return _NEIGHBOURS[most][1]
    given = np.array(structure, dtype=bool)
    if given.ndim != ndim:
        raise RuntimeError("structure and input must have equal rank")
    if set(given.shape) != {3}:
        raise UsageError(f"structure has the shape {given.shape}; it is to be 3 along each axis")
    if (given != given[(slice(None, None, -1),) * ndim]).any():
        raise UsageError("structure is to be symmetric about its middle")
    given[(1,) * ndim] = True  # a pixel is always joined with itself
    differ = np.abs(np.indices(given.shape) - 1).sum(axis=0)
    for n, connectivity in _NEIGHBOURS[most].items():
        if (given == (differ <= n)).all():
            return connectivity
    raise UnsupportedError("structure is to be the cross (4 neighbours, of volumes 6), all ones (8, 26), or of volumes all but the corners (18)")


def plain(array: Any) -> np.ndarray[Any, Any]:
    """Whether each pixel is not zero, as an array of 2 or 3 dimensions that can be labelled; not copied if it is one already."""
    given = np.asarray(array)
    if given.ndim > 3:
        raise UnsupportedError(f"input has {given.ndim} dimensions: up to 3 are labelled")
    if given.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"input is of {given.dtype}; it is to be of bool, integers or floats")
    given = np.atleast_2d(given)
    if given.dtype in (np.bool_, np.uint8, np.uint16, np.uint32) and given.dtype.isnative:
        if (given.shape[-1] <= 1 or given.strides[-1] == given.itemsize) and 0 not in given.strides[:-1]:
            return given if given.flags.aligned else given.copy()
        return np.ascontiguousarray(given)
    return np.ascontiguousarray(given != 0)


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """As scipy.ndimage.label of an array of up to 3 dimensions: ``(labels, n)``, labels int32, numbered in raster order.

    ``structure`` is None (neighbours by an edge, of volumes by a face), the cross, all ones, or of volumes all ones but the corners
    (``generate_binary_structure``). ``output`` may be a data type, or an array of the input's shape, which is filled; then n alone is
    returned. More dimensions and other structures are an UnsupportedError; labels that the type of ``output`` cannot hold a
    RuntimeError, as there.
    """
    given = np.asarray(input)
    array = plain(given)
    connectivity = _connectivity(structure, given.ndim)
    if not isinstance(output, np.ndarray):
        dtype = np.dtype(np.int32 if output is None else output)
        labels, n = image.label(array, connectivity=connectivity)
        _fits(n, dtype)
        return labels.reshape(given.shape).astype(dtype, copy=False), n
    if output.shape != given.shape:
        raise UsageError(f"output has the shape {output.shape}, the input {given.shape}")
    ready = output.dtype in (np.int32, np.uint32) and output.dtype.isnative and output.flags.carray and output.ndim in (2, 3)
    if ready and not np.may_share_memory(output, array):
        return image.label(array, connectivity=connectivity, out=output)[1]
    labels, n = image.label(array, connectivity=connectivity)
    _fits(n, output.dtype)
    output[...] = labels.reshape(given.shape)
    return n


def _fits(n: int, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype == np.float16:
        raise TypeError(f"output is of {dtype}; it is to be of bool, integers, float32 or float64")
    most = {"b": 255, "f": 2**24 if dtype.itemsize == 4 else 2**53}.get(dtype.kind) or np.iinfo(dtype).max
    if n > most:
        raise RuntimeError("insufficient bit-depth in requested output type")
