#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command under GCC's thread sanitizer, through tests/cli/*_races.sh: the part of `make tsan` that is short enough to be
# run on every change. Only the command is built, for two instruction sets, as races do not depend on them.
set -eu
cd "$(dirname "$0")/.."
cmake --preset tsan -B build/races -DSLUICE_SIMD_ONLY="c;avx2" >/dev/null
cmake --build build/races --target sluice-command
# Without the sanitizer in it, nothing could be found.
nm -D build/races/sluice | grep -q __tsan_ || { echo "tools/races.sh: the command has no thread sanitizer" >&2; exit 1; }
for test in tests/cli/*_races.sh; do
    "$test" "$PWD/build/races/sluice" "$PWD"
done
