/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO's clusters and tracks on a GPU: words are packed for it, events that it does not take (damaged or
 * doubled words, too many hits in a layer) go through the stages of the processor, and both are put together
 * in the order of events. So faults and results are those of the processor alone.
 */
#include "base/bytes.h"
#include "base/columns.h"
#include "cuda/cuda_engines.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_decode_event.h"

#include <stdlib.h>
#include <string.h>

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
    device->calls = slc_cuda_engines_of(NULL)->velo; /* there is a device, hence a table */
    return device->calls->open(&chain->geometry, number, &device->engine, error);
}

void slc_velo_device_close(slc_velo_device *device)
{
    if (device != NULL) {
        if (device->engine != NULL) {
            device->calls->close(device->engine);
        }
        free(device->own);
        free(device->skip);
        free(device->superpixels);
        slc_columns_clear(&slc_velo_hits_schema, &device->hits);
        slc_columns_clear(&slc_velo_tracks_schema, &device->tracks);
        slc_columns_clear(&slc_velo_track_hits_schema, &device->track_hits);
        free(device);
    }
}

/* ---- room ---------------------------------------------------------------------------------------------- */

static bool reserve_events(slc_velo_device *d, uint32_t events)
{
    if (events <= d->events && d->own != NULL) {
        return true;
    }
    free(d->own);
    free(d->skip);
    free(d->superpixels);
    d->events = events;
    d->own = malloc((size_t)events + 1);
    d->skip = malloc((size_t)events + 1);
    d->superpixels = malloc(((size_t)events + 1) * sizeof *d->superpixels);
    return d->own != NULL && d->skip != NULL && d->superpixels != NULL;
}

slc_status slc_velo_device_reserve(slc_velo_chain *chain, uint32_t events, size_t rows, bool words,
                                   slc_error *error)
{
    slc_velo_device *d = chain->device;
    const size_t hits = words ? slc_velo_cluster_bound(rows) : rows;
    slc_status status = reserve_events(d, events) ? SLC_OK : SLC_ERR_MEMORY;
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_hits_schema, &d->hits, hits, events) : status;
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_tracks_schema, &d->tracks,
                                                    slc_velo_track_bound(hits), events)
                              : status;
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_track_hits_schema, &d->track_hits, hits, events)
                              : status;
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for a batch of %u events for a GPU", events);
    }
    d->has_run = false;
    return d->calls->reserve(d->engine, events, rows, words, &d->in, error);
}

/* ---- what goes in -------------------------------------------------------------------------------------- */

/* The words of a sensor, without those of the other one of its bank; returns how many. */
static size_t pack_sensor(const slc_velo_sensor_words *source, uint32_t *to)
{
    size_t n = 0;
    if (source->select_mask == 0) {
        memcpy(to, source->words, source->n * sizeof *to);
        return source->n;
    }
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        to[n] = word;
        n += (word & source->select_mask) == source->select;
    }
    return n;
}

/* What the event's words are; LEFT where it is the processor's. */
static slc_velo_cuda_kind kind_of(const slc_velo_event *event)
{
    bool quarters = false, eighths = false;
    if (slc_faults_total(event->faults) > 0) {
        return SLC_VELO_CUDA_LEFT;
    }
    for (uint32_t s = 0; s < SLC_VELO_SENSORS && event->retina; s++) {
        const slc_velo_sensor_words *source = &event->sensors[s];
        quarters = quarters || (source->n > 0 && slc_velo_event_fraction(source) == 2);
        eighths = eighths || (source->n > 0 && slc_velo_event_fraction(source) == 3);
    }
    if (!event->retina) {
        return SLC_VELO_CUDA_SUPERPIXELS;
    }
    return quarters && eighths ? SLC_VELO_CUDA_LEFT
                               : (eighths ? SLC_VELO_CUDA_EIGHTHS : SLC_VELO_CUDA_QUARTERS);
}

/* Events with much work first, so that none is alone at the end: by rows, roughly. */
static void order_events(uint32_t n, const uint32_t *offset, size_t step, uint32_t *order)
{
    enum { CLASSES = 256, CLASS = 64 };
    uint32_t begin[CLASSES + 1] = {0};
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t e = 0; e < n; e++) {
            const uint32_t rows = (offset[(e + 1) * step] - offset[e * step]) / CLASS;
            const uint32_t class = CLASSES - 1 - (rows < CLASSES ? rows : CLASSES - 1);
            if (fill == 0) {
                begin[class + 1]++;
            } else {
                order[begin[class]++] = e;
            }
        }
        for (uint32_t c = 0; c < CLASSES && fill == 0; c++) {
            begin[c + 1] += begin[c];
        }
    }
}

