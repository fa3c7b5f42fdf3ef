/* SPDX-License-Identifier: Apache-2.0
 * The quantities of tracks and pairs of tracks; their names. */
#include "velo/velo_select_quantity.h"
#include "velo/velo_select_math.h"

#include <assert.h>
#include <math.h>

static const struct {
    const char *name;
    uint32_t of;
} quantities[SLC_VELO_QUANTITIES] = {
    [SLC_VELO_Q_IP_MM] = {"ip_mm", 1},
    [SLC_VELO_Q_IP_CHI2] = {"ip_chi2", 1},
    [SLC_VELO_Q_CHI2_NDOF] = {"chi2_ndof", 1},
    [SLC_VELO_Q_HITS] = {"hits", 1},
    [SLC_VELO_Q_ETA] = {"eta", 1},
    [SLC_VELO_Q_PHI] = {"phi", 1},
    [SLC_VELO_Q_BACKWARD] = {"backward", 1},
    [SLC_VELO_Q_BEAM_DOCA_MM] = {"beam_doca_mm", 1},
    [SLC_VELO_Q_PAIR_DOCA_MM] = {"pair_doca_mm", 2},
    [SLC_VELO_Q_PAIR_FLIGHT_MM] = {"pair_flight_mm", 2},
    [SLC_VELO_Q_PAIR_FLIGHT_RHO_MM] = {"pair_flight_rho_mm", 2},
    [SLC_VELO_Q_PAIR_VERTEX_Z_MM] = {"pair_vertex_z_mm", 2},
    [SLC_VELO_Q_PAIR_OPENING_RAD] = {"pair_opening_rad", 2},
    [SLC_VELO_Q_PAIR_POINTING] = {"pair_pointing", 2},
    [SLC_VELO_Q_EVENT_TRACKS] = {"event_tracks", 0},
    [SLC_VELO_Q_EVENT_HITS] = {"event_hits", 0},
    [SLC_VELO_Q_EVENT_VERTICES] = {"event_vertices", 0},
};

const char *slc_velo_quantity_name(slc_velo_quantity quantity)
{
    return (unsigned)quantity < SLC_VELO_QUANTITIES ? quantities[quantity].name : NULL;
}

uint32_t slc_velo_quantity_of(slc_velo_quantity quantity)
{
    return (unsigned)quantity < SLC_VELO_QUANTITIES ? quantities[quantity].of : 0;
}

/* ---- a track ------------------------------------------------------------------------------------ */

static bool is_sound(const slc_velo_states *s, size_t i)
{
    return isfinite(s->x_mm[i]) && isfinite(s->y_mm[i]) && isfinite(s->z_mm[i]) && isfinite(s->tx[i]) &&
           isfinite(s->ty[i]);
}

/* Distance between the line and the nearest vertex, whose row is *from: |(line - vertex) × direction| /
 * |direction|. */
