/* SPDX-License-Identifier: Apache-2.0
 * The simplified Kalman filter: x and y apart, each a position and a slope. Hits are measured in x and y with
 * the same resolution; scattering adds to the variance of the slope at every layer. */
#include <sluice/velo_fit.h>

#include <math.h>

/* One projection: position, slope, and their covariance. */
typedef struct filter {
    float position, slope;
    float pp, ps, ss;
} filter;

/* Chosen so that one lies between the two usual measures of the width of pulls at the beam line, over all
 * reconstructible particles (docs/howto/velo-physics.md). LHCb's Allen has 7e-6 and no second pass. */
void slc_velo_fit_config_default(slc_velo_fit_config *config)
{
    *config = (slc_velo_fit_config){.hit_sigma_mm = 0.0125f,
                                    .noise_constant = 1e-8f,
                                    .noise_slope = 7e-5f,
                                    .scatter_prior = 2,
                                    .end_z_mm = 770.0f};
}

static void start(filter *state, float position, float slope, float hit_variance)
{
    *state = (filter){.position = position, .slope = slope, .pp = hit_variance, .ps = 0, .ss = 1.0f};
}

/* Transport over dz without noise. */
static void propagate(filter *state, float dz)
{
    state->position += dz * state->slope;
    state->pp += dz * (2 * state->ps + dz * state->ss);
    state->ps += dz * state->ss;
}

/* Adds one hit at a distance dz; returns its contribution to chi². In the textbook's form of the updates,
 * terms of dz² · ss² cancel that are 10^7 times larger than what is left, too much for single precision.
 * Taken out by hand (thesis, 5.4.4), with V the hit's variance and R = V + predicted pp: ss' = (ss (V + pp) -
 * ps²) / R,  ps' = V · gain_s,  pp' = V · gain_p        (pp, ps, ss before the transport) */
static float update(filter *state, float dz, float measured, float hit_variance)
{
    const float ss_numerator = state->ss * (hit_variance + state->pp) - state->ps * state->ps;
    propagate(state, dz);
    const float weight = 1.0f / (hit_variance + state->pp);
    const float residual = measured - state->position;
    const float gain_position = state->pp * weight, gain_slope = state->ps * weight;
    state->position += gain_position * residual;
    state->slope += gain_slope * residual;
    state->ss = ss_numerator * weight;
    state->ps = hit_variance * gain_slope;
    state->pp = hit_variance * gain_position;
    return residual * residual * weight;
}

/* The hits of one track, in the order of the filter. */
typedef struct path {
    float x[SLC_VELO_MAX_TRACK_HITS], y[SLC_VELO_MAX_TRACK_HITS], z[SLC_VELO_MAX_TRACK_HITS];
    uint32_t n;
} path;

static void load(path *way, const slc_velo_hits *hits, size_t first_hit, const uint32_t *indices, uint32_t n)
{
    way->n = n;
    for (uint32_t i = 0; i < n; i++) {
        way->x[i] = hits->x_mm[first_hit + indices[i]];
        way->y[i] = hits->y_mm[first_hit + indices[i]];
        way->z[i] = hits->z_mm[first_hit + indices[i]];
    }
}

typedef struct fitted {
    filter x, y;
    float z, chi2;
} fitted;

/* Filters from the first hit to the last (`upstream`) or back, starting with the slopes tx, ty. `noise` is
 * the variance that each layer adds to a slope. */
static fitted run_filter(const path *way, bool upstream, float tx, float ty, float variance, float noise)
{
    uint32_t i = upstream ? 0 : way->n - 1;
    fitted state = {.z = way->z[i], .chi2 = 0};
    start(&state.x, way->x[i], tx, variance);
    start(&state.y, way->y[i], ty, variance);
    for (uint32_t k = 1; k < way->n; k++) {
        i = upstream ? k : way->n - 1 - k;
        const float dz = way->z[i] - state.z;
        state.x.ss += noise;
        state.y.ss += noise;
        state.chi2 += update(&state.x, dz, way->x[i], variance);
        state.chi2 += update(&state.y, dz, way->y[i], variance);
        state.z = way->z[i];
    }
    state.x.ss += noise;
    state.y.ss += noise;
    return state;
}

static uint32_t degrees_of_freedom(uint32_t n_hits)
{
    return 2 * n_hits - 4;
}

/* How much more than typical a track scatters. The square, because chi2 grows slower than the scattering
 * does: the hits' own errors are in it too. */
