/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator of PET data as a source of frames: what it makes depends on the seed alone; frames convert to
 * their truth; modules' clocks go forwards, packets are as large and as late as they may be; tables and
 * clocks are those of the configuration; what cannot be is refused by name.
 */
#include "pet/pet_scanner.h"
#include "sim/sim_pet_event.h"
#include "support/cmocka_all.h"
#include "support/pet_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static slc_sim_pet_config busy(void)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.singles_hz = 4e6;
    config.lso_hz = 5;
    return config;
}

/* ---- the same again -------------------------------------------------------------------------------- */

/* Frames by module and time, for comparing sets of them. */
static int by_clock(const void *a, const void *b)
{
    const slc_pet_frame *x = a, *y = b;
    if (x->module != y->module) {
        return x->module < y->module ? -1 : 1;
    }
    const int order = memcmp(x->time, y->time, sizeof x->time);
    return order != 0 ? order : memcmp(x, y, sizeof *x);
}

static bool same_frames(const pet_made *a, const pet_made *b)
{
    return a->n == b->n && memcmp(a->frames, b->frames, a->n * sizeof *a->frames) == 0;
}

static void depends_on_the_seed_alone(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    pet_made a, b, other;
    pet_make(&a, &config, 0.01);
    pet_make(&b, &config, 0.01);
    config.seed++;
    pet_make(&other, &config, 0.01);
    assert_true(a.n > 30000);
    assert_true(same_frames(&a, &b));
    assert_false(same_frames(&a, &other));
    pet_clear(&a);
    pet_clear(&b);
    pet_clear(&other);
}

static void frames_do_not_depend_on_calls(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.flood_side = 64;
    pet_made whole, parts;
    pet_make(&whole, &config, 0.01);
    pet_make(&parts, &config, 0.0005);
    pet_make_more(&parts, 0.0000001);
    pet_make_more(&parts, 0.0094999);
    assert_false(same_frames(&whole, &parts)); /* their order does */
    qsort(whole.frames, whole.n, sizeof *whole.frames, by_clock);
    qsort(parts.frames, parts.n, sizeof *parts.frames, by_clock);
    assert_true(same_frames(&whole, &parts));
    assert_int_equal(whole.counts.frames, whole.n);
    assert_int_equal(parts.counts.frames, parts.n);
    pet_clear(&whole);
    pet_clear(&parts);
}

/* A number that any machine must come to: all arithmetic is exact or rounded as IEEE 754 says. */
static void the_same_on_every_machine(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.flood_side = 64;
    config.time_offset_sigma_ps = 300;
    config.source[1] = (slc_sim_pet_source){10, -5, 3, 12, 30, 2e6};
    config.n_sources = 2;
    pet_made made;
    pet_make(&made, &config, 0.005);
    uint64_t hash = 1469598103934665603ULL; /* then as FNV-1a */
    const uint8_t *bytes = (const uint8_t *)made.frames;
    for (size_t i = 0; i < made.n * sizeof *made.frames; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211ULL;
    }
    print_message("%zu frames, %016llx\n", made.n, (unsigned long long)hash);
    assert_true(hash == 0x26b471865e56227bULL);
    pet_clear(&made);
}

/* ---- frames and truth ------------------------------------------------------------------------------ */

static void frames_convert_to_their_truth(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.time_offset_sigma_ps = 5000; /* which the tables take off again */
    pet_made made;
    pet_make(&made, &config, 0.02);
    pet_convert(&made);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < made.n; i++) {
        const double late = (double)(made.singles.time_ps[i] - made.truth.time_ps[i]);
        assert_int_equal(made.singles.crystal[i], made.truth.crystal[i]);
        assert_true(made.singles.energy_kev[i] > config.threshold_kev - 0.1);
        sum += late;
        squares += late * late;
    }
    const double n = (double)made.n, mean = sum / n;
    assert_true(fabs(mean) < 4 * 200 / sqrt(n) + 1);
    assert_true(fabs(sqrt(squares / n - mean * mean) - 200) < 4 * 200 / sqrt(2 * n));
    pet_clear(&made);
}

