/* SPDX-License-Identifier: Apache-2.0
 *
 * `bittile`, the first kernel: components within tiles. A block has four tiles side by side and a warp for
 * each, or where there are few tiles one tile for its four warps. Pixels are made bits
 * (image_bittile_pixels.cuh), then lane s has the rows of strip s. Runs are joined with those of the strip
 * above them: the first contact of a run is a plain link, further ones are unions by the smaller first pixel,
 * with an atomic minimum on the larger root as by Playne and Hawick (IEEE TPDS 29, 2018) and Komura
 * (Comput. Phys. Commun. 194, 2015). image_bittile.h tells what is left behind in the device's memory.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile_pixels.cuh"

namespace
{
enum { RUN_MASK = SLC_IMAGE_BITTILE_RUNS - 1, PLACE_SHIFT = 10 };

/* ---- components of a tile ---- */

/* Of the bits of `set` the first one between a bit of `starts` and the next one. */
__device__ __forceinline__ uint64_t firsts_of(uint64_t set, uint64_t starts)
{
    const uint64_t inside = ~starts;
    const uint64_t next = (set << 1) & inside;
    const uint64_t later = (inside & ~(inside + next)) | next; /* carries run up to the next start */
    return set & ~later;
}

/* Contacts with the strip above, whose last row is `row`, as bits: exactly one for each pair of an upper and
 * a lower run that touch, and the numbers of the runs are the numbers of starts up to that bit. */
template <bool EIGHT>
__device__ __forceinline__ uint64_t contacts_of(uint64_t row, uint64_t any, uint64_t starts, uint64_t lower,
                                                uint64_t lower_starts)
{
    uint64_t touch = lower & row;
    if (EIGHT) {
        const uint64_t right = row >> 1; /* the neighbour at the upper right */
        touch |= lower & (row << 1 | (right & any));
        touch |= (lower & right & ~any) << 1; /* it is the first of its run: counted one column further */
    }
    return firsts_of(touch, starts | lower_starts);
}

__device__ __forceinline__ uint32_t node_at(const uint32_t *node, uint32_t run)
{
    return *static_cast<const volatile uint32_t *>(node + run);
}

/* Unites the components of two runs: goes up from both at once until the ways meet or both have ended, and
 * then links the larger root to the smaller. Links on the way are set to the grandparent: that loses nothing
 * even if another thread has just made the link a better one, as that thread goes on to unite what the link
 * pointed to before. */
__device__ __forceinline__ void unite(uint32_t *node, uint32_t one, uint32_t other)
{
    uint32_t a = node_at(node, one), b = node_at(node, other);
    while (((a ^ b) & RUN_MASK) != 0) {
        const uint32_t next_one = a & RUN_MASK, next_other = b & RUN_MASK;
        if (next_one == one && next_other == other) {
            const uint32_t large = a > b ? a : b, small = a > b ? b : a;
            const uint32_t old = atomicMin(node + (large & RUN_MASK), small);
            if (old == large) {
                return;
            }
            one = old & RUN_MASK; /* another thread was faster: what it linked to is to be united, too */
            other = small & RUN_MASK;
            a = node_at(node, one);
            b = node_at(node, other);
            continue;
        }
        a = node_at(node, next_one);
        b = node_at(node, next_other);
        if ((a & RUN_MASK) != next_one) {
            atomicMin(node + one, a & RUN_MASK);
        }
        if ((b & RUN_MASK) != next_other) {
            atomicMin(node + other, b & RUN_MASK);
        }
        one = next_one;
        other = next_other;
    }
}

/* Runs that touch nothing above them begin as roots, with the place of their first pixel: the first of the
 * upper row, or where that has none, of the lower row. */
