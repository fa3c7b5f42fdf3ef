#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a result costs: whole runs of `sluice` with an output beside the same without, in turns, all files in memory.

    tools/bench-results.py [SLUICE] [--turns 7] [--threads 2] [--only velo,cms,cluster,pet] [--scale 1] [--folder /dev/shm]

Inputs are generated: 2 000 events of the VELO, 200 of CMS, 5 million hits of a Timepix3, half a second of PET at 20 M singles/s; --scale 10
makes the last two 50 million hits and 2 GB. A row is a run's wall time, the median of its turns, over that of the run without an output; the
second figure is the least of each. "of its processors": the processor time of the run with the output, user's and kernel's, over what its
threads had, at the median: 1 would be a run in which no thread ever waits, so that this much of what the chain and its output allow is
reached. "its bytes alone": how long one thread takes to put as many bytes into a new file, of the run without an output. Then stand what was
written and, of HDF5 where h5py is installed, rows and seconds of reading all of it back.

What a run has written is removed before the next, so that files take pages that were in use just before. A virtual machine may have handed
pages that were not used for a while back to its host, and then they cost five times as much: "its bytes alone" tells it.
"""
import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time


def tpx3(path, hits):
    import numpy as np

    rng = np.random.default_rng(1)
    clusters = hits // 4 + 1
    size = rng.integers(1, 8, clusters)
    c = np.repeat(np.arange(clusters), size)[:hits]
    start = 1000 + np.cumsum(rng.exponential(64, clusters))
    k = np.arange(len(c)) - np.searchsorted(c, c)
    x = rng.integers(2, 254, clusters)[c] + np.array([0, 1, 0, -1, 0, 1, -1, 1])[k]
    y = rng.integers(2, 254, clusters)[c] + np.array([0, 0, 1, 0, -1, 1, 1, -1])[k]
    tick = (start[c] + rng.integers(0, 40, len(c))).astype(np.int64)
    order = np.argsort(tick + rng.integers(0, 30000, len(c)), kind="stable")
    x, y, tick = x[order], y[order], tick[order]
    coarse = -(-tick // 16)

    def bits(values, shift):
        return values.astype(np.uint64) << np.uint64(shift)

    words = ((np.uint64(11) << np.uint64(60)) | bits(x >> 1, 53) | bits(y >> 2, 47) | bits((x & 1) * 4 + (y & 3), 44)
             | bits(coarse & 0x3FFF, 30) | bits(rng.integers(1, 200, len(c)), 20) | bits(coarse * 16 - tick, 16)
             | bits((coarse >> 14) & 0xFFFF, 0))
    chunks = np.zeros((len(words) // 1000, 1001), "<u8")
    chunks[:, 0] = struct.unpack("<Q", b"TPX3\0\0" + struct.pack("<H", 8000))[0]
    chunks[:, 1:] = words[: len(chunks) * 1000].reshape(-1, 1000)
    chunks.tofile(path)


def read_back(path):
    """Rows of the largest group and seconds of reading all; "" if it is no HDF5 or h5py is not there."""
    try:
        import h5py
    except ImportError:
        return ""
    if not path.endswith(".h5"):
        return ""
    began = time.perf_counter()
    with h5py.File(path) as f:
        rows = []
        f.visititems(lambda _, d: rows.append(d[...].size) if isinstance(d, h5py.Dataset) else None)
    return f", {max(rows)} rows read back in {time.perf_counter() - began:.2f} s"


class Bench:
    def __init__(self, options):
        self.options, self.folder = options, tempfile.mkdtemp(prefix="sluice-results-", dir=options.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def sluice(self, *words):
        """Seconds on the wall and of processors."""
        began = time.perf_counter()
        with tempfile.TemporaryFile("w+") as told:
            ran = subprocess.Popen([self.options.sluice, *words, "-q"], stdout=subprocess.DEVNULL, stderr=told)
            _, status, used = os.wait4(ran.pid, 0)
            ran.returncode = os.waitstatus_to_exitcode(status)
            if ran.returncode != 0:
                told.seek(0)
                sys.exit(f"sluice {' '.join(words)}: {told.read().strip()[-300:]}")
        return time.perf_counter() - began, used.ru_utime + used.ru_stime

    def written(self):
        return [self.path(f) for f in os.listdir(self.folder) if f.startswith("out.")]

    def forget(self):
        for path in self.written():
            os.remove(path)

    def copying(self, size):
        """Seconds of one thread to put so many bytes into a new file."""
        block, began = bytes(1 << 20), time.perf_counter()
        with open(self.path("out.bytes"), "wb", buffering=0) as f:
            for at in range(0, size, len(block)):
                f.write(block[: size - at])
        took = time.perf_counter() - began
        self.forget()
        return took

    def compare(self, title, base, outputs):
        """`outputs`: rows of (what, options, file)."""
        taken, known = [[] for _ in range(len(outputs) + 1)], {}
        self.sluice(*base)  # the first warms up
        for _ in range(self.options.turns):
            taken[0].append((*self.sluice(*base), 0))
            for i, (_, words, path) in enumerate(outputs, 1):
                run = self.sluice(*base, *words)
                size = sum(os.path.getsize(f) for f in self.written())
                if i not in known:
                    known[i] = f"{size / 1e6:.0f} MB{read_back(path)}"
                self.forget()
                taken[i].append((*run, self.copying(size)))
        wall = [[t[0] for t in times] for times in taken]
        middle = [statistics.median(times) for times in wall]
        print(f"{title}: {middle[0]:.3f} s without an output ({' '.join(base[:2])})", flush=True)
        for i, (what, words, _) in enumerate(outputs, 1):
            ratio, least = middle[i] / middle[0], min(wall[i]) / min(wall[0])
            threads = int(dict(zip((*base, *words), (*base, *words)[1:]))["--threads"])
            busy = statistics.median(t[1] for t in taken[i]) / (threads * middle[i])
            pages = statistics.median(t[2] for t in taken[i]) / middle[0]
            print(f"    {what:34s} {ratio:6.2f} of the time (least {least:.2f}), {1 / ratio:.2f} of the rate, {busy:.2f} of its processors,"
                  f" {pages:.2f} its bytes alone; {known[i]}", flush=True)

    def outputs(self, *rows):
        return [(what, [w.replace("OUT", self.path("out.")) for w in words], self.path("out." + end)) for what, end, words in rows]

    def velo(self):
        self.sluice("simulate", "velo", "--events", "2000", "--seed", "1", "-o", self.path("r.mdf"))
        self.compare("velo", ["velo", self.path("r.mdf"), "--threads", self.options.threads], self.outputs(
            ("HDF5, none", "h5", ["-o", "OUTh5"]), ("HDF5, deflate", "d.h5", ["-o", "OUTd.h5", "--compression", "deflate"]),
            ("HDF5, none, tracks alone", "t.h5", ["-o", "OUTt.h5", "--columns", "tracks"]),
            ("Arrow, none", "arrow", ["-o", "OUTarrow"]), ("Arrow, lz4", "l.arrow", ["-o", "OUTl.arrow", "--compression", "lz4"]),
            ("Arrow, zstd", "z.arrow", ["-o", "OUTz.arrow", "--compression", "zstd"])))
        os.remove(self.path("r.mdf"))

    def cms(self):
        words = [w for n in ("cabling", "gains") for w in (f"--{n}", self.path(n))]
        self.sluice("simulate", "cms", "--events", "200", "--seed", "1", "-o", self.path("r.raw"), *words)
        self.compare("cms", ["cms", self.path("r.raw"), *words, "--threads", self.options.threads], self.outputs(
            ("HDF5, none", "h5", ["-o", "OUTh5"]), ("HDF5, deflate", "d.h5", ["-o", "OUTd.h5", "--compression", "deflate"]),
            ("Arrow, none", "arrow", ["-o", "OUTarrow"]), ("CSV of clusters", "csv", ["--table", "OUTcsv"])))
        os.remove(self.path("r.raw"))

    def cluster(self):
        tpx3(self.path("r.tpx3"), 5_000_000 * self.options.scale)
        self.compare("cluster", ["cluster", self.path("r.tpx3"), "--threads", self.options.threads], self.outputs(
            ("HDF5, none", "h5", ["-o", "OUTh5"]), ("HDF5, deflate", "d.h5", ["-o", "OUTd.h5", "--compression", "deflate"]),
            ("Arrow, none", "arrow", ["-o", "OUTarrow"]), ("Arrow, lz4", "l.arrow", ["-o", "OUTl.arrow", "--compression", "lz4"]),
            ("CSV", "csv", ["-o", "OUTcsv"])))
        os.remove(self.path("r.tpx3"))

    def pet(self):
        self.sluice("simulate", "pet", "--scanner", "mouse20", "--fast", "--rate", "2e7", "--seconds", str(0.5 * self.options.scale), "-o",
                    self.path("r.frames"), "--write-tables", self.path("t.h5"))
        base = ["pet", "run", self.path("r.frames"), "--tables", self.path("t.h5"), "--threads", self.options.threads]
        self.compare("pet run", base, self.outputs(
            ("HDF5", "h5", ["-o", "OUTh5"]),
            ("HDF5, delayeds, rates, singles", "a.h5", ["-o", "OUTa.h5", "--delayed", "100ns", "--rates", "OUTrates.csv", "--singles", "OUTsingles"]),
            ("CASToR with TOF", "cdf", ["-o", "OUTcdh", "--tof", "200ps"]), ("CSV", "csv", ["-o", "OUTcsv"])))
        self.compare("pet run, one thread", base[:-1] + ["1"], [("so many threads as above", ["--threads", self.options.threads], "")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice", nargs="?", default="build/release/sluice")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", default="velo,cms,cluster,pet")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--folder", default="/dev/shm")
    bench = Bench(parser.parse_args())
    try:
        for name in bench.options.only.split(","):
            getattr(bench, name)()
    finally:
        shutil.rmtree(bench.folder)


main()
