/* SPDX-License-Identifier: Apache-2.0
 * Which GPUs there are, in builds with CUDA. The runtime is linked statically and looks for the driver's
 * library when it is first called, so that all of this also runs, and says what is missing, where there is no
 * driver. */
#include "cuda/cuda_device.h"
#include "cuda/cuda_engines.h"

#include <string.h>

slc_status slc_cuda_check(cudaError_t code, const char *what, slc_error *error)
{
    slc_status status = SLC_ERR_IO;
    switch (code) {
    case cudaSuccess:
        return SLC_OK;
    case cudaErrorMemoryAllocation:
        status = SLC_ERR_MEMORY;
        break;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        status = SLC_ERR_UNSUPPORTED;
        break;
    default:
        break;
    }
    (void)cudaGetLastError(); /* what is reported here must not be found again by the next call */
    return slc_fail(error, status, "CUDA: %s: %s (%s)", what, cudaGetErrorString(code),
                    cudaGetErrorName(code));
}

slc_status slc_cuda_use(uint32_t device, slc_error *error)
{
    return slc_cuda_check(cudaSetDevice((int)device), "choosing the device", error);
}

static int driver(void)
{
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

static uint32_t devices(slc_error *error)
{
    int n = 0;
    const int version = driver();
    if (version == 0) {
        (void)slc_fail(error, SLC_ERR_UNSUPPORTED, "no CUDA driver");
        return 0;
    }
    const cudaError_t code = cudaGetDeviceCount(&n);
    if (code == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        (void)slc_fail(error, SLC_ERR_UNSUPPORTED,
                       "the driver knows CUDA %d.%d, this build needs %d.%d or newer", version / 1000,
                       version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
        return 0;
    }
    if (code == cudaErrorNoDevice || (code == cudaSuccess && n == 0)) {
        (void)cudaGetLastError();
        (void)slc_fail(error, SLC_ERR_UNSUPPORTED, "no CUDA device");
        return 0;
    }
    if (slc_cuda_check(code, "counting devices", error) != SLC_OK) {
        return 0;
    }
    return (uint32_t)n;
}

static slc_status device_of(uint32_t device, slc_cuda_device *found, slc_error *error)
{
    memset(found, 0, sizeof *found);
    struct cudaDeviceProp properties;
    const slc_status status = slc_cuda_check(cudaGetDeviceProperties(&properties, (int)device),
                                             "reading a device's properties", error);
    if (status != SLC_OK) {
        return status;
    }
    int kilohertz = 0, bits = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, (int)device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, (int)device) != cudaSuccess) {
        (void)cudaGetLastError();
        kilohertz = bits = 0; /* not known */
    }
    memcpy(found->name, properties.name, sizeof found->name);
    found->name[sizeof found->name - 1] = '\0';
    found->major = properties.major;
    found->minor = properties.minor;
    found->multiprocessors = (uint32_t)properties.multiProcessorCount;
    found->memory_bytes = properties.totalGlobalMem;
    /* Two transfers a clock. */
    found->memory_bytes_per_second = 2.0 * 1e3 * (double)kilohertz * (double)bits / 8;
    return SLC_OK;
}

const struct slc_cuda_device_calls slc_cuda_device_calls = {SLUICE_CUDA_BUILT, driver, devices, device_of};
