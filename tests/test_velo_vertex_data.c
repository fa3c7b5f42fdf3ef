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
        assert_true(fabs(slc_histogram_half_width(pulls[k]) - 1) < 0.25); /* ± 0.1 of so few vertices */
    }
}

/* By how much all tracks are moved against the true origins of their particles: sums of a fit of one vector
 * to the distances between tracks and origins, the symmetric matrix (xy is zero) and the right side. */
typedef struct shift {
    double xx, yy, xz, yz, zz, x, y, z;
    size_t n;
} shift;

static void add_to_shift(shift *s, const slc_velo_states *beam, size_t t, double dz, double rx, double ry)
{
    const double tx = (double)beam->tx[t], ty = (double)beam->ty[t];
    const double vx = (double)beam->cov_xx_mm2[t] +
                      dz * (2 * (double)beam->cov_xtx_mm[t] + dz * (double)beam->cov_txtx[t]),
                 vy = (double)beam->cov_yy_mm2[t] +
                      dz * (2 * (double)beam->cov_yty_mm[t] + dz * (double)beam->cov_tyty[t]);
    if (rx * rx > 16 * vx || ry * ry > 16 * vy) {
        return; /* scattered far, or of another particle */
    }
    s->xx += 1 / vx;
    s->yy += 1 / vy;
    s->xz -= tx / vx;
    s->yz -= ty / vy;
    s->zz += tx * tx / vx + ty * ty / vy;
    s->x += rx / vx;
    s->y += ry / vy;
    s->z -= tx * rx / vx + ty * ry / vy;
    s->n++;
}

static void add_event_to_shift(shift *s, const fixture *f, uint32_t event)
{
    const slc_velo_states *beam = &f->result.beam;
    const slc_velo_particles *p = &f->truth.particles;
    for (size_t t = beam->head.event_offset[event]; t < beam->head.event_offset[event + 1]; t++) {
        const int32_t particle = f->matches.particle[t];
        if (particle < 0) {
            continue;
        }
        const size_t row = p->head.event_offset[event] + (size_t)particle;
        const double x = (double)p->origin_x_mm[row], y = (double)p->origin_y_mm[row];
        const double dz = (double)p->origin_z_mm[row] - (double)beam->z_mm[t];
        if (abs(p->pid[row]) != 11 && x * x + y * y < 0.3 * 0.3) {
            add_to_shift(s, beam, t, dz, (double)beam->x_mm[t] + dz * (double)beam->tx[t] - x,
                         (double)beam->y_mm[t] + dz * (double)beam->ty[t] - y);
        }
    }
}

/* Vertices of these few events lie 20 to 30 um low in z on average, each with the same weight. Tracks, each
 * by what it knows, do not: it is chance, of vertices with few tracks. */
static void tracks_are_where_they_belong(void **state)
{
    const fixture *f = *state;
    shift s = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        add_event_to_shift(&s, f, e);
    }
    const double zz = s.zz - s.xz * s.xz / s.xx - s.yz * s.yz / s.yy;
    const double z = (s.z - s.x * s.xz / s.xx - s.y * s.yz / s.yy) / zz;
    const double x = (s.x - s.xz * z) / s.xx, y = (s.y - s.yz * z) / s.yy;
    print_message("%zu tracks, moved by %.1f +- %.1f, %.1f +- %.1f, %.1f +- %.1f um\n", s.n, 1000 * x,
                  1000 / sqrt(s.xx), 1000 * y, 1000 / sqrt(s.yy), 1000 * z, 1000 / sqrt(zz));
    assert_true(s.n > 1500);
    assert_true(fabs(x) < 0.006 && fabs(y) < 0.006 && fabs(z) < 0.025);
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
        cmocka_unit_test_setup_teardown(tracks_are_where_they_belong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equals_the_oracle_on_every_target, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
