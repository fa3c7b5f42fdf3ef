/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of src/velo on every target: the impact-parameter filter against the distance of the nearest
 * point on the track's line in double precision, against the c target bit by bit, between guard pages, and
 * through its public function.
 */
#include "base/columns.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"
#include "velo/velo_kernels.h"

#include <sluice/velo_ip.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRACKS = 200, MOST_POINTS = 9, SPARE_BYTES = SLC_COLUMN_ALIGN };

/* What float arithmetic may do to a distance: the arm between track and point is up to 300 mm long, and its
 * rounded product with the slope stays in the difference. */
static double tolerance_of(double ip)
{
    return 2e-4 + 1e-5 * ip;
}

/* Columns that end one spare vector before memory that may not be touched. */
typedef struct event {
    slc_check_memory column[5];
    slc_check_memory points[3];
    slc_check_memory track, ip;
} event;

static float *column_of(slc_check_memory memory, size_t n)
{
    return (float *)(void *)(memory.end - SPARE_BYTES) - n;
}

static float *points_of(slc_check_memory memory, size_t n)
{
    return (float *)(void *)memory.end - n;
}

static void open_event(event *e)
{
    const size_t bytes = MOST_TRACKS * sizeof(float) + SPARE_BYTES;
    for (size_t c = 0; c < 5; c++) {
        e->column[c] = slc_check_map(bytes);
    }
    for (size_t c = 0; c < 3; c++) {
        e->points[c] = slc_check_map(bytes);
    }
    e->track = slc_check_map(bytes);
    e->ip = slc_check_map(bytes);
}

static void close_event(event *e)
{
    for (size_t c = 0; c < 5; c++) {
        slc_check_unmap(&e->column[c]);
    }
    for (size_t c = 0; c < 3; c++) {
        slc_check_unmap(&e->points[c]);
    }
    slc_check_unmap(&e->track);
    slc_check_unmap(&e->ip);
}

/* Tracks near and far from random points; every 17th state has a NaN, in a column that changes. */
static slc_velo_ip_in fill_event(const event *e, size_t tracks, size_t points, uint64_t *random)
{
    float *column[5], *point[3];
    for (size_t c = 0; c < 5; c++) {
        column[c] = column_of(e->column[c], tracks);
    }
    for (size_t c = 0; c < 3; c++) {
        point[c] = points_of(e->points[c], points);
        for (size_t k = 0; k < points; k++) {
            point[c][k] = (float)((random_unit(random) - 0.5) * (c == 2 ? 250.0 : 0.4));
        }
    }
    for (size_t t = 0; t < tracks; t++) {
        const double away = t % 2 == 0 ? 0.05 : 3.0;
        for (size_t c = 0; c < 3; c++) {
            const double start = points > 0 ? (double)point[c][t % points] : 0;
            column[c][t] = (float)(start + away * (random_unit(random) - 0.5));
        }
        column[3][t] = (float)(0.6 * random_unit(random) - 0.3);
        column[4][t] = (float)(0.6 * random_unit(random) - 0.3);
        if (random_below(random, 17) == 0) {
            column[random_below(random, 5)][t] = NAN;
        }
    }
    return (slc_velo_ip_in){
        .x = column[0],
        .y = column[1],
        .z = column[2],
        .tx = column[3],
        .ty = column[4],
        .point_x = point[0],
        .point_y = point[1],
        .point_z = point[2],
        .n_tracks = tracks,
        .n_points = points,
    };
}

/* The distance between the line of track t and the nearest point, by the foot of the perpendicular; NaN of a
 * NaN. */
static double oracle_ip(const slc_velo_ip_in *in, size_t t)
{
    const double x = (double)in->x[t], y = (double)in->y[t], z = (double)in->z[t];
    const double tx = (double)in->tx[t], ty = (double)in->ty[t];
    double nearest = (double)INFINITY;
    if (isnan(x + y + z + tx + ty)) {
        return (double)NAN;
    }
    for (size_t k = 0; k < in->n_points; k++) {
        const double dx = (double)in->point_x[k] - x, dy = (double)in->point_y[k] - y,
                     dz = (double)in->point_z[k] - z;
        const double along = (dx * tx + dy * ty + dz) / (tx * tx + ty * ty + 1);
        const double ex = dx - along * tx, ey = dy - along * ty, ez = dz - along;
        nearest = fmin(nearest, sqrt(ex * ex + ey * ey + ez * ez));
    }
    return nearest;
}

/* Every track: kept if clearly beyond the cut, not kept if clearly within, and with the right distance. */
static void check_kept(const slc_velo_ip_in *in, float cut, size_t kept, const uint32_t *track,
                       const float *ip)
{
    size_t at = 0;
    for (size_t t = 0; t < in->n_tracks; t++) {
        const double truth = oracle_ip(in, t), margin = tolerance_of(isinf(truth) ? 0 : truth);
        const bool found = at < kept && track[at] == t;
        if (found != (truth > (double)cut) && !(fabs(truth - (double)cut) <= margin)) {
            slc_check_fail("ip_filter: track %zu of %zu with %a mm is %s", t, in->n_tracks, truth,
                           found ? "kept" : "missing");
        }
        if (found) {
            if (!(isinf(truth) ? isinf(ip[at]) : fabs((double)ip[at] - truth) <= margin)) {
                slc_check_fail("ip_filter: track %zu: %a mm, not %a", t, (double)ip[at], truth);
            }
            at++;
        }
    }
    if (at != kept) {
        slc_check_fail("ip_filter: %zu of %zu kept tracks are not in the order of the input", kept - at,
                       kept);
    }
    slc_check_values(in->n_tracks);
}

