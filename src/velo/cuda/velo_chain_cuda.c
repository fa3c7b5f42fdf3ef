/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine of the VELO on a GPU: its memory, the launches of a batch in order, and the copies. Sizes stay
 * on the device; what comes back first is a small block of totals, and then columns as long as these say.
 */
#include "velo/cuda/velo_chain_cuda.h"
#include "cuda/cuda_stream.h"
#include "velo/cuda/velo_cuda_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS = SLC_VELO_LAYERS, SENSORS = SLC_VELO_SENSORS, MODULES = SLC_VELO_MODULES };

typedef struct room {
    uint32_t events;
    size_t words, hits; /* hits: the bound of words, or hits that come as such */
} room;

struct slc_velo_cuda {
    slc_cuda_stream *stream, *side; /* side: for events with many hits in a layer */
    slc_cuda_event *forked, *joined;
    uint32_t multiprocessors;
    slc_cuda_memory geometry, memory, in_host, head_host, out_host;
    slc_cuda_event *mark[SLC_VELO_CUDA_PARTS + 1];
    bool ran;
    room room;
    slc_velo_cuda_job job;
    slc_velo_cuda_in in; /* pointers of the page-locked memory */
};

/* ---- opening ------------------------------------------------------------------------------------------- */

slc_status slc_velo_cuda_open(const slc_velo_geometry *geometry, uint32_t device, slc_velo_cuda **engine,
                              slc_error *error)
{
    *engine = NULL;
    slc_velo_cuda *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the VELO on a GPU");
    }
    slc_status status = slc_cuda_stream_open(device, &opened->stream, error);
    status = status == SLC_OK ? slc_cuda_stream_open(device, &opened->side, error) : status;
    status = status == SLC_OK ? slc_cuda_event_open(opened->stream, &opened->forked, error) : status;
    status = status == SLC_OK ? slc_cuda_event_open(opened->side, &opened->joined, error) : status;
    for (size_t i = 0; i <= SLC_VELO_CUDA_PARTS && status == SLC_OK; i++) {
        status = slc_cuda_event_open(opened->stream, &opened->mark[i], error);
    }
    if (status == SLC_OK) {
        opened->multiprocessors = slc_cuda_stream_multiprocessors(opened->stream);
        status = slc_cuda_memory_reserve(opened->stream, &opened->geometry, sizeof *geometry,
                                         "the VELO's geometry", error);
    }
    status = status == SLC_OK
                 ? slc_cuda_to_device(opened->stream, opened->geometry.at, geometry, sizeof *geometry, error)
                 : status;
    status = status == SLC_OK ? slc_cuda_stream_wait(opened->stream, error) : status;
    if (status != SLC_OK) {
        slc_velo_cuda_close(opened);
        return status;
    }
    *engine = opened;
    return SLC_OK;
}

void slc_velo_cuda_close(slc_velo_cuda *engine)
{
    if (engine == NULL) {
        return;
    }
    if (engine->stream != NULL) {
        (void)slc_cuda_stream_use(engine->stream, NULL);
        (void)slc_cuda_stream_wait(engine->stream, NULL);
    }
    if (engine->side != NULL) {
        (void)slc_cuda_stream_wait(engine->side, NULL);
    }
    slc_cuda_memory *const all[] = {&engine->geometry, &engine->memory, &engine->in_host, &engine->head_host,
                                    &engine->out_host};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    for (size_t i = 0; i <= SLC_VELO_CUDA_PARTS; i++) {
        slc_cuda_event_close(engine->mark[i]);
    }
    slc_cuda_event_close(engine->forked);
    slc_cuda_event_close(engine->joined);
    slc_cuda_stream_close(engine->side);
    slc_cuda_stream_close(engine->stream);
    free(engine);
}

/* ---- room ---------------------------------------------------------------------------------------------- */

typedef struct carver {
    char *at; /* NULL: only measured */
    size_t bytes;
} carver;

