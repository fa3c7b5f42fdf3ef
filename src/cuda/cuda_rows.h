/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: copies between a device and memory of the host that may be
 * page-locked or not, also of images, that is of rows that lie some stride apart; and the question whose
 * memory a pointer is to. Page-locked memory is copied at once; other memory by way of two page-locked
 * pieces, one of which the device copies while the processor copies the other. So memory that a caller
 * allocated in his own way needs little that is page-locked, however large it is. In a piece rows are brought
 * together, so that a copy by the device is large even where rows are short.
 */
#ifndef SLUICE_CUDA_ROWS_H
#define SLUICE_CUDA_ROWS_H

#include "cuda/cuda_stream.h"

/* ---- whose memory it is -------------------------------------------------------------------------------- */

typedef struct slc_cuda_place {
    bool on_device;  /* of `device`; managed memory counts as such */
    bool any_device; /* managed: every device may use it */
    uint32_t device;
} slc_cuda_place;

/* Memory that the runtime does not know is the host's. */
slc_cuda_place slc_cuda_place_of(const void *memory);
/* Bytes of the stream's device that are free. */
slc_status slc_cuda_free_bytes(slc_cuda_stream *stream, size_t *bytes, slc_error *error);

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Rows of `bytes` bytes; strides may be negative, and are not smaller than the bytes of a row. */
typedef struct slc_cuda_block {
    size_t bytes, rows;
} slc_cuda_block;

typedef struct slc_cuda_rows slc_cuda_rows;

/* Up to `threads` threads share large copies to and from the pieces. */
slc_status slc_cuda_rows_open(slc_cuda_stream *stream, uint32_t threads, slc_cuda_rows **rows,
                              slc_error *error);
void slc_cuda_rows_close(slc_cuda_rows *rows); /* NULL is allowed */

/* Begins a copy to the device. When it returns, `host` may be changed if it is not page-locked. `gaps`: what
 * lies between the rows on the device may be overwritten, which makes copies of short rows faster. */
slc_status slc_cuda_rows_put(slc_cuda_rows *rows, void *device, ptrdiff_t device_stride, const void *host,
                             ptrdiff_t host_stride, slc_cuda_block block, bool gaps, slc_error *error);
/* Begins a copy to the host; nothing is written between its rows. It is complete when slc_cuda_rows_finish
 * has returned SLC_OK, which waits; it is to be called after a failure, too, for nothing to be written to
 * `host` later. */
slc_status slc_cuda_rows_get(slc_cuda_rows *rows, void *host, ptrdiff_t host_stride, const void *device,
                             ptrdiff_t device_stride, slc_cuda_block block, slc_error *error);
slc_status slc_cuda_rows_finish(slc_cuda_rows *rows, slc_error *error);
/* Begins a copy within the device. */
slc_status slc_cuda_rows_move(slc_cuda_rows *rows, void *to, ptrdiff_t to_stride, const void *from,
                              ptrdiff_t from_stride, slc_cuda_block block, slc_error *error);

/* ---- bytes --------------------------------------------------------------------------------------------- */

/* The same for bytes without gaps: as slc_cuda_rows_put and slc_cuda_rows_get. */
slc_status slc_cuda_send(slc_cuda_rows *rows, void *device, const void *host, size_t bytes, slc_error *error);
slc_status slc_cuda_fetch(slc_cuda_rows *rows, void *host, const void *device, size_t bytes,
                          slc_error *error);

#endif
