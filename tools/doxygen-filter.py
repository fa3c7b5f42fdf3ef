#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A public header as Doxygen wants it: our comments, which are plain prose, become its own. Called by Doxygen with the file's name.

A comment that begins a line belongs to what comes after it, one after code to that code; the first of a file is of the file, and
headings (/* ---- … */) stay plain. What Doxygen would take for commands, tags or links is text.
"""

import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
#: Not words of ours: macros that mark a function as exported.
EXPORT = re.compile(r"\bSLC_API\s+")


def escape(text: str) -> str:
    """Comment text in which nothing is a command of Doxygen's."""
    text = re.sub(r"([\\@<>#&$%])", r"\\\1", text.replace("::", r"\::"))
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text)


def doc(match: "re.Match[str]", source: str, state: dict[str, bool]) -> str:
    """One comment."""
    body = match[0][2:-2]
    if re.match(r"\s*-{4}", body) or body.strip() == "":
        return match[0]
    if not state.get("head"):
        state["head"] = True
        body = re.sub(r"^\s*SPDX-License-Identifier:.*$", "", body, count=1, flags=re.M)
        return f"/** \\file\n{escape(body)}*/"
    line = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    if line.lstrip().startswith("#"):
        return match[0]
    return f"/**{'<' if line.strip() else ''}{escape(body)}*/"


def convert(source: str) -> str:
    """The header."""
    state: dict[str, bool] = {}
    return EXPORT.sub("", COMMENT.sub(lambda match: doc(match, source, state), source))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(convert(file.read()))
