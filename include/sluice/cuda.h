/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA GPUs: which there are, and whether this library can use them. What runs on them is a library of its
 * own, libsluice-cuda, which is loaded by the first call that asks for a device. The functions are in every
 * build; in one without CUDA, and on a machine without a driver, there are no devices, and *error says why.
 */
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_cuda_device {
    char name[256];
    int major, minor; /* compute capability */
    uint32_t multiprocessors;
    size_t memory_bytes;
    double memory_bytes_per_second; /* theoretical; 0: not known */
} slc_cuda_device;

/* What the library was built for: "13.0: sm_75 sm_80 sm_86 sm_89 sm_90, PTX 90"; NULL without CUDA, or where
 * libsluice-cuda cannot be loaded. *driver (may be NULL): the version of CUDA that the driver knows, 12040
 * for 12.4; 0: no driver. */
SLC_API const char *slc_cuda_built(int *driver);

/* How many devices there are; with 0, *error (may be NULL) says why: "built without CUDA",
 * "libsluice-cuda.so.… cannot be loaded: …", "no CUDA driver", "no CUDA device". */
SLC_API uint32_t slc_cuda_devices(slc_error *error);
SLC_API slc_status slc_cuda_device_of(uint32_t device, slc_cuda_device *found, slc_error *error);

/* The device that a word names: "cuda" is the first, "cuda:N" number N. SLC_ERR_USAGE for another word,
 * SLC_ERR_UNSUPPORTED if there is no such device or none at all; *error says which there are.
 *
 * Where a flow (run_flow.h) or a labeller takes several, "cuda:0,2" names them and "all" is every one that
 * there is; here they are SLC_ERR_USAGE, unless "all" is one. */
SLC_API slc_status slc_cuda_choose(const char *word, uint32_t *device, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
