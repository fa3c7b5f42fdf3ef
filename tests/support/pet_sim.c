/* SPDX-License-Identifier: Apache-2.0
 * Generated PET data for tests (pet_sim.h). */
#include "pet/pet_rates_sum.h"

#include "sim/sim_pet_event.h"
#include "support/pet_sim.h"

#include "pet/pet_stages.h"
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

slc_sim_pet_config pet_sim_ideal(uint64_t seed)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.threshold_kev = 0;
    config.dead_time_ns = 0;
    config.scatter_fraction = 0;
    config.efficiency = 1;
    config.time_sigma_ps = 0;
    config.energy_resolution = 0;
    config.seed = seed;
    return config;
}

void pet_make_more(pet_made *made, double seconds)
{
    slc_error error = {.status = SLC_OK};
    assert_int_equal(
        slc_sim_pet_next(made->sim, seconds, &made->frames, &made->n, &made->capacity, &made->truth, &error),
        SLC_OK);
    assert_true(made->n == made->truth.head.size);
    slc_sim_pet_counts_of(made->sim, &made->counts);
}

void pet_make(pet_made *made, const slc_sim_pet_config *config, double seconds)
{
    slc_error error = {.status = SLC_OK};
    memset(made, 0, sizeof *made);
    made->config = *config;
    if (slc_sim_pet_open(config, &made->sim, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    pet_make_more(made, seconds);
}

void pet_convert(pet_made *made)
{
    slc_error error = {.status = SLC_OK};
    slc_faults faults = {.n_kept = 0};
    slc_pet_convert *stage;
    assert_int_equal(slc_pet_convert_open(&made->config.clock, slc_sim_pet_tables(made->sim), &stage, &error),
                     SLC_OK);
    assert_int_equal(
        slc_pet_convert_run(stage, made->frames, NULL, made->n, true, &made->singles, &faults, &error),
        SLC_OK);
    slc_pet_convert_counts counts;
    slc_pet_convert_counts_of(stage, &counts);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(counts.backwards, 0);
    assert_true(made->singles.head.size == made->n);
    slc_pet_convert_close(stage);
}

void pet_clear(pet_made *made)
{
    slc_sim_pet_close(made->sim);
    free(made->frames);
    slc_columns_clear(&slc_sim_pet_truth_schema, &made->truth);
    slc_columns_clear(&slc_pet_singles_schema, &made->singles);
}

static const slc_pet_singles *to_order;

static int by_time(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int64_t s = to_order->time_ps[x], t = to_order->time_ps[y];
    return s != t ? (s < t ? -1 : 1) : (x < y ? -1 : x > y);
}

void pet_in_order(const pet_made *made, pet_ordered *o)
{
    size_t *row = malloc(made->n * sizeof *row);
    *o = (pet_ordered){.event = malloc(made->n * sizeof *o->event)};
    assert_true(row != NULL && o->event != NULL);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &o->singles, made->n, 0), SLC_OK);
    for (size_t i = 0; i < made->n; i++) {
        row[i] = i;
    }
    to_order = &made->singles;
    qsort(row, made->n, sizeof *row, by_time);
    for (size_t i = 0; i < made->n; i++) {
        o->singles.time_ps[i] = made->singles.time_ps[row[i]];
        o->singles.crystal[i] = made->singles.crystal[row[i]];
        o->singles.energy_kev[i] = made->singles.energy_kev[row[i]];
        o->event[i] = made->truth.event[row[i]];
    }
    o->singles.head.size = made->n;
    free(row);
}

void pet_ordered_clear(pet_ordered *o)
{
    slc_columns_clear(&slc_pet_singles_schema, &o->singles);
    free(o->event);
}

uint64_t pet_ticks(const slc_pet_frame *frame)
{
    uint64_t ticks = 0;
    for (int i = 0; i < 8; i++) {
        ticks = ticks << 8 | frame->time[i];
    }
    return ticks;
}

double pet_randoms_from_singles(const slc_pet_rates_config *config, const slc_pet_singles *singles)
{
    const slc_pet_totals totals = {.checksum = 0};
    const slc_pet_result result = {.singles = *singles};
    slc_pet_rates *rates;
    slc_pet_rates_totals sums;
    slc_error error;
    assert_int_equal(slc_pet_rates_open(config, &rates, &error), SLC_OK);
    assert_int_equal(slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error),
                     SLC_OK);
    assert_int_equal(slc_pet_rates_finish(rates, NULL, &error), SLC_OK);
    slc_pet_rates_totals_of(rates, &sums);
    slc_pet_rates_close(rates);
    return sums.randoms;
}
