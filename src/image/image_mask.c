/* SPDX-License-Identifier: Apache-2.0
 * The foreground of an image as rows of bits: each row by comparisons of whole rows, then what needs
 * components (image_sieve.h). */
#include <sluice/image_mask.h>

#include "base/config.h"
#include "base/team.h"
#include "image/image_bits.h"
#include "image/image_check.h"
#include "image/image_local.h"
#include "image/image_mask_part.h"
#include "image/image_sieve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 4096,
    STRIP_PIXELS = 1 << 18 /* a thread is worth its start for so many */
};

static void image_mask_config_default(slc_image_mask_config *config)
{
    *config = (slc_image_mask_config){.size = sizeof *config,
                                      .rule = SLC_IMAGE_RULE_LEAST,
                                      .low = 1,
                                      .high = (double)INFINITY,
                                      .connectivity = 8,
                                      .window = 15,
                                      .k = 0.2,
                                      .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_image_mask_config, image_mask_config_default)

/* ---- what is given ----------------------------------------------------------------------------- */

static slc_status check_config(const slc_image_mask_config *c, slc_error *error)
{
    if (c->rule < 0 || c->rule >= SLC_IMAGE_RULES) {
        return slc_fail(error, SLC_ERR_USAGE, "rule: unknown choice %d", (int)c->rule);
    }
    const bool two = c->rule == SLC_IMAGE_RULE_BAND || c->rule == SLC_IMAGE_RULE_HYSTERESIS;
    if (isnan(c->low) || (two && isnan(c->high))) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: not a number");
    }
    if (two && c->low > c->high) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: low, %g, is above high, %g", c->low, c->high);
    }
    if (slc_image_mask_is_local(c->rule) && (c->window % 2 == 0 || c->window > UINT16_MAX)) {
        return slc_fail(error, SLC_ERR_USAGE, "window: %u, and it is an odd number up to %d", c->window,
                        UINT16_MAX);
    }
    if (slc_image_mask_is_local(c->rule) &&
        (!isfinite(c->offset) || !isfinite(c->k) || !isfinite(c->range) || c->range < 0)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "threshold: offset %g, k %g and range %g are finite, the range not negative",
                        c->offset, c->k, c->range);
    }
    if (c->connectivity != 4 && c->connectivity != 8) {
        return slc_fail(error, SLC_ERR_USAGE, "connectivity: %u, and it can be 4 or 8", c->connectivity);
    }
    if (c->exec.threads > MOST_THREADS) {
        return slc_fail(error, SLC_ERR_USAGE, "threads: %u, and at most %d can be had", c->exec.threads,
                        MOST_THREADS);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    if (c->exec.device != NULL && strcmp(c->exec.device, "cpu") != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": masks are made by the processor",
                        c->exec.device);
    }
    return SLC_OK;
}

static slc_status check_images(const slc_image_mask_config *c, const slc_image *image,
                               const slc_image *within, const void *mask, ptrdiff_t stride, slc_error *error)
{
    slc_status status = slc_image_check("image", image, error);
    if (status == SLC_OK && within != NULL) {
        status = slc_image_check("mask", within, error);
        if (status == SLC_OK && (within->width != image->width || within->height != image->height)) {
            status = slc_fail(error, SLC_ERR_USAGE, "mask: %zu x %zu pixels for an image of %zu x %zu",
                              within->width, within->height, image->width, image->height);
        }
    }
    if (status == SLC_OK && image->type == SLC_IMAGE_BITS && c->rule != SLC_IMAGE_RULE_LEAST) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "threshold: rows of bits are foreground and background already");
    }
    if (status == SLC_OK && slc_image_mask_is_local(c->rule)) {
        status = slc_image_local_check(c, image, error);
    }
    return status == SLC_OK ? slc_image_check_rows("foreground", mask, stride,
                                                   slc_image_row_bytes(SLC_IMAGE_BITS, image->width),
                                                   image->height, 1, error)
                            : status;
}

/* ---- the rule ---------------------------------------------------------------------------------- */

/* What one thread has: bit rows of what is at or above low, of what is above high, and of the mask. */
typedef struct lane {
    uint64_t *low, *above, *in;
    void *memory;
    slc_image_local local;
} lane;

typedef struct work {
    const slc_image_mask_config *config;
    const slc_image *image, *within;
    unsigned char *mask;
    ptrdiff_t stride;
    slc_image_level low, above, in;
    slc_image_kernels kernels;
    slc_team *team;
    uint32_t strips;
    lane *lanes;
} work;

/* Of values above `high`. */
static slc_image_level level_above(slc_image_type type, double high)
{
    if (high >= (double)INFINITY) {
        return (slc_image_level){.type = type, .none = true};
    }
    if (type != SLC_IMAGE_F32) {
        return slc_image_level_of(type, floor(high) + 1);
    }
    float most = high < -(double)FLT_MAX ? -INFINITY : high > (double)FLT_MAX ? FLT_MAX : (float)high;
    most = (double)most > high ? nextafterf(most, -INFINITY) : most;
    return (slc_image_level){.type = type, .real = nextafterf(most, INFINITY)};
}

