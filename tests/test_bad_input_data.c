/* SPDX-License-Identifier: Apache-2.0
 * Damage to real events: the two smallest of the reference file, cut and with flipped bits. */
#include "support/cmocka_all.h"
#include "support/sanitized.h"
#include "support/support.h"

#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

static const char name[] = "lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf";
enum { FIRST = 5, SECOND = 1 }; /* 91 and 112 kB */

static void append_record(support_bytes *to, const support_bytes *file, unsigned wanted)
{
    size_t at = 0;
    for (unsigned r = 0; r < wanted; r++) {
        at += slc_load_u32(file->at + at);
    }
    support_append(to, file->at + at, slc_load_u32(file->at + at));
}

static support_bytes two_events(void)
{
    support_bytes file = support_read(support_data(name)), two = {0};
    append_record(&two, &file, FIRST);
    append_record(&two, &file, SECOND);
    support_clear(&file);
    return two;
}

static void cuts(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    config.verify_checksum = false;
    support_bytes two = two_events();
    const size_t first = slc_load_u32(two.at);
    const support_outcome whole = support_run(two.at, two.size, "two.mdf", &config);
    assert_int_equal(whole.totals.events, 2);
    assert_true(whole.tracks > 20 && whole.particles > 800);
    /* Every byte near the headers, every 61st elsewhere: all distances to the 4-byte grid of the banks occur.
     */
    for (size_t cut = 12; cut < two.size;) {
        const support_outcome outcome = support_read_only(two.at, cut, "two.mdf", &config);
        const uint64_t complete = cut >= first;
        assert_int_equal(outcome.open_status, SLC_OK);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_int_equal(outcome.totals.events, complete);
        assert_int_equal(outcome.totals.lost_events, cut == first ? 0 : 1);
        support_assert_same_events(&whole, &outcome, complete);
        if (cut != first) {
            support_assert_message(outcome.damage, "two.mdf", complete ? first : 0, "are left");
        }
        const bool near = cut < 200 || (cut + 60 > first && cut < first + 200) || cut + 60 > two.size;
        cut += near ? 1 : 61 * (size_t)test_step(3);
    }
    support_clear(&two);
}

static void ten_thousand_flips(void **state)
{
    (void)state;
    enum { RUNS = 500, FLIPS = 20 };
    slc_io_config config;
    slc_io_config_default(&config);
    config.verify_checksum = false;
    support_bytes two = two_events();
    uint64_t seed = 11, faulty = 0, tracks = 0;
    const support_outcome whole = support_run(two.at, two.size, "two.mdf", &config);
    for (int run = 0; run < RUNS; run++) {
        support_bytes damaged = {0};
        support_append(&damaged, two.at, two.size);
        for (int flip = 0; flip < FLIPS; flip++) {
            const uint64_t bit = support_random(&seed) % (8 * two.size);
            damaged.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        const support_outcome outcome = support_run(damaged.at, damaged.size, "flip.mdf", &config);
        assert_int_equal(outcome.open_status, SLC_OK);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_true(outcome.totals.events + outcome.totals.lost_events >= 2);
        faulty += slc_faults_total(&outcome.faults) > 0;
        tracks += outcome.tracks;
        support_clear(&damaged);
    }
    (void)printf("%d runs of %d flips: %llu with faults, %.1f %% of the tracks\n", RUNS, FLIPS,
                 (unsigned long long)faulty, 100.0 * (double)tracks / (double)(RUNS * whole.tracks));
    assert_true(faulty > RUNS / 2);
    /* Damage costs the smallest unit, so most of what is there is still found. */
    assert_true(2 * tracks > RUNS * whole.tracks);
    support_clear(&two);
}

static void checksum_finds_every_flip(void **state)
{
    (void)state;
    support_bytes two = two_events();
    const size_t first = slc_load_u32(two.at);
    const support_outcome whole = support_run(two.at, two.size, "two.mdf", NULL);
    uint64_t seed = 12;
    for (int flip = 0; flip < 300; flip++) {
        /* Behind the header: there the checksum is all there is. */
        const uint64_t bit = 8 * 48 + support_random(&seed) % (8 * (first - 48));
        two.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        const support_outcome outcome = support_read_only(two.at, two.size, "two.mdf", NULL);
        two.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(outcome.totals.events, 1);
        assert_int_equal(outcome.totals.lost_events, 1);
        assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_CHECKSUM), 1);
        assert_int_equal(outcome.event_hash[0], whole.event_hash[1]);
        support_assert_message(outcome.damage, "two.mdf", 0, "checksum");
    }
    support_clear(&two);
}

int main(void)
{
    if (support_skip_without(name) != 0) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),
        cmocka_unit_test(ten_thousand_flips),
        cmocka_unit_test(checksum_finds_every_flip),
    };
    return cmocka_run_group_tests_name("bad_input_data", tests, NULL, NULL);
}
