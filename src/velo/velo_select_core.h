/* SPDX-License-Identifier: Apache-2.0
 *
 * The formulas of selections, for the processor and for GPUs: quantities of tracks and of pairs of tracks, in
 * double precision on states in single precision, so that the products of two slopes are exact, and what is
 * left of differences is meaningful. docs/formats/selection.md has them in the notation of mathematics. And a
 * selection as it is gone through.
 */
#ifndef SLUICE_VELO_SELECT_CORE_H
#define SLUICE_VELO_SELECT_CORE_H

#include "velo/velo_select_math.h"
#include <sluice/velo_select.h>

/* ---- a selection --------------------------------------------------------------------------------- */

/* A line with its cuts from the cheapest to the dearest. */
typedef struct slc_velo_sorted_line {
    slc_velo_cut cuts[SLC_VELO_MAX_CUTS];
    uint32_t end[3]; /* behind the cuts on the event, on tracks, on pairs */
    uint32_t min_count;
} slc_velo_sorted_line;

typedef struct slc_velo_sorted_selection {
    double beam_x, beam_y;
    uint32_t n_lines;
    uint32_t asked; /* bit q: quantity q of tracks */
    slc_velo_sorted_line lines[SLC_VELO_MAX_LINES];
} slc_velo_sorted_selection;

SLC_VELO_CORE bool slc_velo_cut_holds(const slc_velo_cut *cut, float value)
{
    return cut->low <= value && value <= cut->high; /* false for NaN */
}

/* ---- what formulas see --------------------------------------------------------------------------- */

/* A track with its state at the beam line. */
typedef struct slc_velo_select_state {
    float x, y, z, tx, ty, xx, xtx, txtx, yy, yty, tyty, chi2;
    uint32_t n_dof, n_hits;
    bool backward;
} slc_velo_select_state;

/* The vertices of an event: number k of each is at [k * step]. */
typedef struct slc_velo_select_vertices {
    const float *x, *y, *z, *xx, *xy, *yy, *xz, *yz, *zz;
    size_t step, n;
} slc_velo_select_vertices;

enum { SLC_VELO_TRACK_QUANTITIES = SLC_VELO_Q_BEAM_DOCA_MM + 1 };

/* ---- a track ------------------------------------------------------------------------------------- */

SLC_VELO_CORE bool slc_velo_is_number(double x)
{
    return x == x;
}

SLC_VELO_CORE bool slc_velo_is_sound(const slc_velo_select_state *s)
{
    const float none = (s->x - s->x) + (s->y - s->y) + (s->z - s->z) + (s->tx - s->tx) + (s->ty - s->ty);
    return none == 0; /* NaN, of infinities too */
}

/* Distance between the line and the nearest vertex, *from (n without): |(line - vertex) × direction| /
 * |direction|. */
SLC_VELO_CORE double slc_velo_impact_parameter(const slc_velo_select_state *s,
                                               const slc_velo_select_vertices *v, size_t *from)
{
    const double tx = (double)s->tx, ty = (double)s->ty;
    double nearest = (double)INFINITY;
    *from = v->n;
    for (size_t k = 0; k < v->n; k++) {
        const double dx = (double)s->x - (double)v->x[k * v->step];
        const double dy = (double)s->y - (double)v->y[k * v->step];
        const double dz = (double)s->z - (double)v->z[k * v->step];
        const double cx = dy - dz * ty, cy = dz * tx - dx, cz = dx * ty - dy * tx;
        const double square = cx * cx + cy * cy + cz * cz;
        if (!slc_velo_is_number(square)) {
            *from = v->n;
            return (double)NAN; /* a vertex that is no point */
        }
        if (square < nearest) {
            nearest = square;
            *from = k;
        }
    }
    return sqrt(nearest / (tx * tx + ty * ty + 1));
}

/* The residual of the line and the vertex in the plane z of the vertex, r = (x + tx dz - vx, y + ty dz - vy),
 * with dz = vz - z. It moves with the state's parameters and with the vertex' three coordinates, so its
 * covariance is the state's, moved to that plane, plus J V Jᵀ with J = (-1 0 tx; 0 -1 ty) of the vertex. In
 * the plane of closest approach rᵀ C⁻¹ r is the same, but for products of the residual with the slope's
 * error. */
