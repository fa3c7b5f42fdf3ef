/* SPDX-License-Identifier: Apache-2.0
 * The checksum of columns on a GPU, or in the emulator, is that of the same columns on the host: events of
 * every length up to some blocks of the hash, of none, and of many blocks, in columns of every width. Exits
 * with 77 where there is no GPU. */
#include "base/columns.h"
#include "cuda/cuda_checksum.h"
#include "cuda/cuda_stream.h"
#include "simd/simd_checksum.h"
#include "support/assert_ok.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_stream *stream;
static slc_error error; /* of the last call */

/* Columns of 1, 2, 4 and 8 bytes. */
typedef struct rows_of_all {
    slc_columns head;
    uint8_t *bytes;
    uint16_t *shorts;
    uint32_t *words;
    double *doubles;
} rows_of_all;

enum { COLUMNS = 4 };
static const slc_column columns[COLUMNS] = {
    {"bytes", "1", offsetof(rows_of_all, bytes), SLC_TYPE_U8},
    {"shorts", "1", offsetof(rows_of_all, shorts), SLC_TYPE_U16},
    {"words", "1", offsetof(rows_of_all, words), SLC_TYPE_U32},
    {"doubles", "1", offsetof(rows_of_all, doubles), SLC_TYPE_F64},
};
static const slc_schema schema = {"rows", columns, COLUMNS};

static void fill(rows_of_all *rows, const uint32_t *lengths, uint32_t n, uint64_t *seed)
{
    size_t all = 0;
    for (uint32_t e = 0; e < n; e++) {
        all += lengths[e];
    }
    assert_int_equal(slc_columns_reserve(&schema, rows, all, n), SLC_OK);
    slc_columns_reset(rows);
    for (uint32_t e = 0; e < n; e++) {
        rows->head.size += lengths[e];
        slc_columns_end_event(rows);
    }
    for (size_t i = 0; i < all; i++) {
        const uint64_t x = random_u64(seed);
        rows->bytes[i] = (uint8_t)x;
        rows->shorts[i] = (uint16_t)(x >> 8);
        rows->words[i] = (uint32_t)(x >> 24);
        memcpy(&rows->doubles[i], &x, sizeof x); /* any bits: nobody computes with it */
    }
}

/* A column of the device, with rubbish behind it. */
static const void *send(slc_cuda_memory *memory, const void *bytes, size_t size)
{
    ASSERT_OK(slc_cuda_memory_reserve(stream, memory, (size + 15) / 8 * 8, "a test", &error));
    ASSERT_OK(slc_cuda_fill(stream, memory->at, 0xA5, memory->size, &error));
    ASSERT_OK(slc_cuda_to_device(stream, memory->at, bytes, size, &error));
    return memory->at;
}

/* Of each event, and all of it together. */
static void compare(const uint32_t *lengths, uint32_t n, uint64_t *seed)
{
    rows_of_all rows = {.bytes = NULL};
    slc_cuda_memory memory[COLUMNS + 2] = {{.at = NULL}};
    uint64_t *sums = calloc(n, sizeof *sums), all = 0;
    const slc_checksum_part part = {"things", &schema, &rows};
    assert_non_null(sums);
    fill(&rows, lengths, n, seed);
    slc_cuda_checksum job = {.n_columns = COLUMNS, .n_events = n};
    const uint32_t *offset = send(&memory[COLUMNS], rows.head.event_offset, (n + 1) * sizeof *offset);
    for (size_t k = 0; k < COLUMNS; k++) {
        const uint32_t width = (uint32_t)slc_type_size(columns[k].type);
        const void *host = slc_column_data(&rows, &columns[k]);
        job.column[k] = (slc_cuda_checksum_column){send(&memory[k], host, rows.head.size * width), offset,
                                                   slc_checksum_factor("things", columns[k].name), width};
    }
    (void)send(&memory[COLUMNS + 1], sums, n * sizeof *sums);
    job.sum = memory[COLUMNS + 1].at;
    ASSERT_OK(slc_cuda_checksum_run(&job, slc_cuda_stream_multiprocessors(stream),
                                    slc_cuda_stream_native(stream), &error));
    ASSERT_OK(slc_cuda_to_host(stream, sums, job.sum, n * sizeof *sums, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    for (uint32_t e = 0; e < n; e++) {
        rows_of_all one = rows;
        one.head.n_events = 1;
        one.head.event_offset += e;
        const slc_checksum_part of_one = {"things", &schema, &one};
        if (slc_checksum_events(&of_one, 1, 0) != sums[e]) {
            fail_msg("an event of %u rows has another checksum", lengths[e]);
        }
        all += slc_checksum_power(e) * sums[e];
    }
    assert_true(all == slc_checksum_events(&part, 1, 0));
    for (size_t k = 0; k < COLUMNS + 2; k++) {
        slc_cuda_memory_clear(&memory[k]);
    }
    slc_columns_clear(&schema, &rows);
    free(sums);
}

/* Events of 0, 1, 2 … rows: inputs of the hash of every length up to 300 bytes, and with widths up to 2400.
 */
static void every_length(void **state)
{
    (void)state;
    enum { N = 301 };
    uint32_t lengths[N];
    uint64_t seed = 1;
    for (uint32_t e = 0; e < N; e++) {
        lengths[e] = e;
    }
    compare(lengths, N, &seed);
}

/* Around multiples of the hash's blocks, and many of these. */
static void blocks_of_the_hash(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1023,  1024,  1025,  1087,  1088, 1089, 0, 2047,
                                       2048,  2049,  4095,  4096,  4097, 1,    3, 32767,
                                       32768, 32769, 33792, 33793, 5,    66000};
    uint64_t seed = 2;
    compare(lengths, sizeof lengths / sizeof *lengths, &seed);
}

static void nothing(void **state)
{
    (void)state;
    const slc_cuda_checksum none = {.n_columns = 1, .n_events = 0}, bare = {.n_columns = 0, .n_events = 5};
    static const uint32_t empty[3] = {0, 0, 0};
    uint64_t seed = 3;
    ASSERT_OK(slc_cuda_checksum_run(&none, 4, slc_cuda_stream_native(stream), &error));
    ASSERT_OK(slc_cuda_checksum_run(&bare, 4, slc_cuda_stream_native(stream), &error));
    compare(empty, 3, &seed);
    const slc_cuda_checksum large = {.n_columns = 32, .n_events = UINT32_MAX / 16};
    assert_int_equal(slc_cuda_checksum_run(&large, 4, slc_cuda_stream_native(stream), &error), SLC_ERR_USAGE);
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(blocks_of_the_hash),
        cmocka_unit_test(nothing),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_stream_close(stream);
    return failed;
}
