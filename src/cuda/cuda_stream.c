/* SPDX-License-Identifier: Apache-2.0
 * Streams, memory, copies, graphs and events: the runtime's calls, checked, behind types of our own. */
#include "cuda/cuda_stream.h"
#include "base/team.h"
#include "cuda/cuda_device.h"

#include <nvtx3/nvToolsExt.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct slc_cuda_stream {
    cudaStream_t native;
    cudaEvent_t asleep; /* of who sleeps until it comes */
    uint32_t device;
    uint32_t multiprocessors;
};

struct slc_cuda_event {
    cudaEvent_t native;
};

/* ---- streams ------------------------------------------------------------------------------------------- */

slc_status slc_cuda_stream_open(uint32_t device, slc_cuda_stream **stream, slc_error *error)
{
    *stream = NULL;
    slc_cuda_device properties;
    slc_status status = slc_cuda_device_of(device, &properties, error);
    status = status == SLC_OK ? slc_cuda_use(device, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_stream *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a CUDA stream");
    }
    opened->device = device;
    opened->multiprocessors = properties.multiprocessors;
    /* It does not wait for the default stream, which nobody uses. */
    status = slc_cuda_check(cudaStreamCreateWithFlags(&opened->native, cudaStreamNonBlocking),
                            "opening a stream", error);
    if (status != SLC_OK) {
        free(opened);
        return status;
    }
    slc_cuda_blocks_count(true, device);
    status = slc_cuda_check(
        cudaEventCreateWithFlags(&opened->asleep, cudaEventBlockingSync | cudaEventDisableTiming),
        "opening an event", error);
    if (status != SLC_OK) {
        slc_cuda_stream_close(opened);
        return status;
    }
    *stream = opened;
    return SLC_OK;
}

void slc_cuda_stream_close(slc_cuda_stream *stream)
{
    if (stream != NULL) {
        (void)cudaSetDevice((int)stream->device);
        (void)cudaStreamSynchronize(stream->native);
        if (stream->asleep != NULL) {
            (void)cudaEventDestroy(stream->asleep);
        }
        (void)cudaStreamDestroy(stream->native);
        slc_cuda_blocks_count(false, stream->device);
        free(stream);
    }
}

void *slc_cuda_stream_native(const slc_cuda_stream *stream)
{
    return stream->native;
}

uint32_t slc_cuda_stream_multiprocessors(const slc_cuda_stream *stream)
{
    return stream->multiprocessors;
}

slc_status slc_cuda_stream_use(const slc_cuda_stream *stream, slc_error *error)
{
    return slc_cuda_use(stream->device, error);
}

/* Threads that wait. Who spins goes on at once, and takes a processor from who reads files or packs batches;
 * to be woken takes some ten microseconds. */
static atomic_uint waiting;

static cudaError_t sleep_until_done(const slc_cuda_stream *stream)
{
    const cudaError_t code = cudaEventRecord(stream->asleep, stream->native);
    return code == cudaSuccess ? cudaEventSynchronize(stream->asleep) : code;
}

