/* SPDX-License-Identifier: Apache-2.0
 * Sequence counters: loss, late comers, copies, strangers and restarts, against counts by a table of what
 * came; and which datagrams are used. */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_sequence.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

/* Datagrams in the order in which they come: numbers, and who sent them. The same number of the same sender
 * is the same datagram. */
typedef struct stream {
    slc_io_pet_sequence *sequence;
    slc_io_pet_module module;
    uint64_t held, used; /* of the last call; in all */
    uint32_t bits;
} stream;

static stream start(uint32_t bits)
{
    stream s = {.sequence = calloc(1, sizeof *s.sequence), .bits = bits};
    assert_non_null(s.sequence);
    return s;
}

static slc_io_pet_use add(stream *s, uint64_t number, uint32_t sender)
{
    const uint32_t print = ((uint32_t)(number * 2654435761U) ^ (sender << 20)) | 1;
    const slc_io_pet_use use = slc_io_pet_sequence_add(s->sequence, number, print, false, s->bits,
                                                       &s->module);
    assert_true(use != SLC_PET_TAKE_BOTH || s->held == 1);
    s->used += use == SLC_PET_TAKE ? 1 : use == SLC_PET_TAKE_BOTH ? 2 : 0;
    s->held = use == SLC_PET_HOLD;
    return use;
}

static void expect(stream *s, const slc_io_pet_module *wanted, uint64_t used)
{
    assert_int_equal(s->module.lost, wanted->lost);
    assert_int_equal(s->module.reordered, wanted->reordered);
    assert_int_equal(s->module.repeated, wanted->repeated);
    assert_int_equal(s->module.foreign, wanted->foreign);
    assert_int_equal(s->module.restarts, wanted->restarts);
    assert_int_equal(s->used, used);
    free(s->sequence);
}

