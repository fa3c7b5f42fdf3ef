/* SPDX-License-Identifier: Apache-2.0
 * Slow and obvious: all hits, all pairs. */
#include "oracle/hlt1_search_oracle.h"

#include <math.h>
#include <stdlib.h>

enum { LAYERS = SLC_UT_LAYERS, WINDOW = 64 };

static const float z_state = 2484.6f, z_kick = 1780.0f;

/* A hit as the track sees it: distance from the VELO's line in x, place in z from z_state. */
typedef struct seen {
    float r, dz, weight;
    uint32_t row;
} seen;
typedef struct seen_layer {
    seen hit[WINDOW];
    int n;
} seen_layer;
typedef struct choice {
    const seen *hit[LAYERS]; /* NULL where the layer has none */
    int n;
    float a, b, chi2;
} choice;
typedef struct velo_line {
    float x, y, z, tx, ty;
} velo_line;

static void look(const slc_hlt1_upstream_config *config, const slc_hlt1_event *e, const velo_line *v,
                 int layer, seen_layer *to)
{
    const float t = sqrtf(v->tx * v->tx + v->ty * v->ty);
    const float least_p = fmaxf(config->window_pt_mev * (t > 1.0f / 500.0f ? 1.0f / t : 500.0f),
                                config->window_p_mev);
    const int row_of_norm = (int)(100.0f * fabsf(v->ty) + 0.5f);
    const float norm = e->geometry->deflection->window[4 * row_of_norm + layer];
    const float most = 1.0f / (4.0212e-5f * least_p) / norm;
    to->n = 0;
    for (uint32_t row = e->ut_begin[layer]; row < e->ut_begin[layer + 1]; row++) {
        const float dz = e->ut_z[row] - v->z, y = v->y + v->ty * dz;
        const float r = e->ut_x[row] + slc_ut_dxdy[layer] * y - (v->x + v->tx * dz);
        const float more = 0.5f + 0.08f * fabsf(r / norm);
        const float low = fminf(e->ut_y_begin[row], e->ut_y_end[row]),
                    high = fmaxf(e->ut_y_begin[row], e->ut_y_end[row]);
        if (fabsf(r) <= most && y >= low - more && y <= high + more && to->n < WINDOW) {
            to->hit[to->n++] = (seen){r, e->ut_z[row] - z_state, e->ut_weight[row], row};
        }
    }
}

static const seen *closest(const seen_layer *layer, float a, float b, float limit)
{
    const seen *best = NULL;
    for (int i = 0; i < layer->n; i++) {
        const float d = fabsf(layer->hit[i].r - (a + b * layer->hit[i].dz));
        if (d < limit && (best == NULL || d < fabsf(best->r - (a + b * best->dz)))) {
            best = &layer->hit[i];
        }
    }
    return best;
}

/* The line through the hits and the VELO's at z_kick, whose slope may be wrong there by 1e-4. */
static void fit(const velo_line *v, choice *c)
{
    const float dk = z_kick - z_state, lever = z_kick - v->z, sigma = 1e-4f * lever;
    float s0 = 1.0f / (sigma * sigma), s1 = s0 * dk, s2 = s0 * dk * dk, r0 = 0, r1 = 0;
    for (int k = 0; k < LAYERS; k++) {
        const seen *h = c->hit[k];
        if (h != NULL) {
            s0 += h->weight;
            s1 += h->weight * h->dz;
            s2 += h->weight * h->dz * h->dz;
            r0 += h->weight * h->r;
            r1 += h->weight * h->r * h->dz;
        }
    }
    const float determinant = s0 * s2 - s1 * s1;
    c->a = (s2 * r0 - s1 * r1) / determinant;
    c->b = (s0 * r1 - s1 * r0) / determinant;
    const float kink = (c->a + c->b * dk) / lever / 1e-4f;
    c->chi2 = kink * kink;
    for (int k = 0; k < LAYERS; k++) {
        if (c->hit[k] != NULL) {
            const float d = c->hit[k]->r - (c->a + c->b * c->hit[k]->dz);
            c->chi2 += c->hit[k]->weight * d * d;
        }
    }
    c->chi2 /= (float)(c->n - 1);
}

