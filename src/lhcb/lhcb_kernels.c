/* SPDX-License-Identifier: Apache-2.0
 * Which table serves a target, what `auto` prefers, and the standard input of the checksum of MDF records. */
#include "lhcb/lhcb_kernels.h"

#include "base/splitmix.h"

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_mdf_kernels_##target,
static const slc_mdf_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_mdf_kernels *slc_mdf_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

/* ---- standard input ---------------------------------------------------------------------------- */

/* All of them lie in the second-level cache, and no power of two apart, for which caches have few places. */
enum { STEPS = 137, RECORD = STEPS * SLC_MDF_LANE_BYTES };

typedef struct records_scratch {
    uint8_t bytes[SLC_MDF_LANES][RECORD];
    uint32_t hash[SLC_MDF_LANES];
} records_scratch;

static void prepare_records(void *scratch, uint64_t seed)
{
    records_scratch *s = scratch;
    for (size_t i = 0; i < SLC_MDF_LANES; i++) {
        for (size_t k = 0; k < RECORD; k++) {
            s->bytes[i][k] = (uint8_t)slc_random_below(&seed, 256);
        }
    }
}

static void run_records(void *scratch, slc_simd_target target)
{
    records_scratch *s = scratch;
    const uint8_t *at[SLC_MDF_LANES];
    for (size_t i = 0; i < SLC_MDF_LANES; i++) {
        at[i] = s->bytes[i];
        s->hash[i] = (uint32_t)i;
    }
    slc_mdf_kernels_of(target)->hash(s->hash, at, SLC_MDF_LANES, STEPS);
}

static uint64_t digest_records(const void *scratch)
{
    const records_scratch *s = scratch;
    return slc_simd_digest(0, s->hash, sizeof s->hash);
}

static const slc_simd_case records = {
    (size_t)SLC_MDF_LANES * RECORD, 1, sizeof(records_scratch), prepare_records, run_records, digest_records};

/* Measured on an AMD EPYC with AVX-512 by `sluice bench --kernels`. */
const slc_simd_kernel slc_mdf_kernel_rows[] = {
    {.name = "mdf.checksum",
     .preference = {{SLC_SIMD_AVX512ICL, 0.0450},
                    {SLC_SIMD_AVX512, 0.0452},
                    {SLC_SIMD_AVX2, 0.0862},
                    {SLC_SIMD_AVX512VL256, 0.0885},
                    {SLC_SIMD_SSE4, 0.165},
                    {SLC_SIMD_AVX512VL128, 0.166}},
     .bench = &records},
    {.name = NULL},
};

const slc_mdf_kernels *slc_mdf_kernels_select(slc_simd_target choice)
{
    return slc_mdf_kernels_of(slc_simd_kernel_choice(&slc_mdf_kernel_rows[0], choice));
}
