#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every operation that simd_c.h and simd_bits.h define is one that check_simd goes through, and the other way round.
#
#     simd_list.sh CHECK_SIMD ROOT
set -euo pipefail
export LC_ALL=C
defined=$(sed -nE 's/^static inline .*[ *]((mask32|f32v|i32v|u32v|u8v|mask8|bits)_[a-z0-9_]+)\(.*/\1/p' \
    <(sed -E 's/\).*//; s/(\([^)]*)$/\1)/' "$2/src/simd/simd_c.h" "$2/src/simd/simd_bits.h") | sort)
checked=$("$1" --list | sort)
[ "$(wc -l <<<"$defined")" -gt 100 ] || { echo "only $(wc -l <<<"$defined") operations found: the pattern is wrong"; exit 1; }
if ! diff <(echo "$defined") <(echo "$checked"); then
    echo "< stands in simd_c.h or simd_bits.h alone, > in tests/check_simd_list.h alone"
    exit 1
fi
echo "$(wc -l <<<"$defined") operations, all checked"
