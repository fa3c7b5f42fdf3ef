# SPDX-License-Identifier: Apache-2.0
"""Packets of events and MDF, read slowly from what docs/formats/mep.md and mdf.md say, with nothing of the library.

    mep_read.py FILE [TYPE...]   a line for each bank of each event: event, type, version, source, size, hash of the payload;
                                 banks of these types alone
    mep_read.py --damage FILE KIND OUT   the file with one block damaged: "size", "offset", "type", "end"; prints the source
"""
import hashlib
import struct
import sys


def up(n, step=4):
    return (n + step - 1) // step * step


def packet_2019(b):
    n, packing, _, size = struct.unpack_from("<HHIQ", b)
    at = 16
    sources = struct.unpack_from(f"<{n}H", b, at)
    at += up(2 * n)
    versions = struct.unpack_from(f"<{n}H", b, at)
    at += up(2 * n)
    offsets = struct.unpack_from(f"<{n}I", b, at)
    at += 4 * n
    assert at + size == len(b)
    events = [[] for _ in range(packing)]
    for source, version, offset in zip(sources, versions, offsets):
        p = at + offset
        _, fragments, zero, block = struct.unpack_from("<QHHI", b, p)
        assert fragments == packing and zero == 0
        types = b[p + 16:p + 16 + packing]
        p += 16 + up(packing)
        sizes = struct.unpack_from(f"<{packing}H", b, p)
        p += up(2 * packing)
        assert block == sum(up(s) for s in sizes)
        for k in range(packing):
            if types[k] or sizes[k]:
                events[k].append((types[k], version, source, b[p:p + sizes[k]]))
            p += up(sizes[k])
    return events


def packet_mfp(b):
    """The events of the packet that b begins with, and its size."""
    magic, n, words = struct.unpack_from("<HHI", b)
    assert magic == 0xCEFA
    sources = struct.unpack_from(f"<{n}H", b, 8)
    offsets = struct.unpack_from(f"<{n}I", b, 8 + up(2 * n))
    events = None
    for source, offset in zip(sources, offsets):
        p = 4 * offset
        magic, count, size, _, own, align, version = struct.unpack_from("<HHIQHBB", b, p)
        assert magic == 0x40CE and own == source
        events = events or [[] for _ in range(count)]
        end = p + size
        types = b[p + 20:p + 20 + count]
        p += 20 + up(count)
        sizes = struct.unpack_from(f"<{count}H", b, p)
        p += up(2 * count)
        for k in range(count):
            if types[k] or sizes[k]:
                events[k].append((types[k], version, source, b[p:p + sizes[k]]))
            p += up(sizes[k], 1 << align)
        assert p == end
    return events, 4 * words


def banks(b):
    at, found = 0, []
    while at < len(b):
        magic, size, kind, version, source = struct.unpack_from("<HHBBH", b, at)
        assert magic == 0xCBCB
        found.append((kind, version, source, b[at + 8:at + size]))
        at += up(size)
    return found


def read(b):
    at = 0
    while at < len(b):
        if b[at:at + 2] == b"\xfa\xce":
            events, size = packet_mfp(b[at:])
            yield from events
        else:
            size = struct.unpack_from("<I", b, at)[0]
            payload = b[at + 48:at + size]
            if b[at + 18] == 2:
                yield from packet_2019(payload)
            else:
                assert b[at + 16] == 0
                yield banks(payload)
        at += size


def damage(b, kind):
    """Block 7 of the first packet."""
    i, mfp = 7, b[:2] == b"\xfa\xce"
    head = 0 if mfp else 48
    n = struct.unpack_from("<H", b, 2 if mfp else head)[0]
    sources = 8 if mfp else head + 16
    offsets = sources + up(2 * n) * (1 if mfp else 2)
    offset = struct.unpack_from("<I", b, offsets + 4 * i)[0]
    at = 4 * offset if mfp else offsets + 4 * n + offset
    b = bytearray(b)
    if kind == "size":
        b[at + (4 if mfp else 12)] ^= 8
    elif kind == "offset":
        b[offsets + 4 * i] ^= 8
    elif kind == "type":
        b[at + (20 if mfp else 16) + 1] = 91
    elif kind == "end":
        del b[-5000:]
    return struct.unpack_from("<H", b, sources + 2 * i)[0], bytes(b)


def main():
    if sys.argv[1] == "--damage":
        source, b = damage(open(sys.argv[2], "rb").read(), sys.argv[3])
        open(sys.argv[4], "wb").write(b)
        print(source)
        return
    wanted = {int(kind) for kind in sys.argv[2:]}
    for number, event in enumerate(read(open(sys.argv[1], "rb").read())):
        for kind, version, source, payload in event:
            if not wanted or kind in wanted:
                print(number, kind, version, source, len(payload), hashlib.sha1(payload).hexdigest())


main()
