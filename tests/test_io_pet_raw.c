/* SPDX-License-Identifier: Apache-2.0
 * Raw files of PET: what is written reads back; heads, rotation, seeking, files that may not be overwritten.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/pet_raw.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Test vectors of xxHash: XXH64 with seed 0. */
static void test_hash(void **state)
{
    (void)state;
    static const char text[] = "Nobody inspects the spammish repetition";
    assert_int_equal(slc_io_pet_raw_hash((const uint8_t *)"", 0), 0xef46db3751d8e999);
    assert_int_equal(slc_io_pet_raw_hash((const uint8_t *)"a", 1), 0xd24ec4f1a98c6e5b);
    assert_int_equal(slc_io_pet_raw_hash((const uint8_t *)"abc", 3), 0x44bc2cf5ad770999);
    assert_int_equal(slc_io_pet_raw_hash((const uint8_t *)text, sizeof text - 1), 0xfbcea83c8a378bf1);
}

enum { DATAGRAMS = 500, MOST_FRAMES = 40 };

typedef struct sample {
    uint8_t *bytes;
    uint16_t sizes[DATAGRAMS], sockets[DATAGRAMS];
    uint64_t times[DATAGRAMS];
    slc_pet_frame *frames;
    size_t n_frames, n_bytes, malformed;
} sample;

/* Datagrams with a header; some have a broken frame, some no frame at all. */
static sample make_sample(uint32_t header, uint64_t seed)
{
    sample s = {.bytes = malloc((size_t)DATAGRAMS * (MOST_FRAMES + 2) * 16 + header * DATAGRAMS)};
    s.frames = raw_frames((size_t)DATAGRAMS * MOST_FRAMES, 7);
    assert_non_null(s.bytes);
    uint64_t time = 1000;
    uint32_t size = 0;
    for (size_t i = 0; i < DATAGRAMS; i++) {
        const bool same = i > 0 && random_below(&seed, 3) != 0;
        size = same ? size : random_below(&seed, MOST_FRAMES + 1);
        time += same ? 0 : random_below(&seed, 1000);
        const uint32_t tail = random_below(&seed, 10) == 0 ? 1 + random_below(&seed, 15) : 0;
        memset(s.bytes + s.n_bytes, 0xee, header);
        memcpy(s.bytes + s.n_bytes + header, s.frames + s.n_frames, size * 16);
        memset(s.bytes + s.n_bytes + header + size * 16, 0xdd, tail);
        s.sizes[i] = (uint16_t)(header + size * 16 + tail);
        s.sockets[i] = (uint16_t)(time % 3);
        s.times[i] = time;
        s.n_frames += size;
        s.n_bytes += s.sizes[i];
        s.malformed += tail > 0;
    }
    return s;
}

static void clear_sample(sample *s)
{
    free(s->bytes);
    free(s->frames);
}

static void write_sample(const sample *s, const slc_io_pet_raw_config *config)
{
    slc_io_pet_raw_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_raw_create(path, config, &writer, &error), SLC_OK);
    const uint8_t *at = s->bytes;
    for (size_t i = 0, n = 0; i < DATAGRAMS; i += n) { /* in pieces of different sizes */
        n = i % 7 + 1 < DATAGRAMS - i ? i % 7 + 1 : DATAGRAMS - i;
        assert_int_equal(
            slc_io_pet_raw_write(writer, at, s->sizes + i, s->times + i, s->sockets + i, n, &error), SLC_OK);
        for (size_t k = 0; k < n; k++) {
            at += s->sizes[i + k];
        }
    }
    uint64_t bytes = 0, files = 0;
    slc_io_pet_raw_written(writer, &bytes, &files);
    assert_true(bytes > s->n_bytes && files >= 1);
    assert_int_equal(slc_io_pet_raw_finish(writer, &error), SLC_OK);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const uint32_t headers[] = {0, 8, 16, 21};
    static const size_t mosts[] = {1, 3, 64, 100000};
    for (size_t h = 0; h < 4; h++) {
        sample s = make_sample(headers[h], 5 + h);
        const slc_io_pet_raw_config config = {
            .size = sizeof(slc_io_pet_raw_config), .replace = true, .payload = {.header_bytes = headers[h]}};
        write_sample(&s, &config);
        for (size_t m = 0; m < 4; m++) {
            slc_io_pet_raw *raw = NULL;
            slc_faults faults = {0};
            slc_status status;
            size_t n = 0;
            assert_int_equal(slc_io_pet_raw_open(path, &raw, NULL), SLC_OK);
            slc_io_pet_raw_info info;
            slc_io_pet_raw_info_of(raw, &info);
            assert_false(info.bare);
            assert_int_equal(info.payload.header_bytes, headers[h]);
            slc_pet_frame *frames = raw_read_all(raw, mosts[m], &n, &faults, &status);
            assert_int_equal(status, SLC_END);
            assert_int_equal(n, s.n_frames);
            assert_memory_equal(frames, s.frames, n * sizeof *frames);
            assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_DATAGRAM), s.malformed);
            assert_int_equal(slc_faults_total(&faults), s.malformed);
            free(frames);
        }
        clear_sample(&s);
    }
}

