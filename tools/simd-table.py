#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/simd.md, the vocabulary of src/simd/ as tables, from the comments that end the operations' first lines.

    tools/simd-table.py               writes docs/simd.md
    tools/simd-table.py --check       fails where docs/simd.md is out of date, a header lacks an operation, or an
                                      operation has no comment or other arguments than in simd_c.h
    tools/simd-table.py --self-test   proves that breaches are found
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "simd.md"
# Header and the title of its column; simd_c.h, the meaning, comes first.
HEADERS = (("c", "meaning"), ("sse4", "sse4"), ("avx2", "avx2"), ("avx512", "avx512 (its four targets)"), ("neon", "neon"),
           ("sve", "sve"))
OPERATION = re.compile(r"static inline (\w+) ((?:mask32|mask8|f32v|i32v|u32v|u8v|bits)_\w+)\(([^)]*)\)(.*)")
SECTION = re.compile(r"/\* -{4} (.+?) -+ \*/")
COMMENT = re.compile(r".*/\* (.+?) \*/$")

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tools/simd-table.py from the headers in src/simd/: change those, then run it. -->
# Vectors: targets and vocabulary

A kernel is written once, in the vocabulary below, compiled for every instruction set (*target*) of the architecture, and
chosen at run time. Results are the same bits on every target; of a NaN, that it is one.

## Targets, and which one runs

| target | runs on | lanes of 32 bits | lanes of 8 bits |
|---|---|---|---|
| `c` | everything: plain C, the meaning of all others | 1 | 8 |
| `sse4` | x86-64 with SSE4.2 and POPCNT (2008) | 4 | 16 |
| `avx2` | x86-64 with AVX2, FMA, BMI1, BMI2, LZCNT (2013) | 8 | 32 |
| `avx512vl128` | x86-64 with AVX-512 F, VL, BW, DQ, CD (2017): its instructions on 128-bit vectors | 4 | 16 |
| `avx512vl256` | the same processors, 256-bit vectors | 8 | 32 |
| `avx512` | the same processors, 512-bit vectors | 16 | 64 |
| `avx512icl` | x86-64 with VBMI, VBMI2, BITALG and VPOPCNTDQ besides (Ice Lake, Zen 4 and later), 512-bit vectors | 16 | 64 |
| `neon` | every AArch64 | 4 | 16 |
| `sve` | AArch64 with SVE (A64FX, Neoverse V1 and later); SVE2 is not needed | 4 to 64, known at run time | 16 to 256 |

The SIMDWrappers of A. Hennequin's thesis (2022, figure 2.11) fall back when the program is compiled: whoever asks for a
backend that the architecture lacks is led along arrows to the next one that exists. Here every target of the architecture
is in the library, and the processor decides:

- Nothing asked for (`auto`): every kernel takes the target on which it was measured to be the fastest, or the next in its
  list that runs here. Without a measurement it is the last one in this order that runs:

      x86-64:   c -> sse4 -> avx2 -> avx512vl128 -> avx512vl256 -> avx512 -> avx512icl
      AArch64:  c -> neon -> sve

- A target asked for (`--simd`, or `SLUICE_SIMD` in the environment) is taken, or it is an error that lists those that can
  run. There is no silent fallback: a measurement or a check of something else than was asked for would be worse than none.
- A processor "can run" a target if it has all the instructions in the table above, and the operating system saves the
  registers. `sluice version` shows the answer.

What falls back at compile time is single operations: where a target has no instruction for one, its header emulates it, as
the tables say.

## Rules

- Vectors and masks are local variables: never in structs or arrays, never under `sizeof`. On SVE they have no size.
- `SIMD_LANES` may be a value of the run time; `SIMD_MAX_LANES` is its bound that the compiler knows.
- Loops go over whole vectors, with `mask32_first(n - i)` for the last one. Columns have a spare vector behind them for this.
- No intrinsics outside of `src/simd/`. What a kernel needs and the vocabulary lacks becomes an operation in every header.
- The meaning of an operation is its line in [simd_c.h](../src/simd/simd_c.h), and nothing else.
- `tests/check_*.c` compare every operation and every kernel with formulas of their own on all targets that run here, and
  `tools/check-simd-emulated.sh` does so on AArch64 (SVE of 128, 256 and 512 bits) and on older x86 processors.

## Vocabulary

