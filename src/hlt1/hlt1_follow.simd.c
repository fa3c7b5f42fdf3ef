/* SPDX-License-Identifier: Apache-2.0
 *
 * From three hits in the SciFi to the best track: all triplets of a track are lanes, each of which is
 * followed through the other nine layers.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * candidate after the other: the same bits.
 */
#include "hlt1/hlt1_forward_lanes.h"

enum { LEAST_BENT = 11, OTHERS = 3, NEARS = 9 };
#define NONE SIZE_MAX
enum { A, B, C, CUBIC, Y0, TY, QUALITY };

/* The layers of near hits, by the triplet's set. */
static const uint32_t nears[2][NEARS] = {{3, 7, 11, 1, 2, 5, 6, 9, 10}, {0, 4, 8, 1, 2, 5, 6, 9, 10}};

static const float x_limit = 2.0f, y_scale = 800.0f;
static const float max_bend_y = 0.02f;
static const float spare = 1.00001f; /* more than what rounding may take away */

/* A number of the starts, by candidates. */
static inline f32v of(const float *numbers, u32v start)
{
    return f32v_permute(f32v_load(numbers), start);
}

/* x of the candidates' curves, which stand in w->value. */
static inline f32v at_d(const slc_hlt1_forward_work *w, f32v d)
{
    const f32v a = f32v_load(w->value[A]), b = f32v_load(w->value[B]), c = f32v_load(w->value[C]);
    return ADD(c, MUL(d, ADD(b, MUL(MUL(a, d), ADD(f(1.0f), MUL(f32v_load(w->value[CUBIC]), d))))));
}

/* Vectors of candidates. */
typedef struct chain {
    const slc_hlt1_forward_in *in;
    slc_hlt1_forward_work *w;
    uint32_t set;
    size_t first;     /* triplet of lane 0 */
    size_t most_hits; /* of a layer */
} chain;

/* Looks up where the candidate in a lane is expected in the layers of near hits `begin` to `end` - 1, of
 * which each has fewer blocks of hits than `pivots`. */
static inline void look_at(const chain *c, size_t lane, size_t begin, size_t end, size_t pivots)
{
    slc_hlt1_forward_work *w = c->w;
    const float *const *layers = w->near_layer[w->upper[w->triplets->start[c->first + lane]]];
    for (size_t i = begin; i < end; i++) {
        const uint32_t at = lower_by(layers[i], pivots, f(w->expected[i][lane]));
        w->below[i][lane] = at;
        memcpy(&w->around[i][2 * lane], layers[i] + at - 1, 2 * sizeof(float));
    }
}

/* The same where there are more hits. */
static void look_among_many(const chain *c, size_t lane, size_t begin, size_t end)
{
    slc_hlt1_forward_work *w = c->w;
    const slc_hlt1_forward_half *half = &w->halves[w->upper[w->triplets->start[c->first + lane]]];
    for (size_t i = begin; i < end; i++) {
        const uint32_t k = nears[c->set][i];
        const uint32_t at = slc_hlt1_lower(half->x[k], half->n[k], w->expected[i][lane]);
        w->below[i][lane] = at;
        memcpy(&w->around[i][2 * lane], half->x[k] + at - 1, 2 * sizeof(float));
    }
}

/* One candidate after the other: comparing a place with a block of hits waits for nothing, where lanes that
 * halve their ways together wait at each step. */
static inline void look(const chain *c, size_t begin, size_t end, mask32 some)
{
    uint64_t left = mask32_bits(some);
    if (c->most_hits < FEW_PIVOTS * SLC_HLT1_BLOCK) {
        for (; left != 0; left &= left - 1) {
            look_at(c, (size_t)__builtin_ctzll(left), begin, end, FEW_PIVOTS);
        }
    } else if (c->most_hits < SLC_HLT1_PIVOTS * SLC_HLT1_BLOCK) {
        for (; left != 0; left &= left - 1) {
            look_at(c, (size_t)__builtin_ctzll(left), begin, end, SLC_HLT1_PIVOTS);
        }
    } else {
        for (; left != 0; left &= left - 1) {
            look_among_many(c, (size_t)__builtin_ctzll(left), begin, end);
        }
    }
}

