/* SPDX-License-Identifier: Apache-2.0
 * JSON events made here: contents, several in a stream, columns by name, and every wrong shape with its
 * message. */
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void contents_arrive(void **state)
{
    (void)state;
    support_bytes event = support_json(2, 8);
    slc_io_source *source = NULL;
    slc_velo_hits hits = {0};
    slc_velo_truth truth = {0};
    slc_faults faults = {0};
    assert_int_equal(slc_io_open_memory(event.at, event.size, "e.json", NULL, &source, NULL), SLC_OK);
    assert_string_equal(slc_io_format(source), "velo-json");
    assert_int_equal(slc_io_content_of(source), SLC_IO_VELO_HITS);
    assert_int_equal(slc_io_read_velo_hits(source, 10, &hits, &truth, NULL, &faults, NULL), SLC_OK);
    assert_int_equal(hits.head.n_events, 1);
    assert_int_equal(hits.head.size, 24);
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t m = i / 3, h = i % 3;
        assert_int_equal(hits.channel[i], i);
        assert_int_equal(hits.module[i], m);
        assert_int_equal(hits.n_pixels[i], 0);
        assert_float_equal(hits.x_mm[i], (float)(7.0 + 2.0 * h + 0.5 * m * (1.0 + 2.0 * h)), 1e-4);
        assert_float_equal(hits.z_mm[i], (float)(-200.0 + 25.0 * m), 1e-4);
    }
    assert_int_equal(truth.particles.head.size, 3);
    assert_int_equal(truth.ids.head.size, 24);
    assert_int_equal(truth.vertices.head.n_events, 1);
    assert_int_equal(truth.particles.key[1], 41);
    assert_int_equal(truth.particles.pid[1], -211);
    assert_float_equal(truth.particles.p_mev[1], 2000.5, 1e-3);
    assert_true(isnan(truth.particles.pt_mev[1]) && isnan(truth.particles.origin_z_mm[1]));
    assert_int_equal(truth.particles.flags[1], SLC_VELO_IS_LONG | SLC_VELO_HAS_VELO);
    assert_int_equal(truth.particles.flags[2], SLC_VELO_HAS_VELO);
    assert_int_equal(truth.particles.id_begin[2], 16);
    assert_int_equal(truth.particles.n_ids[2], 8);
    assert_int_equal(truth.ids.id[16 + 3], 11);
    assert_int_equal(slc_io_read_velo_hits(source, 10, &hits, &truth, NULL, &faults, NULL), SLC_END);
    slc_batch batch = {0};
    assert_int_equal(slc_io_read_batch(source, 1, 1, &batch, &faults, NULL), SLC_ERR_USAGE);
    slc_io_close(source);
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_velo_truth_clear(&truth);
    support_clear(&event);
}

static support_bytes stream_of(uint32_t n_events, const char *between)
{
    support_bytes stream = {0};
    for (uint32_t e = 0; e < n_events; e++) {
        support_bytes event = support_json(e, 8);
        support_append(&stream, event.at, event.size - 1);
        support_append(&stream, between, strlen(between));
        support_clear(&event);
    }
    return stream;
}

static void many_events_in_a_stream(void **state)
{
    (void)state;
    static const char *const betweens[] = {"", "\n", " \r\n\t\n"};
    support_outcome first = {.tracks = 0};
    for (size_t i = 0; i < 3; i++) {
        support_bytes stream = stream_of(7, betweens[i]);
        const support_outcome outcome = support_run(stream.at, stream.size, "s", NULL);
        assert_int_equal(outcome.totals.events, 7);
        assert_int_equal(outcome.totals.lost_events, 0);
        assert_int_equal(outcome.totals.bytes, stream.size);
        assert_int_equal(outcome.particles, 21);
        assert_true(outcome.tracks >= 21); /* three lines an event */
        if (i == 0) {
            first = outcome;
        }
        assert_int_equal(outcome.tracks, first.tracks);
        support_assert_same_events(&first, &outcome, 7);
        support_clear(&stream);
    }
}

/* One good event with a part of it replaced. */
static support_bytes edited(const char *part, const char *by)
{
    support_bytes event = support_json(0, 4), result = {0};
    support_append(&event, "", 1);
    char *at = strstr((char *)event.at, part);
    assert_non_null(at);
    const size_t before = (size_t)(at - (char *)event.at);
    support_append(&result, event.at, before);
    support_append(&result, by, strlen(by));
    support_append(&result, at + strlen(part), event.size - 1 - before - strlen(part));
    support_clear(&event);
    return result;
}

