/* SPDX-License-Identifier: Apache-2.0
 * UT to SciFi. */
#include "hlt1/hlt1_forward.h"
#include "hlt1/hlt1_momentum.h"
#include "hlt1/hlt1_upstream.h"

#include <math.h>
#include <string.h>

enum { NO_HIT = -1, MAX_TRIPLETS = 32, LEAST_HITS = 9, LEAST_BENT = 11 };

static const float start_z_mm = 2642.0f;
static const float window_mm = 150.0f, window_per_q = 2e6f, outer_mm = 100.0f, stereo_mm = 800.0f;
static const float triplet_limit = 8.0f, x_limit = 2.0f, stereo_limit = 50.0f, y_scale = 800.0f;
static const float max_bend_y = 0.02f;
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};
static const uint32_t sets[2][3] = {{0, 4, 8}, {3, 7, 11}};
static const float factors[13] = {[9] = 5.0f, [10] = 1.0f, [11] = 0.8f, [12] = 0.5f};

void slc_hlt1_forward_tables_make(const slc_hlt1_geometry *geometry, slc_hlt1_forward_tables *tables)
{
    static const float dxdy[4] = {0, 0.087489f, -0.087489f, 0};
    *tables = (slc_hlt1_forward_tables){.params = geometry->forward, .polarity = geometry->polarity};
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        tables->dxdy[k] = dxdy[k % 4];
    }
}

/* A layer where the track is expected: hits that come into question. */
typedef struct layer {
    const float *x; /* of the zone's hits */
    uint32_t n;     /* of them */
    uint32_t row;   /* of the first in the event */
    uint32_t begin, end;
    float z, d, y, velo_x; /* at the height of the track; d = z - SLC_HLT1_SCIFI_Z_MM */
    float y1, y2, y3;      /* of tilted layers: y by powers of what x is more than velo_x */
} layer;

/* Everything that is of the track and not of its candidates. */
typedef struct search {
    const slc_hlt1_forward_config *config;
    const slc_hlt1_forward_tables *tables;
    slc_hlt1_line velo; /* and what the UT makes of it */
    float tx, q_over_p;
    float magnet_z, magnet_x; /* of the VELO's line */
    float tolerance;          /* there */
    float bend;               /* the sign of the slope's change in the magnet */
    float kick;               /* slope times momentum that the magnet gives */
    bool free;                /* without a momentum from the UT */
    uint32_t min_hits;
    const uint8_t *used; /* hits that are not to be taken, by row in the event; NULL: none */
    layer layers[SLC_SCIFI_LAYERS];
} search;

typedef struct triplet {
    float distance2;
    uint32_t set;
    uint32_t hit[3]; /* in their zones */
} triplet;

/* ---- where the track is expected ---------------------------------------------------------------- */

static float kick_of(const slc_hlt1_forward_params *params, uint32_t station, float tx, float ty,
                     float polarity)
{
    float sum = 0, power_x = 1;
    for (int a = 0; a < 5; a++) {
        float power = power_x;
        for (int b = 0; b < 5; b++) {
            sum += params->kick[station][a][b] * power;
            power *= ty;
        }
        power_x *= polarity < 0 ? tx : -tx; /* odd powers change sign with the polarity */
    }
    return sum;
}

