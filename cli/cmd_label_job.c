/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice label` does with the pages that come out of the flow: they are written, and noted for what is
 * printed. With --stream they come unlabelled, and are labelled row by row here, so that memory does not
 * depend on how many components there are.
 */
#include "cmd_label.h"
#include "cmd_label_mask.h"
#include "cmd_label_size.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_ROWS = 65536 };

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

/* Whole numbers of so many bits are all below a larger threshold: no mistake in principle, and most likely
 * one. */
static void tell_threshold(slc_label_job *job, const slc_label_page *page, const slc_image *image)
{
    const unsigned bits = page->type == SLC_IMAGE_U8 ? 8 : page->type == SLC_IMAGE_U16 ? 16 : 0;
    const double least = job->mask_config.rule == SLC_IMAGE_RULE_HYSTERESIS ? job->mask_config.high
                                                                            : page->threshold;
    if (bits > 0 && !job->setup.otsu && !job->told_threshold && least >= (double)(1U << bits)) {
        slc_cli_say("label", "%s: page %u: no pixel of %u bits is at or above the threshold of %g",
                    job->inputs[page->input - 1], (unsigned)page->page, bits, least);
        job->told_threshold = true;
    }
    if (page->components == 0 && !job->told_threshold &&
        (job->reach == SLC_LABEL_BELOW || slc_label_reach_of(job->options, image) == SLC_LABEL_BELOW)) {
        job->told_threshold = true;
        (void)complain_page(job, page, SLC_LABEL_MISSED);
    }
}

static slc_label_page *new_page(slc_label_job *job, const slc_flow_item *item)
{
    const slc_flow_image_result *result = item->result;
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
    *page = (slc_label_page){.input = item->input + 1,
                             .page = ++job->page_of_input,
                             .type = result->image.type,
                             .width = result->image.width,
                             .height = result->image.height,
                             .depth = 1,
                             .threshold = result->threshold,
                             .components = result->n_labels,
                             .filtered = result->filtered,
                             .pixel_x_um = job->pixel_x_um > 0 ? job->pixel_x_um : result->pixel_x_um,
                             .pixel_y_um = job->pixel_x_um > 0 ? job->pixel_y_um : result->pixel_y_um,
                             .pixel_from = job->pixel_x_um > 0 ? "--pixel-size" : result->pixel_from,
                             .seconds = result->seconds};
    return page;
}

static bool reserve_rows(slc_label_job *job, const slc_label_page *page, const slc_schema *schema,
                         size_t rows)
{
    return slc_columns_reserve(schema, &job->rows, rows, 1) == SLC_OK ||
           complain_page(job, page, "no memory for the components");
}

/* ---- what is written --------------------------------------------------------------------------- */

/* Says where the rows are from, adds them to the page's sums, and writes them. `before` components of the
 * page were written already. */
static bool write_rows(slc_label_job *job, slc_label_page *page, const slc_label_rows *rows, uint64_t before)
{
    for (size_t i = 0; i < rows->columns.head.size; i++) {
        const uint64_t area = rows->columns.area != NULL ? rows->columns.area[i] : 0;
        rows->input[i] = page->input;
        rows->page[i] = page->page;
        rows->label[i] = rows->columns.label != NULL ? rows->columns.label[i] : (uint32_t)(before + i + 1);
        page->foreground += area;
        page->largest = area > page->largest ? area : page->largest;
    }
    return job->stats == NULL || (slc_label_size_rows(job, page, rows) &&
                                  (slc_label_stats_rows(job, rows, page->input) == SLC_OK || complain(job)));
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

static slc_image labels_of(const slc_flow_image_result *result)
{
    const slc_image *image = &result->image;
    return (slc_image){.pixels = result->labels,
                       .width = image->width,
                       .height = image->height,
                       .stride = (ptrdiff_t)(image->width * sizeof(uint32_t)),
                       .type = SLC_IMAGE_U32};
}

/* Labels as the file has them; those of 32 bits are gone where it has 16. */
static slc_status add_labels(const slc_label_job *job, slc_io_writer *writer,
                             const slc_flow_image_result *result, slc_error *error)
{
    slc_image labels = labels_of(result);
    if (job->narrow) {
        narrow(result->labels, labels.width * labels.height);
        labels.type = SLC_IMAGE_U16;
        labels.stride /= 2;
    }
    return slc_io_image_writer_add(writer, &labels, error);
}

slc_status slc_label_write_own(void *context, slc_flow_item *item, slc_error *error)
{
    const slc_label_job *job = context;
    const slc_flow_image_result *result = item->result;
    slc_label_own *own = item->user;
    slc_io_writer *writer = NULL;
    (void)error; /* told in order, with the page */
    *own = (slc_label_own){.is = result->alone && !job->options->labels &&
                                 (!job->narrow || result->n_labels <= UINT16_MAX)};
    if (!own->is) {
        return SLC_OK;
    }
    own->status = slc_io_image_writer_open(job->outputs[item->input], false, &writer, &own->error);
    if (own->status == SLC_OK) {
        own->status = add_labels(job, writer, result, &own->error);
        if (own->status == SLC_OK) {
            slc_io_outbox_put(job->outbox, writer);
        } else {
            slc_io_abandon(writer);
        }
    }
    return SLC_OK;
}

static bool write_labels(slc_label_job *job, const slc_flow_image_result *result, const slc_label_page *page)
{
    const slc_image labels = labels_of(result);
    if (job->preview_writer != NULL && job->n_pages == 1 &&
        slc_io_image_writer_add(job->preview_writer, &labels, &job->error) != SLC_OK) {
        return complain(job);
    }
    if (job->mask_writer != NULL && slc_label_mask_write(job, result) != SLC_OK) {
        return complain(job);
    }
    if (job->options->output == NULL) {
        return true;
    }
    if (job->image_writer == NULL && slc_io_image_writer_open(job->outputs[page->input - 1], false,
                                                              &job->image_writer, &job->error) != SLC_OK) {
        return complain(job);
    }
    if (job->narrow) {
        const slc_image_components *found = &result->components;
        const bool named = job->options->labels && found->head.size > 0;
        const uint32_t largest = named ? found->label[found->head.size - 1] : page->components;
        if (largest > UINT16_MAX) {
            slc_cli_say("label",
                        "%s: page %u: %s%u%s not fit into the 16 bits of %s; write .npy or .tif instead",
                        job->inputs[page->input - 1], (unsigned)page->page, named ? "the label " : "",
                        (unsigned)largest, named ? " does" : " labels do", job->options->output);
            return false;
        }
    }
    return add_labels(job, job->image_writer, result, &job->error) == SLC_OK || complain(job);
}

/* ---- the live page ----------------------------------------------------------------------------- */

/* The checksum of a stream, and that of a run that has ended, is the job's. */
static slc_live_flow_state state_of(const slc_label_job *job, slc_flow_totals *totals)
{
    *totals = (slc_flow_totals){.workers = 0};
    if (job->flow != NULL) {
        slc_flow_totals_of(job->flow, totals);
    }
    if (job->flow == NULL || job->options->stream) {
        totals->checksum = job->checksum;
    }
    return (slc_live_flow_state){.flow = totals};
}

static void page_tick(const slc_label_job *job, const char *input)
{
    if (slc_live_due(job->page.live)) {
        slc_flow_totals totals;
        const slc_live_flow_state more = state_of(job, &totals);
        slc_cli_page_tick(&job->page, NULL, input, &more);
    }
}

void slc_label_page_close(slc_label_job *job, int status)
{
    slc_flow_totals totals;
    const slc_live_flow_state more = state_of(job, &totals);
    slc_cli_page_close(&job->page, status, NULL, &more);
}

/* ---- row by row -------------------------------------------------------------------------------- */

/* Rows that `closed` holds are written and forgotten. */
static bool flush(slc_label_job *job, slc_label_page *page, uint64_t *count)
{
    const size_t n = job->rows.columns.head.size;
    if (*count + n > UINT32_MAX) {
        return complain_page(job, page, "more components than 32 bits can count");
    }
    if (!write_rows(job, page, &job->rows, *count)) {
        return false;
    }
    slc_live_flow_add_components(job->page.flow, &job->rows.columns);
    page_tick(job, job->inputs[page->input - 1]);
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
    while (y < image->height && !slc_cli_broken()) {
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

/* Of one page more, which is an event. */
static void add_checksum(slc_label_job *job, uint64_t page)
{
    job->checksum += job->page_factor * page;
    job->page_factor *= SLC_CHECKSUM_FACTOR;
}

/* A page of nothing. */
static bool blank_rows(slc_label_job *job, slc_label_page *page)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema own = slc_image_components_schema(job->config.features, columns);
    slc_columns_reset(&job->rows);
    slc_columns_end_event(&job->rows);
    add_checksum(job, slc_columns_checksum(&own, &job->rows.columns, 0, 0));
    return write_rows(job, page, &job->rows, 0);
}

static bool stream_page(slc_label_job *job, const slc_image *image, slc_label_page *page)
{
    slc_image_stream_config config;
    uint64_t checksum = 0;
    slc_image_stream_config_default(&config);
    config.checksum = &checksum;
    config.width = image->width;
    config.type = config.grey_type = image->type;
    config.inverse = job->options->inverse;
    config.connectivity = config.inverse ? 12 - job->config.connectivity : job->config.connectivity;
    config.threshold = page->threshold;
    config.features = job->config.features;
    config.min_area = job->config.min_area;
    config.max_area = job->config.max_area;
    /* As many rows as a push may close, and what is open at the end. */
    if (!reserve_rows(job, page, &job->schema, STREAM_ROWS + image->width)) {
        return false;
    }
    slc_image_stream *stream = NULL;
    if (slc_image_stream_open(&config, &stream, &job->error) != SLC_OK) {
        return complain(job);
    }
    const double began = slc_clock_seconds();
    const bool good = push_rows(job, stream, image, page);
    page->seconds = slc_clock_seconds() - began;
    add_checksum(job, checksum);
    slc_image_stream_close(stream);
    return good;
}

/* ---- pages as they come ------------------------------------------------------------------------ */

/* Columns of the chain's, after those that say where a row is from. */
static bool write_page(slc_label_job *job, const slc_flow_item *item, slc_label_page *page)
{
    const slc_flow_image_result *result = item->result;
    const slc_label_own *own = item->user;
    const slc_schema place = {"components", job->columns, job->n_places};
    if (!reserve_rows(job, page, &place, result->components.head.size)) {
        return false;
    }
    slc_label_rows rows = job->rows;
    rows.columns = result->components;
    if (!write_rows(job, page, &rows, 0)) {
        return false;
    }
    if (own == NULL || !own->is) {
        return write_labels(job, result, page);
    }
    job->error = own->error;
    return (own->status == SLC_OK && slc_io_outbox_look(job->outbox, &job->error) == SLC_OK) || complain(job);
}

/* A page of a pipe that a signal ended: its rest has not come. */
static bool is_cut(const slc_label_job *job, const slc_flow_item *item)
{
    const bool whole = item->status >= 0 && item->damage[0] == '\0';
    return slc_cli_interrupted() && !whole && slc_cli_reads_once(&job->inputs[item->input], 1);
}

static bool take_page(slc_label_job *job, const slc_flow_item *item)
{
    const slc_flow_image_result *result = item->result;
    if (is_cut(job, item)) {
        return true;
    }
    slc_label_page *page = new_page(job, item);
    if (page == NULL || (item->damage[0] != '\0' && !keep_text(&page->warning, item->damage))) {
        return false;
    }
    if (item->status != SLC_OK) {
        return complain_page(job, page, item->error.text);
    }
    tell_threshold(job, page, &result->image);
    if (result->fault != NULL) {
        (void)complain_page(job, page, result->fault);
        job->faults++;
        if (!keep_text(&page->fault, result->fault)) {
            return false;
        }
    }
    if (!job->options->stream) {
        return write_page(job, item, page);
    }
    if (page->fault == NULL) {
        return stream_page(job, &result->image, page);
    }
    return reserve_rows(job, page, &job->schema, 1) && blank_rows(job, page);
}

/* The first warning of an input is told, and how many more there were. */
static void take_warning(slc_label_job *job, const slc_flow_item *item)
{
    if (item->damage[0] != '\0' && !is_cut(job, item) && job->warned_of_input++ == 0) {
        slc_cli_say("label", "%s", item->damage);
    }
}

/* The label file of an input ends with it, and one that cannot be read costs the others nothing. */
static bool end_own_file(slc_label_job *job, const slc_flow_item *item)
{
    slc_io_writer *writer = job->image_writer;
    job->image_writer = NULL;
    if (item->status < 0) {
        slc_io_abandon(writer);
        job->failed_inputs++;
        return true;
    }
    if (writer != NULL) {
        slc_io_outbox_put(job->outbox, writer);
    }
    return true;
}

static bool take_end(slc_label_job *job, const slc_flow_item *item)
{
    if (job->warned_of_input > 1) {
        slc_cli_say("label", "%s: as much is to be told of %llu more of its pages: --json tells all of it",
                    item->path, (unsigned long long)job->warned_of_input - 1);
    }
    job->warnings += job->warned_of_input;
    job->warned_of_input = 0;
    job->page_of_input = 0;
    if (is_cut(job, item)) {
        return true;
    }
    if (item->status < 0) {
        slc_cli_say("label", "%s", item->error.text);
    }
    return job->outputs != NULL ? end_own_file(job, item) : item->status >= 0;
}

bool slc_label_take(slc_label_job *job, const slc_flow_item *item)
{
    take_warning(job, item);
    return item->ended ? take_end(job, item) : take_page(job, item);
}

bool slc_label_job_run(slc_label_job *job)
{
    slc_flow_item *item = NULL;
    slc_status status;
    job->page_factor = 1;
    while ((status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        if (item != NULL) {
            slc_live_flow_add(job->page.flow, item);
            if (!slc_label_take(job, item)) {
                return false;
            }
        }
        page_tick(job, item != NULL ? item->path : NULL);
        slc_flow_release(job->flow, item);
    }
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    if (!job->options->stream) {
        job->checksum = totals.checksum;
    }
    return (status == SLC_END || complain(job)) && !slc_cli_broken();
}
