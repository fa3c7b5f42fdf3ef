/* SPDX-License-Identifier: Apache-2.0
 * The operations of simd_rows.h as functions, one table a target. */
#ifndef SLUICE_TESTS_CHECK_ROWS_H
#define SLUICE_TESTS_CHECK_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct slc_check_rows {
    const char *target;
    size_t (*lanes)(void);
    unsigned (*add_long)(uint64_t *a, const uint64_t *b, size_t n, unsigned carry);
    /* Of eight words, by BITS_WORDS and bits_add_words. */
    unsigned (*add_words)(uint64_t *a, const uint64_t *b, unsigned carry);
    /* Of a vector each of a, b, c and d. */
    void (*store4)(uint32_t *p, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d);
    /* Four words of as many rows as there are lanes. */
    void (*turn4)(uint32_t *words, const uint8_t *const *row, size_t at);
    void (*add_record)(uint64_t *record, const uint32_t *from, uint32_t upper);
    void (*join_records)(uint64_t *record, const uint64_t *from);
    size_t (*list_ranks)(uint32_t *rank, uint32_t *entry, uint64_t marks, uint64_t own, uint32_t base,
                         uint64_t other, const uint32_t *table);
    /* n elements, a multiple of the vector, by u32v_store_far, then bits_fence. */
    void (*copy_far)(uint32_t *p, const uint32_t *from, size_t n);
} slc_check_rows;

#endif
