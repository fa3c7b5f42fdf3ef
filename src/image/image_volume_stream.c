/* SPDX-License-Identifier: Apache-2.0
 * Components of a volume that comes slice by slice. A component that is open has a slot with its sums; spans
 * of the last slice know their slots. A span of a new slice takes the slot of a span that it touches, or a
 * fresh one; where it touches several, their slots are united: sums are added up, and one slot is free again
 * after the slice. A slot without a span in the new slice is a component that has ended. Of a volume that is
 * periodic along z, the spans of the first slice stay until the end, and what they belong to stays open.
 */
#include "base/columns.h"
#include "image/image_volume_part.h"
#include "image/image_volume_spans.h"
#include "image/image_volume_sums.h"
#include "simd/simd_checksum.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t no_slot = UINT32_MAX;

typedef struct slot {
    slc_volume_sums sums;
    uint32_t parent; /* itself, but of one that was united with another in this slice */
    bool alive;      /* has a span in the slice being taken */
} slot;

/* A component that has ended, by its first voxel. */
typedef struct ending {
    uint64_t zy;
    uint32_t x, slot;
} ending;

/* The spans of a slice, row after row. */
typedef struct slice {
    slc_volume_span *spans;
    size_t capacity;
    size_t *row_at; /* where each row begins, and one more */
} slice;

struct slc_volume_stream {
    slc_volume_config config;
    slc_volume_keep keep;
    slc_volume shape;
    slc_image_kernels kernels;
    slc_image_level level;
    bool equal;
    slc_schema schema, judged_schema;
    slc_column columns[SLC_VOLUME_COLUMNS], judged_columns[SLC_VOLUME_COLUMNS];
    slc_volume_components judged; /* what `keep` looks at, of one that has ended; the same memory for all */
    uint64_t n_filtered;
    uint64_t *checksum;
    slc_checksum_pieces *summed; /* NULL unless asked for */
    uint64_t *bits;
    uint32_t *edges;
    slice now, before, first; /* first: of a periodic z alone */
    slot *slots;
    uint32_t *free_slots, *united; /* as many as there are slots */
    ending *ended;                 /* as many, too */
    size_t n_slots, n_free, n_united;
    size_t z;
    bool failed; /* memory ran out in the midst of a slice */
};

static const size_t max_runs = UINT32_MAX / 4;

static bool is_periodic(const slc_volume_stream *s, uint32_t axis)
{
    return (s->config.periodic & axis) != 0;
}

/* ---- open and close ---------------------------------------------------------------------------- */

static void begin(slc_volume_stream *s)
{
    s->n_free = 0;
    for (size_t i = s->n_slots; i-- > 0;) {
        s->free_slots[s->n_free++] = (uint32_t)i;
    }
    s->n_united = 0;
    s->z = 0;
    memset(s->before.row_at, 0, (s->shape.height + 1) * sizeof *s->before.row_at);
    if (s->summed != NULL) {
        slc_checksum_pieces_begin(s->summed);
    }
}

static slc_status check_shape(const slc_volume_config *config, const slc_volume *shape, slc_error *error)
{
    if (config->exec.threads > 1) {
        return slc_fail(error, SLC_ERR_USAGE, "threads: a stream of slices is labelled by one, not by %u",
                        config->exec.threads);
    }
    slc_volume one = *shape; /* a slice of it, as if it were there */
    one.voxels = config;
    one.depth = 1;
    one.stride = (ptrdiff_t)(one.width < UINT32_MAX ? one.width * sizeof(uint64_t) : 0);
    const slc_status status = slc_volume_check(config, &one, error);
    if (status == SLC_OK && slc_image_times(shape->width, shape->height) > max_runs) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "slices of %zu x %zu voxels may have too many runs",
                        shape->width, shape->height);
    }
    return status;
}

