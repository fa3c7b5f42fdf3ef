# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the library makes, with matplotlib, which is imported by the first call and not before.

Every function takes arrays or :class:`sluice.Columns`, draws into ``ax`` (matplotlib's ``Axes``; without it into a new figure of its
own) and returns that ``Axes``: limits, titles and colours are then the caller's. Nothing reads a file, and nothing shows a window.
Quantities and definitions are those of the command's reports (``--report``, ``--rate-plot``, ``sluice pet calibrate``), so that a
number on a picture here is the number there.

=========== ===================================================================================================================
VELO        :func:`velo_event`, :func:`velo_vertices`, :func:`velo_efficiency`, :func:`impact_resolution`
histograms  :func:`pull`, :func:`residual`, :func:`efficiency`, :func:`efficiency_against`
pixels      :func:`labels`, :func:`cluster_sizes`, :func:`tot`, :func:`hit_map`
PET         :func:`flood`, :func:`spectrum`, :func:`rates`, :func:`sinogram`, :func:`time_differences`
numbers     :func:`half_width`, :func:`wilson`, :func:`label_colours`
=========== ===================================================================================================================

Without matplotlib a call is an ``ImportError`` that says what to install. An array of a wrong shape, and a word that is not known, is
a :class:`sluice.UsageError` that names the argument.
"""

from __future__ import annotations

from .plot_histogram import efficiency, efficiency_against, half_width, pull, residual, wilson
from .plot_image import cluster_sizes, hit_map, label_colours, labels, tot
from .plot_performance import impact_resolution, velo_efficiency
from .plot_pet import flood, rates, sinogram, spectrum, time_differences
from .plot_velo import velo_event, velo_vertices

__all__ = [
    "cluster_sizes",
    "efficiency",
    "efficiency_against",
    "flood",
    "half_width",
    "hit_map",
    "impact_resolution",
    "label_colours",
    "labels",
    "pull",
    "rates",
    "residual",
    "sinogram",
    "spectrum",
    "time_differences",
    "tot",
    "velo_efficiency",
    "velo_event",
    "velo_vertices",
    "wilson",
]
