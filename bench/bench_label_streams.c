/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures whole calls of labelling on a GPU, from page-locked memory of the host and back, by one or several
 * labellers at once, each with a thread of its own: what a program gets, copies included.
 */
#include "base/columns.h"
#include "base/team.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"

#include "bench/bench_gpu.h"
#include <sluice/image_label.h>

#include <stdlib.h>

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cuda_stream_calls *cuda(void)
{
    return slc_cuda_engines_of(NULL)->stream;
}

enum { MOST_STREAMS = 32, ROUNDS = 3, PASSES = 4 /* over the images, of a round */ };

/* Memory of the host, page-locked if it can be. */
typedef struct block {
    void *at;
    bool pinned;
} block;

/* A labeller and where its results go. */
typedef struct worker {
    slc_image_labeller *labeller;
    block labels;
    slc_image_components components;
    uint64_t found; /* components */
} worker;

typedef struct bench {
    const slc_bench_label_config *config;
    size_t algorithm;
    slc_bench_gpu_speed speed;
    block *images; /* one for each density */
    slc_image *image;
    worker workers[MOST_STREAMS];
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    uint32_t streams, n; /* that are measured; images of a round */
    slc_team *team;
    slc_error *error;
} bench;

static slc_status take(block *b, size_t bytes, const char *what, slc_error *error)
{
    slc_error ignored;
    b->at = malloc(bytes);
    if (b->at == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %s of %zu bytes", what, bytes);
    }
    b->pinned = cuda()->pin(b->at, bytes, &ignored) == SLC_OK;
    return SLC_OK;
}

static void give_back(block *b)
{
    if (b->pinned) {
        cuda()->unpin(b->at);
    }
    free(b->at);
    *b = (block){0};
}

/* ---- rounds ------------------------------------------------------------------------------------ */

/* A second time where there was not room for all components; there is from then on. */
static slc_status label(void *context, uint32_t thread, uint64_t number, slc_error *error)
{
    bench *b = context;
    worker *w = &b->workers[thread];
    const slc_image *image = &b->image[number % b->config->n_densities];
    slc_image_labels out = {.labels = w->labels.at,
                            .stride = (ptrdiff_t)(image->width * sizeof(uint32_t)),
                            .type = SLC_TYPE_U32,
                            .components = b->config->features != 0 ? &w->components : NULL};
    slc_status status;
    do {
        slc_columns_reset(&w->components);
        status = slc_image_label_run(w->labeller, image, NULL, &out, NULL, error);
    } while (status == SLC_ERR_CAPACITY && out.components != NULL &&
             w->components.head.capacity < out.n_labels &&
             slc_columns_reserve(&b->schema, &w->components, out.n_labels, 1) == SLC_OK);
    w->found += status == SLC_OK ? out.n_labels : 0;
    return status;
}

/* ---- one size and granularity ------------------------------------------------------------------ */

static void close_worker(worker *w, const slc_schema *schema)
{
    slc_image_label_close(w->labeller);
    slc_columns_clear(schema, &w->components);
    give_back(&w->labels);
    *w = (worker){0};
}

static slc_status open_worker(bench *b, worker *w, size_t size)
{
    const slc_image_label_config how = slc_bench_label_how(b->config, b->algorithm, SLC_SIMD_AUTO);
    slc_status status = slc_image_label_open(&how, &w->labeller, b->error);
    status = status == SLC_OK ? slc_image_label_reserve(w->labeller, size, size, b->error) : status;
    if (status == SLC_OK && b->config->labels) {
        status = take(&w->labels, size * size * sizeof(uint32_t), "a label image", b->error);
    }
    if (status == SLC_OK && b->config->features != 0 &&
        slc_columns_reserve(&b->schema, &w->components, 1, 1) != SLC_OK) {
        status = slc_fail(b->error, SLC_ERR_MEMORY, "no memory for components");
    }
    return status;
}

