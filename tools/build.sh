#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset: tools/build.sh release. Quiet unless something goes wrong.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/build.sh PRESET}
mkdir -p "build/$preset"
echo "Building build/$preset"
cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || { cat "build/$preset/configure.log" >&2; exit 1; }
cmake --build --preset "$preset" >"build/$preset/build.log" 2>&1 || { cat "build/$preset/build.log" >&2; exit 1; }
