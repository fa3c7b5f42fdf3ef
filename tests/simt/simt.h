/* SPDX-License-Identifier: Apache-2.0
 *
 * What a *.cu file that includes cuda/cuda_kernel.cuh sees when a C++ compiler makes it for the processor
 * (with -x c++ -DSLUICE_SIMT -Itests/simt): CUDA's types, functions and keywords, and how a kernel is
 * launched. README.md tells what is emulated, and what is not.
 */
#ifndef TESTS_SIMT_H
#define TESTS_SIMT_H

#include <cassert>
#include <cstdio>

#include "simt_launch.h"

#define SLC_LAUNCH(kernel, blocks, threads, shared_bytes, stream, ...)                                       \
    simt::enqueue(#kernel, kernel, (blocks), (threads), (shared_bytes), (stream), __VA_ARGS__)
#define SLC_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(simt::dynamic_shared())

/* ---- keywords ---------------------------------------------------------------------------------- */

/* Shared memory of a kernel is a static variable; the emulator finds these variables in the program's table
 * of symbols, poisons them before a block, and exchanges them between blocks. */
#define __shared__ static
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

#define threadIdx (simt::now->thread)
#define blockIdx  (simt::now->block)
#define blockDim  (simt::now->threads)
#define gridDim   (simt::now->blocks)
#define warpSize  32

/* Code for the device is what is tested; the emulator can what compute capability 9.0 can, as far as it goes.
 */
#define __CUDA_ARCH__ 900
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif

#endif
