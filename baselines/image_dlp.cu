/* SPDX-License-Identifier: Apache-2.0
 *
 * Distanceless label propagation by L. Cabaret, L. Lacassagne and D. Etiemble (IPTA 2017). A block labels a
 * tile in shared memory: a pixel takes the smallest root among its own and its neighbours', and hands it at
 * once to all these roots, however far away they are, where iterative algorithms would carry it from pixel to
 * pixel. What a root held before goes on in the same way, so one pass is enough. Then tiles are united along
 * their vertical and horizontal borders in the device's memory, and all pixels search their roots.
 *
 * Written from the published description, not from the authors' code: tiles of 32 x 32, four pixels for each
 * thread. Foreground is what is not 0, any width, several images, both connectivities; the last step writes
 * numbers, and features are those of the naive algorithm (image_naive.h), with its searches that halve paths.
 */
#include "baselines/image_naive.h"
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_number.cuh"

namespace
{

enum { WARP = 32, ROWS = 8, TILE = 32, BORDER_THREADS = 128 };
const uint32_t NONE = UINT32_MAX; /* background, in a tile */

/* Unites a pixel with those of its neighbours in the tile that are before it. */
template <int CONNECTIVITY> __device__ __forceinline__ void propagate(uint32_t *tile, uint32_t x, uint32_t y)
{
    enum { MOST = 5 };
    const uint32_t at = y * TILE + x;
    const bool there[MOST] = {true, x > 0, y > 0, CONNECTIVITY == 8 && x > 0 && y > 0,
                              CONNECTIVITY == 8 && x + 1 < TILE && y > 0};
    const uint32_t place[MOST] = {at, at - 1, at - TILE, at - TILE - 1, at - TILE + 1};
    uint32_t root[MOST], least = NONE;
    for (uint32_t i = 0; i < MOST; i++) {
        root[i] = there[i] && tile[place[i]] != NONE ? slc_image_find(tile, place[i]) : NONE;
        least = root[i] < least ? root[i] : least;
    }
    for (uint32_t i = 0; i < MOST; i++) {
        if (root[i] != NONE) {
            slc_image_unite_roots(tile, root[i], least);
        }
    }
}

template <int CONNECTIVITY>
__global__ void __launch_bounds__(WARP *ROWS) label_tiles(const slc_image_picture p, uint32_t *table)
{
    __shared__ uint32_t tile[TILE * TILE];
    const uint32_t lane = threadIdx.x, x = blockIdx.x * TILE + lane;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y0 = blockIdx.y * TILE; y0 < p.height; y0 += gridDim.y * TILE) {
            for (uint32_t ty = threadIdx.y; ty < TILE; ty += ROWS) {
                const bool in = y0 + ty < p.height && slc_image_pixel(p, slc_image_row(p, image, y0 + ty), x);
                tile[ty * TILE + lane] = in ? ty * TILE + lane : NONE;
            }
            __syncthreads();
            for (uint32_t ty = threadIdx.y; ty < TILE; ty += ROWS) {
                if (tile[ty * TILE + lane] != NONE) {
                    propagate<CONNECTIVITY>(tile, lane, ty);
                }
            }
            __syncthreads();
            const uint32_t corner = slc_image_key(p, image, y0) + blockIdx.x * TILE;
            for (uint32_t ty = threadIdx.y; ty < TILE; ty += ROWS) {
                if (tile[ty * TILE + lane] != NONE) {
                    const uint32_t root = slc_image_find(tile, ty * TILE + lane);
                    table[corner + ty * p.pitch + lane] = corner + root / TILE * p.pitch + root % TILE;
                }
            }
            __syncthreads(); /* before the next tile's pixels */
        }
    }
}

