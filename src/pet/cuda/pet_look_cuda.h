/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the launchers of pet_look.cu. Pointers are to the device's memory.
 */
#ifndef SLUICE_PET_LOOK_CUDA_H
#define SLUICE_PET_LOOK_CUDA_H

#include "pet/pet_look_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_look_job {
    slc_pet_look_work work; /* its pointers, too */
    const float *sensitivity;
    float *image;
    unsigned long long *sum, *missed;
    void *stream;
} slc_pet_look_job;

/* Each begins in the stream: sums of lines, of events (`use_image` false: the back-projection), the next
 * image of sums; the first image, 1 where there is sensitivity. */
slc_status slc_pet_look_launch_lines(const slc_pet_look_job *job, uint32_t lines, slc_error *error);
slc_status slc_pet_look_launch_events(const slc_pet_look_job *job, bool use_image, slc_error *error);
slc_status slc_pet_look_launch_next(const slc_pet_look_job *job, bool first, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
