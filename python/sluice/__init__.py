# SPDX-License-Identifier: Apache-2.0
"""The raw bytes of detectors to physics objects, at the speed of the hardware.

Arrays in, columns out, without a copy: ``sluice.image`` labels images, ``sluice.velo`` reads events of LHCb's vertex detector,
``sluice.compat`` has the functions of SciPy, OpenCV and scikit-image. NumPy is imported when the first array is wanted.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._core import (
    Batch,
    CapacityError,
    Column,
    Columns,
    DamageWarning,
    Error,
    FileError,
    FormatError,
    Reader,
    StrictError,
    UnsupportedError,
    UsageError,
    devices,
    info,
    targets,
    version,
)

if TYPE_CHECKING:
    from . import cms, compat, hlt1, image, io, live, pet, pixel, plot, sim, velo

Mapping.register(Columns)
__version__ = version()
__all__ = [
    "Batch",
    "CapacityError",
    "Column",
    "Columns",
    "DamageWarning",
    "Error",
    "FileError",
    "FormatError",
    "Reader",
    "StrictError",
    "UnsupportedError",
    "UsageError",
    "cms",
    "compat",
    "devices",
    "hlt1",
    "image",
    "info",
    "io",
    "live",
    "pet",
    "pixel",
    "plot",
    "sim",
    "targets",
    "velo",
    "version",
]


def __getattr__(name: str) -> Any:
    if name in ("cms", "compat", "hlt1", "image", "io", "live", "pet", "pixel", "plot", "sim", "velo"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
