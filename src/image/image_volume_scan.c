/* SPDX-License-Identifier: Apache-2.0
 * Both passes over a part of a volume, the borders between parts, and the numbers of components.
 */
#include "image/image_volume_part.h"

#include <string.h>

static const void *row_of(const slc_volume *volume, size_t y, size_t z)
{
    return (const char *)volume->voxels + (ptrdiff_t)z * volume->slice_stride + (ptrdiff_t)y * volume->stride;
}

/* Makes bits of the rows of a bundle. */
static void read_rows(slc_volume_labeller *labeller, size_t layer, size_t j)
{
    const slc_volume *volume = &labeller->volume;
    const size_t used = (volume->width + 63) / 64;
    for (size_t i = 0; i < labeller->across * labeller->across; i++) {
        const size_t y = labeller->across * j + i % labeller->across;
        const size_t z = labeller->across * layer + i / labeller->across;
        if (y < volume->height && z < volume->depth) {
            uint64_t *bits = slc_volume_bits(labeller, y, z);
            slc_image_bits_row(&labeller->image_kernels, &labeller->level, row_of(volume, y, z),
                               volume->width, false, bits);
            memset(bits + used, 0, (labeller->pitch - used) * sizeof *bits);
        }
    }
}

void slc_volume_bundle_of(const slc_volume_labeller *labeller, const slc_volume_part *part, size_t layer,
                          size_t j, slc_volume_bundle *bundle)
{
    const slc_volume *volume = &labeller->volume;
    const size_t across = labeller->across;
    for (size_t i = 0; i < SLC_VOLUME_ROWS; i++) {
        const size_t y = across * j + i % across, z = across * layer + i / across;
        const bool is_there = i < across * across && y < volume->height && z < volume->depth;
        bundle->rows[i] = is_there ? slc_volume_bits(labeller, y, z) : labeller->zeros + 1;
    }
    bundle->labels = part->runs + part->run_at[(layer - part->first_layer) * labeller->bundles + j];
    labeller->kernels.look(bundle, labeller->words, across * across);
}

/* The earlier neighbours of bundle j among those of the layer and of the one before (NULL: there is none). */
static void find_neighbours(const slc_volume_labeller *labeller, const slc_volume_part *part,
                            const slc_volume_bundle *layer, const slc_volume_bundle *before, size_t j,
                            const slc_volume_bundle **neighbours)
{
    const slc_volume_bundle *empty = &part->empty;
    const bool down = before != NULL && j + 1 < labeller->bundles, up = before != NULL && j > 0;
    neighbours[SLC_VOLUME_ABOVE] = j > 0 ? layer + j - 1 : empty;
    neighbours[SLC_VOLUME_BEFORE] = before != NULL ? before + j : empty;
    neighbours[SLC_VOLUME_BEFORE_DOWN] = down ? before + j + 1 : empty;
    neighbours[SLC_VOLUME_BEFORE_UP] = up ? before + j - 1 : empty;
}

void slc_volume_scan(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const slc_volume_bundle *neighbours[SLC_VOLUME_NEIGHBOURS];
    slc_volume_strip *strip = &part->strip;
    strip->fresh = part->base;
    part->run_at[0] = 0;
    for (size_t i = 0; i < part->n_layers; i++) {
        slc_volume_bundle *layer = part->ring[i % 2], *before = i > 0 ? part->ring[(i + 1) % 2] : NULL;
        size_t *run_at = part->run_at + i * labeller->bundles;
        part->layer_fresh[i] = strip->fresh;
        for (size_t j = 0; j < labeller->bundles; j++) {
            read_rows(labeller, part->first_layer + i, j);
            slc_volume_bundle_of(labeller, part, part->first_layer + i, j, &layer[j]);
            find_neighbours(labeller, part, layer, before, j, neighbours);
            labeller->kernels.join(strip, &layer[j], neighbours);
            run_at[j + 1] = run_at[j] + layer[j].n_runs;
        }
        /* Labels that are nearer to their roots: fewer of the next layer's edges join different ones. */
        labeller->kernels.relabel(labeller->parent, part->runs + run_at[0],
                                  run_at[labeller->bundles] - run_at[0]);
    }
    part->layer_fresh[part->n_layers] = strip->fresh;
}

