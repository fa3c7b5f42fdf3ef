# SPDX-License-Identifier: Apache-2.0
"""List-mode files of pairs, files of singles, sinograms."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Columns, FormatError, UsageError
from ._scanner import (
    _COUNTS,
    _LENGTHS,
    FORMATS,
    POLICIES,
    Path,
    Rows,
    Scanner,
    Tables,
    count,
    number,
    pair_buffers,
    scanner_of,
    singles_ps,
    thread_count,
    warn_lost,
    word,
)

_COLUMNS = {"arrow": "arrow", "arrow-stream": "arrow-stream", "npy": "npy", "npz": "npz"}
_ENDS = {
    ".cdh": "castor",
    ".cdf": "castor",
    ".clm.safir": "safir",
    ".l": "siemens",
    ".l.hdr": "siemens",
    ".lmdat": "yrt",
    ".csv": "gate",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".petsird": "petsird",
    ".arrow": "arrow",
    ".arrows": "arrow-stream",
    ".npy": "npy",
    ".npz": "npz",
}
_WITHOUT_DELAYEDS = ("castor", "yrt")
_CORRECTIONS = ("attenuation", "scatter_hz", "randoms_hz", "normalisation")


def _format_by_name(path: Path) -> str:
    name = os.fsdecode(path).lower()
    for end, made in _ENDS.items():
        if name.endswith(end):
            return made
    raise UsageError(f"the end of {os.fsdecode(path)} tells no format: give one of {', '.join((*FORMATS, *_COLUMNS))}")


# ---- reading -------------------------------------------------------------------------------------


class ListReader:
    """Iterates over Columns of pairs. Also a context manager."""

    def __init__(self, path: Path, format: str | None, scanner: Scanner | None, batch: int) -> None:
        found = format if format is not None else _core.pet_list_format(path)
        if found is None:
            raise FormatError(f"{os.fsdecode(path)}: it is no list of pairs, or does not tell its format: {', '.join(FORMATS)}")
        #: "castor", "safir", "siemens", "yrt", "gate", "hdf5", "petsird"
        self.format: str = found
        place = word(found, "format", FORMATS)
        self._list: Any = _core.pet_list_open(path, place, None if scanner is None else scanner.geometry)
        self._batch = count(batch, "batch", 1, 1 << 28)
        self._open = True
        moved = _core.pet_list_about(self._list)["moved"]
        if moved:
            warn_lost(f"{os.fsdecode(path)}: {moved}", "warn")

    def __iter__(self) -> ListReader:
        return self

    def __next__(self) -> Columns:
        made = _core.pet_list_read(self._list, self._batch) if self._open else None
        if made is None:
            about = _core.pet_list_about(self._list) if self._open else None
            self._open = False
            if about is not None:
                if about["left_out"]:
                    warn_lost(f"not read: {about['left_out']}", "warn")
                if about["no_crystal"] > 0:
                    warn_lost(f"{about['no_crystal']} pairs are of crystals that the scanner does not have, and are left out", "warn")
                if about["no_tof"] > 0:
                    warn_lost(f"{about['no_tof']} pairs have a time of flight that is no number of picoseconds, and are left out", "warn")
            raise StopIteration
        return made

    @property
    def about(self) -> dict[str, Any]:
        """What the file says of its measurement, as far as its format has it: ``scanner`` (its name), ``geometry`` (a ``Scanner``), ``tof``,
        ``tof_resolution_ps``, ``window_ps``, ``duration_s``, ``start_ps``; and what has been read: ``prompts``, ``delayeds``, ``time_tags``,
        ``other`` records, of which ``no_crystal`` are pairs of crystals that the scanner does not have and ``no_tof`` of no time of flight,
        ``seconds``. Of PETSIRD: ``low_kev``, ``high_kev``, ``energy_bins``, ``efficiency`` (by crystal; None: 1), and what is
        in the file that is not read, in words: ``left_out``. ``moved``: where crystals of the scanner that was given are elsewhere than the
        file has them, in words; "": nowhere, or it does not tell.
        Of CASToR: ``scanner_file``, the .hscan that ``geometry`` is of, or why there is none, in words; ``no_modules``, whether it leaves open which
        modules crystals are of."""
        made: dict[str, Any] = _core.pet_list_about(self._list)
        if made["efficiency"] is not None:
            made["efficiency"] = np.frombuffer(made["efficiency"], np.float32)
        if made["geometry"] is not None:
            made["geometry"] = Scanner._of(made["geometry"], made["scanner"])
        return made

    @property
    def corrections(self) -> dict[str, NDArray[np.float32]]:
        """What the file has of each pair beside the columns, for the batch that was given last: factors ``attenuation`` and
        ``normalisation``, ``scatter_hz`` and ``randoms_hz`` in counts a second, as far as it has them (castor, yrt, hdf5)."""
        return {name: np.frombuffer(one, np.float32) for name, one in _core.pet_list_corrections(self._list).items()}

    def close(self) -> None:
        """Ends reading; what was given stays."""
        self._open = False

    def __enter__(self) -> ListReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_list(
    path: Path, *, format: str | None = None, scanner: Scanner | Tables | str | Path | None = None, batch: int = 1 << 18
) -> ListReader:
    """A list-mode file as batches of pairs: of CASToR (.cdh), STIR's SAFIR (.clm.safir) and Siemens (.l.hdr), YRT-PET (.lmDat), GATE (CSV),
    HDF5, PETSIRD. The format is found by the file's bytes and name, or given. What a format does not keep is 0. ``scanner``: GATE's need it; without
    it, crystals of Siemens' are bins and SAFIR's are ring * 65536 + detector."""
    return ListReader(path, format, None if scanner is None else scanner_of(scanner), batch)


def read_map(path: Path) -> tuple[NDArray[np.float32], NDArray[np.float32] | None, tuple[int, int, int]]:
    """Where crystals are, by SAFIR's crystal map or CASToR's .hscan with its .lut: positions (n, 3) in mm, orientations (n, 3) or None, and
    (rings, crystals_per_ring, layers), 0 where the file does not say."""
    rings, per_ring, layers, position, orientation = _core.pet_map_read(path)
    turned = None if orientation is None else np.frombuffer(orientation, np.float32).reshape(-1, 3)
    return np.frombuffer(position, np.float32).reshape(-1, 3), turned, (rings, per_ring, layers)


# ---- writing -------------------------------------------------------------------------------------


class ListWriter:
    """Writes pairs as a list-mode file; all its files appear when it is finished (``finish()``, or the end of a ``with``), or none does.

    ``format``: "castor", "safir", "siemens", "yrt", "gate", "hdf5", "petsird", or as columns "arrow", "arrow-stream", "npy", "npz"; None: by
    the end of the name. ``prompts``: delayeds are left out, which castor and yrt do not have. ``tof_ps``: times of flight are written, and have this
    resolution (FWHM). ``window_ns``, ``duration_s``: for headers. ``start_ps``: time 0 of the file on the pairs' clock. ``checksum``: what
    the run came to (of HDF5). ``randoms``: a ``Chain`` or ``Run`` that has ended and was opened with ``randoms``: each pair's are written, in Hz
    (castor, yrt with ``tof_ps``, columns). ``corrections``: the names of what ``write`` is given of each pair, as
    ``ListReader.corrections`` has them (castor, columns; of yrt with ``tof_ps`` ``randoms_hz``). ``rotate_bytes``, ``rotate_seconds``: another file begins, PATH.0001.h5 … (of columns). Of PETSIRD:
    ``energies``, the window in keV; ``energy_bins``, how many of it are kept; ``efficiency``, a factor for each crystal; ``policy``, what was
    made of multiples; ``delayeds=False`` says that there are none; ``singles``: the file is of singles alone (``write_singles``). Pairs come in the order of time."""

    def __init__(
        self,
        path: Path,
        scanner: Scanner | Tables | str | Path,
        *,
        format: str | None = None,
        prompts: bool = False,
        tof_ps: float | None = None,
        window_ns: float = 0.0,
        start_ps: int = 0,
        duration_s: float = 0.0,
        checksum: int | None = None,
        randoms: Any = None,
        corrections: Sequence[str] = (),
        rotate_bytes: int = 0,
        rotate_seconds: float = 0.0,
        threads: int = 1,
        energies: tuple[float, float] | None = None,
        energy_bins: int = 0,
        efficiency: Any = None,
        policy: str | None = None,
        delayeds: bool = True,
        singles: bool = False,
    ) -> None:
        of = scanner_of(scanner)
        #: The format's name.
        self.format = format if format is not None else _format_by_name(path)
        word(self.format, "format", (*FORMATS, *_COLUMNS))
        form = _COLUMNS.get(self.format)
        if (rotate_bytes or rotate_seconds) and self.format not in ("hdf5", "arrow", "arrow-stream"):
            raise UsageError(f"rotate_bytes and rotate_seconds are of hdf5 and arrow, not of {self.format}")
        if self.format != "petsird" and (energies is not None or energy_bins or efficiency is not None or policy is not None or not delayeds or singles):
            raise UsageError(f"energies, energy_bins, efficiency, policy, delayeds and singles are of petsird, not of {self.format}")
        low, high = (0.0, 0.0) if energies is None else energies
        config = (
            of.geometry,
            of.name,
            tof_ps is not None,
            0.0 if tof_ps is None else number(tof_ps, "tof_ps", 0, 1e9),
            number(window_ns, "window_ns", 0, 1e15) * 1000,
            int(start_ps),
            number(duration_s, "duration_s", 0, 1e12),
            form,
            thread_count(threads),
            count(rotate_bytes, "rotate_bytes", 0, 1 << 62),
            number(rotate_seconds, "rotate_seconds", 0, 1e9),
            number(low, "energies", 0, 1e9),
            number(high, "energies", 0, 1e9),
            count(energy_bins, "energy_bins", 0, 4096),
            None if efficiency is None else np.ascontiguousarray(efficiency, np.float32).tobytes(),
            -1 if policy is None else word(policy, "policy", POLICIES),
            bool(delayeds) and not prompts and not singles,
            bool(singles),
        )
        self._prompts = bool(prompts)
        place = FORMATS.index("hdf5") if form is not None else FORMATS.index(self.format)
        self._corrections = sorted({word(name, "corrections", _CORRECTIONS) for name in corrections})
        bits = sum(1 << place for place in self._corrections)
        capsule = None if randoms is None else randoms._capsule
        self._writer: Any = _core.pet_list_create(path, place, config, checksum is not None, capsule, bits)
        self.checksum = 0 if checksum is None else checksum
        self._given = 0
        self._what = "singles" if singles else "pairs"
        #: Pairs that the format has no number for, and that are not in the file.
        self.left_out = 0
        self._open = True

    def write(self, pairs: Rows, corrections: Mapping[str, Any] | None = None) -> None:
        """Appends pairs, with the ``corrections`` of the writer: arrays of a number for each. ``UnsupportedError`` for delayeds, or times,
        that the format cannot hold."""
        if not self._open:
            raise UsageError("the list was completed, or given up")
        buffers = pair_buffers(pairs, self._prompts)
        given: list[bytes | None] = [None] * len(_CORRECTIONS)
        if set(corrections or ()) != {_CORRECTIONS[place] for place in self._corrections}:
            raise UsageError("corrections are to be those that the writer was opened with")
        for place in self._corrections:
            values = np.asarray((corrections or {})[_CORRECTIONS[place]], np.float32)
            if self._prompts:
                values = values[pair_buffers(pairs)[-1] == 0]
            given[place] = values.tobytes()
        if len(buffers[0]) == 0 and self.format not in ("hdf5", *_COLUMNS):
            return
        self.left_out = _core.pet_list_write(self._writer, buffers, self.checksum, False, tuple(given))
        self._given += len(buffers[0])

    def write_singles(self, rows: Rows) -> None:
        """Appends singles in the order of time to a file of ``singles``; those with energies outside of the window are left out."""
        if not self._open:
            raise UsageError("the list was completed, or given up")
        buffers = singles_ps(rows)
        self.left_out = _core.pet_list_singles(self._writer, buffers)
        self._given += len(buffers[0])

    @property
    def written(self) -> int:
        """Pairs or singles that are in the file."""
        return self._given - self.left_out

    def flush(self, seconds: float = 0.0) -> None:
        """Brings what was written to the temporary files, PATH.tmp-PID, if so many seconds have passed since the last time; HDF5 can be
        read from then on, whatever ends the process."""
        _core.pet_list_flush(self._writer, number(seconds, "seconds", 0, 1e9))

    def finish(self, *, partial: bool = False) -> None:
        """Completes the files, which appear now. ``partial``: the run was ended early, which HDF5 tells."""
        if self._open:
            self._open = False
            self.left_out = _core.pet_list_write(self._writer, None, self.checksum, bool(partial), ())
            if self.left_out > 0:
                warn_lost(f"{self.left_out} {self._what} are not in the list, as {self.format} has no number for them", "warn")

    def abandon(self) -> None:
        """Gives up: nothing appears, unless it was finished."""
        self._open = False
        _core.pet_list_abandon(self._writer)

    def __enter__(self) -> ListWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()


# ---- singles -------------------------------------------------------------------------------------


class SinglesReader:
    """Iterates over Columns of singles."""

    def __init__(self, path: Path, f64: bool, batch: int) -> None:
        self._reader: Any = _core.pet_singles_open(path, f64)
        self._batch = count(batch, "batch", 1, 1 << 28)

    def __iter__(self) -> SinglesReader:
        return self

    def __next__(self) -> Columns:
        made = None if self._reader is None else _core.pet_singles_read(self._reader, self._batch)
        if made is None:
            note = "" if self._reader is None else _core.pet_singles_note(self._reader)
            self._reader = None
            if note:
                warn_lost(note, "warn")
            raise StopIteration
        return made


def open_singles(path: Path, *, f64: bool = False, batch: int = 1 << 20) -> SinglesReader:
    """A file of singles (docs/formats/pet-singles.md), or those of PETSIRD, in batches; ``f64``: times are float64 in ns, as the seed has them."""
    return SinglesReader(path, bool(f64), batch)


class SinglesWriter:
    """Writes a file of singles, which is there when it is finished (``finish()``, or the end of a ``with``), or not at all."""

    def __init__(self, path: Path) -> None:
        self._writer: Any = _core.pet_singles_create(path)

    def write(self, singles: Rows) -> None:
        """Appends singles: columns ``time_ps``, ``crystal``, ``energy_kev`` of n rows."""
        if self._writer is None:
            raise UsageError("the file was completed, or given up")
        _core.pet_singles_write(self._writer, singles_ps(singles))

    def finish(self) -> None:
        """Completes the file, which appears now."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            _core.pet_singles_write(writer, None)

    def abandon(self) -> None:
        """Gives up: nothing appears, unless it was finished."""
        self._writer = None

    def __enter__(self) -> SinglesWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()


