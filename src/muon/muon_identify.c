/* SPDX-License-Identifier: Apache-2.0
 *
 * isMuon, as LHCb defines it (Allen's is_muon): windows about the straight continuation of a track that
 * shrink with its momentum, and stations that must have a hit in them.
 *
 * The windows are made for 98 % or so of the muons, whatever else is in them. The chi2 asks how well the hits
 * fit: the track is carried from scatterer to scatterer, each of which widens its slope by what multiple
 * scattering (V. Highland's formula, without its logarithm) does at the momentum that is left there, and in
 * each station takes in the hit that it fits best, as a Kalman filter does. So deviations in one station are
 * not counted again in the next ones.
 */
#include "muon/muon_identify.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Middle of each, mm; 25 radiation lengths of ECAL, 53 of HCAL, 800 mm of iron. */
const slc_muon_scatterer slc_muon_scatterers[SLC_MUON_SCATTERERS] = {
    {12700, 25, 220}, {14200, 53, 1550}, {15800, 45.5f, 950}, {17050, 45.5f, 950}, {18275, 45.5f, 950}};

static const float highland_mev = 13.6f;
static const float least_mev = 3000, middle_mev = 6000, high_mev = 10000;
static const float window_scale = 1.2f;
/* Of a momentum that matter has eaten up: a muon that is measured too low got through all the same. */
static const float least_left_mev = 800;
/* What a station that a muon of the momentum reaches, and that has no hit, adds to the chi2. */
static const float missing_chi2 = 20;
static const float slope_variance = 1e-8f; /* of the track behind the SciFi */

/* A track on its way: place and slope in x and in y, with covariances. */
typedef struct line {
    float at, slope, cov[3]; /* of at at, at slope, slope slope */
} line;

static void carry(line *l, float dz)
{
    l->at += l->slope * dz;
    l->cov[0] += dz * (2 * l->cov[1] + dz * l->cov[2]);
    l->cov[1] += dz * l->cov[2];
}

/* Takes a measurement in; returns its chi2. */
static float take(line *l, float measured, float variance)
{
    const float residual = measured - l->at, sum = l->cov[0] + variance;
    const float gain_at = l->cov[0] / sum, gain_slope = l->cov[1] / sum;
    l->at += gain_at * residual;
    l->slope += gain_slope * residual;
    l->cov[2] -= gain_slope * l->cov[1];
    l->cov[1] -= gain_slope * l->cov[0];
    l->cov[0] -= gain_at * l->cov[0];
    return residual * residual / sum;
}

/* Half sizes of the windows over those of the pads, for a momentum. */
typedef struct windows {
    float x[SLC_MUON_STATIONS][SLC_MUON_REGIONS], y[SLC_MUON_STATIONS][SLC_MUON_REGIONS];
} windows;

/* exp(-x) for x >= 0, to a few units in the last place: the same bits wherever it is computed, unlike a
 * library's. */
static float decay(float x)
{
    const float c = x < 80 ? x : 80;
    const int32_t n = (int32_t)(c * 1.44269504f + 0.5f);
    const float r = (float)n * 0.693147182f - c;
    const float power = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120)))));
    const uint32_t bits = (uint32_t)(127 - n) << 23; /* 2^-n */
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return power * scale;
}

static void make_windows(const slc_muon_geometry *geometry, float p_mev, windows *w)
{
    const float p_gev = p_mev / 1000;
    for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
        const float(*foi)[2][SLC_MUON_REGIONS] = geometry->field_of_interest[s];
        for (uint32_t r = 0; r < SLC_MUON_REGIONS; r++) {
            w->x[s][r] = window_scale * (foi[0][0][r] + foi[1][0][r] * decay(foi[2][0][r] * p_gev));
            w->y[s][r] = window_scale * (foi[0][1][r] + foi[1][1][r] * decay(foi[2][1][r] * p_gev));
        }
    }
}

/* What station `s` has for a track: its hits in the windows, of which the best is taken in. */
typedef struct choice {
    const slc_muon_hits *hits;
    size_t begin, end; /* the station's */
    const windows *windows;
    float x, y, z, tx, ty; /* the track's straight continuation begins there */
} choice;

static bool inside(const choice *c, size_t i)
{
    const slc_muon_hits *h = c->hits;
    const float dz = h->z_mm[i] - c->z;
    const uint32_t s = h->station[i], r = h->region[i];
    return fabsf(h->x_mm[i] - (c->x + c->tx * dz)) < h->dx_mm[i] * c->windows->x[s][r] &&
           fabsf(h->y_mm[i] - (c->y + c->ty * dz)) < h->dy_mm[i] * c->windows->y[s][r];
}

/* The best hit for the two lines, which are at z. False where there is none in the windows. */
static bool best_hit(const choice *c, const line l[2], float z, size_t *best)
{
    float least = FLT_MAX;
    for (size_t i = c->begin; i < c->end; i++) {
        if (!inside(c, i)) {
            continue;
        }
        const slc_muon_hits *h = c->hits;
        const float dz = h->z_mm[i] - z;
        const float dx = h->x_mm[i] - (l[0].at + l[0].slope * dz),
                    dy = h->y_mm[i] - (l[1].at + l[1].slope * dz);
        const float distance = dx * dx / (l[0].cov[0] + h->dx_mm[i] * h->dx_mm[i] / 3) +
                               dy * dy / (l[1].cov[0] + h->dy_mm[i] * h->dy_mm[i] / 3);
        if (distance < least) {
            least = distance;
            *best = i;
        }
    }
    return least < FLT_MAX;
}

