/* SPDX-License-Identifier: Apache-2.0
 * Sequence counters: loss, late comers, repetitions and restarts, against counts by a table of what came. */
#include "support/cmocka_all.h"

#include "run/run_pet_sequence.h"
#include "run/run_pet_socket.h"
#include "support/random.h"

#include <stdlib.h>

static slc_run_pet_module count(const uint64_t *numbers, size_t n, uint32_t bits)
{
    slc_run_pet_sequence sequence = {0};
    slc_run_pet_module module = {0};
    for (size_t i = 0; i < n; i++) {
        slc_run_pet_sequence_add(&sequence, numbers[i], bits, &module);
    }
    return module;
}

static void expect(const uint64_t *numbers, size_t n, uint32_t bits, const slc_run_pet_module *wanted)
{
    const slc_run_pet_module got = count(numbers, n, bits);
    assert_int_equal(got.lost, wanted->lost);
    assert_int_equal(got.reordered, wanted->reordered);
    assert_int_equal(got.repeated, wanted->repeated);
    assert_int_equal(got.restarts, wanted->restarts);
}

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        size_t n;
        uint64_t numbers[8];
        slc_run_pet_module wanted;
    } cases[] = {
        {64, 4, {0, 1, 2, 3}, {.lost = 0}},
        {64, 4, {5, 6, 9, 10}, {.lost = 2}},
        {64, 4, {5, 7, 6, 8}, {.reordered = 1}},
        {32, 6, {5, 9, 6, 7, 8, 10}, {.reordered = 3}},
        {32, 4, {5, 4, 3, 6}, {.reordered = 2}},
        {32, 3, {1, 0, 2}, {.reordered = 1}},
        {64, 5, {5, 6, 6, 5, 7}, {.repeated = 2}},
        {64, 4, {5, 8, 6, 6}, {.lost = 1, .reordered = 1, .repeated = 1}},
        {64, 5, {100000, 100001, 0, 1, 2}, {.restarts = 1}},
        {32, 6, {0, 1, 2, 0, 1, 4}, {.lost = 2, .restarts = 1}},
        {32, 4, {100, 101, 0, 1}, {.restarts = 1}},
        {32, 5, {0xfffffffe, 0xffffffff, 0, 1, 2}, {.lost = 0}},
        {32, 5, {0xfffffffe, 0, 2, 0xffffffff, 1}, {.reordered = 2}},
        {64, 3, {UINT64_MAX - 1, 1, UINT64_MAX}, {.lost = 1, .reordered = 1}},
        {64, 3, {0, 0xffffffff00, 0xffffffff01}, {.restarts = 1}},
        {64, 4, {0, 5000, 905, 5001}, {.lost = 4998, .reordered = 1}},
        {32, 6, {0, 0, 1, 1, 2, 2}, {.repeated = 3}},                         /* every datagram twice */
        {64, 5, {10000, 10001, 3, 10002, 10004}, {.lost = 1, .repeated = 1}}, /* one from long ago */
        {64, 4, {5, 6, 0xffffffff00, 7}, {.repeated = 1}},                    /* a damaged number */
        {64, 6, {10000, 10001, 3, 6, 5, 7}, {.lost = 1, .reordered = 1, .restarts = 1}},
        {32, 6, {0, 0x7fffffff, 0xfffffffe, 0, 1, 2}, {.lost = 0xfffffffd}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(cases[i].numbers, cases[i].n, cases[i].bits, &cases[i].wanted);
    }
}

/* A module that is switched on again, whose first datagrams are lost, while its numbers are still in the
 * window. */
static void test_restart_unseen(void **state)
{
    (void)state;
    enum { BEFORE = 3000, LOST = 7, AFTER = 5000 };
    uint64_t numbers[BEFORE + AFTER];
    for (uint64_t i = 0; i < BEFORE; i++) {
        numbers[i] = i;
    }
    for (uint64_t i = 0; i < AFTER; i++) {
        numbers[BEFORE + i] = LOST + i;
    }
    expect(numbers, BEFORE + AFTER, 32, &(slc_run_pet_module){.restarts = 1});
    expect(numbers, BEFORE + 20, 32, &(slc_run_pet_module){.repeated = 20}); /* too few to tell */
}

/* A stream with gaps, whose datagrams change places over short distances, and some come twice. */
static void test_random(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed, *numbers = malloc(2 * N * sizeof *numbers);
        uint8_t *times = calloc(N, 1);
        assert_non_null(numbers);
        assert_non_null(times);
        const uint64_t base = seed % 2 == 0 ? 0xffffe000 : seed << 40; /* in 32 bits they wrap */
        const uint32_t bits = seed % 2 == 0 ? 32 : 64;
        size_t n = 0;
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t copies = i == 0                           ? 1
                                    : random_below(&random, 10) == 0 ? 0
                                                                     : 1 + (random_below(&random, 50) == 0);
            for (uint32_t k = 0; k < copies; k++) {
                numbers[n++] = i;
            }
        }
        for (size_t i = 2; i < n; i++) { /* the first stays the first */
            const size_t reach = i - 1 < 30 ? i - 1 : 30, j = i - random_below(&random, (uint32_t)reach + 1);
            const uint64_t swap = numbers[i];
            numbers[i] = numbers[j];
            numbers[j] = swap;
        }
        slc_run_pet_module wanted = {0};
        uint64_t highest = 0;
        for (size_t i = 0; i < n; i++) {
            wanted.repeated += times[numbers[i]] > 0;
            wanted.reordered += times[numbers[i]] == 0 && numbers[i] < highest;
            times[numbers[i]] = 1;
            highest = numbers[i] > highest ? numbers[i] : highest;
        }
        for (uint64_t i = 0; i < highest; i++) {
            wanted.lost += times[i] == 0;
        }
        for (size_t i = 0; i < n; i++) {
            numbers[i] = bits == 32 ? (numbers[i] + base) & UINT32_MAX : numbers[i] + base;
        }
        assert_true(wanted.lost > 1000 && wanted.reordered > 1000 && wanted.repeated > 100);
        expect(numbers, n, bits, &wanted);
        free(numbers);
        free(times);
    }
}

/* A counter of 32 bits that begins again, and one that was looked at out of turn. */
static void test_drops(void **state)
{
    (void)state;
    uint64_t n = 0;
    for (uint64_t true_number = 0; true_number < (UINT64_C(5) << 32); true_number += 1000000007) {
        n = slc_run_pet_socket_count(n, (uint32_t)true_number);
        assert_int_equal(n, true_number);
        assert_int_equal(slc_run_pet_socket_count(n, (uint32_t)true_number - 5), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_restart_unseen),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
