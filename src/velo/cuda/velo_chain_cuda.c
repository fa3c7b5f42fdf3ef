/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine of the VELO on a GPU: its memory, and a batch on its way: what is sent, and the launches in
 * order.
 */
#include "velo/cuda/velo_chain_cuda.h"
#include "velo/cuda/velo_cuda_engine.h"
#include "velo/cuda/velo_cuda_kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS = SLC_VELO_SENSORS, SIDES = SLC_VELO_CUDA_SIDES };
typedef slc_velo_cuda_room room;
typedef slc_velo_cuda_carver carver;
typedef slc_velo_cuda_copies copies;
typedef slc_velo_cuda_shape shape;
typedef slc_velo_cuda_recording recording;

/* Engines that are open: of several, the batches of one fill what those of the others leave idle. */
static atomic_uint n_open;

/* ---- opening ------------------------------------------------------------------------------------------- */

slc_status slc_velo_cuda_open(const slc_velo_geometry *geometry, uint32_t device, slc_velo_cuda **engine,
                              slc_error *error)
{
    *engine = NULL;
    slc_velo_cuda *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the VELO on a GPU");
    }
    atomic_fetch_add(&n_open, 1);
    slc_status status = slc_cuda_stream_open(device, &opened->stream, error);
    status = status == SLC_OK ? slc_cuda_event_open(opened->stream, &opened->forked, error) : status;
    for (size_t i = 0; i < SIDES && status == SLC_OK; i++) {
        status = slc_cuda_stream_open(device, &opened->side[i], error);
        status = status == SLC_OK ? slc_cuda_event_open(opened->side[i], &opened->joined[i], error) : status;
    }
    for (size_t i = 0; i <= SLC_VELO_CUDA_PARTS && status == SLC_OK; i++) {
        status = slc_cuda_event_open(opened->stream, &opened->mark[i], error);
    }
    if (status == SLC_OK) {
        opened->multiprocessors = slc_cuda_stream_multiprocessors(opened->stream);
        status = slc_cuda_memory_reserve(opened->stream, &opened->geometry, sizeof *geometry,
                                         "the VELO's geometry", error);
    }
    status = status == SLC_OK ? slc_cuda_memory_reserve(opened->stream, &opened->selection,
                                                        sizeof opened->selected, "a selection", error)
                              : status;
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
    for (size_t i = 0; i < SIDES; i++) {
        if (engine->side[i] != NULL) {
            (void)slc_cuda_stream_wait(engine->side[i], NULL);
        }
    }
    slc_cuda_graph_clear(&engine->recorded[0].graph);
    slc_cuda_graph_clear(&engine->recorded[1].graph);
    slc_cuda_memory *const all[] = {&engine->geometry, &engine->selection, &engine->memory,
                                    &engine->in_host,  &engine->head_host, &engine->out_host};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    for (size_t i = 0; i <= SLC_VELO_CUDA_PARTS; i++) {
        slc_cuda_event_close(engine->mark[i]);
    }
    slc_cuda_event_close(engine->forked);
    for (size_t i = 0; i < SIDES; i++) {
        slc_cuda_event_close(engine->joined[i]);
        slc_cuda_stream_close(engine->side[i]);
    }
    slc_cuda_stream_close(engine->stream);
    atomic_fetch_sub(&n_open, 1);
    free(engine);
}

/* ---- room ---------------------------------------------------------------------------------------------- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

slc_status slc_velo_cuda_reserve(slc_velo_cuda *engine, uint32_t events, size_t rows, bool words,
                                 slc_velo_cuda_in *in, slc_error *error)
{
    if (rows > UINT32_MAX / 4 || slc_velo_cuda_source_room(rows + rows / 4, events) >= UINT32_MAX) {
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
                           .hits = hits > have->hits ? hits + hits / 4 : have->hits,
                           .vertex_bytes = slc_velo_cuda_vertex_bytes(engine->multiprocessors)};
        carver measured = {.at = NULL};
        slc_velo_cuda_job job = engine->job;
        const size_t bytes = slc_velo_cuda_lay_job(&measured, &job, &more);
        *have = (room){0};
        const slc_status status = slc_cuda_memory_reserve(engine->stream, &engine->memory, bytes,
                                                          "the VELO's events", error);
        if (status != SLC_OK) {
            return status;
        }
        carver c = {.at = engine->memory.at};
        (void)slc_velo_cuda_lay_job(&c, &engine->job, &more);
        engine->job.geometry = engine->geometry.at;
        engine->job.selection = engine->selection.at;
        *have = more;
        const slc_status cleared = slc_velo_cuda_clear_columns(engine, error);
        if (cleared != SLC_OK) {
            return cleared;
        }
    }
    carver measured = {.at = NULL};
    slc_velo_cuda_in none = {0};
    slc_velo_cuda_lay_in(&measured, &none, have, words);
    const slc_status status = slc_cuda_pinned_reserve(engine->stream, &engine->in_host, measured.bytes,
                                                      "the VELO's words", error);
    if (status == SLC_OK) {
        carver c = {.at = engine->in_host.at};
        *in = (slc_velo_cuda_in){.n_events = events};
        slc_velo_cuda_lay_in(&c, in, have, words);
        in->n_events = events;
    }
    return status;
}

/* ---- a batch ------------------------------------------------------------------------------------------- */

