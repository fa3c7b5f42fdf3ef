/* SPDX-License-Identifier: Apache-2.0
 * The components of a volume whose slices are with several processes: each labels its slab, and all join what
 * crosses the borders (image_volume.h, "slices that are with several"). A slice is a row of the strip. */
#include "mpi_label.h"

#include <stdlib.h>
#include <string.h>

/* ---- open and close ---------------------------------------------------------------------------- */

slc_status slc_mpi_slab_open(slc_mpi_slab *slab, slc_mpi_strip *strip, const slc_volume_config *config,
                             slc_error *error)
{
    uint32_t needed = 0;
    *slab = (slc_mpi_slab){.strip = strip, .config = *config};
    slc_volume_config own = *config;
    own.features = SLC_VOLUME_ALL;
    own.periodic &= ~(uint32_t)SLC_VOLUME_PERIODIC_Z;
    own.min_volume = 0;
    own.max_volume = UINT64_MAX;
    own.border = SLC_IMAGE_BORDER_ANY;
    own.filter = NULL;
    own.largest = 0;
    slab->config.features |= config->largest > 0 ? SLC_VOLUME_SIZE : 0U;
    slab->all = slc_volume_components_schema(SLC_VOLUME_ALL, slab->all_columns);
    slab->kept_schema = slc_volume_components_schema(slab->config.features, slab->kept_columns);
    slab->counts = calloc((size_t)strip->world.size, sizeof *slab->counts);
    slc_status status = slc_volume_open(&own, &slab->labeller, error);
    status = status == SLC_OK ? slc_volume_config_needs(&slab->config, &needed, error) : status;
    slab->greys_wanted = (needed & ~(uint32_t)SLC_VOLUME_ALL) != 0;
    slab->spread_wanted = (needed & SLC_VOLUME_SPREAD) != 0;
    if (status == SLC_OK && slab->counts == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory to begin with");
    }
    return slc_mpi_agree(&strip->world, status, error);
}

void slc_mpi_slab_close(slc_mpi_slab *slab)
{
    slc_columns_clear(&slab->all, &slab->found);
    slc_columns_clear(&slab->all, &slab->of_pieces);
    slc_columns_clear(&slab->kept_schema, &slab->kept);
    slc_volume_close(slab->labeller);
    free(slab->greys);
    free(slab->greys_of_pieces);
    free(slab->counts);
}

/* ---- the slab by itself ------------------------------------------------------------------------ */

static slc_status label(slc_mpi_slab *slab, const slc_volume *v, slc_error *error)
{
    slc_mpi_strip *strip = slab->strip;
    const size_t voxels = strip->image.width * v->depth;
    slc_columns_reset(&slab->found);
    slab->n_found = 0;
    if (v->depth == 0) {
        return SLC_OK;
    }
    if (voxels > strip->labels_room) {
        free(strip->labels);
        strip->labels = calloc(voxels, sizeof *strip->labels);
        strip->labels_room = strip->labels != NULL ? voxels : 0;
    }
    if (strip->labels == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the labels of %zu slices", v->depth);
    }
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *strip->labels);
    slc_volume_labels out = {strip->labels, row, row * (ptrdiff_t)v->height, &slab->found, 0};
    const slc_status status = slc_volume_run(slab->labeller, v, &out, error);
    slab->n_found = out.n_labels;
    return status;
}

static slc_volume labels_of(const slc_mpi_slab *slab, const slc_volume *v)
{
    const uint32_t *labels = slab->strip->labels;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *labels);
    return (slc_volume){labels,       v->width, v->height, v->depth, row, row * (ptrdiff_t)v->height,
                        SLC_IMAGE_U32};
}

/* Sums of the grey values of the slab's components. */
static slc_status find_greys(slc_mpi_slab *slab, const slc_volume *v, const slc_volume *grey,
                             slc_error *error)
{
    const slc_mpi_strip *strip = slab->strip;
    const slc_volume labels = labels_of(slab, v);
    free(slab->greys);
    free(slab->greys_of_pieces);
    slab->greys_of_pieces = NULL;
    slab->greys = malloc(((size_t)slab->n_found + 1) * sizeof *slab->greys);
    return slab->greys == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the components")
           : v->depth == 0     ? SLC_OK
                               : slc_volume_grey_parts(&labels, slab->n_found, grey,
                                                       strip->first_row[strip->world.rank], slab->greys, error);
}

