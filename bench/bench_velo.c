/* SPDX-License-Identifier: Apache-2.0
 *
 * Who takes part in which measurement of the VELO, and how one goes through the events: each contestant has a
 * team of threads with chains of their own, which take the batches in memory as they come. One process, so
 * that nothing but the configuration differs; the user pins it.
 */
#include "bench/bench_velo_part.h"

#include "base/team.h"
#include "run/run_bind.h"

#include <stdlib.h>
#include <string.h>

const char *slc_bench_velo_what_name(size_t what)
{
    static const char *const names[SLC_BENCH_VELO_WHATS] = {"threads", "targets", "candidates", "algorithms",
                                                            "stages",  "scaling", "memory",     "reading"};
    return what < SLC_BENCH_VELO_WHATS ? names[what] : NULL;
}

/* ---- ways to search tracks --------------------------------------------------------------------- */

static const struct way {
    const char *name;
    slc_velo_track_algorithm algorithm;
    slc_velo_track_strategy strategy;
    bool single_pass;
} ways[] = {
    {"default", SLC_VELO_TRACK_LOCAL, SLC_VELO_TRACK_STANDARD, false},
    {"fast", SLC_VELO_TRACK_LOCAL, SLC_VELO_TRACK_STANDARD, true},
    {"pair-fast", SLC_VELO_TRACK_PAIR_FAST, SLC_VELO_TRACK_STANDARD, false},
    {"pair-best", SLC_VELO_TRACK_PAIR_BEST, SLC_VELO_TRACK_STANDARD, false},
    {"triplet", SLC_VELO_TRACK_TRIPLET, SLC_VELO_TRACK_STANDARD, false},
    {"split", SLC_VELO_TRACK_LOCAL, SLC_VELO_TRACK_SPLIT, false},
    {"full", SLC_VELO_TRACK_LOCAL, SLC_VELO_TRACK_FULL, false},
};
/* From the front: the first two are ours, the first five search with the same layers. */
enum { OURS = 2, STANDARD = 5, ALL = sizeof ways / sizeof *ways };

/* ---- a contestant ------------------------------------------------------------------------------ */

enum { SERIES = SLC_BENCH_VELO_UNTILS + SLC_VELO_STAGES };

/* What one thread has, and what came of its turn. */
typedef struct worker {
    slc_velo_chain *chain;
    slc_velo_result result;
    double stage[SLC_VELO_STAGES];
    uint64_t hits, tracks, vertices, faults;
} worker;

typedef struct runner {
    const slc_bench_velo_config *bench;
    const slc_bench_velo_events *events;
    slc_velo_config config;
    size_t first, n_held; /* the batches that are gone through */
    uint64_t passes;
    slc_team *team;
    slc_run_places *places;
    worker *workers;
    bool check; /* with truth */
    slc_bench_velo_row row;
} runner;

static slc_status run_batch(const runner *r, worker *w, const slc_bench_velo_held *held, slc_error *error)
{
    slc_status status = SLC_OK;
    if (w->chain == NULL) {
        status = slc_velo_chain_open(&r->config, r->bench->geometry, &w->chain, error);
    }
    if (status == SLC_OK && !r->events->raw) {
        w->result.hits = held->hits; /* lent, and only read */
        status = slc_velo_chain_reserve_hits(w->chain, &w->result, error);
        return status == SLC_OK ? slc_velo_chain_run_hits(w->chain, &w->result, error) : status;
    }
    status = status == SLC_OK ? slc_velo_chain_reserve(w->chain, &held->batch, &w->result, error) : status;
    return status == SLC_OK ? slc_velo_chain_run(w->chain, &held->batch, &w->result, error) : status;
}

