/* SPDX-License-Identifier: Apache-2.0
 *
 * From what a track should do in the SciFi to its hits there.
 *
 * Three kinds of lanes. The twelve layers of a track: where it crosses them, and what may be hit. The hits of
 * a first layer, beside which those of the last layer that may belong to them are put as pairs; a pair is a
 * lane, too. Then all triplets of a track, each followed through the other nine layers.
 *
 * The nearest hit of a layer is found by a tree of two levels: a vector of pivots, every sixteenth x, and the
 * vector of hits behind the one that it points to; in each of them lanes below are counted.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * candidate after the other: the same bits.
 */
#include "hlt1/hlt1_forward_work.h"
#include "simd/simd.h"

enum { LEAST_BENT = 11, OTHERS = 3, NEARS = 9 };
static const uint32_t sets[2][3] = {{0, 4, 8}, {3, 7, 11}};
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};
enum { A, B, C, CUBIC, Y0, TY, QUALITY };

static const float window_mm = 150.0f, window_per_q = 2e6f, outer_mm = 100.0f, stereo_mm = 800.0f;
static const float triplet_limit = 8.0f, x_limit = 2.0f, stereo_limit = 50.0f, y_scale = 800.0f;
static const float max_bend_y = 0.02f;

#define ADD f32v_add
#define SUB f32v_sub
#define MUL f32v_mul
#define DIV f32v_div
static inline f32v f(float x)
{
    return f32v_set(x);
}

/* ---- hits of a zone ---------------------------------------------------------------------------- */

/* How many of the first n values, of which a block counts at most, are below x. */
static inline uint32_t below(const float *values, f32v x, size_t n)
{
    const size_t most = n < SLC_HLT1_BLOCK ? n : SLC_HLT1_BLOCK;
    size_t count = 0;
    for (size_t i = 0; i < SLC_HLT1_BLOCK; i += SIMD_LANES) {
        const mask32 some = mask32_first(most > i ? most - i : 0);
        count += mask32_count(mask32_and(f32v_lt(f32v_load(values + i), x), some));
    }
    return (uint32_t)count;
}

/* The first of a layer's n rising hits that is not below x. */
static inline uint32_t lower(const slc_hlt1_forward_in *in, const slc_hlt1_forward_work *w, uint32_t layer,
                             float x)
{
    const float *pivots = in->pivots + in->pivot_begin[w->zone[layer]];
    const f32v to = f(x);
    uint32_t block = 0, more;
    do {
        more = below(pivots + block, to, SLC_HLT1_BLOCK);
        block += more;
    } while (more == SLC_HLT1_BLOCK);
    const uint32_t from = SLC_HLT1_BLOCK * block;
    return from + below(in->x + w->row[layer] + from, to, w->n[layer] - from);
}

/* The one of begin … end - 1, at least one, that is nearest to x, which is not above the hit `at`. */
static inline uint32_t nearer(const float *values, uint32_t begin, uint32_t end, uint32_t at, float x)
{
    const uint32_t i = at < begin ? begin : at > end ? end : at;
    const uint32_t left = i > begin ? i - 1 : begin, right = i < end ? i : end - 1;
    return i == end || (i > begin && x - values[left] <= values[right] - x) ? left : right;
}

/* ---- where the track is expected ---------------------------------------------------------------- */

