# SPDX-License-Identifier: Apache-2.0
"""Seeded generators: images, lists of pixels, and detectors' events with their truth.

The same seed gives the same bytes, on every machine, and the same as ``sluice simulate`` writes; event k does not depend on how many
there are. A setting that is None has the library's default, which include/sluice/sim.h, sim_cms.h and sim_pet.h tell. Settings out of
range are a ``UsageError``, a file that cannot be written is a ``FileError``. The interpreter's lock is released meanwhile, and Ctrl-C
ends between two events (of a scanner: between about a million frames); a file that was begun then does not appear.

    truth = sluice.sim.velo(200, "run.mdf", seed=7)
    truth.particles["pid"], truth.vertices["z_mm"]
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ._core import Columns, UsageError, pet_scanner, sim_cms, sim_hlt1, sim_image, sim_pet, sim_pixels, sim_stream, sim_velo

if TYPE_CHECKING:
    from ._core import Array
    from .pet import Scanner

__all__ = ["CROWDED_TRACKS", "CmsTruth", "Hlt1Truth", "PetFrames", "VeloTruth", "cms", "hlt1", "image", "pet", "pixels", "stream", "velo"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

#: Tracks of ``cms`` that make about 175 000 digis in an event, as crowded ones have: the command's ``--crowded``.
CROWDED_TRACKS = 10500.0


class VeloTruth(NamedTuple):
    """What is true of events of the VELO, an event of each ``Columns`` for each of them."""

    particles: Columns
    #: Channel ids of the particles' hits: those of particle i are from ``id_begin[i]``, ``n_ids[i]`` of them.
    ids: Columns
    vertices: Columns


class Hlt1Truth(NamedTuple):
    """What is true of events of LHCb's first trigger level, an event of each ``Columns`` for each of them."""

    particles: Columns
    #: Channel ids of the particles' hits in the VELO: those of particle i are from ``id_begin[i]``, ``n_ids[i]`` of them.
    ids: Columns
    vertices: Columns
    #: Where in ``ut`` and ``scifi`` those of particle i are: from ``ut_begin[i]``, ``n_ut[i]`` of them, and likewise.
    lists: Columns
    ut: Columns
    scifi: Columns


class CmsTruth(NamedTuple):
    """What a right decoder finds in events of CMS's pixel detector, and the tracks that made it."""

    digis: Columns
    crossings: Columns
    #: What a right decoder complains of: a count by name.
    faults: dict[str, int]


class PetFrames(NamedTuple):
    """A measurement: its frames in the order of arrival, and where each is from."""

    #: uint8, shape (frames, 16), read-only: frames as they are sent. ``frames.tofile(path)`` makes a file of frames alone.
    frames: Array
    #: A row for each frame: ``time_ps``, ``event`` (2^64 - 1: background), ``crystal``, ``scattered`` (times, in the object), ``shared``
    #: (1: energy in several crystals), ``photon`` (0 background, 1 and 2 of the annihilation, 3 a prompt gamma), ``x_mm``, ``y_mm``,
    #: ``z_mm`` of the annihilation (or decay), ``left_kev`` before resolution. None if not asked for.
    truth: Columns | None


def _whole(name: str, value: int, least: int = 0) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} is to be an integer, not {type(value)}") from None
    if not least <= number < 1 << 63:
        raise UsageError(f"{name} is to be from {least} to 2**63 - 1, not {value}")
    return number


def _shape(shape: tuple[int, int]) -> dict[str, Any]:
    rows, columns = shape
    return {"height": _whole("shape", rows, 1), "width": _whole("shape", columns, 1)}


