#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checksum of result files, from their data sets and by other people's hash: docs/formats/checksum.md, word by word.

    checksum.py FILE.h5...     prints each one's checksum, and fails where it is not that of the file's attribute
"""
import sys

import h5py
import numpy as np
import xxhash

FACTOR, DELAYED, MASK = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 2**64 - 1
OF_THE_COMMAND = {"input", "frame", "page", "label", "event_offset"}  # where a row is from


def of_events(file, groups):
    total = 0
    for group in groups:
        offsets = file[group]["event_offset"][:]
        for column in sorted(set(file[group]) - OF_THE_COMMAND):
            data, part, power = file[group][column][:], 0, 1
            for begin, end in zip(offsets[:-1], offsets[1:]):
                part += power * xxhash.xxh3_64_intdigest(data[begin:end].tobytes())
                power = power * FACTOR & MASK
            total += part * (xxhash.xxh3_64_intdigest(f"{group}/{column}".encode()) | 1)
    return total & MASK


def of_pairs(group):
    column = {name: group[name][:] for name in group}
    bits = lambda name: column[name].view(np.uint32).astype(np.uint64)
    words = [column["time_ps"].view(np.uint64), column["dt_ps"].astype(np.int64).view(np.uint64),
             bits("crystal1") | bits("crystal2") << np.uint64(32), bits("energy1_kev") | bits("energy2_kev") << np.uint64(32)]
    total = 0
    for delayed in (0, 1):
        rows = column["delayed"] == delayed
        n = int(rows.sum())
        hashes = np.full(n, DELAYED * delayed, np.uint64)
        for word in words:
            hashes = (hashes ^ word[rows]) * np.uint64(FACTOR)
            hashes ^= hashes >> np.uint64(32)
        powers = np.multiply.accumulate(np.r_[np.uint64(1), np.full(max(n - 1, 0), FACTOR, np.uint64)])[:n]
        total += int((hashes * powers).sum(dtype=np.uint64))
    return total & MASK


def of_file(path):
    with h5py.File(path) as file:
        if "coincidences" in file:
            found = of_pairs(file["coincidences"])
        elif "primaries" in file:
            found = of_events(file, ["hits", "tracks", "track_hits", "states_beam", "states_end", "primaries"])
        elif "digis" in file:
            found = of_events(file, ["digis", "modules", "clusters"])
        else:
            found = of_events(file, ["clusters" if "clusters" in file else "components"])
        told = file.attrs["checksum"]
        return f"{found:016x}", told.decode() if isinstance(told, bytes) else told


if __name__ == "__main__":
    wrong = False
    for name in sys.argv[1:]:
        computed, attribute = of_file(name)
        print(computed)
        if computed != attribute:
            print(f"{name}: its checksum is {computed}, its attribute says {attribute}", file=sys.stderr)
            wrong = True
    sys.exit(wrong)
