/* SPDX-License-Identifier: Apache-2.0
 * The live chain of an acquisition: the same results as of its raw file afterwards, however many sockets; a
 * slow one does not cost the file a frame. */
#include "support/cmocka_all.h"

#include <sluice/sim_pet.h>

#include "support/pet_scene.h"

static bool on_live(void *context, const slc_pet_batch *batch)
{
    scene *s = context;
    s->pairs += batch->result->pairs.head.size;
    s->singles += batch->result->singles.head.size;
    s->chain_frames += batch->n;
    s->chain_skipped += batch->skipped;
    s->chain_gaps += batch->skipped > 0;
    s->last += batch->last;
    while (s->wait && !atomic_load(&s->sent_all)) {
        nap(5);
    }
    return true;
}

static void begin_live(scene *s, uint32_t sockets, const slc_pet_config *chain, const slc_pet_tables *tables)
{
    begin(s, sockets);
    s->send = send_frames;
    s->end_ms = 200;
    s->config.chain = chain;
    s->config.tables = tables;
    s->config.live = on_live;
    s->config.ring_bytes = 0; /* as large as it is by default */
    s->config.seconds = 60;
    s->config.raw.replace = true;
    s->how.frames_per_datagram = 92;
}

static void acquire_all(scene *s)
{
    assert_int_equal(acquire(s), SLC_OK);
    assert_int_equal(s->send_status, SLC_OK);
    assert_int_equal(s->counts.frames, s->sent);
    assert_int_equal(s->counts.kernel_drops + s->counts.ring_drops, 0);
}

/* What the chain makes of the file. */
static slc_pet_totals offline(const slc_pet_config *config, const slc_pet_tables *tables)
{
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_pet_totals totals;
    slc_faults faults = {0};
    size_t n = 0;
    slc_pet_frame *frames = raw_read_file(path, &n, &faults);
    assert_int_equal(slc_pet_chain_open(config, tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, frames, NULL, n, true, &result, NULL), SLC_OK);
    slc_pet_chain_totals(chain, &totals);
    slc_pet_chain_close(chain);
    slc_pet_result_clear(&result);
    free(frames);
    return totals;
}

static slc_sim_pet *generate(scene *s, double seconds)
{
    slc_sim_pet_config config;
    slc_sim_pet *sim = NULL;
    size_t capacity = 0;
    slc_sim_pet_config_default(&config);
    config.singles_hz = 1e6;
    assert_int_equal(slc_sim_pet_open(&config, &sim, NULL), SLC_OK);
    assert_int_equal(slc_sim_pet_next(sim, seconds, &s->frames, &s->n, &capacity, NULL, NULL), SLC_OK);
    return sim;
}

static void test_same_as_file(void **state)
{
    (void)state;
    for (uint32_t sockets = 1; sockets <= 4; sockets += 3) {
        scene made = {.n = 0}, s;
        slc_sim_pet *sim = generate(&made, 0.3);
        slc_pet_config config;
        slc_pet_config_default(&config);
        config.delayed = true;
        config.keep_singles = true;
        config.sort.horizon_ps = INT64_C(100000000000);
        begin_live(&s, sockets, &config, slc_sim_pet_tables(sim));
        s.frames = made.frames;
        s.n = made.n;
        s.how.frames_hz = 1e6;
        acquire_all(&s);
        const slc_pet_totals wanted = offline(&config, s.config.tables), *got = &s.counts.chain;
        assert_int_equal(s.counts.live_skipped, 0);
        assert_int_equal(got->convert.frames, s.n);
        assert_int_equal(got->sort.given, wanted.sort.given);
        assert_int_equal(got->sort.late, wanted.sort.late);
        assert_int_equal(got->prompt.pairs, wanted.prompt.pairs);
        assert_int_equal(got->delayed.pairs, wanted.delayed.pairs);
        assert_int_equal(got->checksum, wanted.checksum);
        assert_true(got->prompt.pairs > 10000);
        assert_int_equal(s.pairs, got->prompt.pairs + got->delayed.pairs);
        assert_int_equal(s.singles, got->sort.given);
        slc_sim_pet_close(sim);
        free(s.frames);
    }
}

