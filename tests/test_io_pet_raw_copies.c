/* SPDX-License-Identifier: Apache-2.0
 * Raw files of datagrams with sequence counters: each datagram is read once, wherever its copies are; foreign
 * ones are left out and move nothing; what a module skips over is used when the next one confirms it; the
 * same however many frames are asked for, and over the files of an acquisition.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/pet_raw.h"

#include <unistd.h>

enum { FRAMES = 3, HEADER = 8, SIZE = HEADER + FRAMES * 16, MOST = 400 };

/* Datagrams as they come, and the frames that are to be read of them. */
typedef struct played {
    uint8_t bytes[MOST * SIZE];
    uint16_t sizes[MOST], sockets[MOST];
    uint64_t times[MOST];
    size_t n, n_bytes;
    slc_pet_frame wanted[MOST * FRAMES];
    uint64_t wanted_ns[MOST * FRAMES]; /* when they were received */
    size_t n_wanted;
} played;

static void frames_of(slc_pet_frame *frames, uint64_t number, uint8_t module, uint8_t sender)
{
    memset(frames, 0, FRAMES * sizeof *frames);
    for (uint64_t i = 0; i < FRAMES; i++) {
        frames[i].module = module;
        frames[i].energy[0] = sender;
        for (int k = 0; k < 8; k++) {
            frames[i].time[k] = (uint8_t)((number * FRAMES + i) >> (56 - 8 * k));
        }
    }
}

/* Of a size of its own, if it is malformed or has no frame. */
static void play(played *p, uint64_t number, uint8_t module, uint8_t sender, uint16_t size)
{
    uint8_t *at = p->bytes + p->n_bytes;
    slc_pet_frame frames[FRAMES];
    assert_true(p->n < MOST && size <= SIZE);
    frames_of(frames, number, module, sender);
    uint8_t whole[SIZE];
    slc_store_u64(whole, number);
    memcpy(whole + HEADER, frames, sizeof frames);
    memcpy(at, whole, size);
    p->sizes[p->n] = size;
    p->sockets[p->n] = 0;
    p->times[p->n] = p->n / 7; /* a block has some */
    p->n++;
    p->n_bytes += size;
}

static void want(played *p, uint64_t number, uint8_t module, uint8_t sender, size_t frames)
{
    slc_pet_frame all[FRAMES];
    frames_of(all, number, module, sender);
    memcpy(p->wanted + p->n_wanted, all, frames * sizeof *all);
    for (size_t i = 0; i < frames; i++) {
        p->wanted_ns[p->n_wanted + i] = (p->n - 1) / 7;
    }
    p->n_wanted += frames;
}

static void both(played *p, uint64_t number, uint8_t module)
{
    play(p, number, module, 0, SIZE);
    want(p, number, module, 0, FRAMES);
}

static void write_all(const played *p, uint64_t rotate_bytes)
{
    slc_io_pet_raw_writer *writer = NULL;
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config),
                                          .replace = true,
                                          .rotate_bytes = rotate_bytes,
                                          .payload = {.header_bytes = HEADER, .sequence_bytes = 8}};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_write(writer, p->bytes, p->sizes, p->times, p->sockets, p->n, NULL),
                     SLC_OK);
    assert_int_equal(slc_io_pet_raw_finish(writer, NULL), SLC_OK);
}