/* ---- joined ------------------------------------------------------------------------------------ */

typedef struct joining {
    slc_image_join *joins;
    slc_image_piece *pieces;
    uint64_t n_pieces;
    uint32_t *numbers;
    uint32_t n_labels;
} joining;

static uint32_t connectivity_of(const slc_volume_config *config)
{
    return !config->inverse ? config->connectivity : config->connectivity == 6 ? 26 : 6;
}

/* How many processes have slices, which are the first ones. */
static uint32_t with_slices(const slc_mpi_strip *strip)
{
    uint32_t n = 0;
    while (n < (uint32_t)strip->world.size && strip->first_row[n + 1] > strip->first_row[n]) {
        n++;
    }
    return n;
}

/* The joins of the slab's upper border; with a periodic z there is one of slab 0, too. */
static slc_status find_joins(slc_mpi_slab *slab, const slc_volume *v, slc_image_join **joins, uint64_t *n,
                             slc_error *error)
{
    const slc_mpi_strip *strip = slab->strip;
    const slc_volume_config *config = &slab->config;
    const bool equal = config->equal && v->type != SLC_IMAGE_BITS;
    const bool round = (config->periodic & SLC_VOLUME_PERIODIC_Z) != 0 && strip->height > 1;
    const size_t plane = strip->image.width, last = v->depth > 0 ? v->depth - 1 : 0;
    const size_t slice = slc_image_row_bytes(v->type, v->width) * v->height;
    const uint32_t *labels = v->depth > 0 ? strip->labels + last * plane : NULL;
    const char *voxels = v->depth > 0 ? (const char *)v->voxels + last * slice : NULL;
    void *above = NULL, *values = NULL;
    slc_status status = slc_mpi_send_border(strip, labels, plane * sizeof *strip->labels, round, &above,
                                            error);
    if (status == SLC_OK && equal) {
        status = slc_mpi_send_border(strip, voxels, slice, round, &values, error);
    }
    if (status == SLC_OK && above != NULL) {
        const slc_volume_join_border border = {.above = above,
                                               .below = strip->labels,
                                               .width = v->width,
                                               .height = v->height,
                                               .connectivity = connectivity_of(config),
                                               .periodic = config->periodic,
                                               .values_above = values,
                                               .values_below = v->voxels,
                                               .type = v->type};
        status = slc_volume_join_slices(&border, joins, n, error);
    }
    free(above);
    free(values);
    return slc_mpi_agree(&strip->world, status, error);
}

static slc_status find_pieces(slc_mpi_slab *slab, const slc_volume *v, joining *j, slc_error *error)
{
    const slc_mpi_world *world = &slab->strip->world;
    void *all = NULL;
    slc_image_join *mine = NULL;
    uint64_t n = 0, total = 0;
    slc_status status = find_joins(slab, v, &mine, &n, error);
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, sizeof *mine, slab->counts, &all, error)
                              : status;
    free(mine);
    j->joins = all;
    for (int k = 0; status == SLC_OK && k < world->size; k++) {
        total += slab->counts[k];
    }
    if (status == SLC_OK) {
        j->pieces = malloc((size_t)(2 * total + 1) * sizeof *j->pieces);
        status = j->pieces != NULL ? slc_image_join_pieces(slab->counts, with_slices(slab->strip), j->joins,
                                                           j->pieces, &j->n_pieces, error)
                                   : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
        status = slc_mpi_agree(world, status, error);
    }
    return status;
}

static size_t width_of(const slc_column *column)
{
    return column->type == SLC_TYPE_U32 ? 4 : 8; /* there are no others */
}

/* A row of a collection into bytes, or out of them. */
static size_t move_row(const slc_schema *schema, slc_volume_components *c, size_t row, char *bytes, bool in)
{
    size_t at = 0;
    for (size_t i = 0; i < schema->n_columns; i++) {
        const size_t size = width_of(&schema->columns[i]);
        char *column;
        memcpy(&column, (const char *)c + schema->columns[i].member, sizeof column);
        char *value = column != NULL ? column + row * size : NULL;
        if (bytes != NULL && value != NULL) {
            memcpy(in ? value : bytes + at, in ? bytes + at : value, size);
        }
        at += size;
    }
    return at;
}