/* Factor of the quality for so many hits, from nine on. */
static inline f32v factor_of(i32v n)
{
    const f32v ten = f32v_select(i32v_eq(n, i32v_set(10)), f(1.0f), f(5.0f));
    const f32v eleven = f32v_select(i32v_eq(n, i32v_set(11)), f(0.8f), ten);
    return f32v_select(i32v_eq(n, i32v_set(12)), f(0.5f), eleven);
}

/* Can it still have enough hits, and be good enough, if `left` more layers have one? */
static inline mask32 is_promising(const slc_hlt1_forward_in *in, i32v hits, int32_t left, f32v sum)
{
    const i32v n = i32v_add(hits, i32v_set(left));
    const f32v most = MUL(f(in->max_quality * spare), f32v_from_i32(i32v_sub(n, i32v_set(3))));
    return mask32_and(i32v_ge(n, i32v_set((int32_t)in->min_hits)), f32v_lt(MUL(factor_of(n), sum), most));
}

/* d² (1 + cubic d). */
static inline f32v bent(f32v cubic, f32v d)
{
    return MUL(MUL(d, d), ADD(f(1.0f), MUL(cubic, d)));
}

/* The curves by three points. */
static inline void make_curves(const chain *c, u32v start)
{
    slc_hlt1_forward_work *w = c->w;
    const float *p = c->in->tables->params->cubic;
    const f32v x0 = f32v_load(w->triplets->x[0] + c->first), x1 = f32v_load(w->triplets->x[1] + c->first);
    const f32v x2 = f32v_load(w->triplets->x[2] + c->first);
    const uint32_t *k = sets[c->set];
    const f32v d0 = of(w->d[k[0]], start), d1 = of(w->d[k[1]], start), d2 = of(w->d[k[2]], start);
    const f32v y = of(w->y[k[1]], start);
    const f32v r2 = ADD(MUL(MUL(f(25e-8f), x1), x1), MUL(MUL(f(1e-6f), y), y));
    const f32v cubic = f32v_neg(ADD(ADD(f(p[0]), MUL(f(p[1]), f32v_sqrt(r2))), MUL(f(p[2]), r2)));
    const f32v g0 = bent(cubic, d0), g1 = SUB(bent(cubic, d1), g0), g2 = SUB(bent(cubic, d2), g0);
    const f32v e1 = SUB(d1, d0), e2 = SUB(d2, d0), y1 = SUB(x1, x0), y2 = SUB(x2, x0);
    const f32v a = DIV(SUB(MUL(y1, e2), MUL(y2, e1)), SUB(MUL(g1, e2), MUL(g2, e1)));
    const f32v b = DIV(SUB(y1, MUL(a, g1)), e1);
    f32v_store(w->value[A], a);
    f32v_store(w->value[B], b);
    f32v_store(w->value[C], SUB(SUB(x0, MUL(b, d0)), MUL(a, g0)));
    f32v_store(w->value[CUBIC], cubic);
}

/* Takes in the hits nearest to where they are expected, of two the one below, within the limit. */
static inline mask32 take_in(slc_hlt1_forward_work *w, size_t near, f32v limit, f32v per_limit, mask32 active,
                             i32v *hits, f32v *sum)
{
    const u32v around0 = u32v_load_any(w->around[near]),
               around1 = u32v_load_any(w->around[near] + SIMD_LANES);
    const f32v low = f32v_from_bits(u32v_even(around0, around1)), x = f32v_load(w->expected[near]);
    const f32v high = f32v_from_bits(u32v_odd(around0, around1));
    const mask32 left = f32v_le(SUB(x, low), SUB(high, x));
    const f32v near_x = f32v_select(left, low, high), d = SUB(near_x, x), d2 = MUL(d, d);
    const mask32 hit = mask32_and(active, f32v_lt(d2, limit));
    const u32v below = u32v_load(w->below[near]);
    f32v_store(w->near_x[near], near_x);
    u32v_store(w->near_hit[near], u32v_select(left, u32v_sub(below, u32v_set(1)), below));
    *sum = f32v_select(hit, ADD(*sum, MUL(d2, per_limit)), *sum);
    *hits = i32v_select(hit, i32v_add(*hits, i32v_set(1)), *hits);
    return hit;
}

