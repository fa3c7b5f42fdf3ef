/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pair of crystals detects of what it should: efficiencies of crystals from a measurement of a known
 * source, geometric factors, and the attenuation of an object, as factors by which pairs are multiplied.
 * docs/howto/pet-normalise.md.
 *
 * The model: of a pair (a, b) are expected k · efficiency[a] · efficiency[b] · radial · axial · E counts. E
 * is the integral of the source's activity along the line between the crystals' middles, times the cosines of
 * the line to both crystals' directions over the square of its length, and times what the source itself lets
 * through; so a source that is not seen evenly does not bias anything.
 */
#ifndef SLUICE_PET_NORMALISE_H
#define SLUICE_PET_NORMALISE_H

#include <sluice/pet_convert.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- objects ----------------------------------------------------------------------------------- */

/* A uniform cylinder along z, or what is between two: a rod on its way around the axis is a shell. */
typedef struct slc_pet_cylinder {
    double x_mm, y_mm, z_mm; /* its middle */
    double radius_mm;
    double inner_mm;  /* of a shell; 0: full */
    double length_mm; /* 0: endless */
    double mu_per_cm; /* by which it attenuates; 0: not at all. Water at 511 keV: 0.096 */
} slc_pet_cylinder;
/* From words: "radius=30mm,inner=28mm,length=200mm,x=0mm,y=0mm,z=0mm,mu=0.096"; those that are left out are
 * 0, but the radius is needed. SLC_ERR_USAGE for words that cannot be; *error names the first. */
SLC_API slc_status slc_pet_cylinder_of(const char *words, slc_pet_cylinder *cylinder, slc_error *error);

/* Attenuation in voxels: value[(z · ny + y) · nx + x], 1/cm. */
typedef struct slc_pet_image {
    uint32_t nx, ny, nz;
    double voxel_mm[3];  /* x, y, z */
    double middle_mm[3]; /* where the image's middle is */
    const float *value;
} slc_pet_image;

/* ---- efficiencies ------------------------------------------------------------------------------ */

typedef struct slc_pet_normalise_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    slc_pet_cylinder source; /* its activity is uniform */
    /* Pairs whose line passes so near to the source's edge are left out, as crystals are not points; 0: as
     * crystals around the ring are wide. */
    double edge_mm;
    uint32_t ring_difference; /* pairs of crystals farther apart along the axis, in pitches, are left out */
    bool geometric;           /* find radial and axial factors, too */
    slc_exec exec;            /* threads */
} slc_pet_normalise_config;
/* "mouse20", no source, all rings. */
SLC_API void slc_pet_normalise_config_default(slc_pet_normalise_config *config, size_t size);
#define slc_pet_normalise_config_default(config) slc_pet_normalise_config_default(config, sizeof *(config))

typedef struct slc_pet_normalise slc_pet_normalise;
/* SLC_ERR_USAGE names the field: a source that has no radius, is not inside the ring, or is not thicker than
 * its edges. A normalisation belongs to one thread at a time. */
SLC_API slc_status slc_pet_normalise_open(const slc_pet_normalise_config *config,
                                          slc_pet_normalise **normalise, slc_error *error);
SLC_API void slc_pet_normalise_close(slc_pet_normalise *normalise); /* NULL is allowed */

/* Counts pairs; delayeds count −1. Those whose line does not pass through the source are left out.
 * SLC_ERR_FORMAT for a crystal that the scanner does not have; the pairs before it are counted. */
SLC_API slc_status slc_pet_normalise_add(slc_pet_normalise *normalise, const slc_pet_coincidences *pairs,
                                         slc_error *error);

typedef struct slc_pet_normalise_found {
    uint64_t prompts, delayeds; /* that took part */
    uint64_t outside;           /* did not: their line is not inside the source, or is too oblique */
    uint32_t dead;              /* crystals that should have counts and have none; efficiency 0 */
    uint32_t unseen;            /* crystals that no line through the source joins; efficiency 0 */
    uint32_t passes;            /* over all pairs of crystals */
    bool converged;             /* no crystal's counts are off by more than a tenth of their error */
    double spread;              /* standard deviation of the efficiencies that are not 0 */
    double error;               /* what of it the counts' own chance explains */
    /* Mean efficiency of each block [module · units + unit], and by place in the block [y · crystals_z + z]
     * over the block's mean; of crystals that are not dead. NULL where there are none. */
    const float *block, *place;
    uint32_t n_blocks, n_places;
    /* With `geometric`: factors of pairs whose line passes the axis at [distance / radial_mm], and whose
     * crystals are [|z1 − z2| / axial_mm, rounded] apart; 1 where nothing was measured. Their mean over the
     * counts is 1. */
    const float *radial, *axial;
    uint32_t n_radial, n_axial;
    double radial_mm, axial_mm;
} slc_pet_normalise_found;
/* Efficiencies by crystal, of mean 1 over those that are not dead: the most likely ones for the fan sums,
 * which are all that the counts say of them (Poisson; D. Hogg and others, IEEE NSS 2001, M7-5), by Newton's
 * method and conjugate gradients. `found` points into the normalisation, until its next call. More may be
 * added afterwards. SLC_ERR_FORMAT where there is no pair. The result does not depend on threads. */
SLC_API slc_status slc_pet_normalise_solve(slc_pet_normalise *normalise, float *efficiency,
                                           slc_pet_normalise_found *found, slc_error *error);

/* ---- factors of pairs -------------------------------------------------------------------------- */

typedef struct slc_pet_factors_config {
    size_t size;                       /* of this struct; set by _config_default */
    const slc_pet_tables *tables;      /* the geometry, and efficiencies if there are any */
    const slc_pet_cylinder *cylinders; /* that attenuate; NULL: none */
    uint32_t n_cylinders;
    const slc_pet_image *image; /* that attenuates; NULL: none */
} slc_pet_factors_config;
SLC_API void slc_pet_factors_config_default(slc_pet_factors_config *config, size_t size);
#define slc_pet_factors_config_default(config) slc_pet_factors_config_default(config, sizeof *(config))

/* Of pairs, for outputs; keeps copies. One for any number of threads. */
typedef struct slc_pet_factors slc_pet_factors;
SLC_API slc_status slc_pet_factors_open(const slc_pet_factors_config *config, slc_pet_factors **factors,
                                        slc_error *error);
SLC_API void slc_pet_factors_close(slc_pet_factors *factors); /* NULL is allowed */
/* Is there anything to normalise by, and anything that attenuates? */
SLC_API bool slc_pet_factors_normalise(const slc_pet_factors *factors);
SLC_API bool slc_pet_factors_attenuate(const slc_pet_factors *factors);
/* By what counts of a pair are multiplied: 1 over what it detects; 0 where a crystal is dead, 1 without
 * efficiencies. The crystals must be ones that the scanner has. */
SLC_API double slc_pet_factors_of(const slc_pet_factors *factors, uint32_t crystal1, uint32_t crystal2);
/* exp(integral of the attenuation along the line between the crystals' middles): 1 or more. Cylinders by
 * their chords, voxels by the lengths that the line has in each (R. Siddon, Med. Phys. 12 (1985) 252). */
SLC_API double slc_pet_factors_attenuation(const slc_pet_factors *factors, uint32_t crystal1,
                                           uint32_t crystal2);

#ifdef __cplusplus
}
#endif
#endif
