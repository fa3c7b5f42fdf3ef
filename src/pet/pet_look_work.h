/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what a picture is made of, for the processor and for GPUs, which do the sums over
 * lines.
 */
#ifndef SLUICE_PET_LOOK_WORK_H
#define SLUICE_PET_LOOK_WORK_H

#include "pet/pet_look_core.h"

#include <sluice/pet_look.h>

typedef struct slc_pet_look_work {
    slc_pet_look_grid grid;
    size_t voxels;
    uint32_t crystals;
    const float (*at_mm)[3], (*looks)[3]; /* by crystal: where it is, and where to it looks */
    const float *gauss;
    const slc_pet_look_event *event;
    size_t n;
    float wide_mm;
} slc_pet_look_work;

/* Each adds to sums that are 0: of the lines drawn what they are seen with; of events, in one iteration, what
 * they give to voxels, with `image` NULL the back-projection. *missed: events that gave nothing. */
typedef struct slc_pet_look_cuda slc_pet_look_cuda;
struct slc_pet_look_calls {
    slc_status (*open)(const slc_pet_look_work *work, uint32_t device, slc_pet_look_cuda **gpu,
                       slc_error *error);
    void (*close)(slc_pet_look_cuda *gpu); /* NULL is allowed */
    slc_status (*sensitivity)(slc_pet_look_cuda *gpu, uint32_t lines, uint64_t *sum, slc_error *error);
    /* From 1 in all voxels where sensitivity is above 0, so many times; 0: the back-projection. */
    slc_status (*iterate)(slc_pet_look_cuda *gpu, const float *sensitivity, uint32_t iterations, float *image,
                          uint64_t *missed, slc_error *error);
};
extern const struct slc_pet_look_calls slc_pet_look_calls;

/* By which sensitivities are multiplied. */
#define SLC_PET_LOOK_SEEN_SCALE 0x1p30F

#endif
