/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures labelling: images of all sizes, granularities and densities, each of them labelled by all
 * algorithms on all targets, and what the rows come to. On a GPU the image lies in page-locked memory, from
 * where it is on the device in no time.
 */
#include "bench/bench_label.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"
#include "image/cuda/image_cuda_engine.h"
#include <sluice/cuda.h>
#include <sluice/sim.h>

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, LARGEST = 1 << 20, LARGEST_CUDA = 65536 };

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cuda_engines *cuda(void)
{
    return slc_cuda_engines_of(NULL);
}

/* An algorithm on a target, and the image that is at hand. */
typedef struct subject {
    const slc_bench_label_config *config;
    const slc_image *image;
    size_t algorithm;
    slc_simd_target target;
    slc_image_labeller *labeller;
    uint32_t *labels; /* of the processor; NULL if no label image is made */
    const slc_schema *schema;
    slc_image_components *components;
    uint32_t found, launches; /* found: components */
} subject;

typedef struct bench {
    const slc_bench_label_config *config;
    subject *subjects;
    slc_bench_contestant *contestants;
    size_t n;
    uint8_t *pixels;
    bool pinned;
    uint32_t *labels;
    slc_image image;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components components;
    slc_error *error;
} bench;

/* ---- what is measured -------------------------------------------------------------------------- */

const char *slc_bench_label_algorithm(const slc_bench_label_config *config, size_t algorithm)
{
    return config->device != NULL ? slc_image_cuda_algorithm_name(algorithm)
                                  : slc_image_algorithm_name(algorithm);
}

bool slc_bench_label_can(const slc_bench_label_config *config, size_t algorithm)
{
    return config->device == NULL ||
           ((!config->labels || slc_image_cuda_algorithm_labels(algorithm)) &&
            (config->features == 0 || slc_image_cuda_algorithm_features(algorithm)));
}

slc_image_label_config slc_bench_label_how(const slc_bench_label_config *config, size_t algorithm,
                                           slc_simd_target target)
{
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    how.algorithm = slc_bench_label_algorithm(config, algorithm);
    how.connectivity = config->connectivity;
    how.features = config->features;
    if (config->device != NULL) {
        how.exec.device = config->device;
    } else {
        how.exec.threads = config->threads;
        how.exec.target = target;
    }
    return how;
}

slc_status slc_bench_label_draw(const slc_bench_label_config *config, size_t size, uint32_t granularity,
                                double density, uint8_t *pixels, slc_image *image, slc_error *error)
{
    const slc_sim_image_config sim = {
        .seed = config->seed, .width = size, .height = size, .density = density, .granularity = granularity};
    *image = (slc_image){
        .pixels = pixels, .width = size, .height = size, .stride = (ptrdiff_t)size, .type = SLC_IMAGE_U8};
    return slc_sim_image(&sim, 255, pixels, (ptrdiff_t)size, error);
}

slc_status slc_bench_label_check(const slc_bench_label_config *config, slc_error *error)
{
    const bool gpu = config->device != NULL;
    const size_t largest = gpu ? LARGEST_CUDA : LARGEST;
    uint32_t device;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        if (slc_bench_label_algorithm(config, config->algorithms[i]) == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "algorithm %zu%s: there is none of this number",
                            config->algorithms[i], gpu ? " of GPUs" : "");
        }
    }
    for (size_t i = 0; i < config->n_targets; i++) {
        if (config->targets[i] != SLC_SIMD_AUTO && !slc_simd_runs(config->targets[i])) {
            return slc_fail(error, SLC_ERR_USAGE, "instruction set %s does not run here",
                            slc_simd_name(config->targets[i]));
        }
    }
    for (size_t i = 0; i < config->n_sizes; i++) {
        if (config->sizes[i] < 1 || config->sizes[i] > largest) {
            return slc_fail(error, SLC_ERR_USAGE, "size %zu is not from 1 to %zu", config->sizes[i], largest);
        }
    }
    if (config->n_algorithms == 0 || (!gpu && config->n_targets == 0) || config->n_sizes == 0 ||
        config->n_granularities == 0 || config->n_densities == 0 || config->repetitions == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "nothing to measure");
    }
    if (!config->labels && config->features == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "neither labels nor features: nothing to make");
    }
    return gpu ? slc_cuda_choose(config->device, &device, error) : SLC_OK;
}

/* ---- calls ------------------------------------------------------------------------------------- */

