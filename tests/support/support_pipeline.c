/* SPDX-License-Identifier: Apache-2.0
 * One input through reading, truth and the whole chain. */
#include "base/columns.h"
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* Kept between runs, so that ten thousand of them do not mostly allocate. */
static struct {
    slc_velo_chain *chain;
    slc_velo_result result;
    slc_batch batch;
    slc_velo_truth truth;
    slc_velo_check check;
    slc_velo_matches matches;
} kept;

static void release(void)
{
    slc_velo_chain_close(kept.chain);
    slc_velo_result_clear(&kept.result);
    slc_batch_clear(&kept.batch);
    slc_velo_truth_clear(&kept.truth);
    slc_velo_check_clear(&kept.check);
    slc_columns_clear(&slc_velo_matches_schema, &kept.matches);
}

static void prepare(void)
{
    if (kept.chain != NULL) {
        return;
    }
    slc_velo_config config;
    slc_velo_check_config check;
    slc_velo_config_default(&config);
    slc_velo_check_config_default(&check);
    assert_int_equal(slc_velo_chain_open(&config, NULL, &kept.chain, NULL), SLC_OK);
    slc_velo_check_init(&kept.check, &check);
    assert_int_equal(atexit(release), 0);
}

static void assert_contracts(void)
{
    const char *why = "";
    const struct {
        const slc_schema *schema;
        const void *collection;
    } all[] = {{&slc_velo_particles_schema, &kept.truth.particles},
               {&slc_velo_particle_ids_schema, &kept.truth.ids},
               {&slc_velo_vertices_schema, &kept.truth.vertices},
               {&slc_velo_hits_schema, &kept.result.hits},
               {&slc_velo_tracks_schema, &kept.result.tracks}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!slc_columns_check(all[i].schema, all[i].collection, &why)) {
            fail_msg("%s: %s", all[i].schema->name, why);
        }
    }
}

static void count_results(support_outcome *outcome)
{
    assert_contracts();
    assert_int_equal(slc_velo_check_run(&kept.check, &kept.result, &kept.truth, &kept.matches, NULL), SLC_OK);
    outcome->tracks += kept.result.tracks.head.size;
    outcome->particles += kept.truth.particles.head.size;
    outcome->superpixels += kept.result.n_superpixels;
    slc_faults_merge(&outcome->faults, &kept.result.faults);
}

static void process_raw(support_outcome *outcome)
{
    assert_int_equal(slc_velo_truth_read(&kept.batch, &kept.truth, &outcome->faults, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(kept.chain, &kept.batch, &kept.result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(kept.chain, &kept.batch, &kept.result, NULL), SLC_OK);
    count_results(outcome);
}

static slc_status read_raw(slc_io_source *source, bool process, support_outcome *outcome)
{
    enum { BATCH_EVENTS = 3 };
    const slc_status status = slc_io_read_batch(source, BATCH_EVENTS, SIZE_MAX, &kept.batch, &outcome->faults,
                                                &outcome->error);
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t e = 0; e < kept.batch.n_events; e++) {
        const uint64_t number = kept.batch.first_event + e;
        if (number < SUPPORT_EVENTS) {
            outcome->event_hash[number] = support_hash(kept.batch.bytes + kept.batch.offset[e],
                                                       kept.batch.length[e]);
        }
    }
    if (process) {
        process_raw(outcome);
    }
    return SLC_OK;
}

static uint64_t hits_hash(uint32_t e)
{
    uint64_t sum = slc_columns_checksum(&slc_velo_hits_schema, &kept.result.hits, e, SLC_CHECKSUM_START);
    sum = slc_columns_checksum(&slc_velo_particles_schema, &kept.truth.particles, e, sum);
    return slc_columns_checksum(&slc_velo_particle_ids_schema, &kept.truth.ids, e, sum);
}

static slc_status read_hits(slc_io_source *source, bool process, support_outcome *outcome)
{
    enum { BATCH_EVENTS = 3 };
    slc_io_totals before;
    slc_io_totals_of(source, &before);
    const slc_status status = slc_io_read_velo_hits(source, BATCH_EVENTS, &kept.result.hits, &kept.truth,
                                                    NULL, &outcome->faults, &outcome->error);
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t e = 0; e < kept.result.hits.head.n_events; e++) {
        if (before.events + e < SUPPORT_EVENTS) {
            outcome->event_hash[before.events + e] = hits_hash(e);
        }
    }
    if (process) {
        assert_int_equal(slc_velo_chain_reserve_hits(kept.chain, &kept.result, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run_hits(kept.chain, &kept.result, NULL), SLC_OK);
        count_results(outcome);
    }
    return SLC_OK;
}

static void drain(slc_io_source *source, bool process, support_outcome *outcome)
{
    prepare();
    const bool raw = slc_io_content_of(source) == SLC_IO_RAW_EVENTS;
    do {
        outcome->read_status = raw ? read_raw(source, process, outcome) : read_hits(source, process, outcome);
    } while (outcome->read_status == SLC_OK);
    slc_io_totals_of(source, &outcome->totals);
    const char *damage = slc_io_damage(source);
    if (damage != NULL) {
        assert_true(strlen(damage) < sizeof outcome->damage);
        strcpy(outcome->damage, damage);
    }
    slc_io_close(source);
}

static support_outcome from_memory(const void *bytes, size_t size, const char *name,
                                   const slc_io_config *config, bool process)
{
    support_outcome outcome = {.read_status = SLC_END};
    slc_io_source *source = NULL;
    /* An exact copy, so that a sanitizer sees a read behind the end. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    outcome.open_status = slc_io_open_memory(copy, size, name, config, &source, &outcome.error);
    assert_true((outcome.open_status == SLC_OK) == (source != NULL));
    if (source != NULL) {
        drain(source, process, &outcome);
    }
    free(copy);
    return outcome;
}

support_outcome support_run(const void *bytes, size_t size, const char *name, const slc_io_config *config)
{
    return from_memory(bytes, size, name, config, true);
}

support_outcome support_read_only(const void *bytes, size_t size, const char *name,
                                  const slc_io_config *config)
{
    return from_memory(bytes, size, name, config, false);
}

support_outcome support_run_file(const char *path, const slc_io_config *config)
{
    support_outcome outcome = {.read_status = SLC_END};
    slc_io_source *source = NULL;
    outcome.open_status = slc_io_open(path, config, &source, &outcome.error);
    if (source != NULL) {
        drain(source, true, &outcome);
    }
    return outcome;
}
