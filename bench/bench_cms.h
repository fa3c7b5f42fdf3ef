/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the CMS chain and its kernels, on a CPU core and on a GPU (`sluice bench cms`).
 */
#ifndef SLUICE_BENCH_CMS_H
#define SLUICE_BENCH_CMS_H

#include "bench/bench.h"
#include <sluice/cms_chain.h>

typedef struct slc_bench_cms_config {
    uint32_t events; /* of a batch */
    uint32_t repetitions;
    uint64_t seed;
    const char *device; /* as slc_cms_config.exec.device */
} slc_bench_cms_config;

/* Times every stage and the whole chain on slc_sim_cms_event, and the clustering on slc_sim_cms_varied. On a
 * GPU also: findclus-seed beside the kernel of this library, the bandwidth that bounds them, one event alone
 * from digis on the device, and batches from host memory over 1, 2 and 4 streams beside the copies alone and
 * the compute alone. SLC_ERR_UNSUPPORTED if there is no such device. The configuration is a
 * slc_bench_cms_config. */
slc_bench_function slc_bench_cms;

#endif
