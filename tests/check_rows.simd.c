/* SPDX-License-Identifier: Apache-2.0
 * The operations on rows in memory, compiled for every target; check_rows.c compares them. */
#include "check_rows.h"
#include "simd/simd_words.h"

static size_t lanes(void)
{
    return SIMD_LANES;
}

static unsigned add_long(uint64_t *a, const uint64_t *b, size_t n, unsigned carry)
{
    return bits_add_long(a, b, n, carry);
}

static unsigned add_words(uint64_t *a, const uint64_t *b, unsigned carry)
{
    for (size_t k = 0; k < 8; k += BITS_WORDS_N) {
        bits_words sum = BITS_WORDS(a + k);
        const bits_words more = BITS_WORDS(b + k);
        carry = bits_add_words(&sum, &more, carry);
        BITS_WORDS_STORE(a + k, sum);
    }
    return carry;
}

static void store4(uint32_t *p, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d)
{
    u32v_store4(p, u32v_load(a), u32v_load(b), u32v_load(c), u32v_load(d));
}

static void turn4(uint32_t *words, const uint8_t *const *row, size_t at)
{
    u32v_turn4(words, row, at);
}

static void add_record(uint64_t *record, const uint32_t *from, uint32_t upper)
{
    bits_add_record(record, from, upper);
}

static void join_records(uint64_t *record, const uint64_t *from)
{
    bits_join_records(record, from);
}

static size_t list_ranks(uint32_t *rank, uint32_t *entry, uint64_t marks, uint64_t own, uint32_t base,
                         uint64_t other, const uint32_t *table)
{
    return bits_list_ranks(rank, entry, marks, own, base, other, table);
}

static void copy_far(uint32_t *p, const uint32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        u32v_store_far(p + i, u32v_load(from + i));
    }
    bits_fence();
}

extern const slc_check_rows SIMD_TABLE(slc_check_rows);
const slc_check_rows SIMD_TABLE(slc_check_rows) = {
    .target = SIMD_TARGET_NAME,
    .lanes = lanes,
    .add_long = add_long,
    .add_words = add_words,
    .store4 = store4,
    .turn4 = turn4,
    .add_record = add_record,
    .join_records = join_records,
    .list_ranks = list_ranks,
    .copy_far = copy_far,
};
