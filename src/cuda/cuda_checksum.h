/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the checksum of results (docs/formats/checksum.md) of columns that
 * lie on the device, so that nobody copies a column back for its checksum alone. It is what simd_checksum.h
 * computes of the same columns on the host.
 */
#ifndef SLUICE_CUDA_CHECKSUM_H
#define SLUICE_CUDA_CHECKSUM_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t points to one */

enum { SLC_CUDA_CHECKSUM_COLUMNS = 32 };

/* A column: rows offset[e] … offset[e + 1] - 1 of `width` bytes each are event e's. It begins on a multiple
 * of 8 bytes, and is read to the next one behind its last row. */
typedef struct slc_cuda_checksum_column {
    const void *bytes;
    const uint32_t *offset;
    uint64_t factor; /* of its collection and name: slc_checksum_factor */
    uint32_t width;
} slc_cuda_checksum_column;

typedef struct slc_cuda_checksum {
    slc_cuda_checksum_column column[SLC_CUDA_CHECKSUM_COLUMNS];
    uint32_t n_columns, n_events;
    uint64_t *sum; /* added to: of each event the sum over its columns of factor times hash */
} slc_cuda_checksum;

/* All pointers are to the device's memory. Enqueued; nothing is waited for. */
slc_status slc_cuda_checksum_run(const slc_cuda_checksum *job, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
