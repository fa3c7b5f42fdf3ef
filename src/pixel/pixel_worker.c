/* SPDX-License-Identifier: Apache-2.0
 * One image: put into the order that the algorithm wants, clustered, numbered in the order told, summed up.
 */
#include "pixel/pixel_worker.h"

#include "base/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t none = UINT32_MAX;

/* ---- memory ------------------------------------------------------------------------------------- */

/* Carves the worker's arrays out of `at`; returns how many bytes that takes. With NULL it only counts. */
static size_t carve(slc_pixel_worker *w, char *at, size_t own)
{
    const size_t n = w->pixels + 64; /* vectors may look behind the last pixel */
    char *const begin = at;
    for (unsigned i = 0; i < 2; i++) {
        w->sorter.key[i] = slc_block_take(&at, n * sizeof(uint64_t));
        w->sorter.number[i] = slc_block_take(&at, n * sizeof(uint32_t));
    }
    w->x = slc_block_take(&at, n * sizeof *w->x);
    w->y = slc_block_take(&at, n * sizeof *w->y);
    w->z = slc_block_take(&at, n * sizeof *w->z);
    w->time = slc_block_take(&at, n * sizeof *w->time);
    w->until = slc_block_take(&at, n * sizeof *w->until);
    w->merged_time = slc_block_take(&at, n * sizeof *w->merged_time);
    uint32_t **const tables[] = {&w->root,          &w->number, &w->label,  &w->same, &w->node,
                                 &w->merged_charge, &w->pick,   &w->behind, &w->begin};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        *tables[i] = slc_block_take(&at, n * sizeof(uint32_t));
    }
    w->sums = slc_block_take(&at, n * sizeof *w->sums);
    w->values = slc_block_take(&at, n * sizeof *w->values);
    w->second = slc_block_take(
        &at, (w->config->features & SLC_PIXEL_SECOND_FEATURES) != 0 ? n * sizeof *w->second : 0);
    w->memory = slc_block_take(&at, own);
    return (size_t)(at - begin);
}

slc_status slc_pixel_worker_open(slc_pixel_worker *w, const slc_pixel_cluster_config *config,
                                 const slc_pixel_rule *rule, const slc_pixel_algorithm *algorithm,
                                 size_t pixels)
{
    w->config = config;
    w->rule = *rule;
    w->algorithm = algorithm;
    w->pixels = pixels;
    const size_t own = algorithm->bound(rule, pixels),
                 each = 160 + sizeof *w->sums + sizeof *w->values + sizeof *w->second;
    if (own == SIZE_MAX || pixels > (SIZE_MAX - own) / (2 * each)) {
        return SLC_ERR_MEMORY;
    }
    /* Counted from an address that is one, as adding to NULL is not defined. */
    char base[1];
    const size_t bytes = carve(w, base, own);
    w->block = calloc(1, bytes + SLC_BLOCK_ALIGN);
    if (w->block == NULL) {
        return SLC_ERR_MEMORY;
    }
    (void)carve(w, slc_block_begin(w->block), own);
    return slc_pixel_bitmap_suits(config, rule) ? slc_pixel_bitmap_open(config, rule, pixels, &w->bitmap)
                                                : SLC_OK;
}

void slc_pixel_worker_clear(slc_pixel_worker *w)
{
    free(w->block);
    slc_pixel_bitmap_close(w->bitmap);
    *w = (slc_pixel_worker){0};
}

/* ---- order -------------------------------------------------------------------------------------- */

static uint64_t raster_key(const slc_pixels *p, const slc_pixel_rule *rule, size_t i)
{
    return (rule->with_z ? (uint64_t)p->z[i] << 32 : 0) | (uint64_t)p->y[i] << 16 | p->x[i];
}

/* Of times as numbers without a sign. */
static uint64_t time_key(int64_t time)
{
    return (uint64_t)time ^ UINT64_C(1) << 63;
}

/* Sorts the numbers of pixels by key, those of the same one by time where there are times. The keys stand in
 * sorter.key[0]; returns where they and the numbers are then. */
