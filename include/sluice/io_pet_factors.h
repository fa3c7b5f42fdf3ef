/* SPDX-License-Identifier: Apache-2.0
 * Factors of all pairs of crystals as files for reconstructions: docs/howto/pet-normalise.md. */
#ifndef SLUICE_IO_PET_FACTORS_H
#define SLUICE_IO_PET_FACTORS_H

#include <sluice/io_pet.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_io_pet_factors_config {
    size_t size;               /* of this struct; set by _config_default */
    slc_pet_geometry geometry; /* of the factors */
    const char *scanner;       /* of CASToR: its name; NULL: that of the file */
    double fov_mm;            /* of CASToR: pairs whose line is farther from the axis are left out; 0: none */
    uint32_t ring_difference; /* largest; UINT32_MAX, the default: all there are */
    uint32_t tangential;      /* of a sinogram, as in slc_io_pet_sinogram_config */
} slc_io_pet_factors_config;
SLC_API void slc_io_pet_factors_config_default(slc_io_pet_factors_config *config, size_t size);
#define slc_io_pet_factors_config_default(config) slc_io_pet_factors_config_default(config, sizeof *(config))
typedef struct slc_io_pet_factors_told {
    uint64_t pairs;   /* written */
    uint64_t dead;    /* of a crystal of efficiency 0: absent from CASToR's file, 1e20 in a sinogram */
    uint64_t outside; /* of CASToR: too far from the axis, or rings too far apart */
} slc_io_pet_factors_told;
/* The factors of all pairs. NAME.cdh with NAME.cdf: CASToR's normalisation file, with attenuation,
 * normalisation or both, as there are. NAME.hs with NAME.s: a sinogram of their product, which STIR
 * multiplies data with; a pair without efficiency has the number that STIR takes for it. Both files appear,
 * or none. SLC_ERR_USAGE for another ending, and where no pair is left. */
SLC_API slc_status slc_io_write_pet_factors(const char *path, const slc_io_pet_factors_config *config,
                                            const slc_pet_factors *factors, slc_io_pet_factors_told *told,
                                            slc_error *error);
/* The names of the two, as slc_io_pet_list_file has them. */
SLC_API char *slc_io_pet_factors_file(const char *path, size_t i);

/* What a list has of each pair beside its columns. value[k] is NULL where it has none, else as long as the
 * rows: of slc_io_pet_list_about.corrections those that the last slc_io_pet_list_read appended, in their
 * order, where the caller may change them; of slc_io_pet_list_config.corrections those of each
 * slc_io_pet_list_write. Which are NULL is known from _open, and has to be at _create. CASToR and HDF5 have
 * them all, YRT-PET randoms alone, and with time of flight alone; of the others _create tells
 * SLC_ERR_UNSUPPORTED. None may be there twice: from `factors` or `randoms`, too (SLC_ERR_USAGE). */
enum {
    SLC_IO_PET_ATTENUATION = 0, /* a factor, 1 or more */
    SLC_IO_PET_SCATTER,         /* counts a second; so are */
    SLC_IO_PET_RANDOMS,
    SLC_IO_PET_NORMALISATION, /* a factor */
    SLC_IO_PET_CORRECTIONS
};
typedef struct slc_io_pet_list_corrections {
    float *value[SLC_IO_PET_CORRECTIONS];
} slc_io_pet_list_corrections;
/* "attenuation", "scatter_hz", "randoms_hz", "normalisation": columns of HDF5; NULL beyond. */
SLC_API const char *slc_io_pet_correction_name(size_t i);

/* Pairs of a list that were written with a normalisation factor of 0, which CASToR passes over, as a crystal
 * of theirs is dead. */
SLC_API uint64_t slc_io_pet_list_dead(const slc_io_pet_list_writer *writer);

/* Attenuation in voxels: FILE.npy, an array (z, y, x) of f32 or f64, whose voxels are voxel_mm (x, y, z); or
 * Interfile (FILE.hv, .h33, .hdr), f32, whose header tells them, and voxel_mm is NULL. Values are 1/cm. The
 * image is in the middle of the scanner, but for what "first pixel offset (mm)" says across the axis.
 * SLC_ERR_USAGE for the one or the other, SLC_ERR_FORMAT names the key or what is missing. */
SLC_API slc_status slc_io_pet_image_read(const char *path, const double *voxel_mm, slc_pet_image *image,
                                         slc_error *error);
SLC_API void slc_io_pet_image_clear(slc_pet_image *image);

#ifdef __cplusplus
}
#endif
#endif
