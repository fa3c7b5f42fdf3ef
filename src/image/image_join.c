/* SPDX-License-Identifier: Apache-2.0
 * Strips that were labelled apart become one labelling. Components that meet at borders are few: a row has at
 * most half as many of them as pixels. So the union-find is over those alone, and everyone does the same one.
 * Pieces are in the order of strips and labels, which is that of their first pixels: unions go to the smaller
 * number, and a root is the piece with the whole component's first pixel.
 */
#include "base/config.h"
#include "image/image_check.h"
#include "image/image_features.h"
#include "image/image_features_core.h"
#include "image/image_output.h"

#include <stdlib.h>
#include <string.h>

/* ---- borders ----------------------------------------------------------------------------------- */

/* Neighbouring pixels mostly repeat the join before. Those of two runs come one after the other, and two rows
 * have at most width + 1 pairs of runs that touch. */
static inline size_t add_join(slc_image_join *joins, size_t n, uint32_t above, uint32_t below)
{
    if (n > 0 && joins[n - 1].above == above && joins[n - 1].below == below) {
        return n;
    }
    joins[n] = (slc_image_join){above, below};
    return n + 1;
}

size_t slc_image_join_rows(const uint32_t *above, const uint32_t *below, size_t width, uint32_t connectivity,
                           slc_image_join *joins)
{
    const bool corners = connectivity == 8;
    size_t n = 0;
    for (size_t x = 0; x < width; x++) {
        if (below[x] == 0) {
            continue;
        }
        if (above[x] != 0) { /* its neighbours, where they are set, have the same label */
            n = add_join(joins, n, above[x], below[x]);
            continue;
        }
        if (corners && x > 0 && above[x - 1] != 0) {
            n = add_join(joins, n, above[x - 1], below[x]);
        }
        if (corners && x + 1 < width && above[x + 1] != 0) {
            n = add_join(joins, n, above[x + 1], below[x]);
        }
    }
    return n;
}

/* ---- pieces ------------------------------------------------------------------------------------ */

static int by_label(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

/* The labels of strip s that are in joins, each once. */
static uint64_t add_pieces(uint32_t s, const slc_image_join *upper, uint64_t n_upper,
                           const slc_image_join *lower, uint64_t n_lower, uint32_t *labels,
                           slc_image_piece *pieces, uint64_t n)
{
    size_t count = 0;
    for (uint64_t i = 0; i < n_upper; i++) {
        labels[count++] = upper[i].below;
    }
    for (uint64_t i = 0; i < n_lower; i++) {
        labels[count++] = lower[i].above;
    }
    if (count > 0) {
        qsort(labels, count, sizeof *labels, by_label);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || labels[i] != labels[i - 1]) {
            pieces[n] = (slc_image_piece){s, labels[i], n};
            n++;
        }
    }
    return n;
}

/* Among pieces begin … end - 1, which are of one strip; it is there. */
static uint64_t find_piece(const slc_image_piece *pieces, uint64_t begin, uint64_t end, uint32_t label)
{
    while (end - begin > 1) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (pieces[middle].label <= label) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return begin;
}

static uint64_t find_root(slc_image_piece *pieces, uint64_t i)
{
    while (pieces[i].root != i) {
        pieces[i].root = pieces[pieces[i].root].root;
        i = pieces[i].root;
    }
    return i;
}

static void unite(slc_image_piece *pieces, uint64_t a, uint64_t b)
{
    a = find_root(pieces, a);
    b = find_root(pieces, b);
    if (a < b) {
        pieces[b].root = a;
    } else {
        pieces[a].root = b;
    }
}

/* All joins and the most that a strip has on both of its borders. */
static slc_status count_joins(const uint64_t *n_joins, uint32_t n_strips, const slc_image_join *joins,
                              uint64_t *most, slc_error *error)
{
    uint64_t all = 0;
    *most = 0;
    for (uint32_t s = 0; s < n_strips; s++) {
        const uint64_t here = n_joins[s] + n_joins[s + 1 < n_strips ? s + 1 : 0];
        all += n_joins[s];
        *most = here > *most ? here : *most;
    }
    for (uint64_t i = 0; i < all; i++) {
        if (joins[i].above == 0 || joins[i].below == 0) {
            return slc_fail(error, SLC_ERR_USAGE, "joins: number %llu is of background",
                            (unsigned long long)i);
        }
    }
    return SLC_OK;
}

