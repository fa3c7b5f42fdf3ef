/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of components compared with those of the oracle: counts and sums exactly, derived numbers as
 * closely as double precision allows.
 */
#include "support/cmocka_all.h"
#include "support/image_run.h"

#include <math.h>
#include <stdio.h>

/* The row that is compared, for the texts of failures. */
typedef struct row_name {
    const char *what;
    size_t row;
} row_name;

static void same_count(row_name at, const char *name, uint64_t found, uint64_t wanted)
{
    if (found != wanted) {
        fail_msg("%s: %s of component %zu is %llu, not %llu", at.what, name, at.row + 1,
                 (unsigned long long)found, (unsigned long long)wanted);
    }
}

static void same_number(row_name at, const char *name, double found, double wanted, double tolerance)
{
    const bool both_nan = isnan(found) && isnan(wanted);
    if (!(both_nan || found == wanted || fabs(found - wanted) <= tolerance)) {
        fail_msg("%s: %s of component %zu is %.17g, not %.17g", at.what, name, at.row + 1, found, wanted);
    }
}

static void compare_counts(row_name at, const slc_image_components *c, size_t i, const oracle_component *o,
                           uint32_t features)
{
#define SAME(column) same_count(at, #column, (uint64_t)c->column[i], (uint64_t)o->column)
    if ((features & SLC_IMAGE_AREA) != 0) {
        SAME(area);
    }
    if ((features & SLC_IMAGE_BOX) != 0) {
        SAME(x_min);
        SAME(y_min);
        SAME(x_max);
        SAME(y_max);
    }
    if ((features & SLC_IMAGE_FIRST) != 0) {
        SAME(first_x);
        SAME(first_y);
    }
    if ((features & SLC_IMAGE_SUMS) != 0) {
        SAME(sum_x);
        SAME(sum_y);
    }
    if ((features & SLC_IMAGE_SECOND) != 0) {
        SAME(sum_xx);
        SAME(sum_xy);
        SAME(sum_yy);
    }
    if ((features & SLC_IMAGE_PERIMETER) != 0) {
        SAME(perimeter);
    }
    if ((features & SLC_IMAGE_EULER) != 0) {
        SAME(euler);
    }
#undef SAME
}

static void compare_shape(row_name at, const slc_image_components *c, size_t i, const oracle_component *o)
{
    const double straight = acos(-1.0), found = c->orientation[i];
    if (!(found > -straight / 2 && found <= straight / 2)) {
        fail_msg("%s: orientation of component %zu is %.17g, outside of its range", at.what, at.row + 1,
                 found);
    }
    /* What is flat or isotropic has one exact answer; elsewhere the angle is as sharp as the ellipse, and the
     * two ends of the range are one direction. */
    const double away = fmod(fabs(found - o->orientation), straight);
    const double tolerance = o->upright || o->isotropic ? 0 : 1e-13 / (o->eccentricity * o->eccentricity);
    if (fmin(away, straight - away) > tolerance) {
        same_number(at, "orientation", found, o->orientation, tolerance);
    }
    same_number(at, "major", c->major[i], o->major, 1e-13 * o->major);
    same_number(at, "minor", c->minor[i], o->minor, 1e-11 * o->minor);
    /* Where it is near 0, eccentricity is the root of a small difference. */
    same_number(at, "eccentricity", c->eccentricity[i] * c->eccentricity[i],
                o->eccentricity * o->eccentricity, 1e-13);
}

static void compare_row(row_name at, const slc_image_components *c, size_t i, const oracle_component *o,
                        uint32_t features)
{
    compare_counts(at, c, i, o, features);
    if ((features & SLC_IMAGE_CENTROID) != 0) {
        same_number(at, "x", c->x[i], o->x, 0x1p-52 * o->x);
        same_number(at, "y", c->y[i], o->y, 0x1p-52 * o->y);
    }
    if ((features & SLC_IMAGE_SHAPE) != 0) {
        compare_shape(at, c, i, o);
    }
    if ((features & SLC_IMAGE_GREY) != 0) {
        same_number(at, "mass", c->mass[i], o->mass, 0);
        same_number(at, "weighted_x", c->weighted_x[i], o->weighted_x, 0);
        same_number(at, "weighted_y", c->weighted_y[i], o->weighted_y, 0);
        if (!isnan(o->grey_min)) { /* else there was no number */
            same_number(at, "grey_min", c->grey_min[i], o->grey_min, 0);
            same_number(at, "grey_max", c->grey_max[i], o->grey_max, 0);
        }
    }
}

/* Is a column there where its feature was asked for, and nowhere else? */
static void expect_columns(const slc_image_components *c, uint32_t features, const char *what)
{
    const struct {
        const void *column;
        uint32_t feature;
    } all[] = {
        {c->area, SLC_IMAGE_AREA},       {c->x_min, SLC_IMAGE_BOX},           {c->y_min, SLC_IMAGE_BOX},
        {c->x_max, SLC_IMAGE_BOX},       {c->y_max, SLC_IMAGE_BOX},           {c->first_x, SLC_IMAGE_FIRST},
        {c->first_y, SLC_IMAGE_FIRST},   {c->sum_x, SLC_IMAGE_SUMS},          {c->sum_y, SLC_IMAGE_SUMS},
        {c->sum_xx, SLC_IMAGE_SECOND},   {c->sum_xy, SLC_IMAGE_SECOND},       {c->sum_yy, SLC_IMAGE_SECOND},
        {c->euler, SLC_IMAGE_EULER},     {c->perimeter, SLC_IMAGE_PERIMETER}, {c->x, SLC_IMAGE_CENTROID},
        {c->y, SLC_IMAGE_CENTROID},      {c->orientation, SLC_IMAGE_SHAPE},   {c->major, SLC_IMAGE_SHAPE},
        {c->minor, SLC_IMAGE_SHAPE},     {c->eccentricity, SLC_IMAGE_SHAPE},  {c->mass, SLC_IMAGE_GREY},
        {c->weighted_x, SLC_IMAGE_GREY}, {c->weighted_y, SLC_IMAGE_GREY},     {c->grey_min, SLC_IMAGE_GREY},
        {c->grey_max, SLC_IMAGE_GREY},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if ((all[k].column != NULL) != ((features & all[k].feature) != 0)) {
            fail_msg("%s: a column of feature %#x is %s", what, all[k].feature,
                     all[k].column != NULL ? "there" : "missing");
        }
    }
}

void image_compare_rows(const slc_image_components *found, size_t base, const image_expected *expected,
                        uint32_t features, const char *what)
{
    expect_columns(found, features, what);
    for (uint32_t i = 0; i < expected->n; i++) {
        compare_row((row_name){what, i}, found, base + i, &expected->components[i], features);
    }
}

void image_compare_components(const slc_image_components *found, size_t base, const image_expected *expected,
                              uint32_t features, const char *what)
{
    image_compare_rows(found, base, expected, features, what);
    const char *why = "";
    if (!image_components_check(features, found, &why)) {
        fail_msg("%s: the collection breaks its contract: %s", what, why);
    }
}
