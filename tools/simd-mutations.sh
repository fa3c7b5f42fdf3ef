#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does check_simd notice? Breaks one line of one target's header at a time, in a copy of the tree, rebuilds that target and
# demands that the check fails. Prints a row for each mutation; fails where one survives, does not compile or does not
# apply (the line has changed: mend the list), and where the check fails without any.
#
#     tools/simd-mutations.sh [TARGET ...]        all that this machine runs or emulates
set -euo pipefail
cd "$(dirname "$0")/.."

# Target, header, operation or helper whose line is changed, what stands there, what it becomes; separated by tabs.
mutations() {
    cat <<'LIST'
c	simd_c.h	f32v_min	a < b ? a : b	b > a ? b : a
c	simd_c.h	f32v_ne	a != b	a < b || a > b
c	simd_c.h	i32v_round	rintf(a)	roundf(a)
c	simd_c.h	u32v_shlv	n < 32 ? a << n : 0	a << (n & 31)
c	simd_c.h	mask32_all	return 1	return 3
c	simd_c.h	mask32_first	n > 0	n > 1
c	simd_bits.h	bits_ends	before >> 63	before & 1
sse4	simd_sse4.h	mask32_first	_mm_setr_epi32(0, 1, 2, 3)	_mm_setr_epi32(-1, 0, 1, 2)
sse4	simd_sse4.h	f32v_sub	(a, b); }	(b, a); }
sse4	simd_sse4.h	f32v_lt	_mm_cmplt_ps	_mm_cmpnge_ps
sse4	simd_sse4.h	u32v_lt	sse4_flip(b), sse4_flip(a)	b, a
sse4	simd_sse4.h	{SSE4_A, SSE4_D, SSE4_Z	{SSE4_A, SSE4_D	{SSE4_D, SSE4_A
sse4	simd_sse4.h	u32v_previous	a, 12	a, 8
sse4	simd_x86.h	const __m128 pairs = _mm_min_ps(v	_mm_min_ps(v, _mm_movehdup_ps(v))	_mm_min_ps(_mm_movehdup_ps(v), v)
avx2	simd_avx2.h	mask32_first	n < 8 ? (int)n : 8	(int)n
avx2	simd_avx2.h	f32v_min	(a, b); }	(b, a); }
avx2	simd_avx2.h	f32v_ne	_CMP_NEQ_UQ	_CMP_NEQ_OQ
avx2	simd_avx2.h	f32v_load_masked	_mm256_maskload_ps(p, m)	_mm256_and_ps(_mm256_loadu_ps(p), _mm256_castsi256_ps(m))
avx2	simd_avx2.h	u32v_first_of_equals	0x0f, 0x1f	0x1f, 0x1f
avx2	simd_avx2.h	u8v_gt	_mm256_xor_si256(b, _mm256_set1_epi8(INT8_MIN))	b
avx2	simd_avx2.h	u32v_previous	0x21	0x12
avx512	simd_avx512.h	mask32_first	n < SIMD_LANES ? n	n < SIMD_LANES ? n + 1
avx512	simd_avx512.h	f32v_lt	_CMP_LT_OQ	_CMP_NGE_UQ
avx512	simd_avx512.h	f32v_copysign	0xca	0xac
avx512	simd_avx512.h	u32v_lt	cmplt_epu32_mask	cmplt_epi32_mask
avx512	simd_avx512.h	f32v_pack	maskz_compress_ps	maskz_expand_ps
avx512	simd_avx512.h	i32v_round	cvtps_epi32	cvttps_epi32
avx512vl128	simd_avx512.h	mask32_not	K(kxor)(a, ALL)	K(knot)(a)
avx512vl128	simd_avx512.h	u32v_previous	SIMD_MAX_LANES - 1	SIMD_MAX_LANES - 2
avx512vl128	simd_avx512.h	mask32_andnot	(b, a)	(a, b)
avx512vl128	simd_avx512.h	u8v_load_first	n < SIMD_LANES8 ? n	n < SIMD_LANES8 ? n + 1
avx512vl256	simd_avx512.h	mask32_lowest	1U << SIMD_MAX_LANES	1U << (SIMD_MAX_LANES - 1)
avx512vl256	simd_avx512.h	u32v_store_masked	(p, m, v)	(p, (mask32)(m | 1), v)
avx512vl256	simd_avx512.h	u8v_gt	cmpgt_epu8_mask	cmpge_epu8_mask
neon	simd_neon.h	mask32_first	vcltq_u32	vcleq_u32
neon	simd_neon.h	f32v_min	vcltq_f32(a, b), a, b	vcleq_f32(a, b), a, b
neon	simd_neon.h	i32v_truncate	vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), vcvtq_s32_f32(a), vdupq_n_s32(INT32_MIN))	vcvtq_s32_f32(a)
neon	simd_neon.h	u32v_shlv	vdupq_n_u32(32)	vdupq_n_u32(31)
neon	simd_neon.h	u32v_previous	b, 3	b, 2
sve	simd_sve.h	mask32_first	(0, n)	(1, n)
sve	simd_sve.h	f32v_lt	svcmplt_f32	svcmple_f32
sve	simd_sve.h	f32v_sum	-0.0f	0.0f
sve	simd_sve.h	u8v_gt	svcmpgt_u8(svptrue_b8(), a, b)	svcmpgt_u8(svptrue_b8(), b, a)
sve	simd_sve.h	i32v_round	svrintn_f32_x	svrinta_f32_x
LIST
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
cp -r CMakeLists.txt VERSION cmake include src tests "$work/tree/"
cp -r src/simd "$work/clean" # what is broken is always this, even where somebody edits the tree meanwhile