static void singles_are_what_frames_convert_to(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.time_offset_sigma_ps = 1000;
    pet_made made;
    pet_make(&made, &config, 0.005);
    pet_convert(&made);
    slc_sim_pet *sim;
    slc_pet_singles singles = {.head = {0}};
    slc_sim_pet_truth truth = {.head = {0}};
    slc_error error;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
    assert_int_equal(slc_sim_pet_next_singles(sim, 0.005, &singles, &truth, &error), SLC_OK);
    assert_true(singles.head.size == made.n && truth.head.size == made.n);
    for (size_t i = 0; i < made.n; i++) {
        assert_true(singles.time_ps[i] == made.singles.time_ps[i]);
        assert_int_equal(singles.crystal[i], made.singles.crystal[i]);
        /* half a unit of at most 0.1 · (1 + 3 · 0.05) keV */
        assert_true(fabs((double)singles.energy_kev[i] - (double)made.singles.energy_kev[i]) < 0.058);
        assert_true(truth.event[i] == made.truth.event[i]);
    }
    slc_sim_pet_close(sim);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_columns_clear(&slc_sim_pet_truth_schema, &truth);
    pet_clear(&made);
}

static void truth_tells_of_pairs(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.scatter_fraction = 0;
    config.lso_hz = 20;
    pet_made made;
    pet_make(&made, &config, 0.01);
    size_t background = 0;
    for (size_t i = 0; i < made.n; i++) {
        background += made.truth.event[i] == UINT64_MAX;
        assert_int_equal(made.truth.scattered[i], 0);
    }
    /* 13 520 crystals at 20 a second; some are below threshold, and a step more is made */
    assert_true(background > 1800 && background < 2704 + 4 * 52);
    assert_true(made.counts.background >= background);
    pet_clear(&made);
}

/* ---- packets --------------------------------------------------------------------------------------- */

static void clocks_of_modules_go_forwards(const pet_made *made)
{
    uint64_t last[SLC_PET_MAX_MODULES] = {0};
    for (size_t i = 0; i < made->n; i++) {
        const uint64_t ticks = pet_ticks(&made->frames[i]);
        assert_true(ticks >= last[made->frames[i].module]);
        last[made->frames[i].module] = ticks;
    }
}

/* How far a frame is behind the latest one before it. */
static int64_t largest_lag(const pet_made *made)
{
    uint64_t latest = 0, lag = 0;
    for (size_t i = 0; i < made->n; i++) {
        const uint64_t ticks = pet_ticks(&made->frames[i]);
        latest = ticks > latest ? ticks : latest;
        lag = latest - ticks > lag ? latest - ticks : lag;
    }
    return (int64_t)lag;
}

static void packets_are_full_where_frames_are_many(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.packet_wait_us = 0;
    config.frames_per_packet = 50;
    pet_made made;
    pet_make(&made, &config, 0.01);
    clocks_of_modules_go_forwards(&made);
    const size_t tail = 20 * 50; /* of the modules' last packets, which the call's end sends */
    size_t packets = 0, at = 0;
    while (at + tail < made.n) {
        for (size_t i = 0; i < 50; i++) {
            assert_int_equal(made.frames[at + i].module, made.frames[at].module);
        }
        at += 50;
        packets++;
    }
    assert_true(packets > 700);
    assert_true(largest_lag(&made) > 50000000); /* 50 frames of a module are 250 us */
    pet_clear(&made);
}

static void no_frame_is_later_than_it_may_be(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.singles_hz = 0; /* few, so that packets wait */
    config.packet_wait_us = 300;
    config.packet_delay_us = 40;
    pet_made made;
    pet_make(&made, &config, 0.2);
    clocks_of_modules_go_forwards(&made);
    assert_true(largest_lag(&made) <= 380 * 1000000);
    assert_true(largest_lag(&made) > 300 * 1000000);
    pet_clear(&made);
    config.packet_wait_us = 0.001; /* each frame by itself, and nothing in the way */
    config.packet_delay_us = 0;
    pet_make(&made, &config, 0.2);
    assert_true(largest_lag(&made) <= 1000);
    pet_clear(&made);
}

/* ---- clocks and tables ----------------------------------------------------------------------------- */

static void ticks_are_counted_and_begin_again(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.clock.tick_numerator = 15625; /* 15.625 ps */
    config.clock.tick_denominator = 1000;
    config.clock.tick_bits = 28; /* a turn is 4.2 ms */
    config.time_sigma_ps = 0;
    pet_made made;
    pet_make(&made, &config, 0.02);
    pet_convert(&made);
    for (size_t i = 0; i < made.n; i++) {
        assert_true(pet_ticks(&made.frames[i]) < 1U << 28);
        const int64_t late = made.singles.time_ps[i] - made.truth.time_ps[i];
        assert_true(late <= 0 && late >= -16);
    }
    pet_clear(&made);
}

/* Of a blur of 0.2 crystals, a share of erf(0.5 / 0.2 / sqrt(2)) stays in its crystal, by each direction; a
 * little more as blocks have an edge, and a little less or more as places are coarse. */
