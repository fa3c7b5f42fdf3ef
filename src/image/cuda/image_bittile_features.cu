/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of `bittile`: from the tiles' rows of bits and the runs' roots, without labels and without another
 * look at the pixels. A warp for each tile adds up its components in shared memory, leaves a record of each
 * that ends in it, and adds what it has of the others to their sums (image_bittile_features.cuh). All is in
 * integers, so that the order of additions does not matter.
 *
 * Sums are made of runs, as in section 4.4 of A. Hennequin's thesis (2022), but nothing is added to global
 * memory for a run: one share for each component and tile, or block (image_bittile_heavy.cuh).
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile.cuh"
#include "image/cuda/image_bittile_heavy.cuh"
#include "image/cuda/image_bittile_sums.cuh"

namespace
{

enum {
    WARPS = 4, /* tiles of a block */
    THREADS = 32 * WARPS,
    BLOCKS = 7 /* of a multiprocessor, as far as its shared memory goes */
};

/* What kernels get. */
struct features_job {
    slc_image_bittiles tiles;
    features_memory memory;
    uint32_t height;
};

/* What is loaded of a tile two turns ahead. */
struct tile_ahead {
    uint32_t counts; /* 0 beyond the last tile */
    uint64_t a, b;   /* this lane's rows */
};

/* A warp's tile, with what is loaded one turn ahead. */
struct tile_view {
    uint32_t tile, x, y;  /* its number; its corner in its image */
    uint32_t unit;        /* of its corner */
    uint32_t runs, slots; /* how many runs, and components at borders */
    uint32_t run;         /* what is known of run `lane` */
    uint64_t a, b;        /* this lane's rows */
    uint64_t link;        /* the node of slot `lane`, after which comes that of the component */
};

/* Where the records of a tile go. */
struct tile_records {
    uint64_t first_a, first_b; /* first pixels of components in this lane's rows */
    uint32_t base, all;        /* how many there are in rows before, and in the tile */
};

/* ---- a tile ------------------------------------------------------------------------------------ */

template <bool EIGHT>
__device__ __forceinline__ tile_ahead load_tile(const features_job &job, uint32_t tile, uint32_t lane)
{
    tile_ahead ahead = {0, 0, 0};
    if (tile >= job.tiles.tiles) {
        return ahead;
    }
    const uint64_t *bits = job.tiles.bits + static_cast<size_t>(tile) * (EIGHT ? 64 : 32);
    ahead.counts = job.tiles.counts[tile];
    if (EIGHT) {
        const ulonglong2 both = reinterpret_cast<const ulonglong2 *>(bits)[lane];
        ahead.a = both.x;
        ahead.b = both.y;
    } else {
        ahead.a = bits[lane];
    }
    return ahead;
}

__device__ __forceinline__ tile_view view_tile(const features_job &job, uint32_t tile,
                                               slc_image_bittile_place at, const tile_ahead &loaded,
                                               uint32_t lane)
{
    tile_view view = {};
    view.tile = tile;
    view.x = at.x * SLC_IMAGE_BITTILE_WIDTH;
    view.y = at.y * job.tiles.rows;
    view.unit = slc_image_bittile_unit(job.tiles, job.height, at);
    view.runs = loaded.counts & 0xffffU;
    view.slots = loaded.counts >> 16;
    view.a = loaded.a;
    view.b = loaded.b;
    if (lane < view.runs) {
        view.run = job.tiles.runs[static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_RUNS + lane];
    }
    if (lane < view.slots) {
        view.link = job.tiles.nodes[tile * SLC_IMAGE_BITTILE_SLOTS + lane];
    }
    return view;
}

/* The tile as far behind as the sum of both. */
__device__ __forceinline__ slc_image_bittile_place further(const slc_image_bittiles &tiles,
                                                           slc_image_bittile_place at,
                                                           slc_image_bittile_place by)
{
    at.x += by.x;
    at.y += by.y;
    at.image += by.image;
    if (at.x >= tiles.tiles_x) {
        at.x -= tiles.tiles_x;
        at.y++;
    }
    if (at.y >= tiles.tiles_y) {
        at.y -= tiles.tiles_y;
        at.image++;
    }
    return at;
}

/* ---- records ----------------------------------------------------------------------------------- */

/* The first pixels of components in this lane's rows. They are far from each other in memory, and many tiles
 * have none: not loaded where all runs are known and belong to components that begin elsewhere. */
template <bool EIGHT>
__device__ __forceinline__ void load_firsts(const features_job &job, const tile_view &view,
                                            tile_records *records, uint32_t lane)
{
    const bool inner = (view.run & (SLC_IMAGE_BITTILE_ROOT | SLC_IMAGE_BITTILE_BORDER)) ==
                       SLC_IMAGE_BITTILE_ROOT;
    const bool own = lane < view.slots &&
                     static_cast<uint32_t>(view.link) == view.tile * SLC_IMAGE_BITTILE_SLOTS + lane;
    records->first_a = records->first_b = 0;
    if (!__any_sync(SLC_IMAGE_BITTILE_LANES, inner || own || view.runs > 32 || view.slots > 32)) {
        return;
    }
    const uint32_t y = EIGHT ? 2 * lane : lane, left = job.height - view.y;
    const uint64_t *roots = job.tiles.roots + view.unit + y * job.tiles.tiles_x;
    if (y < left) {
        records->first_a = roots[0];
    }
    if (EIGHT && y + 1 < left) {
        records->first_b = roots[job.tiles.tiles_x];
    }
}

/* Where the records of every row begin. */
template <bool EIGHT>
__device__ __forceinline__ void number_records(const features_job &job, const tile_view &view,
                                               tile_records *records, tile_sums *sums, uint32_t lane)
{
    const uint64_t a = records->first_a, b = records->first_b;
    records->base = records->all = 0;
    if (!__any_sync(SLC_IMAGE_BITTILE_LANES, (a | b) != 0)) {
        return;
    }
    const uint32_t in_a = slc_image_bittile_count(a);
    const uint32_t base = slc_image_bittile_sums(in_a + slc_image_bittile_count(b), lane, &records->all);
    records->base = base;
    if (EIGHT) {
        const uint32_t both = base | (base + in_a) << 16;
        sums->firsts[2 * lane] = a;
        sums->firsts[2 * lane + 1] = b;
        reinterpret_cast<uint32_t *>(sums->bases)[lane] = both;
        reinterpret_cast<uint32_t *>(job.memory.bases)[static_cast<size_t>(view.tile) * 32 + lane] = both;
    } else {
        sums->firsts[lane] = a;
        sums->bases[lane] = static_cast<uint16_t>(base);
        job.memory.bases[static_cast<size_t>(view.tile) * 32 + lane] = static_cast<uint16_t>(base);
    }
    __syncwarp();
}

/* The number of the record of the component that begins there. */
__device__ __forceinline__ uint32_t record_number(const tile_sums *sums, uint32_t x, uint32_t y)
{
    return sums->bases[y] + slc_image_bittile_count(sums->firsts[y] & ((1ULL << x) - 1));
}

__device__ __forceinline__ void put_record(const features_job &job, uint32_t tile, tile_sums *sums,
                                           uint32_t i, uint64_t record)
{
    if (i < STAGED) {
        sums->records[i] = record;
    } else {
        job.memory.records[static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_RUNS + i] = record;
    }
}

__device__ __forceinline__ void write_records(const features_job &job, uint32_t tile, const tile_sums *sums,
                                              uint32_t all, uint32_t lane)
{
    __syncwarp();
    uint64_t *records = job.memory.records + static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_RUNS;
    for (uint32_t i = lane; i < all && i < STAGED; i += 32) {
        records[i] = sums->records[i];
    }
    __syncwarp();
}

/* ---- components of a tile ---------------------------------------------------------------------- */

/* Notes the codes of runs and numbers the tile's components that have sums: those at borders have their
 * slots, the others follow. Returns how many there are. */
__device__ uint32_t number_roots(const features_job &job, const tile_view &view, tile_sums *sums,
                                 uint32_t lane)
{
    const uint32_t kind = SLC_IMAGE_BITTILE_ROOT | SLC_IMAGE_BITTILE_BORDER | SLC_IMAGE_BITTILE_SHARED;
    const uint16_t *runs = job.tiles.runs + static_cast<size_t>(view.tile) * SLC_IMAGE_BITTILE_RUNS;
    uint32_t numbers = view.slots, value = view.run;
    for (uint32_t i = lane; i < view.runs + lane; i += 32) {
        const uint32_t next = i + 32 < view.runs ? runs[i + 32] : 0;
        const bool inner = (value & kind) == (SLC_IMAGE_BITTILE_ROOT | SLC_IMAGE_BITTILE_SHARED);
        const uint32_t inners = __ballot_sync(SLC_IMAGE_BITTILE_LANES, inner);
        const uint32_t number = numbers + __popc(inners & ((1U << lane) - 1));
        uint32_t code = value & (SLC_IMAGE_BITTILE_ROOT | SLC_IMAGE_BITTILE_PLACE);
        if (inner) {
            code = SLC_IMAGE_BITTILE_ROOT | number;
        } else if ((value & kind) == SLC_IMAGE_BITTILE_ROOT) {
            code |= ALONE;
        }
        if (i < view.runs) {
            sums->code[i] = static_cast<uint16_t>(code);
        }
        if (inner && number < SUMS) {
            sums->place[number] = static_cast<uint16_t>(value & SLC_IMAGE_BITTILE_PLACE);
        }
        numbers += __popc(inners);
        value = next;
    }
    __syncwarp();
    return numbers;
}

/* The component of a run that is not alone. */
__device__ __forceinline__ uint32_t number_of(const tile_sums *sums, uint32_t code)
{
    return ((code & SLC_IMAGE_BITTILE_ROOT) != 0 ? code : sums->code[code]) & SLC_IMAGE_BITTILE_PLACE;
}

/* The component that most strips have in their middle, if several have: a large one, whose sums shall not be
 * made run by run. */
__device__ uint32_t large_component(const tile_sums *sums, uint32_t run, uint32_t count)
{
    enum { STRIPS = 6 };
    const uint32_t code = count != 0 ? sums->code[run + count / 2] : static_cast<uint32_t>(ALONE);
    const uint32_t number = (code & ALONE) == 0 ? number_of(sums, code) : NOTHING;
    const uint32_t same = __popc(__match_any_sync(SLC_IMAGE_BITTILE_LANES, number));
    const uint32_t best = warp_max(number != NOTHING ? same << 16 | number : 0);
    return best >> 16 >= STRIPS ? best & 0xffffU : NOTHING;
}

/* Components `from` to before `to` have their sums at number - shift. */
struct sums_part {
    uint32_t from, to, shift;
    __device__ __forceinline__ bool has(uint32_t number) const
    {
        return number - from < to - from;
    }
};

/* A component of one run. Its first pixel is in this lane's rows. */
template <bool EIGHT>
__device__ __forceinline__ void put_alone(const features_job &job, const tile_view &view, tile_sums *sums,
                                          const strip_sums &all, uint64_t bits, uint32_t place,
                                          const tile_records &records)
{
    const bool lower = EIGHT && place / 64 % 2 != 0;
    const uint64_t before = (1ULL << place % 64) - 1;
    const uint32_t i = records.base + (lower ? slc_image_bittile_count(records.first_a) +
                                                   slc_image_bittile_count(records.first_b & before)
                                             : slc_image_bittile_count(records.first_a & before));
    const uint32_t x_min = static_cast<uint32_t>(__ffsll(static_cast<long long>(bits))) - 1;
    const uint32_t x_max = 63 - static_cast<uint32_t>(__clzll(static_cast<long long>(bits)));
    put_record(job, view.tile, sums, i,
               record_of({all.area_x >> AREA_BIT, all.area_x & ((1U << AREA_BIT) - 1), all.y, x_min, x_max,
                          all.last}));
}

/* Adds the runs of all strips to the components of a part; those alone are done with the first part. */
template <bool EIGHT>
__device__ void add_runs(const features_job &job, const tile_view &view, tile_sums *sums,
                         const sums_part &part, const tile_records &records, uint32_t lane)
{
    uint64_t rest = view.a | view.b;
    const uint32_t count = slc_image_bittile_count(slc_image_bittile_starts(rest));
    uint32_t all, run = slc_image_bittile_sums(count, lane, &all);
    const uint32_t large = large_component(sums, run, count);
    uint64_t columns = 0; /* of the large one */
    while (rest != 0) {
        const uint64_t behind = rest + (rest & (0 - rest)); /* the bit behind the first run, which is clear */
        const uint64_t bits = rest & ~behind;
        rest &= behind;
        const uint32_t code = sums->code[run++];
        const bool alone = (code & ALONE) != 0;
        const uint32_t number = alone ? NOTHING : number_of(sums, code);
        if (!alone && number == large) {
            columns |= bits;
        } else if (alone ? part.from == 0 : part.has(number)) {
            const strip_sums more = sum_run<EIGHT>(bits, view.a, view.b, lane);
            if (alone) {
                put_alone<EIGHT>(job, view, sums, more, bits, code & SLC_IMAGE_BITTILE_PLACE, records);
            } else {
                add_strip(sums, number - part.shift, more);
            }
        }
    }
    __syncwarp();
    if (part.has(large)) {
        const strip_sums mine = sum_columns<EIGHT>(columns, view.a, view.b, lane);
        const strip_sums all_strips = sum_strips(mine);
        if (lane == 0) {
            add_strip(sums, large - part.shift, all_strips);
        }
    }
    __syncwarp();
}

/* A component's sums. */
__device__ __forceinline__ tile_share share_of(const strip_sums &all)
{
    const uint32_t x_min = all.low != 0 ? __ffs(static_cast<int>(all.low)) - 1
                                        : 31 + __ffs(static_cast<int>(all.high));
    const uint32_t x_max = all.high != 0 ? 63 - __clz(static_cast<int>(all.high))
                                         : 31 - __clz(static_cast<int>(all.low));
    return {all.area_x >> AREA_BIT, all.area_x & ((1U << AREA_BIT) - 1), all.y, x_min, x_max, all.last};
}

__device__ __forceinline__ tile_share share_at(const tile_sums *sums, uint32_t i)
{
    return share_of({sums->area_x[i], sums->y[i], sums->low[i], sums->high[i], sums->last[i]});
}

/* All of the tile. */
template <bool EIGHT> __device__ __forceinline__ tile_share sum_all(const tile_view &view, uint32_t lane)
{
    if (__all_sync(SLC_IMAGE_BITTILE_LANES, (EIGHT ? view.a & view.b : view.a) == ~0ULL)) {
        constexpr uint32_t rows = EIGHT ? 64 : 32;
        return {64 * rows, 64 * 63 / 2 * rows, rows * (rows - 1) / 2 * 64, 0, 63, rows - 1};
    }
    return share_of(sum_strips(sum_columns<EIGHT>(view.a | view.b, view.a, view.b, lane)));
}

/* The first pixels of a further part of the components. */
__device__ void place_roots(const features_job &job, const tile_view &view, tile_sums *sums,
                            const sums_part &part, uint32_t lane)
{
    const uint16_t *runs = job.tiles.runs + static_cast<size_t>(view.tile) * SLC_IMAGE_BITTILE_RUNS;
    for (uint32_t i = lane; i < view.runs; i += 32) {
        const uint32_t code = sums->code[i], number = code & SLC_IMAGE_BITTILE_PLACE;
        if ((code & (SLC_IMAGE_BITTILE_ROOT | ALONE)) == SLC_IMAGE_BITTILE_ROOT && part.has(number)) {
            sums->place[number - part.shift] = runs[i] & SLC_IMAGE_BITTILE_PLACE;
        }
    }
}

/* The tile's components: those that end in it get their records; the sums of the others, by slots, are left
 * in shared memory. Where there are more than fit, the sums of the former are made part by part. */
template <bool EIGHT>
__device__ void sum_tile(const features_job &job, const tile_view &view, tile_sums *sums, uint32_t numbers,
                         const tile_records &records, uint32_t lane)
{
    sums_part part = {0, 0, 0};
    do {
        const uint32_t space = SUMS + part.shift;
        part.to = numbers < space ? numbers : space;
        for (uint32_t i = part.from - part.shift + lane; i < part.to - part.shift; i += 32) {
            sums->area_x[i] = sums->y[i] = sums->low[i] = sums->high[i] = sums->last[i] = 0;
        }
        if (part.from != 0) {
            place_roots(job, view, sums, part, lane);
        }
        __syncwarp();
        add_runs<EIGHT>(job, view, sums, part, records, lane);
        for (uint32_t i = view.slots + lane; i < part.to - part.shift; i += 32) {
            const uint32_t place = sums->place[i];
            put_record(job, view.tile, sums, record_number(sums, place % 64, place / 64),
                       record_of(share_at(sums, i)));
        }
        __syncwarp();
        part.from = part.to;
        part.shift = part.to - view.slots;
    } while (part.from < numbers);
}

/* ---- all tiles --------------------------------------------------------------------------------- */

/* What the tile has of a component that reaches beyond it; `heavy`: it has a lot, or not only this. */
__device__ __forceinline__ void add_border(const features_job &job, const tile_view &view, tile_sums *sums,
                                           heavy_table *table, uint32_t slot, uint64_t link, bool heavy,
                                           const tile_share &here)
{
    const uint32_t node = static_cast<uint32_t>(link); /* image_cuda_scan.cu has made it the root */
    if (node == view.tile * SLC_IMAGE_BITTILE_SLOTS + slot) {
        const uint32_t key = static_cast<uint32_t>(link >> 32);
        const uint32_t y = (key / 64 - view.unit) / job.tiles.tiles_x;
        put_record(job, view.tile, sums, record_number(sums, key % 64, y), border_record(slot));
    }
    const border_sums more = {here.area,
                              view.x + here.x_min,
                              view.x + here.x_max,
                              view.y + here.y_max,
                              here.x + static_cast<unsigned long long>(here.area) * view.x,
                              here.y + static_cast<unsigned long long>(here.area) * view.y};
    const uint32_t place = heavy_place(table, node, heavy || here.area >= HEAVY);
    if (place < HEAVY_PLACES) {
        heavy_add(table, place, more);
    } else {
        add_sums(job.memory.borders + node, more);
    }
}

__device__ __forceinline__ void add_borders(const features_job &job, const tile_view &view, tile_sums *sums,
                                            heavy_table *table, uint32_t lane)
{
    enum { SEVERAL = 4 }; /* parts of one component in a tile from which it is called heavy */
    for (uint32_t begin = 0; begin < view.slots; begin += 32) {
        const uint32_t slot = begin + lane;
        uint64_t link = view.link;
        if (begin > 0) {
            link = slot < view.slots ? job.tiles.nodes[view.tile * SLC_IMAGE_BITTILE_SLOTS + slot] : 0;
        }
        bool heavy = false;
        if (view.slots >= SEVERAL) {
            const uint32_t node = slot < view.slots ? static_cast<uint32_t>(link) : NOTHING;
            heavy = __popc(__match_any_sync(SLC_IMAGE_BITTILE_LANES, node)) >= SEVERAL;
        }
        if (slot < view.slots) {
            add_border(job, view, sums, table, slot, link, heavy, share_at(sums, slot));
        }
    }
}

template <bool EIGHT>
__device__ __forceinline__ void do_tile(const features_job &job, const tile_view &view, tile_sums *sums,
                                        heavy_table *table, uint32_t lane)
{
    tile_records records;
    load_firsts<EIGHT>(job, view, &records, lane);
    const uint32_t roots = __ballot_sync(SLC_IMAGE_BITTILE_LANES, (view.run & SLC_IMAGE_BITTILE_ROOT) != 0);
    if (view.runs <= 32 && __popc(roots) == 1) { /* one component */
        const tile_share all = sum_all<EIGHT>(view, lane);
        number_records<EIGHT>(job, view, &records, sums, lane);
        if (lane == 0 && view.slots != 0) {
            add_border(job, view, sums, table, 0, view.link, false, all);
        } else if (lane == 0) {
            put_record(job, view.tile, sums, 0, record_of(all));
        }
    } else {
        const uint32_t numbers = number_roots(job, view, sums, lane);
        number_records<EIGHT>(job, view, &records, sums, lane);
        sum_tile<EIGHT>(job, view, sums, numbers, records, lane);
        add_borders(job, view, sums, table, lane);
    }
    write_records(job, view.tile, sums, records.all, lane);
}

/* Blocks stay for the whole image, and a warp goes on to the tile as many further as there are warps. While
 * it does one, it loads what is known of the next two. */
template <bool EIGHT> __global__ void __launch_bounds__(THREADS, BLOCKS) sum_tiles(const features_job job)
{
    __shared__ tile_sums all_sums[WARPS];
    __shared__ heavy_table table;
    const uint32_t lane = threadIdx.x % 32, step = gridDim.x * WARPS;
    tile_sums *sums = &all_sums[threadIdx.x / 32];
    uint32_t tile = blockIdx.x * WARPS + threadIdx.x / 32;
    tile_ahead ahead = load_tile<EIGHT>(job, tile, lane);
    slc_image_bittile_place at = slc_image_bittile_at(job.tiles, tile);
    const slc_image_bittile_place by = slc_image_bittile_at(job.tiles, step);
    slc_image_bittile_wait(); /* what was loaded is of the first kernel, which is over */
    slc_image_bittile_release();
    tile_view view = view_tile(job, tile, at, ahead, lane);
    ahead = load_tile<EIGHT>(job, tile + step, lane);
    if (threadIdx.x < HEAVY_PLACES) {
        heavy_clear(&table, threadIdx.x);
    }
    __syncthreads();
    for (; tile < job.tiles.tiles; tile += step) {
        at = further(job.tiles, at, by);
        const tile_view next = view_tile(job, tile + step, at, ahead, lane);
        ahead = load_tile<EIGHT>(job, tile + 2 * step, lane);
        if (view.runs != 0) {
            do_tile<EIGHT>(job, view, sums, &table, lane);
        }
        view = next;
    }
    __syncthreads();
    if (threadIdx.x < HEAVY_PLACES) {
        heavy_flush(&table, threadIdx.x, job.memory.borders);
    }
}

} // namespace

size_t slc_image_bittile_features_bound(const slc_image_cuda_job *job, const slc_image_bittiles *tiles)
{
    (void)job;
    return (features_bytes(tiles) + 255) / 256 * 256;
}

slc_status slc_image_bittile_features(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                      slc_error *error)
{
    const features_job task = {*tiles, features_layout(*tiles), job->height};
    const uint32_t most = (tiles->tiles + WARPS - 1) / WARPS, resident = job->multiprocessors * BLOCKS;
    const uint32_t blocks = resident > 0 && resident < most ? resident : most;
    if (job->connectivity == 8) {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, sum_tiles<true>,
                                 blocks, THREADS, task);
    } else {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, sum_tiles<false>,
                                 blocks, THREADS, task);
    }
    const slc_status status = slc_cuda_check(cudaGetLastError(), "launching the features of tiles", error);
    return status != SLC_OK ? status : slc_image_bittile_rows(job, tiles, error);
}
