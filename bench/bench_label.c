/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness that measures labelling. Algorithms take turns on each image; each is opened afresh for its
 * turn, so that memory is that of one of them however many are compared.
 */
#include "bench/bench_label.h"
#include <sluice/sim.h>

#include <stdlib.h>

enum { ROUNDS = 3, CLOCKS = 3 /* in a round */ };

/* One algorithm on one target. */
typedef struct contestant {
    size_t algorithm;
    slc_simd_target target;
    uint32_t wanted, done; /* calls */
    size_t n_hertz;
    double hertz[ROUNDS * CLOCKS];
    double *seconds; /* of each call */
    uint32_t components;
    bool unsupported;
} contestant;

typedef struct bench {
    const slc_bench_label_config *config;
    contestant *contestants;
    size_t n_contestants;
    double *seconds; /* the samples of all */
    uint8_t *pixels;
    uint32_t *labels; /* NULL where no label image is made */
    slc_image image;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components components;
    slc_error *error;
} bench;

/* ---- the clock --------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return 0.5 * (values[n / 2] + values[(n - 1) / 2]);
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* One call; SLC_ERR_CAPACITY makes room for the components and tries again, outside of the time. */
static slc_status call(bench *b, slc_image_labeller *labeller, contestant *c, double *seconds)
{
    slc_image_labels out = {.labels = b->labels,
                            .stride = (ptrdiff_t)(b->image.width * sizeof(uint32_t)),
                            .type = SLC_TYPE_U32,
                            .components = b->config->features != 0 ? &b->components : NULL};
    slc_status status;
    do {
        slc_columns_reset(&b->components);
        const double begin = slc_clock_seconds();
        status = slc_image_label_run(labeller, &b->image, NULL, &out, NULL, b->error);
        *seconds = slc_clock_seconds() - begin;
    } while (status == SLC_ERR_CAPACITY && out.components != NULL &&
             b->components.head.capacity < out.n_labels &&
             slc_columns_reserve(&b->schema, &b->components, out.n_labels, 1) == SLC_OK);
    c->components = out.n_labels;
    return status;
}

/* As many as fit into the time. */
static void plan(const bench *b, contestant *c, double warm)
{
    const double fit = warm > 0 ? b->config->seconds / warm : (double)b->config->repetitions;
    c->wanted = fit < 1 ? 1 : fit >= (double)b->config->repetitions ? b->config->repetitions : (uint32_t)fit;
}

static slc_status turn(bench *b, slc_image_labeller *labeller, contestant *c, int round)
{
    double warm = 0;
    slc_status status = call(b, labeller, c, &warm);
    if (status == SLC_OK && round == 0) {
        plan(b, c, warm);
    }
    const uint32_t until = (uint32_t)((uint64_t)c->wanted * (uint64_t)(round + 1) / ROUNDS);
    /* A slow one is called once in all; the last round makes good for what rounding left. */
    if (status == SLC_OK && c->wanted == 1 && round == 0) {
        c->seconds[c->done++] = warm;
    }
    while (status == SLC_OK && c->done < until) {
        status = call(b, labeller, c, &c->seconds[c->done]);
        c->done += status == SLC_OK;
    }
    for (int i = 0; i < CLOCKS && status == SLC_OK; i++) {
        c->hertz[c->n_hertz++] = slc_bench_hertz();
    }
    return status;
}

static slc_status enter(bench *b, contestant *c, int round)
{
    const slc_bench_label_config *config = b->config;
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    how.algorithm = slc_image_algorithm_name(c->algorithm);
    how.connectivity = config->connectivity;
    how.features = config->features;
    how.threads = config->threads;
    how.target = c->target;
    slc_image_labeller *labeller = NULL;
    slc_status status = slc_image_label_open(&how, &labeller, b->error);
    if (status == SLC_OK) {
        status = slc_image_label_reserve(labeller, b->image.width, b->image.height, b->error);
    }
    if (status == SLC_OK) {
        status = turn(b, labeller, c, round);
    }
    slc_image_label_close(labeller);
    if (status == SLC_ERR_UNSUPPORTED) {
        c->unsupported = true;
        return SLC_OK;
    }
    return status;
}

