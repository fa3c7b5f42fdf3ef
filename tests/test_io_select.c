/* SPDX-License-Identifier: Apache-2.0
 * Selections from JSON: what is read, and that whatever is wrong is told with its place. */
#include "support/cmocka_all.h"
#include "velo/velo_select_quantity.h"

#include "io/lhcb/io_select.h"
#include "io/lhcb/io_select_locate.h"
#include <sluice/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_velo_selection selection;
static slc_error error;

static slc_status parse(const char *text)
{
    memset(&error, 0, sizeof error);
    return slc_io_select_read_memory(text, strlen(text), "s.json", &selection, &error);
}

static void expect_cut(const slc_velo_cut *cut, slc_velo_quantity quantity, float low, float high)
{
    assert_int_equal(cut->quantity, quantity);
    assert_true(cut->low == low && cut->high == high);
}

static const char example[] =
    "{\"predicates\": {\"displaced\": {\"ip_mm\": [0.1, 6], \"chi2_ndof\": {\"max\": 4}},\n"
    "  \"good\": {\"all\": [\"displaced\", {\"hits\": {\"min\": 5}}]}},\n"
    " \"lines\": [{\"name\": \"one_displaced\", \"tracks\": \"displaced\", \"min_count\": 2, \"prescale\": "
    "3},\n"
    "  {\"name\": \"two_track_vertex\", \"tracks\": \"good\",\n"
    "   \"pairs\": {\"pair_doca_mm\": {\"max\": 0.1}, \"pair_flight_rho_mm\": {\"min\": 1}},\n"
    "   \"event\": {\"event_hits\": {\"max\": 9000}}, \"comment\": [1]},\n"
    "  {\"name\": \"all\"}, {\"name\": \"back\", \"tracks\": {\"backward\": true}}],\n"
    " \"beam_mm\": [1, -0.5], \"comment\": \"none\"}";

static void reads_all_of_it(void **state)
{
    (void)state;
    assert_int_equal(parse(example), SLC_OK);
    assert_int_equal(selection.n_lines, 4);
    assert_true(selection.beam_x_mm == 1 && selection.beam_y_mm == -0.5f);
    const slc_velo_line *line = selection.lines;
    assert_string_equal(line->name, "one_displaced");
    assert_int_equal(line->n_cuts, 2);
    assert_int_equal(line->min_count, 2);
    assert_int_equal(line->prescale, 3);
    expect_cut(&line->cuts[0], SLC_VELO_Q_IP_MM, 0.1f, 6);
    expect_cut(&line->cuts[1], SLC_VELO_Q_CHI2_NDOF, -INFINITY, 4);
    line++;
    assert_string_equal(line->name, "two_track_vertex");
    assert_int_equal(line->n_cuts, 6);
    assert_int_equal(line->min_count, 1);
    assert_int_equal(line->prescale, 1);
    expect_cut(&line->cuts[0], SLC_VELO_Q_IP_MM, 0.1f, 6);
    expect_cut(&line->cuts[1], SLC_VELO_Q_CHI2_NDOF, -INFINITY, 4);
    expect_cut(&line->cuts[2], SLC_VELO_Q_HITS, 5, INFINITY);
    expect_cut(&line->cuts[3], SLC_VELO_Q_PAIR_DOCA_MM, -INFINITY, 0.1f);
    expect_cut(&line->cuts[4], SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 1, INFINITY);
    expect_cut(&line->cuts[5], SLC_VELO_Q_EVENT_HITS, -INFINITY, 9000);
    line++;
    assert_int_equal(line->n_cuts, 0);
    assert_int_equal(line->min_count, 0);
    line++;
    expect_cut(&line->cuts[0], SLC_VELO_Q_BACKWARD, 1, 1);
}

