/* SPDX-License-Identifier: Apache-2.0
 * Batches in order through threads. Every batch has a number; three counters say how far reading, taking and
 * writing are, and `end` is the number at which all of it stops: where reading ended, or at the first batch
 * that failed. A failure can only lower `end`, and batches below it are always finished, so which error is
 * told does not depend on who was faster.
 *
 * One mutex and three conditions: a batch is milliseconds of work, so that a microsecond for handing it over
 * is nothing.
 */
#include "base/team.h"
#include "run/run_bind.h"
#include <sluice/run_pipeline.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct flow flow;

typedef struct worker {
    flow *flow;
    pthread_t thread;
    uint32_t index;
    double working, starving;
} worker;

struct flow {
    const slc_run_stages *stages;
    uint32_t n_slots, n_workers;
    slc_run_places *places;
    sigset_t mask; /* of the caller, for the reader */

    pthread_mutex_t mutex; /* over all that follows */
    pthread_cond_t readable, workable, writable;
    uint64_t n_read, n_taken, n_written;
    uint64_t end;         /* nothing with this number or a higher one is worked on or written */
    bool at_end;          /* `end` is final but for failures: nothing more is read */
    bool over;            /* the caller is done: the reader may go */
    bool *worked;         /* by slot */
    uint32_t n_begun;     /* workers whose `begin` has returned */
    uint32_t first_wrong; /* the first worker whose `begin` failed */
    slc_status status;    /* of `end` */
    slc_error error;

    double reading, writing;
    worker *workers;
};

static uint32_t slot_of(const flow *f, uint64_t number)
{
    return (uint32_t)(number % f->n_slots);
}

static void lock(flow *f)
{
    (void)pthread_mutex_lock(&f->mutex);
}

static void unlock(flow *f)
{
    (void)pthread_mutex_unlock(&f->mutex);
}

static void wake_all(flow *f)
{
    (void)pthread_cond_broadcast(&f->readable);
    (void)pthread_cond_broadcast(&f->workable);
    (void)pthread_cond_broadcast(&f->writable);
}

