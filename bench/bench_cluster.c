/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness that measures clustering of sparse pixels. One call clusters many images, as a caller who has
 * the modules of a detector would, so that caches hold what they hold in use and clocks are read seldom.
 */
#include "bench/bench_cluster.h"
#include "bench/bench_label.h"
#include <sluice/image_label.h>
#include <sluice/sim.h>

#include <stdlib.h>
#include <string.h>

/* One algorithm: a clusterer, or for "dense" a labeller and its image. */
typedef struct contestant {
    size_t algorithm;
    slc_pixel_clusterer *clusterer;
    slc_image_labeller *labeller;
    uint64_t clusters;
    double *seconds;
} contestant;

typedef struct bench {
    const slc_bench_cluster_config *config;
    contestant *contestants;
    double *seconds, *hertz;
    slc_pixels pixels;
    slc_column cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS], component_columns[SLC_IMAGE_COLUMNS];
    slc_schema cluster_schema, component_schema;
    slc_pixel_clusters clusters;
    slc_image_components components;
    uint8_t *image;
    uint32_t *label_image;          /* NULL where no labels are wanted */
    uint32_t *labels, *same_labels; /* of the lists; the first one's, that all must find */
    slc_error *error;
} bench;

const char *slc_bench_cluster_algorithm(size_t algorithm)
{
    size_t own = 0;
    while (slc_pixel_algorithm_name(own) != NULL) {
        own++;
    }
    return algorithm == 0         ? "auto"
           : algorithm <= own     ? slc_pixel_algorithm_name(algorithm - 1)
           : algorithm == own + 1 ? "dense"
                                  : NULL;
}

static bool is_dense(size_t algorithm)
{
    return strcmp(slc_bench_cluster_algorithm(algorithm), "dense") == 0;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* The image is empty before, and again behind, each of the list's: cleared by walking the list. */
static slc_status label_dense(bench *b, contestant *c)
{
    const slc_columns *head = &b->pixels.head;
    const size_t width = b->config->width;
    const slc_image image = {b->image, width, b->config->height, (ptrdiff_t)width, SLC_IMAGE_U8};
    slc_status status = SLC_OK;
    c->clusters = 0;
    for (uint32_t e = 0; e < head->n_events && status == SLC_OK; e++) {
        const size_t first = head->event_offset[e], end = head->event_offset[e + 1];
        slc_image_labels out = {.labels = b->label_image,
                                .stride = (ptrdiff_t)(width * sizeof *b->label_image),
                                .type = SLC_TYPE_U32,
                                .components = &b->components};
        slc_columns_reset(&b->components);
        for (size_t i = first; i < end; i++) {
            b->image[b->pixels.y[i] * width + b->pixels.x[i]] = 1;
        }
        status = slc_image_label_run(c->labeller, &image, NULL, &out, NULL, b->error);
        for (size_t i = first; i < end; i++) {
            b->image[b->pixels.y[i] * width + b->pixels.x[i]] = 0;
        }
        for (size_t i = first; i < end && b->label_image != NULL; i++) {
            b->labels[i] = b->label_image[b->pixels.y[i] * width + b->pixels.x[i]] - 1;
        }
        c->clusters += out.n_labels;
    }
    return status;
}

static slc_status call(bench *b, contestant *c, double *seconds)
{
    const double began = slc_clock_seconds();
    slc_status status;
    if (c->labeller != NULL) {
        status = label_dense(b, c);
    } else {
        status = slc_pixel_cluster_run(c->clusterer, &b->pixels, b->labels, &b->clusters, b->error);
        c->clusters = b->clusters.head.size;
    }
    *seconds = slc_clock_seconds() - began;
    return status;
}

static size_t largest_image(const slc_pixels *pixels)
{
    size_t largest = 0;
    for (uint32_t e = 0; e < pixels->head.n_events; e++) {
        const size_t n = pixels->head.event_offset[e + 1] - pixels->head.event_offset[e];
        largest = n > largest ? n : largest;
    }
    return largest;
}

static slc_status open_dense(bench *b, contestant *c)
{
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    how.connectivity = b->config->connectivity;
    how.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS;
    how.target = b->config->target;
    slc_status status = slc_image_label_open(&how, &c->labeller, b->error);
    return status == SLC_OK
               ? slc_image_label_reserve(c->labeller, b->config->width, b->config->height, b->error)
               : status;
}

static slc_status open_sparse(bench *b, contestant *c, bool shuffled)
{
    const slc_bench_cluster_config *config = b->config;
    slc_pixel_cluster_config how;
    slc_pixel_cluster_config_default(&how);
    how.width = config->width;
    how.height = config->height;
    how.with = SLC_PIXEL_CHARGE;
    how.connectivity = config->connectivity;
    how.features = config->features;
    how.algorithm = slc_bench_cluster_algorithm(c->algorithm);
    how.order = shuffled ? SLC_PIXEL_ORDER_ANY : SLC_PIXEL_ORDER_RASTER;
    how.target = config->target;
    const slc_status status = slc_pixel_cluster_open(&how, &c->clusterer, b->error);
    return status == SLC_OK
               ? slc_pixel_cluster_reserve(c->clusterer, largest_image(&b->pixels), config->images, b->error)
               : status;
}

static void close_all(bench *b)
{
    for (size_t i = 0; i < b->config->n_algorithms; i++) {
        contestant *c = &b->contestants[i];
        slc_pixel_cluster_close(c->clusterer);
        slc_image_label_close(c->labeller);
        c->clusterer = NULL;
        c->labeller = NULL;
    }
}

/* ---- one set of images ------------------------------------------------------------------------- */

static slc_status draw(bench *b, const slc_bench_cluster_row *row)
{
    const slc_bench_cluster_config *config = b->config;
    const slc_sim_pixels_config how = {.seed = config->seed,
                                       .width = config->width,
                                       .height = config->height,
                                       .density = row->density,
                                       .granularity = row->granularity,
                                       .images = config->images,
                                       .shuffled = row->shuffled};
    slc_columns_reset(&b->pixels);
    slc_status status = slc_sim_pixels(&how, SLC_PIXEL_CHARGE, &b->pixels, b->error);
    if (status == SLC_OK && config->labels) {
        free(b->labels);
        free(b->same_labels);
        b->labels = calloc(b->pixels.head.size + 1, sizeof *b->labels);
        b->same_labels = calloc(b->pixels.head.size + 1, sizeof *b->same_labels);
        status = b->labels != NULL && b->same_labels != NULL
                     ? SLC_OK
                     : slc_fail(b->error, SLC_ERR_MEMORY, "no memory for the labels");
    }
    if (status == SLC_OK &&
        (slc_columns_reserve(&b->cluster_schema, &b->clusters, b->pixels.head.size, config->images) !=
             SLC_OK ||
         slc_columns_reserve(&b->component_schema, &b->components, largest_image(&b->pixels), 1) != SLC_OK)) {
        status = slc_fail(b->error, SLC_ERR_MEMORY, "no memory for the clusters");
    }
    return status;
}

static slc_status open_all(bench *b, bool shuffled)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < b->config->n_algorithms && status == SLC_OK; i++) {
        contestant *c = &b->contestants[i];
        status = is_dense(c->algorithm) ? open_dense(b, c) : open_sparse(b, c, shuffled);
    }
    return status;
}

