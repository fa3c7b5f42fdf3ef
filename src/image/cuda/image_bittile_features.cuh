/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of `bittile`, the memory between its two steps: image_bittile_features.cu leaves for every
 * component a record with its tile, and image_bittile_rows.cu makes rows of columns of them, in the order of
 * the rows. So columns are written once, from end to end: scattered words would each cost the device's memory
 * 32 bytes read and written.
 *
 * A record is 64 bits, and a component that ends in its tile fits into it, the first pixel being known. One
 * that reaches beyond the tile has a `border_sums`, with the node of its first tile (image_bittile.h).
 */
#ifndef SLUICE_IMAGE_BITTILE_FEATURES_CUH
#define SLUICE_IMAGE_BITTILE_FEATURES_CUH

#include "image/cuda/image_bittile.cuh"

namespace
{

/* Of a component with pixels in several tiles; coordinates in the image. 32 bytes, which is what memory
 * reads and writes at once. */
struct __align__(32) border_sums
{
    uint32_t area, x_min, x_max, y_max; /* there are fewer than 2^32 pixels */
    unsigned long long x, y;
};

/* Of job.features, per tile: a record for each component whose first pixel is in the tile, in raster order;
 * sums for each slot; and for each row how many records there are of the rows before. */
struct features_memory {
    uint64_t *records;    /* [tile][1024] */
    border_sums *borders; /* [tile · 128 + slot] */
    uint16_t *bases;      /* [tile][rows]; set in tiles that have records */
};

inline size_t features_bytes(const slc_image_bittiles *tiles)
{
    return static_cast<size_t>(tiles->tiles) *
           (SLC_IMAGE_BITTILE_RUNS * sizeof(uint64_t) + SLC_IMAGE_BITTILE_SLOTS * sizeof(border_sums) +
            tiles->rows * sizeof(uint16_t));
}

__host__ __device__ inline features_memory features_layout(const slc_image_bittiles &tiles)
{
    features_memory memory;
    memory.records = static_cast<uint64_t *>(tiles.features);
    memory.borders = reinterpret_cast<border_sums *>(memory.records + static_cast<size_t>(tiles.tiles) *
                                                                          SLC_IMAGE_BITTILE_RUNS);
    memory.bases = reinterpret_cast<uint16_t *>(memory.borders +
                                                static_cast<size_t>(tiles.tiles) * SLC_IMAGE_BITTILE_SLOTS);
    return memory;
}

/* Sums of a tile's slots before anything is added (image_cuda_scan.cu); a warp. Two lanes write those of a
 * slot, so that 32 bytes are written at once. */
__device__ __forceinline__ void begin_borders(const slc_image_bittiles &tiles, uint32_t tile, uint32_t slots,
                                              uint32_t lane)
{
    border_sums *sums = features_layout(tiles).borders + static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_SLOTS;
    const uint4 half = make_uint4(0, lane % 2 == 0 ? UINT32_MAX : 0, 0, 0); /* x_min is the second number */
    for (uint32_t i = lane; i < 2 * slots; i += 32) {
        reinterpret_cast<uint4 *>(sums)[i] = half;
    }
}

/* ---- records ----------------------------------------------------------------------------------- */

/* What a tile has of a component, relative to the tile's corner. */
struct tile_share {
    uint32_t area, x, y;          /* at most 4096, and 4096 · 31.5 < 2^17 */
    uint32_t x_min, x_max, y_max; /* below 64 */
};

/* From the lowest bit: x_min, x_max, y_max (6 bits each), x, y (17 bits each), area - 1 (12 bits). */
__device__ __forceinline__ uint64_t record_of(const tile_share &all)
{
    return all.x_min | all.x_max << 6 | all.y_max << 12 | static_cast<uint64_t>(all.x) << 18 |
           static_cast<uint64_t>(all.y) << 35 | static_cast<uint64_t>(all.area - 1) << 52;
}

__device__ __forceinline__ tile_share share_in(uint64_t record)
{
    const uint32_t low = static_cast<uint32_t>(record), sums = (1U << 17) - 1;
    return {static_cast<uint32_t>(record >> 52) + 1,
            static_cast<uint32_t>(record >> 18) & sums,
            static_cast<uint32_t>(record >> 35) & sums,
            low & 63U,
            low >> 6 & 63U,
            low >> 12 & 63U};
}

/* A component that reaches beyond the tile: no box has its left end right of its right end. */
constexpr uint64_t BORDER_RECORD = 1;

__device__ __forceinline__ uint64_t border_record(uint32_t slot)
{
    return BORDER_RECORD | static_cast<uint64_t>(slot) << 12;
}

__device__ __forceinline__ bool is_border(uint64_t record)
{
    return (record & 0xfffU) == BORDER_RECORD;
}

__device__ __forceinline__ uint32_t border_slot(uint64_t record)
{
    return static_cast<uint32_t>(record >> 12);
}

} // namespace

#endif
