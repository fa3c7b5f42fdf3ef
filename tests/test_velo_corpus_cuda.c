/* SPDX-License-Identifier: Apache-2.0
 * Every event of the corpora that readers are fuzzed with, damaged ones and packets, through the VELO's chain
 * on a GPU or in the emulator and on the processor: the same columns, counts and faults, with all collections
 * and without hits. */
#include "lhcb/lhcb_packet.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "support/velo_same.h"
#include <sluice/cuda.h>
#include <sluice/io.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_select.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { CHAINS = 3 };
static slc_velo_chain *cpu[CHAINS], *gpu[CHAINS];
static slc_velo_result on_cpu, on_gpu;
static slc_batch all; /* events of all files: the emulator's launches take longest */
static uint64_t events, left, packets;

/* LHCb's ten events, as super-pixels and as clusters of the read-out. */
static const char *const names[] = {"lhcb/upgrade_mc_minbias_scifi_v5.mdf",
                                    "lhcb/upgrade_mc_minbias_scifi_v5_pf10_retinacluster.mep"};

/* What flew, of tracks and of pairs. */
static const slc_velo_selection selection = {
    .n_lines = 4,
    .lines = {
        {.min_count = 6,
         .prescale = 1,
         .n_cuts = 3,
         .cuts = {{SLC_VELO_Q_IP_MM, 0.2f, 4}, {SLC_VELO_Q_IP_CHI2, 50, 1e9f}, {SLC_VELO_Q_HITS, 5, 99}}},
        {.min_count = 1,
         .prescale = 1,
         .n_cuts = 5,
         .cuts = {{SLC_VELO_Q_ETA, 2, 5},
                  {SLC_VELO_Q_IP_CHI2, 16, 1e9f},
                  {SLC_VELO_Q_CHI2_NDOF, 0, 3},
                  {SLC_VELO_Q_PAIR_DOCA_MM, 0, 0.05f},
                  {SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 2, 8}}},
        {.min_count = 3,
         .prescale = 1,
         .n_cuts = 4,
         .cuts = {{SLC_VELO_Q_PHI, 0, 2},
                  {SLC_VELO_Q_BEAM_DOCA_MM, 0.1f, 5},
                  {SLC_VELO_Q_PAIR_POINTING, 0.9999f, 1},
                  {SLC_VELO_Q_PAIR_OPENING_RAD, 0.01f, 0.3f}}},
        {.prescale = 1, .n_cuts = 1, .cuts = {{SLC_VELO_Q_EVENT_HITS, 1500, 1e9f}}}}};

static void open_chains(void)
{
    static const uint32_t wanted[CHAINS] = {0, SLC_VELO_WANT_TRACKS | SLC_VELO_WANT_PRIMARIES,
                                            SLC_VELO_WANT_DECISIONS};
    slc_error error;
    for (int k = 0; k < CHAINS; k++) {
        slc_velo_config config;
        slc_velo_config_default(&config);
        config.wanted = wanted[k];
        config.selection = k > 0 ? &selection : NULL;
        ASSERT_OK(slc_velo_chain_open(&config, NULL, &cpu[k], &error));
        config.exec.device = "cuda";
        ASSERT_OK(slc_velo_chain_open(&config, NULL, &gpu[k], &error));
    }
}

static void expect_same_of_batch(const slc_batch *batch, int first, int chains)
{
    slc_error error;
    for (int k = first; k < first + chains; k++) {
        ASSERT_OK(slc_velo_chain_reserve(cpu[k], batch, &on_cpu, &error));
        ASSERT_OK(slc_velo_chain_run(cpu[k], batch, &on_cpu, &error));
        ASSERT_OK(slc_velo_chain_reserve(gpu[k], batch, &on_gpu, &error));
        ASSERT_OK(slc_velo_chain_run(gpu[k], batch, &on_gpu, &error));
        expect_same_velo(&on_cpu, &on_gpu);
    }
    events += batch->n_events;
    left += on_gpu.n_left_events;
}

