/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH3_64bits (Y. Collet, xxHash's specification of XXH3, version 0.8) of the rows that an event has in a
 * column, a block for each of these pairs. XXH3 goes over an input in blocks of 1024 bytes: what such a block
 * adds to its eight sums depends on nothing before it, and only the scrambling behind it goes on from block
 * to block. So warps compute what blocks add, side by side, and one warp goes through them in order.
 */
#include "cuda/cuda_checksum.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"

namespace
{

typedef unsigned long long word;

enum {
    WARPS = 8,
    WARP = 32,
    THREADS = WARPS * WARP,
    SUMS = 8,           /* of 64 bits: XXH3's accumulators */
    STRIPE = 64,        /* bytes: a word for each sum */
    BLOCK_STRIPES = 16, /* between two scramblings, with the secret of 192 bytes */
    BLOCK = BLOCK_STRIPES * STRIPE,
    SHORT = 240,    /* inputs up to here have formulas of their own */
    GRID_BLOCKS = 8 /* of a multiprocessor */
};
static const uint32_t at_once = 32; /* blocks of the hash, between two barriers */
static const uint32_t all_lanes = 0xffffffffU;

static const word prime32_1 = 0x9E3779B1U, prime32_2 = 0x85EBCA77U, prime32_3 = 0xC2B2AE3DU;
static const word prime64_1 = 0x9E3779B185EBCA87ULL, prime64_2 = 0xC2B2AE3D27D4EB4FULL,
                  prime64_3 = 0x165667B19E3779F9ULL, prime64_4 = 0x85EBCA77C2B2AE63ULL,
                  prime64_5 = 0x27D4EB2F165667C5ULL;
static const word prime_mx1 = 0x165667919E3779F9ULL, prime_mx2 = 0x9FB21C651E98DF25ULL;

/* The default secret, as words. */
__constant__ const word secret[24] = {
    0xbe4ba423396cfeb8ULL, 0x1cad21f72c81017cULL, 0xdb979083e96dd4deULL, 0x1f67b3b7a4a44072ULL,
    0x78e5c0cc4ee679cbULL, 0x2172ffcc7dd05a82ULL, 0x8e2443f7744608b8ULL, 0x4c263a81e69035e0ULL,
    0xcb00c391bb52283cULL, 0xa32e531b8b65d088ULL, 0x4ef90da297486471ULL, 0xd8acdea946ef1938ULL,
    0x3f349ce33f76faa8ULL, 0x1d4f0bc7c7bbdcf9ULL, 0x3159b4cd4be0518aULL, 0x647378d9c97e9fc8ULL,
    0xc3ebd33483acc5eaULL, 0xeb6313faffa081c5ULL, 0x49daf0b751dd0d17ULL, 0x9e68d429265516d3ULL,
    0xfca1477d58be162bULL, 0xce31d07ad1b8f88fULL, 0x280416958f3acb45ULL, 0x7e404bbbcafbd7afULL,
};

__device__ word secret_at(uint32_t byte)
{
    const uint32_t shift = 8 * (byte % 8);
    const word low = secret[byte / 8];
    return shift == 0 ? low : low >> shift | secret[byte / 8 + 1] << (64 - shift);
}

/* ---- words of the input ---- */

/* From any place; aligned words that hold bytes of it are read. */
__device__ word load(const uint8_t *at)
{
    const uint32_t shift = 8 * static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) % 8);
    const word *words = reinterpret_cast<const word *>(at - shift / 8);
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
}

__device__ word load_bytes(const uint8_t *at, uint32_t n)
{
    word value = 0;
    for (uint32_t i = 0; i < n; i++) {
        value |= static_cast<word>(at[i]) << (8 * i);
    }
    return value;
}

/* ---- mixing ---- */

__device__ word fold(word a, word b)
{
    return (a * b) ^ __umul64hi(a, b);
}

__device__ word xorshift(word x, uint32_t by)
{
    return x ^ x >> by;
}

__device__ word avalanche(word x)
{
    return xorshift(xorshift(x, 37) * prime_mx1, 32);
}

/* The last step of XXH64. */
__device__ word avalanche64(word x)
{
    return xorshift(xorshift(xorshift(x, 33) * prime64_2, 29) * prime64_3, 32);
}

