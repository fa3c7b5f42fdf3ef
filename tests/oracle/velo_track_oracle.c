/* SPDX-License-Identifier: Apache-2.0
 * Track search, slow and plain. */
#include "oracle/velo_track_oracle.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct event {
    const slc_velo_hits *hits;
    size_t begin, n;
    bool *used;
} event;

static int layer_of(const event *ev, size_t i)
{
    return ev->hits->module[ev->begin + i] / 2;
}

static double phi_distance(const event *ev, size_t a, size_t b)
{
    const double pa = atan2((double)ev->hits->y_mm[ev->begin + a], (double)ev->hits->x_mm[ev->begin + a]);
    const double pb = atan2((double)ev->hits->y_mm[ev->begin + b], (double)ev->hits->x_mm[ev->begin + b]);
    return fabs(remainder(pa - pb, 2 * 3.14159265358979323846));
}

static double scatter_of(const event *ev, size_t a, size_t b, size_t c)
{
    const float *x = ev->hits->x_mm + ev->begin, *y = ev->hits->y_mm + ev->begin,
                *z = ev->hits->z_mm + ev->begin;
    const double s = ((double)z[c] - (double)z[a]) / ((double)z[b] - (double)z[a]);
    const double dx = (double)x[a] + s * ((double)x[b] - (double)x[a]) - (double)x[c];
    const double dy = (double)y[a] + s * ((double)y[b] - (double)y[a]) - (double)y[c];
    return dx * dx + dy * dy;
}

/* Best unused hit of a layer after hits a and b, under the limit; -1 if none. */
static long best_hit(const event *ev, int layer, size_t a, size_t b, double *limit)
{
    long best = -1;
    for (size_t c = 0; c < ev->n; c++) {
        if (layer_of(ev, c) == layer && !ev->used[c] && scatter_of(ev, a, b, c) < *limit) {
            *limit = scatter_of(ev, a, b, c);
            best = (long)c;
        }
    }
    return best;
}

/* The k-th nearest unused hit in phi of a layer, -1 if there are fewer. */
static long nearest(const event *ev, int layer, size_t middle, uint32_t k)
{
    bool taken[8192] = {false};
    long found = -1;
    for (uint32_t round = 0; round <= k; round++) {
        found = -1;
        for (size_t i = 0; i < ev->n; i++) {
            if (layer_of(ev, i) == layer && !ev->used[i] && !taken[i] &&
                (found < 0 || phi_distance(ev, middle, i) < phi_distance(ev, middle, (size_t)found))) {
                found = (long)i;
            }
        }
        if (found < 0) {
            return -1;
        }
        taken[found] = true;
    }
    return found;
}

typedef struct growing {
    oracle_track track;
    double scatter;
    int missed;
    bool alive;
} growing;

static void finish(const slc_velo_track_config *config, growing *g, oracle_track *tracks, size_t *n)
{
    g->alive = false;
    if (g->track.n_hits > 3 || g->scatter < (double)config->max_scatter_3hits_mm2) {
        tracks[(*n)++] = g->track;
    }
}

static bool start(const slc_velo_track_config *config, event *ev, int layer, size_t middle, growing *g)
{
    double limit = (double)config->max_scatter_seeding_mm2;
    long first = -1, third = -1;
    for (uint32_t k = 0; k < config->candidates; k++) {
        const long down = nearest(ev, layer + 1, middle, k);
        const long up = down >= 0 ? best_hit(ev, layer - 1, (size_t)down, middle, &limit) : -1;
        if (up >= 0) {
            first = down;
            third = up;
        }
    }
    if (third < 0) {
        return false;
    }
    *g = (growing){
        .track = {3, {(uint32_t)first, (uint32_t)middle, (uint32_t)third}}, .scatter = limit, .alive = true};
    ev->used[first] = ev->used[middle] = ev->used[third] = true;
    return true;
}

size_t oracle_velo_track(const slc_velo_track_config *config, const slc_velo_hits *hits, uint32_t e,
                         oracle_track *tracks)
{
    event ev = {.hits = hits, .begin = hits->head.event_offset[e]};
    ev.n = hits->head.event_offset[e + 1] - ev.begin;
    ev.used = calloc(ev.n + 1, sizeof *ev.used);
    growing *all = calloc(ev.n + 1, sizeof *all);
    size_t n_all = 0, n = 0;
    for (int layer = SLC_VELO_LAYERS - 2; layer >= 1; layer--) {
        for (size_t m = 0; m < ev.n; m++) {
            if (layer_of(&ev, m) == layer && !ev.used[m] && start(config, &ev, layer, m, &all[n_all])) {
                n_all++;
            }
        }
        for (size_t g = 0; g < n_all && layer >= 2; g++) {
            oracle_track *t = &all[g].track;
            double limit = (double)config->max_scatter_extending_mm2;
            if (!all[g].alive) {
                continue;
            }
            const long hit = best_hit(&ev, layer - 2, t->hits[t->n_hits - 2], t->hits[t->n_hits - 1], &limit);
            if (hit >= 0) {
                t->hits[t->n_hits++] = (uint32_t)hit;
                ev.used[hit] = true;
                all[g].missed = 0;
                all[g].scatter += limit;
            } else if (++all[g].missed == 2) {
                finish(config, &all[g], tracks, &n);
            }
        }
    }
    for (size_t g = 0; g < n_all; g++) {
        if (all[g].alive) {
            finish(config, &all[g], tracks, &n);
        }
    }
    free(all);
    free(ev.used);
    return n;
}
