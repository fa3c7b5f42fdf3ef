# SPDX-License-Identifier: Apache-2.0
"""Sparse pixels: lists of those that were hit, of frames, of streams that never end (Timepix), and the clusters made of them.

    clusters = sluice.pixel.cluster(x, y, charge=tot, features=["size", "mass", "weighted"])
    for batch in sluice.pixel.open_clusters("run.tpx3", time_window="100ns"):
        batch.clusters.size, batch.clusters.first_time

Coordinates are 0 to 65535, charges 0 to 2^32 - 1, times any 64-bit integers, in ticks. Arrays are 1-D, of integers of any width,
with or without a sign; they are copied, and a number beyond these ranges is a ``UsageError`` that names it.

Clusters have the columns that their features bring: ``size`` (pixels); ``x_min`` ``y_min`` ``x_max`` ``y_max`` (inclusive);
``centroid_x`` ``centroid_y``; ``mass`` (sum of the charges); ``weighted_x`` ``weighted_y``; ``first_time`` ``last_time`` (ticks);
``largest`` (index of the pixel with the largest charge); with a z these of z, too. ``peak`` (the largest charge); ``squared_x``
``squared_y`` (means weighted by charge²); shape: ``length``, ``width``, ``linearity``, ``roundness``, of the rectangle with the same second
moments (sqrt of 12 times the eigenvalues of the covariance, each pixel a square); ``kind``, which :data:`KINDS` names. The last three
are of flat lists: with a z and features "all" they are not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from ._core import (
    Columns,
    Reader,
    UsageError,
    pixel_cluster,
    pixel_open,
    pixel_open_clusters,
    pixel_stream_counts,
    pixel_stream_finish,
    pixel_stream_open,
    pixel_stream_push,
    pixel_write_mask,
)
from ._flow import OnFault, Paths, Progress, common, keep_inputs, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._core import ClustersBatch, PixelsBatch

__all__ = ["FEATURES", "KINDS", "Stream", "cluster", "open", "open_clusters", "write_mask"]

#: What can be asked for of clusters.
FEATURES = ("size", "box", "centroid", "mass", "weighted", "times", "largest", "peak", "squared", "shape", "kind")
#: What the numbers in the column ``kind`` mean.
KINDS = ("dot", "small blob", "curly track", "heavy blob", "heavy track", "straight track")

Duplicates = Literal["sum", "first", "largest", "keep"]
#: Edges at the inputs of the readout (TDC packets of .tpx3).
Trigger = Literal["tdc1-rise", "tdc1-fall", "tdc2-rise", "tdc2-fall"]
_TRIGGERS = ("tdc1-rise", "tdc1-fall", "tdc2-rise", "tdc2-fall")
Features = Union[str, Iterable[str], None]
#: Ticks (an integer), seconds (a float), or a text as "100ns", "2us", "64ticks".
Time = Union[int, float, str]

#: A file or folder, or four files.
Files = Union[str, "os.PathLike[str]", Sequence[Any]]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def _features(features: Features) -> list[str] | None:
    if features is None:
        return None
    names = features.replace(" ", "").split(",") if isinstance(features, str) else list(features)
    return list(FEATURES) if names == ["all"] else names


def _wants_times(names: list[str] | None) -> bool:
    """By name: with "all" they are 0 where the pixels have none."""
    return names is not None and "times" in names and names != list(FEATURES)


def _time(time: Time | None, name: str) -> int | float | None:
    if not isinstance(time, str):
        return time
    match = re.fullmatch(r"([0-9.]+(?:e[-+]?[0-9]+)?) ?(ns|us|ms|s|ticks)", time)
    try:
        value = float(match[1]) if match else -1.0
    except ValueError:
        value = -1.0
    if match is None or value < 0 or (match[2] == "ticks" and not value.is_integer()):
        raise UsageError(f"{name} is to be a time such as '100ns', '2us' or '64ticks', ticks as an integer or seconds, not {time!r}")
    return int(value) if match[2] == "ticks" else value * _SECONDS[match[2]]


def _accept(accept: tuple[Time, Time] | None, trigger: str | None) -> tuple[int, float, float]:
    """The trigger's number, and from when to when after it, in seconds; 0 and 0: always."""
    if trigger is None:
        if accept is not None:
            raise UsageError("accept is a time since the trigger, which is not given")
        return 0, 0.0, 0.0
    if trigger not in _TRIGGERS:
        raise UsageError(f"trigger is to be one of {', '.join(repr(one) for one in _TRIGGERS)}, not {trigger!r}")
    number = 1 + _TRIGGERS.index(trigger)
    if accept is None:
        return number, 0.0, 0.0
    begin, end = (_time(one, "accept") for one in accept)
    bounds = [float(one) * 25e-9 / 16 if isinstance(one, int) else float(one or 0) for one in (begin, end)]
    if not 0 <= bounds[0] < bounds[1]:
        raise UsageError(f"accept is to be a time since the trigger and a later one, as ('0us', '30us'), not {accept!r}")
    return number, bounds[0], bounds[1]