static slc_status work(void *context, uint32_t thread, uint64_t number, slc_error *error)
{
    runner *r = context;
    worker *w = &r->workers[thread];
    const slc_status status = run_batch(r, w, &r->events->held[r->first + (size_t)(number % r->n_held)],
                                        error);
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        w->stage[s] += w->result.seconds[s];
    }
    w->hits += w->result.hits.head.size;
    w->tracks += w->result.tracks.head.size;
    w->vertices += w->result.primaries.head.size;
    w->faults += slc_faults_total(&w->result.faults);
    return status;
}

/* Goes `passes` times through the events. *wall and stage[] in seconds of all of it. */
static slc_status turn(runner *r, uint64_t passes, double *wall, double *stage, slc_error *error)
{
    slc_bench_velo_row *row = &r->row;
    for (uint32_t i = 0; i < row->threads; i++) {
        worker *w = &r->workers[i];
        memset(w->stage, 0, sizeof w->stage);
        w->hits = w->tracks = w->vertices = w->faults = 0;
    }
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(r->team, r->places, row->threads, passes * r->n_held, work, r,
                                              error);
    *wall = slc_clock_seconds() - began;
    memset(stage, 0, SLC_VELO_STAGES * sizeof *stage);
    row->hits = row->tracks = row->vertices = row->faults = 0;
    for (uint32_t i = 0; i < row->threads; i++) {
        const worker *w = &r->workers[i];
        for (int s = 0; s < SLC_VELO_STAGES; s++) {
            stage[s] += w->stage[s];
        }
        row->hits += w->hits;
        row->tracks += w->tracks;
        row->vertices += w->vertices;
        row->faults += w->faults;
    }
    row->hits /= passes;
    row->tracks /= passes;
    row->vertices /= passes;
    row->faults /= passes;
    return status;
}

/* A turn that allocates, and one that tells how many passes make the wanted time. With threads that is a
 * multiple of their number, so that they end together. */
static slc_status prepare(void *self, slc_error *error)
{
    runner *r = self;
    const uint64_t threads = r->row.threads;
    double wall = 0, stage[SLC_VELO_STAGES];
    /* Of events by themselves there are many: a shorter time has to do. */
    const double seconds = r->row.what == SLC_BENCH_VELO_SCALING ? r->bench->seconds / 10 : r->bench->seconds;
    r->workers = calloc(threads, sizeof *r->workers);
    if (r->workers == NULL || slc_team_open(r->row.threads, &r->team) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    slc_status status = slc_run_places_open(r->bench->bind, &r->places, error);
    status = status == SLC_OK ? turn(r, threads, &wall, stage, error) : status;
    status = status == SLC_OK ? turn(r, 1, &wall, stage, error) : status;
    const double passes = wall > 0 ? seconds * (double)threads / wall : 1;
    r->passes = ((passes > 1 ? (uint64_t)passes : 1) + threads - 1) / threads * threads;
    return status;
}

static void clear(void *self)
{
    runner *r = self;
    for (uint32_t i = 0; r->workers != NULL && i < r->row.threads; i++) {
        slc_velo_chain_close(r->workers[i].chain);
        if (!r->events->raw) {
            memset(&r->workers[i].result.hits, 0, sizeof r->workers[i].result.hits);
        }
        slc_velo_result_clear(&r->workers[i].result);
    }
    slc_team_close(r->team);
    slc_run_places_close(r->places);
    free(r->workers);
}

/* Seconds an event: to tracks, fitted tracks and vertices, and of each stage. */
static slc_status run(void *self, double *seconds, slc_error *error)
{
    static const int stages[SLC_BENCH_VELO_UNTILS] = {SLC_VELO_STAGE_TRACK + 1, SLC_VELO_STAGE_FIT + 1,
                                                      SLC_VELO_STAGE_VERTEX + 1};
    runner *r = self;
    double wall, stage[SLC_VELO_STAGES], all = 0;
    const slc_status status = turn(r, r->passes, &wall, stage, error);
    const double per_event = 1 / ((double)r->passes * (double)r->row.events);
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        seconds[SLC_BENCH_VELO_UNTILS + s] = stage[s] * per_event;
        all += stage[s];
    }
    for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
        double until = 0;
        for (int s = 0; s < stages[u]; s++) {
            until += stage[s];
        }
        seconds[u] = per_event * (all > 0 ? wall * until / all : wall);
    }
    return status;
}

