/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a geometry whose modules and sensors are shifted and turned.
 * docs/formats/velo-alignment.md.
 */
#ifndef SLUICE_VELO_ALIGNMENT_H
#define SLUICE_VELO_ALIGNMENT_H

#include <sluice/velo_types.h>

/* Of a module or a sensor: turned about the axes x, y and z of the global frame, in this order, through its
 * pivot, and then shifted. */
typedef struct slc_velo_move {
    double shift_mm[3], rotation_mrad[3];
} slc_velo_move;

/* Sensors are moved in their module, then modules. Pivots are those of the geometry as it was: of a module
 * (0, 0, its z), of a sensor its middle. */
typedef struct slc_velo_alignment {
    slc_velo_move modules[SLC_VELO_MODULES], sensors[SLC_VELO_SENSORS];
} slc_velo_alignment;

/* In double precision, rounded once; what does not move keeps its bits. The modules' z move along z. */
void slc_velo_geometry_align(slc_velo_geometry *geometry, const slc_velo_alignment *alignment);

#endif
