# SPDX-License-Identifier: Apache-2.0
"""Singles in order of time, and what coincides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from .. import _core
from .._core import Columns, UsageError
from ._scanner import (
    AT_ONCE,
    NO_SINGLES,
    NO_SINGLES_F64,
    POLICIES,
    Array,
    OneThread,
    Rows,
    count,
    energy_window,
    join,
    number,
    singles_buffers,
    singles_ps,
    thread_count,
    warn_lost,
    word,
)

_PARTS = {
    "sectors": 2,
    "min": 3,
    "crystals-per-ring": 1,
    "distance": 6,
    "axial": 7,
    "radius": 4,
    "pitch": 5,
    "angle": 8,
    "fov": 9,
    "modules": 10,
}
_GEOMETRY = frozenset(("angle", "fov", "axial", "modules"))
_KINDS = {
    frozenset(("sectors", "min", "crystals-per-ring")): 1,
    frozenset(("distance", "axial", "crystals-per-ring", "radius", "pitch")): 2,
}
_MM = {"mm": 1.0, "cm": 10.0, "m": 1000.0}


def _good_value(name: str, value: str, part: str) -> float:
    if name in ("sectors", "min", "crystals-per-ring", "modules"):
        if not re.fullmatch("[0-9]+", value) or not 1 <= int(value) <= 65536:
            raise UsageError(f"good: {part!r}: the value is not a whole number from 1 to 65536")
        return int(value)
    if name == "angle":
        match = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)(deg)?", value)
        if match is None or float(match[1]) > 180:
            raise UsageError(f"good: {part!r}: the value is not an angle from 0 to 180, in degrees")
        return float(match[1])
    match = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)(mm|cm|m)", value)
    if match is None or (name == "fov" and not float(match[1]) > 0):
        raise UsageError(f"good: {part!r}: the value is not a length, as 60mm")
    return float(match[1]) * _MM[match[2]]


def good_rule(words: str) -> tuple[Any, ...]:
    """What makes a pair good, in the command's words, as (kind, numbers …)."""
    if not isinstance(words, str):
        raise TypeError(f"good is to be a text, not {type(words)!r}")
    made: list[Any] = [0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0]
    if words == "different-crystal":
        return tuple(made)
    seen = set()
    for part in words.split(","):
        name, _, value = part.partition("=")
        if name not in _PARTS:
            raise UsageError(f"good: {part!r} is none of its parts: {', '.join(_PARTS)}, or different-crystal")
        seen.add(name)
        made[_PARTS[name]] = _good_value(name, value, part)
    kind = 3 if seen <= _GEOMETRY and ("axial" not in seen or made[7] > 0) else _KINDS.get(frozenset(seen))
    if kind is None:
        raise UsageError(
            "good takes different-crystal, or any of angle=,fov=,axial=,modules=, or sectors=,min=,crystals-per-ring=, or "
            f"distance=,axial=,crystals-per-ring=,radius=,pitch=, not {words!r}"
        )
    made[0] = kind
    return tuple(made)


def rule(
    window_ns: float,
    offset_ns: float,
    windows: str,
    edge: str | None,
    policy: str,
    good: str,
    energies: tuple[float, float] | None,
    compat: str | None,
) -> tuple[Any, ...]:
    """What a coincidence is, as the extension takes it."""
    gate9 = compat is not None and word(compat, "compat", ("gate9",)) == 0
    all_open = word(windows, "windows", ("single", "all-open")) == 1
    closed = not gate9 if edge is None else word(edge, "edge", ("closed", "open")) == 0
    place = word(policy, "policy", POLICIES)
    opengate, petsird = policy.startswith("opengate:"), place >= POLICIES.index("rejectHigherMultiples")
    if gate9 and edge == "closed":
        raise UsageError("compat='gate9' has open edges: leave out edge='closed', or compat")
    if gate9 and (opengate or petsird):
        raise UsageError(f"GATE 9 has no policy {policy}: leave out compat='gate9'")
    if opengate and edge == "open":
        raise UsageError(f"{policy} has closed edges: leave out edge='open'")
    low, high = energy_window(energies)
    window = number(window_ns, "window_ns", 0.001, 1e15)
    return (window, number(offset_ns, "offset_ns", 0, 1e15), closed, all_open, place, gate9, low, high, good_rule(good))


