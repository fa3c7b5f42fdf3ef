/* SPDX-License-Identifier: Apache-2.0
 *
 * From where tracks are expected in the SciFi to three hits there that may be a track's.
 *
 * Of one start at a time, two kinds of lanes. The hits of a first layer, each with the range of those of the
 * last layer that may belong to it. Pairs of them, to which the nearest hit of the layer in the middle is
 * looked up. Triplets of all starts of a vector go to hlt1_follow.simd.c together.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * candidate after the other: the same bits.
 */
#include "hlt1/hlt1_forward_lanes.h"

static const float triplet_limit = 8.0f, soft_q_over_p = 1.0f / 5000.0f;
enum {
    MARGIN = SLC_HLT1_FORWARD_MARGIN,
    NOWHERE = SLC_HLT1_FORWARD_SLOPES + 8, /* the slope of what is not to be taken, far from others */
    TURNS = 3                              /* last hits of a first one at once: most have no more */
};

/* ---- windows ------------------------------------------------------------------------------------ */

static void find_window(const slc_hlt1_forward_in *in, const slc_hlt1_forward_half *half,
                        slc_hlt1_forward_work *w, uint32_t k)
{
    const uint32_t most = in->max_hits;
    const size_t i = w->at;
    const uint32_t begin = lower(half, k, w->low[k][i]);
    uint32_t from = begin, end = lower(half, k, w->high[k][i]);
    end = end > begin ? end : begin;
    if (end - begin > most && !in->free) {
        uint32_t middle = lower(half, k, w->centre[k][i]);
        middle = middle < begin ? begin : middle > end ? end : middle;
        from = middle > begin + most / 2 ? middle - most / 2 : begin;
        from = from < end - most ? from : end - most;
        end = from + most;
    }
    w->begin[k] = from;
    w->end[k] = end;
}

/* The windows of a set of x layers; false if one is empty. */
static bool find_windows(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w, size_t set)
{
    const slc_hlt1_forward_half *half = &w->halves[w->upper[w->at]];
    bool filled = true;
    for (size_t i = 0; i < 3; i++) {
        const uint32_t k = sets[set][i];
        find_window(in, half, w, k);
        filled = filled && w->begin[k] < w->end[k];
    }
    return filled;
}

/* ---- hits that others agree with ---------------------------------------------------------------- */

/* How far in x the middle of the magnet is from where the two legs meet, for the slope behind it. */
static inline f32v magnet_shift(const slc_hlt1_forward_params *params, f32v slope)
{
    const float *p = params->x_at_magnet;
    return ADD(f(p[0]), MUL(slope, ADD(f(p[1]), MUL(slope, ADD(f(p[2]), MUL(slope, f(p[3])))))));
}

/* With the middle of the magnet, a hit is a slope: its number, the finer the less it is bent. `per` is one by
 * the way from there. */
static inline u32v slopes_of(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s, float per,
                             f32v x)
{
    const float half = 0.5f * SLC_HLT1_FORWARD_SLOPES;
    const f32v off = SUB(x, f(s->magnet_x));
    const f32v shift = magnet_shift(in->tables->params, MUL(off, f(per)));
    const f32v bend = SUB(MUL(SUB(off, shift), f(per)), f(s->velo.tx));
    const f32v part = DIV(bend, ADD(f(SLC_HLT1_FORWARD_HALF_BEND), f32v_abs(bend)));
    const i32v number = i32v_truncate(MUL(ADD(part, f(1.0f)), f(half)));
    return u32v_from_i32(i32v_max(i32v_set(0), i32v_min(number, i32v_set(SLC_HLT1_FORWARD_SLOPES - 1))));
}

/* The slopes of all hits in the windows, and which layers have one; hits that others have taken are nowhere.
 */
