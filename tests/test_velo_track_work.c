/* SPDX-License-Identifier: Apache-2.0
 * How much the track search does for an event of noise: pairs that it compares, against a bound that follows
 * from the limits alone. No time is taken: docs/howto/velo-physics.md has some. */
#include "velo/velo_track_work.h"

#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_geometry.h"

#include <math.h>

enum { MOST_HITS = 80000, FULL = 2000 };

static track_run run;

static int set_up(void **state)
{
    (void)state;
    track_run_reserve(&run, MOST_HITS, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    track_run_clear(&run);
    return 0;
}

typedef enum kind {
    UNIFORM = 0, /* over the sensors */
    SECTOR,      /* in a few degrees, as in a shower */
    SPOT,        /* within a millimetre: every line comes near every hit */
    POINT,       /* within 0.1 mm: nothing is left out by any window */
    PARALLEL,    /* on lines along the beam, a hit of each layer on each */
    KINDS
} kind;

static void add_hit(uint64_t *seed, kind k, uint32_t module, uint32_t i)
{
    const double side = module % 2 ? 1 : -1, z = (double)slc_velo_design_module_z_mm[module];
    double x = side * (1 + 40 * random_unit(seed)), y = 80 * random_unit(seed) - 40;
    if (k == SECTOR) {
        x = side * (6 + 30 * random_unit(seed));
        y = 0.05 * x * random_unit(seed);
    } else if (k == SPOT || k == POINT) {
        x = 10 + (k == SPOT ? 1 : 0.1) * random_unit(seed);
        y = 5 + (k == SPOT ? 1 : 0.1) * random_unit(seed);
    } else if (k == PARALLEL) {
        x = 6 + 0.3 * (i % 40) + 0.01 * random_unit(seed);
        y = 0.3 * (i / 40 % 50) + 0.01 * random_unit(seed);
    }
    track_run_add(&run, module, (float)x, (float)y, (float)z);
}

/* An event with so many hits in each of the modules from `first` to `last`. */
static void make_event(kind k, uint32_t first, uint32_t last, uint32_t each)
{
    uint64_t seed = 91 + (uint64_t)k;
    track_run_begin(&run);
    for (uint32_t module = first; module <= last; module++) {
        for (uint32_t i = 0; i < each; i++) {
            add_hit(&seed, k, module, i);
        }
    }
    track_run_end_event(&run);
}

/* From the limits alone, for so many layers of `most` hits: in each step of a pass a hit of the middle layer
 * is compared with each downstream, then each of its pairs, and tracks that go on, of which two layers have
 * some, with each upstream; the second pass has two steps. Then tracks with the hits that are left, and with
 * each other. */
static double bound(const slc_velo_track_config *config, double layers, double most)
{
    const double first = 1 + (double)config->candidates + 2, n = layers * most;
    const double second = 2 * (1 + (double)config->second_candidates) + 2;
    return layers * most * most * (first + second) + n * n / 3 + n * n / 3;
}

static double work_of(kind k, const slc_velo_track_config *config)
{
    track_run_search(&run, config);
    const double work = (double)((const slc_track_work *)run.scratch.block)->compared;
    print_message("kind %d, %6zu hits, %s: %10.0f compared, %5.0f a hit, %zu tracks\n", (int)k,
                  run.hits.head.size,
                  config->target == SLC_SIMD_AUTO ? "auto" : slc_simd_name(config->target), work,
                  work / (double)run.hits.head.size, run.tracks.head.size);
    return work;
}

/* Ten to forty thousand hits. As many comparisons a hit as that times the hits of a module: without the
 * windows in direction it would be more. */
static void noise_costs_little(void **state)
{
    (void)state;
    static const double most[KINDS] = {3.3, 3.3, 3.3, 5.5, 3.3};
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        config.target = (slc_simd_target)target;
        if (!slc_simd_runs(config.target)) {
            continue;
        }
        for (int k = 0; k < KINDS; k++) {
            const uint32_t last = k == POINT || track_run_count(100) < 100 ? 192 : 768;
            for (uint32_t each = 192; each <= last; each *= 4) {
                make_event((kind)k, 0, 51, each);
                const double work = work_of((kind)k, &config);
                assert_true(work < most[k] * each * (double)run.hits.head.size);
                assert_true(work < bound(&config, 26, 2 * each));
            }
        }
    }
}

/* The worst that is searched: layers as full as they may be; and what is not. */
static void full_layers_are_bounded(void **state)
{
    (void)state;
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    config.target = SLC_SIMD_AUTO;
    make_event(POINT, 0, 51, FULL / 2);
    assert_true(work_of(POINT, &config) < bound(&config, 26, FULL) / 3);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_true(run.tracks.head.size > 1000);
    make_event(POINT, 10, 19, FULL / 2);
    assert_true(work_of(POINT, &config) < bound(&config, 5, FULL));
    make_event(UNIFORM, 10, 19, FULL / 2 + 1);
    track_run_search(&run, &config);
    assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_EVENT_CROWDED), 1);
    assert_int_equal(run.tracks.head.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_costs_little),
        cmocka_unit_test(full_layers_are_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
