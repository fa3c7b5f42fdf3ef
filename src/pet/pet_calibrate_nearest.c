/* SPDX-License-Identifier: Apache-2.0
 *
 * Around the grid of a flood map: the plain one, the nearest crystal of each place, and the equations that
 * fits come to.
 */
#include "pet/pet_calibrate_parts.h"

#include <math.h>

/* ---- segmentation ------------------------------------------------------------------------------ */

void slc_pet_grid_plain(uint32_t side, uint32_t across, uint32_t along, float *x, float *y)
{
    for (uint32_t i = 0; i < across * along; i++) {
        const uint32_t column = i % across, row = i / across;
        x[i] = (float)((column + 0.5) * side / across);
        y[i] = (float)((row + 0.5) * side / along);
    }
}

static float square(float a)
{
    return a * a;
}

void slc_pet_grid_nearest(uint32_t side, uint32_t across, uint32_t along, const float *x, const float *y,
                          float *distances, uint16_t *position)
{
    const uint32_t n = across * along;
    const float reach_x = 1.5F * (float)side / (float)across, reach_y = 1.5F * (float)side / (float)along;
    for (size_t i = 0; i < (size_t)side * side; i++) {
        distances[i] = INFINITY;
    }
    /* Each peak takes the places about it that are not nearer to another. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t left = (uint32_t)fmaxf(x[k] - reach_x, 0), top = (uint32_t)fmaxf(y[k] - reach_y, 0);
        for (uint32_t j = top; j < side && (float)j < y[k] + reach_y; j++) {
            for (uint32_t i = left; i < side && (float)i < x[k] + reach_x; i++) {
                const float distance = square((float)i + 0.5F - x[k]) + square((float)j + 0.5F - y[k]);
                if (distance < distances[j * side + i]) {
                    distances[j * side + i] = distance;
                    position[j * side + i] = (uint16_t)k;
                }
            }
        }
    }
    /* Near enough for every other peak to have taken it, too; else all are asked. */
    const float sure = square(fminf(reach_x, reach_y) - 1);
    for (size_t place = 0; place < (size_t)side * side; place++) {
        if (distances[place] < sure) {
            continue;
        }
        const size_t row = place / side, column = place % side;
        float best = INFINITY;
        for (uint32_t k = 0; k < n; k++) {
            const float distance = square((float)column + 0.5F - x[k]) + square((float)row + 0.5F - y[k]);
            if (distance < best) {
                best = distance;
                position[place] = (uint16_t)k;
            }
        }
    }
}

/* ---- equations ----------------------------------------------------------------------------------- */

bool slc_pet_solve(double *a, double *b, int n)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            for (int i = j; i < n; i++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
        if (!(a[j * n + j] > 1e-300)) {
            return false;
        }
        const double root = sqrt(a[j * n + j]);
        for (int i = j; i < n; i++) {
            a[i * n + j] /= root;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) {
            b[i] -= a[k * n + i] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    return true;
}
