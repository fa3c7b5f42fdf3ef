/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes. A volume is cut into parts of slices, which are read on their own and
 * joined afterwards. Provisional labels are numbers of one table for the whole volume; every part has a range
 * of its own, so that labels of a lower part are smaller than those of a later one.
 */
#ifndef SLUICE_IMAGE_VOLUME_PART_H
#define SLUICE_IMAGE_VOLUME_PART_H

#include "base/team.h"
#include "image/image_bits.h"
#include "image/image_level.h"
#include "image/image_memory.h"
#include "image/image_volume_keep.h"
#include "image/image_volume_kernels.h"
#include <sluice/image_volume.h>

enum { SLC_VOLUME_GAP = 16 }; /* words */

/* A layer is the slices of one bundle: 2 with 26 neighbours, else 1. */
typedef struct slc_volume_part {
    slc_volume_strip strip;
    size_t first_layer, n_layers;
    uint32_t base;          /* the first of its provisional labels */
    uint32_t *runs;         /* labels of all runs, layer after layer */
    size_t *run_at;         /* where those of each layer begin, and one more */
    uint32_t *layer_fresh;  /* the first label made in each layer, and one more */
    uint32_t *layer_before; /* components that begin before each layer */
    /* To number the components that begin in a layer: each label's first voxel, and the roots among them;
     * marks of first voxels, and how many components begin before each word of them. */
    uint64_t *firsts, *marks;
    uint32_t *roots, *marks_before;
    slc_volume_layer ring[2]; /* two layers in turn */
    /* Features of components that begin in an earlier part: places of their records here, by label, which are
     * `others` from number `other` on. */
    uint32_t *places, other, others;
} slc_volume_part;

struct slc_volume_labeller {
    slc_volume_config config;
    slc_volume_keep keep;
    slc_volume_kernels kernels;
    slc_image_kernels image_kernels;
    slc_team *team;
    slc_image_memory scratch, tables, sums, spans, greys;
    slc_volume_part *parts;
    uint32_t max_parts;
    /* The volume at work. */
    slc_volume volume, grey; /* grey: for features of grey values alone */
    slc_volume_labels *out;
    slc_image_level level;
    bool equal;             /* values are compared: of bits there is one alone */
    size_t across;          /* rows and slices of a bundle: 1 or 2 */
    size_t rows;            /* rows of bits of a bundle: of single rows of equal values 2, one for starts */
    size_t bundles, layers; /* of a layer, of the volume */
    size_t pitch;           /* words of a row, and one of zeros */
    uint32_t n_parts;
    /* Of each layer and row of its bundles, the rows of all bundles between two of zeros; behind each layer
     * is a gap of what a kernel may read there while another thread writes the next one. */
    uint64_t *bits;
    uint32_t *parent, *numbers;
    /* Where features are wanted, else NULL: of each label what is summed up, then what later parts have of
     * them; and, of layers of two slices, the first voxel of each component, which is the number of its
     * mark (slc_volume_marks). */
    slc_volume_sums *records;
    uint64_t *firsts;
    uint32_t n_labels, n_filtered;
    bool labelled; /* the runs of that volume have their numbers */
};

/* Slices whose labels are written. */
typedef struct slc_volume_window {
    uint32_t *labels;
    ptrdiff_t stride, slice_stride;
    size_t first, n;
    bool far; /* past the caches */
} slc_volume_window;

/* What is asked for, with its default; SLC_ERR_USAGE. */
slc_status slc_volume_config_take(const slc_volume_config *given, slc_volume_config *config,
                                  slc_error *error);
/* Of what is labelled: with `inverse` that which does not cross the foreground's. */
static inline uint32_t slc_volume_connectivity(const slc_volume_config *config)
{
    return !config->inverse ? config->connectivity : config->connectivity == 6 ? 26 : 6;
}
/* A volume that is as image_volume.h tells, of a type that is labelled so; SLC_ERR_USAGE. */
slc_status slc_volume_check(const slc_volume_config *config, const slc_volume *volume, slc_error *error);
/* The same of any volume; `what` names it. */
slc_status slc_volume_check_layout(const char *what, const slc_volume *volume, slc_error *error);
/* Do sums fit 64 bits, in the largest volume that is one component? SLC_ERR_UNSUPPORTED. */
slc_status slc_volume_check_sums(const slc_volume *volume, uint32_t features, slc_error *error);

