/* SPDX-License-Identifier: Apache-2.0
 *
 * The position of one cluster along one axis: CMS's fast estimate, as told in cms_stages.h. This is what it
 * means; CUDA runs it as it is, and cms_position.simd.c does the same in vectors, bit for bit. Every
 * operation on floating-point numbers is rounded by itself (-ffp-contract=off, -fmad=false), in the order
 * written here.
 */
#ifndef SLUICE_CMS_POSITION_CORE_H
#define SLUICE_CMS_POSITION_CORE_H

#include "cms/cms_core.h"
#include <sluice/cms_chain.h>

#include <math.h>

/* The middle of a module, in pitches from its edge. */
#define SLC_CMS_MIDDLE_X 81.0f
#define SLC_CMS_MIDDLE_Y 216.0f

/* Where a row (column) begins, in pitches, with the long pixels counted twice. */
SLC_CMS_CORE uint32_t slc_cms_row_edge(uint32_t row)
{
    return row + (row > 79u ? 1u : 0u) + (row > 80u ? 1u : 0u);
}

SLC_CMS_CORE uint32_t slc_cms_column_edge(uint32_t column)
{
    return column + 2u * (column / 52u) + (column % 52u > 0u ? 1u : 0u);
}

SLC_CMS_CORE uint32_t slc_cms_row_is_long(uint32_t row)
{
    return row == 79u || row == 80u ? 1u : 0u;
}

SLC_CMS_CORE uint32_t slc_cms_column_is_long(uint32_t column)
{
    return column % 52u == 0u || column % 52u == 51u ? 1u : 0u;
}

/* What an axis brings to the estimate. */
typedef struct slc_cms_axis {
    uint32_t low, high;           /* edges in pitches: of the first row's end and of the last row's begin */
    uint32_t size;                /* rows */
    uint32_t longs;               /* of the first and the last row, how many are long */
    uint32_t first_e, last_e;     /* charges of these */
    float pitch_um, middle;       /* middle of the module in pitches */
    float shift_um, width_um;     /* of the plane */
    float origin_um, distance_um; /* x0 or y0, z0 */
    float thickness_um;
} slc_cms_axis;

SLC_CMS_CORE float slc_cms_coordinate(const slc_cms_axis *axis)
{
    const float half = 0.5f * (float)(int32_t)(axis->low + axis->high);
    const float middle = axis->shift_um + axis->pitch_um * (half - axis->middle);
    const float sum = (float)axis->last_e + (float)axis->first_e;
    if (axis->size < 2u || !(sum > 0.0f)) {
        return middle;
    }
    float width = axis->pitch_um * (0.5f * (float)(int32_t)(2u + axis->longs));
    if (axis->size == 2u) {
        const float cot = -((middle - axis->origin_um) / axis->distance_um);
        const float predicted = axis->thickness_um * cot - axis->width_um;
        const float inner = axis->pitch_um * (float)(int32_t)(axis->high - axis->low);
        const float shared = fabsf(predicted) - inner;
        if (shared >= 0.0f && shared <= axis->pitch_um) {
            width = shared;
        }
    }
    const float difference = (float)axis->last_e - (float)axis->first_e;
    return middle + 0.5f * (difference / sum) * width;
}

/* One cluster: row i of the columns (of a device, too). */
SLC_CMS_CORE void slc_cms_position_of(const slc_cms_position_config *config, const slc_cms_plane *plane,
                                      const slc_cms_clusters *clusters, uint32_t i)
{
    const uint32_t x0 = clusters->x_min[i], x1 = clusters->x_max[i];
    const uint32_t y0 = clusters->y_min[i], y1 = clusters->y_max[i];
    slc_cms_axis axis;
    axis.low = slc_cms_row_edge(x0 + 1u);
    axis.high = slc_cms_row_edge(x1);
    axis.size = x1 - x0 + 1u;
    axis.longs = slc_cms_row_is_long(x0) + slc_cms_row_is_long(x1);
    axis.first_e = clusters->charge_x_min[i];
    axis.last_e = clusters->charge_x_max[i];
    axis.pitch_um = config->pitch_x_um;
    axis.middle = SLC_CMS_MIDDLE_X;
    axis.shift_um = plane->shift_x_um;
    axis.width_um = plane->width_x_um;
    axis.origin_um = plane->x0_um;
    axis.distance_um = plane->z0_um;
    axis.thickness_um = plane->thickness_um > 0.0f ? plane->thickness_um : config->thickness_um;
    clusters->x_um[i] = slc_cms_coordinate(&axis);
    clusters->x_error_um[i] = config->error_x_um[axis.size < 3u ? axis.size - 1u : 2u];
    axis.low = slc_cms_column_edge(y0 + 1u);
    axis.high = slc_cms_column_edge(y1);
    axis.size = y1 - y0 + 1u;
    axis.longs = slc_cms_column_is_long(y0) + slc_cms_column_is_long(y1);
    axis.first_e = clusters->charge_y_min[i];
    axis.last_e = clusters->charge_y_max[i];
    axis.pitch_um = config->pitch_y_um;
    axis.middle = SLC_CMS_MIDDLE_Y;
    axis.shift_um = plane->shift_y_um;
    axis.width_um = plane->width_y_um;
    axis.origin_um = plane->y0_um;
    clusters->y_um[i] = slc_cms_coordinate(&axis);
    clusters->y_error_um[i] = config->error_y_um[axis.size < 3u ? axis.size - 1u : 2u];
}

#endif
