/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of rows. A piece of page-locked memory takes as many rows as fit; rows longer than a piece are cut
 * into columns of that width. Threads gather and scatter the rows of one piece while the device copies the
 * other. Memory with a negative stride is walked from its other end.
 */
#include "cuda/cuda_rows.h"
#include "base/team.h"
#include "cuda/cuda_device.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 2, PIECE_ARRIVALS = 64, ARRIVAL_ALIGN = 128 };
static const size_t piece_bytes = (size_t)8 << 20;
static const size_t longest_pitch = INT32_MAX;
static const size_t share_bytes = (size_t)512 << 10; /* smaller copies are done by one thread */

/* Rows in the host's memory, and on one side of a copy a piece. */
typedef struct shuffle {
    char *to;
    const char *from;
    ptrdiff_t to_stride, from_stride;
    slc_cuda_block block;
    uint32_t parts;
} shuffle;

typedef struct piece {
    slc_cuda_memory memory;
    cudaEvent_t done; /* the device's last copy from or to it */
    bool busy;        /* `done` has been recorded and not been waited for */
    size_t used;
    size_t set; /* of so many bytes each is a row's or 0: gaps between rows go to the device as well */
    shuffle arrivals[PIECE_ARRIVALS]; /* where what has come from the device goes */
    size_t n_arrivals;
} piece;

struct slc_cuda_rows {
    slc_cuda_stream *stream;
    slc_team *team;
    piece pieces[PIECES];
    size_t at; /* the piece that is being filled */
};

/* ---- whose memory it is -------------------------------------------------------------------------------- */

slc_cuda_place slc_cuda_place_of(const void *memory)
{
    struct cudaPointerAttributes attributes;
    slc_cuda_place place = {.on_device = false};
    if (memory == NULL || cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return place;
    }
    place.any_device = attributes.type == cudaMemoryTypeManaged;
    place.on_device = place.any_device || attributes.type == cudaMemoryTypeDevice;
    place.device = place.on_device ? (uint32_t)attributes.device : 0;
    return place;
}

slc_status slc_cuda_free_bytes(slc_cuda_stream *stream, size_t *bytes, slc_error *error)
{
    size_t all = 0;
    *bytes = 0;
    const slc_status status = slc_cuda_stream_use(stream, error);
    return status == SLC_OK
               ? slc_cuda_check(cudaMemGetInfo(bytes, &all), "asking for the GPU's free memory", error)
               : status;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

slc_status slc_cuda_rows_open(slc_cuda_stream *stream, uint32_t threads, slc_cuda_rows **rows,
                              slc_error *error)
{
    *rows = NULL;
    slc_cuda_rows *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for copies to a GPU");
    }
    opened->stream = stream;
    const uint32_t processors = slc_team_processors();
    slc_status status = slc_team_open(processors < threads ? processors : threads, &opened->team);
    if (status != SLC_OK) {
        free(opened);
        return slc_fail(error, status, "no threads for copies to a GPU");
    }
    for (size_t i = 0; i < PIECES && status == SLC_OK; i++) {
        status = slc_cuda_check(cudaEventCreateWithFlags(&opened->pieces[i].done, cudaEventDisableTiming),
                                "opening an event", error);
    }
    if (status != SLC_OK) {
        slc_cuda_rows_close(opened);
        return status;
    }
    *rows = opened;
    return SLC_OK;
}

void slc_cuda_rows_close(slc_cuda_rows *rows)
{
    for (size_t i = 0; rows != NULL && i < PIECES; i++) {
        piece *p = &rows->pieces[i];
        if (p->done != NULL) {
            (void)cudaEventSynchronize(p->done);
            (void)cudaEventDestroy(p->done);
        }
        slc_cuda_memory_clear(&p->memory);
    }
    if (rows != NULL) {
        slc_team_close(rows->team);
    }
    free(rows);
}

/* ---- on the host --------------------------------------------------------------------------------------- */

