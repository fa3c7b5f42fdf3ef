/* SPDX-License-Identifier: Apache-2.0
 *
 * The toy: inputs of numbers, a chain that adds 1000.
 */
#include "support/flow_toy.h"

#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct input {
    flow_script *s;
    int left;
    bool fails;
} input;

void flow_toy_delay(const flow_script *s, int salt)
{
    if (s->delays) {
        const uint32_t mixed = (uint32_t)salt * 2654435761U ^ (uint32_t)salt << 7;
        const struct timespec time = {.tv_nsec = (long)(mixed >> 8) % 200000};
        (void)nanosleep(&time, NULL);
    }
}

static flow_script *script_of(const void *setup)
{
    return *(flow_script *const *)setup;
}

static slc_status open_toy(const void *setup, const slc_flow_config *config, void **opened, slc_error *error)
{
    flow_script *s = script_of(setup);
    (void)config;
    const int nth = atomic_fetch_add(&s->n_chains, 1);
    if (nth == s->open_fails) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "no chain");
    }
    flow_toy_chain *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->s = s;
    atomic_fetch_add(&s->n_chains_open, 1);
    *opened = c;
    return SLC_OK;
}

static void close_toy(void *opened)
{
    flow_toy_chain *c = opened;
    atomic_fetch_sub(&c->s->n_chains_open, 1);
    free(c);
}

/* Results know nothing of the setup when they are closed, so they are counted here. */
static atomic_int results;

static slc_status open_result(const void *setup, slc_flow_item *item, slc_error *error)
{
    (void)setup;
    (void)item;
    (void)error;
    atomic_fetch_add(&results, 1);
    return SLC_OK;
}

static void close_result(slc_flow_item *item)
{
    (void)item;
    atomic_fetch_sub(&results, 1);
}

/* "5": five batches. "3!": three and an error. "x": cannot be opened. */
static slc_status open_input(const void *setup, const slc_flow_config *config, const char *path,
                             void **opened, slc_error *error)
{
    (void)config;
    if (path[0] == 'x') {
        return slc_fail(error, SLC_ERR_IO, "%s: no such input", path);
    }
    input *in = calloc(1, sizeof *in);
    assert_non_null(in);
    *in = (input){.s = script_of(setup), .left = atoi(path), .fails = strchr(path, '!') != NULL};
    atomic_fetch_add(&in->s->n_inputs_open, 1);
    *opened = in;
    return SLC_OK;
}

slc_status flow_toy_take(flow_script *s, slc_flow_item *item)
{
    flow_made *m = item->result;
    m->number = s->n_read++;
    m->product = 0;
    m->is_finished = false;
    const int in_flight = atomic_fetch_add(&s->read_now, 1) + 1 - atomic_load(&s->handed);
    /* One may be handed out and not yet counted. */
    if (s->most_in_flight > 0 && in_flight > (int)s->most_in_flight + 1) {
        atomic_fetch_add(&s->wrong, 1);
    }
    return SLC_OK;
}

static slc_status read_input(void *opened, const slc_flow_config *config, slc_flow_item *item,
                             slc_error *error)
{
    input *in = opened;
    (void)config;
    flow_toy_delay(in->s, 3 * (in->left & 0xffff));
    if (in->left == 0) {
        return in->fails ? slc_fail(error, SLC_ERR_FORMAT, "broken after %d", in->s->n_read) : SLC_END;
    }
    in->left--;
    return flow_toy_take(in->s, item);
}

static void close_input(void *opened)
{
    input *in = opened;
    atomic_fetch_sub(&in->s->n_inputs_open, 1);
    free(in);
}

static slc_status finish_toy(slc_flow_item *item, slc_error *error)
{
    flow_made *m = item->result;
    (void)error;
    if (m->is_finished) {
        return slc_fail(error, SLC_ERR_USAGE, "finished twice");
    }
    m->is_finished = true;
    m->finisher = pthread_self();
    return SLC_OK;
}