/* Each frame comes with the time of its datagram, however few are read at a time; bare ones with none. */
static void test_times_of_receiving(void **state)
{
    (void)state;
    static const size_t mosts[] = {1, 3, 64, 100000};
    sample s = make_sample(8, 11);
    const slc_io_pet_raw_config config = {
        .size = sizeof(slc_io_pet_raw_config), .replace = true, .payload = {.header_bytes = 8}};
    uint64_t *wanted = calloc(s.n_frames + 1, sizeof *wanted), *got = calloc(s.n_frames + 1, sizeof *got);
    slc_pet_frame *frames = calloc(s.n_frames + 1, sizeof *frames);
    assert_true(wanted != NULL && got != NULL && frames != NULL);
    for (size_t i = 0, n = 0; i < DATAGRAMS; i++) {
        for (uint32_t k = 0; k < (s.sizes[i] - 8U) / 16; k++) {
            wanted[n++] = s.times[i];
        }
    }
    write_sample(&s, &config);
    slc_io_pet_raw *raw = NULL;
    for (size_t m = 0; m < 4; m++) {
        size_t n = 0, some = 0;
        assert_int_equal(slc_io_pet_raw_open(path, &raw, NULL), SLC_OK);
        for (; n < s.n_frames; n += some) {
            const size_t most = mosts[m] < s.n_frames - n ? mosts[m] : s.n_frames - n;
            assert_int_equal(slc_io_pet_raw_read(raw, frames + n, got + n, most, &some, NULL, NULL), SLC_OK);
        }
        slc_io_pet_raw_close(raw);
        assert_memory_equal(got, wanted, n * sizeof *got);
    }
    size_t n = 0;
    assert_int_equal(slc_io_pet_raw_open_memory(s.frames, s.n_frames * 16, "frames", &raw, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_read(raw, frames, got, s.n_frames, &n, NULL, NULL), SLC_OK);
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(got[i], 0);
    }
    slc_io_pet_raw_close(raw);
    free(wanted);
    free(got);
    free(frames);
    clear_sample(&s);
}

/* Each datagram is in the file as it came, at its place. */
static void test_bytes(void **state)
{
    (void)state;
    sample s = make_sample(4, 9);
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config),
                                          .payload = {.header_bytes = 4, .sequence_bytes = 4}};
    write_sample(&s, &config);
    size_t size = 0, datagram = 0;
    char *file = pet_bytes(path, &size);
    const uint8_t *bytes = (const uint8_t *)file, *at = s.bytes;
    size_t place = SLC_PET_RAW_HEAD;
    while (place < size) {
        assert_true(slc_io_pet_block_is_good(bytes + place));
        const slc_io_pet_block block = slc_io_pet_block_of(bytes + place);
        assert_int_equal(block.first, datagram);
        assert_memory_equal(bytes + place + SLC_PET_RAW_BLOCK, at, block.payload);
        uint64_t frames = 0;
        for (uint32_t i = 0; i < slc_io_pet_block_datagrams(&block); i++, datagram++) {
            const uint32_t left = block.payload - i * block.datagram;
            assert_int_equal(left < block.datagram ? left : block.datagram, s.sizes[datagram]);
            assert_int_equal(block.time_ns, s.times[datagram]);
            assert_int_equal(block.socket, s.sockets[datagram]);
            frames += (s.sizes[datagram] - 4U) / 16;
        }
        assert_int_equal(slc_io_pet_block_frames(&block), frames);
        at += block.payload;
        place += SLC_PET_RAW_BLOCK + block.payload;
    }
    assert_int_equal(datagram, DATAGRAMS);
    assert_int_equal(at - s.bytes, s.n_bytes);
    free(file);
    clear_sample(&s);
}

