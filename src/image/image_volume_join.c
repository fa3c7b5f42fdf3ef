/* SPDX-License-Identifier: Apache-2.0
 * Slabs of a volume that were labelled apart become one labelling: what image_join.c is for strips of an
 * image, and its pieces. Labels of a slab are in the order of first voxels, and slabs follow one another, so
 * a piece with a smaller number begins before those with larger ones.
 */
#include "base/columns.h"
#include "image/image_volume_grey.h"
#include "image/image_volume_part.h"
#include "image/image_volume_spans.h"
#include "image/image_volume_sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- borders ----------------------------------------------------------------------------------- */

typedef struct list {
    slc_image_join *at;
    size_t n, room;
} list;

/* Neighbouring voxels mostly repeat the join before. */
static bool add(list *l, uint32_t above, uint32_t below)
{
    if (l->n > 0 && l->at[l->n - 1].above == above && l->at[l->n - 1].below == below) {
        return true;
    }
    if (l->n == l->room) {
        const size_t room = l->room > 0 ? 2 * l->room : 1024;
        slc_image_join *more = room <= SIZE_MAX / sizeof *more ? realloc(l->at, room * sizeof *more) : NULL;
        if (more == NULL) {
            return false;
        }
        l->at = more;
        l->room = room;
    }
    l->at[l->n++] = (slc_image_join){above, below};
    return true;
}

/* Is there a voxel above that belongs with the one below? */
static bool is_joined(const slc_volume_join_border *b, size_t x_above, size_t y_above, size_t x, size_t y)
{
    const size_t row = slc_image_row_bytes(b->type, b->width);
    return b->above[y_above * b->width + x_above] != 0 &&
           (b->values_above == NULL ||
            slc_volume_value((const char *)b->values_above + y_above * row, b->type, x_above) ==
                slc_volume_value((const char *)b->values_below + y * row, b->type, x));
}

/* A place one step from `at`, 0 being one back; false where there is none. */
static bool step_to(size_t at, size_t step, size_t side, bool periodic, size_t *to)
{
    const size_t next = at + step; /* one more than it is */
    *to = next == 0 ? side - 1 : next > side ? 0 : next - 1;
    return periodic || (next > 0 && next <= side);
}

/* A voxel straight before it that belongs with it is a neighbour of all others that do, and has their
 * label. */
static bool add_voxel(list *l, const slc_volume_join_border *b, size_t x, size_t y)
{
    const uint32_t below = b->below[y * b->width + x];
    if (below == 0) {
        return true;
    }
    if (is_joined(b, x, y, x, y)) {
        return add(l, b->above[y * b->width + x], below);
    }
    bool good = true;
    for (size_t i = 0; i < 9 && good && b->connectivity != 6; i++) {
        const bool corner = i % 3 != 1 && i / 3 != 1;
        size_t to_x, to_y;
        if ((!corner || b->connectivity == 26) &&
            step_to(x, i % 3, b->width, (b->periodic & SLC_VOLUME_PERIODIC_X) != 0, &to_x) &&
            step_to(y, i / 3, b->height, (b->periodic & SLC_VOLUME_PERIODIC_Y) != 0, &to_y) &&
            is_joined(b, to_x, to_y, x, y)) {
            good = add(l, b->above[to_y * b->width + to_x], below);
        }
    }
    return good;
}

static int compare(const void *a, const void *b)
{
    const slc_image_join *one = a, *other = b;
    return one->above != other->above ? (one->above > other->above) - (one->above < other->above)
                                      : (one->below > other->below) - (one->below < other->below);
}

