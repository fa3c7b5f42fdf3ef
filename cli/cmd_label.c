/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice label`: the connected components of images; what may be asked for, and how a run begins and ends.
 */
#include "cmd_label.h"
#include "cli_options.h"
#include "cli_words.h"
#include "cmd_label_files.h"
#include "cmd_label_mask.h"
#include "cmd_label_size.h"
#include "cmd_label_words.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_label)

static const char *feature_at(size_t i)
{
    const uint32_t flag = i < 32 ? 1U << i : 0;
    return flag != 0 && flag <= SLC_IMAGE_MEASURES ? slc_image_feature_name(flag) : NULL;
}

#define O slc_label_options
static const slc_cli_choice feature_names = {.kind = "feature", .name = feature_at, .last = "all"};
const slc_cli_option slc_label_option_rows[] = {
    {"output", 'o', OUTPUT_AS(O, output, ENDS_OR(".tiff", ".npy", ".tif", ".png", ".pgm")), "FILE",
     "write the label image: .npy, .tif (32 bits), .png, .pgm (16 bits)"},
    {"stats", 0,
     STDOUT_TOO |
         OUTPUT_AS(O, stats, ENDS_OR(".hdf5", ".csv", ".h5", ".arrow", ".arrows", ".npy", ".npz", ".json")),
     "FILE", "write each component's features: .csv .json .h5 .arrow .arrows .npy .npz"},
    SLC_CLI_RESULTS(O, results),
    SLC_CLI_PART(O, part),
    {"features", 0, CHOICES(O, features, &feature_names), "LIST",
     "which, with commas, or all (default area,box,first,centroid)"},
    {"preview", 0, OUTPUT_AS(O, preview, WORDS(".png")), "FILE",
     "write the first page's components in colours: .png"},
    {"split", 0, TEXT(O, split), "H",
     "cut objects that touch where they are narrower by H pixels: label their parts"},
    {"write-mask", 0, OUTPUT_AS(O, write_mask, ENDS_OR(".tiff", ".npy", ".tif", ".png", ".pgm")), "FILE",
     "write what is kept as 255, all else as 0: .npy .tif .png .pgm"},
    {"connectivity", 0, COUNT(O, connectivity, 0, 0), "N",
     "4 (edges) or 8 (edges and corners); the background has the other"},
    {"threshold", 0, TEXT(O, threshold), "T",
     "foreground: at or above T, or a band LO:HI; otsu: found for a page (default 1)"},
    {"hysteresis", 0, TEXT(O, hysteresis), "LO:HI",
     "foreground: components of pixels at or above LO with one at or above HI"},
    {"local", 0, TEXT(O, local), "HOW",
     "above a local threshold: mean:WINDOW:OFFSET or sauvola:WINDOW:K:RANGE"},
    {"mask", 0, INPUT_AS(O, mask, "an image"), "FILE",
     "of every page, only pixels where this image is above 0 are foreground"},
    {"fill-holes", 0, FLAG(O, fill_holes), NULL,
     "holes become foreground: background that does not reach the border"},
    {"max-hole", 0, COUNT(O, max_hole, 0, 0), "N",
     "with --fill-holes: only holes of up to so many pixels; 0: all"},
    {"inverse", 0, FLAG(O, inverse), NULL, "label the background instead of the foreground"},
    {"min-area", 0, COUNT(O, min_area, 0, 0), "N", "drop components with fewer pixels"},
    {"max-area", 0, COUNT(O, max_area, 0, 0), "N", "drop components with more pixels; 0: none"},
    {"border", 0, CHOICE(O, border, TAKES("any", "inside", "touching")), "WHICH",
     "keep only components inside, or touching, the border (default any)"},
    {"pixel-size", 0, TEXT(O, pixel_size), "SIZE",
     "lengths and areas in um: auto (the file's), X or X,Y, as 0.65um"},
    {"filter", 0, TEXT(O, filter), "TERMS", "keep components for which all hold: 'area>=20 && solidity>0.9'"},
    {"largest", 0, COUNT(O, largest, 1, UINT32_MAX), "K",
     "keep the K components with most pixels of each page"},
    {"algorithm", 0, TEXT(O, algorithm), "NAME", "how; a wrong name lists them (default auto, the fastest)"},
    {"simd", 0, SIMD(O, simd), "T", "instruction set (default auto); results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 4096), "N", "0: one for each processor; results do not depend on it"},
    {"device", 0, DEVICE(O, device), "WHICH",
     "cpu (the default), or GPUs, with algorithms of their own: cuda, cuda:N,M, all"},
    {"device-memory", 0, COUNT(O, device_memory, 0, 1 << 24), "MIB",
     "most of a GPU's memory to take, in MiB; 0: what is free"},
    {"volume", 0, FLAG(O, volume), NULL,
     "pages, or a folder's images, are slices; --connectivity 6, 18, 26 (default 26)"},
    {"labels", 0, FLAG(O, labels), NULL,
     "the images are label images: features of each label, nothing is labelled"},
    {"intensity", 0, INPUT(O, intensity), "FILE",
     "with --labels, --volume: an image of grey values, a page for each page"},
    {"equal", 0, FLAG(O, equal), NULL, "of volumes: components of voxels of one value that is not 0"},
    {"periodic", 0, TEXT(O, periodic), "AXES",
     "of volumes: axes whose first and last voxels are neighbours: x,y,z or some"},
    {"stream", 0, FLAG(O, stream), NULL,
     "label row by row, volumes by slices; features only, components as they end"},
    SLC_CLI_SERVE(O, serve),
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no table and no notes, only errors and what was not read"},
};
#undef O

_Static_assert(sizeof slc_label_option_rows / sizeof *slc_label_option_rows == SLC_LABEL_OPTION_ROWS,
               "the header says how many");

void slc_label_defaults(void *at)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_label_options *options = at;
    *options = (slc_label_options){.algorithm = "auto",
                                   .features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST |
                                               SLC_IMAGE_CENTROID,
                                   .connectivity = config.connectivity,
                                   .threads = config.exec.threads};
}

/* ---- values ------------------------------------------------------------------------------------ */

static int check_algorithm(const char *name, bool gpu)
{
    const bool known = strcmp(name, "auto") == 0 || slc_label_algorithm(name, gpu) != SIZE_MAX;
    return known ? SLC_CLI_GO_ON : slc_label_no_algorithm(COMMAND, name, "auto", gpu);
}

/* What a stream of rows cannot do. */
static int check_stream(const slc_label_options *options)
{
    const char *word = options->output != NULL                   ? "--output"
                       : options->preview != NULL                ? "--preview"
                       : slc_cli_word(COMMAND, "border") != NULL ? "--border"
                       : options->simd != NULL                   ? "--simd"
                       : slc_label_on_gpu(options->device)       ? "--device"
                       : strcmp(options->algorithm, "auto") != 0 ? "--algorithm"
                       : options->threads != 1                   ? "--threads"
                                                                 : NULL;
    return options->stream && word != NULL ? slc_cli_wrong(COMMAND, "--stream does not go with %s", word)
                                           : SLC_CLI_GO_ON;
}

bool slc_label_has_files(const slc_label_options *options)
{
    return options->output != NULL || options->stats != NULL || options->preview != NULL ||
           options->write_mask != NULL;
}

/* Does anything tell how many pixels there are? JSON and the table do, the pages of an HDF5 file, a live
 * page. */
static bool shows_areas(const slc_label_options *options)
{
    return options->json || options->stats != NULL || options->serve.address != NULL ||
           (!options->quiet && !slc_label_has_files(options));
}

/* The device's word, what only a GPU has, and the algorithm of whichever it is. */
static int check_device(const slc_label_options *options)
{
    const bool gpu = slc_label_on_gpu(options->device);
    int status = slc_label_device(COMMAND, options->device);
    if (status == SLC_CLI_GO_ON && options->device_memory > 0 && !gpu) {
        status = slc_cli_wrong(COMMAND, "--device-memory needs a GPU, as --device cuda");
    }
    if (status == SLC_CLI_GO_ON && options->simd != NULL && gpu) {
        status = slc_cli_wrong(COMMAND, "--simd does not go with --device %s", options->device);
    }
    status = status == SLC_CLI_GO_ON ? check_algorithm(options->algorithm, gpu) : status;
    if (status != SLC_CLI_GO_ON || !gpu || strcmp(options->algorithm, "auto") == 0) {
        return status;
    }
    const size_t algorithm = slc_label_algorithm(options->algorithm, true);
    if (!slc_image_cuda_algorithm_labels(algorithm) &&
        (options->output != NULL || options->preview != NULL)) {
        return slc_cli_wrong(COMMAND, "--algorithm %s makes features alone, and no label image for %s",
                             options->algorithm, options->output != NULL ? "--output" : "--preview");
    }
    if (!slc_image_cuda_algorithm_features(algorithm) && shows_areas(options)) {
        return slc_cli_wrong(COMMAND, "--algorithm %s makes labels alone, and no features for %s",
                             options->algorithm,
                             options->stats != NULL           ? "--stats"
                             : options->json                  ? "--json"
                             : options->serve.address != NULL ? "--serve"
                                                              : "the table; it goes with --output");
    }
    return SLC_CLI_GO_ON;
}

static int choose_config(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_image_label_config *config = &job->config;
    slc_image_label_config_default(config);
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 4 or 8, not '%llu'",
                             (unsigned long long)options->connectivity);
    }
    const uint64_t max_area = options->max_area != 0 ? options->max_area : UINT64_MAX;
    if (options->min_area > max_area) {
        return slc_cli_wrong(COMMAND, "--min-area %llu is more than --max-area %llu: nothing would be left",
                             (unsigned long long)options->min_area, (unsigned long long)max_area);
    }
    int status = check_device(options);
    status = status == SLC_CLI_GO_ON ? slc_label_mask_choose(job) : status;
    status = status == SLC_CLI_GO_ON ? slc_label_check_measures(job) : status;
    status = status == SLC_CLI_GO_ON ? slc_label_size_choose(job) : status;
    if (status == SLC_CLI_GO_ON && options->stats == NULL && slc_cli_word(COMMAND, "features") != NULL) {
        status = slc_cli_wrong(COMMAND, "--features needs --stats, where they go");
    }
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check(COMMAND, "stats", false, options->stats, &options->results)
                 : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_simd_choose(options->simd, &config->exec.target, &job->error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    config->algorithm = options->algorithm;
    config->connectivity = (uint32_t)options->connectivity;
    config->exec.device = options->device;
    config->device_memory = (size_t)options->device_memory << 20;
    config->min_area = options->min_area;
    config->max_area = max_area;
    config->border = (slc_image_border)options->border;
    config->features = (options->stats != NULL ? job->features : 0) |
                       (options->labels ? SLC_IMAGE_LABEL : 0U) |
                       (shows_areas(options) ? SLC_IMAGE_AREA : 0U);
    return SLC_CLI_GO_ON;
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Three columns that say where a row is from, then those of the features. */
static slc_schema rows_schema(uint32_t features, slc_column columns[SLC_LABEL_COLUMNS])
{
    columns[0] = (slc_column){"input", "index", offsetof(slc_label_rows, input), SLC_TYPE_U32};
    columns[1] = (slc_column){"page", "index", offsetof(slc_label_rows, page), SLC_TYPE_U32};
    columns[2] = (slc_column){"label", "index", offsetof(slc_label_rows, label), SLC_TYPE_U32};
    const slc_schema own = slc_image_components_schema(features, columns + 3);
    return (slc_schema){"components", columns, own.n_columns + 3};
}

bool slc_label_open_outputs(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_status status = SLC_OK;
    if (options->output != NULL) {
        job->narrow = slc_cli_ends_with(options->output, ".png") ||
                      slc_cli_ends_with(options->output, ".pgm");
        status = job->outputs != NULL
                     ? slc_io_outbox_open(&job->outbox, &job->error)
                     : slc_io_image_writer_open(options->output, false, &job->image_writer, &job->error);
    }
    if (status == SLC_OK && options->preview != NULL) {
        status = slc_io_image_writer_open(options->preview, true, &job->preview_writer, &job->error);
    }
    if (status == SLC_OK && options->write_mask != NULL) {
        status = slc_io_image_writer_open(options->write_mask, false, &job->mask_writer, &job->error);
    }
    if (status == SLC_OK && options->stats != NULL) {
        status = slc_label_stats_open(job);
    }
    if (status != SLC_OK) {
        slc_cli_say("label", "%s", job->error.text);
    }
    return status == SLC_OK;
}

static bool close_writer(slc_label_job *job, slc_io_writer **writer, const char *name, bool good)
{
    slc_io_writer *open = *writer;
    *writer = NULL;
    if (!good) {
        slc_io_abandon(open);
        return false;
    }
    const slc_status status = open != NULL ? slc_io_finish(open, &job->error) : SLC_OK;
    return slc_cli_kept_judge(&job->kept, "label", name, status, &job->error);
}

/* Label files of single inputs, which are completed though others fail. */
static bool close_outbox(slc_label_job *job, bool good)
{
    slc_io_outbox *open = job->outbox;
    slc_flow_close(job->flow); /* its workers put files there */
    job->flow = NULL;
    job->outbox = NULL;
    uint64_t failed = 0;
    const slc_status status = slc_io_outbox_close(open, &failed, &job->error);
    if (status != SLC_OK && good) { /* else it is told already, or what ended the run is */
        slc_cli_say("label", "%s", job->error.text);
    }
    if (failed > 1) {
        slc_cli_say("label", "and %llu more label files could not be written",
                    (unsigned long long)failed - 1);
    }
    return good && status == SLC_OK;
}

/* Completes the outputs or, where anything failed, removes them all: what had their names before stays. They
 * are completed one after the other; where that fails (a full disk), those after are removed. */
bool slc_label_close_outputs(slc_label_job *job, bool good)
{
    if (good && job->options->part.n > 1 && job->n_pages == 0) { /* an image has one page at least */
        (void)close_writer(job, &job->image_writer, job->options->output, false);
        (void)close_writer(job, &job->preview_writer, job->options->preview, false);
        (void)close_writer(job, &job->mask_writer, job->options->write_mask, false);
    }
    if (job->outputs != NULL) { /* each was put there with its input, or that did not end */
        (void)close_writer(job, &job->image_writer, NULL, false);
        good = close_outbox(job, good);
    } else {
        good = close_writer(job, &job->image_writer, job->options->output, good);
    }
    good = close_writer(job, &job->preview_writer, job->options->preview, good);
    good = close_writer(job, &job->mask_writer, job->options->write_mask, good);
    if (slc_label_stats_close(job, good) != SLC_OK && good) {
        slc_cli_say("label", "%s", job->error.text);
        good = false;
    }
    slc_cli_kept_add(&job->kept, good ? job->options->stats : NULL);
    return good;
}

/* A GPU that is not there is told before anything is read. Other words than a GPU's name are wrong usage. One
 * page at a time is in memory unless there are several GPUs or threads. */
static int open_flow(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)job->inputs;
    config.n_paths = (uint32_t)job->n_inputs;
    config.part = options->part.part;
    config.n_parts = options->part.n;
    config.exec.threads = (uint32_t)options->threads;
    const bool several = slc_label_on_gpus(options->device) || options->threads != 1;
    config.n_slots = several ? 0 : 1;
    config.keep_going = config.signals_to_reader = true;
    config.stop = slc_cli_stop;
    config.patience = slc_cli_page_patience(&job->page);
    if (job->outputs != NULL && options->preview == NULL && options->write_mask == NULL && !options->stream) {
        config.work = slc_label_write_own;
        config.context = job;
        config.user_bytes = sizeof(slc_label_own);
    }
    job->setup.config = &job->config;
    job->setup.labels = options->output != NULL || options->preview != NULL || options->write_mask != NULL;
    job->setup.inverse = options->inverse;
    job->setup.pages_alone = options->stream;
    job->setup.regions = options->labels;
    job->setup.intensity = options->intensity;
    job->setup.filter = options->filter;
    job->setup.largest = (uint32_t)options->largest;
    const slc_status status = slc_flow_open(&config, &slc_flow_image, &job->setup, &job->flow, &job->error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("label", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

static int process(slc_label_job *job)
{
    int status = slc_label_mask_read(job);
    status = status == SLC_CLI_GO_ON ? open_flow(job) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    job->page_of_input = (uint32_t)totals.first_place;
    slc_cli_end_with_signals(job->inputs, job->n_inputs);
    slc_cli_catch_signals();
    bool good = slc_label_open_outputs(job) && slc_label_job_run(job);
    job->partial = good && slc_cli_cut();
    if (job->partial && job->n_pages == 0) {
        slc_cli_say("label", "no page was read%s",
                    slc_label_has_files(job->options) ? ": no file was written" : "");
        good = false;
    }
    good = good &&
           (job->stats == NULL || !slc_cli_part_taken(COMMAND, &job->options->part, job->options->stats));
    good = slc_label_close_outputs(job, good);
    if (job->partial) {
        slc_cli_accept_signal();
    }
    if (job->failed_inputs > 0) {
        slc_cli_say("label", "%llu of %d inputs could not be read, and have no label file",
                    (unsigned long long)job->failed_inputs, job->n_inputs);
    }
    if (job->partial && job->n_pages > 0) {
        slc_cli_tell_partial("label", job->n_pages, "page", &job->kept);
    }
    return good && slc_label_print(job, slc_label_has_files(job->options)) && job->faults == 0 &&
                   job->failed_inputs == 0 && !job->partial
               ? SLC_CLI_DONE
               : SLC_CLI_FAILED;
}

void slc_label_end(slc_label_job *job)
{
    if (job == NULL) {
        return;
    }
    slc_flow_close(job->flow);
    slc_columns_clear(&job->schema, &job->rows);
    for (size_t i = 0; i < job->n_pages; i++) {
        free(job->pages[i].warning);
        free(job->pages[i].fault);
    }
    free(job->pages);
    free(job->within_pixels);
    free(job);
}

int slc_label_begin(const slc_cli_call *call, slc_label_job **begun)
{
    slc_label_options *options = call->options;
    slc_label_job *job = calloc(1, sizeof *job);
    *begun = job;
    if (job == NULL) {
        slc_cli_say("label", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = options;
    job->command_line = call->command_line;
    job->inputs = call->operands;
    job->n_inputs = call->n;
    if (options->volume) {
        return slc_cli_wrong(COMMAND, "--volume: volumes are labelled by one process, sluice label");
    }
    if (options->equal || options->periodic != NULL) {
        return slc_cli_wrong(COMMAND, "--%s needs --volume, of which an image is a single slice",
                             options->equal ? "equal" : "periodic");
    }
    int status = check_stream(options);
    status = status == SLC_CLI_GO_ON ? choose_config(job) : status;
    job->written = rows_schema(options->stats != NULL ? job->features & ~(uint32_t)SLC_IMAGE_LABEL : 0,
                               job->written_columns);
    if (options->pixel_size != NULL) {
        slc_label_size_columns(job->written_columns, job->written.n_columns);
    }
    /* Places, what is made of features, and the features. */
    (void)rows_schema(0, job->columns);
    job->n_places = SLC_LABEL_PLACES + slc_label_size_own(&job->written, job->columns + SLC_LABEL_PLACES);
    const slc_schema own = slc_image_components_schema(job->config.features, job->columns + job->n_places);
    job->schema = (slc_schema){"components", job->columns, own.n_columns + job->n_places};
    return status;
}

static int act(const slc_cli_call *call)
{
    slc_label_options *options = call->options;
    slc_label_job *job = NULL;
    if (options->volume && options->serve.address != NULL) {
        return slc_cli_wrong(COMMAND, "--serve shows pages as they are labelled; --volume has none");
    }
    if (options->volume) {
        return slc_label_is_pattern(options->output)
                   ? slc_cli_wrong(COMMAND, "--output: {name} is for images; --volume has one output")
                   : slc_label_volume(call);
    }
    slc_label_files files = {.n = 0};
    slc_cli_call own = *call;
    int status = slc_cli_part_choose(COMMAND, options, &options->part);
    status = status == SLC_CLI_GO_ON ? slc_label_files_of(call, &files) : status;
    own.operands = files.inputs;
    own.n = (int)files.n;
    status = status == SLC_CLI_GO_ON ? slc_label_begin(&own, &job) : status;
    if (status == SLC_CLI_GO_ON) {
        job->outputs = files.outputs;
        status = slc_cli_page_open(call, &options->serve, options->quiet, &slc_flow_image, &job->setup,
                                   &job->page);
        status = status == SLC_CLI_GO_ON ? process(job) : status;
        slc_label_page_close(job, status);
    }
    slc_label_end(job);
    slc_label_files_clear(&files);
    slc_cli_part_clear(&options->part);
    return status;
}

const slc_cli_command slc_cmd_label = {
    .name = "label",
    .operands = "IMAGE...",
    .summary = "label the connected components of images",
    .description =
        "Finds the connected components of images (PNM, PNG, JPEG, BMP, TIFF, NPY, NIfTI; '-' is standard\n"
        "input; of a folder, all images in it), numbers them from 1 in the order of their first pixels, and\n"
        "writes the label image (-o 'out/{name}.png': one for each input), the features of every component,\n"
        "or both; without either it prints a table. With --labels the images are label images, which are\n"
        "measured. TIFF files may have several pages, each of at most 4 GiB (but --stream); with --volume "
        "they\n"
        "are slices. Groups of --stats FILE.h5: components, pages; FILE.arrow has the components alone.\n",
    .options = slc_label_option_rows,
    .n_options = SLC_LABEL_OPTION_ROWS,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = slc_label_defaults,
    .act = act,
};
