/* SPDX-License-Identifier: Apache-2.0
 * Files of packets through the VELO's flow on a GPU, or in the emulator, where batches are read into blocks
 * that go from hand to hand and are page-locked when they come for the second time: checksum, counts and
 * faults are the processor's, also of damaged packets, where the caller keeps batches, and where the system
 * refuses to page-lock. */
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include <sluice/cuda.h>
#include <sluice/run_flow.h>
#include <sluice/velo_chain.h>

#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"2019",  "2019-cut",   "between",
                                    "run-3", "run-3-type", "run-3-in-a-record"};
enum { FILES = sizeof names / sizeof *names, TIMES = 3, INPUTS = FILES * TIMES };
static char paths[INPUTS][4096];
static slc_error error;

/* What a run tells. */
typedef struct told {
    uint64_t checksum, summed, events, lost, hits, faults;
    uint64_t unlocked;
} told;

static void add_item(const slc_flow_item *item, bool results_alone, told *t)
{
    if (item->ended) {
        t->events += item->totals.events;
        t->lost += item->totals.lost_events;
        return;
    }
    ASSERT_OK(item->status);
    const slc_velo_result *found = &((const slc_flow_velo_result *)item->result)->found;
    assert_true(results_alone || item->batch.n_events == found->hits.head.n_events);
    t->hits += found->hits.head.size;
    t->faults += slc_faults_total(&found->faults);
}

static told run(const char *device, bool results_alone)
{
    const char *inputs[INPUTS];
    slc_velo_config velo;
    slc_velo_config_default(&velo);
    velo.exec.device = device;
    const slc_flow_velo_setup setup = {.config = &velo};
    slc_flow_config config;
    slc_flow_config_default(&config);
    for (int i = 0; i < INPUTS; i++) {
        inputs[i] = paths[i];
    }
    config.paths = inputs;
    config.n_paths = INPUTS;
    config.exec.threads = 2;
    config.keep_going = true;
    config.results_alone = results_alone;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_flow_totals totals;
    slc_status status;
    told t = {0};
    ASSERT_OK(slc_flow_open(&config, &slc_flow_velo, &setup, &flow, &error));
    while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        add_item(item, results_alone, &t);
        slc_flow_release(flow, item);
    }
    assert_int_equal(status, SLC_END);
    slc_flow_totals_of(flow, &totals);
    t.checksum = totals.checksum;
    t.summed = totals.n_summed;
    t.faults += slc_faults_total(&totals.faults);
    t.unlocked = totals.unlocked_bytes;
    slc_flow_close(flow);
    return t;
}

static void packets_as_on_the_processor(void **state)
{
    (void)state;
    for (int i = 0; i < INPUTS; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/io_mep/%s", TEST_CORPUS, names[i % FILES]);
    }
    const told expected = run(NULL, true);
    assert_true(expected.events > INPUTS && expected.faults > 0 && expected.unlocked == 0);
    for (int turn = 0; turn < 3; turn++) {
#ifdef SLUICE_SIMT
        ASSERT_OK(setenv("SLUICE_SIMT_LOCKED", turn == 2 ? "0" : "1000000000", 1));
#endif
        told t = run("cuda", turn != 1);
#ifdef SLUICE_SIMT
        assert_int_equal(t.unlocked > 0, turn == 2);
        t.unlocked = 0;
#endif
        assert_memory_equal(&t, &expected, sizeof t);
    }
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    FILE *first = fopen(TEST_CORPUS "/io_mep/2019", "rb");
    if (first == NULL) {
        (void)printf("skipped: the corpus is not on this machine\n");
        return 77;
    }
    (void)fclose(first);
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets_as_on_the_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
