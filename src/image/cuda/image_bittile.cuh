/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of `bittile` share: where a tile is, the runs of a strip, sums over the lanes of a warp.
 * image_bittile.h tells of tiles, strips and runs.
 */
#ifndef SLUICE_IMAGE_BITTILE_CUH
#define SLUICE_IMAGE_BITTILE_CUH

#include "cuda/cuda_kernel.cuh"
#include "image/cuda/image_bittile.h"

enum { SLC_IMAGE_BITTILE_STRIPS = 32, SLC_IMAGE_BITTILE_WIDTH = 64 };

#define SLC_IMAGE_BITTILE_LANES 0xffffffffU

/* Are there so few tiles that a kernel is over when the last of its blocks has begun? Then what counts is how
 * long each takes, and not how many fit. */
static inline bool slc_image_bittile_few(const slc_image_cuda_job *job, const slc_image_bittiles *tiles)
{
    return tiles->tiles <= 16 * job->multiprocessors;
}

/* Kernels of a job with few tiles overlap where the device can (compute capability 9.0): a kernel
 * that is launched to overlap may begin when every block of the one before it has called
 * slc_image_bittile_release or has ended. It calls slc_image_bittile_wait, in every thread, before it touches
 * what that one writes; all kernels before that one are done when this one's blocks begin if that one
 * released only after it had waited itself. */
static __device__ __forceinline__ void slc_image_bittile_wait()
{
#if !defined(SLUICE_SIMT) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

static __device__ __forceinline__ void slc_image_bittile_release()
{
#if !defined(SLUICE_SIMT) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Launches a kernel of a job with few tiles or many; all but its first kernel overlap as told above. */
#ifdef SLUICE_SIMT
#define SLC_IMAGE_BITTILE_LAUNCH(few, first, stream, kernel, blocks, threads, ...)                           \
    SLC_LAUNCH(kernel, blocks, threads, 0, stream, __VA_ARGS__)
#else
/* The device's compute capability; graphs know of the overlap from CUDA 12.3 on. */
static inline bool slc_image_bittile_overlaps()
{
    int device = 0, major = 0, driver = 0;
    return CUDART_VERSION >= 12030 && cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
           major >= 9 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12030;
}

/* What fails is seen by cudaGetLastError. */
template <class... P, class... A>
static inline void slc_image_bittile_next(bool overlap, cudaStream_t stream, void (*kernel)(P...),
                                          uint32_t blocks, uint32_t threads, A &&...arguments)
{
    cudaLaunchAttribute serialization = {};
    serialization.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serialization.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &serialization;
    config.numAttrs = overlap && slc_image_bittile_overlaps() ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

/* With few tiles all kernels ask for the same share of shared memory, in percent: a multiprocessor that is to
 * change it waits until it is empty. With many, each kernel gets what suits it. */
template <class... P> static inline void slc_image_bittile_share(bool few, void (*kernel)(P...))
{
    cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                         cudaFuncAttributePreferredSharedMemoryCarveout,
                         few ? 58 : static_cast<int>(cudaSharedmemCarveoutDefault));
}
#define SLC_IMAGE_BITTILE_LAUNCH(few, first, stream, kernel, blocks, threads, ...)                           \
    do {                                                                                                     \
        slc_image_bittile_share(few, kernel);                                                                \
        slc_image_bittile_next((few) && !(first), stream, kernel, blocks, threads, __VA_ARGS__);             \
    } while (0)
#endif

/* Where a tile is: of which image, and how many tiles are left of it and above it. */
typedef struct slc_image_bittile_place {
    uint32_t image, x, y;
} slc_image_bittile_place;

static __device__ __forceinline__ slc_image_bittile_place
slc_image_bittile_at(const slc_image_bittiles &tiles, uint32_t tile)
{
    slc_image_bittile_place at;
    const uint32_t row = tile / tiles.tiles_x;
    at.x = tile - row * tiles.tiles_x;
    at.image = row / tiles.tiles_y;
    at.y = row - at.image * tiles.tiles_y;
    return at;
}

/* The unit (image_cuda_job.h) of a tile's row 0; that of row r is r · tiles_x further. */
static __device__ __forceinline__ uint32_t slc_image_bittile_unit(const slc_image_bittiles &tiles,
                                                                  uint32_t height, slc_image_bittile_place at)
{
    return (at.image * height + at.y * tiles.rows) * tiles.tiles_x + at.x;
}

/* Rows of a tile that are in the image. */
static __device__ __forceinline__ uint32_t slc_image_bittile_height(const slc_image_bittiles &tiles,
                                                                    uint32_t height,
                                                                    slc_image_bittile_place at)
{
    const uint32_t left = height - at.y * tiles.rows;
    return left < tiles.rows ? left : tiles.rows;
}

/* The bits up to and with the lowest one that is set; all where none is. */
static __device__ __forceinline__ uint64_t slc_image_bittile_upto(uint64_t bits)
{
    return bits ^ (bits - 1);
}

static __device__ __forceinline__ uint32_t slc_image_bittile_count(uint64_t bits)
{
    return static_cast<uint32_t>(__popcll(static_cast<unsigned long long>(bits)));
}

/* The first bits of the runs of set bits. */
static __device__ __forceinline__ uint64_t slc_image_bittile_starts(uint64_t bits)
{
    return bits & ~(bits << 1);
}

/* The sum over the lanes before this one; *sum is that over all. */
static __device__ __forceinline__ uint32_t slc_image_bittile_sums(uint32_t value, uint32_t lane,
                                                                  uint32_t *sum)
{
    uint32_t upto = value;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, upto, step);
        upto += lane >= step ? other : 0;
    }
    *sum = __shfl_sync(SLC_IMAGE_BITTILE_LANES, upto, 31);
    return upto - value;
}

#endif
