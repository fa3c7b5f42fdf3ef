/* SPDX-License-Identifier: Apache-2.0
 * Settings of the VELO's chain as JSON: every setting goes out and comes back with the same bits, whatever is
 * wrong is told with its place and leaves the configuration alone, and presets are what they are said to be.
 */
#include "support/cmocka_all.h"

#include "io/lhcb/io_velo_config.h"
#include "velo/velo_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_error error;

static slc_status parse(const char *text, slc_velo_config *config)
{
    memset(&error, 0, sizeof error);
    return slc_io_velo_config_read_memory(text, strlen(text), "c.json", config, &error);
}

static bool same(const slc_velo_config *a, const slc_velo_config *b)
{
    const slc_velo_setting *s;
    bool all = true;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        all = all &&
              memcmp((const char *)a + s->offset, (const char *)b + s->offset, sizeof(float) * s->n) == 0;
    }
    return all;
}

static void assert_same(const slc_velo_config *a, const slc_velo_config *b)
{
    assert_true(same(a, b));
}

/* Written and read over the defaults, and over something else. */
static void assert_round_trip(const slc_velo_config *config)
{
    slc_velo_config back;
    char *text = NULL;
    assert_int_equal(slc_io_velo_config_write(config, &text, &error), SLC_OK);
    slc_velo_config_default(&back);
    assert_int_equal(parse(text, &back), SLC_OK);
    assert_same(config, &back);
    assert_int_equal(slc_velo_config_preset(&back, "fast", &error), SLC_OK);
    back.fit.end_z_mm = 17;
    assert_int_equal(parse(text, &back), SLC_OK);
    assert_same(config, &back);
    free(text);
}

/* The histogram of vertices has 1 to 4096 bins: the others of its three settings follow. False if they
 * cannot.
 */
static bool fit_histogram(const slc_velo_setting *s, slc_velo_config *config)
{
    slc_velo_vertex_config *vertex = &config->vertex;
    if (strcmp(s->key, "z_min_mm") == 0) {
        vertex->bin_mm = 100;
        vertex->z_max_mm = vertex->z_min_mm + 700;
    } else if (strcmp(s->key, "z_max_mm") == 0) {
        vertex->bin_mm = 100;
        vertex->z_min_mm = vertex->z_max_mm - 700;
    } else if (strcmp(s->key, "bin_mm") == 0) {
        vertex->z_min_mm = 0;
        vertex->z_max_mm = 7 * vertex->bin_mm;
    }
    return fabsf(vertex->z_min_mm) <= 1e5f && fabsf(vertex->z_max_mm) <= 1e5f;
}

/* The limits, and what lies between them in single precision. */
static void every_setting_comes_back(void **state)
{
    (void)state;
    const slc_velo_setting *s;
    size_t n = 0;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        const double odd = s->kind == SLC_VELO_SETTING_NUMBER ? s->low + (s->high - s->low) * 0.12345678
                                                              : floor(s->low + (s->high - s->low) * 0.5);
        const double values[] = {s->low, s->high, odd};
        for (uint32_t at = 0; at < s->n; at++) {
            for (size_t k = 0; k < 3; k++) {
                slc_velo_config config;
                slc_velo_config_default(&config);
                slc_velo_setting_set(s, &config, at, values[k]);
                if (!fit_histogram(s, &config)) {
                    continue;
                }
                assert_round_trip(&config);
                n++;
            }
        }
    }
    assert_int_equal(n, 3 * 52 - 2); /* an end of the histogram at its own limit leaves no room */
}

/* All members of the structs are in the table but those that the chain sets. */
static void no_member_is_left_out(void **state)
{
    (void)state;
    unsigned char covered[sizeof(slc_velo_config)] = {0};
    const slc_velo_setting *s;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        memset(covered + s->offset, 1, sizeof(float) * s->n);
    }
#define COVER(m) memset(covered + offsetof(slc_velo_config, m), 1, sizeof(((slc_velo_config *)0)->m))
    COVER(track.beam_x_mm);
    COVER(track.beam_y_mm);
    COVER(track.target);
    COVER(fit.target);
    COVER(vertex.beam_x_mm);
    COVER(vertex.beam_y_mm);
    COVER(vertex.target);
    for (size_t i = offsetof(slc_velo_config, track); i < offsetof(slc_velo_config, strict); i++) {
        assert_int_equal(covered[i], 1);
    }
    for (size_t i = 0; i < sizeof(slc_velo_gec_config); i++) {
        assert_int_equal(covered[offsetof(slc_velo_config, gec) + i], 1);
    }
}

