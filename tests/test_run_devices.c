/* SPDX-License-Identifier: Apache-2.0
 *
 * Which GPU each worker of a flow gets, on a machine that has none: the table of what runs on GPUs is one of
 * the test's own here, with three devices whose chains are the processor's and count what they are given. So
 * words, numbers of workers, and results that do not depend on them are tested wherever the tests run.
 */
#include "run/run_devices.h"
#include "run/run_flow_part.h"
#include "support/assert_ok.h"
#include "support/toy_devices.h"

#include <sluice/sim_cms.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = TOY_DEVICES, EVENTS = 12, PAGES = 17 };

static slc_error error; /* of the last call */

/* ---- words ------------------------------------------------------------------------------------- */

static void list_is(const char *word, uint32_t n, const uint32_t *wanted)
{
    slc_cuda_list list = {.n = 77};
    ASSERT_OK(slc_cuda_list_read(word, true, &list, &error));
    assert_int_equal(list.n, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(list.device[i], wanted[i]);
    }
}

static void list_refused(const char *word, slc_status wanted, const char *words)
{
    slc_cuda_list list = {.n = 77};
    assert_int_equal(slc_cuda_list_read(word, false, &list, &error), wanted);
    assert_int_equal(list.n, 77);
    if (strstr(error.text, words) == NULL) {
        fail_msg("device \"%s\" was refused with: %s", word, error.text);
    }
}

static void words_for_devices(void **state)
{
    (void)state;
    list_is("cuda", 1, (const uint32_t[]){0});
    list_is("cuda:2", 1, (const uint32_t[]){2});
    list_is("cuda:1,0", 2, (const uint32_t[]){1, 0});
    list_is("cuda:0,1,2", 3, (const uint32_t[]){0, 1, 2});
    list_is("all", 3, (const uint32_t[]){0, 1, 2});
    list_is("cuda:all", 3, (const uint32_t[]){0, 1, 2});
    list_is("cuda:1,1", 2, (const uint32_t[]){1, 1}); /* which is allowed where it is asked for */
    static const char *const wrong[] = {"",           "gpu",       "ALL",        "cuda:",    "cuda:,",
                                        "cuda:0,",    "cuda:,0",   "cuda 0",     "cuda:0-2", "cuda:0;1",
                                        "cuda,0",     "cuda:0,,1", "cuda:-1",    "cuda:+1",  "cuda: 1",
                                        "cuda:0,all", "all,0",     "cuda:123456"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char quoted[64];
        (void)snprintf(quoted, sizeof quoted, "device \"%s\": must be cpu, cuda, cuda:N", wrong[i]);
        list_refused(wrong[i], SLC_ERR_USAGE, quoted);
    }
    list_refused("cuda:1,2,1", SLC_ERR_USAGE, "device \"cuda:1,2,1\": cuda:1 is named twice");
    list_refused("cuda:3", SLC_ERR_UNSUPPORTED, "there are 3: cuda:0 Toy 0, cuda:1 Toy 1, cuda:2 Toy 2");
    list_refused("cuda:0,7", SLC_ERR_UNSUPPORTED, "there is no cuda:7; there are 3: cuda:0 Toy 0");
    /* As many as there is room for, and one more. */
    char many[400] = "cuda:0";
    for (int i = 1; i < SLC_CUDA_LIST_MOST; i++) {
        (void)strcat(many, ",0");
    }
    slc_cuda_list list;
    ASSERT_OK(slc_cuda_list_read(many, true, &list, &error));
    assert_int_equal(list.n, SLC_CUDA_LIST_MOST);
    list_refused(strcat(many, ",0"), SLC_ERR_USAGE, "must be cpu, cuda");
}

static void one_device_of_a_word(void **state)
{
    (void)state;
    uint32_t device = 77;
    assert_int_equal(slc_cuda_choose("cuda:0,1", &device, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "\"cuda:0,1\": one is needed here"));
    assert_int_equal(slc_cuda_choose("all", &device, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "there are 3, and one is needed here"));
    assert_int_equal(device, 77);
    atomic_store(&toy_devices, 1);
    ASSERT_OK(slc_cuda_choose("all", &device, &error));
    assert_int_equal(device, 0);
    atomic_store(&toy_devices, 0);
    assert_int_equal(slc_cuda_choose("all", &device, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "\"all\": no CUDA device"));
    assert_int_equal(slc_cuda_choose("cuda:0,1", &device, &error), SLC_ERR_USAGE);
    list_refused("cuda:0,1", SLC_ERR_UNSUPPORTED, "no CUDA device");
    atomic_store(&toy_devices, DEVICES);
}