/* The best one of pairs of two layers, with what the two others have; the first of equals. */
static void try_all(const slc_hlt1_upstream_config *config, const velo_line *v, const seen_layer *layers,
                    int first, int second, choice *best)
{
    for (int i = 0; i < layers[first].n; i++) {
        for (int k = 0; k < layers[second].n; k++) {
            const seen *p = &layers[first].hit[i], *q = &layers[second].hit[k];
            const float b = (q->r - p->r) / (q->dz - p->dz), a = p->r - b * p->dz;
            choice c = {.n = 0};
            for (int l = 0; l < LAYERS; l++) {
                c.hit[l] = l == first    ? p
                           : l == second ? q
                                         : closest(&layers[l], a, b, config->max_distance_mm);
                c.n += c.hit[l] != NULL;
            }
            if (fabsf(b) > config->max_slope_difference || c.n < 3) {
                continue;
            }
            fit(v, &c);
            if (c.chi2 < 1280.0f && (c.n > best->n || (c.n == best->n && c.chi2 < best->chi2))) {
                *best = c;
            }
        }
    }
}

static float interpolated(const slc_hlt1_deflection *table, const velo_line *v)
{
    const float origin = fabsf(v->ty) > 1e-3f ? v->z - v->y / v->ty : v->z - v->x / v->tx;
    const float place[3] = {(v->ty + 0.3f) / 0.02f, (origin + 250.0f) / 50.0f, v->z / 80.0f};
    const int last[3] = {30, 10, 10};
    int node[3];
    float value = 0, part[3];
    for (int k = 0; k < 3; k++) {
        const float inside = !(place[k] > 0) ? 0 : place[k] > (float)last[k] ? (float)last[k] : place[k];
        node[k] = (int)inside;
        part[k] = inside - (float)node[k];
    }
    const float here = table->bdl[341 * node[2] + 31 * node[1] + node[0]];
    value = here;
    for (int k = 0; k < 3; k++) {
        int next[3] = {node[0], node[1], node[2]};
        next[k] = node[k] < last[k] ? node[k] + 1 : node[k];
        value += part[k] * (table->bdl[341 * next[2] + 31 * next[1] + next[0]] - here);
    }
    return value;
}

static float sine(float t, float tx, float ty)
{
    return t * sqrtf(1.0f + tx * tx + ty * ty);
}

static float bend_to_momentum(const velo_line *v, float bdl, float before, float behind)
{
    return (sine(before, before, v->ty) - sine(behind, behind, v->ty)) * (-3.3356e-3f / bdl);
}

/* Unknowns: x and slope relative to the VELO's line, and what y in the tilted layers is off. */
static void fit_again(const slc_hlt1_event *e, const velo_line *v, const choice *c, oracle_hlt1_track *to)
{
    const float ty2 = v->ty * v->ty, z_kink = 2010.0f + 2240.0f * ty2 + 71330.0f * ty2 * ty2;
    const float bdl = interpolated(e->geometry->deflection, v);
    const float q = fabsf(bend_to_momentum(v, bdl, v->tx, v->tx + c->b));
    const float e1 = 0.14f + 1e4f * q, e2 = 0.12f + 3e3f * q, w = 1.0f / (e1 * e1 + e2 * e2);
    const float dk = 1e-3f * (z_kink - z_state);
    float xx = w, xs = w * dk, ss = w * dk * dk, xy = 0, sy = 0, yy = 0, rx = 0, rs = 0, ry = 0;
    for (int k = 0; k < LAYERS; k++) {
        const seen *h = c->hit[k];
        if (h != NULL) {
            const float dz = 1e-3f * h->dz, t = slc_ut_dxdy[k];
            xx += h->weight;
            xs += h->weight * dz;
            ss += h->weight * dz * dz;
            xy += h->weight * t;
            sy += h->weight * dz * t;
            yy += h->weight * t * t;
            rx += h->weight * h->r;
            rs += h->weight * h->r * dz;
            ry += h->weight * h->r * t;
        }
    }
    /* By the adjoint of the symmetric matrix (xx xs xy | xs ss sy | xy sy yy). */
    const float a00 = ss * yy - sy * sy, a01 = xy * sy - xs * yy, a02 = xs * sy - ss * xy;
    const float a11 = xx * yy - xy * xy, a12 = xs * xy - xx * sy, a22 = xx * ss - xs * xs;
    const float determinant = xx * a00 + xs * a01 + xy * a02;
    const float x = (a00 * rx + a01 * rs + a02 * ry) / determinant,
                slope = (a01 * rx + a11 * rs + a12 * ry) / determinant,
                off_y = (a02 * rx + a12 * rs + a22 * ry) / determinant;
    const float off = x + slope * dk;
    float chi2 = w * off * off;
    for (int k = 0; k < LAYERS; k++) {
        if (c->hit[k] != NULL) {
            const seen *h = c->hit[k];
            const float d = h->r - (x + slope * 1e-3f * h->dz + off_y * slc_ut_dxdy[k]);
            chi2 += h->weight * d * d;
        }
    }
    to->quality = chi2 / (float)(c->n - 1);
    to->x = v->x + v->tx * (z_state - v->z) + x;
    to->y = v->y + v->ty * (z_state - v->z);
    to->z = z_state;
    to->tx = v->tx + 1e-3f * slope;
    to->ty = v->ty;
    to->q_over_p = bend_to_momentum(v, bdl, v->tx + 0.5f * off / (z_kink - v->z), to->tx);
}

