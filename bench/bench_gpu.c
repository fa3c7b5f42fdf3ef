/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures a GPU itself: the kernels of cuda_measure.h, copies and fills. Each run follows a fill of other
 * memory in the same stream, so that the device does not wait for the host when the clock starts, and finds
 * nothing in its caches. The median of the runs counts.
 */
#include "cuda/cuda_engines.h"
#include "cuda/cuda_measure.h"
#include "cuda/cuda_stream.h"

#include "bench/bench_gpu.h"
#include <sluice/cuda.h>

#include <stdio.h>
#include <stdlib.h>

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cuda_stream_calls *cuda(void)
{
    return slc_cuda_engines_of(NULL)->stream;
}

static const struct slc_cuda_measure_calls *measure(void)
{
    return slc_cuda_engines_of(NULL)->measure;
}

/* Memory for a test of strides, for one of speed, and what is written to clear the caches: no more than
 * these, and no more than a quarter, a 64th and a 64th of the device's. */
static const size_t most_room = (size_t)8 << 30, most_bytes = (size_t)1 << 30, most_flush = (size_t)256 << 20;

typedef struct gpu {
    uint32_t number, repetitions, multiprocessors, sequence;
    slc_cuda_device device;
    slc_cuda_stream *stream;
    slc_cuda_event *began, *ended;
    slc_cuda_memory memory, flush, host, sink;
    slc_error *error;
} gpu;

/* What is timed: one of these calls, with these numbers. */
typedef struct work {
    slc_status (*launch)(const gpu *g, const struct work *w);
    uint32_t element_bytes, stride, blocks, rounds, words;
    size_t n;
} work;

typedef struct timed {
    gpu *g;
    const work *w;
} timed;

static struct CUstream_st *stream_of(const gpu *g)
{
    return cuda()->stream_native(g->stream);
}

/* ---- the clock --------------------------------------------------------------------------------- */

static slc_status run(void *self, double *seconds, slc_error *error)
{
    const timed *t = self;
    gpu *g = t->g;
    slc_status status = cuda()->fill(g->stream, g->flush.at, (int)(g->sequence++ & 255), g->flush.size,
                                     error);
    status = status == SLC_OK ? cuda()->event_record(g->stream, g->began, error) : status;
    status = status == SLC_OK ? t->w->launch(g, t->w) : status;
    status = status == SLC_OK ? cuda()->event_record(g->stream, g->ended, error) : status;
    return status == SLC_OK ? cuda()->event_seconds(g->began, g->ended, seconds, error) : status;
}

/* One run that is not counted, then the others. */
static slc_status time_work(gpu *g, const work *w, slc_bench_time *time)
{
    timed t = {g, w};
    const slc_bench_plan plan = {.repetitions = g->repetitions, .rounds = 1};
    slc_bench_contestant c = {.self = &t, .run = run};
    const slc_status status = slc_bench_measure(&plan, &c, 1, g->error);
    *time = c.time[0];
    return status == SLC_OK ? cuda()->stream_wait(g->stream, g->error) : status; /* errors of kernels */
}

/* ---- what is timed ----------------------------------------------------------------------------- */

static slc_status run_read(const gpu *g, const work *w)
{
    return measure()->read(g->memory.at, w->n, g->sink.at, g->multiprocessors, stream_of(g), g->error);
}

static slc_status run_write(const gpu *g, const work *w)
{
    return cuda()->fill(g->stream, g->memory.at, 1, w->n, g->error);
}

static slc_status run_copy(const gpu *g, const work *w)
{
    return measure()->copy((char *)g->memory.at + w->n, g->memory.at, w->n, stream_of(g), g->error);
}

/* Pixels after the label image. */
static slc_status run_widen(const gpu *g, const work *w)
{
    return measure()->widen(g->memory.at, (const uint8_t *)g->memory.at + 4 * w->n, w->n, g->multiprocessors,
                            stream_of(g), g->error);
}

