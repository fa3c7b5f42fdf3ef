/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO on a GPU: words are packed for it, events that it does not take (damaged or
 * doubled words, too many hits in a layer) go through the stages of the processor, and both are put together
 * in the order of events. So faults and results are those of the processor alone.
 */
#include "base/bytes.h"
#include "base/columns.h"
#include "cuda/cuda_engines.h"
#include "velo/velo_chain_join.h"
#include "velo/velo_decode_event.h"

#include <stdlib.h>
#include <string.h>

#define COPY SLC_VELO_COPY
typedef slc_velo_stretch stretch;

static slc_status ended(slc_status status)
{
    return status == SLC_END ? SLC_OK : status;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static slc_status check_settings(const slc_velo_config *config, slc_error *error)
{
    const slc_velo_track_config *track = &config->track;
    const char *not_taken = track->algorithm != SLC_VELO_TRACK_LOCAL     ? "another algorithm than local"
                            : track->strategy != SLC_VELO_TRACK_STANDARD ? "another strategy than standard"
                            : track->min_hits > 3                        ? "min-hits above 3"
                            : config->mask != NULL                       ? "a mask"
                                                                         : NULL;
    return not_taken == NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_USAGE, "device: %s is for the processor (cpu) alone", not_taken);
}

slc_status slc_velo_device_open(slc_velo_chain *chain, const char *word, slc_error *error)
{
    uint32_t number;
    if (word == NULL || strcmp(word, "cpu") == 0) {
        return SLC_OK;
    }
    slc_status status = check_settings(&chain->config, error);
    status = status == SLC_OK ? slc_cuda_choose(word, &number, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_velo_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the VELO on a GPU");
    }
    chain->device = device;
    return slc_velo_parts_open(device, &chain->geometry, number, error);
}

void slc_velo_device_close(slc_velo_device *device)
{
    if (device != NULL) {
        slc_velo_parts_close(device);
        free(device->own);
        free(device->skip);
        free(device->superpixels);
        free(device->n_hits);
        slc_columns_clear(&slc_velo_hits_schema, &device->hits);
        slc_columns_clear(&slc_velo_tracks_schema, &device->tracks);
        slc_columns_clear(&slc_velo_track_hits_schema, &device->track_hits);
        slc_columns_clear(&slc_velo_states_schema, &device->beam);
        slc_columns_clear(&slc_velo_states_schema, &device->end);
        slc_columns_clear(&slc_velo_primaries_schema, &device->primaries);
        slc_columns_clear(&slc_velo_decisions_schema, &device->decisions);
        free(device);
    }
}

/* ---- room ---------------------------------------------------------------------------------------------- */

/* What is counted of the device's events before it has seen them. */
static void count_words(const slc_velo_device *d, slc_velo_cluster_counts *counts)
{
    for (uint32_t i = 0; i < d->n_parts; i++) {
        const slc_velo_part *part = &d->part[i];
        const uint32_t *begin = part->in.sensor_begin;
        for (uint32_t k = 0; k < part->n; k++, begin += SLC_VELO_SENSORS) {
            const uint32_t n = begin[SLC_VELO_SENSORS] - begin[0];
            const bool superpixels = part->in.kind[k] == SLC_VELO_CUDA_SUPERPIXELS;
            if (n > 0) { /* hence none of the processor's */
                *(superpixels ? &counts->superpixel_events : &counts->retina_events) += 1;
            }
            counts->of_event[part->first + k] = superpixels ? n : 0;
        }
    }
}

