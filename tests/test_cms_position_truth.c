/* SPDX-License-Identifier: Apache-2.0
 *
 * From digis to positions on simulated tracks: clusters are found where tracks crossed, and their positions
 * are as precise as their errors say. Residuals and pulls by the size of the cluster, which is where the
 * default errors are from.
 */
#include "cms/cms_stages.h"
#include "sim/sim_cms_synthetic.h"
#include "support/cmocka_all.h"

#include <sluice/sim_cms.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 4, SIZES = SLC_CMS_ERROR_SIZES - 1 };

/* Half the length and width of what belongs to a crossing, around it. */
#define NEAR_X_UM 500.0f
#define NEAR_Y_UM 2500.0f

typedef struct fixture {
    slc_sim_cms_truth truth;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_cms_position_config position;
    slc_sim_cms *sim;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    slc_sim_cms_config config;
    slc_batch batch = {0};
    slc_error error;
    memset(&f, 0, sizeof f);
    *state = &f;
    slc_sim_cms_config_default(&config);
    config.seed = 3;
    bool good = slc_sim_cms_open(&config, &f.sim, &error) == SLC_OK;
    for (uint64_t e = 0; good && e < EVENTS; e++) {
        good = slc_sim_cms_event(f.sim, e, &batch, &f.truth, &error) == SLC_OK;
    }
    slc_batch_clear(&batch);
    slc_cms_calibrate_config calibrate;
    slc_cms_calibrate_counts counts;
    slc_cms_cluster_config cluster;
    slc_cms_cluster_scratch scratch = {NULL};
    slc_faults faults = {0};
    slc_cms_calibrate_config_default(&calibrate, SLC_CMS_PHASE1);
    slc_cms_cluster_config_default(&cluster);
    slc_cms_digis *digis = &f.truth.digis;
    good = good &&
           slc_columns_reserve(&slc_cms_modules_schema, &f.modules, digis->head.size, EVENTS) == SLC_OK &&
           slc_columns_reserve(&slc_cms_clusters_schema, &f.clusters, digis->head.size, EVENTS) == SLC_OK &&
           slc_cms_calibrate_run(&calibrate, slc_sim_cms_gains(f.sim), 0, digis, &counts, &faults) ==
               SLC_OK &&
           slc_cms_cluster_reserve(&cluster, SLC_SIMD_AUTO, digis->head.size, &scratch, &error) == SLC_OK &&
           slc_cms_cluster_run(&cluster, 0, &scratch, digis, &f.modules, &f.clusters, &faults) == SLC_OK;
    slc_cms_cluster_clear(&scratch);
    slc_cms_position_config_default(&f.position);
    f.position.n_planes = SLC_CMS_MODULES_PHASE1;
    f.position.planes = slc_sim_cms_planes(f.sim);
    if (good) {
        slc_cms_position_run(&f.position, &f.clusters);
    }
    return good ? 0 : -1;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    slc_sim_cms_truth_clear(&f->truth);
    slc_columns_clear(&slc_cms_modules_schema, &f->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &f->clusters);
    slc_sim_cms_close(f->sim);
    return 0;
}

/* Residuals of an axis, by size. */
typedef struct residuals {
    slc_histogram um[SIZES], pull[SIZES];
} residuals;

static void init(residuals *r, double width)
{
    for (size_t k = 0; k < SIZES; k++) {
        slc_histogram_init(&r->um[k], -width, width, SLC_HISTOGRAM_BINS);
        slc_histogram_init(&r->pull[k], -6, 6, SLC_HISTOGRAM_BINS);
    }
}

static void add(residuals *r, uint32_t size, double residual, double error)
{
    const uint32_t k = size < SIZES ? size - 1 : SIZES - 1;
    slc_histogram_add(&r->um[k], residual);
    slc_histogram_add(&r->pull[k], residual / error);
}

/* The only cluster near a crossing that has no other crossing near it; -1 otherwise. */
static int64_t match(const fixture *f, uint32_t event, uint32_t crossing)
{
    const slc_sim_cms_crossings *c = &f->truth.crossings;
    const slc_cms_clusters *to = &f->clusters;
    for (uint32_t other = c->head.event_offset[event]; other < c->head.event_offset[event + 1]; other++) {
        if (other != crossing && c->module[other] == c->module[crossing] &&
            fabsf(c->x_um[other] - c->x_um[crossing]) < 2 * NEAR_X_UM &&
            fabsf(c->y_um[other] - c->y_um[crossing]) < 2 * NEAR_Y_UM) {
            return -1;
        }
    }
    int64_t found = -1;
    for (uint32_t k = to->head.event_offset[event]; k < to->head.event_offset[event + 1]; k++) {
        if (to->module[k] == c->module[crossing] && fabsf(to->x_um[k] - c->x_um[crossing]) < NEAR_X_UM &&
            fabsf(to->y_um[k] - c->y_um[crossing]) < NEAR_Y_UM) {
            if (found >= 0) {
                return -1;
            }
            found = k;
        }
    }
    return found;
}

static void tell(const char *axis, const residuals *r)
{
    for (size_t k = 0; k < SIZES; k++) {
        print_message("%s, size %zu%s: %llu clusters, mean %6.2f um, half width %6.2f um, pull %5.2f\n", axis,
                      k + 1, k + 1 == SIZES ? "+" : " ", (unsigned long long)r->um[k].inside,
                      slc_histogram_mean(&r->um[k]), slc_histogram_half_width(&r->um[k]),
                      slc_histogram_half_width(&r->pull[k]));
    }
}

/* Enough of them, in the middle, and as wide as their errors say. */
static void assert_right(const slc_histogram *um, const slc_histogram *pull)
{
    const double width = slc_histogram_half_width(um), pulls = slc_histogram_half_width(pull);
    assert_true(um->inside > 100);
    assert_true(fabs(slc_histogram_mean(um)) < 0.15 * width + 0.5);
    assert_true(pulls > 0.8 && pulls < 1.2);
}

static void test_residuals_and_pulls(void **state)
{
    const fixture *f = *state;
    const slc_sim_cms_crossings *c = &f->truth.crossings;
    const slc_cms_clusters *to = &f->clusters;
    residuals x, y;
    init(&x, 200);
    init(&y, 300);
    uint32_t seen = 0, found = 0;
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (uint32_t i = c->head.event_offset[e]; i < c->head.event_offset[e + 1]; i += 3) {
            const int64_t k = c->n_digis[i] > 0 ? match(f, e, i) : -1;
            seen += c->n_digis[i] > 0;
            if (k < 0) {
                continue;
            }
            found++;
            add(&x, to->x_max[k] - to->x_min[k] + 1U, (double)(to->x_um[k] - c->x_um[i]),
                (double)to->x_error_um[k]);
            add(&y, to->y_max[k] - to->y_min[k] + 1U, (double)(to->y_um[k] - c->y_um[i]),
                (double)to->y_error_um[k]);
        }
    }
    print_message("%u crossings with digis, %u with one cluster and no other crossing near\n", seen, found);
    tell("x", &x);
    tell("y", &y);
    assert_true(found > seen * 3 / 4);
    for (size_t k = 0; k < SIZES; k++) {
        assert_right(&x.um[k], &x.pull[k]);
        assert_right(&y.um[k], &y.pull[k]);
    }
    /* Shared charge tells more than which pixel it was: 100 um / sqrt(12) is 29, and 150 um 43. */
    assert_true(slc_histogram_half_width(&x.um[1]) < 10);
    assert_true(slc_histogram_half_width(&y.um[1]) < 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_residuals_and_pulls, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
