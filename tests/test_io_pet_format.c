/* SPDX-License-Identifier: Apache-2.0
 * Formats of frames: numbers of records beside an oracle that takes bit after bit; what is out of range;
 * wrong formats with their places; raw files that have their format in them, cut at every byte, and damaged.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/pet_raw.h"
#include "support/sanitized.h"

#include <math.h>

#define ENVELOPE(records)                                                                                    \
    "{\"name\": \"n\", \"record_bytes\": 16, \"byte_order\": \"little\", \"ticks\": "                        \
    "1,\n\"records\": " records "}"
#define SINGLE(time, energy)                                                                                 \
    "{\"kind\": \"single\", \"fields\": {\"module\": 1, \"unit\": 2, \"x\": 3, \"y\": 4, \"time\": " time    \
    ", \"energy\": " energy "}}"

static slc_io_pet_format *format_of(const char *text)
{
    slc_io_pet_format *format = NULL;
    slc_error error = {0};
    if (slc_io_pet_format_read_memory(text, strlen(text), "f.json", &format, &error) != SLC_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return format;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Bit i of so many bytes, from the least significant one of the number. */
static int bit_at(const uint8_t *bytes, int n, bool big, int i)
{
    const int byte = big ? n - 1 - i / 8 : i / 8;
    return bytes[byte] >> i % 8 & 1;
}

static void test_bits(void **state)
{
    (void)state;
    uint64_t random = 0x5eed;
    for (int round = 0; round < 3000; round++) {
        uint8_t record[16];
        for (size_t i = 0; i < sizeof record; i++) {
            record[i] = (uint8_t)(random_u64(&random) >> 32);
        }
        const int bytes = 1 + (int)(random_u64(&random) % 8),
                  byte = (int)(random_u64(&random) % (17 - (unsigned)bytes));
        const int bit = (int)(random_u64(&random) % (8 * (unsigned)bytes));
        const int most = 8 * bytes - bit < 63 ? 8 * bytes - bit : 63;
        const int bits = 1 + (int)(random_u64(&random) % (unsigned)most);
        const bool big = random_u64(&random) >> 40 & 1, high = random_u64(&random) >> 40 & 1;
        uint64_t wanted = 0;
        for (int i = 0; i < bits; i++) {
            const int from_low = high ? 8 * bytes - 1 - (bit + bits - 1 - i) : bit + i;
            wanted |= (uint64_t)bit_at(record + byte, bytes, big, from_low) << i;
        }
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "{\"name\": \"n\", \"record_bytes\": 16, \"byte_order\": \"%s\", \"bit_order\": \"%s\", "
            "\"ticks\": 1, "
            "\"records\": [" SINGLE("{\"byte\": %d, \"bytes\": %d, \"bit\": %d, \"bits\": %d}", "5") "]}",
            big ? "big" : "little", high ? "high" : "low", byte, bytes, bit, bits);
        slc_io_pet_format *format = format_of(text);
        slc_pet_frame frame;
        slc_pet_made made;
        assert_int_equal(slc_io_pet_format_apply(format, record, 1, &frame, NULL, &made), SLC_OK);
        assert_int_equal(made.frames, 1);
        assert_int_equal(slc_load_big_u64(frame.time), wanted);
        assert_int_equal(frame.module, 1);
        assert_int_equal(frame.head_unit, 2);
        assert_int_equal(frame.x, 3);
        assert_int_equal(frame.y, 4);
        assert_int_equal(frame.energy[0] << 8 | frame.energy[1], 5);
        slc_io_pet_format_close(format);
    }
}

/* One record through a format of one field: what its number is, or that it is refused. */
static void expect_time(const char *field, const uint8_t *record, int64_t wanted)
{
    char text[768];
    slc_pet_frame frame;
    slc_pet_made made;
    (void)snprintf(text, sizeof text, ENVELOPE("[" SINGLE("%s", "0") "]"), field);
    slc_io_pet_format *format = format_of(text);
    assert_int_equal(slc_io_pet_format_apply(format, record, 1, &frame, NULL, &made), SLC_OK);
    if (wanted < 0) {
        assert_int_equal(made.frames, 0);
        assert_int_equal(made.counts.refused[SLC_PET_FIELD_TIME], 1);
    } else {
        assert_int_equal(made.frames, 1);
        assert_int_equal(slc_load_big_u64(frame.time), wanted);
    }
    slc_io_pet_format_close(format);
}

