/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline calls every stage once for every batch, writes in the order of reading whatever the threads
 * do, never has more batches under way than there are slots, and tells the first error in that order. Delays
 * are pseudo-random, so that threads meet in different ways; built with the thread sanitizer, this is also
 * the test for races.
 */
#include "run/run_bind.h"
#include <sluice/run_pipeline.h>

#include "support/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NEVER = -1, MOST_SLOTS = 32, MOST_WORKERS = 16 };

/* What a run is to do, and what it did. A slot's number is plain memory: two threads that have the same slot
 * at the same time are a race, and the numbers come out wrong. */
typedef struct script {
    int n_batches;
    int read_fails, work_fails, work_fails_too, write_fails, stop_after, begin_fails;
    bool delays;

    uint32_t n_slots, n_workers;
    int n_read, n_written;
    int number[MOST_SLOTS];
    int product[MOST_SLOTS];
    atomic_int n_worked;
    atomic_int highest_worked;
    atomic_int begun[MOST_WORKERS], ended[MOST_WORKERS], busy[MOST_WORKERS];
    atomic_int wrong;
    pthread_t writer;
    char first_wrong[128];
    bool is_early;
    int n_early; /* the reader's */
} script;

static void complain(script *s, const char *what)
{
    if (atomic_fetch_add(&s->wrong, 1) == 0) {
        (void)snprintf(s->first_wrong, sizeof s->first_wrong, "%s", what);
    }
}

static void delay(const script *s, int salt)
{
    if (s->delays) {
        const uint32_t mixed = (uint32_t)salt * 2654435761U ^ (uint32_t)salt << 7;
        const struct timespec time = {.tv_nsec = (long)(mixed >> 8) % 300000};
        (void)nanosleep(&time, NULL);
    }
}

static slc_status read_batch(void *context, uint32_t slot, slc_error *error)
{
    script *s = context;
    delay(s, 3 * s->n_read);
    if (slot != (uint32_t)s->n_read % s->n_slots) {
        complain(s, "slots are not read in turn");
    }
    if (s->n_read == s->read_fails) {
        return slc_fail(error, SLC_ERR_IO, "read %d", s->n_read);
    }
    if (s->n_read == s->n_batches) {
        return SLC_END;
    }
    s->number[slot] = s->n_read++;
    s->product[slot] = 0;
    return SLC_OK;
}

/* A part of the work; the worker does what of it is left. */
static void early(void *context, uint32_t slot)
{
    script *s = context;
    if (s->number[slot] != s->n_read - 1 || s->product[slot] != 0) {
        complain(s, "early work on a slot that was not just read");
    }
    delay(s, 2 * s->n_read);
    s->product[slot] = 1000;
    s->n_early++;
}

static slc_status work(void *context, uint32_t slot, uint32_t worker, slc_error *error)
{
    script *s = context;
    const int number = s->number[slot];
    if (worker >= s->n_workers || atomic_load(&s->begun[worker]) != 1 ||
        atomic_load(&s->ended[worker]) != 0) {
        complain(s, "a worker works that has not begun");
        return SLC_ERR_USAGE;
    }
    if (atomic_fetch_add(&s->busy[worker], 1) != 0) {
        complain(s, "a worker has two slots");
    }
    delay(s, 7 * number + (int)worker);
    s->product[slot] = number + (s->product[slot] == 0 ? 1000 : s->product[slot]);
    atomic_fetch_add(&s->n_worked, 1);
    atomic_fetch_sub(&s->busy[worker], 1);
    if (number == s->work_fails || number == s->work_fails_too) {
        return slc_fail(error, SLC_ERR_FORMAT, "work %d", number);
    }
    return SLC_OK;
}

