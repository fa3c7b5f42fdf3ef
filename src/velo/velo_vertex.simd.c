/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the vertex finder. Vectors go over tracks, and in the histogram over the bins of one track.
 * Same bits on every target: what is added up in floats goes into 16 accumulators, track i of a vertex into
 * the (i mod 16)-th, however long the vectors are; the histogram holds integers, whose order is indifferent.
 */
#include "simd/simd_math.h"
#include "velo/velo_vertex_work.h"

/* Beyond these a state is damage, and its arithmetic could overflow. */
#define LARGEST           1e4f
#define SMALLEST_VARIANCE 1e-10f

static inline mask32 within(f32v v, float bound)
{
    return f32v_lt(f32v_abs(v), f32v_set(bound)); /* false for NaN */
}

static size_t locate(const slc_velo_vertex_in *in, const slc_velo_vertex_cuts *cuts,
                     const slc_velo_vertex_columns *columns)
{
    const f32v one = f32v_set(1.0f), zero = f32v_set(0.0f), bin = f32v_set(cuts->bin);
    const f32v max_variance = f32v_set(cuts->max_sigma_z * cuts->max_sigma_z);
    size_t n = 0;
    for (size_t i = 0; i < in->n; i += SIMD_LANES) {
        const f32v x = f32v_load(in->x + i), y = f32v_load(in->y + i), z = f32v_load(in->z + i);
        const f32v tx = f32v_load(in->tx + i), ty = f32v_load(in->ty + i);
        const f32v xx = f32v_load(in->xx + i), yy = f32v_load(in->yy + i);
        mask32 usable = mask32_and(mask32_first(in->n - i),
                                   mask32_and(within(x, LARGEST), within(y, LARGEST)));
        usable = mask32_and(usable, mask32_and(within(tx, LARGEST), within(ty, LARGEST)));
        usable = mask32_and(usable, mask32_and(within(xx, LARGEST), within(yy, LARGEST)));
        usable = mask32_and(usable, mask32_and(f32v_gt(xx, f32v_set(SMALLEST_VARIANCE)),
                                               f32v_gt(yy, f32v_set(SMALLEST_VARIANCE))));
        const f32v place = f32v_div(f32v_sub(z, f32v_set(cuts->z_min)), bin);
        usable = mask32_and(usable, mask32_and(f32v_ge(place, zero), f32v_lt(place, f32v_set(cuts->n_bins))));

        const f32v wx = f32v_div(one, xx), wy = f32v_div(one, yy);
        const f32v dx = f32v_sub(x, f32v_set(cuts->beam_x)), dy = f32v_sub(y, f32v_set(cuts->beam_y));
        const f32v chi2 = f32v_add(f32v_mul(f32v_mul(dx, dx), wx), f32v_mul(f32v_mul(dy, dy), wy));
        const f32v weight_z = f32v_add(f32v_mul(f32v_mul(tx, tx), wx), f32v_mul(f32v_mul(ty, ty), wy));
        const f32v variance_z = f32v_div(one, weight_z); /* infinite for a track along the beam */
        const mask32 counted = mask32_and(f32v_lt(chi2, f32v_set(cuts->max_chi2)),
                                          f32v_lt(variance_z, max_variance));
        const f32v reach = f32v_div(f32v_sqrt(f32v_mul(f32v_set(7.0f), variance_z)), bin);
        (void)u32v_pack(columns->row + n, u32v_iota((uint32_t)i), usable);
        (void)f32v_pack(columns->place + n, place, usable);
        n += f32v_pack(columns->reach + n, f32v_select(counted, reach, zero), usable);
    }
    return n;
}

/* The integral of the parabola 3/4 (1 - u²) from the middle to u, held at its ends ±1. */
static inline f32v integral(f32v u)
{
    const f32v held = f32v_max(f32v_min(u, f32v_set(1.0f)), f32v_set(-1.0f));
    return f32v_mul(held, f32v_sub(f32v_set(0.75f), f32v_mul(f32v_set(0.25f), f32v_mul(held, held))));
}

