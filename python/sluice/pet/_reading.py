# SPDX-License-Identifier: Apache-2.0
"""Files of raw frames: one after the other, what was lost of them, the files of an acquisition."""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Literal, Union

import numpy as np

from .. import _core
from .._core import DamageWarning, Error, FileError, FormatError, StrictError, UnsupportedError, UsageError
from ._scanner import FRAME, Array, Path, Scanner, count, word

OnFault = Literal["warn", "ignore", "raise"]
ON_FAULT = ("warn", "ignore", "raise")
Paths = Union[Path, Iterable[Path]]

_KINDS: dict[int, type[Exception]] = {-1: UsageError, -2: MemoryError, -3: FileError, -4: FormatError, -5: UnsupportedError}


def paths_of(paths: Paths, follow: bool) -> list[Path]:
    names = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    if not names:
        raise UsageError("there are no paths")
    return series(names) if follow else names


def series(paths: Paths) -> list[Path]:
    """The files, each followed by the rest of its acquisition (run.0001.raw …), those of one acquisition in its order whatever theirs is,
    and none twice."""
    named = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    made: list[tuple[Path, int, int]] = []

    def add(path: Path) -> None:
        if any(os.path.exists(path) and os.path.samefile(path, other) for other, _, _ in made if os.path.exists(other)):
            return
        told = _core.pet_raw_info(path) if os.path.exists(path) else {"series": 0, "file": 0}
        acquisition, number = told["series"], told["file"]
        later = (i for i, (_, a, n) in enumerate(made) if acquisition != 0 and a == acquisition and n > number)
        made.insert(next(later, len(made)), (path, acquisition, number))

    for path in named:
        add(path)
        for other in _core.pet_raw_following(path) if os.path.exists(path) else ():
            add(other)
    return [path for path, _, _ in made]


def info(path: Path) -> dict[str, Any]:
    """What a file of PET is: ``format`` as ``sluice.info`` has it, and what its head says: of raw frames the layout of its datagrams
    (``header_bytes``, ``sequence_at`` …), ``series``, ``file``, ``started_ns``, and ``bare`` if it has no head; of lists of pairs what
    ``ListReader.about`` tells."""
    told = _core.info(path)
    kind = _core.pet_list_format(path)
    made: dict[str, Any] = {"format": None if told is None else told["format"]}
    if kind is not None and kind != "gate":
        made.update(_core.pet_list_about(_core.pet_list_open(path, _core.pet_names()[2].index(kind), None)))
    elif told is None or told["format"] in ("pet-raw", "pet-frames"):
        made.update(_core.pet_raw_info(path))
    return made


def _lines(about: dict[str, Any]) -> Iterator[str]:
    """What was lost, an input at a time, and then of all."""
    inputs = about["inputs"]
    for one in inputs:
        parts = []
        if one["faults"]:
            faults = ", ".join(f"{n} {name}" for name, n in one["faults"].items())
            parts.append(f"{one['frames']} frames read, {faults}{one['first_fault']}")
        if one["missing"] > 0:
            parts.append(f"{one['missing']} datagrams of the acquisition between {inputs[one['before']]['path']} and it are in neither")
        if one["other"] >= 0:
            parts.append(f"it is of another acquisition than {inputs[one['other']]['path']}")
        if parts:
            yield f"{one['path']}: {'; '.join(parts)}"
    where = inputs[0]["path"] if len(inputs) == 1 else "all inputs"
    if about["lost"] > 0:
        yield f"{where}: lost {about['lost']} datagrams, about {about['lost_frames']:.0f} frames, by the modules' sequence counters"
    if about["repeated"] > 0:
        yield f"{where}: {about['repeated']} repeated datagrams, copies of others, are not used"
    if about["foreign"] > 0:
        yield f"{where}: {about['foreign']} foreign datagrams, whose numbers are not of their module's sequence, are not used"
    for doubt in about["doubts"]:
        yield f"{where}: {doubt}: is it this scanner?"


def tell(lines: Iterable[str], on_fault: OnFault) -> None:
    for line in lines:
        if on_fault == "raise":
            raise StrictError(line)
        if on_fault == "warn":
            warnings.warn(line, DamageWarning, stacklevel=4)


def raise_failed(about: dict[str, Any]) -> None:
    """An input that could not be opened, or read on, is an error: once all that there is has been given."""
    failed = [one for one in about["inputs"] if one["error"] is not None]
    if failed:
        raise _KINDS.get(failed[0]["status"], Error)("; ".join(one["error"] for one in failed))


