/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the CMS chain on generated events, stage by stage: a warm-up, then repetitions over the same
 * batch, of which the medians count. The process is not bound here; the user pins it.
 */
#include "bench/bench_cms_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

slc_status slc_bench_cms_add(slc_bench_cms_result *result, const char *name, uint64_t digis, double *seconds,
                             uint32_t n, double bytes, double bytes_per_second)
{
    if (result->n_rows == SLC_BENCH_CMS_ROWS) {
        return SLC_ERR_CAPACITY;
    }
    slc_bench_cms_row *row = &result->row[result->n_rows++];
    qsort(seconds, n, sizeof *seconds, by_value);
    *row = (slc_bench_cms_row){.digis = digis,
                               .least_seconds = seconds[0],
                               .seconds = n % 2 == 1 ? seconds[n / 2]
                                                     : (seconds[n / 2 - 1] + seconds[n / 2]) / 2,
                               .bytes = bytes,
                               .bound_seconds = bytes_per_second > 0 ? bytes / bytes_per_second : 0};
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    return SLC_OK;
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

/* Seconds of each repetition: the stages, the sum of all but the last, and of all. */
enum { BEFORE_POSITIONS = SLC_CMS_STAGES, ALL, SERIES };

static slc_status measure_chain(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                                slc_cms_chain *chain, slc_cms_result *out, double *seconds, slc_error *error)
{
    const uint32_t n = config->repetitions;
    slc_status status = slc_cms_chain_reserve(chain, &events->batch, out, error);
    for (uint32_t r = 0; r <= n && status == SLC_OK; r++) {
        status = slc_cms_chain_run(chain, &events->batch, out, error);
        for (uint32_t s = 0; s < SERIES && r > 0; s++) {
            seconds[s * n + r - 1] = s < SLC_CMS_STAGES ? out->seconds[s] : 0;
        }
        for (uint32_t s = 0; s < SLC_CMS_STAGES && r > 0; s++) {
            seconds[BEFORE_POSITIONS * n + r - 1] += s == SLC_CMS_STAGE_POSITION ? 0 : out->seconds[s];
            seconds[ALL * n + r - 1] += out->seconds[s];
        }
    }
    return status;
}

static slc_status bench_raw(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                            double *seconds, slc_bench_cms_result *result, slc_error *error)
{
    static const char *const names[SERIES] = {"decode",   "calibrate",          "cluster",
                                              "position", "decode to clusters", "decode to positions"};
    slc_cms_config chain_config;
    slc_cms_config_default(&chain_config, SLC_CMS_PHASE1);
    slc_cms_chain *chain;
    slc_cms_result out = {0};
    slc_status status = slc_cms_chain_open(&chain_config, slc_sim_cms_cabling(events->sim),
                                           slc_sim_cms_gains(events->sim), &chain, error);
    if (status != SLC_OK) {
        return status;
    }
    status = measure_chain(config, events, chain, &out, seconds, error);
    for (uint32_t s = 0; s < SERIES && status == SLC_OK; s++) {
        status = slc_bench_cms_add(result, names[s], out.words.digis, seconds + s * config->repetitions,
                                   config->repetitions, 0, 0);
    }
    slc_cms_result_clear(&out);
    slc_cms_chain_close(chain);
    return status;
}

static slc_status bench_varied(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                               double *seconds, slc_bench_cms_result *result, slc_error *error)
{
    slc_cms_config chain_config;
    slc_cms_config_default(&chain_config, SLC_CMS_PHASE1);
    chain_config.calibrated = true;
    slc_cms_chain *chain;
    slc_cms_result out = {0};
    slc_status status = slc_cms_chain_open(&chain_config, NULL, NULL, &chain, error);
    if (status != SLC_OK) {
        return status;
    }
    out.digis = events->varied; /* lent: but for `cluster` it is only read */
    status = slc_cms_chain_reserve_digis(chain, &out, error);
    for (uint32_t r = 0; r <= config->repetitions && status == SLC_OK; r++) {
        status = slc_cms_chain_run_digis(chain, &out, error);
        if (r > 0) {
            seconds[r - 1] = out.seconds[SLC_CMS_STAGE_CLUSTER];
        }
    }
    if (status == SLC_OK) {
        status = slc_bench_cms_add(result, "cluster, synthetic", events->varied.head.size, seconds,
                                   config->repetitions, 0, 0);
    }
    out.digis = (slc_cms_digis){0};
    slc_cms_result_clear(&out);
    slc_cms_chain_close(chain);
    return status;
}

static slc_status bench_core(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                             slc_bench_cms_result *result, slc_error *error)
{
    double *seconds = calloc((size_t)SERIES * config->repetitions, sizeof *seconds);
    if (seconds == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u repetitions", config->repetitions);
    }
    slc_simd_target target;
    slc_status status = slc_simd_choose(NULL, &target, error);
    if (status != SLC_OK) {
        free(seconds);
        return status;
    }
    (void)snprintf(result->machine, sizeof result->machine, "one core, instruction set %s",
                   slc_simd_name(target));
    status = bench_raw(config, events, seconds, result, error);
    status = status == SLC_OK ? bench_varied(config, events, seconds, result, error) : status;
    free(seconds);
    return status;
}

slc_status slc_bench_cms(const slc_bench_cms_config *config, slc_bench_cms_result *result, slc_error *error)
{
    memset(result, 0, sizeof *result);
    if (config->events == 0 || config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "a measurement needs events and repetitions");
    }
    slc_bench_cms_events events = {0};
    slc_status status = make_events(config, &events, error);
    if (status == SLC_OK) {
        const bool core = config->device == NULL || strcmp(config->device, "cpu") == 0;
        status = core ? bench_core(config, &events, result, error)
                      : slc_bench_cms_cuda(config, &events, result, error);
    }
    clear_events(&events);
    return status;
}
