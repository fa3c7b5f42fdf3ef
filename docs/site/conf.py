# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings. tools/site.py makes the folder that this is read in, and says where the package and its stub are."""

from __future__ import annotations

import ast
import importlib
import os
import pathlib
from typing import Any

import sluice._core

project = "Sluice"
version = release = sluice._core.version()
copyright = "the authors of Sluice, Apache-2.0"
extensions = ["sphinx.ext.autodoc", "myst_parser"]
try:
    importlib.import_module("furo")
    html_theme = "furo"
except ModuleNotFoundError:
    html_theme = "alabaster"
html_title = f"Sluice {version}"
html_extra_path = ["../extra"]
html_show_sphinx = False
html_copy_source = False
highlight_language = "none"
default_role = "literal"
master_doc = "index"
# Anchors as the documents' own links have them; code in them that no lexer knows, as it has … in it, is shown as it is.
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
add_module_names = False


def _signatures(stub: str) -> dict[str, str]:
    """Signatures of functions and methods in a stub: what C cannot tell of itself."""
    found: dict[str, str] = {}

    def take(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                take(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                # Of overloads the last one has most.
                result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
                found[prefix + node.name] = f"({ast.unparse(node.args)}){result}"

    take(ast.parse(pathlib.Path(stub).read_text(encoding="utf-8")).body, "")
    return found


STUB = _signatures(os.environ["SLUICE_STUB"])
OF_C = {id(value): name for name, value in vars(sluice._core).items() if callable(value)}


def signature(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, result: str | None) -> Any:
    """A function of C has the stub's signature, whatever it is called where it is public."""
    if what == "class" and isinstance(thing, type) and thing.__module__.startswith("sluice"):
        return ("", None) if OF_C.get(id(thing)) else None
    own = OF_C.get(id(thing)) if what == "function" else ".".join(name.split(".")[-2:]) if what == "method" else None
    told = STUB.get(own or "")
    if told is None or not (what == "method" or OF_C.get(id(thing))):
        return None
    told = told.replace("(self, /", "(").replace("(self, ", "(").replace("(self)", "()")
    arguments, _, back = told.rpartition(" -> ") if " -> " in told else (told, "", "")
    return arguments, back or None


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """What is indented after a paragraph is code, as it reads in a terminal; Sphinx wants it said."""
    made: list[str] = []
    for i, line in enumerate(lines):
        begins = line.startswith("    ") and i > 0 and not lines[i - 1].strip()
        before = next((one for one in reversed(lines[:i]) if one.strip()), "")
        if begins and before and not before.startswith((" ", "..", "-", "*", ":")) and not before.rstrip().endswith("::"):
            made += [".. code-block:: python", ""]
        made.append(line)
    lines[:] = made


def setup(app: Any) -> None:
    """Registers what is above."""
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", docstring)
