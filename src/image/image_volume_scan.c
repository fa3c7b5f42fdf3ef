/* SPDX-License-Identifier: Apache-2.0
 * Both passes over a part of a volume, the borders between parts, and the numbers of components.
 */
#include "image/image_volume_part.h"

#include <string.h>

/* Row number `row` of the bundles of a layer. */
static uint64_t *row_of_bundles(const slc_volume_labeller *labeller, size_t layer, size_t row)
{
    const size_t bundles = labeller->bundles + 2;
    return labeller->bits + ((layer * labeller->rows + row) * bundles + 1) * labeller->pitch;
}

/* Makes bits of the slices of a layer. */
static void read_layer(slc_volume_labeller *labeller, size_t layer)
{
    const slc_volume *volume = &labeller->volume;
    const size_t used = (volume->width + 63) / 64, across = labeller->across;
    for (size_t y = 0; y < across * labeller->bundles; y++) {
        for (size_t z = across * layer; z < across * (layer + 1); z++) {
            uint64_t *bits = slc_volume_bits(labeller, y, z);
            if (y >= volume->height || z >= volume->depth) {
                memset(bits, 0, labeller->pitch * sizeof *bits);
                continue;
            }
            if (labeller->equal) {
                uint64_t *starts = slc_volume_starts(labeller, y, z);
                slc_volume_find_values(labeller, y, z);
                memset(starts + used, 0, (labeller->pitch - used) * sizeof *starts);
            } else {
                slc_image_bits_row(&labeller->image_kernels, &labeller->level, slc_volume_row(volume, y, z),
                                   volume->width, false, bits);
            }
            memset(bits + used, 0, (labeller->pitch - used) * sizeof *bits);
        }
    }
    for (size_t row = 0; row < labeller->rows; row++) { /* the bundles of zeros around */
        uint64_t *bits = row_of_bundles(labeller, layer, row);
        memset(bits - labeller->pitch, 0, labeller->pitch * sizeof *bits);
        memset(bits + labeller->bundles * labeller->pitch, 0, labeller->pitch * sizeof *bits);
    }
}

void slc_volume_layer_of(const slc_volume_labeller *labeller, const slc_volume_part *part, size_t layer,
                         slc_volume_layer *to)
{
    for (size_t row = 0; row < labeller->rows; row++) {
        to->rows[row] = row_of_bundles(labeller, layer, row);
    }
    to->labels = part->runs + part->run_at[layer - part->first_layer];
    labeller->kernels.look(to, labeller->bundles * labeller->pitch, labeller->rows);
}

void slc_volume_scan(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const slc_volume_kernels *kernels = &labeller->kernels;
    slc_volume_strip *strip = &part->strip;
    strip->fresh = part->base;
    part->run_at[0] = 0;
    for (size_t i = 0; i < part->n_layers; i++) {
        slc_volume_layer *layer = &part->ring[i % 2], *before = i > 0 ? &part->ring[(i + 1) % 2] : NULL;
        part->layer_fresh[i] = strip->fresh;
        read_layer(labeller, part->first_layer + i);
        slc_volume_layer_of(labeller, part, part->first_layer + i, layer);
        if (labeller->equal) {
            slc_volume_compare(labeller, part, part->first_layer + i, layer, i > 0, false);
        } else {
            kernels->meet(strip, layer, before);
        }
        kernels->join(strip, layer, before);
        part->run_at[i + 1] = part->run_at[i] + layer->n_runs;
        /* Labels that are nearer to their roots: fewer of the next layer's edges join different ones. */
        kernels->relabel(labeller->parent, layer->labels, layer->n_runs);
    }
    part->layer_fresh[part->n_layers] = strip->fresh;
}

void slc_volume_border(slc_volume_labeller *labeller, uint32_t below)
{
    slc_volume_part *part = &labeller->parts[below];
    slc_volume_layer_of(labeller, part - 1, part->first_layer - 1, &part->ring[0]);
    slc_volume_layer_of(labeller, part, part->first_layer, &part->ring[1]);
    if (labeller->equal) {
        slc_volume_compare(labeller, part, part->first_layer, &part->ring[1], true, true);
    }
    labeller->kernels.border(&part->strip, &part->ring[1], &part->ring[0]);
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Lets every label point to its root, and counts the roots. Parents are smaller, so they are done already. */
static uint32_t flatten(uint32_t *parent, uint32_t first, uint32_t end)
{
    uint32_t roots = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t root = parent[parent[i]];
        parent[i] = root;
        roots += root == i ? 1 : 0;
    }
    return roots;
}

/* Of single rows, provisional labels are in raster order themselves. */
static uint32_t number_in_order(slc_volume_labeller *labeller, const slc_volume_part *part, uint32_t n)
{
    const uint32_t *parent = labeller->parent;
    for (uint32_t i = part->layer_fresh[0]; i < part->layer_fresh[part->n_layers]; i++) {
        n += parent[i] == i ? 1 : 0;
        labeller->numbers[i] = n;
    }
    return n;
}

