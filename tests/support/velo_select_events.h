/* SPDX-License-Identifier: Apache-2.0
 *
 * Events for tests of selections and impact parameters, random or made by hand: one as the oracle sees it,
 * and a batch of them as the library does.
 */
#ifndef SUPPORT_VELO_SELECT_EVENTS_H
#define SUPPORT_VELO_SELECT_EVENTS_H

#include "oracle/velo_select_oracle.h"
#include "support/near.h"
#include "support/random.h"

#include <math.h>

enum { MAX_TRACKS = 4096, MAX_VERTICES = 64, MAX_EVENTS = 64, MAX_ROWS = 8192 };

/* One event as the oracle sees it, and a batch of events as the library does. */
static oracle_track track_memory[MAX_TRACKS];
static oracle_vertex vertex_memory[MAX_VERTICES];
static oracle_event event = {.tracks = track_memory, .vertices = vertex_memory};

static slc_velo_hits hits;
static slc_velo_tracks tracks;
static slc_velo_states states;
static slc_velo_primaries primaries;
static slc_velo_select_scratch scratch;
static slc_velo_decisions decisions;
static slc_velo_fired fired;
static slc_velo_impacts impacts;

static inline int set_up(void **state)
{
    (void)state;
    return slc_columns_reserve(&slc_velo_hits_schema, &hits, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_tracks_schema, &tracks, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_states_schema, &states, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_primaries_schema, &primaries, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_decisions_schema, &decisions, MAX_EVENTS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_fired_schema, &fired, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_impacts_schema, &impacts, MAX_ROWS, MAX_EVENTS) != SLC_OK ||
           slc_velo_select_reserve(&scratch, MAX_TRACKS, NULL) != SLC_OK;
}

static inline int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_columns_clear(&slc_velo_tracks_schema, &tracks);
    slc_columns_clear(&slc_velo_states_schema, &states);
    slc_columns_clear(&slc_velo_primaries_schema, &primaries);
    slc_columns_clear(&slc_velo_decisions_schema, &decisions);
    slc_columns_clear(&slc_velo_fired_schema, &fired);
    slc_columns_clear(&slc_velo_impacts_schema, &impacts);
    slc_velo_select_clear(&scratch);
    return 0;
}

static inline void begin(void)
{
    slc_columns_reset(&hits);
    slc_columns_reset(&tracks);
    slc_columns_reset(&states);
    slc_columns_reset(&primaries);
}

/* What the library gets is single precision; the oracle gets the same numbers. Volatile, because gcc 12 at
 * -O3 leaves out the rounding of two neighbours that it puts into a vector. */
static inline double rounded(double value)
{
    volatile float single = (float)value;
    return (double)single;
}

static inline void add_vertex(const oracle_vertex *v)
{
    const size_t i = primaries.head.size++;
    primaries.x_mm[i] = (float)v->at[0];
    primaries.y_mm[i] = (float)v->at[1];
    primaries.z_mm[i] = (float)v->at[2];
    primaries.cov_xx_mm2[i] = (float)v->cov[0][0];
    primaries.cov_xy_mm2[i] = (float)v->cov[0][1];
    primaries.cov_yy_mm2[i] = (float)v->cov[1][1];
    primaries.cov_xz_mm2[i] = (float)v->cov[0][2];
    primaries.cov_yz_mm2[i] = (float)v->cov[1][2];
    primaries.cov_zz_mm2[i] = (float)v->cov[2][2];
    primaries.chi2[i] = primaries.n_tracks[i] = 1;
}

static inline void add_track(const oracle_track *t)
{
    const size_t i = states.head.size++;
    tracks.head.size++;
    tracks.n_hits[i] = t->n_hits;
    tracks.hit_begin[i] = 0;
    tracks.scatter_mm2[i] = 0;
    states.x_mm[i] = (float)t->x;
    states.y_mm[i] = (float)t->y;
    states.z_mm[i] = (float)t->z;
    states.tx[i] = (float)t->tx;
    states.ty[i] = (float)t->ty;
    states.cov_xx_mm2[i] = (float)t->cov[0][0];
    states.cov_xtx_mm[i] = (float)t->cov[0][2];
    states.cov_txtx[i] = (float)t->cov[2][2];
    states.cov_yy_mm2[i] = (float)t->cov[1][1];
    states.cov_yty_mm[i] = (float)t->cov[1][3];
    states.cov_tyty[i] = (float)t->cov[3][3];
    states.chi2[i] = (float)t->chi2;
    states.n_dof[i] = t->n_dof;
    states.backward[i] = t->backward;
}

