/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of a stretch of a line is inside of a cylinder, by small steps: slow, and obvious.
 */
#ifndef TESTS_SUPPORT_PET_LINES_H
#define TESTS_SUPPORT_PET_LINES_H

#include <sluice/pet_normalise.h>

#include <math.h>

static inline bool in_cylinder(const slc_pet_cylinder *c, double x, double y, double z)
{
    const double r = hypot(x - c->x_mm, y - c->y_mm);
    return r < c->radius_mm && r >= c->inner_mm &&
           (c->length_mm <= 0 || fabs(z - c->z_mm) < c->length_mm / 2);
}

/* The share of a stretch that is inside, by steps. */
static inline double share_by_steps(const slc_pet_cylinder *c, const double a[3], const double d[3],
                                    int steps)
{
    int inside = 0;
    for (int i = 0; i < steps; i++) {
        const double t = (i + 0.5) / steps;
        inside += in_cylinder(c, a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]);
    }
    return (double)inside / steps;
}

#endif
