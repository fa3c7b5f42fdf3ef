/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the kernels of labelling on a GPU. The algorithms take turns on each image; each is opened afresh
 * for its turn, so that the device's memory is that of one of them however many are compared. The image lies
 * in page-locked memory, from where it is on the device in no time.
 */
#include "bench/bench_label_cuda.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"
#include "image/cuda/image_cuda_engine.h"

#include <sluice/cuda.h>
#include <sluice/image_label.h>
#include <sluice/sim.h>

#include <stdlib.h>
#include <string.h>

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cuda_stream_calls *cuda(void)
{
    return slc_cuda_engines_of(NULL)->stream;
}

static const struct slc_image_cuda_calls *image(void)
{
    return slc_cuda_engines_of(NULL)->image;
}

enum { FIRST_RUNS = 2 /* at least */ };

typedef struct bench {
    const slc_bench_label_cuda_config *config;
    double *seconds; /* of each run */
    uint8_t *pixels;
    bool pinned;
    slc_image image;
    slc_bench_label_cuda_row *rows; /* one for each algorithm */
    size_t n_rows;
    double *guess; /* seconds of a run of each algorithm, from the image before; 0: not known */
    slc_error *error;
} bench;

/* ---- what is shared with the streams ----------------------------------------------------------- */

slc_status slc_bench_label_cuda_check(const slc_bench_label_cuda_config *config, slc_error *error)
{
    uint32_t device;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        if (slc_image_cuda_algorithm_name(config->algorithms[i]) == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "algorithm %zu of GPUs: there is none of this number",
                            config->algorithms[i]);
        }
    }
    for (size_t i = 0; i < config->n_sizes; i++) {
        if (config->sizes[i] < 1 || config->sizes[i] > 65536) {
            return slc_fail(error, SLC_ERR_USAGE, "size %zu is not from 1 to 65536", config->sizes[i]);
        }
    }
    if (config->n_algorithms == 0 || config->n_sizes == 0 || config->n_granularities == 0 ||
        config->n_densities == 0 || config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    if (!config->labels && config->features == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "neither labels nor features: nothing to make");
    }
    return slc_cuda_choose(config->device, &device, error);
}

bool slc_bench_label_cuda_can(const slc_bench_label_cuda_config *config, size_t algorithm)
{
    return (!config->labels || slc_image_cuda_algorithm_labels(algorithm)) &&
           (config->features == 0 || slc_image_cuda_algorithm_features(algorithm));
}

slc_image_label_config slc_bench_label_cuda_how(const slc_bench_label_cuda_config *config, size_t algorithm)
{
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    how.algorithm = slc_image_cuda_algorithm_name(algorithm);
    how.connectivity = config->connectivity;
    how.features = config->features;
    how.device = config->device;
    return how;
}

slc_status slc_bench_label_cuda_draw(const slc_bench_label_cuda_config *config, size_t size,
                                     uint32_t granularity, double density, uint8_t *pixels, slc_image *image,
                                     slc_error *error)
{
    const slc_sim_image_config sim = {
        .seed = config->seed, .width = size, .height = size, .density = density, .granularity = granularity};
    *image = (slc_image){
        .pixels = pixels, .width = size, .height = size, .stride = (ptrdiff_t)size, .type = SLC_IMAGE_U8};
    return slc_sim_image(&sim, 255, pixels, (ptrdiff_t)size, error);
}

/* ---- one algorithm on one image ---------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static slc_status time_runs(bench *b, slc_image_labeller *labeller, uint32_t runs,
                            slc_bench_label_cuda_row *row)
{
    slc_image_cuda_timing timing = {.repetitions = runs,
                                    .flush_bytes = b->config->flush_bytes,
                                    .labels = b->config->labels,
                                    .raw = b->config->raw,
                                    .seconds = b->seconds};
    const slc_status status = image()->time(slc_image_label_cuda(labeller), &b->image, &timing, b->error);
    if (status == SLC_OK) {
        qsort(b->seconds, runs, sizeof *b->seconds, by_value);
        row->repetitions = runs;
        row->minimum_s = b->seconds[0];
        row->median_s = 0.5 * (b->seconds[runs / 2] + b->seconds[(runs - 1) / 2]);
        row->components = timing.n_labels;
        row->launches = timing.launches;
    }
    return status;
}

/* As many runs as fit into the time. The image before tells how long one takes, or a few runs. */
static slc_status turn(bench *b, slc_image_labeller *labeller, double *guess, slc_bench_label_cuda_row *row)
{
    const uint32_t most = b->config->repetitions, least = most < FIRST_RUNS ? most : FIRST_RUNS;
    slc_status status = SLC_OK;
    if (*guess == 0) {
        status = time_runs(b, labeller, least, row);
        *guess = row->minimum_s;
    }
    const double fit = *guess > 0 ? b->config->seconds / *guess : (double)most;
    const uint32_t wanted = fit >= (double)most ? most : (uint32_t)fit;
    if (status == SLC_OK && (wanted > least || row->repetitions == 0)) {
        status = time_runs(b, labeller, wanted > least ? wanted : least, row);
    }
    *guess = row->median_s;
    return status;
}

