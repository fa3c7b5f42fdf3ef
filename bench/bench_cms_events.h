/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the parts of `sluice bench cms` share.
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

/* Appends a line; `seconds` are sorted here. SLC_ERR_CAPACITY where there are too many. */
slc_status slc_bench_cms_add(slc_bench_cms_result *result, const char *name, uint64_t digis, double *seconds,
                             uint32_t n, double bytes, double bytes_per_second);

/* The lines of a GPU. */
slc_status slc_bench_cms_cuda(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                              slc_bench_cms_result *result, slc_error *error);

#endif
