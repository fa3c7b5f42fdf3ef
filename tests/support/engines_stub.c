/* SPDX-License-Identifier: Apache-2.0
 * A library in the place of libsluice-cuda, for test_engines.c: of another interface or version, or right. */
#include "cuda/cuda_engines.h"

static int driver(void)
{
    return 12040;
}

static uint32_t devices(slc_error *error)
{
    (void)error;
    return 1;
}

static slc_status device_of(uint32_t device, slc_cuda_device *found, slc_error *error)
{
    (void)error;
    found->major = (int)device + 9;
    return SLC_OK;
}

static const struct slc_cuda_device_calls calls = {"stub", driver, devices, device_of};

extern const slc_cuda_engines STUB_TABLE __attribute__((visibility("default")));
const slc_cuda_engines STUB_TABLE = {.abi = STUB_ABI, .version = STUB_VERSION, .device = &calls};
