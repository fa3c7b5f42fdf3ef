/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tools of the track search: a particle that the search lost on its way is found again as a track of
 * its own, and the two become one. Few tracks do; so those that have a neighbour in slope
 * are found first, all in vectors, and only these are looked at closely. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_JOIN_H
#define SLUICE_VELO_TRACK_JOIN_H

#include "velo/velo_track_ends.h"

#include <math.h>

/* ---- tracks by slope ---------------------------------------------------------------------------------- */

static void set_slopes(slc_track_ended *e, uint32_t t)
{
    const float dz = e->z0[t] - e->z1[t];
    e->tx[t] = (e->x0[t] - e->x1[t]) / dz;
    e->ty[t] = (e->y0[t] - e->y1[t]) / dz;
}

/* Slopes as whole numbers of 16 bits; those beyond ±1 are at the ends. */
static inline u32v slope_step(f32v slope)
{
    const f32v step = f32v_mul(f32v_add(slope, f32v_set(1.0f)), f32v_set(32768.0f));
    /* A minimum passes over what is not a number. */
    return u32v_from_i32(i32v_truncate(f32v_max(f32v_min(step, f32v_set(65535.0f)), f32v_set(0))));
}

/* Puts numbers into the order of 8 of their bits, those that are equal in these stay in their own. */
static void sort_by_byte(const uint32_t *from, uint32_t n, unsigned shift, uint32_t *to)
{
    enum { BYTES = 256 };
    uint32_t begin[BYTES + SIMD_MAX_LANES] = {0};
    for (uint32_t i = 0; i < n; i++) {
        begin[from[i] >> shift & (BYTES - 1)]++;
    }
    u32v before = u32v_set(0);
    for (size_t b = 0; b < BYTES; b += SIMD_LANES) {
        const u32v count = u32v_load(begin + b), sum = u32v_add(u32v_running_sum(count), before);
        before = u32v_permute(sum, u32v_set((uint32_t)SIMD_LANES - 1));
        u32v_store(begin + b, u32v_sub(sum, count));
    }
    for (uint32_t i = 0; i < n; i++) {
        to[begin[from[i] >> shift & (BYTES - 1)]++] = from[i];
    }
}

/* The tracks by rising dx/dz: codes, the step above the track, and the slopes. */
static void sort_tracks(slc_track_work *work)
{
    slc_track_ended *e = &work->ended;
    slc_track_slopes *s = &work->slopes;
    for (uint32_t t = 0; t < e->size; t += (uint32_t)SIMD_LANES) {
        const f32v dz = f32v_sub(f32v_load(e->z0 + t), f32v_load(e->z1 + t));
        const f32v tx = f32v_div(f32v_sub(f32v_load(e->x0 + t), f32v_load(e->x1 + t)), dz);
        const f32v ty = f32v_div(f32v_sub(f32v_load(e->y0 + t), f32v_load(e->y1 + t)), dz);
        f32v_store(e->tx + t, tx);
        f32v_store(e->ty + t, ty);
        u32v_store(s->unsorted + t, u32v_or(u32v_shl(slope_step(tx), 16), u32v_iota(t)));
    }
    sort_by_byte(s->unsorted, e->size, 16, s->room);
    sort_by_byte(s->room, e->size, 24, s->code);
    for (uint32_t i = 0; i < e->size; i += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(e->size - i);
        const u32v t = u32v_select(in, u32v_and(u32v_load(s->code + i), u32v_set(0xFFFF)), u32v_set(0));
        f32v_store(s->tx + i, f32v_gather(e->tx, t));
        f32v_store(s->ty + i, f32v_gather(e->ty, t));
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

/* The place where the window of a track begins. */
static uint32_t find_window(const slc_track_work *work, uint32_t a)
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
    return low;
}

/* ---- neighbours ---------------------------------------------------------------------------------------- */

static inline mask32 are_alike(const slc_track_work *work, f32v atx, f32v aty, f32v btx, f32v bty)
{
    const f32v slope = f32v_set(work->config->merge_slope);
    return mask32_and(f32v_lt(f32v_abs(f32v_sub(atx, btx)), slope),
                      f32v_lt(f32v_abs(f32v_sub(aty, bty)), slope));
}

/* Sets the bits of the tracks that another one is like in both slopes. Of all tracks in the lanes at once:
 * the next one of each in the order, the one behind it, as long as these are within anybody's window. */
static void find_neighbours(slc_track_work *work, uint64_t *has)
{
    const slc_track_slopes *s = &work->slopes;
    const uint32_t n = work->ended.size;
    const u32v half = u32v_set(window_half(work)), one = u32v_set(1), none = u32v_set(0);
    uint32_t *mark = s->room; /* of a place in the order: that it has */
    memset(mark, 0, n * sizeof *mark);
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
        const u32v step = u32v_shr(u32v_load(s->code + i), 16);
        const f32v tx = f32v_load(s->tx + i), ty = f32v_load(s->ty + i);
        for (uint32_t j = i + 1; j < n; j++) {
            work->compared += SIMD_LANES;
            const u32v apart = u32v_sub(u32v_shr(u32v_load(s->code + j), 16), step);
            const mask32 within = mask32_and(mask32_first(n - j), u32v_le(apart, half));
            if (!mask32_any(within)) {
                break;
            }
            const mask32 alike = mask32_and(
                within, are_alike(work, tx, ty, f32v_load(s->tx + j), f32v_load(s->ty + j)));
            if (mask32_any(alike)) {
                const u32v set = u32v_select(alike, one, none);
                u32v_store(mark + i, u32v_or(u32v_load(mark + i), set));
                u32v_store(mark + j, u32v_or(u32v_load(mark + j), set));
            }
        }
    }
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
        uint64_t bits = mask32_bits(mask32_and(mask32_first(n - i), u32v_ne(u32v_load(mark + i), none)));
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t t = s->code[i + (uint32_t)__builtin_ctzll(bits)] & 0xFFFFU;
            has[t / 64] |= UINT64_C(1) << t % 64;
        }
    }
}

