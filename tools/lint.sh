#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, the command and the examples, with the compile commands of the asan preset, whose compiler
# is Clang too (it would not know all of GCC's flags); as many files at a time as there are cores. Files that only a build
# with CUDA has are looked up in the dev preset's commands, where that has been built with it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/asan
cmake --preset asan >build/asan/configure.log 2>&1 || { cat build/asan/configure.log >&2; exit 1; }

# tidy BUILD-FOLDER: the files named on standard input, each followed by a NUL
tidy() {
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p "$1" 2>"$1/lint.log" || {
        grep -v 'warnings generated' "$1/lint.log" >&2 || true
        exit 1
    }
}

# known BUILD-FOLDER: of the files on standard input, one a line, those with a compile command
known() {
    while read -r file; do
        ! grep -Fq "/$file\"" "$1/compile_commands.json" || printf '%s\n' "$file"
    done
}

all=$(find src cli examples -name '*.c' | sort)
here=$(printf '%s\n' "$all" | known build/asan)
printf '%s\n' "$here" | tr '\n' '\0' | tidy build/asan
rest=$(printf '%s\n' "$all" | grep -Fxv "$here" || true)
if [ -n "$rest" ] && [ -f build/dev/compile_commands.json ]; then
    printf '%s\n' "$rest" | known build/dev | tr '\n' '\0' | tidy build/dev
    rest=$(printf '%s\n' "$rest" | while read -r file; do
        grep -Fq "/$file\"" build/dev/compile_commands.json || printf '%s\n' "$file"
    done)
fi
[ -z "$rest" ] || echo "clang-tidy: in no build, not looked at:" "$rest"
echo "clang-tidy: nothing found"