static void *take(carver *c, size_t n, size_t size)
{
    void *array = c->at != NULL ? c->at + c->bytes : NULL;
    c->bytes += (n * size + 255) / 256 * 256;
    return array;
}

#define TAKE(c, to, n) ((to) = take((c), (n), sizeof *(to)))

/* What is sent comes first, in one piece in the order of slc_velo_cuda_in. */
static void lay_in(carver *c, slc_velo_cuda_in *in, const room *r, bool words)
{
    TAKE(c, in->order, r->events);
    if (words) {
        TAKE(c, in->kind, r->events);
        TAKE(c, in->sensor_begin, (size_t)r->events * SENSORS + 1);
        TAKE(c, in->words, r->words);
        return;
    }
    TAKE(c, in->hit_offset, (size_t)r->events + 1);
    TAKE(c, in->x, r->hits);
    TAKE(c, in->y, r->hits);
    TAKE(c, in->z, r->hits);
    TAKE(c, in->module, r->hits);
}

static void lay_candidates(carver *c, slc_velo_cuda_candidates *to, size_t n)
{
    float **const floats[] = {&to->x, &to->y, &to->z, &to->tx, &to->ty, &to->scatter, &to->last, &to->best};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        TAKE(c, *floats[i], n);
    }
    TAKE(c, to->count, n);
    TAKE(c, to->hit, n);
    TAKE(c, to->wanted, n);
}

static void lay_ended(carver *c, slc_velo_cuda_ended *to, size_t n)
{
    float **const floats[] = {&to->scatter, &to->x0, &to->y0, &to->z0,     &to->x1,    &to->y1,
                              &to->z1,      &to->tx, &to->ty, &to->own_tx, &to->own_ty};
    uint16_t **const numbers[] = {&to->begin, &to->n, &to->picked, &to->next, &to->hits};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        TAKE(c, *floats[i], n);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        TAKE(c, *numbers[i], n);
    }
    TAKE(c, to->gone, n);
}

static void lay_events(carver *c, slc_velo_cuda_job *job, size_t events)
{
    TAKE(c, job->flags, events);
    TAKE(c, job->sums, events);
    TAKE(c, job->hit_offset, events + 1);
    TAKE(c, job->track_offset, events + 1);
    TAKE(c, job->track_hit_offset, events + 1);
    TAKE(c, job->layer_begin, events * (LAYERS + 1));
    TAKE(c, job->searched, events);
    TAKE(c, job->n_ended, events);
    TAKE(c, job->n_listed, events);
    TAKE(c, job->n_tracks, events);
    TAKE(c, job->n_track_hits, events);
    TAKE(c, job->module_hits, events * MODULES);
}

static void lay_hits(carver *c, slc_velo_cuda_job *job, size_t hits, size_t raw)
{
    TAKE(c, job->raw_x, raw);
    TAKE(c, job->raw_y, raw);
    TAKE(c, job->raw_z, raw);
    TAKE(c, job->raw_channel, raw);
    TAKE(c, job->raw_pixels, raw);
    TAKE(c, job->x, hits);
    TAKE(c, job->y, hits);
    TAKE(c, job->z, hits);
    TAKE(c, job->channel, raw);
    TAKE(c, job->n_pixels, raw);
    TAKE(c, job->module, hits);
    TAKE(c, job->all, hits);
    TAKE(c, job->left, hits);
    TAKE(c, job->origin, hits);
    TAKE(c, job->left_id, hits);
    TAKE(c, job->before, hits);
    TAKE(c, job->list, hits);
    TAKE(c, job->place, hits);
    TAKE(c, job->used, hits);
    TAKE(c, job->loose_hit, hits);
    TAKE(c, job->hit, hits);
}

