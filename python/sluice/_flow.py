# SPDX-License-Identifier: Apache-2.0
"""What every chain's ``open`` takes, in the form that the extension wants."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal, Union

from ._core import UsageError

__all__ = ["Common", "OnFault", "Path", "Paths", "Progress", "common", "keep_inputs", "listed", "unmasked"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Paths = Union[Path, Iterable[Path]]
OnFault = Literal["warn", "ignore", "raise"]
Progress = Union[bool, None, Callable[[int], object]]
Common = tuple[list[Path], int, int, str, Union[Callable[[int], object], None], Union[str, None]]


def listed(paths: Paths) -> list[Path]:
    """One path, or several, as a list of names."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        return [paths]
    if isinstance(paths, Iterable) and not hasattr(paths, "read"):
        names: list[Any] = list(paths)
        if names and all(isinstance(one, (str, bytes, os.PathLike)) for one in names):
            return names
        if not names:
            raise UsageError("paths is to be one at least")
    raise TypeError(f"paths are to be the name of a file, or an iterable of names, not {type(paths)!r}")


def unmasked(values: Any, name: str) -> Any:
    """As an array; a TypeError if some values of it are masked, as they would count like all others."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise TypeError(f"{name} has masked values, which would be taken as they are: x.filled(0) makes an array without a mask")
    return np.asarray(values)


def keep_inputs(output: Path, paths: Iterable[Path]) -> None:
    """A UsageError if ``output`` would be written over one of the files that it is made of."""
    for one in paths:
        if os.path.isfile(output) and os.path.isfile(one) and os.path.samefile(output, one):
            raise UsageError(f"output {os.fsdecode(output)} would overwrite the input {os.fsdecode(one)}")


def _bar() -> Callable[[int], object]:
    """A bar of tqdm, which goes when the reader lets it go."""
    from tqdm.auto import tqdm

    bar: Any = tqdm(unit=" events")
    return lambda events: bar.update(events - bar.n)


def common(
    paths: Paths, batch: int, threads: int, on_fault: str, progress: Progress, device: str | None = None
) -> Common:
    shown = _bar() if progress is True else None if progress is False else progress
    return listed(paths), batch, threads, on_fault, shown, device
