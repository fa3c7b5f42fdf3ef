/* SPDX-License-Identifier: Apache-2.0
 *
 * Images that a GPU has room for: pixels to the device, one launch, the number of components back, and then
 * as much of the results as there is. Images that are alike go together. Where results might not fit, they
 * are made in the lane's block and copied when it is known that they do.
 */
#include "base/columns.h"
#include "image/cuda/image_cuda_plan.h"
#include "image/image_check.h"
#include "image/image_output.h"

#include <string.h>

static const uint32_t made = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;

/* ---- whose memory -------------------------------------------------------------------------------------- */

/* Is it on the device of the only lane? */
static slc_status place_of(const slc_image_cuda *engine, const char *what, const void *memory,
                           bool *on_device, slc_error *error)
{
    const slc_cuda_place place = slc_cuda_place_of(memory);
    *on_device = place.on_device;
    if (!place.on_device) {
        return SLC_OK;
    }
    if (engine->n_lanes > 1) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: memory of GPU %u, and several GPUs share images of the host's memory only", what,
                        place.device);
    }
    if (!place.any_device && place.device != engine->lanes[0].device) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: memory of GPU %u, and the labeller is on GPU %u", what,
                        place.device, engine->lanes[0].device);
    }
    return SLC_OK;
}

/* Of all columns at once. */
static slc_status place_of_columns(const slc_image_cuda *engine, const slc_image_job *job, bool *on_device,
                                   slc_error *error)
{
    const slc_image_components *components = job->out->components;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(job->config->features, columns);
    slc_status status = SLC_OK;
    *on_device = false;
    for (size_t i = 0; i < schema.n_columns && components->head.capacity > 0 && status == SLC_OK; i++) {
        bool here = false;
        status = place_of(engine, "components", slc_column_data(components, &columns[i]), &here, error);
        if (i > 0 && here != *on_device && status == SLC_OK) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "components: column %s is memory of the %s, and column %s is not",
                            columns[i].name, here ? "GPU" : "host", columns[0].name);
        }
        *on_device = here;
    }
    return status;
}

static bool wants_columns(const slc_image_job *job)
{
    return job->out->components != NULL && job->config->features != 0;
}

slc_status slc_image_cuda_places_of(const slc_image_cuda *engine, const slc_image_job *job,
                                    slc_image_cuda_places *places, slc_error *error)
{
    *places = (slc_image_cuda_places){.pixels = false};
    slc_status status = place_of(engine, "image", job->image->pixels, &places->pixels, error);
    if (status == SLC_OK && wants_columns(job)) {
        status = place_of_columns(engine, job, &places->columns, error);
    }
    if (status == SLC_OK && wants_columns(job) && (job->config->features & SLC_IMAGE_GREY) != 0) {
        status = place_of(engine, "grey image", job->grey->pixels, &places->grey, error);
        if (status == SLC_OK && job->grey->type == SLC_IMAGE_F32) {
            status = slc_fail(error, SLC_ERR_UNSUPPORTED,
                              "grey sums of float images are added in raster order, and not on a GPU");
        }
    }
    return status == SLC_OK ? place_of(engine, "label image", job->out->labels, &places->labels, error)
                            : status;
}

/* ---- wishes -------------------------------------------------------------------------------------------- */

bool slc_image_cuda_wants_more(const slc_image_job *job)
{
    return wants_columns(job) && (job->config->features & ~(made | SLC_IMAGE_CENTROID)) != 0;
}

static slc_image_cuda_pixels pixels_of(const slc_image *image, bool on_device)
{
    return (slc_image_cuda_pixels){
        .at = on_device ? image->pixels : NULL, .stride = on_device ? image->stride : 0, .type = image->type};
}

