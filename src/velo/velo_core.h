/* SPDX-License-Identifier: Apache-2.0
 *
 * What functions of the VELO are that run on the host and on a GPU.
 */
#ifndef SLUICE_VELO_CORE_H
#define SLUICE_VELO_CORE_H

#ifdef __CUDACC__
#define SLC_VELO_CORE static __host__ __device__ inline
#else
#define SLC_VELO_CORE static inline
#endif

#endif
