/* SPDX-License-Identifier: Apache-2.0
 *
 * PET's chain in a flow: files one after the other come to what the chain makes of all their frames, whatever
 * the batches, the threads and the borders of files; each item has its frames; what is wrong with a file is
 * the flow's error, or kept where somebody asks for what comes of each.
 */
#include "support/cmocka_all.h"
#include "support/pet_frames.h"

#include <sluice/run_flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 60000, CUT = 12345 };
#define ONE     "test_run_flow_pet.1.raw"
#define TWO     "test_run_flow_pet.2.raw"
#define MISSING "test_run_flow_pet.not.raw"

static pet_frames_stream g;
static slc_pet_totals wanted;

static void write_frames(const char *path, const slc_pet_frame *frames, size_t n)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(frames, sizeof *frames, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static int set_up(void **state)
{
    const slc_pet_config config = pet_frames_chain();
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {.seconds = {0}};
    (void)state;
    g = pet_frames_make(FRAMES);
    write_frames(ONE, g.frames, CUT);
    write_frames(TWO, g.frames + CUT, g.n - CUT);
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, g.frames, NULL, g.n, true, &result, NULL), SLC_OK);
    slc_pet_chain_totals(chain, &wanted);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(g.frames);
    (void)unlink(ONE);
    (void)unlink(TWO);
    return 0;
}

/* What the flow ends with; its items are the frames in order. */
static slc_status run(const char *const *paths, uint32_t n, uint32_t threads, size_t batch,
                      slc_io_pet_inputs *inputs, slc_pet_totals *totals, slc_error *error)
{
    const slc_pet_config pet = pet_frames_chain();
    const slc_flow_pet_setup setup = {.config = &pet, .tables = &g.tables, .inputs = inputs};
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_flow_config_default(&config);
    config.paths = paths;
    config.n_paths = n;
    config.batch_bytes = batch * sizeof(slc_pet_frame);
    config.exec.threads = threads;
    assert_int_equal(slc_flow_open(&config, &slc_flow_pet, &setup, &flow, error), SLC_OK);
    size_t frames = 0, pairs = 0, lasts = 0;
    slc_status status;
    while ((status = slc_flow_next(flow, &item, error)) == SLC_OK) {
        const slc_flow_pet_result *b = item->result;
        assert_int_equal(lasts, 0);
        assert_true(b->n <= batch && frames + b->n <= g.n);
        assert_true(b->n == 0 || memcmp(b->frames, g.frames + frames, b->n * sizeof *b->frames) == 0);
        assert_true(b->last || strcmp(item->path, paths[item->input]) == 0);
        frames += b->n;
        pairs += b->result->pairs.head.size;
        lasts += b->last;
        assert_int_equal(b->totals->convert.frames, frames);
        assert_int_equal(b->totals->prompt.pairs + b->totals->delayed.pairs, pairs);
        *totals = *b->totals;
        slc_flow_release(flow, item);
    }
    assert_int_equal(lasts, status == SLC_END);
    slc_flow_totals all;
    slc_flow_totals_of(flow, &all);
    assert_true(all.checksum == totals->checksum);
    slc_flow_close(flow);
    return status;
}

static void files_are_one_stream(void **state)
{
    const char *const paths[] = {ONE, TWO};
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (size_t batch = 999; batch < 3 * g.n; batch = 9 * batch) {
            slc_pet_totals totals = {.checksum = 0};
            slc_error error = {.status = SLC_OK};
            assert_int_equal(run(paths, 2, threads, batch, NULL, &totals, &error), SLC_END);
            assert_int_equal(totals.checksum, wanted.checksum);
            assert_int_equal(totals.sort.given, wanted.sort.given);
        }
    }
}

static void a_file_that_is_not_there(void **state)
{
    const char *const paths[] = {ONE, MISSING, TWO};
    slc_pet_totals totals = {.checksum = 0};
    slc_error error = {.status = SLC_OK};
    slc_io_pet_inputs inputs = {.n = 0};
    (void)state;
    assert_int_equal(run(paths, 3, 2, 5000, NULL, &totals, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, MISSING));
    assert_true(totals.convert.frames <= CUT);
    assert_int_equal(run(paths, 3, 2, 5000, &inputs, &totals, &error), SLC_END);
    assert_int_equal(totals.checksum, wanted.checksum);
    assert_int_equal(inputs.n, 3);
    assert_int_equal(inputs.frames, g.n);
    assert_int_equal(inputs.input[0].frames, CUT);
    assert_int_equal(inputs.input[0].error.status, SLC_OK);
    assert_int_equal(inputs.input[1].error.status, SLC_ERR_IO);
    assert_int_equal(inputs.input[2].frames, g.n - CUT);
    assert_false(inputs.losses.known);
    assert_int_equal(inputs.seen.frames, g.n);
    slc_io_pet_inputs_close(&inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_one_stream),
        cmocka_unit_test(a_file_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
