/* SPDX-License-Identifier: Apache-2.0
 *
 * Before and behind the search for tracks: hits sorted by direction into layers, the hits that are left of
 * them, layers where a short track should have a hit, missed hits picked up, and broken tracks joined.
 */
#include "simd/simd.h"
#include "velo/velo_track_scatter.h"
#include "velo/velo_track_sort.h"
#include "velo/velo_track_work.h"

#include <math.h>

enum { PLACES = (1 << SLC_TRACK_PLACE_BITS) - 1 };

#define STEPS 262144.0f /* of an angle of 1; 2^20 for the full turn */

/* ---- hits and layers ------------------------------------------------------------------------------ */

/* The direction of a hit, as a whole number. */
static inline i32v direction(f32v x, f32v y)
{
    const f32v zero = f32v_set(0), two = f32v_set(2);
    const f32v sum = f32v_add(f32v_abs(x), f32v_abs(y));
    const f32v part = f32v_select(f32v_gt(sum, zero), f32v_div(y, sum), zero);
    const f32v left = f32v_sub(f32v_select(f32v_ge(y, zero), two, f32v_neg(two)), part);
    const f32v angle = f32v_select(f32v_ge(x, zero), part, left);
    const i32v steps = i32v_truncate(f32v_mul(angle, f32v_set(STEPS)));
    return i32v_from_u32(u32v_shl(u32v_from_i32(steps), SLC_TRACK_PLACE_BITS));
}

static void find_directions(const slc_track_hits *hits, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        i32v_store(hits->key + i, direction(f32v_load(hits->x + i), f32v_load(hits->y + i)));
    }
}

static void direct(slc_track_work *work)
{
    const slc_track_hits *all = &work->all;
    find_directions(all, work->n_hits);
}

/* Codes of key above place, sorted, in work->sort_to. */
static void sort_layer(slc_track_work *work, size_t begin, size_t n)
{
    const u32v sign = u32v_set(UINT32_C(0x80000000));
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v key = u32v_from_i32(i32v_load(work->all.key + begin + i));
        u32v_store(work->sort_from + i, u32v_or(u32v_xor(key, sign), u32v_iota((uint32_t)i)));
    }
    sort(work->sort_from, n, work->order, work->sort_to);
}

static void sort_hits(slc_track_work *work, const slc_track_hits *into, uint32_t *event_hit, uint8_t *place)
{
    const u32v sign = u32v_set(UINT32_C(0x80000000)), places = u32v_set(PLACES);
    const slc_track_hits *all = &work->all;
    find_directions(all, work->n_hits);
    for (uint32_t l = 0; l < work->n_layers; l++) {
        const size_t begin = work->begin[l], n = work->begin[l + 1] - begin;
        sort_layer(work, begin, n);
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            const mask32 in = mask32_first(n - i);
            const u32v code = u32v_load(work->sort_to + i);
            const u32v from = u32v_add(u32v_set((uint32_t)begin),
                                       u32v_select(in, u32v_and(code, places), u32v_set(0)));
            f32v_store(into->x + begin + i, f32v_gather(all->x, from));
            f32v_store(into->y + begin + i, f32v_gather(all->y, from));
            f32v_store(into->z + begin + i, f32v_gather(all->z, from));
            i32v_store(into->key + begin + i, i32v_from_u32(u32v_xor(u32v_andnot(code, places), sign)));
            u32v_store(event_hit + begin + i, u32v_gather(work->event_hit, from));
        }
        for (size_t i = 0; i < n; i++) {
            place[begin + i] = work->place[begin + (work->sort_to[i] & PLACES)];
        }
    }
}

/* ---- what is left of a layer ----------------------------------------------------------------------- */

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

/* The edges of a layer's boxes when hits have gone. */
static inline void move_edges(slc_track_layer *layer, const uint32_t *edge, const uint8_t *gone)
{
    uint32_t kept = 0, b = 1;
    layer->edge[0] = 0;
    for (uint32_t i = 0; b <= layer->n_boxes; i += 64) {
        const uint64_t bits = bits_left(gone + i, edge[layer->n_boxes] - i);
        for (; b <= layer->n_boxes && edge[b] <= i + 64; b++) {
            const uint32_t below = edge[b] - i;
            const uint64_t mask = below < 64 ? (UINT64_C(1) << below) - 1 : UINT64_MAX;
            layer->edge[b] = kept + (uint32_t)__builtin_popcountll(bits & mask);
        }
        kept += (uint32_t)__builtin_popcountll(bits);
    }
}