/* The rows of all pieces, from those who have them. */
static slc_status share_rows(slc_mpi_slab *slab, const joining *j, slc_error *error)
{
    const slc_mpi_world *world = &slab->strip->world;
    const size_t size = move_row(&slab->all, &slab->found, 0, NULL, false);
    void *all = NULL;
    uint64_t n = 0;
    char *mine = malloc((size_t)(j->n_pieces + 1) * size + 1); /* a row may have no column */
    slc_columns_reset(&slab->of_pieces);
    slc_status status = mine != NULL && slc_columns_reserve(&slab->all, &slab->of_pieces,
                                                            (size_t)j->n_pieces + 1, 1) == SLC_OK
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
    status = slc_mpi_agree(world, status, error);
    for (uint64_t i = 0; status == SLC_OK && i < j->n_pieces; i++) {
        if (j->pieces[i].strip == (uint32_t)world->rank) {
            (void)move_row(&slab->all, &slab->found, j->pieces[i].label - 1, mine + n++ * size, false);
        }
    }
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, size, slab->counts, &all, error) : status;
    free(mine);
    for (uint64_t i = 0; status == SLC_OK && i < j->n_pieces; i++) {
        (void)move_row(&slab->all, &slab->of_pieces, (size_t)i, (char *)all + i * size, true);
    }
    free(all);
    return status;
}

static slc_volume_join_slab here_of(const slc_mpi_slab *slab, const slc_volume *v, const joining *j)
{
    const slc_mpi_strip *strip = slab->strip;
    return (slc_volume_join_slab){.width = v->width,
                                  .height = v->height,
                                  .depth = strip->height,
                                  .n_slabs = (uint32_t)strip->world.size,
                                  .slab = (uint32_t)strip->world.rank,
                                  .first_slice = strip->first_row,
                                  .n_found = slab->n_found,
                                  .pieces = j->pieces,
                                  .n_pieces = j->n_pieces,
                                  .found = (slc_volume_components *)&slab->found,
                                  .of_pieces = (slc_volume_components *)&slab->of_pieces,
                                  .grey_found = slab->greys,
                                  .grey_of_pieces = slab->greys_of_pieces,
                                  .grey_floats = slab->floats};
}

/* Of grey values the same. */
static slc_status share_greys(slc_mpi_slab *slab, const joining *j, slc_error *error)
{
    const slc_mpi_world *world = &slab->strip->world;
    uint64_t n = 0;
    void *all = NULL;
    slc_volume_grey_part *mine = malloc((size_t)(j->n_pieces + 1) * sizeof *mine);
    slc_status status = mine != NULL ? SLC_OK
                                     : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
    status = slc_mpi_agree(world, status, error);
    for (uint64_t i = 0; status == SLC_OK && mine != NULL && i < j->n_pieces; i++) {
        if (j->pieces[i].strip == (uint32_t)world->rank) {
            mine[n++] = slab->greys[j->pieces[i].label - 1];
        }
    }
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, sizeof *mine, slab->counts, &all, error)
                              : status;
    free(mine);
    slab->greys_of_pieces = all;
    return status;
}

/* Of floats they go from process to process, so that they are added in the order of voxels. */
static slc_status carry_greys(slc_mpi_slab *slab, const slc_volume *v, const slc_volume *grey,
                              const joining *j, slc_error *error)
{
    const slc_mpi_strip *strip = slab->strip;
    const slc_volume labels = labels_of(slab, v);
    const slc_volume_join_slab here = here_of(slab, v, j);
    const size_t bytes = (size_t)j->n_pieces * sizeof *slab->greys_of_pieces;
    slab->greys_of_pieces = calloc((size_t)j->n_pieces + 1, sizeof *slab->greys_of_pieces);
    slc_status status = slab->greys_of_pieces != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
    status = slc_mpi_agree(&strip->world, status, error);
    for (int spread = 0; spread < (slab->spread_wanted ? 2 : 1) && status == SLC_OK; spread++) {
        slc_mpi_take_on(strip, slab->greys_of_pieces, bytes);
        if (v->depth > 0) {
            status = slc_volume_grey_carry(&here, &labels, grey, spread > 0, slab->greys_of_pieces, error);
        }
        slc_mpi_hand_on(strip, slab->greys_of_pieces, bytes); /* also what has failed */
        status = slc_mpi_agree(&strip->world, status, error);
    }
    return status;
}

