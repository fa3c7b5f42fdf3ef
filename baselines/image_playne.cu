/* SPDX-License-Identifier: Apache-2.0
 *
 * Label equivalence by D. Playne and K. Hawick ("A new algorithm for parallel connected-component labelling
 * on GPUs", 2018), which goes back to Y. Komura (2015), in its direct form: a thread for each pixel, no
 * tiles. A pixel begins with a neighbour above or on the left as its parent; every pixel searches its root;
 * pixels with neighbours that this has not joined unite them by atomic minima; every pixel searches its root
 * again.
 *
 * With 8-connectivity, a pixel above joins all neighbours before a pixel: those in the row above touch it,
 * and the left one has it as its own upper right neighbour. Without it the left and the upper left one touch
 * each other, so only they and the upper right one are to be united. With 4-connectivity the left one and the
 * one above are joined by the pixel at the upper left, if that is set.
 *
 * Different from the paper: foreground is what is not 0, any width, several images; the last search writes
 * numbers, and features are those of the naive algorithm (image_naive.h), with its searches that halve paths.
 */
#include "baselines/image_naive.h"
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_number.cuh"

namespace
{

enum { WARP = 32, ROWS = 4 };

/* Which neighbours before a pixel are set. */
struct around {
    bool left, up, up_left, up_right;
};

__device__ __forceinline__ around look(const slc_image_picture &p, const uint8_t *row, uint32_t x, uint32_t y)
{
    around a = {x > 0 && row[x - 1] != 0, false, false, false};
    if (y > 0) {
        const uint8_t *up = row - p.stride;
        a.up = up[x] != 0;
        a.up_left = x > 0 && up[x - 1] != 0;
        a.up_right = slc_image_pixel(p, up, x + 1);
    }
    return a;
}

template <int CONNECTIVITY>
__device__ __forceinline__ uint32_t parent_of(const around &a, uint32_t key, uint32_t pitch)
{
    if (a.up) {
        return key - pitch;
    }
    if (CONNECTIVITY == 8 && a.up_left) {
        return key - pitch - 1;
    }
    if (a.left) {
        return key - 1;
    }
    return CONNECTIVITY == 8 && a.up_right ? key - pitch + 1 : key;
}

template <int CONNECTIVITY>
__global__ void __launch_bounds__(WARP *ROWS) start(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            const uint8_t *row = slc_image_row(p, image, y);
            const uint32_t key = slc_image_key(p, image, y) + x;
            if (slc_image_pixel(p, row, x)) {
                table[key] = parent_of<CONNECTIVITY>(look(p, row, x, y), key, p.pitch);
            }
        }
    }
}

__global__ void __launch_bounds__(WARP *ROWS) resolve(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            if (slc_image_pixel(p, slc_image_row(p, image, y), x)) {
                const uint32_t key = slc_image_key(p, image, y) + x;
                table[key] = slc_image_find(table, key);
            }
        }
    }
}

template <int CONNECTIVITY>
__global__ void __launch_bounds__(WARP *ROWS) reduce(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * WARP + threadIdx.x;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < p.height; y += gridDim.y * ROWS) {
            const uint8_t *row = slc_image_row(p, image, y);
            const uint32_t key = slc_image_key(p, image, y) + x;
            if (!slc_image_pixel(p, row, x)) {
                continue;
            }
            const around a = look(p, row, x, y);
            if (CONNECTIVITY == 4 && a.up && a.left && !a.up_left) {
                slc_image_unite(table, key, key - 1);
            }
            if (CONNECTIVITY == 8 && !a.up && a.up_right && (a.left || a.up_left)) {
                slc_image_unite(table, key, key - p.pitch + 1);
            }
        }
    }
}

template <int CONNECTIVITY>
slc_status launch(const slc_image_cuda_job *job, const slc_image_cuda_numbers *numbers, slc_error *error)
{
    const dim3 blocks = slc_image_cover(job, WARP, ROWS), threads(WARP, ROWS);
    const slc_image_picture picture = slc_image_picture_of(job);
    SLC_LAUNCH((start<CONNECTIVITY>), blocks, threads, 0, job->stream, picture, numbers->table);
    SLC_LAUNCH((resolve), blocks, threads, 0, job->stream, picture, numbers->table);
    SLC_LAUNCH((reduce<CONNECTIVITY>), blocks, threads, 0, job->stream, picture, numbers->table);
    return slc_cuda_check(cudaGetLastError(), "launching Playne's equivalences", error);
}

} // namespace

extern "C" size_t slc_image_cuda_playne_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}

extern "C" slc_status slc_image_cuda_playne_launch(const slc_image_cuda_job *job, slc_error *error)
{
    const slc_image_cuda_numbers numbers = slc_image_cuda_numbers_place(job);
    const slc_status status = job->connectivity == 4 ? launch<4>(job, &numbers, error)
                                                     : launch<8>(job, &numbers, error);
    return status != SLC_OK ? status : slc_image_naive_finish(job, &numbers, error);
}
