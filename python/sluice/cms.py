# SPDX-License-Identifier: Apache-2.0
"""CMS's pixel detector: raw events to digis, calibrated clusters and their positions.

    with sluice.cms.open("run.raw", cabling="cabling.bin", gains="gains.bin") as reader:
        for batch in reader:
            print(batch.clusters.n_rows, batch.clusters.x_um, batch.clusters.charge_e.mean())

A batch has ``digis`` (``x`` the row, ``y`` the column, ``adc`` electrons after the calibration, ``module``, ``cluster`` in its
module from 0, -9999 in none ...), ``modules`` (those of an event that have digis) and ``clusters`` (charge in electrons, box,
position and its error in the module's plane in um, from its middle), and with ``geometry`` ``places`` (of each cluster ``raw_id``
of its module, ``x_mm``, ``y_mm`` and ``z_mm`` in the detector). Each column has its unit in ``units``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ._core import Reader, UsageError, cms_open
from ._flow import OnFault, Path, Paths, Progress, common

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._core import CmsBatch

__all__ = ["open"]


def _unpack(skip: Iterable[int], phase: int) -> bytes | None:
    modules = bytearray(b"\1" * (1856 if phase == 1 else 4000))
    for module in skip:
        if not 0 <= module < len(modules):
            raise UsageError(f"skip_modules: there is no module {module}, they are 0 to {len(modules) - 1}")
        modules[module] = 0
    return None if all(modules) else bytes(modules)


def open(
    paths: Paths,
    *,
    cabling: Path,
    gains: Path | None = None,
    geometry: Path | None = None,
    skip_modules: Iterable[int] = (),
    phase: Literal[1, 2] = 1,
    min_charge_e: int | None = None,
    min_charge_layer1_e: int | None = None,
    above: bool = False,
    duplicates: Literal["keep", "sum", "first", "largest"] = "keep",
    max_module_digis: int | None = None,
    truncate: bool = False,
    digis: bool = True,
    batch: int = 64,
    threads: int = 1,
    device: str | None = None,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[CmsBatch]:
    """A reader of batches of up to ``batch`` events (docs/formats/cms-raw.md), in the order of the inputs.

    ``cabling``: which module each chip belongs to, ``gains``: pedestals and gains, which phase 1 needs
    (docs/formats/cms-payloads.md), ``geometry``: where modules are, their drift and errors. The dumps of CMS's stand-alone programs
    (cablingMap.bin, gain.bin, cpefast.bin: docs/formats/cms-dumps.md) are read, too; a ``UserWarning`` tells what was assumed of
    them. ``skip_modules``: those that are left out. ``phase`` of the detector: calibration, number of modules, charge cuts. Clusters are kept with
    ``min_charge_e`` electrons at least (``above``: more), in modules below 96 ``min_charge_layer1_e``; None: the phase's own.
    ``duplicates``: what digis of one pixel count as. A module with more than ``max_module_digis`` (6000) takes a slower path, or
    with ``truncate`` its digis beyond are in no cluster, and that is a fault. Batches have ``events``, too: number of the
    trigger, bunch crossing, sound fragments, and those of them with another number. Without ``digis`` they have modules, clusters and events
    alone, and the same checksum (on a GPU digis then stay there). ``threads``: workers, or streams of each GPU; 0: one for each
    processor. ``device``: "cpu", "cuda", "cuda:N", several as "cuda:0,1", or "all" (an ``UnsupportedError`` if there is none). Results
    depend on none of batch, threads and device.

    At the end of each input a ``DamageWarning`` tells what was damaged or lost, with counts and the first place, and if the input
    has nothing of this detector, unless ``on_fault`` is "ignore"; with "raise" the first fault is a ``StrictError``. An input that
    cannot be read is a ``FileError`` or ``FormatError``, after which the reader goes on with the next one. ``Reader.totals`` counts
    words, digis and clusters. ``progress``: a function of the events so far, or True for a bar of tqdm.
    """
    return cms_open(
        common(paths, batch, threads, on_fault, progress, device),
        cabling,
        gains,
        phase,
        min_charge_e,
        min_charge_layer1_e,
        above,
        duplicates,
        max_module_digis,
        truncate,
        digis,
        geometry,
        _unpack(skip_modules, phase),
    )
