/* SPDX-License-Identifier: Apache-2.0
 *
 * Images for which a GPU has no room, or which several share: strips of rows, each labelled as an image of
 * its own; lane l does strips l, l + lanes, … . When the processor has joined them (image_cuda_join.c), their
 * labels are replaced by final ones, through a table: on the device those that are there, which are all where
 * the label image is, and else the last strip of each lane; on the host the others.
 */
#include "image/cuda/image_cuda_strips.h"
#include "base/columns.h"
#include "image/cuda/image_cuda_stages.h"
#include "image/image_check.h"
#include "image/image_output.h"

#include <string.h>

static const uint32_t made = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;

/* ---- sizes --------------------------------------------------------------------------------------------- */

static void strip_wish(const slc_image_cuda *engine, const slc_image_job *job,
                       const slc_image_cuda_places *places, size_t height, slc_image_cuda_wish *wish)
{
    slc_image_cuda_wish_begin(engine, job, places, wish);
    wish->height = height;
    wish->has_columns = (job->out->components != NULL && job->config->features != 0) || wish->filters;
    wish->has_labels = true; /* strips are joined by them */
    wish->filters = false;
    wish->features = 0;
    wish->shares_pixels = false;
    memset(&wish->grey, 0, sizeof wish->grey);
    if (job->out->labels != NULL) {
        wish->table = slc_image_label_bound(wish->width, height, wish->connectivity) + 1;
    }
    slc_image_cuda_wish_end(wish, UINT64_MAX);
}

size_t slc_image_cuda_strips_height(const slc_image_cuda *engine, const slc_image_job *job,
                                    const slc_image_cuda_places *places, size_t room)
{
    size_t low = 0, high = job->image->height + 1;
    while (high - low > 1) { /* low fits, high does not */
        const size_t height = low + (high - low) / 2;
        slc_image_cuda_wish wish;
        slc_image_cuda_plan plan;
        strip_wish(engine, job, places, height, &wish);
        slc_image_cuda_plan_make(engine->algorithm, &engine->config, &wish, NULL, &plan);
        if (plan.bytes <= room) {
            low = height;
        } else {
            high = height;
        }
    }
    return low;
}

/* As few strips as there can be of `most` rows, but as many for each lane. */
static size_t count_strips(const slc_image_cuda *engine, size_t height, size_t most)
{
    const size_t lanes = engine->n_lanes == 0 ? 1 : engine->n_lanes;
    const size_t n = (height + most - 1) / most;
    const size_t rounded = (n + lanes - 1) / lanes * lanes;
    return rounded < height ? rounded : height;
}

slc_status slc_image_cuda_strips_reserve(slc_image_cuda *engine, size_t width, size_t height,
                                         size_t strip_height, slc_error *error)
{
    slc_image_cuda_host *host = &engine->host;
    if (!engine->algorithm->labels || strip_height == 0) {
        return SLC_OK; /* it cannot do strips, and says so when asked to */
    }
    const size_t n = (height + strip_height - 1) / strip_height + engine->n_lanes;
    /* A strip of odd height may have half a label a column more than its share, and each has its label 0. */
    const size_t entries = slc_image_plus(slc_image_times(height / 2 + 1 + n, width), n);
    const size_t pixels = slc_image_times(width, height);
    const uint32_t features = engine->config.features;
    const bool has_columns = features != 0 || slc_image_filters(&engine->config);
    const size_t rows = entries < SIZE_MAX / 128 ? entries : SIZE_MAX / 128;
    const struct {
        slc_image_memory *memory;
        size_t bytes;
    } wanted[] = {
        {&host->labels, slc_image_times(pixels, sizeof(uint32_t))},
        {&host->narrow, slc_image_times(pixels, sizeof(uint16_t))},
        {&host->edges, slc_image_times(slc_image_times(n, 2 * sizeof(uint32_t)), width)},
        {&host->counts, slc_image_times(n, sizeof(uint32_t))},
        {&host->table, slc_image_times(entries, sizeof(uint32_t))},
        {&host->columns,
         has_columns ? slc_image_cuda_lay_host(made | SLC_IMAGE_CENTROID, rows, NULL, NULL) : 1},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const slc_status status = slc_image_memory_reserve(wanted[i].memory, wanted[i].bytes);
        if (status != SLC_OK) {
            return slc_fail(error, status, "no memory for strips of images of %zu x %zu pixels", width,
                            height);
        }
    }
    host->strips = n;
    host->entries = entries;
    return SLC_OK;
}

