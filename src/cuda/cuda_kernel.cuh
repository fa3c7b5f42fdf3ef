/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels are launched, so that the same *.cu files can also be compiled by a C++ compiler and run on the
 * processor, thread by thread (tests/simt): there tests without a GPU, sanitizers and debuggers reach them.
 *
 *     SLC_LAUNCH((kernel<8, true>), blocks, threads, shared_bytes, stream, argument, ...);
 *     SLC_DYNAMIC_SHARED(uint32_t, table);    in a kernel: its shared memory of shared_bytes
 *
 * Such files use of CUDA: threadIdx, blockIdx, blockDim, gridDim (x, y, z), static and dynamic shared memory,
 * __syncthreads and its votes, __syncwarp, shuffles, votes, match, reduce, atomics, loads and stores with
 * hints, bit operations, and fences. All lanes that a mask names reach a collective together.
 */
#ifndef SLUICE_CUDA_KERNEL_CUH
#define SLUICE_CUDA_KERNEL_CUH

#include <stdint.h>

#ifdef SLUICE_SIMT
#include <simt.h>
#else
#include <cuda_runtime.h>
#define SLC_LAUNCH(kernel, blocks, threads, shared_bytes, stream, ...)                                       \
    kernel<<<(blocks), (threads), (shared_bytes), (stream)>>>(__VA_ARGS__)
#define SLC_DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#endif

/* As many of BLOCKS blocks of THREADS threads as a multiprocessor of this generation can hold, which is what
 * __launch_bounds__ may ask for. */
#ifdef __CUDA_ARCH__
template <uint32_t THREADS, uint32_t BLOCKS>
constexpr uint32_t slc_blocks_there = [] {
    constexpr uint32_t arch = __CUDA_ARCH__;
    constexpr bool small = arch == 860 || arch == 870;
    constexpr uint32_t threads = arch == 750 ? 1024 : small || arch == 890 || arch >= 1200 ? 1536 : 2048;
    constexpr uint32_t most = arch == 750 || small ? 16 : arch == 890 ? 24 : 32, fit = threads / THREADS;
    constexpr uint32_t there = most < fit ? most : fit;
    return BLOCKS < there ? BLOCKS : there;
}();
#else
template <uint32_t THREADS, uint32_t BLOCKS> constexpr uint32_t slc_blocks_there = BLOCKS;
#endif

/* The least and the greatest number of a whole warp, of 32 bits: an instruction where the GPU has one. */
template <typename number> __device__ __forceinline__ number slc_warp_least(number value)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_min_sync(UINT32_MAX, value);
#else
    for (int step = 16; step > 0; step /= 2) {
        value = min(value, __shfl_xor_sync(UINT32_MAX, value, step));
    }
    return value;
#endif
}

template <typename number> __device__ __forceinline__ number slc_warp_greatest(number value)
{
    return static_cast<number>(~slc_warp_least(static_cast<number>(~value)));
}

/* The sum of a whole warp's. */
static __device__ __forceinline__ uint32_t slc_warp_sum(uint32_t value)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(UINT32_MAX, value);
#else
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(UINT32_MAX, value, step);
    }
    return value;
#endif
}

#endif
