/* SPDX-License-Identifier: Apache-2.0
 *
 * A file with damage all over it through eight workers, which read, verify and expand its records, gives what
 * one thread makes of the same bytes out of a pipe: the same events in the same order, the same faults with
 * the same numbers, the same totals and the same first damage.
 *
 *     test_run_read [MEGABYTES]        24 and a damaged record every 0.2 MB; or, from 500 MB on, every 10 MB
 */
#include "base/bytes.h"
#include "support/cmocka_all.h"
#include "support/fault_counts.h"
#include "support/pipe.h"
#include "support/support.h"

#include <sluice/run_flow.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { POOL = 41, WORKERS = 8 };
static size_t megabytes = 24;
static char path[64];
static uint64_t n_records, n_damaged;

/* ---- the file ------------------------------------------------------------------------------------ */

/* A tiny event and much that is not the VELO's, plain or in blocks, as a record. */
static support_bytes record_of(uint32_t i)
{
    support_bytes event = support_event(i), record = {0};
    uint64_t seed = i;
    static uint8_t filler[60000], bank[sizeof filler + 16];
    for (size_t b = 0; b < sizeof filler; b++) {
        filler[b] = (uint8_t)(support_random(&seed) & (i % 7 == 3 ? 15 : 255));
    }
    for (uint32_t n = 0; n < 1 + i % 3; n++) {
        const size_t size = sizeof filler - 1000 * (support_random(&seed) % 50);
        support_append(&event, bank,
                       slc_lhcb_bank_write(bank, sizeof bank, 200, 1, (int16_t)n, filler, size));
    }
    if (i % 7 == 3) {
        support_bytes blocks = support_blocks(event.at, event.size, i % 2 == 0 ? 1 << 20 : 30000);
        support_record(&record, 3, 1, blocks.at, blocks.size);
        support_clear(&blocks);
    } else {
        support_record(&record, 1 + i % 3, 0, event.at, event.size);
    }
    support_clear(&event);
    return record;
}

static void damage(support_bytes *record, uint64_t number)
{
    switch (number % 5) {
    case 0:
        record->at[record->size / 2] ^= 4; /* the checksum tells */
        break;
    case 1:
        memset(record->at, 0, 24);
        break;
    case 2:
        slc_store_u32(record->at, 77); /* no two sizes agree */
        slc_store_u32(record->at + 4, 78);
        break;
    case 3:
        slc_store_u32(record->at + 8, 79); /* one does not: the event is kept */
        break;
    default:
        record->at[16] = 15; /* no such compression */
    }
}

