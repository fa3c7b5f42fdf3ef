# SPDX-License-Identifier: Apache-2.0
"""Nothing beside the pixels of a row is read or written: every row lies between pages that may not be touched. Run as a program, so that
a stray access ends that program alone, once for each instruction set."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

import sluice

pytestmark = pytest.mark.plain
PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
ALL_WIDTHS = list(range(1, 131))
TYPES = (bool, np.uint8, np.uint16, np.uint32, np.float32)


class Guarded:
    """Pages of which every second one may be touched."""

    def __init__(self, rows: int) -> None:
        size = (2 * rows + 1) * PAGE
        self.at = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert self.at not in (None, ctypes.c_void_p(-1).value)
        for page in range(0, 2 * rows + 1, 2):
            assert libc.mprotect(self.at + page * PAGE, PAGE, 0) == 0
        self.bytes = (ctypes.c_char * size).from_address(self.at)

    def place(self, height: int, width: int, dtype, at_end: bool):
        """An array whose rows are a page each, at its end or its begin: what is beside them may not be touched."""
        row = width * np.dtype(dtype).itemsize
        return np.ndarray((height, width), dtype, self.bytes, PAGE + (PAGE - row if at_end else 0), (2 * PAGE, np.dtype(dtype).itemsize))


def functions(image, out, expected):
    """Each function that takes pixels: results are those of the image alone."""
    labels, n = sluice.image.label(image, out=out)
    assert n == expected[1] and (labels == expected[0]).all()
    columns = sluice.image.components(image, features=sluice.image.FEATURES, grey=image)
    assert columns.n_rows == n
    sluice.image.otsu(image)
    labeller = sluice.image.Labeller(features=["area", "grey"])
    labeller.batch([image[1:]], out=[out[1:]])
    (labels,), counts = labeller.batch([image], out=[out])
    assert counts[0] == n and (labels == expected[0]).all()
    assert labeller.batch_components([image], grey=[image]).n_rows == n
    rows = sluice.image.RowStream(image.shape[1], dtype=image.dtype, features=["area"])
    assert rows.push(image).n_rows + rows.finish().n_rows == n


def stay_within(widths) -> int:
    rng = np.random.default_rng(5)
    height = 5
    pages, out_pages = Guarded(height), Guarded(height)
    n = 0
    for width in widths:
        for dtype in TYPES:
            made = (rng.random((height, width)) < 0.5).astype(dtype)
            expected = sluice.image.label(made)
            for at_end in (False, True) if width % 4 == 1 else (True,):
                image = pages.place(height, width, dtype, at_end)
                image[...] = made
                out = out_pages.place(height, width, np.uint16 if width % 2 else np.int32, at_end)
                functions(image, out, expected)
                if width % 8 == 1:
                    functions(image[::-1], out[::-1], sluice.image.label(made[::-1]))
                n += 1
    # The last row's end, where rows have gaps of any size between them.
    for gap in range(0, 80, 7):
        for dtype in TYPES:
            size = np.dtype(dtype).itemsize
            stride = (100 + gap) * size
            begin = 2 * PAGE - (height - 1) * stride - 100 * size
            if begin < PAGE:
                continue
            image = np.ndarray((height, 100), dtype, pages.bytes, begin, (stride, size))
            image[...] = rng.random((height, 100)) < 0.5
            functions(image, out_pages.place(height, 100, np.int32, True), sluice.image.label(image.copy()))
            n += 1
    return n


@pytest.mark.parametrize("target", sluice.targets())
def test_nothing_beside_the_rows_is_touched(target):
    made = subprocess.run(
        [sys.executable, "-X", "faulthandler", __file__], env={**os.environ, "SLUICE_SIMD": target}, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert int(made.stdout) > 6 * len(ALL_WIDTHS)


def test_a_stray_access_would_be_seen():
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_guard as g; import numpy as np;"
    for at_end in (True, False):
        place = f"p = g.Guarded(3); a = p.place(3, 7, np.uint8, {at_end}); g.ctypes.string_at(a[1:].ctypes.data + "
        inside, outside = (6, 7) if at_end else (0, -1)
        assert subprocess.run([sys.executable, "-c", f"{code}{place}{inside}, 1)"], check=False).returncode == 0
        stray = subprocess.run([sys.executable, "-c", f"{code}{place}{outside}, 1)"], check=False, stderr=subprocess.DEVNULL)
        assert stray.returncode != 0
    wrong = subprocess.run([sys.executable, __file__], env={**os.environ, "SLUICE_SIMD": "nothing"}, capture_output=True, check=False)
    assert b"nothing" in wrong.stderr  # the variable is looked at


if __name__ == "__main__":
    print(stay_within(ALL_WIDTHS))
