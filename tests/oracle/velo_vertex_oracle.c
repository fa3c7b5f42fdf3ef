/* SPDX-License-Identifier: Apache-2.0
 * Vertices the slow way: every vertex looks at every track, in double precision. The one thing shared with
 * the stage are the rules, for instance that a window consists of whole groups of four bins. */
#include "velo_vertex_oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct track {
    double x, y, z, tx, ty, wx, wy, place, reach;
    double share[SLC_VELO_MAX_PRIMARIES];
} track;

typedef struct vertex {
    oracle_vertex at;
    double peak_place, scale;
    bool alive, moving;
} vertex;

typedef struct event {
    const slc_velo_vertex_config *config;
    track *tracks;
    size_t n_tracks, n_bins, n;
    vertex vertices[SLC_VELO_MAX_PRIMARIES];
    double histogram[4096];
    double min_peak;
} event;

static void load(event *e, const slc_velo_states *s, uint32_t number)
{
    const slc_velo_vertex_config *c = e->config;
    const size_t begin = s->head.event_offset[number], end = s->head.event_offset[number + 1];
    e->tracks = calloc(end - begin + 1, sizeof *e->tracks);
    assert(e->tracks != NULL);
    for (size_t i = begin; i < end; i++) {
        const float sum = s->x_mm[i] + s->y_mm[i] + s->z_mm[i] + s->tx[i] + s->ty[i] + s->cov_xx_mm2[i] +
                          s->cov_yy_mm2[i];
        /* The place is rounded as in the stage, so that the group is the same one. */
        const float place = (s->z_mm[i] - c->z_min_mm) / c->bin_mm;
        if (!isfinite(sum) || place < 0 || place >= (float)e->n_bins) {
            continue;
        }
        const double scale = (double)c->error_scale * (double)c->error_scale;
        track *t = &e->tracks[e->n_tracks++];
        *t = (track){.x = (double)s->x_mm[i],
                     .y = (double)s->y_mm[i],
                     .z = (double)s->z_mm[i],
                     .tx = (double)s->tx[i],
                     .ty = (double)s->ty[i],
                     .wx = 1 / (scale * (double)s->cov_xx_mm2[i]),
                     .wy = 1 / (scale * (double)s->cov_yy_mm2[i]),
                     .place = (double)place};
        const double dx = t->x - (double)c->beam_x_mm, dy = t->y - (double)c->beam_y_mm;
        const double sigma = 1 / sqrt(t->tx * t->tx * t->wx + t->ty * t->ty * t->wy);
        if (dx * dx * t->wx + dy * dy * t->wy < (double)c->max_track_chi2 &&
            sigma < (double)c->max_track_sigma_z_mm) {
            t->reach = sqrt(7.0) * sigma / (double)c->bin_mm;
        }
    }
}

/* The parabola 3/4 (1 - u²) from -1 to u. */
static double integral(double u)
{
    const double held = fmax(-1, fmin(1, u));
    return 0.5 + 0.75 * held - 0.25 * held * held * held;
}

static double all_shares(const event *e, const track *t)
{
    double sum = 0;
    for (size_t k = 0; k < e->n; k++) {
        sum += t->share[k];
    }
    return sum;
}

/* Of all tracks, or of those that have chi2 > 9 to every vertex. */
static size_t fill(event *e, bool left_only)
{
    size_t n = 0;
    memset(e->histogram, 0, sizeof e->histogram);
    for (size_t i = 0; i < e->n_tracks; i++) {
        const track *t = &e->tracks[i];
        if (t->reach > 0 && (!left_only || all_shares(e, t) < exp(-4.5))) {
            n++;
            for (size_t b = 0; b < e->n_bins; b++) {
                e->histogram[b] += integral(((double)b + 1 - t->place) / t->reach) -
                                   integral(((double)b - t->place) / t->reach);
            }
        }
    }
    return n;
}

static void close_peak(event *e, size_t begin, size_t end)
{
    double sum = 0;
    size_t top = begin;
    for (size_t b = begin; b < end; b++) {
        sum += e->histogram[b];
        top = e->histogram[b] > e->histogram[top] ? b : top;
    }
    if (sum <= e->min_peak) {
        return;
    }
    assert(e->n < SLC_VELO_MAX_PRIMARIES);
    const double left = top > 0 ? e->histogram[top - 1] : 0;
    const double right = top + 1 < e->n_bins ? e->histogram[top + 1] : 0;
    const double bend = 2 * e->histogram[top] - left - right;
    const double place = (double)top + 0.5 + (bend > 0 ? (right - left) / bend / 2 : 0);
    e->vertices[e->n++] = (vertex){
        .peak_place = place,
        .at = {.x = (double)e->config->beam_x_mm,
               .y = (double)e->config->beam_y_mm,
               .z = (double)e->config->z_min_mm + place * (double)e->config->bin_mm},
        .alive = true,
        .moving = true};
}