static void every_quantity_has_its_name(void **state)
{
    (void)state;
    static const char *const places[] = {"event", "tracks", "pairs"};
    for (slc_velo_quantity q = 0; q < SLC_VELO_QUANTITIES; q++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{\"lines\": [{\"name\": \"a\", \"%s\": {\"%s\": [-1, 2]}}]}",
                       places[slc_velo_quantity_of(q)], slc_velo_quantity_name(q));
        assert_int_equal(parse(text), SLC_OK);
        expect_cut(&selection.lines[0].cuts[0], q, -1, 2);
    }
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

#define LINES(lines)            "{\"lines\": [" lines "]}"
#define WITH(predicates, lines) "{\"predicates\": {" predicates "},\n\"lines\": [" lines "]}"
#define A                       "{\"name\": \"a\"}"

static const struct {
    const char *text, *message; /* the whole of it, behind the name of the file */
} faults[] = {
    {"[1]", "line 1, column 1: a selection must be an object, not an array"},
    {" {}", "line 1, column 2: a selection needs lines"},
    {"{\"lines\": 3}", "line 1, column 11: lines must be an array, not a number"},
    {"{\"lines\": []}", "line 1, column 11: a selection needs a line"},
    {"{\"lines\":\n [\"x\"]}", "line 2, column 3: a line must be an object, not a string"},
    {"{\"lines\": [" A "], \"line\": 1}",
     "line 1, column 28: unknown word 'line' in a selection; there are: predicates, lines, beam_mm, comment"},
    {LINES("{\"prescale\": 1}"), "line 1, column 12: this line has no name"},
    {LINES("{\"name\": 1}"), "line 1, column 21: the name of a line must be a string, not a number"},
    {LINES("{\"name\": \"a b\"}"),
     "line 1, column 21: the name of a line has 1 to 47 letters, digits, '_', '-' and '.'"},
    {LINES(A ",\n " A), "line 2, column 11: line 1 of the selection is already called 'a'"},
    {LINES("{\"name\": \"a\", \"cuts\": {}}"),
     "line 1, column 26: unknown word 'cuts' in a line; there are: name, tracks, pairs, event, min_count, "
     "prescale, comment"},
    {LINES("{\"name\": \"a\", \"prescale\": 0}"), "line 1, column 38: must be from 1 to 4294967295, not 0"},
    {LINES("{\"name\": \"a\", \"prescale\": 1.5}"),
     "line 1, column 38: must be an integer, not a number with a fraction"},
    {LINES("{\"name\": \"a\", \"min_count\": \"2\"}"), "line 1, column 39: must be an integer, not a string"},
    {LINES("{\"name\": \"a\", \"min_count\": -1}"),
     "line 1, column 39: must be from 0 to 4294967295, not -1"},
    {LINES("{\"name\": \"a\", \"min_count\": 0, \"tracks\": {\"hits\": {\"min\": 3}}}"),
     "line 1, column 39: 0 tracks or pairs are in every event: the conditions have no effect"},
    {LINES("{\"name\": \"a\", \"event\": {\"hits\": {\"min\": 3}}}"),
     "line 1, column 36: hits is of a track, and here is a condition on the event"},
    {LINES("{\"name\": \"a\", \"event\": {\"hit\": {\"min\": 3}}}"),
     "line 1, column 36: unknown quantity 'hit'; there are: event_tracks, event_hits, event_vertices, and "
     "all"},
    {LINES("{\"name\": \"a\", \"tracks\": \"b\"}"),
     "line 1, column 36: there is no predicate 'b'; there are none"},
    {WITH("\"c\": {\"hits\": [3, 4]}, \"d\": {\"eta\": [1, 2]}", "{\"name\": \"a\",\n\"tracks\": \"b\"}"),
     "line 3, column 11: there is no predicate 'b'; there are: c, d"},
    {WITH("\"c\": {\"pair_doca_mm\": [3, 4]}", "{\"name\": \"a\", \"tracks\": \"c\"}"),
     "line 1, column 23: pair_doca_mm is of a pair of tracks, and here is a condition on a track"},
    {WITH("\"c\": {\"hits\": [3, 4], \"event_hits\": [1, 2]}", A),
     "line 1, column 39: event_hits is of the event, and here is a condition on a track"},
    {WITH("\"c\": \"c\"", A), "line 1, column 22: predicate 'c' names itself: c -> c"},
    {WITH("\"c\": {\"all\": [\"d\"]},\n \"d\": {\"all\": [{\"hits\": [1, 2]}, \"e\"]},\n \"e\": \"d\"", A),
     "line 3, column 7: predicate 'd' names itself: d -> e -> d"},
    {WITH("\"c\": {}", A), "line 1, column 22: a predicate needs a quantity"},
    {WITH("\"c\": {\"all\": []}", A), "line 1, column 30: all must be an array of one or more predicates"},
    {WITH("\"c\": 7", A),
     "line 1, column 22: must be the name of a predicate or an object of quantities, not a number"},
    {WITH("\"c\": {\"hits\": 7}", A),
     "line 1, column 31: must be a range, [low, high] or {\"min\": low, \"max\": high}, not a number"},
    {WITH("\"c\": {\"hits\": true}", A),
     "line 1, column 31: must be a range, [low, high] or {\"min\": low, \"max\": high}, not true"},
    {WITH("\"c\": {\"hits\": [1, 2, 3]}", A), "line 1, column 31: a range has 2 numbers, not 3"},
    {WITH("\"c\": {\"hits\": [1, null]}", A), "line 1, column 35: must be a number, not null"},
    {WITH("\"c\": {\"hits\": {}}", A), "line 1, column 31: a range needs min, max or both"},
    {WITH("\"c\": {\"hits\": {\"min\": 2, \"mx\": 3}}", A),
     "line 1, column 42: unknown word 'mx' in a range; there are: min, max"},
    {WITH("\"c\": {\"hits\": {\"max\": \"3\"}}", A), "line 1, column 39: must be a number, not a string"},
    {WITH("\"c\": {\"eta\": [5, 3]}", A), "line 1, column 30: nothing is in the range from 5 to 3"},
    {WITH("\"c\": {\"eta\": [1, 1e39]}", A), "line 1, column 34: 1e+39 is too large"},
    {"{\"lines\": [" A "], \"predicates\": []}",
     "line 1, column 42: predicates must be an object, not an array"},
    {"{\"lines\": [" A "], \"beam_mm\": [1]}",
     "line 1, column 39: beam_mm must be an array of 2 numbers, x and y"},
    {"{\"lines\": [" A "], \"beam_mm\": [1, {}]}", "line 1, column 43: must be a number, not an object"},
    /* Words with escapes, brackets in strings and letters of several bytes: columns count letters. */
    {WITH("\"\\u0063\": {\"comm\\\"ent}\": 1}", A), "unknown quantity 'comm\"ent}'"},
    {WITH("\"µ{[\\\"\": {\"hits\": [1, 2]}, \"x\": {\"a\\nb\": 1}", A),
     "line 1, column 50: unknown quantity 'a?b'"},
};

static void faults_are_told_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_int_equal(parse(faults[i].text), SLC_ERR_FORMAT);
        const bool whole = i < sizeof faults / sizeof faults[0] - 2;
        if (whole ? strncmp(error.text, "s.json: ", 8) != 0 || strcmp(error.text + 8, faults[i].message) != 0
                  : strstr(error.text, faults[i].message) == NULL) {
            fail_msg("%s\nis told as: %s\nnot:        s.json: %s", faults[i].text, error.text,
                     faults[i].message);
        }
        assert_int_equal(selection.n_lines, 0);
    }
}

