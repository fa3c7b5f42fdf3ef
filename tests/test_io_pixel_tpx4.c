/* SPDX-License-Identifier: Apache-2.0
 * Raw Timepix4: words made here, field by field; files that end at any byte, with any bit flipped; and a
 * readout's file beside a decoder of its own in Python.
 */
#include <stdio.h>

#include "support/pixel_files.h"
#include "support/temporary_folder.h"

#define PYTHON "PATH=/usr/bin:$PATH python3"

enum { PIXELS = 213363, WORDS = 64 };

static uint8_t bytes[16 * WORDS];
static size_t n_bytes;

static void put(uint64_t word)
{
    for (unsigned i = 0; i < 8; i++) {
        bytes[n_bytes++] = (uint8_t)(word >> 8 * i);
    }
}

static void begin_chunk(size_t words)
{
    put(UINT64_C(0x34585054) | (uint64_t)(8 * words) << 48);
}

static uint64_t heartbeat(unsigned top, uint64_t clock)
{
    return (uint64_t)top << 63 | UINT64_C(0xe0) << 55 | clock;
}

typedef struct fields {
    unsigned top, column, group, super, pixel, toa, start, stop, rise, fall, tot;
} fields;

static uint64_t word_of(const fields *f)
{
    static const uint64_t codes[] = {0xf, 0xe, 0xc, 0x8, 0x0, 0x1, 0x3, 0x7};
    const uint64_t gray = (f->toa ^ f->toa >> 1) & 0xffff;
    return (uint64_t)f->top << 63 | (uint64_t)f->column << 55 | (uint64_t)f->group << 51 |
           (uint64_t)f->super << 49 | (uint64_t)f->pixel << 46 | gray << 30 | codes[f->start] << 26 |
           codes[f->stop] << 22 | (uint64_t)f->rise << 17 | (uint64_t)f->fall << 12 | (uint64_t)f->tot << 1;
}

static pixel_file read_bytes(const uint8_t *from, size_t size, size_t n)
{
    pixel_file read = {.status = SLC_OK};
    slc_io_pixels *file = NULL;
    read.open_status = slc_io_pixels_open_memory(from, size, "t.tpx4", NULL, &file, &read.error);
    if (read.open_status == SLC_OK) {
        read_to_end(file, n, &read);
    }
    return read;
}

static void expect(const pixel_file *read, size_t row, unsigned x, unsigned y, unsigned tot, int64_t time)
{
    assert_true(read->pixels.x[row] == x && read->pixels.y[row] == y);
    assert_int_equal(read->pixels.charge[row], tot);
    assert_true(read->pixels.time[row] == time);
}

/* Corners of both halves, times on both sides of a heartbeat, across the end of 16 bits, and the fast clocks.
 */
static void test_fields(void **state)
{
    (void)state;
    n_bytes = 0;
    begin_chunk(10);
    put(word_of(&(fields){.toa = 7, .tot = 3})); /* before the first heartbeat */
    put(heartbeat(0, 0x123450010));
    put(heartbeat(1, 0x7ffff));
    put(word_of(&(fields){.column = 223,
                          .group = 15,
                          .super = 3,
                          .pixel = 7,
                          .toa = 0xfff0,
                          .rise = 31,
                          .fall = 1,
                          .start = 7}));
    put(word_of(&(fields){.column = 1, .pixel = 5, .toa = 0x11, .stop = 7, .tot = 2047}));
    put(word_of(&(fields){.top = 1, .toa = 0x8000, .tot = 1}));
    put(word_of(
        &(fields){.top = 1, .column = 223, .group = 15, .super = 3, .pixel = 7, .toa = 1, .fall = 5}));
    put(heartbeat(0, 0x123450010 + 32769));
    put(UINT64_C(0xe1) << 55 | 5);
    put(UINT64_C(1) << 63 | UINT64_C(0xf3) << 55);
    for (size_t n = 1; n < 8; n += 3) {
        pixel_file read = read_bytes(bytes, n_bytes, n);
        assert_int_equal(read.status, SLC_END);
        assert_true(read.info.width == 448 && read.info.height == 512 &&
                    read.info.tick_seconds == 25e-9 / 128);
        assert_int_equal(read.pixels.head.size, 5);
        expect(&read, 0, 0, 0, 3 * 128, 128 * INT64_C(0x123450007));
        expect(&read, 1, 447, 255, 8 * 30 - 7, 128 * INT64_C(0x12344fff0) - 8 * 31 + 7);
        expect(&read, 2, 3, 1, 2047 * 128 + 7, 128 * INT64_C(0x123450011) - 7);
        expect(&read, 3, 447, 511, 128, 128 * INT64_C(0x78000));
        expect(&read, 4, 0, 256, 0, 128 * INT64_C(0x80001)); /* a time over threshold below 0 is 0 */
        assert_true(read.counts.heartbeats == 3 && read.counts.other == 2 && read.counts.damaged == 0);
        free_pixels(&read);
    }
}

/* What is damaged costs itself: codes and kinds that there are not, a heartbeat with a flipped bit, a size.
 */
