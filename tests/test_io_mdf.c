/* SPDX-License-Identifier: Apache-2.0
 * MDF on events made here: header versions, checksum, blocks, batches, streams, writing. */
#include "support/cmocka_all.h"
#include "support/pipe.h"
#include "support/support.h"

#include "base/bytes.h"
#include "io/io_source.h"
#include "io/lhcb/io_mdf_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void checksum_is_one_at_a_time(void **state)
{
    (void)state;
    /* Published values of Jenkins' hash; the last one tells signed from unsigned characters. */
    assert_int_equal(slc_mdf_checksum((const uint8_t *)"a", 1), 0xca2e9442U);
    assert_int_equal(slc_mdf_checksum((const uint8_t *)"The quick brown fox jumps over the lazy dog", 43),
                     0x519e91f5U);
    uint32_t h = 0xffffff80U;
    h += h << 10;
    h ^= h >> 6;
    h += h << 3;
    h ^= h >> 11;
    h += h << 15;
    assert_int_equal(slc_mdf_checksum((const uint8_t *)"\x80", 1), h);
}

static void every_version_is_read(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version++) {
        support_bytes file = {0}, event = support_event(version);
        support_record(&file, version, 0, event.at, event.size);
        support_record(&file, version, 0, event.at, event.size);
        const support_outcome outcome = support_run(file.at, file.size, "v.mdf", NULL);
        assert_int_equal(outcome.open_status, SLC_OK);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_int_equal(outcome.totals.events, 2);
        assert_int_equal(outcome.totals.lost_events, 0);
        assert_int_equal(outcome.totals.checksums, 2);
        assert_int_equal(outcome.totals.bytes, file.size);
        assert_int_equal(outcome.event_hash[0], support_hash(event.at, event.size));
        assert_int_equal(outcome.event_hash[1], support_hash(event.at, event.size));
        assert_string_equal(outcome.damage, "");
        support_clear(&event);
        support_clear(&file);
    }
}

static void tiny_events_hold_a_track(void **state)
{
    (void)state;
    support_bytes file = support_file(4, false);
    const support_outcome outcome = support_run(file.at, file.size, "t.mdf", NULL);
    assert_int_equal(outcome.totals.events, 4);
    assert_int_equal(outcome.tracks, 4);
    assert_int_equal(outcome.particles, 4);
    assert_int_equal(outcome.superpixels, 4 * SUPPORT_TRACK_HITS);
    assert_int_equal(slc_faults_total(&outcome.faults), 0);
    support_clear(&file);
}

static void version_0_says_so(void **state)
{
    (void)state;
    support_bytes file = {0}, event = support_event(0);
    support_record(&file, 0, 0, event.at, event.size);
    const size_t first = file.size;
    support_record(&file, 3, 0, event.at, event.size);
    const support_outcome outcome = support_run(file.at, file.size, "old.mdf", NULL);
    assert_int_equal(outcome.totals.events, 1);
    assert_int_equal(outcome.totals.lost_events, 1);
    assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_HEADER), 1);
    assert_int_equal(outcome.totals.bytes, file.size);
    assert_true(first < file.size);
    support_assert_message(outcome.damage, "old.mdf", 0, "version 0 is not supported");
    support_clear(&event);
    support_clear(&file);
}

static void blocks_expand(void **state)
{
    (void)state;
    support_bytes plain = support_file(5, false), packed = support_file(5, true);
    const support_outcome a = support_run(plain.at, plain.size, "a", NULL);
    const support_outcome b = support_run(packed.at, packed.size, "b", NULL);
    assert_int_equal(b.totals.events, 5);
    assert_int_equal(b.totals.compressed, 5);
    assert_int_equal(a.totals.compressed, 0);
    assert_int_equal(b.totals.checksums, 5);
    support_assert_same_events(&a, &b, 5);
    support_clear(&plain);
    support_clear(&packed);
}

