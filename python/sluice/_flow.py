# SPDX-License-Identifier: Apache-2.0
"""What every chain's ``open`` takes, in the form that the extension wants."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal, Union

__all__ = ["Common", "OnFault", "Path", "Paths", "Progress", "common"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Paths = Union[Path, Iterable[Path]]
OnFault = Literal["warn", "ignore", "raise"]
Progress = Union[bool, None, Callable[[int], object]]
Common = tuple[list[Path], int, int, str, Union[Callable[[int], object], None], Union[str, None]]


def _bar() -> Callable[[int], object]:
    """A bar of tqdm, which goes when the reader lets it go."""
    from tqdm.auto import tqdm

    bar: Any = tqdm(unit=" events")
    return lambda events: bar.update(events - bar.n)


def common(
    paths: Paths, batch: int, threads: int, on_fault: str, progress: Progress, device: str | None = None
) -> Common:
    names = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    shown = _bar() if progress is True else None if progress is False else progress
    return names, batch, threads, on_fault, shown, device
