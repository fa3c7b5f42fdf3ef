/* SPDX-License-Identifier: Apache-2.0
 *
 * Vertices on LHCb's ten simulated events, from raw banks: how many, how well, and oracle and targets on real
 * tracks.
 */
#include "velo/velo_vertex.h"
#include <sluice/io.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>

#include "oracle/velo_vertex_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 10 };

static const char *data_path(void)
{
    static char path[4096];
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf",
                   folder != NULL ? folder : "../shared/data");
    return path;
}

typedef struct fixture {
    slc_velo_chain *chain;
    slc_velo_result result;
    slc_batch batch;
    slc_velo_truth truth;
    slc_velo_matches matches;
    slc_velo_check check;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    slc_io_source *source;
    slc_error error = {0};
    slc_faults faults = {.n_kept = 0};
    slc_velo_config config;
    slc_velo_check_config check_config;
    slc_velo_config_default(&config);
    slc_velo_check_config_default(&check_config);
    slc_velo_check_init(&f.check, &check_config);
    if (slc_io_open(data_path(), NULL, &source, &error) != SLC_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    bool good = slc_io_read_batch(source, 100, (size_t)1 << 30, &f.batch, &faults, &error) == SLC_OK &&
                f.batch.n_events == EVENTS;
    slc_io_close(source);
    good = good && slc_velo_chain_open(&config, NULL, &f.chain, &error) == SLC_OK &&
           slc_velo_chain_reserve(f.chain, &f.batch, &f.result, NULL) == SLC_OK &&
           slc_velo_chain_run(f.chain, &f.batch, &f.result, &error) == SLC_OK &&
           slc_velo_truth_read(&f.batch, &f.truth, &faults, &error) == SLC_OK &&
           slc_velo_check_run(&f.check, &f.result, &f.truth, &f.matches, NULL) == SLC_OK;
    *state = &f;
    return good ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    slc_velo_chain_close(f->chain);
    slc_velo_result_clear(&f->result);
    slc_velo_truth_clear(&f->truth);
    slc_batch_clear(&f->batch);
    slc_columns_clear(&slc_velo_matches_schema, &f->matches);
    slc_velo_check_clear(&f->check);
    return 0;
}

/* Allen finds 52 to 54 of the 59. */
static void finds_and_measures_vertices(void **state)
{
    const fixture *f = *state;
    assert_int_equal(f->check.vertices[SLC_VELO_VERTICES_ALL].reconstructible, 59);
    assert_true(f->check.vertices[SLC_VELO_VERTICES_ALL].found >= 54);
    assert_int_equal(f->check.vertices_false, 0);
    const slc_velo_vertex_resolution *set = &f->check.vertex_resolution;
    assert_true(slc_histogram_rms(&set->x_um) < 17);
    assert_true(slc_histogram_rms(&set->y_um) < 15);
    assert_true(slc_histogram_rms(&set->z_um) < 120);
    const slc_histogram *const pulls[] = {&set->pull_x, &set->pull_y, &set->pull_z};
    for (size_t k = 0; k < 3; k++) {
        assert_true(fabs(slc_histogram_rms(pulls[k]) - 1) < 0.15);
        assert_true(fabs(slc_histogram_half_width(pulls[k]) - 1) < 0.15);
    }
}

static void equals_the_oracle_on_every_target(void **state)
{
    fixture *f = *state;
    slc_velo_vertex_config config;
    slc_velo_vertex_scratch scratch = {0};
    slc_velo_primaries found = {0};
    slc_velo_vertex_config_default(&config);
    assert_int_equal(slc_velo_vertex_reserve(&scratch, f->result.beam.head.size), SLC_OK);
    assert_int_equal(
        slc_columns_reserve(&slc_velo_primaries_schema, &found, EVENTS * SLC_VELO_MAX_PRIMARIES, EVENTS),
        SLC_OK);
    for (int t = SLC_SIMD_C; t < SLC_SIMD_TARGETS; t++) {
        config.target = (slc_simd_target)t;
        if (!slc_simd_runs(config.target)) {
            continue;
        }
        assert_int_equal(slc_velo_vertex_run(&config, &f->result.beam, &scratch, &found), SLC_OK);
        for (uint32_t e = 0; e < EVENTS; e++) {
            assert_true(slc_columns_checksum(&slc_velo_primaries_schema, &found, e, 1) ==
                        slc_columns_checksum(&slc_velo_primaries_schema, &f->result.primaries, e, 1));
        }
    }
    for (uint32_t e = 0; e < EVENTS; e++) {
        oracle_vertex expected[SLC_VELO_MAX_PRIMARIES];
        const size_t first = found.head.event_offset[e];
        assert_int_equal(oracle_vertices(&config, &f->result.beam, e, expected),
                         found.head.event_offset[e + 1] - first);
        for (size_t k = 0; k < found.head.event_offset[e + 1] - first; k++) {
            assert_true(fabs((double)found.x_mm[first + k] - expected[k].x) < 0.002);
            assert_true(fabs((double)found.y_mm[first + k] - expected[k].y) < 0.002);
            assert_true(fabs((double)found.z_mm[first + k] - expected[k].z) < 0.010);
        }
    }
    slc_columns_clear(&slc_velo_primaries_schema, &found);
    slc_velo_vertex_clear(&scratch);
}

int main(void)
{
    if (access(data_path(), R_OK) != 0) {
        (void)printf("SKIP: no %s\n", data_path());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_and_measures_vertices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equals_the_oracle_on_every_target, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
