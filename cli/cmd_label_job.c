/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of `sluice label` over inputs and pages: read, choose the threshold, label, write. Memory is that
 * of one page and its components.
 */
#include "cmd_label.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW_ROWS = 4096, /* room for components to begin with, at least */
    ROW_SHARE = 8,   /* and for one in so many pixels; an image that has more is labelled again */
    STREAM_ROWS = 65536
};

static bool complain(slc_label_job *job)
{
    slc_cli_say("label", "%s", job->error.text);
    return false;
}

/* Keeps what was told of a page for the JSON output. */
static bool keep_text(char **kept, const char *text)
{
    *kept = strdup(text);
    if (*kept == NULL) {
        slc_cli_say("label", "no memory for a message");
    }
    return *kept != NULL;
}

static bool complain_page(const slc_label_job *job, const slc_label_page *page, const char *text)
{
    slc_cli_say("label", "%s: page %u: %s", job->inputs[page->input - 1], (unsigned)page->page, text);
    return false;
}

/* ---- pages ------------------------------------------------------------------------------------- */

static slc_label_page *new_page(slc_label_job *job, int input, uint32_t number, const slc_image *image)
{
    if (job->n_pages == job->page_capacity) {
        const size_t capacity = job->page_capacity > 0 ? 2 * job->page_capacity : 16;
        slc_label_page *pages = realloc(job->pages, capacity * sizeof *pages);
        if (pages == NULL) {
            slc_cli_say("label", "no memory for the list of pages");
            return NULL;
        }
        job->pages = pages;
        job->page_capacity = capacity;
    }
    slc_label_page *page = &job->pages[job->n_pages++];
    *page = (slc_label_page){.input = (uint32_t)input + 1,
                             .page = number,
                             .type = image->type,
                             .width = image->width,
                             .height = image->height,
                             .threshold = (double)NAN};
    return page;
}

/* Otsu's threshold is another one for every page. Rows of bits are foreground and background already. Pixels
 * that are floats are compared with a float: 0.7 in a file is at the threshold 0.7, though neither is the
 * number 0.7. */
static bool choose_threshold(slc_label_job *job, const slc_image *image, slc_label_page *page)
{
    if (image->type == SLC_IMAGE_BITS) {
        return true;
    }
    page->threshold = job->threshold;
    if (job->otsu) {
        if (slc_image_otsu(image, &page->threshold, &job->error) != SLC_OK) {
            (void)complain_page(job, page, job->error.text);
            job->faults++;
            return keep_text(&page->fault, job->error.text);
        }
    } else if (image->type == SLC_IMAGE_F32 && fabs(job->threshold) <= (double)FLT_MAX) {
        page->threshold = (double)(float)job->threshold;
    }
    if (page->threshold != job->config.threshold) {
        job->config.threshold = page->threshold;
        slc_image_label_close(job->labeller);
        job->labeller = NULL;
    }
    return true;
}

/* ---- labelling --------------------------------------------------------------------------------- */

/* A labeller that grows has room for the widest image with the highest. For a page that does not fit, one is
 * opened anew: of a wide page and a high one, neither needs room for what would be both. */
static bool open_labeller(slc_label_job *job, const slc_image *image, const slc_label_page *page)
{
    if (job->labeller != NULL && image->width <= job->width && image->height <= job->height) {
        return true;
    }
    if (job->labeller != NULL && job->width > 0) { /* else it is new */
        slc_image_label_close(job->labeller);
        job->labeller = NULL;
    }
    if (job->labeller == NULL && slc_image_label_open(&job->config, &job->labeller, &job->error) != SLC_OK) {
        return complain(job);
    }
    if (slc_image_label_reserve(job->labeller, image->width, image->height, &job->error) != SLC_OK) {
        return complain_page(job, page, job->error.text);
    }
    job->width = image->width;
    job->height = image->height;
    return true;
}

static bool reserve_labels(slc_label_job *job, const slc_image *image, const slc_label_page *page)
{
    if (job->options->output == NULL && job->options->preview == NULL) {
        return true;
    }
    if (image->width > PTRDIFF_MAX / sizeof(uint32_t) / image->height) {
        return complain_page(job, page, "no memory for the label image");
    }
    const size_t pixels = image->width * image->height;
    if (pixels > job->label_capacity) {
        free(job->labels);
        job->label_capacity = 0;
        job->labels = malloc(pixels * sizeof *job->labels);
        if (job->labels == NULL) {
            return complain_page(job, page, "no memory for the label image");
        }
        job->label_capacity = pixels;
    }
    return true;
}

static bool reserve_rows(slc_label_job *job, const slc_label_page *page, size_t rows)
{
    return slc_columns_reserve(&job->schema, &job->rows, rows, 1) == SLC_OK ||
           complain_page(job, page, "no memory for the components");
}

/* Room for the components of nearly any image, or for a few where there is no more memory. What is not used
 * of it costs nothing. */
