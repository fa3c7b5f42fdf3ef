/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of files of sparse pixels. What an input is, it tells itself: frames, which are clustered some
 * at a time; a stream of pixels with times, clustered as they come or sorted by time first; or a list, which
 * is one image. An item is what was read at once, and the clusterer or stream is the input's.
 */
#include "base/columns.h"
#include "io/pixel/io_pixel_layout.h"
#include "io/pixel/io_pixel_tables.h"
#include "pixel/pixel_list.h"
#include "run/run_flow_pixel_part.h"

#include <stdlib.h>
#include <string.h>

static const slc_column number_columns[] = {
    {"origin", "index", offsetof(slc_pixel_numbers, origin), SLC_TYPE_U32},
    {"label", "index", offsetof(slc_pixel_numbers, label), SLC_TYPE_U32},
    {"kept", "index", offsetof(slc_pixel_numbers, kept), SLC_TYPE_U32},
    {"frame", "index", offsetof(slc_pixel_numbers, frame), SLC_TYPE_I64},
};
static const slc_schema number_schema = {"numbers", number_columns, 4};
static const slc_column energy_columns[] = {
    {"energy_kev", "keV", offsetof(slc_pixel_energies, energy_kev), SLC_TYPE_F64}};
static const slc_schema energy_schema = {"energies", energy_columns, 1};

/* ---- items ------------------------------------------------------------------------------------- */

static void clear_piece(slc_pixel_piece *p)
{
    slc_columns_clear(&p->schema, &p->result.pixels);
    slc_columns_clear(&p->clusters, &p->result.clusters);
    slc_columns_clear(&slc_pixel_members_schema, &p->result.members);
}

static void close_piece(slc_flow_item *item)
{
    slc_pixel_piece *p = item->result;
    clear_piece(p);
    slc_columns_clear(&number_schema, &p->numbers);
    slc_columns_clear(&energy_schema, &p->energies);
    slc_pixel_shots_clear(p);
    slc_pixel_chips_clear(p);
}

/* Memory of another input's columns is of no use. */
static void take_columns(slc_pixel_piece *p, slc_pixel_input *in)
{
    const bool alike = p->with == in->about.with && p->features == in->config.features;
    p->of = in;
    if (!alike || p->schema.columns == NULL) {
        clear_piece(p);
        p->with = in->about.with;
        p->features = in->config.features;
        p->schema = slc_pixels_schema(p->with, p->columns);
        p->clusters = slc_pixel_clusters_schema(p->features, p->with, p->cluster_columns);
    }
}

static slc_status reserve_pixels(const slc_pixel_piece *p, slc_pixels *pixels, size_t n, uint32_t frames,
                                 slc_error *error)
{
    return slc_columns_reserve(&p->schema, pixels, n, frames) == SLC_OK
               ? SLC_OK
               : slc_pixel_no_memory(error, "the pixels");
}

/* ---- reading ----------------------------------------------------------------------------------- */

static void close_input(void *at)
{
    slc_pixel_input *in = at;
    slc_pixel_cluster_close(in->clusterer);
    slc_pixel_stream_close(in->stream);
    free(in->summed);
    slc_columns_clear(&in->schema, &in->list);
    slc_columns_clear(&in->clusters, &in->closed);
    slc_columns_clear(&slc_pixel_members_schema, &in->members);
    free(in->origin);
    free(in->chips);
    free(in->shots.list);
    slc_io_pixels_close(in->file);
    free(in);
}

