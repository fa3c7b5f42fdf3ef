/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum of results: which table serves a target, and columns through it. A column after the other, and in it event
 * after event, so that memory is read in the order in which it lies.
 */
#include "simd/simd_checksum.h"

#include "base/columns.h"
#include "base/splitmix.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_checksum_kernels_##target,
static const slc_checksum_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_checksum_kernels *slc_checksum_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

/* ---- standard input ---------------------------------------------------------------------------- */

/* Columns of an event, long and short ones. */
enum { LONG = 12000, SHORT = 900, N_LONG = 6, N_SHORT = 18, BYTES = N_LONG * LONG + N_SHORT * SHORT };

typedef struct columns_scratch {
    uint8_t bytes[BYTES];
    uint64_t sum;
} columns_scratch;

static void prepare_columns(void *scratch, uint64_t seed)
{
    columns_scratch *s = scratch;
    for (size_t i = 0; i < BYTES; i++) {
        s->bytes[i] = (uint8_t)slc_random_below(&seed, 256);
    }
}

static void run_columns(void *scratch, slc_simd_target target)
{
    columns_scratch *s = scratch;
    const slc_checksum_kernels *kernels = slc_checksum_kernels_of(target);
    const uint8_t *at = s->bytes;
    s->sum = 0;
    for (size_t i = 0; i < N_LONG + N_SHORT; i++) {
        const size_t size = i < N_LONG ? LONG : SHORT;
        s->sum += kernels->hash(at, size);
        at += size;
    }
}

static uint64_t digest_columns(const void *scratch)
{
    return ((const columns_scratch *)scratch)->sum;
}

static const slc_simd_case columns = {
    BYTES, 1, sizeof(columns_scratch), prepare_columns, run_columns, digest_columns};

/* Measured on an AMD EPYC with AVX-512 by `sluice bench --kernels`. */
const slc_simd_kernel slc_checksum_kernel_rows[] = {
    {.name = "base.checksum",
     .preference = {{SLC_SIMD_AVX512, 0.0178},
                    {SLC_SIMD_AVX2, 0.0193},
                    {SLC_SIMD_AVX512VL256, 0.0193},
                    {SLC_SIMD_AVX512VL128, 0.0330},
                    {SLC_SIMD_SSE4, 0.0362}},
     .bench = &columns},
    {.name = NULL},
};

/* There is no handle that could keep the choice; every thread would write the same. */
static const slc_checksum_kernels *preferred_kernels(void)
{
    static _Atomic(const slc_checksum_kernels *) preferred;
    const slc_checksum_kernels *kernels = atomic_load_explicit(&preferred, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = slc_checksum_kernels_of(
            slc_simd_kernel_choice(&slc_checksum_kernel_rows[0], SLC_SIMD_AUTO));
        atomic_store_explicit(&preferred, kernels, memory_order_relaxed);
    }
    return kernels;
}

/* ---- events ------------------------------------------------------------------------------------ */

uint64_t slc_checksum_power(uint64_t n)
{
    uint64_t power = 1;
    for (uint64_t square = SLC_CHECKSUM_FACTOR; n > 0; n >>= 1, square *= square) {
        power *= (n & 1) != 0 ? square : 1;
    }
    return power;
}

/* Odd, so that no bit of a column's hash is lost. */
static uint64_t factor_of(const slc_checksum_kernels *kernels, const char *name, const char *column)
{
    char text[96];
    const size_t a = strlen(name), b = strlen(column);
    assert(a + 1 + b <= sizeof text);
    memcpy(text, name, a);
    text[a] = '/';
    memcpy(text + a + 1, column, b);
    return kernels->hash(text, a + 1 + b) | 1;
}

uint64_t slc_checksum_factor(const char *name, const char *column)
{
    return factor_of(preferred_kernels(), name, column);
}

/* Of one column, without its factor. */
static uint64_t sum_column(const slc_checksum_kernels *kernels, const slc_columns *head, const char *bytes,
                           size_t width)
{
    uint64_t sum = 0, power = 1;
    for (uint32_t e = 0; e < head->n_events; e++, power *= SLC_CHECKSUM_FACTOR) {
        const size_t begin = head->event_offset[e], rows = head->event_offset[e + 1] - begin;
        sum += power * kernels->hash(rows > 0 ? bytes + begin * width : "", rows * width);
    }
    return sum;
}

uint64_t slc_checksum_events(const slc_checksum_part *parts, size_t n_parts, uint64_t before)
{
    const slc_checksum_kernels *kernels = preferred_kernels();
    uint64_t sum = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const slc_schema *schema = parts[i].schema;
        for (size_t k = 0; k < schema->n_columns; k++) {
            const slc_column *column = &schema->columns[k];
            sum += factor_of(kernels, parts[i].name, column->name) *
                   sum_column(kernels, parts[i].collection, slc_column_data(parts[i].collection, column),
                              slc_type_size(column->type));
        }
    }
    return before > 0 ? sum * slc_checksum_power(before) : sum;
}

uint64_t slc_checksum_event(const slc_checksum_part *parts, size_t n_parts, uint32_t event)
{
    const slc_checksum_kernels *kernels = preferred_kernels();
    uint64_t sum = 0;
    for (size_t i = 0; i < n_parts; i++) {
        slc_columns one = *(const slc_columns *)parts[i].collection; /* of the event alone */
        one.n_events = 1;
        one.event_offset += event;
        for (size_t k = 0; k < parts[i].schema->n_columns; k++) {
            const slc_column *column = &parts[i].schema->columns[k];
            sum += factor_of(kernels, parts[i].name, column->name) *
                   sum_column(kernels, &one, slc_column_data(parts[i].collection, column),
                              slc_type_size(column->type));
        }
    }
    return sum;
}

uint64_t slc_columns_checksum(const slc_schema *schema, const void *collection, uint32_t event, uint64_t seed)
{
    const slc_checksum_part part = {schema->name, schema, collection};
    return seed * SLC_CHECKSUM_FACTOR + slc_checksum_event(&part, 1, event);
}

/* ---- an event that comes in pieces ------------------------------------------------------------- */

void slc_checksum_pieces_begin(slc_checksum_pieces *pieces)
{
    for (size_t k = 0; k < SLC_CHECKSUM_COLUMNS; k++) {
        preferred_kernels()->begin(&pieces->state[k]);
    }
}

void slc_checksum_pieces_add(slc_checksum_pieces *pieces, const slc_schema *schema, const void *collection,
                             size_t first, size_t n)
{
    assert(schema->n_columns <= SLC_CHECKSUM_COLUMNS);
    for (size_t k = 0; k < schema->n_columns && n > 0; k++) {
        const slc_column *column = &schema->columns[k];
        const size_t width = slc_type_size(column->type);
        const char *bytes = slc_column_data(collection, column);
        preferred_kernels()->add(&pieces->state[k], bytes + first * width, n * width);
    }
}

uint64_t slc_checksum_pieces_end(const slc_checksum_pieces *pieces, const char *name,
                                 const slc_schema *schema)
{
    const slc_checksum_kernels *kernels = preferred_kernels();
    uint64_t sum = 0;
    for (size_t k = 0; k < schema->n_columns; k++) {
        sum += factor_of(kernels, name, schema->columns[k].name) * kernels->end(&pieces->state[k]);
    }
    return sum;
}
