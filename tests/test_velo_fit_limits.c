/* SPDX-License-Identifier: Apache-2.0
 * How far the fit is from what its hits allow, on generated events: impact parameters, pulls and the
 * probability of chi2 of the chain, beside those of a filter in double precision on the same hits with one
 * scattering term for all tracks, and with the one that each particle's true momentum means, which the VELO
 * cannot know. docs/howto/velo-physics.md has the table. */
#include <sluice/sim.h>
#include <sluice/velo_check.h>

#include "oracle/velo_fit_oracle.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

enum { EVENTS = 300, BATCH = 20 };

typedef enum filter_kind { OF_CHAIN = 0, ONE_TERM, TRUE_MOMENTUM, FILTERS } filter_kind;
static const char *const names[FILTERS] = {"the chain", "one term, 7e-6", "true momentum"};

typedef struct sample {
    slc_sim_velo *sim;
    slc_velo_chain *chain;
    slc_velo_check check[FILTERS];
    slc_batch batch;
    slc_velo_truth truth;
    slc_velo_result result;
    slc_velo_matches matches;
} sample;
static sample s;

/* What a layer adds to the variance of the slope: thesis and Allen; Highland's formula without its logarithm,
 * for what a particle meets of silicon and foil in a module on average. */
static double noise_of(filter_kind kind, double tx, double ty, double p_mev)
{
    const double slope2 = tx * tx + ty * ty, angle = 13.6 / p_mev;
    return kind == ONE_TERM ? 1e-8 + 7e-6 * slope2 : angle * angle * 0.02 * sqrt(1 + slope2);
}

/* Fits track t of an event again and writes its state at the beam line over the chain's. */
static void refit(filter_kind kind, uint32_t event, size_t t)
{
    const slc_velo_hits *hits = &s.result.hits;
    slc_velo_states *beam = &s.result.beam;
    const uint32_t n = s.result.tracks.n_hits[t];
    const uint32_t *hit = s.result.track_hits.hit + s.result.track_hits.head.event_offset[event] +
                          s.result.tracks.hit_begin[t];
    const size_t first = hits->head.event_offset[event];
    double x[SLC_VELO_MAX_TRACK_HITS], y[SLC_VELO_MAX_TRACK_HITS], z[SLC_VELO_MAX_TRACK_HITS];
    for (uint32_t i = 0; i < n; i++) {
        const size_t row = first + hit[beam->backward[t] ? n - 1 - i : i];
        x[i] = (double)hits->x_mm[row];
        y[i] = (double)hits->y_mm[row];
        z[i] = (double)hits->z_mm[row];
    }
    const double dz = z[n - 1] - z[0], tx = (x[n - 1] - x[0]) / dz, ty = (y[n - 1] - y[0]) / dz;
    const size_t p = s.truth.particles.head.event_offset[event] +
                     (size_t)(s.matches.particle[t] < 0 ? 0 : s.matches.particle[t]);
    const double noise = noise_of(kind, tx, ty, (double)s.truth.particles.p_mev[p]);
    oracle_state in_x = oracle_velo_fit(z, x, n, tx, 0.0125 * 0.0125, noise);
    oracle_state in_y = oracle_velo_fit(z, y, n, ty, 0.0125 * 0.0125, noise);
    const double along = in_x.slope * in_x.position + in_y.slope * in_y.position;
    const double way = -along / (in_x.slope * in_x.slope + in_y.slope * in_y.slope);
    in_x = oracle_velo_propagate(in_x, way);
    in_y = oracle_velo_propagate(in_y, way);
    beam->x_mm[t] = (float)in_x.position;
    beam->y_mm[t] = (float)in_y.position;
    beam->z_mm[t] = (float)(z[n - 1] + way);
    beam->tx[t] = (float)in_x.slope;
    beam->ty[t] = (float)in_y.slope;
    beam->cov_xx_mm2[t] = (float)in_x.pp;
    beam->cov_yy_mm2[t] = (float)in_y.pp;
    beam->cov_txtx[t] = (float)in_x.ss;
    beam->cov_tyty[t] = (float)in_y.ss;
    beam->chi2[t] = (float)(in_x.chi2 + in_y.chi2);
}

