/* SPDX-License-Identifier: Apache-2.0
 * HLT1's stages in order: the VELO's chain, hits beyond it, upstream tracks, long tracks. */
#include "base/columns.h"
#include "base/config.h"
#include "base/faults.h"
#include "hlt1/hlt1_banks.h"
#include "hlt1/hlt1_config.h"
#include "hlt1/hlt1_fitter.h"
#include "hlt1/hlt1_forward.h"
#include "hlt1/hlt1_secondaries.h"
#include "hlt1/hlt1_upstream.h"
#include "lhcb/lhcb_identity.h"
#include "muon/muon_decode.h"
#include "muon/muon_identify.h"
#include "scifi/scifi_decode.h"
#include "simd/simd_checksum.h"
#include "ut/ut_decode.h"
#include "velo/velo_chain_note.h"
#include "velo/velo_decision.h"
#include "velo/velo_gec.h"

#include <stdlib.h>
#include <string.h>

struct slc_hlt1_chain {
    slc_hlt1_config config;
    const slc_hlt1_geometry *geometry;
    slc_velo_chain *velo;
    slc_ut_decoder *ut;
    slc_scifi_decoder *scifi;
    slc_muon_decoder *muon;
    slc_muon_identifier *muons; /* NULL without fields of interest */
    slc_hlt1_upstream_search *upstream;
    slc_hlt1_forward_search *forward;
    slc_lhcb_places places;  /* of the batch's banks, noted by the VELO's walk */
    slc_hlt1_banks banks;    /* of the event at hand */
    slc_hlt1_fitter *fitter; /* NULL without tables of the transport */
    slc_lhcb_events events;  /* of the batch, where a line has a prescale */
    bool prescaled;
};

/* ---- opening ------------------------------------------------------------------------------------ */

static slc_status open_velo(slc_hlt1_chain *chain, slc_error *error)
{
    slc_velo_config velo;
    slc_velo_config_default(&velo);
    const slc_velo_config *given = chain->config.velo;
    const slc_status status = given != NULL
                                  ? slc_config_take(&velo, sizeof velo, given, "slc_velo_config", error)
                                  : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    velo.exec = chain->config.exec;
    velo.strict = false; /* what is first in the batch may be beyond the VELO */
    velo.fit.beam_x_mm = chain->geometry->beam_x_mm;
    velo.fit.beam_y_mm = chain->geometry->beam_y_mm;
    const slc_status opened = slc_velo_chain_open(&velo, chain->geometry->velo, &chain->velo, error);
    if (opened == SLC_OK) {
        memcpy(chain->places.types, slc_hlt1_bank_types, sizeof slc_hlt1_bank_types);
        slc_velo_chain_note(chain->velo, &chain->places);
    }
    return opened;
}

static slc_status open_fit(slc_hlt1_chain *chain, slc_error *error)
{
    const slc_hlt1_lines *lines = chain->config.lines;
    for (uint32_t k = 0; lines != NULL && k < lines->n_lines; k++) {
        chain->prescaled |= lines->lines[k].prescale < 1;
    }
    if (chain->geometry->transport == NULL) {
        return lines == NULL
                   ? SLC_OK
                   : slc_fail(error, SLC_ERR_USAGE,
                              "lines need fitted tracks, and the geometry has no tables for the fit "
                              "(kalman_FT6x2)");
    }
    chain->config.fit.target = chain->config.exec.target;
    return slc_hlt1_fitter_open(&chain->config.fit, chain->geometry->transport, chain->geometry->beam_x_mm,
                                chain->geometry->beam_y_mm, &chain->fitter, error);
}

static slc_status open_muons(slc_hlt1_chain *chain, slc_error *error)
{
    if (!chain->geometry->muon->has_field_of_interest) {
        return SLC_OK;
    }
    chain->muons = slc_muon_identifier_open(chain->geometry->muon, chain->config.exec.target);
    return chain->muons != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for an HLT1 chain");
}