static void shuffle_part(void *context, uint32_t part)
{
    const shuffle *s = context;
    if (s->block.rows == 1) { /* a part of the row */
        const size_t share = (s->block.bytes / s->parts + ARRIVAL_ALIGN) / ARRIVAL_ALIGN * ARRIVAL_ALIGN;
        const size_t begin = part * share;
        if (begin < s->block.bytes) {
            const size_t left = s->block.bytes - begin;
            memcpy(s->to + begin, s->from + begin, left < share ? left : share);
        }
        return;
    }
    const size_t end = s->block.rows * (part + 1) / s->parts;
    for (size_t y = s->block.rows * part / s->parts; y < end; y++) {
        memcpy(s->to + (ptrdiff_t)y * s->to_stride, s->from + (ptrdiff_t)y * s->from_stride, s->block.bytes);
    }
}

static void shuffle_all(slc_cuda_rows *rows, shuffle s)
{
    const bool large = s.block.bytes * s.block.rows >= share_bytes;
    s.parts = large ? slc_team_size(rows->team) : 1;
    slc_team_run(rows->team, s.parts, shuffle_part, &s);
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static slc_status shut(slc_cuda_rows *rows, piece *p, slc_error *error)
{
    p->busy = true;
    return slc_cuda_check(cudaEventRecord(p->done, slc_cuda_stream_native(rows->stream)),
                          "recording an event", error);
}

/* Waits for a piece, and puts what has arrived in it where it belongs. */
static slc_status empty(slc_cuda_rows *rows, piece *p, slc_error *error)
{
    slc_status status = SLC_OK;
    if (p->busy) {
        status = slc_cuda_check(cudaEventSynchronize(p->done), "waiting for a copy", error);
    }
    for (size_t i = 0; i < p->n_arrivals && status == SLC_OK; i++) {
        shuffle_all(rows, p->arrivals[i]);
    }
    p->busy = false;
    p->used = 0;
    p->n_arrivals = 0;
    return status;
}

/* Who copies from and to page-locked memory alone never needs it. */
static slc_status need(slc_cuda_rows *rows, piece *p, slc_error *error)
{
    return slc_cuda_pinned_reserve(rows->stream, &p->memory, piece_bytes, "copies to a GPU", error);
}

/* A piece with room for n bytes more (n at most a piece) and one arrival. */
static slc_status piece_with_room(slc_cuda_rows *rows, size_t n, piece **room, slc_error *error)
{
    piece *p = &rows->pieces[rows->at];
    slc_status status = SLC_OK;
    if (p->busy) { /* left over from copies to the device */
        status = empty(rows, p, error);
    } else if (p->used + n > piece_bytes || p->n_arrivals == PIECE_ARRIVALS) {
        status = shut(rows, p, error);
        rows->at = (rows->at + 1) % PIECES;
        p = &rows->pieces[rows->at];
        status = status == SLC_OK ? empty(rows, p, error) : status;
    }
    *room = p;
    return status == SLC_OK ? need(rows, p, error) : status;
}

/* ---- copies by the device ------------------------------------------------------------------------------ */

/* Strides are positive. CUDA copies rows at once if they are less than 2 GiB apart (cudaDevAttrMaxPitch). */
static slc_status copy_block(slc_cuda_rows *rows, void *to, size_t to_stride, const void *from,
                             size_t from_stride, slc_cuda_block block, enum cudaMemcpyKind kind,
                             slc_error *error)
{
    cudaStream_t stream = slc_cuda_stream_native(rows->stream);
    if (block.rows == 1 || (to_stride == block.bytes && from_stride == block.bytes)) {
        return slc_cuda_check(cudaMemcpyAsync(to, from, block.bytes * block.rows, kind, stream),
                              "copying rows", error);
    }
    if (to_stride > longest_pitch || from_stride > longest_pitch) {
        slc_status status = SLC_OK;
        for (size_t y = 0; y < block.rows && status == SLC_OK; y++) {
            status = slc_cuda_check(cudaMemcpyAsync((char *)to + y * to_stride,
                                                    (const char *)from + y * from_stride, block.bytes, kind,
                                                    stream),
                                    "copying rows", error);
        }
        return status;
    }
    return slc_cuda_check(
        cudaMemcpy2DAsync(to, to_stride, from, from_stride, block.bytes, block.rows, kind, stream),
        "copying rows", error);
}

/* Both ends of a copy; `there` is the end for which strides must be positive. */
typedef struct ends {
    char *there;
    const char *here;
    ptrdiff_t there_stride, here_stride;
    slc_cuda_block block;
} ends;

static ends ends_of(const void *there, ptrdiff_t there_stride, const void *here, ptrdiff_t here_stride,
                    slc_cuda_block block)
{
    ends e = {(char *)there, here, there_stride, here_stride, block};
    const ptrdiff_t last = block.rows > 0 ? (ptrdiff_t)block.rows - 1 : 0;
    if (there_stride < 0) {
        e.there += last * there_stride;
        e.here += last * here_stride;
        e.there_stride = -there_stride;
        e.here_stride = -here_stride;
    }
    if (block.rows <= 1 || (e.there_stride == (ptrdiff_t)block.bytes && e.here_stride == e.there_stride)) {
        e.block = (slc_cuda_block){block.bytes * block.rows, block.bytes * block.rows > 0};
        e.there_stride = e.here_stride = (ptrdiff_t)e.block.bytes;
    }
    return e;
}

/* What of a block goes through a piece at once: columns of a width, and so many rows. */
static slc_cuda_block cut(slc_cuda_block block, size_t column, size_t row, size_t step)
{
    const size_t bytes = block.bytes - column < piece_bytes ? block.bytes - column : piece_bytes;
    const size_t most = step <= bytes ? piece_bytes / bytes : (piece_bytes - bytes) / step + 1;
    const size_t left = block.rows - row;
    return (slc_cuda_block){bytes, left < most ? left : most};
}

/* Rows through a piece; `step` bytes apart in it, or without gaps where that is 0. */
static slc_status put_block(slc_cuda_rows *rows, char *device, size_t device_stride, const char *host,
                            ptrdiff_t host_stride, slc_cuda_block block, size_t step, slc_error *error)
{
    piece *p = &rows->pieces[rows->at];
    rows->at = (rows->at + 1) % PIECES;
    slc_status status = !p->busy && p->n_arrivals > 0 ? shut(rows, p, error) : SLC_OK;
    status = status == SLC_OK ? empty(rows, p, error) : status;
    status = status == SLC_OK ? need(rows, p, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const size_t to_stride = step > 0 ? step : block.bytes;
    const size_t end = (block.rows - 1) * to_stride + block.bytes;
    if (p->set < end) {
        memset((char *)p->memory.at + p->set, 0, end - p->set);
        p->set = end;
    }
    shuffle_all(rows, (shuffle){.to = p->memory.at,
                                .from = host,
                                .to_stride = (ptrdiff_t)to_stride,
                                .from_stride = host_stride,
                                .block = block});
    if (step > 0) {
        block = (slc_cuda_block){end, 1};
    }
    status = copy_block(rows, device, device_stride, p->memory.at, block.bytes, block, cudaMemcpyHostToDevice,
                        error);
    return status == SLC_OK ? shut(rows, p, error) : status;
}

slc_status slc_cuda_rows_put(slc_cuda_rows *rows, void *device, ptrdiff_t device_stride, const void *host,
                             ptrdiff_t host_stride, slc_cuda_block block, bool gaps, slc_error *error)
{
    const ends e = ends_of(device, device_stride, host, host_stride, block);
    const size_t stride = (size_t)e.there_stride;
    if (e.here_stride > 0 && e.block.rows > 0 && slc_cuda_is_pinned(host)) {
        return copy_block(rows, e.there, stride, e.here, (size_t)e.here_stride, e.block,
                          cudaMemcpyHostToDevice, error);
    }
    const size_t step = gaps && stride < piece_bytes ? stride : 0;
    slc_status status = SLC_OK;
    slc_cuda_block part = {0, 0};
    for (size_t x = 0; x < e.block.bytes && status == SLC_OK; x += part.bytes) {
        for (size_t y = 0; y < e.block.rows && status == SLC_OK; y += part.rows) {
            part = cut(e.block, x, y, step);
            status = put_block(rows, e.there + y * stride + x, stride,
                               e.here + (ptrdiff_t)y * e.here_stride + x, e.here_stride, part, step, error);
        }
    }
    return status;
}

slc_status slc_cuda_rows_get(slc_cuda_rows *rows, void *host, ptrdiff_t host_stride, const void *device,
                             ptrdiff_t device_stride, slc_cuda_block block, slc_error *error)
{
    const ends e = ends_of(device, device_stride, host, host_stride, block);
    const size_t stride = (size_t)e.there_stride;
    char *to = (char *)e.here;
    if (e.here_stride > 0 && e.block.rows > 0 && slc_cuda_is_pinned(host)) {
        return copy_block(rows, to, (size_t)e.here_stride, e.there, stride, e.block, cudaMemcpyDeviceToHost,
                          error);
    }
    slc_status status = SLC_OK;
    slc_cuda_block part = {0, 0};
    for (size_t x = 0; x < e.block.bytes && status == SLC_OK; x += part.bytes) {
        for (size_t y = 0; y < e.block.rows && status == SLC_OK; y += part.rows) {
            part = cut(e.block, x, y, 0);
            const size_t n = part.bytes * part.rows;
            piece *p;
            status = piece_with_room(rows, n, &p, error);
            if (status != SLC_OK) {
                break;
            }
            char *staged = (char *)p->memory.at + p->used;
            status = copy_block(rows, staged, part.bytes, e.there + y * stride + x, stride, part,
                                cudaMemcpyDeviceToHost, error);
            p->arrivals[p->n_arrivals++] = (shuffle){.to = to + (ptrdiff_t)y * e.here_stride + x,
                                                     .from = staged,
                                                     .to_stride = e.here_stride,
                                                     .from_stride = (ptrdiff_t)part.bytes,
                                                     .block = part};
            p->used += (n + ARRIVAL_ALIGN - 1) / ARRIVAL_ALIGN * ARRIVAL_ALIGN;
        }
    }
    return status;
}

slc_status slc_cuda_rows_finish(slc_cuda_rows *rows, slc_error *error)
{
    slc_status status = slc_cuda_stream_wait(rows->stream, error);
    for (size_t i = 0; i < PIECES; i++) {
        /* The older piece first, for the host's memory to be written from front to back. */
        piece *p = &rows->pieces[(rows->at + 1 + i) % PIECES];
        if (status != SLC_OK) {
            p->n_arrivals = 0; /* where they belong may be gone by the next time */
        }
        const slc_status emptied = empty(rows, p, status == SLC_OK ? error : NULL);
        status = status == SLC_OK ? emptied : status;
    }
    return status;
}

slc_status slc_cuda_rows_move(slc_cuda_rows *rows, void *to, ptrdiff_t to_stride, const void *from,
                              ptrdiff_t from_stride, slc_cuda_block block, slc_error *error)
{
    const ends e = ends_of(to, to_stride, from, from_stride, block);
    if (e.block.rows == 0) {
        return SLC_OK;
    }
    if (e.here_stride > 0) {
        return copy_block(rows, e.there, (size_t)e.there_stride, e.here, (size_t)e.here_stride, e.block,
                          cudaMemcpyDeviceToDevice, error);
    }
    slc_status status = SLC_OK;
    for (size_t y = 0; y < e.block.rows && status == SLC_OK; y++) {
        status = copy_block(rows, e.there + y * (size_t)e.there_stride, e.block.bytes,
                            e.here + (ptrdiff_t)y * e.here_stride, e.block.bytes,
                            (slc_cuda_block){e.block.bytes, 1}, cudaMemcpyDeviceToDevice, error);
    }
    return status;
}

slc_status slc_cuda_send(slc_cuda_rows *rows, void *device, const void *host, size_t bytes, slc_error *error)
{
    return slc_cuda_rows_put(rows, device, (ptrdiff_t)bytes, host, (ptrdiff_t)bytes,
                             (slc_cuda_block){bytes, 1}, false, error);
}

slc_status slc_cuda_fetch(slc_cuda_rows *rows, void *host, const void *device, size_t bytes, slc_error *error)
{
    return slc_cuda_rows_get(rows, host, (ptrdiff_t)bytes, device, (ptrdiff_t)bytes,
                             (slc_cuda_block){bytes, 1}, error);
}
