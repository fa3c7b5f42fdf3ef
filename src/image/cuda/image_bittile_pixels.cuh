/* SPDX-License-Identifier: Apache-2.0
 *
 * `bittile`, the first kernel's first part (image_bittile_local.cu has the rest): who does a tile and what is
 * kept of it in shared memory, and how its pixels become rows of bits. A lane loads 16 bytes at a time where
 * the image allows that, all loads of a tile before the first is used, and never reads a byte outside of a
 * row.
 */
#ifndef SLUICE_IMAGE_BITTILE_PIXELS_CUH
#define SLUICE_IMAGE_BITTILE_PIXELS_CUH

#include "image/cuda/image_bittile.cuh"

namespace
{
/* A byte v is foreground where bit 7 of the majority of (v % 128 + add), v and `low` is set: for thresholds t
 * up to 128 add is 128 - t and low is set, beyond that add is 256 - t and low is not. */
struct level {
    uint32_t add, low;
};

struct pixels_in {
    const unsigned char *at;
    ptrdiff_t stride;
    size_t image_stride;
    uint32_t width, height;
    level from;
    uint64_t flip; /* all ones for the inverse */
    bool aligned;  /* to 16 bytes, rows of bits to 8 */
};

/* What is kept of a tile. */
template <int WARPS> struct scratch {
    enum { EACH = 4 };
    /* Of every run: (place of its first pixel << 10) | its number, for roots; otherwise the number of a run
     * with an earlier first pixel, and above that anything. */
    uint32_t node[SLC_IMAGE_BITTILE_RUNS];
    uint32_t rows[128];  /* bits of the rows on their way; then the first pixels of components */
    uint32_t border[32]; /* a bit for each run: roots that reach an inner border */
    uint32_t shared[32]; /* roots with further runs */
    uint32_t slots[32];  /* how many bits are set in the words of `border` before */
    uint32_t contacts[WARPS][32 * EACH]; /* (lower run << 10) | upper run */
};

/* A tile is the work of one warp or, in small images, of WARPS, which are then a block: all of them know the
 * strips, lane by lane, and each does the runs that begin in its columns, the runs whose numbers are its own,
 * and some of the edges. */
template <int WARPS> struct worker {
    uint32_t lane, warp;

    __device__ __forceinline__ uint32_t index() const
    {
        return WARPS == 1 ? lane : 32 * warp + lane;
    }
    /* Its columns. */
    __device__ __forceinline__ uint64_t part(uint64_t bits) const
    {
        return WARPS == 1 ? bits : bits & (~0ULL >> (64 - 64 / WARPS)) << (64 / WARPS * warp);
    }
    __device__ __forceinline__ bool is(uint32_t number) const
    {
        return WARPS == 1 || warp == number % WARPS;
    }
    __device__ __forceinline__ void sync() const
    {
        if (WARPS == 1) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }
};

/* ---- bits of pixels ---- */

__device__ __forceinline__ uint32_t four_bits(level from, uint32_t bytes)
{
    const uint32_t sum = (bytes & 0x7f7f7f7fU) + from.add;
    const uint32_t set = ((sum & bytes) | (sum & from.low) | (bytes & from.low)) & 0x80808080U;
    return set * 0x00204081U; /* in the upper four bits */
}

__device__ __forceinline__ uint32_t sixteen_bits(level from, uint4 bytes)
{
    uint32_t bits = four_bits(from, bytes.w) >> 28;
    bits = __funnelshift_l(four_bits(from, bytes.z), bits, 4);
    bits = __funnelshift_l(four_bits(from, bytes.y), bits, 4);
    return __funnelshift_l(four_bits(from, bytes.x), bits, 4);
}

/* The 16 pixels from column x on, of which `n` are in the row: never a byte outside of it. */
__device__ __noinline__ uint32_t ragged_bits(level from, const unsigned char *row, uint32_t width, uint32_t x,
                                             uint32_t n)
{
    const uint32_t off = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row + x) & 3U);
    if (n == 16 && x >= off && width - x >= 20) {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(row + x - off);
        const uint32_t w0 = __ldg(words), w1 = __ldg(words + 1), w2 = __ldg(words + 2), w3 = __ldg(words + 3);
        const uint32_t w4 = __ldg(words + 4), shift = 8 * off;
        return sixteen_bits(from, make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                                             __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, w4, shift)));
    }
    uint32_t bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        bits |= (four_bits(from, __ldg(row + x + i)) >> 28) << i;
    }
    return bits & ((1U << n) - 1U);
}

