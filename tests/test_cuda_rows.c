/* SPDX-License-Identifier: Apache-2.0
 * Copies of rows to a GPU, back and within it: strides of both signs, gaps that nobody may write, rows longer
 * than a piece of page-locked memory, blocks of many pieces. Exits with 77 where there is no GPU. */
#include "cuda/cuda_rows.h"
#include "support/assert_ok.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_stream *stream;
static slc_cuda_rows *rows;
static slc_error error; /* of the last call */

enum { RUBBISH = 0xE7 };

/* Rows in memory of `size` bytes: row y begins at `first` + y · stride. */
typedef struct layout {
    size_t first, size;
    ptrdiff_t stride;
} layout;

static layout lay(slc_cuda_block block, size_t gap, bool upside_down)
{
    const size_t step = block.bytes + gap, size = step * block.rows + gap;
    return (layout){gap + (upside_down ? step * (block.rows - 1) : 0), size,
                    upside_down ? -(ptrdiff_t)step : (ptrdiff_t)step};
}

static void fill(uint8_t *bytes, size_t size, uint64_t *seed)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = seed != NULL ? (uint8_t)(random_u64(seed) >> 56) : RUBBISH;
    }
}

static uint8_t *filled(size_t size, uint64_t *seed)
{
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    fill(bytes, size, seed);
    return bytes;
}

/* Memory of the host, page-locked or not. */
static uint8_t *host_memory(slc_cuda_memory *memory, size_t size, bool pinned)
{
    *memory = (slc_cuda_memory){.at = NULL};
    if (!pinned) {
        return malloc(size);
    }
    ASSERT_OK(slc_cuda_pinned_reserve(stream, memory, size, "a test", &error));
    return memory->at;
}

static void host_free(slc_cuda_memory *memory, uint8_t *bytes)
{
    if (memory->at == NULL) {
        free(bytes);
    }
    slc_cuda_memory_clear(memory);
}

/* Fails unless the rows are there, and everything else is as it was. */
static void expect(const uint8_t *found, layout at, const uint8_t *wanted, layout from, slc_cuda_block block)
{
    uint8_t *all = filled(at.size, NULL);
    for (size_t y = 0; y < block.rows; y++) {
        memcpy(all + at.first + (ptrdiff_t)y * at.stride, wanted + from.first + (ptrdiff_t)y * from.stride,
               block.bytes);
    }
    assert_memory_equal(found, all, at.size);
    free(all);
}

/* From the host to the device, from there to another place on it, and back. */
static void round_trip(slc_cuda_block block, unsigned choice, uint64_t *seed)
{
    const size_t gap = choice % 3 * 64;
    const layout from = lay(block, gap, (choice & 4) != 0),
                 near = lay(block, (choice & 8) != 0 ? 32 : 0, false);
    const layout far = lay(block, 16, (choice & 16) != 0), back = lay(block, gap, (choice & 32) != 0);
    const bool pinned = (choice & 64) != 0;
    slc_cuda_memory first = {0}, second = {0}, host_lock, to_lock;
    uint8_t *host = host_memory(&host_lock, from.size, pinned),
            *to = host_memory(&to_lock, back.size, pinned);
    uint8_t *there = filled(far.size, NULL);
    fill(host, from.size, seed);
    fill(to, back.size, NULL);
    ASSERT_OK(slc_cuda_memory_reserve(stream, &first, near.size, "a test", &error));
    ASSERT_OK(slc_cuda_memory_reserve(stream, &second, far.size, "a test", &error));
    ASSERT_OK(slc_cuda_fill(stream, second.at, RUBBISH, far.size, &error));
    char *device = (char *)first.at + near.first, *moved = (char *)second.at + far.first;
    const bool gaps = (choice & 8) != 0;
    ASSERT_OK(
        slc_cuda_rows_put(rows, device, near.stride, host + from.first, from.stride, block, gaps, &error));
    ASSERT_OK(slc_cuda_rows_move(rows, moved, far.stride, device, near.stride, block, &error));
    ASSERT_OK(slc_cuda_rows_get(rows, to + back.first, back.stride, moved, far.stride, block, &error));
    ASSERT_OK(slc_cuda_rows_get(rows, there, (ptrdiff_t)far.size, second.at, (ptrdiff_t)far.size,
                                (slc_cuda_block){far.size, 1}, &error));
    ASSERT_OK(slc_cuda_rows_finish(rows, &error));
    expect(to, back, host, from, block);
    expect(there, far, host, from, block);
    slc_cuda_memory_clear(&first);
    slc_cuda_memory_clear(&second);
    host_free(&host_lock, host);
    host_free(&to_lock, to);
    free(there);
}

