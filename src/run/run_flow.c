/* SPDX-License-Identifier: Apache-2.0
 *
 * Items in order through threads. They stand in one list in the order of reading: the reader appends, a
 * worker takes the oldest that is read, the caller gets the first when it is done. A failure of a batch
 * belongs to its item, so which error is told does not depend on who was faster.
 *
 * One mutex and three conditions: a batch is milliseconds of work, so that a microsecond for handing it over
 * is nothing.
 */
#include "cuda/cuda_lend.h"
#include "run/run_flow_part.h"
#include "simd/simd_checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void slc_flow_lock(slc_flow *f)
{
    (void)pthread_mutex_lock(&f->mutex);
}

void slc_flow_unlock(slc_flow *f)
{
    (void)pthread_mutex_unlock(&f->mutex);
}

/* Under the lock. */
void slc_flow_wake_all(slc_flow *f)
{
    (void)pthread_cond_broadcast(&f->readable);
    (void)pthread_cond_broadcast(&f->workable);
    (void)pthread_cond_broadcast(&f->ready);
}

/* Nothing more is read; `status` is what comes after the last item. Under the lock. */
void slc_flow_end_reading(slc_flow *f, slc_status status, const slc_error *error)
{
    if (!f->at_end) {
        f->at_end = true;
        f->end = status;
        if (status < 0) {
            f->error = *error;
        }
    }
    slc_flow_wake_all(f);
}

