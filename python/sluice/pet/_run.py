# SPDX-License-Identifier: Apache-2.0
"""Frames to singles and pairs, in one go or as they come."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Columns, StrictError, UsageError
from .._flow import keep_inputs
from ._lists import ListWriter, _format_by_name
from ._reading import ON_FAULT, OnFault, Paths, Progress, format_words, further, paths_of, raise_failed, shown, tell
from ._scanner import (
    Energies,
    AT_ONCE,
    FRAME,
    Array,
    OneThread,
    Path,
    Rows,
    Scanner,
    Tables,
    count,
    energy_window,
    frames,
    join,
    number,
    pair_buffers,
    tables_of,
    thread_count,
    warn_lost,
    word,
)
from ._stages import delay_of, rule

_STAGES = ("convert", "sort", "coincidences")
_RANDOMS = ("singles", "delayeds")
_NO_FRAMES = np.empty(0, FRAME)


class Found(NamedTuple):
    """What frames made: ``singles`` in the order of time (of "convert", as they arrived), ``late`` ones that the horizon left out,
    ``pairs``, and ``faults`` of frames, a count by name."""

    singles: Columns
    late: Columns
    pairs: Columns
    faults: dict[str, int]


def _rates(words: Mapping[str, Any] | float | None) -> tuple[float, float, bool] | None:
    if words is None:
        return None
    given = dict(words) if isinstance(words, Mapping) else {"bin_s": words}
    unknown = set(given) - {"bin_s", "dead_time_ns", "paralysable"}
    if unknown:
        raise UsageError(f"rates has no {', '.join(sorted(unknown))}; it takes bin_s, dead_time_ns, paralysable")
    if given.get("paralysable") and not given.get("dead_time_ns"):
        raise UsageError("paralysable needs dead_time_ns")
    bin_s, dead = number(given.get("bin_s", 1.0), "bin_s", 1e-6, 3600), number(given.get("dead_time_ns", 0.0), "dead_time_ns", 0, 1e12)
    return bin_s, dead, bool(given.get("paralysable", False))


def clock_words(ticks: tuple[int, int] | int, tick_bits: int, energies: Energies, energy_fwhm: float) -> tuple[Any, ...]:
    over, under = ticks if isinstance(ticks, tuple) else (ticks, 1)
    most = (1 << 32) - 1
    return (
        count(over, "ticks", 1, most),
        count(under, "ticks", 1, most),
        count(tick_bits, "tick_bits", 8, 64),
        *energy_window(energies, energy_fwhm),
    )


def _flight(tof_ps: float | Literal["none"] | None, format: str, tables: Tables) -> float | None:
    """The resolution that is written, to a tenth of a picosecond if it is that of the tables; None: no times of flight."""
    if tof_ps is not None:
        return None if tof_ps == "none" else float(tof_ps)
    has = format in ("castor", "yrt", "petsird", "hdf5", "arrow", "arrow-stream")
    return round(tables.time_fwhm_ps, 1) if has and tables.time_fwhm_ps > 0 else None


class Chain:
    """Frames, batch after batch as they come, to singles and pairs. Results depend on neither batches nor threads.

    ``scanner``: ``Tables``, a ``Scanner``, its words, or a file of tables. ``ticks``: picoseconds of a tick of the frames' clock, a number
    or (numerator, denominator); ``tick_bits``: after so many bits it begins again at 0; ``energies``: (low, high) in keV of the singles
    that are kept, or "all"; None: 1.5 times the ``energy_fwhm`` of the tables to both sides of 511 keV, if they have one, else all; ``horizon_ns``: how far behind the latest time a frame may come. ``Coincidences`` tells ``window_ns`` to
    ``delayed_ns``. ``until``: "convert", "sort" or "coincidences". ``singles``: they are given, else none are; ``in_order``: prompts and delayeds in one
    order of time; without, those of each call, prompts first. ``rates``: bins of so many seconds, or a mapping of ``bin_s``,
    ``dead_time_ns``, ``paralysable``; ``randoms``: an estimate of random prompts, with ``delayed_ns`` (True), and of each pair "singles" or
    "delayeds": ``randoms_hz``, ``randoms_bins``, ``crystal_rates``, in bins of ``rates``, or 1 s. ``device``: "cuda", "cuda:N",
    several as "cuda:0,1", or "all"."""

    def __init__(
        self,
        scanner: Tables | Scanner | str | Path,
        *,
        ticks: tuple[int, int] | int = 1,
        tick_bits: int = 64,
        energies: Energies = None,
        horizon_ns: float = 1e6,
        window_ns: float = 10.0,
        windows: Literal["single", "all-open"] = "single",
        edge: Literal["closed", "open"] | None = None,
        policy: str = "killAll",
        good: str = "different-crystal",
        compat: Literal["gate9"] | None = None,
        delayed_ns: float | None = None,
        until: Literal["convert", "sort", "coincidences"] = "coincidences",
        singles: bool = True,
        in_order: bool = True,
        rates: Mapping[str, Any] | float | None = None,
        randoms: bool | Literal["singles", "delayeds"] = False,
        threads: int = 1,
        device: str | None = None,
        _files: tuple[list[Path], int, Path | None] | None = None,
    ) -> None:
        self.tables = tables_of(scanner)
        self.window_ns = float(window_ns)
        window = energy_window(energies, self.tables.energy_fwhm)
        #: (low, high) in keV, given or of the tables; None: all.
        self.energies: tuple[float, float] | None = None if window[1] == float("inf") else window
        self.policy, self.has_delayeds = policy, delayed_ns is not None
        stage = word(until, "until", _STAGES)
        self.until = until
        delay = delay_of(delayed_ns, window_ns)
        spread = 1 if randoms is True else 0 if not randoms else 1 + word(randoms, "randoms", _RANDOMS)
        if randoms is True and delay == 0:
            raise UsageError("randoms needs delayed_ns: how far copies of the measurement are apart")
        if stage != 2 and (rates is not None or randoms or delay > 0):
            raise UsageError("rates, randoms and delayed_ns are of coincidences: leave out until")
        horizon = round(number(horizon_ns, "horizon_ns", 0, 7.2e12) * 1000)
        self._chain = _core.pet_chain_open(
            self.tables.packed,
            clock_words(ticks, tick_bits, energies, self.tables.energy_fwhm),
            horizon,
            rule(window_ns, 0.0, windows, edge, policy, good, None, compat),
            delay,
            stage,
            bool(singles),
            bool(in_order),
            _rates(rates),
            spread,
            thread_count(threads),
            device,
            None if _files is None else _files[0],
            0 if _files is None else _files[1],
            None if _files is None else _files[2],
        )
        self._capsule = self._chain
        self._ended = False
        self._alone = OneThread("chain")

    def push(self, data: Any, *, received_ns: Array | None = None, skipped: int = 0) -> Found:
        """Takes frames in their order of arrival (``sluice.pet.frames`` tells which arrays are taken). ``received_ns``: when each was
        received (uint64, ns since 1970), which clocks of few bits are helped by; ``skipped``: so many before these did not come here."""
        if self._ended:
            raise UsageError("the chain has ended: open another")
        taken = frames(data)
        times = None if received_ns is None else np.asarray(received_ns)
        if times is not None and (times.ndim != 1 or times.dtype.kind not in "iu" or (times.dtype.kind == "i" and (times < 0).any())):
            raise TypeError(f"received_ns is {times.ndim}-D of {times.dtype}; it is to be 1-D, of integers from 0")
        if times is not None and len(times) != len(taken):
            raise UsageError(f"there are {len(taken)} frames, and received_ns has {len(times)}")
        times = None if times is None else np.require(times, np.uint64, ("C_CONTIGUOUS",))
        skipped = count(skipped, "skipped", 0, (1 << 63) - 1)
        with self._alone:
            found = self._pieces(taken, times, skipped)
        if len(found) == 1:
            return found[0]
        faults: Counter[str] = Counter()
        for one in found:
            faults.update(one.faults)
        return Found(join([f.singles for f in found]), join([f.late for f in found]), join([f.pairs for f in found]), dict(faults))

    def _pieces(self, taken: Array, times: Array | None, skipped: int) -> list[Found]:
        found = []
        for at in range(0, max(len(taken), 1), AT_ONCE):
            some = slice(at, at + AT_ONCE)
            found.append(self._run(taken[some], None if times is None else times[some], False, skipped if at == 0 else 0))
        return found

    def finish(self) -> Found:
        """What still waits, once all frames have come. A ``DamageWarning`` tells what was lost of them."""
        made = self._finish()
        self._tell(4)
        return made

    def _tell(self, depth: int) -> None:
        parts = self._losses()
        if parts:
            warn_lost("; ".join(parts), "warn", depth)

    def _finish(self) -> Found:
        if self._ended:
            raise UsageError("the chain has ended: open another")
        self._ended = True
        with self._alone:
            return self._run(_NO_FRAMES, None, True, 0)

    def _run(self, taken: Array, times: Array | None, last: bool, skipped: int) -> Found:
        received = None if times is None else times.view(np.uint8)
        return Found(*_core.pet_chain_run(self._chain, taken.view(np.uint8), received, last, skipped))

    def _losses(self, doubt: str = "") -> list[str]:
        """What was lost of frames and singles, in words."""
        totals = self.totals
        counts, order, parts = totals["convert"], totals["sort"], []
        if totals["faults"]:
            told = ", ".join(f"{n} {name}" for name, n in totals["faults"].items())
            parts.append(f"of {counts['frames']} frames {told}{totals['first_fault']}")
        if counts["bridged"] > 0:
            parts.append(f"{counts['bridged']} turns of all clocks were added to the times, where nothing was received for that long")
        if doubt:
            parts.append(doubt)
        elif counts["singles"] == 0 and counts["frames"] > 0:
            parts.append(f"no single is left of {counts['frames']} frames")
        if order["late"] > 0:
            parts.append(
                f"{order['late']} of {order['taken']} singles came later than the horizon allows and are in no coincidence; "
                f"horizon_ns={order['largest_lag_ps'] / 1000:.9g} would have been enough"
            )
        return parts + [f"no {name}: {totals[f'{name}_error']}" for name in ("rates", "randoms") if totals[f"{name}_error"] is not None]

    @property
    def totals(self) -> dict[str, Any]:
        """Counts so far, by the command's names: ``convert``, ``sort``, ``prompts``, ``delayeds``, ``checksum``, ``faults``; ``start_ps``,
        the first single's millisecond; after the end ``rates`` (or ``rates_error``) and ``randoms``, an estimate with its deviation."""
        made: dict[str, Any] = _core.pet_chain_totals(self._chain)
        return made

    @property
    def checksum(self) -> int:
        """Over all pairs: the command's."""
        made: int = self.totals["checksum"]
        return made

    @property
    def rates(self) -> Columns | None:
        """Rates against time, one row a bin: ``begin_s``, ``length_s``, ``frames``, ``singles``, ``prompts``, ``delayeds``, ``multiples``,
        ``lost``, ``randoms``. Complete after the end."""
        made: Columns | None = _core.pet_chain_rates(self._chain)
        return made

    def randoms_hz(self, pairs: Rows) -> NDArray[np.float32]:
        """Randoms a second of each pair's two crystals in the bin of its time, once the chain, opened with ``randoms``, has ended."""
        return np.frombuffer(_core.pet_chain_randoms_hz(self._chain, pair_buffers(pairs)), np.float32)

    @property
    def randoms_bins(self) -> Columns:
        """Their bins of time: ``begin_s``, ``length_s``, ``singles``, ``factor``, ``randoms``, which sum up to ``totals["randoms"]``."""
        made: Columns = _core.pet_chain_crystals(self._chain, -1)
        return made

    def crystal_rates(self, bin: int) -> Columns:
        """Each crystal in a bin: ``crystal``, ``singles``, ``singles_hz``, ``weight``, ``alive``."""
        made: Columns = _core.pet_chain_crystals(self._chain, count(bin, "bin", 0, 1 << 20))
        return made


