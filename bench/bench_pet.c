/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the PET chain on generated frames: one pass to warm up, then repetitions over the same frames, of
 * which the medians count. The process is not bound here; the user pins it.
 */
#include "base/columns.h"
#include "base/team.h"
#include "bench/bench_pet_cuda.h"

#include "bench/bench_pet.h"
#include <sluice/sim_pet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the singles, as in a scanner with much activity. */
static const double PAIR_SHARE = 0.2;

typedef struct bench {
    const slc_bench_pet_config *config;
    slc_bench_pet_result *result;
    slc_error *error;
    slc_sim_pet *sim;
    slc_pet_frame *frames;
    size_t n;
    slc_pet_config chain;
    slc_pet_singles arrived, sorted; /* all of them */
    double *seconds;                 /* of the repetitions, for each of at most SERIES lines */
} bench;

/* The stages, and all of them with what is between. */
enum { ALL = SLC_PET_STAGES, SERIES };

void slc_bench_pet_config_default(slc_bench_pet_config *config)
{
    *config = (slc_bench_pet_config){
        .scanner = "mouse20",
        .singles_hz = 20e6,
        .frames = 4000000,
        .batch = 1 << 18, /* which the chain cuts so that what a stage leaves is still in the cache */
        .threads = 1,
        .repetitions = 5,
        .seed = 1,
        .window_ns = 4};
}

/* ---- lines ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A line of what has been measured into `seconds`. */
static slc_status add(bench *b, const char *name, uint64_t pairs, double *seconds, double bytes)
{
    slc_bench_pet_result *result = b->result;
    const uint32_t n = b->config->repetitions;
    if (result->n_rows == SLC_BENCH_PET_ROWS) {
        return slc_fail(b->error, SLC_ERR_CAPACITY, "no room for another measurement");
    }
    slc_bench_pet_row *row = &result->row[result->n_rows++];
    qsort(seconds, n, sizeof *seconds, by_value);
    *row = (slc_bench_pet_row){.singles = b->n,
                               .pairs = pairs,
                               .seconds = n % 2 == 1 ? seconds[n / 2]
                                                     : (seconds[n / 2 - 1] + seconds[n / 2]) / 2,
                               .least_seconds = seconds[0],
                               .bytes = bytes,
                               .bound_seconds = bytes / result->bytes_per_second};
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    return SLC_OK;
}

