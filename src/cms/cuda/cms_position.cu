/* SPDX-License-Identifier: Apache-2.0
 * Positions of clusters on a GPU, the CUDA twin of cms_position.c: a thread for each cluster around the
 * formulas of cms_position_core.h. */
#include "cms/cms_position_core.h"
#include "cms/cuda/cms_decode_cuda.h"
#include "cuda/cuda_device.h"

enum { THREADS = 256, GRID_BLOCKS = 8 };

static __global__ void __launch_bounds__(THREADS)
    position(const slc_cms_position_config config, const slc_cms_clusters clusters)
{
    const uint32_t n = clusters.head.event_offset[clusters.head.n_events];
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const uint32_t module = clusters.module[i];
        slc_cms_position_of(
            &config, module < config.n_planes ? &config.planes[module] : &config.plane_default, &clusters, i);
    }
}

slc_status slc_cms_cuda_position_run(const slc_cms_position_config *config, const slc_cms_clusters *clusters,
                                     uint32_t multiprocessors, struct CUstream_st *stream, slc_error *error)
{
    position<<<multiprocessors * GRID_BLOCKS, THREADS, 0, stream>>>(*config, *clusters);
    return slc_cuda_check(cudaGetLastError(), "launching the positions", error);
}
