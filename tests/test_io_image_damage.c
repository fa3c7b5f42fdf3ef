/* SPDX-License-Identifier: Apache-2.0
 *
 * Damage to files of every format: cut at every byte, every bit turned over, random bytes written over. What
 * comes back is an image within its limits or an error with a text, never more memory than allowed, and
 * nothing on standard error, where libpng and libtiff like to talk.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/temporary_folder.h"

#include <fcntl.h>

typedef struct sample {
    char name[32];
    uint8_t *bytes;
    size_t size;
    bool cut_is_seen; /* every byte is needed */
} sample;

enum { N_SAMPLES = 10, LIMIT = 1 << 16 };
static sample samples[N_SAMPLES];
static const slc_io_image_config config = {.size = sizeof(slc_io_image_config), .max_bytes = LIMIT};

static void add_file(size_t i, const char *ending, slc_image_type type, size_t n_pages)
{
    char name[160];
    slc_io_writer *writer = NULL;
    (void)snprintf(name, sizeof name, "%s%s", path, ending);
    assert_int_equal(slc_io_image_writer_open(name, false, &writer, NULL), SLC_OK);
    for (size_t p = 0; p < n_pages; p++) {
        slc_image image = random_image(type, 13, 7, 0, false, i + p);
        assert_int_equal(slc_io_image_writer_add(writer, &image, NULL), SLC_OK);
        free_image(&image);
    }
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    samples[i].bytes = file_bytes(name, &samples[i].size);
    samples[i].cut_is_seen = true;
    (void)snprintf(samples[i].name, sizeof samples[i].name, "%zu%s", i, ending);
    assert_int_equal(unlink(name), 0);
}

static void add_text(size_t i, const char *text)
{
    samples[i].size = strlen(text);
    samples[i].bytes = malloc(samples[i].size);
    assert_non_null(samples[i].bytes);
    memcpy(samples[i].bytes, text, samples[i].size);
    (void)snprintf(samples[i].name, sizeof samples[i].name, "%zu.txt", i);
}

static int make_samples(void **state)
{
    if (make_folder(state) != 0) {
        return -1;
    }
    add_file(0, ".pgm", SLC_IMAGE_U16, 2);
    add_file(1, ".pbm", SLC_IMAGE_BITS, 1);
    add_file(2, ".png", SLC_IMAGE_U8, 1);
    add_file(3, ".png", SLC_IMAGE_BITS, 1);
    add_file(4, ".tif", SLC_IMAGE_U32, 2);
    add_file(5, ".tif", SLC_IMAGE_BITS, 1);
    add_file(6, ".npy", SLC_IMAGE_F32, 1);
    add_file(7, ".npy", SLC_IMAGE_U8, 3);
    /* Cut between its digits or before the last line's end, a plain file may still be whole. */
    add_text(8, "P3 # colour\n2 3 255\n1 2 3 4 5 6\n7 8 9 10 11 12\n200 201 202 203 204 205\n");
    add_text(9, "P1\n5 3\n10101 01010\n1 1 1 1 1\n");
    return 0;
}

static int clear_samples(void **state)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        free(samples[i].bytes);
    }
    return remove_folder(state);
}

/* From a block that ends where the file ends, so that a read behind it is found. */
static pages read_exactly(const uint8_t *bytes, size_t size, const char *name)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    pages read = read_memory(copy, size, name, &config);
    for (size_t p = 0; p < read.n && p < MOST_PAGES; p++) {
        const slc_image *image = &read.page[p];
        assert_true(row_bytes_of(image->type, image->width) * image->height <= LIMIT);
    }
    const bool failed = read.open_status != SLC_OK || read.status != SLC_END;
    if (failed) {
        const size_t n = strlen(name);
        assert_memory_equal(read.error.text, name, n);
        assert_memory_equal(read.error.text + n, ": ", 2);
        assert_null(strchr(read.error.text, '\n'));
    }
    free(copy);
    return read;
}

static void test_whole_files(void **state)
{
    (void)state;
    static const size_t n_pages[N_SAMPLES] = {2, 1, 1, 1, 2, 1, 1, 3, 1, 1};
    for (size_t i = 0; i < N_SAMPLES; i++) {
        pages read = read_exactly(samples[i].bytes, samples[i].size, samples[i].name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, n_pages[i]);
        free_pages(&read);
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const size_t first_page = 10 + 2 * 13 * 7 + 4;
        for (size_t size = 0; size < samples[i].size; size++) {
            pages read = read_exactly(samples[i].bytes, size, samples[i].name);
            const bool failed = read.open_status != SLC_OK || read.status != SLC_END;
            /* Two PGM images one behind the other are whole after the first, too. */
            const bool between = i == 0 && read.n == 1 && size >= first_page && size <= first_page + 8;
            if (samples[i].cut_is_seen && !failed && !between) {
                fail_msg("%s: cut to %zu of %zu bytes, and read as %zu pages", samples[i].name, size,
                         samples[i].size, read.n);
            }
            free_pages(&read);
        }
    }
}

static void test_every_bit(void **state)
{
    (void)state;
    size_t n_failed = 0, n_read = 0;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (size_t bit = 0; bit < 8 * samples[i].size; bit++) {
            samples[i].bytes[bit / 8] = (uint8_t)(samples[i].bytes[bit / 8] ^ 1U << bit % 8);
            pages read = read_exactly(samples[i].bytes, samples[i].size, samples[i].name);
            const bool failed = read.open_status != SLC_OK || read.status != SLC_END;
            n_failed += failed;
            n_read += !failed;
            free_pages(&read);
            samples[i].bytes[bit / 8] = (uint8_t)(samples[i].bytes[bit / 8] ^ 1U << bit % 8);
        }
    }
    /* Pixels may be any; headers may not. */
    assert_true(n_failed > 1000);
    assert_true(n_read > 1000);
}

static void test_random_bytes(void **state)
{
    (void)state;
    uint64_t seed = 2718;
    size_t n_failed = 0;
    for (size_t round = 0; round < 20000; round++) {
        const sample *from = &samples[round % N_SAMPLES];
        uint8_t bytes[2048];
        assert_true(from->size <= sizeof bytes);
        memcpy(bytes, from->bytes, from->size);
        for (uint32_t n = 1 + random_below(&seed, 6); n > 0; n--) {
            static const uint8_t favourites[] = {0, 0xff, 0x7f, 0x80, '9', ' '};
            const uint32_t pick = random_below(&seed, 12);
            bytes[random_below(&seed, (uint32_t)from->size)] = pick < 6 ? favourites[pick]
                                                                        : (uint8_t)random_u64(&seed);
        }
        pages read = read_exactly(bytes, from->size, from->name);
        n_failed += read.open_status != SLC_OK || read.status != SLC_END;
        free_pages(&read);
    }
    assert_true(n_failed > 1000);
}

/* The tests before this one again, with standard error in a file. */
static void test_nothing_is_printed(void **state)
{
    char name[160];
    (void)snprintf(name, sizeof name, "%s.log", path);
    const int kept = dup(STDERR_FILENO), log = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && log >= 0);
    assert_true(dup2(log, STDERR_FILENO) >= 0);
    test_every_cut(state);
    test_every_bit(state);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
    (void)close(log);
    size_t size;
    uint8_t *text = file_bytes(name, &size);
    text[size] = '\0';
    assert_string_equal((const char *)text, "");
    free(text);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_files),        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_bit),          cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, make_samples, clear_samples);
}