static unsigned sort(slc_pixel_worker *w, const int64_t *time, uint32_t n)
{
    slc_pixel_sorter *s = &w->sorter;
    for (uint32_t i = 0; i < n; i++) {
        s->number[0][i] = i;
    }
    if (time == NULL) {
        return slc_pixel_sort(s, n);
    }
    memcpy(w->until, s->key[0], n * sizeof *w->until);
    for (uint32_t i = 0; i < n; i++) {
        s->key[0][i] = time_key(time[i]);
    }
    const unsigned at = slc_pixel_sort(s, n);
    const slc_pixel_sorter turned = {{s->key[at], s->key[1 - at]}, {s->number[at], s->number[1 - at]}};
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&turned.key[0][i], &w->until[turned.number[0][i]], sizeof(uint64_t));
    }
    return slc_pixel_sort(&turned, n) ^ at;
}

/* Makes the image in the order wanted; returns the number in the list of each, NULL where that is its own. */
static const uint32_t *arrange(slc_pixel_worker *w, const slc_pixels *p, size_t first, uint32_t n,
                               slc_pixel_wants wants, slc_pixel_image *image)
{
    const slc_pixel_image given = {.n = n,
                                   .x = p->x + first,
                                   .y = p->y + first,
                                   .z = w->rule.with_z ? p->z + first : NULL,
                                   .time = w->rule.with_time ? p->time + first : NULL,
                                   .until = w->rule.with_time ? p->time + first : NULL};
    const bool raster = wants == SLC_PIXEL_WANTS_RASTER;
    *image = given;
    if (wants == SLC_PIXEL_WANTS_LIST) {
        return NULL;
    }
    uint64_t *key = w->sorter.key[0];
    bool sorted = true;
    assert(raster || given.time != NULL); /* who wants the order of time has times */
    for (uint32_t i = 0; i < n; i++) {
        key[i] = raster ? raster_key(p, &w->rule, first + i) : time_key(given.time[i]);
        sorted = sorted && (i == 0 || key[i - 1] < key[i] ||
                            (key[i - 1] == key[i] &&
                             (!raster || given.time == NULL || given.time[i - 1] <= given.time[i])));
    }
    image->key = key;
    if (sorted) {
        return NULL;
    }
    const unsigned at = sort(w, raster ? given.time : NULL, n);
    const uint32_t *order = w->sorter.number[at];
    for (uint32_t i = 0; i < n; i++) {
        w->x[i] = given.x[order[i]];
        w->y[i] = given.y[order[i]];
        w->z[i] = given.z != NULL ? given.z[order[i]] : 0;
        w->time[i] = given.time != NULL ? given.time[order[i]] : 0;
    }
    *image = (slc_pixel_image){.n = n,
                               .x = w->x,
                               .y = w->y,
                               .z = given.z != NULL ? w->z : NULL,
                               .time = given.time != NULL ? w->time : NULL,
                               .until = given.time != NULL ? w->time : NULL,
                               .key = w->sorter.key[at]};
    return order;
}

/* ---- entries that are one ----------------------------------------------------------------------- */

/* Merges entries of one place: all of them, or with times those that follow each other within the window.
 * w->node gets for every entry the number of what it went into, w->begin of that its first entry. Returns
 * whether any were merged; if not, none of that is set but for w->behind. */
static bool merge_image(slc_pixel_worker *w, slc_pixel_image *image)
{
    const uint32_t n = image->n;
    const int64_t *time = image->time;
    bool any = false;
    for (uint32_t i = 1; i < n && !any; i++) {
        any = image->key[i - 1] == image->key[i];
    }
    uint64_t *key = w->sorter.key[0] == image->key ? w->sorter.key[0] : w->sorter.key[1];
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < n && any; i++) {
        const bool again = i > 0 && key[nodes - 1] == image->key[i] &&
                           (time == NULL || slc_pixel_delay(w->until[nodes - 1], time[i]) <= w->rule.window);
        if (!again) {
            w->begin[nodes] = i;
            w->x[nodes] = image->x[i];
            w->y[nodes] = image->y[i];
            w->z[nodes] = image->z != NULL ? image->z[i] : 0;
            w->time[nodes] = time != NULL ? time[i] : 0;
            key[nodes++] = image->key[i];
        }
        w->until[nodes - 1] = time != NULL ? time[i] : 0;
        w->node[i] = nodes - 1;
    }
    if (any) {
        *image = (slc_pixel_image){.n = nodes,
                                   .x = w->x,
                                   .y = w->y,
                                   .z = image->z != NULL ? w->z : NULL,
                                   .time = time != NULL ? w->time : NULL,
                                   .until = time != NULL ? w->until : NULL,
                                   .key = key};
    }
    if (time != NULL) {
        for (uint32_t i = image->n; i-- > 0;) {
            const bool last = i + 1 == image->n || image->key[i + 1] != image->key[i];
            w->behind[i] = last ? i + 1 : w->behind[i + 1];
        }
        image->behind = w->behind;
    }
    return any;
}

