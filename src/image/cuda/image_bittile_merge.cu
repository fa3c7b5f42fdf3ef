/* SPDX-License-Identifier: Apache-2.0
 *
 * `bittile`, the second kernel: components are joined across the borders of tiles. A warp does the upper and
 * the left edge of a tile: it compares them with the opposite edges of the neighbours, a lane two pixels of
 * each, keeps every pair of components that touch once, and unites the pairs, a lane each. Unions are by the
 * smaller first pixel with an atomic minimum on the larger root's node, as within tiles
 * (image_bittile_local.cu); the one thread that makes a root a child takes its first pixel out of `roots`.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile.cuh"

namespace
{
enum { WARPS = 4, THREADS = WARPS * 32, NONE = SLC_IMAGE_BITTILE_NO_SLOT, EDGE_BYTES = 64 };

/* Two kinds of contacts at two edges, and two corners. */
enum { PAIRS = 4 * 32 + 2 };

constexpr uint32_t NO_PAIR = 0xffffffffU;

typedef unsigned long long node_t;

struct pair_list {
    uint32_t mine[PAIRS], theirs[PAIRS]; /* nodes */
    /* What slots touch: this tile's and the left one's in the tiles above them, and those of the tile above
     * in the one to the left of it. */
    uint32_t above[SLC_IMAGE_BITTILE_SLOTS], above_left[SLC_IMAGE_BITTILE_SLOTS],
        left_above[SLC_IMAGE_BITTILE_SLOTS];
};

/* Unites the components of two nodes: goes up from both at once, until the ways meet, or the way that is at
 * the larger node has ended; that root is linked to where the other way is, a root or not, as in M. Rem's
 * algorithm (E. W. Dijkstra, A Discipline of Programming, 1976): links go to smaller nodes, so there are no
 * circles. What is read may be old: then it is an ancestor still, and the atomic minimum tells. Links on the
 * way are set to the grandparent, which loses nothing, as told in image_bittile_local.cu. */
__device__ __forceinline__ void unite(const slc_image_bittiles &tiles, uint32_t one, uint32_t other)
{
    node_t *nodes = reinterpret_cast<node_t *>(tiles.nodes);
    node_t a = nodes[one], b = nodes[other];
    while (a != b) {
        const uint32_t at_a = static_cast<uint32_t>(a), at_b = static_cast<uint32_t>(b);
        /* One that holds its own value was a root when it was read, just before. */
        node_t next_a = at_a == one ? a : nodes[at_a], next_b = at_b == other ? b : nodes[at_b];
        if (next_a == next_b) {
            return;
        }
        if (next_a != a && at_a != one) {
            nodes[one] = next_a;
        }
        if (next_b != b && at_b != other) {
            nodes[other] = next_b;
        }
        const bool from_a = next_a > next_b;
        if (from_a ? next_a == a : next_b == b) {
            const node_t large = from_a ? a : b, small = from_a ? next_b : next_a;
            const node_t old = atomicMin(nodes + (from_a ? at_a : at_b), small);
            if (old == large) {
                const uint32_t key = static_cast<uint32_t>(large >> 32);
                atomicAnd(reinterpret_cast<uint32_t *>(tiles.roots) + key / 32, ~(1U << (key % 32)));
                return;
            }
            next_a = from_a ? old : next_a; /* another thread was faster: what it linked to is united, too */
            next_b = from_a ? next_b : old;
        }
        one = at_a;
        other = at_b;
        a = next_a;
        b = next_b;
    }
}

/* Two edges that lie on each other, this tile's and the other one's: of two neighbouring places of a lane the
 * slots (NONE: background), which are the same if both are foreground. */
struct edge_pair {
    uint32_t mine[2], theirs[2];
};

__device__ __forceinline__ const uint8_t *edge_of(const slc_image_bittiles &tiles, uint32_t tile,
                                                  uint32_t edge)
{
    return tiles.edges + static_cast<size_t>(tile) * (EDGE_BYTES * SLC_IMAGE_BITTILE_EDGES) +
           EDGE_BYTES * edge;
}

__device__ __forceinline__ void take_two(const uint8_t *edge, uint32_t lane, bool two, uint32_t *to)
{
    const uint32_t both = two ? __ldg(reinterpret_cast<const uint16_t *>(edge) + lane)
                              : __ldg(edge + lane) | static_cast<uint32_t>(NONE) << 8;
    to[0] = both & 255U;
    to[1] = both >> 8;
}

/* The edges of two tiles; all background where there is no other tile. */
__device__ __forceinline__ edge_pair take_edges(const slc_image_bittiles &tiles, bool there, uint32_t tile,
                                                uint32_t edge, uint32_t other, uint32_t opposite,
                                                uint32_t lane, bool two)
{
    edge_pair pair = {{NONE, NONE}, {NONE, NONE}};
    if (there) {
        take_two(edge_of(tiles, tile, edge), lane, two, pair.mine);
        take_two(edge_of(tiles, other, opposite), lane, two, pair.theirs);
    }
    return pair;
}

