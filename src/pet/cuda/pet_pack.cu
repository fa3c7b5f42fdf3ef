/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs on their way out: copied to where the copy to the host finds them in one piece, so that the stage may
 * go on with the next batch, and added to the checksum in passing.
 */
#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_chain_core.h"

namespace
{
enum { THREADS = 256, MOST_BLOCKS = 1024 };
constexpr uint32_t ALL_LANES = 0xffffffffU;

struct packed {
    int64_t *time_ps, *dt_ps;
    uint32_t *crystal1, *crystal2;
    float *energy1_kev, *energy2_kev;
};

packed lay_out(void *memory, size_t n)
{
    char *at = static_cast<char *>(memory);
    const size_t wide = slc_pet_cuda_padded(8 * n), narrow = slc_pet_cuda_padded(4 * n);
    packed p;
    p.time_ps = reinterpret_cast<int64_t *>(at);
    p.dt_ps = reinterpret_cast<int64_t *>(at + wide);
    at += 2 * wide;
    p.crystal1 = reinterpret_cast<uint32_t *>(at);
    p.crystal2 = reinterpret_cast<uint32_t *>(at + narrow);
    p.energy1_kev = reinterpret_cast<float *>(at + 2 * narrow);
    p.energy2_kev = reinterpret_cast<float *>(at + 3 * narrow);
    return p;
}

__device__ uint64_t power_of(uint64_t n)
{
    uint64_t power = 1;
    for (uint64_t square = SLC_CHECKSUM_FACTOR; n > 0; n >>= 1, square *= square) {
        power *= (n & 1) != 0 ? square : 1;
    }
    return power;
}

__global__ void __launch_bounds__(THREADS) pack(const slc_pet_cuda_pairs pairs, uint64_t first,
                                                uint32_t delayed, const packed to, unsigned long long *sum)
{
    __shared__ unsigned long long of_block;
    if (threadIdx.x == 0) {
        of_block = 0;
    }
    __syncthreads();
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const uint64_t stride = static_cast<uint64_t>(gridDim.x) * THREADS, factor = power_of(stride);
    uint64_t power = begin < pairs.n ? power_of(first + begin) : 0;
    unsigned long long mine = 0;
    for (uint64_t i = begin; i < pairs.n; i += stride, power *= factor) {
        const int64_t time = pairs.time_ps[i], dt = pairs.dt_ps[i];
        const uint32_t crystals[2] = {pairs.crystal1[i], pairs.crystal2[i]};
        const float energies[2] = {pairs.energy1_kev[i], pairs.energy2_kev[i]};
        const uint32_t bits[2] = {__float_as_uint(energies[0]), __float_as_uint(energies[1])};
        to.time_ps[i] = time;
        to.dt_ps[i] = dt;
        to.crystal1[i] = crystals[0];
        to.crystal2[i] = crystals[1];
        to.energy1_kev[i] = energies[0];
        to.energy2_kev[i] = energies[1];
        mine += power * slc_pet_pair_hash(delayed, time, dt, crystals, bits);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        mine += __shfl_xor_sync(ALL_LANES, mine, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&of_block, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(sum, of_block);
    }
}
} // namespace

slc_status slc_pet_cuda_pack(const slc_pet_cuda_pairs *pairs, uint64_t first, uint32_t delayed, void *to,
                             unsigned long long *sum, void *stream, slc_error *error)
{
    if (pairs->n == 0) {
        return SLC_OK;
    }
    const uint64_t most = MOST_BLOCKS, needed = (pairs->n + THREADS - 1) / THREADS;
    const uint64_t blocks = needed < most ? needed : most;
    SLC_LAUNCH(pack, static_cast<uint32_t>(blocks), THREADS, 0, static_cast<cudaStream_t>(stream), *pairs,
               first, delayed, lay_out(to, pairs->n), sum);
    return slc_cuda_check(cudaGetLastError(), "launching the packing of pairs", error);
}
