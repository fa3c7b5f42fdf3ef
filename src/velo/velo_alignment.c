/* SPDX-License-Identifier: Apache-2.0
 * Rigid moves of modules and sensors. */
#include "velo/velo_alignment.h"
#include "velo/velo_geometry.h"

#include <math.h>
#include <string.h>

static bool moves(const slc_velo_move *move)
{
    bool any = false;
    for (int i = 0; i < 3; i++) {
        any = any || fabs(move->shift_mm[i]) > 0 || fabs(move->rotation_mrad[i]) > 0;
    }
    return any;
}

/* r = Rz Ry Rx: x first. */
static void rotation(const double mrad[3], double r[3][3])
{
    const double cx = cos(mrad[0] / 1000), sx = sin(mrad[0] / 1000), cy = cos(mrad[1] / 1000),
                 sy = sin(mrad[1] / 1000), cz = cos(mrad[2] / 1000), sz = sin(mrad[2] / 1000);
    const double made[3][3] = {{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                               {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                               {-sy, cy * sx, cy * cx}};
    memcpy(r, made, sizeof made);
}

/* g: 3 × 3 and a translation, as in the geometry. */
static void turn(double g[12], const slc_velo_move *move, const double pivot[3])
{
    double r[3][3], old[12];
    rotation(move->rotation_mrad, r);
    memcpy(old, g, sizeof old);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            g[3 * i + k] = r[i][0] * old[k] + r[i][1] * old[3 + k] + r[i][2] * old[6 + k];
        }
        g[9 + i] = move->shift_mm[i] + pivot[i];
        for (int k = 0; k < 3; k++) {
            g[9 + i] += r[i][k] * (old[9 + k] - pivot[k]);
        }
    }
}

void slc_velo_geometry_align(slc_velo_geometry *geometry, const slc_velo_alignment *alignment)
{
    const double width = (double)geometry->local_x_mm[0] + (double)geometry->local_x_mm[SLC_VELO_COLUMNS - 1];
    const double height = SLC_VELO_ROWS * (double)SLC_VELO_PITCH_MM;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        const slc_velo_move *sensor = &alignment->sensors[s], *module = &alignment->modules[s / 4];
        if (!moves(sensor) && !moves(module)) {
            continue;
        }
        double g[12], middle[3];
        for (int i = 0; i < 12; i++) {
            g[i] = (double)geometry->to_global[s][i];
        }
        for (int i = 0; i < 3; i++) {
            middle[i] = (g[3 * i] * width + g[3 * i + 1] * height) / 2 + g[9 + i];
        }
        const double pivot[3] = {0, 0, (double)geometry->module_z_mm[s / 4]};
        turn(g, sensor, middle);
        turn(g, module, pivot);
        for (int i = 0; i < 12; i++) {
            geometry->to_global[s][i] = (float)g[i];
        }
    }
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        geometry->module_z_mm[m] = (float)((double)geometry->module_z_mm[m] +
                                           alignment->modules[m].shift_mm[2]);
    }
}