static void add_track(uint32_t *histogram, float place, float reach, size_t bins)
{
    const float low = place - reach, high = place + reach;
    const size_t first = low > 0 ? (size_t)low : 0;
    const size_t last = high < (float)bins ? (size_t)high : bins - 1;
    const f32v scale = f32v_set(1.0f / reach), middle = f32v_set(place), one = f32v_set(1.0f);
    const f32v units = f32v_set((float)SLC_VELO_VERTEX_UNITS);
    for (size_t b = first; b <= last; b += SIMD_LANES) {
        /* Bins behind the track's reach get zero; those behind the last bin are spare. */
        const f32v from = f32v_sub(f32v_from_i32(i32v_iota((int32_t)b)), middle);
        const f32v share = f32v_sub(integral(f32v_mul(f32v_add(from, one), scale)),
                                    integral(f32v_mul(from, scale)));
        const u32v add = u32v_from_i32(i32v_round(f32v_mul(share, units)));
        u32v_store(histogram + b, u32v_add(u32v_load(histogram + b), add));
    }
}

static void fill(const slc_velo_vertex_columns *columns, const float *place, const float *reach, size_t n,
                 size_t bins, uint32_t threshold)
{
    memset(columns->histogram, 0, (bins + SLC_VELO_VERTEX_SPARE) * sizeof *columns->histogram);
    for (size_t i = 0; i < n; i++) {
        if (reach[i] > 0) {
            add_track(columns->histogram, place[i], reach[i], bins);
        }
    }
    const u32v bound = u32v_set(threshold);
    memset(columns->above, 0, (bins / 64 + 2) * sizeof *columns->above);
    for (size_t b = 0; b < bins; b += SIMD_LANES) {
        const mask32 above = mask32_and(u32v_gt(u32v_load(columns->histogram + b), bound),
                                        mask32_first(bins - b));
        if (mask32_any(above)) {
            const uint64_t bits = mask32_bits(above);
            columns->above[b / 64] |= bits << b % 64;
            if (b % 64 + SIMD_LANES > 64) { /* vectors whose length does not divide 64 */
                columns->above[b / 64 + 1] |= bits >> (64 - b % 64);
            }
        }
    }
}

static size_t leave(const slc_velo_vertex_columns *columns, size_t n, float max_shares)
{
    const f32v bound = f32v_set(max_shares), zero = f32v_set(0.0f);
    size_t left = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        mask32 free = mask32_and(mask32_first(n - i), f32v_lt(f32v_load(columns->shares + i), bound));
        if (!mask32_any(free)) {
            continue;
        }
        const u32v at = u32v_load_masked(columns->order + i, mask32_first(n - i));
        const f32v reach = f32v_gather(columns->reach, at);
        free = mask32_and(free, f32v_gt(reach, zero));
        (void)f32v_pack(columns->left_place + left, f32v_gather(columns->place, at), free);
        left += f32v_pack(columns->left_reach + left, reach, free);
    }
    return left;
}

static void collect(const slc_velo_vertex_in *in, const slc_velo_vertex_columns *columns, size_t n)
{
    const f32v one = f32v_set(1.0f);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        /* Behind the last track: of no consequence, but inside the columns. */
        const u32v row = u32v_gather(columns->row, u32v_load_masked(columns->order + i, mask32_first(n - i)));
        f32v_store(columns->x + i, f32v_gather(in->x, row));
        f32v_store(columns->y + i, f32v_gather(in->y, row));
        f32v_store(columns->z + i, f32v_gather(in->z, row));
        f32v_store(columns->tx + i, f32v_gather(in->tx, row));
        f32v_store(columns->ty + i, f32v_gather(in->ty, row));
        f32v_store(columns->wx + i, f32v_div(one, f32v_gather(in->xx, row)));
        f32v_store(columns->wy + i, f32v_div(one, f32v_gather(in->yy, row)));
        f32v_store(columns->shares + i, f32v_set(0.0f));
    }
}

/* Room for the 16 accumulators of a sum, and a vector. */
enum { PART = 16 + SIMD_MAX_LANES };

/* Adds the contribution of tracks i … of the event, where `in` is set, to the sums: one vector each. Vectors
 * may not stand in arrays, and the compiler keeps single ones in registers. */