def image(
    shape: tuple[int, int] = (2048, 2048),
    *,
    density: float | None = None,
    granularity: int | None = None,
    seed: int | None = None,
    value: int = 1,
) -> Array:
    """A random image to label, uint8 of this shape (rows, columns), 0 and ``value``.

    Squares of ``granularity`` x ``granularity`` pixels (1), each of which is foreground with the probability ``density``, 0 to 1
    (0.45). The numbers are those of the Mersenne twister; the same for every density. The command writes the value 255.
    """
    if not 1 <= _whole("value", value) <= 255:
        raise UsageError(f"value is to be from 1 to 255, not {value}")
    made: Array = sim_image({**_shape(shape), "density": density, "granularity": granularity, "seed": seed}, value)
    return made


def pixels(
    images: int = 1,
    shape: tuple[int, int] = (256, 768),
    *,
    density: float | None = None,
    granularity: int | None = None,
    shuffled: bool = False,
    time: bool = False,
    first: int = 0,
    seed: int | None = None,
) -> Columns:
    """The pixels of nearly empty images, an event each: ``x``, ``y``, ``charge`` (1 to 255) and, if asked for, ``time`` (0 to 4095).

    Images are as ``image`` draws them, of this shape (rows, columns), with the ``density`` 0.01 and seeds of their own; ``first`` is
    the number of the first. ``shuffled``: pixels of an image in random order, not in raster order.
    """
    settings = {**_shape(shape), "images": images, "density": density, "granularity": granularity}
    return sim_pixels({**settings, "shuffled": shuffled, "first": first, "seed": seed}, time)


def stream(
    n: int,
    shape: tuple[int, int] = (256, 256),
    *,
    rate: float = 10.0,
    cluster_size: float | None = None,
    spread: int | None = None,
    seed: int | None = None,
) -> Columns:
    """``n`` pixels of a chip without frames, one event: ``x``, ``y``, ``charge``, ``time`` in ticks of 1.5625 ns.

    Clusters of ``cluster_size`` pixels on average (1 to 16; 4) at random places and times, ``rate`` pixels a microsecond. A pixel is
    at most ``spread`` ticks (16) before the latest.
    """
    if not rate > 0:
        raise UsageError(f"rate is to be above 0, not {rate}")
    ticks = 640 * (4.0 if cluster_size is None else cluster_size) / rate
    settings = {**_shape(shape), "cluster_size": cluster_size, "cluster_ticks": ticks, "spread": spread, "seed": seed}
    return sim_stream(settings, _whole("n", n))


def velo(
    events: int,
    output: Path | None = None,
    *,
    seed: int | None = None,
    vertices: float | None = None,
    gas: float | None = None,
    scattering: bool = True,
    noise: float | None = None,
    dead: float | None = None,
    inefficiency: float | None = None,
    beam: tuple[float, float] | None = None,
    geometry: Path | None = None,
    compress: bool = False,
    truth: bool = True,
) -> VeloTruth | None:
    """Proton-proton collisions in LHCb's upgraded VELO: raw events into a file (MDF), the truth as columns.

    ``vertices``: mean number of visible collisions in an event; ``gas``: the same of collisions with gas at z from -541 to -341 mm;
    ``noise``: mean number of noise pixels in an event; ``dead``: fraction of dead pixels; ``inefficiency``: probability that a
    crossing of a sensor leaves nothing; ``beam``: x and y in mm of the beam, the detector stays; ``geometry``: velo_geometry.bin, or
    moves as JSON. The truth is in the file, too. Without ``truth`` the result is None, and memory does not grow with the events.
    """
    settings: dict[str, Any] = {"seed": seed, "vertices": vertices, "gas": gas, "scattering": scattering, "noise": noise}
    settings.update(dead=dead, inefficiency=inefficiency)
    if beam is not None:
        settings["beam_x_mm"], settings["beam_y_mm"] = beam
    _anything(output, truth)
    made = sim_velo(settings, _whole("events", events), output, geometry, compress, truth)
    return None if made is None else VeloTruth(*made)


