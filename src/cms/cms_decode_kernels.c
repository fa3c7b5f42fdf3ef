/* SPDX-License-Identifier: Apache-2.0
 * The tables of the decoder's kernels, what `auto` prefers, and their standard input: a fragment with some
 * ten words of every chip, and a faulty word now and then.
 */
#include "cms/cms_decode_work.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_cms_decode_kernels_##target,
static const slc_cms_decode_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_cms_decode_kernels *slc_cms_decode_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

/* ---- the standard input ------------------------------------------------------------------------- */

enum {
    CHIPS = 4, /* of a link */
    CHIP_WORDS = 10,
    WORDS = SLC_CMS_LINKS * CHIPS * CHIP_WORDS,
    FRONT = 64,
    ROOM = FRONT + WORDS + SLC_CMS_DECODE_SPARE
};

typedef struct scratch {
    slc_cms_cable cable[SLC_CMS_FED_CABLES];
    uint32_t word[WORDS];
    uint32_t packed[ROOM], module[ROOM], raw_id[ROOM], special[ROOM], begin[ROOM], order[ROOM];
    uint32_t to_packed[ROOM], to_raw_id[ROOM];
    int32_t to_cluster[ROOM];
    uint16_t to_adc[ROOM], to_x[ROOM], to_y[ROOM], to_module[ROOM];
    slc_cms_remains remains;
    size_t n, runs;
} scratch;

/* Four links a module; of twelve modules one is layer 1, some are forward, one chip is bad. */
static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    s->module[FRONT - 1] = UINT32_MAX;
    for (uint32_t link = 0; link < SLC_CMS_LINKS; link++) {
        const uint32_t module = link / CHIPS, layer = 1 + module % 4;
        for (uint32_t roc = 0; roc < CHIPS; roc++) {
            s->cable[link * SLC_CMS_LINK_ROCS + roc] = (slc_cms_cable){
                .raw_id = module < 8 ? 1U << 28 | 1U << 25 | layer << 20 | module << 2
                                     : 5U << 26 | module << 2,
                .module = (uint16_t)(500 + 7 * module),
                .roc = (uint8_t)(link % CHIPS * CHIPS + roc),
                .bad = link == 20 && roc == 2};
        }
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t link = 1 + i / (CHIPS * CHIP_WORDS), roc = 1 + i / CHIP_WORDS % CHIPS;
        /* Good in both layouts. */
        const uint32_t pixel = slc_random_below(&seed, 24) << 16 | (2 + slc_random_below(&seed, 70)) << 8;
        s->word[i] = link << 26 | roc << SLC_CMS_WORD_PLACE_SHIFT | pixel | slc_random_below(&seed, 256);
        if (slc_random_below(&seed, 200) == 0) {
            s->word[i] ^= 1U << slc_random_below(&seed, 32);
        }
    }
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_cms_decode_kernels *kernels = slc_cms_decode_kernels_of(target);
    const slc_cms_words words = {s->word, WORDS, s->cable, SLC_CMS_MODULES_PHASE1, NULL};
    slc_cms_sifted digis = {s->packed + FRONT, s->module + FRONT, s->raw_id + FRONT, 0};
    s->remains = (slc_cms_remains){.special = s->special};
    kernels->sift(&words, &digis, &s->remains);
    s->n = digis.n;
    s->runs = kernels->runs(&digis, s->begin);
    s->begin[s->runs] = (uint32_t)digis.n;
    for (uint32_t r = 0; r < s->runs; r++) {
        s->order[r] = (uint32_t)s->runs - 1 - r;
    }
    const slc_cms_digis to = {.packed = s->to_packed,
                              .raw_id = s->to_raw_id,
                              .cluster = s->to_cluster,
                              .adc = s->to_adc,
                              .x = s->to_x,
                              .y = s->to_y,
                              .module = s->to_module};
    kernels->put(&digis, s->begin, s->order, s->runs, &to, 0);
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    const size_t n = s->n;
    uint64_t d = n + (s->runs << 16) + (s->remains.empty << 32) + (s->remains.bad << 40);
    d = slc_simd_digest(d, s->special, s->remains.n_special * sizeof *s->special);
    d = slc_simd_digest(d, s->to_packed, n * sizeof *s->to_packed);
    d = slc_simd_digest(d, s->to_raw_id, n * sizeof *s->to_raw_id);
    d = slc_simd_digest(d, s->to_cluster, n * sizeof *s->to_cluster);
    d = slc_simd_digest(d, s->to_adc, n * sizeof *s->to_adc);
    d = slc_simd_digest(d, s->to_x, n * sizeof *s->to_x);
    d = slc_simd_digest(d, s->to_y, n * sizeof *s->to_y);
    return slc_simd_digest(d, s->to_module, n * sizeof *s->to_module);
}

/* A word is read, three numbers are kept, and a digi of 20 bytes is written. */
static const slc_simd_case fragment = {WORDS, 4 + 2 * 12 + 20, sizeof(scratch), prepare, run, digest};

const slc_simd_kernel slc_cms_decode_kernel_rows[] = {
    /* Measured on an EPYC of the fifth generation, gcc 12, per word: sluice bench --kernels --kernel
       cms.decode */
    {.name = "cms.decode",
     .preference = {{SLC_SIMD_AVX512ICL, 1.29},
                    {SLC_SIMD_AVX512, 1.30},
                    {SLC_SIMD_AVX512VL256, 1.72},
                    {SLC_SIMD_AVX2, 2.05},
                    {SLC_SIMD_AVX512VL128, 2.92},
                    {SLC_SIMD_SSE4, 5.18},
                    {SLC_SIMD_C, 6.41}},
     .bench = &fragment},
    {.name = NULL},
};