slc_status slc_cuda_stream_wait(slc_cuda_stream *stream, slc_error *error)
{
    const bool spins = atomic_fetch_add(&waiting, 1) < slc_team_processors() / 4 + 1;
    const cudaError_t code = spins ? cudaStreamSynchronize(stream->native) : sleep_until_done(stream);
    atomic_fetch_sub(&waiting, 1);
    return slc_cuda_check(code, "waiting for a stream", error);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static slc_status reserve(slc_cuda_stream *stream, slc_cuda_memory *memory, size_t bytes, const char *what,
                          bool host, slc_error *error)
{
    if (memory->at != NULL && bytes <= memory->size) {
        return SLC_OK;
    }
    const slc_status status = slc_cuda_use(stream->device, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_memory_clear(memory);
    const size_t wanted = bytes > 0 ? bytes : 1;
    const cudaError_t code = host ? cudaHostAlloc(&memory->at, wanted, cudaHostAllocDefault)
                                  : cudaMalloc(&memory->at, wanted);
    if (code != cudaSuccess) {
        memory->at = NULL;
    }
    if (code == cudaErrorMemoryAllocation) {
        size_t free_bytes = 0, all = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&free_bytes, &all);
        return slc_fail(error, SLC_ERR_MEMORY,
                        host ? "no %zu MiB of page-locked memory for %s"
                             : "no %zu MiB on the GPU for %s: %zu MiB of %zu are free",
                        wanted >> 20, what, free_bytes >> 20, all >> 20);
    }
    if (code == cudaSuccess) {
        memory->size = wanted;
        memory->host = host;
    }
    return slc_cuda_check(code, what, error);
}

slc_status slc_cuda_memory_reserve(slc_cuda_stream *stream, slc_cuda_memory *memory, size_t bytes,
                                   const char *what, slc_error *error)
{
    return reserve(stream, memory, bytes, what, false, error);
}

slc_status slc_cuda_pinned_reserve(slc_cuda_stream *stream, slc_cuda_memory *memory, size_t bytes,
                                   const char *what, slc_error *error)
{
    return reserve(stream, memory, bytes, what, true, error);
}

void slc_cuda_memory_clear(slc_cuda_memory *memory)
{
    if (memory->at != NULL) {
        (void)(memory->host ? cudaFreeHost(memory->at) : cudaFree(memory->at));
    }
    memset(memory, 0, sizeof *memory);
}

slc_status slc_cuda_pin(void *memory, size_t bytes, slc_error *error)
{
    return slc_cuda_check(cudaHostRegister(memory, bytes, cudaHostRegisterPortable), "page-locking memory",
                          error);
}

void slc_cuda_unpin(void *memory)
{
    (void)cudaHostUnregister(memory);
}

bool slc_cuda_is_pinned(const void *memory)
{
    struct cudaPointerAttributes attributes;
    if (memory == NULL || cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeHost;
}

slc_status slc_cuda_to_device(slc_cuda_stream *stream, void *device, const void *host, size_t bytes,
                              slc_error *error)
{
    return bytes == 0
               ? SLC_OK
               : slc_cuda_check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream->native),
                                "copying to the device", error);
}

slc_status slc_cuda_to_host(slc_cuda_stream *stream, void *host, const void *device, size_t bytes,
                            slc_error *error)
{
    return bytes == 0
               ? SLC_OK
               : slc_cuda_check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream->native),
                                "copying from the device", error);
}

slc_status slc_cuda_move(slc_cuda_stream *stream, void *to, const void *from, size_t bytes, slc_error *error)
{
    return bytes == 0
               ? SLC_OK
               : slc_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream->native),
                                "copying within the device", error);
}

slc_status slc_cuda_move_across(slc_cuda_stream *stream, void *to, const slc_cuda_stream *other,
                                const void *from, size_t bytes, slc_error *error)
{
    if (bytes == 0 || stream->device == other->device) {
        return slc_cuda_move(stream, to, from, bytes, error);
    }
    return slc_cuda_check(
        cudaMemcpyPeerAsync(to, (int)stream->device, from, (int)other->device, bytes, stream->native),
        "copying from another device", error);
}