slc_status slc_volume_join_slices(const slc_volume_join_border *border, slc_image_join **joins, uint64_t *n,
                                  slc_error *error)
{
    list l = {.n = 0};
    bool good = true;
    for (size_t i = 0; i < border->width * border->height && good; i++) {
        good = add_voxel(&l, border, i % border->width, i / border->width);
    }
    *joins = NULL;
    *n = 0;
    if (!good) {
        free(l.at);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the joins of a border");
    }
    if (l.n > 1) {
        qsort(l.at, l.n, sizeof *l.at, compare);
    }
    for (size_t i = 0; i < l.n; i++) {
        if (i == 0 || compare(&l.at[i], &l.at[i - 1]) != 0) {
            l.at[(*n)++] = l.at[i];
        }
    }
    *joins = l.at;
    return SLC_OK;
}

/* ---- features ---------------------------------------------------------------------------------- */

/* A row that counts slices from its slab's first, as one that counts them from the volume's. */
static slc_volume_sums take(const slc_volume_components *c, size_t i, uint64_t z)
{
    const uint64_t n = c->volume[i];
    return (slc_volume_sums){.volume = n,
                             .x = c->sum_x[i],
                             .y = c->sum_y[i],
                             .z = c->sum_z[i] + z * n,
                             .x_min = c->x_min[i],
                             .y_min = c->y_min[i],
                             .x_max = c->x_max[i],
                             .y_max = c->y_max[i],
                             .z_max = c->z_max[i] + (uint32_t)z,
                             .first_x = c->first_x[i],
                             .first_y = c->first_y[i],
                             .first_z = c->first_z[i] + (uint32_t)z,
                             .xx = c->sum_xx[i],
                             .xy = c->sum_xy[i],
                             .xz = c->sum_xz[i] + z * c->sum_x[i],
                             .yy = c->sum_yy[i],
                             .yz = c->sum_yz[i] + z * c->sum_y[i],
                             .zz = c->sum_zz[i] + 2 * z * c->sum_z[i] + z * z * n};
}

/* Roots that are in the slab get what all of their pieces have. */
static void gather(const slc_volume_join_slab *s)
{
    for (uint32_t l = 0; l < s->n_found; l++) {
        const slc_volume_sums own = take(s->found, l, s->first_slice[s->slab]);
        slc_volume_sums_put(&own, 1, s->found, l);
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        slc_volume_sums own = take(s->of_pieces, i, s->first_slice[s->pieces[i].strip]);
        const uint64_t root = s->pieces[i].root;
        if (root != i) { /* a smaller number, which counts from the volume's first slice already */
            slc_volume_sums all = take(s->of_pieces, root, 0);
            slc_volume_sums_merge(&all, &own);
            slc_volume_sums_put(&all, 1, s->of_pieces, root);
        } else {
            slc_volume_sums_put(&own, 1, s->of_pieces, i);
        }
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        if (s->pieces[i].strip == s->slab && s->pieces[i].root == i) {
            const slc_volume_sums all = take(s->of_pieces, i, 0);
            slc_volume_sums_put(&all, 1, s->found, s->pieces[i].label - 1);
        }
    }
}

/* ---- grey values --------------------------------------------------------------------------------- */

_Static_assert(sizeof(slc_volume_grey_part) == sizeof(slc_volume_grey_sums), "the same bytes");

static slc_status check_greys(const slc_volume *labels, const slc_volume *grey, slc_error *error)
{
    slc_status status = slc_volume_check_layout("labels", labels, error);
    status = status == SLC_OK ? slc_volume_grey_check(labels, grey, error) : status;
    return status != SLC_OK || labels->type == SLC_IMAGE_U32
               ? status
               : slc_fail(error, SLC_ERR_USAGE, "labels: they are not of u32");
}

/* All voxels of a slab in raster order. `becomes`: NULL, or numbers of sums that labels have, 0 for none, and
 * `row` is then room for one of them. */
static void add_all(const slc_volume *labels, const slc_volume *grey, uint64_t first_slice,
                    const uint32_t *becomes, uint32_t *row, slc_volume_grey_take *adds,
                    slc_volume_grey_sums *sums)
{
    for (size_t i = 0; i < labels->height * labels->depth; i++) {
        const size_t y = i % labels->height, z = i / labels->height;
        const slc_volume_grey_run run = {
            .row = slc_volume_row(grey, y, z), .type = grey->type, .y = y, .z = (size_t)first_slice + z};
        const uint32_t *own = slc_volume_row(labels, y, z);
        for (size_t x = 0; x < labels->width && becomes != NULL; x++) {
            row[x] = becomes[own[x]];
        }
        slc_volume_grey_row(becomes != NULL ? row : own, labels->width, run, adds, sums);
    }
}