static void configure(slc_pixel_input *in, const slc_flow_config *config)
{
    const slc_pixel_cluster_config *given = in->setup->config;
    in->config = *given; /* of the library's own version: slc_pixel_cluster_open looks at the rest */
    in->config.with = in->about.with;
    in->config.time_window = in->choice.time_window;
    in->config.exec.threads = config->exec.threads;
    if ((in->about.with & SLC_PIXEL_Z) != 0 && given->connectivity != 0) {
        in->config.connectivity = given->connectivity == 4 ? 6 : 26; /* by faces, or by corners too */
    }
    in->fixed = in->setup->sized || in->about.width > 0;
    if (!in->setup->sized && in->fixed) {
        in->config.width = (uint16_t)in->about.width; /* 65536 is 0 */
        in->config.height = (uint16_t)in->about.height;
    }
    if (in->chips != NULL) {
        in->fixed = true;
        in->config.width = (uint16_t)in->chips->spread.width;
        in->config.height = (uint16_t)in->chips->spread.height;
    }
    in->schema = slc_pixels_schema(in->about.with, in->columns);
    in->shown = slc_pixel_clusters_schema(in->config.features, in->about.with, in->shown_columns);
    if (in->setup->filter != NULL || in->setup->accepting) { /* how many pixels are left out is counted */
        in->config.features |= SLC_PIXEL_SIZE;
    }
    in->clusters = slc_pixel_clusters_schema(in->config.features, in->about.with, in->cluster_columns);
    in->sorted = in->is_stream && in->choice.disorder < 0;
    in->room = SLC_PIXEL_PIECE;
    in->skip = config->from;
    in->left = config->until == UINT64_MAX ? UINT64_MAX : config->until - config->from;
    in->width = in->height = 1;
}

static slc_status check_trigger(const slc_pixel_input *in, const char *path, slc_error *error)
{
    const slc_flow_pixel_setup *setup = in->setup;
    const char *wrong = in->about.format == NULL || strcmp(in->about.format, "tpx3") != 0
                            ? "of the formats, .tpx3 alone has triggers"
                        : (setup->config->features & SLC_PIXEL_TIMES) == 0
                            ? "the time since a trigger needs the feature times"
                            : NULL;
    return wrong == NULL ? SLC_OK : slc_fail(error, SLC_ERR_USAGE, "%s: %s", path, wrong);
}

static slc_status open_file(slc_pixel_input *in, const char *path, slc_error *error)
{
    const slc_flow_pixel_setup *pixel = in->setup;
    const slc_pixel_cluster_config *size = pixel->config;
    slc_io_pixels_options known = {.tick_seconds = pixel->tick_seconds,
                                   .layout = pixel->layout,
                                   .chips = pixel->chips,
                                   .tables = pixel->tables,
                                   .live = pixel->live};
    slc_status status = SLC_OK;
    if (pixel->sized) {
        known.width = slc_pixel_side(size->width);
        known.height = slc_pixel_side(size->height);
    }
    if (pixel->within_chip && pixel->sized) {
        (void)slc_fail(error, SLC_ERR_USAGE, "clusters within chips: the size of the sensor is the chips'");
        return SLC_ERR_USAGE;
    }
    if (pixel->within_chip) {
        status = slc_pixel_chips_open(in, error);
        known.layout = status == SLC_OK ? &in->chips->spread : NULL;
    }
    status = status == SLC_OK ? slc_io_pixels_open(path, &known, &in->file, error) : status;
    if (status == SLC_OK) {
        in->file->cut = pixel->cut;
        in->file->context = pixel->context;
        in->about = slc_io_pixels_about(in->file);
        if (pixel->within_chip) {
            in->about.width = pixel->layout != NULL ? pixel->layout->width : 0;
            in->about.height = pixel->layout != NULL ? pixel->layout->height : SLC_PIXEL_CHIP_SIDE;
        }
    }
    return status;
}

