/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: what the page of PET counts (live_pet.c) and puts (live_pet_put.c). */
#ifndef SLUICE_LIVE_PET_PART_H
#define SLUICE_LIVE_PET_PART_H

#include <sluice/live_pet.h>

#include <pthread.h>

enum {
    SLC_LIVE_PET_BLOCKS = SLC_PET_MAX_MODULES * SLC_PET_MAX_UNITS,
    SLC_LIVE_PET_FLOODS = 512, /* that are kept */
    SLC_LIVE_PET_SIDE = 256,
    SLC_LIVE_PET_ENERGIES = 65536,
    SLC_LIVE_PET_TIMES = 200,                 /* bins of differences */
    SLC_LIVE_PET_MATRIX = SLC_LIVE_PET_BLOCKS /* number of its map, behind those of the blocks */
};

struct slc_live_pet {
    slc_live *live;
    const slc_pet_config *config;
    const slc_pet_tables *tables;
    uint32_t modules;
    double began;
    pthread_mutex_t mutex;   /* over what follows */
    double sampled_at, left; /* when, and how many frames may be looked at */
    uint64_t sampled, sampled_pairs;
    uint16_t *flood[SLC_LIVE_PET_BLOCKS]; /* by module and unit; NULL: not seen */
    uint32_t n_floods, last_block, last_unit, last_place;
    uint64_t energy[SLC_LIVE_PET_ENERGIES], dt[SLC_LIVE_PET_TIMES];
    uint32_t *matrix; /* modules × modules; NULL without a chain */
    slc_faults faults;
    uint32_t cells[SLC_LIVE_PET_SIDE * SLC_LIVE_PET_SIDE]; /* of the map that is put */
};

#endif
