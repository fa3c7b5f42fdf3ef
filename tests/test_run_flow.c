/* SPDX-License-Identifier: Apache-2.0
 *
 * The flow hands out every batch once, in the order of reading whatever the threads do, never has more under
 * way than there are slots, never writes to what the caller holds, and tells the first error in that order.
 * Delays are pseudo-random, so that threads meet in different ways; built with the thread sanitizer, this is
 * also the test for races.
 */
#include "base/team.h"
#include "run/run_flow_part.h"

#include "support/cmocka_all.h"
#include "support/flow_toy.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void assert_all_closed(const flow_script *s)
{
    assert_int_equal(atomic_load(&s->n_chains_open), 0);
    assert_int_equal(atomic_load(&s->n_inputs_open), 0);
    assert_int_equal(flow_toy_results(), 0);
    assert_int_equal(atomic_load(&s->wrong), 0);
}

/* Everything that comes, checked; the status that it ends with. `held_every` > 0: every so many items are
 * held until the end. */
static slc_status drain(flow_script *s, slc_flow *flow, int first, int held_every, int *n, int *n_ends,
                        slc_error *error)
{
    slc_flow_item *item, *held[200];
    int wanted[200], n_held = 0;
    slc_status status;
    *n = *n_ends = 0;
    while ((status = slc_flow_next(flow, &item, error)) == SLC_OK) {
        if (item->ended) {
            assert_null(item->result);
            ++*n_ends;
            slc_flow_release(flow, item);
            continue;
        }
        const flow_made *m = item->result;
        atomic_fetch_add(&s->handed, 1);
        if (item->status == SLC_OK && m->number != NEVER) {
            assert_int_equal(m->product, m->number + 1000);
        }
        if (m->number != NEVER) {
            assert_int_equal(m->number, first + *n);
            ++*n;
        }
        flow_toy_delay(s, 5 * *n);
        if (held_every > 0 && *n % held_every == 0 && n_held < 200) {
            wanted[n_held] = m->number;
            held[n_held++] = item;
        } else {
            slc_flow_release(flow, item);
        }
    }
    for (int i = 0; i < n_held; i++) {
        const flow_made *m = held[i]->result;
        assert_int_equal(m->number, wanted[i]);
        assert_int_equal(m->product, wanted[i] + 1000);
        if (i % 2 == 0) {
            slc_flow_release(flow, held[i]); /* the others are the flow's again when it is closed */
        }
    }
    return status;
}

/* ---- order ------------------------------------------------------------------------------------- */

/* Batches of 0, 1 and 2 events, one after the other (flow_toy.c). */
static uint64_t toy_checksum(int n_batches, uint64_t *n_summed)
{
    uint64_t sum = 0, power = 1;
    *n_summed = 0;
    for (int number = 0; number < n_batches; number++) {
        for (int e = 0; e < number % 3; e++, power *= SLC_CHECKSUM_FACTOR) {
            sum += power * (unsigned)(number + 1000);
            ++*n_summed;
        }
    }
    return sum;
}

static void test_every_batch_once_in_order(void **state)
{
    (void)state;
    static const char *const paths[] = {"7", "0", "31", "1", "12"};
    int n_early = 0;
    for (uint32_t threads = 0; threads <= 7; threads += threads < 3 ? 1 : 2) {
        for (uint32_t n_slots = 0; n_slots <= 20; n_slots += n_slots < 3 ? 1 : 17) {
            for (int held_every = 0; held_every <= 3; held_every += 3) {
                flow_script s = flow_script_new();
                slc_flow_config config = flow_toy_config(&s, paths, 5, threads, n_slots);
                slc_flow *flow;
                slc_error error;
                flow_script *setup = &s;
                int n, n_ends;
                config.keep_going = held_every == 0;
                assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
                assert_int_equal(drain(&s, flow, 0, held_every, &n, &n_ends, &error), SLC_END);
                assert_int_equal(slc_flow_next(flow, &(slc_flow_item *){NULL}, &error), SLC_END);
                slc_flow_totals totals;
                slc_flow_totals_of(flow, &totals);
                uint64_t n_summed = 0;
                assert_int_equal(totals.items, 51);
                assert_int_equal(totals.events, 5);
                assert_true(totals.checksum == toy_checksum(51, &n_summed));
                assert_int_equal(totals.n_summed, n_summed);
                assert_true(totals.working > 0 && totals.seconds > 0);
                slc_flow_close(flow);
                assert_int_equal(n, 51);
                assert_int_equal(n_ends, held_every == 0 ? 5 : 0);
                assert_int_equal(s.n_finished, 5);
                assert_int_equal(atomic_load(&s.n_worked), 51);
                assert_true(n_slots != 1 || atomic_load(&s.n_early) == 0);
                n_early += atomic_load(&s.n_early);
                if (threads > 0) {
                    assert_int_equal(atomic_load(&s.n_chains), threads);
                }
                assert_true(atomic_load(&s.n_users_cleared) >= 1);
                assert_all_closed(&s);
            }
        }
    }
    assert_true(n_early > 0); /* the reader finishes while workers have enough to do */
}