static void set_shape(shape *to, const slc_velo_cuda_config *config, bool words)
{
    const slc_velo_track_config *track = config->track;
    memset(to, 0, sizeof *to); /* compared with another one */
    to->first = (slc_velo_cuda_pass){.n = track->candidates,
                                     .seeding = track->max_scatter_seeding_mm2,
                                     .extending = track->max_scatter_extending_mm2,
                                     .max_3hits = track->max_scatter_3hits_mm2};
    to->second = (slc_velo_cuda_pass){.n = track->second_candidates,
                                      .seeding = track->second_seeding_mm2,
                                      .extending = track->second_extending_mm2,
                                      .max_3hits = track->second_3hits_mm2,
                                      .second = 1};
    to->words = words;
    to->hits = words && (config->wanted & SLC_VELO_WANT_HITS) != 0;
    to->pick_up = track->pickup_mm2 > 0;
    to->decisions = config->selection != NULL;
    to->vertices = to->decisions || (config->wanted & SLC_VELO_WANT_PRIMARIES) != 0;
    to->fit = to->vertices || (config->wanted & (SLC_VELO_WANT_BEAM | SLC_VELO_WANT_END)) != 0;
}

static void send(copies *c, const void *to, const void *from, size_t bytes)
{
    if (c->status == SLC_OK) {
        c->status = slc_cuda_to_device(c->stream, (void *)to, from, bytes, c->error);
    }
}

static void send_head(copies *c, slc_velo_cuda *engine, uint32_t n)
{
    slc_velo_cuda_head *head = engine->head_host.at;
    memset(head, 0, sizeof *head);
    head->n_events = n;
    send(c, engine->job.head, head, sizeof *head);
}

static slc_status send_batch(slc_velo_cuda *engine, const slc_velo_cuda_in *in, bool words, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    const uint32_t n = in->n_events;
    copies c = {engine->stream, error, SLC_OK};
    send_head(&c, engine, n);
    send(&c, job->order, in->order, n * sizeof *in->order);
    if (!words) {
        const size_t hits = in->hit_offset[n];
        send(&c, job->hit_offset, in->hit_offset, ((size_t)n + 1) * sizeof *in->hit_offset);
        send(&c, job->x, in->x, hits * sizeof *in->x);
        send(&c, job->y, in->y, hits * sizeof *in->y);
        send(&c, job->z, in->z, hits * sizeof *in->z);
        send(&c, job->module, in->module, hits);
        send(&c, job->n_pixels, in->n_pixels, hits * sizeof *in->n_pixels);
        return c.status;
    }
    send(&c, job->kind, in->kind, n);
    send(&c, job->sensor_begin, in->sensor_begin, ((size_t)n * SENSORS + 1) * sizeof *in->sensor_begin);
    send(&c, job->where, in->where, (size_t)n * SENSORS * sizeof *in->where);
    return c.status;
}

/* Padding that differs costs a recording or a copy, and nothing else. */
static bool is_same(const void *recorded, const void *wanted, size_t size)
{
    return memcmp(recorded, wanted, size) == 0;
}

/* The selection, where it is another one than before. */
static slc_status send_selection(slc_velo_cuda *engine, const slc_velo_sorted_selection *selection,
                                 slc_error *error)
{
    slc_velo_sorted_selection *have = &engine->selected;
    if (selection == NULL || (engine->selects && is_same(have, selection, sizeof *have))) {
        return SLC_OK;
    }
    engine->selects = true;
    *have = *selection;
    return slc_cuda_to_device(engine->stream, engine->selection.at, have, sizeof *have, error);
}