/* Goes once through the events and compares with their truth. */
static slc_status verify(void *self, slc_error *error)
{
    runner *r = self;
    slc_velo_check_config config;
    slc_velo_check checked;
    slc_velo_matches matches = {.head = {.size = 0}};
    slc_status status = SLC_OK;
    if (!r->check || !r->events->has_truth) {
        return SLC_OK;
    }
    slc_velo_check_config_default(&config);
    slc_velo_check_init(&checked, &config);
    worker *w = &r->workers[0];
    for (size_t i = 0; i < r->events->n_held && status == SLC_OK; i++) {
        status = run_batch(r, w, &r->events->held[i], error);
        status = status == SLC_OK
                     ? slc_velo_check_run(&checked, &w->result, &r->events->held[i].truth, &matches, error)
                     : status;
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

/* ---- who takes part ---------------------------------------------------------------------------- */

typedef struct bench {
    slc_bench_velo_rows rows;
    slc_bench_velo_events events, distinct;
    const slc_bench_watch *watch;
    slc_error *error;
    slc_bench_velo_what what;
    slc_bench_contestant *contestants; /* the second half on distinct events, if there are any */
    runner *runners;
    size_t n;
} bench;

static runner *add(bench *b, size_t way, slc_simd_target target, uint32_t threads)
{
    runner *r = &b->runners[b->n++];
    *r = (runner){.bench = b->rows.config, .events = &b->events, .n_held = b->events.n_held};
    slc_velo_config_default(&r->config);
    if (ways[way].single_pass) {
        (void)slc_velo_config_preset(&r->config, "fast", NULL);
    }
    r->config.track.algorithm = ways[way].algorithm;
    r->config.track.strategy = ways[way].strategy;
    r->config.exec.target = target;
    r->row = (slc_bench_velo_row){.what = b->what,
                                  .name = ways[way].name,
                                  .ours = ways[way].algorithm == SLC_VELO_TRACK_LOCAL,
                                  .target = target,
                                  .threads = threads,
                                  .events = b->events.n_events};
    return r;
}

/* On one thread, and on each number of threads. */
static void list_ways(bench *b, size_t n, bool check)
{
    for (size_t i = 0; i < n; i++) {
        add(b, i, b->rows.config->target, 1)->check = check;
    }
}

static void list_threads(bench *b, bool targets)
{
    const slc_bench_velo_config *config = b->rows.config;
    for (size_t t = 0; t < config->n_threads; t++) {
        for (size_t i = 0; i < STANDARD && !targets; i++) {
            (void)add(b, i, config->target, config->threads[t]);
        }
        for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS && targets; target++) {
            if (slc_simd_runs((slc_simd_target)target)) {
                (void)add(b, 0, (slc_simd_target)target, config->threads[t]);
            }
        }
    }
}

static void list(bench *b, size_t event)
{
    const slc_bench_velo_config *config = b->rows.config;
    b->n = 0;
    switch (b->what) {
    case SLC_BENCH_VELO_THREADS:
    case SLC_BENCH_VELO_TARGETS:
        list_threads(b, b->what == SLC_BENCH_VELO_TARGETS);
        break;
    case SLC_BENCH_VELO_CANDIDATES:
        for (size_t i = 0; i < OURS * config->n_candidates; i++) {
            runner *r = add(b, i / config->n_candidates, config->target, 1);
            r->config.track.candidates = config->candidates[i % config->n_candidates];
            r->check = true;
        }
        break;
    case SLC_BENCH_VELO_ALGORITHMS:
        list_ways(b, ALL, true);
        break;
    case SLC_BENCH_VELO_STAGES:
        list_ways(b, OURS, false);
        break;
    default: /* scaling: of one event */
        list_ways(b, STANDARD, false);
        break;
    }
    for (size_t i = 0; i < b->n; i++) {
        slc_bench_velo_row *row = &b->runners[i].row;
        row->candidates = b->runners[i].config.track.candidates;
        if (b->what == SLC_BENCH_VELO_SCALING) {
            b->runners[i].first = row->event = event;
            b->runners[i].n_held = row->events = 1;
        }
    }
}

static bool has_distinct(slc_bench_velo_what what)
{
    return what == SLC_BENCH_VELO_THREADS || what == SLC_BENCH_VELO_STAGES;
}

/* The same over distinct events, after the others. */
static void list_distinct(bench *b)
{
    const size_t n = has_distinct(b->what) && b->distinct.n_events > 0 ? b->n : 0;
    for (size_t i = 0; i < n; i++) {
        runner *r = &b->runners[b->n++];
        *r = (runner){.bench = b->rows.config,
                      .events = &b->distinct,
                      .n_held = b->distinct.n_held,
                      .config = b->runners[i].config,
                      .row = b->runners[i].row};
        r->row.events = b->distinct.n_events;
    }
}

/* ---- running ----------------------------------------------------------------------------------- */

static slc_status keep_row(slc_bench_velo_rows *rows, const slc_bench_velo_row *row, slc_error *error)
{
    if (rows->n == rows->capacity) {
        const size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 256;
        slc_bench_velo_row *larger = realloc(rows->row, capacity * sizeof *larger);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the measurements");
        }
        rows->row = larger;
        rows->capacity = capacity;
    }
    rows->row[rows->n++] = *row;
    return SLC_OK;
}

