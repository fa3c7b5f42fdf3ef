/* SPDX-License-Identifier: Apache-2.0
 * Lists of sparse pixels for tests.
 */
#include "support/pixel_lists.h"

#include "base/columns.h"
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists -------------------------------------------------------------------------------------- */

void pixel_list_open(pixel_list *list, uint32_t with)
{
    memset(list, 0, sizeof *list);
    list->schema = slc_pixels_schema(with, list->columns);
}

void pixel_list_clear(pixel_list *list)
{
    slc_columns_clear(&list->schema, &list->of);
}

void pixel_list_put(pixel_list *list, uint16_t x, uint16_t y, uint16_t z, uint32_t charge, int64_t time)
{
    slc_pixels *p = &list->of;
    const size_t i = p->head.size;
    if (i == p->head.capacity) {
        assert_int_equal(slc_columns_reserve(&list->schema, p, 2 * i + 64, p->head.event_capacity + 1),
                         SLC_OK);
    }
    p->x[i] = x;
    p->y[i] = y;
    if (p->z != NULL) {
        p->z[i] = z;
    }
    if (p->charge != NULL) {
        p->charge[i] = charge;
    }
    if (p->time != NULL) {
        p->time[i] = time;
    }
    p->head.size++;
}

void pixel_list_end(pixel_list *list)
{
    const size_t n = list->of.head.size;
    assert_int_equal(slc_columns_reserve(&list->schema, &list->of, n + 1, list->of.head.n_events + 1),
                     SLC_OK);
    slc_columns_end_event(&list->of);
}

/* ---- random images ------------------------------------------------------------------------------ */

typedef struct place {
    uint32_t x, y, z;
    uint64_t rank; /* random: a shuffled order */
} place;

static int by_raster(const void *first, const void *second)
{
    const place *a = first, *b = second;
    const uint64_t k = (uint64_t)a->z << 32 | a->y << 16 | a->x, l = (uint64_t)b->z << 32 | b->y << 16 | b->x;
    return k != l ? (k < l ? -1 : 1) : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_rank(const void *first, const void *second)
{
    const place *a = first, *b = second;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* A step of -1, 0 or 1 that stays inside. */
static uint32_t step(uint32_t at, uint32_t size, uint64_t *seed)
{
    const uint32_t to = at + random_below(seed, 3);
    return to < 1 ? 0 : to - 1 < size ? to - 1 : size - 1;
}

static void draw(place *to, const pixel_wish *wish, uint32_t n, uint64_t *seed)
{
    const uint32_t kind = random_below(seed, 4), often = 2 + random_below(seed, 40);
    uint32_t width = wish->width, height = wish->height, depth = wish->depth;
    if (kind == 2) { /* few places */
        width = width < 4 ? width : 4;
        height = height < 4 ? height : 4;
        depth = depth < 2 ? depth : 2;
    }
    const uint32_t skips = random_below(seed, 3);
    const uint64_t area = (uint64_t)width * height * depth, begin = random_u64(seed) % area;
    uint64_t next = begin;
    for (uint32_t i = 0; i < n; i++) {
        place *p = &to[i];
        if (kind == 1 && i > 0 && random_below(seed, often) != 0) { /* tracks */
            *p = (place){step(p[-1].x, width, seed), step(p[-1].y, height, seed), step(p[-1].z, depth, seed),
                         0};
        } else if (kind == 3) { /* nearly full from a place on */
            next = (next + 1 + random_below(seed, skips + 1)) % area;
            *p = (place){(uint32_t)(next % width), (uint32_t)(next / width % height),
                         (uint32_t)(next / width / height), 0};
        } else {
            *p = (place){random_below(seed, width), random_below(seed, height), random_below(seed, depth), 0};
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        to[i].rank = random_u64(seed);
    }
}

/* Charges at both ends of their range, and many that are the same. */
static uint32_t draw_charge(uint64_t *seed)
{
    const uint32_t kind = random_below(seed, 20);
    return kind == 0 ? 0 : kind == 1 ? UINT32_MAX - random_below(seed, 3) : random_below(seed, 50);
}

static int64_t draw_time(uint64_t *seed)
{
    const uint32_t kind = random_below(seed, 50);
    const int64_t near = (int64_t)random_below(seed, 200) - 100;
    return kind == 0 ? INT64_MIN : kind == 1 ? INT64_MAX : kind == 2 ? near * (INT64_MAX / 100) : near;
}

void pixel_list_add(pixel_list *list, const pixel_wish *wish, uint32_t n, uint64_t *seed)
{
    place *places = calloc(n + (size_t)1, sizeof *places);
    assert_non_null(places);
    draw(places, wish, n, seed);
    uint32_t left = n;
    if (wish->unique) {
        qsort(places, n, sizeof *places, by_raster);
        left = 0;
        for (uint32_t i = 0; i < n; i++) {
            const place *last = left > 0 ? &places[left - 1] : NULL;
            if (last == NULL || last->x != places[i].x || last->y != places[i].y || last->z != places[i].z) {
                places[left++] = places[i];
            }
        }
    }
    qsort(places, left, sizeof *places, wish->sorted ? by_raster : by_rank);
    for (uint32_t i = 0; i < left; i++) {
        pixel_list_put(list, (uint16_t)places[i].x, (uint16_t)places[i].y, (uint16_t)places[i].z,
                       draw_charge(seed), draw_time(seed));
    }
    pixel_list_end(list);
    free(places);
}

/* ---- clusters ----------------------------------------------------------------------------------- */

void pixel_cluster_list_open(pixel_cluster_list *list, const slc_pixel_cluster_config *config, size_t rows,
                             uint32_t images)
{
    memset(list, 0, sizeof *list);
    list->schema = slc_pixel_clusters_schema(config->features, config->with, list->columns);
    assert_int_equal(slc_columns_reserve(&list->schema, &list->of, rows + 1, images + 1), SLC_OK);
}

void pixel_cluster_list_clear(pixel_cluster_list *list)
{
    slc_columns_clear(&list->schema, &list->of);
}

void pixel_cluster_list_poison(pixel_cluster_list *list)
{
    for (size_t c = 0; c < list->schema.n_columns; c++) {
        const slc_column *column = &list->schema.columns[c];
        memset(*slc_column_pointer(&list->of, column), 0xa5,
               list->of.head.capacity * slc_type_size(column->type));
    }
}

const char *pixel_cluster_list_differ(const pixel_cluster_list *a, const pixel_cluster_list *b, size_t *row)
{
    *row = 0;
    const slc_columns *x = &a->of.head, *y = &b->of.head;
    const char *why = NULL;
    if (!slc_columns_check(&a->schema, &a->of, &why)) {
        return why;
    }
    if (x->n_events != y->n_events || x->size != y->size ||
        memcmp(x->event_offset, y->event_offset, (x->n_events + 1) * sizeof *x->event_offset) != 0) {
        return "images";
    }
    for (size_t c = 0; c < a->schema.n_columns; c++) {
        const slc_column *column = &a->schema.columns[c];
        const size_t each = slc_type_size(column->type);
        const char *left = slc_column_data(&a->of, column), *right = slc_column_data(&b->of, column);
        for (size_t i = 0; i < x->size; i++) {
            if (memcmp(left + i * each, right + i * each, each) != 0) {
                *row = i;
                return column->name;
            }
        }
    }
    return NULL;
}

size_t pixel_test_count(size_t n)
{
    const size_t part = test_percent();
    return n * part / 100 > 0 ? n * part / 100 : 1;
}
