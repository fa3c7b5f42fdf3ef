/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate pixels`: lists of pixels for clustering, as frames or as a stream with times.
 */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMAND (&slc_cmd_simulate_pixels)

typedef struct simulate_options {
    const char *output;
    slc_cli_area size; /* 0: as many as the kind of pixels has */
    uint64_t seed, granularity, frames, stream;
    double density, rate;
    bool shuffle, quiet;
} simulate_options;

#define O simulate_options
static const slc_cli_option options_table[] = {
    {"output", 'o', NEEDED | OUTPUT_AS(O, output, WORDS(".csv")), "FILE", "where to write them: .csv"},
    {"size", 0, SIZE(O, size, UINT16_MAX, "a width and a height from 1 to 65535, as in 768x256"), "WxH",
     "width and height in pixels (default 768x256, for a stream 256x256)"},
    {"frames", 0, COUNT(O, frames, 1, 1000000), "N", "how many images"},
    {"density", 0, NUMBER(O, density, 0, 100), "PERCENT", "probability of a macro-pixel to be hit"},
    {"granularity", 0, COUNT(O, granularity, 1, 65535), "G", "side of a macro-pixel in pixels"},
    {"shuffle", 0, FLAG(O, shuffle), NULL, "pixels of an image in random order, not in raster order"},
    {"stream", 0, COUNT(O, stream, 0, 1e10), "N", "instead of frames so many pixels with times; 0: none"},
    {"rate", 0, NUMBER(O, rate, 1e-6, 1e6), "MHITS",
     "pixels of the stream in a microsecond, which is 640 ticks"},
    {"seed", 0, COUNT(O, seed, 0, UINT32_MAX), "S", "same seed, same pixels"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_pixels_config config;
    slc_sim_pixels_config_default(&config);
    simulate_options *options = at;
    *options = (simulate_options){.seed = config.seed,
                                  .density = 100 * config.density,
                                  .granularity = config.granularity,
                                  .frames = config.images,
                                  .rate = 10};
}

/* ---- frames ------------------------------------------------------------------------------------ */

enum { WITH = SLC_PIXEL_CHARGE | SLC_PIXEL_TIME, PIECE = 65536 };

static void write_frame(FILE *out, const slc_pixels *pixels, uint64_t frame)
{
    for (size_t i = 0; i < pixels->head.size; i++) {
        (void)fprintf(out, "%" PRIu64 ",%u,%u,%" PRIu32 "\n", frame, pixels->x[i], pixels->y[i],
                      pixels->charge[i]);
    }
}

/* An image at a time, so that memory does not grow with their number. */
static slc_status write_frames(const simulate_options *options, slc_sim_pixels_config config, FILE *out,
                               uint64_t *n, slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_CHARGE, columns);
    slc_pixels pixels = {.head = {.size = 0}};
    slc_status status = SLC_OK;
    (void)fputs("frame,x,y,charge\n", out);
    config.images = 1;
    for (uint64_t frame = 0; frame < options->frames && status == SLC_OK && !slc_cli_interrupted(); frame++) {
        config.first = (uint32_t)frame;
        slc_columns_reset(&pixels);
        status = slc_sim_pixels(&config, SLC_PIXEL_CHARGE, &pixels, error);
        if (status == SLC_OK) {
            write_frame(out, &pixels, frame);
            *n += pixels.head.size;
        }
    }
    slc_columns_clear(&schema, &pixels);
    return status;
}

/* ---- a stream ---------------------------------------------------------------------------------- */

static slc_status write_stream(const simulate_options *options, uint16_t width, uint16_t height,
                               slc_io_writer *writer, uint64_t *n, slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(WITH, columns);
    slc_pixels pixels = {.head = {.size = 0}};
    slc_sim_pixel_stream_config config;
    slc_sim_pixel_stream_config_default(&config);
    config.width = width;
    config.height = height;
    config.seed = options->seed;
    config.cluster_ticks = 640 * config.cluster_size / options->rate; /* 640 ticks are a microsecond */
    const slc_io_text_form form = {.schema = &schema};
    slc_status status = slc_io_text_rows(writer, &form, NULL, error);
    while (*n < options->stream && status == SLC_OK && !slc_cli_interrupted()) {
        const uint64_t left = options->stream - *n;
        slc_columns_reset(&pixels);
        config.part = *n / PIECE;
        status = slc_sim_pixel_stream(&config, left < PIECE ? (size_t)left : PIECE, &pixels, error);
        status = status == SLC_OK ? slc_io_text_rows(writer, &form, &pixels, error) : status;
        for (size_t i = 0; i < pixels.head.size; i++) {
            config.begin = pixels.time[i] > config.begin ? pixels.time[i] : config.begin;
        }
        *n += pixels.head.size;
    }
    slc_columns_clear(&schema, &pixels);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int simulate(const simulate_options *options, const slc_sim_pixels_config *config)
{
    slc_error error = {.status = SLC_OK};
    slc_io_writer *writer = NULL;
    uint64_t n = 0;
    slc_cli_catch_signals();
    slc_status status = slc_io_text_create(options->output, &writer, &error);
    if (status == SLC_OK) {
        FILE *out = slc_io_text_stream(writer);
        status = options->stream > 0
                     ? write_stream(options, config->width, config->height, writer, &n, &error)
                     : write_frames(options, *config, out, &n, &error);
    }
    if (status == SLC_OK && !slc_cli_interrupted()) {
        status = slc_io_finish(writer, &error);
    } else {
        slc_io_abandon(writer);
    }
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    if (status != SLC_OK || slc_cli_interrupted()) {
        if (status != SLC_OK) {
            slc_cli_say("simulate pixels", "%s", error.text);
        }
        return SLC_CLI_FAILED;
    }
    if (!options->quiet) {
        slc_cli_say("simulate pixels", "%s: %" PRIu64 " pixels", options->output, n);
    }
    return SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    const simulate_options *options = call->options;
    slc_sim_pixels_config config;
    slc_sim_pixels_config_default(&config);
    config.width = options->stream > 0 ? 256 : config.width;
    config.height = 256;
    if (options->size.width > 0) {
        config.width = (uint16_t)options->size.width;
        config.height = (uint16_t)options->size.height;
    }
    config.density = options->density / 100;
    config.granularity = (uint32_t)options->granularity;
    config.shuffled = options->shuffle;
    config.seed = (uint32_t)options->seed;
    return simulate(options, &config);
}

const slc_cli_command slc_cmd_simulate_pixels = {
    .name = "simulate pixels",
    .operands = "",
    .summary = "generate lists of pixels to cluster",
    .description = "Writes the pixels of nearly empty images, frame,x,y,charge, as sluice cluster reads "
                   "them: squares of\n"
                   "granularity x granularity pixels, each of which is hit with the probability that is the "
                   "density. Or,\n"
                   "with --stream, pixels as a chip without frames sends them, x,y,charge,time: clusters of "
                   "4 pixels on\n"
                   "average at random places and times.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
