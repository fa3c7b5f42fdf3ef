/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loops of volumes, one table of them for each instruction set, and what they work on. Rows of voxels
 * are rows of bits, in bundles: with 26 neighbours the four rows (y, z), (y + 1, z), (y, z + 1), (y + 1,
 * z + 1), whose voxels in one column and the next are all neighbours, so that a run of their OR is one piece;
 * else a single row. What is called a run here is a run of the bundle's OR.
 */
#ifndef SLUICE_IMAGE_VOLUME_KERNELS_H
#define SLUICE_IMAGE_VOLUME_KERNELS_H

#include "image/image_volume_sums.h"
#include "simd/simd_kernel.h"
#include "simd_targets.h"

enum {
    /* Elements in front of an array of runs, edges or labels, and behind it, that a kernel may touch. */
    SLC_VOLUME_SPARE = 96,
    SLC_VOLUME_ROWS = 4 /* of a bundle at most */
};

/* Earlier bundles that a bundle may touch: those at (y - 1, z), and at y, y + 1 and y - 1 of z - 1. */
enum {
    SLC_VOLUME_ABOVE = 0,
    SLC_VOLUME_BEFORE,
    SLC_VOLUME_BEFORE_DOWN,
    SLC_VOLUME_BEFORE_UP,
    SLC_VOLUME_NEIGHBOURS,
    SLC_VOLUME_KEPT = SLC_VOLUME_BEFORE_UP /* so many of them are asked for by later bundles */
};

/* The bundles of all y, one behind the other: bundle j begins at word j · pitch of each array of words.
 * Behind its words is one of zeros, so that a layer is a single long row of bits in which nothing goes from
 * one bundle to the next; in front of the first and behind the last is room for a bundle of zeros. */
/* Where a run and a neighbour's touch: in a column that both have; or the run in a column and the neighbour's
 * in the one before it; or the other way round. Of binary volumes the first stands for all. */
enum { SLC_VOLUME_COLUMN = 0, SLC_VOLUME_BEFORE_IT, SLC_VOLUME_BEHIND_IT, SLC_VOLUME_SIDES };

/* Faces of a bundle: the rows of its one or its other slice, and those of one y. */
enum { SLC_VOLUME_FRONT = 0, SLC_VOLUME_BACK, SLC_VOLUME_UPPER, SLC_VOLUME_LOWER, SLC_VOLUME_FACES };

typedef struct slc_volume_layer {
    /* Number 2 z + y; rows that the volume does not have are zeros. The first of a single row. */
    uint64_t *rows[SLC_VOLUME_ROWS];
    uint64_t *all;                     /* the OR */
    uint64_t *faces[SLC_VOLUME_FACES]; /* of a bundle of four rows: the OR of two */
    uint64_t *starts;                  /* first columns of runs */
    uint32_t *ranks; /* runs of the layer that begin in front of each word, and how many there are */
    /* Columns where a bundle and a neighbour both have a voxel, of one and the same component. */
    uint64_t *meets[SLC_VOLUME_KEPT];
    uint32_t *labels; /* of the runs, provisional */
    size_t n_runs;
} slc_volume_layer;

typedef struct slc_volume_strip {
    size_t pitch, bundles; /* words from bundle to bundle, and how many there are */
    uint32_t connectivity;
    bool equal; /* runs are of equal values, in single rows, and may lie side by side */
    /* Provisional labels: the next one, and each one's parent, which is smaller, or itself. */
    uint32_t fresh, *parent;
    /* Of the bundle at work: which runs touch which labels of neighbours, and labels that are to be one. */
    uint32_t *edge_run, *edge_label, *low, *high;
    /* Of the layer at work, a word more: columns that tell which runs touch those of a neighbour. */
    uint64_t *edges[SLC_VOLUME_NEIGHBOURS][SLC_VOLUME_SIDES];
    uint64_t *touch; /* where a layer touches a neighbour that is not kept */
    /* Of equal values, for each word: with whom it has edges, bit SLC_VOLUME_SIDES · neighbour + side. */
    uint64_t *which;
} slc_volume_strip;

/* By how many words a neighbour's bundle is away, in its layer. */
static inline ptrdiff_t slc_volume_away(const slc_volume_strip *strip, int neighbour)
{
    const ptrdiff_t pitch = (ptrdiff_t)strip->pitch;
    return neighbour == SLC_VOLUME_BEFORE ? 0 : neighbour == SLC_VOLUME_BEFORE_DOWN ? pitch : -pitch;
}

