/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts, filters and layouts of whole collections, against plain lists of records: each row is known by a
 * number that all of its columns are made from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_SIZE = 15 };

/* Up to how many events and rows the tests go. */
enum { EVENTS = 12, ROWS = 300 };

/* Events of 0 to 40 rows; row r of the collection is number first + r. */
static sample make(uint32_t events, size_t first)
{
    sample s = {0};
    uint64_t random = 5;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, ROWS, EVENTS), SLC_OK);
    for (uint32_t e = 0; e < events; e++) {
        const size_t n = e % 3 == 1 ? 0 : random_below(&random, ROWS / EVENTS);
        for (size_t i = 0; i < n; i++) {
            add_row(&s, first + s.head.size);
        }
        slc_columns_end_event(&s);
    }
    return s;
}

static void assert_good(const sample *s)
{
    const char *why = "";
    if (!slc_columns_check(&sample_schema, s, &why)) {
        fail_msg("%s", why);
    }
}

static void clear(sample *s)
{
    slc_columns_clear(&sample_schema, s);
}

/* ---- views ------------------------------------------------------------------------------------- */

static void test_view(void **state)
{
    (void)state;
    sample s = make(EVENTS, 0);
    uint32_t offsets[EVENTS + 1];
    for (uint32_t first = 0; first <= EVENTS; first++) {
        for (uint32_t n = 0; n <= EVENTS - first; n++) {
            sample view;
            assert_int_equal(slc_columns_view(&sample_schema, &s, first, n, offsets, &view), SLC_OK);
            assert_good(&view);
            assert_int_equal(view.head.n_events, n);
            assert_int_equal(view.head.size, s.head.event_offset[first + n] - s.head.event_offset[first]);
            for (size_t row = 0; row < view.head.size; row++) {
                assert_row(&view, row, s.head.event_offset[first] + row);
            }
            for (uint32_t e = 0; e < n; e++) {
                assert_true(slc_columns_checksum(&sample_schema, &view, e, 1) ==
                            slc_columns_checksum(&sample_schema, &s, first + e, 1));
            }
        }
    }
    sample view = {0};
    assert_int_equal(slc_columns_view(&sample_schema, &s, EVENTS + 1, 0, offsets, &view), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_view(&sample_schema, &s, 1, EVENTS, offsets, &view), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_view(&sample_schema, &s, 2, UINT32_MAX, offsets, &view), SLC_ERR_USAGE);
    clear(&s);
    assert_int_equal(slc_columns_view(&sample_schema, &s, 0, 0, offsets, &view), SLC_OK);
    assert_int_equal(view.head.size, 0);
    assert_null(view.x_mm);
}

/* A view that grows becomes a collection of its own, and the original stays. */
static void test_view_becomes_a_copy(void **state)
{
    (void)state;
    sample s = make(EVENTS, 0), view;
    uint32_t offsets[EVENTS + 1];
    assert_int_equal(slc_columns_view(&sample_schema, &s, 2, 5, offsets, &view), SLC_OK);
    const size_t rows = view.head.size, first = s.head.event_offset[2];
    assert_true(rows > 0);
    assert_int_equal(slc_columns_reserve(&sample_schema, &view, rows + 1, 6), SLC_OK);
    assert_good(&view);
    assert_non_null(view.head.block);
    memset(s.wide, 0xff, ROWS * sizeof *s.wide);
    for (size_t row = 0; row < rows; row++) {
        assert_row(&view, row, first + row);
    }
    assert_int_equal(view.head.n_events, 5);
    clear(&view);
    clear(&s);
}

/* ---- appending --------------------------------------------------------------------------------- */

static void test_append(void **state)
{
    (void)state;
    sample from = make(EVENTS, 0), into = {0};
    assert_int_equal(slc_columns_reserve(&sample_schema, &into, 30, 2), SLC_OK);
    add_row(&into, 1000);
    assert_int_equal(slc_columns_append(&sample_schema, &from, 3, 10, &into), SLC_OK);
    assert_int_equal(slc_columns_append(&sample_schema, &from, from.head.size, 0, &into), SLC_OK);
    slc_columns_end_event(&into);
    assert_int_equal(slc_columns_append(&sample_schema, &into, 1, 10, &into), SLC_OK); /* from itself */
    slc_columns_end_event(&into);
    assert_good(&into);
    assert_int_equal(into.head.size, 21);
    assert_row(&into, 0, 1000);
    for (size_t i = 0; i < 10; i++) {
        assert_row(&into, 1 + i, 3 + i);
        assert_row(&into, 11 + i, 3 + i);
    }
    const sample before = into;
    assert_int_equal(slc_columns_append(&sample_schema, &from, 0, 10, &into), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_append(&sample_schema, &from, from.head.size - 2, 3, &into), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_append(&sample_schema, &from, from.head.size + 1, 0, &into), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_append(&sample_schema, &from, 2, SIZE_MAX, &into), SLC_ERR_USAGE);
    assert_memory_equal(&into, &before, sizeof into);
    const sample nothing = {0};
    assert_int_equal(slc_columns_append(&sample_schema, &nothing, 0, 0, &into), SLC_OK);
    assert_memory_equal(&into, &before, sizeof into);
    clear(&from);
    clear(&into);
}

