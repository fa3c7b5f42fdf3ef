/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of image files: a page an item, pages shared out among the workers.
 */
#include "base/config.h"
#include "image/image_label_fit.h"
#include "image/image_mask_part.h"
#include "run/run_devices.h"
#include "run/run_flow_image_keep.h"
#include "run/run_flow_image_part.h"
#include "simd/simd_checksum.h"

#include <sluice/image_measure.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A labeller is opened anew where the threshold differs from that of the page before, and for a page that
 * does not fit: one that grows has room for the widest image with the highest, and of a wide page and a high
 * one neither needs room for what would be both. */
typedef struct worker {
    slc_image_label_config config;
    slc_image_labeller *labeller;
    size_t width, height; /* reserved */
    slc_flow_image_keep keep;
    char device[SLC_RUN_DEVICE_ROOM]; /* config.exec.device of a GPU: a labeller may be opened anew */
} worker;

static void close_labeller(worker *w)
{
    slc_image_label_close(w->labeller);
    w->labeller = NULL;
    w->width = w->height = 0;
}

static slc_status reserve(worker *w, const slc_image *image, double threshold, slc_error *error)
{
    const bool fits = w->width == 0 || (image->width <= w->width && image->height <= w->height);
    if (!fits || threshold != w->config.threshold) {
        close_labeller(w);
        w->config.threshold = threshold;
    }
    slc_status status = SLC_OK;
    if (w->labeller == NULL) {
        status = slc_image_label_open(&w->config, &w->labeller, error);
    }
    if (status == SLC_OK && w->width == 0) {
        status = slc_image_label_reserve(w->labeller, image->width, image->height, error);
        w->width = status == SLC_OK ? image->width : 0;
        w->height = image->height;
    }
    return status;
}

/* Are there features that are measured on the label image? Then all are. */
static bool is_measured(const slc_flow_image_setup *setup)
{
    return setup->regions || setup->filter != NULL || setup->largest > 0 ||
           (setup->split != NULL && setup->config->features != 0) ||
           (setup->config->features & ~(uint32_t)SLC_IMAGE_ALL) != 0;
}

static void close_worker(void *chain)
{
    worker *w = chain;
    close_labeller(w);
    free(w);
}

static bool on_gpu(const char *device)
{
    return device != NULL && strcmp(device, "cpu") != 0;
}

/* A wrong configuration is told when the first chain is opened. */
static const char *device_of(const void *setup, const slc_flow_config *config)
{
    const slc_flow_image_setup *image = setup;
    slc_image_label_config own;
    slc_image_label_config_default(&own);
    const bool good = slc_config_take(&own, sizeof own, image->config, "slc_image_label_config", NULL) ==
                      SLC_OK;
    return image->pages_alone            ? NULL
           : config->exec.device != NULL ? config->exec.device
           : good                        ? own.exec.device
                                         : NULL;
}

/* Of several files, or of a file with many pages, each worker does one page at a time; else the threads are
 * inside of the file's pages. A GPU has one worker, for pages of any file. */
static uint32_t count_workers(const void *setup, const slc_flow_config *config)
{
    const slc_flow_image_setup *image = setup;
    const uint32_t most = config->read != NULL || slc_flow_image_has_pages(image, config) ? UINT32_MAX
                                                                                          : config->n_paths;
    const bool alone = on_gpu(device_of(setup, config)) || image->pages_alone;
    return alone ? 1 : config->exec.threads < most ? config->exec.threads : most;
}

static slc_status check_measured(const slc_flow_image_setup *setup, const slc_flow_config *config,
                                 uint32_t features, slc_error *error)
{
    const bool grey = (features & (SLC_IMAGE_GREY | SLC_IMAGE_SPREAD)) != 0;
    if (setup->pages_alone) {
        return slc_fail(error, SLC_ERR_USAGE, "pages alone have no features of label images");
    }
    if (setup->regions && grey != (setup->intensity != NULL)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s",
                        grey ? "features of grey values need the intensity image"
                             : "an intensity image, and no feature of grey values");
    }
    if (setup->intensity != NULL && (!setup->regions || config->n_paths != 1)) {
        return slc_fail(error, SLC_ERR_USAGE, "an intensity image goes with one file of label images, not %u",
                        setup->regions ? config->n_paths : 0);
    }
    return SLC_OK;
}

/* The first worker's labeller is opened at once, so that what is wrong is told before reading; those on
 * further GPUs when they get a page, as a single page needs none of them. */
