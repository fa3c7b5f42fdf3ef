/* SPDX-License-Identifier: Apache-2.0
 * The front end of labelling: checks what it is given, and hands one job for each side of the image to
 * bitrun, to one of the algorithms of the thesis by way of image_strips.c, or to GPUs (image_cuda_engine.h).
 */
#include <sluice/image_label.h>

#include "base/columns.h"
#include "base/config.h"
#include "cuda/cuda_engines.h"
#include "image/cuda/image_cuda_engine.h"
#include "image/image_bitrun.h"
#include "image/image_check.h"
#include "image/image_features.h"
#include "image/image_strips.h"

#include <stdlib.h>
#include <string.h>

/* Who does the work: one of the three. */
typedef struct engine {
    slc_image_bitrun *bitrun;
    slc_image_strips *strips;
    const struct slc_image_cuda_calls *calls; /* of `cuda` */
    slc_image_cuda *cuda;
} engine;

enum { MOST_JOBS = 4096 }; /* images of a batch that a GPU is given at once */

struct slc_image_labeller {
    slc_image_label_config config;
    slc_team *team;
    engine engine;
    size_t width, height; /* reserved */
    slc_image_job *jobs;  /* MOST_JOBS of them, with a GPU */
};

/* ---- algorithms -------------------------------------------------------------------------------- */

static const char own_name[] = "bitrun";

static size_t count_strip_algorithms(void)
{
    size_t n = 0;
    while (slc_image_algorithm_row(n) != NULL) {
        n++;
    }
    return n;
}

const char *slc_image_algorithm_name(size_t algorithm)
{
    const slc_image_algorithm *row = slc_image_algorithm_row(algorithm);
    return row != NULL ? row->name : algorithm == count_strip_algorithms() ? own_name : NULL;
}

const char *slc_image_algorithm_text(size_t algorithm)
{
    const slc_image_algorithm *row = slc_image_algorithm_row(algorithm);
    if (row == NULL && algorithm == count_strip_algorithms()) {
        return "runs of bit rows, united by operations on whole words and vectors; this library's own";
    }
    return row != NULL ? row->text : NULL;
}

bool slc_image_algorithm_simd(size_t algorithm)
{
    const slc_image_algorithm *row = slc_image_algorithm_row(algorithm);
    return row != NULL ? row->simd : algorithm == count_strip_algorithms();
}

/* ---- configuration ----------------------------------------------------------------------------- */

enum { MOST_THREADS = 4096 };

static void image_label_config_default(slc_image_label_config *config)
{
    *config = (slc_image_label_config){.size = sizeof *config,
                                       .algorithm = "auto",
                                       .connectivity = 8,
                                       .threshold = 1,
                                       .max_area = UINT64_MAX,
                                       .border = SLC_IMAGE_BORDER_ANY,
                                       .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_image_label_config, image_label_config_default)

/* The algorithm's number; of an unknown name the number behind the last. */
static size_t find_algorithm(const char *name)
{
    const size_t own = count_strip_algorithms();
    if (name == NULL || strcmp(name, "auto") == 0) {
        return own;
    }
    size_t i = 0;
    while (i <= own && strcmp(slc_image_algorithm_name(i), name) != 0) {
        i++;
    }
    return i;
}

static bool on_processor(const slc_image_label_config *config)
{
    return config->exec.device == NULL || strcmp(config->exec.device, "cpu") == 0;
}

/* Names are those of the device. */
static slc_status check_algorithm(const slc_image_label_config *c, slc_error *error)
{
    const char *name = c->algorithm != NULL ? c->algorithm : "auto";
    bool found = strcmp(name, "auto") == 0;
    if (on_processor(c)) {
        found = find_algorithm(name) <= count_strip_algorithms();
    }
    for (size_t i = 0; !found && !on_processor(c) && slc_image_cuda_algorithm_name(i) != NULL; i++) {
        found = strcmp(slc_image_cuda_algorithm_name(i), name) == 0;
    }
    return found ? SLC_OK
                 : slc_fail(error, SLC_ERR_USAGE, "algorithm: there is none named \"%s\" for device %s", name,
                            on_processor(c) ? "cpu" : c->exec.device);
}

static slc_status check_config(const slc_image_label_config *c, slc_error *error)
{
    const slc_status named = check_algorithm(c, error);
    if (named != SLC_OK) {
        return named;
    }
    const slc_status status = slc_image_check_choices(c->connectivity, c->threshold, c->features, c->min_area,
                                                      c->max_area, error);
    if (status != SLC_OK) {
        return status;
    }
    if (c->border < 0 || c->border >= SLC_IMAGE_BORDERS) {
        return slc_fail(error, SLC_ERR_USAGE, "border: unknown choice %d", (int)c->border);
    }
    if (c->exec.threads > MOST_THREADS) {
        return slc_fail(error, SLC_ERR_USAGE, "threads: %u, and at most %d can be had", c->exec.threads,
                        MOST_THREADS);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    return SLC_OK;
}

/* ---- the labeller ------------------------------------------------------------------------------ */

static void close_engine(engine *e)
{
    slc_image_bitrun_close(e->bitrun);
    slc_image_strips_close(e->strips);
    if (e->cuda != NULL) {
        e->calls->close(e->cuda);
    }
    *e = (engine){0};
}

/* An engine for a checked configuration, with room for such images where the width is not 0. */
static slc_status open_engine(const slc_image_label_config *config, size_t width, size_t height, engine *e)
{
    const size_t algorithm = find_algorithm(config->algorithm);
    slc_status status = SLC_OK;
    *e = (engine){0};
    if (algorithm == count_strip_algorithms()) {
        status = slc_image_bitrun_open(config, &e->bitrun);
        if (status == SLC_OK && width > 0) {
            status = slc_image_bitrun_reserve(e->bitrun, width, height);
        }
    } else {
        status = slc_image_strips_open(config, slc_image_algorithm_row(algorithm), &e->strips);
        if (status == SLC_OK && width > 0) {
            status = slc_image_strips_reserve(e->strips, width, height);
        }
    }
    if (status != SLC_OK) {
        close_engine(e);
    }
    return status;
}

static slc_status open_on_gpu(slc_image_labeller *labeller, slc_error *error)
{
    labeller->jobs = calloc(MOST_JOBS, sizeof *labeller->jobs);
    if (labeller->jobs == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a labeller on a GPU");
    }
    slc_error reason;
    const slc_cuda_engines *engines = slc_cuda_engines_of(&reason);
    if (engines == NULL) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "device \"%s\": %s", labeller->config.exec.device,
                        reason.text);
    }
    labeller->engine.calls = engines->image;
    const slc_status status = engines->image->open(&labeller->config, &labeller->engine.cuda, error);
    labeller->config.algorithm = NULL; /* the caller's text, too */
    return status;
}

