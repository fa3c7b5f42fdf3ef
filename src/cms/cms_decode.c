/* SPDX-License-Identifier: Apache-2.0
 *
 * Data words to digis, sorted by module. Words of a link follow each other, so a module's digis come in runs,
 * and the sort moves runs: they are counted for each module and put in the modules' order, and only then are
 * columns written, from front to back. The loops over words and digis are in cms_decode.simd.c.
 */
#include "cms/cms_decode_work.h"
#include "cms/cms_stages.h"

#include "base/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 1 << 16 }; /* that fit into a column */

typedef struct work {
    uint32_t *of_module; /* runs of each module, then those before it */
    uint32_t *packed, *module, *raw_id, *special, *begin, *order;
} work;

/* One event. */
typedef struct job {
    const slc_cms_decode_kernels *kernels;
    const slc_cms_decode_config *config;
    const slc_cms_cabling *cabling;
    const uint8_t *bytes;
    uint64_t event;
    uint32_t modules;
    work work;
    slc_cms_sifted digis;
    slc_cms_word_counts *counts;
    slc_faults *faults;
} job;

void slc_cms_decode_config_default(slc_cms_decode_config *config)
{
    *config = (slc_cms_decode_config){.modules = SLC_CMS_MODULES_PHASE1};
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Columns of the words of an event, with a vector in front and behind. */
enum { FRONT = SLC_BLOCK_ALIGN / sizeof(uint32_t), COLUMNS = 6 };

static size_t column_bound(size_t words)
{
    return slc_block_bound((FRONT + words + SLC_CMS_DECODE_SPARE) * sizeof(uint32_t));
}

static uint32_t *take_column(char **at, size_t words)
{
    uint32_t *column = slc_block_take(at, column_bound(words));
    column[FRONT - 1] = UINT32_MAX;
    return column + FRONT;
}

static work work_of(const slc_cms_decode_scratch *scratch)
{
    char *at = scratch->block;
    const size_t n = scratch->digis;
    work w;
    w.of_module = slc_block_take(&at, (MODULES + 1) * sizeof *w.of_module);
    w.packed = take_column(&at, n);
    w.module = take_column(&at, n);
    w.raw_id = take_column(&at, n);
    w.special = take_column(&at, n);
    w.begin = take_column(&at, n);
    w.order = take_column(&at, n);
    return w;
}

slc_status slc_cms_decode_reserve(slc_cms_decode_scratch *scratch, size_t digis_of_event)
{
    if (scratch->block != NULL && digis_of_event <= scratch->digis) {
        return SLC_OK;
    }
    if (digis_of_event > UINT32_MAX) {
        return SLC_ERR_USAGE;
    }
    /* Memory that no event has needed so far is not touched. */
    const size_t bytes = slc_block_bound((MODULES + 1) * sizeof(uint32_t)) +
                         COLUMNS * column_bound(digis_of_event);
    void *block = calloc(1, bytes);
    if (block == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(scratch->block);
    scratch->block = block;
    scratch->digis = digis_of_event;
    return SLC_OK;
}

void slc_cms_decode_clear(slc_cms_decode_scratch *scratch)
{
    free(scratch->block);
    *scratch = (slc_cms_decode_scratch){0};
}

/* ---- words to digis in their order --------------------------------------------------------------- */

/* Words that are a fault, one by one. */
static void judge(const job *j, const slc_cms_words *words, uint32_t fed, size_t offset,
                  const slc_cms_remains *remains)
{
    for (size_t k = 0; k < remains->n_special; k++) {
        const uint32_t i = remains->special[k], before = i > 0 ? words->word[i - 1] : 0;
        const slc_cms_word word = slc_cms_judge_word(words->word[i], before, words->cables, words->modules,
                                                     words->unpack);
        slc_faults_add(j->faults, word.fault, j->event, (int32_t)fed, offset + 4 * (size_t)i);
        j->counts->errors += word.kind == SLC_CMS_WORD_ERROR;
        j->counts->invalid += word.kind == SLC_CMS_WORD_INVALID;
    }
}

static void take_fragment(job *j, uint32_t fed, size_t begin, size_t n)
{
    const slc_cms_words words = {
        .word = (const uint32_t *)(const void *)(j->bytes + begin),
        .n = n,
        .cables = &j->cabling->cable[(fed - SLC_CMS_FED_FIRST) * SLC_CMS_FED_CABLES],
        .modules = j->modules,
        .unpack = j->config->unpack,
    };
    slc_cms_remains remains = {.special = j->work.special};
    j->kernels->sift(&words, &j->digis, &remains);
    judge(j, &words, fed, begin, &remains);
    j->counts->words += n;
    j->counts->empty += remains.empty;
    j->counts->bad_roc += remains.bad;
}

/* ---- digis to columns in the order of modules ---------------------------------------------------- */

/* The order of runs: by module, those of a module as they came. */
static size_t sort(job *j)
{
    const work *w = &j->work;
    uint32_t *of_module = w->of_module;
    const size_t n = j->kernels->runs(&j->digis, w->begin);
    w->begin[n] = (uint32_t)j->digis.n;
    memset(of_module, 0, ((size_t)j->modules + 1) * sizeof *of_module);
    for (size_t r = 0; r < n; r++) {
        of_module[w->module[w->begin[r]] + 1]++;
    }
    for (uint32_t m = 0; m < j->modules; m++) {
        of_module[m + 1] += of_module[m];
    }
    for (size_t r = 0; r < n; r++) {
        w->order[of_module[w->module[w->begin[r]]]++] = (uint32_t)r;
    }
    return n;
}

static slc_status decode_event(job *j, const slc_cms_fragments *fragments, uint32_t event, size_t room,
                               slc_cms_digis *digis)
{
    const uint32_t *offset = fragments->head.event_offset;
    uint64_t words = 0;
    for (uint32_t f = offset[event]; f < offset[event + 1]; f++) {
        words += fragments->n_words[f];
    }
    if (words > room || words > digis->head.capacity - digis->head.size) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t f = offset[event]; f < offset[event + 1]; f++) {
        assert(fragments->fed[f] - SLC_CMS_FED_FIRST < SLC_CMS_FEDS && fragments->begin[f] % 4 == 0);
        take_fragment(j, fragments->fed[f], fragments->begin[f], fragments->n_words[f]);
    }
    const size_t runs = sort(j);
    j->kernels->put(&j->digis, j->work.begin, j->work.order, runs, digis, digis->head.size);
    digis->head.size += j->digis.n;
    j->counts->digis += j->digis.n;
    return SLC_OK;
}

slc_status slc_cms_decode_run(const slc_cms_decode_config *config, slc_simd_target target,
                              const slc_cms_cabling *cabling, const slc_batch *batch,
                              const slc_cms_fragments *fragments, slc_cms_decode_scratch *scratch,
                              slc_cms_digis *digis, slc_cms_word_counts *counts, slc_faults *faults)
{
    assert(fragments->head.n_events == batch->n_events);
    slc_columns_reset(digis);
    *counts = (slc_cms_word_counts){0};
    if (target != SLC_SIMD_AUTO && !slc_simd_runs(target)) {
        return SLC_ERR_USAGE;
    }
    if (digis->head.block == NULL || digis->head.event_capacity < batch->n_events || scratch->block == NULL) {
        return SLC_ERR_CAPACITY;
    }
    job j = {
        .kernels = slc_cms_decode_kernels_of(slc_simd_kernel_choice(&slc_cms_decode_kernel_rows[0], target)),
        .config = config,
        .cabling = cabling,
        /* No digi has an index of SLC_CMS_NO_MODULE or above. */
        .modules = config->modules < SLC_CMS_NO_MODULE ? config->modules : SLC_CMS_NO_MODULE,
        .work = work_of(scratch),
        .counts = counts,
        .faults = faults};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        j.bytes = batch->size > 0 ? batch->bytes + batch->offset[e] : NULL;
        j.event = batch->first_event + e;
        j.digis = (slc_cms_sifted){j.work.packed, j.work.module, j.work.raw_id, 0};
        const slc_status status = decode_event(&j, fragments, e, scratch->digis, digis);
        if (status != SLC_OK) {
            return status;
        }
        slc_columns_end_event(digis);
    }
    return SLC_OK;
}
