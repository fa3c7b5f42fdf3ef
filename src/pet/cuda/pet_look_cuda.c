/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over lines on a GPU: what is needed goes there once, iterations stay there, and the image comes back.
 */
#include "pet/cuda/pet_look_cuda.h"

#include "cuda/cuda_rows.h"
#include "cuda/cuda_stream.h"

#include <stdlib.h>

struct slc_pet_look_cuda {
    slc_cuda_stream *stream;
    slc_cuda_rows *copies;
    slc_cuda_memory at, looks, gauss, events, sum, image, sensitivity, missed;
    slc_pet_look_job job;
};

static void gpu_close(slc_pet_look_cuda *g)
{
    if (g == NULL) {
        return;
    }
    slc_cuda_memory *const all[] = {&g->at,  &g->looks, &g->gauss,       &g->events,
                                    &g->sum, &g->image, &g->sensitivity, &g->missed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    slc_cuda_rows_close(g->copies);
    slc_cuda_stream_close(g->stream);
    free(g);
}

static slc_status reserve(slc_pet_look_cuda *g, slc_error *error)
{
    const slc_pet_look_work *w = &g->job.work;
    const struct {
        slc_cuda_memory *memory;
        size_t bytes;
        const char *what;
    } all[] = {{&g->at, w->crystals * sizeof *w->at_mm, "crystals"},
               {&g->looks, w->crystals * sizeof *w->looks, "crystals"},
               {&g->gauss, SLC_PET_LOOK_TABLE * sizeof(float), "a table"},
               {&g->events, w->n * sizeof *w->event, "events"},
               {&g->sum, w->voxels * sizeof(uint64_t), "sums of voxels"},
               {&g->image, w->voxels * sizeof(float), "an image"},
               {&g->sensitivity, w->voxels * sizeof(float), "sensitivities"},
               {&g->missed, sizeof(uint64_t), "a count"}};
    slc_status status = SLC_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == SLC_OK; i++) {
        status = slc_cuda_memory_reserve(g->stream, all[i].memory, all[i].bytes, all[i].what, error);
    }
    return status;
}

static slc_status gpu_open(const slc_pet_look_work *work, uint32_t device, slc_pet_look_cuda **out,
                           slc_error *error)
{
    *out = NULL;
    slc_pet_look_cuda *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a picture");
    }
    g->job.work = *work;
    slc_status status = slc_cuda_stream_open(device, &g->stream, error);
    status = status == SLC_OK ? slc_cuda_rows_open(g->stream, 4, &g->copies, error) : status;
    status = status == SLC_OK ? reserve(g, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_send(g->copies, g->at.at, work->at_mm, work->crystals * sizeof *work->at_mm, error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_send(g->copies, g->looks.at, work->looks, work->crystals * sizeof *work->looks,
                               error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_send(g->copies, g->gauss.at, work->gauss, SLC_PET_LOOK_TABLE * sizeof(float),
                               error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_send(g->copies, g->events.at, work->event, work->n * sizeof *work->event, error);
    }
    if (status != SLC_OK) {
        gpu_close(g);
        return status;
    }
    slc_pet_look_job *job = &g->job;
    job->work.at_mm = g->at.at;
    job->work.looks = g->looks.at;
    job->work.gauss = g->gauss.at;
    job->work.event = g->events.at;
    job->sum = g->sum.at;
    job->image = g->image.at;
    job->sensitivity = g->sensitivity.at;
    job->missed = g->missed.at;
    job->stream = slc_cuda_stream_native(g->stream);
    *out = g;
    return SLC_OK;
}

/* Bytes of the device to the host's, which are there when it returns. */
static slc_status fetch(slc_pet_look_cuda *g, void *to, const void *from, size_t bytes, slc_error *error)
{
    const slc_status status = slc_cuda_fetch(g->copies, to, from, bytes, error);
    return status == SLC_OK ? slc_cuda_rows_finish(g->copies, error) : status;
}

static slc_status gpu_sensitivity(slc_pet_look_cuda *g, uint32_t lines, uint64_t *sum, slc_error *error)
{
    const size_t bytes = g->job.work.voxels * sizeof *sum;
    slc_pet_look_job whole = g->job;
    whole.work.grid.tof_mm = 0;
    slc_status status = slc_cuda_fill(g->stream, g->sum.at, 0, bytes, error);
    status = status == SLC_OK ? slc_pet_look_launch_lines(&whole, lines, error) : status;
    return status == SLC_OK ? fetch(g, sum, g->sum.at, bytes, error) : status;
}

static slc_status gpu_iterate(slc_pet_look_cuda *g, const float *sensitivity, uint32_t iterations,
                              float *image, uint64_t *missed, slc_error *error)
{
    const size_t voxels = g->job.work.voxels;
    slc_status status = slc_cuda_send(g->copies, g->sensitivity.at, sensitivity, voxels * sizeof *sensitivity,
                                      error);
    status = status == SLC_OK ? slc_pet_look_launch_next(&g->job, true, error) : status;
    for (uint32_t i = 0; (i < iterations || i == 0) && status == SLC_OK; i++) {
        status = slc_cuda_fill(g->stream, g->sum.at, 0, voxels * sizeof(uint64_t), error);
        status = status == SLC_OK ? slc_cuda_fill(g->stream, g->missed.at, 0, sizeof *missed, error) : status;
        status = status == SLC_OK ? slc_pet_look_launch_events(&g->job, iterations > 0, error) : status;
        status = status == SLC_OK ? slc_pet_look_launch_next(&g->job, false, error) : status;
    }
    status = status == SLC_OK ? fetch(g, image, g->image.at, voxels * sizeof *image, error) : status;
    return status == SLC_OK ? fetch(g, missed, g->missed.at, sizeof *missed, error) : status;
}

const struct slc_pet_look_calls slc_pet_look_calls = {gpu_open, gpu_close, gpu_sensitivity, gpu_iterate};