static void cross_layers(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                         slc_hlt1_forward_work *w)
{
    const slc_hlt1_forward_tables *tables = in->tables;
    const float ty = s->velo.ty, mz = tables->params->magnet_z_mm[0];
    const f32v slower = f(1.0f - ty * SLC_SCIFI_DZDY), turn = f(fabsf(s->kick * s->q_over_p));
    const float reach = window_mm + window_per_q * fabsf(s->q_over_p);
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        w->slope[k] = s->slope[k / 4];
        w->reach[k] = tables->dxdy[k] != 0 ? stereo_mm : reach;
    }
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k += SIMD_LANES) {
        const f32v zone_z = f32v_load(tables->zone_z + k), dxdy = f32v_load(tables->dxdy + k);
        const mask32 straight = f32v_eq(dxdy, f(0));
        const f32v y = DIV(ADD(f(s->velo.y), MUL(f(ty), SUB(zone_z, f(s->velo.z)))), slower);
        const f32v z = ADD(zone_z, MUL(y, f(SLC_SCIFI_DZDY)));
        const f32v centre = SUB(ADD(f(s->x), MUL(f32v_load(w->slope + k), SUB(z, f(mz)))), MUL(y, dxdy));
        const f32v around = in->free ? ADD(MUL(turn, SUB(z, f(mz))), f(window_mm)) : f32v_load(w->reach + k);
        const f32v outer = f32v_select(straight, f(outer_mm), f(0));
        f32v_store(w->y + k, y);
        f32v_store(w->z + k, z);
        f32v_store(w->d + k, SUB(z, f(SLC_HLT1_SCIFI_Z_MM)));
        f32v_store(w->velo_x + k, ADD(f(s->velo.x), MUL(f(s->velo.tx), SUB(z, f(s->velo.z)))));
        f32v_store(w->centre + k, centre);
        f32v_store(w->low + k, SUB(SUB(centre, around), s->bend < 0 ? outer : f(0)));
        f32v_store(w->high + k, ADD(ADD(centre, around), s->bend > 0 ? outer : f(0)));
    }
}

static void find_window(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w, uint32_t k)
{
    const uint32_t most = in->max_hits;
    const uint32_t begin = lower(in, w, k, w->low[k]);
    uint32_t from = begin, end = lower(in, w, k, w->high[k]);
    end = end > begin ? end : begin;
    if (end - begin > most && in->tables->dxdy[k] == 0 && !in->free) {
        uint32_t middle = lower(in, w, k, w->centre[k]);
        middle = middle < begin ? begin : middle > end ? end : middle;
        from = middle > begin + most / 2 ? middle - most / 2 : begin;
        from = from < end - most ? from : end - most;
        end = from + most;
    }
    w->begin[k] = from;
    w->end[k] = end;
}

static bool is_filled(const slc_hlt1_forward_work *w, size_t set)
{
    const uint32_t *k = sets[set];
    return w->begin[k[0]] < w->end[k[0]] && w->begin[k[1]] < w->end[k[1]] && w->begin[k[2]] < w->end[k[2]];
}

/* False if there cannot be enough hits. */
static bool find_windows(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                         slc_hlt1_forward_work *w)
{
    const bool upper = s->velo.y + s->velo.ty * (in->tables->zone_z[0] - s->velo.z) > 0;
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        w->zone[k] = 2 * k + (upper ? 1 : 0);
        w->row[k] = in->begin[w->zone[k]];
        w->n[k] = in->begin[w->zone[k] + 1] - w->row[k];
    }
    for (size_t i = 0; i < 3; i++) {
        find_window(in, w, sets[0][i]);
        find_window(in, w, sets[1][i]);
    }
    if (!is_filled(w, 0) && !is_filled(w, 1)) {
        return false;
    }
    bool every = true;
    for (size_t i = 0; i < 6; i += 2) {
        const uint32_t u = stereo_layers[i], v = stereo_layers[i + 1];
        find_window(in, w, u);
        find_window(in, w, v);
        every = every && (w->begin[u] < w->end[u] || w->begin[v] < w->end[v]);
    }
    return every;
}

/* ---- three hits --------------------------------------------------------------------------------- */

/* A set of three layers for a track. */
typedef struct three {
    const slc_hlt1_forward_in *in;
    const slc_hlt1_forward_start *start;
    slc_hlt1_forward_work *w;
    uint32_t set, first, middle, last; /* layers */
    float lever, reach;
} three;

/* How far in x the middle of the magnet is from where the two legs meet, for the slope behind it. */
static inline f32v magnet_shift(const slc_hlt1_forward_params *params, f32v slope)
{
    const float *p = params->x_at_magnet;
    return ADD(f(p[0]), MUL(slope, ADD(f(p[1]), MUL(slope, ADD(f(p[2]), MUL(slope, f(p[3])))))));
}

/* As slc_hlt1_forward_tolerance. */
static inline f32v tolerance_of(f32v q_over_p)
{
    const f32v q = f32v_abs(q_over_p), part = DIV(q, f(5e-4f));
    return ADD(f(8.0f), MUL(f(32.0f), f32v_select(f32v_lt(q, f(5e-4f)), part, f(1.0f))));
}