static void stored_block_is_copied(void **state)
{
    (void)state;
    support_bytes file = {0}, blocks = {0}, event = support_event(1);
    const uint8_t n0 = (uint8_t)event.size, n1 = (uint8_t)(event.size >> 8);
    const uint8_t header[9] = {'Z', 'L', 8, n0, n1, 0, n0, n1, 0};
    support_append(&blocks, header, sizeof header);
    support_append(&blocks, event.at, event.size);
    support_record(&file, 3, 1, blocks.at, blocks.size);
    const support_outcome outcome = support_run(file.at, file.size, "s.mdf", NULL);
    assert_int_equal(outcome.totals.events, 1);
    assert_int_equal(outcome.event_hash[0], support_hash(event.at, event.size));
    support_clear(&event);
    support_clear(&blocks);
    support_clear(&file);
}

static void batches_are_cut_as_asked(void **state)
{
    (void)state;
    support_bytes file = support_file(7, false), event = support_event(2);
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    slc_faults faults = {0};
    assert_int_equal(slc_io_open_memory(file.at, file.size, "m", NULL, &source, NULL), SLC_OK);
    assert_string_equal(slc_io_format(source), "mdf");
    assert_int_equal(slc_io_content_of(source), SLC_IO_RAW_EVENTS);
    assert_int_equal(slc_io_read_batch(source, 2, SIZE_MAX, &batch, &faults, NULL), SLC_OK);
    assert_int_equal(batch.n_events, 2);
    assert_int_equal(batch.first_event, 0);
    assert_int_equal(batch.sequence, 0);
    /* One event is always taken, however small the limit. */
    assert_int_equal(slc_io_read_batch(source, 9, 1, &batch, &faults, NULL), SLC_OK);
    assert_int_equal(batch.n_events, 1);
    assert_int_equal(batch.first_event, 2);
    assert_int_equal(batch.length[0], event.size);
    assert_memory_equal(batch.bytes + batch.offset[0], event.at, event.size);
    assert_int_equal(batch.file_offset[0], 2 * (event.size + 48));
    assert_int_equal(slc_io_read_batch(source, 9, event.size + 1, &batch, &faults, NULL), SLC_OK);
    assert_int_equal(batch.n_events, 2);
    assert_int_equal(batch.sequence, 2);
    assert_int_equal(slc_io_read_batch(source, 9, SIZE_MAX, &batch, &faults, NULL), SLC_OK);
    assert_int_equal(batch.n_events, 2);
    assert_int_equal(slc_io_read_batch(source, 9, SIZE_MAX, &batch, &faults, NULL), SLC_END);
    assert_int_equal(batch.n_events, 0);
    slc_velo_hits hits = {0};
    assert_int_equal(slc_io_read_velo_hits(source, 1, &hits, NULL, NULL, &faults, NULL), SLC_ERR_USAGE);
    slc_batch_clear(&batch);
    slc_io_close(source);
    support_clear(&event);
    support_clear(&file);
}

/* Writes events through the library, reads them back, and returns the file's bytes. */
static support_bytes written(uint32_t n_events, bool compress, const support_bytes *large)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s.mdf", support_temporary("", 0));
    const slc_io_mdf_config config = {.compress = compress, .run_number = 77};
    slc_io_writer *writer = NULL;
    assert_int_equal(slc_io_mdf_create(path, &config, &writer, NULL), SLC_OK);
    for (uint32_t e = 0; e < n_events; e++) {
        support_bytes event = support_event(e);
        const support_bytes *banks = large != NULL ? large : &event;
        assert_int_equal(slc_io_mdf_write(writer, banks->at, banks->size, NULL), SLC_OK);
        support_clear(&event);
    }
    assert_int_not_equal(access(path, F_OK), 0); /* nothing under the final name yet */
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    support_bytes bytes = support_read(path);
    assert_int_equal(unlink(path), 0);
    path[strlen(path) - 4] = '\0';
    assert_int_equal(unlink(path), 0);
    return bytes;
}

