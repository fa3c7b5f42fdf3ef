/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the PET chain on generated frames: one pass to warm up, then repetitions over the same frames, of
 * which the medians count. The process is not bound here; the user pins it.
 */
#include "bench/bench_pet.h"

#include "base/columns.h"
#include "base/team.h"
#include "pet/pet_stages.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the singles, as in a scanner with much activity. */
static const double PAIR_SHARE = 0.2;

typedef struct bench {
    slc_bench_pet_set *set;
    slc_pet_singles arrived, sorted; /* all of them */
    /* What is at hand: the chain, a stage of coincidences, plain code. */
    slc_pet_chain *chain;
    slc_pet_result out;
    slc_pet_coincidence_config policy;
    slc_pet_coincidence *stage;
    slc_pet_groups groups;
    slc_pet_singles all, work;
    void *memory;
    uint64_t made; /* pairs, or rows */
} bench;

/* The stages, and all of them with what is between. */
enum { ALL = SLC_PET_STAGES, SERIES };

void slc_bench_pet_config_default(slc_bench_pet_config *config)
{
    *config = (slc_bench_pet_config){
        .frames = 4000000,
        .batch = 1 << 18, /* which the chain cuts so that what a stage leaves is still in the cache */
        .repetitions = 5,
        .seed = 1,
        .window_ns = 4};
}

/* ---- rows -------------------------------------------------------------------------------------- */

enum {
    SCANNER = 0,
    RATE,
    THREADS,
    NAME,
    SINGLES,
    PAIRS,
    SECONDS,
    LEAST,
    BYTES,
    BOUND,
    BANDWIDTH,
    DEVICE,
    BUS,
    DISPLACEMENT,
    NS,
    MSINGLES,
    OF_BOUND,
    COLUMNS
};

static const slc_bench_column columns[COLUMNS] = {
    {"scanner", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0},
    {"singles_hz", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 9},
    {"threads", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"name", SLC_BENCH_QUOTED, SLC_BENCH_FILES, 0},
    {"singles", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"pairs", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"seconds", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 9},
    {"least_seconds", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 9},
    {"bytes", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 9},
    {"bound_seconds", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 9},
    {"bytes_per_second", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"device", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"bus_bytes_per_second", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"displacement", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"ns_per_single", SLC_BENCH_NUMBER, 0, 0},
    {"msingles_per_s", SLC_BENCH_NUMBER, 0, 0},
    {"of_bound_percent", SLC_BENCH_NUMBER, 0, 0},
};

void slc_bench_pet_add(slc_bench_pet_set *set, const char *name, uint64_t singles, uint64_t pairs,
                       slc_bench_time time, double bytes, double bytes_per_second)
{
    slc_bench_rows *rows = &set->report->sets[0];
    slc_bench_cell *row = slc_bench_add(rows);
    row[SCANNER] = slc_bench_text(set->scanner);
    row[RATE] = slc_bench_number(set->singles_hz);
    row[THREADS] = slc_bench_count(set->threads);
    row[NAME] = slc_bench_textf(rows, "%s", name);
    row[SINGLES] = slc_bench_count(singles);
    row[PAIRS] = slc_bench_count(pairs);
    row[SECONDS] = slc_bench_number(time.median);
    row[LEAST] = slc_bench_number(time.minimum);
    row[BYTES] = slc_bench_number(bytes);
    row[BOUND] = slc_bench_number(bytes / bytes_per_second);
    row[NS] = slc_bench_number(time.median * 1e9 / (double)singles);
    row[MSINGLES] = slc_bench_number((double)singles / time.median * 1e-6);
    row[OF_BOUND] = slc_bench_number(100 * bytes / bytes_per_second / time.median);
}

