#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of the package costs beside C, SciPy, scikit-image and OpenCV: labels, labels with statistics, features of a label image, and a
column. All that is installed takes its turn, in one thread pinned to a processor. Told are medians over the turns of the processor's time,
and of its ratio to ours in the same turn, so that what else the machine does moves them little.

    cmake --build --preset release
    PYTHONPATH=build/release/python tools/bench-python.py --build build/release

OpenCV and scikit-image are not among what the project installs: apt-get install --no-install-recommends python3-opencv python3-skimage.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

C_PROGRAM = r"""
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int n, char **v)
{
    const size_t w = strtoul(v[1], NULL, 10);
    unsigned char *p = malloc(w * w);
    uint32_t *o = aligned_alloc(4096, (w * w * 4 + 4095) / 4096 * 4096);
    char line[64];
    slc_error e;
    slc_image_labeller *l;
    slc_image_label_config c;
    slc_image_label_config_default(&c);
    if (n < 3 || fread(p, 1, w * w, fopen(v[2], "rb")) != w * w) return 1;
    memset(o, 1, w * w * 4);
    if (slc_image_label_open(&c, &l, &e) || slc_image_label_reserve(l, w, w, &e)) return 2;
    slc_image im = {.pixels = p, .width = w, .height = w, .stride = (ptrdiff_t)w, .type = SLC_IMAGE_U8};
    slc_image_labels out = {.labels = o, .stride = (ptrdiff_t)(4 * w), .type = SLC_TYPE_U32};
    while (fgets(line, sizeof line, stdin)) { /* a number of calls: the time of one in seconds */
        const long calls = strtol(line, NULL, 10);
        const double began = now();
        for (long i = 0; i < calls; i++) if (slc_image_label_run(l, &im, NULL, &out, NULL, &e)) return 3;
        printf("%.9g\n", (now() - began) / (double)calls);
        fflush(stdout);
    }
}
"""

Timed = Callable[[int], float]


def calls_of(function: Callable[[], Any]) -> Timed:
    """Seconds of one of so many calls."""

    def timed(n: int) -> float:
        began = time.process_time()
        for _ in range(n):
            function()
        return (time.process_time() - began) / n

    return timed