void slc_volume_border(slc_volume_labeller *labeller, uint32_t below)
{
    const slc_volume_bundle *neighbours[SLC_VOLUME_NEIGHBOURS];
    slc_volume_part *part = &labeller->parts[below];
    for (size_t j = 0; j < labeller->bundles; j++) {
        slc_volume_bundle_of(labeller, part - 1, part->first_layer - 1, j, &part->ring[0][j]);
    }
    for (size_t j = 0; j < labeller->bundles; j++) {
        slc_volume_bundle_of(labeller, part, part->first_layer, j, &part->ring[1][j]);
        find_neighbours(labeller, part, part->ring[1], part->ring[0], j, neighbours);
        labeller->kernels.border(&part->strip, &part->ring[1][j], neighbours);
    }
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
static void number_in_order(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const uint32_t *parent = labeller->parent;
    uint32_t n = part->n_labels;
    for (uint32_t i = part->layer_fresh[0]; i < part->layer_fresh[part->n_layers]; i++) {
        n += parent[i] == i ? 1 : 0;
        labeller->numbers[i] = n;
    }
    part->n_labels = n;
}

/* Of bundles they are not: in each layer with roots, rows are gone through until all roots have numbers. */
static void number_layer(slc_volume_labeller *labeller, slc_volume_part *part, size_t i, uint32_t roots)
{
    const uint32_t first = part->layer_fresh[i], end = part->n_labels + roots;
    const size_t *run_at = part->run_at + i * labeller->bundles;
    slc_volume_bundle *bundle = part->ring[0];
    if (roots == 0) {
        return;
    }
    memset(labeller->numbers + first, 0, (part->layer_fresh[i + 1] - first) * sizeof *labeller->numbers);
    labeller->kernels.relabel(labeller->parent, part->runs + run_at[0],
                              run_at[labeller->bundles] - run_at[0]);
    for (size_t z = 0; z < labeller->across && part->n_labels < end; z++) {
        for (size_t j = 0; j < labeller->bundles && part->n_labels < end; j++) {
            slc_volume_bundle_of(labeller, part, part->first_layer + i, j, bundle);
            for (size_t y = 0; y < labeller->across && part->n_labels < end; y++) {
                part->n_labels = labeller->kernels.number(&part->strip, bundle,
                                                          bundle->rows[labeller->across * z + y], first,
                                                          labeller->numbers, part->n_labels);
            }
        }
    }
}

void slc_volume_number(slc_volume_labeller *labeller)
{
    uint32_t *numbers = labeller->numbers, n = 0;
    const uint32_t *parent = labeller->parent;
    for (uint32_t p = 0; p < labeller->n_parts; p++) {
        slc_volume_part *part = &labeller->parts[p];
        part->n_labels = n;
        for (size_t i = 0; i < part->n_layers; i++) {
            const uint32_t roots = flatten(labeller->parent, part->layer_fresh[i], part->layer_fresh[i + 1]);
            if (labeller->across > 1) {
                number_layer(labeller, part, i, roots);
            }
        }
        if (labeller->across == 1) {
            number_in_order(labeller, part);
        }
        n = part->n_labels;
        for (uint32_t i = part->layer_fresh[0]; i < part->layer_fresh[part->n_layers]; i++) {
            numbers[i] = numbers[parent[i]];
        }
    }
    labeller->n_labels = n;
}

/* ---- the second pass --------------------------------------------------------------------------- */

/* Label images of more bytes are written past the caches, as in image_bitrun_write.c. */
enum { FAR_BYTES = 1 << 24 };

static void write_bundle(const slc_volume_labeller *labeller, size_t layer, size_t j,
                         const slc_volume_bundle *bundle, bool far)
{
    const slc_volume *volume = &labeller->volume;
    const slc_volume_labels *out = labeller->out;
    const uint64_t *rows[SLC_VOLUME_ROWS];
    uint32_t *to[SLC_VOLUME_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < labeller->across * labeller->across; i++) {
        const size_t y = labeller->across * j + i % labeller->across;
        const size_t z = labeller->across * layer + i / labeller->across;
        if (y < volume->height && z < volume->depth) {
            rows[n] = bundle->rows[i];
            to[n++] = (uint32_t *)(void *)((char *)out->labels + (ptrdiff_t)z * out->slice_stride +
                                           (ptrdiff_t)y * out->stride);
        }
    }
    labeller->kernels.write(bundle, rows, n, bundle->labels, volume->width, to, far);
}

void slc_volume_write(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const slc_volume *volume = &labeller->volume;
    const bool far = volume->width * volume->height * volume->depth > FAR_BYTES / sizeof(uint32_t);
    slc_volume_bundle *bundle = part->ring[0];
    for (size_t i = 0; i < part->n_layers; i++) {
        for (size_t j = 0; j < labeller->bundles; j++) {
            const size_t *run_at = part->run_at + i * labeller->bundles + j;
            labeller->kernels.relabel(labeller->numbers, part->runs + run_at[0], run_at[1] - run_at[0]);
            if (labeller->out->labels != NULL) {
                slc_volume_bundle_of(labeller, part, part->first_layer + i, j, bundle);
                write_bundle(labeller, part->first_layer + i, j, bundle, far);
            }
        }
    }
}
