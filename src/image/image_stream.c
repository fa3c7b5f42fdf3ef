/* SPDX-License-Identifier: Apache-2.0
 * Components of an image that comes row by row. A component that is open has a slot, which is a row of a
 * collection of sums; runs of the last row know their slots. A run of a new row takes the slot of a run that
 * it touches, or a fresh one; where it touches several, their slots are united: sums are added up and one
 * slot is free again after the row. A slot without a run in the new row is a component that has ended. So
 * memory is bounded by the width: there are never more slots than runs in two rows.
 */
#include <sluice/image_analyse.h>

#include "base/block.h"
#include "base/config.h"
#include "image/image_bits.h"
#include "image/image_check.h"
#include "image/image_features.h"
#include "simd/simd_checksum.h"

#include <stdlib.h>
#include <string.h>

/* A component that has ended, and its first pixel as a number that grows in raster order. */
typedef struct ending {
    uint64_t key;
    uint32_t slot;
} ending;

struct slc_image_stream {
    slc_image_stream_config config;
    slc_image_kernels kernels;
    slc_image_level level;
    slc_schema schema; /* of what is given out */
    slc_column columns[SLC_IMAGE_COLUMNS];
    uint32_t sums; /* what is summed: besides the features, area and first pixel */

    slc_image_components open; /* a row for each slot */
    slc_schema open_schema;
    slc_column open_columns[SLC_IMAGE_COLUMNS];
    uint32_t n_slots; /* as many as can be needed */
    uint32_t n_free;  /* slots on the stack `free_slots` */
    uint32_t *free_slots;
    uint32_t *parent; /* of slots that were united in this row; itself of all others */
    uint8_t *alive;   /* has the slot a run in the row being taken? */
    uint32_t *united; /* slots that were added to others in this row */
    uint32_t n_united;
    ending *ended;

    /* Runs of the row above and of the row being taken. */
    size_t most_runs, n_upper, n_runs;
    uint32_t *edges, *first, *behind, *slot, *upper_first, *upper_behind, *upper_slot;
    uint64_t *bits, *upper;
    void *block;                 /* behind all arrays */
    slc_checksum_pieces *summed; /* NULL unless asked for */
    uint32_t y;
};

/* ---- open and close ---------------------------------------------------------------------------- */

static void image_stream_config_default(slc_image_stream_config *config)
{
    *config = (slc_image_stream_config){.size = sizeof *config,
                                        .type = SLC_IMAGE_U8,
                                        .grey_type = SLC_IMAGE_U8,
                                        .connectivity = 8,
                                        .threshold = 1,
                                        .max_area = UINT64_MAX};
}
SLC_CONFIG_DEFAULT(slc_image_stream_config, image_stream_config_default)

static slc_status check_config(const slc_image_stream_config *c, slc_error *error)
{
    const slc_status status = slc_image_check_size("rows", c->width, 1, error);
    if (status != SLC_OK) {
        return status;
    }
    if (c->type < 0 || c->type >= SLC_IMAGE_TYPES) {
        return slc_fail(error, SLC_ERR_USAGE, "type: unknown type of pixels %d", (int)c->type);
    }
    if (c->grey_type < 0 || c->grey_type >= SLC_IMAGE_TYPES) {
        return slc_fail(error, SLC_ERR_USAGE, "grey_type: unknown type of pixels %d", (int)c->grey_type);
    }
    return slc_image_check_choices(c->connectivity, c->threshold, c->features, c->min_area, c->max_area,
                                   error);
}