/* ---- on the devices ------------------------------------------------------------------------------------ */

static slc_status get_columns(const slc_image_cuda_strips *t, slc_image_cuda_lane *lane,
                              const slc_image_cuda_plan *plan, size_t s, slc_error *error)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(made, columns);
    slc_status status = SLC_OK;
    for (size_t i = 0; i < schema.n_columns && status == SLC_OK && t->counts[s] > 0; i++) {
        const size_t size = slc_type_size(columns[i].type), bytes = t->counts[s] * size;
        char *to = (char *)*slc_column_pointer((void *)&t->sums, &columns[i]);
        status = slc_cuda_rows_get(lane->copies, to + (s * t->step + 1) * size, (ptrdiff_t)bytes,
                                   slc_column_data(&plan->columns, &columns[i]), (ptrdiff_t)bytes,
                                   (slc_cuda_block){bytes, 1}, error);
    }
    return status;
}

/* What a strip has made, to the host. */
static slc_status get_strip(const slc_image_cuda_strips *t, slc_image_cuda_lane *lane,
                            const slc_image_cuda_plan *plan, size_t s, slc_error *error)
{
    const slc_image_cuda_job *job = &plan->job;
    const size_t row = job->width * sizeof(uint32_t);
    const ptrdiff_t stride = (ptrdiff_t)row;
    const char *from = (const char *)job->labels;
    uint32_t *edges = t->edges + 2 * s * job->width;
    const slc_cuda_block one = {row, 1}, all = {row, job->height};
    slc_status status = slc_cuda_rows_get(lane->copies, edges, stride, from, stride, one, error);
    if (status == SLC_OK) {
        status = slc_cuda_rows_get(lane->copies, edges + job->width, stride,
                                   from + (ptrdiff_t)(job->height - 1) * job->label_stride, stride, one,
                                   error);
    }
    char *to = t->labels != NULL ? t->labels + (ptrdiff_t)(s * t->height) * t->label_stride : NULL;
    if (status == SLC_OK && t->remote) {
        status = slc_cuda_rows_move(lane->copies, to, t->label_stride, from, job->label_stride, all, error);
    } else if (status == SLC_OK && to != NULL && s * t->height < t->host_rows) {
        status = slc_cuda_rows_get(lane->copies, to, t->label_stride, from, job->label_stride, all, error);
    }
    if (status == SLC_OK && t->has_columns) {
        status = get_columns(t, lane, plan, s, error);
    }
    const slc_status finished = slc_cuda_rows_finish(lane->copies, status == SLC_OK ? error : NULL);
    return status == SLC_OK ? finished : status;
}

/* A strip as an image of its own. */
typedef struct strip {
    slc_image view;
    slc_image_job job;
    slc_image_cuda_wish wish;
    slc_image_cuda_plan plan;
} strip;

static slc_status cut_strip(const slc_image_cuda_strips *t, const slc_image_cuda_lane *lane, size_t s,
                            strip *part, slc_error *error)
{
    const slc_image *image = t->job->image;
    const size_t begin = s * t->height, left = image->height - begin;
    part->view = *image;
    part->view.pixels = slc_image_row(image, begin);
    part->view.height = left < t->height ? left : t->height;
    part->job = *t->job;
    part->job.image = &part->view;
    strip_wish(t->engine, &part->job, t->places, part->view.height, &part->wish);
    slc_image_cuda_plan_make(t->engine->algorithm, &t->engine->config, &part->wish, lane->block.at,
                             &part->plan);
    return part->plan.bytes <= lane->block.size
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no room for a strip of %zu rows", part->view.height);
}

