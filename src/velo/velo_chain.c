/* SPDX-License-Identifier: Apache-2.0
 * The VELO's stages in order: decode, cluster, track, fit, vertices; on a core, or on a GPU by way of
 * velo_chain_device.c. */
#include "base/columns.h"
#include "base/config.h"
#include "base/faults.h"
#include "simd/simd_checksum.h"
#include "velo/velo_chain_note.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_checksum.h"
#include "velo/velo_config.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_fit.h"
#include "velo/velo_impact.h"
#include "velo/velo_kernels.h"
#include "velo/velo_retina.h"

#include <stdlib.h>
#include <string.h>

static void velo_config_default(slc_velo_config *config)
{
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    config->exec.target = SLC_SIMD_AUTO;
    slc_velo_track_config_default(&config->track);
    slc_velo_fit_config_default(&config->fit);
    slc_velo_vertex_config_default(&config->vertex);
}
SLC_CONFIG_DEFAULT(slc_velo_config, velo_config_default)

/* Every number of the configuration. */
static slc_status check_config(const slc_velo_config *config, slc_error *error)
{
    const slc_exec *exec = &config->exec;
    if (exec->target != SLC_SIMD_AUTO && !slc_simd_runs(exec->target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target %d does not run on this machine", (int)exec->target);
    }
    const uint32_t for_impacts = SLC_VELO_WANT_BEAM | SLC_VELO_WANT_PRIMARIES;
    if ((config->wanted & ~(uint32_t)(SLC_VELO_WANT_ALL | SLC_VELO_WANT_DECISIONS)) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "wanted: there is no such collection (%#x)", config->wanted);
    }
    if (config->impacts && config->wanted != 0 && (config->wanted & for_impacts) != for_impacts) {
        return slc_fail(error, SLC_ERR_USAGE, "wanted: impacts need states at the beam line and vertices");
    }
    if ((config->wanted & SLC_VELO_WANT_DECISIONS) != 0 && config->selection == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "wanted: decisions need a selection");
    }
    return slc_velo_settings_check(config, error);
}

static void set_beam(slc_velo_config *config, float x_mm, float y_mm)
{
    config->track.beam_x_mm = config->fit.beam_x_mm = config->vertex.beam_x_mm = x_mm;
    config->track.beam_y_mm = config->fit.beam_y_mm = config->vertex.beam_y_mm = y_mm;
}

slc_status slc_velo_chain_set_beam(slc_velo_chain *chain, float x_mm, float y_mm, slc_error *error)
{
    slc_velo_config config = chain->config;
    set_beam(&config, x_mm, y_mm);
    const slc_status status = check_config(&config, error);
    if (status == SLC_OK) {
        chain->config = config;
        slc_velo_decide_beam(chain);
        if (chain->device != NULL) {
            chain->device->packed = NULL; /* what is on its way has the old one */
        }
    }
    return status;
}

slc_status slc_velo_chain_open(const slc_velo_config *given, const slc_velo_geometry *geometry,
                               slc_velo_chain **chain, slc_error *error)
{
    *chain = NULL;
    slc_velo_config config;
    slc_velo_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_velo_config", error);
    status = status == SLC_OK ? check_config(&config, error) : status;
    status = status == SLC_OK && geometry != NULL ? slc_velo_geometry_check(geometry, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_velo_chain *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a VELO chain");
    }
    opened->config = config;
    opened->config.exec.device = NULL; /* the caller's text */
    opened->config.wanted = config.wanted != 0 ? config.wanted : SLC_VELO_WANT_ALL;
    opened->cluster.masking.mask = config.mask;
    set_beam(&opened->config, config.fit.beam_x_mm, config.fit.beam_y_mm);
    opened->config.vertex.target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_VERTEX],
                                                          config.exec.target);
    opened->config.track.target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_TRACK],
                                                         config.exec.target);
    opened->config.fit.target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_FIT],
                                                       config.exec.target);
    if (geometry != NULL) {
        opened->geometry = *geometry;
    } else {
        slc_velo_geometry_ideal(&opened->geometry);
    }
    status = slc_velo_decide_open(opened, config.selection, error);
    status = status == SLC_OK ? slc_velo_device_open(opened, config.exec.device, error) : status;
    if (status != SLC_OK) {
        slc_velo_chain_close(opened);
        return status;
    }
    *chain = opened;
    return SLC_OK;
}