__device__ word swapped(word x)
{
    const uint32_t low = __byte_perm(static_cast<uint32_t>(x >> 32), 0, 0x0123);
    const uint32_t high = __byte_perm(static_cast<uint32_t>(x), 0, 0x0123);
    return static_cast<word>(high) << 32 | low;
}

/* ---- short inputs ---- */

__device__ word mix16(const uint8_t *at, uint32_t secret_byte)
{
    return fold(load_bytes(at, 8) ^ secret_at(secret_byte),
                load_bytes(at + 8, 8) ^ secret_at(secret_byte + 8));
}

__device__ word hash16(const uint8_t *at, uint32_t n)
{
    if (n > 8) {
        const word low = load_bytes(at, 8) ^ (secret_at(24) ^ secret_at(32));
        const word high = load_bytes(at + n - 8, 8) ^ (secret_at(40) ^ secret_at(48));
        return avalanche(n + swapped(low) + high + fold(low, high));
    }
    if (n >= 4) {
        const word both = load_bytes(at + n - 4, 4) + (load_bytes(at, 4) << 32);
        word x = both ^ (secret_at(8) ^ secret_at(16));
        x ^= (x << 49 | x >> 15) ^ (x << 24 | x >> 40);
        x *= prime_mx2;
        x ^= (x >> 35) + n;
        return xorshift(x * prime_mx2, 28);
    }
    if (n > 0) {
        const word all = static_cast<word>(at[0]) << 16 | static_cast<word>(at[n / 2]) << 24 | at[n - 1] |
                         n << 8;
        return avalanche64(all ^ ((secret_at(0) ^ secret_at(4)) & 0xffffffffU));
    }
    return avalanche64(secret_at(56) ^ secret_at(64));
}

__device__ word hash_short(const uint8_t *at, uint32_t n)
{
    if (n <= 16) {
        return hash16(at, n);
    }
    word sum = n * prime64_1;
    if (n <= 128) {
        for (uint32_t i = (n - 1) / 32 + 1; i-- > 0;) {
            sum += mix16(at + 16 * i, 32 * i) + mix16(at + n - 16 * (i + 1), 32 * i + 16);
        }
        return avalanche(sum);
    }
    for (uint32_t i = 0; i < 8; i++) {
        sum += mix16(at + 16 * i, 16 * i);
    }
    sum = avalanche(sum);
    for (uint32_t i = 8; i < n / 16; i++) {
        sum += mix16(at + 16 * i, 16 * (i - 8) + 3);
    }
    return avalanche(sum + mix16(at + n - 16, 136 - 17));
}

/* ---- long inputs: a block of threads ---- */

/* Lane l has sum l % 8 and of each four stripes number l / 8. */
struct lane_secret {
    word stripe[BLOCK_STRIPES / 4], scramble;
};

/* What stripe number l / 8 adds to sum l % 8, before sums of two lanes change places. */
__device__ void accumulate(word data, word key, word *product, word *plain)
{
    const word x = data ^ key;
    *product += (x & 0xffffffffU) * (x >> 32);
    *plain += data;
}

/* The sum over the four lanes with the same l % 8. A stripe's word itself is added to the sum beside its own.
 */
__device__ word together(word product, word plain)
{
    word sum = product + __shfl_xor_sync(all_lanes, plain, 1);
    sum += __shfl_xor_sync(all_lanes, sum, 8);
    return sum + __shfl_xor_sync(all_lanes, sum, 16);
}

/* Of the first `stripes` stripes of a block. */
__device__ word add_block(const uint8_t *at, uint32_t stripes, const lane_secret &keys, uint32_t lane)
{
    word product = 0, plain = 0;
#pragma unroll
    for (uint32_t s = 0; s < BLOCK_STRIPES / 4; s++) {
        if (4 * s + lane / SUMS < stripes) {
            accumulate(load(at + 4 * STRIPE * s + 8 * lane), keys.stripe[s], &product, &plain);
        }
    }
    return together(product, plain);
}

__device__ word first_sum(uint32_t i)
{
    const word sums[SUMS] = {prime32_3, prime64_1, prime64_2, prime64_3,
                             prime64_4, prime32_2, prime64_5, prime32_1};
    return sums[i];
}

