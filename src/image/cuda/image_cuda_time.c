/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the kernels alone, by the device's clock: the image is on the device, all kernels of a run
 * are one graph. Before each run other memory is written, so that nothing of the image is in the caches.
 */
#include "image/cuda/image_cuda_plan.h"
#include "image/image_check.h"

#include <string.h>

/* What is timed, as a job whose outputs are imagined: they are made in the lane's block. */
typedef struct imagined {
    slc_image_components components;
    slc_image_labels out;
    slc_image_job job;
} imagined;

static slc_status imagine(const slc_image_cuda *engine, const slc_image *image,
                          const slc_image_cuda_timing *timing, imagined *i, slc_image_cuda_wish *wish,
                          slc_error *error)
{
    const slc_image_label_config *config = &engine->config;
    const bool columns = !timing->labels || config->features != 0;
    memset(i, 0, sizeof *i);
    i->out.labels = timing->labels ? i : NULL; /* wanted, and not looked at */
    i->out.type = SLC_TYPE_U32;
    i->out.components = columns ? &i->components : NULL;
    i->job = (slc_image_job){.config = config,
                             .connectivity = config->connectivity,
                             .image = image,
                             .grey = image,
                             .out = &i->out};
    slc_image_cuda_places places;
    const slc_status status = slc_image_cuda_places_of(engine, &i->job, &places, error);
    if (status != SLC_OK) {
        return status;
    }
    places.labels = false;
    slc_image_cuda_wish_begin(engine, &i->job, &places, wish);
    wish->has_columns = wish->has_columns || columns;
    wish->has_labels = timing->labels || slc_image_cuda_wants_more(&i->job);
    wish->raw = timing->raw;
    wish->filters = wish->filters && !timing->raw;
    slc_image_cuda_wish_end(wish, UINT64_MAX);
    return slc_image_cuda_plan_check(engine->algorithm, wish, error);
}

/* Room in the block, beyond what was reserved where the configuration lets it. */
static slc_status make_room(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                            const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan, slc_error *error)
{
    const size_t most = engine->config.device_memory;
    slc_image_cuda_plan_make(engine->algorithm, &engine->config, wish, NULL, plan);
    if (plan->bytes == SIZE_MAX || (most > 0 && plan->bytes > most)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%zu x %zu pixels are too large to be timed in one piece by algorithm %s",
                        wish->width, wish->height, engine->algorithm->name);
    }
    slc_status status = SLC_OK;
    if (plan->bytes > lane->block.size) {
        slc_image_cuda_lane_forget(lane);
        status = slc_cuda_memory_reserve(lane->stream, &lane->block, plan->bytes, "timing images", error);
    }
    slc_image_cuda_plan_make(engine->algorithm, &engine->config, wish, lane->block.at, plan);
    return status;
}

static slc_status open_events(slc_image_cuda_lane *lane, slc_error *error)
{
    slc_status status = SLC_OK;
    if (lane->began == NULL) {
        status = slc_cuda_event_open(lane->stream, &lane->began, error);
    }
    if (status == SLC_OK && lane->ended == NULL) {
        status = slc_cuda_event_open(lane->stream, &lane->ended, error);
    }
    return status;
}

static slc_status enqueue(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                          const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan, slc_error *error)
{
    return slc_image_cuda_plan_enqueue(engine->algorithm, &engine->config, wish, plan,
                                       slc_cuda_stream_native(lane->stream), error);
}

/* Once outside of a recording, for the kernels to be loaded, then as a recording. */
static slc_status record(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                         const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan, slc_cuda_graph *graph,
                         slc_error *error)
{
    slc_status status = enqueue(engine, lane, wish, plan, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(lane->stream, error) : status;
    status = status == SLC_OK ? slc_cuda_graph_begin(lane->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = enqueue(engine, lane, wish, plan, error);
    return slc_cuda_graph_end(lane->stream, graph, status, error);
}

static slc_status repeat(slc_image_cuda_lane *lane, const slc_cuda_graph *graph,
                         const slc_image_cuda_timing *timing, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < timing->repetitions && status == SLC_OK; i++) {
        status = slc_cuda_fill(lane->stream, lane->flush.at, (int)(i % 256), timing->flush_bytes, error);
        status = status == SLC_OK ? slc_cuda_event_record(lane->stream, lane->began, error) : status;
        status = status == SLC_OK ? slc_cuda_graph_launch(lane->stream, graph, error) : status;
        status = status == SLC_OK ? slc_cuda_event_record(lane->stream, lane->ended, error) : status;
        status = status == SLC_OK
                     ? slc_cuda_event_seconds(lane->began, lane->ended, &timing->seconds[i], error)
                     : status;
    }
    return status;
}

slc_status slc_image_cuda_time(slc_image_cuda *engine, const slc_image *image, slc_image_cuda_timing *timing,
                               slc_error *error)
{
    slc_image_cuda_lane *lane = engine->lanes;
    imagined i;
    slc_image_cuda_wish wish;
    slc_image_cuda_plan plan;
    slc_cuda_graph graph = {.exec = NULL};
    slc_status status = slc_image_check("image", image, error);
    if (status == SLC_OK && engine->n_lanes != 1) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "timing: one GPU is timed, and there are %u",
                          engine->n_lanes);
    }
    status = status == SLC_OK ? slc_cuda_stream_use(lane->stream, error) : status;
    status = status == SLC_OK ? imagine(engine, image, timing, &i, &wish, error) : status;
    status = status == SLC_OK ? make_room(engine, lane, &wish, &plan, error) : status;
    status = status == SLC_OK ? open_events(lane, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(lane->stream, &lane->flush, timing->flush_bytes,
                                         "emptying the caches", error);
    }
    if (status != SLC_OK) {
        return status;
    }
    /* What a kernel does not write is found later as what it is not. */
    status = slc_cuda_fill(lane->stream, lane->block.at, 0xa5, plan.bytes, error);
    status = status == SLC_OK ? slc_cuda_fill(lane->stream, plan.job.first, 0, 2 * sizeof(uint32_t), error)
                              : status;
    status = status == SLC_OK ? slc_image_cuda_send(lane, &plan, &i.job, error) : status;
    status = status == SLC_OK ? record(engine, lane, &wish, &plan, &graph, error) : status;
    timing->launches = graph.kernels;
    status = status == SLC_OK ? repeat(lane, &graph, timing, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_to_host(lane->stream, lane->first_host.at, plan.job.first, 2 * sizeof(uint32_t),
                                  error);
    }
    const slc_status waited = slc_cuda_stream_wait(lane->stream, status == SLC_OK ? error : NULL);
    status = status == SLC_OK ? waited : status;
    timing->n_labels = status == SLC_OK ? ((const uint32_t *)lane->first_host.at)[1] : 0;
    slc_cuda_graph_clear(&graph);
    return status;
}
