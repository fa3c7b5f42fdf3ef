/* SPDX-License-Identifier: Apache-2.0
 *
 * The sort that is made for near order: singles to buckets, each of which a block then sorts by itself
 * (pet_sort_local.cu).
 *
 *     times ─count─► cells of equal lengths of time, some 128 singles each ─running sums─► first places
 *     first places ─► buckets: the cells that begin in one stretch of 1536 places
 *     singles ─► any free place of their buckets: 16 bytes with the number of the arrival
 *
 * Cells follow what density there is, so that buckets are about equal. Where singles are nearly in order, a
 * tile of them meets few cells and buckets, which it counts in a window in shared memory first; what is
 * outside of the window goes to the device's memory at once, so that any order works. Where samples tell that
 * there is no such order, singles are first brought into 256 groups (pet_sort_radix.cu), in each of which few
 * buckets are met. Where cells are much too full, as for a time that is far off, these are divided again, by
 * a map (`refine`).
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum {
    COUNT_THREADS = 512,
    COUNT_EACH = 8,
    COUNT_ROUNDS = 2,
    COUNT_ROUND = COUNT_THREADS * COUNT_EACH,
    COUNT_TILE = COUNT_ROUND * COUNT_ROUNDS,
    MOVE_THREADS = 256,
    NEAR_EACH = 4,
    GROUPED_EACH = 8,
    FEW_THREADS = 256,
    SAMPLES = 64,                    /* of as many singles as a block has threads */
    TOO_FULL = 4 * SLC_PET_SORT_CELL /* singles of a cell that a map divides */
};
#ifdef SLUICE_SIMT
constexpr uint32_t COUNT_WINDOW = 64, MOVE_WINDOW = 8; /* so that small input is larger than these */
#else
constexpr uint32_t COUNT_WINDOW = 4096, MOVE_WINDOW = 512; /* cells; buckets */
#endif
constexpr uint32_t NO_BUCKET = ~0U;

/* ---- cells ------------------------------------------------------------------------------------- */

struct grid {
    uint64_t least, span;
    uint32_t shift;
};

__device__ __forceinline__ grid grid_of(const slc_pet_sort_head *head, uint32_t cell_bits)
{
    grid g;
    g.least = ~head->not_least;
    g.span = head->most - g.least;
    const uint32_t bits = 64U - static_cast<uint32_t>(__clzll(static_cast<long long>(g.span)));
    g.shift = bits > cell_bits ? bits - cell_bits : 0;
    return g;
}

/* How far 2^k parts divide a cell. */
__device__ __forceinline__ uint32_t parts_log2(uint32_t parts)
{
    return 31U - static_cast<uint32_t>(__clz(static_cast<int>(parts)));
}

/* By what a key is since the least one. */
template <bool REFINED>
__device__ __forceinline__ uint32_t cell_of(const grid &g, const uint32_t *map, uint64_t since)
{
    const uint32_t cell = static_cast<uint32_t>(since >> g.shift);
    if (!REFINED) {
        return cell;
    }
    const uint32_t first = __ldg(map + cell), parts = __ldg(map + cell + 1) - first;
    const uint64_t rest = since & ((1ULL << g.shift) - 1);
    return first + static_cast<uint32_t>(rest >> (g.shift - parts_log2(parts)));
}

/* How far singles are from the first one that arrived with them: more than half a window of buckets? */
__global__ void __launch_bounds__(FEW_THREADS)
    sample(const columns from, uint32_t n, uint32_t cell_bits, slc_pet_sort_head *head)
{
    const grid g = grid_of(head, cell_bits);
    const uint64_t used = (g.span >> g.shift) + 1;
    const uint64_t most = used * (MOVE_WINDOW / 2 * SLC_PET_SORT_BUCKET) / n + 1;
    const uint32_t first = (n - FEW_THREADS) / SAMPLES * blockIdx.x;
    const uint64_t cell = (key_at(from, first + threadIdx.x) - g.least) >> g.shift;
    const uint64_t other = (key_at(from, first) - g.least) >> g.shift;
    const uint64_t far = cell > other ? cell - other : other - cell;
    const int count = __syncthreads_count(far > most);
    if (threadIdx.x == 0 && count > 0) {
        atomicAdd(&head->far, static_cast<uint32_t>(count));
    }
}

__device__ __forceinline__ bool no_order(const slc_pet_sort_head *head)
{
    return head->far > SLC_PET_SORT_FAR;
}

