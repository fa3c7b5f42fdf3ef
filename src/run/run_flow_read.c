/* SPDX-License-Identifier: Apache-2.0
 *
 * The reading end of a flow: inputs one after the other into slots, in line for the workers.
 */
#include "io/io_stream.h"
#include "run/run_flow_events.h"
#include "run/run_flow_part.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* ---- slots ------------------------------------------------------------------------------------- */

void slc_flow_close_slot(slc_flow *f, slc_flow_slot *s)
{
    s->item.result = s->result;
    if (f->chain->item_close != NULL && s->result != NULL) {
        f->chain->item_close(&s->item);
    }
    free(s->result);
    if (s->item.user != NULL && f->config.user_clear != NULL) {
        f->config.user_clear(s->item.user);
    }
    free(s->item.user);
    slc_batch_clear(&s->item.batch);
    free(s);
}

/* A free slot, or a new one. Under the lock. */
static slc_flow_slot *take_slot(slc_flow *f)
{
    slc_flow_slot *s = f->free;
    if (s != NULL) {
        f->free = s->next;
    } else if ((s = calloc(1, sizeof *s)) != NULL) {
        s->flow = f;
        s->all = f->all;
        f->all = s;
    }
    return s;
}

static slc_status prepare_slot(slc_flow *f, slc_flow_slot *s, slc_error *error)
{
    slc_flow_item *item = &s->item;
    if (item->user == NULL && f->config.user_bytes > 0 &&
        (item->user = calloc(1, f->config.user_bytes)) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a batch");
    }
    if (s->result == NULL) {
        item->result = calloc(1, f->chain->result_bytes);
        if (item->result == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for a result");
        }
        const slc_status status = f->chain->item_open != NULL ? f->chain->item_open(f->setup, item, error)
                                                              : SLC_OK;
        if (status != SLC_OK) {
            free(item->result);
            return status;
        }
        s->result = item->result;
    }
    item->result = s->result;
    s->finished = s->ran = false;
    s->last = false;
    s->input = NULL;
    s->next = NULL;
    item->ended = item->opened = false;
    item->status = SLC_OK;
    item->error.text[0] = '\0';
    item->damage[0] = '\0';
    item->number = f->n_read;
    item->seconds_reading = item->seconds_finishing = item->seconds_working = 0;
    item->totals = (slc_io_totals){.events = 0};
    slc_faults_reset(&item->reading);
    return SLC_OK;
}

/* The bytes of a batch last from when they are read to the end of its chain: for a file whose workers read
 * them, as many as there are workers are enough, and stay in the caches. */
static void take_bytes(slc_flow *f, slc_batch *batch)
{
    slc_flow_lock(f);
    if (batch->capacity == 0 && f->n_spare > 0) {
        f->n_spare--;
        batch->bytes = f->spare[f->n_spare].at;
        batch->capacity = f->spare[f->n_spare].capacity;
    }
    slc_flow_unlock(f);
}

void slc_flow_give_bytes(slc_flow *f, slc_flow_slot *s)
{
    slc_batch *batch = &s->item.batch;
    if (f->n_spare < f->n_slots) {
        f->spare[f->n_spare++] = (slc_flow_bytes){batch->bytes, batch->capacity};
    } else {
        free(batch->bytes);
    }
    batch->bytes = NULL;
    batch->capacity = 0;
    batch->n_events = 0;
}

/* Behind the others. Under the lock. */
static void append(slc_flow *f, slc_flow_slot *s, slc_flow_state st)
{
    s->state = st;
    if (f->tail != NULL) {
        f->tail->next = s;
    } else {
        f->head = s;
    }
    f->tail = s;
    if (st == SLC_FLOW_READ) {
        f->n_untaken++;
        f->untaken = f->untaken == NULL ? s : f->untaken;
    }
}

slc_flow_slot *slc_flow_untaken(slc_flow_slot *s)
{
    while (s != NULL && s->state != SLC_FLOW_READ) {
        s = s->next;
    }
    return s;
}

/* ---- reading ----------------------------------------------------------------------------------- */

