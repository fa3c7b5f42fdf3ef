# SPDX-License-Identifier: Apache-2.0
"""LHCb's vertex detector: files of raw events (MDF, MEP) or of hits (JSON), or arrays of hits, to tracks and vertices.

    with sluice.velo.open("run.mdf") as reader:
        for batch in reader:
            print(batch.tracks.n_rows, batch.beam.x_mm.mean())

A batch has ``hits``, ``tracks``, ``track_hits``, ``beam`` and ``end`` (the tracks' states at the beam line and downstream),
``primaries``, ``counts`` (a row for each event: super-pixels, faults, whether it was searched); on request ``impacts``,
``events`` (run, event, bunch crossing ...), ``particles``, ``particle_ids``, ``vertices`` and ``matches`` (truth), ``decisions``,
``fired`` and ``lines`` (a selection), ``event_cuts`` (a global event cut). Lengths are in mm, momenta in MeV; each column has its
unit in ``units``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union

from ._core import Reader, UsageError, velo_open, velo_reconstruct, velo_settings
from ._flow import Common, OnFault, Path, Paths, Progress, common, unmasked
from .velo_config import Config, Fit, Gec, Track, Vertex
from .velo_monitor import Monitor, Residuals
from .velo_performance import Category, Efficiency, Histogram, Impact, Momentum, Performance, Vertices

if TYPE_CHECKING:
    from ._core import VeloBatch

__all__ = [
    "Category",
    "Config",
    "Efficiency",
    "Fit",
    "Gec",
    "Histogram",
    "Impact",
    "Momentum",
    "Monitor",
    "Performance",
    "Residuals",
    "Track",
    "Vertex",
    "Vertices",
    "check",
    "monitor",
    "open",
    "reconstruct",
    "residuals",
    "settings",
]

Settings = Union[Path, Mapping[str, Any], Config]
Beam = Union[tuple[float, float], Path]


class _File:
    """The name of a file: the caller's, or one that is made of a mapping, as long as it is wanted."""

    def __init__(self, content: Any, suffix: str = ".json") -> None:
        self._content, self._suffix = content, suffix
        self._file: str | None = None

    def _text(self) -> str | None:
        if isinstance(self._content, Config):
            return json.dumps(self._content.to_dict())
        return json.dumps(dict(self._content)) if isinstance(self._content, Mapping) else None

    def __enter__(self) -> Any:
        text = self._text()
        if text is None:
            return self._content
        with tempfile.NamedTemporaryFile("w", suffix=self._suffix, prefix="sluice-", delete=False) as file:
            self._file = file.name
            file.write(text)
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.unlink(self._file)


class _Mask(_File):
    """Pixels as rows of sensor, column and row."""

    def __init__(self, content: Any) -> None:
        super().__init__(content, ".txt")

    def _text(self) -> str | None:
        if self._content is None or isinstance(self._content, (str, bytes, os.PathLike)):
            return None
        import numpy as np

        pixels = np.asarray(self._content)
        if pixels.ndim != 2 or pixels.shape[1] != 3 or (pixels.size > 0 and pixels.dtype.kind not in "iu"):
            raise UsageError(
                f"mask is to be a file, or integers of the shape (n, 3): sensor, column, row; not {pixels.dtype} of {pixels.shape}"
            )
        return "".join(f"{s} {c} {r}\n" for s, c, r in pixels.tolist()) or "# none\n"


def settings(config: Settings | None = None, *, preset: str | None = None) -> dict[str, Any]:
    """All settings that are in force: those of the preset ("standard", "fast", "open", "smog2", "upgrade2"), changed by ``config``,
    a JSON file, a mapping of some of them, or a :class:`Config`. What comes out is taken as ``config`` again, and by ``Config.of``.
    docs/formats/velo-config.md tells each, with its limits; a value beyond them is a ``FormatError`` that names it."""
    with _File(config) as file:
        made: dict[str, Any] = json.loads(velo_settings(file, preset))
    return made


def _list(wanted: Iterable[str] | None) -> str | None:
    """Collections by the names that they have in files."""
    if wanted is None:
        return None
    words = [wanted] if isinstance(wanted, str) else list(wanted)
    return ",".join({"beam": "states_beam", "end": "states_end"}.get(word, word) for word in words)


def _where(beam: Beam | None) -> Any:
    if beam is None or isinstance(beam, (str, bytes, os.PathLike)):
        return beam
    where = tuple(float(one) for one in beam)
    if len(where) != 2:
        raise UsageError(f"beam is to be x and y in mm, not {len(where)} numbers")
    return where


