/* SPDX-License-Identifier: Apache-2.0
 * The track search against the plain oracle on real detectors' events, on every instruction set: LHCb's ten
 * raw events, and the lists of hits of the JSON samples, Upgrade 2 among them, with each strategy and the
 * single pass as well. */
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "support/velo_track_cases.h"
#include "velo/velo_track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const file = "lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf";
static const char *const archive = "velo_json/upgrade2.tar.xz";
static track_run run;

/* The first events of a collection of hits, in which nothing but places matters to the search. */
static void take_hits(const slc_velo_hits *hits, uint32_t events)
{
    const uint32_t n = events < hits->head.n_events ? events : hits->head.n_events;
    track_run_reserve(&run, hits->head.size, n);
    track_run_begin(&run);
    for (uint32_t e = 0; e < n; e++) {
        for (uint32_t i = hits->head.event_offset[e]; i < hits->head.event_offset[e + 1]; i++) {
            track_run_add(&run, hits->module[i], hits->x_mm[i], hits->y_mm[i], hits->z_mm[i]);
        }
        track_run_end_event(&run);
    }
}

/* The default search, the single pass, the other strategies, and the widest of all. */
static void expect_oracle(void)
{
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    track_run_expect_oracle(&run, &config);
    track_run_expect_falling_z(&run);
    assert_true(run.tracks.head.size > 10 * run.hits.head.n_events);
    config.strategy = SLC_VELO_TRACK_SPLIT;
    track_run_expect_oracle(&run, &config);
    track_run_expect_falling_z(&run);
    config.strategy = SLC_VELO_TRACK_FULL;
    config.candidates = config.second_candidates = 10;
    track_run_expect_oracle(&run, &config);
    track_run_expect_falling_z(&run);
    slc_velo_track_config_fast(&config);
    track_run_expect_oracle(&run, &config);
    track_run_expect_falling_z(&run);
    track_run_clear(&run);
}

static void raw_events(void **state)
{
    (void)state;
    slc_io_source *source;
    slc_error error = {0};
    slc_faults faults = {0};
    slc_batch batch = {0};
    slc_velo_config config;
    slc_velo_chain *chain;
    slc_velo_result result = {0};
    slc_velo_config_default(&config);
    assert_int_equal(slc_io_open(support_data(file), NULL, &source, &error), SLC_OK);
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
    slc_io_close(source);
    assert_int_equal(batch.n_events, 10);
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, &batch, &result, &error), SLC_OK);
    /* The chain's own tracks, so that it hands its configuration on. */
    assert_int_equal(
        track_run_difference(&config.track, &result.hits, &result.tracks, &result.track_hits, NULL),
        UINT32_MAX);
    take_hits(&result.hits, 10);
    expect_oracle();
    slc_velo_chain_close(chain);
    slc_velo_result_clear(&result);
    slc_batch_clear(&batch);
}

/* All files of an archive, one behind the other: JSON events may follow each other. */
static support_bytes unpack(const char *path)
{
    char command[4200], part[65536];
    support_bytes bytes = {0};
    (void)snprintf(command, sizeof command, "tar -xJOf '%s'", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    for (size_t n = fread(part, 1, sizeof part, pipe); n > 0; n = fread(part, 1, sizeof part, pipe)) {
        support_append(&bytes, part, n);
    }
    assert_int_equal(pclose(pipe), 0);
    return bytes;
}

static void json_events(const char *name, uint32_t events)
{
    slc_io_source *source = NULL;
    slc_error error = {0};
    slc_faults faults = {0};
    slc_velo_hits hits = {0};
    support_bytes bytes = unpack(support_data(name));
    assert_int_equal(slc_io_open_memory(bytes.at, bytes.size, name, NULL, &source, &error), SLC_OK);
    assert_int_equal(slc_io_read_velo_hits(source, events, &hits, NULL, NULL, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_true(hits.head.n_events >= (events < 10 ? events : 10));
    take_hits(&hits, (uint32_t)track_run_count(hits.head.n_events));
    expect_oracle();
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_io_close(source);
    support_clear(&bytes);
}

static void bsphiphi(void **state)
{
    (void)state;
    json_events("velo_json/bsphiphi.tar.xz", 150);
}

static void minbias(void **state)
{
    (void)state;
    json_events("velo_json/minbias.tar.xz", 150);
}

static void upgrade1(void **state)
{
    (void)state;
    json_events("velo_json/upgrade1.tar.xz", 10);
}

static void upgrade2(void **state)
{
    (void)state;
    json_events(archive, 10);
}

int main(void)
{
    const int no_file = support_skip_without(file), no_archive = support_skip_without(archive);
    if (no_file != 0 || no_archive != 0) {
        return no_file != 0 ? no_file : no_archive;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_events), cmocka_unit_test(bsphiphi), cmocka_unit_test(minbias),
        cmocka_unit_test(upgrade1),   cmocka_unit_test(upgrade2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