static void make_strip(void *context, uint32_t part)
{
    const work *w = context;
    lane *l = &w->lanes[part];
    const size_t width = w->image->width, words = (width + 63) / 64;
    const size_t begin = w->image->height * part / w->strips;
    const size_t end = w->image->height * (part + 1) / w->strips;
    const bool local = slc_image_mask_is_local(w->config->rule);
    if (local) {
        slc_image_local_begin(&l->local, begin);
    }
    for (size_t y = begin; y < end; y++) {
        const void *row = slc_image_row(w->image, y);
        if (local) {
            slc_image_local_row(&l->local, y, l->low);
        } else {
            slc_image_bits_row(&w->kernels, &w->low, row, width, false, l->low);
        }
        if (!w->above.none) {
            slc_image_bits_row(&w->kernels, &w->above, row, width, false, l->above);
            for (size_t i = 0; i < words; i++) {
                l->low[i] &= ~l->above[i];
            }
        }
        if (w->within != NULL) {
            slc_image_bits_row(&w->kernels, &w->in, slc_image_row(w->within, y), width, false, l->in);
            for (size_t i = 0; i < words; i++) {
                l->low[i] &= l->in[i];
            }
        }
        slc_image_bits_copy(l->low, width, w->mask + (ptrdiff_t)y * w->stride);
    }
}

/* ---- all of it --------------------------------------------------------------------------------- */

static uint32_t count_strips(const slc_image_mask_config *config, const slc_image *image)
{
    const uint32_t processors = slc_team_processors();
    const size_t threads = config->exec.threads != 0   ? config->exec.threads
                           : processors < MOST_THREADS ? processors
                                                       : MOST_THREADS;
    const size_t rows = (STRIP_PIXELS + image->width - 1) / image->width, worth = image->height / rows;
    const size_t strips = worth < 1 ? 1 : worth;
    return (uint32_t)(strips < threads ? strips : threads);
}

static slc_status open_lanes(work *w, slc_error *error)
{
    const size_t words = slc_image_bits_words(w->image->width);
    w->lanes = calloc(w->strips, sizeof *w->lanes);
    slc_status status = w->lanes != NULL ? SLC_OK : SLC_ERR_MEMORY;
    for (uint32_t i = 0; i < w->strips && status == SLC_OK; i++) {
        lane *l = &w->lanes[i];
        l->low = l->memory = malloc(3 * words * sizeof *l->low);
        if (l->memory == NULL) {
            status = SLC_ERR_MEMORY;
            break;
        }
        l->above = l->low + words;
        l->in = l->above + words;
        if (slc_image_mask_is_local(w->config->rule)) {
            status = slc_image_local_open(&l->local, w->config, w->image);
        }
    }
    if (status == SLC_OK && w->strips > 1) {
        status = slc_team_open(w->strips, &w->team);
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for a mask");
}

static void close_lanes(work *w)
{
    for (uint32_t i = 0; w->lanes != NULL && i < w->strips; i++) {
        free(w->lanes[i].memory);
        slc_image_local_close(&w->lanes[i].local);
    }
    free(w->lanes);
    slc_team_close(w->team);
}

static slc_status sift(const work *w, bool holes, slc_error *error)
{
    const slc_image_mask_config *c = w->config;
    const slc_image_sieve sieve = {.mask = w->mask,
                                   .stride = w->stride,
                                   .width = w->image->width,
                                   .height = w->image->height,
                                   .connectivity = holes ? 12 - c->connectivity : c->connectivity,
                                   .seeds = holes ? NULL : w->image,
                                   .level = slc_image_level_of(w->image->type, c->high),
                                   .most = c->max_hole_area,
                                   .kernels = &w->kernels,
                                   .team = w->team,
                                   .strips = w->strips};
    return slc_image_sieve_run(&sieve, error);
}

slc_status slc_image_mask_take(const slc_image_mask_config *given, const double *low,
                               slc_image_mask_config *own, slc_error *error)
{
    image_mask_config_default(own);
    const slc_status status = slc_config_take(own, sizeof *own, given, "slc_image_mask_config", error);
    own->low = low != NULL ? *low : own->low;
    return status == SLC_OK ? check_config(own, error) : status;
}

slc_status slc_image_mask_make(const slc_image_mask_config *given, const slc_image *image,
                               const slc_image *within, void *mask, ptrdiff_t stride, slc_error *error)
{
    slc_image_mask_config config;
    slc_status status = slc_image_mask_take(given, NULL, &config, error);
    status = status == SLC_OK ? check_images(&config, image, within, mask, stride, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    work w = {.config = &config,
              .image = image,
              .within = within,
              .mask = mask,
              .stride = stride,
              .low = slc_image_level_of(image->type, config.low),
              .above = level_above(image->type,
                                   config.rule == SLC_IMAGE_RULE_BAND ? config.high : (double)INFINITY),
              .strips = count_strips(&config, image)};
    if (within != NULL) {
        w.in = slc_image_level_of(within->type, within->type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1);
    }
    slc_image_kernels_select(config.exec.target, &w.kernels);
    status = open_lanes(&w, error);
    if (status == SLC_OK) {
        slc_team_run(w.team, w.strips, make_strip, &w);
    }
    if (status == SLC_OK && config.rule == SLC_IMAGE_RULE_HYSTERESIS) {
        status = sift(&w, false, error);
    }
    if (status == SLC_OK && config.max_hole_area > 0) {
        status = sift(&w, true, error);
    }
    close_lanes(&w);
    return status;
}
