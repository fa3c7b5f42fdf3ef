/* SPDX-License-Identifier: Apache-2.0
 *
 * Back from the VELO on a GPU: of events what was found, and columns. How many rows these have is known on
 * the device alone, so as many are copied as the batch before makes likely, right behind the kernels; where
 * that was too few, all of them once more.
 */
#include "velo/cuda/velo_cuda_engine.h"

#define TAKE SLC_VELO_CUDA_TAKE
typedef slc_velo_cuda_carver carver;
typedef slc_velo_cuda_copies copies;
typedef slc_velo_cuda_rows rows;

static void fetch(copies *c, void *to, const void *from, size_t bytes)
{
    if (c->status == SLC_OK) {
        c->status = slc_cuda_to_host(c->stream, to, from, bytes, c->error);
    }
}

/* ---- of events ----------------------------------------------------------------------------------------- */

static void lay_heads(carver *c, slc_velo_cuda_head **head, slc_velo_cuda_job *job, size_t events)
{
    TAKE(c, *head, 1);
    TAKE(c, job->flags, events);
    TAKE(c, job->sums, events);
    TAKE(c, job->hit_offset, events + 1);
    TAKE(c, job->track_offset, events + 1);
    TAKE(c, job->track_hit_offset, events + 1);
    TAKE(c, job->primary_offset, events + 1);
    TAKE(c, job->decided, events);
}

/* What was found, and where it is. */
static slc_status bring_heads(slc_velo_cuda *engine, uint32_t n, slc_error *error)
{
    const slc_velo_cuda_job *job = &engine->job;
    const size_t offsets = ((size_t)n + 1) * sizeof(uint32_t);
    slc_velo_cuda_job host = {0};
    slc_velo_cuda_head *head;
    carver c = {.at = engine->head_host.at};
    copies back = {engine->stream, error, SLC_OK};
    lay_heads(&c, &head, &host, n);
    fetch(&back, head, job->head, sizeof *head);
    fetch(&back, host.flags, job->flags, n * sizeof *host.flags);
    if (engine->shape.words) {
        fetch(&back, host.sums, job->sums, n * sizeof *host.sums);
    }
    fetch(&back, host.hit_offset, job->hit_offset, offsets);
    fetch(&back, host.track_offset, job->track_offset, offsets);
    fetch(&back, host.track_hit_offset, job->track_hit_offset, offsets);
    if (engine->shape.vertices) {
        fetch(&back, host.primary_offset, job->primary_offset, offsets);
    }
    if (engine->shape.decisions) {
        fetch(&back, host.decided, job->decided, n * sizeof *host.decided);
    }
    engine->batch.head = head;
    engine->batch.out = (slc_velo_cuda_out){.flags = host.flags,
                                            .sums = host.sums,
                                            .hit_offset = host.hit_offset,
                                            .track_offset = host.track_offset,
                                            .track_hit_offset = host.track_hit_offset,
                                            .primary_offset = host.primary_offset,
                                            .decided = host.decided};
    return back.status;
}

slc_status slc_velo_cuda_reserve_heads(slc_velo_cuda *engine, uint32_t n, slc_error *error)
{
    carver measured = {.at = NULL};
    slc_velo_cuda_head *head;
    slc_velo_cuda_job none = {0};
    lay_heads(&measured, &head, &none, n);
    return slc_cuda_pinned_reserve(engine->stream, &engine->head_host, measured.bytes, "the VELO's offsets",
                                   error);
}

/* ---- columns ------------------------------------------------------------------------------------------- */

/* Columns one behind the other: measured, copied, or (on the device) cleared. */
typedef struct columns_back {
    carver room;
    copies copies;
    bool cleared;
} columns_back;

static void *bring(columns_back *b, const void *from, size_t n, size_t size)
{
    copies *c = &b->copies;
    if (b->cleared) {
        c->status = c->status == SLC_OK ? slc_cuda_fill(c->stream, (void *)from, 0, n * size, c->error)
                                        : c->status;
        return NULL;
    }
    void *to = slc_velo_cuda_take(&b->room, n, size);
    if (b->room.at != NULL) {
        fetch(c, to, from, n * size);
    }
    return to;
}
#define BRING(b, to, from, n) ((to) = bring((b), (from), (n), sizeof *(from)))

static void bring_states(columns_back *b, slc_velo_cuda_states *to, const slc_velo_cuda_states *from,
                         size_t n)
{
    BRING(b, to->x, from->x, n);
    BRING(b, to->y, from->y, n);
    if (from->z != NULL) {
        BRING(b, to->z, from->z, n);
    }
    BRING(b, to->tx, from->tx, n);
    BRING(b, to->ty, from->ty, n);
    BRING(b, to->pp, from->pp, n);
    BRING(b, to->ps, from->ps, n);
    BRING(b, to->ss, from->ss, n);
}