static bool reserve_likely_rows(slc_label_job *job, const slc_image *image, const slc_label_page *page)
{
    const uint32_t connectivity = job->options->inverse ? 12 - job->config.connectivity
                                                        : job->config.connectivity;
    const size_t most = slc_image_label_bound(image->width, image->height, connectivity);
    size_t rows = (image->height + ROW_SHARE - 1) / ROW_SHARE * image->width;
    rows = rows < FEW_ROWS ? FEW_ROWS : rows;
    rows = rows < most ? rows : most;
    return (rows <= UINT32_MAX && slc_columns_reserve(&job->schema, &job->rows, rows, 1) == SLC_OK) ||
           reserve_rows(job, page, FEW_ROWS);
}

/* The time is that of all attempts. */
static slc_status label_once(slc_label_job *job, const slc_image *image, slc_label_page *page,
                             slc_image_labels *out)
{
    const bool inverse = job->options->inverse;
    slc_columns_reset(&job->rows);
    const double began = slc_clock_seconds();
    const slc_status status = slc_image_label_run(job->labeller, image, NULL, inverse ? NULL : out,
                                                  inverse ? out : NULL, &job->error);
    page->seconds += slc_clock_seconds() - began;
    return status;
}

static bool label_page(slc_label_job *job, const slc_image *image, slc_label_page *page)
{
    const bool features = job->config.features != 0;
    slc_image_labels out = {.labels = job->labels,
                            .stride = (ptrdiff_t)(image->width * sizeof(uint32_t)),
                            .type = SLC_TYPE_U32,
                            .components = features ? &job->rows.columns : NULL};
    if (features && !reserve_likely_rows(job, image, page)) {
        return false;
    }
    slc_status status = label_once(job, image, page, &out);
    if (status == SLC_ERR_CAPACITY && features && out.n_labels != UINT32_MAX) {
        if (!reserve_rows(job, page, out.n_labels)) {
            return false;
        }
        status = label_once(job, image, page, &out);
    }
    page->components = out.n_labels;
    return status == SLC_OK || complain_page(job, page, job->error.text);
}

/* ---- what is written --------------------------------------------------------------------------- */

/* Says where the rows are from, adds them to the page's sums, and writes them. `before` components of the
 * page were written already. */
static bool write_rows(slc_label_job *job, slc_label_page *page, uint64_t before)
{
    slc_label_rows *rows = &job->rows;
    for (size_t i = 0; i < rows->columns.head.size; i++) {
        const uint64_t area = rows->columns.area != NULL ? rows->columns.area[i] : 0;
        rows->input[i] = page->input;
        rows->page[i] = page->page;
        rows->label[i] = (uint32_t)(before + i + 1);
        page->foreground += area;
        page->largest = area > page->largest ? area : page->largest;
    }
    return job->stats == NULL || slc_label_stats_rows(job, page->input) == SLC_OK || complain(job);
}

/* In place: label i moves to the front of what was label i / 2. */
static void narrow(uint32_t *labels, size_t n)
{
    unsigned char *bytes = (unsigned char *)labels;
    for (size_t i = 0; i < n; i++) {
        const uint16_t label = (uint16_t)labels[i];
        memcpy(bytes + 2 * i, &label, sizeof label);
    }
}

static bool write_labels(slc_label_job *job, const slc_image *image, const slc_label_page *page)
{
    slc_image labels = {.pixels = job->labels,
                        .width = image->width,
                        .height = image->height,
                        .stride = (ptrdiff_t)(image->width * sizeof(uint32_t)),
                        .type = SLC_IMAGE_U32};
    if (job->preview_writer != NULL && job->n_pages == 1 &&
        slc_io_image_writer_add(job->preview_writer, &labels, &job->error) != SLC_OK) {
        return complain(job);
    }
    if (job->image_writer == NULL || job->labels == NULL) {
        return true;
    }
    if (job->narrow) {
        if (page->components > UINT16_MAX) {
            slc_cli_say(
                "label",
                "%s: page %u: %u labels do not fit into the 16 bits of %s; write .npy or .tif instead",
                job->inputs[page->input - 1], (unsigned)page->page, (unsigned)page->components,
                job->options->output);
            return false;
        }
        narrow(job->labels, image->width * image->height);
        labels.type = SLC_IMAGE_U16;
        labels.stride /= 2;
    }
    return slc_io_image_writer_add(job->image_writer, &labels, &job->error) == SLC_OK || complain(job);
}

/* ---- row by row -------------------------------------------------------------------------------- */

/* Rows that `closed` holds are written and forgotten. */
static bool flush(slc_label_job *job, slc_label_page *page, uint64_t *count)
{
    const size_t n = job->rows.columns.head.size;
    if (*count + n > UINT32_MAX) {
        return complain_page(job, page, "more components than 32 bits can count");
    }
    if (!write_rows(job, page, *count)) {
        return false;
    }
    *count += n;
    slc_columns_reset(&job->rows);
    return true;
}

