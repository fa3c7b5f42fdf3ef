/* SPDX-License-Identifier: Apache-2.0
 *
 * Which array of the VELO on a GPU lies where in one piece of memory.
 */
#include "velo/cuda/velo_cuda_room.h"

enum { LAYERS = SLC_VELO_LAYERS, SENSORS = SLC_VELO_SENSORS, MODULES = SLC_VELO_MODULES };

void *slc_velo_cuda_take(slc_velo_cuda_carver *c, size_t n, size_t size)
{
    void *array = c->at != NULL ? c->at + c->bytes : NULL;
    c->bytes += (n * size + 255) / 256 * 256;
    return array;
}

#define TAKE SLC_VELO_CUDA_TAKE

void slc_velo_cuda_lay_in(slc_velo_cuda_carver *c, slc_velo_cuda_in *in, const slc_velo_cuda_room *r,
                          bool words)
{
    TAKE(c, in->order, r->events);
    if (words) {
        TAKE(c, in->kind, r->events);
        TAKE(c, in->sensor_begin, (size_t)r->events * SENSORS + 1);
        TAKE(c, in->where, (size_t)r->events * SENSORS);
        TAKE(c, in->source, slc_velo_cuda_source_room(r->words, r->events));
        return;
    }
    TAKE(c, in->hit_offset, (size_t)r->events + 1);
    TAKE(c, in->x, r->hits);
    TAKE(c, in->y, r->hits);
    TAKE(c, in->z, r->hits);
    TAKE(c, in->module, r->hits);
    TAKE(c, in->n_pixels, r->hits);
}

void slc_velo_cuda_lay_states(slc_velo_cuda_carver *c, slc_velo_cuda_states *to, size_t n, bool z)
{
    TAKE(c, to->x, n);
    TAKE(c, to->y, n);
    if (z) {
        TAKE(c, to->z, n);
    }
    TAKE(c, to->tx, n);
    TAKE(c, to->ty, n);
    TAKE(c, to->pp, n);
    TAKE(c, to->ps, n);
    TAKE(c, to->ss, n);
}

static void lay_ended(slc_velo_cuda_carver *c, slc_velo_cuda_ended *to, size_t n)
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
    TAKE(c, to->alike, n);
}

static void lay_events(slc_velo_cuda_carver *c, slc_velo_cuda_job *job, size_t events)
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
    TAKE(c, job->module_raw, events * MODULES);
    TAKE(c, job->loose_primaries, events * SLC_VELO_MAX_PRIMARIES * SLC_VELO_CUDA_PRIMARY);
    TAKE(c, job->primaries, events * SLC_VELO_MAX_PRIMARIES * SLC_VELO_CUDA_PRIMARY);
    TAKE(c, job->n_primaries, events);
    TAKE(c, job->primary_offset, events + 1);
    TAKE(c, job->decided, events);
}

static void lay_hits(slc_velo_cuda_carver *c, slc_velo_cuda_job *job, size_t hits, size_t raw)
{
    TAKE(c, job->raw, hits);
    TAKE(c, job->raw_channel, raw);
    TAKE(c, job->x, hits);
    TAKE(c, job->y, hits);
    TAKE(c, job->z, hits);
    TAKE(c, job->channel, raw);
    TAKE(c, job->n_pixels, hits);
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
    TAKE(c, job->hit_raw, hits);
}

size_t slc_velo_cuda_lay_job(slc_velo_cuda_carver *c, slc_velo_cuda_job *job, const slc_velo_cuda_room *r)
{
    const size_t tracks = r->hits / 3 + 1;
    slc_velo_cuda_in in = {0};
    TAKE(c, job->head, 1);
    TAKE(c, in.order, r->events);
    TAKE(c, in.kind, r->events);
    TAKE(c, in.sensor_begin, (size_t)r->events * SENSORS + 1);
    TAKE(c, in.where, (size_t)r->events * SENSORS);
    TAKE(c, in.source, slc_velo_cuda_source_room(r->words, r->events));
    job->order = in.order;
    job->kind = in.kind;
    job->sensor_begin = in.sensor_begin;
    job->where = in.where;
    job->source = in.source;
    lay_events(c, job, r->events);
    lay_hits(c, job, r->hits, 2 * r->words);
    TAKE(c, job->candidates, tracks);
    TAKE(c, job->best, tracks);
    TAKE(c, job->wanted, tracks);
    lay_ended(c, &job->ended, tracks);
    TAKE(c, job->loose_n, tracks);
    TAKE(c, job->loose_scatter, tracks);
    TAKE(c, job->hit_begin, tracks);
    TAKE(c, job->track_n, tracks);
    TAKE(c, job->scatter, tracks);
    TAKE(c, job->track_event, tracks);
    slc_velo_cuda_lay_states(c, &job->beam, tracks, true);
    slc_velo_cuda_lay_states(c, &job->end, tracks, false);
    TAKE(c, job->chi2, tracks);
    TAKE(c, job->backward, tracks);
    job->vertex_scratch = slc_velo_cuda_take(c, 1, r->vertex_bytes);
    return c->bytes;
}
