/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label --volume`: slices, from files and folders. */
#include "cmd_label_files.h"
#include "cmd_label_volume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Room for as much as the file is large, which most of them need. Where there is none it is asked for piece
 * by piece. */
static void expect(slc_label_stack *stack, const char *path, uint32_t n_parts)
{
    struct stat about;
    if (stack->volume.depth == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        stack->memory.size = 0;
        (void)slc_batch_reserve(&stack->memory, (size_t)about.st_size / (n_parts > 0 ? n_parts : 1), 0);
    }
}

/* The first slice says what the others are to be. */
static bool check_slice(slc_label_stack *stack, const char *path, const slc_image *image)
{
    slc_volume *volume = &stack->volume;
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

static bool take_slice(slc_label_stack *stack, const char *path, const slc_image *image)
{
    slc_volume *volume = &stack->volume;
    const size_t row = (size_t)volume->stride, slice = row * image->height;
    const size_t used = slice * (volume->depth - 1); /* it is counted already */
    stack->memory.size = used;
    if (used > SIZE_MAX - slice || slc_batch_reserve(&stack->memory, used + slice, 0) != SLC_OK) {
        slc_cli_say("label", "%s: no memory for %zu slices of %zux%zu", path, volume->depth, image->width,
                    image->height);
        return false;
    }
    for (size_t y = 0; y < image->height; y++) {
        memcpy(stack->memory.bytes + used + y * row,
               (const char *)image->pixels + (ptrdiff_t)y * image->stride, row);
    }
    return true;
}

/* The output that is this file; NULL: none. */
static const char *is_output(const slc_label_options *options, const char *path)
{
    return options->output != NULL && slc_cli_same_file(path, options->output)           ? "output"
           : options->write_mask != NULL && slc_cli_same_file(path, options->write_mask) ? "mask"
                                                                                         : NULL;
}

/* ---- slices one by one --------------------------------------------------------------------------- */

bool slc_label_slices_open(slc_label_slices *s, slc_label_volume_job *job, const char *input, bool equal)
{
    struct stat about;
    *s = (slc_label_slices){.job = job, .equal = equal};
    if (slc_label_files_add(&s->files, input) != SLC_CLI_GO_ON) {
        return false;
    }
    s->behind = s->files.n;
    s->by_files = job->n_parts > 0 && stat(input, &about) == 0 && S_ISDIR(about.st_mode);
    if (s->by_files) { /* parts are of files, shared out as the slices of a file are */
        const size_t share = s->files.n / job->n_parts, more = s->files.n % job->n_parts;
        s->next = share * job->part + (job->part < more ? job->part : more);
        s->behind = s->next + share + (job->part < more);
    }
    return true;
}

/* What is to be told of a slice: the first is, and how many there are. */
static void take_warnings(slc_label_slices *s)
{
    const char *warning = slc_io_images_warning(s->images);
    if (warning != NULL && !s->again) {
        if (s->told == 0) {
            slc_cli_say("label", "%s", warning);
        }
        s->told++;
        s->job->label->warnings++;
    }
}

static void end_file(slc_label_slices *s)
{
    if (s->told > 1) {
        slc_cli_say("label", "%s: as much is to be told of %" PRIu64 " more of its slices", s->path,
                    s->told - 1);
    }
    slc_io_images_close(s->images);
    s->images = NULL;
    s->told = 0;
}

static bool begin_file(slc_label_slices *s, slc_label_stack *stack)
{
    const slc_label_volume_job *job = s->job;
    slc_io_image_config config;
    s->path = s->files.inputs[s->next++];
    const char *output = is_output(job->label->options, s->path);
    if (output != NULL) {
        slc_cli_say("label", "%s: a slice of the volume, and its %s", s->path, output);
        return false;
    }
    slc_io_image_config_default(&config);
    config.volume = true;
    config.part = s->by_files ? 0 : job->part;
    config.n_parts = s->by_files ? 0 : job->n_parts;
    config.labels = s->equal;
    config.label_values = s->equal && job->label->options->labels;
    if (slc_io_images_open(s->path, &config, &s->images, &job->label->error) != SLC_OK) {
        slc_cli_say("label", "%s", job->label->error.text);
        return false;
    }
    if (s->kept) {
        expect(stack, s->path, config.n_parts);
    }
    return true;
}

int slc_label_slices_next(slc_label_slices *s, slc_label_stack *stack, slc_image *image)
{
    slc_label_job *label = s->job->label;
    for (;;) {
        if (s->images == NULL && s->next >= s->behind) {
            return 0;
        }
        if (s->images == NULL && !begin_file(s, stack)) {
            return -1;
        }
        const slc_status status = slc_io_images_next(s->images, image, &label->error);
        if (status == SLC_OK) {
            if (stack->volume.depth == 0) {
                stack->pixel = slc_io_images_pixel(s->images);
            }
            take_warnings(s);
            if (!check_slice(stack, s->path, image)) {
                return -1;
            }
            stack->volume.depth++;
            return slc_cli_interrupted() ? -1 : 1;
        }
        if (status != SLC_END) {
            slc_cli_say("label", "%s", label->error.text);
            return -1;
        }
        take_warnings(s);
        end_file(s);
    }
}

void slc_label_slices_close(slc_label_slices *s)
{
    if (s->images != NULL) {
        end_file(s);
    }
    slc_label_files_clear(&s->files);
}

/* ---- all of them --------------------------------------------------------------------------------- */

bool slc_label_volume_read(slc_label_volume_job *job, const char *input, slc_label_stack *stack, bool equal)
{
    slc_label_slices slices;
    slc_image image;
    int got = -1;
    stack->volume = (slc_volume){.depth = 0};
    if (slc_label_slices_open(&slices, job, input, equal)) {
        slices.kept = true;
        while ((got = slc_label_slices_next(&slices, stack, &image)) > 0 &&
               take_slice(stack, slices.path, &image)) {
        }
    }
    slc_label_slices_close(&slices);
    stack->volume.voxels = stack->memory.bytes;
    return got == 0;
}