void slc_velo_chain_close(slc_velo_chain *chain)
{
    if (chain != NULL) {
        slc_velo_cluster_clear(&chain->cluster);
        slc_velo_track_clear(&chain->track);
        slc_velo_vertex_clear(&chain->vertex);
        slc_velo_gec_clear(&chain->gec);
        slc_velo_device_close(chain->device);
        slc_velo_decide_close(chain);
        free(chain);
    }
}

void slc_velo_chain_note(slc_velo_chain *chain, slc_lhcb_places *places)
{
    chain->cluster.places = places;
}

/* What an earlier batch left is not to be copied where there is more room. */
static void reset_tracks(slc_velo_result *result)
{
    slc_columns_reset(&result->tracks);
    slc_columns_reset(&result->track_hits);
    slc_columns_reset(&result->beam);
    slc_columns_reset(&result->end);
    slc_columns_reset(&result->impacts);
    slc_columns_reset(&result->primaries);
}

/* Room for what comes after the hits. */
static slc_status reserve_tracks(slc_velo_chain *chain, size_t hits, size_t hits_of_event, uint32_t events,
                                 slc_velo_result *result)
{
    const size_t tracks = slc_velo_track_bound(hits);
    slc_status status = slc_velo_track_reserve(&chain->track, hits_of_event);
    reset_tracks(result);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_tracks_schema, &result->tracks, tracks, events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_track_hits_schema, &result->track_hits, hits, events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_states_schema, &result->beam, tracks, events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_states_schema, &result->end, tracks, events);
    }
    if (status == SLC_OK && chain->config.impacts) {
        status = slc_columns_reserve(&slc_velo_impacts_schema, &result->impacts, tracks, events);
    }
    if (status == SLC_OK) {
        status = slc_velo_vertex_reserve(&chain->vertex, slc_velo_track_bound(hits_of_event));
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_primaries_schema, &result->primaries,
                                     (size_t)events * SLC_VELO_MAX_PRIMARIES, events);
    }
    return status == SLC_OK
               ? slc_velo_decide_reserve(chain, slc_velo_track_bound(hits_of_event), events, result)
               : status;
}

static slc_status reserved(slc_status status, slc_error *error)
{
    return status == SLC_OK ? SLC_OK
                            : slc_fail(error, status, "no room for a batch: %s", slc_status_name(status));
}

static bool lists_superpixels(const slc_velo_chain *chain)
{
    return chain->config.keep_superpixels && chain->config.banks != SLC_VELO_BANKS_RETINA;
}

/* Once: the processor is asked what runs on it, which takes as long as the fit of several events. */
static slc_status reserve_banks(slc_velo_chain *chain)
{
    return chain->cluster.work != NULL
               ? SLC_OK
               : slc_velo_cluster_reserve_banks(&chain->cluster, chain->config.exec.target);
}

slc_status slc_velo_chain_reserve(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                                  slc_error *error)
{
    size_t largest;
    const uint8_t *cut;
    slc_status status = slc_velo_gec_reserve(&chain->config, batch, &chain->gec, &result->cuts, &cut);
    if (status != SLC_OK) {
        return reserved(status, error);
    }
    size_t words;
    if (chain->device != NULL) {
        status = slc_velo_device_pack(chain, batch, cut, &words, &largest, error);
        if (status != SLC_OK) {
            return status;
        }
    } else {
        words = slc_velo_event_bound(batch, chain->config.banks, cut, chain->cluster.places, &largest);
    }
    const size_t hits = slc_velo_cluster_bound(words);
    slc_columns_reset(&result->superpixels);
    slc_columns_reset(&result->hits);
    status = slc_columns_reserve(&slc_velo_superpixels_schema, &result->superpixels,
                                 lists_superpixels(chain) ? words : 0, batch->n_events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_event_counts_schema, &result->counts, batch->n_events, 0);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_hits_schema, &result->hits, hits, batch->n_events);
    }
    if (status == SLC_OK) {
        status = reserve_banks(chain);
    }
    if (status == SLC_OK) {
        status = slc_velo_masking_reserve(&chain->cluster.masking, largest);
    }
    if (status == SLC_OK) {
        status = reserve_tracks(chain, hits, slc_velo_cluster_bound(largest), batch->n_events, result);
    }
    if (status == SLC_OK && chain->device != NULL) {
        return slc_velo_device_reserve(chain, batch->n_events, words, true, error);
    }
    return reserved(status, error);
}