static slc_status write_batch(void *context, uint32_t slot, slc_error *error)
{
    script *s = context;
    delay(s, 5 * s->n_written);
    if (!pthread_equal(pthread_self(), s->writer)) {
        complain(s, "written in another thread");
    }
    if (s->number[slot] != s->n_written || s->product[slot] != s->n_written + 1000) {
        complain(s, "written out of order, or not worked on once");
    }
    if (s->n_written == s->write_fails) {
        return slc_fail(error, SLC_ERR_CAPACITY, "write %d", s->n_written);
    }
    s->n_written++;
    return SLC_OK;
}

static slc_status begin(void *context, uint32_t worker, slc_error *error)
{
    script *s = context;
    delay(s, 100 - (int)worker);
    atomic_fetch_add(&s->begun[worker], 1);
    if (s->begin_fails != NEVER && (int)worker >= s->begin_fails) {
        atomic_store(&s->ended[worker], 1); /* need not be ended */
        return slc_fail(error, SLC_ERR_MEMORY, "begin %u", worker);
    }
    return SLC_OK;
}

static void end(void *context, uint32_t worker)
{
    script *s = context;
    atomic_fetch_add(&s->ended[worker], 1);
}

static bool stop(void *context)
{
    const script *s = context;
    return s->stop_after != NEVER && s->n_read >= s->stop_after;
}

static script new_script(int n_batches)
{
    return (script){.n_batches = n_batches,
                    .read_fails = NEVER,
                    .work_fails = NEVER,
                    .work_fails_too = NEVER,
                    .write_fails = NEVER,
                    .stop_after = NEVER,
                    .begin_fails = NEVER,
                    .writer = pthread_self()};
}

static slc_status run(script *s, uint32_t threads, uint32_t slots, slc_run_pipeline_times *times,
                      slc_error *error)
{
    const slc_run_pipeline_config config = {.threads = threads, .slots = slots};
    const slc_run_stages stages = {s,     read_batch, work, write_batch,
                                   begin, end,        stop, s->is_early ? early : NULL};
    s->n_slots = slc_run_pipeline_slots(&config);
    s->n_workers = slc_run_pipeline_workers(&config);
    assert_true(s->n_slots <= MOST_SLOTS && s->n_workers <= MOST_WORKERS);
    const slc_status status = slc_run_pipeline(&config, &stages, times, error);
    if (atomic_load(&s->wrong) > 0) {
        fail_msg("%u threads, %u slots: %s", threads, slots, s->first_wrong);
    }
    for (uint32_t w = 0; w < s->n_workers; w++) {
        assert_int_equal(atomic_load(&s->begun[w]), 1);
        assert_int_equal(atomic_load(&s->ended[w]), 1);
    }
    return status;
}

static void test_every_batch_once_in_order(void **state)
{
    (void)state;
    int n_early = 0;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (uint32_t slots = 1; slots <= 20; slots += slots < 4 ? 1 : 4) {
            for (int n = 0; n <= 120; n = n < 3 ? n + 1 : n * 6) {
                script s = new_script(n);
                slc_run_pipeline_times times;
                s.delays = n <= 20;
                s.is_early = n % 2 == 0;
                assert_int_equal(run(&s, threads, slots, &times, NULL), SLC_OK);
                assert_int_equal(s.n_read, n);
                assert_int_equal(atomic_load(&s.n_worked), n);
                assert_int_equal(s.n_written, n);
                assert_int_equal(times.slots, n);
                assert_true(s.n_early == 0 || (s.is_early && slots > 1 && s.n_early < n));
                n_early += s.n_early;
                assert_true(times.total > 0 && times.working >= 0 && times.starving >= 0);
            }
        }
    }
    assert_true(n_early > 0);
}

/* All below the failing number are written, nothing from it on, and its own text is told. */
static void expect_failure(script *s, uint32_t threads, uint32_t slots, slc_status status, const char *stage,
                           int number)
{
    slc_error error = {.status = SLC_OK};
    char text[32];
    (void)snprintf(text, sizeof text, "%s %d", stage, number);
    assert_int_equal(run(s, threads, slots, NULL, &error), status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.text, text);
    assert_int_equal(s->n_written, number);
}

