/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by way of two page-locked pieces. Small copies to the host share a piece, so that they cost one wait
 * together. One core copies at a fifth of what the bus to a GPU carries, so a few threads share a large copy.
 */
#include "cuda/cuda_staging.h"
#include "base/team.h"
#include "cuda/cuda_device.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 2, PIECE_COPIES = 64, COPY_ALIGN = 128, COPY_THREADS = 4 };
static const size_t piece_bytes = (size_t)8 << 20;
static const size_t share_bytes = (size_t)256 << 10; /* smaller copies are not shared out */

/* Where a part of a piece goes when it has come from the device. */
typedef struct arrival {
    void *host;
    size_t offset, bytes;
} arrival;

typedef struct piece {
    slc_cuda_memory memory;
    cudaEvent_t done; /* the device's last copy from or to it */
    bool busy;        /* `done` has been recorded and not been waited for */
    size_t used;
    arrival arrivals[PIECE_COPIES];
    size_t n_arrivals;
} piece;

struct slc_cuda_staging {
    slc_cuda_stream *stream;
    slc_team *team;
    piece pieces[PIECES];
    size_t at; /* the piece that is being filled */
};

typedef struct copy {
    char *to;
    const char *from;
    size_t bytes;
    uint32_t parts;
} copy;

static void copy_part(void *context, uint32_t part)
{
    const copy *all = context;
    const size_t share = (all->bytes / all->parts + COPY_ALIGN) / COPY_ALIGN * COPY_ALIGN;
    const size_t begin = part * share;
    if (begin < all->bytes) {
        memcpy(all->to + begin, all->from + begin, all->bytes - begin < share ? all->bytes - begin : share);
    }
}

static void copy_shared(slc_cuda_staging *staging, void *to, const void *from, size_t bytes)
{
    copy all = {.to = to, .from = from, .bytes = bytes, .parts = 1};
    if (bytes >= 2 * share_bytes) {
        all.parts = slc_team_size(staging->team);
    }
    slc_team_run(staging->team, all.parts, copy_part, &all);
}

slc_status slc_cuda_staging_open(slc_cuda_stream *stream, slc_cuda_staging **staging, slc_error *error)
{
    *staging = NULL;
    slc_cuda_staging *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for copies to a GPU");
    }
    opened->stream = stream;
    const uint32_t processors = slc_team_processors();
    slc_status status = slc_team_open(processors < COPY_THREADS ? processors : COPY_THREADS, &opened->team);
    if (status != SLC_OK) {
        free(opened);
        return slc_fail(error, status, "no threads for copies to a GPU");
    }
    for (size_t i = 0; i < PIECES && status == SLC_OK; i++) {
        piece *p = &opened->pieces[i];
        status = slc_cuda_pinned_reserve(stream, &p->memory, piece_bytes, "copies to a GPU", error);
        if (status == SLC_OK) {
            status = slc_cuda_check(cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming),
                                    "opening an event", error);
        }
    }
    if (status != SLC_OK) {
        slc_cuda_staging_close(opened);
        return status;
    }
    *staging = opened;
    return SLC_OK;
}

void slc_cuda_staging_close(slc_cuda_staging *staging)
{
    for (size_t i = 0; staging != NULL && i < PIECES; i++) {
        piece *p = &staging->pieces[i];
        if (p->done != NULL) {
            (void)cudaEventSynchronize(p->done);
            (void)cudaEventDestroy(p->done);
        }
        slc_cuda_memory_clear(&p->memory);
    }
    if (staging != NULL) {
        slc_team_close(staging->team);
    }
    free(staging);
}

/* Ends the filling of a piece. */
static slc_status shut(slc_cuda_staging *staging, piece *p, slc_error *error)
{
    p->busy = true;
    return slc_cuda_check(cudaEventRecord(p->done, slc_cuda_stream_native(staging->stream)),
                          "recording an event", error);
}

