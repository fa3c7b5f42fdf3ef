/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster` over frames, a batch of them at a time, and over a list without frames or times, as one
 * image.
 */
#include "cmd_cluster.h"

#include <inttypes.h>

/* The clusterer is opened for the size of the sensor. Where nobody tells it, that is the box from the origin
 * around all pixels so far, since the fast algorithm needs a size, and opened again when the box grows. */
typedef struct images {
    slc_pixel_cluster_config config;
    slc_pixel_clusterer *clusterer;
    bool fixed;             /* the size is known */
    uint32_t width, height; /* where it is not */
} images;

static void move(slc_pixels *list, size_t to, size_t from)
{
    list->x[to] = list->x[from];
    list->y[to] = list->y[from];
    if (list->charge != NULL) {
        list->charge[to] = list->charge[from];
    }
    if (list->time != NULL) {
        list->time[to] = list->time[from];
    }
    if (list->z != NULL) {
        list->z[to] = list->z[from];
    }
}

/* Takes out the pixels outside of the size that was asked for; files' own sizes are kept by their readers. */
static bool leave_out(slc_cluster_reading *r)
{
    const slc_cluster_job *job = r->job;
    slc_pixels *list = &r->pixels;
    const uint32_t width = job->config.width - 1U, height = job->config.height - 1U; /* 0 is 65536 */
    if (!slc_cluster_reserve_numbers(r, &r->origin, &r->origin_room, list->head.size)) {
        return false;
    }
    size_t kept = 0, i = 0;
    for (uint32_t e = 0; e < list->head.n_events; e++) {
        const size_t end = list->head.event_offset[e + 1];
        for (; i < end; i++) {
            move(list, kept, i);
            r->origin[kept] = (uint32_t)i;
            kept += list->x[i] <= width && list->y[i] <= height;
        }
        list->head.event_offset[e + 1] = (uint32_t)kept;
    }
    r->done->outside += list->head.size - kept;
    list->head.size = kept;
    return true;
}

static bool open_clusterer(slc_cluster_reading *r, images *s)
{
    const uint32_t width = s->width, height = s->height;
    if (!s->fixed) {
        const slc_pixels *list = &r->pixels;
        for (size_t i = 0; i < list->head.size; i++) {
            s->width = list->x[i] >= s->width ? list->x[i] + 1U : s->width;
            s->height = list->y[i] >= s->height ? list->y[i] + 1U : s->height;
        }
        s->config.width = (uint16_t)s->width; /* 65536 is 0 */
        s->config.height = (uint16_t)s->height;
    }
    if (s->clusterer != NULL && s->width == width && s->height == height) {
        return true;
    }
    slc_pixel_cluster_close(s->clusterer);
    return slc_pixel_cluster_open(&s->config, &s->clusterer, &r->job->error) == SLC_OK ||
           slc_cluster_complain(r);
}

/* The library counts in the image; the file's own order is that of all pixels that were read. */
static void place_largest(slc_cluster_reading *r)
{
    slc_pixel_clusters *clusters = &r->job->rows.clusters;
    for (uint32_t e = 0; clusters->largest != NULL && e < clusters->head.n_events; e++) {
        for (size_t i = clusters->head.event_offset[e]; i < clusters->head.event_offset[e + 1]; i++) {
            const size_t at = r->pixels.head.event_offset[e] + (size_t)clusters->largest[i];
            clusters->largest[i] = (uint32_t)(r->first_pixel + (r->origin != NULL ? r->origin[at] : at));
        }
    }
}

static void write_labels(const slc_cluster_reading *r)
{
    const slc_pixels *list = &r->pixels;
    const slc_columns *rows = &r->job->rows.clusters.head;
    FILE *out = slc_io_text_stream(r->job->labels);
    for (uint32_t e = 0; e < list->head.n_events; e++) {
        const uint64_t first = r->job->written + rows->event_offset[e];
        for (size_t i = list->head.event_offset[e]; i < list->head.event_offset[e + 1]; i++) {
            (void)fprintf(out, "%" PRIu32 ",%" PRId64 ",%u,%u,", r->input,
                          r->frames != NULL ? r->frames[e] : 0, list->x[i], list->y[i]);
            if (list->z != NULL) {
                (void)fprintf(out, "%u,", list->z[i]);
            }
            if (list->charge != NULL) {
                (void)fprintf(out, "%" PRIu32, list->charge[i]);
            }
            (void)fputc(',', out);
            if (list->time != NULL && r->job->unit_seconds > 0) {
                (void)fprintf(out, "%.17g", (double)list->time[i] * slc_cluster_time_factor(r));
            } else if (list->time != NULL) {
                (void)fprintf(out, "%" PRId64, list->time[i]);
            }
            (void)fprintf(out, ",%" PRIu64 "\n", first + r->label[i]);
        }
    }
}

static bool run_clusterer(slc_cluster_reading *r, images *s)
{
    slc_cluster_job *job = r->job;
    const slc_columns *head = &r->pixels.head;
    size_t largest = 0;
    for (uint32_t e = 0; e < head->n_events; e++) {
        const size_t n = head->event_offset[e + 1] - head->event_offset[e];
        largest = n > largest ? n : largest;
    }
    if (slc_pixel_cluster_reserve(s->clusterer, largest, head->n_events, &job->error) != SLC_OK) {
        return slc_cluster_complain(r);
    }
    if (!slc_cluster_reserve_rows(r, head->size, head->n_events) ||
        (job->labels != NULL && !slc_cluster_reserve_numbers(r, &r->label, &r->label_room, head->size))) {
        return false;
    }
    uint32_t *label = job->labels != NULL ? r->label : NULL;
    const double began = slc_clock_seconds();
    if (slc_pixel_cluster_run(s->clusterer, &r->pixels, label, &job->rows.clusters, &job->error) != SLC_OK) {
        return slc_cluster_complain(r);
    }
    r->done->seconds += slc_clock_seconds() - began;
    return true;
}

/* Clusters what `pixels` holds: all of its events. */
static bool cluster_images(slc_cluster_reading *r, images *s)
{
    slc_cluster_job *job = r->job;
    const size_t read = r->pixels.head.size;
    if ((job->sized && !leave_out(r)) || !open_clusterer(r, s) || !run_clusterer(r, s)) {
        return false;
    }
    place_largest(r);
    if (job->labels != NULL) {
        write_labels(r);
    }
    r->done->frames += r->pixels.head.n_events;
    r->done->clustered += r->pixels.head.size;
    r->first_pixel += read;
    return slc_cluster_write_rows(r);
}

/* Whole frames as far as there is room; more room where one does not fit. */
static bool read_frames(slc_cluster_reading *r, images *s)
{
    size_t room = SLC_CLUSTER_PIECE;
    for (slc_status status = SLC_OK; status != SLC_END && !slc_cli_interrupted();) {
        if (!slc_cluster_reserve_pixels(r, room, SLC_CLUSTER_PIECE)) {
            return false;
        }
        slc_columns_reset(&r->pixels);
        status = slc_io_pixels_read(r->file, &r->pixels, room, &r->job->error);
        if (status == SLC_ERR_CAPACITY && r->pixels.head.n_events == 0) {
            room *= 2;
            status = SLC_OK;
            continue;
        }
        if (status != SLC_OK && status != SLC_END && status != SLC_ERR_CAPACITY) {
            return slc_cluster_complain_file(r);
        }
        slc_cluster_progress(r, r->pixels.head.size);
        uint32_t n_frames = 0;
        r->frames = slc_io_pixels_frames(r->file, &n_frames);
        if (r->pixels.head.n_events > 0 && !cluster_images(r, s)) {
            return false;
        }
    }
    return true;
}

/* All of a list that is neither frames nor a stream. */
static bool read_one_image(slc_cluster_reading *r, images *s)
{
    return slc_cluster_read_all(r) && cluster_images(r, s);
}

bool slc_cluster_images(slc_cluster_reading *r)
{
    slc_cluster_job *job = r->job;
    images s = {.config = job->config, .width = 1, .height = 1};
    const slc_io_pixels_info *about = &r->done->about;
    s.config.with = about->with;
    s.config.time_window = r->done->window;
    if ((job->with & SLC_PIXEL_Z) != 0 && s.config.connectivity != 0) {
        s.config.connectivity = s.config.connectivity == 4 ? 6 : 26; /* by faces, or by corners too */
    }
    s.fixed = job->sized || about->width > 0;
    if (!job->sized && s.fixed) {
        s.config.width = (uint16_t)about->width;
        s.config.height = (uint16_t)about->height;
    }
    const bool good = about->frames ? read_frames(r, &s) : read_one_image(r, &s);
    slc_pixel_cluster_close(s.clusterer);
    return good;
}