slc_status slc_velo_device_reserve(slc_velo_chain *chain, uint32_t events, size_t rows, bool words,
                                   slc_error *error)
{
    slc_velo_device *d = chain->device;
    const size_t hits = words ? slc_velo_cluster_bound(rows) : rows;
    slc_status status = words ? SLC_OK : slc_velo_device_events(d, events, error);
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_hits_schema, &d->hits, hits, events) : status;
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_tracks_schema, &d->tracks,
                                                    slc_velo_track_bound(hits), events)
                              : status;
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_track_hits_schema, &d->track_hits, hits, events)
                              : status;
    slc_velo_states *const states[] = {&d->beam, &d->end};
    for (size_t i = 0; i < 2 && status == SLC_OK; i++) {
        status = slc_columns_reserve(&slc_velo_states_schema, states[i], slc_velo_track_bound(hits), events);
    }
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_primaries_schema, &d->primaries,
                                                    (size_t)events * SLC_VELO_MAX_PRIMARIES, events)
                              : status;
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for a batch of %u events for a GPU", events);
    }
    d->has_run = false;
    if (!words) {
        d->packed = NULL;
        d->n_parts = 1;
        d->part[0].n = events;
        status = slc_velo_part_reserve(d, &d->part[0], rows, false, error);
    }
    return status;
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

static void copy_hits(slc_velo_hits *to, const slc_velo_cuda_out *from, const stretch *s)
{
    COPY(to->x_mm, from->x, s);
    COPY(to->y_mm, from->y, s);
    COPY(to->z_mm, from->z, s);
    COPY(to->channel, from->channel, s);
    COPY(to->n_pixels, from->n_pixels, s);
    COPY(to->module, from->module, s);
}

/* Hits as if they came from the device. */
static slc_velo_cuda_out as_out(const slc_velo_hits *hits)
{
    return (slc_velo_cuda_out){.x = hits->x_mm,
                               .y = hits->y_mm,
                               .z = hits->z_mm,
                               .channel = hits->channel,
                               .n_pixels = hits->n_pixels,
                               .module = hits->module};
}

/* What there was of all events: hits of each, and totals of the device's. */
static void count_hits(slc_velo_chain *chain, uint32_t n, slc_velo_result *result,
                       slc_velo_cluster_counts *counts)
{
    const slc_velo_device *d = chain->device;
    for (uint32_t e = 0; e < n; e++) {
        const slc_velo_part *part = slc_velo_part_of(d, e);
        const bool is_own = d->own[e] != 0;
        const uint32_t k = e - part->first;
        const uint32_t *offset = is_own ? d->hits.head.event_offset + e : part->out.hit_offset + k;
        d->n_hits[e] = offset[1] - offset[0];
        result->n_hits += d->n_hits[e];
        if (!is_own) {
            counts->pixels += part->out.sums[k] & SLC_VELO_CUDA_SUM;
            counts->isolated += part->out.sums[k] >> SLC_VELO_CUDA_ISOLATED_AT & SLC_VELO_CUDA_SUM;
            counts->superpixels += counts->of_event[e];
        }
    }
}

/* The hits of all events, in order. */
static slc_status join_hits(slc_velo_chain *chain, uint32_t n, slc_velo_hits *hits)
{
    const slc_velo_device *d = chain->device;
    const slc_velo_cuda_out own = as_out(&d->hits);
    const slc_velo_offsets offset = {offsetof(slc_velo_cuda_out, hit_offset), d->hits.head.event_offset};
    if (!slc_velo_is_wanted(chain, SLC_VELO_WANT_HITS)) {
        slc_velo_no_rows(hits, n);
        return SLC_OK;
    }
    stretch s = {.end = 0};
    slc_status status;
    slc_columns_reset(hits);
    while ((status = slc_velo_next_stretch(d, n, &offset, hits, &s)) == SLC_OK) {
        copy_hits(hits, s.own ? &own : s.out, &s);
    }
    return ended(status);
}

/* The clusters of the processor's events, with their faults; `counts` are then those of them. */
static slc_status cluster_own(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                              slc_velo_cluster_counts *counts, slc_faults *faults)
{
    slc_velo_device *d = chain->device;
    bool any = false;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        d->skip[e] = (cut != NULL && cut[e] != 0) || d->own[e] == 0;
        any = any || d->skip[e] == 0;
    }
    *counts = (slc_velo_cluster_counts){.of_event = d->superpixels};
    slc_velo_no_rows(&d->hits, batch->n_events);
    return any ? slc_velo_cluster_run_chosen(&chain->geometry, batch, chain->config.banks, d->skip,
                                             &chain->cluster, &d->hits, counts, faults)
               : SLC_OK;
}

