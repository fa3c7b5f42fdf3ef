/* SPDX-License-Identifier: Apache-2.0
 * The front end of clustering: checks what it is given, deals images out to workers, puts their clusters one
 * behind the other. One thread writes where the clusters go. Several take a group of images each, round by
 * round, and keep the clusters until it is known how many there are in front of them.
 */
#include <sluice/pixel.h>

#include "base/columns.h"
#include "base/config.h"
#include "base/team.h"
#include "pixel/pixel_kernels.h"
#include "pixel/pixel_worker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4096, MOST_RADIUS = 255, GROUP_PIXELS = 1 << 14 };

/* A worker, and with several threads its images of the round and their clusters. */
typedef struct part {
    slc_pixel_worker worker;
    slc_pixel_clusters clusters;
    uint32_t first, behind; /* images */
} part;

struct slc_pixel_clusterer {
    slc_pixel_cluster_config config;
    slc_pixel_rule rule;
    const slc_pixel_algorithm *algorithm;
    const slc_pixel_kernels *kernels;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema;
    slc_team *team;
    uint32_t n_parts;
    part *parts;
    size_t pixels, images; /* reserved */
    uint32_t *found;       /* clusters of each image */
    /* The run at hand. */
    const slc_pixels *list;
    uint32_t *labels;
    bool wanted; /* are clusters? */
};

/* ---- algorithms --------------------------------------------------------------------------------- */

/* "bitmap" is not one of them: what it cannot do, it leaves to the first. */
static const slc_pixel_algorithm *const own[] = {&slc_pixel_ordered, &slc_pixel_row_table, NULL};
static const slc_pixel_algorithm *const *added;

void slc_pixel_algorithms_add(const slc_pixel_algorithm *const *list)
{
    added = list;
}

/* The library's, then those that were added; NULL beyond. */
static const slc_pixel_algorithm *algorithm_row(size_t number)
{
    const slc_pixel_algorithm *const *const lists[] = {own, added};
    for (size_t i = 0; i < 2 && lists[i] != NULL; i++) {
        for (const slc_pixel_algorithm *const *row = lists[i]; *row != NULL; row++) {
            if (number-- == 0) {
                return *row;
            }
        }
    }
    return NULL;
}

static size_t count_algorithms(void)
{
    size_t n = 0;
    while (algorithm_row(n) != NULL) {
        n++;
    }
    return n;
}

static const char own_name[] = "bitmap";

const char *slc_pixel_algorithm_name(size_t algorithm)
{
    const slc_pixel_algorithm *row = algorithm_row(algorithm);
    return row != NULL ? row->name : algorithm == count_algorithms() ? own_name : NULL;
}

static const slc_pixel_algorithm *find_algorithm(const char *name)
{
    if (name == NULL || strcmp(name, "auto") == 0 || strcmp(name, own_name) == 0) {
        return own[0];
    }
    for (size_t i = 0; algorithm_row(i) != NULL; i++) {
        if (strcmp(algorithm_row(i)->name, name) == 0) {
            return algorithm_row(i);
        }
    }
    return NULL;
}

/* ---- configuration ------------------------------------------------------------------------------ */