void slc_image_cuda_wish_begin(const slc_image_cuda *engine, const slc_image_job *job,
                               const slc_image_cuda_places *places, slc_image_cuda_wish *wish)
{
    memset(wish, 0, sizeof *wish); /* all of its bytes are compared */
    wish->width = job->image->width;
    wish->height = job->image->height;
    wish->images = 1;
    wish->pixels = pixels_of(job->image, places->pixels);
    wish->connectivity = job->connectivity;
    wish->inverse = job->inverse;
    wish->filters = slc_image_filters(job->config);
    wish->has_columns = wants_columns(job) || wish->filters;
    wish->has_labels = job->out->labels != NULL || slc_image_cuda_wants_more(job);
    if (wants_columns(job)) {
        wish->features = slc_image_features_needed(job->config->features) & ~(uint32_t)SLC_IMAGE_SHAPE;
    }
    if (!wish->has_columns && !wish->has_labels) { /* components are only counted */
        wish->has_labels = engine->algorithm->labels;
        wish->has_columns = !wish->has_labels;
    }
    if ((wish->features & SLC_IMAGE_GREY) != 0) {
        wish->grey = pixels_of(job->grey, places->grey);
        wish->shares_pixels = job->grey->pixels == job->image->pixels &&
                              job->grey->stride == job->image->stride && job->grey->type == job->image->type;
    }
    wish->multiprocessors = slc_cuda_stream_multiprocessors(engine->lanes[0].stream);
}

void slc_image_cuda_wish_end(slc_image_cuda_wish *wish, uint64_t limit)
{
    const size_t one = slc_image_label_bound(wish->width, wish->height, wish->connectivity);
    const size_t bound = slc_image_times(one, wish->images);
    wish->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
    wish->rows = bound < wish->limit ? bound : wish->limit;
}

/* Where the caller's columns continue. */
static void lay_direct(const slc_image_job *job, slc_image_cuda_wish *wish)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const uint32_t features = job->config->features & ~(uint32_t)SLC_IMAGE_SHAPE;
    const slc_schema schema = slc_image_components_schema(features, columns);
    slc_image_components *out = job->out->components;
    for (size_t i = 0; i < schema.n_columns; i++) {
        char *data = *slc_column_pointer(out, &columns[i]);
        *slc_column_pointer(&wish->columns, &columns[i]) =
            data != NULL ? data + out->head.size * slc_type_size(columns[i].type) : NULL;
    }
}

static bool all_without_components(const slc_image_job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (jobs[i].out->components != NULL) {
            return false;
        }
    }
    return true;
}

/* n images that are alike. Results are made in the caller's memory on the device where the limit alone
 * decides whether they fit: of one image, or of labels that always do. */
static void wish_of(const slc_image_cuda *engine, const slc_image_job *jobs, size_t n,
                    const slc_image_cuda_places *places, slc_image_cuda_wish *wish)
{
    const slc_image_labels *out = jobs->out;
    slc_image_cuda_wish_begin(engine, jobs, places, wish);
    wish->images = n;
    wish->narrow = out->labels != NULL && out->type == SLC_TYPE_U16;
    if (n > 1) {
        wish->pixels.image_stride = (size_t)((const char *)jobs[1].image->pixels -
                                             (const char *)jobs[0].image->pixels);
        wish->pixels.image_stride = places->pixels ? wish->pixels.image_stride : 0;
        wish->grey.image_stride = places->grey ? wish->pixels.image_stride : 0;
    }
    const bool decided = !wish->filters &&
                         (n == 1 ? slc_image_output_fits(jobs, 0) : all_without_components(jobs, n));
    uint64_t limit = UINT64_MAX;
    if (decided && places->labels && !wish->narrow) {
        wish->labels = out->labels;
        wish->label_stride = out->stride;
        wish->label_image_stride = n > 1 ? (size_t)((char *)jobs[1].out->labels - (char *)out->labels) : 0;
    }
    if (decided && places->columns && n == 1) {
        lay_direct(jobs, wish);
    }
    if (decided && n == 1 && out->components != NULL) {
        limit = out->components->head.capacity - out->components->head.size;
    }
    if (decided && n == 1 && wish->narrow && limit > UINT16_MAX) {
        limit = UINT16_MAX;
    }
    slc_image_cuda_wish_end(wish, limit);
}

/* ---- into the device ----------------------------------------------------------------------------------- */