/* The box of the hits from begin on; of none one that nothing reaches. */
static slc_track_box box_of(const slc_track_layer *hits, size_t begin, size_t n)
{
    const f32v below = f32v_set(-INFINITY), above = f32v_set(INFINITY);
    f32v x_low = above, x_high = below, y_low = above, y_high = below, r2_low = above, r2_high = below,
         z_low = above, z_high = below;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 in = mask32_first(n - i);
        const f32v x = f32v_load(hits->x + begin + i), y = f32v_load(hits->y + begin + i);
        const f32v z = f32v_load(hits->z + begin + i), r2 = f32v_add(f32v_mul(x, x), f32v_mul(y, y));
        x_low = f32v_min(f32v_select(in, x, above), x_low);
        x_high = f32v_max(f32v_select(in, x, below), x_high);
        y_low = f32v_min(f32v_select(in, y, above), y_low);
        y_high = f32v_max(f32v_select(in, y, below), y_high);
        r2_low = f32v_min(f32v_select(in, r2, above), r2_low);
        r2_high = f32v_max(f32v_select(in, r2, below), r2_high);
        z_low = f32v_min(f32v_select(in, z, above), z_low);
        z_high = f32v_max(f32v_select(in, z, below), z_high);
    }
    if (n == 0) {
        return (slc_track_box){.x_low = INFINITY, .x_high = -INFINITY};
    }
    const float low = f32v_lowest(z_low), high = f32v_highest(z_high), r_high = sqrtf(f32v_highest(r2_high));
    return (slc_track_box){.z = 0.5f * (low + high),
                           .half_dz = 0.5f * (high - low) + 4e-6f * (fabsf(low) + fabsf(high)),
                           .x_low = f32v_lowest(x_low),
                           .x_high = f32v_highest(x_high),
                           .y_low = f32v_lowest(y_low),
                           .y_high = f32v_highest(y_high),
                           .r_low = sqrtf(f32v_lowest(r2_low)),
                           .r_high = r_high,
                           .margin = 1e-3f + 1e-5f * (r_high + fabsf(low) + fabsf(high))};
}

/* Hits that are sorted are neighbours in direction; others lie module behind module, and `split` of all that
 * the layer had are in the first one. Of these the boxes are kept where `again` tells that there are some:
 * what is left is in them too, and would hardly make them smaller. */
static void find_boxes(slc_track_layer *layer, bool sorted, bool again, uint32_t split, const uint8_t *gone)
{
    if (sorted) {
        const uint32_t boxes = (layer->n + SLC_TRACK_BOX_HITS - 1) / SLC_TRACK_BOX_HITS;
        layer->n_boxes = boxes < SLC_TRACK_BOXES ? boxes : SLC_TRACK_BOXES;
        for (uint32_t b = 0; b < layer->n_boxes; b++) {
            layer->edge[b] = layer->n * b / layer->n_boxes;
        }
    } else {
        uint32_t first = 0;
        for (uint32_t i = 0; i < split; i += 64) {
            const uint64_t bits = bits_left(gone + i, split - i);
            first += (uint32_t)__builtin_popcountll(split - i < 64 ? bits & ((UINT64_C(1) << (split - i)) - 1)
                                                                   : bits);
        }
        layer->n_boxes = 2;
        layer->edge[0] = 0;
        layer->edge[1] = first;
    }
    layer->edge[layer->n_boxes] = layer->n;
    if (again && !sorted) {
        return;
    }
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        layer->box[b] = box_of(layer, layer->edge[b], layer->edge[b + 1] - layer->edge[b]);
    }
}

static void refill(slc_track_work *work, uint32_t l)
{
    const size_t begin = work->begin[l], n = work->begin[l + 1] - begin;
    const slc_track_hits *all = &work->all;
    slc_track_layer *to = &work->layer[l];
    if (work->again) {
        to->n = keep_hits(to, all->x + begin, all->y + begin, all->z + begin, all->key + begin,
                          all->id + begin, n, work->used + begin);
    } else {
        to->n = (uint32_t)n; /* nobody has taken any */
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            f32v_store(to->x + i, f32v_load(all->x + begin + i));
            f32v_store(to->y + i, f32v_load(all->y + begin + i));
            f32v_store(to->z + i, f32v_load(all->z + begin + i));
            i32v_store(to->key + i, i32v_load(all->key + begin + i));
            u32v_store(to->id + i, u32v_load(all->id + begin + i));
        }
    }
    find_boxes(&work->layer[l], work->sorted, work->again, work->split[l] - work->begin[l],
               work->used + begin);
}

