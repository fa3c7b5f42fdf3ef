/* SPDX-License-Identifier: Apache-2.0
 *
 * Residuals and normal equations. x and y of a track's hits are measured apart, with one covariance matrix
 *
 *     V[i][j] = variance of hit i, if i = j, + sum over layers k before both of noise · (z_i − z_k) (z_j −
 * z_k)
 *
 * from one end of the track to the other; which one is first does not matter to what follows, as a line is
 * free to turn at its ends. With H = (1, z) for the line and W = V⁻¹, the line is eliminated by
 *
 *     R = W − W H (Hᵀ W H)⁻¹ Hᵀ W
 *
 * so that the track's chi2 is rᵀ R r for any line whatever that r are distances to; the residual to the line
 * that is fitted without hit i is (R r)_i / R_ii, with variance 1 / R_ii; and moves a of modules, which
 * change r to r + J a, are best where sum Jᵀ R J a = − sum Jᵀ R r. R couples all modules of the track. V.
 * Blobel, C. Kleinwort (2002): "A new method for the high-precision alignment of track detectors", does the
 * same by partitioned matrices.
 */
#include "base/config.h"
#include "velo/velo_geometry.h"

#include <sluice/velo_residuals.h>

#include <math.h>
#include <string.h>

enum { MOST = SLC_VELO_MAX_TRACK_HITS };

typedef struct hit {
    double x, y, z, variance;
    uint32_t module, channel;
} hit;

/* A track at hand. */
typedef struct track {
    uint32_t n;
    hit hits[MOST];
    double tx, ty, noise;
    double rx[MOST], ry[MOST];  /* distances to some line */
    double inverse[MOST][MOST]; /* V, then W */
    double weight[MOST][MOST];  /* R */
    double wx[MOST], wy[MOST];  /* R r */
    double jx[MOST][SLC_VELO_MOVES], jy[MOST][SLC_VELO_MOVES];
} track;

/* ---- the weight of a track --------------------------------------------------------------------- */

static void covariance(track *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            double sum = i == j ? t->hits[i].variance : 0;
            for (uint32_t k = 0; k < j; k++) {
                sum += t->noise * (t->hits[i].z - t->hits[k].z) * (t->hits[j].z - t->hits[k].z);
            }
            t->inverse[i][j] = t->inverse[j][i] = sum;
        }
    }
}

/* In place, without pivots, by Gauss and Jordan: the matrix is positive definite. */
static void invert(track *t)
{
    const uint32_t n = t->n;
    for (uint32_t p = 0; p < n; p++) {
        double *row = t->inverse[p];
        const double pivot = 1 / row[p];
        row[p] = 1;
        for (uint32_t j = 0; j < n; j++) {
            row[j] *= pivot;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (i != p) {
                double *other = t->inverse[i];
                const double factor = other[p];
                other[p] = 0;
                for (uint32_t j = 0; j < n; j++) {
                    other[j] -= factor * row[j];
                }
            }
        }
    }
}