static void find_window(search *s, const slc_hlt1_event *event, uint32_t k, float x_magnet, float slope,
                        bool upper)
{
    layer *at = &s->layers[k];
    const slc_hlt1_forward_params *params = s->tables->params;
    const float zone_z = params->zone_z_mm[k], ty = s->velo.ty;
    const bool stereo = s->tables->dxdy[k] != 0;
    at->y = (s->velo.y + ty * (zone_z - s->velo.z)) / (1.0f - ty * SLC_SCIFI_DZDY);
    at->z = zone_z + at->y * SLC_SCIFI_DZDY;
    at->d = at->z - SLC_HLT1_SCIFI_Z_MM;
    at->velo_x = s->velo.x + s->velo.tx * (at->z - s->velo.z);
    const uint32_t zone = 2 * k + (upper ? 1 : 0);
    at->row = event->scifi_begin[zone];
    at->n = event->scifi_begin[zone + 1] - at->row;
    at->x = event->scifi_x + at->row;
    const float centre = x_magnet + slope * (at->z - s->magnet_z) - at->y * s->tables->dxdy[k];
    const float turn = s->free ? fabsf(s->kick * s->q_over_p) * (at->z - s->magnet_z) : 0;
    const float reach = s->free  ? turn + window_mm
                        : stereo ? stereo_mm
                                 : window_mm + window_per_q * fabsf(s->q_over_p);
    const float low = centre - reach - (!stereo && s->bend < 0 ? outer_mm : 0),
                high = centre + reach + (!stereo && s->bend > 0 ? outer_mm : 0);
    at->begin = slc_hlt1_lower(at->x, at->n, low);
    at->end = at->begin + slc_hlt1_lower(at->x + at->begin, at->n - at->begin, high);
    if (at->end - at->begin > s->config->max_hits && !stereo && !s->free) {
        const uint32_t middle = at->begin + slc_hlt1_lower(at->x + at->begin, at->end - at->begin, centre);
        const uint32_t half = s->config->max_hits / 2, most = at->end - s->config->max_hits;
        const uint32_t from = middle > at->begin + half ? middle - half : at->begin;
        at->begin = from < most ? from : most;
        at->end = at->begin + s->config->max_hits;
    }
}

static bool is_filled(const search *s, uint32_t a, uint32_t b, uint32_t c)
{
    return s->layers[a].begin < s->layers[a].end && s->layers[b].begin < s->layers[b].end &&
           s->layers[c].begin < s->layers[c].end;
}

/* In x, in the middle of the magnet. */
static float tolerance_of(float q_over_p)
{
    return 8.0f + 32.0f * (fabsf(q_over_p) < 5e-4f ? fabsf(q_over_p) / 5e-4f : 1.0f);
}

static bool is_possible(const search *s)
{
    const layer *l = s->layers;
    return (is_filled(s, 0, 4, 8) || is_filled(s, 3, 7, 11)) &&
           (l[1].begin < l[1].end || l[2].begin < l[2].end) &&
           (l[5].begin < l[5].end || l[6].begin < l[6].end) &&
           (l[9].begin < l[9].end || l[10].begin < l[10].end);
}

static bool begin_search(search *s, const slc_hlt1_event *event, const slc_hlt1_upstream *upstream, size_t t)
{
    const uint32_t v = upstream->velo_track[t];
    const slc_hlt1_forward_params *params = s->tables->params;
    s->velo = (slc_hlt1_line){event->x[v], event->y[v], event->z[v], event->tx[v], event->ty[v]};
    s->tx = upstream->tx[t];
    s->q_over_p = upstream->q_over_p[t];
    s->magnet_z = params->magnet_z_mm[0];
    s->magnet_x = s->velo.x + s->velo.tx * (s->magnet_z - s->velo.z);
    const float start = upstream->x_mm[t] + s->tx * (start_z_mm - upstream->z_mm[t]);
    const float x_magnet = start + s->tx * (s->magnet_z - start_z_mm);
    const float q = -s->tables->polarity * s->q_over_p;
    const bool upper = s->velo.y + s->velo.ty * (params->zone_z_mm[0] - s->velo.z) > 0;
    float slope[SLC_SCIFI_STATIONS];
    for (uint32_t k = 0; k < SLC_SCIFI_STATIONS; k++) {
        slope[k] = s->tx + kick_of(params, k, s->tx, s->velo.ty, s->tables->polarity) * q;
    }
    s->bend = slope[0] > s->tx ? 1.0f : -1.0f;
    s->tolerance = tolerance_of(s->q_over_p);
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        find_window(s, event, k, x_magnet, slope[k / 4], upper);
    }
    return is_possible(s);
}