An entry is the instruction or instructions, or *emulated:* and how. Types: `f32v`, `i32v`, `u32v` are vectors of 32-bit
lanes with the mask `mask32`, `u8v` and `mask8` those of 8 bits. Rows of bits have further operations that are the same on
every target: [simd_bits.h](../src/simd/simd_bits.h).
"""


def read(text):
    """Operations of a header, in order: name -> (section, result, arguments, comment or None)."""
    found, section = {}, ""
    for line in text.split("\n"):
        if match := SECTION.match(line):
            section = match[1].rstrip(": ")
        elif match := OPERATION.match(line):
            comment = COMMENT.match(match[4])
            types = tuple(re.sub(r"\w+$", "", argument).replace(" ", "") for argument in match[3].split(","))
            # One operation under several #if: its first comment stands for all.
            found.setdefault(match[2], (section, match[1], match[3], types, comment[1] if comment else None))
    return found


def problems(headers):
    """headers: target -> operations."""
    meaning = headers["c"]
    for target, operations in headers.items():
        where = f"src/simd/simd_{target}.h"
        for name in meaning:
            if name not in operations:
                yield f"{where}: {name} is missing"
        for name, (_, result, arguments, types, comment) in operations.items():
            if name not in meaning:
                yield f"{where}: {name} is not in simd_c.h"
            elif (result, types) != (meaning[name][1], meaning[name][3]):
                yield f"{where}: {name}({arguments}) is not as in simd_c.h"
            if not comment:
                yield f"{where}: {name} has no comment at the end of its first line"


def cell(text):
    text = text.replace("|", "\\|")
    return re.sub(r"\bemulated\b(:?)", r"*emulated\1*", text)


def page(headers):
    lines, section = [HEAD.rstrip("\n")], None
    for name, (title, result, arguments, _, _) in headers["c"].items():
        if title != section:
            section = title
            lines += ["", f"### {title[0].upper()}{title[1:]}", "",
                      "| operation | " + " | ".join(column for _, column in HEADERS) + " |",
                      "|---" * (len(HEADERS) + 1) + "|"]
        signature = f"{result} {name}({arguments})"
        cells = [cell(headers[target][name][4]) for target, _ in HEADERS]
        lines.append(f"| `{signature}` | " + " | ".join(cells) + " |")
    n = len(headers["c"])
    emulated = [f"{sum('emulated' in o[4] for o in headers[target].values())} on {target}" for target, _ in HEADERS[1:]]
    lines += ["", f"{n} operations; emulated in whole or in part: {', '.join(emulated)}.", ""]
    return "\n".join(lines)


def self_test():
    c = ("/* ---- bits -------- */\nstatic inline u32v u32v_not(u32v a) { return ~a; } /* all bits flipped */\n"
         "static inline u32v helper(u32v a) { return a; }\nstatic inline u32v u32v_or(u32v a, u32v b) /* a | b */\n{\n}\n")
    cases = [
        (c, None),
        (c.replace("a, u32v b", "x, u32v y"), None),
        (c.replace("u32v_or", "u32v_and"), "u32v_or is missing"),
        (c.replace("u32v_or", "u32v_and"), "u32v_and is not in simd_c.h"),
        (c.replace(" /* a | b */", ""), "u32v_or has no comment"),
        (c.replace("u32v_not(u32v a)", "u32v_not(i32v a)"), "u32v_not(i32v a) is not as in simd_c.h"),
        (c.replace("inline u32v u32v_or", "inline i32v u32v_or"), "is not as in simd_c.h"),
    ]
    for text, words in cases:
        wrong = list(problems({"c": read(c), "sse4": read(text)}))
        if wrong if words is None else not any(words in line for line in wrong):
            sys.exit(f"self-test: {text!r}: expected {words}, got {wrong}")
    headers = {target: read(c) for target, _ in HEADERS}
    made = page(headers)
    if "### Bits" not in made or "a \\| b" not in made or page({**headers, "sve": read(c.replace("flipped", "f"))}) == made:
        sys.exit("self-test: the page does not show what the headers say")
    print(f"{len(cases) + 1} cases judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    headers = {target: read((ROOT / "src" / "simd" / f"simd_{target}.h").read_text()) for target, _ in HEADERS}
    wrong = list(problems(headers))
    if len(headers["c"]) < 100:
        wrong.append(f"src/simd/simd_c.h: only {len(headers['c'])} operations found: this is not the vocabulary")
    if wrong:
        sys.exit("\n".join(wrong))
    text = page(headers)
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE.relative_to(ROOT)} is not what the headers say: run tools/simd-table.py")
        print(f"{PAGE.relative_to(ROOT)}: {len(headers['c'])} operations, as the headers say")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
