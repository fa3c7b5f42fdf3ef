#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats every C and CUDA source in place; with --check only says which ones are not formatted, and fails.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
--check) mode="--dry-run --Werror" ;;
"") mode="-i" ;;
*) echo "usage: tools/format.sh [--check]" >&2 && exit 2 ;;
esac
# shellcheck disable=SC2086 # the mode is one or two words
find . \( -path ./.git -o -path ./build -o -path ./demo \) -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 -r clang-format $mode
