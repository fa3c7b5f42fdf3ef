/* SPDX-License-Identifier: Apache-2.0
 * Track finding in the VELO: memory, the events one after the other, and their tracks as columns. */
#include "velo/velo_track_run.h"

#include "base/block.h"
#include "velo/velo_geometry.h"
#include "velo/velo_kernels.h"
#include "velo/velo_track_pair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------------- */

typedef struct carver {
    char *at; /* NULL: the block is only measured */
    size_t bytes;
} carver;

/* An array of n entries and a spare vector. */
static void *take(carver *c, size_t n, size_t size)
{
    const size_t bytes = slc_block_bound((n + SLC_TRACK_SPARE) * size);
    void *array = c->at;
    c->bytes += bytes;
    c->at = c->at != NULL ? c->at + bytes : NULL;
    return array;
}

static float *floats(carver *c, size_t n)
{
    return take(c, n, sizeof(float));
}

static uint32_t *words(carver *c, size_t n)
{
    return take(c, n, sizeof(uint32_t));
}

static void lay_out_candidates(carver *c, slc_track_candidates *to, size_t n)
{
    to->x = floats(c, n);
    to->y = floats(c, n);
    to->z = floats(c, n);
    to->tx = floats(c, n);
    to->ty = floats(c, n);
    to->scatter = floats(c, n);
    to->last = floats(c, n);
    to->count = words(c, n);
    to->hit = words(c, n);
}

static void lay_out_lines(carver *c, slc_track_lines *to)
{
    enum { LINES = SLC_TRACK_BLOCK * SLC_TRACK_MAX_N };
    to->x = floats(c, LINES);
    to->y = floats(c, LINES);
    to->z = floats(c, LINES);
    to->tx = floats(c, LINES);
    to->ty = floats(c, LINES);
    to->scatter = floats(c, LINES);
    to->hit = words(c, LINES);
    to->in = take(c, LINES, sizeof(uint64_t));
    to->begin = words(c, LINES);
}

static void lay_out_ended(carver *c, slc_track_ended *to, size_t n)
{
    to->begin = words(c, n);
    to->n = words(c, n);
    to->picked = words(c, n);
    to->next = words(c, n);
    to->scatter = floats(c, n);
    to->x0 = floats(c, n);
    to->y0 = floats(c, n);
    to->z0 = floats(c, n);
    to->x1 = floats(c, n);
    to->y1 = floats(c, n);
    to->z1 = floats(c, n);
    to->tx = floats(c, n);
    to->ty = floats(c, n);
    to->gone = take(c, n, 1);
}

static void lay_out_columns(carver *c, slc_track_hits *to, size_t n)
{
    to->x = floats(c, n);
    to->y = floats(c, n);
    to->z = floats(c, n);
    to->key = take(c, n, sizeof(int32_t));
    to->id = words(c, n);
}

static void lay_out_hits(carver *c, slc_track_work *work, size_t n)
{
    work->used = take(c, n, 1);
    work->before = words(c, n);
    work->list = words(c, n + 4);
    work->index = words(c, n);
    lay_out_columns(c, &work->in_order, n);
    work->order_index = words(c, n);
    work->order_place = take(c, n, 1);
    lay_out_columns(c, &work->of_half, n);
    work->half_index = words(c, n);
    work->half_place = take(c, n, 1);
    /* Layers have spare vectors of their own. */
    lay_out_columns(c, &work->left, n + (size_t)SLC_TRACK_LAYERS * SLC_TRACK_SPARE);
}

/* The work for up to n hits, behind its struct in one block; returns the bytes. */
static size_t lay_out(char *block, slc_track_work *work, size_t n)
{
    enum { LAYER = SLC_TRACK_LAYER_HITS };
    carver c = {.at = block};
    const size_t tracks = slc_velo_track_bound(n);
    lay_out_hits(&c, work, n);
    lay_out_candidates(&c, &work->candidates, tracks);
    lay_out_candidates(&c, &work->leaving, tracks);
    lay_out_ended(&c, &work->ended, tracks);
    work->slopes.unsorted = words(&c, tracks);
    work->slopes.room = words(&c, tracks);
    work->slopes.code = words(&c, tracks);
    work->slopes.tx = floats(&c, tracks);
    work->slopes.ty = floats(&c, tracks);
    work->best = floats(&c, tracks);
    work->asking = words(&c, tracks);
    work->wanted = words(&c, tracks);
    for (int b = 0; b < SLC_TRACK_BOXES; b++) {
        lay_out_lines(&c, &work->lines[b]);
    }
    work->seeds.scatter = floats(&c, LAYER);
    work->seeds.down = words(&c, LAYER);
    work->seeds.middle = words(&c, LAYER);
    work->seeds.up = words(&c, LAYER);
    work->owner = words(&c, LAYER);
    work->order = words(&c, LAYER);
    work->sort_from = words(&c, LAYER);
    work->sort_to = words(&c, LAYER);
    work->taken = take(&c, LAYER, 1);
    work->taken_down = take(&c, LAYER, 1);
    work->taken_middle = take(&c, LAYER, 1);
    return c.bytes;
}

