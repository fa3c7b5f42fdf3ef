/* SPDX-License-Identifier: Apache-2.0
 *
 * Records that the reader leaves in their file, for who finishes the batch: what comes is what the file had;
 * a file that is cut, written to or cannot be read in between costs the records that it concerns, by name and
 * place, and nothing else; and the system may hand out as little at a time as it likes.
 */
#define _DEFAULT_SOURCE /* preadv, syscall */
#include "io/io_deferred.h"
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/support_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- a system that reads badly -------------------------------------------------------------------- */

static struct {
    uint64_t bad_begin, bad_end; /* cannot be read */
    size_t most;                 /* at once; 0: all */
    unsigned interrupted;        /* every so many calls is; 0: none */
    unsigned calls;
} hard;

static ssize_t read_badly(int file, const struct iovec *parts, int n, off_t offset)
{
    ssize_t done = 0;
    if (hard.interrupted > 0 && ++hard.calls % hard.interrupted == 0) {
        errno = EINTR;
        return -1;
    }
    for (int i = 0; i < n; i++) {
        size_t size = parts[i].iov_len;
        const uint64_t at = (uint64_t)offset + (uint64_t)done;
        size = hard.most > 0 && size > hard.most - (size_t)done ? hard.most - (size_t)done : size;
        size = at < hard.bad_begin && at + size > hard.bad_begin ? (size_t)(hard.bad_begin - at) : size;
        if (at >= hard.bad_begin && at < hard.bad_end && parts[i].iov_len > 0) {
            errno = EIO;
            return done > 0 ? done : -1;
        }
        const ssize_t got = syscall(SYS_pread64, file, parts[i].iov_base, size, (off_t)at);
        if (got < 0) {
            return done > 0 ? done : -1;
        }
        done += got;
        if ((size_t)got < parts[i].iov_len) {
            break;
        }
    }
    return done;
}

/* In place of the C library's. */
ssize_t pread(int file, void *to, size_t size, off_t offset)
{
    return read_badly(file, &(struct iovec){.iov_base = to, .iov_len = size}, 1, offset);
}

ssize_t preadv(int file, const struct iovec *parts, int n, off_t offset)
{
    return read_badly(file, parts, n, offset);
}

/* ---- files --------------------------------------------------------------------------------------- */

enum { EVENTS = 8, BYTES = 6000, HEADER = 48 };

static support_bytes event_of(uint32_t e)
{
    support_bytes event = {0};
    uint64_t seed = e;
    uint8_t bytes[BYTES];
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(support_random(&seed) % 50);
    }
    bytes[0] = 0xcb; /* begins like a bank */
    bytes[1] = 0xcb;
    support_append(&event, bytes, BYTES - 3 * e);
    return event;
}

/* begin[EVENTS]: where it ends. `packed`: in blocks of a kind, without checksums. */
static support_bytes file_of(int packed, size_t *begin)
{
    support_bytes file = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        support_bytes event = event_of(e);
        begin[e] = file.size;
        if (packed >= 0) {
            support_bytes blocks = support_blocks_of(packed, event.at, event.size, BYTES);
            support_record(&file, 3, 1, blocks.at, blocks.size);
            memset(file.at + begin[e] + 12, 0, 4);
            support_clear(&blocks);
        } else {
            support_record(&file, 3, 0, event.at, event.size);
        }
        support_clear(&event);
    }
    begin[EVENTS] = file.size;
    return file;
}

/* ---- reading ------------------------------------------------------------------------------------- */

typedef struct reading {
    char path[64];
    slc_io_source *source;
    slc_io_deferred *deferred;
    slc_batch batch;
    slc_faults faults;
    slc_error error;
} reading;

/* What is at the beginning is read when the file is opened. */
static void begin_badly(reading *r, const support_bytes *file, uint64_t bad_begin, uint64_t bad_end)
{
    memset(r, 0, sizeof *r);
    memset(&hard, 0, sizeof hard);
    hard.bad_begin = bad_begin;
    hard.bad_end = bad_end;
    (void)snprintf(r->path, sizeof r->path, "%s", support_temporary(file->at, file->size));
    assert_int_equal(slc_io_open(r->path, NULL, &r->source, &r->error), SLC_OK);
    assert_int_equal(slc_io_deferred_open(&r->deferred, NULL), SLC_OK);
}