static void test_sums(void **state)
{
    (void)state;
    const uint8_t record[16] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0, 0x80};
    expect_time("{\"byte\": 8, \"multiply\": 1000}", record, 7000);
    expect_time("[{\"byte\": 8, \"multiply\": 1000}, {\"byte\": 8, \"multiply\": -3}, 12]", record, 6991);
    expect_time("{\"byte\": 8, \"divide\": 2}", record, 3);
    expect_time("{\"byte\": 8, \"modulo\": 4}", record, 3);
    expect_time("{\"byte\": 8, \"add\": 5, \"divide\": 4, \"modulo\": 2, \"multiply\": 9}", record, 9);
    /* Signed ones: -2; rounded down, and modulo, as in mathematics. */
    expect_time("[{\"byte\": 0, \"bytes\": 8, \"type\": \"signed\"}, 10]", record, 8);
    expect_time("[{\"byte\": 0, \"type\": \"signed\", \"divide\": 4}, 10]", record, 9);
    expect_time("{\"byte\": 0, \"type\": \"signed\", \"modulo\": 10}", record, 8);
    expect_time("{\"byte\": 0, \"type\": \"signed\"}", record, -1);
    /* What is beyond 63 bits, itself or on the way. */
    expect_time("{\"byte\": 0, \"bytes\": 8}", record, -1);
    expect_time("{\"byte\": 8, \"bytes\": 8}", record, -1);
    expect_time("{\"byte\": 8, \"multiply\": 9223372036854775807}", record, -1);
    expect_time("[9223372036854775807, {\"byte\": 8}]", record, -1);
    expect_time("[9223372036854775800, {\"byte\": 8}]", record, INT64_MAX);
    expect_time("{\"byte\": 8, \"bytes\": 8, \"bits\": 63}", record, 7);
}

static void expect_energy(float value, const char *multiply, int wanted)
{
    char text[768];
    uint8_t record[16] = {0};
    uint32_t bits;
    slc_pet_frame frame;
    slc_pet_made made;
    memcpy(&bits, &value, sizeof bits);
    slc_store_u32(record + 4, bits);
    (void)snprintf(
        text, sizeof text,
        ENVELOPE("[" SINGLE("0", "{\"byte\": 4, \"bytes\": 4, \"type\": \"float\", \"multiply\": %s}") "]"),
        multiply);
    slc_io_pet_format *format = format_of(text);
    assert_int_equal(slc_io_pet_format_apply(format, record, 1, &frame, NULL, &made), SLC_OK);
    assert_int_equal(made.frames, wanted >= 0);
    assert_int_equal(made.counts.refused[SLC_PET_FIELD_ENERGY], wanted < 0);
    if (wanted >= 0) {
        assert_int_equal(frame.energy[0] << 8 | frame.energy[1], wanted);
    }
    slc_io_pet_format_close(format);
}

static void test_energies(void **state)
{
    (void)state;
    expect_energy(511.0f, "1", 511);
    expect_energy(511.0f, "10", 5110);
    expect_energy(2.5f, "1", 3);
    expect_energy(0.25f, "2.0", 1);
    expect_energy(-0.25f, "1", 0);
    expect_energy(-0.5f, "1", -1);
    expect_energy(65535.25f, "1", 65535);
    expect_energy(65535.5f, "1", -1);
    expect_energy(NAN, "1", -1);
    expect_energy(INFINITY, "1", -1);
    expect_energy(1e38f, "1e300", -1);
}

