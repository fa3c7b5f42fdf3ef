/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: copies between a device and memory of the host that may be
 * page-locked or not. Page-locked memory is copied at once; other memory by way of two page-locked pieces,
 * one of which the device copies while the processor copies the other. So memory that a caller allocated in
 * his own way needs little that is page-locked, however large it is.
 */
#ifndef SLUICE_CUDA_STAGING_H
#define SLUICE_CUDA_STAGING_H

#include "cuda/cuda_stream.h"

typedef struct slc_cuda_staging slc_cuda_staging;

slc_status slc_cuda_staging_open(slc_cuda_stream *stream, slc_cuda_staging **staging, slc_error *error);
void slc_cuda_staging_close(slc_cuda_staging *staging); /* NULL is allowed */

/* Begins a copy to the device. When it returns, `host` may be changed if it is not page-locked. */
slc_status slc_cuda_send(slc_cuda_staging *staging, void *device, const void *host, size_t bytes,
                         slc_error *error);
/* Begins a copy to the host. It is complete when slc_cuda_fetch_finish has returned SLC_OK, which waits; it
 * is to be called after a failure, too, for nothing to be written to `host` later. */
slc_status slc_cuda_fetch(slc_cuda_staging *staging, void *host, const void *device, size_t bytes,
                          slc_error *error);
slc_status slc_cuda_fetch_finish(slc_cuda_staging *staging, slc_error *error);

#endif