static void round_trip(void **state)
{
    (void)state;
    support_bytes by_hand = support_file(6, false);
    const support_outcome expected = support_run(by_hand.at, by_hand.size, "hand", NULL);
    for (int compress = 0; compress < 2; compress++) {
        support_bytes file = written(6, compress, NULL);
        const support_outcome outcome = support_run(file.at, file.size, "w", NULL);
        assert_int_equal(outcome.totals.events, 6);
        assert_int_equal(outcome.totals.lost_events, 0);
        assert_int_equal(outcome.totals.checksums, 6);
        assert_int_equal(outcome.totals.compressed, compress ? 6 : 0);
        support_assert_same_events(&expected, &outcome, 6);
        assert_int_equal(file.at[17], 0x37);
        assert_int_equal(file.at[18], 1);
        assert_int_equal(slc_load_u32(file.at + 36), 77);
        assert_true(compress ? file.size < by_hand.size : file.size == by_hand.size);
        support_clear(&file);
    }
    support_clear(&by_hand);
}

static void large_event_takes_several_blocks(void **state)
{
    (void)state;
    /* A little more than one block may hold; mostly zeros, so that it compresses. */
    support_bytes large = {.at = calloc(SLC_MDF_BLOCK_MAX + 1000, 1), .size = SLC_MDF_BLOCK_MAX + 1000};
    assert_non_null(large.at);
    uint64_t seed = 5;
    for (size_t i = 0; i < large.size; i += 1 + support_random(&seed) % 5000) {
        large.at[i] = (uint8_t)support_random(&seed);
    }
    support_bytes file = written(1, true, &large);
    const support_outcome outcome = support_read_only(file.at, file.size, "large", NULL);
    assert_int_equal(outcome.totals.events, 1);
    assert_int_equal(outcome.totals.compressed, 1);
    assert_int_equal(outcome.event_hash[0], support_hash(large.at, large.size));
    assert_true(file.size < large.size / 2);
    support_clear(&file);
    support_clear(&large);
}

static void noise_is_stored_plain(void **state)
{
    (void)state;
    uint8_t noise[3000];
    uint64_t seed = 6;
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)support_random(&seed);
    }
    support_bytes banks = {.at = noise, .size = sizeof noise};
    support_bytes file = written(1, true, &banks);
    assert_int_equal(file.at[16], 0);
    assert_int_equal(file.size, sizeof noise + 48);
    assert_memory_equal(file.at + 48, noise, sizeof noise);
    support_clear(&file);
}

/* Lets a child write `bytes` again and again, in parts, into a pipe; returns the end to read from. */
static int start_pipe(const support_bytes *bytes, unsigned times, size_t part, pid_t *child)
{
    int to;
    const int end = pipe_begin(child, &to);
    if (end >= 0) {
        return end;
    }
    for (unsigned i = 0; i < times; i++) {
        for (size_t at = 0; at < bytes->size;) {
            const ssize_t n = write(to, bytes->at + at, bytes->size - at < part ? bytes->size - at : part);
            if (n <= 0) {
                _exit(1);
            }
            at += (size_t)n;
        }
    }
    _exit(0);
}

/* A pipe that delivers a few bytes at a time. */
static void pipe_is_read(void **state)
{
    (void)state;
    support_bytes file = support_file(9, true);
    const support_outcome expected = support_run(file.at, file.size, "m", NULL);
    pid_t child;
    const int end = start_pipe(&file, 1, 101, &child), standard_input = dup(STDIN_FILENO);
    assert_true(dup2(end, STDIN_FILENO) >= 0);
    const support_outcome outcome = support_run_file("-", NULL);
    if (standard_input >= 0) {
        assert_true(dup2(standard_input, STDIN_FILENO) >= 0);
        (void)close(standard_input);
    }
    pipe_end(end, child);
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.totals.events, 9);
    assert_int_equal(outcome.totals.bytes, file.size);
    support_assert_same_events(&expected, &outcome, 9);
    support_clear(&file);
}

