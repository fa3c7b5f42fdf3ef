/* SPDX-License-Identifier: Apache-2.0
 * The columns of pixel lists and of their clusters.
 */
#include <sluice/pixel.h>

#include "base/columns.h"
#include "pixel/pixel_shape.h"

/* ---- pixels ------------------------------------------------------------------------------------ */

static const slc_column pixel_columns[] = {
    SOA_COLUMN(slc_pixels, x, "pixels"),   SOA_COLUMN(slc_pixels, y, "pixels"),
    SOA_COLUMN(slc_pixels, z, "pixels"),   SOA_COLUMN(slc_pixels, charge, "1"),
    SOA_COLUMN(slc_pixels, time, "ticks"),
};
SOA_SCHEMA(slc_pixels, slc_pixels_all, "pixels", pixel_columns);
_Static_assert(sizeof pixel_columns / sizeof pixel_columns[0] == SLC_PIXEL_COLUMNS,
               "the public number of columns");

slc_schema slc_pixels_schema(uint32_t with, slc_column columns[SLC_PIXEL_COLUMNS])
{
    static const uint32_t needs[SLC_PIXEL_COLUMNS] = {0, 0, SLC_PIXEL_Z, SLC_PIXEL_CHARGE, SLC_PIXEL_TIME};
    slc_schema schema = {.name = slc_pixels_all.name, .columns = columns};
    for (size_t i = 0; i < SLC_PIXEL_COLUMNS; i++) {
        if ((with & needs[i]) == needs[i]) {
            columns[schema.n_columns++] = pixel_columns[i];
        }
    }
    return schema;
}

/* ---- clusters ---------------------------------------------------------------------------------- */

static const slc_column cluster_columns[] = {
    SOA_COLUMN(slc_pixel_clusters, size, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, x_min, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, y_min, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, z_min, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, x_max, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, y_max, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, z_max, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, centroid_x, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, centroid_y, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, centroid_z, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, mass, "1"),
    SOA_COLUMN(slc_pixel_clusters, weighted_x, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, weighted_y, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, weighted_z, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, first_time, "ticks"),
    SOA_COLUMN(slc_pixel_clusters, last_time, "ticks"),
    SOA_COLUMN(slc_pixel_clusters, largest, "index"),
    SOA_COLUMN(slc_pixel_clusters, peak, "1"),
    SOA_COLUMN(slc_pixel_clusters, squared_x, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, squared_y, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, length, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, width, "pixels"),
    SOA_COLUMN(slc_pixel_clusters, linearity, "1"),
    SOA_COLUMN(slc_pixel_clusters, roundness, "1"),
    SOA_COLUMN(slc_pixel_clusters, kind, "index"),
};
SOA_SCHEMA(slc_pixel_clusters, slc_pixel_clusters_all, "clusters", cluster_columns);
_Static_assert(sizeof cluster_columns / sizeof cluster_columns[0] == SLC_PIXEL_CLUSTER_COLUMNS,
               "the public number of columns");

/* The feature that brings a column, in the order of the struct, and whether it is one of z. */
static const struct {
    uint32_t feature;
    bool z;
} brought_by[SLC_PIXEL_CLUSTER_COLUMNS] = {
    {SLC_PIXEL_SIZE, false},     {SLC_PIXEL_BOX, false},      {SLC_PIXEL_BOX, false},
    {SLC_PIXEL_BOX, true},       {SLC_PIXEL_BOX, false},      {SLC_PIXEL_BOX, false},
    {SLC_PIXEL_BOX, true},       {SLC_PIXEL_CENTROID, false}, {SLC_PIXEL_CENTROID, false},
    {SLC_PIXEL_CENTROID, true},  {SLC_PIXEL_MASS, false},     {SLC_PIXEL_WEIGHTED, false},
    {SLC_PIXEL_WEIGHTED, false}, {SLC_PIXEL_WEIGHTED, true},  {SLC_PIXEL_TIMES, false},
    {SLC_PIXEL_TIMES, false},    {SLC_PIXEL_LARGEST, false},  {SLC_PIXEL_PEAK, false},
    {SLC_PIXEL_SQUARED, false},  {SLC_PIXEL_SQUARED, false},  {SLC_PIXEL_SHAPE, false},
    {SLC_PIXEL_SHAPE, false},    {SLC_PIXEL_SHAPE, false},    {SLC_PIXEL_SHAPE, false},
    {SLC_PIXEL_KIND, false},
};

slc_schema slc_pixel_clusters_schema(uint32_t features, uint32_t with,
                                     slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS])
{
    slc_schema schema = {.name = slc_pixel_clusters_all.name, .columns = columns};
    features &= ~((with & SLC_PIXEL_Z) != 0 ? (uint32_t)SLC_PIXEL_SECOND_FEATURES : 0);
    for (size_t i = 0; i < SLC_PIXEL_CLUSTER_COLUMNS; i++) {
        if ((features & brought_by[i].feature) != 0 && (!brought_by[i].z || (with & SLC_PIXEL_Z) != 0)) {
            columns[schema.n_columns++] = cluster_columns[i];
        }
    }
    return schema;
}

const char *slc_pixel_feature_name(uint32_t feature)
{
    static const char *const names[] = {"size",    "box",  "centroid", "mass",  "weighted", "times",
                                        "largest", "peak", "squared",  "shape", "kind"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (feature == 1U << i) {
            return names[i];
        }
    }
    return NULL;
}
