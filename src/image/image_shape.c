/* SPDX-License-Identifier: Apache-2.0
 * The ellipse of a component. Central moments are n · Σxx - Σx² and the like, exact integers of 128 bits;
 * what is taken of them next is written so that nearly round and nearly straight components lose no digits:
 * the difference of the axes comes from the differences of the moments, the minor axis from the determinant.
 */
#include "image/image_shape.h"
#include "base/wide.h"

#include <math.h>

static const double quarter_turn = 1.57079632679489661923;

slc_image_shape slc_image_shape_of(const slc_image_sums *s)
{
    const slc_wide nxx = slc_wide_product(s->n, s->xx), nyy = slc_wide_product(s->n, s->yy);
    const slc_wide nxy = slc_wide_product(s->n, s->xy);
    const double n2 = (double)s->n * (double)s->n;
    /* Variances and covariance of the pixels' centres. */
    const double a = slc_wide_difference(nxx, slc_wide_product(s->x, s->x)) / n2;
    const double b = slc_wide_difference(nxy, slc_wide_product(s->x, s->y)) / n2;
    const double c = slc_wide_difference(nyy, slc_wide_product(s->y, s->y)) / n2;
    const double apart = hypot((a - c) / 2, b), middle = (a + c) / 2 + 1.0 / 12;
    const double large = middle + apart;
    /* (a + 1/12) (c + 1/12) - b², multiplied out: a straight line has a · c = b², and what remains is exact.
     */
    const double determinant = a * c - b * b + (a + c) / 12 + 1.0 / 144;
    /* Equal axes are equal to the last bit; a pixel's own extent is the least that there is. */
    const double small = apart > 0 ? fmin(large, fmax(determinant / large, 1.0 / 12)) : large;
    slc_image_shape shape = {.major = 4 * sqrt(large), .minor = 4 * sqrt(small)};
    shape.eccentricity = sqrt(fmin(1, 2 * apart / large));
    if (a != c || b != 0) {
        const double angle = atan2(2 * b, a - c) / 2;
        shape.orientation = angle > -quarter_turn ? angle : quarter_turn;
    }
    return shape;
}