slc_status slc_volume_stream_open(const slc_volume_config *given, const slc_volume *shape, uint64_t *checksum,
                                  slc_volume_stream **out, slc_error *error)
{
    *out = NULL;
    slc_volume_config config;
    slc_status status = slc_volume_config_take(given, &config, error);
    slc_volume_keep keep;
    status = status == SLC_OK ? check_shape(&config, shape, error) : status;
    status = status == SLC_OK ? slc_volume_keep_take(&config, &keep, error) : status;
    if (status == SLC_OK && ((config.features | keep.features) & ~(uint32_t)SLC_VOLUME_ALL) != 0) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "features: a stream of slices has none of grey values or labels");
    }
    if (status == SLC_OK && keep.largest > 0) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "largest: a stream of slices knows no largest before its end");
    }
    if (status != SLC_OK) {
        return status;
    }
    const size_t width = shape->width, rows = shape->height + 1;
    slc_volume_stream *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->config = config;
        s->config.connectivity = slc_volume_connectivity(&config);
        s->config.exec.device = s->config.filter = NULL;
        s->keep = keep;
        s->shape = *shape;
        s->equal = config.equal && shape->type != SLC_IMAGE_BITS;
        slc_image_kernels_select(config.exec.target, &s->kernels);
        if (!s->equal) {
            s->level = slc_image_level_of(shape->type, config.equal ? 1 : config.threshold);
        }
        s->schema = slc_volume_components_schema(config.features, s->columns);
        s->judged_schema = slc_volume_components_schema(keep.features, s->judged_columns);
        s->checksum = checksum;
        s->bits = calloc(slc_image_bits_words(width), sizeof *s->bits);
        s->edges = calloc(width + 64, sizeof *s->edges);
        s->now.row_at = calloc(rows, sizeof *s->now.row_at);
        s->before.row_at = calloc(rows, sizeof *s->before.row_at);
        s->first.row_at = calloc(rows, sizeof *s->first.row_at);
        s->summed = checksum != NULL ? aligned_alloc(_Alignof(slc_checksum_pieces), sizeof *s->summed) : NULL;
    }
    if (s == NULL || slc_columns_reserve(&s->judged_schema, &s->judged, 1, 1) != SLC_OK || s->bits == NULL ||
        s->edges == NULL || s->now.row_at == NULL || s->before.row_at == NULL || s->first.row_at == NULL ||
        (checksum != NULL && s->summed == NULL)) {
        slc_volume_stream_close(s);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stream of slices of %zu x %zu voxels", width,
                        shape->height);
    }
    begin(s);
    *out = s;
    return SLC_OK;
}

void slc_volume_stream_close(slc_volume_stream *s)
{
    if (s != NULL) {
        free(s->bits);
        free(s->edges);
        free(s->now.spans);
        free(s->before.spans);
        free(s->first.spans);
        free(s->now.row_at);
        free(s->before.row_at);
        free(s->first.row_at);
        free(s->slots);
        free(s->free_slots);
        free(s->united);
        free(s->ended);
        free(s->summed);
        slc_columns_clear(&s->judged_schema, &s->judged);
        free(s);
    }
}

/* ---- slots ------------------------------------------------------------------------------------- */

static bool grow(void **at, size_t n, size_t size)
{
    void *more = n > SIZE_MAX / size ? NULL : realloc(*at, n * size);
    *at = more != NULL ? more : *at;
    return more != NULL;
}

/* Free slots for so many spans more. */
static bool reserve_slots(slc_volume_stream *s, size_t n)
{
    if (s->n_free >= n) {
        return true;
    }
    const size_t doubled = 2 * s->n_slots, enough = s->n_slots + n - s->n_free;
    const size_t all = doubled > enough ? doubled : enough;
    if (all >= no_slot || !grow((void **)&s->slots, all, sizeof *s->slots) ||
        !grow((void **)&s->free_slots, all, sizeof *s->free_slots) ||
        !grow((void **)&s->united, all, sizeof *s->united) ||
        !grow((void **)&s->ended, all, sizeof *s->ended)) {
        return false;
    }
    for (size_t i = all; i-- > s->n_slots;) {
        s->free_slots[s->n_free++] = (uint32_t)i;
    }
    s->n_slots = all;
    return true;
}

static uint32_t find(slot *slots, uint32_t at)
{
    while (slots[at].parent != at) {
        slots[at].parent = slots[slots[at].parent].parent;
        at = slots[at].parent;
    }
    return at;
}

