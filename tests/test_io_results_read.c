/* SPDX-License-Identifier: Apache-2.0
 *
 * Finished results read again: every value that was written, in HDF5 and in every form of Arrow; files that
 * are cut anywhere, and damaged ones, whose worst is an error.
 */
#include "io/io_results_read.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"

#include <sluice/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sample {
    slc_columns head;
    uint8_t *u8;
    int16_t *i16;
    uint64_t *u64;
    float *f32;
    double *f64;
} sample;
static const slc_column columns[] = {{"u8", "1", offsetof(sample, u8), SLC_TYPE_U8},
                                     {"i16", "mm", offsetof(sample, i16), SLC_TYPE_I16},
                                     {"u64", "index", offsetof(sample, u64), SLC_TYPE_U64},
                                     {"f32", "keV", offsetof(sample, f32), SLC_TYPE_F32},
                                     {"f64", "s", offsetof(sample, f64), SLC_TYPE_F64}};
enum { COLUMNS = sizeof columns / sizeof columns[0], EVENTS = 7, ROWS = 40, ROUNDS = 3 };
static const slc_schema schema = {"sample", columns, COLUMNS};

static double value_of(size_t column, size_t row)
{
    const double values[COLUMNS] = {(double)(row % 256), (double)((int)(row % 3000) - 1500),
                                    (double)(row * row), row % 5 == 0 ? NAN : (double)((float)row / 3),
                                    (double)row * 0.1 - 7};
    return values[column];
}

static void fill(sample *s, size_t before, uint32_t events)
{
    assert_int_equal(slc_columns_reserve(&schema, s, ROWS, events), SLC_OK);
    slc_columns_reset(s);
    for (uint32_t e = 0; e < events; e++) {
        for (uint32_t k = 0; k < ROWS / events; k++) {
            const size_t i = s->head.size++, row = before + i;
            s->u8[i] = (uint8_t)value_of(0, row);
            s->i16[i] = (int16_t)value_of(1, row);
            s->u64[i] = (uint64_t)value_of(2, row);
            s->f32[i] = (float)value_of(3, row);
            s->f64[i] = value_of(4, row);
        }
        slc_columns_end_event(s);
    }
}

static void write_file(const char *path, const char *form, slc_io_compression compression)
{
    slc_io_results_config config;
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    sample s = {.u8 = NULL};
    size_t rows = 0;
    slc_io_results_config_default(&config);
    config.form = form;
    config.compression = compression;
    ASSERT_OK(slc_io_results_create(path, &config, &writer, &error));
    for (int round = 0; round < ROUNDS; round++) {
        fill(&s, rows, EVENTS);
        rows += s.head.size;
        const slc_io_group groups[] = {{"a", &schema, &s, SLC_IO_ROWS_ANY},
                                       {"b", &schema, &s, SLC_IO_ROWS_ANY}};
        ASSERT_OK(slc_io_results_put(writer, groups, 2, &error));
    }
    ASSERT_OK(slc_io_results_text(writer, "command", "a \"test\"", &error));
    ASSERT_OK(slc_io_finish(writer, &error));
    slc_columns_clear(&schema, &s);
}

static void every_value_comes_back(void **state)
{
    static const struct {
        const char *path, *form, *format;
        slc_io_compression compression;
    } files[] = {{"a.h5", "hdf5", "HDF5", SLC_IO_COMPRESSION_NONE},
                 {"z.h5", "hdf5", "HDF5", SLC_IO_COMPRESSION_DEFLATE},
                 {"a.arrow", "arrow", "Arrow", SLC_IO_COMPRESSION_NONE},
                 {"l.arrow", "arrow", "Arrow", SLC_IO_COMPRESSION_LZ4},
                 {"z.arrows", "arrow-stream", "Arrow", SLC_IO_COMPRESSION_ZSTD}};
    const size_t rows = (size_t)ROUNDS * (ROWS / EVENTS) * EVENTS;
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        slc_io_reading *reading = NULL;
        slc_error error = {.status = SLC_OK};
        write_file(files[f].path, files[f].form, files[f].compression);
        ASSERT_OK(slc_io_reading_open(files[f].path, &reading, &error));
        assert_string_equal(reading->format, files[f].format);
        assert_int_equal(reading->n_columns, 2 * COLUMNS);
        bool told = false;
        for (size_t i = 0; i < reading->n_texts; i++) {
            told = told || (strcmp(reading->texts[i].name, "command") == 0 &&
                            strcmp(reading->texts[i].value, "a \"test\"") == 0);
        }
        assert_true(told);
        for (size_t i = 0; i < reading->n_columns; i++) {
            const slc_io_reading_column *c = &reading->columns[i];
            double values[3 * ROWS];
            size_t k = 0;
            while (k < COLUMNS && strcmp(columns[k].name, c->name) != 0) {
                k++;
            }
            assert_true(k < COLUMNS);
            assert_string_equal(c->unit, columns[k].unit);
            assert_int_equal(c->rows, rows);
            assert_int_equal(c->events, ROUNDS * EVENTS);
            assert_int_equal(c->whole, k < 3);
            for (size_t from = 0; from < rows; from += 11) { /* across record batches */
                ASSERT_OK(slc_io_reading_rows(reading, i, from, rows - from, values, &error));
                for (size_t row = from; row < rows; row++) {
                    const double got = values[row - from], want = value_of(k, row);
                    assert_true(got == want || (isnan(got) && isnan(want)));
                }
            }
        }
        slc_io_reading_close(reading);
    }
}

