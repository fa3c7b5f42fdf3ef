/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the ring between the thread of a socket and the writer. One thread puts blocks in, one
 * takes them out; neither waits for the other, and no lock is needed. A block lies in one piece, as it will
 * in the file: where the end of the ring is too near, the rest is left empty and the block begins at the
 * front.
 */
#ifndef SLUICE_DAQ_PET_RING_H
#define SLUICE_DAQ_PET_RING_H

#include <sluice/base.h>

#include <stdatomic.h>

/* What one thread writes and the other reads has a line of the cache of its own.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
typedef struct slc_daq_pet_ring {
    uint8_t *bytes;
    size_t size;
    uint64_t begun;                       /* the putting thread's: behind what it has laid out */
    uint64_t freed;                       /* the same's: how far it knows that room is free */
    _Alignas(128) _Atomic uint64_t put;   /* blocks before this are complete */
    _Alignas(128) _Atomic uint64_t taken; /* room before this is free again */
} slc_daq_pet_ring;

/* The memory is touched, so that nothing is missing later. SLC_ERR_MEMORY. */
slc_status slc_daq_pet_ring_init(slc_daq_pet_ring *ring, size_t size);
void slc_daq_pet_ring_clear(slc_daq_pet_ring *ring);

/* Room for so many bytes, or NULL where there is none now. It may be asked for again without being used. */
uint8_t *slc_daq_pet_ring_room(slc_daq_pet_ring *ring, size_t bytes);
/* The first so many bytes of that room are blocks: there to be taken. */
void slc_daq_pet_ring_put(slc_daq_pet_ring *ring, size_t bytes);

/* The block at a position, which moves on over an empty end; NULL where none has been put. */
uint8_t *slc_daq_pet_ring_at(const slc_daq_pet_ring *ring, uint64_t *position, uint64_t put);

#endif