static slc_status keep_rows(bench *b, size_t n)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        slc_bench_velo_row *row = &b->runners[i].row;
        const slc_bench_contestant *c = &b->contestants[i], *distinct = b->n > n ? c + n : NULL;
        memcpy(row->until, c->time, sizeof row->until);
        memcpy(row->stage, c->time + SLC_BENCH_VELO_UNTILS, sizeof row->stage);
        row->hertz = c->hertz;
        if (distinct != NULL) {
            row->distinct = b->runners[n + i].row.events;
            row->distinct_until = distinct->time[SLC_BENCH_VELO_VERTICES];
            memcpy(row->distinct_stage, distinct->time + SLC_BENCH_VELO_UNTILS, sizeof row->stage);
        }
        status = keep_row(&b->rows, row, b->error);
        if (status == SLC_OK && !slc_bench_goes_on(b->watch, b->rows.n, 0)) {
            status = SLC_END;
        }
    }
    return status;
}

/* Those of one `what` take turns; of scaling, those of one event. */
static slc_status one_set(bench *b, size_t event)
{
    const slc_bench_plan plan = {.repetitions = b->rows.config->repetitions, .watch = b->watch};
    list(b, event);
    const size_t n = b->n;
    list_distinct(b);
    for (size_t i = 0; i < b->n; i++) {
        b->contestants[i] = (slc_bench_contestant){.self = &b->runners[i],
                                                   .prepare = prepare,
                                                   .run = run,
                                                   .verify = verify,
                                                   .clear = clear,
                                                   .n_series = SERIES};
    }
    const slc_status status = slc_bench_measure(&plan, b->contestants, b->n, b->error);
    return status == SLC_OK ? keep_rows(b, n) : status;
}

static slc_status measure(bench *b, slc_bench_velo_what what)
{
    const slc_bench_velo_config *config = b->rows.config;
    const bool alone = what == SLC_BENCH_VELO_SCALING;
    slc_status status = SLC_OK;
    b->what = what;
    if (b->events.n_held == 0 || alone) {
        status = slc_bench_velo_events_read(&b->events, config, alone ? 1 : config->batch, b->error);
    }
    if (status == SLC_OK && has_distinct(what) && b->distinct.n_held == 0 &&
        config->distinct > b->events.n_events) {
        status = slc_bench_velo_events_vary(&b->distinct, &b->events, config->distinct, config->batch,
                                            b->error);
    }
    for (size_t event = 0; event < (alone ? b->events.n_held : 1) && status == SLC_OK; event++) {
        status = one_set(b, event);
    }
    return status;
}