/* The least over all threads; `warps` is a word for each warp. */
template <int THREADS> __device__ __forceinline__ uint32_t least_of_block(uint32_t value, uint32_t *warps)
{
    value = slc_warp_least(value);
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = slc_warp_least(warps[threadIdx.x % (THREADS / 32)]);
    return value;
}

/* Where a window begins that has the cell or bucket in its middle. */
template <uint32_t WINDOW> __device__ __forceinline__ uint32_t window_around(uint32_t number)
{
    return number > WINDOW / 2 ? number - WINDOW / 2 : 0;
}

template <bool REFINED>
__global__ void __launch_bounds__(COUNT_THREADS, 2)
    count_cells(const columns from, uint32_t n, const slc_pet_sort_head *head, uint32_t cell_bits,
                const uint32_t *map, bool grouped, uint32_t *cells)
{
    __shared__ uint32_t window[COUNT_WINDOW], warps[COUNT_THREADS / 32];
    const uint64_t tile = static_cast<uint64_t>(blockIdx.x) * COUNT_TILE;
    const grid g = grid_of(head, cell_bits);
    if (!grouped && no_order(head)) {
        return;
    }
    for (uint32_t i = threadIdx.x; i < COUNT_WINDOW; i += COUNT_THREADS) {
        window[i] = 0;
    }
    const uint64_t mine = tile + threadIdx.x;
    const uint64_t first = key_at(from, static_cast<uint32_t>(grouped && mine < n ? mine : tile));
    uint32_t base = cell_of<REFINED>(g, map, first - g.least);
    base = grouped ? least_of_block<COUNT_THREADS>(base, warps) : window_around<COUNT_WINDOW>(base);
    __syncthreads();
    for (uint64_t round = tile; round < tile + COUNT_TILE; round += COUNT_ROUND) {
        uint64_t since[COUNT_EACH];
#pragma unroll
        for (uint32_t i = 0; i < COUNT_EACH; i++) {
            const uint64_t row = round + i * COUNT_THREADS + threadIdx.x;
            since[i] = key_at(from, static_cast<uint32_t>(row < n ? row : tile)) - g.least;
        }
#pragma unroll
        for (uint32_t i = 0; i < COUNT_EACH; i++) {
            if (round + i * COUNT_THREADS + threadIdx.x < n) {
                const uint32_t cell = cell_of<REFINED>(g, map, since[i]), place = cell - base;
                if (place < COUNT_WINDOW) {
                    atomicAdd(window + place, 1U);
                } else {
                    atomicAdd(cells + cell, 1U);
                }
            }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < COUNT_WINDOW; i += COUNT_THREADS) {
        if (window[i] != 0) {
            atomicAdd(cells + (base + i), window[i]);
        }
    }
}

/* ---- a map ------------------------------------------------------------------------------------- */

/* Into how many parts each cell is divided. `cells` are first places. */
__global__ void __launch_bounds__(FEW_THREADS)
    divide_cells(const slc_pet_sort_head *head, const uint32_t *cells, uint32_t cell_bits, uint32_t *map)
{
    const grid g = grid_of(head, cell_bits);
    const uint32_t cell = blockIdx.x * FEW_THREADS + threadIdx.x;
    if (cell >= 1U << cell_bits) {
        return;
    }
    const uint32_t count = cells[cell + 1] - cells[cell];
    uint32_t bits = 0;
    if (count > TOO_FULL) {
        bits = min(parts_log2(count / SLC_PET_SORT_CELL) + 1, g.shift);
    }
    map[cell] = 1U << bits;
}

__global__ void tell_cells(const uint32_t *map, uint32_t cell_bits, slc_pet_sort_head *head)
{
    head->cells = map[1U << cell_bits];
}

/* ---- buckets ----------------------------------------------------------------------------------- */

/* The first of n + 1 rising numbers that is not below `bound`; with `above` set, that is above it. */
__device__ __forceinline__ uint32_t first_from(const uint32_t *rising, uint32_t n, uint32_t bound, bool above)
{
    uint32_t low = 0, high = n + 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rising[middle] < bound || (above && rising[middle] == bound)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where a cell begins, since the least key; *last: its end, which belongs to it. */
__device__ __forceinline__ uint64_t begin_of_cell(const grid &g, const uint32_t *map, uint32_t cell_bits,
                                                  uint32_t cell, uint64_t *last)
{
    uint32_t shift = g.shift;
    uint64_t begin = static_cast<uint64_t>(cell) << shift;
    if (map != nullptr) {
        const uint32_t whole = first_from(map, 1U << cell_bits, cell, true) - 1;
        shift -= parts_log2(map[whole + 1] - map[whole]);
        begin = (static_cast<uint64_t>(whole) << g.shift) +
                (static_cast<uint64_t>(cell - map[whole]) << shift);
    }
    *last = begin + ((1ULL << shift) - 1);
    return begin;
}

/* A bucket begins with the first cell that begins in its stretch of places. */
__global__ void __launch_bounds__(FEW_THREADS)
    find_buckets(const uint32_t *cells, uint32_t n_cells, uint32_t n, const uint32_t *map, uint32_t cell_bits,
                 bool grouped, uint32_t *cursor, uint64_t *low, slc_pet_sort_head *head)
{
    const uint64_t bucket = static_cast<uint64_t>(blockIdx.x) * FEW_THREADS + threadIdx.x;
    const uint64_t place = bucket * SLC_PET_SORT_BUCKET;
    if (place >= n || (!grouped && no_order(head))) {
        return;
    }
    const grid g = grid_of(head, cell_bits);
    const uint64_t next = place + SLC_PET_SORT_BUCKET;
    const uint32_t begin = cells[first_from(cells, n_cells, static_cast<uint32_t>(place), false)];
    const uint32_t behind = first_from(cells, n_cells, static_cast<uint32_t>(next < n ? next : n), false);
    const uint32_t end = cells[behind];
    cursor[bucket] = begin;
    low[bucket] = 0;
    if (begin == end) {
        return;
    }
    /* Of cells that begin in one place the last one is not empty. */
    const uint32_t first_cell = first_from(cells, n_cells, begin, true) - 1;
    const uint32_t last_cell = first_from(cells, n_cells, end, false) - 1;
    uint64_t last, unused;
    const uint64_t since = begin_of_cell(g, map, cell_bits, first_cell, &unused);
    (void)begin_of_cell(g, map, cell_bits, last_cell, &last);
    low[bucket] = g.least + since;
    if (last - since > UINT32_MAX) {
        head->wide = 1; /* whoever writes it writes this */
    }
    if (end - begin > SLC_PET_SORT_MOST) { /* else nobody asks */
        atomicMax(&head->fullest, end - begin);
    }
}

/* ---- moving ------------------------------------------------------------------------------------ */

/* Where the run of lanes with this lane's bucket begins, and behind where it ends. */
__device__ __forceinline__ uint2 run_of(uint32_t bucket)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t before = __shfl_up_sync(ALL_LANES, bucket, 1);
    const uint32_t heads = __ballot_sync(ALL_LANES, lane == 0 || before != bucket);
    const uint32_t up_to = ALL_LANES >> (31 - lane), after = heads & ~up_to;
    return make_uint2(31U - static_cast<uint32_t>(__clz(static_cast<int>(heads & up_to))),
                      after != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(after))) - 1 : 32);
}

