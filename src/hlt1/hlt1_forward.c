/* SPDX-License-Identifier: Apache-2.0
 *
 * UT to SciFi: what is looked for of each track, the curve by all hits of what the kernel finds, and which of
 * tracks that share hits stay.
 */
#include "hlt1/hlt1_forward.h"
#include "hlt1/hlt1_forward_work.h"
#include "hlt1/hlt1_upstream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_HIT = -1, LEAST_HITS = 9 };

static const float start_z_mm = 2642.0f;
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};

void slc_hlt1_forward_tables_make(const slc_hlt1_geometry *geometry, slc_hlt1_forward_tables *tables)
{
    static const float dxdy[4] = {0, 0.087489f, -0.087489f, 0};
    *tables = (slc_hlt1_forward_tables){.params = geometry->forward, .polarity = geometry->polarity};
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        tables->dxdy[k] = dxdy[k % 4];
        tables->zone_z[k] = geometry->forward->zone_z_mm[k];
    }
    for (size_t i = 0; i < 25; i++) {
        for (size_t k = 0; k < SLC_SCIFI_STATIONS; k++) {
            tables->kick[i][k] = geometry->forward->kick[k][i / 5][i % 5];
        }
    }
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 18; k++) {
            tables->y_correction[k][i] = geometry->forward->y_correction[stereo_layers[i]][k];
        }
    }
}

/* ---- room --------------------------------------------------------------------------------------- */

/* A track among the event's. */
typedef struct rank {
    float quality;
    uint32_t row;
} rank;

struct slc_hlt1_forward_search {
    slc_hlt1_forward_tables tables;
    slc_simd_target target;
    slc_hlt1_forward_work *work;
    slc_hlt1_forward_start *starts;
    slc_hlt1_forward_track *found;
    rank *ranks;       /* of those that are long tracks */
    uint32_t *of;      /* starts: which track they are of */
    float (*range)[2]; /* likewise: charge over momentum */
    uint8_t *has;      /* tracks of the VELO: those that have one */
    uint8_t *used;     /* hits */
    slc_hlt1_forward_zones zones;
    float *free_x;           /* like their x */
    size_t n_tracks, n_hits; /* for which there is room */
};

static void clear_room(slc_hlt1_forward_search *search)
{
    free(search->starts);
    free(search->found);
    free(search->ranks);
    free(search->of);
    free(search->range);
    free(search->has);
    free(search->used);
    free(search->free_x);
    free(search->zones.x);
    free(search->work->agreeing.x);
    free(search->work->agreeing.row);
    free(search->work->agreeing.slope);
}

slc_hlt1_forward_search *slc_hlt1_forward_open(const slc_hlt1_geometry *geometry, slc_simd_target target)
{
    slc_hlt1_forward_search *search = calloc(1, sizeof *search);
    if (search != NULL) {
        slc_hlt1_forward_tables_make(geometry, &search->tables);
        search->target = slc_simd_kernel_choice(&slc_hlt1_forward_kernel_rows[0], target);
        search->work = calloc(1, sizeof *search->work);
    }
    if (search != NULL && search->work == NULL) {
        free(search);
        return NULL;
    }
    return search;
}

void slc_hlt1_forward_close(slc_hlt1_forward_search *search)
{
    if (search != NULL) {
        clear_room(search);
        free(search->work);
        free(search);
    }
}

slc_status slc_hlt1_forward_reserve(slc_hlt1_forward_search *search, size_t tracks, size_t hits)
{
    if (search->zones.x != NULL && tracks <= search->n_tracks && hits <= search->n_hits) {
        return SLC_OK;
    }
    const size_t n = tracks > search->n_tracks ? tracks : search->n_tracks;
    const size_t rows = hits > search->n_hits ? hits : search->n_hits;
    const size_t places = slc_hlt1_forward_zones_bound(rows);
    clear_room(search);
    search->starts = malloc((n + 1) * sizeof *search->starts);
    search->found = malloc((n + 1) * sizeof *search->found);
    search->ranks = malloc((n + 1) * sizeof *search->ranks);
    search->of = malloc((n + 1) * sizeof *search->of);
    search->range = malloc((n + 1) * sizeof *search->range);
    search->has = malloc(n + 1);
    search->used = malloc(rows + 1);
    search->free_x = malloc(places * sizeof *search->free_x);
    search->zones.x = aligned_alloc(
        SLC_COLUMN_ALIGN, (places * sizeof *search->zones.x / SLC_COLUMN_ALIGN + 1) * SLC_COLUMN_ALIGN);
    slc_hlt1_forward_agreeing *agreeing = &search->work->agreeing;
    agreeing->x = malloc((rows + SLC_HLT1_FORWARD_SPARE) * sizeof *agreeing->x);
    agreeing->row = malloc((rows + SLC_HLT1_FORWARD_SPARE) * sizeof *agreeing->row);
    agreeing->slope = malloc((rows + SLC_HLT1_FORWARD_SPARE) * sizeof *agreeing->slope);
    const bool all = search->starts != NULL && search->found != NULL && search->ranks != NULL &&
                     search->of != NULL && search->range != NULL && search->has != NULL &&
                     search->used != NULL && search->free_x != NULL && search->zones.x != NULL &&
                     agreeing->x != NULL && agreeing->row != NULL && agreeing->slope != NULL;
    search->n_tracks = all ? n : 0;
    search->n_hits = all ? rows : 0;
    return all ? SLC_OK : SLC_ERR_MEMORY;
}

