/* SPDX-License-Identifier: Apache-2.0
 *
 * Nearly ordered singles into order, by several threads. Each has a stretch of time to itself, so that
 * nothing is left to be merged; blocks of arrivals of which earliest and latest are known tell it what to
 * leave out.
 *
 *     in order ──┐
 *     arrivals ──┼─count─► places ─distribute─► buckets ─insert─► given: before a bound
 *     arrivals ──┘                                              └► kept: the others
 */
#ifndef SLUICE_PET_SORT_SPREAD_H
#define SLUICE_PET_SORT_SPREAD_H

#include "base/team.h"

#include <sluice/pet_types.h>

enum { SLC_PET_SORT_BLOCK = 512, SLC_PET_SORT_THREADS = 64 };

typedef struct slc_pet_block {
    int64_t earliest, latest;
} slc_pet_block;

/* Singles that lie somewhere; blocks: of each SLC_PET_SORT_BLOCK of them. */
typedef struct slc_pet_stretch {
    const int64_t *time;
    const uint32_t *crystal;
    const float *energy;
    size_t n;
    const slc_pet_block *blocks;
} slc_pet_stretch;

/* A single as one piece, which moves with one store. */
typedef struct slc_pet_record {
    int64_t time;
    uint32_t crystal;
    float energy;
} slc_pet_record;

/* Memory to work in. Zero-initialise. */
typedef struct slc_pet_sort_room {
    slc_pet_record *moved, *spare; /* spare: for buckets in which many are */
    uint32_t *place;               /* of the next single in each bucket */
    size_t capacity;
} slc_pet_sort_room;

bool slc_pet_sort_reserve(slc_pet_sort_room *room, size_t n);
void slc_pet_sort_clear(slc_pet_sort_room *room);

typedef struct slc_pet_spread {
    slc_pet_stretch ordered; /* needs no blocks */
    slc_pet_stretch
        arrivals[2];       /* one behind the other, behind `ordered`: of one time the first comes first */
    int64_t first, latest; /* no single is before or behind */
    bool all;              /* are given; else those before `bound` */
    int64_t bound;
    /* Rows are written from these on, where there is room for all. The rows kept may lie where `ordered` and
     * `arrivals` do: these are read before. */
    slc_pet_singles *given, *kept;
    size_t given_row, kept_row;
} slc_pet_spread;

/* There is room for all in `room`, and a time at least. Returns how many are given. */
size_t slc_pet_sort_spread(const slc_pet_spread *spread, const slc_pet_sort_room *room, slc_team *team,
                           uint32_t threads);

/* The first time from `from` on that is above `bound`, or at it where `at` is set; n where there is none. */
size_t slc_pet_sort_first_behind(const int64_t *time, size_t from, size_t n, int64_t bound, bool at);

#endif
