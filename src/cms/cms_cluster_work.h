/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: the kernel that clusters the digis of one module, its working memory, and the search for
 * the stretches of an event that belong to one module. How they work stands in cms_cluster.simd.c and
 * cms_cluster_split.simd.c.
 */
#ifndef SLUICE_CMS_CLUSTER_WORK_H
#define SLUICE_CMS_CLUSTER_WORK_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

#include <sluice/cms_chain.h>

enum {
    SLC_CMS_MOST_MODULES = 4096,
    SLC_CMS_MOST_SIDE = 2048,
    SLC_CMS_SPARE = 64 /* elements behind tables that kernels may overwrite */
};

/* A bit for each place of a module, in words of 64 along y. A word in front and a row above are never set,
 * and so is at least one bit behind each row: what is next to a pixel can be looked at without asking where
 * the module ends. `places` is the end of the bits, and the place of digis that are none. */
typedef struct slc_cms_grid {
    uint32_t rows, columns;
    uint32_t row_words;
    uint32_t words; /* the row above included */
    uint32_t places;
    uint64_t reciprocal; /* of row_words, times 2^32, rounded up */
} slc_cms_grid;

/* What becomes a cluster unless the cut is against it, in the order of the first runs. */
typedef struct slc_cms_sums {
    uint64_t charge, charge_x_min, charge_x_max, charge_y_min, charge_y_max;
    uint32_t n_pixels;
    uint32_t x_min, x_max, y_min, y_max;
    uint32_t padding; /* to a line of the cache */
} slc_cms_sums;

typedef struct slc_cms_cluster_work {
    slc_cms_grid grid;
    size_t digis; /* that there is room for */
    /* By word: bits and flags are zeros between calls. */
    uint64_t *bits;
    uint8_t *touched;          /* has it a bit */
    uint64_t *flags;           /* the same as bits */
    uint32_t *before, *n_runs; /* pixels and beginnings of runs in front of it */
    uint32_t *used;            /* the words that have a bit, rising */
    /* By digi of the module. */
    uint32_t *place; /* then its rank, then the number of its sums */
    /* By rank of a place among those that are set. */
    uint64_t *charge;  /* then, how much there is in front of it */
    uint32_t *count;   /* likewise entries, where there are more than places */
    uint32_t *of_rank; /* number of its sums */
    /* By run. */
    uint32_t *run_place, *run_rank, *parent, *label; /* label: number of its sums */
    uint32_t *roots, *others;                        /* first runs of clusters, and all others */
    uint32_t *linked;                                /* runs that touch one above, and the bits there */
    uint64_t *window;
    /* By cluster, before the cut. The last one is of digis that are none. */
    slc_cms_sums *sums;
    uint32_t *first; /* digi of the stretch */
    int32_t *number; /* in the module, behind the cut */
    /* Digis that are the first ones of clusters that pass: flags, which are zeros between calls, the same as
     * bits, and as a list. */
    uint8_t *flag;
    uint64_t *flag_bits;
    uint32_t *starter;
} slc_cms_cluster_work;

/* Digis of one module, and others that are none, in the order of the event. */
typedef struct slc_cms_stretch {
    const uint16_t *module, *x, *y, *adc;
    const uint32_t *order; /* numbers of the digis in their event; NULL: first, first + 1 … */
    uint32_t first, n;
    uint16_t id;
} slc_cms_stretch;

typedef struct slc_cms_stretch_result {
    uint32_t n_valid;
    uint32_t first;      /* digi of the event, where n_valid is not 0 */
    uint32_t left_out;   /* the first digi beyond max_module_digis; UINT32_MAX: none */
    uint32_t n_clusters; /* rows added to the clusters */
} slc_cms_stretch_result;

/* Where stretches begin. */
typedef struct slc_cms_split {
    uint32_t n;
    uint32_t begin[SLC_CMS_MOST_MODULES + 1]; /* entry n is the end */
    uint16_t id[SLC_CMS_MOST_MODULES];
    uint64_t seen[SLC_CMS_MOST_MODULES / 64]; /* modules */
    uint16_t which[SLC_CMS_MOST_MODULES];     /* stretch of a module that was seen */
    bool outside;                             /* there may be digis outside of the modules */
} slc_cms_split;

typedef struct slc_cms_split_kernels {
    const char *target;
    /* Finds the stretches of n digis; false where a module comes again behind another one. Whatever is not in
     * a module belongs to the stretch in front of it. */
    bool (*split)(const slc_cms_cluster_config *config, const slc_cms_digis *digis, size_t begin, uint32_t n,
                  slc_cms_split *split);
} slc_cms_split_kernels;

typedef struct slc_cms_cluster_kernels {
    const char *target;
    /* Clusters a stretch: writes `cluster` for each of its digis and appends rows to the clusters. */
    slc_cms_stretch_result (*cluster)(const slc_cms_cluster_config *config, slc_cms_cluster_work *work,
                                      const slc_cms_stretch *stretch, int32_t *cluster,
                                      slc_cms_clusters *clusters);
} slc_cms_cluster_kernels;

#define SLC_CMS_DECLARE(target, TARGET)                                                                      \
    extern const slc_cms_split_kernels slc_cms_split_kernels_##target;                                       \
    extern const slc_cms_cluster_kernels slc_cms_cluster_kernels_##target;
SIMD_FOR_EACH(SLC_CMS_DECLARE)
#undef SLC_CMS_DECLARE

/* The tables of a target that is compiled in; NULL for another. */
const slc_cms_split_kernels *slc_cms_split_kernels_of(slc_simd_target target);
const slc_cms_cluster_kernels *slc_cms_cluster_kernels_of(slc_simd_target target);

/* Working memory for stretches of up to so many digis, in one block: its size, and the same with `at`, which
 * is aligned to SLC_BLOCK_ALIGN, its parts. The block is to be zeros. */
void slc_cms_grid_of(uint32_t rows, uint32_t columns, slc_cms_grid *grid);
size_t slc_cms_cluster_work_carve(slc_cms_cluster_work *work, const slc_cms_grid *grid, size_t digis,
                                  char *at);

extern const slc_simd_kernel slc_cms_cluster_kernel_rows[];

#endif