static slc_status run_strip(const slc_image_cuda_strips *t, slc_image_cuda_lane *lane, size_t s,
                            slc_error *error)
{
    strip part;
    slc_status status = cut_strip(t, lane, s, &part, error);
    status = status == SLC_OK ? slc_image_cuda_send(lane, &part.plan, &part.job, error) : status;
    if (status == SLC_OK) {
        status = slc_image_cuda_lane_launch(t->engine, lane, &part.wish, &part.plan, error);
    }
    const slc_status waited = slc_cuda_stream_wait(lane->stream, status == SLC_OK ? error : NULL);
    status = status == SLC_OK ? waited : status;
    if (status == SLC_OK) {
        t->counts[s] = ((const uint32_t *)lane->first_host.at)[1];
        status = get_strip(t, lane, &part.plan, s, error);
    }
    return status;
}

static void run_lane(void *context, uint32_t number)
{
    const slc_image_cuda_strips *t = context;
    slc_image_cuda_lane *lane = &t->engine->lanes[number];
    lane->status = slc_cuda_stream_use(lane->stream, &lane->error);
    for (size_t s = number; s < t->n && lane->status == SLC_OK; s += t->engine->n_lanes) {
        lane->status = run_strip(t, lane, s, &lane->error);
    }
}

/* Lets all lanes work; the error of the first that failed. */
static slc_status run_lanes(slc_image_cuda_strips *t, void (*work)(void *context, uint32_t lane),
                            slc_error *error)
{
    const slc_image_cuda *engine = t->engine;
    slc_team_run(engine->team, engine->n_lanes, work, t);
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        const slc_image_cuda_lane *lane = &engine->lanes[i];
        if (lane->status != SLC_OK) {
            return slc_fail(error, lane->status, "GPU %u: %.480s", lane->device, lane->error.text);
        }
    }
    return SLC_OK;
}

/* ---- results ------------------------------------------------------------------------------------------- */

static slc_status put_columns(slc_image_cuda_strips *t, slc_error *error)
{
    const slc_image_job *job = t->job;
    slc_image_components *out = job->out->components;
    const size_t n = (size_t)t->n_labels;
    slc_cuda_rows *copies = t->engine->lanes[0].copies;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(job->config->features, columns);
    slc_status status = SLC_OK;
    if ((job->config->features & SLC_IMAGE_CENTROID) != 0) {
        slc_image_features_mean(t->sums.sum_x + 1, t->sums.area + 1, n, t->sums.x + 1);
        slc_image_features_mean(t->sums.sum_y + 1, t->sums.area + 1, n, t->sums.y + 1);
    }
    for (size_t i = 0; i < schema.n_columns && n > 0 && status == SLC_OK; i++) {
        const size_t size = slc_type_size(columns[i].type);
        const char *from = (const char *)slc_column_data(&t->sums, &columns[i]) + size;
        char *to = (char *)*slc_column_pointer(out, &columns[i]) + out->head.size * size;
        if (t->places->columns) {
            status = slc_cuda_rows_put(copies, to, (ptrdiff_t)(n * size), from, (ptrdiff_t)(n * size),
                                       (slc_cuda_block){n * size, 1}, false, error);
        } else {
            memcpy(to, from, n * size);
        }
    }
    if (status == SLC_OK) {
        slc_image_output_end(job, (uint32_t)n);
    }
    return status;
}

/* Where final labels are made, and how far its rows are apart: the output, or memory of ours. */
static char *final_rows(const slc_image_cuda_strips *t, ptrdiff_t *stride)
{
    const slc_image_labels *out = t->job->out;
    *stride = (ptrdiff_t)(t->job->image->width * slc_type_size(out->type));
    if (!t->places->labels) {
        *stride = out->stride;
        return out->labels;
    }
    return out->type == SLC_TYPE_U16 ? t->engine->host.narrow.at : t->engine->host.labels.at;
}

