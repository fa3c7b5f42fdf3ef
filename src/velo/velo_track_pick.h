/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tools of the track search: hits that a track missed. Tracks are in the lanes first, and hits come
 * one after the other, to find the few tracks that have hits near by; for these hits are in the lanes.
 * Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_PICK_H
#define SLUICE_VELO_TRACK_PICK_H

#include "velo/velo_track_ends.h"
#include "velo/velo_track_left.h"
#include "velo/velo_track_scatter.h"

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

/* ---- which tracks have hits near by ------------------------------------------------------------------- */

/* The ends of the tracks from `from` on, and what lies left of the layers between `beyond` layers below and
 * above them: in the order of their z, from low[t] to high[t]. The slopes come a vector at a time. */
static void find_ends(slc_track_work *work, const uint32_t *begin, uint32_t from)
{
    enum { BEYOND = SLC_TRACK_PICK_BEYOND };
    slc_track_ended *e = &work->ended;
    const slc_track_hits *all = &work->all;
    uint32_t *low = work->slopes.unsorted, *high = work->slopes.room;
    for (uint32_t t = from; t < e->size; t++) {
        const uint32_t *hits = work->list + e->begin[t];
        const uint32_t first = hits[0], last = hits[e->n[t] - 1];
        const uint32_t top = work->place[first] / 2U + BEYOND, bottom = work->place[last] / 2U;
        low[t] = begin[bottom > BEYOND ? bottom - BEYOND : 0];
        high[t] = begin[top < work->n_layers ? top + 1 : work->n_layers];
        e->x0[t] = all->x[first];
        e->y0[t] = all->y[first];
        e->z0[t] = all->z[first];
        e->x1[t] = all->x[last];
        e->y1[t] = all->y[last];
        e->z1[t] = all->z[last];
    }
    for (uint32_t t = from; t < e->size; t += (uint32_t)SIMD_LANES) {
        const f32v length = f32v_sub(f32v_load(e->z0 + t), f32v_load(e->z1 + t));
        f32v_store(e->tx + t, f32v_div(f32v_sub(f32v_load(e->x0 + t), f32v_load(e->x1 + t)), length));
        f32v_store(e->ty + t, f32v_div(f32v_sub(f32v_load(e->y0 + t), f32v_load(e->y1 + t)), length));
    }
}

/* The largest |z| of the hits that are left. */
static float farthest(const float *z, size_t n)
{
    f32v far = f32v_set(0);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        far = f32v_max(f32v_select(mask32_first(n - i), f32v_abs(f32v_load(z + i)), far), far);
    }
    return f32v_highest(far);
}

/* The squared distance of a hit from lines that pass z = 0 at (x, y), roughly. */
static inline f32v roughly(const slc_track_hits *left, uint32_t hit, f32v x, f32v y, f32v tx, f32v ty)
{
    const f32v z = f32v_set(left->z[hit]);
    const f32v dx = f32v_sub(f32v_set(left->x[hit]), f32v_add(x, f32v_mul(tx, z)));
    const f32v dy = f32v_sub(f32v_set(left->y[hit]), f32v_add(y, f32v_mul(ty, z)));
    return f32v_add(f32v_mul(dx, dx), f32v_mul(dy, dy));
}

/* Narrows low[] and high[] of the tracks from t on, one a lane, to the hits that may be near the line between
 * their ends: few tracks have any, and these few. What is rounded off is added to the distance, so that none
 * is left out; where that is not a number, all hits are kept. Returns the tracks that have hits, as bits. */