/* Voxels of a layer of equal values, which is one slice, and of the slice before it (NULL: none). */
typedef struct slc_volume_values {
    const char *own, *before;
    ptrdiff_t stride;
    size_t width, size; /* of a voxel, bytes */
    bool above;         /* rows touch those of their own slice, too */
} slc_volume_values;

/* A layer whose voxels are to be summed. */
typedef struct slc_volume_sum_layer {
    const slc_volume_layer *layer;
    size_t pitch, bundles, n_rows; /* of a bundle 1 or 4 rows */
    uint64_t z;                    /* of its first rows */
    uint32_t newest;               /* of single rows: labels up to this have been begun */
    uint32_t earlier;              /* labels up to this have their record at another place: */
    const uint32_t *places;
    uint32_t *columns, *begins, *labels; /* room for a bundle's runs, and SLC_VOLUME_SPARE more */
} slc_volume_sum_layer;

typedef struct slc_volume_kernels {
    const char *target;
    /* Sets all, starts, ranks and n_runs of a layer of n words whose bundles have 1 or 4 rows. Of 2 rows, the
     * second are the starts. */
    void (*look)(slc_volume_layer *layer, size_t n, size_t n_rows);
    /* Bit i: elements i of two rows are equal; of 1, 2, 4 or 8 bytes. Writes (n + 63) / 64 words. */
    void (*equal)(const void *a, const void *b, size_t n, size_t size, uint64_t *bits);
    /* Of a row of equal values: voxels that are not 0, and the first ones of runs of one value. Writes
     * (width + 63) / 64 words of each. */
    void (*values)(const void *row, size_t width, size_t size, uint64_t *all, uint64_t *starts);
    /* Finds the edges of such a layer: sets its meets, and marks and which there are. */
    void (*compare)(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before,
                    const slc_volume_values *values);
    /* Finds the edges of a layer, to its own bundles and to those of the layer before (NULL: none). */
    void (*meet)(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before);
    /* Gives the runs of a layer labels: of the runs they touch, which become one, or new ones. */
    void (*join)(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before);
    /* Makes one of the labels of runs and of those that they touch in the layer before; all have labels. */
    void (*border)(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before);
    /* labels[i] = table[labels[i]]. */
    void (*relabel)(const uint32_t *table, uint32_t *labels, size_t n);
    /* Of the runs of bundle j, of four rows, whose labels are `first` or later: lowers firsts[label - first]
     * to the first voxel of the run, a number of a bit in rows of `pitch` words: first those of the layer's
     * one slice, then those of the other. */
    void (*begin)(slc_volume_strip *strip, const slc_volume_layer *layer, size_t j, uint32_t first,
                  uint64_t *firsts);
    /* Adds the voxels of a layer to the records of its runs' labels. Of bundles of four rows all records have
     * been begun; of single rows, which come in order, they are begun here. That of label 0 may be written.
     */
    void (*sum)(slc_volume_sum_layer *layer, slc_volume_sums *records);
    /* As slc_volume_sums_put(), of the first so many; returns how many. */
    size_t (*put)(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row);
    /* Writes rows of labels, `width` wide, of a bundle of 1 or 4 rows, or of 1 row and its starts (n_rows 2):
     * the label of its run where a row has a voxel, else 0; a row of 4 whose output is NULL is left out, but
     * not all are. `labels` are those of the bundle's runs; returns how many there are. `far`: past the
     * caches, where the addresses allow it. */
    size_t (*write)(const uint64_t *const *rows, size_t n_rows, const uint32_t *labels, size_t width,
                    uint32_t *const *out, bool far);
    /* What was written past the caches is there for other threads. */
    void (*finish)(void);
} slc_volume_kernels;

#define SLC_VOLUME_DECLARE(target, TARGET) extern const slc_volume_kernels slc_volume_kernels_##target;
SIMD_FOR_EACH(SLC_VOLUME_DECLARE)
#undef SLC_VOLUME_DECLARE

/* The table of a target that is compiled in. */
const slc_volume_kernels *slc_volume_kernels_of(slc_simd_target target);
/* The target that a choice means. */
slc_simd_target slc_volume_choose(slc_simd_target choice);

extern const slc_simd_kernel slc_volume_kernel_rows[];

#endif