template <bool EIGHT, int WARPS>
__device__ __forceinline__ void begin_roots(const strip<EIGHT> &mine, uint64_t firsts, worker<WARPS> me,
                                            uint32_t *node)
{
    if (mine.starts == 0) {
        return;
    }
    const uint64_t inside = ~mine.starts;
    const uint64_t next = (firsts << 1) & inside;
    const uint64_t after = (inside & ~(inside + next)) | next | firsts;
    /* The last column of every run and of the gap behind it; those without a contact in them. */
    uint64_t ends = ((mine.starts & (mine.starts - 1)) >> 1) | (1ULL << 63);
    for (ends = me.part(ends & ~after); ends != 0; ends &= ends - 1) {
        const uint64_t upto = slc_image_bittile_upto(ends);
        const uint64_t starts = mine.starts & upto;
        const uint32_t run = mine.base + slc_image_bittile_count(starts) - 1;
        const uint64_t from = ~0ULL << (63 - __clzll(static_cast<long long>(starts)));
        uint64_t pixels = mine.a & upto & from;
        uint32_t row = EIGHT ? 2 * me.lane : me.lane;
        if (EIGHT && pixels == 0) {
            pixels = mine.b & upto & from;
            row++;
        }
        const uint32_t column = static_cast<uint32_t>(__ffsll(static_cast<long long>(pixels))) - 1;
        node[run] = (row * SLC_IMAGE_BITTILE_WIDTH + column) << PLACE_SHIFT | run;
    }
}

/* Every run gets its root; roots with further runs are marked. A thread writes links of its own runs alone,
 * so that nothing replaces a root by what is before it; as all do so at once, ways are halved all the same.
 */
template <bool SHARED, int WARPS>
__device__ __forceinline__ void flatten(uint32_t runs, worker<WARPS> me, scratch<WARPS> &own)
{
    for (uint32_t run = me.index(); run < runs; run += 32 * WARPS) {
        uint32_t root = node_at(own.node, run) & RUN_MASK;
        if (root == run) {
            continue;
        }
        for (uint32_t next = node_at(own.node, root) & RUN_MASK; next != root;) {
            atomicExch(own.node + run, next);
            root = next;
            next = node_at(own.node, root) & RUN_MASK;
        }
        if (SHARED && ((node_at(own.shared, root / 32) >> (root % 32)) & 1U) == 0) {
            atomicOr(own.shared + root / 32, 1U << (root % 32));
        }
    }
    me.sync();
}

/* Joins the strips: the first contact of a run is a plain link, others are shared out among the lanes of the
 * warp, EACH of every lane at a time. */
template <bool EIGHT, int WARPS>
__device__ __forceinline__ void join_strips(const strip<EIGHT> &mine, worker<WARPS> me, scratch<WARPS> &own)
{
    constexpr uint32_t EACH = scratch<WARPS>::EACH, THREADS = 32 * WARPS;
    uint32_t *contacts = own.contacts[me.warp];
    uint64_t above = __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, EIGHT ? mine.b : mine.a, 1);
    const uint64_t above_any = EIGHT ? __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, mine.any, 1) : above;
    const uint64_t above_starts = slc_image_bittile_starts(above_any);
    const uint32_t above_base = __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, mine.base, 1);
    above = me.lane > 0 ? above : 0;
    const uint64_t touch = contacts_of<EIGHT>(above, above_any, above_starts, mine.a, mine.starts);
    const uint64_t firsts = firsts_of(touch, mine.starts);
    begin_roots(mine, firsts, me, own.node);
    for (uint64_t rest = me.part(firsts); rest != 0; rest &= rest - 1) {
        const uint64_t upto = slc_image_bittile_upto(rest);
        own.node[mine.base + slc_image_bittile_count(mine.starts & upto) - 1] =
            above_base + slc_image_bittile_count(above_starts & upto) - 1;
    }
    me.sync();
    if (mine.all <= 2 * THREADS) { /* few runs are long ones, with long ways up */
        flatten<false>(mine.all, me, own);
    }
    uint64_t rest = me.part(touch & ~firsts);
    while (__any_sync(SLC_IMAGE_BITTILE_LANES, slc_image_bittile_count(rest) > 2)) {
        const uint32_t left = slc_image_bittile_count(rest);
        uint32_t n, at = slc_image_bittile_sums(left < EACH ? left : EACH, me.lane, &n);
        for (uint32_t i = 0; i < EACH && rest != 0; i++, rest &= rest - 1) {
            const uint64_t upto = slc_image_bittile_upto(rest);
            const uint32_t low = mine.base + slc_image_bittile_count(mine.starts & upto) - 1;
            contacts[at++] = low << PLACE_SHIFT |
                             (above_base + slc_image_bittile_count(above_starts & upto) - 1);
        }
        __syncwarp();
        for (uint32_t i = me.lane; i < n; i += 32) {
            unite(own.node, contacts[i] >> PLACE_SHIFT, contacts[i] & RUN_MASK);
        }
        __syncwarp();
    }
    for (; rest != 0; rest &= rest - 1) {
        const uint64_t upto = slc_image_bittile_upto(rest);
        unite(own.node, mine.base + slc_image_bittile_count(mine.starts & upto) - 1,
              above_base + slc_image_bittile_count(above_starts & upto) - 1);
    }
    me.sync();
}

