/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures clustering of sparse pixels. One call clusters many images, as a caller who has the modules of a
 * detector would, so that caches hold what they hold in use and clocks are read seldom.
 */
#include "bench/bench_cluster.h"
#include <sluice/image_label.h>
#include <sluice/sim.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench;

/* One algorithm: a clusterer, or for "dense" a labeller and its image. */
typedef struct subject {
    struct bench *b;
    size_t algorithm;
    slc_pixel_clusterer *clusterer;
    slc_image_labeller *labeller;
    uint64_t clusters;
} subject;

typedef struct bench {
    const slc_bench_cluster_config *config;
    subject *subjects;
    slc_bench_contestant *contestants;
    bool shuffled; /* the lists at hand */
    slc_pixels pixels;
    slc_column cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS], component_columns[SLC_IMAGE_COLUMNS];
    slc_schema cluster_schema, component_schema;
    slc_pixel_clusters clusters;
    slc_image_components components;
    uint8_t *image;
    uint32_t *label_image;          /* NULL if no labels are wanted */
    uint32_t *labels, *same_labels; /* of the lists; the first one's, that all must find */
    slc_bench_rows *rows;
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

/* The image is empty before, and again after, each of the list's: cleared by walking the list. */
static slc_status label_dense(subject *c, slc_error *error)
{
    bench *b = c->b;
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
        status = slc_image_label_run(c->labeller, &image, NULL, &out, NULL, error);
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

static slc_status run(void *self, double *seconds, slc_error *error)
{
    subject *c = self;
    bench *b = c->b;
    slc_status status;
    const double began = slc_clock_seconds();
    if (c->labeller != NULL) {
        status = label_dense(c, error);
    } else {
        status = slc_pixel_cluster_run(c->clusterer, &b->pixels, b->labels, &b->clusters, error);
        c->clusters = b->clusters.head.size;
    }
    seconds[0] = slc_clock_seconds() - began;
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

static slc_status open_dense(bench *b, subject *c)
{
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    how.connectivity = b->config->connectivity;
    how.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS;
    how.exec.target = b->config->target;
    slc_status status = slc_image_label_open(&how, &c->labeller, b->error);
    return status == SLC_OK
               ? slc_image_label_reserve(c->labeller, b->config->width, b->config->height, b->error)
               : status;
}

static slc_status open_sparse(bench *b, subject *c)
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
    how.order = b->shuffled ? SLC_PIXEL_ORDER_ANY : SLC_PIXEL_ORDER_RASTER;
    how.exec.target = config->target;
    const slc_status status = slc_pixel_cluster_open(&how, &c->clusterer, b->error);
    return status == SLC_OK
               ? slc_pixel_cluster_reserve(c->clusterer, largest_image(&b->pixels), config->images, b->error)
               : status;
}

static slc_status prepare(void *self, slc_error *error)
{
    subject *c = self;
    (void)error; /* that of the benchmark */
    return is_dense(c->algorithm) ? open_dense(c->b, c) : open_sparse(c->b, c);
}

static void clear(void *self)
{
    subject *c = self;
    slc_pixel_cluster_close(c->clusterer);
    slc_image_label_close(c->labeller);
    c->clusterer = NULL;
    c->labeller = NULL;
}

/* Labels of lists are the same whoever makes them; those of images may be numbered otherwise. */
static slc_status verify(void *self, slc_error *error)
{
    const subject *c = self;
    bench *b = c->b;
    const subject *first = b->subjects;
    const size_t size = b->pixels.head.size * sizeof *b->labels;
    if (c->clusters != first->clusters) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s finds %llu clusters, %s finds %llu",
                        slc_bench_cluster_algorithm(c->algorithm), (unsigned long long)c->clusters,
                        slc_bench_cluster_algorithm(first->algorithm), (unsigned long long)first->clusters);
    }
    if (!b->config->labels || c->labeller != NULL) {
        return SLC_OK;
    }
    while (is_dense(first->algorithm)) {
        first++;
    }
    if (first == c) {
        memcpy(b->same_labels, b->labels, size);
    }
    return memcmp(b->same_labels, b->labels, size) == 0
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "%s and %s find other labels",
                          slc_bench_cluster_algorithm(c->algorithm),
                          slc_bench_cluster_algorithm(first->algorithm));
}

