# SPDX-License-Identifier: Apache-2.0
"""Connected components of images.

    labels, n = sluice.image.label(image)
    columns = sluice.image.components(image, features=["area", "centroid"])

Images are 2-D arrays of bool, uint8, uint16, uint32 or float32, or any object with such a buffer. Rows may be any distance apart; the
pixels of a row must lie one after the other. ``label`` and ``components`` take volumes, too: 3-D arrays (z, y, x), whose voxels have 6, 18 or 26 (the
default) neighbours. Nothing beside a row's pixels is ever read. x counts columns, y rows, from 0.

``Labeller`` keeps what is asked for, and labels stacks of images with several threads; ``RowStream`` takes rows as they come,
``SliceStream`` slices of volumes; ``open`` reads image files page by page, and ``run`` labels whole files, as ``sluice label`` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

from ._core import Components, Labeller, Pages, Reader, RowStream, SliceStream, UsageError, image_open, image_run, image_save
from ._core import image_algorithms as algorithms
from ._core import image_foreground as _foreground
from ._core import image_split as _split
from ._core import image_components as components
from ._core import image_label as label
from ._core import image_measure
from ._core import image_otsu as otsu
from ._flow import OnFault, Path, Paths, Progress, common, unmasked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._core import PageBatch

__all__ = [
    "FEATURES",
    "MEASURES",
    "Components",
    "Labeller",
    "Pages",
    "RowStream",
    "SliceStream",
    "algorithms",
    "components",
    "foreground",
    "label",
    "largest",
    "measure",
    "open",
    "otsu",
    "preview",
    "remove_small",
    "run",
    "save",
    "split",
]

Local = Union[str, tuple[str, int], tuple[str, int, float], tuple[str, int, float, float]]

#: What ``components`` can be asked for.
FEATURES = ("area", "box", "first", "sums", "second", "perimeter", "euler", "centroid", "shape", "grey")

#: What ``measure`` and ``run`` can be asked for.
MEASURES = (*FEATURES, "label", "form", "hull", "feret", "crofton", "spread")


def open(path: Path, *, max_bytes: int | None = None) -> Pages:
    """Pages of an image file, each an array (h, w) of the caller's own: of bool (rows of bits), uint8, uint16, uint32 or float32.

    PNM, PNG, JPEG, BMP, TIFF (pages, stacks of ImageJ) and NPY (planes of three dimensions) are found by their bytes. Colours become grey by
    Rec. 601 luma, integers float32 if they keep their value (else an error), float64 rounded to float32. A page whose pixels need more than ``max_bytes`` (4 GiB) is refused.
    Close it, or use it in ``with``; reading to the end closes it. What is not read of a page (transparency …) or is missing at the end
    is a ``DamageWarning``. FileError; FormatError, UnsupportedError: a page that cannot be read, which ends the file.
    A pipe whose writer is silent is waited for; :func:`run` can be interrupted then.
    """
    return image_open(path, max_bytes)


def _numbers(name: str, values: Any, n: int) -> tuple[float, ...]:
    """So many numbers, of an argument of that name."""
    try:
        taken = tuple(float(one) for one in values)
    except (TypeError, ValueError):
        taken = ()
    if len(taken) != n:
        raise UsageError(f"{name} is to be {n} numbers, not {values!r}")
    return taken


def _rule(threshold: Any, hysteresis: Any, local: Any) -> tuple[Any, ...]:
    """What the extension is told of a threshold that is no word."""
    if local is not None:
        if threshold is not None or hysteresis is not None:
            raise UsageError("local is in the place of threshold and hysteresis: one of them is to be given")
        words = (local,) if isinstance(local, str) else tuple(local)
        if len(words) == 0 or words[0] not in ("mean", "sauvola") or len(words) > (3 if words[0] == "mean" else 4):
            raise UsageError(f"local is to be ('mean', window, offset) or ('sauvola', window, k, range), not {local!r}")
        return words
    if hysteresis is not None:
        if threshold is not None:
            raise UsageError("hysteresis is in the place of threshold: one of them is to be given")
        return ("hysteresis", *_numbers("hysteresis", hysteresis, 2))
    if isinstance(threshold, Iterable):
        return ("band", *_numbers("threshold", threshold, 2))
    return ("least",) if threshold is None else ("least", float(threshold))


def _holes(fill_holes: Any) -> int:
    """The largest hole that is filled."""
    return (1 << 64) - 1 if fill_holes is True else int(fill_holes)


def _one_below_the_other(volume: Any) -> Any:
    """The slices of a volume as one image."""
    import numpy as np

    array = np.asarray(volume)
    return array.reshape(-1, array.shape[-1])


def foreground(
    image: Any,
    *,
    threshold: float | tuple[float, float] | Literal["otsu"] | None = None,
    hysteresis: tuple[float, float] | None = None,
    local: Local | None = None,
    mask: Any = None,
    fill_holes: bool | int = False,
    connectivity: int | None = None,
    threads: int = 1,
) -> NDArray[np.bool_]:
    """The foreground (h, w) of an image, or (z, h, w) of a volume, which ``label`` and ``components`` take as it is (``grey=`` is then the image).

    ``threshold``: pixels at or above it (None: above 0; "otsu": found for the image), or a band (low, high), both of which are
    inside. ``hysteresis`` (low, high) instead: components of pixels at or above low of which one is at or above high. ``local`` instead, of
    uint8 and uint16: ("mean", window, offset), pixels above the mean of a window less the offset, or ("sauvola", window, k, range), above
    mean · (1 + k · (deviation / range − 1)); windows are odd and clipped at the border, and what ends the tuple may be left out
    (window 15, offset 0, k 0.2, range half of the type's largest). ``mask``, an
    image of the same shape: only pixels where it is above 0. ``fill_holes``: background that does not reach the border becomes
    foreground, all of it, or holes of up to so many pixels. ``connectivity`` is that of the foreground (8; of a volume 26), holes have the other (of a
    volume 6, or 26 where the foreground has 6). Hysteresis and holes of a volume are in three dimensions, local thresholds those of each
    slice. A pixel that is not a number is background. Results do not depend on ``threads`` (0: one for each processor).
    TypeError: an array that is not taken; UsageError: arguments that do not go together, and a mask of another shape.
    """
    if isinstance(threshold, str):
        if threshold != "otsu" or hysteresis is not None or local is not None:
            raise UsageError(f"threshold is to be a number, a band (low, high) or 'otsu', and alone, not {threshold!r}")
        view = memoryview(image)
        threshold = otsu(image) if view.ndim != 3 else otsu(_one_below_the_other(image))
    return _foreground(image, _rule(threshold, hysteresis, local), mask, _holes(fill_holes), connectivity, threads)


def measure(
    labels: Any,
    *,
    grey: Any = None,
    features: Sequence[str] = ("label", "area", "box", "centroid"),
    connectivity: int = 8,
) -> Components:
    """Features of the regions of a label image (h, w), or a label volume (z, h, w), of bool or integers, whoever made it: a row for each
    label that is not 0, rising.

    Labels need not be consecutive, nor their regions connected. ``features`` are names among ``MEASURES``: those of :func:`components`,
    and label; form: extent (area over the box), diameter (of the disc of this area), roundness (4 area / (pi major²)); hull:
    convex_area (pixels with their centre in the convex hull of the middles of the pixels' edges, as scikit-image's), solidity;
    feret: feret_max, feret_min (calipers at the hull of the pixels' corners, as ImageJ's), feret_outline (scikit-image's
    feret_diameter_max); crofton: crofton_2, crofton_4 (perimeters from lines in 2 and 4 directions), circularity; spread: grey_mean,
    grey_std. ``grey`` (h, w) has the values of grey and spread. ``connectivity`` is that of the feature euler. Of a volume there are label,
    area (the column volume), box, first, sums, second and centroid, also along z, grey (with weighted_z) and spread.
    TypeError: arrays that are not taken; UsageError: a negative label, an argument out of range; UnsupportedError: labels beyond 32 bits.
    """
    import numpy as np

    array = unmasked(labels, "labels")
    if array.ndim not in (2, 3) or array.dtype.kind not in "biu":
        raise TypeError(f"labels are {array.ndim}-D of {array.dtype}; they are to be a 2-D or 3-D array of bool or integers")
    if array.dtype.kind == "i" and array.size > 0 and int(array.min()) < 0:
        raise UsageError(f"labels have {array.min()}; they are to be whole numbers from 0 up")
    return image_measure(np.ascontiguousarray(array, array.dtype.newbyteorder("=")), grey, features, connectivity)


def split(
    foreground: Any,
    depth: float = 1,
    *,
    connectivity: int | None = None,
    min_area: int = 0,
    max_area: int | None = None,
    border: Literal["any", "inside", "touching"] = "any",
    threads: int = 1,
) -> tuple[NDArray[np.int32], int]:
    """Labels of the parts of a foreground (h, w), or (z, h, w) of a volume (what is above 0), and how many: objects that touch are cut apart where they are narrow.

    The watershed of the distance to the background, of which a hill is a part if it rises by ``depth`` pixels or more above where it meets
    a higher one (the h of h-maxima; 0: every regional maximum). Parts are numbered in raster order, every pixel of the foreground belongs to one; those
    of fewer pixels than ``min_area``, of more than ``max_area`` and by ``border`` (as in :func:`label`, of parts) become background. What is outside of the image is
    no background. ``connectivity`` is 4 or 8 (8), of a volume, whose distances are in three dimensions, 6, 18 or 26 (26). :func:`measure` has their features. Ties are told in image_split.h: there is one result, whatever ``threads``.
    TypeError: an array that is not taken; UsageError: arguments out of range; UnsupportedError: a side of more than 65 000 pixels or so.
    """
    import numpy as np

    labels = np.zeros(np.shape(foreground), np.int32)
    rows = labels.reshape(labels.shape[0] * labels.shape[1], labels.shape[2]) if labels.ndim == 3 else labels
    return labels, _split(foreground, rows, depth, connectivity, min_area, max_area, border, threads)


def remove_small(image: Any, min_area: int, *, connectivity: int = 8, threshold: float | None = None, threads: int = 1) -> NDArray[np.bool_]:
    """The foreground (h, w) without components of fewer than ``min_area`` pixels. Errors are those of :func:`label`."""
    labels, _ = label(image, connectivity=connectivity, threshold=threshold, min_area=min_area, threads=threads)
    kept: NDArray[np.bool_] = labels != 0
    return kept


def largest(
    image: Any, k: int = 1, *, connectivity: int = 8, threshold: float | None = None, threads: int = 1
) -> NDArray[np.bool_]:
    """The ``k`` components (h, w) with most pixels, of equal ones the first in raster order; nothing of an image without foreground."""
    import numpy as np

    labels, columns = components(
        image, features=("area",), labels=True, connectivity=connectivity, threshold=threshold, threads=threads
    )
    if k < 1:
        raise UsageError(f"k is to be 1 or more, not {k}")
    keeps = np.zeros(columns.n_rows + 1, np.bool_)
    keeps[1 + np.argsort(-columns.area.astype(np.int64), kind="stable")[:k]] = True
    kept: NDArray[np.bool_] = keeps[labels]
    return kept


def run(
    paths: Paths,
    *,
    connectivity: int = 8,
    threshold: float | tuple[float, float] | Literal["otsu"] | None = None,
    hysteresis: tuple[float, float] | None = None,
    local: Local | None = None,
    mask: Any = None,
    fill_holes: bool | int = False,
    split: float | None = None,
    inverse: bool = False,
    min_area: int = 0,
    max_area: int | None = None,
    border: Literal["any", "inside", "touching"] = "any",
    filter: str | None = None,
    largest: int = 0,
    features: Sequence[str] = ("area", "box", "first", "centroid"),
    labels: bool = False,
    threads: int = 1,
    algorithm: str = "auto",
    device: str | None = None,
    on_fault: OnFault = "warn",
    progress: Progress = None,
) -> Reader[PageBatch]:
    """Labels the pages of image files, as ``sluice label`` does, whose checksum the reader's is for the same settings and features.

    Each batch is a page, in the order of the files: ``components``, ``n_components``, ``n_filtered``, ``threshold``, ``pixel_um`` (a
    pixel's sides along x and y by a TIFF's own words, or None), ``image`` (the page, copied),
    and with ``labels=True`` ``labels`` (h, w) int32. ``threshold`` is a number, which pixels at or above it reach (None: 1), or "otsu": found for
    each page, or as ``hysteresis``, ``local``, ``mask`` and ``fill_holes`` what :func:`foreground` has. ``split`` is the depth of :func:`split`: parts are the components. ``threads`` (0: one for each processor) are shared by files, or are those inside the labeller of a single one. Other
    arguments are those of :func:`components`; ``features`` are those of :func:`measure`, too. ``filter`` keeps components for which all terms
    hold, "area>=20 && solidity>0.9" (any column, up to 16 with commas or &&), and ``largest`` of these as many with most pixels: others become
    background, and are counted in ``n_filtered``. Those of reading are as in ``sluice.velo.open``: what is to be told of pages is one
    ``DamageWarning`` at the end of their file, and a file that cannot be read (further) is an error, after which the next one comes.
    """
    found = isinstance(threshold, str)
    if found and threshold != "otsu":
        raise UsageError(f"threshold is to be a number, a band (low, high) or 'otsu', not {threshold!r}")
    if inverse and mask is not None:
        raise UsageError("mask does not go with inverse: what is outside of the mask is neither")
    if split is not None and (inverse or algorithm != "auto" or not 0 <= split < float("inf")):
        raise UsageError("split is a number of pixels from 0, and does not go with inverse and algorithm")
    if found and (hysteresis is not None or local is not None):
        raise UsageError("hysteresis and local are in the place of threshold: one of them is to be given")
    rule = _rule(None if found else threshold, hysteresis, local)
    return image_run(
        common(paths, 1, threads, on_fault, progress),
        connectivity,
        rule[1] if rule[0] == "least" and len(rule) > 1 else 1.0,
        inverse,
        min_area,
        max_area,
        border,
        None,
        algorithm,
        device,
        features,
        labels,
        found,
        rule,
        mask,
        _holes(fill_holes),
        split,
        filter,
        largest,
    )


def _page(image: Any, narrow: bool) -> tuple[Any, int | None]:
    """An array that the library writes, and the width of rows of bits."""
    import numpy as np

    array = unmasked(image, "an image")
    if array.ndim != 2:
        raise TypeError(f"an image of {array.ndim} dimensions; it is to be a 2-D array, several are a list or a 3-D array")
    if array.dtype == np.bool_:
        return np.ascontiguousarray(np.packbits(array, axis=1, bitorder="little")), array.shape[1]
    if array.dtype.kind in "iu" and array.dtype not in (np.uint8, np.uint16, np.uint32):
        least, most = (int(array.min()), int(array.max())) if array.size > 0 else (0, 0)
        if least < 0 or most >= 1 << 32:
            raise UsageError(f"an image with values from {least} to {most}; whole numbers are written as up to 32 bits without a sign")
        array = array.astype(np.uint32)
    if narrow and array.dtype == np.uint32:
        if array.size > 0 and int(array.max()) > 65535:
            raise UsageError(f"an image with {array.max()} does not fit into the 16 bits of .png and .pgm; write .npy or .tif instead")
        array = array.astype(np.uint16)
    return np.ascontiguousarray(array), None


def save(path: Path, images: Any) -> None:
    """Writes an image, or several (a list, or an array of three dimensions), into a file of the format of its name's ending.

    .npy, .tif, .tiff: bool, uint8, uint16, uint32, float32 (bool as 0 and 1 in .npy); .png: bool, uint8, uint16, one image; .pgm:
    uint8, uint16; .pbm: bool. Labels and other whole numbers without a sign become uint32, in .png and .pgm uint16 if they fit.
    The file appears when it is complete. UsageError: a type or a number of images that the format does not have; FileError.
    """
    import numpy as np

    name = os.fsdecode(path).lower()
    if isinstance(images, Iterable) and not hasattr(images, "__array__"):
        several: list[Any] = list(images)
        pages = several if len(several) == 0 or np.ndim(several[0]) > 1 else [several]
    else:
        pages = list(unmasked(images, "an image")) if np.asarray(images).ndim == 3 else [images]
    if len(pages) == 0:
        raise UsageError("no image to write")
    image_save(path, [_page(one, name.endswith((".png", ".pgm"))) for one in pages], False)


def preview(labels: ArrayLike, path: Path | None = None) -> NDArray[np.uint8] | None:
    """Labels in the colours of ``sluice label --preview``: background black, neighbouring numbers far apart, the same number always
    the same. (h, w, 3) uint8, red, green, blue; or with ``path`` a PNG, whatever its name, and nothing is returned."""
    import numpy as np

    array = np.asarray(labels)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise TypeError(f"labels are {array.ndim}-D of {array.dtype}; they are to be a 2-D array of integers")
    if path is not None:
        image_save(path, [_page(array, False)[:1] + (None,)], True)
        return None
    from .plot.plot_image import COLOURS, label_colours

    table = np.round(label_colours(np.arange(COLOURS + 1)) * 255).astype(np.uint8)
    colours: NDArray[np.uint8] = table[np.where(array > 0, 1 + (array - 1) % COLOURS, 0)]
    return colours