/* Numbers what begins in this slab, from 1. */
static slc_status number(slc_mpi_slab *slab, joining *j, const slc_volume_join_slab *here, slc_error *error)
{
    slc_mpi_strip *strip = slab->strip;
    free(strip->map);
    strip->map = malloc(((size_t)slab->n_found + 1) * sizeof *strip->map);
    j->numbers = malloc((size_t)(j->n_pieces + 1) * sizeof *j->numbers);
    slc_columns_reset(&slab->kept);
    if (strip->map == NULL || j->numbers == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the components");
    }
    return slc_volume_join_number(&slab->config, here, strip->map, j->numbers, &j->n_labels,
                                  slab->kept_schema.n_columns > 0 ? &slab->kept : NULL, &slab->filtered,
                                  error);
}

/* Keeps the largest of volumes, those of some of the slab's components; `keeps` is of these. */
static slc_status sift(slc_mpi_slab *slab, joining *j, const slc_volume_join_slab *here, const uint8_t *keeps,
                       slc_error *error)
{
    const uint32_t before = j->n_labels;
    const slc_status status = slc_volume_join_sift(here, keeps, slab->strip->map, j->numbers, &j->n_labels,
                                                   slab->config.features, &slab->kept, error);
    slab->filtered += status == SLC_OK ? before - j->n_labels : 0;
    return status;
}

/* First each keeps the largest of its own, then all of what is left of all. */
static slc_status keep_largest(slc_mpi_slab *slab, joining *j, const slc_volume_join_slab *here,
                               slc_error *error)
{
    const slc_mpi_world *world = &slab->strip->world;
    const uint32_t largest = slab->config.largest;
    uint8_t *keeps = calloc((size_t)j->n_labels + 1, 1);
    void *all = NULL;
    slc_status status = keeps != NULL
                            ? slc_volume_join_largest(slab->kept.volume, j->n_labels, largest, keeps, error)
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest");
    status = status == SLC_OK ? sift(slab, j, here, keeps, error) : status;
    free(keeps);
    status = slc_mpi_agree(world, status, error);
    status = status == SLC_OK ? slc_mpi_gather_all(world, slab->kept.volume, j->n_labels, sizeof(uint64_t),
                                                   slab->counts, &all, error)
                              : status;
    if (status == SLC_OK) {
        uint64_t n = 0, before = 0;
        for (int k = 0; k < world->size; k++) {
            before += k < world->rank ? slab->counts[k] : 0;
            n += slab->counts[k];
        }
        keeps = calloc((size_t)n + 1, 1);
        status = keeps != NULL ? slc_volume_join_largest(all, (size_t)n, largest, keeps, error)
                               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest");
        status = status == SLC_OK ? sift(slab, j, here, keeps + before, error) : status;
        free(keeps);
        status = slc_mpi_agree(world, status, error);
    }
    free(all);
    return status;
}

slc_status slc_mpi_slab_label(slc_mpi_slab *slab, const slc_volume *volume, const slc_volume *grey,
                              slc_error *error)
{
    const slc_mpi_world *world = &slab->strip->world;
    joining j = {.joins = NULL};
    slc_status status = slc_mpi_agree(world, label(slab, volume, error), error);
    if (status == SLC_OK && slab->greys_wanted) {
        slab->floats = slc_mpi_most(volume->depth > 0 && grey->type == SLC_IMAGE_F32) != 0;
        status = slc_mpi_agree(world, find_greys(slab, volume, grey, error), error);
    }
    status = status == SLC_OK ? find_pieces(slab, volume, &j, error) : status;
    status = status == SLC_OK ? share_rows(slab, &j, error) : status;
    if (status == SLC_OK && slab->greys_wanted) {
        status = slab->floats ? carry_greys(slab, volume, grey, &j, error) : share_greys(slab, &j, error);
    }
    if (status == SLC_OK) {
        const slc_volume_join_slab here = here_of(slab, volume, &j);
        status = slc_mpi_agree(world, number(slab, &j, &here, error), error);
        status = status == SLC_OK && slab->config.largest > 0 ? keep_largest(slab, &j, &here, error) : status;
    }
    if (status == SLC_OK) { /* which fails nowhere or everywhere */
        status = slc_mpi_strip_number(slab->strip, slab->n_found, j.n_labels, j.pieces, j.n_pieces, j.numbers,
                                      slab->counts, error);
    }
    free(j.joins);
    free(j.pieces);
    free(j.numbers);
    return status;
}
