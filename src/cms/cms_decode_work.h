/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the hot loops of the decoder, one table of them per instruction set, and what they work
 * on. Words of an event become digis in the order of the words; runs of digis of one module are found; runs
 * are put in the order of modules by plain C; and the columns are written from front to back.
 */
#ifndef SLUICE_CMS_DECODE_WORK_H
#define SLUICE_CMS_DECODE_WORK_H

#include "cms/cms_decode_core.h"
#include "simd/simd_kernel.h"
#include "simd_targets.h"

/* Data words of a fragment. */
typedef struct slc_cms_words {
    const uint32_t *word; /* as they came: little-endian */
    size_t n;
    const slc_cms_cable *cables; /* the 384 of the FED */
    uint32_t modules;            /* and unpack: as in slc_cms_decode_config */
    const uint8_t *unpack;
} slc_cms_words;

/* Digis of an event in the order of words. Columns have room for all words and SLC_CMS_DECODE_SPARE more;
 * element -1 may be read, and module[-1] is no module. */
enum { SLC_CMS_DECODE_SPARE = 64 };
typedef struct slc_cms_sifted {
    uint32_t *packed, *module, *raw_id;
    size_t n;
} slc_cms_sifted;

/* What else there is in a fragment. */
typedef struct slc_cms_remains {
    uint32_t *special; /* words, counted in the fragment, that are a fault, whether digi or not; rising */
    size_t n_special;
    uint64_t empty, bad;
} slc_cms_remains;

typedef struct slc_cms_decode_kernels {
    const char *target;
    /* Appends the digis of the words; adds to *remains. */
    void (*sift)(const slc_cms_words *words, slc_cms_sifted *digis, slc_cms_remains *remains);
    /* Where runs of digis with the same module and raw_id begin; returns how many. begin has room for n + 64.
     */
    size_t (*runs)(const slc_cms_sifted *digis, uint32_t *begin);
    /* Writes all digis, run order[0] first, to rows from `row` on, and up to a spare vector behind them.
     * begin[runs] is digis->n. */
    void (*put)(const slc_cms_sifted *digis, const uint32_t *begin, const uint32_t *order, size_t runs,
                const slc_cms_digis *to, size_t row);
} slc_cms_decode_kernels;

#define SLC_CMS_DECODE_DECLARE(target, TARGET)                                                               \
    extern const slc_cms_decode_kernels slc_cms_decode_kernels_##target;
SIMD_FOR_EACH(SLC_CMS_DECODE_DECLARE)
#undef SLC_CMS_DECODE_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_cms_decode_kernels *slc_cms_decode_kernels_of(slc_simd_target target);

extern const slc_simd_kernel slc_cms_decode_kernel_rows[];

#endif
