/* SPDX-License-Identifier: Apache-2.0
 *
 * A labeller's GPUs: which they are, the block of memory on each of them, and graphs. Room is made for the
 * worst image of the reserved size: pixels of four bytes, as many components as there can be. Where a device
 * has not that much, it gets what it may take, and larger images are done by strips.
 */
#include "cuda/cuda_choose.h"
#include "image/cuda/image_cuda_plan.h"
#include "image/image_output.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_THREADS = 4, MOST_LANES = SLC_CUDA_LIST_MOST };
/* Room for many small images at once, where it may be had. */
static const size_t batch_bytes = (size_t)128 << 20;

/* ---- opening ------------------------------------------------------------------------------------------- */

/* The same device may be named twice. */
static slc_status read_devices(const char *word, slc_image_cuda *engine, slc_error *error)
{
    slc_cuda_list list;
    const slc_status status = slc_cuda_list_read(word, true, &list, error);
    for (uint32_t i = 0; status == SLC_OK && i < list.n; i++) {
        engine->lanes[engine->n_lanes++].device = list.device[i];
    }
    return status;
}

static slc_status open_lane(slc_image_cuda_lane *lane, slc_error *error)
{
    slc_status status = slc_cuda_stream_open(lane->device, &lane->stream, error);
    status = status == SLC_OK ? slc_cuda_rows_open(lane->stream, COPY_THREADS, &lane->copies, error) : status;
    return status == SLC_OK ? slc_cuda_pinned_reserve(lane->stream, &lane->first_host,
                                                      (SLC_IMAGE_CUDA_IMAGES + 1) * sizeof(uint32_t),
                                                      "numbers of components", error)
                            : status;
}

#define ROW(function, text_name, can, text)                                                                  \
    {.name = (text_name),                                                                                    \
     .labels = ((can)&SLC_IMAGE_CUDA_LABELS) != 0,                                                           \
     .features = ((can)&SLC_IMAGE_CUDA_FEATURES) != 0,                                                       \
     .any_pixels = ((can)&SLC_IMAGE_CUDA_ANY_PIXELS) != 0,                                                   \
     .work_bound = slc_image_cuda_##function##_bound,                                                        \
     .launch = slc_image_cuda_##function##_launch},
static const slc_image_cuda_algorithm algorithms[] = {SLC_IMAGE_CUDA_ALGORITHMS(ROW){.name = NULL}};

/* The row of a name, the first for "auto", the last, which is empty, for one that is none's. */
static const slc_image_cuda_algorithm *find_algorithm(const char *name)
{
    const slc_image_cuda_algorithm *row = algorithms;
    while (name != NULL && strcmp(name, "auto") != 0 && row->name != NULL && strcmp(row->name, name) != 0) {
        row++;
    }
    return row;
}

slc_status slc_image_cuda_open(const slc_image_label_config *config, slc_image_cuda **out, slc_error *error)
{
    *out = NULL;
    slc_image_cuda *engine = calloc(1, sizeof *engine);
    slc_image_cuda_lane *lanes = calloc(MOST_LANES, sizeof *lanes);
    if (engine == NULL || lanes == NULL) {
        free(engine);
        free(lanes);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a labeller on a GPU");
    }
    engine->lanes = lanes;
    engine->config = *config;
    engine->config.exec.device = NULL; /* the caller's text need not live on */
    engine->algorithm = find_algorithm(config->algorithm);
    engine->config.algorithm = engine->algorithm->name;
    slc_status status = SLC_OK;
    if (engine->algorithm->name == NULL) {
        status = slc_fail(error, SLC_ERR_USAGE, "algorithm: there is none named \"%s\" for device %s",
                          config->algorithm, config->exec.device);
    }
    status = status == SLC_OK ? read_devices(config->exec.device, engine, error) : status;
    for (uint32_t i = 0; i < engine->n_lanes && status == SLC_OK; i++) {
        status = open_lane(&lanes[i], error);
        for (uint32_t j = 0; j < engine->n_lanes; j++) {
            lanes[i].shares += lanes[j].device == lanes[i].device;
        }
    }
    if (status == SLC_OK) {
        status = slc_team_open(engine->n_lanes, &engine->team);
        if (status != SLC_OK) {
            (void)slc_fail(error, status, "no threads for %u GPUs", engine->n_lanes);
        }
    }
    if (status != SLC_OK) {
        slc_image_cuda_close(engine);
        return status;
    }
    *out = engine;
    return SLC_OK;
}

static void close_lane(slc_image_cuda_lane *lane)
{
    if (lane->stream != NULL) {
        (void)slc_cuda_stream_use(lane->stream, NULL);
        (void)slc_cuda_stream_wait(lane->stream, NULL);
    }
    slc_image_cuda_lane_forget(lane);
    slc_cuda_event_close(lane->began);
    slc_cuda_event_close(lane->ended);
    slc_cuda_rows_close(lane->copies);
    slc_cuda_memory_clear(&lane->block);
    slc_cuda_memory_clear(&lane->flush);
    slc_cuda_memory_clear(&lane->first_host);
    slc_cuda_stream_close(lane->stream);
}

void slc_image_cuda_close(slc_image_cuda *engine)
{
    if (engine == NULL) {
        return;
    }
    slc_team_close(engine->team);
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        close_lane(&engine->lanes[i]);
    }
    slc_image_cuda_host *host = &engine->host;
    slc_image_memory *const all[] = {&host->labels, &host->narrow,  &host->edges, &host->counts,
                                     &host->table,  &host->columns, &host->spare};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_image_memory_clear(all[i]);
    }
    free(engine->lanes);
    free(engine);
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