static void compact(slc_track_layer *layer, uint8_t *taken)
{
    const uint32_t n = layer->n;
    uint32_t edge[SLC_TRACK_BOXES + 1];
    memcpy(edge, layer->edge, sizeof edge);
    move_edges(layer, edge, taken);
    layer->n = keep_hits(layer, layer->x, layer->y, layer->z, layer->key, layer->id, n, taken);
    memset(taken, 0, n);
}

/* ---- tracks that have ended -------------------------------------------------------------------------------
 */

static uint32_t missing(const slc_track_work *work, const slc_velo_track_config *config, uint32_t upstream,
                        uint32_t downstream, uint64_t have)
{
    const slc_track_hits *all = &work->all;
    const float bx = all->x[upstream], by = all->y[upstream], bz = all->z[upstream];
    const float az = all->z[downstream], dz = az - bz;
    const float tx = (all->x[downstream] - bx) / dz, ty = (all->y[downstream] - by) / dz;
    const float closest = bz - (tx * bx + ty * by) / (tx * tx + ty * ty);
    const bool forward = bz > closest;
    const float low = config->missing_r_low_mm * config->missing_r_low_mm;
    const float high = config->missing_r_high_mm * config->missing_r_high_mm;
    /* Forward: layers above the upstream hit. Backward: below the downstream one, up to the beam line. */
    const float from = forward ? bz : -INFINITY, to = forward ? INFINITY : closest < az ? closest : az;
    uint32_t n = 0;
    for (uint32_t l = 0; l < work->n_layers; l += (uint32_t)SIMD_LANES) {
        const f32v z = f32v_load(work->layer_z + l), way = f32v_sub(z, f32v_set(bz));
        const f32v x = f32v_add(f32v_set(bx), f32v_mul(f32v_set(tx), way));
        const f32v y = f32v_add(f32v_set(by), f32v_mul(f32v_set(ty), way));
        const f32v r2 = f32v_add(f32v_mul(x, x), f32v_mul(y, y));
        const mask32 beside = mask32_and(f32v_gt(r2, f32v_set(low)), f32v_lt(r2, f32v_set(high)));
        const mask32 along = mask32_and(f32v_gt(z, f32v_set(from)), f32v_lt(z, f32v_set(to)));
        const mask32 empty = mask32_andnot(mask32_first(work->n_layers - l), mask32_of_bits(have >> l));
        n += (uint32_t)mask32_count(mask32_and(empty, mask32_and(beside, along)));
    }
    return n;
}

/* ---- missed hits -------------------------------------------------------------------------------------- */

/* A track's hits by layer, while missed ones are looked for. */
typedef struct course {
    const uint32_t *hits; /* downstream first */
    uint32_t n;
    uint32_t k; /* of them lie downstream of `layer` */
    uint32_t layer;
} course;

/* The squared distance between a hit and the course: the line through the nearest hits on both sides of its
 * layer, beyond an end through the last two. Infinite for a module that has a hit of the track. */
static float distance2(const slc_track_work *work, course *c, uint32_t hit)
{
    const slc_track_hits *all = &work->all;
    const uint32_t place = work->place[hit], layer = place / 2U;
    if (layer != c->layer) {
        c->layer = layer; /* layers come rising */
        while (c->k > 0 && work->place[c->hits[c->k - 1]] / 2U <= layer) {
            c->k--;
        }
    }
    uint32_t up = c->k;
    if (up < c->n && work->place[c->hits[up]] / 2U == layer) {
        if (work->place[c->hits[up]] == place) {
            return INFINITY;
        }
        up++;
    }
    const uint32_t a = c->hits[c->k == 0 ? 0 : up < c->n ? up : c->n - 1];
    const uint32_t b = c->hits[c->k == 0 ? 1 : up < c->n ? c->k - 1 : c->n - 2];
    const float length = all->z[a] - all->z[b], dz = all->z[hit] - all->z[a];
    const float tx = (all->x[a] - all->x[b]) / length, ty = (all->y[a] - all->y[b]) / length;
    const float dx = (all->x[hit] - all->x[a]) - tx * dz, dy = (all->y[hit] - all->y[a]) - ty * dz;
    return dx * dx + dy * dy;
}

