/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings and numbers of threads take turns; each has a team of threads with chains of their own, which take
 * the batches in memory as they come. The user pins the process.
 */
#include "bench/bench_hlt1.h"
#include "bench/bench_velo_part.h"

#include "base/team.h"
#include "run/run_bind.h"
#include <sluice/sim_hlt1.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct settings {
    const char *name, *preset;
    bool fast; /* the VELO's single pass */
} all_settings[SLC_BENCH_HLT1_SETTINGS] = {
    {"standard", "standard", false},
    {"fast", "standard", true},
    {"loose", "loose", false},
    {"full", "full", false},
};

const char *slc_bench_hlt1_settings_name(size_t settings)
{
    return settings < SLC_BENCH_HLT1_SETTINGS ? all_settings[settings].name : NULL;
}

/* ---- a contestant ------------------------------------------------------------------------------ */

/* Seconds an event: to long tracks and to the end, of wall time; then of each stage, of a thread's time. */
enum { TO_LONG, TO_END, STAGES, SERIES = STAGES + SLC_HLT1_STAGES };
_Static_assert((int)SERIES <= (int)SLC_BENCH_SERIES, "more series than the harness takes");

typedef struct worker {
    slc_hlt1_chain *chain;
    slc_hlt1_result result;
    double stage[SLC_HLT1_STAGES], vertices;
} worker;

typedef struct counts {
    uint64_t velo, upstream, long_tracks, pairs, faults, checksum;
} counts;

typedef struct runner {
    const slc_bench_hlt1_config *bench;
    const slc_bench_velo_events *events;
    slc_velo_config velo;
    slc_hlt1_config config;
    const char *name;
    uint32_t threads;
    uint64_t passes;
    slc_team *team;
    slc_run_places *places;
    worker *workers;
    counts found; /* in the events, once */
} runner;

static slc_status run_batch(const runner *r, worker *w, const slc_batch *batch, slc_error *error)
{
    slc_status status = SLC_OK;
    if (w->chain == NULL) {
        status = slc_hlt1_chain_open(&r->config, r->bench->geometry, &w->chain, error);
    }
    status = status == SLC_OK ? slc_hlt1_chain_reserve(w->chain, batch, &w->result, error) : status;
    return status == SLC_OK ? slc_hlt1_chain_run(w->chain, batch, &w->result, error) : status;
}

static slc_status work(void *context, uint32_t thread, uint64_t number, slc_error *error)
{
    runner *r = context;
    worker *w = &r->workers[thread];
    const slc_status status = run_batch(r, w, &r->events->held[number % r->events->n_held].batch, error);
    for (int s = 0; s < SLC_HLT1_STAGES; s++) {
        w->stage[s] += w->result.seconds[s];
    }
    w->vertices += w->result.velo.seconds[SLC_VELO_STAGE_VERTEX];
    return status;
}

/* Goes `passes` times through the events. In seconds of all of it: *wall, stage[] and, of the VELO's,
 * *vertices, which long tracks do not need. */
static slc_status turn(runner *r, uint64_t passes, double *wall, double *stage, double *vertices,
                       slc_error *error)
{
    for (uint32_t i = 0; i < r->threads; i++) {
        memset(r->workers[i].stage, 0, sizeof r->workers[i].stage);
        r->workers[i].vertices = 0;
    }
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(r->team, r->places, r->threads, passes * r->events->n_held,
                                              work, r, error);
    *wall = slc_clock_seconds() - began;
    *vertices = 0;
    memset(stage, 0, SLC_HLT1_STAGES * sizeof *stage);
    for (uint32_t i = 0; i < r->threads; i++) {
        for (int s = 0; s < SLC_HLT1_STAGES; s++) {
            stage[s] += r->workers[i].stage[s];
        }
        *vertices += r->workers[i].vertices;
    }
    return status;
}

/* A turn that allocates, and one that tells how many passes make the wanted time: a multiple of the number of
 * threads, so that they end together. */