static slc_status run_to_device(const gpu *g, const work *w)
{
    return cuda()->to_device(g->stream, g->memory.at, g->host.at, w->n, g->error);
}

static slc_status run_to_host(const gpu *g, const work *w)
{
    return cuda()->to_host(g->stream, g->host.at, g->memory.at, w->n, g->error);
}

static slc_status run_stride(const gpu *g, const work *w)
{
    return measure()->stride(g->memory.at, w->element_bytes, w->n, w->stride, stream_of(g), g->error);
}

static slc_status run_copied(const gpu *g, const work *w)
{
    return measure()->banks_copied(g->memory.at, w->element_bytes, w->n, w->stride, stream_of(g), g->error);
}

static slc_status run_shared(const gpu *g, const work *w)
{
    return measure()->banks(g->sink.at, w->element_bytes, w->blocks, w->stride, w->rounds, stream_of(g),
                            g->error);
}

static slc_status run_atomics(const gpu *g, const work *w)
{
    return measure()->atomics(g->memory.at, w->element_bytes, w->words, w->stride, w->blocks, w->rounds,
                              stream_of(g), g->error);
}

/* ---- opening ----------------------------------------------------------------------------------- */

static void close_gpu(gpu *g)
{
    if (g->stream != NULL) { /* without it there is nothing else */
        cuda()->memory_clear(&g->memory);
        cuda()->memory_clear(&g->flush);
        cuda()->memory_clear(&g->host);
        cuda()->memory_clear(&g->sink);
        cuda()->event_close(g->began);
        cuda()->event_close(g->ended);
        cuda()->stream_close(g->stream);
    }
}

/* A part of the device's memory, in whole pages. */
static size_t share_of(const gpu *g, size_t part, size_t most)
{
    const size_t share = g->device.memory_bytes / part;
    return (share < most ? share : most) & ~(size_t)4095;
}

static slc_status open_gpu(gpu *g, const char *device)
{
    if (g->repetitions == 0) {
        return slc_fail(g->error, SLC_ERR_USAGE, "no repetitions to measure a GPU");
    }
    slc_status status = slc_cuda_choose(device, &g->number, g->error);
    status = status == SLC_OK ? slc_cuda_device_of(g->number, &g->device, g->error) : status;
    status = status == SLC_OK ? cuda()->stream_open(g->number, &g->stream, g->error) : status;
    status = status == SLC_OK ? cuda()->event_open(g->stream, &g->began, g->error) : status;
    status = status == SLC_OK ? cuda()->event_open(g->stream, &g->ended, g->error) : status;
    if (status == SLC_OK) {
        status = cuda()->memory_reserve(g->stream, &g->flush, share_of(g, 64, most_flush), "measuring",
                                        g->error);
    }
    if (status == SLC_OK) {
        status = cuda()->memory_reserve(g->stream, &g->sink, sizeof(uint32_t), "measuring", g->error);
    }
    if (status != SLC_OK) {
        return status;
    }
    g->multiprocessors = cuda()->stream_multiprocessors(g->stream);
    return SLC_OK;
}

/* Memory for a test, all of it written: what nobody has written may be on no page. */
static slc_status take(gpu *g, size_t bytes)
{
    const slc_status status = cuda()->memory_reserve(g->stream, &g->memory, bytes, "measuring", g->error);
    return status == SLC_OK ? cuda()->fill(g->stream, g->memory.at, 1, bytes, g->error) : status;
}

/* ---- memory and copies ------------------------------------------------------------------------- */

