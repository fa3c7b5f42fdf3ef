/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of collections as CSV: all types at their limits, events, names in quotes, columns that are not there,
 * more rows than a block has, another locale, and a full disk.
 */
#include "support/cmocka_all.h"

#include "base/columns.h"
#include "io/io_csv.h"
#include <sluice/io.h>

#include <inttypes.h>
#include <locale.h>
#include <math.h>

#include "support/rows.h"
#include "support/temporary_folder.h"

typedef struct pair {
    slc_columns head;
    uint32_t *a;
    float *b;
} pair;
static const slc_column pair_columns[] = {SOA_COLUMN(pair, a, "1"), SOA_COLUMN(pair, b, "1")};
SOA_SCHEMA(pair, pair_schema, "pair", pair_columns);

/* A file of the columns' names and the rows of one collection. */
static void write_file(const slc_io_text_form *form, const void *collection)
{
    slc_io_writer *writer;
    assert_int_equal(slc_io_text_create(path, &writer, NULL), SLC_OK);
    assert_int_equal(slc_io_text_rows(writer, form, NULL, NULL), SLC_OK);
    assert_int_equal(slc_io_text_rows(writer, form, collection, NULL), SLC_OK);
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
}

static void test_types_at_their_limits(void **state)
{
    (void)state;
    every_type r = {.u8 = NULL};
    assert_int_equal(slc_columns_reserve(&every_type_schema, &r, 2, 0), SLC_OK);
    r.head.size = 2;
    r.u8[0] = 0, r.u8[1] = UINT8_MAX;
    r.i8[0] = INT8_MIN, r.i8[1] = INT8_MAX;
    r.u16[0] = 7, r.u16[1] = UINT16_MAX;
    r.i16[0] = INT16_MIN, r.i16[1] = INT16_MAX;
    r.u32[0] = 10, r.u32[1] = UINT32_MAX;
    r.i32[0] = INT32_MIN, r.i32[1] = INT32_MAX;
    r.u64[0] = 100000000, r.u64[1] = UINT64_MAX;
    r.i64[0] = INT64_MIN, r.i64[1] = INT64_MAX;
    r.f32[0] = -1.17549435e-36F, r.f32[1] = (float)NAN;
    r.f64[0] = -2.2250738585072014e-308, r.f64[1] = -(double)INFINITY;
    write_file(&(slc_io_text_form){.schema = &every_type_schema}, &r);
    assert_contents(
        "u8,i8,u16,i16,u32,i32,u64,i64,f32,f64\n"
        "0,-128,7,-32768,10,-2147483648,100000000,-9223372036854775808,-1.17549435e-36,"
        "-2.2250738585072014e-308\n"
        "255,127,65535,32767,4294967295,2147483647,18446744073709551615,9223372036854775807,nan,-inf\n");
    r.i8 = NULL;
    r.f64 = NULL;
    r.head.size = 1;
    write_file(&(slc_io_text_form){.schema = &every_type_schema}, &r);
    assert_contents("u8,i8,u16,i16,u32,i32,u64,i64,f32,f64\n"
                    "0,,7,-32768,10,-2147483648,100000000,-9223372036854775808,-1.17549435e-36,\n");
    slc_columns_clear(&every_type_schema, &r);
}

/* No line may be longer than what room is made for. */
static void test_bound(void **state)
{
    (void)state;
    static const uint64_t u64 = UINT64_MAX;
    static const int64_t i64 = INT64_MIN;
    static const int32_t i32 = INT32_MIN;
    static const float f32 = -1.17549435e-36F;
    static const double f64 = -2.2250738585072014e-308;
    const slc_io_csv_column columns[] = {{&u64, SLC_TYPE_U64},
                                         {&i64, SLC_TYPE_I64},
                                         {&i32, SLC_TYPE_I32},
                                         {&f32, SLC_TYPE_F32},
                                         {&f64, SLC_TYPE_F64}};
    char tail[64], line[512];
    const char *name = "\"\",\"\"";
    const size_t size = (size_t)(slc_io_csv_tail(name, tail) - tail);
    assert_true(size <= slc_io_csv_tail_bound(name));
    const slc_io_csv_lines lines = {columns, 5, tail, size}, none = {columns, 0, tail, size};
    const char *end = slc_io_csv_put(&lines, 1, line);
    const size_t room = slc_io_csv_bound(&lines, 1) - slc_io_csv_bound(&none, 0);
    assert_in_range((size_t)(end - line), room - 5, room);
}