/* Each field's last number that fits, and the first that does not. */
static void test_room(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int most, field;
    } fields[] = {{"module", 255, SLC_PET_FIELD_MODULE},
                  {"unit", 15, SLC_PET_FIELD_UNIT},
                  {"x", 255, SLC_PET_FIELD_X},
                  {"y", 255, SLC_PET_FIELD_Y},
                  {"temperature", 127, SLC_PET_FIELD_TEMPERATURE}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char text[768] = "";
        static const char *const all[] = {"module", "unit", "x", "y", "time", "energy", "temperature"};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const size_t at = strlen(text);
            (void)snprintf(text + at, sizeof text - at, "%s\"%s\": %s", k > 0 ? ", " : "", all[k],
                           strcmp(all[k], fields[i].name) == 0
                               ? "{\"byte\": 0, \"bytes\": 2, \"type\": \"signed\"}"
                               : "0");
        }
        char whole[1024];
        (void)snprintf(whole, sizeof whole, ENVELOPE("[{\"kind\": \"single\", \"fields\": {%s}}]"), text);
        slc_io_pet_format *format = format_of(whole);
        for (int value = -200; value < 400; value++) {
            uint8_t record[16] = {0};
            slc_pet_frame frame;
            slc_pet_made made;
            const int least = fields[i].field == SLC_PET_FIELD_TEMPERATURE ? -128 : 0;
            slc_store_u16(record, (uint16_t)value);
            assert_int_equal(slc_io_pet_format_apply(format, record, 1, &frame, NULL, &made), SLC_OK);
            assert_int_equal(made.frames, value >= least && value <= fields[i].most);
            assert_int_equal(made.counts.refused[fields[i].field], 1 - (int)made.frames);
        }
        slc_io_pet_format_close(format);
    }
}

/* ---- wrong formats ----------------------------------------------------------------------------- */

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "f.json: line 1, column "},
        {"[]", "f.json: line 1, column 1: a frame format must be an object, not an array"},
        {"{}", "f.json: line 1, column 1: 'name' is missing"},
        {ENVELOPE("5"), "line 2, column 12: records must be an array of 1 to 32 kinds of records"},
        {ENVELOPE("[]"), "records must be an array"},
        {ENVELOPE("[{}]"), "line 2, column 13: 'kind' is missing"},
        {ENVELOPE("[{\"kind\": \"skip\"}]"), "no record is a single"},
        {ENVELOPE("[{\"kind\": \"skip\", \"fields\": {}}]"), "of what is skipped no field is read"},
        {ENVELOPE("[{\"kind\": \"single\"}]"), "'fields' is missing"},
        {ENVELOPE("[{\"kind\": \"bed\", \"fields\": {\"x\": 1}}]"),
         "unknown key 'x' of a mark's fields; there are: module, time, value"},
        {ENVELOPE("[{\"kind\": \"bed\", \"fields\": {}}]"), "'time' is missing"},
        {ENVELOPE("[{\"kind\": \"skip\"}, {\"kind\": \"skip\"}]"), "no record comes to this"},
        {ENVELOPE("[{\"kind\": \"skip\", \"match\": 5}]"), "match must be an array of constants"},
        {ENVELOPE("[{\"kind\": \"skip\", \"match\": [{\"byte\": 0}]}]"), "'value' is missing"},
        {ENVELOPE("[{\"kind\": \"skip\", \"match\": [{\"byte\": 0, \"value\": 256}]}]"),
         "256 is more than 8 bits hold"},
        {ENVELOPE("[{\"kind\": \"skip\", \"match\": [{\"byte\": 0, \"value\": -1}]}]"),
         "value must be from 0"},
        {ENVELOPE("[" SINGLE("{\"byte\": 16}", "0") "]"), "bytes 16 to 16 are not in a record of 16 bytes"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"bytes\": 2, \"bit\": 9, \"bits\": 8}", "0") "]"),
         "bits 9 to 16 are not in a number of 2 bytes"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"bit\": 60, \"bits\": 8}", "0") "]"),
         "bits 60 to 67 are not in a number of 8 bytes"},
        {ENVELOPE("[" SINGLE("{\"bytes\": 2}", "0") "]"), "'byte' is missing"},
        {ENVELOPE("[" SINGLE("[]", "0") "]"), "time is a sum of nothing"},
        {ENVELOPE("[" SINGLE("\"5\"", "0") "]"), "time must be an object, not a string"},
        {ENVELOPE("[" SINGLE("1.5", "0") "]"), "time must be a whole number"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"bytes\": 4, \"type\": \"float\"}", "0") "]"),
         "time is a whole number: no float"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"multiply\": 0.5}", "0") "]"),
         "multiply must be a whole number"},
        {ENVELOPE("[" SINGLE("0", "{\"byte\": 0, \"bytes\": 2, \"type\": \"float\"}") "]"),
         "a float has 32 or 64 bits, not 16"},
        {ENVELOPE("[" SINGLE("0", "{\"byte\": 0, \"bytes\": 4, \"type\": \"float\", \"add\": 1}") "]"),
         "add, divide and modulo are of whole numbers"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"divide\": 0}", "0") "]"), "divide must be from 1"},
        {ENVELOPE("[" SINGLE("{\"byte\": 0, \"byte\": 1}", "0") "]"), "duplicate object key"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        slc_io_pet_format *format = NULL;
        slc_error error = {0};
        const slc_status status = slc_io_pet_format_read_memory(wrong[i].text, strlen(wrong[i].text),
                                                                "f.json", &format, &error);
        if (status != SLC_ERR_FORMAT || format != NULL || strstr(error.text, wrong[i].message) == NULL ||
            strncmp(error.text, "f.json: line ", 13) != 0) {
            fail_msg("%s\n%d: %s", wrong[i].text, (int)status, error.text);
        }
    }
}