/* Ends everything at a number, unless it ends earlier already. Under the lock. */
static void end_at(flow *f, uint64_t number, slc_status status, const slc_error *error)
{
    if (number < f->end) {
        f->end = number;
        f->status = status;
        f->error = *error;
        f->error.status = status;
    }
    f->at_end = true;
    wake_all(f);
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Reads one batch into its slot, which is free. Under the lock, which it gives back meanwhile. */
static void read_one(flow *f)
{
    const slc_run_stages *stages = f->stages;
    const uint64_t number = f->n_read;
    slc_error error = {.status = SLC_OK};
    unlock(f);
    const double began = slc_clock_seconds();
    const bool stop = stages->stop != NULL && stages->stop(stages->context);
    const slc_status status = stop ? SLC_END : stages->read(stages->context, slot_of(f, number), &error);
    f->reading += slc_clock_seconds() - began; /* the reader's own until it is joined */
    lock(f);
    if (status == SLC_OK && stages->early != NULL && f->n_read > f->n_taken) {
        unlock(f);
        stages->early(stages->context, slot_of(f, number));
        lock(f);
    }
    if (status != SLC_OK) {
        end_at(f, number, status == SLC_END ? SLC_OK : status, &error);
        return;
    }
    f->worked[slot_of(f, number)] = false;
    f->n_read++;
    (void)pthread_cond_signal(&f->workable);
    (void)pthread_cond_signal(&f->writable); /* a caller that works itself waits there */
}

static bool all_begun(const flow *f)
{
    return f->n_begun == f->n_workers;
}

static void *read_all(void *argument)
{
    flow *f = argument;
    (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
    lock(f);
    while (!f->at_end) {
        if (all_begun(f) && f->n_read - f->n_written < f->n_slots) {
            read_one(f);
        } else {
            (void)pthread_cond_wait(&f->readable, &f->mutex);
        }
    }
    /* This is the thread that receives signals: it stays until all is written. */
    while (!f->over) {
        (void)pthread_cond_wait(&f->readable, &f->mutex);
    }
    unlock(f);
    return NULL;
}

/* ---- working ----------------------------------------------------------------------------------- */

/* Takes the next batch, works on it and says so. Under the lock, which it gives back meanwhile. */
static void work_one(flow *f, worker *self)
{
    const uint64_t number = f->n_taken++;
    slc_error error = {.status = SLC_OK};
    unlock(f);
    const double began = slc_clock_seconds();
    const slc_status status = f->stages->work(f->stages->context, slot_of(f, number), self->index, &error);
    self->working += slc_clock_seconds() - began;
    lock(f);
    if (status != SLC_OK) {
        end_at(f, number, status, &error);
        return;
    }
    f->worked[slot_of(f, number)] = true;
    if (number == f->n_written) {
        (void)pthread_cond_signal(&f->writable);
    }
}

/* Binds the thread and calls `begin`. Returns whether it has to be ended. */
static bool begin_worker(flow *f, const worker *self)
{
    slc_error error = {.status = SLC_OK};
    slc_status status = slc_run_places_bind(f->places, self->index, &error);
    const bool bound = status == SLC_OK;
    if (bound && f->stages->begin != NULL) {
        status = f->stages->begin(f->stages->context, self->index, &error);
    }
    lock(f);
    f->n_begun++;
    if (status != SLC_OK && self->index < f->first_wrong) {
        f->first_wrong = self->index;
        f->end = UINT64_MAX; /* the first worker's error counts, not the first to come */
        end_at(f, 0, status, &error);
    }
    if (all_begun(f)) {
        wake_all(f);
    }
    unlock(f);
    return status == SLC_OK;
}

static void end_worker(flow *f, const worker *self)
{
    if (f->stages->end != NULL) {
        f->stages->end(f->stages->context, self->index);
    }
}

static void *serve(void *argument)
{
    worker *self = argument;
    flow *f = self->flow;
    const bool begun = begin_worker(f, self);
    lock(f);
    while (f->n_taken < f->end && !(f->at_end && f->n_taken == f->n_read)) {
        if (all_begun(f) && f->n_taken < f->n_read) {
            work_one(f, self);
        } else {
            const double began = slc_clock_seconds();
            (void)pthread_cond_wait(&f->workable, &f->mutex);
            self->starving += slc_clock_seconds() - began;
        }
    }
    unlock(f);
    if (begun) {
        end_worker(f, self);
    }
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void write_one(flow *f)
{
    slc_error error = {.status = SLC_OK};
    unlock(f);
    const double began = slc_clock_seconds();
    const slc_status status = f->stages->write(f->stages->context, slot_of(f, f->n_written), &error);
    f->writing += slc_clock_seconds() - began;
    lock(f);
    if (status != SLC_OK) {
        end_at(f, f->n_written, status, &error);
        return;
    }
    f->n_written++;
    (void)pthread_cond_signal(&f->readable);
}

/* The caller's loop: writes what is worked on, in order; `self` is not NULL where the caller also works, and
 * without a reader (`reads`) it reads, too. */
static void write_all(flow *f, worker *self, bool reads)
{
    lock(f);
    while (f->n_written < f->end && !(f->at_end && f->n_written == f->n_read)) {
        if (f->n_written < f->n_taken && f->worked[slot_of(f, f->n_written)]) {
            write_one(f);
        } else if (self != NULL && f->n_taken < f->n_read) {
            work_one(f, self);
        } else if (reads) {
            read_one(f);
        } else {
            const double began = slc_clock_seconds();
            (void)pthread_cond_wait(&f->writable, &f->mutex);
            if (self != NULL) {
                self->starving += slc_clock_seconds() - began;
            }
        }
    }
    unlock(f);
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Signals that other processes send go to the reader, whose blocking call they interrupt; those that a thread
 * brings upon itself, and the profilers' ones, stay with it. */
static void leave_signals_to_reader(flow *f)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t all;
    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        (void)sigdelset(&all, own[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &all, &f->mask);
}

static void no_threads(flow *f, uint32_t n_started)
{
    const slc_error error = {.text = "no threads could be started"};
    lock(f);
    f->n_begun += f->n_workers - n_started; /* those that are not there do not keep the others waiting */
    f->first_wrong = 0;
    f->end = UINT64_MAX;
    end_at(f, 0, SLC_ERR_MEMORY, &error);
    unlock(f);
}

/* Workers and reader as threads, writing here. */
static void run_threads(flow *f, bool self_working)
{
    pthread_t reader;
    uint32_t n_started = 0;
    leave_signals_to_reader(f);
    const uint32_t n_wanted = self_working ? 0 : f->n_workers;
    while (n_started < n_wanted &&
           pthread_create(&f->workers[n_started].thread, NULL, serve, &f->workers[n_started]) == 0) {
        n_started++;
    }
    bool begun = false;
    const bool has_reader = n_started == n_wanted && pthread_create(&reader, NULL, read_all, f) == 0;
    if (!has_reader) {
        no_threads(f, n_started);
    } else if (self_working) {
        begun = begin_worker(f, &f->workers[0]);
    }
    write_all(f, self_working ? &f->workers[0] : NULL, false);
    if (begun) {
        end_worker(f, &f->workers[0]);
    }
    lock(f);
    f->over = true;
    wake_all(f);
    unlock(f);
    for (uint32_t i = 0; i < n_started; i++) {
        (void)pthread_join(f->workers[i].thread, NULL);
    }
    if (has_reader) {
        (void)pthread_join(reader, NULL);
    }
    (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
}

/* ---- the pipeline ------------------------------------------------------------------------------ */

uint32_t slc_run_pipeline_workers(const slc_run_pipeline_config *config)
{
    return config->threads > 0 ? config->threads : slc_team_processors();
}

uint32_t slc_run_pipeline_slots(const slc_run_pipeline_config *config)
{
    const uint32_t workers = slc_run_pipeline_workers(config);
    if (config->slots == 0 && workers == 1 && slc_team_processors() == 1) {
        return 1; /* who would read ahead would take the processor from who works, and the caches */
    }
    return config->slots > 0 ? config->slots : workers < UINT32_MAX / 2 - 1 ? 2 * workers + 2 : workers;
}

static slc_status open_flow(flow *f, const slc_run_pipeline_config *config, slc_error *error)
{
    f->n_workers = slc_run_pipeline_workers(config);
    f->n_slots = slc_run_pipeline_slots(config);
    f->end = UINT64_MAX;
    f->first_wrong = UINT32_MAX;
    f->worked = calloc(f->n_slots, sizeof *f->worked);
    f->workers = calloc(f->n_workers, sizeof *f->workers);
    if (f->worked == NULL || f->workers == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u workers", f->n_workers);
    }
    for (uint32_t i = 0; i < f->n_workers; i++) {
        f->workers[i] = (worker){.flow = f, .index = i};
    }
    return slc_run_places_open(config->bind, &f->places, error);
}

static void close_flow(flow *f)
{
    slc_run_places_close(f->places);
    free(f->worked);
    free(f->workers);
}

static void sum_times(const flow *f, double total, slc_run_pipeline_times *times)
{
    *times = (slc_run_pipeline_times){
        .total = total, .reading = f->reading, .writing = f->writing, .slots = f->n_written};
    for (uint32_t i = 0; i < f->n_workers; i++) {
        times->working += f->workers[i].working;
        times->starving += f->workers[i].starving;
    }
}

static void run_flow(flow *f)
{
    const bool alone = f->n_workers == 1;
    (void)pthread_mutex_init(&f->mutex, NULL); /* with default attributes these cannot fail on Linux */
    (void)pthread_cond_init(&f->readable, NULL);
    (void)pthread_cond_init(&f->workable, NULL);
    (void)pthread_cond_init(&f->writable, NULL);
    if (!alone || f->n_slots > 1) {
        run_threads(f, alone);
    } else if (begin_worker(f, &f->workers[0])) {
        write_all(f, &f->workers[0], true);
        end_worker(f, &f->workers[0]);
    }
    if (alone) {
        slc_run_places_unbind(f->places);
    }
    (void)pthread_cond_destroy(&f->writable);
    (void)pthread_cond_destroy(&f->workable);
    (void)pthread_cond_destroy(&f->readable);
    (void)pthread_mutex_destroy(&f->mutex);
}

slc_status slc_run_pipeline(const slc_run_pipeline_config *config, const slc_run_stages *stages,
                            slc_run_pipeline_times *times, slc_error *error)
{
    flow f;
    memset(&f, 0, sizeof f);
    f.stages = stages;
    slc_status status = open_flow(&f, config, error);
    if (status != SLC_OK) {
        close_flow(&f);
        return status;
    }
    const double began = slc_clock_seconds();
    run_flow(&f);
    if (times != NULL) {
        sum_times(&f, slc_clock_seconds() - began, times);
    }
    if (f.status != SLC_OK && error != NULL) {
        *error = f.error;
    }
    status = f.status;
    close_flow(&f);
    return status;
}
