/* SPDX-License-Identifier: Apache-2.0
 * Slow and obvious: all hits of a zone, all triplets, sorted, each followed to its end. */
#include "oracle/hlt1_search_oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = SLC_SCIFI_LAYERS, NO_HIT = -1, MANY_HITS = 1 << 14 };

static const float z_start = 2642.0f, z_curve = 8520.0f, z_behind = 9410.0f, dzdy = 0.003601f;
static const float tilt[4] = {0, 0.087489f, -0.087489f, 0};
static const int stereo[6] = {1, 2, 5, 6, 9, 10};
static const int x_layers[2][3] = {{0, 4, 8}, {3, 7, 11}};

typedef struct zone {
    const float *x;
    int n, first_row, begin, end; /* the window */
    float z, d, y, line_x, tilt, c[3];
} zone;
typedef struct search {
    const slc_hlt1_config *config;
    const slc_hlt1_event *event;
    const uint8_t *taken;  /* by row in the event, NULL: none */
    uint8_t *out;          /* likewise, of a search without the UT: no hit of a triplet */
    float x, y, z, tx, ty; /* of the VELO */
    float slope, q_over_p; /* in the UT; of a search without it the VELO's, and none */
    float magnet_z, magnet_x, sign, kick;
    float range[2]; /* slopes behind the magnet, of a search without the UT's momentum */
    bool free;
    zone zones[LAYERS];
} search;
typedef struct curve {
    int hit[LAYERS], n;
    float a, b, c, cubic, y0, ty, quality;
} curve;

/* ---- windows ------------------------------------------------------------------------------------ */

static const slc_hlt1_forward_params *params_of(const search *s)
{
    return s->event->geometry->forward;
}

static float kick(const search *s, int station)
{
    float sum = 0, power_x = 1;
    for (int a = 0; a < 5; a++) {
        float power = power_x;
        for (int b = 0; b < 5; b++, power *= s->ty) {
            sum += params_of(s)->kick[station][a][b] * power;
        }
        power_x *= s->slope;
    }
    return sum;
}

static int count_below(const float *x, int n, float limit)
{
    int below = 0;
    for (int i = 0; i < n; i++) {
        below += x[i] < limit;
    }
    return below;
}

static void open_zone(search *s, int k, float at_magnet, float slope)
{
    zone *l = &s->zones[k];
    const bool upper = s->y + s->ty * (params_of(s)->zone_z_mm[0] - s->z) > 0;
    const uint32_t number = 2 * (uint32_t)k + (upper ? 1 : 0);
    const float zone_z = params_of(s)->zone_z_mm[k];
    l->tilt = tilt[k % 4];
    l->y = (s->y + s->ty * (zone_z - s->z)) * (1.0f / (1.0f - s->ty * dzdy));
    l->z = zone_z + l->y * dzdy;
    l->d = l->z - z_curve;
    l->line_x = s->x + s->tx * (l->z - s->z);
    l->first_row = (int)s->event->scifi_begin[number];
    l->n = (int)s->event->scifi_begin[number + 1] - l->first_row;
    l->x = s->event->scifi_x + l->first_row;
    const float centre = at_magnet + slope * (l->z - s->magnet_z) - l->y * l->tilt;
    float left = 800.0f, right = 800.0f;
    if (l->tilt == 0) {
        left = right = 150.0f + 2e6f * fabsf(s->q_over_p);
    }
    if (s->free) {
        l->begin = count_below(l->x, l->n,
                               at_magnet + s->range[0] * (l->z - s->magnet_z) - l->y * l->tilt - 50.0f);
        l->end = count_below(l->x, l->n,
                             at_magnet + s->range[1] * (l->z - s->magnet_z) - l->y * l->tilt + 50.0f);
        return;
    }
    l->begin = count_below(l->x, l->n, centre - left - (l->tilt == 0 && s->sign < 0 ? 100.0f : 0));
    l->end = count_below(l->x, l->n, centre + right + (l->tilt == 0 && s->sign > 0 ? 100.0f : 0));
    const int most = (int)s->config->forward.max_hits;
    if (l->tilt == 0 && l->end - l->begin > most) { /* those around the centre */
        int from = count_below(l->x, l->end, centre);
        from = (from > l->begin ? from : l->begin) - most / 2;
        from = from > l->begin ? from : l->begin;
        l->begin = from < l->end - most ? from : l->end - most;
        l->end = l->begin + most;
    }
}