/* Pieces begin … end - 1, those of a strip. */
typedef struct range {
    uint64_t begin, end;
} range;

/* Unions of one border, of the strips above and below it. */
static void unite_border(slc_image_piece *pieces, range above, range below, const slc_image_join *joins,
                         uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        unite(pieces, find_piece(pieces, above.begin, above.end, joins[i].above),
              find_piece(pieces, below.begin, below.end, joins[i].below));
    }
}

slc_status slc_image_join_pieces(const uint64_t *n_joins, uint32_t n_strips, const slc_image_join *joins,
                                 slc_image_piece *pieces, uint64_t *n, slc_error *error)
{
    uint64_t most = 0, before = 0;
    range first = {0, 0}, last = {0, 0};
    *n = 0;
    const slc_status status = count_joins(n_joins, n_strips, joins, &most, error);
    if (status != SLC_OK || most == 0) {
        return status;
    }
    uint32_t *labels = most < SIZE_MAX / sizeof *labels ? malloc((size_t)most * sizeof *labels) : NULL;
    if (labels == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the labels of a border");
    }
    for (uint32_t s = 0; s < n_strips; s++) {
        const bool ends = s + 1 == n_strips; /* below it is what is above the first one, if that is joined */
        const range above = last;
        last.begin = *n;
        *n = add_pieces(s, joins + before, n_joins[s], ends ? joins : joins + before + n_joins[s],
                        n_joins[ends ? 0 : s + 1], labels, pieces, *n);
        last.end = *n;
        first = s == 0 ? last : first;
        unite_border(pieces, above, last, joins + before, s > 0 ? n_joins[s] : 0);
        before += n_joins[s];
    }
    unite_border(pieces, last, first, joins, n_joins[0]);
    free(labels);
    for (uint64_t i = 0; i < *n; i++) { /* what is before it is a root's, or points to one */
        pieces[i].root = pieces[pieces[i].root].root;
    }
    return SLC_OK;
}

/* ---- features ---------------------------------------------------------------------------------- */

/* A row that counted from its strip's top counts from the image's. */
static void move_down(slc_image_components *c, size_t i, uint64_t rows)
{
    c->y_min[i] += (uint32_t)rows;
    c->y_max[i] += (uint32_t)rows;
    c->first_y[i] += (uint32_t)rows;
    c->sum_y[i] += rows * c->area[i];
}

static void copy_row(const slc_image_components *from, size_t i, slc_image_components *to, size_t k)
{
    to->area[k] = from->area[i];
    to->x_min[k] = from->x_min[i];
    to->y_min[k] = from->y_min[i];
    to->x_max[k] = from->x_max[i];
    to->y_max[k] = from->y_max[i];
    to->first_x[k] = from->first_x[i];
    to->first_y[k] = from->first_y[i];
    to->sum_x[k] = from->sum_x[i];
    to->sum_y[k] = from->sum_y[i];
}

/* Roots that are in the strip get what all of their pieces have. */
static void gather(const slc_image_join_strip *s)
{
    for (uint32_t l = 1; l <= s->n_found; l++) {
        move_down(s->found, l - 1, s->first_row[s->strip]);
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        move_down(s->of_pieces, i, s->first_row[s->pieces[i].strip]);
        if (s->pieces[i].root != i) {
            slc_image_features_merge(SLC_IMAGE_JOINS, s->of_pieces, s->pieces[i].root, i, SLC_IMAGE_U8);
        }
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        if (s->pieces[i].strip == s->strip) {
            copy_row(s->of_pieces, i, s->found, s->pieces[i].label - 1);
        }
    }
}

static bool is_kept(const slc_image_label_config *config, const slc_image_join_strip *s, size_t i)
{
    const slc_image_components *c = s->found;
    return slc_image_keeps(config, c->area[i],
                           c->x_min[i] == 0 || c->y_min[i] == 0 || c->x_max[i] == s->width - 1 ||
                               c->y_max[i] == s->height - 1);
}

