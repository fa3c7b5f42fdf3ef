/* SPDX-License-Identifier: Apache-2.0
 * Both passes over a part of a volume, and the borders between parts.
 */
#include "image/image_volume_part.h"

#include <string.h>

/* The caches' lines of a row that is read soon. */
static void prefetch_row(const slc_volume *volume, size_t y, size_t z)
{
    enum { LINE = 64, AHEAD = 4, MOST = 32 };
    if (y + AHEAD < volume->height) {
        const char *row = slc_volume_row(volume, y + AHEAD, z);
        const size_t bytes = slc_image_row_bytes(volume->type, volume->width);
        for (size_t i = 0; i < bytes && i < (size_t)MOST * LINE; i += LINE) {
            __builtin_prefetch(row + i);
        }
    }
}

/* Bits of row y of slice z, zeros where the volume has none. */
static void read_row(slc_volume_labeller *labeller, size_t y, size_t z, uint64_t *bits)
{
    const slc_volume *volume = &labeller->volume;
    const size_t used = (volume->width + 63) / 64;
    if (y >= volume->height || z >= volume->depth) {
        memset(bits, 0, labeller->pitch * sizeof *bits);
        return;
    }
    prefetch_row(volume, y, z);
    if (labeller->equal) {
        slc_volume_find_values(labeller, y, z);
        slc_volume_starts(labeller, y, z)[used] = 0;
    } else {
        slc_image_bits_row(&labeller->image_kernels, &labeller->level, slc_volume_row(volume, y, z),
                           volume->width, labeller->config.inverse, bits);
    }
    bits[used] = 0; /* a row is a word longer than its voxels */
}

/* Makes bits of the slices of a layer. */
static void read_layer(slc_volume_labeller *labeller, size_t layer)
{
    const size_t across = labeller->across;
    for (size_t j = 0; j < labeller->bundles; j++) {
        for (size_t row = 0; row < across * across; row++) { /* number 2 z + y */
            read_row(labeller, across * j + (row & 1), across * layer + (row >> 1),
                     slc_volume_row_of_bundles(labeller, layer, row) + j * labeller->pitch);
        }
    }
    for (size_t row = 0; row < labeller->rows; row++) { /* the bundles of zeros around */
        uint64_t *bits = slc_volume_row_of_bundles(labeller, layer, row);
        memset(bits - labeller->pitch, 0, labeller->pitch * sizeof *bits);
        memset(bits + labeller->bundles * labeller->pitch, 0, labeller->pitch * sizeof *bits);
    }
}

void slc_volume_layer_of(const slc_volume_labeller *labeller, const slc_volume_part *part, size_t layer,
                         slc_volume_layer *to)
{
    for (size_t row = 0; row < labeller->rows; row++) {
        to->rows[row] = slc_volume_row_of_bundles(labeller, layer, row);
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
            slc_volume_compare(labeller, part, part->first_layer + i, layer, before, false);
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
        slc_volume_compare(labeller, part, part->first_layer, &part->ring[1], &part->ring[0], true);
    }
    labeller->kernels.border(&part->strip, &part->ring[1], &part->ring[0]);
}

/* ---- the second pass --------------------------------------------------------------------------- */

/* Labels of more bytes are written past the caches. */
enum { FAR_BYTES = 1 << 23 };

static void write_layer(const slc_volume_labeller *labeller, const slc_volume_window *to, size_t layer,
                        const uint32_t *labels)
{
    const size_t across = labeller->across, n_rows = across * across;
    const uint64_t *rows[SLC_VOLUME_ROWS];
    char *slices[2];
    for (size_t row = 0; row < labeller->rows;
         row++) { /* number 2 z + y; of equal values the starts are last */
        rows[row] = slc_volume_row_of_bundles(labeller, layer, row);
    }
    for (size_t i = 0; i < across; i++) {
        const size_t z = across * layer + i - to->first;
        const bool is = across * layer + i >= to->first && z < to->n;
        slices[i] = is ? (char *)to->labels + (ptrdiff_t)z * to->slice_stride : NULL;
    }
    for (size_t j = 0; j < labeller->bundles; j++) {
        uint32_t *out[SLC_VOLUME_ROWS];
        for (size_t row = 0; row < n_rows; row++) {
            const size_t y = across * j + (row & 1);
            char *slice = slices[row >> 1];
            const bool is = slice != NULL && y < labeller->volume.height;
            out[row] = is ? (uint32_t *)(void *)(slice + (ptrdiff_t)y * to->stride) : NULL;
        }
        labels += labeller->kernels.write(rows, labeller->rows, labels, labeller->volume.width, out, to->far);
        for (size_t row = 0; row < labeller->rows; row++) {
            rows[row] += labeller->pitch;
        }
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
        labeller->kernels.relabel(labeller->parent, labels, part->run_at[i + 1] - part->run_at[i]);
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
