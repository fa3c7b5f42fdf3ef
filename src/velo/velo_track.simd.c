/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for tracks in one event (thesis of A. Hennequin, 2022, section 5.4): lines lie in the lanes, the
 * hits of a layer come one after the other. The hits of a layer lie in boxes; lines that can reach a box are
 * listed first, and only these are compared with its hits, so that lanes are full and most hits are never
 * looked at. Whatever is left out is so on the safe side: the result is that of looking at all.
 */
#include "simd/simd.h"
#include "velo/velo_track_scatter.h"
#include "velo/velo_track_sort.h"
#include "velo/velo_track_work.h"

#include <math.h>

enum { PLACES = (1 << SLC_TRACK_PLACE_BITS) - 1 };

/* N is known where these are used, and their arrays are then registers. */
#define INLINE static inline __attribute__((always_inline))

/* ---- windows ----------------------------------------------------------------------------------------- */

/* Places begin … end - 1 of a layer; beyond its last hit they go on with its first. */
typedef struct window {
    uint32_t begin, end;
} window;

/* How many keys are below. */
static uint32_t count_below(const slc_track_layer *layer, int32_t key)
{
    uint32_t low = 0, n = layer->n;
    while (n > 0) {
        const uint32_t half = n / 2;
        const bool below = layer->key[low + half] < key;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low;
}

static inline window whole(const slc_track_layer *layer)
{
    return (window){0, layer->n};
}

/* The hits from one direction to another, counterclockwise. */
static window between(const slc_track_layer *layer, int32_t from, int32_t to)
{
    window w = {count_below(layer, from), count_below(layer, to)};
    /* Keys equal to `to` belong to it. */
    while (w.end < layer->n && layer->key[w.end] == to) {
        w.end++;
    }
    if (from > to) {
        w.end += layer->n;
    }
    return w.end - w.begin >= layer->n ? whole(layer) : w;
}

/* A place below 2n. */
static inline uint32_t wrapped(uint32_t place, uint32_t n)
{
    return place < n ? place : place - n;
}

/* The hits between two directions and `more` beyond each; also those that are as near as the last of these.
 * Between the steps of 2^12 no two places tell themselves apart, so that equal keys are equally near. */
static window around(const slc_track_layer *layer, int32_t from, int32_t to, uint32_t more)
{
    const uint32_t n = layer->n;
    const window inside = between(layer, from, to);
    const uint32_t size = inside.end - inside.begin;
    if (size + 2 * more + 2 >= n) {
        return whole(layer);
    }
    uint32_t before = more, behind = more;
    while (before + behind + size < n && layer->key[wrapped(inside.begin + n - before, n)] ==
                                             layer->key[wrapped(inside.begin + n - before - 1, n)]) {
        before++;
    }
    while (before + behind + size < n &&
           layer->key[wrapped(inside.end + behind - 1, n)] == layer->key[wrapped(inside.end + behind, n)]) {
        behind++;
    }
    if (before + behind + size >= n) {
        return whole(layer);
    }
    const uint32_t begin = wrapped(inside.begin + n - before, n);
    return (window){begin, begin + before + size + behind};
}

/* Two stretches in the order of places. */
typedef struct stretches {
    uint32_t begin[2], end[2];
} stretches;

static inline stretches stretches_of(const slc_track_layer *layer, window w)
{
    const uint32_t n = layer->n;
    return w.end <= n ? (stretches){{0, w.begin}, {0, w.end}} : (stretches){{0, w.begin}, {w.end - n, n}};
}

/* ---- columns of a layer by place -------------------------------------------------------------------------
 */

/* Places in a layer of n hits are looked up by permutations of whole vectors, which is faster than gathering
 * where these are few. */
INLINE bool by_permutation(uint32_t n)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    return n <= 8 * lanes && (lanes & (lanes - 1)) == 0;
}

