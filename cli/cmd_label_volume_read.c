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
    const size_t row = (size_t)volume->stride, slice = row * image->height, used = slice * volume->depth;
    stack->memory.size = used;
    if (used > SIZE_MAX - slice || slc_batch_reserve(&stack->memory, used + slice, 0) != SLC_OK) {
        slc_cli_say("label", "%s: no memory for %zu slices of %zux%zu", path, volume->depth + 1, image->width,
                    image->height);
        return false;
    }
    for (size_t y = 0; y < image->height; y++) {
        memcpy(stack->memory.bytes + used + y * row,
               (const char *)image->pixels + (ptrdiff_t)y * image->stride, row);
    }
    return true;
}

/* What is to be told of a slice: the first is, and how many there are. */
static void take_warning(slc_label_job *label, const slc_io_images *images, uint64_t *told)
{
    const char *warning = slc_io_images_warning(images);
    if (warning != NULL) {
        if (*told == 0) {
            slc_cli_say("label", "%s", warning);
        }
        ++*told;
        label->warnings++;
    }
}

static bool take(slc_label_volume_job *job, const char *path, slc_label_stack *stack, const slc_image *image,
                 slc_label_take_slice *take_it)
{
    const bool good = check_slice(stack, path, image) &&
                      (take_it != NULL ? take_it(job, path, image) : take_slice(stack, path, image));
    stack->volume.depth += good;
    return good && !slc_cli_interrupted();
}

/* The slices of a file. */
static bool read_file(slc_label_volume_job *job, const char *path, slc_label_stack *stack,
                      slc_label_take_slice *take_it, bool equal)
{
    slc_label_job *label = job->label;
    slc_error *error = &label->error;
    slc_io_image_config config;
    slc_io_images *images = NULL;
    slc_image image;
    uint64_t told = 0;
    slc_io_image_config_default(&config);
    config.volume = true;
    config.part = job->part;
    config.n_parts = job->n_parts;
    config.labels = equal;
    config.label_values = equal && label->options->labels;
    slc_status status = slc_io_images_open(path, &config, &images, error);
    bool good = status == SLC_OK;
    if (good && take_it == NULL) {
        expect(stack, path, job->n_parts);
    }
    while (good && (status = slc_io_images_next(images, &image, error)) == SLC_OK) {
        if (stack->volume.depth == 0) {
            stack->pixel = slc_io_images_pixel(images);
        }
        take_warning(label, images, &told);
        good = take(job, path, stack, &image, take_it);
    }
    if (status == SLC_END) {
        take_warning(label, images, &told);
    } else if (status != SLC_OK) {
        slc_cli_say("label", "%s", error->text);
        good = false;
    }
    if (told > 1) {
        slc_cli_say("label", "%s: as much is to be told of %" PRIu64 " more of its slices", path, told - 1);
    }
    slc_io_images_close(images);
    return good;
}

/* The output that is this file; NULL: none. */
static const char *is_output(const slc_label_options *options, const char *path)
{
    return options->output != NULL && slc_cli_same_file(path, options->output)           ? "output"
           : options->write_mask != NULL && slc_cli_same_file(path, options->write_mask) ? "mask"
                                                                                         : NULL;
}

bool slc_label_volume_read(slc_label_volume_job *job, const char *input, slc_label_stack *stack,
                           slc_label_take_slice *take_it, bool equal)
{
    slc_label_files files = {.n = 0};
    stack->volume = (slc_volume){.depth = 0};
    bool good = slc_label_files_add(&files, input) == SLC_CLI_GO_ON;
    for (size_t i = 0; i < files.n && good; i++) {
        const char *output = is_output(job->label->options, files.inputs[i]);
        if (output != NULL) {
            slc_cli_say("label", "%s: a slice of the volume, and its %s", files.inputs[i], output);
            good = false;
            break;
        }
        good = read_file(job, files.inputs[i], stack, take_it, equal);
    }
    slc_label_files_clear(&files);
    stack->volume.voxels = stack->memory.bytes;
    return good;
}
