/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for test_simt.c; simt_kernels.h tells what they do.
 */
#include "support/simt_kernels.h"

#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"

namespace
{

enum { MOST = 1024, WARP = 32, BLOCK = 128 };

__device__ uint32_t members()
{
    const uint32_t left = blockDim.x - threadIdx.x / WARP * WARP;
    return left >= WARP ? ~0U : (1U << left) - 1U;
}

/* One warp's worth of exchanges. */
__device__ void exchange(uint32_t value, uint32_t *to, uint32_t pitch)
{
    const uint32_t mask = members();
    const int lane = static_cast<int>(threadIdx.x % WARP);
    to[SIMT_SHFL * pitch] = __shfl_sync(mask, value, static_cast<int>(value % 4));
    to[SIMT_SHFL_8 * pitch] = __shfl_sync(mask, value, 1, 8);
    to[SIMT_UP * pitch] = __shfl_up_sync(mask, value, 3);
    to[SIMT_UP_8 * pitch] = __shfl_up_sync(mask, value, 2, 8);
    to[SIMT_DOWN * pitch] = __shfl_down_sync(mask, value, 0);
    to[SIMT_DOWN_16 * pitch] = __shfl_down_sync(~0U & mask, value, 0, 16);
    to[SIMT_XOR * pitch] = __shfl_xor_sync(mask, value, 0);
    to[SIMT_XOR_4 * pitch] = __shfl_xor_sync(mask, value, 0, 4);
    if (mask == ~0U) {
        to[SIMT_DOWN * pitch] = __shfl_down_sync(mask, value, 5);
        to[SIMT_DOWN_16 * pitch] = __shfl_down_sync(mask, value, 5, 16);
        to[SIMT_XOR * pitch] = __shfl_xor_sync(mask, value, 17);
        to[SIMT_XOR_4 * pitch] = __shfl_xor_sync(mask, value, 6, 4);
    }
    to[SIMT_BALLOT * pitch] = __ballot_sync(mask, (value & 4U) != 0);
    to[SIMT_ANY * pitch] = __any_sync(mask, value % 64 == 5) != 0;
    to[SIMT_ALL * pitch] = __all_sync(mask, value % 64 != 5) != 0;
    to[SIMT_MATCH_ANY * pitch] = __match_any_sync(mask, value % 8);
    const unsigned long long wide = static_cast<unsigned long long>(value % 3) << 40 | 7;
    to[SIMT_MATCH_ANY_64 * pitch] = __match_any_sync(mask, wide);
    int equal = 0;
    const uint32_t all = __match_all_sync(mask, value >> 20 == 0 ? 1U : 2U, &equal);
    to[SIMT_MATCH_ALL * pitch] = equal ? all : static_cast<uint32_t>(lane) + 1000;
}

__device__ void reduce(uint32_t value, uint32_t *to, uint32_t pitch)
{
    const uint32_t mask = members();
#if __CUDA_ARCH__ >= 800
    to[SIMT_REDUCE_ADD * pitch] = __reduce_add_sync(mask, value);
    to[SIMT_REDUCE_MIN * pitch] = __reduce_min_sync(mask, value);
    to[SIMT_REDUCE_MAX_SIGNED * pitch] = static_cast<uint32_t>(
        __reduce_max_sync(mask, static_cast<int>(value)));
    to[SIMT_REDUCE_XOR * pitch] = __reduce_xor_sync(mask, value);
#else
    uint32_t add = 0, least = ~0U, parity = 0;
    int most = static_cast<int>(1U << 31);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t other = __shfl_sync(mask, value, __ffs(static_cast<int>(left)) - 1);
        add += other;
        least = min(least, other);
        most = max(most, static_cast<int>(other));
        parity ^= other;
    }
    to[SIMT_REDUCE_ADD * pitch] = add;
    to[SIMT_REDUCE_MIN * pitch] = least;
    to[SIMT_REDUCE_MAX_SIGNED * pitch] = static_cast<uint32_t>(most);
    to[SIMT_REDUCE_XOR * pitch] = parity;
#endif
    const uint32_t odd = __ballot_sync(mask, value & 1U);
    to[SIMT_ODD_BALLOT * pitch] = to[SIMT_ODD_ADD * pitch] = 0;
    if (value & 1U) {
        to[SIMT_ODD_BALLOT * pitch] = __ballot_sync(odd, (value & 2U) != 0);
        uint32_t sum = 0;
        for (uint32_t left = odd; left != 0; left &= left - 1) {
            sum += __shfl_sync(odd, value, __ffs(static_cast<int>(left)) - 1);
        }
        to[SIMT_ODD_ADD * pitch] = sum;
    }
}

__device__ void together(uint32_t value, uint32_t *to, uint32_t pitch)
{
    __shared__ uint32_t values[MOST];
    to[SIMT_BLOCK_COUNT * pitch] = static_cast<uint32_t>(__syncthreads_count((value & 8U) != 0));
    to[SIMT_BLOCK_AND * pitch] = __syncthreads_and((value & 7U) != 3) != 0;
    to[SIMT_BLOCK_OR * pitch] = __syncthreads_or(value % 1000 == 7) != 0;
    values[threadIdx.x] = value;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < threadIdx.x; i++) {
        sum += values[i];
    }
    to[SIMT_BLOCK_BEFORE * pitch] = sum;
}