slc_status slc_image_label_open(const slc_image_label_config *given, slc_image_labeller **out,
                                slc_error *error)
{
    *out = NULL;
    slc_image_label_config own, *const config = &own;
    slc_image_label_config_default(config);
    slc_status status = slc_config_take(config, sizeof *config, given, "slc_image_label_config", error);
    status = status == SLC_OK ? check_config(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_image_labeller *labeller = calloc(1, sizeof *labeller);
    if (labeller == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a labeller");
    }
    const uint32_t processors = slc_team_processors();
    labeller->config = *config;
    if (config->exec.threads == 0) {
        labeller->config.exec.threads = processors < MOST_THREADS ? processors : MOST_THREADS;
    }
    status = slc_team_open(labeller->config.exec.threads, &labeller->team);
    if (status == SLC_OK && on_processor(config)) {
        /* This name lives as long as the library. */
        labeller->config.algorithm = slc_image_algorithm_name(find_algorithm(config->algorithm));
        status = open_engine(&labeller->config, 0, 0, &labeller->engine);
    }
    if (status != SLC_OK) {
        (void)slc_fail(error, status, "no memory for a labeller with %u threads",
                       labeller->config.exec.threads);
    } else if (!on_processor(config)) {
        status = open_on_gpu(labeller, error);
    }
    labeller->config.exec.device = NULL; /* the caller's text need not live on */
    if (status != SLC_OK) {
        slc_image_label_close(labeller);
        return status;
    }
    *out = labeller;
    return SLC_OK;
}

slc_status slc_image_label_reserve(slc_image_labeller *labeller, size_t width, size_t height,
                                   slc_error *error)
{
    slc_status status = slc_image_check_size("room for images", width, height, error);
    if (status != SLC_OK) {
        return status;
    }
    if (width <= labeller->width && height <= labeller->height) {
        return SLC_OK;
    }
    /* Of two reservations the wider and the higher, so that memory for one side never shrinks. */
    const size_t w = width > labeller->width ? width : labeller->width;
    const size_t h = height > labeller->height ? height : labeller->height;
    if (labeller->engine.cuda != NULL) { /* what a GPU has is too little for two */
        status = labeller->engine.calls->reserve(labeller->engine.cuda, w, h, error);
        labeller->width = status == SLC_OK ? w : 0;
        labeller->height = status == SLC_OK ? h : 0;
        return status;
    }
    /* A new engine, so that the one there was is as before where there is no memory for the larger. */
    engine larger;
    status = open_engine(&labeller->config, w, h, &larger);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for images of %zu x %zu pixels", w, h);
    }
    close_engine(&labeller->engine);
    labeller->engine = larger;
    labeller->width = w;
    labeller->height = h;
    return SLC_OK;
}