/* The rows of a set, of which all is known now. */
static void print_set(slc_bench_pet_set *set, size_t first)
{
    slc_bench_rows *rows = &set->report->sets[0];
    FILE *out = set->report->table;
    if (rows->failed || first == rows->n) {
        return;
    }
    const unsigned long long singles = (unsigned long long)slc_bench_row(rows, first)[SINGLES].number;
    if (set->config->device != NULL) {
        (void)fprintf(
            out,
            "%s, %g Mcps, %s: %llu frames, out of order by up to %.3g us; 128 channels by up to %llu\n"
            "singles; copies on the GPU move %.0f GB/s, those to it %.1f GB/s\n",
            set->scanner, set->singles_hz * 1e-6, set->machine, singles, (double)set->lag_ps * 1e-6,
            (unsigned long long)set->displacement, set->bytes_per_second * 1e-9,
            set->bus_bytes_per_second * 1e-9);
    } else {
        (void)fprintf(
            out,
            "%s, %g Mcps, %u thread%s: %llu singles, out of order by up to %.3g us; copies move %.1f GB/s\n",
            set->scanner, set->singles_hz * 1e-6, set->threads, set->threads == 1 ? "" : "s", singles,
            (double)set->lag_ps * 1e-6, set->bytes_per_second * 1e-9);
    }
    (void)fprintf(out, "%-44s%12s%12s%12s%12s\n", "", "pairs", "ns/single", "Msingles/s", "of bound");
    for (size_t i = first; i < rows->n; i++) {
        slc_bench_cell *row = slc_bench_row(rows, i);
        row[BANDWIDTH] = slc_bench_number(set->bytes_per_second);
        row[DEVICE] = set->config->device != NULL ? slc_bench_textf(rows, "%s", set->machine)
                                                  : slc_bench_text("cpu");
        row[BUS] = slc_bench_number(set->bus_bytes_per_second);
        row[DISPLACEMENT] = slc_bench_count(set->displacement);
        slc_bench_print(
            out, rows, i,
            "{name:-44}{pairs:12}{ns_per_single:12.2f}{msingles_per_s:12.1f}{of_bound_percent:10.1f %}\n");
    }
    (void)fprintf(out, "\n");
}

static slc_status no_memory(const slc_bench_pet_set *set)
{
    return slc_fail(set->error, SLC_ERR_MEMORY, "no memory for measurements with %zu frames", set->n);
}

/* ---- memory ------------------------------------------------------------------------------------ */

enum { COPY_BYTES = 1 << 26, SINGLE_BYTES = 16, PAIR_BYTES = 33, GROUP_BYTES = 20 };

typedef struct copy {
    const char *from;
    char *to;
    uint32_t threads;
} copy;

static void copy_part(void *context, uint32_t part)
{
    const copy *c = context;
    const size_t each = COPY_BYTES / c->threads;
    memcpy(c->to + part * each, c->from + part * each, each);
}

/* Bytes read and written a second, the best of a few copies that are larger than caches. */
static slc_status measure_memory(slc_bench_pet_set *set)
{
    slc_team *team = NULL;
    char *memory = malloc(2 * (size_t)COPY_BYTES);
    if (memory == NULL || slc_team_open(set->threads, &team) != SLC_OK) {
        free(memory);
        return no_memory(set);
    }
    memset(memory, 1, 2 * (size_t)COPY_BYTES);
    copy c = {.from = memory, .to = memory + COPY_BYTES, .threads = set->threads};
    double least = INFINITY;
    for (int r = 0; r < 5; r++) {
        const double began = slc_clock_seconds();
        slc_team_run(team, c.threads, copy_part, &c);
        const double seconds = slc_clock_seconds() - began;
        least = seconds < least ? seconds : least;
    }
    set->bytes_per_second = 2.0 * COPY_BYTES / least;
    slc_team_close(team);
    free(memory);
    return SLC_OK;
}

/* ---- input ------------------------------------------------------------------------------------- */

static slc_status make_frames(slc_bench_pet_set *set)
{
    slc_sim_pet_config sim;
    slc_sim_pet_config_default(&sim);
    size_t capacity = 0;
    slc_status status = slc_pet_scanner(set->scanner, &sim.geometry, set->error);
    sim.seed = set->config->seed;
    sim.singles_hz = set->singles_hz;
    sim.fast = true;
    sim.pair_share = PAIR_SHARE;
    if (status == SLC_OK) {
        status = slc_sim_pet_open(&sim, &set->sim, set->error);
    }
    const double seconds = (double)set->config->frames / set->singles_hz;
    if (status == SLC_OK) {
        status = slc_sim_pet_next(set->sim, seconds, &set->frames, &set->n, &capacity, NULL, set->error);
    }
    if (status == SLC_OK && set->n == 0) {
        status = slc_fail(set->error, SLC_ERR_USAGE, "no single in %g s at %g a second", seconds,
                          set->singles_hz);
    }
    slc_pet_config *c = &set->chain;
    slc_pet_config_default(c);
    c->convert.tick_numerator = sim.clock.tick_numerator;
    c->convert.tick_denominator = sim.clock.tick_denominator;
    c->convert.tick_bits = sim.clock.tick_bits;
    c->exec.threads = set->threads;
    c->prompt.window_ns = set->config->window_ns;
    return status;
}

