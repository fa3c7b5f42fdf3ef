/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: a stream with its device, memory on the device and page-locked
 * memory of the host that grow, copies that overlap with kernels, graphs, ranges for profilers, and events
 * that take the time of a device. No type of the runtime is in here, so that plain C files use it; launchers
 * (*.cu) get the stream as slc_cuda_stream_native.
 *
 * All that can fail returns a status and writes *error. Opening, reserving and recording make the stream's
 * device the calling thread's; other calls rely on it.
 */
#ifndef SLUICE_CUDA_STREAM_H
#define SLUICE_CUDA_STREAM_H

#include <sluice/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- streams ---------------------------------------------------------------------------------- */

typedef struct slc_cuda_stream slc_cuda_stream;

slc_status slc_cuda_stream_open(uint32_t device, slc_cuda_stream **stream, slc_error *error);
/* Waits for what was begun. NULL is allowed. */
void slc_cuda_stream_close(slc_cuda_stream *stream);
void *slc_cuda_stream_native(const slc_cuda_stream *stream); /* the cudaStream_t */
uint32_t slc_cuda_stream_multiprocessors(const slc_cuda_stream *stream);
/* Makes the stream's device that of the calling thread: before a sequence of calls. */
slc_status slc_cuda_stream_use(const slc_cuda_stream *stream, slc_error *error);
/* Until all that was begun is done; tells of errors in kernels that have run meanwhile. */
slc_status slc_cuda_stream_wait(slc_cuda_stream *stream, slc_error *error);

/* ---- memory ----------------------------------------------------------------------------------- */

/* Memory on the device (or of the host, page-locked) that only grows. Zero-initialise. */
typedef struct slc_cuda_memory {
    void *at;
    size_t size;
    bool host;
} slc_cuda_memory;
/* At least so many bytes; what was there is lost when it grows. The text of SLC_ERR_MEMORY names `what`, the
 * bytes wanted and those that are free. */
slc_status slc_cuda_memory_reserve(slc_cuda_stream *stream, slc_cuda_memory *memory, size_t bytes,
                                   const char *what, slc_error *error);
slc_status slc_cuda_pinned_reserve(slc_cuda_stream *stream, slc_cuda_memory *memory, size_t bytes,
                                   const char *what, slc_error *error);
void slc_cuda_memory_clear(slc_cuda_memory *memory);

/* Memory that goes from hand to hand, for who has no stream (cuda_blocks.c): what is released is handed out
 * again, and goes back to the system with the last stream. NULL without memory. Any thread calls these. */
void *slc_cuda_block_allocate(size_t bytes);
void slc_cuda_block_release(void *at);
/* Page-locks a block that has been handed out so often, if it is not, for every device, by the one whose
 * stream was opened last, which becomes the calling thread's. Memory that has been written to takes a tenth
 * of the time. False: it is not, and copies go by way of pieces. */
bool slc_cuda_block_lock(void *at, uint32_t times);
/* Adds to the bytes that the system has refused to page-lock, and returns them. */
uint64_t slc_cuda_blocks_refused(uint64_t bytes);
/* A stream was opened, or closed. */
void slc_cuda_blocks_count(bool opened, uint32_t device);

/* Page-locks memory that the caller has allocated, so that copies reach it without a detour and overlap with
 * kernels. It must be unlocked before it is freed. */
slc_status slc_cuda_pin(void *memory, size_t bytes, slc_error *error);
void slc_cuda_unpin(void *memory);
bool slc_cuda_is_pinned(const void *memory);

/* Copies begin when all before them in the stream is done, and return at once if the host's memory is
 * page-locked. 0 bytes are allowed. */
slc_status slc_cuda_to_device(slc_cuda_stream *stream, void *device, const void *host, size_t bytes,
                              slc_error *error);
slc_status slc_cuda_to_host(slc_cuda_stream *stream, void *host, const void *device, size_t bytes,
                            slc_error *error);
/* From one place of the device to another. */
slc_status slc_cuda_move(slc_cuda_stream *stream, void *to, const void *from, size_t bytes, slc_error *error);
/* From a place of the device that another stream is on. */
slc_status slc_cuda_move_across(slc_cuda_stream *stream, void *to, const slc_cuda_stream *other,
                                const void *from, size_t bytes, slc_error *error);
