/* SPDX-License-Identifier: Apache-2.0
 * Momentum from the bend. In double precision, as the polynomials take differences of large numbers. */
#include "hlt1/hlt1_momentum.h"

#include <math.h>

static double even(const float c[10], double x, double y)
{
    const double x2 = x * x, y2 = y * y, x4 = x2 * x2, y4 = y2 * y2;
    const double terms[10] = {1, x2, x4, y2, y4, x2 * y2, x4 * x2, y4 * y, x4 * y2, x2 * y4};
    double sum = 0;
    for (int i = 0; i < 10; i++) {
        sum += (double)c[i] * terms[i];
    }
    return sum;
}

static double odd(const float c[14], double x, double y)
{
    const double x2 = x * x, y2 = y * y, x3 = x2 * x, y4 = y2 * y2;
    const double terms[14] = {1,       x,      x3,     x3 * x2,     x3 * x2 * x2, y2,      y4,
                              y4 * y2, x * y2, x * y4, x * y4 * y2, x3 * y2,      x3 * y4, x3 * x2 * y2};
    double sum = 0;
    for (int i = 0; i < 14; i++) {
        sum += (double)c[i] * terms[i];
    }
    return sum;
}

float slc_hlt1_momentum(const slc_hlt1_forward_params *params, float polarity, const slc_hlt1_line *velo,
                        const slc_hlt1_line *scifi)
{
    const double vx = (double)velo->tx, vy = (double)velo->ty, sx = (double)scifi->tx;
    const double velo_x0 = (double)velo->x - vx * (double)velo->z,
                 velo_y0 = (double)velo->y - vy * (double)velo->z;
    const double scifi_x0 = (double)scifi->x - sx * (double)scifi->z;
    const double z = vx != sx ? (scifi_x0 - velo_x0) / (vx - sx) : 0.5 * (double)scifi->z;
    const double mx = velo_x0 + vx * z, my = velo_y0 + vy * z;
    const double dx = (double)scifi->x - mx, dy = (double)scifi->y - my, dz = (double)scifi->z - z;
    const double ex = mx - velo_x0, ey = my - velo_y0;
    /* Both legs under one root: this is what the polynomials were fitted with. */
    const double path = 1e-3 * sqrt(dx * dx + dy * dy + dz * dz + ex * ex + ey * ey + z * z) *
                        sqrt(1 - vy * vy < 0 ? 0 : 1 - vy * vy);
    const double d = sx / sqrt(1 + sx * sx + (double)scifi->ty * (double)scifi->ty) -
                     vx / sqrt(1 + vx * vx + vy * vy);
    const double c = even(params->qop_c0, vx, vy) +
                     d * (odd(params->qop_c1, vx, vy) +
                          d * (even(params->qop_c2, vx, vy) +
                               d * (odd(params->qop_c3, vx, vy) + d * even(params->qop_c4, vx, vy))));
    return (float)(d / (path * (double)polarity * c));
}
