/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of PET collections for tests: appended, compared, and singles that tell the order in which they came.
 * Include behind cmocka_all.h.
 */
#ifndef SUPPORT_PET_ROWS_H
#define SUPPORT_PET_ROWS_H

#include "base/columns.h"
#include "base/splitmix.h"

#include <sluice/pet_types.h>

#include <string.h>

/* Rows first … first + n - 1 of a collection behind those of another, which grows. */
static inline void pet_rows_append(const slc_schema *schema, const void *from, size_t first, size_t n,
                                   void *into)
{
    assert_int_equal(slc_columns_reserve(schema, into, ((const slc_columns *)into)->size + n, 1), SLC_OK);
    assert_int_equal(slc_columns_append(schema, from, first, n, into), SLC_OK);
}

/* The same rows, bit by bit. */
static inline void pet_rows_same(const slc_schema *schema, const void *a, const void *b)
{
    const size_t n = ((const slc_columns *)b)->size;
    assert_int_equal(((const slc_columns *)a)->size, n);
    for (size_t c = 0; c < schema->n_columns && n > 0; c++) {
        const void *x, *y;
        memcpy(&x, (const char *)a + schema->columns[c].member, sizeof x);
        memcpy(&y, (const char *)b + schema->columns[c].member, sizeof y);
        assert_memory_equal(x, y, n * slc_type_size(schema->columns[c].type));
    }
}

/* Pairs of any crystals within 400 ps, each tenth of them delayed. */
static inline void pet_few_pairs(uint64_t seed, slc_pet_coincidences *pairs, size_t n, uint32_t crystals)
{
    memset(pairs, 0, sizeof *pairs);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, pairs, n, 1), SLC_OK);
    for (size_t i = 0; i < n; i++) {
        pairs->time_ps[i] = (int64_t)i;
        pairs->dt_ps[i] = (int64_t)slc_random_below(&seed, 800) - 400;
        pairs->crystal1[i] = slc_random_below(&seed, crystals);
        pairs->crystal2[i] = slc_random_below(&seed, crystals);
        pairs->energy1_kev[i] = pairs->energy2_kev[i] = 511;
        pairs->delayed[i] = i % 10 == 9;
    }
    pairs->head.size = n;
}

/* ---- arrivals ---------------------------------------------------------------------------------- */

typedef struct pet_arrival {
    int64_t time;
    size_t number;
} pet_arrival;

/* For qsort, which is not stable by itself. */
static inline int pet_arrival_order(const void *a, const void *b)
{
    const pet_arrival *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->number > y->number) - (x->number < y->number);
}

/* Singles at these times, whose crystals and energies tell the number of their arrival. */
static inline slc_pet_singles pet_arrival_singles(const int64_t *time, size_t n)
{
    slc_pet_singles s = {0};
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &s, n + 1, 1), SLC_OK);
    for (size_t i = 0; i < n; i++) {
        s.time_ps[i] = time[i];
        s.crystal[i] = (uint32_t)i;
        s.energy_kev[i] = (float)(i % 1000);
    }
    s.head.size = n;
    return s;
}

/* The singles of these arrivals, in this order. */
static inline void pet_arrival_same(const char *what, const slc_pet_singles *got, const pet_arrival *want,
                                    size_t n)
{
    assert_int_equal(got->head.size, n);
    for (size_t i = 0; i < n; i++) {
        if (got->time_ps[i] != want[i].time || got->crystal[i] != (uint32_t)want[i].number ||
            got->energy_kev[i] != (float)(want[i].number % 1000)) {
            fail_msg("%s, row %zu of %zu: time %lld of arrival %u, wanted %lld of %zu", what, i, n,
                     (long long)got->time_ps[i], got->crystal[i], (long long)want[i].time, want[i].number);
        }
    }
}

#endif