static slc_status choose(slc_pixel_input *in, const char *path, slc_error *error)
{
    const slc_flow_pixel_setup *pixel = in->setup;
    slc_pixel_stream_config usual;
    slc_pixel_stream_config_default(&usual);
    in->is_stream = !in->about.frames && (in->about.with & SLC_PIXEL_TIME) != 0;
    in->choice = (slc_flow_pixel_choice){.time_window = in->is_stream ? usual.time_window : -1,
                                         .disorder = -1};
    slc_status status = pixel->choose != NULL ? pixel->choose(pixel->context, &in->about, &in->choice, error)
                                              : SLC_OK;
    if (status == SLC_OK && pixel->trigger != SLC_IO_PIXELS_NO_EDGE) {
        status = check_trigger(in, path, error);
        in->file->wanted = pixel->trigger;
    }
    return status;
}

static slc_status open_input(const void *setup, const slc_flow_config *config, const char *path,
                             void **opened, slc_error *error)
{
    const slc_flow_pixel_setup *pixel = setup;
    slc_pixel_input *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return slc_pixel_no_memory(error, "an input");
    }
    in->setup = pixel;
    slc_status status = open_file(in, path, error);
    status = status == SLC_OK ? choose(in, path, error) : status;
    if (status == SLC_OK) {
        configure(in, config);
    }
    if (status == SLC_OK && pixel->filter != NULL) {
        status = slc_pixel_filter_parse(pixel, &in->shown, in->about.energies, &in->filter, error);
    }
    if (status != SLC_OK) {
        close_input(in);
        return status;
    }
    *opened = in;
    return SLC_OK;
}

static bool stopped(const slc_pixel_input *in)
{
    return in->setup->stop != NULL && in->setup->stop(in->setup->context);
}

/* Of an input that ended as it was to stop, the last frame may not be all there. */
static slc_status leave_out_last(slc_pixel_input *in, slc_pixels *pixels)
{
    slc_columns *head = &pixels->head;
    in->all_read = false; /* and nothing more is read */
    if (head->n_events > 0) {
        head->n_events--;
        in->left_out = head->size - head->event_offset[head->n_events];
        head->size = head->event_offset[head->n_events];
    }
    return head->n_events > 0 ? SLC_OK : SLC_END;
}

/* Of the frames that were read what belongs to the part; `before` of them were left out in front. */
static void cut_frames(slc_pixel_input *in, slc_pixel_piece *p, uint32_t *before)
{
    slc_pixels *pixels = &p->result.pixels;
    const uint32_t n = pixels->head.n_events, skip = in->skip < n ? (uint32_t)in->skip : n;
    const uint32_t taken = in->left < n - skip ? (uint32_t)in->left : n - skip;
    const uint32_t pixels_before = pixels->head.event_offset[skip];
    *before = skip;
    in->skip -= skip;
    in->left -= in->left == UINT64_MAX ? 0 : taken;
    in->n_read += pixels_before;
    in->pixels_before += pixels_before;
    in->all_read = in->all_read || in->left == 0;
    p->first_pixel = in->n_read;
    if (skip > 0 || taken < n) {
        slc_pixels_keep_events(&p->schema, pixels, skip, taken);
    }
}

/* Whole frames as far as there is room; more room where one does not fit. */
static slc_status read_frames(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    slc_pixels *pixels = &p->result.pixels;
    while (!stopped(in)) {
        slc_status status = reserve_pixels(p, pixels, in->room, SLC_PIXEL_PIECE, error);
        slc_columns_reset(pixels);
        status = status == SLC_OK ? slc_io_pixels_read(in->file, pixels, in->room, error) : status;
        if (status == SLC_ERR_CAPACITY && pixels->head.n_events == 0) {
            in->room *= 2;
            continue;
        }
        in->all_read = status == SLC_END;
        const bool stops = status >= SLC_OK && stopped(in);
        status = stops                                        ? leave_out_last(in, pixels)
                 : in->all_read || status == SLC_ERR_CAPACITY ? SLC_OK
                                                              : status;
        if (status == SLC_OK) {
            cut_frames(in, p, &p->frames_before);
        }
        if (status != SLC_OK || in->all_read || pixels->head.n_events > 0) {
            return status;
        }
    }
    return SLC_END;
}

