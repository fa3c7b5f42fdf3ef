/* SPDX-License-Identifier: Apache-2.0
 * Pixels of any type to rows of bits, or to bytes 0 and 1, as on the processor (image_bits.c): compared as
 * what they are with the threshold in terms of their type. One pass, which is limited by memory.
 *
 * Any type: a warp loads 32 neighbours at a time and votes, which coalesces whatever the alignment is. Bytes
 * on multiples of 16, the usual case: a thread loads 16 of them at once and compares four in a word (the high
 * bit of each byte of the difference, borrows kept inside of their bytes).
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_rows.cuh"
#include "image/cuda/image_cuda_stages.h"
#include "image/image_level.h"

namespace
{

using namespace slc_image_rows;

struct pack_task {
    extent size;
    rows pixels;
    slc_image_level level;
    bool inverse;
};

/* ---- one pixel --------------------------------------------------------------------------------- */

template <slc_image_type TYPE>
__device__ inline bool reaches(const char *row, uint32_t x, const slc_image_level &level)
{
    switch (TYPE) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row)[x] >= level.level && !level.none;
    case SLC_IMAGE_U16:
        return ((const uint16_t *)row)[x] >= level.level && !level.none;
    case SLC_IMAGE_U32:
        return ((const uint32_t *)row)[x] >= level.level && !level.none;
    case SLC_IMAGE_F32:
        return ((const float *)row)[x] >= level.real;
    default:
        return (((const uint8_t *)row)[x / 8] >> x % 8 & 1) != 0;
    }
}

/* Bit k: pixel first + 32 k of the row is foreground. */
template <slc_image_type TYPE>
__device__ inline uint32_t look(const pack_task &task, const stretch &s, uint32_t first)
{
    const char *row = row_of(task.pixels, s.image, s.y);
    uint32_t found = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t x = first + (uint32_t)(k * WARP);
        if (x < task.size.width && reaches<TYPE>(row, x, task.level) != task.inverse) {
            found |= 1U << k;
        }
    }
    return found;
}

template <slc_image_type TYPE>
__global__ void __launch_bounds__(THREADS) bits_of_any(const pack_task task, uint32_t *bits)
{
    const stretch s = stretch_of_warp(task.size);
    if (!s.here) { /* the warp as a whole */
        return;
    }
    const uint32_t lane = threadIdx.x % WARP, found = look<TYPE>(task, s, s.x + lane);
    uint32_t mine = 0;
#pragma unroll
    for (uint32_t k = 0; k < STEPS; k++) {
        const uint32_t votes = __ballot_sync(~0U, (found >> k & 1) != 0);
        mine = lane == k ? votes : mine;
    }
    const uint32_t words = units_of(task.size.width) * 2, word = s.x / WARP + lane;
    if (lane < STEPS && word < words) {
        bits[(size_t)(s.image * task.size.height + s.y) * words + word] = mine;
    }
}

template <slc_image_type TYPE>
__global__ void __launch_bounds__(THREADS) bytes_of_any(const pack_task task, uint8_t *bytes)
{
    const stretch s = stretch_of_warp(task.size);
    if (!s.here) {
        return;
    }
    const uint32_t first = s.x + threadIdx.x % WARP, found = look<TYPE>(task, s, first);
    uint8_t *to = bytes + (size_t)(s.image * task.size.height + s.y) * task.size.width;
#pragma unroll
    for (uint32_t k = 0; k < STEPS; k++) {
        const uint32_t x = first + k * WARP;
        if (x < task.size.width) {
            to[x] = (uint8_t)(found >> k & 1);
        }
    }
}

/* ---- sixteen bytes ----------------------------------------------------------------------------- */

enum { SIXTEEN = 16 };

/* The sixteen pixels of a thread; a row has a multiple of four of them, in words of 64. */
struct piece {
    uint32_t row, image, x;
    bool here;
};

__device__ inline piece piece_of_thread(const extent &e)
{
    const uint32_t number = blockIdx.x * (uint32_t)THREADS + threadIdx.x;
    const uint32_t each = units_of(e.width) * (64 / SIXTEEN);
    const uint32_t row = number / each, image = row / e.height;
    return piece{row, image, (number - row * each) * SIXTEEN, image < e.images};
}

/* The high bit of every byte that is not below the byte of `level` (all four are the same). */
__device__ inline uint32_t not_below(uint32_t bytes, uint32_t level)
{
    const uint32_t high = 0x80808080U, low = ((bytes | high) - (level & ~high));
    return ((level & high) != 0 ? bytes & low : bytes | low) & high;
}

/* The four high bits as one number of four bits: the product has each of them in a place of its own. */
__device__ inline uint32_t gather_four(uint32_t high_bits)
{
    return (high_bits >> 7) * 0x01020408U >> 24 & 15;
}

__device__ inline uint4 load_sixteen(const pack_task &task, const piece &p)
{
    const char *row = row_of(task.pixels, p.image, p.row - p.image * task.size.height);
    if (p.x + SIXTEEN <= task.size.width) {
        return *(const uint4 *)(row + p.x);
    }
    uint32_t words[4] = {0, 0, 0, 0}; /* the last of the row, or none */
#pragma unroll
    for (uint32_t i = 0; i < SIXTEEN; i++) {
        if (p.x + i < task.size.width) {
            words[i / 4] |= (uint32_t)((const uint8_t *)row)[p.x + i] << 8 * (i % 4);
        }
    }
    return uint4{words[0], words[1], words[2], words[3]};
}