static const char whole[] = ENVELOPE(
    "["
    "{\"kind\": \"bed\", \"match\": [{\"byte\": 0, \"value\": 2}], \"fields\": {\"time\": {\"byte\": 8, "
    "\"bytes\": 8}, "
    "\"value\": {\"byte\": 4, \"bytes\": 4, \"type\": \"signed\", \"multiply\": 0.5}, \"module\": 7}},"
    "{\"kind\": \"skip\", \"match\": [{\"byte\": 0, \"value\": 3}]},"
    "{\"kind\": \"single\", \"match\": [{\"byte\": 0, \"value\": 1}], \"fields\": {\"module\": {\"byte\": "
    "1}, "
    "\"unit\": 0, \"x\": {\"byte\": 2}, \"y\": {\"byte\": 3}, \"energy\": {\"byte\": 4, \"bytes\": 4}, "
    "\"time\": {\"byte\": 8, \"bytes\": 8}}}]");

static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        slc_io_pet_format *format = NULL;
        slc_error error = {0};
        assert_int_equal(slc_io_pet_format_read_memory(whole, i, "f.json", &format, &error), SLC_ERR_FORMAT);
        assert_null(format);
        assert_memory_equal(error.text, "f.json: line ", 13);
    }
}

/* ---- raw files --------------------------------------------------------------------------------- */

enum { RECORDS = 240, DATAGRAM = 12 * 16 + 8 };

/* Kinds 1, 2, 3 and an unknown one, in turns; some modules do not fit into x. */
static void make_record(uint8_t record[16], int i)
{
    memset(record, 0, 16);
    record[0] = (uint8_t)(1 + i % 7 % 4);
    record[1] = (uint8_t)(i / 12 % 3);
    record[2] = (uint8_t)i;
    slc_store_u32(record + 4, record[0] == 1 && i % 28 == 0
                                  ? 70000
                                  : (uint32_t)-i & (record[0] == 2 ? UINT32_MAX : 0xfff));
    slc_store_u64(record + 8, (uint64_t)i * 1000);
}