static void mark(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s, slc_hlt1_forward_work *w)
{
    uint8_t *layers = w->layers.byte + MARGIN;
    uint32_t *slope = w->agreeing.slope;
    memset(&w->layers, 0, sizeof w->layers);
    for (uint32_t j = 0; j < SLC_HLT1_FORWARD_X_LAYERS; j++) {
        const uint32_t k = sets[j / 3][j % 3], n = w->end[k] - w->begin[k];
        const float per = 1 / (w->z[k][w->at] - in->tables->params->magnet_z_mm[0]);
        const float *x = in->free_x + in->zones->row[2 * k + w->upper[w->at]] + w->begin[k];
        for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
            const f32v here = f32v_load(x + i);
            const u32v number = slopes_of(in, s, per, here), none = u32v_set(NOWHERE);
            u32v_store(slope + i, u32v_select(f32v_lt(here, f(INFINITY)), number, none));
        }
        for (uint32_t i = 0; i < n; i++) {
            layers[slope[i]] |= (uint8_t)(1U << j);
        }
        slope += n;
    }
    layers[NOWHERE] = 0;
}

/* Three neighbouring slopes, of vectors of bytes. */
static inline u32v around(const uint8_t *of)
{
    return u32v_or(u32v_load_any(of), u32v_or(u32v_load_any(of - 1), u32v_load_any(of + 1)));
}

/* Where enough layers have a hit within three neighbouring slopes: the bits of all three. */
static void count_layers(slc_hlt1_forward_work *w)
{
    const u32v more = u32v_set(0x01010101U * (128 - SLC_HLT1_FORWARD_AGREEING));
    const u32v pairs = u32v_set(0x55555555U), fours = u32v_set(0x33333333U), bytes = u32v_set(0x0f0f0f0fU);
    for (size_t i = 0; i < SLC_HLT1_FORWARD_SLOPES; i += 4 * SIMD_LANES) {
        u32v bits = around(w->layers.byte + MARGIN + i);
        bits = u32v_sub(bits, u32v_and(u32v_shr(bits, 1), pairs));
        bits = u32v_add(u32v_and(bits, fours), u32v_and(u32v_shr(bits, 2), fours));
        bits = u32v_and(u32v_add(bits, u32v_shr(bits, 4)), bytes);
        u32v_store(w->enough.word + (MARGIN + i) / 4, u32v_and(u32v_add(bits, more), u32v_set(0x80808080U)));
    }
    for (size_t i = 0; i < SLC_HLT1_FORWARD_SLOPES; i += 4 * SIMD_LANES) {
        u32v_store(w->layers.word + (MARGIN + i) / 4, around(w->enough.byte + MARGIN + i));
    }
    for (size_t i = 0; i < SLC_HLT1_FORWARD_SLOPES; i += SIMD_LANES8) {
        mask8_store(w->agreed.byte + i / 8, u8v_ge(u8v_load(w->layers.byte + MARGIN + i), u8v_set(128)));
    }
}

/* Which lanes' slopes are such ones? */
static inline mask32 are_agreed(const slc_hlt1_forward_work *w, u32v slope, mask32 some)
{
    const uint32_t *word = w->agreed.word;
    const u32v i = u32v_shr(slope, 5), one = u32v_set(1);
    some = mask32_and(some, u32v_lt(slope, u32v_set(SLC_HLT1_FORWARD_SLOPES)));
    u32v bits;
    if (are_long()) {
        const size_t n = SIMD_LANES;
        bits = u32v_bits_of_f32(pick(f32v_from_bits(u32v_load(word)), f32v_from_bits(u32v_load(word + n)),
                                     f32v_from_bits(u32v_load(word + 2 * n)),
                                     f32v_from_bits(u32v_load(word + 3 * n)), 4, i));
    } else {
        bits = u32v_gather_masked(word, i, some, u32v_set(0));
    }
    bits = u32v_and(u32v_shrv(bits, u32v_and(slope, u32v_set(31))), one);
    return mask32_and(some, u32v_eq(bits, one));
}

