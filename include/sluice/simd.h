/* SPDX-License-Identifier: Apache-2.0
 *
 * Instruction sets ("targets"): which are compiled in, which run here, and which one to use. Every kernel is
 * compiled for every target and chosen at run time, once, when a context opens; results are the same on all
 * of them. After the SIMDWrappers of A. Hennequin's thesis (2022), section 2.4.
 */
#ifndef SLUICE_SIMD_H
#define SLUICE_SIMD_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_simd_target {
    SLC_SIMD_AUTO = -1, /* for each kernel the one that was measured to be the fastest */
    SLC_SIMD_C = 0,     /* plain C: the meaning of all others */
    SLC_SIMD_SSE4,
    SLC_SIMD_AVX2,
    SLC_SIMD_AVX512VL128, /* AVX-512 instructions on 128-bit vectors */
    SLC_SIMD_AVX512VL256,
    SLC_SIMD_AVX512,
    SLC_SIMD_AVX512ICL, /* with VBMI, VBMI2, BITALG, VPOPCNTDQ: Ice Lake, Zen 4 and later */
    SLC_SIMD_NEON,
    SLC_SIMD_SVE, /* any vector length */
    SLC_SIMD_TARGETS
} slc_simd_target;

/* "c", "sse4", "avx2", "avx512vl128", "avx512vl256", "avx512", "avx512icl", "neon", "sve"; "auto". */
SLC_API const char *slc_simd_name(slc_simd_target target);

/* Is it in this library; can this machine run it (compiled and supported by processor and system)? */
SLC_API bool slc_simd_compiled(slc_simd_target target);
SLC_API bool slc_simd_runs(slc_simd_target target);

/* Turns a request into a target. `request` is a name, or NULL: then the environment variable SLUICE_SIMD
 * decides, and without it "auto". A target that is unknown or cannot run is SLC_ERR_USAGE, and *error lists
 * those that can. */
SLC_API slc_status slc_simd_choose(const char *request, slc_simd_target *target, slc_error *error);

/* ---- how work is done -------------------------------------------------------------------------- */

typedef enum slc_bind {
    SLC_BIND_NONE = 0,
    SLC_BIND_CORE, /* worker k on the k-th core that may be used, one thread of each core first */
    SLC_BIND_NUMA  /* worker k anywhere on a NUMA node, in turn; its memory comes from there */
} slc_bind;

/* A part of every configuration whose results do not depend on it: `_config_default` sets it. */
typedef struct slc_exec {
    uint32_t threads;       /* 0: one for each processor that this process may use */
    slc_simd_target target; /* a result of slc_simd_choose */
    const char *device;     /* NULL or "cpu": this processor; "cuda", "cuda:N" …: cuda.h. Not kept. */
    slc_bind bind;          /* of threads that a flow starts */
    uint64_t reserved[4];   /* 0 */
} slc_exec;

#ifdef __cplusplus
}
#endif
#endif