static size_t lay_out(carver *c, slc_velo_cuda_job *job, const room *r)
{
    const size_t tracks = r->hits / 3 + 1;
    slc_velo_cuda_in in = {0};
    TAKE(c, job->head, 1);
    TAKE(c, in.order, r->events);
    TAKE(c, in.kind, r->events);
    TAKE(c, in.sensor_begin, (size_t)r->events * SENSORS + 1);
    TAKE(c, in.words, r->words);
    job->order = in.order;
    job->kind = in.kind;
    job->sensor_begin = in.sensor_begin;
    job->words = in.words;
    lay_events(c, job, r->events);
    lay_hits(c, job, r->hits, 2 * r->words);
    lay_candidates(c, &job->candidates, tracks);
    lay_ended(c, &job->ended, tracks);
    TAKE(c, job->loose_n, tracks);
    TAKE(c, job->loose_scatter, tracks);
    TAKE(c, job->hit_begin, tracks);
    TAKE(c, job->track_n, tracks);
    TAKE(c, job->scatter, tracks);
    return c->bytes;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

slc_status slc_velo_cuda_reserve(slc_velo_cuda *engine, uint32_t events, size_t rows, bool words,
                                 slc_velo_cuda_in *in, slc_error *error)
{
    if (rows > UINT32_MAX / 4 || (size_t)events * SENSORS >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE, "a batch of %u events and %zu words is too large for a GPU",
                        events, rows);
    }
    const size_t hits = words ? 2 * rows : rows;
    room *have = &engine->room;
    const bool fits = engine->memory.at != NULL && events <= have->events && hits <= have->hits &&
                      (!words || rows <= have->words);
    if (!fits) {
        const room more = {.events = larger(events, have->events),
                           .words = words && rows > have->words ? rows + rows / 4 : have->words,
                           .hits = hits > have->hits ? hits + hits / 2 : have->hits};
        carver measured = {.at = NULL};
        slc_velo_cuda_job job = engine->job;
        const size_t bytes = lay_out(&measured, &job, &more);
        *have = (room){0};
        const slc_status status = slc_cuda_memory_reserve(engine->stream, &engine->memory, bytes,
                                                          "the VELO's events", error);
        if (status != SLC_OK) {
            return status;
        }
        carver c = {.at = engine->memory.at};
        (void)lay_out(&c, &engine->job, &more);
        engine->job.geometry = engine->geometry.at;
        *have = more;
    }
    carver measured = {.at = NULL};
    slc_velo_cuda_in none = {0};
    lay_in(&measured, &none, have, words);
    const slc_status status = slc_cuda_pinned_reserve(engine->stream, &engine->in_host, measured.bytes,
                                                      "the VELO's words", error);
    if (status == SLC_OK) {
        carver c = {.at = engine->in_host.at};
        *in = (slc_velo_cuda_in){.n_events = events};
        lay_in(&c, in, have, words);
        in->n_events = events;
    }
    return status;
}

/* ---- a batch ------------------------------------------------------------------------------------------- */

static void set_settings(slc_velo_cuda_job *job, const slc_velo_track_config *track)
{
    job->settings = (slc_velo_cuda_settings){
        .beam_x = track->beam_x_mm,
        .beam_y = track->beam_y_mm,
        .missing_layer = track->missing_layer_mm2,
        .missing_low2 = track->missing_r_low_mm * track->missing_r_low_mm,
        .missing_high2 = track->missing_r_high_mm * track->missing_r_high_mm,
        .trim = track->trim_mm2,
        .pickup = track->pickup_mm2,
        .merge_slope = track->merge_slope,
        .merge = track->merge_mm2,
        .max_layer_hits = track->max_layer_hits,
        .max_event_hits = track->max_event_hits,
    };
    for (size_t l = 0; l < LAYERS; l++) {
        job->settings.layer_z[l] =
            (slc_velo_design_module_z_mm[2 * l] + slc_velo_design_module_z_mm[2 * l + 1]) / 2;
    }
}

/* Copies that are one after the other, as long as none has failed. */
typedef struct copies {
    slc_cuda_stream *stream;
    slc_error *error;
    slc_status status;
} copies;

static void send(copies *c, const void *to, const void *from, size_t bytes)
{
    if (c->status == SLC_OK) {
        c->status = slc_cuda_to_device(c->stream, (void *)to, from, bytes, c->error);
    }
}

