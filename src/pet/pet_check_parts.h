/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the parts of a check. A module is a grid of cells, a crystal each: rows go around the
 * ring, columns along the axis. Where its number puts it is its place, the cells' order in it its turn.
 */
#ifndef SLUICE_PET_CHECK_PARTS_H
#define SLUICE_PET_CHECK_PARTS_H

#include <sluice/pet_check.h>

enum { SLC_PET_TURNS = 8, SLC_PET_TURN_MIRROR_Y = 1, SLC_PET_TURN_MIRROR_Z = 2, SLC_PET_TURN_HALF = 3 };
/* The cell that a cell of a module turned in one of the ways is in. From the fifth on, only square ones. */
uint32_t slc_pet_turned(uint32_t turn, uint32_t cell, uint32_t rows, uint32_t columns);

typedef struct slc_pet_sample {
    uint32_t module[2], cell[2]; /* of a pair */
    float dt_ps;
} slc_pet_sample;

/* What the search for places knows and finds. */
typedef struct slc_pet_places {
    uint32_t modules, rows, columns, turns;
    const double (*position_mm)[3]; /* by module · cells + cell */
    const slc_pet_sample *sample;
    size_t n;
    const uint32_t *of_module, *from_module; /* numbers of a module's samples: from_module[m] … [m + 1] − 1 */
    double reach_mm, step_mm;                /* largest distance from the axis, and a bin of distances */
    /* What was found. */
    uint32_t *place, *turn;            /* by module */
    double *odds;                      /* by module: of that, to its own place and the turn of all */
    uint32_t turn_of_all;              /* by which all modules are turned */
    double odds_of_all;                /* to none */
    uint32_t undecided[SLC_PET_TURNS]; /* modules for which this turn would be as good */
    uint32_t judged;                   /* modules with pairs enough */
    double source_mm[3];
} slc_pet_places;

enum { SLC_PET_CHECK_LEAST = 100 /* pairs of a module to be judged */ };

/* False: no memory. */
bool slc_pet_places_find(slc_pet_places *places);
/* Where the sample's crystal is, as found. */
static inline const double *slc_pet_places_end(const slc_pet_places *p, const slc_pet_sample *s, int end)
{
    const uint32_t module = s->module[end];
    const uint32_t cell = slc_pet_turned(p->turn[module], s->cell[end], p->rows, p->columns);
    return p->position_mm[(size_t)p->place[module] * p->rows * p->columns + cell];
}

/* Offsets of modules' clocks from pairs whose places are found, and their errors; NaN where there are few
 * pairs. False: no memory. */
bool slc_pet_module_times(const slc_pet_places *places, double *offset_ps, double *error_ps);

#endif