static size_t lay_out(slc_image_stream *s, char *block)
{
    const size_t words = slc_image_bits_words(s->config.width), slots = s->n_slots, runs = s->most_runs;
    slc_arena a = {.at = block, .align = SLC_COLUMN_ALIGN};
    s->bits = slc_arena_take(&a, words, sizeof *s->bits);
    s->upper = slc_arena_take(&a, words, sizeof *s->upper);
    s->ended = slc_arena_take(&a, slots, sizeof *s->ended);
    s->edges = slc_arena_take(&a, s->config.width + 64, sizeof *s->edges);
    s->first = slc_arena_take(&a, runs, sizeof *s->first);
    s->behind = slc_arena_take(&a, runs, sizeof *s->behind);
    s->slot = slc_arena_take(&a, runs, sizeof *s->slot);
    s->upper_first = slc_arena_take(&a, runs, sizeof *s->first);
    s->upper_behind = slc_arena_take(&a, runs, sizeof *s->behind);
    s->upper_slot = slc_arena_take(&a, runs, sizeof *s->slot);
    s->free_slots = slc_arena_take(&a, slots, sizeof *s->free_slots);
    s->parent = slc_arena_take(&a, slots, sizeof *s->parent);
    s->united = slc_arena_take(&a, slots, sizeof *s->united);
    s->alive = slc_arena_take(&a, slots, sizeof *s->alive);
    return a.used;
}

/* All slots are free, the lowest on top. */
static void restart(slc_image_stream *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++) {
        s->free_slots[i] = s->n_slots - 1 - i;
        s->parent[i] = i;
    }
    s->n_free = s->n_slots;
    s->n_upper = 0;
    s->y = 0;
    if (s->summed != NULL) {
        slc_checksum_pieces_begin(s->summed);
    }
}

slc_status slc_image_stream_open(const slc_image_stream_config *given, slc_image_stream **out,
                                 slc_error *error)
{
    *out = NULL;
    slc_image_stream_config own, *const config = &own;
    slc_image_stream_config_default(config);
    slc_status status = slc_config_take(config, sizeof *config, given, "slc_image_stream_config", error);
    status = status == SLC_OK ? check_config(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_image_stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stream");
    }
    s->config = *config;
    slc_image_kernels_select(SLC_SIMD_AUTO, &s->kernels);
    s->level = slc_image_level_of(config->type, config->threshold);
    s->most_runs = config->width / 2 + config->width % 2;
    s->n_slots = (uint32_t)(2 * s->most_runs);
    s->sums = slc_image_features_needed(config->features) | SLC_IMAGE_AREA | SLC_IMAGE_FIRST;
    s->schema = slc_image_components_schema(config->features, s->columns);
    s->open_schema = slc_image_components_schema(s->sums, s->open_columns);
    s->block = aligned_alloc(SLC_COLUMN_ALIGN, lay_out(s, NULL));
    if (config->checksum != NULL) {
        s->summed = aligned_alloc(_Alignof(slc_checksum_pieces), sizeof *s->summed);
        status = s->summed != NULL ? SLC_OK : SLC_ERR_MEMORY;
    }
    if (s->block != NULL && status == SLC_OK) {
        (void)lay_out(s, s->block);
        status = slc_columns_reserve(&s->open_schema, &s->open, s->n_slots, 1);
    }
    if (s->block == NULL || status != SLC_OK) {
        slc_image_stream_close(s);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stream of rows of %zu pixels", config->width);
    }
    s->open.head.size = s->n_slots;
    restart(s);
    *out = s;
    return SLC_OK;
}

void slc_image_stream_close(slc_image_stream *s)
{
    if (s != NULL) {
        slc_columns_clear(&s->open_schema, &s->open);
        free(s->block);
        free(s->summed);
        free(s);
    }
}

/* ---- slots ------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *parent, uint32_t slot)
{
    while (parent[slot] != slot) {
        parent[slot] = parent[parent[slot]];
        slot = parent[slot];
    }
    return slot;
}

static uint32_t open_slot(slc_image_stream *s)
{
    const uint32_t slot = s->free_slots[--s->n_free];
    slc_image_features_begin(s->sums, &s->open, slot, 1, s->config.grey_type);
    return slot;
}

static uint32_t unite(slc_image_stream *s, uint32_t a, uint32_t b)
{
    if (a == b) {
        return a;
    }
    slc_image_features_merge(s->sums, &s->open, a, b, s->config.grey_type);
    s->parent[b] = a;
    s->united[s->n_united++] = b;
    return a;
}

/* Gives every run of the new row a slot. Both rows are gone through from the left, side by side. */
static void connect(slc_image_stream *s)
{
    const uint32_t reach = s->config.connectivity == 8 ? 1 : 0;
    size_t u = 0;
    for (size_t r = 0; r < s->n_runs; r++) {
        const uint32_t first = s->first[r], behind = s->behind[r];
        uint32_t slot = UINT32_MAX;
        while (u < s->n_upper && s->upper_behind[u] + reach <= first) {
            u++;
        }
        for (; u < s->n_upper && s->upper_first[u] < behind + reach; u++) {
            const uint32_t other = find(s->parent, s->upper_slot[u]);
            slot = slot == UINT32_MAX ? other : unite(s, slot, other);
            if (s->upper_behind[u] + reach > behind) {
                break; /* the run above may touch the next one too */
            }
        }
        s->slot[r] = slot != UINT32_MAX ? slot : open_slot(s);
    }
}