static void what_is_not_named_stays(void **state)
{
    (void)state;
    slc_velo_config config, wanted;
    slc_velo_config_default(&config);
    config.strict = config.impacts = true;
    config.fit.scatter_prior = 3;
    wanted = config;
    wanted.track.trim_mm2 = 0.5f;
    wanted.fit.size_sigma_mm[5] = 1;
    wanted.track.strategy = SLC_VELO_TRACK_FULL;
    wanted.banks = SLC_VELO_BANKS_RETINA;
    assert_int_equal(
        parse("{\"comment\": [1], \"banks\": \"retina\", \"fit\": {\"size_sigma_mm\": [0.0131, 0.0115, "
              "0.0148, 0.0208, 0.0325, 1]},\n\"track\": {\"comment\": \"no\", \"trim_mm2\": 0.5, "
              "\"strategy\": \"full\"}}",
              &config),
        SLC_OK);
    assert_same(&config, &wanted);
    assert_true(config.strict && config.impacts && config.size == sizeof config);
    assert_int_equal(parse("{}", &config), SLC_OK);
    assert_same(&config, &wanted);
}

/* A program with an older header: a shorter struct, of which no more is touched. */
static void older_configurations_are_taken(void **state)
{
    (void)state;
    slc_velo_config config;
    slc_velo_config_default(&config);
    config.size = offsetof(slc_velo_config, gec);
    config.gec.max_ut = 77;
    assert_int_equal(parse("{\"fit\": {\"end_z_mm\": 5}, \"gec\": {\"max_ut\": 5}}", &config), SLC_OK);
    assert_true(config.fit.end_z_mm == 5);
    assert_int_equal(config.size, offsetof(slc_velo_config, gec));
    assert_int_equal(config.gec.max_ut, 77);
    assert_int_equal(slc_velo_config_preset(&config, "standard", &error), SLC_OK);
    assert_true(config.fit.end_z_mm == 770 && config.gec.max_ut == 77);
    config.size = 0;
    char *text;
    assert_int_equal(parse("{}", &config), SLC_ERR_USAGE);
    assert_int_equal(slc_io_velo_config_write(&config, &text, &error), SLC_ERR_USAGE);
    assert_null(text);
    assert_int_equal(slc_velo_config_preset(&config, "fast", &error), SLC_ERR_USAGE);
}

static const struct {
    const char *text, *wanted; /* after "c.json: " */
} refused[] = {
    {"", "line 1, column 1: '[' or '{' expected near end of file"},
    {"[1]", "line 1, column 1: settings must be an object, not an array"},
    {"{\"tracks\": {}}",
     "line 1, column 2: unknown setting 'tracks'; there are: banks, track, fit, vertex, gec"},
    {"{\"gec\": {\"max_it\": 3}}",
     "line 1, column 10: unknown setting 'max_it' of gec; there are: max_velo, max_ut, max_scifi, "
     "max_ut_scifi"},
    {"{\"track\": 3}", "line 1, column 11: track must be an object, not a number"},
    {"{\"track\": {\"track\": {}}}", NULL},
    {"{\"\": {}}", NULL},
    {"{\"candidates\": 3}", NULL},
    {"{\"track\":\n {\"candidates\": 2.5}}", "line 2, column 17: candidates must be a whole number, not 2.5"},
    {"{\"track\": {\"candidates\": true}}", "line 1, column 26: candidates must be a number, not true"},
    {"{\"track\": {\"candidates\": 11}}", "line 1, column 26: candidates must be from 1 to 10, not 11"},
    {"{\"track\": {\"max_layer_hits\": 4294967296}}",
     "line 1, column 30: max_layer_hits must be from 1 to 4096, not 4294967296"},
    {"{\"track\": {\"max_layer_hits\": 4097}}",
     "line 1, column 30: max_layer_hits must be from 1 to 4096, not 4097"},
    {"{\"track\": {\"max_layer_hits\": -1}}", NULL},
    {"{\"track\": {\"max_layer_hits\": 1e99}}", NULL},
    {"{\"track\": {\"trim_mm2\": -0.1}}", "line 1, column 24: trim_mm2 must be from 0 to 1000000, not -0.1"},
    {"{\"track\": {\"strategy\": \"ful\"}}",
     "line 1, column 24: strategy is one of standard, split, full, not 'ful'"},
    {"{\"track\": {\"strategy\": 2}}",
     "line 1, column 24: strategy must be a string, one of standard, split, full, not a number"},
    {"{\"fit\": {\"size_sigma_mm\": 1}}", "line 1, column 27: size_sigma_mm must be an array of 6 numbers"},
    {"{\"fit\": {\"size_sigma_mm\": [1, 1, 1, 1, 1]}}", NULL},
    {"{\"fit\": {\"size_sigma_mm\": [1, 1, 1, 1, 1, 0]}}",
     "line 1, column 43: size_sigma_mm must be from 1e-06 to 1000, not 0"},
    {"{\"fit\": {\"end_z_mm\": 5, \"end_z_mm\": 5}}", NULL},
    {"{\"vertex\": {\"bin_mm\": 0.01}}",
     "vertex: 84800 bins of bin_mm from z_min_mm to z_max_mm, must be 1 to 4096"},
    {"{\"vertex\": {\"z_max_mm\": -600}}", NULL},
    {"{} x", NULL},
};

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        slc_velo_config config, before;
        slc_velo_config_default(&config);
        config.fit.end_z_mm = 1;
        before = config;
        assert_int_equal(parse(refused[i].text, &config), SLC_ERR_FORMAT);
        assert_memory_equal(&config, &before, sizeof config);
        char wanted[512];
        (void)snprintf(wanted, sizeof wanted, "c.json: %s",
                       refused[i].wanted != NULL ? refused[i].wanted : "");
        if (refused[i].wanted != NULL) {
            assert_string_equal(error.text, wanted);
        } else {
            assert_memory_equal(error.text, "c.json: ", 8);
        }
    }
}

