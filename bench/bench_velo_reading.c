/* SPDX-License-Identifier: Apache-2.0
 *
 * What reading costs beside reconstruction: the same events from files, through the flow, and in memory, for
 * numbers of workers and for one core that does everything; and how fast one thread reads that does nothing
 * else. Files should be in the page cache, and go through once before anything is measured.
 */
#include "bench/bench_velo_part.h"

#include "base/team.h"
#include "run/run_bind.h"
#include <sluice/run_flow.h>

#include <inttypes.h>
#include <stdlib.h>

enum { BATCH = 32 /* as `sluice velo` */ };

typedef enum way { IN_MEMORY = 0, FROM_FILES, ON_ONE_CORE, READ_ALONE } way;

/* One that is measured; what it takes is seconds an event. */
typedef struct reader {
    const slc_bench_velo_config *bench;
    const slc_bench_velo_events *events;
    way way;
    uint32_t threads;
    /* in memory */
    uint64_t passes;
    slc_team *team;
    slc_run_places *places;
    slc_velo_chain **chains;
    slc_velo_result *results;
    /* from files: so many of them, in turn the bench's */
    const char **paths;
    uint32_t n_paths;
    double *marks; /* when the events of a batch were done, and how many */
    size_t n_marks, marks_capacity;
    uint64_t bytes; /* read alone: of an event */
} reader;

static void chain_config(const reader *r, slc_velo_config *config)
{
    slc_velo_config_default(config);
    config->exec.target = r->bench->target;
}

/* ---- in memory --------------------------------------------------------------------------------- */

static slc_status work(void *context, uint32_t thread, uint64_t number, slc_error *error)
{
    reader *r = context;
    slc_velo_config config;
    slc_velo_result *result = &r->results[thread];
    const slc_batch *batch = &r->events->held[number % r->events->n_held].batch;
    slc_status status = SLC_OK;
    if (r->chains[thread] == NULL) {
        chain_config(r, &config);
        status = slc_velo_chain_open(&config, r->bench->geometry, &r->chains[thread], error);
    }
    status = status == SLC_OK ? slc_velo_chain_reserve(r->chains[thread], batch, result, error) : status;
    return status == SLC_OK ? slc_velo_chain_run(r->chains[thread], batch, result, error) : status;
}

static slc_status pass_memory(reader *r, uint64_t passes, double *seconds, slc_error *error)
{
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(r->team, r->places, r->threads, passes * r->events->n_held,
                                              work, r, error);
    *seconds = (slc_clock_seconds() - began) / (double)(passes * r->events->n_events);
    return status;
}

static slc_status prepare_memory(reader *r, slc_error *error)
{
    double seconds = 0;
    r->chains = calloc(r->threads, sizeof *r->chains);
    r->results = calloc(r->threads, sizeof *r->results);
    if (r->chains == NULL || r->results == NULL || slc_team_open(r->threads, &r->team) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    slc_status status = slc_run_places_open(r->bench->bind, &r->places, error);
    status = status == SLC_OK ? pass_memory(r, 1, &seconds, error) : status;
    status = status == SLC_OK ? pass_memory(r, 1, &seconds, error) : status;
    const double passes = r->bench->seconds / (seconds * (double)r->events->n_events);
    r->passes = passes > 1 ? (uint64_t)passes : 1;
    return status;
}

/* ---- from files -------------------------------------------------------------------------------- */

static slc_status keep_mark(reader *r, uint32_t events, slc_error *error)
{
    if (r->n_marks == r->marks_capacity) {
        const size_t capacity = 2 * r->marks_capacity + 1024;
        double *larger = realloc(r->marks, 2 * capacity * sizeof *larger);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
        }
        r->marks = larger;
        r->marks_capacity = capacity;
    }
    r->marks[2 * r->n_marks] = slc_clock_seconds();
    r->marks[2 * r->n_marks + 1] = events;
    r->n_marks++;
    return SLC_OK;
}