/* Labels of lists are the same whoever makes them; those of images may be numbered otherwise. */
static slc_status compare_labels(bench *b, const contestant *c)
{
    const size_t size = b->pixels.head.size * sizeof *b->labels;
    if (!b->config->labels || c->labeller != NULL) {
        return SLC_OK;
    }
    const contestant *first = b->contestants;
    while (first->labeller != NULL) {
        first++;
    }
    if (first == c) {
        memcpy(b->same_labels, b->labels, size);
        return SLC_OK;
    }
    return memcmp(b->same_labels, b->labels, size) == 0
               ? SLC_OK
               : slc_fail(b->error, SLC_ERR_FORMAT, "%s and %s find other labels",
                          slc_bench_cluster_algorithm(c->algorithm),
                          slc_bench_cluster_algorithm(first->algorithm));
}

/* All take turns: whatever disturbs the machine disturbs all. A turn is two calls, of which the second
 * counts: what the one before left in the caches, and what it pushed out of them, does not. */
static slc_status measure(bench *b)
{
    const slc_bench_cluster_config *config = b->config;
    slc_status status = SLC_OK;
    double warm;
    for (size_t i = 0; i < config->n_algorithms && status == SLC_OK; i++) {
        status = call(b, &b->contestants[i], &warm);
        status = status == SLC_OK ? compare_labels(b, &b->contestants[i]) : status;
        if (status == SLC_OK && b->contestants[i].clusters != b->contestants[0].clusters) {
            status = slc_fail(b->error, SLC_ERR_FORMAT, "%s finds %llu clusters, %s finds %llu",
                              slc_bench_cluster_algorithm(b->contestants[i].algorithm),
                              (unsigned long long)b->contestants[i].clusters,
                              slc_bench_cluster_algorithm(b->contestants[0].algorithm),
                              (unsigned long long)b->contestants[0].clusters);
        }
    }
    for (uint32_t r = 0; r < config->repetitions && status == SLC_OK; r++) {
        for (size_t i = 0; i < config->n_algorithms && status == SLC_OK; i++) {
            status = call(b, &b->contestants[i], &warm);
            status = status == SLC_OK ? call(b, &b->contestants[i], &b->contestants[i].seconds[r]) : status;
        }
        b->hertz[r] = slc_bench_hertz();
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return 0.5 * (values[n / 2] + values[(n - 1) / 2]);
}

static slc_status one_set(bench *b, slc_bench_cluster_row *row,
                          bool (*visit)(void *context, const slc_bench_cluster_row *row), void *context)
{
    slc_status status = draw(b, row);
    status = status == SLC_OK ? open_all(b, row->shuffled) : status;
    status = status == SLC_OK ? measure(b) : status;
    close_all(b);
    if (status != SLC_OK) {
        return status;
    }
    row->pixels = b->pixels.head.size;
    row->hertz = median(b->hertz, b->config->repetitions);
    for (size_t i = 0; i < b->config->n_algorithms && status == SLC_OK; i++) {
        contestant *c = &b->contestants[i];
        row->algorithm = c->algorithm;
        row->clusters = c->clusters;
        row->median_s = median(c->seconds, b->config->repetitions);
        row->minimum_s = c->seconds[0];
        status = visit(context, row) ? SLC_OK : SLC_END;
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static slc_status check(const slc_bench_cluster_config *config, slc_error *error)
{
    for (size_t i = 0; i < config->n_algorithms; i++) {
        size_t n = 0;
        while (n <= config->algorithms[i] && slc_bench_cluster_algorithm(n) != NULL) {
            n++;
        }
        if (n <= config->algorithms[i]) {
            return slc_fail(error, SLC_ERR_USAGE, "algorithm %zu: there is none of this number",
                            config->algorithms[i]);
        }
    }
    if (config->n_algorithms == 0 || config->repetitions == 0 || config->images == 0 ||
        (!config->sorted && !config->shuffled)) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    if (config->width == 0 || config->height == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "size %ux%u: nothing to measure", config->width,
                        config->height);
    }
    return SLC_OK;
}

static slc_status prepare(bench *b)
{
    const slc_bench_cluster_config *config = b->config;
    b->cluster_schema = slc_pixel_clusters_schema(config->features, 0, b->cluster_columns);
    b->component_schema = slc_image_components_schema(SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS,
                                                      b->component_columns);
    b->contestants = calloc(config->n_algorithms, sizeof *b->contestants);
    b->seconds = calloc(config->n_algorithms, config->repetitions * sizeof *b->seconds);
    b->hertz = calloc(config->repetitions, sizeof *b->hertz);
    b->image = calloc(config->width, config->height);
    b->label_image = config->labels ? calloc(config->width, config->height * sizeof *b->label_image) : NULL;
    if ((config->labels && b->label_image == NULL) || b->contestants == NULL || b->seconds == NULL ||
        b->hertz == NULL || b->image == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    for (size_t i = 0; i < config->n_algorithms; i++) {
        b->contestants[i].algorithm = config->algorithms[i];
        b->contestants[i].seconds = b->seconds + i * config->repetitions;
    }
    return SLC_OK;
}

static void clear(bench *b)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema pixel_schema = slc_pixels_schema(SLC_PIXEL_CHARGE, columns);
    slc_columns_clear(&pixel_schema, &b->pixels);
    slc_columns_clear(&b->cluster_schema, &b->clusters);
    slc_columns_clear(&b->component_schema, &b->components);
    free(b->contestants);
    free(b->seconds);
    free(b->hertz);
    free(b->image);
    free(b->label_image);
    free(b->labels);
    free(b->same_labels);
}

slc_status slc_bench_cluster_bench(const slc_bench_cluster_config *config,
                                   bool (*visit)(void *context, const slc_bench_cluster_row *row),
                                   void *context, slc_error *error)
{
    bench b = {.config = config, .error = error};
    slc_status status = check(config, error);
    if (status != SLC_OK) {
        return status;
    }
    status = prepare(&b);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        for (size_t g = 0; g < config->n_granularities && (shuffled ? config->shuffled : config->sorted);
             g++) {
            for (size_t d = 0; d < config->n_densities && status == SLC_OK; d++) {
                slc_bench_cluster_row row = {.shuffled = shuffled != 0,
                                             .granularity = config->granularities[g],
                                             .density = config->densities[d]};
                status = one_set(&b, &row, visit, context);
            }
        }
    }
    clear(&b);
    return status;
}
