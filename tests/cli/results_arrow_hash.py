# SPDX-License-Identifier: Apache-2.0
"""results_arrow_hash.py SOURCE_FOLDER FILE...: prints of tests/support/arrow_read.py what results_arrow.js prints of
Arrow's own implementation for JavaScript."""
import hashlib
import sys

sys.path.insert(0, sys.argv[1] + "/tests/support")
import arrow_read  # noqa: E402


def walk(value, name, columns):
    if isinstance(value, tuple):
        walk(value[0], name + ".offsets", columns)
        walk(value[1], name, columns)
    elif isinstance(value, dict):
        for child in value:
            walk(value[child], f"{name}.{child}", columns)
    else:
        columns.setdefault(name, []).append(value)


for path in sys.argv[2:]:
    arrow, columns = arrow_read.Arrow(path), {}
    for batch in arrow.batches:
        for name in batch.columns:
            walk(batch.columns[name], name, columns)
    print(sum(batch.rows for batch in arrow.batches), arrow.metadata["command"])
    for name, parts in columns.items():
        digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
        print(name, sum(len(part) for part in parts), digest)
