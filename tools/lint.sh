#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, what is beside it, the command and the examples, with the compile commands of the asan preset, whose compiler
# is Clang too (it would not know all of GCC's flags); as many files at a time as there are cores. Files that only a build
# with CUDA has are looked up in the dev preset's commands, where that has been built with it. tools/lint-commands.py chooses
# among a file's commands. With --all, as in `make check-long`, kernels are also looked at for the instruction sets between the
# first and the last one.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/asan
cmake --preset asan >build/asan/configure.log 2>&1 || { cat build/asan/configure.log >&2; exit 1; }

# tidy KIND ARGUMENT...: the files of build/lint/KIND.list
tidy() {
    kind=$1
    shift
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p "build/lint/$kind" "$@" \
        <"build/lint/$kind.list" 2>"build/lint/$kind.log" || {
        grep -v 'warnings generated' "build/lint/$kind.log" >&2 || true
        exit 1
    }
}

builds=build/asan
[ ! -f build/dev/compile_commands.json ] || builds="$builds build/dev"
# shellcheck disable=SC2086 # the builds are words
tools/lint-commands.py build/lint $builds
tidy paths
[ "${1:-}" != --all ] || tidy plain "--checks=-clang-analyzer-*"
echo "clang-tidy: nothing found"
