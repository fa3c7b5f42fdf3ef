/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice label --volume`: the pages of each input, or the images of a folder, are the slices of a volume,
 * which is labelled as a whole, or with --stream slice by slice, so that memory does not hold it.
 */
#include "cmd_label_volume.h"
#include "cli_tree.h"
#include "cli_words.h"
#include "cmd_label_mask.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_THREADS = 32 }; /* that make labels of slices at once */

bool slc_label_volume_complain(const slc_label_volume_job *job)
{
    slc_cli_say("label", "%s", job->label->error.text);
    return false;
}

/* ---- what is written --------------------------------------------------------------------------- */

/* After so many components of the volume. */
bool slc_label_volume_rows_add(slc_label_volume_job *job, const slc_volume_components *found, uint32_t before)
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
    return slc_label_volume_sizes(job, slc_label_volume_path(job), &rows) &&
           (slc_label_stats_rows(job->label, &rows, job->input) == SLC_OK || slc_label_volume_complain(job));
}

/* What has a label as 255, in the place of the labels. */
slc_status slc_label_volume_mask_slice(const slc_label_volume_job *job, uint32_t *labels)
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
        slc_cli_say("label", "%s: no memory for the labels of %zu slices of %zux%zu voxels",
                    slc_label_volume_path(job), at_once, v->width, v->height);
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
                status = slc_label_volume_mask_slice(job, job->labels + k * plane);
            }
        }
    }
    return status == SLC_OK || slc_label_volume_complain(job);
}

/* ---- what is foreground ------------------------------------------------------------------------ */

/* A threshold above all that so many bits can be is no mistake in principle, and most likely one. */
void slc_label_volume_tell_threshold(const slc_label_volume_job *job)
{
    const slc_label_job *label = job->label;
    const slc_image_type type = job->stack.volume.type;
    const unsigned bits = type == SLC_IMAGE_U8 ? 8 : type == SLC_IMAGE_U16 ? 16 : 0;
    const bool sown = label->mask_config.rule == SLC_IMAGE_RULE_HYSTERESIS;
    const double least = sown ? label->mask_config.high : label->config.threshold;
    if (bits > 0 && !label->setup.otsu && least >= (double)(1U << bits)) {
        slc_cli_say("label", "%s: no voxel of %u bits is at or above the threshold of %g",
                    slc_label_volume_path(job), bits, least);
    }
}

void slc_label_volume_tell_missed(const slc_label_volume_job *job, slc_label_reach reach)
{
    if (reach == SLC_LABEL_BELOW && !job->config.equal) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), SLC_LABEL_MISSED);
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
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), error.text);
        return false;
    }
    return true;
}

double slc_label_volume_level(slc_image_type type, double threshold)
{
    return type == SLC_IMAGE_F32 && fabs(threshold) <= (double)FLT_MAX ? (double)(float)threshold : threshold;
}

/* The foreground as bits, if a threshold does not say it or is this volume's own. */
bool slc_label_volume_foreground(slc_label_volume_job *job, const slc_volume *v, const slc_volume *within,
                                 slc_volume *foreground)
{
    slc_label_job *label = job->label;
    const size_t row = slc_image_row_bytes(SLC_IMAGE_BITS, v->width);
    job->threshold = is_otsu(job) ? job->threshold : slc_label_volume_level(v->type, job->threshold);
    if (label->setup.mask == NULL && !(job->threshold < label->config.threshold) &&
        !(job->threshold > label->config.threshold)) {
        *foreground = *v;
        return true;
    }
    free(job->mask);
    job->mask = malloc(row * v->height * v->depth);
    if (job->mask == NULL) {
        slc_cli_say("label", "%s: no memory for its foreground", slc_label_volume_path(job));
        return false;
    }
    const ptrdiff_t stride = (ptrdiff_t)row, slice_stride = stride * (ptrdiff_t)v->height;
    *foreground = (slc_volume){job->mask, v->width,     v->height,     v->depth,
                               stride,    slice_stride, SLC_IMAGE_BITS};
    slc_image_mask_config rule = label->mask_config;
    rule.low = job->threshold;
    rule.high = slc_label_volume_level(v->type, rule.high);
    if (slc_volume_mask_make(&job->config, &rule, v, label->options->mask != NULL ? within : NULL, job->mask,
                             stride, slice_stride, &label->error) != SLC_OK) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), label->error.text);
        return false;
    }
    return true;
}

/* With --split the parts of the foreground, as labels, which are the volume whose equal values are labelled:
 * so parts have numbers, features and filters as components have. */
static bool split(slc_label_volume_job *job, slc_volume *foreground)
{
    slc_label_job *label = job->label;
    const size_t plane = foreground->width * foreground->height;
    const ptrdiff_t row = (ptrdiff_t)(foreground->width * sizeof *job->parts);
    uint32_t n = 0;
    if (label->setup.split == NULL) {
        return true;
    }
    free(job->parts);
    job->parts = malloc(plane * foreground->depth * sizeof *job->parts);
    if (job->parts == NULL) {
        slc_cli_say("label", "%s: no memory for its parts", slc_label_volume_path(job));
        return false;
    }
    slc_image_split_config config = label->split_config;
    config.connectivity = job->config.connectivity;
    config.exec = job->config.exec;
    const ptrdiff_t slice = row * (ptrdiff_t)foreground->height;
    if (slc_volume_split(&config, foreground, job->parts, row, slice, &n, &label->error) != SLC_OK) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), label->error.text);
        return false;
    }
    foreground->voxels = job->parts;
    foreground->stride = row;
    foreground->slice_stride = slice;
    foreground->type = SLC_IMAGE_U32;
    return true;
}

/* ---- a volume ---------------------------------------------------------------------------------- */

void slc_label_volume_page(slc_label_volume_job *job, uint64_t components, uint64_t filtered, double seconds)
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

void slc_label_volume_sum(slc_label_volume_job *job, uint64_t checksum)
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
        slc_label_volume_sum(job, slc_columns_checksum(&own, found, 0, 0));
    }
    const bool good = job->label->stats == NULL || slc_label_volume_rows_add(job, found, 0);
    slc_label_volume_page(job, n, filtered, seconds);
    return good;
}

bool slc_label_volume_intensity(const slc_label_volume_job *job)
{
    const slc_volume *v = &job->stack.volume, *grey = &job->grey.volume;
    const char *path = job->label->options->intensity;
    const bool good = path == NULL ||
                      (grey->width == v->width && grey->height == v->height && grey->depth == v->depth);
    if (!good) {
        slc_cli_say("label", "%s: %zux%zux%zu voxels, and %s has %zux%zux%zu", path, grey->width,
                    grey->height, grey->depth, slc_label_volume_path(job), v->width, v->height, v->depth);
    }
    return good;
}

static bool do_volume(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_volume foreground;
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {.labels = NULL, .components = label->stats != NULL ? &found : NULL};
    if (!slc_label_volume_read(job, slc_label_volume_path(job), &job->stack, job->config.equal) ||
        !slc_label_volume_intensity(job)) {
        return false;
    }
    slc_label_volume_tell_threshold(job);
    const double began = slc_clock_seconds();
    if (!choose_threshold(job) ||
        !slc_label_volume_foreground(job, &job->stack.volume, &job->within.volume, &foreground) ||
        !split(job, &foreground)) {
        return false;
    }
    const slc_volume *grey = label->options->intensity != NULL ? &job->grey.volume : &job->stack.volume;
    const slc_status status = slc_volume_run_grey(job->labeller, &foreground, grey, &out, &label->error);
    double seconds = slc_clock_seconds() - began;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema own = slc_volume_components_schema(job->config.features, columns);
    bool good = status == SLC_OK;
    if (!good) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), label->error.text);
    }
    const slc_image all = {job->stack.volume.voxels, job->stack.volume.width,
                           job->stack.volume.height * job->stack.volume.depth, job->stack.volume.stride,
                           job->stack.volume.type};
    if (good && out.n_labels == 0) {
        slc_label_volume_tell_missed(job, slc_label_reach_of(label->options, &all));
    }
    const bool drawn = label->image_writer != NULL || label->mask_writer != NULL;
    good = good && (!drawn || write_labels(job, &seconds));
    good = good &&
           slc_label_volume_take(job, &found, out.n_labels, slc_volume_filtered(job->labeller), seconds);
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

/* Volumes beside the one that is labelled, but such as come slice by slice with it. */
bool slc_label_volume_others(slc_label_volume_job *job)
{
    const char *mask = job->label->options->mask, *grey = job->label->options->intensity;
    return job->label->options->stream ||
           ((mask == NULL || slc_label_volume_read(job, mask, &job->within, false)) &&
            (grey == NULL || slc_label_volume_read(job, grey, &job->grey, false)));
}

static int run(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_cli_end_with_signals(label->inputs, label->n_inputs);
    slc_cli_catch_signals();
    bool good = slc_label_volume_others(job) && slc_label_open_outputs(label);
    if (good && label->image_writer != NULL) {
        slc_io_image_writer_slices(label->image_writer);
    }
    if (good && label->mask_writer != NULL) {
        slc_io_image_writer_slices(label->mask_writer);
    }
    for (int i = 0; i < label->n_inputs && good; i++) {
        job->input = (uint32_t)i + 1;
        good = (label->options->labels   ? slc_label_volume_measure(job)
                : label->options->stream ? slc_label_volume_stream(job)
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
    free(job->parts);
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
