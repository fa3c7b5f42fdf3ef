/* SPDX-License-Identifier: Apache-2.0
 * Fitted tracks as particles: momenta, and how far they pass by the primary vertices. */
#include "base/columns.h"
#include "hlt1/hlt1_secondaries.h"

#include <math.h>

static const slc_column columns[] = {
    SOA_COLUMN(slc_hlt1_particles, p_mev, "MeV"),   SOA_COLUMN(slc_hlt1_particles, pt_mev, "MeV"),
    SOA_COLUMN(slc_hlt1_particles, eta, "1"),       SOA_COLUMN(slc_hlt1_particles, charge, "e"),
    SOA_COLUMN(slc_hlt1_particles, ip_mm, "mm"),    SOA_COLUMN(slc_hlt1_particles, ip_chi2, "1"),
    SOA_COLUMN(slc_hlt1_particles, chi2_ndof, "1"), SOA_COLUMN(slc_hlt1_particles, vertex_z_mm, "mm"),
    SOA_COLUMN(slc_hlt1_particles, track_mva, "1"), SOA_COLUMN(slc_hlt1_particles, track_muon_mva, "1"),
    SOA_COLUMN(slc_hlt1_particles, is_muon, "1"),   SOA_COLUMN(slc_hlt1_particles, vertex, "index"),
};
SOA_SCHEMA(slc_hlt1_particles, slc_hlt1_particles_schema, "particles", columns);

/* Squared distance of a fitted track from a point. */
static double distance2(const slc_hlt1_fitted *f, size_t t, double x, double y, double z)
{
    const double tx = (double)f->tx[t], ty = (double)f->ty[t];
    const double d[3] = {x - (double)f->x_mm[t], y - (double)f->y_mm[t], z - (double)f->z_mm[t]};
    const double c[3] = {d[1] - d[2] * ty, d[2] * tx - d[0], d[0] * ty - d[1] * tx};
    return (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) / (1 + tx * tx + ty * ty);
}

/* What the track misses the vertex by at its z, over the errors of both, squared. */
static double miss_chi2(const slc_hlt1_fitted *f, size_t t, const slc_velo_primaries *v, size_t k)
{
    const double dz = (double)v->z_mm[k] - (double)f->z_mm[t];
    const double dx = (double)f->x_mm[t] + dz * (double)f->tx[t] - (double)v->x_mm[k];
    const double dy = (double)f->y_mm[t] + dz * (double)f->ty[t] - (double)v->y_mm[k];
    const double xx = (double)f->cov_xx[t] + dz * (2 * (double)f->cov_xtx[t] + dz * (double)f->cov_txtx[t]) +
                      (double)v->cov_xx_mm2[k];
    const double yy = (double)f->cov_yy[t] + dz * (2 * (double)f->cov_yty[t] + dz * (double)f->cov_tyty[t]) +
                      (double)v->cov_yy_mm2[k];
    const double xy = (double)f->cov_xy[t] +
                      dz * ((double)f->cov_xty[t] + (double)f->cov_ytx[t] + dz * (double)f->cov_txty[t]) +
                      (double)v->cov_xy_mm2[k];
    const double det = xx * yy - xy * xy;
    return (dx * dx * yy - 2 * dx * dy * xy + dy * dy * xx) / det;
}

/* ln(ip chi2) less what a line asks of a track of this pT, in GeV, after a shift. */
static float margin(double ip_chi2, double pt_gev)
{
    const double least = log(7.4), range = 26;
    if (!(pt_gev > 2)) {
        return -INFINITY;
    }
    const double asked = pt_gev > range
                             ? least
                             : 1 / ((pt_gev - 2) * (pt_gev - 2)) + 1.248 / range * (range - pt_gev) + least;
    return (float)(log(ip_chi2) - asked);
}

static void put(const slc_hlt1_found *found, size_t t, uint32_t track, slc_hlt1_particles *to)
{
    const slc_hlt1_fitted *f = found->fitted;
    const slc_velo_primaries *v = found->primaries;
    const size_t first = v->head.event_offset[found->event], end = v->head.event_offset[found->event + 1];
    const size_t row = to->head.size++;
    const double tx = (double)f->tx[t], ty = (double)f->ty[t], q = (double)f->q_over_p[t];
    const double slope2 = tx * tx + ty * ty, p = 1 / fabs(q), pt = p * sqrt(slope2 / (1 + slope2));
    double nearest = INFINITY, chi2 = INFINITY;
    size_t at = end;
    for (size_t k = first; k < end && !isnan(q); k++) {
        const double d2 = distance2(f, t, (double)v->x_mm[k], (double)v->y_mm[k], (double)v->z_mm[k]);
        at = d2 < nearest ? k : at;
        nearest = d2 < nearest ? d2 : nearest;
    }
    if (at < end) {
        chi2 = miss_chi2(f, t, v, at);
    }
    const bool none = isnan(q);
    to->p_mev[row] = (float)p;
    to->pt_mev[row] = (float)pt;
    to->eta[row] = (float)asinh(1 / sqrt(slope2));
    to->charge[row] = none ? NAN : q > 0 ? 1.0f : -1.0f;
    to->ip_mm[row] = none ? NAN : (float)sqrt(nearest);
    to->ip_chi2[row] = none ? NAN : (float)chi2;
    to->chi2_ndof[row] = f->n_dof[t] > 0 ? f->chi2[t] / (float)f->n_dof[t] : NAN;
    to->vertex_z_mm[row] = at < end ? v->z_mm[at] : NAN;
    to->track_mva[row] = none ? NAN : margin(chi2, 1e-3 * (pt - 296));
    to->track_muon_mva[row] = none ? NAN : margin(chi2, 1e-3 * pt);
    const slc_muon_ids *m = found->muons;
    to->is_muon[row] = m != NULL && m->is_muon[m->head.event_offset[found->event] + track] != 0 ? 1.0f : 0.0f;
    to->vertex[row] = at < end && at - first < SLC_VELO_NO_VERTEX ? (uint8_t)(at - first)
                                                                  : SLC_VELO_NO_VERTEX;
}

void slc_hlt1_particles_run(const slc_hlt1_found *found, slc_hlt1_particles *particles)
{
    const size_t first = found->fitted->head.event_offset[found->event];
    const size_t end = found->fitted->head.event_offset[found->event + 1];
    for (size_t t = first; t < end; t++) {
        put(found, t, (uint32_t)(t - first), particles);
    }
    slc_columns_end_event(particles);
}