/* ---- borders ---- */

constexpr uint32_t NO_ROOT = 0xffffffffU, NO_SLOT = SLC_IMAGE_BITTILE_NO_SLOT;

/* The root of a strip's run that has the first of the pixels 2·lane and 2·lane + 1 that is set (as they are
 * neighbours, they are of one run); *set are the two. */
template <int WARPS>
__device__ __forceinline__ uint32_t row_root(uint64_t row, uint64_t starts, uint32_t base, uint32_t lane,
                                             const scratch<WARPS> &own, uint32_t *set)
{
    *set = static_cast<uint32_t>(row >> (2 * lane)) & 3U;
    if (*set == 0) {
        return NO_ROOT;
    }
    const uint64_t upto = (*set == 2 ? 3ULL : 1ULL) << (2 * lane);
    const uint32_t run = base + slc_image_bittile_count(starts & (upto | (upto - 1))) - 1;
    return node_at(own.node, run) & RUN_MASK;
}

template <int WARPS> __device__ __forceinline__ void mark_border(uint32_t root, scratch<WARPS> &own)
{
    if (root != NO_ROOT && ((node_at(own.border, root / 32) >> (root % 32)) & 1U) == 0) {
        atomicOr(own.border + root / 32, 1U << (root % 32));
    }
}

template <int WARPS> __device__ __forceinline__ uint32_t slot_of(uint32_t root, const scratch<WARPS> &own)
{
    return own.slots[root / 32] +
           static_cast<uint32_t>(__popc(own.border[root / 32] & ((1U << (root % 32)) - 1U)));
}

/* Two neighbouring pixels of an edge. */
template <int WARPS>
__device__ __forceinline__ void write_pair(uint8_t *edge, uint32_t lane, uint32_t root, uint32_t set,
                                           const scratch<WARPS> &own)
{
    const uint32_t slot = root == NO_ROOT ? 0 : slot_of(root, own);
    const uint32_t first = (set & 1U) != 0 ? slot : NO_SLOT;
    const uint32_t second = (set & 2U) != 0 ? slot : NO_SLOT;
    reinterpret_cast<uint16_t *>(edge)[lane] = static_cast<uint16_t>(first | second << 8);
}

/* The roots at the pixels of an edge that the lane has, two of them or, at the sides when 4-connected, one.
 */
template <bool EIGHT, int WARPS>
__device__ __forceinline__ uint32_t edge_root(const strip<EIGHT> &mine, uint32_t edge, uint32_t lane,
                                              const scratch<WARPS> &own, uint32_t *set)
{
    if (edge == SLC_IMAGE_BITTILE_TOP || edge == SLC_IMAGE_BITTILE_BOTTOM) {
        const uint32_t from = edge == SLC_IMAGE_BITTILE_TOP ? 0 : 31;
        const uint64_t row = __shfl_sync(SLC_IMAGE_BITTILE_LANES, EIGHT && from > 0 ? mine.b : mine.a, from);
        const uint64_t starts = __shfl_sync(SLC_IMAGE_BITTILE_LANES, mine.starts, from);
        const uint32_t base = __shfl_sync(SLC_IMAGE_BITTILE_LANES, mine.base, from);
        return row_root(row, starts, base, lane, own, set);
    }
    /* The first run of a strip may be at the left, the last at the right. */
    const uint32_t shift = edge == SLC_IMAGE_BITTILE_LEFT ? 0 : 63;
    const uint32_t run = mine.base + (shift > 0 ? slc_image_bittile_count(mine.starts) - 1 : 0);
    *set = (static_cast<uint32_t>(mine.a >> shift) & 1U) | (static_cast<uint32_t>(mine.b >> shift) & 1U) << 1;
    return *set != 0 ? node_at(own.node, run) & RUN_MASK : NO_ROOT;
}

