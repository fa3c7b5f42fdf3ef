/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator of CMS's pixel events: an event depends on the seed and its number alone; the detector is
 * cabled completely; occupancy, charge, thresholds, marks and duplicates are those of the configuration. That
 * words decode to the truth is test_cms_round_trip's matter.
 */
#include "cms/cms_stages.h"
#include "sim/sim_cms_synthetic.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"

#include <sluice/sim_cms.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct made {
    slc_sim_cms *sim;
    slc_batch batch;
    slc_sim_cms_truth truth;
} made;

static bool is_near(double value, double wanted, double by)
{
    return value >= wanted - by && value <= wanted + by;
}

static slc_sim_cms_config quiet_config(void)
{
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.noise_digis = 0;
    config.dead_columns = config.noisy_columns = config.bad_rocs = 0;
    return config;
}

static void make(made *m, const slc_sim_cms_config *config, uint64_t first, uint64_t events)
{
    slc_error error = {.status = SLC_OK};
    memset(m, 0, sizeof *m);
    assert_int_equal(slc_sim_cms_open(config, &m->sim, &error), SLC_OK);
    for (uint64_t e = first; e < first + events; e++) {
        assert_int_equal(slc_sim_cms_event(m->sim, e, &m->batch, &m->truth, &error), SLC_OK);
    }
}

static void clear(made *m)
{
    slc_sim_cms_close(m->sim);
    slc_batch_clear(&m->batch);
    slc_sim_cms_truth_clear(&m->truth);
}

/* ---- reproducible ---------------------------------------------------------------------------------- */

static bool same_bytes(const slc_batch *a, uint32_t event_a, const slc_batch *b, uint32_t event_b)
{
    return a->length[event_a] == b->length[event_b] &&
           memcmp(a->bytes + a->offset[event_a], b->bytes + b->offset[event_b], a->length[event_a]) == 0;
}

static void test_reproducible(void **state)
{
    (void)state;
    made all, one, other;
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.corrupt = 0.01f;
    config.duplicates = 0.02f;
    config.shuffled = true;
    make(&all, &config, 0, 4);
    make(&one, &config, 3, 1);
    config.seed++;
    make(&other, &config, 3, 1);
    assert_true(same_bytes(&all.batch, 3, &one.batch, 0));
    assert_false(same_bytes(&all.batch, 3, &all.batch, 2));
    assert_false(same_bytes(&one.batch, 0, &other.batch, 0));
    assert_int_equal(slc_columns_checksum(&slc_cms_digis_schema, &all.truth.digis, 3, SLC_CHECKSUM_START),
                     slc_columns_checksum(&slc_cms_digis_schema, &one.truth.digis, 0, SLC_CHECKSUM_START));
    assert_int_equal(
        slc_columns_checksum(&slc_sim_cms_crossings_schema, &all.truth.crossings, 3, SLC_CHECKSUM_START),
        slc_columns_checksum(&slc_sim_cms_crossings_schema, &one.truth.crossings, 0, SLC_CHECKSUM_START));
    clear(&all);
    clear(&one);
    clear(&other);
}

/* The truth may be left out, and does not change the event. */
static void test_without_truth(void **state)
{
    (void)state;
    made with;
    slc_batch batch = {.n_events = 0};
    const slc_sim_cms_config config = quiet_config();
    make(&with, &config, 5, 1);
    assert_int_equal(slc_sim_cms_event(with.sim, 5, &batch, NULL, NULL), SLC_OK);
    assert_true(same_bytes(&with.batch, 0, &batch, 0));
    slc_batch_clear(&batch);
    clear(&with);
}

/* ---- the detector ----------------------------------------------------------------------------------- */

/* Every chip of every module has one cable; a module's chips come by several links, and those of some modules
 * by two FEDs. */
static void test_cabling(void **state)
{
    (void)state;
    static uint8_t seen[SLC_CMS_MODULES_PHASE1 * SLC_CMS_ROCS];
    static uint16_t first_fed[SLC_CMS_MODULES_PHASE1], links[SLC_CMS_MODULES_PHASE1];
    made m;
    uint32_t connected = 0, on_two = 0;
    const slc_sim_cms_config config = quiet_config();
    make(&m, &config, 0, 0);
    const slc_cms_cabling *cabling = slc_sim_cms_cabling(m.sim);
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_cms_cabling_check(cabling, &error), SLC_OK);
    for (uint32_t i = 0; i < SLC_CMS_CABLES; i++) {
        const slc_cms_cable *c = &cabling->cable[i];
        if (c->raw_id == 0) {
            assert_int_equal(c->module, SLC_CMS_NO_MODULE);
            continue;
        }
        const uint16_t fed = (uint16_t)(i / (SLC_CMS_LINKS * SLC_CMS_LINK_ROCS) + 1);
        assert_true(c->module < SLC_CMS_MODULES_PHASE1 && c->roc < SLC_CMS_ROCS);
        assert_int_equal(seen[c->module * SLC_CMS_ROCS + c->roc]++, 0);
        assert_int_equal(slc_cms_is_barrel(c->raw_id), c->module < SLC_CMS_BARREL_END);
        if (c->module < SLC_CMS_BARREL_END) {
            const uint32_t layer = c->module < 96 ? 1 : c->module < 320 ? 2 : c->module < 672 ? 3 : 4;
            assert_int_equal(slc_cms_layer(c->raw_id), layer);
        }
        connected++;
        links[c->module] = (uint16_t)(links[c->module] + (i % SLC_CMS_LINK_ROCS == 0));
        on_two += first_fed[c->module] != 0 && first_fed[c->module] != fed;
        first_fed[c->module] = fed;
    }
    assert_int_equal(connected, SLC_CMS_MODULES_PHASE1 * SLC_CMS_ROCS);
    assert_true(on_two > 50);
    assert_int_equal(links[0], 8);
    assert_int_equal(links[100], 4);
    assert_int_equal(links[1855], 2);
    clear(&m);
}