static void flood_maps_are_blurred(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.flood_side = 208; /* 16 places for a crystal */
    config.flood_sigma = 0.2;
    pet_made made;
    pet_make(&made, &config, 0.05);
    pet_convert(&made);
    size_t right = 0;
    for (size_t i = 0; i < made.n; i++) {
        right += made.singles.crystal[i] == made.truth.crystal[i];
    }
    const double one = erf(0.5 / 0.2 / sqrt(2)), edge = (1 + one) / 2;
    const double side = (11 * one + 2 * edge) / 13, wanted = side * side, n = (double)made.n;
    assert_true(fabs((double)right / n - wanted) < 4 * sqrt(wanted * (1 - wanted) / n));
    pet_clear(&made);
}

static void gains_are_spread(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    slc_sim_pet *sim;
    slc_error error;
    config.gain_spread = 0.1;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
    const slc_pet_tables *tables = slc_sim_pet_tables(sim);
    assert_int_equal(slc_pet_tables_check(tables, &error), SLC_OK);
    double sum = 0, squares = 0;
    const uint32_t n = slc_pet_crystals(&tables->geometry);
    for (uint32_t i = 0; i < n; i++) {
        sum += (double)tables->gain[i];
        squares += (double)tables->gain[i] * (double)tables->gain[i];
    }
    const double mean = sum / n;
    assert_true(fabs(mean - 0.1) < 4 * 0.01 / sqrt(n));
    assert_true(fabs(sqrt(squares / n - mean * mean) - 0.01) < 0.0004);
    assert_null(tables->position);
    assert_null(tables->time_offset_ps);
    slc_sim_pet_close(sim);
}

/* ---- the fast way ---------------------------------------------------------------------------------- */

static void count_of_crystals(const pet_made *made, uint32_t *count)
{
    for (size_t i = 0; i < made->n; i++) {
        count[made->truth.crystal[i]]++;
    }
}

/* A crystal of efficiency e is seen e times as often: by chi squared, of counts beside those without spread.
 * Blocks are never dead, all else is the same. */
static void efficiencies_are_as_the_tables_tell(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.n_sources = 1;
    config.source[0] = (slc_sim_pet_source){.radius_mm = 30, .length_mm = 60, .activity_bq = 1e7};
    config.dead_time_ns = config.scatter_fraction = config.lso_hz = config.threshold_kev = 0;
    pet_made even, made;
    pet_make(&even, &config, 0.2);
    assert_null(slc_sim_pet_tables(even.sim)->efficiency);
    config.efficiency_spread = 0.2;
    config.seed++;
    pet_make(&made, &config, 0.2);
    const slc_pet_tables *tables = slc_sim_pet_tables(made.sim);
    const uint32_t n = slc_pet_crystals(&tables->geometry);
    uint32_t *before = calloc(2 * (size_t)n, sizeof *before), *after = before + n;
    assert_non_null(before);
    count_of_crystals(&even, before);
    count_of_crystals(&made, after);
    double chi2 = 0, sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double e = (double)tables->efficiency[i], difference = after[i] - e * before[i];
        const double variance = after[i] + e * e * before[i];
        chi2 += variance > 0 ? difference * difference / variance : 1;
        sum += e;
        squares += (e - 1) * (e - 1);
    }
    assert_true(fabs(sum / n - 1) < 1e-6 && fabs(sqrt(squares / n) - 0.2) < 0.01);
    print_message("chi squared %.0f of %u crystals, %zu frames\n", chi2, n, made.n);
    assert_true(fabs(chi2 - n) < 5 * sqrt(2.0 * n)); /* with all efficiencies 1 it would be twice that */
    free(before);
    slc_error error;
    slc_sim_pet *sim;
    config.efficiency = 0.9;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "efficiency_spread"));
    pet_clear(&made);
    pet_clear(&even);
}

