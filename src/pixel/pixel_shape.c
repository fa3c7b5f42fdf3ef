/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a cluster is that of the rectangle with the same second moments, each pixel a square of side
 * 1: a row of n pixels is n long and 1 wide. Moments are exact integers until they are divided, and the
 * smaller axis comes from the determinant, so that straight clusters lose no digits. No function of libm but
 * sqrt, which is rounded the same everywhere.
 */
#include "pixel/pixel_shape.h"

#include <math.h>

/* Where one kind ends and another begins; no length of a rectangle of pixels is one of them. */
enum { DOT_SIDE = 2 };
static const double track_length = 3.5, heavy_width = 3.5, round_from = 0.5, straight_from = 0.9,
                    filled_from = 0.6, heavy_track = 3;
static const double pi = 3.14159265358979323846;

typedef struct shape {
    double length, width, linearity, roundness;
} shape;

static shape shape_of(const slc_pixel_second *s, const slc_pixel_extent *e)
{
    const slc_wide nxx = slc_wide_product(e->size, s->xx), nyy = slc_wide_product(e->size, s->yy);
    const double n2 = (double)e->size * (double)e->size;
    const double a = slc_wide_difference(nxx, slc_wide_product(e->x, e->x)) / n2;
    const double b = slc_wide_difference(slc_wide_product(e->size, s->xy), slc_wide_product(e->x, e->y)) / n2;
    const double c = slc_wide_difference(nyy, slc_wide_product(e->y, e->y)) / n2;
    const double half = (a - c) / 2, apart = sqrt(half * half + b * b);
    const double large = (a + c) / 2 + 1.0 / 12 + apart;
    /* (a + 1/12) (c + 1/12) - b², multiplied out: in a straight line a c is b². */
    const double determinant = a * c - b * b + (a + c) / 12 + 1.0 / 144;
    double small = apart > 0 ? determinant / large : large;
    small = small < 1.0 / 12 ? 1.0 / 12 : small > large ? large : small;
    return (shape){.length = sqrt(12 * large),
                   .width = sqrt(12 * small),
                   .linearity = 1 - small / large,
                   .roundness = (double)e->size / (4 * pi * large)};
}

static slc_pixel_kind kind_of(const shape *s, const slc_pixel_extent *e)
{
    if (e->width <= DOT_SIDE && e->height <= DOT_SIDE) {
        return SLC_PIXEL_DOT;
    }
    if (s->roundness >= round_from || s->length < track_length) {
        return s->width >= heavy_width ? SLC_PIXEL_HEAVY_BLOB : SLC_PIXEL_SMALL_BLOB;
    }
    const double size = (double)e->size;
    if (s->linearity < straight_from || size < filled_from * s->length * s->width) {
        return SLC_PIXEL_CURLY_TRACK;
    }
    return size >= heavy_track * s->length ? SLC_PIXEL_HEAVY_TRACK : SLC_PIXEL_STRAIGHT_TRACK;
}

void slc_pixel_second_write(const slc_pixel_second *s, const slc_pixel_extent *e, uint32_t features,
                            slc_pixel_clusters *clusters, size_t row)
{
    if ((features & SLC_PIXEL_SQUARED) != 0) {
        const double by = slc_wide_value(s->squares);
        clusters->squared_x[row] = by > 0 ? slc_wide_value(s->squared_x) / by : (double)NAN;
        clusters->squared_y[row] = by > 0 ? slc_wide_value(s->squared_y) / by : (double)NAN;
    }
    if ((features & (SLC_PIXEL_SHAPE | SLC_PIXEL_KIND)) == 0) {
        return;
    }
    const shape found = shape_of(s, e);
    if ((features & SLC_PIXEL_SHAPE) != 0) {
        clusters->length[row] = found.length;
        clusters->width[row] = found.width;
        clusters->linearity[row] = found.linearity;
        clusters->roundness[row] = found.roundness;
    }
    if ((features & SLC_PIXEL_KIND) != 0) {
        clusters->kind[row] = (uint16_t)kind_of(&found, e);
    }
}
