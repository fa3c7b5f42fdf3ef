/* SPDX-License-Identifier: Apache-2.0
 *
 * No end of a flow is silent: what is no end is an error with a text, and what reading lost or did not find
 * is told with the end.
 */
#include "support/cmocka_all.h"
#include "support/flow_toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static slc_status return_end(void *context, slc_flow_item *item, slc_error *error)
{
    (void)context;
    (void)item;
    (void)error;
    return SLC_END;
}

static slc_status fail_without_a_word(void *context, slc_flow_item *item, slc_error *error)
{
    (void)context;
    (void)item;
    (void)error;
    return SLC_ERR_IO;
}

static slc_status cannot_finish(slc_flow_item *item, slc_error *error)
{
    (void)item;
    return slc_fail(error, SLC_ERR_FORMAT, "a checksum is wrong");
}

/* What is read ahead and could not be finished stays an error; what has failed in the chain runs anew. */
static void test_failures_ahead(void **state)
{
    (void)state;
    static const char *const paths[] = {"2"};
    for (int finishes = 0; finishes < 2; finishes++) {
        flow_script s = flow_script_new(), *setup = &s;
        slc_flow_chain chain = flow_toy;
        slc_flow_config config = flow_toy_config(&s, paths, 1, 2, 0);
        slc_flow *flow;
        slc_flow_item *item;
        slc_error error;
        chain.finish = finishes != 0 ? chain.finish : cannot_finish;
        config.keep_going = true;
        s.work_fails = 0;
        assert_int_equal(slc_flow_open(&config, &chain, &setup, &flow, &error), SLC_OK);
        assert_int_equal(slc_flow_ahead(flow, &item, &error), SLC_OK);
        assert_int_equal(item->status, SLC_ERR_FORMAT);
        s.work_fails = NEVER;
        assert_int_equal(slc_flow_next(flow, &item, &error), SLC_OK);
        assert_int_equal(item->status, finishes != 0 ? SLC_OK : SLC_ERR_FORMAT);
        assert_string_equal(item->error.text, finishes != 0 ? "" : "a checksum is wrong");
        slc_flow_close(flow);
    }
}

static void test_nothing_ends_in_silence(void **state)
{
    (void)state;
    static const char *const paths[] = {"3"}, *const none[] = {"0"};
    flow_script s = flow_script_new(), *setup = &s;
    slc_flow *flow;
    slc_flow_item *item;
    slc_error error = {.text = "as it was"};
    slc_flow_config config = flow_toy_config(&s, paths, 1, 2, 0);
    config.work = return_end; /* a step that says "end" is a mistake, no end */
    assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
    assert_int_equal(slc_flow_next(flow, &item, &error), SLC_ERR_USAGE);
    slc_flow_close(flow);

    config = flow_toy_config(&s, NULL, 0, 2, 0); /* a source that fails and does not say why */
    config.read = fail_without_a_word;
    assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
    assert_int_equal(slc_flow_next(flow, &item, &error), SLC_ERR_IO);
    assert_int_equal(error.status, SLC_ERR_IO);
    assert_string_not_equal(error.text, "no memory for a batch");
    assert_string_not_equal(error.text, "");
    slc_flow_close(flow);

    config = flow_toy_config(&s, none, 1, 2, 0); /* no batch at all */
    assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
    assert_int_equal(slc_flow_next(flow, &item, &error), SLC_END);
    assert_string_equal(error.text, "nothing was read");
    slc_flow_close(flow);

    config = flow_toy_config(&s, paths, 1, 2, 0); /* all is well */
    assert_int_equal(slc_flow_open(&config, &flow_toy, &setup, &flow, &error), SLC_OK);
    while (slc_flow_next(flow, &item, &error) == SLC_OK) {
        slc_flow_release(flow, item);
        slc_flow_release(flow, item); /* twice, which must not link it to itself */
        slc_flow_release(flow, NULL);
    }
    assert_string_equal(error.text, "");
    slc_flow_close(flow);

    assert_int_equal(slc_flow_open(&config, &flow_toy, NULL, &flow, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_flow_open(NULL, &flow_toy, &setup, &flow, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_flow_open(&config, &flow_toy_with_state, &setup, &flow, &error), SLC_OK);
    assert_int_equal(slc_flow_ahead(flow, &item, &error), SLC_ERR_USAGE); /* it would run twice */
    slc_flow_close(flow);
    config.read = fail_without_a_word;
    slc_flow_chain alone = flow_toy;
    alone.files_alone = true;
    assert_int_equal(slc_flow_open(&config, &alone, &setup, &flow, &error), SLC_ERR_USAGE);
    assert_int_equal(atomic_load(&s.n_chains_open), 0);
    assert_int_equal(atomic_load(&s.n_inputs_open), 0);
    assert_int_equal(flow_toy_results(), 0);
}

/* Nobody opens the pipe to write, or somebody does and is silent: the caller is asked to have patience, and a
 * close does not wait for the bytes. */
static void test_a_silent_pipe(void **state)
{
    (void)state;
    char folder[] = "/tmp/sluice-flow-XXXXXX", path[64];
    const char *const paths[] = {path};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/events.mdf", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        for (int writer = 0; writer < 2; writer++) {
            slc_velo_config velo;
            slc_velo_config_default(&velo);
            slc_flow_velo_setup setup = {.config = &velo};
            slc_flow_config config;
            slc_flow_config_default(&config);
            slc_flow *flow;
            slc_flow_item *item;
            slc_error error;
            config.paths = paths;
            config.n_paths = 1;
            config.exec.threads = threads;
            config.n_slots = 1; /* no thread reads ahead, unless the flow wants one */
            config.patience = 0.01;
            FILE *pipe = writer != 0 ? fopen(path, "r+") : NULL;
            const double began = slc_clock_seconds();
            assert_int_equal(slc_flow_open(&config, &slc_flow_velo, &setup, &flow, &error), SLC_OK);
            for (int i = 0; i < 3; i++) {
                assert_int_equal(slc_flow_next(flow, &item, &error), SLC_OK);
                assert_null(item);
            }
            assert_true(slc_clock_seconds() - began > 0.02);
            slc_flow_cancel(flow);
            assert_int_equal(slc_flow_next(flow, &item, &error), SLC_END);
            slc_flow_close(flow); /* a test that waits for ever fails by its time limit */
            if (pipe != NULL) {
                (void)fclose(pipe);
            }
        }
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures_ahead),
                                       cmocka_unit_test(test_nothing_ends_in_silence),
                                       cmocka_unit_test(test_a_silent_pipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