def convert(
    data: Any,
    scanner: Tables | Scanner | str | Path,
    *,
    ticks: tuple[int, int] | int = 1,
    tick_bits: int = 64,
    energies: Energies = None,
    horizon_ns: float = 1e6,
    threads: int = 1,
) -> Columns:
    """Frames (``sluice.pet.frames`` tells which arrays are taken) to singles, in the order of the frames; ``Chain`` tells the words."""
    chain = Chain(scanner, ticks=ticks, tick_bits=tick_bits, energies=energies, horizon_ns=horizon_ns, until="convert", threads=threads)
    made = join([chain.push(data).singles, chain._finish().singles])
    chain._tell(4)
    return made


class Run:
    """Iterates over ``Found``, what files of frames make; the last has what the windows still held. Also a context manager. Ctrl-C while it
    waits is a ``KeyboardInterrupt``, after which it goes on with ``next``, having lost nothing, or closes."""

    def __init__(self, chain: Chain, paths: list[Path], on_fault: OnFault, follow: bool, progress: Progress) -> None:
        self._chain = chain
        self._paths = paths
        self._process = os.getpid()
        self._on_fault = on_fault
        self._beyond = {} if follow or on_fault == "ignore" else further(paths)
        self._open = True
        self._begun = False
        self._n = 0
        self._alone = OneThread("reader")
        self._progress = shown(progress)

    def __iter__(self) -> Run:
        return self

    def __next__(self) -> Found:
        with self._alone:
            return self._next()

    def _next(self) -> Found:
        if not self._open:
            raise StopIteration
        told = _core.pet_chain_next(self._chain._chain)
        if told is None:
            self.close()
            about, doubt, units = self._about()
            if units:  # an assumption, and no fault
                warn_lost(units, "warn" if self._on_fault == "raise" else self._on_fault, 4)
            tell(about, self._beyond, self._chain._losses(doubt), self._on_fault, 5)
            raise_failed(about)
            raise StopIteration
        self._begun = True
        self._n += told[1]
        self._progress(self._n)
        found = Found(*told[0])
        if found.faults and self._on_fault == "raise":
            self.close()
            raise StrictError(f"{found.faults}{self._chain.totals['first_fault']}")
        return found

    def _about(self) -> tuple[dict[str, Any], str, str]:
        tables = self._chain.tables
        side = tables.position_side if tables.position is not None else 0
        return _core.pet_chain_about(self._chain._chain, tables.scanner.geometry, side)

    @property
    def tables(self) -> Tables:
        """What frames are converted with."""
        return self._chain.tables

    @property
    def marks(self) -> Columns:
        """What marks the time beside singles, so far, where the frames' format has such records: ``time_ps``, ``value``, ``kind`` (0 other,
        1 sync, 2 trigger, 3 gate, 4 bed), ``module``."""
        return _core.pet_chain_marks(self._chain._chain)

    @property
    def totals(self) -> dict[str, Any]:
        """Counts so far: those of ``Chain.totals``, and of the files ``inputs``, ``lost``, ``repeated``, ``foreign`` …"""
        if self._open:
            return self._chain.totals
        files = self._about()[0]
        return {**self._chain.totals, **{name: value for name, value in files.items() if name not in ("faults", "frames")}}

    @property
    def checksum(self) -> int:
        """Over all pairs so far: at the end the command's."""
        return self._chain.checksum

    @property
    def rates(self) -> Columns | None:
        """Rates against time, complete at the end."""
        return self._chain.rates

    @property
    def _capsule(self) -> Any:
        return self._chain._capsule

    def randoms_hz(self, pairs: Rows) -> NDArray[np.float32]:
        """As ``Chain.randoms_hz``, at the end."""
        return self._chain.randoms_hz(pairs)

    @property
    def randoms_bins(self) -> Columns:
        """As ``Chain.randoms_bins``, at the end."""
        return self._chain.randoms_bins

    def crystal_rates(self, bin: int) -> Columns:
        """As ``Chain.crystal_rates``, at the end."""
        return self._chain.crystal_rates(bin)

    def save(
        self,
        path: Path,
        *,
        format: str | None = None,
        prompts: bool = False,
        tof_ps: float | Literal["none"] | None = None,
        threads: int = 1,
    ) -> int:
        """Runs to the end and writes all pairs as a list-mode file, as the command does; ``ListWriter`` tells the words. ``tof_ps`` None:
        the ``time_fwhm_ps`` of the tables, if they have one and the format has a place for it; "none": no times of flight. How many were
        written."""
        if self._begun:
            raise UsageError("pairs were given already, which would not be in the file: open another run")
        if self._chain.until != "coincidences":
            raise UsageError(f"there are no pairs to save: the run is until={self._chain.until!r}")
        keep_inputs(path, self._paths)
        chain, writer = self._chain, None
        try:
            for found in self:
                start = self._chain.totals["start_ps"]
                if writer is None and start is None and found.pairs.n_rows == 0 and not self._chain.totals["ended"]:
                    continue  # no single has come yet
                if writer is None:
                    made = format if format is not None else _format_by_name(path)
                    of: dict[str, Any] = {}
                    if made == "petsird":
                        of = {"energies": chain.energies, "policy": chain.policy, "delayeds": chain.has_delayeds}
                        of["efficiency"] = chain.tables.efficiency
                        if chain.tables.radial is not None:
                            warn_lost("PETSIRD gets the crystals' efficiencies: the tables' radial and axial factors are not written", "warn")
                    flight = _flight(tof_ps, made if made is not None else "", chain.tables)
                    writer = ListWriter(
                        path,
                        chain.tables.scanner,
                        format=format,
                        prompts=prompts,
                        tof_ps=flight,
                        window_ns=self._chain.window_ns,
                        start_ps=start or 0,
                        checksum=0,
                        threads=threads,
                        **of,
                    )
                writer.write(found.pairs)
            assert writer is not None
            writer.checksum = self._chain.checksum
            writer.finish()
            return writer.written
        finally:
            if writer is not None:
                writer.abandon()
            self.close()

    def close(self) -> None:
        """Ends reading; what was given stays."""
        if self._open:
            self._open = False
            if self._process == os.getpid():  # a child of fork() leaves it to its parent
                _core.pet_chain_close(self._chain._chain)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def run(
    paths: Paths,
    scanner: Tables | Scanner | str | Path,
    *,
    series: bool = False,
    batch: int | None = None,
    on_fault: OnFault = "warn",
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
    until: Literal["convert", "sort", "coincidences"] = "coincidences",
    singles: bool = True,
    in_order: bool = True,
    rates: Mapping[str, Any] | float | None = None,
    randoms: bool | Literal["singles", "delayeds"] = False,
    threads: int = 1,
    device: str | None = None,
    progress: Progress = None,
) -> Run:
    """Files of raw frames, one after the other, to singles and pairs, as ``sluice pet run``; ``Chain`` tells the words.

    ``frame_format``: the layout of frames that are not Sluice's own, a file of JSON (docs/formats/pet-frame-format.md), which tells
    ``ticks`` and ``tick_bits``; files may tell theirs in their heads. ``series``: also the files that follow each in its acquisition; ``batch``: frames at a time (65536; of each GPU that is named 4 M). At the end a
    ``DamageWarning`` for each input, and for the frames of all, tells what was lost (``on_fault``: "ignore": nothing is told; "raise": the
    first is a ``StrictError``). An input that cannot be read ends there, the next is read, and at the end it is a ``FileError`` or
    ``FormatError``. ``progress``: True for a bar of tqdm, or what is called with the number of frames so far."""
    word(on_fault, "on_fault", ON_FAULT)
    gpus = device.count(",") + 1 if device is not None and device != "cpu" else 0
    n = count(batch, "batch", 1, 1 << 28) if batch is not None else gpus << 22 if gpus else 1 << 16
    names = paths_of(paths, series)
    clock, bits = format_words(frame_format, names, ticks, tick_bits)
    chain = Chain(
        scanner,
        _files=(names, n, frame_format),
        ticks=clock,
        tick_bits=bits,
        energies=energies,
        horizon_ns=horizon_ns,
        window_ns=window_ns,
        windows=windows,
        edge=edge,
        policy=policy,
        good=good,
        compat=compat,
        delayed_ns=delayed_ns,
        until=until,
        singles=singles,
        in_order=in_order,
        rates=rates,
        randoms=randoms,
        threads=threads,
        device=device,
    )
    return Run(chain, names, on_fault, series, progress)


def rates(
    batches: Iterable[Any],
    scanner: Tables | Scanner | str | Path,
    bin_s: float = 1.0,
    *,
    dead_time_ns: float = 0.0,
    paralysable: bool = False,
    **words: Any,
) -> tuple[Columns, dict[str, Any]]:
    """Rates against time of arrays of frames, one after the other (those of ``open_frames``, say), and their sums: ``Chain`` tells the
    other words, ``Chain.rates`` the columns."""
    told = {"bin_s": bin_s, "dead_time_ns": dead_time_ns, "paralysable": paralysable}
    chain = Chain(scanner, rates=told, singles=False, in_order=False, **words)
    for some in batches:
        chain.push(some)
    chain._finish()
    chain._tell(4)
    made, totals = chain.rates, chain.totals
    if made is None:
        raise UsageError(totals["rates_error"] or "there are no rates")
    sums: dict[str, Any] = totals["rates"]
    return made, sums
