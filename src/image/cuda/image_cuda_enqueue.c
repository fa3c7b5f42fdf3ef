/* SPDX-License-Identifier: Apache-2.0
 * Labelling in a stream of the caller's: a plan in the caller's working memory, and its kernels.
 */
#include "base/columns.h"
#include "image/cuda/image_cuda_plan.h"
#include "image/image_check.h"
#include "image/image_output.h"

#include <string.h>

static const uint32_t allowed = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS |
                                SLC_IMAGE_CENTROID;

/* What a task wants. `worst`: as many columns as it could. */
static void wish_of(const slc_image_cuda *engine, const slc_image_cuda_task *task, bool worst,
                    slc_image_cuda_wish *wish)
{
    const slc_image_label_config *config = &engine->config;
    const bool columns = config->features != 0 && (task->components != NULL || worst);
    memset(wish, 0, sizeof *wish);
    wish->width = task->width;
    wish->height = task->height;
    wish->images = task->images;
    wish->pixels.at = task->pixels != NULL ? task->pixels : task; /* in either case no copy is made */
    wish->pixels.stride = task->stride;
    wish->pixels.image_stride = task->image_stride;
    wish->pixels.type = task->type;
    wish->connectivity = config->connectivity;
    wish->has_columns = columns;
    wish->has_labels = task->labels != NULL;
    wish->features = columns ? slc_image_features_needed(config->features) : 0;
    if (!wish->has_columns && !wish->has_labels) { /* components are only counted */
        wish->has_labels = engine->algorithm->labels;
        wish->has_columns = !wish->has_labels;
    }
    wish->labels = task->labels;
    wish->label_stride = task->label_stride;
    wish->label_image_stride = task->label_image_stride;
    wish->first = task->first;
    wish->multiprocessors = slc_cuda_stream_multiprocessors(engine->lanes[0].stream);
    uint64_t limit = UINT64_MAX;
    if (columns && task->components != NULL) {
        slc_column asked[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(config->features, asked);
        for (size_t i = 0; i < schema.n_columns; i++) {
            *slc_column_pointer(&wish->columns, &asked[i]) = (void *)slc_column_data(task->components,
                                                                                     &asked[i]);
        }
        limit = task->components->head.capacity;
    } else if (task->components != NULL) {
        limit = task->components->head.capacity;
    }
    slc_image_cuda_wish_end(wish, limit);
}

size_t slc_image_cuda_task_bound(const slc_image_cuda *engine, const slc_image_cuda_task *task)
{
    if (task->width < 1 || task->height < 1 || task->images < 1 || task->type < 0 ||
        task->type >= SLC_IMAGE_TYPES) {
        return 0;
    }
    size_t bytes = 0;
    for (int worst = 0; worst < 2; worst++) { /* components and labels may be set after this is asked */
        slc_image_cuda_wish wish;
        slc_image_cuda_plan plan;
        wish_of(engine, task, worst == 1 && engine->algorithm->features, &wish);
        wish.first = NULL;
        if (worst == 1 && !wish.has_labels) {
            wish.has_labels = engine->algorithm->labels;
        }
        slc_image_cuda_plan_make(engine->algorithm, &engine->config, &wish, NULL, &plan);
        if (plan.bytes == SIZE_MAX) {
            return 0;
        }
        bytes = plan.bytes > bytes ? plan.bytes : bytes;
    }
    return bytes;
}

static slc_status check_strides(const slc_image_cuda_task *task, slc_error *error)
{
    const size_t align = task->type == SLC_IMAGE_BITS ? 1 : slc_image_row_bytes(task->type, 1);
    slc_status status = slc_image_check_rows("image", task->pixels, task->stride,
                                             slc_image_row_bytes(task->type, task->width), task->height,
                                             align, error);
    if (status == SLC_OK && task->images > 1 && task->image_stride % align != 0) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "images: %zu bytes apart, which is no multiple of a pixel's %zu",
                          task->image_stride, align);
    }
    if (status != SLC_OK || task->labels == NULL) {
        return status;
    }
    status = slc_image_check_rows("label image", task->labels, task->label_stride,
                                  task->width * sizeof(uint32_t), task->height, sizeof(uint32_t), error);
    if (status == SLC_OK && task->images > 1 && task->label_image_stride % sizeof(uint32_t) != 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "label images: %zu bytes apart, which is no multiple of 4",
                          task->label_image_stride);
    }
    /* They may be side by side, but never nearer than a row. */
    if (status == SLC_OK && task->images > 1 && task->label_image_stride < task->width * sizeof(uint32_t)) {
        status = slc_fail(error, SLC_ERR_USAGE, "label images: %zu bytes apart, and a row has %zu",
                          task->label_image_stride, task->width * sizeof(uint32_t));
    }
    return status;
}

static slc_status check_task(const slc_image_cuda *engine, const slc_image_cuda_task *task, slc_error *error)
{
    const slc_image_label_config *config = &engine->config;
    if (task->type < 0 || task->type >= SLC_IMAGE_TYPES) {
        return slc_fail(error, SLC_ERR_USAGE, "image: unknown type of pixels %d", (int)task->type);
    }
    if (task->images < 1) {
        return slc_fail(error, SLC_ERR_USAGE, "images: there are none");
    }
    slc_status status = slc_image_check_size("image", task->width, task->height, error);
    status = status == SLC_OK ? check_strides(task, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (task->first == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "first: no memory for the numbers of components");
    }
    if ((uintptr_t)task->first % sizeof *task->first != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "first: not aligned to its %zu bytes", sizeof *task->first);
    }
    if (slc_image_filters(config)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "components are filtered by the configuration, and not in a caller's stream");
    }
    if (task->components == NULL) {
        return SLC_OK;
    }
    if ((config->features & ~allowed) != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "features: only area, box, first, sums and centroid are made in a caller's stream");
    }
    slc_image_components components = *task->components;
    components.head.size = 0; /* not used */
    return slc_image_check_components("components", &components, config->features, error);
}

slc_status slc_image_cuda_task_enqueue(const slc_image_cuda *engine, const slc_image_cuda_task *task,
                                       void *work, size_t work_bytes, void *stream, slc_error *error)
{
    if (engine->n_lanes != 1) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "the labeller is not on one GPU");
    }
    slc_status status = check_task(engine, task, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_image_cuda_wish wish;
    slc_image_cuda_plan plan;
    wish_of(engine, task, false, &wish);
    slc_image_cuda_plan_make(engine->algorithm, &engine->config, &wish, work, &plan);
    if (plan.bytes == SIZE_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%zu images of %zu x %zu pixels are too many for one task", task->images, task->width,
                        task->height);
    }
    if (work == NULL || (uintptr_t)work % 256 != 0 || work_bytes < plan.bytes) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "work: %zu bytes at %p, and %zu on a multiple of 256 are needed", work_bytes, work,
                        plan.bytes);
    }
    status = slc_image_cuda_plan_check(engine->algorithm, &wish, error);
    status = status == SLC_OK ? slc_cuda_stream_use(engine->lanes[0].stream, error) : status;
    return status == SLC_OK
               ? slc_image_cuda_plan_enqueue(engine->algorithm, &engine->config, &wish, &plan, stream, error)
               : status;
}
