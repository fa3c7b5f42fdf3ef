/* SPDX-License-Identifier: Apache-2.0
 *
 * A team does every part once, on the thread that the interface says, lets the caller see what was written,
 * and keeps doing so when runs follow each other at once and after pauses long enough to fall asleep.
 */
#include "base/team.h"

#include "support/cmocka_all.h"
#include "support/sanitized.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 37, RUNS = 20000, MOST = 8 };

typedef struct tally {
    uint64_t done[PARTS]; /* not atomic: a thread that did a part of another would be a race */
    pthread_t thread[PARTS];
    uint64_t round;
} tally;

static void count(void *context, uint32_t part)
{
    tally *t = context;
    t->done[part] += t->round;
    t->thread[part] = pthread_self();
}

static void nap(long nanoseconds)
{
    const struct timespec time = {.tv_nsec = nanoseconds};
    (void)nanosleep(&time, NULL);
}

static void test_every_part_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= MOST; threads++) {
        slc_team *team = NULL;
        assert_int_equal(slc_team_open(threads, &team), SLC_OK);
        assert_int_equal(slc_team_size(team), threads);
        for (uint32_t parts = 0; parts <= PARTS; parts++) {
            tally t = {.round = 1};
            slc_team_run(team, parts, count, &t);
            for (uint32_t p = 0; p < PARTS; p++) {
                assert_int_equal(t.done[p], p < parts);
            }
        }
        slc_team_close(team);
    }
}

static void test_parts_stay_with_their_threads(void **state)
{
    (void)state;
    slc_team *team = NULL;
    tally first = {.round = 1}, again = {.round = 1};
    assert_int_equal(slc_team_open(4, &team), SLC_OK);
    slc_team_run(team, 4, count, &first);
    slc_team_run(team, PARTS, count, &again);
    assert_true(pthread_equal(first.thread[0], pthread_self()));
    for (uint32_t p = 0; p < PARTS; p++) {
        for (uint32_t thread = 0; thread < 4; thread++) {
            assert_int_equal(pthread_equal(again.thread[p], first.thread[thread]) != 0, p % 4 == thread);
        }
    }
    slc_team_close(team);
}

/* What the caller writes between two runs is seen by the parts, and what they wrote is seen by the caller. */
static void test_runs_follow_each_other(void **state)
{
    (void)state;
    slc_team *team = NULL;
    tally t;
    uint64_t expected = 0;
    memset(&t, 0, sizeof t);
    assert_int_equal(slc_team_open(3, &team), SLC_OK);
    for (uint32_t run = 1; run <= RUNS; run++) {
        t.round = run;
        expected += run;
        slc_team_run(team, 3, count, &t);
        assert_true(t.done[0] == expected && t.done[1] == expected && t.done[2] == expected);
    }
    slc_team_close(team);
}

static void slow_last(void *context, uint32_t part)
{
    nap(part == 2 ? 2000000 : 0); /* the caller has to sleep */
    count(context, part);
}

static void test_sleepers_wake(void **state)
{
    (void)state;
    slc_team *team = NULL;
    tally t = {.round = 1};
    assert_int_equal(slc_team_open(3, &team), SLC_OK);
    for (uint32_t run = 1; run <= 50; run++) {
        nap(run % 5 == 0 ? 1000000
                         : (long)(run % 5) * 10000); /* about as long as threads look before they sleep */
        slc_team_run(team, 3, slow_last, &t);
        assert_true(t.done[0] == run && t.done[1] == run && t.done[2] == run);
    }
    slc_team_close(team);
}

/* ---- after fork() -------------------------------------------------------------------------------- */

/* Runs `in_child` in a child, which a signal ends if it hangs. */
static void expect_child_passes(bool (*in_child)(slc_team *team), slc_team *team)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        _exit(in_child(team) ? 0 : 1);
    }
    int state = -1;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

static bool works(slc_team *team)
{
    for (int run = 0; run < 3; run++) {
        tally t = {.round = 1};
        slc_team_run(team, PARTS, count, &t);
        for (uint32_t p = 0; p < PARTS; p++) {
            const bool others = !pthread_equal(t.thread[p], pthread_self());
            if (t.done[p] != 1 || others != (p % slc_team_size(team) != 0)) {
                return false;
            }
        }
    }
    return true;
}

static bool works_and_closes(slc_team *team)
{
    const bool worked = works(team);
    slc_team_close(team);
    return worked;
}

static bool closes(slc_team *team)
{
    slc_team_close(team);
    return true;
}

static bool own_works(slc_team *team)
{
    slc_team *own = NULL;
    return slc_team_open(slc_team_size(team), &own) == SLC_OK && works_and_closes(own);
}

static bool grandchild_works(slc_team *team)
{
    expect_child_passes(works_and_closes, team);
    return works(team);
}

/* The parent's team, before its threads were started, while they look, and asleep; a team of the child's own;
 * and the parent's team goes on. */
static void test_children_get_threads(void **state)
{
    (void)state;
    if (!THREADS_AFTER_FORK) {
        skip();
    }
    for (uint32_t threads = 2; threads <= 4; threads++) {
        slc_team *team = NULL;
        assert_int_equal(slc_team_open(threads, &team), SLC_OK);
        for (int round = 0; round < 3; round++) {
            expect_child_passes(works_and_closes, team);
            expect_child_passes(closes, team);
            expect_child_passes(own_works, team);
            expect_child_passes(grandchild_works, team);
            assert_true(works(team));
            nap(round * 1000000L);
        }
        slc_team_close(team);
    }
}

static void test_closing(void **state)
{
    (void)state;
    slc_team_close(NULL);
    for (int i = 0; i < 200; i++) {
        slc_team *team = NULL;
        assert_int_equal(slc_team_open(1 + (uint32_t)i % 5, &team), SLC_OK);
        slc_team_close(team);
    }
    assert_true(slc_team_processors() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_once),        cmocka_unit_test(test_parts_stay_with_their_threads),
        cmocka_unit_test(test_runs_follow_each_other), cmocka_unit_test(test_sleepers_wake),
        cmocka_unit_test(test_children_get_threads),   cmocka_unit_test(test_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