/* Two spans touch; the first one may have no slot yet. */
static void unite(void *context, slc_volume_span *a, slc_volume_span *b)
{
    slc_volume_stream *s = context;
    const uint32_t other = find(s->slots, b->label);
    if (a->label == no_slot) {
        a->label = other;
        return;
    }
    const uint32_t own = find(s->slots, a->label);
    if (own != other) {
        const bool larger = s->slots[own].sums.volume >= s->slots[other].sums.volume;
        const uint32_t stays = larger ? own : other, goes = larger ? other : own;
        slc_volume_sums_merge(&s->slots[stays].sums, &s->slots[goes].sums);
        s->slots[goes].parent = stays;
        s->united[s->n_united++] = goes;
    }
}

/* ---- a slice ----------------------------------------------------------------------------------- */

static slc_volume_spans row_of(const slice *in, size_t y)
{
    const size_t n = in->row_at[y + 1] - in->row_at[y];
    return (slc_volume_spans){n > 0 ? in->spans + in->row_at[y] : NULL, n};
}

static size_t find_runs(slc_volume_stream *s, const void *row, slc_volume_span *to)
{
    slc_image_bits_row(&s->kernels, &s->level, row, s->shape.width, s->config.inverse, s->bits);
    const size_t n = s->kernels.edges(s->bits, s->shape.width, s->edges) / 2;
    for (size_t i = 0; i < n; i++) {
        to[i] = (slc_volume_span){s->edges[2 * i], s->edges[2 * i + 1], no_slot, 0};
    }
    return n;
}

static size_t find_values(const slc_volume_stream *s, const void *row, slc_volume_span *to)
{
    size_t n = 0;
    uint64_t last = 0;
    for (size_t x = 0; x < s->shape.width; x++) {
        const uint64_t value = slc_volume_value(row, s->shape.type, x);
        if (value != 0 && value != last) {
            to[n++] = (slc_volume_span){(uint32_t)x, 0, no_slot, value};
        }
        if (value != 0) {
            to[n - 1].behind = (uint32_t)x + 1;
        }
        last = value;
    }
    return n;
}

static bool take_row(slc_volume_stream *s, const void *row, size_t y)
{
    slice *now = &s->now;
    const size_t at = now->row_at[y], most = at + s->shape.width;
    if (most > now->capacity) {
        const size_t capacity = most > 2 * now->capacity ? most : 2 * now->capacity;
        if (!grow((void **)&now->spans, capacity, sizeof *now->spans)) {
            return false;
        }
        now->capacity = capacity;
    }
    slc_volume_span *spans = now->spans + at;
    now->row_at[y + 1] = at + (s->equal ? find_values(s, row, spans) : find_runs(s, row, spans));
    return reserve_slots(s, now->row_at[y + 1] - at);
}

/* With the rows that come before row y: of the slice before, and of the slice itself, but for the first one,
 * whose own rows were joined long before. */
static void join_row(slc_volume_stream *s, const slice *now, const slice *before, size_t y)
{
    const slc_volume_spans row = row_of(now, y);
    for (int i = 0; i < SLC_VOLUME_STEPS; i++) {
        const slc_volume_step step = slc_volume_step_of(s->config.connectivity, i);
        const bool periodic = step.z != 0 && is_periodic(s, SLC_VOLUME_PERIODIC_Y);
        bool wraps = false;
        size_t other_y;
        if ((step.z == 0 && now == &s->first) || !step.joins ||
            !slc_volume_step_to(y, step.y, s->shape.height, periodic, &other_y, &wraps)) {
            continue;
        }
        const slc_volume_spans other = row_of(step.z != 0 ? before : now, other_y);
        slc_volume_spans_join(row, other, step.reach, unite, s);
        if (step.reach == 1 && is_periodic(s, SLC_VOLUME_PERIODIC_X)) {
            slc_volume_spans_wrap(row, other, s->shape.width, unite, s);
        }
    }
}

/* All spans of the row get slots, and are added to them. */
static void add_row(slc_volume_stream *s, size_t y)
{
    const slc_volume_spans row = row_of(&s->now, y);
    for (size_t i = 0; i < row.n; i++) {
        slc_volume_span *span = &row.at[i];
        if (span->label == no_slot) {
            span->label = s->free_slots[--s->n_free];
            s->slots[span->label] = (slot){.parent = span->label};
        }
        slc_volume_sums *sums = &s->slots[find(s->slots, span->label)].sums;
        slc_volume_sums_add(sums, span->first, span->behind, y, s->z);
    }
    if (is_periodic(s, SLC_VOLUME_PERIODIC_X)) {
        slc_volume_spans_wrap(row, row, s->shape.width, unite, s);
    }
}

