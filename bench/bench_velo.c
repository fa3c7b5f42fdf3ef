/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness that measures the VELO's chain: contestants, each with chains of its own, go through the same
 * events in turns. What is measured for each figure is in bench_velo_sets.c. One process, so that nothing
 * but the configuration differs; the user pins it.
 */
#include "bench/bench_velo_events.h"
#include "bench/bench_velo_sets.h"

#include <stdlib.h>
#include <string.h>

/* What one worker has, and what came of the turn at hand. */
typedef struct worker {
    slc_velo_chain *chain;
    slc_velo_result result;
    double stage[SLC_VELO_STAGES];
    uint64_t hits, tracks, vertices, faults;
} worker;

/* A contestant at work. */
typedef struct runner {
    const slc_bench_velo_contestant *contestant;
    const slc_bench_velo_events *events;
    const slc_velo_geometry *geometry;
    slc_run_pipeline_config pipeline;
    worker *workers;
    size_t *held_of_slot;
    size_t first, n_held; /* the batches that are gone through */
    uint64_t passes, next, end;
    double *wall, *stage[SLC_VELO_STAGES]; /* of each repetition, seconds an event */
    slc_bench_velo_row row;
} runner;

typedef struct bench {
    const slc_bench_velo_config *config;
    const slc_bench_velo_events *events;
    runner *runners;
    size_t n_runners;
    double *hertz, *times, seconds;
    bool (*stop)(void *context);
    void *context;
    slc_error *error;
} bench;

/* ---- one turn ---------------------------------------------------------------------------------- */

static slc_status read_next(void *context, uint32_t slot, slc_error *error)
{
    runner *r = context;
    (void)error;
    if (r->next == r->end) {
        return SLC_END;
    }
    r->held_of_slot[slot] = r->first + (size_t)(r->next++ % r->n_held);
    return SLC_OK;
}

static slc_status begin(void *context, uint32_t w, slc_error *error)
{
    runner *r = context;
    slc_velo_chain **chain = &r->workers[w].chain;
    return *chain != NULL ? SLC_OK : slc_velo_chain_open(&r->contestant->config, r->geometry, chain, error);
}

static slc_status run_batch(const runner *r, worker *w, const slc_bench_velo_held *held, slc_error *error)
{
    if (!r->events->raw) {
        w->result.hits = held->hits; /* lent, and only read */
    }
    const slc_status status = r->events->raw
                                  ? slc_velo_chain_reserve(w->chain, &held->batch, &w->result, error)
                                  : slc_velo_chain_reserve_hits(w->chain, &w->result, error);
    if (status != SLC_OK) {
        return status;
    }
    return r->events->raw ? slc_velo_chain_run(w->chain, &held->batch, &w->result, error)
                          : slc_velo_chain_run_hits(w->chain, &w->result, error);
}

static slc_status work(void *context, uint32_t slot, uint32_t index, slc_error *error)
{
    runner *r = context;
    worker *w = &r->workers[index];
    const slc_status status = run_batch(r, w, &r->events->held[r->held_of_slot[slot]], error);
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        w->stage[s] += w->result.seconds[s];
    }
    w->hits += w->result.hits.head.size;
    w->tracks += w->result.tracks.head.size;
    w->vertices += w->result.primaries.head.size;
    w->faults += slc_faults_total(&w->result.faults);
    return status;
}

static slc_status take_none(void *context, uint32_t slot, slc_error *error)
{
    (void)context;
    (void)slot;
    (void)error;
    return SLC_OK;
}

/* Goes `passes` times through the events. *wall and stage[] in seconds of all of it. */
static slc_status turn(runner *r, uint64_t passes, double *wall, double *stage, slc_error *error)
{
    const slc_run_stages stages = {
        .context = r, .read = read_next, .work = work, .write = take_none, .begin = begin};
    const uint32_t n_workers = slc_run_pipeline_workers(&r->pipeline);
    slc_run_pipeline_times times;
    r->next = 0;
    r->end = passes * r->n_held;
    for (uint32_t w = 0; w < n_workers; w++) {
        worker *each = &r->workers[w];
        memset(each->stage, 0, sizeof each->stage);
        each->hits = each->tracks = each->vertices = each->faults = 0;
    }
    const slc_status status = slc_run_pipeline(&r->pipeline, &stages, &times, error);
    if (status != SLC_OK) {
        return status;
    }
    *wall = times.total;
    memset(stage, 0, SLC_VELO_STAGES * sizeof *stage);
    slc_bench_velo_row *row = &r->row;
    row->hits = row->tracks = row->vertices = row->faults = 0;
    for (uint32_t w = 0; w < n_workers; w++) {
        const worker *each = &r->workers[w];
        for (int s = 0; s < SLC_VELO_STAGES; s++) {
            stage[s] += each->stage[s];
        }
        row->hits += each->hits;
        row->tracks += each->tracks;
        row->vertices += each->vertices;
        row->faults += each->faults;
    }
    row->hits /= passes;
    row->tracks /= passes;
    row->vertices /= passes;
    row->faults /= passes;
    return SLC_OK;
}

