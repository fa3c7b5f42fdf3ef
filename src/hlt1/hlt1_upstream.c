/* SPDX-License-Identifier: Apache-2.0
 *
 * VELO to UT. Hits are taken as residuals to the line of the VELO track at their own z, so that single
 * precision is enough in all fits: a track of no momentum cut has residuals of a few mm where x is a metre.
 */
#include "hlt1/hlt1_upstream.h"

#include <math.h>
#include <string.h>

enum { MAX_WINDOW = 64, NO_HIT = -1 };

static const float window_deflection = 4.0212e-5f; /* 1/(mm · MeV) */
static const float y_tolerance_mm = 0.5f, y_tolerance_slope = 0.08f;
static const float plane_reach_mm = 10.0f; /* of the staggered staves of a layer, in z */
/* Sums of z over a layer's four planes. */
static const float layer_z_mm[SLC_UT_LAYERS] = {2327.5f, 2372.5f, 2597.5f, 2642.5f};
static const float kick_z_mm = 1780.0f, kick_sigma_per_mm = 1e-4f, slope_sigma = 1e-4f;
static const float max_kick_chi2 = 1280.0f;

/* A hit near the line: residual, z - SLC_HLT1_UT_Z_MM, weight, row in the event. */
typedef struct near_hit {
    float r, dz, weight;
    uint32_t row;
} near_hit;

typedef struct line {
    float x, y, z, tx, ty; /* of the VELO */
    float norm[SLC_UT_LAYERS];
    float tolerance; /* times 1/norm */
} line;

typedef struct window {
    uint32_t n;
    bool full; /* and there are more */
    near_hit hit[MAX_WINDOW];
} window;

/* Three or four hits, -1 where a layer has none, and the line through them and the VELO's. */
typedef struct candidate {
    int hit[SLC_UT_LAYERS];
    uint32_t n;
    float a, b, chi2; /* residual = a + b · dz */
} candidate;

/* ---- windows ----------------------------------------------------------------------------------- */

static bool is_inside(const slc_hlt1_event *event, uint32_t track)
{
    const float dz = SLC_HLT1_UT_Z_MM - event->beam_z[track];
    const float x = event->beam_x[track] + event->beam_tx[track] * dz,
                y = event->beam_y[track] + event->beam_ty[track] * dz;
    return event->backward[track] == 0 && fabsf(event->tx[track]) < 0.35f && fabsf(event->ty[track]) < 0.3f &&
           x * x + y * y >= 33.0f * 33.0f;
}

static void make_line(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, uint32_t track,
                      line *l)
{
    *l = (line){
        event->x[track], event->y[track], event->z[track], event->tx[track], event->ty[track], {0}, 0};
    const float t = sqrtf(l->tx * l->tx + l->ty * l->ty);
    const float inverse = t > 1.0f / 500.0f ? 1.0f / t : 500.0f;
    const float by_pt = config->window_pt_mev * inverse;
    l->tolerance = 1.0f / (window_deflection * (by_pt > config->window_p_mev ? by_pt : config->window_p_mev));
    const float *norm = event->geometry->deflection->window + 4 * (int)(100.0f * fabsf(l->ty) + 0.5f);
    memcpy(l->norm, norm, sizeof l->norm);
}

