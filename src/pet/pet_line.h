/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how much of a line is inside of a cylinder, and of each voxel.
 */
#ifndef SLUICE_PET_LINE_H
#define SLUICE_PET_LINE_H

#include <sluice/pet_normalise.h>

#include <math.h>

/* The part of the stretch from `a` (t = 0) to b = a + d (t = 1) that is inside of a full cylinder along z, of
 * which `low` and `high` are the ends: t from *from to *to. False: none is, and they are not set. */
static inline bool slc_pet_line_part(const double a[3], const double d[3], double x, double y, double radius,
                                     double low, double high, double *from, double *to)
{
    const double ax = a[0] - x, ay = a[1] - y;
    const double across = d[0] * d[0] + d[1] * d[1], along = ax * d[0] + ay * d[1];
    const double beside = ax * d[1] - ay * d[0]; /* distance of the line from the axis, times √across */
    double begin = 0, end = 1;
    if (across > 0) {
        const double inside = radius * radius * across - beside * beside;
        if (!(inside > 0)) {
            return false;
        }
        const double half = sqrt(inside) / across, middle = -along / across;
        begin = middle - half > begin ? middle - half : begin;
        end = middle + half < end ? middle + half : end;
    } else if (ax * ax + ay * ay >= radius * radius) {
        return false;
    }
    if (d[2] != 0) {
        const double t1 = (low - a[2]) / d[2], t2 = (high - a[2]) / d[2];
        const double first = t1 < t2 ? t1 : t2, last = t1 < t2 ? t2 : t1;
        begin = first > begin ? first : begin;
        end = last < end ? last : end;
    } else if (a[2] <= low || a[2] >= high) {
        return false;
    }
    *from = begin;
    *to = end;
    return end > begin;
}

/* As a share of the stretch. */
static inline double slc_pet_line_share(const double a[3], const double d[3], double x, double y,
                                        double radius, double low, double high)
{
    double from = 0, to = 0;
    return slc_pet_line_part(a, d, x, y, radius, low, high, &from, &to) ? to - from : 0;
}

/* The same of a cylinder or a shell. */
static inline double slc_pet_line_cylinder(const slc_pet_cylinder *c, const double a[3], const double d[3])
{
    const double half = c->length_mm > 0 ? c->length_mm / 2 : HUGE_VAL;
    const double low = c->z_mm - half, high = c->z_mm + half;
    const double whole = slc_pet_line_share(a, d, c->x_mm, c->y_mm, c->radius_mm, low, high);
    return whole > 0 && c->inner_mm > 0
               ? whole - slc_pet_line_share(a, d, c->x_mm, c->y_mm, c->inner_mm, low, high)
               : whole;
}

/* Where the line from a to b is among the geometric factors: radial bin · n_axial + axial bin. */
static inline size_t slc_pet_line_bin(const slc_pet_geometric *g, const double a[3], const double b[3])
{
    const double x = b[0] - a[0], y = b[1] - a[1];
    const double across = sqrt(x * x + y * y);
    const double from_axis = across > 0 ? fabs(a[0] * y - a[1] * x) / across : 0;
    const uint32_t radial = (uint32_t)(from_axis / g->radial_mm);
    const uint32_t axial = (uint32_t)(fabs(b[2] - a[2]) / g->axial_mm + 0.5);
    return (size_t)(radial < g->n_radial ? radial : g->n_radial - 1) * g->n_axial +
           (axial < g->n_axial ? axial : g->n_axial - 1);
}

/* The integral of the image's values along the stretch, times its share of it: values · shares. */
double slc_pet_line_image(const slc_pet_image *image, const double a[3], const double d[3]);

/* SLC_ERR_USAGE for numbers that are not finite or below 0 where they may not be; `what` names it. */
slc_status slc_pet_cylinder_check(const slc_pet_cylinder *cylinder, const char *what, slc_error *error);

#endif
