/* SPDX-License-Identifier: Apache-2.0
 * The labels of a page whose rows are with several processes: each labels its own, and all of them join what
 * crosses the borders (image_label.h, "strips that were labelled apart"). */
#include "mpi_label.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ---------------------------------------------------------------------------- */

slc_status slc_mpi_strip_open(slc_mpi_strip *strip, const slc_image_label_config *config, slc_error *error)
{
    strip->world = slc_mpi_here();
    strip->config = config;
    strip->schema = slc_image_components_schema(config->features, strip->columns);
    strip->joins = slc_image_components_schema(SLC_IMAGE_JOINS, strip->join_columns);
    strip->first_row = calloc((size_t)strip->world.size + 1, sizeof *strip->first_row);
    const slc_status status = strip->first_row != NULL
                                  ? SLC_OK
                                  : slc_fail(error, SLC_ERR_MEMORY, "no memory to begin with");
    return slc_mpi_agree(&strip->world, status, error);
}

void slc_mpi_strip_close(slc_mpi_strip *strip)
{
    slc_image_label_close(strip->labeller);
    slc_columns_clear(&strip->joins, &strip->found);
    slc_columns_clear(&strip->schema, &strip->components);
    free(strip->first_row);
    free(strip->labels);
    free(strip->map);
}

/* ---- threshold --------------------------------------------------------------------------------- */

