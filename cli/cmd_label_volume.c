/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice label --volume`: the pages of each input, or the images of a folder, are the slices of a volume,
 * which is labelled as a whole, or with --stream slice by slice, so that memory does not hold it.
 */
#include "cli_tree.h"
#include "cli_words.h"
#include "cmd_label.h"
#include "cmd_label_files.h"
#include "cmd_label_mask.h"
#include "cmd_label_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_label)

/* The components as they are written: the library's columns after three that say where a row is from. */
typedef struct volume_rows {
    slc_volume_components columns;
    uint32_t *input, *page, *label; /* all from 1; a volume is one page */
} volume_rows;
enum { MANY_THREADS = 32 }; /* that make labels of slices at once */
enum { PLACES = 3, COLUMNS = SLC_VOLUME_COLUMNS + PLACES };

typedef struct volume_job {
    slc_label_job *label; /* what volumes have in common with images */
    slc_volume_config config;
    slc_volume_labeller *labeller;
    slc_volume_stream *stream;    /* of the volume at work, with --stream */
    slc_volume_components closed; /* its components that have ended and are not written */
    double seconds;               /* of labelling it */
    uint64_t checksum, n_closed;
    slc_column columns[COLUMNS];
    volume_rows rows;
    /* The volume at work, its slices one behind the other. */
    slc_volume volume;
    char *voxels;
    size_t capacity;
    uint32_t *labels; /* of some of its slices */
    uint64_t checksum_factor;
} volume_job;

static bool complain(const volume_job *job)
{
    slc_cli_say("label", "%s", job->label->error.text);
    return false;
}

/* ---- what is asked for ------------------------------------------------------------------------- */

/* Words that volumes do not have. */
static int check_words(const slc_label_options *options, int n_inputs)
{
    static const char *const others[] = {"preview",   "inverse",       "min-area",  "max-area",  "border",
                                         "device",    "device-memory", "algorithm", "part",      "labels",
                                         "intensity", "filter",        "largest",   "pixel-size"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (slc_cli_word(COMMAND, others[i]) != NULL) {
            return slc_cli_wrong(COMMAND, "--volume does not go with --%s", others[i]);
        }
    }
    const char *word = slc_label_mask_word(options);
    if (word != NULL) {
        return slc_cli_wrong(COMMAND, "--volume does not go with %s", word);
    }
    if (options->equal && options->threshold != NULL) {
        return slc_cli_wrong(COMMAND, "--equal does not go with --threshold");
    }
    if (options->stream && (options->output != NULL || options->threads != 1)) {
        return slc_cli_wrong(COMMAND, "--volume --stream does not go with %s",
                             options->output != NULL ? "--output" : "--threads");
    }
    if (options->output != NULL && n_inputs > 1) {
        return slc_cli_wrong(COMMAND, "--volume writes the labels of one input, not of %d", n_inputs);
    }
    if (options->output != NULL &&
        (slc_cli_ends_with(options->output, ".png") || slc_cli_ends_with(options->output, ".pgm"))) {
        return slc_cli_wrong(COMMAND, "--volume writes labels of 32 bits: .npy or .tif, not %s",
                             options->output);
    }
    if (options->stats == NULL && slc_cli_word(COMMAND, "features") != NULL) {
        return slc_cli_wrong(COMMAND, "--features needs --stats, where they go");
    }
    return slc_cli_results_check(COMMAND, "stats", false, options->stats, &options->results);
}

/* Features have the names that they have of images; `area` is the volume. */
static int choose_features(const slc_label_options *options, uint32_t *features)
{
    static const uint32_t of[][2] = {
        {SLC_IMAGE_AREA, SLC_VOLUME_SIZE},     {SLC_IMAGE_BOX, SLC_VOLUME_BOX},
        {SLC_IMAGE_FIRST, SLC_VOLUME_FIRST},   {SLC_IMAGE_SUMS, SLC_VOLUME_SUMS},
        {SLC_IMAGE_SECOND, SLC_VOLUME_SECOND}, {SLC_IMAGE_CENTROID, SLC_VOLUME_CENTROID}};
    uint32_t left = options->features == SLC_IMAGE_MEASURES ? 0 : options->features;
    *features = options->features == SLC_IMAGE_MEASURES ? SLC_VOLUME_ALL : 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        *features |= (left & of[i][0]) != 0 ? of[i][1] : 0;
        left &= ~of[i][0];
    }
    for (uint32_t flag = 1; flag <= SLC_IMAGE_MEASURES; flag <<= 1) {
        if ((left & flag) != 0) {
            return slc_cli_wrong(COMMAND,
                                 "--volume has no feature '%s': area (the volume), box, first, sums, second, "
                                 "centroid, all",
                                 slc_image_feature_name(flag));
        }
    }
    return SLC_CLI_GO_ON;
}

/* Axes with commas between them, each at most once. */
static int choose_periodic(const char *text, uint32_t *periodic)
{
    static const char axes[] = "xyz";
    const char *at = text;
    do {
        const char *axis = *at != '\0' ? strchr(axes, *at) : NULL;
        const uint32_t bit = axis != NULL ? (uint32_t)1 << (axis - axes) : 0;
        if (bit == 0 || (*periodic & bit) != 0 || (at[1] != ',' && at[1] != '\0')) {
            return slc_cli_wrong(COMMAND, "--periodic takes x, y, z or several with commas, not '%s'", text);
        }
        *periodic |= bit;
        at += at[1] == ',' ? 2 : 1;
    } while (*at != '\0' || at[-1] == ',');
    return SLC_CLI_GO_ON;
}

static int choose_config(volume_job *job, const slc_label_options *options)
{
    slc_volume_config *config = &job->config;
    slc_volume_config_default(config);
    const uint64_t connectivity = slc_cli_word(COMMAND, "connectivity") != NULL ? options->connectivity : 26;
    if (connectivity != 6 && connectivity != 18 && connectivity != 26) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 6, 18 or 26 with --volume, not '%llu'",
                             (unsigned long long)connectivity);
    }
    config->connectivity = (uint32_t)connectivity;
    config->equal = options->equal;
    if (options->threshold != NULL && !slc_cli_real(options->threshold, &config->threshold)) {
        return slc_cli_wrong(COMMAND, "--threshold takes a number with --volume, not '%s'",
                             options->threshold);
    }
    if (slc_simd_choose(options->simd, &config->exec.target, &job->label->error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", job->label->error.text);
    }
    config->exec.threads = (uint32_t)options->threads;
    int status = options->periodic != NULL ? choose_periodic(options->periodic, &config->periodic)
                                           : SLC_CLI_GO_ON;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    status = options->stats != NULL ? choose_features(options, &config->features) : SLC_CLI_GO_ON;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    const slc_schema own = slc_volume_components_schema(config->features, job->columns + PLACES);
    job->label->written = (slc_schema){"components", job->columns, own.n_columns + PLACES};
    return SLC_CLI_GO_ON;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Memory for `bytes`, of which those that are in use are kept. */
static bool grow(volume_job *job, size_t bytes)
{
    if (bytes <= job->capacity) {
        return true;
    }
    const size_t doubled = job->capacity < SIZE_MAX / 2 ? 2 * job->capacity : bytes;
    const size_t capacity = doubled > bytes ? doubled : bytes;
    char *voxels = realloc(job->voxels, capacity);
    if (voxels != NULL) {
        job->voxels = voxels;
        job->capacity = capacity;
    }
    return voxels != NULL;
}

/* The first slice says what the others are to be. */
static bool check_slice(volume_job *job, const char *path, const slc_image *image)
{
    slc_volume *volume = &job->volume;
    const size_t row = slc_image_row_bytes(image->type, image->width);
    if (volume->depth == 0) {
        *volume = (slc_volume){.width = image->width,
                               .height = image->height,
                               .stride = (ptrdiff_t)row,
                               .slice_stride = (ptrdiff_t)(row * image->height),
                               .type = image->type};
    } else if (image->width != volume->width || image->height != volume->height ||
               image->type != volume->type) {
        slc_cli_say("label", "%s: slice %zu is %zux%zu of %s, those before it are %zux%zu of %s: no volume",
                    path, volume->depth + 1, image->width, image->height, slc_image_type_name(image->type),
                    volume->width, volume->height, slc_image_type_name(volume->type));
        return false;
    }
    return true;
}

static bool take_slice(volume_job *job, const char *path, const slc_image *image)
{
    slc_volume *volume = &job->volume;
    if (!check_slice(job, path, image)) {
        return false;
    }
    const size_t row = (size_t)volume->stride, slice = row * image->height, used = slice * volume->depth;
    if (used > SIZE_MAX - slice || !grow(job, used + slice)) {
        slc_cli_say("label", "%s: no memory for %zu slices of %zux%zu", path, volume->depth + 1, image->width,
                    image->height);
        return false;
    }
    for (size_t y = 0; y < image->height; y++) {
        memcpy(job->voxels + used + y * row, (const char *)image->pixels + (ptrdiff_t)y * image->stride, row);
    }
    volume->depth++;
    return true;
}

/* After so many components of the volume. */
static bool write_rows(volume_job *job, uint32_t input, const slc_volume_components *found, uint32_t before)
{
    const slc_schema places = {"components", job->columns, PLACES};
    if (slc_columns_reserve(&places, &job->rows, found->head.size, 1) != SLC_OK) {
        slc_cli_say("label", "no memory for the components");
        return false;
    }
    volume_rows rows = job->rows;
    rows.columns = *found;
    for (size_t i = 0; i < found->head.size; i++) {
        rows.input[i] = input;
        rows.page[i] = 1;
        rows.label[i] = before + (uint32_t)i + 1;
    }
    return slc_label_stats_rows(job->label, &rows, input) == SLC_OK || complain(job);
}

/* Components that have ended are written, or counted alone; with `last` all have. */
static bool write_closed(volume_job *job, uint32_t input, bool last)
{
    const size_t n = job->closed.head.size;
    const bool wanted = job->label->stats != NULL;
    if (job->n_closed + n > UINT32_MAX) {
        slc_cli_say("label", "%s: more components than 32 bits can number", job->label->inputs[input - 1]);
        return false;
    }
    if (wanted && (n > 0 || last)) {
        if (last) {
            slc_columns_end_event(&job->closed);
        }
        if (!write_rows(job, input, &job->closed, (uint32_t)job->n_closed)) {
            return false;
        }
    }
    job->n_closed += n;
    slc_columns_reset(&job->closed);
    return true;
}

static bool push_slice(volume_job *job, uint32_t input, const char *path, const slc_image *image)
{
    slc_label_job *label = job->label;
    const bool first = job->volume.depth == 0;
    if (!check_slice(job, path, image)) {
        return false;
    }
    const slc_volume slice = {image->pixels, image->width, image->height, 1, image->stride, 0, image->type};
    const double began = slc_clock_seconds();
    slc_status status = !first ? SLC_OK
                               : slc_volume_stream_open(&job->config, &job->volume, &job->checksum,
                                                        &job->stream, &label->error);
    status = status == SLC_OK ? slc_volume_stream_push(job->stream, &slice, &job->closed, &label->error)
                              : status;
    job->seconds += slc_clock_seconds() - began;
    if (status != SLC_OK) {
        slc_cli_say("label", "%s: slice %zu: %s", path, job->volume.depth + 1, label->error.text);
        return false;
    }
    job->volume.depth++;
    return write_closed(job, input, false);
}

/* What is to be told of a slice: the first is, and how many there are. */
static void take_warning(volume_job *job, const slc_io_images *images, uint64_t *told)
{
    const char *warning = slc_io_images_warning(images);
    if (warning != NULL) {
        if (*told == 0) {
            slc_cli_say("label", "%s", warning);
        }
        ++*told;
        job->label->warnings++;
    }
}

/* The slices of a file into memory, or with --stream into the stream. */
static bool read_slices(volume_job *job, uint32_t input, const char *path)
{
    slc_error *error = &job->label->error;
    slc_io_image_config config;
    slc_io_images *images = NULL;
    slc_image image;
    uint64_t told = 0;
    slc_io_image_config_default(&config);
    config.volume = true;
    config.labels = job->config.equal;
    slc_status status = slc_io_images_open(path, &config, &images, error);
    bool good = status == SLC_OK;
    while (good && (status = slc_io_images_next(images, &image, error)) == SLC_OK) {
        take_warning(job, images, &told);
        good = (job->label->options->stream ? push_slice(job, input, path, &image)
                                            : take_slice(job, path, &image)) &&
               !slc_cli_interrupted();
    }
    if (status == SLC_END) {
        take_warning(job, images, &told);
    } else if (status != SLC_OK) {
        good = complain(job);
    }
    if (told > 1) {
        slc_cli_say("label", "%s: as much is to be told of %" PRIu64 " more of its slices", path, told - 1);
    }
    slc_io_images_close(images);
    return good;
}

/* An input is a file, or a folder whose images are one volume. */
static bool read_volume(volume_job *job, uint32_t input)
{
    slc_label_files files = {.n = 0};
    job->volume = (slc_volume){.depth = 0};
    bool good = slc_label_files_add(&files, job->label->inputs[input - 1]) == SLC_CLI_GO_ON;
    for (size_t i = 0; i < files.n && good; i++) {
        const char *path = files.inputs[i], *output = job->label->options->output;
        if (output != NULL && slc_cli_same_file(path, output)) {
            slc_cli_say("label", "%s: a slice of the volume, and its output", path);
            good = false;
            break;
        }
        good = read_slices(job, input, path);
    }
    slc_label_files_clear(&files);
    job->volume.voxels = job->voxels;
    return good;
}

/* ---- labelling, and what is written ------------------------------------------------------------ */

/* The labels of the volume that was labelled last, a few slices at a time, which fit the caches. Their making
 * is part of the time of labelling, their writing is not. */
static bool write_labels(volume_job *job, const char *path, double *seconds)
{
    const slc_volume *v = &job->volume;
    slc_label_job *label = job->label;
    const uint32_t threads = job->config.exec.threads;
    const size_t most = 2 * (size_t)(threads > 0 && threads < MANY_THREADS ? threads : MANY_THREADS);
    const size_t at_once = most < v->depth ? most : v->depth, plane = v->width * v->height;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *job->labels);
    free(job->labels);
    job->labels = at_once > 0 && plane > 0 ? calloc(at_once, plane * sizeof *job->labels) : NULL;
    if (job->labels == NULL) {
        slc_cli_say("label", "%s: no memory for the labels of %zu slices of %zux%zu voxels", path, at_once,
                    v->width, v->height);
        return false;
    }
    const slc_volume_labels out = {job->labels, row, row * (ptrdiff_t)v->height, NULL, 0};
    bool good = true;
    for (size_t first = 0; first < v->depth && good; first += at_once) {
        const size_t n = v->depth - first < at_once ? v->depth - first : at_once;
        const double began = slc_clock_seconds();
        good = slc_volume_slices(job->labeller, first, n, &out, &label->error) == SLC_OK;
        *seconds += slc_clock_seconds() - began;
        for (size_t k = 0; k < n && good; k++) {
            const slc_image slice = {job->labels + k * plane, v->width, v->height, row, SLC_IMAGE_U32};
            good = slc_io_image_writer_add(label->image_writer, &slice, &label->error) == SLC_OK;
        }
    }
    return good || complain(job);
}

/* A threshold above all that so many bits can be is no mistake in principle, and most likely one. */
static void tell_threshold(const volume_job *job, const char *path)
{
    const slc_image_type type = job->volume.type;
    const unsigned bits = type == SLC_IMAGE_U8 ? 8 : type == SLC_IMAGE_U16 ? 16 : 0;
    if (bits > 0 && job->config.threshold >= (double)(1U << bits)) {
        slc_cli_say("label", "%s: no voxel of %u bits is at or above the threshold of %g", path, bits,
                    job->config.threshold);
    }
}

static void add_page(volume_job *job, uint32_t input, uint32_t components, double seconds)
{
    const slc_volume *v = &job->volume;
    job->label->pages[job->label->n_pages++] = (slc_label_page){
        .input = input,
        .page = 1,
        .type = v->type,
        .width = v->width,
        .height = v->height,
        .depth = v->depth,
        .threshold = v->type == SLC_IMAGE_BITS ? 0 : job->config.threshold,
        .components = components,
        .seconds = seconds};
}

static void add_checksum(volume_job *job, uint64_t checksum)
{
    job->label->checksum += job->checksum_factor * checksum;
    job->checksum_factor *= SLC_CHECKSUM_FACTOR;
}

static bool stream_volume(volume_job *job, uint32_t input)
{
    slc_label_job *label = job->label;
    job->seconds = 0;
    job->n_closed = 0;
    bool good = read_volume(job, input);
    if (good) {
        const double began = slc_clock_seconds();
        tell_threshold(job, label->inputs[input - 1]);
        good = slc_volume_stream_finish(job->stream, &job->closed, &label->error) == SLC_OK || complain(job);
        job->seconds += slc_clock_seconds() - began;
    }
    good = good && write_closed(job, input, true);
    if (good) {
        add_page(job, input, (uint32_t)job->n_closed, job->seconds);
        add_checksum(job, job->checksum);
    }
    slc_volume_stream_close(job->stream);
    job->stream = NULL;
    return good;
}

static bool do_volume(volume_job *job, uint32_t input)
{
    slc_label_job *label = job->label;
    const char *path = label->inputs[input - 1];
    if (!read_volume(job, input)) {
        return false;
    }
    tell_threshold(job, path);
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {.labels = NULL, .components = label->stats != NULL ? &found : NULL};
    const double began = slc_clock_seconds();
    const slc_status status = slc_volume_run(job->labeller, &job->volume, &out, &label->error);
    double seconds = slc_clock_seconds() - began;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema own = slc_volume_components_schema(job->config.features, columns);
    bool good = status == SLC_OK;
    if (!good) {
        slc_cli_say("label", "%s: %s", path, label->error.text);
    }
    good = good && (label->image_writer == NULL || write_labels(job, path, &seconds));
    add_page(job, input, out.n_labels, seconds);
    if (good && label->stats != NULL) {
        add_checksum(job, slc_columns_checksum(&own, &found, 0, 0));
        good = write_rows(job, input, &found, 0);
    }
    slc_columns_clear(&own, &found);
    return good;
}

/* ---- what is printed --------------------------------------------------------------------------- */

static bool print_tree(const volume_job *job)
{
    static const slc_cli_column columns[] = {{"volume", 0, "{input}", NULL},
                                             {"size", 17, "{.size}", NULL},
                                             {"type", 5, "{type}", NULL},
                                             {"components", 11, "{components}", NULL},
                                             {"time [ms]", 10, "{.ms|.3f}", NULL}};
    const slc_label_job *label = job->label;
    slc_cli_tree tree = slc_cli_tree_new("label");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "simd", slc_simd_name(job->config.exec.target));
    slc_cli_put_bool(&tree, "volume", true);
    slc_cli_put(&tree, "connectivity", job->config.connectivity);
    slc_cli_put(&tree, "equal", job->config.equal);
    slc_cli_put(&tree, "periodic", label->options->periodic != NULL ? label->options->periodic : "");
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
        slc_cli_put(&row, "seconds", page->seconds);
        slc_cli_put_text(&row, ".size", size);
        slc_cli_put(&row, ".ms", 1e3 * page->seconds);
    }
    if (label->options->json) {
        return slc_cli_tree_print_json(&tree);
    }
    slc_cli_print_table(&tree, "volumes", " ", columns, sizeof columns / sizeof *columns);
    slc_cli_tree_clear(&tree);
    return true;
}

static bool print(const volume_job *job)
{
    const slc_label_job *label = job->label;
    const bool has_files = slc_label_has_files(label->options);
    if (label->options->json || (!label->options->quiet && !has_files)) {
        return print_tree(job);
    }
    uint64_t components = 0;
    double seconds = 0;
    for (size_t i = 0; i < label->n_pages; i++) {
        components += label->pages[i].components;
        seconds += label->pages[i].seconds;
    }
    if (!label->options->quiet) {
        slc_cli_say("label", "%" PRIu64 " component%s in %zu volume%s, labelled in %.3f ms", components,
                    components == 1 ? "" : "s", label->n_pages, label->n_pages == 1 ? "" : "s",
                    1e3 * seconds);
    }
    return true;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int run(volume_job *job)
{
    slc_label_job *label = job->label;
    if (slc_volume_open(&job->config, &job->labeller, &label->error) != SLC_OK) {
        (void)complain(job);
        return SLC_CLI_FAILED;
    }
    label->pages = calloc((size_t)label->n_inputs, sizeof *label->pages);
    if (label->pages == NULL) {
        slc_cli_say("label", "no memory for the list of volumes");
        return SLC_CLI_FAILED;
    }
    slc_cli_end_with_signals(label->inputs, label->n_inputs);
    slc_cli_catch_signals();
    bool good = slc_label_open_outputs(label);
    if (good && label->image_writer != NULL) {
        slc_io_image_writer_slices(label->image_writer);
    }
    for (int i = 0; i < label->n_inputs && good; i++) {
        const uint32_t input = (uint32_t)i + 1;
        good = (label->options->stream ? stream_volume(job, input) : do_volume(job, input)) &&
               !slc_cli_interrupted();
    }
    good = slc_label_close_outputs(label, good);
    return good && print(job) ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

int slc_label_volume(const slc_cli_call *call)
{
    slc_label_job *label = calloc(1, sizeof *label);
    if (label == NULL) {
        slc_cli_say("label", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    volume_job job = {.label = label,
                      .checksum_factor = 1,
                      .columns = {{"input", "index", offsetof(volume_rows, input), SLC_TYPE_U32},
                                  {"page", "index", offsetof(volume_rows, page), SLC_TYPE_U32},
                                  {"label", "index", offsetof(volume_rows, label), SLC_TYPE_U32}}};
    label->options = call->options;
    label->inputs = call->operands;
    label->n_inputs = call->n;
    label->command_line = call->command_line;
    int status = check_words(label->options, call->n);
    status = status == SLC_CLI_GO_ON ? choose_config(&job, label->options) : status;
    status = status == SLC_CLI_GO_ON ? run(&job) : status;
    const slc_schema places = {"components", job.columns, PLACES};
    const slc_schema own = {"components", job.columns + PLACES, job.label->written.n_columns - PLACES};
    if (job.label->written.n_columns > 0) {
        slc_columns_clear(&own, &job.closed);
    }
    slc_columns_clear(&places, &job.rows);
    slc_volume_close(job.labeller);
    free(job.voxels);
    free(job.labels);
    slc_label_end(label);
    return status;
}
