/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the loops over volumes: features. What is summed up is a segment: neighbouring runs of a bundle that
 * have one label, which in crowded volumes is most of a row.
 */
#ifndef SLUICE_IMAGE_VOLUME_ADD_H
#define SLUICE_IMAGE_VOLUME_ADD_H

#include "image/image_volume_kernels.h"

#include "simd/simd_bit_sums.h"

#ifdef SIMD_BIT_SUMS
#include "image/image_volume_add_wide.h"
#else
#include "image/image_volume_add_narrow.h"
#endif

static inline bool are_equal(const uint32_t *labels, size_t n)
{
    const u32v first = u32v_set(labels[0]);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        if (mask32_any(mask32_and(mask32_first(n - i), u32v_ne(u32v_load(labels + i), first)))) {
            return false;
        }
    }
    return true;
}

/* Lists the segments of a bundle: first columns, one more, and labels. */
static inline size_t list_segments(const slc_volume_sum_layer *s, size_t at)
{
    const slc_volume_layer *layer = s->layer;
    const size_t words = s->pitch, base = layer->ranks[at], end = layer->ranks[at + words];
    const uint32_t *labels = layer->labels + base;
    size_t listed = 0, n = 0;
    if (base == end) {
        return 0;
    }
    if (are_equal(labels, end - base)) { /* as mostly in crowded volumes */
        size_t k = 0;
        while (layer->starts[at + k] == 0) {
            k++;
        }
        s->begins[0] = (uint32_t)(64 * k + bits_lowest(layer->starts[at + k]));
        s->begins[1] = (uint32_t)(64 * words);
        s->labels[0] = labels[0];
        return 1;
    }
    for (size_t k = 0; k < words; k++) {
        listed += bits_positions_u32(s->columns + listed, layer->starts[at + k], (uint32_t)(64 * k));
    }
    for (size_t i = 0; i < end - base;
         i += SIMD_LANES) { /* there is an element in front of a layer's labels */
        const u32v label = u32v_load(labels + i);
        const mask32 in = mask32_first(end - base - i), changes = u32v_ne(label, u32v_load(labels + i - 1));
        const mask32 begin = mask32_and(in, i == 0 ? mask32_or(mask32_first(1), changes) : changes);
        (void)u32v_pack(s->begins + n, u32v_load(s->columns + i), begin);
        n += u32v_pack(s->labels + n, label, begin);
    }
    s->begins[n] = (uint32_t)(64 * words);
    return n;
}

/* Of single rows, which come in raster order, the first voxel of a component is that of its first segment. */
static inline void begin_records(slc_volume_sum_layer *s, uint64_t y, size_t n, slc_volume_sums *records)
{
    for (size_t i = 0; i < n; i++) {
        if (s->labels[i] > s->newest) {
            s->newest = s->labels[i];
            slc_volume_sums_begin(&records[s->newest], s->begins[i], (uint32_t)y, (uint32_t)s->z);
        }
    }
}

/* From labels to places of records. */
static inline void find_places(const slc_volume_sum_layer *s, size_t n)
{
    for (size_t i = 0; i < n && s->earlier > 0; i++) {
        if (s->labels[i] <= s->earlier) {
            s->labels[i] = s->places[s->labels[i]];
        }
    }
}

static inline void sum_layer(slc_volume_sum_layer *s, bool four, slc_volume_sums *records)
{
    pieces some = {.n = 0};
    for (size_t j = 0; j < s->bundles; j++) {
        const size_t at = j * s->pitch, n = list_segments(s, at);
        const uint64_t y = four ? 2 * j : j;
        if (!four) {
            begin_records(s, y, n, records);
        }
        find_places(s, n);
        add_bundle(&some, s, at, y, n, four, records);
    }
    end_pieces(&some, s->z, four, records);
}

static void sum(slc_volume_sum_layer *s, slc_volume_sums *records)
{
    if (s->n_rows == 1) {
        sum_layer(s, false, records);
    } else {
        sum_layer(s, true, records);
    }
}

#endif