/* As high bits of bytes. */
__device__ inline uint4 compare_sixteen(const pack_task &task, const piece &p)
{
    const uint4 v = load_sixteen(task, p);
    const uint32_t level = task.level.level * 0x01010101U;
    const uint32_t flip = task.inverse != task.level.none ? 0x80808080U : 0;
    /* With `none` nothing is foreground: all bytes are not below 0, and are turned over. */
    return uint4{not_below(v.x, level) ^ flip, not_below(v.y, level) ^ flip, not_below(v.z, level) ^ flip,
                 not_below(v.w, level) ^ flip};
}

__global__ void __launch_bounds__(THREADS) bits_of_sixteen(const pack_task task, uint16_t *bits)
{
    const piece p = piece_of_thread(task.size);
    if (!p.here) {
        return;
    }
    const uint4 v = compare_sixteen(task, p);
    const uint32_t found = gather_four(v.x) | gather_four(v.y) << 4 | gather_four(v.z) << 8 |
                           gather_four(v.w) << 12;
    const uint32_t left = task.size.width > p.x ? task.size.width - p.x : 0;
    bits[blockIdx.x * (size_t)THREADS + threadIdx.x] = (uint16_t)(left < SIXTEEN ? found & ((1U << left) - 1)
                                                                                 : found);
}

/* For widths that are multiples of 16. */
__global__ void __launch_bounds__(THREADS) bytes_of_sixteen(const pack_task task, uint8_t *bytes)
{
    const piece p = piece_of_thread(task.size);
    if (!p.here || p.x >= task.size.width) {
        return;
    }
    const uint4 v = compare_sixteen(task, p);
    *(uint4 *)(bytes + (size_t)p.row * task.size.width + p.x) = uint4{v.x >> 7, v.y >> 7, v.z >> 7, v.w >> 7};
}

/* ---- launches ---------------------------------------------------------------------------------- */

pack_task task_of(const slc_image_cuda_task *task, double threshold, bool inverse)
{
    const slc_image_level level = slc_image_level_of(task->type, threshold);
    return pack_task{extent{(uint32_t)task->width, (uint32_t)task->height, (uint32_t)task->images},
                     rows{(const char *)task->pixels, task->stride, task->image_stride}, level, inverse};
}

/* Can all rows be read as 16 bytes at a time? */
bool has_sixteens(const pack_task &task)
{
    const uintptr_t start = (uintptr_t)task.pixels.at;
    const uintptr_t rows = task.size.height > 1 ? (uintptr_t)task.pixels.stride : 0;
    const uintptr_t images = task.size.images > 1 ? task.pixels.image_stride : 0;
    return task.level.type == SLC_IMAGE_U8 && (start | rows | images) % SIXTEEN == 0;
}

uint32_t blocks_of_sixteens(const extent &e)
{
    return (units_of(e.width) * (64 / SIXTEEN) * e.height * e.images + THREADS - 1) / THREADS;
}

template <slc_image_type TYPE>
void launch_any(const pack_task &task, uint32_t *bits, uint8_t *bytes, cudaStream_t stream)
{
    if (bits != nullptr) {
        SLC_LAUNCH((bits_of_any<TYPE>), blocks_for(task.size), THREADS, 0, stream, task, bits);
    } else {
        SLC_LAUNCH((bytes_of_any<TYPE>), blocks_for(task.size), THREADS, 0, stream, task, bytes);
    }
}

/* Into one of the two. */
slc_status launch(const pack_task &task, uint32_t *bits, uint8_t *bytes, cudaStream_t stream,
                  slc_error *error)
{
    switch (task.level.type) {
    case SLC_IMAGE_U8:
        launch_any<SLC_IMAGE_U8>(task, bits, bytes, stream);
        break;
    case SLC_IMAGE_U16:
        launch_any<SLC_IMAGE_U16>(task, bits, bytes, stream);
        break;
    case SLC_IMAGE_U32:
        launch_any<SLC_IMAGE_U32>(task, bits, bytes, stream);
        break;
    case SLC_IMAGE_F32:
        launch_any<SLC_IMAGE_F32>(task, bits, bytes, stream);
        break;
    default:
        launch_any<SLC_IMAGE_BITS>(task, bits, bytes, stream);
        break;
    }
    return slc_cuda_check(cudaGetLastError(), "launching the packing of pixels", error);
}

} // namespace

slc_status slc_image_cuda_pack_bits(const slc_image_cuda_task *task, double threshold, bool inverse,
                                    uint64_t *bits, struct CUstream_st *stream, slc_error *error)
{
    const pack_task pack = task_of(task, threshold, inverse);
    if (!has_sixteens(pack)) {
        return launch(pack, (uint32_t *)bits, nullptr, stream, error);
    }
    SLC_LAUNCH((bits_of_sixteen), blocks_of_sixteens(pack.size), THREADS, 0, stream, pack, (uint16_t *)bits);
    return slc_cuda_check(cudaGetLastError(), "launching the packing of pixels into bits", error);
}

slc_status slc_image_cuda_pack_bytes(const slc_image_cuda_task *task, double threshold, bool inverse,
                                     uint8_t *bytes, struct CUstream_st *stream, slc_error *error)
{
    const pack_task pack = task_of(task, threshold, inverse);
    if (!has_sixteens(pack) || pack.size.width % SIXTEEN != 0 || (uintptr_t)bytes % SIXTEEN != 0) {
        return launch(pack, nullptr, bytes, stream, error);
    }
    SLC_LAUNCH((bytes_of_sixteen), blocks_of_sixteens(pack.size), THREADS, 0, stream, pack, bytes);
    return slc_cuda_check(cudaGetLastError(), "launching the packing of pixels into bytes", error);
}