slc_status slc_hlt1_chain_open(const slc_hlt1_config *given, const slc_hlt1_geometry *geometry,
                               slc_hlt1_chain **chain, slc_error *error)
{
    slc_hlt1_config config;
    *chain = NULL;
    slc_hlt1_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_hlt1_config", error);
    status = status == SLC_OK ? slc_hlt1_config_check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_hlt1_chain *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an HLT1 chain");
    }
    opened->config = config;
    opened->geometry = geometry;
    opened->ut = slc_ut_decoder_open(geometry->ut, config.exec.target);
    opened->scifi = slc_scifi_decoder_open(geometry->scifi, config.exec.target);
    opened->upstream = slc_hlt1_upstream_open(config.exec.target);
    opened->forward = slc_hlt1_forward_open(geometry, config.exec.target);
    status = opened->ut == NULL || opened->scifi == NULL || opened->upstream == NULL ||
                     opened->forward == NULL
                 ? slc_fail(error, SLC_ERR_MEMORY, "no memory for an HLT1 chain")
                 : slc_muon_decoder_open(geometry->muon, &opened->muon, error);
    status = status == SLC_OK ? open_muons(opened, error) : status;
    status = status == SLC_OK ? open_velo(opened, error) : status;
    status = status == SLC_OK ? open_fit(opened, error) : status;
    opened->config.velo = NULL; /* the caller's */
    opened->config.exec.device = NULL;
    if (status != SLC_OK) {
        slc_hlt1_chain_close(opened);
        return status;
    }
    *chain = opened;
    return SLC_OK;
}

void slc_hlt1_chain_close(slc_hlt1_chain *chain)
{
    if (chain != NULL) {
        slc_velo_chain_close(chain->velo);
        slc_lhcb_places_clear(&chain->places);
        slc_ut_decoder_close(chain->ut);
        slc_scifi_decoder_close(chain->scifi);
        slc_muon_decoder_close(chain->muon);
        slc_muon_identifier_close(chain->muons);
        slc_hlt1_fitter_close(chain->fitter);
        slc_columns_clear(&slc_lhcb_events_schema, &chain->events);
        slc_hlt1_upstream_close(chain->upstream);
        slc_hlt1_forward_close(chain->forward);
        free(chain);
    }
}

/* ---- room --------------------------------------------------------------------------------------- */

/* Hits at most: of all events, and of the largest. */
typedef struct bounds {
    size_t ut, scifi, muon, largest_ut, largest_scifi;
} bounds;

static void count_hits(slc_hlt1_chain *chain, const slc_batch *batch, bounds *to)
{
    memset(to, 0, sizeof *to);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        size_t ut = 0, scifi = 0;
        slc_hlt1_banks_find(batch, e, &chain->places, &chain->banks, NULL);
        for (size_t i = 0; i < chain->banks.of[SLC_HLT1_UT].n; i++) {
            ut += slc_ut_bank_bound(&chain->banks.of[SLC_HLT1_UT].bank[i]);
        }
        for (size_t i = 0; i < chain->banks.of[SLC_HLT1_SCIFI].n; i++) {
            scifi += slc_scifi_bank_bound(&chain->banks.of[SLC_HLT1_SCIFI].bank[i]);
        }
        for (size_t i = 0; i < chain->banks.of[SLC_HLT1_MUON].n; i++) {
            to->muon += slc_muon_bank_bound(chain->muon, &chain->banks.of[SLC_HLT1_MUON].bank[i]);
        }
        to->ut += ut;
        to->scifi += scifi;
        to->largest_ut = ut > to->largest_ut ? ut : to->largest_ut;
        to->largest_scifi = scifi > to->largest_scifi ? scifi : to->largest_scifi;
    }
}