/* Makes the lists of hits where enough layers have one. */
static void list_agreeing(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                          slc_hlt1_forward_work *w)
{
    const uint32_t *slope = w->agreeing.slope;
    float *x = w->agreeing.x;
    uint32_t *row = w->agreeing.row;
    mark(in, s, w);
    count_layers(w);
    for (uint32_t j = 0; j < SLC_HLT1_FORWARD_X_LAYERS; j++) {
        const uint32_t k = sets[j / 3][j % 3], begin = w->begin[k], n = w->end[k] - begin;
        const float *of = in->free_x + in->zones->row[2 * k + w->upper[w->at]] + begin;
        uint32_t to = 0;
        for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
            const mask32 good = are_agreed(w, u32v_load(slope + i), mask32_first(n - i));
            (void)f32v_pack(x + to, f32v_load(of + i), good);
            to += (uint32_t)u32v_pack(row + to, u32v_iota(begin + i), good);
        }
        w->list[j] = (slc_hlt1_forward_list){.x = x, .row = row, .n = to};
        x += to;
        row += to;
        slope += n;
    }
}

/* Makes the lists of all hits in the windows of a set. */
static void list_all(slc_hlt1_forward_work *w, size_t set)
{
    for (size_t i = 0; i < 3; i++) {
        const uint32_t k = sets[set][i], begin = w->begin[k];
        const float *x = w->halves[w->upper[w->at]].x[k] + begin;
        w->list[3 * set + i] = (slc_hlt1_forward_list){.x = x, .begin = begin, .n = w->end[k] - begin};
    }
}

/* ---- three hits --------------------------------------------------------------------------------- */

/* A set of three layers for a track. */
typedef struct three {
    const slc_hlt1_forward_in *in;
    const slc_hlt1_forward_start *start;
    slc_hlt1_forward_work *w;
    const slc_hlt1_forward_list *first, *middle, *last;
    uint32_t set;
    float z0, z1;
    float lever, per_lever, reach, per_reach;
    float tolerance; /* in the middle of the magnet, if a momentum is known */
    float bend; /* the sign of the slope's change there, of so little momentum that its charge is believed; or
                   0 */
} three;

/* Takes out the one that comes last. */
static void drop_worst(slc_hlt1_forward_work *w)
{
    const size_t last = --w->triplets->n;
    size_t worst = last;
    for (size_t t = w->triplets->first; t < last; t++) {
        worst = is_before(w, worst, t) ? t : worst;
    }
    w->triplets->distance2[worst] = w->triplets->distance2[last];
    for (size_t k = 0; k < 3; k++) {
        w->triplets->x[k][worst] = w->triplets->x[k][last];
        w->triplets->hit[k][worst] = w->triplets->hit[k][last];
    }
}

/* Those of a vector of triplets go to the end of those that are kept. */
static inline void keep_lanes(slc_hlt1_forward_work *w, size_t from, mask32 some)
{
    const size_t to = w->triplets->n;
    for (size_t k = 0; k < 3; k++) {
        (void)f32v_pack(w->triplets->x[k] + to, f32v_load(w->triplets->x[k] + from), some);
        (void)u32v_pack(w->triplets->hit[k] + to, u32v_load(w->triplets->hit[k] + from), some);
    }
    w->triplets->n += f32v_pack(w->triplets->distance2 + to, f32v_load(w->triplets->distance2 + from), some);
}

/* Than a vector of distances, how many of n are less. */
static inline u32v count_nearer(const float *all, size_t n, f32v distance)
{
    const u32v one = u32v_set(1);
    u32v even = u32v_set(0), odd = even;
    size_t t = 0;
    for (; t + 1 < n; t += 2) {
        even = u32v_select(f32v_lt(f(all[t]), distance), u32v_add(even, one), even);
        odd = u32v_select(f32v_lt(f(all[t + 1]), distance), u32v_add(odd, one), odd);
    }
    return t < n ? u32v_add(odd, u32v_select(f32v_lt(f(all[t]), distance), u32v_add(even, one), even))
                 : u32v_add(even, odd);
}

/* Keeps the best ones, at most `most`: those than which fewer are nearer, and of equally near ones the first.
 */
