/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages from image files. Of a file whose pages can be read in any order, as TIFF, the reader goes over the
 * directories, and who works on a page reads its pixels through a handle of its own.
 */
#include "run/run_flow_image_part.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGE_PAGE = 1 << 26 }; /* bytes: threads share its rows, and not pages */

static slc_io_image_config reading_of(const slc_flow_image_setup *setup)
{
    slc_io_image_config reading;
    slc_io_image_config_default(&reading);
    reading.labels = reading.label_values = setup->regions;
    reading.max_bytes = setup->pages_alone ? SIZE_MAX : reading.max_bytes; /* no labels beside them */
    return reading;
}

bool slc_flow_image_has_pages(const slc_flow_image_setup *setup, const slc_flow_config *config)
{
    slc_io_images *images = NULL;
    const slc_io_image_config reading = reading_of(setup);
    slc_image image;
    uint64_t place = 0, n = 0;
    struct stat about;
    const bool alone = config->read == NULL && config->n_paths == 1 && setup->intensity == NULL;
    if (!alone || config->exec.threads < 2 || stat(config->paths[0], &about) != 0 ||
        !S_ISREG(about.st_mode) || slc_io_images_open(config->paths[0], &reading, &images, NULL) != SLC_OK) {
        return false;
    }
    bool has = slc_io_images_any_order(images);
    while (has && n < 2 * (uint64_t)config->exec.threads) {
        has = slc_io_images_leave(images, &image, &place, NULL) == SLC_OK &&
              slc_image_row_bytes(image.type, image.width) <= LARGE_PAGE / image.height;
        n++;
    }
    slc_io_images_close(images);
    return has;
}

typedef struct file {
    slc_io_images *images, *intensity;
    const slc_flow_image_setup *setup;
    uint64_t left; /* pages of the part that is read */
    uint64_t number;
    bool any_order; /* pages can be read by several threads, and are */
} file;

void slc_flow_image_close(void *input)
{
    file *in = input;
    slc_io_images_close(in->images);
    slc_io_images_close(in->intensity);
    free(in);
}

slc_status slc_flow_image_open(const void *setup, const slc_flow_config *config, const char *path,
                               void **input, slc_error *error)
{
    const slc_flow_image_setup *image = setup;
    file *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an input");
    }
    static atomic_uint_fast64_t count; /* an item knows by it whose its twin is */
    in->setup = image;
    in->number = atomic_fetch_add(&count, 1) + 1;
    const slc_io_image_config reading = reading_of(image);
    slc_status status = slc_io_images_open(path, &reading, &in->images, error);
    status = status == SLC_OK ? slc_io_images_pass(in->images, config->from, error) : status;
    if (status == SLC_OK && image->intensity != NULL) {
        status = slc_io_images_open(image->intensity, NULL, &in->intensity, error);
        status = status == SLC_OK ? slc_io_images_pass(in->intensity, config->from, error) : status;
    }
    const bool on_gpu = config->exec.device != NULL && strcmp(config->exec.device, "cpu") != 0;
    in->any_order = status == SLC_OK && image->intensity == NULL && config->exec.threads > 1 && !on_gpu &&
                    !image->pages_alone && slc_io_images_any_order(in->images) &&
                    (config->n_paths > 1 || slc_flow_image_has_pages(image, config));
    in->left = config->until == UINT64_MAX ? UINT64_MAX : config->until - config->from;
    if (status != SLC_OK) {
        slc_flow_image_close(in);
        return status;
    }
    *input = in;
    return SLC_OK;
}

/* The page with the grey values of a label image; `labels` tells how reading that one went. */
static slc_status read_intensity(file *in, const slc_flow_image_setup *setup, slc_flow_image_page *p,
                                 slc_status labels, slc_error *error)
{
    const slc_status status = slc_io_images_next(in->intensity, &p->grey, error);
    slc_io_images_exchange(in->intensity, &p->grey_pixels, &p->grey_capacity);
    if ((status == SLC_OK || status == SLC_END) && status != labels) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: it has %s pages than the file of label images",
                        setup->intensity, status == SLC_OK ? "more" : "fewer");
    }
    if (status == SLC_OK &&
        (p->grey.width != p->result.image.width || p->grey.height != p->result.image.height)) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: a page of %zux%zu pixels, and the label image has %zux%zu", setup->intensity,
                        p->grey.width, p->grey.height, p->result.image.width, p->result.image.height);
    }
    return status;
}