class CProgram:
    """The library from C, with the installed headers' interface: built once, fed with numbers of calls."""

    def __init__(self, build: pathlib.Path) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "label")
        source = self.program + ".c"
        pathlib.Path(source).write_text(C_PROGRAM)
        library = next(iter(sorted(build.rglob("libsluice.so"))), None)
        if library is None:
            sys.exit(f"{build} has no libsluice.so; build it, or leave --build out")
        root = pathlib.Path(__file__).resolve().parent.parent
        command = ["gcc", "-std=gnu17", "-O2", f"-I{root / 'include'}", f"-I{build / 'include'}", source, "-o", self.program]
        subprocess.run([*command, str(library), f"-Wl,-rpath,{library.parent.resolve()}"], check=True)

    def label(self, image: np.ndarray[Any, Any]) -> Timed:
        raw = os.path.join(self.folder.name, f"{len(image)}.raw")
        image.tofile(raw)
        process = subprocess.Popen([self.program, str(len(image)), raw], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def timed(n: int) -> float:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{n}\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        return timed


def peers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, module in (("scipy", "scipy.ndimage"), ("skimage", "skimage.measure"), ("cv2", "cv2")):
        try:
            found[name] = __import__(module, fromlist=["x"])
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    if "cv2" in found:
        found["cv2"].setNumThreads(1)
    return found


def cases(image: np.ndarray[Any, Any], others: dict[str, Any], c: CProgram | None) -> dict[str, dict[str, Timed]]:
    """By what is done: who does it."""
    import sluice
    from sluice.compat import cv2 as own_cv2
    from sluice.compat import ndimage as own_ndimage
    from sluice.compat import skimage as own_skimage

    out = np.zeros(image.shape, np.int32)
    square = np.ones((3, 3), bool)
    properties = ("label", "area", "bbox", "centroid")
    labels, n = sluice.image.label(image)
    wide = labels.astype(np.int64)
    numbers = np.arange(1, n + 1)
    columns = sluice.image.components(image)
    label: dict[str, Callable[[], Any]] = {
        "sluice": lambda: sluice.image.label(image),
        "sluice out=": lambda: sluice.image.label(image, out=out),
        "compat.ndimage": lambda: own_ndimage.label(image, square),
        "compat.cv2": lambda: own_cv2.connectedComponents(image),
    }
    statistics_of: dict[str, Callable[[], Any]] = {
        "sluice": lambda: sluice.image.components(image, labels=True),
        "compat.cv2": lambda: own_cv2.connectedComponentsWithStats(image),
    }
    features: dict[str, Callable[[], Any]] = {
        "sluice": lambda: sluice.image.components(image),
        "compat.skimage": lambda: own_skimage.regionprops_table(labels, properties=properties),
    }
    if "cv2" in others:
        cv2 = others["cv2"]
        label["cv2"] = lambda: cv2.connectedComponents(image, connectivity=8)
        statistics_of["cv2"] = lambda: cv2.connectedComponentsWithStats(image, connectivity=8)
    if "scipy" in others:
        nd = others["scipy"]
        label["scipy"] = lambda: nd.label(image, square)
        features["scipy"] = lambda: (nd.sum(image, labels, numbers), nd.find_objects(labels), nd.center_of_mass(image, labels, numbers))
    if "skimage" in others:
        sk = others["skimage"]
        label["skimage"] = lambda: sk.label(image)
        features["skimage"] = lambda: sk.regionprops_table(wide, properties=properties)
    made = {
        "label": {name: calls_of(function) for name, function in label.items()},
        "label with statistics": {name: calls_of(function) for name, function in statistics_of.items()},
        "features": {name: calls_of(function) for name, function in features.items()},
        "a column": {"columns.area": calls_of(lambda: columns.area), "columns['area']": calls_of(lambda: columns["area"])},
    }
    if c is not None:
        made["label"]["C"] = c.label(image)
    return made


def measure(who: dict[str, Timed], turns: int, seconds: float) -> dict[str, tuple[float, float]]:
    """Medians of the turns: microseconds, and the ratio to the first."""
    calls = {}
    for name, timed in who.items():
        timed(1)
        calls[name] = max(1, int(seconds / max(timed(2), 1e-8)))
    times: dict[str, list[float]] = {name: [] for name in who}
    for turn in range(turns):
        for name in who if turn % 2 == 0 else reversed(who):
            times[name].append(who[name](calls[name]))
    ours = next(iter(times.values()))
    ratio = {name: statistics.median(a / b for a, b in zip(values, ours)) for name, values in times.items()}
    return {name: (1e6 * statistics.median(values), ratio[name]) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="build folder with libsluice.so: C takes part")
    parser.add_argument("--sides", type=int, nargs="+", default=[16, 64, 256, 2048], help="of the images, in pixels")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.01, help="of a turn")
    parser.add_argument("--cpu", type=int, help="processor to be pinned to (default: the last one)")
    given = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if given.cpu is None else given.cpu})
    others, c = peers(), CProgram(given.build) if given.build is not None else None
    print("| what | image | who | us | of ours |\n|---|---|---|---:|---:|")
    for side in given.sides:
        grains = np.random.default_rng(1).random((-(-side // 4), -(-side // 4))) < 0.45
        image = np.ascontiguousarray(np.kron(grains, np.ones((4, 4)))[:side, :side].astype(np.uint8))
        for what, who in cases(image, others, c).items():
            for name, (us, ratio) in measure(who, given.turns, given.seconds).items():
                print(f"| {what} | {side}² | {name} | {us:.4g} | {ratio:.3g} |", flush=True)


if __name__ == "__main__":
    main()
