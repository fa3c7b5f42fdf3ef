/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice-mpi label --volume`: the slices of every volume are shared out in slabs. Each process reads and
 * labels its own, and all join what crosses the borders (image_volume.h, "slices that are with several"). To
 * what is sent and written a slice is a row: the strip at hand is as wide as a slice has voxels.
 */
#include "mpi_label.h"

#include "cmd_label_mask.h"
#include "cmd_label_volume.h"
#include "mpi_cleanup.h"
#include "mpi_commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct run {
    slc_label_volume_job *job; /* everybody's; process 0 fills it with results */
    slc_mpi_strip strip;
    slc_mpi_slab slab;
    slc_mpi_output output, mask;
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_schema schema;           /* of what is wanted */
    slc_volume_components whole; /* in process 0 */
    size_t width, height;
    slc_label_reach reach;
    double seconds;
    slc_error error;
} run;

/* What process 0 could not do it has told. */
static bool all_good(const run *r, bool good)
{
    slc_error told = {.status = SLC_ERR_IO, .text = ""};
    return slc_mpi_agree(&r->strip.world, good ? SLC_OK : SLC_ERR_IO, &told) == SLC_OK;
}

/* ---- what is foreground -------------------------------------------------------------------------- */

/* What every process read of the volume, or of one beside it: sides of a slice and type, also for those
 * without a slice. */
static slc_status agree_on_slices(const run *r, const slc_volume *v, const char *beside, uint64_t shape[3],
                                  slc_error *error)
{
    shape[0] = v->width;
    shape[1] = v->height;
    shape[2] = (uint64_t)v->type;
    (void)MPI_Bcast(shape, 3, MPI_UINT64_T, 0, MPI_COMM_WORLD); /* process 0 has a slice if anyone has */
    const slc_image_type type = (slc_image_type)shape[2];
    const bool same = v->depth == 0 || (v->width == shape[0] && v->height == shape[1] && v->type == type);
    const slc_status status =
        same ? SLC_OK
             : slc_fail(error, SLC_ERR_FORMAT,
                        "%s%sslices of %zux%zu of %s, and the first is %llux%llu of %s: no volume",
                        beside != NULL ? beside : "", beside != NULL ? ": " : "", v->width, v->height,
                        slc_image_type_name(v->type), (unsigned long long)shape[0],
                        (unsigned long long)shape[1], slc_image_type_name(type));
    return slc_mpi_agree(&r->strip.world, status, error);
}

/* Of the volume, and of those beside it. */
static slc_status agree_on_shape(run *r, slc_error *error)
{
    const slc_label_volume_job *job = r->job;
    const slc_label_options *options = job->label->options;
    const slc_volume *v = &job->stack.volume;
    uint64_t shape[3], other[3];
    slc_status status = agree_on_slices(r, v, NULL, shape, error);
    if (status == SLC_OK && options->intensity != NULL) {
        status = agree_on_slices(r, &job->grey.volume, options->intensity, other, error);
    }
    if (status == SLC_OK && options->mask != NULL) {
        status = agree_on_slices(r, &job->within.volume, options->mask, other, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    r->width = (size_t)shape[0];
    r->height = (size_t)shape[1];
    r->strip.image = (slc_image){v->voxels, r->width * r->height, v->depth, v->slice_stride,
                                 (slc_image_type)shape[2]};
    return slc_mpi_strip_agree(&r->strip, error);
}

/* The foreground's threshold, of all slabs where it is Otsu's. */
static slc_status choose_threshold(run *r, slc_error *error)
{
    slc_mpi_strip *strip = &r->strip;
    r->job->threshold = slc_label_volume_level(strip->image.type, r->job->config.threshold);
    if (!r->job->label->setup.otsu || strip->image.type == SLC_IMAGE_BITS) {
        return SLC_OK;
    }
    slc_status status = slc_mpi_strip_otsu(strip, error);
    if (status == SLC_OK && strip->fault) {
        status = slc_fail(error, strip->why.status, "%s", strip->why.text);
    }
    r->job->threshold = strip->threshold;
    return status;
}

/* The slab's, then what hysteresis and holes make of it. */
static slc_status make_foreground(run *r, slc_volume *foreground, slc_error *error)
{
    slc_label_volume_job *job = r->job;
    slc_image_mask_config *rule = &job->label->mask_config;
    const slc_image_mask_config whole = *rule;
    const slc_volume *v = &job->stack.volume;
    *rule = slc_mpi_slab_rule(&whole);
    const bool good = v->depth == 0 || (slc_label_volume_intensity(job) &&
                                        slc_label_volume_foreground(job, v, &job->within.volume, foreground));
    *rule = whole;
    if (!all_good(r, good)) {
        error->text[0] = '\0'; /* it has been told */
        return SLC_ERR_FORMAT;
    }
    slc_image_mask_config seeded = whole;
    seeded.high = slc_label_volume_level(r->strip.image.type, seeded.high);
    return slc_mpi_slab_mask(&r->strip, &job->config, &seeded, v, foreground, error);
}

/* ---- a volume ---------------------------------------------------------------------------------- */

/* Process 0 makes room in a file of labels or of the mask, if there is one. */
static bool make_room(const run *r, slc_io_writer *writer, slc_image_type type)
{
    slc_label_job *label = r->job->label;
    const slc_image slice = {NULL, r->width, r->height, (ptrdiff_t)slc_image_row_bytes(type, r->width), type};
    for (size_t z = 0; z < r->strip.height && writer != NULL; z++) {
        if (slc_io_image_writer_add(writer, &slice, &label->error) != SLC_OK) {
            return slc_label_volume_complain(r->job);
        }
    }
    return true;
}

/* Process 0 has the results. */
static bool take_results(run *r, uint64_t filtered)
{
    slc_label_volume_job *job = r->job;
    job->stack.volume.depth = r->strip.height;
    slc_label_volume_tell_threshold(job);
    slc_label_volume_tell_missed(job, r->reach);
    return slc_label_volume_take(job, &r->whole, r->strip.n_labels, (uint32_t)filtered, r->seconds) &&
           make_room(r, job->label->image_writer, SLC_IMAGE_U32) &&
           make_room(r, job->label->mask_writer, SLC_IMAGE_U8);
}

static slc_status label_volume(run *r, slc_error *error)
{
    slc_status status = agree_on_shape(r, error);
    const double began = slc_clock_seconds();
    status = status == SLC_OK ? choose_threshold(r, error) : status;
    const slc_label_volume_job *job = r->job;
    const slc_volume *v = &job->stack.volume;
    slc_volume foreground = {.width = r->width, .height = r->height, .type = r->strip.image.type};
    status = status == SLC_OK ? make_foreground(r, &foreground, error) : status;
    if (status == SLC_OK) {
        const slc_volume *grey = job->label->options->intensity != NULL ? &job->grey.volume : v;
        status = slc_mpi_slab_label(&r->slab, &foreground, grey, error);
    }
    r->reach = status == SLC_OK && r->strip.n_labels == 0
                   ? (slc_label_reach)slc_mpi_most(
                         (int)slc_label_reach_of(job->label->options, &r->strip.image))
                   : SLC_LABEL_NOTHING;
    r->seconds = slc_clock_seconds() - began;
    (void)MPI_Allreduce(MPI_IN_PLACE, &r->seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return status == SLC_OK && r->schema.n_columns > 0
               ? slc_mpi_gather_rows(&r->strip.world, &r->schema, &r->slab.kept, &r->whole, error)
               : status;
}

static bool do_volume(run *r, uint32_t input)
{
    slc_label_volume_job *job = r->job;
    const char *path = job->label->inputs[input];
    slc_error error = {.text = ""};
    job->input = input + 1;
    const size_t said = slc_mpi_said();
    if (!all_good(r, slc_label_volume_read(job, path, &job->stack, job->config.equal))) {
        return false;
    }
    slc_mpi_say_all(said);
    uint64_t filtered;
    slc_status status = label_volume(r, &error);
    filtered = r->slab.filtered;
    slc_mpi_sum_u64(&filtered, 1);
    const bool first = r->strip.world.rank == 0;
    if (status == SLC_OK && !all_good(r, !first || take_results(r, filtered))) {
        return false;
    }
    const slc_label_options *options = job->label->options;
    if (status == SLC_OK && options->write_mask != NULL) {
        status = slc_mpi_output_write(&r->mask, &r->strip, job->label->mask_writer, options->write_mask,
                                      &error);
    }
    if (status == SLC_OK && options->output != NULL) {
        status = slc_mpi_output_write(&r->output, &r->strip, job->label->image_writer, options->output,
                                      &error);
    }
    if (status != SLC_OK && error.text[0] != '\0') {
        slc_cli_say("label", "%s: %s", path, error.text);
    }
    return status == SLC_OK;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static slc_status open_all(run *r)
{
    slc_label_volume_job *job = r->job;
    r->schema = slc_volume_components_schema(job->config.features, r->columns);
    r->output.file = r->mask.file = -1;
    r->mask.mask = true;
    job->part = (uint32_t)slc_mpi_here().rank;
    job->n_parts = (uint32_t)slc_mpi_here().size;
    const slc_status status = slc_mpi_strip_open(&r->strip, &job->label->config, &r->error);
    return status == SLC_OK ? slc_mpi_slab_open(&r->slab, &r->strip, &job->config, &r->error) : status;
}

static void close_all(run *r)
{
    slc_columns_clear(&r->schema, &r->whole);
    slc_mpi_slab_close(&r->slab);
    slc_mpi_strip_close(&r->strip);
}

/* What there is to be told of slices is told of those of all processes. */
static bool read_others(run *r)
{
    const size_t said = slc_mpi_said();
    const bool good = all_good(r, slc_label_volume_others(r->job));
    if (good) {
        slc_mpi_say_all(said);
    }
    return good;
}

static int work(run *r)
{
    slc_label_job *label = r->job->label;
    const bool first = slc_mpi_here().rank == 0;
    slc_error error = {.text = ""};
    const slc_status status = open_all(r);
    if (status != SLC_OK) {
        slc_cli_say("label", "%s", r->error.text);
    }
    bool good = status == SLC_OK && read_others(r) && all_good(r, !first || slc_label_open_outputs(label));
    slc_io_writer *const writers[] = {label->image_writer, label->mask_writer};
    for (int i = 0; i < 2 && good; i++) {
        if (writers[i] != NULL) {
            slc_io_image_writer_slices(writers[i]);
            slc_mpi_cleanup_of(slc_io_temporary(writers[i]));
        }
    }
    for (int i = 0; i < label->n_inputs && good; i++) {
        good = do_volume(r, (uint32_t)i);
    }
    if (status == SLC_OK) {
        slc_status closed = slc_mpi_output_close(&r->output, label->options->output, &error);
        const slc_status other = slc_mpi_output_close(&r->mask, label->options->write_mask,
                                                      closed == SLC_OK ? &error : NULL);
        closed = slc_mpi_agree(&r->strip.world, closed == SLC_OK ? other : closed, &error);
        if (closed != SLC_OK && good) {
            slc_cli_say("label", "%s", error.text);
        }
        good = closed == SLC_OK && good;
        good = first ? slc_label_close_outputs(label, good) : good;
        slc_mpi_cleanup_of(NULL);
        good = all_good(r, good);
    }
    slc_mpi_sum_u64(&label->warnings, 1);
    good = good && (!first || slc_label_volume_print(r->job));
    close_all(r);
    return good ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

int slc_mpi_label_volume(const slc_cli_call *call)
{
    slc_label_volume_job job;
    run r = {.job = &job};
    int status = slc_label_volume_begin(call, &job);
    if (status == SLC_CLI_GO_ON) {
        status = slc_mpi_begin() ? work(&r) : SLC_CLI_USAGE;
    }
    slc_label_volume_end(&job);
    return status;
}
