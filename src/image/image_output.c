/* SPDX-License-Identifier: Apache-2.0
 * What every way of labelling does with its results: do they fit, and where are features summed.
 */
#include "image/image_output.h"

#include "base/columns.h"

#include <assert.h>

/* What the labels' type can count. */
static uint64_t largest_label(const slc_image_labels *out)
{
    return out->labels != NULL && out->type == SLC_TYPE_U16 ? UINT16_MAX : UINT32_MAX;
}

static bool rows_fit(const slc_image_components *components, uint64_t n)
{
    return components == NULL || n <= components->head.capacity - components->head.size;
}

static bool event_fits(const slc_image_components *components)
{
    return components == NULL || components->head.n_events < components->head.event_capacity;
}

bool slc_image_output_fits(const slc_image_job *job, uint64_t n_labels)
{
    return n_labels <= largest_label(job->out) && rows_fit(job->out->components, n_labels) &&
           event_fits(job->out->components);
}

slc_status slc_image_output_check(const slc_image_job *job, uint64_t n_labels, slc_error *error)
{
    slc_image_labels *out = job->out;
    const char *side = job->inverse ? "background" : "foreground";
    const unsigned long long n = n_labels;
    out->n_labels = n_labels < UINT32_MAX ? (uint32_t)n_labels : UINT32_MAX;
    if (n_labels > largest_label(out)) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%s: %llu labels, and %s can count %llu", side, n,
                        out->labels != NULL ? slc_type_name(out->type) : "u32",
                        (unsigned long long)largest_label(out));
    }
    if (!rows_fit(out->components, n_labels)) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%s: %llu components, and the collection has room for %zu",
                        side, n, out->components->head.capacity - out->components->head.size);
    }
    if (!event_fits(out->components)) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%s: the collection has no room for another event", side);
    }
    return SLC_OK;
}

static size_t column_bytes(const slc_column *column, size_t rows)
{
    const size_t bytes = rows * slc_type_size(column->type);
    return (bytes + 2 * SLC_COLUMN_ALIGN - 1) / SLC_COLUMN_ALIGN * SLC_COLUMN_ALIGN;
}

/* The columns of sums that are needed and were not asked for. */
static slc_schema spare_schema(uint32_t features, slc_column columns[SLC_IMAGE_COLUMNS])
{
    return slc_image_components_schema(slc_image_features_needed(features) & ~features, columns);
}

size_t slc_image_output_spare(uint32_t features, size_t rows)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema spare = spare_schema(features, columns);
    size_t bytes = 0;
    for (size_t i = 0; i < spare.n_columns; i++) {
        bytes += column_bytes(&columns[i], rows);
    }
    return bytes;
}

slc_image_components slc_image_output_window(const slc_image_job *job, size_t rows, void *spare)
{
    const slc_image_components *out = job->out->components;
    const uint32_t features = job->config->features;
    slc_image_components window = {.head = {.capacity = rows}};
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema asked = slc_image_components_schema(features, columns);
    for (size_t i = 0; i < asked.n_columns; i++) {
        char *data = *slc_column_pointer(job->out->components, &columns[i]);
        *slc_column_pointer(&window, &columns[i]) = data + out->head.size * slc_type_size(columns[i].type);
    }
    const slc_schema more = spare_schema(features, columns);
    char *at = spare; /* NULL: whoever asks has no use for them */
    for (size_t i = 0; i < more.n_columns && at != NULL; i++) {
        *slc_column_pointer(&window, &columns[i]) = at;
        at += column_bytes(&columns[i], rows);
    }
    return window;
}

void slc_image_output_end(const slc_image_job *job, uint32_t n)
{
    slc_image_components *components = job->out->components;
    assert(slc_image_output_fits(job, n));
    components->head.size += n;
    slc_columns_end_event(components);
}