static slc_status run_toy(void *opened, const void *setup, slc_flow_item *item, slc_error *error)
{
    flow_toy_chain *c = opened;
    flow_made *m = item->result;
    (void)setup;
    if (atomic_fetch_add(&c->busy, 1) != 0 || (item->path[0] != '\0' && !m->is_finished)) {
        atomic_fetch_add(&c->s->wrong, 1);
    }
    if (m->is_finished && !pthread_equal(m->finisher, pthread_self())) {
        atomic_fetch_add(&c->s->n_early, 1);
    }
    flow_toy_delay(c->s, 7 * m->number);
    c->sum += m->number;
    m->product = m->number + 1000;
    static const uint64_t powers[] = {0, 1, 1 + SLC_CHECKSUM_FACTOR}; /* of so many events, summed */
    item->n_summed = (unsigned)m->number % 3;
    item->checksum = powers[item->n_summed] * (unsigned)m->product; /* each has the product as its hash */
    atomic_fetch_add(&c->s->n_worked, 1);
    atomic_fetch_sub(&c->busy, 1);
    if (m->number == c->s->work_fails || m->number == c->s->work_fails_too) {
        return slc_fail(error, SLC_ERR_FORMAT, "work %d", m->number);
    }
    return SLC_OK;
}

static slc_status run_last(void *opened, const void *setup, slc_flow_item *item, slc_error *error)
{
    const flow_toy_chain *c = opened;
    flow_made *m = item->result;
    (void)setup;
    (void)error;
    m->number = NEVER;
    m->product = c->sum;
    return SLC_OK;
}

static void settle_toy(void *opened, slc_flow_item *item)
{
    const input *in = opened;
    in->s->n_finished += item->ended; /* in the caller's thread */
    item->totals = (slc_io_totals){.events = item->ended ? 1 : 0};
}

#define TOY                                                                                                  \
    .size = sizeof(slc_flow_chain), .name = "toy", .open = open_toy, .close = close_toy,                     \
    .result_bytes = sizeof(flow_made), .item_open = open_result, .item_close = close_result,                 \
    .input_open = open_input, .read = read_input, .input_close = close_input, .finish = finish_toy,          \
    .run = run_toy, .settle = settle_toy
const slc_flow_chain flow_toy = {TOY}, flow_toy_with_state = {TOY, .ordered = true, .run_last = run_last};

static bool stop_script(void *context)
{
    const flow_script *s = context;
    return s->stop_after != NEVER && s->n_read >= s->stop_after;
}

static slc_status step(void *context, slc_flow_item *item, slc_error *error)
{
    const flow_script *s = context;
    flow_made *m = item->result;
    int *user = item->user;
    (*user)++;
    if (m->product != m->number + 1000) {
        return slc_fail(error, SLC_ERR_USAGE, "the step comes before the chain");
    }
    return m->number == s->step_fails ? slc_fail(error, SLC_ERR_STRICT, "step %d", m->number) : SLC_OK;
}

static flow_script *cleared;
static void clear_user(void *user)
{
    (void)user;
    atomic_fetch_add(&cleared->n_users_cleared, 1);
}

flow_script flow_script_new(void)
{
    return (flow_script){.work_fails = NEVER,
                         .work_fails_too = NEVER,
                         .open_fails = NEVER,
                         .step_fails = NEVER,
                         .stop_after = NEVER,
                         .delays = true};
}

slc_flow_config flow_toy_config(flow_script *s, const char *const *paths, uint32_t n_paths, uint32_t threads,
                                uint32_t n_slots)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = paths;
    config.n_paths = n_paths;
    config.exec.threads = threads;
    config.n_slots = n_slots;
    config.context = s;
    config.stop = stop_script;
    config.work = step;
    config.user_bytes = sizeof(int);
    config.user_clear = clear_user;
    s->most_in_flight = n_slots;
    cleared = s;
    return config;
}

int flow_toy_results(void)
{
    return atomic_load(&results);
}
