/* SPDX-License-Identifier: Apache-2.0
 * Residuals of hits from a straight line, and pulls of fitted states against the particle's true line. */
#include "velo/velo_check_resolution.h"

#include <math.h>

/* Above 2 and above 5 GeV, then one after the other. */
static const double p_low_gev[SLC_VELO_MOMENTUM_RANGES] = {2, 5, 0, 1, 2, 3, 5, 10, 20, 50};

static void init_momentum(slc_velo_check *check)
{
    for (size_t k = 0; k < SLC_VELO_MOMENTUM_RANGES; k++) {
        slc_velo_momentum_range *range = &check->momentum[k];
        const bool open = k < 2 || k + 1 == SLC_VELO_MOMENTUM_RANGES;
        range->p_low_mev = 1000 * p_low_gev[k];
        range->p_high_mev = open ? (double)INFINITY : 1000 * p_low_gev[k + 1];
        slc_histogram *pulls[] = {&range->pull_x, &range->pull_y, &range->pull_tx, &range->pull_ty};
        for (size_t i = 0; i < sizeof pulls / sizeof *pulls; i++) {
            slc_histogram_init(pulls[i], -6, 6, 120);
        }
        slc_histogram_init(&range->probability, 0, 1, 10);
    }
}

void slc_velo_check_init_resolution(slc_velo_check *check)
{
    init_momentum(check);
    slc_histogram_init(&check->residual_x_um, -60, 60, 120);
    slc_histogram_init(&check->residual_y_um, -60, 60, 120);
    slc_histogram *pulls[] = {&check->pull_x, &check->pull_y, &check->pull_tx, &check->pull_ty};
    for (size_t i = 0; i < sizeof pulls / sizeof *pulls; i++) {
        slc_histogram_init(pulls[i], -6, 6, 120);
    }
}

/* Least squares in double precision: v = a + b (z - mean z). Adds v - fit to the histogram, in µm. */
static void add_line_residuals(slc_histogram *histogram, const float *v, const float *z, const size_t *rows,
                               size_t n)
{
    double mean_z = 0, mean_v = 0, zz = 0, zv = 0;
    for (size_t i = 0; i < n; i++) {
        mean_z += (double)z[rows[i]] / (double)n;
        mean_v += (double)v[rows[i]] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double dz = (double)z[rows[i]] - mean_z;
        zz += dz * dz;
        zv += dz * ((double)v[rows[i]] - mean_v);
    }
    const double slope = zz > 0 ? zv / zz : 0;
    for (size_t i = 0; i < n; i++) {
        const double fit = mean_v + slope * ((double)z[rows[i]] - mean_z);
        slc_histogram_add(histogram, 1000 * ((double)v[rows[i]] - fit));
    }
}

void slc_velo_check_residuals(slc_velo_check *check, const slc_velo_match *match, const size_t *hit_rows,
                              size_t n)
{
    if (match->truth->particles.p_mev[match->particle] <= check->config.residual_min_p_mev ||
        n < check->config.residual_min_hits) {
        return;
    }
    const slc_velo_hits *hits = &match->result->hits;
    add_line_residuals(&check->residual_x_um, hits->x_mm, hits->z_mm, hit_rows, n);
    add_line_residuals(&check->residual_y_um, hits->y_mm, hits->z_mm, hit_rows, n);
}

/* How probable so large a chi2 is: n_dof is even, and the integral a sum. */
static double probability_of(double chi2, uint32_t n_dof)
{
    double term = exp(-chi2 / 2), sum = n_dof > 0 ? 0 : 1;
    for (uint32_t k = 0; k < n_dof / 2; k++) {
        sum += term;
        term *= chi2 / 2 / (k + 1);
    }
    return sum < 1 ? sum : nextafter(1, 0); /* of chi2 = 0: in the histogram's last bin */
}

void slc_velo_check_pulls(slc_velo_check *check, const slc_velo_match *match)
{
    const slc_velo_particles *particles = &match->truth->particles;
    const slc_velo_states *beam = &match->result->beam;
    const size_t p = match->particle, t = match->track;
    if (isnan(particles->origin_z_mm[p])) {
        return;
    }
    /* Direction of the momentum at the origin: tan(theta) = 1 / sinh(eta), negative for a backward particle.
     */
    const double tangent = 1.0 / sinh((double)particles->eta[p]);
    const double tx = tangent * cos((double)particles->phi_rad[p]),
                 ty = tangent * sin((double)particles->phi_rad[p]);
    const double dz = (double)beam->z_mm[t] - (double)particles->origin_z_mm[p];
    const double x = (double)particles->origin_x_mm[p] + tx * dz,
                 y = (double)particles->origin_y_mm[p] + ty * dz;
    const double pull_x = ((double)beam->x_mm[t] - x) / sqrt((double)beam->cov_xx_mm2[t]),
                 pull_y = ((double)beam->y_mm[t] - y) / sqrt((double)beam->cov_yy_mm2[t]),
                 pull_tx = ((double)beam->tx[t] - tx) / sqrt((double)beam->cov_txtx[t]),
                 pull_ty = ((double)beam->ty[t] - ty) / sqrt((double)beam->cov_tyty[t]);
    slc_histogram_add(&check->pull_x, pull_x);
    slc_histogram_add(&check->pull_y, pull_y);
    slc_histogram_add(&check->pull_tx, pull_tx);
    slc_histogram_add(&check->pull_ty, pull_ty);
    const double p_mev = (double)particles->p_mev[p];
    const double probability = probability_of((double)beam->chi2[t], beam->n_dof[t]);
    for (size_t k = 0; k < SLC_VELO_MOMENTUM_RANGES; k++) {
        slc_velo_momentum_range *range = &check->momentum[k];
        if (p_mev >= range->p_low_mev && p_mev < range->p_high_mev) {
            slc_histogram_add(&range->pull_x, pull_x);
            slc_histogram_add(&range->pull_y, pull_y);
            slc_histogram_add(&range->pull_tx, pull_tx);
            slc_histogram_add(&range->pull_ty, pull_ty);
            slc_histogram_add(&range->probability, probability);
        }
    }
}
