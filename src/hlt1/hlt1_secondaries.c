/* SPDX-License-Identifier: Apache-2.0
 * Pairs of particles that come from one place: which, where it is, and what flew there. In double precision,
 * one pair after the other: an event has a few of them. */
#include "hlt1/hlt1_secondaries.h"
#include "base/columns.h"

#include <math.h>
#include <string.h>

#define C(m, unit) SOA_COLUMN(slc_hlt1_secondaries, m, unit)
static const slc_column columns[] = {
    C(track_a, "index"),
    C(track_b, "index"),
    C(displaced, "1"),
    C(dimuon, "1"),
    C(v0, "1"),
    C(vertex, "index"),
    C(x_mm, "mm"),
    C(y_mm, "mm"),
    C(z_mm, "mm"),
    C(cov_xx_mm2, "mm^2"),
    C(cov_xy_mm2, "mm^2"),
    C(cov_yy_mm2, "mm^2"),
    C(cov_xz_mm2, "mm^2"),
    C(cov_yz_mm2, "mm^2"),
    C(cov_zz_mm2, "mm^2"),
    C(chi2, "1"),
    C(doca_mm, "mm"),
    C(p_mev, "MeV"),
    C(pt_mev, "MeV"),
    C(sum_pt_mev, "MeV"),
    C(min_pt_mev, "MeV"),
    C(min_p_mev, "MeV"),
    C(min_ip_mm, "mm"),
    C(min_ip_chi2, "1"),
    C(mass_mev, "MeV"),
    C(mass_mumu_mev, "MeV"),
    C(mcor_mev, "MeV"),
    C(flight_mm, "mm"),
    C(flight_chi2, "1"),
    C(eta, "1"),
    C(pointing, "1"),
    C(charge, "e"),
    C(muons, "1"),
    C(network, "1"),
};
#undef C
SOA_SCHEMA(slc_hlt1_secondaries, slc_hlt1_secondaries_schema, "secondaries", columns);

static const double pion_mev = 139.57039, muon_mev = 105.6583755;

/* The pairs that Allen's lines of two tracks and of V0 begin with. */
void slc_hlt1_secondaries_config_default(slc_hlt1_secondaries_config *config)
{
    *config = (slc_hlt1_secondaries_config){.max_chi2_ndof = 10,
                                            .min_pt_mev = 200,
                                            .min_sum_pt_mev = 400,
                                            .min_ip_mm = 0.06f,
                                            .min_ip_chi2 = 4,
                                            .max_doca_mm = 1,
                                            .same_vertex_ip_chi2 = 16,
                                            .v0_min_pt_mev = {80, 450},
                                            .v0_min_ip_mm = {0.08f, 0.2f},
                                            .v0_min_ip_chi2 = {12, 32},
                                            .v0_max_doca_mm = 0.5f,
                                            .dimuon_max_doca_mm = 1};
}

/* ---- the network -------------------------------------------------------------------------------- */

enum { NODES = 20, ABREAST = 8 /* pairs, side by side in vectors of the compiler's */ };

/* Neighbours in order: the smaller one first. */
static void sort_neighbours(float values[NODES][ABREAST])
{
    for (size_t k = 0; k < NODES; k += 2) {
        for (size_t j = 0; j < ABREAST; j++) {
            const float a = values[k][j], b = values[k + 1][j];
            values[k][j] = a < b ? a : b;
            values[k + 1][j] = a < b ? b : a;
        }
    }
}

/* What comes out before it is made a number between 0 and 1. */
static void sum_up(const slc_hlt1_network *network, float input[4][ABREAST], float sum[ABREAST])
{
    float first[NODES][ABREAST], second[NODES][ABREAST];
    for (size_t i = 0; i < NODES; i++) {
        for (size_t j = 0; j < ABREAST; j++) {
            first[i][j] = network->bias_0[i];
            for (size_t k = 0; k < 4; k++) {
                first[i][j] += network->weight_0[i][k] * input[k][j];
            }
        }
    }
    sort_neighbours(first);
    for (size_t i = 0; i < NODES; i++) {
        float of[ABREAST];
        for (size_t j = 0; j < ABREAST; j++) {
            of[j] = network->bias_1[i];
        }
        for (size_t k = 0; k < NODES; k += 2) {
            const float *weight = &network->weight_1[i][k];
            for (size_t j = 0; j < ABREAST; j++) {
                of[j] += weight[0] * first[k][j] + weight[1] * first[k + 1][j];
            }
        }
        memcpy(second[i], of, sizeof of);
    }
    sort_neighbours(second);
    for (size_t j = 0; j < ABREAST; j++) {
        sum[j] = network->bias_2 + network->slope * (input[0][j] + input[1][j] + input[3][j]);
        for (size_t k = 0; k < NODES; k += 2) {
            sum[j] += network->weight_2[k] * second[k][j] + network->weight_2[k + 1] * second[k + 1][j];
        }
    }
}

