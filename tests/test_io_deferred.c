/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading in two steps, as threads do it, gives what reading at once gives: the same events, the same faults
 * with the same numbers, the same totals and the same first damage; for plain and compressed records, whole
 * ones and damaged ones, whatever the size of the batches and in whichever order they are finished. So does
 * reading from a file, where records are read into the batch without being looked at before.
 */
#include "io/io_deferred.h"
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/fault_counts.h"
#include "support/support.h"
#include "support/temporary_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 64, MOST_BATCHES = 64 };

typedef struct outcome {
    uint32_t n_events;
    uint64_t hash[MOST_EVENTS], file_offset[MOST_EVENTS];
    slc_faults faults;
    slc_io_totals totals;
    char damage[512];
} outcome;

static void take_events(outcome *to, const slc_batch *batch)
{
    for (uint32_t e = 0; e < batch->n_events; e++) {
        assert_true(to->n_events < MOST_EVENTS);
        assert_int_equal(batch->offset[e] % 8, 0);
        assert_true(batch->offset[e] + batch->length[e] <= batch->size);
        to->hash[to->n_events] = support_hash(batch->bytes + batch->offset[e], batch->length[e]);
        to->file_offset[to->n_events++] = batch->file_offset[e];
    }
}

static void take_rest(outcome *to, slc_io_source *source)
{
    slc_io_totals_of(source, &to->totals);
    if (slc_io_damage(source) != NULL) {
        (void)snprintf(to->damage, sizeof to->damage, "%s", slc_io_damage(source));
    }
    slc_io_close(source);
}

/* From memory, or from a file of the same name. */
static slc_status open_bytes(const support_bytes *file, bool from_file, slc_io_source **source)
{
    if (!from_file) {
        return slc_io_open_memory(file->at, file->size, "m.mdf", NULL, source, NULL);
    }
    FILE *out = fopen("m.mdf", "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file->at, 1, file->size, out), file->size);
    assert_int_equal(fclose(out), 0);
    const slc_status status = slc_io_open("m.mdf", NULL, source, NULL);
    assert_int_equal(unlink("m.mdf"), 0);
    return status;
}

static bool read_at_once(const support_bytes *file, uint32_t most, outcome *to)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    memset(to, 0, sizeof *to);
    if (slc_io_open_memory(file->at, file->size, "m.mdf", NULL, &source, NULL) != SLC_OK) {
        return false;
    }
    slc_status status;
    do {
        slc_faults faults = {.n_kept = 0};
        status = slc_io_read_batch(source, most, SIZE_MAX, &batch, &faults, NULL);
        slc_faults_merge(&to->faults, &faults);
        if (status == SLC_OK) {
            take_events(to, &batch);
        }
    } while (status == SLC_OK);
    assert_int_equal(status, SLC_END);
    slc_batch_clear(&batch);
    take_rest(to, source);
    return true;
}

typedef struct under_way {
    slc_batch batch;
    slc_io_deferred *deferred;
    slc_faults faults;
} under_way;

static void read_in_steps(const support_bytes *file, uint32_t most, bool backwards, bool from_file,
                          outcome *to)
{
    static under_way all[MOST_BATCHES];
    slc_io_source *source = NULL;
    slc_io_losses losses = {0};
    uint32_t n = 0;
    memset(to, 0, sizeof *to);
    memset(all, 0, sizeof all);
    assert_int_equal(open_bytes(file, from_file, &source), SLC_OK);
    slc_status status;
    do {
        assert_true(n < MOST_BATCHES);
        assert_int_equal(slc_io_deferred_open(&all[n].deferred, NULL), SLC_OK);
        status = slc_io_read_batch_deferred(source, most, SIZE_MAX, &all[n].batch, all[n].deferred,
                                            &all[n].faults, NULL);
        n++;
    } while (status == SLC_OK);
    assert_int_equal(status, SLC_END);
    for (uint32_t i = 0; i < n; i++) {
        under_way *u = &all[backwards ? n - 1 - i : i];
        assert_int_equal(slc_io_finish_batch(&u->batch, u->deferred, &u->faults, NULL), SLC_OK);
    }
    for (uint32_t i = 0; i < n; i++) {
        under_way *u = &all[i];
        for (uint32_t k = 0; k < u->faults.n_kept; k++) {
            u->faults.kept[k].event -= losses.events;
        }
        assert_true(u->batch.n_events == 0 || u->batch.first_event - losses.events == to->n_events);
        slc_faults_merge(&to->faults, &u->faults);
        take_events(to, &u->batch);
        slc_io_losses_add(&losses, u->deferred);
        slc_io_deferred_close(u->deferred);
        slc_batch_clear(&u->batch);
    }
    slc_io_settle(source, &losses);
    take_rest(to, source);
}