static void pixel_cluster_config_default(slc_pixel_cluster_config *config)
{
    *config = (slc_pixel_cluster_config){.size = sizeof *config,
                                         .connectivity = 8,
                                         .radius = 1,
                                         .time_window = -1,
                                         .features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID |
                                                     SLC_PIXEL_MASS,
                                         .algorithm = "auto",
                                         .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_pixel_cluster_config, pixel_cluster_config_default)

static slc_pixel_rule rule_of(const slc_pixel_cluster_config *c)
{
    slc_pixel_rule rule = {.radius = 1,
                           .width = c->width != 0 ? c->width : 65536,
                           .height = c->height != 0 ? c->height : 65536,
                           .window = c->time_window >= 0 ? (uint64_t)c->time_window : 0,
                           .with_z = (c->with & SLC_PIXEL_Z) != 0,
                           .with_time = c->time_window >= 0};
    switch (c->connectivity) {
    case 0:
        rule.radius = c->radius;
        rule.reach = 3 * c->radius;
        break;
    case 4:
    case 6:
        rule.reach = 1;
        break;
    case 8:
    case 18:
        rule.reach = 2;
        break;
    default:
        rule.reach = 3;
        break;
    }
    return rule;
}

static slc_status check_rule(const slc_pixel_cluster_config *c, slc_error *error)
{
    const bool z = (c->with & SLC_PIXEL_Z) != 0;
    const uint32_t k = c->connectivity;
    if ((c->with & ~(uint32_t)SLC_PIXEL_COLUMNS_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "with: 0x%x has unknown columns", c->with);
    }
    if (k != 0 && (z ? k != 6 && k != 18 && k != 26 : k != 4 && k != 8)) {
        return slc_fail(error, SLC_ERR_USAGE, "connectivity: %u, and pixels %s have %s, or 0 with a radius",
                        k, z ? "with z" : "without z", z ? "6, 18 or 26" : "4 or 8");
    }
    if (k == 0 && (c->radius < 1 || c->radius > MOST_RADIUS)) {
        return slc_fail(error, SLC_ERR_USAGE, "radius: %u, and it may be 1 to %d", c->radius, MOST_RADIUS);
    }
    if (c->time_window >= 0 && (c->with & SLC_PIXEL_TIME) == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "time_window: the pixels have no times");
    }
    return SLC_OK;
}

static slc_status check_config(const slc_pixel_cluster_config *c, slc_error *error)
{
    const slc_status status = check_rule(c, error);
    if (status != SLC_OK) {
        return status;
    }
    if ((int)c->duplicates < 0 || c->duplicates >= SLC_PIXEL_DUPLICATES) {
        return slc_fail(error, SLC_ERR_USAGE, "duplicates: unknown choice %d", (int)c->duplicates);
    }
    if ((int)c->order < 0 || c->order > SLC_PIXEL_ORDER_RASTER) {
        return slc_fail(error, SLC_ERR_USAGE, "order: unknown choice %d", (int)c->order);
    }
    if ((c->features & ~(uint32_t)SLC_PIXEL_FEATURES_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: 0x%x has unknown ones", c->features);
    }
    if (c->exec.threads > MOST_THREADS) {
        return slc_fail(error, SLC_ERR_USAGE, "threads: %u, and at most %d can be had", c->exec.threads,
                        MOST_THREADS);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    const slc_pixel_rule rule = rule_of(c);
    const slc_pixel_algorithm *algorithm = find_algorithm(c->algorithm);
    if (algorithm == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "algorithm: there is none named \"%s\"", c->algorithm);
    }
    const bool bitmap = c->algorithm != NULL && strcmp(c->algorithm, "bitmap") == 0;
    if ((algorithm->flat && rule.with_z) || algorithm->bound(&rule, 0) == SIZE_MAX ||
        (bitmap && !slc_pixel_bitmap_suits(c, &rule))) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "algorithm: \"%s\" cannot do this size, connectivity, z or time window",
                        c->algorithm);
    }
    return SLC_OK;
}

/* ---- the clusterer ------------------------------------------------------------------------------ */

slc_status slc_pixel_cluster_open(const slc_pixel_cluster_config *given, slc_pixel_clusterer **out,
                                  slc_error *error)
{
    *out = NULL;
    slc_pixel_cluster_config taken, *const config = &taken;
    slc_pixel_cluster_config_default(config);
    slc_status status = slc_config_take(config, sizeof *config, given, "slc_pixel_cluster_config", error);
    status = status == SLC_OK ? check_config(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pixel_clusterer *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a clusterer");
    }
    c->config = *config;
    c->config.features &= ~((config->with & SLC_PIXEL_Z) != 0 ? (uint32_t)SLC_PIXEL_SECOND_FEATURES : 0);
    c->rule = rule_of(config);
    c->algorithm = find_algorithm(config->algorithm);
    c->kernels = slc_pixel_kernels_of(slc_simd_kernel_choice(&slc_pixel_kernel_rows[0], config->exec.target));
    c->config.algorithm = slc_pixel_bitmap_suits(config, &c->rule) ? own_name : c->algorithm->name;
    c->schema = slc_pixel_clusters_schema(config->features, config->with, c->columns);
    const uint32_t processors = slc_team_processors();
    c->config.exec.threads = config->exec.threads != 0   ? config->exec.threads
                             : processors < MOST_THREADS ? processors
                                                         : MOST_THREADS;
    c->n_parts = c->config.exec.threads;
    c->parts = calloc(c->n_parts, sizeof *c->parts);
    status = c->parts != NULL ? slc_team_open(c->n_parts, &c->team) : SLC_ERR_MEMORY;
    if (status != SLC_OK) {
        slc_pixel_cluster_close(c);
        return slc_fail(error, status, "no memory for a clusterer with %u threads", config->exec.threads);
    }
    *out = c;
    return SLC_OK;
}