static bool has_hits(const search *s, int k)
{
    return s->zones[k].begin < s->zones[k].end;
}

static bool can_begin(const search *s)
{
    bool sets = false, stations = true;
    for (int i = 0; i < 2; i++) {
        sets = sets ||
               (has_hits(s, x_layers[i][0]) && has_hits(s, x_layers[i][1]) && has_hits(s, x_layers[i][2]));
    }
    for (int i = 0; i < 3; i++) {
        stations = stations && (has_hits(s, 4 * i + 1) || has_hits(s, 4 * i + 2));
    }
    return sets && stations;
}

static void take_velo(search *s, uint32_t v)
{
    const slc_hlt1_event *e = s->event;
    s->x = e->x[v];
    s->y = e->y[v];
    s->z = e->z[v];
    s->tx = e->tx[v];
    s->ty = e->ty[v];
    s->magnet_z = params_of(s)->magnet_z_mm[0];
    s->magnet_x = s->x + s->tx * (s->magnet_z - s->z);
}

static bool begin_with_ut(search *s, const oracle_hlt1_track *from)
{
    take_velo(s, from->velo_track);
    s->free = false;
    s->slope = from->tx;
    s->q_over_p = from->q_over_p;
    const float start = from->x + from->tx * (z_start - from->z);
    const float at_magnet = start + from->tx * (s->magnet_z - z_start);
    const float q = -s->event->geometry->polarity * from->q_over_p;
    s->sign = from->tx + kick(s, 0) * q > from->tx ? 1.0f : -1.0f;
    for (int k = 0; k < LAYERS; k++) {
        open_zone(s, k, at_magnet, from->tx + kick(s, k / 4) * q);
    }
    return can_begin(s);
}

static bool begin_without_ut(search *s, uint32_t v)
{
    take_velo(s, v);
    s->free = true;
    s->slope = s->tx;
    s->kick = kick(s, 0);
    const slc_hlt1_rest_config *rest = &s->config->rest;
    float q[2];
    if (!oracle_hlt1_ut_range(s->event, v, 1.0f / rest->least_p_mev, rest->max_ut_distance_mm,
                              rest->min_ut_layers, q)) {
        return false;
    }
    const float polarity = s->event->geometry->polarity;
    const float a = s->kick * (-polarity * q[0]), b = s->kick * (-polarity * q[1]);
    s->range[0] = s->tx + fminf(a, b);
    s->range[1] = s->tx + fmaxf(a, b);
    s->sign = 0;
    for (int k = 0; k < LAYERS; k++) {
        open_zone(s, k, s->magnet_x, s->tx);
    }
    return can_begin(s);
}

/* ---- triplets ----------------------------------------------------------------------------------- */

typedef struct three {
    float distance2;
    int set, hit[3];
    size_t number;
} three;

static int by_distance(const void *a, const void *b)
{
    const three *l = a, *r = b;
    if (l->distance2 != r->distance2) {
        return l->distance2 < r->distance2 ? -1 : 1;
    }
    return (l->number > r->number) - (l->number < r->number);
}

/* Of hits at the same distance one below x counts before one above, and the one nearer in the zone to where
 * x would stand. */
static int closest(const float *x, int n, float at)
{
    int best = NO_HIT;
    for (int i = 0; i < n; i++) {
        const float d = fabsf(x[i] - at), least = best == NO_HIT ? INFINITY : fabsf(x[best] - at);
        if (d < least || (d == least && x[i] < at)) {
            best = i;
        }
    }
    return best;
}

static float tolerance(float q_over_p)
{
    return 8.0f + 32.0f * (fabsf(q_over_p) < 5e-4f ? fabsf(q_over_p) * (1.0f / 5e-4f) : 1.0f);
}