static slc_status send(slc_image_cuda_lane *lane, const slc_image_cuda_task *task, void *copy,
                       const slc_image *first, ptrdiff_t distance, slc_error *error)
{
    const size_t row = slc_image_row_bytes(first->type, first->width);
    slc_cuda_block block = {row, first->height};
    size_t n = task->images;
    if (n > 1 && distance == first->stride * (ptrdiff_t)first->height) {
        block.rows *= n; /* one below the other */
        n = 1;
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        status = slc_cuda_rows_put(lane->copies, (char *)copy + i * task->image_stride, task->stride,
                                   (const char *)first->pixels + (ptrdiff_t)i * distance, first->stride,
                                   block, true, error);
    }
    return status;
}

slc_status slc_image_cuda_send(slc_image_cuda_lane *lane, const slc_image_cuda_plan *plan,
                               const slc_image_job *jobs, slc_error *error)
{
    const bool several = plan->pixels.images > 1;
    const ptrdiff_t distance = several
                                   ? (const char *)jobs[1].image->pixels - (const char *)jobs[0].image->pixels
                                   : 0;
    slc_status status = SLC_OK;
    if (plan->copy != NULL) {
        status = send(lane, &plan->pixels, plan->copy, jobs->image, distance, error);
    }
    if (status == SLC_OK && plan->grey_copy != NULL) {
        status = send(lane, &plan->grey, plan->grey_copy, jobs->grey, distance, error);
    }
    return status;
}

/* ---- back from the device ------------------------------------------------------------------------------ */

/* A launch that is over, and the images a … b - 1 of it that are taken now. */
typedef struct taking {
    slc_image_cuda *engine;
    slc_image_cuda_lane *lane;
    const slc_image_job *jobs;
    const slc_image_cuda_plan *plan;
    const slc_image_cuda_places *places;
    const uint32_t *first; /* on the host */
} taking;

static slc_status copy_labels(const taking *t, size_t a, size_t rows, slc_error *error)
{
    const slc_image_cuda_job *made_by = &t->plan->job;
    const slc_image_labels *out = t->jobs[a].out;
    const char *from = (const char *)made_by->labels + a * made_by->label_image_stride;
    ptrdiff_t stride = made_by->label_stride;
    if (t->plan->narrow != NULL) {
        stride = (ptrdiff_t)(made_by->width * sizeof(uint16_t));
        from = (const char *)t->plan->narrow + a * made_by->height * (size_t)stride;
    }
    const slc_cuda_block block = {made_by->width * slc_type_size(out->type), rows};
    if (t->places->labels) {
        return slc_cuda_rows_move(t->lane->copies, out->labels, out->stride, from, stride, block, error);
    }
    return slc_cuda_rows_get(t->lane->copies, out->labels, out->stride, from, stride, block, error);
}

static slc_status take_labels(const taking *t, size_t a, size_t b, slc_error *error)
{
    const slc_image_labels *out = t->jobs[a].out;
    const size_t height = t->plan->job.height;
    if (out->labels == NULL || (t->plan->narrow == NULL && t->plan->job.labels == out->labels)) {
        return SLC_OK; /* nobody wants them, or they are there */
    }
    const ptrdiff_t image = out->stride * (ptrdiff_t)height;
    if (b - a > 1 && (char *)t->jobs[a + 1].out->labels - (char *)out->labels == image) {
        return copy_labels(t, a, (b - a) * height, error);
    }
    slc_status status = SLC_OK;
    for (size_t i = a; i < b && status == SLC_OK; i++) {
        status = copy_labels(t, i, height, error);
    }
    return status;
}

size_t slc_image_cuda_lay_host(uint32_t features, size_t rows, void *memory, slc_image_components *components)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    size_t bytes = 0;
    for (size_t i = 0; i < schema.n_columns; i++) {
        if (memory != NULL) {
            *slc_column_pointer(components, &columns[i]) = (char *)memory + bytes;
        }
        const size_t column = slc_image_times(rows, slc_type_size(columns[i].type));
        bytes = slc_image_plus(bytes, slc_image_plus(column, 2 * SLC_COLUMN_ALIGN) / SLC_COLUMN_ALIGN *
                                          SLC_COLUMN_ALIGN);
    }
    return bytes;
}