static void fetch(copies *c, void *to, const void *from, size_t bytes)
{
    if (c->status == SLC_OK) {
        c->status = slc_cuda_to_host(c->stream, to, from, bytes, c->error);
    }
}

static slc_status send_batch(slc_velo_cuda *engine, const slc_velo_cuda_in *in, bool words, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    const uint32_t n = in->n_events;
    copies c = {engine->stream, error, SLC_OK};
    slc_velo_cuda_head *head = engine->head_host.at;
    memset(head, 0, sizeof *head);
    head->n_events = n;
    send(&c, job->head, head, sizeof *head);
    send(&c, job->order, in->order, n * sizeof *in->order);
    c.status = c.status == SLC_OK ? slc_cuda_fill(c.stream, job->flags, 0, n * sizeof *job->flags, error)
                                  : c.status;
    if (!words) {
        const size_t hits = in->hit_offset[n];
        send(&c, job->hit_offset, in->hit_offset, ((size_t)n + 1) * sizeof *in->hit_offset);
        send(&c, job->x, in->x, hits * sizeof *in->x);
        send(&c, job->y, in->y, hits * sizeof *in->y);
        send(&c, job->z, in->z, hits * sizeof *in->z);
        send(&c, job->module, in->module, hits);
        return c.status;
    }
    c.status = c.status == SLC_OK ? slc_cuda_fill(c.stream, job->sums, 0, n * sizeof *job->sums, error)
                                  : c.status;
    send(&c, job->kind, in->kind, n);
    send(&c, job->sensor_begin, in->sensor_begin, ((size_t)n * SENSORS + 1) * sizeof *in->sensor_begin);
    send(&c, job->words, in->words, in->sensor_begin[(size_t)n * SENSORS] * sizeof *in->words);
    return c.status;
}

static slc_status mark(slc_velo_cuda *engine, slc_velo_cuda_part part, slc_status status, slc_error *error)
{
    return status == SLC_OK ? slc_cuda_event_record(engine->stream, engine->mark[part], error) : status;
}

/* A pass: the few events that take long beside the others. */
static slc_status search(slc_velo_cuda *engine, const slc_velo_cuda_pass *pass, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    const uint32_t m = engine->multiprocessors;
    slc_status status = slc_cuda_event_record(engine->stream, engine->forked, error);
    status = status == SLC_OK ? slc_cuda_stream_wait_event(engine->side, engine->forked, error) : status;
    status = status == SLC_OK
                 ? slc_velo_cuda_search(job, pass, true, m, slc_cuda_stream_native(engine->side), error)
                 : status;
    status = status == SLC_OK ? slc_cuda_event_record(engine->side, engine->joined, error) : status;
    status = status == SLC_OK
                 ? slc_velo_cuda_search(job, pass, false, m, slc_cuda_stream_native(engine->stream), error)
                 : status;
    return status == SLC_OK ? slc_cuda_stream_wait_event(engine->stream, engine->joined, error) : status;
}