/* What a thread has of a tile; place: among its bucket's in the tile, or where the bucket is outside of the
 * window, among all. */
template <int EACH> struct cargo {
    uint32_t low[EACH], crystal[EACH], energy[EACH], bucket[EACH], place[EACH];
};

template <bool REFINED, int EACH>
__device__ __forceinline__ void load(cargo<EACH> &c, const columns &from, uint32_t n, const grid &g,
                                     const uint32_t *map, const uint32_t *cells)
{
    const uint64_t tile = static_cast<uint64_t>(blockIdx.x) * (MOVE_THREADS * EACH);
    uint64_t keys[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t at = tile + i * MOVE_THREADS + threadIdx.x;
        const uint32_t row = static_cast<uint32_t>(at < n ? at : tile);
        keys[i] = key_at(from, row);
        c.crystal[i] = crystal_at(from, row);
        c.energy[i] = energy_at(from, row);
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t cell = cell_of<REFINED>(g, map, keys[i] - g.least);
        const bool there = tile + i * MOVE_THREADS + threadIdx.x < n;
        c.bucket[i] = there ? __ldg(cells + cell) / SLC_PET_SORT_BUCKET : NO_BUCKET;
        c.low[i] = static_cast<uint32_t>(keys[i]);
    }
}

/* Counts in the window, and what is outside of it in the device's memory. */
template <int EACH>
__device__ __forceinline__ void take_places(cargo<EACH> &c, uint32_t base, uint32_t *window, uint32_t *cursor)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint2 run = run_of(c.bucket[i]);
        uint32_t place = 0;
        if (lane == run.x && c.bucket[i] != NO_BUCKET) {
            const uint32_t inside = c.bucket[i] - base;
            place = atomicAdd(inside < MOVE_WINDOW ? window + inside : cursor + c.bucket[i], run.y - run.x);
        }
        c.place[i] = __shfl_sync(ALL_LANES, place, static_cast<int>(run.x)) + lane - run.x;
    }
}

