/* SPDX-License-Identifier: Apache-2.0
 *
 * An event's stretches of digis of one module: CMS's countModules. Where the module differs from the one
 * before is found in vectors; digis that are none are skipped there, so that they make no module longer.
 */
#include "cms/cms_cluster_work.h"

#include "simd/simd.h"

/* Loops that are inlined into one function leave too few registers for each other. */
#define OUT_OF_LINE __attribute__((noinline))

/* The bits below number n < 64. */
static inline uint64_t below(uint32_t n)
{
    return (UINT64_C(1) << n) - 1;
}

enum { BLOCK = 4096, VECTOR = 256 }; /* bytes of the longest vector */

/* Where the number differs from the one before, as bits. */
static inline void differences(const uint16_t *restrict module, uint32_t n, uint8_t *restrict differs,
                               uint8_t *restrict bits)
{
    const u8v zero = u8v_set(0);
    for (uint32_t i = 0; i < n; i++) {
        differs[i] = (uint8_t)(module[i] != module[(int64_t)i - 1]);
    }
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES8) {
        mask8_store(bits + i / 8, u8v_gt(u8v_load(differs + i), zero));
    }
}

OUT_OF_LINE static bool any_outside(const slc_cms_cluster_config *config, const uint16_t *restrict x,
                                    const uint16_t *restrict y, uint32_t n)
{
    const uint32_t rows = config->rows, columns = config->columns;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < n; i++) {
        outside |= (uint32_t)(x[i] >= rows) | (uint32_t)(y[i] >= columns);
    }
    return outside != 0;
}

/* A stretch of module m begins at digi i, unless it goes on there. False: m has had one before. */
static inline bool begin_stretch(slc_cms_split *split, uint32_t i, uint16_t m)
{
    const uint64_t bit = UINT64_C(1) << m % 64;
    if (split->n > 0 && split->id[split->n - 1] == m) {
        return true;
    }
    if ((split->seen[m / 64] & bit) != 0) {
        return false;
    }
    split->seen[m / 64] |= bit;
    split->which[m] = (uint16_t)split->n;
    split->id[split->n] = m;
    split->begin[split->n++] = i;
    return true;
}

static bool split_event(const slc_cms_cluster_config *config, const slc_cms_digis *digis, size_t begin,
                        uint32_t n, slc_cms_split *split)
{
    const uint16_t *module = digis->module + begin;
    uint8_t differs[BLOCK + VECTOR];
    uint64_t bits[BLOCK / 64 + VECTOR / 8];
    split->n = 0;
    memset(split->seen, 0, sizeof split->seen);
    split->outside = any_outside(config, digis->x + begin, digis->y + begin, n);
    if (n > 0 && module[0] < config->modules) {
        (void)begin_stretch(split, 0, module[0]);
    }
    for (uint32_t at = 1; at < n; at += BLOCK) {
        const uint32_t size = n - at < BLOCK ? n - at : BLOCK;
        bits[size / 64] = 0;
        differences(module + at, size, differs, (uint8_t *)bits);
        if (size % 64 != 0) {
            bits[size / 64] &= below(size % 64);
        }
        for (uint32_t k = 0; k < (size + 63) / 64; k++) {
            for (uint64_t word = bits[k]; word != 0; word &= word - 1) {
                const uint32_t i = at + 64 * k + (uint32_t)bits_lowest(word);
                if (module[i] < config->modules && !begin_stretch(split, i, module[i])) {
                    return false;
                }
            }
        }
    }
    split->begin[split->n] = n;
    return true;
}

const slc_cms_split_kernels SIMD_TABLE(slc_cms_split) = {.target = SIMD_TARGET_NAME, .split = split_event};