/* Reads the file and those that follow it. Returns how many there were. */
static size_t read_all(const played *p, size_t most, slc_io_pet_module *modules)
{
    slc_io_pet_raw_names names = {.n = 0};
    slc_io_pet_raw *before = NULL;
    slc_pet_frame *frames = malloc((MOST * FRAMES + most) * sizeof *frames);
    uint64_t *times = malloc((MOST * FRAMES + most) * sizeof *times);
    size_t n = 0, got = 0;
    assert_true(frames != NULL && times != NULL);
    assert_int_equal(slc_io_pet_raw_following(path, &names, NULL), SLC_OK);
    for (size_t i = 0; i <= names.n; i++) {
        slc_io_pet_raw *raw = NULL;
        assert_int_equal(slc_io_pet_raw_open(i == 0 ? path : names.path[i - 1], &raw, NULL), SLC_OK);
        assert_true(i == 0 || slc_io_pet_raw_go_on(raw, before));
        slc_io_pet_raw_close(before);
        before = raw;
        while (slc_io_pet_raw_read(raw, frames + n, times + n, most, &got, NULL, NULL) == SLC_OK) {
            n += got;
            assert_true(n <= MOST * FRAMES);
        }
    }
    assert_non_null(slc_io_pet_raw_modules(before));
    memcpy(modules, slc_io_pet_raw_modules(before), SLC_PET_MAX_MODULES * sizeof *modules);
    slc_io_pet_raw_close(before);
    assert_int_equal(n, p->n_wanted);
    assert_memory_equal(frames, p->wanted, n * sizeof *frames);
    assert_memory_equal(times, p->wanted_ns, n * sizeof *times);
    free(frames);
    free(times);
    const size_t files = 1 + names.n;
    free(names.path);
    return files;
}

static void expect(const slc_io_pet_module *got, const slc_io_pet_module *wanted)
{
    assert_int_equal(got->datagrams, wanted->datagrams);
    assert_int_equal(got->frames, wanted->frames);
    assert_int_equal(got->malformed, wanted->malformed);
    assert_int_equal(got->lost, wanted->lost);
    assert_int_equal(got->reordered, wanted->reordered);
    assert_int_equal(got->repeated, wanted->repeated);
    assert_int_equal(got->foreign, wanted->foreign);
    assert_int_equal(got->restarts, wanted->restarts);
}

/* Two modules; of module 5 copies at once and later, late comers, strangers with any number, a large gap with
 * what comes behind it, malformed datagrams; module 6 counts on. */
static played *make(void)
{
    played *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (uint64_t i = 0; i < 100; i++) {
        if (i == 50) { /* overtaken */
            both(p, 151, 5);
            both(p, 150, 5);
        } else if (i != 51 && i != 71) {
            both(p, 100 + i, 5);
        }
        both(p, 7000 + i, 6);
        if (i % 10 == 3) { /* copies, of now and of before */
            play(p, 100 + i, 5, 0, SIZE);
            play(p, 100 + i - 3, 5, 0, SIZE);
        }
        if (i % 20 == 5) {
            play(p, 4213729367567 + i * i * 99999, 5, 9, SIZE);
        }
    }
    const size_t held = p->n;
    play(p, 1000000, 5, 0, SIZE); /* until the next */
    both(p, 7100, 6);
    for (int i = 0; i < 9; i++) { /* so that the next comes later */
        both(p, 7101 + (uint64_t)i, 6);
    }
    want(p, 1000000, 5, 0, FRAMES);
    for (size_t i = p->n_wanted - FRAMES; i < p->n_wanted; i++) {
        p->wanted_ns[i] = held / 7;
    }
    both(p, 1000003, 5);
    play(p, 1000004, 5, 0, HEADER + 9); /* no whole frame: no module */
    play(p, 1000005, 5, 0, HEADER + 16 + 9);
    want(p, 1000005, 5, 0, 1);
    both(p, 1000006, 5);
    both(p, 1000009, 5);
    play(p, 1000007, 5, 0, HEADER + 2);
    play(p, 1000008, 5, 0, 7); /* without its number: lost */
    play(p, 88888, 5, 9, SIZE);
    return p;
}