/* Appends the event to the batch. */
static inline void end_event(void)
{
    for (size_t k = 0; k < event.n_vertices; k++) {
        add_vertex(&vertex_memory[k]);
    }
    for (size_t t = 0; t < event.n_tracks; t++) {
        add_track(&track_memory[t]);
    }
    hits.head.size += event.n_hits;
    slc_columns_end_event(&hits);
    slc_columns_end_event(&tracks);
    slc_columns_end_event(&states);
    slc_columns_end_event(&primaries);
}

/* x and slope with a correlation, as the fit gives them. */
static inline void set_covariance(oracle_track *t, int position, double sigma, double sigma_slope,
                                  double correlation)
{
    t->cov[position][position] = rounded(sigma * sigma);
    t->cov[position + 2][position + 2] = rounded(sigma_slope * sigma_slope);
    t->cov[position][position + 2] = t->cov[position + 2][position] = rounded(correlation * sigma *
                                                                              sigma_slope);
}

static inline oracle_track random_track(uint64_t *seed)
{
    const double *from = event.n_vertices > 0
                             ? vertex_memory[random_below(seed, (uint32_t)event.n_vertices)].at
                             : (const double[3]){0, 0, 0};
    const double away = random_below(seed, 3) == 0 ? 1.0 : 0.03;
    oracle_track t = {.backward = random_below(seed, 6) == 0,
                      .x = rounded(from[0] + away * random_normal(seed)),
                      .y = rounded(from[1] + away * random_normal(seed)),
                      .z = rounded(from[2] + 10 * away * random_normal(seed)),
                      .tx = rounded(0.15 * random_normal(seed)),
                      .ty = rounded(0.15 * random_normal(seed)),
                      .n_hits = 3 + random_below(seed, 12)};
    t.n_dof = 2 * t.n_hits - 4;
    t.chi2 = rounded(t.n_dof * random_unit(seed) * 4);
    for (int c = 0; c < 2; c++) {
        set_covariance(&t, c, 0.01 + 0.05 * random_unit(seed), 1e-4 + 1e-3 * random_unit(seed),
                       1.8 * random_unit(seed) - 0.9);
    }
    if (random_below(seed, 50) == 0) {
        t.tx = NAN;
    }
    return t;
}

static inline void make_event(uint64_t *seed, uint32_t most_tracks)
{
    event.n_vertices = random_below(seed, 7);
    event.n_tracks = random_below(seed, most_tracks + 1);
    event.n_hits = random_below(seed, 100);
    for (size_t k = 0; k < event.n_vertices; k++) {
        oracle_vertex *v = &vertex_memory[k];
        *v = (oracle_vertex){.at = {rounded(0.05 * random_normal(seed)), rounded(0.05 * random_normal(seed)),
                                    rounded(60 * random_normal(seed))}};
        const double sigma[3] = {0.01, 0.012, 0.08};
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b <= a; b++) {
                const double rho = a == b ? 1 : 0.6 * random_unit(seed) - 0.3;
                v->cov[a][b] = v->cov[b][a] = rounded(rho * sigma[a] * sigma[b]);
            }
        }
    }
    for (size_t t = 0; t < event.n_tracks; t++) {
        track_memory[t] = random_track(seed);
    }
}

static inline void expect_same(double value, double reference)
{
    if (isnan(reference) || isinf(reference)) {
        assert_true(isnan(reference) ? isnan(value) : value == reference);
    } else {
        assert_near(value, reference, 2e-6 * fabs(reference) + 2e-6);
    }
}

#endif
