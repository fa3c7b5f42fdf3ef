/* SPDX-License-Identifier: Apache-2.0
 *
 * HA4, section 4.3 of A. Hennequin's thesis (2022; A. Hennequin, Q. Meunier, L. Lacassagne, L. Cabaret, DASIP
 * 2018): strips of four rows are labelled by a block each, a warp for a row, by segments: runs within 32 or
 * 64 pixels of which all threads of a warp know the mask. Only the start of a segment is a node of the table.
 * Then strips are united at their borders (algorithms 8 and 9). The steps are templates, as others unite with
 * further work or add up features in another way.
 *
 * Different from the thesis: any width, several images, 8-connectivity. Let s and t be the runs of set pixels
 * directly before x in a row and in the row above. Then two runs touch where
 *     both pixels are set, and s or t is empty (their first common column; this alone is 4-connectivity), or
 *     the pixel is set, the upper one is not, s is empty and t is not (they touch by a corner), or
 *     the upper pixel is set, the lower one is not, t is empty and s is not (by the other corner);
 * and in each of these cases the runs start at x minus the length of s and of t. With 8-connectivity a thread
 * of the 64-bit form can have a contact in each of its two columns. At a strip's border the last pixel of a
 * segment that ends with the mask is a node as well, since the corner beyond the mask's first column must be
 * found without the mask before it.
 */
#ifndef SLUICE_IMAGE_HA4_CUH
#define SLUICE_IMAGE_HA4_CUH

#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_number.cuh"

enum { SLC_HA4_WARP = 32, SLC_HA4_ROWS = 4 };

/* How a warp comes by its mask. */
enum slc_ha4_layout {
    SLC_HA4_32,     /* a pixel for each thread, one vote */
    SLC_HA4_SHIFTS, /* pixels 2 i and 2 i + 1, two votes that are interleaved by shifts (algorithm 12) */
    SLC_HA4_LOADS   /* pixels i and i + 32, two loads and two votes; then as above */
};
template <int LAYOUT> struct slc_ha4 {
    using mask = uint64_t;
    enum { PIXELS = 2, WIDE = 64 }; /* of a thread, of a warp */
};
template <> struct slc_ha4<SLC_HA4_32> {
    using mask = uint32_t;
    enum { PIXELS = 1, WIDE = 32 };
};

/* What is done with nodes and pairs of them. This is the plain one; whoever does more has the same members.
 */
struct slc_ha4_forest {
    uint32_t *table;
    /* The segment of `count` pixels from (x, y) is a node: its own parent, or part of a run that began
     * further left. Called once for each segment, before any call of unite for it. */
    __device__ __forceinline__ void node(uint32_t key, uint32_t parent, uint32_t /*x*/, uint32_t /*y*/,
                                         uint32_t /*count*/) const
    {
        table[key] = parent;
    }
    /* Another pixel of a segment is a node without pixels. */
    __device__ __forceinline__ void alias(uint32_t key, uint32_t parent) const
    {
        table[key] = parent;
    }
    __device__ __forceinline__ void unite(uint32_t a, uint32_t b) const
    {
        slc_image_unite(table, a, b);
    }
};

/* What is done with the features of a segment. All threads of a warp call it together, `here` where they
 * have one. */
struct slc_ha4_vote {
    slc_image_cuda_sums sums;
    __device__ __forceinline__ void operator()(bool here, uint32_t root, const slc_image_part &part) const
    {
        if (here) {
            slc_image_sums_add(sums, root, part);
        }
    }
};