static void keep_best(slc_hlt1_forward_work *w, size_t most)
{
    uint64_t kept[SLC_HLT1_FORWARD_TRIPLETS];
    const size_t first = w->triplets->first, n = w->triplets->n - first;
    const float *distance2 = w->triplets->distance2 + first;
    if (n <= most) {
        return;
    }
    for (size_t from = 0, row = 0; from < n; from += SIMD_LANES, row++) {
        const u32v before = count_nearer(distance2, n, f32v_load(distance2 + from));
        const mask32 good = u32v_lt(before, u32v_set((uint32_t)most));
        kept[row] = mask32_bits(mask32_and(good, mask32_first(n - from)));
    }
    w->triplets->n = first;
    for (size_t from = 0, row = 0; from < n; from += SIMD_LANES, row++) {
        keep_lanes(w, first + from, mask32_of_bits(kept[row]));
    }
    while (w->triplets->n > first + most) {
        drop_worst(w);
    }
}

/* Makes room for a vector of triplets; what is not as near as those that stay is not wanted then. */
static void make_room(slc_hlt1_forward_work *w, size_t most)
{
    if (w->triplets->n - w->triplets->first + SIMD_LANES <= SLC_HLT1_FORWARD_TRIPLETS) {
        return;
    }
    float limit = 0;
    keep_best(w, most);
    for (size_t t = w->triplets->first; t < w->triplets->n; t++) {
        limit = w->triplets->distance2[t] > limit ? w->triplets->distance2[t] : limit;
    }
    w->triplets->limit = limit;
}

/* Looks up the hit in the middle of a vector of pairs from number p on, and keeps those where it is near
 * enough. */
static inline void complete(const three *c, size_t p, f32v x0, f32v x1, f32v x2, mask32 some)
{
    slc_hlt1_forward_work *w = c->w;
    f32v x;
    const u32v m = nearest_in(c->middle, x1, some, &x);
    const f32v d = SUB(x, x1), d2 = MUL(d, d);
    some = mask32_and(some, mask32_and(f32v_lt(d2, f(triplet_limit)), f32v_le(d2, f(w->triplets->limit))));
    const size_t n = w->triplets->n;
    (void)f32v_pack(w->triplets->x[0] + n, x0, some);
    (void)f32v_pack(w->triplets->x[1] + n, x, some);
    (void)f32v_pack(w->triplets->x[2] + n, x2, some);
    (void)u32v_pack(w->triplets->hit[0] + n, u32v_load(w->pairs.first + p), some);
    (void)u32v_pack(w->triplets->hit[1] + n, m, some);
    (void)u32v_pack(w->triplets->hit[2] + n, u32v_load(w->pairs.last + p), some);
    w->triplets->n += f32v_pack(w->triplets->distance2 + n, d2, some);
    make_room(w, c->in->max_triplets);
}

/* Those of the pairs that point to the VELO's line in the middle of the magnet. */
static void judge_pairs(const three *c)
{
    const slc_hlt1_forward_params *params = c->in->tables->params;
    const slc_hlt1_forward_start *s = c->start;
    slc_hlt1_forward_work *w = c->w;
    const f32v z0 = f(c->z0), z1 = f(c->z1), sagitta = f(params->sagitta[c->set]);
    for (size_t p = 0; p < w->pairs.n; p += SIMD_LANES) {
        mask32 good = mask32_first(w->pairs.n - p);
        const f32v x0 = f32v_load(w->pairs.x + p);
        const f32v x2 = pick_of(c->last->x, c->last->n, u32v_load(w->pairs.last + p), good);
        const f32v tolerance = c->in->free ? f32v_load(w->pairs.tolerance + p) : f(c->tolerance);
        const f32v slope = MUL(SUB(x2, x0), f(c->per_reach));
        const f32v off = SUB(SUB(ADD(x0, MUL(slope, f(c->lever))), f(s->magnet_x)),
                             magnet_shift(params, slope));
        good = mask32_andnot(good, f32v_ge(f32v_abs(off), tolerance));
        if (c->bend != 0) {
            good = mask32_andnot(good, f32v_lt(MUL(SUB(slope, f(s->tx)), f(c->bend)), f(0)));
        }
        complete(c, p, x0, ADD(MUL(z1, slope), MUL(SUB(x0, MUL(slope, z0)), sagitta)), x2, good);
    }
    w->pairs.n = 0;
}

/* Which last hits go with the first hits of a vector, number i and following: those that their slopes lead
 * to.
 */