void slc_image_cuda_lane_forget(slc_image_cuda_lane *lane)
{
    for (size_t i = 0; i < SLC_IMAGE_CUDA_GRAPHS; i++) {
        slc_cuda_graph_clear(&lane->recordings[i].graph);
        lane->recordings[i].seen = false;
    }
}

/* The recording of a wish; one that is new takes the place of the oldest. */
static slc_image_cuda_recording *recording_of(slc_image_cuda_lane *lane, const slc_image_cuda_wish *wish)
{
    for (size_t i = 0; i < SLC_IMAGE_CUDA_GRAPHS; i++) {
        slc_image_cuda_recording *r = &lane->recordings[i];
        /* Wishes are zeroed before they are filled, so that gaps between members are alike, too.
         * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (r->seen && memcmp(&r->wish, wish, sizeof *wish) == 0) {
            return r;
        }
    }
    slc_image_cuda_recording *r = &lane->recordings[lane->next_recording];
    lane->next_recording = (lane->next_recording + 1) % SLC_IMAGE_CUDA_GRAPHS;
    slc_cuda_graph_clear(&r->graph);
    r->seen = false;
    memcpy(&r->wish, wish, sizeof *wish);
    return r;
}

static slc_status enqueue(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                          const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan, slc_error *error)
{
    const slc_status status = slc_image_cuda_plan_enqueue(engine->algorithm, &engine->config, wish, plan,
                                                          slc_cuda_stream_native(lane->stream), error);
    return status == SLC_OK ? slc_cuda_to_host(lane->stream, lane->first_host.at, plan->job.first,
                                               (wish->images + 1) * sizeof(uint32_t), error)
                            : status;
}

slc_status slc_image_cuda_lane_launch(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                                      const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan,
                                      slc_error *error)
{
    slc_image_cuda_recording *r = recording_of(lane, wish);
    if (!r->seen) { /* the runtime loads kernels at their first launch, which cannot be recorded */
        const slc_status status = enqueue(engine, lane, wish, plan, error);
        r->seen = status == SLC_OK;
        return status;
    }
    slc_status status = SLC_OK;
    if (r->graph.exec == NULL) {
        status = slc_cuda_graph_begin(lane->stream, error);
        if (status == SLC_OK) {
            status = enqueue(engine, lane, wish, plan, error);
            status = slc_cuda_graph_end(lane->stream, &r->graph, status, error);
        }
    }
    return status == SLC_OK ? slc_cuda_graph_launch(lane->stream, &r->graph, error) : status;
}

/* ---- room ---------------------------------------------------------------------------------------------- */

/* The worst job of that size: its arguments are the host's memory, and nothing limits its results. */
typedef struct worst {
    slc_image image;
    slc_image_components components;
    slc_image_labels out;
    slc_image_job job;
} worst;

static void worst_of(const slc_image_cuda *engine, size_t width, size_t height, uint32_t connectivity,
                     worst *w)
{
    memset(w, 0, sizeof *w);
    w->image = (slc_image){.width = width, .height = height, .type = SLC_IMAGE_U32};
    w->components.head.capacity = SIZE_MAX;
    w->out.labels = engine->algorithm->labels ? w : NULL; /* wanted */
    w->out.type = SLC_TYPE_U32;
    w->out.components = engine->algorithm->features ? &w->components : NULL;
    w->job = (slc_image_job){.config = &engine->config,
                             .connectivity = connectivity,
                             .image = &w->image,
                             .grey = &w->image,
                             .out = &w->out};
}

/* Bytes of a block for any job on an image of that size; on a strip of one where `strip`. */
static size_t worst_bytes(const slc_image_cuda *engine, size_t width, size_t height, bool strip)
{
    static const slc_image_cuda_places host;
    size_t bytes = 0;
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        worst w;
        slc_image_cuda_wish wish;
        slc_image_cuda_plan plan;
        worst_of(engine, width, height, connectivity, &w);
        slc_image_cuda_wish_begin(engine, &w.job, &host, &wish);
        wish.narrow = engine->algorithm->labels;
        wish.shares_pixels = false;
        slc_image_cuda_wish_end(&wish, UINT64_MAX);
        wish.table = strip ? wish.rows + 1 : 0;
        slc_image_cuda_plan_make(engine->algorithm, &engine->config, &wish, NULL, &plan);
        bytes = plan.bytes > bytes ? plan.bytes : bytes;
    }
    return bytes;
}

