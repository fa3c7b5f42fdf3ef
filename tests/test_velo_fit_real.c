/* SPDX-License-Identifier: Apache-2.0
 * LHCb's ten events through the chain: the states are the scalar oracle's on every instruction set, bit by
 * bit, so the chain hands its target on and real tracks have nothing that random ones lack. */
#include "oracle/velo_fit_oracle.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static const char *const file = "lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf";
static slc_batch batch;

static void read_events(void)
{
    slc_io_source *source;
    slc_error error = {0};
    static slc_faults faults;
    if (slc_io_open(support_data(file), NULL, &source, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
    assert_int_equal(batch.n_events, 10);
    slc_io_close(source);
}

static uint64_t checksum_of(slc_simd_target target)
{
    slc_velo_config config;
    slc_velo_config_default(&config);
    config.exec.target = target;
    slc_velo_chain *chain;
    slc_velo_result result = {0};
    slc_error error = {0};
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, &batch, &result, &error), SLC_OK);
    assert_true(result.tracks.head.size > 1000);
    assert_int_equal(oracle_velo_fit_differences(&config.fit, &result.hits, &result.tracks,
                                                 &result.track_hits, &result.beam, &result.end),
                     0);
    const uint64_t checksum = slc_velo_result_checksum(&result, SLC_CHECKSUM_START);
    slc_velo_chain_close(chain);
    slc_velo_result_clear(&result);
    return checksum;
}

static void every_target_is_the_oracle(void **state)
{
    (void)state;
    read_events();
    const uint64_t expected = checksum_of(SLC_SIMD_AUTO);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        const slc_simd_target target = (slc_simd_target)t;
        if (slc_simd_runs(target)) {
            print_message("%s\n", slc_simd_name(target));
            assert_true(checksum_of(target) == expected);
        }
    }
    slc_batch_clear(&batch);
}

int main(void)
{
    const int absent = support_skip_without(file);
    if (absent != 0) {
        return absent;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_target_is_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