/* All events, cut in two anywhere and appended one part after the other, are the collection again. */
static void test_append_events(void **state)
{
    (void)state;
    sample from = make(EVENTS, 0);
    for (uint32_t cut = 0; cut <= EVENTS; cut++) {
        sample into = {0};
        assert_int_equal(slc_columns_reserve(&sample_schema, &into, from.head.size, EVENTS), SLC_OK);
        assert_int_equal(slc_columns_append_events(&sample_schema, &from, 0, cut, &into), SLC_OK);
        assert_good(&into);
        assert_int_equal(slc_columns_append_events(&sample_schema, &from, cut, EVENTS - cut, &into), SLC_OK);
        assert_good(&into);
        assert_true(slc_columns_zip(&from, &into, NULL));
        for (size_t row = 0; row < from.head.size; row++) {
            assert_row(&into, row, row);
        }
        const sample before = into;
        assert_int_equal(slc_columns_append_events(&sample_schema, &from, 0, 1, &into), SLC_ERR_CAPACITY);
        assert_memory_equal(&into, &before, sizeof into);
        clear(&into);
    }
    clear(&from);
}

static void test_append_events_refuses(void **state)
{
    (void)state;
    sample from = make(EVENTS, 0), into = {0};
    assert_int_equal(slc_columns_append_events(&sample_schema, &from, 0, 1, &into), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&sample_schema, &into, from.head.size - 1, EVENTS), SLC_OK);
    assert_int_equal(slc_columns_append_events(&sample_schema, &from, 0, EVENTS, &into), SLC_ERR_CAPACITY);
    assert_int_equal(into.head.n_events, 0);
    assert_int_equal(into.head.size, 0);
    assert_int_equal(slc_columns_append_events(&sample_schema, &from, 1, EVENTS, &into), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_append_events(&sample_schema, &from, EVENTS + 1, 0, &into), SLC_ERR_USAGE);
    add_row(&into, 0); /* belongs to no event yet */
    assert_int_equal(slc_columns_append_events(&sample_schema, &from, 0, 1, &into), SLC_ERR_USAGE);
    assert_int_equal(into.head.size, 1);
    clear(&from);
    clear(&into);
}

/* ---- filters ----------------------------------------------------------------------------------- */

static size_t keep_some(const sample *s, uint32_t percent, uint64_t *random, uint8_t *keep, uint8_t *bits)
{
    size_t kept = 0;
    memset(bits, 0, ROWS / 8 + 1);
    for (size_t row = 0; row < s->head.size; row++) {
        keep[row] = random_below(random, 100) < percent ? (uint8_t)(1 + random_below(random, 255)) : 0;
        if (keep[row] != 0) {
            bits[row / 8] = (uint8_t)(bits[row / 8] | 1U << row % 8);
            kept++;
        }
    }
    return kept;
}

/* The rows of `into` from event `before` on are the kept rows of `from`, event by event. */
static void assert_filtered(const sample *from, const uint8_t *keep, const sample *into, uint32_t before)
{
    assert_good(into);
    assert_int_equal(into->head.n_events, before + from->head.n_events);
    size_t at = into->head.event_offset[before];
    for (uint32_t e = 0; e < from->head.n_events; e++) {
        for (size_t row = from->head.event_offset[e]; row < from->head.event_offset[e + 1]; row++) {
            if (keep[row] != 0) {
                assert_row(into, at++, row);
            }
        }
        assert_int_equal(into->head.event_offset[before + e + 1], at);
    }
    assert_int_equal(into->head.size, at);
}

