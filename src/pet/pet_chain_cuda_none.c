/* SPDX-License-Identifier: Apache-2.0
 * The chain on a GPU in a build without it: it cannot be opened, and says why. */
#include "pet/cuda/pet_chain_cuda.h"

static const char reason[] = "PET chain on a GPU: not in this build";

slc_status slc_pet_cuda_open(const slc_pet_config *config, const slc_pet_tables *tables, uint32_t device,
                             slc_pet_cuda_chain **chain, slc_error *error)
{
    (void)config;
    (void)tables;
    (void)device;
    *chain = NULL;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_pet_cuda_close(slc_pet_cuda_chain *chain)
{
    (void)chain;
}

slc_status slc_pet_cuda_run(slc_pet_cuda_chain *chain, const slc_pet_frame *frames,
                            const uint64_t *received_ns, size_t n, bool last, slc_pet_result *result,
                            slc_error *error)
{
    (void)chain;
    (void)frames;
    (void)received_ns;
    (void)n;
    (void)last;
    (void)result;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_pet_cuda_totals(const slc_pet_cuda_chain *chain, slc_pet_totals *totals)
{
    (void)chain;
    *totals = (slc_pet_totals){0};
}

void slc_pet_cuda_cut(slc_pet_cuda_chain *chain, size_t frames)
{
    (void)chain;
    (void)frames;
}
