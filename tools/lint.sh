#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, the command and the examples, with the compile commands of the asan preset, whose compiler
# is Clang too (it would not know all of GCC's flags); as many files at a time as there are cores.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/asan
cmake --preset asan >build/asan/configure.log 2>&1 || { cat build/asan/configure.log >&2; exit 1; }
find src cli examples -name '*.c' -print0 |
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/asan 2>build/asan/lint.log || {
    grep -v 'warnings generated' build/asan/lint.log >&2 || true
    exit 1
}
echo "clang-tidy: nothing found"