static float shift(const search *s, float slope)
{
    const float *p = params_of(s)->x_at_magnet;
    return p[0] + slope * (p[1] + slope * (p[2] + slope * p[3]));
}

static bool is_taken(const search *s, const zone *l, int i)
{
    return s->taken != NULL && s->taken[l->first_row + i] != 0;
}

static bool is_pair(const search *s, const zone *first, const zone *last, int i, int k)
{
    const float lever = s->magnet_z - first->z;
    const float slope = (last->x[k] - first->x[i]) * (1.0f / (last->z - first->z));
    const float off = first->x[i] + slope * lever - s->magnet_x - shift(s, slope);
    float limit = tolerance(s->q_over_p);
    if (s->free) { /* by the momentum that the first hit and the middle of the magnet have */
        const float per = 1.0f / lever;
        float straight = (s->magnet_x - first->x[i]) * per;
        straight = (s->magnet_x + shift(s, straight) - first->x[i]) * per;
        limit = tolerance((straight - s->slope) * (1.0f / s->kick));
    }
    const bool soft = !s->free && fabsf(s->q_over_p) > 1.0f / 5000.0f;
    return fabsf(off) < limit && !(soft && (slope - s->slope) * s->sign < 0);
}

/* The hit and the middle of the magnet are a slope: its number, by how much it is bent. */
static int slope_number(const search *s, const zone *l, int i)
{
    const float off = l->x[i] - s->magnet_x, per = 1.0f / (l->z - s->magnet_z);
    const float bend = (off - shift(s, off * per)) * per - s->tx;
    const int number = (int)((bend / (0.125f + fabsf(bend)) + 1.0f) * 1024.0f);
    return number < 0 ? 0 : number > 2047 ? 2047 : number;
}

/* Have five of six x layers a hit that is not taken within three neighbouring slopes, of which the hit's is
 * one?
 */
static void find_agreeing(search *s)
{
    static uint8_t layers[2 + 2048 + 2];
    memset(layers, 0, sizeof layers);
    for (int j = 0; j < 6; j++) {
        const zone *l = &s->zones[x_layers[j / 3][j % 3]];
        for (int i = l->begin; i < l->end; i++) {
            if (!is_taken(s, l, i)) {
                layers[2 + slope_number(s, l, i)] |= (uint8_t)(1 << j);
            }
        }
    }
    for (int j = 0; j < 6; j++) {
        zone *l = &s->zones[x_layers[j / 3][j % 3]];
        for (int i = l->begin; i < l->end; i++) {
            const int at = 2 + slope_number(s, l, i);
            bool agrees = false;
            for (int middle = at - 1; middle <= at + 1; middle++) {
                const int all = layers[middle - 1] | layers[middle] | layers[middle + 1];
                agrees = agrees || __builtin_popcount((unsigned)all) >= 5;
            }
            s->out[l->first_row + i] = is_taken(s, l, i) || !agrees;
        }
    }
}

/* The hit of the window nearest to x that is not out. */
static int closest_in(const search *s, const zone *l, float x)
{
    static float of[MANY_HITS];
    static int row[MANY_HITS];
    int n = 0;
    for (int i = l->begin; i < l->end; i++) {
        if (!s->free || s->out[l->first_row + i] == 0) {
            assert(n < MANY_HITS);
            of[n] = l->x[i];
            row[n++] = i;
        }
    }
    const int i = closest(of, n, x);
    return i == NO_HIT ? NO_HIT : row[i];
}

