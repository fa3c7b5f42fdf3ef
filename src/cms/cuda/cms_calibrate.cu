/* SPDX-License-Identifier: Apache-2.0
 * The calibration of digis that are on a GPU already, the CUDA twin of cms_calibrate.c: a thread for each
 * digi around the formulas of cms_calibrate_core.h. Digis that come from raw words are calibrated by their
 * decoder (cms_decode.cu) on the way. */
#include "cms/cms_calibrate_core.h"
#include "cms/cuda/cms_decode_cuda.h"
#include "cuda/cuda_device.h"

enum { THREADS = 256, GRID_BLOCKS = 8 };

static __device__ void add_total(uint64_t *total, uint32_t more)
{
    if (more > 0) {
        atomicAdd(reinterpret_cast<unsigned long long *>(total), static_cast<unsigned long long>(more));
    }
}

static __global__ void __launch_bounds__(THREADS)
    calibrate1(const slc_cms_cuda_calibration calibration, const slc_cms_digis digis,
               slc_cms_cuda_totals *totals)
{
    __shared__ uint32_t became_count[SLC_CMS_CALIBRATED_NOISY + 1];
    if (threadIdx.x <= SLC_CMS_CALIBRATED_NOISY) {
        became_count[threadIdx.x] = 0;
    }
    __syncthreads();
    const uint32_t n = digis.head.event_offset[digis.head.n_events];
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        uint16_t adc = digis.adc[i];
        const slc_cms_calibrated became = slc_cms_calibrate_phase1(
            &calibration.config, &calibration.gains, digis.module[i], digis.x[i], digis.y[i], &adc);
        if (became == SLC_CMS_CALIBRATED_GOOD) {
            digis.adc[i] = adc;
        } else if (became != SLC_CMS_CALIBRATED_NONE) {
            digis.module[i] = SLC_CMS_NO_MODULE;
            digis.adc[i] = 0;
            atomicAdd(&became_count[became], 1U);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        add_total(&totals->dead, became_count[SLC_CMS_CALIBRATED_DEAD]);
        add_total(&totals->noisy, became_count[SLC_CMS_CALIBRATED_NOISY]);
        add_total(&totals->outside, became_count[SLC_CMS_CALIBRATED_OUTSIDE]);
        add_total(&totals->beyond, became_count[SLC_CMS_CALIBRATED_BEYOND]);
    }
}

static __global__ void __launch_bounds__(THREADS)
    calibrate2(const slc_cms_cuda_calibration calibration, const slc_cms_digis digis)
{
    const uint32_t n = digis.head.event_offset[digis.head.n_events];
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        if (digis.module[i] != SLC_CMS_NO_MODULE) {
            digis.adc[i] = slc_cms_electrons_phase2(&calibration.config, digis.adc[i]);
        }
    }
}

slc_status slc_cms_cuda_calibrate_run(const slc_cms_cuda_calibration *calibration, const slc_cms_digis *digis,
                                      slc_cms_cuda_totals *totals, uint32_t multiprocessors,
                                      struct CUstream_st *stream, slc_error *error)
{
    if (calibration->config.phase == SLC_CMS_PHASE2) {
        calibrate2<<<multiprocessors * GRID_BLOCKS, THREADS, 0, stream>>>(*calibration, *digis);
    } else {
        calibrate1<<<multiprocessors * GRID_BLOCKS, THREADS, 0, stream>>>(*calibration, *digis, totals);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the calibration", error);
}