/* Of a track of the VELO alone, which may have any momentum above the least. */
static bool begin_free(search *s, const slc_hlt1_event *event, uint32_t v, float least_p_mev)
{
    const slc_hlt1_forward_params *params = s->tables->params;
    s->velo = (slc_hlt1_line){event->x[v], event->y[v], event->z[v], event->tx[v], event->ty[v]};
    s->tx = s->velo.tx;
    s->q_over_p = 1.0f / least_p_mev;
    s->magnet_z = params->magnet_z_mm[0];
    s->magnet_x = s->velo.x + s->velo.tx * (s->magnet_z - s->velo.z);
    s->kick = kick_of(params, 0, s->tx, s->velo.ty, s->tables->polarity);
    s->bend = 0;
    s->tolerance = 40.0f;
    const bool upper = s->velo.y + s->velo.ty * (params->zone_z_mm[0] - s->velo.z) > 0;
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        find_window(s, event, k, s->magnet_x, s->tx, upper);
    }
    return is_possible(s);
}

/* ---- three hits --------------------------------------------------------------------------------- */

/* How far in x the middle of the magnet is from where the two legs meet, for the slope behind it. */
static float magnet_shift(const slc_hlt1_forward_params *params, float slope)
{
    const float *p = params->x_at_magnet;
    return p[0] + slope * (p[1] + slope * (p[2] + slope * p[3]));
}

/* The nearest of n rising values to x, which are at least one. */
static uint32_t nearest(const float *values, uint32_t n, float x)
{
    const uint32_t i = slc_hlt1_lower(values, n, x);
    return i == n ? n - 1 : i > 0 && x - values[i - 1] <= values[i] - x ? i - 1 : i;
}

/* Keeps the best ones, by rising distance. */
static void keep(triplet *list, uint32_t *n, uint32_t most, const triplet *t)
{
    uint32_t k = *n < most ? (*n)++ : most;
    if (most == 0 || (k == most && !(t->distance2 < list[most - 1].distance2))) {
        return;
    }
    k = k == most ? most - 1 : k;
    for (; k > 0 && t->distance2 < list[k - 1].distance2; k--) {
        list[k] = list[k - 1];
    }
    list[k] = *t;
}

static bool is_used(const search *s, const layer *l, uint32_t i)
{
    return s->used != NULL && s->used[l->row + i] != 0;
}

static void find_triplets(const search *s, uint32_t set, triplet *list, uint32_t *n)
{
    const slc_hlt1_forward_params *params = s->tables->params;
    const layer *first = &s->layers[sets[set][0]], *middle = &s->layers[sets[set][1]],
                *last = &s->layers[sets[set][2]];
    const float lever = s->magnet_z - first->z, reach = last->z - first->z, *bend = params->x_at_magnet;
    const bool soft = !s->free && fabsf(s->q_over_p) > 1.0f / 5000.0f;
    for (uint32_t i = first->begin; i < first->end; i++) {
        const float x0 = first->x[i];
        if (is_used(s, first, i)) {
            continue;
        }
        float slope = (s->magnet_x - x0) / lever;
        slope = (s->magnet_x + magnet_shift(params, slope) - x0) / lever;
        const float tolerance = s->free ? tolerance_of((slope - s->tx) / s->kick) : s->tolerance;
        /* At large slopes the shift counts: where `off` is 0 by Newton, and how far x may be from there. */
        const float bends = lever - (bend[1] + slope * (2.0f * bend[2] + slope * 3.0f * bend[3]));
        const float off0 = x0 + slope * lever - s->magnet_x - magnet_shift(params, slope);
        const float centre = x0 + (slope - off0 / bends) * reach,
                    most = 1.1f * tolerance * fabsf(reach / bends) + 1.0f;
        for (uint32_t k =
                 last->begin + slc_hlt1_lower(last->x + last->begin, last->end - last->begin, centre - most);
             k < last->end && last->x[k] <= centre + most; k++) {
            const float sl = (last->x[k] - x0) / reach;
            const float off = x0 + sl * lever - s->magnet_x - magnet_shift(params, sl);
            if (fabsf(off) >= tolerance || (soft && (sl - s->tx) * s->bend < 0) || is_used(s, last, k)) {
                continue;
            }
            const float x1 = middle->z * sl + (x0 - sl * first->z) * params->sagitta[set];
            const uint32_t m = middle->begin +
                               nearest(middle->x + middle->begin, middle->end - middle->begin, x1);
            const float d = middle->x[m] - x1;
            if (d * d < triplet_limit && !is_used(s, middle, m)) {
                keep(list, n, s->config->max_triplets, &(triplet){d * d, set, {i, m, k}});
            }
        }
    }
}