# Replaces the first FROM by TO in every line of HEADER that has PLACE; fails where nothing changes.
mutate() { # HEADER PLACE FROM TO
    PLACE=$2 FROM=$3 TO=$4 awk '
        index($0, ENVIRON["PLACE"] "(") || (ENVIRON["PLACE"] ~ /[{(]/ && index($0, ENVIRON["PLACE"])) {
            at = index($0, ENVIRON["FROM"])
            if (at > 0 && !done) {
                $0 = substr($0, 1, at - 1) ENVIRON["TO"] substr($0, at + length(ENVIRON["FROM"]))
                done = 1
            }
        }
        { print }' "$work/clean/$1" >"$work/mutant"
    ! cmp -s "$work/clean/$1" "$work/mutant" && cp "$work/mutant" "$work/tree/src/simd/$1"
}

emulator() { # TARGET: what its program runs under, the file of its tool chain; fails where that is missing
    run=() tools=()
    case $1 in
    neon | sve)
        if [ "$(uname -m)" != aarch64 ]; then
            command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null || return 1
            run=(qemu-aarch64 -cpu max,sve-max-vq=2)
            tools=(-DCMAKE_TOOLCHAIN_FILE="$work/tree/cmake/toolchain-aarch64.cmake" -DCMAKE_EXE_LINKER_FLAGS=-static)
        fi
        ;;
    c) ;;
    *) [ "$(uname -m)" = x86_64 ] || return 1 ;;
    esac
}

build() { # TARGET
    cmake --build "$work/$1" --target check_simd -j 2 >"$work/log" 2>&1
}

checked() { # TARGET: the check passes on it, and does not skip it
    SLUICE_SIMD=$1 timeout 300 "${run[@]}" "$work/$1/tests/check_simd" >"$work/out" 2>"$work/err" &&
        grep -q "^$1: .* ok$" "$work/out"
}

begin() { # TARGET: builds it unchanged and sees it pass
    cmake -S "$work/tree" -B "$work/$1" -G Ninja -DSLUICE_CORE_ONLY=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O1 -DSLUICE_SIMD_ONLY="$([ "$1" = c ] && echo c || echo "c;$1")" "${tools[@]}" >"$work/log" 2>&1 &&
        build "$1" || { cat "$work/log"; echo "$1: the copy does not build"; exit 1; }
    if ! checked "$1"; then
        cat "$work/out" "$work/err"
        grep -q "SKIPPED, cannot run here" "$work/out" && return 1
        echo "$1: the check fails although nothing is broken"
        exit 1
    fi
}

caught=0 bad=0 current="" skipped=""
printf '%-12s %-14s %-22s %-50s %s\n' target header operation mutation "noticed by"
while IFS=$'\t' read -r target header place from to; do
    if [ $# -gt 0 ] && [[ " $* " != *" $target "* ]]; then
        continue
    fi
    [[ " $skipped " == *" $target "* ]] && continue
    if [ "$target" != "$current" ]; then
        if ! emulator "$target" || ! begin "$target"; then
            echo "$target: SKIPPED, neither runs here nor is emulated"
            skipped="$skipped $target"
            continue
        fi
        current=$target
    fi
    if ! mutate "$header" "$place" "$from" "$to"; then
        verdict="NOT APPLIED: the line has changed"
    elif ! build "$target"; then
        verdict="DOES NOT COMPILE"
    elif checked "$target"; then
        verdict="SURVIVED"
    else
        verdict=$(grep -m1 -o 'FAILED: .*' "$work/err" | cut -c9-70 || true)
        verdict=${verdict:-the check ended with an error}
    fi
    case $verdict in
    NOT* | DOES* | SURVIVED) bad=$((bad + 1)) ;;
    *) caught=$((caught + 1)) ;;
    esac
    printf '%-12s %-14s %-22s %-50s %s\n' "$target" "$header" "${place:0:22}" "$(cut -c1-23 <<<"$from") -> $(cut -c1-23 <<<"$to")" "$verdict"
    cp "$work/clean/$header" "$work/tree/src/simd/$header"
done < <(mutations)
echo "$caught mutations noticed, $bad not${skipped:+; skipped:$skipped}"
[ "$bad" -eq 0 ] && [ "$caught" -gt 0 ]
