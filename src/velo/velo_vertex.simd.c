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

enum { GROUP_SHIFT = 2 };
_Static_assert(SLC_VELO_VERTEX_GROUP == 1 << GROUP_SHIFT, "bins of a group");

static size_t locate(const slc_velo_vertex_in *in, const slc_velo_vertex_cuts *cuts,
                     const slc_velo_vertex_columns *columns)
{
    const f32v one = f32v_set(1.0f), zero = f32v_set(0.0f), bin = f32v_set(cuts->bin);
    const f32v scale = f32v_set(cuts->variance_scale);
    const f32v max_variance = f32v_set(cuts->max_sigma_z * cuts->max_sigma_z);
    size_t n = 0;
    for (size_t i = 0; i < in->n; i += SIMD_LANES) {
        const f32v x = f32v_load(in->x + i), y = f32v_load(in->y + i), z = f32v_load(in->z + i);
        const f32v tx = f32v_load(in->tx + i), ty = f32v_load(in->ty + i);
        const f32v xx = f32v_mul(f32v_load(in->xx + i), scale), yy = f32v_mul(f32v_load(in->yy + i), scale);
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
        const u32v group = u32v_shr(u32v_from_i32(i32v_truncate(place)), GROUP_SHIFT);
        (void)u32v_pack(columns->group + n, group, usable);
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

/* Tracks that count in the histogram: its bins of each, from the first to the last one. */
enum { TRACKS_AT_ONCE = 64 };
typedef struct counted {
    float place[TRACKS_AT_ONCE + SIMD_MAX_LANES], scale[TRACKS_AT_ONCE + SIMD_MAX_LANES];
    uint32_t first[TRACKS_AT_ONCE + SIMD_MAX_LANES], last[TRACKS_AT_ONCE + SIMD_MAX_LANES];
    size_t n;
} counted;

/* Those of the tracks begin … end - 1, at most TRACKS_AT_ONCE; the rest have no reach. */
static inline void find_bins(const float *place, const float *reach, size_t begin, size_t end, size_t bins,
                             counted *c)
{
    const f32v zero = f32v_set(0.0f);
    const u32v behind = u32v_set((uint32_t)bins - 1);
    c->n = 0;
    for (size_t i = begin; i < end; i += SIMD_LANES) {
        const f32v at = f32v_load(place + i), half = f32v_load(reach + i);
        const f32v low = f32v_sub(at, half), high = f32v_add(at, half);
        const mask32 counts = mask32_and(mask32_first(end - i), f32v_gt(half, zero));
        const mask32 inside = f32v_lt(high, f32v_set((float)bins));
        const u32v first = u32v_from_i32(i32v_truncate(f32v_max(low, zero)));
        const u32v last = u32v_select(inside, u32v_from_i32(i32v_truncate(high)), behind);
        (void)f32v_pack(c->place + c->n, at, counts);
        (void)f32v_pack(c->scale + c->n, f32v_div(f32v_set(1.0f), half), counts);
        (void)u32v_pack(c->first + c->n, first, counts);
        c->n += u32v_pack(c->last + c->n, last, counts);
    }
}

static inline void add_track(uint32_t *histogram, const counted *c, size_t i)
{
    const size_t last = c->last[i];
    const f32v scale = f32v_set(c->scale[i]), middle = f32v_set(c->place[i]), one = f32v_set(1.0f);
    const f32v units = f32v_set((float)SLC_VELO_VERTEX_UNITS);
    for (size_t b = c->first[i]; b <= last; b += SIMD_LANES) {
        /* Bins behind the track's reach get zero; those behind the last bin are spare. */
        const f32v from = f32v_sub(f32v_from_i32(i32v_iota((int32_t)b)), middle);
        const f32v share = f32v_sub(integral(f32v_mul(f32v_add(from, one), scale)),
                                    integral(f32v_mul(from, scale)));
        const u32v add = u32v_from_i32(i32v_round(f32v_mul(share, units)));
        u32v_store(histogram + b, u32v_add(u32v_load(histogram + b), add));
    }
}

/* Marks the bins from `first` on, a multiple of 64, to `last` that are above the threshold. */
static inline void mark_bins(const slc_velo_vertex_columns *columns, size_t first, size_t last,
                             uint32_t threshold)
{
    const u32v bound = u32v_set(threshold);
    for (size_t b = first; b <= last; b += SIMD_LANES) {
        const mask32 above = mask32_and(u32v_gt(u32v_load(columns->histogram + b), bound),
                                        mask32_first(last + 1 - b));
        if (mask32_any(above)) {
            const uint64_t bits = mask32_bits(above);
            columns->above[b / 64] |= bits << b % 64;
            if (b % 64 + SIMD_LANES > 64) { /* vectors whose length does not divide 64 */
                columns->above[b / 64 + 1] |= bits >> (64 - b % 64);
            }
        }
    }
}

/* Bins that no track comes near are neither emptied nor looked at. */
static void fill(const slc_velo_vertex_columns *columns, const float *place, const float *reach, size_t n,
                 size_t bins, uint32_t threshold)
{
    const f32v zero = f32v_set(0.0f);
    f32v low = f32v_set((float)bins), high = zero;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const f32v at = f32v_load(place + i), half = f32v_load(reach + i);
        const mask32 counts = mask32_and(mask32_first(n - i), f32v_gt(half, zero));
        low = f32v_select(counts, f32v_min(f32v_sub(at, half), low), low);
        high = f32v_select(counts, f32v_max(f32v_add(at, half), high), high);
    }
    const float lowest = f32v_lowest(low), highest = f32v_highest(high);
    const size_t first = lowest > 0 ? (size_t)lowest / 64 * 64 : 0;
    const size_t last = highest < (float)bins ? (size_t)highest : bins - 1;
    memset(columns->above, 0, (bins / 64 + 2) * sizeof *columns->above);
    if (first > last) {
        return; /* no track counts */
    }
    /* Also the bins beside, which are asked for the shape of a peak. What vectors reach behind these stays as
     * it was. */
    const size_t from = first > 0 ? first - 1 : 0;
    memset(columns->histogram + from, 0, (last + 2 - from) * sizeof *columns->histogram);
    for (size_t i = 0; i < n; i += TRACKS_AT_ONCE) {
        counted c;
        find_bins(place, reach, i, n - i < TRACKS_AT_ONCE ? n : i + TRACKS_AT_ONCE, bins, &c);
        for (size_t k = 0; k < c.n; k++) {
            add_track(columns->histogram, &c, k);
        }
    }
    mark_bins(columns, first, last, threshold);
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

/* Count, prefix sum, fill: from behind, so that each count becomes its group's beginning. */
static void order(const slc_velo_vertex_columns *columns, size_t n, size_t groups)
{
    uint32_t *begin = columns->group_begin;
    const uint32_t *group = columns->group;
    memset(begin, 0, (groups + 1) * sizeof *begin);
    for (size_t i = 0; i < n; i++) {
        begin[group[i]]++;
    }
    u32v before = u32v_set(0);
    for (size_t g = 0; g <= groups; g += SIMD_LANES) {
        const u32v sum = u32v_add(u32v_running_sum(u32v_load(begin + g)), before);
        before = u32v_permute(sum, u32v_set((uint32_t)SIMD_LANES - 1));
        u32v_store(begin + g, sum);
    }
    for (size_t i = n; i-- > 0;) {
        columns->order[--begin[group[i]]] = (uint32_t)i;
    }
}

static void collect(const slc_velo_vertex_in *in, const slc_velo_vertex_cuts *cuts,
                    const slc_velo_vertex_columns *columns, size_t n)
{
    const f32v one = f32v_set(1.0f), scale = f32v_set(cuts->variance_scale);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        /* Behind the last track: of no consequence, but inside the columns. */
        const u32v row = u32v_gather(columns->row, u32v_load_masked(columns->order + i, mask32_first(n - i)));
        f32v_store(columns->x + i, f32v_gather(in->x, row));
        f32v_store(columns->y + i, f32v_gather(in->y, row));
        f32v_store(columns->z + i, f32v_gather(in->z, row));
        f32v_store(columns->tx + i, f32v_gather(in->tx, row));
        f32v_store(columns->ty + i, f32v_gather(in->ty, row));
        f32v_store(columns->wx + i, f32v_div(one, f32v_mul(f32v_gather(in->xx, row), scale)));
        f32v_store(columns->wy + i, f32v_div(one, f32v_mul(f32v_gather(in->yy, row), scale)));
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

/* Half a fold of two sums at once: lanes that are `apart`, of a where that bit of the lane is not set, and of
 * b where it is. */
static inline f32v fold_two(f32v a, f32v b, uint32_t apart)
{
    const u32v lane = u32v_iota(0), bit = u32v_set(apart);
    const mask32 of_b = u32v_eq(u32v_and(lane, bit), bit);
    return f32v_add(f32v_select(of_b, b, a), f32v_permute(f32v_select(of_b, a, b), u32v_xor(lane, bit)));
}

/* The same order of additions for four sums in one vector. */
static inline void fold_four(f32v a, f32v b, f32v c, f32v d, float sums[4])
{
    float folded[SIMD_MAX_LANES];
    const f32v four = fold_two(fold_two(a, b, 8), fold_two(c, d, 8), 4);
    const f32v two = fold_two(four, four, 2);
    f32v_store(folded, fold_two(two, two, 1));
    sums[0] = folded[0];
    sums[1] = folded[8 % SIMD_MAX_LANES];
    sums[2] = folded[4 % SIMD_MAX_LANES];
    sums[3] = folded[12 % SIMD_MAX_LANES];
}

/* Vectors of 16 lanes or more hold the accumulators. */
static inline void add_wide(const slc_velo_vertex_columns *columns, size_t begin, size_t end,
                            const float at[3], float max_chi2, float *share, float sums[SLC_VELO_SUMS])
{
    const f32v zero = f32v_set(0.0f);
    f32v s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero, s7 = zero, s8 = zero,
         s9 = zero, s10 = zero, s11 = zero;
    for (size_t i = begin; i < end; i += 16) {
        const size_t left = end - i;
        add_tracks(columns, i, mask32_first(left < 16 ? left : 16), at, max_chi2, share + (i - begin), &s0,
                   &s1, &s2, &s3, &s4, &s5, &s6, &s7, &s8, &s9, &s10, &s11);
    }
    fold_four(s0, s1, s2, s3, sums + SLC_VELO_SUM_XX);
    fold_four(s4, s5, s6, s7, sums + SLC_VELO_SUM_ZZ);
    fold_four(s8, s9, s10, s11, sums + SLC_VELO_SUM_CHI2);
}
_Static_assert(SLC_VELO_SUM_XX == 0 && SLC_VELO_SUM_ZZ == 4 && SLC_VELO_SUM_CHI2 == 8 && SLC_VELO_SUMS == 12,
               "sums in the order of the accumulators");

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
    if (SIMD_LANES >= 16) {
        add_wide(columns, begin, end, at, max_chi2, share, sums);
        return;
    }
    float part[SLC_VELO_SUMS][PART];
    memset(part, 0, sizeof part);
    add_narrow(columns, begin, end, at, max_chi2, share, part);
    for (size_t s = 0; s < SLC_VELO_SUMS; s++) {
        sums[s] = fold(part[s]);
    }
}

const slc_velo_vertex_kernels SIMD_TABLE(slc_velo_vertex) = {.target = SIMD_TARGET_NAME,
                                                             .locate = locate,
                                                             .fill = fill,
                                                             .order = order,
                                                             .leave = leave,
                                                             .collect = collect,
                                                             .step = step};
