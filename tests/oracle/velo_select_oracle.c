/* SPDX-License-Identifier: Apache-2.0
 * Selections from their definitions. */
#include "oracle/velo_select_oracle.h"
#include "velo/velo_select_quantity.h"

#include <math.h>

/* ---- tracks ------------------------------------------------------------------------------------ */

static double distance(const double a[3], const double b[3])
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* The point of the line where its distance to `to` is smallest. */
static double distance_to_line(const oracle_track *t, const double to[3])
{
    const double along[3] = {t->tx, t->ty, 1};
    const double s = ((to[0] - t->x) * along[0] + (to[1] - t->y) * along[1] + (to[2] - t->z)) /
                     (t->tx * t->tx + t->ty * t->ty + 1);
    const double point[3] = {t->x + s * along[0], t->y + s * along[1], t->z + s};
    return distance(point, to);
}

/* Seven parameters: x, y, tx, ty of the state, then the vertex. */
static void residual(const double p[7], double z, double r[2])
{
    r[0] = p[0] + p[2] * (p[6] - z) - p[4];
    r[1] = p[1] + p[3] * (p[6] - z) - p[5];
}

/* The residual in the vertex' plane with its covariance J C Jᵀ, J by differences. */
static double chi2_of(const oracle_track *t, const oracle_vertex *v)
{
    const double p[7] = {t->x, t->y, t->tx, t->ty, v->at[0], v->at[1], v->at[2]};
    double c[7][7] = {{0}}, j[2][7], r[2], s[2][2] = {{0}};
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 7; k++) {
            c[i][k] = i < 4 && k < 4 ? t->cov[i][k] : i >= 4 && k >= 4 ? v->cov[i - 4][k - 4] : 0;
        }
        double up[7], down[7], r_up[2], r_down[2];
        for (int k = 0; k < 7; k++) {
            up[k] = down[k] = p[k];
        }
        up[i] += 0.5;
        down[i] -= 0.5; /* the residual is linear in each parameter alone */
        residual(up, t->z, r_up);
        residual(down, t->z, r_down);
        j[0][i] = r_up[0] - r_down[0];
        j[1][i] = r_up[1] - r_down[1];
    }
    residual(p, t->z, r);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            for (int i = 0; i < 7; i++) {
                for (int k = 0; k < 7; k++) {
                    s[a][b] += j[a][i] * c[i][k] * j[b][k];
                }
            }
        }
    }
    const double determinant = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    return (r[0] * (s[1][1] * r[0] - s[0][1] * r[1]) + r[1] * (s[0][0] * r[1] - s[1][0] * r[0])) /
           determinant;
}

/* The direction in which the particle flies, of length 1. */
static void flies(const oracle_track *t, double direction[3])
{
    const double length = sqrt(t->tx * t->tx + t->ty * t->ty + 1) * (t->backward ? -1 : 1);
    direction[0] = t->tx / length;
    direction[1] = t->ty / length;
    direction[2] = 1 / length;
}

