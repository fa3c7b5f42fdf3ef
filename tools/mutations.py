#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice? Breaks one place of src/ at a time, at random, builds, and runs the tests until one fails.

    tools/mutations.py [--count 100] [--seed 1] [--only REGEX] [--jobs N]

A mutation is another comparison, sign, logical operator or whole number, a condition the wrong way round, or a sum that is
not taken. The tree is copied to build/mutations, so that the checkout may be worked on meanwhile, and built with GCC, without
CUDA, for two instruction sets. Of each mutation first the tests of its stem run, then those of its module, then all but those
of the tree itself. One that leaves the object file as it was, or does not compile, is none: another is drawn. Survivors are
printed with file, line, before and after; whether each is a fault that the tests let live or makes no difference is for the
reader to say. Exit 1 if one survived. The same seed draws the same mutations of the same tree. Takes an hour or so.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREE = ROOT / "build/mutations"
# What is found, what it becomes. Operators stand between spaces, as clang-format has them.
RULES = [
    (r" < ", [" <= ", " > "]), (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* (?=[\w(])", [" + "]), (r" << ", [" >> "]), (r" >> ", [" << "]),
    (r" \+= ", [" = ", " -= "]), (r" \|= ", [" = "]), (r" & ", [" | "]), (r"\bif \((?!!)", ["if (!("]),
    (r"(?<![\w.])\d+(?=[UuLl]*\b)(?![\w.]*[.xX])", ["+1"]),
]


def code_only(text):
    """The text with comments, strings, characters and directives blanked, every character in its place."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", "\a", m.group()), text, flags=re.S | re.M)


def mutations(text):
    """(begin, end, replacement) of every mutation of the functions in a source; declarations are left alone."""
    code = code_only(text)
    for body in re.finditer(r"^\{\n.*?^\}", code, flags=re.S | re.M):
        for pattern, replacements in RULES:
            for found in re.finditer(pattern, body.group()):
                begin, end = body.start() + found.start(), body.start() + found.end()
                for new in replacements:
                    if new == "+1":
                        yield begin, end, str(int(found.group(), 8 if re.fullmatch(r"0\d+", found.group()) else 10) + 1)
                    elif new == "if (!(":
                        close = closing(code, end)
                        yield begin, close, text[begin:end] + "!(" + text[end:close] + ")"
                    else:
                        yield begin, end, new


def closing(code, at):
    """Where the bracket that was opened before `at` is closed."""
    depth = 1
    while depth > 0:
        depth += (code[at] == "(") - (code[at] == ")")
        at += 1
    return at - 1


def self_test():
    text = ('/* a < b */\nint f(int a, int b)\n{\n    const char *s = " < "; // 3 + 4\n    if (a < b && g(2)) {\n'
            '        a += 1.5 * b;\n    }\n    return a;\n}\n')
    made = {text[:b] + new + text[e:] for b, e, new in mutations(text)}
    for old, new in [("a < b &&", "a <= b &&"), ("a < b &&", "a > b &&"), (" && ", " || "), ("g(2)", "g(3)"), ("a += ", "a = "),
                     ("a += ", "a -= "), ("if (a < b && g(2))", "if (!(a < b && g(2)))"), ("1.5 * b", "1.5 + b")]:
        if text.replace(old, new, 1) not in made:
            sys.exit(f"self-test: {old} does not become {new}")
    if len(made) != 8:
        sys.exit(f"self-test: {len(made)} mutations instead of 8: comments, strings or decimals are not left alone")
    print("8 mutations, those that should be")


def run(*command, seconds=900):
    try:
        return subprocess.run(command, cwd=TREE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def object_bytes(source):
    """The code and data of every object made of a source, without what depends on paths."""
    dumps = []
    for path in sorted(TREE.glob(f"build/src/**/{source.name}.o")):
        stripped = TREE / "stripped.o"
        subprocess.run(["objcopy", "--strip-debug", path, stripped], check=True)
        dumps.append(stripped.read_bytes())
    return dumps


def noticed(source, jobs):
    """Which stage of the tests fails: by stem, by module, all; None where none does."""
    module = source.relative_to(TREE / "src").parts[0]
    stem = re.sub(r"(\.simd)?\.\w+$", "", source.name)
    names = subprocess.run(["ctest", "--test-dir", "build", "-N"], cwd=TREE, capture_output=True, text=True, check=True).stdout
    programs = re.findall(r"Test +#\d+: ((?:test|check|replay)_\w+)", names)
    shorter = {"_".join(stem.split("_")[:k]) for k in range(2, 9)}
    for stage, wanted in (("stem", [p for p in programs if any(p.endswith(s) or f"{s}_" in p for s in shorter)]),
                          ("module", [p for p in programs if f"_{module}" in p]), ("all", None)):
        if wanted == [] or not run("ninja", "-C", "build", f"-j{jobs}", *(wanted or []), seconds=3600):
            continue
        chosen = ["-LE", "hygiene"] if wanted is None else ["-R", "^(" + "|".join(wanted) + ")$"]
        if not run("ctest", "--test-dir", "build", f"-j{jobs}", "--stop-on-failure", "--timeout", "300", "-E", "emulated|_fork", *chosen,
                   seconds=7200):
            return stage
    return None


def prepare(jobs):
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)
    data = os.environ.get("SLUICE_TEST_DATA", str(ROOT / "../shared/data"))
    os.environ["SLUICE_TEST_DATA"] = str(pathlib.Path(data).resolve())
    configured = run("cmake", "--preset", "dev", "-B", "build", "-DSLUICE_CUDA=OFF", "-DSLUICE_SIMD_ONLY=c;avx2")
    if not configured or not run("ninja", "-C", "build", f"-j{jobs}", seconds=7200):
        sys.exit(f"the tree does not build: see {TREE}/build")
    if not run("ctest", "--test-dir", "build", f"-j{jobs}", "-LE", "hygiene", "-E", "emulated|_fork", seconds=7200):
        sys.exit(f"tests fail without a mutation: ctest --test-dir {TREE}/build -LE hygiene -E 'emulated|_fork'")


def draw(only):
    """Every mutation of the sources, in a random order: (path, begin, end, replacement)."""
    found = []
    for path in sorted((TREE / "src").rglob("*.c")):
        if re.search(only, str(path.relative_to(TREE))):
            found += [(path, *m) for m in mutations(path.read_text())]
    random.shuffle(found)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="of files whose path matches")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    if options.self_test:
        return self_test()
    random.seed(options.seed)
    prepare(options.jobs)
    done, survivors = 0, []
    for path, begin, end, new in draw(options.only):
        if done == options.count:
            break
        text = path.read_text()
        before = object_bytes(path)
        line = text.count("\n", 0, begin) + 1
        mutant = text[:begin] + new + text[end:]
        path.write_text(mutant)
        try:
            if not run("ninja", "-C", "build", f"-j{options.jobs}", "sluice", seconds=3600) or not before or object_bytes(path) == before:
                continue
            done += 1
            stage = noticed(path, options.jobs)
        finally:
            path.write_text(text)
        where = f"{path.relative_to(TREE)}:{line}"
        print(f"{done:4} {'SURVIVES' if stage is None else 'by ' + stage:9} {where}: {text.splitlines()[line - 1].strip()}"
              f"  ->  {mutant.splitlines()[line - 1].strip()}", flush=True)
        if stage is None:
            survivors.append(where)
    print(f"{done} mutations, {done - len(survivors)} noticed, {len(survivors)} survive: {' '.join(survivors) or '-'}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
