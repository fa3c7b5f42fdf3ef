/* SPDX-License-Identifier: Apache-2.0
 * Whatever a reader accepts goes through everything behind it. One chain serves all inputs: state that
 * survived from one input to the next would be a bug too. */
#include "base/columns.h"
#include "fuzz.h"
#include "lhcb/lhcb_identity.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    slc_velo_chain *chain, *cutting; /* the other one with a global event cut and all that is on request */
    slc_velo_result result, cut;
    slc_lhcb_events events;
    slc_velo_truth truth;
    slc_velo_check check;
    slc_velo_matches matches;
} kept;

void fuzz_require(bool holds, const char *text)
{
    if (!holds) {
        (void)fprintf(stderr, "broken contract: %s\n", text);
        abort();
    }
}

void fuzz_require_columns(const slc_schema *schema, const void *collection)
{
    const char *why = "";
    fuzz_require(slc_columns_check(schema, collection, &why), why);
}

static void release(void)
{
    slc_velo_chain_close(kept.chain);
    slc_velo_chain_close(kept.cutting);
    slc_velo_result_clear(&kept.result);
    slc_velo_result_clear(&kept.cut);
    slc_columns_clear(&slc_lhcb_events_schema, &kept.events);
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
    fuzz_require(slc_velo_chain_open(&config, NULL, &kept.chain, NULL) == SLC_OK, "the chain opens");
    config.gec = (slc_velo_gec_config){.max_velo = 40, .max_ut = 40, .max_scifi = 40, .max_ut_scifi = 60};
    config.impacts = true;
    fuzz_require(slc_velo_chain_open(&config, NULL, &kept.cutting, NULL) == SLC_OK, "the chain opens");
    slc_velo_check_init(&kept.check, &check);
    fuzz_require(atexit(release) == 0, "memory is given back");
}

static void require_truth(const slc_velo_truth *truth, uint32_t n_events)
{
    fuzz_require_columns(&slc_velo_particles_schema, &truth->particles);
    fuzz_require_columns(&slc_velo_particle_ids_schema, &truth->ids);
    fuzz_require_columns(&slc_velo_vertices_schema, &truth->vertices);
    fuzz_require(truth->particles.head.n_events == n_events, "truth has every event");
    for (uint32_t e = 0; e < n_events; e++) {
        const uint32_t ids = truth->ids.head.event_offset[e + 1] - truth->ids.head.event_offset[e];
        for (uint32_t p = truth->particles.head.event_offset[e];
             p < truth->particles.head.event_offset[e + 1]; p++) {
            const uint64_t end = (uint64_t)truth->particles.id_begin[p] + truth->particles.n_ids[p];
            fuzz_require(end <= ids, "a particle's hits lie in its event");
        }
    }
}

static void require_result(uint32_t n_events)
{
    fuzz_require_columns(&slc_velo_hits_schema, &kept.result.hits);
    fuzz_require_columns(&slc_velo_tracks_schema, &kept.result.tracks);
    fuzz_require_columns(&slc_velo_track_hits_schema, &kept.result.track_hits);
    fuzz_require_columns(&slc_velo_states_schema, &kept.result.beam);
    fuzz_require(kept.result.hits.head.n_events == n_events, "hits have every event");
    fuzz_require(kept.result.tracks.head.n_events == n_events, "tracks have every event");
    fuzz_require(kept.result.beam.head.size == kept.result.tracks.head.size, "every track has a state");
}

static uint32_t rows_of(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

/* What is cut has no hits, and the others have those that they have without a cut. */
static void cut_events(const slc_batch *batch)
{
    const slc_velo_event_cuts *cuts = &kept.cut.cuts;
    fuzz_require(slc_velo_chain_reserve(kept.cutting, batch, &kept.cut, NULL) == SLC_OK,
                 "the chain reserves");
    fuzz_require(slc_velo_chain_run(kept.cutting, batch, &kept.cut, NULL) == SLC_OK, "the chain runs");
    fuzz_require_columns(&slc_velo_event_cuts_schema, cuts);
    fuzz_require_columns(&slc_velo_impacts_schema, &kept.cut.impacts);
    fuzz_require(slc_columns_zip(&kept.cut.tracks, &kept.cut.impacts, NULL), "every track has an impact");
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const uint32_t hits = rows_of(&kept.cut.hits.head, e);
        const bool over = cuts->velo_clusters[e] > 40 || cuts->ut_clusters[e] > 40 ||
                          cuts->scifi_clusters[e] > 40 || cuts->ut_clusters[e] + cuts->scifi_clusters[e] > 60;
        fuzz_require((cuts->cut[e] != 0) == over, "what is over a limit is cut");
        fuzz_require(hits == (over ? 0 : rows_of(&kept.result.hits.head, e)), "hits of what is not cut");
    }
}

static void identify(const slc_batch *batch)
{
    fuzz_require(slc_columns_reserve(&slc_lhcb_events_schema, &kept.events, batch->n_events + 1U,
                                     batch->n_events) == SLC_OK,
                 "memory");
    fuzz_require(slc_lhcb_identity_run(batch, 0, &kept.events, NULL) == SLC_OK, "events are identified");
    fuzz_require_columns(&slc_lhcb_events_schema, &kept.events);
    fuzz_require(kept.events.head.size == batch->n_events, "every event has a row");
}

void fuzz_chain_raw(const slc_batch *batch)
{
    prepare();
    identify(batch);
    slc_faults faults = {0};
    fuzz_require(slc_velo_truth_read(batch, &kept.truth, &faults, NULL) == SLC_OK, "truth is read");
    require_truth(&kept.truth, batch->n_events);
    fuzz_require(slc_velo_chain_reserve(kept.chain, batch, &kept.result, NULL) == SLC_OK,
                 "the chain reserves");
    slc_error error = {.text = "the chain runs"};
    fuzz_require(slc_velo_chain_run(kept.chain, batch, &kept.result, &error) == SLC_OK, error.text);
    require_result(batch->n_events);
    fuzz_require(slc_velo_check_run(&kept.check, &kept.result, &kept.truth, &kept.matches, NULL) == SLC_OK,
                 "the check runs");
    cut_events(batch);
}

void fuzz_chain_hits(slc_velo_hits *hits, const slc_velo_truth *truth)
{
    prepare();
    const uint32_t n_events = hits->head.n_events;
    require_truth(truth, n_events);
    const slc_velo_hits before = kept.result.hits;
    kept.result.hits = *hits;
    *hits = before;
    fuzz_require(slc_velo_chain_reserve_hits(kept.chain, &kept.result, NULL) == SLC_OK, "the chain reserves");
    fuzz_require(slc_velo_chain_run_hits(kept.chain, &kept.result, NULL) == SLC_OK, "the chain runs");
    require_result(n_events);
    fuzz_require(slc_velo_check_run(&kept.check, &kept.result, truth, &kept.matches, NULL) == SLC_OK,
                 "the check runs");
}