/* ---- components that have ended ---------------------------------------------------------------- */

static inline void swap_endings(ending *a, ending *b)
{
    const ending c = *a;
    *a = *b;
    *b = c;
}

static void sink(ending *heap, size_t at, size_t n)
{
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1].key > heap[child].key;
        if (heap[at].key >= heap[child].key) {
            return;
        }
        swap_endings(&heap[at], &heap[child]);
        at = child;
    }
}

/* By first pixel. A heap in place, as qsort may allocate; mostly they come in order. */
static void sort_endings(ending *ended, size_t n)
{
    size_t sorted = 1;
    while (sorted < n && ended[sorted - 1].key <= ended[sorted].key) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sink(ended, i, n);
    }
    for (size_t i = n; i-- > 1;) {
        swap_endings(&ended[0], &ended[i]);
        sink(ended, 0, i);
    }
}

/* Slots with a run in the row above and none in the new row, each once. */
static size_t find_ended(slc_image_stream *s)
{
    size_t n = 0;
    for (size_t u = 0; u < s->n_upper; u++) {
        s->alive[find(s->parent, s->upper_slot[u])] = 0;
    }
    for (size_t r = 0; r < s->n_runs; r++) {
        s->alive[s->slot[r]] = 1;
    }
    for (size_t u = 0; u < s->n_upper; u++) {
        const uint32_t slot = find(s->parent, s->upper_slot[u]);
        if (s->alive[slot] == 0) {
            s->alive[slot] = 1;
            s->ended[n++] = (ending){(uint64_t)s->open.first_y[slot] << 32 | s->open.first_x[slot], slot};
        }
    }
    return n;
}

static bool is_kept(const slc_image_stream *s, uint32_t slot)
{
    return s->open.area[slot] >= s->config.min_area && s->open.area[slot] <= s->config.max_area;
}

/* There is room. */
static void emit(slc_image_stream *s, size_t n, slc_image_components *closed)
{
    sort_endings(s->ended, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = s->ended[i].slot;
        if (is_kept(s, slot)) {
            slc_image_features_end(s->config.features, &s->open, slot, 1, s->config.grey_type);
            (void)slc_columns_append(&s->schema, &s->open, slot, 1, closed);
        }
        s->free_slots[s->n_free++] = slot;
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void find_runs(slc_image_stream *s, const void *row)
{
    slc_image_bits_row(&s->kernels, &s->level, row, s->config.width, s->config.inverse, s->bits);
    s->n_runs = s->kernels.edges(s->bits, s->config.width, s->edges) / 2;
    for (size_t r = 0; r < s->n_runs; r++) {
        s->first[r] = s->edges[2 * r];
        s->behind[r] = s->edges[2 * r + 1];
    }
}

/* Sums up the row; the labels of its runs are their slots, counted from 1. */
static void add_row(slc_image_stream *s, const void *grey)
{
    uint32_t *label = s->edges;
    for (size_t r = 0; r < s->n_runs; r++) {
        s->slot[r] = find(s->parent, s->slot[r]);
        label[r] = s->slot[r] + 1;
    }
    const slc_image_run_row row = {.y = s->y,
                                   .width = s->config.width,
                                   .n_runs = s->n_runs,
                                   .first = s->first,
                                   .behind = s->behind,
                                   .label = label,
                                   .bits = s->bits,
                                   .upper = s->n_upper > 0 ? s->upper : NULL,
                                   .connectivity = s->config.connectivity,
                                   .grey = grey,
                                   .grey_type = s->config.grey_type};
    slc_image_features_row(s->sums, &s->open, 0, &row);
}

static inline void swap_rows(uint32_t **a, uint32_t **b)
{
    uint32_t *c = *a;
    *a = *b;
    *b = c;
}

/* The row becomes the one above; slots that were united are free. */
static void next_row(slc_image_stream *s)
{
    uint64_t *bits = s->bits;
    s->bits = s->upper;
    s->upper = bits;
    swap_rows(&s->first, &s->upper_first);
    swap_rows(&s->behind, &s->upper_behind);
    swap_rows(&s->slot, &s->upper_slot);
    s->n_upper = s->n_runs;
    while (s->n_united > 0) {
        const uint32_t slot = s->united[--s->n_united];
        s->parent[slot] = slot;
        s->free_slots[s->n_free++] = slot;
    }
    s->y++;
}

static slc_status check_rows(const slc_image_stream *s, const void *rows, ptrdiff_t stride, const void *grey,
                             ptrdiff_t grey_stride, size_t n_rows, slc_error *error)
{
    const slc_image image = {rows, s->config.width, n_rows, stride, s->config.type};
    slc_status status = slc_image_check("rows", &image, error);
    if (status != SLC_OK || (s->config.features & SLC_IMAGE_GREY) == 0) {
        return status;
    }
    if (grey == NULL && s->config.grey_type != s->config.type) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "grey rows: none given, and their type %s is not that of the rows, %s",
                        slc_image_type_name(s->config.grey_type), slc_image_type_name(s->config.type));
    }
    if (grey != NULL) {
        const slc_image other = {grey, s->config.width, n_rows, grey_stride, s->config.grey_type};
        status = slc_image_check("grey rows", &other, error);
    }
    return status;
}