/* Numbers the components at inner borders and writes the edges; returns how many there are. */
template <bool EIGHT, int WARPS>
__device__ __forceinline__ uint32_t do_borders(const strip<EIGHT> &mine, uint32_t inner, uint8_t *edges,
                                               worker<WARPS> me, scratch<WARPS> &own)
{
    uint32_t root[SLC_IMAGE_BITTILE_EDGES], set[SLC_IMAGE_BITTILE_EDGES];
#pragma unroll
    for (uint32_t edge = 0; edge < SLC_IMAGE_BITTILE_EDGES; edge++) {
        if (me.is(edge) && ((inner >> edge) & 1U) != 0) {
            root[edge] = edge_root(mine, edge, me.lane, own, set + edge);
            mark_border(root[edge], own);
        }
    }
    me.sync();
    uint32_t slots;
    const uint32_t before = slc_image_bittile_sums(static_cast<uint32_t>(__popc(own.border[me.lane])),
                                                   me.lane, &slots);
    if (me.is(0)) {
        own.slots[me.lane] = before;
    }
    me.sync();
#pragma unroll
    for (uint32_t edge = 0; edge < SLC_IMAGE_BITTILE_EDGES; edge++) {
        uint8_t *to = edges + 64 * edge;
        if (me.is(edge) && ((inner >> edge) & 1U) != 0) {
            if (EIGHT || edge < 2) {
                write_pair(to, me.lane, root[edge], set[edge], own);
            } else {
                to[me.lane] = static_cast<uint8_t>(root[edge] == NO_ROOT ? NO_SLOT
                                                                         : slot_of(root[edge], own));
            }
        }
    }
    return slots;
}

/* ---- results ---- */

struct tile_at {
    uint32_t tile, x, unit; /* its number, how many there are left of it, the unit of its first row */
    uint32_t width, height; /* what of it is in the image */
    uint32_t inner;         /* edges with a tile of the image behind them, a bit for each */
};

__device__ __forceinline__ void write_node(const slc_image_bittiles &tiles, tile_at at, uint32_t slot,
                                           uint32_t place)
{
    const uint32_t node = at.tile * SLC_IMAGE_BITTILE_SLOTS + slot;
    const uint32_t unit = at.unit + place / SLC_IMAGE_BITTILE_WIDTH * tiles.tiles_x;
    const uint32_t key = unit * SLC_IMAGE_BITTILE_WIDTH + place % SLC_IMAGE_BITTILE_WIDTH;
    tiles.nodes[node] = static_cast<uint64_t>(key) << 32 | node;
}

/* What is kept of a run; the first pixel of a root is set in own.rows. */
template <bool SHARED, int WARPS>
__device__ __forceinline__ uint32_t record_of(const slc_image_bittiles &tiles, tile_at at, uint32_t run,
                                              uint32_t value, scratch<WARPS> &own)
{
    if ((value & RUN_MASK) != run) {
        return value & RUN_MASK;
    }
    const uint32_t place = value >> PLACE_SHIFT;
    atomicOr(own.rows + place / 32, 1U << (place % 32));
    uint32_t record = SLC_IMAGE_BITTILE_ROOT | place;
    if (((own.border[run / 32] >> (run % 32)) & 1U) != 0) {
        const uint32_t slot = slot_of(run, own);
        write_node(tiles, at, slot, place);
        record = SLC_IMAGE_BITTILE_ROOT | SLC_IMAGE_BITTILE_BORDER | slot;
    }
    if (SHARED && ((own.shared[run / 32] >> (run % 32)) & 1U) != 0) {
        record |= SLC_IMAGE_BITTILE_SHARED;
    }
    return record;
}

template <bool EIGHT, int WARPS>
__device__ __forceinline__ void write_bits(const slc_image_bittiles &tiles, uint32_t tile,
                                           const strip<EIGHT> &mine, worker<WARPS> me)
{
    if (me.is(1) && EIGHT) {
        ulonglong2 both;
        both.x = mine.a;
        both.y = mine.b;
        reinterpret_cast<ulonglong2 *>(tiles.bits)[static_cast<size_t>(tile) * 32 + me.lane] = both;
    } else if (me.is(1)) {
        tiles.bits[static_cast<size_t>(tile) * 32 + me.lane] = mine.a;
    }
}