static void pick(slc_track_work *work, uint32_t t, uint32_t hit)
{
    work->used[hit] = 1;
    work->before[hit] = work->ended.picked[t];
    work->ended.picked[t] = hit;
}

/* Hits left of all layers lie one behind the other, those of layer l from begin[l] on. Only those near the
 * line between the track's ends are looked at closely. */
static void pick_up(slc_track_work *work, uint32_t t, const uint32_t *begin)
{
    const slc_track_ended *ended = &work->ended;
    const slc_track_hits *all = &work->all, *left = &work->left;
    course way = {.hits = work->list + ended->begin[t], .n = ended->n[t], .k = ended->n[t]};
    const uint32_t first = way.hits[0], last = way.hits[way.n - 1];
    const uint32_t top = work->place[first] / 2U + SLC_TRACK_PICK_BEYOND;
    const uint32_t bottom = work->place[last] / 2U, beyond = SLC_TRACK_PICK_BEYOND;
    const uint32_t end = begin[top < work->n_layers ? top + 1 : work->n_layers];
    const float length = all->z[first] - all->z[last], max = work->config->pickup_mm2;
    const f32v x = f32v_set(all->x[last]), y = f32v_set(all->y[last]), z = f32v_set(all->z[last]);
    const f32v tx = f32v_set((all->x[first] - all->x[last]) / length);
    const f32v ty = f32v_set((all->y[first] - all->y[last]) / length);
    const f32v near = f32v_set(SLC_TRACK_PICK_NEAR_MM2);
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    float best = max;
    uint32_t found = UINT32_MAX, layer = UINT32_MAX;
    way.layer = UINT32_MAX;
    for (uint32_t i = begin[bottom > beyond ? bottom - beyond : 0]; i < end; i += 2 * lanes) {
        const f32v a = scatter_of(f32v_sub(f32v_load(left->x + i), x), f32v_sub(f32v_load(left->y + i), y),
                                  f32v_sub(f32v_load(left->z + i), z), tx, ty);
        const uint32_t j = i + lanes;
        const f32v b = scatter_of(f32v_sub(f32v_load(left->x + j), x), f32v_sub(f32v_load(left->y + j), y),
                                  f32v_sub(f32v_load(left->z + j), z), tx, ty);
        const mask32 near_a = f32v_lt(a, near), near_b = f32v_lt(b, near);
        if (!mask32_any(mask32_or(near_a, near_b))) {
            continue;
        }
        for (uint32_t at = i; at < end && at <= j; at += lanes) {
            uint64_t bits = mask32_bits(mask32_and(mask32_first(end - at), at == i ? near_a : near_b));
            for (; bits != 0; bits &= bits - 1) {
                const uint32_t hit = left->id[at + (uint32_t)__builtin_ctzll(bits)];
                const float distance = work->used[hit] != 0 ? INFINITY : distance2(work, &way, hit);
                if (work->place[hit] / 2U != layer) {
                    if (found != UINT32_MAX) {
                        pick(work, t, found);
                    }
                    layer = work->place[hit] / 2U;
                    best = max;
                    found = UINT32_MAX;
                }
                found = distance < best ? hit : found;
                best = distance < best ? distance : best;
            }
        }
    }
    if (found != UINT32_MAX) {
        pick(work, t, found);
    }
}

static void pick_up_all(slc_track_work *work)
{
    uint32_t begin[SLC_TRACK_LAYERS + 1];
    const slc_track_hits *left = &work->left;
    begin[0] = 0;
    for (uint32_t l = 0; l < work->n_layers; l++) {
        const size_t from = work->begin[l], n = work->begin[l + 1] - from;
        const uint32_t at = begin[l];
        slc_track_layer to = {.x = left->x + at,
                              .y = left->y + at,
                              .z = left->z + at,
                              .key = left->key + at,
                              .id = left->id + at};
        begin[l + 1] = at + keep_hits(&to, work->all.x + from, work->all.y + from, work->all.z + from,
                                      work->all.key + from, work->all.id + from, n, work->used + from);
    }
    for (uint32_t t = 0; t < work->ended.size; t++) {
        pick_up(work, t, begin);
    }
}