static void unknown_quantities_list_all(void **state)
{
    (void)state;
    assert_int_equal(parse(WITH("\"c\": {\"ip\": [1, 2]}", A)), SLC_ERR_FORMAT);
    for (slc_velo_quantity q = 0; q < SLC_VELO_QUANTITIES; q++) {
        assert_non_null(strstr(error.text, slc_velo_quantity_name(q)));
    }
}

static void syntax_errors_have_a_place(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"lines\": [\n {\"name\" \"a\"}]}"), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "s.json: line 2, column "));
    assert_int_equal(parse("{\"lines\": [],\n \"lines\": []}"), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "s.json: line 2, column "));
    assert_non_null(strstr(error.text, "duplicate"));
    assert_int_equal(parse(""), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "s.json: line 1, column 1: "));
}

/* ---- limits ------------------------------------------------------------------------------------- */

/* Text that is put together piece by piece. */
static char long_text[1 << 16];
static void put(const char *piece)
{
    assert_true(strlen(long_text) + strlen(piece) < sizeof long_text);
    strcat(long_text, piece);
}

static void lines_and_cuts_have_limits(void **state)
{
    (void)state;
    for (uint32_t n = SLC_VELO_MAX_LINES; n <= SLC_VELO_MAX_LINES + 1; n++) {
        strcpy(long_text, "{\"lines\": [");
        for (uint32_t k = 0; k < n; k++) {
            char line[64];
            (void)snprintf(line, sizeof line, "%s\n{\"name\": \"l%u\"}", k > 0 ? "," : "", k);
            put(line);
        }
        put("]}");
        assert_int_equal(parse(long_text), n == SLC_VELO_MAX_LINES ? SLC_OK : SLC_ERR_FORMAT);
    }
    assert_string_equal(error.text, "s.json: line 66, column 1: more than 64 lines");
    for (uint32_t n = SLC_VELO_MAX_CUTS; n <= SLC_VELO_MAX_CUTS + 1; n++) {
        strcpy(long_text, "{\"lines\": [{\"name\": \"a\", \"tracks\": {\"all\": [");
        for (uint32_t k = 0; k < n; k++) {
            put(k > 0 ? ",\n{\"hits\": [1, 2]}" : "\n{\"hits\": [1, 2]}");
        }
        put("]}}]}");
        assert_int_equal(parse(long_text), n == SLC_VELO_MAX_CUTS ? SLC_OK : SLC_ERR_FORMAT);
    }
    assert_string_equal(error.text, "s.json: line 26, column 2: more than 24 cuts come together here");
}

