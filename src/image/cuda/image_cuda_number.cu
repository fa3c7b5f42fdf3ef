/* SPDX-License-Identifier: Apache-2.0
 *
 * From a table of parents to numbers (image_cuda_number.h): which keys are roots, by votes of a warp on 64
 * pixels; their running sums (image_cuda_scan.cu); and the columns of features from the sums at roots. The
 * papers end before this. It is kept apart from their algorithms so that all of them pay the same for it.
 */
#include "image/cuda/image_cuda_number.cuh"

#include "cuda/cuda_device.h"

namespace
{

enum { WARP = 32, ROWS = 4, UNIT = 64 };

/* A warp looks at one unit. The first pixel of a run is a root where it is its own parent. */
template <bool CLEAR>
__global__ void __launch_bounds__(WARP *ROWS)
    find_roots(const slc_image_picture picture, const slc_image_cuda_numbers numbers)
{
    const uint32_t lane = threadIdx.x, x = blockIdx.x * UNIT + lane;
    for (uint32_t image = blockIdx.z; image < picture.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < picture.height; y += gridDim.y * ROWS) {
            const uint8_t *row = slc_image_row(picture, image, y);
            const uint64_t low = __ballot_sync(~0U, slc_image_pixel(picture, row, x));
            const uint64_t high = __ballot_sync(~0U, slc_image_pixel(picture, row, x + WARP));
            const bool before = lane == 0 && x > 0 && row[x - 1] != 0;
            const uint64_t mask = high << 32 | low, carry = __ballot_sync(~0U, before);
            const uint64_t starts = mask & ~(mask << 1 | carry);
            const uint32_t key = slc_image_key(picture, image, y) + x;
            const bool root = slc_image_bit(starts, lane) && numbers.table[key] == key;
            const bool second = slc_image_bit(starts, lane + WARP) && numbers.table[key + WARP] == key + WARP;
            const uint64_t roots = __ballot_sync(~0U, root);
            const uint64_t second_roots = __ballot_sync(~0U, second);
            if (lane == 0) {
                numbers.roots[key / UNIT] = second_roots << 32 | roots;
            }
            if (CLEAR && root) {
                slc_image_sums_clear(numbers.sums, key);
            }
            if (CLEAR && second) {
                slc_image_sums_clear(numbers.sums, key + WARP);
            }
        }
    }
}

__device__ void put(const slc_image_cuda_columns &columns, const slc_image_cuda_numbers &numbers,
                    uint32_t key, uint32_t x, uint32_t y)
{
    const uint32_t i = slc_image_cuda_rank(numbers.roots, numbers.prefix, key);
    columns.area[i] = numbers.sums.area[key];
    columns.sum_x[i] = numbers.sums.sum_x[key];
    columns.sum_y[i] = numbers.sums.sum_y[key];
    columns.x_min[i] = numbers.sums.x_min[key];
    columns.y_min[i] = y;
    columns.x_max[i] = numbers.sums.x_max[key];
    columns.y_max[i] = numbers.sums.y_max[key];
    columns.first_x[i] = x;
    columns.first_y[i] = y;
}

