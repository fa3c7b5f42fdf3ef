/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles in any order into time order, stably: a radix sort by bytes of the time, from the lowest, of which
 * those that all times share are left out. Keys are unsigned numbers in the order of the times.
 */
#include "base/columns.h"

#include <sluice/pet_sort.h>

#include <stdlib.h>
#include <string.h>

enum { BYTES = 8, DIGITS = 256 };

typedef struct columns {
    uint64_t *key; /* in the column of times */
    uint32_t *crystal;
    float *energy;
} columns;

static bool is_sorted(const uint64_t *key, size_t n)
{
    size_t i = 1;
    while (i < n && key[i - 1] <= key[i]) {
        i++;
    }
    return i >= n;
}

static void count(const uint64_t *key, size_t n, size_t counts[BYTES][DIGITS])
{
    memset(counts, 0, sizeof(size_t) * BYTES * DIGITS);
    for (size_t i = 0; i < n; i++) {
        for (unsigned b = 0; b < BYTES; b++) {
            counts[b][key[i] >> (8 * b) & 0xff]++;
        }
    }
}

/* By one byte, from one set of columns into the other. */
static void distribute(const columns *from, const columns *to, size_t n, unsigned byte, const size_t *counts)
{
    size_t at[DIGITS], sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        at[d] = sum;
        sum += counts[d];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t place = at[from->key[i] >> (8 * byte) & 0xff]++;
        to->key[place] = from->key[i];
        to->crystal[place] = from->crystal[i];
        to->energy[place] = from->energy[i];
    }
}

/* Leaves the result in `a`. */
static slc_status sort(columns a, columns b, size_t n)
{
    size_t(*counts)[DIGITS] = malloc(BYTES * sizeof *counts);
    if (counts == NULL) {
        return SLC_ERR_MEMORY;
    }
    count(a.key, n, counts);
    columns from = a, to = b;
    for (unsigned byte = 0; byte < BYTES; byte++) {
        if (counts[byte][a.key[0] >> (8 * byte) & 0xff] == n) {
            continue; /* all the same */
        }
        distribute(&from, &to, n, byte, counts[byte]);
        const columns swap = from;
        from = to;
        to = swap;
    }
    free(counts);
    if (from.key != a.key) {
        memcpy(a.key, b.key, n * sizeof *a.key);
        memcpy(a.crystal, b.crystal, n * sizeof *a.crystal);
        memcpy(a.energy, b.energy, n * sizeof *a.energy);
    }
    return SLC_OK;
}

/* In place: numbers that order like times, and back. */
static void keys_of_i64(uint64_t *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        key[i] ^= UINT64_C(1) << 63;
    }
}

/* -0 becomes 0, as the two are equal and keep their order. */
static void keys_of_f64(uint64_t *key, size_t n)
{
    const uint64_t sign = UINT64_C(1) << 63;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = key[i] == sign ? 0 : key[i];
        key[i] = (bits & sign) != 0 ? ~bits : bits | sign;
    }
}

static void times_of_f64(uint64_t *key, size_t n)
{
    const uint64_t sign = UINT64_C(1) << 63;
    for (size_t i = 0; i < n; i++) {
        key[i] = (key[i] & sign) != 0 ? key[i] & ~sign : ~key[i];
    }
}

/* Both types of singles have columns of these sizes, in this order. */
static columns columns_of(const slc_schema *schema, void *singles)
{
    return (columns){*slc_column_pointer(singles, &schema->columns[0]),
                     *slc_column_pointer(singles, &schema->columns[1]),
                     *slc_column_pointer(singles, &schema->columns[2])};
}

static slc_status sort_columns(const slc_schema *schema, void *singles, size_t n, void *work)
{
    const columns a = columns_of(schema, singles);
    if (is_sorted(a.key, n)) {
        return SLC_OK;
    }
    slc_columns_reset(work);
    const slc_status status = slc_columns_reserve(schema, work, n, 1);
    return status == SLC_OK ? sort(a, columns_of(schema, work), n) : status;
}

slc_status slc_pet_sort_all(slc_pet_singles *singles, slc_pet_singles *work)
{
    const size_t n = singles->head.size;
    if (n < 2) {
        return SLC_OK;
    }
    keys_of_i64((uint64_t *)(void *)singles->time_ps, n);
    const slc_status status = sort_columns(&slc_pet_singles_schema, singles, n, work);
    keys_of_i64((uint64_t *)(void *)singles->time_ps, n);
    return status;
}

slc_status slc_pet_sort_all_f64(slc_pet_singles_f64 *singles, slc_pet_singles_f64 *work)
{
    const size_t n = singles->head.size;
    if (n < 2) {
        return SLC_OK;
    }
    keys_of_f64((uint64_t *)(void *)singles->time_ns, n);
    const slc_status status = sort_columns(&slc_pet_singles_f64_schema, singles, n, work);
    times_of_f64((uint64_t *)(void *)singles->time_ns, n);
    return status;
}