/* The last row of a slice with the first. */
static void join_ends(slc_volume_stream *s)
{
    const slc_volume_spans last = row_of(&s->now, s->shape.height - 1), first = row_of(&s->now, 0);
    const uint32_t reach = slc_volume_step_of(s->config.connectivity, 0).reach;
    slc_volume_spans_join(last, first, reach, unite, s);
    if (reach == 1 && is_periodic(s, SLC_VOLUME_PERIODIC_X)) {
        slc_volume_spans_wrap(last, first, s->shape.width, unite, s);
    }
}

/* ---- components that have ended ---------------------------------------------------------------- */

static size_t spans_of(const slc_volume_stream *s, const slice *in)
{
    return in->row_at[s->shape.height];
}

static void resolve(slc_volume_stream *s, slice *in)
{
    for (size_t i = 0; i < spans_of(s, in); i++) {
        in->spans[i].label = find(s->slots, in->spans[i].label);
    }
}

static void mark(slc_volume_stream *s, const slice *in, bool alive)
{
    for (size_t i = 0; i < spans_of(s, in); i++) {
        s->slots[in->spans[i].label].alive = alive;
    }
}

/* Slots of a slice that are not alive, each once; of those that began before slice z, the others stay. Those
 * that began in the slice itself come by their first voxels. */
static size_t find_ended(slc_volume_stream *s, const slice *in, size_t z, size_t n)
{
    for (size_t i = 0; i < spans_of(s, in); i++) {
        slot *one = &s->slots[in->spans[i].label];
        if (!one->alive && one->sums.first_z < z) {
            one->alive = true;
            s->ended[n++] = (ending){(uint64_t)one->sums.first_z << 32 | one->sums.first_y, one->sums.first_x,
                                     in->spans[i].label};
        }
    }
    return n;
}

static int by_first(const void *a, const void *b)
{
    const ending *one = a, *other = b;
    return one->zy != other->zy ? (one->zy > other->zy) - (one->zy < other->zy)
                                : (one->x > other->x) - (one->x < other->x);
}

static void sort_ended(slc_volume_stream *s, size_t n)
{
    if (n > 1) { /* without any there may be no list */
        qsort(s->ended, n, sizeof *s->ended, by_first);
    }
}

/* Of a volume of so many slices, as far as is known: what has ended before is not in the last one. */
static bool is_kept(slc_volume_stream *s, const slc_volume_sums *sums, size_t depth)
{
    if (!s->keep.some) {
        return true;
    }
    slc_volume all = s->shape;
    all.depth = depth;
    slc_volume_sums_put(sums, 1, &s->judged, 0);
    return slc_volume_keep_holds(&s->keep, &all, &s->judged, 0);
}

/* Components that have ended, in the order of the list. */
static slc_status emit(slc_volume_stream *s, size_t n, size_t depth, slc_volume_components *closed)
{
    const size_t at = closed->head.size;
    if (slc_columns_reserve(&s->schema, closed, at + n, closed->head.n_events + 1) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const slc_volume_sums *sums = &s->slots[s->ended[i].slot].sums;
        s->free_slots[s->n_free++] = s->ended[i].slot;
        if (is_kept(s, sums, depth)) {
            slc_volume_sums_put(sums, 1, closed, at + kept++);
        }
    }
    s->n_filtered += n - kept;
    closed->head.size = at + kept;
    if (s->summed != NULL) {
        slc_checksum_pieces_add(s->summed, &s->schema, closed, at, kept);
    }
    return SLC_OK;
}

/* Components without a voxel in the slice that was taken; slots that were united are free. */
static slc_status end_slice(slc_volume_stream *s, slc_volume_components *closed)
{
    const bool keeps = is_periodic(s, SLC_VOLUME_PERIODIC_Z);
    resolve(s, &s->before);
    resolve(s, &s->now);
    if (keeps) {
        resolve(s, &s->first);
    }
    while (s->n_united > 0) {
        s->free_slots[s->n_free++] = s->united[--s->n_united];
    }
    mark(s, &s->before, false);
    mark(s, &s->now, true);
    if (keeps) {
        mark(s, &s->first, true);
    }
    const size_t before = s->z > 0 ? s->z - 1 : 0, n = find_ended(s, &s->before, before, 0);
    sort_ended(s, n);
    return emit(s, find_ended(s, &s->before, SIZE_MAX, n), s->z + 1, closed);
}

