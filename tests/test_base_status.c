/* SPDX-License-Identifier: Apache-2.0
 *
 * Status words, error texts of any length, the clock and the version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/base.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void test_every_status_has_its_word(void **state)
{
    (void)state;
    for (int status = SLC_ERR_STRICT; status <= SLC_END; status++) {
        const char *name = slc_status_name((slc_status)status);
        assert_string_not_equal(name, "unknown");
        for (int other = SLC_ERR_STRICT; other < status; other++) {
            assert_string_not_equal(name, slc_status_name((slc_status)other));
        }
    }
    assert_string_equal(slc_status_name((slc_status)-100), "unknown");
}

static void test_fail_formats_and_returns(void **state)
{
    (void)state;
    slc_error error = {SLC_OK, "old"};
    assert_int_equal(slc_fail(&error, SLC_ERR_FORMAT, "%s: byte %d: %s", "run.mdf", 48, "no header"),
                     SLC_ERR_FORMAT);
    assert_int_equal(error.status, SLC_ERR_FORMAT);
    assert_string_equal(error.text, "run.mdf: byte 48: no header");
    assert_int_equal(slc_fail(NULL, SLC_ERR_IO, "nobody %s", "listens"), SLC_ERR_IO);
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    slc_error error;
    char name[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(slc_fail(&error, SLC_ERR_IO, "%s", name), SLC_ERR_IO);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_memory_equal(error.text, name, sizeof error.text - 1);
}

static void test_clock_goes_forward(void **state)
{
    (void)state;
    const double start = slc_clock_seconds();
    double now = start;
    for (long i = 0; i < 100000000 && now <= start; i++) {
        now = slc_clock_seconds();
        assert_true(now >= start);
    }
    assert_true(now > start);
    assert_true(now - start < 60);
}

static void test_version_is_three_numbers(void **state)
{
    (void)state;
    const char *at = slc_version();
    for (int part = 0; part < 3; part++) {
        assert_true(isdigit((unsigned char)*at));
        char *end = NULL;
        assert_true(strtol(at, &end, 10) >= 0);
        assert_int_equal(*end, part < 2 ? '.' : '\0');
        at = end + 1;
    }
    assert_true(strlen(slc_compiler()) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_its_word), cmocka_unit_test(test_fail_formats_and_returns),
        cmocka_unit_test(test_long_texts_are_cut),        cmocka_unit_test(test_clock_goes_forward),
        cmocka_unit_test(test_version_is_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
