/* SPDX-License-Identifier: Apache-2.0
 * Page-locked memory, by way of the table of engines. */
#include "cuda/cuda_lend.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"

static const struct slc_cuda_stream_calls *calls(void)
{
    const slc_cuda_engines *engines = slc_cuda_engines_of(NULL);
    return engines != NULL ? engines->stream : NULL;
}

void *slc_cuda_lend(size_t bytes)
{
    return calls() != NULL ? calls()->block_allocate(bytes) : NULL;
}

void slc_cuda_give_back(void *at)
{
    if (at != NULL) {
        calls()->block_release(at);
    }
}

void slc_cuda_lend_lock(void *at, uint32_t times)
{
    (void)calls()->block_lock(at, times);
}

uint64_t slc_cuda_refused(void)
{
    return calls() != NULL ? calls()->blocks_refused(0) : 0;
}
