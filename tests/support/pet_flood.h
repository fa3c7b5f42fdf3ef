/* SPDX-License-Identifier: Apache-2.0
 *
 * Flood maps of generated frames as real blocks have them: shifted, smaller than the map, bent like a cushion
 * or a barrel, turned a little, each block by itself. Include behind pet_sim.h.
 */
#ifndef SUPPORT_PET_FLOOD_H
#define SUPPORT_PET_FLOOD_H

#include "base/splitmix.h"
#include "pet/pet_scanner.h"

#include <math.h>

typedef struct pet_warp {
    double shift_x, shift_y, scale_x, scale_y, bend, turn; /* shares of the map */
} pet_warp;

static inline double pet_uniform(uint64_t *random, double low, double high)
{
    return low + (high - low) * 0x1p-53 * (double)(slc_random_u64(random) >> 11);
}

static inline double pet_normal(uint64_t *random)
{
    const double a = 1 - pet_uniform(random, 0, 1), b = pet_uniform(random, 0, 1);
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

static inline pet_warp pet_warp_of(uint64_t seed, uint32_t block)
{
    uint64_t random = seed * 1000003 + block;
    (void)slc_random_u64(&random);
    pet_warp w;
    w.shift_x = pet_uniform(&random, -0.05, 0.05);
    w.shift_y = pet_uniform(&random, -0.05, 0.05);
    w.scale_x = pet_uniform(&random, 0.65, 0.85);
    w.scale_y = pet_uniform(&random, 0.65, 0.85);
    w.bend = pet_uniform(&random, -0.35, 0.35);
    w.turn = pet_uniform(&random, -0.04, 0.04);
    return w;
}

/* u and v are places in the block, from 0 to 1. */
static inline void pet_warp_place(const pet_warp *w, double u, double v, double *x, double *y)
{
    const double a = u - 0.5, b = v - 0.5, r = 1 + w->bend * (a * a + b * b);
    *x = 0.5 + w->shift_x + w->scale_x * (a * r + w->turn * b);
    *y = 0.5 + w->shift_y + w->scale_y * (b * r - w->turn * a);
}

/* Gives each frame a new place, about that of its crystal by the share `sigma` of a crystal. */
static inline void pet_warp_frames(pet_made *made, uint64_t seed, uint32_t side, double sigma)
{
    const slc_pet_geometry *g = &made->config.geometry;
    uint64_t random = seed + 77;
    for (size_t i = 0; i < made->n; i++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(g, made->truth.crystal[i], &module, &unit, &local);
        const pet_warp w = pet_warp_of(seed, module * g->blocks_y * g->blocks_z + unit);
        const double u = (local % g->crystals_z + 0.5 + sigma * pet_normal(&random)) / g->crystals_z,
                     v = (local / g->crystals_z + 0.5 + sigma * pet_normal(&random)) / g->crystals_y;
        double x, y;
        pet_warp_place(&w, u, v, &x, &y);
        made->frames[i].x = (uint8_t)(fmin(fmax(x, 0), 0.999) * side);
        made->frames[i].y = (uint8_t)(fmin(fmax(y, 0), 0.999) * side);
    }
}

#endif
