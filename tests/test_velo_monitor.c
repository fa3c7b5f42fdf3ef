/* SPDX-License-Identifier: Apache-2.0
 * What a shifter looks at: counts against a second count from the banks, hot and dead pixels that were put
 * there and no others, minutes in any order, and where collisions are. */
#include "support/cmocka_all.h"
#include "support/random.h"

#include "velo/velo_monitor_pixels.h"
#include <sluice/sluice.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 24 };

static slc_velo_monitor *open_monitor(bool pixels)
{
    slc_velo_monitor *monitor = NULL;
    assert_int_equal(slc_velo_monitor_open(pixels, &monitor, NULL), SLC_OK);
    return monitor;
}

/* Generated events, so many at a time. */
static uint32_t max_layer_hits = 2000, max_event_hits, max_clusters;
static slc_velo_monitor *monitor_of(uint32_t at_a_time, uint64_t *pixels)
{
    slc_velo_monitor *monitor = open_monitor(pixels != NULL);
    slc_sim_velo_config sim;
    slc_sim_velo *generator = NULL;
    slc_velo_config config;
    slc_velo_chain *chain = NULL;
    slc_batch batch = {0};
    slc_velo_result result = {.n_pixels = 0};
    slc_lhcb_events events = {.run = NULL};
    slc_sim_velo_config_default(&sim);
    sim.visible_vertices = 1;
    slc_velo_config_default(&config);
    config.track.max_layer_hits = max_layer_hits;
    config.track.max_event_hits = max_event_hits;
    config.gec.max_velo = max_clusters;
    assert_int_equal(slc_sim_velo_open(&sim, NULL, &generator, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    for (uint32_t e = 0; e < EVENTS; e += at_a_time) {
        slc_batch_reset(&batch);
        for (uint32_t k = 0; k < at_a_time; k++) {
            assert_int_equal(slc_sim_velo_event(generator, e + k, &batch, NULL, NULL), SLC_OK);
        }
        assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run(chain, &batch, &result, NULL), SLC_OK);
        assert_int_equal(slc_columns_reserve(&slc_lhcb_events_schema, &events, at_a_time, at_a_time), SLC_OK);
        slc_columns_reset(&events);
        for (uint32_t k = 0; k < at_a_time; k++) {
            events.identity_from[k] = k + e == 5 ? SLC_LHCB_IDENTITY_NONE : SLC_LHCB_IDENTITY_ODIN;
            events.gps_time_us[k] = UINT64_C(60000000) * (1000 + (e + k) % 3) + 59999999;
            events.bcid[k] = (uint16_t)(e + k == 7 ? 3564 : 3560 + (e + k) % 4);
            events.head.size++;
        }
        assert_int_equal(slc_velo_monitor_add(monitor, &config, &batch, &result, &events, NULL), SLC_OK);
        if (pixels != NULL) {
            *pixels += result.n_pixels;
        }
    }
    assert_int_equal(slc_velo_monitor_judge(monitor, NULL), SLC_OK);
    slc_columns_clear(&slc_lhcb_events_schema, &events);
    slc_velo_result_clear(&result);
    slc_batch_clear(&batch);
    slc_velo_chain_close(chain);
    slc_sim_velo_close(generator);
    return monitor;
}

static void adds_up(void **state)
{
    (void)state;
    uint64_t pixels = 0, counted = 0, hits = 0, columns = 0, sizes = 0;
    slc_velo_monitor *m = monitor_of(6, &pixels);
    for (size_t i = 0; i < SLC_VELO_MONITOR_PIXEL(SLC_VELO_SENSORS, 0, 0); i++) {
        counted += m->pixel[i];
    }
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (uint32_t chip = 0; chip < SLC_VELO_SENSOR_CHIPS; chip++) {
            uint64_t of_chip = 0;
            for (uint32_t c = 256 * chip; c < 256 * (chip + 1); c++) {
                of_chip += m->columns[s][c];
            }
            assert_int_equal(of_chip, m->hits[s][chip]);
            hits += of_chip;
        }
        for (uint32_t k = 0; k < SLC_VELO_MONITOR_SIZES; k++) {
            sizes += m->sizes[s][k];
            columns += k * m->sizes[s][k];
        }
    }
    assert_true(pixels > 1000 && counted == pixels && m->pixel_events == EVENTS);
    assert_true(hits == sizes && columns <= pixels && m->events == EVENTS && m->placed_events == EVENTS);
    assert_int_equal(m->n_minutes, 4);
    assert_int_equal(m->minutes[0].minute, 0); /* nobody tells */
    uint64_t tracks = 0, events = 0, primaries = 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(m->minutes[i].minute, i == 0 ? 0 : 999 + i);
        assert_int_equal(m->minutes[i].events, i == 0 ? 1 : i == 3 ? 7 : 8);
        tracks += m->minutes[i].tracks;
    }
    assert_true(tracks == m->tracks && tracks > 100);
    for (uint32_t b = 0; b < SLC_VELO_BUNCHES; b++) {
        assert_true(b >= 3560 || m->bunch[b].events == 0);
        events += m->bunch[b].events;
        primaries += m->bunch[b].primaries;
    }
    assert_true(events == EVENTS - 2 && m->no_bunch_events == 2 && primaries <= m->primaries);
    slc_velo_monitor_close(m);
}

