/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's clustering on a GPU, for tests: digis to the device, in memory that is poisoned and no larger than it
 * needs to be, and everything that comes back in one struct, to be compared with the oracle.
 */
#ifndef TESTS_SUPPORT_CMS_GPU_H
#define TESTS_SUPPORT_CMS_GPU_H

#include "cms/cuda/cms_cluster_cuda.h"
#include "cuda/cuda_stream.h"
#include "support/cmocka_all.h"

enum { CMS_GPU_FIRST_EVENT = 1000000, CMS_GPU_FAULTS = 1 << 16 };

typedef struct cms_gpu_results {
    slc_cms_digis digis;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_faults faults;
    slc_cms_cuda_counts counts;
} cms_gpu_results;

#define ASSERT_OK(call)                                                                                      \
    do {                                                                                                     \
        slc_error error = {SLC_OK, ""};                                                                      \
        if ((call) != SLC_OK) {                                                                              \
            fail_msg("%s: %s", #call, error.text);                                                           \
        }                                                                                                    \
    } while (0)

/* Opens the first GPU. Where there is none, says so and returns false: the test exits with 77. */
bool cms_gpu_open(void);
int cms_gpu_close(void **state); /* a teardown of cmocka's */
slc_cuda_stream *cms_gpu_stream(void);
bool cms_gpu_small(void); /* a checker looks on, and makes everything some hundred times slower */

slc_cms_cluster_config cms_gpu_defaults(void);
const char *cms_gpu_algorithm(int algorithm);
/* findclus-seed has one policy for duplicates only. */
bool cms_gpu_can(int algorithm, const slc_cms_cluster_config *config);

void cms_gpu_to_host(void *to, const void *from, size_t bytes);
/* A job for the digis, with room for so many rows of modules and clusters. Memory is the same for all jobs.
 */
slc_cms_cuda_cluster cms_gpu_job(const slc_cms_cluster_config *config, const slc_cms_digis *digis,
                                 size_t modules, size_t clusters);
/* Waits for a job, and gets what it found. Positions, which are not the clustering's, become 0. */
void cms_gpu_collect(const slc_cms_cuda_cluster *job, cms_gpu_results *r);
/* Clusters r->digis. */
void cms_gpu_run(const slc_cms_cluster_config *config, int algorithm, cms_gpu_results *r);

/* Runs the oracle on expected->digis. */
void cms_gpu_expect(const slc_cms_cluster_config *config, cms_gpu_results *expected);
void cms_gpu_assert_same(const cms_gpu_results *found, const cms_gpu_results *expected, const char *what);
/* With both algorithms against the oracle; leaves the results of the library's own in `r`. */
void cms_gpu_assert_as_oracle(const slc_cms_cluster_config *config, cms_gpu_results *r);
void cms_gpu_clear(cms_gpu_results *r);

#endif
