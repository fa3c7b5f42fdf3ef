#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which compilations clang-tidy looks at: tools/lint-commands.py OUT BUILD ...

clang-tidy goes through a file once for every compile command that it finds, and its analyser, which follows paths through
functions, takes nearly all of its time. A build compiles many a file more than once: for the library and again for tests,
and kernels for every instruction set. So of the commands in the builds' compile_commands.json this writes

  OUT/paths/compile_commands.json   what every check is for: one command of each file, a second one where macros differ that
                                    the file asks about, and kernels for the first and the last instruction set, which are
                                    plain C and the widest vectors;
  OUT/plain/compile_commands.json   kernels for all others: the checks that follow no paths.

Only files of src, baselines, bench, cli and examples count. A file is taken from the first build that compiles it. The names in OUT/paths.list
and OUT/plain.list end with a NUL and begin with the file that takes longest, so that all processors finish together. What
no build compiles is named on standard output."""
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACRO = re.compile(r"-D(\w+)")


def commands_of(build):
    """The compile commands of our files: {file: [(macros, entry)]}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.suffix != ".c" or not path.is_relative_to(ROOT):
            continue
        name = str(path.relative_to(ROOT))
        if name.split("/")[0] in ("src", "baselines", "bench", "cli", "examples"):
            found.setdefault(name, []).append((frozenset(m[1] for m in MACRO.finditer(entry["command"])), entry))
    return found


def choose(name, commands):
    """Of one file's commands: those for every check, and those for the checks that follow no paths."""
    if name.endswith(".simd.c"):
        targets = {}
        for macros, entry in commands:
            targets.setdefault(next(m for m in sorted(macros) if m.startswith("SIMD_")), entry)
        entries = list(targets.values())
        return [entries[0], *entries[1:][-1:]], entries[1:-1]
    text = (ROOT / name).read_text()
    different = {}
    for macros, entry in commands:
        different.setdefault(frozenset(m for m in macros if re.search(rf"\b{re.escape(m)}\b", text)), entry)
    return list(different.values()), []


def write(out, kind, entries, sizes):
    folder = out / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    names = sorted({entry["file"] for entry in entries}, key=lambda name: -sizes[name])
    (out / f"{kind}.list").write_bytes(b"".join(os.fsencode(name) + b"\0" for name in names))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    commands = {}
    for build in sys.argv[2:]:
        for name, found in commands_of(pathlib.Path(build)).items():
            commands.setdefault(name, found)
    paths, plain, sizes = [], [], {}
    for name, found in commands.items():
        chosen = choose(name, found)
        paths += chosen[0]
        plain += chosen[1]
        for entry in chosen[0] + chosen[1]:
            sizes[entry["file"]] = len(chosen[0]) * pathlib.Path(entry["file"]).stat().st_size
    write(pathlib.Path(sys.argv[1]), "paths", paths, sizes)
    write(pathlib.Path(sys.argv[1]), "plain", plain, sizes)
    ours = [path for folder in ("src", "baselines", "bench", "cli", "examples") for path in sorted((ROOT / folder).rglob("*.c"))]
    missing = [name for name in (str(path.relative_to(ROOT)) for path in ours) if name not in commands]
    if missing:
        print("clang-tidy: in no build, not looked at:", *missing)


main()