void slc_flow_leave_input(slc_flow *f, slc_flow_input *in)
{
    if (in != NULL && --in->users == 0) {
        if (in->at != NULL) {
            f->chain->input_close(in->at);
        }
        free(in);
    }
}

/* The item becomes the end of the input at hand. */
static void end_input(slc_flow *f, slc_flow_slot *s, slc_status status, const slc_error *error)
{
    slc_flow_item *item = &s->item;
    item->ended = true;
    item->opened = f->input->at != NULL;
    item->totals = (slc_io_totals){.events = 0};
    item->result = NULL;
    item->status = status;
    item->error = *error;
    s->input = f->input; /* its reader's share goes over to the item */
    f->input = NULL;
}

static bool stopped(const slc_flow *f)
{
    return f->config.stop != NULL && f->config.stop(f->config.context);
}

/* Is a read that waits for a pipe to end? */
static bool is_over(void *context)
{
    slc_flow *f = context;
    slc_flow_lock(f);
    const bool over = f->at_end;
    slc_flow_unlock(f);
    return over;
}

bool slc_flow_has_to_read_ahead(const slc_flow_config *config)
{
    struct stat about;
    bool may_wait = config->read != NULL;
    for (uint32_t i = 0; i < config->n_paths && config->read == NULL && !may_wait; i++) {
        may_wait = stat(config->paths[i], &about) != 0 || !S_ISREG(about.st_mode);
    }
    return may_wait && config->patience > 0;
}

void slc_flow_init_lock(slc_flow *f)
{
    pthread_condattr_t clock; /* with these attributes nothing of it can fail on Linux */
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&f->mutex, NULL);
    (void)pthread_cond_init(&f->readable, NULL);
    (void)pthread_cond_init(&f->workable, NULL);
    (void)pthread_cond_init(&f->ready, &clock);
    (void)pthread_condattr_destroy(&clock);
}

bool slc_flow_wait(slc_flow *f)
{
    if (f->config.patience <= 0) {
        (void)pthread_cond_wait(&f->ready, &f->mutex);
        return true;
    }
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = (double)until.tv_nsec / 1e9 + f->config.patience, seconds = floor(whole);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec = (long)(1e9 * (whole - seconds));
    return pthread_cond_timedwait(&f->ready, &f->mutex, &until) == 0;
}

/* An input of paths, with what came of opening it. NULL: no memory. */
static slc_flow_input *open_input(slc_flow *f, uint32_t number, slc_status *status, slc_error *error)
{
    slc_flow_input *in = calloc(1, sizeof *in);
    if (in == NULL) {
        *status = slc_fail(error, SLC_ERR_MEMORY, "no memory for an input");
        return NULL;
    }
    in->users = 1;
    slc_run_part_place(&f->part, number, &f->config);
    *status = f->chain->input_open(f->setup, &f->config, f->config.paths[number], &in->at, error);
    return in;
}

/* While the end of an input is being read, who reads ahead in the next one has nothing else to do. */
static void open_ahead(slc_flow *f)
{
    struct stat about;
    if (f->chain == &slc_flow_cms && f->ahead == NULL && f->n_opened < f->part.end &&
        slc_flow_cms_looked(f->input->at) && stat(f->config.paths[f->n_opened], &about) == 0 &&
        S_ISREG(about.st_mode)) {
        f->ahead = open_input(f, f->n_opened, &f->ahead_status, &f->ahead_error);
    }
}

/* From the paths: a batch, or the end of an input. SLC_END after the last. */
static slc_status read_paths(slc_flow *f, slc_flow_slot *s, slc_error *error)
{
    if (f->input == NULL) {
        if (f->n_opened == f->part.end) {
            s->last = f->chain->run_last != NULL && !f->last_read;
            s->item.path = "";
            f->last_read = true;
            return s->last ? SLC_OK : SLC_END;
        }
        slc_status status = f->ahead_status;
        if (f->ahead != NULL) {
            f->input = f->ahead;
            f->ahead = NULL;
            *error = f->ahead_error;
        } else if ((f->input = open_input(f, f->n_opened, &status, error)) == NULL) {
            return status;
        }
        s->item.input = f->n_opened;
        s->item.path = f->config.paths[f->n_opened];
        f->n_opened = f->chain->joined ? f->config.n_paths : f->n_opened + 1;
        if (status != SLC_OK) {
            end_input(f, s, status, error);
            return SLC_OK;
        }
        if (stopped(f)) { /* while it was opened, which may wait for its first bytes */
            return SLC_END;
        }
    }
    s->item.input = f->n_opened - 1;
    s->item.path = f->config.paths[f->n_opened - 1];
    const slc_status status = f->chain->read(f->input->at, &f->config, &s->item, error);
    if (status != SLC_OK) {
        end_input(f, s, status, error);
        return SLC_OK;
    }
    s->input = f->input;
    open_ahead(f);
    return SLC_OK;
}

