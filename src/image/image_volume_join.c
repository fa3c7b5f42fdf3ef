/* SPDX-License-Identifier: Apache-2.0
 * Slabs of a volume that were labelled apart become one labelling: what image_join.c is for strips of an
 * image, and its pieces. Labels of a slab are in the order of first voxels, and slabs follow one another, so
 * a piece with a smaller number begins before those with larger ones.
 */
#include "base/columns.h"
#include "image/image_volume_part.h"
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
    if (above == 0 || (l->n > 0 && l->at[l->n - 1].above == above && l->at[l->n - 1].below == below)) {
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

/* A voxel straight before it is a neighbour of all others that are, and has their label. */
static bool add_voxel(list *l, const uint32_t *above, uint32_t below, const size_t sides[2],
                      const size_t place[2], uint32_t connectivity)
{
    const size_t at = place[1] * sides[0] + place[0];
    if (above[at] != 0 || connectivity == 6) {
        return add(l, above[at], below);
    }
    bool good = true;
    for (size_t i = 0; i < 9 && good; i++) {
        const size_t x = place[0] + i % 3, y = place[1] + i / 3; /* one more than they are */
        const bool corner = i % 3 != 1 && i / 3 != 1;
        const bool inside = x > 0 && x <= sides[0] && y > 0 && y <= sides[1];
        good = !inside || (corner && connectivity != 26) || add(l, above[(y - 1) * sides[0] + x - 1], below);
    }
    return good;
}

static int compare(const void *a, const void *b)
{
    const slc_image_join *one = a, *other = b;
    return one->above != other->above ? (one->above > other->above) - (one->above < other->above)
                                      : (one->below > other->below) - (one->below < other->below);
}

slc_status slc_volume_join_slices(const uint32_t *above, const uint32_t *below, size_t width, size_t height,
                                  uint32_t connectivity, slc_image_join **joins, uint64_t *n,
                                  slc_error *error)
{
    list l = {.n = 0};
    const size_t sides[2] = {width, height};
    bool good = true;
    for (size_t i = 0; i < width * height && good; i++) {
        const size_t place[2] = {i % width, i / width};
        good = below[i] == 0 || add_voxel(&l, above, below[i], sides, place, connectivity);
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

/* ---- numbers ----------------------------------------------------------------------------------- */

static slc_status check(const slc_volume_config *config, const slc_volume_join_slab *s, slc_error *error)
{
    const slc_volume whole = {.width = s->width, .height = s->height, .depth = s->depth};
    if ((config->features & ~(uint32_t)SLC_VOLUME_ALL) != 0 || config->largest > 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s cannot be had of slabs",
                        config->largest > 0 ? "the largest" : "grey values");
    }
    if (s->n_slabs == 0 || s->slab >= s->n_slabs || s->found == NULL || s->found->head.size < s->n_found) {
        return slc_fail(error, SLC_ERR_USAGE, "slab: number %u of %u, with rows of %u labels", s->slab,
                        s->n_slabs, s->n_found);
    }
    return slc_volume_check_sums(&whole, SLC_VOLUME_SUMS, error);
}

/* 1 for what is numbered here: what begins in the slab and is kept. */
static uint32_t choose(const slc_volume_join_slab *s, const slc_volume_keep *keep, uint32_t *map,
                       uint8_t *keeps, uint32_t *filtered)
{
    const slc_volume whole = {.width = s->width, .height = s->height, .depth = s->depth};
    uint32_t n = 0;
    memset(map, 0, ((size_t)s->n_found + 1) * sizeof *map);
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        if (s->pieces[i].strip == s->slab && s->pieces[i].root != i) {
            map[s->pieces[i].label] = UINT32_MAX;
        }
    }
    for (uint32_t l = 1; l <= s->n_found; l++) {
        const bool begins = map[l] == 0;
        keeps[l - 1] = begins && slc_volume_keep_holds(keep, &whole, s->found, l - 1);
        *filtered += begins && keeps[l - 1] == 0;
        map[l] = keeps[l - 1] != 0 ? ++n : 0;
    }
    return n;
}

static slc_status append(const slc_volume_config *config, const slc_volume_join_slab *s, const uint8_t *keeps,
                         uint32_t n, slc_volume_components *to)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(config->features, columns);
    slc_status status = slc_columns_reserve(&schema, to, to->head.size + n, to->head.n_events + 1);
    for (uint32_t l = 0; l < s->n_found && status == SLC_OK; l++) {
        if (keeps[l] != 0) {
            const slc_volume_sums own = take(s->found, l, 0);
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
    slc_volume_keep keep;
    slc_status status = slc_volume_config_take(given, &config, error);
    status = status == SLC_OK ? check(&config, s, error) : status;
    status = status == SLC_OK ? slc_volume_keep_take(&config, &keep, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    uint8_t *keeps = calloc((size_t)s->n_found + 1, 1);
    if (keeps == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u components", s->n_found);
    }
    gather(s);
    *filtered = 0;
    *n_labels = choose(s, &keep, map, keeps, filtered);
    status = components != NULL ? append(&config, s, keeps, *n_labels, components) : SLC_OK;
    free(keeps);
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        const bool here = s->pieces[i].strip == s->slab;
        numbers[i] = here && s->pieces[i].root == i ? map[s->pieces[i].label] : 0;
        if (here) {
            map[s->pieces[i].label] = 0;
        }
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for %u components", *n_labels);
}