static void put_row(uint32_t features, const slc_image_components *from, size_t i, slc_image_components *to)
{
    const size_t k = to->head.size++;
    if ((features & SLC_IMAGE_AREA) != 0) {
        to->area[k] = from->area[i];
    }
    if ((features & SLC_IMAGE_BOX) != 0) {
        to->x_min[k] = from->x_min[i];
        to->y_min[k] = from->y_min[i];
        to->x_max[k] = from->x_max[i];
        to->y_max[k] = from->y_max[i];
    }
    if ((features & SLC_IMAGE_FIRST) != 0) {
        to->first_x[k] = from->first_x[i];
        to->first_y[k] = from->first_y[i];
    }
    if ((features & SLC_IMAGE_SUMS) != 0) {
        to->sum_x[k] = from->sum_x[i];
        to->sum_y[k] = from->sum_y[i];
    }
    if ((features & SLC_IMAGE_CENTROID) != 0) {
        to->x[k] = slc_image_mean_of(from->sum_x[i], from->area[i]);
        to->y[k] = slc_image_mean_of(from->sum_y[i], from->area[i]);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static slc_status check(const slc_image_label_config *config, const slc_image_join_strip *s,
                        const slc_image_components *components, slc_error *error)
{
    const uint32_t others = config->features & ~(uint32_t)(SLC_IMAGE_JOINS | SLC_IMAGE_CENTROID);
    if (others != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "features: area, box, first, sums and centroid can be joined over strips, not %s",
                        slc_image_feature_name(others & (~others + 1)));
    }
    if (s->strip >= s->n_strips || ((slc_image_filters(config) || components != NULL) && s->found == NULL) ||
        (s->found != NULL && s->n_pieces > 0 && s->of_pieces == NULL)) {
        return slc_fail(error, SLC_ERR_USAGE, "strip: no such strip, or without its components");
    }
    slc_status status = SLC_OK;
    if (s->found != NULL) {
        status = slc_image_check_components("components found", s->found, SLC_IMAGE_JOINS, error);
    }
    return status == SLC_OK && components != NULL
               ? slc_image_check_components("components", components, config->features, error)
               : status;
}

/* Marks, in the map, labels whose number is another piece's: UINT32_MAX. */
static void mark_pieces(const slc_image_join_strip *s, uint32_t *map)
{
    memset(map, 0, ((size_t)s->n_found + 1) * sizeof *map);
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        if (s->pieces[i].strip == s->strip && s->pieces[i].root != i) {
            map[s->pieces[i].label] = UINT32_MAX;
        }
    }
}

slc_status slc_image_join_number(const slc_image_label_config *given, const slc_image_join_strip *s,
                                 uint32_t *map, uint32_t *numbers, uint32_t *n_labels,
                                 slc_image_components *components, slc_error *error)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_image_label_config", error);
    status = status == SLC_OK ? check(&config, s, components, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (s->found != NULL) {
        gather(s);
    }
    mark_pieces(s, map);
    *n_labels = 0;
    for (uint32_t l = 1; l <= s->n_found; l++) {
        const bool is_root = map[l] == 0;
        map[l] = is_root && (s->found == NULL || is_kept(&config, s, l - 1)) ? ++*n_labels : 0;
    }
    if (components != NULL && components->head.capacity - components->head.size < *n_labels) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%lu components, and the collection has room for %zu",
                        (unsigned long)*n_labels, components->head.capacity - components->head.size);
    }
    for (uint32_t l = 1; components != NULL && s->found != NULL && l <= s->n_found; l++) {
        if (map[l] != 0) {
            put_row(config.features, s->found, l - 1, components);
        }
    }
    for (uint64_t i = 0; i < s->n_pieces; i++) {
        const bool own = s->pieces[i].strip == s->strip && s->pieces[i].root == i;
        numbers[i] = own ? map[s->pieces[i].label] : 0;
        if (s->pieces[i].strip == s->strip) {
            map[s->pieces[i].label] = 0;
        }
    }
    return SLC_OK;
}
