#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails unless the tests with label "data" of a build folder ran, all of them.

A test that needs the reference data and does not find them is skipped, which ctest counts as passed. Where the data
are known to be there, a skip means that nothing was checked.

    tools/require-data-tests.py build/dev     (after tools/check.sh dev)
"""
import json
import subprocess
import sys
import xml.etree.ElementTree as ET


def data_tests(build):
    """Names of the tests with label data."""
    listing = subprocess.run(["ctest", "--test-dir", build, "-L", "^data$", "--show-only=json-v1"],
                             check=True, capture_output=True, text=True).stdout
    return {test["name"] for test in json.loads(listing)["tests"]}


def main():
    build = sys.argv[1]
    wanted = data_tests(build)
    ran = {case.get("name") for case in ET.parse(f"{build}/tests.xml").iter("testcase")
           if case.get("status") in ("run", "fail")}
    if not wanted:
        sys.exit(f"{build}: no test has the label data")
    if wanted - ran:
        sys.exit(f"{build}: not run, though the data should be there: {', '.join(sorted(wanted - ran))}")
    print(f"{build}: {len(wanted)} tests ran on reference data")


if __name__ == "__main__":
    main()
