/* SPDX-License-Identifier: Apache-2.0
 * Components of a volume that comes slice by slice. A component that is open has a slot with its sums; spans
 * of the last slice know their slots. A span of a new slice takes the slot of a span that it touches, or a
 * fresh one; where it touches several, their slots are united: sums are added up, and one slot is free again
 * after the slice. A slot without a span in the new slice is a component that has ended. Of a volume that is
 * periodic along z, the spans of the first slice stay until the end, and what they belong to stays open.
 */
#include "base/columns.h"
#include "image/image_volume_part.h"
#include "image/image_volume_slots.h"
#include "image/image_volume_spans.h"
#include "simd/simd_checksum.h"

#include <stdlib.h>
#include <string.h>

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
    slc_volume grey;          /* beside the slices at hand; its type is that of all slices of a volume */
    slc_volume_slots slots;
    ending *ended; /* as many as there are slots */
    size_t n_ended;
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
    slc_volume_slots_begin(&s->slots);
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
    if (status == SLC_OK && ((config.features | keep.features) & SLC_VOLUME_LABEL) != 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "features: a stream of slices has no labels");
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
        s->slots.grey = ((config.features | keep.features) & SLC_VOLUME_GREYS) != 0;
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
        slc_volume_slots_clear(&s->slots);
        free(s->ended);
        free(s->summed);
        slc_columns_clear(&s->judged_schema, &s->judged);
        free(s);
    }
}

/* ---- a slice ----------------------------------------------------------------------------------- */

/* Two spans touch; the first one may have no slot yet. */
static void unite(void *context, slc_volume_span *a, slc_volume_span *b)
{
    slc_volume_stream *s = context;
    const uint32_t other = slc_volume_slots_find(&s->slots, b->label);
    if (a->label == slc_volume_no_slot) {
        a->label = other;
        return;
    }
    const uint32_t own = slc_volume_slots_find(&s->slots, a->label);
    if (own != other) {
        slc_volume_slots_unite(&s->slots, own, other);
    }
}

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
        to[i] = (slc_volume_span){s->edges[2 * i], s->edges[2 * i + 1], slc_volume_no_slot, 0};
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
            to[n++] = (slc_volume_span){(uint32_t)x, 0, slc_volume_no_slot, value};
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
        if (!slc_volume_grow((void **)&now->spans, capacity, sizeof *now->spans)) {
            return false;
        }
        now->capacity = capacity;
    }
    slc_volume_span *spans = now->spans + at;
    now->row_at[y + 1] = at + (s->equal ? find_values(s, row, spans) : find_runs(s, row, spans));
    if (!slc_volume_slots_reserve(&s->slots, now->row_at[y + 1] - at) ||
        (s->slots.n > s->n_ended && !slc_volume_grow((void **)&s->ended, s->slots.n, sizeof *s->ended))) {
        return false;
    }
    s->n_ended = s->slots.n;
    return true;
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

/* All spans of the row get slots, and are added to them; `grey`: the row's values. */
static void add_row(slc_volume_stream *s, size_t y, const void *grey)
{
    const slc_volume_spans row = row_of(&s->now, y);
    for (size_t i = 0; i < row.n; i++) {
        slc_volume_span *span = &row.at[i];
        if (span->label == slc_volume_no_slot) {
            span->label = slc_volume_slots_take(&s->slots);
        }
        const slc_volume_grey_run run = {grey, s->grey.type, span->first, span->behind, y, s->z};
        slc_volume_slots_add(&s->slots, slc_volume_slots_find(&s->slots, span->label), &run);
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
        in->spans[i].label = slc_volume_slots_find(&s->slots, in->spans[i].label);
    }
}

static void mark(slc_volume_stream *s, const slice *in, bool alive)
{
    for (size_t i = 0; i < spans_of(s, in); i++) {
        s->slots.at[in->spans[i].label].alive = alive;
    }
}

/* Slots of a slice that are not alive, each once; of those that began before slice z, the others stay. Those
 * that began in the slice itself come by their first voxels. */
static size_t find_ended(slc_volume_stream *s, const slice *in, size_t z, size_t n)
{
    for (size_t i = 0; i < spans_of(s, in); i++) {
        slc_volume_slot *one = &s->slots.at[in->spans[i].label];
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
static bool is_kept(slc_volume_stream *s, uint32_t number, size_t depth)
{
    if (!s->keep.some) {
        return true;
    }
    slc_volume all = s->shape;
    all.depth = depth;
    slc_volume_slots_put(&s->slots, number, &s->judged, 0);
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
        const uint32_t number = s->ended[i].slot;
        slc_volume_slots_end(&s->slots, number);
        if (is_kept(s, number, depth)) {
            slc_volume_slots_put(&s->slots, number, closed, at + kept++);
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
    slc_volume_slots_release(&s->slots);
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
    if (n > s->first.capacity && !slc_volume_grow((void **)&s->first.spans, n, sizeof *s->first.spans)) {
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
        add_row(s, y, s->slots.grey ? slc_volume_row(&s->grey, y, z) : NULL);
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

/* Grey values of slices, or their own. */
static slc_status take_grey(slc_volume_stream *s, const slc_volume *slices, const slc_volume *given,
                            slc_error *error)
{
    const slc_volume *grey = given != NULL ? given : slices;
    if (!s->slots.grey) {
        return SLC_OK;
    }
    const slc_status status = slc_volume_grey_check(slices, grey, error);
    if (status == SLC_OK && s->z > 0 && grey->type != s->grey.type) {
        return slc_fail(error, SLC_ERR_USAGE, "grey values: they are %s, those of the slices before are %s",
                        slc_image_type_name(grey->type), slc_image_type_name(s->grey.type));
    }
    s->grey = status == SLC_OK ? *grey : s->grey;
    s->slots.type = s->grey.type;
    return status;
}

static slc_status check_slices(const slc_volume_stream *s, const slc_volume *slices, slc_error *error)
{
    const slc_status status = slc_volume_check(&s->config, slices, error);
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
    return features != 0 ? slc_volume_check_sums(&all, features, error) : SLC_OK;
}

slc_status slc_volume_stream_push(slc_volume_stream *s, const slc_volume *slices,
                                  slc_volume_components *closed, slc_error *error)
{
    return slc_volume_stream_push_grey(s, slices, NULL, closed, error);
}

slc_status slc_volume_stream_push_grey(slc_volume_stream *s, const slc_volume *slices, const slc_volume *grey,
                                       slc_volume_components *closed, slc_error *error)
{
    if (s->failed) {
        return fail_memory(s, error);
    }
    slc_status status = check_slices(s, slices, error);
    status = status == SLC_OK ? take_grey(s, slices, grey, error) : status;
    if (status != SLC_OK) {
        return status;
    }
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
