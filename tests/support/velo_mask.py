# SPDX-License-Identifier: Apache-2.0
"""Changes the VELO's banks in files of plain MDF records, by docs/formats/lhcb-raw-banks.md alone:

    velo_mask.py odd FILE OUTPUT           times (three minutes) and bunch crossings for ODIN, hot pixels in all events
    velo_mask.py without FILE MASK OUTPUT  the words of super-pixels and of clusters without the pixels of a text mask
    velo_mask.py some FILE N OUTPUT        a text mask of the pixels of every Nth word, of both kinds of banks
"""
import struct
import sys

HOT = [(10, 0, 0), (10, 255, 7), (63, 300, 128), (63, 301, 129), (207, 767, 255)]


def records(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        assert data[at + 16] & 15 == 0 and data[at + 17] == 0x37
        yield data[at:at + size]
        at += size


def banks(record):
    at = 48
    while at < len(record):
        magic, length, kind, version, source = struct.unpack_from("<HHBBh", record, at)
        assert magic == 0xcbcb
        yield kind, version, source, record[at + 8:at + length]
        at += (length + 3) // 4 * 4


def build(record, new):
    out = bytearray(record[:48])
    for kind, version, source, payload in new:
        out += struct.pack("<HHBBh", 0xcbcb, 8 + len(payload), kind, version, source) + payload + bytes(-len(payload) % 4)
    out[:16] = struct.pack("<4I", len(out), len(out), len(out), 0)
    return out


def words_of(version, payload):
    body = payload if version == 4 else payload[4:]
    return list(struct.unpack("<%dI" % (len(body) // 4), body))


def payload_of(version, words):
    return (b"" if version == 4 else struct.pack("<I", len(words))) + struct.pack("<%dI" % len(words), *words)


def sensor_of(kind, version, source, word):
    return source if version < 4 else 2 * (source & 0x1ff) + (word >> (23 if kind == 63 else 22) & 1)


def pixels(kind, version, source, word):
    """(bit of the word, pixel) of each of a word's pixels; of a cluster the one that holds its centroid."""
    sensor = sensor_of(kind, version, source, word)
    if kind == 63:
        column, row = word >> 14 & 0x1ff, word >> 8 & 0x3f
        return [(1 << k, (sensor, 2 * column + k // 4, 4 * row + k % 4)) for k in range(8) if word >> k & 1]
    bits = 3 if version == 2 else 2
    return [(0, (sensor, word >> (2 * bits + 8) & 0x3ff, word >> bits & 0xff))]


def without(bank, mask):
    kind, version, source, payload = bank
    if kind not in (63, 73):
        return bank
    kept = []
    for word in words_of(version, payload):
        gone = [bit for bit, pixel in pixels(kind, version, source, word) if pixel in mask]
        if kind == 63:
            word &= ~sum(gone)
        if not gone or (kind == 63 and word & 0xff):
            kept.append(word)
    return kind, version, source, payload_of(version, kept)


def odd(bank, n):
    kind, version, source, payload = bank
    if kind == 16 and version == 6:
        words = list(struct.unpack("<10I", payload))
        gps = (1000000 + n % 3) * 60000000 + n
        words[5], words[6] = gps >> 32, gps & 0xffffffff
        words[8] = (words[8] & ~0xfff) | 100 * (n % 7)
        return kind, version, source, struct.pack("<10I", *words)
    if kind != 63 or source not in {s for s, _, _ in HOT}:
        return bank
    words = {w >> 8 & 0x7fff: w for w in words_of(version, payload)}
    for s, column, row in HOT:
        if s == source:
            address = (column // 2) << 6 | row // 4
            words[address] = words.get(address, address << 8) | 1 << (column % 2 * 4 + row % 4)
    plain = {a: w & 0x7fffffff for a, w in words.items()} # no hints: neighbours have changed
    return kind, version, source, payload_of(version, [plain[a] for a in sorted(plain)])


def main():
    what, name = sys.argv[1:3]
    data, out = open(name, "rb").read(), open(sys.argv[-1], "wb")
    if what == "odd":
        for n, r in enumerate(records(data)):
            out.write(build(r, [odd(b, n) for b in banks(r)]))
    elif what == "without":
        mask = {tuple(map(int, line.split())) for line in open(sys.argv[3]) if line.strip() and line[0] != "#"}
        for r in records(data):
            out.write(build(r, [without(b, mask) for b in banks(r)]))
    else:
        n, found = 0, set()
        for r in records(data):
            for kind, version, source, payload in banks(r):
                for word in words_of(version, payload) if kind in (63, 73) else []:
                    n += 1
                    if n % int(sys.argv[3]) == 0:
                        found |= {p for _, p in pixels(kind, version, source, word)}
        out.write("".join("%d %d %d\n" % p for p in sorted(found)).encode())


main()