__device__ __forceinline__ void take_window(uint32_t base, uint32_t *window, uint32_t *cursor)
{
    for (uint32_t i = threadIdx.x; i < MOVE_WINDOW; i += MOVE_THREADS) {
        if (window[i] != 0) {
            window[i] = atomicAdd(cursor + (base + i), window[i]);
        }
    }
}

/* In near order: neighbours go to places that are neighbours. */
template <bool REFINED>
__global__ void __launch_bounds__(MOVE_THREADS, RESIDENT / MOVE_THREADS)
    move_near(const columns from, uint32_t n, const slc_pet_sort_head *head, uint32_t cell_bits,
              const uint32_t *map, const uint32_t *cells, uint32_t *cursor, uint4 *records)
{
    __shared__ uint32_t window[MOVE_WINDOW];
    const uint32_t tile = blockIdx.x * (MOVE_THREADS * NEAR_EACH);
    const grid g = grid_of(head, cell_bits);
    cargo<NEAR_EACH> c;
    for (uint32_t i = threadIdx.x; i < MOVE_WINDOW; i += MOVE_THREADS) {
        window[i] = 0;
    }
    const uint64_t first = key_at(from, tile) - g.least;
    load<REFINED, NEAR_EACH>(c, from, n, g, map, cells);
    const uint32_t base = window_around<MOVE_WINDOW>(cells[cell_of<REFINED>(g, map, first)] /
                                                     SLC_PET_SORT_BUCKET);
    __syncthreads();
    take_places<NEAR_EACH>(c, base, window, cursor);
    __syncthreads();
    take_window(base, window, cursor);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < NEAR_EACH; i++) {
        if (c.bucket[i] != NO_BUCKET) {
            const uint32_t inside = c.bucket[i] - base;
            const uint32_t place = c.place[i] + (inside < MOVE_WINDOW ? window[inside] : 0);
            records[place] = make_uint4(c.low[i], tile + i * MOVE_THREADS + threadIdx.x, c.crystal[i],
                                        c.energy[i]);
        }
    }
}

/* Where each bucket of a window begins in the tile. Returns the sum of all. */
__device__ __forceinline__ uint32_t sum_window(const uint32_t *window, uint32_t *begins, uint32_t *warps)
{
    constexpr uint32_t PER = (MOVE_WINDOW + MOVE_THREADS - 1) / MOVE_THREADS;
    uint32_t sum = 0, all;
#pragma unroll
    for (uint32_t i = 0; i < PER; i++) {
        const uint32_t at = threadIdx.x * PER + i;
        sum += at < MOVE_WINDOW ? window[at] : 0;
    }
    uint32_t before = sum_before<MOVE_THREADS>(sum, warps, &all);
#pragma unroll
    for (uint32_t i = 0; i < PER; i++) {
        const uint32_t at = threadIdx.x * PER + i;
        if (at < MOVE_WINDOW) {
            begins[at] = before;
            before += window[at];
        }
    }
    return all;
}

/* In groups: neighbours go anywhere in the group, so that a tile is brought into the order of the buckets
 * before it leaves. */