class Ahead:
    """Reads frames in a thread of its own, in two turns of memory: what ``take`` gives is there until the next call."""

    def __init__(self, inputs: Any, batch: int, received: bool) -> None:
        self._free: queue.SimpleQueue[tuple[Array, Array | None] | None] = queue.SimpleQueue()
        self._full: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held: tuple[Array, Array | None] | None = None
        for _ in range(2):
            self._free.put((np.empty(batch, FRAME), np.empty(batch, np.uint64) if received else None))
        self._thread = threading.Thread(target=_read, args=(inputs, self._free, self._full), daemon=True)
        self._thread.start()
        self._ended = False

    def take(self) -> tuple[Array, Array | None] | None:
        if self._ended:
            return None
        if self._held is not None:
            self._free.put(self._held)
        self._held, n = self._full.get()
        if isinstance(n, BaseException):
            self._ended = True
            raise n
        if n == 0 or self._held is None:
            self._ended = True
            return None
        return self._held[0][:n], None if self._held[1] is None else self._held[1][:n]

    def close(self) -> None:
        self._ended = True
        self._free.put(None)


def _read(inputs: Any, free: Any, full: Any) -> None:
    while (room := free.get()) is not None:
        try:
            n: Any = _core.pet_inputs_read(inputs, room[0].view(np.uint8), None if room[1] is None else room[1].view(np.uint8))
        except BaseException as error:  # noqa: BLE001: it is raised where frames are waited for
            n = error
        full.put((room, n))
        if n == 0 or isinstance(n, BaseException):
            return


class FrameReader:
    """Iterates over arrays of ``FRAME``; each is the caller's. Also a context manager."""

    def __init__(
        self, paths: list[Path], batch: int, received: bool, scanner: Scanner | None, on_fault: OnFault, side: int = 0
    ) -> None:
        word(on_fault, "on_fault", ON_FAULT)
        self._inputs = _core.pet_inputs_open(paths)
        self._batch = count(batch, "batch", 1, 1 << 28)
        self._received = received
        self._scanner = scanner
        self._on_fault = on_fault
        self._side = side
        self._open = True
        #: Of the last array: when each frame's datagram was received, ns since 1970, if that was asked for.
        self.received_ns: Array | None = None

    def __iter__(self) -> FrameReader:
        return self

    def __next__(self) -> Array:
        if self._open:
            frames = np.empty(self._batch, FRAME)
            times = np.empty(self._batch, np.uint64) if self._received else None
            n = _core.pet_inputs_read(self._inputs, frames.view(np.uint8), None if times is None else times.view(np.uint8))
            if n > 0:
                self.received_ns = None if times is None else times[:n]
                return frames[:n] if n == self._batch else frames[:n].copy()
            self._open = False
            about = self.about
            tell(_lines(about), self._on_fault)
            raise_failed(about)
        raise StopIteration

    @property
    def about(self) -> dict[str, Any]:
        """What has been read: ``frames``, ``inputs`` with their faults, ``lost``, ``repeated`` and ``foreign`` datagrams,
        ``missing_datagrams``, ``doubts`` of the scanner if one was given."""
        geometry = None if self._scanner is None else self._scanner.geometry
        made: dict[str, Any] = _core.pet_inputs_about(self._inputs, geometry, self._side)
        return made

    def close(self) -> None:
        self._open = False

    def __enter__(self) -> FrameReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_frames(
    paths: Paths,
    *,
    batch: int = 1 << 18,
    received: bool = False,
    series: bool = False,
    scanner: Scanner | None = None,
    on_fault: OnFault = "warn",
) -> FrameReader:
    """Raw frames of files, one after the other, as arrays of up to ``batch`` elements of ``FRAME``.

    ``received``: also when they came (``FrameReader.received_ns``); ``series``: also the files that follow each in its acquisition;
    ``scanner``: what frames show of another one is told. Copies and foreign datagrams are left out. At the end a ``DamageWarning`` for each
    input tells what was lost (``on_fault``: "ignore": nothing is told; "raise": a ``StrictError``); one that could not be read is a
    ``FileError`` or ``FormatError`` then."""
    return FrameReader(paths_of(paths, series), batch, received, scanner, on_fault)


lines = _lines