/* Waits for a piece, and copies what has arrived in it to where it belongs. */
static slc_status empty(slc_cuda_staging *staging, piece *p, slc_error *error)
{
    slc_status status = SLC_OK;
    if (p->busy) {
        status = slc_cuda_check(cudaEventSynchronize(p->done), "waiting for a copy", error);
    }
    for (size_t i = 0; i < p->n_arrivals && status == SLC_OK; i++) {
        copy_shared(staging, p->arrivals[i].host, (const char *)p->memory.at + p->arrivals[i].offset,
                    p->arrivals[i].bytes);
    }
    p->busy = false;
    p->used = 0;
    p->n_arrivals = 0;
    return status;
}

slc_status slc_cuda_send(slc_cuda_staging *staging, void *device, const void *host, size_t bytes,
                         slc_error *error)
{
    if (slc_cuda_is_pinned(host)) {
        return slc_cuda_to_device(staging->stream, device, host, bytes, error);
    }
    slc_status status = SLC_OK;
    for (size_t begin = 0; begin < bytes && status == SLC_OK; begin += piece_bytes) {
        const size_t n = bytes - begin < piece_bytes ? bytes - begin : piece_bytes;
        piece *p = &staging->pieces[staging->at];
        staging->at = (staging->at + 1) % PIECES;
        status = empty(staging, p, error);
        if (status == SLC_OK) {
            copy_shared(staging, p->memory.at, (const char *)host + begin, n);
            status = slc_cuda_to_device(staging->stream, (char *)device + begin, p->memory.at, n, error);
        }
        status = status == SLC_OK ? shut(staging, p, error) : status;
    }
    return status;
}

/* A piece with room for n bytes more (n at most a piece) and one arrival. */
static slc_status piece_with_room(slc_cuda_staging *staging, size_t n, piece **room, slc_error *error)
{
    piece *p = &staging->pieces[staging->at];
    slc_status status = SLC_OK;
    if (p->busy) { /* left over from sending */
        status = empty(staging, p, error);
    } else if (p->used + n > piece_bytes || p->n_arrivals == PIECE_COPIES) {
        status = shut(staging, p, error);
        staging->at = (staging->at + 1) % PIECES;
        p = &staging->pieces[staging->at];
        status = status == SLC_OK ? empty(staging, p, error) : status;
    }
    *room = p;
    return status;
}

slc_status slc_cuda_fetch(slc_cuda_staging *staging, void *host, const void *device, size_t bytes,
                          slc_error *error)
{
    if (slc_cuda_is_pinned(host)) {
        return slc_cuda_to_host(staging->stream, host, device, bytes, error);
    }
    slc_status status = SLC_OK;
    for (size_t begin = 0; begin < bytes && status == SLC_OK; begin += piece_bytes) {
        const size_t n = bytes - begin < piece_bytes ? bytes - begin : piece_bytes;
        piece *p;
        status = piece_with_room(staging, n, &p, error);
        if (status != SLC_OK) {
            break;
        }
        status = slc_cuda_to_host(staging->stream, (char *)p->memory.at + p->used,
                                  (const char *)device + begin, n, error);
        p->arrivals[p->n_arrivals++] = (arrival){(char *)host + begin, p->used, n};
        p->used += (n + COPY_ALIGN - 1) / COPY_ALIGN * COPY_ALIGN;
    }
    return status;
}

slc_status slc_cuda_fetch_finish(slc_cuda_staging *staging, slc_error *error)
{
    slc_status status = slc_cuda_stream_wait(staging->stream, error);
    for (size_t i = 0; i < PIECES; i++) {
        piece *p = &staging->pieces[i];
        if (status != SLC_OK) {
            p->n_arrivals = 0; /* where they belong may be gone by the next time */
        }
        const slc_status emptied = empty(staging, p, status == SLC_OK ? error : NULL);
        status = status == SLC_OK ? emptied : status;
    }
    return status;
}