static slc_status prepare(void *self, slc_error *error)
{
    subject *s = self;
    const slc_image_label_config how = slc_bench_label_how(s->config, s->algorithm, s->target);
    const slc_status status = slc_image_label_open(&how, &s->labeller, error);
    return status == SLC_OK ? slc_image_label_reserve(s->labeller, s->image->width, s->image->height, error)
                            : status;
}

static void clear(void *self)
{
    subject *s = self;
    slc_image_label_close(s->labeller);
    s->labeller = NULL;
}

/* One call; SLC_ERR_CAPACITY makes room for the components and tries again, outside of the time. */
static slc_status run(void *self, double *seconds, slc_error *error)
{
    subject *s = self;
    slc_image_labels out = {.labels = s->labels,
                            .stride = (ptrdiff_t)(s->image->width * sizeof *s->labels),
                            .type = SLC_TYPE_U32,
                            .components = s->config->features != 0 ? s->components : NULL};
    slc_status status;
    do {
        slc_columns_reset(s->components);
        const double begin = slc_clock_seconds();
        status = slc_image_label_run(s->labeller, s->image, NULL, &out, NULL, error);
        seconds[0] = slc_clock_seconds() - begin;
    } while (status == SLC_ERR_CAPACITY && out.components != NULL &&
             s->components->head.capacity < out.n_labels &&
             slc_columns_reserve(s->schema, s->components, out.n_labels, 1) == SLC_OK);
    s->found = out.n_labels;
    return status;
}

/* Kernels on a GPU, by its own clock. */
static slc_status run_cuda(void *self, uint32_t n, double *seconds, slc_error *error)
{
    subject *s = self;
    slc_image_cuda_timing timing = {.repetitions = n,
                                    .flush_bytes = s->config->flush_bytes,
                                    .labels = s->config->labels,
                                    .raw = s->config->raw,
                                    .seconds = seconds};
    const slc_status status = cuda()->image->time(slc_image_label_cuda(s->labeller), s->image, &timing,
                                                  error);
    s->found = timing.n_labels;
    s->launches = timing.launches;
    return status;
}

/* ---- one image --------------------------------------------------------------------------------- */

static slc_status compare_counts(const bench *b, const slc_bench_label_row *row)
{
    const subject *first = NULL;
    for (size_t i = 0; i < b->n && !b->config->raw; i++) {
        const subject *s = &b->subjects[i];
        if (b->contestants[i].unsupported) {
            continue;
        }
        first = first != NULL ? first : s;
        if (s->found != first->found) {
            return slc_fail(
                b->error, SLC_ERR_FORMAT,
                "%zu x %zu pixels, granularity %u, density %g: %s on %s finds %u components, %s on %s "
                "finds %u",
                row->size, row->size, (unsigned)row->granularity, row->density,
                slc_bench_label_algorithm(b->config, s->algorithm), slc_simd_name(s->target),
                (unsigned)s->found, slc_bench_label_algorithm(b->config, first->algorithm),
                slc_simd_name(first->target), (unsigned)first->found);
        }
    }
    return SLC_OK;
}