static void devices_are_dealt_in_turn(void **state)
{
    (void)state;
    char text[SLC_RUN_DEVICE_ROOM];
    slc_run_devices dealt;
    static const char *const none[] = {NULL, "cpu"};
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(slc_run_devices_of(none[i], &dealt, &error));
        assert_int_equal(slc_run_devices_workers(&dealt, 5), 5);
        assert_int_equal(slc_run_devices_threads(&dealt, 8), 8);
        assert_ptr_equal(slc_run_devices_word(&dealt, 3, none[i], text), none[i]);
    }
    ASSERT_OK(slc_run_devices_of("cuda:2,0", &dealt, &error));
    static const char *const words[] = {"cuda:2", "cuda:0", "cuda:2", "cuda:0", "cuda:2"};
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(slc_run_devices_word(&dealt, i, "x", text), words[i]);
    }
    assert_int_equal(slc_run_devices_workers(&dealt, 4), 8);
    assert_int_equal(slc_run_devices_workers(&dealt, 0), 2);
    assert_int_equal(slc_run_devices_threads(&dealt, 8), 4);
    assert_int_equal(slc_run_devices_threads(&dealt, 1), 1);
    assert_int_equal(slc_run_devices_of("cuda:2,2", &dealt, &error), SLC_ERR_USAGE);
}

/* ---- CMS --------------------------------------------------------------------------------------- */

static slc_sim_cms *sim;
static uint64_t next_event;

static slc_status read_events(void *context, slc_flow_item *item, slc_error *why)
{
    (void)context;
    slc_batch_reset(&item->batch);
    if (next_event == EVENTS) {
        return SLC_END;
    }
    item->batch.first_event = next_event;
    return slc_sim_cms_event(sim, next_event++, &item->batch, NULL, why);
}

/* All events through a flow: its checksum, and how many workers it had. */
static uint64_t cms_checksum(const char *of_chain, const char *of_flow, uint32_t threads, uint32_t *workers)
{
    slc_cms_config cms;
    slc_cms_config_default(&cms, SLC_CMS_PHASE1);
    cms.exec.device = of_chain;
    const slc_flow_cms_setup setup = {&cms, slc_sim_cms_cabling(sim), slc_sim_cms_gains(sim)};
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.read = read_events;
    config.exec.threads = threads;
    config.exec.device = of_flow;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    toy_reset();
    next_event = 0;
    ASSERT_OK(slc_flow_open(&config, &slc_flow_cms, &setup, &flow, &error));
    slc_status status;
    while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        slc_flow_release(flow, item);
    }
    assert_int_equal(status, SLC_END);
    slc_flow_totals totals;
    slc_flow_totals_of(flow, &totals);
    slc_flow_close(flow);
    assert_int_equal(totals.items, EVENTS);
    assert_int_equal(totals.n_summed, EVENTS);
    *workers = totals.workers;
    return totals.checksum;
}