static slc_status walk(reading *r, uint32_t most)
{
    return slc_io_read_batch_deferred(r->source, most, SIZE_MAX, &r->batch, r->deferred, &r->faults,
                                      &r->error);
}

/* A file of a sound system, of which all records are left where they are. */
static void begin_walked(reading *r, const support_bytes *file, uint32_t most)
{
    begin_badly(r, file, 0, 0);
    assert_int_equal(walk(r, most), SLC_OK);
}

static void finish(reading *r)
{
    slc_io_losses losses = {.events = 0};
    assert_int_equal(slc_io_finish_batch(&r->batch, r->deferred, &r->faults, &r->error), SLC_OK);
    slc_io_losses_add(&losses, r->deferred);
    slc_io_settle(r->source, &losses);
}

static void end_reading(reading *r)
{
    memset(&hard, 0, sizeof hard);
    slc_io_close(r->source);
    slc_io_deferred_close(r->deferred);
    slc_batch_clear(&r->batch);
    assert_int_equal(unlink(r->path), 0);
}

/* The events of the batch are those of the list, which ends with a negative number. */
static void assert_events(const reading *r, const int *numbers)
{
    uint32_t n = 0;
    for (; numbers[n] >= 0; n++) {
        support_bytes event = event_of((uint32_t)numbers[n]);
        assert_true(n < r->batch.n_events);
        assert_int_equal(r->batch.length[n], event.size);
        assert_memory_equal(r->batch.bytes + r->batch.offset[n], event.at, event.size);
        assert_int_equal(r->batch.record[n].number, numbers[n]);
        support_clear(&event);
    }
    assert_int_equal(r->batch.n_events, n);
}

static void assert_end(reading *r, uint64_t lost)
{
    slc_io_totals totals;
    assert_int_equal(walk(r, EVENTS), SLC_END);
    slc_io_totals_of(r->source, &totals);
    assert_int_equal(totals.events, EVENTS - lost);
    assert_int_equal(totals.lost_events, lost);
    assert_int_equal(slc_faults_total(&r->faults), lost);
}

static void assert_rest(reading *r, const int *numbers, uint64_t lost)
{
    finish(r);
    assert_events(r, numbers);
    assert_end(r, lost);
}

static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, -1};

/* ---- the tests ----------------------------------------------------------------------------------- */

static void the_system_gives_little_at_a_time(void **state)
{
    (void)state;
    static const size_t mosts[] = {0, 1, 7, 100, 6048, 20000};
    size_t begin[EVENTS + 1];
    for (int packed = -1; packed < SUPPORT_KINDS; packed++) {
        support_bytes file = file_of(packed, begin);
        for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
            for (unsigned interrupted = 0; interrupted < 4; interrupted += interrupted == 0 ? 2 : 1) {
                reading r;
                begin_badly(&r, &file, 0, 0);
                hard.most = mosts[i];
                hard.interrupted = interrupted;
                assert_int_equal(walk(&r, EVENTS), SLC_OK);
                assert_rest(&r, all, 0);
                end_reading(&r);
            }
        }
        support_clear(&file);
    }
}

static void what_cannot_be_read_is_one_event(void **state)
{
    (void)state;
    size_t begin[EVENTS + 1];
    support_bytes file = file_of(-1, begin);
    for (int beginning = 0; beginning < 2; beginning++) {
        reading r;
        const uint64_t at = begin[3] + (beginning ? HEADER + 300 : 5000);
        begin_badly(&r, &file, at, at + 512);
        assert_int_equal(walk(&r, EVENTS), SLC_OK);
        assert_int_equal(r.batch.n_events, EVENTS);
        assert_rest(&r, (const int[]){0, 1, 2, 4, 5, 6, 7, -1}, 1);
        assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_RECORD_UNREADABLE), 1);
        assert_int_equal(r.faults.kept[0].offset, begin[3]);
        assert_int_equal(r.faults.kept[0].event, 3);
        support_assert_message(slc_io_damage(r.source), r.path, begin[3], "cannot read: Input/output error");
        end_reading(&r);
    }
    /* Without its header nobody knows where the next record is: events before it come, then the error. */
    reading r;
    begin_badly(&r, &file, begin[3] + 20, begin[3] + 40);
    assert_int_equal(slc_io_read_batch(r.source, EVENTS, SIZE_MAX, &r.batch, &r.faults, &r.error), SLC_OK);
    assert_events(&r, (const int[]){0, 1, 2, -1});
    assert_int_equal(slc_io_read_batch(r.source, EVENTS, SIZE_MAX, &r.batch, &r.faults, &r.error),
                     SLC_ERR_IO);
    support_assert_message(r.error.text, r.path, begin[3] + 20, "cannot read: Input/output error");
    end_reading(&r);
    support_clear(&file);
}