/* Through the scatterers before a station. */
static void scatter(line l[2], float *z, uint32_t station, float p_mev)
{
    const uint32_t first = station == 0 ? 0 : station + 1, last = station + 1;
    for (uint32_t k = first; k <= last; k++) {
        const slc_muon_scatterer *s = &slc_muon_scatterers[k];
        float left = p_mev - s->loss_mev / 2; /* half way through it */
        for (uint32_t before = 0; before < k; before++) {
            left -= slc_muon_scatterers[before].loss_mev;
        }
        left = left > least_left_mev ? left : least_left_mev;
        const float sigma = highland_mev / left * sqrtf(s->radiation_lengths);
        const float dz = s->z_mm - *z;
        for (int axis = 0; axis < 2; axis++) {
            const float path = 1 + l[axis].slope * l[axis].slope; /* projected angle to slope */
            carry(&l[axis], dz);
            l[axis].cov[2] += sigma * sigma * path * path;
        }
        *z = s->z_mm;
    }
}

static bool has_stations(uint32_t stations, float p_mev)
{
    const bool m2 = (stations & 1) != 0, m3 = (stations & 2) != 0, m4 = (stations & 4) != 0,
               m5 = (stations & 8) != 0;
    if (p_mev < least_mev || !m2 || !m3) {
        return false;
    }
    return p_mev < middle_mev || (p_mev < high_mev ? m4 || m5 : m4 && m5);
}

static void identify(const slc_muon_geometry *geometry, choice *c,
                     const size_t station_begin[SLC_MUON_STATIONS + 1], float p_mev, slc_muon_ids *ids,
                     size_t row)
{
    windows w;
    line l[2] = {{c->x, c->tx, {1, 0, slope_variance}}, {c->y, c->ty, {1, 0, slope_variance}}};
    uint32_t stations = 0, n = 0;
    float z = c->z, chi2 = 0;
    c->windows = &w;
    make_windows(geometry, p_mev, &w);
    for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
        size_t best = 0;
        c->begin = station_begin[s];
        c->end = station_begin[s + 1];
        scatter(l, &z, s, p_mev);
        if (c->begin == c->end) {
            continue;
        }
        const float dz = c->hits->z_mm[c->begin] - z; /* about where the station is */
        carry(&l[0], dz);
        carry(&l[1], dz);
        z += dz;
        if (!best_hit(c, l, z, &best)) {
            continue;
        }
        const slc_muon_hits *h = c->hits;
        carry(&l[0], h->z_mm[best] - z);
        carry(&l[1], h->z_mm[best] - z);
        z = h->z_mm[best];
        chi2 += take(&l[0], h->x_mm[best], h->dx_mm[best] * h->dx_mm[best] / 3);
        chi2 += take(&l[1], h->y_mm[best], h->dy_mm[best] * h->dy_mm[best] / 3);
        stations |= 1U << s;
        n += 2;
    }
    const uint32_t expected = p_mev < middle_mev ? 2 : p_mev < high_mev ? 3 : 4;
    for (uint32_t s = 0; s < expected; s++) {
        chi2 += (stations >> s & 1) != 0 ? 0 : missing_chi2;
        n += (stations >> s & 1) != 0 ? 0 : 2;
    }
    ids->is_muon[row] = has_stations(stations, p_mev) ? 1 : 0;
    ids->stations[row] = (uint8_t)stations;
    ids->chi2[row] = chi2;
    ids->n_dof[row] = n;
}

void slc_muon_identify(const slc_muon_geometry *geometry, const slc_muon_hits *hits, size_t begin, size_t end,
                       const slc_muon_states *states, slc_muon_ids *ids)
{
    size_t station_begin[SLC_MUON_STATIONS + 1], at = begin;
    assert(geometry->has_field_of_interest);
    assert(ids->head.capacity - ids->head.size >= states->n);
    for (uint32_t s = 0; s <= SLC_MUON_STATIONS; s++) {
        while (at < end && hits->station[at] < s) {
            at++;
        }
        station_begin[s] = at;
    }
    for (size_t t = 0; t < states->n; t++) {
        const size_t row = ids->head.size++;
        const float p_mev = 1 / fabsf(states->q_over_p[t]);
        choice c = {.hits = hits,
                    .x = states->x_mm[t],
                    .y = states->y_mm[t],
                    .z = states->z_mm[t],
                    .tx = states->tx[t],
                    .ty = states->ty[t]};
        if (p_mev >= least_mev) {
            identify(geometry, &c, station_begin, p_mev, ids, row);
        } else {
            ids->is_muon[row] = ids->stations[row] = 0;
            ids->chi2[row] = 0;
            ids->n_dof[row] = 0;
        }
    }
}
