/* SPDX-License-Identifier: Apache-2.0
 * Files of CMS's events through flows on devices, where workers read the bytes, into page-locked memory if
 * there is some: whatever is wanted, damaged, cut or added, however batches are cut, and however many devices
 * there are, the checksum, counts, faults and words are those of a processor. */
#include "run/run_flow_part.h"
#include "support/assert_ok.h"
#include "support/toy_devices.h"

#include <sluice/sim_cms.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 12, LOST = 13 };

static slc_error error; /* of the last call */
static slc_sim_cms *sim;

/* A file of events of which some are damaged, with bytes between two of them, and one that its end cuts. */
static void write_damaged(const char *path)
{
    slc_batch batch = {.n_events = 0};
    for (uint64_t e = 0; e < EVENTS; e++) {
        ASSERT_OK(slc_sim_cms_event(sim, e, &batch, NULL, &error));
    }
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (uint32_t e = 0; e < EVENTS; e++) {
        uint8_t *bytes = batch.bytes + batch.offset[e];
        size_t size = batch.length[e];
        bytes[size / 2] ^= e % 4 == 1 ? 0x5A : 0; /* a word, or what frames a fragment */
        for (size_t at = size / 3; at < size / 2 && e % 4 == 3; at += 64) {
            bytes[at] ^= 0xFF; /* words: more faults in all than are kept */
        }
        bytes[4] ^= e % 4 == 1 ? 0x10 : 0; /* the first fragment's id */
        if (e == 4) {                      /* it loses bytes: those after it begin at no multiple of 4 */
            memmove(bytes + size / 2, bytes + size / 2 + LOST, size - size / 2 - LOST);
            size -= LOST;
        }
        size = e == EVENTS - 1 ? size / 2 : size;
        assert_int_equal(fwrite(bytes, 1, size, out) + (e == 6 ? fwrite("no event", 1, 8, out) : 0),
                         size + (e == 6 ? 8 : 0));
    }
    assert_int_equal(fclose(out), 0);
    slc_batch_clear(&batch);
}

/* What a run over files tells, and how it is run. */
typedef struct told {
    struct {
        uint64_t checksum, events, lost, digis, modules, clusters, pixels;
    } found;
    slc_faults faults;
    char damage[512];
} told;
typedef struct way {
    const char *device;
    uint32_t wanted, batch;
    bool results_alone;
} way;

/* What is not wanted has events and no rows; a batch that the caller may look at has its bytes. */
static void look_at(const slc_flow_item *item, const way *w)
{
    const slc_cms_result *found = &((const slc_flow_cms_result *)item->result)->found;
    const uint32_t wanted = w->wanted != 0 ? w->wanted : SLC_CMS_WANT_ALL;
    uint64_t fragments = 0, words = found->words.words;
    slc_faults ignored = {.n_kept = 0};
    assert_int_equal(found->digis.head.size, (wanted & SLC_CMS_WANT_DIGIS) != 0 ? found->words.digis : 0);
    assert_int_equal(found->clusters.head.size,
                     (wanted & SLC_CMS_WANT_CLUSTERS) != 0 ? found->n_clusters : 0);
    assert_int_equal(found->clusters.head.n_events, found->digis.head.n_events);
    if (!w->results_alone) {
        slc_cms_count_fragments(&item->batch, &fragments, &words, &ignored);
    }
    assert_int_equal(words, found->words.words);
}

static void add_item(const slc_flow_item *item, const way *w, told *t)
{
    slc_faults_merge(&t->faults, &item->reading);
    if (item->ended) {
        t->found.events += item->totals.events;
        t->found.lost += item->totals.lost_events;
        (void)snprintf(t->damage, sizeof t->damage, "%s", item->damage);
        return;
    }
    const slc_cms_result *found = &((const slc_flow_cms_result *)item->result)->found;
    ASSERT_OK(item->status);
    look_at(item, w);
    slc_faults_merge(&t->faults, &found->faults);
    t->found.digis += found->words.digis;
    t->found.modules += found->n_modules;
    t->found.clusters += found->n_clusters;
    t->found.pixels += found->n_pixels;
}

static void run_file(const char *path, const way *w, told *t)
{
    const char *const paths[] = {path, path};
    slc_cms_config cms;
    slc_cms_config_default(&cms, SLC_CMS_PHASE1);
    cms.exec.device = w->device;
    cms.wanted = w->wanted;
    const slc_flow_cms_setup setup = {&cms, slc_sim_cms_cabling(sim), slc_sim_cms_gains(sim)};
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = paths;
    config.n_paths = 2;
    config.batch_events = w->batch;
    config.exec.threads = 2;
    config.keep_going = true;
    config.results_alone = w->results_alone;
    config.batch_bytes = w->results_alone ? 100000 : config.batch_bytes; /* pieces of the file */
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_flow_totals totals;
    slc_status status;
    memset(t, 0, sizeof *t);
    ASSERT_OK(slc_flow_open(&config, &slc_flow_cms, &setup, &flow, &error));
    while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        add_item(item, w, t);
        slc_flow_release(flow, item);
    }
    assert_int_equal(status, SLC_END);
    slc_flow_totals_of(flow, &totals);
    t->found.checksum = totals.checksum;
    /* Of what is lent, and of that alone: batches of pieces of the file, and those that workers read. */
    assert_int_equal(totals.unlocked_bytes > 0, w->device != NULL && atomic_load(&toy_refuses) != 0 &&
                                                    atomic_load(&toy_most_locked) > 0);
    atomic_store(&toy_unlocked, 0);
    slc_flow_close(flow);
    assert_int_equal(atomic_load(&toy_locked), 0); /* what was page-locked is given back */
    assert_int_equal(atomic_load(&toy_unlocked) > 0, w->device != NULL);
}