static void *read_all(void *argument)
{
    slc_flow *f = argument;
    (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
    slc_flow_lock(f);
    while (!f->over) {
        if (!f->at_end && f->n_flying < f->n_slots) {
            slc_flow_read_one(f);
        } else {
            (void)pthread_cond_wait(&f->readable,
                                    &f->mutex); /* to the end, as this thread gets the signals */
        }
    }
    slc_flow_unlock(f);
    return NULL;
}

/* ---- working ----------------------------------------------------------------------------------- */

static void run_slot(slc_flow *f, slc_flow_worker *w, slc_flow_slot *s, bool with_caller)
{
    slc_flow_item *item = &s->item;
    slc_flow_finish(f, s);
    const double began = slc_clock_seconds();
    item->checksum = item->n_summed = 0;
    if (item->status == SLC_OK) {
        s->ran = true;
        item->status = s->last ? f->chain->run_last(w->chain, f->setup, item, &item->error)
                               : f->chain->run(w->chain, f->setup, item, &item->error);
    }
    if (item->status == SLC_OK && with_caller && f->config.work != NULL) {
        item->status = f->config.work(f->config.context, item, &item->error);
    }
    if (item->status > SLC_OK) { /* it would end the flow, and nobody would know */
        item->status = slc_fail(&item->error, SLC_ERR_USAGE, "a step in a worker returned \"%s\"",
                                slc_status_name(item->status));
    }
    item->seconds_working = slc_clock_seconds() - began;
}

/* Takes the oldest that is read. Under the lock, which it gives back meanwhile. */
static void work_one(slc_flow *f, slc_flow_worker *w)
{
    slc_flow_slot *s = f->untaken;
    s->state = SLC_FLOW_TAKEN;
    f->untaken = slc_flow_untaken(s->next);
    f->n_untaken--;
    slc_flow_unlock(f);
    run_slot(f, w, s, true);
    slc_flow_lock(f);
    w->working += s->item.seconds_working;
    s->state = SLC_FLOW_DONE;
    if (f->spare != NULL && s->item.batch.capacity > 0) {
        slc_flow_give_bytes(f, s);
    }
    if (f->by_workers ? slc_flow_is_due(f) : s == f->head) {
        (void)pthread_cond_signal(&f->ready);
    }
}

/* With the device that is the worker's. */
static slc_status open_chain(slc_flow *f, slc_flow_worker *w, slc_error *error)
{
    if (w->chain != NULL || f->chain->open == NULL) {
        return SLC_OK;
    }
    char device[SLC_RUN_DEVICE_ROOM];
    slc_flow_config config = f->chains;
    config.worker = w->index;
    config.exec.device = slc_run_devices_word(&f->devices, w->index, config.exec.device, device);
    return f->chain->open(f->setup, &config, &w->chain, error);
}

static void *serve(void *argument)
{
    slc_flow_worker *w = argument;
    slc_flow *f = w->flow;
    slc_error error = {.status = SLC_OK};
    slc_status status = slc_run_places_bind(f->places, w->index, &error);
    status = status == SLC_OK ? open_chain(f, w, &error) : status;
    slc_flow_lock(f);
    if (status != SLC_OK) {
        if (w->index < f->first_wrong) { /* the first worker's reason counts, before that why reading ended */
            f->first_wrong = w->index;
            f->at_end = false;
            slc_flow_end_reading(f, status, &error);
        }
        f->over = true;
        slc_flow_wake_all(f);
    }
    while (!f->over) {
        if (f->untaken != NULL) {
            work_one(f, w);
        } else if (f->by_workers && !f->reading_now && !f->at_end && f->n_flying < f->n_slots) {
            f->reading_now = true;
            slc_flow_read_one(f);
            f->reading_now = false;
        } else {
            const double began = slc_clock_seconds();
            (void)pthread_cond_wait(&f->workable, &f->mutex);
            w->starving += slc_clock_seconds() - began;
        }
    }
    slc_flow_unlock(f);
    return NULL;
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Signals that other processes send go to the reader; those that a thread brings upon itself, and the
 * profilers' ones, stay with it. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t all;
    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        (void)sigdelset(&all, own[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &all, before);
}

/* To run anew. */
static void make_ready(slc_flow_slot *s)
{
    s->item.status = SLC_OK;
    s->item.error = (slc_error){.status = SLC_OK};
}

/* The threads, at the first _next. */
static slc_status begin(slc_flow *f, slc_error *error)
{
    f->begun = true;
    f->began = slc_clock_seconds();
    f->untaken = slc_flow_untaken(f->head); /* what was read ahead */
    for (slc_flow_slot *s = f->head; s != NULL; s = s->next) {
        if (s->ran) {
            make_ready(s);
        }
    }
    block_signals(&f->mask);
    bool all = true;
    if (slc_flow_works_itself(f) &&
        !f->chain->ordered) { /* the threads inside of a chain would share its processor */
        const slc_status status = slc_run_places_bind(f->places, 0, error);
        if (status != SLC_OK) {
            (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
            return status;
        }
    }
    for (uint32_t i = 0; i < f->n_workers && !slc_flow_works_itself(f) && all; i++) {
        all = pthread_create(&f->workers[i].thread, NULL, serve, &f->workers[i]) == 0;
        f->n_started += all;
    }
    if (all && !f->by_workers && (!slc_flow_works_itself(f) || f->n_slots > 1)) {
        f->has_reader = true; /* before the reader asks */
        if (pthread_create(&f->reader, NULL, read_all, f) != 0) {
            f->has_reader = all = false;
        }
    }
    if (!f->config.signals_to_reader || !f->has_reader) {
        (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
    }
    return all ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no threads could be started");
}

static void end_threads(slc_flow *f)
{
    slc_flow_lock(f);
    f->over = true;
    f->at_end = true;
    slc_flow_wake_all(f);
    slc_flow_unlock(f);
    for (uint32_t i = 0; i < f->n_started; i++) {
        (void)pthread_join(f->workers[i].thread, NULL);
    }
    if (f->has_reader) {
        (void)pthread_join(f->reader, NULL);
        if (f->config.signals_to_reader) {
            (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
        }
    }
    if (f->begun && slc_flow_works_itself(f)) {
        slc_run_places_unbind(f->places);
    }
    f->n_started = 0;
    f->has_reader = false;
}

/* ---- handing out ------------------------------------------------------------------------------- */

/* The first item, done; NULL at the end, and with *late when patience is. */
static slc_flow_slot *take_first(slc_flow *f, bool *late)
{
    slc_flow_worker *self = slc_flow_works_itself(f) ? &f->workers[0] : NULL;
    slc_flow_lock(f);
    while ((f->head != NULL || !f->at_end) && !*late) {
        if (f->over) {
            break;
        }
        if (f->head != NULL && f->head->state == SLC_FLOW_DONE) {
            slc_flow_slot *s = f->head;
            f->head = s->next;
            f->tail = f->head == NULL ? NULL : f->tail;
            f->n_flying--;
            s->state = SLC_FLOW_HELD;
            (void)pthread_cond_signal(f->by_workers ? &f->workable : &f->readable);
            slc_flow_unlock(f);
            return s;
        }
        if (self != NULL && f->untaken != NULL) {
            work_one(f, self);
        } else if (!f->has_reader && !f->by_workers && !f->at_end) {
            slc_flow_read_one(f);
        } else {
            const double began = slc_clock_seconds();
            *late = !slc_flow_wait(f);
            if (self != NULL) {
                self->starving += slc_clock_seconds() - began;
            }
        }
    }
    slc_flow_unlock(f);
    return NULL;
}

static void add_checksum(slc_flow_totals *totals, const slc_flow_item *item)
{
    if (item->status == SLC_OK) {
        totals->checksum += slc_checksum_power(totals->n_summed) * item->checksum;
        totals->n_summed += item->n_summed;
    }
}

/* What depends on the order. */
static void settle(slc_flow *f, slc_flow_slot *s)
{
    slc_flow_item *item = &s->item;
    if (s->input != NULL) {
        if (f->chain->settle != NULL && s->input->at != NULL) {
            f->chain->settle(s->input->at, item);
        }
        slc_flow_lock(f);
        slc_flow_leave_input(f, s->input);
        slc_flow_unlock(f);
        s->input = NULL;
    }
    slc_flow_lock(f);
    slc_faults_merge(&f->totals.faults, &item->reading);
    if (item->ended) {
        f->totals.events += item->totals.events;
        f->totals.lost_events += item->totals.lost_events;
    } else {
        f->totals.items += !s->last;
        add_checksum(&f->totals, item);
    }
    if (f->damage[0] == '\0') {
        memcpy(f->damage, item->damage, sizeof f->damage);
    }
    slc_flow_unlock(f);
}

/* An item that nobody is to see. */
static void pass_over(slc_flow *f, slc_flow_slot *s)
{
    slc_flow_lock(f);
    slc_flow_leave_input(f, s->input);
    slc_flow_unlock(f);
    s->input = NULL;
    slc_flow_release(f, &s->item);
}

/* After the last item: why reading ended. Of inputs that end without an item, what was lost is the error's
 * text. */
static slc_status tell_end(slc_flow *f, slc_error *error)
{
    slc_flow_lock(f);
    const slc_status status = f->end < 0 ? f->end : SLC_END;
    f->ended = f->ended > 0 ? f->ended : slc_clock_seconds();
    f->at_end = f->over = true; /* a read that was under way is not handed out after the end */
    slc_flow_wake_all(f);
    const uint64_t n_faults = slc_faults_total(&f->totals.faults);
    if (error != NULL && status < 0) {
        *error = f->error;
        error->status = status;
    } else if (error != NULL && !f->config.keep_going) {
        *error = (slc_error){.status = SLC_END};
        if (f->totals.lost_events > 0 || n_faults > 0) {
            (void)snprintf(error->text, sizeof error->text, "%" PRIu64 " lost, %" PRIu64 " faults%s%.300s",
                           f->totals.lost_events, n_faults, f->damage[0] != '\0' ? "; " : "", f->damage);
        } else if (f->totals.items == 0) {
            (void)snprintf(error->text, sizeof error->text, "nothing was read");
        }
    }
    slc_flow_unlock(f);
    return status;
}

/* The reading thread, which had them, ends. */
static void take_signals(const slc_flow *f)
{
    if (f->config.signals_to_reader && f->has_reader) {
        (void)pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
    }
}

slc_status slc_flow_next(slc_flow *f, slc_flow_item **item, slc_error *error)
{
    *item = NULL;
    slc_status status = f->begun ? SLC_OK : begin(f, error);
    while (status == SLC_OK) {
        bool late = false;
        slc_flow_slot *s = take_first(f, &late);
        if (s == NULL && late) {
            return SLC_OK;
        }
        if (s == NULL) {
            take_signals(f);
            return tell_end(f, error);
        }
        if (s->input != NULL && s->input->over) { /* what is behind the end of an input */
            pass_over(f, s);
            continue;
        }
        if (s->input != NULL && s->item.ended) {
            s->input->over = true;
        }
        settle(f, s);
        if (f->config.keep_going || (!s->item.ended && s->item.status == SLC_OK)) {
            *item = &s->item;
            return SLC_OK;
        }
        if (s->item.status < 0) {
            status = s->item.status;
            if (error != NULL) {
                *error = s->item.error;
                error->status = status;
            }
        }
        slc_flow_release(f, &s->item);
    }
    take_signals(f);
    slc_flow_lock(f);
    f->at_end = true;
    f->end = status; /* and again, if asked again */
    f->error = error != NULL ? *error : (slc_error){.status = status};
    f->over = true;
    slc_flow_wake_all(f);
    slc_flow_unlock(f);
    return status;
}

void slc_flow_release(slc_flow *f, slc_flow_item *item)
{
    slc_flow_slot *s = (slc_flow_slot *)(void *)item;
    slc_flow_lock(f);
    if (s != NULL && s->state == SLC_FLOW_HELD) { /* once, and not what was read ahead */
        s->state = SLC_FLOW_FREE;
        s->next = f->free;
        f->free = s;
    }
    slc_flow_unlock(f);
}

void slc_flow_cancel(slc_flow *f)
{
    slc_flow_lock(f);
    slc_flow_end_reading(f, SLC_END, NULL);
    slc_flow_unlock(f);
}

slc_status slc_flow_ahead(slc_flow *f, slc_flow_item **item, slc_error *error)
{
    *item = NULL;
    if (f->begun || f->chain->ordered) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_flow_ahead: %s",
                        f->begun ? "after the first slc_flow_next" : "the chain keeps state between batches");
    }
    slc_flow_lock(f);
    slc_flow_slot *before = f->tail;
    if (!f->at_end) {
        slc_flow_read_one(f);
    }
    slc_flow_unlock(f);
    if (f->tail == before) {
        if (f->end < 0 && error != NULL) {
            *error = f->error;
        }
        return f->end < 0 ? f->end : SLC_END;
    }
    *item = &f->tail->item;
    return (*item)->ended ? SLC_OK : slc_flow_rerun(f, *item, error);
}

slc_status slc_flow_rerun(slc_flow *f, slc_flow_item *item, slc_error *error)
{
    slc_flow_slot *s = (slc_flow_slot *)(void *)item;
    if (f->begun) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_flow_rerun: after the first slc_flow_next");
    }
    if (item->ended || (s->finished && !s->ran)) {
        return SLC_OK; /* what could not be finished is not run */
    }
    make_ready(s);
    run_slot(f, &f->workers[0], s, false);
    return SLC_OK;
}

void *slc_flow_first_chain(slc_flow *f)
{
    return f->workers[0].chain;
}

void slc_flow_totals_of(slc_flow *f, slc_flow_totals *totals)
{
    slc_flow_lock(f);
    *totals = f->totals;
    totals->workers = f->n_workers;
    totals->first_input = f->part.first;
    totals->n_inputs = f->part.end - f->part.first;
    totals->first_place = f->part.from;
    totals->first_event = f->part.first_event;
    totals->unlocked_bytes = f->devices.list.n > 0 ? slc_cuda_refused() - f->refused : 0;
    totals->seconds = f->begun ? (f->ended > 0 ? f->ended : slc_clock_seconds()) - f->began : 0;
    totals->reading = f->reading;
    for (uint32_t i = 0; i < f->n_workers; i++) {
        totals->working += f->workers[i].working;
        totals->starving += f->workers[i].starving;
    }
    slc_flow_unlock(f);
}

/* ---- opening and closing ------------------------------------------------------------------------- */

slc_status slc_flow_open(const slc_flow_config *config, const slc_flow_chain *chain, const void *setup,
                         slc_flow **flow, slc_error *error)
{
    *flow = NULL;
    if (config == NULL || setup == NULL) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "slc_flow_open: no configuration, or nothing that the chain is to do");
    }
    slc_flow_config own;
    slc_run_part part;
    slc_run_devices devices;
    slc_status status = slc_flow_take_config(config, chain, setup, &own, &part, &devices, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_flow *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a flow");
    }
    f->config = own;
    f->part = part;
    f->n_opened = part.first;
    f->chain = chain;
    f->setup = setup;
    f->devices = devices;
    f->refused = devices.list.n > 0 ? slc_cuda_refused() : 0;
    f->first_wrong = UINT32_MAX;
    slc_flow_count_workers(f);
    f->chains = f->config;
    slc_flow_init_lock(f);
    f->workers = calloc(f->n_workers, sizeof *f->workers);
    f->spare = own.results_alone ? calloc(f->n_slots, sizeof *f->spare) : NULL;
    if (f->workers == NULL || (own.results_alone && f->spare == NULL)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for %u workers", f->n_workers);
        f->n_workers = 0;
        slc_flow_close(f);
        return status;
    }
    for (uint32_t i = 0; i < f->n_workers; i++) {
        f->workers[i] = (slc_flow_worker){.flow = f, .index = i};
    }
    status = slc_run_places_open(f->config.exec.bind, &f->places, error);
    status = status == SLC_OK ? open_chain(f, &f->workers[0], error) : status;
    if (status != SLC_OK) {
        slc_flow_close(f);
        return status;
    }
    *flow = f;
    return SLC_OK;
}

void slc_flow_close(slc_flow *f)
{
    if (f == NULL) {
        return;
    }
    end_threads(f);
    while (f->head != NULL) { /* not handed out: their inputs are closed all the same */
        slc_flow_slot *s = f->head;
        f->head = s->next;
        slc_flow_leave_input(f, s->input);
    }
    slc_flow_leave_input(f, f->input);
    slc_flow_leave_input(f, f->ahead);
    while (f->all != NULL) {
        slc_flow_slot *s = f->all;
        f->all = s->all;
        slc_flow_close_slot(f, s);
    }
    for (uint32_t i = 0; f->workers != NULL && i < f->n_workers; i++) {
        if (f->workers[i].chain != NULL) {
            f->chain->close(f->workers[i].chain);
        }
    }
    slc_run_places_close(f->places);
    (void)pthread_cond_destroy(&f->ready);
    (void)pthread_cond_destroy(&f->workable);
    (void)pthread_cond_destroy(&f->readable);
    (void)pthread_mutex_destroy(&f->mutex);
    while (f->n_spare > 0) {
        free(f->spare[--f->n_spare].at);
    }
    free(f->spare);
    free(f->workers);
    free(f);
}