__device__ void alone(uint32_t value, uint32_t *to, uint32_t pitch)
{
    const uint32_t other = value * 2654435761U + 12345U;
    to[SIMT_PERM * pitch] = __byte_perm(value, other, 0x6172);
    to[SIMT_FUNNEL_L * pitch] = __funnelshift_l(value, other, value);
    to[SIMT_FUNNEL_R * pitch] = __funnelshift_r(value, other, value);
    to[SIMT_POPC * pitch] = static_cast<uint32_t>(__popc(value));
    to[SIMT_CLZ * pitch] = static_cast<uint32_t>(__clz(static_cast<int>(value >> value % 32)));
    to[SIMT_FFS * pitch] = static_cast<uint32_t>(__ffs(static_cast<int>(value << value % 32)));
    to[SIMT_BREV * pitch] = __brev(value);
    to[SIMT_UMULHI * pitch] = __umulhi(value, other);
    to[SIMT_BYTES_GE * pitch] = __vcmpgeu4(value, other);
    to[SIMT_BYTES_EQ * pitch] = __vcmpeq4(value & 0x03030303U, other & 0x03030303U);
    to[SIMT_BYTES_SUM * pitch] = __vsadu4(value, other);
}

__global__ void functions(const uint32_t *__restrict__ values, uint32_t *results)
{
    const uint32_t value = values[threadIdx.x];
    uint32_t *to = results + threadIdx.x;
    exchange(value, to, blockDim.x);
    reduce(value, to, blockDim.x);
    together(value, to, blockDim.x);
    alone(value, to, blockDim.x);
}

__global__ void atomics(uint32_t *result, unsigned long long *wide)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    atomicAdd(&result[0], i);
    atomicMin(&result[1], i + 5);
    atomicMax(&result[2], i);
    atomicAdd(wide, 1ULL << 33 | i);
    uint32_t was = result[5];
    for (;;) { /* adds one */
        const uint32_t now = atomicCAS(&result[5], was, was + 1);
        if (now == was) {
            break;
        }
        was = now;
    }
}

/* One thread a block. state[3 b] is 1 when the block's value is in state[3 b + 1], and 2 when the sum up to
 * it is in state[3 b + 2]. */
__global__ void look_back(const uint32_t *values, uint32_t *state, uint32_t *before)
{
    if (threadIdx.x != 0) {
        return;
    }
    const uint32_t b = blockIdx.x;
    volatile uint32_t *words = state;
    words[3 * b + 1] = values[b];
    __threadfence();
    atomicExch(&state[3 * b], 1U);
    uint32_t sum = 0, flag = 0;
    for (uint32_t i = b; i-- > 0 && flag != 2;) {
        while ((flag = atomicAdd(&state[3 * i], 0U)) == 0) {
            __nanosleep(20);
        }
        __threadfence();
        sum += words[3 * i + flag];
    }
    before[b] = sum;
    words[3 * b + 2] = sum + values[b];
    __threadfence();
    atomicExch(&state[3 * b], 2U);
}

__global__ void wrong(int kind, uint32_t *results)
{
    __shared__ uint32_t values[WARP];
    const uint32_t lane = threadIdx.x % WARP;
    if (kind == 0) {
        values[lane] = lane;
        results[lane] = values[(lane + 1) % WARP];
    } else if (kind == 1) {
        if (lane < WARP / 2) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    } else if (kind == 2) {
        results[lane] = __ballot_sync(lane == 3 ? ~8U : ~0U, 1);
    } else if (kind == 3) {
        if (lane % 2 == 0) {
            results[lane] = __shfl_sync(~0U, lane, 0);
        } else {
            results[lane] = __ballot_sync(~0U, 1);
        }
    } else if (kind == 4) {
        results[lane] = values[lane];
    } else {
        results[WARP + lane] = 0;
    }
}

} // namespace

extern "C" slc_status simt_functions(const uint32_t *values, uint32_t threads, uint32_t *results,
                                     struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(functions, 1, threads, 0, stream, values, results);
    return slc_cuda_check(cudaGetLastError(), "launching functions", error);
}

extern "C" slc_status simt_atomics(uint32_t blocks, uint32_t *result, struct CUstream_st *stream,
                                   slc_error *error)
{
    SLC_LAUNCH(atomics, blocks, BLOCK, 0, stream, result, reinterpret_cast<unsigned long long *>(result + 6));
    return slc_cuda_check(cudaGetLastError(), "launching atomics", error);
}

extern "C" slc_status simt_look_back(const uint32_t *values, uint32_t blocks, uint32_t *state,
                                     uint32_t *before, struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(look_back, blocks, WARP, 0, stream, values, state, before);
    return slc_cuda_check(cudaGetLastError(), "launching a look-back", error);
}

extern "C" slc_status simt_wrong(int kind, uint32_t *results, struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(wrong, 1, WARP, 0, stream, kind, results);
    return slc_cuda_check(cudaGetLastError(), "launching what is wrong", error);
}
