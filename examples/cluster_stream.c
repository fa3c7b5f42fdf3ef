/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of a pixel chip's endless stream: particles cross a sensor at random, each leaves a few pixels,
 * and these come a little out of order, as a chip sends them. The stream is pushed in pieces of any size;
 * clusters leave as soon as nothing can join them. Prints the first ones and checks that no pixel and no
 * charge is lost.
 */
#include <sluice/pixel_stream.h>

#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 1000, PIXELS_EACH = 4 };

typedef struct chip {
    uint64_t seed;
    int64_t now; /* ticks of 1.5625 ns */
} chip;

static uint32_t random_below(chip *c, uint32_t n)
{
    c->seed = c->seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((c->seed >> 32) * n >> 32);
}

/* Appends the pixels of one particle: a row of four, hit within 30 ticks. The next one comes up to 400 later.
 */
static void cross(chip *c, slc_pixels *pixels)
{
    const uint32_t x = random_below(c, 250), y = random_below(c, 256);
    for (uint32_t i = 0; i < PIXELS_EACH; i++) {
        const size_t row = pixels->head.size++;
        pixels->x[row] = (uint16_t)(x + i);
        pixels->y[row] = (uint16_t)y;
        pixels->charge[row] = 10 + random_below(c, 50);
        pixels->time[row] = c->now + random_below(c, 30);
    }
    c->now += random_below(c, 400);
}

typedef struct totals {
    uint64_t clusters, pixels, charge;
} totals;

/* What a program does with clusters goes here; `closed` is empty again afterwards. */
static void take(slc_pixel_clusters *closed, totals *sum)
{
    for (size_t i = 0; i < closed->head.size; i++) {
        if (sum->clusters < 5) {
            printf("cluster of %u pixels at x = %.2f, y = %.2f, ticks %lld to %lld, charge %llu\n",
                   closed->size[i], closed->weighted_x[i], closed->weighted_y[i],
                   (long long)closed->first_time[i], (long long)closed->last_time[i],
                   (unsigned long long)closed->mass[i]);
        }
        sum->clusters++;
        sum->pixels += closed->size[i];
        sum->charge += closed->mass[i];
    }
    slc_columns_reset(closed);
}

/* SLC_ERR_CAPACITY is no failure: the clusters are taken, and the push goes on with the other pixels. */
static slc_status push_all(slc_pixel_stream *stream, const slc_pixels *pixels, slc_pixel_clusters *closed,
                           totals *sum, slc_error *error)
{
    slc_status status = SLC_OK;
    size_t first = 0, taken = 0;
    do {
        status = slc_pixel_stream_push(stream, pixels, first, pixels->head.size - first, closed, &taken,
                                       error);
        first += taken;
        take(closed, sum);
    } while (status == SLC_ERR_CAPACITY);
    return status;
}

static slc_status finish(slc_pixel_stream *stream, slc_pixel_clusters *closed, totals *sum, slc_error *error)
{
    slc_status status = SLC_OK;
    do {
        status = slc_pixel_stream_finish(stream, closed, error);
        take(closed, sum);
    } while (status == SLC_ERR_CAPACITY);
    return status;
}

static slc_status run(slc_pixel_stream *stream, uint64_t n, slc_pixels *pixels, slc_pixel_clusters *closed,
                      totals *found, slc_error *error)
{
    chip source = {.seed = 1, .now = 0};
    totals sent = {0};
    slc_status status = SLC_OK;
    while (sent.clusters < n && status == SLC_OK) {
        slc_columns_reset(pixels);
        while (sent.clusters < n && pixels->head.size + PIXELS_EACH <= PIECE) {
            cross(&source, pixels);
            sent.clusters++;
        }
        for (size_t i = 0; i < pixels->head.size; i++) {
            sent.charge += pixels->charge[i];
        }
        sent.pixels += pixels->head.size;
        status = push_all(stream, pixels, closed, found, error);
    }
    if (status == SLC_OK) {
        status = finish(stream, closed, found, error);
    }
    const slc_pixel_stream_counts counts = slc_pixel_stream_count(stream);
    if (status == SLC_OK && (found->pixels != sent.pixels || found->charge != sent.charge)) {
        status = slc_fail(error, SLC_ERR_STRICT,
                          "of %llu pixels %llu came too late, %llu had a time in the future, and %llu are in "
                          "clusters",
                          (unsigned long long)sent.pixels, (unsigned long long)counts.late,
                          (unsigned long long)counts.outliers, (unsigned long long)found->pixels);
    }
    return status;
}

int main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    slc_column pixel_columns[SLC_PIXEL_COLUMNS], cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS];
    const slc_schema pixel_schema = slc_pixels_schema(SLC_PIXEL_CHARGE | SLC_PIXEL_TIME, pixel_columns);
    const slc_schema cluster_schema = slc_pixel_clusters_schema(config.features, 0, cluster_columns);
    slc_pixels pixels = {0};
    slc_pixel_clusters closed = {0};
    slc_pixel_stream *stream = NULL;
    totals found = {0};
    slc_error error = {SLC_OK, ""};
    slc_status status = slc_pixel_stream_open(&config, &stream, &error);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&pixel_schema, &pixels, PIECE, 1);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&cluster_schema, &closed, PIECE / PIXELS_EACH, 1);
    }
    if (status == SLC_OK) {
        status = run(stream, n, &pixels, &closed, &found, &error);
    }
    if (status == SLC_OK) {
        printf("%llu clusters of %llu pixels\n", (unsigned long long)found.clusters,
               (unsigned long long)found.pixels);
    } else {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    slc_pixel_stream_close(stream);
    slc_columns_clear(&pixel_schema, &pixels);
    slc_columns_clear(&cluster_schema, &closed);
    return status == SLC_OK ? 0 : 1;
}