/* R, from W. z is taken from the first hit. False if hits do not make a line. */
static bool eliminate(track *t)
{
    double w1[MOST], wz[MOST], a = 0, b = 0, c = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        w1[i] = wz[i] = 0;
        for (uint32_t j = 0; j < t->n; j++) {
            w1[i] += t->inverse[i][j];
            wz[i] += t->inverse[i][j] * (t->hits[j].z - t->hits[0].z);
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        a += w1[i];
        b += wz[i];
        c += wz[i] * (t->hits[i].z - t->hits[0].z);
    }
    const double det = a * c - b * b;
    if (!(det > 1e-12 * a * c)) {
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        for (uint32_t j = 0; j < t->n; j++) {
            const double line = c * w1[i] * w1[j] - b * (w1[i] * wz[j] + wz[i] * w1[j]) + a * wz[i] * wz[j];
            t->weight[i][j] = t->inverse[i][j] - line / det;
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->wx[i] = t->wy[i] = 0;
        for (uint32_t j = 0; j < t->n; j++) {
            t->wx[i] += t->weight[i][j] * t->rx[j];
            t->wy[i] += t->weight[i][j] * t->ry[j];
        }
    }
    return true;
}

/* ---- sums --------------------------------------------------------------------------------------- */

static void add_one(slc_velo_residual *sums, double weighted, double r, double variance)
{
    const double unbiased = weighted / r, pull = weighted / sqrt(r);
    /* The track that is fitted has a kink at every layer: of r it leaves the hits' own variances times R r.
     */
    const double biased = variance * weighted;
    sums->unbiased_mm += unbiased;
    sums->unbiased2_mm2 += unbiased * unbiased;
    sums->biased_mm += biased;
    sums->biased2_mm2 += biased * biased;
    sums->pull += pull;
    sums->pull2 += pull * pull;
}

static void add_pair(slc_velo_residual_pair *sums, const track *t, uint32_t i)
{
    sums->n++;
    add_one(&sums->x, t->wx[i], t->weight[i][i], t->hits[i].variance);
    add_one(&sums->y, t->wy[i], t->weight[i][i], t->hits[i].variance);
}

static void add_residuals(slc_velo_residuals *sums, const track *t)
{
    enum { VELO = 2, CHIPS = 3 };
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t channel = t->hits[i].channel, sensor = channel >> 18 & 255U, chip = channel >> 16 & 3U;
        if (!(t->weight[i][i] > 0)) {
            continue; /* without the hit there is no line */
        }
        add_pair(&sums->module[t->hits[i].module], t, i);
        if (channel >> 28 == VELO && sensor < SLC_VELO_SENSORS && chip < CHIPS) {
            add_pair(&sums->sensor[sensor], t, i);
            add_pair(&sums->chip[CHIPS * sensor + chip], t, i);
        } else {
            sums->without_sensor++;
        }
    }
}

/* What moves of its module do to the distances of a hit, per mm and mrad: its place changes, and where it is
 * compared with the line. Pivots and signs are those of docs/formats/velo-alignment.md. */
static void derive(track *t, const float *module_z_mm)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const hit *h = &t->hits[i];
        const double x = h->x / 1000, y = h->y / 1000, z = (h->z - (double)module_z_mm[h->module]) / 1000;
        const double place[SLC_VELO_MOVES][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                                 {0, -z, y}, {z, 0, -x}, {-y, x, 0}};
        for (int k = 0; k < SLC_VELO_MOVES; k++) {
            t->jx[i][k] = place[k][0] - t->tx * place[k][2];
            t->jy[i][k] = place[k][1] - t->ty * place[k][2];
        }
    }
}

static size_t row_of(size_t i)
{
    return i * (2 * SLC_VELO_UNKNOWNS + 1 - i) / 2; /* of the diagonal's entry */
}

static void add_block(slc_velo_residuals *sums, const track *t, uint32_t i, uint32_t j)
{
    const size_t mi = (size_t)SLC_VELO_MOVES * t->hits[i].module,
                 mj = (size_t)SLC_VELO_MOVES * t->hits[j].module;
    const double r = t->weight[i][j];
    for (size_t k = 0; k < SLC_VELO_MOVES; k++) {
        for (size_t l = 0; l < SLC_VELO_MOVES; l++) {
            if (mj + l >= mi + k) { /* the upper triangle */
                sums->matrix[row_of(mi + k) + (mj + l - mi - k)] += r * (t->jx[i][k] * t->jx[j][l] +
                                                                         t->jy[i][k] * t->jy[j][l]);
            }
        }
    }
}

static void add_equations(slc_velo_residuals *sums, const track *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const size_t m = (size_t)SLC_VELO_MOVES * t->hits[i].module;
        for (size_t k = 0; k < SLC_VELO_MOVES; k++) {
            sums->vector[m + k] -= t->jx[i][k] * t->wx[i] + t->jy[i][k] * t->wy[i];
        }
        for (uint32_t j = 0; j < t->n; j++) {
            if (t->hits[j].module >= t->hits[i].module) {
                add_block(sums, t, i, j);
            }
        }
    }
}

/* ---- tracks ------------------------------------------------------------------------------------- */