slc_status slc_velo_chain_reserve_hits(slc_velo_chain *chain, slc_velo_result *result, slc_error *error)
{
    const slc_columns *head = &result->hits.head;
    slc_status status = slc_columns_reserve(&slc_velo_superpixels_schema, &result->superpixels, 0,
                                            head->n_events);
    status = status == SLC_OK
                 ? slc_columns_reserve(&slc_velo_event_counts_schema, &result->counts, head->n_events, 0)
                 : status;
    status = status == SLC_OK ? slc_velo_gec_pass(&chain->config, head->n_events, &result->cuts) : status;
    status = status == SLC_OK
                 ? reserve_tracks(chain, head->size, slc_columns_largest_event(head), head->n_events, result)
                 : status;
    if (status == SLC_OK && chain->device != NULL) {
        return slc_velo_device_reserve(chain, head->n_events, head->size, false, error);
    }
    return reserved(status, error);
}

/* Events without rows: the super-pixels that nobody asked for. */
static void no_superpixels(slc_velo_result *result, uint32_t n_events)
{
    slc_columns_reset(&result->superpixels);
    for (uint32_t e = 0; e < n_events; e++) {
        slc_columns_end_event(&result->superpixels);
    }
}

/* Before anything that finds faults: those of this batch, and how many of each event. */
static slc_status begin_faults(slc_velo_result *result, uint32_t n_events, uint64_t first_event)
{
    slc_velo_event_counts *counts = &result->counts;
    slc_faults_reset(&result->faults);
    if (counts->head.block == NULL || counts->head.capacity < n_events) {
        return SLC_ERR_CAPACITY;
    }
    counts->head.size = n_events;
    memset(counts->superpixels, 0, n_events * sizeof *counts->superpixels);
    memset(counts->faults, 0, n_events * sizeof *counts->faults);
    memset(counts->search, SLC_VELO_SEARCH_DONE, n_events * sizeof *counts->search);
    result->faults.of_event = counts->faults;
    result->faults.first_event = first_event;
    result->faults.n_events = n_events;
    return SLC_OK;
}

/* Ends the time of a stage, begins that of the next. */
static double take_time(slc_velo_result *result, slc_velo_stage stage, double began)
{
    const double now = slc_clock_seconds();
    result->seconds[stage] = now - began;
    return now;
}

/* How many hits an event has, whether they are in the result or not. */
static uint32_t hits_of(const slc_velo_chain *chain, const slc_velo_result *result, bool banks, uint32_t e)
{
    const uint32_t *offset = result->hits.head.event_offset;
    return chain->device != NULL && banks ? chain->device->n_hits[e] : offset[e + 1] - offset[e];
}

static slc_status find_tracks(slc_velo_chain *chain, slc_velo_result *result, bool banks, slc_error *error)
{
    const uint32_t limit = chain->config.track.max_event_hits, n_events = result->hits.head.n_events;
    const uint32_t *faults = result->counts.faults;
    const uint8_t *cut = result->n_gec_events > 0 ? result->cuts.cut : NULL;
    uint8_t *search = result->counts.search;
    result->n_cut_events = result->n_tracks = 0;
    for (uint32_t e = 0; e < n_events; e++) {
        search[e] = (uint8_t)faults[e];
        result->n_cut_events += limit > 0 && hits_of(chain, result, banks, e) > limit;
    }
    slc_status status;
    if (chain->device != NULL) {
        status = slc_velo_device_search(chain, result, error);
    } else {
        status = slc_velo_track_run(&chain->config.track, &result->hits, result->first_event, &chain->track,
                                    &result->tracks, &result->track_hits, &result->faults);
        result->n_tracks = result->tracks.head.size;
    }
    for (uint32_t e = 0; e < n_events; e++) { /* the search finds one fault in an event at most: crowded */
        const bool left_out = (cut != NULL && cut[e] != 0) ||
                              (limit > 0 && hits_of(chain, result, banks, e) > limit);
        search[e] = left_out                          ? SLC_VELO_SEARCH_CUT
                    : search[e] != (uint8_t)faults[e] ? SLC_VELO_SEARCH_CROWDED
                                                      : SLC_VELO_SEARCH_DONE;
    }
    return status;
}

