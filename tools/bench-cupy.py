#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CuPy's `label` beside the library's, on the same images and under the same conditions.

    tools/bench-cupy.py --sluice build/gpu/sluice --against labels8.csv [--against small8.csv] [--repetitions 11]

A CSV of `sluice bench label --device cuda --csv` says which images there are: sizes, granularities and densities, and their seed
is 1. `sluice simulate image` makes them anew, so that they are the same pixels. cupyx.scipy.ndimage.label labels them on the
device, with the structure that the CSV's connectivity has; before each run 256 MB of other memory are written. Times are from
events of the device around the call (its kernels, and the waiting for the count that it does in the middle), medians; means are
all pixels over all time, as everywhere. The numbers of components are compared. Needs CuPy and its SciPy part.
"""
import argparse
import collections
import csv
import os
import statistics
import subprocess
import sys
import tempfile


def read_rows(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {"size", "granularity", "density_percent", "algorithm", "median_s", "connectivity", "components", "raw"}
    if not rows or not wanted <= rows[0].keys():
        sys.exit(f"{path}: no CSV of `sluice bench label --device cuda`")
    if any(row["raw"] == "1" for row in rows):
        sys.exit(f"{path}: raw labels have no number of components to compare")
    return rows


def make_image(sluice, folder, size, granularity, density, seed):
    import numpy

    path = os.path.join(folder, "image.npy")
    command = [sluice, "simulate", "image", "--quiet", "--size", size, "--granularity", granularity, "--density", density]
    subprocess.run(command + ["--seed", str(seed), "-o", path], check=True)
    image = numpy.load(path)
    os.remove(path)
    return image


def time_label(pixels, structure, repetitions, flush):
    """Seconds of each run, and the number of components."""
    import cupy
    from cupyx.scipy import ndimage

    output = cupy.empty(pixels.shape, cupy.int32)
    seconds = []
    for run in range(repetitions + 1):  # the first compiles
        flush.fill(run & 255)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        count = ndimage.label(pixels, structure, output=output)
        end.record()
        end.synchronize()
        seconds.append(cupy.cuda.get_elapsed_time(begin, end) * 1e-3)
    return seconds[1:], int(count)


def compare(path, options, flush, folder):
    """Prints a line for each size and granularity of a CSV."""
    import cupy

    rows = read_rows(path)
    images = collections.OrderedDict()
    for row in rows:
        key = (row["size"], row["granularity"], row["density_percent"])
        images.setdefault(key, {})[row["algorithm"]] = row
    connectivity = int(rows[0]["connectivity"])
    cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]] if connectivity == 4 else [[1] * 3] * 3
    structure = cupy.array(cross, cupy.int32)
    sums = collections.OrderedDict()
    for (size, granularity, density), by_name in images.items():
        pixels = cupy.asarray(make_image(options.sluice, folder, size, granularity, density, options.seed))
        seconds, count = time_label(pixels, structure, options.repetitions, flush)
        ours = by_name.get(options.algorithm)
        if ours is None:
            sys.exit(f"{path}: no rows of {options.algorithm}")
        if count != int(ours["components"]):
            sys.exit(f"{path}: size {size}, g {granularity}, {density} %: CuPy finds {count} components, not {ours['components']}")
        add = sums.setdefault((size, granularity), [0.0, 0.0, 0.0])
        add[0] += float(size) ** 2
        add[1] += statistics.median(seconds)
        add[2] += float(ours["median_s"])
        del pixels
    for (size, granularity), (area, theirs, mine) in sums.items():
        print(f"| {size} | {granularity} | {connectivity} | {area / theirs * 1e-9:.3g} | {area / mine * 1e-9:.3g} | {theirs / mine:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default="sluice", help="the command")
    parser.add_argument("--against", action="append", required=True, metavar="CSV", help="of sluice bench label --device cuda")
    parser.add_argument("--algorithm", default="bittile", help="of the library, whose rows are compared")
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--seed", type=int, default=1, help="of the images")
    options = parser.parse_args()
    try:
        import cupy
    except ImportError as why:
        sys.exit(f"this needs CuPy: {why}")
    if options.repetitions < 1:
        parser.error("--repetitions is 1 at least")
    flush = cupy.empty(256 << 20, cupy.uint8)
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}; Gpixel/s, all pixels over all time\n")
    print(f"| size | g | connectivity | CuPy | `{options.algorithm}` | times CuPy |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.against:
            compare(path, options, flush, folder)


if __name__ == "__main__":
    main()
