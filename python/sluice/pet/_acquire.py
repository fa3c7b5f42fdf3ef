# SPDX-License-Identifier: Apache-2.0
"""Frames from the network, and to it: UDP datagrams."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import _core
from .._core import Columns, UsageError
from ._reading import ON_FAULT, OnFault, format_words
from ._run import clock_words
from ._scanner import Energies, Path, Scanner, Tables, count, frames, number, tables_of, thread_count, warn_lost, word
from ._stages import delay_of, rule

_MOMENT_S = 0.02
_NEVER_LOST = ("kernel_drops", "ring_drops", "lost", "malformed", "repeated", "foreign", "unwritten", "live_skipped")


_NO_SINGLES = ("module", "unit", "position", "clock")


class Live(NamedTuple):
    """What the live chain has found: ``singles`` and ``pairs``, each in the order of time."""

    singles: Columns
    pairs: Columns


class Acquisition:
    """A running acquisition. A context manager: at its end it is stopped and everything that was received is written. ``acquire`` tells
    the words."""

    def __init__(self, config: tuple[Any, ...], live: bool, on_fault: OnFault) -> None:
        self._acquisition = _core.pet_acquire_open(*config)
        self._live = live
        self._on_fault = on_fault
        self._error: BaseException | None = None
        self._told = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        while self._thread.is_alive() and len(self.addresses) < len(config[0]):
            clock.sleep(0.002)
        if not self._thread.is_alive():
            self._raise()

    def _work(self) -> None:
        try:
            _core.pet_acquire_run(self._acquisition)
        except BaseException as error:  # noqa: BLE001: it is raised by the thread that waits for it
            self._error = error

    def _raise(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    @property
    def addresses(self) -> list[str]:
        """Where it listens; a port of 0 is replaced."""
        made: list[str] = _core.pet_acquire_counts(self._acquisition)[1]
        return made

    @property
    def running(self) -> bool:
        """Is it still receiving?"""
        return self._thread.is_alive()

    @property
    def counts(self) -> dict[str, Any]:
        """What was received (``datagrams``, ``frames``, ``bytes``) and what was not: ``kernel_drops`` and ``ring_drops`` (datagrams that the
        system dropped), ``lost``, ``malformed``, ``repeated``, ``foreign`` (by the sequence counters), ``unwritten``, ``live_skipped`` frames;
        ``modules`` by number; ``chain``, the totals of the live chain. Renewed about once a second, and at the end."""
        made: dict[str, Any] = _core.pet_acquire_counts(self._acquisition)[2]
        return made

    def batches(self) -> Iterator[Live]:
        """What the live chain finds, until the acquisition has ended. Who is too slow makes the chain go without some frames, which
        ``counts["live_skipped"]`` tells; they are in the file."""
        if not self._live:
            raise UsageError("there is no live chain: give a scanner")
        while True:
            running = self._thread.is_alive()
            found = _core.pet_acquire_take(self._acquisition)
            if found is not None:
                yield Live(*found)
            elif running:
                self._thread.join(_MOMENT_S)
            else:
                return

    def wait(self, seconds: float | None = None) -> bool:
        """Until it has ended, or so long; did it end? Of a live chain, batches are to be taken meanwhile."""
        end = None if seconds is None else clock.monotonic() + seconds
        while self._thread.is_alive() and (end is None or clock.monotonic() < end):
            self._thread.join(_MOMENT_S if end is None else min(_MOMENT_S, max(end - clock.monotonic(), 0.0)))
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Ends it: what has come by now is received and written. What was lost is told by a ``DamageWarning``."""
        _core.pet_acquire_stop(self._acquisition)
        self._thread.join()
        self._raise()
        if not self._told:
            self._told = True
            lost = {name: n for name in _NEVER_LOST if (n := self.counts[name]) > 0}
            counts = self.counts["chain"]
            lost.update({f"of {name}": n for name in _NO_SINGLES if (n := counts["convert"][name]) > 0})
            lost.update({"late": n} if (n := counts["sort"]["late"]) > 0 else {})
            if lost:
                told = ", ".join(f"{n} {name}" for name, n in lost.items())
                warn_lost(f"of {self.counts['datagrams']} datagrams received: {told}", self._on_fault)

    def __enter__(self) -> Acquisition:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.stop()
        except Exception:
            if kind is None:
                raise


def _list(addresses: str | Iterable[str]) -> list[str]:
    made = [addresses] if isinstance(addresses, str) else list(addresses)
    for one in made:
        if not isinstance(one, str):
            raise TypeError(f"an address is a text, as 127.0.0.1:9000, not {type(one)!r}")
    return made


