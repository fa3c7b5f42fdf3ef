/* SPDX-License-Identifier: Apache-2.0
 *
 * Index and decoder together on a batch, for tests: memory as large as _bound tells, results in one struct.
 */
#ifndef TESTS_SUPPORT_CMS_RUN_H
#define TESTS_SUPPORT_CMS_RUN_H

#include "base/columns.h"
#include "cms/cms_stages.h"
#include "support/cmocka_all.h"
#include "support/fault_counts.h"

typedef struct cms_run {
    slc_cms_fragments fragments;
    slc_cms_decode_scratch scratch;
    slc_cms_digis digis;
    slc_cms_word_counts counts;
    slc_faults faults;
} cms_run;

/* Counting alone finds as much, and the same faults. */
static inline void cms_run_assert_counted(const cms_run *run, const slc_batch *batch)
{
    uint64_t fragments, words, listed = 0;
    slc_faults faults = {.n_kept = 0};
    slc_cms_count_fragments(batch, &fragments, &words, &faults);
    for (size_t i = 0; i < run->fragments.head.size; i++) {
        listed += run->fragments.n_words[i];
    }
    assert_int_equal(fragments, run->fragments.head.size);
    assert_int_equal(words, listed);
    assert_true(fault_counts_equal(&faults, &run->faults));
}

/* `config` may be NULL. */
static inline void cms_run_batch(cms_run *run, const slc_cms_decode_config *config, slc_simd_target target,
                                 const slc_cms_cabling *cabling, const slc_batch *batch)
{
    slc_cms_decode_config standard;
    slc_cms_decode_config_default(&standard);
    size_t fragments, digis;
    slc_faults_reset(&run->faults);
    slc_cms_decode_bound(batch, &fragments, &digis);
    assert_int_equal(
        slc_columns_reserve(&slc_cms_fragments_schema, &run->fragments, fragments, batch->n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &run->digis, digis, batch->n_events), SLC_OK);
    assert_int_equal(slc_cms_decode_reserve(&run->scratch, digis), SLC_OK);
    assert_int_equal(slc_cms_index_run(batch, &run->fragments, &run->faults), SLC_OK);
    cms_run_assert_counted(run, batch);
    assert_int_equal(slc_cms_decode_run(config != NULL ? config : &standard, target, cabling, batch,
                                        &run->fragments, &run->scratch, &run->digis, &run->counts,
                                        &run->faults),
                     SLC_OK);
    assert_true(slc_columns_check(&slc_cms_fragments_schema, &run->fragments, NULL));
    assert_true(slc_columns_check(&slc_cms_digis_schema, &run->digis, NULL));
    assert_int_equal(run->digis.head.n_events, batch->n_events);
    assert_int_equal(run->digis.head.size, run->counts.digis);
    const slc_cms_word_counts *n = &run->counts;
    assert_int_equal(n->words, n->empty + n->errors + n->invalid + n->bad_roc + n->digis);
}

/* The same on one event. */
static inline void cms_run_event(cms_run *run, const slc_cms_cabling *cabling, const void *event, size_t size)
{
    slc_batch batch = {0};
    assert_int_equal(slc_batch_append(&batch, event, size, 0), SLC_OK);
    cms_run_batch(run, NULL, SLC_SIMD_AUTO, cabling, &batch);
    slc_batch_clear(&batch);
}

static inline void cms_run_clear(cms_run *run)
{
    slc_columns_clear(&slc_cms_fragments_schema, &run->fragments);
    slc_columns_clear(&slc_cms_digis_schema, &run->digis);
    slc_cms_decode_clear(&run->scratch);
}

#endif