/* First pixels of components, which are in own.rows, to the units of the tile's rows. */
template <int ROWS, int WARPS>
__device__ __forceinline__ void write_roots(const slc_image_bittiles &tiles, tile_at at, worker<WARPS> me,
                                            const scratch<WARPS> &own)
{
    const uint64_t *firsts = reinterpret_cast<const uint64_t *>(own.rows);
    for (uint32_t row = me.index(); row < at.height && row < ROWS; row += 32 * WARPS) {
        tiles.roots[at.unit + row * tiles.tiles_x] = firsts[row];
    }
}

/* The same for four tiles side by side: neighbours are written together. */
template <int ROWS>
__device__ __forceinline__ void write_wide(const slc_image_bittiles &tiles, tile_at at, const scratch<1> *all)
{
    const uint32_t part = threadIdx.x % 4;
    if (at.x + part < tiles.tiles_x) {
        const uint64_t *firsts = reinterpret_cast<const uint64_t *>(all[part].rows);
        for (uint32_t row = threadIdx.x / 4; row < at.height && row < ROWS; row += 32) {
            tiles.roots[at.unit + part + row * tiles.tiles_x] = firsts[row];
        }
    }
}

/* A tile without pixels, or without background: what is left behind is known. */
template <bool SHARED, int WARPS>
__device__ __forceinline__ void do_uniform(const slc_image_bittiles &tiles, tile_at at, bool full,
                                           worker<WARPS> me, scratch<WARPS> &own)
{
    uint32_t *edges = reinterpret_cast<uint32_t *>(tiles.edges) +
                      static_cast<size_t>(at.tile) * (16 * SLC_IMAGE_BITTILE_EDGES);
    const uint32_t slots = full && at.inner != 0 ? 1 : 0;
    for (uint32_t i = me.index(); i < 128; i += 32 * WARPS) {
        own.rows[i] = full && i == 0 ? 1 : 0;
    }
    if (!me.is(0)) {
        return;
    }
    edges[me.lane] = full ? 0 : 0xffffffffU;
    edges[me.lane + 32] = full ? 0 : 0xffffffffU;
    if (full) {
        const uint32_t record = SLC_IMAGE_BITTILE_ROOT | (slots != 0 ? SLC_IMAGE_BITTILE_BORDER : 0) |
                                (SHARED ? SLC_IMAGE_BITTILE_SHARED : 0);
        tiles.runs[static_cast<size_t>(at.tile) * SLC_IMAGE_BITTILE_RUNS + me.lane] = static_cast<uint16_t>(
            me.lane == 0 ? record : 0);
    }
    if (slots != 0 && me.lane == 0) {
        write_node(tiles, at, 0, 0);
    }
    if (me.lane == 0) {
        tiles.counts[at.tile] = (full ? 32U : 0U) | slots << 16;
    }
}

template <bool EIGHT, bool SHARED, int WARPS>
__device__ __forceinline__ void do_tile(const slc_image_bittiles &tiles, tile_at at, const strip<EIGHT> &mine,
                                        worker<WARPS> me, scratch<WARPS> &own)
{
    for (uint32_t i = me.index(); i < 128; i += 32 * WARPS) {
        own.rows[i] = 0;
    }
    if (me.is(0)) {
        own.border[me.lane] = 0;
        own.shared[me.lane] = 0;
    }
    join_strips(mine, me, own);
    flatten<SHARED>(mine.all, me, own);
    uint32_t slots = 0;
    if (at.inner != 0) {
        uint8_t *edges = tiles.edges + static_cast<size_t>(at.tile) * (64 * SLC_IMAGE_BITTILE_EDGES);
        slots = do_borders(mine, at.inner, edges, me, own);
    }
    uint32_t *runs = reinterpret_cast<uint32_t *>(tiles.runs +
                                                  static_cast<size_t>(at.tile) * SLC_IMAGE_BITTILE_RUNS);
    for (uint32_t run = 2 * me.index(); run < mine.all; run += 64 * WARPS) {
        uint32_t record = record_of<SHARED>(tiles, at, run, own.node[run], own);
        if (run + 1 < mine.all) {
            record |= record_of<SHARED>(tiles, at, run + 1, own.node[run + 1], own) << 16;
        }
        runs[run / 2] = record;
    }
    if (me.is(0) && me.lane == 0) {
        tiles.counts[at.tile] = mine.all | slots << 16;
    }
}

/* ---- kernels ---- */

enum { SIDE_BY_SIDE = 4, FEW_WARPS = 4, THREADS = 128 };