/* Nobody takes results while six million frames come: the file has all, the chain goes without some. Where
 * there is no file, they wait in the ring. */
static void test_slow(void **state)
{
    (void)state;
    for (int with_file = 1; with_file >= 0; with_file--) {
        scene made = {.n = 0}, s;
        slc_sim_pet *sim = generate(&made, 0.1);
        slc_pet_config config;
        slc_pet_config_default(&config);
        begin_live(&s, 1, &config, slc_sim_pet_tables(sim));
        s.frames = made.frames;
        s.n = made.n;
        s.wait = true;
        s.how.frames_hz = 3e6;
        s.how.repeat = 6500000 / s.n;
        s.how.repeat_ticks = UINT64_C(100000000000);
        s.config.output = with_file == 1 ? path : NULL;
        acquire_all(&s);
        assert_true(s.sent > 6300000);
        assert_int_equal(s.counts.chain.convert.frames + s.counts.live_skipped, s.sent);
        assert_int_equal(s.chain_frames, s.counts.chain.convert.frames);
        assert_int_equal(s.chain_skipped, s.counts.live_skipped);
        assert_int_equal(s.chain_gaps, s.counts.live_gaps);
        assert_int_equal(s.last, 1);
        if (with_file == 1) {
            assert_in_range(s.counts.live_skipped, 1, s.sent - (1 << 21));
            assert_int_equal(s.counts.files, 1);
            slc_faults faults = {0};
            size_t n = 0;
            free(raw_read_file(path, &n, &faults));
            assert_int_equal(n, s.sent);
        } else {
            assert_int_equal(s.counts.live_skipped, 0);
        }
        slc_sim_pet_close(sim);
        free(s.frames);
    }
}

/* A chain whose window is told only when it runs to be none. Its failure does not end the
 * file, and comes at the end; without a file it ends all. */
static void test_failure(void **state)
{
    (void)state;
    for (int with_file = 1; with_file >= 0; with_file--) {
        scene made = {.n = 0}, s;
        slc_sim_pet *sim = generate(&made, 0.1);
        slc_pet_config config;
        slc_pet_config_default(&config);
        config.prompt.window_ns = 4.0005;
        begin_live(&s, 1, &config, slc_sim_pet_tables(sim));
        s.frames = made.frames;
        s.n = made.n;
        s.how.frames_hz = 1e6;
        s.how.repeat = 10;
        s.how.repeat_ticks = UINT64_C(100000000000);
        s.config.output = with_file == 1 ? path : NULL;
        assert_int_equal(acquire(&s), SLC_ERR_USAGE);
        assert_non_null(strstr(s.error.text, "not whole picoseconds"));
        if (with_file == 1) {
            slc_faults faults = {0};
            size_t n = 0;
            free(raw_read_file(path, &n, &faults));
            assert_int_equal(n, s.sent);
            assert_int_equal(slc_faults_total(&faults), 0);
            assert_int_equal(count_files(), 1);
            assert_true(s.counts.live_skipped > 0);
            assert_int_equal(s.counts.chain.convert.frames + s.counts.live_skipped, s.sent);
        }
        slc_sim_pet_close(sim);
        free(s.frames);
    }
}

static void test_wrong(void **state)
{
    (void)state;
    scene s;
    slc_pet_config config;
    slc_pet_tables tables = {.position = NULL};
    slc_pet_config_default(&config);
    begin_live(&s, 1, &config, NULL);
    assert_int_equal(acquire(&s), SLC_ERR_USAGE);
    assert_string_equal(s.error.text, "a chain needs tables");
    begin_live(&s, 1, &config, &tables); /* a scanner of nothing */
    assert_int_equal(acquire(&s), SLC_ERR_USAGE);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_as_file, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_slow, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_failure, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_wrong, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