static void check_batch(uint64_t first)
{
    slc_error error = {0};
    for (uint64_t i = first; i < first + BATCH; i++) {
        assert_int_equal(slc_sim_velo_event(s.sim, i, &s.batch, &s.truth, &error), SLC_OK);
    }
    assert_int_equal(slc_velo_chain_reserve(s.chain, &s.batch, &s.result, &error), SLC_OK);
    assert_int_equal(slc_velo_chain_run(s.chain, &s.batch, &s.result, &error), SLC_OK);
    for (filter_kind kind = OF_CHAIN; kind < FILTERS; kind++) {
        for (uint32_t e = 0; e < s.batch.n_events && kind != OF_CHAIN; e++) {
            const uint32_t *offset = s.result.tracks.head.event_offset;
            for (size_t t = offset[e]; t < offset[e + 1]; t++) {
                refit(kind, e, t);
            }
        }
        assert_int_equal(slc_velo_check_run(&s.check[kind], &s.result, &s.truth, &s.matches, &error), SLC_OK);
    }
    slc_batch_clear(&s.batch);
    slc_velo_truth_clear(&s.truth);
}

static int set_up(void **state)
{
    (void)state;
    slc_error error = {0};
    slc_sim_velo_config sim;
    slc_velo_config chain;
    slc_velo_check_config check;
    slc_sim_velo_config_default(&sim);
    slc_velo_config_default(&chain);
    slc_velo_check_config_default(&check);
    sim.seed = 5;
    for (filter_kind kind = OF_CHAIN; kind < FILTERS; kind++) {
        slc_velo_check_init(&s.check[kind], &check);
    }
    if (slc_sim_velo_open(&sim, NULL, &s.sim, &error) != SLC_OK ||
        slc_velo_chain_open(&chain, NULL, &s.chain, &error) != SLC_OK) {
        return 1;
    }
    for (uint64_t i = 0; i < EVENTS; i += BATCH) {
        check_batch(i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_sim_velo_close(s.sim);
    slc_velo_chain_close(s.chain);
    slc_velo_result_clear(&s.result);
    slc_columns_clear(&slc_velo_matches_schema, &s.matches);
    for (filter_kind kind = OF_CHAIN; kind < FILTERS; kind++) {
        slc_velo_check_clear(&s.check[kind]);
    }
    return 0;
}

static double largest_share(const slc_histogram *histogram)
{
    uint64_t largest = 0;
    for (uint32_t b = 0; b < histogram->n_bins; b++) {
        largest = histogram->bin[b] > largest ? histogram->bin[b] : largest;
    }
    return (double)largest / (double)histogram->inside;
}

/* Half-widths in micrometres of both projections in bins of 1 / pT; pulls above 2 and 5 GeV, then by
 * momentum. */
static void print_filter(filter_kind kind)
{
    const slc_velo_check *check = &s.check[kind];
    print_message("%-16s IP", names[kind]);
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        print_message(" %5.1f", slc_histogram_half_width(&check->impact_um[k]));
    }
    print_message("; largest decile above 5 GeV %4.1f %%; pulls",
                  100 * largest_share(&check->momentum[1].probability));
    for (size_t k = 0; k < SLC_VELO_MOMENTUM_RANGES; k++) {
        const slc_velo_momentum_range *range = &check->momentum[k];
        print_message("%s %.2f %.2f %.2f %.2f", k < 3 ? " |" : ",", slc_histogram_half_width(&range->pull_x),
                      slc_histogram_half_width(&range->pull_y), slc_histogram_half_width(&range->pull_tx),
                      slc_histogram_half_width(&range->pull_ty));
    }
    print_message("\n");
}

static void tables(void **state)
{
    (void)state;
    for (filter_kind kind = OF_CHAIN; kind < FILTERS; kind++) {
        print_filter(kind);
    }
    const slc_velo_check *chain = &s.check[OF_CHAIN], *one = &s.check[ONE_TERM];
    const slc_histogram *const fast[] = {&chain->momentum[0].pull_x, &chain->momentum[0].pull_y,
                                         &chain->momentum[0].pull_tx, &chain->momentum[0].pull_ty};
    for (size_t i = 0; i < 4; i++) { /* above 2 GeV */
        assert_true(fast[i]->inside > 10000);
        assert_true(fabs(slc_histogram_half_width(fast[i]) - 1) < 0.05);
    }
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        const double width = slc_histogram_half_width(&chain->impact_um[k]);
        const double allowed = slc_histogram_half_width(&one->impact_um[k]);
        if (!(width <= 1.01 * allowed)) { /* a per cent: of low pT, whose fit adapts to what it cannot know */
            fail_msg("bin %zu of 1 / pT: %.2f um, the fixed term gives %.2f um", k, width, allowed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
