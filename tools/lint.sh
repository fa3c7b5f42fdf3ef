#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, the command and the examples, with the compile commands of the dev build (tools/build.sh dev),
# as many files at a time as there are cores.
set -eu
cd "$(dirname "$0")/.."
find src cli examples -name '*.c' -print0 |
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/dev 2>build/dev/lint.log || {
    grep -v 'warnings generated' build/dev/lint.log >&2 || true
    exit 1
}
echo "clang-tidy: nothing found"
