/* SPDX-License-Identifier: Apache-2.0
 *
 * The naive algorithm, against which others are measured: a thread for each pixel. Every pixel is a node; it
 * is united with its neighbours on the left and above through the table in the device's memory; then it
 * searches its root, and adds itself to the root's features by atomic operations, as the naive analysis of
 * section 4.4 of A. Hennequin's thesis (2022) does.
 *
 * Searches halve their paths. Without that the pixels of a row, which are all united at once, make a chain as
 * long as the row, and every search goes along it.
 */
#include "baselines/image_naive.h"

#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_number.cuh"

namespace
{

enum { WARP = 32, ROWS = 4 };

__global__ void __launch_bounds__(WARP *ROWS) start(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            const uint32_t key = slc_image_key(p, image, y) + x;
            if (slc_image_pixel(p, slc_image_row(p, image, y), x)) {
                table[key] = key;
            }
        }
    }
}

__device__ void join(uint32_t *table, uint32_t a, uint32_t b)
{
    slc_image_unite_roots(table, slc_image_find_halving(table, a), slc_image_find_halving(table, b));
}

template <int CONNECTIVITY>
__global__ void __launch_bounds__(WARP *ROWS) unite(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            const uint8_t *row = slc_image_row(p, image, y);
            const uint32_t key = slc_image_key(p, image, y) + x, up_key = key - p.pitch;
            if (!slc_image_pixel(p, row, x)) {
                continue;
            }
            if (x > 0 && row[x - 1] != 0) {
                join(table, key, key - 1);
            }
            if (y == 0) {
                continue;
            }
            const uint8_t *up = row - p.stride;
            if (up[x] != 0) {
                join(table, key, up_key);
            }
            if (CONNECTIVITY == 8 && x > 0 && up[x - 1] != 0) {
                join(table, key, up_key - 1);
            }
            if (CONNECTIVITY == 8 && slc_image_pixel(p, up, x + 1)) {
                join(table, key, up_key + 1);
            }
        }
    }
}

/* ---- the last steps ---------------------------------------------------------------------------- */

__global__ void __launch_bounds__(WARP *ROWS)
    relabel(const slc_image_picture p, uint32_t *table, const slc_image_labels_out out)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    if (x >= p.width || !slc_image_labels_fit(out)) {
        return;
    }
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            const bool in = slc_image_row(p, image, y)[x] != 0;
            const uint32_t key = slc_image_key(p, image, y) + x;
            slc_image_label_row(out, image, y)[x] =
                in ? slc_image_label_of(out, image, slc_image_find_halving(table, key)) : 0;
        }
    }
}

__global__ void __launch_bounds__(WARP *ROWS)
    vote(const slc_image_picture p, uint32_t *table, const slc_image_cuda_sums sums)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            if (slc_image_pixel(p, slc_image_row(p, image, y), x)) {
                const uint32_t key = slc_image_key(p, image, y) + x;
                slc_image_sums_add(sums, slc_image_find_halving(table, key), slc_image_part_of(x, y, 1));
            }
        }
    }
}

} // namespace

extern "C" slc_status slc_image_naive_finish(const slc_image_cuda_job *job,
                                             const slc_image_cuda_numbers *numbers, slc_error *error)
{
    const dim3 blocks = slc_image_cover(job, WARP, ROWS), threads(WARP, ROWS);
    const slc_image_picture picture = slc_image_picture_of(job);
    slc_status status = slc_image_cuda_numbers_run(job, numbers, true, error);
    if (status == SLC_OK && job->labels != nullptr) {
        SLC_LAUNCH((relabel), blocks, threads, 0, job->stream, picture, numbers->table,
                   slc_image_labels_out_of(job, numbers));
        status = slc_cuda_check(cudaGetLastError(), "launching the relabelling of pixels", error);
    }
    if (status == SLC_OK && job->has_features) {
        SLC_LAUNCH((vote), blocks, threads, 0, job->stream, picture, numbers->table, numbers->sums);
        status = slc_cuda_check(cudaGetLastError(), "launching the features of pixels", error);
    }
    return status == SLC_OK && job->has_features ? slc_image_cuda_numbers_gather(job, numbers, error)
                                                 : status;
}

extern "C" size_t slc_image_cuda_naive_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}

extern "C" slc_status slc_image_cuda_naive_launch(const slc_image_cuda_job *job, slc_error *error)
{
    const dim3 blocks = slc_image_cover(job, WARP, ROWS), threads(WARP, ROWS);
    const slc_image_picture picture = slc_image_picture_of(job);
    const slc_image_cuda_numbers numbers = slc_image_cuda_numbers_place(job);
    SLC_LAUNCH((start), blocks, threads, 0, job->stream, picture, numbers.table);
    slc_status status = slc_cuda_check(cudaGetLastError(), "launching the naive nodes", error);
    if (status != SLC_OK) {
        return status;
    }
    if (job->connectivity == 4) {
        SLC_LAUNCH((unite<4>), blocks, threads, 0, job->stream, picture, numbers.table);
    } else {
        SLC_LAUNCH((unite<8>), blocks, threads, 0, job->stream, picture, numbers.table);
    }
    status = slc_cuda_check(cudaGetLastError(), "launching the naive unions", error);
    return status != SLC_OK ? status : slc_image_naive_finish(job, &numbers, error);
}
