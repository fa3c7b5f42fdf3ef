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
#include "muon/muon_identify_work.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Middle of each, mm; 25 radiation lengths of ECAL, 53 of HCAL, 800 mm of iron. */
const slc_muon_scatterer slc_muon_scatterers[SLC_MUON_SCATTERERS] = {
    {12700, 25, 220}, {14200, 53, 1550}, {15800, 45.5f, 950}, {17050, 45.5f, 950}, {18275, 45.5f, 950}};

static const float highland_mev = 13.6f;
static const float least_mev = 3000, middle_mev = 6000, high_mev = 10000;
/* Of a momentum that matter has eaten up: a muon that is measured too low got through all the same. */
static const float least_left_mev = 800;
/* What a station that a muon of the momentum reaches, and that has no hit, adds to the chi2. */
static const float missing_chi2 = 20;
static const float slope_variance = 1e-8f; /* of the track behind the SciFi */

typedef slc_muon_line line;

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

struct slc_muon_identifier {
    const slc_muon_kernels *kernels;
    slc_muon_foi foi;
    slc_muon_windows windows; /* of the track at hand */
};

slc_muon_identifier *slc_muon_identifier_open(const slc_muon_geometry *geometry, slc_simd_target target)
{
    slc_muon_identifier *identifier = calloc(1, sizeof *identifier);
    assert(geometry->has_field_of_interest);
    if (identifier == NULL) {
        return NULL;
    }
    identifier->kernels = slc_muon_kernels_of(slc_simd_kernel_choice(&slc_muon_kernel_rows[0], target));
    for (size_t area = 0; area < SLC_MUON_AREAS; area++) {
        for (size_t k = 0; k < 3; k++) {
            for (size_t axis = 0; axis < 2; axis++) {
                identifier->foi.of[k][axis][area] =
                    geometry->field_of_interest[area / SLC_MUON_REGIONS][k][axis][area % SLC_MUON_REGIONS];
            }
        }
    }
    return identifier;
}

void slc_muon_identifier_close(slc_muon_identifier *identifier)
{
    free(identifier);
}

static void identify(slc_muon_identifier *identifier, const slc_muon_look *look, float p_mev,
                     slc_muon_ids *ids, size_t row)
{
    line l[2] = {{look->x, look->tx, {1, 0, slope_variance}}, {look->y, look->ty, {1, 0, slope_variance}}};
    uint32_t stations = 0, n = 0;
    float z = look->z, chi2 = 0;
    identifier->kernels->windows(&identifier->foi, p_mev, &identifier->windows);
    for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
        const size_t begin = look->begin[SLC_MUON_REGIONS * (size_t)s];
        const slc_muon_hits *h = look->hits;
        size_t best = 0;
        scatter(l, &z, s, p_mev);
        if (begin == look->begin[SLC_MUON_REGIONS * (size_t)(s + 1)]) {
            continue;
        }
        const float dz = h->z_mm[begin] - z; /* about where the station is */
        carry(&l[0], dz);
        carry(&l[1], dz);
        z += dz;
        if (!identifier->kernels->best(look, s, l, z, &best)) {
            continue;
        }
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

void slc_muon_identify(slc_muon_identifier *identifier, const slc_muon_hits *hits, size_t begin, size_t end,
                       const slc_muon_states *states, slc_muon_ids *ids)
{
    size_t area_begin[SLC_MUON_AREAS + 1], at = begin;
    assert(ids->head.capacity - ids->head.size >= states->n);
    for (size_t area = 0; area <= SLC_MUON_AREAS; area++) {
        while (at < end && hits->station[at] * (size_t)SLC_MUON_REGIONS + hits->region[at] < area) {
            at++;
        }
        area_begin[area] = at;
    }
    assert(at == end); /* hits are by station and region */
    for (size_t t = 0; t < states->n; t++) {
        const size_t row = ids->head.size++;
        const float p_mev = 1 / fabsf(states->q_over_p[t]);
        const slc_muon_look look = {.hits = hits,
                                    .begin = area_begin,
                                    .windows = &identifier->windows,
                                    .x = states->x_mm[t],
                                    .y = states->y_mm[t],
                                    .z = states->z_mm[t],
                                    .tx = states->tx[t],
                                    .ty = states->ty[t]};
        if (p_mev >= least_mev) {
            identify(identifier, &look, p_mev, ids, row);
        } else {
            ids->is_muon[row] = ids->stations[row] = 0;
            ids->chi2[row] = 0;
            ids->n_dof[row] = 0;
        }
    }
}
