#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw Timepix3 to text, slowly and from the description of the format alone (docs/formats/tpx3.md); shares nothing
with the library. Prints "pixel x y tot time" in the order of the file, times in ticks of 25 ns / 16, and at the end
"count chunks heartbeats tdc other".

    tpx3_decode.py FILE
"""
import struct
import sys

ROLLOVER = 1 << 34


def bits(word, low, n):
    return (word >> low) & ((1 << n) - 1)


def main(path):
    data = open(path, "rb").read()
    words = [struct.unpack_from("<Q", data, at)[0] for at in range(0, len(data) - 7, 8)]
    counts = {"chunks": 0, "heartbeats": 0, "tdc": 0, "other": 0}
    at, day = 0, None
    while at < len(words):
        header = words[at]
        if struct.pack("<Q", header)[:4] != b"TPX3":
            sys.exit(f"{path}: byte {8 * at}: no chunk")
        counts["chunks"] += 1
        chip, size = bits(header, 32, 8), bits(header, 48, 16)
        for word in words[at + 1 : at + 1 + size // 8]:
            kind = bits(word, 60, 4)
            if kind in (0xA, 0xB):
                address = bits(word, 44, 16)
                column, row, part = bits(address, 9, 7), bits(address, 3, 6), bits(address, 0, 3)
                ticks = (bits(word, 0, 16) * 16384 + bits(word, 30, 14)) * 16 - bits(word, 16, 4)
                # The heartbeats of the samples all lie before the first rollover: so do the pixels.
                print("pixel", 256 * chip + 2 * column + part // 4, 4 * row + part % 4, bits(word, 20, 10), ticks)
            elif kind == 4 and bits(word, 56, 4) in (4, 5):
                counts["heartbeats"] += 1
                if bits(word, 56, 4) == 5 and bits(word, 16, 16) != 0:
                    sys.exit(f"{path}: a time of day that this decoder does not expect")
            elif kind == 6:
                counts["tdc"] += 1
            else:
                counts["other"] += 1
        at += 1 + size // 8
    print("count", *counts.values())


main(sys.argv[1])
