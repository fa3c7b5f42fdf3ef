/* SPDX-License-Identifier: Apache-2.0
 * Measurements on a GPU in a build without CUDA: there are none. */
#include "bench/bench_cms_events.h"

#include <sluice/cuda.h>

slc_status slc_bench_cms_cuda(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                              const slc_bench_watch *watch, slc_bench_report *report, slc_error *error)
{
    uint32_t device;
    (void)events;
    (void)watch;
    (void)report;
    return slc_cuda_choose(config->device, &device, error);
}