static slc_status open_worker(const void *setup, const slc_flow_config *config, void **chain,
                              slc_error *error)
{
    const slc_flow_image_setup *image = setup;
    worker *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a labeller");
    }
    slc_image_label_config_default(&w->config);
    slc_status status = slc_config_take(&w->config, sizeof w->config, image->config, "slc_image_label_config",
                                        error);
    w->config.exec.threads = config->exec.threads / count_workers(setup, config);
    if (on_gpu(config->exec.device)) {
        (void)snprintf(w->device, sizeof w->device, "%s", config->exec.device);
        w->config.exec.device = w->device;
    } else if (config->exec.device != NULL) {
        w->config.exec.device = NULL;
    }
    slc_image_mask_config mask;
    status = status == SLC_OK && image->mask != NULL
                 ? slc_image_mask_take(image->mask, &w->config.threshold, &mask, error)
                 : status;
    if (status == SLC_OK && image->split != NULL && (image->mask == NULL || image->inverse)) {
        status = slc_fail(error, SLC_ERR_USAGE, "parts are those of a foreground that `mask` makes");
    }
    const bool later = on_gpu(w->config.exec.device) && config->worker > 0;
    if (status == SLC_OK && is_measured(image)) {
        status = slc_flow_image_keep_open(&w->keep, image, error);
        status = status == SLC_OK ? check_measured(image, config, w->keep.features, error) : status;
        w->config.features = 0;
    }
    if (status == SLC_OK && !image->pages_alone && !image->regions && !later) {
        status = slc_image_label_open(&w->config, &w->labeller, error);
    }
    if (status != SLC_OK) {
        close_worker(w);
        return status;
    }
    *chain = w;
    return SLC_OK;
}

static void close_page(slc_flow_item *item)
{
    slc_flow_image_page *p = item->result;
    slc_columns_clear(&p->schema, &p->result.components);
    slc_io_images_close(p->source);
    slc_io_images_close(p->twin);
    slc_columns_clear(&p->found_schema, &p->found);
    free(p->result.labels);
    free(p->mask);
    free(p->pixels);
    free(p->grey_pixels);
}

/* ---- labelling --------------------------------------------------------------------------------- */

static slc_status make_labels(slc_flow_image_page *p, slc_error *error)
{
    const slc_image *image = &p->result.image;
    const size_t n = image->width * image->height;
    if (image->width > PTRDIFF_MAX / sizeof(uint32_t) / image->height) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the label image");
    }
    if (p->n_labels_room < n) {
        free(p->result.labels);
        p->n_labels_room = 0;
        p->result.labels = malloc(n * sizeof *p->result.labels);
        if (p->result.labels == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the label image");
        }
        p->n_labels_room = n;
    }
    return SLC_OK;
}

/* `foreground`: rows of bits, or NULL for the page itself. */
static slc_status label_page(worker *w, slc_flow_image_page *p, const slc_flow_image_setup *setup,
                             const slc_image *foreground, bool labels, slc_error *error)
{
    slc_flow_image_result *result = &p->result;
    const slc_image *image = foreground != NULL ? foreground : &result->image;
    slc_image_labels out = {.type = SLC_TYPE_U32,
                            .labels = labels ? result->labels : NULL,
                            .stride = (ptrdiff_t)(result->image.width * sizeof *result->labels),
                            .components = w->config.features != 0 ? &result->components : NULL};
    const slc_status status = slc_image_label_fit(w->labeller, &w->config, &p->schema, image, &result->image,
                                                  setup->inverse, &out, &result->seconds, error);
    result->n_labels = out.n_labels;
    return status;
}

/* Parts of the foreground that touch. */
static slc_status split_page(const worker *w, slc_flow_image_page *p, const slc_flow_image_setup *setup,
                             const slc_image *foreground, slc_error *error)
{
    slc_image_split_config config;
    slc_image_split_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, setup->split, "slc_image_split_config",
                                        error);
    config.connectivity = w->config.connectivity;
    config.min_area = w->config.min_area;
    config.max_area = w->config.max_area;
    config.border = w->config.border;
    config.exec = w->config.exec;
    config.exec.device = NULL;
    const double began = slc_clock_seconds();
    status = status == SLC_OK ? slc_image_split(&config, foreground, p->result.labels,
                                                (ptrdiff_t)(foreground->width * sizeof(uint32_t)),
                                                &p->result.n_labels, error)
                              : status;
    p->result.seconds += slc_clock_seconds() - began;
    return status;
}