/* ---- joining --------------------------------------------------------------------------------------------
 */

static void set_slopes(slc_track_ended *e, uint32_t t)
{
    const float dz = e->z0[t] - e->z1[t];
    e->tx[t] = (e->x0[t] - e->x1[t]) / dz;
    e->ty[t] = (e->y0[t] - e->y1[t]) / dz;
}

static void set_ends(slc_track_work *work, uint32_t t)
{
    slc_track_ended *e = &work->ended;
    const slc_track_hits *all = &work->all;
    uint32_t first = work->list[e->begin[t]], last = work->list[e->begin[t] + e->n[t] - 1];
    for (uint32_t hit = e->picked[t]; hit != UINT32_MAX; hit = work->before[hit]) {
        first = all->z[hit] > all->z[first] ? hit : first;
        last = all->z[hit] < all->z[last] ? hit : last;
    }
    e->x0[t] = all->x[first];
    e->y0[t] = all->y[first];
    e->z0[t] = all->z[first];
    e->x1[t] = all->x[last];
    e->y1[t] = all->y[last];
    e->z1[t] = all->z[last];
    set_slopes(e, t);
}

/* Slopes as whole numbers of 16 bits; those beyond ±1 are at the ends. */
static inline u32v slope_step(f32v slope)
{
    const f32v step = f32v_mul(f32v_add(slope, f32v_set(1.0f)), f32v_set(32768.0f));
    /* A minimum passes over what is not a number. */
    return u32v_from_i32(i32v_truncate(f32v_max(f32v_min(step, f32v_set(65535.0f)), f32v_set(0))));
}

/* The tracks by rising dx/dz: codes, the step above the track, and columns of what a partner is judged by. */
static void sort_tracks(slc_track_work *work)
{
    const slc_track_ended *e = &work->ended;
    slc_track_slopes *s = &work->slopes;
    for (uint32_t t = 0; t < e->size; t += (uint32_t)SIMD_LANES) {
        const u32v step = slope_step(f32v_load(e->tx + t));
        u32v_store(s->unsorted + t, u32v_or(u32v_shl(step, 16), u32v_iota(t)));
    }
    sort(s->unsorted, e->size, s->room, s->code);
    for (uint32_t i = 0; i < e->size; i += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(e->size - i);
        const u32v t = u32v_select(in, u32v_and(u32v_load(s->code + i), u32v_set(0xFFFF)), u32v_set(0));
        f32v_store(s->tx + i, f32v_gather(e->tx, t));
        f32v_store(s->ty + i, f32v_gather(e->ty, t));
        f32v_store(s->x + i, f32v_gather(e->x0, t));
        f32v_store(s->y + i, f32v_gather(e->y0, t));
        f32v_store(s->z + i, f32v_gather(e->z0, t));
    }
}

/* Steps that a slope may differ by. */
static inline uint32_t window_half(const slc_track_work *work)
{
    const float half = work->config->merge_slope * 32768.0f;
    return half < 65535.0f ? (uint32_t)half + 2 : 0xFFFFU;
}

static inline uint32_t step_of(float slope)
{
    const float step = (slope + 1.0f) * 32768.0f;
    return step > 0 ? step < 65535.0f ? (uint32_t)step : 0xFFFFU : 0;
}

static inline uint32_t window_end(const slc_track_work *work, uint32_t a)
{
    return step_of(work->ended.tx[a]) + window_half(work);
}

/* Where the windows of all tracks begin. */
static void find_windows(slc_track_work *work)
{
    const slc_track_slopes *s = &work->slopes;
    const uint32_t half = window_half(work), n = work->ended.size;
    for (uint32_t i = 0, low = 0; i < n; i++) {
        while ((s->code[low] >> 16) + half < s->code[i] >> 16) {
            low++;
        }
        s->low[s->code[i] & 0xFFFFU] = low;
    }
}

/* And that of one whose slope has changed. */
static void find_window(slc_track_work *work, uint32_t a)
{
    const slc_track_slopes *s = &work->slopes;
    const uint32_t half = window_half(work), step = step_of(work->ended.tx[a]);
    uint32_t low = 0, n = work->ended.size;
    while (n > 0) {
        const uint32_t middle = n / 2;
        const bool below = (s->code[low + middle] >> 16) + half < step;
        low = below ? low + middle + 1 : low;
        n = below ? n - middle - 1 : middle;
    }
    s->low[a] = low;
}