/* Where the hits at `place` are, places < layer->n. */
INLINE void look_up(const slc_track_layer *layer, u32v place, f32v *x, f32v *y, f32v *z)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES, n = layer->n;
    const float *from_x = layer->x, *from_y = layer->y, *from_z = layer->z;
    if (!by_permutation(n)) {
        *x = f32v_gather(from_x, place);
        *y = f32v_gather(from_y, place);
        *z = f32v_gather(from_z, place);
        return;
    }
    const u32v in_vector = u32v_and(place, u32v_set(lanes - 1));
    f32v at_x = f32v_permute(f32v_load(from_x), in_vector), at_y = f32v_permute(f32v_load(from_y), in_vector);
    f32v at_z = f32v_permute(f32v_load(from_z), in_vector);
    for (uint32_t i = lanes; i < n; i += lanes) {
        const mask32 beyond = u32v_ge(place, u32v_set(i));
        at_x = f32v_select(beyond, f32v_permute(f32v_load(from_x + i), in_vector), at_x);
        at_y = f32v_select(beyond, f32v_permute(f32v_load(from_y + i), in_vector), at_y);
        at_z = f32v_select(beyond, f32v_permute(f32v_load(from_z + i), in_vector), at_z);
    }
    *x = at_x;
    *y = at_y;
    *z = at_z;
}

/* And a column of whole numbers. */
INLINE u32v look_up_u32(const uint32_t *column, uint32_t n, u32v place)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    if (!by_permutation(n)) {
        return u32v_gather(column, place);
    }
    const u32v in_vector = u32v_and(place, u32v_set(lanes - 1));
    u32v found = u32v_permute(u32v_load(column), in_vector);
    for (uint32_t i = lanes; i < n; i += lanes) {
        found = u32v_select(u32v_ge(place, u32v_set(i)), u32v_permute(u32v_load(column + i), in_vector),
                            found);
    }
    return found;
}

/* ---- seeds -----------------------------------------------------------------------------------------------
 */

/* Can a line come within `reach` of a hit in the box? True where that is not certain. The line's way between
 * the box's ends in z, and what is rounded off, are added to the reach: a line is not known better than its
 * start, which matters far outside of the detector. Not a number reaches nothing. */
INLINE mask32 reaches(const slc_track_box *box, f32v x, f32v y, f32v z, f32v tx, f32v ty, float reach)
{
    const f32v dz = f32v_sub(f32v_set(box->z), z), zero = f32v_set(0), rounded = f32v_set(2e-6f);
    const f32v at_x = f32v_add(x, f32v_mul(tx, dz)), at_y = f32v_add(y, f32v_mul(ty, dz));
    const f32v r2 = f32v_add(f32v_mul(at_x, at_x), f32v_mul(at_y, at_y));
    const f32v depth = f32v_add(f32v_set(box->half_dz), f32v_mul(f32v_abs(dz), rounded));
    const f32v way = f32v_mul(f32v_add(f32v_abs(tx), f32v_abs(ty)), depth);
    const f32v from = f32v_mul(f32v_add(f32v_abs(x), f32v_abs(y)), rounded);
    const f32v slack = f32v_add(f32v_add(way, from), f32v_set(reach + box->margin));
    const f32v inner = f32v_max(f32v_sub(f32v_set(box->r_low), slack), zero);
    const f32v outer = f32v_add(f32v_set(box->r_high), slack);
    const mask32 ring = mask32_and(f32v_ge(r2, f32v_mul(inner, inner)), f32v_le(r2, f32v_mul(outer, outer)));
    const mask32 beside = mask32_and(f32v_ge(at_x, f32v_sub(f32v_set(box->x_low), slack)),
                                     f32v_le(at_x, f32v_add(f32v_set(box->x_high), slack)));
    const mask32 above = mask32_and(f32v_ge(at_y, f32v_sub(f32v_set(box->y_low), slack)),
                                    f32v_le(at_y, f32v_add(f32v_set(box->y_high), slack)));
    return mask32_and(ring, mask32_and(beside, above));
}

