# SPDX-License-Identifier: Apache-2.0
"""A scanner's tables from measured frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import FormatError, UsageError
from ._reading import FrameReader, OnFault, Paths, format_words, paths_of
from ._run import Chain
from ._scanner import Array, Path, Rows, Scanner, Tables, count, frames, number, pair_buffers, scanner_of, tables_of, warn_lost, word

_ROUNDS, _PAIRS_OF_CRYSTAL, _MOST_PAIRS, _AT_ONCE = 500, 500, 1 << 25, 1 << 18


class Grid(NamedTuple):
    """Where a block's crystals are in its flood map, ``sure`` unless it is the plain grid, the map's ``counts``, and how well apart they
    are (``contrast``, 0 to 1)."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    sure: bool
    counts: int
    contrast: float


class Calibration:
    """The steps from frames to tables: ``add_flood`` for all frames and ``position()``; ``add_spectrum`` for all frames and ``gain()``;
    ``time(pairs)``. ``calibrate`` does all of them.

    ``position_side``: of the flood maps; ``peak_kev``: of the photopeak; ``flood_counts``: a block needs so many for each of its crystals,
    ``spectrum_counts``: a crystal for a fit."""

    def __init__(
        self,
        scanner: Scanner | Tables | str | Path,
        *,
        position_side: int = 256,
        spectrum_bins: int = 256,
        spectrum_bin: int = 0,
        peak_kev: float = 511.0,
        flood_counts: int = 25,
        spectrum_counts: int = 100,
    ) -> None:
        self.scanner = scanner_of(scanner)
        self.position_side = count(position_side, "position_side", 1, 256)
        self._calibration = _core.pet_calibrate_open(
            self.scanner.geometry,
            self.position_side,
            count(spectrum_bins, "spectrum_bins", 16, 65536),
            count(spectrum_bin, "spectrum_bin", 0, 65536),
            number(peak_kev, "peak_kev", 1, 100000),
            count(flood_counts, "flood_counts", 0, 1 << 31),
            count(spectrum_counts, "spectrum_counts", 0, 1 << 31),
        )

    def add_flood(self, data: Any) -> None:
        """Frames to the flood maps."""
        _core.pet_calibrate_add(self._calibration, frames(data).view(np.uint8), None)

    def position(self) -> tuple[NDArray[np.uint16], int]:
        """The position table (n_modules, n_units, side, side) of the flood maps, and how many blocks have no grid of peaks but a plain
        one."""
        data, unsure = _core.pet_calibrate_position(self._calibration)
        shape = (self.scanner.n_modules, self.scanner.n_units, self.position_side, self.position_side)
        return np.frombuffer(data, np.uint16).reshape(shape), unsure

    def grid(self, module: int, unit: int) -> Grid | None:
        """What ``position`` found in a block; None before it."""
        told = _core.pet_calibrate_grid(self._calibration, count(module, "module", 0, 255), count(unit, "unit", 0, 255))
        if told is None:
            return None
        return Grid(np.frombuffer(told[0], np.float32), np.frombuffer(told[1], np.float32), *told[2:])

    def add_spectrum(self, data: Any, tables: Tables) -> None:
        """Frames to the spectra of the crystals that ``tables`` gives them to."""
        _core.pet_calibrate_add(self._calibration, frames(data).view(np.uint8), tables.packed)

    def gain(self) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """keV a unit by crystal, the photopeak's resolution (FWHM over the peak, 0 if there is none), and how many crystals have none."""
        gain, resolution, unsure = _core.pet_calibrate_gain(self._calibration)
        return np.frombuffer(gain, np.float32), np.frombuffer(resolution, np.float32), unsure

    def time(self, pairs: Rows, *, rounds: int = _ROUNDS) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """Time offsets by crystal, in ps, from prompt pairs of a phantom in the middle; and the fit: pairs ``used`` and ``left_out``,
        crystals without a pair (``unsure``), widths of differences ``before_ps`` and ``after_ps``."""
        data, fit = _core.pet_calibrate_time(self._calibration, pair_buffers(pairs), count(rounds, "rounds", 1, 1 << 20))
        return np.frombuffer(data, np.int32), fit

    @property
    def energy_fwhm(self) -> float:
        """The resolution of energies at 511 keV (FWHM, as a share), the median of crystals with a peak; 0 before ``gain``."""
        return _core.pet_calibrate_energy_fwhm(self._calibration)

    def time_fwhm(
        self, pairs: Rows, source: str | tuple[float, float, float], *, time_offset_ps: Array | None = None, fitted: bool = False
    ) -> dict[str, Any]:
        """The resolution of times by pairs through a known source, a cylinder in the words of ``normalise`` or a point (x, y, z) in mm,
        without what flights and the source's size add: ``fwhm_ps`` and ``error_ps``, the ``pairs`` that took part, those ``outside``, and
        what part of them is random; ``through``, the part of all whose line passes through the source, ``meet_mm`` where lines seem to meet,
        ``through_there`` the part if the source were there, and whether it is therefore ``misplaced``, which is warned of. ``time_offset_ps`` is added to the pairs' times; ``fitted``: ``time`` has found it of these pairs."""
        offsets = None if time_offset_ps is None else np.require(time_offset_ps, np.int32, ("C_CONTIGUOUS",)).view(np.uint8)
        place = source if isinstance(source, str) else tuple(float(one) for one in source)
        made: dict[str, Any] = _core.pet_calibrate_time_fwhm(self._calibration, pair_buffers(pairs), place, offsets, bool(fitted))
        if made["misplaced"]:
            meet = ", ".join(f"{one:.1f}" for one in made["meet_mm"])
            warn_lost(f"the lines of {100 * (1 - made['through']):.0f} % of the pairs miss the source; they seem to meet at ({meet}) mm", "warn")
        return made

    @property
    def counts(self) -> dict[str, int]:
        """Frames in maps (``flood``) and not (``flood_outside``), in spectra and not, and ``beyond`` the last bin."""
        made: dict[str, int] = _core.pet_calibrate_counts(self._calibration)[0]
        return made

    @property
    def doubts(self) -> list[str]:
        """Is it this scanner? Rows of crystals with too few counts, or too many."""
        made: list[str] = _core.pet_calibrate_counts(self._calibration)[1]
        return made

    def draw_flood(self, path: Path, position: Array) -> None:
        """A PNG of the flood maps with the crystals' borders."""
        table = np.require(position, np.uint16, ("C_CONTIGUOUS",)).reshape(-1)
        _core.pet_calibrate_draw(self._calibration, path, table.view(np.uint8), None, None)

    def draw_spectra(self, path: Path, gain: Array, resolution: Array) -> None:
        """An SVG of spectra with their fits, gains, resolutions, and times if they were fitted."""
        one, other = (np.require(each, np.float32, ("C_CONTIGUOUS",)).view(np.uint8) for each in (gain, resolution))
        _core.pet_calibrate_draw(self._calibration, path, None, one, other)