static slc_status launch(slc_velo_cuda *engine, const slc_velo_track_config *track, bool words,
                         slc_error *error)
{
    const slc_velo_cuda_pass first = {.n = track->candidates,
                                      .seeding = track->max_scatter_seeding_mm2,
                                      .extending = track->max_scatter_extending_mm2,
                                      .max_3hits = track->max_scatter_3hits_mm2};
    const slc_velo_cuda_pass second = {.n = track->second_candidates,
                                       .seeding = track->second_seeding_mm2,
                                       .extending = track->second_extending_mm2,
                                       .max_3hits = track->second_3hits_mm2,
                                       .second = 1};
    const slc_velo_cuda_job *job = &engine->job;
    const uint32_t m = engine->multiprocessors;
    struct CUstream_st *stream = slc_cuda_stream_native(engine->stream);
    slc_status status = mark(engine, SLC_VELO_CUDA_PART_CLUSTERS, SLC_OK, error);
    status = status == SLC_OK && words ? slc_velo_cuda_clusters(job, m, stream, error) : status;
    status = mark(engine, SLC_VELO_CUDA_PART_LAYERS, status, error);
    status = status == SLC_OK ? slc_velo_cuda_layers(job, m, stream, error) : status;
    status = mark(engine, SLC_VELO_CUDA_PART_FIRST, status, error);
    status = status == SLC_OK ? search(engine, &first, error) : status;
    status = mark(engine, SLC_VELO_CUDA_PART_PICK_UP, status, error);
    status = status == SLC_OK && track->pickup_mm2 > 0 ? slc_velo_cuda_pick_up(job, m, stream, error)
                                                       : status;
    status = mark(engine, SLC_VELO_CUDA_PART_SECOND, status, error);
    status = status == SLC_OK && second.n > 0 ? search(engine, &second, error) : status;
    status = mark(engine, SLC_VELO_CUDA_PART_FINISH, status, error);
    status = status == SLC_OK ? slc_velo_cuda_finish(job, m, stream, error) : status;
    return mark(engine, SLC_VELO_CUDA_PARTS, status, error);
}

/* ---- back from the device ------------------------------------------------------------------------------ */

static void lay_heads(carver *c, slc_velo_cuda_head **head, slc_velo_cuda_job *job, size_t events)
{
    TAKE(c, *head, 1);
    TAKE(c, job->flags, events);
    TAKE(c, job->sums, events);
    TAKE(c, job->hit_offset, events + 1);
    TAKE(c, job->track_offset, events + 1);
    TAKE(c, job->track_hit_offset, events + 1);
}

/* Of events: what was found, and where it is. */
static slc_status fetch_heads(slc_velo_cuda *engine, uint32_t n, bool words, slc_velo_cuda_out *out,
                              slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    slc_velo_cuda_job host = {0};
    slc_velo_cuda_head *head;
    carver c = {.at = engine->head_host.at};
    copies back = {engine->stream, error, SLC_OK};
    lay_heads(&c, &head, &host, n);
    fetch(&back, head, job->head, sizeof *head);
    fetch(&back, host.flags, job->flags, n * sizeof *host.flags);
    if (words) {
        fetch(&back, host.sums, job->sums, n * sizeof *host.sums);
    }
    fetch(&back, host.hit_offset, job->hit_offset, ((size_t)n + 1) * sizeof *host.hit_offset);
    fetch(&back, host.track_offset, job->track_offset, ((size_t)n + 1) * sizeof *host.track_offset);
    fetch(&back, host.track_hit_offset, job->track_hit_offset,
          ((size_t)n + 1) * sizeof *host.track_hit_offset);
    back.status = back.status == SLC_OK ? slc_cuda_stream_wait(engine->stream, error) : back.status;
    if (back.status == SLC_OK) {
        *out = (slc_velo_cuda_out){.n_hits = host.hit_offset[n],
                                   .n_tracks = head->n_tracks,
                                   .n_track_hits = head->n_track_hits,
                                   .flags = host.flags,
                                   .sums = host.sums,
                                   .hit_offset = host.hit_offset,
                                   .track_offset = host.track_offset,
                                   .track_hit_offset = host.track_hit_offset};
    }
    return back.status;
}

static size_t lay_columns(carver *c, slc_velo_cuda_job *job, const slc_velo_cuda_out *out, bool words)
{
    const size_t hits = words ? out->n_hits : 0;
    TAKE(c, job->x, hits);
    TAKE(c, job->y, hits);
    TAKE(c, job->z, hits);
    TAKE(c, job->channel, hits);
    TAKE(c, job->n_pixels, hits);
    TAKE(c, job->module, hits);
    TAKE(c, job->hit_begin, out->n_tracks);
    TAKE(c, job->track_n, out->n_tracks);
    TAKE(c, job->scatter, out->n_tracks);
    TAKE(c, job->hit, out->n_track_hits);
    return c->bytes;
}