/* Hits of a layer in the window; of more than MAX_WINDOW those with the smallest x. */
static void find_window(const slc_hlt1_event *event, const line *l, uint32_t layer, window *w)
{
    const float dxdy = slc_ut_dxdy[layer], most = l->tolerance / l->norm[layer];
    const float dz = layer_z_mm[layer] - l->z;
    const float centre = l->x + l->tx * dz - dxdy * (l->y + l->ty * dz);
    const float reach = most + plane_reach_mm * fabsf(l->tx - dxdy * l->ty);
    const uint32_t begin = event->ut_begin[layer], n = event->ut_begin[layer + 1] - begin;
    const float *x = event->ut_x + begin;
    w->n = 0;
    w->full = false;
    for (uint32_t i = slc_hlt1_lower(x, n, centre - reach); i < n && x[i] <= centre + reach; i++) {
        const uint32_t row = begin + i;
        const float at = event->ut_z[row] - l->z, y = l->y + l->ty * at;
        const float r = x[i] + dxdy * y - (l->x + l->tx * at);
        const float tolerance = y_tolerance_mm + y_tolerance_slope * fabsf(r / l->norm[layer]);
        const float low = fminf(event->ut_y_begin[row], event->ut_y_end[row]) - tolerance,
                    high = fmaxf(event->ut_y_begin[row], event->ut_y_end[row]) + tolerance;
        if (fabsf(r) > most || y < low || y > high) {
            continue;
        }
        if (w->n == MAX_WINDOW) {
            w->full = true;
            break;
        }
        w->hit[w->n++] = (near_hit){r, event->ut_z[row] - SLC_HLT1_UT_Z_MM, event->ut_weight[row], row};
    }
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* The hit nearest to the line a + b dz within the distance; NO_HIT without. */
static int nearest(const window *w, float a, float b, float most)
{
    int best = NO_HIT;
    for (uint32_t i = 0; i < w->n; i++) {
        const float d = fabsf(w->hit[i].r - (a + b * w->hit[i].dz));
        if (d < most) {
            most = d;
            best = (int)i;
        }
    }
    return best;
}

/* The straight line by the hits and the VELO's at the middle of the field; chi2 also counts how much the
 * VELO's slope would have to change. */
static void fit_kick(const line *l, const window *w, candidate *c)
{
    const float dk = kick_z_mm - SLC_HLT1_UT_Z_MM, lever = kick_z_mm - l->z;
    const float sigma = kick_sigma_per_mm * lever, wk = 1.0f / (sigma * sigma);
    float s0 = wk, s1 = wk * dk, s2 = wk * dk * dk, r0 = 0, r1 = 0;
    c->n = 0;
    for (int k = 0; k < SLC_UT_LAYERS; k++) {
        if (c->hit[k] != NO_HIT) {
            const near_hit *h = &w[k].hit[c->hit[k]];
            s0 += h->weight;
            s1 += h->weight * h->dz;
            s2 += h->weight * h->dz * h->dz;
            r0 += h->weight * h->r;
            r1 += h->weight * h->r * h->dz;
            c->n++;
        }
    }
    const float determinant = s0 * s2 - s1 * s1;
    c->a = (s2 * r0 - s1 * r1) / determinant;
    c->b = (s0 * r1 - s1 * r0) / determinant;
    const float slope = (c->a + c->b * dk) / lever / slope_sigma;
    c->chi2 = slope * slope;
    for (int k = 0; k < SLC_UT_LAYERS; k++) {
        if (c->hit[k] != NO_HIT) {
            const near_hit *h = &w[k].hit[c->hit[k]];
            const float d = h->r - (c->a + c->b * h->dz);
            c->chi2 += h->weight * d * d;
        }
    }
    c->chi2 /= (float)(c->n - 1);
}

static bool is_better(const candidate *a, const candidate *b)
{
    return a->n > b->n || (a->n == b->n && a->chi2 < b->chi2);
}

/* Pairs of two layers, and what the two others have near their line. */
static void try_pairs(const slc_hlt1_upstream_config *config, const line *l, const window *w,
                      const int layers[SLC_UT_LAYERS], candidate *best)
{
    const window *first = &w[layers[0]], *second = &w[layers[1]];
    for (uint32_t i = 0; i < first->n; i++) {
        for (uint32_t k = 0; k < second->n; k++) {
            const near_hit *p = &first->hit[i], *q = &second->hit[k];
            const float b = (q->r - p->r) / (q->dz - p->dz), a = p->r - b * p->dz;
            candidate c;
            if (fabsf(b) > config->max_slope_difference) {
                continue;
            }
            c.hit[layers[0]] = (int)i;
            c.hit[layers[1]] = (int)k;
            c.hit[layers[2]] = nearest(&w[layers[2]], a, b, config->max_distance_mm);
            c.hit[layers[3]] = nearest(&w[layers[3]], a, b, config->max_distance_mm);
            if (c.hit[layers[2]] == NO_HIT && c.hit[layers[3]] == NO_HIT) {
                continue;
            }
            fit_kick(l, w, &c);
            if (c.chi2 < max_kick_chi2 && is_better(&c, best)) {
                *best = c;
            }
        }
    }
}

/* ---- the fit ----------------------------------------------------------------------------------- */

/* Field integral along the track, linear between the nodes of the table. */
static float deflection_of(const slc_hlt1_deflection *table, const line *l)
{
    const float origin = fabsf(l->ty) > 1e-3f ? l->z - l->y / l->ty : l->z - l->x / l->tx;
    const float at[3] = {(l->ty + 0.3f) / 0.02f, (origin + 250.0f) / 50.0f, l->z / 80.0f};
    static const int nodes[3] = {31, 11, 11}, step[3] = {1, 31, 341};
    int base = 0;
    float fraction[3];
    bool last[3];
    for (int k = 0; k < 3; k++) {
        const float low = !(at[k] > 0) ? 0 : at[k] > (float)(nodes[k] - 1) ? (float)(nodes[k] - 1) : at[k];
        const int i = (int)low;
        fraction[k] = low - (float)i;
        last[k] = i == nodes[k] - 1;
        base += i * step[k];
    }
    float value = table->bdl[base];
    for (int k = 0; k < 3; k++) {
        value += last[k] ? 0 : fraction[k] * (table->bdl[base + step[k]] - table->bdl[base]);
    }
    return value;
}

static float sine(float t, float tx, float ty)
{
    return t * sqrtf(1.0f + tx * tx + ty * ty);
}

typedef struct fitted {
    float x, tx, q_over_p, chi2; /* at SLC_HLT1_UT_Z_MM */
} fitted;

/* q/p of a line with so much more slope in the UT. */
static float momentum_of(const line *l, float bdl, float velo_tx, float ut_tx)
{
    return (sine(velo_tx, velo_tx, l->ty) - sine(ut_tx, ut_tx, l->ty)) * (-3.3356e-3f / bdl);
}

/* Determinant of a symmetric 3 × 3 matrix and what its inverse gives for the right sides. */
static void solve(const float m[6], const float r[3], float to[3])
{
    const float c0 = m[2] * m[5] - m[4] * m[4], c1 = m[3] * m[4] - m[1] * m[5],
                c2 = m[1] * m[4] - m[2] * m[3];
    const float determinant = m[0] * c0 + m[1] * c1 + m[3] * c2;
    const float c3 = m[0] * m[5] - m[3] * m[3], c4 = m[1] * m[3] - m[0] * m[4],
                c5 = m[0] * m[2] - m[1] * m[1];
    to[0] = (c0 * r[0] + c1 * r[1] + c2 * r[2]) / determinant;
    to[1] = (c1 * r[0] + c3 * r[1] + c4 * r[2]) / determinant;
    to[2] = (c2 * r[0] + c4 * r[1] + c5 * r[2]) / determinant;
}

/* With the errors that the momentum makes at the kink, and a free y in the tilted layers. */
static void fit_final(const slc_hlt1_event *event, const line *l, const window *w, const candidate *c,
                      fitted *to)
{
    const float ty2 = l->ty * l->ty;
    const float kink = 2010.0f + 2240.0f * ty2 + 71330.0f * ty2 * ty2;
    const float bdl = deflection_of(event->geometry->deflection, l);
    const float estimate = fabsf(momentum_of(l, bdl, l->tx, l->tx + c->b));
    const float e1 = 0.14f + 1e4f * estimate, e2 = 0.12f + 3e3f * estimate, wk = 1.0f / (e1 * e1 + e2 * e2);
    /* Lengths along z in m: the numbers stay near each other. */
    const float dk = 1e-3f * (kink - SLC_HLT1_UT_Z_MM);
    float m[6] = {wk, wk * dk, wk * dk * dk, 0, 0, 0}, r[3] = {0, 0, 0}, p[3];
    for (int k = 0; k < SLC_UT_LAYERS; k++) {
        if (c->hit[k] != NO_HIT) {
            const near_hit *h = &w[k].hit[c->hit[k]];
            const float dz = 1e-3f * h->dz, t = slc_ut_dxdy[k];
            m[0] += h->weight;
            m[1] += h->weight * dz;
            m[2] += h->weight * dz * dz;
            m[3] += h->weight * t;
            m[4] += h->weight * dz * t;
            m[5] += h->weight * t * t;
            r[0] += h->weight * h->r;
            r[1] += h->weight * h->r * dz;
            r[2] += h->weight * h->r * t;
        }
    }
    solve(m, r, p);
    const float off = p[0] + p[1] * dk;
    float chi2 = wk * off * off;
    for (int k = 0; k < SLC_UT_LAYERS; k++) {
        if (c->hit[k] != NO_HIT) {
            const near_hit *h = &w[k].hit[c->hit[k]];
            const float d = h->r - (p[0] + p[1] * 1e-3f * h->dz + p[2] * slc_ut_dxdy[k]);
            chi2 += h->weight * d * d;
        }
    }
    to->x = l->x + l->tx * (SLC_HLT1_UT_Z_MM - l->z) + p[0];
    to->tx = l->tx + 1e-3f * p[1];
    to->chi2 = chi2 / (float)(c->n - 1);
    const float velo_tx = l->tx + 0.5f * off / (kink - l->z);
    to->q_over_p = momentum_of(l, bdl, velo_tx, to->tx);
}

static bool is_kept(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, const line *l,
                    const candidate *c, const fitted *f)
{
    const float p = 1.0f / fmaxf(fabsf(f->q_over_p), 1e-9f), t2 = l->tx * l->tx + l->ty * l->ty;
    const float pt = p * sqrtf(t2 / (1.0f + t2));
    const float charge = event->geometry->polarity * f->q_over_p < 0 ? -1.0f : 1.0f;
    const float y = l->y + l->ty * (SLC_HLT1_UT_Z_MM - l->z);
    /* Those that go into the beam pipe or leave the magnet. */
    const float x = -charge * f->x, slope = -charge * f->tx;
    if (1.3f * p < config->least_p_mev || 1.3f * pt < config->least_pt_mev ||
        (x > -48.0f && x < 0 && fabsf(y) < 33.0f) || slope > 0.09f + 3e-4f * pt) {
        return false;
    }
    const float lp = logf(p), lpt = logf(pt), lchi2 = logf(fmaxf(f->chi2, 1e-10f));
    const float d = c->n == 3 ? 0.16288f - 0.10708f * lp + 0.13415f * lpt - 0.13776f * lchi2
                              : 0.23501f - 0.09383f * lp + 0.11082f * lpt - 0.17047f * lchi2;
    return d > config->min_discriminant;
}

/* ---- the other way round ------------------------------------------------------------------------ */

/* Is there a hit of the layer so near to the VELO's line bent by `slope` at the middle of the field? */
static bool has_hit(const slc_hlt1_event *event, const line *l, uint32_t layer, float slope, float most)
{
    const float dxdy = slc_ut_dxdy[layer], dz = layer_z_mm[layer] - l->z;
    const float bent = slope * (layer_z_mm[layer] - kick_z_mm);
    const float centre = l->x + l->tx * dz + bent - dxdy * (l->y + l->ty * dz);
    const float reach = most + plane_reach_mm * fabsf(l->tx + slope - dxdy * l->ty);
    const uint32_t begin = event->ut_begin[layer], n = event->ut_begin[layer + 1] - begin;
    const float *x = event->ut_x + begin;
    for (uint32_t i = slc_hlt1_lower(x, n, centre - reach); i < n && x[i] <= centre + reach; i++) {
        const uint32_t row = begin + i;
        const float at = event->ut_z[row] - l->z, y = l->y + l->ty * at;
        const float r = x[i] + dxdy * y - (l->x + l->tx * at + slope * (event->ut_z[row] - kick_z_mm));
        const float low = fminf(event->ut_y_begin[row], event->ut_y_end[row]) - 1.0f,
                    high = fmaxf(event->ut_y_begin[row], event->ut_y_end[row]) + 1.0f;
        if (fabsf(r) <= most && y >= low && y <= high) {
            return true;
        }
    }
    return false;
}

uint32_t slc_hlt1_upstream_layers(const slc_hlt1_event *event, uint32_t t, float q_over_p, float most_mm)
{
    const line l = {event->x[t], event->y[t], event->z[t], event->tx[t], event->ty[t], {0}, 0};
    uint32_t n = 0;
    if (fabsf(l.ty) > 0.3f) {
        return 0; /* beyond the table of the field, and the UT */
    }
    const float bend = q_over_p * deflection_of(event->geometry->deflection, &l) / 3.3356e-3f;
    const float slope = bend / sqrtf(1.0f + l.tx * l.tx + l.ty * l.ty);
    for (uint32_t k = 0; k < SLC_UT_LAYERS; k++) {
        n += has_hit(event, &l, k, slope, most_mm);
    }
    return n;
}

/* ---- an event ---------------------------------------------------------------------------------- */

static bool find_track(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, const line *l,
                       window *w, candidate *best, fitted *f)
{
    static const int forward[SLC_UT_LAYERS] = {0, 2, 1, 3}, backward[SLC_UT_LAYERS] = {3, 1, 2, 0};
    for (uint32_t k = 0; k < SLC_UT_LAYERS; k++) {
        find_window(event, l, k, &w[k]);
    }
    best->n = 0;
    best->chi2 = max_kick_chi2;
    if (w[0].n > 0 && w[2].n > 0) {
        try_pairs(config, l, w, forward, best);
    }
    if (best->n < SLC_UT_LAYERS && w[3].n > 0 && w[1].n > 0) {
        try_pairs(config, l, w, backward, best);
    }
    if (best->n == 0) {
        return false;
    }
    fit_final(event, l, w, best, f);
    return is_kept(config, event, l, best, f);
}

static void append(const line *l, uint32_t velo_track, const window *w, const candidate *c, const fitted *f,
                   slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits)
{
    const size_t t = tracks->head.size++;
    tracks->velo_track[t] = velo_track;
    tracks->hit_begin[t] = (uint32_t)(hits->head.size - hits->head.event_offset[hits->head.n_events]);
    tracks->n_hits[t] = c->n;
    tracks->x_mm[t] = f->x;
    tracks->y_mm[t] = l->y + l->ty * (SLC_HLT1_UT_Z_MM - l->z);
    tracks->z_mm[t] = SLC_HLT1_UT_Z_MM;
    tracks->tx[t] = f->tx;
    tracks->ty[t] = l->ty;
    tracks->q_over_p[t] = f->q_over_p;
    tracks->chi2[t] = f->chi2;
    for (int k = 0; k < SLC_UT_LAYERS; k++) {
        if (c->hit[k] != NO_HIT) {
            hits->hit[hits->head.size++] = w[k].hit[c->hit[k]].row;
        }
    }
}

void slc_hlt1_upstream_run(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                           slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits)
{
    window w[SLC_UT_LAYERS];
    uint32_t n = 0;
    bool crowded = false;
    for (uint32_t t = 0; t < event->n_velo; t++) {
        line l;
        candidate best;
        fitted f;
        if (!is_inside(event, t)) {
            continue;
        }
        make_line(config, event, t, &l);
        const bool found = find_track(config, event, &l, w, &best, &f);
        crowded = crowded || w[0].full || w[1].full || w[2].full || w[3].full;
        if (!found) {
            continue;
        }
        if (n == config->max_tracks) {
            slc_faults_add(event->faults, SLC_FAULT_HLT1_UPSTREAM, event->number, -1, 0);
            break;
        }
        append(&l, t, w, &best, &f, tracks, hits);
        n++;
    }
    if (crowded) {
        slc_faults_add(event->faults, SLC_FAULT_HLT1_CROWDED, event->number, -1, 0);
    }
    slc_columns_end_event(tracks);
    slc_columns_end_event(hits);
}
