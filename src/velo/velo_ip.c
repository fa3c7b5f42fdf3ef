/* SPDX-License-Identifier: Apache-2.0
 * The impact-parameter filter, event by event; the work is done in velo_ip.simd.c. */
#include "base/columns.h"
#include "velo/velo_kernels.h"

#include <sluice/velo_ip.h>

static const slc_column points_columns[] = {
    SOA_COLUMN(slc_velo_points, x_mm, "mm"),
    SOA_COLUMN(slc_velo_points, y_mm, "mm"),
    SOA_COLUMN(slc_velo_points, z_mm, "mm"),
};
SOA_SCHEMA(slc_velo_points, slc_velo_points_schema, "points", points_columns);

static const slc_column ip_tracks_columns[] = {
    SOA_COLUMN(slc_velo_ip_tracks, track, "index"),
    SOA_COLUMN(slc_velo_ip_tracks, ip_mm, "mm"),
};
SOA_SCHEMA(slc_velo_ip_tracks, slc_velo_ip_tracks_schema, "ip_tracks", ip_tracks_columns);

slc_status slc_velo_ip_init(slc_velo_ip *filter, slc_simd_target choice, float min_ip_mm, slc_error *error)
{
    if (choice != SLC_SIMD_AUTO && !slc_simd_runs(choice)) {
        return slc_fail(error, SLC_ERR_USAGE, "impact parameters: %s does not run here",
                        slc_simd_name(choice));
    }
    filter->min_ip_mm = min_ip_mm;
    filter->target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_IP_FILTER], choice);
    return SLC_OK;
}

slc_status slc_velo_ip_reserve(const slc_velo_states *states, slc_velo_ip_tracks *kept, slc_error *error)
{
    const slc_status status = slc_columns_reserve(&slc_velo_ip_tracks_schema, kept, states->head.size,
                                                  states->head.n_events);
    return status == SLC_OK
               ? SLC_OK
               : slc_fail(error, status, "impact parameters: no room for %zu tracks", states->head.size);
}

slc_status slc_velo_ip_run(const slc_velo_ip *filter, const slc_velo_states *states,
                           const slc_velo_points *points, slc_velo_ip_tracks *kept, slc_error *error)
{
    const uint32_t n_events = states->head.n_events;
    slc_columns_reset(kept);
    if (points->head.n_events != n_events) {
        return slc_fail(error, SLC_ERR_USAGE, "impact parameters: %u events of states, %u of points",
                        n_events, points->head.n_events);
    }
    if (kept->head.capacity < states->head.size || kept->head.event_capacity < n_events) {
        return slc_fail(error, SLC_ERR_CAPACITY, "impact parameters: %zu tracks of %u events do not fit",
                        states->head.size, n_events);
    }
    const slc_velo_kernels *kernels = slc_velo_kernels_of(filter->target);
    for (uint32_t e = 0; e < n_events; e++) {
        const size_t t = states->head.event_offset[e], p = points->head.event_offset[e];
        const slc_velo_ip_in in = {
            .x = states->x_mm + t,
            .y = states->y_mm + t,
            .z = states->z_mm + t,
            .tx = states->tx + t,
            .ty = states->ty + t,
            .point_x = points->x_mm + p,
            .point_y = points->y_mm + p,
            .point_z = points->z_mm + p,
            .n_tracks = states->head.event_offset[e + 1] - t,
            .n_points = points->head.event_offset[e + 1] - p,
        };
        const size_t at = kept->head.size;
        kept->head.size += kernels->ip_filter(&in, filter->min_ip_mm, kept->track + at, kept->ip_mm + at);
        slc_columns_end_event(kept);
    }
    return SLC_OK;
}