static void test_events(void **state)
{
    (void)state;
    pair p = {.a = NULL};
    assert_int_equal(slc_columns_reserve(&pair_schema, &p, 8, 8), SLC_OK);
    static const uint32_t rows_of[] = {0, 2, 0, 0, 1, 0};
    for (size_t e = 0; e < sizeof rows_of / sizeof *rows_of; e++) {
        for (uint32_t i = 0; i < rows_of[e]; i++) {
            p.a[p.head.size] = (uint32_t)p.head.size;
            p.b[p.head.size++] = 0.25F;
        }
        slc_columns_end_event(&p);
    }
    p.a[p.head.size] = 99; /* of no event */
    p.b[p.head.size++] = 0;
    const slc_io_text_form form = {.schema = &pair_schema, .events = true, .first_event = 1000};
    write_file(&form, &p);
    assert_contents("event,a,b\n1001,0,0.25\n1001,1,0.25\n1004,2,0.25\n");
    write_file(&form, &(pair){.a = NULL});
    assert_contents("event,a,b\n");
    slc_columns_clear(&pair_schema, &p);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {{"", ",\n"},
                 {"a b", ",a b\n"},
                 {"a,b", ",\"a,b\"\n"},
                 {"say \"so\"", ",\"say \"\"so\"\"\"\n"},
                 {"two\nlines", ",\"two\nlines\"\n"},
                 {"\r", ",\"\r\"\n"}};
    uint32_t a[] = {1, 2};
    float b[] = {0.5F, 1.5F};
    const pair p = {.head = {.size = 2}, .a = a, .b = b};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[256];
        (void)snprintf(expected, sizeof expected, "a,b,name\n1,0.5%s2,1.5%s", cases[i].text, cases[i].text);
        write_file(&(slc_io_text_form){.schema = &pair_schema, .name = cases[i].name}, &p);
        assert_contents(expected);
    }
}

/* The same lines whether they are written at once or one by one, and as the C library has them. */
static void check_many_rows(uint32_t threads)
{
    enum { N = 60000 };
    const slc_exec exec = {.threads = threads}; /* 0: one for each processor */
    pair p = {.a = NULL};
    assert_int_equal(slc_columns_reserve(&pair_schema, &p, N, N / 3), SLC_OK);
    for (uint32_t i = 0; i < N; i++) {
        p.a[i] = i * 71993;
        p.b[i] = (float)i / 8;
        p.head.size++;
        if (i % 3 == 2) {
            slc_columns_end_event(&p);
        }
    }
    const slc_io_text_form form = {
        .schema = &pair_schema, .events = true, .name = "n", .exec = threads < 3 ? &exec : NULL};
    write_file(&form, &p);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char line[128], expected[128];
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "event,a,b,name\n");
    for (uint32_t i = 0; i < N; i++) {
        assert_non_null(fgets(line, sizeof line, file));
        (void)snprintf(expected, sizeof expected, "%" PRIu32 ",%" PRIu32 ",%.9g,n\n", i / 3, p.a[i],
                       (double)p.b[i]); /* no fewer digits would do */
        assert_string_equal(line, expected);
    }
    assert_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    slc_columns_clear(&pair_schema, &p);
}

static void test_many_rows(void **state)
{
    (void)state;
    for (uint32_t threads = 0; threads < 4; threads++) {
        check_many_rows(threads);
    }
}