static slc_status check(const slc_bench_velo_config *config, slc_error *error)
{
    if (config->repetitions == 0 || config->n_candidates == 0 || config->n_paths == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    for (size_t i = 0; i < config->n_threads; i++) {
        if (config->threads[i] == 0 || config->threads[i] > 1024) {
            return slc_fail(error, SLC_ERR_USAGE, "%u threads, must be from 1 to 1024", config->threads[i]);
        }
    }
    for (size_t i = 0; i < config->n_candidates; i++) {
        if (config->candidates[i] == 0 || config->candidates[i] > 10) {
            return slc_fail(error, SLC_ERR_USAGE, "%u candidates, must be from 1 to 10",
                            config->candidates[i]);
        }
    }
    return SLC_OK;
}

/* Memory and reading are printed after the other tables, and stand in neither CSV nor SVG. */
static slc_status all(bench *b, slc_bench_report *report)
{
    const slc_bench_velo_config *config = b->rows.config;
    slc_status status = SLC_OK;
    for (int what = 0; what < SLC_BENCH_VELO_MEMORY && status == SLC_OK; what++) {
        status = config->wanted[what] ? measure(b, (slc_bench_velo_what)what) : SLC_OK;
    }
    if (status == SLC_OK) {
        slc_bench_velo_tell(&b->rows, report);
    }
    if (status == SLC_OK && config->wanted[SLC_BENCH_VELO_MEMORY]) {
        if (b->events.n_held == 0) {
            status = slc_bench_velo_events_read(&b->events, config, config->batch, b->error);
        }
        status = status == SLC_OK
                     ? slc_bench_velo_memory(config, &b->events, b->watch, report->table, b->error)
                     : status;
    }
    if (status == SLC_OK && config->wanted[SLC_BENCH_VELO_READING]) {
        status = slc_bench_velo_reading(config, b->watch, report->table, b->error);
    }
    return status;
}

/* 1, 2, 4 … and all of them. */
static size_t up_to_processors(uint32_t *threads)
{
    const uint32_t most = slc_team_processors();
    size_t n = 0;
    for (uint32_t k = 1; k < most && n < 32; k *= 2) {
        threads[n++] = k;
    }
    threads[n++] = most;
    return n;
}

slc_status slc_bench_velo(const void *config, const slc_bench_watch *watch, slc_bench_report *report,
                          slc_error *error)
{
    slc_bench_velo_config own = *(const slc_bench_velo_config *)config;
    uint32_t threads[33];
    if (own.n_threads == 0) {
        own.threads = threads;
        own.n_threads = up_to_processors(threads);
    }
    bench b = {.rows = {.config = &own}, .watch = watch, .error = error};
    slc_status status = check(&own, error);
    if (status != SLC_OK || own.device != NULL) {
        return status == SLC_OK ? slc_bench_velo_cuda(&own, watch, report, error) : status;
    }
    const size_t most = 2 * (own.n_threads * (STANDARD + (size_t)SLC_SIMD_TARGETS) + OURS * own.n_candidates +
                             ALL);
    b.contestants = calloc(most, sizeof *b.contestants);
    b.runners = calloc(most, sizeof *b.runners);
    status = b.contestants != NULL && b.runners != NULL
                 ? all(&b, report)
                 : slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    slc_bench_velo_events_clear(&b.events);
    slc_bench_velo_events_clear(&b.distinct);
    free(b.contestants);
    free(b.runners);
    free(b.rows.row);
    return status;
}