/* No beginning of a whole text is one, and one that lost a byte is never half read. */
static void truncation(void **state)
{
    (void)state;
    slc_velo_config config, before;
    char *text = NULL;
    slc_velo_config_default(&config);
    config.track.candidates = 7;
    assert_int_equal(slc_io_velo_config_write(&config, &text, &error), SLC_OK);
    slc_velo_config_default(&config);
    before = config;
    const size_t n = strlen(text) - 1; /* the line's end may be missing */
    assert_true(n > 1000);
    for (size_t i = 0; i < n; i++) {
        char *cut = malloc(i + 1); /* exactly as large, for the sanitizers */
        assert_non_null(cut);
        memcpy(cut, text, i);
        assert_int_equal(slc_io_velo_config_read_memory(cut, i, "c.json", &config, &error), SLC_ERR_FORMAT);
        assert_memory_equal(&config, &before, sizeof config);
        free(cut);
    }
    assert_int_equal(slc_io_velo_config_read_memory(text, n, "c.json", &config, &error), SLC_OK);
    assert_int_equal(config.track.candidates, 7);
    free(text);
}

static void out_of_range_is_not_written(void **state)
{
    (void)state;
    slc_velo_config config;
    char *text = NULL;
    slc_velo_config_default(&config);
    config.vertex.min_tracks = NAN;
    assert_int_equal(slc_io_velo_config_write(&config, &text, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "vertex.min_tracks is nan, must be from 0 to 1e+06");
    assert_null(text);
}

static void presets(void **state)
{
    (void)state;
    static const char *const names[] = {"standard", "fast", "open", "smog2", "upgrade2"};
    slc_velo_config standard;
    slc_velo_config_default(&standard);
    for (size_t i = 0; i < 5; i++) {
        slc_velo_config config;
        slc_velo_config_default(&config);
        config.fit.end_z_mm = 3; /* of no preset */
        config.strict = true;
        assert_int_equal(slc_velo_config_preset(&config, names[i], &error), SLC_OK);
        assert_true(config.strict && config.size == sizeof config);
        assert_true(config.fit.end_z_mm == 770);
        assert_round_trip(&config);
        assert_int_equal(same(&config, &standard), i == 0);
    }
    slc_velo_config config;
    slc_velo_config_default(&config);
    assert_int_equal(slc_velo_config_preset(&config, "fast", &error), SLC_OK);
    assert_int_equal(config.track.second_candidates, 0);
    assert_int_equal(config.track.candidates, 3);
    assert_true(config.track.pickup_mm2 == 0 &&
                config.track.second_seeding_mm2 == standard.track.second_seeding_mm2);
    assert_int_equal(slc_velo_config_preset(&config, "Fast", &error), SLC_ERR_USAGE);
    assert_string_equal(error.text,
                        "unknown preset 'Fast'; there are: standard, fast, open, smog2, upgrade2");
}

static void files(void **state)
{
    (void)state;
    slc_velo_config config;
    slc_velo_config_default(&config);
    assert_int_equal(slc_io_velo_config_read("/nowhere/c.json", &config, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/nowhere/c.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_comes_back),
        cmocka_unit_test(no_member_is_left_out),
        cmocka_unit_test(what_is_not_named_stays),
        cmocka_unit_test(older_configurations_are_taken),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(truncation),
        cmocka_unit_test(out_of_range_is_not_written),
        cmocka_unit_test(presets),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
