/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations that know their size: an older, shorter one keeps the defaults of what it does not have, one
 * without a size and one of a newer header are refused by name.
 */
#include "io/io_source.h"
#include "support/cmocka_all.h"

#include "base/config.h"

#include <sluice/sluice.h>

#include <stdalign.h>
#include <string.h>

typedef struct own_config {
    size_t size;
    uint32_t old_member;
    double new_member;
} own_config;

static void test_take(void **state)
{
    (void)state;
    slc_error error = {.status = SLC_OK};
    own_config own = {sizeof own, 1, 0.5};
    const own_config given = {sizeof given, 7, 2.5};
    assert_int_equal(slc_config_take(&own, sizeof own, &given, "slc_x_config", &error), SLC_OK);
    assert_int_equal(own.old_member, 7);
    assert_true(own.new_member == 2.5);

    own_config defaults = {sizeof defaults, 1, 0.5};
    const own_config shorter = {offsetof(own_config, new_member), 9, 99};
    assert_int_equal(slc_config_take(&defaults, sizeof defaults, &shorter, "slc_x_config", &error), SLC_OK);
    assert_int_equal(defaults.old_member, 9);
    assert_true(defaults.new_member == 0.5);
    assert_int_equal(defaults.size, sizeof defaults);
}

static void test_refuse(void **state)
{
    (void)state;
    own_config own = {sizeof own, 1, 0.5};
    const size_t sizes[] = {0, 1, sizeof(size_t) - 1, sizeof own + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        slc_error error = {.status = SLC_OK};
        const own_config given = {sizes[i], 7, 2.5};
        assert_int_equal(slc_config_take(&own, sizeof own, &given, "slc_x_config", &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "slc_x_config"));
        assert_non_null(strstr(error.text, i < 3 ? "slc_x_config_default" : "older than the header"));
        assert_int_equal(own.old_member, 1);
        assert_true(own.new_member == 0.5);
    }
}

/* A program of an older header gives less room; what comes after it is its own. */
static void test_defaults_of_an_older_header(void **state)
{
    (void)state;
    const size_t older = offsetof(slc_flow_config, context);
    alignas(slc_flow_config) unsigned char room[sizeof(slc_flow_config)];
    slc_flow_config now;
    const slc_flow_config *then = (const slc_flow_config *)(const void *)room;
    memset(room, 0xa5, sizeof room);
    (slc_flow_config_default)((slc_flow_config *)(void *)room, older);
    slc_flow_config_default(&now);
    assert_int_equal(then->size, older);
    assert_int_equal(then->batch_events, now.batch_events);
    assert_int_equal(then->batch_bytes, now.batch_bytes);
    assert_int_equal(then->exec.target, now.exec.target);
    assert_true(now.batch_events > 0 && now.batch_bytes > 0);
    for (size_t i = older; i < sizeof room; i++) {
        assert_int_equal(room[i], 0xa5);
    }
    assert_int_equal(now.size, sizeof now);

    /* And of a newer one: the rest is 0, and its size is told, so that it is refused where it is taken. */
    struct {
        slc_flow_config known;
        uint64_t unknown;
    } newer = {.unknown = 7};
    (slc_flow_config_default)(&newer.known, sizeof newer);
    assert_int_equal(newer.known.size, sizeof newer);
    assert_int_equal(newer.unknown, 0);
}

#define REFUSES(type, open)                                                                                  \
    do {                                                                                                     \
        type config;                                                                                         \
        type##_default(&config);                                                                             \
        for (int i = 0; i < 2; i++) {                                                                        \
            slc_error error = {.status = SLC_OK};                                                            \
            config.size = i == 0 ? 0 : sizeof config + 1;                                                    \
            assert_int_equal(open, SLC_ERR_USAGE);                                                           \
            assert_non_null(strstr(error.text, #type));                                                      \
        }                                                                                                    \
    } while (0)

static void test_opens_look(void **state)
{
    (void)state;
    slc_velo_chain *velo;
    slc_io_source *source;
    slc_io_images *images;
    slc_sim_velo *sim_velo;
    slc_sim_cms *sim_cms;
    slc_sim_pet *sim_pet;
    REFUSES(slc_velo_config, slc_velo_chain_open(&config, NULL, &velo, &error));
    REFUSES(slc_io_config, slc_io_open_memory("x", 1, "x", &config, &source, &error));
    REFUSES(slc_io_image_config, slc_io_images_open("/dev/null", &config, &images, &error));
    REFUSES(slc_sim_velo_config, slc_sim_velo_open(&config, NULL, &sim_velo, &error));
    REFUSES(slc_sim_cms_config, slc_sim_cms_open(&config, &sim_cms, &error));
    REFUSES(slc_sim_pet_config, slc_sim_pet_open(&config, &sim_pet, &error));
}

static void test_velo_device(void **state)
{
    (void)state;
    slc_velo_config config;
    slc_velo_config_default(&config);
    slc_velo_chain *chain;
    slc_error error = {.status = SLC_OK};
    config.exec.device = "cuda:x";
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "cuda:x"));
    config.exec.device = "cpu";
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_OK);
    slc_velo_chain_close(chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_take), cmocka_unit_test(test_refuse),
                                       cmocka_unit_test(test_defaults_of_an_older_header),
                                       cmocka_unit_test(test_opens_look), cmocka_unit_test(test_velo_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
