/* SPDX-License-Identifier: Apache-2.0
 * The ring between a socket and the writer: blocks of any sizes, in order and whole, across its end. */
#include "support/cmocka_all.h"

#include "daq/daq_pet_ring.h"
#include "io/pet/io_pet_raw.h"
#include "support/random.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { SIZE = 1 << 16, BLOCKS = 200000 };

/* Block i has a size and bytes that follow from i. */
static uint32_t size_of(uint32_t i)
{
    uint64_t seed = i;
    return 1 + random_below(&seed, i % 50 == 0 ? 20000 : 300);
}

static void *put_all(void *argument)
{
    slc_daq_pet_ring *ring = argument;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t payload = size_of(i);
        uint8_t *room = NULL;
        /* Asked for more than is used, as the socket's thread does. */
        while ((room = slc_daq_pet_ring_room(ring, SLC_PET_RAW_BLOCK + payload + i % 3 * 1000)) == NULL) {
            (void)sched_yield();
        }
        const slc_io_pet_block block = {.payload = payload, .datagram = 1, .time_ns = i};
        slc_io_pet_block_begin(room, &block);
        memset(room + SLC_PET_RAW_BLOCK, (int)(i & 0xff), payload);
        slc_daq_pet_ring_put(ring, SLC_PET_RAW_BLOCK + payload);
    }
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    slc_daq_pet_ring ring;
    pthread_t thread;
    uint64_t at = 0;
    uint32_t wrong = 0;
    assert_int_equal(slc_daq_pet_ring_init(&ring, SIZE), SLC_OK);
    assert_int_equal(pthread_create(&thread, NULL, put_all, &ring), 0);
    for (uint32_t i = 0; i < BLOCKS;) {
        const uint64_t put = atomic_load_explicit(&ring.put, memory_order_acquire);
        const uint8_t *block = slc_daq_pet_ring_at(&ring, &at, put);
        if (block == NULL) {
            (void)sched_yield();
            continue;
        }
        const slc_io_pet_block head = slc_io_pet_block_of(block);
        wrong += head.time_ns != i || head.payload != size_of(i);
        wrong += block < ring.bytes || block + SLC_PET_RAW_BLOCK + size_of(i) > ring.bytes + SIZE;
        wrong += block[SLC_PET_RAW_BLOCK] != (i & 0xff) ||
                 block[SLC_PET_RAW_BLOCK + size_of(i) - 1] != (i & 0xff);
        at += SLC_PET_RAW_BLOCK + size_of(i);
        i++;
        if (i % 5 == 0 || at == put) {
            atomic_store_explicit(&ring.taken, at, memory_order_release);
        }
    }
    (void)pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
    assert_null(slc_daq_pet_ring_at(&ring, &at, atomic_load(&ring.put)));
    slc_daq_pet_ring_clear(&ring);
}

/* A ring that nobody empties takes as much as it holds, and not a byte more. */
static void test_full(void **state)
{
    (void)state;
    slc_daq_pet_ring ring;
    assert_int_equal(slc_daq_pet_ring_init(&ring, SIZE), SLC_OK);
    const slc_io_pet_block block = {.payload = 1024 - SLC_PET_RAW_BLOCK, .datagram = 1};
    for (int i = 0; i < SIZE / 1024; i++) {
        uint8_t *room = slc_daq_pet_ring_room(&ring, 1024);
        assert_non_null(room);
        slc_io_pet_block_begin(room, &block);
        slc_daq_pet_ring_put(&ring, 1024);
    }
    assert_null(slc_daq_pet_ring_room(&ring, 1));
    atomic_store(&ring.taken, 1024);
    assert_null(slc_daq_pet_ring_room(&ring, 1025));
    assert_ptr_equal(slc_daq_pet_ring_room(&ring, 1024), ring.bytes);
    slc_daq_pet_ring_clear(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
