/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the CMS chain on generated events, stage by stage: a warm-up, then repetitions over the same
 * batch, of which the medians count. The process is not bound here; the user pins it.
 */
#include "bench/bench_cms_events.h"
#include "sim/sim_cms_synthetic.h"

#include <math.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------------------------------------- */

enum { NAME = 0, DIGIS, SECONDS, LEAST, BYTES, BOUND, MS, NS_PER_DIGI, RATE, OF_BOUND, COLUMNS };

static const slc_bench_column columns[COLUMNS] = {
    {"name", SLC_BENCH_QUOTED, SLC_BENCH_CSV, 0},
    {"digis", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"seconds", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9},
    {"least_seconds", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9},
    {"bytes", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9},
    {"bound_seconds", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9},
    {"ms", SLC_BENCH_NUMBER, 0, 0},
    {"ns_per_digi", SLC_BENCH_NUMBER, 0, 0},
    {"mdigi_per_s", SLC_BENCH_NUMBER, 0, 0},
    {"of_bound_percent", SLC_BENCH_NUMBER, 0, 0},
};

void slc_bench_cms_add(slc_bench_report *report, const char *name, uint64_t digis, slc_bench_time time,
                       double bytes, double bound)
{
    slc_bench_rows *rows = &report->sets[0];
    slc_bench_cell *row = slc_bench_add(rows);
    const double n = digis > 0 ? (double)digis : NAN;
    row[NAME] = slc_bench_textf(rows, "%s", name);
    row[DIGIS] = slc_bench_count(digis);
    row[SECONDS] = slc_bench_number(time.median);
    row[LEAST] = slc_bench_number(time.minimum);
    row[BYTES] = slc_bench_number(bytes);
    row[BOUND] = slc_bench_number(bound);
    row[MS] = slc_bench_number(time.median * 1e3);
    row[NS_PER_DIGI] = slc_bench_number(time.median * 1e9 / n);
    row[RATE] = slc_bench_number(n / time.median * 1e-6);
    row[OF_BOUND] = slc_bench_number(bound > 0 ? 100 * bound / time.median : NAN);
}

static void print_table(slc_bench_report *report)
{
    (void)fprintf(report->table, "%-44s%12s%12s%12s%12s%12s\n", "", "digis", "ms", "ns/digi", "Mdigi/s",
                  "of bound");
    for (size_t i = 0; i < report->sets[0].n; i++) {
        slc_bench_print(report->table, &report->sets[0], i,
                        "{name:-44}{digis:12}{ms:12.4f}{ns_per_digi:12.4f}{mdigi_per_s:12.1f}"
                        "{of_bound_percent:10.1f %|12}\n");
    }
}

/* ---- events -------------------------------------------------------------------------------------------- */

enum { DISTINCT = 64 }; /* raw events that are generated */

static slc_status make_events(const slc_bench_cms_config *config, slc_bench_cms_events *events,
                              slc_error *error)
{
    slc_sim_cms_config sim;
    slc_sim_cms_config_default(&sim);
    sim.seed = config->seed;
    sim.tracks = SLC_SIM_CMS_CROWDED_TRACKS;
    slc_status status = slc_sim_cms_open(&sim, &events->sim, error);
    /* A GPU's batch has them several times over. */
    for (uint32_t e = 0; e < config->events && e < DISTINCT && status == SLC_OK; e++) {
        status = slc_sim_cms_event(events->sim, e, &events->batch, NULL, error);
    }
    for (uint32_t e = 0; e < config->events && status == SLC_OK; e++) {
        status = slc_sim_cms_varied(config->seed, e, &events->varied);
    }
    return status == SLC_ERR_MEMORY ? slc_fail(error, status, "no memory for %u events", config->events)
                                    : status;
}

static void clear_events(slc_bench_cms_events *events)
{
    slc_sim_cms_close(events->sim);
    slc_batch_clear(&events->batch);
    slc_columns_clear(&slc_cms_digis_schema, &events->varied);
}

/* ---- a processor's core -------------------------------------------------------------------------------- */

/* Seconds of each run: the stages, the sum of all but the last, and of all. */
enum { BEFORE_POSITIONS = SLC_CMS_STAGES, ALL, SERIES };

