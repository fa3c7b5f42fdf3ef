/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: headers of projection data as STIR's Interfile has them. */
#ifndef SLUICE_IO_PET_INTERFILE_H
#define SLUICE_IO_PET_INTERFILE_H

#include <sluice/pet_types.h>

#include <stdio.h>

/* A header of f32 data in `data_name`. Segments are those of ring differences −most … most, or with `rebin`
 * one of all of them; `by_view` stores views of sinograms inside a segment, as templates have it, and not
 * sinograms of views. False where a write failed. */
typedef struct slc_io_pet_interfile {
    const slc_pet_geometry *geometry;
    const char *scanner, *data_name;
    uint32_t tangential, ring_difference;
    bool rebin, by_view;
} slc_io_pet_interfile;
bool slc_io_pet_interfile_write(FILE *out, const slc_io_pet_interfile *header);

#endif