def hlt1(
    events: int,
    output: Path | None = None,
    *,
    geometry: Path,
    seed: int | None = None,
    first: int = 0,
    vertices: float | None = None,
    scattering: bool = True,
    beauty: float | None = None,
    charm: float | None = None,
    strange: float | None = None,
    jpsi: float | None = None,
    secondaries: float | None = None,
    ut_inefficiency: float | None = None,
    scifi_inefficiency: float | None = None,
    muon_inefficiency: float | None = None,
    ut_noise: float | None = None,
    scifi_noise: float | None = None,
    compress: bool = False,
    truth: bool = True,
) -> Hlt1Truth | None:
    """Collisions in LHCb's VELO, UT, SciFi and muon stations: raw events into a file (MDF), the truth as columns.

    ``geometry``: the folder of LHCb's geometry and tables; ``first``: number of the first event; ``vertices``: mean number of
    visible collisions in an event; ``beauty``, ``charm``, ``jpsi``: fractions of collisions with a pair of such hadrons, with a J/psi
    that decays to two muons; ``strange``: strange hadrons in a collision; ``secondaries``: how much comes of beam pipe, magnet, detectors
    and cavern; inefficiencies of a layer that is crossed; clusters that no particle made, per cluster. Without ``truth`` the result is
    None, and memory does not grow with the events.
    """
    settings: dict[str, Any] = {"seed": seed, "vertices": vertices, "scattering": scattering, "beauty": beauty, "charm": charm}
    settings.update(strange=strange, jpsi=jpsi, secondaries=secondaries, ut_noise=ut_noise, scifi_noise=scifi_noise)
    settings.update(ut_inefficiency=ut_inefficiency, scifi_inefficiency=scifi_inefficiency, muon_inefficiency=muon_inefficiency)
    _anything(output, truth)
    made = sim_hlt1(settings, _whole("events", events), _whole("first", first), geometry, output, compress, truth)
    return None if made is None else Hlt1Truth(*made)


def cms(
    events: int,
    output: Path | None = None,
    *,
    cabling: Path | None = None,
    gains: Path | None = None,
    seed: int | None = None,
    tracks: float | None = None,
    noise: float | None = None,
    duplicates: float | None = None,
    dead: float | None = None,
    noisy: float | None = None,
    bad_rocs: float | None = None,
    corrupt: float | None = None,
    shuffle: bool = False,
    truth: bool = True,
) -> CmsTruth | None:
    """Tracks through CMS's pixel detector: raw events into a file, with the files of cabling and gains that belong to them.

    ``tracks``: mean number through the first layer in an event (``CROWDED_TRACKS`` for crowded events); ``noise``: mean number of
    noise digis; ``duplicates``: fraction of digis that are sent twice; ``dead``, ``noisy``: fractions of columns, marked in the gains;
    ``bad_rocs``: of chips, marked in the cabling; ``corrupt``: of words and fragments, damaged in every way in turn; ``shuffle``:
    fragments and links in random order. Without ``truth`` the result is None, and memory does not grow with the events.
    """
    settings = {"seed": seed, "tracks": tracks, "noise": noise, "duplicates": duplicates, "dead": dead, "noisy": noisy}
    settings.update(bad_rocs=bad_rocs, corrupt=corrupt, shuffle=shuffle)
    _anything(output if output is not None else cabling if cabling is not None else gains, truth)
    made = sim_cms(settings, _whole("events", events), output, cabling, gains, truth)
    return None if made is None else CmsTruth(*made)