/* The end of the input at hand; the next time that of all. */
static slc_status stop_paths(slc_flow *f, slc_flow_slot *s, const slc_error *error)
{
    if (f->input == NULL) {
        return SLC_END;
    }
    s->item.input = f->n_opened - 1;
    s->item.path = f->config.paths[s->item.input];
    end_input(f, s, SLC_END, error);
    return SLC_OK;
}

/* Fills a slot; not under the lock. */
static slc_status read_slot(slc_flow *f, slc_flow_slot *s, slc_error *error)
{
    const double began = slc_clock_seconds();
    slc_status status = prepare_slot(f, s, error);
    if (status == SLC_OK && stopped(f)) {
        status = stop_paths(f, s, error);
    } else if (status == SLC_OK && f->config.read != NULL) {
        s->item.path = "";
        status = f->config.read(f->config.context, &s->item, error);
    } else if (status == SLC_OK) {
        if (f->spare != NULL && !f->late) {
            take_bytes(f, &s->item.batch);
        }
        status = read_paths(f, s, error);
        f->late = s->item.batch.capacity == 0;
    }
    s->item.seconds_reading = slc_clock_seconds() - began;
    return status;
}

void slc_flow_finish(slc_flow *f, slc_flow_slot *s)
{
    if (!s->finished && f->chain->finish != NULL && s->input != NULL) {
        const double began = slc_clock_seconds();
        if (f->spare != NULL) {
            take_bytes(f, &s->item.batch);
        }
        s->item.status = f->chain->finish(&s->item, &s->item.error);
        if (s->item.ended) {
            s->item.opened = true;
            s->item.result = NULL;
        }
        s->item.seconds_finishing = slc_clock_seconds() - began;
    }
    s->finished = true;
}

/* Reads one item and puts it in line. Under the lock, which it gives back meanwhile. */
void slc_flow_read_one(slc_flow *f)
{
    slc_flow_slot *s = take_slot(f);
    slc_error error = {.status = SLC_OK};
    if (s == NULL) {
        (void)slc_fail(&error, SLC_ERR_MEMORY, "no memory for a batch");
        slc_flow_end_reading(f, SLC_ERR_MEMORY, &error);
        return;
    }
    f->n_flying++;
    const bool far_ahead = f->has_reader && f->n_untaken >= f->n_workers;
    slc_flow_unlock(f);
    slc_io_stream_ask(is_over, f);
    const slc_status status = read_slot(f, s, &error);
    slc_io_stream_ask(NULL, NULL);
    if (status == SLC_OK && far_ahead && !s->item.ended) {
        slc_flow_finish(f, s); /* a batch waits for every worker: part of their work is done here */
    }
    if (status < 0 && error.text[0] == '\0') { /* of a function of the caller's */
        (void)slc_fail(&error, status, "reading: %s", slc_status_name(status));
    }
    slc_flow_lock(f);
    f->reading += s->item.seconds_reading;
    if (status != SLC_OK) {
        s->state = SLC_FLOW_FREE;
        s->next = f->free;
        f->free = s;
        f->n_flying--;
        slc_flow_end_reading(f, status, &error);
        return;
    }
    f->n_read++;
    if (s->input != NULL && !s->item.ended) {
        s->input->users++;
    }
    append(f, s, s->item.ended ? SLC_FLOW_DONE : SLC_FLOW_READ);
    (void)pthread_cond_signal(&f->workable);
    if (!f->by_workers || slc_flow_is_due(f)) {
        (void)pthread_cond_signal(&f->ready);
    }
}