static void small_blocks(void **state)
{
    (void)state;
    static const slc_cuda_block blocks[] = {{1, 1}, {1, 100}, {64, 64}, {130, 7}, {1000, 300}, {4096, 1}};
    uint64_t seed = 1;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (unsigned choice = 0; choice < 128; choice++) {
            round_trip(blocks[b], choice, &seed);
        }
    }
}

/* Pieces are of 8 MiB. */
static void large_blocks(void **state)
{
    (void)state;
    static const slc_cuda_block blocks[] = {
        {(20U << 20) + 5, 1}, {(8U << 20) + 3, 3}, {8U << 20, 2}, {3000, 7001}, {5U << 20, 4}};
    uint64_t seed = 2;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (unsigned choice = 1; choice < 128; choice += 29) {
            round_trip(blocks[b], choice, &seed);
        }
    }
}

/* Rows to the device between others that come from it: a piece is emptied before it is filled again. */
static void both_ways(void **state)
{
    (void)state;
    enum { COPIES = 200, SIZE = 3000 };
    uint64_t seed = 3;
    slc_cuda_memory device = {0};
    uint8_t *from = filled(COPIES * SIZE, &seed), *to = filled(COPIES * SIZE, NULL);
    const slc_cuda_block block = {SIZE / 3, 3};
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, COPIES * SIZE, "a test", &error));
    for (size_t i = 0; i < COPIES; i++) {
        char *there = (char *)device.at + i * SIZE;
        ASSERT_OK(slc_cuda_rows_put(rows, there, SIZE / 3, from + i * SIZE, SIZE / 3, block, false, &error));
        ASSERT_OK(slc_cuda_rows_get(rows, to + i * SIZE, SIZE / 3, there, SIZE / 3, block, &error));
    }
    ASSERT_OK(slc_cuda_rows_finish(rows, &error));
    assert_memory_equal(to, from, COPIES * SIZE);
    slc_cuda_memory_clear(&device);
    free(from);
    free(to);
}

static void nothing_to_copy(void **state)
{
    (void)state;
    uint8_t byte = RUBBISH;
    const slc_cuda_block none[] = {{0, 5}, {5, 0}};
    for (size_t i = 0; i < 2; i++) {
        ASSERT_OK(slc_cuda_rows_put(rows, NULL, 5, &byte, 5, none[i], false, &error));
        ASSERT_OK(slc_cuda_rows_get(rows, &byte, 5, NULL, 5, none[i], &error));
        ASSERT_OK(slc_cuda_rows_move(rows, NULL, 5, NULL, 5, none[i], &error));
    }
    ASSERT_OK(slc_cuda_rows_finish(rows, &error));
    assert_int_equal(byte, RUBBISH);
}

static void whose_memory(void **state)
{
    (void)state;
    slc_cuda_memory device = {0}, locked = {0};
    uint8_t byte = 0;
    size_t before = 0, after = 0;
    ASSERT_OK(slc_cuda_free_bytes(stream, &before, &error));
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, 64U << 20, "a test", &error));
    ASSERT_OK(slc_cuda_pinned_reserve(stream, &locked, 100, "a test", &error));
    ASSERT_OK(slc_cuda_free_bytes(stream, &after, &error));
    assert_true(after < before);
    assert_true(slc_cuda_place_of((char *)device.at + 50).on_device);
    assert_int_equal(slc_cuda_place_of(device.at).device, 0);
    assert_false(slc_cuda_place_of(device.at).any_device);
    assert_false(slc_cuda_place_of(locked.at).on_device);
    assert_false(slc_cuda_place_of(&byte).on_device);
    assert_false(slc_cuda_place_of(NULL).on_device);
    slc_cuda_memory_clear(&device);
    slc_cuda_memory_clear(&locked);
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK ||
        slc_cuda_rows_open(stream, 3, &rows, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_blocks),    cmocka_unit_test(large_blocks), cmocka_unit_test(both_ways),
        cmocka_unit_test(nothing_to_copy), cmocka_unit_test(whose_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_rows_close(rows);
    slc_cuda_stream_close(stream);
    return failed;
}