static double impact_parameter(const slc_velo_select_event *event, size_t i, size_t *from)
{
    const slc_velo_states *s = event->states;
    const slc_velo_primaries *v = event->primaries;
    const double tx = (double)s->tx[i], ty = (double)s->ty[i];
    double nearest = INFINITY;
    *from = event->first_vertex + event->n_vertices;
    for (size_t k = event->first_vertex; k < event->first_vertex + event->n_vertices; k++) {
        const double dx = (double)s->x_mm[i] - (double)v->x_mm[k];
        const double dy = (double)s->y_mm[i] - (double)v->y_mm[k];
        const double dz = (double)s->z_mm[i] - (double)v->z_mm[k];
        const double cx = dy - dz * ty, cy = dz * tx - dx, cz = dx * ty - dy * tx;
        const double square = cx * cx + cy * cy + cz * cz;
        if (isnan(square)) {
            *from = event->first_vertex + event->n_vertices;
            return NAN; /* a vertex that is no point */
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
static double chi2_to(const slc_velo_states *s, size_t i, const slc_velo_primaries *v, size_t k)
{
    const double tx = (double)s->tx[i], ty = (double)s->ty[i], dz = (double)v->z_mm[k] - (double)s->z_mm[i];
    const double rx = (double)s->x_mm[i] + tx * dz - (double)v->x_mm[k];
    const double ry = (double)s->y_mm[i] + ty * dz - (double)v->y_mm[k];
    const double xz = (double)v->cov_xz_mm2[k], yz = (double)v->cov_yz_mm2[k], zz = (double)v->cov_zz_mm2[k];
    const double track_xx = (double)s->cov_xx_mm2[i] +
                            dz * (2 * (double)s->cov_xtx_mm[i] + dz * (double)s->cov_txtx[i]);
    const double track_yy = (double)s->cov_yy_mm2[i] +
                            dz * (2 * (double)s->cov_yty_mm[i] + dz * (double)s->cov_tyty[i]);
    const double cxx = track_xx + (double)v->cov_xx_mm2[k] - 2 * tx * xz + tx * tx * zz;
    const double cyy = track_yy + (double)v->cov_yy_mm2[k] - 2 * ty * yz + ty * ty * zz;
    const double cxy = (double)v->cov_xy_mm2[k] - tx * yz - ty * xz + tx * ty * zz;
    const double determinant = cxx * cyy - cxy * cxy;
    if (!(cxx > 0 && determinant > 0)) {
        return NAN; /* no covariance: nothing can be said */
    }
    return (rx * rx * cyy - 2 * rx * ry * cxy + ry * ry * cxx) / determinant;
}

static double impact_chi2(const slc_velo_select_event *event, size_t i)
{
    double smallest = INFINITY;
    for (size_t k = event->first_vertex; k < event->first_vertex + event->n_vertices; k++) {
        const double chi2 = chi2_to(event->states, i, event->primaries, k);
        if (isnan(chi2)) {
            return NAN;
        }
        smallest = chi2 < smallest ? chi2 : smallest;
    }
    return smallest;
}

static double beam_doca(const slc_velo_select_event *event, size_t i)
{
    const slc_velo_states *s = event->states;
    const double x = (double)s->x_mm[i] - event->beam_x, y = (double)s->y_mm[i] - event->beam_y;
    const double tx = (double)s->tx[i], ty = (double)s->ty[i], slope = slc_velo_hypot(tx, ty);
    return slope > 0 ? fabs(x * ty - y * tx) / slope : slc_velo_hypot(x, y);
}

size_t slc_velo_select_nearest(const slc_velo_select_event *event, size_t track, float *ip_mm)
{
    const size_t i = event->first_track + track;
    size_t from = event->first_vertex + event->n_vertices;
    *ip_mm = is_sound(event->states, i) ? (float)impact_parameter(event, i, &from) : NAN;
    return from - event->first_vertex;
}

float slc_velo_select_track(const slc_velo_select_event *event, slc_velo_quantity quantity, size_t track)
{
    const slc_velo_states *s = event->states;
    const size_t i = event->first_track + track;
    size_t from;
    const double sign = s->backward[i] != 0 ? -1 : 1;
    switch (quantity) {
    case SLC_VELO_Q_HITS:
        return (float)event->tracks->n_hits[i];
    case SLC_VELO_Q_BACKWARD:
        return s->backward[i] != 0 ? 1.0f : 0.0f;
    case SLC_VELO_Q_CHI2_NDOF:
        return s->n_dof[i] > 0 ? s->chi2[i] / (float)s->n_dof[i] : NAN;
    default:
        break;
    }
    if (!is_sound(s, i)) {
        return NAN;
    }
    switch (quantity) {
    case SLC_VELO_Q_IP_MM:
        return (float)impact_parameter(event, i, &from);
    case SLC_VELO_Q_IP_CHI2:
        return (float)impact_chi2(event, i);
    case SLC_VELO_Q_ETA:
        return (float)(sign * slc_velo_asinh(1 / slc_velo_hypot((double)s->tx[i], (double)s->ty[i])));
    case SLC_VELO_Q_PHI:
        return (float)slc_velo_atan2(sign * (double)s->ty[i], sign * (double)s->tx[i]);
    case SLC_VELO_Q_BEAM_DOCA_MM:
        return (float)beam_doca(event, i);
    default:
        assert(false && "a quantity of a track");
        return NAN;
    }
}

/* ---- a pair ------------------------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void slc_velo_select_begin_pair(const slc_velo_select_event *event, size_t first, size_t second,
                                slc_velo_select_pair *pair)
{
    const slc_velo_states *s = event->states;
    const size_t a = event->first_track + first, b = event->first_track + second;
    const double p[3] = {(double)s->x_mm[a], (double)s->y_mm[a], (double)s->z_mm[a]};
    const double q[3] = {(double)s->x_mm[b], (double)s->y_mm[b], (double)s->z_mm[b]};
    pair->u[0] = (double)s->tx[a];
    pair->u[1] = (double)s->ty[a];
    pair->v[0] = (double)s->tx[b];
    pair->v[1] = (double)s->ty[b];
    pair->u[2] = pair->v[2] = 1;
    for (size_t c = 0; c < 3; c++) {
        pair->p[c] = p[c];
        pair->d[c] = q[c] - p[c];
    }
    cross(pair->u, pair->v, pair->n);
    pair->n2 = dot(pair->n, pair->n);
    pair->sign_u = s->backward[a] != 0 ? -1 : 1;
    pair->sign_v = s->backward[b] != 0 ? -1 : 1;
    pair->has_point = pair->has_flight = false;
}

/* Slopes are single precision and their products exact in double, so that n2 is 0 for parallel lines and for
 * no others. */
static double pair_doca(const slc_velo_select_pair *pair)
{
    if (pair->n2 > 0) {
        return fabs(dot(pair->d, pair->n)) / sqrt(pair->n2);
    }
    double c[3];
    cross(pair->d, pair->u, c);
    const double parallel = sqrt(dot(c, c) / dot(pair->u, pair->u));
    return pair->n2 < 0 || isnan(pair->n2) ? NAN : parallel;
}

/* The lines' points nearest to each other are p + f u and p + d + g v, with f = (d × v) · n / n², g = (d × u)
 * · n / n². Parallel lines have no such point: NaN. */
static void find_point(slc_velo_select_pair *pair)
{
    if (!pair->has_point) {
        double dv[3], du[3];
        cross(pair->d, pair->v, dv);
        cross(pair->d, pair->u, du);
        const double f = pair->n2 > 0 ? dot(dv, pair->n) / pair->n2 : NAN;
        const double g = pair->n2 > 0 ? dot(du, pair->n) / pair->n2 : NAN;
        for (size_t c = 0; c < 3; c++) {
            pair->point[c] = pair->p[c] + 0.5 * (f * pair->u[c] + pair->d[c] + g * pair->v[c]);
        }
        pair->has_point = true;
    }
}

/* From the vertex nearest to the point; without vertices infinitely long in no direction. */
static void find_flight(const slc_velo_select_event *event, slc_velo_select_pair *pair)
{
    if (pair->has_flight) {
        return;
    }
    find_point(pair);
    const slc_velo_primaries *v = event->primaries;
    double nearest = INFINITY;
    for (size_t c = 0; c < 3; c++) {
        pair->flight[c] = isnan(pair->point[c]) ? NAN : INFINITY;
    }
    for (size_t k = event->first_vertex; k < event->first_vertex + event->n_vertices; k++) {
        const double d[3] = {pair->point[0] - (double)v->x_mm[k], pair->point[1] - (double)v->y_mm[k],
                             pair->point[2] - (double)v->z_mm[k]};
        const double square = dot(d, d);
        if (!(square >= nearest)) { /* NaN, from a vertex that is no point, stays */
            nearest = square;
            for (size_t c = 0; c < 3; c++) {
                pair->flight[c] = d[c];
            }
        }
        if (isnan(square)) {
            break;
        }
    }
    pair->has_flight = true;
}

static double opening(const slc_velo_select_pair *pair)
{
    return slc_velo_atan2(sqrt(pair->n2), pair->sign_u * pair->sign_v * dot(pair->u, pair->v));
}

/* Cosine between the flight and the sum of the tracks' unit directions, each the way it flies. */
static double pointing(const slc_velo_select_pair *pair)
{
    const double wu = pair->sign_u / sqrt(dot(pair->u, pair->u));
    const double wv = pair->sign_v / sqrt(dot(pair->v, pair->v));
    double sum[3];
    for (size_t c = 0; c < 3; c++) {
        sum[c] = wu * pair->u[c] + wv * pair->v[c];
    }
    return dot(pair->flight, sum) / sqrt(dot(pair->flight, pair->flight) * dot(sum, sum));
}

float slc_velo_select_pair_of(const slc_velo_select_event *event, slc_velo_quantity quantity,
                              slc_velo_select_pair *pair)
{
    switch (quantity) {
    case SLC_VELO_Q_PAIR_DOCA_MM:
        return (float)pair_doca(pair);
    case SLC_VELO_Q_PAIR_OPENING_RAD:
        return (float)opening(pair);
    case SLC_VELO_Q_PAIR_VERTEX_Z_MM:
        find_point(pair);
        return (float)pair->point[2];
    case SLC_VELO_Q_PAIR_FLIGHT_MM:
        find_flight(event, pair);
        return (float)sqrt(dot(pair->flight, pair->flight));
    case SLC_VELO_Q_PAIR_FLIGHT_RHO_MM:
        find_flight(event, pair);
        return (float)slc_velo_hypot(pair->flight[0], pair->flight[1]);
    case SLC_VELO_Q_PAIR_POINTING:
        find_flight(event, pair);
        return (float)pointing(pair);
    default:
        assert(false && "a quantity of a pair");
        return NAN;
    }
}