static slc_status find_otsu(slc_mpi_strip *strip, slc_image_otsu_sums *sums)
{
    const slc_image *part = &strip->image;
    (void)slc_image_otsu_parts(SLC_IMAGE_OTSU_EXTREMES, part, sums, NULL, NULL);
    (void)MPI_Allreduce(MPI_IN_PLACE, &sums->low, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    (void)MPI_Allreduce(MPI_IN_PLACE, &sums->high, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    slc_status status = slc_image_otsu_parts(SLC_IMAGE_OTSU_COUNT, part, sums, NULL, &strip->why);
    if (status == SLC_OK) { /* it fails nowhere or, for want of a finite pixel, everywhere */
        slc_mpi_sum_u64(sums->count, part->type == SLC_IMAGE_U8 ? 256 : SLC_IMAGE_OTSU_BINS);
        status = slc_image_otsu_parts(SLC_IMAGE_OTSU_THRESHOLD, part, sums, &strip->threshold, &strip->why);
    }
    return status;
}

slc_status slc_mpi_strip_otsu(slc_mpi_strip *strip, slc_error *error)
{
    slc_image_otsu_sums *sums = calloc(1, sizeof *sums);
    slc_status status = sums != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for a histogram");
    status = slc_mpi_agree(&strip->world, status, error);
    strip->fault = status == SLC_OK && find_otsu(strip, sums) != SLC_OK;
    free(sums);
    return status;
}

/* As the flow of `sluice label` has it: rows of bits need none, and pixels that are floats are compared with
 * a float. */
static slc_status choose_threshold(slc_mpi_strip *strip, slc_error *error)
{
    const double wanted = strip->config->threshold;
    strip->fault = false;
    strip->threshold = wanted;
    if (strip->image.type == SLC_IMAGE_BITS) {
        strip->threshold = (double)NAN;
    } else if (strip->otsu) {
        return slc_mpi_strip_otsu(strip, error);
    } else if (strip->image.type == SLC_IMAGE_F32 && fabs(wanted) <= (double)FLT_MAX) {
        strip->threshold = (double)(float)wanted;
    }
    return SLC_OK;
}

/* ---- the strip by itself ----------------------------------------------------------------------- */

/* Are the strip's components of use, or its labels alone? */
static bool has_rows(const slc_mpi_strip *strip)
{
    const slc_image_label_config *c = strip->config;
    return c->features != 0 || c->min_area > 1 || c->max_area < UINT64_MAX ||
           c->border != SLC_IMAGE_BORDER_ANY;
}

static uint32_t connectivity_of(const slc_mpi_strip *strip)
{
    return strip->inverse ? 12 - strip->config->connectivity : strip->config->connectivity;
}

static slc_status open_labeller(slc_mpi_strip *strip, slc_error *error)
{
    const slc_image *image = &strip->image;
    const double threshold = isnan(strip->threshold) ? strip->config->threshold : strip->threshold;
    if (strip->labeller != NULL && threshold == strip->labeller_threshold &&
        image->width <= strip->reserved_width && image->height <= strip->reserved_height) {
        return SLC_OK;
    }
    slc_image_label_config config = *strip->config;
    config.threshold = threshold;
    config.features = has_rows(strip) ? SLC_IMAGE_JOINS : 0;
    config.min_area = 0;
    config.max_area = UINT64_MAX;
    config.border = SLC_IMAGE_BORDER_ANY;
    slc_image_label_close(strip->labeller);
    strip->labeller = NULL;
    slc_status status = slc_image_label_open(&config, &strip->labeller, error);
    status = status == SLC_OK ? slc_image_label_reserve(strip->labeller, image->width, image->height, error)
                              : status;
    strip->labeller_threshold = threshold;
    strip->reserved_width = image->width;
    strip->reserved_height = image->height;
    return status;
}

static slc_status make_labels(slc_mpi_strip *strip, slc_error *error)
{
    const size_t width = strip->image.width, rows = strip->image.height;
    if (rows > 0 && width > PTRDIFF_MAX / sizeof *strip->labels / rows) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the label image");
    }
    if (width * rows > strip->labels_room) {
        free(strip->labels);
        strip->labels = malloc(width * rows * sizeof *strip->labels);
        strip->labels_room = strip->labels != NULL ? width * rows : 0;
    }
    return strip->labels != NULL || rows == 0
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the label image");
}

static slc_status make_rows(slc_mpi_strip *strip, size_t rows, slc_error *error)
{
    return slc_columns_reserve(&strip->joins, &strip->found, rows, 1) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the components");
}

/* Room for the components of nearly any image first, and for those that there are where that was not enough.
 */
static slc_status label(slc_mpi_strip *strip, uint32_t *n, slc_error *error)
{
    enum { SHARE = 8, FEW = 4096 };
    const slc_image *image = &strip->image;
    const bool rows = has_rows(strip);
    slc_image_labels out = {.labels = strip->labels,
                            .stride = (ptrdiff_t)(image->width * sizeof *strip->labels),
                            .type = SLC_TYPE_U32,
                            .components = rows ? &strip->found : NULL};
    const size_t likely = image->height / SHARE * image->width + FEW;
    slc_status status = rows ? make_rows(strip, likely < UINT32_MAX ? likely : UINT32_MAX, error) : SLC_OK;
    for (int attempt = 0; attempt < 2 && status == SLC_OK; attempt++) {
        slc_columns_reset(&strip->found);
        status = slc_image_label_run(strip->labeller, image, NULL, strip->inverse ? NULL : &out,
                                     strip->inverse ? &out : NULL, error);
        if (status != SLC_ERR_CAPACITY || !rows || out.n_labels == UINT32_MAX || attempt > 0) {
            break;
        }
        status = make_rows(strip, out.n_labels, error);
    }
    *n = out.n_labels;
    return status;
}

/* ---- joined ------------------------------------------------------------------------------------ */

/* What the strips have of a component that goes over borders, as it is sent. */
typedef struct piece_row {
    uint64_t area, sum_x, sum_y;
    uint32_t x_min, y_min, x_max, y_max, first_x, first_y;
} piece_row;

typedef struct joining {
    slc_mpi_strip *strip;
    uint64_t *counts; /* of joins, then of pieces, of each strip */
    slc_image_join *joins;
    slc_image_piece *pieces;
    uint64_t n_pieces;
    uint32_t *numbers;
    slc_image_components rows; /* of all pieces */
    uint32_t n_found, n_labels;
} joining;

static slc_status find_pieces(joining *j, slc_error *error)
{
    slc_mpi_strip *strip = j->strip;
    const size_t size = (size_t)strip->world.size, width = strip->image.width;
    const size_t last = strip->image.height > 0 ? strip->image.height - 1 : 0;
    void *above = NULL, *all = NULL;
    uint64_t n = 0, total = 0;
    slc_status status = slc_mpi_send_border(strip, strip->labels + last * width,
                                            width * sizeof *strip->labels, false, &above, error);
    slc_image_join *mine = status == SLC_OK ? malloc((width + 1) * sizeof *mine) : NULL;
    if (status == SLC_OK && mine == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the border of a strip");
    } else if (above != NULL && status == SLC_OK) {
        n = slc_image_join_rows(above, strip->labels, width, connectivity_of(strip), mine);
    }
    free(above);
    status = slc_mpi_agree(&strip->world, status, error);
    status = status == SLC_OK
                 ? slc_mpi_gather_all(&strip->world, mine, n, sizeof *mine, j->counts, &all, error)
                 : status;
    free(mine);
    j->joins = all;
    for (size_t r = 0; status == SLC_OK && r < size; r++) {
        total += j->counts[r];
    }
    if (status == SLC_OK) {
        j->pieces = malloc((size_t)(2 * total + 1) * sizeof *j->pieces);
        status = j->pieces != NULL ? slc_image_join_pieces(j->counts, (uint32_t)size, j->joins, j->pieces,
                                                           &j->n_pieces, error)
                                   : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
        status = slc_mpi_agree(&strip->world, status, error);
    }
    return status;
}

static piece_row row_of(const slc_image_components *c, size_t i)
{
    return (piece_row){c->area[i],  c->sum_x[i], c->sum_y[i],   c->x_min[i],  c->y_min[i],
                       c->x_max[i], c->y_max[i], c->first_x[i], c->first_y[i]};
}

static void put_row(slc_image_components *c, size_t i, const piece_row *row)
{
    c->area[i] = row->area;
    c->sum_x[i] = row->sum_x;
    c->sum_y[i] = row->sum_y;
    c->x_min[i] = row->x_min;
    c->y_min[i] = row->y_min;
    c->x_max[i] = row->x_max;
    c->y_max[i] = row->y_max;
    c->first_x[i] = row->first_x;
    c->first_y[i] = row->first_y;
}

/* The rows of all pieces, from those who have them. */
static slc_status share_rows(joining *j, slc_error *error)
{
    slc_mpi_strip *strip = j->strip;
    const uint32_t rank = (uint32_t)strip->world.rank;
    void *all = NULL;
    uint64_t n = 0;
    piece_row *mine = malloc((size_t)(j->n_pieces + 1) * sizeof *mine);
    slc_status status = mine != NULL
                            ? slc_columns_reserve(&strip->joins, &j->rows, (size_t)j->n_pieces + 1, 1)
                            : SLC_ERR_MEMORY;
    if (status != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the components that cross borders");
    }
    status = slc_mpi_agree(&strip->world, status, error);
    for (uint64_t i = 0; status == SLC_OK && mine != NULL && i < j->n_pieces; i++) {
        if (j->pieces[i].strip == rank) {
            mine[n++] = row_of(&strip->found, j->pieces[i].label - 1);
        }
    }
    status = status == SLC_OK
                 ? slc_mpi_gather_all(&strip->world, mine, n, sizeof *mine, j->counts, &all, error)
                 : status;
    free(mine);
    for (uint64_t i = 0; status == SLC_OK && i < j->n_pieces; i++) {
        put_row(&j->rows, (size_t)i, (const piece_row *)all + i);
    }
    free(all);
    return status;
}

/* Numbers what begins in this strip, from 1. */
static slc_status number(joining *j, slc_error *error)
{
    slc_mpi_strip *strip = j->strip;
    const bool rows = has_rows(strip);
    const slc_image_join_strip found = {.width = strip->image.width,
                                        .height = strip->height,
                                        .n_strips = (uint32_t)strip->world.size,
                                        .strip = (uint32_t)strip->world.rank,
                                        .first_row = strip->first_row,
                                        .n_found = j->n_found,
                                        .pieces = j->pieces,
                                        .n_pieces = j->n_pieces,
                                        .found = rows ? &strip->found : NULL,
                                        .of_pieces = rows ? &j->rows : NULL};
    const bool features = strip->config->features != 0;
    free(strip->map);
    strip->map = malloc(((size_t)j->n_found + 1) * sizeof *strip->map);
    j->numbers = malloc((size_t)(j->n_pieces + 1) * sizeof *j->numbers);
    slc_columns_reset(&strip->components);
    if (strip->map == NULL || j->numbers == NULL ||
        (features &&
         slc_columns_reserve(&strip->schema, &strip->components, (size_t)j->n_found + 1, 1) != SLC_OK)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the components");
    }
    return slc_image_join_number(strip->config, &found, strip->map, j->numbers, &j->n_labels,
                                 features ? &strip->components : NULL, error);
}

slc_status slc_mpi_strip_number(slc_mpi_strip *strip, uint32_t n_found, uint32_t n_own,
                                const slc_image_piece *pieces, uint64_t n_pieces, uint32_t *numbers,
                                uint64_t *counts, slc_error *error)
{
    const uint64_t own = n_own;
    uint64_t before = 0, all = 0;
    (void)MPI_Allgather(&own, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < strip->world.size; r++) {
        before += r < strip->world.rank ? counts[r] : 0;
        all += counts[r];
    }
    if (all > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%s: %llu labels, and u32 can count 4294967295",
                        strip->inverse ? "background" : "foreground", (unsigned long long)all);
    }
    strip->n_labels = (uint32_t)all;
    for (uint64_t i = 0; i < n_pieces; i++) {
        numbers[i] += numbers[i] != 0 ? (uint32_t)before : 0;
    }
    for (uint32_t l = 1; l <= n_found; l++) {
        strip->map[l] += strip->map[l] != 0 ? (uint32_t)before : 0;
    }
    slc_mpi_sum_u32(numbers, n_pieces);
    for (uint64_t i = 0; i < n_pieces; i++) {
        if (pieces[i].strip == (uint32_t)strip->world.rank) {
            strip->map[pieces[i].label] = numbers[pieces[i].root];
        }
    }
    return SLC_OK;
}

