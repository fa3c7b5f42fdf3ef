# SPDX-License-Identifier: Apache-2.0
"""align_velo.py RESIDUALS.json MODULES [OLD.json] > NEW.json: moves of the modules named (as 20,25), by the normal equations
that `sluice velo --residuals` wrote; all others stay. Added to those of OLD.json, with which it was run, they are a geometry for
`--geometry`. Moves and their errors go to standard error."""
import json
import sys

import numpy

run = json.load(open(sys.argv[1]))
modules = [int(word) for word in sys.argv[2].split(",")]
old = json.load(open(sys.argv[3])) if len(sys.argv) > 3 else {}

rows = run["normal"]["matrix"]  # row i begins at column i: the upper triangle
matrix = numpy.zeros((len(rows), len(rows)))
for i, row in enumerate(rows):
    matrix[i, i:] = matrix[i:, i] = row
free = [6 * m + k for m in modules for k in range(6)]
covariance = numpy.linalg.inv(matrix[numpy.ix_(free, free)])
moves = covariance @ numpy.array(run["normal"]["vector"])[free]

new = old.setdefault("modules", {})
for m, move, error in zip(modules, moves.reshape(-1, 6), numpy.sqrt(numpy.diag(covariance)).reshape(-1, 6)):
    entry = new.setdefault(str(m), {})
    for key, values in ("shift_mm", move[:3]), ("rotation_mrad", move[3:]):
        entry[key] = [float(a + b) for a, b in zip(entry.get(key, (0, 0, 0)), values)]
    print(m, *("%s %+.4f ± %.4f" % of for of in zip(run["normal"]["unknowns"], move, error)), file=sys.stderr)
print(json.dumps(old, indent=2))
