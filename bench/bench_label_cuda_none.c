/* SPDX-License-Identifier: Apache-2.0
 * Measurements of labelling and of a GPU itself in a build without CUDA: there are none. */
#include "bench/bench_gpu.h"
#include <sluice/cuda.h>

/* Why there is no such device. */
static slc_status none(const char *device, slc_error *error)
{
    uint32_t number;
    return slc_cuda_choose(device, &number, error);
}

slc_status slc_bench_label_cuda_bench(const slc_bench_label_cuda_config *config,
                                      bool (*visit)(void *context, const slc_bench_label_cuda_row *row),
                                      void *context, slc_error *error)
{
    (void)visit;
    (void)context;
    return none(config->device, error);
}

slc_status slc_bench_label_cuda_streams(const slc_bench_label_cuda_config *config, uint32_t most,
                                        bool (*visit)(void *context,
                                                      const slc_bench_label_cuda_streams_row *row),
                                        void *context, slc_error *error)
{
    (void)most;
    (void)visit;
    (void)context;
    return none(config->device, error);
}

slc_status slc_bench_gpu_speed_of(const char *device, uint32_t repetitions, slc_bench_gpu_speed *speed,
                                  slc_error *error)
{
    (void)repetitions;
    (void)speed;
    return none(device, error);
}

slc_status slc_bench_gpu_bench(const char *device, uint32_t tests, uint32_t repetitions,
                               bool (*visit)(void *context, const slc_bench_gpu_row *row), void *context,
                               slc_error *error)
{
    (void)tests;
    (void)repetitions;
    (void)visit;
    (void)context;
    return none(device, error);
}