/* All pixels of the input, as one event. */
static slc_status read_all(slc_pixel_input *in, const slc_pixel_piece *p, slc_pixels *pixels,
                           slc_error *error)
{
    slc_status status = SLC_OK;
    slc_columns_reset(pixels);
    while (status == SLC_OK && !stopped(in)) {
        const size_t size = pixels->head.size;
        if (size + SLC_PIXEL_PIECE > pixels->head.capacity) {
            status = reserve_pixels(p, pixels, 2 * size + SLC_PIXEL_PIECE, 1, error);
        }
        status = status == SLC_OK ? slc_io_pixels_read(in->file, pixels, SLC_PIXEL_PIECE, error) : status;
    }
    if (status != SLC_END) {
        return status == SLC_OK ? SLC_END : status; /* stopped */
    }
    slc_columns_end_event(pixels);
    in->all_read = true;
    return SLC_OK;
}

/* ---- an item of any kind ---------------------------------------------------------------------------- */

/* A stream that is stopped has an end all the same: its clusters until then are made. */
static slc_status read_stream(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    slc_status status = SLC_OK;
    if (in->sorted && !in->all_read) {
        status = read_all(in, p, &in->list, error);
        if (status == SLC_OK && slc_pixels_sort_by_time(&in->list, &in->origin) != SLC_OK) {
            return slc_pixel_no_memory(error, "the order of the pixels");
        }
    } else if (!in->sorted && stopped(in)) {
        in->all_read = true;
    } else if (!in->sorted) {
        status = reserve_pixels(p, &p->result.pixels, SLC_PIXEL_PIECE, 1, error);
        status = status == SLC_OK ? slc_io_pixels_read(in->file, &p->result.pixels, SLC_PIXEL_PIECE, error)
                                  : status;
        in->all_read = status == SLC_END;
        status = in->all_read ? SLC_OK : status;
    }
    slc_pixel_shots_read(in, p);
    const size_t left = in->list.head.size - in->handed;
    p->first = in->handed; /* 0 if they are not sorted */
    p->n = !in->sorted ? p->result.pixels.head.size : left < SLC_PIXEL_PIECE ? left : SLC_PIXEL_PIECE;
    p->result.taken = in->sorted ? &in->list : &p->result.pixels;
    p->result.taken_first = p->first;
    p->result.n_taken = p->n;
    in->handed += in->sorted ? p->n : 0;
    p->result.last = in->all_read && (!in->sorted || in->handed == in->list.head.size);
    return status;
}

/* Room for what the worker writes of each pixel, and the frames' numbers, which the file keeps for a moment.
 */
static slc_status take_numbers(const slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_columns *head = &p->result.pixels.head;
    const size_t n = head->size > head->n_events ? head->size : head->n_events;
    if (slc_columns_reserve(&number_schema, &p->numbers, n, 1) != SLC_OK) {
        return slc_pixel_no_memory(error, "a number for each pixel");
    }
    uint32_t n_frames = 0;
    const int64_t *frames = slc_io_pixels_frames(in->file, &n_frames);
    n_frames = n_frames < head->n_events ? n_frames : head->n_events;
    if (n_frames > 0) {
        memcpy(p->numbers.frame, frames + p->frames_before, n_frames * sizeof *frames);
        p->result.frames = p->numbers.frame;
    }
    return SLC_OK;
}

