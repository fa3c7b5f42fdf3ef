/* SPDX-License-Identifier: Apache-2.0
 *
 * `merge-seed`: the sort of the seed of this module (shared/seeds/004), to compare with. A block sorts 1024
 * singles by merging in shared memory; then rows that are sorted are merged two by two, each pair in pieces
 * of at most 256 singles of either, which samples of both bound. The seed filled its input with largest
 * values up to a power of two, beyond the end of its arrays; here the last rows are shorter.
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum { BLOCK = 1024, PIECE = 256, FEW_THREADS = 256 };

struct record {
    uint64_t key;
    uint32_t crystal, energy;
};

/* The first place of a sorted row at which the key is not below `key`; with `above` set, is above it. */
__device__ __forceinline__ uint32_t first_from(const record *row, uint32_t n, uint64_t key, bool above)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (row[middle].key < key || (above && row[middle].key == key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ void __launch_bounds__(BLOCK) sort_blocks(const columns from, uint32_t n, record *to)
{
    __shared__ record tile[BLOCK];
    const uint64_t at = static_cast<uint64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    const uint32_t some = static_cast<uint32_t>(min(static_cast<uint64_t>(BLOCK), n - (at - threadIdx.x)));
    if (at < n) {
        const uint32_t row = static_cast<uint32_t>(at);
        tile[threadIdx.x] = record{key_at(from, row), crystal_at(from, row), energy_at(from, row)};
    }
    __syncthreads();
    for (uint32_t length = 1; length < some; length *= 2) {
        record mine = {0, 0, 0};
        uint32_t place = 0;
        if (threadIdx.x < some) {
            const uint32_t in_row = threadIdx.x % length, row = threadIdx.x - in_row;
            const bool second = (threadIdx.x / length) % 2 != 0;
            const uint32_t other = second ? row - length : row + length;
            const uint32_t n_other = other < some ? min(length, some - other) : 0;
            mine = tile[threadIdx.x];
            /* Of equal ones, those of the first row come first. */
            place = (second ? other : row) + in_row + first_from(tile + other, n_other, mine.key, second);
        }
        __syncthreads();
        if (threadIdx.x < some) {
            tile[place] = mine;
        }
        __syncthreads();
    }
    if (at < n) {
        to[at] = tile[threadIdx.x];
    }
}

/* Two rows that are merged: the place of the first, and the lengths of both. */
struct pair {
    uint64_t at;
    uint32_t n[2];
};

__device__ __forceinline__ pair pair_of(uint64_t number, uint64_t length, uint32_t n)
{
    pair p;
    p.at = number * 2 * length;
    const uint64_t rest = n - p.at;
    p.n[0] = static_cast<uint32_t>(min(length, rest));
    p.n[1] = static_cast<uint32_t>(min(length, rest - p.n[0]));
    return p;
}

/* A thread for each sample, that is for every 256th single of a row: where the piece that begins with it
 * begins in both rows. The pieces are in the order of their samples. */
__global__ void __launch_bounds__(FEW_THREADS)
    find_limits(const record *from, uint32_t n, uint64_t length, uint32_t *limits)
{
    const uint64_t sample = static_cast<uint64_t>(blockIdx.x) * FEW_THREADS + threadIdx.x;
    const uint64_t at = sample * PIECE;
    if (at >= n) {
        return;
    }
    const pair p = pair_of(at / (2 * length), length, n);
    const bool second = at - p.at >= length;
    const uint32_t mine = static_cast<uint32_t>(at - p.at - (second ? length : 0));
    const record *other = from + p.at + (second ? 0 : p.n[0]);
    const uint32_t theirs = first_from(other, p.n[second ? 0 : 1], from[at].key, second);
    /* Their samples before: those at places 0, 256 and so on below `theirs`. */
    const uint64_t place = p.at / PIECE + mine / PIECE + (theirs + PIECE - 1) / PIECE;
    limits[2 * place] = second ? theirs : mine;
    limits[2 * place + 1] = second ? mine : theirs;
}

__global__ void __launch_bounds__(PIECE)
    merge_pieces(const record *from, uint32_t n, uint64_t length, const uint32_t *limits, record *to)
{
    __shared__ record tile[2][PIECE];
    const uint64_t piece = blockIdx.x;
    const pair p = pair_of(piece * PIECE / (2 * length), length, n);
    const uint64_t next = (piece + 1) * PIECE;
    const bool last = next >= p.at + 2 * length || next >= n;
    uint32_t begin[2], some[2];
    for (int i = 0; i < 2; i++) {
        begin[i] = limits[2 * piece + i];
        some[i] = (last ? p.n[i] : limits[2 * (piece + 1) + i]) - begin[i];
        if (threadIdx.x < some[i]) {
            tile[i][threadIdx.x] = from[p.at + (i == 0 ? 0 : p.n[0]) + begin[i] + threadIdx.x];
        }
    }
    __syncthreads();
    record *out = to + p.at + begin[0] + begin[1];
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x < some[i]) {
            const record mine = tile[i][threadIdx.x];
            out[threadIdx.x + first_from(tile[1 - i], some[1 - i], mine.key, i == 1)] = mine;
        }
    }
}

struct output {
    int64_t *time;
    uint32_t *crystal, *energy;
};

__global__ void __launch_bounds__(FEW_THREADS) to_columns(const record *from, uint32_t n, const output to)
{
    const uint64_t at = static_cast<uint64_t>(blockIdx.x) * FEW_THREADS + threadIdx.x;
    if (at < n) {
        const record mine = from[at];
        to.time[at] = time_of(mine.key);
        to.crystal[at] = mine.crystal;
        to.energy[at] = mine.energy;
    }
}
} // namespace

size_t slc_pet_sort_merge_limits(uint32_t n)
{
    return 2 * (static_cast<size_t>(n) / PIECE + 1);
}

slc_status slc_pet_sort_merge_run(const slc_pet_sort_merge *job, slc_error *error)
{
    const uint32_t n = job->n, pieces = blocks_for(n, PIECE);
    record *now = static_cast<record *>(job->records[0]), *then = static_cast<record *>(job->records[1]);
    SLC_LAUNCH(sort_blocks, blocks_for(n, BLOCK), BLOCK, 0, job->stream, columns_of(job->from), n, now);
    for (uint64_t length = BLOCK; length < n; length *= 2) {
        SLC_LAUNCH(find_limits, blocks_for(pieces, FEW_THREADS), FEW_THREADS, 0, job->stream, now, n, length,
                   job->limits);
        SLC_LAUNCH(merge_pieces, pieces, PIECE, 0, job->stream, now, n, length, job->limits, then);
        record *const swap = now;
        now = then;
        then = swap;
    }
    const output to = {job->to.time_ps, job->to.crystal, reinterpret_cast<uint32_t *>(job->to.energy_kev)};
    SLC_LAUNCH(to_columns, blocks_for(n, FEW_THREADS), FEW_THREADS, 0, job->stream, now, n, to);
    return slc_cuda_check(cudaGetLastError(), "launching a merge sort", error);
}