static void optional_parts_may_be_absent(void **state)
{
    (void)state;
    static const char *const edits[][2] = {
        {"\"montecarlo\"", "\"something\""}, /* no truth at all */
        {"\"isLong\"", "\"isOther\""},       /* a column without a name that is known */
        {"\"z\":", "\"t\":[1,2],\"z\":"},    /* time is ignored */
        {"1000.5", "1000"},                  /* an integer for a real */
        {"[40,", "[40.0,"},                  /* a real for an integer */
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        support_bytes event = edited(edits[i][0], edits[i][1]);
        const support_outcome outcome = support_run(event.at, event.size, "o", NULL);
        assert_int_equal(outcome.totals.events, 1);
        assert_string_equal(outcome.damage, "");
        assert_int_equal(outcome.particles, i == 0 ? 0 : 3);
        support_clear(&event);
    }
}

static const struct {
    const char *part, *by, *reason;
} shapes[] = {
    {"\"x\":[", "\"x\":[1,", "x has 13 entries, y has 12"},
    {"\"z\":[", "\"z\":[1,", "x has 12 entries, z has 13"},
    {"\"x\":[5.000", "\"x\":[1e39", "x[0] is not a finite number"},
    {"\"x\":[5.000", "\"x\":[null", "x[0] is not a finite number"},
    {"\"y\":", "\"w\":", "no array y"},
    {"\"module_prefix_sum\":[", "\"module_prefix_sum\":[0,", "module_prefix_sum has 54 entries, not 53"},
    {"[0,3,6,", "[0,6,3,", "module_prefix_sum[2]"},
    {"[0,3,6,", "[1,3,6,", "module_prefix_sum[0]"},
    {"12,12],", "12,11],", "module_prefix_sum[52]"},
    {"[0,3,6,9,12,", "[0,3,6,9,13,", "module_prefix_sum[4]"},
    {"\"module_prefix_sum\"", "\"sums\"", "no array module_prefix_sum"},
    {"\"description\"", "\"desc\"", "montecarlo.description is not an array of names"},
    {"\"particles\"", "\"part\"", "montecarlo has no array particles"},
    {"[\"key\",", "[5,", "montecarlo.description[0] is not a string"},
    {"\"hits\"]", "\"other\"]", "names no column hits"},
    {"[40,-211,", "[40,", "montecarlo.particles[0] has 6 entries, montecarlo.description has 7"},
    {"[41,-211", "[-1,-211", "montecarlo.particles[1]: key or pid"},
    {"[41,-211", "[41,0.5", "montecarlo.particles[1]: key or pid"},
    {"1000.5", "\"fast\"", "montecarlo.particles[0]: p is not a finite number"},
    {",0,1,[0,", ",2,1,[0,", "montecarlo.particles[0]: isLong is not 0 or 1"},
    {"[0,3,6,9]", "[0,3,6,12]", "montecarlo.particles[0]: hits[3] is not the index of one of the 12 hits"},
    {"[0,3,6,9]", "[0,-3,6,9]", "montecarlo.particles[0]: hits[1]"},
    {"[0,3,6,9]", "7", "montecarlo.particles[0]: hits is not an array"},
    {"[0,3,6,9]]", "[0,3,6,9]}", "not JSON"},
    {"\"montecarlo\"", "montecarlo", "not JSON"},
};

static void every_wrong_shape_is_told(void **state)
{
    (void)state;
    support_bytes good = support_json(0, 4);
    const support_outcome expected = support_run(good.at, good.size, "good", NULL);
    assert_int_equal(expected.totals.events, 1);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        support_bytes bad = edited(shapes[i].part, shapes[i].by), stream = {0};
        support_append(&stream, good.at, good.size);
        support_append(&stream, bad.at, bad.size);
        support_append(&stream, good.at, good.size);
        const support_outcome outcome = support_run(stream.at, stream.size, "f.json", NULL);
        assert_int_equal(outcome.read_status, SLC_END);
        /* The events before and behind the damage are there; it costs one. */
        assert_int_equal(outcome.totals.events, 2);
        assert_int_equal(outcome.totals.lost_events, 1);
        assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_EVENT_SHAPE), 1);
        assert_int_equal(slc_faults_total(&outcome.faults), 1);
        assert_int_equal(outcome.event_hash[0], expected.event_hash[0]);
        assert_int_equal(outcome.event_hash[1], expected.event_hash[0]);
        if (strncmp(shapes[i].reason, "not JSON", 8) == 0) {
            assert_non_null(strstr(outcome.damage, "f.json: byte "));
            assert_non_null(strstr(outcome.damage, "not JSON"));
        } else {
            support_assert_message(outcome.damage, "f.json", good.size, shapes[i].reason);
            assert_non_null(strstr(outcome.damage, "line 8: ")); /* a good event has seven lines */
        }
        support_clear(&bad);
        support_clear(&stream);
    }
    support_clear(&good);
}

