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
                                             .pair_sum = pair_sum};