/* Stretches above the threshold, cut at dips: behind a top that is more than a dip higher than the lowest bin
 * since, when the histogram has risen by more than a dip again. */
static void find_peaks(event *e)
{
    const slc_velo_vertex_config *c = e->config;
    const double threshold = (double)c->bin_mm / (10 * (double)c->max_track_sigma_z_mm);
    const double dip = (double)c->max_dip_per_mm * (double)c->bin_mm;
    size_t b = 0;
    while (b < e->n_bins) {
        if (e->histogram[b] <= threshold) {
            b++;
            continue;
        }
        size_t start = b;
        double top = 0, low = 0;
        size_t low_at = b;
        for (; b < e->n_bins && e->histogram[b] > threshold; b++) {
            const double h = e->histogram[b];
            const bool fell = top - low > dip;
            if (fell && h - low > dip) {
                close_peak(e, start, low_at);
                start = low_at;
                top = low = h;
                low_at = b;
            } else if (!fell && h > top) {
                top = low = h;
                low_at = b;
            } else if (h < low) {
                low = h;
                low_at = b;
            }
        }
        close_peak(e, start, b);
    }
}

static double window(const event *e)
{
    return (double)e->config->max_track_sigma_z_mm * sqrt((double)e->config->max_fit_chi2);
}

static bool in_window(const event *e, const vertex *v, const track *t)
{
    const double reach = window(e) / (double)e->config->bin_mm;
    const double low = fmax(v->peak_place - reach, 0),
                 high = fmin(v->peak_place + reach, (double)e->n_bins - 1);
    const double group = floor(t->place / 4);
    return group >= floor(low / 4) && group <= floor(high / 4);
}

static void drop(event *e, size_t k)
{
    e->vertices[k].alive = e->vertices[k].moving = false;
    for (size_t i = 0; i < e->n_tracks; i++) {
        e->tracks[i].share[k] = 0;
    }
}

/* M dv = g, by Cramer; the inverse of M in the covariance. */
static bool solve(double m[6], const double g[3], oracle_vertex *at, double step[3])
{
    const double a = m[0], b = m[2], c = m[3], d = m[4], f = m[5]; /* m[1], xy, is 0 */
    const double determinant = a * b * f - a * d * d - b * c * c;
    if (!(determinant > 1e-5 * a * b * f)) {
        return false;
    }
    at->xx = (b * f - d * d) / determinant;
    at->xy = c * d / determinant;
    at->yy = (a * f - c * c) / determinant;
    at->xz = -c * b / determinant;
    at->yz = -d * a / determinant;
    at->zz = a * b / determinant;
    step[0] = at->xx * g[0] + at->xy * g[1] + at->xz * g[2];
    step[1] = at->xy * g[0] + at->yy * g[1] + at->yz * g[2];
    step[2] = at->xz * g[0] + at->yz * g[1] + at->zz * g[2];
    return true;
}

static void move(event *e, size_t k)
{
    vertex *v = &e->vertices[k];
    double m[6] = {0}, g[3] = {0}, step[3], weights = 0, squares = 0, chi2s = 0, taking_part = 0;
    for (size_t i = 0; i < e->n_tracks; i++) {
        track *t = &e->tracks[i];
        if (!in_window(e, v, t)) {
            continue;
        }
        const double others = all_shares(e, t) - t->share[k];
        const double dz = v->at.z - t->z;
        const double rx = t->x + t->tx * dz - v->at.x, ry = t->y + t->ty * dz - v->at.y;
        const double chi2 = rx * rx * t->wx + ry * ry * t->wy;
        if (chi2 >= (double)e->config->max_fit_chi2) {
            t->share[k] = 0;
            continue;
        }
        t->share[k] = exp(-chi2 / 2);
        const double w = t->share[k] / (exp(-2) + t->share[k] + others);
        m[0] += w * t->wx;
        m[2] += w * t->wy;
        m[3] -= w * t->wx * t->tx;
        m[4] -= w * t->wy * t->ty;
        m[5] += w * (t->wx * t->tx * t->tx + t->wy * t->ty * t->ty);
        g[0] += w * t->wx * rx;
        g[1] += w * t->wy * ry;
        g[2] -= w * (t->wx * t->tx * rx + t->wy * t->ty * ry);
        weights += w;
        squares += w * w;
        chi2s += w * chi2;
        taking_part++;
    }
    if (taking_part < (double)e->config->min_tracks || !solve(m, g, &v->at, step)) {
        drop(e, k);
        return;
    }
    v->at.x += step[0];
    v->at.y += step[1];
    v->at.z += step[2];
    v->at.weight = weights;
    v->at.chi2 = chi2s;
    v->scale = squares / weights;
    v->moving = fabs(step[2]) >= 0.002;
    const double peak = (double)e->config->z_min_mm + v->peak_place * (double)e->config->bin_mm;
    if (fabs(v->at.z - peak) >= window(e)) {
        drop(e, k);
    }
}

