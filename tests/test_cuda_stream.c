/* SPDX-License-Identifier: Apache-2.0
 * Memory on a GPU, copies to and from it of all sizes, by way of page-locked pieces and at once, graphs and
 * events. Exits with 77 where there is no GPU. */
#include "cuda/cuda_rows.h"
#include "support/assert_ok.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_stream *stream;
static slc_cuda_rows *copies;

static slc_error error; /* of the last call */

static void fill_random(uint8_t *bytes, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(random_u64(&seed) >> 56);
    }
}

/* To the device and back, from and to memory that is page-locked or not. */
static void there_and_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        0, 1, 127, 4096, (4U << 20) - 1, 8U << 20, (8U << 20) + 1, (19U << 20) + 5};
    const size_t most = 20U << 20;
    slc_cuda_memory device = {0};
    uint8_t *from = malloc(most), *to = malloc(most);
    assert_true(from != NULL && to != NULL);
    fill_random(from, most, 1);
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, most, "a test", &error));
    for (unsigned pinned = 0; pinned < 4; pinned++) {
        if ((pinned & 1) != 0) {
            ASSERT_OK(slc_cuda_pin(from, most, &error));
        }
        if ((pinned & 2) != 0) {
            ASSERT_OK(slc_cuda_pin(to, most, &error));
        }
        assert_int_equal(slc_cuda_is_pinned(from), (pinned & 1) != 0);
        assert_int_equal(slc_cuda_is_pinned(to + most / 2), (pinned & 2) != 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            memset(to, 0xEE, most);
            ASSERT_OK(slc_cuda_fill(stream, device.at, 0x11, most, &error));
            ASSERT_OK(slc_cuda_send(copies, device.at, from + i, sizes[i], &error));
            ASSERT_OK(slc_cuda_fetch(copies, to, device.at, sizes[i], &error));
            ASSERT_OK(slc_cuda_fetch(copies, to + sizes[i], (char *)device.at + sizes[i], 7, &error));
            ASSERT_OK(slc_cuda_rows_finish(copies, &error));
            assert_memory_equal(to, from + i, sizes[i]);
            for (size_t k = 0; k < 7; k++) {
                assert_int_equal(to[sizes[i] + k], 0x11);
            }
            assert_int_equal(to[sizes[i] + 7], 0xEE);
        }
        if ((pinned & 1) != 0) {
            slc_cuda_unpin(from);
        }
        if ((pinned & 2) != 0) {
            slc_cuda_unpin(to);
        }
    }
    slc_cuda_memory_clear(&device);
    free(from);
    free(to);
}

/* More small copies than a piece counts, and together more than a piece holds, in one go. */
static void many_copies(void **state)
{
    (void)state;
    enum { COPIES = 500 };
    const size_t most = 16U << 20;
    slc_cuda_memory device = {0};
    uint8_t *from = malloc(most), *to = calloc(1, most);
    assert_true(from != NULL && to != NULL);
    fill_random(from, most, 2);
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, most, "a test", &error));
    ASSERT_OK(slc_cuda_send(copies, device.at, from, most, &error));
    uint64_t seed = 3;
    size_t at = 0;
    for (size_t i = 0; i < COPIES; i++) {
        const size_t n = random_u64(&seed) % (i % 50 == 0 ? 300000 : 30000);
        ASSERT_OK(slc_cuda_fetch(copies, to + at, (char *)device.at + at, n, &error));
        at += n;
    }
    assert_true(at < most);
    ASSERT_OK(slc_cuda_rows_finish(copies, &error));
    assert_memory_equal(to, from, at);
    assert_int_equal(to[at], 0);
    slc_cuda_memory_clear(&device);
    free(from);
    free(to);
}