/* A straight line through the heights that the tilted layers' hits are at; mean squared distance from it. */
static inline f32v fit_y(const chain *c, u32v start, const uint64_t has[NEARS], f32v *y0, f32v *ty)
{
    slc_hlt1_forward_work *w = c->w;
    f32v s0 = f(0), s1 = f(0), s2 = f(0), r0 = f(0), r1 = f(0), chi2 = f(0);
    for (size_t i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        const mask32 hit = mask32_of_bits(has[OTHERS + i]);
        const f32v at = of(w->d[k], start), d = MUL(f(1e-3f), at), x = at_d(w, at);
        const f32v y = MUL(SUB(x, f32v_load(w->near_x[OTHERS + i])), f(1 / c->in->tables->dxdy[k]));
        f32v_store(w->near_y[i], y);
        s0 = f32v_select(hit, ADD(s0, f(1.0f)), s0);
        s1 = f32v_select(hit, ADD(s1, d), s1);
        s2 = f32v_select(hit, ADD(s2, MUL(d, d)), s2);
        r0 = f32v_select(hit, ADD(r0, y), r0);
        r1 = f32v_select(hit, ADD(r1, MUL(y, d)), r1);
    }
    const f32v per = DIV(f(1), SUB(MUL(s0, s2), MUL(s1, s1)));
    *y0 = MUL(SUB(MUL(s2, r0), MUL(s1, r1)), per);
    *ty = MUL(MUL(f(1e-3f), SUB(MUL(s0, r1), MUL(s1, r0))), per);
    for (size_t i = 0; i < 6; i++) {
        const f32v d = SUB(f32v_load(w->near_y[i]), ADD(*y0, MUL(*ty, of(w->d[stereo_layers[i]], start))));
        chi2 = f32v_select(mask32_of_bits(has[OTHERS + i]), ADD(chi2, MUL(d, d)), chi2);
    }
    return DIV(chi2, s0);
}

/* Where the candidates' hits are expected, in x layers and in tilted ones. */
static inline void expect(const chain *c, u32v start)
{
    slc_hlt1_forward_work *w = c->w;
    for (size_t i = 0; i < OTHERS; i++) {
        f32v_store(w->expected[i], at_d(w, of(w->d[nears[c->set][i]], start)));
    }
    for (size_t i = 0; i < NEARS - OTHERS; i++) {
        const uint32_t k = stereo_layers[i];
        const f32v x = at_d(w, of(w->d[k], start)), dx = SUB(x, of(w->velo_x[k], start));
        const f32v linear = of(w->y_bend[1][i], start), square = of(w->y_bend[2][i], start);
        const f32v power = ADD(of(w->y_bend[0][i], start), MUL(dx, ADD(linear, MUL(dx, square))));
        const f32v y = ADD(of(w->y[k], start), MUL(dx, power));
        f32v_store(w->expected[OTHERS + i], SUB(x, MUL(y, f(c->in->tables->dxdy[k]))));
    }
}

/* Takes in hits of both tilted layers of a station, near hits i and i + 1; returns the candidates with one.
 */
static inline mask32 take_in_both(const chain *c, size_t i, u32v start, mask32 active, uint64_t has[NEARS],
                                  i32v *hits, f32v *sum)
{
    const f32v limit = of(c->w->limit, start), per_limit = of(c->w->per_limit, start);
    const mask32 first = take_in(c->w, i, limit, per_limit, active, hits, sum);
    const mask32 other = take_in(c->w, i + 1, limit, per_limit, active, hits, sum);
    has[i] = mask32_bits(first);
    has[i + 1] = mask32_bits(other);
    return mask32_or(first, other);
}

/* Follows the curves through the other x layers, then through the tilted ones; what has become hopeless is
 * given up before the next station's. Returns those with enough hits, and which layers have one. */
static inline mask32 follow(const chain *c, u32v start, mask32 active, uint64_t has[NEARS], i32v *hits,
                            f32v *sum)
{
    slc_hlt1_forward_work *w = c->w;
    look(c, 0, OTHERS + 2, active);
    for (size_t i = 0; i < OTHERS; i++) {
        has[i] = mask32_bits(take_in(w, i, f(x_limit), f(1 / x_limit), active, hits, sum));
    }
    active = mask32_and(active, is_promising(c->in, *hits, 6, *sum));
    active = take_in_both(c, OTHERS, start, active, has, hits, sum);
    active = mask32_and(active, is_promising(c->in, *hits, 4, *sum));
    look(c, OTHERS + 2, OTHERS + 4, active);
    active = take_in_both(c, OTHERS + 2, start, active, has, hits, sum);
    active = mask32_and(active, is_promising(c->in, *hits, 2, *sum));
    look(c, OTHERS + 4, NEARS, active);
    active = take_in_both(c, OTHERS + 4, start, active, has, hits, sum);
    return mask32_and(active, is_promising(c->in, *hits, 0, *sum));
}

