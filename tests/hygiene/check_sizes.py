#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Budgets for review and the names of files: 600 lines a file, 60 a function, 400 a public header; the licence line;
one name once; every stem in its module's folder. `--self-test` proves that breaches are found.

    check_sizes.py ROOT
    check_sizes.py --self-test
"""
import pathlib
import sys
import tempfile

import c_source

FILE_LINES, FUNCTION_LINES, HEADER_LINES = 600, 60, 400
CODE = (".c", ".h", ".cu", ".cuh")
SCRIPTS = (".py", ".sh", ".cmake")
SPDX = "SPDX-License-Identifier: Apache-2.0"


def check_lines(path, relative):
    text = path.read_text()
    lines = text.count("\n")
    limit = HEADER_LINES if relative.parts[:2] == ("include", "sluice") else FILE_LINES
    if lines > limit:
        yield f"{relative}: {lines} lines, at most {limit}"
    if path.suffix in CODE:
        if "\t" in text:
            yield f"{relative}: a tab"
        for function in c_source.functions(text):
            if function.length > FUNCTION_LINES:
                yield f"{relative}:{function.line}: {function.name} has {function.length} lines, at most {FUNCTION_LINES}"


def check_licence(path, relative):
    """The first line of C, the first or second (after #!) of a script."""
    head = path.read_text().split("\n")[:2]
    if path.suffix in CODE:
        if head[0] != f"/* {SPDX}":
            yield f"{relative}: its first line is not the licence's"
    elif not any(SPDX in line for line in head):
        yield f"{relative}: no licence line"


def check_names(paths, root):
    """`git ls-files | grep STEM` must tell one story: names occur once, and a module's files carry its name."""
    first = {}
    for path in paths:
        relative = path.relative_to(root)
        if path.name in ("CMakeLists.txt", "__init__.py") or first.setdefault(path.name, relative) == relative:
            continue
        # A module's own header inside may have the name of its public one: "simd/simd.h" beside <sluice/simd.h>.
        if {relative.parts[:2], first[path.name].parts[:2]} != {("include", "sluice"), ("src", path.stem)}:
            yield f"{relative}: the name is taken by {first[path.name]}"
    modules = {p.name for p in (root / "src").iterdir() if p.is_dir()} if (root / "src").is_dir() else set()
    for path in paths:
        parts = path.relative_to(root).parts
        if parts[0] != "src" or len(parts) < 3 or path.suffix not in CODE:
            continue
        prefix = path.name.split(".")[0].split("_")[0]
        if parts[1] == "base":
            if prefix in modules - {"base"}:
                yield f"{path.relative_to(root)}: a stem of the module {prefix}"
        elif prefix != parts[1]:
            yield f"{path.relative_to(root)}: its stem does not begin with {parts[1]}"


def check(root):
    root = pathlib.Path(root)
    paths = c_source.files(root, *CODE, *SCRIPTS)
    wrong = []
    for path in paths:
        relative = path.relative_to(root)
        wrong += check_lines(path, relative)
        wrong += check_licence(path, relative)
    wrong += check_names(paths, root)
    return wrong, len(paths)


def function_of(lines):
    return "static int f(int a,\n             int b)\n{\n" + "    a++;\n" * (lines - 4) + "}\n"


def self_test():
    head = f"/* {SPDX}\n"
    cases = [  # files, words that the complaint must have; None where all is well
        ({"src/velo/velo_a.c": head}, None),
        ({"src/velo/velo_a.c": head + function_of(60)}, None),
        ({"src/velo/velo_a.c": head + function_of(61)}, "f has 61 lines"),
        ({"src/velo/velo_a.c": head + "\n" * 599}, None),
        ({"src/velo/velo_a.c": head + "\n" * 600}, "601 lines"),
        ({"include/sluice/velo_a.h": head + "\n" * 400}, "at most 400"),
        ({"src/velo/velo_a.c": "\n" + head}, "its first line is not the licence's"),
        ({"tools/a.sh": "#!/bin/sh\n"}, "no licence line"),
        ({"src/velo/velo_a.c": head, "tests/velo_a.c": head}, "the name is taken"),
        ({"src/velo/velo.h": head, "include/sluice/velo.h": head}, None),
        ({"src/velo/velo_a.h": head, "include/sluice/velo_a.h": head}, "the name is taken"),
        ({"src/velo/track.c": head}, "does not begin with velo"),
        ({"src/base/velo_a.c": head, "src/velo/velo_b.c": head}, "a stem of the module velo"),
        ({"src/velo/velo_a.c": head + "\tint a;\n"}, "a tab"),
    ]
    for contents, words in cases:
        with tempfile.TemporaryDirectory() as root:
            for name, text in contents.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            wrong, _ = check(root)
            good = not wrong if words is None else len(wrong) == 1 and words in wrong[0]
            if not good:
                sys.exit(f"self-test: {list(contents)}: expected {words}, got {wrong}")
    print(f"{len(cases)} cases judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, n = check(sys.argv[1])
    if n < 40:
        sys.exit(f"only {n} sources found under {sys.argv[1]}: this is not the tree")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{n} sources within their budgets")


if __name__ == "__main__":
    main()