/* Collections that nobody wants lose their rows; a device's never had any. */
static void drop_unwanted(const slc_velo_chain *chain, bool banks, slc_velo_result *result)
{
    const struct {
        uint32_t bit;
        slc_columns *head;
    } all[] = {{banks ? (uint32_t)SLC_VELO_WANT_HITS : UINT32_MAX, &result->hits.head},
               {SLC_VELO_WANT_TRACKS, &result->tracks.head},
               {SLC_VELO_WANT_TRACKS, &result->track_hits.head},
               {SLC_VELO_WANT_BEAM, &result->beam.head},
               {SLC_VELO_WANT_END, &result->end.head},
               {SLC_VELO_WANT_PRIMARIES, &result->primaries.head}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((chain->config.wanted & all[i].bit) == 0) {
            all[i].head->size = 0;
            memset(all[i].head->event_offset, 0, ((size_t)all[i].head->n_events + 1) * sizeof(uint32_t));
        }
    }
}

/* A stage that failed, by its name, unless a device has said why. */
static slc_status stage_failed(const slc_velo_chain *chain, slc_status status, const char *stage,
                               slc_error *error)
{
    if (chain->device != NULL && error != NULL && error->text[0] != '\0') {
        return status;
    }
    return slc_fail(error, status, "VELO %s: %s", stage, slc_status_name(status));
}

static slc_status track_and_fit(slc_velo_chain *chain, slc_velo_result *result, bool banks, slc_error *error)
{
    double time = slc_clock_seconds();
    const bool on_device = chain->device != NULL;
    slc_status status = find_tracks(chain, result, banks, error);
    time = take_time(result, SLC_VELO_STAGE_TRACK, time);
    if (status == SLC_OK && !on_device) {
        /* The bound on tracks is seven times what comes. */
        slc_columns_tighten(&slc_velo_states_schema, &result->beam, result->tracks.head.size);
        slc_columns_tighten(&slc_velo_states_schema, &result->end, result->tracks.head.size);
    }
    if (status == SLC_OK) {
        status = on_device ? slc_velo_device_fit(chain, result)
                           : slc_velo_fit_run(&chain->config.fit, &result->hits, &result->tracks,
                                              &result->track_hits, &result->beam, &result->end);
    }
    if (status != SLC_OK) {
        return stage_failed(chain, status, "tracking", error);
    }
    time = take_time(result, SLC_VELO_STAGE_FIT, time);
    status = on_device ? slc_velo_device_vertices(chain, result)
                       : slc_velo_vertex_run(&chain->config.vertex, &result->beam, &chain->vertex,
                                             &result->primaries);
    if (status == SLC_OK && chain->config.impacts) {
        status = slc_velo_impact_run(&result->beam, &result->primaries, chain->config.fit.beam_x_mm,
                                     chain->config.fit.beam_y_mm, &result->impacts);
    }
    status = status == SLC_OK ? slc_velo_decide(chain, result) : status;
    (void)take_time(result, SLC_VELO_STAGE_VERTEX, time);
    if (status != SLC_OK) {
        return slc_fail(error, status, "VELO vertices: %s", slc_status_name(status));
    }
    drop_unwanted(chain, banks, result);
    return chain->config.strict ? slc_faults_strict(&result->faults, "source", error) : SLC_OK;
}