__device__ __forceinline__ tile_at locate(const pixels_in &in, const slc_image_bittiles &tiles, uint32_t tile,
                                          slc_image_bittile_place place)
{
    const uint32_t left = in.width - place.x * SLC_IMAGE_BITTILE_WIDTH;
    tile_at at;
    at.tile = tile;
    at.x = place.x;
    at.unit = slc_image_bittile_unit(tiles, in.height, place);
    at.width = left < SLC_IMAGE_BITTILE_WIDTH ? left : static_cast<uint32_t>(SLC_IMAGE_BITTILE_WIDTH);
    at.height = slc_image_bittile_height(tiles, in.height, place);
    at.inner = (place.y > 0 ? 1U << SLC_IMAGE_BITTILE_TOP : 0) |
               (place.y + 1 < tiles.tiles_y ? 1U << SLC_IMAGE_BITTILE_BOTTOM : 0) |
               (place.x > 0 ? 1U << SLC_IMAGE_BITTILE_LEFT : 0) |
               (place.x + 1 < tiles.tiles_x ? 1U << SLC_IMAGE_BITTILE_RIGHT : 0);
    return at;
}

template <int ROWS, bool BITS>
__device__ __forceinline__ const unsigned char *corner_of(const pixels_in &in, slc_image_bittile_place place)
{
    const uint32_t x = place.x * SLC_IMAGE_BITTILE_WIDTH;
    return in.at + place.image * in.image_stride + static_cast<ptrdiff_t>(place.y * ROWS) * in.stride +
           (BITS ? x / 8 : x);
}

template <int ROWS, bool BITS, int WARPS>
__device__ __forceinline__ void read_tile(const pixels_in &in, const unsigned char *corner, tile_at at,
                                          worker<WARPS> me, scratch<WARPS> &own)
{
    if (BITS) {
        read_bits<ROWS>(in, corner, at.width, at.height, me, own);
    } else {
        read_bytes<ROWS>(in, corner, at.width, at.height, at.x * SLC_IMAGE_BITTILE_WIDTH, me, own);
    }
}

/* From the rows, which are in own.rows, to everything but `roots`. */
template <bool EIGHT, bool SHARED, int WARPS>
__device__ __forceinline__ void do_rows(const pixels_in &in, const slc_image_bittiles &tiles, tile_at at,
                                        worker<WARPS> me, scratch<WARPS> &own)
{
    const strip<EIGHT> mine = take_strip<EIGHT, WARPS>(in, at.width, at.height, me.lane, own);
    me.sync();
    write_bits(tiles, at.tile, mine, me);
    const bool full = mine.a == ~0ULL && (!EIGHT || mine.b == ~0ULL);
    if (mine.all == 0 || __all_sync(SLC_IMAGE_BITTILE_LANES, full)) {
        do_uniform<SHARED>(tiles, at, mine.all != 0, me, own);
    } else {
        do_tile<EIGHT, SHARED>(tiles, at, mine, me, own);
    }
}

__device__ __forceinline__ void clear_scan(uint32_t *clear, uint32_t words)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < words; i += gridDim.x * THREADS) {
        clear[i] = 0;
    }
}

/* A block for a tile. */
template <bool EIGHT, bool SHARED, bool BITS>
__global__ void __launch_bounds__(THREADS)
    tile_local(const pixels_in in, const slc_image_bittiles tiles, uint32_t *clear, uint32_t clear_words)
{
    constexpr int ROWS = EIGHT ? 64 : 32;
    __shared__ __align__(16) scratch<FEW_WARPS> own;
    const worker<FEW_WARPS> me = {threadIdx.x % 32, threadIdx.x / 32};
    slc_image_bittile_release();
    clear_scan(clear, clear_words);
    const slc_image_bittile_place place = slc_image_bittile_at(tiles, blockIdx.x);
    const tile_at at = locate(in, tiles, blockIdx.x, place);
    read_tile<ROWS, BITS>(in, corner_of<ROWS, BITS>(in, place), at, me, own);
    __syncthreads();
    do_rows<EIGHT, SHARED>(in, tiles, at, me, own);
    __syncthreads();
    write_roots<ROWS>(tiles, at, me, own);
}

