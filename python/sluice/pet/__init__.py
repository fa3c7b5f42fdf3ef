# SPDX-License-Identifier: Apache-2.0
"""Positron emission tomography: frames of a scanner to singles, coincidences, list-mode files and sinograms.

    scanner = sluice.pet.Scanner("mouse20")
    with sluice.pet.run("run.raw", scanner, window_ns=4, delayed_ns=100) as reader:
        for batch in reader:
            print(batch.singles.n_rows, batch.pairs.n_rows)
    print(f"{reader.checksum:016x}", reader.totals["prompts"]["pairs"])     # the command's

Singles are columns ``time_ps`` (int64), ``crystal`` (uint32) and ``energy_kev`` (float32); pairs ``time_ps``, ``dt_ps`` (int64),
``crystal1``, ``crystal2`` (uint32), ``energy1_kev``, ``energy2_kev`` (float32) and ``delayed`` (uint8). Where they are taken, a
``Columns``, a mapping of arrays, or a structured array will do. Crystal ``k + r * crystals_per_ring`` is number k of ring r, at the angle
2 pi k / crystals_per_ring from the x axis towards y. Lengths are in mm, energies in keV, times in what their names say.
"""

from __future__ import annotations

from ._acquire import Acquisition, Live, acquire, send
from ._calibrate import Calibration, Grid, calibrate
from ._check import Checked, Finding, check
from ._lists import (
    ListReader,
    ListWriter,
    SinglesReader,
    SinglesWriter,
    Sinogram,
    open_list,
    open_singles,
    read_map,
    read_sinogram,
    sinogram,
)
from ._look import Image, look
from ._normalise import Normaliser, normalise, write_factors
from ._reading import FrameReader, info, open_frames, series
from ._run import Chain, Found, Run, convert, rates, run
from ._scanner import CRYSTAL, FORMATS, FRAME, POLICIES, SCANNERS, Scanner, Tables, frames, pairs, singles
from ._stages import Coincidences, Sorter, coincidences, randoms, sort

__all__ = [
    "CRYSTAL",
    "FORMATS",
    "FRAME",
    "POLICIES",
    "SCANNERS",
    "Acquisition",
    "Calibration",
    "Chain",
    "Checked",
    "Coincidences",
    "Finding",
    "Found",
    "FrameReader",
    "Grid",
    "Image",
    "ListReader",
    "ListWriter",
    "Live",
    "Normaliser",
    "Run",
    "Scanner",
    "SinglesReader",
    "SinglesWriter",
    "Sinogram",
    "Sorter",
    "Tables",
    "acquire",
    "calibrate",
    "check",
    "coincidences",
    "convert",
    "frames",
    "info",
    "look",
    "normalise",
    "open_frames",
    "open_list",
    "open_singles",
    "pairs",
    "randoms",
    "rates",
    "read_map",
    "read_sinogram",
    "run",
    "send",
    "series",
    "singles",
    "sinogram",
    "sort",
    "write_factors",
]