/* ---- images ------------------------------------------------------------------------------------ */

static slc_status draw(bench *b, uint32_t granularity, double density)
{
    const slc_bench_cluster_config *config = b->config;
    const slc_sim_pixels_config how = {.seed = config->seed,
                                       .width = config->width,
                                       .height = config->height,
                                       .density = density,
                                       .granularity = granularity,
                                       .images = config->images,
                                       .shuffled = b->shuffled};
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

/* ---- rows -------------------------------------------------------------------------------------- */

enum {
    ORDER = 0,
    GRANULARITY,
    DENSITY,
    ALGORITHM,
    IMAGES,
    PIXELS,
    CLUSTERS,
    MINIMUM,
    MEDIAN,
    HERTZ,
    CYCLES,
    US,
    PANEL,
    EACH,
    COLUMNS
};

static const slc_bench_column columns[COLUMNS] = {
    {"order", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"density_percent", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 10},
    {"algorithm", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"images", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"pixels", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"clusters", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"core_hz", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"cycles_per_pixel", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"us_per_image", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"panel", SLC_BENCH_TEXT, 0, 0},
    {"pixels_per_image", SLC_BENCH_NUMBER, 0, 0},
};

static void add_row(const bench *b, const subject *c, const slc_bench_contestant *measured,
                    uint32_t granularity, double density)
{
    slc_bench_cell *row = slc_bench_add(b->rows);
    const double images = b->config->images, pixels = (double)b->pixels.head.size;
    const slc_bench_time *time = &measured->time[0];
    row[ORDER] = slc_bench_text(b->shuffled ? "shuffled" : "sorted");
    row[GRANULARITY] = slc_bench_count(granularity);
    row[DENSITY] = slc_bench_number(100 * density);
    row[ALGORITHM] = slc_bench_text(slc_bench_cluster_algorithm(c->algorithm));
    row[IMAGES] = slc_bench_count(b->config->images);
    row[PIXELS] = slc_bench_count(b->pixels.head.size);
    row[CLUSTERS] = slc_bench_count(c->clusters);
    row[MINIMUM] = slc_bench_number(time->minimum);
    row[MEDIAN] = slc_bench_number(time->median);
    row[HERTZ] = slc_bench_number(measured->hertz);
    row[CYCLES] = slc_bench_number(pixels > 0 ? time->minimum * measured->hertz / pixels : 0);
    row[US] = slc_bench_number(1e6 * time->minimum / images);
    row[PANEL] = slc_bench_text(b->shuffled ? "shuffled" : "ordered");
    row[EACH] = slc_bench_number(pixels / images);
}

/* A line for each set of images, a column for each algorithm. */
static void print_table(const bench *b, FILE *out)
{
    const slc_bench_cluster_config *config = b->config;
    (void)fprintf(
        out, "cycles per active pixel for %s, from the fastest of %" PRIu32 " calls of %" PRIu32 " images\n",
        config->labels ? "labels and features" : "features", config->repetitions, config->images);
    (void)fprintf(out, "%-8s %3s %8s %10s", "lists", "g", "density", "pixels");
    for (size_t k = 0; k < config->n_algorithms; k++) {
        (void)fprintf(out, " %11s", slc_bench_cluster_algorithm(config->algorithms[k]));
    }
    (void)fprintf(out, "\n");
    for (size_t i = 0; config->n_algorithms > 0 && i < b->rows->n && !b->rows->failed; i++) {
        const size_t place = i % config->n_algorithms;
        if (place == 0) {
            slc_bench_print(out, b->rows, i,
                            "{order:-8} {granularity:3} {density_percent:6.3g} % {pixels_per_image:10.1f}");
        }
        slc_bench_print(out, b->rows, i,
                        place + 1 < config->n_algorithms ? " {cycles_per_pixel:11.2f}"
                                                         : " {cycles_per_pixel:11.2f}\n");
    }
}

/* ---- one set of images ------------------------------------------------------------------------- */

/* All take turns: whatever disturbs the machine disturbs all. A turn is two calls, of which the second
 * counts: what the one before left in the caches, and what it pushed out of them, does not. */
static slc_status one_set(bench *b, uint32_t granularity, double density, const slc_bench_watch *watch)
{
    const slc_bench_cluster_config *config = b->config;
    const slc_bench_plan plan = {.repetitions = config->repetitions, .warm = true, .watch = watch};
    slc_status status = draw(b, granularity, density);
    status = status == SLC_OK ? slc_bench_measure(&plan, b->contestants, config->n_algorithms, b->error)
                              : status;
    for (size_t i = 0; i < config->n_algorithms && status == SLC_OK; i++) {
        add_row(b, &b->subjects[i], &b->contestants[i], granularity, density);
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

static slc_status open_bench(bench *b)
{
    const slc_bench_cluster_config *config = b->config;
    b->cluster_schema = slc_pixel_clusters_schema(config->features, 0, b->cluster_columns);
    b->component_schema = slc_image_components_schema(SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS,
                                                      b->component_columns);
    b->subjects = calloc(config->n_algorithms, sizeof *b->subjects);
    b->contestants = calloc(config->n_algorithms, sizeof *b->contestants);
    b->image = calloc(config->width, config->height);
    b->label_image = config->labels ? calloc(config->width, config->height * sizeof *b->label_image) : NULL;
    if ((config->labels && b->label_image == NULL) || b->subjects == NULL || b->contestants == NULL ||
        b->image == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    for (size_t i = 0; i < config->n_algorithms; i++) {
        b->subjects[i] = (subject){.b = b, .algorithm = config->algorithms[i]};
        b->contestants[i] = (slc_bench_contestant){
            .self = &b->subjects[i], .prepare = prepare, .run = run, .verify = verify, .clear = clear};
    }
    return SLC_OK;
}

static void close_bench(bench *b)
{
    slc_column pixel_columns[SLC_PIXEL_COLUMNS];
    const slc_schema pixel_schema = slc_pixels_schema(SLC_PIXEL_CHARGE, pixel_columns);
    slc_columns_clear(&pixel_schema, &b->pixels);
    slc_columns_clear(&b->cluster_schema, &b->clusters);
    slc_columns_clear(&b->component_schema, &b->components);
    free(b->subjects);
    free(b->contestants);
    free(b->image);
    free(b->label_image);
    free(b->labels);
    free(b->same_labels);
}

static slc_status all_sets(bench *b, const slc_bench_watch *watch)
{
    const slc_bench_cluster_config *config = b->config;
    const size_t sets = config->n_granularities * config->n_densities;
    const size_t rows = ((size_t)config->sorted + config->shuffled) * sets * config->n_algorithms;
    slc_status status = SLC_OK;
    for (int shuffled = config->sorted ? 0 : 1; shuffled < (config->shuffled ? 2 : 1); shuffled++) {
        for (size_t i = 0; i < sets && status == SLC_OK; i++) {
            b->shuffled = shuffled != 0;
            status = one_set(b, config->granularities[i / config->n_densities],
                             config->densities[i % config->n_densities], watch);
            if (status == SLC_OK && !slc_bench_goes_on(watch, b->rows->n, rows)) {
                status = SLC_END;
            }
        }
    }
    return status;
}

slc_status slc_bench_cluster(const void *configuration, const slc_bench_watch *watch,
                             slc_bench_report *report, slc_error *error)
{
    bench b = {.config = configuration, .rows = &report->sets[0], .error = error};
    *b.rows = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    slc_status status = check(b.config, error);
    if (status != SLC_OK) {
        return status;
    }
    status = open_bench(&b);
    status = status == SLC_OK ? all_sets(&b, watch) : status;
    if (status == SLC_OK) {
        print_table(&b, report->table);
        report->figures[report->n_figures++] = (slc_bench_figure){
            .rows = b.rows,
            .panel = "order,granularity",
            .curve = "algorithm",
            .title = "{panel} lists, granularity {granularity}",
            .legend = "{algorithm}",
            .x = {"density_percent", "density [%]", SLC_BENCH_FROM_ZERO},
            .y = {"cycles_per_pixel", "cycles per active pixel", SLC_BENCH_DECADES}};
    }
    close_bench(&b);
    return status;
}