/* Bytes to hits, and to a list of super-pixels where that is wanted. */
static slc_status cluster_banks(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                                slc_error *error)
{
    if (result->superpixels.head.block == NULL || result->superpixels.head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    const uint8_t *cut;
    slc_velo_cluster_counts counts = {.of_event = result->counts.superpixels};
    slc_status status = slc_velo_gec_run(&chain->config, batch, &chain->gec, &result->cuts, &result->faults,
                                         &cut);
    result->n_gec_events = cut != NULL ? slc_velo_gec_count(&result->cuts) : 0;
    if (status != SLC_OK) {
        return status;
    }
    slc_velo_masking *masking = chain->cluster.masking.mask != NULL ? &chain->cluster.masking : NULL;
    chain->cluster.masking.n = 0;
    result->n_hits = 0;
    if (chain->device != NULL) {
        status = slc_velo_device_cluster(chain, batch, cut, result, &counts, error);
    } else {
        status = slc_velo_cluster_run_chosen(&chain->geometry, batch, chain->config.banks, cut,
                                             &chain->cluster, &result->hits, &counts, &result->faults);
        result->n_hits = result->hits.head.size;
    }
    result->n_masked = chain->cluster.masking.n;
    result->n_pixels = counts.pixels;
    result->n_superpixels = counts.superpixels;
    result->n_isolated = counts.isolated;
    result->n_superpixel_events = counts.superpixel_events;
    result->n_retina_events = counts.retina_events;
    if (!lists_superpixels(chain)) {
        no_superpixels(result, batch->n_events);
    } else if (status == SLC_OK) {
        slc_faults_reset(&chain->told);
        status = slc_velo_decode_uncut(batch, cut, masking, &result->superpixels, &chain->told);
    }
    return status;
}

static slc_status run_banks(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                            slc_error *error)
{
    result->first_event = batch->first_event;
    if (error != NULL) {
        error->text[0] = '\0';
    }
    const double began = slc_clock_seconds();
    slc_status status = begin_faults(result, batch->n_events, batch->first_event);
    status = status == SLC_OK ? cluster_banks(chain, batch, result, error) : status;
    (void)take_time(result, SLC_VELO_STAGE_CLUSTER, began - slc_velo_device_packing(chain->device));
    if (status != SLC_OK) {
        return stage_failed(chain, status, "clustering", error);
    }
    return track_and_fit(chain, result, true, error);
}

slc_status slc_velo_chain_run(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                              slc_error *error)
{
    const slc_status status = run_banks(chain, batch, result, error);
    result->faults.of_event = NULL; /* those of the result are copied and added up by others */
    return status;
}

slc_status slc_velo_chain_run_hits(slc_velo_chain *chain, slc_velo_result *result, slc_error *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    slc_status status = begin_faults(result, result->hits.head.n_events, result->first_event);
    if (status != SLC_OK) {
        return slc_fail(error, status, "VELO hits: %s", slc_status_name(status));
    }
    no_superpixels(result, result->hits.head.n_events);
    result->n_pixels = result->n_superpixels = result->n_isolated = result->n_masked = 0;
    result->n_superpixel_events = result->n_retina_events = result->n_gec_events = 0;
    result->seconds[SLC_VELO_STAGE_CLUSTER] = 0;
    result->n_hits = result->hits.head.size;
    status = track_and_fit(chain, result, false, error);
    result->faults.of_event = NULL;
    return status;
}

/* By the names that they have in files. What is of events, or follows from the rest, is not in the checksum.
 */
static const struct result_part {
    const char *name;
    const slc_schema *schema;
    size_t member; /* offset of the collection in slc_velo_result */
} parts[] = {
    {"superpixels", &slc_velo_superpixels_schema, offsetof(slc_velo_result, superpixels)},
    {"event_counts", &slc_velo_event_counts_schema, offsetof(slc_velo_result, counts)},
    {"event_cuts", &slc_velo_event_cuts_schema, offsetof(slc_velo_result, cuts)},
    {"impacts", &slc_velo_impacts_schema, offsetof(slc_velo_result, impacts)},
    {"decisions", &slc_velo_decisions_schema, offsetof(slc_velo_result, decisions)},
    {"hits", &slc_velo_hits_schema, offsetof(slc_velo_result, hits)},
    {"tracks", &slc_velo_tracks_schema, offsetof(slc_velo_result, tracks)},
    {"track_hits", &slc_velo_track_hits_schema, offsetof(slc_velo_result, track_hits)},
    {"states_beam", &slc_velo_states_schema, offsetof(slc_velo_result, beam)},
    {"states_end", &slc_velo_states_schema, offsetof(slc_velo_result, end)},
    {"primaries", &slc_velo_primaries_schema, offsetof(slc_velo_result, primaries)},
};
enum { N_PARTS = sizeof parts / sizeof *parts, FIRST_SUMMED = 5 };

void slc_velo_result_clear(slc_velo_result *result)
{
    for (size_t i = 0; i < N_PARTS; i++) {
        slc_columns_clear(parts[i].schema, (char *)result + parts[i].member);
    }
    memset(result, 0, sizeof *result);
}

static void list_summed(const slc_velo_result *result, slc_checksum_part summed[N_PARTS - FIRST_SUMMED])
{
    for (size_t i = FIRST_SUMMED; i < N_PARTS; i++) {
        summed[i - FIRST_SUMMED] = (slc_checksum_part){parts[i].name, parts[i].schema,
                                                       (const char *)result + parts[i].member};
    }
}

uint64_t slc_velo_result_checksum(const slc_velo_result *result, uint64_t before)
{
    slc_checksum_part summed[N_PARTS - FIRST_SUMMED];
    list_summed(result, summed);
    return slc_checksum_events(summed, N_PARTS - FIRST_SUMMED, before);
}

uint64_t slc_velo_event_checksum(const slc_velo_result *result, uint32_t event)
{
    slc_checksum_part summed[N_PARTS - FIRST_SUMMED];
    list_summed(result, summed);
    return slc_checksum_event(summed, N_PARTS - FIRST_SUMMED, event);
}
