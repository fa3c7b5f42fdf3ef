/* SPDX-License-Identifier: Apache-2.0
 *
 * Random VELO events for tests: sensors of any occupancy as banks of versions 2, 3 and 4, sound ones and ones
 * with everything that a bank should not have. Everything follows from the seed.
 */
#ifndef SUPPORT_VELO_BANKS_H
#define SUPPORT_VELO_BANKS_H

#include <sluice/base.h>

#include <stddef.h>
#include <stdint.h>

enum { SUPPORT_VELO_EVENT = 1 << 20 }; /* room for the bytes of one event */

/* What may be wrong with an event; 0 for sorted, sound banks. */
enum {
    SUPPORT_VELO_SHUFFLED = 1,     /* words in any order */
    SUPPORT_VELO_REPEATED = 2,     /* an address more than once */
    SUPPORT_VELO_EMPTY = 4,        /* words without a pixel */
    SUPPORT_VELO_OUTSIDE = 8,      /* columns behind the last one */
    SUPPORT_VELO_UNUSED_BITS = 16, /* bits that mean nothing */
    SUPPORT_VELO_FALSE_HINTS = 32,
    SUPPORT_VELO_BAD_BANKS = 64, /* counts, lengths, versions and sources; banks twice */
    SUPPORT_VELO_FLIPPED = 128,  /* bits anywhere */
    SUPPORT_VELO_DAMAGE = 256    /* one more than all of these */
};

/* Writes an event of `version` with about so many sensors (at most 208), each with up to 20 % of the pixels
 * of some window hit, to `bytes`, which has SUPPORT_VELO_EVENT bytes, and returns its size. The sensors that
 * fit are counted into *n_sensors. */
size_t support_velo_event(uint64_t *random, uint8_t version, uint32_t sensors, unsigned damage,
                          uint8_t *bytes, uint64_t *n_sensors);

/* The same events, 8 at most, as of a packet: references to the banks that a walk finds, which stay where
 * they are, or (align >= 0) lie in blocks of their sources, as the batch then tells, padded to 1 << align
 * bytes. `to` is to be cleared. */
void support_velo_packet(const slc_batch *from, int align, slc_batch *to);

#endif