/* ---- what is looked for ------------------------------------------------------------------------- */

/* What is looked for of upstream track t (row). */
static slc_hlt1_forward_start expect(float magnet_z, const slc_hlt1_event *event,
                                     const slc_hlt1_upstream *upstream, size_t t)
{
    const uint32_t v = upstream->velo_track[t];
    const float tx = upstream->tx[t], at_ut = upstream->x_mm[t] + tx * (start_z_mm - upstream->z_mm[t]);
    return (slc_hlt1_forward_start){
        .velo = {event->x[v], event->y[v], event->z[v], event->tx[v], event->ty[v]},
        .tx = tx,
        .q_over_p = upstream->q_over_p[t],
        .magnet_x = event->x[v] + event->tx[v] * (magnet_z - event->z[v]),
        .x = at_ut + tx * (magnet_z - start_z_mm)};
}

/* Or of track v of the VELO with a range of charge over momentum. */
static slc_hlt1_forward_start expect_free(float magnet_z, const slc_hlt1_event *event, uint32_t v,
                                          const float q_over_p[2])
{
    const float tx = event->tx[v], x = event->x[v] + tx * (magnet_z - event->z[v]);
    return (slc_hlt1_forward_start){.velo = {event->x[v], event->y[v], event->z[v], tx, event->ty[v]},
                                    .tx = tx,
                                    .magnet_x = x,
                                    .x = x,
                                    .range = {q_over_p[0], q_over_p[1]}};
}

size_t slc_hlt1_forward_zones_bound(size_t hits)
{
    return hits + (size_t)SLC_SCIFI_ZONES * (SLC_HLT1_PIVOTS + 2 * SLC_HLT1_BLOCK) + SLC_HLT1_FORWARD_SPARE;
}

void slc_hlt1_forward_zones_fill(const float *x, const uint32_t begin[SLC_SCIFI_ZONES + 1],
                                 slc_hlt1_forward_zones *zones)
{
    float *row = zones->x + SLC_HLT1_PIVOTS + SLC_HLT1_BLOCK;
    for (uint32_t zone = 0; zone < SLC_SCIFI_ZONES; zone++) {
        const uint32_t n = begin[zone + 1] - begin[zone], blocks = n / SLC_HLT1_BLOCK;
        float *before = row - SLC_HLT1_BLOCK, *pivots = before - SLC_HLT1_PIVOTS,
              *last = row + SLC_HLT1_BLOCK * blocks;
        for (uint32_t i = 0; i < SLC_HLT1_BLOCK; i++) {
            before[i] = -INFINITY;
            last[i] = INFINITY;
        }
        memcpy(row, x + begin[zone], n * sizeof *x);
        for (uint32_t i = 0; i < SLC_HLT1_PIVOTS; i++) { /* the last one of `last` is infinite */
            pivots[i] = row[SLC_HLT1_BLOCK * (i < blocks ? i : blocks) + SLC_HLT1_BLOCK - 1];
        }
        zones->row[zone] = (uint32_t)(row - zones->x);
        row = last + 2 * SLC_HLT1_BLOCK + SLC_HLT1_PIVOTS;
    }
}

/* ---- the curve by all hits ---------------------------------------------------------------------- */

static float at_d(const slc_hlt1_forward_track *t, float d)
{
    return t->c + d * (t->b + t->a * d * (1.0f + t->cubic * d));
}

/* ---- an event ----------------------------------------------------------------------------------- */