static void compare(const outcome *got, const outcome *wanted)
{
    assert_int_equal(got->n_events, wanted->n_events);
    assert_memory_equal(got->hash, wanted->hash, sizeof got->hash);
    assert_memory_equal(got->file_offset, wanted->file_offset, sizeof got->file_offset);
    assert_true(fault_counts_equal(&got->faults, &wanted->faults));
    assert_int_equal(got->faults.n_kept, wanted->faults.n_kept);
    for (uint32_t i = 0; i < got->faults.n_kept; i++) {
        const slc_fault *a = &got->faults.kept[i], *b = &wanted->faults.kept[i];
        assert_int_equal(a->event, b->event);
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->code, b->code);
        assert_int_equal(a->module, b->module);
    }
    assert_memory_equal(&got->totals, &wanted->totals, sizeof got->totals);
    assert_string_equal(got->damage, wanted->damage);
}

static void compare_ways(const support_bytes *file)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 100};
    static outcome wanted, got;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (read_at_once(file, sizes[i], &wanted)) {
            read_in_steps(file, sizes[i], i % 2 == 1, false, &got);
            compare(&got, &wanted);
            read_in_steps(file, sizes[i], i % 2 == 1, true, &got);
            compare(&got, &wanted);
        }
    }
}

/* Tiny events, plain and compressed as the bits of `kinds` say. */
static support_bytes mixed_file(uint32_t n_events, uint64_t kinds)
{
    support_bytes file = {0};
    for (uint32_t e = 0; e < n_events; e++) {
        support_bytes event = support_event(e), blocks = support_blocks(event.at, event.size, 300);
        const bool packed = (kinds >> e & 1) != 0;
        const support_bytes *payload = packed ? &blocks : &event;
        support_record(&file, 1 + e % 3, packed ? 1 : 0, payload->at, payload->size);
        support_clear(&event);
        support_clear(&blocks);
    }
    return file;
}

static void whole_files_are_the_same(void **state)
{
    (void)state;
    static outcome wanted;
    static const uint64_t kinds[] = {0, UINT64_MAX, 0x5a, 0x1e3};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (uint32_t n = 1; n <= 20; n += n < 6 ? 1 : 7) {
            support_bytes file = mixed_file(n, kinds[k]);
            assert_true(read_at_once(&file, 4, &wanted));
            assert_int_equal(wanted.n_events, n);
            assert_int_equal(wanted.totals.checksums, n);
            compare_ways(&file);
            support_clear(&file);
        }
    }
}

static void damaged_files_are_the_same(void **state)
{
    (void)state;
    uint64_t seed = 20;
    static outcome wanted;
    uint64_t checksum_faults = 0, lost = 0;
    for (int round = 0; round < 300; round++) {
        support_bytes file = mixed_file(14, support_random(&seed));
        const int flips = 1 + (int)(support_random(&seed) % 4);
        for (int i = 0; i < flips; i++) {
            file.at[support_random(&seed) % file.size] ^= (uint8_t)(1U << support_random(&seed) % 8);
        }
        if (round % 3 == 0) { /* some of these lose a header */
            memset(file.at + support_random(&seed) % (file.size - 24), 0, 24);
        }
        compare_ways(&file);
        if (read_at_once(&file, 5, &wanted)) {
            checksum_faults += slc_faults_of(&wanted.faults, SLC_FAULT_RECORD_CHECKSUM);
            lost += wanted.totals.lost_events;
        }
        support_clear(&file);
    }
    assert_true(checksum_faults > 100); /* the damage is of the kind that is found late */
    assert_true(lost > checksum_faults);
}