/* Datagrams of 12 records behind a counter of 8 bytes for each of three modules. */
static uint8_t *make_file(const slc_io_pet_format *format, size_t *size)
{
    slc_io_pet_raw_config config;
    slc_io_pet_raw_writer *writer = NULL;
    slc_error error = {0};
    slc_io_pet_raw_config_default(&config);
    config.format = format;
    config.replace = true;
    config.payload = (slc_io_pet_payload){.header_bytes = 8, .sequence_bytes = 8};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_OK);
    for (int i = 0; i < RECORDS; i += 12) {
        uint8_t datagram[DATAGRAM];
        const uint16_t bytes = DATAGRAM, socket = 0;
        const uint64_t time_ns = (uint64_t)i + 1;
        slc_store_u64(datagram, (uint64_t)(i / 36));
        for (int k = 0; k < 12; k++) {
            make_record(datagram + 8 + 16 * k, i + k);
        }
        assert_int_equal(slc_io_pet_raw_write(writer, datagram, &bytes, &time_ns, &socket, 1, &error),
                         SLC_OK);
    }
    assert_int_equal(slc_io_pet_raw_finish(writer, &error), SLC_OK);
    return (uint8_t *)pet_bytes(path, size);
}

/* What it is, by the rules of make_record and of the format. */
static size_t oracle(slc_pet_frame *frames, slc_io_pet_format_counts *counts, slc_pet_marks *marks)
{
    size_t n = 0;
    *counts = (slc_io_pet_format_counts){.records = RECORDS};
    for (int i = 0; i < RECORDS; i++) {
        uint8_t r[16];
        make_record(r, i);
        const uint32_t four = slc_load_u32(r + 4);
        if (r[0] == 1 && four > 65535) {
            counts->refused[SLC_PET_FIELD_ENERGY]++;
        } else if (r[0] == 1) {
            slc_pet_frame *f = &frames[n++];
            *f = (slc_pet_frame){
                .module = r[1], .x = r[2], .y = r[3], .energy = {(uint8_t)(four >> 8), (uint8_t)four}};
            slc_store_big_u64(f->time, (uint64_t)i * 1000);
            counts->singles++;
        } else if (r[0] == 2) {
            marks->time_ps[counts->marks] = (int64_t)i * 1000;
            marks->value[counts->marks++] = (double)(int32_t)four / 2;
        } else {
            counts->skipped += r[0] == 3;
            counts->unknown += r[0] == 4;
        }
    }
    return n;
}

static void test_raw(void **state)
{
    (void)state;
    slc_io_pet_format *format = format_of(whole);
    size_t size = 0, n = 0;
    uint8_t *bytes = make_file(format, &size);
    slc_io_pet_raw *raw = NULL;
    slc_error error = {0};
    slc_pet_frame wanted[RECORDS];
    int64_t times[RECORDS];
    double values[RECORDS];
    slc_pet_marks wanted_marks = {.time_ps = times, .value = values}, marks = {.time_ps = NULL};
    slc_io_pet_format_counts counts;
    const size_t wanted_n = oracle(wanted, &counts, &wanted_marks);
    assert_true(wanted_n > 50 && counts.marks > 20 && counts.unknown > 20 &&
                counts.refused[SLC_PET_FIELD_ENERGY] > 2);
    for (size_t most = 1; most < 200; most += 66) {
        slc_faults faults = {0};
        slc_status status;
        slc_columns_reset(&marks);
        assert_int_equal(slc_io_pet_raw_open_memory(bytes, size, "a.raw", &raw, &error), SLC_OK);
        assert_non_null(slc_io_pet_raw_format(raw));
        assert_true(slc_io_pet_format_is(slc_io_pet_raw_format(raw), format));
        assert_int_equal(slc_io_pet_raw_use_format(raw, slc_io_pet_raw_format(raw), &marks, &error), SLC_OK);
        slc_io_pet_raw_info info;
        slc_pet_frame *frames = calloc(RECORDS + 1, sizeof *frames);
        assert_non_null(frames);
        size_t got = 0;
        n = 0;
        while ((status = slc_io_pet_raw_read(raw, frames + n, NULL, most, &got, &faults, &error)) == SLC_OK) {
            n += got;
            assert_true(n <= RECORDS);
        }
        assert_int_equal(status, SLC_END);
        slc_io_pet_raw_info_of(raw, &info);
        assert_int_equal(n, wanted_n);
        assert_memory_equal(frames, wanted, n * sizeof *frames);
        assert_memory_equal(&info.records, &counts, sizeof counts);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_RECORD), counts.unknown);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_RANGE), counts.refused[SLC_PET_FIELD_ENERGY]);
        assert_int_equal(marks.head.size, counts.marks);
        assert_memory_equal(marks.time_ps, times, counts.marks * sizeof *times);
        assert_memory_equal(marks.value, values, counts.marks * sizeof *values);
        for (size_t i = 0; i < counts.marks; i++) {
            assert_int_equal(marks.kind[i], SLC_PET_MARK_BED);
            assert_int_equal(marks.module[i], 7);
        }
        free(frames);
        slc_io_pet_raw_close(raw);
    }
    slc_columns_clear(&slc_pet_marks_schema, &marks);
    slc_io_pet_format_close(format);
    free(bytes);
}

