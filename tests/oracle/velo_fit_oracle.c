/* SPDX-License-Identifier: Apache-2.0
 * The Kalman filter as textbooks have it: predict with F P F^T + Q, gain, (1 - K H) P; in double precision,
 * and in single, where it fails. Then the stable form, track by track, x and y each on its own: slow, plain,
 * and with the operations in the order that the kernels must keep. */
#include "oracle/velo_fit_oracle.h"

#include <math.h>
#include <string.h>

oracle_state oracle_velo_propagate(oracle_state state, double dz)
{
    state.position += dz * state.slope;
    state.pp += 2 * dz * state.ps + dz * dz * state.ss;
    state.ps += dz * state.ss;
    return state;
}

oracle_state oracle_velo_fit(const double *z, const double *measured, size_t n, double slope, double variance,
                             double noise)
{
    oracle_state state = {.position = measured[0], .slope = slope, .pp = variance, .ss = 1};
    for (size_t i = 1; i < n; i++) {
        state.ss += noise;
        state = oracle_velo_propagate(state, z[i] - z[i - 1]);
        const double r = variance + state.pp, residual = measured[i] - state.position;
        const double k_position = state.pp / r, k_slope = state.ps / r;
        state.chi2 += residual * residual / r;
        state.position += k_position * residual;
        state.slope += k_slope * residual;
        state.ss -= k_slope * state.ps;
        state.ps *= 1 - k_position;
        state.pp *= 1 - k_position;
    }
    state.ss += noise;
    return state;
}

/* One projection in single precision. */
typedef struct filter {
    float position, slope, pp, ps, ss;
} filter;

static oracle_state widen(const filter *state, float chi2)
{
    return (oracle_state){(double)state->position, (double)state->slope, (double)state->pp,
                          (double)state->ps,       (double)state->ss,    (double)chi2};
}

oracle_state oracle_velo_fit_unstable(const float *z, const float *measured, size_t n, float slope,
                                      float variance, float noise)
{
    filter state = {.position = measured[0], .slope = slope, .pp = variance, .ss = 1};
    float chi2 = 0;
    for (size_t i = 1; i < n; i++) {
        const float dz = z[i] - z[i - 1];
        state.ss += noise;
        const float position = state.position + dz * state.slope;
        const float pp = state.pp + 2 * dz * state.ps + dz * dz * state.ss, ps = state.ps + dz * state.ss;
        const float r = variance + pp, residual = measured[i] - position;
        const float k_position = pp / r, k_slope = ps / r;
        chi2 += residual * residual / r;
        state.position = position + k_position * residual;
        state.slope += k_slope * residual;
        state.ss -= k_slope * ps;
        state.ps = (1 - k_position) * ps;
        state.pp = (1 - k_position) * pp;
    }
    state.ss += noise;
    return widen(&state, chi2);
}

/* ---- the stable form --------------------------------------------------------------------------- */

static void propagate(filter *state, float dz)
{
    state->position += dz * state->slope;
    state->pp += dz * (2 * state->ps + dz * state->ss);
    state->ps += dz * state->ss;
}

/* Adds one hit at a distance dz; returns its contribution to chi2. */
static float update(filter *state, float dz, float measured, float variance)
{
    const float numerator = state->ss * (variance + state->pp) - state->ps * state->ps;
    propagate(state, dz);
    const float weight = 1.0f / (variance + state->pp), residual = measured - state->position;
    const float gain_position = state->pp * weight, gain_slope = state->ps * weight;
    state->position += gain_position * residual;
    state->slope += gain_slope * residual;
    state->ss = numerator * weight;
    state->ps = variance * gain_slope;
    state->pp = variance * gain_position;
    return residual * residual * weight;
}

oracle_state oracle_velo_fit_stable(const float *z, const float *measured, size_t n, float slope,
                                    float variance, float noise)
{
    filter state = {.position = measured[0], .slope = slope, .pp = variance, .ss = 1};
    float chi2 = 0;
    for (size_t i = 1; i < n; i++) {
        state.ss += noise;
        chi2 += update(&state, z[i] - z[i - 1], measured[i], variance);
    }
    state.ss += noise;
    return widen(&state, chi2);
}

/* ---- whole tracks ------------------------------------------------------------------------------ */

/* Hits of a track, from downstream to upstream. */
typedef struct path {
    float x[SLC_VELO_MAX_TRACK_HITS], y[SLC_VELO_MAX_TRACK_HITS], z[SLC_VELO_MAX_TRACK_HITS];
    float variance[SLC_VELO_MAX_TRACK_HITS];
    uint32_t n;
} path;

typedef struct fitted {
    filter x, y;
    float z, chi2;
} fitted;

static fitted run_filter(const path *way, bool upstream, float tx, float ty, float noise)
{
    uint32_t i = upstream ? 0 : way->n - 1;
    fitted state = {.z = way->z[i]};
    state.x = (filter){.position = way->x[i], .slope = tx, .pp = way->variance[i], .ss = 1};
    state.y = (filter){.position = way->y[i], .slope = ty, .pp = way->variance[i], .ss = 1};
    for (uint32_t k = 1; k < way->n; k++) {
        i = upstream ? k : way->n - 1 - k;
        state.x.ss += noise;
        state.y.ss += noise;
        state.chi2 += update(&state.x, way->z[i] - state.z, way->x[i], way->variance[i]);
        state.chi2 += update(&state.y, way->z[i] - state.z, way->y[i], way->variance[i]);
        state.z = way->z[i];
    }
    state.x.ss += noise;
    state.y.ss += noise;
    return state;
}

