/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster` over pixels with times and without frames: in bounded memory as they come, or, for lists,
 * sorted by time first.
 */
#include "cmd_cluster.h"

#include <stdlib.h>
#include <string.h>

static bool flush(slc_cluster_reading *r)
{
    slc_pixel_clusters *closed = &r->job->rows.clusters;
    for (size_t i = 0; i < closed->head.size && closed->largest != NULL && r->origin != NULL; i++) {
        closed->largest[i] = r->origin[closed->largest[i]]; /* the place in the file, not in time */
    }
    const bool good = slc_cluster_write_rows(r);
    slc_columns_reset(&r->job->rows.clusters);
    return good;
}

static bool push_pixels(slc_cluster_reading *r, slc_pixel_stream *stream)
{
    slc_pixel_clusters *closed = &r->job->rows.clusters;
    for (size_t first = 0; first < r->pixels.head.size;) {
        size_t taken = 0;
        const double began = slc_clock_seconds();
        const slc_status status = slc_pixel_stream_push(
            stream, &r->pixels, first, r->pixels.head.size - first, closed, &taken, &r->job->error);
        r->done->seconds += slc_clock_seconds() - began;
        first += taken;
        if (status != SLC_OK && (status != SLC_ERR_CAPACITY || (taken == 0 && closed->head.size == 0))) {
            return slc_cluster_complain(r);
        }
        if (status != SLC_OK && !flush(r)) {
            return false;
        }
    }
    return true;
}

static bool finish_stream(slc_cluster_reading *r, slc_pixel_stream *stream)
{
    slc_pixel_clusters *closed = &r->job->rows.clusters;
    slc_status status = SLC_ERR_CAPACITY;
    while (status == SLC_ERR_CAPACITY) {
        const size_t before = closed->head.size;
        status = slc_pixel_stream_finish(stream, closed, &r->job->error);
        if (status != SLC_OK && (status != SLC_ERR_CAPACITY || (before == 0 && closed->head.size == 0))) {
            return slc_cluster_complain(r);
        }
        if (!flush(r)) {
            return false;
        }
    }
    return true;
}

/* All clusters of the input are one event of the file. */
static bool end_event(slc_cluster_reading *r)
{
    slc_columns_reset(&r->job->rows.clusters);
    slc_columns_end_event(&r->job->rows.clusters);
    return slc_cluster_write_rows(r);
}

/* After a signal standard input is at its end (cli_talk.c), and what had come until then is read; a file is
 * left where it is. */
static bool read_pieces(slc_cluster_reading *r, slc_pixel_stream *stream)
{
    const bool ends_itself = strcmp(r->job->inputs[r->input - 1], "-") == 0;
    for (slc_status status = SLC_OK; status != SLC_END && (ends_itself || !slc_cli_interrupted());) {
        slc_columns_reset(&r->pixels);
        status = slc_io_pixels_read(r->file, &r->pixels, SLC_CLUSTER_PIECE, &r->job->error);
        if (status != SLC_OK && status != SLC_END) {
            return slc_cluster_complain_file(r);
        }
        slc_cluster_progress(r, r->pixels.head.size);
        /* A live input may bring less than fills the rows for hours: what it gave does not wait in memory. */
        if (!push_pixels(r, stream) || (r->job->reads_once && !flush(r))) {
            return false;
        }
    }
    return finish_stream(r, stream);
}

/* ---- lists that are sorted first ------------------------------------------------------------------ */

typedef struct arrival {
    int64_t time;
    uint64_t row;
} arrival;

static int compare_arrivals(const void *a, const void *b)
{
    const arrival *p = a, *q = b;
    const int by_time = (p->time > q->time) - (p->time < q->time);
    return by_time != 0 ? by_time : (p->row > q->row) - (p->row < q->row);
}

/* Puts the pixels' columns in the order of `order`, one after the other through `room`. */
static void put_in_order(slc_pixels *pixels, const arrival *order, uint32_t *room)
{
    const size_t n = pixels->head.size;
    uint16_t *const coordinate[] = {pixels->x, pixels->y};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) {
            room[i] = coordinate[k][order[i].row];
        }
        for (size_t i = 0; i < n; i++) {
            coordinate[k][i] = (uint16_t)room[i];
        }
    }
    for (size_t i = 0; i < n && pixels->charge != NULL; i++) {
        room[i] = pixels->charge[order[i].row];
    }
    if (pixels->charge != NULL && n > 0) {
        memcpy(pixels->charge, room, n * sizeof *room);
    }
    for (size_t i = 0; i < n; i++) {
        pixels->time[i] = order[i].time;
    }
}

static bool sort_by_time(slc_cluster_reading *r)
{
    const size_t n = r->pixels.head.size;
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++) {
        sorted = r->pixels.time[i - 1] <= r->pixels.time[i];
    }
    if (sorted) {
        return true;
    }
    arrival *order = malloc(n * sizeof *order);
    uint32_t *room = malloc(n * sizeof *room);
    const bool good = order != NULL && room != NULL;
    if (good) {
        for (size_t i = 0; i < n; i++) {
            order[i] = (arrival){r->pixels.time[i], i};
        }
        qsort(order, n, sizeof *order, compare_arrivals);
        put_in_order(&r->pixels, order, room);
        for (size_t i = 0; i < n; i++) {
            room[i] = (uint32_t)order[i].row;
        }
        r->origin = room;
        room = NULL;
    }
    free(order);
    free(room);
    return good || slc_cluster_no_memory(r, "the order of the pixels");
}

/* The list is there: no more pixels than it has can be waiting, nor lie beyond its box, and memory follows.
 */
static void fit(const slc_cluster_reading *r, slc_pixel_stream_config *config, bool sized)
{
    const slc_pixels *list = &r->pixels;
    const size_t enough = list->head.size + 1024;
    config->max_open = config->max_open < enough ? config->max_open : (uint32_t)enough;
    uint32_t width = 1, height = 1;
    for (size_t i = 0; i < list->head.size && !sized; i++) {
        width = list->x[i] >= width ? list->x[i] + 1U : width;
        height = list->y[i] >= height ? list->y[i] + 1U : height;
    }
    if (!sized) {
        config->width = (uint16_t)width; /* 65536 is 0 */
        config->height = (uint16_t)height;
    }
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static slc_pixel_stream_config configure(const slc_cluster_reading *r)
{
    const slc_cluster_job *job = r->job;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    const bool own = job->sized || r->done->about.width == 0;
    config.width = own ? job->config.width : (uint16_t)r->done->about.width;
    config.height = own ? job->config.height : (uint16_t)r->done->about.height;
    config.radius = job->config.connectivity == 4   ? 0
                    : job->config.connectivity == 8 ? 1
                                                    : job->config.radius;
    config.time_window = r->done->window;
    config.disorder = r->done->disorder >= 0 ? r->done->disorder : 0;
    config.features = job->config.features;
    config.max_open = (uint32_t)job->options->max_open;
    return config;
}

/* Chips send a pixel up to about a millisecond too late, as they are read out; a list is a measurement that
 * has ended and may be in any order, as one that was written pixel by pixel is. */
bool slc_cluster_stream(slc_cluster_reading *r)
{
    slc_cluster_job *job = r->job;
    const bool sorted = r->done->disorder < 0;
    slc_pixel_stream_config config = configure(r);
    if (!slc_cluster_reserve_pixels(r, SLC_CLUSTER_PIECE, 1) ||
        !slc_cluster_reserve_rows(r, 2 * (size_t)SLC_CLUSTER_PIECE, 1) ||
        (sorted && !(slc_cluster_read_all(r) && sort_by_time(r)))) {
        return false;
    }
    if (sorted) {
        fit(r, &config, job->sized || r->done->about.width > 0);
    }
    slc_pixel_stream *stream = NULL;
    if (slc_pixel_stream_open(&config, &stream, &job->error) != SLC_OK) {
        return slc_cluster_complain(r);
    }
    slc_columns_reset(&job->rows.clusters);
    const bool good = (sorted ? push_pixels(r, stream) && finish_stream(r, stream)
                              : read_pieces(r, stream)) &&
                      end_event(r);
    const slc_pixel_stream_counts counts = slc_pixel_stream_count(stream);
    r->done->stream = counts;
    r->done->outside = counts.outside;
    r->done->clustered = counts.pixels - counts.outside - counts.late - counts.outliers;
    r->done->frames = 1;
    slc_pixel_stream_close(stream);
    return good;
}
