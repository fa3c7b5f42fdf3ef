/* SPDX-License-Identifier: Apache-2.0
 * Damaged inputs through the whole pipeline: every cut, ten thousand flipped bits, wrong fields one by one,
 * and things that are no inputs at all. Asserted each time: the status, the count of lost events, that the
 * events before the damage come out as they were, and a message with name, offset and reason. */
#include "io/io_stream.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "velo/velo_geometry.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 48 };

/* Where record r begins, and where the last one ends. */
static size_t record_begin(const support_bytes *file, unsigned r)
{
    size_t at = 0;
    for (unsigned i = 0; i < r; i++) {
        at += slc_load_u32(file->at + at);
    }
    return at;
}

static void assert_cut(const support_bytes *file, size_t cut, const support_outcome *whole)
{
    const support_outcome outcome = support_run(file->at, cut, "cut.mdf", NULL);
    uint64_t complete = 0;
    while (cut >= record_begin(file, (unsigned)complete + 1)) {
        complete++;
    }
    const size_t begin = record_begin(file, (unsigned)complete);
    const bool clean = cut == begin;
    if (complete == 0 && cut < 12) {
        /* Too little to tell what it is. */
        assert_int_equal(outcome.open_status, SLC_ERR_FORMAT);
        support_assert_message(outcome.error.text, "cut.mdf", 0, cut == 0 ? "empty" : "no known format");
        return;
    }
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.read_status, SLC_END);
    assert_int_equal(outcome.totals.events, complete);
    assert_int_equal(outcome.totals.lost_events, clean ? 0 : 1);
    assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_TRUNCATED), clean ? 0 : 1);
    assert_int_equal(slc_faults_total(&outcome.faults), clean ? 0 : 1);
    assert_int_equal(outcome.totals.bytes, cut);
    assert_int_equal(outcome.tracks, complete);
    support_assert_same_events(whole, &outcome, complete);
    if (!clean) {
        char left[64];
        (void)snprintf(left, sizeof left, "%zu are left", cut - begin);
        support_assert_message(outcome.damage, "cut.mdf", begin, left);
    }
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        support_bytes file = support_file(3, compressed != 0);
        const support_outcome whole = support_run(file.at, file.size, "whole.mdf", NULL);
        assert_int_equal(whole.totals.events, 3);
        const size_t end = record_begin(&file, 2);
        for (size_t cut = 0; cut <= end + HEADER; cut++) {
            assert_cut(&file, cut, &whole);
        }
        support_clear(&file);
    }
}

/* The hash that a flip in event e leaves alone is that of every event before it. */
static void flip_once(support_bytes *file, const support_outcome *whole, const slc_io_config *config,
                      uint64_t *seed, uint64_t tally[3])
{
    const uint64_t bit = support_random(seed) % (8 * file->size);
    const size_t at = (size_t)(bit / 8);
    const uint8_t before = file->at[at];
    file->at[at] ^= (uint8_t)(1U << bit % 8);
    const support_outcome outcome = support_run(file->at, file->size, "flip.mdf", config);
    unsigned record = 0;
    while (at >= record_begin(file, record + 1) && record < 3) {
        record++;
    }
    file->at[at] = before;
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.read_status, SLC_END);
    assert_true(outcome.totals.events + outcome.totals.lost_events >= 3);
    assert_true(outcome.totals.events <= 4);
    uint64_t same = 0;
    while (same < outcome.totals.events && same < 4 && outcome.event_hash[same] == whole->event_hash[same]) {
        same++;
    }
    tally[0] += outcome.totals.lost_events > 0;
    tally[1] += slc_faults_total(&outcome.faults) > 0;
    tally[2] += outcome.totals.events == 4 && same == 4;
    assert_true((outcome.totals.lost_events > 0) <= (outcome.damage[0] != '\0'));
    if (outcome.damage[0] != '\0') {
        assert_int_equal(strncmp(outcome.damage, "flip.mdf: byte ", 15), 0);
    }
    assert_true(same >= (record < 3 ? record : 3));
}

