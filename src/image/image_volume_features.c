/* SPDX-License-Identifier: Apache-2.0
 * Features of a volume's components: columns, and sums over runs of voxels in closed form.
 */
#include "image/image_volume_grey.h"
#include "image/image_volume_part.h"
#include "image/image_volume_sums.h"

#include "base/columns.h"

#include <string.h>

const char *slc_volume_feature_name(uint32_t feature)
{
    static const char *const names[] = {"volume",   "box",  "first",  "sums", "second",
                                        "centroid", "grey", "spread", "label"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (feature == (uint32_t)1 << i) {
            return names[i];
        }
    }
    return NULL;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static const slc_column all_columns[] = {
    SOA_COLUMN(slc_volume_components, volume, "voxels"),
    SOA_COLUMN(slc_volume_components, x_min, "voxels"),
    SOA_COLUMN(slc_volume_components, y_min, "voxels"),
    SOA_COLUMN(slc_volume_components, z_min, "voxels"),
    SOA_COLUMN(slc_volume_components, x_max, "voxels"),
    SOA_COLUMN(slc_volume_components, y_max, "voxels"),
    SOA_COLUMN(slc_volume_components, z_max, "voxels"),
    SOA_COLUMN(slc_volume_components, first_x, "voxels"),
    SOA_COLUMN(slc_volume_components, first_y, "voxels"),
    SOA_COLUMN(slc_volume_components, first_z, "voxels"),
    SOA_COLUMN(slc_volume_components, sum_x, "voxels"),
    SOA_COLUMN(slc_volume_components, sum_y, "voxels"),
    SOA_COLUMN(slc_volume_components, sum_z, "voxels"),
    SOA_COLUMN(slc_volume_components, sum_xx, "voxels2"),
    SOA_COLUMN(slc_volume_components, sum_xy, "voxels2"),
    SOA_COLUMN(slc_volume_components, sum_xz, "voxels2"),
    SOA_COLUMN(slc_volume_components, sum_yy, "voxels2"),
    SOA_COLUMN(slc_volume_components, sum_yz, "voxels2"),
    SOA_COLUMN(slc_volume_components, sum_zz, "voxels2"),
    SOA_COLUMN(slc_volume_components, x, "voxels"),
    SOA_COLUMN(slc_volume_components, y, "voxels"),
    SOA_COLUMN(slc_volume_components, z, "voxels"),
    SOA_COLUMN(slc_volume_components, mass, "1"),
    SOA_COLUMN(slc_volume_components, weighted_x, "voxels"),
    SOA_COLUMN(slc_volume_components, weighted_y, "voxels"),
    SOA_COLUMN(slc_volume_components, weighted_z, "voxels"),
    SOA_COLUMN(slc_volume_components, grey_min, "1"),
    SOA_COLUMN(slc_volume_components, grey_max, "1"),
    SOA_COLUMN(slc_volume_components, grey_mean, "1"),
    SOA_COLUMN(slc_volume_components, grey_std, "1"),
    SOA_COLUMN(slc_volume_components, label, "index"),
};
SOA_SCHEMA(slc_volume_components, slc_volume_components_all, "components", all_columns);
_Static_assert(sizeof all_columns / sizeof all_columns[0] == SLC_VOLUME_COLUMNS,
               "the public number of columns");

static uint32_t brought_by(const slc_column *column)
{
    const size_t at = column->member;
    return at < offsetof(slc_volume_components, x_min)       ? SLC_VOLUME_SIZE
           : at < offsetof(slc_volume_components, first_x)   ? SLC_VOLUME_BOX
           : at < offsetof(slc_volume_components, sum_x)     ? SLC_VOLUME_FIRST
           : at < offsetof(slc_volume_components, sum_xx)    ? SLC_VOLUME_SUMS
           : at < offsetof(slc_volume_components, x)         ? SLC_VOLUME_SECOND
           : at < offsetof(slc_volume_components, mass)      ? SLC_VOLUME_CENTROID
           : at < offsetof(slc_volume_components, grey_mean) ? SLC_VOLUME_GREY
           : at < offsetof(slc_volume_components, label)     ? SLC_VOLUME_SPREAD
                                                             : SLC_VOLUME_LABEL;
}

slc_schema slc_volume_components_schema(uint32_t features, slc_column columns[SLC_VOLUME_COLUMNS])
{
    slc_schema schema = {.name = slc_volume_components_all.name, .columns = columns};
    for (size_t i = 0; i < SLC_VOLUME_COLUMNS; i++) {
        if ((features & brought_by(&all_columns[i])) != 0) {
            columns[schema.n_columns++] = all_columns[i];
        }
    }
    return schema;
}

/* ---- sums -------------------------------------------------------------------------------------- */

/* 0 + 1 + 4 + … + (n - 1)² for n below 2^32. What is above 2^64 is lost, and nothing of a difference that is
 * below. */
static uint64_t squares_below(uint64_t n)
{
    const uint64_t sum = n * (n - 1) / 2, odd = 2 * n - 1; /* three times the squares is their product */
    return n == 0 ? 0 : sum % 3 == 0 ? sum / 3 * odd : sum * (odd / 3);
}

void slc_volume_sums_add(slc_volume_sums *r, uint64_t first, uint64_t behind, uint64_t y, uint64_t z)
{
    const uint64_t n = behind - first, last = behind - 1;
    const uint64_t sum = (first + last) * n / 2;
    const uint64_t squares = squares_below(behind) - squares_below(first);
    if (r->volume == 0) {
        slc_volume_sums_begin(r, (uint32_t)first, (uint32_t)y, (uint32_t)z);
    }
    r->volume += n;
    r->x += sum;
    r->y += n * y;
    r->z += n * z;
    r->xx += squares;
    r->xy += sum * y;
    r->xz += sum * z;
    r->yy += n * y * y;
    r->yz += n * y * z;
    r->zz += n * z * z;
    r->x_min = first < r->x_min ? (uint32_t)first : r->x_min;
    r->x_max = last > r->x_max ? (uint32_t)last : r->x_max;
    r->y_min = y < r->y_min ? (uint32_t)y : r->y_min;
    r->y_max = y > r->y_max ? (uint32_t)y : r->y_max;
    r->z_max = (uint32_t)z;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

bool slc_volume_sums_before(const slc_volume_sums *a, const slc_volume_sums *b)
{
    return a->first_z != b->first_z   ? a->first_z < b->first_z
           : a->first_y != b->first_y ? a->first_y < b->first_y
                                      : a->first_x < b->first_x;
}

void slc_volume_sums_merge(slc_volume_sums *to, const slc_volume_sums *from)
{
    const slc_volume_sums *first = slc_volume_sums_before(from, to) ? from : to;
    const uint32_t x = first->first_x, y = first->first_y, z = first->first_z;
    to->first_x = x;
    to->first_y = y;
    to->first_z = z;
    to->volume += from->volume;
    to->x += from->x;
    to->y += from->y;
    to->z += from->z;
    to->xx += from->xx;
    to->xy += from->xy;
    to->xz += from->xz;
    to->yy += from->yy;
    to->yz += from->yz;
    to->zz += from->zz;
    to->x_min = least(to->x_min, from->x_min);
    to->y_min = least(to->y_min, from->y_min);
    to->x_max = largest(to->x_max, from->x_max);
    to->y_max = largest(to->y_max, from->y_max);
    to->z_max = largest(to->z_max, from->z_max);
}

/* Of a part: runs of its first layer and of its last. What began in an earlier part, and goes on here, has
 * some there: it came over the border, or, where first and last slices are joined, from the other end. */
static size_t runs_at_ends(const slc_volume_part *part)
{
    const size_t *at = part->run_at, last = part->n_layers - 1;
    return at[1] + (last > 0 ? at[last + 1] - at[last] : 0);
}

/* Gives those components records of the part's own. */
static void list_others(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const uint32_t earlier = part->layer_before[0];
    const size_t n = part->run_at[1], all = runs_at_ends(part), rest = part->run_at[part->n_layers] - all;
    part->others = 0;
    for (size_t i = 0; i < all && earlier > 0; i++) {
        const uint32_t label = part->runs[i < n ? i : i + rest];
        part->places[label <= earlier ? label : 0] = 0;
    }
    for (size_t i = 0; i < all && earlier > 0; i++) {
        const uint32_t label = part->runs[i < n ? i : i + rest], place = part->other + part->others;
        if (label <= earlier && part->places[label] == 0) {
            part->places[label] = place;
            slc_volume_sums_begin(&labeller->records[place], UINT32_MAX, UINT32_MAX, UINT32_MAX);
            labeller->records[place].spare[0] = label;
            part->others++;
        }
    }
}

/* The records of the components that begin in a layer of two slices. */
static void begin_layer(const slc_volume_labeller *labeller, const slc_volume_part *part, size_t i, size_t z)
{
    const size_t words = labeller->pitch, rows = 2 * labeller->bundles; /* of a slice */
    for (uint32_t label = part->layer_before[i] + 1; label <= part->layer_before[i + 1]; label++) {
        const uint64_t at = labeller->firsts[label], row = at / 64 / words, slice = row >= rows ? 1 : 0;
        slc_volume_sums_begin(&labeller->records[label], (uint32_t)(at - row * 64 * words),
                              (uint32_t)(row - slice * rows), (uint32_t)(z + slice));
    }
}

static void add_layers(void *context, uint32_t p)
{
    slc_volume_labeller *labeller = context;
    slc_volume_part *part = &labeller->parts[p];
    const size_t across = labeller->across;
    list_others(labeller, part);
    slc_volume_sum_layer job = {.layer = &part->ring[0],
                                .pitch = labeller->pitch,
                                .bundles = labeller->bundles,
                                .n_rows = across * across,
                                .newest = part->layer_before[0],
                                .earlier = part->layer_before[0],
                                .places = part->places,
                                .columns = part->strip.edge_run,
                                .begins = part->strip.low,
                                .labels = part->strip.high};
    for (size_t i = 0; i < part->n_layers; i++) {
        job.z = across * (part->first_layer + i);
        if (labeller->firsts != NULL) {
            begin_layer(labeller, part, i, job.z);
        }
        slc_volume_layer_of(labeller, part, part->first_layer + i, &part->ring[0]);
        labeller->kernels.sum(&job, labeller->records);
    }
}

/* ---- rows of the collection -------------------------------------------------------------------- */

#define PUT(column, value)                                                                                   \
    for (size_t i = 0; i < n && to->column != NULL; i++) {                                                   \
        const slc_volume_sums *r = &sums[i];                                                                 \
        to->column[row + i] = (value);                                                                       \
    }

/* Rows that stay in the first cache, column by column: to write all columns of each row is slower by far. */
static void put_rows(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row)
{
    PUT(volume, r->volume)
    PUT(x_min, r->x_min)
    PUT(y_min, r->y_min)
    PUT(z_min, r->first_z)
    PUT(x_max, r->x_max)
    PUT(y_max, r->y_max)
    PUT(z_max, r->z_max)
    PUT(first_x, r->first_x)
    PUT(first_y, r->first_y)
    PUT(first_z, r->first_z)
    PUT(sum_x, r->x)
    PUT(sum_y, r->y)
    PUT(sum_z, r->z)
    PUT(sum_xx, r->xx)
    PUT(sum_xy, r->xy)
    PUT(sum_xz, r->xz)
    PUT(sum_yy, r->yy)
    PUT(sum_yz, r->yz)
    PUT(sum_zz, r->zz)
    PUT(x, (double)r->x / (double)r->volume)
    PUT(y, (double)r->y / (double)r->volume)
    PUT(z, (double)r->z / (double)r->volume)
}
#undef PUT

void slc_volume_sums_put(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row)
{
    enum { AT_ONCE = 128 };
    for (size_t i = 0; i < n; i += AT_ONCE) {
        put_rows(sums + i, n - i < AT_ONCE ? n - i : AT_ONCE, to, row + i);
    }
}

static slc_status no_memory(const slc_volume_labeller *labeller, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u components of a volume", labeller->n_labels);
}

/* Records, then first voxels, then places of records. */
slc_status slc_volume_records_reserve(slc_volume_labeller *labeller, slc_error *error)
{
    const size_t n = labeller->n_labels + (size_t)1;
    size_t n_records = n, n_places = 0;
    for (uint32_t p = 1; p < labeller->n_parts; p++) {
        n_records += runs_at_ends(&labeller->parts[p]);
        n_places += labeller->parts[p].layer_before[0] + (size_t)1;
    }
    if (n_records > UINT32_MAX ||
        slc_image_memory_reserve(&labeller->sums, n_records * sizeof(slc_volume_sums) +
                                                      n * sizeof *labeller->firsts +
                                                      n_places * sizeof(uint32_t)) != SLC_OK) {
        return no_memory(labeller, error);
    }
    labeller->records = labeller->sums.at;
    uint64_t *firsts = (uint64_t *)(labeller->records + n_records);
    labeller->firsts = labeller->across == 2 ? firsts : NULL;
    uint32_t *places = (uint32_t *)(firsts + n);
    size_t other = n;
    for (uint32_t p = 1; p < labeller->n_parts; p++) {
        slc_volume_part *part = &labeller->parts[p];
        part->places = places;
        part->other = (uint32_t)other;
        places += part->layer_before[0] + (size_t)1;
        other += runs_at_ends(part);
    }
    return SLC_OK;
}

slc_status slc_volume_features_reserve(slc_volume_labeller *labeller, uint32_t features,
                                       slc_volume_components *to, slc_error *error)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(features, columns);
    const size_t n = labeller->n_labels;
    if (slc_columns_reserve(&schema, to, to->head.size + n, to->head.n_events + 1) != SLC_OK ||
        ((features & SLC_VOLUME_GREYS) != 0 && slc_volume_greys_reserve(labeller) != SLC_OK)) {
        return no_memory(labeller, error);
    }
    return SLC_OK;
}

typedef struct putting {
    const slc_volume_labeller *labeller;
    slc_volume_components *to;
} putting;

/* A part's components. */
static void put_part(void *context, uint32_t p)
{
    const putting *job = context;
    const slc_volume_part *part = &job->labeller->parts[p];
    const size_t first = part->layer_before[0], n = part->layer_before[part->n_layers] - first,
                 row = job->to->head.size + first;
    const slc_volume_sums *sums = job->labeller->records + 1 + first;
    const size_t done = job->labeller->kernels.put(sums, n, job->to, row);
    slc_volume_sums_put(sums + done, n - done, job->to, row + done);
}

void slc_volume_features(slc_volume_labeller *labeller, uint32_t features, slc_volume_components *to)
{
    putting job = {labeller, to};
    slc_team_run(labeller->team, labeller->n_parts, add_layers, labeller);
    for (uint32_t p = 1; p < labeller->n_parts; p++) {
        const slc_volume_part *part = &labeller->parts[p];
        for (uint32_t i = part->other; i < part->other + part->others; i++) {
            slc_volume_sums_merge(&labeller->records[labeller->records[i].spare[0]], &labeller->records[i]);
        }
    }
    slc_team_run(labeller->team, labeller->n_parts, put_part, &job);
    if ((features & SLC_VOLUME_GREYS) != 0) {
        slc_volume_greys_find(labeller, features, to, to->head.size);
    }
    to->head.size += labeller->n_labels;
    slc_columns_end_event(to);
}