void slc_image_label_close(slc_image_labeller *labeller)
{
    if (labeller == NULL) {
        return;
    }
    close_engine(&labeller->engine);
    slc_team_close(labeller->team);
    free(labeller->jobs);
    free(labeller);
}

slc_image_cuda *slc_image_label_cuda(const slc_image_labeller *labeller)
{
    return labeller->engine.cuda;
}

size_t slc_image_label_bound(size_t width, size_t height, uint32_t connectivity)
{
    const size_t odd_columns = width / 2 + width % 2, odd_rows = height / 2 + height % 2;
    if (connectivity == 8) { /* a pixel in every square of two by two */
        return odd_rows != 0 && odd_columns > SIZE_MAX / odd_rows ? SIZE_MAX : odd_columns * odd_rows;
    }
    /* A chessboard: pairs of rows with a pixel in every column, and half of a last row. */
    const size_t pairs = height / 2, rest = height % 2 * odd_columns;
    return pairs != 0 && width > (SIZE_MAX - rest) / pairs ? SIZE_MAX : pairs * width + rest;
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Where rows lie in memory: from the lowest byte to behind the highest. */
typedef struct span {
    uintptr_t first, behind;
} span;

static span span_of(const void *rows, ptrdiff_t stride, size_t row_bytes, size_t height)
{
    const uintptr_t row = (uintptr_t)rows, last = row + (uintptr_t)stride * (height - 1);
    return (span){stride < 0 ? last : row, (stride < 0 ? row : last) + row_bytes};
}

static span span_of_image(const slc_image *image)
{
    return span_of(image->pixels, image->stride, slc_image_row_bytes(image->type, image->width),
                   image->height);
}

static span span_of_labels(const slc_image *image, const slc_image_labels *out)
{
    return span_of(out->labels, out->stride, image->width * slc_type_size(out->type), image->height);
}

static bool overlap(span a, span b)
{
    return a.first < b.behind && b.first < a.behind;
}

static slc_status check_label_image(const char *what, const slc_image *image, const slc_image *grey,
                                    const slc_image_labels *out, slc_error *error)
{
    if (out->type != SLC_TYPE_U32 && out->type != SLC_TYPE_U16) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its type is neither u16 nor u32", what);
    }
    const size_t size = slc_type_size(out->type);
    const slc_status status = slc_image_check_rows(what, out->labels, out->stride, image->width * size,
                                                   image->height, size, error);
    if (status != SLC_OK) {
        return status;
    }
    /* Labels are written while pixels and grey values are still read. */
    const span written = span_of_labels(image, out);
    if (overlap(written, span_of_image(image)) || (grey != NULL && overlap(written, span_of_image(grey)))) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: it overlaps the image", what);
    }
    return SLC_OK;
}

/* `grey` is one that will be read, or NULL. */
static slc_status check_output(int side, const slc_image *image, const slc_image *grey,
                               const slc_image_labels *out, uint32_t features, slc_error *error)
{
    static const char *const label_image[] = {"label image of the foreground",
                                              "label image of the background"};
    static const char *const components[] = {"components of the foreground", "components of the background"};
    slc_status status = SLC_OK;
    if (out != NULL && out->labels != NULL) {
        status = check_label_image(label_image[side], image, grey, out, error);
    }
    if (status == SLC_OK && out != NULL && out->components != NULL) {
        status = slc_image_check_components(components[side], out->components, features, error);
    }
    return status;
}

static slc_status check_run(const slc_image_labeller *labeller, const slc_image *image, const slc_image *grey,
                            const slc_image_labels *foreground, const slc_image_labels *background,
                            slc_error *error)
{
    const uint32_t features = labeller->config.features;
    slc_status status = slc_image_check("image", image, error);
    if (status == SLC_OK && (image->width > labeller->width || image->height > labeller->height)) {
        status = slc_fail(error, SLC_ERR_USAGE, "image: %zu x %zu pixels, and %zu x %zu were reserved",
                          image->width, image->height, labeller->width, labeller->height);
    }
    const bool wanted = (foreground != NULL && foreground->components != NULL) ||
                        (background != NULL && background->components != NULL);
    if (status == SLC_OK && wanted) {
        status = slc_image_check_sums(image, grey, features, error);
    }
    const slc_image *read = wanted && (features & SLC_IMAGE_GREY) != 0 ? grey : NULL;
    status = status == SLC_OK ? check_output(0, image, read, foreground, features, error) : status;
    status = status == SLC_OK ? check_output(1, image, read, background, features, error) : status;
    if (status == SLC_OK && foreground != NULL && background != NULL && foreground->labels != NULL &&
        background->labels != NULL &&
        overlap(span_of_labels(image, foreground), span_of_labels(image, background))) {
        return slc_fail(error, SLC_ERR_USAGE, "label images of foreground and background overlap");
    }
    return status;
}

