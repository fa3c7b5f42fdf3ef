# SPDX-License-Identifier: Apache-2.0
"""Events of the VELO: hits, tracks and vertices in projections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import UsageError
from .plot_axes import BLUE, GREEN, GREY, ORANGE, RED, Axes, axes_of, matplotlib, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Event = Mapping[str, NDArray[Any]]

VIEWS = ("zx", "zy", "zr", "xy")
#: The detector along z, in mm.
Z_LOW, Z_HIGH = -310.0, 770.0
LABELS = {"z": "z [mm]", "x": "x [mm]", "y": "y [mm]", "r": "r, sign of x [mm]"}


class _Projection:
    """A view, and the beam line that r is measured from."""

    def __init__(self, view: str, beam: tuple[float, float]) -> None:
        self.view = one_of(view, VIEWS, "view")
        self.beam = beam

    def along(self, axis: str, x: Any, y: Any, z: Any) -> Any:
        import numpy as np

        if axis == "r":
            return np.copysign(np.hypot(x - self.beam[0], y - self.beam[1]), x - self.beam[0])
        return {"x": x, "y": y, "z": z}[axis]

    def __call__(self, x: Any, y: Any, z: Any) -> tuple[Any, Any]:
        return self.along(self.view[0], x, y, z), self.along(self.view[1], x, y, z)


def _rows(batch: Any, collection: str, event: int) -> Event | None:
    """One event's rows of a collection; None if the batch has no such collection."""
    columns = getattr(batch, collection, None)
    if columns is None:
        return None
    if not 0 <= event < columns.n_events:
        raise UsageError(f"event is to be from 0 to {columns.n_events - 1}, not {event}")
    rows: Event = columns.event(event)
    return rows


def _points_of_track(hits: Event, chosen: NDArray[Any], beam: Event | None, track: int, limits: tuple[float, float]) -> NDArray[Any]:
    """A track from hit to hit, and on to where it is closest to the beam line as far as the frame goes: (n, 3) x, y, z."""
    import numpy as np

    points: NDArray[Any] = np.stack([hits["x_mm"][chosen], hits["y_mm"][chosen], hits["z_mm"][chosen]], -1).astype(float)
    if beam is None or len(points) == 0:
        return points
    # Hits are by falling z: the end that is far from the beam line comes first.
    if beam["backward"][track]:
        points = points[::-1]
    end = np.array([beam["x_mm"][track], beam["y_mm"][track], beam["z_mm"][track]], float)
    last = points[-1]
    if not np.isfinite(end).all():
        return points
    edge = min(max(end[2], limits[0]), limits[1])
    part = 1.0 if edge == end[2] or end[2] == last[2] else (edge - last[2]) / (end[2] - last[2])
    # Six steps, as a straight line is a curve in r and z.
    way = last + part * np.linspace(1 / 6, 1, 6)[:, None] * (end - last)
    points = np.concatenate([points, way])
    return points


def _in_view(project: _Projection, points: NDArray[Any]) -> list[NDArray[Any]]:
    """The line of a track in a view; in r it is cut where it changes sides."""
    import numpy as np

    across, up = project(points[:, 0], points[:, 1], points[:, 2])
    line = np.stack([across, up], -1)
    if project.view[1] != "r":
        return [line]
    return list(np.split(line, np.flatnonzero(np.diff(np.signbit(up))) + 1))


def _kinds(matches: Event | None, tracks: int) -> NDArray[np.int8]:
    """By truth: 0 for a track that is the first of its particle, 1 for a clone, 2 for a ghost; 0 without truth."""
    import numpy as np

    kinds = np.zeros(tracks, np.int8)
    if matches is None:
        return kinds
    particle = np.asarray(matches["particle"])
    first = np.zeros(tracks, bool)
    first[np.unique(particle, return_index=True)[1]] = True
    kinds[~first] = 1
    kinds[particle < 0] = 2
    return kinds


KINDS = (("tracks", "matched tracks", BLUE, 0.8), ("clones", "clones", ORANGE, 1.6), ("ghosts", "ghosts", RED, 1.6))


def _draw_tracks(ax: Axes, lines: list[list[NDArray[Any]]], kinds: NDArray[Any], truth: bool) -> None:
    collections = matplotlib("collections")
    for kind, (plain, matched, colour, width) in enumerate(KINDS):
        chosen = [line for track, line in enumerate(lines) if kinds[track] == kind]
        if chosen:
            label = f"{matched if truth else plain}: {len(chosen)}"
            drawn = collections.LineCollection(
                [part for line in chosen for part in line], colors=colour, linewidths=width if len(lines) < 600 else width / 2,
                alpha=0.75, label=label, zorder=2 + kind,
            )  # fmt: skip
            ax.add_collection(drawn)