/* Does the triplet a come before b: nearer in the middle, or found before? */
static bool is_before(const slc_hlt1_forward_work *w, size_t a, size_t b)
{
    const float x = w->triplets.distance2[a], y = w->triplets.distance2[b];
    if (x != y) {
        return x < y;
    }
    if (w->triplets.set[a] != w->triplets.set[b]) {
        return w->triplets.set[a] < w->triplets.set[b];
    }
    return w->triplets.hit[0][a] != w->triplets.hit[0][b] ? w->triplets.hit[0][a] < w->triplets.hit[0][b]
                                                          : w->triplets.hit[2][a] < w->triplets.hit[2][b];
}

/* Keeps the best ones: row n is the new one. */
static void keep_triplet(slc_hlt1_forward_work *w, size_t most)
{
    const size_t n = w->triplets.n;
    size_t worst = w->triplets.worst;
    if (n < most) {
        w->triplets.worst = n == 0 || is_before(w, worst, n) ? n : worst;
        w->triplets.n++;
        return;
    }
    if (most == 0 || !is_before(w, n, worst)) {
        return;
    }
    w->triplets.distance2[worst] = w->triplets.distance2[n];
    w->triplets.set[worst] = w->triplets.set[n];
    for (size_t k = 0; k < 3; k++) {
        w->triplets.x[k][worst] = w->triplets.x[k][n];
        w->triplets.hit[k][worst] = w->triplets.hit[k][n];
    }
    for (size_t t = 0; t < n; t++) {
        worst = is_before(w, worst, t) ? t : worst;
    }
    w->triplets.worst = worst;
}

/* Completes pair number `pair` by the hit in the middle, if that is near enough. */
static void complete(const three *c, size_t pair, float x0, float x1, float x2)
{
    const slc_hlt1_forward_in *in = c->in;
    slc_hlt1_forward_work *w = c->w;
    const float *values = in->x + w->row[c->middle];
    const uint32_t m = nearer(values, w->begin[c->middle], w->end[c->middle], lower(in, w, c->middle, x1),
                              x1);
    const float d = values[m] - x1;
    if (d * d < triplet_limit && in->free_x[w->row[c->middle] + m] < INFINITY) {
        const size_t t = w->triplets.n;
        w->triplets.distance2[t] = d * d;
        w->triplets.set[t] = c->set;
        w->triplets.x[0][t] = x0;
        w->triplets.x[1][t] = values[m];
        w->triplets.x[2][t] = x2;
        w->triplets.hit[0][t] = w->pairs.first[pair];
        w->triplets.hit[1][t] = m;
        w->triplets.hit[2][t] = w->pairs.last[pair];
        keep_triplet(w, in->max_triplets);
    }
}

/* Those of the pairs that point to the VELO's line in the middle of the magnet. */
static void judge_pairs(const three *c)
{
    const slc_hlt1_forward_params *params = c->in->tables->params;
    const slc_hlt1_forward_start *s = c->start;
    slc_hlt1_forward_work *w = c->w;
    const f32v z0 = f(w->z[c->first]), z1 = f(w->z[c->middle]), sagitta = f(params->sagitta[c->set]);
    for (size_t p = 0; p < w->pairs.n; p += SIMD_LANES) {
        const f32v x0 = f32v_load(w->pairs.x[0] + p), x2 = f32v_load(w->pairs.x[1] + p);
        const f32v tolerance = c->in->free ? f32v_load(w->pairs.tolerance + p) : f(s->tolerance);
        const f32v slope = DIV(SUB(x2, x0), f(c->reach));
        const f32v off = SUB(SUB(ADD(x0, MUL(slope, f(c->lever))), f(s->magnet_x)),
                             magnet_shift(params, slope));
        mask32 good = mask32_andnot(mask32_first(w->pairs.n - p), f32v_ge(f32v_abs(off), tolerance));
        if (s->soft) {
            good = mask32_andnot(good, f32v_lt(MUL(SUB(slope, f(s->tx)), f(s->bend)), f(0)));
        }
        f32v_store(w->pairs.x[2] + p, ADD(MUL(z1, slope), MUL(SUB(x0, MUL(slope, z0)), sagitta)));
        for (uint64_t left = mask32_bits(good); left != 0; left &= left - 1) {
            const size_t i = p + (size_t)__builtin_ctzll(left);
            complete(c, i, w->pairs.x[0][i], w->pairs.x[2][i], w->pairs.x[1][i]);
        }
    }
    w->pairs.n = 0;
}

