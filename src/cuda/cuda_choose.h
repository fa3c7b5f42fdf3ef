/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the devices that a word names. slc_cuda_choose (cuda.h) is the same for one.
 */
#ifndef SLUICE_CUDA_CHOOSE_H
#define SLUICE_CUDA_CHOOSE_H

#include <sluice/cuda.h>

enum { SLC_CUDA_LIST_MOST = 64 };

typedef struct slc_cuda_list {
    uint32_t n;
    uint32_t device[SLC_CUDA_LIST_MOST]; /* as the word has them; of "all" in the order of their numbers */
} slc_cuda_list;

/* "cuda", "cuda:N", "cuda:N,M,…", "cuda:all" and "all". SLC_ERR_USAGE for another word, and for a device that
 * it names twice unless `twice`; SLC_ERR_UNSUPPORTED for one that is not there, or if there is none. *error
 * says which there are. After a failure *list is as it was. */
slc_status slc_cuda_list_read(const char *word, bool twice, slc_cuda_list *list, slc_error *error);

#endif