static uint64_t narrow(slc_track_work *work, uint32_t t, float far)
{
    const slc_track_ended *e = &work->ended;
    uint32_t *low = work->slopes.unsorted + t, *high = work->slopes.room + t;
    const mask32 in = mask32_first(e->size - t);
    const f32v x1 = f32v_load(e->x1 + t), y1 = f32v_load(e->y1 + t), z1 = f32v_load(e->z1 + t);
    const f32v tx = f32v_load(e->tx + t), ty = f32v_load(e->ty + t);
    const f32v x = f32v_sub(x1, f32v_mul(tx, z1)), y = f32v_sub(y1, f32v_mul(ty, z1));
    const f32v way = f32v_mul(f32v_add(f32v_abs(tx), f32v_abs(ty)), f32v_add(f32v_abs(z1), f32v_set(far)));
    const f32v size = f32v_add(f32v_add(f32v_abs(x1), f32v_abs(y1)), way);
    const f32v rounded = f32v_mul(size, f32v_set(2e-6f));
    const f32v reach = f32v_add(f32v_set(sqrtf(SLC_TRACK_PICK_NEAR_MM2) + 1e-4f), rounded);
    const f32v near = f32v_add(f32v_mul(reach, reach), f32v_sub(rounded, rounded));
    const uint32_t from = u32v_lowest(u32v_select(in, u32v_load(low), u32v_set(UINT32_MAX)));
    const uint32_t end = u32v_highest(u32v_select(in, u32v_load(high), u32v_set(0)));
    u32v first = u32v_set(end), behind = u32v_set(0);
    work->compared += end > from ? (uint64_t)(end - from) * SIMD_LANES : 0;
    for (uint32_t k = from; k < end; k += 4) {
        const slc_track_hits *left = &work->left;
        const f32v a = f32v_min(roughly(left, k, x, y, tx, ty), roughly(left, k + 1, x, y, tx, ty));
        const f32v b = f32v_min(roughly(left, k + 2, x, y, tx, ty), roughly(left, k + 3, x, y, tx, ty));
        const mask32 away = f32v_ge(f32v_min(a, b), near);
        if (!mask32_every(away)) {
            first = u32v_select(away, first, u32v_min(first, u32v_set(k)));
            behind = u32v_select(away, behind, u32v_set(k + 4));
        }
    }
    first = u32v_max(first, u32v_load(low));
    behind = u32v_min(behind, u32v_load(high));
    u32v_store(low, first);
    u32v_store(high, behind);
    return mask32_bits(mask32_and(in, u32v_lt(first, behind)));
}

/* ---- picking them up ---------------------------------------------------------------------------------- */

/* Looks closely at the hits near the line between the track's ends, which lie one behind the other by layers,
 * and takes the best of each layer. */
static void pick_up(slc_track_work *work, uint32_t t)
{
    const slc_track_ended *e = &work->ended;
    const slc_track_hits *left = &work->left;
    course way = {.hits = work->list + e->begin[t], .n = e->n[t], .k = e->n[t], .layer = UINT32_MAX};
    const f32v x = f32v_set(e->x1[t]), y = f32v_set(e->y1[t]), z = f32v_set(e->z1[t]);
    const f32v tx = f32v_set(e->tx[t]), ty = f32v_set(e->ty[t]), near = f32v_set(SLC_TRACK_PICK_NEAR_MM2);
    const float max = work->config->pickup_mm2;
    const uint32_t end = work->slopes.room[t];
    float best = max;
    uint32_t found = UINT32_MAX, layer = UINT32_MAX;
    for (uint32_t i = work->slopes.unsorted[t]; i < end; i += (uint32_t)SIMD_LANES) {
        const f32v distances = scatter_of(f32v_sub(f32v_load(left->x + i), x),
                                          f32v_sub(f32v_load(left->y + i), y),
                                          f32v_sub(f32v_load(left->z + i), z), tx, ty);
        uint64_t bits = mask32_bits(mask32_and(mask32_first(end - i), f32v_lt(distances, near)));
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t hit = left->id[i + (uint32_t)__builtin_ctzll(bits)];
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
    if (found != UINT32_MAX) {
        pick(work, t, found);
    }
}

/* For the tracks from `first` on. */
static void pick_up_all(slc_track_work *work, uint32_t first)
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
    find_ends(work, begin, first);
    const float far = farthest(left->z, begin[work->n_layers]);
    for (uint32_t t = first; t < work->ended.size; t += (uint32_t)SIMD_LANES) {
        for (uint64_t bits = narrow(work, t, far); bits != 0; bits &= bits - 1) {
            const uint32_t track = t + (uint32_t)__builtin_ctzll(bits);
            pick_up(work, track);
            set_ends(work, track);
        }
    }
    work->ended.with_ends = work->ended.size;
}

#endif
