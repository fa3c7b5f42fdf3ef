/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms of pairs that were found: on the average those of their crystals, however short the bins of time
 * are.
 */
#include "support/cmocka_all.h"
#include "support/pet_small.h"

#include "base/columns.h"
#include "base/splitmix.h"
#include "pet/pet_scanner.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>

enum { SINGLES = 60000 };

/* The mean of pairs that are found by chance is that of their crystals, however few singles a bin has. */
static void found_pairs_are_as_any(void **state)
{
    (void)state;
    uint64_t seed = 5;
    slc_pet_singles s = {.time_ps = NULL};
    slc_pet_coincidences pairs = {.time_ps = NULL};
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &s, SINGLES, 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, SINGLES, 1), SLC_OK);
    float *hz = malloc(SINGLES * sizeof *hz);
    assert_non_null(hz);
    int64_t time = 0;
    for (size_t i = 0; i < SINGLES; i++) {
        time += (int64_t)(-log(1 - (double)slc_random_between(&seed, 0, 1)) * 30000);
        s.time_ps[i] = time;
        s.crystal[i] = slc_random_below(&seed, slc_pet_crystals(&pet_small));
        s.energy_kev[i] = 511;
        if (i > 0 && time - s.time_ps[i - 1] <= 4000 && s.crystal[i] != s.crystal[i - 1]) {
            pairs.time_ps[pairs.head.size] = s.time_ps[i - 1];
            pairs.crystal1[pairs.head.size] = s.crystal[i - 1];
            pairs.crystal2[pairs.head.size++] = s.crystal[i];
        }
    }
    s.head.size = SINGLES;
    double mean[2] = {0, 0};
    for (int few = 0; few < 2; few++) {
        slc_pet_pair_randoms_config config;
        slc_pet_pair_randoms_config_default(&config);
        config.geometry = pet_small;
        config.prompt.window_ns = 4;
        config.bin_s = few != 0 ? 2e-5 : 1; /* about 3 singles of a crystal, or 250 */
        slc_pet_pair_randoms *p = NULL;
        assert_int_equal(slc_pet_pair_randoms_open(&config, &p, NULL), SLC_OK);
        slc_pet_result result = {.singles = s};
        const slc_pet_batch batch = {.result = &result, .last = true};
        assert_int_equal(slc_pet_pair_randoms_add(p, &batch, NULL), SLC_OK);
        assert_int_equal(slc_pet_pair_randoms_finish(p, NULL, NULL), SLC_OK);
        slc_pet_pair_randoms_hz(p, &pairs, hz);
        for (size_t i = 0; i < pairs.head.size; i++) {
            mean[few] += (double)hz[i] / (double)pairs.head.size;
        }
        slc_pet_pair_randoms_close(p);
    }
    print_message("%zu pairs, mean of short bins %.4f of that of a long one\n", pairs.head.size,
                  mean[1] / mean[0]);
    assert_true(pairs.head.size > 5000 && mean[0] > 0 && fabs(mean[1] / mean[0] - 1) < 0.05);
    free(hz);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_pairs_are_as_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