/* From the sums of all lanes, which every lane gets. */
__device__ word merge(word sum, uint32_t lane, word n)
{
    const word mine = sum ^ secret_at(11 + 8 * (lane % SUMS));
    word folded = fold(mine, __shfl_xor_sync(all_lanes, mine, 1));
    folded += __shfl_xor_sync(all_lanes, folded, 2);
    folded += __shfl_xor_sync(all_lanes, folded, 4);
    return avalanche(n * prime64_1 + folded);
}

/* All threads of the block; the first warp has the result. */
__device__ word hash_long(const uint8_t *at, word n, const lane_secret &keys)
{
    __shared__ word added[2][at_once][SUMS];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const word blocks = (n - 1) / BLOCK;
    word sum = first_sum(lane % SUMS);
    uint32_t which = 0;
    for (word first = 0; first < blocks; first += at_once, which ^= 1) {
        const uint32_t here = blocks - first < at_once ? static_cast<uint32_t>(blocks - first) : at_once;
        for (uint32_t b = warp; b < here; b += WARPS) {
            const word x = add_block(at + (first + b) * BLOCK, BLOCK_STRIPES, keys, lane);
            if (lane < SUMS) {
                added[which][b][lane] = x;
            }
        }
        __syncthreads();
        for (uint32_t b = 0; warp == 0 && b < here; b++) {
            sum += added[which][b][lane % SUMS];
            sum = (xorshift(sum, 47) ^ keys.scramble) * prime32_1;
        }
    }
    __syncthreads(); /* `added` is the next input's */
    if (warp != 0) {
        return 0;
    }
    const uint32_t stripes = static_cast<uint32_t>((n - 1 - blocks * BLOCK) / STRIPE);
    sum += add_block(at + blocks * BLOCK, stripes, keys, lane);
    word product = 0, plain = 0; /* the last 64 bytes, whatever stripes they are in */
    if (lane < SUMS) {
        accumulate(load(at + n - STRIPE + 8 * lane), secret_at(192 - STRIPE - 7 + 8 * lane), &product,
                   &plain);
    }
    return merge(sum + together(product, plain), lane, n);
}

/* ---- events and columns ---- */

__global__ void __launch_bounds__(THREADS) sum_columns(const slc_cuda_checksum job)
{
    const uint32_t lane = threadIdx.x % WARP;
    lane_secret keys;
    for (uint32_t s = 0; s < BLOCK_STRIPES / 4; s++) {
        keys.stripe[s] = secret[4 * s + lane / SUMS + lane % SUMS];
    }
    keys.scramble = secret[BLOCK_STRIPES + lane % SUMS];
    const uint32_t tasks = job.n_events * job.n_columns;
    for (uint32_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const uint32_t event = task / job.n_columns;
        const slc_cuda_checksum_column &column = job.column[task % job.n_columns];
        const uint32_t begin = column.offset[event];
        const word n = static_cast<word>(column.offset[event + 1] - begin) * column.width;
        const uint8_t *at = static_cast<const uint8_t *>(column.bytes) +
                            static_cast<word>(begin) * column.width;
        word hash = 0;
        if (n > SHORT) {
            hash = hash_long(at, n, keys);
        } else if (threadIdx.x == 0) {
            hash = hash_short(at, static_cast<uint32_t>(n));
        }
        if (threadIdx.x == 0) {
            atomicAdd(reinterpret_cast<word *>(job.sum) + event, column.factor * hash);
        }
    }
}

} // namespace

slc_status slc_cuda_checksum_run(const slc_cuda_checksum *job, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error)
{
    const uint64_t tasks = static_cast<uint64_t>(job->n_events) * job->n_columns;
    if (tasks > UINT32_MAX / 2) {
        return slc_fail(error, SLC_ERR_USAGE, "a checksum of %u events is too large for a GPU",
                        job->n_events);
    }
    if (tasks == 0) {
        return SLC_OK;
    }
    const uint32_t most = multiprocessors * GRID_BLOCKS;
    SLC_LAUNCH(sum_columns, tasks < most ? static_cast<uint32_t>(tasks) : most, THREADS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "launching the checksum", error);
}
