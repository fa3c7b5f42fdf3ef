#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a notebook without Jupyter: its code cells one after the other in one namespace, drawn by Agg.

    python/tests/notebook_runner.py examples/notebooks/cells.ipynb --pictures /tmp/pictures

writes each figure as PNG and what cells print. The tests run notebooks by this, and the documentation's site shows them with what
they print and draw. A notebook is kept without outputs; `read` says what else it has to be.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """A cell, and what came of it: text that it printed, the value of its last line, pictures as PNG."""

    kind: str
    source: str
    printed: str = ""
    value: Any = None
    pictures: tuple[bytes, ...] = ()


def read(path: str | os.PathLike[str]) -> list[Cell]:
    """The cells of a notebook; ValueError says what is wrong with it."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    book = json.loads(text)
    with contextlib.suppress(ModuleNotFoundError):
        import nbformat

        nbformat.validate(nbformat.reads(text, as_version=4))
    if (book["nbformat"], book["nbformat_minor"]) != (4, 5):
        raise ValueError(f"{path}: is to be of format 4.5")
    ids = [cell["id"] for cell in book["cells"]]
    if len(set(ids)) != len(ids):
        raise ValueError(f"{path}: two cells have one id")
    for cell in book["cells"]:
        if cell["cell_type"] not in ("markdown", "code"):
            raise ValueError(f"{path}: a cell is {cell['cell_type']!r}")
        if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"] is not None):
            raise ValueError(f"{path}: cell {cell['id']} has outputs: clear them before it is kept")
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]]


def _figures() -> tuple[bytes, ...]:
    import matplotlib.pyplot as plt

    drawn = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=90)
        drawn.append(file.getvalue())
    plt.close("all")
    return tuple(drawn)


def run(path: str | os.PathLike[str], folder: str | os.PathLike[str], *, draw: bool = True) -> tuple[dict[str, Any], list[Cell]]:
    """Runs all cells in `folder`: the names that they leave, and the cells with what came of them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": "__main__"}
    done = []
    before = pathlib.Path.cwd()
    os.chdir(folder)
    try:
        for number, cell in enumerate(read(before / path)):
            if cell.kind == "markdown":
                done.append(cell)
                continue
            tree = ast.parse(cell.source, f"{pathlib.Path(path).name}, cell {number}")
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, f"{path}, cell {number}", "exec"), names)
                value = eval(compile(ast.Expression(last.value), f"{path}, cell {number}", "eval"), names) if last else None
            value = None if cell.source.rstrip().endswith(";") else value
            pictures = _figures() if draw else ()
            plt.close("all")
            done.append(cell._replace(printed=printed.getvalue(), value=value, pictures=pictures))
    finally:
        os.chdir(before)
    return names, done


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook")
    parser.add_argument("--pictures", type=pathlib.Path, required=True, help="folder for the figures, as PNG")
    options = parser.parse_args()
    options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, cell in enumerate(run(options.notebook, folder)[1]):
            print(cell.printed, end="")
            if cell.value is not None:
                print(repr(cell.value))
            for i, picture in enumerate(cell.pictures):
                name = f"{pathlib.Path(options.notebook).stem}-{number:02}-{i}.png"
                (options.pictures / name).write_bytes(picture)
                print(options.pictures / name)


if __name__ == "__main__":
    main()