static slc_status no_memory(const bench *b)
{
    return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for measurements with %zu frames", b->n);
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
static slc_status measure_memory(bench *b)
{
    slc_team *team = NULL;
    char *memory = malloc(2 * (size_t)COPY_BYTES);
    if (memory == NULL || slc_team_open(b->config->threads, &team) != SLC_OK) {
        free(memory);
        return no_memory(b);
    }
    memset(memory, 1, 2 * (size_t)COPY_BYTES);
    copy c = {.from = memory, .to = memory + COPY_BYTES, .threads = b->config->threads};
    double least = INFINITY;
    for (int r = 0; r < 5; r++) {
        const double began = slc_clock_seconds();
        slc_team_run(team, c.threads, copy_part, &c);
        const double seconds = slc_clock_seconds() - began;
        least = seconds < least ? seconds : least;
    }
    b->result->bytes_per_second = 2.0 * COPY_BYTES / least;
    slc_team_close(team);
    free(memory);
    return SLC_OK;
}

/* ---- input ------------------------------------------------------------------------------------- */

static slc_status make_frames(bench *b)
{
    slc_sim_pet_config sim;
    slc_sim_pet_config_default(&sim);
    size_t capacity = 0;
    slc_status status = slc_pet_scanner(b->config->scanner, &sim.geometry, b->error);
    sim.seed = b->config->seed;
    sim.singles_hz = b->config->singles_hz;
    sim.fast = true;
    sim.pair_share = PAIR_SHARE;
    if (status == SLC_OK) {
        status = slc_sim_pet_open(&sim, &b->sim, b->error);
    }
    const double seconds = (double)b->config->frames / b->config->singles_hz;
    if (status == SLC_OK) {
        status = slc_sim_pet_next(b->sim, seconds, &b->frames, &b->n, &capacity, NULL, b->error);
    }
    if (status == SLC_OK && b->n == 0) {
        status = slc_fail(b->error, SLC_ERR_USAGE, "no single in %g s at %g a second", seconds,
                          b->config->singles_hz);
    }
    slc_pet_config *c = &b->chain;
    slc_pet_config_default(c);
    c->convert.tick_numerator = sim.clock.tick_numerator;
    c->convert.tick_denominator = sim.clock.tick_denominator;
    c->convert.tick_bits = sim.clock.tick_bits;
    c->threads = b->config->threads;
    c->prompt.window_ns = b->config->window_ns;
    return status;
}

/* All singles, as they arrive and in order; and the horizon that they need. */
static slc_status make_singles(bench *b)
{
    slc_pet_convert *convert = NULL;
    slc_pet_sort *sort = NULL;
    slc_pet_sort_config config = b->chain.sort;
    slc_pet_sort_counts counts;
    config.horizon_ps = INT64_MAX;
    slc_status status = slc_pet_convert_open(&b->chain.convert, slc_sim_pet_tables(b->sim), &convert,
                                             b->error);
    if (status == SLC_OK) {
        status = slc_pet_convert_run_received(convert, b->frames, NULL, b->n, true, &b->arrived, NULL,
                                              b->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_sort_open(&config, &sort, b->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_sort_run(sort, &b->arrived, true, &b->sorted, NULL, b->error);
    }
    if (status == SLC_OK) {
        slc_pet_sort_counts_of(sort, &counts);
        b->result->lag_ps = b->chain.sort.horizon_ps = counts.largest_lag_ps;
    }
    slc_pet_sort_close(sort);
    slc_pet_convert_close(convert);
    return status;
}

/* ---- the chain --------------------------------------------------------------------------------- */

/* Once through all frames; seconds[s] of each stage and of all. */
static slc_status run_chain(bench *b, slc_pet_chain *chain, slc_pet_result *out, double seconds[SERIES],
                            uint64_t *pairs)
{
    slc_status status = SLC_OK;
    const double began = slc_clock_seconds();
    *pairs = 0;
    memset(seconds, 0, SERIES * sizeof *seconds);
    for (size_t at = 0; at < b->n && status == SLC_OK;) {
        const size_t some = b->n - at < b->config->batch ? b->n - at : b->config->batch;
        status = slc_pet_chain_run(chain, b->frames + at, some, at + some == b->n, out, b->error);
        at += some;
        *pairs += out->pairs.head.size;
        for (int s = 0; s < SLC_PET_STAGES; s++) {
            seconds[s] += out->seconds[s];
        }
    }
    seconds[ALL] = slc_clock_seconds() - began;
    return status;
}

static slc_status bench_chain(bench *b)
{
    static const char *const names[SERIES] = {"convert", "sort", "coincidence", "chain"};
    const uint32_t n = b->config->repetitions;
    slc_pet_chain *chain = NULL;
    slc_pet_result out = {0};
    uint64_t pairs = 0;
    slc_status status = slc_pet_chain_open(&b->chain, slc_sim_pet_tables(b->sim), &chain, b->error);
    for (uint32_t r = 0; r <= n && status == SLC_OK; r++) {
        double seconds[SERIES];
        status = run_chain(b, chain, &out, seconds, &pairs);
        for (uint32_t s = 0; s < SERIES; s++) {
            b->seconds[s * n + (r > 0 ? r - 1 : 0)] = seconds[s]; /* the first warms up */
        }
    }
    const double all = (double)b->n, made = (double)pairs * PAIR_BYTES;
    const double bytes[SERIES] = {all * (SLC_PET_FRAME_BYTES + SINGLE_BYTES), all * 2 * SINGLE_BYTES,
                                  all * SINGLE_BYTES + made, all * SLC_PET_FRAME_BYTES + made};
    for (uint32_t s = 0; s < SERIES && status == SLC_OK; s++) {
        status = add(b, names[s], s >= SLC_PET_STAGE_COINCIDENCE ? pairs : 0, b->seconds + s * n, bytes[s]);
    }
    slc_pet_result_clear(&out);
    slc_pet_chain_close(chain);
    return status;
}

/* ---- policies ---------------------------------------------------------------------------------- */

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

static slc_status bench_policy(bench *b, slc_pet_policy policy, bool all_open)
{
    slc_pet_coincidence_config config = b->chain.prompt;
    config.policy = policy;
    config.all_open = all_open;
    config.threads = b->config->threads;
    slc_pet_coincidence *stage = NULL;
    slc_pet_groups groups = {0};
    uint64_t rows = 0;
    slc_status status = slc_pet_coincidence_open(&config, &stage, b->error);
    for (uint32_t r = 0; r <= b->config->repetitions && status == SLC_OK; r++) {
        const double began = slc_clock_seconds();
        rows = 0;
        for (size_t at = 0; at < b->n && status == SLC_OK;) {
            const size_t some = b->n - at < b->config->batch ? b->n - at : b->config->batch;
            const slc_pet_singles part = view(&b->sorted, at, some);
            at += some;
            slc_columns_reset(&groups);
            status = slc_pet_coincidence_run(stage, &part, at == b->n, &groups, b->error);
            rows += groups.head.size;
        }
        b->seconds[r > 0 ? r - 1 : 0] = slc_clock_seconds() - began;
    }
    char name[64];
    (void)snprintf(name, sizeof name, "%s%s", slc_pet_policy_name(policy), all_open ? ", all-open" : "");
    if (status == SLC_OK) {
        status = add(b, name, rows, b->seconds, (double)b->n * SINGLE_BYTES + (double)rows * GROUP_BYTES);
    }
    slc_columns_clear(&slc_pet_groups_schema, &groups);
    slc_pet_coincidence_close(stage);
    return status;
}

/* opengate's are all-open by themselves. */
static slc_status bench_policies(bench *b)
{
    slc_status status = SLC_OK;
    for (int p = 0; p < SLC_PET_POLICIES && status == SLC_OK; p++) {
        const bool opengate = strncmp(slc_pet_policy_name((slc_pet_policy)p), "opengate:", 9) == 0;
        status = bench_policy(b, (slc_pet_policy)p, false);
        if (status == SLC_OK && !opengate) {
            status = bench_policy(b, (slc_pet_policy)p, true);
        }
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

static slc_status bench_plain_loop(bench *b)
{
    uint64_t *rows = malloc((b->n + 2) * sizeof *rows);
    size_t made = 0;
    if (rows == NULL) {
        return no_memory(b);
    }
    for (uint32_t r = 0; r <= b->config->repetitions; r++) {
        const double began = slc_clock_seconds();
        made = plain_loop(&b->sorted, (int64_t)llround(b->config->window_ns * 1000), rows);
        b->seconds[r > 0 ? r - 1 : 0] = slc_clock_seconds() - began;
    }
    free(rows);
    return add(b, "plain loop, killAll", made, b->seconds,
               (double)b->n * SINGLE_BYTES + (double)made * 2 * sizeof *rows);
}

static slc_status bench_radix(bench *b)
{
    slc_pet_singles all = {0}, work = {0};
    slc_status status = slc_columns_reserve(&slc_pet_singles_schema, &all, b->n, 1);
    for (uint32_t r = 0; r <= b->config->repetitions && status == SLC_OK; r++) {
        memcpy(all.time_ps, b->arrived.time_ps, b->n * sizeof *all.time_ps);
        memcpy(all.crystal, b->arrived.crystal, b->n * sizeof *all.crystal);
        memcpy(all.energy_kev, b->arrived.energy_kev, b->n * sizeof *all.energy_kev);
        all.head.size = b->n;
        const double began = slc_clock_seconds();
        status = slc_pet_sort_all(&all, &work);
        b->seconds[r > 0 ? r - 1 : 0] = slc_clock_seconds() - began;
    }
    slc_columns_clear(&slc_pet_singles_schema, &all);
    slc_columns_clear(&slc_pet_singles_schema, &work);
    return status == SLC_OK ? add(b, "radix sort", 0, b->seconds, (double)b->n * 2 * SINGLE_BYTES)
                            : no_memory(b);
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

static slc_status bench_qsort(bench *b)
{
    record *all = malloc(b->n * sizeof *all);
    if (all == NULL) {
        return no_memory(b);
    }
    for (uint32_t r = 0; r < b->config->repetitions; r++) {
        for (size_t i = 0; i < b->n; i++) {
            all[i] = (record){b->arrived.time_ps[i], b->arrived.crystal[i], b->arrived.energy_kev[i]};
        }
        const double began = slc_clock_seconds();
        qsort(all, b->n, sizeof *all, by_time);
        b->seconds[r] = slc_clock_seconds() - began;
    }
    free(all);
    return add(b, "qsort", 0, b->seconds, (double)b->n * 2 * SINGLE_BYTES);
}

static slc_status bench_baselines(bench *b)
{
    slc_status status = bench_plain_loop(b);
    status = status == SLC_OK ? bench_radix(b) : status;
    return status == SLC_OK ? bench_qsort(b) : status;
}

/* ---- all --------------------------------------------------------------------------------------- */

slc_status slc_bench_pet(const slc_bench_pet_config *config, slc_bench_pet_result *result, slc_error *error)
{
    bench b = {.config = config, .result = result, .error = error};
    memset(result, 0, sizeof *result);
    if (config->device != NULL) {
        return slc_bench_pet_cuda(config, result, error);
    }
    if (config->frames == 0 || config->batch == 0 || config->repetitions == 0 || config->threads == 0 ||
        !(config->singles_hz > 0)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a measurement needs frames, a batch, a rate, threads and repetitions");
    }
    b.seconds = calloc((size_t)SERIES * config->repetitions, sizeof *b.seconds);
    slc_status status = b.seconds != NULL ? make_frames(&b) : no_memory(&b);
    status = status == SLC_OK ? measure_memory(&b) : status;
    status = status == SLC_OK ? make_singles(&b) : status;
    status = status == SLC_OK ? bench_chain(&b) : status;
    status = status == SLC_OK && config->policies ? bench_policies(&b) : status;
    status = status == SLC_OK && config->baselines ? bench_baselines(&b) : status;
    slc_columns_clear(&slc_pet_singles_schema, &b.arrived);
    slc_columns_clear(&slc_pet_singles_schema, &b.sorted);
    slc_sim_pet_close(b.sim);
    free(b.frames);
    free(b.seconds);
    return status;
}
