#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that cannot be overlooked and cannot pass by doing nothing.

Every test known to ctest has a limit in time and exactly one label of the list; a test whose source reads SLUICE_TEST_DATA has the label
data, and the other way round; every cmocka test function asserts, itself or in a function of its file; every test file
is run. `--self-test` proves that breaches are found.

    check_tests.py ROOT BUILD-FOLDER CTEST
    check_tests.py --self-test
"""
import json
import pathlib
import re
import subprocess
import sys

import c_source

KINDS = {"kernels", "stages", "cli", "formats", "python", "hygiene"}
EXTRA = {"data", "cuda", "mpi", "long", "large"}


def label_problems(tests):
    """tests: name -> set of labels."""
    for name, labels in sorted(tests.items()):
        if len(labels & KINDS) != 1:
            yield f"{name}: labels {sorted(labels)}; one of {sorted(KINDS)} is needed"
        if labels - KINDS - EXTRA:
            yield f"{name}: unknown labels {sorted(labels - KINDS - EXTRA)}"


def calling(functions, words):
    """The words, and the names of the functions that use one of them, directly or through another one."""
    words = set(words)
    while True:
        more = {f.name for f in functions if f.name not in words
                and any(re.search(rf"\b{word}\b", f.body) for word in words)}
        if not more:
            return words
        words |= more


def data_problems(tests, sources, support=""):
    """sources: stem -> text; support: what they share. A test bears the stem of its source."""
    readers = calling(c_source.functions(support), {"SLUICE_TEST_DATA"})
    for stem, text in sorted(sources.items()):
        uses = any(re.search(rf"\b{reader}\b", c_source.without_comments(text)) for reader in readers)
        if stem.startswith("check_") and "int main(" not in text:
            continue  # a further file of such a program
        if stem not in tests:
            yield f"{stem}: no test of this name is run"
        elif uses and "data" not in tests[stem]:
            yield f"{stem}: uses the reference data without the label data"
        elif not uses and "data" in tests[stem]:
            yield f"{stem}: has the label data and uses none"


def assert_problems(stem, text, support=""):
    """Functions taking (void **state) that reach no assertion."""
    functions = {f.name: f for f in c_source.functions(c_source.without_comments(text))}
    asserting = {name for name, f in functions.items() if re.search(r"\b(assert_\w+|fail|fail_msg)\s*\(", f.body)}
    asserting |= {f.name for f in c_source.functions(support) if re.search(r"\bassert_\w+\s*\(|\bfail_msg\s*\(", f.body)}
    # Macros of the file that assert count like functions that do.
    asserting |= set(re.findall(r"#define (\w+)\([^)]*\)(?:[^\n]*\\\n)*[^\n]*assert_", text))
    asserting = calling(list(functions.values()), asserting)
    run = set(re.findall(r"cmocka_unit_test\w*\(\s*(\w+)", text))
    if not run:
        yield f"{stem}: runs no cmocka test"
    for name in sorted(run - asserting):
        if name in functions:
            yield f"{stem}: {name} asserts nothing"
    tests = {name for name, f in functions.items() if re.match(r"test_", name) and f.static}
    for name in sorted(tests - run):
        if not re.search(rf"\b{name}\b", "".join(f.body for f in functions.values() if f.name != name) + text.split("int main")[-1]):
            yield f"{stem}: {name} is never run"


def check_problems(stem, text):
    """Programs check_* use no cmocka: they report through slc_check_fail, and slc_check_end is their exit status."""
    code = c_source.without_comments(text)
    main = next((f.body for f in c_source.functions(code) if f.name == "main"), None)
    if main is None:
        return  # a further file of such a program
    if not re.search(r"\breturn slc_check_end\(\)", main) or not re.search(r"\bslc_check_(fail|values|passed)\(", code):
        yield f"{stem}: its exit status is not that of slc_check_end, or nothing is reported to it"


def time_problems(properties):
    """properties: name -> properties. A test that hangs is to fail by itself, not by the limit of whoever waits for it."""
    for name, own in sorted(properties.items()):
        if "TIMEOUT" not in own:
            yield f"{name}: has no TIMEOUT"


def ctest_tests(build, ctest):
    """name -> properties."""
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                             text=True).stdout
    tests = {}
    for test in json.loads(listing)["tests"]:
        tests[test["name"]] = {p["name"]: p["value"] for p in test.get("properties", [])}
    return tests


def self_test():
    good = "static void test_a(void **state)\n{\n    assert_true(1);\n}\n\n" \
           "int main(void)\n{\n    run(cmocka_unit_test(test_a));\n}\n"
    helper = good.replace("assert_true(1)", "check(1)") + "static void check(int a)\n{\n    assert_true(a);\n}\n"
    checking = "int main(void)\n{\n    slc_check_fail(\"no\");\n    return slc_check_end();\n}\n"
    opener = "static int folder(void)\n{\n    getenv(SLUICE_TEST_DATA);\n}\n\nint open_event(void)\n{\n    folder();\n}\n"
    cases = [
        (time_problems({"a": {"TIMEOUT": 600}}), None),
        (time_problems({"a": {"TIMEOUT": 600}, "b": {}}), "b: has no TIMEOUT"),
        (label_problems({"a": {"stages", "data"}}), None),
        (label_problems({"a": {"data"}}), "is needed"),
        (label_problems({"a": set()}), "is needed"),
        (label_problems({"a": {"stages", "cli"}}), "is needed"),
        (label_problems({"a": {"stages", "slow"}}), "unknown labels"),
        (data_problems({"test_a": {"stages"}}, {"test_a": "SLUICE_TEST_DATA"}), "without the label"),
        (data_problems({"test_a": {"stages", "data"}}, {"test_a": ""}), "uses none"),
        (data_problems({"test_a": {"stages"}}, {"test_a": "open_event()"}, opener), "without the label"),
        (data_problems({"test_a": {"stages", "data"}}, {"test_a": "open_event()"}, opener), None),
        (data_problems({}, {"test_a": ""}), "no test of this name"),
        (data_problems({}, {"check_a": "int main(void)\n{\n}\n"}), "no test of this name"),
        (data_problems({}, {"check_a.simd": "int a;\n"}), None),
        (check_problems("check_a", checking), None),
        (check_problems("check_a", checking.replace("return slc_check_end()", "return 0")), "exit status"),
        (check_problems("check_a", checking.replace("slc_check_fail", "printf")), "nothing is reported"),
        (assert_problems("a", good), None),
        (assert_problems("a", helper), None),
        (assert_problems("a", good.replace("assert_true", "/* assert_true */ (void)")), "asserts nothing"),
        (assert_problems("a", "int main(void)\n{\n}\n"), "runs no cmocka test"),
        (assert_problems("a", good.replace("cmocka_unit_test(test_a)", "cmocka_unit_test(other)")), "is never run"),
    ]
    for i, (problems, words) in enumerate(cases):
        problems = list(problems)
        if problems if words is None else not any(words in problem for problem in problems):
            sys.exit(f"self-test: case {i}: expected {words}, got {problems}")
    print(f"{len(cases)} cases judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root, build, ctest = sys.argv[1:]
    properties = ctest_tests(build, ctest)
    tests = {name: set(own.get("LABELS", [])) for name, own in properties.items()}
    sources = {path.stem: path.read_text() for pattern in ("test_*.c", "check_*.c")
               for path in sorted(pathlib.Path(root, "tests").glob(pattern))}
    if len(sources) < 5 or len(tests) < 10:
        sys.exit(f"only {len(sources)} test sources and {len(tests)} tests found: this is not the tree")
    support = "\n".join(path.read_text() for path in c_source.files(pathlib.Path(root, "tests/support"), ".c", ".h"))
    wrong = list(time_problems(properties)) + list(label_problems(tests)) + list(data_problems(tests, sources, support))
    for stem, text in sources.items():
        wrong += check_problems(stem, text) if stem.startswith("check_") else assert_problems(stem, text, support)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(tests)} tests with labels, {len(sources)} sources that assert")


if __name__ == "__main__":
    main()
