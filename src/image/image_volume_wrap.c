/* SPDX-License-Identifier: Apache-2.0
 * Periodic volumes: after all parts were read and joined, components over opposite faces are joined.
 */
#include "image/image_volume_part.h"
#include "image/image_volume_spans.h"

#include "simd/simd_bits.h"

typedef struct wrapping {
    slc_volume_labeller *labeller;
    slc_volume_part *ring; /* whose two layers are used */
    size_t held[2];        /* which layers they are */
    int last;              /* the one that was asked for last */
    slc_volume_spans row, other;
} wrapping;

size_t slc_volume_wrap_bytes(size_t width)
{
    return slc_image_times(slc_image_times(slc_image_plus(width, 1), 2), sizeof(slc_volume_span));
}

/* ---- rows as spans ----------------------------------------------------------------------------- */

static const slc_volume_layer *layer_at(wrapping *w, size_t layer)
{
    slc_volume_labeller *v = w->labeller;
    if (w->held[w->last] == layer) {
        return &w->ring->ring[w->last];
    }
    w->last = 1 - w->last;
    if (w->held[w->last] != layer) {
        uint32_t p = v->n_parts - 1;
        while (v->parts[p].first_layer > layer) {
            p--;
        }
        slc_volume_layer_of(v, &v->parts[p], layer, &w->ring->ring[w->last]);
        w->held[w->last] = layer;
    }
    return &w->ring->ring[w->last];
}

/* The label and value of a span that begins at column x. */
static slc_volume_span begin_span(const slc_volume_labeller *v, const slc_volume_layer *layer, size_t y,
                                  size_t z, size_t x)
{
    const size_t word = y / v->across * v->pitch + x / 64;
    const uint64_t upto = ~(uint64_t)0 >> (63 - x % 64);
    const size_t run = layer->ranks[word] + bits_count(layer->starts[word] & upto) - 1;
    return (slc_volume_span){
        .first = (uint32_t)x,
        .label = layer->labels[run],
        .value = v->equal ? slc_volume_value(slc_volume_row(&v->volume, y, z), v->volume.type, x) : 0};
}

static void take_row(wrapping *w, size_t y, size_t z, slc_volume_spans *to)
{
    const slc_volume_labeller *v = w->labeller;
    const slc_volume_layer *layer = layer_at(w, z / v->across);
    const uint64_t *row = slc_volume_bits(v, y, z), *starts = v->equal ? slc_volume_starts(v, y, z) : NULL;
    bool open = false;
    uint64_t before = 0;
    to->n = 0;
    for (size_t k = 0; k < v->pitch; before = row[k], k++) {
        uint64_t edges = bits_edges(row[k], before) | (starts != NULL ? starts[k] : 0);
        for (; edges != 0; edges &= edges - 1) {
            const size_t x = 64 * k + bits_lowest(edges);
            if (open) {
                to->at[to->n - 1].behind = (uint32_t)x;
            }
            open = (row[k] >> x % 64 & 1) != 0;
            if (open) {
                to->at[to->n++] = begin_span(v, layer, y, z, x);
            }
        }
    }
}

/* The first and the last voxel of a row, as far as they are foreground. */
static void take_ends(wrapping *w, size_t y, size_t z, slc_volume_spans *to)
{
    const slc_volume_labeller *v = w->labeller;
    const slc_volume_layer *layer = layer_at(w, z / v->across);
    const uint64_t *row = slc_volume_bits(v, y, z);
    const size_t ends[2] = {0, v->volume.width - 1};
    to->n = 0;
    for (int i = 0; i < 2; i++) {
        if ((row[ends[i] / 64] >> ends[i] % 64 & 1) != 0) {
            to->at[to->n] = begin_span(v, layer, y, z, ends[i]);
            to->at[to->n++].behind = (uint32_t)ends[i] + 1;
        }
    }
}

/* ---- joining ----------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        parent[label] = parent[parent[label]];
        label = parent[label];
    }
    return label;
}

/* Parents are smaller, so that the smallest label of a component is its root. */
static void unite(void *context, slc_volume_span *a, slc_volume_span *b)
{
    uint32_t *parent = context;
    const uint32_t one = root_of(parent, a->label), other = root_of(parent, b->label);
    parent[one > other ? one : other] = one > other ? other : one;
}

/* All that a row is joined with over a border, of its neighbours that come before it. */
static void wrap_row(wrapping *w, size_t y, size_t z)
{
    slc_volume_labeller *v = w->labeller;
    const slc_volume *volume = &v->volume;
    const uint32_t periodic = v->config.periodic;
    const bool ends = (periodic & SLC_VOLUME_PERIODIC_X) != 0;
    if (ends) {
        take_ends(w, y, z, &w->row);
        slc_volume_spans_wrap(w->row, w->row, volume->width, unite, v->parent);
    }
    for (int i = 0; i < SLC_VOLUME_STEPS; i++) {
        const slc_volume_step step = slc_volume_step_of(v->config.connectivity, i);
        size_t other_y = y, other_z = z;
        bool wraps = false;
        if (!step.joins ||
            !slc_volume_step_to(y, step.y, volume->height, (periodic & SLC_VOLUME_PERIODIC_Y) != 0, &other_y,
                                &wraps) ||
            !slc_volume_step_to(z, step.z, volume->depth, (periodic & SLC_VOLUME_PERIODIC_Z) != 0, &other_z,
                                &wraps)) {
            continue;
        }
        if (wraps) {
            take_row(w, y, z, &w->row);
            take_row(w, other_y, other_z, &w->other);
            slc_volume_spans_join(w->row, w->other, step.reach, unite, v->parent);
        } else if (ends && step.reach == 1) {
            take_ends(w, y, z, &w->row);
            take_ends(w, other_y, other_z, &w->other);
        }
        if (ends && step.reach == 1) {
            slc_volume_spans_wrap(w->row, w->other, volume->width, unite, v->parent);
        }
    }
}

void slc_volume_wrap(slc_volume_labeller *labeller)
{
    const slc_volume *volume = &labeller->volume;
    const uint32_t periodic = labeller->config.periodic;
    slc_volume_span *spans = labeller->spans.at;
    wrapping w = {.labeller = labeller,
                  .ring = &labeller->parts[0],
                  .held = {SIZE_MAX, SIZE_MAX},
                  .row = {spans, 0},
                  .other = {spans + volume->width + 1, 0}};
    for (size_t z = 0; z < volume->depth; z++) {
        const bool all = (periodic & SLC_VOLUME_PERIODIC_X) != 0 ||
                         (z == 0 && (periodic & SLC_VOLUME_PERIODIC_Z) != 0);
        const bool borders = (periodic & SLC_VOLUME_PERIODIC_Y) != 0;
        for (size_t y = 0; y < volume->height; y++) {
            if (all || (borders && (y == 0 || y + 1 == volume->height))) {
                wrap_row(&w, y, z);
            }
        }
    }
}