/* Those that are kept stand in the order of events, however batches are cut. */
static void assert_told_same(const told *t, const told *expected)
{
    assert_memory_equal(&t->found, &expected->found, sizeof t->found);
    assert_string_equal(t->damage, expected->damage);
    assert_int_equal(slc_faults_total(&t->faults), slc_faults_total(&expected->faults));
    assert_int_equal(t->faults.n_kept, expected->faults.n_kept);
    for (uint32_t i = 0; i < t->faults.n_kept; i++) {
        const slc_fault *a = &t->faults.kept[i], *b = &expected->faults.kept[i];
        assert_true(a->code == b->code && a->event == b->event && a->module == b->module &&
                    a->offset == b->offset);
    }
}

/* On devices workers read the bytes, into page-locked memory if there is some. */
static void files_on_several(void **state)
{
    (void)state;
    static const char *const devices_of[] = {NULL, "cuda", "cuda:2,0", "all"};
    static const uint32_t wanted[] = {0, SLC_CMS_WANT_COUNTS, SLC_CMS_WANT_CLUSTERS,
                                      SLC_CMS_WANT_DIGIS | SLC_CMS_WANT_MODULES};
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = 6;
    config.tracks = 150;
    ASSERT_OK(slc_sim_cms_open(&config, &sim, &error));
    static const char path[] = "test_run_devices.raw";
    write_damaged(path);
    told first, t;
    for (uint32_t i = 0; i < 8; i++) {
        const way w = {devices_of[i % 4], wanted[i / 4 ^ i % 4], i / 4 % 2 == 0 ? 5 : 1, i % 3 == 0};
        if (i == 0) {
            run_file(path, &(way){NULL, 0, 5, false}, &first);
            assert_true(slc_faults_total(&first.faults) > SLC_FAULTS_KEPT && first.damage[0] != '\0' &&
                        first.found.clusters > 0);
        }
        atomic_store(&toy_most_locked, i % 5 == 0 ? 0 : i % 5 == 1 ? 2 : 1 << 20);
        atomic_store(&toy_refuses, i % 3 == 2);
        run_file(path, &w, &t);
        assert_told_same(&t, &first);
    }
    assert_int_equal(remove(path), 0);
    slc_sim_cms_close(sim);
}

/* On a device the next input is opened while the end of one is being read; that it cannot be is told when it
 * is its turn, and does not end the run. A flow may be closed with an input opened ahead. */
static void inputs_opened_ahead(void **state)
{
    (void)state;
    static const char path[] = "test_run_devices_ahead.raw", absent[] = "test_run_devices_absent.raw";
    static const char *const paths[] = {path, absent, path, path};
    enum { INPUTS = sizeof paths / sizeof *paths };
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = 7;
    config.tracks = 150;
    ASSERT_OK(slc_sim_cms_open(&config, &sim, &error));
    write_damaged(path);
    for (int all = 1; all >= 0; all--) {
        slc_cms_config cms;
        slc_cms_config_default(&cms, SLC_CMS_PHASE1);
        cms.exec.device = "cuda";
        const slc_flow_cms_setup setup = {&cms, slc_sim_cms_cabling(sim), slc_sim_cms_gains(sim)};
        slc_flow_config flows;
        slc_flow_config_default(&flows);
        flows.paths = paths;
        flows.n_paths = INPUTS;
        flows.batch_events = 2;
        flows.keep_going = flows.results_alone = true;
        slc_flow *flow = NULL;
        slc_flow_item *item = NULL;
        uint32_t ended = 0, items = 0;
        ASSERT_OK(slc_flow_open(&flows, &slc_flow_cms, &setup, &flow, &error));
        while ((all == 1 || ended == 0) && slc_flow_next(flow, &item, &error) == SLC_OK) {
            assert_int_equal(item->input, ended);
            assert_string_equal(item->path, paths[ended]);
            assert_int_equal(item->ended && item->status < 0, ended == 1);
            assert_int_equal(strstr(item->error.text, absent) != NULL, ended == 1);
            items += !item->ended;
            ended += item->ended;
            slc_flow_release(flow, item);
        }
        assert_int_equal(ended, all == 1 ? INPUTS : 1);
        assert_true(items >= 3 * ended - 3 && items > 0);
        slc_flow_close(flow);
        assert_int_equal(atomic_load(&toy_locked), 0);
    }
    assert_int_equal(remove(path), 0);
    slc_sim_cms_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_on_several),
                                       cmocka_unit_test(inputs_opened_ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