/* Row y of slice z as voxels. */
static inline const void *slc_volume_row(const slc_volume *volume, size_t y, size_t z)
{
    return (const char *)volume->voxels + (ptrdiff_t)z * volume->slice_stride + (ptrdiff_t)y * volume->stride;
}
/* Of equal values: voxels of a row that are not 0, and first columns of its runs; and the edges between the
 * runs of a layer and of its neighbours, without those of the layer itself at a border. */
void slc_volume_find_values(slc_volume_labeller *labeller, size_t y, size_t z);
void slc_volume_compare(slc_volume_labeller *labeller, slc_volume_part *part, size_t z,
                        slc_volume_layer *layer, const slc_volume_layer *before, bool border);
/* Reads a part: provisional labels of its runs. */
void slc_volume_scan(slc_volume_labeller *labeller, slc_volume_part *part);
/* Joins the components on both sides of the border in front of part number `below`. */
void slc_volume_border(slc_volume_labeller *labeller, uint32_t below);
/* Of periodic volumes: joins components over opposite faces. labeller->spans has so many bytes. */
size_t slc_volume_wrap_bytes(size_t width);
void slc_volume_wrap(slc_volume_labeller *labeller);
/* From provisional labels to numbers of components, by their first voxels. All parts were read and joined:
 * labels get their roots, of the whole volume; then, part by part, roots their numbers; then `parent` is the
 * table of all labels' numbers. */
void slc_volume_flatten(slc_volume_labeller *labeller);
void slc_volume_number(slc_volume_labeller *labeller, slc_volume_part *part);
void slc_volume_number_all(slc_volume_labeller *labeller, slc_volume_part *part);
/* The second pass over a part: its runs get the numbers, and are written where labels are wanted. */
void slc_volume_write(slc_volume_labeller *labeller, slc_volume_part *part);
/* Slices [first, first + n) at out's labels; and what a layer has of them, of a volume that is labelled. */
slc_volume_window slc_volume_window_of(const slc_volume_labeller *labeller, const slc_volume_labels *out,
                                       size_t first, size_t n);
void slc_volume_write_layer(const slc_volume_labeller *labeller, const slc_volume_window *to, size_t layer);
/* Room for what is summed up of all components, after they were counted and before they get their numbers. */
slc_status slc_volume_records_reserve(slc_volume_labeller *labeller, slc_error *error);
/* Room for their rows; then they are summed, and their rows appended. */
slc_status slc_volume_features_reserve(slc_volume_labeller *labeller, uint32_t features,
                                       slc_volume_components *to, slc_error *error);
void slc_volume_features(slc_volume_labeller *labeller, uint32_t features, slc_volume_components *to);
/* Of grey values: room for their sums, and columns of rows from number `row` on, one for each component. */
slc_status slc_volume_greys_reserve(slc_volume_labeller *labeller);
void slc_volume_greys_find(slc_volume_labeller *labeller, uint32_t features, slc_volume_components *to,
                           size_t row);
/* Of a volume whose runs have their numbers: components that are not kept go, and the rows of the others are
 * appended to what the caller wants. */
slc_status slc_volume_sift(slc_volume_labeller *labeller, slc_error *error);

/* Sets what a layer is but its meets: rows, which are in labeller->bits, runs, and labels. */
void slc_volume_layer_of(const slc_volume_labeller *labeller, const slc_volume_part *part, size_t layer,
                         slc_volume_layer *to);

/* Words of one bit for each voxel of a layer of bundles, row by row of its one slice, then of the other. */
static inline size_t slc_volume_marks(const slc_volume_labeller *labeller)
{
    return labeller->across * labeller->across * labeller->bundles * labeller->pitch;
}

/* Row number `row` of the bundles of a layer. */
static inline uint64_t *slc_volume_row_of_bundles(const slc_volume_labeller *labeller, size_t layer,
                                                  size_t row)
{
    const size_t words = (labeller->bundles + 2) * labeller->pitch;
    return labeller->bits + layer * (labeller->rows * words + SLC_VOLUME_GAP) + row * words + labeller->pitch;
}

/* Row y of slice z as bits. */
static inline uint64_t *slc_volume_bits(const slc_volume_labeller *labeller, size_t y, size_t z)
{
    const size_t across = labeller->across, row = y % across + across * (z % across);
    return slc_volume_row_of_bundles(labeller, z / across, row) + y / across * labeller->pitch;
}

/* Where the runs of that row begin, of equal values. */
static inline uint64_t *slc_volume_starts(const slc_volume_labeller *labeller, size_t y, size_t z)
{
    return slc_volume_bits(labeller, y, z) + (labeller->bundles + 2) * labeller->pitch;
}

#endif