SLC_VELO_CORE double slc_velo_chi2_to(const slc_velo_select_state *s, const slc_velo_select_vertices *v,
                                      size_t k)
{
    const size_t i = k * v->step;
    const double tx = (double)s->tx, ty = (double)s->ty, dz = (double)v->z[i] - (double)s->z;
    const double rx = (double)s->x + tx * dz - (double)v->x[i];
    const double ry = (double)s->y + ty * dz - (double)v->y[i];
    const double xz = (double)v->xz[i], yz = (double)v->yz[i], zz = (double)v->zz[i];
    const double track_xx = (double)s->xx + dz * (2 * (double)s->xtx + dz * (double)s->txtx);
    const double track_yy = (double)s->yy + dz * (2 * (double)s->yty + dz * (double)s->tyty);
    const double cxx = track_xx + (double)v->xx[i] - 2 * tx * xz + tx * tx * zz;
    const double cyy = track_yy + (double)v->yy[i] - 2 * ty * yz + ty * ty * zz;
    const double cxy = (double)v->xy[i] - tx * yz - ty * xz + tx * ty * zz;
    const double determinant = cxx * cyy - cxy * cxy;
    if (!(cxx > 0 && determinant > 0)) {
        return (double)NAN; /* no covariance: nothing can be said */
    }
    return (rx * rx * cyy - 2 * rx * ry * cxy + ry * ry * cxx) / determinant;
}

SLC_VELO_CORE double slc_velo_impact_chi2(const slc_velo_select_state *s, const slc_velo_select_vertices *v)
{
    double smallest = (double)INFINITY;
    for (size_t k = 0; k < v->n; k++) {
        const double chi2 = slc_velo_chi2_to(s, v, k);
        if (!slc_velo_is_number(chi2)) {
            return (double)NAN;
        }
        smallest = chi2 < smallest ? chi2 : smallest;
    }
    return smallest;
}

SLC_VELO_CORE double slc_velo_beam_doca(const slc_velo_select_state *s, double beam_x, double beam_y)
{
    const double x = (double)s->x - beam_x, y = (double)s->y - beam_y;
    const double tx = (double)s->tx, ty = (double)s->ty, slope = slc_velo_hypot(tx, ty);
    return slope > 0 ? fabs(x * ty - y * tx) / slope : slc_velo_hypot(x, y);
}

/* Quantities SLC_VELO_Q_IP_MM … SLC_VELO_Q_BEAM_DOCA_MM. NaN where there is no such number. */
SLC_VELO_CORE float slc_velo_track_quantity(const slc_velo_select_state *s, const slc_velo_select_vertices *v,
                                            double beam_x, double beam_y, slc_velo_quantity quantity)
{
    size_t from;
    const double sign = s->backward ? -1 : 1;
    if (quantity == SLC_VELO_Q_HITS) {
        return (float)s->n_hits;
    }
    if (quantity == SLC_VELO_Q_BACKWARD) {
        return s->backward ? 1.0f : 0.0f;
    }
    if (quantity == SLC_VELO_Q_CHI2_NDOF) {
        return s->n_dof > 0 ? s->chi2 / (float)s->n_dof : NAN;
    }
    if (!slc_velo_is_sound(s)) {
        return NAN;
    }
    switch (quantity) {
    case SLC_VELO_Q_IP_MM:
        return (float)slc_velo_impact_parameter(s, v, &from);
    case SLC_VELO_Q_IP_CHI2:
        return (float)slc_velo_impact_chi2(s, v);
    case SLC_VELO_Q_ETA:
        return (float)(sign * slc_velo_asinh(1 / slc_velo_hypot((double)s->tx, (double)s->ty)));
    case SLC_VELO_Q_PHI:
        return (float)slc_velo_atan2(sign * (double)s->ty, sign * (double)s->tx);
    case SLC_VELO_Q_BEAM_DOCA_MM:
        return (float)slc_velo_beam_doca(s, beam_x, beam_y);
    default: /* none of a track */
        return NAN;
    }
}

/* ---- a pair -------------------------------------------------------------------------------------- */

/* A pair, as far as it has been worked out. */
typedef struct slc_velo_select_pair {
    double p[3], u[3],
        v[3]; /* a point of the first line, the directions of both in reading direction (1 in z) */
    double d[3], n[3], n2; /* from the first line's point to the second's; u × v and its square */
    double sign_u, sign_v; /* -1 where the track flies against its direction */
    double point[3];       /* middle of the shortest connection */
    double flight[3];      /* from the nearest vertex to there */
    bool has_point, has_flight;
} slc_velo_select_pair;

SLC_VELO_CORE void slc_velo_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

SLC_VELO_CORE double slc_velo_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SLC_VELO_CORE void slc_velo_pair_begin(const slc_velo_select_state *a, const slc_velo_select_state *b,
                                       slc_velo_select_pair *pair)
{
    pair->p[0] = (double)a->x;
    pair->p[1] = (double)a->y;
    pair->p[2] = (double)a->z;
    pair->d[0] = (double)b->x - pair->p[0];
    pair->d[1] = (double)b->y - pair->p[1];
    pair->d[2] = (double)b->z - pair->p[2];
    pair->u[0] = (double)a->tx;
    pair->u[1] = (double)a->ty;
    pair->v[0] = (double)b->tx;
    pair->v[1] = (double)b->ty;
    pair->u[2] = pair->v[2] = 1;
    slc_velo_cross(pair->u, pair->v, pair->n);
    pair->n2 = slc_velo_dot(pair->n, pair->n);
    pair->sign_u = a->backward ? -1 : 1;
    pair->sign_v = b->backward ? -1 : 1;
    pair->has_point = pair->has_flight = false;
}