static void test_each_once(void **state)
{
    (void)state;
    played *p = make();
    slc_io_pet_module m[SLC_PET_MAX_MODULES];
    static const size_t most[] = {1, 2, 5, 64, 1000};
    for (uint64_t rotate = 0; rotate < 9000; rotate += 1500) {
        write_all(p, rotate);
        for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
            const size_t files = read_all(p, most[i], m);
            assert_true(rotate == 0 ? files == 1 : files > 2);
            const slc_io_pet_module five = {.datagrams = 99 + 20 + 5 + 2 + 3 + 1,
                                            .frames = (99 + 20 + 5 + 2 + 2 + 1) * FRAMES + 1,
                                            .malformed = 1,
                                            .lost = 1 + (1000000 - 200) + 2 + 1,
                                            .reordered = 1,
                                            .repeated = 20,
                                            .foreign = 5 + 1};
            expect(&m[5], &five);
            expect(&m[6], &(slc_io_pet_module){.datagrams = 110, .frames = 110 * FRAMES});
        }
    }
    free(p);
}

/* A file of the series that is not read: its datagrams are missing by their own numbers, and not once more by
 * the modules'. Nothing goes over from another acquisition. */
static void test_a_file_is_missing(void **state)
{
    (void)state;
    played *p = calloc(1, sizeof *p);
    slc_io_pet_raw_names names = {.n = 0};
    slc_io_pet_raw *raw[2] = {NULL};
    slc_pet_frame frames[MOST];
    size_t n = 0;
    assert_non_null(p);
    for (uint64_t i = 0; i < 200; i++) {
        both(p, i, 5);
    }
    write_all(p, 2000);
    assert_int_equal(slc_io_pet_raw_following(path, &names, NULL), SLC_OK);
    assert_true(names.n > 2);
    assert_int_equal(slc_io_pet_raw_open(path, &raw[0], NULL), SLC_OK);
    while (slc_io_pet_raw_read(raw[0], frames, NULL, MOST, &n, NULL, NULL) == SLC_OK) {
    }
    assert_int_equal(slc_io_pet_raw_open(names.path[1], &raw[1], NULL), SLC_OK);
    assert_true(slc_io_pet_raw_go_on(raw[1], raw[0]));
    while (slc_io_pet_raw_read(raw[1], frames, NULL, MOST, &n, NULL, NULL) == SLC_OK) {
    }
    assert_int_equal(slc_io_pet_raw_modules(raw[1])[5].lost, 0);
    assert_true(slc_io_pet_raw_modules(raw[1])[5].datagrams > 30);
    slc_io_pet_raw_close(raw[0]);
    assert_int_equal(rename(names.path[0], pet_in_folder("other")), 0);
    write_all(p, 0);
    assert_int_equal(slc_io_pet_raw_open(path, &raw[0], NULL), SLC_OK);
    assert_false(slc_io_pet_raw_go_on(raw[0], raw[1]));
    slc_io_pet_raw_close(raw[0]);
    slc_io_pet_raw_close(raw[1]);
    free(names.path);
    free(p);
}

/* Without counters nothing is known, and all is used. */
static void test_without_counters(void **state)
{
    (void)state;
    slc_io_pet_raw_writer *writer = NULL;
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config),
                                          .payload = {.header_bytes = 0}};
    slc_pet_frame *frames = raw_frames(2, 1), read[4];
    const uint16_t sizes[2] = {32, 32}, sockets[2] = {0};
    const uint64_t times[2] = {0};
    uint8_t twice[64];
    size_t n = 0;
    memcpy(twice, frames, 32);
    memcpy(twice + 32, frames, 32);
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_write(writer, twice, sizes, times, sockets, 2, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_finish(writer, NULL), SLC_OK);
    slc_io_pet_raw *raw = NULL;
    assert_int_equal(slc_io_pet_raw_open(path, &raw, NULL), SLC_OK);
    assert_null(slc_io_pet_raw_modules(raw));
    assert_int_equal(slc_io_pet_raw_read(raw, read, NULL, 4, &n, NULL, NULL), SLC_OK);
    assert_int_equal(n, 4);
    slc_io_pet_raw_close(raw);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_once, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_a_file_is_missing, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_without_counters, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