def _places(
    layout: Any, chips: Iterable[int] | None, mask: Any, calibration: Files | None, timewalk: Any, column_phase: bool
) -> tuple[Any, ...]:
    if calibration is not None and not isinstance(calibration, (str, os.PathLike)):
        calibration = ",".join(os.fspath(one) for one in calibration)
    return layout, None if chips is None else tuple(chips), mask, calibration, timewalk, column_phase


def _choices(
    connectivity: int, radius: int | None, duplicates: str, features: Features, algorithm: str, shape: tuple[int, int] | None
) -> tuple[Any, ...]:
    return connectivity, radius, duplicates, _features(features), algorithm, shape


@overload
def cluster(
    x: Any,
    y: Any,
    *,
    charge: Any = None,
    time: Any = None,
    z: Any = None,
    offsets: Any = None,
    shape: tuple[int, int] | None = None,
    connectivity: int = 8,
    radius: int | None = None,
    time_window: int | None = None,
    duplicates: Duplicates = "sum",
    features: Features = None,
    labels: Literal[True],
    threads: int = 1,
    algorithm: str = "auto",
) -> tuple[NDArray[np.int32], Columns]: ...
@overload
def cluster(
    x: Any,
    y: Any,
    *,
    charge: Any = None,
    time: Any = None,
    z: Any = None,
    offsets: Any = None,
    shape: tuple[int, int] | None = None,
    connectivity: int = 8,
    radius: int | None = None,
    time_window: int | None = None,
    duplicates: Duplicates = "sum",
    features: Features = None,
    labels: Literal[False] = False,
    threads: int = 1,
    algorithm: str = "auto",
) -> Columns: ...
def cluster(
    x: Any,
    y: Any,
    *,
    charge: Any = None,
    time: Any = None,
    z: Any = None,
    offsets: Any = None,
    shape: tuple[int, int] | None = None,
    connectivity: int = 8,
    radius: int | None = None,
    time_window: int | None = None,
    duplicates: Duplicates = "sum",
    features: Features = None,
    labels: bool = False,
    threads: int = 1,
    algorithm: str = "auto",
) -> Columns | tuple[NDArray[np.int32], Columns]:
    """Connected components of the pixels at ``x``, ``y`` (and ``z``): (n,) integers in any order.

    ``offsets``: (images + 1,) integers from 0 to n that cut the list into images; without them it is one. ``shape``: (height,
    width) of the sensor, up to 65536; a pixel outside is a ``FormatError`` that names it; without it the size is what the pixels
    have. Adjacent are 4 or 8 neighbours (with a z 6 or 26, as ``connectivity`` is 4 or 8, or 6, 18, 26 by themselves), or all
    within ``radius`` (1 to 8) in each coordinate; with ``time_window``, in ticks, those also that far apart in ``time`` at most.
    ``duplicates``: what a pixel that is there twice has measured ("keep": every entry counts, as always with a time window).

    ``features``: names in :data:`FEATURES`, "all", or by default size, box, centroid, mass. The columns have an event for each
    image; clusters come in the raster order of their first pixel, with a time window in that of the list. With ``labels`` also
    (n,) int32: the number, from 0, of each pixel's cluster in its image. ``threads``: images are dealt out to them; results do not
    depend on it, nor on ``algorithm`` (one that cannot do what is asked is an ``UnsupportedError``).
    """
    made = None
    if labels:
        import numpy as np

        made = np.empty(len(x), np.int32)
    choices = _choices(connectivity, radius, duplicates, features, algorithm, shape)
    if time is None and _wants_times(choices[3]):
        raise UsageError("the feature 'times' needs time")
    columns = pixel_cluster(x, y, charge, time, z, offsets, *choices, time_window, threads, made)
    return columns if made is None else (made, columns)