/* The first track from `from` on that goes on upstream of track a; the number of tracks where there is none.
 */
static uint32_t partner(const slc_track_work *work, uint32_t a, uint32_t from)
{
    const slc_velo_track_config *config = work->config;
    const slc_track_ended *e = &work->ended;
    const slc_track_slopes *s = &work->slopes;
    const f32v atx = f32v_set(e->tx[a]), aty = f32v_set(e->ty[a]), zero = f32v_set(0);
    const f32v ax = f32v_set(e->x1[a]), ay = f32v_set(e->y1[a]), az = f32v_set(e->z1[a]);
    const f32v slope = f32v_set(config->merge_slope), reach = f32v_set(config->merge_mm2);
    const uint32_t last = window_end(work, a);
    uint32_t found = e->size;
    for (uint32_t i = s->low[a]; i < e->size && s->code[i] >> 16 <= last; i += (uint32_t)SIMD_LANES) {
        const f32v btx = f32v_load(s->tx + i), bty = f32v_load(s->ty + i);
        const f32v ex = f32v_sub(f32v_load(s->x + i), ax), ey = f32v_sub(f32v_load(s->y + i), ay);
        const f32v ez = f32v_sub(f32v_load(s->z + i), az);
        const mask32 alike = mask32_and(f32v_lt(f32v_abs(f32v_sub(atx, btx)), slope),
                                        f32v_lt(f32v_abs(f32v_sub(aty, bty)), slope));
        const mask32 near = mask32_and(f32v_lt(scatter_of(ex, ey, ez, atx, aty), reach),
                                       f32v_lt(scatter_of(ex, ey, ez, btx, bty), reach));
        uint64_t bits = mask32_bits(
            mask32_and(mask32_and(alike, near), mask32_and(f32v_lt(ez, zero), mask32_first(e->size - i))));
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t b = s->code[i + (uint32_t)__builtin_ctzll(bits)] & 0xFFFFU;
            found = b >= from && b < found && e->gone[b] == 0 ? b : found;
        }
    }
    return found;
}

/* Of a track and those that were joined to it. */
static uint32_t hits_of(const slc_track_work *work, uint32_t t)
{
    uint32_t n = 0;
    for (; t != UINT32_MAX; t = work->ended.next[t]) {
        n += work->ended.n[t];
        for (uint32_t hit = work->ended.picked[t]; hit != UINT32_MAX; hit = work->before[hit]) {
            n++;
        }
    }
    return n;
}

/* Each track in turn takes those upstream of it that go on with it; where layers do not come in the order of
 * their z, that may seem to be itself, or more hits than a track may have. The sorted columns keep what
 * tracks were before: only those of tracks that were not joined matter, and of them the downstream end and
 * the slopes of a track that was given others change after its own turn only. */
static void join_all(slc_track_work *work)
{
    slc_track_ended *e = &work->ended;
    if (e->size > SLC_TRACK_JOINED) {
        return;
    }
    for (uint32_t t = 0; t < e->size; t++) {
        set_ends(work, t);
    }
    sort_tracks(work);
    find_windows(work);
    for (uint32_t a = 0; a < e->size; a++) {
        uint32_t end = a, b = e->gone[a] != 0 ? e->size : partner(work, a, 0);
        for (; b < e->size; b = partner(work, a, b + 1)) {
            if (b == a || hits_of(work, a) + hits_of(work, b) > SLC_VELO_MAX_TRACK_HITS) {
                continue;
            }
            while (e->next[end] != UINT32_MAX) {
                end = e->next[end];
            }
            e->next[end] = b;
            e->gone[b] = 1;
            e->x1[a] = e->x1[b];
            e->y1[a] = e->y1[b];
            e->z1[a] = e->z1[b];
            set_slopes(e, a);
            find_window(work, a);
        }
    }
}

const slc_velo_track_tools SIMD_TABLE(slc_velo_track_tools) = {
    .target = SIMD_TARGET_NAME,
    .direct = direct,
    .sort = sort_hits,
    .refill = refill,
    .compact = compact,
    .missing = missing,
    .pick_up_all = pick_up_all,
    .join_all = join_all,
};
