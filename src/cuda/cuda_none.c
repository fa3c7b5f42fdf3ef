/* SPDX-License-Identifier: Apache-2.0
 * The functions of <sluice/cuda.h> in a build without CUDA: there is no device, and this is why. */
#include <sluice/cuda.h>

static const char reason[] = "built without CUDA";

const char *slc_cuda_built(void)
{
    return NULL;
}

int slc_cuda_driver(void)
{
    return 0;
}

uint32_t slc_cuda_devices(slc_error *error)
{
    (void)slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
    return 0;
}

slc_status slc_cuda_device_of(uint32_t device, slc_cuda_device *found, slc_error *error)
{
    *found = (slc_cuda_device){.major = 0};
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "device %u: %s", device, reason);
}
