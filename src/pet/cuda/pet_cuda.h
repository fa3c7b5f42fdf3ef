/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the stages of PET on a GPU. Each has an engine that is opened on a
 * stream, keeps its state from one batch to the next as its twin on the processor does, and gives the same
 * rows in the same order. Columns are in the device's memory. Counts are known to the host when a call
 * returns, so that it waits once; what overlaps is done by whoever has several streams (pet_chain_cuda.c).
 */
#ifndef SLUICE_PET_CUDA_H
#define SLUICE_PET_CUDA_H

#include "cuda/cuda_stream.h"

#include <sluice/pet_coincidence.h>
#include <sluice/pet_convert.h>
#include <sluice/pet_sort.h>

/* `n` rows of singles in the device's memory. */
typedef struct slc_pet_cuda_singles {
    uint64_t n;
    int64_t *time_ps;
    uint32_t *crystal;
    float *energy_kev;
} slc_pet_cuda_singles;

/* ---- conversion (pet_convert_cuda.c, pet_convert.cu) --------------------------------------------------- */

typedef struct slc_pet_convert_cuda slc_pet_convert_cuda;
slc_status slc_pet_convert_cuda_open(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                                     slc_cuda_stream *stream, slc_pet_convert_cuda **stage, slc_error *error);
void slc_pet_convert_cuda_close(slc_pet_convert_cuda *stage); /* NULL is allowed */
/* `frames`: n of them on the device. *singles: the stage's memory, until its next call. */
slc_status slc_pet_convert_cuda_run(slc_pet_convert_cuda *stage, const slc_pet_frame *frames, size_t n,
                                    slc_pet_cuda_singles *singles, slc_faults *faults, slc_error *error);
/* The stage goes on where another, opened alike, has come to: another GPU's, say. What the other had under
 * way must be done; the copies are in this stage's stream. As for the two below. */
slc_status slc_pet_convert_cuda_take(slc_pet_convert_cuda *stage, const slc_pet_convert_cuda *other,
                                     slc_error *error);
void slc_pet_convert_cuda_counts_of(const slc_pet_convert_cuda *stage, slc_pet_convert_counts *counts);

/* ---- sort (pet_sort_cuda.c, pet_sort*.cu) ---------------------------------------------------------------
 */

typedef enum slc_pet_sort_method {
    SLC_PET_SORT_NEAR = 0,   /* by buckets of time: made for near order, and fast without it */
    SLC_PET_SORT_MERGE_SEED, /* the seed's merge sort, without its padding past the end: to compare with */
    SLC_PET_SORT_RADIX,      /* least significant digits first: to compare with */
    SLC_PET_SORT_METHODS
} slc_pet_sort_method;
const char *slc_pet_sort_method_name(slc_pet_sort_method method); /* "near", "merge-seed", "radix" */

typedef struct slc_pet_sort_cuda slc_pet_sort_cuda;
slc_status slc_pet_sort_cuda_open(const slc_pet_sort_config *config, slc_pet_sort_method method,
                                  slc_cuda_stream *stream, slc_pet_sort_cuda **stage, slc_error *error);
void slc_pet_sort_cuda_close(slc_pet_sort_cuda *stage); /* NULL is allowed */
/* As slc_pet_sort_run. *sorted and *late: the stage's memory, until its next call. */
slc_status slc_pet_sort_cuda_run(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, bool last,
                                 slc_pet_cuda_singles *sorted, slc_pet_cuda_singles *late, slc_error *error);
slc_status slc_pet_sort_cuda_take(slc_pet_sort_cuda *stage, const slc_pet_sort_cuda *other, slc_error *error);
void slc_pet_sort_cuda_counts_of(const slc_pet_sort_cuda *stage, slc_pet_sort_counts *counts);
/* All at once, stable, no state; `sorted` has room for as many, and does not overlap. It is complete when the
 * stream's work is. */
slc_status slc_pet_sort_cuda_all(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles,
                                 slc_pet_cuda_singles *sorted, slc_error *error);

/* ---- coincidences (pet_coincidence_cuda.c, pet_coincidence*.cu) -----------------------------------------
 */

typedef struct slc_pet_cuda_groups {
    uint64_t n;
    uint64_t *first, *second;
    uint32_t *size;
} slc_pet_cuda_groups;