def velo_event(
    batch: Any,
    event: int = 0,
    *,
    view: str = "zx",
    ax: Axes | None = None,
    beam: tuple[float, float] = (0.0, 0.0),
    tracks: bool = True,
    vertices: bool = True,
    legend: bool = True,
) -> Axes:
    """One event: its hits, its tracks from hit to hit and on to the point closest to the beam line, its vertices as diamonds.

    ``batch``: what :func:`sluice.velo.open` yields or :func:`sluice.velo.reconstruct` gives, or anything with the collections ``hits``,
    ``tracks``, ``track_hits``, ``beam``, ``primaries`` of it (those that are not there are not drawn); with ``matches`` (truth) tracks are
    matched ones, clones and ghosts. ``event``: counts from 0 in the batch. ``view``: "zx", "zy", "zr" (r from the ``beam`` line, in mm,
    with the sign of x, so that either half of the detector has its side) or "xy". Axes in mm. UsageError: no such event or view.
    """
    import numpy as np

    project = _Projection(view, beam)
    hits = _rows(batch, "hits", event)
    if hits is None:
        raise UsageError("batch has no hits to draw")
    ax = axes_of(ax, *((5.6, 5.4) if view == "xy" else (10.0, 4.6)))
    x, y, z = (np.asarray(hits[name], float) for name in ("x_mm", "y_mm", "z_mm"))
    limits = (min(Z_LOW, z.min(initial=Z_LOW) - 20), max(Z_HIGH, z.max(initial=Z_HIGH) + 20))
    used = np.zeros(len(x), bool)
    found, of_track = (_rows(batch, name, event) if tracks else None for name in ("tracks", "track_hits"))
    if found is not None and of_track is not None:
        closest, matches = _rows(batch, "beam", event), _rows(batch, "matches", event)
        lines = []
        for track, (begin, n) in enumerate(zip(found["hit_begin"].tolist(), found["n_hits"].tolist(), strict=True)):
            chosen = of_track["hit"][begin : begin + n]
            used[chosen] = True
            lines.append(_in_view(project, _points_of_track(hits, chosen, closest, track, limits)))
        _draw_tracks(ax, lines, _kinds(matches, len(lines)), matches is not None)
    across, up = project(x, y, z)
    dot = {"linestyle": "none", "marker": "o", "markeredgewidth": 0}
    both = found is not None
    ax.plot(across[~used], up[~used], color=GREY, markersize=2.6, zorder=1, label=f"{'other hits' if both else 'hits'}: {(~used).sum()}", **dot)
    if both:
        ax.plot(across[used], up[used], color="black", markersize=2.2, zorder=5, label=f"hits on tracks: {used.sum()}", **dot)
    primaries = _rows(batch, "primaries", event) if vertices else None
    if primaries is not None:
        at = project(*(np.asarray(primaries[name], float) for name in ("x_mm", "y_mm", "z_mm")))
        if view == "zr":
            at = (at[0], np.zeros_like(at[0]))
        ax.plot(*at, "D", color=GREEN, markeredgecolor="white", markersize=7, zorder=6, label=f"vertices: {len(at[0])}")
    reach = 1.05 * max(10.0, float(np.hypot(x, y).max(initial=0)))
    ax.set(xlabel=LABELS[view[0]], ylabel=LABELS[view[1]], ylim=(-reach, reach), xlim=(-reach, reach) if view == "xy" else limits)
    if view == "xy":
        ax.set_aspect("equal")
    if legend:
        ax.legend(loc="upper right", fontsize="x-small", framealpha=0.85)
    return ax


def velo_vertices(batch: Any, event: int = 0, *, view: str = "zx", ax: Axes | None = None) -> Axes:
    """The region of an event's vertices, enlarged: fitted tracks as straight lines from their points closest to the beam line on, vertices
    as diamonds with bars of one standard deviation.

    ``batch`` (with ``beam`` and ``primaries``) and ``event`` as for :func:`velo_event`; ``view``: "zx" or "zy". Axes in mm; z is squeezed.
    UsageError: no such event or view, or no collection of that name.
    """
    import numpy as np

    one_of(view, ("zx", "zy"), "view")
    states, primaries = _rows(batch, "beam", event), _rows(batch, "primaries", event)
    if states is None or primaries is None:
        raise UsageError("batch is to have beam and primaries")
    ax = axes_of(ax, 10.0, 4.0)
    axis = view[1]
    z = np.asarray(primaries["z_mm"], float)
    low, high = (z.min(), z.max()) if len(z) else (-100.0, 100.0)
    margin = max(6.0, 0.08 * (high - low))
    low, high = low - margin, high + margin
    at, start, slope = (np.asarray(states[name], float) for name in ("z_mm", f"{axis}_mm", f"t{axis}"))
    forward = np.where(np.asarray(states["backward"]) != 0, -1.0, 1.0)
    steps = np.stack([-0.004 * (high - low) * forward, 0.1 * (high - low) * forward], -1)
    lines = np.stack([at[:, None] + steps, start[:, None] + slope[:, None] * steps], -1)
    near = (at > low) & (at < high)
    drawn = matplotlib("collections").LineCollection(lines[near], colors=BLUE, linewidths=0.8, alpha=0.7, label=f"tracks: {near.sum()}")
    ax.add_collection(drawn)
    sigma = np.sqrt(np.asarray(primaries[f"cov_{axis * 2}_mm2"], float))
    ax.errorbar(
        z, primaries[f"{axis}_mm"], yerr=sigma, xerr=np.sqrt(np.asarray(primaries["cov_zz_mm2"], float)), fmt="D", color=GREEN,
        markeredgecolor="white", markersize=7, zorder=6, label=f"vertices: {len(z)}",
    )  # fmt: skip
    ax.set(xlabel="z [mm]", ylabel=LABELS[axis], xlim=(low, high), ylim=(-2, 2))
    ax.legend(loc="upper right", fontsize="x-small", framealpha=0.85)
    return ax
