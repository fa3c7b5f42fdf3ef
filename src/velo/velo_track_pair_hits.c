/* SPDX-License-Identifier: Apache-2.0
 *
 * What the baselines of the track search share (velo_track_pair_hits.h): sorting hits by phi, looking in a
 * window of phi, and writing tracks. Plain scalar code, as the algorithms that it serves were published.
 */
#include "velo/velo_track_pair_hits.h"

#include <math.h>
#include <string.h>

/* ---- angles ---------------------------------------------------------------------------------------- */

#define QUARTER 0x40000000U
/* Half a circle is 2^31, pi. */
#define PER_RADIAN 683565275.6f

/* The arctangent of 0 … 1: polynomial of M. Abramowitz and I. Stegun, 4.4.49, which is wrong by 1e-5 at most.
 */
static float arctangent(float t)
{
    const float s = t * t;
    return t * (0.9998660f + s * (-0.3302995f + s * (0.1801410f + s * (-0.0851330f + s * 0.0208351f))));
}

/* *per_mm is 1 / max(|x|, |y|), which is at least 1 / r. */
static inline uint32_t direct(float x, float y, float *per_mm)
{
    const float ax = fabsf(x), ay = fabsf(y);
    const float low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
    *per_mm = 1 / high;
    const float t = low * *per_mm;
    if (!(t <= 1)) { /* on the axis, or no number */
        return 0;
    }
    uint32_t angle = (uint32_t)(arctangent(t) * PER_RADIAN);
    angle = ax < ay ? QUARTER - angle : angle;
    angle = x < 0 ? 2 * QUARTER - angle : angle;
    return y < 0 ? 0U - angle : angle;
}

uint32_t slc_pair_angle(float x, float y)
{
    float per_mm;
    return direct(x, y, &per_mm);
}

/* ---- sorting --------------------------------------------------------------------------------------- */

/* By rising key; fast where little is out of place. */
static void sort_by_insertion(uint32_t *key, uint32_t *id, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t this_key = key[i], this_id = id[i];
        uint32_t k = i;
        for (; k > 0 && key[k - 1] > this_key; k--) {
            key[k] = key[k - 1];
            id[k] = id[k - 1];
        }
        key[k] = this_key;
        id[k] = this_id;
    }
}

/* Spreads over buckets of the highest eight bits, in order, so that insertion has little left to do. */
static void spread(const uint32_t *key, const uint32_t *id, uint32_t n, uint32_t *to_key, uint32_t *to_id)
{
    uint32_t begin[257] = {0};
    for (uint32_t i = 0; i < n; i++) {
        begin[(key[i] >> 24) + 1]++;
    }
    for (uint32_t b = 0; b < 256; b++) {
        begin[b + 1] += begin[b];
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = begin[key[i] >> 24]++;
        to_key[at] = key[i];
        to_id[at] = id[i];
    }
}

enum { INSERT_AT_MOST = 96 };

/* One group: `from` are the columns of the event, key and id scratch. */
static void sort_group(const slc_track_hits *from, uint32_t begin, uint32_t end, uint32_t *key, uint32_t *id,
                       slc_pair_hits *to)
{
    const uint32_t n = end - begin;
    uint32_t *angle = to->angle + begin, *index = to->index + begin;
    if (n > INSERT_AT_MOST) {
        for (uint32_t i = 0; i < n; i++) {
            key[i] = slc_pair_angle(from->x[begin + i], from->y[begin + i]);
            id[i] = begin + i;
        }
        spread(key, id, n, angle, index);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            angle[i] = slc_pair_angle(from->x[begin + i], from->y[begin + i]);
            index[i] = begin + i;
        }
    }
    sort_by_insertion(angle, index, n);
    for (uint32_t i = begin; i < end; i++) {
        to->x[i] = from->x[to->index[i]];
        to->y[i] = from->y[to->index[i]];
        to->z[i] = from->z[to->index[i]];
    }
}

/* Where the sectors of a sorted group begin. */
static void find_sectors(slc_pair_hits *hits, uint32_t group)
{
    const uint32_t *angle = hits->angle + hits->begin[group];
    const uint32_t n = hits->begin[group + 1] - hits->begin[group];
    uint32_t i = 0;
    for (uint32_t sector = 0; sector < SLC_PAIR_SECTORS; sector++) {
        while (i < n && angle[i] >> (32 - SLC_PAIR_SECTOR_BITS) < sector) {
            i++;
        }
        hits->start[group][sector] = (uint16_t)i;
    }
}

/* False where hits are not sorted by module. */
static bool find_groups(const uint8_t *module, uint32_t n, uint32_t modules, slc_pair_hits *to)
{
    uint32_t i = 0;
    to->n = n;
    to->n_groups = SLC_VELO_MODULES / modules;
    for (uint32_t g = 0; g < to->n_groups; g++) {
        to->begin[g] = i;
        for (uint32_t m = g * modules; m < (g + 1) * modules; m++) {
            while (i < n && module[i] == m) {
                i++;
            }
        }
    }
    to->begin[to->n_groups] = i;
    return i == n;
}

