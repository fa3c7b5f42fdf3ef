/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: memory of the host for batches that go to a GPU, which copies from it at once when it
 * has been page-locked, by way of the table of engines (cuda_blocks.c). Any thread calls these.
 */
#ifndef SLUICE_CUDA_LEND_H
#define SLUICE_CUDA_LEND_H

#include <stddef.h>
#include <stdint.h>

/* NULL: there is no memory, or no table. What was given back before is handed out again. */
void *slc_cuda_lend(size_t bytes);
void slc_cuda_give_back(void *at); /* NULL is allowed */
/* Page-locks it, when it is full, and has been lent so often. If the system refuses, copies go by way of
 * pieces. */
void slc_cuda_lend_lock(void *at, uint32_t times);
/* Bytes, of these and of results, that the system has refused to page-lock so far. */
uint64_t slc_cuda_refused(void);

#endif