static inline void find_lasts(const three *c, size_t i, mask32 some, f32v low, f32v high)
{
    slc_hlt1_forward_work *w = c->w;
    const float *last = c->last->x;
    uint32_t from = 0, end = c->last->n;
    if (!are_few(end)) {
        const float highest = f32v_highest(f32v_select(some, high, f(-INFINITY)));
        from = slc_hlt1_lower(last, end, f32v_lowest(f32v_select(some, low, f(INFINITY))));
        uint32_t behind = slc_hlt1_lower(last, end, highest);
        while (behind < end && last[behind] <= highest) {
            behind++;
        }
        end = behind < from ? from : behind;
    }
    u32v at, behind;
    count_between(last + from, end - from, low, high, &at, &behind);
    u32v_store(w->firsts.at + i, u32v_add(u32v_set(from), at));
    u32v_store(w->firsts.behind + i, u32v_add(u32v_set(from), u32v_select(some, behind, u32v_set(0))));
}

/* Pairs of the first hits of a vector, number i and following of those from number `first` of the list on. */
static inline void pair(const three *c, bool is_free, uint32_t first, size_t i)
{
    slc_hlt1_forward_work *w = c->w;
    const f32v x0 = f32v_load(c->first->x + first + i), tolerance = f32v_load(w->firsts.tolerance + i);
    const u32v row = u32v_iota(first + (uint32_t)i), behind = u32v_load(w->firsts.behind + i);
    u32v at = u32v_load(w->firsts.at + i);
    mask32 left = u32v_lt(at, behind);
    do {
        size_t n = w->pairs.n;
        for (int turn = 0; turn < TURNS; turn++) {
            (void)f32v_pack(w->pairs.x + n, x0, left);
            if (is_free) {
                (void)f32v_pack(w->pairs.tolerance + n, tolerance, left);
            }
            (void)u32v_pack(w->pairs.last + n, at, left);
            n += u32v_pack(w->pairs.first + n, row, left);
            at = u32v_add(at, u32v_set(1));
            left = u32v_lt(at, behind);
        }
        w->pairs.n = n;
        if (n + TURNS * SIMD_LANES > SLC_HLT1_FORWARD_PAIRS) {
            judge_pairs(c);
        }
    } while (mask32_any(left));
}

static void pair_all(const three *c, uint32_t first, size_t n)
{
    if (c->in->free) {
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            pair(c, true, first, i);
        }
    } else {
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            pair(c, false, first, i);
        }
    }
}

/* The first hits of a vector, from number `first` + i of the list on: which last hits they lead to. */
static inline void lead(const three *c, uint32_t first, size_t i, size_t n)
{
    const slc_hlt1_forward_in *in = c->in;
    const slc_hlt1_forward_start *s = c->start;
    const float *p = in->tables->params->x_at_magnet;
    const f32v lever = f(c->lever), reach = f(c->reach), mx = f(s->magnet_x);
    const f32v x0 = f32v_load(c->first->x + first + i);
    const mask32 some = mask32_first(n - i);
    const f32v straight = MUL(SUB(mx, x0), f(c->per_lever));
    const f32v from_magnet = SUB(ADD(mx, magnet_shift(in->tables->params, straight)), x0);
    const f32v slope = MUL(from_magnet, f(c->per_lever));
    const f32v tolerance = in->free ? tolerance_of(MUL(SUB(slope, f(s->tx)), f(1 / c->w->kick[c->w->at])))
                                    : f(c->tolerance);
    /* At large slopes the shift counts: where `off` is 0 by Newton, and how far x may be from there. */
    const f32v rises = ADD(f(2.0f * p[2]), MUL(MUL(slope, f(3.0f)), f(p[3])));
    const f32v bends = SUB(lever, ADD(f(p[1]), MUL(slope, rises)));
    const f32v off = SUB(SUB(ADD(x0, MUL(slope, lever)), mx), magnet_shift(in->tables->params, slope));
    const f32v per_bend = DIV(f(1.0f), bends);
    const f32v centre = ADD(x0, MUL(SUB(slope, MUL(off, per_bend)), reach));
    const f32v most = ADD(MUL(MUL(f(1.1f), tolerance), f32v_abs(MUL(reach, per_bend))), f(1.0f));
    f32v_store(c->w->firsts.tolerance + i, tolerance);
    find_lasts(c, i, some, SUB(centre, most), ADD(centre, most));
}