slc_status slc_cuda_fill(slc_cuda_stream *stream, void *device, int byte, size_t bytes, slc_error *error);

/* ---- graphs ----------------------------------------------------------------------------------- */

/* What is begun in the stream between _begin and _end is recorded instead, and _launch does all of it with
 * one call. Zero-initialise. _end replaces what the graph was. */
typedef struct slc_cuda_graph {
    void *exec;
    uint32_t kernels; /* how many it launches */
} slc_cuda_graph;
slc_status slc_cuda_graph_begin(slc_cuda_stream *stream, slc_error *error);
/* `recorded`: the status of what was recorded; where it is not SLC_OK, the recording is thrown away and it is
 * returned. */
slc_status slc_cuda_graph_end(slc_cuda_stream *stream, slc_cuda_graph *graph, slc_status recorded,
                              slc_error *error);
slc_status slc_cuda_graph_launch(slc_cuda_stream *stream, const slc_cuda_graph *graph, slc_error *error);
void slc_cuda_graph_clear(slc_cuda_graph *graph);

/* ---- looking on ------------------------------------------------------------------------------- */

/* Ranges in the profiler's time line (NVTX), nested, of the calling thread. Nothing where none looks on. */
void slc_cuda_range_begin(const char *name);
void slc_cuda_range_end(void);

/* A moment in a stream. */
typedef struct slc_cuda_event slc_cuda_event;
slc_status slc_cuda_event_open(slc_cuda_stream *stream, slc_cuda_event **event, slc_error *error);
void slc_cuda_event_close(slc_cuda_event *event); /* NULL is allowed */
slc_status slc_cuda_event_record(slc_cuda_stream *stream, slc_cuda_event *event, slc_error *error);
/* Until what was begun before the event was recorded is done. */
slc_status slc_cuda_event_wait(slc_cuda_event *event, slc_error *error);
/* What is begun in the stream from now on waits for an event that another stream has recorded; the caller
 * does not. */
slc_status slc_cuda_stream_wait_event(slc_cuda_stream *stream, slc_cuda_event *event, slc_error *error);
/* Waits for the second, and tells the seconds between them by the device's clock. */
slc_status slc_cuda_event_seconds(slc_cuda_event *first, slc_cuda_event *second, double *seconds,
                                  slc_error *error);

/* ---- the table (cuda_engines.h) --------------------------------------------------------------- */

struct slc_cuda_stream_calls {
    __typeof__(slc_cuda_stream_open) *stream_open;
    __typeof__(slc_cuda_stream_close) *stream_close;
    __typeof__(slc_cuda_stream_native) *stream_native;
    __typeof__(slc_cuda_stream_multiprocessors) *stream_multiprocessors;
    __typeof__(slc_cuda_stream_wait) *stream_wait;
    __typeof__(slc_cuda_memory_reserve) *memory_reserve;
    __typeof__(slc_cuda_pinned_reserve) *pinned_reserve;
    __typeof__(slc_cuda_memory_clear) *memory_clear;
    __typeof__(slc_cuda_pin) *pin;
    __typeof__(slc_cuda_unpin) *unpin;
    __typeof__(slc_cuda_to_device) *to_device;
    __typeof__(slc_cuda_to_host) *to_host;
    __typeof__(slc_cuda_move) *move;
    __typeof__(slc_cuda_fill) *fill;
    __typeof__(slc_cuda_event_open) *event_open;
    __typeof__(slc_cuda_event_close) *event_close;
    __typeof__(slc_cuda_event_record) *event_record;
    __typeof__(slc_cuda_event_seconds) *event_seconds;
    __typeof__(slc_cuda_block_allocate) *block_allocate;
    __typeof__(slc_cuda_block_release) *block_release;
    __typeof__(slc_cuda_block_lock) *block_lock;
    __typeof__(slc_cuda_blocks_refused) *blocks_refused;
};
extern const struct slc_cuda_stream_calls slc_cuda_stream_calls;

#ifdef __cplusplus
}
#endif
#endif