/* Marks come in the numbers asked for. */
static void test_marks(void **state)
{
    (void)state;
    made m;
    slc_sim_cms_config config = quiet_config();
    double dead = 0, noisy = 0, bad = 0;
    config.dead_columns = 0.02f;
    config.noisy_columns = 0.01f;
    config.bad_rocs = 0.05f;
    make(&m, &config, 0, 1);
    const slc_cms_gains *gains = slc_sim_cms_gains(m.sim);
    const uint32_t n = SLC_CMS_MODULES_PHASE1 * SLC_CMS_GAINS;
    assert_int_equal(gains->n_modules, SLC_CMS_MODULES_PHASE1);
    for (uint32_t i = 0; i < n; i++) {
        dead += gains->gain[i].pedestal == gains->dead;
        noisy += gains->gain[i].pedestal == gains->noisy;
    }
    for (uint32_t i = 0; i < SLC_CMS_CABLES; i++) {
        bad += slc_sim_cms_cabling(m.sim)->cable[i].bad;
    }
    assert_true(is_near(dead / n, 0.02, 0.001));
    assert_true(is_near(noisy / n, 0.01, 0.001));
    assert_true(is_near(bad / (SLC_CMS_MODULES_PHASE1 * SLC_CMS_ROCS), 0.05, 0.005));
    /* Noisy columns send, and dead ones too: the marks are for the calibration to see. */
    slc_cms_calibrate_config calibrate;
    slc_cms_calibrate_config_default(&calibrate, SLC_CMS_PHASE1);
    slc_cms_calibrate_counts counts = {0};
    slc_faults faults = {.n_kept = 0};
    assert_int_equal(slc_cms_calibrate_run(&calibrate, gains, 0, &m.truth.digis, &counts, &faults), SLC_OK);
    assert_true(counts.dead > 100 && counts.noisy > 1000);
    assert_int_equal(slc_faults_total(&faults), 0);
    clear(&m);
}

/* ---- physics ----------------------------------------------------------------------------------------- */

/* As many tracks as asked for cross the first layer; the inner layers have the most digis for each module. */
static void test_occupancy(void **state)
{
    (void)state;
    enum { EVENTS = 40 };
    static const uint32_t begin[] = {0, 96, 320, 672, 1184, 1856};
    double crossings[5] = {0}, digis[5] = {0};
    bool hit[SLC_CMS_MODULES_PHASE1] = {false};
    made m;
    slc_sim_cms_config config = quiet_config();
    config.tracks = 300;
    make(&m, &config, 0, EVENTS);
    for (int part = 0; part < 5; part++) {
        for (size_t i = 0; i < m.truth.crossings.head.size; i++) {
            const uint32_t module = m.truth.crossings.module[i];
            crossings[part] += module >= begin[part] && module < begin[part + 1];
            hit[module] = true;
        }
        for (size_t i = 0; i < m.truth.digis.head.size; i++) {
            const uint32_t module = m.truth.digis.module[i];
            digis[part] += module >= begin[part] && module < begin[part + 1];
        }
        digis[part] /= begin[part + 1] - begin[part];
    }
    assert_true(is_near(crossings[0] / EVENTS, 300, 4 * sqrt(300.0 / EVENTS)));
    assert_true(digis[0] > 1.5 * digis[1] && digis[1] > 1.5 * digis[2] && digis[2] > 1.2 * digis[3]);
    assert_true(crossings[1] < crossings[0] && crossings[2] < crossings[1] && crossings[3] < crossings[2]);
    for (int i = 0; i < SLC_CMS_MODULES_PHASE1; i++) {
        assert_true(hit[i]);
    }
    clear(&m);
}