def open(
    paths: Paths,
    *,
    shape: tuple[int, int] | None = None,
    tick_seconds: float = 0.0,
    layout: str | os.PathLike[str] | None = None,
    chips: Iterable[int] | None = None,
    mask: str | os.PathLike[str] | None = None,
    calibration: Files | None = None,
    timewalk: str | os.PathLike[str] | None = None,
    column_phase: bool = False,
    batch: int = 65536,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[PixelsBatch]:
    """The pixels of files, as they are: raw Timepix3 and Timepix4 (.tpx3, .tpx4), Pixet's text (.t3pa), lists as CSV and NPY, dense frames of text.

    A batch has ``pixels`` (``x``, ``y``, and as the file has them ``z``, ``charge``, ``time`` in ticks), up to ``batch`` of them, whole
    frames if there are such (each an event; of others a batch is one), and ``about``: a dict of format, width and height (0:
    unknown), tick_seconds (0: unknown), frames, stream. ``shape``: of the sensor, which says where the matrix indices of a .t3pa
    are; ``tick_seconds``: of CSV and NPY. ``layout``, ``chips``, ``mask``, ``calibration``,
    ``timewalk``, ``column_phase``: as for :func:`open_clusters`. What is damaged is left out and counted: a ``DamageWarning`` at the end of the input.
    """
    places = _places(layout, chips, mask, calibration, timewalk, column_phase)
    return pixel_open(common(paths, batch, 1, on_fault, progress), shape, float(tick_seconds), *places)


def open_clusters(
    paths: Paths,
    *,
    connectivity: int = 8,
    radius: int | None = None,
    time_window: Time | None = None,
    disorder: Time | None = None,
    max_open: int = 0,
    tick_seconds: float = 0.0,
    duplicates: Duplicates = "sum",
    features: Features = None,
    shape: tuple[int, int] | None = None,
    labels: bool = False,
    filter: str | None = None,
    layout: str | os.PathLike[str] | None = None,
    chips: Iterable[int] | None = None,
    within_chip: bool = False,
    mask: str | os.PathLike[str] | None = None,
    calibration: Files | None = None,
    timewalk: str | os.PathLike[str] | None = None,
    column_phase: bool = False,
    trigger: Trigger | None = None,
    accept: tuple[Time, Time] | None = None,
    algorithm: str = "auto",
    threads: int = 1,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[ClustersBatch]:
    """The clusters of files, in bounded memory; formats as for :func:`open`.

    What a file is it tells itself: frames (an event each), a list without times (one image), or a stream of pixels with times, whose
    clusters leave when nothing can join them any more: its batches have those that closed, and all of it is one event, which ends
    in the last batch. ``Reader.checksum`` is that of ``sluice cluster``.

    ``time_window``: adjacent pixels are that far apart in time at most; of streams 100 ns by default. ``disorder``: how late a
    pixel of a stream may come; 1 ms by default for .tpx3; "all" (the default for lists): the file is read whole and sorted first.
    Times are ticks (an integer), seconds (a float), or texts as "100ns", "64ticks"; seconds need a file that tells how long a
    tick is, or ``tick_seconds``. ``max_open``: pixels of a stream that can be waiting (0: 2^20), some 200 bytes each.
    ``features``: by default size, box, centroid, mass, weighted and times. ``shape``: (height, width); pixels outside are left out and counted. The others are
    as for :func:`cluster`; ``threads`` are for frames, and of a stream two, of which one puts pixels in order and the other joins them.

    A name may also be "tcp://HOST:PORT", "tcp-listen://ADDR:PORT" or "udp://ADDR:PORT": raw Timepix from the network, until the connection
    ends or the reader is closed.

    ``filter``: clusters for which all terms hold are kept, "size>=3,mass>50": columns of clusters, each with >=, <=, >, <, = or !=
    and a number.

    ``layout`` (.tpx3): where chips lie, "quad", "row" (the default), with a gap as "quad+2", or a file with a chip a line; ``chips``: numbers
    of those whose pixels are read; ``within_chip``: no cluster reaches from one chip to another.

    ``mask``: a file with x and y of a pixel in each line; these are left out and counted. ``calibration``: a, b, c and t of each pixel: a
    folder with caliba.txt, calibb.txt, calibc.txt and calibt.txt, one with chip0, chip1 ... for each chip, one file, or four. Charges are then energies in eV, as is ``mass``;
    a batch has ``energies`` beside the clusters, with ``energy_kev``. Pixels without a calibration have none and are counted.

    ``timewalk``: "c=48.5,d=3" takes 48.5 / (ToT - 3) ns off the time of each pixel, a file what its lines of ToT and ns say; pixels for
    whose ToT there is no delay are counted. ``column_phase`` (.tpx3): times are corrected for the clocks of double columns.

    ``trigger`` (.tpx3): an edge at an input of the readout. Each cluster is of the last one before its first pixel: ``since`` of a
    batch has, beside ``clusters``, ``shot`` (number of the trigger, -1 before the first) and ``since_trigger_ns``; ``shots`` the
    triggers that are complete: ``shot``, ``trigger_time`` (sixths of a tick, 25 ns / 96), ``counter`` and, of their clusters among all
    of the input, ``first`` and how many, ``clusters``. ``accept``: (from, to) after the trigger; other clusters are left out and counted.

    A batch has ``clusters``, ``pixels`` (but of a stream that is sorted first), with ``labels`` of frames and images ``labels``
    (one column, ``label``, 2^32 - 1 where the filter left the cluster out), of a stream ``members``, the pixels of its clusters, an event for
    each (``x``, ``y``, ``charge``, ``time``, ``pixel``: its place in the file), and with a trigger ``member_since``, ``frames`` (numbers of the frames in the file, or None) and ``about`` (as for :func:`open`). What was
    damaged, came too late, lay outside or was closed early is a ``DamageWarning`` at the end of its input, and counted in
    ``Reader.totals``.
    """
    everything = isinstance(disorder, str) and disorder == "all"
    asked = _features(features)
    return pixel_open_clusters(
        common(paths, 64, threads, on_fault, progress),
        *_choices(connectivity, radius, duplicates, asked, algorithm, shape),
        _time(time_window, "time_window"),
        None if everything else _time(disorder, "disorder"),
        everything,
        max_open,
        float(tick_seconds),
        labels,
        _wants_times(asked),
        *_accept(accept, trigger),
        *_places(layout, chips, mask, calibration, timewalk, column_phase),
        filter,
        within_chip,
    )


def write_mask(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    mask: str | os.PathLike[str] | None = None,
    shape: tuple[int, int] | None = None,
) -> dict[str, int]:
    """Finds hot pixels, those with far more hits than chance allows beside those around them, and writes them as a mask to ``output``,
    a line of x and y each, with those of ``mask``, whose hits are not looked at. All files are counted together. ``shape``: as for
    :func:`open`.

    Gives ``pixels`` (how many are hot), ``hits`` (theirs), ``masked`` (pixels in the file), ``judged`` (hits that were counted), ``x`` and
    ``y`` (of the hottest). The same as ``sluice cluster --write-mask``.
    """
    names = tuple(os.fsencode(path) for path in listed(paths))
    keep_inputs(output, [*names, *([] if mask is None else [mask])])
    height, width = (0, 0) if shape is None else shape
    found = pixel_write_mask(names, os.fsencode(output), b"" if mask is None else os.fsencode(mask), height, width)
    return dict(zip(("pixels", "hits", "masked", "judged", "x", "y"), found))


class Stream:
    """Clusters in space and time of pixels that never end: pixels are pushed as they come, nearly in the order of time.

    >>> stream = Stream(shape=(256, 256), time_window=64)
    >>> closed = stream.push(x, y, time, charge)      # arrays; Columns of the clusters that nothing can join any more
    >>> rest = stream.finish()

    ``time_window`` and ``disorder`` (how late a pixel may come) are in ticks. ``shape``: (height, width); pixels outside are left
    out and counted. ``max_open``: pixels that can be waiting, some 200 bytes each; where more are, the oldest clusters are closed
    early. Clusters do not depend on how the stream is cut into pushes. One thread at a time; the interpreter's lock is released.

    With ``members`` the attribute ``members`` has, after each push and finish, the pixels of the clusters that it gave, an event for each,
    in the order of time: ``x``, ``y``, ``charge``, ``time``, ``pixel`` (its number in the stream, from 0).
    """

    members: Columns | None = None

    def __init__(
        self,
        *,
        shape: tuple[int, int] = (256, 256),
        connectivity: int = 8,
        radius: int | None = None,
        time_window: int = 64,
        disorder: int = 4096,
        max_open: int = 1 << 20,
        features: Features = None,
        members: bool = False,
    ) -> None:
        choices = _choices(connectivity, radius, "sum", features, "auto", shape)
        self._stream = pixel_stream_open(*choices, time_window, disorder, max_open, members)

    def _take(self, given: Columns | tuple[Columns, Columns]) -> Columns:
        if isinstance(given, tuple):
            given, self.members = given
        return given

    def push(self, x: Any, y: Any, time: Any, charge: Any = None) -> Columns:
        """Takes n pixels, (n,) integers each (``time`` in ticks, ``charge`` in all pushes or in none), and gives the clusters that
        they closed, in the order of their first pixel's time: columns of size, box, centroid, mass, weighted and times by
        default, all in one event. Nothing that was given is changed by a later push."""
        return self._take(pixel_stream_push(self._stream, x, y, time, charge))

    def finish(self) -> Columns:
        """The end: the clusters that are still open. After it the stream is as it was opened, but for its counts."""
        return self._take(pixel_stream_finish(self._stream))

    @property
    def counts(self) -> dict[str, int]:
        """Since it was opened: pixels, clusters; and of what was left out or done early: outside, late (older than ``disorder``
        allows), outliers (times in the future), early (closed as too many pixels were waiting), resets (the clock was set back)."""
        return pixel_stream_counts(self._stream)