/* Rows of a strip that so many bytes are enough for, in the worst case. */
static size_t worst_height(const slc_image_cuda *engine, size_t width, size_t height, size_t room)
{
    static const slc_image_cuda_places host;
    size_t rows = height;
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        worst w;
        worst_of(engine, width, height, connectivity, &w);
        const size_t most = slc_image_cuda_strips_height(engine, &w.job, &host, room);
        rows = most < rows ? most : rows;
    }
    return rows;
}

/* What a lane may take of its device. */
static slc_status budget_of(const slc_image_cuda *engine, slc_image_cuda_lane *lane, size_t *bytes,
                            slc_error *error)
{
    size_t free_bytes = 0, held = 0;
    for (uint32_t i = 0; i < engine->n_lanes; i++) {
        held += engine->lanes[i].device == lane->device ? engine->lanes[i].block.size : 0;
    }
    const slc_status status = slc_cuda_free_bytes(lane->stream, &free_bytes, error);
    const size_t most = free_bytes - free_bytes / 16 + held; /* kernels and graphs take some as well */
    *bytes = (engine->config.device_memory > 0 ? engine->config.device_memory : most) / lane->shares;
    *bytes -= *bytes % 256;
    return status;
}

/* A block of `wanted` bytes; where that much cannot be had, a smaller one, of `least` at least. */
static slc_status reserve_block(slc_image_cuda_lane *lane, size_t wanted, size_t least, slc_error *error)
{
    if (wanted <= lane->block.size) {
        return SLC_OK;
    }
    slc_status status = slc_cuda_stream_use(lane->stream, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(lane->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_image_cuda_lane_forget(lane);
    for (;; wanted = wanted / 8 * 7 > least ? wanted / 8 * 7 : least) {
        status = slc_cuda_memory_reserve(lane->stream, &lane->block, wanted, "labelling images", error);
        if (status != SLC_ERR_MEMORY || wanted <= least) {
            return status;
        }
    }
}

/* Room for columns from which the processor makes the shape. */
static slc_status reserve_spare(slc_image_cuda *engine, size_t width, size_t height, slc_error *error)
{
    const uint32_t features = engine->config.features;
    if ((features & SLC_IMAGE_SHAPE) == 0) {
        return SLC_OK;
    }
    const size_t bound = slc_image_label_bound(width, height, 4), few = 1 << 16;
    const size_t rows = bound > few ? bound : few;
    const size_t here = rows < SIZE_MAX / 128 ? slc_image_output_spare(features, rows) : SIZE_MAX;
    const size_t there = slc_image_cuda_lay_host(slc_image_features_needed(SLC_IMAGE_SHAPE), rows, NULL,
                                                 NULL);
    const slc_status status = slc_image_memory_reserve(&engine->host.spare, here > there ? here : there);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for the shapes of %zu components", rows);
    }
    engine->host.spare_rows = rows;
    return SLC_OK;
}

slc_status slc_image_cuda_reserve(slc_image_cuda *engine, size_t width, size_t height, slc_error *error)
{
    const size_t share = (height + engine->n_lanes - 1) / engine->n_lanes;
    const size_t wanted = worst_bytes(engine, width, share, false);
    const size_t row = worst_bytes(engine, width, 1, true);
    size_t budgets[MOST_LANES], smallest = SIZE_MAX;
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < engine->n_lanes && status == SLC_OK; i++) {
        status = budget_of(engine, &engine->lanes[i], &budgets[i], error);
        if (status == SLC_OK && row > budgets[i]) {
            status = slc_fail(error, SLC_ERR_MEMORY,
                              "GPU %u: %zu bytes of memory are too few for a row of %zu pixels, which needs "
                              "up to %zu",
                              engine->lanes[i].device, budgets[i], width, row);
        }
    }
    for (uint32_t i = 0; i < engine->n_lanes && status == SLC_OK; i++) {
        const size_t usual = wanted > batch_bytes ? wanted : batch_bytes;
        status = reserve_block(&engine->lanes[i], usual < budgets[i] ? usual : budgets[i], row, error);
        const size_t size = engine->lanes[i].block.size;
        smallest = size < smallest ? size : smallest;
    }
    status = status == SLC_OK ? reserve_spare(engine, width, height, error) : status;
    if (status == SLC_OK && (engine->n_lanes > 1 || wanted > smallest)) {
        const size_t most = worst_height(engine, width, share, smallest);
        if (most == 0 && engine->algorithm->labels) { /* strips take a table as well */
            status = slc_fail(error, SLC_ERR_MEMORY,
                              "GPU %u: %zu bytes of memory are too few for a strip of one row of %zu pixels",
                              engine->lanes[0].device, smallest, width);
        } else {
            status = slc_image_cuda_strips_reserve(engine, width, height, most, error);
        }
    }
    if (status == SLC_OK) {
        engine->width = width;
        engine->height = height;
    }
    return status;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

const struct slc_image_cuda_calls slc_image_cuda_calls = {
    slc_image_cuda_open,      slc_image_cuda_close,      slc_image_cuda_reserve,      slc_image_cuda_run,
    slc_image_cuda_run_batch, slc_image_cuda_task_bound, slc_image_cuda_task_enqueue, slc_image_cuda_time};
