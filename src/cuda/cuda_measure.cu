/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that only move bytes or add to words (cuda_measure.h). What they compute is used just enough that
 * no compiler can leave it out: sums go to a word if they are one value of 2^32, and elements are written
 * back changed.
 */
#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"
#include "cuda/cuda_measure.h"

namespace
{

constexpr uint32_t threads = SLC_CUDA_MEASURE_THREADS, tile = SLC_CUDA_MEASURE_TILE;
constexpr uint32_t nothing = 0x5eed1e55; /* the sum that is told */

__global__ void read_all(const uint4 *from, size_t n, uint32_t *sink)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    uint32_t sum = 0;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint4 v = from[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == nothing) {
        *sink = sum;
    }
}

/* A thread's four loads of four pixels are a warp's width apart, so that its four stores of 16 bytes are,
 * too: each store of a warp is 512 bytes in a row. */
__global__ void widen_all(uint4 *labels, const uint32_t *pixels, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint32_t four = pixels[i];
        uint4 label;
        label.x = four & 255;
        label.y = four >> 8 & 255;
        label.z = four >> 16 & 255;
        label.w = four >> 24;
        labels[i] = label;
    }
}

/* ---- strides ------------------------------------------------------------------------------------------- */

__device__ inline void change(uint8_t &v)
{
    v = (uint8_t)(v + 1);
}
__device__ inline void change(uint32_t &v)
{
    v += 1;
}
__device__ inline void change(unsigned long long &v)
{
    v += 1;
}
__device__ inline void change(uint4 &v)
{
    v.x += 1;
    v.w += 1;
}

template <typename T> __global__ void stride_global(T *at, size_t n, uint32_t stride)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T v = at[i * stride];
        change(v);
        at[i * stride] = v;
    }
}

/* A block has one tile, a thread four elements of it. */
template <typename T> __global__ void stride_copied(T *at, uint32_t stride)
{
    __shared__ T words[tile];
    T *mine = at + (size_t)blockIdx.x * tile;
    for (uint32_t i = threadIdx.x; i < tile; i += threads) {
        words[i] = mine[i];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tile; i += threads) {
        T v = words[i * stride % tile];
        change(v);
        mine[i] = v;
    }
}

template <typename T> __global__ void stride_shared(uint32_t *sink, uint32_t stride, uint32_t rounds)
{
    __shared__ T words[tile];
    for (uint32_t i = threadIdx.x; i < tile; i += threads) {
        words[i] = (T)(i * stride);
    }
    __syncthreads();
    uint32_t at = threadIdx.x * stride % tile;
    T sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            sum += words[at];
            at = (at + 1) % tile;
        }
    }
    if ((uint32_t)sum == nothing) {
        *sink = nothing;
    }
}

/* ---- atomics ------------------------------------------------------------------------------------------- */

/* Which word it is depends on what the host says, so that the compiler cannot add up a warp's additions. */
template <typename T> __global__ void add_all(T *table, uint32_t mask, uint32_t step, uint32_t rounds, T one)
{
    uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * step;
    const uint32_t on = gridDim.x * blockDim.x * step;
    for (uint32_t r = 0; r < rounds; r++) {
        atomicAdd(&table[at & mask], one);
        at += on;
    }
}

slc_status launched(const char *what, slc_error *error)
{
    return slc_cuda_check(cudaGetLastError(), what, error);
}

slc_status no_such_size(uint32_t element_bytes, slc_error *error)
{
    return slc_fail(error, SLC_ERR_USAGE, "measuring elements of %u bytes", element_bytes);
}

/* Enough blocks for every place of every multiprocessor, and no more than there is work for. */
uint32_t filling_blocks(uint32_t multiprocessors, size_t work)
{
    const size_t most = (size_t)multiprocessors * 8, needed = (work + threads - 1) / threads;
    return (uint32_t)(needed < most ? (needed > 0 ? needed : 1) : most);
}

} // namespace

extern "C" slc_status slc_cuda_measure_read(const void *from, size_t bytes, uint32_t *sink,
                                            uint32_t multiprocessors, struct CUstream_st *stream,
                                            slc_error *error)
{
    const size_t n = bytes / sizeof(uint4);
    SLC_LAUNCH((read_all), filling_blocks(multiprocessors, n), threads, 0, stream,
               static_cast<const uint4 *>(from), n, sink);
    return launched("measuring reads", error);
}