static bool passes(const slc_hlt1_upstream_config *config, const slc_hlt1_event *e, const velo_line *v,
                   const oracle_hlt1_track *t)
{
    const float p = 1.0f / fmaxf(fabsf(t->q_over_p), 1e-9f), t2 = v->tx * v->tx + v->ty * v->ty;
    const float pt = p * sqrtf(t2 / (1.0f + t2));
    if (1.3f * p < config->least_p_mev || 1.3f * pt < config->least_pt_mev) {
        return false;
    }
    const bool negative = e->geometry->polarity * t->q_over_p < 0;
    const bool into_pipe = fabsf(t->y) < 33.0f &&
                           (negative ? t->x > -48.0f && t->x < 0 : t->x < 48.0f && t->x > 0);
    if (into_pipe || (negative ? t->tx : -t->tx) > 0.09f + 3e-4f * pt) {
        return false;
    }
    const float chi2 = fmaxf(t->quality, 1e-10f);
    const float d = t->n_hits == 3
                        ? 0.16288f - 0.10708f * logf(p) + 0.13415f * logf(pt) - 0.13776f * logf(chi2)
                        : 0.23501f - 0.09383f * logf(p) + 0.11082f * logf(pt) - 0.17047f * logf(chi2);
    return d > config->min_discriminant;
}

static bool find(const slc_hlt1_upstream_config *config, const slc_hlt1_event *e, uint32_t t,
                 oracle_hlt1_track *to)
{
    static seen_layer layers[LAYERS];
    const velo_line v = {e->x[t], e->y[t], e->z[t], e->tx[t], e->ty[t]};
    const float dz = z_state - e->beam_z[t], x = e->beam_x[t] + e->beam_tx[t] * dz,
                y = e->beam_y[t] + e->beam_ty[t] * dz;
    if (e->backward[t] != 0 || x * x + y * y < 33.0f * 33.0f || fabsf(v.tx) >= 0.35f || fabsf(v.ty) >= 0.3f) {
        return false;
    }
    for (int k = 0; k < LAYERS; k++) {
        look(config, e, &v, k, &layers[k]);
    }
    choice best = {.n = 0, .chi2 = 1280.0f};
    try_all(config, &v, layers, 0, 2, &best);
    if (best.n < 4) { /* the two layers that are left only where no track has all four */
        try_all(config, &v, layers, 3, 1, &best);
    }
    if (best.n == 0) {
        return false;
    }
    *to = (oracle_hlt1_track){.velo_track = t, .from = SLC_HLT1_NONE};
    for (int k = 0; k < LAYERS; k++) {
        if (best.hit[k] != NULL) {
            to->hit[to->n_hits++] = best.hit[k]->row;
        }
    }
    fit_again(e, &v, &best, to);
    return passes(config, e, &v, to);
}

size_t oracle_hlt1_upstream(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                            oracle_hlt1_track *tracks, bool *more)
{
    size_t n = 0;
    *more = false;
    for (uint32_t t = 0; t < event->n_velo; t++) {
        oracle_hlt1_track track;
        if (find(config, event, t, &track)) {
            if (n == config->max_tracks) {
                *more = true;
                return n;
            }
            tracks[n++] = track;
        }
    }
    return n;
}