/* Packs the words of a batch; own[] tells whose events are. SLC_ERR_CAPACITY where there is no room. */
static slc_status pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut, size_t room,
                       slc_velo_cluster_counts *counts)
{
    slc_velo_device *d = chain->device;
    slc_velo_cuda_in *in = &d->in;
    slc_faults seen;
    slc_velo_event event = {.faults = &seen, .banks = chain->config.banks, .cut = cut};
    size_t at = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        uint32_t *begin = in->sensor_begin + (size_t)e * SLC_VELO_SENSORS;
        const bool is_cut = cut != NULL && cut[e] != 0;
        const size_t first = at;
        in->kind[e] = SLC_VELO_CUDA_LEFT;
        if (!is_cut) {
            slc_faults_reset(&seen);
            slc_velo_event_collect(&event, batch, e);
            in->kind[e] = (uint8_t)kind_of(&event);
        }
        d->own[e] = !is_cut && in->kind[e] == SLC_VELO_CUDA_LEFT;
        for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
            begin[s] = (uint32_t)at;
            if (in->kind[e] != SLC_VELO_CUDA_LEFT && event.sensors[s].n > 0) {
                if (event.sensors[s].n > room - at && slc_velo_event_count(&event.sensors[s]) > room - at) {
                    return SLC_ERR_CAPACITY;
                }
                at += pack_sensor(&event.sensors[s], in->words + at);
            }
        }
        if (in->kind[e] != SLC_VELO_CUDA_LEFT && event.n_words > 0) {
            *(event.retina ? &counts->retina_events : &counts->superpixel_events) += 1;
        }
        counts->of_event[e] = in->kind[e] == SLC_VELO_CUDA_SUPERPIXELS ? (uint32_t)(at - first) : 0;
    }
    in->n_events = batch->n_events;
    in->sensor_begin[(size_t)batch->n_events * SLC_VELO_SENSORS] = (uint32_t)at;
    order_events(batch->n_events, in->sensor_begin, SLC_VELO_SENSORS, in->order);
    return SLC_OK;
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

static void copy_hits(slc_velo_hits *to, const slc_velo_cuda_out *from, size_t at, size_t n)
{
    const size_t i = to->head.size;
    memcpy(to->x_mm + i, from->x + at, n * sizeof *to->x_mm);
    memcpy(to->y_mm + i, from->y + at, n * sizeof *to->y_mm);
    memcpy(to->z_mm + i, from->z + at, n * sizeof *to->z_mm);
    memcpy(to->channel + i, from->channel + at, n * sizeof *to->channel);
    memcpy(to->n_pixels + i, from->n_pixels + at, n * sizeof *to->n_pixels);
    memcpy(to->module + i, from->module + at, n * sizeof *to->module);
    to->head.size += n;
}

/* The hits of the processor's events, as if they came from the device. */
static slc_velo_cuda_out as_out(const slc_velo_hits *hits)
{
    return (slc_velo_cuda_out){.x = hits->x_mm,
                               .y = hits->y_mm,
                               .z = hits->z_mm,
                               .channel = hits->channel,
                               .n_pixels = hits->n_pixels,
                               .module = hits->module};
}

/* The hits of all events, in order; and what there was of the device's. */
static slc_status join_hits(slc_velo_chain *chain, uint32_t n, slc_velo_hits *hits,
                            slc_velo_cluster_counts *counts)
{
    const slc_velo_device *d = chain->device;
    const slc_velo_cuda_out own = as_out(&d->hits);
    slc_columns_reset(hits);
    for (uint32_t e = 0; e < n; e++) {
        const bool is_own = d->own[e] != 0;
        const uint32_t *offset = is_own ? d->hits.head.event_offset : d->out.hit_offset;
        const size_t rows = offset[e + 1] - offset[e];
        if (rows > hits->head.capacity - hits->head.size) {
            return SLC_ERR_CAPACITY;
        }
        copy_hits(hits, is_own ? &own : &d->out, offset[e], rows);
        slc_columns_end_event(hits);
        if (!is_own) {
            counts->pixels += d->out.sums[e] & SLC_VELO_CUDA_SUM;
            counts->isolated += d->out.sums[e] >> SLC_VELO_CUDA_ISOLATED_AT & SLC_VELO_CUDA_SUM;
            counts->superpixels += counts->of_event[e];
        }
    }
    return SLC_OK;
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
    if (batch->n_events > d->events || result->hits.head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    slc_status status = pack(chain, batch, cut, d->hits.head.capacity / 2, counts);
    status = status == SLC_OK ? d->calls->run(d->engine, &chain->config.track, &d->in, true, &d->out, error)
                              : status;
    if (status != SLC_OK) {
        return status;
    }
    d->has_run = true;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        if ((d->out.flags[e] & SLC_VELO_CUDA_WORDS) != 0) {
            d->own[e] = 1;
            const bool retina = d->in.kind[e] != SLC_VELO_CUDA_SUPERPIXELS;
            *(retina ? &counts->retina_events : &counts->superpixel_events) -= 1; /* counted below */
        }
    }
    status = cluster_own(chain, batch, cut, &own, &result->faults);
    for (uint32_t e = 0; e < batch->n_events && status == SLC_OK; e++) {
        of_event[e] = d->own[e] != 0 ? d->superpixels[e] : of_event[e];
    }
    status = status == SLC_OK ? join_hits(chain, batch->n_events, &result->hits, counts) : status;
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
    d->in.n_events = n;
    memcpy(d->in.hit_offset, offset, ((size_t)n + 1) * sizeof *offset);
    memcpy(d->in.x, hits->x_mm, rows * sizeof *hits->x_mm);
    memcpy(d->in.y, hits->y_mm, rows * sizeof *hits->y_mm);
    memcpy(d->in.z, hits->z_mm, rows * sizeof *hits->z_mm);
    memcpy(d->in.module, hits->module, rows * sizeof *hits->module);
    order_events(n, offset, 1, d->in.order);
    memset(d->own, 0, n);
    return d->calls->run(d->engine, &chain->config.track, &d->in, false, &d->out, error);
}