static inline void add_tracks(const slc_velo_vertex_columns *columns, size_t i, mask32 in,
                              const float vertex[3], float max_chi2, float *share, f32v *sum_xx, f32v *sum_yy,
                              f32v *sum_xz, f32v *sum_yz, f32v *sum_zz, f32v *sum_x, f32v *sum_y, f32v *sum_z,
                              f32v *sum_chi2, f32v *sum_weight, f32v *sum_weight2, f32v *sum_tracks)
{
    /* exp(-2): a track at chi2 = 4 from its only vertex has half a weight. */
    const f32v cut = f32v_set(0.135335283f), zero = f32v_set(0.0f);
    const f32v tx = f32v_load(columns->tx + i), ty = f32v_load(columns->ty + i);
    const f32v wx = f32v_load(columns->wx + i), wy = f32v_load(columns->wy + i);
    const f32v dz = f32v_sub(f32v_set(vertex[2]), f32v_load(columns->z + i));
    const f32v rx = f32v_sub(f32v_add(f32v_load(columns->x + i), f32v_mul(tx, dz)), f32v_set(vertex[0]));
    const f32v ry = f32v_sub(f32v_add(f32v_load(columns->y + i), f32v_mul(ty, dz)), f32v_set(vertex[1]));
    const f32v gx = f32v_mul(wx, rx), gy = f32v_mul(wy, ry);
    const f32v chi2 = f32v_add(f32v_mul(gx, rx), f32v_mul(gy, ry));
    const mask32 takes_part = mask32_and(in, f32v_lt(chi2, f32v_set(max_chi2)));

    const f32v own = f32v_select(takes_part, f32v_exp(f32v_mul(f32v_set(-0.5f), chi2)), zero);
    const f32v others = f32v_max(f32v_sub(f32v_load(columns->shares + i), f32v_load(share)), zero);
    const f32v all = f32v_add(others, own);
    const f32v w = f32v_div(own, f32v_add(all, cut));
    f32v_store_masked(columns->shares + i, all, in);
    f32v_store_masked(share, own, in);

    const f32v wwx = f32v_mul(w, wx), wwy = f32v_mul(w, wy), xz = f32v_mul(wwx, tx), yz = f32v_mul(wwy, ty);
    const f32v wgx = f32v_mul(w, f32v_select(takes_part, gx, zero));
    const f32v wgy = f32v_mul(w, f32v_select(takes_part, gy, zero));
    *sum_xx = f32v_add(*sum_xx, f32v_select(takes_part, wwx, zero));
    *sum_yy = f32v_add(*sum_yy, f32v_select(takes_part, wwy, zero));
    *sum_xz = f32v_add(*sum_xz, f32v_select(takes_part, xz, zero));
    *sum_yz = f32v_add(*sum_yz, f32v_select(takes_part, yz, zero));
    *sum_zz = f32v_add(*sum_zz, f32v_select(takes_part, f32v_add(f32v_mul(xz, tx), f32v_mul(yz, ty)), zero));
    *sum_x = f32v_add(*sum_x, wgx);
    *sum_y = f32v_add(*sum_y, wgy);
    *sum_z = f32v_add(*sum_z, f32v_select(takes_part, f32v_add(f32v_mul(wgx, tx), f32v_mul(wgy, ty)), zero));
    *sum_chi2 = f32v_add(*sum_chi2, f32v_select(takes_part, f32v_mul(w, chi2), zero));
    *sum_weight = f32v_add(*sum_weight, w);
    *sum_weight2 = f32v_add(*sum_weight2, f32v_mul(w, w));
    *sum_tracks = f32v_add(*sum_tracks, f32v_select(takes_part, f32v_set(1.0f), zero));
}

/* The 16 accumulators pairwise: 8, 4, 2 and 1 apart. */
static inline float fold(const float part[PART])
{
    float eight[8];
    for (size_t k = 0; k < 8; k++) {
        eight[k] = part[k] + part[k + 8];
    }
    for (size_t k = 0; k < 4; k++) {
        eight[k] += eight[k + 4];
    }
    return (eight[0] + eight[2]) + (eight[1] + eight[3]);
}

/* Vectors of 16 lanes or more hold the accumulators. */
static inline void add_wide(const slc_velo_vertex_columns *columns, size_t begin, size_t end,
                            const float at[3], float max_chi2, float *share, float part[SLC_VELO_SUMS][PART])
{
    const f32v zero = f32v_set(0.0f);
    f32v s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero, s7 = zero, s8 = zero,
         s9 = zero, s10 = zero, s11 = zero;
    for (size_t i = begin; i < end; i += 16) {
        const size_t left = end - i;
        add_tracks(columns, i, mask32_first(left < 16 ? left : 16), at, max_chi2, share + (i - begin), &s0,
                   &s1, &s2, &s3, &s4, &s5, &s6, &s7, &s8, &s9, &s10, &s11);
    }
    f32v_store(part[SLC_VELO_SUM_XX], s0);
    f32v_store(part[SLC_VELO_SUM_YY], s1);
    f32v_store(part[SLC_VELO_SUM_XZ], s2);
    f32v_store(part[SLC_VELO_SUM_YZ], s3);
    f32v_store(part[SLC_VELO_SUM_ZZ], s4);
    f32v_store(part[SLC_VELO_SUM_X], s5);
    f32v_store(part[SLC_VELO_SUM_Y], s6);
    f32v_store(part[SLC_VELO_SUM_Z], s7);
    f32v_store(part[SLC_VELO_SUM_CHI2], s8);
    f32v_store(part[SLC_VELO_SUM_WEIGHT], s9);
    f32v_store(part[SLC_VELO_SUM_WEIGHT2], s10);
    f32v_store(part[SLC_VELO_SUM_TRACKS], s11);
}