static void test_copy_if(void **state)
{
    (void)state;
    static const uint32_t percents[] = {0, 1, 30, 50, 99, 100};
    uint8_t keep[ROWS], bits[ROWS / 8 + 1];
    uint64_t random = 9;
    sample from = make(EVENTS, 0);
    for (size_t p = 0; p < sizeof percents / sizeof percents[0]; p++) {
        sample into = {0};
        const size_t kept = keep_some(&from, percents[p], &random, keep, bits);
        /* Room for what is kept, twice, and not a row more. */
        assert_int_equal(slc_columns_reserve(&sample_schema, &into, 2 * kept, 2 * EVENTS), SLC_OK);
        assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_OK);
        assert_filtered(&from, keep, &into, 0);
        assert_int_equal(slc_columns_copy_if_bits(&sample_schema, &from, bits, &into), SLC_OK);
        assert_filtered(&from, keep, &into, EVENTS);
        const sample before = into;
        assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_ERR_CAPACITY);
        assert_memory_equal(&into, &before, sizeof into);
        clear(&into);
    }
    clear(&from);
}

static void test_copy_if_refuses(void **state)
{
    (void)state;
    uint8_t keep[ROWS];
    memset(keep, 1, sizeof keep);
    sample from = make(EVENTS, 0), into = {0};
    const sample nothing = {0};
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &from), SLC_ERR_USAGE);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &nothing, keep, &into), SLC_OK);
    sample open = {0};
    assert_int_equal(slc_columns_reserve(&sample_schema, &open, 1, 1), SLC_OK);
    add_row(&open, 0); /* a row of an event that has not ended */
    assert_int_equal(slc_columns_copy_if(&sample_schema, &open, keep, &into), SLC_ERR_USAGE);
    clear(&open);
    assert_null(into.head.block);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&sample_schema, &into, from.head.size - 1, EVENTS), SLC_OK);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_ERR_CAPACITY);
    assert_int_equal(into.head.n_events, 0);
    clear(&into);
    assert_int_equal(slc_columns_reserve(&sample_schema, &into, from.head.size, EVENTS - 1), SLC_OK);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_ERR_CAPACITY);
    add_row(&into, 0);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_ERR_USAGE);
    clear(&from);
    clear(&into);
}

/* ---- zip --------------------------------------------------------------------------------------- */

static void test_zip(void **state)
{
    (void)state;
    const char *why = NULL;
    sample a = make(EVENTS, 0), b = make(EVENTS, 77), fewer = make(EVENTS - 1, 0);
    const sample nothing = {0};
    assert_true(slc_columns_zip(&a, &b, &why));
    assert_true(slc_columns_zip(&nothing, &nothing, &why));
    assert_null(why);
    assert_false(slc_columns_zip(&a, &fewer, &why));
    assert_string_equal(why, "different numbers of events");
    assert_false(slc_columns_zip(&nothing, &a, NULL));
    b.head.event_offset[1]--; /* a row moved to the next event */
    assert_false(slc_columns_zip(&a, &b, &why));
    assert_string_equal(why, "an event has different numbers of rows");
    b.head.event_offset[1]++;
    b.head.size--;
    assert_false(slc_columns_zip(&a, &b, &why));
    assert_string_equal(why, "different numbers of rows");
    clear(&a);
    clear(&b);
    clear(&fewer);
}

/* ---- layouts ----------------------------------------------------------------------------------- */

static void test_row_layout(void **state)
{
    (void)state;
    assert_int_equal(slc_columns_row_size(&sample_schema), ROW_SIZE);
    static const size_t offsets[] = {0, 1, 9, 13};
    for (size_t c = 0; c < 4; c++) {
        assert_int_equal(slc_columns_row_offset(&sample_schema, c), offsets[c]);
    }
    sample s = make(EVENTS, 0);
    const size_t rows = s.head.size;
    uint8_t *bytes = malloc(rows * ROW_SIZE);
    assert_non_null(bytes);
    assert_int_equal(slc_columns_to_rows(&sample_schema, &s, bytes, rows * ROW_SIZE), SLC_OK);
    for (size_t i = 0; i < rows; i++) {
        uint8_t expected[ROW_SIZE];
        const uint8_t narrow = narrow_of(i);
        const double wide = wide_of(i);
        const float x = x_of(i);
        const int16_t small = small_of(i);
        memcpy(expected, &narrow, 1);
        memcpy(expected + 1, &wide, 8);
        memcpy(expected + 9, &x, 4);
        memcpy(expected + 13, &small, 2);
        assert_memory_equal(bytes + i * ROW_SIZE, expected, ROW_SIZE);
    }
    free(bytes);
    clear(&s);
}

