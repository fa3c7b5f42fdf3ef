/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams in the chain of sparse pixels: clusters as pixels come, or of a list that was sorted by time.
 */
#include "base/columns.h"
#include "pixel/pixel_list.h"
#include "run/run_flow_pixel_part.h"

#include <stdlib.h>

slc_status slc_pixel_reserve_clusters(slc_pixel_piece *p, size_t n, uint32_t frames, slc_error *error)
{
    return slc_columns_reserve(&p->clusters, &p->result.clusters, n, frames) == SLC_OK
               ? SLC_OK
               : slc_pixel_no_memory(error, "the clusters");
}

/* The list is there: no more pixels than it has can be waiting, nor lie beyond its box, and memory follows.
 */
static void fit(slc_pixel_input *in, slc_pixel_stream_config *config)
{
    const slc_pixels *list = &in->list;
    const size_t enough = list->head.size + 1024;
    config->max_open = config->max_open < enough ? config->max_open : (uint32_t)enough;
    if (!in->fixed) {
        slc_pixels_box(list, &in->width, &in->height);
        config->width = (uint16_t)in->width; /* 65536 is 0 */
        config->height = (uint16_t)in->height;
    }
}

static slc_status open_stream(slc_pixel_input *in, slc_error *error)
{
    const slc_pixel_cluster_config *given = in->setup->config;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.width = in->config.width;
    config.height = in->config.height;
    config.radius = given->connectivity == 4 ? 0 : given->connectivity == 8 ? 1 : given->radius;
    config.time_window = in->choice.time_window;
    config.disorder = in->sorted ? 0 : in->choice.disorder;
    config.features = in->config.features;
    config.exec.target = given->exec.target;
    config.exec.threads = in->config.exec.threads;
    config.members = in->setup->labels;
    config.max_open = in->setup->max_open > 0 ? in->setup->max_open : config.max_open;
    if (in->sorted) {
        fit(in, &config);
    }
    in->summed = aligned_alloc(_Alignof(slc_checksum_pieces), sizeof *in->summed);
    if (in->summed == NULL) {
        return slc_pixel_no_memory(error, "a checksum");
    }
    slc_checksum_pieces_begin(in->summed);
    const slc_status status = slc_pixel_stream_open(&config, &in->stream, error);
    if (status == SLC_OK) {
        slc_pixel_stream_members(in->stream, &in->members);
    }
    return status;
}

static slc_status reserve_closed(slc_pixel_input *in, const slc_pixel_piece *p, slc_error *error)
{
    const size_t rows = 2 * (size_t)SLC_PIXEL_PIECE;
    const bool good = slc_columns_reserve(&p->clusters, &in->closed, rows, 1) == SLC_OK &&
                      (!in->setup->labels || slc_columns_reserve(&slc_pixel_members_schema, &in->members,
                                                                 rows, (uint32_t)rows) == SLC_OK);
    return good ? SLC_OK : slc_pixel_no_memory(error, "the clusters");
}

static slc_status append_members(const slc_pixel_members *from, slc_pixel_members *to, slc_error *error)
{
    const slc_columns *head = &from->head;
    if (slc_columns_reserve(&slc_pixel_members_schema, to, to->head.size + head->size,
                            to->head.n_events + head->n_events) != SLC_OK) {
        return slc_pixel_no_memory(error, "the pixels of clusters");
    }
    return slc_columns_append_events(&slc_pixel_members_schema, from, 0, head->n_events, to);
}

/* What has closed goes into the item: as it is, where that has none. */
static slc_status hand_over(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_pixel_clusters closed = in->closed, to = p->result.clusters;
    const slc_pixel_members members = in->members;
    if (to.head.size == 0) {
        p->result.clusters = closed;
        in->closed = to;
        in->members = p->result.members;
        p->result.members = members;
        slc_columns_reset(&in->closed);
        slc_columns_reset(&in->members);
        return reserve_closed(in, p, error);
    }
    slc_status status = slc_pixel_reserve_clusters(p, to.head.size + closed.head.size, 1, error);
    if (status == SLC_OK && in->setup->labels) {
        status = append_members(&members, &p->result.members, error);
    }
    if (status == SLC_OK) {
        (void)slc_columns_append(&p->clusters, &closed, 0, closed.head.size, &p->result.clusters);
        slc_columns_reset(&in->closed);
        slc_columns_reset(&in->members);
    }
    return status;
}