static void find_triplets(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                          slc_hlt1_forward_work *w, uint32_t set)
{
    const slc_hlt1_forward_list *list = &w->list[3 * set];
    const float z0 = w->z[sets[set][0]][w->at], z2 = w->z[sets[set][2]][w->at];
    three c = {
        .in = in, .start = s, .w = w, .first = &list[0], .middle = &list[1], .last = &list[2], .set = set};
    if (list[0].n == 0 || list[1].n == 0 || list[2].n == 0) {
        return;
    }
    c.z0 = z0;
    c.z1 = w->z[sets[set][1]][w->at];
    c.lever = in->tables->params->magnet_z_mm[0] - z0;
    c.per_lever = 1 / c.lever;
    c.reach = z2 - z0;
    c.per_reach = 1 / c.reach;
    if (!in->free) {
        c.tolerance = w->tolerance[w->at];
        c.bend = fabsf(s->q_over_p) <= soft_q_over_p ? 0 : w->slope[0][0][w->at] > s->tx ? 1.0f : -1.0f;
    }
    const uint32_t end = list[0].n;
    for (uint32_t first = 0; first < end; first += SLC_HLT1_FORWARD_FIRSTS) {
        const size_t left = end - first, n = left < SLC_HLT1_FORWARD_FIRSTS ? left : SLC_HLT1_FORWARD_FIRSTS;
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            lead(&c, first, i, n);
        }
        pair_all(&c, first, n);
    }
    judge_pairs(&c);
}

/* From numbers of the lists to rows of the zones; and whose the triplets are. */
static void name_hits(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w, uint32_t set)
{
    for (size_t t = w->triplets->first; t < w->triplets->n; t += SIMD_LANES) {
        const mask32 some = mask32_first(w->triplets->n - t);
        for (size_t k = 0; k < 3; k++) {
            const slc_hlt1_forward_list *of = &w->list[3 * set + k];
            const u32v hit = u32v_load(w->triplets->hit[k] + t);
            u32v_store(w->triplets->hit[k] + t, in->free ? u32v_gather_masked(of->row, hit, some, hit)
                                                         : u32v_add(hit, u32v_set(of->begin)));
        }
        u32v_store(w->triplets->start + t, u32v_set((uint32_t)w->at));
    }
}

/* Makes the lists of hits that may be a triplet's, for sets `set` to `end` - 1; false if all must be empty.
 */
static bool list_hits(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *start,
                      slc_hlt1_forward_work *w, uint32_t set, uint32_t end)
{
    bool any = false;
    for (; set < end; set++) {
        any = find_windows(in, w, set) || any;
        list_all(w, set);
    }
    if (any && in->free) {
        list_agreeing(in, start, w);
    }
    return any;
}

static void seek(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *starts, size_t n,
                 slc_hlt1_forward_work *w, uint32_t set, uint32_t end, const slc_hlt1_forward_track *found)
{
    w->of_sets[0].n = w->of_sets[1].n = w->pairs.n = 0;
    for (w->at = 0; w->at < n; w->at++) {
        const bool wanted = found[w->at].n == 0 || found[w->at].quality > in->enough;
        if (!w->hopeful[w->at] || !wanted || !list_hits(in, &starts[w->at], w, set, end)) {
            continue;
        }
        for (uint32_t k = set; k < end; k++) {
            w->triplets = &w->of_sets[k];
            w->triplets->first = w->triplets->n;
            w->triplets->limit = INFINITY;
            find_triplets(in, &starts[w->at], w, k);
            keep_best(w, in->max_triplets);
            name_hits(in, w, k);
        }
    }
}

const slc_hlt1_forward_kernels SIMD_TABLE(slc_hlt1_forward) = {.target = SIMD_TARGET_NAME, .seek = seek};
