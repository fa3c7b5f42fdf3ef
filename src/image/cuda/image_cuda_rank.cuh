/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of a component by its first pixel, for all kernels that write labels or rows of features: how
 * many first pixels there are before it in raster order, from the bits of first pixels and their running sums
 * (image_cuda_job.h tells of keys and units, image_cuda_scan.cu makes the sums).
 */
#ifndef SLUICE_IMAGE_CUDA_RANK_CUH
#define SLUICE_IMAGE_CUDA_RANK_CUH

#include "cuda/cuda_kernel.cuh"

/* The row of the component whose first pixel has that key, from 0 over all images of the job. */
static __device__ __forceinline__ uint32_t slc_image_cuda_rank(const uint64_t *__restrict__ roots,
                                                               const uint32_t *__restrict__ prefix,
                                                               uint32_t key)
{
    const uint32_t unit = key >> 6;
    const unsigned long long before = __ldg(reinterpret_cast<const unsigned long long *>(roots) + unit) &
                                      ((1ULL << (key & 63U)) - 1ULL);
    return __ldg(prefix + unit) + static_cast<uint32_t>(__popcll(before));
}

#endif
