/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events and graphs. What is begun in a stream is kept and done later: at the latest when somebody
 * waits for it, or at random before that, so that a program that does not wait long enough is found out.
 */
#include "simt_runtime.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <thread>

using namespace simt;

struct CUgraphNode_st {
    cudaGraphNodeType type;
    body run;
};

struct CUgraph_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
    std::thread::id thread; /* that records it */
    cudaStreamCaptureMode mode;
    cudaStream_t origin;
    bool spoilt;
};

struct CUgraphExec_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
    int device;
};

struct CUstream_st {
    int device;
    bool blocking;
    std::deque<body> waiting;
    cudaGraph_t recording;
};

struct CUevent_st {
    int device;
    bool timing;
    uint64_t recorded, done; /* how often */
    double seconds;
    cudaStream_t stream; /* where it was recorded last */
    cudaGraph_t recording;
};

namespace
{

std::set<cudaStream_t> streams;
std::map<int, cudaStream_t> defaults;
std::set<cudaGraph_t> recordings;
std::map<const void *, int> dynamic_limit; /* of kernels that were allowed more than usual */
int draining;

double seconds_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cudaStream_t stream_of(cudaStream_t stream)
{
    if (stream != nullptr) {
        return stream;
    }
    cudaStream_t &found = defaults[device_now()];
    if (found == nullptr) {
        found = new CUstream_st{device_now(), true, {}, nullptr};
        streams.insert(found);
    }
    return found;
}

bool exists(cudaStream_t stream)
{
    return streams.count(stream) != 0;
}

void step(cudaStream_t stream)
{
    const body run = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    draining++;
    run();
    if (--draining == 0) {
        memory_shut();
    }
}

void drain(cudaStream_t stream)
{
    while (!stream->waiting.empty()) {
        step(stream);
    }
}

/* The default stream waits for all that do not say otherwise, and they for it. */
void drain_blocking(cudaStream_t stream)
{
    const auto found = defaults.find(stream->device);
    if (found == defaults.end() || !stream->blocking) {
        return;
    }
    if (found->second != stream) {
        drain(found->second);
        return;
    }
    for (cudaStream_t other : streams) {
        if (other != stream && other->device == stream->device && other->blocking) {
            drain(other);
        }
    }
}

cudaError_t spoil(cudaStream_t stream, const char *why)
{
    stream->recording->spoilt = true;
    return told(cudaErrorStreamCaptureUnsupported, why);
}

cudaError_t synchronize(cudaStream_t stream)
{
    if (stream->recording != nullptr) {
        return spoil(stream, "a stream is waited for while a graph is recorded from it");
    }
    drain(stream);
    return cudaSuccess;
}

void wait_event(cudaEvent_t event, uint64_t ticket)
{
    while (event->done < ticket && event->stream != nullptr && !event->stream->waiting.empty()) {
        step(event->stream);
    }
}

} // namespace

namespace simt
{

bool may_wait()
{
    for (cudaGraph_t graph : recordings) {
        if (graph->mode == cudaStreamCaptureModeGlobal || (graph->mode == cudaStreamCaptureModeThreadLocal &&
                                                           graph->thread == std::this_thread::get_id())) {
            graph->spoilt = true;
            return false;
        }
    }
    return true;
}

void drain_all()
{
    for (cudaStream_t stream : streams) {
        drain(stream);
    }
}

cudaError_t submit(cudaStream_t wanted, cudaGraphNodeType type, body run, bool at_once)
{
    cudaStream_t stream = stream_of(wanted);
    if (!exists(stream)) {
        return told(cudaErrorInvalidResourceHandle, "a stream that is not open");
    }
    if (stream->recording != nullptr) {
        stream->recording->nodes.push_back(
            std::make_shared<CUgraphNode_st>(CUgraphNode_st{type, std::move(run)}));
        return cudaSuccess;
    }
    drain_blocking(stream);
    stream->waiting.push_back(std::move(run));
    if (at_once || random_below(4) == 0) {
        drain(stream);
    }
    return cudaSuccess;
}

/* ---- launches ------------------------------------------------------------------------------------ */

namespace
{

/* Is it a launch that a device would take? */
const char *refused(dim3 blocks, dim3 threads)
{
    const uint64_t n = static_cast<uint64_t>(threads.x) * threads.y * threads.z;
    if (n == 0 || n > 1024 || threads.z > 64) {
        return "a block has 1 to 1024 threads, 64 of them deep at most";
    }
    if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0) {
        return "a launch has at least one block";
    }
    return blocks.x > INT32_MAX || blocks.y > UINT16_MAX || blocks.z > UINT16_MAX ? "too many blocks"
                                                                                  : nullptr;
}

} // namespace