float slc_hlt1_network_value(const slc_hlt1_network *network, const float input[4])
{
    float inputs[4][ABREAST] = {{0}}, sum[ABREAST];
    for (size_t k = 0; k < 4; k++) {
        inputs[k][0] = input[k];
    }
    sum_up(network, inputs, sum);
    return 1 / (1 + expf(-sum[0]));
}

/* Of pairs from row `begin` on. */
static void put_networks(const slc_hlt1_network *network, size_t begin, slc_hlt1_secondaries *to)
{
    for (size_t row = begin; row < to->head.size; row += ABREAST) {
        const size_t n = to->head.size - row < ABREAST ? to->head.size - row : ABREAST;
        float input[4][ABREAST] = {{0}}, sum[ABREAST] = {0};
        for (size_t j = 0; j < n; j++) {
            input[0][j] = logf(to->flight_chi2[row + j]);
            input[1][j] = 1e-3f * to->sum_pt_mev[row + j];
            input[2][j] = fmaxf(to->chi2[row + j], 1e-10f);
            input[3][j] = logf(to->min_ip_chi2[row + j]);
        }
        if (network != NULL) {
            sum_up(network, input, sum);
        }
        for (size_t j = 0; j < n; j++) {
            const bool known = network != NULL && isfinite(input[0][j] + input[3][j]);
            to->network[row + j] = known ? 1 / (1 + expf(-sum[j])) : NAN;
        }
    }
}

/* ---- which pairs --------------------------------------------------------------------------------- */

enum { DISPLACED = 1, DIMUON = 2, V0 = 4 }; /* why a pair is kept */
enum { NOTED = 512 };                       /* tracks of an event, of which it is noted what they can be */

static bool is_displaced(const slc_hlt1_secondaries_config *c, const slc_hlt1_particles *p, size_t a,
                         size_t b)
{
    const bool far = fmaxf(p->ip_chi2[a], p->ip_chi2[b]) >= c->same_vertex_ip_chi2;
    return fminf(p->pt_mev[a], p->pt_mev[b]) > c->min_pt_mev &&
           p->pt_mev[a] + p->pt_mev[b] > c->min_sum_pt_mev &&
           fminf(p->ip_mm[a], p->ip_mm[b]) > c->min_ip_mm &&
           fminf(p->ip_chi2[a], p->ip_chi2[b]) > c->min_ip_chi2 && (far || p->vertex[a] == p->vertex[b]);
}

static bool are_above(float x, float y, const float least[2])
{
    return fminf(x, y) > least[0] && fmaxf(x, y) > least[1];
}

static bool is_v0(const slc_hlt1_secondaries_config *c, const slc_hlt1_particles *p, size_t a, size_t b)
{
    return p->charge[a] != p->charge[b] && are_above(p->pt_mev[a], p->pt_mev[b], c->v0_min_pt_mev) &&
           are_above(p->ip_mm[a], p->ip_mm[b], c->v0_min_ip_mm) &&
           are_above(p->ip_chi2[a], p->ip_chi2[b], c->v0_min_ip_chi2);
}

/* What a track can be in a pair at all. What is not a number passes, as it does in what decides. */
static uint8_t part_of(const slc_hlt1_secondaries_config *c, const slc_hlt1_particles *p, size_t t)
{
    if (!(p->chi2_ndof[t] < c->max_chi2_ndof)) {
        return 0;
    }
    const bool displaced = !(p->pt_mev[t] <= c->min_pt_mev) && !(p->ip_mm[t] <= c->min_ip_mm) &&
                           !(p->ip_chi2[t] <= c->min_ip_chi2);
    const bool v0 = !(p->pt_mev[t] <= c->v0_min_pt_mev[0]) && !(p->ip_mm[t] <= c->v0_min_ip_mm[0]) &&
                    !(p->ip_chi2[t] <= c->v0_min_ip_chi2[0]);
    return (uint8_t)((displaced ? DISPLACED : 0) | (p->is_muon[t] != 0 ? DIMUON : 0) | (v0 ? V0 : 0));
}

