/* SPDX-License-Identifier: Apache-2.0
 * HLT1's lines and network from JSON: what is read, what is wrong with its line, and that no beginning of a
 * file passes for the file. */
#include "support/cmocka_all.h"

#include "io/lhcb/io_hlt1_lines.h"
#include "support/assert_ok.h"
#include <sluice/io_hlt1.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static slc_hlt1_lines lines;
static slc_error error;

static slc_status parse(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    memset(&error, 0, sizeof error);
    const slc_status status = slc_io_hlt1_lines_read_memory(copy, size, "l", &lines, &error);
    free(copy);
    return status;
}

static const char good[] =
    "{\"comment\": 1, \"lines\": [{\"name\": \"A\", \"tracks\": {\"pt_mev\": {\"min\": 500},\n"
    "\"eta\": [2, 5]}, \"min_count\": 2, \"prescale\": 0.25}, {\"name\": \"B\", \"pairs\":\n"
    "{\"network\": {\"max\": 1}}, \"event\": {\"event_vertices\": {\"min\": 1}}}, "
    "{\"name\": \"C\"}]}";

static void reads_lines(void **state)
{
    (void)state;
    ASSERT_OK(parse(good, strlen(good)));
    assert_int_equal(lines.n_lines, 3);
    const slc_hlt1_select_line *a = &lines.lines[0], *b = &lines.lines[1];
    assert_true(a->of == SLC_HLT1_OF_TRACK && a->n_cuts == 2 && a->min_count == 2 && a->prescale == 0.25);
    assert_true(a->cuts[0].low == 500 && isinf(a->cuts[0].high) && a->cuts[1].high == 5);
    assert_string_equal(slc_hlt1_quantity_name(SLC_HLT1_OF_TRACK, a->cuts[0].quantity), "pt_mev");
    assert_true(b->of == SLC_HLT1_OF_PAIR && b->min_count == 1 && b->prescale == 1 && b->n_cuts == 2);
    assert_true(lines.lines[2].n_cuts == 0 && lines.lines[2].min_count == 0);
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"[]", "l: line 1, column 1: must be an object with lines, not an array"},
        {"{}", "l: line 1, column 1: there are no lines"},
        {"{\"lines\": []}", "l: line 1, column 11: lines must be an array of one or more lines"},
        {"{\"line\": []}", "l: line 1, column 2: unknown word 'line'; there are: lines, comment"},
        {"{\"lines\": [7]}", "l: line 1, column 12: a line must be an object, not a number"},
        {"{\"lines\": [{}]}", "l: line 1, column 12: this line has no name"},
        {"{\"lines\": [{\"name\": \"a b\"}]}",
         "l: line 1, column 21: the name of a line has 1 to 47 letters, digits, '_', '-' and '.'"},
        {"{\"lines\": [{\"name\": \"a\"},\n{\"name\": \"a\"}]}",
         "l: line 2, column 10: line 1 is already called 'a'"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {}}]}",
         "l: line 1, column 36: tracks must be an object of quantities with their ranges"},
        {"{\"lines\": [{\"name\": \"a\", \"event\": {\"p\": [1, 2]}}]}",
         "l: line 1, column 36: unknown quantity 'p'; there are: event_tracks, event_pairs, event_vertices"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {\"eta\": [5, 2]}}]}",
         "l: line 1, column 44: nothing is in the range from 5 to 2"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {\"eta\": [5, \"2\"]}}]}",
         "l: line 1, column 48: must be a number, not a string"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {\"eta\": {\"least\": 2}}}]}",
         "l: line 1, column 45: unknown word 'least' in a range; there are: min, max"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {\"eta\": 3}}]}",
         "l: line 1, column 44: must be a range, [low, high] or {\"min\": low, \"max\": high}"},
        {"{\"lines\": [{\"name\": \"a\", \"tracks\": {\"eta\": [2, 5]}, \"pairs\": {\"eta\": [2, 5]}}]}",
         "l: line 1, column 53: a line has cuts on tracks or on pairs, not on both"},
        {"{\"lines\": [{\"name\": \"a\", \"min_count\": 2}]}",
         "l: line 1, column 12: min_count needs cuts on tracks or on pairs"},
        {"{\"lines\": [{\"name\": \"a\", \"min_count\": 0}]}",
         "l: line 1, column 39: must be an integer from 1 to 1000000"},
        {"{\"lines\": [{\"name\": \"a\", \"prescale\": 2}]}",
         "l: line 1, column 38: must be the fraction that is accepted, from 0 to 1"},
        {"{\"lines\": [{\"name\": \"a\", \"cuts\": 2}]}",
         "l: line 1, column 26: unknown word 'cuts' in a line; there are: name, tracks, pairs, event, "
         "min_count, "
         "prescale, comment"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(parse(faults[i].text, strlen(faults[i].text)), SLC_ERR_FORMAT);
        assert_string_equal(error.text, faults[i].message);
    }
    assert_int_equal(slc_io_hlt1_lines_read("nowhere.json", &lines, &error), SLC_ERR_IO);
}

static void notices_every_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n <= strlen(good); n++) {
        assert_int_equal(parse(good, n), n == strlen(good) ? SLC_OK : SLC_ERR_FORMAT);
    }
}

static void reads_networks(void **state)
{
    (void)state;
    static slc_hlt1_network network;
    static const char wrong[] = "{\"sigmanet.nn.0.weight_orig\": [[1, 2, 3]]}", none[] = "{}";
    assert_int_equal(slc_io_hlt1_network_read_memory(wrong, strlen(wrong), "n", &network, &error),
                     SLC_ERR_FORMAT);
    assert_string_equal(error.text, "n: line 1, column 31: must be an array of 20");
    assert_int_equal(slc_io_hlt1_network_read_memory(none, strlen(none), "n", &network, &error),
                     SLC_ERR_FORMAT);
    assert_string_equal(error.text, "n: line 1, column 1: this network has no sigmanet.nn.0.weight_orig");
    assert_int_equal(slc_io_hlt1_network_read("nowhere.json", &network, &error), SLC_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lines),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(notices_every_cut),
        cmocka_unit_test(reads_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