/* Writes down the candidate of a lane. */
static void take_best(const chain *c, size_t lane, const uint64_t has[NEARS], slc_hlt1_forward_track *best)
{
    const slc_hlt1_forward_work *w = c->w;
    const size_t t = c->first + lane, start = w->triplets->start[t];
    const uint32_t *begin = c->in->begin + w->upper[start];
    best->n = 3;
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        best->hit[k] = -1;
        best->d[k] = w->d[k][start];
    }
    for (size_t i = 0; i < NEARS; i++) {
        const uint32_t k = nears[c->set][i];
        if ((has[i] >> lane & 1) != 0) {
            best->hit[k] = (int32_t)(begin[2 * k] + w->near_hit[i][lane]);
            best->n++;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        const uint32_t k = sets[c->set][i];
        best->hit[k] = (int32_t)(begin[2 * k] + w->triplets->hit[i][t]);
    }
    best->a = w->value[A][lane];
    best->b = w->value[B][lane];
    best->c = w->value[C][lane];
    best->cubic = w->value[CUBIC][lane];
    best->y0 = w->value[Y0][lane];
    best->ty = w->value[TY][lane];
    best->quality = w->value[QUALITY][lane];
}

/* The triplets from c->first on, a vector of them. */
static void follow_vector(const chain *c, slc_hlt1_forward_track *found)
{
    slc_hlt1_forward_work *w = c->w;
    uint64_t has[NEARS];
    const mask32 some = mask32_first(w->triplets->n - c->first);
    const u32v start = u32v_select(some, u32v_load(w->triplets->start + c->first), u32v_set(0));
    make_curves(c, start);
    i32v hits = i32v_set(3);
    f32v sum = f(0), y0, ty;
    expect(c, start);
    mask32 good = follow(c, start, some, has, &hits, &sum);
    if (!mask32_any(good)) {
        return;
    }
    const f32v y2 = fit_y(c, start, has, &y0, &ty);
    const mask32 off = f32v_ge(f32v_abs(SUB(ty, of(w->start[SLC_HLT1_FORWARD_TY], start))), f(max_bend_y));
    good = mask32_andnot(good, mask32_and(i32v_lt(hits, i32v_set(LEAST_BENT)), off));
    const f32v per = f32v_from_i32(i32v_sub(hits, i32v_set(3)));
    const f32v quality = MUL(factor_of(hits), ADD(DIV(sum, per), MUL(y2, f(1 / y_scale))));
    good = mask32_and(good, f32v_lt(quality, f(c->in->max_quality)));
    f32v_store(w->value[Y0], y0);
    f32v_store(w->value[TY], ty);
    f32v_store(w->value[QUALITY], quality);
    for (uint64_t left = mask32_bits(good); left != 0; left &= left - 1) {
        const size_t lane = (size_t)__builtin_ctzll(left), triplet = c->first + lane;
        const uint32_t of_start = w->triplets->start[triplet];
        const float q = w->value[QUALITY][lane], least = found[of_start].quality;
        if (q < least || (q == least && w->of[of_start] != NONE && is_before(w, triplet, w->of[of_start]))) {
            take_best(c, lane, has, &found[of_start]);
            w->of[of_start] = triplet;
        }
    }
}

static void best(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *work, uint32_t set,
                 slc_hlt1_forward_track *found)
{
    chain c = {.in = in, .w = work, .set = set};
    work->triplets = &work->of_sets[set];
    for (size_t half = 0; half < 2; half++) {
        for (size_t i = 0; i < NEARS; i++) {
            work->near_layer[half][i] = work->halves[half].x[nears[set][i]];
        }
        const uint32_t most = work->halves[half].most_hits;
        c.most_hits = most > c.most_hits ? most : c.most_hits;
    }
    for (size_t i = 0; i < SIMD_LANES; i++) {
        work->of[i] = NONE;
    }
    for (; c.first < work->triplets->n; c.first += SIMD_LANES) {
        follow_vector(&c, found);
    }
}

const slc_hlt1_follow_kernels SIMD_TABLE(slc_hlt1_follow) = {.target = SIMD_TARGET_NAME, .best = best};
