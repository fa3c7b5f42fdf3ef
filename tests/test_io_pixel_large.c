/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of pixels that are larger than a reader's buffer, from a file, from a pipe with its short reads, and
 * from memory: pixels, events and counts are the same, wherever the pieces end. Damage lies all over them.
 */
#include <stdarg.h>
#include <stdio.h>

#include "support/pixel_files.h"
#include "support/random.h"
#include "support/temporary_folder.h"

enum { SIZE = 3 << 20, SLACK = 1 << 16 };

typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static void put(bytes *to, const void *from, size_t size)
{
    assert_true(to->size + size <= SIZE + SLACK);
    memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void put_packet(bytes *to, uint64_t packet)
{
    for (size_t k = 0; k < 8; k++) {
        const uint8_t byte = (uint8_t)(packet >> 8 * k);
        put(to, &byte, 1);
    }
}

__attribute__((format(printf, 2, 3))) static void put_text(bytes *to, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(to, text, (size_t)n);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Chunks of any size, some with a wrong one, some with garbage behind; packets of all types. */
static void make_tpx3(bytes *to, uint64_t *seed)
{
    while (to->size < SIZE) {
        const uint64_t r = random_u64(seed);
        const size_t packets = r % 1000, at = to->size;
        const size_t size = 8 * packets + (r >> 20 & 31 ? 0 : r >> 30 & 15);
        const uint8_t header[8] = {
            'T', 'P', 'X', '3', (uint8_t)(r >> 10 & 3), 0, (uint8_t)size, (uint8_t)(size >> 8)};
        put(to, header, sizeof header);
        for (size_t i = 0; i < packets; i++) {
            const uint64_t bits = random_u64(seed);
            const uint64_t type = bits % 64 == 0 ? bits >> 60 : 0xb;
            const uint64_t clocks = (at + 8 * i) * 40 + (bits >> 40 & 0xff);
            const uint64_t packet = type << 60 | (bits & 0xffff000) << 32 | (clocks & 0x3fff) << 30 |
                                    (bits >> 20 & 0x3fff) << 16 | clocks >> 14;
            put_packet(to, packet);
        }
        put(to, "garbage TPX TP T", r >> 40 & 31 ? 0 : r >> 50 & 15);
    }
}

static void make_rows(bytes *to, uint64_t *seed, bool frames)
{
    put_text(to, frames ? "event;x;y;tot\n" : "# a list\nx\ty\tz\ttoa\n");
    for (uint64_t event = 0; to->size < SIZE;) {
        const uint64_t r = random_u64(seed);
        event += r >> 60 == 0;
        if (r % 100 == 0) {
            put_text(to, r >> 7 & 1 ? "1;2\n" : "\r\n#\n");
        } else if (frames) {
            put_text(to, "%u;%u;%u;%u\n", (unsigned)event, (unsigned)r & 255, (unsigned)(r >> 8 & 255),
                     (unsigned)(r >> 16 & 1023));
        } else {
            put_text(to, "%u\t%u\t%u\t%lld\r\n", (unsigned)r & 255, (unsigned)(r >> 8 & 65535),
                     (unsigned)(r >> 24 & 7), (long long)(int64_t)random_u64(seed));
        }
    }
}

static void make_csv(bytes *to, uint64_t *seed)
{
    make_rows(to, seed, false);
}

static void make_frames(bytes *to, uint64_t *seed)
{
    make_rows(to, seed, true);
}

static void make_t3pa(bytes *to, uint64_t *seed)
{
    put_text(to, "Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n");
    while (to->size < SIZE) {
        const uint64_t r = random_u64(seed);
        put_text(to, r % 50 == 0 ? "%u\t%u\n" : "%u\t%u\t%u\n", (unsigned)r % 262144, (unsigned)(r >> 20),
                 (unsigned)(r >> 54));
    }
}

static void make_npy(bytes *to, uint64_t *seed, const char *fortran)
{
    put(to, "\x93NUMPY\x01\0\x49\0", 10);
    put_text(to, "{'descr': '<i4', 'fortran_order': %-5s, 'shape': (%d, 4), }        \n", fortran, SIZE / 16);
    assert_int_equal(to->size, 10 + 0x49);
    for (size_t i = 0; i < SIZE / 4; i++) {
        const uint64_t r = random_u64(seed);
        const uint32_t value = r >> 40 & 127 ? (uint32_t)r % 512 : (uint32_t)-1;
        const uint8_t four[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                                 (uint8_t)(value >> 24)};
        put(to, four, sizeof four);
    }
}

static void make_npy_rows(bytes *to, uint64_t *seed)
{
    make_npy(to, seed, "False");
}

static void make_npy_columns(bytes *to, uint64_t *seed)
{
    make_npy(to, seed, "True");
}

/* ---- reading --------------------------------------------------------------------------------- */

static pixel_file read_all(slc_io_pixels *file, size_t n)
{
    pixel_file read = {.status = SLC_OK};
    assert_non_null(file);
    read_to_end_of(file, n, SIZE / 4, &read);
    assert_int_equal(read.status, SLC_END);
    assert_true(read.counts.damaged > 20);
    assert_true(read.pixels.head.size > 50000);
    return read;
}

static void assert_same(pixel_file *a, const pixel_file *b)
{
    assert_int_equal(a->pixels.head.size, b->pixels.head.size);
    assert_begins(a, b);
    assert_int_equal(a->pixels.head.n_events, b->pixels.head.n_events);
    assert_memory_equal(a->pixels.head.event_offset, b->pixels.head.event_offset,
                        (a->pixels.head.n_events + 1) * sizeof *a->pixels.head.event_offset);
    assert_int_equal(a->counts.bytes, b->counts.bytes);
    assert_int_equal(a->counts.chunks, b->counts.chunks);
    assert_int_equal(a->counts.heartbeats, b->counts.heartbeats);
    assert_int_equal(a->counts.tdc, b->counts.tdc);
    assert_int_equal(a->counts.other, b->counts.other);
    assert_int_equal(a->counts.damaged, b->counts.damaged);
    assert_int_equal(a->counts.damaged_offset, b->counts.damaged_offset);
    assert_string_equal(a->counts.damaged_reason, b->counts.damaged_reason);
    free_pixels(a);
}

static void compare_sources(const bytes *whole)
{
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(whole->at, 1, whole->size, out), whole->size);
    assert_int_equal(fclose(out), 0);
    (void)slc_io_pixels_open_memory(whole->at, whole->size, "a", NULL, &file, &error);
    pixel_file memory = read_all(file, SIZE);
    assert_int_equal(memory.counts.bytes, whole->size);
    (void)slc_io_pixels_open(path, NULL, &file, &error);
    pixel_file other = read_all(file, 1021);
    assert_same(&other, &memory);
    char command[128], pipe[64];
    (void)snprintf(command, sizeof command, "cat '%s'", path);
    FILE *cat = popen(command, "r");
    assert_non_null(cat);
    (void)snprintf(pipe, sizeof pipe, "/dev/fd/%d", fileno(cat));
    (void)slc_io_pixels_open(pipe, NULL, &file, &error);
    other = read_all(file, 100003);
    assert_same(&other, &memory);
    assert_int_equal(pclose(cat), 0);
    free_pixels(&memory);
}

static void test_sources(void **state)
{
    (void)state;
    static void (*const makers[])(bytes *, uint64_t *) = {make_tpx3, make_csv,      make_frames,
                                                          make_t3pa, make_npy_rows, make_npy_columns};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        bytes whole = {.at = malloc(SIZE + SLACK)};
        uint64_t seed = i + 1;
        assert_non_null(whole.at);
        makers[i](&whole, &seed);
        compare_sources(&whole);
        free(whole.at);
    }
}

