/* SPDX-License-Identifier: Apache-2.0
 * Raw files of PET that are cut at every byte, or wrong at any: what is whole is read, what is not is told.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/pet_raw.h"

enum { FRAMES = 60, BLOCKS = 6 };

/* Six blocks of datagrams with 4 frames each, but for the last of each block: 2 frames. */
static uint8_t *make_file(size_t *size, slc_pet_frame **frames)
{
    *frames = raw_frames(FRAMES, 2);
    *size = SLC_PET_RAW_HEAD + BLOCKS * (SLC_PET_RAW_BLOCK + 160);
    slc_io_pet_raw_writer *writer = NULL;
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config)};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, NULL), SLC_OK);
    for (size_t i = 0; i < BLOCKS; i++) {
        const uint16_t sizes[] = {64, 64, 32}, sockets[] = {1, 1, 1};
        const uint64_t times[] = {i, i, i};
        assert_int_equal(slc_io_pet_raw_write(writer, *frames + i * 10, sizes, times, sockets, 3, NULL),
                         SLC_OK);
    }
    assert_int_equal(slc_io_pet_raw_finish(writer, NULL), SLC_OK);
    size_t there = 0;
    uint8_t *bytes = (uint8_t *)pet_bytes(path, &there);
    assert_int_equal(there, *size);
    return bytes;
}

static slc_pet_frame *read_memory(const uint8_t *bytes, size_t size, size_t most, size_t *n,
                                  slc_faults *faults)
{
    /* In memory of exactly this size, so that a read beyond the end is noticed. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    slc_io_pet_raw *raw = NULL;
    slc_status status;
    assert_int_equal(slc_io_pet_raw_open_memory(copy, size, "memory", &raw, NULL), SLC_OK);
    slc_pet_frame *frames = raw_read_all(raw, most, n, faults, &status);
    assert_int_equal(status, SLC_END);
    free(copy);
    return frames;
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    size_t size = 0;
    slc_pet_frame *frames = NULL;
    uint8_t *bytes = make_file(&size, &frames);
    for (size_t cut = SLC_PET_RAW_HEAD; cut <= size; cut++) {
        const size_t block = (cut - SLC_PET_RAW_HEAD) / 208, rest = (cut - SLC_PET_RAW_HEAD) % 208;
        const size_t whole = rest >= SLC_PET_RAW_BLOCK ? (rest - SLC_PET_RAW_BLOCK) / 64 : 0;
        slc_faults faults = {0};
        size_t n = 0;
        slc_pet_frame *read = read_memory(bytes, cut, 7, &n, &faults);
        assert_int_equal(n, block * 10 + whole * 4);
        assert_memory_equal(read, frames, n * sizeof *read);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_BLOCK), rest > 0);
        assert_int_equal(slc_faults_total(&faults), rest > 0);
        if (rest > 0) {
            assert_int_equal(faults.kept[0].offset, SLC_PET_RAW_HEAD + block * 208);
            assert_int_equal(faults.kept[0].event, block * 3 + whole);
        }
        free(read);
    }
    for (size_t cut = sizeof slc_io_pet_raw_magic; cut < SLC_PET_RAW_HEAD; cut++) { /* in the file's head */
        slc_faults faults = {0};
        size_t n = 0;
        free(read_memory(bytes, cut, 7, &n, &faults));
        assert_int_equal(n, 0);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_BLOCK), 1);
    }
    free(bytes);
    free(frames);
}

/* Any wrong byte costs its block and nothing else; in the file's head it costs nothing. */
static void test_every_byte_wrong(void **state)
{
    (void)state;
    size_t size = 0;
    slc_pet_frame *frames = NULL;
    uint8_t *bytes = make_file(&size, &frames);
    for (size_t at = 0; at < size; at++) {
        if (at >= 8 && at < 12) {
            continue; /* the version: test_versions */
        }
        bytes[at] ^= 0x41;
        slc_faults faults = {0};
        size_t n = 0;
        slc_pet_frame *read = read_memory(bytes, size, 11, &n, &faults);
        bytes[at] ^= 0x41;
        const size_t gone = at < SLC_PET_RAW_HEAD ? BLOCKS : (at - SLC_PET_RAW_HEAD) / 208;
        assert_int_equal(n, gone == BLOCKS ? FRAMES : FRAMES - 10);
        assert_memory_equal(read, frames, (gone == BLOCKS ? FRAMES : gone * 10) * sizeof *read);
        if (gone < BLOCKS) {
            assert_memory_equal(read + gone * 10, frames + (gone + 1) * 10,
                                (BLOCKS - 1 - gone) * 10 * sizeof *read);
        }
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_BLOCK), 1);
        assert_int_equal(faults.kept[0].offset, gone == BLOCKS ? 0 : SLC_PET_RAW_HEAD + gone * 208);
        free(read);
    }
    free(bytes);
    free(frames);
}