static const struct {
    uint32_t bits;
    size_t n;
    uint64_t numbers[MOST];
    const char *senders; /* NULL: one */
    slc_io_pet_module wanted;
    uint64_t unused; /* of the n */
} cases[] = {
    {64, 4, {0, 1, 2, 3}, NULL, {.lost = 0}, 0},
    {64, 4, {5, 6, 9, 10}, NULL, {.lost = 2}, 0},
    {64, 4, {5, 7, 6, 8}, NULL, {.reordered = 1}, 0},
    {32, 6, {5, 9, 6, 7, 8, 10}, NULL, {.reordered = 3}, 0},
    {64, 5, {5, 6, 6, 5, 7}, NULL, {.repeated = 2}, 2},
    {64, 4, {5, 8, 6, 6}, NULL, {.lost = 1, .reordered = 1, .repeated = 1}, 1},
    {32, 6, {0, 0, 1, 1, 2, 2}, NULL, {.repeated = 3}, 3}, /* every datagram twice */
    {64, 8, {0, 1, 2, 3, 0, 1, 2, 3}, NULL, {.repeated = 4}, 4},
    /* Before the first that came: 64 and no more. */
    {32, 4, {5, 4, 3, 6}, NULL, {.reordered = 2}, 0},
    {32, 4, {5, 4, 4, 6}, NULL, {.reordered = 1, .repeated = 1}, 1},
    {64, 3, {1000, 936, 1001}, NULL, {.reordered = 1}, 0},
    {64, 3, {1000, 935, 1001}, NULL, {.foreign = 1}, 1},
    {32, 3, {20, 0xffffffff - 43, 21}, NULL, {.reordered = 1}, 0}, /* 64 before, beyond 0 */
    {32, 3, {20, 0xffffffff - 44, 21}, NULL, {.foreign = 1}, 1},
    /* A counter that begins again: the content is new. */
    {64, 5, {100000, 100001, 0, 1, 2}, NULL, {.restarts = 1}, 0},
    {32, 6, {0, 1, 2, 0, 1, 4}, "000111", {.lost = 2, .restarts = 1}, 0},
    {32, 4, {100, 101, 0, 1}, NULL, {.restarts = 1}, 0},
    {32, 7, {0, 1, 2, 3, 4, 2, 3}, "0000011", {.restarts = 1}, 0},
    {64, 5, {0, 1, 0xffffffff00, 0xffffffff01, 0xffffffff03}, NULL, {.lost = 1, .restarts = 1}, 0},
    {64, 6, {10000, 10001, 3, 6, 5, 7}, NULL, {.lost = 1, .reordered = 1, .restarts = 1}, 0},
    {64, 5, {10000, 10001, 6, 3, 7}, NULL, {.lost = 2, .restarts = 1}, 0}, /* the first two in disorder */
    {64, 5, {10000, 10001, 503, 439, 504}, NULL, {.lost = 63, .restarts = 1}, 0},
    {64, 5, {10000, 10001, 503, 438, 504}, NULL, {.lost = 65, .foreign = 1, .restarts = 1}, 1},
    {64, 4, {60000, 60001, 1000, 5096}, NULL, {.lost = 4095, .restarts = 1}, 0},
    {64, 4, {60000, 60001, 1000, 5097}, NULL, {.foreign = 2}, 2},
    /* The counter's end. */
    {32, 5, {0xfffffffe, 0xffffffff, 0, 1, 2}, NULL, {.lost = 0}, 0},
    {32, 5, {0xfffffffe, 0, 2, 0xffffffff, 1}, NULL, {.reordered = 2}, 0},
    {64, 3, {UINT64_MAX - 1, 1, UINT64_MAX}, NULL, {.lost = 1, .reordered = 1}, 0},
    /* As much as the window holds, and more, which the next one confirms. */
    {64, 3, {0, 1, 4097}, NULL, {.lost = 4095}, 0},
    {64, 3, {0, 1, 4098}, NULL, {.foreign = 1}, 1},
    {64, 4, {0, 1, 4098, 4099}, NULL, {.lost = 4096}, 0},
    {64, 4, {0, 1, 1000000, 1000007}, NULL, {.lost = 999998 + 6}, 0},
    {32, 4, {0, 1, 0x80000001, 0x80000002}, NULL, {.lost = 0x7fffffff}, 0},
    {32, 4, {0, 1, 0x80000002, 0x80000003}, NULL, {.restarts = 1}, 0},
    /* Of somebody else. */
    {64, 4, {5, 6, 0xffffffff00, 7}, NULL, {.foreign = 1}, 1},
    {64, 5, {10000, 10001, 3, 10002, 10004}, NULL, {.lost = 1, .foreign = 1}, 1},
    {64, 6, {5, 99999, 6, 99999, 7, 99999}, "010101", {.foreign = 3}, 3},
    {32, 8, {0, 0, 1, 1, 2, 2, 3, 3}, "01010101", {.foreign = 4}, 4}, /* two of one number */
    {64, 7, {5, 6, 70000, 50000, 90000, 70000, 7}, NULL, {.foreign = 4}, 4},
    {64, 4, {7000000000, 5, 6, 7}, NULL, {.foreign = 1}, 0}, /* the very first one: nobody knew */
    {64, 4, {5, 7000000, 7000001, 7000002}, NULL, {.foreign = 1}, 0},
    /* Several together, and back: no loss, though these were used. */
    {64, 8, {5, 6, 90000, 90001, 90002, 7, 8, 9}, "00111000", {.foreign = 3}, 0},
    {64, 10, {5, 6, 90000, 90001, 9, 10, 90002, 90003, 11, 12}, "0011001100", {.lost = 2, .foreign = 4}, 0},
    {64, 8, {90000, 90001, 5, 6, 90002, 90003, 90004, 90005}, "00110000", {.foreign = 2}, 0},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream s = start(cases[i].bits);
        for (size_t k = 0; k < cases[i].n; k++) {
            const bool other = cases[i].senders != NULL && cases[i].senders[k] == '1';
            (void)add(&s, cases[i].numbers[k], other);
        }
        expect(&s, &cases[i].wanted, cases[i].n - cases[i].unused);
    }
}

/* A module that is switched on again, whose first datagrams are lost, while its numbers are still in the
 * window; and one whose datagrams all come once more. */