/* Of bundles they are not: in each layer with roots, rows are gone through until all roots have numbers. */
static uint32_t number_layer(slc_volume_labeller *labeller, slc_volume_part *part, size_t i, uint32_t roots,
                             uint32_t n)
{
    const uint32_t first = part->layer_fresh[i], end = n + roots;
    slc_volume_layer *layer = &part->ring[0];
    if (roots == 0) {
        return n;
    }
    memset(labeller->numbers + first, 0, (part->layer_fresh[i + 1] - first) * sizeof *labeller->numbers);
    slc_volume_layer_of(labeller, part, part->first_layer + i, layer);
    labeller->kernels.relabel(labeller->parent, layer->labels, layer->n_runs);
    for (size_t z = 0; z < labeller->across; z++) {
        for (size_t y = 0; y < labeller->across * labeller->bundles && n < end; y++) {
            n = labeller->kernels.number(&part->strip, layer, y / labeller->across,
                                         labeller->across * z + y % labeller->across, first,
                                         labeller->numbers, n);
        }
    }
    return n;
}

void slc_volume_number(slc_volume_labeller *labeller)
{
    uint32_t *numbers = labeller->numbers, n = 0;
    const uint32_t *parent = labeller->parent;
    for (uint32_t p = 0; p < labeller->n_parts; p++) {
        slc_volume_part *part = &labeller->parts[p];
        for (size_t i = 0; i < part->n_layers; i++) {
            const uint32_t roots = flatten(labeller->parent, part->layer_fresh[i], part->layer_fresh[i + 1]);
            n = labeller->across > 1 ? number_layer(labeller, part, i, roots, n) : n;
        }
        n = labeller->across == 1 ? number_in_order(labeller, part, n) : n;
        for (uint32_t i = part->layer_fresh[0]; i < part->layer_fresh[part->n_layers]; i++) {
            numbers[i] = numbers[parent[i]];
        }
    }
    labeller->n_labels = n;
}

/* ---- the second pass --------------------------------------------------------------------------- */

/* Labels of more bytes are written past the caches. */
enum { FAR_BYTES = 1 << 23 };

/* Writes bundle j of a layer, whose first run has the first of the labels; returns how many runs it has. */
static size_t write_bundle(const slc_volume_labeller *labeller, const slc_volume_window *to, size_t layer,
                           size_t j, const uint32_t *labels)
{
    const uint64_t *rows[SLC_VOLUME_ROWS];
    uint32_t *out[SLC_VOLUME_ROWS];
    for (size_t i = 0; i < labeller->across * labeller->across; i++) {
        const size_t y = labeller->across * j + i % labeller->across;
        const size_t z = labeller->across * layer + i / labeller->across;
        const bool is = y < labeller->volume.height && z >= to->first && z - to->first < to->n;
        char *at = (char *)to->labels + (is ? (ptrdiff_t)(z - to->first) * to->slice_stride : 0);
        rows[i] = slc_volume_bits(labeller, y, z);
        out[i] = is ? (uint32_t *)(void *)(at + (ptrdiff_t)y * to->stride) : NULL;
    }
    if (labeller->equal) {
        rows[1] = slc_volume_starts(labeller, j, layer);
    }
    return labeller->kernels.write(rows, labeller->rows, labels, labeller->volume.width, out, to->far);
}

static void write_layer(const slc_volume_labeller *labeller, const slc_volume_window *to, size_t layer,
                        const uint32_t *labels)
{
    for (size_t j = 0; j < labeller->bundles; j++) {
        labels += write_bundle(labeller, to, layer, j, labels);
    }
}

slc_volume_window slc_volume_window_of(const slc_volume_labeller *labeller, const slc_volume_labels *out,
                                       size_t first, size_t n)
{
    const bool far = labeller->volume.width * labeller->volume.height * n > FAR_BYTES / sizeof(uint32_t);
    return (slc_volume_window){out->labels, out->stride, out->slice_stride, first, n, far};
}

void slc_volume_write(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const slc_volume_window whole = slc_volume_window_of(labeller, labeller->out, 0, labeller->volume.depth);
    for (size_t i = 0; i < part->n_layers; i++) {
        uint32_t *labels = part->runs + part->run_at[i];
        labeller->kernels.relabel(labeller->numbers, labels, part->run_at[i + 1] - part->run_at[i]);
        if (whole.labels != NULL) {
            write_layer(labeller, &whole, part->first_layer + i, labels);
        }
    }
    labeller->kernels.finish();
}

void slc_volume_write_layer(const slc_volume_labeller *labeller, const slc_volume_window *to, size_t layer)
{
    const slc_volume_part *part = labeller->parts;
    while (layer >= part->first_layer + part->n_layers) {
        part++;
    }
    write_layer(labeller, to, layer, part->runs + part->run_at[layer - part->first_layer]);
    labeller->kernels.finish();
}