namespace
{

/* ---- masks ------------------------------------------------------------------------------------- */

__device__ __forceinline__ uint64_t spread(uint32_t bits)
{
    uint64_t b = bits;
    b = (b | b << 16) & 0x0000FFFF0000FFFFULL;
    b = (b | b << 8) & 0x00FF00FF00FF00FFULL;
    b = (b | b << 4) & 0x0F0F0F0F0F0F0F0FULL;
    b = (b | b << 2) & 0x3333333333333333ULL;
    return (b | b << 1) & 0x5555555555555555ULL;
}
__device__ __forceinline__ uint64_t interleave(uint32_t even, uint32_t odd)
{
    return spread(even) | spread(odd) << 1;
}

/* Votes on pixels 2 i and 2 i + 1 of thread i, which are one load where their address is even. */
__device__ __forceinline__ uint2 pair_votes(const slc_image_picture &p, const uint8_t *row, uint32_t x)
{
    bool even = false, odd = false;
    if (x + 1 < p.width && (reinterpret_cast<uintptr_t>(row) & 1U) == 0) {
        const uint32_t both = *reinterpret_cast<const uint16_t *>(row + x);
        even = (both & 0xFFU) != 0;
        odd = both >> 8 != 0;
    } else {
        even = slc_image_pixel(p, row, x);
        odd = slc_image_pixel(p, row, x + 1);
    }
    return make_uint2(__ballot_sync(~0U, even), __ballot_sync(~0U, odd));
}

/* The mask of the pixels from x0 on. */
template <int LAYOUT>
__device__ __forceinline__ typename slc_ha4<LAYOUT>::mask mask_of(const slc_image_picture &p,
                                                                  const uint8_t *row, uint32_t x0)
{
    const uint32_t lane = threadIdx.x;
    if constexpr (LAYOUT == SLC_HA4_32) {
        return __ballot_sync(~0U, slc_image_pixel(p, row, x0 + lane));
    } else if constexpr (LAYOUT == SLC_HA4_SHIFTS) {
        const uint2 votes = pair_votes(p, row, x0 + 2 * lane);
        return interleave(votes.x, votes.y);
    } else {
        const bool low = slc_image_pixel(p, row, x0 + lane);
        const bool high = slc_image_pixel(p, row, x0 + lane + SLC_HA4_WARP);
        const uint64_t low_votes = __ballot_sync(~0U, low), high_votes = __ballot_sync(~0U, high);
        return high_votes << 32 | low_votes;
    }
}

/* The masks of two rows. Interleaving is shared: even threads do the one and odd threads the other. */
template <int LAYOUT>
__device__ __forceinline__ void
masks_of(const slc_image_picture &p, const uint8_t *row, const uint8_t *up_row, uint32_t x0,
         typename slc_ha4<LAYOUT>::mask *mask, typename slc_ha4<LAYOUT>::mask *up)
{
    if constexpr (LAYOUT == SLC_HA4_SHIFTS) {
        const uint32_t lane = threadIdx.x;
        const uint2 votes = pair_votes(p, row, x0 + 2 * lane), ups = pair_votes(p, up_row, x0 + 2 * lane);
        const bool second = (lane & 1U) != 0;
        const unsigned long long mine = interleave(second ? ups.x : votes.x, second ? ups.y : votes.y);
        *mask = __shfl_sync(~0U, mine, 0);
        *up = __shfl_sync(~0U, mine, 1);
    } else {
        *mask = mask_of<LAYOUT>(p, row, x0);
        *up = mask_of<LAYOUT>(p, up_row, x0);
    }
}

/* Of a thread's pixels the one that is to be looked at: of two, the second where the first is not set. The
 * other cannot be a start, nor the first common column of two runs. */
template <int LAYOUT> __device__ __forceinline__ uint32_t column(typename slc_ha4<LAYOUT>::mask mask)
{
    const uint32_t at = threadIdx.x * slc_ha4<LAYOUT>::PIXELS;
    return slc_ha4<LAYOUT>::PIXELS == 2 && !slc_image_bit(mask, at) ? at + 1 : at;
}

/* ---- contacts of two rows ---------------------------------------------------------------------- */

/* `before` and `up_before`: lengths of the runs that end before the masks' first column, as far as they are
 * known. `key` is that of this column in the lower row. */
template <int LAYOUT, int CONNECTIVITY, class FOREST>
__device__ __forceinline__ void
unite_rows(typename slc_ha4<LAYOUT>::mask mask, typename slc_ha4<LAYOUT>::mask up, uint32_t before,
           uint32_t up_before, uint32_t key, uint32_t pitch, const FOREST &forest)
{
    enum { COLUMNS = CONNECTIVITY == 4 ? 1 : (int)slc_ha4<LAYOUT>::PIXELS };
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const uint32_t at = CONNECTIVITY == 4 ? column<LAYOUT>(mask & up) : threadIdx.x * COLUMNS + i;
        const bool in = slc_image_bit(mask, at), in_up = slc_image_bit(up, at);
        if (CONNECTIVITY == 4 ? !(in && in_up) : !(in || in_up)) {
            continue;
        }
        const uint32_t s = at == 0 ? before : slc_image_start_distance(mask, at);
        const uint32_t t = at == 0 ? up_before : slc_image_start_distance(up, at);
        const bool touch = in && in_up ? s == 0 || t == 0 : in ? s == 0 && t > 0 : t == 0 && s > 0;
        if (touch) {
            forest.unite(key + at - s, key + at - pitch - t);
        }
    }
}

