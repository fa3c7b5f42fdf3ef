/* SPDX-License-Identifier: Apache-2.0
 * Track finding in the VELO, one candidate at a time: seeding and extending, layer after layer
 * (velo_track.h). */
#include <sluice/velo_track.h>

#include "base/block.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 32, MAX_SKIPPED = 1 };

/* One layer's unused hits. ux, uy is the hit's direction from the beam line: the length of the difference of
 * two of them rises with the difference in phi, needs no trigonometry and knows no seam at ±180 degrees. */
typedef struct layer_hits {
    float *x, *y, *z, *ux, *uy;
    uint32_t *index; /* in the event */
    uint8_t *used;
    size_t n;
} layer_hits;

/* A growing track. x, y, z of its last two hits ([1] is the last). */
typedef struct candidate {
    float x[2], y[2], z[2];
    float scatter;
    uint32_t n_hits;
    uint32_t skipped; /* layers in a row without a hit */
    uint32_t hits[SLC_VELO_MAX_TRACK_HITS];
} candidate;

typedef struct event_context {
    const slc_velo_track_config *config;
    layer_hits layers[SLC_VELO_LAYERS];
    candidate *candidates;
    size_t n_candidates;
    slc_velo_tracks *tracks;
    slc_velo_track_hits *track_hits;
    uint32_t first_track_hit; /* of this event */
} event_context;

void slc_velo_track_config_default(slc_velo_track_config *config)
{
    *config = (slc_velo_track_config){.candidates = 3,
                                      .max_scatter_seeding_mm2 = 0.05f,
                                      .max_scatter_extending_mm2 = 0.1f,
                                      .max_scatter_3hits_mm2 = 0.0095f,
                                      .max_layer_hits = 2000};
}

size_t slc_velo_track_bound(size_t n_hits)
{
    return n_hits / 3;
}