static void ten_thousand_flipped_bits(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    /* With the checksum nearly every flip is found; without, they reach the decoders. */
    for (int verify = 0; verify < 2; verify++) {
        support_bytes file = support_file(4, false);
        uint64_t seed = 20240229, tally[3] = {0};
        config.verify_checksum = verify != 0;
        const support_outcome whole = support_run(file.at, file.size, "whole.mdf", &config);
        assert_int_equal(whole.totals.events, 4);
        for (int i = 0; i < 10000; i++) {
            flip_once(&file, &whole, &config, &seed, tally);
        }
        (void)printf("flips: %llu lost an event, %llu left a fault, %llu changed nothing\n",
                     (unsigned long long)tally[0], (unsigned long long)tally[1],
                     (unsigned long long)tally[2]);
        if (verify) {
            assert_true(tally[0] > 9500);
        } else {
            assert_true(tally[1] > 500 && tally[0] < 2000);
        }
        support_clear(&file);
    }
}

static void flipped_bits_in_blocks(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    config.verify_checksum = false;
    support_bytes file = support_file(4, true);
    uint64_t seed = 7, tally[3] = {0};
    const support_outcome whole = support_run(file.at, file.size, "whole.mdf", &config);
    for (int i = 0; i < 5000; i++) {
        flip_once(&file, &whole, &config, &seed, tally);
    }
    assert_true(tally[0] > 3000); /* zlib has a checksum of its own */
    support_clear(&file);
}

/* Damage to the second of four records: what it is, what it costs, what is said. */
static const struct {
    size_t at; /* in the record */
    uint8_t bytes[12];
    size_t n;
    slc_fault_code code;
    uint64_t lost;
    const char *reason;
} wrongs[] = {
    {0, {1, 2}, 2, SLC_FAULT_RECORD_SIZE, 0, "two of them were believed"},
    {4, {1, 2}, 2, SLC_FAULT_RECORD_SIZE, 0, "two of them were believed"},
    {8, {1, 2}, 2, SLC_FAULT_RECORD_SIZE, 0, "two of them were believed"},
    {0, {1, 0, 0, 0, 2}, 5, SLC_FAULT_RECORD_HEADER, 1, "no record header: the three sizes are 1, "},
    {0, {9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0}, 12, SLC_FAULT_RECORD_HEADER, 1, "a record of 9 bytes"},
    {0, {40, 0, 0, 0, 40, 0, 0, 0, 40, 0, 0, 0}, 12, SLC_FAULT_RECORD_HEADER, 1, "a record of 40 bytes"},
    {0,
     {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255},
     12,
     SLC_FAULT_RECORD_HEADER,
     1,
     "a record of 4278190080 bytes"},
    {0, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 12, SLC_FAULT_RECORD_TRUNCATED, 1, "needs 16777216 bytes"},
    {12, {1, 2, 3, 4}, 4, SLC_FAULT_RECORD_CHECKSUM, 1, "checksum is 04030201"},
    {16, {0x1f}, 1, SLC_FAULT_RECORD_COMPRESSION, 1, "unknown compression id 15"},
    {17, {0x77}, 1, SLC_FAULT_RECORD_HEADER, 1, "header version 7 is not supported"},
    {17, {0x30}, 1, SLC_FAULT_RECORD_HEADER, 1, "header version 3 is not supported"},
    {18, {2}, 1, SLC_FAULT_RECORD_TYPE, 1, "data type 2"},
    {18, {9}, 1, SLC_FAULT_RECORD_TYPE, 1, "data type 9"},
};

static void each_wrong_field(void **state)
{
    (void)state;
    support_bytes file = support_file(4, false);
    const support_outcome whole = support_run(file.at, file.size, "whole.mdf", NULL);
    const size_t begin = record_begin(&file, 1);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        support_bytes damaged = {0};
        support_append(&damaged, file.at, file.size);
        memcpy(damaged.at + begin + wrongs[i].at, wrongs[i].bytes, wrongs[i].n);
        const support_outcome outcome = support_run(damaged.at, damaged.size, "w.mdf", NULL);
        assert_int_equal(outcome.open_status, SLC_OK);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_int_equal(outcome.totals.lost_events, wrongs[i].lost);
        assert_int_equal(outcome.totals.events, 4 - wrongs[i].lost);
        assert_int_equal(slc_faults_of(&outcome.faults, wrongs[i].code), 1);
        assert_int_equal(slc_faults_total(&outcome.faults), 1);
        assert_int_equal(outcome.faults.kept[0].offset, begin);
        assert_int_equal(outcome.event_hash[0], whole.event_hash[0]);
        assert_int_equal(outcome.event_hash[3 - wrongs[i].lost], whole.event_hash[3]);
        support_assert_message(outcome.damage, "w.mdf", begin, wrongs[i].reason);
        support_clear(&damaged);
    }
    support_clear(&file);
}

