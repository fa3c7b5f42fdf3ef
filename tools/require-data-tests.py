#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails unless the tests with label "data" of a build folder ran, all of them, and further ones that are named.

A test that needs the reference data and does not find them is skipped, which ctest counts as passed, and so is one that
needs emulators. Where the data and the tools are known to be there, a skip means that nothing was checked. Tests with label "cuda"
are left out: no GPU is known to be there, and each has a twin in the emulator.

    tools/require-data-tests.py build/dev [TEST ...]     (after tools/check.sh dev)
"""
import json
import subprocess
import sys
import xml.etree.ElementTree as ET


def data_tests(build):
    """Names of the tests with label data that need no GPU."""
    listing = subprocess.run(["ctest", "--test-dir", build, "-L", "^data$", "-LE", "^cuda$", "--show-only=json-v1"],
                             check=True, capture_output=True, text=True).stdout
    return {test["name"] for test in json.loads(listing)["tests"]}


def main():
    build = sys.argv[1]
    named = set(sys.argv[2:])
    wanted = data_tests(build)
    ran = {case.get("name") for case in ET.parse(f"{build}/tests.xml").iter("testcase")
           if case.get("status") in ("run", "fail")}
    if not wanted:
        sys.exit(f"{build}: no test has the label data")
    if (wanted | named) - ran:
        sys.exit(f"{build}: not run, though what they need should be there: {', '.join(sorted((wanted | named) - ran))}")
    print(f"{build}: {len(wanted)} tests ran on reference data{''.join(f', {name} ran' for name in sorted(named))}")


if __name__ == "__main__":
    main()
