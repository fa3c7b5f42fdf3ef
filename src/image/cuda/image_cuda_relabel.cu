/* SPDX-License-Identifier: Apache-2.0
 * Labels of a strip of an image replaced by those of the image, through a table: what the processor found out
 * when it joined the strips (image_cuda_strips.c).
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_rows.cuh"
#include "image/cuda/image_cuda_stages.h"

namespace
{

using namespace slc_image_rows;

__global__ void __launch_bounds__(THREADS)
    relabel(const extent size, const rows labels, const uint32_t *table)
{
    const stretch s = stretch_of_warp(size);
    if (!s.here) {
        return;
    }
    uint32_t *row = (uint32_t *)const_cast<char *>(row_of(labels, s.image, s.y));
    const uint32_t first = s.x + threadIdx.x % WARP;
    uint32_t label[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) { /* all loads are on their way before the first is needed */
        const uint32_t x = first + (uint32_t)(k * WARP);
        label[k] = x < size.width ? row[x] : 0;
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t x = first + (uint32_t)(k * WARP);
        if (x < size.width) {
            row[x] = table[label[k]];
        }
    }
}

} // namespace

slc_status slc_image_cuda_relabel(const slc_image_cuda_job *job, const uint32_t *table, slc_error *error)
{
    const extent size = {job->width, job->height, 1};
    const rows labels = {(const char *)job->labels, job->label_stride, 0};
    SLC_LAUNCH((relabel), blocks_for(size), THREADS, 0, job->stream, size, labels, table);
    return slc_cuda_check(cudaGetLastError(), "launching the replacement of labels", error);
}