static slc_image_job job_of(const slc_image_labeller *labeller, const slc_image *image, const slc_image *grey,
                            bool inverse, slc_image_labels *out)
{
    const uint32_t connectivity = labeller->config.connectivity;
    return (slc_image_job){.config = &labeller->config,
                           .connectivity = inverse ? 12 - connectivity : connectivity,
                           .inverse = inverse,
                           .image = image,
                           .grey = grey,
                           .out = out,
                           .team = labeller->team};
}

static slc_status run_job(const engine *e, const slc_image_job *job, slc_error *error)
{
    if (e->cuda != NULL) {
        return e->calls->run(e->cuda, job, error);
    }
    return e->bitrun != NULL ? slc_image_bitrun_run(e->bitrun, job, error)
                             : slc_image_strips_run(e->strips, job, error);
}

slc_status slc_image_label_run(slc_image_labeller *labeller, const slc_image *image, const slc_image *grey,
                               slc_image_labels *foreground, slc_image_labels *background, slc_error *error)
{
    if (grey == NULL) {
        grey = image;
    }
    slc_status status = check_run(labeller, image, grey, foreground, background, error);
    for (int side = 0; side < 2 && status == SLC_OK; side++) {
        slc_image_job job = job_of(labeller, image, grey, side == 1, side == 0 ? foreground : background);
        job.again = side == 1 && foreground != NULL;
        if (job.out != NULL) {
            status = run_job(&labeller->engine, &job, error);
        }
    }
    return status;
}

/* ---- batches ----------------------------------------------------------------------------------- */

/* Have image i and the one before the sizes, the type and the strides of the first two, and their distance?
 */
static bool alike(const slc_image *images, const slc_image_labels *outs, size_t i)
{
    const slc_image *a = &images[i - 1], *b = &images[i];
    const slc_image_labels *from = &outs[i - 1], *to = &outs[i];
    const bool same = a->width == b->width && a->height == b->height && a->type == b->type &&
                      a->stride == b->stride && from->type == to->type && from->stride == to->stride &&
                      (from->labels == NULL) == (to->labels == NULL) &&
                      (from->components == NULL) == (to->components == NULL);
    /* In address arithmetic, as images need not be of one array. */
    const uintptr_t image = (uintptr_t)b->pixels - (uintptr_t)a->pixels;
    const uintptr_t labels = (uintptr_t)to->labels - (uintptr_t)from->labels;
    return same && image == (uintptr_t)images[1].pixels - (uintptr_t)images[0].pixels &&
           labels == (uintptr_t)outs[1].labels - (uintptr_t)outs[0].labels &&
           (uintptr_t)images[1].pixels > (uintptr_t)images[0].pixels &&
           (from->labels == NULL || (uintptr_t)outs[1].labels > (uintptr_t)outs[0].labels);
}

/* Images that a GPU can do in one launch, from the first of n on; *done counts those done. */
static slc_status run_alike(slc_image_labeller *labeller, const slc_image *images, slc_image_labels *outs,
                            size_t n, size_t *done, slc_error *error)
{
    size_t k = 0;
    slc_status checked = SLC_OK;
    for (; k < n && k < MOST_JOBS && (k == 0 || alike(images, outs, k)); k++) {
        checked = check_run(labeller, &images[k], &images[k], &outs[k], NULL, error);
        if (checked != SLC_OK) {
            break;
        }
        labeller->jobs[k] = job_of(labeller, &images[k], &images[k], false, &outs[k]);
    }
    const slc_status status = labeller->engine.calls->run_batch(labeller->engine.cuda, labeller->jobs, k,
                                                                done, error);
    return status == SLC_OK ? checked : status;
}

slc_status slc_image_label_batch(slc_image_labeller *labeller, const slc_image *images,
                                 slc_image_labels *foreground, size_t n, size_t *done, slc_error *error)
{
    slc_status status = SLC_OK;
    size_t finished = 0;
    while (finished < n && status == SLC_OK) {
        size_t more = 0;
        if (labeller->engine.cuda != NULL) {
            status = run_alike(labeller, images + finished, foreground + finished, n - finished, &more,
                               error);
        } else {
            status = slc_image_label_run(labeller, &images[finished], NULL, &foreground[finished], NULL,
                                         error);
            more = status == SLC_OK;
        }
        finished += more;
    }
    if (done != NULL) {
        *done = finished;
    }
    return status;
}