slc_status slc_velo_track_reserve(slc_velo_track_scratch *scratch, size_t hits)
{
    if (scratch->block != NULL && hits <= scratch->hits) {
        return SLC_OK;
    }
    size_t bytes = slc_block_bound(slc_velo_track_bound(hits) * sizeof(candidate));
    bytes += 5 * slc_block_bound(hits * sizeof(float)) + slc_block_bound(hits * sizeof(uint32_t)) +
             slc_block_bound(hits);
    void *block = malloc(bytes);
    if (block == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(scratch->block);
    *scratch = (slc_velo_track_scratch){.block = block, .hits = hits};
    return SLC_OK;
}

void slc_velo_track_clear(slc_velo_track_scratch *scratch)
{
    free(scratch->block);
    *scratch = (slc_velo_track_scratch){0};
}

/* Spreads the event's hits over the layers. False if they are not sorted by module, or a module is out of
 * range. */
static bool fill_layers(event_context *context, const slc_velo_hits *hits, size_t begin, size_t end,
                        const slc_velo_track_scratch *scratch)
{
    char *at = scratch->block;
    const size_t n = end - begin;
    context->candidates = slc_block_take(&at, slc_velo_track_bound(n) * sizeof(candidate));
    context->n_candidates = 0;
    float *x = slc_block_take(&at, n * sizeof *x), *y = slc_block_take(&at, n * sizeof *y);
    float *z = slc_block_take(&at, n * sizeof *z), *ux = slc_block_take(&at, n * sizeof *ux);
    float *uy = slc_block_take(&at, n * sizeof *uy);
    uint32_t *index = slc_block_take(&at, n * sizeof *index);
    uint8_t *used = slc_block_take(&at, n);
    memset(used, 0, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = hits->x_mm[begin + i];
        y[i] = hits->y_mm[begin + i];
        z[i] = hits->z_mm[begin + i];
        const float r = sqrtf(x[i] * x[i] + y[i] * y[i]);
        ux[i] = r > 0 ? x[i] / r : 0;
        uy[i] = r > 0 ? y[i] / r : 0;
        index[i] = (uint32_t)i;
    }
    size_t i = 0;
    for (uint32_t l = 0; l < SLC_VELO_LAYERS; l++) {
        const size_t first = i;
        while (i < n && hits->module[begin + i] / 2U == l) {
            i++;
        }
        context->layers[l] = (layer_hits){.x = x + first,
                                          .y = y + first,
                                          .z = z + first,
                                          .ux = ux + first,
                                          .uy = uy + first,
                                          .index = index + first,
                                          .used = used + first,
                                          .n = i - first};
    }
    return i == n;
}

/* Removes the used hits, keeping the order of the others. */
static void compact(layer_hits *layer)
{
    size_t kept = 0;
    for (size_t i = 0; i < layer->n; i++) {
        if (layer->used[i]) {
            continue;
        }
        layer->x[kept] = layer->x[i];
        layer->y[kept] = layer->y[i];
        layer->z[kept] = layer->z[i];
        layer->ux[kept] = layer->ux[i];
        layer->uy[kept] = layer->uy[i];
        layer->index[kept] = layer->index[i];
        layer->used[kept] = 0;
        kept++;
    }
    layer->n = kept;
}

/* The unused hits that are nearest in phi to the direction (ux, uy), nearest first; returns how many. */
static size_t find_nearest(const layer_hits *layer, float ux, float uy, size_t wanted, size_t *nearest)
{
    float distance[MAX_CANDIDATES];
    size_t n = 0;
    assert(wanted > 0 && wanted <= MAX_CANDIDATES);
    for (size_t i = 0; i < layer->n; i++) {
        if (layer->used[i]) {
            continue;
        }
        const float dx = layer->ux[i] - ux, dy = layer->uy[i] - uy;
        const float d = dx * dx + dy * dy;
        if (n == wanted && !(d < distance[n - 1])) {
            continue;
        }
        size_t k = n < wanted ? n++ : n - 1;
        for (; k > 0 && d < distance[k - 1]; k--) {
            distance[k] = distance[k - 1];
            nearest[k] = nearest[k - 1];
        }
        distance[k] = d;
        nearest[k] = i;
    }
    return n;
}

/* The unused hit that is closest to the line through two points, if closer than *scatter, which is updated.
 */
static bool find_closest(const layer_hits *layer, const float x[2], const float y[2], const float z[2],
                         size_t *closest, float *scatter)
{
    const float tx = (x[1] - x[0]) / (z[1] - z[0]), ty = (y[1] - y[0]) / (z[1] - z[0]);
    bool found = false;
    for (size_t i = 0; i < layer->n; i++) {
        const float dz = layer->z[i] - z[1];
        const float dx = layer->x[i] - (x[1] + tx * dz), dy = layer->y[i] - (y[1] + ty * dz);
        const float d = dx * dx + dy * dy;
        if (d < *scatter && !layer->used[i]) {
            *scatter = d;
            *closest = i;
            found = true;
        }
    }
    return found;
}

static void add_hit(candidate *track, layer_hits *layer, size_t hit)
{
    track->x[0] = track->x[1];
    track->y[0] = track->y[1];
    track->z[0] = track->z[1];
    track->x[1] = layer->x[hit];
    track->y[1] = layer->y[hit];
    track->z[1] = layer->z[hit];
    track->hits[track->n_hits++] = layer->index[hit];
    layer->used[hit] = 1;
}

/* Starts candidates from the hits of the middle layer. */
static void seed(event_context *context, layer_hits *down, layer_hits *middle, layer_hits *up)
{
    const slc_velo_track_config *config = context->config;
    for (size_t m = 0; m < middle->n; m++) {
        size_t pairs[MAX_CANDIDATES];
        const size_t n = find_nearest(down, middle->ux[m], middle->uy[m], config->candidates, pairs);
        float scatter = config->max_scatter_seeding_mm2;
        size_t best_down = 0, best_up = 0;
        bool found = false;
        for (size_t k = 0; k < n; k++) {
            const size_t d = pairs[k];
            const float x[2] = {down->x[d], middle->x[m]}, y[2] = {down->y[d], middle->y[m]};
            const float z[2] = {down->z[d], middle->z[m]};
            if (find_closest(up, x, y, z, &best_up, &scatter)) {
                best_down = d;
                found = true;
            }
        }
        if (found) {
            candidate *track = &context->candidates[context->n_candidates++];
            *track = (candidate){.scatter = scatter};
            add_hit(track, down, best_down);
            add_hit(track, middle, m);
            add_hit(track, up, best_up);
        }
    }
    compact(down);
    compact(middle);
    compact(up);
}

/* Moves a candidate that has ended to the output, if it is good enough. */
static void finish(event_context *context, const candidate *track)
{
    if (track->n_hits == 3 && !(track->scatter < context->config->max_scatter_3hits_mm2)) {
        return;
    }
    slc_velo_tracks *tracks = context->tracks;
    slc_velo_track_hits *hits = context->track_hits;
    const size_t t = tracks->head.size++;
    tracks->hit_begin[t] = (uint32_t)hits->head.size - context->first_track_hit;
    tracks->n_hits[t] = track->n_hits;
    tracks->scatter_mm2[t] = track->scatter;
    memcpy(hits->hit + hits->head.size, track->hits, track->n_hits * sizeof *track->hits);
    hits->head.size += track->n_hits;
}

/* Extends all candidates into a layer; those that missed too many layers end. */
static void extend(event_context *context, layer_hits *up)
{
    size_t kept = 0;
    for (size_t c = 0; c < context->n_candidates; c++) {
        candidate *track = &context->candidates[c];
        size_t hit = 0;
        float scatter = context->config->max_scatter_extending_mm2;
        if (find_closest(up, track->x, track->y, track->z, &hit, &scatter)) {
            track->scatter += scatter;
            track->skipped = 0;
            add_hit(track, up, hit);
        } else if (++track->skipped > MAX_SKIPPED) {
            finish(context, track);
            continue;
        }
        if (kept != c) {
            context->candidates[kept] = *track;
        }
        kept++;
    }
    context->n_candidates = kept;
    compact(up);
}

/* From downstream to upstream: a seed in layers i + 1, i, i - 1, then all candidates into layer i - 2. */
static void find_tracks(event_context *context)
{
    layer_hits *layers = context->layers;
    for (uint32_t i = SLC_VELO_LAYERS - 2; i >= 1; i--) {
        seed(context, &layers[i + 1], &layers[i], &layers[i - 1]);
        if (i >= 2) {
            extend(context, &layers[i - 2]);
        }
    }
    for (size_t c = 0; c < context->n_candidates; c++) {
        finish(context, &context->candidates[c]);
    }
}

static bool is_crowded(const event_context *context)
{
    for (uint32_t l = 0; l < SLC_VELO_LAYERS; l++) {
        if (context->layers[l].n > context->config->max_layer_hits) {
            return true;
        }
    }
    return false;
}

static bool has_room(const slc_columns *head, uint32_t events, size_t rows)
{
    return head->block != NULL && head->event_capacity >= events && head->capacity >= rows;
}

slc_status slc_velo_track_run(const slc_velo_track_config *config, const slc_velo_hits *hits,
                              uint64_t first_event, slc_velo_track_scratch *scratch, slc_velo_tracks *tracks,
                              slc_velo_track_hits *track_hits, slc_faults *faults)
{
    slc_columns_reset(tracks);
    slc_columns_reset(track_hits);
    if (config->candidates == 0 || config->candidates > MAX_CANDIDATES) {
        return SLC_ERR_USAGE;
    }
    const uint32_t n_events = hits->head.n_events;
    if (!has_room(&tracks->head, n_events, slc_velo_track_bound(hits->head.size)) ||
        !has_room(&track_hits->head, n_events, hits->head.size)) {
        return SLC_ERR_CAPACITY;
    }
    event_context context = {.config = config, .tracks = tracks, .track_hits = track_hits};
    for (uint32_t e = 0; e < n_events; e++) {
        const size_t begin = hits->head.event_offset[e], end = hits->head.event_offset[e + 1];
        if (scratch->block == NULL || end - begin > scratch->hits) {
            return SLC_ERR_CAPACITY;
        }
        context.first_track_hit = (uint32_t)track_hits->head.size;
        if (!fill_layers(&context, hits, begin, end, scratch)) {
            return SLC_ERR_USAGE;
        }
        if (is_crowded(&context)) {
            slc_faults_add(faults, SLC_FAULT_EVENT_CROWDED, first_event + e, -1, 0);
        } else {
            find_tracks(&context);
        }
        slc_columns_end_event(tracks);
        slc_columns_end_event(track_hits);
    }
    return SLC_OK;
}