/* Is it an error, with the file's name, or a list of columns that can be read, or not? */
static bool try_bytes(const uint8_t *bytes, size_t size)
{
    slc_io_reading reading = {.format = NULL};
    slc_error error = {.status = SLC_OK};
    double values[ROWS];
    const slc_status status = slc_io_reading_arrow_bytes("x.arrow", bytes, size, &reading, &error);
    if (status != SLC_OK) {
        assert_non_null(strstr(error.text, "x.arrow"));
    }
    for (size_t i = 0; i < reading.n_columns && status == SLC_OK; i++) {
        const uint64_t rows = reading.columns[i].rows;
        (void)slc_io_reading_rows(&reading, i, 0, rows < ROWS ? (size_t)rows : ROWS, values, &error);
    }
    slc_io_reading_clear(&reading);
    return status == SLC_OK;
}

static void damage_is_an_error(void **state)
{
    static const char *const names[] = {"a.arrow", "l.arrow", "z.arrows"};
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        FILE *in = fopen(names[f], "rb");
        assert_non_null(in);
        static uint8_t bytes[1 << 17];
        const size_t size = fread(bytes, 1, sizeof bytes, in);
        (void)fclose(in);
        assert_true(try_bytes(bytes, size));
        size_t good = 0;
        for (size_t n = 0; n < size;
             n += f == 0 ? 1 : 7) { /* in memory of exactly that size, for the sanitizer */
            uint8_t *cut = malloc(n + 1);
            assert_non_null(cut);
            memcpy(cut, bytes, n);
            good += try_bytes(cut, n);
            free(cut);
        }
        assert_true(good > 0 && good < size); /* between messages a stream may end */
        uint32_t dice = 1;
        for (int i = 0; i < 600; i++) {
            dice = dice * 1664525U + 1013904223U;
            const size_t at = (dice >> 8) % (size > 0 ? size : 1);
            const uint8_t before = bytes[at];
            bytes[at] ^= (uint8_t)(1U << (dice & 7));
            (void)try_bytes(bytes, size);
            bytes[at] = before;
        }
        assert_true(try_bytes(bytes, size));
    }
}

static void what_is_no_result_is_told(void **state)
{
    static const char *const names[] = {"absent.h5", "empty.h5", "text.h5", "cut.h5"};
    (void)state;
    FILE *out = fopen("empty.h5", "wb");
    assert_non_null(out);
    (void)fclose(out);
    out = fopen("text.h5", "wb");
    assert_non_null(out);
    assert_true(fputs("no results at all", out) >= 0);
    (void)fclose(out);
    out = fopen("cut.h5", "wb");
    assert_non_null(out);
    assert_int_equal(fwrite("\x89HDF\r\n\x1a\n and no more", 1, 20, out), 20);
    (void)fclose(out);
    for (size_t i = 0; i < 4; i++) {
        slc_io_reading *reading = NULL;
        slc_error error = {.status = SLC_OK};
        assert_true(slc_io_reading_open(names[i], &reading, &error) < 0);
        assert_null(reading);
        assert_non_null(strstr(error.text, names[i]));
    }
}

int main(void)
{
    char folder[] = "/tmp/test_io_results_read.XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_comes_back),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(what_is_no_result_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