void launch(const char *name, const void *kernel, body run, dim3 blocks, dim3 threads, size_t shared,
            cudaStream_t stream)
{
    guard in;
    const char *why = refused(blocks, threads);
    if (why != nullptr) {
        fprintf(stderr, "simt: %s: %u x %u x %u blocks of %u x %u x %u threads\n", name, blocks.x, blocks.y,
                blocks.z, threads.x, threads.y, threads.z);
        (void)told(cudaErrorInvalidConfiguration, why);
        return;
    }
    const auto limit = dynamic_limit.find(kernel);
    if (shared > static_cast<size_t>(limit == dynamic_limit.end() ? +SHARED_USUAL : limit->second)) {
        fprintf(stderr, "simt: %s: %zu bytes of shared memory are more than was allowed\n", name, shared);
        (void)told(cudaErrorInvalidValue);
        return;
    }
    if (exists(stream_of(stream)) && stream_of(stream)->device != device_now()) {
        (void)told(cudaErrorInvalidResourceHandle, "a launch into a stream of another device");
        return;
    }
    const launch_of what = {name, std::move(run), blocks, threads, shared};
    const int device = device_now();
    const body all = [what, device] {
        memory_open(device);
        launch_run(what);
    };
    (void)submit(stream, cudaGraphNodeTypeKernel, all, false);
}

} // namespace simt

long long clock64()
{
    static long long ticks = 0;
    return ticks += 32;
}

cudaError_t simt_function_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    guard in;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value > SHARED_MOST) {
            return told(cudaErrorInvalidValue, "a kernel cannot have so much shared memory");
        }
        dynamic_limit[kernel] = value > SHARED_USUAL ? value : +SHARED_USUAL;
    }
    return cudaSuccess;
}

cudaError_t simt_function_attributes(cudaFuncAttributes *attributes, const void *)
{
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    return cudaSuccess;
}

cudaError_t simt_occupancy(int *blocks, const void *, int threads, size_t shared)
{
    const int by_threads = threads > 0 && threads <= 1024 ? 2048 / threads : 0;
    const int by_shared = shared > 0 ? static_cast<int>((SHARED_MOST + 1024) / (shared + 1024)) : 32;
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    *blocks = *blocks < 32 ? *blocks : 32;
    return cudaSuccess;
}

