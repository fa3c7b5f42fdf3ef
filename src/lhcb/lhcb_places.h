/* SPDX-License-Identifier: Apache-2.0
 *
 * Where banks of some types are in the events of a batch, noted by who walks over all banks anyway: nobody
 * else needs to walk then.
 */
#ifndef SLUICE_LHCB_PLACES_H
#define SLUICE_LHCB_PLACES_H

#include "base/bytes.h"
#include <sluice/lhcb.h>

/* Of an event at most; and for an event over which nobody walked, or where that is not enough, or something
 * is wrong between banks. */
enum { SLC_LHCB_PLACES = 512, SLC_LHCB_PLACES_UNKNOWN = 0xffff };

/* Zero-initialise, and set the types. */
typedef struct slc_lhcb_places {
    uint8_t types[8]; /* up to the first 0 */
    uint32_t events;  /* for which there is room */
    uint32_t *place;  /* of headers in the event, SLC_LHCB_PLACES for each event, in its order */
    uint16_t *n;      /* of each event */
} slc_lhcb_places;

/* Room for so many events, of which nothing is known then. */
slc_status slc_lhcb_places_reserve(slc_lhcb_places *places, uint32_t events);
void slc_lhcb_places_clear(slc_lhcb_places *places);
/* Forgets what is known of events. */
void slc_lhcb_places_reset(slc_lhcb_places *places);

/* `places`, or NULL if there is no room for so many events. */
static inline slc_lhcb_places *slc_lhcb_places_if_room(slc_lhcb_places *places, uint32_t events)
{
    return places != NULL && places->events >= events ? places : NULL;
}

/* Is it known where banks of event number e are? */
static inline bool slc_lhcb_places_know(const slc_lhcb_places *places, uint32_t e)
{
    return places != NULL && e < places->events && places->n[e] != SLC_LHCB_PLACES_UNKNOWN;
}

/* The bank whose header is at `place` in the event; it was found by a walk. */
static inline slc_lhcb_bank slc_lhcb_bank_at(const uint8_t *event, uint32_t place)
{
    const uint8_t *header = event + place;
    const uint64_t fields = slc_load_u64(header);
    return (slc_lhcb_bank){.payload = header + SLC_LHCB_BANK_HEADER,
                           .size = (uint32_t)(fields >> 16 & 0xffff) - SLC_LHCB_BANK_HEADER,
                           .type = (uint8_t)(fields >> 32),
                           .version = (uint8_t)(fields >> 40),
                           .source = (int16_t)(fields >> 48),
                           .offset = place};
}

#endif
