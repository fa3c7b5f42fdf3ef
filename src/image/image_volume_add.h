/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the loops over volumes: features, as sums over runs. Neighbours in a row with one label are added to
 * its record as one: in crowded volumes nearly all are of one component.
 */
#ifndef SLUICE_IMAGE_VOLUME_ADD_H
#define SLUICE_IMAGE_VOLUME_ADD_H

#include "image/image_volume_kernels.h"

#include "simd/simd.h"

/* Neighbours in a row that have one label: so many voxels, and their sums of x and x². */
typedef struct segment {
    uint64_t n, x, xx;
    uint32_t first, last;
} segment;

static inline void add_segment(const slc_volume_sum_row *row, const segment *s, slc_volume_sums *r)
{
    const uint64_t y = row->y, z = row->z;
    const uint32_t y32 = (uint32_t)y;
    if (r->volume == 0) {
        r->x_min = r->first_x = s->first;
        r->y_min = r->first_y = y32;
        r->first_z = (uint32_t)z;
    }
    r->volume += s->n;
    r->x += s->x;
    r->y += s->n * y;
    r->z += s->n * z;
    r->x_min = s->first < r->x_min ? s->first : r->x_min;
    r->x_max = s->last > r->x_max ? s->last : r->x_max;
    r->y_min = y32 < r->y_min ? y32 : r->y_min;
    r->y_max = y32 > r->y_max ? y32 : r->y_max;
    r->z_max = (uint32_t)z;
    if (row->second) {
        r->xx += s->xx;
        r->xy += s->x * y;
        r->xz += s->x * z;
        r->yy += s->n * y * y;
        r->yz += s->n * y * z;
        r->zz += s->n * z * z;
    }
}

/* First and last columns of the row's runs; returns how many. */
static size_t find_runs(const slc_volume_sum_row *row)
{
    const uint64_t *bits = row->bits, *starts = row->layer->starts + row->at;
    uint64_t before = 0;
    size_t n = 0, n_last = 0;
    for (size_t k = 0; k + 1 < row->words; k++) {
        const uint32_t base = (uint32_t)(64 * k);
        const uint64_t ends = ~(bits[k] >> 1 | bits[k + 1] << 63) |
                              (row->equal ? starts[k] >> 1 | starts[k + 1] << 63 : 0);
        n += bits_positions_u32(row->first + n, row->equal ? starts[k] : bits_starts(bits[k], before), base);
        n_last += bits_positions_u32(row->last + n_last, bits[k] & ends, base);
        before = bits[k];
    }
    return n;
}

static void sum(const slc_volume_sum_row *row, slc_volume_sums *records)
{
    const slc_volume_layer *layer = row->layer;
    const uint64_t *starts = layer->starts + row->at;
    const uint32_t *ranks = layer->ranks + row->at, *labels = layer->labels - 1;
    const size_t n = find_runs(row);
    segment s = {.n = 0};
    uint32_t before = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t first = row->first[i], last = row->last[i], word = first / 64;
        const uint64_t upto = ~(uint64_t)0 >> (63 - first % 64);
        const uint32_t label = labels[ranks[word] + bits_count(starts[word] & upto)];
        const uint64_t length = last - first + 1;
        if (label != before && i > 0) {
            add_segment(row, &s, &records[before]);
            s = (segment){.first = first};
        }
        s.first = i == 0 ? first : s.first;
        s.last = last;
        s.n += length;
        s.x += ((uint64_t)first + last) * length / 2;
        s.xx += row->squares[last + 1] - row->squares[first];
        before = label;
    }
    if (n > 0) {
        add_segment(row, &s, &records[before]);
    }
}

#endif