/* Appends a lane's contact, if `touch`, unless another lane has the same; returns how many there are then. */
__device__ __forceinline__ uint32_t append(uint32_t tile, uint32_t other, bool touch, uint32_t mine,
                                           uint32_t theirs, uint32_t lane, pair_list &list, uint32_t n)
{
    if (!__any_sync(SLC_IMAGE_BITTILE_LANES, touch)) {
        return n;
    }
    const uint32_t same = __match_any_sync(SLC_IMAGE_BITTILE_LANES, touch ? theirs << 8 | mine : NO_PAIR);
    const bool first = touch && (same & ((1U << lane) - 1U)) == 0;
    const uint32_t firsts = __ballot_sync(SLC_IMAGE_BITTILE_LANES, first);
    if (first) {
        const uint32_t at = n + static_cast<uint32_t>(__popc(firsts & ((1U << lane) - 1U)));
        list.mine[at] = tile * SLC_IMAGE_BITTILE_SLOTS + mine;
        list.theirs[at] = other * SLC_IMAGE_BITTILE_SLOTS + theirs;
    }
    return n + static_cast<uint32_t>(__popc(firsts));
}

/* For some slots at an edge one of the slots that they touch behind it, NONE for the others. */
__device__ __forceinline__ void note_contacts(const edge_pair &at, uint32_t *behind)
{
    const uint32_t first = at.mine[0] != NONE && at.theirs[0] != NONE ? 0 : 1;
    const uint32_t mine = first == 0 ? at.mine[0] : at.mine[1];
    const uint32_t theirs = first == 0 ? at.theirs[0] : at.theirs[1];
    if (mine != NONE && theirs != NONE) {
        atomicExch(behind + mine, theirs);
    }
}

/* Is a pair at the left edge joined by way of the two tiles above? It is if both touch components above that
 * touch each other: those are joined in the same way, or, at the first row of tiles, as any pair. */
__device__ __forceinline__ bool known(const pair_list &list, uint32_t mine, uint32_t theirs)
{
    const uint32_t above = list.above[mine % SLC_IMAGE_BITTILE_SLOTS];
    const uint32_t other = list.above_left[theirs % SLC_IMAGE_BITTILE_SLOTS];
    return above != NONE && other != NONE && list.left_above[above % SLC_IMAGE_BITTILE_SLOTS] == other;
}

/* Contacts between two edges. When 4-connected of places that are opposite; when 8-connected any of a lane's
 * two with any of the two opposite, and with the lane before the diagonals of the four places where two lanes
 * meet, if the other two places are background. With `side` those that are known are left out. */
template <bool EIGHT>
__device__ __forceinline__ uint32_t append_edge(uint32_t tile, uint32_t other, const edge_pair &at, bool side,
                                                uint32_t lane, pair_list &list, uint32_t n)
{
    if (!EIGHT) { /* if both touch, they are of the same two components */
        const bool first = at.mine[0] != NONE && at.theirs[0] != NONE;
        const bool second = at.mine[1] != NONE && at.theirs[1] != NONE;
        const uint32_t mine = first ? at.mine[0] : at.mine[1];
        const uint32_t theirs = first ? at.theirs[0] : at.theirs[1];
        return append(tile, other, (first || second) && !(side && known(list, mine, theirs)), mine, theirs,
                      lane, list, n);
    }
    const uint32_t mine = at.mine[0] != NONE ? at.mine[0] : at.mine[1];
    const uint32_t theirs = at.theirs[0] != NONE ? at.theirs[0] : at.theirs[1];
    n = append(tile, other, mine != NONE && theirs != NONE && !(side && known(list, mine, theirs)), mine,
               theirs, lane, list, n);
    uint32_t mine_before = __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, at.mine[1], 1);
    uint32_t theirs_before = __shfl_up_sync(SLC_IMAGE_BITTILE_LANES, at.theirs[1], 1);
    mine_before = lane > 0 ? mine_before : static_cast<uint32_t>(NONE);
    theirs_before = lane > 0 ? theirs_before : static_cast<uint32_t>(NONE);
    const bool falling = at.mine[0] != NONE && theirs_before != NONE;
    const bool rising = at.theirs[0] != NONE && mine_before != NONE;
    const bool alone = falling ? at.theirs[0] == NONE && mine_before == NONE
                               : rising && at.mine[0] == NONE && theirs_before == NONE;
    const uint32_t one = falling ? at.mine[0] : mine_before;
    const uint32_t two = falling ? theirs_before : at.theirs[0];
    return append(tile, other, alone && !(side && known(list, one, two)), one, two, lane, list, n);
}

