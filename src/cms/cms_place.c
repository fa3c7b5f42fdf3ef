/* SPDX-License-Identifier: Apache-2.0
 *
 * From positions in planes to places in the detector, with the errors of each module, on the processor, also
 * of clusters that a GPU found: a dozen operations a cluster.
 */
#include "base/columns.h"
#include "cms/cms_position_core.h"
#include "cms/cms_stages.h"

#include <stdlib.h>
#include <string.h>

slc_status slc_cms_geometry_reserve(slc_cms_geometry *geometry, uint32_t modules)
{
    slc_cms_plane *plane = calloc(modules > 0 ? modules : 1, sizeof *plane);
    slc_cms_site *site = calloc(modules > 0 ? modules : 1, sizeof *site);
    if (plane == NULL || site == NULL) {
        free(plane);
        free(site);
        return SLC_ERR_MEMORY;
    }
    slc_cms_geometry_clear(geometry);
    *geometry = (slc_cms_geometry){.n_modules = modules, .plane = plane, .site = site};
    return SLC_OK;
}

void slc_cms_geometry_clear(slc_cms_geometry *geometry)
{
    free(geometry->plane);
    free(geometry->site);
    memset(geometry, 0, sizeof *geometry);
}

/* ---- what cannot be ---------------------------------------------------------------------------- */

enum { FARTHEST_MM = 10000, THICKEST_UM = 10000, WORST_UM = 10000, SIDEWAYS_UM = 10000000 };

static bool is_within(float value, int limit)
{
    return value >= -(float)limit && value <= (float)limit; /* and a number */
}

static bool are_errors(const float *error)
{
    for (int i = 0; i < SLC_CMS_SITE_ERRORS; i++) {
        if (!(error[i] > 0.0f && error[i] <= (float)WORST_UM)) {
            return false;
        }
    }
    return true;
}

/* Rows of length 1 that are at right angles, to 1/1000. A frame may be mirrored: the third row is not used.
 */
static bool is_rotation(const float *r)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const float dot = r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
            if (!(fabsf(dot - (i == j ? 1.0f : 0.0f)) < 1e-3f)) {
                return false;
            }
        }
    }
    return true;
}

static const char *wrong_with(const slc_cms_plane *plane, const slc_cms_site *site)
{
    const float *at = site->position_mm;
    const uint32_t detector = site->raw_id >> 25 & 7U;
    if (detector != 1 && detector != 2) {
        return "its detector id is neither of the barrel nor of the forward pixels";
    }
    if (!is_within(at[0], FARTHEST_MM) || !is_within(at[1], FARTHEST_MM) || !is_within(at[2], FARTHEST_MM)) {
        return "its middle is more than 10 m away, or no number";
    }
    if (!is_rotation(site->rotation)) {
        return "its rotation is none";
    }
    if (!are_errors(site->error_x_um) || !are_errors(site->error_y_um)) {
        return "an error is not above 0, or more than 1 cm";
    }
    if (!is_within(plane->x0_um, SIDEWAYS_UM) || !is_within(plane->y0_um, SIDEWAYS_UM) ||
        !is_within(plane->z0_um, SIDEWAYS_UM) || plane->z0_um == 0.0f) {
        return "the origin of tracks is in its plane, more than 10 m away, or no number";
    }
    if (!is_within(plane->shift_x_um, WORST_UM) || !is_within(plane->shift_y_um, WORST_UM) ||
        !is_within(plane->width_x_um, WORST_UM) || !is_within(plane->width_y_um, WORST_UM)) {
        return "a shift or width of charge is more than 1 cm, or no number";
    }
    return plane->thickness_um >= 0.0f && plane->thickness_um <= (float)THICKEST_UM
               ? NULL
               : "it is thicker than 1 cm, or that is no number";
}

slc_status slc_cms_geometry_check(const slc_cms_geometry *geometry, slc_error *error)
{
    const float lengths[] = {geometry->pitch_x_um, geometry->pitch_y_um, geometry->edge_x_um,
                             geometry->edge_y_um};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (!(lengths[i] >= 1e-3f && lengths[i] <= (float)WORST_UM)) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s is %g um, must be from 0.001 to %d",
                            i < 2 ? "a pitch" : "an error at the edge", (double)lengths[i], WORST_UM);
        }
    }
    for (uint32_t m = 0; m < geometry->n_modules; m++) {
        const char *wrong = wrong_with(&geometry->plane[m], &geometry->site[m]);
        if (wrong != NULL) {
            return slc_fail(error, SLC_ERR_FORMAT, "module %u: %s", m, wrong);
        }
    }
    return SLC_OK;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* Of a cluster along an axis. */
static float error_of(const float *of_site, float edge, uint32_t min, uint32_t max, uint32_t last,
                      bool is_long)
{
    if (min == 0 || max == last) {
        return edge;
    }
    return of_site[min < max ? 0 : is_long ? 2 : 1];
}

static void place(const slc_cms_geometry *geometry, slc_cms_clusters *clusters, slc_cms_places *places,
                  size_t i)
{
    const slc_cms_site *site = &geometry->site[clusters->module[i]];
    const float *r = site->rotation, *at = site->position_mm;
    const float x = clusters->x_um[i] * 1e-3f, y = clusters->y_um[i] * 1e-3f;
    places->raw_id[i] = site->raw_id;
    places->x_mm[i] = r[0] * x + r[3] * y + at[0];
    places->y_mm[i] = r[1] * x + r[4] * y + at[1];
    places->z_mm[i] = r[2] * x + r[5] * y + at[2];
    clusters->x_error_um[i] = error_of(site->error_x_um, geometry->edge_x_um, clusters->x_min[i],
                                       clusters->x_max[i], SLC_CMS_ROWS - 1,
                                       slc_cms_row_is_long(clusters->x_min[i]) != 0);
    clusters->y_error_um[i] = error_of(site->error_y_um, geometry->edge_y_um, clusters->y_min[i],
                                       clusters->y_max[i], SLC_CMS_COLUMNS - 1,
                                       slc_cms_column_is_long(clusters->y_min[i]) != 0);
}

slc_status slc_cms_place_run(const slc_cms_geometry *geometry, slc_cms_clusters *clusters,
                             slc_cms_places *places)
{
    const slc_columns *head = &clusters->head;
    slc_columns_reset(places);
    if (places->head.capacity < head->size || places->head.event_capacity < head->n_events) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < head->n_events; e++) {
        for (size_t i = head->event_offset[e]; i < head->event_offset[e + 1]; i++) {
            place(geometry, clusters, places, i);
        }
        places->head.size = head->event_offset[e + 1];
        slc_columns_end_event(places);
    }
    return SLC_OK;
}