static void a_file_that_is_cut_meanwhile(void **state)
{
    (void)state;
    size_t begin[EVENTS + 1];
    support_bytes file = file_of(-1, begin);
    reading r;
    begin_walked(&r, &file, EVENTS);
    assert_int_equal(truncate(r.path, (off_t)begin[5] + 1000), 0);
    assert_rest(&r, (const int[]){0, 1, 2, 3, 4, -1}, 3);
    assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_RECORD_TRUNCATED), 3);
    support_assert_message(slc_io_damage(r.source), r.path, begin[5], "has become shorter while it was read");
    end_reading(&r);
    support_clear(&file);
}

static void overwrite(const char *path, size_t at, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void a_file_that_is_written_to_meanwhile(void **state)
{
    (void)state;
    size_t begin[EVENTS + 1];
    support_bytes file = file_of(-1, begin);
    reading r;
    begin_walked(&r, &file, EVENTS);
    overwrite(r.path, begin[2] + HEADER + 99, "xyz", 3);
    assert_rest(&r, (const int[]){0, 1, 3, 4, 5, 6, 7, -1}, 1);
    assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_RECORD_CHECKSUM), 1);
    end_reading(&r);
    support_clear(&file);
    /* Blocks that claim something else than what the reader has seen, more and less. */
    static const uint8_t claims[][6] = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                        {0x10, 0, 0, 0xff, 0xff, 0},
                                        {0xff, 0xff, 0, 0x10, 0, 0},
                                        {0, 0, 0, 0, 0, 0}};
    for (int packed = 0; packed < SUPPORT_KINDS; packed++) {
        file = file_of(packed, begin);
        for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
            begin_walked(&r, &file, EVENTS);
            overwrite(r.path, begin[2] + HEADER + 3, claims[i], sizeof claims[i]);
            assert_rest(&r, (const int[]){0, 1, 3, 4, 5, 6, 7, -1}, 1);
            assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_RECORD_COMPRESSION), 1);
            end_reading(&r);
        }
        support_clear(&file);
    }
    /* A block that says now that it is stored as it is: a whole one, of another size than there is room. */
    file = file_of(SUPPORT_ZL, begin);
    const size_t size = begin[3] - begin[2] - HEADER - 9;
    uint8_t stored[6];
    for (int b = 0; b < 6; b++) {
        stored[b] = (uint8_t)(size >> 8 * (b % 3));
    }
    begin_walked(&r, &file, EVENTS);
    overwrite(r.path, begin[2] + HEADER + 3, stored, sizeof stored);
    overwrite(r.path, begin[2] + HEADER + 9, "no deflate", 10);
    assert_rest(&r, (const int[]){0, 1, 3, 4, 5, 6, 7, -1}, 1);
    support_assert_message(slc_io_damage(r.source), r.path, begin[2], "a block has changed");
    end_reading(&r);
    support_clear(&file);
}

static void a_file_that_grows_meanwhile(void **state)
{
    (void)state;
    size_t begin[EVENTS + 1];
    support_bytes file = file_of(-1, begin);
    reading r;
    file.size = begin[5];
    begin_walked(&r, &file, 4);
    finish(&r);
    assert_events(&r, (const int[]){0, 1, 2, 3, -1});
    overwrite(r.path, begin[5], file.at + begin[5], begin[EVENTS] - begin[5]);
    assert_int_equal(walk(&r, 4), SLC_OK);
    assert_rest(&r, (const int[]){4, 5, 6, 7, -1}, 0);
    end_reading(&r);
    support_clear(&file);
}

