/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside bench/: what the parts of `sluice bench cms` share.
 */
#ifndef SLUICE_BENCH_CMS_EVENTS_H
#define SLUICE_BENCH_CMS_EVENTS_H

#include "bench/bench_cms.h"
#include <sluice/sim_cms.h>

/* The events that are measured. */
typedef struct slc_bench_cms_events {
    slc_sim_cms *sim;
    slc_batch batch;      /* raw */
    slc_cms_digis varied; /* digis of slc_sim_cms_varied */
} slc_bench_cms_events;

/* Adds a line. `bytes`: that the work must move; 0: not counted. `bound`: seconds that it must take; 0: not
 * known. */
void slc_bench_cms_add(slc_bench_report *report, const char *name, uint64_t digis, slc_bench_time time,
                       double bytes, double bound);

/* The flow of `sluice cms`, from a file to results: so many streams on each of the devices. */
typedef struct slc_bench_cms_flow {
    const slc_bench_cms_events *events;
    const char *device;              /* may be several */
    uint32_t wanted, streams, batch; /* events of one, at most */
    size_t batch_bytes;
} slc_bench_cms_flow;
/* *digis: that went through in *time. */
slc_status slc_bench_cms_flow_run(const slc_bench_cms_flow *job, const slc_bench_plan *plan,
                                  slc_bench_time *time, uint64_t *digis, slc_error *error);

/* The lines of a GPU. */
slc_status slc_bench_cms_cuda(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                              const slc_bench_watch *watch, slc_bench_report *report, slc_error *error);

#endif
