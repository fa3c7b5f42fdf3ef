/* SPDX-License-Identifier: Apache-2.0
 * What devices there are and what they are like, and names of errors. */
#include "simt_runtime.h"

#include <cstdio>
#include <map>

using namespace simt;

/* ---- devices -------------------------------------------------------------------------------------- */

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = static_cast<int>(device_count());
    return *n > 0 ? cudaSuccess : told(cudaErrorNoDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    if (device < 0 || static_cast<uint32_t>(device) >= device_count()) {
        return told(cudaErrorInvalidDevice);
    }
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "fibers of this processor (tests/simt)");
    size_t all = 0, rest = 0;
    (void)cudaMemGetInfo(&rest, &all);
    properties->totalGlobalMem = all;
    properties->sharedMemPerBlock = SHARED_USUAL;
    properties->sharedMemPerBlockOptin = SHARED_MOST;
    properties->sharedMemPerMultiprocessor = SHARED_MOST + 1024;
    properties->major = 9;
    properties->multiProcessorCount = MULTIPROCESSORS;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->regsPerBlock = 65536;
    properties->l2CacheSize = 1 << 20;
    properties->memoryBusWidth = 64;
    properties->unifiedAddressing = 1;
    properties->pciBusID = device;
    properties->maxGridSize[0] = INT32_MAX;
    properties->maxGridSize[1] = properties->maxGridSize[2] = UINT16_MAX;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) {
        return error;
    }
    const std::map<cudaDeviceAttr, int> values = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlock, SHARED_USUAL},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrClockRate, 1000000},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrMemoryClockRate, 1000000},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, SHARED_MOST + 1024},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, SHARED_MOST},
    };
    const auto found = values.find(attribute);
    if (found == values.end()) {
        return told(cudaErrorInvalidValue, "an attribute that the emulator does not know");
    }
    *value = found->second;
    return cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t error)
{
#define NAME(name)                                                                                           \
    case name:                                                                                               \
        return #name;
    switch (error) {
        NAME(cudaSuccess)
        NAME(cudaErrorInvalidValue)
        NAME(cudaErrorMemoryAllocation)
        NAME(cudaErrorInvalidConfiguration)
        NAME(cudaErrorInvalidPitchValue)
        NAME(cudaErrorInvalidDevicePointer)
        NAME(cudaErrorInvalidMemcpyDirection)
        NAME(cudaErrorInsufficientDriver)
        NAME(cudaErrorNoDevice)
        NAME(cudaErrorInvalidDevice)
        NAME(cudaErrorNoKernelImageForDevice)
        NAME(cudaErrorUnsupportedPtxVersion)
        NAME(cudaErrorInvalidResourceHandle)
        NAME(cudaErrorIllegalState)
        NAME(cudaErrorNotReady)
        NAME(cudaErrorLaunchOutOfResources)
        NAME(cudaErrorHostMemoryAlreadyRegistered)
        NAME(cudaErrorHostMemoryNotRegistered)
        NAME(cudaErrorNotSupported)
        NAME(cudaErrorStreamCaptureUnsupported)
        NAME(cudaErrorStreamCaptureInvalidated)
    }
#undef NAME
    return "unknown error";
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory" : cudaGetErrorName(error);
}