/* ---- streams -------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    guard in;
    *stream = new CUstream_st{device_now(), (flags & cudaStreamNonBlocking) == 0, {}, nullptr};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    guard in;
    if (stream == nullptr || !exists(stream)) {
        return told(cudaErrorInvalidResourceHandle, "a stream that is not open");
    }
    drain(stream);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    guard in;
    stream = stream_of(stream);
    return exists(stream) ? synchronize(stream)
                          : told(cudaErrorInvalidResourceHandle, "a stream that is not open");
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    guard in;
    stream = stream_of(stream);
    if (stream->recording != nullptr) {
        return spoil(stream, "a stream is asked for its end while a graph is recorded from it");
    }
    if (!stream->waiting.empty()) {
        step(stream);
    }
    return stream->waiting.empty() ? cudaSuccess : told(cudaErrorNotReady);
}

cudaError_t cudaDeviceSynchronize(void)
{
    guard in;
    if (!may_wait()) {
        return told(cudaErrorStreamCaptureUnsupported, "a device is waited for while a graph is recorded");
    }
    for (cudaStream_t stream : streams) {
        if (stream->device == device_now()) {
            drain(stream);
        }
    }
    return cudaSuccess;
}

/* ---- events --------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    guard in;
    *event = new CUevent_st{device_now(), (flags & cudaEventDisableTiming) == 0, 0, 0, 0, nullptr, nullptr};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t wanted)
{
    guard in;
    cudaStream_t stream = stream_of(wanted);
    if (!exists(stream) || stream->device != event->device) {
        return told(cudaErrorInvalidResourceHandle, "an event and a stream of two devices");
    }
    event->recording = stream->recording;
    if (stream->recording != nullptr) {
        return submit(
            wanted, cudaGraphNodeTypeEventRecord, [event] { event->seconds = seconds_now(); }, false);
    }
    event->stream = stream;
    event->recorded++;
    return submit(
        wanted, cudaGraphNodeTypeEventRecord,
        [event] {
            event->done++;
            event->seconds = seconds_now();
        },
        false);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    guard in;
    if (event->recording != nullptr) {
        return told(cudaErrorStreamCaptureUnsupported, "an event is waited for that a graph records");
    }
    wait_event(event, event->recorded);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    guard in;
    return event->done == event->recorded ? cudaSuccess : told(cudaErrorNotReady);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    guard in;
    if (event == nullptr) {
        return told(cudaErrorInvalidResourceHandle);
    }
    drain_all(); /* who still waits for it, or records it */
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first, cudaEvent_t second)
{
    guard in;
    if (!first->timing || !second->timing) {
        return told(cudaErrorInvalidResourceHandle, "an event that takes no time");
    }
    if (first->done != first->recorded || second->done != second->recorded) {
        return told(cudaErrorNotReady);
    }
    *milliseconds = static_cast<float>(1e3 * (second->seconds - first->seconds));
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t wanted, cudaEvent_t event, unsigned)
{
    guard in;
    cudaStream_t stream = stream_of(wanted);
    if (event->recording != nullptr && recordings.count(event->recording) != 0) {
        stream->recording = event->recording; /* a branch of the graph, which is done in one row here */
        return cudaSuccess;
    }
    if (event->recorded == 0) {
        return cudaSuccess;
    }
    const uint64_t ticket = event->recorded;
    return submit(
        wanted, cudaGraphNodeTypeEmpty, [event, ticket] { wait_event(event, ticket); }, false);
}

/* ---- graphs --------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    guard in;
    if (stream == nullptr || !exists(stream) || stream->recording != nullptr) {
        return told(stream == nullptr ? cudaErrorStreamCaptureUnsupported : cudaErrorIllegalState,
                    "a stream that cannot be recorded");
    }
    stream->recording = new CUgraph_st{{}, std::this_thread::get_id(), mode, stream, false};
    recordings.insert(stream->recording);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    guard in;
    *graph = nullptr;
    if (stream == nullptr || stream->recording == nullptr || stream->recording->origin != stream) {
        return told(cudaErrorIllegalState, "a stream that is not recorded");
    }
    cudaGraph_t recorded = stream->recording;
    for (cudaStream_t each : streams) {
        each->recording = each->recording == recorded ? nullptr : each->recording;
    }
    recordings.erase(recorded);
    if (recorded->spoilt) {
        delete recorded;
        return told(cudaErrorStreamCaptureInvalidated, "a call spoilt the recording of a graph");
    }
    *graph = recorded;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    guard in;
    const cudaGraph_t graph = stream_of(stream)->recording;
    *status = graph == nullptr ? cudaStreamCaptureStatusNone
              : graph->spoilt  ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    guard in;
    if (graph == nullptr) {
        return told(cudaErrorInvalidValue, "no graph");
    }
    *exec = new CUgraphExec_st{graph->nodes, graph->origin->device};
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    guard in;
    if (exec == nullptr) {
        return told(cudaErrorInvalidValue, "no graph");
    }
    const auto nodes = exec->nodes;
    const body run = [nodes] {
        for (const auto &node : nodes) {
            node->run();
        }
    };
    return submit(stream, cudaGraphNodeTypeEmpty, run, false);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    guard in;
    const size_t room = nodes != nullptr ? *n : 0;
    *n = nodes == nullptr || room > graph->nodes.size() ? graph->nodes.size() : room;
    for (size_t i = 0; i < *n && nodes != nullptr; i++) {
        nodes[i] = graph->nodes[i].get();
    }
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    guard in;
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    guard in;
    drain_all();
    delete exec;
    return cudaSuccess;
}