/* The lanes' hits of the middle layer, and their pairs of one rank. */
INLINE void list_pair(slc_track_work *work, const slc_track_layer *down, const slc_track_layer *middle,
                      const slc_track_layer *up, uint32_t at, float reach, uint32_t rank, u32v code)
{
    const f32v x = f32v_load(middle->x + at), y = f32v_load(middle->y + at), z = f32v_load(middle->z + at);
    /* Where there are fewer than N hits there is no line. */
    const mask32 there = mask32_and(mask32_first(middle->n - at), u32v_ne(code, u32v_set(UINT32_MAX)));
    const u32v place = u32v_select(there, u32v_and(code, u32v_set(PLACES)), u32v_set(0));
    f32v dx, dy, dz;
    look_up(down, place, &dx, &dy, &dz);
    const f32v length = f32v_sub(z, dz);
    const f32v tx = f32v_div(f32v_sub(x, dx), length), ty = f32v_div(f32v_sub(y, dy), length);
    const u32v what = u32v_or(u32v_or(place, u32v_shl(u32v_iota(at), SLC_TRACK_PLACE_BITS)),
                              u32v_set(rank << 2 * SLC_TRACK_PLACE_BITS));
    for (uint32_t b = 0; b < up->n_boxes; b++) {
        slc_track_lines *to = &work->lines[b];
        const mask32 in = mask32_and(there, reaches(&up->box[b], x, y, z, tx, ty, reach));
        const uint32_t end = to->n;
        (void)f32v_pack(to->tx + end, tx, in);
        (void)f32v_pack(to->ty + end, ty, in);
        to->n = end + (uint32_t)u32v_pack(to->what + end, what, in);
    }
}

/* Does X(rank) for all ranks that there can be. */
#define FOR_EACH_RANK(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
_Static_assert(SLC_TRACK_MAX_N == 10, "a rank for each pair");

/* Pairs of the hits of the middle layer from `at` on, as many as there are lanes, with the N hits that are
 * nearest to them in direction: lines that can reach a box of the upstream layer get into that box's list. */
