/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on rows in memory, for the vocabulary: additions of long numbers, records of four numbers, ranks of bits, and words of many
 * rows side by side. They are
 * written once in plain C, which is their meaning, and again where an instruction set gains by it; code is chosen by what
 * the compiler may use. tests/check_rows.c compares all targets.
 */
#ifndef SLUICE_SIMD_ROWS_H
#define SLUICE_SIMD_ROWS_H

/* ---- long numbers: rows of 64-bit words, the lowest first ---------------------------------------- */

/* a += b over n words, with a carry in (0 or 1); returns the carry out. Both rows have room for a multiple of eight words:
 * what lies after the n words may be read, and of a be overwritten. */
#if defined(__AVX512F__) && SIMD_MAX_LANES == 16
static inline unsigned bits_add_long(uint64_t *a, const uint64_t *b, size_t n, unsigned carry)
{
    const __m512i ones = _mm512_set1_epi64(-1);
    size_t i = 0;
    for (; i < n; i += 8) {
        const __m512i x = _mm512_loadu_si512((const void *)(a + i));
        const __m512i sum = _mm512_add_epi64(x, _mm512_loadu_si512((const void *)(b + i)));
        /* A carry comes out of a word that wrapped, and passes words of ones: an addition among the eight. */
        __mmask8 wrapped = _mm512_cmplt_epu64_mask(sum, x), passes = _mm512_cmpeq_epi64_mask(sum, ones);
        __asm__("" : "+r"(wrapped), "+r"(passes)); /* as in avx512_number() */
        const unsigned carries = 2U * wrapped + carry + passes;
        carry = carries >> 8;
        _mm512_storeu_si512((void *)(a + i), _mm512_mask_sub_epi64(sum, (__mmask8)(carries ^ passes), sum, ones));
        if (i + 8 > n) {
            carry = (carries ^ passes) >> (n - i) & 1U; /* the carry into the first word after the row */
        }
    }
    return carry & 1U;
}
#else
static inline unsigned bits_add_long(uint64_t *a, const uint64_t *b, size_t n, unsigned carry)
{
    for (size_t i = 0; i < n; i++) {
#if defined(__x86_64__) && !defined(SIMD_C) /* plain C includes no intrinsics */
        unsigned long long sum;
        carry = _addcarry_u64((unsigned char)carry, a[i], b[i], &sum);
        a[i] = sum;
#else
        const uint64_t sum = a[i] + b[i];
        const uint64_t with = sum + carry;
        carry = (sum < b[i] ? 1U : 0U) | (with < sum ? 1U : 0U);
        a[i] = with;
#endif
    }
    return carry;
}
#endif

/* What was stored with u32v_store_far is there for other threads, as what was stored otherwise always is. */
static inline void bits_fence(void)
{
#if defined(__x86_64__) && !defined(SIMD_C)
    _mm_sfence();
#endif
}

/* ---- four vectors as records ----------------------------------------------------------------------- */