/* ---- the strips (algorithm 8) ------------------------------------------------------------------ */

template <int LAYOUT, int CONNECTIVITY, class FOREST>
__device__ __forceinline__ void start_nodes(typename slc_ha4<LAYOUT>::mask mask, uint32_t before,
                                            uint32_t key, uint32_t x0, uint32_t y, const FOREST &forest)
{
    const uint32_t at = column<LAYOUT>(mask), last = slc_ha4<LAYOUT>::WIDE - 1;
    if (slc_image_bit(mask, at) && slc_image_start_distance(mask, at) == 0) {
        forest.node(key + at, key + at - (at == 0 ? before : 0), x0 + at, y,
                    slc_image_end_distance(mask, at));
    }
    if (CONNECTIVITY == 8 && threadIdx.x == SLC_HA4_WARP - 1 &&
        (threadIdx.y == 0 || threadIdx.y == SLC_HA4_ROWS - 1)) {
        const uint32_t s = slc_image_start_distance(mask, last);
        if (slc_image_bit(mask, last) && s > 0) {
            forest.alias(key + last, key + last - s);
        }
    }
}

/* A block goes along a strip. It keeps how long the run is with which each row ends so far, so that a run is
 * one tree over the whole width. */
template <int LAYOUT, int CONNECTIVITY, class FOREST>
__global__ void __launch_bounds__(SLC_HA4_WARP *SLC_HA4_ROWS)
    label_strips(const slc_image_picture p, const FOREST forest)
{
    typedef typename slc_ha4<LAYOUT>::mask word;
    enum { WIDE = slc_ha4<LAYOUT>::WIDE };
    __shared__ word shared[SLC_HA4_ROWS];
    const uint32_t row_in_strip = threadIdx.y, y = blockIdx.x * SLC_HA4_ROWS + row_in_strip;
    const bool there = y < p.height;
    for (uint32_t image = blockIdx.y; image < p.images; image += gridDim.y) {
        const uint8_t *row = slc_image_row(p, image, there ? y : 0);
        const uint32_t key = slc_image_key(p, image, y);
        uint32_t before = 0, up_before = 0;
        for (uint32_t x0 = 0; x0 < p.width; x0 += WIDE) {
            const word mask = there ? mask_of<LAYOUT>(p, row, x0) : 0;
            start_nodes<LAYOUT, CONNECTIVITY>(mask, before, key + x0, x0, y, forest);
            __syncthreads(); /* the masks of the step before are read, */
            if (threadIdx.x == 0) {
                shared[row_in_strip] = mask;
            }
            __syncthreads(); /* those of this step and its nodes are written */
            const word up = row_in_strip > 0 ? shared[row_in_strip - 1] : 0;
            unite_rows<LAYOUT, CONNECTIVITY>(mask, up, before, up_before, key + x0, p.pitch, forest);
            const uint32_t end = slc_image_start_distance(mask, WIDE);
            const uint32_t up_end = slc_image_start_distance(up, WIDE);
            before = end == WIDE ? before + end : end;
            up_before = up_end == WIDE ? up_before + up_end : up_end;
        }
    }
}

/* ---- the borders (algorithm 9) ----------------------------------------------------------------- */