/* After a push or finish: room for what did not fit. */
static slc_status make_room(slc_pixel_input *in, slc_pixel_piece *p, slc_status status, slc_error *error)
{
    const slc_columns *head = &in->closed.head, *members = &in->members.head;
    if (status != SLC_ERR_CAPACITY || (head->size < head->capacity && !in->setup->labels)) {
        return status;
    }
    if (head->size > 0) {
        return hand_over(in, p, error);
    }
    /* One cluster has more pixels than fit. */
    return slc_columns_reserve(&slc_pixel_members_schema, &in->members, 2 * members->capacity,
                               members->event_capacity) == SLC_OK
               ? SLC_OK
               : slc_pixel_no_memory(error, "the pixels of a cluster");
}

static slc_status push(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_pixels *pixels = p->result.taken;
    slc_status status = SLC_OK;
    for (size_t done = 0; done < p->n && status == SLC_OK;) {
        size_t taken = 0;
        const double began = slc_clock_seconds();
        status = slc_pixel_stream_push(in->stream, pixels, p->first + done, p->n - done, &in->closed, &taken,
                                       error);
        in->totals.seconds += slc_clock_seconds() - began;
        done += taken;
        status = make_room(in, p, status, error);
    }
    return status;
}

static slc_status finish(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    slc_status status, made;
    do {
        status = slc_pixel_stream_finish(in->stream, &in->closed, error);
        made = make_room(in, p, status, error);
    } while (status == SLC_ERR_CAPACITY && made == SLC_OK);
    made = made == SLC_OK ? hand_over(in, p, error) : made;
    in->totals.frames = made == SLC_OK ? 1 : 0;
    return made;
}

slc_status slc_pixel_run_stream(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    slc_pixel_clusters *clusters = &p->result.clusters;
    slc_status status = SLC_OK;
    slc_columns_reset(clusters);
    slc_columns_reset(&p->result.members);
    if (in->stream == NULL) {
        status = reserve_closed(in, p, error);
        status = status == SLC_OK ? open_stream(in, error) : status;
    }
    status = status == SLC_OK ? push(in, p, error) : status;
    if (status ==
        SLC_OK) { /* at once: rows that wait for others leave the caches, and a live input's wait for hours */
        status = p->result.last ? finish(in, p, error) : hand_over(in, p, error);
    }
    for (size_t i = 0; i < clusters->head.size && clusters->largest != NULL && in->origin != NULL; i++) {
        clusters->largest[i] = in->origin[clusters->largest[i]]; /* the place in the file, not in time */
    }
    if (in->chips != NULL) {
        slc_pixel_chips_run(in, p);
    }
    for (size_t i = 0; i < p->result.members.head.size && in->origin != NULL; i++) {
        p->result.members.pixel[i] = in->origin[p->result.members.pixel[i]];
    }
    if (status == SLC_OK && in->setup->chip_column) {
        status = slc_pixel_chips_tell(in, p, error);
    }
    if (status == SLC_OK && in->filter.clusters.n + in->filter.chips.n > 0) {
        slc_pixel_filter_run(in, p);
    }
    status = status == SLC_OK && in->setup->trigger != SLC_IO_PIXELS_NO_EDGE
                 ? slc_pixel_shots_run(in, p, error)
                 : status;
    if (status == SLC_OK && p->result.last) {
        slc_columns_end_event(clusters); /* all of the input */
    }
    if (in->stream != NULL) {
        const slc_pixel_stream_counts c = slc_pixel_stream_count(in->stream);
        in->totals.stream = c;
        in->totals.outside = c.outside;
        in->totals.clustered = c.pixels - c.outside - c.late - c.outliers - in->cut;
    }
    return status;
}