static void test_restart_or_copies(void **state)
{
    (void)state;
    enum { BEFORE = 3000, LOST = 7, AFTER = 5000 };
    stream s = start(32);
    for (uint32_t i = 0; i < BEFORE; i++) {
        (void)add(&s, i, 0);
    }
    for (uint32_t i = 0; i < AFTER; i++) {
        (void)add(&s, LOST + i, 1);
    }
    expect(&s, &(slc_io_pet_module){.restarts = 1}, BEFORE + AFTER);
    s = start(32);
    for (int again = 0; again < 3; again++) {
        for (uint32_t i = 0; i < BEFORE; i++) {
            assert_int_equal(add(&s, i, 0), again == 0 ? SLC_PET_TAKE : SLC_PET_LEAVE_OUT);
        }
    }
    expect(&s, &(slc_io_pet_module){.repeated = 2 * BEFORE}, BEFORE);
}

/* Thousands of datagrams of anybody between those of a module, whose numbers may be anything. */
static void test_strangers(void **state)
{
    (void)state;
    enum { N = 20000, FIRST = 1000000 };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed, used = 0;
        slc_io_pet_module wanted = {.lost = 0};
        stream s = start(seed % 2 == 0 ? 32 : 64);
        for (uint32_t i = 0; i < N; i++) {
            if (i == 0 || i + 1 == N || random_below(&random, 10) > 0) {
                assert_int_equal(add(&s, FIRST + i, 0), SLC_PET_TAKE);
                used++;
            } else {
                wanted.lost++;
            }
            for (uint32_t k = random_below(&random, 3); k > 0; k--) {
                const uint64_t any = random_u64(&random), number = seed % 2 == 0 ? any & UINT32_MAX : any;
                if (number < FIRST - 100000 || number > FIRST + 100000) {
                    assert_int_equal(add(&s, number, 1), SLC_PET_HOLD);
                    wanted.foreign++;
                }
            }
        }
        assert_true(wanted.lost > 1000 && wanted.foreign > 1000);
        expect(&s, &wanted, used);
    }
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
        slc_io_pet_module wanted = {.lost = 0};
        uint64_t highest = 0;
        stream s = start(bits);
        for (size_t i = 0; i < n; i++) {
            const bool again = times[numbers[i]] > 0;
            wanted.repeated += again;
            wanted.reordered += !again && numbers[i] < highest;
            times[numbers[i]] = 1;
            highest = numbers[i] > highest ? numbers[i] : highest;
            const uint64_t number = bits == 32 ? (numbers[i] + base) & UINT32_MAX : numbers[i] + base;
            assert_int_equal(add(&s, number, 0), again ? SLC_PET_LEAVE_OUT : SLC_PET_TAKE);
        }
        for (uint64_t i = 0; i < highest; i++) {
            wanted.lost += times[i] == 0;
        }
        assert_true(wanted.lost > 1000 && wanted.reordered > 1000 && wanted.repeated > 100);
        expect(&s, &wanted, n - wanted.repeated);
        free(numbers);
        free(times);
    }
}

/* Malformed datagrams, with a module and without, take their number's place, and move nothing. */
static void test_malformed(void **state)
{
    (void)state;
    stream s = start(32);
    for (uint32_t i = 10; i < 20; i++) {
        (void)add(&s, i, 0);
    }
    slc_io_pet_module *m = &s.module;
    assert_int_equal(slc_io_pet_sequence_add(s.sequence, 20, 77, true, 32, m), SLC_PET_TAKE);
    assert_int_equal(slc_io_pet_sequence_add(s.sequence, 20, 77, true, 32, m), SLC_PET_LEAVE_OUT);
    assert_int_equal(slc_io_pet_sequence_add(s.sequence, 90000, 77, true, 32, m), SLC_PET_LEAVE_OUT);
    assert_int_equal(slc_io_pet_sequence_add(s.sequence, 90001, 77, true, 32, m), SLC_PET_LEAVE_OUT);
    (void)add(&s, 24, 0);
    assert_int_equal(m->lost, 3);
    assert_true(slc_io_pet_sequence_fill(s.sequence, 22, 32, m));
    assert_int_equal(m->lost, 2);
    static const uint64_t not_missing[] = {22, 24, 15, 25, 9, 90000};
    for (size_t i = 0; i < sizeof not_missing / sizeof *not_missing; i++) {
        assert_false(slc_io_pet_sequence_fill(s.sequence, not_missing[i], 32, m));
    }
    expect(&s, &(slc_io_pet_module){.lost = 2}, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),     cmocka_unit_test(test_restart_or_copies),
        cmocka_unit_test(test_strangers), cmocka_unit_test(test_random),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