static void relabel_part(void *context, uint32_t part)
{
    const slc_image_cuda_strips *t = context;
    const size_t width = t->job->image->width;
    const size_t end = t->host_rows * (part + 1) / t->parts;
    ptrdiff_t stride;
    char *rows = final_rows(t, &stride);
    for (size_t y = t->host_rows * part / t->parts; y < end; y++) {
        const uint32_t *map = t->table + y / t->height * t->step;
        const uint32_t *from = (const uint32_t *)(const void *)(t->labels + (ptrdiff_t)y * t->label_stride);
        void *row = rows + (ptrdiff_t)y * stride;
        if (t->job->out->type == SLC_TYPE_U16) {
            uint16_t *to = row;
            for (size_t x = 0; x < width; x++) {
                to[x] = (uint16_t)map[from[x]];
            }
        } else {
            uint32_t *to = row;
            for (size_t x = 0; x < width; x++) {
                to[x] = map[from[x]];
            }
        }
    }
}

/* Final labels for those on the device, which go to the host from there if that is where they belong. */
static slc_status relabel_strip(const slc_image_cuda_strips *t, slc_image_cuda_lane *lane, size_t s,
                                slc_error *error)
{
    const slc_image_labels *out = t->job->out;
    const ptrdiff_t begin = (ptrdiff_t)(s * t->height) * out->stride;
    const size_t bytes = (t->counts[s] + (size_t)1) * sizeof *t->table;
    strip part;
    slc_status status = cut_strip(t, lane, s, &part, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_image_cuda_job job = part.plan.job;
    job.stream = slc_cuda_stream_native(lane->stream);
    if (t->remote) {
        job.labels = (uint32_t *)(void *)((char *)out->labels + begin);
        job.label_stride = out->stride;
    }
    status = slc_cuda_rows_put(lane->copies, part.plan.table, (ptrdiff_t)bytes, t->table + s * t->step,
                               (ptrdiff_t)bytes, (slc_cuda_block){bytes, 1}, false, error);
    status = status == SLC_OK ? slc_image_cuda_relabel(&job, part.plan.table, error) : status;
    if (status == SLC_OK && !t->remote) {
        const slc_cuda_block block = {job.width * sizeof(uint32_t), job.height};
        status = slc_cuda_rows_get(lane->copies, (char *)out->labels + begin, out->stride, job.labels,
                                   job.label_stride, block, error);
    }
    const slc_status finished = slc_cuda_rows_finish(lane->copies, status == SLC_OK ? error : NULL);
    return status == SLC_OK ? finished : status;
}

static void relabel_lane(void *context, uint32_t number)
{
    const slc_image_cuda_strips *t = context;
    slc_image_cuda_lane *lane = &t->engine->lanes[number];
    lane->status = slc_cuda_stream_use(lane->stream, &lane->error);
    for (size_t s = number; s < t->n && lane->status == SLC_OK; s += t->engine->n_lanes) {
        if (s * t->height >= t->host_rows) {
            lane->status = relabel_strip(t, lane, s, &lane->error);
        }
    }
}

static slc_status put_labels(slc_image_cuda_strips *t, slc_error *error)
{
    const slc_image *image = t->job->image;
    const slc_image_labels *out = t->job->out;
    const uint32_t several = 4 * slc_team_size(t->job->team);
    if (t->host_rows < image->height) {
        const slc_status status = run_lanes(t, relabel_lane, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (t->host_rows > 0) {
        t->parts = t->host_rows < several ? (uint32_t)t->host_rows : several;
        slc_team_run(t->job->team, t->parts, relabel_part, t);
    }
    if (!t->places->labels || t->remote) {
        return SLC_OK;
    }
    ptrdiff_t stride;
    const char *rows = final_rows(t, &stride);
    const slc_cuda_block block = {image->width * slc_type_size(out->type), image->height};
    return slc_cuda_rows_put(t->engine->lanes[0].copies, out->labels, out->stride, rows, stride, block, false,
                             error);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static slc_status check(const slc_image_cuda *engine, const slc_image_job *job, slc_error *error)
{
    const slc_image *image = job->image;
    if (!engine->algorithm->labels) {
        return slc_fail(
            error, SLC_ERR_UNSUPPORTED,
            "algorithm %s: %zu x %zu pixels are done by strips, which are joined by labels, and it "
            "makes none",
            engine->algorithm->name, image->width, image->height);
    }
    if (slc_image_cuda_wants_more(job)) {
        return slc_fail(
            error, SLC_ERR_UNSUPPORTED,
            "features: %zu x %zu pixels are done by strips, which have area, box, first, sums and "
            "centroid only",
            image->width, image->height);
    }
    slc_image_cuda_places places = {.pixels = false};
    slc_image_cuda_wish wish;
    strip_wish(engine, job, &places, 1, &wish);
    return slc_image_cuda_plan_check(engine->algorithm, &wish, error);
}

/* Where labels of strips are made, and where they become final ones. */
static void prepare_labels(slc_image_cuda_strips *t, size_t bound)
{
    const slc_image *image = t->job->image;
    const slc_image_labels *out = t->job->out;
    const bool wide = out->type == SLC_TYPE_U32, direct = wide && slc_image_output_fits(t->job, bound);
    t->remote = t->places->labels && direct;
    t->labels = t->remote || (direct && !t->places->labels) ? out->labels : t->engine->host.labels.at;
    t->label_stride = t->labels == out->labels ? out->stride : (ptrdiff_t)(image->width * sizeof(uint32_t));
    t->host_rows = t->remote ? 0 : image->height;
    if (wide && !t->places->labels) { /* the last strip of each lane stays where it is */
        t->host_rows = t->n > t->engine->n_lanes ? (t->n - t->engine->n_lanes) * t->height : 0;
    }
}

/* Cuts the image, and points at memory. */
static slc_status prepare(slc_image_cuda_strips *t, slc_error *error)
{
    const slc_image_cuda *engine = t->engine;
    const slc_image *image = t->job->image;
    const slc_image_labels *out = t->job->out;
    const slc_image_cuda_host *host = &engine->host;
    const size_t width = image->width, height = image->height;
    size_t room = SIZE_MAX;
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        room = engine->lanes[i].block.size < room ? engine->lanes[i].block.size : room;
    }
    const size_t most = slc_image_cuda_strips_height(engine, t->job, t->places, room);
    const size_t bound = slc_image_label_bound(width, height, t->job->connectivity);
    const size_t wanted = most > 0 ? count_strips(engine, height, most) : 1;
    t->height = (height + wanted - 1) / wanted;
    t->n = (height + t->height - 1) / t->height;
    t->step = slc_image_label_bound(width, t->height, t->job->connectivity) + 1;
    if (bound >= UINT32_MAX || slc_image_times(t->n, t->step) >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%zu x %zu pixels may have more components than 32 bits can number", width, height);
    }
    if (most == 0 || t->n > host->strips || t->n * t->step > host->entries) {
        return slc_fail(error, SLC_ERR_MEMORY, "%zu x %zu pixels: no memory for their strips is reserved",
                        width, height);
    }
    t->counts = host->counts.at;
    t->table = host->table.at;
    t->edges = host->edges.at;
    t->has_columns = (out->components != NULL && t->job->config->features != 0) ||
                     slc_image_filters(t->job->config);
    if (t->has_columns) {
        (void)slc_image_cuda_lay_host(made | SLC_IMAGE_CENTROID, host->entries, host->columns.at, &t->sums);
    }
    if (out->labels != NULL) {
        prepare_labels(t, bound);
    }
    return SLC_OK;
}

slc_status slc_image_cuda_strips_run(slc_image_cuda *engine, const slc_image_job *job,
                                     const slc_image_cuda_places *places, slc_error *error)
{
    slc_image_cuda_strips t = {.engine = engine, .job = job, .places = places};
    slc_status status = check(engine, job, error);
    status = status == SLC_OK ? prepare(&t, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = run_lanes(&t, run_lane, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_range_begin("image: joining strips");
    slc_image_cuda_strips_join(&t);
    slc_cuda_range_end();
    status = slc_image_output_check(job, t.n_labels, error);
    if (status == SLC_OK && job->out->labels != NULL) {
        status = put_labels(&t, error);
    }
    if (status == SLC_OK && job->out->components != NULL) {
        status = put_columns(&t, error);
    }
    /* Copies to the device, where there are any. */
    const slc_status finished = slc_cuda_rows_finish(engine->lanes[0].copies,
                                                     status == SLC_OK ? error : NULL);
    return status == SLC_OK ? finished : status;
}