/* As a shell leaves it for its second command. */
static void standard_input_begins_in_the_middle(void **state)
{
    (void)state;
    size_t begin[EVENTS + 1];
    support_bytes file = file_of(-1, begin);
    char path[64];
    (void)snprintf(path, sizeof path, "%s", support_temporary(file.at, file.size));
    const int here = open(path, O_RDONLY), before = dup(STDIN_FILENO);
    assert_true(here >= 0);
    assert_true(lseek(here, (off_t)begin[3], SEEK_SET) >= 0);
    assert_true(dup2(here, STDIN_FILENO) >= 0);
    const support_outcome outcome = support_run_file("-", NULL);
    if (before >= 0) {
        assert_true(dup2(before, STDIN_FILENO) >= 0);
        (void)close(before);
    }
    (void)close(here);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(outcome.totals.events, EVENTS - 3);
    assert_int_equal(outcome.totals.bytes, file.size - begin[3]);
    for (uint32_t e = 3; e < EVENTS; e++) {
        support_bytes event = event_of(e);
        assert_int_equal(outcome.event_hash[e - 3], support_hash(event.at, event.size));
        support_clear(&event);
    }
    support_clear(&file);
}

static void walking_takes_no_memory(void **state)
{
    (void)state;
    support_bytes file = {0}, event = {.at = calloc(4 << 20, 1), .size = 4 << 20};
    assert_non_null(event.at);
    support_record(&file, 3, 0, event.at, event.size);
    support_record(&file, 3, 0, event.at, event.size);
    reading r;
    begin_walked(&r, &file, EVENTS);
    assert_int_equal(r.batch.n_events, 2);
    assert_true(r.batch.capacity < 4096);
    finish(&r);
    assert_int_equal(r.batch.n_events, 2);
    assert_memory_equal(r.batch.bytes + r.batch.offset[1], event.at, event.size);
    end_reading(&r);
    support_clear(&event);
    support_clear(&file);
}

/* More than one call of the system takes, and damage in between, which ends a call, too. */
static void many_events_in_a_batch(void **state)
{
    (void)state;
    enum { MANY = 400 };
    support_bytes file = support_file(MANY, false);
    const size_t record = file.size / MANY;
    for (int damaged = 0; damaged < 2; damaged++) {
        slc_io_source *source = NULL;
        slc_batch wanted = {0};
        reading r;
        if (damaged) {
            memset(file.at + 50 * record, 0, 30);
            memset(file.at + 200 * record + 60, 0, 30);
        }
        assert_int_equal(slc_io_open_memory(file.at, file.size, "m", NULL, &source, NULL), SLC_OK);
        assert_int_equal(slc_io_read_batch(source, MANY, SIZE_MAX, &wanted, NULL, NULL), SLC_OK);
        begin_walked(&r, &file, MANY);
        finish(&r);
        assert_int_equal(r.batch.n_events, damaged ? MANY - 2 : MANY);
        assert_int_equal(wanted.n_events, r.batch.n_events);
        for (uint32_t e = 0; e < wanted.n_events; e++) {
            assert_int_equal(r.batch.length[e], wanted.length[e]);
            assert_memory_equal(r.batch.bytes + r.batch.offset[e], wanted.bytes + wanted.offset[e],
                                wanted.length[e]);
            assert_int_equal(r.batch.file_offset[e], wanted.file_offset[e]);
        }
        end_reading(&r);
        slc_io_close(source);
        slc_batch_clear(&wanted);
    }
    support_clear(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_gives_little_at_a_time),
        cmocka_unit_test(what_cannot_be_read_is_one_event),
        cmocka_unit_test(a_file_that_is_cut_meanwhile),
        cmocka_unit_test(a_file_that_is_written_to_meanwhile),
        cmocka_unit_test(a_file_that_grows_meanwhile),
        cmocka_unit_test(standard_input_begins_in_the_middle),
        cmocka_unit_test(walking_takes_no_memory),
        cmocka_unit_test(many_events_in_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