static int write_file(void **state)
{
    (void)state;
    support_bytes pool[POOL], copy = {0};
    const size_t every = megabytes < 500 ? 200000 : 10000000;
    struct statvfs room;
    const bool in_memory = statvfs("/dev/shm", &room) == 0 &&
                           (uint64_t)room.f_bavail * room.f_frsize > (uint64_t)megabytes << 20;
    (void)snprintf(path, sizeof path, "%s/sluice-test-read-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    const int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < POOL; i++) {
        pool[i] = record_of(i);
    }
    bool good = true;
    uint64_t since = 0;
    for (uint64_t at = 0; at < (uint64_t)megabytes * 1000000 && good; n_records++) {
        const support_bytes *next = &pool[n_records % POOL];
        copy.size = 0;
        support_append(&copy, next->at, next->size);
        since += next->size;
        if (since > every) {
            since = 0;
            damage(&copy, n_damaged++);
        }
        good = fwrite(copy.at, 1, copy.size, file) == copy.size;
        at += copy.size;
    }
    for (uint32_t i = 0; i < POOL; i++) {
        support_clear(&pool[i]);
    }
    support_clear(&copy);
    return fclose(file) == 0 && good ? 0 : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- what comes of it ---------------------------------------------------------------------------- */

typedef struct seen {
    uint64_t hash, offset, number;
} seen;

typedef struct outcome {
    seen *events;
    size_t n, capacity;
    slc_faults faults;
    slc_io_totals totals;
    char damage[512];
} outcome;

static uint64_t hash_of(const uint8_t *at, size_t size)
{
    uint64_t hash = size;
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash ^ support_hash(at + i, size - i);
}

static seen seen_of(const slc_batch *batch, uint32_t e)
{
    return (seen){hash_of(batch->bytes + batch->offset[e], batch->length[e]), batch->file_offset[e],
                  batch->record[e].number};
}

static void keep(outcome *to, const seen *event)
{
    if (to->n == to->capacity) {
        to->capacity = 2 * to->capacity + 1000;
        to->events = realloc(to->events, to->capacity * sizeof *to->events);
        assert_non_null(to->events);
    }
    to->events[to->n++] = *event;
}

/* Another process writes the file into a pipe, of which nothing can be left out. */
static int pipe_of_file(pid_t *child)
{
    int to;
    const int end = pipe_begin(child, &to);
    if (end >= 0) {
        return end;
    }
    static uint8_t part[1 << 16];
    const int file = open(path, O_RDONLY);
    for (ssize_t n; (n = read(file, part, sizeof part)) > 0;) {
        for (ssize_t done = 0, more; done < n; done += more) {
            more = write(to, part + done, (size_t)(n - done));
            if (more <= 0) {
                _exit(1);
            }
        }
    }
    _exit(0);
}

static outcome read_by_one(void)
{
    outcome to = {.n = 0};
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    pid_t child;
    char name[32];
    const int end = pipe_of_file(&child);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", end);
    assert_int_equal(slc_io_open(name, NULL, &source, NULL), SLC_OK);
    while (slc_io_read_batch(source, 100, SIZE_MAX, &batch, &to.faults, NULL) == SLC_OK) {
        for (uint32_t e = 0; e < batch.n_events; e++) {
            const seen event = seen_of(&batch, e);
            keep(&to, &event);
        }
    }
    slc_io_totals_of(source, &to.totals);
    const char *text = slc_io_damage(source);
    assert_non_null(text);
    (void)snprintf(to.damage, sizeof to.damage, "%s", text + strlen(name));
    slc_io_close(source);
    slc_batch_clear(&batch);
    pipe_end(end, child);
    return to;
}

static slc_status look(void *context, slc_flow_item *item, slc_error *error)
{
    outcome *own = item->user;
    (void)context;
    (void)error;
    own->n = 0;
    for (uint32_t e = 0; e < item->batch.n_events; e++) {
        const seen event = seen_of(&item->batch, e);
        keep(own, &event);
    }
    return SLC_OK;
}

static void clear(void *user)
{
    free(((outcome *)user)->events);
}

/* `alone`: the bytes are reading's again before an item is handed out. */
static outcome read_by_many(const char *name, bool alone)
{
    outcome to = {.n = 0};
    slc_velo_config velo;
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_error error;
    const char *const paths[] = {name};
    slc_velo_config_default(&velo);
    slc_flow_config_default(&config);
    const slc_flow_velo_setup setup = {.config = &velo};
    config.paths = paths;
    config.n_paths = 1;
    config.keep_going = true;
    config.results_alone = alone;
    config.exec.threads = WORKERS;
    config.work = look;
    config.user_bytes = sizeof(outcome);
    config.user_clear = clear;
    assert_int_equal(slc_flow_open(&config, &slc_flow_velo, &setup, &flow, &error), SLC_OK);
    while (slc_flow_next(flow, &item, &error) == SLC_OK) {
        slc_faults_merge(&to.faults, &item->reading);
        const outcome *own = item->user;
        for (size_t i = 0; !item->ended && i < own->n; i++) {
            keep(&to, &own->events[i]);
        }
        if (item->ended) {
            assert_int_equal(item->status, SLC_END);
            to.totals = item->totals;
            assert_int_equal(strncmp(item->damage, name, strlen(name)), 0);
            (void)snprintf(to.damage, sizeof to.damage, "%s", item->damage + strlen(name));
        } else {
            assert_int_equal(item->status, SLC_OK);
            assert_int_equal(item->batch.n_events, alone ? 0 : own->n);
            assert_true(item->batch.size > 0 && (item->batch.bytes == NULL) == alone);
        }
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    return to;
}

static void assert_same(const outcome *many, const outcome *one)
{
    assert_int_equal(many->n, one->n);
    assert_memory_equal(many->events, one->events, one->n * sizeof *one->events);
    assert_memory_equal(&many->totals, &one->totals, sizeof one->totals);
    assert_true(fault_counts_equal(&many->faults, &one->faults));
    assert_int_equal(many->faults.n_kept, one->faults.n_kept);
    for (uint32_t i = 0; i < one->faults.n_kept; i++) {
        assert_int_equal(many->faults.kept[i].event, one->faults.kept[i].event);
        assert_int_equal(many->faults.kept[i].offset, one->faults.kept[i].offset);
        assert_int_equal(many->faults.kept[i].code, one->faults.kept[i].code);
    }
    assert_string_equal(many->damage, one->damage);
}

static void eight_workers_read_as_one_thread(void **state)
{
    (void)state;
    outcome one = read_by_one();
    assert_int_equal(one.totals.events + one.totals.lost_events, n_records);
    assert_int_equal(one.totals.lost_events, n_damaged - (n_damaged + 1) / 5);
    assert_int_equal(slc_faults_total(&one.faults), n_damaged);
    for (int k = 0; k < 4; k++) { /* the file or a pipe, with and without its bytes afterwards */
        pid_t child = 0;
        char name[64];
        const int end = k % 2 == 1 ? pipe_of_file(&child) : -1;
        (void)snprintf(name, sizeof name, "%s", path);
        if (end >= 0) {
            (void)snprintf(name, sizeof name, "/dev/fd/%d", end);
        }
        outcome many = read_by_many(name, k / 2 == 1);
        assert_same(&many, &one);
        free(many.events);
        if (end >= 0) {
            pipe_end(end, child);
        }
    }
    (void)printf("%llu records, %llu damaged\n", (unsigned long long)n_records,
                 (unsigned long long)n_damaged);
    free(one.events);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_workers_read_as_one_thread)};
    megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : megabytes;
    return cmocka_run_group_tests(tests, write_file, remove_file);
}