INLINE void list_pairs(slc_track_work *work, const slc_track_layer *down, const slc_track_layer *middle,
                       const slc_track_layer *up, uint32_t at, float reach, uint32_t n)
{
    const uint32_t last = at + (uint32_t)SIMD_LANES < middle->n ? at + (uint32_t)SIMD_LANES : middle->n;
    const i32v key = i32v_load(middle->key + at);
    const u32v one = u32v_set(1);
    const stretches s = stretches_of(
        down, work->sorted ? around(down, middle->key[at], middle->key[last - 1], n) : whole(down));
    /* Differences above places, rising with the rank: variables of their own, as vectors have no size. */
#define NONE_YET(rank) u32v code_##rank = u32v_set(UINT32_MAX);
    FOR_EACH_RANK(NONE_YET)
    for (int part = 0; part < 2; part++) {
        u32v here = u32v_set(s.begin[part]);
        for (uint32_t k = s.begin[part]; k < s.end[part]; k++) {
            const i32v difference = i32v_abs(i32v_sub(i32v_set(down->key[k]), key));
            u32v mine = u32v_or(u32v_from_i32(difference), here);
            here = u32v_add(here, one);
#define INSERT(rank)                                                                                         \
    if (n > (rank)) {                                                                                        \
        const u32v smaller = u32v_min(code_##rank, mine);                                                    \
        mine = u32v_max(code_##rank, mine);                                                                  \
        code_##rank = smaller;                                                                               \
    }
            FOR_EACH_RANK(INSERT)
        }
    }
#define LIST(rank)                                                                                           \
    if (n > (rank)) {                                                                                        \
        list_pair(work, down, middle, up, at, reach, rank, code_##rank);                                     \
    }
    FOR_EACH_RANK(LIST)
}

/* Hit k of a layer, which is `here`: is it closer to the lines than `of`, whose scatter is `least`? Floats
 * that are not negative rise as their bits do, and what is not a number is above them all. */
INLINE void compare(const slc_track_layer *layer, uint32_t k, u32v here, f32v x, f32v y, f32v z, f32v tx,
                    f32v ty, u32v *least, u32v *of)
{
    const f32v scatter = scatter_of(f32v_sub(f32v_set(layer->x[k]), x), f32v_sub(f32v_set(layer->y[k]), y),
                                    f32v_sub(f32v_set(layer->z[k]), z), tx, ty);
    const u32v less = u32v_min(u32v_bits_of_f32(scatter), *least);
    *of = u32v_select(u32v_eq(less, *least), *of, here);
    *least = less;
}

/* The hit of a box that is closest to each line; best[] is the most that it may scatter. Four hits a turn,
 * which is faster by the turns that are saved. */
INLINE void find_closest(const slc_track_layer *layer, uint32_t box, f32v x, f32v y, f32v z, f32v tx, f32v ty,
                         f32v *best, u32v *place)
{
    const uint32_t end = layer->edge[box + 1];
    const u32v one = u32v_set(1), two = u32v_set(2), three = u32v_set(3), four = u32v_set(4);
    uint32_t k = layer->edge[box];
    u32v least = u32v_bits_of_f32(*best), here = u32v_set(k), of = here;
    for (; k + 4 <= end; k += 4) {
        compare(layer, k, here, x, y, z, tx, ty, &least, &of);
        compare(layer, k + 1, u32v_add(here, one), x, y, z, tx, ty, &least, &of);
        compare(layer, k + 2, u32v_add(here, two), x, y, z, tx, ty, &least, &of);
        compare(layer, k + 3, u32v_add(here, three), x, y, z, tx, ty, &least, &of);
        here = u32v_add(here, four);
    }
    for (; k < end; k++) {
        compare(layer, k, here, x, y, z, tx, ty, &least, &of);
        here = u32v_add(here, one);
    }
    *best = f32v_from_bits(least);
    *place = of;
}

/* For each line of a list the closest hit of its box; those that have one are moved to the list's front.
 * Lines start at hits of the middle layer, of which `block` are those in the lists. */
INLINE void find_thirds(slc_track_lines *lines, const slc_track_layer *block, uint32_t begin,
                        const slc_track_layer *up, uint32_t box, float max_scatter)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < lines->n; i += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(lines->n - i);
        const u32v what = u32v_load(lines->what + i);
        const u32v m = u32v_and(u32v_shr(what, SLC_TRACK_PLACE_BITS), u32v_set(PLACES));
        f32v x, y, z, best = f32v_set(max_scatter);
        u32v place;
        look_up(block, u32v_select(in, u32v_sub(m, u32v_set(begin)), u32v_set(0)), &x, &y, &z);
        find_closest(up, box, x, y, z, f32v_load(lines->tx + i), f32v_load(lines->ty + i), &best, &place);
        const mask32 close = mask32_and(in, f32v_lt(best, f32v_set(max_scatter)));
        (void)f32v_pack(lines->scatter + found, best, close);
        (void)u32v_pack(lines->hit + found, place, close);
        found += (uint32_t)u32v_pack(lines->what + found, what, close);
    }
    lines->n = found;
}

/* A hit of the middle layer takes the best of its pairs; of equal ones the one nearest in direction, and of
 * its hits the first. */
static void take_best(slc_track_work *work, const slc_track_lines *lines, uint32_t at)
{
    slc_track_best *best = &work->best_pair;
    for (uint32_t j = 0; j < lines->n; j++) {
        const uint32_t what = lines->what[j], m = (what >> SLC_TRACK_PLACE_BITS & PLACES) - at;
        const float scatter = lines->scatter[j];
        if (scatter < best->scatter[m] ||
            (scatter == best->scatter[m] &&
             what >> 2 * SLC_TRACK_PLACE_BITS < best->what[m] >> 2 * SLC_TRACK_PLACE_BITS)) {
            best->scatter[m] = scatter;
            best->what[m] = what;
            best->third[m] = lines->hit[j];
        }
    }
}

/* The seeds of the hits of the middle layer from `at` on that have one. */
static void list_seeds(slc_track_work *work, uint32_t at, uint32_t end, float max_scatter)
{
    const slc_track_best *best = &work->best_pair;
    slc_track_seeds *seeds = &work->seeds;
    for (uint32_t i = at; i < end; i += (uint32_t)SIMD_LANES) {
        const f32v scatter = f32v_load(best->scatter + (i - at));
        const mask32 found = mask32_and(mask32_first(end - i), f32v_lt(scatter, f32v_set(max_scatter)));
        const u32v place = u32v_and(u32v_load(best->what + (i - at)), u32v_set(PLACES));
        (void)u32v_pack(seeds->down + seeds->n, place, found);
        (void)u32v_pack(seeds->middle + seeds->n, u32v_iota(i), found);
        (void)u32v_pack(seeds->up + seeds->n, u32v_load(best->third + (i - at)), found);
        seeds->n += (uint32_t)f32v_pack(seeds->scatter + seeds->n, scatter, found);
    }
}

INLINE void find_seeds(slc_track_work *work, uint32_t d, uint32_t i, uint32_t u, float max_scatter,
                       uint32_t n)
{
    enum { BLOCK = SLC_TRACK_BLOCK };
    const slc_track_layer *down = &work->layer[d], *middle = &work->layer[i], *up = &work->layer[u];
    const float reach = 1.01f * sqrtf(max_scatter);
    work->seeds.n = 0;
    if (down->n == 0 || up->n == 0) {
        return;
    }
    for (uint32_t begin = 0; begin < middle->n; begin += BLOCK) {
        const uint32_t end = begin + BLOCK < middle->n ? begin + BLOCK : middle->n;
        const slc_track_layer block = {
            .x = middle->x + begin, .y = middle->y + begin, .z = middle->z + begin, .n = end - begin};
        for (uint32_t b = 0; b < up->n_boxes; b++) {
            work->lines[b].n = 0;
        }
        for (uint32_t at = begin; at < end; at += (uint32_t)SIMD_LANES) {
            f32v_store(work->best_pair.scatter + (at - begin), f32v_set(max_scatter));
            list_pairs(work, down, middle, up, at, reach, n);
        }
        for (uint32_t b = 0; b < up->n_boxes; b++) {
            find_thirds(&work->lines[b], &block, begin, up, b, max_scatter);
            take_best(work, &work->lines[b], begin);
        }
        list_seeds(work, begin, end, max_scatter);
    }
}

#define SEED(n)                                                                                              \
    static void seed_##n(slc_track_work *work, uint32_t d, uint32_t i, uint32_t u, float max_scatter)        \
    {                                                                                                        \
        find_seeds(work, d, i, u, max_scatter, n);                                                           \
    }
SEED(1)
SEED(2)
SEED(3)
SEED(4)
SEED(5)
SEED(6)
SEED(7)
SEED(8)
SEED(9)
SEED(10)

/* Floats that are not negative rise as their bits do. Scatters get the place into their lowest bits, which
 * makes them different; seeds that differ in those bits alone are as good as each other. */
static void rank(slc_track_work *work)
{
    const slc_track_seeds *seeds = &work->seeds;
    const u32v places = u32v_set(PLACES);
    for (uint32_t k = 0; k < seeds->n; k += (uint32_t)SIMD_LANES) {
        const u32v bits = u32v_bits_of_f32(f32v_load(seeds->scatter + k));
        u32v_store(work->sort_from + k, u32v_or(u32v_andnot(bits, places), u32v_iota(k)));
    }
    sort(work->sort_from, seeds->n, work->order, work->sort_to);
    for (uint32_t k = 0; k < seeds->n; k += (uint32_t)SIMD_LANES) {
        u32v_store(work->order + k, u32v_and(u32v_load(work->sort_to + k), places));
    }
}

/* ---- candidates
 * -------------------------------------------------------------------------------------------- */

static void start(slc_track_work *work, uint32_t d, uint32_t m, uint32_t u)
{
    slc_track_candidates *c = &work->candidates;
    slc_track_seeds *seeds = &work->seeds;
    const slc_track_layer *down = &work->layer[d], *middle = &work->layer[m], *up = &work->layer[u];
    const u32v none = u32v_set(0);
    const uint32_t n = seeds->n;
    uint32_t new = c->n;
    seeds->n = 0;
    for (uint32_t k = 0; k < n; k += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(n - k);
        const mask32 taken = mask32_and(in, u32v_ne(u32v_load(work->sort_from + k), none));
        const u32v down_place = u32v_select(in, u32v_load(seeds->down + k), none);
        const u32v middle_place = u32v_select(in, u32v_load(seeds->middle + k), none);
        const u32v up_place = u32v_select(in, u32v_load(seeds->up + k), none);
        const f32v scatter = f32v_load(seeds->scatter + k);
        f32v x, y, z, mx, my, mz;
        look_up(up, up_place, &x, &y, &z);
        look_up(middle, middle_place, &mx, &my, &mz);
        const f32v dz = f32v_sub(z, mz);
        (void)f32v_pack(c->x + new, x, taken);
        (void)f32v_pack(c->y + new, y, taken);
        (void)f32v_pack(c->z + new, z, taken);
        (void)f32v_pack(c->tx + new, f32v_div(f32v_sub(x, mx), dz), taken);
        (void)f32v_pack(c->ty + new, f32v_div(f32v_sub(y, my), dz), taken);
        (void)f32v_pack(c->scatter + new, scatter, taken);
        (void)f32v_pack(c->last + new, scatter, taken);
        u32v_store(c->count + new, u32v_set(3));
        (void)u32v_pack(seeds->down + seeds->n, look_up_u32(down->id, down->n, down_place), taken);
        (void)u32v_pack(seeds->middle + seeds->n, look_up_u32(middle->id, middle->n, middle_place), taken);
        new += (uint32_t)u32v_pack(c->hit + new, look_up_u32(up->id, up->n, up_place), taken);
        seeds->n = new - c->n;
    }
    for (uint32_t k = 0; k < seeds->n; k++) {
        work->before[c->hit[c->n + k]] = seeds->middle[k];
        work->before[seeds->middle[k]] = seeds->down[k];
    }
    c->n = new;
}

/* Candidates as many as there are lanes: those that can reach a box get into its list. */
static void list_candidates(slc_track_work *work, uint32_t i, const slc_track_layer *layer, float reach)
{
    const slc_track_candidates *c = &work->candidates;
    const mask32 valid = mask32_first(c->n - i);
    const f32v x = f32v_load(c->x + i), y = f32v_load(c->y + i), z = f32v_load(c->z + i);
    const f32v tx = f32v_load(c->tx + i), ty = f32v_load(c->ty + i);
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        slc_track_lines *to = &work->lines[b];
        const mask32 in = mask32_and(valid, reaches(&layer->box[b], x, y, z, tx, ty, reach));
        const uint32_t end = to->n;
        (void)f32v_pack(to->x + end, x, in);
        (void)f32v_pack(to->y + end, y, in);
        (void)f32v_pack(to->z + end, z, in);
        (void)f32v_pack(to->tx + end, tx, in);
        (void)f32v_pack(to->ty + end, ty, in);
        to->n = end + (uint32_t)u32v_pack(to->what + end, u32v_iota(i), in);
    }
}

