/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of what runs on GPUs, the one symbol that libsluice-cuda exports. It knows no more of the modules
 * than that each has a struct of calls.
 */
#include "cuda/cuda_engines.h"

extern const struct slc_cuda_device_calls slc_cuda_device_calls;
extern const struct slc_cuda_stream_calls slc_cuda_stream_calls;
extern const struct slc_cuda_measure_calls slc_cuda_measure_calls;
extern const struct slc_image_cuda_calls slc_image_cuda_calls;
extern const struct slc_pet_cuda_calls slc_pet_cuda_calls;
extern const struct slc_pet_on_calls slc_pet_on_calls;
extern const struct slc_pet_look_calls slc_pet_look_calls;
extern const struct slc_pet_stage_calls slc_pet_stage_calls;
extern const struct slc_velo_cuda_calls slc_velo_cuda_calls;
#ifndef SLUICE_SIMT /* whose emulator does not know CMS's kernels */
extern const struct slc_cms_cuda_calls slc_cms_cuda_calls;
#endif

extern const slc_cuda_engines slc_cuda_engines_table __attribute__((visibility("default")));
const slc_cuda_engines slc_cuda_engines_table = {
    .abi = SLC_CUDA_ENGINES_ABI,
    .version = SLUICE_VERSION,
    .device = &slc_cuda_device_calls,
    .stream = &slc_cuda_stream_calls,
    .measure = &slc_cuda_measure_calls,
    .image = &slc_image_cuda_calls,
    .pet = &slc_pet_cuda_calls,
    .pet_on = &slc_pet_on_calls,
    .pet_look = &slc_pet_look_calls,
    .pet_stage = &slc_pet_stage_calls,
    .velo = &slc_velo_cuda_calls,
#ifndef SLUICE_SIMT
    .cms = &slc_cms_cuda_calls,
#endif
};
