/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tools of the track search: the hits of a layer of which some are gone, told by a byte each. What is
 * left moves together by compress-stores, in place or elsewhere. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_LEFT_H
#define SLUICE_VELO_TRACK_LEFT_H

#include "velo/velo_track_work.h"

/* Bit k: hit k is not gone; of the 64 from here on. */
static inline uint64_t bits_left(const uint8_t *gone, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 64 && i < n; i += SIMD_LANES8) {
        uint8_t part[SLC_TRACK_SPARE] = {0};
        uint64_t word;
        mask8_store(part, u8v_eq(u8v_load(gone + i), u8v_set(0)));
        memcpy(&word, part, sizeof word);
        bits |= word << i;
    }
    return bits;
}

static inline uint32_t keep_hits(slc_track_layer *to, const float *x, const float *y, const float *z,
                                 const int32_t *key, const uint32_t *id, size_t n, const uint8_t *gone)
{
    uint32_t kept = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        bits = i % 64 == 0 ? bits_left(gone + i, n - i) : bits >> SIMD_LANES;
        const mask32 keep = mask32_and(mask32_of_bits(bits), mask32_first(n - i));
        const f32v hx = f32v_load(x + i), hy = f32v_load(y + i), hz = f32v_load(z + i);
        const i32v hkey = i32v_load(key + i);
        const u32v hid = u32v_load(id + i);
        (void)f32v_pack(to->x + kept, hx, keep);
        (void)f32v_pack(to->y + kept, hy, keep);
        (void)f32v_pack(to->z + kept, hz, keep);
        (void)i32v_pack(to->key + kept, hkey, keep);
        kept += (uint32_t)u32v_pack(to->id + kept, hid, keep);
    }
    return kept;
}

#endif
