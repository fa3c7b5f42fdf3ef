# SPDX-License-Identifier: Apache-2.0
"""What the hygiene tests know about this repository's files: where they are, and where functions begin and end.

The functions are found by our brace style (clang-format keeps it): the opening brace of a function stands alone in the
first column, and so does its closing brace. No parser is needed, and none is pretended.
"""
import pathlib
import re
from dataclasses import dataclass

SKIPPED = {".git", "build", "demo", ".cache"}


def files(root, *suffixes):
    """All files of the tree with one of the suffixes, build folders left out, in a fixed order."""
    root = pathlib.Path(root)
    return sorted(path for path in root.rglob("*")
                  if path.suffix in suffixes and path.is_file() and not SKIPPED & set(path.relative_to(root).parts))


@dataclass
class Function:
    name: str
    line: int   # of the signature's first line, from 1
    length: int  # signature to closing brace, both included
    static: bool
    body: str


def functions(text):
    """Every function defined in a C source."""
    lines = text.split("\n")
    found = []
    opened = None
    for i, line in enumerate(lines):
        if line == "{":
            opened = i
        elif line == "}" and opened is not None:
            first = opened - 1
            while first > 0 and re.match(r"\s", lines[first]):
                first -= 1
            signature = " ".join(lines[first:opened])
            name = re.search(r"(\w+)\s*\(", signature)
            if name:
                found.append(Function(name[1], first + 1, i - first + 1, signature.startswith("static"),
                                      "\n".join(lines[opened + 1:i])))
            opened = None
    return found


def without_comments(text):
    """The text with comments blanked out, lines kept."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
