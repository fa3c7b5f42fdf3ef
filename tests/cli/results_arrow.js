// SPDX-License-Identifier: Apache-2.0
// results_arrow.js FILE...: what Arrow's own implementation for JavaScript reads, a line for each column: its name, its rows, and
// SHA-256 of its values. tools/arrow-js.sh installs what it needs and compares with tests/support/arrow_read.py.
const crypto = require("crypto");
const fs = require("fs");
const { CompressionType, compressionRegistry, tableFromIPC, DataType } = require("apache-arrow");
const lz4 = require("lz4js");
const fzstd = require("fzstd");

compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (bytes) => lz4.decompress(bytes).slice() });
compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => fzstd.decompress(bytes).slice() });

function walk(data, name, columns) {
    if (DataType.isList(data.type)) {
        const first = data.valueOffsets[0], last = data.valueOffsets[data.length];
        put(columns, name + ".offsets", Int32Array.from(data.valueOffsets.subarray(0, data.length + 1)));
        walk(data.children[0].slice(first, last - first), name, columns);
    } else if (DataType.isStruct(data.type)) {
        data.type.children.forEach((field, i) => walk(data.children[i], name + "." + field.name, columns));
    } else {
        put(columns, name, data.values.subarray(0, data.length));
    }
}

function put(columns, name, values) {
    const column = columns.get(name) ?? { n: 0, hash: crypto.createHash("sha256") };
    column.n += values.length;
    column.hash.update(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
    columns.set(name, column);
}

for (const path of process.argv.slice(2)) {
    const table = tableFromIPC(fs.readFileSync(path)), columns = new Map();
    for (const batch of table.batches)
        batch.schema.fields.forEach((field, i) => walk(batch.data.children[i], field.name, columns));
    console.log(`${table.numRows} ${table.schema.metadata.get("command")}`);
    for (const [name, column] of columns) console.log(`${name} ${column.n} ${column.hash.digest("hex")}`);
}
