/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of pixels for clustering: images of the thesis' kind (A. Hennequin, 2022, section 4.6.4), whose cost
 * depends on density and granularity alone, and the endless stream of a chip that is read out hit by hit.
 */
#include "sim/sim_image_random.h"
#include "sim/sim_velo_random.h"

#include <sluice/sim.h>

#include <math.h>
#include <stdlib.h>

/* ---- images ------------------------------------------------------------------------------------ */

void slc_sim_pixels_config_default(slc_sim_pixels_config *config)
{
    *config = (slc_sim_pixels_config){
        .seed = 1, .width = 768, .height = 256, .density = 0.01, .granularity = 1, .images = 1};
}

uint32_t slc_sim_pixels_image_seed(uint32_t seed, uint32_t image)
{
    return (uint32_t)(random_mix(random_mix(seed + 0x9e3779b97f4a7c15ULL) ^
                                 random_mix(image * 0xd1342543de82ef95ULL + 1)) >>
                      32);
}

static slc_status check(const slc_sim_pixels_config *config, uint32_t with, slc_error *error)
{
    if (config->width < 1 || config->height < 1) {
        return slc_fail(error, SLC_ERR_USAGE, "size %ux%u: width and height are from 1 to 65535",
                        config->width, config->height);
    }
    if (!(config->density >= 0 && config->density <= 1)) {
        return slc_fail(error, SLC_ERR_USAGE, "density %g is not from 0 to 1", config->density);
    }
    if (config->granularity < 1) {
        return slc_fail(error, SLC_ERR_USAGE, "granularity 0: a macro-pixel has at least one pixel");
    }
    if ((with & ~(uint32_t)(SLC_PIXEL_CHARGE | SLC_PIXEL_TIME)) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "columns 0x%x: only charge and time are simulated", with);
    }
    return SLC_OK;
}

static void add_pixel(slc_pixels *pixels, size_t x, size_t y, sim_random *random)
{
    const size_t at = pixels->head.size++;
    pixels->x[at] = (uint16_t)x;
    pixels->y[at] = (uint16_t)y;
    const uint64_t bits = random_bits(random);
    if (pixels->charge != NULL) {
        pixels->charge[at] = (uint32_t)(bits % 255 + 1);
    }
    if (pixels->time != NULL) {
        pixels->time[at] = (int64_t)(bits >> 32 & 4095);
    }
}

/* A row of macro-pixels is drawn once and then repeated, as in slc_sim_image. */
static void draw_image(const slc_sim_pixels_config *config, uint32_t seed, uint64_t limit, bool *row,
                       sim_random *random, slc_pixels *pixels)
{
    const size_t g = config->granularity, columns = (config->width + g - 1) / g;
    slc_sim_twister twister;
    slc_sim_twister_seed(&twister, seed);
    for (size_t y = 0; y < config->height; y++) {
        for (size_t c = 0; y % g == 0 && c < columns; c++) {
            row[c] = slc_sim_twister_next(&twister) < limit;
        }
        for (size_t x = 0; x < config->width; x++) {
            if (row[x / g]) {
                add_pixel(pixels, x, y, random);
            }
        }
    }
}

static void swap_pixels(slc_pixels *pixels, size_t a, size_t b)
{
    const uint16_t x = pixels->x[a], y = pixels->y[a];
    pixels->x[a] = pixels->x[b];
    pixels->y[a] = pixels->y[b];
    pixels->x[b] = x;
    pixels->y[b] = y;
}

/* Charges and times are independent of the place, so that only places are exchanged (Fisher and Yates). */
static void shuffle(slc_pixels *pixels, size_t first, sim_random *random)
{
    for (size_t n = pixels->head.size - first; n > 1; n--) {
        swap_pixels(pixels, first + n - 1, first + (size_t)(random_uniform(random) * (double)n));
    }
}

/* Twice as much whenever it is too little, so that many images do not copy each other again and again. */
static slc_status make_room(const slc_schema *schema, slc_pixels *pixels, size_t rows, uint32_t events)
{
    const slc_columns *head = &pixels->head;
    const size_t twice = head->capacity < SIZE_MAX / 4 ? 2 * head->capacity : rows;
    if (rows <= head->capacity && events <= head->event_capacity) {
        return SLC_OK;
    }
    return slc_columns_reserve(schema, pixels, rows > twice ? rows : twice, events);
}

