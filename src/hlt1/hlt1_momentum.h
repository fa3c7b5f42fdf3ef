/* SPDX-License-Identifier: Apache-2.0
 * The momentum of a particle that passed the magnet, by its slopes before and behind it. */
#ifndef SLUICE_HLT1_MOMENTUM_H
#define SLUICE_HLT1_MOMENTUM_H

#include <sluice/hlt1_types.h>

/* A straight line: x, y at z, dx/dz and dy/dz. */
typedef struct slc_hlt1_line {
    float x, y, z, tx, ty;
} slc_hlt1_line;

/* Charge over momentum in 1/MeV: the change of the sine of the angle over the field integral, which is a
 * polynomial of the slopes times the length of the path (docs/formats/lhcb-hlt1.md). */
float slc_hlt1_momentum(const slc_hlt1_forward_params *params, float polarity, const slc_hlt1_line *velo,
                        const slc_hlt1_line *scifi);

#endif
