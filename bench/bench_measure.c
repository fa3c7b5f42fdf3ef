/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns, samples and clocks of every benchmark (bench.h).
 */
#include "bench/bench.h"

#include "base/team.h"
#include "run/run_bind.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CLOCKS = 3 /* of a turn */ };

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Fibonacci numbers: no compiler knows a shorter way to them than one addition after the other. */
static uint32_t additions(uint32_t a, uint32_t n)
{
    uint32_t b = a;
    for (uint32_t i = 0; i < n; i++) {
        a += b;
        b += a;
        a += b;
        b += a;
        a += b;
        b += a;
        a += b;
        b += a;
    }
    return a;
}

double slc_bench_hertz(void)
{
    enum { LOOPS = 10000, CHAIN = 8 };
    /* What is read and written as volatile stays between the two looks at the clock, and so does the chain
     * from the one to the other. */
    volatile uint32_t number = 1;
    const double begin = slc_clock_seconds();
    number = additions(number, LOOPS);
    return (double)LOOPS * CHAIN / (slc_clock_seconds() - begin);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

slc_bench_time slc_bench_time_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return (slc_bench_time){.minimum = values[0], .median = 0.5 * (values[n / 2] + values[(n - 1) / 2])};
}

bool slc_bench_goes_on(const slc_bench_watch *watch, uint64_t done, uint64_t of)
{
    return watch == NULL || watch->tell == NULL || watch->tell(watch->context, done, of);
}

/* ---- threads ----------------------------------------------------------------------------------- */

typedef struct share {
    const slc_run_places *places;
    uint64_t n;
    slc_bench_work *work;
    void *context;
    atomic_uint_fast64_t next;
    atomic_bool failed;
    slc_status status;
    slc_error error;
} share;

static void take_part(void *context, uint32_t thread)
{
    share *s = context;
    slc_error error = {.status = SLC_OK};
    slc_status status = slc_run_places_bind(s->places, thread, &error);
    for (uint64_t k;
         status == SLC_OK && !atomic_load(&s->failed) && (k = atomic_fetch_add(&s->next, 1)) < s->n;) {
        status = s->work(s->context, thread, k, &error);
    }
    if (status != SLC_OK && !atomic_exchange(&s->failed, true)) {
        s->status = status;
        s->error = error;
    }
    slc_run_places_unbind(s->places);
}

slc_status slc_bench_share(slc_team *team, const slc_run_places *places, uint32_t threads, uint64_t n,
                           slc_bench_work *work, void *context, slc_error *error)
{
    share s = {.places = places, .n = n, .work = work, .context = context};
    slc_team_run(team, threads, take_part, &s);
    if (s.status != SLC_OK) {
        *error = s.error;
    }
    return s.status;
}

/* ---- turns ------------------------------------------------------------------------------------- */

static uint32_t rounds_of(const slc_bench_plan *plan)
{
    return plan->rounds > 0 ? plan->rounds : plan->repetitions;
}

static uint32_t series_of(const slc_bench_contestant *c)
{
    return c->n_series > 0 ? c->n_series : 1;
}

/* As many runs as fit into the time. */
static uint32_t fitting(const slc_bench_plan *plan, double warm)
{
    const double most = (double)plan->repetitions;
    const double fit = plan->seconds > 0 && warm > 0 ? plan->seconds / warm : most;
    const uint32_t least = plan->least > 1 ? plan->least : 1;
    const uint32_t wanted = fit < least ? least : fit >= most ? plan->repetitions : (uint32_t)fit;
    return wanted < plan->repetitions ? wanted : plan->repetitions;
}

static void keep(slc_bench_contestant *c, const slc_bench_plan *plan, const double *seconds)
{
    for (uint32_t s = 0; s < series_of(c); s++) {
        c->samples[(size_t)s * plan->repetitions + c->done] = seconds[s];
    }
    c->done++;
}