slc_status slc_sim_pixels(const slc_sim_pixels_config *config, uint32_t with, slc_pixels *pixels,
                          slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(with, columns);
    slc_status status = check(config, with, error);
    if (status != SLC_OK) {
        return status;
    }
    bool *row = calloc(config->width, sizeof *row);
    const uint64_t limit = (uint64_t)ceil(config->density * 0x1p32);
    for (uint32_t i = 0; row != NULL && i < config->images && status == SLC_OK; i++) {
        const size_t first = pixels->head.size, area = (size_t)config->width * config->height;
        status = make_room(&schema, pixels, first + area, pixels->head.n_events + config->images - i);
        if (status == SLC_OK) {
            sim_random random;
            random_seed(&random, config->seed, (uint64_t)config->first + i);
            draw_image(config, slc_sim_pixels_image_seed(config->seed, config->first + i), limit, row,
                       &random, pixels);
            if (config->shuffled) {
                shuffle(pixels, first, &random);
            }
            slc_columns_end_event(pixels);
        }
    }
    status = row == NULL ? SLC_ERR_MEMORY : status;
    free(row);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for the pixels");
}

/* ---- a stream ---------------------------------------------------------------------------------- */

enum { MOST_PIXELS = 32 };

void slc_sim_pixel_stream_config_default(slc_sim_pixel_stream_config *config)
{
    *config = (slc_sim_pixel_stream_config){
        .seed = 1, .width = 256, .height = 256, .cluster_size = 4, .cluster_ticks = 64, .spread = 16};
}

static slc_status check_stream(const slc_sim_pixel_stream_config *config, slc_error *error)
{
    if (config->width < 1 || config->height < 1) {
        return slc_fail(error, SLC_ERR_USAGE, "size %ux%u: width and height are from 1 to 65535",
                        config->width, config->height);
    }
    if (!(config->cluster_size >= 1 && config->cluster_size <= 16)) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster_size %g is not from 1 to 16", config->cluster_size);
    }
    if (!(config->cluster_ticks > 0 && config->cluster_ticks < 0x1p32)) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster_ticks %g is not between 0 and 2^32",
                        config->cluster_ticks);
    }
    return SLC_OK;
}

/* From 1, of a geometric distribution with that mean. */
static size_t draw_size(sim_random *random, double mean)
{
    const double more = mean > 1 ? log(random_uniform(random)) / log(1 - 1 / mean) : 0;
    return more < MOST_PIXELS - 1 ? 1 + (size_t)more : MOST_PIXELS;
}

static size_t step(size_t at, size_t side, uint64_t draw)
{
    const size_t moved = at + (size_t)(draw % 3); /* one too many */
    return moved == 0 ? 0 : moved - 1 < side ? moved - 1 : side - 1;
}

static bool has(const uint16_t (*places)[2], size_t n, size_t x, size_t y)
{
    size_t i = 0;
    while (i < n && (places[i][0] != x || places[i][1] != y)) {
        i++;
    }
    return i < n;
}

/* A walk to neighbours from a pixel that is hit already; where it stays, the cluster remains smaller. */
static size_t draw_places(const slc_sim_pixel_stream_config *config, sim_random *random,
                          uint16_t places[MOST_PIXELS][2])
{
    const size_t wanted = draw_size(random, config->cluster_size);
    places[0][0] = (uint16_t)(random_uniform(random) * config->width);
    places[0][1] = (uint16_t)(random_uniform(random) * config->height);
    size_t n = 1;
    for (size_t tries = 0; n < wanted && tries < (size_t)4 * MOST_PIXELS; tries++) {
        const uint64_t draw = random_bits(random);
        const size_t from = (size_t)(draw >> 32) % n;
        const size_t x = step(places[from][0], config->width, draw & 0xffff);
        const size_t y = step(places[from][1], config->height, draw >> 16 & 0xffff);
        if (!has((const uint16_t(*)[2])places, n, x, y)) {
            places[n][0] = (uint16_t)x;
            places[n][1] = (uint16_t)y;
            n++;
        }
    }
    return n;
}

slc_status slc_sim_pixel_stream(const slc_sim_pixel_stream_config *config, size_t n, slc_pixels *pixels,
                                slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_CHARGE | SLC_PIXEL_TIME, columns);
    slc_status status = check_stream(config, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t end = pixels->head.size + n;
    status = slc_columns_reserve(&schema, pixels, end, pixels->head.n_events + 1);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for %zu pixels", n);
    }
    sim_random random;
    random_seed(&random, config->seed, config->part);
    double time = 0;
    while (pixels->head.size < end) {
        uint16_t places[MOST_PIXELS][2];
        time -= config->cluster_ticks * log(random_uniform(&random));
        const size_t size = draw_places(config, &random, places);
        for (size_t i = 0; i < size && pixels->head.size < end; i++) {
            const size_t at = pixels->head.size++;
            const uint64_t draw = random_bits(&random);
            pixels->x[at] = places[i][0];
            pixels->y[at] = places[i][1];
            pixels->charge[at] = (uint32_t)(draw % 1022 +
                                            1); /* the 10 bits of Timepix3's time over threshold */
            pixels->time[at] = config->begin + (int64_t)time +
                               (int64_t)((draw >> 32) % (config->spread + 1ULL));
        }
    }
    return SLC_OK;
}