static slc_status read_piece(void *at, const slc_flow_config *config, slc_flow_item *item, slc_error *error)
{
    slc_pixel_input *in = at;
    slc_pixel_piece *p = item->result;
    (void)config;
    if (in->all_read && in->handed == in->list.head.size) {
        return SLC_END;
    }
    take_columns(p, in);
    slc_columns_reset(&p->result.pixels);
    p->result.about = in->about;
    p->result.is_stream = in->is_stream;
    p->result.frames = NULL;
    p->result.label = NULL;
    p->result.taken = NULL;
    p->result.shot = NULL;
    p->result.since_trigger_ns = NULL;
    p->result.member_since_trigger_ns = NULL;
    p->result.energy_kev = NULL;
    p->result.chip = NULL;
    p->first_pixel = in->n_read;
    p->frames_before = 0;
    slc_status status;
    if (in->is_stream) {
        status = read_stream(in, p, error);
    } else {
        status = in->about.frames ? read_frames(in, p, error) : read_all(in, p, &p->result.pixels, error);
        status = status == SLC_OK ? take_numbers(in, p, error) : status;
        p->result.last = in->all_read;
    }
    in->n_read += p->result.pixels.head.size;
    p->result.counts = slc_io_pixels_count(in->file);
    p->result.counts.pixels -= in->left_out + in->pixels_before; /* of damage nothing tells the frame */
    return status;
}

/* ---- frames and images ------------------------------------------------------------------------------ */

/* The clusterer is opened for the size of the sensor. Where nobody tells it, that is the box from the origin
 * around all pixels so far, since the fast algorithm needs a size, and opened again when the box grows. */
static slc_status open_clusterer(slc_pixel_input *in, const slc_pixels *list, slc_error *error)
{
    const uint32_t width = in->width, height = in->height;
    if (!in->fixed) {
        slc_pixels_box(list, &in->width, &in->height);
        in->config.width = (uint16_t)in->width;
        in->config.height = (uint16_t)in->height;
    }
    if (in->clusterer != NULL && in->width == width && in->height == height) {
        return SLC_OK;
    }
    slc_pixel_cluster_close(in->clusterer);
    in->clusterer = NULL;
    return slc_pixel_cluster_open(&in->config, &in->clusterer, error);
}

/* The library counts in the image; the file's own order is that of all pixels that were read. */
static void place_largest(const slc_pixel_input *in, slc_pixel_piece *p)
{
    slc_pixel_clusters *clusters = &p->result.clusters;
    for (uint32_t e = 0; clusters->largest != NULL && e < clusters->head.n_events; e++) {
        for (size_t i = clusters->head.event_offset[e]; i < clusters->head.event_offset[e + 1]; i++) {
            const size_t at = p->result.pixels.head.event_offset[e] + (size_t)clusters->largest[i];
            clusters->largest[i] = (uint32_t)(p->first_pixel +
                                              (in->setup->sized ? p->numbers.origin[at] : at));
        }
    }
}

