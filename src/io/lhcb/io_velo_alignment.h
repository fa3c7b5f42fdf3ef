/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: geometries as JSON. docs/formats/velo-alignment.md. */
#ifndef SLUICE_IO_VELO_ALIGNMENT_H
#define SLUICE_IO_VELO_ALIGNMENT_H

#include "velo/velo_alignment.h"

/* Begins the file like JSON? */
bool slc_io_velo_alignment_is(const void *bytes, size_t size);

/* What a text says of modules and sensors. *geometry becomes the name of the file that they are moved in, to
 * be freed, NULL for the ideal geometry. SLC_ERR_FORMAT names line and column; *geometry is then NULL. */
slc_status slc_io_velo_alignment_read_memory(const char *text, size_t size, const char *name,
                                             slc_velo_alignment *alignment, char **geometry,
                                             slc_error *error);

#endif