static size_t bytes_for(size_t hits)
{
    slc_track_work measured;
    memset(&measured, 0, sizeof measured);
    return slc_block_bound(sizeof measured) + lay_out(NULL, &measured, hits);
}

slc_velo_track_scratch slc_velo_track_scratch_in(void *memory, size_t bytes, size_t hits)
{
    if (bytes_for(hits) > bytes) {
        return (slc_velo_track_scratch){.block = NULL};
    }
    slc_track_work *work = memory;
    (void)lay_out((char *)memory + slc_block_bound(sizeof *work), work, hits);
    for (uint32_t i = 0; i < hits + SLC_TRACK_SPARE; i++) {
        work->index[i] = i;
    }
    return (slc_velo_track_scratch){.block = memory, .hits = hits};
}

slc_status slc_velo_track_reserve(slc_velo_track_scratch *scratch, size_t hits)
{
    if (scratch->block != NULL && hits <= scratch->hits) {
        return SLC_OK;
    }
    const size_t half_more = scratch->hits + scratch->hits / 2;
    hits = hits > half_more ? hits : half_more;
    const size_t bytes = bytes_for(hits);
    void *block = slc_block_zeros(bytes);
    if (block == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(scratch->block);
    *scratch = slc_velo_track_scratch_in(block, bytes, hits);
    assert(scratch->block == block);
    return SLC_OK;
}

void slc_velo_track_clear(slc_velo_track_scratch *scratch)
{
    free(scratch->block);
    *scratch = (slc_velo_track_scratch){0};
}

/* ---- layers ---------------------------------------------------------------------------------------- */

/* The modules of the layers; `half` 0 or 1 is one of them alone. */
static void make_layers(slc_track_work *work)
{
    const bool full = work->config->strategy == SLC_VELO_TRACK_FULL;
    work->n_layers = full ? SLC_VELO_MODULES : SLC_VELO_LAYERS;
    work->max_skipped = full ? 3 : 1;
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        work->layer_of[m] = (uint8_t)(full ? m : m / 2);
    }
}

static void place_layers(slc_track_work *work, int half)
{
    size_t at = 0;
    for (uint32_t l = 0; l < work->n_layers; l++) {
        const float *z = slc_velo_design_module_z_mm + (work->n_layers == SLC_VELO_MODULES ? l : 2 * l);
        slc_track_layer *layer = &work->layer[l];
        work->layer_z[l] = work->n_layers == SLC_VELO_MODULES ? z[0] : half < 0 ? (z[0] + z[1]) / 2 : z[half];
        layer->x = work->left.x + at;
        layer->y = work->left.y + at;
        layer->z = work->left.z + at;
        layer->key = work->left.key + at;
        layer->id = work->left.id + at;
        layer->n = 0;
        at += work->begin[l + 1] - work->begin[l] + SLC_TRACK_SPARE;
    }
}

/* How many of n modules, which do not fall, are below m; `from` of them are known to be. Eight at a time: the
 * highest bit of a byte stays where it is not below m. */
static uint32_t below(const uint8_t *module, uint32_t from, uint32_t n, uint32_t m)
{
    const uint64_t high = UINT64_C(0x8080808080808080), each = m * UINT64_C(0x0101010101010101);
    for (; from + 8 <= n && module[from + 7] < m; from += 8) {
    }
    if (from + 8 <= n) {
        uint64_t word = 0;
        for (unsigned k = 0; k < 8; k++) {
            word |= (uint64_t)module[from + k] << 8 * k;
        }
        const uint64_t not_below = ((word | high) - each) & high;
        return from + (uint32_t)__builtin_ctzll(not_below) / 8;
    }
    while (from < n && module[from] < m) {
        from++;
    }
    return from;
}

/* Where layers begin, and the second modules in them. False if hits are not sorted by module, or a module is
 * out of range. */