/* A row of launches, as long as none has failed. `timed`: with marks between them. */
typedef struct launches {
    slc_velo_cuda *engine;
    bool timed;
    slc_error *error;
    slc_status status;
} launches;

static void mark(launches *l, slc_velo_cuda_part part)
{
    if (l->timed && l->status == SLC_OK) {
        l->status = slc_cuda_event_record(l->engine->stream, l->engine->mark[part], l->error);
    }
}

typedef slc_status stage(const slc_velo_cuda_job *job, uint32_t multiprocessors, struct CUstream_st *stream,
                         slc_error *error);

static void run_stage(launches *l, bool wanted, stage *stage_of)
{
    if (wanted && l->status == SLC_OK) {
        l->status = stage_of(&l->engine->job, l->engine->multiprocessors,
                             slc_cuda_stream_native(l->engine->stream), l->error);
    }
}

/* A pass over the events of one size. */
static slc_status search_size(const slc_velo_cuda *engine, const slc_velo_cuda_pass *pass,
                              slc_velo_cuda_size size, slc_cuda_stream *stream, slc_error *error)
{
    return slc_velo_cuda_search(&engine->job, pass, size, engine->multiprocessors,
                                slc_cuda_stream_native(stream), error);
}

/* A pass: the few events that take long beside the others; of a small batch, all of them by teams. */
static void search(launches *l, const slc_velo_cuda_pass *pass)
{
    slc_velo_cuda *engine = l->engine;
    slc_error *error = l->error;
    const bool teams = engine->job.teams != 0;
    const uint32_t sides = teams ? 0 : SIDES;
    slc_status status = l->status == SLC_OK ? slc_cuda_event_record(engine->stream, engine->forked, error)
                                            : l->status;
    for (uint32_t i = sides; i-- > 0;) {
        const slc_velo_cuda_size size = (slc_velo_cuda_size)(SLC_VELO_CUDA_IS_SMALL + 1 + i);
        slc_cuda_stream *side = engine->side[i];
        status = status == SLC_OK ? slc_cuda_stream_wait_event(side, engine->forked, error) : status;
        status = status == SLC_OK ? search_size(engine, pass, size, side, error) : status;
        status = status == SLC_OK ? slc_cuda_event_record(side, engine->joined[i], error) : status;
    }
    const slc_velo_cuda_size size = teams ? SLC_VELO_CUDA_IS_ANY : SLC_VELO_CUDA_IS_SMALL;
    status = status == SLC_OK ? search_size(engine, pass, size, engine->stream, error) : status;
    for (uint32_t i = 0; i < sides && status == SLC_OK; i++) {
        status = slc_cuda_stream_wait_event(engine->stream, engine->joined[i], error);
    }
    l->status = status;
}

static slc_status launch(slc_velo_cuda *engine, bool timed, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    const shape *s = &engine->shape;
    const size_t events = engine->room.events;
    launches l = {engine, timed, error, SLC_OK};
    l.status = slc_cuda_fill(engine->stream, job->flags, 0, events * sizeof *job->flags, error);
    l.status = l.status == SLC_OK
                   ? slc_cuda_fill(engine->stream, job->sums, 0, events * sizeof *job->sums, error)
                   : l.status;
    mark(&l, SLC_VELO_CUDA_PART_CLUSTERS);
    run_stage(&l, s->words, slc_velo_cuda_clusters);
    run_stage(&l, s->hits, slc_velo_cuda_hits);
    mark(&l, SLC_VELO_CUDA_PART_LAYERS);
    run_stage(&l, true, slc_velo_cuda_layers);
    mark(&l, SLC_VELO_CUDA_PART_FIRST);
    search(&l, &s->first);
    mark(&l, SLC_VELO_CUDA_PART_PICK_UP);
    run_stage(&l, s->pick_up, slc_velo_cuda_pick_up);
    mark(&l, SLC_VELO_CUDA_PART_SECOND);
    if (s->second.n > 0) {
        search(&l, &s->second);
    }
    mark(&l, SLC_VELO_CUDA_PART_FINISH);
    run_stage(&l, true, slc_velo_cuda_finish);
    mark(&l, SLC_VELO_CUDA_PART_FIT);
    run_stage(&l, s->fit, slc_velo_cuda_fit_tracks);
    mark(&l, SLC_VELO_CUDA_PART_VERTICES);
    run_stage(&l, s->vertices, slc_velo_cuda_vertices);
    mark(&l, SLC_VELO_CUDA_PART_DECISIONS);
    run_stage(&l, s->decisions, slc_velo_cuda_decide);
    mark(&l, SLC_VELO_CUDA_PARTS);
    return l.status;
}