/* What the candidates of a list want of its box, where that is better than what they want so far. */
static void find_wanted(slc_track_work *work, const slc_track_layer *layer, uint32_t box, float max_scatter)
{
    slc_track_lines *lines = &work->lines[box];
    uint32_t found = 0;
    for (uint32_t i = 0; i < lines->n; i += (uint32_t)SIMD_LANES) {
        const u32v what = u32v_load(lines->what + i);
        f32v best = f32v_set(max_scatter);
        u32v place;
        find_closest(layer, box, f32v_load(lines->x + i), f32v_load(lines->y + i), f32v_load(lines->z + i),
                     f32v_load(lines->tx + i), f32v_load(lines->ty + i), &best, &place);
        const mask32 close = mask32_and(mask32_first(lines->n - i), f32v_lt(best, f32v_set(max_scatter)));
        (void)f32v_pack(lines->scatter + found, best, close);
        (void)u32v_pack(lines->hit + found, place, close);
        found += (uint32_t)u32v_pack(lines->what + found, what, close);
    }
    for (uint32_t j = 0; j < found; j++) {
        const uint32_t i = lines->what[j];
        const bool better = lines->scatter[j] < work->best[i];
        work->best[i] = better ? lines->scatter[j] : work->best[i];
        work->wanted[i] = better ? (int32_t)lines->hit[j] : work->wanted[i];
    }
}