static slc_status reserve_work(slc_hlt1_chain *chain, const bounds *n, size_t tracks)
{
    slc_status status = slc_ut_decoder_reserve(chain->ut, n->largest_ut);
    status = status == SLC_OK ? slc_scifi_decoder_reserve(chain->scifi, n->largest_scifi) : status;
    status = status == SLC_OK ? slc_hlt1_forward_reserve(chain->forward, tracks, n->largest_scifi) : status;
    return status;
}

slc_status slc_hlt1_chain_reserve(slc_hlt1_chain *chain, const slc_batch *batch, slc_hlt1_result *result,
                                  slc_error *error)
{
    if (slc_lhcb_places_reserve(&chain->places, batch->n_events) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the places of banks");
    }
    slc_status status = slc_velo_chain_reserve(chain->velo, batch, &result->velo, error);
    if (status != SLC_OK) {
        return status;
    }
    bounds n;
    count_hits(chain, batch, &n);
    const uint32_t events = batch->n_events;
    const size_t tracks = result->velo.tracks.head.capacity;
    const struct {
        const slc_schema *schema;
        void *collection;
        size_t rows;
    } rooms[] = {
        {&slc_ut_hits_schema, &result->ut, n.ut},
        {&slc_scifi_hits_schema, &result->scifi, n.scifi},
        {&slc_muon_hits_schema, &result->muon, n.muon},
        {&slc_hlt1_upstream_schema, &result->upstream, tracks},
        {&slc_hlt1_track_hits_schema, &result->upstream_hits, (size_t)SLC_UT_LAYERS * tracks},
        {&slc_hlt1_long_schema, &result->long_tracks, tracks},
        {&slc_hlt1_track_hits_schema, &result->long_hits, (size_t)SLC_SCIFI_LAYERS * tracks},
        {&slc_muon_ids_schema, &result->muons, tracks},
        {&slc_hlt1_fitted_schema, &result->fitted, tracks},
        {&slc_hlt1_particles_schema, &result->particles, tracks},
        {&slc_hlt1_secondaries_schema, &result->secondaries, (size_t)SLC_HLT1_MAX_SECONDARIES * events},
        {&slc_velo_decisions_schema, &result->decisions, events},
        {&slc_lhcb_events_schema, &chain->events, chain->prescaled ? events : 0},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms && status == SLC_OK; i++) {
        slc_columns_reset(rooms[i].collection); /* what an earlier batch left is not to be copied */
        status = slc_columns_reserve(rooms[i].schema, rooms[i].collection, rooms[i].rows, events);
    }
    status = status == SLC_OK ? reserve_work(chain, &n, tracks) : status;
    return status == SLC_OK
               ? SLC_OK
               : slc_fail(error, status, "HLT1: no room for a batch: %s", slc_status_name(status));
}

/* ---- running ------------------------------------------------------------------------------------ */

static void reset(slc_hlt1_result *result)
{
    slc_columns_reset(&result->ut);
    slc_columns_reset(&result->scifi);
    slc_columns_reset(&result->muon);
    slc_columns_reset(&result->upstream);
    slc_columns_reset(&result->upstream_hits);
    slc_columns_reset(&result->long_tracks);
    slc_columns_reset(&result->long_hits);
    slc_columns_reset(&result->muons);
    slc_columns_reset(&result->fitted);
    slc_columns_reset(&result->particles);
    slc_columns_reset(&result->secondaries);
    slc_columns_reset(&result->decisions);
    slc_faults_reset(&result->faults);
    memset(result->seconds, 0, sizeof result->seconds);
}