/* An event, its banks one after the other. */
static void append(const slc_batch *batch, uint32_t e)
{
    static uint8_t bytes[1 << 20];
    const size_t size = batch->scattered ? slc_packet_event_gather(batch, e, bytes, sizeof bytes)
                                         : batch->length[e];
    const void *from = batch->scattered ? bytes : batch->bytes + batch->offset[e];
    assert_int_equal(slc_batch_append(&all, from, size, 0), SLC_OK);
}

static void take_file(const char *path, slc_batch *batch)
{
    slc_io_source *source = NULL;
    slc_error error;
    slc_faults faults;
    slc_faults_reset(&faults);
    if (slc_io_open(path, NULL, &source, &error) != SLC_OK) {
        return; /* no events in it */
    }
    while (slc_io_content_of(source) == SLC_IO_RAW_EVENTS &&
           slc_io_read_batch(source, 64, (size_t)16 << 20, batch, &faults, &error) == SLC_OK) {
        for (uint32_t e = 0; e < batch->n_events; e++) {
            append(batch, e);
        }
        if (batch->scattered && packets++ % 7 == 0) {
            expect_same_of_batch(batch, 0, 1);
        }
    }
    slc_io_close(source);
}

/* How many files there are. */
static size_t take_folder(const char *name, slc_batch *batch)
{
    char path[1024];
    size_t n = 0;
    (void)snprintf(path, sizeof path, "%s/%s", TEST_CORPUS, name);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s/%s", TEST_CORPUS, name, entry->d_name);
            take_file(path, batch);
            n++;
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return n;
}

static void close_chains(void)
{
    for (int k = 0; k < CHAINS; k++) {
        slc_velo_chain_close(cpu[k]);
        slc_velo_chain_close(gpu[k]);
    }
}

static void every_event(void **state)
{
    (void)state;
    slc_batch batch = {0};
    open_chains();
    const size_t n = take_folder("io_mdf", &batch) + take_folder("io_mep", &batch);
    expect_same_of_batch(&all, 0, CHAINS);
    assert_true(all.n_events > 10 && packets > 5 && left > 0);
    print_message("%zu files, %llu events, %llu of them left to the processor\n", n,
                  (unsigned long long)events, (unsigned long long)left);
    close_chains();
    slc_batch_clear(&batch);
}

static void reference_events(void **state)
{
    (void)state;
    slc_batch batch = {0};
    uint64_t lines = 0, some = 0;
    slc_batch_reset(&all);
    open_chains();
    for (size_t i = 0; i < 2; i++) {
        take_file(support_data(names[i]), &batch);
    }
    expect_same_of_batch(&all, 0, CHAINS);
    for (uint32_t e = 0; e < all.n_events; e++) {
        lines += on_gpu.decisions.lines[e] != 0;
        some |= on_gpu.decisions.lines[e];
    }
    assert_int_equal(all.n_events, 20);
    assert_int_equal(on_gpu.n_left_events, 0);
    assert_true(some == 15 && lines < all.n_events);
    close_chains();
    slc_batch_clear(&batch);
}

int main(void)
{
    slc_error error;
    if (slc_cuda_devices(&error) == 0) {
        print_message("skipped: %s\n", error.text);
        return 77;
    }
    DIR *corpus = opendir(TEST_CORPUS "/io_mdf");
    if (corpus == NULL) {
        print_message("skipped: the corpus is not on this machine\n");
        return 77;
    }
    (void)closedir(corpus);
    const struct CMUnitTest corpus_tests[] = {cmocka_unit_test(every_event)};
    const struct CMUnitTest data_tests[] = {cmocka_unit_test(reference_events)};
    int failed = cmocka_run_group_tests(corpus_tests, NULL, NULL);
    const int absent = support_skip_without(names[0]);
    failed = failed != 0 ? failed : absent != 0 ? absent : cmocka_run_group_tests(data_tests, NULL, NULL);
    slc_velo_result_clear(&on_cpu);
    slc_velo_result_clear(&on_gpu);
    slc_batch_clear(&all);
    return failed;
}