/* A warp for each mask of a strip's first row. */
template <int LAYOUT, int CONNECTIVITY, class FOREST>
__global__ void __launch_bounds__(SLC_HA4_WARP *SLC_HA4_ROWS)
    unite_strips(const slc_image_picture p, const FOREST forest)
{
    const uint32_t x0 = blockIdx.x * slc_ha4<LAYOUT>::WIDE, borders = (p.height - 1) / SLC_HA4_ROWS;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t b = blockIdx.y * SLC_HA4_ROWS + threadIdx.y; b < borders;
             b += gridDim.y * SLC_HA4_ROWS) {
            const uint32_t y = (b + 1) * SLC_HA4_ROWS;
            const uint8_t *row = slc_image_row(p, image, y), *up_row = slc_image_row(p, image, y - 1);
            typename slc_ha4<LAYOUT>::mask mask, up;
            masks_of<LAYOUT>(p, row, up_row, x0, &mask, &up);
            const bool look = CONNECTIVITY == 8 && threadIdx.x == 0 && x0 > 0;
            const uint32_t before = look && row[x0 - 1] != 0 ? 1 : 0;
            const uint32_t up_before = look && up_row[x0 - 1] != 0 ? 1 : 0;
            unite_rows<LAYOUT, CONNECTIVITY>(mask, up, before, up_before, slc_image_key(p, image, y) + x0,
                                             p.pitch, forest);
        }
    }
}

/* ---- features (algorithm 11) ------------------------------------------------------------------- */

template <int LAYOUT, class ADD>
__global__ void __launch_bounds__(SLC_HA4_WARP *SLC_HA4_ROWS)
    add_segments(const slc_image_picture p, const uint32_t *table, const ADD add)
{
    const uint32_t x0 = blockIdx.x * slc_ha4<LAYOUT>::WIDE;
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * SLC_HA4_ROWS + threadIdx.y; y < p.height;
             y += gridDim.y * SLC_HA4_ROWS) {
            const auto mask = mask_of<LAYOUT>(p, slc_image_row(p, image, y), x0);
            const uint32_t at = column<LAYOUT>(mask), key = slc_image_key(p, image, y) + x0 + at;
            const bool here = slc_image_bit(mask, at) && slc_image_start_distance(mask, at) == 0;
            const uint32_t root = here ? slc_image_find(table, key) : 0;
            add(here, root, slc_image_part_of(x0 + at, y, slc_image_end_distance(mask, at)));
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------- */

/* The table's forest: afterwards all segments of a component lead to the same root. */
template <int LAYOUT, int CONNECTIVITY, class FOREST>
slc_status launch_forest_of(const slc_image_cuda_job *job, const FOREST &forest, slc_error *error)
{
    const slc_image_picture picture = slc_image_picture_of(job);
    const dim3 threads(SLC_HA4_WARP, SLC_HA4_ROWS);
    const uint32_t borders = (job->height - 1) / SLC_HA4_ROWS, most = 65535;
    const dim3 strips(borders + 1, job->images < most ? job->images : most);
    SLC_LAUNCH((label_strips<LAYOUT, CONNECTIVITY, FOREST>), strips, threads, 0, job->stream, picture,
               forest);
    const slc_status status = slc_cuda_check(cudaGetLastError(), "launching HA4's strips", error);
    if (status != SLC_OK || borders == 0) {
        return status;
    }
    const dim3 cover = slc_image_cover(job, slc_ha4<LAYOUT>::WIDE, SLC_HA4_ROWS * SLC_HA4_ROWS);
    SLC_LAUNCH((unite_strips<LAYOUT, CONNECTIVITY, FOREST>), cover, threads, 0, job->stream, picture, forest);
    return slc_cuda_check(cudaGetLastError(), "launching HA4's borders", error);
}

template <int LAYOUT, class FOREST>
slc_status launch_forest(const slc_image_cuda_job *job, const FOREST &forest, slc_error *error)
{
    return job->connectivity == 4 ? launch_forest_of<LAYOUT, 4>(job, forest, error)
                                  : launch_forest_of<LAYOUT, 8>(job, forest, error);
}

/* After slc_image_cuda_numbers_run: all segments' features to their roots. */
template <int LAYOUT, class ADD>
slc_status launch_features(const slc_image_cuda_job *job, const uint32_t *table, const ADD &add,
                           slc_error *error)
{
    const dim3 threads(SLC_HA4_WARP, SLC_HA4_ROWS);
    SLC_LAUNCH((add_segments<LAYOUT, ADD>), slc_image_cover(job, slc_ha4<LAYOUT>::WIDE, SLC_HA4_ROWS),
               threads, 0, job->stream, slc_image_picture_of(job), table, add);
    return slc_cuda_check(cudaGetLastError(), "launching HA4's features", error);
}

} // namespace

#endif