/* Columns of `features`, rows [row, row + n) of the plan's, to the first of `to`. */
static slc_status copy_columns(const taking *t, uint32_t features, size_t row, size_t n, bool to_device,
                               slc_image_components *to, slc_error *error)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    slc_status status = SLC_OK;
    for (size_t i = 0; i < schema.n_columns && status == SLC_OK && n > 0; i++) {
        const size_t size = slc_type_size(columns[i].type);
        const char *from = (const char *)slc_column_data(&t->plan->columns, &columns[i]) + row * size;
        void *into = *slc_column_pointer(to, &columns[i]);
        const slc_cuda_block block = {n * size, 1};
        const ptrdiff_t stride = (ptrdiff_t)block.bytes;
        if (!to_device) {
            status = slc_cuda_rows_get(t->lane->copies, into, stride, from, stride, block, error);
        } else if (into != from) {
            status = slc_cuda_rows_move(t->lane->copies, into, stride, from, stride, block, error);
        }
    }
    return status;
}

/* The shape is made by the processor, whose square roots and angles everybody gets; what it is made from
 * comes to the host for that. */
static slc_status shape_on_device(const taking *t, size_t row, size_t n, slc_image_components *to,
                                  slc_error *error)
{
    const uint32_t from = slc_image_features_needed(SLC_IMAGE_SHAPE);
    slc_image_components here = {.head = {.capacity = n}};
    (void)slc_image_cuda_lay_host(from, n, t->engine->host.spare.at, &here);
    slc_status status = copy_columns(t, from & ~(uint32_t)SLC_IMAGE_SHAPE, row, n, false, &here, error);
    status = status == SLC_OK ? slc_cuda_rows_finish(t->lane->copies, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_image_features_end(SLC_IMAGE_SHAPE, &here, 0, (uint32_t)n, SLC_IMAGE_U8);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema shape = slc_image_components_schema(SLC_IMAGE_SHAPE, columns);
    for (size_t i = 0; i < shape.n_columns && status == SLC_OK && n > 0; i++) {
        const size_t bytes = n * slc_type_size(columns[i].type);
        status = slc_cuda_rows_put(t->lane->copies, *slc_column_pointer(to, &columns[i]), (ptrdiff_t)bytes,
                                   slc_column_data(&here, &columns[i]), (ptrdiff_t)bytes,
                                   (slc_cuda_block){bytes, 1}, false, error);
    }
    return status;
}

/* Components of images a … b - 1, which have one collection, behind `window`'s first row. */
static slc_status take_columns(const taking *t, size_t a, size_t b, slc_image_components *window,
                               slc_error *error)
{
    const uint32_t features = t->jobs[a].config->features;
    const uint32_t shape = SLC_IMAGE_SHAPE, needed = slc_image_features_needed(features);
    const size_t row = t->first[a], n = t->first[b] - t->first[a];
    if (t->places->columns) {
        const slc_status status = copy_columns(t, features & ~shape, row, n, true, window, error);
        return status == SLC_OK && (features & shape) != 0 ? shape_on_device(t, row, n, window, error)
                                                           : status;
    }
    slc_status status = copy_columns(t, (features & shape) != 0 ? needed & ~shape : features, row, n, false,
                                     window, error);
    if (status == SLC_OK && (features & shape) != 0) {
        status = slc_cuda_rows_finish(t->lane->copies, error);
        if (status == SLC_OK) {
            slc_image_features_end(shape, window, 0, (uint32_t)n, SLC_IMAGE_U8);
        }
    }
    return status;
}

/* Ends the events of images from a on as long as they fit and have one collection; *b is the first behind
 * them. */
static slc_status end_events(const taking *t, size_t a, size_t n, size_t *b, slc_error *error)
{
    const slc_image_components *components = t->jobs[a].out->components;
    const bool shape = components != NULL && (t->jobs[a].config->features & SLC_IMAGE_SHAPE) != 0;
    slc_status status = SLC_OK;
    size_t i = a;
    for (; i < n && status == SLC_OK && t->jobs[i].out->components == components; i++) {
        const uint32_t found = t->first[i + 1] - t->first[i];
        if (shape && i > a && t->first[i + 1] - t->first[a] > t->engine->host.spare_rows) {
            break;
        }
        status = slc_image_output_check(&t->jobs[i], found, error);
        if (status != SLC_OK) {
            break;
        }
        if (components != NULL) {
            slc_image_output_end(&t->jobs[i], found);
        }
    }
    *b = i;
    return status;
}

/* Images from a on with one collection; *b is the first behind them. Copies are begun. */
static slc_status take_some(const taking *t, size_t a, size_t n, size_t *b, slc_error *error)
{
    slc_image_components *components = t->jobs[a].out->components;
    slc_image_components window = {.head = {.capacity = 0}};
    if (components != NULL && components->head.capacity > 0) {
        window = slc_image_output_window(&t->jobs[a], t->engine->host.spare_rows, t->engine->host.spare.at);
    }
    const size_t size = components != NULL ? components->head.size : 0;
    const uint32_t n_events = components != NULL ? components->head.n_events : 0;
    const slc_status status = end_events(t, a, n, b, error);
    slc_status copied = *b > a ? take_labels(t, a, *b, error) : SLC_OK;
    if (copied == SLC_OK && *b > a && components != NULL) {
        copied = take_columns(t, a, *b, &window, error);
    }
    if (copied != SLC_OK && components != NULL) { /* nobody can rely on these rows */
        components->head.size = size;
        components->head.n_events = n_events;
    }
    return copied != SLC_OK ? copied : status;
}

/* All that one launch has made; *done counts images. */
static slc_status take(const taking *t, size_t n, size_t *done, slc_error *error)
{
    slc_status status = SLC_OK;
    size_t taken = 0;
    slc_cuda_range_begin("image: labels and components to the host");
    for (size_t a = 0; a < n && status == SLC_OK; a = taken) {
        status = take_some(t, a, n, &taken, error);
    }
    const bool arrives = status == SLC_OK || status == SLC_ERR_CAPACITY; /* of those before */
    const slc_status finished = slc_cuda_rows_finish(t->lane->copies, arrives ? error : NULL);
    slc_cuda_range_end();
    *done += arrives && finished == SLC_OK ? taken : 0;
    return arrives && finished != SLC_OK ? finished : status;
}

/* ---- a run --------------------------------------------------------------------------------------------- */

/* How many of n images that are alike every lane has room for at once; 0: not for one. */
static size_t fitting(const slc_image_cuda *engine, const slc_image_job *jobs, size_t n,
                      const slc_image_cuda_places *places)
{
    size_t room = SIZE_MAX;
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        room = engine->lanes[i].block.size < room ? engine->lanes[i].block.size : room;
    }
    size_t low = 0, high = (n < SLC_IMAGE_CUDA_IMAGES ? n : SLC_IMAGE_CUDA_IMAGES) + 1;
    for (size_t k = high - 1; high - low > 1; k = low + (high - low) / 2) { /* low fits, high does not */
        slc_image_cuda_wish wish;
        slc_image_cuda_plan plan;
        wish_of(engine, jobs, k, places, &wish);
        slc_image_cuda_plan_make(engine->algorithm, &engine->config, &wish, NULL, &plan);
        if (plan.bytes <= room) {
            low = k;
        } else {
            high = k;
        }
    }
    return low;
}

