#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The include order of src/README.md: left to right only, siblings never include each other.

    base | simd cuda | image pixel lhcb | velo ut scifi muon cms pet | hlt1 | sim io | daq | report run | live | baselines bench | cli

A module may include itself and every module of a group further left. examples/ and tests/consume/ see public headers alone,
cli/ those, bench/ and baselines/, mpi/ those and cli/'s; a public header sees public headers alone. `--self-test` proves that breaches are found.

    check_includes.py ROOT
    check_includes.py --self-test
"""
import pathlib
import re
import sys
import tempfile

import c_source

GROUPS = [["base"], ["simd", "cuda"], ["image", "pixel", "lhcb"], ["velo", "ut", "scifi", "muon", "cms", "pet"], ["hlt1"],
          ["sim", "io"], ["daq"], ["report", "run"], ["live"], ["baselines", "bench"], ["cli"]]
LEVEL = {module: level for level, group in enumerate(GROUPS) for module in group}
OUTSIDE = ("cli", "mpi", "examples", "tests/consume")
BESIDE = ("baselines", "bench")  # rooms beside src/, which see inside
GENERATED = {"simd_targets.h": "simd"}  # made by CMake in the build folder
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def module_of_public(name):
    """base.h is base's, velo_track.h is velo's; sluice.h is everybody's and nobody's."""
    return re.split(r"[_.]", name)[0]


def place(relative):
    """(module, public) of a file of the tree, or None where the order does not reach."""
    parts = relative.parts
    if parts[:2] == ("include", "sluice"):
        module = module_of_public(parts[-1])
        return None if module == "sluice" else (module, True)
    if parts[0] == "src" and len(parts) > 2:
        return (parts[1], False)
    if parts[0] in BESIDE:
        return (parts[0], False)
    return None


def breach(here, public, quote, target):
    """Why this include is not allowed, or None."""
    ours = target.startswith("sluice/")
    module = module_of_public(target.split("/")[1]) if ours else GENERATED.get(target, target.split("/")[0])
    if quote == "<" and not ours:
        return None
    if public and not ours:
        return "a public header includes a private one"
    if module == "sluice":
        return "the header of all headers is for users"
    if not ours and "/" not in target and target not in GENERATED:
        return None if here == "cli" else "write the folder too: \"module/file.h\""
    if module not in LEVEL:
        return f"unknown module {module}"
    if module != here and LEVEL[module] >= LEVEL[here]:
        return f"{here} may not include {module}"
    return None


def outside_breach(folder, target, quote, path):
    """The same for those who see public headers alone; a file beside them is theirs."""
    if quote == "<" or (path.parent / target).is_file() or folder == "cli" and target.split("/")[0] in BESIDE:
        return None
    if folder == "mpi" and (path.parent.parent / "cli" / target).is_file() and target.startswith(("cli_", "cmd_")):
        return None  # options, tables and talk as sluice has them
    return f"{folder} sees public headers alone"


def check(root):
    root = pathlib.Path(root)
    wrong, seen = [], 0
    for path in c_source.files(root, ".c", ".h", ".cu", ".cuh"):
        relative = path.relative_to(root)
        folder = next((f for f in OUTSIDE if relative.as_posix().startswith(f + "/")), None)
        where = place(relative)
        if where is None and folder is None:
            continue
        text = c_source.without_comments(path.read_text())
        if where and where[0] not in LEVEL:
            wrong.append(f"{relative}: {where[0]} is no module of the include order")
            continue
        for match in INCLUDE.finditer(text):
            seen += 1
            quote, target = match[1], match[2]
            why = breach(*where, quote, target) if where else outside_breach(folder, target, quote, path)
            if why:
                line = text.count("\n", 0, match.start()) + 1
                wrong.append(f"{relative}:{line}: {target}: {why}")
    return wrong, seen


SELF_TEST = [  # file, its include line, allowed
    ("src/velo/velo_x.c", "#include <sluice/base.h>", True),
    ("src/velo/velo_x.c", '#include "base/bytes.h"', True),
    ("src/velo/velo_x.c", "#include <stdio.h>", True),
    ("src/velo/velo_x.c", "/* #include <sluice/io.h> */", True),
    ("src/velo/velo_x.c", '#include "io/io_output.h"', False),
    ("src/velo/velo_x.c", "#  include <sluice/io.h>", False),
    ("src/velo/velo_x.c", "#include <sluice/pet_chain.h>", False),
    ("src/velo/velo_x.c", '#include "bytes.h"', False),
    ("src/velo/velo_x.c", "#include <sluice/sluice.h>", False),
    ("src/velo/velo_x.c", '#include "simd_targets.h"', True),
    ("src/base/batch.c", '#include "simd_targets.h"', False),
    ("src/base/batch.c", "#include <sluice/velo_types.h>", False),
    ("src/io/io_x.c", "#include <sluice/sim.h>", False),
    ("src/sim/sim_x.c", '#include "io/io_output.h"', False),
    ("src/run/run_x.c", '#include "io/io_output.h"', True),
    ("src/report/report_x.c", '#include "run/run_x.h"', False),
    ("src/live/live_x.c", "#include <sluice/run_flow.h>", True),
    ("src/run/run_x.c", "#include <sluice/live.h>", False),
    ("src/io/io_x.c", '#include "bench/bench_x.h"', False),
    ("bench/bench_x.c", '#include "io/io_output.h"', True),
    ("bench/bench_x.c", '#include "baselines/baselines.h"', False),
    ("cli/cmd_x.c", '#include "bench/bench_x.h"', True),
    ("examples/x.c", '#include "bench/bench_x.h"', False),
    ("src/new/new_x.c", "#include <sluice/base.h>", False),
    ("include/sluice/velo_x.h", '#include "base/bytes.h"', False),
    ("include/sluice/velo_x.h", "#include <sluice/report_velo.h>", False),
    ("include/sluice/sluice.h", "#include <sluice/report_velo.h>", True),
    ("cli/cmd_x.c", "#include <sluice/io.h>", True),
    ("cli/cmd_x.c", '#include "io/io_output.h"', False),
    ("examples/x.c", '#include "base/bytes.h"', False),
    ("tests/consume/x.c", '#include "base/bytes.h"', False),
]


def self_test():
    for name, line, allowed in SELF_TEST:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n")
            wrong, _ = check(root)
            if (not wrong) != allowed:
                sys.exit(f"self-test: {name} with {line}: expected {'no ' if allowed else 'a '}breach, got {wrong}")
    print(f"{len(SELF_TEST)} cases judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, seen = check(sys.argv[1])
    if seen < 20:
        sys.exit(f"only {seen} includes found under {sys.argv[1]}: this is not the tree")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{seen} includes in order")


if __name__ == "__main__":
    main()
