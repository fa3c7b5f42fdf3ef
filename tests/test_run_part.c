/* SPDX-License-Identifier: Apache-2.0
 *
 * Which inputs, and which of their bytes, a part of a run has: over files of all sizes, the parts follow one
 * another without a gap and come to all there is, whatever their number; of as many files as parts none is
 * without, and no part has far more than its share. And what has no parts.
 */
#include "run/run_part.h"

#include "support/cmocka_all.h"
#include "support/temporary_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 12 };

static char names[FILES][128];
static const char *paths[FILES];

static int make_files(void **state)
{
    if (make_folder(state) != 0) {
        return 1;
    }
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s/%d", folder, i);
        paths[i] = names[i];
        FILE *file = fopen(names[i], "wb");
        if (file == NULL || fclose(file) != 0) {
            return 1;
        }
    }
    return 0;
}

static int remove_files(void **state)
{
    for (int i = 0; i < FILES; i++) {
        (void)unlink(names[i]);
    }
    return remove_folder(state);
}

static slc_flow_config config_of(uint32_t n, uint32_t part, uint32_t n_parts)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = paths;
    config.n_paths = n;
    config.part = part;
    config.n_parts = n_parts;
    return config;
}

/* Each part begins where the last one ended, and no input is left out, be it empty. */
static void check_parts(uint32_t n, uint32_t n_parts, const uint64_t *size)
{
    uint32_t input = 0; /* where the last part ended */
    uint64_t at = 0;
    for (uint32_t k = 0; k < n_parts; k++) {
        slc_flow_config config = config_of(n, k, n_parts);
        slc_run_part part;
        slc_error error;
        assert_int_equal(slc_run_part_of(&config, &slc_flow_velo, &part, &error), SLC_OK);
        assert_true(part.end <= n && part.first <= part.end);
        if (n >= n_parts) {
            assert_true(part.end > part.first);
        }
        for (uint32_t i = part.first; i < part.end; i++) {
            slc_run_part_place(&part, i, &config);
            if (input < i) { /* nothing of it is left */
                assert_int_equal(at, size[input++]);
                at = 0;
            }
            assert_int_equal(i, input);
            assert_int_equal(config.from, at);
            assert_true(config.until == UINT64_MAX || (config.until > config.from && config.until < size[i]));
            at = config.until == UINT64_MAX ? size[i] : config.until;
        }
    }
    assert_int_equal(input, n - 1);
    assert_int_equal(at, size[n - 1]);
}

static void test_parts_follow_one_another(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 40; round++) {
        uint64_t size[FILES];
        for (int i = 0; i < FILES; i++) {
            size[i] = (uint64_t)(rand() % (round % 4 == 0 ? 3 : 5000));
            assert_int_equal(truncate(names[i], (off_t)size[i]), 0);
        }
        for (uint32_t n = 1; n <= FILES; n += 1 + (uint32_t)round % 3) {
            for (uint32_t n_parts = 2; n_parts < 30; n_parts += 1 + (uint32_t)(rand() % 5)) {
                check_parts(n, n_parts, size);
            }
        }
    }
}

/* Of files of equal size, each part has as many as the next, but for one. */
static void test_files_are_shared_out(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(truncate(names[i], 1000), 0);
    }
    for (uint32_t n_parts = 2; n_parts <= FILES; n_parts++) {
        for (uint32_t k = 0; k < n_parts; k++) {
            const slc_flow_config config = config_of(FILES, k, n_parts);
            slc_run_part part;
            assert_int_equal(slc_run_part_of(&config, &slc_flow_velo, &part, NULL), SLC_OK);
            assert_in_range(part.end - part.first, FILES / n_parts, FILES / n_parts + 1);
            assert_true(part.from == 0 && part.until == UINT64_MAX);
        }
    }
}

static void refused(const slc_flow_config *config, const slc_flow_chain *chain, slc_status wanted)
{
    slc_run_part part;
    slc_error error = {.text = ""};
    assert_int_equal(slc_run_part_of(config, chain, &part, &error), wanted);
    assert_true(strlen(error.text) > 0);
}

static void test_what_has_no_parts(void **state)
{
    (void)state;
    const char *const pipes[] = {"-", "/dev/null"};
    slc_flow_config config = config_of(2, 3, 3);
    refused(&config, &slc_flow_velo, SLC_ERR_USAGE);
    config = config_of(2, 1, 0);
    refused(&config, &slc_flow_velo, SLC_ERR_USAGE);
    config = config_of(2, 0, 2);
    refused(&config, &slc_flow_pet, SLC_ERR_USAGE);
    const slc_flow_chain other = {.size = sizeof other, .name = "other"};
    config = config_of(2, 0, 3);
    refused(&config, &other, SLC_ERR_USAGE);
    for (int i = 0; i < 2; i++) {
        config = config_of(1, 0, 2);
        config.paths = &pipes[i];
        refused(&config, &slc_flow_velo, SLC_ERR_USAGE);
    }
    const char *const missing = "/nowhere/at/all";
    config.paths = &missing;
    refused(&config, &slc_flow_velo, SLC_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_follow_one_another),
        cmocka_unit_test(test_files_are_shared_out),
        cmocka_unit_test(test_what_has_no_parts),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
