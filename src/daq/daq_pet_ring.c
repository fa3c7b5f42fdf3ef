/* SPDX-License-Identifier: Apache-2.0
 * The ring: positions only grow; a place is a position modulo the size. */
#if defined(__linux__)
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
#endif
#include "daq/daq_pet_ring.h"

#include "base/bytes.h"
#include "io/pet/io_pet_raw.h"

#include <sys/mman.h>

#if !defined(MAP_POPULATE)
#define MAP_POPULATE 0
#endif

slc_status slc_daq_pet_ring_init(slc_daq_pet_ring *ring, size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (bytes == MAP_FAILED) {
        return SLC_ERR_MEMORY;
    }
    ring->bytes = bytes;
    ring->size = size;
    ring->begun = ring->freed = 0;
    atomic_init(&ring->put, 0);
    atomic_init(&ring->taken, 0);
    return SLC_OK;
}

void slc_daq_pet_ring_clear(slc_daq_pet_ring *ring)
{
    if (ring->bytes != NULL) {
        (void)munmap(ring->bytes, ring->size);
        ring->bytes = NULL;
    }
}

uint8_t *slc_daq_pet_ring_room(slc_daq_pet_ring *ring, size_t bytes)
{
    const size_t place = (size_t)(ring->begun % ring->size), to_end = ring->size - place;
    const size_t need = bytes <= to_end ? bytes : to_end + bytes;
    if (ring->begun + need - ring->freed > ring->size) {
        ring->freed = atomic_load_explicit(&ring->taken, memory_order_acquire);
        if (ring->begun + need - ring->freed > ring->size) {
            return NULL;
        }
    }
    if (bytes <= to_end) {
        return ring->bytes + place;
    }
    if (to_end >= sizeof(uint32_t)) {
        slc_store_u32(ring->bytes + place, 0); /* no block begins so */
    }
    ring->begun += to_end;
    return ring->bytes;
}

void slc_daq_pet_ring_put(slc_daq_pet_ring *ring, size_t bytes)
{
    ring->begun += bytes;
    atomic_store_explicit(&ring->put, ring->begun, memory_order_release);
}

uint8_t *slc_daq_pet_ring_at(const slc_daq_pet_ring *ring, uint64_t *position, uint64_t put)
{
    if (*position == put) {
        return NULL;
    }
    const size_t place = (size_t)(*position % ring->size), to_end = ring->size - place;
    if (to_end >= SLC_PET_RAW_BLOCK && slc_load_u32(ring->bytes + place) != 0) {
        return ring->bytes + place;
    }
    *position += to_end;
    return ring->bytes;
}
