/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations that know their size: an older, shorter one keeps the defaults of what it does not have, one
 * without a size and one of a newer header are refused by name.
 */
#include "support/cmocka_all.h"

#include "base/config.h"

#include <string.h>

typedef struct config {
    size_t size;
    uint32_t old_member;
    double new_member;
} config;

static void test_take(void **state)
{
    (void)state;
    slc_error error = {.status = SLC_OK};
    config own = {sizeof own, 1, 0.5};
    const config given = {sizeof given, 7, 2.5};
    assert_int_equal(slc_config_take(&own, sizeof own, &given, "slc_x_config", &error), SLC_OK);
    assert_int_equal(own.old_member, 7);
    assert_true(own.new_member == 2.5);

    config defaults = {sizeof defaults, 1, 0.5};
    const config shorter = {offsetof(config, new_member), 9, 99};
    assert_int_equal(slc_config_take(&defaults, sizeof defaults, &shorter, "slc_x_config", &error), SLC_OK);
    assert_int_equal(defaults.old_member, 9);
    assert_true(defaults.new_member == 0.5);
    assert_int_equal(defaults.size, sizeof defaults);
}

static void test_refuse(void **state)
{
    (void)state;
    config own = {sizeof own, 1, 0.5};
    const size_t sizes[] = {0, 1, sizeof(size_t) - 1, sizeof own + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        slc_error error = {.status = SLC_OK};
        const config given = {sizes[i], 7, 2.5};
        assert_int_equal(slc_config_take(&own, sizeof own, &given, "slc_x_config", &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "slc_x_config"));
        assert_non_null(strstr(error.text, i < 3 ? "slc_x_config_default" : "older than the header"));
        assert_int_equal(own.old_member, 1);
        assert_true(own.new_member == 0.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_take), cmocka_unit_test(test_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