def pet(
    seconds: float,
    *,
    scanner: Scanner | str | Path = "mouse20",
    activity: float | None = None,
    sources: Iterable[tuple[float, float, float, float, float, float]] | None = None,
    seed: int | None = None,
    rate: float | None = None,
    efficiency: float | None = None,
    scatter: float | None = None,
    time_sigma_ps: float | None = None,
    resolution: float | None = None,
    dead_time_ns: float | None = None,
    lso_hz: float | None = None,
    threshold_kev: float | None = None,
    ticks: tuple[int, int] | None = None,
    tick_bits: int | None = None,
    packet: int | None = None,
    packet_delay_us: float | None = None,
    packet_wait_us: float | None = None,
    flood_side: int | None = None,
    flood_sigma: float | None = None,
    gain_spread: float | None = None,
    offset_sigma_ps: float | None = None,
    efficiency_spread: float | None = None,
    fast: bool = False,
    pair_share: float | None = None,
    isotope: str | None = None,
    noncollinearity_deg: float | None = None,
    phantoms: Iterable[tuple[float, float, float, float, float, float]] | None = None,
    crystal: str | None = None,
    each_crystal: bool = False,
    tables: Path | None = None,
    truth: bool = True,
) -> PetFrames:
    """A measurement of so many seconds by a PET scanner, all frames in memory (16 bytes each, and 39 of truth).

    ``scanner`` is a name, words ("channels=10,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm"), a table of crystals (FILE.csv), the
    scanner of tables (FILE.h5), or a ``sluice.pet.Scanner``. ``sources``: x, y, z of the middle,
    radius and length of a cylinder along z (both 0: a point), in mm, and activity in Bq, of up to 16; without them a point of
    ``activity`` Bq in the middle (1 MBq). ``rate``: singles a second in all, to which the activities are scaled. A tick of the frames'
    clock is ``ticks[0] / ticks[1]`` ps, and it has ``tick_bits``. ``tables``: a file for the tables that the frames convert with.

    ``isotope``: "F-18", "Ga-68" or "I-124", with positron range in water and prompt gammas; activities are then decays. ``phantoms``: x,
    y, z of the middle, radius and length of cylinders along z in mm, and interactions per mm at 511 keV (0.0096 of water): photons
    scatter there; ``scatter`` is for a measurement without. ``noncollinearity_deg``: full width at half maximum of the angle of the two
    photons; 0.5 with an isotope. ``crystal``: "LSO", "BGO", "GSO" or "MU,SHARE": photons interact in its depth, scatter to others and
    escape; ``each_crystal``: a frame for each that has light, not for each block.

    All else is named as in ``sluice simulate pet --help``. ``truth=False`` leaves the truth out. The raw file that the command writes
    around the frames says when it was written, and is the command's alone; ``--bare`` is these bytes.
    """
    if not seconds >= 0:
        raise UsageError(f"seconds is to be 0 or more, not {seconds}")
    if sources is not None and activity is not None:
        raise UsageError("activity is of the point in the middle: each of sources has its own")
    inside = [] if phantoms is None else list(phantoms)
    if inside and scatter is not None:
        raise UsageError("scatter is of a measurement without phantoms, which scatter themselves")
    given = [(0.0, 0.0, 0.0, 0.0, 0.0, 1e6 if activity is None else activity)] if sources is None else list(sources)
    settings: dict[str, Any] = {"seed": seed, "rate": rate, "efficiency": efficiency, "scatter": scatter, "time_sigma_ps": time_sigma_ps}
    settings.update(resolution=resolution, dead_time_ns=dead_time_ns, lso_hz=lso_hz, threshold_kev=threshold_kev)
    settings.update(tick_bits=tick_bits, packet=packet, packet_delay_us=packet_delay_us, packet_wait_us=packet_wait_us)
    settings.update(flood_side=flood_side, flood_sigma=flood_sigma, gain_spread=gain_spread, offset_sigma_ps=offset_sigma_ps)
    settings.update(efficiency_spread=efficiency_spread, fast=fast, pair_share=pair_share, isotope=isotope)
    settings.update(noncollinearity_deg=noncollinearity_deg, crystal=crystal, each_crystal=each_crystal)
    if ticks is not None:
        settings["tick_numerator"], settings["tick_denominator"] = ticks
    geometry = scanner.geometry if not isinstance(scanner, (str, bytes, os.PathLike)) else pet_scanner(scanner)
    frames, columns = sim_pet(settings, seconds, geometry, given, inside, tables, truth)
    return PetFrames(frames["bytes"].reshape(-1, 16), columns)


def _anything(output: Path | None, truth: bool) -> None:
    if output is None and not truth:
        raise UsageError("without an output and without truth there is nothing to make")