/* The tracks of the processor's events: others have no hits in what it searches. */
static slc_status search_own(slc_velo_chain *chain, slc_velo_result *result, uint64_t *n_own)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events, *offset = result->hits.head.event_offset;
    const slc_velo_hits *hits = &result->hits;
    const slc_velo_cuda_out from = {.x = hits->x_mm,
                                    .y = hits->y_mm,
                                    .z = hits->z_mm,
                                    .channel = hits->channel,
                                    .n_pixels = hits->n_pixels,
                                    .module = hits->module};
    *n_own = 0;
    slc_columns_reset(&d->hits);
    for (uint32_t e = 0; e < n; e++) {
        d->own[e] = d->own[e] != 0 || d->out.flags[e] != 0;
        if (d->own[e] != 0) {
            *n_own += 1;
            copy_hits(&d->hits, &from, offset[e], offset[e + 1] - offset[e]);
        }
        slc_columns_end_event(&d->hits);
    }
    return *n_own > 0 ? slc_velo_track_run(&chain->config.track, &d->hits, result->first_event, &chain->track,
                                           &d->tracks, &d->track_hits, &result->faults)
                      : SLC_OK;
}

/* A run of rows of tracks and of their hits. */
typedef struct found {
    const uint32_t *hit_begin, *n_hits, *hit, *offset, *hit_offset;
    const float *scatter;
} found;

static slc_status join_tracks(const slc_velo_device *d, uint32_t n, slc_velo_tracks *tracks,
                              slc_velo_track_hits *track_hits)
{
    const slc_velo_cuda_out *out = &d->out;
    const found device = {out->hit_begin,    out->track_n,          out->hit,
                          out->track_offset, out->track_hit_offset, out->scatter};
    const found own = {d->tracks.hit_begin,
                       d->tracks.n_hits,
                       d->track_hits.hit,
                       d->tracks.head.event_offset,
                       d->track_hits.head.event_offset,
                       d->tracks.scatter_mm2};
    slc_columns_reset(tracks);
    slc_columns_reset(track_hits);
    for (uint32_t e = 0; e < n; e++) {
        const found *from = d->own[e] != 0 ? &own : &device;
        const size_t at = from->offset[e], rows = from->offset[e + 1] - at, to = tracks->head.size;
        const size_t hit_at = from->hit_offset[e], hits = from->hit_offset[e + 1] - hit_at;
        if (rows > tracks->head.capacity - to || hits > track_hits->head.capacity - track_hits->head.size) {
            return SLC_ERR_CAPACITY;
        }
        memcpy(tracks->hit_begin + to, from->hit_begin + at, rows * sizeof *tracks->hit_begin);
        memcpy(tracks->n_hits + to, from->n_hits + at, rows * sizeof *tracks->n_hits);
        memcpy(tracks->scatter_mm2 + to, from->scatter + at, rows * sizeof *tracks->scatter_mm2);
        memcpy(track_hits->hit + track_hits->head.size, from->hit + hit_at, hits * sizeof *track_hits->hit);
        tracks->head.size += rows;
        track_hits->head.size += hits;
        slc_columns_end_event(tracks);
        slc_columns_end_event(track_hits);
    }
    return SLC_OK;
}

slc_status slc_velo_device_search(slc_velo_chain *chain, slc_velo_result *result, slc_error *error)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events;
    slc_status status = d->has_run ? SLC_OK : search_hits(chain, &result->hits, error);
    d->has_run = false;
    if (status != SLC_OK) {
        return status;
    }
    if (result->tracks.head.event_capacity < n || result->track_hits.head.event_capacity < n) {
        return SLC_ERR_CAPACITY;
    }
    status = search_own(chain, result, &result->n_left_events);
    return status == SLC_OK ? join_tracks(d, n, &result->tracks, &result->track_hits) : status;
}
