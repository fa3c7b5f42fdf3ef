/* SPDX-License-Identifier: Apache-2.0
 * Memory that a GPU copies from and to at once, by way of the table of engines. */
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_engines.h"

/* NULL: there is none, or it has no memory of its own. */
static const struct slc_cms_cuda_calls *calls_of(void)
{
    const slc_cuda_engines *engines = slc_cuda_engines_of(NULL);
    return engines != NULL && engines->cms != NULL && engines->cms->allocate != NULL ? engines->cms : NULL;
}

void *slc_cms_chain_allocate(size_t bytes)
{
    const struct slc_cms_cuda_calls *calls = calls_of();
    return calls != NULL ? calls->allocate(bytes) : NULL;
}

void slc_cms_chain_release(void *at)
{
    if (at != NULL) {
        calls_of()->release(at);
    }
}

void slc_cms_chain_lock(void *at)
{
    (void)calls_of()->lock_block(at); /* if not, copies go by way of pieces */
}

void slc_cms_chain_unlock_result(const slc_cms_result *result)
{
    const struct slc_cms_cuda_calls *calls = calls_of();
    if (calls != NULL) {
        calls->unlock(NULL, result);
    }
}