/* Rows of several kinds in one file: blocks are on their way while the next ones come, and while words are
 * written in between. */
static void write_rounds(void)
{
    enum { N = 5000 };
    static char expected[64 * 6 * N], got[64 * 6 * N];
    const slc_exec exec = {.threads = 2};
    uint32_t a[N];
    float b[N];
    char *to = expected;
    slc_io_writer *writer;
    assert_int_equal(slc_io_text_create(path, &writer, NULL), SLC_OK);
    for (uint32_t round = 0; round < 6; round++) {
        for (uint32_t i = 0; i < N; i++) {
            a[i] = round * N + i;
            b[i] = (float)i / 4;
            to += round == 5 ? sprintf(to, "%" PRIu32 ",,%" PRIu32 "\n", a[i], round)
                             : sprintf(to, "%" PRIu32 ",%g,%" PRIu32 "\n", a[i], (double)b[i], round);
        }
        to += sprintf(to, "words\n");
        char name[8];
        (void)snprintf(name, sizeof name, "%" PRIu32, round);
        const slc_io_text_form form = {.schema = &pair_schema, .name = name, .exec = &exec};
        const pair p = {.head = {.size = N}, .a = a, .b = round == 5 ? NULL : b};
        assert_int_equal(slc_io_text_rows(writer, &form, &p, NULL), SLC_OK);
        assert_true(fputs("words\n", slc_io_text_stream(writer)) >= 0);
    }
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof got, file), to - expected);
    (void)fclose(file);
    assert_string_equal(got, expected);
}

static void test_threads(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) { /* threads may happen to be ready in time */
        write_rounds();
    }
}

static void test_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", ""};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        (void)setlocale(LC_ALL, locales[i]);
        uint32_t a = 1000000;
        float b = 1.5F;
        write_file(&(slc_io_text_form){.schema = &pair_schema},
                   &(pair){.head = {.size = 1}, .a = &a, .b = &b});
        assert_contents("a,b\n1000000,1.5\n");
    }
    (void)setlocale(LC_ALL, "C");
}

static void test_full_disk(void **state)
{
    (void)state;
    slc_error error;
    slc_io_writer *writer;
    pair p = {.a = NULL};
    assert_int_equal(slc_columns_reserve(&pair_schema, &p, 100000, 0), SLC_OK);
    memset(p.a, 0, 100000 * sizeof *p.a);
    memset(p.b, 0, 100000 * sizeof *p.b);
    p.head.size = 100000;
    for (uint32_t threads = 0; threads < 3; threads++) {
        const slc_exec exec = {.threads = threads};
        const slc_io_text_form form = {.schema = &pair_schema, .exec = threads > 0 ? &exec : NULL};
        slc_status status = SLC_OK;
        assert_int_equal(slc_io_text_create("/dev/full", &writer, &error), SLC_OK);
        for (int i = 0; i < 10 && status == SLC_OK; i++) {
            status = slc_io_text_rows(writer, &form, &p, &error);
        }
        assert_int_equal(status, SLC_ERR_IO);
        assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
        error.text[0] = '\0';
        assert_int_equal(slc_io_finish(writer, &error), SLC_ERR_IO);
        assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
    }
    assert_int_equal(slc_io_text_create("/dev/full", &writer, &error), SLC_OK);
    assert_int_equal(slc_io_text_rows(writer, &(slc_io_text_form){.schema = &pair_schema}, &p, &error),
                     SLC_ERR_IO);
    assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
    slc_io_abandon(writer);
    slc_columns_clear(&pair_schema, &p);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_types_at_their_limits),
        cmocka_unit_test(test_bound),
        IN_FOLDER(test_events),
        IN_FOLDER(test_names),
        IN_FOLDER(test_many_rows),
        IN_FOLDER(test_locale),
        cmocka_unit_test(test_full_disk),
        IN_FOLDER(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