/* To blocks of every length and back; each value at the place that the header's formula gives. */
static void test_blocks(void **state)
{
    (void)state;
    static const size_t blocks[] = {1, 2, 7, 8, 16, 64, ROWS, 1000};
    sample s = make(EVENTS, 0);
    const size_t rows = s.head.size;
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        const size_t block = blocks[b], bytes = slc_columns_blocks_bound(&sample_schema, rows, block);
        assert_int_equal(bytes, (rows + block - 1) / block * block * ROW_SIZE);
        uint8_t *memory = malloc(bytes + 1);
        assert_non_null(memory);
        memset(memory, 0xa5, bytes + 1);
        assert_int_equal(slc_columns_to_blocks(&sample_schema, &s, block, memory, bytes), SLC_OK);
        assert_int_equal(memory[bytes], 0xa5);
        for (size_t r = 0; r < bytes / ROW_SIZE; r++) {
            const uint8_t *wide = memory + r / block * block * ROW_SIZE + block * 1 + r % block * 8;
            const uint8_t *small = memory + r / block * block * ROW_SIZE + block * 13 + r % block * 2;
            double wide_value;
            int16_t small_value;
            memcpy(&wide_value, wide, sizeof wide_value);
            memcpy(&small_value, small, sizeof small_value);
            assert_true(wide_value == (r < rows ? wide_of(r) : 0));
            assert_int_equal(small_value, r < rows ? small_of(r) : 0);
        }
        sample again = {0};
        assert_int_equal(slc_columns_reserve(&sample_schema, &again, rows + 1, 1), SLC_OK);
        add_row(&again, 5000);
        assert_int_equal(slc_columns_from_blocks(&sample_schema, memory, rows, block, &again), SLC_OK);
        slc_columns_end_event(&again);
        assert_good(&again);
        assert_int_equal(again.head.size, rows + 1);
        assert_row(&again, 0, 5000);
        for (size_t r = 0; r < rows; r++) {
            assert_row(&again, 1 + r, r);
        }
        assert_int_equal(slc_columns_to_blocks(&sample_schema, &s, block, memory, bytes - 1),
                         SLC_ERR_CAPACITY);
        const size_t too_many = again.head.capacity - again.head.size + 1;
        assert_int_equal(slc_columns_from_blocks(&sample_schema, memory, too_many, block, &again),
                         SLC_ERR_CAPACITY);
        assert_int_equal(again.head.size, rows + 1);
        clear(&again);
        free(memory);
    }
    clear(&s);
}

static void test_empty_layouts(void **state)
{
    (void)state;
    sample nothing = {0};
    uint8_t byte = 0xa5;
    assert_int_equal(slc_columns_blocks_bound(&sample_schema, 0, 16), 0);
    assert_int_equal(slc_columns_to_blocks(&sample_schema, &nothing, 16, &byte, 0), SLC_OK);
    assert_int_equal(slc_columns_to_rows(&sample_schema, &nothing, &byte, 0), SLC_OK);
    assert_int_equal(slc_columns_from_blocks(&sample_schema, &byte, 0, 16, &nothing), SLC_OK);
    assert_int_equal(slc_columns_from_rows(&sample_schema, &byte, 1, &nothing), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_to_blocks(&sample_schema, &nothing, 0, &byte, 1), SLC_ERR_USAGE);
    /* A block so long that its bytes cannot be counted fits nowhere. */
    assert_true(slc_columns_blocks_bound(&sample_schema, 5, SIZE_MAX) == SIZE_MAX);
    assert_true(slc_columns_blocks_bound(&sample_schema, 5, SIZE_MAX / 2) == SIZE_MAX);
    assert_int_equal(slc_columns_from_blocks(&sample_schema, &byte, 0, 0, &nothing), SLC_ERR_USAGE);
    assert_int_equal(byte, 0xa5);
    assert_int_equal(nothing.head.size, 0);
}

/* ---- dump -------------------------------------------------------------------------------------- */

typedef struct text {
    char bytes[2000];
    size_t size, pieces_left;
} text;

static bool collect(void *context, const char *piece, size_t size)
{
    text *t = context;
    if (t->pieces_left-- == 0) {
        return false;
    }
    assert_true(t->size + size < sizeof t->bytes);
    memcpy(t->bytes + t->size, piece, size);
    t->size += size;
    t->bytes[t->size] = '\0';
    return true;
}