/* ---- one image --------------------------------------------------------------------------------- */

static slc_status draw(bench *b, size_t size, uint32_t granularity, double density)
{
    const slc_sim_image_config config = {.seed = b->config->seed,
                                         .width = size,
                                         .height = size,
                                         .density = density,
                                         .granularity = granularity};
    b->image = (slc_image){
        .pixels = b->pixels, .width = size, .height = size, .stride = (ptrdiff_t)size, .type = SLC_IMAGE_U8};
    return slc_sim_image(&config, 255, b->pixels, (ptrdiff_t)size, b->error);
}

static slc_status compare_counts(const bench *b)
{
    const contestant *first = NULL;
    for (size_t i = 0; i < b->n_contestants; i++) {
        const contestant *c = &b->contestants[i];
        if (c->unsupported) {
            continue;
        }
        if (first == NULL) {
            first = c;
        } else if (c->components != first->components) {
            return slc_fail(b->error, SLC_ERR_FORMAT, "%s on %s finds %u components, %s on %s finds %u",
                            slc_image_algorithm_name(c->algorithm), slc_simd_name(c->target),
                            (unsigned)c->components, slc_image_algorithm_name(first->algorithm),
                            slc_simd_name(first->target), (unsigned)first->components);
        }
    }
    return SLC_OK;
}

static slc_status one_image(bench *b, slc_bench_label_row *row,
                            bool (*visit)(void *context, const slc_bench_label_row *row), void *context)
{
    slc_status status = draw(b, row->size, row->granularity, row->density);
    for (size_t i = 0; i < b->n_contestants; i++) {
        contestant *c = &b->contestants[i];
        c->wanted = c->done = 0;
        c->n_hertz = 0;
        c->unsupported = false;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < b->n_contestants && status == SLC_OK; i++) {
            contestant *c = &b->contestants[i];
            if (!c->unsupported && (round == 0 || c->done < c->wanted)) {
                status = enter(b, c, round);
            }
        }
    }
    if (status == SLC_OK) {
        status = compare_counts(b);
    }
    for (size_t i = 0; i < b->n_contestants && status == SLC_OK; i++) {
        contestant *c = &b->contestants[i];
        if (c->unsupported) {
            continue;
        }
        row->algorithm = c->algorithm;
        row->target = c->target;
        row->components = c->components;
        row->repetitions = c->done;
        row->median_s = median(c->seconds, c->done);
        row->minimum_s = c->seconds[0];
        row->hertz = median(c->hertz, c->n_hertz);
        status = visit(context, row) ? SLC_OK : SLC_END;
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static slc_status check(const slc_bench_label_config *config, slc_error *error)
{
    for (size_t i = 0; i < config->n_algorithms; i++) {
        if (slc_image_algorithm_name(config->algorithms[i]) == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "algorithm %zu: there is none of this number",
                            config->algorithms[i]);
        }
    }
    for (size_t i = 0; i < config->n_targets; i++) {
        if (config->targets[i] != SLC_SIMD_AUTO && !slc_simd_runs(config->targets[i])) {
            return slc_fail(error, SLC_ERR_USAGE, "instruction set %s does not run here",
                            slc_simd_name(config->targets[i]));
        }
    }
    for (size_t i = 0; i < config->n_sizes; i++) {
        if (config->sizes[i] < 1 || config->sizes[i] > 1U << 20) {
            return slc_fail(error, SLC_ERR_USAGE, "size %zu is not from 1 to 1048576", config->sizes[i]);
        }
    }
    if (config->n_algorithms == 0 || config->n_targets == 0 || config->n_sizes == 0 ||
        config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    if (!config->labels && config->features == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "neither labels nor features: nothing to make");
    }
    return SLC_OK;
}

