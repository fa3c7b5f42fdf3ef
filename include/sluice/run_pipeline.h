/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches through threads: one reads, many work, one writes, in the order in which they were read. Memory is
 * bounded by the number of slots; a slot is what the caller wants it to be.
 */
#ifndef SLUICE_RUN_PIPELINE_H
#define SLUICE_RUN_PIPELINE_H

#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the pipeline calls. Those with a status return SLC_OK to go on. */
typedef struct slc_run_stages {
    void *context;
    /* Fills slot `slot` with the next batch; SLC_END where there is none. One call at a time, from the
     * pipeline's reading thread, ahead of the workers. */
    slc_status (*read)(void *context, uint32_t slot, slc_error *error);
    /* Works on a slot that was read. Worker w calls it for one slot at a time; NULL error text is never kept.
     */
    slc_status (*work)(void *context, uint32_t slot, uint32_t worker, slc_error *error);
    /* Takes the result of a slot. One call at a time, in the order of reading, in the thread that called
     * slc_run_pipeline. */
    slc_status (*write)(void *context, uint32_t slot, slc_error *error);
    /* Called by worker w before its first slot and after its last, on its own thread and where it is bound:
     * memory that it takes here is local. Either may be NULL. */
    slc_status (*begin)(void *context, uint32_t worker, slc_error *error);
    void (*end)(void *context, uint32_t worker);
    /* Asked between slots: true ends the reading; what was read is still worked on and written. May be NULL.
     */
    bool (*stop)(void *context);
    /* Called by the reading thread for the slot that it has just read, where others that were read wait for a
     * worker already: what of the work may be done there is then done. May be NULL. */
    void (*early)(void *context, uint32_t slot);
} slc_run_stages;

typedef struct slc_run_pipeline_config {
    uint32_t threads; /* workers; 0: one for each processor that may be used. 1: all is done in the caller's
                         thread, but for reading ahead where `slots` > 1 */
    uint32_t slots; /* batches in flight; 0: 2 · threads + 2, but 1 where one worker has the only processor */
    slc_bind bind;
} slc_run_pipeline_config;

/* How the time went, in seconds of wall time; reading and writing overlap with work. */
typedef struct slc_run_pipeline_times {
    double total;
    double reading, writing; /* inside the calls */
    double working;          /* inside the calls, summed over the workers */
    double starving;         /* workers waiting for something to read, summed */
    uint64_t slots;          /* batches that went through */
} slc_run_pipeline_times;

/* How many slots and workers a configuration means, for the caller to make them. */
SLC_API uint32_t slc_run_pipeline_workers(const slc_run_pipeline_config *config);
SLC_API uint32_t slc_run_pipeline_slots(const slc_run_pipeline_config *config);

/* Runs until `read` ends, `stop` says so, or a call fails: then nothing more is read, worked on or written
 * behind that slot (slots before it are written), and the status and text of the first failing slot, in the
 * order of reading, are returned. SLC_ERR_MEMORY where threads cannot be had. `times` may be NULL. */
SLC_API slc_status slc_run_pipeline(const slc_run_pipeline_config *config, const slc_run_stages *stages,
                                    slc_run_pipeline_times *times, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
