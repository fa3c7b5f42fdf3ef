/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: where the modules are by design.
 */
#ifndef SLUICE_VELO_GEOMETRY_DESIGN_H
#define SLUICE_VELO_GEOMETRY_DESIGN_H

#include <sluice/velo_types.h>

extern const float slc_velo_design_module_z_mm[SLC_VELO_MODULES];

#endif
