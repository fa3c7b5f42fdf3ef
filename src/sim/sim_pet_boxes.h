/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_pet: crystals anywhere, as boxes, and which of them a ray meets one after the other.
 */
#ifndef SLUICE_SIM_PET_BOXES_H
#define SLUICE_SIM_PET_BOXES_H

#include "sim/sim_pet_event.h"

typedef struct sim_pet_box {
    double middle[3];
    double side[3][3]; /* unit vectors: towards the field of view, across, along the crystal's z */
    double half[3];    /* how far it reaches along each */
} sim_pet_box;

/* A part of a ray that is in a crystal. */
typedef struct sim_pet_crossing {
    double enter, leave; /* mm along the ray; from 0 on */
    uint32_t crystal;
} sim_pet_crossing;

/* Boxes of all crystals, as deep as the geometry says, or without a depth. Their sizes are the distances of
 * neighbours in a unit. SLC_ERR_USAGE where these tell none, SLC_ERR_MEMORY. */
slc_status slc_sim_pet_boxes_make(const slc_pet_geometry *geometry, bool flat, sim_pet_boxes **boxes,
                                  slc_error *error);
void slc_sim_pet_boxes_free(sim_pet_boxes *boxes); /* NULL is allowed */
const sim_pet_box *slc_sim_pet_box_of(const sim_pet_boxes *boxes, uint32_t crystal);

/* The next crystal that a ray meets behind the crossing that it gets, in the order of `enter`, equal ones by
 * their numbers; the first one behind {.enter = -1}. False: no more. */
bool slc_sim_pet_boxes_next(const sim_pet_boxes *boxes, const double from[3], const double to[3],
                            sim_pet_crossing *crossing);
/* Does the ray meet this one, and where? */
bool slc_sim_pet_box_cross(const sim_pet_box *box, const double from[3], const double to[3], double *enter,
                           double *leave);

#endif