static void fast_is_as_asked_for(void **state)
{
    (void)state;
    slc_sim_pet_config config = busy();
    config.fast = true;
    config.singles_hz = 20e6;
    config.pair_share = 0.3;
    pet_made made;
    pet_make(&made, &config, 0.05);
    pet_convert(&made);
    assert_true(fabs((double)made.n - 1e6) < 5 * sqrt(1.3e6));
    clocks_of_modules_go_forwards(&made);
    assert_true(largest_lag(&made) <= (500 + 40) * (int64_t)1000000);
    uint32_t count[13520] = {0};
    count_of_crystals(&made, count);
    double chi2 = 0, energy = 0;
    for (size_t i = 0; i < 13520; i++) {
        chi2 += (count[i] - (double)made.n / 13520) * (count[i] - (double)made.n / 13520);
    }
    chi2 /= (double)made.n / 13520;
    assert_true(fabs(chi2 - 13519) < 5 * sqrt(2 * 13519));
    for (size_t i = 0; i < made.n; i++) {
        energy += (double)made.singles.energy_kev[i];
    }
    assert_true(fabs(energy / (double)made.n - 511) < 0.2);
    /* Singles that have a partner. An event's number tells its step and its number in that. */
    uint64_t *event = malloc(made.n * sizeof *event);
    assert_non_null(event);
    memcpy(event, made.truth.event, made.n * sizeof *event);
    size_t unique = 0;
    const uint64_t per_step = 1 << 16;
    uint8_t *seen = calloc(per_step * 100, 1);
    assert_non_null(seen);
    for (size_t i = 0; i < made.n; i++) {
        const uint64_t at = (event[i] >> 32) * per_step + (event[i] & 0xffffffffU);
        assert_true(at < per_step * 100);
        unique += seen[at] == 0;
        seen[at] = 1;
    }
    const double share = 2 * (double)(made.n - unique) / (double)made.n;
    assert_true(fabs(share - 0.3) < 0.005);
    free(seen);
    free(event);
    pet_clear(&made);
}

/* ---- what cannot be -------------------------------------------------------------------------------- */

static void refuse(const slc_sim_pet_config *config, const char *word)
{
    char other;
    slc_sim_pet *sim = (void *)&other; /* which must become NULL */
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_sim_pet_open(config, &sim, &error), SLC_ERR_USAGE);
    assert_null(sim);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not name %s", error.text, word);
    }
}

#define REFUSE(field, value)                                                                                 \
    do {                                                                                                     \
        slc_sim_pet_config config = busy();                                                                  \
        config.field = (value);                                                                              \
        refuse(&config, #field);                                                                             \
    } while (0)

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    REFUSE(efficiency, 1.5);
    REFUSE(efficiency, NAN);
    REFUSE(scatter_fraction, -0.1);
    REFUSE(time_sigma_ps, INFINITY);
    REFUSE(energy_resolution, -1);
    REFUSE(dead_time_ns, -1);
    REFUSE(lso_hz, NAN);
    REFUSE(threshold_kev, -1);
    REFUSE(frames_per_packet, 0);
    REFUSE(frames_per_packet, 5000);
    REFUSE(packet_delay_us, -1);
    REFUSE(packet_wait_us, NAN);
    REFUSE(flood_side, 257);
    REFUSE(flood_side, 12); /* for 13 crystals */
    REFUSE(flood_sigma, -1);
    REFUSE(gain_spread, 0.5);
    REFUSE(time_offset_sigma_ps, -1);
    REFUSE(clock.tick_numerator, 0);
    REFUSE(clock.tick_denominator, 0);
    REFUSE(clock.tick_bits, 65);
    REFUSE(n_sources, 17);
    REFUSE(singles_hz, -1);
    REFUSE(singles_hz, 60000); /* the background alone has more */
    slc_sim_pet_config config = busy();
    config.source[0].activity_bq = NAN;
    refuse(&config, "activity_bq");
    config = busy();
    config.source[0].x_mm = 80;
    refuse(&config, "80 mm");
    config = busy();
    config.source[0].activity_bq = 0;
    refuse(&config, "source");
    config = busy();
    config.geometry.channels = 0;
    refuse(&config, "channels");
    config = busy();
    config.fast = true;
    config.singles_hz = 0;
    refuse(&config, "singles_hz");
}

static void a_measurement_has_an_end(void **state)
{
    (void)state;
    const slc_sim_pet_config config = busy();
    const double wrong[] = {0, -1, NAN, INFINITY, 1e7};
    pet_made made;
    pet_make(&made, &config, 0.001);
    slc_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(
            slc_sim_pet_next(made.sim, wrong[i], &made.frames, &made.n, &made.capacity, NULL, &error),
            SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "seconds"));
    }
    pet_clear(&made);
    slc_sim_pet_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depends_on_the_seed_alone),
        cmocka_unit_test(frames_do_not_depend_on_calls),
        cmocka_unit_test(the_same_on_every_machine),
        cmocka_unit_test(frames_convert_to_their_truth),
        cmocka_unit_test(singles_are_what_frames_convert_to),
        cmocka_unit_test(truth_tells_of_pairs),
        cmocka_unit_test(packets_are_full_where_frames_are_many),
        cmocka_unit_test(no_frame_is_later_than_it_may_be),
        cmocka_unit_test(ticks_are_counted_and_begin_again),
        cmocka_unit_test(flood_maps_are_blurred),
        cmocka_unit_test(gains_are_spread),
        cmocka_unit_test(efficiencies_are_as_the_tables_tell),
        cmocka_unit_test(fast_is_as_asked_for),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_measurement_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