/* ---- opening and closing ----------------------------------------------------------------------- */

static slc_status open_runner(bench *b, runner *r, const slc_bench_velo_contestant *c)
{
    const slc_bench_velo_events *events = b->events;
    *r = (runner){.contestant = c, .events = events, .geometry = b->config->geometry, .passes = 1};
    r->pipeline = (slc_run_pipeline_config){
        .threads = c->threads, .slots = c->threads > 1 ? 2 * c->threads + 2 : 1, .bind = b->config->bind};
    r->first = c->one_batch ? c->batch : 0;
    r->n_held = c->one_batch ? 1 : events->n_held;
    r->row = (slc_bench_velo_row){.what = c->what,
                                  .name = c->name,
                                  .target = c->config.exec.target,
                                  .threads = c->threads,
                                  .candidates = c->config.track.candidates,
                                  .event = c->batch,
                                  .events = c->one_batch ? slc_bench_velo_held_events(events, c->batch)
                                                         : events->n_events};
    r->workers = calloc(c->threads, sizeof *r->workers);
    r->held_of_slot = calloc(r->pipeline.slots, sizeof *r->held_of_slot);
    double *times = calloc((size_t)b->config->repetitions * (SLC_VELO_STAGES + 1), sizeof *times);
    r->wall = times;
    for (size_t s = 0; s < SLC_VELO_STAGES && times != NULL; s++) {
        r->stage[s] = times + (s + 1) * b->config->repetitions;
    }
    return r->workers == NULL || r->held_of_slot == NULL || times == NULL
               ? slc_fail(b->error, SLC_ERR_MEMORY, "no memory to measure with")
               : SLC_OK;
}

static void close_runner(const bench *b, runner *r)
{
    for (uint32_t w = 0; r->workers != NULL && w < r->contestant->threads; w++) {
        slc_velo_chain_close(r->workers[w].chain);
        if (!b->events->raw) {
            memset(&r->workers[w].result.hits, 0, sizeof r->workers[w].result.hits);
        }
        slc_velo_result_clear(&r->workers[w].result);
    }
    free(r->workers);
    free(r->held_of_slot);
    free(r->wall);
}

/* ---- all in turns ------------------------------------------------------------------------------ */

static bool stopped(const bench *b)
{
    return b->stop != NULL && b->stop(b->context);
}

/* A turn that allocates, and one that tells how many passes make the wanted time. With threads that is a
 * multiple of their number, so that they end together. */
static slc_status warm_up(const bench *b, runner *r)
{
    double wall, stage[SLC_VELO_STAGES];
    slc_status status = turn(r, r->contestant->threads, &wall, stage, b->error);
    status = status == SLC_OK ? turn(r, 1, &wall, stage, b->error) : status;
    const double passes = wall > 0 ? b->seconds * r->contestant->threads / wall : 1;
    r->passes = passes > 1 ? (uint64_t)passes : 1;
    r->passes = (r->passes + r->contestant->threads - 1) / r->contestant->threads * r->contestant->threads;
    return status;
}

static slc_status measure(bench *b)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < b->n_runners && status == SLC_OK; i++) {
        status = stopped(b) ? SLC_END : warm_up(b, &b->runners[i]);
    }
    for (uint32_t k = 0; k < b->config->repetitions && status == SLC_OK; k++) {
        for (size_t i = 0; i < b->n_runners && status == SLC_OK; i++) {
            runner *r = &b->runners[i];
            double stage[SLC_VELO_STAGES];
            const double per_event = 1 / ((double)r->passes * (double)r->row.events);
            status = stopped(b) ? SLC_END : turn(r, r->passes, &r->wall[k], stage, b->error);
            r->wall[k] *= per_event;
            for (size_t s = 0; s < SLC_VELO_STAGES && status == SLC_OK; s++) {
                r->stage[s][k] = stage[s] * per_event;
            }
        }
        b->hertz[k] = slc_bench_hertz();
    }
    return status;
}

