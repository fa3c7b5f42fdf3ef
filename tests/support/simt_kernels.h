/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that show what the functions of CUDA do that this project uses, to be compared between a GPU, the
 * emulator (tests/simt) and formulas (test_simt.c). All launchers return a status of the library.
 */
#ifndef TESTS_SUPPORT_SIMT_KERNELS_H
#define TESTS_SUPPORT_SIMT_KERNELS_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* What a thread of one block writes: results[row · threads + thread]. */
enum {
    SIMT_SHFL,
    SIMT_SHFL_8,
    SIMT_UP,
    SIMT_UP_8,
    SIMT_DOWN,
    SIMT_DOWN_16,
    SIMT_XOR,
    SIMT_XOR_4,
    SIMT_BALLOT,
    SIMT_ANY,
    SIMT_ALL,
    SIMT_MATCH_ANY,
    SIMT_MATCH_ANY_64,
    SIMT_MATCH_ALL,
    SIMT_REDUCE_ADD,
    SIMT_REDUCE_MIN,
    SIMT_REDUCE_MAX_SIGNED,
    SIMT_REDUCE_XOR,
    SIMT_ODD_BALLOT, /* by the lanes whose value is odd alone; others write 0 */
    SIMT_ODD_ADD,
    SIMT_BLOCK_COUNT,
    SIMT_BLOCK_AND,
    SIMT_BLOCK_OR,
    SIMT_BLOCK_BEFORE, /* the sum of the values of all threads before, by shared memory */
    SIMT_PERM,
    SIMT_FUNNEL_L,
    SIMT_FUNNEL_R,
    SIMT_POPC,
    SIMT_CLZ,
    SIMT_FFS,
    SIMT_BREV,
    SIMT_UMULHI,
    SIMT_BYTES_GE,
    SIMT_BYTES_EQ,
    SIMT_BYTES_SUM,
    SIMT_ROWS
};
/* One block of `threads` threads (shared memory for 1024). Addresses are of the device. */
slc_status simt_functions(const uint32_t *values, uint32_t threads, uint32_t *results,
                          struct CUstream_st *stream, slc_error *error);

/* Blocks of 128 threads count their numbers: result[0] is the sum, [1] the least and 5 more, [2] the largest,
 * [5] how many there are, [6] and [7] a number of 64 bits, 2^33 for each and the sum. result begins with 0,
 * but [1] with ~0; it is aligned to 8 bytes. */
slc_status simt_atomics(uint32_t blocks, uint32_t *result, struct CUstream_st *stream, slc_error *error);

/* A sum over `blocks` blocks that look back at those before them: before[b] = sum of values below b. `state`
 * has 3 · blocks words, all 0. */
slc_status simt_look_back(const uint32_t *values, uint32_t blocks, uint32_t *state, uint32_t *before,
                          struct CUstream_st *stream, slc_error *error);

/* Wrong on purpose, for the emulator alone. 0: shared memory is read without a barrier; 1: half of a warp
 * waits for the rest, which waits for the block; 2: a mask without the caller; 3: lanes of one mask in two
 * calls; 4: shared memory is read that nobody wrote; 5: a write behind the allocation. */
slc_status simt_wrong(int kind, uint32_t *results, struct CUstream_st *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
