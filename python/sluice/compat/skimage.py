# SPDX-License-Identifier: Apache-2.0
"""skimage.measure.label of binary images, and regionprops_table of label images that it made: the same labels, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image
from .._core import UnsupportedError, UsageError
from .ndimage import plain

__all__ = ["label", "regionprops_table"]


def label(label_image: Any, background: int | None = None, return_num: bool = False, connectivity: int | None = None) -> Any:
    """As skimage.measure.label of a 2-D image that is bool or has one value besides the background's. ``connectivity`` is 1 for the 4
    and 2 (default) for the 8 nearest neighbours."""
    given = np.asarray(label_image)
    if connectivity not in (None, 1, 2):
        raise UsageError(f"connectivity is to be 1 or 2 for an image, not {connectivity}")
    outside = 0 if background is None else background
    there = given != outside
    if given.dtype != np.bool_ and not (given[there] == given[there][:1]).all():
        raise UnsupportedError("the image has several values: regions of equal values are not labelled, those above zero are")
    labels, n = image.label(plain(there, "label_image"), connectivity=4 if connectivity == 1 else 8)
    return (labels, n) if return_num else labels


def _first_and_last(labels: Any, n: int) -> tuple[Any, Any]:
    """Of each label from 1 the first and the last place in the flat array; -1 for those that are not there."""
    flat = labels.ravel()
    ends = np.full((2, n + 1), -1, np.int64)
    places = np.flatnonzero(flat)
    ends[1, flat[places]] = places  # of several the last one stays
    ends[0, flat[places[::-1]]] = places[::-1]
    return ends[0, 1:], ends[1, 1:]


def regionprops_table(
    label_image: Any,
    intensity_image: Any = None,
    properties: tuple[str, ...] | list[str] = ("label", "bbox"),
    *,
    cache: bool = True,
    separator: str = "-",
    extra_properties: Any = None,
    spacing: Any = None,
) -> dict[str, Any]:
    """As skimage.measure.regionprops_table of a 2-D label image, of the properties label, area, num_pixels, bbox and centroid; others
    are refused by name."""
    labels = np.asarray(label_image)
    if labels.ndim != 2 or labels.dtype.kind not in "iu":
        raise TypeError(f"label_image is {labels.ndim}-D of {labels.dtype}; it is to be a 2-D array of integers")
    if intensity_image is not None or extra_properties is not None or spacing is not None:
        raise UnsupportedError("intensity_image, extra_properties and spacing are not supported")
    for name in properties:
        if name not in ("label", "area", "num_pixels", "bbox", "centroid"):
            raise UnsupportedError(f"the property {name!r} is not supported: label, area, num_pixels, bbox and centroid are")
    height, width = labels.shape
    labels = np.where(labels > 0, labels, 0).astype(np.int64, copy=False)  # as there, negative labels are no regions
    n = int(labels.max(initial=0))
    area = np.bincount(labels.ravel(), minlength=n + 1)[1:]
    there = area > 0
    first, last = _first_and_last(labels, n)
    columns_first, columns_last = _first_and_last(np.ascontiguousarray(labels.T), n)
    rows, columns = np.arange(height, dtype=np.float64), np.arange(width, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        y = np.bincount(labels.ravel(), np.repeat(rows, width), minlength=n + 1)[1:] / area
        x = np.bincount(labels.ravel(), np.tile(columns, height), minlength=n + 1)[1:] / area
    made: dict[str, Any] = {
        "label": [np.flatnonzero(there) + 1],
        "area": [area[there].astype(np.float64)],
        "num_pixels": [area[there]],
        "bbox": [
            first[there] // max(width, 1),
            columns_first[there] // max(height, 1),
            last[there] // max(width, 1) + 1,
            columns_last[there] // max(height, 1) + 1,
        ],
        "centroid": [y[there], x[there]],
    }
    table: dict[str, Any] = {}
    for name in properties:
        parts = made[name]
        for i, part in enumerate(parts):
            table[name if len(parts) == 1 else f"{name}{separator}{i}"] = part
    return table