/* Predicates that double at every step: what they are worth grows as 2^n, the work must not. */
static void doubling_predicates_end_soon(void **state)
{
    (void)state;
    strcpy(long_text, "{\"predicates\": {\"p0\": {\"hits\": [1, 2]}");
    for (int k = 1; k < 30; k++) {
        char piece[96];
        (void)snprintf(piece, sizeof piece, ", \"p%d\": {\"all\": [\"p%d\", \"p%d\"]}", k, k - 1, k - 1);
        put(piece);
    }
    put("}, \"lines\": [{\"name\": \"a\"}]}");
    assert_int_equal(parse(long_text), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "more than 24 cuts"));
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    strcpy(long_text, "{\"lines\": [{\"name\": \"a\", \"tracks\": ");
    for (int k = 0; k < 400; k++) {
        put("{\"all\": [");
    }
    put("{\"hits\": [1, 2]}");
    for (int k = 0; k < 400; k++) {
        put("]}");
    }
    put("}]}");
    assert_int_equal(parse(long_text), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "nested more than 32 deep"));
}

/* No beginning of the text is a selection, and none is read beyond its end: each has memory of its own size.
 */
static void cut_short_at_every_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof example - 1; n++) {
        char *part = malloc(n > 0 ? n : 1);
        assert_non_null(part);
        memcpy(part, example, n);
        assert_int_equal(slc_io_select_read_memory(part, n, "s.json", &selection, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "s.json: line "));
        free(part);
    }
}

/* Every byte replaced by others: read or refused with a place, and never with cuts that are none. */
static void damaged_at_every_byte(void **state)
{
    (void)state;
    static const char others[] = {'\0', '"', '{', '}', '[', ']', ',', '9', 'x', '\\', (char)0xff};
    char text[sizeof example];
    size_t accepted = 0, refused = 0;
    for (size_t n = 0; n < sizeof example - 1; n++) {
        for (size_t k = 0; k < sizeof others; k++) {
            memcpy(text, example, sizeof example);
            text[n] = others[k];
            const slc_status status = slc_io_select_read_memory(text, sizeof example - 1, "s.json",
                                                                &selection, &error);
            if (status == SLC_OK) {
                assert_true(selection.n_lines > 0);
                accepted++;
            } else {
                assert_int_equal(status, SLC_ERR_FORMAT);
                assert_non_null(strstr(error.text, ", column "));
                refused++;
            }
        }
    }
    assert_true(accepted > 100 && refused > 1000);
}

/* ---- files, places ------------------------------------------------------------------------------ */

static void files_are_read(void **state)
{
    (void)state;
    assert_int_equal(slc_io_select_read(EXAMPLE, &selection, &error), SLC_OK);
    assert_int_equal(selection.n_lines, 5);
    assert_int_equal(slc_io_select_read("/nonexistent/s.json", &selection, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/nonexistent/s.json"));
}

static void places_are_found(void **state)
{
    (void)state;
    static const char text[] = "{\"a\" : [1, {\"b\": \"]\"},\n  \"c\\u0041\" ],\"\\u0064\":{\"a\":2}}";
    const slc_select_step root = {NULL, NULL, 0}, a = {&root, "a", 0}, a0 = {&a, NULL, 0}, a1 = {&a, NULL, 1};
    const slc_select_step a1b = {&a1, "b", 0}, a2 = {&a, NULL, 2}, d = {&root, "d", 0}, da = {&d, "a", 0};
    const slc_select_step none = {&a, NULL, 3}, no_key = {&d, "x", 0};
    const struct {
        const slc_select_step *step;
        bool key;
        size_t line, column;
    } places[] = {
        {&root, false, 1, 1}, {&a, true, 1, 2},        {&a, false, 1, 8},    {&a0, false, 1, 9},
        {&a1, false, 1, 12},  {&a1b, true, 1, 13},     {&a1b, false, 1, 18}, {&a2, false, 2, 3},
        {&d, true, 2, 15},    {&d, false, 2, 24},      {&da, true, 2, 25},   {&da, false, 2, 29},
        {&none, false, 1, 8}, {&no_key, false, 2, 24},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const slc_select_place place = slc_select_locate(text, sizeof text - 1, places[i].step,
                                                         places[i].key);
        if (place.line != places[i].line || place.column != places[i].column) {
            fail_msg("place %zu is at line %zu, column %zu", i, place.line, place.column);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_of_it),
        cmocka_unit_test(every_quantity_has_its_name),
        cmocka_unit_test(faults_are_told_with_their_place),
        cmocka_unit_test(unknown_quantities_list_all),
        cmocka_unit_test(syntax_errors_have_a_place),
        cmocka_unit_test(lines_and_cuts_have_limits),
        cmocka_unit_test(doubling_predicates_end_soon),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(cut_short_at_every_byte),
        cmocka_unit_test(damaged_at_every_byte),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(places_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
