/* SPDX-License-Identifier: Apache-2.0
 * Results that a GPU copies to at once, by way of the table of engines. */
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_engines.h"

void slc_cms_chain_unlock_result(const slc_cms_result *result)
{
    const slc_cuda_engines *engines = slc_cuda_engines_of(NULL);
    if (engines != NULL && engines->cms != NULL && engines->cms->unlock != NULL) {
        engines->cms->unlock(NULL, result);
    }
}