slc_status slc_volume_grey_parts(const slc_volume *labels, uint32_t n_labels, const slc_volume *grey,
                                 uint64_t first_slice, slc_volume_grey_part *parts, slc_error *error)
{
    const slc_status status = check_greys(labels, grey, error);
    if (status != SLC_OK || n_labels == 0) {
        return status;
    }
    slc_volume_grey_sums *sums = aligned_alloc(_Alignof(slc_volume_grey_sums), n_labels * sizeof *sums);
    if (sums == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for grey values of %u components", n_labels);
    }
    slc_volume_grey_begin(sums, n_labels);
    add_all(labels, grey, first_slice, NULL, NULL, slc_volume_grey_add, sums);
    if (grey->type == SLC_IMAGE_F32) {
        add_all(labels, grey, first_slice, NULL, NULL, slc_volume_grey_spread, sums);
    }
    memcpy(parts, sums, n_labels * sizeof *sums);
    free(sums);
    return SLC_OK;
}

slc_status slc_volume_grey_carry(const slc_volume_join_slab *s, const slc_volume *labels,
                                 const slc_volume *grey, bool spread, slc_volume_grey_part *parts,
                                 slc_error *error)
{
    const slc_status status = check_greys(labels, grey, error);
    const uint64_t n = s->n_pieces;
    if (status != SLC_OK || n == 0) {
        return status;
    }
    uint32_t *becomes = calloc((size_t)s->n_found + 1, sizeof *becomes);
    uint32_t *row = malloc(labels->width * sizeof *row);
    slc_volume_grey_sums *sums = n < UINT32_MAX
                                     ? aligned_alloc(_Alignof(slc_volume_grey_sums), (size_t)n * sizeof *sums)
                                     : NULL;
    const bool room = becomes != NULL && row != NULL && sums != NULL;
    if (room) {
        for (uint64_t i = 0; i < n; i++) {
            if (s->pieces[i].strip == s->slab) {
                becomes[s->pieces[i].label] = (uint32_t)s->pieces[i].root + 1;
            }
        }
        if (s->slab == 0 && !spread) {
            slc_volume_grey_begin(sums, (size_t)n);
        } else {
            memcpy(sums, parts, (size_t)n * sizeof *sums);
        }
        add_all(labels, grey, s->first_slice[s->slab], becomes, row,
                spread ? slc_volume_grey_spread : slc_volume_grey_add, sums);
        memcpy(parts, sums, (size_t)n * sizeof *sums);
    }
    free(sums);
    free(row);
    free(becomes);
    return room ? SLC_OK
                : slc_fail(error, SLC_ERR_MEMORY, "no memory for grey values of %u components", s->n_found);
}

/* Of the slab's components, with the parts of those that begin in it. */
static void gather_greys(const slc_volume_join_slab *s, slc_volume_grey_sums *sums)
{
    if (s->n_found > 0) {
        memcpy(sums, s->grey_found, s->n_found * sizeof *sums);
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        const slc_image_piece *root = &s->pieces[s->pieces[i].root];
        slc_volume_grey_sums part;
        memcpy(&part, &s->grey_of_pieces[i], sizeof part);
        if (root->strip == s->slab && s->grey_floats && s->pieces[i].root == i) {
            sums[root->label - 1] = part; /* of the whole */
        } else if (root->strip == s->slab && !s->grey_floats && s->pieces[i].root != i) {
            slc_volume_grey_merge(&sums[root->label - 1], &part);
        }
    }
    slc_volume_grey_end(sums, s->n_found, s->grey_floats ? SLC_IMAGE_F32 : SLC_IMAGE_U32);
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static slc_status check(const slc_volume_config *config, const slc_volume_join_slab *s, slc_error *error)
{
    const slc_volume whole = {.width = s->width, .height = s->height, .depth = s->depth};
    if ((config->features & SLC_VOLUME_LABEL) != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "features: slabs have no labels of others");
    }
    if (s->n_slabs == 0 || s->slab >= s->n_slabs || s->found == NULL || s->found->head.size < s->n_found) {
        return slc_fail(error, SLC_ERR_USAGE, "slab: number %u of %u, with rows of %u labels", s->slab,
                        s->n_slabs, s->n_found);
    }
    return slc_volume_check_sums(&whole, SLC_VOLUME_SUMS, error);
}