/* An event in the middle 80 % of the batches: the first ones take their memory, and wait for the first. */
static double middle(const reader *r)
{
    const size_t cut = r->n_marks / 10, last = r->n_marks - 1 - cut;
    double events = 0;
    for (size_t i = cut + 1; i <= last; i++) {
        events += r->marks[2 * i + 1];
    }
    return events > 0 ? (r->marks[2 * last] - r->marks[2 * cut]) / events : 0;
}

static slc_status pass_files(reader *r, double *seconds, slc_error *error)
{
    slc_velo_config velo;
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    chain_config(r, &velo);
    slc_flow_config_default(&config);
    const slc_flow_velo_setup setup = {.config = &velo, .geometry = r->bench->geometry};
    config.paths = r->paths;
    config.n_paths = r->n_paths;
    config.batch_events = BATCH;
    config.exec.threads = r->threads;
    config.exec.bind = r->bench->bind;
    config.n_slots = r->way == ON_ONE_CORE ? 1 : 0;
    r->n_marks = 0;
    slc_status status = slc_flow_open(&config, &slc_flow_velo, &setup, &flow, error);
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, error)) == SLC_OK) {
        status = keep_mark(r, item->batch.n_events, error);
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    if (status != SLC_END) {
        return status;
    }
    if (error->text[0] != '\0') { /* another file than was meant */
        return slc_fail(error, SLC_ERR_FORMAT, "%.400s", error->text);
    }
    *seconds = middle(r);
    return SLC_OK;
}

