/* SPDX-License-Identifier: Apache-2.0
 *
 * A collection for tests of columns, whose rows are known by a number that all of their values are made from.
 * Include it after <cmocka.h>.
 */
#ifndef SUPPORT_SAMPLE_H
#define SUPPORT_SAMPLE_H

#include "base/columns.h"

/* Every kind of column that the layout treats differently, in an order that would need padding. */
typedef struct sample {
    slc_columns head;
    uint8_t *narrow;
    double *wide;
    float *x_mm;
    int16_t *small;
} sample;

static const slc_column sample_columns[] = {
    SOA_COLUMN(sample, narrow, "1"),
    SOA_COLUMN(sample, wide, "1"),
    SOA_COLUMN(sample, x_mm, "mm"),
    SOA_COLUMN(sample, small, "1"),
};
SOA_SCHEMA(sample, sample_schema, "sample", sample_columns);

static inline uint8_t narrow_of(size_t i)
{
    return (uint8_t)(i * 7);
}

static inline double wide_of(size_t i)
{
    return 1.5 * (double)i;
}

static inline float x_of(size_t i)
{
    return -0.25f * (float)i;
}

static inline int16_t small_of(size_t i)
{
    return (int16_t)(i % 1000 - 500);
}

static inline void add_row(sample *s, size_t i)
{
    s->narrow[s->head.size] = narrow_of(i);
    s->wide[s->head.size] = wide_of(i);
    s->x_mm[s->head.size] = x_of(i);
    s->small[s->head.size] = small_of(i);
    s->head.size++;
}

static inline void assert_row(const sample *s, size_t row, size_t i)
{
    assert_int_equal(s->narrow[row], narrow_of(i));
    assert_true(s->wide[row] == wide_of(i));
    assert_true(s->x_mm[row] == x_of(i));
    assert_int_equal(s->small[row], small_of(i));
}

#endif