static bool find_layers(slc_track_work *work, const uint8_t *module, size_t n)
{
    uint32_t l = 0, at = 0;
    unsigned falls = n > 0 && module[n - 1] >= SLC_VELO_MODULES;
    for (size_t i = 1; i < n; i++) {
        falls |= module[i] < module[i - 1];
    }
    if (falls != 0) {
        return false;
    }
    work->n_hits = (uint32_t)n;
    work->begin[0] = 0;
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        const bool second = m > 0 && work->layer_of[m] == work->layer_of[m - 1];
        l = work->layer_of[m];
        work->begin[l] = second ? work->begin[l] : at;
        work->split[l] = at;
        at = below(module, at, (uint32_t)n, m + 1);
        work->split[l] = second ? work->split[l] : at;
    }
    work->begin[l + 1] = at;
    return true;
}

/* Is the search told where the beam is? It knows of one at x = y = 0 alone: hits are moved there. */
static bool is_moved(const slc_track_work *work)
{
    return work->config->beam_x_mm != 0 || work->config->beam_y_mm != 0;
}

/* Copies the hits of one half (-1: of both), as they are seen from the beam line. */
static void take_half(slc_track_work *work, const slc_velo_hits *hits, size_t begin, size_t end, int half)
{
    size_t n = 0;
    for (size_t i = begin; i < end; i++) {
        if (half < 0 || (int)(hits->module[i] & 1U) == half) {
            work->of_half.x[n] = hits->x_mm[i] - work->config->beam_x_mm;
            work->of_half.y[n] = hits->y_mm[i] - work->config->beam_y_mm;
            work->of_half.z[n] = hits->z_mm[i];
            work->half_place[n] = hits->module[i];
            work->half_index[n++] = (uint32_t)(i - begin);
        }
    }
    work->n_hits = (uint32_t)n;
    work->all = work->of_half;
    work->event_hit = work->half_index;
    work->place = work->half_place;
}

/* The hits of an event where they are, or copies. Keys have memory of their own. */
static bool take_hits(slc_track_work *work, const slc_velo_hits *hits, size_t begin, size_t end, int half)
{
    if (half >= 0 || is_moved(work)) {
        take_half(work, hits, begin, end, half);
    } else {
        work->n_hits = (uint32_t)(end - begin);
        work->all = (slc_track_hits){.x = hits->x_mm + begin,
                                     .y = hits->y_mm + begin,
                                     .z = hits->z_mm + begin,
                                     .key = work->of_half.key};
        work->event_hit = work->index;
        work->place = hits->module + begin;
    }
    work->all.id = work->index;
    if (!find_layers(work, work->place, work->n_hits)) {
        return false;
    }
    if (work->config->strategy == SLC_VELO_TRACK_FULL) {
        for (uint32_t i = 0; i < work->n_hits; i++) {
            work->half_place[i] = (uint8_t)(2 * work->place[i] + (work->place[i] & 1U));
        }
        work->place = work->half_place;
    }
    return true;
}

/* Directions, and hits sorted by them where a layer has many. */
static void direct_hits(slc_track_work *work)
{
    work->sorted = false;
    for (uint32_t l = 0; l < work->n_layers; l++) {
        work->sorted = work->sorted || work->begin[l + 1] - work->begin[l] > SLC_TRACK_SMALL_LAYER;
    }
    if (!work->sorted) {
        work->tools->direct(work);
        return;
    }
    work->tools->sort(work, &work->in_order, work->order_index, work->order_place);
    work->all = work->in_order;
    work->all.id = work->index;
    work->event_hit = work->order_index;
    work->place = work->order_place;
}

static bool is_crowded(const slc_track_work *work)
{
    for (uint32_t l = 0; l < work->n_layers; l++) {
        const uint32_t n = work->begin[l + 1] - work->begin[l];
        if (n > work->config->max_layer_hits || n > SLC_TRACK_LAYER_HITS) {
            return true;
        }
    }
    return false;
}

/* ---- output ---------------------------------------------------------------------------------------- */

/* Inserts a hit that was picked up into those of the track, which are n, by falling z. */
static void insert(const slc_track_work *work, uint32_t hit, uint32_t *to, uint32_t n)
{
    while (n > 0 && work->all.z[to[n - 1]] < work->all.z[hit]) {
        to[n] = to[n - 1];
        n--;
    }
    to[n] = hit;
}