extern "C" slc_status slc_cuda_measure_copy(void *to, const void *from, size_t bytes,
                                            struct CUstream_st *stream, slc_error *error)
{
    return slc_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
                          "copying on the device", error);
}

extern "C" slc_status slc_cuda_measure_widen(uint32_t *labels, const uint8_t *pixels, size_t n,
                                             uint32_t multiprocessors, struct CUstream_st *stream,
                                             slc_error *error)
{
    SLC_LAUNCH((widen_all), filling_blocks(multiprocessors, n / 4), threads, 0, stream,
               reinterpret_cast<uint4 *>(labels), reinterpret_cast<const uint32_t *>(pixels), n / 4);
    return launched("measuring a byte read and four written", error);
}

extern "C" slc_status slc_cuda_measure_stride(void *at, uint32_t element_bytes, size_t n, uint32_t stride,
                                              struct CUstream_st *stream, slc_error *error)
{
    const uint32_t blocks = (uint32_t)((n + threads - 1) / threads);
    switch (element_bytes) {
    case 1:
        SLC_LAUNCH((stride_global<uint8_t>), blocks, threads, 0, stream, static_cast<uint8_t *>(at), n,
                   stride);
        break;
    case 4:
        SLC_LAUNCH((stride_global<uint32_t>), blocks, threads, 0, stream, static_cast<uint32_t *>(at), n,
                   stride);
        break;
    case 8:
        SLC_LAUNCH((stride_global<unsigned long long>), blocks, threads, 0, stream,
                   static_cast<unsigned long long *>(at), n, stride);
        break;
    case 16:
        SLC_LAUNCH((stride_global<uint4>), blocks, threads, 0, stream, static_cast<uint4 *>(at), n, stride);
        break;
    default:
        return no_such_size(element_bytes, error);
    }
    return launched("measuring strides", error);
}

extern "C" slc_status slc_cuda_measure_banks_copied(void *at, uint32_t element_bytes, size_t n,
                                                    uint32_t stride, struct CUstream_st *stream,
                                                    slc_error *error)
{
    const uint32_t blocks = (uint32_t)(n / tile);
    if (element_bytes == 4) {
        SLC_LAUNCH((stride_copied<uint32_t>), blocks, threads, 0, stream, static_cast<uint32_t *>(at),
                   stride);
    } else if (element_bytes == 8) {
        SLC_LAUNCH((stride_copied<unsigned long long>), blocks, threads, 0, stream,
                   static_cast<unsigned long long *>(at), stride);
    } else {
        return no_such_size(element_bytes, error);
    }
    return launched("measuring copies to shared memory", error);
}

extern "C" slc_status slc_cuda_measure_banks(uint32_t *sink, uint32_t element_bytes, uint32_t blocks,
                                             uint32_t stride, uint32_t rounds, struct CUstream_st *stream,
                                             slc_error *error)
{
    if (element_bytes == 4) {
        SLC_LAUNCH((stride_shared<uint32_t>), blocks, threads, 0, stream, sink, stride, rounds);
    } else if (element_bytes == 8) {
        SLC_LAUNCH((stride_shared<unsigned long long>), blocks, threads, 0, stream, sink, stride, rounds);
    } else {
        return no_such_size(element_bytes, error);
    }
    return launched("measuring shared memory", error);
}

extern "C" slc_status slc_cuda_measure_atomics(void *table, uint32_t word_bytes, uint32_t words,
                                               uint32_t step, uint32_t blocks, uint32_t rounds,
                                               struct CUstream_st *stream, slc_error *error)
{
    if (word_bytes == 4) {
        SLC_LAUNCH((add_all<uint32_t>), blocks, threads, 0, stream, static_cast<uint32_t *>(table), words - 1,
                   step, rounds, 1U);
    } else if (word_bytes == 8) {
        SLC_LAUNCH((add_all<unsigned long long>), blocks, threads, 0, stream,
                   static_cast<unsigned long long *>(table), words - 1, step, rounds, 1ULL);
    } else {
        return no_such_size(word_bytes, error);
    }
    return launched("measuring atomics", error);
}

const struct slc_cuda_measure_calls slc_cuda_measure_calls = {
    slc_cuda_measure_read,         slc_cuda_measure_copy,  slc_cuda_measure_widen,   slc_cuda_measure_stride,
    slc_cuda_measure_banks_copied, slc_cuda_measure_banks, slc_cuda_measure_atomics,
};