double oracle_track_quantity(const oracle_event *event, slc_velo_quantity quantity, size_t track)
{
    const oracle_track *t = &event->tracks[track];
    double direction[3], nearest = INFINITY;
    flies(t, direction);
    if (quantity == SLC_VELO_Q_HITS) {
        return t->n_hits;
    }
    if (quantity == SLC_VELO_Q_BACKWARD) {
        return t->backward;
    }
    if (quantity == SLC_VELO_Q_CHI2_NDOF) {
        return t->n_dof == 0 ? NAN : t->chi2 / t->n_dof;
    }
    if (isnan(t->x + t->y + t->z + t->tx + t->ty)) {
        return NAN;
    }
    if (quantity == SLC_VELO_Q_IP_MM || quantity == SLC_VELO_Q_IP_CHI2) {
        for (size_t k = 0; k < event->n_vertices; k++) {
            const oracle_vertex *v = &event->vertices[k];
            const double value = quantity == SLC_VELO_Q_IP_MM ? distance_to_line(t, v->at) : chi2_of(t, v);
            if (isnan(value)) {
                return NAN;
            }
            nearest = fmin(nearest, value);
        }
        return nearest;
    }
    if (quantity == SLC_VELO_Q_ETA) {
        return -log(tan(0.5 * atan2(hypot(direction[0], direction[1]), direction[2])));
    }
    if (quantity == SLC_VELO_Q_PHI) {
        return atan2(direction[1], direction[0]);
    }
    /* The beam line, seen along z, is a point, and the track a line in two dimensions. */
    const double s = ((event->beam_x - t->x) * t->tx + (event->beam_y - t->y) * t->ty) /
                     (t->tx * t->tx + t->ty * t->ty);
    return hypot(t->x + s * t->tx - event->beam_x, t->y + s * t->ty - event->beam_y);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* Nearest points of two lines that are not parallel, from the two conditions that their connection is
 * perpendicular to both. The determinant cancels for lines that are nearly parallel: hence the precision. */
static void nearest_points(const oracle_track *a, const oracle_track *b, double on_a[3], double on_b[3])
{
    const long double u[3] = {a->tx, a->ty, 1}, v[3] = {b->tx, b->ty, 1};
    const long double d[3] = {b->x - a->x, b->y - a->y, b->z - a->z};
    long double uu = 0, vv = 0, uv = 0, ud = 0, vd = 0;
    for (int c = 0; c < 3; c++) {
        uu += u[c] * u[c];
        vv += v[c] * v[c];
        uv += u[c] * v[c];
        ud += u[c] * d[c];
        vd += v[c] * d[c];
    }
    const long double determinant = uu * vv - uv * uv;
    const long double f = (ud * vv - vd * uv) / determinant, g = (ud * uv - vd * uu) / determinant;
    const double pa[3] = {a->x, a->y, a->z}, pb[3] = {b->x, b->y, b->z};
    for (int c = 0; c < 3; c++) {
        on_a[c] = (double)(pa[c] + f * u[c]);
        on_b[c] = (double)(pb[c] + g * v[c]);
    }
}

double oracle_pair_quantity(const oracle_event *event, slc_velo_quantity quantity, size_t first,
                            size_t second)
{
    const oracle_track *a = &event->tracks[first], *b = &event->tracks[second];
    const bool parallel = a->tx == b->tx && a->ty == b->ty;
    double on_a[3], on_b[3], point[3], da[3], db[3], flight[3] = {INFINITY, INFINITY, INFINITY};
    nearest_points(a, b, on_a, on_b);
    flies(a, da);
    flies(b, db);
    if (quantity == SLC_VELO_Q_PAIR_OPENING_RAD) {
        const double back[3] = {-db[0], -db[1], -db[2]};
        return 2 * atan2(distance(da, db), distance(da, back));
    }
    if (quantity == SLC_VELO_Q_PAIR_DOCA_MM) {
        const double there[3] = {b->x, b->y, b->z};
        return parallel ? distance_to_line(a, there) : distance(on_a, on_b);
    }
    if (parallel) {
        return NAN;
    }
    double nearest = INFINITY;
    for (int c = 0; c < 3; c++) {
        point[c] = 0.5 * (on_a[c] + on_b[c]);
    }
    for (size_t k = 0; k < event->n_vertices; k++) {
        if (distance(point, event->vertices[k].at) < nearest) {
            nearest = distance(point, event->vertices[k].at);
            for (int c = 0; c < 3; c++) {
                flight[c] = point[c] - event->vertices[k].at[c];
            }
        }
    }
    if (quantity == SLC_VELO_Q_PAIR_VERTEX_Z_MM) {
        return point[2];
    }
    if (isnan(point[0] + point[1] + point[2])) {
        return NAN;
    }
    if (quantity == SLC_VELO_Q_PAIR_FLIGHT_MM) {
        return nearest;
    }
    if (quantity == SLC_VELO_Q_PAIR_FLIGHT_RHO_MM) {
        return hypot(flight[0], flight[1]);
    }
    double along = 0, sum2 = 0;
    for (int c = 0; c < 3; c++) {
        along += flight[c] * (da[c] + db[c]);
        sum2 += pow(da[c] + db[c], 2);
    }
    return along / (nearest * sqrt(sum2));
}

/* ---- lines ------------------------------------------------------------------------------------- */

static bool passes(const slc_velo_cut *cut, double value, bool *close)
{
    const double room = 1e-5 + 1e-4 * fabs(value);
    const double low = (double)cut->low, high = (double)cut->high;
    if (isfinite(value) && (fabs(value - low) < room || fabs(value - high) < room)) {
        /* Counts are exact, and often meant to lie on the edge. */
        *close = *close || (value != low && value != high) || floor(value) != value;
    }
    return value >= low && value <= high;
}

static double event_quantity(const oracle_event *event, slc_velo_quantity quantity)
{
    switch (quantity) {
    case SLC_VELO_Q_EVENT_TRACKS:
        return (double)event->n_tracks;
    case SLC_VELO_Q_EVENT_HITS:
        return (double)event->n_hits;
    default:
        return (double)event->n_vertices;
    }
}

static bool track_passes(const oracle_event *event, const slc_velo_line *line, size_t track, bool *close)
{
    bool good = true;
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        const slc_velo_cut *cut = &line->cuts[c];
        good = (slc_velo_quantity_of(cut->quantity) != 1 ||
                passes(cut, oracle_track_quantity(event, cut->quantity, track), close)) &&
               good;
    }
    return good;
}

