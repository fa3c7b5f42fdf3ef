#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The objects of one instruction set: each exports its table and nothing else, and no instruction belongs to a wider or newer
# target. A processor that has them all would not notice.
#
#     simd_objects.sh TARGET object.o ...
#     simd_objects.sh --self-test avx512.o ...      the rules of narrower targets must find these
set -euo pipefail

# What an object of a target may not use. Registers above 15 and masks exist with AVX-512 alone.
forbidden() {
    local newer='%([xyz]mm(1[6-9]|2[0-9]|3[01])|k[0-7])\b'
    case $1 in
    c | sse4) echo "%[yz]mm|$newer" ;;
    avx2) echo "%zmm|$newer" ;;
    avx512vl128) echo '%[yz]mm' ;;
    avx512vl256) echo '%zmm' ;;
    avx512) echo 'vpcompress[bw]|vpopcnt|vpermb|vpshld|vpshrd' ;;
    avx512icl) echo '^nothing$' ;;
    *) echo "what may $1 not use?" >&2 && return 1 ;;
    esac
}

# The first lines of an object that break a target's rule.
breaches() { # TARGET OBJECT
    objdump -d --no-show-raw-insn "$2" | grep -E "$(forbidden "$1")" | head -n 3 || true
}

target=$1
shift
[ $# -gt 0 ] || { echo "no objects of $target"; exit 1; }
if [ "$target" = --self-test ]; then
    for narrower in c sse4 avx2 avx512vl128 avx512vl256; do
        for object in "$@"; do
            [ -n "$(breaches $narrower "$object")" ] || { echo "$narrower: nothing found in $object"; exit 1; }
        done
    done
    echo "found in all of $#"
    exit 0
fi

for object in "$@"; do
    exported=$(nm --defined-only --extern-only "$object" | awk '{ print $3 }')
    if ! grep -Eqx "slc_[a-z0-9_]+_kernels_$target" <<<"$exported" || [ "$(wc -l <<<"$exported")" -ne 1 ]; then
        echo "$object exports something else than one table: $exported"
        exit 1
    fi
    found=$(breaches "$target" "$object")
    if [ -n "$found" ]; then
        echo "$object is of $target and uses:"
        echo "$found"
        exit 1
    fi
done
echo "$# objects of $target"
