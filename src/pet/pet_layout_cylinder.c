/* SPDX-License-Identifier: Apache-2.0
 *
 * The cylinder that stands for a scanner whose crystals are anywhere, where lines must be bins of a ring:
 * sinograms, and the templates of projection data that reconstruction programs ask for.
 */
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <math.h>

static const double turn = 6.283185307179586;

slc_status slc_pet_virtual_ring(const slc_pet_geometry *g, slc_pet_geometry *ring, slc_error *error)
{
    const slc_pet_layout *l = g->layout;
    *ring = *g;
    ring->layout = NULL;
    if (l == NULL || l->rings) {
        return SLC_OK;
    }
    double across, along, radius = INFINITY, reach = 0;
    slc_pet_spacing(g, &across, &along);
    for (uint32_t i = 0; i < l->crystals; i++) {
        const double *p = l->row[i].position_mm;
        radius = fmin(radius, hypot(p[0], p[1]));
        reach = fmax(reach, fabs(p[2]));
    }
    along = along > 0 ? along : across;
    across = across > 0 ? across : along;
    if (!(radius > 0 && across > 0 && along > 0 && across < radius)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "no cylinder is near these crystals: they come as near as %g mm to the axis, and are "
                        "%g mm apart",
                        radius, across);
    }
    const double around = 2 * round(0.5 * turn * radius / across), rings = round(2 * reach / along) + 1;
    if (around > 65534 || rings > 65536) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "a cylinder of %g x %g crystals for this scanner", around,
                        rings);
    }
    *ring = (slc_pet_geometry){.channels = 1,
                               .modules = 1,
                               .module_rings = 1,
                               .blocks_y = 1,
                               .blocks_z = 1,
                               .crystals_y = around < 4 ? 4 : (uint32_t)around,
                               .crystals_z = (uint32_t)rings,
                               .radius_mm = radius,
                               .pitch_z_mm = along};
    return slc_pet_geometry_check(ring, error);
}

/* The crystal nearest to a place on the cylinder; false beyond its ends. */
static bool nearest_to(const slc_pet_geometry *ring, double x, double y, double z, uint32_t *crystal)
{
    const uint32_t n = slc_pet_crystals_per_ring(ring), rings = slc_pet_rings(ring);
    const double at = floor(z / ring->pitch_z_mm + 0.5 * (rings - 1.0) + 0.5);
    if (!(at >= 0 && at < rings)) {
        return false;
    }
    const double angle = atan2(y, x) / turn, place = floor((angle < 0 ? angle + 1 : angle) * n + 0.5);
    *crystal = (uint32_t)place % n + (uint32_t)at * n;
    return true;
}

bool slc_pet_virtual_line(const slc_pet_geometry *ring, const double from[3], const double to[3],
                          uint32_t *crystal1, uint32_t *crystal2)
{
    const double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    const double radius = ring->radius_mm + 0.5 * ring->depth_mm;
    const double a = d[0] * d[0] + d[1] * d[1], b = from[0] * d[0] + from[1] * d[1];
    const double c = from[0] * from[0] + from[1] * from[1] - radius * radius, root = b * b - a * c;
    if (!(a > 0 && root > 0)) {
        return false;
    }
    const double first = (-b - sqrt(root)) / a, second = (-b + sqrt(root)) / a;
    return nearest_to(ring, from[0] + first * d[0], from[1] + first * d[1], from[2] + first * d[2],
                      crystal1) &&
           nearest_to(ring, from[0] + second * d[0], from[1] + second * d[1], from[2] + second * d[2],
                      crystal2);
}
