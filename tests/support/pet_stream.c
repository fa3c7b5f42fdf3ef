/* SPDX-License-Identifier: Apache-2.0
 * Frames of mouse20 in time, and what becomes of them. */
#include "support/pet_stream.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

slc_pet_frame *pet_stream_make(const slc_pet_tables *tables, int64_t first, double step_ps)
{
    uint64_t seed = 11;
    slc_pet_convert_config clock;
    slc_pet_convert_config_default(&clock);
    slc_pet_frame *frames = malloc(PET_STREAM_FRAMES * sizeof *frames);
    assert_non_null(frames);
    int64_t time = first;
    for (size_t i = 0; i < PET_STREAM_FRAMES; i++) {
        const bool pair = random_below(&seed, 3) == 0;
        time += pair ? random_below(&seed, 3000) : (int64_t)(-log(1 - random_unit(&seed)) * step_ps);
        assert_true(pet_frames_of_single(tables, &clock, random_below(&seed, 13520), time, 511, &frames[i]));
        if (i % 500 == 77) {
            frames[i].module = 200;
        }
    }
    return frames;
}

slc_pet_config pet_stream_config(slc_pet_policy policy, bool all_open, bool delayed)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.keep_singles = true;
    config.delayed = delayed;
    config.sort.horizon_ps = 1000000;
    config.prompt.policy = policy;
    config.prompt.all_open = all_open;
    config.prompt.compat_gate9 = true;
    return config;
}

slc_pet_rates_config pet_stream_rates_config(double bin_s)
{
    return (slc_pet_rates_config){.size = sizeof(slc_pet_rates_config),
                                  .geometry = pet_frames_mouse().geometry,
                                  .good = {.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL},
                                  .window_ns = 10,
                                  .bin_s = bin_s,
                                  .horizon_ps = 1000000};
}

slc_pet_rates *pet_stream_rates(const slc_pet_rates_config *config, const slc_pet_frame *frames, size_t batch,
                                slc_pet_singles *singles, slc_pet_coincidences *pairs)
{
    const slc_pet_tables tables = pet_frames_mouse();
    const slc_pet_config chain_config = pet_stream_config(SLC_PET_TAKE_ALL_GOODS, false, true);
    slc_pet_chain *chain = NULL;
    slc_pet_rates *rates = NULL;
    slc_pet_result result = {0};
    slc_pet_totals totals;
    assert_int_equal(slc_pet_chain_open(&chain_config, &tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_rates_open(config, &rates, NULL), SLC_OK);
    for (size_t at = 0; at <= PET_STREAM_FRAMES; at += batch) {
        const size_t n = PET_STREAM_FRAMES - at < batch ? PET_STREAM_FRAMES - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, NULL, n, n < batch, &result, NULL), SLC_OK);
        slc_pet_chain_totals(chain, &totals);
        assert_int_equal(slc_pet_rates_add(rates,
                                           &(slc_pet_batch){.frames = frames + at,
                                                            .n = n,
                                                            .result = &result,
                                                            .totals = &totals,
                                                            .skipped = at == 0 ? 3 : 0},
                                           NULL),
                         SLC_OK);
        if (singles != NULL) {
            pet_rows_append(&slc_pet_singles_schema, &result.singles, 0, result.singles.head.size, singles);
        }
        if (pairs != NULL) {
            pet_rows_append(&slc_pet_coincidences_schema, &result.pairs, 0, result.pairs.head.size, pairs);
        }
    }
    assert_int_equal(slc_pet_rates_finish(rates, NULL, NULL), SLC_OK);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return rates;
}
