#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw Timepix4 to text, slowly and from the description of the format alone (docs/formats/tpx4.md); shares nothing with
the library. Prints "pixel x y tot time" in the order of the file, both in 25 ns / 128, and at the end
"count chunks heartbeats other".

    tpx4_decode.py FILE
"""
import struct
import sys

PHASES = {0xF: 0, 0xE: 1, 0xC: 2, 0x8: 3, 0x0: 4, 0x1: 5, 0x3: 6, 0x7: 7}


def bits(word, low, n):
    return (word >> low) & ((1 << n) - 1)


def gray(value):
    sum_of_shifts = 0
    while value:
        sum_of_shifts ^= value
        value >>= 1
    return sum_of_shifts


def main(path):
    data = open(path, "rb").read()
    chunks, words, at = 0, [], 0
    while at < len(data):
        if data[at : at + 4] != b"TPX4":
            sys.exit(f"{path}: byte {at}: no chunk")
        (size,) = struct.unpack_from("<H", data, at + 6)
        words += struct.unpack_from(f"<{size // 8}Q", data, at + 8)
        chunks, at = chunks + 1, at + 8 + size
    counts = {"heartbeats": 0, "other": 0}
    # Pixels in front of a half's first heartbeat have their time from that.
    beat = [next((bits(w, 0, 55) for w in words if w >> 63 == half and bits(w, 55, 8) == 0xE0), None) for half in (0, 1)]
    for word in words:
        top, kind = word >> 63, bits(word, 55, 8)
        if kind == 0xE0:
            beat[top] = bits(word, 0, 55)
            counts["heartbeats"] += 1
        elif kind > 0xDF:
            counts["other"] += 1
        else:
            pixel, rise, fall = bits(word, 46, 3), bits(word, 17, 5), bits(word, 12, 5)
            u = PHASES[bits(word, 26, 4)] - PHASES[bits(word, 22, 4)]
            toa = gray(bits(word, 30, 16))
            clock = min((beat[top] // 65536 * 65536 + toa + turn for turn in (-65536, 0, 65536)), key=lambda t: abs(t - beat[top]))
            x, y = 2 * kind + pixel // 4, 16 * bits(word, 51, 4) + 4 * bits(word, 49, 2) + pixel % 4
            tot = 128 * bits(word, 1, 11) + 8 * (rise - fall) - u
            print("pixel", 447 - x if top else x, 511 - y if top else y, max(tot, 0), 128 * clock - 8 * rise + u)
    print("count", chunks, counts["heartbeats"], counts["other"])


if __name__ == "__main__":
    main(sys.argv[1])