/* Pairs the first hits of a vector, from row i on, with the last ones that their slopes lead to. */
static void pair(const three *c, uint32_t i, f32v x0, f32v tolerance, mask32 some, f32v low, f32v high)
{
    const slc_hlt1_forward_in *in = c->in;
    slc_hlt1_forward_work *w = c->w;
    const float *last = in->x + w->row[c->last], *last_free = in->free_x + w->row[c->last];
    const float lowest = f32v_lowest(f32v_select(some, low, f(INFINITY)));
    const float highest = f32v_highest(f32v_select(some, high, f(-INFINITY)));
    const uint32_t from = lower(in, w, c->last, lowest), end = w->end[c->last];
    for (uint32_t k = from > w->begin[c->last] ? from : w->begin[c->last]; k < end && last[k] <= highest;
         k++) {
        const f32v x2 = f(last_free[k]);
        const mask32 near = mask32_and(some, mask32_and(f32v_ge(x2, low), f32v_le(x2, high)));
        const size_t n = w->pairs.n;
        (void)f32v_pack(w->pairs.x[0] + n, x0, near);
        if (in->free) {
            (void)f32v_pack(w->pairs.tolerance + n, tolerance, near);
        }
        f32v_store(w->pairs.x[1] + n, x2);
        u32v_store(w->pairs.last + n, u32v_set(k));
        w->pairs.n += u32v_pack(w->pairs.first + n, u32v_iota(i), near);
        if (w->pairs.n + SIMD_LANES > SLC_HLT1_FORWARD_PAIRS) {
            judge_pairs(c);
        }
    }
}

static void find_triplets(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                          slc_hlt1_forward_work *w, uint32_t set)
{
    const slc_hlt1_forward_params *params = in->tables->params;
    const float *p = params->x_at_magnet;
    three c = {.in = in,
               .start = s,
               .w = w,
               .set = set,
               .first = sets[set][0],
               .middle = sets[set][1],
               .last = sets[set][2]};
    c.lever = params->magnet_z_mm[0] - w->z[c.first];
    c.reach = w->z[c.last] - w->z[c.first];
    const f32v lever = f(c.lever), reach = f(c.reach), mx = f(s->magnet_x);
    for (uint32_t i = w->begin[c.first]; i < w->end[c.first]; i += (uint32_t)SIMD_LANES) {
        const f32v x0 = f32v_load(in->free_x + w->row[c.first] + i);
        const mask32 some = mask32_and(mask32_first(w->end[c.first] - i), f32v_lt(x0, f(INFINITY)));
        if (!mask32_any(some)) {
            continue;
        }
        const f32v straight = DIV(SUB(mx, x0), lever);
        const f32v slope = DIV(SUB(ADD(mx, magnet_shift(params, straight)), x0), lever);
        const f32v tolerance = in->free ? tolerance_of(DIV(SUB(slope, f(s->tx)), f(s->kick)))
                                        : f(s->tolerance);
        /* At large slopes the shift counts: where `off` is 0 by Newton, and how far x may be from there. */
        const f32v rises = ADD(f(2.0f * p[2]), MUL(MUL(slope, f(3.0f)), f(p[3])));
        const f32v bends = SUB(lever, ADD(f(p[1]), MUL(slope, rises)));
        const f32v off = SUB(SUB(ADD(x0, MUL(slope, lever)), mx), magnet_shift(params, slope));
        const f32v centre = ADD(x0, MUL(SUB(slope, DIV(off, bends)), reach));
        const f32v most = ADD(MUL(MUL(f(1.1f), tolerance), f32v_abs(DIV(reach, bends))), f(1.0f));
        pair(&c, i, x0, tolerance, some, SUB(centre, most), ADD(centre, most));
    }
    judge_pairs(&c);
}

/* ---- candidates --------------------------------------------------------------------------------- */