static uint8_t kind_of(const slc_hlt1_secondaries_config *c, const slc_hlt1_particles *p, size_t a, size_t b,
                       double doca)
{
    if (!(p->chi2_ndof[a] < c->max_chi2_ndof && p->chi2_ndof[b] < c->max_chi2_ndof)) {
        return 0;
    }
    const bool displaced = doca < (double)c->max_doca_mm && is_displaced(c, p, a, b);
    const bool dimuon = doca < (double)c->dimuon_max_doca_mm && p->is_muon[a] + p->is_muon[b] == 2;
    const bool v0 = doca < (double)c->v0_max_doca_mm && is_v0(c, p, a, b);
    return (uint8_t)((displaced ? DISPLACED : 0) | (dimuon ? DIMUON : 0) | (v0 ? V0 : 0));
}

/* ---- where ---------------------------------------------------------------------------------------- */

/* Distance between two tracks, and z in the middle of the shortest way; of parallel ones where the first
 * begins. */
static double closest(const slc_hlt1_fitted *f, size_t a, size_t b, double *z)
{
    const double u[3] = {(double)f->tx[a], (double)f->ty[a], 1},
                 v[3] = {(double)f->tx[b], (double)f->ty[b], 1};
    const double d[3] = {(double)f->x_mm[b] - (double)f->x_mm[a], (double)f->y_mm[b] - (double)f->y_mm[a],
                         (double)f->z_mm[b] - (double)f->z_mm[a]};
    const double uu = u[0] * u[0] + u[1] * u[1] + 1, vv = v[0] * v[0] + v[1] * v[1] + 1;
    const double uv = u[0] * v[0] + u[1] * v[1] + 1, du = d[0] * u[0] + d[1] * u[1] + d[2];
    const double dv = d[0] * v[0] + d[1] * v[1] + d[2], det = uu * vv - uv * uv;
    const double s = det > 0 ? (du * vv - dv * uv) / det : 0,
                 r = det > 0 ? (du * uv - dv * uu) / det : -dv / vv;
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        const double way = d[i] + r * v[i] - s * u[i];
        sum += way * way;
    }
    *z = 0.5 * ((double)f->z_mm[a] + s + (double)f->z_mm[b] + r);
    return sqrt(sum);
}

/* The inverse of a symmetric 3 × 3 matrix, xx xy yy xz yz zz. */
static bool invert3(const double m[6], double to[6])
{
    const double c[6] = {m[2] * m[5] - m[4] * m[4], m[3] * m[4] - m[1] * m[5], m[0] * m[5] - m[3] * m[3],
                         m[1] * m[4] - m[2] * m[3], m[1] * m[3] - m[0] * m[4], m[0] * m[2] - m[1] * m[1]};
    const double det = m[0] * c[0] + m[1] * c[1] + m[3] * c[3];
    for (size_t i = 0; i < 6; i++) {
        to[i] = c[i] / det;
    }
    return det > 0 && isfinite(det);
}

static double quadratic(const double m[6], const double d[3])
{
    return d[0] * (m[0] * d[0] + 2 * (m[1] * d[1] + m[3] * d[2])) + d[1] * (m[2] * d[1] + 2 * m[4] * d[2]) +
           m[5] * d[2] * d[2];
}

/* The point that fits both tracks, from what they are at z: x and y of each are measured there, apart. */
static bool fit_point(const slc_hlt1_fitted *f, const size_t track[2], double z, double point[3],
                      double covariance[6], double *chi2)
{
    double info[6] = {0}, right[3] = {0}, constant = 0;
    for (size_t i = 0; i < 2; i++) {
        const size_t t = track[i];
        const double dz = z - (double)f->z_mm[t], tx = (double)f->tx[t], ty = (double)f->ty[t];
        const double x = (double)f->x_mm[t] + dz * tx, y = (double)f->y_mm[t] + dz * ty;
        const double wx = 1 / ((double)f->cov_xx[t] +
                               dz * (2 * (double)f->cov_xtx[t] + dz * (double)f->cov_txtx[t]));
        const double wy = 1 / ((double)f->cov_yy[t] +
                               dz * (2 * (double)f->cov_yty[t] + dz * (double)f->cov_tyty[t]));
        info[0] += wx;
        info[2] += wy;
        info[3] -= wx * tx;
        info[4] -= wy * ty;
        info[5] += wx * tx * tx + wy * ty * ty;
        right[0] += wx * x;
        right[1] += wy * y;
        right[2] -= wx * tx * x + wy * ty * y;
        constant += wx * x * x + wy * y * y;
    }
    if (!invert3(info, covariance)) {
        return false;
    }
    const double *c = covariance;
    point[0] = c[0] * right[0] + c[1] * right[1] + c[3] * right[2];
    point[1] = c[1] * right[0] + c[2] * right[1] + c[4] * right[2];
    point[2] = c[3] * right[0] + c[4] * right[1] + c[5] * right[2];
    *chi2 = fmax(constant - point[0] * right[0] - point[1] * right[1] - point[2] * right[2], 0.0);
    point[2] += z;
    return isfinite(point[0] + point[1] + point[2] + *chi2);
}

