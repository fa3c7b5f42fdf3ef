/* SPDX-License-Identifier: Apache-2.0
 * CMS's fragments through index and decoder: what comes out must keep its contract, whatever came in, and be
 * the same on two targets. */
#include "fuzz_cms.h"
#include "../tests/support/fault_counts.h"
#include "cms/cms_stages.h"

#include <stdlib.h>
#include <string.h>

enum { TARGETS = 2 };

static struct {
    bool ready;
    slc_cms_cabling cabling;
    slc_cms_fragments fragments;
    slc_cms_decode_scratch scratch;
    slc_cms_digis digis[TARGETS];
} kept;

static void release(void)
{
    slc_columns_clear(&slc_cms_fragments_schema, &kept.fragments);
    slc_cms_decode_clear(&kept.scratch);
    for (size_t i = 0; i < TARGETS; i++) {
        slc_columns_clear(&slc_cms_digis_schema, &kept.digis[i]);
    }
}

static uint32_t id_of(uint32_t module)
{
    const uint32_t layer = module < 96 ? 1 : 2 + module % 3;
    return module < SLC_CMS_BARREL_END
               ? 1U << 28 | 1U << 25 | layer << 20 | module / 8 << 12 | (1 + module % 8) << 2
               : 5U << 26 | module << 2;
}

const slc_cms_cabling *fuzz_cms_cabling(void)
{
    if (!kept.ready) {
        for (uint32_t i = 0; i < SLC_CMS_CABLES; i++) {
            const uint32_t link = i / SLC_CMS_LINK_ROCS % SLC_CMS_LINKS, roc = i % SLC_CMS_LINK_ROCS;
            const uint32_t module = i / (SLC_CMS_LINKS * SLC_CMS_LINK_ROCS) * 12 + link / 4;
            if (roc < 4 && link != 47) {
                kept.cabling.cable[i] = (slc_cms_cable){id_of(module), (uint16_t)module,
                                                        (uint8_t)(link % 4 * 4 + roc), link == 46};
            }
        }
        slc_error error = {0};
        fuzz_require(slc_cms_cabling_check(&kept.cabling, &error) == SLC_OK, "the cabling is possible");
        fuzz_require(atexit(release) == 0, "memory is given back");
        kept.ready = true;
    }
    return &kept.cabling;
}

static void require_digis(const slc_cms_digis *digis, const slc_cms_word_counts *n, const slc_batch *batch)
{
    fuzz_require_columns(&slc_cms_digis_schema, digis);
    fuzz_require(digis->head.n_events == batch->n_events, "digis have every event");
    fuzz_require(n->digis == digis->head.size, "digis are counted");
    fuzz_require(n->words == n->empty + n->errors + n->invalid + n->bad_roc + n->digis,
                 "every word is something");
    for (uint32_t e = 0; e < digis->head.n_events; e++) {
        for (uint32_t i = digis->head.event_offset[e]; i < digis->head.event_offset[e + 1]; i++) {
            fuzz_require(digis->x[i] < SLC_CMS_ROWS && digis->y[i] < SLC_CMS_COLUMNS,
                         "digis lie in their module");
            fuzz_require(digis->module[i] < SLC_CMS_MODULES_PHASE1, "digis have a module");
            fuzz_require(i == digis->head.event_offset[e] || digis->module[i - 1] <= digis->module[i],
                         "digis are sorted by module");
        }
    }
}

static void require_fragments(const slc_batch *batch)
{
    const slc_cms_fragments *f = &kept.fragments;
    fuzz_require_columns(&slc_cms_fragments_schema, f);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        for (uint32_t i = f->head.event_offset[e]; i < f->head.event_offset[e + 1]; i++) {
            fuzz_require(f->fed[i] - SLC_CMS_FED_FIRST < SLC_CMS_FEDS && f->begin[i] % 4 == 0 &&
                             f->begin[i] + 4 * (uint64_t)f->n_words[i] + 8 <= batch->length[e],
                         "fragments lie in their event");
        }
    }
}

void fuzz_cms_events(const slc_batch *batch)
{
    const slc_cms_cabling *cabling = fuzz_cms_cabling();
    size_t fragments, words;
    slc_cms_decode_bound(batch, &fragments, &words);
    slc_faults faults[1 + TARGETS] = {0};
    fuzz_require(slc_columns_reserve(&slc_cms_fragments_schema, &kept.fragments, fragments,
                                     batch->n_events) == SLC_OK &&
                     slc_cms_decode_reserve(&kept.scratch, words) == SLC_OK,
                 "memory");
    fuzz_require(slc_cms_index_run(batch, &kept.fragments, &faults[TARGETS]) == SLC_OK,
                 "there is room for the fragments");
    require_fragments(batch);
    static const slc_simd_target targets[TARGETS] = {SLC_SIMD_C, SLC_SIMD_AUTO};
    for (size_t t = 0; t < TARGETS; t++) {
        slc_cms_decode_config config;
        slc_cms_word_counts counts;
        slc_cms_decode_config_default(&config);
        fuzz_require(slc_columns_reserve(&slc_cms_digis_schema, &kept.digis[t], words, batch->n_events) ==
                         SLC_OK,
                     "memory");
        fuzz_require(slc_cms_decode_run(&config, targets[t], cabling, batch, &kept.fragments, &kept.scratch,
                                        &kept.digis[t], &counts, &faults[t]) == SLC_OK,
                     "there is room for the digis");
        require_digis(&kept.digis[t], &counts, batch);
    }
    for (uint32_t e = 0; e < batch->n_events; e++) {
        fuzz_require(slc_columns_checksum(&slc_cms_digis_schema, &kept.digis[0], e, SLC_CHECKSUM_START) ==
                         slc_columns_checksum(&slc_cms_digis_schema, &kept.digis[1], e, SLC_CHECKSUM_START),
                     "targets agree on digis");
    }
    fuzz_require(fault_counts_equal(&faults[0], &faults[1]), "targets agree on faults");
}

void fuzz_cms_mend(uint8_t *payload, size_t size)
{
    uint32_t crc = 0xffffffffU;
    for (size_t i = 16; i < size; i++) {
        crc ^= payload[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        payload[12 + i] = (uint8_t)(~crc >> 8 * i);
    }
}