static void does_not_depend_on_batches(void **state)
{
    (void)state;
    slc_velo_monitor *a = monitor_of(1, NULL), *b = monitor_of(12, NULL);
    assert_memory_equal(a->hits, b->hits, sizeof a->hits);
    assert_memory_equal(a->columns, b->columns, sizeof a->columns);
    assert_memory_equal(a->sizes, b->sizes, sizeof a->sizes);
    assert_memory_equal(a->bunch, b->bunch, sizeof a->bunch);
    assert_int_equal(a->n_minutes, b->n_minutes);
    assert_memory_equal(a->minutes, b->minutes, a->n_minutes * sizeof *a->minutes);
    slc_velo_monitor_close(a);
    slc_velo_monitor_close(b);
}

/* Events without a search are counted apart, by minute, bunch and in all; tracks are of the others. */
static void tells_which_events_were_searched(void **state)
{
    (void)state;
    slc_velo_monitor *all = monitor_of(6, NULL);
    for (int which = 0; which < 3; which++) {
        max_layer_hits = which == 0 ? 20 : 2000;
        max_event_hits = which == 1 ? 150 : 0;
        max_clusters = which == 2 ? 500 : 0;
        slc_velo_monitor *m = monitor_of(6, NULL), *alone = monitor_of(1, NULL);
        uint64_t cut = 0, crowded = 0;
        for (uint32_t i = 0; i < m->n_minutes; i++) {
            cut += m->minutes[i].cut;
            crowded += m->minutes[i].crowded;
        }
        assert_true(cut == m->cut && crowded == m->crowded);
        assert_true(which == 0 ? cut == 0 && crowded > 3 && crowded < EVENTS
                               : crowded == 0 && cut > 3 && cut < EVENTS);
        for (uint32_t b = 0; b < SLC_VELO_BUNCHES; b++) {
            const slc_velo_bunch *of = &m->bunch[b];
            assert_true(of->cut + of->crowded <= of->events);
            assert_true(of->cut + of->crowded < of->events || of->tracks == 0);
        }
        assert_true(m->events == EVENTS && m->tracks > 0 && m->tracks < all->tracks);
        assert_int_equal(m->placed_events, which == 2 ? EVENTS - cut : EVENTS);
        assert_memory_equal(m->bunch, alone->bunch, sizeof m->bunch);
        slc_velo_monitor_close(m);
        slc_velo_monitor_close(alone);
    }
    max_layer_hits = 2000;
    max_event_hits = max_clusters = 0;
    assert_int_equal(all->cut + all->crowded, 0);
    slc_velo_monitor_close(all);
}

/* A count about `mean`: of many throws with a small chance each. */
static uint32_t poisson(uint64_t *random, double mean)
{
    uint32_t n = 0;
    const double limit = exp(-mean);
    for (double product = 1;;) {
        product *= (double)(random_below(random, 1 << 24) + 1) / (1 << 24);
        if (product <= limit) {
            return n;
        }
        n++;
    }
}

static void set(slc_velo_monitor *m, uint32_t sensor, uint32_t c, uint32_t r, uint32_t n)
{
    m->pixel[SLC_VELO_MONITOR_PIXEL(sensor, c, r)] = n;
}

/* A crowded sensor whose counts fall with the square of the distance from a corner, as they do beside the
 * beam, wide columns included; and one with hardly anything in it. */
static void finds_odd_pixels_and_no_others(void **state)
{
    (void)state;
    static const uint32_t hot[][3] = {{3, 0, 0},    {3, 1, 1},     {3, 255, 100},
                                      {3, 400, 30}, {3, 767, 255}, {9, 50, 50}};
    static const uint32_t dead[][3] = {{3, 20, 20}, {3, 21, 20}, {3, 256, 0}};
    slc_velo_monitor *m = open_monitor(true);
    uint64_t random = 11;
    for (uint32_t c = 0; c < SLC_VELO_COLUMNS; c++) {
        for (uint32_t r = 0; r < SLC_VELO_ROWS; r++) {
            const double x = c + 93.0, y = r + 93.0,
                         wide = c == 255 || c == 256 || c == 511 || c == 512 ? 2.5 : 1;
            set(m, 3, c, r, poisson(&random, wide * 200 * 93 * 93 / (x * x + y * y)));
            set(m, 9, c, r, poisson(&random, 0.002));
        }
    }
    for (size_t i = 0; i < sizeof hot / sizeof *hot; i++) {
        set(m, hot[i][0], hot[i][1], hot[i][2], hot[i][0] == 9 ? 12 : 3000);
    }
    for (size_t i = 0; i < sizeof dead / sizeof *dead; i++) {
        set(m, dead[i][0], dead[i][1], dead[i][2], 0);
    }
    assert_int_equal(slc_velo_monitor_judge(m, NULL), SLC_OK);
    assert_int_equal(m->n_hot, sizeof hot / sizeof *hot);
    for (size_t i = 0; i < m->n_hot; i++) {
        assert_true(m->hot[i].sensor == hot[i][0] && m->hot[i].column == hot[i][1] &&
                    m->hot[i].row == hot[i][2]);
        assert_int_equal(m->hot[i].count, m->hot[i].sensor == 9 ? 12 : 3000);
    }
    assert_true(m->hot[0].expected > 60 && m->hot[0].expected < 120);
    assert_int_equal(m->n_dead, sizeof dead / sizeof *dead);
    for (size_t i = 0; i < m->n_dead; i++) {
        assert_true(m->dead[i].sensor == 3 && m->dead[i].column == dead[i][1] &&
                    m->dead[i].row == dead[i][2]);
        assert_true(m->dead[i].count == 0 && m->dead[i].expected >= 20);
    }
    assert_true(m->judged > 1000 && m->judged < SLC_VELO_COLUMNS * SLC_VELO_ROWS / 2);
    /* Again: the same, and not on top of it. */
    assert_int_equal(slc_velo_monitor_judge(m, NULL), SLC_OK);
    assert_int_equal(m->n_hot, sizeof hot / sizeof *hot);
    slc_velo_monitor_close(m);
}