/* `wanted`: hits are those of words. */
static void bring_columns(columns_back *b, const slc_velo_cuda_job *job, uint32_t wanted, const rows *n,
                          slc_velo_cuda_out *out)
{
    const size_t hits = n->hits, tracks = n->tracks;
    if ((wanted & SLC_VELO_WANT_HITS) != 0) {
        BRING(b, out->x, job->x, hits);
        BRING(b, out->y, job->y, hits);
        BRING(b, out->z, job->z, hits);
        BRING(b, out->channel, job->channel, hits);
        BRING(b, out->n_pixels, job->n_pixels, hits);
        BRING(b, out->module, job->module, hits);
    }
    if ((wanted & (SLC_VELO_WANT_TRACKS | SLC_VELO_WANT_BEAM | SLC_VELO_WANT_END)) != 0) {
        BRING(b, out->track_n, job->track_n, tracks);
    }
    if ((wanted & SLC_VELO_WANT_TRACKS) != 0) {
        BRING(b, out->hit_begin, job->hit_begin, tracks);
        BRING(b, out->scatter, job->scatter, tracks);
        BRING(b, out->hit, job->hit, n->track_hits);
    }
    if ((wanted & (SLC_VELO_WANT_BEAM | SLC_VELO_WANT_END)) != 0) {
        BRING(b, out->chi2, job->chi2, tracks);
        BRING(b, out->backward, job->backward, tracks);
    }
    if ((wanted & SLC_VELO_WANT_BEAM) != 0) {
        bring_states(b, &out->beam, &job->beam, tracks);
    }
    if ((wanted & SLC_VELO_WANT_END) != 0) {
        bring_states(b, &out->end, &job->end, tracks);
    }
    if ((wanted & SLC_VELO_WANT_PRIMARIES) != 0) {
        BRING(b, out->primaries, job->primaries, n->primaries * SLC_VELO_CUDA_PRIMARY);
    }
}

/* The rows that there is room for. */
static rows room_of(const slc_velo_cuda *engine)
{
    return (rows){.hits = engine->room.hits,
                  .tracks = engine->room.hits / 3 + 1,
                  .track_hits = engine->room.hits,
                  .primaries = (size_t)engine->room.events * SLC_VELO_MAX_PRIMARIES};
}

slc_status slc_velo_cuda_clear_columns(slc_velo_cuda *engine, slc_error *error)
{
    columns_back all = {.copies = {engine->stream, error, SLC_OK}, .cleared = true};
    const rows n = room_of(engine);
    slc_velo_cuda_out none = {0};
    const uint32_t of_words = engine->room.words > 0 ? SLC_VELO_WANT_ALL
                                                     : SLC_VELO_WANT_ALL & ~(uint32_t)SLC_VELO_WANT_HITS;
    bring_columns(&all, &engine->job, of_words, &n, &none);
    return all.copies.status;
}

/* A part more than the last batch had, and what some of its events have. */
static size_t guess(size_t had, size_t events, size_t had_events, size_t most)
{
    enum { PART = 16, SOME = 8 };
    const size_t n = had_events > 0 ? had * (events + events / PART + SOME) / had_events + SOME : 0;
    return n < most ? n : most;
}

static slc_status copy_columns(slc_velo_cuda *engine, const rows *n, slc_error *error)
{
    slc_velo_cuda_batch *batch = &engine->batch;
    columns_back back = {.copies = {engine->stream, error, SLC_OK}};
    bring_columns(&back, &engine->job, batch->wanted, n, &batch->out);
    size_t bytes = back.room.bytes;
    bytes = bytes > engine->out_host.size ? bytes + bytes / 4 : bytes;
    const slc_status status = slc_cuda_pinned_reserve(engine->stream, &engine->out_host, bytes,
                                                      "the VELO's tracks", error);
    if (status != SLC_OK || back.room.bytes == 0) {
        return status;
    }
    back.room = (carver){.at = engine->out_host.at};
    bring_columns(&back, &engine->job, batch->wanted, n, &batch->out);
    batch->rows = *n;
    return back.copies.status;
}

slc_status slc_velo_cuda_bring(slc_velo_cuda *engine, uint32_t n, uint32_t wanted, slc_error *error)
{
    slc_velo_cuda_batch *batch = &engine->batch;
    const rows *had = &engine->ran, most = room_of(engine);
    const size_t ran = engine->n_ran;
    const rows likely = {.hits = guess(had->hits, n, ran, most.hits),
                         .tracks = guess(had->tracks, n, ran, most.tracks),
                         .track_hits = guess(had->track_hits, n, ran, most.track_hits),
                         .primaries = guess(had->primaries, n, ran, most.primaries)};
    *batch = (slc_velo_cuda_batch){
        .n_events = n, .wanted = engine->shape.hits ? wanted : wanted & ~(uint32_t)SLC_VELO_WANT_HITS};
    const slc_status status = bring_heads(engine, n, error);
    return status == SLC_OK && ran > 0 ? copy_columns(engine, &likely, error) : status;
}

slc_status slc_velo_cuda_take_out(slc_velo_cuda *engine, slc_velo_cuda_out *out, slc_error *error)
{
    slc_velo_cuda_batch *batch = &engine->batch;
    slc_status status = slc_cuda_stream_wait(engine->stream, error);
    if (status != SLC_OK) {
        engine->n_ran = 0;
        return status;
    }
    const slc_velo_cuda_head *head = batch->head;
    const rows n = {.hits = batch->out.hit_offset[batch->n_events],
                    .tracks = head->n_tracks,
                    .track_hits = head->n_track_hits,
                    .primaries = head->n_primaries};
    const rows *have = &batch->rows;
    batch->out.at_once = n.hits <= have->hits && n.tracks <= have->tracks &&
                         n.track_hits <= have->track_hits && n.primaries <= have->primaries;
    if (!batch->out.at_once) {
        status = copy_columns(engine, &n, error);
        status = status == SLC_OK ? slc_cuda_stream_wait(engine->stream, error) : status;
    }
    engine->n_ran = status == SLC_OK ? batch->n_events : 0;
    engine->ran = n;
    *out = batch->out;
    return status;
}