static void check_lengths(slc_simd_target target, const event *e)
{
    static const size_t points[] = {0, 1, 2, MOST_POINTS};
    static uint32_t c_track[MOST_TRACKS + 64];
    static float c_ip[MOST_TRACKS + 64];
    uint64_t random = slc_check_seed();
    slc_check_doing("velo.ip_filter");
    for (size_t n = 0; n <= MOST_TRACKS; n++) {
        for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
            const float cut = (float)(0.4 * random_unit(&random));
            const slc_velo_ip_in in = fill_event(e, n, points[p], &random);
            uint32_t *track = (uint32_t *)(void *)column_of(e->track, n);
            float *ip = column_of(e->ip, n);
            const size_t kept = slc_velo_kernels_of(target)->ip_filter(&in, cut, track, ip);
            check_kept(&in, cut, kept, track, ip);
            const size_t c_kept = slc_velo_kernels_of(SLC_SIMD_C)->ip_filter(&in, cut, c_track, c_ip);
            if (kept != c_kept || memcmp(track, c_track, kept * sizeof *track) != 0 ||
                memcmp(ip, c_ip, kept * sizeof *ip) != 0) {
                slc_check_fail("ip_filter: %zu tracks, %zu points: not what c says", n, points[p]);
            }
        }
    }
}

/* ---- the public function ----------------------------------------------------------------------- */

enum { EVENTS = 7 };

static bool fill_collections(slc_velo_states *states, slc_velo_points *points, uint64_t *random)
{
    if (slc_columns_reserve(&slc_velo_states_schema, states, 1000, EVENTS) != SLC_OK ||
        slc_columns_reserve(&slc_velo_points_schema, points, 100, EVENTS) != SLC_OK) {
        return false;
    }
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (uint32_t k = 0; k < e % 4; k++) {
            const size_t row = points->head.size++;
            points->x_mm[row] = (float)random_unit(random);
            points->y_mm[row] = (float)random_unit(random);
            points->z_mm[row] = (float)(100 * random_unit(random));
        }
        for (uint32_t t = 0; t < 23 * e % 50; t++) {
            const size_t row = states->head.size++;
            states->x_mm[row] = (float)(3 * random_unit(random));
            states->y_mm[row] = (float)(3 * random_unit(random));
            states->z_mm[row] = (float)(100 * random_unit(random));
            states->tx[row] = (float)(random_unit(random) - 0.5);
            states->ty[row] = (float)(random_unit(random) - 0.5);
        }
        slc_columns_end_event(points);
        slc_columns_end_event(states);
    }
    return true;
}

static void compare_events(const slc_velo_states *states, const slc_velo_points *points,
                           const slc_velo_ip_tracks *kept)
{
    const char *why = "";
    if (!slc_columns_check(&slc_velo_ip_tracks_schema, kept, &why) || kept->head.n_events != EVENTS) {
        slc_check_fail("kept tracks: %u events, %s", kept->head.n_events, why);
        return;
    }
    for (uint32_t e = 0; e < EVENTS; e++) {
        const size_t t = states->head.event_offset[e], p = points->head.event_offset[e];
        const uint32_t k = kept->head.event_offset[e];
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
        check_kept(&in, 0.7f, kept->head.event_offset[e + 1] - k, kept->track + k, kept->ip_mm + k);
    }
}

static void check_public(slc_simd_target target)
{
    slc_velo_states states = {0};
    slc_velo_points points = {0};
    slc_velo_ip_tracks kept = {0};
    slc_velo_ip filter;
    slc_error error = {SLC_OK, ""};
    uint64_t random = slc_check_seed();
    slc_check_doing("slc_velo_ip_run");
    if (slc_velo_ip_init(&filter, target, 0.7f, NULL) != SLC_OK) {
        slc_check_fail("slc_velo_ip_init");
    }
    if (filter.target != target || !fill_collections(&states, &points, &random)) {
        slc_check_fail("slc_velo_ip_init took %s, or there is no memory", slc_simd_name(filter.target));
    } else {
        if (slc_velo_ip_run(&filter, &states, &points, &kept, &error) != SLC_ERR_CAPACITY ||
            error.text[0] == '\0') {
            slc_check_fail("no room for kept tracks: not told");
        }
        if (slc_velo_ip_reserve(&states, &kept, NULL) != SLC_OK ||
            slc_velo_ip_run(&filter, &states, &points, &kept, &error) != SLC_OK) {
            slc_check_fail("slc_velo_ip_run: %s", error.text);
        } else {
            compare_events(&states, &points, &kept);
        }
        points.head.n_events--;
        if (slc_velo_ip_run(&filter, &states, &points, &kept, &error) != SLC_ERR_USAGE ||
            kept.head.size != 0) {
            slc_check_fail("different numbers of events: not told");
        }
    }
    slc_columns_clear(&slc_velo_states_schema, &states);
    slc_columns_clear(&slc_velo_points_schema, &points);
    slc_columns_clear(&slc_velo_ip_tracks_schema, &kept);
}

int main(int argc, char **argv)
{
    event e;
    slc_check_begin(argc, argv);
    open_event(&e);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        const slc_simd_target target = (slc_simd_target)t;
        if (slc_check_target(target)) {
            check_lengths(target, &e);
            slc_check_cases(slc_velo_kernel_rows, target);
            check_public(target);
            slc_check_passed("%d kernels of velo", SLC_VELO_KERNEL_COUNT);
        }
    }
    close_event(&e);
    return slc_check_end();
}
