/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: which way pixels take to the algorithm, where everything lies in a lane's block, and the kernels in
 * their order. Pixels are read where they are wherever the algorithm can; else they are packed first.
 */
#include "image/cuda/image_cuda_plan.h"

#include "base/block.h"
#include "base/columns.h"
#include "image/cuda/image_cuda_stages.h"
#include "image/image_level.h"

#include <string.h>

enum { ALIGN = 256, ROW_ALIGN = 64 };
/* What algorithms make by themselves. */
static const uint32_t made = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;

static size_t row_pitch(slc_image_type type, size_t width)
{
    return slc_image_plus(slc_image_row_bytes(type, width), ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
}

/* ---- pixels -------------------------------------------------------------------------------------------- */

/* As a task for the stages; where they are to be copied to, *copy is set. */
static slc_image_cuda_task lay_pixels(const slc_image_cuda_wish *wish, const slc_image_cuda_pixels *pixels,
                                      slc_arena *c, void **copy)
{
    slc_image_cuda_task task = {.pixels = pixels->at,
                                .stride = pixels->stride,
                                .image_stride = pixels->image_stride,
                                .type = pixels->type,
                                .width = wish->width,
                                .height = wish->height,
                                .images = wish->images};
    if (pixels->at == NULL) {
        const size_t pitch = row_pitch(pixels->type, wish->width);
        task.stride = (ptrdiff_t)pitch;
        task.image_stride = pitch * wish->height;
        task.pixels = *copy = slc_arena_take(c, slc_image_times(wish->height, wish->images), pitch);
    }
    return task;
}

/* Points the job at pixels in a form that the algorithm can read. */
static void lay_packed(const slc_image_cuda_algorithm *algorithm, double threshold,
                       const slc_image_cuda_wish *wish, slc_arena *c, slc_image_cuda_plan *plan)
{
    slc_image_cuda_job *job = &plan->job;
    const slc_image_type type = wish->pixels.type;
    const slc_image_level level = slc_image_level_of(type, threshold);
    const bool any = algorithm->any_pixels;
    const bool plain = type == SLC_IMAGE_U8 && !level.none && level.level == 1 && !wish->inverse;
    const bool bytes = type == SLC_IMAGE_U8 && (level.none || level.level > 0);
    const size_t rows = slc_image_times(wish->height, wish->images);
    job->threshold = level.none ? 256 : level.level;
    job->bits = any && !bytes;
    job->inverse = wish->inverse;
    if (plain || (any && (bytes || type == SLC_IMAGE_BITS))) {
        plan->pack = SLC_IMAGE_CUDA_PACK_NONE;
        job->pixels = plan->pixels.pixels;
        job->stride = plan->pixels.stride;
        job->image_stride = plan->pixels.image_stride;
        return;
    }
    plan->pack = any ? SLC_IMAGE_CUDA_PACK_BITS : SLC_IMAGE_CUDA_PACK_BYTES;
    const size_t row = any ? slc_image_cuda_units_x(job->width) * sizeof(uint64_t) : wish->width;
    job->bits = any;
    job->threshold = 1;
    job->inverse = false; /* packing has seen to it */
    job->pixels = plan->packed = slc_arena_take(c, rows, row);
    job->stride = (ptrdiff_t)row;
    job->image_stride = row * wish->height;
}

/* ---- outputs ------------------------------------------------------------------------------------------- */

static void lay_labels(const slc_image_cuda_wish *wish, slc_arena *c, slc_image_cuda_plan *plan)
{
    slc_image_cuda_job *job = &plan->job;
    const size_t rows = slc_image_times(wish->height, wish->images);
    if (wish->has_labels && wish->labels == NULL) {
        /* Long rows begin where a GPU's memory transactions do; short ones go to the host without gaps. */
        const size_t row = wish->width * sizeof(uint32_t),
                     aligned = (row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
        const size_t pitch = row >= 4096 ? aligned : row;
        job->labels = slc_arena_take(c, rows, pitch);
        job->label_stride = (ptrdiff_t)pitch;
        job->label_image_stride = pitch * wish->height;
    } else if (wish->has_labels) {
        job->labels = wish->labels;
        job->label_stride = wish->label_stride;
        job->label_image_stride = wish->label_image_stride;
    }
    plan->narrow = wish->narrow ? slc_arena_take(c, slc_image_times(rows, wish->width), sizeof(uint16_t))
                                : NULL;
}

static void lay_columns(const slc_image_cuda_wish *wish, slc_arena *c, slc_image_cuda_plan *plan)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(wish->features | made, columns);
    slc_image_components *to = &plan->columns;
    plan->job.has_features = wish->has_columns;
    for (size_t i = 0; i < schema.n_columns && wish->has_columns; i++) {
        void *given = *slc_column_pointer((void *)&wish->columns, &columns[i]);
        *slc_column_pointer(to, &columns[i]) =
            given != NULL ? given : slc_arena_take(c, wish->rows, slc_type_size(columns[i].type));
    }
    to->head.capacity = wish->rows;
    plan->job.columns = (slc_image_cuda_columns){.area = to->area,
                                                 .sum_x = to->sum_x,
                                                 .sum_y = to->sum_y,
                                                 .x_min = to->x_min,
                                                 .y_min = to->y_min,
                                                 .x_max = to->x_max,
                                                 .y_max = to->y_max,
                                                 .first_x = to->first_x,
                                                 .first_y = to->first_y};
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool wants_extra(const slc_image_cuda_wish *wish)
{
    return wish->has_columns && (wish->features & ~made) != 0;
}

/* One piece for all, as they work one after the other. */
static size_t work_bytes(const slc_image_cuda_algorithm *algorithm, const slc_image_cuda_wish *wish,
                         const slc_image_cuda_job *job)
{
    size_t bytes = algorithm->work_bound(job);
    if (wish->filters) {
        bytes = larger(bytes, slc_image_cuda_filter_bound(job, wish->rows));
    }
    return wants_extra(wish) ? larger(bytes, slc_image_cuda_extra_bound(job, wish->features, wish->rows))
                             : bytes;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

void slc_image_cuda_plan_make(const slc_image_cuda_algorithm *algorithm, const slc_image_label_config *config,
                              const slc_image_cuda_wish *wish, void *block, slc_image_cuda_plan *plan)
{
    *plan = (slc_image_cuda_plan){.bytes = SIZE_MAX};
    const size_t across = (wish->width + 63) / 64 * 64;
    const size_t padded = slc_image_times(slc_image_times(across, wish->height), wish->images);
    if (wish->width > UINT32_MAX || padded > UINT32_MAX) {
        return;
    }
    slc_arena c = {.at = block, .align = ALIGN};
    slc_image_cuda_job *job = &plan->job;
    *job = (slc_image_cuda_job){.width = (uint32_t)wish->width,
                                .height = (uint32_t)wish->height,
                                .images = (uint32_t)wish->images,
                                .connectivity = wish->connectivity,
                                .limit = wish->limit,
                                .multiprocessors = wish->multiprocessors,
                                .raw = wish->raw};
    plan->pixels = lay_pixels(wish, &wish->pixels, &c, &plan->copy);
    if ((wish->features & SLC_IMAGE_GREY) != 0) {
        plan->grey = wish->shares_pixels ? plan->pixels : lay_pixels(wish, &wish->grey, &c, &plan->grey_copy);
    }
    lay_packed(algorithm, config->threshold, wish, &c, plan);
    lay_labels(wish, &c, plan);
    lay_columns(wish, &c, plan);
    job->first = wish->first != NULL ? wish->first : slc_arena_take(&c, wish->images + 1, sizeof(uint32_t));
    plan->table = wish->table > 0 ? slc_arena_take(&c, wish->table, sizeof(uint32_t)) : NULL;
    job->work = slc_arena_take(&c, work_bytes(algorithm, wish, job), 1);
    plan->bytes = c.used;
}

slc_status slc_image_cuda_plan_check(const slc_image_cuda_algorithm *algorithm,
                                     const slc_image_cuda_wish *wish, slc_error *error)
{
    if (wish->has_labels && !algorithm->labels) {
        return slc_fail(
            error, SLC_ERR_UNSUPPORTED, "algorithm %s makes features, and no label image%s", algorithm->name,
            wish->labels == NULL && wants_extra(wish) ? ", which other features are made from" : "");
    }
    if (wish->has_columns && !algorithm->features) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "algorithm %s makes labels, and no features%s",
                        algorithm->name, wish->filters ? ", which components are filtered by" : "");
    }
    return SLC_OK;
}

static slc_status pack(const slc_image_label_config *config, const slc_image_cuda_wish *wish,
                       const slc_image_cuda_plan *plan, struct CUstream_st *stream, slc_error *error)
{
    switch (plan->pack) {
    case SLC_IMAGE_CUDA_PACK_BITS:
        return slc_image_cuda_pack_bits(&plan->pixels, config->threshold, wish->inverse, plan->packed, stream,
                                        error);
    case SLC_IMAGE_CUDA_PACK_BYTES:
        return slc_image_cuda_pack_bytes(&plan->pixels, config->threshold, wish->inverse, plan->packed,
                                         stream, error);
    default:
        return SLC_OK;
    }
}

slc_status slc_image_cuda_plan_enqueue(const slc_image_cuda_algorithm *algorithm,
                                       const slc_image_label_config *config, const slc_image_cuda_wish *wish,
                                       slc_image_cuda_plan *plan, struct CUstream_st *stream,
                                       slc_error *error)
{
    const slc_image_cuda_job *job = &plan->job;
    plan->job.stream = stream;
    slc_status status = pack(config, wish, plan, stream, error);
    status = status == SLC_OK ? algorithm->launch(job, error) : status;
    if (status == SLC_OK && wish->filters) {
        status = slc_image_cuda_filter(job, config, wish->rows, job->work, error);
    }
    if (status == SLC_OK && wants_extra(wish)) {
        const bool grey = (wish->features & SLC_IMAGE_GREY) != 0;
        status = slc_image_cuda_extra(job, wish->features, grey ? &plan->grey : NULL, &plan->columns,
                                      job->work, error);
    }
    if (status == SLC_OK && plan->narrow != NULL) {
        const size_t row = wish->width * sizeof(uint16_t);
        status = slc_image_cuda_narrow(job, plan->narrow, (ptrdiff_t)row, row * wish->height, error);
    }
    return status;
}
