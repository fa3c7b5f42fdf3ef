/* SPDX-License-Identifier: Apache-2.0
 *
 * Checksums of results: they see every value and where it is, but not how events were cut into batches; parts
 * of a run add up; an event may come in pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/columns.h"
#include "simd/simd_checksum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 24, MOST_ROWS = 4096 };

typedef struct sample {
    slc_columns head;
    uint32_t *a, *b;
    float *x_mm;
    uint8_t *narrow;
} sample;

static const slc_column sample_columns[] = {
    SOA_COLUMN(sample, a, "1"),
    SOA_COLUMN(sample, b, "1"),
    SOA_COLUMN(sample, x_mm, "mm"),
    SOA_COLUMN(sample, narrow, "1"),
};
SOA_SCHEMA(sample, sample_schema, "sample", sample_columns);

static sample made;

/* Events from `first` to `end`, of as many rows as their numbers tell. */
static void fill(sample *s, uint32_t first, uint32_t end)
{
    assert_int_equal(slc_columns_reserve(&sample_schema, s, MOST_ROWS, EVENTS), SLC_OK);
    slc_columns_reset(s);
    for (uint32_t e = first; e < end; e++) {
        for (uint32_t i = 0; i < e * e % 97; i++) {
            const size_t row = s->head.size++;
            s->a[row] = 1000 * e + i;
            s->b[row] = 7 * e;
            s->x_mm[row] = 0.5F * (float)i;
            s->narrow[row] = (uint8_t)(e + i);
        }
        slc_columns_end_event(s);
    }
}

static uint64_t sum_named(const sample *s, const char *name, uint64_t before)
{
    const slc_checksum_part part = {name, &sample_schema, s};
    return slc_checksum_events(&part, 1, before);
}

static uint64_t sum(void)
{
    return sum_named(&made, "sample", 0);
}

static int set_up(void **state)
{
    (void)state;
    fill(&made, 0, EVENTS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&sample_schema, &made);
    return 0;
}

/* By the definition, with nothing of the library but the hash and the factor. */
static void is_what_is_documented(void **state)
{
    (void)state;
    static const char *const names[] = {"sample/a", "sample/b", "sample/x_mm", "sample/narrow"};
    const slc_checksum_kernels *plain = slc_checksum_kernels_of(SLC_SIMD_C);
    uint64_t wanted = 0, power = 1;
    for (uint32_t e = 0; e < EVENTS; e++, power *= UINT64_C(0x9e3779b97f4a7c15)) {
        const size_t at = made.head.event_offset[e], n = made.head.event_offset[e + 1] - at;
        const uint64_t hashes[] = {plain->hash(made.a + at, 4 * n), plain->hash(made.b + at, 4 * n),
                                   plain->hash(made.x_mm + at, 4 * n), plain->hash(made.narrow + at, n)};
        for (size_t k = 0; k < 4; k++) {
            wanted += power * (plain->hash(names[k], strlen(names[k])) | 1) * hashes[k];
        }
    }
    assert_true(wanted != 0);
    assert_true(sum() == wanted);
}

static void parts_add_up(void **state)
{
    (void)state;
    const uint64_t whole = sum();
    sample part = {0};
    for (uint32_t cut = 1; cut <= EVENTS; cut++) {
        uint64_t all = 0;
        for (uint32_t first = 0; first < EVENTS; first += cut) {
            fill(&part, first, first + cut < EVENTS ? first + cut : EVENTS);
            const uint64_t own = sum_named(&part, "sample", first);
            assert_true(own == slc_checksum_power(first) * sum_named(&part, "sample", 0));
            all += own;
        }
        assert_true(all == whole);
    }
    slc_columns_clear(&sample_schema, &part);
    assert_true(slc_checksum_power(1ULL << 40) ==
                slc_checksum_power((1ULL << 40) - 3) * slc_checksum_power(3));
}

static void sees_values_and_places(void **state)
{
    (void)state;
    const uint64_t whole = sum();
    for (size_t i = 0; i < made.head.size; i += 13) {
        made.narrow[i] ^= 1;
        assert_true(sum() != whole);
        made.narrow[i] ^= 1;
    }
    uint32_t *a = made.a;
    made.a = made.b, made.b = a; /* two columns with each other's values */
    assert_true(sum() != whole);
    made.b = made.a, made.a = a;
    made.head.event_offset[10]--; /* a row goes to the event after its own */
    assert_true(sum() != whole);
    made.head.event_offset[10]++;
    assert_true(sum() == whole);
    assert_true(sum_named(&made, "other", 0) != whole);
    made.x_mm[0] = 0;
    const uint64_t zero = sum();
    made.x_mm[0] = -0.0F;
    assert_true(sum() != zero);
}

static void sees_empty_events(void **state)
{
    (void)state;
    sample none = {0};
    assert_int_equal(sum_named(&none, "sample", 0), 0);
    fill(&none, 0, 1);
    assert_int_equal(none.head.size, 0);
    assert_true(sum_named(&none, "sample", 0) != 0);
    slc_columns_clear(&sample_schema, &none);
}

/* Two events that change places. */
static void sees_the_order(void **state)
{
    (void)state;
    const uint64_t one = slc_columns_checksum(&sample_schema, &made, 3, 0);
    const uint64_t two = slc_columns_checksum(&sample_schema, &made, 4, 0);
    assert_true(one != two);
    assert_true(one + slc_checksum_power(1) * two != two + slc_checksum_power(1) * one);
    assert_true(slc_columns_checksum(&sample_schema, &made, 4, one) == one * SLC_CHECKSUM_FACTOR + two);
    for (uint64_t apart = 1; apart < 1 << 20; apart *= 2) {
        const uint64_t power = slc_checksum_power(apart);
        assert_true(one + power * two != two + power * one);
    }
}

static void an_event_in_pieces(void **state)
{
    (void)state;
    sample one = {0};
    fill(&one, 0, EVENTS);
    one.head.n_events = 1;
    one.head.event_offset[1] = (uint32_t)one.head.size;
    const uint64_t wanted = sum_named(&one, "sample", 0);
    slc_checksum_pieces *pieces = aligned_alloc(_Alignof(slc_checksum_pieces), sizeof *pieces);
    assert_non_null(pieces);
    for (size_t step = 1; step < 700; step = 2 * step + 1) {
        slc_checksum_pieces_begin(pieces);
        for (size_t at = 0; at < one.head.size; at += step) {
            const size_t left = one.head.size - at;
            slc_checksum_pieces_add(pieces, &sample_schema, &one, at, left < step ? left : step);
        }
        assert_true(slc_checksum_pieces_end(pieces, "sample", &sample_schema) == wanted);
    }
    free(pieces);
    slc_columns_clear(&sample_schema, &one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(is_what_is_documented, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sees_values_and_places, set_up, tear_down),
        cmocka_unit_test(sees_empty_events),
        cmocka_unit_test_setup_teardown(sees_the_order, set_up, tear_down),
        cmocka_unit_test(an_event_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