/* How y in the tilted layers depends on what the magnet has done to x: polynomials of the track's slopes. */
static void bend_y(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s, slc_hlt1_forward_work *w)
{
    const float tx = s->velo.tx, ty = s->velo.ty, tx2 = tx * tx, ty2 = ty * ty;
    const float odd[6] = {
        tx * ty, tx * tx2 * ty, tx * ty * ty2, tx * tx2 * tx2 * ty, tx * tx2 * ty * ty2, tx * ty * ty2 * ty2};
    const float even[6] = {ty, tx2 * ty, ty * ty2, tx2 * tx2 * ty, tx2 * ty * ty2, ty * ty2 * ty2};
    for (size_t i = 0; i < 6; i++) {
        const float *c = in->tables->params->y_correction[stereo_layers[i]];
        float *to = w->y_bend[i];
        to[0] = to[1] = to[2] = 0;
        for (size_t k = 0; k < 6; k++) {
            to[0] += c[k] * odd[k];
            to[1] += c[6 + k] * even[k];
            to[2] += c[12 + k] * odd[k];
        }
    }
}

/* x of the candidates' curves, which stand in w->value. */
static inline f32v at_d(const slc_hlt1_forward_work *w, f32v d)
{
    const f32v a = f32v_load(w->value[A]), b = f32v_load(w->value[B]), c = f32v_load(w->value[C]);
    return ADD(c, MUL(d, ADD(b, MUL(MUL(a, d), ADD(f(1.0f), MUL(f32v_load(w->value[CUBIC]), d))))));
}

/* A vector of candidates. */
typedef struct chain {
    const slc_hlt1_forward_in *in;
    slc_hlt1_forward_work *w;
    size_t first; /* triplet of lane 0 */
} chain;

/* The nearest hits to w->expected, in the layer that the lane's set says of two. */
static void look(const chain *c, size_t near, uint64_t lanes, const uint32_t layers[2])
{
    slc_hlt1_forward_work *w = c->w;
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
        const size_t lane = (size_t)__builtin_ctzll(left);
        const uint32_t k = layers[w->triplets.set[c->first + lane]];
        const float *values = c->in->x + w->row[k], x = w->expected[lane];
        if (w->n[k] == 0) {
            w->near_x[near][lane] = INFINITY;
            w->near_hit[near][lane] = 0;
            continue;
        }
        const uint32_t i = nearer(values, 0, w->n[k], lower(c->in, w, k, x), x);
        w->near_x[near][lane] = values[i];
        w->near_hit[near][lane] = i;
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
    const f32v value = DIV(MUL(factor_of(n), sum), f32v_from_i32(i32v_sub(n, i32v_set(3))));
    return mask32_and(i32v_ge(n, i32v_set((int32_t)in->min_hits)), f32v_lt(value, f(in->max_quality)));
}

/* d² (1 + cubic d). */
static inline f32v bent(f32v cubic, f32v d)
{
    return MUL(MUL(d, d), ADD(f(1.0f), MUL(cubic, d)));
}