bool oracle_line(const oracle_event *event, const slc_velo_line *line, uint64_t number, bool *close)
{
    bool pairs = false;
    uint64_t n_tracks = 0, n_pairs = 0;
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        const slc_velo_cut *cut = &line->cuts[c];
        pairs = pairs || slc_velo_quantity_of(cut->quantity) == 2;
        if (slc_velo_quantity_of(cut->quantity) == 0 &&
            !passes(cut, event_quantity(event, cut->quantity), close)) {
            return false;
        }
    }
    for (size_t a = 0; a < event->n_tracks; a++) {
        if (!track_passes(event, line, a, close)) {
            continue;
        }
        n_tracks++;
        for (size_t b = a + 1; pairs && b < event->n_tracks; b++) {
            bool good = track_passes(event, line, b, close);
            for (uint32_t c = 0; c < line->n_cuts; c++) {
                const slc_velo_cut *cut = &line->cuts[c];
                good = good && (slc_velo_quantity_of(cut->quantity) != 2 ||
                                passes(cut, oracle_pair_quantity(event, cut->quantity, a, b), close));
            }
            n_pairs += good;
        }
    }
    return (pairs ? n_pairs : n_tracks) >= line->min_count && number % line->prescale == 0;
}

bool oracle_fired(const oracle_event *event, const slc_velo_line *line, size_t track, bool *close)
{
    bool pairs = false, any = false;
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        pairs = pairs || slc_velo_quantity_of(line->cuts[c].quantity) == 2;
    }
    if (line->min_count == 0 || !track_passes(event, line, track, close)) {
        return false;
    }
    for (size_t other = 0; pairs && other < event->n_tracks; other++) {
        const size_t a = other < track ? other : track, b = other < track ? track : other;
        bool good = other != track && track_passes(event, line, other, close);
        for (uint32_t c = 0; c < line->n_cuts; c++) {
            const slc_velo_cut *cut = &line->cuts[c];
            good = good && (slc_velo_quantity_of(cut->quantity) != 2 ||
                            passes(cut, oracle_pair_quantity(event, cut->quantity, a, b), close));
        }
        any = any || good;
    }
    return !pairs || any;
}