/* Records whose checksum is 0 carry none: what does not expand is then found by expanding. */
static void damaged_blocks_are_the_same(void **state)
{
    (void)state;
    uint64_t seed = 21;
    static outcome wanted;
    uint64_t faults = 0;
    for (int round = 0; round < 200; round++) {
        support_bytes file = {0};
        for (uint32_t e = 0; e < 12; e++) {
            support_bytes event = support_event(e), blocks = support_blocks(event.at, event.size, 200);
            const size_t begin = file.size;
            support_record(&file, 3, 1, blocks.at, blocks.size);
            memset(file.at + begin + 12, 0, 4); /* the checksum */
            if (support_random(&seed) % 4 == 0) {
                const size_t length = file.size - begin;
                file.at[begin + 60 + support_random(&seed) % (length - 60)] ^= 0x10;
            }
            support_clear(&event);
            support_clear(&blocks);
        }
        compare_ways(&file);
        assert_true(read_at_once(&file, 5, &wanted));
        faults += slc_faults_of(&wanted.faults, SLC_FAULT_RECORD_COMPRESSION);
        support_clear(&file);
    }
    assert_true(faults > 200);
}

/* Blocks that say that they become nothing, sound and damaged, alone and beside others. */
static void empty_blocks_are_the_same(void **state)
{
    (void)state;
    static const uint8_t sound[] = {'Z', 'L', 8, 8, 0, 0, 0, 0, 0, 0x78, 0x9c, 3, 0, 0, 0, 0, 1};
    static outcome wanted;
    for (int kind = 0; kind < 8; kind++) {
        uint8_t block[sizeof sound];
        memcpy(block, sound, sizeof sound);
        block[11] = (kind & 1) != 0 ? 0xff : sound[11]; /* no such kind of deflated block */
        support_bytes file = {0};
        for (int e = 0; e < 3; e++) {
            if (e == 0 || (kind >> e & 1) != 0) {
                support_bytes event = support_event(1), blocks = support_blocks(event.at, event.size, 300);
                support_record(&file, 3, 1, e == 0 ? block : blocks.at, e == 0 ? sizeof block : blocks.size);
                support_clear(&event);
                support_clear(&blocks);
            }
        }
        compare_ways(&file);
        assert_true(read_at_once(&file, 5, &wanted));
        assert_int_equal(wanted.totals.lost_events, kind & 1);
        assert_int_equal(wanted.n_events, 1 - (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1));
        support_clear(&file);
    }
}

/* More than is read ahead when a file is opened, so that records are cut by what has been read: whole, and
 * cut off at bytes of all kinds. */
static void large_files_are_the_same(void **state)
{
    (void)state;
    enum { EVENTS = 40, BYTES = 60000 };
    static uint8_t payload[BYTES];
    static outcome wanted, got;
    support_bytes file = {0};
    uint64_t seed = 22;
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (size_t i = 0; i < BYTES; i++) {
            payload[i] = (uint8_t)support_random(&seed);
        }
        payload[0] = 0xcb; /* begins like a bank, so that its header can be found */
        payload[1] = 0xcb;
        support_record(&file, 1 + e % 3, 0, payload, BYTES - 4 * (support_random(&seed) % 2000));
    }
    const size_t whole = file.size;
    assert_true(whole > (2 << 20));
    for (int round = 0; round < 60; round++) {
        file.size = round == 0 ? whole : whole / 2 + support_random(&seed) % (whole / 2);
        if (round % 4 == 1) {
            file.at[file.size - 1 - support_random(&seed) % 300000] ^= 1;
        }
        assert_true(read_at_once(&file, 7, &wanted));
        read_in_steps(&file, 7, false, true, &got);
        compare(&got, &wanted);
    }
    assert_true(slc_faults_of(&wanted.faults, SLC_FAULT_RECORD_TRUNCATED) == 1);
    assert_true(slc_faults_of(&wanted.faults, SLC_FAULT_RECORD_CHECKSUM) > 2);
    file.size = whole;
    support_clear(&file);
}

/* Tiny files, cut off at every byte. */
static void cut_files_are_the_same(void **state)
{
    (void)state;
    static outcome wanted, got;
    support_bytes file = mixed_file(4, 0x4);
    const size_t whole = file.size;
    for (file.size = 1; file.size <= whole; file.size++) {
        if (read_at_once(&file, 2, &wanted)) {
            read_in_steps(&file, 2, false, true, &got);
            compare(&got, &wanted);
        }
    }
    file.size = whole;
    support_clear(&file);
}

/* The files are in a folder of their own. */
static int enter_folder(void **state)
{
    return make_folder(state) == 0 ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 ? remove_folder(state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_the_same),    cmocka_unit_test(damaged_files_are_the_same),
        cmocka_unit_test(damaged_blocks_are_the_same), cmocka_unit_test(large_files_are_the_same),
        cmocka_unit_test(cut_files_are_the_same),      cmocka_unit_test(empty_blocks_are_the_same),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