static void append(uint32_t velo_track, uint32_t upstream_track, const slc_hlt1_forward_track *f,
                   slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const float d = SLC_HLT1_LONG_Z_MM - SLC_HLT1_SCIFI_Z_MM;
    const size_t to = tracks->head.size++;
    tracks->velo_track[to] = velo_track;
    tracks->upstream_track[to] = upstream_track;
    tracks->hit_begin[to] = (uint32_t)(hits->head.size - hits->head.event_offset[hits->head.n_events]);
    tracks->n_hits[to] = f->n;
    tracks->x_mm[to] = at_d(f, d);
    tracks->y_mm[to] = f->y0 + f->ty * d;
    tracks->z_mm[to] = SLC_HLT1_LONG_Z_MM;
    tracks->tx[to] = f->b + f->a * d * (2.0f + 3.0f * f->cubic * d);
    tracks->ty[to] = f->ty;
    tracks->q_over_p[to] = f->q_over_p;
    tracks->quality[to] = f->quality;
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        if (f->hit[k] != NO_HIT) {
            hits->hit[hits->head.size++] = (uint32_t)f->hit[k];
        }
    }
}

/* Of the event's long tracks, rows `begin` on, those that share too many hits with better ones go. */
static void drop_shared(const slc_hlt1_forward_config *config, size_t begin, uint8_t *used,
                        slc_hlt1_long *tracks, slc_hlt1_track_hits *hits, rank *order)
{
    const size_t n = tracks->head.size - begin, first = hits->head.event_offset[hits->head.n_events];
    for (size_t i = 0; i < n; i++) { /* by rising quality */
        size_t k = i;
        for (; k > 0 && tracks->quality[begin + i] < order[k - 1].quality; k--) {
            order[k] = order[k - 1];
        }
        order[k] = (rank){tracks->quality[begin + i], (uint32_t)i};
    }
    for (size_t i = 0; i < n; i++) {
        const size_t t = begin + order[i].row;
        const uint32_t *rows = hits->hit + first + tracks->hit_begin[t];
        uint32_t shared = 0;
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            shared += used[rows[k]];
        }
        const bool dropped = (float)shared > config->max_shared * (float)tracks->n_hits[t];
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            used[rows[k]] = dropped ? used[rows[k]] : 1;
        }
        tracks->n_hits[t] = dropped ? 0 : tracks->n_hits[t];
    }
}

/* Rows without hits go. */
static void close_gaps(size_t begin, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const size_t first = hits->head.event_offset[hits->head.n_events];
    size_t to = begin, hit = begin < tracks->head.size ? first + tracks->hit_begin[begin] : hits->head.size;
    for (size_t t = begin; t < tracks->head.size; t++) {
        if (tracks->n_hits[t] == 0) {
            continue;
        }
        for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
            hits->hit[hit + k] = hits->hit[first + tracks->hit_begin[t] + k];
        }
        tracks->velo_track[to] = tracks->velo_track[t];
        tracks->upstream_track[to] = tracks->upstream_track[t];
        tracks->n_hits[to] = tracks->n_hits[t];
        tracks->hit_begin[to] = (uint32_t)(hit - first);
        tracks->x_mm[to] = tracks->x_mm[t];
        tracks->y_mm[to] = tracks->y_mm[t];
        tracks->z_mm[to] = tracks->z_mm[t];
        tracks->tx[to] = tracks->tx[t];
        tracks->ty[to] = tracks->ty[t];
        tracks->q_over_p[to] = tracks->q_over_p[t];
        tracks->quality[to] = tracks->quality[t];
        hit += tracks->n_hits[to++];
    }
    tracks->head.size = to;
    hits->head.size = hit;
}

/* Looks for the hits of n starts, as `in` says; those found are fitted by all of them. */
static void find(slc_hlt1_forward_search *search, const slc_hlt1_event *event, slc_hlt1_forward_in in,
                 size_t n)
{
    in.tables = &search->tables;
    in.zones = &search->zones;
    in.begin = event->scifi_begin;
    if (event->scifi_begin[SLC_SCIFI_ZONES] == 0) {
        for (size_t i = 0; i < n; i++) {
            search->found[i].n = 0;
        }
        return;
    }
    slc_hlt1_forward_search_all(search->target, &in, search->starts, n, search->work, search->found);
    slc_hlt1_forward_refit_all(search->target, &search->tables, event->scifi_x, search->starts, search->found,
                               n);
}