/* ---- a candidate -------------------------------------------------------------------------------- */

static float at_d(const slc_hlt1_forward_track *t, float d)
{
    return t->c + d * (t->b + t->a * d * (1.0f + t->cubic * d));
}

/* The curve by three points. */
static void make_curve(const search *s, const triplet *from, slc_hlt1_forward_track *t)
{
    const float *p = s->tables->params->cubic;
    const layer *l[3];
    float x[3], f[3];
    for (int k = 0; k < 3; k++) {
        l[k] = &s->layers[sets[from->set][k]];
        x[k] = l[k]->x[from->hit[k]];
    }
    const float r2 = 25e-8f * x[1] * x[1] + 1e-6f * l[1]->y * l[1]->y;
    t->cubic = -(p[0] + p[1] * sqrtf(r2) + p[2] * r2);
    for (int k = 0; k < 3; k++) {
        f[k] = l[k]->d * l[k]->d * (1.0f + t->cubic * l[k]->d);
    }
    const float d1 = l[1]->d - l[0]->d, d2 = l[2]->d - l[0]->d;
    t->a = ((x[1] - x[0]) * d2 - (x[2] - x[0]) * d1) / ((f[1] - f[0]) * d2 - (f[2] - f[0]) * d1);
    t->b = (x[1] - x[0] - t->a * (f[1] - f[0])) / d1;
    t->c = x[0] - t->b * l[0]->d - t->a * f[0];
}

/* How y in the tilted layers depends on what the magnet has done to x: polynomials of the track's slopes. */
static void bend_y(search *s)
{
    const float tx = s->velo.tx, ty = s->velo.ty, tx2 = tx * tx, ty2 = ty * ty;
    const float odd[6] = {
        tx * ty, tx * tx2 * ty, tx * ty * ty2, tx * tx2 * tx2 * ty, tx * tx2 * ty * ty2, tx * ty * ty2 * ty2};
    const float even[6] = {ty, tx2 * ty, ty * ty2, tx2 * tx2 * ty, tx2 * ty * ty2, ty * ty2 * ty2};
    for (int i = 0; i < 6; i++) {
        layer *l = &s->layers[stereo_layers[i]];
        const float *c = s->tables->params->y_correction[stereo_layers[i]];
        l->y1 = l->y2 = l->y3 = 0;
        for (int k = 0; k < 6; k++) {
            l->y1 += c[k] * odd[k];
            l->y2 += c[6 + k] * even[k];
            l->y3 += c[12 + k] * odd[k];
        }
    }
}

/* y of the track in a tilted layer that it crosses at x. */
static float y_in(const layer *l, float x)
{
    const float d = x - l->velo_x;
    return l->y + d * (l->y1 + d * (l->y2 + d * l->y3));
}

static void take_nearest(const layer *l, uint32_t k, float x, float limit, slc_hlt1_forward_track *t,
                         float *sum)
{
    if (l->n == 0) {
        return;
    }
    const uint32_t i = nearest(l->x, l->n, x);
    const float d = l->x[i] - x;
    if (d * d < limit) {
        t->hit[k] = (int32_t)i;
        t->n++;
        *sum += d * d / limit;
    }
}