static void test_dump(void **state)
{
    (void)state;
    sample s = {0};
    text t = {.pieces_left = SIZE_MAX};
    assert_int_equal(slc_columns_dump(&sample_schema, &s, collect, &t), SLC_OK);
    assert_string_equal(t.bytes, "# sample: event narrow[1] wide[1] x_mm[mm] small[1]\n");

    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 4, 3), SLC_OK);
    add_row(&s, 2);
    slc_columns_end_event(&s);
    slc_columns_end_event(&s);
    add_row(&s, 3);
    s.wide[1] = 0.1;
    s.x_mm[1] = NAN;
    add_row(&s, 4);
    s.wide[2] = (double)-INFINITY;
    s.x_mm[2] = 0.1f;
    slc_columns_end_event(&s);
    add_row(&s, 5);
    t = (text){.pieces_left = SIZE_MAX};
    assert_int_equal(slc_columns_dump(&sample_schema, &s, collect, &t), SLC_OK);
    assert_string_equal(t.bytes, "# sample: event narrow[1] wide[1] x_mm[mm] small[1]\n"
                                 "0 14 3 -0.5 -498\n"
                                 "2 21 0.10000000000000001 nan -497\n"
                                 "2 28 -inf 0.100000001 -496\n"
                                 "- 35 7.5 -1.25 -495\n");
    /* Whatever the piece at which the writer gives up, the dump tells so and writes nothing more. */
    const size_t whole = t.size;
    for (size_t pieces = 0; pieces < 40; pieces++) {
        t = (text){.pieces_left = pieces};
        assert_int_equal(slc_columns_dump(&sample_schema, &s, collect, &t), SLC_ERR_IO);
        assert_true(t.size < whole);
        assert_true(t.pieces_left == SIZE_MAX);
    }
    clear(&s);
}

/* Every type: the extremes come out in full. */
typedef struct extremes {
    slc_columns head;
    int8_t *i8;
    uint16_t *u16;
    uint32_t *u32;
    int32_t *i32;
    uint64_t *u64;
    int64_t *i64;
} extremes;
static const slc_column extremes_columns[] = {
    SOA_COLUMN(extremes, i8, "1"),  SOA_COLUMN(extremes, u16, "1"), SOA_COLUMN(extremes, u32, "1"),
    SOA_COLUMN(extremes, i32, "1"), SOA_COLUMN(extremes, u64, "1"), SOA_COLUMN(extremes, i64, "1"),
};
SOA_SCHEMA(extremes, extremes_schema, "extremes", extremes_columns);

static void test_dump_of_every_type(void **state)
{
    (void)state;
    extremes x = {0};
    text t = {.pieces_left = SIZE_MAX};
    assert_int_equal(slc_columns_reserve(&extremes_schema, &x, 1, 1), SLC_OK);
    x.i8[0] = INT8_MIN;
    x.u16[0] = UINT16_MAX;
    x.u32[0] = UINT32_MAX;
    x.i32[0] = INT32_MIN;
    x.u64[0] = UINT64_MAX;
    x.i64[0] = INT64_MIN;
    x.head.size = 1;
    slc_columns_end_event(&x);
    assert_int_equal(slc_columns_dump(&extremes_schema, &x, collect, &t), SLC_OK);
    assert_string_equal(strchr(t.bytes, '\n'),
                        "\n0 -128 65535 4294967295 -2147483648 18446744073709551615 -9223372036854775808\n");
    slc_columns_clear(&extremes_schema, &x);
}

/* None of these allocates. */
static void test_nothing_allocates(void **state)
{
    (void)state;
    sample from = make(EVENTS, 0), into = make(0, 0), view;
    uint32_t offsets[EVENTS + 1];
    uint8_t keep[ROWS], rows[ROWS * ROW_SIZE];
    text t = {.pieces_left = 10};
    memset(keep, 1, sizeof keep);
    allocations_left = 0;
    assert_int_equal(slc_columns_view(&sample_schema, &from, 1, 2, offsets, &view), SLC_OK);
    assert_int_equal(slc_columns_copy_if(&sample_schema, &from, keep, &into), SLC_OK);
    assert_int_equal(slc_columns_to_rows(&sample_schema, &from, rows, sizeof rows), SLC_OK);
    slc_columns_reset(&into);
    assert_int_equal(slc_columns_from_rows(&sample_schema, rows, from.head.size, &into), SLC_OK);
    assert_int_equal(slc_columns_dump(&sample_schema, &from, collect, &t), SLC_ERR_IO);
    allocations_left = LONG_MAX;
    clear(&from);
    clear(&into);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view),
        cmocka_unit_test(test_view_becomes_a_copy),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_append_events),
        cmocka_unit_test(test_append_events_refuses),
        cmocka_unit_test(test_copy_if),
        cmocka_unit_test(test_copy_if_refuses),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_row_layout),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_empty_layouts),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_dump_of_every_type),
        cmocka_unit_test(test_nothing_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
