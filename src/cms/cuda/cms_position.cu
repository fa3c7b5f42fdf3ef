/* SPDX-License-Identifier: Apache-2.0
 * Positions of clusters on a GPU, the CUDA twin of cms_position.c: a thread for each cluster around the
 * formulas of cms_position_core.h. */
#include "cms/cms_position_core.h"
#include "cms/cuda/cms_decode_cuda.h"
#include "cuda/cuda_device.h"

enum { THREADS = 256, WARP = 32, GRID_BLOCKS = 8 };

static __global__ void __launch_bounds__(THREADS)
    position(const slc_cms_position_config config, const slc_cms_clusters clusters, uint64_t *n_pixels)
{
    const uint32_t n = clusters.head.event_offset[clusters.head.n_events];
    uint32_t pixels = 0; /* of this warp's clusters: 2^32 digis are not in a batch */
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const uint32_t module = clusters.module[i];
        pixels += clusters.n_pixels[i];
        slc_cms_position_of(
            &config, module < config.n_planes ? &config.planes[module] : &config.plane_default, &clusters, i);
    }
    for (uint32_t step = WARP / 2; step > 0; step /= 2) {
        pixels += __shfl_xor_sync(0xffffffffU, pixels, step);
    }
    if (threadIdx.x % WARP == 0 && pixels > 0) {
        atomicAdd(reinterpret_cast<unsigned long long *>(n_pixels), pixels);
    }
}

slc_status slc_cms_cuda_position_run(const slc_cms_position_config *config, const slc_cms_clusters *clusters,
                                     uint64_t *n_pixels, uint32_t multiprocessors, struct CUstream_st *stream,
                                     slc_error *error)
{
    position<<<multiprocessors * GRID_BLOCKS, THREADS, 0, stream>>>(*config, *clusters, n_pixels);
    return slc_cuda_check(cudaGetLastError(), "launching the positions", error);
}