/* The corners with the tiles above at the left (lane 0) and at the right (lane 1). */
__device__ __forceinline__ uint32_t append_corners(uint32_t tile, uint32_t above, uint32_t mine,
                                                   uint32_t theirs, uint32_t lane, pair_list &list,
                                                   uint32_t n)
{
    const bool touch = mine != NONE && theirs != NONE;
    const uint32_t touching = __ballot_sync(SLC_IMAGE_BITTILE_LANES, touch);
    if (touch) {
        const uint32_t at = n + static_cast<uint32_t>(__popc(touching & ((1U << lane) - 1U)));
        list.mine[at] = tile * SLC_IMAGE_BITTILE_SLOTS + mine;
        list.theirs[at] = (lane == 0 ? above - 1 : above + 1) * SLC_IMAGE_BITTILE_SLOTS + theirs;
    }
    return n + static_cast<uint32_t>(__popc(touching));
}

template <bool EIGHT> __global__ void __launch_bounds__(THREADS) tile_merge(const slc_image_bittiles tiles)
{
    __shared__ pair_list lists[WARPS];
    const uint32_t lane = threadIdx.x % 32;
    pair_list &list = lists[threadIdx.x / 32];
    const uint32_t tile = blockIdx.x * WARPS + threadIdx.x / 32;
    slc_image_bittile_wait();
    slc_image_bittile_release();
    if (tile >= tiles.tiles) {
        return;
    }
    const slc_image_bittile_place at = slc_image_bittile_at(tiles, tile);
    const uint32_t above = tile - tiles.tiles_x;
    const bool both = at.x > 0 && at.y > 0;
    const edge_pair top = take_edges(tiles, at.y > 0, tile, SLC_IMAGE_BITTILE_TOP, above,
                                     SLC_IMAGE_BITTILE_BOTTOM, lane, true);
    const edge_pair side = take_edges(tiles, at.x > 0, tile, SLC_IMAGE_BITTILE_LEFT, tile - 1,
                                      SLC_IMAGE_BITTILE_RIGHT, lane, EIGHT);
    const edge_pair top_left = take_edges(tiles, both, tile - 1, SLC_IMAGE_BITTILE_TOP, above - 1,
                                          SLC_IMAGE_BITTILE_BOTTOM, lane, true);
    const edge_pair side_above = take_edges(tiles, both, above, SLC_IMAGE_BITTILE_LEFT, above - 1,
                                            SLC_IMAGE_BITTILE_RIGHT, lane, EIGHT);
    uint32_t corner = NONE, other_corner = NONE;
    if (EIGHT && at.y > 0 && (lane == 0 ? at.x > 0 : lane == 1 && at.x + 1 < tiles.tiles_x)) {
        corner = __ldg(edge_of(tiles, tile, SLC_IMAGE_BITTILE_TOP) + (lane == 0 ? 0 : 63));
        other_corner = __ldg(edge_of(tiles, lane == 0 ? above - 1 : above + 1, SLC_IMAGE_BITTILE_BOTTOM) +
                             (lane == 0 ? 63 : 0));
    }
#pragma unroll
    for (uint32_t i = lane; i < SLC_IMAGE_BITTILE_SLOTS; i += 32) {
        list.above[i] = NONE;
        list.above_left[i] = NONE;
        list.left_above[i] = NONE;
    }
    __syncwarp();
    note_contacts(top, list.above);
    note_contacts(top_left, list.above_left);
    note_contacts(side_above, list.left_above);
    __syncwarp();
    uint32_t n = append_edge<EIGHT>(tile, above, top, false, lane, list, 0);
    n = append_edge<EIGHT>(tile, tile - 1, side, both, lane, list, n);
    if (EIGHT) { /* the corner pixel of the tile above, if there is one, joins them */
        const uint32_t last = __shfl_sync(SLC_IMAGE_BITTILE_LANES, top.theirs[1], 31);
        const bool joined = (lane == 0 ? top.theirs[0] : last) != NONE;
        n = append_corners(tile, above, joined ? static_cast<uint32_t>(NONE) : corner, other_corner, lane,
                           list, n);
    }
    __syncwarp();
    for (uint32_t i = lane; i < n; i += 32) {
        unite(tiles, list.mine[i], list.theirs[i]);
    }
}
} // namespace

slc_status slc_image_bittile_merge(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error)
{
    const uint32_t blocks = (tiles->tiles + WARPS - 1) / WARPS;
    if (tiles->tiles_x == 1 && tiles->tiles_y == 1) {
        return SLC_OK; /* no image has borders inside */
    }
    if (job->connectivity == 8) {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, (tile_merge<true>),
                                 blocks, THREADS, *tiles);
    } else {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, (tile_merge<false>),
                                 blocks, THREADS, *tiles);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the labelling across tiles", error);
}