/* Features of labels, and of the page's values, or of a label image of its own those of another file. */
static slc_status measure_page(const worker *w, slc_flow_image_page *p, const slc_flow_image_setup *setup,
                               const slc_image *labels, const slc_image *grey, slc_error *error)
{
    slc_flow_image_result *result = &p->result;
    slc_image_measure_config config;
    slc_image_measure_config_default(&config);
    config.features = w->keep.features;
    config.connectivity = setup->inverse ? 12 - setup->config->connectivity : setup->config->connectivity;
    slc_image_components *found = w->keep.some ? &p->found : &result->components;
    p->found_schema = slc_image_components_schema(config.features, p->found_columns);
    slc_columns_reset(found);
    const double began = slc_clock_seconds();
    slc_status status = slc_image_measure(&config, labels, grey, found, error);
    if (status == SLC_OK && w->keep.some) {
        status = slc_flow_image_keep_run(&w->keep, found, &p->schema, result, error);
    }
    result->seconds += slc_clock_seconds() - began;
    result->n_labels = (uint32_t)result->components.head.size;
    return status;
}

static uint32_t label_at(const slc_image *image, size_t x, size_t y)
{
    const void *row = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
    switch (image->type) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row)[x];
    case SLC_IMAGE_U16:
        return ((const uint16_t *)row)[x];
    case SLC_IMAGE_U32:
        return ((const uint32_t *)row)[x];
    case SLC_IMAGE_U64:
        return (uint32_t)((const uint64_t *)row)[x];
    default:
        return ((const uint8_t *)row)[x / 8] >> x % 8 & 1U;
    }
}

/* A page that is a label image. */
static slc_status run_regions(const worker *w, slc_flow_image_page *p, const slc_flow_image_setup *setup,
                              slc_error *error)
{
    const slc_image *image = &p->result.image;
    p->result.fault = NULL;
    p->result.threshold = (double)NAN;
    /* Labels beyond 32 bits are found by who measures; what is kept of the others is known then. */
    slc_status status = setup->labels ? make_labels(p, error) : SLC_OK;
    for (size_t y = 0; y < image->height && status == SLC_OK && setup->labels; y++) {
        for (size_t x = 0; x < image->width; x++) {
            p->result.labels[y * image->width + x] = label_at(image, x, y);
        }
    }
    return status == SLC_OK
               ? measure_page(w, p, setup, image, setup->intensity != NULL ? &p->grey : NULL, error)
               : status;
}

/* A page of nothing, so that those behind it keep their places. */
static slc_status leave_blank(slc_flow_image_page *p, const slc_flow_image_setup *setup, slc_error *error)
{
    slc_status status = slc_columns_reserve(&p->schema, &p->result.components, 1, 1);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for the components");
    }
    slc_columns_reset(&p->result.components);
    slc_columns_end_event(&p->result.components);
    status = status == SLC_OK && setup->labels ? make_labels(p, error) : status;
    if (status == SLC_OK && setup->labels) {
        memset(p->result.labels, 0, p->result.image.width * p->result.image.height * sizeof(uint32_t));
    }
    return status;
}

/* Pixels that are floats are compared with a float: 0.7 in a file is at the threshold 0.7, though neither is
 * the number 0.7. */
static double level_of(slc_image_type type, double wanted)
{
    return type == SLC_IMAGE_F32 && fabs(wanted) <= (double)FLT_MAX ? (double)(float)wanted : wanted;
}

/* Otsu's threshold is another one for every page. Rows of bits are foreground and background already. */
static void choose_threshold(slc_flow_image_page *p, const slc_flow_image_setup *setup)
{
    slc_flow_image_result *result = &p->result;
    const double wanted = setup->config->threshold;
    result->fault = NULL;
    result->threshold = wanted;
    if (result->image.type == SLC_IMAGE_BITS ||
        (setup->mask != NULL && slc_image_mask_is_local(setup->mask->rule))) {
        result->threshold = (double)NAN;
    } else if (setup->otsu) {
        if (slc_image_otsu(&result->image, &result->threshold, &p->why) != SLC_OK) {
            result->fault = p->why.text;
        }
    } else {
        result->threshold = level_of(result->image.type, wanted);
    }
}

/* A page that has not what the rule needs (rows of bits have no band, floats no local threshold) is told, and
 * without components. */
