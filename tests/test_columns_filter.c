/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts on rows: every comparison on every type of a column beside the same in C; how terms may be written;
 * and the words for what is none.
 */
#include "base/columns.h"
#include "base/columns_filter.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct table {
    slc_columns head;
    uint8_t *u8;
    int8_t *i8;
    uint16_t *u16;
    int16_t *i16;
    uint32_t *u32;
    int32_t *i32;
    uint64_t *u64;
    int64_t *i64;
    float *f32;
    double *f64;
} table;
static const slc_column columns[] = {
    SOA_COLUMN(table, u8, "1"),  SOA_COLUMN(table, i8, "1"),  SOA_COLUMN(table, u16, "1"),
    SOA_COLUMN(table, i16, "1"), SOA_COLUMN(table, u32, "1"), SOA_COLUMN(table, i32, "1"),
    SOA_COLUMN(table, u64, "1"), SOA_COLUMN(table, i64, "1"), SOA_COLUMN(table, f32, "1"),
    SOA_COLUMN(table, f64, "1"),
};
SOA_SCHEMA(table, table_schema, "table", columns);
enum { ROWS = 7 };

static void fill(table *t)
{
    assert_int_equal(slc_columns_reserve(&table_schema, t, ROWS, 1), SLC_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const int value = (int)i - 3;
        t->u8[i] = (uint8_t)i;
        t->u16[i] = (uint16_t)i;
        t->u32[i] = (uint32_t)i;
        t->u64[i] = i;
        t->i8[i] = (int8_t)value;
        t->i16[i] = (int16_t)value;
        t->i32[i] = value;
        t->i64[i] = value;
        t->f32[i] = (float)value / 2;
        t->f64[i] = i == 6 ? (double)NAN : value / 4.0;
    }
}

static double value_of(size_t column, size_t i)
{
    const double value = (double)i - 3;
    return column == 9       ? (i == 6 ? (double)NAN : value / 4)
           : column == 8     ? value / 2
           : column % 2 == 1 ? value
                             : (double)i;
}

static bool compare(const char *how, double a, double b)
{
    const bool equal = !(a < b) && !(a > b) && !isnan(a);
    return how[0] == '!'
               ? !equal && !isnan(a)
               : (how[0] == '>' && a > b) || (how[0] == '<' && a < b) || (strchr(how, '=') != NULL && equal);
}

static void all_types_and_comparisons(void **state)
{
    (void)state;
    static const char *const hows[] = {">=", "<=", ">", "<", "=", "==", "!="};
    static const double numbers[] = {-3, -0.25, 0, 1, 1.5, 6, 1e9};
    table t = {.u8 = NULL};
    fill(&t);
    for (size_t k = 0; k < 10 * 7 * 7; k++) {
        const char *how = hows[k / 10 % 7];
        const double number = numbers[k / 70];
        slc_columns_filter filter;
        slc_error error;
        char text[64];
        (void)snprintf(text, sizeof text, "%s%s%.17g", columns[k % 10].name, how, number);
        assert_int_equal(slc_columns_filter_parse(text, &table_schema, NULL, "rows", &filter, &error),
                         SLC_OK);
        for (size_t i = 0; i < ROWS; i++) {
            if (slc_columns_filter_holds(&filter, &t, i) != compare(how, value_of(k % 10, i), number)) {
                fail_msg("%s of row %zu", text, i);
            }
        }
    }
    slc_columns_clear(&table_schema, &t);
}

static void ways_to_write(void **state)
{
    (void)state;
    static const char *const texts[] = {"u8>=2,i8<3", "u8>=2&&i8<3", " u8 >= 2 && i8 < 3 ", "u8>=2 , i8<3",
                                        "i8<3,kilo>=0.002"};
    const slc_columns_alias alias = {"kilo", "u8", 1000};
    table t = {.u8 = NULL};
    fill(&t);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        slc_columns_filter filter;
        slc_error error;
        assert_int_equal(slc_columns_filter_parse(texts[k], &table_schema, &alias, "rows", &filter, &error),
                         SLC_OK);
        assert_int_equal(filter.n, 2);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(slc_columns_filter_holds(&filter, &t, i), i >= 2 && i < 6);
        }
    }
    slc_columns_clear(&table_schema, &t);
}

static void what_is_none(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "is not up to 16 terms"},
        {"u8", "is not up to"},
        {"u8>", "is not up to"},
        {"u8>3,", "is not up to"},
        {"u8>3&&", "is not up to"},
        {"u8>3&i8>3", "is not up to"},
        {"u8>nan", "is not up to"},
        {"u8>inf", "is not up to"},
        {"u8=>3", "is not up to"},
        {"u8>3 i8>3", "is not up to"},
        {"u8>3||i8>3", "is not up to"},
        {"area>3", "the rows have no column 'area'; they have u8, i8, u16, i16, u32, i32, u64, i64, f32, "
                   "f64"},
        {"kilo>3", "the rows have no column"},
        {"3<u8", "the rows have no column '3'"}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        slc_columns_filter filter;
        slc_error error;
        assert_int_equal(slc_columns_filter_parse(texts[k][0], &table_schema, NULL, "rows", &filter, &error),
                         SLC_ERR_USAGE);
        if (strstr(error.text, texts[k][1]) == NULL) {
            fail_msg("'%s': %s", texts[k][0], error.text);
        }
    }
    char many[17 * 6 + 1] = "";
    for (size_t i = 0; i < 17; i++) {
        strcat(many, i > 0 ? ",u8>0" : "u8>0");
    }
    slc_columns_filter filter;
    slc_error error;
    assert_int_equal(slc_columns_filter_parse(many, &table_schema, NULL, "rows", &filter, &error),
                     SLC_ERR_USAGE);
    many[4 + 15 * 5] = '\0'; /* sixteen */
    assert_int_equal(slc_columns_filter_parse(many, &table_schema, NULL, "rows", &filter, &error), SLC_OK);
    assert_int_equal(filter.n, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_and_comparisons),
        cmocka_unit_test(ways_to_write),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