static void cms_on_several(void **state)
{
    (void)state;
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = 5;
    ASSERT_OK(slc_sim_cms_open(&config, &sim, &error));
    uint32_t workers = 0;
    const uint64_t sum = cms_checksum(NULL, NULL, 1, &workers);
    assert_int_equal(workers, 1);
    assert_int_equal(toy_total(toy_opened), 0);
    static const struct {
        const char *word;
        uint32_t threads, workers, on[DEVICES];
    } cases[] = {
        {"cpu", 2, 2, {0, 0, 0}},      {"cuda", 1, 1, {1, 0, 0}},     {"cuda:1", 3, 3, {0, 3, 0}},
        {"cuda:0,1", 1, 2, {1, 1, 0}}, {"cuda:2,0", 2, 4, {2, 0, 2}}, {"all", 1, 3, {1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int of_flow = 0; of_flow < 2; of_flow++) {
            const char *word = cases[i].word;
            const uint64_t other = of_flow != 0 ? cms_checksum("cuda:9", word, cases[i].threads, &workers)
                                                : cms_checksum(word, NULL, cases[i].threads, &workers);
            assert_true(other == sum);
            assert_int_equal(workers, cases[i].workers);
            for (int d = 0; d < DEVICES; d++) {
                assert_int_equal(atomic_load(&toy_opened[d]), cases[i].on[d]);
                assert_true(cases[i].on[d] > 0 || atomic_load(&toy_ran[d]) == 0);
            }
            assert_int_equal(toy_total(toy_ran), strcmp(word, "cpu") == 0 ? 0 : EVENTS);
        }
    }
    /* 0: the processors, shared out among the devices. */
    assert_true(cms_checksum("all", NULL, 0, &workers) == sum);
    assert_int_equal(workers % DEVICES, 0);
    slc_sim_cms_close(sim);
}

static void flows_refuse_devices(void **state)
{
    (void)state;
    slc_cms_config cms;
    slc_cms_config_default(&cms, SLC_CMS_PHASE1);
    const slc_flow_cms_setup setup = {&cms, NULL, NULL};
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.read = read_events;
    slc_flow *flow = NULL;
    cms.exec.device = "cuda:1,1";
    assert_int_equal(slc_flow_open(&config, &slc_flow_cms, &setup, &flow, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "cuda:1 is named twice"));
    cms.exec.device = "cuda:0,3";
    assert_int_equal(slc_flow_open(&config, &slc_flow_cms, &setup, &flow, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "there is no cuda:3; there are 3"));
    assert_null(flow);
}

/* ---- images ------------------------------------------------------------------------------------ */

enum { SIDE = 40 };
static uint8_t pixels[PAGES][SIDE * SIDE];
static int next_page;

/* The caller's pages, as the chain of images takes them. */
static slc_status read_pages(void *context, slc_flow_item *item, slc_error *why)
{
    slc_flow_image_result *result = item->result;
    (void)context;
    (void)why;
    if (next_page == PAGES) {
        return SLC_END;
    }
    result->image = (slc_image){
        .pixels = pixels[next_page++], .width = SIDE, .height = SIDE, .stride = SIDE, .type = SLC_IMAGE_U8};
    return SLC_OK;
}

static uint64_t image_checksum(const char *device, bool otsu, uint32_t *workers)
{
    slc_image_label_config label;
    slc_image_label_config_default(&label);
    label.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX;
    label.exec.device = device;
    const slc_flow_image_setup setup = {.config = &label, .otsu = otsu, .labels = true};
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.read = read_pages;
    config.exec.threads = 1;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    toy_reset();
    next_page = 0;
    ASSERT_OK(slc_flow_open(&config, &slc_flow_image, &setup, &flow, &error));
    assert_true(device == NULL || toy_total(toy_opened) == 1); /* those of further devices wait for a page */
    slc_status status;
    while ((status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        slc_flow_release(flow, item);
    }
    assert_int_equal(status, SLC_END);
    slc_flow_totals totals;
    slc_flow_totals_of(flow, &totals);
    slc_flow_close(flow);
    assert_int_equal(totals.n_summed, PAGES);
    *workers = totals.workers;
    return totals.checksum;
}

static void pages_on_several(void **state)
{
    (void)state;
    uint32_t random = 7, workers = 0;
    for (size_t i = 0; i < sizeof pixels; i++) {
        random = random * 1664525 + 1013904223;
        ((uint8_t *)pixels)[i] = (uint8_t)((random >> 24) > 120 + i / (SIDE * SIDE) ? random >> 16 & 0xff
                                                                                    : 0);
    }
    for (int otsu = 0; otsu < 2; otsu++) { /* with it a labeller is opened anew for a page */
        const uint64_t sum = image_checksum(NULL, otsu != 0, &workers);
        static const char *const words[] = {"cuda", "cuda:2", "cuda:0,1", "cuda:2,1", "all"};
        static const uint32_t n[] = {1, 1, 2, 2, 3};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            assert_true(image_checksum(words[i], otsu != 0, &workers) == sum);
            assert_int_equal(workers, n[i]);
            assert_int_equal(toy_total(toy_ran), PAGES);
        }
        assert_true(image_checksum("cuda:2", otsu != 0, &workers) == sum);
        assert_int_equal(atomic_load(&toy_ran[2]), PAGES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_for_devices),         cmocka_unit_test(one_device_of_a_word),
        cmocka_unit_test(devices_are_dealt_in_turn), cmocka_unit_test(cms_on_several),
        cmocka_unit_test(flows_refuse_devices),      cmocka_unit_test(pages_on_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