/* The same damage in the first record must not hide that it is an MDF file. */
static void damaged_beginning(void **state)
{
    (void)state;
    support_bytes file = support_file(4, false);
    const support_outcome whole = support_run(file.at, file.size, "whole.mdf", NULL);
    memset(file.at, 0xee, 30);
    const support_outcome outcome = support_run(file.at, file.size, "b.mdf", NULL);
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.totals.events, 3);
    assert_int_equal(outcome.totals.lost_events, 1);
    assert_int_equal(outcome.event_hash[0], whole.event_hash[1]);
    support_assert_message(outcome.damage, "b.mdf", 0, "bytes");
    support_clear(&file);
}

static void bank_magic_is_missed(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    config.verify_checksum = false;
    support_bytes file = support_file(3, false);
    /* The second bank of the second event: ODIN takes 48 bytes. */
    file.at[record_begin(&file, 1) + HEADER + 48] ^= 0xff;
    const support_outcome outcome = support_run(file.at, file.size, "m.mdf", &config);
    assert_int_equal(outcome.totals.events, 3);
    assert_int_equal(outcome.totals.lost_events, 0);
    assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_BANK_MAGIC), 1);
    assert_int_equal(outcome.tracks, 3); /* the one bank costs its hits alone */
    support_clear(&file);
}

static const struct {
    const char *begin;
    size_t size;
    const char *reason;
} blocks[] = {
    {"XZ\1", 3, "of none of the kinds"},
    {"L4\1", 3, "does not expand"},
    {"ZS\1", 3, "does not expand"},
    {"CS\10", 3, "old kind"},
    {"\0\0\0", 3, "no compressed block"},
    {"ZL\10\377\377\377", 6, "overruns the record"},
    {"ZL\10\50\0\0\377\377\377", 9, "claims to hold more than it can"},
    {"ZL\10", 3, "does not expand"},
};

static void each_wrong_block(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        support_bytes event = support_event(0), good = support_blocks(event.at, event.size, 1000), file = {0},
                      bad = {0};
        support_append(&bad, good.at, good.size);
        memcpy(bad.at, blocks[i].begin, blocks[i].size);
        bad.at[bad.size - 1] ^= 0xff; /* zlib's own checksum */
        support_record(&file, 3, 1, good.at, good.size);
        const size_t begin = file.size;
        support_record(&file, 3, 1, bad.at, bad.size);
        support_record(&file, 3, 1, good.at, good.size);
        const support_outcome outcome = support_run(file.at, file.size, "z.mdf", NULL);
        assert_int_equal(outcome.totals.events, 2);
        assert_int_equal(outcome.totals.lost_events, 1);
        assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_COMPRESSION), 1);
        assert_int_equal(outcome.event_hash[0], support_hash(event.at, event.size));
        assert_int_equal(outcome.event_hash[1], support_hash(event.at, event.size));
        support_assert_message(outcome.damage, "z.mdf", begin, blocks[i].reason);
        support_clear(&event);
        support_clear(&good);
        support_clear(&bad);
        support_clear(&file);
    }
}

static const struct {
    const char *begin;
    size_t size;
    slc_status status;
    const char *reason;
} strangers[] = {
    {"", 0, SLC_ERR_FORMAT, "empty"},
    {"   \n\n ", 6, SLC_ERR_FORMAT, "no known format"},
    {"hello, world", 12, SLC_ERR_FORMAT, "68 65 6c 6c 6f"},
    {"\x1f\x8b\x08", 3, SLC_ERR_UNSUPPORTED, "gzip"},
    {"\x89HDF\r\n\x1a\n", 8, SLC_ERR_UNSUPPORTED, "HDF5"},
    {"root\0\0\366", 7, SLC_ERR_UNSUPPORTED, "ROOT"},
    {"\xfd"
     "7zXZ\0",
     6, SLC_ERR_UNSUPPORTED, "xz"},
    {"root:x:0:0:root:/root:/bin/sh\n", 30, SLC_ERR_FORMAT, "no known format"},
};