/* Reads all of a file in batches; returns the largest memory that stream and batch took. */
static size_t memory_to_read(const char *path, slc_io_totals *totals)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    size_t most = 0;
    assert_int_equal(slc_io_open(path, NULL, &source, NULL), SLC_OK);
    slc_status status;
    while ((status = slc_io_read_batch(source, 1000, 100000, &batch, NULL, NULL)) == SLC_OK) {
        const size_t now = batch.capacity + source->stream.capacity;
        most = now > most ? now : most;
    }
    assert_int_equal(status, SLC_END);
    slc_io_totals_of(source, totals);
    slc_io_close(source);
    slc_batch_clear(&batch);
    return most;
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    support_bytes file = support_file(100, false);
    char path[32];
    pid_t child;
    slc_io_totals totals;
    const unsigned times = 1200;
    const int end = start_pipe(&file, times, SIZE_MAX, &child);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", end);
    const size_t most = memory_to_read(path, &totals);
    pipe_end(end, child);
    assert_int_equal(totals.events, 100 * times);
    assert_int_equal(totals.bytes, times * file.size);
    assert_true(totals.bytes > (size_t)32 << 20);
    assert_true(most < (size_t)2 << 20);
    support_clear(&file);
}

static void a_claim_takes_no_memory(void **state)
{
    (void)state;
    support_bytes file = support_file(3, false);
    const size_t last = 2 * (file.size / 3);
    const uint32_t claim = 60U << 20;
    for (size_t i = 0; i < 3; i++) {
        slc_store_u32(file.at + last + 4 * i, claim);
    }
    slc_io_totals totals;
    const char *path = support_temporary(file.at, file.size);
    const size_t most = memory_to_read(path, &totals);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(totals.events, 2);
    assert_int_equal(totals.lost_events, 1);
    assert_true(most < (size_t)2 << 20);
    support_clear(&file);
}

static void limit_on_events_holds(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    support_bytes file = support_file(3, true), event = support_event(0);
    /* The records are small enough, what they become is not. */
    config.max_event_bytes = event.size - 1;
    const support_outcome outcome = support_run(file.at, file.size, "bomb", &config);
    assert_int_equal(outcome.open_status, SLC_OK);
    assert_int_equal(outcome.totals.events, 0);
    assert_int_equal(outcome.totals.lost_events, 3);
    assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_COMPRESSION), 3);
    support_assert_message(outcome.damage, "bomb", 0, "largest event allowed");
    support_clear(&event);
    support_clear(&file);
}

static void abandoned_file_is_gone(void **state)
{
    (void)state;
    slc_io_writer *writer = NULL;
    slc_error error = {0};
    support_bytes event = support_event(0);
    assert_int_equal(slc_io_mdf_create("/tmp/sluice-test-abandoned.mdf", NULL, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_mdf_write(writer, event.at, event.size, &error), SLC_OK);
    slc_io_abandon(writer);
    slc_io_abandon(NULL);
    assert_int_not_equal(access("/tmp/sluice-test-abandoned.mdf", F_OK), 0);
    assert_int_equal(slc_io_mdf_create("/nowhere/at/all.mdf", NULL, &writer, &error), SLC_ERR_IO);
    assert_null(writer);
    assert_non_null(strstr(error.text, "/nowhere/at/all.mdf"));
    support_clear(&event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_one_at_a_time),
        cmocka_unit_test(every_version_is_read),
        cmocka_unit_test(tiny_events_hold_a_track),
        cmocka_unit_test(version_0_says_so),
        cmocka_unit_test(blocks_expand),
        cmocka_unit_test(stored_block_is_copied),
        cmocka_unit_test(batches_are_cut_as_asked),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(large_event_takes_several_blocks),
        cmocka_unit_test(noise_is_stored_plain),
        cmocka_unit_test(pipe_is_read),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(a_claim_takes_no_memory),
        cmocka_unit_test(limit_on_events_holds),
        cmocka_unit_test(abandoned_file_is_gone),
    };
    return cmocka_run_group_tests_name("io_mdf", tests, NULL, NULL);
}
