# SPDX-License-Identifier: Apache-2.0
"""What ``Components.slices`` and ``Components.to_regionprops`` do; imported by their first call."""

from __future__ import annotations

from typing import Any

from ._core import Components, UsageError


def slices(components: Components) -> list[tuple[slice, ...]]:
    if "x_min" not in components:
        raise UsageError("slices() needs the feature 'box'")
    axes = "zyx" if "z_min" in components else "yx"
    ends = [zip(getattr(components, f"{a}_min").tolist(), getattr(components, f"{a}_max").tolist()) for a in axes]
    return [tuple(slice(first, last + 1) for first, last in box) for box in zip(*ends)]


def central_moments(c: Any) -> tuple[Any, Any, Any]:
    """Second moments yy, yx, xx about the centroids, over the areas, of components with area, sums and second moments."""
    area, sum_y, sum_x, yy, yx, xx = (one.astype("int64") for one in (c.area, c.sum_y, c.sum_x, c.sum_yy, c.sum_xy, c.sum_xx))
    # First, in whole numbers, about the pixel of the centroid, so that nothing is lost far from the image's corner.
    y, x = sum_y // area, sum_x // area
    yy, xx = yy - 2 * y * sum_y + area * y * y, xx - 2 * x * sum_x + area * x * x
    yx = yx - y * sum_x - x * sum_y + area * y * x
    rest_y, rest_x = (sum_y - area * y) / area, (sum_x - area * x) / area
    return yy / area - rest_y * rest_y, yx / area - rest_y * rest_x, xx / area - rest_x * rest_x


def to_regionprops(components: Components) -> dict[str, Any]:
    import numpy as np

    c = components
    if "z" in c or "volume" in c or "z_min" in c:
        raise UsageError("to_regionprops() is of images; these are components of a volume")
    made: dict[str, Any] = {}
    counts = np.diff(c.offsets.astype(np.int64))
    if len(counts) != 1:
        made["event"] = np.repeat(np.arange(len(counts)), counts)
    made["label"] = np.concatenate([np.arange(1, n + 1) for n in counts]) if len(counts) > 0 else np.arange(0)
    if "area" in c:
        made["num_pixels"] = c.area.astype(np.int64)
        made["area"] = c.area.astype(np.float64)
    if "x_min" in c:
        box = (c.y_min, c.x_min, c.y_max, c.x_max)
        for i, side in enumerate(box):
            made[f"bbox-{i}"] = side.astype(np.int64) + (i >= 2)
        made["area_bbox"] = ((made["bbox-2"] - made["bbox-0"]) * (made["bbox-3"] - made["bbox-1"])).astype(np.float64)
        if "area" in c:
            made["extent"] = made["area"] / made["area_bbox"]
    if "x" in c:
        made["centroid-0"], made["centroid-1"] = c.y, c.x
    if "euler" in c:
        made["euler_number"] = c.euler
    if "sum_xx" in c and "sum_x" in c and "area" in c:
        yy, yx, xx = central_moments(c)
        mean, half = (yy + xx) / 2, np.hypot((yy - xx) / 2, yx)
        large, small = mean + half, np.clip(mean - half, 0, None)
        made["axis_major_length"], made["axis_minor_length"] = 4 * np.sqrt(large), 4 * np.sqrt(small)
        made["eccentricity"] = np.sqrt(1 - np.divide(small, large, out=np.ones_like(small), where=large > 0))
        made["orientation"] = np.where(xx == yy, np.where(yx > 0, -np.pi / 4, np.pi / 4), 0.5 * np.arctan2(2 * yx, yy - xx))
    if "mass" in c:
        if "area" in c:
            made["intensity_mean"] = c.mass / c.area
        made["intensity_max"], made["intensity_min"] = c.grey_max, c.grey_min
        made["centroid_weighted-0"], made["centroid_weighted-1"] = c.weighted_y, c.weighted_x
    return made
