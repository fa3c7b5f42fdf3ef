# SPDX-License-Identifier: Apache-2.0
"""Files: which formats there are, what a file is, LHCb's raw events from one format to another, parts of a run as one, results.

Events, pixels, images and frames are read by the modules of their detectors (``sluice.velo.open`` …). Results are HDF5, Arrow, NumPy
or CSV: ``results`` reads the first and NPZ; Arrow's are for pyarrow and the like.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Union

from ._core import DamageWarning, FormatError, UsageError, info, io_convert, io_formats, io_join
from ._flow import keep_inputs, listed

if TYPE_CHECKING:
    from ._core import Array

__all__ = ["Converted", "Format", "Joined", "convert", "formats", "info", "join", "results"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Format(NamedTuple):
    """A format of files: its name, what it holds if it is read and if it is written by name, and whose it is."""

    name: str
    reads: str | None
    writes: str | None
    #: "lhcb", "cms", "pet"; "" of none.
    detector: str


class Converted(TypedDict):
    """What became of an input: ``cut_events`` had damaged banks, which were left out; ``damage`` tells the first in words."""

    events: int
    lost_events: int
    incomplete_events: int
    cut_events: int
    faults: dict[str, int]
    damage: str | None


class Joined(TypedDict):
    """How many parts and events there are, and rows by group."""

    parts: int
    events: int
    rows: dict[str, int]


def formats() -> list[Format]:
    """All formats, in the order of ``sluice version``."""
    return [Format(*row) for row in io_formats()]


def _names(paths: Path | Iterable[Path]) -> list[bytes]:
    return [os.fsencode(one) for one in listed(paths)]


def convert(
    paths: Path | Iterable[Path],
    output: Path,
    *,
    packing: int = 0,
    layout: Literal["2019", "mfp"] = "2019",
    on_fault: Literal["warn", "ignore", "raise"] = "warn",
) -> list[Converted]:
    """LHCb's raw events (MDF, MEP), one input after the other, as MDF or, with ``packing`` events in each, as packets (MEP).

    The bytes are those of ``sluice convert``. ``layout`` of packets is that of 2019 or of Run 3 ("mfp"). Damage costs the smallest
    unit and is a ``DamageWarning`` for each input, unless ``on_fault`` is "ignore"; with "raise" it is a ``StrictError``, and no output
    appears. A name has no ending, or ".mep" with ``packing`` of 1 to 65535 and ".mdf" without.
    """
    if not 0 <= packing <= 65535:
        raise UsageError(f"packing is to be from 0 to 65535, not {packing}")
    if layout not in ("2019", "mfp"):
        raise UsageError(f"layout is to be '2019' or 'mfp', not {layout!r}")
    if on_fault not in ("warn", "ignore", "raise"):
        raise UsageError(f"on_fault is to be 'warn', 'ignore' or 'raise', not {on_fault!r}")
    if layout == "mfp" and packing == 0:
        raise UsageError("layout is of packets: give packing, too")
    names, name = _names(paths), os.fsencode(output)
    ending = os.path.splitext(name.lower())[1]
    if re.search(b"[a-z]", ending) and ending not in (b".mdf", b".mep"):
        raise UsageError(f"the end of {os.fsdecode(name)} is neither .mdf nor .mep, what is written")
    if ending == (b".mdf" if packing else b".mep"):
        raise UsageError("packing makes packets, whose name is not .mdf" if packing else "packets need packing: how many events each has")
    keep_inputs(name, names)
    made: list[Converted] = io_convert(names, name, packing, layout == "mfp", on_fault == "raise")
    for path, one in zip(names, made):
        lost = one["lost_events"] + one["incomplete_events"] + one["cut_events"] + sum(one["faults"].values())
        if lost and on_fault == "warn":
            counts = ", ".join(f"{one[key]} {word}" for key, word in _COUNTS.items())  # type: ignore[literal-required]
            warnings.warn(f"{one['damage'] or os.fsdecode(path)}; events: {counts}", DamageWarning, stacklevel=2)
    return made


_COUNTS = {"events": "written", "lost_events": "lost", "incomplete_events": "without a source of theirs", "cut_events": "with damaged banks"}


def join(paths: Iterable[Path], output: Path, *, copy: bool = False, command: str = "sluice.io.join") -> Joined:
    """HDF5 results of the parts of a run (``--part``), in any order, as one file, which refers to them or, with ``copy``, has their rows.

    Parts that are missing, there twice or of another run are a ``UsageError`` that names them, files that are no part a
    ``FormatError``; nothing is written then. ``command`` is put down as the file's. HDF5 itself does not survive all damage: ``sluice join``
    joins in a process of its own.
    """
    names = _names(paths)
    keep_inputs(output, names)
    made: Joined = io_join(names, os.fsencode(output), copy, command)
    return made


def results(path: Path) -> dict[str, dict[str, Array]]:
    """All columns of a file of results, HDF5 (by h5py) or NPZ: groups, then columns by name; copies. ``offsets`` are "event_offset".

    For attributes, units, or a part of a large file use h5py itself: docs/formats/results-hdf5.md.
    """
    name = os.fsdecode(path)
    with open(name, "rb") as file:
        first = file.read(8)
    made: dict[str, dict[str, Any]] = {}
    if first.startswith(b"PK"):
        import numpy as np

        with np.load(name, allow_pickle=False) as arrays:
            for key in arrays.files:
                group, _, column = key.partition(".")
                made.setdefault(group, {})[column] = arrays[key]
        return made
    if first != b"\x89HDF\r\n\x1a\n":
        raise FormatError(f"{name}: neither HDF5 nor NPZ")
    import h5py  # type: ignore[import]

    with h5py.File(name, "r") as file5:
        for group, members in file5.items():
            if isinstance(members, h5py.Group):
                made[group] = {column: data[()] for column, data in members.items() if isinstance(data, h5py.Dataset)}
    return made