static void fit(event *e)
{
    for (uint32_t i = 0; i < e->config->iterations; i++) {
        for (size_t k = 0; k < e->n; k++) {
            if (e->vertices[k].moving) {
                move(e, k);
            }
        }
    }
}

/* Vertices that share a track of their windows with this one go on moving. */
static void disturb(event *e, size_t changed)
{
    for (size_t k = 0; k < e->n; k++) {
        for (size_t i = 0; i < e->n_tracks && e->vertices[k].alive && !e->vertices[k].moving; i++) {
            e->vertices[k].moving = in_window(e, &e->vertices[k], &e->tracks[i]) &&
                                    in_window(e, &e->vertices[changed], &e->tracks[i]);
        }
    }
}

static bool clean_up(event *e)
{
    const slc_velo_vertex_config *c = e->config;
    bool any = false;
    for (size_t k = 0; k < e->n; k++) {
        const oracle_vertex *v = &e->vertices[k].at;
        const double dx = v->x - (double)c->beam_x_mm, dy = v->y - (double)c->beam_y_mm;
        if (e->vertices[k].alive && dx * dx + dy * dy >= (double)c->max_beam_distance2_mm2) {
            drop(e, k);
            disturb(e, k);
            any = true;
        }
    }
    for (size_t k = 0; k < e->n; k++) {
        for (size_t j = 0; j < e->n && e->vertices[k].alive; j++) {
            const vertex *v = &e->vertices[k], *o = &e->vertices[j];
            const double dz = v->at.z - o->at.z, variance = v->scale * v->at.zz + o->scale * o->at.zz;
            const bool stronger = j < k ? o->at.weight >= v->at.weight : o->at.weight > v->at.weight;
            if (o->alive && stronger && dz * dz < (double)c->min_separation2 * variance) {
                drop(e, k);
                disturb(e, k);
                any = true;
            }
        }
    }
    return any;
}

static int compare(const void *a, const void *b)
{
    const oracle_vertex *left = a, *right = b;
    return (left->z > right->z) - (left->z < right->z);
}

static size_t collect(const event *e, oracle_vertex *vertices)
{
    size_t n = 0;
    for (size_t k = 0; k < e->n; k++) {
        if (e->vertices[k].alive) {
            oracle_vertex *v = &vertices[n++];
            *v = e->vertices[k].at;
            double *const cov[] = {&v->xx, &v->xy, &v->yy, &v->xz, &v->yz, &v->zz};
            for (size_t c = 0; c < 6; c++) {
                *cov[c] *= e->vertices[k].scale;
            }
        }
    }
    qsort(vertices, n, sizeof *vertices, compare);
    return n;
}

size_t oracle_vertices(const slc_velo_vertex_config *config, const slc_velo_states *states, uint32_t number,
                       oracle_vertex *vertices)
{
    event e = {.config = config, .min_peak = (double)config->min_peak_tracks};
    e.n_bins = (size_t)((config->z_max_mm - config->z_min_mm) / config->bin_mm);
    load(&e, states, number);
    (void)fill(&e, false);
    find_peaks(&e);
    if (e.n > 0) {
        fit(&e);
        bool again = clean_up(&e);
        const size_t before = e.n;
        e.min_peak = (double)config->min_tracks;
        if ((double)fill(&e, true) > e.min_peak) {
            find_peaks(&e);
        }
        for (size_t k = before; k < e.n; k++) {
            disturb(&e, k);
        }
        again = again || e.n > before;
        for (int round = 0; round < 2 && again; round++) {
            fit(&e);
            again = clean_up(&e);
        }
    }
    const size_t n = collect(&e, vertices);
    free(e.tracks);
    return n;
}