static void test_errors_everywhere(void **state)
{
    (void)state;
    static const uint32_t slots[] = {1, 2, 3, 20};
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
            for (int at = 0; at < 12; at += at < 3 ? 1 : 4) {
                script reads = new_script(12), works = new_script(12), writes = new_script(12);
                reads.read_fails = works.work_fails = writes.write_fails = at;
                reads.delays = works.delays = writes.delays = at % 2 == 1;
                expect_failure(&reads, threads, slots[i], SLC_ERR_IO, "read", at);
                expect_failure(&works, threads, slots[i], SLC_ERR_FORMAT, "work", at);
                expect_failure(&writes, threads, slots[i], SLC_ERR_CAPACITY, "write", at);
            }
        }
    }
}

static void test_the_first_error_wins(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (int round = 0; round < 10; round++) {
            script s = new_script(30), t = new_script(30), u = new_script(30);
            s.work_fails = 6 + round;
            s.work_fails_too = 9 + round; /* often met before, never told */
            s.read_fails = 11 + round;
            s.delays = true;
            expect_failure(&s, threads, 20, SLC_ERR_FORMAT, "work", 6 + round);
            t.work_fails = 8 + round;
            t.write_fails = 5 + round;
            t.delays = true;
            expect_failure(&t, threads, 20, SLC_ERR_CAPACITY, "write", 5 + round);
            u.read_fails = 5 + round;
            u.write_fails = 5 + round; /* of a batch that is not there */
            u.delays = true;
            expect_failure(&u, threads, 20, SLC_ERR_IO, "read", 5 + round);
        }
    }
}

static void test_a_worker_that_cannot_begin(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (uint32_t from = 0; from < threads; from++) {
            script s = new_script(10);
            slc_error error = {.status = SLC_OK};
            char text[32];
            s.begin_fails = (int)from;
            s.delays = true;
            (void)snprintf(text, sizeof text, "begin %u", from);
            assert_int_equal(run(&s, threads, 5, NULL, &error), SLC_ERR_MEMORY);
            assert_string_equal(error.text, text);
            assert_int_equal(s.n_read, 0);
            assert_int_equal(s.n_written, 0);
        }
    }
}

static void test_stop_writes_what_was_read(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (int after = 0; after < 20; after += 3) {
            script s = new_script(1000);
            s.stop_after = after;
            s.delays = true;
            assert_int_equal(run(&s, threads, 1 + (uint32_t)after % 7, NULL, NULL), SLC_OK);
            assert_int_equal(s.n_read, after);
            assert_int_equal(s.n_written, after);
        }
    }
}

/* Without begin, end and stop; with the numbers that 0 stands for. */
static void test_defaults(void **state)
{
    (void)state;
    const slc_run_pipeline_config none = {.threads = 0}, three = {.threads = 3};
    assert_true(slc_run_pipeline_workers(&none) >= 1);
    assert_int_equal(slc_run_pipeline_slots(&none), 2 * slc_run_pipeline_workers(&none) + 2);
    assert_int_equal(slc_run_pipeline_slots(&three), 8);
    script s = new_script(50);
    const slc_run_stages stages = {.context = &s, .read = read_batch, .work = work, .write = write_batch};
    s.n_slots = 8;
    s.n_workers = 3;
    for (uint32_t w = 0; w < 3; w++) {
        atomic_store(&s.begun[w], 1);
    }
    assert_int_equal(slc_run_pipeline(&three, &stages, NULL, NULL), SLC_OK);
    assert_int_equal(atomic_load(&s.wrong), 0);
    assert_int_equal(s.n_written, 50);
}

/* ---- binding ----------------------------------------------------------------------------------- */

typedef struct bound_script {
    atomic_int n_work;
    int left;
} bound_script;

static slc_status read_bound(void *context, uint32_t slot, slc_error *error)
{
    bound_script *s = context;
    (void)slot;
    (void)error;
    return s->left-- > 0 ? SLC_OK : SLC_END;
}

