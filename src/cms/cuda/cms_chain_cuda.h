/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the chain of cms_chain.h on a GPU. cms_chain.c has checked the configuration, resets
 * the faults and takes the time; what is left out of `config` here (strict, device) is its business. It calls
 * by way of the table at the end.
 */
#include "cms/cms_stages.h"
#ifndef SLUICE_CMS_CHAIN_CUDA_H
#define SLUICE_CMS_CHAIN_CUDA_H

#include <sluice/cms_chain.h>

typedef struct slc_cms_cuda_chain slc_cms_cuda_chain;

enum { SLC_CMS_CUDA_COLUMNS = 28 }; /* of digis, modules and clusters */

/* `device` is the number of slc_cuda_choose. `cabling` and `gains` may be NULL as in slc_cms_chain_open.
 * `factors`: of all columns in the checksum; NULL: none is asked for. */
slc_status slc_cms_cuda_open(const slc_cms_config *config, const slc_cms_cabling *cabling,
                             const slc_cms_gains *gains, const uint64_t factors[SLC_CMS_CUDA_COLUMNS],
                             uint32_t device, slc_cms_cuda_chain **chain, slc_error *error);
void slc_cms_cuda_close(slc_cms_cuda_chain *chain); /* NULL is allowed */

/* Makes room on the device for a batch with so many fragments and digis at most; the result's columns have
 * room already. */
slc_status slc_cms_cuda_reserve(slc_cms_cuda_chain *chain, const slc_batch *batch, size_t fragments,
                                size_t digis, slc_error *error);
/* `fragments` is the index of the batch (slc_cms_index_run). Fills words, columns, counts and checksum of the
 * result, and of digis, modules and clusters those that config->wanted has (the others have events and no
 * rows); adds the faults of words, pixels and modules in the order of the CPU. The checksum is of these
 * three, from digis of modules and clusters alone. */
slc_status slc_cms_cuda_run(slc_cms_cuda_chain *chain, const slc_batch *batch,
                            const slc_cms_fragments *fragments, slc_cms_result *result, slc_error *error);

slc_status slc_cms_cuda_reserve_digis(slc_cms_cuda_chain *chain, const slc_cms_digis *digis,
                                      slc_error *error);
slc_status slc_cms_cuda_run_digis(slc_cms_cuda_chain *chain, slc_cms_result *result, slc_error *error);

/* Page-locks the memory of a batch and of a result (either may be NULL), so that a GPU copies from and to it
 * at once, and while it computes; other memory goes by way of a few pieces that are page-locked. Until
 * _unlock, neither may grow or be cleared. SLC_ERR_… where the system refuses; then nothing is locked. */
slc_status slc_cms_cuda_lock(const slc_batch *batch, const slc_cms_result *result, slc_error *error);
void slc_cms_cuda_unlock(const slc_batch *batch, const slc_cms_result *result);

/* From here on a run makes the room for what it brings, when it knows how much that is, and not for all that
 * might come, and page-locks what is large, until _unlock. */
void slc_cms_cuda_lock_results(slc_cms_cuda_chain *chain);

/* Of a chain on a GPU; of others nothing. Results of it are unlocked before they grow in other ways, or are
 * cleared. */
void slc_cms_chain_lock_results(slc_cms_chain *chain);
void slc_cms_chain_unlock_result(const slc_cms_result *result);

/* ---- for measurements ---- */

/* Parts of a run, by themselves: countModules; that with findClus and numbering of clusters; the same by
 * findclus-seed; the whole clustering. */
typedef enum slc_cms_cuda_part {
    SLC_CMS_CUDA_PART_COMPUTE = 0, /* everything between the copies */
    SLC_CMS_CUDA_PART_MODULES,
    SLC_CMS_CUDA_PART_LABELS,
    SLC_CMS_CUDA_PART_SEED,
    SLC_CMS_CUDA_PART_CLUSTER,
    SLC_CMS_CUDA_PART_COPY_IN,  /* the last batch (the digis), from page-locked memory */
    SLC_CMS_CUDA_PART_COPY_OUT, /* the last result's columns, to page-locked memory */
    SLC_CMS_CUDA_PARTS
} slc_cms_cuda_part;
/* Does the part once more with what the last run left on the device, as one graph, and takes the time by the
 * device's clock; *bytes (may be NULL): what the copies move, else 0. Results on the host stay as they are.
 * _COMPUTE after a run from digis that calibrates calibrates them again. SLC_ERR_USAGE before the first run.
 */
slc_status slc_cms_cuda_time(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, double *seconds,
                             size_t *bytes, slc_error *error);
/* The GPU's chain of a chain, NULL on a core. */
slc_cms_cuda_chain *slc_cms_chain_cuda(slc_cms_chain *chain);

/* ---- the table (cuda_engines.h) ---- */

struct slc_cms_cuda_calls {
    __typeof__(slc_cms_cuda_open) *open;
    __typeof__(slc_cms_cuda_close) *close;
    __typeof__(slc_cms_cuda_reserve) *reserve;
    __typeof__(slc_cms_cuda_run) *run;
    __typeof__(slc_cms_cuda_reserve_digis) *reserve_digis;
    __typeof__(slc_cms_cuda_run_digis) *run_digis;
    __typeof__(slc_cms_cuda_lock) *lock;
    __typeof__(slc_cms_cuda_unlock) *unlock;
    __typeof__(slc_cms_cuda_time) *time;
    __typeof__(slc_cms_cuda_lock_results) *lock_results; /* it and `unlock` may be NULL, both */
};
extern const struct slc_cms_cuda_calls slc_cms_cuda_calls;

#endif
