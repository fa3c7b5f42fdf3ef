/* SPDX-License-Identifier: Apache-2.0
 * Names of types and features, and the columns that features bring.
 */
#include <sluice/image_analyse.h>

#include "base/columns.h"
#include "image/image_features.h"

#include <string.h>

const char *slc_image_type_name(slc_image_type type)
{
    static const char *const names[] = {
        [SLC_IMAGE_U8] = "u8",   [SLC_IMAGE_U16] = "u16",   [SLC_IMAGE_U32] = "u32",
        [SLC_IMAGE_F32] = "f32", [SLC_IMAGE_BITS] = "bits", [SLC_IMAGE_U64] = "u64"};
    return type >= 0 && type <= SLC_IMAGE_U64 ? names[type] : NULL;
}

size_t slc_image_row_bytes(slc_image_type type, size_t width)
{
    static const size_t size[] = {[SLC_IMAGE_U8] = 1,
                                  [SLC_IMAGE_U16] = 2,
                                  [SLC_IMAGE_U32] = 4,
                                  [SLC_IMAGE_F32] = 4,
                                  [SLC_IMAGE_U64] = 8};
    return type == SLC_IMAGE_BITS ? width / 8 + (width % 8 != 0) : width * size[type];
}

const char *slc_image_feature_name(uint32_t feature)
{
    static const char *const names[] = {"area",  "box",      "first",   "sums",  "second", "perimeter",
                                        "euler", "centroid", "shape",   "grey",  "label",  "form",
                                        "hull",  "feret",    "crofton", "spread"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (feature == (uint32_t)1 << i) {
            return names[i];
        }
    }
    return NULL;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static const slc_column all_columns[] = {
    SOA_COLUMN(slc_image_components, area, "pixels"),
    SOA_COLUMN(slc_image_components, x_min, "pixels"),
    SOA_COLUMN(slc_image_components, y_min, "pixels"),
    SOA_COLUMN(slc_image_components, x_max, "pixels"),
    SOA_COLUMN(slc_image_components, y_max, "pixels"),
    SOA_COLUMN(slc_image_components, first_x, "pixels"),
    SOA_COLUMN(slc_image_components, first_y, "pixels"),
    SOA_COLUMN(slc_image_components, sum_x, "pixels"),
    SOA_COLUMN(slc_image_components, sum_y, "pixels"),
    SOA_COLUMN(slc_image_components, sum_xx, "pixels2"),
    SOA_COLUMN(slc_image_components, sum_xy, "pixels2"),
    SOA_COLUMN(slc_image_components, sum_yy, "pixels2"),
    SOA_COLUMN(slc_image_components, perimeter, "pixels"),
    SOA_COLUMN(slc_image_components, euler, "1"),
    SOA_COLUMN(slc_image_components, x, "pixels"),
    SOA_COLUMN(slc_image_components, y, "pixels"),
    SOA_COLUMN(slc_image_components, orientation, "rad"),
    SOA_COLUMN(slc_image_components, eccentricity, "1"),
    SOA_COLUMN(slc_image_components, major, "pixels"),
    SOA_COLUMN(slc_image_components, minor, "pixels"),
    SOA_COLUMN(slc_image_components, mass, "1"),
    SOA_COLUMN(slc_image_components, weighted_x, "pixels"),
    SOA_COLUMN(slc_image_components, weighted_y, "pixels"),
    SOA_COLUMN(slc_image_components, grey_min, "1"),
    SOA_COLUMN(slc_image_components, grey_max, "1"),
    SOA_COLUMN(slc_image_components, label, "index"),
    SOA_COLUMN(slc_image_components, extent, "1"),
    SOA_COLUMN(slc_image_components, diameter, "pixels"),
    SOA_COLUMN(slc_image_components, roundness, "1"),
    SOA_COLUMN(slc_image_components, convex_area, "pixels"),
    SOA_COLUMN(slc_image_components, solidity, "1"),
    SOA_COLUMN(slc_image_components, feret_max, "pixels"),
    SOA_COLUMN(slc_image_components, feret_min, "pixels"),
    SOA_COLUMN(slc_image_components, feret_outline, "pixels"),
    SOA_COLUMN(slc_image_components, crofton_2, "pixels"),
    SOA_COLUMN(slc_image_components, crofton_4, "pixels"),
    SOA_COLUMN(slc_image_components, circularity, "1"),
    SOA_COLUMN(slc_image_components, grey_mean, "1"),
    SOA_COLUMN(slc_image_components, grey_std, "1"),
};
SOA_SCHEMA(slc_image_components, slc_image_components_all, "components", all_columns);
_Static_assert(sizeof all_columns / sizeof all_columns[0] == SLC_IMAGE_COLUMNS,
               "the public number of columns");

/* The feature that brings a column, in the order of the struct. */
static const uint32_t brought_by[SLC_IMAGE_COLUMNS] = {
    SLC_IMAGE_AREA,     SLC_IMAGE_BOX,     SLC_IMAGE_BOX,       SLC_IMAGE_BOX,    SLC_IMAGE_BOX,
    SLC_IMAGE_FIRST,    SLC_IMAGE_FIRST,   SLC_IMAGE_SUMS,      SLC_IMAGE_SUMS,   SLC_IMAGE_SECOND,
    SLC_IMAGE_SECOND,   SLC_IMAGE_SECOND,  SLC_IMAGE_PERIMETER, SLC_IMAGE_EULER,  SLC_IMAGE_CENTROID,
    SLC_IMAGE_CENTROID, SLC_IMAGE_SHAPE,   SLC_IMAGE_SHAPE,     SLC_IMAGE_SHAPE,  SLC_IMAGE_SHAPE,
    SLC_IMAGE_GREY,     SLC_IMAGE_GREY,    SLC_IMAGE_GREY,      SLC_IMAGE_GREY,   SLC_IMAGE_GREY,
    SLC_IMAGE_LABEL,    SLC_IMAGE_FORM,    SLC_IMAGE_FORM,      SLC_IMAGE_FORM,   SLC_IMAGE_HULL,
    SLC_IMAGE_HULL,     SLC_IMAGE_FERET,   SLC_IMAGE_FERET,     SLC_IMAGE_FERET,  SLC_IMAGE_CROFTON,
    SLC_IMAGE_CROFTON,  SLC_IMAGE_CROFTON, SLC_IMAGE_SPREAD,    SLC_IMAGE_SPREAD,
};

uint32_t slc_image_feature_of(const char *column)
{
    for (size_t i = 0; i < SLC_IMAGE_COLUMNS; i++) {
        if (strcmp(all_columns[i].name, column) == 0) {
            return brought_by[i];
        }
    }
    return 0;
}

slc_schema slc_image_components_schema(uint32_t features, slc_column columns[SLC_IMAGE_COLUMNS])
{
    slc_schema schema = {.name = slc_image_components_all.name, .columns = columns};
    for (size_t i = 0; i < SLC_IMAGE_COLUMNS; i++) {
        if ((features & brought_by[i]) != 0) {
            columns[schema.n_columns++] = all_columns[i];
        }
    }
    return schema;
}