static slc_status work_bound(void *context, uint32_t slot, uint32_t worker, slc_error *error)
{
    bound_script *s = context;
    (void)slot;
    (void)worker;
    (void)error;
    atomic_fetch_add(&s->n_work, 1);
    return SLC_OK;
}

static slc_status write_bound(void *context, uint32_t slot, slc_error *error)
{
    (void)context;
    (void)slot;
    (void)error;
    return SLC_OK;
}

static void test_binding(void **state)
{
    (void)state;
    static const slc_bind binds[] = {SLC_BIND_NONE, SLC_BIND_CORE, SLC_BIND_NUMA};
    for (size_t i = 0; i < 3; i++) {
        slc_run_places *places = NULL;
        slc_error error = {.status = SLC_OK};
        const slc_status can = slc_run_places_open(binds[i], &places, &error);
        assert_true(can == SLC_OK || can == SLC_ERR_UNSUPPORTED);
        slc_run_places_close(places);
        for (uint32_t threads = 1; threads <= 8; threads++) {
            bound_script s = {.left = 40};
            const slc_run_pipeline_config config = {.threads = threads, .bind = binds[i]};
            const slc_run_stages stages = {
                .context = &s, .read = read_bound, .work = work_bound, .write = write_bound};
            assert_int_equal(slc_run_pipeline(&config, &stages, NULL, &error), can);
            assert_int_equal(atomic_load(&s.n_work), can == SLC_OK ? 40 : 0);
        }
    }
}

/* ---- signals ----------------------------------------------------------------------------------- */

static atomic_int caught;

static void on_signal(int number)
{
    atomic_store(&caught, number);
}

typedef struct pipe_script {
    int ends[2];
    int n_written;
} pipe_script;

/* Blocks in a system call, which a signal has to interrupt. */
static slc_status read_pipe(void *context, uint32_t slot, slc_error *error)
{
    const pipe_script *s = context;
    char byte;
    (void)slot;
    (void)error;
    return read(s->ends[0], &byte, 1) == 1 ? SLC_OK : SLC_END;
}

static slc_status work_pipe(void *context, uint32_t slot, uint32_t worker, slc_error *error)
{
    (void)context;
    (void)slot;
    (void)worker;
    (void)error;
    return SLC_OK;
}

static slc_status write_pipe(void *context, uint32_t slot, slc_error *error)
{
    pipe_script *s = context;
    (void)slot;
    (void)error;
    if (++s->n_written == 2) {
        const struct timespec while_it_does = {.tv_nsec = 50000000};
        (void)nanosleep(&while_it_does, NULL); /* the reader waits for a third byte by now */
        (void)kill(getpid(), SIGUSR1);
        while (atomic_load(&caught) == 0) {
            (void)nanosleep(&while_it_does, NULL);
        }
    }
    return SLC_OK;
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
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        pipe_script s = {.n_written = 0};
        const slc_run_pipeline_config config = {.threads = threads, .slots = 4};
        const slc_run_stages stages = {
            .context = &s, .read = read_pipe, .work = work_pipe, .write = write_pipe, .stop = stop_pipe};
        atomic_store(&caught, 0);
        assert_int_equal(pipe(s.ends), 0);
        assert_int_equal(write(s.ends[1], "ab", 2), 2);
        assert_int_equal(slc_run_pipeline(&config, &stages, NULL, NULL), SLC_OK);
        assert_int_equal(s.n_written, 2);
        assert_int_equal(atomic_load(&caught), SIGUSR1);
        (void)close(s.ends[0]);
        (void)close(s.ends[1]);
    }
    (void)sigaction(SIGUSR1, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_batch_once_in_order),
        cmocka_unit_test(test_errors_everywhere),
        cmocka_unit_test(test_the_first_error_wins),
        cmocka_unit_test(test_a_worker_that_cannot_begin),
        cmocka_unit_test(test_stop_writes_what_was_read),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_signals_interrupt_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