def delay_of(delayed_ns: float | None, window_ns: float) -> float:
    """0 where no delayeds are wanted. True pairs across a shorter shift would be among the delayeds."""
    if delayed_ns is None:
        return 0.0
    delay = number(delayed_ns, "delayed_ns", 0.001, 1e15)
    if delay < window_ns:
        raise UsageError(f"delayed_ns={delay:g} is shorter than the window of {window_ns:g} ns: choose a longer one")
    return delay


def _pieces(columns: tuple[Array, ...]) -> Iterator[tuple[Array, ...]]:
    """One at least."""
    for at in range(0, max(len(columns[0]), 1), AT_ONCE):
        yield tuple(one[at : at + AT_ONCE] for one in columns)


class Sorter:
    """Singles that arrive nearly in order, into the order of their times: exact, stable, and the same however they were cut.

    ``horizon_ns`` is how far behind the latest time a single may come; later ones are in ``late`` and not in what ``push`` gives."""

    def __init__(self, *, horizon_ns: float = 1e6, threads: int = 1) -> None:
        horizon = round(number(horizon_ns, "horizon_ns", 0, 7.2e12) * 1000)
        self._stage = _core.pet_sort_open(horizon, thread_count(threads))
        self._alone = OneThread("sorter")
        self._told = 0
        #: Columns of the singles that came too late in the last call.
        self.late: Columns | None = None

    def push(self, singles: Rows) -> Columns:
        """Takes singles in their order of arrival; gives those that nothing can come before any more."""
        with self._alone:
            parts = [_core.pet_sort_run(self._stage, some, False) for some in _pieces(singles_ps(singles))]
            self.late = join([late for _, late in parts])
            return join([made for made, _ in parts])

    def finish(self) -> Columns:
        """All that wait; then the sorter is as new. A ``DamageWarning`` if singles came too late."""
        with self._alone:
            made, self.late = _core.pet_sort_run(self._stage, NO_SINGLES, True)
        counts = self.counts
        if counts["late"] > self._told:
            self._told = counts["late"]
            line = f"{counts['late']} of {counts['taken']} singles came later than the horizon allows and are put aside; "
            warn_lost(f"{line}horizon_ns={counts['largest_lag_ps'] / 1000:.9g} would have been enough", "warn")
        return made

    @property
    def counts(self) -> dict[str, int]:
        """Singles ``taken``, ``given``, ``late``, ``held``, and ``largest_lag_ps``: what horizon would have been enough."""
        made: dict[str, int] = _core.pet_sort_counts(self._stage)
        return made


def sort(singles: Rows) -> Columns:
    """All singles in the order of their times, from any order; those of one time keep theirs."""
    buffers, is_f64 = singles_buffers(singles)
    return _core.pet_sort_all(buffers, is_f64)


