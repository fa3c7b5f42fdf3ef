/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over lines on a GPU: a thread for each event, as pet_look_sum.c has a loop. Sums are whole numbers, so
 * that the order of atomics is none, and the image is that of a processor.
 */
#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"
#include "pet/cuda/pet_look_cuda.h"

namespace
{
enum { THREADS = 128 };

__device__ __forceinline__ void add_line(const slc_pet_look_ray &ray, const float *gauss, const float *image,
                                         float factor, unsigned long long *sum)
{
    for (int32_t k = ray.first; k <= ray.last; k++) {
        uint32_t voxel[4];
        float weight[4];
        slc_pet_look_plane(&ray, gauss, k, voxel, weight);
        for (int c = 0; c < 4; c++) {
            const float value = image != nullptr ? weight[c] * image[voxel[c]] : weight[c];
            if (value > 0) {
                atomicAdd(&sum[voxel[c]], static_cast<unsigned long long>(value * factor));
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS) sum_lines(const slc_pet_look_job job, uint32_t lines)
{
    const slc_pet_look_work &w = job.work;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < lines; i += gridDim.x * THREADS) {
        uint32_t of[2];
        slc_pet_look_ray ray;
        slc_pet_look_draw(i, w.crystals, of);
        const float *a = w.at_mm[of[0]], *b = w.at_mm[of[1]];
        if (slc_pet_look_ray_of(&w.grid, a, b, 0, &ray)) {
            const float seen = slc_pet_look_seen(&ray, a, b, w.looks[of[0]], w.looks[of[1]], w.wide_mm,
                                                 w.grid.voxel_mm);
            if (seen > 0) {
                add_line(ray, w.gauss, nullptr, seen * SLC_PET_LOOK_SEEN_SCALE, job.sum);
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS) sum_events(const slc_pet_look_job job, bool use_image)
{
    const slc_pet_look_work &w = job.work;
    const float *image = use_image ? job.image : nullptr;
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * THREADS;
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x; i < w.n; i += step) {
        const slc_pet_look_event e = w.event[i];
        slc_pet_look_ray ray;
        float along = 0;
        if (slc_pet_look_ray_of(&w.grid, w.at_mm[e.crystal[0]], w.at_mm[e.crystal[1]], e.middle_mm, &ray)) {
            along = use_image ? slc_pet_look_forward(&ray, w.gauss, image) : 1;
        }
        if (along > 1e-20F) {
            add_line(ray, w.gauss, image, w.grid.scale / along, job.sum);
        } else {
            atomicAdd(job.missed, 1ULL);
        }
    }
}

__global__ void __launch_bounds__(THREADS) next_image(const slc_pet_look_job job, bool first)
{
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * THREADS;
    for (uint64_t v = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x; v < job.work.voxels;
         v += step) {
        const float sensitivity = job.sensitivity[v];
        if (first) {
            job.image[v] = sensitivity > 0 ? 1.0F : 0.0F;
        } else {
            job.image[v] = slc_pet_look_next(job.sum[v], job.work.grid.scale, sensitivity);
        }
    }
}

/* Enough to fill any GPU, and few where there is little to do. */
uint32_t blocks_for(uint64_t n)
{
    const uint64_t blocks = (n + THREADS - 1) / THREADS;
    return static_cast<uint32_t>(blocks < 1 ? 1 : blocks < 16384 ? blocks : 16384);
}
} // namespace

slc_status slc_pet_look_launch_lines(const slc_pet_look_job *job, uint32_t lines, slc_error *error)
{
    SLC_LAUNCH(sum_lines, blocks_for(lines), THREADS, 0, static_cast<cudaStream_t>(job->stream), *job, lines);
    return slc_cuda_check(cudaGetLastError(), "launching sums of lines", error);
}

slc_status slc_pet_look_launch_events(const slc_pet_look_job *job, bool use_image, slc_error *error)
{
    SLC_LAUNCH(sum_events, blocks_for(job->work.n), THREADS, 0, static_cast<cudaStream_t>(job->stream), *job,
               use_image);
    return slc_cuda_check(cudaGetLastError(), "launching sums of events", error);
}

slc_status slc_pet_look_launch_next(const slc_pet_look_job *job, bool first, slc_error *error)
{
    SLC_LAUNCH(next_image, blocks_for(job->work.voxels), THREADS, 0, static_cast<cudaStream_t>(job->stream),
               *job, first);
    return slc_cuda_check(cudaGetLastError(), "launching the next image", error);
}
