/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of image files: a page an item, pages shared out among the workers.
 */
#include "base/config.h"
#include <sluice/io_image.h>
#include <sluice/run_flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {
    slc_flow_image_result result; /* first: it is what the item shows */
    void *pixels;
    size_t capacity, n_labels_room;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
} page;

/* A labeller is opened anew when Otsu's threshold differs from that of the page before. */
typedef struct worker {
    slc_image_label_config config;
    slc_image_labeller *labeller;
    double threshold;
} worker;

static slc_status open_labeller(worker *w, double threshold, slc_error *error)
{
    if (w->labeller != NULL && w->threshold == threshold) {
        return SLC_OK;
    }
    slc_image_label_close(w->labeller);
    w->labeller = NULL;
    w->config.threshold = w->threshold = threshold;
    return slc_image_label_open(&w->config, &w->labeller, error);
}

static void close_worker(void *chain)
{
    worker *w = chain;
    slc_image_label_close(w->labeller);
    free(w);
}

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
    w->config.exec.threads = 1; /* threads are over pages */
    w->config.exec.target = config->exec.target;
    status = status == SLC_OK ? open_labeller(w, w->config.threshold, error) : status;
    if (status != SLC_OK) {
        close_worker(w);
        return status;
    }
    *chain = w;
    return SLC_OK;
}

static slc_status open_page(const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_flow_image_setup *image = setup;
    page *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a page");
    }
    p->schema = slc_image_components_schema(image->config->features, p->columns);
    item->result = p;
    return SLC_OK;
}

static void close_page(slc_flow_item *item)
{
    page *p = item->result;
    slc_columns_clear(&p->schema, &p->result.components);
    free(p->result.labels);
    free(p->pixels);
    free(p);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status open_file(const void *setup, const slc_flow_config *config, const char *path, void **input,
                            slc_error *error)
{
    slc_io_images *images = NULL;
    (void)setup;
    (void)config;
    const slc_status status = slc_io_images_open(path, NULL, &images, error);
    *input = images;
    return status;
}

static void close_file(void *input)
{
    slc_io_images_close(input);
}

static void note_warning(const slc_io_images *images, slc_flow_item *item)
{
    const char *warning = slc_io_images_warning(images);
    (void)snprintf(item->damage, sizeof item->damage, "%s", warning != NULL ? warning : "");
}

/* The page's rows, one after the other, into memory of the item's: the reader goes on to the next page
 * meanwhile. */
static slc_status copy_page(page *p, const slc_image *image, slc_error *error)
{
    const size_t row = slc_image_row_bytes(image->type, image->width);
    const size_t bytes = row * image->height + 64;
    if (p->capacity < bytes) {
        free(p->pixels);
        p->capacity = 0;
        p->pixels = malloc(bytes);
        if (p->pixels == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for a page of %zu x %zu pixels", image->width,
                            image->height);
        }
        p->capacity = bytes;
    }
    for (size_t y = 0; y < image->height; y++) {
        memcpy((char *)p->pixels + y * row, (const char *)image->pixels + (ptrdiff_t)y * image->stride, row);
    }
    p->result.image = *image;
    p->result.image.pixels = p->pixels;
    p->result.image.stride = (ptrdiff_t)row;
    return SLC_OK;
}

static slc_status read_page(void *input, const slc_flow_config *config, slc_flow_item *item, slc_error *error)
{
    slc_image image;
    (void)config;
    const slc_status status = slc_io_images_next(input, &image, error);
    note_warning(input, item);
    return status == SLC_OK ? copy_page(item->result, &image, error) : status;
}

static void settle_page(void *input, slc_flow_item *item)
{
    (void)input;
    item->totals = (slc_io_totals){.events = 0};
}

/* ---- labelling --------------------------------------------------------------------------------- */

static slc_status make_labels(page *p, slc_error *error)
{
    const size_t n = p->result.image.width * p->result.image.height;
    if (p->n_labels_room < n) {
        free(p->result.labels);
        p->n_labels_room = 0;
        p->result.labels = malloc((n > 0 ? n : 1) * sizeof *p->result.labels);
        if (p->result.labels == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu labels", n);
        }
        p->n_labels_room = n;
    }
    return SLC_OK;
}

/* Labels with room for so many components; more where they do not fit. */
static slc_status label_page(worker *w, page *p, bool labels, slc_error *error)
{
    slc_flow_image_result *result = &p->result;
    const bool features = w->config.features != 0;
    slc_image_labels out = {.type = SLC_TYPE_U32,
                            .labels = labels ? result->labels : NULL,
                            .stride = (ptrdiff_t)(result->image.width * sizeof *result->labels),
                            .components = features ? &result->components : NULL};
    slc_status status = SLC_ERR_CAPACITY;
    for (size_t room = 4096; status == SLC_ERR_CAPACITY; room = out.n_labels) {
        if (features && slc_columns_reserve(&p->schema, &result->components, room, 1) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu components", room);
        }
        slc_columns_reset(&result->components);
        status = slc_image_label_run(w->labeller, &result->image, NULL, &out, NULL, error);
        if (status == SLC_ERR_CAPACITY && (out.n_labels <= room || out.n_labels == UINT32_MAX)) {
            break; /* not for want of room */
        }
    }
    result->n_labels = out.n_labels;
    return status;
}

static slc_status run_page(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_flow_image_setup *image = setup;
    worker *w = chain;
    page *p = item->result;
    double threshold = image->config->threshold;
    slc_status status = image->otsu ? slc_image_otsu(&p->result.image, &threshold, error) : SLC_OK;
    status = status == SLC_OK ? open_labeller(w, threshold, error) : status;
    if (status == SLC_OK) {
        status = slc_image_label_reserve(w->labeller, p->result.image.width, p->result.image.height, error);
    }
    status = status == SLC_OK && image->labels ? make_labels(p, error) : status;
    p->result.threshold = threshold;
    return status == SLC_OK ? label_page(w, p, image->labels, error) : status;
}

const slc_flow_chain slc_flow_image = {.size = sizeof(slc_flow_chain),
                                       .name = "image",
                                       .open = open_worker,
                                       .close = close_worker,
                                       .item_open = open_page,
                                       .item_close = close_page,
                                       .input_open = open_file,
                                       .read = read_page,
                                       .input_close = close_file,
                                       .run = run_page,
                                       .settle = settle_page};