def open(
    paths: Paths,
    *,
    config: Settings | None = None,
    preset: str | None = None,
    geometry: Path | None = None,
    beam: Beam | None = None,
    mask: Any = None,
    batch: int = 32,
    threads: int = 1,
    device: str | None = None,
    truth: bool = False,
    select: Path | Mapping[str, Any] | None = None,
    identity: bool = False,
    impacts: bool = False,
    monitor: bool | Literal["pixels"] = False,
    residuals: bool = False,
    wanted: Iterable[str] | None = None,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[VeloBatch]:
    """A reader of batches of up to ``batch`` events, in the order of the inputs ("-": standard input).

    ``config`` and ``preset``: as for :func:`settings`. ``geometry``: LHCb's velo_geometry.bin (without it the ideal detector).
    ``beam``: x and y of the beam line in mm, LHCb's beamline.bin, or "auto", which reads events ahead and looks for it (a
    ``FormatError`` if they do not tell it); without it that of ``config``, 0, 0 by default. ``mask``: pixels that are left out, a
    file (docs/formats/velo-mask.md) or integers of shape (n, 3): sensor, column, row. ``threads``: the number of workers (0: one for
    each processor). Results depend on neither threads, batches nor ``device``: "cpu", or GPUs ("cuda",
    "cuda:0,1", "all"; thousands of events a ``batch`` then), which take no mask, the local search and the standard strategy alone.

    ``truth`` reads simulation truth and compares with it: batches have ``particles``, ``particle_ids``, ``vertices`` and ``matches``,
    and ``Reader.totals["performance"]`` what :class:`Performance` is made of. ``select``: a selection
    (docs/formats/selection.md), a file or a mapping: ``decisions`` and ``fired``, whose bits are ``lines``, and
    ``Reader.totals["selection"]``. ``identity``: ``events``. ``impacts``: ``impacts``. ``monitor`` ("pixels": every pixel is counted, 164 MB)
    and ``residuals``: what :class:`Monitor` and :class:`Residuals` are made of, in ``Reader.totals``.

    ``wanted``: the collections that are made, of "hits", "tracks" (with ``track_hits``), "beam", "end", "primaries" and, with ``select``,
    "decisions" (which are made with any list, while ``fired`` is not); the others of a batch have no rows, and are not in the checksum, which is that of a run with the same ones. A GPU sends nothing else back. Hits and
    tracks are counted in ``Reader.totals`` all the same; ``primaries`` are None there if they are not wanted. Not with what may need the
    others: ``truth``, ``impacts``, ``monitor``, ``residuals`` and ``beam="auto"``.

    At the end of each input a ``DamageWarning`` tells what was damaged or lost, with counts and the first place; others tell of a beam
    line that is not where it was said to be, of events that a cut left out or whose banks are others, unless ``on_fault`` is
    "ignore"; with "raise" the first fault is a ``StrictError``. An input that cannot be read is a ``FileError`` or ``FormatError``,
    after which the reader goes on with the next one. ``progress`` is called with the number of events so far after each batch;
    ``True`` shows a bar of tqdm.
    """
    where = _where(beam)
    if monitor not in (True, False, "pixels"):
        raise UsageError(f"monitor is to be True, False or 'pixels', not {monitor!r}")
    if wanted is not None and (truth or impacts or monitor or residuals or isinstance(where, str) and where == "auto"):
        raise UsageError("wanted leaves out what truth, impacts, monitor, residuals and beam='auto' may need")
    counted = bool(monitor), monitor == "pixels", residuals, _list(wanted)
    all_chains = common(paths, batch, threads, on_fault, progress, device)
    with _File(config) as file, _Mask(mask) as masked, _File(select) as selection:
        return velo_open(all_chains, file, preset, geometry, where, masked, selection, truth, identity, impacts, *counted)


def check(paths: Paths, **options: Any) -> Performance:
    """Efficiencies, ghosts, residuals and pulls of all events of ``paths``, against their simulation truth: what
    ``sluice velo --truth`` prints. ``options`` are those of :func:`open`."""
    with open(paths, truth=True, **options) as reader:
        for _ in reader:
            pass
        totals: Any = reader.totals
    return Performance.of(totals["performance"])


def monitor(paths: Paths, *, pixels: bool = False, **options: Any) -> Monitor:
    """What a shifter looks at: hits by chip, column and size, collisions by minute, bunches, with ``pixels`` hot and dead ones.
    ``options`` are those of :func:`open`."""
    with open(paths, monitor="pixels" if pixels else True, **options) as reader:
        for _ in reader:
            pass
        totals: Any = reader.totals
    return Monitor.of(totals["monitor"])


def residuals(paths: Paths, **options: Any) -> Residuals:
    """How far hits are from their tracks, and normal equations for alignment (best with ``config={"track": {"strategy": "full"}}``).
    ``options`` are those of :func:`open`."""
    with open(paths, residuals=True, **options) as reader:
        for _ in reader:
            pass
        totals: Any = reader.totals
    return Residuals.of(totals["residuals"])


def _columns(hits: Mapping[str, Any], offsets: Any) -> tuple[Any, ...]:
    """Columns of their types, in the order of modules in each event."""
    import numpy as np

    needed = ("x_mm", "y_mm", "z_mm", "module")
    missing = [name for name in needed if name not in hits]
    unknown = [name for name in hits if name not in (*needed, "channel", "n_pixels")]
    if missing or unknown:
        raise UsageError(f"hits are to have x_mm, y_mm, z_mm, module, and may have channel and n_pixels; {missing + unknown} are not so")
    given = {name: unmasked(hits[name], name) for name in hits}
    n = len(given["x_mm"]) if given["x_mm"].ndim == 1 else -1
    for name, one in given.items():
        if one.shape != (n,):
            raise UsageError(f"{name} is to be one number for each of {n} hits, not of the shape {one.shape}")
        if one.dtype.kind not in ("fiu" if name.endswith("_mm") else "iu"):
            raise TypeError(f"{name} is to be of {'numbers' if name.endswith('_mm') else 'integers'}, not {one.dtype}")
    ends = np.array([0, n] if offsets is None else offsets)
    if ends.ndim != 1 or ends.dtype.kind not in "iu" or len(ends) == 0 or ends[0] != 0 or ends[-1] != n or (ends[1:] < ends[:-1]).any():
        raise UsageError(f"offsets are to be integers that rise from 0 to {n}, the number of hits")
    if n > 0 and (given["module"].min() < 0 or given["module"].max() >= 52):
        raise UsageError("module is to be from 0 to 51")
    event = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    given.setdefault("channel", np.arange(n) - ends[:-1][event])
    given.setdefault("n_pixels", np.zeros(n, np.uint32))
    for name in ("channel", "n_pixels"):
        if n > 0 and (given[name].min() < 0 or given[name].max() >= 1 << 32):
            raise UsageError(f"{name} is to be from 0 to 2^32 - 1")
    order = np.lexsort((given["module"], event))
    types = {"x_mm": "f4", "y_mm": "f4", "z_mm": "f4", "channel": "u4", "n_pixels": "u4", "module": "u1"}
    taken = [np.ascontiguousarray(given[name][order], kind) for name, kind in types.items()]
    return (*taken, np.ascontiguousarray(ends, np.uint32), n, len(ends) - 1)


def reconstruct(
    hits: Mapping[str, Any],
    *,
    offsets: Any = None,
    config: Settings | None = None,
    preset: str | None = None,
    beam: tuple[float, float] | None = None,
    select: Path | Mapping[str, Any] | None = None,
    impacts: bool = False,
) -> VeloBatch:
    """Tracks and vertices of your own hits: one batch, of one event or of many.

    ``hits``: arrays of n numbers: ``x_mm``, ``y_mm``, ``z_mm`` (mm) and ``module`` (0 to 51, by rising z), in any order inside an
    event; if you have them ``channel`` and ``n_pixels`` (without them the index of the hit in its event, and 0: a hit of unknown
    size). The ``hits`` of a batch are such a mapping. ``offsets``: (events + 1,) integers from 0 to n, hits of event e are
    offsets[e] ... offsets[e + 1]; without them all are one event. The others are as for :func:`open`. The batch's own ``hits`` are
    sorted by module, and its indices of hits count in that order.
    """
    columns = _columns(hits, offsets)
    all_chains: Common = ([], max(1, columns[-1]), 1, "warn", None, None)
    with _File(config) as file, _File(select) as selection:
        asked = (False, False, impacts, False, False, False, None)
        reader = velo_reconstruct(columns, all_chains, file, preset, None, _where(beam), None, selection, *asked)
    with reader:
        return next(reader)
