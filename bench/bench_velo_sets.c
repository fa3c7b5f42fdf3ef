/* SPDX-License-Identifier: Apache-2.0
 *
 * Who takes part in which measurement of the VELO (bench_velo.h), and the law that the cost of events
 * follows.
 */
#include "bench/bench_velo_sets.h"
#include "bench/bench_velo_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *slc_bench_velo_what_name(slc_bench_velo_what what)
{
    static const char *const names[SLC_BENCH_VELO_WHATS] = {"threads",    "targets", "candidates",
                                                            "algorithms", "stages",  "scaling"};
    return what >= SLC_BENCH_VELO_THREADS && what < SLC_BENCH_VELO_WHATS ? names[what] : NULL;
}

uint64_t slc_bench_velo_held_events(const slc_bench_velo_events *events, size_t batch)
{
    const slc_bench_velo_held *held = &events->held[batch];
    return events->raw ? held->batch.n_events : held->hits.head.n_events;
}

/* ---- contestants ------------------------------------------------------------------------------- */

/* A way to search tracks. */
typedef struct way {
    const char *name;
    slc_velo_track_algorithm algorithm;
    slc_velo_track_strategy strategy;
    bool single_pass;
} way;

static const way ways[] = {
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

typedef struct lister {
    const slc_bench_velo_config *config;
    slc_bench_velo_what what;
    slc_bench_velo_contestant *list;
    size_t n;
} lister;

static slc_bench_velo_contestant *add(lister *l, const way *how, slc_simd_target target, uint32_t threads)
{
    slc_bench_velo_contestant *c = &l->list[l->n++];
    memset(c, 0, sizeof *c);
    c->what = l->what;
    c->name = how->name;
    c->threads = threads;
    slc_velo_config_default(&c->config);
    if (how->single_pass) {
        slc_velo_track_config_fast(&c->config.track);
    }
    c->config.track.algorithm = how->algorithm;
    c->config.track.strategy = how->strategy;
    c->config.exec.target = target;
    return c;
}

static void list_threads(lister *l)
{
    for (size_t t = 0; t < l->config->n_threads; t++) {
        for (size_t i = 0; i < STANDARD; i++) {
            (void)add(l, &ways[i], l->config->target, l->config->threads[t]);
        }
    }
}

static void list_targets(lister *l)
{
    for (size_t t = 0; t < l->config->n_threads; t++) {
        for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
            if (slc_simd_runs((slc_simd_target)target)) {
                (void)add(l, &ways[0], (slc_simd_target)target, l->config->threads[t]);
            }
        }
    }
}

static void list_candidates(lister *l)
{
    for (size_t i = 0; i < OURS; i++) {
        for (size_t k = 0; k < l->config->n_candidates; k++) {
            slc_bench_velo_contestant *c = add(l, &ways[i], l->config->target, 1);
            c->config.track.candidates = l->config->candidates[k];
            c->check = true;
        }
    }
}

static void list_ways(lister *l, size_t n, bool checked)
{
    for (size_t i = 0; i < n; i++) {
        add(l, &ways[i], l->config->target, 1)->check = checked;
    }
}

static void list_batch(lister *l, size_t batch)
{
    for (size_t i = 0; i < STANDARD; i++) {
        slc_bench_velo_contestant *c = add(l, &ways[i], l->config->target, 1);
        c->one_batch = true;
        c->batch = batch;
    }
}

static slc_status check_config(const slc_bench_velo_config *config, slc_error *error)
{
    if (config->repetitions == 0 || config->n_threads == 0 || config->n_candidates == 0) {
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

slc_status slc_bench_velo_contestants(const slc_bench_velo_config *config, slc_bench_velo_what what,
                                      size_t batch, slc_bench_velo_contestant **list, size_t *n,
                                      slc_error *error)
{
    *list = NULL;
    *n = 0;
    const slc_status status = check_config(config, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t most = config->n_threads * (STANDARD + (size_t)SLC_SIMD_TARGETS) +
                        OURS * config->n_candidates + ALL;
    lister l = {.config = config, .what = what, .list = calloc(most, sizeof *l.list)};
    if (l.list == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    switch (what) {
    case SLC_BENCH_VELO_THREADS:
        list_threads(&l);
        break;
    case SLC_BENCH_VELO_TARGETS:
        list_targets(&l);
        break;
    case SLC_BENCH_VELO_CANDIDATES:
        list_candidates(&l);
        break;
    case SLC_BENCH_VELO_ALGORITHMS:
        list_ways(&l, ALL, true);
        break;
    case SLC_BENCH_VELO_STAGES:
        list_ways(&l, OURS, false);
        break;
    case SLC_BENCH_VELO_SCALING:
        list_batch(&l, batch);
        break;
    default:
        break;
    }
    *list = l.list;
    *n = l.n;
    return l.n > 0 ? SLC_OK : slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
}

/* ---- the law ----------------------------------------------------------------------------------- */

static double seconds_of(const slc_bench_velo_row *row, slc_velo_stage stage)
{
    double all = 0;
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        all += row->stage[s].minimum;
    }
    return stage < SLC_VELO_STAGES ? row->stage[stage].minimum : all;
}

bool slc_bench_velo_fit_law(const slc_bench_velo_row *rows, size_t n, const char *name, slc_velo_stage stage,
                            slc_bench_velo_law *law)
{
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, sum_yy = 0;
    *law = (slc_bench_velo_law){.fewest = UINT64_MAX};
    for (size_t i = 0; i < n; i++) {
        const slc_bench_velo_row *row = &rows[i];
        const double seconds = seconds_of(row, stage);
        if (row->what != SLC_BENCH_VELO_SCALING || strcmp(row->name, name) != 0 || row->hits == 0 ||
            !(seconds > 0)) {
            continue;
        }
        const double x = log((double)row->hits), y = log(seconds);
        law->n++;
        law->fewest = row->hits < law->fewest ? row->hits : law->fewest;
        law->most = row->hits > law->most ? row->hits : law->most;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
        sum_yy += y * y;
    }
    if (law->n < 3 || law->fewest == law->most) {
        return false;
    }
    const double count = (double)law->n, xx = sum_xx - sum_x * sum_x / count;
    const double xy = sum_xy - sum_x * sum_y / count, yy = sum_yy - sum_y * sum_y / count;
    law->exponent = xy / xx;
    law->factor = exp((sum_y - law->exponent * sum_x) / count);
    law->sigma = sqrt(fmax(0, yy - law->exponent * xy) / (count - 2) / xx);
    return true;
}
