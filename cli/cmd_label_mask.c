/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label`: what becomes foreground, and the mask that is written. */
#include "cmd_label_mask.h"
#include "cli_words.h"
#include "cmd_label_files.h"
#include "cmd_label_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_label)

const char *slc_label_mask_word(const slc_label_options *options)
{
    return options->split != NULL                                                  ? "--split"
           : options->local != NULL                                                ? "--local"
           : options->hysteresis != NULL                                           ? "--hysteresis"
           : options->fill_holes                                                   ? "--fill-holes"
           : options->max_hole != 0                                                ? "--max-hole"
           : options->mask != NULL                                                 ? "--mask"
           : options->write_mask != NULL                                           ? "--write-mask"
           : options->threshold != NULL && strchr(options->threshold, ':') != NULL ? "--threshold LO:HI"
                                                                                   : NULL;
}

/* A number, otsu, or LO:HI. */
static int choose_threshold(slc_label_job *job)
{
    const char *text = job->options->threshold;
    slc_image_mask_config *mask = &job->mask_config;
    job->setup.otsu = text != NULL && strcmp(text, "otsu") == 0;
    if (text == NULL || job->setup.otsu || slc_cli_real(text, &job->config.threshold)) {
        return SLC_CLI_GO_ON;
    }
    mask->rule = SLC_IMAGE_RULE_BAND;
    return slc_cli_range(text, &job->config.threshold, &mask->high) && job->config.threshold <= mask->high
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "--threshold takes a number, a band LO:HI or otsu, not '%s'", text);
}

static int choose_hysteresis(slc_label_job *job)
{
    const char *text = job->options->hysteresis;
    slc_image_mask_config *mask = &job->mask_config;
    if (job->options->threshold != NULL) {
        return slc_cli_wrong(COMMAND, "--hysteresis LO:HI is in the place of --threshold");
    }
    mask->rule = SLC_IMAGE_RULE_HYSTERESIS;
    return slc_cli_range(text, &job->config.threshold, &mask->high) && job->config.threshold <= mask->high
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "--hysteresis takes LO:HI, the first not above the second, not '%s'",
                               text);
}

/* A number behind a colon, if there is one more; `text` goes on behind it. */
static bool next_number(const char **text, double *number)
{
    char *end = NULL;
    if (**text == '\0') {
        return true;
    }
    *number = **text == ':' ? strtod(*text + 1, &end) : (double)NAN;
    const bool good = end != NULL && end != *text + 1 && isfinite(*number);
    *text = good ? end : *text;
    return good;
}

/* mean:WINDOW:OFFSET or sauvola:WINDOW:K:RANGE. */
static int choose_local(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_image_mask_config *mask = &job->mask_config;
    const bool sauvola = strncmp(options->local, "sauvola", 7) == 0;
    const char *text = options->local + (sauvola ? 7 : 4);
    double window = mask->window;
    if (options->threshold != NULL || options->hysteresis != NULL) {
        return slc_cli_wrong(COMMAND, "--local is in the place of --%s",
                             options->threshold != NULL ? "threshold" : "hysteresis");
    }
    mask->rule = sauvola ? SLC_IMAGE_RULE_SAUVOLA : SLC_IMAGE_RULE_MEAN;
    if ((!sauvola && strncmp(options->local, "mean", 4) != 0) || !next_number(&text, &window) ||
        !next_number(&text, sauvola ? &mask->k : &mask->offset) ||
        (sauvola && !next_number(&text, &mask->range)) || *text != '\0') {
        return slc_cli_wrong(COMMAND, "--local takes mean:WINDOW:OFFSET or sauvola:WINDOW:K:RANGE, not '%s'",
                             options->local);
    }
    const bool odd = window >= 1 && window <= UINT16_MAX && fmod(window, 2) == 1;
    mask->window = odd ? (uint32_t)window : 0;
    return odd && mask->range >= 0
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND,
                               odd ? "--local: a range is more than 0, not as in '%s'"
                                   : "--local: a window is an odd number from 1 to 65535, not as in '%s'",
                               options->local);
}

static int choose_split(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_image_split_config *split = &job->split_config;
    slc_image_split_config_default(split);
    if (!slc_cli_real(options->split, &split->depth) || split->depth < 0) {
        return slc_cli_wrong(COMMAND, "--split takes a number of pixels from 0, not '%s'", options->split);
    }
    if (options->inverse || strcmp(options->algorithm, "auto") != 0) {
        return slc_cli_wrong(COMMAND, "--split does not go with --%s",
                             options->inverse ? "inverse" : "algorithm");
    }
    job->setup.split = split;
    return SLC_CLI_GO_ON;
}

int slc_label_mask_choose(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    slc_image_mask_config *mask = &job->mask_config;
    slc_image_mask_config_default(mask);
    const int status = options->local != NULL        ? choose_local(job)
                       : options->hysteresis != NULL ? choose_hysteresis(job)
                                                     : choose_threshold(job);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    const char *word = !options->stream || !options->volume ? slc_label_mask_word(options)
                       : options->hysteresis != NULL ? "--hysteresis" /* a slice has the others by itself */
                       : options->fill_holes         ? "--fill-holes"
                       : options->split != NULL      ? "--split"
                       : options->write_mask != NULL ? "--write-mask"
                                                     : NULL;
    if (word != NULL && (options->stream || slc_label_on_gpu(options->device))) {
        return slc_cli_wrong(COMMAND, "%s does not go with %s", word,
                             options->stream ? "--stream" : "--device cuda: masks are made by the processor");
    }
    if (options->max_hole != 0 && !options->fill_holes) {
        return slc_cli_wrong(COMMAND, "--max-hole needs --fill-holes, whose largest it is");
    }
    if (options->mask != NULL && options->inverse) {
        return slc_cli_wrong(COMMAND,
                             "--mask does not go with --inverse: what is outside of the mask is neither");
    }
    if (slc_label_is_pattern(options->write_mask)) {
        return slc_cli_wrong(COMMAND, "--write-mask: {name} is for --output alone; masks go into one file");
    }
    mask->max_hole_area = !options->fill_holes ? 0 : options->max_hole != 0 ? options->max_hole : UINT64_MAX;
    if (mask->rule != SLC_IMAGE_RULE_LEAST || mask->max_hole_area > 0 || options->mask != NULL ||
        options->split != NULL) {
        job->setup.mask = mask;
    }
    return options->split != NULL ? choose_split(job) : SLC_CLI_GO_ON;
}

slc_label_reach slc_label_reach_of(const slc_label_options *options, const slc_image *image)
{
    slc_label_reach reach = SLC_LABEL_NOTHING;
    if (options->threshold != NULL || options->hysteresis != NULL || options->local != NULL ||
        options->inverse || options->labels || image->type != SLC_IMAGE_F32 || image->pixels == NULL) {
        return reach;
    }
    for (size_t y = 0; y < image->height; y++) {
        const char *row = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
        for (size_t x = 0; x < image->width; x++) {
            float value;
            memcpy(&value, row + x * sizeof value, sizeof value);
            if (value >= 1.0f) {
                return SLC_LABEL_ABOVE;
            }
            reach = value < 0.0f || value > 0.0f ? SLC_LABEL_BELOW : reach;
        }
    }
    return reach;
}

/* ---- the mask that is read --------------------------------------------------------------------- */

static int complain(slc_label_job *job)
{
    slc_cli_say("label", "--mask: %s", job->error.text);
    return SLC_CLI_FAILED;
}

/* One page, whose pixels are copied: those of the reader last until it looks for another. */
int slc_label_mask_read(slc_label_job *job)
{
    const char *path = job->options->mask;
    slc_io_images *images = NULL;
    slc_image page, other;
    if (path == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (slc_io_images_open(path, NULL, &images, &job->error) != SLC_OK) {
        return complain(job);
    }
    slc_status status = slc_io_images_next(images, &page, &job->error);
    if (slc_io_images_warning(images) != NULL) {
        slc_cli_say("label", "--mask: %s", slc_io_images_warning(images));
    }
    if (status == SLC_OK) {
        const size_t row = slc_image_row_bytes(page.type, page.width);
        job->within_pixels = malloc(row * page.height);
        for (size_t y = 0; y < page.height && job->within_pixels != NULL; y++) {
            memcpy(job->within_pixels + y * row, (const char *)page.pixels + (ptrdiff_t)y * page.stride, row);
        }
        job->within = page;
        job->within.pixels = job->within_pixels;
        job->within.stride = (ptrdiff_t)row;
        status = job->within_pixels != NULL
                     ? slc_io_images_next(images, &other, &job->error)
                     : slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its pixels", path);
        if (status == SLC_OK) {
            status = slc_fail(&job->error, SLC_ERR_USAGE, "%s: it has several pages, and a mask is one",
                              path);
        }
    } else if (status == SLC_END) {
        status = slc_fail(&job->error, SLC_ERR_FORMAT, "%s: it has no page", path);
    }
    slc_io_images_close(images);
    job->setup.within = &job->within;
    return status == SLC_END ? SLC_CLI_GO_ON : complain(job);
}

/* ---- the mask that is written ------------------------------------------------------------------ */

slc_status slc_label_mask_write(slc_label_job *job, const slc_flow_image_result *result)
{
    const slc_image *image = &result->image;
    const size_t n = image->width * image->height;
    uint8_t *pixels = malloc(n);
    if (pixels == NULL) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for a page", job->options->write_mask);
    }
    for (size_t i = 0; i < n; i++) {
        pixels[i] = result->labels[i] != 0 ? UINT8_MAX : 0;
    }
    const slc_image mask = {pixels, image->width, image->height, (ptrdiff_t)image->width, SLC_IMAGE_U8};
    const slc_status status = slc_io_image_writer_add(job->mask_writer, &mask, &job->error);
    free(pixels);
    return status;
}
