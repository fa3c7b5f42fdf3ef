# SPDX-License-Identifier: Apache-2.0
"""skimage.measure.label and regionprops_table of images and volumes: the same labels, byte for byte, and the same table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import image
from .._core import UnsupportedError, UsageError
from ._table import PROPERTIES, Table
from ._volume import VOLUME_PROPERTIES, VolumeTable

__all__ = ["PROPERTIES", "VOLUME_PROPERTIES", "label", "regionprops_table"]


def label(label_image: Any, background: int | None = None, return_num: bool = False, connectivity: int | None = None) -> Any:
    """As skimage.measure.label of an array of 1 to 3 dimensions: regions of equal values besides the background's (default 0), numbered
    in raster order of their first pixels. Neighbours differ in at most ``connectivity`` places, from 1 to the number of dimensions
    (default). Labels of bool images are int32, others int64. Fractions are cut off first, as they are there."""
    given = np.asarray(label_image)
    if given.ndim not in (1, 2, 3):
        raise UnsupportedError(f"label_image has {given.ndim} dimensions: arrays of 1 to 3 are labelled")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"label_image is of {given.dtype}; it is to be of bool, integers or floats")
    if connectivity is not None and connectivity not in range(1, given.ndim + 1):
        raise UsageError(f"connectivity is to be from 1 to {given.ndim} for an image of {given.ndim} dimensions, not {connectivity}")
    neighbours = {1: {1: 4}, 2: {1: 4, 2: 8}, 3: {1: 6, 2: 18, 3: 26}}[given.ndim][connectivity or given.ndim]
    outside = 0 if background is None else int(background)
    binary = given.dtype == np.bool_
    values = np.atleast_2d(given if binary else given.astype(np.int64, copy=False))
    if values.size == 0:
        labels, n = np.zeros(given.shape, np.int32), 0
    elif binary:
        labels, n = image.label(np.ascontiguousarray(values ^ (outside == 1)), connectivity=neighbours)
    else:  # what is not the background's value is not 0
        labels, n = image.label(np.ascontiguousarray(values - np.int64(outside)), connectivity=neighbours, equal=True)
    labels = labels.reshape(given.shape).astype(np.int32 if binary else np.int64, copy=False)
    return (labels, n) if return_num else labels


def regionprops_table(
    label_image: Any,
    intensity_image: Any = None,
    properties: Iterable[str] = ("label", "bbox"),
    *,
    cache: bool = True,
    separator: str = "-",
    extra_properties: Any = None,
    spacing: Any = None,
) -> dict[str, Any]:
    """As skimage.measure.regionprops_table of a label image of 2 or 3 dimensions: a dict of columns, a row for each label above zero that is there.

    ``properties`` are those of ``PROPERTIES``, of 3 dimensions of ``VOLUME_PROPERTIES``, also by their older names
    (``major_axis_length`` …); others, such as ``moments_hu``, are an UnsupportedError that names them. ``intensity_image`` has one channel. Counts and sums are exact; what is derived from them is
    computed in double precision and may differ in its last digits. ``cache`` changes nothing.
    """
    labels = np.asarray(label_image)
    if labels.ndim not in (2, 3) or labels.dtype.kind not in "iu":
        raise TypeError(f"label_image is {labels.ndim}-D of {labels.dtype}; it is to be a 2-D or 3-D array of integers")
    if extra_properties is not None:
        raise UnsupportedError("extra_properties are not supported")
    if spacing is not None and not (np.asarray(spacing) == 1).all():
        raise UnsupportedError("spacing is not supported: lengths are in pixels")
    grey = None if intensity_image is None else np.asarray(intensity_image)
    if grey is not None and (grey.ndim != labels.ndim or grey.dtype.kind not in "biuf"):
        raise UnsupportedError(f"intensity_image is {grey.ndim}-D of {grey.dtype}; it is to be {labels.ndim}-D, of numbers: one channel")
    if grey is not None and grey.shape != labels.shape:
        raise UsageError(f"intensity_image has the shape {grey.shape}, label_image {labels.shape}")
    if isinstance(properties, str):
        raise TypeError("properties are to be a list of names")
    names = tuple(properties)
    table = (Table if labels.ndim == 2 else VolumeTable)(labels, grey, names)
    made: dict[str, Any] = {}
    for name in names:
        value: Any = table.get(name)
        if value.ndim == 1:
            made[name] = value
            continue
        for place in np.ndindex(value.shape[1:]):
            made[separator.join(map(str, (name, *place)))] = value[(slice(None), *place)]
    return made