static void close_parts(slc_pixel_clusterer *c, part *parts)
{
    for (uint32_t p = 0; p < c->n_parts && parts != NULL; p++) {
        slc_pixel_worker_clear(&parts[p].worker);
        slc_columns_clear(&c->schema, &parts[p].clusters);
    }
    free(parts);
}

void slc_pixel_cluster_close(slc_pixel_clusterer *c)
{
    if (c == NULL) {
        return;
    }
    close_parts(c, c->parts);
    slc_team_close(c->team);
    free(c->found);
    free(c);
}

/* Rows that a part keeps: those of one image at least. */
static size_t group_pixels(size_t pixels)
{
    return pixels > GROUP_PIXELS ? pixels : GROUP_PIXELS;
}

slc_status slc_pixel_cluster_reserve(slc_pixel_clusterer *c, size_t pixels, size_t images, slc_error *error)
{
    if (pixels >= UINT32_MAX || images >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "room for %zu pixels and %zu images: fewer than 2^32 - 1 can be", pixels, images);
    }
    const size_t n = pixels > c->pixels ? pixels : c->pixels, m = images > c->images ? images : c->images;
    /* New ones beside the old, so that those are as before where there is no memory. */
    uint32_t *found = calloc(m + 1, sizeof *found);
    part *parts = calloc(c->n_parts, sizeof *parts);
    slc_status status = found != NULL && parts != NULL ? SLC_OK : SLC_ERR_MEMORY;
    for (uint32_t p = 0; p < c->n_parts && status == SLC_OK; p++) {
        status = slc_pixel_worker_open(&parts[p].worker, &c->config, &c->rule, c->algorithm, n);
        if (status == SLC_OK && c->n_parts > 1 && c->config.features != 0) {
            status = slc_columns_reserve(&c->schema, &parts[p].clusters, group_pixels(n), 0);
        }
    }
    if (status != SLC_OK) {
        close_parts(c, parts);
        free(found);
        return slc_fail(error, status, "no memory for images of %zu pixels with %u threads", n, c->n_parts);
    }
    close_parts(c, c->parts);
    free(c->found);
    c->parts = parts;
    c->found = found;
    c->pixels = n;
    c->images = m;
    return SLC_OK;
}

/* ---- what a run is given ------------------------------------------------------------------------ */

/* Names the first pixel that is wrong. */
static slc_status tell_outside(const slc_pixel_clusterer *c, const slc_pixels *p, uint32_t image,
                               slc_error *error)
{
    const uint32_t *offset = p->head.event_offset;
    size_t i = offset[image];
    while (p->x[i] < c->rule.width && p->y[i] < c->rule.height) {
        i++;
    }
    return slc_fail(error, SLC_ERR_FORMAT, "image %u, pixel %zu: (%u, %u) is outside of %u x %u", image,
                    i - offset[image], p->x[i], p->y[i], c->rule.width, c->rule.height);
}

static bool is_behind(const slc_pixel_clusterer *c, const slc_pixels *p, size_t i)
{
    if (c->rule.with_z && p->z[i] != p->z[i - 1]) {
        return p->z[i] > p->z[i - 1];
    }
    return p->y[i] != p->y[i - 1] ? p->y[i] > p->y[i - 1] : p->x[i] >= p->x[i - 1];
}

