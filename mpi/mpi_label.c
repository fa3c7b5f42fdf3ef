/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice-mpi label`: as `sluice label`, and the rows of every page are shared out to the processes: each
 * reads, labels and writes its own. What is printed and what goes into --stats is made by process 0, by the
 * code of `sluice label`.
 */
#include "mpi_label.h"

#include "cmd_label.h"
#include "cmd_label_mask.h"
#include "cmd_label_words.h"
#include "mpi_cleanup.h"
#include "mpi_commands.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define COMMAND (&slc_mpi_cmd_label)

typedef struct run {
    slc_label_job *job; /* everybody's; process 0 fills it with results */
    slc_mpi_strip strip;
    slc_mpi_output output;
    slc_image_components components; /* of a page, in process 0 */
    uint64_t factor;                 /* of the next page in the checksum */
    slc_error error;
} run;

/* ---- what cannot be had ------------------------------------------------------------------------ */

/* Each writes its rows of it. */
static int check_output(const char *word, const char *name)
{
    const char *ending = name != NULL ? strrchr(name, '.') : NULL;
    return name == NULL || (ending != NULL && strcasecmp(ending, ".npy") == 0)
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "--%s is .npy over ranks, not '%s': each writes its rows", word,
                               name);
}

static int check_options(const slc_label_options *options)
{
    const char *word = options->preview != NULL                                          ? "--preview"
                       : options->stream                                                 ? "--stream"
                       : options->device_memory > 0 || slc_label_on_gpu(options->device) ? "--device"
                       : options->filter != NULL && !options->volume                     ? "--filter"
                       : options->largest > 0 && !options->volume                        ? "--largest"
                       : options->pixel_size != NULL && !options->volume                 ? "--pixel-size"
                       : options->labels                                                 ? "--labels"
                       : options->serve.address != NULL                                  ? "--serve"
                       : options->part.word != NULL                                      ? "--part"
                       : options->split != NULL                                          ? "--split"
                       : options->volume                                                 ? NULL
                                         : slc_label_mask_word(options);
    if (word != NULL) {
        return slc_cli_wrong(COMMAND, "%s cannot be had over ranks; sluice label has it", word);
    }
    if (options->output != NULL && strstr(options->output, "{name}") != NULL) {
        return slc_cli_wrong(COMMAND, "--output: {name} is for one process, sluice label");
    }
    const int status = check_output("output", options->output);
    if (options->volume || status != SLC_CLI_GO_ON) { /* its features are looked at with it */
        return status == SLC_CLI_GO_ON ? check_output("write-mask", options->write_mask) : status;
    }
    const uint32_t have = SLC_IMAGE_JOINS | SLC_IMAGE_CENTROID;
    const uint32_t others = options->stats != NULL ? options->features & ~have : 0;
    return others == 0
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND,
                               "--features over ranks are area, box, first, sums and centroid: %s needs "
                               "pixels on both sides of a border",
                               slc_image_feature_name(others & (~others + 1)));
}

/* A pipe gives each byte to one process alone. */
static int check_inputs(const slc_cli_call *call)
{
    for (int i = 0; i < call->n; i++) {
        struct stat about;
        const bool standard = strcmp(call->operands[i], "-") == 0;
        if (standard ||
            (stat(call->operands[i], &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
            return slc_cli_wrong(COMMAND, "%s is no regular file, of which every rank reads its rows",
                                 standard ? "standard input" : call->operands[i]);
        }
    }
    return SLC_CLI_GO_ON;
}

/* ---- pages ------------------------------------------------------------------------------------- */

/* What process 0 could not do it has told. */
static slc_status agree_on_zero(const run *r, bool good, slc_error *error)
{
    slc_error told = {.status = SLC_ERR_IO, .text = ""};
    const slc_status status = slc_mpi_agree(&r->strip.world, good ? SLC_OK : SLC_ERR_IO, &told);
    if (status != SLC_OK && error != NULL) {
        *error = told;
    }
    return status;
}

/* In process 0: the page becomes one of the job's, as if it came from a flow. */
static bool take_page(run *r, const slc_flow_item *about, const slc_flow_image_result *result)
{
    slc_label_job *job = r->job;
    slc_flow_item item = *about;
    slc_flow_image_result page = *result;
    item.result = &page;
    const slc_schema *schema = &r->strip.schema;
    if (item.status == SLC_OK) {
        job->checksum += schema->n_columns > 0
                             ? r->factor * slc_columns_checksum(schema, &page.components, 0, 0)
                             : 0;
        r->factor *= SLC_CHECKSUM_FACTOR;
    }
    return slc_label_take(job, &item);
}

/* Everyone: labels a page, hands it to process 0, writes it. */
static slc_status do_page(run *r, const slc_image *image, slc_flow_item *item)
{
    slc_mpi_strip *strip = &r->strip;
    slc_error *error = &r->error;
    item->status = slc_mpi_strip_label(strip, image, &item->error);
    if (item->status == SLC_OK && (strip->config->features != 0)) {
        item->status = slc_mpi_gather_rows(&strip->world, &strip->schema, &strip->components, &r->components,
                                           &item->error);
    }
    bool good = true;
    const bool empty = item->status == SLC_OK && !strip->fault && strip->n_labels == 0;
    r->job->reach = empty ? (slc_label_reach)slc_mpi_most((int)slc_label_reach_of(r->job->options, image))
                          : SLC_LABEL_NOTHING;
    if (strip->world.rank == 0) {
        const slc_flow_image_result result = {
            .image = {.width = image->width, .height = strip->height, .type = image->type},
            .threshold = strip->threshold,
            .fault = strip->fault ? strip->why.text : NULL,
            .components = r->components,
            .n_labels = strip->n_labels,
            .seconds = strip->seconds};
        good = take_page(r, item, &result);
    }
    slc_status status = agree_on_zero(r, good, error);
    if (status == SLC_OK && r->job->options->output != NULL) {
        status = slc_mpi_output_write(&r->output, strip, r->job->image_writer, r->job->options->output,
                                      error);
    }
    return status;
}

/* The next page: SLC_OK if everyone has its rows, SLC_END if no one has; where one fails, all do. */
static slc_status read_page(run *r, slc_io_images *images, slc_image *image, slc_flow_item *item)
{
    slc_status status = slc_io_images_next(images, image, &item->error);
    const char *warning = slc_io_images_warning(images);
    (void)strncpy(item->damage, warning != NULL ? warning : "", sizeof item->damage - 1);
    const slc_status failed = slc_mpi_agree(&r->strip.world, status < 0 ? status : SLC_OK, &item->error);
    int ended = status == SLC_END, all = 0;
    (void)MPI_Allreduce(&ended, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (failed != SLC_OK || all == 0 || all == r->strip.world.size) {
        return failed != SLC_OK ? failed : status;
    }
    return slc_fail(&item->error, SLC_ERR_FORMAT, "%s: has not as many pages for every rank", item->path);
}

static slc_status do_input(run *r, uint32_t input)
{
    const slc_mpi_world *world = &r->strip.world;
    slc_flow_item item = {.input = input, .path = r->job->inputs[input]};
    slc_io_image_config config;
    slc_io_image_config_default(&config);
    config.part = (uint32_t)world->rank;
    config.n_parts = (uint32_t)world->size;
    slc_io_images *images = NULL;
    slc_image image;
    slc_status status = slc_mpi_agree(world, slc_io_images_open(item.path, &config, &images, &item.error),
                                      &item.error);
    item.opened = status == SLC_OK;
    while (status == SLC_OK && (status = read_page(r, images, &image, &item)) == SLC_OK) {
        if (do_page(r, &image, &item) != SLC_OK) {
            slc_io_images_close(images);
            return SLC_ERR_IO; /* told, or in r->error */
        }
    }
    slc_io_images_close(images);
    item.ended = true;
    item.status = status;
    return agree_on_zero(r, world->rank > 0 || slc_label_take(r->job, &item), &r->error);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* Completes the outputs, or none: what process 0 cannot complete, no one has. */
static slc_status finish(run *r, slc_status status)
{
    slc_error error = {.text = ""};
    const slc_status closed = slc_mpi_agree(
        &r->strip.world, slc_mpi_output_close(&r->output, r->job->options->output, &error), &error);
    if (status == SLC_OK && closed != SLC_OK) {
        status = closed;
        r->error = error;
    }
    if (status != SLC_OK && r->error.text[0] != '\0') {
        slc_cli_say("label", "%s", r->error.text);
    }
    const bool good = r->strip.world.rank > 0 ? status == SLC_OK
                                              : slc_label_close_outputs(r->job, status == SLC_OK);
    slc_mpi_cleanup_of(NULL);
    return agree_on_zero(r, good, NULL);
}

static int work(run *r)
{
    slc_label_job *job = r->job;
    const bool first = slc_mpi_here().rank == 0;
    r->strip.inverse = job->options->inverse;
    r->strip.otsu = job->setup.otsu;
    r->output.file = -1;
    r->factor = 1;
    job->config.exec.threads = (uint32_t)job->options->threads;
    slc_status status = slc_mpi_strip_open(&r->strip, &job->config, &r->error);
    if (status == SLC_OK) {
        status = agree_on_zero(r, !first || slc_label_open_outputs(job), &r->error);
    }
    if (job->image_writer != NULL) {
        slc_mpi_cleanup_of(slc_io_temporary(job->image_writer));
    }
    for (int i = 0; status == SLC_OK && i < job->n_inputs; i++) {
        status = do_input(r, (uint32_t)i);
    }
    status = finish(r, status);
    const bool printed = status == SLC_OK &&
                         (!first || slc_label_print(job, slc_label_has_files(job->options)));
    slc_mpi_strip_close(&r->strip);
    return printed && job->faults == 0 ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    run r = {.error = {.text = ""}};
    int status = check_options(call->options);
    status = status == SLC_CLI_GO_ON ? check_inputs(call) : status;
    if (status == SLC_CLI_GO_ON && ((const slc_label_options *)call->options)->volume) {
        return slc_mpi_label_volume(call);
    }
    status = status == SLC_CLI_GO_ON ? slc_label_begin(call, &r.job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_mpi_begin() ? work(&r) : SLC_CLI_USAGE;
    }
    if (r.job != NULL) {
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(r.job->config.features, columns);
        slc_columns_clear(&schema, &r.components);
    }
    slc_label_end(r.job);
    return status;
}

const slc_cli_command slc_mpi_cmd_label = {
    .name = "label",
    .operands = "IMAGE...",
    .summary = "label images whose rows are shared out to the processes",
    .description =
        "As sluice label, over the processes of the run: each reads, labels and writes a strip of the rows "
        "of\n"
        "every page, and the strips are joined: labels, components and checksum are those of one process. "
        "Of\n"
        "raw PNM, NPY and TIFF only these rows are read, so that an image may be larger than one machine's\n"
        "memory; the label image is .npy. --threads are those of each process. What cannot be had over "
        "ranks:\n"
        "--preview, --stream, --device, --part, --split; and but for volumes other features than area, box, "
        "first, "
        "sums\n"
        "and centroid, and masks.\n",
    .options = slc_label_option_rows,
    .n_options = SLC_LABEL_OPTION_ROWS,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = slc_label_defaults,
    .act = act,
};
