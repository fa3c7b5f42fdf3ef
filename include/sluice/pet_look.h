/* SPDX-License-Identifier: Apache-2.0
 *
 * A picture of what is in a scanner, of pairs alone and within seconds: list-mode back-projection, or a few
 * iterations of MLEM (L. Shepp and Y. Vardi, 1982; lists: H. Barrett, T. White and L. Parra, 1997), with
 * times of flight where pairs have them. It is for looking: is the source where it should be, do all modules
 * see it? Sensitivity is that of the geometry; attenuation, scatter, randoms, crystals' efficiencies and the
 * blur of crystals are left out. For images that are measured in take the list to CASToR, STIR or YRT-PET.
 *
 * Sums over lines are integers, so that an image is the same, bit for bit, for every number of threads and on
 * a GPU.
 */
#ifndef SLUICE_PET_LOOK_H
#define SLUICE_PET_LOOK_H

#include <sluice/pet_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_look_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    double voxel_mm; /* of a cube; 0: 5/16 of the crystals' pitch, or more where voxels would be
                      * above 2^22. Large ones draw a point to their middle */
    /* The field of view, a cylinder about the axis; 0: two thirds of the way between opposite crystals, and
     * as long as the rings are. */
    double diameter_mm, length_mm;
    uint32_t iterations;        /* 0 to 1000; 0: the back-projection. 10 */
    double tof_fwhm_ps;         /* resolution of the pairs' time differences; 0: they are not used */
    uint32_t sensitivity_lines; /* drawn at random; 2^20 */
    slc_exec exec;              /* threads; device: "cuda", "cuda:N" */
} slc_pet_look_config;
SLC_API void slc_pet_look_config_default(slc_pet_look_config *config, size_t size);
#define slc_pet_look_config_default(config) slc_pet_look_config_default(config, sizeof *(config))

typedef struct slc_pet_look slc_pet_look;
/* SLC_ERR_USAGE names the field that cannot be, also where there would be more than 2^27 voxels. A look
 * belongs to one thread at a time. */
SLC_API slc_status slc_pet_look_open(const slc_pet_look_config *config, slc_pet_look **look,
                                     slc_error *error);
SLC_API void slc_pet_look_close(slc_pet_look *look); /* NULL is allowed */
/* Keeps the lines of prompts, 12 bytes each, at most 2^31 − 1. Delayeds, and pairs of crystals that the
 * scanner does not have, are left out and counted. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_look_add(slc_pet_look *look, const slc_pet_coincidences *pairs, slc_error *error);

typedef struct slc_pet_look_image {
    uint32_t n[3];                /* voxels along x, y, z */
    double voxel_mm, first_mm[3]; /* the middle of the first voxel */
    /* [(z · n[1] + y) · n[0] + x], the look's memory until it is closed or run again. Of MLEM, how many pairs
     * would have come of the voxel if it were where sensitivity is best; 0 outside of the field of view, and
     * where sensitivity is below a hundredth. */
    const float *value;
    float largest;
    double hottest_mm[3];  /* the middle of the largest voxel */
    double centroid_mm[3]; /* of what is around that within reach_mm: 5 mm, or three crystals */
    double reach_mm;
    uint64_t used, delayeds, outside; /* pairs; outside: of no crystal */
    uint64_t missed;   /* of those used: lines beside the field of view, or with no image left */
    uint64_t checksum; /* of the values */
} slc_pet_look_image;
/* The field of view and the voxels as they came to be; any may be NULL. */
SLC_API void slc_pet_look_field(const slc_pet_look *look, double *diameter_mm, double *length_mm,
                                double *voxel_mm);
/* The image of all pairs that were added. On a processor every thread has sums of its own, 8 bytes a voxel;
 * there are no more threads than have them in 1 GiB. SLC_ERR_USAGE without a pair, SLC_ERR_MEMORY,
 * SLC_ERR_UNSUPPORTED where there is no such device. */
SLC_API slc_status slc_pet_look_run(slc_pet_look *look, slc_pet_look_image *image, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