static slc_status check_image(const slc_pixel_clusterer *c, const slc_pixels *p, uint32_t image,
                              slc_error *error)
{
    const size_t first = p->head.event_offset[image], behind = p->head.event_offset[image + 1];
    const uint16_t *x = p->x, *y = p->y;
    if (behind - first > c->pixels) {
        return slc_fail(error, SLC_ERR_USAGE, "image %u: %zu pixels, and %zu were reserved", image,
                        behind - first, c->pixels);
    }
    if (first == behind) {
        return SLC_OK;
    }
    uint16_t x_max, y_max;
    const bool rises = c->kernels->check(x + first, y + first, behind - first, &x_max, &y_max);
    if (x_max >= c->rule.width || y_max >= c->rule.height) {
        return tell_outside(c, p, image, error);
    }
    if (c->config.order == SLC_PIXEL_ORDER_RASTER && (!rises || c->rule.with_z)) {
        for (size_t i = first + 1; i < behind; i++) {
            if (!is_behind(c, p, i)) {
                return slc_fail(error, SLC_ERR_FORMAT,
                                "image %u, pixel %zu: (%u, %u) comes behind (%u, %u), not in raster order",
                                image, i - first, x[i], y[i], x[i - 1], y[i - 1]);
            }
        }
    }
    return SLC_OK;
}

static slc_status check_pixels(const slc_pixel_clusterer *c, const slc_pixels *p, slc_error *error)
{
    const uint32_t with = c->config.with;
    if (p->head.n_events > c->images) {
        return slc_fail(error, SLC_ERR_USAGE, "pixels: %u images, and %zu were reserved", p->head.n_events,
                        c->images);
    }
    if (p->head.size > 0 && (p->x == NULL || p->y == NULL || ((with & SLC_PIXEL_Z) != 0 && p->z == NULL) ||
                             ((with & SLC_PIXEL_CHARGE) != 0 && p->charge == NULL) ||
                             ((with & SLC_PIXEL_TIME) != 0 && p->time == NULL))) {
        return slc_fail(error, SLC_ERR_USAGE, "pixels: the lists lack a column of the configuration");
    }
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < p->head.n_events && status == SLC_OK; i++) {
        status = check_image(c, p, i, error);
    }
    return status;
}

static slc_status check_clusters(slc_pixel_clusterer *c, const slc_pixels *p, slc_pixel_clusters *clusters,
                                 slc_error *error)
{
    for (size_t i = 0; i < c->schema.n_columns; i++) {
        if (clusters->head.capacity > 0 && *slc_column_pointer(clusters, &c->schema.columns[i]) == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "clusters: they have no column \"%s\"",
                            c->schema.columns[i].name);
        }
    }
    if (p->head.n_events > clusters->head.event_capacity) {
        return slc_fail(error, SLC_ERR_CAPACITY, "clusters: room for %u images, and there are %u",
                        clusters->head.event_capacity, p->head.n_events);
    }
    return SLC_OK;
}

/* ---- a run -------------------------------------------------------------------------------------- */

/* Clusters one image, or several small ones, from `image` on; found[k] gets how many clusters the k-th has.
 * Returns how many images that were. Rows are not added to the collection. */
static uint32_t run_images(slc_pixel_clusterer *c, slc_pixel_worker *worker, uint32_t image, uint32_t behind,
                           slc_pixel_clusters *clusters, uint32_t *found)
{
    const uint32_t *offset = c->list->head.event_offset, *begins = NULL;
    const uint32_t images = slc_pixel_worker_group(worker, c->list, image, behind, c->labels, clusters,
                                                   &begins);
    for (uint32_t k = 0; k < images; k++) {
        found[k] = begins[k + 1] - begins[k];
    }
    if (images == 0) {
        found[0] = slc_pixel_worker_run(worker, c->list, offset[image], offset[image + 1] - offset[image],
                                        c->labels, clusters);
        return 1;
    }
    return images;
}

static slc_status run_alone(slc_pixel_clusterer *c, slc_pixel_clusters *clusters)
{
    for (uint32_t i = 0; i < c->list->head.n_events;) {
        const uint32_t behind = i + run_images(c, &c->parts[0].worker, i, c->list->head.n_events, clusters,
                                               c->found + i);
        for (; i < behind && clusters != NULL; i++) {
            if (c->found[i] > clusters->head.capacity - clusters->head.size) {
                return SLC_ERR_CAPACITY;
            }
            clusters->head.size += c->found[i];
            slc_columns_end_event(clusters);
        }
        i = behind;
    }
    return SLC_OK;
}

