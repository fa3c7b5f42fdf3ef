/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults: every one is counted, the first ones are kept, and merging is as if they had been added in that
 * order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/base.h>

#include <string.h>

static void test_all_are_counted_and_the_first_kept(void **state)
{
    (void)state;
    slc_faults faults = {0};
    const uint32_t n = 3 * SLC_FAULTS_KEPT;
    for (uint32_t i = 0; i < n; i++) {
        slc_faults_add(&faults, (slc_fault_code)(i % SLC_FAULT_CODES), i, (int32_t)i - 5, 100ULL * i);
    }
    assert_int_equal(slc_faults_total(&faults), n);
    assert_int_equal(faults.n_kept, SLC_FAULTS_KEPT);
    for (uint32_t i = 0; i < faults.n_kept; i++) {
        assert_int_equal(faults.kept[i].event, i);
        assert_int_equal(faults.kept[i].module, (int32_t)i - 5);
        assert_int_equal(faults.kept[i].offset, 100ULL * i);
        assert_int_equal(faults.kept[i].code, i % SLC_FAULT_CODES);
    }
    for (uint32_t code = 0; code < SLC_FAULT_CODES; code++) {
        assert_int_equal(faults.count[code], n / SLC_FAULT_CODES + (code < n % SLC_FAULT_CODES));
    }
    slc_faults_reset(&faults);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(faults.n_kept, 0);
}

/* Adding to one record, and adding to two that are merged, must be the same for every place of the cut. */
static void test_merge_is_adding_in_order(void **state)
{
    (void)state;
    const uint32_t n = SLC_FAULTS_KEPT + 20;
    slc_faults whole = {0};
    for (uint32_t i = 0; i < n; i++) {
        slc_faults_add(&whole, (slc_fault_code)(i % 5), i, 1, i);
    }
    for (uint32_t cut = 0; cut <= n; cut++) {
        slc_faults first = {0}, second = {0};
        for (uint32_t i = 0; i < n; i++) {
            slc_faults_add(i < cut ? &first : &second, (slc_fault_code)(i % 5), i, 1, i);
        }
        slc_faults_merge(&first, &second);
        assert_memory_equal(first.count, whole.count, sizeof whole.count);
        assert_int_equal(first.n_kept, whole.n_kept);
        for (uint32_t i = 0; i < whole.n_kept; i++) {
            assert_int_equal(first.kept[i].event, whole.kept[i].event);
            assert_int_equal(first.kept[i].code, whole.kept[i].code);
        }
    }
}

/* JSON output uses the words as keys: they must be there, be words, and differ. */
static void test_words_are_unique(void **state)
{
    (void)state;
    for (int code = 0; code < SLC_FAULT_CODES; code++) {
        const char *name = slc_fault_name((slc_fault_code)code);
        assert_non_null(name);
        assert_true(strlen(name) > 0);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        assert_true(strlen(slc_fault_text((slc_fault_code)code)) > strlen(name) / 2);
        for (int other = 0; other < code; other++) {
            assert_string_not_equal(name, slc_fault_name((slc_fault_code)other));
        }
    }
    assert_string_equal(slc_fault_name(SLC_FAULT_CODES), "unknown");
    assert_string_equal(slc_fault_text(SLC_FAULT_CODES), "unknown fault");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_counted_and_the_first_kept),
        cmocka_unit_test(test_merge_is_adding_in_order),
        cmocka_unit_test(test_words_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