static slc_status one_image(bench *b, slc_bench_label_row *row,
                            bool (*visit)(void *context, const slc_bench_label_row *row), void *context)
{
    const bool gpu = b->config->device != NULL;
    const slc_bench_plan plan = {.repetitions = b->config->repetitions,
                                 .rounds = gpu ? 1 : ROUNDS,
                                 .afresh = true,
                                 .seconds = b->config->seconds,
                                 .least = gpu ? 2 : 0};
    slc_status status = slc_bench_label_draw(b->config, row->size, row->granularity, row->density, b->pixels,
                                             &b->image, b->error);
    status = status == SLC_OK ? slc_bench_measure(&plan, b->contestants, b->n, b->error) : status;
    status = status == SLC_OK ? compare_counts(b, row) : status;
    for (size_t i = 0; i < b->n && status == SLC_OK; i++) {
        const slc_bench_contestant *c = &b->contestants[i];
        const subject *s = &b->subjects[i];
        if (c->unsupported) {
            continue;
        }
        row->algorithm = s->algorithm;
        row->target = s->target;
        row->components = s->found;
        row->launches = s->launches;
        row->repetitions = c->done;
        row->median_s = c->time[0].median;
        row->minimum_s = c->time[0].minimum;
        row->hertz = gpu ? 0 : c->hertz;
        status = visit(context, row) ? SLC_OK : SLC_END;
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* How many take part: those in vectors on every target. */
static size_t count_subjects(const slc_bench_label_config *config)
{
    size_t n = 0;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        const bool simd = config->device == NULL && slc_image_algorithm_simd(config->algorithms[i]);
        n += !slc_bench_label_can(config, config->algorithms[i]) ? 0 : simd ? config->n_targets : 1;
    }
    return n;
}

static void list_subjects(bench *b)
{
    const slc_bench_label_config *config = b->config;
    size_t n = 0;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        const size_t algorithm = config->algorithms[i];
        const bool simd = config->device == NULL && slc_image_algorithm_simd(algorithm);
        for (size_t k = 0; slc_bench_label_can(config, algorithm) && k < (simd ? config->n_targets : 1);
             k++, n++) {
            b->subjects[n] = (subject){.config = config,
                                       .image = &b->image,
                                       .algorithm = algorithm,
                                       .target = simd ? config->targets[k] : SLC_SIMD_C,
                                       .labels = b->labels,
                                       .schema = &b->schema,
                                       .components = &b->components};
            b->contestants[n] = (slc_bench_contestant){.self = &b->subjects[n],
                                                       .prepare = prepare,
                                                       .run = run,
                                                       .runs = config->device != NULL ? run_cuda : NULL,
                                                       .clear = clear};
        }
    }
}

static slc_status open_bench(bench *b)
{
    const slc_bench_label_config *config = b->config;
    const bool labels = config->labels && config->device == NULL;
    slc_error ignored;
    size_t largest = 1;
    for (size_t i = 0; i < config->n_sizes; i++) {
        largest = config->sizes[i] > largest ? config->sizes[i] : largest;
    }
    b->n = count_subjects(config);
    b->subjects = calloc(b->n + 1, sizeof *b->subjects);
    b->contestants = calloc(b->n + 1, sizeof *b->contestants);
    b->pixels = malloc(largest * largest);
    b->labels = labels ? malloc(largest * largest * sizeof *b->labels) : NULL;
    b->schema = slc_image_components_schema(config->features, b->columns);
    if (b->subjects == NULL || b->contestants == NULL || b->pixels == NULL || (labels && b->labels == NULL) ||
        (config->features != 0 && slc_columns_reserve(&b->schema, &b->components, 1, 1) != SLC_OK)) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for images of %zux%zu pixels", largest, largest);
    }
    /* Where memory cannot be locked, copies are slower, and nothing else changes. */
    b->pinned = config->device != NULL &&
                cuda()->stream->pin(b->pixels, largest * largest, &ignored) == SLC_OK;
    list_subjects(b);
    return SLC_OK;
}

static void close_bench(bench *b)
{
    if (b->schema.n_columns > 0) {
        slc_columns_clear(&b->schema, &b->components);
    }
    if (b->pinned) {
        cuda()->stream->unpin(b->pixels);
    }
    free(b->subjects);
    free(b->contestants);
    free(b->pixels);
    free(b->labels);
}

slc_status slc_bench_label_measure(const slc_bench_label_config *config,
                                   bool (*visit)(void *context, const slc_bench_label_row *row),
                                   void *context, slc_error *error)
{
    bench b = {.config = config, .error = error};
    slc_status status = slc_bench_label_check(config, error);
    if (status != SLC_OK) {
        return status;
    }
    status = open_bench(&b);
    const size_t images = config->n_sizes * config->n_granularities * config->n_densities;
    for (size_t i = 0; i < images && status == SLC_OK; i++) {
        const size_t set = i / config->n_densities;
        slc_bench_label_row row = {.size = config->sizes[set / config->n_granularities],
                                   .granularity = config->granularities[set % config->n_granularities],
                                   .density = config->densities[i % config->n_densities]};
        status = one_image(&b, &row, visit, context);
    }
    close_bench(&b);
    return status;
}

typedef struct collector {
    slc_bench_label_rows *rows;
    size_t room;
    const slc_bench_watch *watch;
} collector;

static bool keep(void *context, const slc_bench_label_row *row)
{
    collector *c = context;
    c->rows->rows[c->rows->n++] = *row;
    return slc_bench_goes_on(c->watch, c->rows->n, c->room);
}

