# SPDX-License-Identifier: Apache-2.0
"""LHCb's vertex detector: files of raw events (MDF, MEP) or of hits (JSON) to tracks and vertices.

    with sluice.velo.open("run.mdf") as reader:
        for batch in reader:
            print(batch.tracks.n_rows, batch.beam.x_mm.mean())

A batch has ``hits``, ``tracks``, ``track_hits``, ``beam`` and ``end`` (the tracks' states at the beam line and downstream),
``primaries``, and on request ``impacts`` and ``events`` (run, event, bunch crossing …). Lengths are in mm.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from ._core import Reader, UsageError, velo_open, velo_settings
from ._flow import OnFault, Path, Paths, Progress, common

if TYPE_CHECKING:
    from ._core import VeloBatch

__all__ = ["open", "settings"]

Config = Union[Path, Mapping[str, Any]]


class _Settings:
    """The name of a file with the settings: the caller's, or one made of a mapping."""

    def __init__(self, config: Config | None) -> None:
        self._config = config
        self._file: str | None = None

    def __enter__(self) -> Path | None:
        if not isinstance(self._config, Mapping):
            return self._config
        with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="settings-", delete=False) as file:
            self._file = file.name
            json.dump(self._config, file)
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.unlink(self._file)


def settings(config: Config | None = None, *, preset: str | None = None) -> dict[str, Any]:
    """All settings that are in force: those of the preset ("standard", "fast", "open", "smog2", "upgrade2"), changed by ``config``,
    a JSON file or a mapping of some of them. What comes out is taken as ``config`` again. docs/formats/velo-config.md tells each."""
    with _Settings(config) as file:
        made: dict[str, Any] = json.loads(velo_settings(file, preset))
    return made


def open(
    paths: Paths,
    *,
    config: Config | None = None,
    preset: str | None = None,
    geometry: Path | None = None,
    beam: tuple[float, float] | None = None,
    batch: int = 64,
    threads: int = 1,
    identity: bool = False,
    impacts: bool = False,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[VeloBatch]:
    """A reader of batches of up to ``batch`` events, in the order of the inputs.

    ``geometry`` is LHCb's velo_geometry.bin (without it the ideal detector), ``beam`` x and y of the beam line in mm (without it
    0, 0), ``threads`` the number of workers (0: one for each processor). Results depend on neither threads nor batches.
    Damage costs the smallest unit that it hits; at the end of each input a ``DamageWarning`` tells what was lost, unless
    ``on_fault`` is "ignore"; with "raise" the first fault is a ``StrictError``. An input that cannot be read is a ``FileError`` or
    ``FormatError``, after which the reader goes on with the next one. ``progress`` is called with the number of events so far
    after each batch; ``True`` shows a bar of tqdm.
    """
    where = None if beam is None else tuple(float(one) for one in beam)
    if where is not None and len(where) != 2:
        raise UsageError(f"beam is to be x and y in mm, not {len(where)} numbers")
    with _Settings(config) as file:
        all_chains = common(paths, batch, threads, on_fault, progress)
        return velo_open(all_chains, file, preset, geometry, where, identity, impacts)
