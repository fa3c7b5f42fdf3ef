/* SPDX-License-Identifier: Apache-2.0
 *
 * The runs of equal labels of a label image or volume, and the list of labels. Where a run ends is found by
 * comparing a row with itself, moved by a pixel.
 */
#include "image/image_check.h"
#include "image/image_measure_part.h"
#include "image/image_volume_part.h"
#include "simd/simd_bits.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 4096 }; /* runs to begin with */

/* ---- runs -------------------------------------------------------------------------------------- */

static bool grow(uint32_t **array, size_t n)
{
    uint32_t *more = n <= SIZE_MAX / sizeof **array ? realloc(*array, n * sizeof **array) : NULL;
    *array = more != NULL ? more : *array;
    return more != NULL;
}

static bool has_room(slc_image_measuring *m)
{
    if (m->n_runs < m->capacity) {
        return true;
    }
    const size_t capacity = m->capacity > 0 ? 2 * m->capacity : ROOM;
    if (!grow(&m->first, capacity) || !grow(&m->behind, capacity) || !grow(&m->value, capacity)) {
        return false;
    }
    m->capacity = capacity;
    return true;
}

static uint64_t label_at(const void *row, size_t size, size_t x)
{
    switch (size) {
    case 1:
        return ((const uint8_t *)row)[x];
    case 2:
        return ((const uint16_t *)row)[x];
    case 4:
        return ((const uint32_t *)row)[x];
    default:
        return ((const uint64_t *)row)[x];
    }
}

/* In row y of all. */
static slc_status add_run(slc_image_measuring *m, const void *row, size_t size, size_t y, size_t first,
                          size_t behind, slc_error *error)
{
    const uint64_t value = label_at(row, size, first);
    if (value == 0) {
        return SLC_OK;
    }
    if (value > UINT32_MAX) {
        char slice[40] = "";
        if (m->volume.depth > 1) {
            (void)snprintf(slice, sizeof slice, ", z %zu", y / m->volume.height);
        }
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "the label %llu at x %zu, y %zu%s: labels have up to 32 bits, the largest is %u",
                        (unsigned long long)value, first, y % m->volume.height, slice, UINT32_MAX);
    }
    if (!has_room(m)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for more than %zu runs of labels", m->n_runs);
    }
    m->first[m->n_runs] = (uint32_t)first;
    m->behind[m->n_runs] = (uint32_t)behind;
    m->value[m->n_runs++] = (uint32_t)value;
    m->largest = value > m->largest ? (uint32_t)value : m->largest;
    return SLC_OK;
}

/* The pixels of a row, one byte each at least. */
static const void *pixels_of(const slc_image_measuring *m, size_t y)
{
    const uint8_t *row = slc_volume_row(&m->volume, y % m->volume.height, y / m->volume.height);
    if (m->volume.type != SLC_IMAGE_BITS) {
        return row;
    }
    for (size_t x = 0; x < m->volume.width; x++) {
        m->bytes[x] = row[x / 8] >> x % 8 & 1U;
    }
    return m->bytes;
}

static slc_status find_runs(slc_image_measuring *m, slc_error *error)
{
    const slc_volume_kernels *kernels = slc_volume_kernels_of(slc_volume_choose(SLC_SIMD_AUTO));
    const slc_volume *v = &m->volume;
    const size_t width = v->width, rows = v->height * v->depth;
    const size_t size = v->type == SLC_IMAGE_BITS ? 1 : slc_image_row_bytes(v->type, 1);
    slc_status status = SLC_OK;
    for (size_t y = 0; y < rows && status == SLC_OK; y++) {
        const void *row = pixels_of(m, y);
        size_t first = 0;
        m->row_at[y] = m->n_runs;
        if (width > 1) {
            kernels->equal((const char *)row + size, row, width - 1, size, m->bits);
        }
        for (size_t at = 0; at + 1 < width && status == SLC_OK; at += 64) {
            const size_t rest = width - 1 - at;
            uint64_t others = ~m->bits[at / 64] & (rest < 64 ? ~(uint64_t)0 >> (64 - rest) : ~(uint64_t)0);
            for (; others != 0 && status == SLC_OK; others &= others - 1) {
                const size_t next = at + bits_lowest(others) + 1;
                status = add_run(m, row, size, y, first, next, error);
                first = next;
            }
        }
        status = status == SLC_OK ? add_run(m, row, size, y, first, width, error) : status;
    }
    m->row_at[rows] = m->n_runs;
    return status;
}

/* ---- labels ------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Rising, each once. */
static bool list_labels(slc_image_measuring *m)
{
    m->labels = malloc((m->n_runs + 1) * sizeof *m->labels);
    if (m->labels == NULL) {
        return false;
    }
    if (m->table != NULL) {
        for (uint32_t value = 1; value <= m->largest && value != 0; value++) {
            if (m->table[value] != 0) {
                m->labels[m->n] = value;
                m->table[value] = ++m->n;
            }
        }
        return true;
    }
    for (size_t i = 0; i < m->n_runs; i++) {
        m->labels[i] = m->value[i];
    }
    qsort(m->labels, m->n_runs, sizeof *m->labels, compare);
    for (size_t i = 0; i < m->n_runs; i++) {
        if (m->n == 0 || m->labels[i] != m->labels[m->n - 1]) {
            m->labels[m->n++] = m->labels[i];
        }
    }
    return true;
}

/* Labels become numbers from 1. */
static slc_status number_labels(slc_image_measuring *m, slc_error *error)
{
    if (m->n_runs > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%zu runs of labels are more than 32 bits can count",
                        m->n_runs);
    }
    if (m->largest < 4 * (uint64_t)m->n_runs + ROOM) {
        m->table = calloc((size_t)m->largest + 1, sizeof *m->table);
        for (size_t i = 0; i < m->n_runs && m->table != NULL; i++) {
            m->table[m->value[i]] = 1;
        }
    }
    if (!list_labels(m)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the list of labels");
    }
    for (size_t i = 0; i < m->n_runs; i++) {
        if (m->table != NULL) {
            m->value[i] = m->table[m->value[i]];
        } else {
            const uint32_t *place = bsearch(&m->value[i], m->labels, m->n, sizeof *m->labels, compare);
            m->value[i] = (uint32_t)(place - m->labels) + 1;
        }
    }
    return SLC_OK;
}

slc_status slc_image_measure_runs(slc_image_measuring *m, slc_error *error)
{
    const slc_volume *v = &m->volume;
    const bool bits = v->type == SLC_IMAGE_BITS;
    const size_t rows = slc_image_times(v->height, v->depth);
    m->row_at = rows < SIZE_MAX ? calloc(rows + 1, sizeof *m->row_at) : NULL;
    m->bits = calloc(v->width / 64 + 2, sizeof *m->bits);
    m->bytes = bits ? calloc(v->width, 1) : NULL;
    if (m->row_at == NULL || m->bits == NULL || (bits && m->bytes == NULL)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the rows of a label image");
    }
    const slc_status status = find_runs(m, error);
    return status == SLC_OK ? number_labels(m, error) : status;
}

void slc_image_measure_runs_clear(slc_image_measuring *m)
{
    free(m->first);
    free(m->behind);
    free(m->value);
    free(m->row_at);
    free(m->bits);
    free(m->bytes);
    free(m->table);
    free(m->labels);
}