/* The curves by three points. */
static inline void make_curves(const chain *c, mask32 second)
{
    slc_hlt1_forward_work *w = c->w;
    const float *p = c->in->tables->params->cubic;
    const f32v x0 = f32v_load(w->triplets.x[0] + c->first), x1 = f32v_load(w->triplets.x[1] + c->first);
    const f32v x2 = f32v_load(w->triplets.x[2] + c->first);
    const f32v d0 = f32v_select(second, f(w->d[sets[1][0]]), f(w->d[sets[0][0]]));
    const f32v d1 = f32v_select(second, f(w->d[sets[1][1]]), f(w->d[sets[0][1]]));
    const f32v d2 = f32v_select(second, f(w->d[sets[1][2]]), f(w->d[sets[0][2]]));
    const f32v y = f32v_select(second, f(w->y[sets[1][1]]), f(w->y[sets[0][1]]));
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

/* Takes in what `near` has within the limit. */
static inline mask32 take_in(const slc_hlt1_forward_work *w, size_t near, f32v x, f32v limit, mask32 active,
                             i32v *hits, f32v *sum)
{
    const f32v d = SUB(f32v_load(w->near_x[near]), x), d2 = MUL(d, d);
    const mask32 hit = mask32_and(active, f32v_lt(d2, limit));
    *sum = f32v_select(hit, ADD(*sum, DIV(d2, limit)), *sum);
    *hits = i32v_select(hit, i32v_add(*hits, i32v_set(1)), *hits);
    return hit;
}

/* A straight line through the heights that the tilted layers' hits are at; mean squared distance from it. */
static inline f32v fit_y(const chain *c, const uint64_t has[NEARS], f32v *y0, f32v *ty)
{
    const slc_hlt1_forward_work *w = c->w;
    f32v s0 = f(0), s1 = f(0), s2 = f(0), r0 = f(0), r1 = f(0), chi2 = f(0);
    for (size_t i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        const mask32 hit = mask32_of_bits(has[OTHERS + i]);
        const f32v d = f(1e-3f * w->d[k]), x = at_d(w, f(w->d[k]));
        const f32v y = DIV(SUB(x, f32v_load(w->near_x[OTHERS + i])), f(c->in->tables->dxdy[k]));
        s0 = f32v_select(hit, ADD(s0, f(1.0f)), s0);
        s1 = f32v_select(hit, ADD(s1, d), s1);
        s2 = f32v_select(hit, ADD(s2, MUL(d, d)), s2);
        r0 = f32v_select(hit, ADD(r0, y), r0);
        r1 = f32v_select(hit, ADD(r1, MUL(y, d)), r1);
    }
    const f32v determinant = SUB(MUL(s0, s2), MUL(s1, s1));
    *y0 = DIV(SUB(MUL(s2, r0), MUL(s1, r1)), determinant);
    *ty = DIV(MUL(f(1e-3f), SUB(MUL(s0, r1), MUL(s1, r0))), determinant);
    for (size_t i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        const f32v x = at_d(w, f(w->d[k]));
        const f32v y = DIV(SUB(x, f32v_load(w->near_x[OTHERS + i])), f(c->in->tables->dxdy[k]));
        const f32v d = SUB(y, ADD(*y0, MUL(*ty, f(w->d[k]))));
        chi2 = f32v_select(mask32_of_bits(has[OTHERS + i]), ADD(chi2, MUL(d, d)), chi2);
    }
    return DIV(chi2, s0);
}

/* Follows the curves through the other x layers, then through the tilted ones. Returns those with enough
 * hits, and which layers have one. */
static inline mask32 follow(const chain *c, const slc_hlt1_forward_start *s, mask32 second, mask32 active,
                            uint64_t has[NEARS], i32v *hits, f32v *sum)
{
    slc_hlt1_forward_work *w = c->w;
    for (size_t k = 0; k < OTHERS; k++) {
        const uint32_t layers[2] = {sets[1][k], sets[0][k]};
        const f32v d = f32v_select(second, f(w->d[layers[1]]), f(w->d[layers[0]]));
        const f32v x = at_d(w, d);
        f32v_store(w->expected, x);
        look(c, k, mask32_bits(active), layers);
        has[k] = mask32_bits(take_in(w, k, x, f(x_limit), active, hits, sum));
    }
    const f32v limit = f(stereo_limit * (fabsf(s->tx) + fabsf(s->velo.ty)));
    for (size_t i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i], layers[2] = {k, k};
        active = mask32_and(active, is_promising(c->in, *hits, 6 - (int32_t)i, *sum));
        has[OTHERS + i] = 0;
        if (mask32_any(active)) {
            const float *bend = w->y_bend[i];
            const f32v x = at_d(w, f(w->d[k])), dx = SUB(x, f(w->velo_x[k]));
            const f32v power = ADD(f(bend[0]), MUL(dx, ADD(f(bend[1]), MUL(dx, f(bend[2])))));
            const f32v y = ADD(f(w->y[k]), MUL(dx, power));
            const f32v tilted = SUB(x, MUL(y, f(c->in->tables->dxdy[k])));
            f32v_store(w->expected, tilted);
            look(c, OTHERS + i, mask32_bits(active), layers);
            has[OTHERS + i] = mask32_bits(take_in(w, OTHERS + i, tilted, limit, active, hits, sum));
        }
    }
    const uint64_t *u = has + OTHERS;
    active = mask32_and(active, is_promising(c->in, *hits, 0, *sum));
    return mask32_and(active, mask32_of_bits((u[0] | u[1]) & (u[2] | u[3]) & (u[4] | u[5])));
}

