/* SPDX-License-Identifier: Apache-2.0
 *
 * A scanner that oracles can walk through: 10 rings of 24 crystals, in 8 sectors of 30.
 */
#ifndef TESTS_SUPPORT_PET_SMALL_H
#define TESTS_SUPPORT_PET_SMALL_H

#include <sluice/pet_types.h>

static const slc_pet_geometry pet_small = {.channels = 4,
                                           .modules = 1,
                                           .module_rings = 1,
                                           .blocks_y = 2,
                                           .blocks_z = 2,
                                           .crystals_y = 3,
                                           .crystals_z = 5,
                                           .radius_mm = 60,
                                           .pitch_z_mm = 2,
                                           .depth_mm = 10};

#endif
