/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: kernels that do nothing but move bytes or add to words, so that a
 * device's own speed can be measured on the spot (bench_gpu.c). After section 3.5 of A. Hennequin's
 * thesis (2022): what strided accesses cost in global memory, and what conflicts of banks cost in shared
 * memory. Each call launches and returns; times are the caller's, by events.
 */
#ifndef SLUICE_CUDA_MEASURE_H
#define SLUICE_CUDA_MEASURE_H

#include <sluice/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t points to one */

enum {
    SLC_CUDA_MEASURE_TILE = 1024,  /* elements in shared memory of a block */
    SLC_CUDA_MEASURE_THREADS = 256 /* of a block */
};

/* Reads all bytes, a multiple of 16, aligned to that; `sink` is one word that is written only by a chance of
 * 2^-32. */
slc_status slc_cuda_measure_read(const void *from, size_t bytes, uint32_t *sink, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error);
/* The runtime's copy from one place of the device to another. */
slc_status slc_cuda_measure_copy(void *to, const void *from, size_t bytes, struct CUstream_st *stream,
                                 slc_error *error);
/* A byte is read and four are written for each of n pixels, a multiple of 16: what labelling must do. */
slc_status slc_cuda_measure_widen(uint32_t *labels, const uint8_t *pixels, size_t n, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error);

/* Reads and writes n elements that are `stride` elements apart, one a thread. Elements have 1, 4, 8 or 16
 * bytes; all others are SLC_ERR_USAGE. */
slc_status slc_cuda_measure_stride(void *at, uint32_t element_bytes, size_t n, uint32_t stride,
                                   struct CUstream_st *stream, slc_error *error);

/* n elements of 4 or 8 bytes, a multiple of the tile: read in order into shared memory, taken from there
 * `stride` apart (around the tile's end to its beginning), written back in order. */
slc_status slc_cuda_measure_banks_copied(void *at, uint32_t element_bytes, size_t n, uint32_t stride,
                                         struct CUstream_st *stream, slc_error *error);
/* Shared memory alone: each thread of so many blocks reads 4 · rounds elements, the threads' `stride` apart.
 * `sink` as above. */
slc_status slc_cuda_measure_banks(uint32_t *sink, uint32_t element_bytes, uint32_t blocks, uint32_t stride,
                                  uint32_t rounds, struct CUstream_st *stream, slc_error *error);

/* Each thread of so many blocks adds `rounds` times 1 to a word of 4 or 8 bytes: word (thread · step) modulo
 * `words`, which is a power of two, and then on by as many as there are threads. step 0 is one word for all.
 */
slc_status slc_cuda_measure_atomics(void *table, uint32_t word_bytes, uint32_t words, uint32_t step,
                                    uint32_t blocks, uint32_t rounds, struct CUstream_st *stream,
                                    slc_error *error);

struct slc_cuda_measure_calls {
    __typeof__(slc_cuda_measure_read) *read;
    __typeof__(slc_cuda_measure_copy) *copy;
    __typeof__(slc_cuda_measure_widen) *widen;
    __typeof__(slc_cuda_measure_stride) *stride;
    __typeof__(slc_cuda_measure_banks_copied) *banks_copied;
    __typeof__(slc_cuda_measure_banks) *banks;
    __typeof__(slc_cuda_measure_atomics) *atomics;
};
extern const struct slc_cuda_measure_calls slc_cuda_measure_calls;

#ifdef __cplusplus
}
#endif
#endif
