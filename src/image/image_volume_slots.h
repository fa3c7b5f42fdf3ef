/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes that come slice by slice: a slot for each component that is open, with its
 * sums. Slots that are united have one root, with the sums of all.
 */
#ifndef SLUICE_IMAGE_VOLUME_SLOTS_H
#define SLUICE_IMAGE_VOLUME_SLOTS_H

#include "image/image_volume_grey.h"
#include "image/image_volume_sums.h"

static const uint32_t slc_volume_no_slot = UINT32_MAX;

typedef struct slc_volume_slot {
    slc_volume_sums sums;
    uint32_t parent; /* itself, but of one that was united with another */
    bool alive;      /* has a span in the slice being taken */
} slc_volume_slot;

typedef struct slc_volume_slots {
    slc_volume_slot *at;
    slc_volume_grey_sums *greys; /* of each slot; NULL unless `grey` */
    uint32_t *free, *united;     /* as many as there are slots */
    size_t n, n_free, n_united;
    bool grey;           /* sums of grey values are wanted, ... */
    slc_image_type type; /* ... which are of this type */
} slc_volume_slots;

/* realloc of n things of a size; false: there is no memory, and *at is as it was. */
bool slc_volume_grow(void **at, size_t n, size_t size);

/* All slots are free. */
void slc_volume_slots_begin(slc_volume_slots *slots);
void slc_volume_slots_clear(slc_volume_slots *slots);
/* So many are free. */
bool slc_volume_slots_reserve(slc_volume_slots *slots, size_t n);
/* A free slot, of nothing. */
uint32_t slc_volume_slots_take(slc_volume_slots *slots);
/* The slots that were united with others are free from here on: nobody may know them but by their roots. */
void slc_volume_slots_release(slc_volume_slots *slots);

static inline uint32_t slc_volume_slots_find(slc_volume_slots *slots, uint32_t at)
{
    slc_volume_slot *all = slots->at;
    while (all[at].parent != at) {
        all[at].parent = all[all[at].parent].parent;
        at = all[at].parent;
    }
    return at;
}

/* Two roots become one. */
void slc_volume_slots_unite(slc_volume_slots *slots, uint32_t one, uint32_t other);
/* Voxels of a row, to a root. `run` has grey values where they are wanted. */
void slc_volume_slots_add(slc_volume_slots *slots, uint32_t root, const slc_volume_grey_run *run);
/* A component has ended: its slot is free, and its sums stay until that is taken. */
void slc_volume_slots_end(slc_volume_slots *slots, uint32_t root);
/* The row of a component that has ended, of the columns that a collection has. */
void slc_volume_slots_put(const slc_volume_slots *slots, uint32_t root, slc_volume_components *to,
                          size_t row);

#endif