static bool push_rows(slc_label_job *job, slc_image_stream *stream, const slc_image *image,
                      slc_label_page *page)
{
    uint64_t count = 0;
    size_t y = 0;
    slc_columns_reset(&job->rows);
    while (y < image->height && !slc_cli_interrupted()) {
        size_t taken = 0;
        const char *rows = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
        const slc_status status = slc_image_stream_push(
            stream, rows, image->stride, NULL, 0, image->height - y, &job->rows.columns, &taken, &job->error);
        y += taken;
        if (status != SLC_OK &&
            (status != SLC_ERR_CAPACITY || (taken == 0 && job->rows.columns.head.size == 0))) {
            return complain(job);
        }
        if (status != SLC_OK && !flush(job, page, &count)) {
            return false;
        }
    }
    slc_status status = slc_image_stream_finish(stream, &job->rows.columns, &job->error);
    if (status == SLC_ERR_CAPACITY) {
        if (!flush(job, page, &count)) {
            return false;
        }
        status = slc_image_stream_finish(stream, &job->rows.columns, &job->error);
    }
    if (status != SLC_OK) {
        return complain(job);
    }
    slc_columns_end_event(&job->rows);
    const bool good = flush(job, page, &count);
    page->components = (uint32_t)count;
    return good;
}

static bool stream_page(slc_label_job *job, const slc_image *image, slc_label_page *page)
{
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = image->width;
    config.type = config.grey_type = image->type;
    config.inverse = job->options->inverse;
    config.connectivity = config.inverse ? 12 - job->config.connectivity : job->config.connectivity;
    config.threshold = job->config.threshold;
    config.features = job->config.features;
    config.min_area = job->config.min_area;
    config.max_area = job->config.max_area;
    /* As many rows as a push may close, and what is open at the end. */
    if (!reserve_rows(job, page, STREAM_ROWS + image->width)) {
        return false;
    }
    slc_image_stream *stream = NULL;
    if (slc_image_stream_open(&config, &stream, &job->error) != SLC_OK) {
        return complain(job);
    }
    const double began = slc_clock_seconds();
    const bool good = push_rows(job, stream, image, page);
    page->seconds = slc_clock_seconds() - began;
    slc_image_stream_close(stream);
    return good;
}

/* ---- an input ---------------------------------------------------------------------------------- */

/* A page of nothing, so that those behind it keep their places in the outputs. */
static bool blank_page(slc_label_job *job, const slc_image *image, slc_label_page *page)
{
    if (!reserve_rows(job, page, 1) || (!job->options->stream && !reserve_labels(job, image, page))) {
        return false;
    }
    slc_columns_reset(&job->rows);
    slc_columns_end_event(&job->rows);
    if (job->labels != NULL) {
        memset(job->labels, 0, image->width * image->height * sizeof *job->labels);
    }
    return write_rows(job, page, 0) && write_labels(job, image, page);
}

static bool one_page(slc_label_job *job, int input, uint32_t number, const slc_image *image,
                     const char *warning)
{
    slc_label_page *page = new_page(job, input, number, image);
    if (page == NULL || (warning != NULL && !keep_text(&page->warning, warning)) ||
        !choose_threshold(job, image, page)) {
        return false;
    }
    if (page->fault != NULL) {
        return blank_page(job, image, page);
    }
    if (job->options->stream) {
        return stream_page(job, image, page);
    }
    return open_labeller(job, image, page) && reserve_labels(job, image, page) &&
           label_page(job, image, page) && write_rows(job, page, 0) && write_labels(job, image, page);
}

bool slc_label_job_input(slc_label_job *job, int input)
{
    slc_io_images *images = NULL;
    slc_image image;
    if (slc_io_images_open(job->inputs[input], NULL, &images, &job->error) != SLC_OK) {
        return complain(job);
    }
    slc_status status = SLC_OK;
    bool good = true;
    uint64_t warned = 0;
    for (uint32_t number = 1; good && status == SLC_OK && !slc_cli_interrupted(); number++) {
        status = slc_io_images_next(images, &image, &job->error);
        const char *warning = slc_io_images_warning(images);
        if (warning != NULL && warned++ == 0) {
            slc_cli_say("label", "%s", warning);
        }
        if (status == SLC_OK) {
            good = one_page(job, input, number, &image, warning);
        }
    }
    if (warned > 1) {
        slc_cli_say("label", "%s: as much is to be told of %llu more of its pages: --json tells all of it",
                    job->inputs[input], (unsigned long long)warned - 1);
    }
    job->warnings += warned;
    if (good && status != SLC_OK && status != SLC_END) {
        good = complain(job);
    }
    slc_io_images_close(images);
    return good && !slc_cli_interrupted();
}