/* Slopes are single precision and their products exact in double, so that n2 is 0 for parallel lines and for
 * no others. */
SLC_VELO_CORE double slc_velo_pair_doca(const slc_velo_select_pair *pair)
{
    if (pair->n2 > 0) {
        return fabs(slc_velo_dot(pair->d, pair->n)) / sqrt(pair->n2);
    }
    double c[3];
    slc_velo_cross(pair->d, pair->u, c);
    const double parallel = sqrt(slc_velo_dot(c, c) / slc_velo_dot(pair->u, pair->u));
    return pair->n2 == 0 ? parallel : (double)NAN;
}

/* The lines' points nearest to each other are p + f u and p + d + g v, with f = (d × v) · n / n², g = (d × u)
 * · n / n². Parallel lines have no such point: NaN. */
SLC_VELO_CORE void slc_velo_pair_point(slc_velo_select_pair *pair)
{
    if (!pair->has_point) {
        double dv[3], du[3];
        slc_velo_cross(pair->d, pair->v, dv);
        slc_velo_cross(pair->d, pair->u, du);
        const double f = pair->n2 > 0 ? slc_velo_dot(dv, pair->n) / pair->n2 : (double)NAN;
        const double g = pair->n2 > 0 ? slc_velo_dot(du, pair->n) / pair->n2 : (double)NAN;
        for (int c = 0; c < 3; c++) {
            pair->point[c] = pair->p[c] + 0.5 * (f * pair->u[c] + pair->d[c] + g * pair->v[c]);
        }
        pair->has_point = true;
    }
}

/* From the vertex nearest to the point; without vertices infinitely long in no direction. */
SLC_VELO_CORE void slc_velo_pair_flight(const slc_velo_select_vertices *v, slc_velo_select_pair *pair)
{
    if (pair->has_flight) {
        return;
    }
    slc_velo_pair_point(pair);
    double nearest = (double)INFINITY;
    for (int c = 0; c < 3; c++) {
        pair->flight[c] = slc_velo_is_number(pair->point[c]) ? (double)INFINITY : (double)NAN;
    }
    for (size_t k = 0; k < v->n; k++) {
        const double d[3] = {pair->point[0] - (double)v->x[k * v->step],
                             pair->point[1] - (double)v->y[k * v->step],
                             pair->point[2] - (double)v->z[k * v->step]};
        const double square = slc_velo_dot(d, d);
        if (!(square >= nearest)) { /* NaN, from a vertex that is no point, stays */
            nearest = square;
            for (int c = 0; c < 3; c++) {
                pair->flight[c] = d[c];
            }
        }
        if (!slc_velo_is_number(square)) {
            break;
        }
    }
    pair->has_flight = true;
}

/* Cosine between the flight and the sum of the tracks' unit directions, each the way it flies. */
SLC_VELO_CORE double slc_velo_pair_pointing(const slc_velo_select_pair *pair)
{
    const double wu = pair->sign_u / sqrt(slc_velo_dot(pair->u, pair->u));
    const double wv = pair->sign_v / sqrt(slc_velo_dot(pair->v, pair->v));
    double sum[3];
    for (int c = 0; c < 3; c++) {
        sum[c] = wu * pair->u[c] + wv * pair->v[c];
    }
    return slc_velo_dot(pair->flight, sum) /
           sqrt(slc_velo_dot(pair->flight, pair->flight) * slc_velo_dot(sum, sum));
}

/* Quantities SLC_VELO_Q_PAIR_DOCA_MM … SLC_VELO_Q_PAIR_POINTING; works out what it needs, once. */
SLC_VELO_CORE float slc_velo_pair_quantity(const slc_velo_select_vertices *v, slc_velo_quantity quantity,
                                           slc_velo_select_pair *pair)
{
    if (quantity == SLC_VELO_Q_PAIR_DOCA_MM) {
        return (float)slc_velo_pair_doca(pair);
    }
    if (quantity == SLC_VELO_Q_PAIR_OPENING_RAD) {
        return (float)slc_velo_atan2(sqrt(pair->n2),
                                     pair->sign_u * pair->sign_v * slc_velo_dot(pair->u, pair->v));
    }
    if (quantity == SLC_VELO_Q_PAIR_VERTEX_Z_MM) {
        slc_velo_pair_point(pair);
        return (float)pair->point[2];
    }
    slc_velo_pair_flight(v, pair);
    switch (quantity) {
    case SLC_VELO_Q_PAIR_FLIGHT_MM:
        return (float)sqrt(slc_velo_dot(pair->flight, pair->flight));
    case SLC_VELO_Q_PAIR_FLIGHT_RHO_MM:
        return (float)slc_velo_hypot(pair->flight[0], pair->flight[1]);
    case SLC_VELO_Q_PAIR_POINTING:
        return (float)slc_velo_pair_pointing(pair);
    default: /* none of a pair */
        return NAN;
    }
}

#endif
