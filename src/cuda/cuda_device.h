/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: every call of the runtime is checked, and what failed becomes one
 * line for the caller. Files that include this see the runtime's C interface (cuda_runtime_api.h).
 */
#ifndef SLUICE_CUDA_DEVICE_H
#define SLUICE_CUDA_DEVICE_H

#include <sluice/cuda.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SLC_OK for cudaSuccess. Otherwise *error gets `what`, the runtime's name and its text; SLC_ERR_MEMORY where
 * memory ran out, SLC_ERR_UNSUPPORTED where there is no device, no driver or no code for the device, and
 * SLC_ERR_IO for all that a working device does not do. Takes the error out of the runtime's memory. */
slc_status slc_cuda_check(cudaError_t code, const char *what, slc_error *error);

/* Makes `device` that of the calling thread. */
slc_status slc_cuda_use(uint32_t device, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