static void truncated_at_every_byte(void **state)
{
    (void)state;
    support_bytes stream = stream_of(2, "\n");
    support_bytes one = support_json(0, 8);
    const support_outcome whole = support_run(stream.at, stream.size, "cut.json", NULL);
    assert_int_equal(whole.totals.events, 2);
    for (size_t cut = 1; cut < stream.size - 1; cut++) {
        const support_outcome outcome = support_run(stream.at, cut, "cut.json", NULL);
        const bool first_whole = cut >= one.size - 1, clean = cut == one.size - 1 || cut == one.size;
        assert_int_equal(outcome.open_status, SLC_OK);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_int_equal(outcome.totals.events, first_whole ? 1 : 0);
        assert_int_equal(outcome.totals.lost_events, clean ? 0 : 1);
        support_assert_same_events(&whole, &outcome, outcome.totals.events);
        if (!clean) {
            support_assert_message(outcome.damage, "cut.json", first_whole ? one.size : 0,
                                   "ends inside an event");
        }
    }
    support_clear(&one);
    support_clear(&stream);
}

static void cut_event_does_not_take_the_next(void **state)
{
    (void)state;
    support_bytes one = support_json(0, 6);
    uint64_t found = 0, cuts = 0;
    const support_outcome expected = support_run(one.at, one.size, "one", NULL);
    for (size_t cut = 2; cut < one.size - 2; cut++, cuts++) {
        support_bytes stream = {0};
        support_append(&stream, one.at, cut);
        for (int again = 0; again < 3; again++) {
            support_append(&stream, one.at, one.size);
        }
        const support_outcome outcome = support_run(stream.at, stream.size, "cat", NULL);
        assert_int_equal(outcome.read_status, SLC_END);
        assert_true(outcome.totals.lost_events >= 1);
        /* A cut inside a string or behind a comma may cost the event behind it as well, but no more. */
        assert_true(outcome.totals.events >= 2 && outcome.totals.events <= 3);
        assert_int_equal(outcome.event_hash[0], expected.event_hash[0]);
        found += outcome.totals.events == 3;
        support_clear(&stream);
    }
    assert_true(found > cuts / 3);
    support_clear(&one);
}

static void limit_on_size_holds(void **state)
{
    (void)state;
    slc_io_config config;
    slc_io_config_default(&config);
    support_bytes stream = {0}, small = support_json(0, 2), large = support_json(0, 30);
    config.max_event_bytes = 4 * (small.size + 10);
    assert_true(large.size > small.size + 10);
    support_append(&stream, small.at, small.size);
    support_append(&stream, large.at, large.size);
    support_append(&stream, small.at, small.size);
    const support_outcome outcome = support_run(stream.at, stream.size, "big", &config);
    assert_int_equal(outcome.totals.events, 2);
    assert_int_equal(outcome.totals.lost_events, 1);
    support_assert_message(outcome.damage, "big", small.size, "an event of more than");
    support_clear(&small);
    support_clear(&large);
    support_clear(&stream);
}

static void depth_is_no_crash(void **state)
{
    (void)state;
    support_bytes deep = {0};
    support_append(&deep, "{\"x\":", 5);
    for (int i = 0; i < 300000; i++) {
        support_append(&deep, "[", 1);
    }
    for (int i = 0; i < 300000; i++) {
        support_append(&deep, "]", 1);
    }
    support_append(&deep, "}", 1);
    const support_outcome outcome = support_run(deep.at, deep.size, "deep", NULL);
    assert_int_equal(outcome.totals.events, 0);
    assert_int_equal(outcome.totals.lost_events, 1);
    assert_non_null(strstr(outcome.damage, "not JSON"));
    support_clear(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_arrive),
        cmocka_unit_test(many_events_in_a_stream),
        cmocka_unit_test(optional_parts_may_be_absent),
        cmocka_unit_test(every_wrong_shape_is_told),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(cut_event_does_not_take_the_next),
        cmocka_unit_test(limit_on_size_holds),
        cmocka_unit_test(depth_is_no_crash),
    };
    return cmocka_run_group_tests_name("io_velojson", tests, NULL, NULL);
}