/* Cut anywhere, it gives a beginning of the frames, or says why not. */
static void test_raw_cut(void **state)
{
    (void)state;
    slc_io_pet_format *format = format_of(whole);
    size_t size = 0;
    uint8_t *bytes = make_file(format, &size);
    slc_pet_frame wanted[RECORDS];
    int64_t times[RECORDS];
    double values[RECORDS];
    slc_pet_marks marks = {.time_ps = times, .value = values};
    slc_io_pet_format_counts counts;
    (void)oracle(wanted, &counts, &marks);
    const size_t before = SLC_PET_RAW_HEAD + strlen(whole);
    for (size_t cut = 0; cut <= size; cut += cut < before + 300 ? (size_t)test_step(5) : 37) {
        slc_io_pet_raw *raw = NULL;
        slc_error error = {0};
        slc_faults faults = {0};
        slc_status status = slc_io_pet_raw_open_memory(bytes, cut, "a.raw", &raw, &error);
        assert_int_equal(status, SLC_OK);
        size_t n = 0;
        slc_pet_frame *frames = raw_read_all(raw, 50, &n, &faults, &status);
        assert_int_equal(status, SLC_END);
        assert_true(cut < before ? n <= cut / 16 : n <= RECORDS);
        if (cut >= before) {
            assert_memory_equal(frames, wanted, n * sizeof *frames);
        }
        free(frames);
    }
    slc_io_pet_format_close(format);
    free(bytes);
}

/* A head, or a format in it, that is damaged: nobody takes the records for frames of 16 bytes. */
static void test_raw_damage(void **state)
{
    (void)state;
    slc_io_pet_format *format = format_of(whole);
    size_t size = 0;
    uint8_t *bytes = make_file(format, &size);
    for (size_t at = 8; at < SLC_PET_RAW_HEAD + strlen(whole); at += 3 * (size_t)test_step(5)) {
        slc_io_pet_raw *raw = NULL;
        slc_error error = {0};
        slc_pet_frame frames[50];
        size_t n = 0;
        bytes[at] ^= 4;
        assert_int_equal(slc_io_pet_raw_open_memory(bytes, size, "a.raw", &raw, &error), SLC_OK);
        assert_int_equal(slc_io_pet_raw_read(raw, frames, NULL, 50, &n, NULL, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "a.raw: byte "));
        assert_non_null(
            strstr(error.text, "frames of 16 bytes, and their format in the file's head is damaged"));
        slc_io_pet_raw_close(raw);
        /* Given, it is all there. */
        assert_int_equal(slc_io_pet_raw_open_memory(bytes, size, "a.raw", &raw, &error), SLC_OK);
        assert_int_equal(slc_io_pet_raw_use_format(raw, format, NULL, &error), SLC_OK);
        assert_int_equal(slc_io_pet_raw_read(raw, frames, NULL, 50, &n, NULL, &error), SLC_OK);
        assert_int_equal(n, 50);
        slc_io_pet_raw_close(raw);
        bytes[at] ^= 4;
    }
    slc_io_pet_format_close(format);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_energies),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_cut),
        cmocka_unit_test_setup_teardown(test_raw, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_raw_cut, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_raw_damage, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