/* The columns of slc_pet_coincidences, without `delayed`, which is the same for all. */
typedef struct slc_pet_cuda_pairs {
    uint64_t n;
    int64_t *time_ps, *dt_ps;
    uint32_t *crystal1, *crystal2;
    float *energy1_kev, *energy2_kev;
} slc_pet_cuda_pairs;

typedef struct slc_pet_coincidence_cuda slc_pet_coincidence_cuda;
slc_status slc_pet_coincidence_cuda_open(const slc_pet_coincidence_config *config, slc_cuda_stream *stream,
                                         slc_pet_coincidence_cuda **stage, slc_error *error);
void slc_pet_coincidence_cuda_close(slc_pet_coincidence_cuda *stage); /* NULL is allowed */
/* As slc_pet_coincidence_run and _run_pairs: the same rows, the same errors. *groups, *pairs: the stage's
 * memory, until its next call. */
slc_status slc_pet_coincidence_cuda_run(slc_pet_coincidence_cuda *stage, const slc_pet_cuda_singles *singles,
                                        bool last, slc_pet_cuda_groups *groups, slc_error *error);
slc_status slc_pet_coincidence_cuda_run_pairs(slc_pet_coincidence_cuda *stage,
                                              const slc_pet_cuda_singles *singles, bool last,
                                              slc_pet_cuda_pairs *pairs, slc_error *error);
/* Times in floating point: `time_ns` in place of time_ps, n and the other columns as above. */
slc_status slc_pet_coincidence_cuda_run_f64(slc_pet_coincidence_cuda *stage,
                                            const slc_pet_cuda_singles *singles, const double *time_ns,
                                            bool last, slc_pet_cuda_groups *groups, slc_error *error);
slc_status slc_pet_coincidence_cuda_take(slc_pet_coincidence_cuda *stage,
                                         const slc_pet_coincidence_cuda *other, slc_error *error);
void slc_pet_coincidence_cuda_counts_of(const slc_pet_coincidence_cuda *stage,
                                        slc_pet_coincidence_counts *counts);

/* ---- what goes out (pet_pack.cu) ----------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* Packs n pairs: times, differences, crystals, energies, each column padded to SLC_PET_CUDA_PAD bytes; and
 * adds them to *sum, numbered from `first` on. */
enum { SLC_PET_CUDA_PAD = 256 };
slc_status slc_pet_cuda_pack(const slc_pet_cuda_pairs *pairs, uint64_t first, uint32_t delayed, void *to,
                             unsigned long long *sum, void *stream, slc_error *error);

static inline size_t slc_pet_cuda_padded(size_t bytes)
{
    return (bytes + SLC_PET_CUDA_PAD - 1) / SLC_PET_CUDA_PAD * SLC_PET_CUDA_PAD;
}

/* Bytes of packed pairs and singles. */
static inline size_t slc_pet_cuda_pairs_bytes(size_t n)
{
    return 2 * slc_pet_cuda_padded(8 * n) + 4 * slc_pet_cuda_padded(4 * n);
}
static inline size_t slc_pet_cuda_singles_bytes(size_t n)
{
    return slc_pet_cuda_padded(8 * n) + 2 * slc_pet_cuda_padded(4 * n);
}

#ifdef __cplusplus
}
#endif

/* ---- what measurements use (bench/) -------------------------------------------------------------------- */

struct slc_pet_stage_calls {
    __typeof__(slc_pet_convert_cuda_open) *convert_open;
    __typeof__(slc_pet_convert_cuda_close) *convert_close;
    __typeof__(slc_pet_convert_cuda_run) *convert_run;
    __typeof__(slc_pet_sort_method_name) *sort_method_name;
    __typeof__(slc_pet_sort_cuda_open) *sort_open;
    __typeof__(slc_pet_sort_cuda_close) *sort_close;
    __typeof__(slc_pet_sort_cuda_run) *sort_run;
    __typeof__(slc_pet_sort_cuda_all) *sort_all;
    __typeof__(slc_pet_sort_cuda_counts_of) *sort_counts_of;
    __typeof__(slc_pet_coincidence_cuda_open) *coincidence_open;
    __typeof__(slc_pet_coincidence_cuda_close) *coincidence_close;
    __typeof__(slc_pet_coincidence_cuda_run) *coincidence_run;
    __typeof__(slc_pet_coincidence_cuda_run_pairs) *coincidence_run_pairs;
};
extern const struct slc_pet_stage_calls slc_pet_stage_calls;

#endif
