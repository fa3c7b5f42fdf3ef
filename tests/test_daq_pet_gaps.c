/* SPDX-License-Identifier: Apache-2.0
 * The queue between an acquisition and its live chain, when the chain is too slow: what is left out is few
 * large gaps, each frame is counted once, and the chain learns of a gap right where it is. */
#include "support/cmocka_all.h"

#include <sluice/sim_pet.h>

#include "daq/daq_pet_acquire.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATAGRAM = 3750, DATAGRAMS = 16, FRAMES = DATAGRAM * DATAGRAMS, QUEUE = 1 << 22, MOST = 8 };

/* The chain's side: it stands still once it has been given `until` frames. */
typedef struct scene {
    slc_daq_pet_acquisition a;
    slc_daq_pet_config config;
    slc_daq_pet_counts counts;
    uint8_t *frames;
    _Atomic uint64_t until;
    _Atomic uint64_t given; /* frames, of calls that have begun */
    uint64_t at[MOST], skipped[MOST], gaps, lasts;
} scene;

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 1000000};
    (void)nanosleep(&time, NULL);
}

static bool on_live(void *context, const slc_pet_batch *batch)
{
    scene *s = context;
    if (batch->skipped > 0 && s->gaps < MOST) {
        s->at[s->gaps] = atomic_load(&s->given);
        s->skipped[s->gaps++] = batch->skipped;
    }
    s->lasts += batch->last;
    atomic_fetch_add(&s->given, batch->n);
    while (atomic_load(&s->given) >= atomic_load(&s->until)) {
        nap();
    }
    return true;
}

/* Returns how many blocks were taken of so many. */
static uint64_t push(scene *s, uint64_t blocks, bool wait)
{
    const uint64_t before = s->counts.live_skipped;
    slc_daq_pet_piece pieces[DATAGRAMS];
    for (size_t i = 0; i < DATAGRAMS; i++) {
        pieces[i] = (slc_daq_pet_piece){s->frames + i * DATAGRAM * sizeof(slc_pet_frame), DATAGRAM, 0};
    }
    for (uint64_t i = 0; i < blocks; i++) {
        slc_daq_pet_live_push(s->a.live, pieces, DATAGRAMS, wait, &s->counts);
    }
    const uint64_t left = s->counts.live_skipped - before;
    assert_int_equal(left % FRAMES, 0);
    return blocks - left / FRAMES;
}

static void begin(scene *s, const slc_pet_config *chain, const slc_pet_tables *tables)
{
    memset(s, 0, sizeof *s);
    s->config = (slc_daq_pet_config){
        .size = sizeof(slc_daq_pet_config), .chain = chain, .tables = tables, .live = on_live, .context = s};
    s->config.output = "a file"; /* that is not waited for the chain */
    s->a.config = &s->config;
    assert_int_equal(pthread_mutex_init(&s->a.mutex, NULL), 0);
    s->frames = calloc(FRAMES, sizeof(slc_pet_frame)); /* of module 0 at time 0 */
    assert_non_null(s->frames);
    assert_int_equal(slc_daq_pet_live_open(&s->a, &s->a.live, NULL), SLC_OK);
}

static void end(scene *s, pthread_t thread)
{
    atomic_store(&s->until, UINT64_MAX);
    slc_daq_pet_live_end(s->a.live);
    (void)pthread_join(thread, NULL);
    slc_daq_pet_live_close(s->a.live);
    (void)pthread_mutex_destroy(&s->a.mutex);
    free(s->frames);
}

static void wait_for(const scene *s, uint64_t frames)
{
    while (atomic_load(&s->given) < frames) {
        nap();
    }
}

static void test_gaps(void **state)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    static scene s;
    pthread_t thread;
    const uint64_t fit = QUEUE / FRAMES, half = QUEUE / 2 / FRAMES;
    begin(&s, &config, *state);
    uint64_t put = push(&s, fit + 10, false);
    assert_int_equal(put, fit);
    assert_int_equal(s.counts.live_gaps, 1);
    /* A quarter is taken: that is not enough to begin again. */
    atomic_store(&s.until, QUEUE / 4);
    assert_int_equal(pthread_create(&thread, NULL, slc_daq_pet_live_run, s.a.live), 0);
    wait_for(&s, QUEUE / 4);
    assert_int_equal(push(&s, 2, false), 0);
    assert_int_equal(s.counts.live_gaps, 1);
    /* Three quarters are: there is room for half a queue, and beyond it the next gap begins. */
    atomic_store(&s.until, 3 * (QUEUE / 4));
    wait_for(&s, 3 * (QUEUE / 4));
    put += push(&s, half, false);
    assert_int_equal(put, fit + half);
    assert_int_equal(s.counts.live_gaps, 1);
    const uint64_t more = push(&s, fit, false);
    assert_in_range(more, 1, fit - half);
    assert_int_equal(s.counts.live_gaps, 2);
    const uint64_t skipped = s.counts.live_skipped;
    end(&s, thread);
    assert_int_equal(s.lasts, 1);
    assert_int_equal(s.gaps, 2);
    assert_int_equal(s.at[0], fit * FRAMES);
    assert_int_equal(s.skipped[0], 12 * FRAMES);
    assert_int_equal(s.at[1], (put + more) * FRAMES); /* behind all, and told nevertheless */
    assert_int_equal(s.skipped[1], (fit - more) * FRAMES);
    assert_int_equal(s.skipped[0] + s.skipped[1], skipped);
    assert_int_equal(s.a.totals.convert.frames, (put + more) * FRAMES);
}

static void *let_go(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 50; i++) {
        nap();
    }
    atomic_store(&s->until, UINT64_MAX);
    return NULL;
}

/* Without a file there is nothing to be ready for: everything waits for the chain. */
static void test_wait(void **state)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    static scene s;
    pthread_t thread, friend;
    begin(&s, &config, *state);
    atomic_store(&s.until, FRAMES);
    assert_int_equal(pthread_create(&thread, NULL, slc_daq_pet_live_run, s.a.live), 0);
    assert_int_equal(pthread_create(&friend, NULL, let_go, &s), 0);
    const uint64_t blocks = 2 * (QUEUE / FRAMES);
    assert_int_equal(push(&s, blocks, true), blocks);
    (void)pthread_join(friend, NULL);
    end(&s, thread);
    assert_int_equal(s.counts.live_gaps, 0);
    assert_int_equal(s.gaps, 0);
    assert_int_equal(s.lasts, 1);
    assert_int_equal(atomic_load(&s.given), blocks * FRAMES);
}

int main(void)
{
    slc_sim_pet_config config;
    slc_sim_pet *sim = NULL;
    slc_sim_pet_config_default(&config);
    if (slc_sim_pet_open(&config, &sim, NULL) != SLC_OK) {
        return 1;
    }
    slc_pet_tables tables = *slc_sim_pet_tables(sim);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_gaps, &tables),
        cmocka_unit_test_prestate(test_wait, &tables),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_sim_pet_close(sim);
    return failed;
}
