/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label --volume --stream`: slices as they come, and those of --intensity beside them.
 */
#include "cmd_label_volume.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

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

static slc_volume volume_of(const slc_image *image)
{
    return (slc_volume){image->pixels, image->width, image->height, 1, image->stride, 0, image->type};
}

/* A slice, with those of --mask and --intensity if there are such. */
static bool push_slice(slc_label_volume_job *job, const char *path, const slc_image *image,
                       const slc_image *within, const slc_image *grey)
{
    slc_label_job *label = job->label;
    const slc_volume slice = volume_of(image), values = volume_of(grey), mask = volume_of(within);
    const double began = slc_clock_seconds();
    slc_volume foreground;
    if (!slc_label_volume_foreground(job, &slice, &mask, &foreground)) {
        return false;
    }
    slc_status status = job->stream != NULL
                            ? SLC_OK
                            : slc_volume_stream_open(&job->config, &foreground, &job->checksum, &job->stream,
                                                     &label->error);
    if (status == SLC_OK) {
        status = slc_volume_stream_push_grey(job->stream, &foreground, &values, &job->closed, &label->error);
    }
    job->seconds += slc_clock_seconds() - began;
    if (status != SLC_OK) {
        slc_cli_say("label", "%s: slice %zu: %s", path, job->stack.volume.depth, label->error.text);
        return false;
    }
    return write_closed(job, false);
}

/* Slices of a volume beside those that are labelled; `path` is NULL if there is none. */
typedef struct companion {
    const char *path;
    slc_label_slices slices;
    slc_label_stack *stack;
    slc_image image;
} companion;

/* The slice that belongs to the one at hand; with NULL, behind the last one, there is none. */
static bool take_companion(companion *c, const char *path, const slc_image *beside)
{
    const size_t before = c->stack->volume.depth;
    if (c->path == NULL) {
        c->image = beside != NULL ? *beside : c->image;
        return true;
    }
    const int got = slc_label_slices_next(&c->slices, c->stack, &c->image);
    if (got < 0) {
        return false;
    }
    if (got == 0 && beside != NULL) {
        slc_cli_say("label", "%s: %zu slices, and %s has more", c->path, before, path);
        return false;
    }
    if (got > 0 && beside == NULL) {
        slc_cli_say("label", "%s: more than the %zu slices of %s", c->path, before, path);
        return false;
    }
    if (got > 0 && (c->image.width != beside->width || c->image.height != beside->height)) {
        slc_cli_say("label", "%s: slices of %zux%zu voxels, and %s has such of %zux%zu", c->path,
                    c->image.width, c->image.height, path, beside->width, beside->height);
        return false;
    }
    return true;
}

static bool push_all(slc_label_volume_job *job)
{
    const char *path = slc_label_volume_path(job);
    companion mask = {.path = job->label->options->mask, .slices.job = job, .stack = &job->within};
    companion grey = {.path = job->label->options->intensity, .slices.job = job, .stack = &job->grey};
    slc_label_slices slices;
    slc_image image;
    int got = -1;
    mask.stack->volume = grey.stack->volume = job->stack.volume = (slc_volume){.depth = 0};
    bool good = slc_label_slices_open(&slices, job, path, job->config.equal) &&
                (mask.path == NULL || slc_label_slices_open(&mask.slices, job, mask.path, false)) &&
                (grey.path == NULL || slc_label_slices_open(&grey.slices, job, grey.path, false));
    slices.again = job->label->setup.otsu;
    while (good && (got = slc_label_slices_next(&slices, &job->stack, &image)) > 0) {
        good = take_companion(&mask, path, &image) && take_companion(&grey, path, &image) &&
               push_slice(job, slices.path, &image, &mask.image, &grey.image);
    }
    good = good && got == 0 && take_companion(&mask, path, NULL) && take_companion(&grey, path, NULL);
    slc_label_slices_close(&slices);
    slc_label_slices_close(&mask.slices);
    slc_label_slices_close(&grey.slices);
    return good;
}

/* ---- Otsu's threshold -------------------------------------------------------------------------- */

static void add_otsu(slc_image_otsu_step step, const slc_image_otsu_sums *own, slc_image_otsu_sums *all)
{
    if (step == SLC_IMAGE_OTSU_EXTREMES) {
        all->low = own->low < all->low ? own->low : all->low;
        all->high = own->high > all->high ? own->high : all->high;
    }
    for (size_t i = 0; i < SLC_IMAGE_OTSU_BINS && step == SLC_IMAGE_OTSU_COUNT; i++) {
        all->count[i] += own->count[i];
    }
}

/* A step over all slices; of bits there is nothing to count. */
static bool take_step(slc_label_volume_job *job, slc_image_otsu_step step, slc_image_otsu_sums *own,
                      slc_image_otsu_sums *all)
{
    slc_label_slices slices;
    slc_image image;
    int got = -1;
    slc_status status = SLC_OK;
    job->stack.volume = (slc_volume){.depth = 0};
    if (slc_label_slices_open(&slices, job, slc_label_volume_path(job), false)) {
        slices.again = step != SLC_IMAGE_OTSU_EXTREMES;
        while (status == SLC_OK && (got = slc_label_slices_next(&slices, &job->stack, &image)) > 0 &&
               image.type != SLC_IMAGE_BITS) {
            own->low = all->low;
            own->high = all->high;
            status = slc_image_otsu_parts(step, &image, own, NULL, &job->label->error);
            if (status == SLC_OK) {
                add_otsu(step, own, all);
            }
        }
    }
    slc_label_slices_close(&slices);
    if (status != SLC_OK) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), job->label->error.text);
    }
    return status == SLC_OK && got >= 0;
}

/* The volume is read three times. */
static bool find_otsu(slc_label_volume_job *job)
{
    const char *path = slc_label_volume_path(job);
    struct stat about;
    if (stat(path, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
        slc_cli_say("label", "%s: --threshold otsu with --stream is of what can be read more than once",
                    path);
        return false;
    }
    slc_image_otsu_sums *sums = calloc(2, sizeof *sums);
    if (sums == NULL) {
        slc_cli_say("label", "%s: no memory for a histogram", path);
        return false;
    }
    sums[0].low = (double)INFINITY;
    sums[0].high = -(double)INFINITY;
    bool good = take_step(job, SLC_IMAGE_OTSU_EXTREMES, &sums[1], &sums[0]) &&
                take_step(job, SLC_IMAGE_OTSU_COUNT, &sums[1], &sums[0]);
    const slc_image type = {.type = job->stack.volume.type};
    if (good && type.type != SLC_IMAGE_BITS &&
        slc_image_otsu_parts(SLC_IMAGE_OTSU_THRESHOLD, &type, sums, &job->threshold, &job->label->error) !=
            SLC_OK) {
        slc_cli_say("label", "%s: %s", path, job->label->error.text);
        good = false;
    }
    free(sums);
    return good;
}

/* ---- a volume ---------------------------------------------------------------------------------- */

bool slc_label_volume_stream(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    job->seconds = 0;
    job->n_closed = 0;
    job->threshold = label->config.threshold;
    bool good = (!label->setup.otsu || find_otsu(job)) && push_all(job);
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