static bool is_crowded(const slc_pair_hits *hits, uint32_t limit)
{
    const uint32_t groups = hits->n_groups / SLC_VELO_LAYERS;
    for (uint32_t g = 0; g < hits->n_groups; g += groups) {
        const uint32_t n = hits->begin[g + groups] - hits->begin[g];
        if (n > limit || n > SLC_TRACK_LAYER_HITS) {
            return true;
        }
    }
    return false;
}

slc_status slc_pair_take_hits(slc_track_work *work, const slc_velo_hits *hits, uint32_t e, uint32_t modules,
                              slc_pair_hits *to, bool *crowded)
{
    const size_t first = hits->head.event_offset[e];
    const uint32_t n = (uint32_t)(hits->head.event_offset[e + 1] - first);
    /* As they are seen from the beam line. */
    const slc_track_hits from = {.x = work->of_half.x, .y = work->of_half.y, .z = hits->z_mm + first};
    for (uint32_t i = 0; i < n; i++) {
        from.x[i] = hits->x_mm[first + i] - work->config->beam_x_mm;
        from.y[i] = hits->y_mm[first + i] - work->config->beam_y_mm;
    }
    if (!find_groups(hits->module + first, n, modules, to)) {
        return SLC_ERR_USAGE;
    }
    *crowded = is_crowded(to, work->config->max_layer_hits);
    if (*crowded) {
        return SLC_OK;
    }
    to->x = work->in_order.x;
    to->y = work->in_order.y;
    to->z = work->in_order.z;
    to->angle = (uint32_t *)work->in_order.key;
    to->index = work->order_index;
    to->used = work->used;
    memset(to->used, 0, n);
    for (uint32_t g = 0; g < to->n_groups; g++) {
        sort_group(&from, to->begin[g], to->begin[g + 1], (uint32_t *)work->of_half.key, work->of_half.id,
                   to);
        find_sectors(to, g);
    }
    return SLC_OK;
}

/* ---- looking --------------------------------------------------------------------------------------- */

/* Half of the window of phi that holds all hits of the group within `distance` of the line: the arcsine of
 * distance / r is at most pi / 2 times it. The sensors of a group are not all at one z, for which the
 * distance is enlarged. */
static inline uint32_t window_around(const slc_pair_hits *hits, uint32_t group, const slc_pair_line *line,
                                     float distance, uint32_t *centre)
{
    const float dz = hits->z[hits->begin[group]] - line->z;
    const float slope = fabsf(line->tx) + fabsf(line->ty);
    const float far = distance + slope * (hits->n_groups == SLC_VELO_MODULES ? 2 : 14);
    float per_mm;
    *centre = direct(line->x + line->tx * dz, line->y + line->ty * dz, &per_mm);
    return far * per_mm < 1 ? (uint32_t)(far * per_mm * (float)QUARTER) : 2 * QUARTER;
}

uint32_t slc_pair_closest(const slc_pair_hits *hits, uint32_t group, const slc_pair_line *line,
                          float max_scatter)
{
    const uint32_t begin = hits->begin[group], end = hits->begin[group + 1];
    if (begin == end) {
        return UINT32_MAX;
    }
    uint32_t centre;
    const uint32_t half = window_around(hits, group, line, sqrtf(max_scatter), &centre);
    const uint32_t low = centre - half, wide = half < 2 * QUARTER ? 2 * half : UINT32_MAX;
    uint32_t i = slc_pair_lower_bound(hits, group, low), best = UINT32_MAX;
    float best_scatter = max_scatter;
    for (uint32_t left = end - begin; left > 0; left--, i++) {
        i = i == end ? begin : i;
        if (hits->angle[i] - low > wide) {
            break;
        }
        const float scatter = slc_pair_scatter(hits, i, line);
        if (scatter < best_scatter && hits->used[i] == 0) {
            best_scatter = scatter;
            best = i;
        }
    }
    return best;
}

/* ---- tracks ---------------------------------------------------------------------------------------- */

float slc_pair_chi2_of_three(const slc_pair_hits *hits, uint32_t a, uint32_t b, uint32_t c, float sigma_mm)
{
    const float f = (hits->z[b] - hits->z[a]) / (hits->z[c] - hits->z[a]), g = 1 - f;
    const float dx = hits->x[b] - (g * hits->x[a] + f * hits->x[c]);
    const float dy = hits->y[b] - (g * hits->y[a] + f * hits->y[c]);
    return (dx * dx + dy * dy) / (sigma_mm * sigma_mm * (1 + f * f + g * g));
}

void slc_pair_write(const slc_pair_hits *hits, const uint32_t *list, uint32_t n, const slc_pair_output *out)
{
    const size_t row = out->tracks->head.size++;
    uint32_t *to = out->track_hits->hit + out->track_hits->head.size;
    float scatter = 0;
    for (uint32_t k = 0; k < n; k++) {
        hits->used[list[k]] = 1;
        to[k] = hits->index[list[k]];
        if (k >= 2) {
            const slc_pair_line line = slc_pair_line_through(hits, list[k - 1], list[k - 2]);
            scatter += slc_pair_scatter(hits, list[k], &line);
        }
    }
    out->tracks->hit_begin[row] = (uint32_t)out->track_hits->head.size - out->first;
    out->tracks->n_hits[row] = n;
    out->tracks->scatter_mm2[row] = scatter;
    out->track_hits->head.size += n;
}