/* The candidates that want a hit. */
static void list_asking(slc_track_work *work, uint32_t first)
{
    const i32v none = i32v_set(SLC_TRACK_NONE);
    work->n_asking = 0;
    for (uint32_t i = first; i < work->candidates.n; i += (uint32_t)SIMD_LANES) {
        const mask32 asks = mask32_and(mask32_first(work->candidates.n - i),
                                       i32v_ne(i32v_load(work->wanted + i), none));
        work->n_asking += (uint32_t)u32v_pack(work->asking + work->n_asking, u32v_iota(i), asks);
    }
}

static void extend(slc_track_work *work, uint32_t first, uint32_t l, float max_scatter)
{
    enum { BLOCK = SLC_TRACK_BLOCK * SLC_TRACK_MAX_N };
    const slc_track_candidates *c = &work->candidates;
    const slc_track_layer *layer = &work->layer[l];
    const float reach = 1.01f * sqrtf(max_scatter);
    for (uint32_t begin = first; begin < c->n; begin += BLOCK) {
        const uint32_t end = begin + BLOCK < c->n ? begin + BLOCK : c->n;
        for (uint32_t b = 0; b < layer->n_boxes; b++) {
            work->lines[b].n = 0;
        }
        for (uint32_t i = begin; i < end; i += (uint32_t)SIMD_LANES) {
            f32v_store(work->best + i, f32v_set(max_scatter));
            i32v_store(work->wanted + i, i32v_set(SLC_TRACK_NONE));
            list_candidates(work, i, layer, reach);
        }
        for (uint32_t b = 0; b < layer->n_boxes; b++) {
            find_wanted(work, layer, b, max_scatter);
        }
    }
    list_asking(work, first);
}