/* Pixels to the device, unless they are there: of the background after the foreground. */
static slc_status send_new(slc_image_cuda_lane *lane, slc_error *error)
{
    const slc_image_cuda_plan *plan = &lane->plan;
    if (lane->jobs->again && plan->copy == lane->sent && plan->grey_copy == lane->sent_grey) {
        return SLC_OK;
    }
    lane->sent = lane->sent_grey = NULL;
    slc_cuda_range_begin("image: pixels to the device");
    const slc_status status = slc_image_cuda_send(lane, plan, lane->jobs, error);
    slc_cuda_range_end();
    lane->sent = status == SLC_OK ? plan->copy : NULL;
    lane->sent_grey = status == SLC_OK ? plan->grey_copy : NULL;
    return status;
}

/* What lanes that share a batch have in common. */
typedef struct sharing {
    slc_image_cuda *engine;
    const slc_image_job *jobs;
    const slc_image_cuda_places *places;
    size_t n, share; /* images, and how many of them are for a lane */
} sharing;

/* Everything up to the numbers of components, which are on the host then. */
static void run_lane(void *context, uint32_t number)
{
    const sharing *r = context;
    const slc_image_cuda *engine = r->engine;
    slc_image_cuda_lane *lane = &r->engine->lanes[number];
    const size_t begin = number * r->share, left = begin < r->n ? r->n - begin : 0;
    slc_error *error = &lane->error;
    lane->jobs = r->jobs + begin;
    lane->images = left < r->share ? left : r->share;
    lane->status = slc_cuda_stream_use(lane->stream, error);
    if (lane->images == 0 || lane->status != SLC_OK) {
        return;
    }
    wish_of(engine, lane->jobs, lane->images, r->places, &lane->wish);
    slc_image_cuda_plan_make(engine->algorithm, &engine->config, &lane->wish, lane->block.at, &lane->plan);
    slc_status status = slc_image_cuda_plan_check(engine->algorithm, &lane->wish, error);
    status = status == SLC_OK ? send_new(lane, error) : status;
    slc_cuda_range_begin("image: kernels");
    if (status == SLC_OK) {
        status = slc_image_cuda_lane_launch(engine, lane, &lane->wish, &lane->plan, error);
    }
    const slc_status waited = slc_cuda_stream_wait(lane->stream, status == SLC_OK ? error : NULL);
    slc_cuda_range_end();
    lane->status = status == SLC_OK ? waited : status;
}