static slc_status prepare(bench *b)
{
    const slc_bench_label_config *config = b->config;
    size_t largest = 1;
    for (size_t i = 0; i < config->n_sizes; i++) {
        largest = config->sizes[i] > largest ? config->sizes[i] : largest;
    }
    for (size_t i = 0; i < config->n_algorithms; i++) {
        b->n_contestants += slc_image_algorithm_simd(config->algorithms[i]) ? config->n_targets : 1;
    }
    if (b->n_contestants == 0) {
        return slc_fail(b->error, SLC_ERR_USAGE, "nothing to measure");
    }
    b->contestants = calloc(b->n_contestants, sizeof *b->contestants);
    b->seconds = calloc(b->n_contestants, config->repetitions * sizeof *b->seconds);
    b->pixels = malloc(largest * largest);
    b->labels = config->labels ? malloc(largest * largest * sizeof *b->labels) : NULL;
    b->schema = slc_image_components_schema(config->features, b->columns);
    if (b->contestants == NULL || b->seconds == NULL || b->pixels == NULL ||
        (config->labels && b->labels == NULL) ||
        (config->features != 0 && slc_columns_reserve(&b->schema, &b->components, 1, 1) != SLC_OK)) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for images of %zux%zu pixels", largest, largest);
    }
    contestant *c = b->contestants;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        const bool simd = slc_image_algorithm_simd(config->algorithms[i]);
        for (size_t k = 0; k < (simd ? config->n_targets : 1); k++, c++) {
            c->algorithm = config->algorithms[i];
            c->target = simd ? config->targets[k] : SLC_SIMD_C;
            c->seconds = b->seconds + (size_t)(c - b->contestants) * config->repetitions;
        }
    }
    return SLC_OK;
}

slc_status slc_bench_label_bench(const slc_bench_label_config *config,
                                 bool (*visit)(void *context, const slc_bench_label_row *row), void *context,
                                 slc_error *error)
{
    bench b = {.config = config, .error = error};
    slc_status status = check(config, error);
    if (status == SLC_OK) {
        status = prepare(&b);
    }
    for (size_t s = 0; s < config->n_sizes; s++) {
        for (size_t g = 0; g < config->n_granularities; g++) {
            for (size_t d = 0; d < config->n_densities && status == SLC_OK; d++) {
                slc_bench_label_row row = {.size = config->sizes[s],
                                           .granularity = config->granularities[g],
                                           .density = config->densities[d]};
                status = one_image(&b, &row, visit, context);
            }
        }
    }
    if (b.schema.n_columns > 0) {
        slc_columns_clear(&b.schema, &b.components);
    }
    free(b.contestants);
    free(b.seconds);
    free(b.pixels);
    free(b.labels);
    return status;
}

/* ---- averages ---------------------------------------------------------------------------------- */

static slc_bench_label_average *average_of(slc_bench_label_average *averages, size_t n,
                                           const slc_bench_label_row *row)
{
    for (size_t i = 0; i < n; i++) {
        slc_bench_label_average *a = &averages[i];
        if (a->size == row->size && a->algorithm == row->algorithm && a->target == row->target &&
            a->granularity == row->granularity) {
            return a;
        }
    }
    return NULL;
}

size_t slc_bench_label_averages(const slc_bench_label_row *rows, size_t n, slc_bench_label_average *averages,
                                size_t room)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const slc_bench_label_row *row = &rows[i];
        slc_bench_label_average *a = average_of(averages, found < room ? found : room, row);
        if (a == NULL) {
            if (found == room) {
                break;
            }
            a = &averages[found++];
            *a = (slc_bench_label_average){.size = row->size,
                                           .algorithm = row->algorithm,
                                           .target = row->target,
                                           .granularity = row->granularity};
        }
        const double pixels = (double)row->size * (double)row->size;
        const double cycles = row->minimum_s * row->hertz;
        a->densities++;
        a->pixels += pixels;
        a->seconds += row->minimum_s;
        a->median_seconds += row->median_s;
        a->cycles += cycles;
        if (cycles / pixels > a->worst_cycles) {
            a->worst_cycles = cycles / pixels;
            a->worst_density = row->density;
        }
    }
    return found;
}