static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(slc_flow_slots(5, 3), 5);
    assert_int_equal(slc_flow_slots(1, 64), 1);
    assert_int_equal(slc_flow_slots(0, 3), 8);
    assert_int_equal(slc_flow_slots(0, 1), slc_team_processors() == 1 ? 1 : 3);
}

/* A flow that is closed before its end, with items held, read and being read. */
static void test_closing_early(void **state)
{
    (void)state;
    static const char *const paths[] = {"5", "40"};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        for (int taken = 0; taken <= 9; taken += 3) {
            flow_script s = flow_script_new();
            slc_flow_config config = flow_toy_config(&s, paths, 2, threads, 6);
            slc_flow *flow;
            flow_script *setup = &s;
            assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
            for (int i = 0; i < taken; i++) {
                slc_flow_item *item;
                assert_int_equal(slc_flow_next(flow, &item, NULL), SLC_OK);
                atomic_fetch_add(&s.handed, 1);
                if (i % 2 == 0) {
                    slc_flow_release(flow, item);
                }
            }
            slc_flow_close(flow);
            assert_all_closed(&s);
        }
    }
    slc_flow_close(NULL);
}

/* A chain with state is one, whatever the threads, and has an item more. */
static void test_a_chain_with_state(void **state)
{
    (void)state;
    static const char *const paths[] = {"10", "11"};
    for (uint32_t threads = 1; threads <= 3; threads++) {
        flow_script s = flow_script_new();
        slc_flow_config config = flow_toy_config(&s, paths, 2, threads, 4);
        slc_flow *flow;
        slc_flow_item *item;
        flow_script *setup = &s;
        int sum = 0, n = 0;
        config.work = NULL;
        assert_int_equal(slc_flow_open(&config, &flow_toy_with_state, &setup, &flow, NULL), SLC_OK);
        while (slc_flow_next(flow, &item, NULL) == SLC_OK) {
            const flow_made *m = item->result;
            atomic_fetch_add(&s.handed, 1);
            if (n < 21) {
                assert_int_equal(m->number, n);
                assert_int_equal(item->input, n >= 10);
                sum += m->number;
            } else {
                assert_int_equal(m->number, NEVER);
                assert_int_equal(m->product, sum);
            }
            n++;
            slc_flow_release(flow, item);
        }
        assert_int_equal(n, 22);
        slc_flow_close(flow);
        assert_int_equal(atomic_load(&s.n_chains), 1);
        assert_all_closed(&s);
    }
}

/* ---- errors ------------------------------------------------------------------------------------ */

/* Ends with `wanted` and `text` after n batches; with keep_going it goes to the end. */
static void assert_ends(flow_script s, const char *const *paths, uint32_t n_paths, uint32_t threads,
                        uint32_t n_slots, slc_status wanted, const char *text, int n_before)
{
    slc_flow_config config = flow_toy_config(&s, paths, n_paths, threads, n_slots);
    slc_flow *flow;
    slc_error error = {.text = ""};
    flow_script *setup = &s;
    int n, n_ends;
    assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
    assert_int_equal(drain(&s, flow, 0, 0, &n, &n_ends, &error), wanted);
    assert_int_equal(n, n_before);
    assert_string_equal(error.text, text);
    error.text[0] = '\0';
    assert_int_equal(slc_flow_next(flow, &(slc_flow_item *){NULL}, &error), wanted); /* and again */
    assert_string_equal(error.text, text);
    slc_flow_close(flow);
    assert_all_closed(&s);
}