/* Adds a row, unless the algorithm cannot do such an image. */
static slc_status enter(bench *b, size_t number, const slc_bench_label_cuda_row *of)
{
    const size_t algorithm = b->config->algorithms[number];
    const slc_image_label_config how = slc_bench_label_cuda_how(b->config, algorithm);
    slc_bench_label_cuda_row *row = &b->rows[b->n_rows];
    slc_image_labeller *labeller = NULL;
    *row = *of;
    row->algorithm = algorithm;
    slc_status status = slc_image_label_open(&how, &labeller, b->error);
    if (status == SLC_OK) {
        status = slc_image_label_reserve(labeller, b->image.width, b->image.height, b->error);
    }
    status = status == SLC_OK ? turn(b, labeller, &b->guess[number], row) : status;
    slc_image_label_close(labeller);
    b->n_rows += status == SLC_OK;
    return status == SLC_ERR_UNSUPPORTED ? SLC_OK : status;
}

/* ---- one image --------------------------------------------------------------------------------- */

static slc_status compare_counts(const bench *b)
{
    for (size_t i = 1; i < b->n_rows && !b->config->raw; i++) {
        const slc_bench_label_cuda_row *row = &b->rows[i], *first = &b->rows[0];
        if (row->components != first->components) {
            return slc_fail(b->error, SLC_ERR_FORMAT,
                            "%zu x %zu pixels, granularity %u, density %g: %s finds %u components, %s %u",
                            row->size, row->size, (unsigned)row->granularity, row->density,
                            slc_image_cuda_algorithm_name(row->algorithm), (unsigned)row->components,
                            slc_image_cuda_algorithm_name(first->algorithm), (unsigned)first->components);
        }
    }
    return SLC_OK;
}

static slc_status one_image(bench *b, const slc_bench_label_cuda_row *of,
                            bool (*visit)(void *context, const slc_bench_label_cuda_row *row), void *context)
{
    slc_status status = slc_bench_label_cuda_draw(b->config, of->size, of->granularity, of->density,
                                                  b->pixels, &b->image, b->error);
    b->n_rows = 0;
    for (size_t i = 0; i < b->config->n_algorithms && status == SLC_OK; i++) {
        if (slc_bench_label_cuda_can(b->config, b->config->algorithms[i])) {
            status = enter(b, i, of);
        }
    }
    status = status == SLC_OK ? compare_counts(b) : status;
    for (size_t i = 0; i < b->n_rows && status == SLC_OK; i++) {
        status = visit(context, &b->rows[i]) ? SLC_OK : SLC_END;
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static slc_status prepare(bench *b)
{
    const slc_bench_label_cuda_config *config = b->config;
    slc_error ignored;
    size_t largest = 1;
    for (size_t i = 0; i < config->n_sizes; i++) {
        largest = config->sizes[i] > largest ? config->sizes[i] : largest;
    }
    b->seconds = calloc(config->repetitions, sizeof *b->seconds);
    b->rows = calloc(config->n_algorithms, sizeof *b->rows);
    b->guess = calloc(config->n_algorithms, sizeof *b->guess);
    b->pixels = malloc(largest * largest);
    if (b->seconds == NULL || b->rows == NULL || b->guess == NULL || b->pixels == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for images of %zu x %zu pixels", largest,
                        largest);
    }
    /* Where memory cannot be locked, copies are slower, and nothing else changes. */
    b->pinned = cuda()->pin(b->pixels, largest * largest, &ignored) == SLC_OK;
    return SLC_OK;
}

static slc_status all_images(bench *b, bool (*visit)(void *context, const slc_bench_label_cuda_row *row),
                             void *context)
{
    const slc_bench_label_cuda_config *config = b->config;
    slc_status status = SLC_OK;
    for (size_t s = 0; s < config->n_sizes && status == SLC_OK; s++) {
        memset(b->guess, 0, config->n_algorithms * sizeof *b->guess);
        for (size_t g = 0; g < config->n_granularities && status == SLC_OK; g++) {
            for (size_t d = 0; d < config->n_densities && status == SLC_OK; d++) {
                const slc_bench_label_cuda_row of = {.size = config->sizes[s],
                                                     .granularity = config->granularities[g],
                                                     .density = config->densities[d]};
                status = one_image(b, &of, visit, context);
            }
        }
    }
    return status;
}

slc_status slc_bench_label_cuda_bench(const slc_bench_label_cuda_config *config,
                                      bool (*visit)(void *context, const slc_bench_label_cuda_row *row),
                                      void *context, slc_error *error)
{
    bench b = {.config = config, .error = error};
    slc_status status = slc_bench_label_cuda_check(config, error);
    status = status == SLC_OK ? prepare(&b) : status;
    status = status == SLC_OK ? all_images(&b, visit, context) : status;
    if (b.pinned) {
        cuda()->unpin(b.pixels);
    }
    free(b.pixels);
    free(b.rows);
    free(b.guess);
    free(b.seconds);
    return status;
}