__global__ void __launch_bounds__(WARP *ROWS)
    gather(const slc_image_picture picture, const slc_image_cuda_numbers numbers,
           const slc_image_cuda_columns columns, const uint32_t *first, uint32_t limit)
{
    const uint32_t lane = threadIdx.x, x = blockIdx.x * UNIT + lane;
    if (first[picture.images] > limit) {
        return;
    }
    for (uint32_t image = blockIdx.z; image < picture.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * ROWS + threadIdx.y; y < picture.height; y += gridDim.y * ROWS) {
            const uint32_t key = slc_image_key(picture, image, y) + x;
            const uint64_t roots = numbers.roots[key / UNIT];
            if (slc_image_bit(roots, lane)) {
                put(columns, numbers, key, x, y);
            }
            if (slc_image_bit(roots, lane + WARP)) {
                put(columns, numbers, key + WARP, x + WARP, y);
            }
        }
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* The next part of the work: where it begins, and the place behind it. */
size_t part(size_t *at, size_t elements, size_t size)
{
    const size_t here = *at;
    *at += (elements * size + 255) / 256 * 256;
    return here;
}

slc_image_cuda_numbers lay_out(const slc_image_cuda_job *job, char *work, size_t *bytes)
{
    const uint32_t units = slc_image_cuda_units(job);
    const size_t keys = static_cast<size_t>(units) * UNIT;
    size_t at = 0;
    const size_t table = part(&at, keys, 4), roots = part(&at, units, 8), prefix = part(&at, units, 4),
                 scan = part(&at, 1, slc_image_cuda_scan_bound(units));
    const size_t wanted = job->has_features ? keys : 0;
    const size_t sum_x = part(&at, wanted, 8), sum_y = part(&at, wanted, 8), area = part(&at, wanted, 4),
                 x_min = part(&at, wanted, 4), x_max = part(&at, wanted, 4), y_max = part(&at, wanted, 4);
    *bytes = at;
    slc_image_cuda_numbers numbers = {};
    if (work != nullptr) {
        numbers.table = reinterpret_cast<uint32_t *>(work + table);
        numbers.roots = reinterpret_cast<uint64_t *>(work + roots);
        numbers.prefix = reinterpret_cast<uint32_t *>(work + prefix);
        numbers.scan = work + scan;
    }
    if (work != nullptr && job->has_features) {
        numbers.sums.sum_x = reinterpret_cast<unsigned long long *>(work + sum_x);
        numbers.sums.sum_y = reinterpret_cast<unsigned long long *>(work + sum_y);
        numbers.sums.area = reinterpret_cast<uint32_t *>(work + area);
        numbers.sums.x_min = reinterpret_cast<uint32_t *>(work + x_min);
        numbers.sums.x_max = reinterpret_cast<uint32_t *>(work + x_max);
        numbers.sums.y_max = reinterpret_cast<uint32_t *>(work + y_max);
    }
    return numbers;
}

} // namespace

extern "C" size_t slc_image_cuda_numbers_bound(const slc_image_cuda_job *job)
{
    size_t bytes = 0;
    lay_out(job, nullptr, &bytes);
    return bytes;
}

extern "C" slc_image_cuda_numbers slc_image_cuda_numbers_place(const slc_image_cuda_job *job)
{
    size_t bytes = 0;
    return lay_out(job, static_cast<char *>(job->work), &bytes);
}

extern "C" slc_status slc_image_cuda_numbers_run(const slc_image_cuda_job *job,
                                                 const slc_image_cuda_numbers *numbers, bool clear,
                                                 slc_error *error)
{
    if (job->raw && !job->has_features) {
        return SLC_OK;
    }
    const dim3 blocks = slc_image_cover(job, UNIT, ROWS), threads(WARP, ROWS);
    const slc_image_picture picture = slc_image_picture_of(job);
    if (clear && job->has_features) {
        SLC_LAUNCH((find_roots<true>), blocks, threads, 0, job->stream, picture, *numbers);
    } else {
        SLC_LAUNCH((find_roots<false>), blocks, threads, 0, job->stream, picture, *numbers);
    }
    const slc_status status = slc_cuda_check(cudaGetLastError(), "launching the search for roots", error);
    return status != SLC_OK ? status
                            : slc_image_cuda_scan(numbers->roots, numbers->prefix, slc_image_cuda_units(job),
                                                  job->images, job->first, numbers->scan, job->stream, error);
}

extern "C" slc_status slc_image_cuda_numbers_gather(const slc_image_cuda_job *job,
                                                    const slc_image_cuda_numbers *numbers, slc_error *error)
{
    const dim3 blocks = slc_image_cover(job, UNIT, ROWS), threads(WARP, ROWS);
    SLC_LAUNCH((gather), blocks, threads, 0, job->stream, slc_image_picture_of(job), *numbers, job->columns,
               job->first, job->limit);
    return slc_cuda_check(cudaGetLastError(), "launching the gathering of features", error);
}