static slc_status make_mask(const worker *w, slc_flow_image_page *p, const slc_flow_image_setup *setup,
                            slc_image *mask, slc_error *error)
{
    slc_flow_image_result *result = &p->result;
    const slc_image *image = &result->image;
    const size_t row = slc_image_row_bytes(SLC_IMAGE_BITS, image->width);
    slc_image_mask_config config;
    slc_status status = slc_image_mask_take(setup->mask, &w->config.threshold, &config, error);
    if (status != SLC_OK) {
        return status;
    }
    config.low = isnan(result->threshold) ? config.low : result->threshold;
    config.high = level_of(image->type, config.high);
    config.connectivity = w->config.connectivity;
    config.exec = w->config.exec;
    config.exec.device = NULL;
    const slc_image *within = setup->within;
    if (within != NULL && (within->width != image->width || within->height != image->height)) {
        return slc_fail(error, SLC_ERR_USAGE, "mask: %zu x %zu pixels for an image of %zu x %zu",
                        within->width, within->height, image->width, image->height);
    }
    if (p->mask_capacity < row * image->height) {
        free(p->mask);
        p->mask = malloc(row * image->height);
        p->mask_capacity = p->mask != NULL ? row * image->height : 0;
        if (p->mask == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the foreground");
        }
    }
    *mask = (slc_image){p->mask, image->width, image->height, (ptrdiff_t)row, SLC_IMAGE_BITS};
    const double began = slc_clock_seconds();
    status = slc_image_mask_make(&config, image, within, p->mask, (ptrdiff_t)row, &p->why);
    result->seconds += slc_clock_seconds() - began;
    if (status == SLC_ERR_USAGE || status == SLC_ERR_UNSUPPORTED) {
        result->fault = p->why.text;
        return SLC_OK;
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s", p->why.text);
}

/* A page is an event; that it has a number of components is in the lengths of its columns. */
static void sum_page(const slc_flow_image_page *p, const slc_flow_image_setup *setup, slc_flow_item *item)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    /* Labels say which row it is, and are not counted in files either. */
    const slc_schema schema = slc_image_components_schema(
        setup->config->features & ~(uint32_t)SLC_IMAGE_LABEL, columns);
    const slc_checksum_part part = {"components", &schema, &p->result.components};
    item->checksum = slc_checksum_events(&part, schema.n_columns > 0 ? 1 : 0, 0);
    item->n_summed = 1;
}

static slc_status run_page(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_flow_image_setup *image = setup;
    worker *w = chain;
    slc_flow_image_page *p = item->result;
    p->schema = slc_image_components_schema(image->config->features, p->columns);
    p->result.seconds = 0;
    p->result.n_labels = p->result.filtered = 0;
    if (image->regions) {
        const slc_status status = run_regions(w, p, image, error);
        if (status == SLC_OK) {
            sum_page(p, image, item);
        }
        return status;
    }
    choose_threshold(p, image);
    if (image->pages_alone) {
        return SLC_OK;
    }
    slc_image foreground = {.pixels = NULL};
    slc_status status = image->mask != NULL && p->result.fault == NULL
                            ? make_mask(w, p, image, &foreground, error)
                            : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    if (p->result.fault != NULL) {
        status = leave_blank(p, image, error);
    } else {
        const double threshold = isnan(p->result.threshold) ? w->config.threshold : p->result.threshold;
        const bool labels = image->labels || is_measured(image) || image->split != NULL;
        status = image->split == NULL ? reserve(w, &p->result.image, threshold, error) : SLC_OK;
        status = status == SLC_OK && labels ? make_labels(p, error) : status;
        if (status == SLC_OK) {
            status = image->split != NULL
                         ? split_page(w, p, image, &foreground, error)
                         : label_page(w, p, image, image->mask != NULL ? &foreground : NULL, labels, error);
        }
        if (status == SLC_OK && is_measured(image)) {
            const slc_image made = {.pixels = p->result.labels,
                                    .width = p->result.image.width,
                                    .height = p->result.image.height,
                                    .stride = (ptrdiff_t)(p->result.image.width * sizeof(uint32_t)),
                                    .type = SLC_IMAGE_U32};
            status = measure_page(w, p, image, &made, &p->result.image, error);
        }
    }
    if (status == SLC_OK) {
        sum_page(p, image, item);
    }
    return status;
}

const slc_flow_chain slc_flow_image = {.size = sizeof(slc_flow_chain),
                                       .name = "image",
                                       .workers = count_workers,
                                       .device = device_of,
                                       .open = open_worker,
                                       .close = close_worker,
                                       .result_bytes = sizeof(slc_flow_image_page),
                                       .item_close = close_page,
                                       .input_open = slc_flow_image_open,
                                       .read = slc_flow_image_read,
                                       .finish = slc_flow_image_finish,
                                       .input_close = slc_flow_image_close,
                                       .run = run_page,
                                       .read_by_workers = true};
