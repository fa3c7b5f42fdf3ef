/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of cms_*_core.h are: they run on the host and on a GPU.
 */
#ifndef SLUICE_CMS_CORE_H
#define SLUICE_CMS_CORE_H

#ifdef __CUDACC__
#define SLC_CMS_CORE static __host__ __device__ inline
#else
#define SLC_CMS_CORE static inline
#endif

#endif
