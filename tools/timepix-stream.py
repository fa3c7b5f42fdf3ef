#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A raw Timepix3 file for measurements: clusters of 1 to 7 hits in a row of their own neighbours, 40 million hits a
second, sent up to 47 us late, in chunks of 1000 packets; the same bytes for the same number.

    timepix-stream.py FILE HITS
"""
import struct
import sys

import numpy as np


def field(values, shift):
    return values.astype(np.uint64) << np.uint64(shift)


def main(path, wanted):
    rng = np.random.default_rng(1)
    n_clusters = wanted // 4 + 1
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 8, n_clusters))[:wanted]
    n = len(cluster)
    time = 1000 + np.cumsum(rng.exponential(64, n_clusters))
    k = np.arange(n) - np.searchsorted(cluster, cluster)
    x = rng.integers(2, 254, n_clusters)[cluster] + np.array([0, 1, 0, -1, 0, 1, -1, 1])[k]
    y = rng.integers(2, 254, n_clusters)[cluster] + np.array([0, 0, 1, 0, -1, 1, 1, -1])[k]
    tick = (time[cluster] + rng.integers(0, 40, n)).astype(np.int64)
    tot = rng.integers(1, 200, n)
    order = np.argsort(tick + rng.integers(0, 30000, n), kind="stable")
    x, y, tick, tot = x[order], y[order], tick[order], tot[order]
    clock = -(-tick // 16)
    word = (
        field(np.full(n, 0xB), 60) | field(x >> 1, 53) | field(y >> 2, 47) | field((x & 1) * 4 + (y & 3), 44)
        | field(clock & 0x3FFF, 30) | field(tot, 20) | field(clock * 16 - tick, 16) | field((clock >> 14) & 0xFFFF, 0)
    )
    chunks = np.zeros((n // 1000, 1001), "<u8")
    chunks[:, 0] = struct.unpack("<Q", b"TPX3\0\0" + struct.pack("<H", 8000))[0]
    chunks[:, 1:] = word[: n // 1000 * 1000].reshape(-1, 1000)
    chunks.tofile(path)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
