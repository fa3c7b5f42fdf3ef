# SPDX-License-Identifier: Apache-2.0
"""Reads Arrow's files and streams by Arrow's specification alone: flatbuffers by hand, each buffer looked at, nothing
taken on trust that a reader relies on (alignment, sizes, order). Numbers of fields are those of Schema.fbs, Message.fbs
and File.fbs. Buffers are expanded by the system's liblz4 and libzstd."""
import ctypes
import ctypes.util
import struct

import numpy


def library(name, file):
    return ctypes.CDLL(ctypes.util.find_library(name) or file)


class Table:
    """A table of a flatbuffer; fields by their number."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        vtable = at - struct.unpack_from("<i", data, at)[0]
        size = struct.unpack_from("<H", data, vtable)[0]
        self.fields = struct.unpack_from(f"<{(size - 4) // 2}H", data, vtable + 4)

    @staticmethod
    def root(data):
        return Table(data, struct.unpack_from("<I", data, 0)[0])

    def place(self, n):
        return self.at + self.fields[n] if n < len(self.fields) and self.fields[n] else None

    def number(self, n, kind, default=0):
        at = self.place(n)
        if at is None:
            return default
        assert at % struct.calcsize(kind) == 0, "a number out of line"
        return struct.unpack_from("<" + kind, self.data, at)[0]

    def target(self, n):
        at = self.place(n)
        assert at is None or at % 4 == 0
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, n):
        at = self.target(n)
        return None if at is None else Table(self.data, at)

    def text(self, n):
        at = self.target(n)
        size = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + size] == 0, "a text without its end"
        return bytes(self.data[at + 4 : at + 4 + size]).decode()

    def vector(self, n):
        """Place of the first element, and how many there are."""
        at = self.target(n)
        return (0, 0) if at is None else (at + 4, struct.unpack_from("<I", self.data, at)[0])

    def tables(self, n):
        at, size = self.vector(n)
        return [Table(self.data, at + 4 * i + struct.unpack_from("<I", self.data, at + 4 * i)[0]) for i in range(size)]

    def structs(self, n, kind):
        at, size = self.vector(n)
        assert size == 0 or at % 8 == 0, "structs out of line"
        step = struct.calcsize("<" + kind)
        return [struct.unpack_from("<" + kind, self.data, at + step * i) for i in range(size)]


def metadata(table, n):
    return {pair.text(0): pair.text(1) for pair in table.tables(n)}


class Field:
    KINDS = {2: "int", 3: "float", 12: "list", 13: "struct"}

    def __init__(self, table):
        self.name, self.kind = table.text(0), self.KINDS[table.number(2, "B")]
        assert table.number(1, "B") == 0, "nothing is absent"
        kind = table.table(3)
        self.children = [Field(child) for child in table.tables(5)]
        self.metadata = metadata(table, 6)
        if self.kind == "int":
            self.type = numpy.dtype(f"<{'i' if kind.number(1, 'B') else 'u'}{kind.number(0, 'i') // 8}")
        elif self.kind == "float":
            self.type = numpy.dtype({1: "<f4", 2: "<f8"}[kind.number(0, "h")])
        assert len(self.children) == 1 if self.kind == "list" else self.kind == "struct" or not self.children


def expand(codec, data, size):
    out = ctypes.create_string_buffer(size)
    if codec == 0:
        lz4 = library("lz4", "liblz4.so.1")
        context, left = ctypes.c_void_p(), ctypes.c_size_t(len(data))
        lz4.LZ4F_createDecompressionContext(ctypes.byref(context), 100)
        made = ctypes.c_size_t(size)
        lz4.LZ4F_decompress.restype = ctypes.c_size_t
        rest = lz4.LZ4F_decompress(context, out, ctypes.byref(made), bytes(data), ctypes.byref(left), None)
        lz4.LZ4F_freeDecompressionContext(context)
        assert rest == 0 and made.value == size and left.value == len(data), "an LZ4 frame that is none"
    else:
        zstd = library("zstd", "libzstd.so.1")
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
        made = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data)))
        assert made == size, "a zstd frame that is none"
    return out.raw


class Batch:
    """A record batch: columns[name] of flat columns and of structs, (offsets, columns) of lists."""

    def __init__(self, message, body, fields):
        header = message.table(2)
        self.rows = header.number(0, "q")
        self.nodes, self.places = header.structs(1, "qq"), header.structs(2, "qq")
        compression = header.table(3)
        self.codec = None if compression is None else compression.number(0, "b")
        self.body, self.at, self.stored = body, 0, 0
        self.metadata = metadata(message, 4)
        self.columns = {field.name: self.take(field, self.rows) for field in fields}
        assert not self.nodes and not self.places, "nodes or buffers that no field has"

    def buffer(self):
        """The next one, which begins where the one before ended, in steps of 64 bytes."""
        offset, size = self.places.pop(0)
        assert offset == self.at and offset % 64 == 0
        self.at += (size + 63) // 64 * 64
        data = self.body[offset : offset + size]
        assert len(data) == size and not any(self.body[offset + size : self.at]), "padding"
        if self.codec is None or size == 0:
            return data
        whole = struct.unpack_from("<q", data, 0)[0]
        self.stored += whole == -1
        return data[8:] if whole == -1 else expand(self.codec, data[8:], whole)

    def take(self, field, rows):
        length, absent = self.nodes.pop(0)
        assert (length, absent) == (rows, 0), f"{field.name}: {length} rows, {absent} absent, not {rows} and 0"
        assert len(self.buffer()) == 0, "a bitmap of what is absent, where nothing is"
        if field.kind == "struct":
            return {child.name: self.take(child, rows) for child in field.children}
        if field.kind == "list":
            offsets = numpy.frombuffer(self.buffer(), "<i4")
            assert len(offsets) == rows + 1 and offsets[0] == 0 and (numpy.diff(offsets) >= 0).all()
            return offsets, self.take(field.children[0], int(offsets[-1]))
        values = numpy.frombuffer(self.buffer(), field.type)
        assert len(values) == rows
        return values


class Arrow:
    """fields, metadata, batches; file: is there a footer? early: the metadata of the schema in front."""

    def __init__(self, path):
        data = memoryview(open(path, "rb").read())
        self.file = bytes(data[:8]) == b"ARROW1\0\0"
        self.at, self.batches, self.fields, places = 8 if self.file else 0, [], None, []
        while True:
            begin, message = self.at, self.message(data)
            if message is None:
                break
            kind = message.number(1, "B")
            if self.fields is None:
                assert kind == 1 and message.number(3, "q") == 0, "a stream begins with its schema"
                self.schema(message.table(2))
                continue
            assert kind == 3
            size = message.number(3, "q")
            assert self.at % 64 == 0 and size % 64 == 0, "a body out of line"
            places.append((begin, self.at - begin, size))
            self.batches.append(Batch(message, data[self.at : self.at + size], self.fields))
            assert self.batches[-1].at == size
            self.at += size
        self.early = self.metadata
        if self.file:
            self.footer(data, places)
        else:
            assert self.at == len(data), "bytes after the end"
            for batch in self.batches:
                self.metadata = self.metadata | batch.metadata

    def message(self, data):
        mark, size = struct.unpack_from("<Ii", data, self.at)
        assert mark == 0xFFFFFFFF and self.at % 8 == 0 and size % 8 == 0
        self.at += 8 + size
        if size == 0:
            return None
        message = Table.root(bytes(data[self.at - size : self.at]))
        assert message.number(0, "h") == 4, "metadata of another version than 5"
        return message

    def schema(self, table):
        assert table.number(0, "h") == 0, "not little-endian"
        self.fields = [Field(field) for field in table.tables(1)]
        self.metadata = metadata(table, 2)

    def footer(self, data, places):
        size = struct.unpack_from("<i", data, len(data) - 10)[0]
        assert bytes(data[-6:]) == b"ARROW1" and len(data) - 10 - size == self.at
        footer = Table.root(bytes(data[self.at : self.at + size]))
        assert footer.number(0, "h") == 4 and footer.vector(2)[1] == 0
        assert [(a, b, d) for a, b, _, d in footer.structs(3, "qiiq")] == places, "record batches of the footer"
        self.schema(footer.table(1))

    def column(self, *names):
        """All values of a column, over all batches; of lists those of all events, one after the other."""
        parts = []
        for batch in self.batches:
            value = batch.columns
            for name in names:
                value = (value[1] if isinstance(value, tuple) else value)[name]
            parts.append(value)
        return numpy.concatenate(parts) if parts else numpy.zeros(0)

    def event_offset(self, name):
        parts, rows = [numpy.zeros(1, "u8")], 0
        for batch in self.batches:
            parts.append(batch.columns[name][0][1:].astype("u8") + numpy.uint64(rows))
            rows += int(batch.columns[name][0][-1])
        return numpy.concatenate(parts)