/* A straight line through the heights that the tilted layers' hits are at; mean squared distance from it. */
static float fit_y(const search *s, slc_hlt1_forward_track *t)
{
    float s0 = 0, s1 = 0, s2 = 0, r0 = 0, r1 = 0, y[6], chi2 = 0;
    for (int i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        const layer *l = &s->layers[k];
        if (t->hit[k] != NO_HIT) {
            const float d = 1e-3f * l->d;
            y[i] = (at_d(t, l->d) - l->x[t->hit[k]]) / s->tables->dxdy[k];
            s0 += 1;
            s1 += d;
            s2 += d * d;
            r0 += y[i];
            r1 += y[i] * d;
        }
    }
    const float determinant = s0 * s2 - s1 * s1;
    t->y0 = (s2 * r0 - s1 * r1) / determinant;
    t->ty = 1e-3f * (s0 * r1 - s1 * r0) / determinant;
    for (int i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        if (t->hit[k] != NO_HIT) {
            const float d = y[i] - (t->y0 + t->ty * s->layers[k].d);
            chi2 += d * d;
        }
    }
    return chi2 / s0;
}

static bool has_stereo(const slc_hlt1_forward_track *t)
{
    return (t->hit[1] != NO_HIT || t->hit[2] != NO_HIT) && (t->hit[5] != NO_HIT || t->hit[6] != NO_HIT) &&
           (t->hit[9] != NO_HIT || t->hit[10] != NO_HIT);
}

/* Can it still have enough hits, and be better than `most`, if `left` more layers have one? Wrong ones end
 * early here, and nothing else changes. */
static bool is_promising(const search *s, const slc_hlt1_forward_track *t, uint32_t left, float sum,
                         float most)
{
    const uint32_t n = t->n + left;
    return n >= s->min_hits && factors[n] * sum / (float)(n - 3) < most;
}

/* Follows the curve of a triplet through the other layers. False where there is not enough, or nothing better
 * than `most`. */
static bool extend(const search *s, const triplet *from, float most, slc_hlt1_forward_track *t)
{
    float sum = 0;
    for (int k = 0; k < SLC_SCIFI_LAYERS; k++) {
        t->hit[k] = NO_HIT;
    }
    t->n = 3;
    make_curve(s, from, t);
    for (uint32_t k = 0; k < 3; k++) {
        t->hit[sets[from->set][k]] = (int32_t)from->hit[k];
        const uint32_t other = sets[1 - from->set][k];
        take_nearest(&s->layers[other], other, at_d(t, s->layers[other].d), x_limit, t, &sum);
    }
    const float limit = stereo_limit * (fabsf(s->tx) + fabsf(s->velo.ty));
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t k = stereo_layers[i];
        if (!is_promising(s, t, 6 - i, sum, most)) {
            return false;
        }
        const float x = at_d(t, s->layers[k].d);
        take_nearest(&s->layers[k], k, x - y_in(&s->layers[k], x) * s->tables->dxdy[k], limit, t, &sum);
    }
    if (!is_promising(s, t, 0, sum, most) || !has_stereo(t)) {
        return false;
    }
    const float y2 = fit_y(s, t);
    if (t->n < LEAST_BENT && fabsf(t->ty - s->velo.ty) >= max_bend_y) {
        return false;
    }
    t->quality = factors[t->n] * (sum / (float)(t->n - 3) + y2 / y_scale);
    return t->quality < most;
}

/* ---- the curve by all hits ---------------------------------------------------------------------- */

/* Solves the symmetric 3 × 3 system, in double precision. */
static void solve(const double m[6], const double r[3], double to[3])
{
    const double c0 = m[2] * m[5] - m[4] * m[4], c1 = m[3] * m[4] - m[1] * m[5],
                 c2 = m[1] * m[4] - m[2] * m[3];
    const double c3 = m[0] * m[5] - m[3] * m[3], c4 = m[1] * m[3] - m[0] * m[4],
                 c5 = m[0] * m[2] - m[1] * m[1];
    const double determinant = m[0] * c0 + m[1] * c1 + m[3] * c2;
    to[0] = (c0 * r[0] + c1 * r[1] + c2 * r[2]) / determinant;
    to[1] = (c1 * r[0] + c3 * r[1] + c4 * r[2]) / determinant;
    to[2] = (c2 * r[0] + c4 * r[1] + c5 * r[2]) / determinant;
}