/* Four lanes have a row of 64 pixels, so that every load of a warp reads eight rows. */
template <int ROWS, int WARPS>
__device__ __forceinline__ void read_bytes(const pixels_in &in, const unsigned char *corner, uint32_t width,
                                           uint32_t height, uint32_t x, worker<WARPS> me, scratch<WARPS> &own)
{
    constexpr int LOADS = ROWS / 8 / WARPS;
    uint16_t *pieces = reinterpret_cast<uint16_t *>(own.rows);
    const uint32_t column = 16 * (me.lane % 4), first = me.index() / 4;
    const unsigned char *at = corner + static_cast<ptrdiff_t>(first) * in.stride;
    if (in.aligned && width == 64 && height == ROWS) {
        uint4 bytes[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            bytes[i] = __ldcs(reinterpret_cast<const uint4 *>(at + i * 8 * WARPS * in.stride + column));
        }
        __syncwarp(); /* all loads are on their way before the first is waited for */
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            pieces[32 * WARPS * i + me.index()] = static_cast<uint16_t>(sixteen_bits(in.from, bytes[i]));
        }
        return;
    }
    const uint32_t n = width <= column ? 0 : (width - column < 16 ? width - column : 16);
#pragma unroll 1
    for (uint32_t i = 0; i < LOADS; i++) {
        uint32_t bits = 0;
        if (8 * WARPS * i + first < height && n > 0) {
            bits = ragged_bits(in.from, at + static_cast<ptrdiff_t>(8 * WARPS * i) * in.stride - x, in.width,
                               x + column, n);
        }
        pieces[32 * WARPS * i + me.index()] = static_cast<uint16_t>(bits);
    }
}

/* The same for four tiles that lie side by side, by four warps: every load of a warp reads two rows of all
 * four, so that whole lines of the cache are asked for. */
template <int ROWS>
__device__ __forceinline__ void read_wide(const pixels_in &in, const unsigned char *corner, scratch<1> *all)
{
    constexpr int LOADS = ROWS / 8;
    const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * (ROWS / 4) + lane / 16;
    const unsigned char *at = corner + static_cast<ptrdiff_t>(first) * in.stride + 16 * (lane % 16);
    uint16_t *pieces = reinterpret_cast<uint16_t *>(all[lane % 16 / 4].rows) + 4 * first + lane % 4;
    uint4 bytes[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        bytes[i] = __ldcs(reinterpret_cast<const uint4 *>(at + i * 2 * in.stride));
    }
    __syncwarp(); /* all loads are on their way before the first is waited for */
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        pieces[8 * i] = static_cast<uint16_t>(sixteen_bits(in.from, bytes[i]));
    }
}

/* Rows of bits: every lane its own. */
template <int ROWS, int WARPS>
__device__ __forceinline__ void read_bits(const pixels_in &in, const unsigned char *corner, uint32_t width,
                                          uint32_t height, worker<WARPS> me, scratch<WARPS> &own)
{
    uint64_t *rows = reinterpret_cast<uint64_t *>(own.rows);
    const uint32_t n = (width + 7) / 8;
    for (uint32_t row = me.index(); row < ROWS; row += 32 * WARPS) {
        uint64_t bits = 0;
        const unsigned char *at = corner + static_cast<ptrdiff_t>(row) * in.stride;
        if (row < height && in.aligned && n == 8) {
            bits = __ldg(reinterpret_cast<const unsigned long long *>(at));
        } else if (row < height) {
            for (uint32_t i = 0; i < n; i++) {
                bits |= static_cast<uint64_t>(__ldg(at + i)) << (8 * i);
            }
        }
        rows[row] = bits;
    }
}
/* ---- strips ---- */

/* A lane's strip. */
template <bool EIGHT> struct strip {
    uint64_t a, b;      /* its rows; without b when 4-connected */
    uint64_t any;       /* a | b */
    uint64_t starts;    /* first bits of its runs */
    uint32_t base, all; /* runs of the strips before, and of the tile */
};

template <bool EIGHT, int WARPS>
__device__ __forceinline__ strip<EIGHT> take_strip(const pixels_in &in, uint32_t width, uint32_t height,
                                                   uint32_t lane, const scratch<WARPS> &own)
{
    const uint64_t *rows = reinterpret_cast<const uint64_t *>(own.rows);
    const uint64_t columns = ~0ULL >> (64 - width);
    strip<EIGHT> mine;
    if (EIGHT) {
        mine.a = (rows[2 * lane] ^ in.flip) & (2 * lane < height ? columns : 0);
        mine.b = (rows[2 * lane + 1] ^ in.flip) & (2 * lane + 1 < height ? columns : 0);
    } else {
        mine.a = (rows[lane] ^ in.flip) & (lane < height ? columns : 0);
        mine.b = 0;
    }
    mine.any = mine.a | mine.b;
    mine.starts = slc_image_bittile_starts(mine.any);
    mine.base = slc_image_bittile_sums(slc_image_bittile_count(mine.starts), lane, &mine.all);
    return mine;
}
} // namespace

#endif