static void memory_grows_and_ends(void **state)
{
    (void)state;
    slc_cuda_memory memory = {0};
    ASSERT_OK(slc_cuda_memory_reserve(stream, &memory, 1000, "a test", &error));
    const void *at = memory.at;
    ASSERT_OK(slc_cuda_memory_reserve(stream, &memory, 10, "a test", &error));
    assert_ptr_equal(memory.at, at);
    assert_int_equal(slc_cuda_memory_reserve(stream, &memory, (size_t)1 << 50, "a large test", &error),
                     SLC_ERR_MEMORY);
    assert_non_null(strstr(error.text, "a large test"));
    assert_non_null(strstr(error.text, "MiB"));
    assert_null(memory.at);
    /* The failure is over: the next call works. */
    ASSERT_OK(slc_cuda_memory_reserve(stream, &memory, 1000, "a test", &error));
    ASSERT_OK(slc_cuda_fill(stream, memory.at, 1, 1000, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    slc_cuda_memory_clear(&memory);
    assert_null(memory.at);
    slc_cuda_memory_clear(&memory);
}

/* A recording does nothing until it is launched, and then every time. */
static void graphs_do_what_was_recorded(void **state)
{
    (void)state;
    slc_cuda_memory device = {0}, host = {0};
    slc_cuda_graph graph = {0};
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, 64, "a test", &error));
    ASSERT_OK(slc_cuda_pinned_reserve(stream, &host, 64, "a test", &error));
    memset(host.at, 0, 64);
    for (int byte = 1; byte <= 2; byte++) { /* the second recording replaces the first */
        slc_status status = SLC_OK;
        ASSERT_OK(slc_cuda_graph_begin(stream, &error));
        status = slc_cuda_fill(stream, device.at, byte, 64, &error);
        status = status == SLC_OK ? slc_cuda_to_host(stream, host.at, device.at, 64, &error) : status;
        ASSERT_OK(slc_cuda_graph_end(stream, &graph, status, &error));
        ASSERT_OK(slc_cuda_stream_wait(stream, &error));
        assert_int_equal(((const char *)host.at)[63], byte == 1 ? 0 : 1);
        ASSERT_OK(slc_cuda_graph_launch(stream, &graph, &error));
        ASSERT_OK(slc_cuda_stream_wait(stream, &error));
        assert_int_equal(((const char *)host.at)[63], byte);
    }
    /* A recording that failed leaves the graph and the stream as they were. */
    ASSERT_OK(slc_cuda_graph_begin(stream, &error));
    assert_int_equal(slc_cuda_graph_end(stream, &graph, SLC_ERR_USAGE, &error), SLC_ERR_USAGE);
    memset(host.at, 0, 64);
    ASSERT_OK(slc_cuda_graph_launch(stream, &graph, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    assert_int_equal(((const char *)host.at)[0], 2);
    slc_cuda_graph_clear(&graph);
    slc_cuda_memory_clear(&device);
    slc_cuda_memory_clear(&host);
}

static void events_take_time(void **state)
{
    (void)state;
    const size_t bytes = (size_t)256 << 20;
    slc_cuda_memory device = {0};
    slc_cuda_event *first = NULL, *second = NULL;
    ASSERT_OK(slc_cuda_memory_reserve(stream, &device, bytes, "a test", &error));
    ASSERT_OK(slc_cuda_event_open(stream, &first, &error));
    ASSERT_OK(slc_cuda_event_open(stream, &second, &error));
    slc_cuda_range_begin("test: filling");
    ASSERT_OK(slc_cuda_event_record(stream, first, &error));
    ASSERT_OK(slc_cuda_fill(stream, device.at, 1, bytes, &error));
    ASSERT_OK(slc_cuda_event_record(stream, second, &error));
    slc_cuda_range_end();
    double seconds = -1;
    ASSERT_OK(slc_cuda_event_seconds(first, second, &seconds, &error));
    (void)printf("filled at %.0f GB/s\n", (double)bytes / seconds / 1e9);
    assert_true(seconds > 1e-6 && seconds < 10);
    slc_cuda_event_close(first);
    slc_cuda_event_close(second);
    slc_cuda_event_close(NULL);
    slc_cuda_memory_clear(&device);
}

/* Blocks are handed out again, as they were locked, to who wants no more than they have. */
static void blocks_go_from_hand_to_hand(void **state)
{
    (void)state;
    const size_t size = (size_t)5 << 20;
    uint8_t *a = slc_cuda_block_allocate(size), *b = slc_cuda_block_allocate(100);
    assert_true(a != NULL && b != NULL && a != b);
    memset(a, 1, size);
    assert_false(slc_cuda_is_pinned(a));
    assert_true(slc_cuda_block_lock(a, 1) && slc_cuda_block_lock(a, 1));
    assert_true(slc_cuda_is_pinned(a + size - 1) && !slc_cuda_is_pinned(b));
    slc_cuda_block_release(a);
    slc_cuda_block_release(b);
    assert_ptr_equal(slc_cuda_block_allocate(50), b); /* the smaller one */
    uint8_t *c = slc_cuda_block_allocate(50), *d = slc_cuda_block_allocate((size_t)64 << 20);
    assert_ptr_equal(c, a);
    assert_true(d != NULL && d != a && d != b && slc_cuda_is_pinned(c));
    slc_cuda_block_release(b);
    slc_cuda_block_release(c);
    slc_cuda_block_release(d);
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK ||
        slc_cuda_rows_open(stream, 4, &copies, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),        cmocka_unit_test(many_copies),
        cmocka_unit_test(memory_grows_and_ends), cmocka_unit_test(graphs_do_what_was_recorded),
        cmocka_unit_test(events_take_time),      cmocka_unit_test(blocks_go_from_hand_to_hand),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_rows_close(copies);
    slc_cuda_stream_close(stream);
    return failed;
}