static void move_to(fitted *state, float z)
{
    propagate(&state->x, z - state->z);
    propagate(&state->y, z - state->z);
    state->z = z;
}

static float closest_z(const slc_velo_fit_config *config, const fitted *s)
{
    const float tx = s->x.slope, ty = s->y.slope, slope2 = tx * tx + ty * ty;
    const float along = tx * (config->beam_x_mm - s->x.position) + ty * (config->beam_y_mm - s->y.position);
    return slope2 > 0 ? s->z + along / slope2 : s->z;
}

/* Does the chord approach the beam line downstream of the first hit? */
static bool is_backward(const slc_velo_fit_config *config, const path *way)
{
    const uint32_t last = way->n - 1;
    const float dx = way->x[last] - way->x[0], dy = way->y[last] - way->y[0], dz = way->z[last] - way->z[0];
    const float along = dx * (config->beam_x_mm - way->x[0]) + dy * (config->beam_y_mm - way->y[0]);
    if (dz == 0 || along == 0) {
        return false;
    }
    return (along > 0) == (dz > 0);
}

static void fit_track(const slc_velo_fit_config *config, const path *way, bool backward, fitted *at_beam,
                      fitted *at_end, float *chi2)
{
    const uint32_t last = way->n - 1;
    const float dz = way->z[last] - way->z[0];
    const float tx = dz != 0 ? (way->x[last] - way->x[0]) / dz : 0;
    const float ty = dz != 0 ? (way->y[last] - way->y[0]) / dz : 0;
    float noise = config->noise_constant + config->noise_slope * (tx * tx + ty * ty);
    *at_beam = run_filter(way, !backward, tx, ty, noise);
    *chi2 = at_beam->chi2;
    if (config->scatter_prior > 0) {
        const float ratio = (config->scatter_prior + *chi2) /
                            (config->scatter_prior + (float)(2 * way->n - 4));
        noise = config->noise_constant + config->second_noise_slope * (tx * tx + ty * ty);
        noise *= fminf(fmaxf(ratio * ratio * ratio, 0.1f), 1000.0f);
        *at_beam = run_filter(way, !backward, tx, ty, noise);
    }
    *at_end = run_filter(way, false, at_beam->x.slope, at_beam->y.slope, noise);
    move_to(at_beam, closest_z(config, at_beam));
    move_to(at_end, config->end_z_mm);
}

static bool same(const slc_velo_states *states, size_t i, const fitted *f, float chi2, uint32_t n,
                 bool backward)
{
    const float found[] = {states->x_mm[i],       states->y_mm[i],     states->z_mm[i],
                           states->tx[i],         states->ty[i],       states->cov_xx_mm2[i],
                           states->cov_xtx_mm[i], states->cov_txtx[i], states->cov_yy_mm2[i],
                           states->cov_yty_mm[i], states->cov_tyty[i], states->chi2[i]};
    const float expected[] = {f->x.position, f->y.position, f->z,    f->x.slope, f->y.slope, f->x.pp,
                              f->x.ps,       f->x.ss,       f->y.pp, f->y.ps,    f->y.ss,    chi2};
    return memcmp(found, expected, sizeof found) == 0 && states->n_dof[i] == 2 * n - 4 &&
           states->backward[i] == (backward ? 1 : 0);
}

static bool same_events(const slc_columns *a, const slc_columns *b)
{
    return a->n_events == b->n_events && a->size == b->size &&
           memcmp(a->event_offset, b->event_offset, (a->n_events + 1) * sizeof *a->event_offset) == 0;
}

size_t oracle_velo_fit_differences(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                                   const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                                   const slc_velo_states *beam, const slc_velo_states *end)
{
    size_t differences = 0;
    if (!same_events(&tracks->head, &beam->head) || !same_events(&tracks->head, &end->head)) {
        return SIZE_MAX;
    }
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        for (size_t t = tracks->head.event_offset[e]; t < tracks->head.event_offset[e + 1]; t++) {
            path way = {.n = tracks->n_hits[t]};
            for (uint32_t k = 0; k < way.n; k++) {
                const size_t row = track_hits->head.event_offset[e] + tracks->hit_begin[t] + k;
                const size_t h = hits->head.event_offset[e] + track_hits->hit[row];
                way.x[k] = hits->x_mm[h];
                way.y[k] = hits->y_mm[h];
                way.z[k] = hits->z_mm[h];
                const uint32_t pixels = hits->n_pixels[h];
                const float sigma = pixels == 0  ? config->hit_sigma_mm
                                    : pixels > 6 ? config->size_sigma_mm[5]
                                                 : config->size_sigma_mm[pixels - 1];
                way.variance[k] = sigma * sigma;
            }
            const bool backward = is_backward(config, &way);
            fitted at_beam, at_end;
            float chi2;
            fit_track(config, &way, backward, &at_beam, &at_end, &chi2);
            differences += !same(beam, t, &at_beam, chi2, way.n, backward) ||
                           !same(end, t, &at_end, chi2, way.n, backward);
        }
    }
    return differences;
}