/* Vertices along a line; what is expected follows from how they were made. */
static void tells_where_collisions_are(void **state)
{
    (void)state;
    slc_velo_minute minute = {.n = 0};
    for (int i = 0; i < 1001; i++) {
        const double z = (i - 500) * 0.2 + 10, x = 0.3 + 2e-4 * (z - 10), y = -0.1 + (i % 2 ? 0.02 : -0.02);
        minute.n++;
        minute.x += x;
        minute.y += y;
        minute.z += z;
        minute.xx += x * x;
        minute.yy += y * y;
        minute.zz += z * z;
        minute.xz += x * z;
        minute.yz += y * z;
        if (i == 0) {
            const slc_velo_luminous one = slc_velo_minute_region(&minute);
            assert_true(fabs(one.z_mm + 90) < 1e-9 && isnan(one.z_rms_mm) && isnan(one.slope_x));
        }
    }
    const slc_velo_luminous region = slc_velo_minute_region(&minute);
    assert_true(fabs(region.x_mm - 0.3) < 1e-9 && fabs(region.y_mm + 0.1) < 1e-4 &&
                fabs(region.z_mm - 10) < 1e-9);
    assert_true(fabs(region.z_rms_mm - 0.2 * sqrt(1001.0 * 1002 / 12)) < 1e-6);
    assert_true(fabs(region.y_rms_mm - 0.02) < 2e-4 && fabs(region.slope_x - 2e-4) < 1e-10);
    assert_true(fabs(region.slope_y) < 1e-5 && region.slope_y_sigma > 0 && region.slope_y_sigma < 2e-5);
    minute.n = 0;
    assert_true(isnan(slc_velo_minute_region(&minute).x_mm));
}

/* More minutes than are kept, in any order: the earliest stay, and no event is lost. */
static void keeps_the_earliest_minutes(void **state)
{
    (void)state;
    enum { MORE = SLC_VELO_MINUTES + 500 };
    slc_velo_monitor *m = open_monitor(false);
    slc_velo_result result = {.n_pixels = 0};
    slc_lhcb_events events = {.run = NULL};
    slc_velo_config config;
    uint32_t none[2] = {0, 0};
    uint8_t from[1] = {SLC_LHCB_IDENTITY_ODIN};
    uint16_t bunch[1] = {1};
    uint64_t time[1];
    slc_velo_config_default(&config);
    result.hits.head = result.tracks.head = result.primaries.head = (slc_columns){.n_events = 1,
                                                                                  .event_offset = none};
    events.head = (slc_columns){.size = 1, .n_events = 1};
    events.identity_from = from;
    events.bcid = bunch;
    events.gps_time_us = time;
    for (uint32_t i = 0; i < 2 * MORE;
         i++) { /* each twice, far apart: 7919 has no divisor in common with it */
        time[0] = UINT64_C(60000000) * (1 + (uint64_t)i * 7919 % MORE);
        assert_int_equal(slc_velo_monitor_add(m, &config, NULL, &result, &events, NULL), SLC_OK);
    }
    assert_int_equal(m->n_minutes, SLC_VELO_MINUTES);
    for (uint32_t i = 0; i < m->n_minutes; i++) {
        assert_int_equal(m->minutes[i].minute, i + 1);
        assert_int_equal(m->minutes[i].events, 2);
    }
    assert_int_equal(m->later_events, 2 * 500);
    assert_int_equal(m->events, 2 * MORE);
    assert_int_equal(m->placed_events, 0);
    slc_velo_monitor_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up),
        cmocka_unit_test(does_not_depend_on_batches),
        cmocka_unit_test(tells_which_events_were_searched),
        cmocka_unit_test(finds_odd_pixels_and_no_others),
        cmocka_unit_test(tells_where_collisions_are),
        cmocka_unit_test(keeps_the_earliest_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