static slc_status fetch_columns(slc_velo_cuda *engine, bool words, slc_velo_cuda_out *out, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    slc_velo_cuda_job host = {0};
    carver measured = {.at = NULL};
    size_t bytes = lay_columns(&measured, &host, out, words);
    bytes = bytes > engine->out_host.size ? bytes + bytes / 4 : bytes;
    copies back = {engine->stream, error, SLC_OK};
    back.status = slc_cuda_pinned_reserve(engine->stream, &engine->out_host, bytes, "the VELO's tracks",
                                          error);
    if (back.status != SLC_OK) {
        return back.status;
    }
    carver c = {.at = engine->out_host.at};
    (void)lay_columns(&c, &host, out, words);
    if (words) {
        const size_t n = out->n_hits;
        fetch(&back, host.x, job->x, n * sizeof *host.x);
        fetch(&back, host.y, job->y, n * sizeof *host.y);
        fetch(&back, host.z, job->z, n * sizeof *host.z);
        fetch(&back, host.channel, job->channel, n * sizeof *host.channel);
        fetch(&back, host.n_pixels, job->n_pixels, n * sizeof *host.n_pixels);
        fetch(&back, host.module, job->module, n);
    }
    fetch(&back, host.hit_begin, job->hit_begin, out->n_tracks * sizeof *host.hit_begin);
    fetch(&back, host.track_n, job->track_n, out->n_tracks * sizeof *host.track_n);
    fetch(&back, host.scatter, job->scatter, out->n_tracks * sizeof *host.scatter);
    fetch(&back, host.hit, job->hit, out->n_track_hits * sizeof *host.hit);
    out->x = host.x;
    out->y = host.y;
    out->z = host.z;
    out->channel = host.channel;
    out->n_pixels = host.n_pixels;
    out->module = host.module;
    out->hit_begin = host.hit_begin;
    out->track_n = host.track_n;
    out->scatter = host.scatter;
    out->hit = host.hit;
    return back.status == SLC_OK ? slc_cuda_stream_wait(engine->stream, error) : back.status;
}

slc_status slc_velo_cuda_run(slc_velo_cuda *engine, const slc_velo_track_config *track,
                             const slc_velo_cuda_in *in, bool words, slc_velo_cuda_out *out, slc_error *error)
{
    const uint32_t n = in->n_events;
    carver measured = {.at = NULL};
    slc_velo_cuda_head *head;
    slc_velo_cuda_job none = {0};
    lay_heads(&measured, &head, &none, n);
    slc_status status = slc_cuda_stream_use(engine->stream, error);
    status = status == SLC_OK ? slc_cuda_pinned_reserve(engine->stream, &engine->head_host, measured.bytes,
                                                        "the VELO's offsets", error)
                              : status;
    set_settings(&engine->job, track);
    slc_cuda_range_begin("velo: a batch");
    status = status == SLC_OK ? send_batch(engine, in, words, error) : status;
    status = status == SLC_OK ? launch(engine, track, words, error) : status;
    status = status == SLC_OK ? fetch_heads(engine, n, words, out, error) : status;
    status = status == SLC_OK ? fetch_columns(engine, words, out, error) : status;
    slc_cuda_range_end();
    engine->ran = status == SLC_OK;
    return status;
}

void slc_velo_cuda_times(const slc_velo_cuda *engine, double seconds[SLC_VELO_CUDA_PARTS])
{
    for (size_t i = 0; i < SLC_VELO_CUDA_PARTS; i++) {
        seconds[i] = 0;
        if (engine->ran) {
            (void)slc_cuda_event_seconds(engine->mark[i], engine->mark[i + 1], &seconds[i], NULL);
        }
    }
}

/* ---- the table ----------------------------------------------------------------------------------------- */

const struct slc_velo_cuda_calls slc_velo_cuda_calls = {
    slc_velo_cuda_open, slc_velo_cuda_close, slc_velo_cuda_reserve, slc_velo_cuda_run, slc_velo_cuda_times};