/* A block for four tiles side by side, a warp each. */
template <bool EIGHT, bool SHARED, bool BITS>
__global__ void __launch_bounds__(THREADS)
    tile_local_wide(const pixels_in in, const slc_image_bittiles tiles, uint32_t *clear, uint32_t clear_words)
{
    constexpr int ROWS = EIGHT ? 64 : 32;
    __shared__ __align__(16) scratch<1> all[SIDE_BY_SIDE];
    const uint32_t warp = threadIdx.x / 32, groups = (tiles.tiles_x + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE;
    const worker<1> me = {threadIdx.x % 32, 0};
    slc_image_bittile_release();
    clear_scan(clear, clear_words);
    const uint32_t row = blockIdx.x / groups, group = blockIdx.x - row * groups;
    const uint32_t first = row * tiles.tiles_x + group * SIDE_BY_SIDE;
    const bool there = group * SIDE_BY_SIDE + warp < tiles.tiles_x;
    slc_image_bittile_place place = slc_image_bittile_at(tiles, first);
    const tile_at begin = locate(in, tiles, first, place);
    const unsigned char *corner = corner_of<ROWS, BITS>(in, place);
    place.x += there ? warp : 0;
    const tile_at at = locate(in, tiles, first + (there ? warp : 0), place);
    const bool whole = in.aligned && begin.height == ROWS &&
                       in.width - begin.x * SLC_IMAGE_BITTILE_WIDTH >= SIDE_BY_SIDE * SLC_IMAGE_BITTILE_WIDTH;
    if (!BITS && whole) {
        read_wide<ROWS>(in, corner, all);
    } else if (there) {
        read_tile<ROWS, BITS>(in, corner_of<ROWS, BITS>(in, place), at, me, all[warp]);
    }
    __syncthreads();
    if (there) {
        do_rows<EIGHT, SHARED>(in, tiles, at, me, all[warp]);
    }
    __syncthreads();
    write_wide<ROWS>(tiles, begin, all);
}

template <bool EIGHT, bool SHARED, bool BITS>
void launch(const slc_image_cuda_job *job, const pixels_in &in, const slc_image_bittiles *tiles)
{
    uint32_t *clear = static_cast<uint32_t *>(tiles->scan);
    const uint32_t words = static_cast<uint32_t>(slc_image_cuda_scan_bound(tiles->units) / 4);
    const uint32_t groups = (tiles->tiles_x + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE;
    /* A block a tile where there are few tiles, or where many blocks would have less than four. */
    if (slc_image_bittile_few(job, tiles) || groups * SIDE_BY_SIDE > tiles->tiles_x + tiles->tiles_x / 4) {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), true, job->stream,
                                 (tile_local<EIGHT, SHARED, BITS>), tiles->tiles, THREADS, in, *tiles, clear,
                                 words);
    } else {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), true, job->stream,
                                 (tile_local_wide<EIGHT, SHARED, BITS>),
                                 tiles->tiles / tiles->tiles_x * groups, THREADS, in, *tiles, clear, words);
    }
}

template <bool EIGHT, bool SHARED>
void choose(const slc_image_cuda_job *job, const pixels_in &in, const slc_image_bittiles *tiles)
{
    job->bits ? launch<EIGHT, SHARED, true>(job, in, tiles) : launch<EIGHT, SHARED, false>(job, in, tiles);
}
} // namespace

slc_status slc_image_bittile_local(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error)
{
    const uint32_t threshold = job->threshold;
    const uintptr_t strides = static_cast<uintptr_t>(job->stride) | (job->images > 1 ? job->image_stride : 0);
    const uintptr_t all = reinterpret_cast<uintptr_t>(job->pixels) | strides;
    pixels_in in;
    in.at = static_cast<const unsigned char *>(job->pixels);
    in.stride = job->stride;
    in.image_stride = job->image_stride;
    in.width = job->width;
    in.height = job->height;
    in.from.add = (threshold <= 128 ? 128 - threshold : 256 - threshold) * 0x01010101U;
    in.from.low = threshold <= 128 ? 0xffffffffU : 0;
    in.flip = job->inverse ? ~0ULL : 0;
    in.aligned = all % (job->bits ? 8 : 16) == 0;
    if (job->connectivity == 8) {
        job->has_features ? choose<true, true>(job, in, tiles) : choose<true, false>(job, in, tiles);
    } else {
        job->has_features ? choose<false, true>(job, in, tiles) : choose<false, false>(job, in, tiles);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the labelling of tiles", error);
}