static void decode(slc_hlt1_chain *chain, const slc_batch *batch, uint32_t e, slc_hlt1_result *result)
{
    const uint64_t event = batch->first_event + e;
    if (slc_velo_gec_cuts(&result->velo, e)) {
        memset(&chain->banks, 0, sizeof chain->banks);
    } else {
        slc_hlt1_banks_find(batch, e, &chain->places, &chain->banks, &result->faults);
    }
    slc_muon_ask(chain->muon, chain->banks.of[SLC_HLT1_MUON].bank, chain->banks.of[SLC_HLT1_MUON].n);
    slc_ut_decode(chain->ut, chain->banks.of[SLC_HLT1_UT].bank, chain->banks.of[SLC_HLT1_UT].n, event,
                  &result->ut, &result->faults);
    slc_scifi_decode(chain->scifi, chain->banks.of[SLC_HLT1_SCIFI].bank, chain->banks.of[SLC_HLT1_SCIFI].n,
                     event, &result->scifi, &result->faults);
    slc_muon_decode(chain->muon, chain->banks.of[SLC_HLT1_MUON].bank, chain->banks.of[SLC_HLT1_MUON].n, event,
                    &result->muon, &result->faults);
}

/* Of the long tracks of the event, which is ended: rows `first` on. */
static void identify(slc_hlt1_chain *chain, uint32_t e, size_t first, slc_hlt1_result *result)
{
    const double began = slc_clock_seconds();
    const slc_hlt1_long *tracks = &result->long_tracks;
    const slc_muon_states states = {tracks->x_mm + first,     tracks->y_mm + first, tracks->z_mm + first,
                                    tracks->tx + first,       tracks->ty + first,   tracks->q_over_p + first,
                                    tracks->head.size - first};
    if (chain->muons != NULL) {
        slc_muon_identify(chain->muons, &result->muon, result->muon.head.event_offset[e],
                          result->muon.head.event_offset[e + 1], &states, &result->muons);
    }
    slc_columns_end_event(&result->muons);
    result->seconds[SLC_HLT1_STAGE_MUON] += slc_clock_seconds() - began;
}

/* From the long tracks of all events to fitted ones. */
static void fit(slc_hlt1_chain *chain, const slc_batch *batch, slc_hlt1_result *result)
{
    const double began = slc_clock_seconds();
    const slc_hlt1_fit_events events = {.n_events = batch->n_events,
                                        .scifi_geometry = chain->geometry->scifi,
                                        .velo_hits = &result->velo.hits,
                                        .velo_tracks = &result->velo.tracks,
                                        .velo_track_hits = &result->velo.track_hits,
                                        .beam = &result->velo.beam,
                                        .ut = &result->ut,
                                        .scifi = &result->scifi,
                                        .upstream = &result->upstream,
                                        .upstream_hits = &result->upstream_hits,
                                        .long_tracks = &result->long_tracks,
                                        .long_hits = &result->long_hits};
    for (uint32_t e = 0; e < batch->n_events && chain->fitter == NULL; e++) {
        slc_columns_end_event(&result->fitted);
    }
    if (chain->fitter != NULL) {
        slc_hlt1_fitter_run(chain->fitter, &events, &result->fitted);
    }
    for (uint32_t e = 0; e < batch->n_events; e++) {
        for (size_t t = result->fitted.head.event_offset[e]; t < result->fitted.head.event_offset[e + 1];
             t++) {
            if (result->fitted.n_dof[t] == 0) {
                slc_faults_add(&result->faults, SLC_FAULT_HLT1_FIT, batch->first_event + e, -1, 0);
            }
        }
    }
    result->seconds[SLC_HLT1_STAGE_FIT] = slc_clock_seconds() - began;
}

/* From fitted tracks to what the lines say. */
static void decide(slc_hlt1_chain *chain, uint64_t number, uint32_t e, slc_hlt1_result *result)
{
    const slc_hlt1_found found = {.fitted = &result->fitted,
                                  .primaries = &result->velo.primaries,
                                  .muons = chain->geometry->muon->has_field_of_interest ? &result->muons
                                                                                        : NULL,
                                  .event = e};
    slc_hlt1_particles_run(&found, &result->particles);
    const bool more = slc_hlt1_secondaries_run(&chain->config.pairs, chain->config.network, &found,
                                               &result->particles, &result->secondaries);
    if (more) {
        slc_faults_add(&result->faults, SLC_FAULT_HLT1_PAIRS, number, -1, 0);
    }
    if (chain->config.lines == NULL) {
        slc_columns_end_event(&result->decisions);
        return;
    }
    const uint64_t key = chain->prescaled ? slc_hlt1_event_key(chain->events.run[e], chain->events.event[e])
                                          : 0;
    slc_hlt1_lines_run(chain->config.lines, &found, &result->particles, &result->secondaries, key, more,
                       &result->decisions);
}