/* What the file says of the page that came last. */
static void note(slc_io_images *images, slc_flow_item *item)
{
    slc_flow_image_page *p = item->result;
    const char *warning = slc_io_images_warning(images);
    const slc_io_image_size size = slc_io_images_pixel(images);
    p->result.pixel_x_um = size.from != NULL ? size.x_um : 0;
    p->result.pixel_y_um = size.from != NULL ? size.y_um : 0;
    p->result.pixel_from = size.from;
    (void)snprintf(item->damage, sizeof item->damage, "%s", warning != NULL ? warning : "");
}

/* The source goes on to the next page with the memory that the item had. */
static slc_status take_page(slc_io_images *images, slc_flow_item *item, slc_error *error)
{
    slc_flow_image_page *p = item->result;
    const slc_status status = slc_io_images_next(images, &p->result.image, error);
    slc_io_images_exchange(images, &p->pixels, &p->capacity);
    note(images, item);
    return status;
}

/* A handle of the item's own for the input; false: there is none to be had, for want of files or memory. */
static bool has_twin(const file *in, slc_flow_image_page *p)
{
    if (p->twin_of != in->number) {
        slc_io_images_close(p->twin);
        p->twin = NULL;
        p->twin_of = in->number;
    }
    return p->twin != NULL || slc_io_images_twin(in->images, &p->twin, NULL) == SLC_OK;
}

/* Finds the next page, whose pixels are read by who works on it. */
static slc_status leave_page(file *in, slc_flow_item *item, slc_error *error)
{
    slc_flow_image_page *p = item->result;
    slc_status status = slc_io_images_leave(in->images, &p->result.image, &p->place, error);
    p->number = slc_io_images_page(in->images);
    note(in->images, item);
    p->left = status == SLC_OK && has_twin(in, p);
    if (status == SLC_OK && !p->left) {
        status = slc_io_images_read_at(in->images, p->number, p->place, &p->result.image, error);
        slc_io_images_exchange(in->images, &p->pixels, &p->capacity);
    }
    return status;
}

/* A file of one page is left to a worker, with what reading it needs. */
slc_status slc_flow_image_read(void *input, const slc_flow_config *config, slc_flow_item *item,
                               slc_error *error)
{
    slc_flow_image_page *p = item->result;
    file *in = input;
    p->result.alone = p->left = false;
    if (in->left == 0 || in->images == NULL) { /* the rest is of other parts, or there is none */
        return SLC_END;
    }
    if (in->left == UINT64_MAX && config->from == 0 && in->intensity == NULL &&
        slc_io_images_alone(in->images)) {
        p->result.alone = true;
        p->source = in->images;
        in->images = NULL;
        return SLC_OK;
    }
    in->left -= in->left != UINT64_MAX;
    if (in->any_order) {
        return leave_page(in, item, error);
    }
    slc_status status = take_page(in->images, item, error);
    if (in->intensity != NULL && (status == SLC_OK || status == SLC_END)) {
        status = read_intensity(in, in->setup, p, status, error);
        const char *more = slc_io_images_warning(in->intensity);
        const size_t told = strlen(item->damage);
        (void)snprintf(item->damage + told, sizeof item->damage - told, "%s%s",
                       told > 0 && more != NULL ? "; " : "", more != NULL ? more : "");
    }
    return status;
}

slc_status slc_flow_image_finish(slc_flow_item *item, slc_error *error)
{
    slc_flow_image_page *p = item->result;
    if (p->left) {
        const slc_status read = slc_io_images_read_at(p->twin, p->number, p->place, &p->result.image, error);
        slc_io_images_exchange(p->twin, &p->pixels, &p->capacity);
        item->ended = read != SLC_OK;
        return read;
    }
    if (p->source == NULL) {
        return SLC_OK;
    }
    const slc_status status = take_page(p->source, item, error);
    slc_io_images_close(p->source);
    p->source = NULL;
    item->ended = status != SLC_OK;
    return status;
}