static slc_status join(slc_mpi_strip *strip, uint32_t n_found, slc_error *error)
{
    joining j = {.strip = strip, .n_found = n_found};
    j.counts = malloc((size_t)strip->world.size * sizeof *j.counts);
    slc_status status = j.counts != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for counts");
    status = slc_mpi_agree(&strip->world, status, error);
    if (status != SLC_OK || j.counts == NULL) {
        free(j.counts);
        return status;
    }
    status = find_pieces(&j, error);
    status = status == SLC_OK && has_rows(strip) ? share_rows(&j, error) : status;
    if (status == SLC_OK) {
        status = slc_mpi_agree(&strip->world, number(&j, error), error);
    }
    if (status == SLC_OK) { /* which fails nowhere or everywhere */
        status = slc_mpi_strip_number(strip, j.n_found, j.n_labels, j.pieces, j.n_pieces, j.numbers, j.counts,
                                      error);
    }
    slc_columns_clear(&strip->joins, &j.rows);
    free(j.counts);
    free(j.joins);
    free(j.pieces);
    free(j.numbers);
    return status;
}

/* ---- a page ------------------------------------------------------------------------------------ */

slc_status slc_mpi_strip_label(slc_mpi_strip *strip, const slc_image *image, slc_error *error)
{
    uint32_t n_found = 0;
    strip->image = *image;
    strip->n_labels = 0;
    strip->seconds = 0;
    slc_columns_reset(&strip->found);
    slc_columns_reset(&strip->components);
    slc_status status = slc_mpi_strip_agree(strip, error);
    status = status == SLC_OK ? choose_threshold(strip, error) : status;
    if (status != SLC_OK || strip->fault) {
        return status;
    }
    status = make_labels(strip, error);
    if (status == SLC_OK && image->height > 0) {
        status = open_labeller(strip, error);
        const double began = slc_clock_seconds();
        status = status == SLC_OK ? label(strip, &n_found, error) : status;
        strip->seconds = slc_clock_seconds() - began;
    }
    status = slc_mpi_agree(&strip->world, status, error);
    const double began = slc_clock_seconds();
    status = status == SLC_OK ? join(strip, n_found, error) : status;
    strip->seconds += slc_clock_seconds() - began;
    (void)MPI_Allreduce(MPI_IN_PLACE, &strip->seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return status;
}
