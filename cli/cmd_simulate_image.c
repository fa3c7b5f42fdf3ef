/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate image`: random test images for labelling, as the literature measures with.
 */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct simulate_options {
    const char *output;
    slc_cli_area size;
    uint64_t seed, granularity;
    double density;
    bool quiet;
} simulate_options;

#define O simulate_options
static const slc_cli_option options_table[] = {
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT(O, output), "FILE",
     "where to write it: .pgm .png .npy .tif .pbm (black is foreground)"},
    {"size", 0, SIZE(O, size, UINT32_MAX - 1, "a width and a height from 1 to 4294967294, as in 640x480"),
     "WxH", "width and height in pixels, or one number for both (default 2048x2048)"},
    {"density", 0, NUMBER(O, density, 0, 100), "PERCENT", "probability of a macro-pixel to be foreground"},
    {"granularity", 0, COUNT(O, granularity, 1, UINT32_MAX), "G", "side of a macro-pixel in pixels"},
    {"seed", 0, COUNT(O, seed, 0, UINT32_MAX), "S", "same seed, same image"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_image_config config;
    slc_sim_image_config_default(&config);
    simulate_options *options = at;
    *options = (simulate_options){.size = {config.width, config.height},
                                  .seed = config.seed,
                                  .density = 100 * config.density,
                                  .granularity = config.granularity};
}

/* Eight pixels a byte from the lowest bit, in place: the byte of pixels x … x + 7 lies before them. */
static void pack_row(uint8_t *row, size_t width)
{
    for (size_t x = 0; x < width; x += 8) {
        uint8_t byte = 0;
        for (size_t i = 0; i < 8 && x + i < width; i++) {
            byte = (uint8_t)(byte | (row[x + i] != 0 ? 1U << i : 0U));
        }
        row[x / 8] = byte;
    }
}

static slc_status write_image(const char *path, const slc_sim_image_config *config, uint8_t *pixels,
                              slc_error *error)
{
    slc_image image = {.pixels = pixels,
                       .width = config->width,
                       .height = config->height,
                       .stride = (ptrdiff_t)config->width,
                       .type = SLC_IMAGE_U8};
    if (slc_cli_ends_with(path, ".pbm")) {
        image.type = SLC_IMAGE_BITS;
        for (size_t y = 0; y < config->height; y++) {
            pack_row(pixels + y * config->width, config->width);
        }
    }
    return slc_io_image_write(path, &image, error);
}

static int simulate(const simulate_options *options, const slc_sim_image_config *config)
{
    slc_error error = {.status = SLC_OK};
    const double began = slc_clock_seconds();
    if (config->width > PTRDIFF_MAX / config->height) {
        slc_cli_say("simulate image", "%zux%zu pixels are more than memory can hold", config->width,
                    config->height);
        return SLC_CLI_FAILED;
    }
    uint8_t *pixels = malloc(config->width * config->height);
    slc_status status = pixels != NULL ? slc_sim_image(config, 255, pixels, (ptrdiff_t)config->width, &error)
                                       : slc_fail(&error, SLC_ERR_MEMORY, "no memory for %zux%zu pixels",
                                                  config->width, config->height);
    if (status == SLC_OK && pixels != NULL) {
        status = write_image(options->output, config, pixels, &error);
    }
    free(pixels);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(&slc_cmd_simulate_image, "%s", error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("simulate image", "%s", error.text);
        return SLC_CLI_FAILED;
    }
    if (!options->quiet) {
        slc_cli_say("simulate image",
                    "%s: %zux%zu pixels, density %g %%, granularity %" PRIu32 ", seed %" PRIu32 ", in %.1f s",
                    options->output, config->width, config->height, options->density, config->granularity,
                    config->seed, slc_clock_seconds() - began);
    }
    return SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    const simulate_options *options = call->options;
    slc_sim_image_config config;
    slc_sim_image_config_default(&config);
    config.width = options->size.width;
    config.height = options->size.height;
    config.seed = (uint32_t)options->seed;
    config.density = options->density / 100;
    config.granularity = (uint32_t)options->granularity;
    return simulate(options, &config);
}

const slc_cli_command slc_cmd_simulate_image = {
    .name = "simulate image",
    .operands = "",
    .summary = "generate a random image to label",
    .description =
        "Writes a random binary image, 0 and 255: squares of granularity x granularity pixels, each of "
        "which\n"
        "is foreground with the probability that is the density. Such images are what labelling is measured\n"
        "on; the numbers are those of the Mersenne twister MT19937.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