/* What the slab's components have, and what is found of them here. */
typedef struct numbering {
    const slc_volume_join_slab *slab;
    slc_volume_keep keep;
    uint8_t *keeps;
    slc_volume_grey_sums *greys; /* NULL: not wanted */
    slc_schema grey_schema;
    slc_column grey_columns[SLC_VOLUME_COLUMNS];
    slc_volume_components grey; /* their columns */
} numbering;

static slc_status reserve(numbering *n, uint32_t features, slc_error *error)
{
    const size_t rows = (size_t)n->slab->n_found + 1;
    const bool grey = (features & SLC_VOLUME_GREYS) != 0;
    if (grey && (n->slab->grey_found == NULL || n->slab->grey_of_pieces == NULL)) {
        return slc_fail(error, SLC_ERR_USAGE, "slab: no sums of its grey values");
    }
    n->grey_schema = slc_volume_components_schema(grey ? SLC_VOLUME_GREYS : 0, n->grey_columns);
    n->keeps = calloc(rows, 1);
    n->greys = grey ? aligned_alloc(_Alignof(slc_volume_grey_sums), rows * sizeof *n->greys) : NULL;
    return n->keeps != NULL && (n->greys != NULL || !grey) &&
                   slc_columns_reserve(&n->grey_schema, &n->grey, rows, 1) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for %u components", n->slab->n_found);
}

static void clear(numbering *n)
{
    free(n->keeps);
    free(n->greys);
    slc_columns_clear(&n->grey_schema, &n->grey);
}

/* Columns of all that a filter may look at. */
static slc_volume_components rows_of(const numbering *n)
{
    slc_volume_components rows = *n->slab->found;
    rows.mass = n->grey.mass;
    rows.weighted_x = n->grey.weighted_x;
    rows.weighted_y = n->grey.weighted_y;
    rows.weighted_z = n->grey.weighted_z;
    rows.grey_min = n->grey.grey_min;
    rows.grey_max = n->grey.grey_max;
    rows.grey_mean = n->grey.grey_mean;
    rows.grey_std = n->grey.grey_std;
    return rows;
}

/* 1 for what is numbered here: what begins in the slab and is kept. */
static uint32_t choose(const numbering *n, uint32_t *map, uint32_t *filtered)
{
    const slc_volume_join_slab *s = n->slab;
    const slc_volume whole = {.width = s->width, .height = s->height, .depth = s->depth};
    const slc_volume_components rows = rows_of(n);
    uint32_t kept = 0;
    memset(map, 0, ((size_t)s->n_found + 1) * sizeof *map);
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        if (s->pieces[i].strip == s->slab && s->pieces[i].root != i) {
            map[s->pieces[i].label] = UINT32_MAX;
        }
    }
    for (uint32_t l = 1; l <= s->n_found; l++) {
        const bool begins = map[l] == 0;
        n->keeps[l - 1] = begins && slc_volume_keep_holds(&n->keep, &whole, &rows, l - 1);
        *filtered += begins && n->keeps[l - 1] == 0;
        map[l] = n->keeps[l - 1] != 0 ? ++kept : 0;
    }
    return kept;
}