/* Every entry gets the root of what it went into: the first entry of that. From the last to the first, as
 * none went into one behind it. */
static void unmerge_roots(slc_pixel_worker *w, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        w->root[i] = w->begin[w->root[w->node[i]]];
    }
}

/* The first of each pixel's entries in the list, as the sort left those of a place in the list's order. */
static void find_same(slc_pixel_worker *w, const uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t begin = w->begin[w->node[i]];
        w->same[order != NULL ? order[i] : i] = order != NULL ? order[begin] : begin;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Numbers in the order that the algorithm worked in, in which a root is its cluster's first. */
static uint32_t number_sorted(slc_pixel_worker *w, uint32_t n, const uint32_t *order, uint32_t *label)
{
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t root = w->root[i];
        w->number[i] = clusters; /* read of roots alone */
        clusters += root == i;
        label[order != NULL ? order[i] : i] = w->number[root];
    }
    return clusters;
}

/* Numbers in the order of the list, when the algorithm worked in another. */
static uint32_t number_listed(slc_pixel_worker *w, uint32_t n, const uint32_t *order, uint32_t *label)
{
    uint32_t clusters = 0;
    memset(w->number, 0xff, n * sizeof *w->number);
    for (uint32_t i = 0; i < n; i++) {
        label[order != NULL ? order[i] : i] = w->root[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *number = &w->number[label[i]];
        *number = *number == none ? clusters++ : *number;
        label[i] = *number;
    }
    return clusters;
}

/* Is the list in raster order? Asked without a branch in the loop. */
static bool rises(const uint16_t *x, const uint16_t *y, const uint16_t *z, uint32_t n)
{
    uint32_t falls = z != NULL;
    for (uint32_t i = 1; i < n && z == NULL; i++) {
        const uint32_t before = (uint32_t)y[i - 1] << 16 | x[i - 1], here = (uint32_t)y[i] << 16 | x[i];
        falls |= here < before;
    }
    return falls == 0;
}

/* Renumbers clusters by their first pixel in raster order. */
static void renumber(slc_pixel_worker *w, const slc_pixels *p, size_t first, uint32_t n, uint32_t clusters,
                     uint32_t *label)
{
    for (uint32_t c = 0; c < clusters; c++) {
        w->sorter.key[0][c] = UINT64_MAX;
        w->sorter.number[0][c] = c;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = raster_key(p, &w->rule, first + i);
        uint64_t *lowest = &w->sorter.key[0][label[i]];
        *lowest = key < *lowest ? key : *lowest;
    }
    const unsigned at = slc_pixel_sort(&w->sorter, clusters);
    for (uint32_t c = 0; c < clusters; c++) {
        w->number[w->sorter.number[at][c]] = c;
    }
    for (uint32_t i = 0; i < n; i++) {
        label[i] = w->number[label[i]];
    }
}

/* ---- one image ---------------------------------------------------------------------------------- */

/* Clusters and numbers by the general way. *same: which entries are one pixel, NULL where all are their own.
 */
static uint32_t label_image(slc_pixel_worker *w, const slc_pixels *p, size_t first, uint32_t n,
                            uint32_t *label, const uint32_t **same)
{
    const bool with_time = w->rule.with_time;
    const slc_pixel_wants wants = with_time ? w->algorithm->wants_with_time : w->algorithm->wants;
    const bool listed = wants == SLC_PIXEL_WANTS_LIST;
    slc_pixel_image image;
    const uint32_t *order = arrange(w, p, first, n, wants, &image);
    const bool merged = wants == SLC_PIXEL_WANTS_RASTER && merge_image(w, &image);
    w->algorithm->run(&w->rule, &image, w->memory, w->pixels, w->root, listed ? w->same : NULL);
    if (merged) {
        unmerge_roots(w, n);
    }
    if (with_time) {
        return number_listed(w, n, order, label);
    }
    if (w->config->duplicates != SLC_PIXEL_DUPLICATES_KEEP && (listed || merged)) {
        if (merged) {
            find_same(w, order, n);
        }
        *same = w->same;
    }
    const uint32_t clusters = number_sorted(w, n, order, label);
    if (listed && !rises(p->x + first, p->y + first, w->rule.with_z ? p->z + first : NULL, n)) {
        renumber(w, p, first, n, clusters, label);
    }
    return clusters;
}

static void sum_image(slc_pixel_worker *w, const slc_pixels *p, size_t first, uint32_t n,
                      const uint32_t *label, const uint32_t *same, uint32_t features, uint32_t clusters,
                      slc_pixel_clusters *to)
{
    const uint32_t with = w->config->with;
    assert(to != NULL); /* features go somewhere */
    const slc_pixel_entries entries = {.n = n,
                                       .x = p->x + first,
                                       .y = p->y + first,
                                       .z = w->rule.with_z ? p->z + first : NULL,
                                       .charge = (with & SLC_PIXEL_CHARGE) != 0 ? p->charge + first : NULL,
                                       .time = (with & SLC_PIXEL_TIME) != 0 ? p->time + first : NULL,
                                       .same = same,
                                       .merged_charge = w->merged_charge,
                                       .pick = w->pick,
                                       .merged_time = w->merged_time};
    if (same != NULL && (features & ~(uint32_t)SLC_PIXEL_SHAPE_FEATURES) != 0) {
        slc_pixel_merge(&entries, w->config->duplicates);
    }
    slc_pixel_sum(&entries, label, clusters, features, w->sums, w->values, w->second);
    slc_pixel_sums_write(w->sums, w->values, w->second, clusters, features, to, to->head.size);
}

uint32_t slc_pixel_worker_run(slc_pixel_worker *w, const slc_pixels *p, size_t first, uint32_t n,
                              uint32_t *labels, slc_pixel_clusters *clusters)
{
    if (n == 0) {
        return 0;
    }
    uint32_t *label = labels != NULL ? labels + first : w->label;
    uint32_t features = clusters != NULL ? w->config->features : 0;
    const size_t room = clusters != NULL ? clusters->head.capacity - clusters->head.size : 0;
    const uint32_t *same = NULL;
    uint32_t found = none;
    if (w->bitmap != NULL) {
        const uint32_t offset[] = {0, n};
        slc_pixel_group group = {.x = p->x + first, .y = p->y + first, .offset = offset, .images = 1};
        found = slc_pixel_bitmap_run(
            w->bitmap, &group,
            labels != NULL || (features & ~slc_pixel_bitmap_features(w->bitmap)) != 0 ? label : NULL,
            features != 0 ? clusters : NULL);
        if (found != none) {
            features &= ~slc_pixel_bitmap_features(w->bitmap);
        }
    }
    if (found == none) {
        found = label_image(w, p, first, n, label, &same);
    }
    if (features != 0 && found <= room) {
        sum_image(w, p, first, n, label, same, features, found, clusters);
    }
    return found;
}

uint32_t slc_pixel_worker_group(slc_pixel_worker *w, const slc_pixels *p, uint32_t image, uint32_t behind,
                                uint32_t *labels, slc_pixel_clusters *clusters, const uint32_t **begins)
{
    const uint32_t *offset = p->head.event_offset + image;
    const uint32_t features = clusters != NULL ? w->config->features : 0;
    uint32_t images = 0;
    if (w->bitmap == NULL || image < w->alone || (features & ~slc_pixel_bitmap_features(w->bitmap)) != 0) {
        return 0;
    }
    while (image + images < behind && images < SLC_PIXEL_GROUP &&
           offset[images + 1] - offset[0] <= SLC_PIXEL_GROUP_PIXELS) {
        images++;
    }
    if (images < 2 || offset[images] == offset[0]) {
        return 0;
    }
    const size_t room = clusters != NULL ? clusters->head.capacity - clusters->head.size : SIZE_MAX;
    slc_pixel_group group = {
        .x = p->x + offset[0], .y = p->y + offset[0], .offset = offset, .images = images};
    const uint32_t found = slc_pixel_bitmap_run(w->bitmap, &group, labels != NULL ? labels + offset[0] : NULL,
                                                features != 0 ? clusters : NULL);
    *begins = slc_pixel_bitmap_begins(w->bitmap);
    if (found == none) { /* lists in any order, most likely the next ones too */
        w->alone = image + SLC_PIXEL_GROUP;
    }
    return found != none && found <= room ? images : 0;
}