static void test_rotation(void **state)
{
    (void)state;
    sample s = make_sample(0, 3);
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config), .rotate_bytes = 20000};
    /* The name of the third file is taken: it is left as it is, and the next number used. */
    FILE *taken = fopen(pet_in_folder("result.0002"), "w");
    assert_non_null(taken);
    (void)fclose(taken);
    write_sample(&s, &config);
    size_t all = 0;
    uint64_t series = 0;
    uint32_t files = 0;
    for (uint32_t i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, i == 0 ? "result" : "result.%04u", i);
        slc_io_pet_raw *raw = NULL;
        struct stat about;
        if (i == 2 || stat(pet_in_folder(name), &about) != 0) {
            continue;
        }
        assert_true(about.st_size <= 20000);
        slc_io_pet_raw_info info;
        assert_int_equal(slc_io_pet_raw_open(pet_in_folder(name), &raw, NULL), SLC_OK);
        slc_io_pet_raw_info_of(raw, &info);
        assert_int_equal(info.file, i);
        assert_true(files == 0 || info.series == series);
        series = info.series;
        slc_faults faults = {0};
        slc_status status;
        size_t n = 0;
        slc_pet_frame *frames = raw_read_all(raw, 999, &n, &faults, &status);
        assert_true(all + n <= s.n_frames);
        assert_memory_equal(frames, s.frames + all, n * sizeof *frames);
        all += n;
        files++;
        free(frames);
    }
    assert_int_equal(all, s.n_frames);
    assert_true(files > 4);
    struct stat about;
    assert_int_equal(stat(pet_in_folder("result.0002"), &about), 0);
    assert_int_equal(about.st_size, 0);
    clear_sample(&s);
}

static void test_nothing_is_overwritten(void **state)
{
    (void)state;
    slc_io_pet_raw_writer *writer = NULL;
    slc_error error = {0};
    FILE *there = fopen(path, "w");
    assert_non_null(there);
    (void)fputs("precious", there);
    (void)fclose(there);
    slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config)};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_ERR_IO);
    assert_null(writer);
    assert_non_null(strstr(error.text, "File exists; raw data are not overwritten"));
    size_t size = 0;
    char *bytes = pet_bytes(path, &size);
    assert_string_equal(bytes, "precious");
    free(bytes);
    config.replace = true;
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_raw_finish(writer, &error), SLC_OK);
    slc_faults faults = {0};
    slc_pet_frame *frames = raw_read_file(path, &size, &faults);
    assert_int_equal(size, 0);
    assert_int_equal(slc_faults_total(&faults), 0);
    free(frames);
    assert_int_equal(slc_io_pet_raw_create("/nowhere/at/all", &config, &writer, &error), SLC_ERR_IO);
    config.payload = (slc_io_pet_payload){.header_bytes = 8, .sequence_at = 4, .sequence_bytes = 8};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_ERR_USAGE);
    config.payload = (slc_io_pet_payload){.header_bytes = 8, .sequence_bytes = 2};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_ERR_USAGE);
    config.payload = (slc_io_pet_payload){.header_bytes = 2000};
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_ERR_USAGE);
    config.payload = (slc_io_pet_payload){0};
    config.rotate_seconds = -1;
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_ERR_USAGE);
}

