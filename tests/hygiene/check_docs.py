#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents that lead somewhere: relative links and their anchors resolve, files named in documents and in comments
exist, every document is linked from another, and every folder of the top and below src/ says in a README what it is for.
`--self-test` proves that breaches are found.

    check_docs.py ROOT
    check_docs.py --self-test
"""
import pathlib
import re
import sys
import tempfile

import c_source

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A path of this tree in back quotes, or docs/….md in a comment. Names with <placeholders> are patterns, not files.
NAMED = re.compile(r"`((?:src|include|cli|tests|docs|tools|examples|fuzz|baselines|bench|cmake|\.ci)/[\w./*-]*)`")
COMMENT = re.compile(r"\bdocs/[\w./-]+\.md\b")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)


def anchors(text):
    """The anchors that headings get."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*$", FENCE.sub("", text), re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")
        found.add(slug)
    return found


def check_links(path, root):
    text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), path.read_text())
    for match in LINK.finditer(text):
        target = match[1]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name) if name else path
        where = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
        if not there.exists():
            yield f"{where}: {target} does not exist"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
            yield f"{where}: {target}: no such heading"


def check_named(path, root):
    text = path.read_text()
    pattern = NAMED if path.suffix == ".md" else COMMENT
    for match in pattern.finditer(text):
        name = match[match.lastindex or 0]
        if not list(root.glob(name.rstrip("/"))):
            yield f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: {name} does not exist"


def check_reached(documents, root):
    linked = set()
    for path in documents:
        for target in LINK.findall(path.read_text()):
            linked.add((path.parent / target.partition("#")[0]).resolve())
    for path in documents:
        # A link to a folder shows what is in it.
        if path.relative_to(root).as_posix() != "README.md" and not {path.resolve(), path.parent.resolve()} & linked:
            yield f"{path.relative_to(root)}: no document links to it"


def check_rooms(root):
    """Folders whose reader asks what belongs here: those of the top that have files of ours, and all below src/."""
    kept = {folder for path in c_source.files(root, ".c", ".h", ".cu", ".cuh", ".cpp", ".md", ".sh", ".py", ".cmake")
            for folder in path.relative_to(root).parents}
    for folder in sorted(kept):
        parts = folder.parts
        if parts and (len(parts) == 1 or parts[0] == "src") and not parts[0].startswith(".") \
                and not (root / folder / "README.md").exists():
            yield f"{folder.as_posix()}: has no README.md"


def check(root):
    root = pathlib.Path(root)
    documents = c_source.files(root, ".md")
    wrong = []
    for path in documents:
        wrong += check_links(path, root)
        wrong += check_named(path, root)
    for path in c_source.files(root, ".c", ".h"):
        wrong += check_named(path, root)
    wrong += check_reached(documents, root)
    if (root / "src").is_dir():
        wrong += check_rooms(root)
    return wrong, len(documents)


def self_test():
    cases = [
        ({"README.md": "[a](docs/a.md#two-words)", "docs/a.md": "# Two words\n"}, None),
        ({"README.md": "```\n[a](nowhere.md)\n```\n"}, None),
        ({"README.md": "[a](docs/b.md)"}, "docs/b.md does not exist"),
        ({"README.md": "# A\n[a](#b)"}, "no such heading"),
        ({"README.md": "see `src/nothing.c`"}, "src/nothing.c does not exist"),
        ({"README.md": "see `docs/<name>.md` and `src/velo/velo_*.c`, [s](src/README.md), [v](src/velo/README.md)",
          "src/README.md": "", "src/velo/README.md": "", "src/velo/velo_a.c": ""}, None),
        ({"README.md": "", "src/a.c": "/* docs/gone.md */"}, "docs/gone.md does not exist"),
        ({"README.md": "", "docs/a.md": ""}, "no document links to it"),
        ({"README.md": "[all](docs/formats)", "docs/formats/a.md": ""}, None),
        ({"README.md": "", "src/a/b/c.c": ""}, "src/a/b: has no README.md"),
        ({"README.md": "[s](src) [a](src/a)", "src/README.md": "", "src/a/README.md": "", "src/a/c.c": ""}, None),
        ({"README.md": "", "tools/a.sh": "", "src/a.c": ""}, "tools: has no README.md"),
        ({"README.md": "[s](src)", "src/README.md": "", "src/a.c": "", ".ci/run.sh": ""}, None),
    ]
    for contents, words in cases:
        with tempfile.TemporaryDirectory() as root:
            for name, text in contents.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            wrong, _ = check(root)
            if wrong if words is None else not any(words in line for line in wrong):
                sys.exit(f"self-test: {contents}: expected {words}, got {wrong}")
    print(f"{len(cases)} cases judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, n = check(sys.argv[1])
    if n < 5:
        sys.exit(f"only {n} documents found under {sys.argv[1]}: this is not the tree")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{n} documents lead where they say")


if __name__ == "__main__":
    main()
