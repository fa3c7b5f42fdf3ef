/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice label --volume`: the pages of each input, or the images of a folder, are the slices of a volume,
 * which is labelled as a whole, or with --stream slice by slice, so that memory does not hold it.
 */
#include "cmd_label_volume.h"
#include "cli_tree.h"
#include "cli_words.h"
#include "cmd_label_mask.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_THREADS = 32 }; /* that make labels of slices at once */

static bool complain(const slc_label_volume_job *job)
{
    slc_cli_say("label", "%s", job->label->error.text);
    return false;
}

/* Of the input at work. */
static const char *path_of(const slc_label_volume_job *job)
{
    return job->label->inputs[job->input - 1];
}

/* ---- what is written --------------------------------------------------------------------------- */

/* After so many components of the volume. */
static bool write_rows(slc_label_volume_job *job, const slc_volume_components *found, uint32_t before)
{
    const slc_schema places = {"components", job->place_columns, job->n_places};
    if (slc_columns_reserve(&places, &job->rows, found->head.size, 1) != SLC_OK) {
        slc_cli_say("label", "no memory for the components");
        return false;
    }
    slc_label_volume_rows rows = job->rows;
    rows.columns = *found;
    for (size_t i = 0; i < found->head.size; i++) {
        rows.input[i] = job->input;
        rows.page[i] = 1;
        rows.label[i] = found->label != NULL ? found->label[i] : before + (uint32_t)i + 1;
        const uint64_t volume = found->volume != NULL ? found->volume[i] : 0;
        job->foreground += volume;
        job->most = volume > job->most ? volume : job->most;
    }
    return slc_label_volume_sizes(job, path_of(job), &rows) &&
           (slc_label_stats_rows(job->label, &rows, job->input) == SLC_OK || complain(job));
}

/* Components that have ended are written, or counted alone; with `last` all have. */
static bool write_closed(slc_label_volume_job *job, bool last)
{
    const size_t n = job->closed.head.size;
    const bool wanted = job->label->stats != NULL;
    if (job->n_closed + n > UINT32_MAX) {
        slc_cli_say("label", "%s: more components than 32 bits can number", path_of(job));
        return false;
    }
    if (wanted && (n > 0 || last)) {
        if (last) {
            slc_columns_end_event(&job->closed);
        }
        if (!write_rows(job, &job->closed, (uint32_t)job->n_closed)) {
            return false;
        }
    }
    job->n_closed += n;
    slc_columns_reset(&job->closed);
    return true;
}

static bool push_slice(slc_label_volume_job *job, const char *path, const slc_image *image)
{
    slc_label_job *label = job->label;
    const slc_volume *volume = &job->stack.volume;
    const slc_volume slice = {image->pixels, image->width, image->height, 1, image->stride, 0, image->type};
    const double began = slc_clock_seconds();
    slc_status status = volume->depth > 0 ? SLC_OK
                                          : slc_volume_stream_open(&job->config, volume, &job->checksum,
                                                                   &job->stream, &label->error);
    status = status == SLC_OK ? slc_volume_stream_push(job->stream, &slice, &job->closed, &label->error)
                              : status;
    job->seconds += slc_clock_seconds() - began;
    if (status != SLC_OK) {
        slc_cli_say("label", "%s: slice %zu: %s", path, volume->depth + 1, label->error.text);
        return false;
    }
    return write_closed(job, false);
}

/* What has a label as 255, in the place of the labels. */
static slc_status write_mask_slice(const slc_label_volume_job *job, uint32_t *labels)
{
    const slc_volume *v = &job->stack.volume;
    uint8_t *pixels = (uint8_t *)labels;
    for (size_t i = 0; i < v->width * v->height; i++) {
        pixels[i] = labels[i] != 0 ? UINT8_MAX : 0; /* behind what is still to be read */
    }
    const slc_image slice = {pixels, v->width, v->height, (ptrdiff_t)v->width, SLC_IMAGE_U8};
    return slc_io_image_writer_add(job->label->mask_writer, &slice, &job->label->error);
}

/* The labels of the volume that was labelled last, a few slices at a time, which fit the caches. Their making
 * is part of the time of labelling, their writing is not. */
static bool write_labels(slc_label_volume_job *job, double *seconds)
{
    const slc_volume *v = &job->stack.volume;
    slc_label_job *label = job->label;
    const uint32_t threads = job->config.exec.threads;
    const size_t most = 2 * (size_t)(threads > 0 && threads < MANY_THREADS ? threads : MANY_THREADS);
    const size_t at_once = most < v->depth ? most : v->depth, plane = v->width * v->height;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *job->labels);
    free(job->labels);
    job->labels = at_once > 0 && plane > 0 ? calloc(at_once, plane * sizeof *job->labels) : NULL;
    if (job->labels == NULL) {
        slc_cli_say("label", "%s: no memory for the labels of %zu slices of %zux%zu voxels", path_of(job),
                    at_once, v->width, v->height);
        return false;
    }
    const slc_volume_labels out = {job->labels, row, row * (ptrdiff_t)v->height, NULL, 0};
    slc_status status = SLC_OK;
    for (size_t first = 0; first < v->depth && status == SLC_OK; first += at_once) {
        const size_t n = v->depth - first < at_once ? v->depth - first : at_once;
        const double began = slc_clock_seconds();
        status = slc_volume_slices(job->labeller, first, n, &out, &label->error);
        *seconds += slc_clock_seconds() - began;
        for (size_t k = 0; k < n && status == SLC_OK; k++) {
            const slc_image slice = {job->labels + k * plane, v->width, v->height, row, SLC_IMAGE_U32};
            if (label->image_writer != NULL) {
                status = slc_io_image_writer_add(label->image_writer, &slice, &label->error);
            }
            if (status == SLC_OK && label->mask_writer != NULL) {
                status = write_mask_slice(job, job->labels + k * plane);
            }
        }
    }
    return status == SLC_OK || complain(job);
}

/* ---- what is foreground ------------------------------------------------------------------------ */

/* A threshold above all that so many bits can be is no mistake in principle, and most likely one. */
static void tell_threshold(const slc_label_volume_job *job)
{
    const slc_label_job *label = job->label;
    const slc_image_type type = job->stack.volume.type;
    const unsigned bits = type == SLC_IMAGE_U8 ? 8 : type == SLC_IMAGE_U16 ? 16 : 0;
    const bool sown = label->mask_config.rule == SLC_IMAGE_RULE_HYSTERESIS;
    const double least = sown ? label->mask_config.high : label->config.threshold;
    if (bits > 0 && !label->setup.otsu && least >= (double)(1U << bits)) {
        slc_cli_say("label", "%s: no voxel of %u bits is at or above the threshold of %g", path_of(job), bits,
                    least);
    }
}

/* Bits are foreground and background already. */
static bool is_otsu(const slc_label_volume_job *job)
{
    return job->label->setup.otsu && job->stack.volume.type != SLC_IMAGE_BITS;
}

/* Otsu's threshold of all voxels, whose slices lie one behind the other as if they were one image. */
static bool choose_threshold(slc_label_volume_job *job)
{
    const slc_label_job *label = job->label;
    const slc_volume *v = &job->stack.volume;
    const slc_image all = {v->voxels, v->width, v->height * v->depth, v->stride, v->type};
    slc_error error;
    job->threshold = label->config.threshold;
    if (is_otsu(job) && slc_image_otsu(&all, &job->threshold, &error) != SLC_OK) {
        slc_cli_say("label", "%s: %s", path_of(job), error.text);
        return false;
    }
    return true;
}

/* The foreground as bits, if a threshold does not say it or is this volume's own. */
static bool make_mask(slc_label_volume_job *job, slc_volume *foreground)
{
    slc_label_job *label = job->label;
    const slc_volume *v = &job->stack.volume;
    const size_t row = slc_image_row_bytes(SLC_IMAGE_BITS, v->width);
    if (label->setup.mask == NULL && !is_otsu(job)) {
        *foreground = *v;
        return true;
    }
    free(job->mask);
    job->mask = malloc(row * v->height * v->depth);
    if (job->mask == NULL) {
        slc_cli_say("label", "%s: no memory for its foreground", path_of(job));
        return false;
    }
    const ptrdiff_t stride = (ptrdiff_t)row, slice_stride = stride * (ptrdiff_t)v->height;
    *foreground = (slc_volume){job->mask, v->width,     v->height,     v->depth,
                               stride,    slice_stride, SLC_IMAGE_BITS};
    label->mask_config.low = job->threshold;
    if (slc_volume_mask_make(&job->config, &label->mask_config, v,
                             label->options->mask != NULL ? &job->within.volume : NULL, job->mask, stride,
                             slice_stride, &label->error) != SLC_OK) {
        slc_cli_say("label", "%s: %s", path_of(job), label->error.text);
        return false;
    }
    return true;
}

/* ---- a volume ---------------------------------------------------------------------------------- */

static void add_page(slc_label_volume_job *job, uint64_t components, uint64_t filtered, double seconds)
{
    slc_label_job *label = job->label;
    const slc_volume *v = &job->stack.volume;
    const slc_io_image_size *own = &job->stack.pixel;
    const bool told = label->pixel_x_um > 0, is = told || own->from != NULL;
    const bool local = label->options->local != NULL;
    label->pages[label->n_pages++] = (slc_label_page){.input = job->input,
                                                      .page = 1,
                                                      .type = v->type,
                                                      .width = v->width,
                                                      .height = v->height,
                                                      .depth = v->depth,
                                                      .threshold = v->type == SLC_IMAGE_BITS ? 0
                                                                   : local                   ? (double)NAN
                                                                                             : job->threshold,
                                                      .pixel_x_um = told ? label->pixel_x_um
                                                                    : is ? own->x_um
                                                                         : 0,
                                                      .pixel_y_um = told ? label->pixel_y_um
                                                                    : is ? own->y_um
                                                                         : 0,
                                                      .pixel_z_um = told ? label->pixel_z_um
                                                                    : is ? own->z_um
                                                                         : 0,
                                                      .pixel_from = told ? "--pixel-size" : own->from,
                                                      .components = (uint32_t)components,
                                                      .filtered = (uint32_t)filtered,
                                                      .foreground = job->foreground,
                                                      .largest = job->most,
                                                      .seconds = seconds};
    job->foreground = job->most = 0;
}

static void add_checksum(slc_label_volume_job *job, uint64_t checksum)
{
    job->label->checksum += job->checksum_factor * checksum;
    job->checksum_factor *= SLC_CHECKSUM_FACTOR;
}

bool slc_label_volume_take(slc_label_volume_job *job, const slc_volume_components *found, uint32_t n,
                           uint32_t filtered, double seconds)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema own = slc_volume_components_schema(job->config.features, columns);
    if (job->label->stats != NULL) {
        add_checksum(job, slc_columns_checksum(&own, found, 0, 0));
    }
    const bool good = job->label->stats == NULL || write_rows(job, found, 0);
    add_page(job, n, filtered, seconds);
    return good;
}

static bool stream_volume(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    job->seconds = 0;
    job->n_closed = 0;
    job->threshold = label->config.threshold;
    bool good = slc_label_volume_read(job, path_of(job), &job->stack, push_slice, job->config.equal);
    if (good) {
        const double began = slc_clock_seconds();
        tell_threshold(job);
        good = slc_volume_stream_finish(job->stream, &job->closed, &label->error) == SLC_OK || complain(job);
        job->seconds += slc_clock_seconds() - began;
    }
    good = good && write_closed(job, true);
    if (good) {
        add_page(job, job->n_closed, slc_volume_stream_filtered(job->stream), job->seconds);
        add_checksum(job, job->checksum);
    }
    slc_volume_stream_close(job->stream);
    job->stream = NULL;
    return good;
}

static bool check_intensity(const slc_label_volume_job *job)
{
    const slc_volume *v = &job->stack.volume, *grey = &job->grey.volume;
    const char *path = job->label->options->intensity;
    const bool good = path == NULL ||
                      (grey->width == v->width && grey->height == v->height && grey->depth == v->depth);
    if (!good) {
        slc_cli_say("label", "%s: %zux%zux%zu voxels, and %s has %zux%zux%zu", path, grey->width,
                    grey->height, grey->depth, path_of(job), v->width, v->height, v->depth);
    }
    return good;
}

static bool do_volume(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_volume foreground;
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {.labels = NULL, .components = label->stats != NULL ? &found : NULL};
    if (!slc_label_volume_read(job, path_of(job), &job->stack, NULL, job->config.equal) ||
        !check_intensity(job)) {
        return false;
    }
    tell_threshold(job);
    const double began = slc_clock_seconds();
    if (!choose_threshold(job) || !make_mask(job, &foreground)) {
        return false;
    }
    const slc_volume *grey = label->options->intensity != NULL ? &job->grey.volume : &job->stack.volume;
    const slc_status status = slc_volume_run_grey(job->labeller, &foreground, grey, &out, &label->error);
    double seconds = slc_clock_seconds() - began;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema own = slc_volume_components_schema(job->config.features, columns);
    bool good = status == SLC_OK;
    if (!good) {
        slc_cli_say("label", "%s: %s", path_of(job), label->error.text);
    }
    const slc_image all = {job->stack.volume.voxels, job->stack.volume.width,
                           job->stack.volume.height * job->stack.volume.depth, job->stack.volume.stride,
                           job->stack.volume.type};
    if (good && out.n_labels == 0 && !job->config.equal && slc_label_is_missed(label->options, &all)) {
        slc_cli_say("label", "%s: %s", path_of(job), SLC_LABEL_MISSED);
    }
    const bool drawn = label->image_writer != NULL || label->mask_writer != NULL;
    good = good && (!drawn || write_labels(job, &seconds));
    good = good &&
           slc_label_volume_take(job, &found, out.n_labels, slc_volume_filtered(job->labeller), seconds);
    slc_columns_clear(&own, &found);
    return good;
}

/* ---- label volumes ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* A row of labels as 32 bits, of which those that are not in `kept`, rising, become 0. Mostly a voxel has the
 * label of the one before it. */
static void take_labels(const void *row, slc_image_type type, size_t width, const slc_volume_components *kept,
                        uint32_t *to)
{
    uint32_t last = 0, becomes = 0;
    for (size_t x = 0; x < width; x++) {
        const uint32_t label = type == SLC_IMAGE_U8    ? ((const uint8_t *)row)[x]
                               : type == SLC_IMAGE_U16 ? ((const uint16_t *)row)[x]
                               : type == SLC_IMAGE_U32 ? ((const uint32_t *)row)[x]
                               : type == SLC_IMAGE_U64 ? (uint32_t)((const uint64_t *)row)[x]
                                                       : ((const uint8_t *)row)[x / 8] >> x % 8 & 1U;
        if (label != last) {
            const bool is = label != 0 && kept->head.size > 0 &&
                            bsearch(&label, kept->label, kept->head.size, sizeof label, compare) != NULL;
            becomes = is ? label : 0;
            last = label;
        }
        to[x] = becomes;
    }
}

/* The labels that are kept, slice by slice. */
static bool write_kept(slc_label_volume_job *job, const slc_volume_components *kept)
{
    const slc_volume *v = &job->stack.volume;
    slc_label_job *label = job->label;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *job->labels);
    slc_status status = SLC_OK;
    free(job->labels);
    job->labels = calloc(v->width * v->height, sizeof *job->labels);
    if (job->labels == NULL) {
        slc_cli_say("label", "%s: no memory for the labels of a slice", path_of(job));
        return false;
    }
    for (size_t z = 0; z < v->depth && status == SLC_OK; z++) {
        for (size_t y = 0; y < v->height; y++) {
            const char *from = (const char *)v->voxels + (ptrdiff_t)z * v->slice_stride +
                               (ptrdiff_t)y * v->stride;
            take_labels(from, v->type, v->width, kept, job->labels + y * v->width);
        }
        const slc_image slice = {job->labels, v->width, v->height, row, SLC_IMAGE_U32};
        if (label->image_writer != NULL) {
            status = slc_io_image_writer_add(label->image_writer, &slice, &label->error);
        }
        if (status == SLC_OK && label->mask_writer != NULL) {
            status = write_mask_slice(job, job->labels);
        }
    }
    return status == SLC_OK || complain(job);
}

static bool measure_volume(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_volume_components found = {.volume = NULL};
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_volume_measure_config config;
    uint32_t filtered = 0;
    slc_volume_measure_config_default(&config);
    config.features = job->config.features | SLC_VOLUME_LABEL;
    config.filter = job->config.filter;
    config.largest = job->config.largest;
    if (!slc_label_volume_read(job, path_of(job), &job->stack, NULL, true) || !check_intensity(job)) {
        return false;
    }
    const slc_volume *grey = label->options->intensity != NULL ? &job->grey.volume : NULL;
    const double began = slc_clock_seconds();
    const slc_status status = slc_volume_measure(&config, &job->stack.volume, grey, &found, &filtered,
                                                 &label->error);
    const double seconds = slc_clock_seconds() - began;
    const bool drawn = label->image_writer != NULL || label->mask_writer != NULL;
    const slc_schema own = slc_volume_components_schema(config.features, columns);
    bool good = status == SLC_OK;
    if (!good) {
        slc_cli_say("label", "%s: %s", path_of(job), label->error.text);
    }
    good = good && (!drawn || write_kept(job, &found));
    if (good && label->stats != NULL) {
        add_checksum(job, slc_columns_checksum(&own, &found, 0, 0));
        good = write_rows(job, &found, 0);
    }
    job->threshold = (double)NAN;
    add_page(job, found.head.size, filtered, seconds);
    slc_columns_clear(&own, &found);
    return good;
}

/* ---- what is printed --------------------------------------------------------------------------- */

static bool print_tree(const slc_label_volume_job *job)
{
    static const slc_cli_column columns[] = {
        {"volume", 0, "{input}", NULL},       {"size", 17, "{.size}", NULL},
        {"type", 5, "{type}", NULL},          {"components", 11, "{components}", NULL},
        {"time [ms]", 10, "{.ms|.3f}", NULL}, {"left out", 9, "{filtered}", NULL}};
    const slc_label_job *label = job->label;
    const bool filters = label->options->filter != NULL || label->options->largest > 0;
    slc_cli_tree tree = slc_cli_tree_new("label");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "simd", slc_simd_name(job->config.exec.target));
    slc_cli_put_bool(&tree, "volume", true);
    slc_cli_put_bool(&tree, "labels", label->options->labels);
    slc_cli_put(&tree, "connectivity", label->options->labels ? 0 : job->config.connectivity);
    slc_cli_put(&tree, "equal", job->config.equal);
    slc_cli_put(&tree, "inverse", job->config.inverse);
    slc_cli_put(&tree, "periodic", label->options->periodic != NULL ? label->options->periodic : "");
    slc_label_put_rule(&tree, label);
    if (filters) {
        slc_cli_put(&tree, "filter", label->options->filter != NULL ? label->options->filter : "");
        slc_cli_put(&tree, "largest", label->options->largest);
    }
    slc_cli_put(&tree, "intensity", label->options->intensity != NULL ? label->options->intensity : "");
    slc_cli_put_bool(&tree, "stream", label->options->stream);
    slc_cli_put(&tree, "warnings", label->warnings);
    if (label->options->stats != NULL) {
        slc_cli_put_hex(&tree, "checksum", label->checksum);
    }
    slc_cli_put_array(&tree, "volumes");
    for (size_t i = 0; i < label->n_pages; i++) {
        const slc_label_page *page = &label->pages[i];
        char size[80];
        slc_cli_tree row = slc_cli_append(&tree, "volumes");
        (void)snprintf(size, sizeof size, "%zux%zux%zu", page->width, page->height, page->depth);
        slc_cli_put(&row, "input", label->inputs[page->input - 1]);
        slc_cli_put(&row, "type", slc_image_type_name(page->type));
        slc_cli_put(&row, "width", page->width);
        slc_cli_put(&row, "height", page->height);
        slc_cli_put(&row, "depth", page->depth);
        slc_cli_put(&row, "threshold", page->threshold);
        slc_cli_put(&row, "components", page->components);
        slc_cli_put(&row, "filtered", page->filtered);
        slc_cli_put(&row, "seconds", page->seconds);
        if (page->pixel_x_um > 0) {
            slc_cli_put(&row, "pixel_x_um", page->pixel_x_um);
            slc_cli_put(&row, "pixel_y_um", page->pixel_y_um);
            slc_cli_put(&row, "pixel_z_um", page->pixel_z_um);
            slc_cli_put(&row, "pixel_from", page->pixel_from);
        }
        slc_cli_put_text(&row, ".size", size);
        slc_cli_put(&row, ".ms", 1e3 * page->seconds);
    }
    if (label->options->json) {
        return slc_cli_tree_print_json(&tree);
    }
    slc_cli_print_table(&tree, "volumes", " ", columns, sizeof columns / sizeof *columns - !filters);
    slc_cli_tree_clear(&tree);
    return true;
}

bool slc_label_volume_print(const slc_label_volume_job *job)
{
    const slc_label_job *label = job->label;
    const bool has_files = slc_label_has_files(label->options);
    if (label->options->json || (!label->options->quiet && !has_files)) {
        return print_tree(job);
    }
    uint64_t components = 0, filtered = 0;
    double seconds = 0;
    for (size_t i = 0; i < label->n_pages; i++) {
        components += label->pages[i].components;
        filtered += label->pages[i].filtered;
        seconds += label->pages[i].seconds;
    }
    if (!label->options->quiet) {
        slc_cli_say("label", "%" PRIu64 " component%s in %zu volume%s, labelled in %.3f ms", components,
                    components == 1 ? "" : "s", label->n_pages, label->n_pages == 1 ? "" : "s",
                    1e3 * seconds);
        if (filtered > 0) {
            slc_cli_say("label", "%" PRIu64 " component%s left out", filtered,
                        filtered == 1 ? " was" : "s were");
        }
    }
    return true;
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Volumes beside the one that is labelled. */
static bool read_others(slc_label_volume_job *job)
{
    const char *mask = job->label->options->mask, *grey = job->label->options->intensity;
    return (mask == NULL || slc_label_volume_read(job, mask, &job->within, NULL, false)) &&
           (grey == NULL || slc_label_volume_read(job, grey, &job->grey, NULL, false));
}

static int run(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_cli_end_with_signals(label->inputs, label->n_inputs);
    slc_cli_catch_signals();
    bool good = read_others(job) && slc_label_open_outputs(label);
    if (good && label->image_writer != NULL) {
        slc_io_image_writer_slices(label->image_writer);
    }
    if (good && label->mask_writer != NULL) {
        slc_io_image_writer_slices(label->mask_writer);
    }
    for (int i = 0; i < label->n_inputs && good; i++) {
        job->input = (uint32_t)i + 1;
        good = (label->options->labels   ? measure_volume(job)
                : label->options->stream ? stream_volume(job)
                                         : do_volume(job)) &&
               !slc_cli_interrupted();
    }
    good = slc_label_close_outputs(label, good);
    return good && slc_label_volume_print(job) ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

int slc_label_volume_begin(const slc_cli_call *call, slc_label_volume_job *job)
{
    slc_label_job *label = calloc(1, sizeof *label);
    *job = (slc_label_volume_job){.label = label, .checksum_factor = 1};
    if (label == NULL) {
        slc_cli_say("label", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    label->options = call->options;
    label->inputs = call->operands;
    label->n_inputs = call->n;
    label->command_line = call->command_line;
    label->pages = calloc((size_t)label->n_inputs, sizeof *label->pages);
    if (label->pages == NULL) {
        slc_cli_say("label", "no memory for the list of volumes");
        return SLC_CLI_FAILED;
    }
    return slc_label_volume_ask(job);
}

void slc_label_volume_end(slc_label_volume_job *job)
{
    const slc_schema places = {"components", job->place_columns, job->n_places};
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema own = slc_volume_components_schema(job->config.features, columns);
    slc_columns_clear(&own, &job->closed);
    slc_columns_clear(&places, &job->rows);
    slc_volume_close(job->labeller);
    slc_batch_clear(&job->stack.memory);
    slc_batch_clear(&job->within.memory);
    slc_batch_clear(&job->grey.memory);
    free(job->mask);
    free(job->labels);
    slc_label_end(job->label);
}

int slc_label_volume(const slc_cli_call *call)
{
    slc_label_volume_job job;
    int status = slc_label_volume_begin(call, &job);
    status = status == SLC_CLI_GO_ON ? slc_label_volume_open(&job) : status;
    status = status == SLC_CLI_GO_ON ? run(&job) : status;
    slc_label_volume_end(&job);
    return status;
}