/* Of all hits, those of tilted layers at the heights of the line through them. */
static void refit(const search *s, slc_hlt1_forward_track *t)
{
    for (int pass = 0; pass < 2; pass++) {
        double m[6] = {0}, r[3] = {0}, p[3];
        for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
            if (t->hit[k] != NO_HIT) {
                const layer *l = &s->layers[k];
                const float x = l->x[t->hit[k]] + s->tables->dxdy[k] * (t->y0 + t->ty * l->d);
                const double d = 1e-3 * (double)l->d, f = d * d * (1.0 + (double)t->cubic * (double)l->d);
                m[0] += 1;
                m[1] += d;
                m[2] += d * d;
                m[3] += f;
                m[4] += d * f;
                m[5] += f * f;
                r[0] += (double)x;
                r[1] += d * (double)x;
                r[2] += f * (double)x;
            }
        }
        solve(m, r, p);
        t->c = (float)p[0];
        t->b = (float)(1e-3 * p[1]);
        t->a = (float)(1e-6 * p[2]);
        (void)fit_y(s, t);
    }
}

static bool find_track(search *s, float max_quality, slc_hlt1_forward_track *best)
{
    triplet list[MAX_TRIPLETS];
    uint32_t n = 0;
    best->quality = max_quality;
    best->n = 0;
    for (uint32_t set = 0; set < 2; set++) {
        if (is_filled(s, sets[set][0], sets[set][1], sets[set][2])) {
            find_triplets(s, set, list, &n);
        }
    }
    bend_y(s);
    for (uint32_t i = 0; i < n; i++) {
        slc_hlt1_forward_track t;
        if (extend(s, &list[i], best->quality, &t)) {
            *best = t;
        }
    }
    if (best->n == 0) {
        return false;
    }
    refit(s, best);
    return true;
}

/* ---- an event ----------------------------------------------------------------------------------- */

static float momentum_of(const search *s, const slc_hlt1_forward_track *f)
{
    const slc_hlt1_line scifi = {f->c, f->y0, SLC_HLT1_SCIFI_Z_MM, f->b, f->ty};
    return slc_hlt1_momentum(s->tables->params, s->tables->polarity, &s->velo, &scifi);
}

static void append(const search *s, uint32_t velo_track, uint32_t upstream_track,
                   const slc_hlt1_forward_track *f, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const float d = SLC_HLT1_LONG_Z_MM - SLC_HLT1_SCIFI_Z_MM;
    const size_t to = tracks->head.size++;
    tracks->velo_track[to] = velo_track;
    tracks->upstream_track[to] = upstream_track;
    tracks->hit_begin[to] = (uint32_t)(hits->head.size - hits->head.event_offset[hits->head.n_events]);
    tracks->n_hits[to] = f->n;
    tracks->x_mm[to] = at_d(f, d);
    tracks->y_mm[to] = f->y0 + f->ty * d;
    tracks->z_mm[to] = SLC_HLT1_LONG_Z_MM;
    tracks->tx[to] = f->b + f->a * d * (2.0f + 3.0f * f->cubic * d);
    tracks->ty[to] = f->ty;
    tracks->q_over_p[to] = momentum_of(s, f);
    tracks->quality[to] = f->quality;
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        if (f->hit[k] != NO_HIT) {
            hits->hit[hits->head.size++] = s->layers[k].row + (uint32_t)f->hit[k];
        }
    }
}

/* Of the event's long tracks, rows `begin` on, those that share too many hits with better ones go. */
static void drop_shared(const slc_hlt1_forward_config *config, size_t begin, uint8_t *used,
                        slc_hlt1_long *tracks, slc_hlt1_track_hits *hits, slc_hlt1_forward_track *order)
{
    const size_t n = tracks->head.size - begin, first = hits->head.event_offset[hits->head.n_events];
    for (size_t i = 0; i < n; i++) { /* by rising quality */
        size_t k = i;
        for (; k > 0 && tracks->quality[begin + i] < order[k - 1].quality; k--) {
            order[k] = order[k - 1];
        }
        order[k].quality = tracks->quality[begin + i];
        order[k].n = (uint32_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t t = begin + order[i].n;
        const uint32_t *rows = hits->hit + first + tracks->hit_begin[t];
        uint32_t shared = 0;
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            shared += used[rows[k]];
        }
        const bool dropped = (float)shared > config->max_shared * (float)tracks->n_hits[t];
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            used[rows[k]] = dropped ? used[rows[k]] : 1;
        }
        tracks->n_hits[t] = dropped ? 0 : tracks->n_hits[t];
    }
}