/* Bytes that are missing, or too many, anywhere. */
static void test_missing_and_more(void **state)
{
    (void)state;
    size_t size = 0;
    slc_pet_frame *frames = NULL;
    uint8_t *bytes = make_file(&size, &frames), *other = malloc(size + 5);
    assert_non_null(other);
    for (size_t at = SLC_PET_RAW_HEAD; at + 5 < size; at += 3) {
        for (int more = 0; more < 2; more++) {
            const size_t from = more == 1 ? at : at + 5;
            memcpy(other, bytes, at);
            memset(other + at, 0x9e, 5);
            memcpy(other + at + (more == 1 ? 5 : 0), bytes + from, size - from);
            slc_faults faults = {0};
            size_t n = 0;
            slc_pet_frame *read = read_memory(other, size - from + at + (more == 1 ? 5 : 0), 11, &n, &faults);
            /* Five bytes touch two blocks at most; between blocks, none is lost. */
            assert_in_range(n, FRAMES - 20, FRAMES);
            assert_true(slc_faults_of(&faults, SLC_FAULT_PET_BLOCK) >= 1);
            /* The last block is as if it were cut: its bytes cannot be confirmed. */
            const bool at_end = more == 0 && at + 5 > size - 208;
            const size_t sure = at_end && n > FRAMES - 10 ? FRAMES - 10 : n;
            for (size_t i = 0, k = 0; i < sure; i++, k++) { /* what is read is right, and in order */
                while (k < FRAMES && memcmp(&read[i], &frames[k], sizeof *read) != 0) {
                    k++;
                }
                assert_true(k < FRAMES);
            }
            free(read);
        }
    }
    free(other);
    free(bytes);
    free(frames);
}

static void test_versions(void **state)
{
    (void)state;
    size_t size = 0;
    slc_pet_frame *frames = NULL;
    uint8_t *bytes = make_file(&size, &frames);
    slc_io_pet_raw *raw = NULL;
    slc_error error = {0};
    slc_store_u32(bytes + 8, 3);
    slc_store_u64(bytes + 56, slc_io_pet_raw_hash(bytes, 56));
    assert_int_equal(slc_io_pet_raw_open_memory(bytes, size, "new.raw", &raw, &error), SLC_ERR_UNSUPPORTED);
    assert_null(raw);
    assert_string_equal(error.text, "new.raw: byte 8: version 3 of raw files is not known");
    free(bytes);
    free(frames);
}

static void test_bare(void **state)
{
    (void)state;
    slc_pet_frame *frames = raw_frames(5000, 4);
    for (size_t tail = 0; tail < 16; tail++) {
        slc_faults faults = {0};
        size_t n = 0;
        slc_pet_frame *read = read_memory((const uint8_t *)frames, 4990 * 16 + tail, 77, &n, &faults);
        assert_int_equal(n, 4990);
        assert_memory_equal(read, frames, n * 16);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_CUT), tail > 0);
        assert_int_equal(slc_faults_total(&faults), tail > 0);
        free(read);
    }
    size_t n = 1;
    slc_faults faults = {0};
    free(read_memory((const uint8_t *)frames, 0, 10, &n, &faults));
    assert_int_equal(n, 0);
    slc_io_pet_raw *raw = NULL;
    assert_int_equal(slc_io_pet_raw_open_memory(frames, 16, "m", &raw, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_read(raw, frames, NULL, 0, &n, NULL, NULL), SLC_ERR_USAGE);
    slc_io_pet_raw_close(raw);
    assert_int_equal(slc_io_pet_raw_open("/nowhere/at/all", &raw, NULL), SLC_ERR_IO);
    assert_null(raw);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_every_byte_wrong, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_missing_and_more, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_versions, make_folder, remove_all),
        cmocka_unit_test(test_bare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
