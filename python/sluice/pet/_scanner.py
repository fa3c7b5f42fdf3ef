# SPDX-License-Identifier: Apache-2.0
"""Scanners, their tables, raw frames, and what columns of singles and pairs are made of."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Columns, DamageWarning, StrictError, UsageError
from .._flow import unmasked

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Array = NDArray[Any]
#: What holds columns: ``Columns``, a mapping of names to arrays, a structured array.
Rows = Union[Columns, Mapping[str, Any], Array]

SCANNERS, POLICIES, FORMATS = (tuple(names) for names in _core.pet_names())

#: A raw frame, 16 bytes, as modules send it (include/sluice/pet_types.h).
FRAME = np.dtype(
    [
        ("head_unit", "u1"),
        ("module", "u1"),
        ("time", ">u8"),
        ("x", "u1"),
        ("y", "u1"),
        ("energy", ">u2"),
        ("temperature", "i1"),
        ("temperature_tail", "u1"),
    ]
)
assert FRAME.itemsize == 16

NO_CRYSTAL = 0xFFFF

_SINGLES = (("time_ps", np.int64), ("crystal", np.uint32), ("energy_kev", np.float32))
_SINGLES_F64 = (("time_ns", np.float64), ("crystal", np.uint32), ("energy_kev", np.float32))
_PAIRS = (
    ("time_ps", np.int64),
    ("dt_ps", np.int64),
    ("crystal1", np.uint32),
    ("crystal2", np.uint32),
    ("energy1_kev", np.float32),
    ("energy2_kev", np.float32),
    ("delayed", np.uint8),
)
_GROUPS = (("first", np.uint64), ("second", np.uint64), ("size", np.uint32))
_KINDS = {
    kind: tuple(name for name, _ in columns)
    for kind, columns in (("singles", _SINGLES), ("singles_f64", _SINGLES_F64), ("groups", _GROUPS), ("pairs", _PAIRS))
}

#: So many rows or frames are worked on at once, as Ctrl-C is looked for between them.
AT_ONCE = 1 << 20


class OneThread:
    """What one thread at a time may be in: another is told so, and does not wait."""

    def __init__(self, what: str) -> None:
        self._lock = threading.Lock()
        self._what = what

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"another thread is in a call of this {self._what}")

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def warn_lost(line: str, on_fault: str, stacklevel: int = 3) -> None:
    """Tells a loss as ``on_fault`` has it."""
    if on_fault == "raise":
        raise StrictError(line)
    if on_fault == "warn":
        warnings.warn(line, DamageWarning, stacklevel=stacklevel)


# ---- arguments -----------------------------------------------------------------------------------


def count(value: int, name: str, low: int, high: int) -> int:
    try:
        number = int(np.asarray(value).__index__())
    except TypeError:
        raise TypeError(f"{name} is to be an integer, not {type(value)!r}") from None
    if not low <= number <= high:
        raise UsageError(f"{name} is to be from {low} to {high}, not {number}")
    return number


def number(value: float, name: str, low: float, high: float) -> float:
    try:
        taken = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is to be a number, not {type(value)!r}") from None
    if not low <= taken <= high:
        raise UsageError(f"{name} is to be from {low:g} to {high:g}, not {taken:g}")
    return taken


def word(value: str, name: str, words: tuple[str, ...]) -> int:
    if not isinstance(value, str):
        raise TypeError(f"{name} is to be a text, not {type(value)!r}")
    if value not in words:
        raise UsageError(f"{name} is to be one of {', '.join(map(repr, words))}, not {value!r}")
    return words.index(value)


#: (low, high) in keV; "all"; None: as tables say, or all.
Energies = Union[tuple[float, float], Literal["all"], None]


def energy_window(energies: Energies, energy_fwhm: float = 0.0) -> tuple[float, float]:
    """``energy_fwhm``: of tables, taken where no energies are told."""
    if energies is None and energy_fwhm > 0:
        return _core.pet_energies_of(energy_fwhm)
    if energies is None or (isinstance(energies, str) and energies == "all"):
        return 0.0, float("inf")
    try:
        low, high = energies
    except (TypeError, ValueError):
        raise TypeError(f"energies are to be a pair, (low, high) in keV, not {energies!r}") from None
    if not 0 <= low < high:
        raise UsageError(f"energies are to be (low, high) in keV, low below high, not {energies!r}")
    return float(low), float(high)


def thread_count(threads: int) -> int:
    return count(threads, "threads", 0, 4096)


def _column(rows: Rows, name: str, dtype: Any) -> Array:
    try:
        column = rows[name]
    except (KeyError, ValueError, IndexError, TypeError):
        raise TypeError(f"there is no column {name!r}: Columns, a mapping of arrays, or a structured array is taken") from None
    array = unmasked(column, f"column {name!r}")
    if array.ndim != 1:
        raise TypeError(f"column {name!r} has {array.ndim} dimensions; it is to have 1")
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"column {name!r} is {array.dtype}; it is to be {np.dtype(dtype)}, or what that holds without a loss")
    return np.require(array, dtype, ("C_CONTIGUOUS", "ALIGNED"))


def _buffers(rows: Rows, columns: tuple[tuple[str, Any], ...]) -> tuple[Array, ...]:
    return tuple(_column(rows, name, dtype) for name, dtype in columns)


def _has(rows: Rows, name: str) -> bool:
    names = rows.dtype.names if isinstance(rows, np.ndarray) else rows
    return names is not None and name in names


def singles_buffers(rows: Rows) -> tuple[tuple[Array, ...], bool]:
    """The columns of singles, and whether they have ``time_ns`` (float64) in place of ``time_ps``."""
    is_f64 = _has(rows, "time_ns") and not _has(rows, "time_ps")
    return _buffers(rows, _SINGLES_F64 if is_f64 else _SINGLES), is_f64


def singles_ps(rows: Rows) -> tuple[Array, ...]:
    return _buffers(rows, _SINGLES)


NO_SINGLES: tuple[Array, ...] = tuple(np.empty(0, dtype) for _, dtype in _SINGLES)
NO_SINGLES_F64: tuple[Array, ...] = tuple(np.empty(0, dtype) for _, dtype in _SINGLES_F64)


def pair_buffers(rows: Rows, prompts: bool = False) -> tuple[Array, ...]:
    taken = _buffers(rows, _PAIRS)
    if prompts:
        keep = taken[-1] == 0
        if not keep.all():
            taken = tuple(one[keep] for one in taken)
    return taken


def singles(rows: Rows) -> Columns:
    """Columns of singles, from copies: ``time_ps`` (int64, or ``time_ns``, float64), ``crystal`` (uint32), ``energy_kev`` (float32)."""
    buffers, is_f64 = singles_buffers(rows)
    return _core.pet_columns("singles_f64" if is_f64 else "singles", buffers)


def join(parts: list[Columns]) -> Columns:
    """One after the other: of several that have rows, a copy."""
    some = [one for one in parts if one.n_rows > 0]
    if len(some) < 2:
        return some[0] if some else parts[0]
    kind = {names: kind for kind, names in _KINDS.items()}[some[0].names]
    return _core.pet_columns(kind, tuple(np.concatenate([one[name] for one in some]) for name in some[0].names))


def pairs(rows: Rows) -> Columns:
    """Columns of pairs, from copies: ``time_ps``, ``dt_ps`` (int64), ``crystal1``, ``crystal2`` (uint32), ``energy1_kev``, ``energy2_kev``
    (float32), ``delayed`` (uint8)."""
    return _core.pet_columns("pairs", pair_buffers(rows))


def frames(data: Any) -> Array:
    """Frames in bytes, in an array (n, 16) of uint8, or in one of ``FRAME``, as an array of ``FRAME`` with n elements: a view where that
    can be. Its fields are ``head_unit`` (low four bits: the unit), ``module``, ``time`` (ticks), ``x``, ``y``, ``energy``, ``temperature``.
    """
    array = unmasked(data, "data") if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    if array.dtype == FRAME and array.ndim == 1:
        return np.ascontiguousarray(array)
    is_bytes = array.dtype == np.uint8 and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 16))
    if not is_bytes or array.size % 16 != 0:
        raise TypeError(
            f"frames are bytes (16 of a frame), an array (n, 16) of uint8, or one of sluice.pet.FRAME, not {array.dtype} {array.shape}"
        )
    return np.ascontiguousarray(array).reshape(-1).view(FRAME)


# ---- scanners ------------------------------------------------------------------------------------

_COUNTS = ("channels", "modules", "module_rings", "blocks_y", "blocks_z", "crystals_y", "crystals_z")
_LENGTHS = ("radius_mm", "pitch_z_mm", "depth_mm")


#: A crystal of ``Scanner.crystals``: by which frames name it, its layer of depth, its middle in mm, and unit vectors.
CRYSTAL = np.dtype(
    [
        ("module", "<u4"),
        ("unit", "<u4"),
        ("crystal", "<u4"),
        ("layer", "<u4"),
        ("position_mm", "<f8", 3),
        ("normal", "<f8", 3),
        ("axis", "<f8", 3),
    ]
)


@dataclass(frozen=True, init=False)
class Scanner:
    """A ring of modules, or any table of crystals: by name (``SCANNERS``), in the command's words
    ("channels=10,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm", with "flat=module,pitch-y=2mm" and others of
    docs/howto/pet-scanner.md), by a file (FILE.csv, a table of crystals, or FILE.h5, that of tables), or by numbers as keywords, which
    also change those of the words of an ideal ring. ``name`` is what headers of list-mode files call it. Where crystals are in no rings,
    all modules are channels and all units blocks_y."""

    channels: int
    modules: int
    module_rings: int
    blocks_y: int
    blocks_z: int
    crystals_y: int
    crystals_z: int
    radius_mm: float
    pitch_z_mm: float
    depth_mm: float
    name: str | None = field(compare=False)
    _layout: Any = field(compare=False, repr=False)
    #: The table of crystals as bytes; None: an ideal ring.
    _table: bytes | None = field(repr=False)

    def __init__(self, words: str | Path | None = None, *, name: str | None = None, **numbers: float) -> None:
        given: dict[str, Any] = {"modules": 1, "module_rings": 1, "blocks_y": 1, "blocks_z": 1, "depth_mm": 0.0}
        layout = None
        if words is not None:
            *of_words, layout = _core.pet_scanner(words)
            given = dict(zip(_COUNTS + _LENGTHS, of_words))
            name = words if name is None and words in SCANNERS and isinstance(words, str) else name
        unknown = set(numbers) - set(_COUNTS + _LENGTHS)
        if unknown:
            raise TypeError(f"a scanner has no {', '.join(sorted(unknown))}; it has {', '.join(_COUNTS + _LENGTHS)}")
        if layout is not None and numbers:
            raise UsageError(f"{', '.join(sorted(numbers))}: numbers of a table of crystals cannot be changed")
        given.update(numbers)
        missing = [one for one in _COUNTS + _LENGTHS if one not in given]
        if missing:
            raise UsageError(f"a scanner needs {', '.join(missing)}, or the name of one: {', '.join(SCANNERS)}")
        self._fill([*(count(given[one], one, 1, 65536) for one in _COUNTS), *(number(given[one], one, 0, 1e6) for one in _LENGTHS)], layout, name)

    def _fill(self, numbers: list[Any], layout: Any, name: str | None) -> None:
        for one, value in zip(_COUNTS + _LENGTHS, numbers):
            object.__setattr__(self, one, value)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_layout", layout)
        object.__setattr__(self, "_table", None if layout is None else _core.pet_crystals(self.geometry))

    @classmethod
    def _of(cls, geometry: tuple[Any, ...], name: str | None = None) -> Scanner:
        """Of what the extension gives."""
        made = cls.__new__(cls)
        *numbers, layout = geometry
        made._fill(numbers, layout, name)
        return made

    @property
    def geometry(self) -> tuple[Any, ...]:
        """All numbers, in the order of the keywords, and the table of crystals as the extension has it, or None."""
        return (*(getattr(self, one) for one in _COUNTS + _LENGTHS), self._layout)

    @property
    def crystals(self) -> NDArray[Any] | None:
        """The table of crystals, an array of ``CRYSTAL`` in the order of their numbers; None of an ideal ring."""
        return None if self._table is None else np.frombuffer(self._table, CRYSTAL)

    @property
    def n_modules(self) -> int:
        """Modules of the whole scanner."""
        return self.channels * self.modules * self.module_rings

    @property
    def n_units(self) -> int:
        """Blocks of a module."""
        return self.blocks_y * self.blocks_z

    @property
    def crystals_per_ring(self) -> int:
        """Crystals around the axis."""
        return self.channels * self.modules * self.blocks_y * self.crystals_y

    @property
    def rings(self) -> int:
        """Rings of crystals along the axis."""
        return self.module_rings * self.blocks_z * self.crystals_z

    @property
    def n_crystals(self) -> int:
        """Crystals of the whole scanner."""
        return self.crystals_per_ring * self.rings

    def positions(self) -> NDArray[np.float64]:
        """Where crystals are, half way in: x, y, z in mm, shape (n_crystals, 3)."""
        table = self.crystals
        if table is not None:
            return np.ascontiguousarray(table["position_mm"])
        ring, k = np.divmod(np.arange(self.n_crystals), self.crystals_per_ring)
        angle = 2 * np.pi * k / self.crystals_per_ring
        radius = self.radius_mm + self.depth_mm / 2
        z = (ring - (self.rings - 1) / 2) * self.pitch_z_mm
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def scanner_of(value: Scanner | Tables | str | Path) -> Scanner:
    if isinstance(value, (str, bytes, os.PathLike)):
        return Scanner(value)
    if isinstance(value, Tables):
        return value.scanner
    if isinstance(value, Scanner):
        return value
    raise TypeError(f"a scanner is a Scanner, Tables, words, or the name of a file, not {type(value)!r}")


# ---- tables --------------------------------------------------------------------------------------


def _table(value: Any, name: str, dtype: Any, shape: tuple[int, ...]) -> Array | None:
    if value is None:
        return None
    array = np.asarray(value)
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"the table {name} is {array.dtype}; it is to be {np.dtype(dtype)}")
    if array.shape != shape:
        raise UsageError(f"the table {name} has the shape {array.shape}; for this scanner it is to have {shape}")
    made = np.array(array, dtype)
    if not np.array_equal(made, array) and made.dtype.kind in "iu":
        raise UsageError(f"the table {name} has numbers that {np.dtype(dtype)} cannot hold")
    made.setflags(write=False)
    return made


class Tables:
    """What is known of a scanner's blocks. Tables that are None change nothing; all are copied, and read-only.

    ``position``: crystal of the block (y * crystals_z + z) by [module, unit, y, x] of the flood map, or 65535 where there is none, uint16
    (n_modules, n_units, P, P); ``gain``: keV for a unit of a frame's energy, float32 (n_crystals); ``energy``: a factor by crystal and bin
    of ``energy_bin_kev``, float32 (n_crystals, bins); ``time_offset_ps``: added to times, int32 (n_crystals); ``efficiency``: of
    crystals, of mean 1 (``normalise``), float32 (n_crystals); ``radial``, ``axial``: what pairs detect beside that, by the distance of
    their line from the axis in bins of ``radial_mm`` and that of their crystals along it, rounded to bins of ``axial_mm``, float32.
    Measured full widths at half maximum, 0 if they are not known: ``energy_fwhm``, of energies at 511 keV as a share of that;
    ``time_fwhm_ps``, of pairs' differences of times. They are taken where no ``energies`` and no ``tof_ps`` are told."""

    def __init__(
        self,
        scanner: Scanner | str | Path,
        *,
        position: Any = None,
        gain: Any = None,
        energy: Any = None,
        energy_bin_kev: float = 0.0,
        time_offset_ps: Any = None,
        efficiency: Any = None,
        radial: Any = None,
        radial_mm: float = 0.0,
        axial: Any = None,
        axial_mm: float = 0.0,
        energy_fwhm: float = 0.0,
        time_fwhm_ps: float = 0.0,
    ) -> None:
        self.scanner = scanner_of(scanner)
        s = self.scanner
        side = np.shape(position)[-1] if position is not None and np.ndim(position) == 4 else 0
        bins = np.shape(energy)[-1] if energy is not None and np.ndim(energy) == 2 else 0
        self.position = _table(position, "position", np.uint16, (s.n_modules, s.n_units, side, side))
        self.gain = _table(gain, "gain", np.float32, (s.n_crystals,))
        self.energy = _table(energy, "energy", np.float32, (s.n_crystals, bins))
        self.energy_bin_kev = number(energy_bin_kev, "energy_bin_kev", 0, 1e6)
        self.time_offset_ps = _table(time_offset_ps, "time_offset_ps", np.int32, (s.n_crystals,))
        self.efficiency = _table(efficiency, "efficiency", np.float32, (s.n_crystals,))
        self.radial = _table(radial, "radial", np.float32, np.shape(radial)[:1])
        self.axial = _table(axial, "axial", np.float32, np.shape(axial)[:1])
        self.radial_mm = number(radial_mm, "radial_mm", 0, 1e6)
        self.axial_mm = number(axial_mm, "axial_mm", 0, 1e6)
        self.energy_fwhm = number(energy_fwhm, "energy_fwhm", 0, 1)
        self.time_fwhm_ps = number(time_fwhm_ps, "time_fwhm_ps", 0, 1e6)
        #: Places of a flood map a side; without a position table, places are crystals.
        self.position_side: int = side if position is not None else max(s.crystals_y, s.crystals_z)

    @classmethod
    def default(cls, scanner: Scanner | str | Path) -> Tables:
        """No table: places are crystals, energies keV, times as they are."""
        return cls(scanner)

    @classmethod
    def read(cls, path: Path) -> Tables:
        """Those of an HDF5 file (docs/formats/pet-tables.md)."""
        geometry, side, position, gain, energy, bin_kev, offset, efficiency, *geometric, energy_fwhm, time_fwhm_ps = _core.pet_tables_read(path)
        s = Scanner._of(geometry)

        def array(data: bytes | None, dtype: Any, *shape: int) -> Array | None:
            return None if data is None else np.frombuffer(data, dtype).reshape(shape)

        return cls(
            s,
            position=array(position, np.uint16, s.n_modules, s.n_units, side, side),
            gain=array(gain, np.float32, s.n_crystals),
            energy=array(energy, np.float32, s.n_crystals, -1),
            energy_bin_kev=bin_kev,
            time_offset_ps=array(offset, np.int32, s.n_crystals),
            efficiency=array(efficiency, np.float32, s.n_crystals),
            radial=array(geometric[0], np.float32, -1),
            radial_mm=geometric[1],
            axial=array(geometric[2], np.float32, -1),
            axial_mm=geometric[3],
            energy_fwhm=energy_fwhm,
            time_fwhm_ps=time_fwhm_ps,
        )

    def write(self, path: Path) -> None:
        """As HDF5: complete under its name, or not there."""
        _core.pet_tables_write(path, self.packed)

    @property
    def packed(self) -> tuple[Any, ...]:
        """As the extension takes them."""
        position = None if self.position is None else self.position.reshape(-1)
        energy = None if self.energy is None else self.energy.reshape(-1)
        of_crystals = (self.energy_bin_kev, self.time_offset_ps, self.efficiency)
        geometric = (self.radial, self.radial_mm, self.axial, self.axial_mm)
        widths = (self.energy_fwhm, self.time_fwhm_ps)
        return (self.scanner.geometry, self.position_side, position, self.gain, energy, *of_crystals, *geometric, *widths)

    def __repr__(self) -> str:
        names = ("position", "gain", "energy", "time_offset_ps", "efficiency", "radial", "axial")
        there = [one for one in names if getattr(self, one) is not None]
        return f"<Tables of {self.scanner.name or 'a scanner'}: {', '.join(there) or 'none'}>"


def tables_of(value: Tables | Scanner | str | Path) -> Tables:
    """Tables, a scanner, its words or its table of crystals (FILE.csv); other texts and paths are the name of a file of tables."""
    if isinstance(value, Tables):
        return value
    if isinstance(value, Scanner):
        return Tables(value)
    if isinstance(value, str) and ("=" in value or value in SCANNERS):
        return Tables(value)
    if isinstance(value, (str, bytes, os.PathLike)) and os.fsdecode(value).lower().endswith(".csv"):
        return Tables(value)  # a table of crystals
    if isinstance(value, (bytes, os.PathLike)) or (isinstance(value, str) and os.path.exists(value)):
        return Tables.read(value)
    if isinstance(value, str):
        return Tables(value)  # tells which scanners there are
    raise TypeError(f"a scanner is a Scanner, Tables, words, or a file of tables, not {type(value)!r}")