uint32_t oracle_hlt1_ut_layers(const slc_hlt1_event *e, uint32_t t, float q_over_p, float most_mm)
{
    const velo_line v = {e->x[t], e->y[t], e->z[t], e->tx[t], e->ty[t]};
    uint32_t layers = 0;
    if (fabsf(v.ty) > 0.3f) {
        return 0;
    }
    const float bend = q_over_p * interpolated(e->geometry->deflection, &v) / 3.3356e-3f;
    const float slope = bend / sqrtf(1.0f + v.tx * v.tx + v.ty * v.ty);
    for (int k = 0; k < LAYERS; k++) {
        bool any = false;
        for (uint32_t row = e->ut_begin[k]; row < e->ut_begin[k + 1]; row++) {
            const float dz = e->ut_z[row] - v.z, y = v.y + v.ty * dz;
            const float r = e->ut_x[row] + slc_ut_dxdy[k] * y -
                            (v.x + v.tx * dz + slope * (e->ut_z[row] - z_kick));
            any = any || (fabsf(r) <= most_mm && y >= fminf(e->ut_y_begin[row], e->ut_y_end[row]) - 1.0f &&
                          y <= fmaxf(e->ut_y_begin[row], e->ut_y_end[row]) + 1.0f);
        }
        layers += any;
    }
    return layers;
}

/* By slopes: a hit allows those that lead to within most_mm of it; a slope counts where enough layers allow
 * it, and the ends of what hits allow are enough to be looked at. */
bool oracle_hlt1_ut_range(const slc_hlt1_event *e, uint32_t t, float most_q_over_p, float most_mm,
                          uint32_t layers, float range[2])
{
    enum { MANY = 256 };
    const velo_line v = {e->x[t], e->y[t], e->z[t], e->tx[t], e->ty[t]};
    float low[LAYERS][MANY], high[LAYERS][MANY];
    int n[LAYERS] = {0}, all = 0;
    range[0] = -most_q_over_p;
    range[1] = most_q_over_p;
    if (layers == 0) {
        return true;
    }
    const float slope_per_q = interpolated(e->geometry->deflection, &v) / 3.3356e-3f /
                              sqrtf(1.0f + v.tx * v.tx + v.ty * v.ty);
    const float limit = fabsf(slope_per_q * most_q_over_p);
    for (int k = 0; k < LAYERS; k++) {
        for (uint32_t row = e->ut_begin[k]; row < e->ut_begin[k + 1]; row++) {
            const float dz = e->ut_z[row] - v.z, y = v.y + v.ty * dz, arm = e->ut_z[row] - z_kick;
            const float r = e->ut_x[row] + slc_ut_dxdy[k] * y - (v.x + v.tx * dz);
            const float from = (r - most_mm) / arm, to = (r + most_mm) / arm;
            if (y >= fminf(e->ut_y_begin[row], e->ut_y_end[row]) - 1.0f &&
                y <= fmaxf(e->ut_y_begin[row], e->ut_y_end[row]) + 1.0f && from <= limit && to >= -limit) {
                if (++all == MANY) {
                    return true;
                }
                low[k][n[k]] = fmaxf(from, -limit);
                high[k][n[k]++] = fminf(to, limit);
            }
        }
    }
    float least = limit, most = -limit;
    bool any = false;
    for (int end = 0; end < 2; end++) {
        for (int k = 0; k < LAYERS; k++) {
            for (int i = 0; i < n[k]; i++) {
                const float slope = end == 0 ? low[k][i] : high[k][i];
                uint32_t allow = 0;
                for (int l = 0; l < LAYERS; l++) {
                    bool one = false;
                    for (int j = 0; j < n[l]; j++) {
                        one = one || (low[l][j] <= slope && slope <= high[l][j]);
                    }
                    allow += one;
                }
                if (allow >= layers) {
                    any = true;
                    least = fminf(least, slope);
                    most = fmaxf(most, slope);
                }
            }
        }
    }
    range[0] = fminf(least / slope_per_q, most / slope_per_q);
    range[1] = fmaxf(least / slope_per_q, most / slope_per_q);
    return any;
}