static void search(slc_hlt1_chain *chain, uint32_t e, slc_hlt1_result *result)
{
    slc_hlt1_event event;
    const double began = slc_clock_seconds();
    const size_t first = result->upstream.head.size, first_long = result->long_tracks.head.size;
    slc_hlt1_event_view(chain->geometry, result, e, &event);
    slc_hlt1_upstream_run(chain->upstream, &chain->config.upstream, &event, &result->upstream,
                          &result->upstream_hits);
    const double found = slc_clock_seconds();
    slc_hlt1_forward_run(chain->forward, &chain->config.forward, &event, &result->upstream, first,
                         (uint32_t)(result->upstream.head.size - first), &result->long_tracks,
                         &result->long_hits);
    const double forward = slc_clock_seconds();
    if (chain->config.rest.on) {
        slc_hlt1_forward_rest(chain->forward, chain->upstream, &chain->config, &event, first_long,
                              &result->long_tracks, &result->long_hits);
    }
    slc_columns_end_event(&result->long_tracks);
    slc_columns_end_event(&result->long_hits);
    result->seconds[SLC_HLT1_STAGE_UPSTREAM] += found - began;
    result->seconds[SLC_HLT1_STAGE_FORWARD] += forward - found;
    result->seconds[SLC_HLT1_STAGE_REST] += slc_clock_seconds() - forward;
    identify(chain, e, first_long, result);
}

/* Event number e of a batch, as a batch. */
static slc_batch batch_of(const slc_batch *batch, uint32_t e)
{
    slc_batch one = *batch;
    one.n_events = one.event_capacity = 1;
    one.offset += e;
    one.length += e;
    one.file_offset += e;
    one.record += e;
    one.first_event += e;
    return one;
}

/* Under `strict`, turns the first fault of the earliest event that has one into an error. The VELO's stages
 * go through a batch one after the other: which of an event's faults is its first, a batch of this event
 * tells. */
static slc_status check_strict(slc_hlt1_chain *chain, const slc_batch *batch, slc_hlt1_result *result,
                               slc_error *error)
{
    const slc_faults *velo = &result->velo.faults, *beyond = &result->faults;
    if (!chain->config.strict || slc_faults_total(velo) + slc_faults_total(beyond) == 0) {
        return SLC_OK;
    }
    if (batch->n_events == 1) {
        return slc_faults_strict(slc_faults_total(velo) > 0 ? velo : beyond, "source", error);
    }
    uint32_t e = 0;
    while (e + 1 < batch->n_events && result->velo.counts.faults[e] == 0) {
        e++;
    }
    const slc_batch one = batch_of(batch, e);
    return slc_hlt1_chain_run(chain, &one, result, error);
}