/* All images PASSES times. */
static slc_status round_of(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    for (uint32_t k = 0; k < b->streams; k++) {
        b->workers[k].found = 0;
    }
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(b->team, NULL, b->streams, b->n, label, b, error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

/* The fastest of the rounds; before them is a warm-up, in which room is made. */
static slc_status time_rounds(bench *b, slc_bench_label_streams_row *row)
{
    const slc_bench_plan plan = {.repetitions = ROUNDS, .rounds = 1};
    slc_bench_contestant c = {.self = b, .run = round_of};
    row->images = b->n = (uint32_t)b->config->n_densities * PASSES;
    b->streams = row->streams;
    const slc_status status = slc_bench_measure(&plan, &c, 1, b->error);
    row->seconds = c.time[0].minimum;
    row->components = 0;
    for (uint32_t k = 0; k < row->streams; k++) {
        row->components += b->workers[k].found;
    }
    return status;
}

/* The copies of one direction alone, the slower one. */
static double bound_of(const bench *b, const slc_bench_label_streams_row *row)
{
    const double pixels = (double)row->size * (double)row->size * row->images;
    const double in = pixels / b->speed.to_device;
    double bytes = b->config->labels ? 4 * pixels : 0;
    for (size_t i = 0; i < b->schema.n_columns; i++) {
        bytes += (double)row->components * (double)slc_type_size(b->schema.columns[i].type);
    }
    const double out = bytes / b->speed.to_host;
    return in > out ? in : out;
}

static slc_status draw_images(bench *b, size_t size, uint32_t granularity)
{
    slc_status status = SLC_OK;
    for (size_t d = 0; d < b->config->n_densities && status == SLC_OK; d++) {
        status = take(&b->images[d], size * size, "an image", b->error);
        if (status == SLC_OK) {
            status = slc_bench_label_draw(b->config, size, granularity, b->config->densities[d],
                                          b->images[d].at, &b->image[d], b->error);
        }
    }
    return status;
}

typedef bool (*visit_function)(void *context, const slc_bench_label_streams_row *row);

static slc_status one_set(bench *b, size_t size, uint32_t granularity, uint32_t most, visit_function visit,
                          void *context)
{
    uint32_t opened = 0;
    slc_status status = draw_images(b, size, granularity);
    for (uint32_t n = 1; n <= most && status == SLC_OK; n *= 2) {
        for (; opened < n && status == SLC_OK; opened++) {
            status = open_worker(b, &b->workers[opened], size);
        }
        slc_bench_label_streams_row row = {
            .size = size, .algorithm = b->algorithm, .granularity = granularity, .streams = n};
        status = status == SLC_OK ? time_rounds(b, &row) : status;
        if (status == SLC_OK) {
            row.bound_seconds = bound_of(b, &row);
            status = visit(context, &row) ? SLC_OK : SLC_END;
        }
    }
    for (uint32_t k = 0; k < opened; k++) {
        close_worker(&b->workers[k], &b->schema);
    }
    for (size_t d = 0; d < b->config->n_densities; d++) {
        give_back(&b->images[d]);
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static slc_status prepare(bench *b, uint32_t most)
{
    const slc_bench_label_config *config = b->config;
    b->images = calloc(config->n_densities, sizeof *b->images);
    b->image = calloc(config->n_densities, sizeof *b->image);
    b->schema = slc_image_components_schema(config->features, b->columns);
    if (b->images == NULL || b->image == NULL) {
        (void)slc_fail(b->error, SLC_ERR_MEMORY, "no memory for %zu images", config->n_densities);
        return SLC_ERR_MEMORY;
    }
    if (most < 1 || most > MOST_STREAMS) {
        return slc_fail(b->error, SLC_ERR_USAGE, "%u streams: from 1 to %d can be measured", (unsigned)most,
                        MOST_STREAMS);
    }
    b->algorithm = config->algorithms[0];
    if (!slc_bench_label_can(config, b->algorithm)) {
        return slc_fail(b->error, SLC_ERR_UNSUPPORTED, "%s cannot make what is asked for",
                        slc_image_cuda_algorithm_name(b->algorithm));
    }
    return slc_bench_gpu_speed_of(config->device, 5, &b->speed, b->error);
}

slc_status slc_bench_label_streams(const slc_bench_label_config *config, uint32_t most,
                                   bool (*visit)(void *context, const slc_bench_label_streams_row *row),
                                   void *context, slc_error *error)
{
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to measure streams");
    }
    b->config = config;
    b->error = error;
    slc_status status = slc_bench_label_check(config, error);
    status = status == SLC_OK ? prepare(b, most) : status;
    if (status == SLC_OK && slc_team_open(most, &b->team) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory to measure streams");
    }
    for (size_t s = 0; s < config->n_sizes && status == SLC_OK; s++) {
        for (size_t g = 0; g < config->n_granularities && status == SLC_OK; g++) {
            status = one_set(b, config->sizes[s], config->granularities[g], most, visit, context);
        }
    }
    slc_team_close(b->team);
    free(b->images);
    free(b->image);
    free(b);
    return status;
}
