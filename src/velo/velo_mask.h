/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: pixels that are left out, before anything is made of an event's words. A sensor's words
 * are copied without them, so that all that comes after is as if the detector had not sent them.
 */
#ifndef SLUICE_VELO_MASK_H
#define SLUICE_VELO_MASK_H

#include <sluice/velo_types.h>

/* What masks the events of a chain. Zero-initialise. */
typedef struct slc_velo_masking {
    const slc_velo_mask *mask; /* NULL: none */
    uint8_t *room;             /* for the words of an event */
    size_t words;              /* that fit */
    uint64_t n;                /* pixels and clusters that were left out */
} slc_velo_masking;

/* Room for events of up to so many words. */
slc_status slc_velo_masking_reserve(slc_velo_masking *masking, size_t words);
void slc_velo_masking_clear(slc_velo_masking *masking);

static inline bool slc_velo_mask_keeps(const uint8_t *keep, uint32_t column, uint32_t row)
{
    return (keep[(column / 2) * SLC_VELO_SUPERPIXEL_ROWS + row / 4] >> ((column % 2) * 4 + row % 4) & 1) != 0;
}

struct slc_velo_event;
/* Replaces the words of sensors that have masked pixels in the event. */
void slc_velo_event_mask(struct slc_velo_event *context);

#endif