slc_status slc_velo_device_cluster(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                                   slc_velo_result *result, slc_velo_cluster_counts *counts, slc_error *error)
{
    slc_velo_device *d = chain->device;
    uint32_t *of_event = counts->of_event;
    slc_velo_cluster_counts own;
    if (batch->n_events > d->events || d->part[0].in.sensor_begin == NULL ||
        result->hits.head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    size_t words, largest;
    slc_status status = slc_velo_device_is_packed(d, batch)
                            ? SLC_OK
                            : slc_velo_device_pack(chain, batch, cut, &words, &largest, error);
    d->packed = NULL;
    for (uint32_t i = 0; i < d->n_parts && status == SLC_OK; i++) {
        status = slc_velo_part_end(d, &d->part[i], error);
    }
    if (status != SLC_OK) {
        return status;
    }
    count_words(d, counts);
    d->has_run = true;
    /* Where hits do not come back, those of events that are searched here are found once more. */
    const uint32_t clustered = slc_velo_is_wanted(chain, SLC_VELO_WANT_HITS) ? SLC_VELO_CUDA_WORDS
                                                                             : UINT32_MAX;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const slc_velo_part *part = slc_velo_part_of(d, e);
        if ((part->out.flags[e - part->first] & clustered) != 0) {
            d->own[e] = 1;
            const bool retina = part->in.kind[e - part->first] != SLC_VELO_CUDA_SUPERPIXELS;
            *(retina ? &counts->retina_events : &counts->superpixel_events) -= 1; /* counted below */
        }
    }
    status = cluster_own(chain, batch, cut, &own, &result->faults);
    for (uint32_t e = 0; e < batch->n_events && status == SLC_OK; e++) {
        of_event[e] = d->own[e] != 0 ? d->superpixels[e] : of_event[e];
    }
    if (status == SLC_OK) {
        count_hits(chain, batch->n_events, result, counts);
        status = join_hits(chain, batch->n_events, &result->hits);
    }
    counts->superpixels += own.superpixels;
    counts->isolated += own.isolated;
    counts->pixels += own.pixels;
    counts->superpixel_events += own.superpixel_events;
    counts->retina_events += own.retina_events;
    return status;
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

/* Events that come as hits. */
static slc_status search_hits(slc_velo_chain *chain, const slc_velo_hits *hits, slc_error *error)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = hits->head.n_events, *offset = hits->head.event_offset;
    const size_t rows = hits->head.size;
    if (n > d->events || rows > d->hits.head.capacity) {
        return SLC_ERR_CAPACITY;
    }
    slc_velo_part *part = &d->part[0];
    slc_velo_cuda_in *in = &part->in;
    d->n_parts = 1;
    part->n = in->n_events = n;
    memcpy(in->hit_offset, offset, ((size_t)n + 1) * sizeof *offset);
    memcpy(in->x, hits->x_mm, rows * sizeof *hits->x_mm);
    memcpy(in->y, hits->y_mm, rows * sizeof *hits->y_mm);
    memcpy(in->z, hits->z_mm, rows * sizeof *hits->z_mm);
    memcpy(in->module, hits->module, rows * sizeof *hits->module);
    memcpy(in->n_pixels, hits->n_pixels, rows * sizeof *hits->n_pixels);
    slc_velo_order_events(n, offset, 1, in->order);
    memset(d->own, 0, n);
    const slc_status status = slc_velo_part_begin(chain, part, false, error);
    return status == SLC_OK ? slc_velo_part_end(d, part, error) : status;
}

