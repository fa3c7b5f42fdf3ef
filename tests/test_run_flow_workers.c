/* SPDX-License-Identifier: Apache-2.0
 *
 * Where workers read the inputs themselves, everything comes as it does with a thread that reads: each batch
 * once and in order, each input's end, errors in their places, whatever the number of threads and slots.
 * Inputs that are no regular files have a reader all the same.
 */
#include "support/cmocka_all.h"
#include "support/flow_toy.h"

#include "run/run_flow_part.h"
#include "support/temporary_folder.h"

#include <sys/stat.h>

enum { INPUTS = 60, BATCHES = 8 * INPUTS / 4 };
static char names[INPUTS][16];
static const char *paths[INPUTS];

/* Files whose names say how many batches they have: 1, 7, 0 and 0, over and over. */
static int make_inputs(void **state)
{
    static const int batches[] = {1, 7, 0, 0};
    if (make_folder(state) != 0 || chdir(folder) != 0) {
        return -1;
    }
    for (int i = 0; i < INPUTS; i++) {
        (void)snprintf(names[i], sizeof names[i], "%d.%d", batches[i % 4], i);
        paths[i] = names[i];
        FILE *file = fopen(names[i], "wb");
        if (file == NULL || fclose(file) != 0) {
            return -1;
        }
    }
    return 0;
}

static int remove_inputs(void **state)
{
    for (int i = 0; i < INPUTS; i++) {
        (void)unlink(names[i]);
    }
    return chdir("/") == 0 ? remove_folder(state) : -1;
}

static slc_flow *open_flow(flow_script **setup, uint32_t threads, uint32_t n_slots, bool by_workers)
{
    static slc_flow_chain chain;
    slc_flow_config config = flow_toy_config(*setup, paths, INPUTS, threads, n_slots);
    slc_flow *flow = NULL;
    slc_error error;
    chain = flow_toy;
    chain.read_by_workers = true;
    config.keep_going = true;
    assert_int_equal(slc_flow_open(&config, &chain, setup, &flow, &error), SLC_OK);
    assert_int_equal(flow->by_workers, by_workers);
    return flow;
}

static void close_flow(slc_flow *flow, const flow_script *s)
{
    slc_flow_close(flow);
    assert_int_equal(atomic_load(&s->n_chains_open), 0);
    assert_int_equal(atomic_load(&s->n_inputs_open), 0);
    assert_int_equal(flow_toy_results(), 0);
    assert_int_equal(atomic_load(&s->wrong), 0);
}

static void test_the_same_as_with_a_reader(void **state)
{
    (void)state;
    uint64_t checksum = 0;
    for (uint32_t threads = 1; threads <= 9; threads += threads < 3 ? 1 : 3) {
        for (uint32_t n_slots = 0; n_slots <= 9; n_slots += n_slots < 2 ? 1 : 7) {
            flow_script s = flow_script_new(), *setup = &s;
            s.delays = n_slots != 1;
            slc_flow *flow = open_flow(&setup, threads, n_slots, threads > 1);
            slc_flow_item *item;
            slc_error error;
            slc_status status;
            uint32_t n = 0, n_ends = 0;
            while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
                if (item->ended) {
                    assert_int_equal(item->input, n_ends);
                    n_ends++;
                } else {
                    const flow_made *made = item->result;
                    assert_int_equal(item->status, SLC_OK);
                    assert_int_equal(item->input, n_ends);
                    assert_int_equal(made->number, n);
                    assert_int_equal(made->product, n + 1000);
                    atomic_fetch_add(&s.handed, 1);
                    n++;
                }
                slc_flow_release(flow, item);
            }
            assert_int_equal(status, SLC_END);
            assert_int_equal(n, BATCHES);
            assert_int_equal(n_ends, INPUTS);
            assert_false(flow->has_reader && threads > 1);
            slc_flow_totals totals;
            slc_flow_totals_of(flow, &totals);
            assert_int_equal(totals.items, BATCHES);
            checksum = checksum == 0 ? totals.checksum : checksum;
            assert_true(checksum != 0 && totals.checksum == checksum);
            close_flow(flow, &s);
        }
    }
}

/* One that cannot be opened, and one that breaks off, cost themselves alone. */
static void test_errors_have_their_places(void **state)
{
    (void)state;
    static const char *const odd[2] = {"x", "1!"};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(odd[i], "wb");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        paths[5 + 10 * i] = odd[i];
    }
    flow_script s = flow_script_new(), *setup = &s;
    s.delays = true;
    slc_flow *flow = open_flow(&setup, 3, 0, true);
    slc_flow_item *item;
    slc_error error;
    slc_status status;
    uint32_t n_ends = 0;
    while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        if (item->ended) {
            assert_int_equal(item->input, n_ends);
            assert_int_equal(item->status < 0, n_ends == 5 || n_ends == 15);
            n_ends++;
        } else {
            assert_int_equal(item->status, SLC_OK);
            atomic_fetch_add(&s.handed, 1);
        }
        slc_flow_release(flow, item);
    }
    assert_int_equal(status, SLC_END);
    assert_int_equal(n_ends, INPUTS);
    close_flow(flow, &s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(odd[i]), 0);
        paths[5 + 10 * i] = names[5 + 10 * i];
    }
}

/* The caller goes away, or asks for no more, whatever the workers are at. */
static void test_ends_early(void **state)
{
    (void)state;
    for (uint32_t after = 0; after < 20; after += 3) {
        flow_script s = flow_script_new(), *setup = &s;
        s.delays = true;
        slc_flow *flow = open_flow(&setup, 4, 0, true);
        slc_flow_item *item = NULL;
        slc_error error;
        slc_status status;
        uint32_t n = 0;
        while (n < after && slc_flow_next(flow, &item, &error) == SLC_OK) {
            atomic_fetch_add(&s.handed, item->ended ? 0 : 1);
            slc_flow_release(flow, item);
            n++;
        }
        assert_int_equal(n, after);
        if (after % 2 == 1) { /* what was read before still comes */
            slc_flow_cancel(flow);
            while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
                slc_flow_release(flow, item);
                n++;
            }
            assert_int_equal(status, SLC_END);
            assert_true(n <= after + flow->n_slots);
        }
        close_flow(flow, &s);
    }
}

static void test_a_pipe_has_a_reader(void **state)
{
    (void)state;
    assert_int_equal(unlink(names[7]), 0);
    assert_int_equal(mkfifo(names[7], 0600), 0);
    flow_script s = flow_script_new(), *setup = &s;
    slc_flow *flow = open_flow(&setup, 3, 0, false);
    slc_flow_item *item;
    slc_error error;
    assert_int_equal(slc_flow_next(flow, &item, &error), SLC_OK);
    assert_true(flow->has_reader);
    slc_flow_release(flow, item);
    close_flow(flow, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_same_as_with_a_reader, make_inputs, remove_inputs),
        cmocka_unit_test_setup_teardown(test_errors_have_their_places, make_inputs, remove_inputs),
        cmocka_unit_test_setup_teardown(test_ends_early, make_inputs, remove_inputs),
        cmocka_unit_test_setup_teardown(test_a_pipe_has_a_reader, make_inputs, remove_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