slc_status slc_cuda_fill(slc_cuda_stream *stream, void *device, int byte, size_t bytes, slc_error *error)
{
    return bytes == 0 ? SLC_OK
                      : slc_cuda_check(cudaMemsetAsync(device, byte, bytes, stream->native),
                                       "filling memory of the device", error);
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

slc_status slc_cuda_graph_begin(slc_cuda_stream *stream, slc_error *error)
{
    const slc_status status = slc_cuda_use(stream->device, error);
    return status == SLC_OK
               ? slc_cuda_check(cudaStreamBeginCapture(stream->native, cudaStreamCaptureModeThreadLocal),
                                "recording a graph", error)
               : status;
}

static uint32_t count_kernels(cudaGraph_t graph)
{
    enum { MOST = 512 };
    cudaGraphNode_t nodes[MOST];
    size_t n = MOST;
    uint32_t kernels = 0;
    if (cudaGraphGetNodes(graph, nodes, &n) != cudaSuccess) {
        return 0;
    }
    for (size_t i = 0; i < n && i < MOST; i++) {
        enum cudaGraphNodeType type;
        kernels += cudaGraphNodeGetType(nodes[i], &type) == cudaSuccess && type == cudaGraphNodeTypeKernel;
    }
    return kernels;
}

slc_status slc_cuda_graph_end(slc_cuda_stream *stream, slc_cuda_graph *graph, slc_status recorded,
                              slc_error *error)
{
    cudaGraph_t captured = NULL;
    const cudaError_t code = cudaStreamEndCapture(stream->native, &captured);
    slc_status status = recorded;
    if (status == SLC_OK) {
        status = slc_cuda_check(code, "ending the recording of a graph", error);
    }
    if (status == SLC_OK) {
        cudaGraphExec_t exec = NULL;
        status = slc_cuda_check(cudaGraphInstantiate(&exec, captured, 0), "making a graph", error);
        if (status == SLC_OK) {
            slc_cuda_graph_clear(graph);
            graph->exec = exec;
            graph->kernels = count_kernels(captured);
        }
    }
    if (captured != NULL) {
        (void)cudaGraphDestroy(captured);
    }
    (void)cudaGetLastError(); /* a recording that was broken off leaves one */
    return status;
}

slc_status slc_cuda_graph_launch(slc_cuda_stream *stream, const slc_cuda_graph *graph, slc_error *error)
{
    return slc_cuda_check(cudaGraphLaunch(graph->exec, stream->native), "launching a graph", error);
}

void slc_cuda_graph_clear(slc_cuda_graph *graph)
{
    if (graph->exec != NULL) {
        (void)cudaGraphExecDestroy(graph->exec);
        graph->exec = NULL;
    }
}

/* ---- looking on ---------------------------------------------------------------------------------------- */

void slc_cuda_range_begin(const char *name)
{
    (void)nvtxRangePushA(name);
}

void slc_cuda_range_end(void)
{
    (void)nvtxRangePop();
}

slc_status slc_cuda_event_open(slc_cuda_stream *stream, slc_cuda_event **event, slc_error *error)
{
    *event = NULL;
    slc_status status = slc_cuda_use(stream->device, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_event *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a CUDA event");
    }
    status = slc_cuda_check(cudaEventCreate(&opened->native), "opening an event", error);
    if (status != SLC_OK) {
        free(opened);
        return status;
    }
    *event = opened;
    return SLC_OK;
}

void slc_cuda_event_close(slc_cuda_event *event)
{
    if (event != NULL) {
        (void)cudaEventDestroy(event->native);
        free(event);
    }
}

slc_status slc_cuda_event_record(slc_cuda_stream *stream, slc_cuda_event *event, slc_error *error)
{
    return slc_cuda_check(cudaEventRecord(event->native, stream->native), "recording an event", error);
}

slc_status slc_cuda_event_wait(slc_cuda_event *event, slc_error *error)
{
    return slc_cuda_check(cudaEventSynchronize(event->native), "waiting for an event", error);
}

slc_status slc_cuda_stream_wait_event(slc_cuda_stream *stream, slc_cuda_event *event, slc_error *error)
{
    return slc_cuda_check(cudaStreamWaitEvent(stream->native, event->native, cudaEventWaitDefault),
                          "letting a stream wait for an event", error);
}

slc_status slc_cuda_event_seconds(slc_cuda_event *first, slc_cuda_event *second, double *seconds,
                                  slc_error *error)
{
    float milliseconds = 0;
    slc_status status = slc_cuda_check(cudaEventSynchronize(second->native), "waiting for an event", error);
    if (status == SLC_OK) {
        status = slc_cuda_check(cudaEventElapsedTime(&milliseconds, first->native, second->native),
                                "reading the time between events", error);
    }
    *seconds = 1e-3 * (double)milliseconds;
    return status;
}

/* ---- the table --------------------------------------------------------------------------------- */

const struct slc_cuda_stream_calls slc_cuda_stream_calls = {
    slc_cuda_stream_open,  slc_cuda_stream_close,   slc_cuda_stream_native,  slc_cuda_stream_multiprocessors,
    slc_cuda_stream_wait,  slc_cuda_memory_reserve, slc_cuda_pinned_reserve, slc_cuda_memory_clear,
    slc_cuda_pin,          slc_cuda_unpin,          slc_cuda_to_device,      slc_cuda_to_host,
    slc_cuda_move,         slc_cuda_fill,           slc_cuda_event_open,     slc_cuda_event_close,
    slc_cuda_event_record, slc_cuda_event_seconds,  slc_cuda_block_allocate, slc_cuda_block_release,
    slc_cuda_block_lock,   slc_cuda_blocks_refused,
};