static void test_the_first_error_wins(void **state)
{
    (void)state;
    static const char *const paths[] = {"9", "14!", "x", "6"};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        flow_script s = flow_script_new();
        s.work_fails = 17;
        s.work_fails_too = 12;
        assert_ends(s, paths, 4, threads, 4, SLC_ERR_FORMAT, "work 12", 12);
        s.work_fails_too = NEVER;
        s.step_fails = 3;
        assert_ends(s, paths, 4, threads, 4, SLC_ERR_STRICT, "step 3", 3);
        s = flow_script_new();
        assert_ends(s, paths, 4, threads, 4, SLC_ERR_FORMAT, "broken after 23", 23);
        assert_ends(s, paths + 2, 2, threads, 4, SLC_ERR_IO, "x: no such input", 0);
    }
}

/* In reading, in the chain and in the caller's step, of any batch, whatever the threads and slots. */
static void test_errors_everywhere(void **state)
{
    (void)state;
    static const uint32_t slots[] = {1, 2, 3, 20};
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
            for (int at = 0; at < 12; at += at < 3 ? 1 : 4) {
                char broken[16], text[32];
                const char *const reads[] = {broken}, *const works[] = {"12"};
                flow_script s = flow_script_new();
                s.delays = at % 2 == 1;
                (void)snprintf(broken, sizeof broken, "%d!", at);
                (void)snprintf(text, sizeof text, "broken after %d", at);
                assert_ends(s, reads, 1, threads, slots[i], SLC_ERR_FORMAT, text, at);
                s.work_fails = at;
                (void)snprintf(text, sizeof text, "work %d", at);
                assert_ends(s, works, 1, threads, slots[i], SLC_ERR_FORMAT, text, at);
                s.work_fails = NEVER;
                s.step_fails = at;
                (void)snprintf(text, sizeof text, "step %d", at);
                assert_ends(s, works, 1, threads, slots[i], SLC_ERR_STRICT, text, at);
            }
        }
    }
}

static void test_keep_going(void **state)
{
    (void)state;
    static const char *const paths[] = {"9", "14!", "x", "6"};
    static const slc_status ends[] = {SLC_END, SLC_ERR_FORMAT, SLC_ERR_IO, SLC_END};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        flow_script s = flow_script_new();
        s.work_fails = 12;
        slc_flow_config config = flow_toy_config(&s, paths, 4, threads, 5);
        slc_flow *flow;
        slc_flow_item *item;
        flow_script *setup = &s;
        int n = 0, n_ends = 0;
        config.keep_going = true;
        assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
        while (slc_flow_next(flow, &item, NULL) == SLC_OK) {
            assert_int_equal(item->input, n_ends);
            assert_ptr_equal(item->path, paths[n_ends]);
            if (item->ended) {
                assert_int_equal(item->status, ends[n_ends]);
                assert_int_equal(item->opened, ends[n_ends] != SLC_ERR_IO);
                n_ends++;
            } else {
                assert_int_equal(item->status, n == 12 ? SLC_ERR_FORMAT : SLC_OK);
                assert_string_equal(item->error.text, n == 12 ? "work 12" : "");
                atomic_fetch_add(&s.handed, 1);
                n++;
            }
            slc_flow_release(flow, item);
        }
        assert_int_equal(n, 29);
        assert_int_equal(n_ends, 4);
        slc_flow_close(flow);
        assert_all_closed(&s);
    }
}

static void test_a_worker_without_a_chain(void **state)
{
    (void)state;
    static const char *const paths[] = {"30"};
    for (int which = 0; which < 4; which++) {
        flow_script s = flow_script_new();
        s.open_fails = which;
        slc_flow_config config = flow_toy_config(&s, paths, 1, 4, 0);
        slc_flow *flow;
        slc_error error = {.text = ""};
        flow_script *setup = &s;
        slc_status status = slc_flow_open(&config, &flow_toy, &setup, &flow, &error);
        assert_int_equal(status, which == 0 ? SLC_ERR_UNSUPPORTED : SLC_OK);
        if (status == SLC_OK) {
            int n, n_ends;
            assert_int_equal(drain(&s, flow, 0, 0, &n, &n_ends, &error), SLC_ERR_UNSUPPORTED);
            slc_flow_close(flow);
        } else {
            assert_null(flow);
        }
        assert_string_equal(error.text, "no chain");
        assert_all_closed(&s);
    }
}

