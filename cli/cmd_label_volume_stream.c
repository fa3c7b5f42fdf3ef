/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label --volume --stream`: slices as they come, and those of --intensity beside them.
 */
#include "cmd_label_volume.h"

#include <stdint.h>

/* Components that have ended are written, or counted alone; with `last` all have. */
static bool write_closed(slc_label_volume_job *job, bool last)
{
    const size_t n = job->closed.head.size;
    const bool wanted = job->label->stats != NULL;
    if (job->n_closed + n > UINT32_MAX) {
        slc_cli_say("label", "%s: more components than 32 bits can number", slc_label_volume_path(job));
        return false;
    }
    if (wanted && (n > 0 || last)) {
        if (last) {
            slc_columns_end_event(&job->closed);
        }
        if (!slc_label_volume_rows_add(job, &job->closed, (uint32_t)job->n_closed)) {
            return false;
        }
    }
    job->n_closed += n;
    slc_columns_reset(&job->closed);
    return true;
}

/* A slice, and with --intensity its grey values. */
static bool push_slice(slc_label_volume_job *job, const char *path, const slc_image *image,
                       const slc_image *grey)
{
    slc_label_job *label = job->label;
    const slc_volume *volume = &job->stack.volume;
    const slc_volume slice = {image->pixels, image->width, image->height, 1, image->stride, 0, image->type};
    const slc_volume values = {grey->pixels, grey->width, grey->height, 1, grey->stride, 0, grey->type};
    const double began = slc_clock_seconds();
    slc_status status = job->stream != NULL ? SLC_OK
                                            : slc_volume_stream_open(&job->config, volume, &job->checksum,
                                                                     &job->stream, &label->error);
    if (status == SLC_OK) {
        status = slc_volume_stream_push_grey(job->stream, &slice, &values, &job->closed, &label->error);
    }
    job->seconds += slc_clock_seconds() - began;
    if (status != SLC_OK) {
        slc_cli_say("label", "%s: slice %zu: %s", path, volume->depth, label->error.text);
        return false;
    }
    return write_closed(job, false);
}

/* The slice of --intensity that belongs to the one at hand; with NULL, behind the last one, there is none. */
static bool take_grey(slc_label_volume_job *job, slc_label_slices *from, const slc_image *beside,
                      slc_image *grey)
{
    const char *path = slc_label_volume_path(job), *values = job->label->options->intensity;
    const size_t before = job->grey.volume.depth;
    const int got = slc_label_slices_next(from, &job->grey, grey);
    if (got < 0) {
        return false;
    }
    if (got == 0 && beside != NULL) {
        slc_cli_say("label", "%s: %zu slices, and %s has more", values, before, path);
        return false;
    }
    if (got > 0 && beside == NULL) {
        slc_cli_say("label", "%s: more than the %zu slices of %s", values, before, path);
        return false;
    }
    if (got > 0 && (grey->width != beside->width || grey->height != beside->height)) {
        slc_cli_say("label", "%s: slices of %zux%zu voxels, and %s has such of %zux%zu", values, grey->width,
                    grey->height, path, beside->width, beside->height);
        return false;
    }
    return true;
}

static bool push_all(slc_label_volume_job *job)
{
    const char *values = job->label->options->intensity;
    slc_label_slices slices, greys = {.job = job};
    slc_image image, grey;
    int got = -1;
    bool good = slc_label_slices_open(&slices, job, slc_label_volume_path(job), job->config.equal) &&
                (values == NULL || slc_label_slices_open(&greys, job, values, false));
    while (good && (got = slc_label_slices_next(&slices, &job->stack, &image)) > 0) {
        good = (values == NULL || take_grey(job, &greys, &image, &grey)) &&
               push_slice(job, slices.path, &image, values != NULL ? &grey : &image);
    }
    good = good && got == 0 && (values == NULL || take_grey(job, &greys, NULL, &grey));
    slc_label_slices_close(&slices);
    slc_label_slices_close(&greys);
    return good;
}

bool slc_label_volume_stream(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    job->seconds = 0;
    job->n_closed = 0;
    job->threshold = label->config.threshold;
    job->stack.volume = job->grey.volume = (slc_volume){.depth = 0};
    bool good = push_all(job);
    if (good) {
        const double began = slc_clock_seconds();
        slc_label_volume_tell_threshold(job);
        good = slc_volume_stream_finish(job->stream, &job->closed, &label->error) == SLC_OK ||
               slc_label_volume_complain(job);
        job->seconds += slc_clock_seconds() - began;
    }
    good = good && write_closed(job, true);
    if (good) {
        slc_label_volume_page(job, job->n_closed, slc_volume_stream_filtered(job->stream), job->seconds);
        slc_label_volume_sum(job, job->checksum);
    }
    slc_volume_stream_close(job->stream);
    job->stream = NULL;
    return good;
}