static void test_damage(void **state)
{
    (void)state;
    n_bytes = 0;
    begin_chunk(9);
    put(heartbeat(0, 1000));
    put(word_of(&(fields){.toa = 1001}) ^ UINT64_C(0xd) << 26 ^ UINT64_C(0xf) << 26); /* code 0xd */
    put(UINT64_C(0xe7) << 55);
    put(heartbeat(0, 1000 + 32769 + (UINT64_C(1) << 40)));
    put(word_of(&(fields){.toa = 1002}));
    put(heartbeat(0, 1000 + 2 * 32769));
    put(word_of(&(fields){.toa = 1003, .column = 2}));
    put(word_of(&(fields){.top = 1, .toa = 5})); /* no heartbeat of its half */
    put(heartbeat(0, 1000 + 3 * 32769));
    bytes[n_bytes++] = 'x';
    begin_chunk(200); /* too large: the next begins inside */
    put(word_of(&(fields){.toa = 1004}));
    begin_chunk(1);
    put(word_of(&(fields){.toa = 1005}));
    pixel_file read = read_bytes(bytes, n_bytes, 2);
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.pixels.head.size, 4);
    assert_true(read.pixels.time[0] == 128 * 1002); /* not 2^40 later */
    assert_true(read.pixels.time[1] == 128 * (1003 + 65536));
    assert_true(read.pixels.time[3] == 128 * (1005 + 65536));
    assert_int_equal(read.counts.damaged, 5);
    assert_int_equal(read.counts.damaged_offset, 16);
    assert_string_equal(read.counts.damaged_reason, "a pixel whose fast time is no code that there is");
    assert_true(read.counts.skipped == 1 && read.counts.chunks == 3);
    free_pixels(&read);
}

/* Any beginning, and any flipped bit: it ends, and no pixel lies outside of the chip. */
static void test_cut_and_flipped(void **state)
{
    (void)state;
    n_bytes = 0;
    for (unsigned i = 0; i < 6; i++) {
        begin_chunk(3);
        put(heartbeat(i % 2, 32769 * (i + 1)));
        put(word_of(
            &(fields){.top = i % 2, .column = 40 * i, .group = 15, .super = 3, .pixel = 7, .toa = 77 * i}));
        put(word_of(&(fields){.top = i % 2, .column = 30 * i, .pixel = i, .toa = 99 * i, .tot = 5}));
    }
    static uint8_t damaged[sizeof bytes];
    for (size_t i = 0; i < 9 * n_bytes; i++) {
        memcpy(damaged, bytes, n_bytes);
        const size_t size = i < n_bytes ? i : n_bytes;
        if (i >= n_bytes) {
            damaged[(i - n_bytes) / 8] ^= (uint8_t)(1U << (i - n_bytes) % 8);
        }
        uint8_t *copy = test_malloc(size + 1);
        memcpy(copy, damaged, size);
        pixel_file read = read_bytes(copy, size, 3);
        if (read.open_status == SLC_OK) {
            assert_int_equal(read.status, SLC_END);
            assert_true(read.pixels.head.size <= 13);
            assert_true(i >= n_bytes || size % 32 == 0 || read.counts.damaged > 0 || size < 8);
            for (size_t row = 0; row < read.pixels.head.size; row++) {
                assert_true(read.pixels.x[row] < 448 && read.pixels.y[row] < 512);
            }
            free_pixels(&read);
        } else {
            assert_int_equal(read.open_status, SLC_ERR_FORMAT);
        }
        test_free(copy);
    }
}

/* The file of ASI's tpx4-to-root: 213 363 pixels, beside the decoder's. */
static void test_readout(void **state)
{
    (void)state;
    char command[8192], name[512];
    const char *root = getenv("SLUICE_TEST_DATA");
    (void)snprintf(name, sizeof name, "%s/f.tpx4", folder);
    (void)snprintf(command, sizeof command, "xz -dc '%s/timepix/fDrE_000000.tpx4.xz' >'%s'", root, name);
    assert_int_equal(system(command), 0);
    pixel_file read = {.status = SLC_OK};
    slc_io_pixels *file = NULL;
    assert_int_equal(slc_io_pixels_open(name, NULL, &file, &read.error), SLC_OK);
    read_to_end_of(file, 1000, PIXELS + 1000, &read);
    assert_int_equal(read.pixels.head.size, PIXELS);
    assert_int_equal(read.counts.damaged, 0);
    (void)snprintf(command, sizeof command, PYTHON " " DECODER " %s", name);
    FILE *decoder = popen(command, "r");
    assert_non_null(decoder);
    for (size_t i = 0; i < PIXELS; i++) {
        unsigned x, y, tot;
        long long time;
        assert_int_equal(fscanf(decoder, "pixel %u %u %u %lld\n", &x, &y, &tot, &time), 4);
        expect(&read, i, x, y, tot, time);
    }
    unsigned long long n[3];
    assert_int_equal(fscanf(decoder, "count %llu %llu %llu\n", &n[0], &n[1], &n[2]), 3);
    assert_int_equal(pclose(decoder), 0);
    assert_true(read.counts.chunks == n[0] && read.counts.heartbeats == n[1] && read.counts.other == n[2]);
    assert_true(n[0] == 101654 && n[1] == 19780);
    free_pixels(&read);
    assert_int_equal(unlink(name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_cut_and_flipped)};
    const struct CMUnitTest with_data[] = {
        cmocka_unit_test_setup_teardown(test_readout, make_folder, remove_folder)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (getenv("SLUICE_TEST_DATA") == NULL) {
        (void)fputs("SLUICE_TEST_DATA is not set\n", stderr);
        return failed != 0 ? failed : 77;
    }
    return failed + cmocka_run_group_tests(with_data, NULL, NULL);
}