/* All launches at once: recorded when memory or settings are others than before. */
static slc_status launch_graph(slc_velo_cuda *engine, slc_error *error)
{
    recording *have = &engine->recorded[engine->job.teams != 0];
    slc_status status = SLC_OK;
    if (have->graph.exec == NULL || !is_same(&have->shape, &engine->shape, sizeof engine->shape) ||
        !is_same(&have->job, &engine->job, sizeof engine->job)) {
        status = slc_cuda_graph_begin(engine->stream, error);
        if (status == SLC_OK) {
            status = slc_cuda_graph_end(engine->stream, &have->graph, launch(engine, false, error), error);
        }
        have->shape = engine->shape;
        have->job = engine->job;
    }
    return status == SLC_OK ? slc_cuda_graph_launch(engine->stream, &have->graph, error) : status;
}

/* ---- batches --------------------------------------------------------------------------------------------
 */

slc_status slc_velo_cuda_send(slc_velo_cuda *engine, size_t at, const void *from, size_t n, slc_error *error)
{
    copies c = {engine->stream, error, slc_cuda_stream_use(engine->stream, error)};
    send(&c, engine->job.source + at, from, n * sizeof *engine->job.source);
    return c.status;
}

bool slc_velo_cuda_is_locked(const void *memory)
{
    return slc_cuda_is_pinned(memory);
}

slc_status slc_velo_cuda_begin(slc_velo_cuda *engine, const slc_velo_cuda_config *config,
                               const slc_velo_cuda_in *in, bool words, slc_error *error)
{
    const uint32_t n = in->n_events;
    slc_status status = slc_cuda_stream_use(engine->stream, error);
    status = status == SLC_OK ? slc_velo_cuda_reserve_heads(engine, n, error) : status;
    engine->job.from_words = words;
    engine->job.channels = words && (config->wanted & SLC_VELO_WANT_HITS) != 0;
    engine->job.ends = (config->wanted & SLC_VELO_WANT_END) != 0;
    engine->job.teams = n <= config->few_events * engine->multiprocessors / atomic_load(&n_open);
    slc_velo_cuda_set(&engine->job, config);
    set_shape(&engine->shape, config, words);
    slc_cuda_range_begin("velo: a batch begins");
    status = status == SLC_OK ? send_selection(engine, config->selection, error) : status;
    status = status == SLC_OK ? send_batch(engine, in, words, error) : status;
    status = status == SLC_OK ? launch_graph(engine, error) : status;
    status = status == SLC_OK ? slc_velo_cuda_bring(engine, n, config->wanted, error) : status;
    slc_cuda_range_end();
    return status;
}

slc_status slc_velo_cuda_end(slc_velo_cuda *engine, slc_velo_cuda_out *out, slc_error *error)
{
    slc_cuda_range_begin("velo: a batch ends");
    slc_status status = slc_cuda_stream_use(engine->stream, error);
    status = status == SLC_OK ? slc_velo_cuda_take_out(engine, out, error) : status;
    slc_cuda_range_end();
    return status;
}

slc_status slc_velo_cuda_again(slc_velo_cuda *engine, double seconds[SLC_VELO_CUDA_PARTS], slc_error *error)
{
    copies c = {engine->stream, error, SLC_OK};
    slc_status status = slc_cuda_stream_use(engine->stream, error);
    if (status == SLC_OK) {
        send_head(&c, engine, engine->n_ran);
        status = c.status;
    }
    status = status == SLC_OK ? launch(engine, true, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_wait(engine->stream, error) : status;
    for (size_t i = 0; i < SLC_VELO_CUDA_PARTS && status == SLC_OK; i++) {
        status = slc_cuda_event_seconds(engine->mark[i], engine->mark[i + 1], &seconds[i], error);
    }
    return status;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

const struct slc_velo_cuda_calls slc_velo_cuda_calls = {
    slc_velo_cuda_open,      slc_velo_cuda_close, slc_velo_cuda_reserve, slc_velo_cuda_send,
    slc_velo_cuda_is_locked, slc_velo_cuda_begin, slc_velo_cuda_end,     slc_velo_cuda_again};