static slc_status measure_speed(gpu *g, slc_bench_gpu_speed *speed)
{
    const size_t bytes = share_of(g, 64, most_bytes);
    const size_t pixels = bytes / 4, host = bytes / 4;
    slc_bench_time seconds[6];
    const work works[] = {{.launch = run_read, .n = bytes},     {.launch = run_write, .n = bytes},
                          {.launch = run_copy, .n = bytes},     {.launch = run_widen, .n = pixels},
                          {.launch = run_to_device, .n = host}, {.launch = run_to_host, .n = host}};
    slc_status status = take(g, 2 * bytes);
    if (status == SLC_OK) {
        status = cuda()->pinned_reserve(g->stream, &g->host, host, "measuring copies", g->error);
    }
    for (size_t i = 0; i < sizeof works / sizeof *works && status == SLC_OK; i++) {
        status = time_work(g, &works[i], &seconds[i]);
    }
    if (status == SLC_OK) {
        speed->read = (double)bytes / seconds[0].median;
        speed->write = (double)bytes / seconds[1].median;
        speed->copy = 2 * (double)bytes / seconds[2].median;
        speed->widen = (double)pixels / seconds[3].median;
        speed->to_device = (double)host / seconds[4].median;
        speed->to_host = (double)host / seconds[5].median;
    }
    return status;
}

slc_status slc_bench_gpu_speed_of(const char *device, uint32_t repetitions, slc_bench_gpu_speed *speed,
                                  slc_error *error)
{
    gpu g = {.repetitions = repetitions, .error = error};
    *speed = (slc_bench_gpu_speed){0};
    slc_status status = open_gpu(&g, device);
    if (status == SLC_OK) {
        (void)snprintf(speed->name, sizeof speed->name, "%s", g.device.name);
        speed->multiprocessors = g.multiprocessors;
        speed->memory_bytes = g.device.memory_bytes;
        speed->data_sheet = g.device.memory_bytes_per_second;
        status = measure_speed(&g, speed);
    }
    close_gpu(&g);
    return status;
}

/* ---- strides and atomics ----------------------------------------------------------------------- */

typedef struct visitor {
    bool (*visit)(void *context, const slc_bench_gpu_row *row);
    void *context;
} visitor;

static slc_status add_row(gpu *g, const work *w, slc_bench_gpu_row row, const visitor *to)
{
    slc_bench_time time;
    const slc_status status = time_work(g, w, &time);
    row.median_s = time.median;
    row.minimum_s = time.minimum;
    return status != SLC_OK ? status : to->visit(to->context, &row) ? SLC_OK : SLC_END;
}

/* Steps of one to the width of a warp, and some beyond. */
static uint32_t stride_at(uint32_t i)
{
    static const uint32_t beyond[] = {33, 40, 48, 64};
    return i < 32 ? i + 1 : i < 32 + sizeof beyond / sizeof *beyond ? beyond[i - 32] : 0;
}
enum { LARGEST_STRIDE = 64 };

/* 128 MiB of elements, more than caches hold, or what fits into the room at the largest stride. */
static slc_status bench_global(gpu *g, const visitor *to)
{
    static const uint32_t sizes[] = {1, 4, 8, 16};
    const size_t room = share_of(g, 4, most_room), wanted = (size_t)128 << 20;
    const size_t bytes = room / LARGEST_STRIDE < wanted ? room / LARGEST_STRIDE : wanted;
    slc_status status = take(g, bytes * LARGEST_STRIDE);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && status == SLC_OK; s++) {
        for (uint32_t i = 0; stride_at(i) > 0 && status == SLC_OK; i++) {
            const work w = {.launch = run_stride,
                            .element_bytes = sizes[s],
                            .stride = stride_at(i),
                            .n = bytes / sizes[s]};
            const slc_bench_gpu_row row = {.test = SLC_BENCH_GPU_STRIDE_GLOBAL,
                                           .element_bytes = w.element_bytes,
                                           .stride = w.stride,
                                           .operations = (double)w.n,
                                           .bytes = 2.0 * (double)w.n * w.element_bytes};
            status = add_row(g, &w, row, to);
        }
    }
    return status;
}