/* The hits of the processor's events, those of others left out. */
static void take_own_hits(slc_velo_device *d, const slc_velo_hits *hits)
{
    const slc_velo_cuda_out from = as_out(hits);
    const uint32_t n = hits->head.n_events, *offset = hits->head.event_offset;
    slc_columns_reset(&d->hits);
    for (uint32_t e = 0; e < n; e++) {
        if (d->own[e] != 0) {
            const stretch s = {.from = offset[e], .rows = offset[e + 1] - offset[e], .to = d->hits.head.size};
            copy_hits(&d->hits, &from, &s);
            d->hits.head.size += s.rows;
        }
        slc_columns_end_event(&d->hits);
    }
}

/* The tracks of the processor's events: others have no hits in what it searches. */
static slc_status search_own(slc_velo_chain *chain, bool hits_are_there, slc_velo_result *result)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events;
    result->n_left_events = 0;
    for (uint32_t e = 0; e < n; e++) {
        const slc_velo_part *part = slc_velo_part_of(d, e);
        d->own[e] = d->own[e] != 0 || part->out.flags[e - part->first] != 0;
        result->n_left_events += d->own[e];
    }
    d->any_own = result->n_left_events > 0;
    if (!d->any_own) {
        return SLC_OK;
    }
    if (hits_are_there) {
        take_own_hits(d, &result->hits);
    }
    return slc_velo_track_run(&chain->config.track, &d->hits, result->first_event, &chain->track, &d->tracks,
                              &d->track_hits, &result->faults);
}

static slc_status join_tracks(const slc_velo_chain *chain, uint32_t n, slc_velo_result *result)
{
    const slc_velo_device *d = chain->device;
    const slc_velo_offsets offset = {offsetof(slc_velo_cuda_out, track_offset), d->tracks.head.event_offset};
    const slc_velo_offsets hit_offset = {offsetof(slc_velo_cuda_out, track_hit_offset),
                                         d->track_hits.head.event_offset};
    slc_velo_tracks *to = &result->tracks;
    stretch s = {.end = 0}, h = {.end = 0};
    slc_status status;
    slc_columns_reset(to);
    slc_columns_reset(&result->track_hits);
    while ((status = slc_velo_next_stretch(d, n, &offset, to, &s)) == SLC_OK) {
        COPY(to->hit_begin, s.own ? d->tracks.hit_begin : s.out->hit_begin, &s);
        COPY(to->n_hits, s.own ? d->tracks.n_hits : s.out->track_n, &s);
        COPY(to->scatter_mm2, s.own ? d->tracks.scatter_mm2 : s.out->scatter, &s);
    }
    while (status == SLC_END &&
           (status = slc_velo_next_stretch(d, n, &hit_offset, &result->track_hits, &h)) == SLC_OK) {
        COPY(result->track_hits.hit, h.own ? d->track_hits.hit : h.out->hit, &h);
        status = SLC_END;
    }
    return ended(status);
}

slc_status slc_velo_device_search(slc_velo_chain *chain, slc_velo_result *result, slc_error *error)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events;
    const bool words = d->has_run;
    slc_status status = words ? SLC_OK : search_hits(chain, &result->hits, error);
    d->has_run = false;
    if (status != SLC_OK) {
        return status;
    }
    if (result->tracks.head.event_capacity < n || result->track_hits.head.event_capacity < n) {
        return SLC_ERR_CAPACITY;
    }
    status = search_own(chain, !words || slc_velo_is_wanted(chain, SLC_VELO_WANT_HITS), result);
    for (uint32_t e = 0; e < n; e++) {
        const slc_velo_part *part = slc_velo_part_of(d, e);
        const uint32_t *offset = d->own[e] != 0 ? d->tracks.head.event_offset + e
                                                : part->out.track_offset + (e - part->first);
        result->n_tracks += offset[1] - offset[0];
    }
    if (status == SLC_OK && !slc_velo_is_wanted(chain, SLC_VELO_WANT_TRACKS)) {
        slc_velo_no_rows(&result->tracks, n);
        slc_velo_no_rows(&result->track_hits, n);
        return SLC_OK;
    }
    return status == SLC_OK ? join_tracks(chain, n, result) : status;
}