void slc_hlt1_forward_run(slc_hlt1_forward_search *search, const slc_hlt1_forward_config *config,
                          const slc_hlt1_event *event, const slc_hlt1_upstream *upstream, size_t first,
                          uint32_t n, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const size_t begin = tracks->head.size;
    slc_hlt1_forward_zones_fill(event->scifi_x, event->scifi_begin, &search->zones);
    const float magnet_z = search->tables.params->magnet_z_mm[0];
    for (uint32_t t = 0; t < n; t++) {
        search->starts[t] = expect(magnet_z, event, upstream, first + t);
    }
    const slc_hlt1_forward_in in = {.max_hits = config->max_hits,
                                    .max_triplets = config->max_triplets,
                                    .min_hits = LEAST_HITS,
                                    .max_quality = config->max_quality,
                                    .enough = config->enough_quality};
    find(search, event, in, n);
    for (uint32_t t = 0; t < n; t++) {
        const slc_hlt1_forward_track *f = &search->found[t];
        if (f->n > 0) {
            append(upstream->velo_track[first + t], t, f, tracks, hits);
        }
    }
    memset(search->used, 0, event->scifi_begin[SLC_SCIFI_ZONES]);
    drop_shared(config, begin, search->used, tracks, hits, search->ranks);
    close_gaps(begin, tracks, hits);
}

/* What is looked for of tracks of the VELO that have no long track, if the UT allows a momentum; returns how
 * many there are. */
static size_t expect_rest(slc_hlt1_forward_search *search, slc_hlt1_upstream_search *upstream,
                          const slc_hlt1_event *event, const slc_hlt1_rest_config *rest, size_t first_long,
                          const slc_hlt1_long *tracks)
{
    const slc_hlt1_upstream_ask ask = {1.0f / rest->least_p_mev, rest->max_ut_distance_mm,
                                       rest->min_ut_layers};
    const float magnet_z = search->tables.params->magnet_z_mm[0];
    size_t asked = 0, n = 0;
    memset(search->has, 0, event->n_velo);
    for (size_t t = first_long; t < tracks->head.size; t++) {
        search->has[tracks->velo_track[t]] = 1;
    }
    for (uint32_t v = 0; v < event->n_velo; v++) {
        if (search->has[v] == 0 && event->backward[v] == 0 && fabsf(event->tx[v]) < 0.35f &&
            fabsf(event->ty[v]) < 0.3f) {
            search->of[asked++] = v;
        }
    }
    slc_hlt1_upstream_ranges(upstream, event, search->of, asked, &ask, search->range);
    for (size_t i = 0; i < asked; i++) {
        if (search->range[i][0] <= search->range[i][1]) {
            search->of[n] = search->of[i];
            search->starts[n++] = expect_free(magnet_z, event, search->of[i], search->range[i]);
        }
    }
    return n;
}

/* x of hits, infinite where they are used. */
static void take_free(const float *restrict x, const uint8_t *restrict used, uint32_t n, float *restrict to)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = used[i] != 0 ? INFINITY : x[i];
    }
}

void slc_hlt1_forward_rest(slc_hlt1_forward_search *search, slc_hlt1_upstream_search *upstream,
                           const slc_hlt1_config *config, const slc_hlt1_event *event, size_t first_long,
                           slc_hlt1_long *tracks, slc_hlt1_track_hits *hits)
{
    const slc_hlt1_rest_config *rest = &config->rest;
    const size_t begin = tracks->head.size;
    const size_t n = expect_rest(search, upstream, event, rest, first_long, tracks);
    for (uint32_t zone = 0; zone < SLC_SCIFI_ZONES; zone++) {
        const uint32_t first = event->scifi_begin[zone];
        take_free(event->scifi_x + first, search->used + first, event->scifi_begin[zone + 1] - first,
                  search->free_x + search->zones.row[zone]);
    }
    const slc_hlt1_forward_in in = {.free_x = search->free_x,
                                    .max_hits = config->forward.max_hits,
                                    .max_triplets = rest->max_triplets,
                                    .min_hits = rest->min_hits,
                                    .max_quality = rest->max_quality,
                                    .free = true};
    find(search, event, in, n);
    for (size_t i = 0; i < n; i++) {
        const slc_hlt1_forward_track *f = &search->found[i];
        if (f->n == 0) {
            continue;
        }
        if (slc_hlt1_upstream_layers(event, search->of[i], f->q_over_p, rest->max_ut_distance_mm) >=
            rest->min_ut_layers) {
            append(search->of[i], SLC_HLT1_NONE, f, tracks, hits);
        }
    }
    drop_shared(&config->forward, begin, search->used, tracks, hits, search->ranks);
    close_gaps(begin, tracks, hits);
}