/* Components from `first` on have been given out. */
static void sum_up(slc_image_stream *s, const slc_image_components *closed, size_t first)
{
    if (s->summed != NULL) {
        slc_checksum_pieces_add(s->summed, &s->schema, closed, first, closed->head.size - first);
    }
}

static size_t room(const slc_image_components *closed)
{
    return closed->head.capacity - closed->head.size;
}

slc_status slc_image_stream_push(slc_image_stream *s, const void *rows, ptrdiff_t stride, const void *grey,
                                 ptrdiff_t grey_stride, size_t n_rows, slc_image_components *closed,
                                 size_t *taken, slc_error *error)
{
    if (taken != NULL) {
        *taken = 0;
    }
    if (n_rows == 0) {
        return SLC_OK;
    }
    slc_status status = check_rows(s, rows, stride, grey, grey_stride, n_rows, error);
    if (status == SLC_OK) {
        status = slc_image_check_components("closed", closed, s->config.features, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    const size_t before = closed->head.size;
    for (size_t y = 0; y < n_rows && status == SLC_OK; y++) {
        if (room(closed) < s->most_runs) {
            status = slc_fail(error, SLC_ERR_CAPACITY,
                              "row %zu: %zu components may end, and there is room for %zu", y, s->most_runs,
                              room(closed));
            continue;
        }
        const void *row = (const char *)rows + (ptrdiff_t)y * stride;
        find_runs(s, row);
        connect(s);
        add_row(s, grey != NULL ? (const char *)grey + (ptrdiff_t)y * grey_stride : row);
        emit(s, find_ended(s), closed);
        next_row(s);
        if (taken != NULL) {
            *taken = y + 1;
        }
    }
    sum_up(s, closed, before);
    return status;
}

slc_status slc_image_stream_finish(slc_image_stream *s, slc_image_components *closed, slc_error *error)
{
    const slc_status status = slc_image_check_components("closed", closed, s->config.features, error);
    if (status != SLC_OK) {
        return status;
    }
    s->n_runs = 0; /* as if a row of nothing came */
    const size_t n = find_ended(s);
    if (room(closed) < n) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%zu components are open, and there is room for %zu", n,
                        room(closed));
    }
    const size_t before = closed->head.size;
    emit(s, n, closed);
    if (s->summed != NULL) {
        sum_up(s, closed, before);
        *s->config.checksum = slc_checksum_pieces_end(s->summed, s->schema.name, &s->schema);
    }
    restart(s);
    return SLC_OK;
}