/* Rows without hits go. */
static void close_gaps(size_t begin, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const size_t first = hits->head.event_offset[hits->head.n_events];
    size_t to = begin, hit = begin < tracks->head.size ? first + tracks->hit_begin[begin] : hits->head.size;
    for (size_t t = begin; t < tracks->head.size; t++) {
        if (tracks->n_hits[t] == 0) {
            continue;
        }
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            hits->hit[hit + k] = hits->hit[first + tracks->hit_begin[t] + k];
        }
        tracks->velo_track[to] = tracks->velo_track[t];
        tracks->upstream_track[to] = tracks->upstream_track[t];
        tracks->n_hits[to] = tracks->n_hits[t];
        tracks->hit_begin[to] = (uint32_t)(hit - first);
        tracks->x_mm[to] = tracks->x_mm[t];
        tracks->y_mm[to] = tracks->y_mm[t];
        tracks->z_mm[to] = tracks->z_mm[t];
        tracks->tx[to] = tracks->tx[t];
        tracks->ty[to] = tracks->ty[t];
        tracks->q_over_p[to] = tracks->q_over_p[t];
        tracks->quality[to] = tracks->quality[t];
        hit += tracks->n_hits[to++];
    }
    tracks->head.size = to;
    hits->head.size = hit;
}

void slc_hlt1_forward_run(const slc_hlt1_forward_config *config, const slc_hlt1_forward_tables *tables,
                          const slc_hlt1_event *event, const slc_hlt1_upstream *upstream, size_t first,
                          uint32_t n, slc_hlt1_forward_track *found, uint8_t *used, slc_hlt1_long *tracks,
                          slc_hlt1_track_hits *hits)
{
    const size_t begin = tracks->head.size;
    search s = {.config = config, .tables = tables, .min_hits = LEAST_HITS};
    for (uint32_t t = 0; t < n; t++) {
        slc_hlt1_forward_track best;
        if (begin_search(&s, event, upstream, first + t) && find_track(&s, config->max_quality, &best)) {
            append(&s, upstream->velo_track[first + t], t, &best, tracks, hits);
        }
    }
    memset(used, 0, event->scifi_begin[SLC_SCIFI_ZONES]);
    drop_shared(config, begin, used, tracks, hits, found);
    close_gaps(begin, tracks, hits);
}

void slc_hlt1_forward_rest(const slc_hlt1_config *config, const slc_hlt1_forward_tables *tables,
                           const slc_hlt1_event *event, size_t first_long, slc_hlt1_forward_track *order,
                           uint8_t *has, uint8_t *used, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const slc_hlt1_rest_config *rest = &config->rest;
    const size_t begin = tracks->head.size;
    search s = {
        .config = &config->forward, .tables = tables, .free = true, .used = used, .min_hits = rest->min_hits};
    memset(has, 0, event->n_velo);
    for (size_t t = first_long; t < begin; t++) {
        has[tracks->velo_track[t]] = 1;
    }
    for (uint32_t v = 0; v < event->n_velo; v++) {
        slc_hlt1_forward_track best;
        if (has[v] == 0 && event->backward[v] == 0 && fabsf(event->tx[v]) < 0.35f &&
            fabsf(event->ty[v]) < 0.3f && begin_free(&s, event, v, rest->least_p_mev) &&
            find_track(&s, rest->max_quality, &best) &&
            slc_hlt1_upstream_layers(event, v, momentum_of(&s, &best), rest->max_ut_distance_mm) >=
                rest->min_ut_layers) {
            append(&s, v, SLC_HLT1_NONE, &best, tracks, hits);
        }
    }
    drop_shared(&config->forward, begin, used, tracks, hits, order);
    close_gaps(begin, tracks, hits);
}