/* The run that a turn begins with, and does not count. */
static slc_status warm_up(const slc_bench_plan *plan, slc_bench_contestant *c, uint32_t round,
                          slc_error *error)
{
    double seconds[SLC_BENCH_SERIES] = {0};
    slc_status status = c->runs != NULL ? c->runs(c->self, 1, seconds, error)
                                        : c->run(c->self, seconds, error);
    if (status != SLC_OK || round > 0) {
        return status;
    }
    c->wanted = fitting(plan, seconds[0]);
    if (c->wanted == 1 && plan->seconds > 0 && plan->least == 0) { /* a slow one runs once in all */
        keep(c, plan, seconds);
    }
    return c->verify != NULL ? c->verify(c->self, error) : SLC_OK;
}

static slc_status turn(const slc_bench_plan *plan, slc_bench_contestant *c, uint32_t round, slc_error *error)
{
    slc_status status = SLC_OK;
    if (round == 0 || plan->warm || plan->afresh) {
        status = warm_up(plan, c, round, error);
    }
    const uint32_t until = (uint32_t)((uint64_t)c->wanted * (round + 1) / rounds_of(plan));
    if (status == SLC_OK && c->runs != NULL && c->done < until) {
        status = c->runs(c->self, until - c->done, c->samples + c->done, error);
        c->done = status == SLC_OK ? until : c->done;
    }
    while (status == SLC_OK && c->done < until) {
        double seconds[SLC_BENCH_SERIES] = {0};
        status = c->run(c->self, seconds, error);
        if (status == SLC_OK) {
            keep(c, plan, seconds);
        }
    }
    for (int i = 0; i < CLOCKS && status == SLC_OK; i++) {
        c->clocks[c->n_clocks++] = slc_bench_hertz();
    }
    return status;
}

static void leave(slc_bench_contestant *c)
{
    if (c->open && c->clear != NULL) {
        c->clear(c->self);
    }
    c->open = false;
}

static slc_status enter(const slc_bench_plan *plan, slc_bench_contestant *c, uint32_t round, slc_error *error)
{
    slc_status status = SLC_OK;
    if (!c->open) {
        c->open = true;
        status = c->prepare != NULL ? c->prepare(c->self, error) : SLC_OK;
    }
    status = status == SLC_OK ? turn(plan, c, round, error) : status;
    if (status != SLC_OK || plan->afresh || round + 1 == rounds_of(plan)) {
        leave(c);
    }
    if (status == SLC_ERR_UNSUPPORTED) {
        c->unsupported = true;
        return SLC_OK;
    }
    return status;
}

static slc_status all_rounds(const slc_bench_plan *plan, slc_bench_contestant *contestants, size_t n,
                             slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t round = 0; round < rounds_of(plan); round++) {
        for (size_t i = 0; i < n && status == SLC_OK; i++) {
            slc_bench_contestant *c = &contestants[i];
            if (c->unsupported || (round > 0 && c->done == c->wanted)) {
                continue;
            }
            status = slc_bench_goes_on(plan->watch, 0, 0) ? enter(plan, c, round, error) : SLC_END;
        }
    }
    return status;
}

slc_status slc_bench_measure(const slc_bench_plan *plan, slc_bench_contestant *contestants, size_t n,
                             slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        slc_bench_contestant *c = &contestants[i];
        c->unsupported = c->open = false;
        c->wanted = c->done = c->n_clocks = 0;
        c->samples = calloc(plan->repetitions, series_of(c) * sizeof *c->samples);
        c->clocks = calloc(rounds_of(plan), CLOCKS * sizeof *c->clocks);
        if (c->samples == NULL || c->clocks == NULL) {
            status = slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
        }
    }
    status = status == SLC_OK ? all_rounds(plan, contestants, n, error) : status;
    for (size_t i = 0; i < n; i++) {
        slc_bench_contestant *c = &contestants[i];
        for (uint32_t s = 0; s < series_of(c) && status == SLC_OK && c->done > 0; s++) {
            c->time[s] = slc_bench_time_of(c->samples + (size_t)s * plan->repetitions, c->done);
        }
        c->hertz = status == SLC_OK && c->n_clocks > 0 ? slc_bench_time_of(c->clocks, c->n_clocks).median : 0;
        leave(c);
        free(c->samples);
        free(c->clocks);
        c->samples = c->clocks = NULL;
    }
    return status;
}