def acquire(
    listen: str | Iterable[str],
    *,
    output: Path | None = None,
    seconds: float | None = None,
    most_frames: int = 0,
    ring_bytes: int = 0,
    socket_bytes: int = 0,
    rotate_bytes: int = 0,
    rotate_seconds: float = 0.0,
    sync: bool = False,
    replace: bool = False,
    continues: Path | None = None,
    shards: int = 1,
    tcp_length: int | tuple[int, Literal["little", "big"]] = 0,
    timestamps: bool = False,
    header_bytes: int = 0,
    sequence: tuple[int, int] | tuple[int, int, Literal["little", "big"]] | None = None,
    on_fault: OnFault = "warn",
    scanner: Tables | Scanner | str | Path | None = None,
    frame_format: Path | None = None,
    ticks: tuple[int, int] | int | None = None,
    tick_bits: int | None = None,
    energies: Energies = None,
    horizon_ns: float = 1e6,
    window_ns: float = 10.0,
    windows: Literal["single", "all-open"] = "single",
    edge: Literal["closed", "open"] | None = None,
    policy: str = "killAll",
    good: str = "different-crystal",
    compat: Literal["gate9"] | None = None,
    delayed_ns: float | None = None,
    threads: int = 1,
) -> Acquisition:
    """Receives datagrams of frames, into a raw file and live: it runs until ``seconds`` are over, ``most_frames`` have come, or
    ``stop()``, and ends with its ``with``, also by Ctrl-C.

        with sluice.pet.acquire("127.0.0.1:9000", output="run.raw", scanner="mouse20") as acquisition:
            for live in acquisition.batches():
                print(live.pairs.n_rows)

    ``listen``: addresses ("[::1]:9000", multicast groups "239.1.2.3%eth0:9000"; port 0: a free one; "tcp:127.0.0.1:9000": streams, in which
    each message has its length before it in ``tcp_length`` bytes, 2 or 4 or (4, "big"); 0: frames one behind the other). ``header_bytes`` before the frames of a
    datagram; ``sequence``: (place, 4 or 8[, "big"]) of the counter in them. ``rotate_bytes``, ``rotate_seconds``: another file begins.
    ``sync``: to the disk after every write; ``replace``: a file of that name may go. ``continues``, in place of ``output``: a file of an
    acquisition that has ended, behind whose files this goes on, with its header and its counters. ``shards``: sockets at each address,
    which share its senders. ``timestamps``: the file keeps when the system received each datagram. ``frame_format``: the layout of frames that
    are not Sluice's own, a file of JSON, which the files keep. ``scanner``: frames go through a live chain, too;
    ``Chain`` tells the words from there on."""
    word(on_fault, "on_fault", ON_FAULT)
    if continues is not None and (output is not None or replace):
        raise UsageError("continues excludes output and replace: it goes on with its file")
    if output is None and continues is None and (rotate_bytes or rotate_seconds or sync or replace):
        raise UsageError("rotate_bytes, rotate_seconds, sync and replace are of output")
    length, order = tcp_length if isinstance(tcp_length, tuple) else (tcp_length, "little")
    length, big_length = count(length, "tcp_length", 0, 4), word(order, "tcp_length", ("little", "big")) == 1
    at, size, big = 0, 0, False
    if sequence is not None:
        at, size = count(sequence[0], "sequence", 0, 1024), count(sequence[1], "sequence", 4, 8)
        big = word(str((*sequence, "little")[2]), "sequence", ("little", "big")) == 1
        if size not in (4, 8):
            raise UsageError(f"the counter of a sequence has 4 or 8 bytes, not {size}")
        header_bytes = header_bytes or at + size
    if timestamps:
        header_bytes, at = count(header_bytes, "header_bytes", 0, 1016) + 8, at + 8 if size else at
    if continues is not None:
        told = _core.pet_raw_info(continues)
        if header_bytes == 0:
            at, size, big, timestamps = told["sequence_at"], told["sequence_bytes"], told["sequence_big_endian"], told["stamped"]
            header_bytes = told["header_bytes"]
    chain = None
    if scanner is not None:
        horizon = round(number(horizon_ns, "horizon_ns", 0, 7.2e12) * 1000)
        made = rule(window_ns, 0.0, windows, edge, policy, good, None, compat)
        named = [] if continues is None else [continues]
        tables = tables_of(scanner)
        clocks = clock_words(*format_words(frame_format, named, ticks, tick_bits), energies, tables.energy_fwhm)
        chain = (tables.packed, clocks, horizon, made, delay_of(delayed_ns, window_ns), thread_count(threads))
    most = (1 << 63) - 1
    config = (
        _list(listen),
        output if continues is None else continues,
        0.0 if seconds is None else number(seconds, "seconds", 1e-3, 1e9),
        count(most_frames, "most_frames", 0, most),
        count(ring_bytes, "ring_bytes", 0, most),
        count(socket_bytes, "socket_bytes", 0, most),
        count(rotate_bytes, "rotate_bytes", 0, most),
        number(rotate_seconds, "rotate_seconds", 0, 1e9),
        bool(sync),
        bool(replace),
        count(header_bytes, "header_bytes", 0, 1024),
        at,
        size,
        big,
        chain,
        count(shards, "shards", 1, 64),
        bool(timestamps),
        continues is not None,
        frame_format,
        length,
        big_length,
    )
    return Acquisition(config, chain is not None, on_fault)


def send(
    data: Any, to: str | Iterable[str], *, frames_hz: float = 0.0, frames_per_datagram: int = 92, sequence: bool = False
) -> tuple[int, int]:
    """Sends frames as datagrams, for tests: module m to address m mod n, ``frames_hz`` of them a second (0: as fast as it goes), with a
    counter of 8 bytes before them if ``sequence``. How many frames and datagrams were sent."""
    each = count(frames_per_datagram, "frames_per_datagram", 1, 4000)
    rate = number(frames_hz, "frames_hz", 0, 1e12)
    made: tuple[int, int] = _core.pet_send(frames(data).view(np.uint8), _list(to), rate, each, bool(sequence))
    return made