def _side(reader: FrameReader, scanner: Scanner) -> int:
    """The smallest power of two that holds all places; that of the crystals if places are crystals."""
    largest = 0
    for some in reader:
        largest = max(largest, int(some["x"].max(initial=0)), int(some["y"].max(initial=0)))
    wide = max(scanner.crystals_y, scanner.crystals_z)
    side = wide if largest < wide else 1
    while side <= largest:
        side *= 2
    return side


def calibrate(
    paths: Paths,
    scanner: Scanner | Tables | str | Path,
    *,
    series: bool = False,
    position_side: int | None = None,
    peak_kev: float = 511.0,
    time: bool = False,
    source: str | tuple[float, float, float] | None = None,
    keep: Iterable[str] = (),
    energies: tuple[float, float] = (430.0, 600.0),
    window_ns: float = 10.0,
    horizon_ns: float = 1e6,
    frame_format: Path | None = None,
    ticks: tuple[int, int] | int | None = None,
    tick_bits: int | None = None,
    threads: int = 1,
    on_fault: OnFault = "warn",
    flood_png: Path | None = None,
    spectra_svg: Path | None = None,
) -> tuple[Tables, dict[str, Any]]:
    """Tables of a measurement's frames, as ``sluice pet calibrate`` finds them: positions from flood maps (none if places are crystals),
    gains from photopeaks, and with ``time`` offsets from pairs within ``energies`` and ``window_ns``. And what was found: ``frames``,
    ``blocks_without_grid``, ``crystals_without_peak``, ``resolution`` by crystal, ``time``, ``doubts``. Files are read several times.
    ``source``: where pairs come from, a cylinder's words ("radius=40mm,length=60mm") or a point (x, y, z) in mm: the resolution of times
    is found, ``time_resolution``. ``keep``: "position", "gain", "time", "efficiency" of the tables that ``scanner`` is are kept, and not found anew."""
    given = tables_of(scanner)
    of, old = given.scanner, _kept(given, keep, scanner, time, position_side, spectra_svg)
    names = paths_of(paths, series)
    clock, bits = format_words(frame_format, names, ticks, tick_bits)

    def read(fault: OnFault, received: bool = False, side: int = 0) -> FrameReader:
        return FrameReader(names, _AT_ONCE, received, of, fault, side, series, None, frame_format)

    # What is wrong with the files is told when flood maps are made.
    if "position" in old:
        side = given.position_side
    else:
        side = _side(read("ignore"), of) if position_side is None else count(position_side, "position_side", 1, 256)
    if side < of.crystals_y or side < of.crystals_z:
        raise UsageError(f"position_side: {side} places for {of.crystals_y} x {of.crystals_z} crystals")
    plain = given.position is None if "position" in old else side == max(of.crystals_y, of.crystals_z)
    steps = Calibration(of, position_side=side, peak_kev=peak_kev)
    n = 0
    for some in read(on_fault, side=0 if plain else side):
        steps.add_flood(some)
        n += len(some)
    if n == 0:
        raise FormatError("there are no frames in the inputs")
    position, unsure = steps.position()
    kept = "position" in old
    if not plain and not kept and unsure == of.n_modules * of.n_units:
        raise FormatError(f"no grid of crystals is found in any of {unsure} blocks: are these frames of this scanner?")
    position = given.position if kept and given.position is not None else position
    found: dict[str, Any] = {"frames": n, "places_are_crystals": plain, "blocks_without_grid": 0 if plain or kept else unsure}
    words: dict[str, Any] = {"position": None if plain else position}
    if "gain" in old:
        words.update(gain=given.gain, energy=given.energy, energy_bin_kev=given.energy_bin_kev, energy_fwhm=given.energy_fwhm)
    else:
        for some in read("ignore"):
            steps.add_spectrum(some, Tables(of, **words))
        words["gain"], found["resolution"], found["crystals_without_peak"] = steps.gain()
        words["energy_fwhm"] = steps.energy_fwhm
        found["doubts"] = [] if plain else steps.doubts
        for doubt in found["doubts"]:
            warn_lost(f"{doubt}: is it this scanner?", on_fault)
    if "time" in old:
        words.update(time_offset_ps=given.time_offset_ps, time_fwhm_ps=given.time_fwhm_ps)
    if "efficiency" in old:
        words["efficiency"] = given.efficiency
        words.update(radial=given.radial, radial_mm=given.radial_mm, axial=given.axial, axial_mm=given.axial_mm)
    if time and source is not None and not isinstance(source, str):
        raise UsageError("time needs a phantom, not a point: times by a phantom first, and then keep='time' for the point")
    if time or source is not None:
        chain = Chain(
            Tables(of, **words),
            ticks=clock,
            tick_bits=bits,
            energies=energies,
            horizon_ns=horizon_ns,
            window_ns=window_ns,
            singles=False,
            in_order=False,
            threads=threads,
        )
        pairs = _some_pairs(read("ignore", bits < 64), chain, of)
        if time:
            words["time_offset_ps"], found["time"] = steps.time(pairs)
        if source is not None:  # kept offsets are in the pairs already
            width = steps.time_fwhm(pairs, source, time_offset_ps=words["time_offset_ps"] if time else None, fitted=time)
            words["time_fwhm_ps"], found["time_resolution"] = width["fwhm_ps"], width
    if flood_png is not None:
        steps.draw_flood(flood_png, position)
    if spectra_svg is not None:
        steps.draw_spectra(spectra_svg, words["gain"], found["resolution"])
    found["counts"] = steps.counts
    return Tables(of, **words), found


