/* SPDX-License-Identifier: Apache-2.0
 *
 * Test images for labelling: macro-pixels that are foreground with a given probability, as in sections 4.3.6
 * and 4.5.5 of A. Hennequin's thesis (2022). Density says how full an image is and granularity how clustered,
 * which are the two things that the time of labelling depends on.
 */
#include "sim/sim_image_random.h"

#include <sluice/sim.h>

#include <math.h>
#include <string.h>

void slc_sim_image_config_default(slc_sim_image_config *config)
{
    *config = (slc_sim_image_config){
        .seed = 1, .width = 2048, .height = 2048, .density = 0.45, .granularity = 1};
}

static slc_status check(const slc_sim_image_config *config, ptrdiff_t stride, slc_error *error)
{
    const size_t largest = UINT32_MAX - 1;
    if (config->width < 1 || config->width > largest || config->height < 1 || config->height > largest) {
        return slc_fail(error, SLC_ERR_USAGE, "size %zux%zu: width and height are from 1 to %zu",
                        config->width, config->height, largest);
    }
    if (!(config->density >= 0 && config->density <= 1)) {
        return slc_fail(error, SLC_ERR_USAGE, "density %g is not from 0 to 1", config->density);
    }
    if (config->granularity < 1) {
        return slc_fail(error, SLC_ERR_USAGE, "granularity 0: a macro-pixel has at least one pixel");
    }
    const size_t step = stride < 0 ? 0 - (size_t)stride : (size_t)stride;
    if (step < config->width && config->height > 1) {
        return slc_fail(error, SLC_ERR_USAGE, "stride %td: a row of %zu pixels is longer", stride,
                        config->width);
    }
    return SLC_OK;
}

/* One row of macro-pixels, spread over the pixels of its first row. */
static void draw_row(slc_sim_twister *twister, const slc_sim_image_config *config, uint64_t limit,
                     uint8_t value, uint8_t *row)
{
    for (size_t x = 0; x < config->width; x += config->granularity) {
        const size_t left = config->width - x;
        const size_t size = left < config->granularity ? left : config->granularity;
        const uint8_t pixel = slc_sim_twister_next(twister) < limit ? value : 0;
        if (size == 1) {
            row[x] = pixel;
        } else {
            memset(row + x, pixel, size);
        }
    }
}

slc_status slc_sim_image(const slc_sim_image_config *config, uint8_t value, uint8_t *pixels, ptrdiff_t stride,
                         slc_error *error)
{
    const slc_status status = check(config, stride, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_sim_twister twister;
    slc_sim_twister_seed(&twister, config->seed);
    /* A whole number is below a limit exactly where it is below the limit rounded up. */
    const uint64_t limit = (uint64_t)ceil(config->density * 0x1p32);
    for (size_t y = 0; y < config->height; y++) {
        uint8_t *row = pixels + (ptrdiff_t)y * stride;
        if (y % config->granularity == 0) {
            draw_row(&twister, config, limit, value, row);
        } else {
            memcpy(row, row - stride, config->width);
        }
    }
    return SLC_OK;
}