/* All of a set of x layers, best first. */
static size_t find_triplets(search *s, int set, three **list)
{
    size_t n = 0, room = 0;
    const zone *first = &s->zones[x_layers[set][0]], *middle = &s->zones[x_layers[set][1]],
               *last = &s->zones[x_layers[set][2]];
    const bool filled = first->begin < first->end && middle->begin < middle->end && last->begin < last->end;
    for (int i = first->begin; filled && i < first->end; i++) {
        for (int k = last->begin; k < last->end; k++) {
            if (s->free && (s->out[first->first_row + i] != 0 || s->out[last->first_row + k] != 0)) {
                continue;
            }
            if (!is_pair(s, first, last, i, k)) {
                continue;
            }
            const float slope = (last->x[k] - first->x[i]) * (1.0f / (last->z - first->z));
            const float x = middle->z * slope + (first->x[i] - slope * first->z) * params_of(s)->sagitta[set];
            const int m = closest_in(s, middle, x);
            const float d = m == NO_HIT ? INFINITY : middle->x[m] - x;
            if (d * d >= 8.0f) {
                continue;
            }
            if (n == room) {
                room = 2 * room + 64;
                *list = realloc(*list, room * sizeof **list);
                assert(*list != NULL);
            }
            (*list)[n] = (three){d * d, set, {i, m, k}, n};
            n++;
        }
    }
    if (n > 0) {
        qsort(*list, n, sizeof **list, by_distance);
    }
    const size_t most = s->free ? s->config->rest.max_triplets : s->config->forward.max_triplets;
    return n < most ? n : most;
}

/* ---- curves ------------------------------------------------------------------------------------- */

static float x_at(const curve *t, float d)
{
    return t->c + d * (t->b + t->a * d * (1.0f + t->cubic * d));
}

static void through(const search *s, const three *from, curve *t)
{
    const float *p = params_of(s)->cubic;
    const zone *l[3];
    float x[3], d[3], f[3];
    for (int k = 0; k < 3; k++) {
        l[k] = &s->zones[x_layers[from->set][k]];
        x[k] = l[k]->x[from->hit[k]];
        d[k] = l[k]->d;
    }
    const float r2 = 25e-8f * x[1] * x[1] + 1e-6f * l[1]->y * l[1]->y;
    t->cubic = -(p[0] + p[1] * sqrtf(r2) + p[2] * r2);
    for (int k = 0; k < 3; k++) {
        f[k] = d[k] * d[k] * (1.0f + t->cubic * d[k]);
    }
    const float d1 = d[1] - d[0], d2 = d[2] - d[0], x1 = x[1] - x[0], x2 = x[2] - x[0];
    t->a = (x1 * d2 - x2 * d1) / ((f[1] - f[0]) * d2 - (f[2] - f[0]) * d1);
    t->b = (x1 - t->a * (f[1] - f[0])) / d1;
    t->c = x[0] - t->b * d[0] - t->a * f[0];
}

/* Polynomials of the slopes, for the y in tilted layers. */
static void correct_y(search *s)
{
    const float x = s->tx, y = s->ty;
    const float odd[6] = {x * y,
                          x * (x * x) * y,
                          x * y * (y * y),
                          x * (x * x) * (x * x) * y,
                          x * (x * x) * y * (y * y),
                          x * y * (y * y) * (y * y)};
    const float even[6] = {
        y, x * x * y, y * (y * y), x * x * (x * x) * y, x * x * y * (y * y), y * (y * y) * (y * y)};
    for (int i = 0; i < 6; i++) {
        zone *l = &s->zones[stereo[i]];
        const float *c = params_of(s)->y_correction[stereo[i]];
        for (int power = 0; power < 3; power++) {
            l->c[power] = 0;
            for (int k = 0; k < 6; k++) {
                l->c[power] += c[6 * power + k] * (power == 1 ? even[k] : odd[k]);
            }
        }
    }
}

static void take(const zone *l, int k, float x, float limit, curve *t, float *sum)
{
    const int i = closest(l->x, l->n, x);
    if (i != NO_HIT && (l->x[i] - x) * (l->x[i] - x) < limit) {
        t->hit[k] = i;
        t->n++;
        *sum += (l->x[i] - x) * (l->x[i] - x) * (1.0f / limit);
    }
}