/* How far, squared, the downstream end of track b is from the line with these slopes through the upstream end
 * of track a. */
static inline float distance2_of_end(const slc_track_ended *e, uint32_t a, uint32_t b, float tx, float ty)
{
    const float ex = e->x0[b] - e->x1[a], ey = e->y0[b] - e->y1[a], ez = e->z0[b] - e->z1[a];
    const float dx = ex - tx * ez, dy = ey - ty * ez;
    return dx * dx + dy * dy;
}

/* The first track from `from` on that goes on upstream of track a, whose window begins there; the number of
 * tracks where there is none. */
static uint32_t partner(slc_track_work *work, uint32_t a, uint32_t begin, uint32_t from)
{
    const slc_track_ended *e = &work->ended;
    const slc_track_slopes *s = &work->slopes;
    const f32v atx = f32v_set(e->tx[a]), aty = f32v_set(e->ty[a]);
    const float reach = work->config->merge_mm2;
    const uint32_t last = window_end(work, a);
    uint32_t found = e->size;
    for (uint32_t i = begin; i < e->size && s->code[i] >> 16 <= last; i += (uint32_t)SIMD_LANES) {
        work->compared += SIMD_LANES;
        const mask32 alike = are_alike(work, atx, aty, f32v_load(s->tx + i), f32v_load(s->ty + i));
        uint64_t bits = mask32_bits(mask32_and(alike, mask32_first(e->size - i)));
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t place = i + (uint32_t)__builtin_ctzll(bits), b = s->code[place] & 0xFFFFU;
            const bool upstream = e->z0[b] - e->z1[a] < 0;
            const bool near = distance2_of_end(e, a, b, e->tx[a], e->ty[a]) < reach &&
                              distance2_of_end(e, a, b, s->tx[place], s->ty[place]) < reach;
            found = upstream && near && b >= from && b < found && e->gone[b] == 0 ? b : found;
        }
    }
    return found;
}

/* ---- joining ------------------------------------------------------------------------------------------- */

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

/* Track a takes those upstream of it that go on with it; where layers do not come in the order of their z,
 * that may seem to be itself, or more hits than a track may have. */
static void join(slc_track_work *work, uint32_t a)
{
    slc_track_ended *e = &work->ended;
    uint32_t end = a, begin = find_window(work, a),
             b = e->gone[a] != 0 ? e->size : partner(work, a, begin, 0);
    for (; b < e->size; b = partner(work, a, begin, b + 1)) {
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
        begin = find_window(work, a);
    }
}

/* Each track in turn; those without a neighbour have nothing to take. The sorted columns keep what tracks
 * were before: only those of tracks that were not joined matter, and of them the downstream end and the
 * slopes of a track that was given others change after its own turn only. */
static void join_all(slc_track_work *work)
{
    const uint32_t n = work->ended.size;
    if (n > SLC_TRACK_JOINED) {
        return;
    }
    for (uint32_t t = work->ended.with_ends; t < n; t++) {
        set_ends(work, t);
    }
    sort_tracks(work);
    uint64_t has[SLC_TRACK_JOINED / 64];
    memset(has, 0, (n + 63) / 64 * sizeof has[0]);
    find_neighbours(work, has);
    for (uint32_t t = 0; t < n; t += 64) {
        for (uint64_t bits = has[t / 64]; bits != 0; bits &= bits - 1) {
            join(work, t + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

#endif