static void test_wrong_configurations(void **state)
{
    (void)state;
    assert_int_equal(slc_flow_slots(5, 1), 5);
    assert_int_equal(slc_flow_slots(0, 3), 8);
    assert_int_equal(slc_flow_slots(0, 1), slc_team_processors() == 1 ? 1 : 3);
    static const char *const paths[] = {"3"};
    flow_script s = flow_script_new(), *setup = &s;
    const slc_flow_config right = flow_toy_config(&s, paths, 1, 2, 0);
    slc_flow_config wrong[5];
    for (int i = 0; i < 5; i++) {
        wrong[i] = right;
    }
    wrong[0].size = 0;
    wrong[1].size += 8;
    wrong[2].n_paths = 0;
    wrong[3].batch_events = 0;
    wrong[4].batch_bytes = 0;
    slc_flow *flow = (slc_flow *)&s;
    slc_error error;
    for (int i = 0; i < 5; i++) {
        error.text[0] = '\0';
        assert_int_equal(slc_flow_open(&wrong[i], &flow_toy, &setup, &flow, &error), SLC_ERR_USAGE);
        assert_null(flow);
        assert_string_not_equal(error.text, "");
    }
    slc_flow_chain other = flow_toy;
    other.size = 8;
    assert_int_equal(slc_flow_open(&right, &other, &setup, &flow, &error), SLC_ERR_USAGE);
    other = flow_toy;
    other.input_open = NULL;
    assert_int_equal(slc_flow_open(&right, &other, &setup, &flow, &error), SLC_ERR_USAGE);
    assert_int_equal(atomic_load(&s.n_chains), 0);
}

/* ---- ending from outside ------------------------------------------------------------------------- */

static void test_stop_hands_out_what_was_read(void **state)
{
    (void)state;
    static const char *const paths[] = {"8", "100"};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        for (int after = 0; after <= 20; after += 4) {
            flow_script s = flow_script_new();
            s.stop_after = after;
            slc_flow_config config = flow_toy_config(&s, paths, 2, threads, 1 + (uint32_t)after % 7);
            slc_flow *flow;
            flow_script *setup = &s;
            int n, n_ends;
            config.keep_going = true;
            assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
            assert_int_equal(drain(&s, flow, 0, 0, &n, &n_ends, NULL), SLC_END);
            assert_int_equal(n, after);
            assert_int_equal(n_ends, after == 0 ? 0 : after <= 8 ? 1 : 2); /* that at hand, too */
            slc_flow_close(flow);
            assert_all_closed(&s);
        }
    }
}

static void *cancel(void *flow)
{
    const struct timespec some = {.tv_nsec = 3000000};
    (void)nanosleep(&some, NULL);
    slc_flow_cancel(flow);
    return NULL;
}

static void test_cancel_from_another_thread(void **state)
{
    (void)state;
    static const char *const paths[] = {"1000000000"};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        flow_script s = flow_script_new();
        slc_flow_config config = flow_toy_config(&s, paths, 1, threads, 0);
        slc_flow *flow;
        flow_script *setup = &s;
        pthread_t other;
        int n, n_ends;
        config.n_slots = 5;
        assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
        assert_int_equal(pthread_create(&other, NULL, cancel, flow), 0);
        assert_int_equal(drain(&s, flow, 0, 0, &n, &n_ends, NULL), SLC_END);
        assert_int_equal(pthread_join(other, NULL), 0);
        slc_flow_close(flow);
        assert_true(n == s.n_read || n == s.n_read - 1); /* a read that was under way */
        assert_all_closed(&s);
    }
}

/* ---- reading ahead ------------------------------------------------------------------------------- */

static void test_ahead(void **state)
{
    (void)state;
    static const char *const paths[] = {"3", "x", "20"};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        for (int n_ahead = 0; n_ahead <= 30; n_ahead += 3) {
            flow_script s = flow_script_new();
            slc_flow_config config = flow_toy_config(&s, paths, 3, threads, 2);
            slc_flow *flow;
            slc_flow_item *ahead[30];
            flow_script *setup = &s;
            int n, n_ends = 0, got = 0, batches = 0;
            config.keep_going = true;
            s.most_in_flight = 0; /* as many as are asked for */
            assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
            flow_toy_chain *c = slc_flow_first_chain(flow);
            while (got < n_ahead && slc_flow_ahead(flow, &ahead[got], NULL) == SLC_OK) {
                batches += !ahead[got++]->ended;
            }
            assert_int_equal(got, n_ahead < 26 ? n_ahead : 26); /* 23 batches, 3 ends */
            assert_int_equal(atomic_load(&s.n_worked), batches);
            for (int i = 0; i < got; i++) {
                if (!ahead[i]->ended) {
                    assert_int_equal(*(int *)ahead[i]->user, 0); /* the caller's step comes later */
                    assert_int_equal(slc_flow_rerun(flow, ahead[i], NULL), SLC_OK);
                }
            }
            assert_int_equal(c->sum, batches * (batches - 1)); /* twice 0 + 1 + ... */
            assert_int_equal(drain(&s, flow, 0, 0, &n, &n_ends, NULL), SLC_END);
            assert_int_equal(n, 23);
            assert_int_equal(n_ends, 3);
            assert_int_equal(slc_flow_ahead(flow, &ahead[0], NULL), SLC_ERR_USAGE);
            slc_flow_close(flow);
            assert_all_closed(&s);
        }
    }
}