/* So often that it takes the time that was asked for, and that every batch in flight is used ten times. */
static slc_status prepare_files(reader *r, slc_error *error)
{
    const size_t n = r->bench->n_paths;
    const uint64_t batches = 10 * (2 * (uint64_t)r->threads + 2) + 20;
    double seconds = 0;
    r->paths = calloc(n, sizeof *r->paths);
    if (r->paths == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    for (size_t i = 0; i < n; i++) {
        r->paths[i] = r->bench->paths[i];
    }
    r->n_paths = (uint32_t)n;
    const double began = slc_clock_seconds();
    const slc_status status = pass_files(r, &seconds, error);
    if (status != SLC_OK || r->n_marks == 0) {
        return status;
    }
    const double wanted = r->bench->seconds / (slc_clock_seconds() - began);
    uint64_t passes = (batches + r->n_marks - 1) / r->n_marks;
    passes = wanted > (double)passes ? (uint64_t)wanted : passes;
    passes = passes < 10000 ? passes : 10000;
    const char **more = realloc(r->paths, passes * n * sizeof *more);
    if (more == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    r->paths = more;
    for (size_t i = n; i < passes * n; i++) {
        more[i] = more[i % n];
    }
    r->n_paths = (uint32_t)(passes * n);
    return SLC_OK;
}

/* ---- reading alone ----------------------------------------------------------------------------- */

static slc_status pass_alone(reader *r, double *seconds, slc_error *error)
{
    slc_flow_config config;
    slc_batch batch = {.size = 0};
    slc_io_totals totals = {.events = 0};
    slc_status status = SLC_END;
    uint64_t events = 0;
    slc_flow_config_default(&config);
    const double began = slc_clock_seconds();
    for (size_t i = 0; i < r->bench->n_paths && status == SLC_END; i++) {
        slc_io_source *source = NULL;
        status = slc_io_open(r->bench->paths[i], NULL, &source, error);
        while (status == SLC_OK) {
            status = slc_io_read_batch(source, BATCH, config.batch_bytes, &batch, NULL, error);
        }
        if (status == SLC_END) {
            slc_io_totals_of(source, &totals);
            events += totals.events;
            r->bytes = totals.bytes / (totals.events > 0 ? totals.events : 1);
        }
        slc_io_close(source);
    }
    *seconds = (slc_clock_seconds() - began) / (double)(events > 0 ? events : 1);
    slc_batch_clear(&batch);
    return status == SLC_END ? SLC_OK : status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static slc_status prepare(void *self, slc_error *error)
{
    reader *r = self;
    double seconds;
    return r->way == IN_MEMORY    ? prepare_memory(r, error)
           : r->way == READ_ALONE ? pass_alone(r, &seconds, error)
                                  : prepare_files(r, error);
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    reader *r = self;
    return r->way == IN_MEMORY    ? pass_memory(r, r->passes, seconds, error)
           : r->way == READ_ALONE ? pass_alone(r, seconds, error)
                                  : pass_files(r, seconds, error);
}

static void clear(void *self)
{
    reader *r = self;
    for (uint32_t i = 0; r->chains != NULL && r->results != NULL && i < r->threads; i++) {
        slc_velo_chain_close(r->chains[i]);
        slc_velo_result_clear(&r->results[i]);
    }
    slc_team_close(r->team);
    slc_run_places_close(r->places);
    free(r->chains);
    free(r->results);
    free(r->paths);
    free(r->marks);
}

static void print(FILE *out, const slc_bench_velo_events *events, const reader *r,
                  const slc_bench_contestant *c, size_t n)
{
    double memory = 0;
    (void)fprintf(out,
                  "\nreading, events/s to vertices; in memory are %" PRIu64 " events; medians\n"
                  "%14s %12s %12s %8s\n",
                  events->n_events, "workers", "in memory", "from files", "of it");
    for (size_t i = 0; i < n; i++) {
        const double rate = c[i].time[0].median > 0 ? 1 / c[i].time[0].median : 0;
        if (r[i].way == IN_MEMORY) {
            memory = rate;
        } else if (r[i].way == READ_ALONE) {
            (void)fprintf(out, "one thread that only reads (slc_io_read_batch): %.0f events/s, %.2f GB/s\n",
                          rate, 1e-9 * rate * (double)r[i].bytes);
        } else {
            char name[32];
            (void)snprintf(name, sizeof name, r[i].way == ON_ONE_CORE ? "1, no reader" : "%u", r[i].threads);
            (void)fprintf(out, "%14s %12.0f %12.0f %8.3f\n", name, memory, rate,
                          memory > 0 ? rate / memory : 0);
        }
    }
}

slc_status slc_bench_velo_reading(const slc_bench_velo_config *config, const slc_bench_watch *watch,
                                  FILE *out, slc_error *error)
{
    const slc_bench_plan plan = {.repetitions = config->repetitions, .watch = watch};
    slc_bench_velo_events events = {.raw = true};
    slc_status status = slc_bench_velo_events_read(&events, config, BATCH, error);
    if (status == SLC_OK && !events.raw) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: reading is measured of raw events, not of hits",
                          config->paths[0]);
    }
    const size_t most = 3 * config->n_threads + 1;
    reader *readers = calloc(most, sizeof *readers);
    slc_bench_contestant *contestants = calloc(most, sizeof *contestants);
    size_t n = 0;
    if (status == SLC_OK && (readers == NULL || contestants == NULL)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    for (size_t t = 0; t < config->n_threads && status == SLC_OK && readers != NULL; t++) {
        for (way w = IN_MEMORY; w <= (config->threads[t] == 1 ? ON_ONE_CORE : FROM_FILES); w++) {
            readers[n++] = (reader){.way = w, .threads = config->threads[t]};
        }
    }
    if (status == SLC_OK && readers != NULL && contestants != NULL) {
        readers[n++] = (reader){.way = READ_ALONE, .threads = 1};
        for (size_t i = 0; i < n; i++) {
            readers[i].bench = config;
            readers[i].events = &events;
            contestants[i] = (slc_bench_contestant){
                .self = &readers[i], .prepare = prepare, .run = run, .clear = clear, .n_series = 1};
        }
        status = slc_bench_measure(&plan, contestants, n, error);
    }
    if (status == SLC_OK && readers != NULL && contestants != NULL) {
        print(out, &events, readers, contestants, n);
    }
    free(readers);
    free(contestants);
    slc_bench_velo_events_clear(&events);
    return status;
}
