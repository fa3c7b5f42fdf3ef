# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, TypedDict, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ._flow import Common

Array = NDArray[Any]
Image = Array | memoryview

class Error(Exception): ...
class UsageError(Error, ValueError): ...
class FormatError(Error, ValueError): ...
class UnsupportedError(Error): ...
class CapacityError(Error): ...
class StrictError(Error): ...
class FileError(Error, OSError): ...
class DamageWarning(UserWarning): ...

class Columns(Mapping[str, Array]):
    @property
    def offsets(self) -> NDArray[np.uint32]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def units(self) -> dict[str, str]: ...
    @property
    def schema(self) -> str: ...
    @property
    def n_events(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def checksum(self) -> int: ...
    def __getattr__(self, name: str) -> Array: ...
    def __getitem__(self, name: str) -> Array: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def event(self, i: int) -> dict[str, Array]: ...
    def to_numpy(self) -> dict[str, Array]: ...
    def copy(self) -> dict[str, Array]: ...

class Batch:
    @property
    def path(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def n_events(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def checksum(self) -> int: ...
    @property
    def faults(self) -> dict[str, int]: ...

# What batches of a chain have: for checkers of types alone, all are Batch.
class VeloBatch(Batch):
    hits: Columns
    tracks: Columns
    track_hits: Columns
    beam: Columns
    end: Columns
    primaries: Columns
    impacts: Columns
    events: Columns

B = TypeVar("B", bound=Batch)

class Totals(TypedDict):
    events: int
    lost_events: int
    checksum: int
    workers: int
    seconds: float
    reading_faults: dict[str, int]

class Reader(Generic[B]):
    @property
    def totals(self) -> Totals: ...
    @property
    def checksum(self) -> int: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> B: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def close(self) -> None: ...

class Info(TypedDict):
    format: str
    reads: str | None
    detector: str

def version() -> str: ...
def targets() -> list[str]: ...
def info(path: Any) -> Info | None: ...
def image_label(
    image: Image,
    *,
    connectivity: int = 8,
    threshold: float | None = None,
    inverse: bool = False,
    min_area: int = 0,
    max_area: int | None = None,
    border: Literal["any", "inside", "touching"] = "any",
    out: Array | None = None,
    dtype: Any = None,
    threads: int = 1,
    algorithm: str = "auto",
) -> tuple[Array, int]: ...
@overload
def image_components(
    image: Image,
    *,
    connectivity: int = 8,
    threshold: float | None = None,
    inverse: bool = False,
    min_area: int = 0,
    max_area: int | None = None,
    border: Literal["any", "inside", "touching"] = "any",
    threads: int = 1,
    algorithm: str = "auto",
    features: Sequence[str] | None = None,
    grey: Image | None = None,
    labels: Literal[False] = False,
) -> Columns: ...
@overload
def image_components(
    image: Image,
    *,
    connectivity: int = 8,
    threshold: float | None = None,
    inverse: bool = False,
    min_area: int = 0,
    max_area: int | None = None,
    border: Literal["any", "inside", "touching"] = "any",
    out: Array | None = None,
    dtype: Any = None,
    threads: int = 1,
    algorithm: str = "auto",
    features: Sequence[str] | None = None,
    grey: Image | None = None,
    labels: Literal[True],
) -> tuple[Array, Columns]: ...
def image_otsu(image: Image, /) -> float: ...
def image_algorithms() -> list[str]: ...
def velo_open(
    common: Common,
    config: Any,
    preset: str | None,
    geometry: Any,
    beam: tuple[float, ...] | None,
    identity: bool,
    impacts: bool,
    /,
) -> Reader[VeloBatch]: ...
def velo_settings(config: Any, preset: str | None, /) -> str: ...
def sim_image(settings: dict[str, Any], value: int, /) -> Array: ...
def sim_pixels(settings: dict[str, Any], time: bool, /) -> Columns: ...
def sim_stream(settings: dict[str, Any], n: int, /) -> Columns: ...
def sim_velo(
    settings: dict[str, Any], events: int, output: Any, geometry: Any, compress: bool, truth: bool, /
) -> tuple[Columns, Columns, Columns] | None: ...
def sim_cms(
    settings: dict[str, Any], events: int, output: Any, cabling: Any, gains: Any, truth: bool, /
) -> tuple[Columns, Columns, dict[str, int]] | None: ...
def sim_pet(
    settings: dict[str, Any], seconds: float, scanner: str, sources: list[Any], tables: Any, truth: bool, /
) -> tuple[Columns, Columns | None]: ...