/* The pixels on the right of a vertical border and their neighbours across it. */
template <int CONNECTIVITY>
__global__ void __launch_bounds__(BORDER_THREADS) unite_vertical(const slc_image_picture p, uint32_t *table)
{
    const uint32_t y = blockIdx.x * BORDER_THREADS + threadIdx.x, borders = (p.width - 1) / TILE;
    if (y >= p.height) {
        return;
    }
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        const uint8_t *row = slc_image_row(p, image, y);
        for (uint32_t border = blockIdx.y; border < borders; border += gridDim.y) {
            const uint32_t x = (border + 1) * TILE, key = slc_image_key(p, image, y) + x;
            if (row[x] == 0) {
                continue;
            }
            if (row[x - 1] != 0) {
                slc_image_unite(table, key, key - 1);
            } else if (CONNECTIVITY == 8) { /* otherwise that pixel joins them */
                if (y > 0 && (row - p.stride)[x - 1] != 0) {
                    slc_image_unite(table, key, key - p.pitch - 1);
                }
                if (y + 1 < p.height && (row + p.stride)[x - 1] != 0) {
                    slc_image_unite(table, key, key + p.pitch - 1);
                }
            }
        }
    }
}

/* The pixels below a horizontal border and their neighbours across it. */
template <int CONNECTIVITY>
__global__ void __launch_bounds__(BORDER_THREADS) unite_horizontal(const slc_image_picture p, uint32_t *table)
{
    const uint32_t x = blockIdx.x * BORDER_THREADS + threadIdx.x, borders = (p.height - 1) / TILE;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t border = blockIdx.y; border < borders; border += gridDim.y) {
            const uint32_t y = (border + 1) * TILE, key = slc_image_key(p, image, y) + x;
            const uint8_t *row = slc_image_row(p, image, y), *up = row - p.stride;
            if (!slc_image_pixel(p, row, x)) {
                continue;
            }
            if (up[x] != 0) {
                slc_image_unite(table, key, key - p.pitch);
            } else if (CONNECTIVITY == 8) {
                if (x > 0 && up[x - 1] != 0) {
                    slc_image_unite(table, key, key - p.pitch - 1);
                }
                if (slc_image_pixel(p, up, x + 1)) {
                    slc_image_unite(table, key, key - p.pitch + 1);
                }
            }
        }
    }
}

/* Blocks along borders of `length` pixels, with y over the borders and z over the images. */
dim3 cover_borders(const slc_image_cuda_job *job, uint32_t length, uint32_t borders)
{
    const uint32_t most = 65535;
    return dim3((length - 1) / BORDER_THREADS + 1, borders < most ? borders : most,
                job->images < most ? job->images : most);
}

template <int CONNECTIVITY>
slc_status launch(const slc_image_cuda_job *job, const slc_image_cuda_numbers *numbers, slc_error *error)
{
    const slc_image_picture picture = slc_image_picture_of(job);
    const uint32_t vertical = (job->width - 1) / TILE, horizontal = (job->height - 1) / TILE;
    SLC_LAUNCH((label_tiles<CONNECTIVITY>), slc_image_cover(job, TILE, TILE), dim3(WARP, ROWS), 0,
               job->stream, picture, numbers->table);
    if (vertical > 0) {
        SLC_LAUNCH((unite_vertical<CONNECTIVITY>), cover_borders(job, job->height, vertical),
                   dim3(BORDER_THREADS), 0, job->stream, picture, numbers->table);
    }
    if (horizontal > 0) {
        SLC_LAUNCH((unite_horizontal<CONNECTIVITY>), cover_borders(job, job->width, horizontal),
                   dim3(BORDER_THREADS), 0, job->stream, picture, numbers->table);
    }
    return slc_cuda_check(cudaGetLastError(), "launching label propagation", error);
}

} // namespace

extern "C" size_t slc_image_cuda_dlp_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}

extern "C" slc_status slc_image_cuda_dlp_launch(const slc_image_cuda_job *job, slc_error *error)
{
    const slc_image_cuda_numbers numbers = slc_image_cuda_numbers_place(job);
    const slc_status status = job->connectivity == 4 ? launch<4>(job, &numbers, error)
                                                     : launch<8>(job, &numbers, error);
    return status != SLC_OK ? status : slc_image_naive_finish(job, &numbers, error);
}