static void no_inputs_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const support_outcome outcome = support_run(strangers[i].begin, strangers[i].size, "s", NULL);
        assert_int_equal(outcome.open_status, strangers[i].status);
        support_assert_message(outcome.error.text, "s", 0, strangers[i].reason);
        const char *path = support_temporary(strangers[i].begin, strangers[i].size);
        const support_outcome from_file = support_run_file(path, NULL);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(from_file.open_status, strangers[i].status);
        support_assert_message(from_file.error.text, path, 0, strangers[i].reason);
    }
    const support_outcome missing = support_run_file("/nowhere/run.mdf", NULL);
    assert_int_equal(missing.open_status, SLC_ERR_IO);
    assert_string_equal(missing.error.text, "/nowhere/run.mdf: No such file or directory");
    const support_outcome folder = support_run_file("/tmp", NULL);
    assert_int_equal(folder.open_status, SLC_ERR_IO);
    assert_non_null(strstr(folder.error.text, "/tmp: is a directory"));
}

/* Events may say that they are packets: they are none. */
static void false_packet_is_lost(void **state)
{
    (void)state;
    support_bytes file = support_file(3, false);
    file.at[18] = 2;
    const support_outcome outcome = support_run(file.at, file.size, "run.mep", NULL);
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.totals.events, 2);
    assert_int_equal(outcome.totals.lost_events, 1);
    assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_TYPE), 1);
    support_assert_message(outcome.damage, "run.mep", 0, "data type 2");
    support_clear(&file);
}

static void random_bytes_are_survived(void **state)
{
    (void)state;
    uint64_t seed = 99;
    uint64_t events = 0;
    for (int i = 0; i < 3000; i++) {
        support_bytes file = support_file(2, i % 2 == 0);
        const size_t from = support_random(&seed) % file.size;
        const size_t n = support_random(&seed) % 200;
        for (size_t at = from; at < from + n && at < file.size; at++) {
            file.at[at] = (uint8_t)support_random(&seed);
        }
        const support_outcome outcome = support_run(file.at, file.size, "r", NULL);
        assert_true(outcome.open_status != SLC_OK || outcome.read_status == SLC_END);
        assert_true(outcome.totals.events <= 2);
        assert_true(outcome.open_status != SLC_OK || outcome.totals.events + outcome.totals.lost_events >= 1);
        events += outcome.totals.events;
        support_clear(&file);
    }
    assert_true(events > 1500 && events < 6000);
}

static void small_files_by_name(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t size = 0;
    slc_error error = {0};
    const char *path = support_temporary("12345", 5);
    assert_int_equal(slc_io_read_file(path, 5, &bytes, &size, &error), SLC_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "12345", 5);
    free(bytes);
    assert_int_equal(slc_io_read_file(path, 4, &bytes, &size, &error), SLC_ERR_FORMAT);
    assert_null(bytes);
    assert_non_null(strstr(error.text, path));
    slc_velo_geometry geometry;
    assert_int_equal(slc_io_read_velo_geometry(path, &geometry, &error), SLC_ERR_FORMAT);
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(slc_io_read_velo_geometry("/nowhere/g.bin", &geometry, &error), SLC_ERR_IO);
    uint8_t image[SLC_VELO_GEOMETRY_BYTES];
    slc_velo_geometry ideal;
    slc_velo_geometry_ideal(&ideal);
    slc_velo_geometry_store(&ideal, image);
    const char *good = support_temporary(image, sizeof image);
    assert_int_equal(slc_io_read_velo_geometry(good, &geometry, &error), SLC_OK);
    assert_memory_equal(&geometry, &ideal, sizeof ideal);
    assert_int_equal(unlink(good), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),      cmocka_unit_test(ten_thousand_flipped_bits),
        cmocka_unit_test(flipped_bits_in_blocks), cmocka_unit_test(each_wrong_field),
        cmocka_unit_test(damaged_beginning),      cmocka_unit_test(bank_magic_is_missed),
        cmocka_unit_test(each_wrong_block),       cmocka_unit_test(no_inputs_at_all),
        cmocka_unit_test(false_packet_is_lost),   cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(small_files_by_name),
    };
    return cmocka_run_group_tests_name("bad_input", tests, NULL, NULL);
}
