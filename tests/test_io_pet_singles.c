/* SPDX-License-Identifier: Apache-2.0
 * Files of singles: bare records with a mark behind them, records with the head of older versions, and
 * records alone; cut, put together, of other programs, and what only looks like singles.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/temporary_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 50 };

static const uint8_t mark[8] = {0x89, 'S', 'L', 'C', 'P', 'S', '1', '\n'};
static const uint8_t head[16] = {0x89, 'S', 'L', 'C', 'P', 'S', 'G', '\n', 1, 0, 0, 0, 0, 0, 0, 0};

/* What other programs do: records from the first byte, on a machine with small ends first. */
typedef struct record {
    int64_t time_ps;
    uint32_t crystal;
    float energy_kev;
} record;

static record record_of(size_t i)
{
    return (record){(int64_t)(i * 1000) - 7, (uint32_t)(i % 13), 400 + (float)i};
}

typedef struct text {
    uint8_t bytes[16 * 4 * N];
    size_t size;
} text;

static void put(text *t, const void *bytes, size_t size)
{
    assert_true(t->size + size <= sizeof t->bytes);
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void put_records(text *t, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        const record r = record_of(i);
        put(t, &r, sizeof r);
    }
}

/* Reads all; the records are those of record_of from 0 on. Returns how many. */
static size_t read_all(slc_io_pet_singles *input, size_t most, slc_status want, slc_error *error)
{
    slc_pet_singles s = {0};
    slc_status status = SLC_OK;
    *error = (slc_error){.status = SLC_OK};
    while (status == SLC_OK) {
        status = slc_io_pet_singles_read(input, most, &s, error);
    }
    assert_int_equal(status, want);
    const size_t n = s.head.size;
    for (size_t i = 0; i < n; i++) {
        const record r = record_of(i);
        assert_true(s.time_ps[i] == r.time_ps && s.crystal[i] == r.crystal &&
                    memcmp(&s.energy_kev[i], &r.energy_kev, sizeof(float)) == 0);
    }
    slc_columns_clear(&slc_pet_singles_schema, &s);
    return n;
}

static size_t read_memory(const text *t, size_t most, slc_status want, char note[288], slc_error *error)
{
    slc_io_pet_singles *input = NULL;
    assert_int_equal(slc_io_pet_singles_open_memory(t->bytes, t->size, SLC_IO_PET_SINGLES, &input, error),
                     SLC_OK);
    const size_t n = read_all(input, most, want, error);
    (void)snprintf(note, 288, "%s", slc_io_pet_singles_note(input));
    slc_io_pet_singles_close(input);
    return n;
}

static void other_programs_read_what_is_written(void **state)
{
    (void)state;
    slc_io_writer *writer = NULL;
    slc_pet_singles s = {0};
    slc_error error;
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &s, N, 1), SLC_OK);
    for (size_t i = 0; i < N; i++) {
        const record r = record_of(i);
        s.time_ps[i] = r.time_ps;
        s.crystal[i] = r.crystal;
        s.energy_kev[i] = r.energy_kev;
    }
    assert_int_equal(slc_io_pet_singles_create(path, &writer, &error), SLC_OK);
    s.head.size = N;
    assert_int_equal(slc_io_pet_singles_write(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    slc_columns_clear(&slc_pet_singles_schema, &s);

    FILE *file = fopen(path, "rb");
    record r;
    size_t n = 0;
    assert_non_null(file);
    for (; fread(&r, sizeof r, 1, file) == 1; n++) {
        const record wanted = record_of(n);
        assert_memory_equal(&r, &wanted, sizeof r);
    }
    assert_int_equal(n, N);
    assert_int_equal(ftell(file), N * sizeof r + sizeof mark);
    (void)fclose(file);

    slc_io_pet_singles *input = NULL;
    assert_int_equal(slc_io_pet_kind_of(path), SLC_IO_PET_KIND_SINGLES);
    assert_int_equal(slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES, &input, &error), SLC_OK);
    assert_int_equal(read_all(input, 7, SLC_END, &error), N);
    assert_string_equal(slc_io_pet_singles_note(input), "");
    slc_io_pet_singles_close(input);

    slc_io_pet_raw *raw = NULL;
    assert_int_equal(slc_io_pet_raw_open(path, &raw, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "byte 0: this is a file of singles, not frames"));
}

static void heads_and_marks_may_stand_anywhere(void **state)
{
    (void)state;
    char note[288];
    slc_error error;
    for (size_t most = 1; most <= 2 * N; most = 2 * most + 1) {
        text t = {.size = 0};
        put_records(&t, 0, N / 2);
        put(&t, mark, sizeof mark);
        put(&t, mark, sizeof mark); /* of a file without singles */
        put(&t, head, sizeof head);
        put_records(&t, N / 2, N / 2);
        assert_int_equal(read_memory(&t, most, SLC_END, note, &error), N);
        assert_string_equal(note, "");
        put(&t, mark, sizeof mark);
        put_records(&t, N, 3);
        assert_int_equal(read_memory(&t, most, SLC_END, note, &error), N + 3);
        assert_non_null(strstr(note, "3 records are taken for i64 ps, u32 crystal, f32 keV"));
    }
}

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    char note[288];
    slc_error error;
    text whole = {.size = 0};
    put_records(&whole, 0, N);
    put(&whole, mark, sizeof mark);
    for (text cut = whole; cut.size-- > 0;) {
        const bool records = cut.size % 16 == 0;
        assert_int_equal(read_memory(&cut, 8, records ? SLC_END : SLC_ERR_FORMAT, note, &error),
                         cut.size / 16);
        assert_true(records || strstr(error.text, "bytes are left, a single has 16") != NULL);
        assert_int_equal(note[0] != '\0', records && cut.size > 0);
    }
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    char note[288];
    slc_error error;
    text t = {.size = 0};
    while (t.size < 320) {
        put(&t, "time,crystal\n", 13);
    }
    t.size = 320;
    assert_int_equal(read_memory(&t, 8, SLC_ERR_FORMAT, note, &error), 0);
    assert_non_null(strstr(error.text, "byte 0: these are no singles"));
    t.size = 0; /* as the seed has them: u32 crystal, f32 keV, f64 ns */
    for (size_t i = 0; i < N; i++) {
        const uint32_t crystal = (uint32_t)i;
        const float energy = 511;
        const double time = (double)i * 10;
        put(&t, &crystal, 4);
        put(&t, &energy, 4);
        put(&t, &time, 8);
    }
    assert_int_equal(read_memory(&t, 8, SLC_ERR_FORMAT, note, &error), 0);
    t.size = 0; /* a few that are damaged are singles, as in any measurement */
    put_records(&t, 0, N);
    t.bytes[7] = 0x7e;
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {0};
    assert_int_equal(slc_io_pet_singles_open_memory(t.bytes, t.size, SLC_IO_PET_SINGLES, &input, &error),
                     SLC_OK);
    assert_int_equal(slc_io_pet_singles_read(input, N, &s, &error), SLC_OK);
    assert_int_equal(s.head.size, N);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    slc_io_pet_singles_close(input);
    t.bytes[7] = 0xff;
    put(&t, "\x89SLCPS2\n", 8);
    assert_int_equal(read_memory(&t, 8, SLC_ERR_UNSUPPORTED, note, &error), N);
    assert_non_null(strstr(error.text, "byte 806: version 2 of singles is not known"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_programs_read_what_is_written, make_folder, remove_folder),
        cmocka_unit_test(heads_and_marks_may_stand_anywhere),
        cmocka_unit_test(a_file_may_be_cut_at_every_byte), cmocka_unit_test(what_is_none_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