static slc_status run_clusterer(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_pixels *pixels = &p->result.pixels;
    const slc_columns *head = &pixels->head;
    slc_status status = slc_pixel_cluster_reserve(in->clusterer, slc_columns_largest_event(head),
                                                  head->n_events, error);
    status = status == SLC_OK ? slc_pixel_reserve_clusters(p, head->size, head->n_events, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const double began = slc_clock_seconds();
    uint32_t *label = in->setup->labels ? p->numbers.label : NULL;
    status = slc_pixel_cluster_run(in->clusterer, pixels, label, &p->result.clusters, error);
    p->result.label = label;
    in->totals.seconds += slc_clock_seconds() - began;
    return status;
}

static slc_status cluster_images(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_columns *head = &p->result.pixels.head;
    slc_columns_reset(&p->result.clusters);
    if (head->n_events == 0) {
        return SLC_OK;
    }
    if (in->setup->sized) { /* files' own sizes are kept by their readers */
        in->totals.outside += slc_pixels_leave_out(&p->result.pixels, slc_pixel_side(in->config.width),
                                                   slc_pixel_side(in->config.height), p->numbers.origin);
    }
    slc_status status = open_clusterer(in, &p->result.pixels, error);
    status = status == SLC_OK ? run_clusterer(in, p, error) : status;
    if (status == SLC_OK) {
        place_largest(in, p);
        const slc_pixel_clusters *kept = &p->result.clusters;
        if (in->filter.clusters.n > 0) {
            slc_pixel_filter_run(in, p);
        }
        for (size_t i = 0; in->filter.clusters.n > 0 && i < kept->head.size; i++) {
            in->totals.clustered += kept->size[i];
        }
        in->totals.frames += head->n_events;
        in->totals.clustered += in->filter.clusters.n > 0 ? 0 : head->size;
    }
    return status;
}

/* ---- the chain -------------------------------------------------------------------------------------- */

/* A frame or an image is an event, and so is a stream, from which clusters come in pieces. */
static void sum_clusters(slc_pixel_input *in, const slc_pixel_piece *p, slc_flow_item *item)
{
    const slc_pixel_clusters *clusters = &p->result.clusters;
    if (!p->result.is_stream) {
        const slc_checksum_part part = {"clusters", &p->of->shown, clusters};
        item->checksum = slc_checksum_events(&part, 1, 0);
        item->n_summed = clusters->head.n_events;
        return;
    }
    slc_checksum_pieces_add(in->summed, &in->shown, clusters, 0, clusters->head.size);
    if (p->result.last) {
        item->checksum = slc_checksum_pieces_end(in->summed, "clusters", &in->shown);
        item->n_summed = 1;
    }
}

/* Of clusters as they are after all cuts. */
static slc_status take_energies(slc_pixel_piece *p, slc_error *error)
{
    const slc_pixel_clusters *clusters = &p->result.clusters;
    if (!p->of->about.energies || clusters->mass == NULL) {
        return SLC_OK;
    }
    if (slc_columns_reserve(&energy_schema, &p->energies, clusters->head.size, 1) != SLC_OK) {
        return slc_pixel_no_memory(error, "the energies");
    }
    for (size_t i = 0; i < clusters->head.size; i++) {
        p->energies.energy_kev[i] = (double)clusters->mass[i] / 1000;
    }
    p->result.energy_kev = p->energies.energy_kev;
    return SLC_OK;
}

static slc_status run(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    slc_pixel_piece *p = item->result;
    (void)chain;
    (void)setup;
    slc_status status = p->result.is_stream ? slc_pixel_run_stream(p->of, p, error)
                                            : cluster_images(p->of, p, error);
    status = status == SLC_OK ? take_energies(p, error) : status;
    p->of->totals.clusters += p->result.clusters.head.size;
    p->result.totals = p->of->totals;
    if (status == SLC_OK) {
        sum_clusters(p->of, p, item);
    }
    return status;
}

/* The filter is looked at before anything is read; what an input does not have is refused with it. */
static slc_status open_chain(const void *at, const slc_flow_config *config, void **chain, slc_error *error)
{
    static char checked; /* there is nothing to keep */
    const slc_flow_pixel_setup *setup = at;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_pixel_filters filter;
    (void)config;
    *chain = &checked;
    if (setup->filter == NULL) {
        return SLC_OK;
    }
    const bool energies = setup->tables != NULL && setup->tables->calibrates;
    slc_schema schema = slc_pixel_clusters_schema(setup->config->features, SLC_PIXEL_Z, columns);
    if (slc_pixel_filter_parse(setup, &schema, energies, &filter, NULL) == SLC_OK) {
        return SLC_OK;
    }
    schema = slc_pixel_clusters_schema(setup->config->features, 0, columns); /* which has others */
    return slc_pixel_filter_parse(setup, &schema, energies, &filter, error);
}

static void close_chain(void *chain)
{
    (void)chain;
}

const slc_flow_chain slc_flow_pixel = {.size = sizeof(slc_flow_chain),
                                       .name = "pixel",
                                       .ordered = true,
                                       .files_alone = true,
                                       .open = open_chain,
                                       .close = close_chain,
                                       .result_bytes = sizeof(slc_pixel_piece),
                                       .item_close = close_piece,
                                       .input_open = open_input,
                                       .read = read_piece,
                                       .input_close = close_input,
                                       .run = run};