/* All singles, as they arrive and in order; and the horizon that they need. */
static slc_status make_singles(bench *b)
{
    slc_pet_convert *convert = NULL;
    slc_pet_sort *sort = NULL;
    slc_pet_sort_config config = b->set->chain.sort;
    slc_pet_sort_counts counts;
    config.horizon_ps = INT64_MAX;
    slc_status status = slc_pet_convert_open(&b->set->chain.convert, slc_sim_pet_tables(b->set->sim),
                                             &convert, b->set->error);
    if (status == SLC_OK) {
        status = slc_pet_convert_run(convert, b->set->frames, NULL, b->set->n, true, &b->arrived, NULL,
                                     b->set->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_sort_open(&config, &sort, b->set->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_sort_run(sort, &b->arrived, true, &b->sorted, NULL, b->set->error);
    }
    if (status == SLC_OK) {
        slc_pet_sort_counts_of(sort, &counts);
        b->set->lag_ps = b->set->chain.sort.horizon_ps = counts.largest_lag_ps;
    }
    slc_pet_sort_close(sort);
    slc_pet_convert_close(convert);
    return status;
}

/* ---- the chain --------------------------------------------------------------------------------- */

static slc_status open_chain(void *self, slc_error *error)
{
    bench *b = self;
    return slc_pet_chain_open(&b->set->chain, slc_sim_pet_tables(b->set->sim), &b->chain, error);
}

/* Once through all frames; seconds of each stage and of all. */
static slc_status run_chain(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    const size_t n = b->set->n, batch = b->set->config->batch;
    slc_status status = SLC_OK;
    const double began = slc_clock_seconds();
    b->made = 0;
    for (size_t at = 0; at < n && status == SLC_OK;) {
        const size_t some = n - at < batch ? n - at : batch;
        status = slc_pet_chain_run(b->chain, b->set->frames + at, NULL, some, at + some == n, &b->out, error);
        at += some;
        b->made += b->out.pairs.head.size;
        for (int s = 0; s < SLC_PET_STAGES; s++) {
            seconds[s] += b->out.seconds[s];
        }
    }
    seconds[ALL] = slc_clock_seconds() - began;
    return status;
}

static void close_chain(void *self)
{
    bench *b = self;
    slc_pet_result_clear(&b->out);
    slc_pet_chain_close(b->chain);
}

static slc_status bench_chain(bench *b)
{
    static const char *const names[SERIES] = {"convert", "sort", "coincidence", "chain"};
    slc_bench_contestant c = {
        .self = b, .prepare = open_chain, .run = run_chain, .clear = close_chain, .n_series = SERIES};
    const slc_status status = slc_bench_measure(&b->set->plan, &c, 1, b->set->error);
    const double all = (double)b->set->n, made = (double)b->made * PAIR_BYTES;
    const double bytes[SERIES] = {all * (SLC_PET_FRAME_BYTES + SINGLE_BYTES), all * 2 * SINGLE_BYTES,
                                  all * SINGLE_BYTES + made, all * SLC_PET_FRAME_BYTES + made};
    for (uint32_t s = 0; s < SERIES && status == SLC_OK; s++) {
        slc_bench_pet_add(b->set, names[s], b->set->n, s >= SLC_PET_STAGE_COINCIDENCE ? b->made : 0,
                          c.time[s], bytes[s], b->set->bytes_per_second);
    }
    return status;
}

/* ---- policies ---------------------------------------------------------------------------------- */

slc_status slc_bench_pet_policies(slc_bench_pet_set *set,
                                  slc_status (*measure)(void *context,
                                                        const slc_pet_coincidence_config *config,
                                                        const char *name),
                                  void *context)
{
    slc_status status = SLC_OK;
    for (int p = 0; p < 2 * SLC_PET_POLICIES && status == SLC_OK; p++) {
        slc_pet_coincidence_config config = set->chain.prompt;
        config.policy = (slc_pet_policy)(p / 2);
        config.all_open = p % 2 != 0;
        char name[64];
        const char *policy = slc_pet_policy_name(config.policy);
        if (config.all_open && strncmp(policy, "opengate:", 9) == 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%s%s", policy, config.all_open ? ", all-open" : "");
        status = measure(context, &config, name);
    }
    return status;
}

/* A view of rows of all sorted singles. */
static slc_pet_singles view(const slc_pet_singles *all, size_t from, size_t n)
{
    slc_pet_singles part = *all;
    part.time_ps += from;
    part.crystal += from;
    part.energy_kev += from;
    part.head.size = n;
    return part;
}

static slc_status open_policy(void *self, slc_error *error)
{
    bench *b = self;
    b->stage = NULL;
    return slc_pet_coincidence_open(&b->policy, &b->stage, error);
}

static slc_status run_policy(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    const size_t n = b->set->n, batch = b->set->config->batch;
    slc_status status = SLC_OK;
    const double began = slc_clock_seconds();
    b->made = 0;
    for (size_t at = 0; at < n && status == SLC_OK;) {
        const size_t some = n - at < batch ? n - at : batch;
        const slc_pet_singles part = view(&b->sorted, at, some);
        at += some;
        slc_columns_reset(&b->groups);
        status = slc_pet_coincidence_run(b->stage, &part, at == n, &b->groups, error);
        b->made += b->groups.head.size;
    }
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

static void close_policy(void *self)
{
    bench *b = self;
    slc_columns_clear(&slc_pet_groups_schema, &b->groups);
    slc_pet_coincidence_close(b->stage);
}

static slc_status bench_policy(void *context, const slc_pet_coincidence_config *config, const char *name)
{
    bench *b = context;
    slc_bench_contestant c = {.self = b, .prepare = open_policy, .run = run_policy, .clear = close_policy};
    b->policy = *config;
    b->policy.exec.threads = b->set->threads;
    const slc_status status = slc_bench_measure(&b->set->plan, &c, 1, b->set->error);
    if (status == SLC_OK) {
        slc_bench_pet_add(b->set, name, b->set->n, b->made, c.time[0],
                          (double)b->set->n * SINGLE_BYTES + (double)b->made * GROUP_BYTES,
                          b->set->bytes_per_second);
    }
    return status;
}

/* ---- plain code -------------------------------------------------------------------------------- */

/* The seed's rule as its definition reads. Rows are written as (first, second). */
static size_t plain_loop(const slc_pet_singles *s, int64_t window_ps, uint64_t *rows)
{
    const size_t n = s->head.size;
    size_t made = 0;
    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j + 1 < n && s->time_ps[j + 1] - s->time_ps[i] <= window_ps) {
            j++;
        }
        if (j == i + 1 && s->crystal[i] != s->crystal[j]) {
            rows[2 * made] = i;
            rows[2 * made++ + 1] = j;
        }
        i = j + 1;
    }
    return made;
}

typedef struct record {
    int64_t time;
    uint32_t crystal;
    float energy;
} record;

static int by_time(const void *a, const void *b)
{
    const record *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static slc_status run_loop(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    (void)error;
    const double began = slc_clock_seconds();
    b->made = plain_loop(&b->sorted, (int64_t)llround(b->set->config->window_ns * 1000), b->memory);
    seconds[0] = slc_clock_seconds() - began;
    return SLC_OK;
}

static slc_status run_radix(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    const size_t n = b->set->n;
    (void)error;
    memcpy(b->all.time_ps, b->arrived.time_ps, n * sizeof *b->all.time_ps);
    memcpy(b->all.crystal, b->arrived.crystal, n * sizeof *b->all.crystal);
    memcpy(b->all.energy_kev, b->arrived.energy_kev, n * sizeof *b->all.energy_kev);
    b->all.head.size = n;
    const double began = slc_clock_seconds();
    const slc_status status = slc_pet_sort_all(&b->all, &b->work);
    seconds[0] = slc_clock_seconds() - began;
    return status == SLC_OK ? SLC_OK : no_memory(b->set);
}

static slc_status run_qsort(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    record *all = b->memory;
    (void)error;
    for (size_t i = 0; i < b->set->n; i++) {
        all[i] = (record){b->arrived.time_ps[i], b->arrived.crystal[i], b->arrived.energy_kev[i]};
    }
    const double began = slc_clock_seconds();
    qsort(all, b->set->n, sizeof *all, by_time);
    seconds[0] = slc_clock_seconds() - began;
    return SLC_OK;
}

static slc_status bench_baselines(bench *b)
{
    const size_t n = b->set->n;
    slc_bench_contestant all[] = {
        {.self = b, .run = run_loop}, {.self = b, .run = run_radix}, {.self = b, .run = run_qsort}};
    b->memory = malloc((n + 2) * sizeof(record));
    slc_status status = b->memory != NULL &&
                                slc_columns_reserve(&slc_pet_singles_schema, &b->all, n, 1) == SLC_OK
                            ? slc_bench_measure(&b->set->plan, all, 3, b->set->error)
                            : no_memory(b->set);
    if (status == SLC_OK) {
        const double in = (double)n * SINGLE_BYTES, speed = b->set->bytes_per_second;
        slc_bench_pet_add(b->set, "plain loop, killAll", n, b->made, all[0].time[0],
                          in + (double)b->made * 2 * sizeof(uint64_t), speed);
        slc_bench_pet_add(b->set, "radix sort", n, 0, all[1].time[0], 2 * in, speed);
        slc_bench_pet_add(b->set, "qsort", n, 0, all[2].time[0], 2 * in, speed);
    }
    free(b->memory);
    slc_columns_clear(&slc_pet_singles_schema, &b->all);
    slc_columns_clear(&slc_pet_singles_schema, &b->work);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

static slc_status bench_core(slc_bench_pet_set *set, bool once)
{
    bench b = {.set = set};
    slc_status status = measure_memory(set);
    status = status == SLC_OK ? make_singles(&b) : status;
    status = status == SLC_OK ? bench_chain(&b) : status;
    status = status == SLC_OK && set->config->policies ? slc_bench_pet_policies(set, bench_policy, &b)
                                                       : status;
    status = status == SLC_OK && once && set->config->baselines ? bench_baselines(&b) : status;
    status = status == SLC_OK && once && set->config->lists ? slc_bench_pet_lists(set) : status;
    slc_columns_clear(&slc_pet_singles_schema, &b.arrived);
    slc_columns_clear(&slc_pet_singles_schema, &b.sorted);
    return status;
}

/* once: of the first number of threads, for what has one. */
static slc_status one_set(slc_bench_pet_set *set, bool once)
{
    const size_t first = set->report->sets[0].n;
    slc_status status = make_frames(set);
    if (status == SLC_OK) {
        status = set->config->device != NULL ? slc_bench_pet_cuda(set) : bench_core(set, once);
    }
    if (status == SLC_OK) {
        print_set(set, first);
    }
    slc_sim_pet_close(set->sim);
    free(set->frames);
    return status;
}

slc_status slc_bench_pet(const void *configuration, const slc_bench_watch *watch, slc_bench_report *report,
                         slc_error *error)
{
    const slc_bench_pet_config *config = configuration;
    const size_t n_threads = config->device == NULL ? config->n_threads
                                                    : 1; /* stages on a GPU have no threads */
    const size_t n = config->n_scanners * config->n_rates * n_threads;
    slc_status status = SLC_OK;
    report->sets[0] = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    if (n == 0 || config->frames == 0 || config->batch == 0 || config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a measurement needs frames, a batch, a rate, threads and repetitions");
    }
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        slc_bench_pet_set set = {.config = config,
                                 .scanner = config->scanners[i / n_threads / config->n_rates],
                                 .singles_hz = config->singles_hz[i / n_threads % config->n_rates],
                                 .threads = config->threads[i % n_threads],
                                 .report = report,
                                 .plan = {.repetitions = config->repetitions, .rounds = 1, .watch = watch},
                                 .error = error};
        status = one_set(&set, i % n_threads == 0);
        if (status == SLC_OK && !slc_bench_goes_on(watch, i + 1, n)) {
            status = SLC_END;
        }
    }
    report->json = json_pack("{s:o}", "rows", slc_bench_json(&report->sets[0], 0, report->sets[0].n));
    return status;
}