/* Goes once through the events and compares with their truth. */
static slc_status check(const bench *b, runner *r)
{
    slc_velo_check_config config;
    slc_velo_check checked;
    slc_velo_matches matches = {.head = {.size = 0}};
    slc_velo_check_config_default(&config);
    slc_velo_check_init(&checked, &config);
    slc_status status = SLC_OK;
    for (size_t i = 0; i < b->events->n_held && status == SLC_OK; i++) {
        const slc_bench_velo_held *held = &b->events->held[i];
        status = run_batch(r, &r->workers[0], held, b->error);
        if (status == SLC_OK) {
            status = slc_velo_check_run(&checked, &r->workers[0].result, &held->truth, &matches, NULL);
            status = status == SLC_OK
                         ? SLC_OK
                         : slc_fail(b->error, status, "comparison with truth: %s", slc_status_name(status));
        }
    }
    r->row.checked = status == SLC_OK;
    r->row.checked_tracks = checked.tracks;
    r->row.ghosts = checked.ghosts;
    for (int c = 0; c < SLC_VELO_CATEGORIES; c++) {
        r->row.counts[c] = checked.counts[c][1];
    }
    slc_velo_check_clear(&checked);
    slc_columns_clear(&slc_velo_matches_schema, &matches);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void fill_row(const bench *b, runner *r)
{
    static const int last_stage[SLC_BENCH_VELO_UNTILS] = {SLC_VELO_STAGE_TRACK, SLC_VELO_STAGE_FIT,
                                                          SLC_VELO_STAGE_VERTEX};
    const size_t n = b->config->repetitions;
    for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
        for (size_t k = 0; k < n; k++) {
            double until = 0, all = 0;
            for (int s = 0; s < SLC_VELO_STAGES; s++) {
                all += r->stage[s][k];
                until += s <= last_stage[u] ? r->stage[s][k] : 0;
            }
            b->times[k] = all > 0 ? r->wall[k] * until / all : r->wall[k];
        }
        r->row.until[u] = slc_bench_time_of(b->times, n);
    }
    for (int s = 0; s < SLC_VELO_STAGES; s++) { /* sorted only now */
        r->row.stage[s] = slc_bench_time_of(r->stage[s], n);
    }
}

static slc_status run_set(bench *b, const slc_bench_velo_contestant *list,
                          bool (*visit)(void *context, const slc_bench_velo_row *row))
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < b->n_runners && status == SLC_OK; i++) {
        status = open_runner(b, &b->runners[i], &list[i]);
    }
    status = status == SLC_OK ? measure(b) : status;
    for (size_t i = 0; i < b->n_runners && status == SLC_OK; i++) {
        if (list[i].check && b->events->has_truth) {
            status = stopped(b) ? SLC_END : check(b, &b->runners[i]);
        }
    }
    const double hertz = status == SLC_OK ? slc_bench_time_of(b->hertz, b->config->repetitions).median : 0;
    for (size_t i = 0; i < b->n_runners && status == SLC_OK; i++) {
        runner *r = &b->runners[i];
        fill_row(b, r);
        r->row.hertz = hertz;
        status = visit(b->context, &r->row) ? SLC_OK : SLC_END;
    }
    for (size_t i = 0; i < b->n_runners; i++) {
        if (b->runners[i].contestant != NULL) {
            close_runner(b, &b->runners[i]);
        }
    }
    return status;
}

/* One set of contestants. */
static slc_status one_set(bench *b, slc_bench_velo_what what, size_t batch,
                          bool (*visit)(void *context, const slc_bench_velo_row *row))
{
    slc_bench_velo_contestant *list = NULL;
    slc_status status = slc_bench_velo_contestants(b->config, what, batch, &list, &b->n_runners, b->error);
    if (status != SLC_OK) {
        return status;
    }
    b->runners = calloc(b->n_runners, sizeof *b->runners);
    status = b->runners != NULL ? run_set(b, list, visit)
                                : slc_fail(b->error, SLC_ERR_MEMORY, "no memory to measure with");
    free(b->runners);
    free(list);
    return status;
}

slc_status slc_bench_velo_bench(const slc_bench_velo_config *config, slc_bench_velo_what what,
                                const slc_bench_velo_events *events,
                                bool (*visit)(void *context, const slc_bench_velo_row *row),
                                bool (*stop)(void *context), void *context, slc_error *error)
{
    /* Of events by themselves there are many: a shorter time has to do. */
    const bool scaling = what == SLC_BENCH_VELO_SCALING;
    bench b = {.config = config,
               .events = events,
               .seconds = scaling ? config->seconds / 10 : config->seconds,
               .stop = stop,
               .context = context,
               .error = error};
    b.hertz = calloc((size_t)config->repetitions + 1, sizeof *b.hertz);
    b.times = calloc((size_t)config->repetitions + 1, sizeof *b.times);
    slc_status status = b.hertz != NULL && b.times != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    for (size_t batch = 0; batch < (scaling ? events->n_held : 1) && status == SLC_OK; batch++) {
        status = one_set(&b, what, batch, visit);
    }
    free(b.hertz);
    free(b.times);
    return status;
}