/* ---- Timepix3 beyond a piece ----------------------------------------------------------------- */

/* A chunk of one chip with so many pixels of the same time. */
static void put_chunk(bytes *to, size_t pixels, uint64_t clocks)
{
    const uint8_t header[8] = {'T', 'P', 'X', '3', 0, 0, (uint8_t)(8 * pixels), (uint8_t)(pixels >> 5)};
    put(to, header, sizeof header);
    for (size_t i = 0; i < pixels; i++) {
        put_packet(to, (uint64_t)0xb << 60 | (clocks & 0x3fff) << 30 | (clocks >> 14 & 0xffff));
    }
}

/* Bytes between chunks are one damage, however many, and the chunk behind is found wherever it begins. */
static void test_long_garbage(void **state)
{
    (void)state;
    bytes whole = {.at = malloc(SIZE + SLACK)};
    assert_non_null(whole.at);
    for (size_t i = 0; i < 20; i++) {
        const size_t back = i % 10;
        whole.size = 0;
        put_chunk(&whole, 1, 5);
        put_chunk(&whole, 1, 6);
        memset(whole.at + whole.size, i < 10 ? 'T' : 'x', SIZE);
        whole.size = ((size_t)1 << 19) - back; /* twice the reader's piece */
        put_chunk(&whole, 1, 7);
        pixel_file read = read_pixels(whole.at, whole.size, "a", 100);
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.pixels.head.size, 3);
        assert_int_equal(read.counts.damaged, 1);
        assert_int_equal(read.counts.damaged_offset, 32);
        free_pixels(&read);
    }
    free(whole.at);
}

/* A heartbeat that comes too late to be seen at the begin tells the time of what follows. */
static void test_a_late_heartbeat(void **state)
{
    (void)state;
    const uint64_t day = ((uint64_t)77 << 30) + 3; /* clocks, 77 rollovers */
    bytes whole = {.at = malloc(SIZE + SLACK)};
    assert_non_null(whole.at);
    while (whole.size < (1 << 20) + 8192) {
        put_chunk(&whole, 1000, 7);
    }
    put_chunk(&whole, 4, 7);
    whole.size -= 32;
    for (uint64_t i = 0; i < 2; i++) { /* the second confirms the first */
        put_packet(&whole, (uint64_t)0x44 << 56 | ((day + i) & 0xffffffff) << 16);
        put_packet(&whole, (uint64_t)0x45 << 56 | day >> 32 << 16);
    }
    put_chunk(&whole, 1, day + 4);
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    pixel_file read = {.status = SLC_OK};
    assert_int_equal(slc_io_pixels_open_memory(whole.at, whole.size, "a", NULL, &file, &error), SLC_OK);
    read_to_end_of(file, 9999, SIZE / 8, &read);
    assert_int_equal(read.counts.heartbeats, 4);
    assert_int_equal(read.pixels.time[0], 7 * 16);
    assert_int_equal(read.pixels.time[read.pixels.head.size - 2], 7 * 16);
    assert_int_equal(read.pixels.time[read.pixels.head.size - 1], (day + 4) * 16);
    free_pixels(&read);
    free(whole.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sources, make_folder, remove_folder),
        cmocka_unit_test(test_long_garbage),
        cmocka_unit_test(test_a_late_heartbeat),
    };
    return cmocka_run_group_tests_name("io_pixel_large", tests, NULL, NULL);
}
