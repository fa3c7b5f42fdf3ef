#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one preset and runs all of its tests: tools/check.sh dev. Further arguments go to ctest. Leaves the results as
# JUnit XML in build/PRESET/tests.xml, where .ci/run reads which tests ran.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/check.sh PRESET [CTEST-ARGUMENT ...]}
shift
tools/build.sh "$preset"
rm -f "build/$preset/tests.xml"
ctest --preset "$preset" --output-junit tests.xml "$@"