static void begin_series(uint64_t rotate, const char *name, int datagrams)
{
    const slc_io_pet_raw_config config = {
        .size = sizeof(slc_io_pet_raw_config), .replace = true, .rotate_bytes = rotate};
    slc_io_pet_raw_writer *writer = NULL;
    const uint8_t bytes[64] = {0};
    assert_int_equal(slc_io_pet_raw_create(name, &config, &writer, NULL), SLC_OK);
    for (int i = 0; i < datagrams; i++) {
        const uint16_t size = sizeof bytes, socket = 0;
        const uint64_t time = (uint64_t)i + 1;
        assert_int_equal(slc_io_pet_raw_write(writer, bytes, &size, &time, &socket, 1, NULL), SLC_OK);
    }
    assert_int_equal(slc_io_pet_raw_finish(writer, NULL), SLC_OK);
}

/* What followed a file that is replaced goes with it; a file of another series stays as it is, whether it was
 * there before or came behind, and its number is passed over. */
static void test_replaces_a_series(void **state)
{
    (void)state;
    char other[256];
    (void)snprintf(other, sizeof other, "%s", pet_in_folder("result.0003"));
    begin_series(200, pet_in_folder("result"), 3);
    assert_int_equal(count_files(), 3);
    begin_series(0, other, 1);
    begin_series(0, pet_in_folder("result"), 1);
    assert_int_equal(count_files(), 2);
    assert_int_equal(access(other, R_OK), 0);
    assert_int_not_equal(access(pet_in_folder("result.0001"), R_OK), 0);
    assert_int_not_equal(access(pet_in_folder("result.0002"), R_OK), 0);
    size_t size_before, size_after;
    char *before = pet_bytes(other, &size_before);
    begin_series(200, pet_in_folder("result"), 4);
    assert_int_equal(access(pet_in_folder("result.0004"), R_OK), 0);
    begin_series(0, pet_in_folder("result"), 1);
    assert_int_equal(count_files(), 2);
    char *after = pet_bytes(other, &size_after);
    assert_int_equal(size_after, size_before);
    assert_memory_equal(after, before, size_before);
    free(before);
    free(after);
}

/* A disk that is full: an error with the place, and what was written can be read. */
static void test_full(void **state)
{
    (void)state;
    sample s = make_sample(0, 4);
    slc_io_pet_raw_writer *writer = NULL;
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config)};
    slc_error error = {0};
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 50000, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, &error), SLC_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const slc_status status = slc_io_pet_raw_write(writer, s.bytes, s.sizes, s.times, s.sockets, DATAGRAMS,
                                                   &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    slc_io_pet_raw_abandon(writer);
    assert_int_equal(status, SLC_ERR_IO);
    char wanted[256];
    (void)snprintf(wanted, sizeof wanted,
                   "%s: byte 50000: cannot write: File too large; what was written before is readable", path);
    assert_string_equal(error.text, wanted);
    slc_faults faults = {0};
    size_t n = 0;
    slc_pet_frame *frames = raw_read_file(path, &n, &faults);
    assert_true(n > 2500 && n < s.n_frames); /* 50000 bytes less heads are some 2900 */
    assert_memory_equal(frames, s.frames, n * sizeof *frames);
    assert_int_equal(slc_faults_total(&faults),
                     s.malformed > 0 ? slc_faults_of(&faults, SLC_FAULT_PET_DATAGRAM) : 0);
    free(frames);
    clear_sample(&s);
}

/* Blocks of datagrams that hold two frames behind 8 bytes, the last of a block one; put as an acquisition
 * puts them, some of them one behind the other. */
enum { BLOCKS = 6, EACH = 3, DATAGRAM = 40, PAYLOAD = EACH * DATAGRAM - 16, BLOCK = 48 + PAYLOAD };

static void lay_blocks(uint8_t *at, uint8_t **blocks, slc_pet_frame *frames)
{
    memset(at, 0, (size_t)2 * BLOCKS * BLOCK);
    for (size_t i = 0, n = 0; i < BLOCKS; i++) {
        const slc_io_pet_block head = {
            .time_ns = i, .payload = PAYLOAD, .datagram = DATAGRAM, .header_bytes = 8};
        blocks[i] = at + (i < 3 ? i : 2 * i) * BLOCK;
        slc_io_pet_block_begin(blocks[i], &head);
        for (size_t k = 0; k < EACH; k++) {
            const size_t some = k + 1 < EACH ? 2 : 1;
            memcpy(blocks[i] + 48 + k * DATAGRAM + 8, frames + n, some * sizeof *frames);
            n += some;
        }
    }
}