static slc_status append(const slc_volume_config *config, const numbering *n, uint32_t kept,
                         slc_volume_components *to)
{
    const slc_volume_join_slab *s = n->slab;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(config->features, columns);
    slc_status status = slc_columns_reserve(&schema, to, to->head.size + kept, to->head.n_events + 1);
    for (uint32_t l = 0; l < s->n_found && status == SLC_OK; l++) {
        if (n->keeps[l] != 0) {
            const slc_volume_sums own = take(s->found, l, 0);
            if (n->greys != NULL) {
                slc_volume_grey_put(&n->greys[l], 1, to, to->head.size);
            }
            slc_volume_sums_put(&own, 1, to, to->head.size++);
        }
    }
    return status;
}

slc_status slc_volume_join_number(const slc_volume_config *given, const slc_volume_join_slab *s,
                                  uint32_t *map, uint32_t *numbers, uint32_t *n_labels,
                                  slc_volume_components *components, uint32_t *filtered, slc_error *error)
{
    slc_volume_config config;
    numbering n = {.slab = s};
    slc_status status = slc_volume_config_take(given, &config, error);
    config.largest = 0;
    status = status == SLC_OK ? check(&config, s, error) : status;
    status = status == SLC_OK ? slc_volume_keep_take(&config, &n.keep, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = reserve(&n, (components != NULL ? config.features : 0) | n.keep.features, error);
    if (status == SLC_OK) {
        gather(s);
        if (n.greys != NULL) {
            gather_greys(s, n.greys);
            slc_volume_grey_put(n.greys, s->n_found, &n.grey, 0);
        }
        *filtered = 0;
        *n_labels = choose(&n, map, filtered);
        status = components != NULL ? append(&config, &n, *n_labels, components) : SLC_OK;
        for (uint64_t i = 0; i < s->n_pieces; i++) {
            const bool here = s->pieces[i].strip == s->slab;
            numbers[i] = here && s->pieces[i].root == i ? map[s->pieces[i].label] : 0;
            if (here) {
                map[s->pieces[i].label] = 0;
            }
        }
        status = status == SLC_OK ? SLC_OK
                                  : slc_fail(error, status, "no memory for %u components", *n_labels);
    }
    clear(&n);
    return status;
}

/* ---- the largest --------------------------------------------------------------------------------- */

slc_status slc_volume_join_largest(const uint64_t *volumes, size_t n, uint32_t largest, uint8_t *keeps,
                                   slc_error *error)
{
    if (n > 0) {
        memset(keeps, 1, n);
    }
    return slc_volume_keep_largest(volumes, n, largest, keeps)
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest of %zu components", n);
}

/* Values of a row to an earlier one. */
static void move_row(const slc_schema *schema, slc_volume_components *c, size_t from, size_t to)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        const size_t size = slc_type_size(schema->columns[i].type);
        char *column;
        memcpy(&column, (const char *)c + schema->columns[i].member, sizeof column);
        if (from != to) {
            memcpy(column + to * size, column + from * size, size);
        }
    }
}

slc_status slc_volume_join_sift(const slc_volume_join_slab *s, const uint8_t *keeps, uint32_t *map,
                                uint32_t *numbers, uint32_t *n_labels, uint32_t features,
                                slc_volume_components *components, slc_error *error)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(features, columns);
    uint32_t *becomes = calloc((size_t)*n_labels + 1, sizeof *becomes), n = 0;
    if (becomes == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest of %u components", *n_labels);
    }
    for (uint32_t l = 0; l < *n_labels; l++) {
        if (keeps[l] != 0 && components != NULL) {
            move_row(&schema, components, l, n);
        }
        becomes[l + 1] = keeps[l] != 0 ? ++n : 0;
    }
    for (uint32_t l = 1; l <= s->n_found; l++) {
        map[l] = becomes[map[l]];
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        numbers[i] = becomes[numbers[i]];
    }
    free(becomes);
    *n_labels = n;
    if (components != NULL) {
        components->head.size = n;
    }
    return SLC_OK;
}
