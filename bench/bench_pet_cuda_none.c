/* SPDX-License-Identifier: Apache-2.0
 * Measurements of the PET chain on a GPU in a build without CUDA: there are none. */
#include "bench/bench_pet_cuda.h"

#include <sluice/cuda.h>

slc_status slc_bench_pet_cuda(const slc_bench_pet_config *config, slc_bench_pet_result *result,
                              slc_error *error)
{
    uint32_t number;
    (void)result;
    return slc_cuda_choose(config->device, &number, error);
}