def _kept(
    given: Tables, keep: Iterable[str], scanner: object, time: bool, position_side: int | None, spectra_svg: object
) -> set[str]:
    names = {keep} if isinstance(keep, str) else set(keep)
    for one in names:
        word(one, "keep", ("position", "gain", "time", "efficiency"))
    if names and isinstance(scanner, Scanner):
        raise UsageError("keep needs tables: what is kept is theirs")
    for one, other, wrong in (("time", "time", time), ("position", "position_side", position_side is not None)):
        if one in names and wrong:
            raise UsageError(f"keep={one!r} and {other} exclude each other")
    if "gain" in names and spectra_svg is not None:
        raise UsageError("keep='gain' and spectra_svg exclude each other")
    return names


def _some_pairs(reader: FrameReader, chain: Chain, scanner: Scanner) -> dict[str, Array]:
    """As many pairs as times need."""
    most = min(scanner.n_crystals * _PAIRS_OF_CRYSTAL, _MOST_PAIRS)
    made: list[dict[str, Array]] = []
    n = 0
    for some in reader:
        pairs = chain.push(some, received_ns=reader.received_ns).pairs
        made.append(pairs.to_numpy())
        n += pairs.n_rows
        if n >= most:
            break
    else:
        made.append(chain.finish().pairs.to_numpy())
    return {name: np.concatenate([one[name] for one in made]) for name in made[0]}
