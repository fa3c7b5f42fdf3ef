/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the CMS chain and its kernels, on a CPU core and on a GPU (`sluice bench cms`).
 */
#ifndef SLUICE_BENCH_CMS_H
#define SLUICE_BENCH_CMS_H

#include <sluice/cms_chain.h>

typedef struct slc_bench_cms_config {
    uint32_t events; /* of a batch */
    uint32_t repetitions;
    uint64_t seed;
    const char *device; /* as slc_cms_config.device */
} slc_bench_cms_config;

/* A line of the tables: the median over the repetitions. */
typedef struct slc_bench_cms_row {
    char name[48];  /* "decode", "cluster", "findclus-seed", "streams 2" … */
    uint64_t digis; /* of a batch */
    double seconds, least_seconds;
    double bytes;         /* that the work must move; 0: not counted */
    double bound_seconds; /* what moving them takes at the measured or known bandwidth; 0: not known */
} slc_bench_cms_row;
enum { SLC_BENCH_CMS_ROWS = 24 };
typedef struct slc_bench_cms_result {
    slc_bench_cms_row row[SLC_BENCH_CMS_ROWS];
    uint32_t n_rows;
    char machine[320]; /* processor or GPU, driver */
} slc_bench_cms_result;

/* Times every stage and the whole chain on slc_sim_cms_event, and the clustering on slc_sim_cms_varied. On a
 * GPU also: findclus-seed beside the kernel of this library, the bandwidth that bounds them, one event alone
 * from digis on the device, and batches from host memory over 1, 2 and 4 streams beside the copies alone and
 * the compute alone. SLC_ERR_UNSUPPORTED where there is no such device. */
slc_status slc_bench_cms(const slc_bench_cms_config *config, slc_bench_cms_result *result, slc_error *error);

#endif