/* With the first copy a byte is read and written in global memory; without it, read in shared memory. */
static slc_status bench_banks(gpu *g, slc_bench_gpu_test test, const visitor *to)
{
    enum { ROUNDS = 256 };
    static const uint32_t sizes[] = {4, 8};
    const bool copied = test == SLC_BENCH_GPU_STRIDE_COPIED;
    const size_t bytes = (size_t)128 << 20;
    slc_status status = SLC_OK;
    if (copied) {
        status = take(g, bytes);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && status == SLC_OK; s++) {
        for (uint32_t i = 0; stride_at(i) > 0 && status == SLC_OK; i++) {
            work w = {.launch = copied ? run_copied : run_shared,
                      .element_bytes = sizes[s],
                      .stride = stride_at(i),
                      .blocks = 8 * g->multiprocessors,
                      .rounds = ROUNDS,
                      .n = bytes / sizes[s]};
            const double taken = copied ? (double)w.n : 4.0 * ROUNDS * w.blocks * SLC_CUDA_MEASURE_THREADS;
            const slc_bench_gpu_row row = {.test = test,
                                           .element_bytes = w.element_bytes,
                                           .stride = w.stride,
                                           .operations = taken,
                                           .bytes = (copied ? 2 : 1) * taken * w.element_bytes};
            status = add_row(g, &w, row, to);
        }
    }
    return status;
}

/* One word; the words of one line of 128 bytes; a line's first words, all over a table; all words of a table
 * in order. Additions that wait for each other are fewer, so that none takes longer than some milliseconds.
 */
static slc_status bench_atomics(gpu *g, const visitor *to)
{
    static const uint32_t sizes[] = {4, 8};
    const size_t table = (size_t)8 << 20;
    slc_status status = take(g, table);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && status == SLC_OK; s++) {
        const uint32_t line = 128 / sizes[s], all = (uint32_t)(table / sizes[s]);
        const work works[] = {{.stride = 0, .words = 1, .rounds = 16},
                              {.stride = 1, .words = line, .rounds = 16},
                              {.stride = line, .words = all, .rounds = 256},
                              {.stride = 1, .words = all, .rounds = 256}};
        for (size_t i = 0; i < sizeof works / sizeof *works && status == SLC_OK; i++) {
            work w = works[i];
            w.launch = run_atomics;
            w.element_bytes = sizes[s];
            w.blocks = 8 * g->multiprocessors;
            const slc_bench_gpu_row row = {.test = SLC_BENCH_GPU_ATOMICS,
                                           .element_bytes = w.element_bytes,
                                           .stride = w.stride,
                                           .words = w.stride > 0 ? w.words / w.stride : 1,
                                           .operations = (double)w.blocks * SLC_CUDA_MEASURE_THREADS *
                                                         w.rounds};
            status = add_row(g, &w, row, to);
        }
    }
    return status;
}

slc_status slc_bench_gpu_measure(const char *device, uint32_t tests, uint32_t repetitions,
                                 bool (*visit)(void *context, const slc_bench_gpu_row *row), void *context,
                                 slc_error *error)
{
    gpu g = {.repetitions = repetitions, .error = error};
    const visitor to = {visit, context};
    slc_status status = open_gpu(&g, device);
    if (status == SLC_OK && (tests & 1U << SLC_BENCH_GPU_STRIDE_GLOBAL) != 0) {
        status = bench_global(&g, &to);
    }
    if (status == SLC_OK && (tests & 1U << SLC_BENCH_GPU_STRIDE_COPIED) != 0) {
        status = bench_banks(&g, SLC_BENCH_GPU_STRIDE_COPIED, &to);
    }
    if (status == SLC_OK && (tests & 1U << SLC_BENCH_GPU_STRIDE_SHARED) != 0) {
        status = bench_banks(&g, SLC_BENCH_GPU_STRIDE_SHARED, &to);
    }
    if (status == SLC_OK && (tests & 1U << SLC_BENCH_GPU_ATOMICS) != 0) {
        status = bench_atomics(&g, &to);
    }
    close_gpu(&g);
    return status;
}
