# SPDX-License-Identifier: Apache-2.0
"""Connected components of images.

Images are 2-D arrays of bool, uint8, uint16, uint32 or float32, or any object with such a buffer. Rows may be any distance apart; the
pixels of a row must lie one after the other. Nothing beside a row's pixels is ever read. x counts columns, y rows, from 0.
"""

from __future__ import annotations

from ._core import image_algorithms as algorithms
from ._core import image_components as components
from ._core import image_label as label
from ._core import image_otsu as otsu

__all__ = ["FEATURES", "algorithms", "components", "label", "otsu"]

#: What ``components`` can be asked for.
FEATURES = ("area", "box", "first", "sums", "second", "perimeter", "euler", "centroid", "shape", "grey")
