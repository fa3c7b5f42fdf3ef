/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the VELO's pixels are. docs/formats/velo-geometry.md.
 */
#ifndef SLUICE_VELO_GEOMETRY_H
#define SLUICE_VELO_GEOMETRY_H

#include "velo/velo_core.h"
#include <sluice/velo_types.h>

/* Bytes of LHCb's velo_geometry.bin: u64 count before each table, little-endian floats. */
enum { SLC_VELO_GEOMETRY_BYTES = 16376 };

/* Side of a pixel, mm; rows are all of this height. */
#define SLC_VELO_PITCH_MM 0.055f

/* Where the modules are by design. */
extern const float slc_velo_design_module_z_mm[SLC_VELO_MODULES];
/* The design geometry (no misalignment), as in LHCb's simulation of the upgrade. */
void slc_velo_geometry_ideal(slc_velo_geometry *geometry);

/* Can it be a detector's? SLC_ERR_FORMAT names the first value that cannot: one that is not finite or beyond
 * 10 m, modules that are not one after the other in z, columns that are not one beside the other, a pitch
 * that is not above 0, and axes of a sensor (the rows of its rotation) that are not about of length 1 and at
 * right angles to each other. */
slc_status slc_velo_geometry_check(const slc_velo_geometry *geometry, slc_error *error);

/* Reads the image of a velo_geometry.bin. SLC_ERR_FORMAT if counts or size are wrong, or values as above,
 * with the byte. */
slc_status slc_velo_geometry_parse(const void *bytes, size_t size, slc_velo_geometry *geometry,
                                   slc_error *error);
/* The inverse: writes SLC_VELO_GEOMETRY_BYTES bytes. */
void slc_velo_geometry_store(const slc_velo_geometry *geometry, void *bytes);

/* Global position (mm) of a centroid: pixel (column, row) and fractions in [0, 1) towards the next one; g:
 * what to_global has of the sensor. */
SLC_VELO_CORE void slc_velo_geometry_place(const slc_velo_geometry *geometry, const float *g, uint32_t column,
                                           float column_fraction, uint32_t row, float row_fraction,
                                           float *x_mm, float *y_mm, float *z_mm)
{
    const float x = geometry->local_x_mm[column] + column_fraction * geometry->x_pitch_mm[column];
    const float y = ((float)row + 0.5f + row_fraction) * SLC_VELO_PITCH_MM;
    *x_mm = g[0] * x + g[1] * y + g[9];
    *y_mm = g[3] * x + g[4] * y + g[10];
    *z_mm = g[6] * x + g[7] * y + g[11];
}

SLC_VELO_CORE void slc_velo_geometry_position(const slc_velo_geometry *geometry, uint32_t sensor,
                                              uint32_t column, float column_fraction, uint32_t row,
                                              float row_fraction, float *x_mm, float *y_mm, float *z_mm)
{
    slc_velo_geometry_place(geometry, geometry->to_global[sensor], column, column_fraction, row, row_fraction,
                            x_mm, y_mm, z_mm);
}

#endif