class Coincidences:
    """Coincidences of singles that come in the order of time, batch after batch; rows do not depend on the batches.

    ``window_ns``: its length; ``offset_ns``: it begins so late (delayed pairs alone); ``windows``: "single" (a single that is in no
    window opens one) or "all-open"; ``edge``: "closed" (the end belongs to the window) or "open"; ``policy``: one of ``POLICIES``, what is
    made of three singles and more; ``good``: "different-crystal", "sectors=24,min=2,crystals-per-ring=312" or
    "distance=59mm,axial=39mm,crystals-per-ring=312,radius=60mm,pitch=2mm"; ``energies``: (low, high) in keV, low included; ``compat``:
    "gate9"; ``delayed_ns``: delayed pairs, too, in one order of time with the prompts; ``rows``: "pairs", or "groups", numbers of the
    sorted singles (``first``, ``second``, ``size``), which singles with ``time_ns`` (float64) need. ``device``: "cuda" or "cuda:N".
    """

    def __init__(
        self,
        *,
        window_ns: float = 10.0,
        offset_ns: float = 0.0,
        windows: Literal["single", "all-open"] = "single",
        edge: Literal["closed", "open"] | None = None,
        policy: str = "killAll",
        good: str = "different-crystal",
        energies: tuple[float, float] | None = None,
        compat: Literal["gate9"] | None = None,
        delayed_ns: float | None = None,
        rows: Literal["pairs", "groups"] = "pairs",
        threads: int = 1,
        device: str | None = None,
    ) -> None:
        made = rule(window_ns, offset_ns, windows, edge, policy, good, energies, compat)
        delay = delay_of(delayed_ns, window_ns)
        groups = word(rows, "rows", ("pairs", "groups")) == 1
        if delay > 0 and (groups or offset_ns > 0):
            raise UsageError("delayed_ns gives pairs beside prompts: leave out rows='groups' and offset_ns")
        self._is_f64 = False
        self._alone = OneThread("stage")
        self._stage = _core.pet_find_open(made, delay, groups, thread_count(threads), device)

    def push(self, singles: Rows) -> Columns:
        """Takes singles in time order; gives the rows whose windows are complete. ``FormatError`` if a single is earlier than the one
        before it."""
        with self._alone:
            buffers, self._is_f64 = singles_buffers(singles)
            return join([_core.pet_find_run(self._stage, some, self._is_f64, False) for some in _pieces(buffers)])

    def finish(self) -> Columns:
        """The rows of the last windows; the next call begins a new input."""
        return _core.pet_find_run(self._stage, NO_SINGLES_F64 if self._is_f64 else NO_SINGLES, self._is_f64, True)

    @property
    def counts(self) -> dict[str, Any]:
        """``singles``, ``inside`` the energies, ``windows`` with two or more, ``pairs``, larger ``groups``, and windows by
        ``multiplicity``."""
        made: dict[str, Any] = _core.pet_find_counts(self._stage)[0]
        return made

    @property
    def delayed_counts(self) -> dict[str, Any] | None:
        """The same of delayed windows."""
        made: dict[str, Any] | None = _core.pet_find_counts(self._stage)[1]
        return made


def coincidences(
    singles: Rows,
    *,
    window_ns: float = 10.0,
    offset_ns: float = 0.0,
    windows: Literal["single", "all-open"] = "single",
    edge: Literal["closed", "open"] | None = None,
    policy: str = "killAll",
    good: str = "different-crystal",
    energies: tuple[float, float] | None = None,
    compat: Literal["gate9"] | None = None,
    delayed_ns: float | None = None,
    rows: Literal["pairs", "groups"] = "pairs",
    is_sorted: bool = False,
    threads: int = 1,
    device: str | None = None,
) -> Columns:
    """Coincidences of singles in any order, all at once: ``Coincidences`` tells the words. ``is_sorted``: they are in the order of time
    already, which is looked at."""
    stage = Coincidences(
        window_ns=window_ns,
        offset_ns=offset_ns,
        windows=windows,
        edge=edge,
        policy=policy,
        good=good,
        energies=energies,
        compat=compat,
        delayed_ns=delayed_ns,
        rows=rows,
        threads=threads,
        device=device,
    )
    buffers, is_f64 = singles_buffers(singles)
    if not is_sorted:
        buffers = singles_buffers(_core.pet_sort_all(buffers, is_f64))[0]
    n = -(-len(buffers[0]) // AT_ONCE)
    return join([_core.pet_find_run(stage._stage, some, is_f64, i + 1 >= n) for i, some in enumerate(_pieces(buffers))])


def randoms(
    singles: Rows,
    delay_ns: float,
    *,
    window_ns: float = 10.0,
    windows: Literal["single", "all-open"] = "single",
    edge: Literal["closed", "open"] | None = None,
    policy: str = "killAll",
    good: str = "different-crystal",
    energies: tuple[float, float] | None = None,
    threads: int = 1,
) -> tuple[float, float]:
    """How many of the prompts are random, whatever the policy, and the standard deviation of that: singles in the order of time are mixed
    with themselves ``delay_ns`` later (include/sluice/pet_rates.h). NaN for a measurement within two delays."""
    made = rule(window_ns, 0.0, windows, edge, policy, good, energies, None)
    stage = _core.pet_randoms_open(made, number(delay_ns, "delay_ns", 0.001, 1e15), thread_count(threads))
    columns = singles_ps(singles)
    n = -(-len(columns[0]) // AT_ONCE)
    for i, some in enumerate(_pieces(columns)):
        told = _core.pet_randoms_run(stage, some, i + 1 >= n)
    return float(told[0]), float(told[1])


__all__ = ["Coincidences", "Sorter", "coincidences", "count", "randoms", "sort"]
