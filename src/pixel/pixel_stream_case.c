/* SPDX-License-Identifier: Apache-2.0
 * The standard input of the stream of pixels: hits of particles that cross a sensor of 256 x 256 at random,
 * about four a particle, sent with the disorder of a chip's readout. The stage is compiled once, but
 * for comparing hits; opening the stream, for a little memory, is part of a call.
 */
#include "pixel/pixel_kernels.h"

#include "base/splitmix.h"

#include <sluice/pixel_stream.h>

#include <string.h>

enum {
    HITS = 1 << 18,
    MOST_EACH = 7,   /* 1 to 7 hits a particle */
    STEP = 128,      /* ticks from particle to particle, at most: 40 million hits a second at 1.5625 ns */
    SPREAD = 32,     /* ticks between the hits of a particle, at most */
    DISORDER = 4096, /* ticks */
    OPEN = 1 << 14,
    PIECE = 4096, /* hits of a push */
    ROOM = 4096
};

typedef struct scratch {
    int64_t time[HITS], first_time[ROOM], last_time[ROOM];
    uint64_t mass[ROOM];
    double weighted_x[ROOM], weighted_y[ROOM];
    uint64_t clusters, size_sum, mass_sum, failures;
    uint32_t charge[HITS], size[ROOM];
    uint16_t x[HITS], y[HITS], x_min[ROOM], y_min[ROOM], x_max[ROOM], y_max[ROOM];
} scratch;

/* Hits of a particle lie in a block of 3 x 3; each particle is sent with a delay of its own. */
static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    int64_t now = 0;
    for (uint32_t n = 0; n < HITS;) {
        const uint32_t x = slc_random_below(&seed, 254), y = slc_random_below(&seed, 254);
        const int64_t sent = now - slc_random_below(&seed, DISORDER - SPREAD);
        for (uint32_t left = 1 + slc_random_below(&seed, MOST_EACH); left > 0 && n < HITS; left--, n++) {
            s->x[n] = (uint16_t)(x + slc_random_below(&seed, 3));
            s->y[n] = (uint16_t)(y + slc_random_below(&seed, 3));
            s->charge[n] = 1 + slc_random_below(&seed, 100);
            s->time[n] = sent + slc_random_below(&seed, SPREAD);
        }
        now += slc_random_below(&seed, STEP);
    }
}

/* The sums of what was given out; the columns keep the last of it for the digest. */
static void take(scratch *s, slc_pixel_clusters *closed)
{
    for (size_t i = 0; i < closed->head.size; i++) {
        s->size_sum += closed->size[i];
        s->mass_sum += closed->mass[i];
    }
    s->clusters += closed->head.size;
    closed->head.size = 0;
}

static void push_all(scratch *s, slc_pixel_stream *stream, slc_pixel_clusters *closed)
{
    const slc_pixels pixels = {
        .head = {.size = HITS, .capacity = HITS}, .x = s->x, .y = s->y, .charge = s->charge, .time = s->time};
    slc_status status = SLC_OK;
    for (size_t i = 0; i < HITS && (status == SLC_OK || status == SLC_ERR_CAPACITY);) {
        size_t taken = 0;
        status = slc_pixel_stream_push(stream, &pixels, i, HITS - i < PIECE ? HITS - i : PIECE, closed,
                                       &taken, NULL);
        i += taken;
        take(s, closed);
    }
    do {
        status = slc_pixel_stream_finish(stream, closed, NULL);
        take(s, closed);
    } while (status == SLC_ERR_CAPACITY);
    s->failures += status != SLC_OK;
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    s->clusters = s->size_sum = s->mass_sum = s->failures = 0;
    slc_pixel_clusters closed = {.head = {.capacity = ROOM},
                                 .size = s->size,
                                 .x_min = s->x_min,
                                 .y_min = s->y_min,
                                 .x_max = s->x_max,
                                 .y_max = s->y_max,
                                 .mass = s->mass,
                                 .weighted_x = s->weighted_x,
                                 .weighted_y = s->weighted_y,
                                 .first_time = s->first_time,
                                 .last_time = s->last_time};
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.disorder = DISORDER;
    config.features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_MASS | SLC_PIXEL_WEIGHTED | SLC_PIXEL_TIMES;
    config.max_open = OPEN;
    config.exec.target = target;
    slc_pixel_stream *stream = NULL;
    if (slc_pixel_stream_open(&config, &stream, NULL) != SLC_OK) {
        s->failures++;
        return;
    }
    push_all(s, stream, &closed);
    slc_pixel_stream_close(stream);
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    uint64_t d = slc_simd_digest(s->failures, &s->clusters, 3 * sizeof s->clusters);
    d = slc_simd_digest(d, s->size, sizeof s->size);
    d = slc_simd_digest(d, s->mass, sizeof s->mass);
    d = slc_simd_digest(d, s->weighted_x, sizeof s->weighted_x);
    d = slc_simd_digest(d, s->x_min, sizeof s->x_min);
    d = slc_simd_digest(d, s->y_max, sizeof s->y_max);
    d = slc_simd_digest(d, s->first_time, sizeof s->first_time);
    return slc_simd_digest(d, s->last_time, sizeof s->last_time);
}

/* Read: x, y, charge, time. Written: 52 bytes a cluster, of about four hits. */
const slc_simd_case slc_pixel_stream_case = {HITS, 16 + 13, sizeof(scratch), prepare, run, digest};
