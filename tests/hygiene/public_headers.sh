#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C17 and as C++17, with warnings as errors, with every compiler that is here.
#
#     public_headers.sh SOURCE-FOLDER
set -eu
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -fsyntax-only -I$root/include"

# One header in one language; twice in a row, which its include guard must stand.
compile() {
    compiler=$1 language=$2 standard=$3 header=$4
    printf '#include <sluice/%s>\n#include <sluice/%s>\n' "$header" "$header" >"$scratch/unit"
    # shellcheck disable=SC2086 # the flags are words
    "$compiler" -x "$language" -std="$standard" $strict "$scratch/unit"
}

if printf 'int f(long a) { return a; }\n' | gcc -x c -std=c17 -Wconversion -Werror -fsyntax-only - 2>/dev/null; then
    echo "self-test: a warning was no error"
    exit 1
fi

compiled=0
for pair in gcc:g++ clang:clang++; do
    c=${pair%:*} cxx=${pair#*:}
    if ! command -v "$c" >/dev/null || ! command -v "$cxx" >/dev/null; then
        echo "not here: $c and $cxx"
        continue
    fi
    for path in "$root"/include/sluice/*.h; do
        compile "$c" c c17 "$(basename "$path")"
        compile "$cxx" c++ c++17 "$(basename "$path")"
        compiled=$((compiled + 2))
    done
done
[ "$compiled" -gt 0 ] || { echo "nothing was compiled"; exit 1; }
echo "$compiled compilations of public headers"
