#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does check_simd notice, and of simd_rows.h check_rows? Breaks one line of one header at a time, in a copy of the tree,
# compiles the check's loops again and demands that it fails. (The library stays whole: it is not what is checked.) Prints a
# row for each mutation; fails where one survives, does not compile or does not apply (the line has changed: mend the list),
# and where a check fails without any.
#
#     tools/simd-mutations.sh [--only REGEX] [TARGET ...]        all that this machine runs or emulates; --only: rows of the
#                                                                list that match
set -euo pipefail
cd "$(dirname "$0")/.."
only=
if [ "${1:-}" = --only ]; then
    only=$2
    shift 2
fi

# Target, header, operation or helper whose line is changed (or a piece of that line with a bracket or a sign of assignment in
# it), what stands there, what it becomes; separated by tabs.
mutations() {
    cat <<'LIST'
c	simd_c.h	f32v_min	a < b ? a : b	b > a ? b : a
c	simd_c.h	f32v_ne	a != b	a < b || a > b
c	simd_c.h	i32v_round	rintf(a)	roundf(a)
c	simd_c.h	u32v_shlv	n < 32 ? a << n : 0	a << (n & 31)
c	simd_c.h	mask32_all	return 1	return 3
c	simd_c.h	mask32_first	n > 0	n > 1
c	simd_bits.h	bits_ends	before >> 63	before & 1
c	simd_c.h	mask32_of_bits	bits & 1	bits
c	simd_c.h	u32v_rank	bits & 1	bits
c	simd_c.h	u32v_running_sum	return v	return v + v
c	simd_c.h	u32v_even	return a	return b
c	simd_c.h	u32v_odd	return b	return a
c	simd_c.h	u32v_load_any	sizeof v	sizeof v - 1
c	simd_c.h	u32v_store_far	*p = v	*p += v
c	simd_c.h	bits_extract	<< k	<< (k & 31)
c	simd_c.h	bits_evens	simd_evens(word)	simd_evens(word >> 1)
c	simd.h	word = (word | word >> 8)	>> 8	>> 4
c	simd_rows.h	(with < sum	(with < sum ? 1U : 0U)	0U
c	simd_rows.h	(sum < b[i]	sum < b[i]	sum <= b[i]
c	simd_rows.h	p[4 * i + k]	4 * i + k	4 * k + i
c	simd_rows.h	const uint64_t last = from[3]	<< 32	<< 31
c	simd_rows.h	record[1] += from[1]	+=	^=
c	simd_rows.h	larger |= (a > b	a > b	a < b
c	simd_rows.h	record[3] >> shift & 0xffff, b = from[3]	0xffff	0x7fff
c	simd_rows.h	record[k] += from[k]	+=	|=
sse4	simd_sse4.h	mask32_first	_mm_setr_epi32(0, 1, 2, 3)	_mm_setr_epi32(-1, 0, 1, 2)
sse4	simd_sse4.h	f32v_sub	(a, b); }	(b, a); }
sse4	simd_sse4.h	f32v_lt	_mm_cmplt_ps	_mm_cmpnge_ps
sse4	simd_sse4.h	u32v_lt	sse4_flip(b), sse4_flip(a)	b, a
sse4	simd_sse4.h	{SSE4_A, SSE4_D, SSE4_Z	{SSE4_A, SSE4_D	{SSE4_D, SSE4_A
sse4	simd_sse4.h	u32v_previous	a, 12	a, 8
sse4	simd_x86.h	const __m128 pairs = _mm_min_ps(v	_mm_min_ps(v, _mm_movehdup_ps(v))	_mm_min_ps(_mm_movehdup_ps(v), v)
sse4	simd_sse4.h	_mm_setr_epi32(1, 2, 4, 8)	4, 8	8, 4
sse4	simd_sse4.h	u32v_rank	1, 3, 7, 15	1, 3, 7, 7
sse4	simd_sse4.h	_mm_add_epi32(pairs, _mm_slli_si128(pairs, 8))	, 8	, 4
sse4	simd_sse4.h	u32v_even	0x88	0x82
sse4	simd_sse4.h	u32v_odd	0xdd	0xd7
sse4	simd_sse4.h	u32v_load_any	_mm_loadu_si128	_mm_load_si128
sse4	simd_sse4.h	u32v_store_far	_mm_stream_si128	_mm_storel_epi64
sse4	simd_sse4.h	bits_extract	mask &= mask - 1, k++	mask &= mask - 1, k += k < 40
sse4	simd_sse4.h	bits_evens	simd_evens(word)	simd_evens(word >> 1)
sse4	simd_rows.h	carry = _addcarry_u64(	(unsigned char)carry	0
sse4	simd_rows.h	u32v_store(lane[2], c)	, c	, d
sse4	simd_rows.h	p[4 * i + k]	lane[k][i]	lane[k][i ^ 1]
sse4	simd_rows.h	larger |= (a > b	a : b	b : a
sse4	simd_rows.h	record[k] += from[k]	+=	^=
avx2	simd_avx2.h	mask32_first	n < 8 ? (int)n : 8	(int)n
avx2	simd_avx2.h	f32v_min	(a, b); }	(b, a); }
avx2	simd_avx2.h	f32v_ne	_CMP_NEQ_UQ	_CMP_NEQ_OQ
avx2	simd_avx2.h	f32v_load_masked	_mm256_maskload_ps(p, m)	_mm256_and_ps(_mm256_loadu_ps(p), _mm256_castsi256_ps(m))
avx2	simd_avx2.h	u32v_first_of_equals	0x0f, 0x1f	0x1f, 0x1f
avx2	simd_avx2.h	u8v_gt	_mm256_xor_si256(b, _mm256_set1_epi8(INT8_MIN))	b
avx2	simd_avx2.h	u32v_previous	0x21	0x12
avx2	simd_avx2.h	_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128)	64, 128	128, 64
avx2	simd_avx2.h	avx2_upto[bits & 255]	255	127
avx2	simd_avx2.h	_mm256_and_si256(shifted	(15)	(7)
avx2	simd_avx2.h	_mm256_permutevar8x32_epi32(halves	(3)	(2)
avx2	simd_avx2.h	_mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0)	0xf0	0xe0
avx2	simd_avx2.h	_mm256_permute4x64_epi64(_mm256_castps_si256(halves)	0xd8	0xe4
avx2	simd_avx2.h	u32v_even	a, b, 0	b, a, 0
avx2	simd_avx2.h	u32v_odd	a, b, 1	a, b, 0
avx2	simd_avx2.h	u32v_load_any	_mm256_loadu_si256	_mm256_load_si256
avx2	simd_avx2.h	u32v_store_far	_mm256_stream_si256((void *)p, v)	_mm_stream_si128((void *)p, _mm256_castsi256_si128(v))
avx2	simd_avx2.h	bits_extract	word, mask)	mask, word)
avx2	simd_avx2.h	bits_evens	0x5555	0x5554
avx2	simd_rows.h	carry = _addcarry_u64(	a[i], b[i]	a[i], a[i]
avx2	simd_rows.h	_mm256_permute2x128_si256(r0, r1, 0x31)	0x31	0x21
avx2	simd_rows.h	ab2 = _mm256_unpackhi_epi32(a, b)	unpackhi_epi32(c	unpacklo_epi32(c
avx2	simd_rows.h	_mm256_storeu_si256((void *)(p + 8)	storeu	store
avx2	simd_rows.h	_mm256_cvtepu32_epi64(	cvtepu32	cvtepi32
avx2	simd_rows.h	_mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, (int)upper)	(int)upper	(int)upper >> 1
avx2	simd_rows.h	larger = _mm256_max_epu16(old, more)	epu16	epi16
avx2	simd_rows.h	_mm256_blend_epi32(_mm256_add_epi64(old, more), larger, 0xc0)	0xc0	0x80
avx2	simd_rows.h	_mm256_blend_epi32(_mm256_add_epi64(old, more), larger, 0xc0)	add_epi64	add_epi32
avx2	simd_rows.h	more = _mm256_loadu_si256((const void *)from)	(const void *)from	(const void *)record
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
avx512vl128	simd_avx512.h	uint32_t low = (uint32_t)bits	& ALL	& 0xff
avx512vl128	simd_avx512.h	alignr_epi32)(v, zero, SIMD_MAX_LANES - 2	LANES - 2	LANES - 1
avx512vl128	simd_rows.h	u32v_store(lane[3], d)	lane[3], d	lane[3], a
avx512vl256	simd_avx512.h	mask32_lowest	1U << SIMD_MAX_LANES	1U << (SIMD_MAX_LANES - 1)
avx512vl256	simd_avx512.h	u32v_store_masked	(p, m, v)	(p, (mask32)(m | 1), v)
avx512vl256	simd_avx512.h	u8v_gt	cmpgt_epu8_mask	cmpge_epu8_mask
avx512vl256	simd_avx512.h	u32v_even	a, MM(slli_epi32)	b, MM(slli_epi32)
avx512vl256	simd_rows.h	_mm256_permute2x128_si256(r2, r3, 0x20)	r2, r3	r3, r2
avx512vl256	simd_rows.h	larger = _mm256_max_epu16(old, more)	epu16	epi16
avx512icl	simd_avx512.h	uint32_t low = (uint32_t)bits	& ALL	& (ALL >> 1)
avx512icl	simd_avx512.h	const u32v upto = MM(	(set1_epi32)(2)	(set1_epi32)(1)
avx512icl	simd_avx512.h	alignr_epi32)(v, zero, SIMD_MAX_LANES - 8	LANES - 8	LANES - 7
avx512icl	simd_avx512.h	u32v_even	b); }	a); }
avx512icl	simd_avx512.h	f32v_permute2	(a, i, b)	(b, i, a)
avx512icl	simd_avx512.h	u32v_odd	MM(set1_epi32)(1)	MM(set1_epi32)(0)
avx512icl	simd_avx512.h	u32v_load_any	SI(loadu)	SI(load)
avx512icl	simd_avx512.h	u32v_store_far	SI(stream)((void *)p, v)	_mm256_stream_si256((void *)p, _mm512_castsi512_si256(v))
avx512icl	simd_avx512.h	bits_extract	word, mask)	mask, word)
avx512icl	simd_avx512.h	bits_evens	0x5555	0x5554
avx512icl	simd_rows.h	_mm512_cmplt_epu64_mask(sum, x)	cmplt	cmple
avx512icl	simd_rows.h	_mm512_cmplt_epu64_mask(sum, x)	epu64	epi64
avx512icl	simd_rows.h	_mm512_cmpeq_epi64_mask(sum, ones)	cmpeq	cmpneq
avx512icl	simd_rows.h	const unsigned carries = 2U * wrapped	+ carry +	+
avx512icl	simd_rows.h	carry = carries >> 8	>> 8	>> 7
avx512icl	simd_rows.h	carry = (carries ^ passes) >> (n - i)	(carries ^ passes)	carries
avx512icl	simd_rows.h	(__mmask8)(carries ^ passes), sum	(carries ^ passes)	(carries)
avx512icl	simd_rows.h	_mm512_storeu_si512((void *)(a + i)	storeu	store
avx512icl	simd_rows.h	_mm512_loadu_si512((const void *)(b + i))	b + i	a + i
avx512icl	simd_rows.h	low23 = _mm512_shuffle_i32x4(r2, r3, 0x44)	r2, r3	r3, r2
avx512icl	simd_rows.h	high01 = _mm512_shuffle_i32x4(r0, r1, 0xee)	0xee	0x44
avx512icl	simd_rows.h	_mm512_shuffle_i32x4(low01, low23, 0xdd)	0xdd	0x88
avx512icl	simd_rows.h	_mm512_storeu_si512((void *)(p + 48)	storeu	store
avx512icl	simd_rows.h	larger = _mm256_max_epu16(old, more)	epu16	epi16
avx512icl	simd_rows.h	more = _mm256_loadu_si256((const void *)from)	(const void *)from	(const void *)record
neon	simd_neon.h	mask32_first	vcltq_u32	vcleq_u32
neon	simd_neon.h	f32v_min	vcltq_f32(a, b), a, b	vcleq_f32(a, b), a, b
neon	simd_neon.h	i32v_truncate	vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), vcvtq_s32_f32(a), vdupq_n_s32(INT32_MIN))	vcvtq_s32_f32(a)
neon	simd_neon.h	u32v_shlv	vdupq_n_u32(32)	vdupq_n_u32(31)
neon	simd_neon.h	u32v_previous	b, 3	b, 2
neon	simd_neon.h	mask32_of_bits	(uint32_t)bits	(uint32_t)(bits >> 1)
neon	simd_neon.h	u32v_rank	simd_neon_upto	simd_neon_bit
neon	simd_neon.h	u32v_running_sum	v, 2)	v, 1)
neon	simd_neon.h	u32v_even	vuzp1q	vtrn1q
neon	simd_neon.h	u32v_odd	vuzp2q	vtrn2q
neon	simd_neon.h	u32v_load_any	vld1q_u8(p)	vdupq_n_u8(*(const uint8_t *)p)
neon	simd_neon.h	u32v_store_far	vst1q_u32(p, v)	vst1_u32(p, vget_low_u32(v))
neon	simd_neon.h	bits_extract	<< k	<< (k & 31)
neon	simd_neon.h	bits_evens	simd_evens(word)	simd_evens(word >> 1)
neon	simd_rows.h	(with < sum	(with < sum ? 1U : 0U)	0U
neon	simd_rows.h	p[4 * i + k]	4 * i + k	4 * k + i
neon	simd_rows.h	larger |= (a > b	a > b	a < b
neon	simd_rows.h	record[3] >> shift & 0xffff, b = from[3]	0xffff	0x7fff
sve	simd_sve.h	mask32_first	(0, n)	(1, n)
sve	simd_sve.h	f32v_lt	svcmplt_f32	svcmple_f32
sve	simd_sve.h	f32v_sum	-0.0f	0.0f
sve	simd_sve.h	u8v_gt	svcmpgt_u8(svptrue_b8(), a, b)	svcmpgt_u8(svptrue_b8(), b, a)
sve	simd_sve.h	i32v_round	svrintn_f32_x	svrinta_f32_x
sve	simd_sve.h	u32v_even	svuzp1	svtrn1
sve	simd_sve.h	u32v_odd	svuzp2	svtrn2
sve	simd_rows.h	svcreate4_u32(a, b, c, d)	c, d	d, c
sve	simd_rows.h	(sum < b[i]	sum < b[i]	sum <= b[i]
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
        index($0, ENVIRON["PLACE"] "(") || (ENVIRON["PLACE"] ~ /[[{(=]/ && index($0, ENVIRON["PLACE"])) {
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

build() { # TARGET: all of both checks
    cmake --build "$work/$1" --target check_simd check_rows -j 2 >"$work/log" 2>&1
}

rebuild() { # TARGET CHECK: its loops alone, linked as they were
    cmake --build "$work/$1" --target "$2_$1" >"$work/log" 2>&1 &&
        (cd "$work/$1" && eval "$(ninja -t commands "tests/$2" | tail -n 1)") >>"$work/log" 2>&1
}

checked() { # TARGET CHECK: the check passes on it, and does not skip it
    SLUICE_SIMD=$1 timeout 300 "${run[@]}" "$work/$1/tests/$2" >"$work/out" 2>"$work/err" &&
        grep -q "^$1: .* ok$" "$work/out"
}

begin() { # TARGET: builds it unchanged and sees it pass
    cmake -S "$work/tree" -B "$work/$1" -G Ninja -DSLUICE_CORE_ONLY=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O1 -DSLUICE_SIMD_ONLY="$([ "$1" = c ] && echo c || echo "c;$1")" "${tools[@]}" >"$work/log" 2>&1 &&
        build "$1" || { cat "$work/log"; echo "$1: the copy does not build"; exit 1; }
    if ! checked "$1" check_simd || ! checked "$1" check_rows; then
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
    [[ "$target $header $place" =~ $only ]] || continue
    if [ "$target" != "$current" ]; then
        if ! emulator "$target" || ! begin "$target"; then
            echo "$target: SKIPPED, neither runs here nor is emulated"
            skipped="$skipped $target"
            continue
        fi
        current=$target
    fi
    check=check_simd
    [ "$header" = simd_rows.h ] && check=check_rows
    if ! mutate "$header" "$place" "$from" "$to"; then
        verdict="NOT APPLIED: the line has changed"
    elif ! rebuild "$target" "$check"; then
        verdict="DOES NOT COMPILE"
    elif checked "$target" "$check"; then
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
