/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 4: positions of clusters: CMS's fast estimate ("CPE fast"). The middle between the inner edges of the
 * first and last row (column), moved by how the charge is shared between these, for a track from the origin.
 */
#ifndef SLUICE_CMS_POSITION_H
#define SLUICE_CMS_POSITION_H

#include <sluice/cms_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_CMS_ERROR_SIZES = 4 };

/* Of one module. Lengths in µm in the module's plane; x along rows, y along columns. */
typedef struct slc_cms_plane {
    float x0_um, y0_um, z0_um;    /* the nominal origin of tracks in the module's frame; z0 not 0 */
    float shift_x_um, shift_y_um; /* of all positions: Lorentz drift and alignment */
    float width_x_um, width_y_um; /* charge width: what drift adds to the projection of a track */
} slc_cms_plane;

typedef struct slc_cms_position_config {
    float pitch_x_um, pitch_y_um; /* default 100, 150 */
    float thickness_um;           /* default 285 */
    uint32_t n_planes;            /* 0: all modules are like plane_default */
    const slc_cms_plane *planes;  /* the caller's; modules beyond are like plane_default */
    slc_cms_plane plane_default;
    /* By size 1, 2, 3 and more rows (columns). Defaults: what sim_cms' tracks give
     * (docs/howto/cms-pixels.md). */
    float error_x_um[SLC_CMS_ERROR_SIZES - 1], error_y_um[SLC_CMS_ERROR_SIZES - 1];
} slc_cms_position_config;
SLC_API void slc_cms_position_config_default(slc_cms_position_config *config);

/* Fills x_um, y_um and their errors. Arithmetic in float, rounded after each operation: the same bits on
 * every target and the GPU.
 *
 * With pixels that are longer at chip borders (rows 79 and 80, and first and last columns of chips have twice
 * the pitch): p' (row) = row + (row > 79) + (row > 80), p' (column) = column + 2 · (column / 52) +
 * (column % 52 > 0). x = shift + pitch · ((p'(min + 1) + p'(max)) / 2 - 81), y likewise with 216. For sizes
 * above 1, + (last - first) / (last + first) · W / 2, where W is, for a size of 2, |thickness · cot - width|
 * - pitch · (inner length) if that is in [0, pitch], and in all other cases pitch · (2 + long first + long
 * last) / 2; cot = -(x
 * - x0) / z0. */
SLC_API void slc_cms_position_run(const slc_cms_position_config *config, slc_cms_clusters *clusters);

#ifdef __cplusplus
}
#endif
#endif
