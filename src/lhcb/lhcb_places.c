/* SPDX-License-Identifier: Apache-2.0
 * Room for the places of banks. */
#include "lhcb/lhcb_places.h"

#include <stdlib.h>
#include <string.h>

void slc_lhcb_places_clear(slc_lhcb_places *places)
{
    free(places->place);
    free(places->n);
    places->place = NULL;
    places->n = NULL;
    places->events = 0;
}

slc_status slc_lhcb_places_reserve(slc_lhcb_places *places, uint32_t events)
{
    if (events > places->events) {
        slc_lhcb_places_clear(places);
        places->place = malloc((size_t)events * SLC_LHCB_PLACES * sizeof *places->place);
        places->n = malloc((size_t)events * sizeof *places->n);
        if (places->place == NULL || places->n == NULL) {
            slc_lhcb_places_clear(places);
            return SLC_ERR_MEMORY;
        }
        places->events = events;
    }
    slc_lhcb_places_reset(places);
    return SLC_OK;
}

void slc_lhcb_places_reset(slc_lhcb_places *places)
{
    for (uint32_t e = 0; e < places->events; e++) {
        places->n[e] = SLC_LHCB_PLACES_UNKNOWN;
    }
}