slc_status slc_bench_label_collect(const slc_bench_label_config *config, const slc_bench_watch *watch,
                                   slc_bench_label_rows *rows, slc_error *error)
{
    collector c = {rows,
                   count_subjects(config) * config->n_sizes * config->n_granularities * config->n_densities,
                   watch};
    *rows = (slc_bench_label_rows){.rows = calloc(c.room + 1, sizeof *rows->rows)};
    if (rows->rows == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the measurements");
    }
    const slc_status status = slc_bench_label_measure(config, keep, &c, error);
    return status == SLC_OK && rows->n == 0
               ? slc_fail(error, SLC_ERR_UNSUPPORTED, "no algorithm could do any of these images")
               : status;
}

/* ---- averages ---------------------------------------------------------------------------------- */

/* The average that a row belongs to, made if there is none yet; NULL if there is no room for it. */
static slc_bench_label_average *average_of(const slc_bench_label_row *row, slc_bench_label_average *averages,
                                           size_t *n, size_t room)
{
    for (size_t i = 0; i < *n; i++) {
        slc_bench_label_average *a = &averages[i];
        if (a->size == row->size && a->algorithm == row->algorithm && a->target == row->target &&
            a->granularity == row->granularity) {
            return a;
        }
    }
    if (*n == room) {
        return NULL;
    }
    averages[*n] = (slc_bench_label_average){.size = row->size,
                                             .algorithm = row->algorithm,
                                             .target = row->target,
                                             .granularity = row->granularity};
    return &averages[(*n)++];
}

size_t slc_bench_label_averages(const slc_bench_label_row *rows, size_t n, slc_bench_label_average *averages,
                                size_t room)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const slc_bench_label_row *row = &rows[i];
        slc_bench_label_average *a = average_of(row, averages, &found, room);
        if (a == NULL) {
            continue;
        }
        const double pixels = (double)row->size * (double)row->size, cycles = row->minimum_s * row->hertz;
        const double each = (row->hertz > 0 ? cycles : row->median_s) / pixels;
        a->densities++;
        a->pixels += pixels;
        a->seconds += row->median_s;
        a->least_seconds += row->minimum_s;
        a->cycles += cycles;
        if (each > a->worst) {
            a->worst = each;
            a->worst_density = row->density;
        }
        if (row->density == 1) {
            a->full_seconds = row->median_s;
        }
    }
    return found;
}

/* Table 4.2 of the thesis: average cycles per pixel at granularity 1, 2 and 4, 2048 x 2048 pixels, one thread
 * of a Xeon Gold 6126 at 2.6 GHz. Its widths are the targets of the same width here. */
static const struct thesis_row {
    const char *algorithm;
    slc_simd_target target;
    double cycles[3];
} thesis[] = {
    {"lsl-std", SLC_SIMD_C, {10.47, 6.98, 5.91}},
    {"lsl-rle", SLC_SIMD_C, {16.96, 9.31, 6.05}},
    {"rosenfeld", SLC_SIMD_C, {30.61, 19.01, 12.49}},
    {"rosenfeld-dt", SLC_SIMD_C, {20.01, 11.81, 8.30}},
    {"rosenfeld-v1", SLC_SIMD_AVX512, {7.61, 6.07, 5.06}},
    {"rosenfeld-v1", SLC_SIMD_AVX512VL256, {10.65, 8.64, 7.08}},
    {"rosenfeld-v1", SLC_SIMD_AVX512VL128, {16.40, 13.23, 11.33}},
    {"rosenfeld-v2", SLC_SIMD_AVX512, {7.97, 6.54, 5.26}},
    {"rosenfeld-v2", SLC_SIMD_AVX512VL256, {11.54, 9.22, 7.35}},
    {"rosenfeld-v2", SLC_SIMD_AVX512VL128, {17.89, 14.15, 11.89}},
};

double slc_bench_label_thesis(const slc_bench_label_config *config, const slc_bench_label_average *a)
{
    const bool same = config->connectivity == 8 && config->threads == 1 && config->labels &&
                      config->features == 0 && a->size == 2048;
    const int column = a->granularity == 1 ? 0 : a->granularity == 2 ? 1 : a->granularity == 4 ? 2 : -1;
    for (size_t i = 0; i < sizeof thesis / sizeof *thesis && same && column >= 0; i++) {
        if (thesis[i].target == a->target &&
            strcmp(thesis[i].algorithm, slc_bench_label_algorithm(config, a->algorithm)) == 0) {
            return thesis[i].cycles[column];
        }
    }
    return 0;
}