static float fit_y(const search *s, curve *t)
{
    float s0 = 0, s1 = 0, s2 = 0, r0 = 0, r1 = 0, chi2 = 0;
    float y[LAYERS];
    for (int i = 0; i < 6; i++) {
        const zone *l = &s->zones[stereo[i]];
        if (t->hit[stereo[i]] != NO_HIT) {
            const float d = 1e-3f * l->d;
            y[i] = (x_at(t, l->d) - l->x[t->hit[stereo[i]]]) * (1.0f / l->tilt);
            s0 += 1;
            s1 += d;
            s2 += d * d;
            r0 += y[i];
            r1 += y[i] * d;
        }
    }
    const float per = 1.0f / (s0 * s2 - s1 * s1);
    t->y0 = (s2 * r0 - s1 * r1) * per;
    t->ty = 1e-3f * (s0 * r1 - s1 * r0) * per;
    for (int i = 0; i < 6; i++) {
        if (t->hit[stereo[i]] != NO_HIT) {
            const float d = y[i] - (t->y0 + t->ty * s->zones[stereo[i]].d);
            chi2 += d * d;
        }
    }
    return chi2 / s0;
}

static bool follow(const search *s, const three *from, int min_hits, curve *t)
{
    static const float factor[13] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 5.0f, 1.0f, 0.8f, 0.5f};
    float sum = 0;
    *t = (curve){.n = 3};
    for (int k = 0; k < LAYERS; k++) {
        t->hit[k] = NO_HIT;
    }
    through(s, from, t);
    for (int k = 0; k < 3; k++) {
        const int other = x_layers[1 - from->set][k];
        t->hit[x_layers[from->set][k]] = from->hit[k];
        take(&s->zones[other], other, x_at(t, s->zones[other].d), 2.0f, t, &sum);
    }
    for (int i = 0; i < 6; i++) {
        const zone *l = &s->zones[stereo[i]];
        const float x = x_at(t, l->d), off = x - l->line_x;
        const float y = l->y + off * (l->c[0] + off * (l->c[1] + off * l->c[2]));
        take(l, stereo[i], x - y * l->tilt, 50.0f * (fabsf(s->slope) + fabsf(s->ty)), t, &sum);
    }
    if (t->n < min_hits) {
        return false;
    }
    for (int station = 0; station < 3; station++) {
        if (t->hit[4 * station + 1] == NO_HIT && t->hit[4 * station + 2] == NO_HIT) {
            return false;
        }
    }
    const float y2 = fit_y(s, t);
    t->quality = factor[t->n] * (sum / (float)(t->n - 3) + y2 * (1.0f / 800.0f));
    return t->n >= 11 || fabsf(t->ty - s->ty) < 0.02f;
}

/* The curve by least squares over all hits, those of tilted layers at the heights of the line; then the line.
 */
static void fit_all(const search *s, curve *t)
{
    double n = 0, sd = 0, sdd = 0, sf = 0, sdf = 0, sff = 0, rx = 0, rd = 0, rf = 0;
    for (int k = 0; k < LAYERS; k++) {
        if (t->hit[k] == NO_HIT) {
            continue;
        }
        const zone *l = &s->zones[k];
        const float moved = l->x[t->hit[k]] + l->tilt * (t->y0 + t->ty * l->d);
        const double x = (double)moved, d = 1e-3 * (double)l->d,
                     f = d * d * (1.0 + (double)t->cubic * (double)l->d);
        n += 1;
        sd += d;
        sdd += d * d;
        sf += f;
        sdf += d * f;
        sff += f * f;
        rx += x;
        rd += d * x;
        rf += f * x;
    }
    /* (n sd sf | sd sdd sdf | sf sdf sff), by its adjoint. */
    const double a00 = sdd * sff - sdf * sdf, a01 = sf * sdf - sd * sff, a02 = sd * sdf - sdd * sf;
    const double a11 = n * sff - sf * sf, a12 = sd * sf - n * sdf, a22 = n * sdd - sd * sd;
    const double determinant = n * a00 + sd * a01 + sf * a02;
    t->c = (float)((a00 * rx + a01 * rd + a02 * rf) / determinant);
    t->b = (float)(1e-3 * ((a01 * rx + a11 * rd + a12 * rf) / determinant));
    t->a = (float)(1e-6 * ((a02 * rx + a12 * rd + a22 * rf) / determinant));
    (void)fit_y(s, t);
}

