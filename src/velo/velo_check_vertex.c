/* SPDX-License-Identifier: Apache-2.0
 * Vertices against true collisions, by the rules of Allen's checker (matching in z, within five sigma), and
 * the impact parameter of tracks to the true origin of their particle. */
#include "velo/velo_check_vertex.h"

#include <math.h>

enum { NONE = -1 };

static void init_set(slc_velo_vertex_resolution *set)
{
    slc_histogram_init(&set->x_um, -120, 120, 120);
    slc_histogram_init(&set->y_um, -120, 120, 120);
    slc_histogram_init(&set->z_um, -900, 900, 120);
    slc_histogram_init(&set->pull_x, -6, 6, 120);
    slc_histogram_init(&set->pull_y, -6, 6, 120);
    slc_histogram_init(&set->pull_z, -6, 6, 120);
}

void slc_velo_check_init_vertices(slc_velo_check *check)
{
    init_set(&check->vertex_resolution);
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        slc_histogram_init(&check->impact_um[k], -300, 300, 120);
    }
}

/* The true collision nearest in z to the vertex in this row, as a row. */
static size_t nearest_collision(const slc_velo_vertices *true_ones, size_t begin, size_t end, double z)
{
    size_t nearest = begin;
    for (size_t v = begin; v < end; v++) {
        if (fabs(true_ones->z_mm[v] - z) < fabs(true_ones->z_mm[nearest] - z)) {
            nearest = v;
        }
    }
    return nearest;
}

/* Whether another collision of the event lies within the distance that makes one close. */
static bool has_neighbour(const slc_velo_check *check, const slc_velo_vertices *true_ones, size_t begin,
                          size_t end, size_t v)
{
    const double apart = (double)check->config.isolation_mm;
    for (size_t o = begin; o < end; o++) {
        const double dx = true_ones->x_mm[o] - true_ones->x_mm[v],
                     dy = true_ones->y_mm[o] - true_ones->y_mm[v],
                     dz = true_ones->z_mm[o] - true_ones->z_mm[v];
        if (o != v && dx * dx + dy * dy + dz * dz <= apart * apart) {
            return true;
        }
    }
    return false;
}

static void add_residuals(slc_velo_check *check, const slc_velo_primaries *found, size_t row,
                          const slc_velo_vertices *true_ones, size_t v)
{
    slc_velo_vertex_resolution *set = &check->vertex_resolution;
    const double dx = (double)found->x_mm[row] - true_ones->x_mm[v],
                 dy = (double)found->y_mm[row] - true_ones->y_mm[v],
                 dz = (double)found->z_mm[row] - true_ones->z_mm[v];
    slc_histogram_add(&set->x_um, 1000 * dx);
    slc_histogram_add(&set->y_um, 1000 * dy);
    slc_histogram_add(&set->z_um, 1000 * dz);
    slc_histogram_add(&set->pull_x, dx / sqrt((double)found->cov_xx_mm2[row]));
    slc_histogram_add(&set->pull_y, dy / sqrt((double)found->cov_yy_mm2[row]));
    slc_histogram_add(&set->pull_z, dz / sqrt((double)found->cov_zz_mm2[row]));
}

/* Of the vertices that match collision v, the nearest in z; *n says how many match. */
static long best_match(const slc_velo_check *check, const slc_velo_primaries *found, size_t from, size_t to,
                       const slc_velo_vertices *true_ones, size_t begin, size_t end, size_t v, size_t *n)
{
    long best = NONE;
    *n = 0;
    for (size_t row = from; row < to; row++) {
        const double z = (double)found->z_mm[row], distance = fabs(z - true_ones->z_mm[v]);
        const double reach = (double)check->config.vertex_match_sigmas * sqrt((double)found->cov_zz_mm2[row]);
        if (nearest_collision(true_ones, begin, end, z) == v && distance < reach) {
            ++*n;
            if (best == NONE || distance < fabs((double)found->z_mm[best] - true_ones->z_mm[v])) {
                best = (long)row;
            }
        }
    }
    return best;
}

static void count(slc_velo_vertex_counts *counts, bool found)
{
    counts->reconstructible++;
    counts->found += found;
}

void slc_velo_check_vertices(slc_velo_check *check, const slc_velo_result *result,
                             const slc_velo_truth *truth, uint32_t event)
{
    const slc_velo_vertices *true_ones = &truth->vertices;
    const slc_velo_primaries *found = &result->primaries;
    if (event >= true_ones->head.n_events || event >= found->head.n_events) {
        return;
    }
    const size_t begin = true_ones->head.event_offset[event], end = true_ones->head.event_offset[event + 1];
    const size_t from = found->head.event_offset[event], to = found->head.event_offset[event + 1];
    if (begin == end) {
        return;
    }
    uint64_t matched = 0;
    for (size_t v = begin; v < end; v++) {
        size_t n;
        const long best = best_match(check, found, from, to, true_ones, begin, end, v, &n);
        matched += n;
        check->vertex_clones += n > 1 ? n - 1 : 0;
        if (true_ones->n_tracks[v] < (int32_t)check->config.vertex_min_tracks) {
            continue;
        }
        const bool close = has_neighbour(check, true_ones, begin, end, v);
        count(&check->vertices[SLC_VELO_VERTICES_ALL], best != NONE);
        count(&check->vertices[close ? SLC_VELO_VERTICES_CLOSE : SLC_VELO_VERTICES_ISOLATED], best != NONE);
        if (best != NONE) {
            add_residuals(check, found, (size_t)best, true_ones, v);
        }
    }
    check->vertices_found += to - from;
    check->vertices_false += (to - from) - matched;
}

void slc_velo_check_impact(slc_velo_check *check, const slc_velo_match *match)
{
    const slc_velo_particles *particles = &match->truth->particles;
    const slc_velo_states *beam = &match->result->beam;
    const size_t p = match->particle, t = match->track;
    const double inverse_pt = 1000.0 / (double)particles->pt_mev[p];
    if ((particles->flags[p] & SLC_VELO_IS_LONG) == 0 || isnan(particles->origin_z_mm[p]) ||
        !(inverse_pt >= 0 && inverse_pt < SLC_VELO_IMPACT_BINS * SLC_VELO_IMPACT_STEP)) {
        return;
    }
    slc_histogram *into = &check->impact_um[(size_t)(inverse_pt / SLC_VELO_IMPACT_STEP)];
    /* The vector from the origin to the line's closest point; only x and y, of which each is about normal. */
    const double tx = (double)beam->tx[t], ty = (double)beam->ty[t];
    const double dx = (double)beam->x_mm[t] - (double)particles->origin_x_mm[p],
                 dy = (double)beam->y_mm[t] - (double)particles->origin_y_mm[p],
                 dz = (double)beam->z_mm[t] - (double)particles->origin_z_mm[p];
    const double along = (dx * tx + dy * ty + dz) / (tx * tx + ty * ty + 1);
    slc_histogram_add(into, 1000 * (dx - along * tx));
    slc_histogram_add(into, 1000 * (dy - along * ty));
}