/* p[4 · lane + k] = lane of the k-th vector, for all lanes. */
#if defined(__AVX512F__) && SIMD_MAX_LANES == 16
static inline void u32v_store4(uint32_t *p, u32v a, u32v b, u32v c, u32v d)
{
    const __m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);
    const __m512i ab2 = _mm512_unpackhi_epi32(a, b), cd2 = _mm512_unpackhi_epi32(c, d);
    /* Record k of each quarter. */
    const __m512i r0 = _mm512_unpacklo_epi64(ab, cd), r1 = _mm512_unpackhi_epi64(ab, cd);
    const __m512i r2 = _mm512_unpacklo_epi64(ab2, cd2), r3 = _mm512_unpackhi_epi64(ab2, cd2);
    /* Quarters 0 and 1, then 2 and 3, of two kinds of records; then those of a quarter together. */
    const __m512i low01 = _mm512_shuffle_i32x4(r0, r1, 0x44), low23 = _mm512_shuffle_i32x4(r2, r3, 0x44);
    const __m512i high01 = _mm512_shuffle_i32x4(r0, r1, 0xee), high23 = _mm512_shuffle_i32x4(r2, r3, 0xee);
    _mm512_storeu_si512((void *)p, _mm512_shuffle_i32x4(low01, low23, 0x88));
    _mm512_storeu_si512((void *)(p + 16), _mm512_shuffle_i32x4(low01, low23, 0xdd));
    _mm512_storeu_si512((void *)(p + 32), _mm512_shuffle_i32x4(high01, high23, 0x88));
    _mm512_storeu_si512((void *)(p + 48), _mm512_shuffle_i32x4(high01, high23, 0xdd));
}
#elif defined(__AVX2__) && SIMD_MAX_LANES == 8
static inline void u32v_store4(uint32_t *p, u32v a, u32v b, u32v c, u32v d)
{
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i ab2 = _mm256_unpackhi_epi32(a, b), cd2 = _mm256_unpackhi_epi32(c, d);
    const __m256i r0 = _mm256_unpacklo_epi64(ab, cd), r1 = _mm256_unpackhi_epi64(ab, cd);
    const __m256i r2 = _mm256_unpacklo_epi64(ab2, cd2), r3 = _mm256_unpackhi_epi64(ab2, cd2);
    _mm256_storeu_si256((void *)p, _mm256_permute2x128_si256(r0, r1, 0x20));
    _mm256_storeu_si256((void *)(p + 8), _mm256_permute2x128_si256(r2, r3, 0x20));
    _mm256_storeu_si256((void *)(p + 16), _mm256_permute2x128_si256(r0, r1, 0x31));
    _mm256_storeu_si256((void *)(p + 24), _mm256_permute2x128_si256(r2, r3, 0x31));
}
#elif defined(__ARM_FEATURE_SVE)
static inline void u32v_store4(uint32_t *p, u32v a, u32v b, u32v c, u32v d)
{
    svst4_u32(svptrue_b32(), p, svcreate4_u32(a, b, c, d));
}
#else
static inline void u32v_store4(uint32_t *p, u32v a, u32v b, u32v c, u32v d)
{
    uint32_t lane[4][SIMD_MAX_LANES];
    u32v_store(lane[0], a);
    u32v_store(lane[1], b);
    u32v_store(lane[2], c);
    u32v_store(lane[3], d);
    for (size_t i = 0; i < SIMD_LANES; i++) {
        for (size_t k = 0; k < 4; k++) {
            p[4 * i + k] = lane[k][i];
        }
    }
}
#endif

/* A record of four 64-bit numbers in memory: to the first three those of `from` are added; of the last, the larger of each
 * of its four 16-bit parts is kept. `from` is four numbers of 32 bits; the last one's upper 32 are `upper`. */
#if defined(__AVX2__) && SIMD_MAX_LANES >= 8
static inline void bits_add_record(uint64_t record[4], const uint32_t from[4], uint32_t upper)
{
    const __m256i old = _mm256_loadu_si256((const void *)record);
    const __m256i more = _mm256_or_si256(_mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)from)),
                                         _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, (int)upper));
    const __m256i larger = _mm256_max_epu16(old, more);
    _mm256_storeu_si256((void *)record, _mm256_blend_epi32(_mm256_add_epi64(old, more), larger, 0xc0));
}
#else
static inline void bits_add_record(uint64_t record[4], const uint32_t from[4], uint32_t upper)
{
    const uint64_t last = from[3] | (uint64_t)upper << 32;
    uint64_t larger = 0;
    record[0] += from[0];
    record[1] += from[1];
    record[2] += from[2];
    for (unsigned shift = 0; shift < 64; shift += 16) {
        const uint64_t a = record[3] >> shift & 0xffff, b = last >> shift & 0xffff;
        larger |= (a > b ? a : b) << shift;
    }
    record[3] = larger;
}
#endif

/* The same of two records. */
#if defined(__AVX2__) && SIMD_MAX_LANES >= 8
static inline void bits_join_records(uint64_t record[4], const uint64_t from[4])
{
    const __m256i old = _mm256_loadu_si256((const void *)record), more = _mm256_loadu_si256((const void *)from);
    const __m256i larger = _mm256_max_epu16(old, more);
    _mm256_storeu_si256((void *)record, _mm256_blend_epi32(_mm256_add_epi64(old, more), larger, 0xc0));
}
#else
static inline void bits_join_records(uint64_t record[4], const uint64_t from[4])
{
    uint64_t larger = 0;
    for (unsigned shift = 0; shift < 64; shift += 16) {
        const uint64_t a = record[3] >> shift & 0xffff, b = from[3] >> shift & 0xffff;
        larger |= (a > b ? a : b) << shift;
    }
    for (size_t k = 0; k < 3; k++) {
        record[k] += from[k];
    }
    record[3] = larger;
}
#endif