slc_status slc_hlt1_chain_run(slc_hlt1_chain *chain, const slc_batch *batch, slc_hlt1_result *result,
                              slc_error *error)
{
    reset(result);
    slc_lhcb_places_reset(&chain->places); /* this batch need not be the one that was reserved for */
    double began = slc_clock_seconds();
    const slc_status status = slc_velo_chain_run(chain->velo, batch, &result->velo, error);
    if (status != SLC_OK) {
        return status;
    }
    if (chain->prescaled &&
        slc_lhcb_identity_noted(batch, 0, &chain->places, &chain->events, error) != SLC_OK) {
        return SLC_ERR_CAPACITY;
    }
    result->faults.of_event = result->velo.counts.faults;
    result->faults.first_event = batch->first_event;
    result->faults.n_events = batch->n_events;
    double now = slc_clock_seconds();
    result->seconds[SLC_HLT1_STAGE_VELO] = now - began;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        began = slc_clock_seconds();
        decode(chain, batch, e, result);
        now = slc_clock_seconds();
        result->seconds[SLC_HLT1_STAGE_HITS] += now - began;
        search(chain, e, result);
    }
    fit(chain, batch, result);
    began = slc_clock_seconds();
    for (uint32_t e = 0; e < batch->n_events; e++) {
        decide(chain, batch->first_event + e, e, result);
    }
    result->seconds[SLC_HLT1_STAGE_DECIDE] = slc_clock_seconds() - began;
    result->faults.of_event = NULL; /* those of the result are copied and added up by others */
    return check_strict(chain, batch, result, error);
}

/* ---- the result --------------------------------------------------------------------------------- */

/* By the names that they have in files. */
static const struct result_part {
    const char *name;
    const slc_schema *schema;
    size_t member;
} parts[] = {
    {"ut_hits", &slc_ut_hits_schema, offsetof(slc_hlt1_result, ut)},
    {"scifi_hits", &slc_scifi_hits_schema, offsetof(slc_hlt1_result, scifi)},
    {"muon_hits", &slc_muon_hits_schema, offsetof(slc_hlt1_result, muon)},
    {"upstream_tracks", &slc_hlt1_upstream_schema, offsetof(slc_hlt1_result, upstream)},
    {"upstream_hits", &slc_hlt1_track_hits_schema, offsetof(slc_hlt1_result, upstream_hits)},
    {"long_tracks", &slc_hlt1_long_schema, offsetof(slc_hlt1_result, long_tracks)},
    {"long_hits", &slc_hlt1_track_hits_schema, offsetof(slc_hlt1_result, long_hits)},
    {"muons", &slc_muon_ids_schema, offsetof(slc_hlt1_result, muons)},
    {"fitted_tracks", &slc_hlt1_fitted_schema, offsetof(slc_hlt1_result, fitted)},
    {"particles", &slc_hlt1_particles_schema, offsetof(slc_hlt1_result, particles)},
    {"secondaries", &slc_hlt1_secondaries_schema, offsetof(slc_hlt1_result, secondaries)},
    {"decisions", &slc_velo_decisions_schema, offsetof(slc_hlt1_result, decisions)},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

void slc_hlt1_result_clear(slc_hlt1_result *result)
{
    slc_velo_result_clear(&result->velo);
    for (size_t i = 0; i < N_PARTS; i++) {
        slc_columns_clear(parts[i].schema, (char *)result + parts[i].member);
    }
    memset(result, 0, sizeof *result);
}

static void list_summed(const slc_hlt1_result *result, slc_checksum_part summed[N_PARTS])
{
    for (size_t i = 0; i < N_PARTS; i++) {
        summed[i] = (slc_checksum_part){parts[i].name, parts[i].schema,
                                        (const char *)result + parts[i].member};
    }
}

uint64_t slc_hlt1_result_checksum(const slc_hlt1_result *result, uint64_t before)
{
    slc_checksum_part summed[N_PARTS];
    list_summed(result, summed);
    return slc_checksum_events(summed, N_PARTS, before) + slc_velo_result_checksum(&result->velo, before);
}

void slc_hlt1_decision_of(const slc_hlt1_lines *lines, const slc_hlt1_result *result, uint32_t event,
                          slc_velo_decision *decision)
{
    slc_checksum_part summed[N_PARTS];
    list_summed(result, summed);
    slc_velo_decision_make(lines->lines[0].name, sizeof lines->lines[0], lines->n_lines, &result->decisions,
                           &result->velo, event, decision);
    decision->checksum += slc_checksum_event(summed, N_PARTS, event);
}
