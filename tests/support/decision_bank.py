# SPDX-License-Identifier: Apache-2.0
"""Reads files of accepted events by docs/formats/mdf.md and docs/formats/decision-bank.md alone, with nothing of this
library:

    decision_bank.py show FILE                  a JSON object: what each record's banks of type 240 say
    decision_bank.py without FILE OUTPUT        the file as it was before the last such bank was appended to each record
    decision_bank.py names SELECTION.json       the hash of the lines' names
"""
import json
import struct
import sys
import zlib


def records(data):
    at = 0
    while at < len(data):
        sizes = struct.unpack_from("<3I", data, at)
        size = sizes[0] if sizes[0] in sizes[1:] else sizes[1]
        yield bytearray(data[at:at + size])
        at += size


def header_size(record):
    return 20 if record[17] >> 4 == 2 else 48


def blocks(record):
    """Where each block of a compressed record begins, and what it expands to."""
    at, found = header_size(record), []
    while at < len(record):
        packed, unpacked = (int.from_bytes(record[at + k:at + k + 3], "little") for k in (3, 6))
        body = bytes(record[at + 9:at + 9 + packed])
        assert record[at:at + 3] == b"ZL\x08"
        plain = body if packed == unpacked else zlib.decompress(body)
        assert len(plain) == unpacked
        found.append((at, plain))
        at += 9 + packed
    assert at == len(record)
    return found


def payload(record):
    if record[16] & 15:
        return b"".join(plain for _, plain in blocks(record))
    return bytes(record[header_size(record):])


def banks(data):
    """Offset, length without padding, type, version, source of each bank."""
    at = 0
    while at < len(data):
        magic, length, kind, version, source = struct.unpack_from("<HHBBh", data, at)
        assert magic == 0xcbcb and length >= 8 and at + length <= len(data)
        yield at, length, kind, version, source
        at += (length + 3) // 4 * 4


def decisions(record):
    data = payload(record)
    for at, length, kind, version, source in banks(data):
        if kind == 240:
            assert length == 60 and version == 1 and data[at + 8:at + 12] == b"SLCD"
            fields = struct.unpack_from("<IQQQQIII", data, at + 12)
            yield dict(zip(["n_lines", "names", "lines", "limited", "checksum", "hits", "tracks", "primaries"], fields),
                       source=source, last=at + 60 == len(data))


def hashed(record):
    h = 0
    for b in record[16:]:
        h = (h + (b - 256 if b > 127 else b)) & 0xffffffff
        h = (h + (h << 10)) & 0xffffffff
        h ^= h >> 6
    h = (h + (h << 3)) & 0xffffffff
    h ^= h >> 11
    return (h + (h << 15)) & 0xffffffff


def without(record):
    if record[16] & 15:
        at, plain = blocks(record)[-1]
        assert len(plain) in range(60, 64)
    else:
        at = len(record) - 60
    assert list(decisions(record))[-1]["last"]
    checksum, = struct.unpack_from("<I", record, 12)
    assert checksum in (0, hashed(record)), "the checksum is not that of the record"
    shorter = record[:at]
    shorter[:12] = struct.pack("<3I", at, at, at)
    if checksum:
        shorter[12:16] = struct.pack("<I", hashed(shorter))
    return shorter


def names(selection):
    h = 0xcbf29ce484222325
    for line in selection["lines"]:
        for b in line["name"].encode() + b"\0":
            h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return h


def main():
    what, name = sys.argv[1:3]
    if what == "names":
        print("%016x" % names(json.load(open(name))))
    elif what == "show":
        print(json.dumps([list(decisions(r)) for r in records(open(name, "rb").read())]))
    else:
        with open(sys.argv[3], "wb") as out:
            for r in records(open(name, "rb").read()):
                out.write(without(r))


main()