/* As many images as all lanes have room for; outputs are taken in order. */
static slc_status run_shared(sharing *r, size_t *done, slc_error *error)
{
    slc_image_cuda *engine = r->engine;
    const uint32_t lanes = r->n > r->share ? engine->n_lanes : 1;
    slc_team_run(engine->team, lanes, run_lane, r);
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < lanes && status == SLC_OK; i++) {
        slc_image_cuda_lane *lane = &engine->lanes[i];
        const taking t = {engine, lane, lane->jobs, &lane->plan, r->places, lane->first_host.at};
        if (lane->status != SLC_OK) {
            return slc_fail(error, lane->status, "%s", lane->error.text);
        }
        if (lane->images > 0) {
            status = slc_cuda_stream_use(lane->stream, error);
            status = status == SLC_OK ? take(&t, lane->images, done, error) : status;
        }
    }
    return status;
}

/* As many of n images as go together; *done counts them. */
static slc_status run_some(slc_image_cuda *engine, const slc_image_job *jobs, size_t n, size_t *done,
                           slc_error *error)
{
    slc_image_cuda_places places, last;
    slc_status status = slc_image_cuda_places_of(engine, jobs, &places, error);
    if (status == SLC_OK && n > 1) {
        status = slc_image_cuda_places_of(engine, &jobs[n - 1], &last, error);
        n = status == SLC_OK && memcmp(&places, &last, sizeof places) == 0 ? n : 1;
    }
    if (status != SLC_OK) {
        return status;
    }
    /* Several devices share the images of a batch, and a single image by strips. */
    const size_t each = (n + engine->n_lanes - 1) / engine->n_lanes;
    const size_t k = engine->n_lanes > 1 && n == 1 ? 0 : fitting(engine, jobs, each, &places);
    if (k > 0) {
        sharing r = {engine, jobs, &places, k * engine->n_lanes < n ? k * engine->n_lanes : n, k};
        return run_shared(&r, done, error);
    }
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        engine->lanes[i].sent = engine->lanes[i].sent_grey = NULL;
    }
    status = slc_image_cuda_strips_run(engine, jobs, &places, error);
    *done += status == SLC_OK;
    return status;
}

slc_status slc_image_cuda_run_batch(slc_image_cuda *engine, const slc_image_job *jobs, size_t n, size_t *done,
                                    slc_error *error)
{
    slc_status status = slc_cuda_stream_use(engine->lanes[0].stream, error);
    *done = 0;
    while (*done < n && status == SLC_OK) {
        status = run_some(engine, jobs + *done, n - *done, done, error);
    }
    return status;
}

slc_status slc_image_cuda_run(slc_image_cuda *engine, const slc_image_job *job, slc_error *error)
{
    size_t done;
    return slc_image_cuda_run_batch(engine, job, 1, &done, error);
}