static void advance(slc_track_work *work, uint32_t first, uint32_t l)
{
    slc_track_candidates *c = &work->candidates, *leaving = &work->leaving;
    const slc_track_layer *layer = &work->layer[l];
    const u32v nobody = u32v_set(0), skip = u32v_set(1U << SLC_TRACK_SKIP_SHIFT);
    const u32v hits = u32v_set((1U << SLC_TRACK_SKIP_SHIFT) - 1), one = u32v_set(1);
    const u32v too_many = u32v_set((work->max_skipped + 1) << SLC_TRACK_SKIP_SHIFT);
    uint32_t kept = first;
    leaving->n = 0;
    for (uint32_t i = first; i < c->n; i += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(c->n - i);
        const u32v wanted = u32v_from_i32(i32v_load(work->wanted + i));
        const mask32 gets = mask32_and(in, u32v_ne(wanted, u32v_set((uint32_t)SLC_TRACK_NONE)));
        const u32v place = u32v_select(gets, wanted, nobody);
        const f32v x = f32v_load(c->x + i), y = f32v_load(c->y + i), z = f32v_load(c->z + i);
        f32v at_x, at_y, at_z;
        look_up(layer, place, &at_x, &at_y, &at_z);
        const f32v hx = f32v_select(gets, at_x, x), hy = f32v_select(gets, at_y, y);
        const f32v hz = f32v_select(gets, at_z, z);
        const f32v dz = f32v_sub(hz, z), scatter = f32v_load(work->best + i);
        const u32v old = u32v_load(c->count + i);
        const u32v count = u32v_select(gets, u32v_add(u32v_and(old, hits), one), u32v_add(old, skip));
        const f32v sum = f32v_load(c->scatter + i);
        const f32v new_sum = f32v_select(gets, f32v_add(sum, scatter), sum);
        const f32v last = f32v_select(gets, scatter, f32v_load(c->last + i));
        const u32v hit = u32v_load(c->hit + i);
        const u32v new_hit = u32v_select(gets, look_up_u32(layer->id, layer->n, place), hit);
        const f32v tx = f32v_select(gets, f32v_div(f32v_sub(hx, x), dz), f32v_load(c->tx + i));
        const f32v ty = f32v_select(gets, f32v_div(f32v_sub(hy, y), dz), f32v_load(c->ty + i));
        u32v_scatter_masked(work->before, u32v_select(gets, new_hit, nobody), hit, gets);

        const mask32 ends = mask32_and(in, u32v_ge(count, too_many)), stays = mask32_andnot(in, ends);
        (void)f32v_pack(leaving->scatter + leaving->n, new_sum, ends);
        (void)f32v_pack(leaving->last + leaving->n, last, ends);
        (void)u32v_pack(leaving->count + leaving->n, u32v_and(count, hits), ends);
        leaving->n += (uint32_t)u32v_pack(leaving->hit + leaving->n, new_hit, ends);
        (void)f32v_pack(c->x + kept, hx, stays);
        (void)f32v_pack(c->y + kept, hy, stays);
        (void)f32v_pack(c->z + kept, hz, stays);
        (void)f32v_pack(c->tx + kept, tx, stays);
        (void)f32v_pack(c->ty + kept, ty, stays);
        (void)f32v_pack(c->scatter + kept, new_sum, stays);
        (void)f32v_pack(c->last + kept, last, stays);
        (void)u32v_pack(c->count + kept, count, stays);
        kept += (uint32_t)u32v_pack(c->hit + kept, new_hit, stays);
    }
    c->n = kept;
}

const slc_velo_track_kernels SIMD_TABLE(slc_velo_track) = {
    .target = SIMD_TARGET_NAME,
    .seed = {seed_1, seed_2, seed_3, seed_4, seed_5, seed_6, seed_7, seed_8, seed_9, seed_10},
    .rank = rank,
    .start = start,
    .extend = extend,
    .advance = advance,
};