/* The chain from raw words, or from digis to clusters. */
typedef struct subject {
    const slc_bench_cms_events *events;
    bool raw;
    slc_cms_chain *chain;
    slc_cms_result out;
    uint64_t digis;
} subject;

static slc_status prepare(void *self, slc_error *error)
{
    subject *s = self;
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    config.calibrated = !s->raw;
    const slc_status status = slc_cms_chain_open(&config, s->raw ? slc_sim_cms_cabling(s->events->sim) : NULL,
                                                 s->raw ? slc_sim_cms_gains(s->events->sim) : NULL, &s->chain,
                                                 error);
    if (status != SLC_OK || s->raw) {
        return status == SLC_OK ? slc_cms_chain_reserve(s->chain, &s->events->batch, &s->out, error) : status;
    }
    s->out.digis = s->events->varied; /* lent: but for `cluster` it is only read */
    return slc_cms_chain_reserve_digis(s->chain, &s->out, error);
}

static slc_status run_raw(void *self, double *seconds, slc_error *error)
{
    subject *s = self;
    const slc_status status = slc_cms_chain_run(s->chain, &s->events->batch, &s->out, error);
    for (uint32_t stage = 0; stage < SLC_CMS_STAGES; stage++) {
        seconds[stage] = s->out.seconds[stage];
        seconds[BEFORE_POSITIONS] += stage == SLC_CMS_STAGE_POSITION ? 0 : s->out.seconds[stage];
        seconds[ALL] += s->out.seconds[stage];
    }
    s->digis = s->out.words.digis;
    return status;
}

static slc_status run_digis(void *self, double *seconds, slc_error *error)
{
    subject *s = self;
    const slc_status status = slc_cms_chain_run_digis(s->chain, &s->out, error);
    seconds[0] = s->out.seconds[SLC_CMS_STAGE_CLUSTER];
    return status;
}

static void clear(void *self)
{
    subject *s = self;
    if (!s->raw) {
        s->out.digis = (slc_cms_digis){0};
    }
    slc_cms_result_clear(&s->out);
    slc_cms_chain_close(s->chain);
}

static slc_status bench_core(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                             const slc_bench_watch *watch, slc_bench_report *report, slc_error *error)
{
    static const char *const names[SERIES] = {"decode",   "calibrate",          "cluster",
                                              "position", "decode to clusters", "decode to positions"};
    const slc_bench_plan plan = {.repetitions = config->repetitions, .rounds = 1, .watch = watch};
    subject raw = {.events = events, .raw = true}, digis = {.events = events};
    slc_bench_contestant contestants[] = {
        {.self = &raw, .prepare = prepare, .run = run_raw, .clear = clear, .n_series = SERIES},
        {.self = &digis, .prepare = prepare, .run = run_digis, .clear = clear}};
    slc_simd_target target;
    slc_status status = slc_simd_choose(NULL, &target, error);
    status = status == SLC_OK ? slc_bench_measure(&plan, contestants, 2, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t s = 0; s < SERIES; s++) {
        slc_bench_cms_add(report, names[s], raw.digis, contestants[0].time[s], 0, 0);
    }
    slc_bench_cms_add(report, "cluster, synthetic", events->varied.head.size, contestants[1].time[0], 0, 0);
    (void)fprintf(report->table, "one core, instruction set %s; %u events\n\n", slc_simd_name(target),
                  config->events);
    return SLC_OK;
}

slc_status slc_bench_cms(const void *configuration, const slc_bench_watch *watch, slc_bench_report *report,
                         slc_error *error)
{
    const slc_bench_cms_config *config = configuration;
    report->sets[0] = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    if (config->events == 0 || config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "a measurement needs events and repetitions");
    }
    slc_bench_cms_events events = {0};
    slc_status status = make_events(config, &events, error);
    if (status == SLC_OK) {
        const bool core = config->device == NULL || strcmp(config->device, "cpu") == 0;
        status = core ? bench_core(config, &events, watch, report, error)
                      : slc_bench_cms_cuda(config, &events, watch, report, error);
    }
    clear_events(&events);
    if (status == SLC_OK) {
        print_table(report);
    }
    return status;
}