/* ---- ranks of marked bits -------------------------------------------------------------------------- */

/* For every set bit of `marks`, rising: rank[n] = base + how many of the bits of `own` up to it are set, and
 * entry[n] = table[how many of those of `other`]. Returns how many. As many as 64 elements of each may be overwritten, and
 * elements 0 to 64 of the table be read. */
#if defined(__AVX512VBMI2__) && defined(__AVX512BITALG__) && SIMD_MAX_LANES == 16
/* Byte i: how many of the bits 0 to i are set. */
static inline __m512i simd_byte_ranks(uint64_t word)
{
    const __m512i first = _mm512_set_epi64(0x3838383838383838, 0x3030303030303030, 0x2828282828282828, 0x2020202020202020,
                                           0x1818181818181818, 0x1010101010101010, 0x0808080808080808, 0);
    const __m512i eighth = _mm512_srli_epi64(first, 3), upto = _mm512_set1_epi64((long long)0xff7f3f1f0f070301);
    const __m512i below = _mm512_set_epi64(0xffffffffffffff, 0xffffffffffff, 0xffffffffff, 0xffffffff, 0xffffff, 0xffff, 0xff, 0);
    const __m512i all = _mm512_set1_epi64((long long)word);
    const __m512i here = _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(all, eighth), upto));
    const __m512i before = _mm512_popcnt_epi64(_mm512_and_si512(all, below)); /* to each byte of its eight */
    return _mm512_add_epi8(here, _mm512_shuffle_epi8(before, _mm512_set_epi64(0x0808080808080808, 0, 0x0808080808080808, 0,
                                                                              0x0808080808080808, 0, 0x0808080808080808, 0)));
}
static inline size_t bits_list_ranks(uint32_t *rank, uint32_t *entry, uint64_t marks, uint64_t own, uint32_t base,
                                     uint64_t other, const uint32_t *table)
{
    const size_t n = (size_t)__builtin_popcountll(marks);
    const bool few = __builtin_popcountll(other) < 32; /* entries fit into two vectors */
    __m512i ranks = _mm512_maskz_compress_epi8(marks, simd_byte_ranks(own));
    __m512i theirs = _mm512_maskz_compress_epi8(marks, simd_byte_ranks(other));
    const __m512i low = _mm512_loadu_si512((const void *)table), high = _mm512_loadu_si512((const void *)(table + 16));
    const __m512i bases = _mm512_set1_epi32((int)base);
    for (size_t i = 0; i < n; i += 16) {
        const __m512i at = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(theirs));
        const __m512i found = few ? _mm512_permutex2var_epi32(low, at, high) : _mm512_i32gather_epi32(at, table, 4);
        _mm512_storeu_si512((void *)(rank + i), _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(ranks)), bases));
        _mm512_storeu_si512((void *)(entry + i), found);
        ranks = _mm512_alignr_epi64(ranks, ranks, 2);
        theirs = _mm512_alignr_epi64(theirs, theirs, 2);
    }
    return n;
}
#else
static inline size_t bits_list_ranks(uint32_t *rank, uint32_t *entry, uint64_t marks, uint64_t own, uint32_t base,
                                     uint64_t other, const uint32_t *table)
{
    size_t n = 0;
    for (; marks != 0; marks &= marks - 1, n++) {
        const uint64_t upto = marks ^ (marks - 1);
        rank[n] = base + (uint32_t)__builtin_popcountll(own & upto);
        entry[n] = table[__builtin_popcountll(other & upto)];
    }
    return n;
}
#endif

/* ---- the order of operations ----------------------------------------------------------------------- */

/* v itself, which is computed by itself first: compilers take sums apart and put them together again in an order in which
 * more of them may wait for each other. */