/* A disk that is full at any byte, with one file and with several: what is said to be written is in the
 * files, whole and without a fault, and nothing else is. */
static void test_full_anywhere(void **state)
{
    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    slc_pet_frame *frames = raw_frames(BLOCKS * 2 * EACH, 3);
    uint8_t *bytes = malloc((size_t)2 * BLOCKS * BLOCK), *blocks[BLOCKS];
    struct rlimit before;
    assert_non_null(bytes);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (rlim_t most = 64; most <= 64 + BLOCKS * BLOCK; most++) {
        slc_io_pet_raw_writer *writer = NULL;
        const slc_io_pet_raw_config config = {
            .size = sizeof(slc_io_pet_raw_config), .replace = true, .payload = {.header_bytes = 8}};
        const struct rlimit limit = {.rlim_cur = most, .rlim_max = before.rlim_max};
        size_t written = 0, wanted = 0, n = 0;
        uint64_t size = 0, files = 0;
        lay_blocks(bytes, blocks, frames);
        assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, NULL), SLC_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const slc_status status = slc_io_pet_raw_put(writer, blocks, BLOCKS, &written, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, most < 64 + BLOCKS * BLOCK ? SLC_ERR_IO : SLC_OK);
        slc_io_pet_raw_written(writer, &size, &files);
        slc_io_pet_raw_abandon(writer);
        for (size_t i = 0; i < written; i++) {
            const slc_io_pet_block block = slc_io_pet_block_of(blocks[i]);
            assert_int_equal(block.payload == PAYLOAD || i + 1 == written, 1);
            wanted += slc_io_pet_block_frames(&block);
        }
        const size_t there = (most - 64) % BLOCK, whole = there < 48 ? 0 : (there - 48) / DATAGRAM;
        assert_int_equal(wanted, (most - 64) / BLOCK * (2 * EACH - 1) + 2 * whole);
        slc_faults faults = {0};
        slc_pet_frame *read = raw_read_file(path, &n, &faults);
        assert_int_equal(slc_faults_total(&faults), 0);
        assert_int_equal(n, wanted);
        assert_memory_equal(read, frames, n * sizeof *read);
        free(read);
        size_t on_disk = 0;
        free(pet_bytes(path, &on_disk));
        assert_int_equal(on_disk, size);
    }
    free(bytes);
    free(frames);
}

/* A further file that cannot be begun, as there is room for its head no more, is not there. */
static void test_full_at_the_next(void **state)
{
    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    slc_pet_frame *frames = raw_frames(BLOCKS * 2 * EACH, 3);
    uint8_t *bytes = malloc((size_t)2 * BLOCKS * BLOCK), *blocks[BLOCKS];
    struct rlimit before;
    slc_io_pet_raw_writer *writer = NULL;
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config),
                                          .rotate_bytes = 64 + 2 * BLOCK,
                                          .payload = {.header_bytes = 8}};
    size_t written = 0, n = 0;
    uint64_t size = 0, files = 0;
    assert_non_null(bytes);
    lay_blocks(bytes, blocks, frames);
    assert_int_equal(slc_io_pet_raw_create(path, &config, &writer, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_raw_put(writer, blocks, 2, &written, NULL), SLC_OK);
    assert_int_equal(written, 2);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 50, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(slc_io_pet_raw_put(writer, blocks + 2, 2, &written, NULL), SLC_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(written, 0);
    slc_io_pet_raw_written(writer, &size, &files);
    slc_io_pet_raw_abandon(writer);
    assert_int_equal(size, 64 + 2 * BLOCK);
    assert_int_equal(files, 1);
    free(raw_read_file(path, &n, NULL));
    assert_int_equal(n, 2 * (2 * EACH - 1));
    char *next = slc_io_pet_raw_name(path, 1);
    assert_non_null(next);
    assert_int_equal(access(next, F_OK), -1);
    free(next);
    free(bytes);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test_setup_teardown(test_round_trip, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_times_of_receiving, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_bytes, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_rotation, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_nothing_is_overwritten, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_replaces_a_series, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_full, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_full_anywhere, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_full_at_the_next, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