static void write_track(const slc_track_work *work, uint32_t t, uint32_t first, slc_velo_tracks *tracks,
                        slc_velo_track_hits *track_hits)
{
    const slc_track_ended *e = &work->ended;
    const size_t row = tracks->head.size++;
    uint32_t *to = track_hits->hit + track_hits->head.size, n = 0;
    float scatter = 0;
    if (e->next[t] == UINT32_MAX && e->picked[t] == UINT32_MAX) {
        const uint32_t *list = work->list + e->begin[t];
        n = e->n[t];
        scatter = e->scatter[t];
        for (uint32_t k = 0; k < n; k++) {
            to[k] = work->event_hit[list[k]];
        }
    } else {
        for (uint32_t part = t; part != UINT32_MAX; part = e->next[part]) {
            memcpy(to + n, work->list + e->begin[part], e->n[part] * sizeof *to);
            n += e->n[part];
            for (uint32_t hit = e->picked[part]; hit != UINT32_MAX; hit = work->before[hit]) {
                insert(work, hit, to, n++);
            }
            scatter += e->scatter[part];
        }
        for (uint32_t k = 0; k < n; k++) {
            to[k] = work->event_hit[to[k]];
        }
    }
    tracks->hit_begin[row] = (uint32_t)track_hits->head.size - first;
    tracks->n_hits[row] = n;
    tracks->scatter_mm2[row] = scatter;
    track_hits->head.size += n;
}

/* One event, or one half of it. */
static slc_status search_part(slc_track_work *work, const slc_velo_hits *hits, uint32_t e, int half,
                              uint32_t first, slc_velo_tracks *tracks, slc_velo_track_hits *track_hits,
                              bool *crowded)
{
    const size_t begin = hits->head.event_offset[e], end = hits->head.event_offset[e + 1];
    if (!take_hits(work, hits, begin, end, half)) {
        return SLC_ERR_USAGE;
    }
    *crowded = is_crowded(work);
    if (*crowded) {
        return SLC_OK;
    }
    place_layers(work, half);
    memset(work->used, 0, work->n_hits);
    direct_hits(work);
    slc_velo_track_search(work);
    for (uint32_t t = 0; t < work->ended.size; t++) {
        if (work->ended.gone[t] == 0) {
            write_track(work, t, first, tracks, track_hits);
        }
    }
    return SLC_OK;
}

/* A crowded half makes the event crowded: it then has no tracks. */
static slc_status search_event(slc_track_work *work, const slc_velo_hits *hits, uint32_t e,
                               slc_velo_tracks *tracks, slc_velo_track_hits *track_hits, bool *crowded)
{
    const size_t n_tracks = tracks->head.size, n_hits = track_hits->head.size;
    const uint32_t first = (uint32_t)n_hits;
    if (work->config->algorithm != SLC_VELO_TRACK_LOCAL) {
        return slc_velo_track_baseline(work, hits, e, tracks, track_hits, crowded);
    }
    if (work->config->strategy != SLC_VELO_TRACK_SPLIT) {
        return search_part(work, hits, e, -1, first, tracks, track_hits, crowded);
    }
    slc_status status = search_part(work, hits, e, 0, first, tracks, track_hits, crowded);
    if (status == SLC_OK && !*crowded) {
        status = search_part(work, hits, e, 1, first, tracks, track_hits, crowded);
    }
    if (*crowded) {
        tracks->head.size = n_tracks;
        track_hits->head.size = n_hits;
    }
    return status;
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
    if (config->candidates == 0 || config->candidates > SLC_TRACK_MAX_N ||
        config->second_candidates > SLC_TRACK_MAX_N) {
        return SLC_ERR_USAGE;
    }
    const uint32_t n_events = hits->head.n_events;
    if (!has_room(&tracks->head, n_events, slc_velo_track_bound(hits->head.size)) ||
        !has_room(&track_hits->head, n_events, hits->head.size)) {
        return SLC_ERR_CAPACITY;
    }
    slc_track_work *work = scratch->block;
    const slc_simd_target target = slc_velo_track_target(config->target);
    for (uint32_t e = 0; e < n_events; e++) {
        const size_t n = hits->head.event_offset[e + 1] - hits->head.event_offset[e];
        if (work == NULL || n > scratch->hits) {
            return SLC_ERR_CAPACITY;
        }
        work->config = config;
        work->kernels = slc_velo_track_kernels_of(target);
        work->tools = slc_velo_track_tools_of(target);
        make_layers(work);
        bool crowded = false;
        const bool cut = config->max_event_hits > 0 && n > config->max_event_hits;
        const slc_status status = cut ? SLC_OK : search_event(work, hits, e, tracks, track_hits, &crowded);
        if (status != SLC_OK) {
            return status;
        }
        if (crowded) {
            slc_faults_add(faults, SLC_FAULT_EVENT_CROWDED, first_event + e, -1, 0);
        }
        slc_columns_end_event(tracks);
        slc_columns_end_event(track_hits);
    }
    return SLC_OK;
}