/* Shorter ones are a part of them. */
static inline void add_narrow(const slc_velo_vertex_columns *columns, size_t begin, size_t end,
                              const float at[3], float max_chi2, float *share,
                              float part[SLC_VELO_SUMS][PART])
{
    for (size_t i = begin; i < end; i += 16) {
        for (size_t k = 0; k < 16 && i + k < end; k += SIMD_LANES) {
            const size_t left = end - i - k, room = 16 - k;
            f32v s0 = f32v_load(part[SLC_VELO_SUM_XX] + k);
            f32v s1 = f32v_load(part[SLC_VELO_SUM_YY] + k);
            f32v s2 = f32v_load(part[SLC_VELO_SUM_XZ] + k);
            f32v s3 = f32v_load(part[SLC_VELO_SUM_YZ] + k);
            f32v s4 = f32v_load(part[SLC_VELO_SUM_ZZ] + k);
            f32v s5 = f32v_load(part[SLC_VELO_SUM_X] + k);
            f32v s6 = f32v_load(part[SLC_VELO_SUM_Y] + k);
            f32v s7 = f32v_load(part[SLC_VELO_SUM_Z] + k);
            f32v s8 = f32v_load(part[SLC_VELO_SUM_CHI2] + k);
            f32v s9 = f32v_load(part[SLC_VELO_SUM_WEIGHT] + k);
            f32v s10 = f32v_load(part[SLC_VELO_SUM_WEIGHT2] + k);
            f32v s11 = f32v_load(part[SLC_VELO_SUM_TRACKS] + k);
            add_tracks(columns, i + k, mask32_first(left < room ? left : room), at, max_chi2,
                       share + (i + k - begin), &s0, &s1, &s2, &s3, &s4, &s5, &s6, &s7, &s8, &s9, &s10, &s11);
            f32v_store(part[SLC_VELO_SUM_XX] + k, s0);
            f32v_store(part[SLC_VELO_SUM_YY] + k, s1);
            f32v_store(part[SLC_VELO_SUM_XZ] + k, s2);
            f32v_store(part[SLC_VELO_SUM_YZ] + k, s3);
            f32v_store(part[SLC_VELO_SUM_ZZ] + k, s4);
            f32v_store(part[SLC_VELO_SUM_X] + k, s5);
            f32v_store(part[SLC_VELO_SUM_Y] + k, s6);
            f32v_store(part[SLC_VELO_SUM_Z] + k, s7);
            f32v_store(part[SLC_VELO_SUM_CHI2] + k, s8);
            f32v_store(part[SLC_VELO_SUM_WEIGHT] + k, s9);
            f32v_store(part[SLC_VELO_SUM_WEIGHT2] + k, s10);
            f32v_store(part[SLC_VELO_SUM_TRACKS] + k, s11);
        }
    }
}

static void step(const slc_velo_vertex_columns *columns, size_t begin, size_t end, const float at[3],
                 float max_chi2, float *share, float sums[SLC_VELO_SUMS])
{
    float part[SLC_VELO_SUMS][PART];
    memset(part, 0, sizeof part);
    if (SIMD_LANES >= 16) {
        add_wide(columns, begin, end, at, max_chi2, share, part);
    } else {
        add_narrow(columns, begin, end, at, max_chi2, share, part);
    }
    for (size_t s = 0; s < SLC_VELO_SUMS; s++) {
        sums[s] = fold(part[s]);
    }
}

const slc_velo_vertex_kernels SIMD_TABLE(slc_velo_vertex) = {.target = SIMD_TARGET_NAME,
                                                             .locate = locate,
                                                             .fill = fill,
                                                             .leave = leave,
                                                             .collect = collect,
                                                             .step = step};