/* What a layer adds to the variance of a slope: that of the fit's last pass (velo_chain.h). */
static double noise_of(const slc_velo_fit_config *fit, double t2, double chi2, double n_dof)
{
    const double prior = (double)fit->scatter_prior;
    if (!(prior > 0)) {
        return (double)fit->noise_constant + (double)fit->noise_slope * t2;
    }
    const double ratio = (prior + chi2) / (prior + n_dof);
    return ((double)fit->noise_constant + (double)fit->second_noise_slope * t2) *
           fmin(fmax(ratio * ratio * ratio, 0.1), 1000);
}

static double variance_of(const slc_velo_fit_config *fit, uint32_t n_pixels)
{
    const uint32_t size = n_pixels < SLC_VELO_FIT_SIZES ? n_pixels : SLC_VELO_FIT_SIZES;
    const double sigma = (double)(size == 0 ? fit->hit_sigma_mm : fit->size_sigma_mm[size - 1]);
    return sigma * sigma;
}

static void load(track *t, const slc_velo_fit_config *fit, const slc_velo_result *from, uint32_t event,
                 size_t row)
{
    const slc_velo_hits *hits = &from->hits;
    const uint32_t *list = from->track_hits.hit + from->track_hits.head.event_offset[event] +
                           from->tracks.hit_begin[row];
    t->n = from->tracks.n_hits[row];
    t->tx = (double)from->beam.tx[row];
    t->ty = (double)from->beam.ty[row];
    t->noise = noise_of(fit, t->tx * t->tx + t->ty * t->ty, (double)from->beam.chi2[row],
                        (double)from->beam.n_dof[row]);
    for (uint32_t i = 0; i < t->n; i++) {
        const size_t h = hits->head.event_offset[event] + list[i];
        t->hits[i] = (hit){.x = (double)hits->x_mm[h],
                           .y = (double)hits->y_mm[h],
                           .z = (double)hits->z_mm[h],
                           .variance = variance_of(fit, hits->n_pixels[h]),
                           .module = hits->module[h],
                           .channel = hits->channel[h]};
        const double dz = t->hits[i].z - (double)from->beam.z_mm[row];
        t->rx[i] = t->hits[i].x - ((double)from->beam.x_mm[row] + t->tx * dz);
        t->ry[i] = t->hits[i].y - ((double)from->beam.y_mm[row] + t->ty * dz);
    }
}

static void add_track(slc_velo_residuals *sums, track *t, const float *module_z_mm)
{
    covariance(t);
    invert(t);
    double chi2 = 0;
    const bool line = eliminate(t);
    for (uint32_t i = 0; i < t->n && line; i++) {
        chi2 += t->rx[i] * t->wx[i] + t->ry[i] * t->wy[i];
    }
    const uint32_t n_dof = 2 * t->n - 4;
    if (!line || !(chi2 <= (double)SLC_VELO_RESIDUALS_CHI2 * n_dof)) {
        sums->outside++;
        return;
    }
    sums->tracks++;
    sums->hits += t->n;
    sums->n_dof += n_dof;
    sums->chi2 += chi2;
    derive(t, module_z_mm);
    add_residuals(sums, t);
    add_equations(sums, t);
}

slc_status slc_velo_residuals_add(slc_velo_residuals *sums, const slc_velo_config *config,
                                  const slc_velo_geometry *geometry, const slc_velo_result *result,
                                  slc_error *error)
{
    slc_velo_config own;
    track t;
    slc_velo_config_default(&own);
    const slc_status status = slc_config_take(&own, sizeof own, config, "slc_velo_config", error);
    if (status != SLC_OK) {
        return status;
    }
    const float *z = geometry != NULL ? geometry->module_z_mm : slc_velo_design_module_z_mm;
    const slc_columns *tracks = &result->tracks.head;
    for (uint32_t e = 0; e < tracks->n_events; e++) {
        for (size_t row = tracks->event_offset[e]; row < tracks->event_offset[e + 1]; row++) {
            const uint32_t n = result->tracks.n_hits[row];
            if (n < SLC_VELO_RESIDUALS_LEAST || n > MOST) {
                sums->short_tracks++;
                continue;
            }
            load(&t, &own.fit, result, e, row);
            add_track(sums, &t, z);
        }
    }
    sums->events += tracks->n_events;
    return SLC_OK;
}
