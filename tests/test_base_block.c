/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in large pages: zeros to the last byte, aligned, of every size around the borders of what is large;
 * no memory is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/block.h"
#include "support/failing_allocator.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t sizes[] = {1,
                               SLC_BLOCK_LARGE - 1,
                               SLC_BLOCK_LARGE,
                               SLC_BLOCK_PAGE - 1,
                               SLC_BLOCK_PAGE,
                               SLC_BLOCK_PAGE + 1,
                               2 * (size_t)SLC_BLOCK_PAGE + 4097};

static void assert_zeros(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0) {
            fail_msg("byte %zu of %zu is %d", i, n, bytes[i]);
        }
    }
}

static void test_mapped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *before = slc_block_map(sizes[i]), *block = slc_block_map(sizes[i]);
        assert_non_null(before);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (sizes[i] < SLC_BLOCK_LARGE ? SLC_BLOCK_ALIGN : SLC_BLOCK_PAGE),
                         0);
        assert_zeros(block, sizes[i]);
        memset(before, 1, sizes[i]); /* neither is in the other */
        assert_zeros(block, sizes[i]);
        memset(block, 2, sizes[i]);
        slc_block_unmap(block, sizes[i]); /* all of it, and nothing else */
        assert_int_equal(msync(block, 1, MS_ASYNC), -1);
        assert_int_equal(msync(block + (sizes[i] - 1) / 4096 * 4096, 1, MS_ASYNC), -1);
        assert_int_equal(before[0], 1);
        assert_int_equal(before[sizes[i] - 1], 1);
        slc_block_unmap(before, sizes[i]);
    }
    assert_null(slc_block_map(SIZE_MAX));
    assert_null(slc_block_map(SIZE_MAX / 2));
}

static void test_allocated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int again = 0; again < 2; again++) { /* memory that was in use before, too */
            uint8_t *block = slc_block_zeros(sizes[i]), *other = slc_block_alloc(sizes[i]);
            assert_non_null(block);
            assert_non_null(other);
            assert_true(sizes[i] < SLC_BLOCK_LARGE || (uintptr_t)other % SLC_BLOCK_PAGE == 0);
            memset(other, 1, sizes[i]);
            assert_zeros(block, sizes[i]);
            memset(block, 2, sizes[i]);
            free(block);
            free(other);
        }
        allocations_left = 0;
        void *none = slc_block_zeros(sizes[i]);
        allocations_left = LONG_MAX;
        assert_null(none);
    }
    assert_null(slc_block_zeros(SIZE_MAX));
    assert_null(slc_block_alloc(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