static int by_value(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Charge for a path of one thickness: most about 76 electrons for a micrometre, with a long tail above.
 * Nearly every crossing is seen. */
static void test_charge(void **state)
{
    (void)state;
    made m;
    const slc_sim_cms_config config = quiet_config();
    size_t n = 0, unseen = 0;
    make(&m, &config, 0, 2);
    const slc_sim_cms_crossings *c = &m.truth.crossings;
    const slc_cms_plane *planes = slc_sim_cms_planes(m.sim);
    double *charge = calloc(c->head.size, sizeof *charge);
    assert_non_null(charge);
    for (size_t i = 0; i < c->head.size; i++) {
        assert_true(fabsf(c->x_um[i]) <= 8100 && fabsf(c->y_um[i]) <= 32400);
        unseen += c->n_digis[i] == 0;
        if (c->module[i] >= 672 && c->module[i] < SLC_CMS_BARREL_END) {
            /* The slopes of a track from the origin; far out the length of the beam spot matters little. */
            const slc_cms_plane *p = &planes[c->module[i]];
            const double x = (double)((c->x_um[i] - p->x0_um) / p->z0_um);
            const double y = (double)((c->y_um[i] - p->y0_um) / p->z0_um);
            charge[n++] = (double)c->charge_e[i] / sqrt(1 + x * x + y * y);
        }
    }
    qsort(charge, n, sizeof *charge, by_value);
    assert_true(n > 1000);
    assert_true(is_near(charge[n / 2], 22500, 2000));
    assert_true(charge[n / 50] > 13000);
    assert_true(charge[n - n / 50] > 32000);
    assert_true((double)unseen < 0.002 * (double)c->head.size);
    free(charge);
    clear(&m);
}

/* Calibrated digis bring the charge of the crossings back, but for what is below threshold, at the rim or
 * above the largest count. */
static void test_calibration(void **state)
{
    (void)state;
    made m;
    const slc_sim_cms_config config = quiet_config();
    slc_cms_calibrate_config calibrate;
    slc_cms_calibrate_counts counts = {0};
    slc_faults faults = {.n_kept = 0};
    double freed[2] = {0}, measured[2] = {0};
    make(&m, &config, 0, 3);
    slc_cms_calibrate_config_default(&calibrate, SLC_CMS_PHASE1);
    assert_int_equal(
        slc_cms_calibrate_run(&calibrate, slc_sim_cms_gains(m.sim), 0, &m.truth.digis, &counts, &faults),
        SLC_OK);
    assert_int_equal(counts.dead + counts.noisy, 0);
    for (size_t i = 0; i < m.truth.digis.head.size; i++) {
        measured[m.truth.digis.module[i] < SLC_CMS_LAYER1_END] += m.truth.digis.adc[i];
        assert_true(m.truth.digis.adc[i] > 800);
    }
    for (size_t i = 0; i < m.truth.crossings.head.size; i++) {
        freed[m.truth.crossings.module[i] < SLC_CMS_LAYER1_END] += (double)m.truth.crossings.charge_e[i];
    }
    for (int layer1 = 0; layer1 < 2; layer1++) {
        assert_in_range((uint64_t)(1000 * measured[layer1] / freed[layer1]), 930, 1000);
    }
    clear(&m);
}

/* A pixel is sent once, or twice where that is asked for, one word behind the other. */
static void test_duplicates(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        made m;
        slc_sim_cms_config config;
        slc_sim_cms_config_default(&config);
        config.duplicates = asked != 0 ? 0.05f : 0;
        config.shuffled = asked != 0;
        make(&m, &config, 0, 2);
        const slc_cms_digis *d = &m.truth.digis;
        double twice = 0, far = 0;
        uint32_t *last = calloc((size_t)SLC_CMS_MODULES_PHASE1 << 17, sizeof *last);
        assert_non_null(last);
        for (uint32_t e = 0; e < 2; e++) {
            for (uint32_t i = d->head.event_offset[e]; i < d->head.event_offset[e + 1]; i++) {
                uint32_t *at = &last[(size_t)d->module[i] << 17 | (size_t)d->x[i] << 9 | d->y[i]];
                twice += *at > d->head.event_offset[e];
                far += *at > d->head.event_offset[e] && *at != i;
                *at = i + 1;
            }
        }
        free(last);
        assert_true(is_near(twice / (double)d->head.size, (double)config.duplicates / 1.05, 0.005));
        assert_true(far == 0);
        clear(&m);
    }
}

/* ---- a configuration out of range --------------------------------------------------------------------- */

static void test_usage(void **state)
{
    (void)state;
    slc_sim_cms *sim;
    slc_error error = {.status = SLC_OK};
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.corrupt = 1.5f;
    assert_int_equal(slc_sim_cms_open(&config, &sim, &error), SLC_ERR_USAGE);
    assert_null(sim);
    assert_string_equal(error.text, "simulation of CMS: corrupt is 1.5, allowed are 0 to 1");
    slc_sim_cms_config_default(&config);
    config.tracks = NAN;
    assert_int_equal(slc_sim_cms_open(&config, &sim, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "simulation of CMS: tracks is nan, allowed are 0 to 1e+06");
    config.tracks = 0; /* an event of nothing is one */
    config.noise_digis = config.noisy_columns = 0;
    made m;
    make(&m, &config, 0, 1);
    assert_int_equal(m.truth.digis.head.size, 0);
    assert_int_equal(m.batch.length[0], 4 + SLC_CMS_FEDS * 24 + 6 * 8);
    clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reproducible), cmocka_unit_test(test_without_truth),
        cmocka_unit_test(test_cabling),      cmocka_unit_test(test_marks),
        cmocka_unit_test(test_occupancy),    cmocka_unit_test(test_charge),
        cmocka_unit_test(test_calibration),  cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
