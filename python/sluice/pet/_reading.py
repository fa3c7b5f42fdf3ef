# SPDX-License-Identifier: Apache-2.0
"""Files of raw frames: one after the other, what was lost of them, the files of an acquisition."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal, Union

import numpy as np

from .. import _core
from .._core import Error, FileError, FormatError, UnsupportedError, UsageError
from .._flow import listed
from ._scanner import FRAME, Array, OneThread, Path, Scanner, Tables, count, scanner_of, warn_lost, word

OnFault = Literal["warn", "ignore", "raise"]
Progress = Union[bool, None, Callable[[int], object]]
ON_FAULT = ("warn", "ignore", "raise")
Paths = Union[Path, Iterable[Path]]

_KINDS: dict[int, type[Exception]] = {-1: UsageError, -2: MemoryError, -3: FileError, -4: FormatError, -5: UnsupportedError}


def shown(progress: Progress) -> Callable[[int], object]:
    """What is called with the number of frames so far."""
    if progress is True:
        from tqdm.auto import tqdm

        bar: Any = tqdm(unit=" frames")
        return lambda frames: bar.update(frames - bar.n)
    if progress is None or progress is False:
        return lambda frames: None
    if not callable(progress):
        raise TypeError(f"progress is to be true, false, or callable, not {type(progress)!r}")
    return progress


def paths_of(paths: Paths, follow: bool) -> list[Path]:
    names = listed(paths)
    return series(names) if follow else names


def format_words(
    frame_format: Path | None, names: list[Path], ticks: tuple[int, int] | int | None, tick_bits: int | None
) -> tuple[tuple[int, int], int]:
    """The clock of frames: that of their format, which may be told again and not otherwise."""
    first = names[0] if names else None
    about = _core.pet_format_about(frame_format)
    if about is None and first is not None and os.path.isfile(first):
        about = _core.pet_raw_info(first)["frame_format"] if _core.info(first) is not None else None
    told = None if ticks is None else ticks if isinstance(ticks, tuple) else (ticks, 1)
    if about is None:
        return told or (1, 1), 64 if tick_bits is None else tick_bits
    over, under = about["ticks"]
    if told is not None and told[0] * under != told[1] * over:
        raise UsageError(f"ticks: the format of the frames ({about['name']!r}) says {over}/{under} ps")
    if tick_bits is not None and tick_bits != about["tick_bits"]:
        raise UsageError(f"tick_bits: the format of the frames ({about['name']!r}) says {about['tick_bits']}")
    return (over, under), about["tick_bits"]


def series(paths: Paths) -> list[Path]:
    """The files, each followed by the rest of its acquisition (run.0001.raw …), those of one acquisition in its order whatever theirs is,
    and none twice."""
    named = listed(paths)
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


def further(paths: list[Path]) -> dict[int, str]:
    """By the number of the path: files of its acquisition that follow it and are not among the paths."""
    made = {}
    for i, path in enumerate(paths):
        behind = _core.pet_raw_following(path) if os.path.isfile(path) else []
        n = 0
        while n < len(behind) and not any(os.path.samefile(behind[n], one) for one in paths if os.path.exists(one)):
            n += 1
        if n > 0:
            names = behind[0] if n == 1 else f"{n} files, {behind[0]} to {behind[n - 1]}"
            made[i] = f"it goes on in {names}, not read; series=True reads that, too"
    return made


def _of_input(about: dict[str, Any], i: int) -> list[str]:
    one, inputs, parts = about["inputs"][i], about["inputs"], []
    if one["faults"]:
        faults = ", ".join(f"{n} {name}" for name, n in one["faults"].items())
        parts.append(f"{one['frames']} frames read, {faults}{one['first_fault']}")
    if one["missing"] > 0:
        parts.append(f"{one['missing']} datagrams of the acquisition between {inputs[one['before']]['path']} and it are in neither")
    if one["other"] >= 0:
        parts.append(f"it is of another acquisition than {inputs[one['other']]['path']}")
    return parts


def _of_all(about: dict[str, Any]) -> list[str]:
    parts = []
    if about["lost"] > 0:
        parts.append(f"lost {about['lost']} datagrams, about {about['lost_frames']:.0f} frames, by the modules' sequence counters")
    if about["repeated"] > 0:
        parts.append(f"{about['repeated']} repeated datagrams, copies of others, are not used")
    if about["foreign"] > 0:
        parts.append(f"{about['foreign']} foreign datagrams, whose numbers are not of their module's sequence, are not used")
    records = about["records"]
    if records["unknown"] > 0:
        parts.append(f"{records['unknown']} of {records['records']} records match none of the frames' format, and are left out")
    parts += [f"{n} of {records['records']} records have a {name} that does not fit, and are left out" for name, n in records["refused"].items() if n]
    return parts + [f"{doubt}: is it this scanner?" for doubt in about["doubts"]]


def tell(about: dict[str, Any], beyond: dict[int, str], more: Iterable[str], on_fault: OnFault, depth: int = 4) -> None:
    """What was lost: a warning for each input, and one for what is of all."""
    n = len(about["inputs"])
    told = [(about["inputs"][i]["path"], _of_input(about, i) + ([beyond[i]] if i in beyond else [])) for i in range(n)]
    rest = [*_of_all(about), *more]
    if n == 1:
        told[0][1].extend(rest)
    else:
        told.append(("all inputs", rest))
    for where, parts in told:
        line = f"{where}: {'; '.join(parts)}"
        if parts:
            warn_lost(line, on_fault, depth)


def raise_failed(about: dict[str, Any]) -> None:
    """An input that could not be opened, or read on, is an error: once all that there is has been given."""
    failed = [one for one in about["inputs"] if one["error"] is not None]
    if failed:
        raise _KINDS.get(failed[0]["status"], Error)("; ".join(one["error"] for one in failed))


class Ahead:
    """Reads frames in a thread of its own, in two turns of memory: what ``take`` gives is there until the next call, or with ``keep`` for
    ever. A wait for a file that is silent ends by Ctrl-C."""

    def __init__(self, inputs: Any, batch: int, received: bool, keep: bool = False) -> None:
        self._free: queue.SimpleQueue[tuple[Array, Array | None] | None] = queue.SimpleQueue()
        self._full: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held: tuple[Array, Array | None] | None = None
        self._size = batch, received
        self._keep = keep
        for _ in range(2):
            self._free.put(self._room())
        self._thread = threading.Thread(target=_read, args=(inputs, self._free, self._full), daemon=True)
        self._thread.start()
        self._ended = False
        self._process = os.getpid()

    def _room(self) -> tuple[Array, Array | None]:
        batch, received = self._size
        return np.empty(batch, FRAME), np.empty(batch, np.uint64) if received else None

    def take(self) -> tuple[Array, Array | None] | None:
        if self._ended:
            return None
        if self._process != os.getpid():
            raise RuntimeError("this was opened before fork(), and its thread is the parent's: open another")
        if self._held is not None:
            held, self._held = self._held, None
            self._free.put(self._room() if self._keep else held)
        room, n = self._full.get()
        if isinstance(n, BaseException):
            self._ended = True
            raise n
        if n == 0:
            self._ended = True
            return None
        self._held = room
        return room[0][:n], None if room[1] is None else room[1][:n]

    def close(self) -> None:
        self._ended = True
        self._free.put(None)


def _read(inputs: Any, free: Any, full: Any) -> None:
    while (room := free.get()) is not None:
        try:
            n: Any = _core.pet_inputs_read(inputs, room[0].view(np.uint8), None if room[1] is None else room[1].view(np.uint8))
        except BaseException as error:  # noqa: BLE001: it is raised by the thread that waits for frames
            n = error
        full.put((room, n))
        if isinstance(n, BaseException) or n == 0:
            return


class FrameReader:
    """Iterates over arrays of ``FRAME``; each is the caller's. Also a context manager."""

    def __init__(
        self,
        paths: list[Path],
        batch: int,
        received: bool,
        scanner: Scanner | None,
        on_fault: OnFault,
        side: int = 0,
        follow: bool = False,
        progress: Progress = None,
        frame_format: Path | None = None,
    ) -> None:
        word(on_fault, "on_fault", ON_FAULT)
        count(batch, "batch", 1, 1 << 28)
        self._beyond = {} if follow or on_fault == "ignore" else further(paths)
        self._inputs = _core.pet_inputs_open(paths, frame_format)
        self._scanner = scanner
        self._on_fault = on_fault
        self._side = side
        self._open = True
        self._n = 0
        self._alone = OneThread("reader")
        self._progress = shown(progress)
        self._ahead = Ahead(self._inputs, batch, received, keep=True)
        #: Of the last array: when each frame's datagram was received, ns since 1970, if that was asked for.
        self.received_ns: Array | None = None

    def __iter__(self) -> FrameReader:
        return self

    def __next__(self) -> Array:
        with self._alone:
            some = self._ahead.take() if self._open else None
            if some is not None:
                self.received_ns = some[1]
                self._n += len(some[0])
                self._progress(self._n)
                return some[0]
            if self._open:
                self.close()
                about = self.about
                tell(about, self._beyond, (), self._on_fault)
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
        """Ends reading."""
        if self._open:
            self._open = False
            self._ahead.close()

    def __del__(self) -> None:
        if getattr(self, "_ahead", None) is not None:
            self.close()

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
    scanner: Scanner | Tables | str | None = None,
    on_fault: OnFault = "warn",
    progress: Progress = None,
    frame_format: Path | None = None,
) -> FrameReader:
    """Raw frames of files, one after the other, as arrays of up to ``batch`` elements of ``FRAME``.

    ``received``: also when they came (``FrameReader.received_ns``); ``series``: also the files that follow each in its acquisition;
    ``scanner``: what frames show of another one is told. Copies and foreign datagrams are left out. At the end a ``DamageWarning`` for each
    input tells what was lost (``on_fault``: "ignore": nothing is told; "raise": a ``StrictError``); one that could not be read is a
    ``FileError`` or ``FormatError`` then. ``progress``: True for a bar of tqdm, or what is called with the number of frames so far.
    ``frame_format``: the layout of frames that are not Sluice's own, a file of JSON; without it, what files tell of themselves."""
    of = None if scanner is None else scanner_of(scanner)
    return FrameReader(paths_of(paths, series), batch, received, of, on_fault, 0, series, progress, frame_format)