static slc_status prepare(void *self, slc_error *error)
{
    runner *r = self;
    const uint64_t threads = r->threads;
    double wall = 0, stage[SLC_HLT1_STAGES], vertices;
    r->workers = calloc(threads, sizeof *r->workers);
    if (r->workers == NULL || slc_team_open(r->threads, &r->team) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    slc_status status = slc_run_places_open(r->bench->bind, &r->places, error);
    status = status == SLC_OK ? turn(r, threads, &wall, stage, &vertices, error) : status;
    status = status == SLC_OK ? turn(r, 1, &wall, stage, &vertices, error) : status;
    const double passes = wall > 0 ? r->bench->seconds * (double)threads / wall : 1;
    r->passes = ((passes > 1 ? (uint64_t)passes : 1) + threads - 1) / threads * threads;
    return status;
}

static void clear(void *self)
{
    runner *r = self;
    for (uint32_t i = 0; r->workers != NULL && i < r->threads; i++) {
        slc_hlt1_chain_close(r->workers[i].chain);
        slc_hlt1_result_clear(&r->workers[i].result);
    }
    slc_team_close(r->team);
    slc_run_places_close(r->places);
    free(r->workers);
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    runner *r = self;
    double wall, stage[SLC_HLT1_STAGES], vertices, all = 0, to_long = 0;
    const slc_status status = turn(r, r->passes, &wall, stage, &vertices, error);
    const double per_event = 1 / ((double)r->passes * (double)r->events->n_events);
    for (int s = 0; s < SLC_HLT1_STAGES; s++) {
        seconds[STAGES + s] = stage[s] * per_event;
        all += stage[s];
        to_long += s <= SLC_HLT1_STAGE_REST ? stage[s] : 0;
    }
    seconds[TO_LONG] = per_event * (all > 0 ? wall * (to_long - vertices) / all : wall);
    seconds[TO_END] = per_event * wall;
    return status;
}

/* What is found, by one worker in the events' order. */
static slc_status verify(void *self, slc_error *error)
{
    runner *r = self;
    worker *w = &r->workers[0];
    slc_status status = SLC_OK;
    uint64_t before = 0;
    for (size_t i = 0; i < r->events->n_held && status == SLC_OK; i++) {
        const slc_hlt1_result *found = &w->result;
        status = run_batch(r, w, &r->events->held[i].batch, error);
        r->found.velo += found->velo.tracks.head.size;
        r->found.upstream += found->upstream.head.size;
        r->found.long_tracks += found->long_tracks.head.size;
        r->found.pairs += found->secondaries.head.size;
        r->found.faults += slc_faults_total(&found->faults) + slc_faults_total(&found->velo.faults);
        r->found.checksum += slc_hlt1_result_checksum(found, before);
        before += r->events->held[i].batch.n_events;
    }
    return status;
}

/* ---- events ------------------------------------------------------------------------------------ */

static slc_status read_events(const slc_bench_hlt1_config *config, slc_bench_velo_events *events,
                              slc_error *error)
{
    const slc_bench_velo_config velo = {
        .paths = config->paths, .n_paths = config->n_paths, .most = config->events};
    const slc_status status = slc_bench_velo_events_read(events, &velo, config->batch, error);
    return status == SLC_OK && !events->raw
               ? slc_fail(error, SLC_ERR_FORMAT, "%s: holds lists of hits, not raw events", config->paths[0])
               : status;
}

static slc_status generate_events(const slc_bench_hlt1_config *config, slc_bench_velo_events *events,
                                  slc_error *error)
{
    slc_sim_hlt1_config made;
    slc_sim_hlt1 *sim;
    slc_sim_hlt1_config_default(&made);
    made.seed = config->seed;
    slc_status status = slc_sim_hlt1_open(&made, config->geometry, &sim, error);
    events->raw = true;
    for (uint64_t e = 0; e < config->events && status == SLC_OK; e++) {
        slc_bench_velo_held *held = slc_bench_velo_events_room(events, config->batch);
        status = held == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the events")
                              : slc_sim_hlt1_event(sim, e, &held->batch, NULL, NULL, error);
        events->n_events += status == SLC_OK;
    }
    slc_sim_hlt1_close(sim);
    return status;
}

static slc_status get_events(const slc_bench_hlt1_config *config, slc_bench_velo_events *events,
                             slc_error *error)
{
    slc_bench_velo_events given = {.n_held = 0};
    if (config->n_paths == 0) {
        return generate_events(config, events, error);
    }
    slc_status status = read_events(config, events, error);
    if (status == SLC_OK && config->distinct > events->n_events) {
        given = *events;
        *events = (slc_bench_velo_events){.n_held = 0};
        status = slc_bench_velo_events_vary(events, &given, config->distinct, config->batch, error);
        slc_bench_velo_events_clear(&given);
    }
    return status;
}

/* ---- what is told ------------------------------------------------------------------------------ */

#define COUNTED(name)                                                                                        \
    {                                                                                                        \
        name, SLC_BENCH_COUNT, SLC_BENCH_CSV, 0                                                              \
    }
#define TIMED(name)                                                                                          \
    {name "_minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},                                                 \
    {                                                                                                        \
        name "_median_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0                                                 \
    }
static const slc_bench_column columns[] = {{"settings", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
                                           {"target", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
                                           COUNTED("threads"),
                                           COUNTED("events"),
                                           COUNTED("velo_tracks"),
                                           COUNTED("upstream_tracks"),
                                           COUNTED("long_tracks"),
                                           COUNTED("pairs"),
                                           COUNTED("faults"),
                                           {"checksum", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
                                           {"core_hz", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
                                           TIMED("to_long"),
                                           TIMED("to_end"),
                                           TIMED("velo"),
                                           TIMED("hits"),
                                           TIMED("upstream"),
                                           TIMED("forward"),
                                           TIMED("rest"),
                                           TIMED("muons"),
                                           TIMED("fit"),
                                           TIMED("decide")};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void put_row(slc_bench_rows *rows, const runner *r, const slc_bench_contestant *c)
{
    slc_bench_cell *cell = slc_bench_add(rows);
    const counts *f = &r->found;
    const uint64_t numbers[] = {
        r->threads, r->events->n_events, f->velo, f->upstream, f->long_tracks, f->pairs, f->faults};
    *cell++ = slc_bench_text(r->name);
    *cell++ = slc_bench_text(slc_simd_name(r->config.exec.target));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *cell++ = slc_bench_count(numbers[i]);
    }
    *cell++ = slc_bench_textf(rows, "%016" PRIx64, f->checksum);
    *cell++ = slc_bench_number(c->hertz);
    for (int s = 0; s < SERIES; s++) {
        *cell++ = slc_bench_number(c->time[s].minimum);
        *cell++ = slc_bench_number(c->time[s].median);
    }
}

static void print_throughput(uint32_t repetitions, const runner *runners, const slc_bench_contestant *c,
                             size_t n, FILE *out)
{
    (void)fprintf(out, "\nThroughput, events/s: medians of %" PRIu32 " (fastest)\n", repetitions);
    (void)fprintf(out, "%-10s %7s %19s %19s %9s %9s %9s\n", "settings", "threads", "to long tracks",
                  "to the end", "velo", "upstream", "long");
    for (size_t i = 0; i < n; i++) {
        const runner *r = &runners[i];
        const double events = (double)r->events->n_events;
        (void)fprintf(out, "%-10s %7" PRIu32 " %9.0f (%7.0f) %9.0f (%7.0f) %9.1f %9.1f %9.1f\n", r->name,
                      r->threads, 1 / c[i].time[TO_LONG].median, 1 / c[i].time[TO_LONG].minimum,
                      1 / c[i].time[TO_END].median, 1 / c[i].time[TO_END].minimum,
                      (double)r->found.velo / events, (double)r->found.upstream / events,
                      (double)r->found.long_tracks / events);
    }
    (void)fprintf(out, "(to long tracks: without the VELO's vertices; the last three: tracks an event)\n");
}

static void print_stages(bool lines, const runner *runners, const slc_bench_contestant *c, size_t n,
                         FILE *out)
{
    static const char *const names[SLC_HLT1_STAGES] = {"VELO", "hits",  "upstream", "forward",
                                                       "rest", "muons", "fit",      "decide"};
    (void)fprintf(out, "\nStages, us an event of a thread's time, medians (core at %.2f GHz)\n%-10s %7s",
                  1e-9 * c->hertz, "settings", "threads");
    for (int s = 0; s < SLC_HLT1_STAGES; s++) {
        (void)fprintf(out, " %9s", names[s]);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(out, "%-10s %7" PRIu32, runners[i].name, runners[i].threads);
        for (int s = 0; s < SLC_HLT1_STAGES; s++) {
            (void)fprintf(out, " %9.2f", 1e6 * c[i].time[STAGES + s].median);
        }
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "(hits: UT, SciFi and muon stations; decide: particles, pairs%s)\n",
                  lines ? " and lines" : ", no lines");
}

/* LHCb's own HLT1 on processors, without muons, in November 2019. */
static void print_thesis(FILE *out)
{
    static const struct {
        const char *name;
        int cores, events;
    } rows[] = {{"EPYC 7302", 32, 95000},      {"EPYC 7452", 32, 79000},      {"EPYC 7702", 64, 140000},
                {"EPYC 7742", 64, 150000},     {"Ryzen 9 3900X", 12, 46000},  {"Xeon Gold 6130", 32, 58000},
                {"Platinum 9242", 96, 200000}, {"Xeon E5-2630 v4", 20, 37000}};
    (void)fprintf(out,
                  "\nLHCb's own HLT1 on all cores, November 2019 (Hennequin 2022, table 6.1), events/s\n"
                  "%-16s %7s %9s %9s\n",
                  "processor", "cores", "all", "a core");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)fprintf(out, "%-16s %7d %9d %9.0f\n", rows[i].name, rows[i].cores, rows[i].events,
                      (double)rows[i].events / rows[i].cores);
    }
}

static void tell(const slc_bench_hlt1_config *config, const slc_bench_velo_events *events,
                 const runner *runners, const slc_bench_contestant *c, size_t n, slc_bench_report *report)
{
    FILE *out = report->table;
    report->sets[0] = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    for (size_t i = 0; i < n; i++) {
        put_row(&report->sets[0], &runners[i], &c[i]);
        if (runners[i].found.faults > 0) { /* they change what is measured */
            report->note = "the events have faults, as `sluice hlt1` tells: not all is reconstructed";
        }
    }
    (void)fprintf(out, "%" PRIu64 " events, instruction set %s\n", events->n_events,
                  slc_simd_name(config->target));
    print_throughput(config->repetitions, runners, c, n, out);
    print_stages(config->lines != NULL, runners, c, n, out);
    print_thesis(out);
}

/* ---- who takes part ---------------------------------------------------------------------------- */

static slc_status list(const slc_bench_hlt1_config *config, const slc_bench_velo_events *events,
                       runner *runners, slc_bench_contestant *contestants, size_t *n, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < SLC_BENCH_HLT1_SETTINGS * config->n_threads && status == SLC_OK; i++) {
        const struct settings *s = &all_settings[i / config->n_threads];
        if (!config->wanted[i / config->n_threads]) {
            continue;
        }
        runner *r = &runners[*n];
        *r = (runner){.bench = config,
                      .events = events,
                      .name = s->name,
                      .threads = config->threads[i % config->n_threads]};
        slc_velo_config_default(&r->velo);
        slc_hlt1_config_default(&r->config);
        status = s->fast ? slc_velo_config_preset(&r->velo, "fast", error) : SLC_OK;
        status = status == SLC_OK ? slc_hlt1_config_preset(&r->config, s->preset, error) : status;
        r->config.velo = &r->velo;
        r->config.lines = config->lines;
        r->config.network = config->network;
        r->config.exec.target = config->target;
        contestants[(*n)++] = (slc_bench_contestant){
            .self = r, .prepare = prepare, .run = run, .verify = verify, .clear = clear, .n_series = SERIES};
    }
    return status == SLC_OK && *n == 0 ? slc_fail(error, SLC_ERR_USAGE, "no settings to measure") : status;
}

slc_status slc_bench_hlt1(const void *configuration, const slc_bench_watch *watch, slc_bench_report *report,
                          slc_error *error)
{
    const slc_bench_hlt1_config *config = configuration;
    const slc_bench_plan plan = {.repetitions = config->repetitions, .watch = watch};
    const size_t most = SLC_BENCH_HLT1_SETTINGS * config->n_threads;
    slc_bench_velo_events events = {.n_held = 0};
    size_t n = 0;
    if (config->repetitions == 0 || config->events == 0 || config->batch == 0 || most == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    runner *runners = calloc(most, sizeof *runners);
    slc_bench_contestant *contestants = calloc(most, sizeof *contestants);
    if (runners == NULL || contestants == NULL) {
        free(runners);
        free(contestants);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    slc_status status = get_events(config, &events, error);
    status = status == SLC_OK ? list(config, &events, runners, contestants, &n, error) : status;
    status = status == SLC_OK ? slc_bench_measure(&plan, contestants, n, error) : status;
    if (status == SLC_OK) {
        tell(config, &events, runners, contestants, n, report);
    }
    slc_bench_velo_events_clear(&events);
    free(contestants);
    free(runners);
    return status;
}
