/* SPDX-License-Identifier: Apache-2.0
 *
 * Little-endian numbers: known bytes, every alignment, every bit pattern that matters, and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"

#include <float.h>

static void test_known_bytes(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    assert_int_equal(slc_load_u16(bytes), 0x2301);
    assert_int_equal(slc_load_u32(bytes), 0x67452301);
    assert_true(slc_load_u64(bytes) == 0xefcdab8967452301ULL);
    assert_int_equal(slc_load_u32(bytes + 4), 0xefcdab89U);
    assert_int_equal(slc_load_u16(bytes + 6), 0xefcd);
    static const uint8_t one_half[] = {0, 0, 0, 0x3f}, minus_two[] = {0, 0, 0, 0, 0, 0, 0, 0xc0};
    assert_true(slc_load_f32(one_half) == 0.5f);
    assert_true(slc_load_f64(minus_two) == -2.0);
}

static void test_store_and_load_at_every_alignment(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t bytes[24];
        uint8_t *at = bytes + shift;
        for (unsigned bit = 0; bit < 64; bit++) {
            const uint64_t value = 1ULL << bit;
            memset(bytes, 0xaa, sizeof bytes);
            slc_store_u64(at, value);
            assert_true(slc_load_u64(at) == value);
            assert_int_equal(at[8], 0xaa);
            slc_store_u32(at, (uint32_t)(value >> 16));
            assert_true(slc_load_u32(at) == (uint32_t)(value >> 16));
            slc_store_u16(at, (uint16_t)value);
            assert_true(slc_load_u16(at) == (uint16_t)value);
        }
    }
}

static void test_floats_keep_every_bit(void **state)
{
    (void)state;
    static const float singles[] = {0.0f, -0.0f, FLT_MIN, -FLT_MAX, FLT_TRUE_MIN, 1.0f / 3.0f};
    static const double doubles[] = {0.0, -0.0, DBL_MIN, -DBL_MAX, DBL_TRUE_MIN, 1.0 / 3.0};
    uint8_t bytes[8];
    for (size_t i = 0; i < 6; i++) {
        slc_store_f32(bytes, singles[i]);
        const float single = slc_load_f32(bytes);
        assert_memory_equal(&single, &singles[i], sizeof single);
        slc_store_f64(bytes, doubles[i]);
        const double two = slc_load_f64(bytes);
        assert_memory_equal(&two, &doubles[i], sizeof two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_bytes),
        cmocka_unit_test(test_store_and_load_at_every_alignment),
        cmocka_unit_test(test_floats_keep_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
