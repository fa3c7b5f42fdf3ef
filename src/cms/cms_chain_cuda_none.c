/* SPDX-License-Identifier: Apache-2.0
 * The chain on a GPU in a build without CUDA: it cannot be opened, and says why. */
#include "cms/cuda/cms_chain_cuda.h"

static const char reason[] = "CMS chain on a GPU: built without CUDA";

slc_status slc_cms_cuda_open(const slc_cms_config *config, const slc_cms_cabling *cabling,
                             const slc_cms_gains *gains, uint32_t device, slc_cms_cuda_chain **chain,
                             slc_error *error)
{
    (void)config;
    (void)cabling;
    (void)gains;
    (void)device;
    *chain = NULL;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_cms_cuda_close(slc_cms_cuda_chain *chain)
{
    (void)chain;
}

slc_status slc_cms_cuda_reserve(slc_cms_cuda_chain *chain, const slc_batch *batch, slc_error *error)
{
    (void)chain;
    (void)batch;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_cms_cuda_run(slc_cms_cuda_chain *chain, const slc_batch *batch,
                            const slc_cms_fragments *fragments, slc_cms_result *result, slc_error *error)
{
    (void)chain;
    (void)batch;
    (void)fragments;
    (void)result;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_cms_cuda_reserve_digis(slc_cms_cuda_chain *chain, const slc_cms_digis *digis, slc_error *error)
{
    (void)chain;
    (void)digis;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_cms_cuda_run_digis(slc_cms_cuda_chain *chain, slc_cms_result *result, slc_error *error)
{
    (void)chain;
    (void)result;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_cms_cuda_lock(const slc_batch *batch, const slc_cms_result *result, slc_error *error)
{
    (void)batch;
    (void)result;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_cms_cuda_unlock(const slc_batch *batch, const slc_cms_result *result)
{
    (void)batch;
    (void)result;
}

slc_status slc_cms_cuda_time(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, double *seconds,
                             size_t *bytes, slc_error *error)
{
    (void)chain;
    (void)part;
    (void)bytes;
    *seconds = 0;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}