static void run_part(void *context, uint32_t number)
{
    slc_pixel_clusterer *c = context;
    part *p = &c->parts[number];
    const bool kept = c->wanted && c->config.features != 0;
    slc_columns_reset(&p->clusters);
    for (uint32_t i = p->first; i < p->behind;) {
        const uint32_t behind = i + run_images(c, &p->worker, i, p->behind, kept ? &p->clusters : NULL,
                                               c->found + i);
        for (; i < behind; i++) {
            p->clusters.head.size += kept ? c->found[i] : 0;
        }
    }
}

/* Deals the images from `image` on out; returns the first of the next round. */
static uint32_t deal(slc_pixel_clusterer *c, uint32_t image)
{
    const uint32_t *offset = c->list->head.event_offset, n = c->list->head.n_events;
    assert(c->n_parts > 0);
    /* No more than an even share, so that few images occupy all threads. */
    const size_t left = offset[n] - offset[image], share = left / c->n_parts + 1;
    const size_t most = group_pixels(c->pixels), goal = share < most ? share : most;
    for (uint32_t p = 0; p < c->n_parts; p++) {
        const uint32_t first = image;
        while (image < n && (offset[image + 1] - offset[first] <= goal ||
                             (image == first && offset[image + 1] - offset[first] <= most))) {
            image++;
        }
        c->parts[p].first = first;
        c->parts[p].behind = image;
    }
    return image;
}

static slc_status gather(slc_pixel_clusterer *c, const part *p, slc_pixel_clusters *clusters)
{
    size_t row = 0;
    slc_status status = SLC_OK;
    for (uint32_t i = p->first; i < p->behind && status == SLC_OK; i++) {
        if (c->config.features != 0) {
            status = slc_columns_append(&c->schema, &p->clusters, row, c->found[i], clusters);
        } else if (c->found[i] > clusters->head.capacity - clusters->head.size) {
            status = SLC_ERR_CAPACITY;
        } else {
            clusters->head.size += c->found[i];
        }
        if (status == SLC_OK) {
            slc_columns_end_event(clusters);
        }
        row += c->found[i];
    }
    return status;
}

static slc_status run_together(slc_pixel_clusterer *c, slc_pixel_clusters *clusters)
{
    slc_status status = SLC_OK;
    for (uint32_t image = 0; image < c->list->head.n_events && status == SLC_OK;) {
        image = deal(c, image);
        slc_team_run(c->team, c->n_parts, run_part, c);
        for (uint32_t p = 0; p < c->n_parts && clusters != NULL && status == SLC_OK; p++) {
            status = gather(c, &c->parts[p], clusters);
        }
    }
    return status;
}

slc_status slc_pixel_cluster_run(slc_pixel_clusterer *c, const slc_pixels *pixels, uint32_t *labels,
                                 slc_pixel_clusters *clusters, slc_error *error)
{
    slc_status status = check_pixels(c, pixels, error);
    if (status == SLC_OK && clusters != NULL) {
        status = check_clusters(c, pixels, clusters, error);
    }
    if (status != SLC_OK || pixels->head.n_events == 0) {
        if (status == SLC_OK && clusters != NULL) {
            slc_columns_reset(clusters);
        }
        return status;
    }
    c->list = pixels;
    c->labels = labels;
    c->wanted = clusters != NULL;
    for (uint32_t p = 0; p < c->n_parts; p++) {
        c->parts[p].worker.alone = 0;
    }
    if (clusters != NULL) {
        slc_columns_reset(clusters);
    }
    status = c->n_parts == 1 ? run_alone(c, clusters) : run_together(c, clusters);
    if (status != SLC_OK) {
        assert(clusters != NULL); /* without them nothing can be too small */
        const size_t room = clusters->head.capacity;
        slc_columns_reset(clusters);
        return slc_fail(error, status, "clusters: room for %zu rows, and there are more clusters", room);
    }
    return SLC_OK;
}