static inline u32v simd_first(u32v v)
{
#if defined(SIMD_C)
    __asm__("" : "+r"(v));
#elif defined(__x86_64__) && defined(__AVX512F__)
    __asm__("" : "+v"(v));
#elif defined(__x86_64__)
    __asm__("" : "+x"(v));
#else
    __asm__("" : "+w"(v));
#endif
    return v;
}

/* ---- rows side by side ----------------------------------------------------------------------------- */

/* words[k · SIMD_LANES + lane] = the k-th little-endian word of the 16 bytes that begin `at` bytes into row[lane]: a step of
 * four words through as many rows as there are lanes. No byte outside of them is read. */
#if defined(__AVX512F__) && SIMD_MAX_LANES == 16
static inline __m512i simd_quarters(const uint8_t *const *row, size_t at)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(row[0] + at)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(row[4] + at)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(row[8] + at)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(row[12] + at)), 3);
}

static inline void u32v_turn4(uint32_t *words, const uint8_t *const *row, size_t at)
{
    const __m512i a = simd_quarters(row, at), b = simd_quarters(row + 1, at);
    const __m512i c = simd_quarters(row + 2, at), d = simd_quarters(row + 3, at);
    const __m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);
    const __m512i ab2 = _mm512_unpackhi_epi32(a, b), cd2 = _mm512_unpackhi_epi32(c, d);
    _mm512_storeu_si512((void *)words, _mm512_unpacklo_epi64(ab, cd));
    _mm512_storeu_si512((void *)(words + 16), _mm512_unpackhi_epi64(ab, cd));
    _mm512_storeu_si512((void *)(words + 32), _mm512_unpacklo_epi64(ab2, cd2));
    _mm512_storeu_si512((void *)(words + 48), _mm512_unpackhi_epi64(ab2, cd2));
}
#elif defined(__AVX2__) && SIMD_MAX_LANES == 8
static inline __m256i simd_halves(const uint8_t *const *row, size_t at)
{
    const __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const void *)(row[0] + at)));
    return _mm256_inserti128_si256(v, _mm_loadu_si128((const void *)(row[4] + at)), 1);
}

static inline void u32v_turn4(uint32_t *words, const uint8_t *const *row, size_t at)
{
    const __m256i a = simd_halves(row, at), b = simd_halves(row + 1, at);
    const __m256i c = simd_halves(row + 2, at), d = simd_halves(row + 3, at);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i ab2 = _mm256_unpackhi_epi32(a, b), cd2 = _mm256_unpackhi_epi32(c, d);
    _mm256_storeu_si256((void *)words, _mm256_unpacklo_epi64(ab, cd));
    _mm256_storeu_si256((void *)(words + 8), _mm256_unpackhi_epi64(ab, cd));
    _mm256_storeu_si256((void *)(words + 16), _mm256_unpacklo_epi64(ab2, cd2));
    _mm256_storeu_si256((void *)(words + 24), _mm256_unpackhi_epi64(ab2, cd2));
}
#elif defined(__SSE4_1__) && SIMD_MAX_LANES == 4
static inline void u32v_turn4(uint32_t *words, const uint8_t *const *row, size_t at)
{
    const __m128i a = _mm_loadu_si128((const void *)(row[0] + at)), b = _mm_loadu_si128((const void *)(row[1] + at));
    const __m128i c = _mm_loadu_si128((const void *)(row[2] + at)), d = _mm_loadu_si128((const void *)(row[3] + at));
    const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
    _mm_storeu_si128((void *)words, _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((void *)(words + 4), _mm_unpackhi_epi64(ab, cd));
    _mm_storeu_si128((void *)(words + 8), _mm_unpacklo_epi64(ab2, cd2));
    _mm_storeu_si128((void *)(words + 12), _mm_unpackhi_epi64(ab2, cd2));
}
#else
static inline void u32v_turn4(uint32_t *words, const uint8_t *const *row, size_t at)
{
    for (size_t lane = 0; lane < SIMD_LANES; lane++) {
        for (size_t k = 0; k < 4; k++) {
            const uint8_t *from = row[lane] + at + 4 * k;
            words[k * SIMD_LANES + lane] = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
                                           (uint32_t)from[3] << 24;
        }
    }
}
#endif

#endif
