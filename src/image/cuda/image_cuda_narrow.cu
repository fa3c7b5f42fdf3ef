/* SPDX-License-Identifier: Apache-2.0
 * Label images of 16 bits from those of 32, for callers who want half of the bytes. That all labels fit is
 * the caller's business: what is over job->limit is not touched.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_rows.cuh"
#include "image/cuda/image_cuda_stages.h"

namespace
{

using namespace slc_image_rows;

struct narrow_task {
    extent size;
    rows wide, narrow;
    const uint32_t *total; /* components in all */
    uint32_t limit;
};

__global__ void __launch_bounds__(THREADS) narrow_labels(const narrow_task task)
{
    const stretch s = stretch_of_warp(task.size);
    if (!s.here || *task.total > task.limit) {
        return;
    }
    const uint32_t *from = (const uint32_t *)row_of(task.wide, s.image, s.y);
    uint16_t *to = (uint16_t *)const_cast<char *>(row_of(task.narrow, s.image, s.y));
    const uint32_t first = s.x + threadIdx.x % WARP;
    uint32_t label[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t x = first + (uint32_t)(k * WARP);
        label[k] = x < task.size.width ? from[x] : 0;
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t x = first + (uint32_t)(k * WARP);
        if (x < task.size.width) {
            to[x] = (uint16_t)label[k];
        }
    }
}

} // namespace

slc_status slc_image_cuda_narrow(const slc_image_cuda_job *job, uint16_t *labels, ptrdiff_t stride,
                                 size_t image_stride, slc_error *error)
{
    const narrow_task task = {extent{job->width, job->height, job->images},
                              rows{(const char *)job->labels, job->label_stride, job->label_image_stride},
                              rows{(const char *)labels, stride, image_stride}, job->first + job->images,
                              job->limit};
    SLC_LAUNCH((narrow_labels), blocks_for(task.size), THREADS, 0, job->stream, task);
    return slc_cuda_check(cudaGetLastError(), "launching the narrowing of labels", error);
}
