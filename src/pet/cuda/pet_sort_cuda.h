/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stage pet_sort on a GPU: what its host code (pet_sort_cuda.c) and its kernels (pet_sort*.cu)
 * share. Launchers begin work in a stream and do not wait; pointers are to the device's memory. Singles are
 * fewer than 2^32 - 1 in all, so that 32 bits number them.
 */
#ifndef SLUICE_PET_SORT_CUDA_H
#define SLUICE_PET_SORT_CUDA_H

#include "pet/cuda/pet_cuda.h"

/* Singles in their order of arrival, in two pieces. */
typedef struct slc_pet_sort_source {
    slc_pet_cuda_singles part[2];
} slc_pet_sort_source;

/* What kernels tell each other and the host. It begins as zeros. A key is a time as an unsigned number of the
 * same order. */
typedef struct slc_pet_sort_head {
    unsigned long long most, not_least; /* the largest key, and the complement of the least one */
    unsigned long long ones, zeros;     /* bits that are 1, and that are 0, in some key */
    unsigned long long largest_lag;
    int64_t latest;
    uint32_t fullest; /* singles of a bucket at most, if more than SLC_PET_SORT_MOST */
    uint32_t wide;    /* a bucket spans 2^32 ps or more */
    uint32_t cells;   /* of the refined map */
    uint32_t late;
    uint32_t below; /* how many sorted ones are below a bound */
    uint32_t far;   /* of samples, how many are far in time from those that arrived with them */
} slc_pet_sort_head;

/* `near`: pet_sort_near.cu tells how. */
enum {
    SLC_PET_SORT_BUCKET = 1536, /* singles of a bucket, and as many more as the cell has that it ends in */
    SLC_PET_SORT_MOST = 2048,   /* that a block sorts in its shared memory */
    SLC_PET_SORT_CELL = 128,    /* singles of a cell, about */
    SLC_PET_SORT_FAR = 2048     /* samples that are far from where this is no near order */
};
typedef struct slc_pet_sort_near {
    slc_pet_sort_source from;
    slc_pet_cuda_singles to;
    slc_pet_sort_head *head;
    uint32_t n, cell_bits; /* there are 2^cell_bits cells */
    uint32_t *cells;       /* counts, then the first place of each, and n behind the last one */
    uint32_t n_cells;      /* of `cells`: 2^cell_bits, or with a refined map as many as that has */
    uint32_t *map;         /* first refined cell of each cell, and behind the last one; NULL: not refined */
    uint32_t *cursor;      /* for each bucket the next place; in the end, its end */
    uint64_t *low;         /* for each bucket the least key that may be in it */
    uint32_t *sums;        /* for scans */
    void *records;         /* n of 16 bytes */
    bool grouped;          /* `from` are in the order of 256 equal parts of the range */
    uint32_t multiprocessors;
    struct CUstream_st *stream;
} slc_pet_sort_near;

typedef struct slc_pet_sort_merge {
    slc_pet_sort_source from;
    slc_pet_cuda_singles to;
    uint32_t n;
    void *records[2]; /* n of 16 bytes each */
    uint32_t *limits; /* slc_pet_sort_merge_limits */
    struct CUstream_st *stream;
} slc_pet_sort_merge;

typedef struct slc_pet_sort_radix {
    slc_pet_sort_source from;
    slc_pet_cuda_singles to, work;
    uint32_t n;
    uint64_t differing; /* bits that are not the same in all keys */
    uint32_t *counts;   /* slc_pet_sort_radix_counts */
    uint32_t *sums;     /* for a scan of them */
    struct CUstream_st *stream;
} slc_pet_sort_radix;

/* Which singles are late: pet_sort_late.cu. */
typedef struct slc_pet_sort_late {
    slc_pet_cuda_singles from;
    int64_t latest; /* before them; INT64_MIN for none */
    uint64_t horizon;
    slc_pet_sort_head *head;
    int64_t *before;  /* for each tile the latest before it */
    uint32_t *counts; /* for each tile its late ones, then those before it */
    uint32_t *sums;   /* for a scan of them */
    struct CUstream_st *stream;
} slc_pet_sort_late;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills most, not_least, ones and zeros of a head that is zero. */
slc_status slc_pet_sort_range(const slc_pet_sort_source *from, slc_pet_sort_head *head,
                              uint32_t multiprocessors, struct CUstream_st *stream, slc_error *error);

/* counts[i] becomes the sum of those before, counts[n] of all. `sums` has slc_pet_sort_scan_sums(n) words. */
uint32_t slc_pet_sort_scan_sums(uint32_t n);
slc_status slc_pet_sort_scan(uint32_t *counts, uint32_t n, uint32_t *sums, struct CUstream_st *stream,
                             slc_error *error);

/* Cells and buckets; `cells` are zero, the head knows the range. Then head->fullest and ->wide are set. Where
 * head->far is above SLC_PET_SORT_FAR, and singles are not grouped, nothing is counted: to group them first
 * is faster. */
slc_status slc_pet_sort_near_count(const slc_pet_sort_near *job, slc_error *error);
/* After that: the map of refined cells. Then head->cells is set. */
slc_status slc_pet_sort_near_refine(const slc_pet_sort_near *job, uint32_t *map, slc_error *error);
/* If no bucket is fuller than SLC_PET_SORT_MOST. */
slc_status slc_pet_sort_near_move(const slc_pet_sort_near *job, slc_error *error);
slc_status slc_pet_sort_near_finish(const slc_pet_sort_near *job, bool wide, slc_error *error);

size_t slc_pet_sort_merge_limits(uint32_t n);
slc_status slc_pet_sort_merge_run(const slc_pet_sort_merge *job, slc_error *error);

uint32_t slc_pet_sort_radix_counts(uint32_t n);
slc_status slc_pet_sort_radix_run(const slc_pet_sort_radix *job, slc_error *error);
/* To `work`, stably, by 256 equal parts of the range from the least key to the largest. */
slc_status slc_pet_sort_radix_group(const slc_pet_sort_radix *job, uint64_t least, uint64_t most,
                                    slc_error *error);

uint32_t slc_pet_sort_late_tiles(uint32_t n);
/* Fills latest, late and largest_lag of the head, and the counts. */
slc_status slc_pet_sort_late_find(const slc_pet_sort_late *job, slc_error *error);
/* After that: both in their order of arrival. */
slc_status slc_pet_sort_late_part(const slc_pet_sort_late *job, const slc_pet_cuda_singles *kept,
                                  const slc_pet_cuda_singles *late, slc_error *error);
/* head->below: how many of n times in order are below `bound`. */
slc_status slc_pet_sort_below(const int64_t *time, uint32_t n, int64_t bound, slc_pet_sort_head *head,
                              struct CUstream_st *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