/* ---- the caller's own source, signals, binding ----------------------------------------------------- */

static slc_status read_own(void *context, slc_flow_item *item, slc_error *error)
{
    flow_script *s = context;
    (void)error;
    return s->n_read == 25 ? SLC_END : flow_toy_take(s, item);
}

static void test_a_source_of_the_callers(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        static const slc_bind binds[] = {SLC_BIND_NONE, SLC_BIND_CORE, SLC_BIND_NUMA};
        for (size_t i = 0; i < 3; i++) {
            slc_run_places *places = NULL;
            const slc_status can = slc_run_places_open(binds[i], &places, NULL);
            assert_true(can == SLC_OK || can == SLC_ERR_UNSUPPORTED);
            slc_run_places_close(places);
            flow_script s = flow_script_new();
            slc_flow_config config = flow_toy_config(&s, NULL, 0, threads, 4);
            slc_flow *flow;
            flow_script *setup = &s;
            int n, n_ends;
            config.read = read_own;
            config.exec.bind = binds[i];
            assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), can);
            if (can == SLC_OK) {
                assert_int_equal(drain(&s, flow, 0, 2, &n, &n_ends, NULL), SLC_END);
                assert_int_equal(n, 25);
            }
            slc_flow_close(flow);
            assert_all_closed(&s);
        }
    }
}

static atomic_int caught;

static void on_signal(int number)
{
    atomic_store(&caught, number);
}

typedef struct pipe_script {
    flow_script s;
    int ends[2];
} pipe_script;

/* Blocks in a system call, which a signal has to interrupt. */
static slc_status read_pipe(void *context, slc_flow_item *item, slc_error *error)
{
    pipe_script *p = context;
    char byte;
    (void)error;
    return read(p->ends[0], &byte, 1) == 1 ? flow_toy_take(&p->s, item) : SLC_END;
}

static bool stop_pipe(void *context)
{
    (void)context;
    return atomic_load(&caught) != 0;
}

static void test_signals_interrupt_the_reader(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}, before;
    const struct timespec a_while = {.tv_nsec = 50000000};
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        pipe_script p = {.s = flow_script_new()};
        flow_script *setup = &p.s;
        slc_flow_config config = flow_toy_config(&p.s, NULL, 0, threads, 4);
        slc_flow *flow;
        slc_flow_item *item;
        config.read = read_pipe;
        config.stop = stop_pipe;
        config.work = NULL;
        config.context = &p;
        config.signals_to_reader = true;
        atomic_store(&caught, 0);
        assert_int_equal(pipe(p.ends), 0);
        assert_int_equal(write(p.ends[1], "ab", 2), 2);
        assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, NULL), SLC_OK);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(slc_flow_next(flow, &item, NULL), SLC_OK);
            slc_flow_release(flow, item);
        }
        (void)nanosleep(&a_while, NULL); /* the reader waits for a third byte by now */
        (void)kill(getpid(), SIGUSR1);
        assert_int_equal(slc_flow_next(flow, &item, NULL), SLC_END);
        assert_int_equal(atomic_load(&caught), SIGUSR1);
        slc_flow_close(flow);
        sigset_t now;
        assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
        assert_int_equal(sigismember(&now, SIGUSR1), 0); /* as it was */
        (void)close(p.ends[0]);
        (void)close(p.ends[1]);
        assert_all_closed(&p.s);
    }
    (void)sigaction(SIGUSR1, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_batch_once_in_order),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_closing_early),
        cmocka_unit_test(test_a_chain_with_state),
        cmocka_unit_test(test_the_first_error_wins),
        cmocka_unit_test(test_errors_everywhere),
        cmocka_unit_test(test_keep_going),
        cmocka_unit_test(test_a_worker_without_a_chain),
        cmocka_unit_test(test_wrong_configurations),
        cmocka_unit_test(test_stop_hands_out_what_was_read),
        cmocka_unit_test(test_cancel_from_another_thread),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_a_source_of_the_callers),
        cmocka_unit_test(test_signals_interrupt_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