/* Writes down the candidate of a lane. */
static void take_best(const chain *c, size_t lane, const uint64_t has[NEARS], slc_hlt1_forward_track *best)
{
    const slc_hlt1_forward_work *w = c->w;
    const size_t t = c->first + lane;
    const uint32_t set = w->triplets.set[t];
    best->n = 3;
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        best->hit[k] = -1;
    }
    for (size_t i = 0; i < NEARS; i++) {
        const uint32_t k = i < OTHERS ? sets[1 - set][i] : stereo_layers[i - OTHERS];
        if ((has[i] >> lane & 1) != 0) {
            best->hit[k] = (int32_t)(w->row[k] + w->near_hit[i][lane]);
            best->n++;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        best->hit[sets[set][i]] = (int32_t)(w->row[sets[set][i]] + w->triplets.hit[i][t]);
    }
    best->a = w->value[A][lane];
    best->b = w->value[B][lane];
    best->c = w->value[C][lane];
    best->cubic = w->value[CUBIC][lane];
    best->y0 = w->value[Y0][lane];
    best->ty = w->value[TY][lane];
    best->quality = w->value[QUALITY][lane];
}

/* The triplets from c->first on, a vector of them; *of is the triplet that `best` was. */
static void follow_vector(const chain *c, const slc_hlt1_forward_start *s, slc_hlt1_forward_track *best,
                          size_t *of)
{
    slc_hlt1_forward_work *w = c->w;
    uint64_t has[NEARS];
    const mask32 second = u32v_eq(u32v_load(w->triplets.set + c->first), u32v_set(1));
    make_curves(c, second);
    i32v hits = i32v_set(3);
    f32v sum = f(0), y0, ty;
    mask32 good = follow(c, s, second, mask32_first(w->triplets.n - c->first), has, &hits, &sum);
    if (!mask32_any(good)) {
        return;
    }
    const f32v y2 = fit_y(c, has, &y0, &ty);
    const mask32 off = f32v_ge(f32v_abs(SUB(ty, f(s->velo.ty))), f(max_bend_y));
    good = mask32_andnot(good, mask32_and(i32v_lt(hits, i32v_set(LEAST_BENT)), off));
    const f32v per = f32v_from_i32(i32v_sub(hits, i32v_set(3)));
    const f32v quality = MUL(factor_of(hits), ADD(DIV(sum, per), DIV(y2, f(y_scale))));
    good = mask32_and(good, f32v_lt(quality, f(c->in->max_quality)));
    f32v_store(w->value[Y0], y0);
    f32v_store(w->value[TY], ty);
    f32v_store(w->value[QUALITY], quality);
    for (uint64_t left = mask32_bits(good); left != 0; left &= left - 1) {
        const size_t lane = (size_t)__builtin_ctzll(left), triplet = c->first + lane;
        const float q = w->value[QUALITY][lane];
        if (q < best->quality || (q == best->quality && best->n > 0 && is_before(w, triplet, *of))) {
            take_best(c, lane, has, best);
            *of = triplet;
        }
    }
}

static void search(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *starts, size_t n,
                   slc_hlt1_forward_work *work, slc_hlt1_forward_track *found)
{
    for (size_t t = 0; t < n; t++) {
        const slc_hlt1_forward_start *s = &starts[t];
        found[t].n = 0;
        found[t].quality = in->max_quality;
        cross_layers(in, s, work);
        if (!find_windows(in, s, work)) {
            continue;
        }
        work->triplets.n = work->triplets.worst = work->pairs.n = 0;
        for (uint32_t set = 0; set < 2; set++) {
            if (is_filled(work, set)) {
                find_triplets(in, s, work, set);
            }
        }
        if (work->triplets.n > 0) {
            chain c = {.in = in, .w = work};
            size_t of = 0;
            bend_y(in, s, work);
            for (; c.first < work->triplets.n; c.first += SIMD_LANES) {
                follow_vector(&c, s, &found[t], &of);
            }
            for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
                found[t].d[k] = work->d[k];
            }
        }
    }
}

const slc_hlt1_forward_kernels SIMD_TABLE(slc_hlt1_forward) = {.target = SIMD_TARGET_NAME, .search = search};