/* ---- what flew there -------------------------------------------------------------------------------- */

static double mass_of(const double p[2][3], double m)
{
    double energy = 0, sum[3] = {0};
    for (size_t i = 0; i < 2; i++) {
        energy += sqrt(m * m + p[i][0] * p[i][0] + p[i][1] * p[i][1] + p[i][2] * p[i][2]);
        for (size_t c = 0; c < 3; c++) {
            sum[c] += p[i][c];
        }
    }
    return sqrt(fmax(energy * energy - sum[0] * sum[0] - sum[1] * sum[1] - sum[2] * sum[2], 0.0));
}

/* The primary vertex that a line from a point comes nearest to. */
static size_t nearest_primary(const slc_hlt1_found *found, const double point[3], const double p[3])
{
    const slc_velo_primaries *v = found->primaries;
    const size_t end = v->head.event_offset[found->event + 1];
    const double p2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    double nearest = INFINITY;
    size_t at = end;
    for (size_t k = v->head.event_offset[found->event]; k < end; k++) {
        const double d[3] = {point[0] - (double)v->x_mm[k], point[1] - (double)v->y_mm[k],
                             point[2] - (double)v->z_mm[k]};
        const double along = d[0] * p[0] + d[1] * p[1] + d[2] * p[2];
        const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - along * along / p2;
        at = d2 < nearest ? k : at;
        nearest = d2 < nearest ? d2 : nearest;
    }
    return at;
}

/* Flight from the primary vertex in row k, and what needs it. */
static void put_flight(const slc_hlt1_found *found, size_t k, const double point[3],
                       const double covariance[6], const double p[3], double mass, slc_hlt1_secondaries *to,
                       size_t row)
{
    const slc_velo_primaries *v = found->primaries;
    const double of_v[6] = {(double)v->cov_xx_mm2[k], (double)v->cov_xy_mm2[k], (double)v->cov_yy_mm2[k],
                            (double)v->cov_xz_mm2[k], (double)v->cov_yz_mm2[k], (double)v->cov_zz_mm2[k]};
    const double d[3] = {point[0] - (double)v->x_mm[k], point[1] - (double)v->y_mm[k],
                         point[2] - (double)v->z_mm[k]};
    double both[6], weight[6];
    for (size_t i = 0; i < 6; i++) {
        both[i] = covariance[i] + of_v[i];
    }
    const double rho = sqrt(d[0] * d[0] + d[1] * d[1]), flight = sqrt(rho * rho + d[2] * d[2]);
    const double p2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    const double along = (p[0] * d[0] + p[1] * d[1] + p[2] * d[2]) / flight;
    const double across = sqrt(fmax(p2 - along * along, 0.0));
    to->flight_mm[row] = (float)flight;
    to->flight_chi2[row] = invert3(both, weight) ? (float)quadratic(weight, d) : NAN;
    to->eta[row] = (float)asinh(d[2] / rho);
    to->pointing[row] = (float)(along / sqrt(p2));
    to->mcor_mev[row] = (float)(sqrt(mass * mass + across * across) + across);
}

static void put_pair(const slc_hlt1_particles *of, size_t a, size_t b, const double p[2][3],
                     slc_hlt1_secondaries *to, size_t row)
{
    const double sum[3] = {p[0][0] + p[1][0], p[0][1] + p[1][1], p[0][2] + p[1][2]};
    const double pt = sqrt(sum[0] * sum[0] + sum[1] * sum[1]);
    to->p_mev[row] = (float)sqrt(pt * pt + sum[2] * sum[2]);
    to->pt_mev[row] = (float)pt;
    to->sum_pt_mev[row] = of->pt_mev[a] + of->pt_mev[b];
    to->min_pt_mev[row] = fminf(of->pt_mev[a], of->pt_mev[b]);
    to->min_p_mev[row] = fminf(of->p_mev[a], of->p_mev[b]);
    to->min_ip_mm[row] = fminf(of->ip_mm[a], of->ip_mm[b]);
    to->min_ip_chi2[row] = fminf(of->ip_chi2[a], of->ip_chi2[b]);
    to->mass_mev[row] = (float)mass_of(p, pion_mev);
    to->mass_mumu_mev[row] = (float)mass_of(p, muon_mev);
    to->charge[row] = of->charge[a] + of->charge[b];
    to->muons[row] = of->is_muon[a] + of->is_muon[b];
}