static bool keep_first(slc_volume_stream *s)
{
    const size_t n = spans_of(s, &s->now);
    if (!is_periodic(s, SLC_VOLUME_PERIODIC_Z) || s->z > 0) {
        return true;
    }
    if (n > s->first.capacity && !grow((void **)&s->first.spans, n, sizeof *s->first.spans)) {
        return false;
    }
    s->first.capacity = n > s->first.capacity ? n : s->first.capacity;
    if (n > 0) {
        memcpy(s->first.spans, s->now.spans, n * sizeof *s->first.spans);
    }
    memcpy(s->first.row_at, s->now.row_at, (s->shape.height + 1) * sizeof *s->first.row_at);
    return true;
}

static slc_status take_slice(slc_volume_stream *s, const slc_volume *slices, size_t z,
                             slc_volume_components *closed)
{
    for (size_t y = 0; y < s->shape.height; y++) {
        if (!take_row(s, slc_volume_row(slices, y, z), y)) {
            return SLC_ERR_MEMORY;
        }
        join_row(s, &s->now, &s->before, y);
        add_row(s, y);
    }
    if (is_periodic(s, SLC_VOLUME_PERIODIC_Y)) {
        join_ends(s);
    }
    if (!keep_first(s) || end_slice(s, closed) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    const slice last = s->before;
    s->before = s->now;
    s->now = last;
    s->z++;
    return SLC_OK;
}

/* ---- what is called ---------------------------------------------------------------------------- */

static slc_status fail_memory(slc_volume_stream *s, slc_error *error)
{
    s->failed = true;
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for the components of slice %zu; the stream has ended",
                    s->z);
}

slc_status slc_volume_stream_push(slc_volume_stream *s, const slc_volume *slices,
                                  slc_volume_components *closed, slc_error *error)
{
    if (s->failed) {
        return fail_memory(s, error);
    }
    slc_status status = slc_volume_check(&s->config, slices, error);
    if (status != SLC_OK) {
        return status;
    }
    if (slices->width != s->shape.width || slices->height != s->shape.height ||
        slices->type != s->shape.type) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "slices: they are %zu x %zu of %s, the stream is %zu x %zu of %s", slices->width,
                        slices->height, slc_image_type_name(slices->type), s->shape.width, s->shape.height,
                        slc_image_type_name(s->shape.type));
    }
    slc_volume all = *slices;
    all.depth += s->z;
    if (all.depth >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "slices: more than 32 bits can number");
    }
    const uint32_t features = s->config.features | s->keep.features;
    status = features != 0 ? slc_volume_check_sums(&all, features, error) : SLC_OK;
    s->n_filtered = s->z == 0 ? 0 : s->n_filtered;
    for (size_t z = 0; z < slices->depth && status == SLC_OK; z++) {
        status = take_slice(s, slices, z, closed);
        if (status != SLC_OK) {
            return fail_memory(s, error);
        }
    }
    return status;
}

slc_status slc_volume_stream_finish(slc_volume_stream *s, slc_volume_components *closed, slc_error *error)
{
    const bool wraps = is_periodic(s, SLC_VOLUME_PERIODIC_Z) && s->z > 0;
    if (s->failed) {
        return fail_memory(s, error);
    }
    for (size_t y = 0; y < s->shape.height && wraps; y++) {
        join_row(s, &s->first, &s->before, y);
    }
    resolve(s, &s->before);
    mark(s, &s->before, false);
    if (wraps) {
        resolve(s, &s->first);
        mark(s, &s->first, false);
    }
    size_t n = find_ended(s, &s->before, SIZE_MAX, 0);
    n = wraps ? find_ended(s, &s->first, SIZE_MAX, n) : n;
    sort_ended(s, n);
    if (emit(s, n, s->z, closed) != SLC_OK) {
        return fail_memory(s, error);
    }
    if (s->summed != NULL) {
        *s->checksum = slc_checksum_pieces_end(s->summed, s->schema.name, &s->schema);
    }
    begin(s);
    return SLC_OK;
}

uint64_t slc_volume_stream_filtered(const slc_volume_stream *s)
{
    return s->n_filtered;
}