template <bool REFINED>
__global__ void __launch_bounds__(MOVE_THREADS, 4)
    move_grouped(const columns from, uint32_t n, const slc_pet_sort_head *head, uint32_t cell_bits,
                 const uint32_t *map, const uint32_t *cells, uint32_t *cursor, uint4 *records)
{
    __shared__ uint32_t window[MOVE_WINDOW], begins[MOVE_WINDOW], least[MOVE_THREADS / 32],
        warps[MOVE_THREADS / 32];
    __shared__ uint4 out[MOVE_THREADS * GROUPED_EACH];
    __shared__ uint32_t places[MOVE_THREADS * GROUPED_EACH];
    const uint32_t tile = blockIdx.x * (MOVE_THREADS * GROUPED_EACH);
    cargo<GROUPED_EACH> c;
    for (uint32_t i = threadIdx.x; i < MOVE_WINDOW; i += MOVE_THREADS) {
        window[i] = 0;
    }
    load<REFINED, GROUPED_EACH>(c, from, n, grid_of(head, cell_bits), map, cells);
    const uint32_t base = least_of_block<MOVE_THREADS>(c.bucket[0], least);
    take_places<GROUPED_EACH>(c, base, window, cursor);
    __syncthreads();
    const uint32_t inside = sum_window(window, begins, warps);
    __syncthreads();
    take_window(base, window, cursor);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < GROUPED_EACH; i++) {
        const uint32_t number = c.bucket[i] - base;
        const uint4 record = make_uint4(c.low[i], tile + i * MOVE_THREADS + threadIdx.x, c.crystal[i],
                                        c.energy[i]);
        if (number < MOVE_WINDOW) { /* NO_BUCKET is not */
            out[begins[number] + c.place[i]] = record;
            places[begins[number] + c.place[i]] = window[number] + c.place[i];
        } else if (c.bucket[i] != NO_BUCKET) {
            records[c.place[i]] = record;
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < inside; i += MOVE_THREADS) {
        records[places[i]] = out[i];
    }
}
} // namespace

slc_status slc_pet_sort_near_count(const slc_pet_sort_near *job, slc_error *error)
{
    const columns from = columns_of(job->from);
    const uint32_t blocks = blocks_for(job->n, COUNT_TILE);
    if (!job->grouped && job->n > MOVE_WINDOW / 2 * SLC_PET_SORT_BUCKET) {
        SLC_LAUNCH(sample, SAMPLES, FEW_THREADS, 0, job->stream, from, job->n, job->cell_bits, job->head);
    }
    if (job->map != nullptr) {
        SLC_LAUNCH(count_cells<true>, blocks, COUNT_THREADS, 0, job->stream, from, job->n, job->head,
                   job->cell_bits, job->map, job->grouped, job->cells);
    } else {
        SLC_LAUNCH(count_cells<false>, blocks, COUNT_THREADS, 0, job->stream, from, job->n, job->head,
                   job->cell_bits, job->map, job->grouped, job->cells);
    }
    const slc_status status = slc_pet_sort_scan(job->cells, job->n_cells, job->sums, job->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t buckets = blocks_for(job->n, SLC_PET_SORT_BUCKET);
    SLC_LAUNCH(find_buckets, blocks_for(buckets, FEW_THREADS), FEW_THREADS, 0, job->stream, job->cells,
               job->n_cells, job->n, job->map, job->cell_bits, job->grouped, job->cursor, job->low,
               job->head);
    return slc_cuda_check(cudaGetLastError(), "launching the count of singles", error);
}

slc_status slc_pet_sort_near_refine(const slc_pet_sort_near *job, uint32_t *map, slc_error *error)
{
    const uint32_t n_cells = 1U << job->cell_bits;
    SLC_LAUNCH(divide_cells, blocks_for(n_cells, FEW_THREADS), FEW_THREADS, 0, job->stream, job->head,
               job->cells, job->cell_bits, map);
    const slc_status status = slc_pet_sort_scan(map, n_cells, job->sums, job->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    SLC_LAUNCH(tell_cells, 1, 1, 0, job->stream, map, job->cell_bits, job->head);
    return slc_cuda_check(cudaGetLastError(), "launching a map of cells", error);
}

slc_status slc_pet_sort_near_move(const slc_pet_sort_near *job, slc_error *error)
{
    const columns from = columns_of(job->from);
    const uint32_t blocks = blocks_for(job->n, MOVE_THREADS * (job->grouped ? GROUPED_EACH : NEAR_EACH));
    uint4 *records = static_cast<uint4 *>(job->records);
    const bool refined = job->map != nullptr;
    const auto kernel = job->grouped ? (refined ? move_grouped<true> : move_grouped<false>)
                                     : (refined ? move_near<true> : move_near<false>);
    SLC_LAUNCH(kernel, blocks, MOVE_THREADS, 0, job->stream, from, job->n, job->head, job->cell_bits,
               job->map, job->cells, job->cursor, records);
    return slc_cuda_check(cudaGetLastError(), "launching the move of singles", error);
}
