/* SPDX-License-Identifier: Apache-2.0
 * PET singles: calibration and energy window, the first step of every acquisition chain. */
#include "pet/pet_kernels.h"

#include "pet/pet_chain_core.h"
#include "simd/simd.h"

#include <string.h>

static size_t energy_window(const float *amplitude, const uint32_t *crystal, const float *gain, float low,
                            float high, size_t n, float *energy, uint32_t *index)
{
    const f32v lowest = f32v_set(low), limit = f32v_set(high);
    size_t kept = 0, i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        const f32v e = f32v_mul(f32v_load(amplitude + i), f32v_gather(gain, u32v_load(crystal + i)));
        const mask32 in = mask32_and(f32v_ge(e, lowest), f32v_lt(e, limit));
        (void)f32v_pack(energy + kept, e, in);
        kept += u32v_pack(index + kept, u32v_iota((uint32_t)i), in);
    }
    if (i < n) {
        /* Masked: what lies behind the last crystal number is no index. */
        const mask32 m = mask32_first(n - i);
        const f32v g = f32v_gather_masked(gain, u32v_load(crystal + i), m, lowest);
        const f32v e = f32v_mul(f32v_load(amplitude + i), g);
        const mask32 in = mask32_and(m, mask32_and(f32v_ge(e, lowest), f32v_lt(e, limit)));
        (void)f32v_pack(energy + kept, e, in);
        kept += u32v_pack(index + kept, u32v_iota((uint32_t)i), in);
    }
    return kept;
}

static size_t energy_cut(const float *energy, float low, float high, size_t n, float *kept)
{
    const f32v lowest = f32v_set(low), limit = f32v_set(high);
    size_t n_kept = 0;
    size_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        const f32v e = f32v_load(energy + i);
        n_kept += f32v_pack(kept + n_kept, e, mask32_and(f32v_ge(e, lowest), f32v_lt(e, limit)));
    }
    if (i < n) {
        const f32v e = f32v_load(energy + i);
        const mask32 in = mask32_and(f32v_ge(e, lowest), f32v_lt(e, limit));
        n_kept += f32v_pack(kept + n_kept, e, mask32_and(in, mask32_first(n - i)));
    }
    return n_kept;
}

/* Differences of the lower halves are those of the whole, as they are below 2^32. */
static void near_next(const int64_t *t, uint32_t limit, size_t n, uint64_t *near)
{
    const u32v most = u32v_set(limit);
    for (size_t word = 0; word * 64 < n; word++) {
        const size_t begin = word * 64, end = n - begin < 64 ? n : begin + 64;
        uint64_t bits = 0;
        size_t i = begin;
        for (; i + SIMD_LANES <= end; i += SIMD_LANES) {
            const int64_t *here = t + i, *middle = here + SIMD_LANES / 2;
            const u32v now = u32v_even(u32v_load_any(here), u32v_load_any(middle));
            const u32v next = u32v_even(u32v_load_any(here + 1), u32v_load_any(middle + 1));
            bits |= mask32_bits(u32v_le(u32v_sub(next, now), most)) << (i - begin);
        }
        for (; i < end; i++) {
            bits |= (uint64_t)((uint32_t)t[i + 1] - (uint32_t)t[i] <= limit) << (i - begin);
        }
        near[word] = bits;
    }
}

/* The lower halves of as many times as there are lanes. */
static inline u32v lower_halves(const int64_t *t)
{
    return u32v_even(u32v_load_any(t), u32v_load_any(t + SIMD_LANES / 2));
}

static void set_bits(uint64_t *near, size_t at, uint64_t bits)
{
    near[at / 64] |= bits << (at % 64);
    if (at % 64 + SIMD_LANES > 64 && bits >> (63 - at % 64) >> 1 != 0) {
        near[at / 64 + 1] |= bits >> (63 - at % 64) >> 1;
    }
}

/* What is from `end` back to it, as an unsigned number, is at most `width`: the least of all is kept. So that
 * a single of `u` costs an addition and a minimum, two vectors of openers see all in the windows of either.
 */
static void near_later(const int64_t *t, size_t n, const int64_t *u, size_t m, uint64_t low, uint32_t width,
                       uint64_t *near)
{
    const uint64_t high = low + width;
    const u32v to_end = u32v_set((uint32_t)high), most = u32v_set(width);
    size_t i = 0, k = 0;
    memset(near, 0, (n + 63) / 64 * sizeof *near);
    for (; i + 2 * SIMD_LANES <= n; i += 2 * SIMD_LANES) {
        const u32v end1 = u32v_add(lower_halves(t + i), to_end);
        const u32v end2 = u32v_add(lower_halves(t + i + SIMD_LANES), to_end);
        const uint64_t begin = (uint64_t)t[i] + low, end = (uint64_t)t[i + 2 * SIMD_LANES - 1] + high;
        u32v least1 = u32v_set(UINT32_MAX), least2 = least1;
        while (k > 0 && (int64_t)((uint64_t)u[k - 1] - begin) >= 0) { /* those in the windows before, too */
            k--;
        }
        for (; k < m && (int64_t)((uint64_t)u[k] - end) <= 0; k++) {
            const u32v at = u32v_set((uint32_t)u[k]);
            least1 = u32v_min(least1, u32v_sub(end1, at));
            least2 = u32v_min(least2, u32v_sub(end2, at));
        }
        set_bits(near, i, mask32_bits(u32v_le(least1, most)));
        set_bits(near, i + SIMD_LANES, mask32_bits(u32v_le(least2, most)));
    }
    for (; i < n; i++) {
        const uint64_t begin = (uint64_t)t[i] + low;
        while (k > 0 && (int64_t)((uint64_t)u[k - 1] - begin) >= 0) {
            k--;
        }
        while (k < m && (int64_t)((uint64_t)u[k] - begin) < 0) {
            k++;
        }
        near[i / 64] |= (uint64_t)(k < m && (uint64_t)u[k] - begin <= width) << (i % 64);
    }
}

/* Plain C, which compilers make vectors of: rows know nothing of each other, and there are no lanes of 64
 * bits in the vocabulary. */
static uint64_t pair_sum(const slc_pet_pair_columns *pairs, size_t n, uint32_t delayed, const uint64_t *power)
{
    const slc_pet_pair_columns p = *pairs;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t crystals[2] = {p.crystal1[i], p.crystal2[i]};
        uint32_t energies[2];
        memcpy(&energies[0], p.energy1_kev + i, sizeof energies[0]);
        memcpy(&energies[1], p.energy2_kev + i, sizeof energies[1]);
        sum += power[i] * slc_pet_pair_hash(delayed, p.time_ps[i], p.dt_ps[i], crystals, energies);
    }
    return sum;
}

const slc_pet_kernels SIMD_TABLE(slc_pet) = {.target = SIMD_TARGET_NAME,
                                             .energy_window = energy_window,
                                             .energy_cut = energy_cut,
                                             .near_next = near_next,
                                             .near_later = near_later,
                                             .pair_sum = pair_sum};