static float scatter_scale(float prior, float chi2, float n_dof)
{
    const float ratio = (prior + chi2) / (prior + n_dof);
    return fminf(fmaxf(ratio * ratio, 0.1f), 100.0f);
}

static void move_to(fitted *state, float z)
{
    propagate(&state->x, z - state->z);
    propagate(&state->y, z - state->z);
    state->z = z;
}

/* z of the point of closest approach to the beam line; the state's own z for a track parallel to it. */
static float closest_z(const slc_velo_fit_config *config, float x, float y, float z, float tx, float ty)
{
    const float slope2 = tx * tx + ty * ty;
    return slope2 > 0 ? z + (tx * (config->beam_x_mm - x) + ty * (config->beam_y_mm - y)) / slope2 : z;
}

static void store(slc_velo_states *states, const fitted *state, float chi2, uint32_t n_hits, bool backward)
{
    const size_t i = states->head.size++;
    states->x_mm[i] = state->x.position;
    states->y_mm[i] = state->y.position;
    states->z_mm[i] = state->z;
    states->tx[i] = state->x.slope;
    states->ty[i] = state->y.slope;
    states->cov_xx_mm2[i] = state->x.pp;
    states->cov_xtx_mm[i] = state->x.ps;
    states->cov_txtx[i] = state->x.ss;
    states->cov_yy_mm2[i] = state->y.pp;
    states->cov_yty_mm[i] = state->y.ps;
    states->cov_tyty[i] = state->y.ss;
    states->chi2[i] = chi2;
    states->n_dof[i] = degrees_of_freedom(n_hits);
    states->backward[i] = backward;
}

/* way runs from downstream to upstream. The chord tells on which side the beam line lies; the filter that
 * ends there gives the state at the beam line, and its slopes start the one that goes the other way. */
static void fit_track(const slc_velo_fit_config *config, const path *way, slc_velo_states *beam,
                      slc_velo_states *end)
{
    const uint32_t last = way->n - 1;
    const float dz = way->z[last] - way->z[0];
    const float tx = dz != 0 ? (way->x[last] - way->x[0]) / dz : 0;
    const float ty = dz != 0 ? (way->y[last] - way->y[0]) / dz : 0;
    const bool backward = closest_z(config, way->x[0], way->y[0], way->z[0], tx, ty) > way->z[0];

    const float variance = config->hit_sigma_mm * config->hit_sigma_mm;
    float noise = config->noise_constant + config->noise_slope * (tx * tx + ty * ty);
    fitted at_beam = run_filter(way, !backward, tx, ty, variance, noise);
    const float chi2 = at_beam.chi2;
    if (config->scatter_prior > 0) {
        noise *= scatter_scale(config->scatter_prior, chi2, (float)degrees_of_freedom(way->n));
        at_beam = run_filter(way, !backward, tx, ty, variance, noise);
    }
    fitted at_end = run_filter(way, false, at_beam.x.slope, at_beam.y.slope, variance, noise);
    move_to(&at_beam, closest_z(config, at_beam.x.position, at_beam.y.position, at_beam.z, at_beam.x.slope,
                                at_beam.y.slope));
    move_to(&at_end, config->end_z_mm);
    store(beam, &at_beam, chi2, way->n, backward);
    store(end, &at_end, chi2, way->n, backward);
}

static bool has_room(const slc_velo_states *states, const slc_velo_tracks *tracks)
{
    return states->head.block != NULL && states->head.capacity >= tracks->head.size &&
           states->head.event_capacity >= tracks->head.n_events;
}

slc_status slc_velo_fit_run(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                            const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                            slc_velo_states *beam, slc_velo_states *end)
{
    slc_columns_reset(beam);
    slc_columns_reset(end);
    if (!has_room(beam, tracks) || !has_room(end, tracks)) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        const size_t first_hit = hits->head.event_offset[e];
        const uint32_t *event_hits = track_hits->hit + track_hits->head.event_offset[e];
        for (uint32_t t = tracks->head.event_offset[e]; t < tracks->head.event_offset[e + 1]; t++) {
            const uint32_t n = tracks->n_hits[t];
            if (n < 2 || n > SLC_VELO_MAX_TRACK_HITS) {
                return SLC_ERR_USAGE;
            }
            path way;
            load(&way, hits, first_hit, event_hits + tracks->hit_begin[t], n);
            fit_track(config, &way, beam, end);
        }
        slc_columns_end_event(beam);
        slc_columns_end_event(end);
    }
    return SLC_OK;
}
