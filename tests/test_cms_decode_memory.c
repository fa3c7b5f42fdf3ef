/* SPDX-License-Identifier: Apache-2.0
 * Index and decoder allocate nothing while they run, and reserving survives an allocator that runs dry. */
#include "cms/cms_stages.h"
#include "support/failing_allocator.h"

#include "support/cmocka_all.h"
#include "support/cms_raw.h"

static slc_batch make_batch(void)
{
    slc_batch batch = {0};
    for (uint32_t e = 0; e < 3; e++) {
        cms_raw raw = {0};
        cms_raw_event(&raw);
        for (uint32_t f = 0; f < 4; f++) {
            cms_raw_begin(&raw, 1230 + f);
            for (uint32_t i = 0; i < 300; i++) {
                cms_raw_u32(&raw, cms_raw_pixel(1 + i / 10, 1 + i % 5, i % 80, i % 52, i % 256));
            }
            cms_raw_end(&raw, f == 0 ? 4 : 0);
        }
        raw.at[4 + 4] ^= (uint8_t)(e == 2 ? 8 : 0); /* a size that is wrong */
        assert_int_equal(slc_batch_append(&batch, raw.at, raw.size, 0), SLC_OK);
        cms_raw_clear(&raw);
    }
    return batch;
}

static void running_allocates_nothing(void **state)
{
    (void)state;
    slc_cms_cabling *cabling = cms_raw_cabling();
    slc_batch batch = make_batch();
    slc_cms_fragments fragments = {0};
    slc_cms_digis digis = {0};
    slc_cms_decode_scratch scratch = {0};
    slc_cms_word_counts counts;
    slc_faults faults = {0};
    slc_cms_decode_config config;
    slc_cms_decode_config_default(&config);
    size_t n_fragments, n_digis;
    slc_cms_decode_bound(&batch, &n_fragments, &n_digis);
    assert_int_equal(n_fragments, 12);
    assert_int_equal(n_digis, 3600);
    assert_int_equal(slc_columns_reserve(&slc_cms_fragments_schema, &fragments, n_fragments, 3), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &digis, n_digis, 3), SLC_OK);
    assert_int_equal(slc_cms_decode_reserve(&scratch, n_digis), SLC_OK);
    const unsigned long before = allocator_calls;
    assert_int_equal(slc_cms_cabling_check(cabling, NULL), SLC_OK);
    assert_int_equal(slc_cms_index_run(&batch, &fragments, &faults), SLC_OK);
    assert_int_equal(slc_cms_decode_run(&config, SLC_SIMD_AUTO, cabling, &batch, &fragments, &scratch, &digis,
                                        &counts, &faults),
                     SLC_OK);
    assert_int_equal(allocator_calls, before);
    assert_int_equal(fragments.head.size, 12);
    assert_int_equal(digis.head.size, 3600 / 5 * 4);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CMS_ROC_ID), 3600 / 5);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CMS_CRC), 3);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CMS_EVENT), 1);
    slc_columns_clear(&slc_cms_fragments_schema, &fragments);
    slc_columns_clear(&slc_cms_digis_schema, &digis);
    slc_cms_decode_clear(&scratch);
    slc_batch_clear(&batch);
    free(cabling);
}

static void reserving_without_memory_changes_nothing(void **state)
{
    (void)state;
    slc_cms_decode_scratch scratch = {0};
    allocations_left = 0;
    assert_int_equal(slc_cms_decode_reserve(&scratch, 100), SLC_ERR_MEMORY);
    assert_null(scratch.block);
    allocations_left = 1;
    assert_int_equal(slc_cms_decode_reserve(&scratch, 100), SLC_OK);
    void *block = scratch.block;
    assert_int_equal(slc_cms_decode_reserve(&scratch, 100), SLC_OK); /* nothing to do */
    assert_int_equal(slc_cms_decode_reserve(&scratch, 101), SLC_ERR_MEMORY);
    assert_ptr_equal(scratch.block, block);
    assert_int_equal(scratch.digis, 100);
    allocations_left = LONG_MAX;
    assert_int_equal(slc_cms_decode_reserve(&scratch, (size_t)UINT32_MAX + 1), SLC_ERR_USAGE);
    slc_cms_decode_clear(&scratch);
    assert_null(scratch.block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_allocates_nothing),
        cmocka_unit_test(reserving_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