/* Through the first set of x layers, then through the other one, unless what is found is good enough. */
static bool find(search *s, int min_hits, float max_quality, curve *best)
{
    bool found = false;
    if (s->free) {
        find_agreeing(s);
    }
    correct_y(s);
    for (int set = 0; set < 2; set++) {
        three *list = NULL;
        const bool enough = found && !s->free && best->quality <= s->config->forward.enough_quality;
        const size_t n = enough ? 0 : find_triplets(s, set, &list);
        for (size_t i = 0; i < n; i++) {
            curve t;
            if (follow(s, &list[i], min_hits, &t) && t.quality < (found ? best->quality : max_quality)) {
                *best = t;
                found = true;
            }
        }
        free(list);
    }
    if (found) {
        fit_all(s, best);
    }
    return found;
}

/* ---- an event ----------------------------------------------------------------------------------- */

static oracle_hlt1_track made_of(const search *s, uint32_t velo_track, uint32_t from, const curve *t)
{
    const float d = z_behind - z_curve;
    oracle_hlt1_track to = {.velo_track = velo_track, .from = from, .z = z_behind};
    to.x = x_at(t, d);
    to.y = t->y0 + t->ty * d;
    to.tx = t->b + t->a * d * (2.0f + 3.0f * t->cubic * d);
    to.ty = t->ty;
    const float velo[5] = {s->x, s->y, s->z, s->tx, s->ty}, scifi[4] = {t->c, t->y0, t->b, t->ty};
    to.q_over_p = oracle_hlt1_momentum(s->event, velo, scifi);
    to.quality = t->quality;
    for (int k = 0; k < LAYERS; k++) {
        if (t->hit[k] != NO_HIT) {
            to.hit[to.n_hits++] = (uint32_t)(s->zones[k].first_row + t->hit[k]);
        }
    }
    return to;
}

static bool is_long_candidate(const slc_hlt1_event *e, uint32_t v, const oracle_hlt1_track *tracks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (tracks[i].velo_track == v) {
            return false;
        }
    }
    return e->backward[v] == 0 && fabsf(e->tx[v]) < 0.35f && fabsf(e->ty[v]) < 0.3f;
}

size_t oracle_hlt1_long(const slc_hlt1_config *config, const slc_hlt1_event *event,
                        const oracle_hlt1_track *upstream, size_t n_upstream, oracle_hlt1_track *tracks)
{
    static search s;
    uint8_t *taken = calloc(event->scifi_begin[SLC_SCIFI_ZONES] + 1, 1);
    uint8_t *out = calloc(event->scifi_begin[SLC_SCIFI_ZONES] + 1, 1);
    size_t n = 0;
    curve best;
    assert(taken != NULL && out != NULL);
    s = (search){.config = config, .event = event};
    for (size_t t = 0; t < n_upstream; t++) {
        if (begin_with_ut(&s, &upstream[t]) && find(&s, 9, config->forward.max_quality, &best)) {
            tracks[n++] = made_of(&s, upstream[t].velo_track, (uint32_t)t, &best);
        }
    }
    n = oracle_hlt1_keep_better(config, tracks, n, taken);
    if (config->rest.on) {
        const slc_hlt1_rest_config *rest = &config->rest;
        size_t more = n;
        s.taken = taken;
        s.out = out;
        for (uint32_t v = 0; v < event->n_velo; v++) {
            if (is_long_candidate(event, v, tracks, n) && begin_without_ut(&s, v) &&
                find(&s, (int)rest->min_hits, rest->max_quality, &best)) {
                const oracle_hlt1_track t = made_of(&s, v, SLC_HLT1_NONE, &best);
                if (oracle_hlt1_ut_layers(event, v, t.q_over_p, rest->max_ut_distance_mm) >=
                    rest->min_ut_layers) {
                    tracks[more++] = t;
                }
            }
        }
        n += oracle_hlt1_keep_better(config, tracks + n, more - n, taken);
    }
    free(taken);
    free(out);
    return n;
}