static void momentum_of(const slc_hlt1_fitted *f, size_t t, double p[3])
{
    const double tx = (double)f->tx[t], ty = (double)f->ty[t];
    p[2] = 1 / (fabs((double)f->q_over_p[t]) * sqrt(1 + tx * tx + ty * ty));
    p[0] = tx * p[2];
    p[1] = ty * p[2];
}

/* Adds the pair of the event's tracks a and b if their point can be found. */
static void add(const slc_hlt1_found *found, const slc_hlt1_particles *particles, const size_t local[2],
                uint8_t kind, double doca, double z, slc_hlt1_secondaries *to)
{
    const slc_hlt1_fitted *f = found->fitted;
    const size_t first = f->head.event_offset[found->event], of = particles->head.event_offset[found->event];
    const size_t track[2] = {first + local[0], first + local[1]}, row = to->head.size;
    double point[3], covariance[6], chi2, p[2][3];
    if (!fit_point(f, track, z, point, covariance, &chi2)) {
        return;
    }
    momentum_of(f, track[0], p[0]);
    momentum_of(f, track[1], p[1]);
    const double sum[3] = {p[0][0] + p[1][0], p[0][1] + p[1][1], p[0][2] + p[1][2]};
    float *const covariances[6] = {to->cov_xx_mm2, to->cov_xy_mm2, to->cov_yy_mm2,
                                   to->cov_xz_mm2, to->cov_yz_mm2, to->cov_zz_mm2};
    for (size_t i = 0; i < 6; i++) {
        covariances[i][row] = (float)covariance[i];
    }
    to->track_a[row] = (uint32_t)local[0];
    to->track_b[row] = (uint32_t)local[1];
    to->displaced[row] = (kind & DISPLACED) != 0 ? 1.0f : 0.0f;
    to->dimuon[row] = (kind & DIMUON) != 0 ? 1.0f : 0.0f;
    to->v0[row] = (kind & V0) != 0 ? 1.0f : 0.0f;
    to->x_mm[row] = (float)point[0];
    to->y_mm[row] = (float)point[1];
    to->z_mm[row] = (float)point[2];
    to->chi2[row] = (float)chi2;
    to->doca_mm[row] = (float)doca;
    put_pair(particles, of + local[0], of + local[1], (const double(*)[3])p, to, row);
    const size_t begin = found->primaries->head.event_offset[found->event];
    const size_t end = found->primaries->head.event_offset[found->event + 1];
    const size_t k = nearest_primary(found, point, sum);
    to->vertex[row] = k < end && k - begin < SLC_VELO_NO_VERTEX ? (uint8_t)(k - begin) : SLC_VELO_NO_VERTEX;
    to->flight_mm[row] = to->flight_chi2[row] = to->eta[row] = to->pointing[row] = to->mcor_mev[row] = NAN;
    if (k < end) {
        put_flight(found, k, point, covariance, sum, (double)to->mass_mev[row], to, row);
    }
    to->head.size++;
}

bool slc_hlt1_secondaries_run(const slc_hlt1_secondaries_config *config, const slc_hlt1_network *network,
                              const slc_hlt1_found *found, const slc_hlt1_particles *particles,
                              slc_hlt1_secondaries *secondaries)
{
    const slc_hlt1_fitted *f = found->fitted;
    const size_t first = f->head.event_offset[found->event],
                 n = f->head.event_offset[found->event + 1] - first;
    const size_t of = particles->head.event_offset[found->event], begin = secondaries->head.size;
    uint8_t parts[NOTED];
    bool more = false;
    for (size_t t = 0; t < n && t < NOTED; t++) {
        parts[t] = part_of(config, particles, of + t);
    }
    for (size_t a = 0; a < n && !more; a++) {
        const uint8_t part = a < NOTED ? parts[a] : part_of(config, particles, of + a);
        for (size_t b = a + 1; b < n && part != 0 && !more; b++) {
            /* As good as any pair can be, for most are no candidates whatever their distance is. */
            if ((part & (b < NOTED ? parts[b] : part_of(config, particles, of + b))) == 0 ||
                kind_of(config, particles, of + a, of + b, 0) == 0) {
                continue;
            }
            double z;
            const double doca = closest(f, first + a, first + b, &z);
            const uint8_t kind = kind_of(config, particles, of + a, of + b, doca);
            more = kind != 0 && secondaries->head.size - begin == SLC_HLT1_MAX_SECONDARIES;
            if (kind != 0 && !more) {
                add(found, particles, (const size_t[2]){a, b}, kind, doca, z, secondaries);
            }
        }
    }
    put_networks(network, begin, secondaries);
    slc_columns_end_event(secondaries);
    return more;
}