# ---- sinograms -----------------------------------------------------------------------------------


def read_sinogram(path: Path) -> NDArray[np.float32]:
    """An Interfile sinogram of STIR's kind (.hs): float32 (sinograms, views, tangential), segments in the order of the file."""
    tangential, views, sinograms, _, values = _core.pet_sinogram_read(path)
    return np.frombuffer(values, np.float32).reshape(sinograms, views, tangential)


class Sinogram:
    """A sinogram that pairs are added to: all pairs of rings (span 1), or with ``rebin`` one by single-slice rebinning.

    ``tangential``: bins, None: half the crystals of a ring; ``ring_difference``: the largest, None: all; ``subtract``: delayeds count -1,
    else they are left out."""

    def __init__(
        self,
        scanner: Scanner | Tables | str | Path,
        *,
        tangential: int | None = None,
        ring_difference: int | None = None,
        rebin: bool = False,
        subtract: bool = False,
    ) -> None:
        of = scanner_of(scanner)
        bins = 0 if tangential is None else count(tangential, "tangential", 1, 65536)
        difference = (1 << 32) - 1 if ring_difference is None else count(ring_difference, "ring_difference", 0, 65535)
        if of.crystals is None:  # whose rings are these
            difference = min(difference, of.rings - 1)
        self._sinogram = _core.pet_sinogram_open(of.geometry, bins, difference, bool(rebin), bool(subtract))
        #: Pairs that are in it, and outside of it: too far from the axis, rings too far apart.
        self.inside = 0
        self.outside = 0

    def add(self, pairs: Rows) -> None:
        """Counts pairs: columns ``crystal1``, ``crystal2``, ``delayed`` of n rows. What is outside is in ``outside`` and nowhere else."""
        self.inside, self.outside = _core.pet_sinogram_add(self._sinogram, pair_buffers(pairs))

    def write(self, path: Path) -> None:
        """As Interfile: NAME.hs and NAME.s. It may grow further."""
        _core.pet_sinogram_write(self._sinogram, path, None)

    def write_randoms(self, path: Path, chain: Any) -> float:
        """The same sinogram of the randoms that a ``Chain`` or ``Run``, which has ended, expects in all of its measurement. Returns their sum;
        it lacks what is outside."""
        return _core.pet_sinogram_write(self._sinogram, path, chain._capsule)

    @property
    def values(self) -> NDArray[np.float32]:
        """Counts now: float32 (sinograms, views, tangential)."""
        with tempfile.TemporaryDirectory(prefix="sinogram-") as folder:
            path = os.path.join(folder, "values.hs")
            self.write(path)
            return read_sinogram(path)


def sinogram(
    pairs: Rows,
    scanner: Scanner | Tables | str | Path,
    *,
    tangential: int | None = None,
    ring_difference: int | None = None,
    rebin: bool = False,
    subtract: bool = False,
) -> NDArray[np.float32]:
    """The sinogram of pairs, float32 (sinograms, views, tangential); ``Sinogram`` tells the words."""
    made = Sinogram(scanner, tangential=tangential, ring_difference=ring_difference, rebin=rebin, subtract=subtract)
    made.add(pairs)
    if made.outside > 0:
        warn_lost(f"{made.outside} pairs are outside of the sinogram", "warn")
    return made.values
